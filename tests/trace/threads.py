#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waiting of threads by the trace (`assay trace`) against what the program logged itself.

usage: threads.py ASSAY SOURCE DIRECTORY

From the log alone it is worked out how long threads waited for each other, of which kind, and held
against the trace: within 3 %, as long as it is more than noise. The program's stamps lie around the
tracer's, and a thread that loses its processor in between differs by that: by no more than threads
were without one while they were ready, as they say themselves, and the middle one of three runs is
judged. OpenMP is that of gcc (libgomp) and, where it is here, of clang (libomp).
"""
import collections
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

RUNS, ROUNDS, THREADS = 3, 3, 3
# For how long somebody is late: on a busy host others come late as well, and wait less for what was
# planted; then more of it.
LATE_MS = (20, 100, 500)
# Cases that one run has; kind of wait -> how many times the rounds' lateness they plant at least.
OF_THREADS = ("mutex,condition,semaphore,thread_barrier,join,omp_lock",
              {"lock_contention": 2, "wait_for_condition": 2, "wait_at_thread_barrier": 1,
               "wait_at_join": 0.9})
OF_TEAMS = ("critical,serial,imbalance,omp_barrier,loop",
            {"critical_contention": 1, "idle_worker": 1, "wait_at_omp_barrier": 4})
# Alone: who comes to a barrier when is the matter of those that run tasks there.
OF_TASKS = ("tasks", {"wait_for_tasks": 1})
OF_GROUPS = ("groups", {"wait_for_tasks": 1})

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


def waits_for_tasks(lines, waiting, task):
    """Of who made them: from when it has run its own until others have run theirs."""
    for wait in of_kind(lines, waiting):
        tasks = [line for line in of_kind(lines, task) if line.round == wait.round]
        own = [line.leave for line in tasks if line.thread == wait.thread]
        yield max(0, max(line.leave for line in tasks) - max([wait.enter, *own]))


def expected(lines):
    """Kind of wait -> nanoseconds."""
    waits = collections.Counter()
    for kind, wait in (("lock", "lock_contention"), ("critical", "critical_contention"),
                       ("wait", "wait_for_condition")):
        waits[wait] = sum(line.leave - line.enter for line in of_kind(lines, kind))
    waits["queued"] = sum(line.leave for line in of_kind(lines, "queued"))
    waits["wait_at_thread_barrier"] = last_of_all(lines, "thread_barrier", lambda line: line.enter)
    waits["wait_at_omp_barrier"] = (last_of_all(lines, "barrier", lambda line: line.enter) +
                                    last_of_all(lines, "part", lambda line: line.leave))
    waits["wait_for_tasks"] = sum([*waits_for_tasks(lines, "taskwait", "task"),
                                   *waits_for_tasks(lines, "group", "grouped")])
    regions = of_kind(lines, "region")
    for before, after in zip(regions, regions[1:]):
        waits["idle_worker"] += (after.enter - before.leave) * (THREADS - 1)
    ends = {(line.round, line.thread): line.leave for line in of_kind(lines, "thread")}
    for join in of_kind(lines, "join"):
        waits["wait_at_join"] += max(0, min(ends[join.round, join.thread], join.leave) - join.enter)
    return waits


def found(text):
    waits = collections.Counter()
    for wait in json.loads(text)["parallel"]["waits"]:
        waits[wait["kind"]] += wait["time_s"] * 1e9
    return waits


def planted(times, late_ms):
    return times * ROUNDS * late_ms * 1e6 * 0.7  # no worker before the first round


def waited(kind, sums):
    return statistics.median(truth[kind] for truth, _ in sums)


def judge(kind, least, sums):
    if waited(kind, sums) < least:
        return f"{waited(kind, sums) / 1e9:.3f} s of what was planted, not {least / 1e9:.3f}"
    off = [abs(by_trace[kind] - truth[kind]) - 0.03 * truth[kind] - truth["queued"]
           for truth, by_trace in sums]
    said = ", ".join(f"{by_trace[kind] / 1e9:.4f} ({truth[kind] / 1e9:.4f})"
                     for truth, by_trace in sums)
    return f"seconds by the trace (by the program): {said}" if statistics.median(off) > 2e6 else ""


def run_cases(assay, program, cases, late_ms):
    sums = []
    for _ in range(RUNS):
        shutil.rmtree("threads.assay", ignore_errors=True)
        run = subprocess.run([assay, "trace", "--format", "json", "-o", "threads.assay", "--",
                              f"./{program}", cases, "log", str(ROUNDS), str(late_ms)],
                             capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(f"Bail out! {run.stderr}")
        sums.append((expected(read_log("log")), found(run.stdout)))
    return sums


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    points = []
    for compiler, groups in (("g++", (OF_THREADS, OF_TEAMS, OF_TASKS, OF_GROUPS)),
                             ("clang++", (OF_TEAMS, OF_TASKS, OF_GROUPS))):
        program = f"threads.{compiler}"
        made = shutil.which(compiler) and subprocess.run(
            [compiler, "-O1", "-fopenmp", "-pthread", "-o", program, source], capture_output=True,
            check=False).returncode == 0
        if not made:
            points.append(True)
            print(f"ok {len(points)} - {compiler} # SKIP no {compiler} with OpenMP")
            continue
        for cases, kinds in groups:
            for late_ms in LATE_MS:
                sums = run_cases(assay, program, cases, late_ms)
                if all(waited(kind, sums) >= planted(n, late_ms) for kind, n in kinds.items()):
                    break
            for kind, times in kinds.items():
                why = judge(kind, planted(times, late_ms), sums)
                points.append(not why)
                print(f"{'not ok' if why else 'ok'} {len(points)} - {compiler}: {kind}")
                if why:
                    print(f"# {why}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
