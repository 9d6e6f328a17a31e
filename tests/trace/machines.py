#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks that seem to run on several machines, with clocks that are seconds apart and drift. Their
traces, merged, have the times that the program logged by the true clock, within their stated
uncertainty. Jobs with only some traced ranks end normally. So do jobs of one machine, where nothing
is measured.

usage: machines.py ASSAY DUMP SOURCE DIRECTORY
"""
import glob
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import time

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")
LAUNCHER = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpiexec.mpich"]}
# Name, shift in nanoseconds, drift.
MACHINES = {"a": None, "b": ("node-b", 5_000_000_000, 0.002), "c": ("node-c", -77_000_123, -0.001)}
ONE_CLOCK, MEASURED, BY_DAY = 0, 1, 2
POINTS = []
# Before assay in each rank: which of the machines it is on, by its rank.
RANK = """#!/bin/sh
rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
case $rank in
%s
esac
exec "$@"
"""


def point(name, faults, skip=""):
    POINTS.append(not faults)
    print(f"{'not ok' if faults else 'ok'} {len(POINTS)} - {name}"
          + (f" # SKIP {skip}" if skip else ""))
    for fault in faults:
        print(f"# {fault}")


def write_script(place, machines):
    """machines: a letter for each rank."""
    arms = []
    since = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
    for rank, letter in enumerate(machines):
        machine = MACHINES[letter]
        local, size = machines[:rank].count(letter), machines.count(letter)
        said = f'{machine[0]} {machine[1]} {machine[2]} {since}' if machine else ""
        arms.append(f"{rank}) export OTHER_MACHINE='{said}' OMPI_COMM_WORLD_LOCAL_RANK={local} "
                    f"OMPI_COMM_WORLD_LOCAL_SIZE={size} MPI_LOCALRANKID={local} "
                    f"MPI_LOCALNRANKS={size} LD_PRELOAD={place}/machine.so;;")
    script = place / "rank.sh"
    script.write_text(RANK % "\n".join(arms), encoding="utf-8")
    script.chmod(0o755)
    return script


def launch(mpi, *parts):
    """parts: (ranks, words)"""
    words = list(LAUNCHER[mpi])
    for i, (ranks, part) in enumerate(parts):
        words += [":"] * (i > 0) + ["-n", str(ranks), *map(str, part)]
    return subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, check=False,
                          timeout=800)


def clean(place):
    for old in glob.glob(f"{place}/*.assay") + glob.glob(f"{place}/log.*"):
        (shutil.rmtree if os.path.isdir(old) else os.remove)(old)


def left_behind(place):
    return [f"{name} is left" for name in glob.glob(f"{place}/.assay-clocks*")]


def times_of(dump, trace):
    """Rank -> its clock and its calls."""
    text = subprocess.run([dump, trace, "times"], capture_output=True, text=True, check=True).stdout
    clocks, calls, rank = {}, {}, None
    for line in text.splitlines():
        word = line.split()
        if word[0] == "clock":
            rank = int(word[1])
            clocks[rank] = {"machine": word[2], "related": int(word[3]), "shift": int(word[4]),
                            "drift": float(word[5]), "uncertain": int(word[6]),
                            "residual": int(word[7]), "n": int(word[8])}
            calls[rank] = []
        elif word[0] in ("MPI_Send", "MPI_Recv"):
            calls[rank].append((word[0], int(word[1]), int(word[2])))
    return clocks, calls


def read_log(path):
    words = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return [(routine, int(begin), int(end)) for routine, begin, end in words]


def check_calls(rank, uncertain, logged, traced):
    """Each within what the program saw of it, but for what the trace says that it may be off."""
    if [call[0] for call in logged] != [call[0] for call in traced]:
        return [f"rank {rank}: {len(logged)} calls, {len(traced)} in the trace"]
    for n, (own, seen) in enumerate(zip(logged, traced)):
        if seen[1] < own[1] - uncertain or seen[2] > own[2] + uncertain:
            return [f"rank {rank}, call {n}: {own} in truth, {seen} in the trace, which may be "
                    f"{uncertain} ns off"]
    return []


def slowest_ns(logs):
    """Returns the longest wait of a rank for rank 0's answer: the pause of each round, and the time
    of ranks without a CPU."""
    return max(got[2] - sent[1] for log in logs[1:] for sent, got in zip(log[::2], log[1::2]))


def check_machine(rank, clock, machine, seconds, host):
    """host: how long ago its clock began to drift at most, and how long a message may take."""
    if machine is None:
        return [f"rank {rank}: {clock}"] * (clock["related"] != ONE_CLOCK or clock["n"] != 0)
    faults = []
    if clock["related"] != MEASURED or clock["machine"] != machine[0] or clock["n"] < 2:
        faults.append(f"rank {rank}: {clock}")
    # The planted drift is relative to the clock itself; relative to true time it is 1 / (1 + drift)
    # - 1.
    drift = 1 / (1 + machine[2]) - 1
    if abs(clock["drift"] - drift) > 2 * (clock["uncertain"] + 1) / 1e9 / seconds + 1e-9:
        faults.append(f"rank {rank}: drifts by {clock['drift']}, not {drift}: {clock}")
    drifted_ns, slowest = host
    if abs(clock["shift"] + machine[1]) > abs(machine[2]) * drifted_ns + 1_000_000 or \
            clock["uncertain"] > max(20_000_000, 2 * slowest):
        faults.append(f"rank {rank}: {clock}, on a host that takes {slowest} ns")
    return faults


def check_measured(assay, dump, place, mpi, machines):
    clean(place)
    begin_ns = time.monotonic_ns()
    script = write_script(place, machines)
    n = len(machines)
    run = launch(mpi, (n, [script, assay, "trace", "-q", "-o", place / "x.assay", "--",
                           place / f"clocks.{mpi}", place / "log", "50"]))
    faults = [f"exit status {run.returncode}: {run.stderr[-400:]!r}"] * bool(run.returncode)
    drifted_ns = time.monotonic_ns() - begin_ns
    faults += left_behind(place)
    if not faults:
        merged = subprocess.run([assay, "merge", *sorted(glob.glob(f"{place}/x.r*.assay")), "-o",
                                 place / "all.assay"], capture_output=True, text=True,
                                env=ENVIRONMENT, check=False)
        faults += [merged.stderr[-300:]] * bool(merged.returncode)
    clocks, calls = times_of(dump, place / "all.assay/run-001/trace") if not faults else ({}, {})
    if not faults and sorted(clocks) != list(range(n)):
        faults.append(f"ranks {sorted(clocks)}")
    logs = [read_log(place / f"log.{rank}") for rank in range(n if not faults else 0)]
    host = drifted_ns, slowest_ns(logs) if logs else 0
    for rank, logged in enumerate(logs):
        seconds = (logged[-1][2] - logged[0][1]) / 1e9
        faults += check_machine(rank, clocks[rank], MACHINES[machines[rank]], seconds, host)
        # Half a nanosecond and the like are cut off a few times.
        faults += check_calls(rank, clocks[rank]["uncertain"] + 10, logged, calls[rank])
    point(f"{mpi}: machines {machines}", faults)
    return clocks


def check_facts(place, clocks):
    """The experiment has the values of the trace."""
    db = sqlite3.connect(place / "all.assay/experiment.db")
    rows = db.execute("SELECT machine, related, shift_ns, uncertain_ns, residual_ns, measured_n,"
                      " process_n FROM trace_clock ORDER BY machine").fetchall()
    db.close()
    wanted = {}
    for clock in clocks.values():
        if clock["related"] != ONE_CLOCK:
            row = wanted.setdefault(clock["machine"], [
                clock["machine"], "measured", clock["shift"], clock["uncertain"],
                clock["residual"], clock["n"], 0])
            row[-1] += 1
    wanted = [tuple(wanted[name]) for name in sorted(wanted)]
    point("the experiment has the clocks", [f"{rows}, not {wanted}"] * (rows != wanted))


def check_partial(assay, dump, place, mpi, traced):
    """One of two ranks on two machines is traced: the job ends, and no clock was measured."""
    clean(place)
    script = write_script(place, "ab")
    program = [place / f"clocks.{mpi}", place / "log", "5"]
    part = [script, assay, "trace", "-q", "-o", place / "x.assay", "--", *program]
    run = launch(mpi, *[(1, part if rank == traced else [script, *program]) for rank in range(2)])
    faults = [f"exit status {run.returncode}: {run.stderr[-400:]!r}"] * bool(run.returncode)
    faults += [] if len(glob.glob(f"{place}/log.*")) == 2 else ["a rank has no log"]
    faults += left_behind(place)
    made = glob.glob(f"{place}/x*.assay")
    clocks = times_of(dump, f"{made[0]}/run-001/trace")[0] if made and not faults else {}
    if not faults and (list(clocks) != [traced] or clocks[traced]["n"]):
        faults.append(f"{clocks}")
    point(f"{mpi}: rank {traced} of two is traced", faults)


def check_one_machine(assay, dump, place, mpi):
    clean(place)
    run = launch(mpi, (2, [assay, "trace", "-q", "-o", place / "x.assay", "--",
                           place / f"clocks.{mpi}", place / "log", "5"]))
    faults = [f"exit status {run.returncode}: {run.stderr[-400:]!r}"] * bool(run.returncode)
    faults += left_behind(place)
    for name in glob.glob(f"{place}/x*.assay") if not faults else []:
        clocks = times_of(dump, f"{name}/run-001/trace")[0]
        faults += [f"{clocks}"] * any(clock["n"] for clock in clocks.values())
    point(f"{mpi}: one machine", faults)


def main():
    assay, dump, source, place = sys.argv[1:5]
    source, place = pathlib.Path(source), pathlib.Path(place).absolute()
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", "-o", place / "machine.so",
                    source / "src/machine.c", "-ldl"], check=True)
    for mpi in ("openmpi", "mpich"):
        if not shutil.which(f"mpicc.{mpi}") or not shutil.which(LAUNCHER[mpi][0]):
            point(mpi, [], skip=f"no {mpi}")
            continue
        subprocess.run([f"mpicc.{mpi}", "-O1", "-w", "-o", place / f"clocks.{mpi}",
                        source / "programs/clocks.c"], check=True)
        check_measured(assay, dump, place, mpi, "aabb")
        clocks = check_measured(assay, dump, place, mpi, "abc")
        if clocks:
            check_facts(place, clocks)
        for traced in (0, 1):
            check_partial(assay, dump, place, mpi, traced)
        check_one_machine(assay, dump, place, mpi)
    print(f"1..{len(POINTS)}")
    return not all(POINTS)


if __name__ == "__main__":
    sys.exit(main())
