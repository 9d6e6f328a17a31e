#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wait states of programs that make each other wait: waits.py ASSAY DUMP SOURCE DIRECTORY

Each case runs under `assay trace`; the program writes when it made which call, and the trace must
say so, too. From these calls the wait states are worked out here by their definitions, and compared
with those of the trace: each within 3 %, as long as it is more than noise.
Skips what MPI is not installed.
"""
import collections
import os
import pathlib
import sys

import traced
from both_mpis import run_points

ROUNDS = 5
CASES = ("late_sender", "late_sender_large", "late_receiver", "wrong_order", "late_nonblocking",
         "barrier", "allreduce", "alltoall", "nonblocking_allreduce", "late_broadcast",
         "early_reduce")
# With the other MPI, whose launcher takes its time; one of each way of matching.
FEW = ("late_sender_large", "late_receiver", "late_nonblocking", "barrier", "nonblocking_allreduce")
# What a case plants: each round waits so long at least, of this kind.
PLANTED = {"late_sender": "late_sender", "late_sender_large": "late_sender",
           "late_receiver": "late_receiver", "wrong_order": "late_sender_wrong_order",
           "late_nonblocking": "late_sender", "barrier": "wait_at_barrier",
           "allreduce": "wait_at_nxn", "alltoall": "wait_at_nxn",
           "nonblocking_allreduce": "wait_at_nxn", "late_broadcast": "late_broadcast",
           "early_reduce": "early_reduce"}
GATHERINGS = {"MPI_Barrier": "wait_at_barrier", "MPI_Allreduce": "wait_at_nxn",
              "MPI_Alltoall": "wait_at_nxn", "MPI_Iallreduce": "wait_at_nxn",
              "MPI_Bcast": "late_broadcast", "MPI_Reduce": "early_reduce"}

Call = collections.namedtuple("Call", "rank name enter leave peer tag bytes root")


def read_log(path, rank_n):
    logs = []
    for rank in range(rank_n):
        lines = pathlib.Path(f"{path}.{rank}").read_text().splitlines()
        rows = [line.split() for line in lines]
        logs.append([Call(rank, r[2], *map(int, r[3:])) for r in rows])
    return logs


def messages(logs):
    """(send, end of sending, receive posted, receive completed), in order of pairs and tags."""
    sends, receives = collections.defaultdict(list), collections.defaultdict(list)
    for log in logs:
        for at, call in enumerate(log):
            if call.name in ("MPI_Send", "MPI_Ssend"):
                sends[call.rank, call.peer, call.tag].append((call, call))
            elif call.name == "MPI_Isend":
                sends[call.rank, call.peer, call.tag].append((call, log[at + 1]))
            elif call.name == "MPI_Recv":
                receives[call.peer, call.rank, call.tag].append((call, call))
            elif call.name == "MPI_Irecv":
                receives[call.peer, call.rank, call.tag].append((call, log[at + 1]))
    for key, sent in sends.items():
        yield from ((*s, *r) for s, r in zip(sent, receives[key], strict=True))


def message_waits(logs):
    late = []
    for send, sent, post, received in messages(logs):
        if send.enter > received.enter:
            ns = min(send.enter, received.leave) - received.enter
            late.append((ns, "late_sender", send, received))
        elif sent.enter < post.enter < sent.leave:
            late.append((post.enter - sent.enter, "late_receiver", send, received))
    for ns, kind, send, received in late:
        before = any(other.enter < send.enter and other.rank == send.rank and
                     taken.rank == received.rank and taken.enter >= received.leave
                     for other, _, _, taken in messages(logs))
        yield ns, "late_sender_wrong_order" if kind == "late_sender" and before else kind


def gatherings(logs):
    """Members of each operation of all: (call that begins it, call that completes it)."""
    members = []
    for log in logs:
        own = []
        for at, call in enumerate(log):
            if call.name in GATHERINGS:
                own.append((call, log[at + 1] if call.name == "MPI_Iallreduce" else call))
        members.append(own)
    return zip(*members, strict=True)


def gathering_waits(logs):
    for members in gatherings(logs):
        kind = GATHERINGS[members[0][0].name]
        root = members[0][0].root
        if kind == "late_broadcast":
            came = members[root][0].enter
        elif kind == "early_reduce":
            came = max(begin.enter for begin, _ in members if begin.rank != root)
        else:
            came = max(begin.enter for begin, _ in members)
        for begin, end in members:
            is_root = begin.rank == root
            if kind == "early_reduce" and not is_root or kind == "late_broadcast" and is_root:
                continue
            yield max(0, min(came, end.leave) - end.enter), kind


def expected(logs):
    sums = collections.Counter()
    for ns, kind in [*message_waits(logs), *gathering_waits(logs)]:
        sums[kind] += ns * 1e-9
    return sums


def launcher(mpi):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return [f"mpirun.{mpi}", "-n", "2"], environment


def judge(truth, found):
    for kind in sorted(kind for kind in truth.keys() | found.keys() if "completion" not in kind):
        if abs(found[kind] - truth[kind]) > 0.03 * truth[kind] + 0.002:
            return f"{kind}: {found[kind]:.4f} s, not {truth[kind]:.4f}"
    return None


def try_late(tools, mpi, case, late_ms):
    assay, dump = tools
    launch, environment = launcher(mpi)
    log = f"{mpi}.{case}"
    why, found = traced.waited_in(assay, log, [*launch, f"./waits.{mpi}", case, log, str(ROUNDS),
                                               str(late_ms)], environment)
    if why:
        return why, False
    try:
        logs = traced.placed(read_log(log, 2), traced.calls_of(dump, f"{log}.assay"))
    except traced.Misplaced as misplaced:
        return str(misplaced), False
    truth = expected(logs)
    return judge(truth, found), truth[PLANTED[case]] >= 0.25 * ROUNDS * late_ms * 1e-3


def main():
    tools = [os.path.abspath(path) for path in sys.argv[1:3]]
    run_points("waits", *sys.argv[3:5], ["-O2"], lambda mpi: CASES if mpi == "mpich" else FEW,
               lambda mpi, case: traced.of_enough(
                   lambda late_ms: try_late(tools, mpi, case, late_ms)))


main()
