#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wait states among some of the ranks: groups.py ASSAY DUMP SOURCE DIRECTORY

Tests neighbours, windows and partitioned messages; waits.py tests messages and collectives. The
program logs its own calls, which the trace must have, too. The expected wait states are computed
here from the log by their definitions, and must agree within 3 %. Cases that MPI does not support
are skipped.
"""
import collections
import os
import pathlib
import sys

import traced
from both_mpis import run_points

ROUNDS, RANKS = 6, 3
Call = collections.namedtuple("Call", "rank name enter leave ranks")
# The planted delays of a case: the minimum number of waits for the delayed rank.
NEIGHBOURS = {"ring": 12, "line": 8, "chain": 6, "star": 8, "told": 4, "chain_later": 6,
              "chain_prepared": 6}
PLANTED = {case: {"wait_at_neighbours": n} for case, n in NEIGHBOURS.items()}
PLANTED |= {"fence": {"wait_at_fence": 12}, "late_post": {"late_post": 12},
            "early_wait": {"early_wait": 6}, "late_complete": {"late_complete": 6},
            "window_lock": {"window_lock_contention": 4}, "window_shared": {},
            "window_made": {"wait_at_window": 24}, "parts": {"late_sender": 6}}
FEW = ("line", "chain_later", "fence", "late_post", "late_complete", "window_lock")
OF_ALL = {"MPI_Win_fence": "wait_at_fence", "MPI_Win_create": "wait_at_window",
          "MPI_Win_free": "wait_at_window"}
# None of these may be found where the program says that there was none.
KINDS = ("wait_at_neighbours", "wait_at_fence", "wait_at_window", "late_post", "early_wait",
         "late_complete", "window_lock_contention", "late_sender")
LATER = {"MPI_Ineighbor_alltoall", "MPI_Start"}


def read_log(path):
    logs = []
    for rank in range(RANKS):
        rows = [line.split() for line in pathlib.Path(f"{path}.{rank}").read_text().splitlines()]
        logs.append([Call(rank, r[0], int(r[1]), int(r[2]),
                          [] if r[3] == "-" else [int(other) for other in r[3].split(",")])
                     for r in rows])
    return logs


def operations(logs, names):
    """Members of each operation of all: (call that begins it, call that completes it)."""
    members = []
    for log in logs:
        members.append([(call, log[at + 1] if call.name in LATER else call)
                        for at, call in enumerate(log) if call.name in names])
    return zip(*members, strict=True)


def neighbour_waits(logs):
    names = LATER | {"MPI_Neighbor_allgather"}
    for members in operations(logs, names):
        for begin, end in members:
            came = max((members[other][0].enter for other in begin.ranks), default=0)
            yield max(0, min(came, end.leave) - end.enter), "wait_at_neighbours"


def window_waits(logs):
    for members in operations(logs, OF_ALL):
        came = max(call.enter for call, _ in members)
        for call, _ in members:
            yield max(0, min(came, call.leave) - call.enter), OF_ALL[call.name]


def epochs(logs):
    """Returns, for each pair (origin, target), calls of the epochs of one, and of the other."""
    accesses, exposures = collections.defaultdict(list), collections.defaultdict(list)
    for log in logs:
        for at, call in enumerate(log):
            if call.name == "MPI_Win_post":
                for origin in call.ranks:
                    exposures[origin, call.rank].append((call, log[at + 1]))
            elif call.name == "MPI_Win_start":
                for target in call.ranks:
                    accesses[call.rank, target].append(log[at:at + 3])
    for pair, calls in accesses.items():
        yield from ((*both,) for both in zip(calls, exposures[pair], strict=True))


def exposure_waits(logs):
    waited_for = collections.defaultdict(list)
    for (start, put, complete), (post, wait) in epochs(logs):
        for call in (start, put, complete):
            if call.enter < post.enter < call.leave:
                yield post.enter - call.enter, "late_post"
        waited_for[wait[:4]].append((complete.enter, put.leave, wait))
    for origins in waited_for.values():
        complete_ns, access_ns, wait = max(origins)
        access_ns = max(access_ns, wait.enter)
        yield max(0, min(access_ns, complete_ns) - wait.enter), "early_wait"
        yield max(0, complete_ns - access_ns), "late_complete"


def held(logs):
    """Yields (calls of a lock owner, whether the lock is exclusive); all calls are of one
    target."""
    for log in logs:
        for at, call in enumerate(log):
            if call.name in ("exclusive", "shared"):
                yield log[at:at + 4], call.name == "exclusive"


def lock_waits(logs):
    for calls, is_exclusive in held(logs):
        free = [others[3].enter for others, is_exclusive_too in held(logs)
                if others[0].rank != calls[0].rank and (is_exclusive or is_exclusive_too)]
        for call in calls:
            during = [ns for ns in free if call.enter < ns < call.leave]
            yield max(during, default=call.enter) - call.enter, "window_lock_contention"


def part_waits(logs):
    """Waits of the receiver for the last partitions of two messages, of which it takes the second
    first."""
    ready = [call for call in logs[0] if call.name.startswith("last_")]
    waits = [call for call in logs[1] if call.name.startswith("wait_")]
    for sent, wait in zip(sorted(ready), sorted(waits, key=lambda c: (c.name, c.enter)),
                          strict=True):
        yield max(0, min(sent.enter, wait.leave) - wait.enter), "late_sender"


def expected(case, logs):
    sums = collections.Counter()
    waits = neighbour_waits(logs) if case in NEIGHBOURS else \
        part_waits(logs) if case == "parts" else \
        [*window_waits(logs), *exposure_waits(logs), *lock_waits(logs)]
    for ns, kind in waits:
        sums[kind] += ns * 1e-9
    return sums


def judge(truth, found):
    for kind in KINDS:
        if abs(found[kind] - truth[kind]) > 0.03 * truth[kind] + 0.002:
            return f"{kind}: {found[kind]:.4f} s, not {truth[kind]:.4f}"
    return None


def try_late(tools, mpi, case, late_ms):
    assay, dump = tools
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    over = ["--oversubscribe"] if mpi == "openmpi" else []
    log = f"{mpi}.{case}"
    why, found = traced.waited_in(assay, log, [f"mpirun.{mpi}", *over, "-n", str(RANKS),
                                               f"./groups.{mpi}", case, log, str(ROUNDS),
                                               str(late_ms)], environment)
    if why:
        return why, False
    try:
        logs = traced.placed(read_log(log), traced.calls_of(dump, f"{log}.assay"))
    except traced.Misplaced as misplaced:
        return str(misplaced), False
    truth = expected(case, logs)
    return judge(truth, found), all(truth[kind] >= 0.25 * n * late_ms * 1e-3
                                    for kind, n in PLANTED[case].items())


def has_case(mpi, case):
    return mpi == "mpich" or case in FEW


def main():
    tools = [os.path.abspath(path) for path in sys.argv[1:3]]
    chosen = sys.argv[5:]
    run_points("groups", *sys.argv[3:5], ["-O2", "-w"],
               lambda mpi: chosen or [case for case in PLANTED if has_case(mpi, case)],
               lambda mpi, case: traced.of_enough(
                   lambda late_ms: try_late(tools, mpi, case, late_ms)))


main()
