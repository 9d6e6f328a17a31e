#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wait states among some of the ranks: groups.py ASSAY SOURCE DIRECTORY

Neighbours, windows and messages in parts, as waits.py has messages and operations of all: the
program logs its own calls, from these lines the wait states are worked out here by their
definitions, and compared with those of the trace, each within 3 %; the middle one of three runs is
judged, of which two that are right are enough. Skips what MPI is not installed.
"""
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

from both_mpis import run_points

RUNS, ROUNDS, LATE_MS, RANKS = 3, 6, 20, 3
Call = collections.namedtuple("Call", "rank name enter leave ranks")
# What a case plants, and in how many waits of LATE_MS at least.
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
    """Of each pair (origin, target): calls of the epochs of one, and of the other."""
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
    """(calls of one that has a lock, whether nobody else may have one); of one target all."""
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


def judge(case, sums):
    for kind in KINDS:
        # On a busy host the others come late as well, and wait less for what was planted.
        planted = 0.25 * PLANTED[case].get(kind, 0) * LATE_MS * 1e-3
        waited = statistics.median(truth[kind] for truth, _ in sums)
        if waited < planted:
            return f"{kind}: {waited:.3f} s of what was planted, not {planted:.3f}"
        off = [abs(found[kind] - truth[kind]) - 0.03 * truth[kind] for truth, found in sums]
        if statistics.median(off) > 0.002:
            said = ", ".join(f"{found[kind]:.4f} ({truth[kind]:.4f})" for truth, found in sums)
            return f"{kind}: seconds by the trace (by the program): {said}"
    return None


def try_case(assay, mpi, case):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    over = ["--oversubscribe"] if mpi == "openmpi" else []
    log, sums = f"{mpi}.{case}", []
    for _ in range(RUNS):
        shutil.rmtree(f"{log}.assay", ignore_errors=True)
        run = subprocess.run([assay, "trace", "--format", "json", "-o", f"{log}.assay", "--",
                              f"mpirun.{mpi}", *over, "-n", str(RANKS), f"./groups.{mpi}", case,
                              log, str(ROUNDS), str(LATE_MS)],
                             env=environment, capture_output=True, text=True, check=False)
        if run.returncode:
            return run.stderr
        found = collections.Counter()
        for wait in json.loads(run.stdout)["parallel"]["waits"]:
            found[wait["kind"]] += wait["time_s"]
        sums.append((expected(case, read_log(log)), found))
        if len(sums) == 2 and not any(judge(case, [one]) for one in sums):
            break
    return judge(case, sums)


def has_case(mpi, case):
    return mpi == "mpich" or case in FEW


def main():
    assay = os.path.abspath(sys.argv[1])
    chosen = sys.argv[4:]
    run_points("groups", *sys.argv[2:4], ["-O2", "-w"],
               lambda mpi: chosen or [case for case in PLANTED if has_case(mpi, case)],
               lambda mpi, case: try_case(assay, mpi, case))


main()
