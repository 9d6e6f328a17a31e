#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MPI with OpenMP: one thread of one rank is late, and all others wait, some through others.
Waits by the trace against the program's own log within 3 %, the middle one of three runs; and whose
fault it is: that thread's, also what the other rank waited for it; and what the finding says.

usage: hybrid.py ASSAY SOURCE DIRECTORY
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

RUNS, ROUNDS, LATE_MS, MUCH_MS = 3, 4, 20, 150
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def read_log(rank):
    rows = (line.split() for line in pathlib.Path(f"log.{rank}").read_text().splitlines())
    return [(row[0], *map(int, row[1:])) for row in rows]


def until_last(stamps):
    return sum(max(stamps) - stamp for stamp in stamps) / 1e9


def expected():
    """Seconds: at the ends of rank 1's regions, and at barriers of MPI."""
    logs = [read_log(rank) for rank in (0, 1)]
    ends, enters = 0, 0
    for one in range(ROUNDS):
        ends += until_last([row[4] for row in logs[1] if row[:2] == ("part", one)])
        enters += until_last([row[3] for log in logs for row in log if row[:2] == ("barrier", one)])
    return {"wait_at_omp_barrier": ends, "wait_at_barrier": enters}


def run_once(assay, mpi, late_ms=LATE_MS):
    shutil.rmtree("hybrid.assay", ignore_errors=True)
    run = subprocess.run([assay, "trace", "--format", "json", "-o", "hybrid.assay", "--",
                          f"mpirun.{mpi}", "-n", "2", f"./hybrid.{mpi}", "log", str(ROUNDS),
                          str(late_ms)], capture_output=True, text=True, env=ENVIRONMENT,
                         check=False)
    if run.returncode:
        sys.exit(f"Bail out! {run.stderr}")
    found = subprocess.run([assay, "query", "--format", "csv", "hybrid.assay",
                            "SELECT text FROM v_findings WHERE rule = 'late'"],
                           capture_output=True, text=True, check=True).stdout
    return dict(json.loads(run.stdout)["parallel"], found=found)


def late_thread(parallel):
    """The location of rank 1 that is not its first."""
    ranks = [location.get("rank") for location in parallel["locations"]]
    return len(ranks) - 1 - ranks[::-1].index(1)


def judge_waits(runs):
    faults = []
    for kind in ("wait_at_omp_barrier", "wait_at_barrier"):
        said = []
        for truth, parallel in runs:
            rank = 1 if kind == "wait_at_omp_barrier" else None
            seen = sum(wait["time_s"] for wait in parallel["waits"] if wait["kind"] == kind and
                       rank in (None, parallel["locations"][wait["location"]].get("rank")))
            said.append((truth[kind], seen))
        off = statistics.median(abs(seen - truth) - 0.03 * truth for truth, seen in said)
        if off > 0.002 or statistics.median(truth for truth, _ in said) < 0.02: # of one round
            faults.append(f"{kind}: seconds by program and trace: {said}")
    return faults


def judge_cause(runs):
    """Most is put down to the late thread: what its own rank waited, and the other for that."""
    shares = []
    for truth, parallel in runs:
        who = late_thread(parallel)
        cost = sum(row["total_s"] for row in parallel["late"] if row["location"] == who)
        shares.append(cost / sum(truth.values()))
    return [] if statistics.median(shares) > 0.85 else [f"shares of the late thread: {shares}"]


def judge_place(runs, place):
    said = [[row["place"] for row in parallel["late"] if row["routine"] == "omp parallel"][0]
            for _, parallel in runs]
    return [] if said == [place] * RUNS else [f"{place} is said to be {said}"]


def judge_finding(assay, mpi, line):
    """A thread that is very late is named; once of three times: others may have no processor."""
    said = []
    for _ in range(RUNS):
        said.append(run_once(assay, mpi, MUCH_MS)["found"])
        if f"Rank 1, thread 1 is late to omp parallel in main (hybrid.c:{line})" in said[-1]:
            return []
    return [f"findings: {said}"]


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    points = []
    lines = pathlib.Path(source).read_text().splitlines()
    line = next(n for n, text in enumerate(lines, 1) if text.startswith("#pragma omp parallel"))
    for mpi in ("openmpi", "mpich"):
        if not shutil.which(f"mpicc.{mpi}"):
            print(f"ok # SKIP {mpi} is not here")
            continue
        subprocess.run([f"mpicc.{mpi}", "-g", "-O2", "-fopenmp", "-o", f"hybrid.{mpi}", source],
                       check=True)
        runs = [(parallel := run_once(assay, mpi)) and (expected(), parallel) for _ in range(RUNS)]
        for name, faults in (("waits", judge_waits(runs)), ("cause", judge_cause(runs)),
                             ("place", judge_place(runs, f"main, hybrid.c:{line}")),
                             ("finding", judge_finding(assay, mpi, line))):
            points.append(not faults)
            print(f"{'not ok' if faults else 'ok'} {len(points)} - {mpi}: {name}")
            for fault in faults:
                print(f"# {fault}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
