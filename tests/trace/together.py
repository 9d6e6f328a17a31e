#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of ranks that are merged by one process and by several: all facts and files are the same.
And what happens when one of several fails, dies, or never comes: the others end and say so.

usage: together.py ASSAY SOURCE DIRECTORY
"""
import filecmp
import glob
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
# A case of each MPI, and by how many processes its trace is merged.
CASES = {"openmpi": ("wrong_order", (2, 3)), "mpich": ("nonblocking_allreduce", (3,))}
# Values that are measured meanwhile, in tables of facts.
MEASURED = {"trace": {"record_ns", "cost_ns", "cost_most_ns"}}
POINTS = []


def point(name, faults):
    POINTS.append(not faults)
    print(f"{'not ok' if faults else 'ok'} {len(POINTS)} - {name}")
    for fault in faults:
        print(f"# {fault}")


def launch(mpi, ranks, *words):
    command = {"openmpi": ["mpirun.openmpi", "--oversubscribe"], "mpich": ["mpiexec.mpich"]}[mpi]
    return subprocess.run([*command, "-n", str(ranks), *words], capture_output=True, text=True,
                          env=ENVIRONMENT, check=False, timeout=800)


def facts(name):
    """Rows of all tables but what is measured while they are made."""
    db = sqlite3.connect(f"{name}/experiment.db")
    tables = [row[0] for row in db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'")]
    cost = {row[0] for row in db.execute(
        "SELECT metric_id FROM metric WHERE name = 'trace_cost_pct'")}
    out = {}
    for table in sorted(set(tables) - {"overhead"}):
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        kept = [c for c in columns if c not in MEASURED.get(table, ())]
        rows = db.execute(f"SELECT {', '.join(kept)} FROM {table}").fetchall()
        if table == "value":
            metric = kept.index("metric_id")
            rows = [row for row in rows if row[metric] not in cost]
        out[table] = rows
    db.close()
    return out


def differences(one, other):
    faults = []
    a, b = facts(one), facts(other)
    for table in sorted(a.keys() | b.keys()):
        if a.get(table) != b.get(table):
            rows = [pair for pair in zip(a.get(table, []), b.get(table, [])) if pair[0] != pair[1]]
            faults.append(f"{table}: {rows[:2]}")
    streams = sorted(os.listdir(f"{one}/run-001/trace"))
    if streams != sorted(os.listdir(f"{other}/run-001/trace")):
        faults.append("other streams")
    _, differ, missing = filecmp.cmpfiles(f"{one}/run-001/trace", f"{other}/run-001/trace", streams,
                                          shallow=False)
    return faults + [f"stream {name}" for name in differ + missing]


def compare(assay, mpi, *words, table="trace_wait"):
    """`table` is one that must have rows."""
    case, sizes = CASES[mpi]
    for old in glob.glob("*.assay"):
        shutil.rmtree(old)
    run = launch(mpi, 3, assay, "trace", *words, "-q", "-o", "x.assay", "--", f"./waits.{mpi}",
                 case, "log", "5", "2")
    parts = sorted(glob.glob("x.r*.assay"))
    if run.returncode or len(parts) != 3:
        sys.exit(f"Bail out! {run.stderr}")
    subprocess.run([assay, "merge", "-q", *parts, "-o", "alone.assay"], check=True,
                   capture_output=True)
    rows = facts("alone.assay")[table]
    faults = [] if rows else ["there is nothing to be equal"]
    for ranks in sizes:
        run = launch(mpi, ranks, assay, "merge", *parts, "-o", f"by{ranks}.assay")
        if run.returncode:
            faults.append(run.stderr)
            continue
        if run.stderr.count("merged 3 experiments") != 1:
            faults.append(f"said not once: {run.stderr}")
        faults += differences("alone.assay", f"by{ranks}.assay")
    return faults + [f"{name} is left" for name in glob.glob("*.ranks") + glob.glob("*.merging*")]


# ---- Ends ---------------------------------------------------------------------------------------


def start(assay, rank, size, *words, patience=2):
    """As a launcher would: of one of several ranks."""
    return subprocess.Popen([assay, "merge", *words], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            env=dict(ENVIRONMENT, PMI_RANK=str(rank), PMI_SIZE=str(size),
                                     ASSAY_PATIENCE=str(patience)))


def ended(process):
    _, err = process.communicate(timeout=800)
    return process.returncode, err


def expect(name, got, status, text):
    if got[0] != status or (text not in got[1] if text else got[1]):
        return [f"{name}: {got}, not {status} and {text!r}"]
    return []


def left_behind():
    return [f"{name} is left" for name in glob.glob("out*")]


def never_comes(assay, parts):
    first = start(assay, 0, 2, *parts, "-o", "out.assay")
    return expect("rank 0", ended(first), 1, "rank 1 did not come within 2 s") + left_behind()


def fails(assay, parts):
    """Rank 0 finds that an input is missing: it says so, once, and the others end."""
    both = [start(assay, rank, 2, *parts, "missing.assay", "-o", "out.assay", patience=300)
            for rank in (0, 1)]
    zero, one = map(ended, both)
    return (expect("rank 0", zero, 2, "missing.assay") + expect("rank 1", one, 1, "") +
            left_behind())


def dies(assay, parts):
    """One that is stopped for good gives no sign: the others do not wait for it. It is there before
    rank 0, without which it can go no further."""
    one = start(assay, 1, 2, *parts, "-o", "out.assay", patience=300)
    until = time.monotonic() + 300
    while not os.path.exists("out.assay.ranks/rank.1") and time.monotonic() < until:
        time.sleep(0.01)
    one.send_signal(signal.SIGSTOP)
    zero = ended(start(assay, 0, 2, *parts, "-o", "out.assay"))
    one.kill()
    one.communicate()
    return expect("rank 0", zero, 1, "rank 1 ") + left_behind()


def lost_first(assay, parts):
    """Without rank 0 the other ranks report the failure."""
    one = start(assay, 1, 2, *parts, "-o", "out.assay")
    faults = expect("rank 1", ended(one), 1, "rank 0 did not come within 2 s")
    shutil.rmtree("out.assay.ranks", ignore_errors=True)
    return faults + left_behind()


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    os.chdir(directory)
    parts = []
    for mpi in CASES:
        if not shutil.which(f"mpicc.{mpi}"):
            print(f"ok # SKIP {mpi} is not here")
            continue
        subprocess.run([f"mpicc.{mpi}", "-O1", "-o", f"waits.{mpi}", source, "-lm"], check=True)
        # Counters need one walk through all processes.
        point(f"{mpi}: one walk", compare(assay, mpi, "--samples", "--os-counters", "switches"))
        point(f"{mpi}: samples", compare(assay, mpi, "--samples", "--rate", "high",
                                         table="trace_sample"))
        point(f"{mpi}: one result", compare(assay, mpi))
        parts = sorted(glob.glob("x.r*.assay"))
    if parts:
        for end in (never_comes, fails, dies, lost_first):
            point(end.__name__, end(assay, parts))
    print(f"1..{len(POINTS)}")
    sys.exit(not all(POINTS))


main()
