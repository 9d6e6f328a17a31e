#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waiting of threads by the trace (`assay trace`) against what the program logged itself.

usage: threads.py ASSAY SOURCE DIRECTORY

From the log alone it is worked out how long threads waited for each other, of which kind, and held
against the trace: within 3 %, as long as it is more than noise. The program's stamps lie around the
tracer's, and a thread that loses its processor in between differs by that: the middle one of three
runs is judged. OpenMP is that of gcc (libgomp) and, where it is here, of clang (libomp).
"""
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

RUNS, ROUNDS, LATE_MS, THREADS = 3, 3, 20, 3
# What a case plants, and by how many times ROUNDS * LATE_MS at least.
PLANTED = {"mutex": ("lock_contention", 1), "condition": ("wait_for_condition", 1),
           "semaphore": ("wait_for_condition", 1), "thread_barrier": ("wait_at_thread_barrier", 1),
           "join": ("wait_at_join", 0.9)}
PLANTED_OMP = {"critical": ("critical_contention", 1), "omp_lock": ("lock_contention", 1),
               "serial": ("idle_worker", 1), "imbalance": ("wait_at_omp_barrier", 2),
               "omp_barrier": ("wait_at_omp_barrier", 1), "loop": ("wait_at_omp_barrier", 1)}
# With the other runtime, of each way that it tells.
FEW = ("critical", "serial", "imbalance", "loop")

Line = collections.namedtuple("Line", "kind round thread enter leave")


def read_log(path):
    rows = (line.split() for line in pathlib.Path(path).read_text().splitlines())
    return [Line(row[0], *map(int, row[1:])) for row in rows]


def last_of_all(lines, kind, when):
    """Until the last of each round has come."""
    rounds = collections.defaultdict(list)
    for line in lines:
        if line.kind == kind:
            rounds[line.round].append(when(line))
    return sum(max(came) * len(came) - sum(came) for came in rounds.values())


def of_kind(lines, kind):
    return [line for line in lines if line.kind == kind]


def expected(case, lines):
    """Kind of wait -> nanoseconds."""
    waits = collections.Counter()
    held = {"critical": "critical_contention"}.get(case, "lock_contention")
    waits[held] += sum(line.leave - line.enter for line in of_kind(lines, "lock"))
    waits["wait_for_condition"] += sum(w.leave - w.enter for w in of_kind(lines, "wait"))
    kind = "wait_at_thread_barrier" if case == "thread_barrier" else "wait_at_omp_barrier"
    waits[kind] += last_of_all(lines, "barrier", lambda line: line.enter)
    waits["wait_at_omp_barrier"] += last_of_all(lines, "part", lambda line: line.leave)
    regions = of_kind(lines, "region")
    for before, after in zip(regions, regions[1:]):
        waits["idle_worker"] += (after.enter - before.leave) * (THREADS - 1)
    ends = {line.round: line.leave for line in of_kind(lines, "thread")}
    for join in of_kind(lines, "join"):
        waits["wait_at_join"] += max(0, min(ends[join.round], join.leave) - join.enter)
    return waits


def found(text):
    waits = collections.Counter()
    for wait in json.loads(text)["parallel"]["waits"]:
        waits[wait["kind"]] += wait["time_s"] * 1e9
    return waits


def judge(case, plan, sums):
    kind, times = plan
    planted = times * ROUNDS * LATE_MS * 1e6 * 0.7  # no worker before the first round
    waited = statistics.median(truth[kind] for truth, _ in sums)
    if waited < planted:
        return f"{waited / 1e9:.3f} s of what was planted, not {planted / 1e9:.3f}"
    judged = {kind} | ({"wait_at_omp_barrier"} if case in PLANTED_OMP else set())
    for one in sorted(judged):
        off = [abs(by_trace[one] - truth[one]) - 0.03 * truth[one] for truth, by_trace in sums]
        if statistics.median(off) > 2e6:
            said = ", ".join(f"{by_trace[one] / 1e9:.4f} ({truth[one] / 1e9:.4f})"
                             for truth, by_trace in sums)
            return f"{one}: seconds by the trace (by the program): {said}"
    return None


def try_case(assay, program, case, plan):
    log, sums = f"{program}.{case}", []
    for _ in range(RUNS):
        shutil.rmtree(f"{log}.assay", ignore_errors=True)
        run = subprocess.run([assay, "trace", "--format", "json", "-o", f"{log}.assay", "--",
                              f"./{program}", case, log, str(ROUNDS), str(LATE_MS)],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            return run.stderr
        sums.append((expected(case, read_log(log)), found(run.stdout)))
    return judge(case, plan, sums)


def programs(source):
    """Name of the program, its cases; None: its compiler is not here."""
    for compiler, cases in (("g++", {**PLANTED, **PLANTED_OMP}), ("clang++", PLANTED_OMP)):
        name = f"threads.{compiler}"
        if not shutil.which(compiler):
            yield compiler, None, cases
            continue
        made = subprocess.run([compiler, "-O1", "-fopenmp", "-pthread", "-o", name, source],
                              capture_output=True, text=True, check=False)
        yield compiler, name if made.returncode == 0 else None, cases


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    points = []
    for compiler, program, cases in programs(source):
        if not program:
            print(f"ok # SKIP {compiler} with OpenMP is not here")
            continue
        for case, plan in cases.items():
            if compiler != "g++" and case not in FEW:
                continue
            why = try_case(assay, program, case, plan)
            points.append(why is None)
            print(f"{'ok' if why is None else 'not ok'} {len(points)} - {compiler}: {case}")
            for line in (why or "").splitlines():
                print(f"# {line}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
