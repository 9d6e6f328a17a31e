#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wait states across inter-communicators: inter.py ASSAY DUMP SOURCE DIRECTORY

The program logs its own calls, which the trace must have, too. The expected wait states of each
rank are computed here from the log. A waiting rank waits for the other group. They must agree with
the trace within 3 % and 2 ms. Cases that MPI does not support are skipped.
"""
import collections
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

import traced
from both_mpis import run_points

Call = collections.namedtuple("Call", "name enter leave")
ROUNDS, RANKS = 4, 5
FIRST = {0, 2, 4}
OF_ALL = {"barrier": "wait_at_barrier", "allreduce": "wait_at_nxn", "allgather": "wait_at_nxn"}
KINDS = {"wait_at_barrier", "wait_at_nxn", "late_broadcast", "early_reduce", "late_sender"}
# (rank, kind) -> waits of a round for the delayed rank. On a busy host the others are delayed as
# well, and wait less. All else is chance.
PLANTED = {(0, "wait_at_barrier"): 1, (2, "wait_at_barrier"): 1, (4, "wait_at_barrier"): 1,
           (1, "wait_at_barrier"): 1, (3, "wait_at_barrier"): 1, (1, "wait_at_nxn"): 1,
           (3, "wait_at_nxn"): 1, (0, "wait_at_nxn"): 1, (2, "wait_at_nxn"): 1,
           (4, "wait_at_nxn"): 1, (1, "late_broadcast"): 1, (3, "late_broadcast"): 1,
           (1, "early_reduce"): 2, (1, "late_sender"): 1}


def read_log(path):
    logs = []
    for rank in range(RANKS):
        rows = map(str.split, pathlib.Path(f"{path}.{rank}").read_text().splitlines())
        logs.append([Call(name, int(enter), int(leave)) for name, enter, leave in rows])
    return logs


def by_name(logs):
    """Rank -> routine -> (enter, leave) of each call."""
    out = []
    for log in logs:
        calls = collections.defaultdict(list)
        for call in log:
            calls[call.name].append((call.enter, call.leave))
        out.append(calls)
    return out


def others_of(rank):
    return [r for r in range(RANKS) if (r in FIRST) != (rank in FIRST)]


def expected(logs):
    sums = collections.Counter()

    def wait(rank, kind, enter, leave, came):
        sums[rank, kind] += max(0, min(came, leave) - enter) * 1e-9

    for n in range(ROUNDS):
        for rank in range(RANKS):
            others = others_of(rank)
            for name, kind in OF_ALL.items():
                wait(rank, kind, *logs[rank][name][n], max(logs[r][name][n][0] for r in others))
            wait(rank, "wait_at_barrier", *logs[rank]["wait"][n],
                 max(logs[r]["ibarrier"][n][0] for r in others))
            if rank not in FIRST:
                wait(rank, "late_broadcast", *logs[rank]["bcast"][n], logs[2]["bcast"][n][0])
        for name in ("reduce", "gather"):
            wait(1, "early_reduce", *logs[1][name][n], max(logs[r][name][n][0] for r in FIRST))
        wait(1, "late_sender", *logs[1]["recv"][n], logs[0]["send"][n][0])
    return sums


def found_in(experiment):
    """Returns the waits of the trace. Calls on the world are barriers alone, and the program does
    not log their waits."""
    db = sqlite3.connect(f"{experiment}/experiment.db")
    rows = db.execute(
        "SELECT l.rank, w.kind, sum(w.time_ns) FROM trace_wait w JOIN trace_location l USING"
        " (trace_location_id) JOIN trace_site s USING (trace_site_id) WHERE s.function_id IN"
        " (SELECT function_id FROM function WHERE name NOT IN ('meet')) GROUP BY 1, 2").fetchall()
    unmet = db.execute("SELECT unmet_n, sends_n, receives_n FROM trace").fetchone()
    db.close()
    return {(rank, kind): ns * 1e-9 for rank, kind, ns in rows if kind in KINDS}, unmet


def judge(truth, found, unmet):
    if unmet != (0, 0, 0):
        return f"operations, sends and receives without partners: {unmet}"
    for key in sorted(truth.keys() | found.keys()):
        if abs(found.get(key, 0) - truth[key]) > 0.03 * truth[key] + 0.002:
            return f"{key}: {found.get(key, 0)} s by the trace, {truth[key]} s by the program"
    return None


def try_late(tools, mpi, late_ms):
    assay, dump = tools
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       ASSAY_NO_MEASURE="1")
    over = ["--oversubscribe"] if mpi == "openmpi" else []
    shutil.rmtree(f"{mpi}.assay", ignore_errors=True)
    run = subprocess.run([assay, "trace", "-q", "-o", f"{mpi}.assay", "--", f"mpirun.{mpi}", *over,
                          "-n", str(RANKS), f"./inter.{mpi}", mpi, str(ROUNDS), str(late_ms)],
                         env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        return run.stderr, False
    try:
        logs = traced.placed(read_log(mpi), traced.calls_of(dump, f"{mpi}.assay"))
    except traced.Misplaced as misplaced:
        return str(misplaced), False
    truth = expected(by_name(logs))
    return judge(truth, *found_in(f"{mpi}.assay")), \
        all(truth[key] >= 0.25 * n * ROUNDS * late_ms * 1e-3 for key, n in PLANTED.items())


def main():
    tools = [os.path.abspath(path) for path in sys.argv[1:3]]
    run_points("inter", *sys.argv[3:5],
               ["-O1", "-g", "-fno-inline", "-fno-optimize-sibling-calls", "-w"], lambda mpi: [""],
               lambda mpi, case: traced.of_enough(lambda late_ms: try_late(tools, mpi, late_ms)))


main()
