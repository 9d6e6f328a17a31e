#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wait states of programs that make each other wait: waits.py ASSAY DUMP SOURCE DIRECTORY [all]

Each case runs under `assay trace`. The program writes when it made which call, and the trace must
say so, too. From these calls definitions.py works out the wait states and their causes. Those of
the trace are within 3 % of them, as long as they are more than noise. Skips what MPI is not here.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

import definitions
import traced
from both_mpis import run_points

ROUNDS = 5
# A case plants waits of this kind in each round, for so many ranks.
PLANTED = {"late_sender": ("late_sender", 2), "late_sender_large": ("late_sender", 2),
           "late_receiver": ("late_receiver", 2), "late_receiver_large": ("late_receiver", 2),
           "wrong_order": ("late_sender_wrong_order", 2), "late_nonblocking": ("late_sender", 2),
           "exchange": ("late_sender", 2), "halo": ("late_sender", 3),
           "two_senders": ("late_sender", 3), "eager": ("late_sender", 3),
           "barrier": ("wait_at_barrier", 2), "allreduce": ("wait_at_nxn", 2),
           "alltoall": ("wait_at_nxn", 2), "allgather": ("wait_at_nxn", 3),
           "reduce_scatter": ("wait_at_nxn", 3), "nonblocking_allreduce": ("wait_at_nxn", 2),
           "nonblocking_barrier": ("wait_at_barrier", 3), "late_broadcast": ("late_broadcast", 2),
           "late_scatter": ("late_broadcast", 3),
           "nonblocking_broadcast": ("late_broadcast", 3), "early_reduce": ("early_reduce", 3),
           "early_gather": ("early_reduce", 3), "empty_gather": ("early_reduce", 3),
           "nonblocking_reduce": ("early_reduce", 3), "scan": ("early_scan", 3),
           "exscan": ("early_scan", 3)}
# Left to the night: kinds that are matched and judged as another one is.
SAME = ("late_sender", "allreduce", "alltoall", "allgather", "reduce_scatter", "late_scatter",
        "nonblocking_broadcast", "early_gather", "exscan")
# Cases for the other MPI, which has a slow launcher; one for each way of matching.
FEW = ("late_sender_large", "late_receiver", "late_nonblocking", "halo", "eager", "barrier",
       "nonblocking_allreduce", "early_reduce")


def read_log(path, rank_n):
    logs = []
    for rank in range(rank_n):
        lines = pathlib.Path(f"{path}.{rank}").read_text().splitlines()
        rows = [line.split() for line in lines]
        logs.append([definitions.Call(rank, r[2], *map(int, r[3:])) for r in rows])
    return logs


def expected(logs):
    """Seconds by kind, and by the rank and the call that are waited for."""
    sums = collections.Counter()
    for wait in definitions.waits_of(logs):
        sums[wait.kind] += (wait.end - wait.begin) * 1e-9
        sums[wait.cause, wait.routine] += (wait.end - wait.begin) * 1e-9
    return sums


def found_in(parallel):
    """The same by the trace. All threads are ranks, in their order."""
    sums = collections.Counter()
    for wait in parallel["waits"]:
        if "completion" not in wait["kind"]:
            sums[wait["kind"]] += wait["time_s"]
    for late in parallel["late"]:
        sums[parallel["locations"][late["location"]]["rank"], late["routine"]] += late["direct_s"]
    return sums


def unsound(parallel):
    """Calls are waiting, transfer and overhead; none is less than nothing."""
    for call in parallel["calls"]:
        if not call["routine"].startswith("MPI_"):
            continue
        parts = call["waiting_s"], call["transfer_s"], call["overhead_s"]
        if min(parts) < -1e-9 or abs(sum(parts) - call["time_s"]) > 1e-8:
            return f"parts of {call}"
    return None


def launcher(mpi, rank_n):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    more = ["--oversubscribe"] if mpi == "openmpi" else []
    return [f"mpirun.{mpi}", *more, "-n", str(rank_n)], environment


def judge(truth, found):
    for what in sorted(truth.keys() | found.keys(), key=str):
        if abs(found[what] - truth[what]) > 0.03 * truth[what] + 0.002:
            return f"{what}: {found[what]:.4f} s, not {truth[what]:.4f}"
    return None


def run_traced(assay, log, command, environment):
    subprocess.run(["rm", "-rf", f"{log}.assay"], check=True)
    run = subprocess.run([assay, "trace", "--format", "json", "-o", f"{log}.assay", "--", *command],
                         env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise traced.Misplaced(f"exit status {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)["parallel"]


def try_late(tools, mpi, case, late_ms):
    assay, dump = tools
    kind, rank_n = PLANTED[case]
    launch, environment = launcher(mpi, rank_n)
    log = f"{mpi}.{case}"
    try:
        parallel = run_traced(assay, log, [*launch, f"./waits.{mpi}", case, log, str(ROUNDS),
                                           str(late_ms)], environment)
        logs = traced.placed(read_log(log, rank_n), traced.calls_of(dump, f"{log}.assay"))
    except traced.Misplaced as misplaced:
        return str(misplaced), False
    truth = expected(logs)
    why = judge(truth, found_in(parallel)) or unsound(parallel)
    return why, truth[kind] >= 0.25 * ROUNDS * late_ms * 1e-3


def main():
    tools = [os.path.abspath(path) for path in sys.argv[1:3]]
    most = [case for case in PLANTED if case not in SAME]
    run_points("waits", *sys.argv[3:5], ["-O2", "-w"],
               lambda mpi: PLANTED if "all" in sys.argv[5:] else most if mpi == "mpich" else FEW,
               lambda mpi, case: traced.of_enough(
                   lambda late_ms: try_late(tools, mpi, case, late_ms)))


main()
