#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Waiting of threads by the trace (`assay trace`) against the log of the program.

usage: threads.py ASSAY DUMP SOURCE DIRECTORY

The trace must have the logged events at their times. The expected waits of threads, by kind, are
computed here from these times by their definitions. The trace must agree within 3 %. OpenMP is that
of gcc (libgomp) and, if installed, of clang (libomp).
"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys

import traced

ROUNDS, THREADS = 3, 3
# Cases that one run has; kind of wait -> how many times the rounds' lateness they plant at least.
OF_THREADS = ("mutex,condition,semaphore,thread_barrier,join,omp_lock",
              {"lock_contention": 2, "wait_for_condition": 2, "wait_at_thread_barrier": 1,
               "wait_at_join": 0.9})
OF_TEAMS = ("critical,serial,imbalance,omp_barrier,loop",
            {"critical_contention": 1, "idle_worker": 1, "wait_at_omp_barrier": 4})
# Alone: arrivals at a barrier depend on the threads that run tasks there.
OF_TASKS = ("tasks", {"wait_for_tasks": 1})
OF_GROUPS = ("groups", {"wait_for_tasks": 1})

Line = collections.namedtuple("Line", "kind round thread enter leave tid")
# Kind of logged line -> records of the trace: begin, end, their sorts, whether they enclose the
# logged interval.
TRACED = {"thread_barrier": ("barrier", "barrier_end", {4}, False),
          "barrier": ("barrier", "barrier_end", {0, 1}, False),
          "taskwait": ("barrier", "barrier_end", {2}, False),
          "group": ("barrier", "barrier_end", {3}, False),
          "region": ("parallel", "parallel_end", None, False),
          "part": ("implicit_task", "implicit_task_end", None, True),
          "task": ("task_begin", "task_end", None, True),
          "grouped": ("task_begin", "task_end", None, True),
          "thread": ("thread_begin", "thread_end", None, True),
          "join": ("thread_join", "leave", None, False)}
# By sort of lock; all else is contention of locks.
LOCKED = ("lock", "critical", "wait")
WAIT_OF_SORT = {"3": "wait_for_condition", "8": "wait_for_condition", "4": "critical_contention"}


def read_log(path):
    rows = (line.split() for line in pathlib.Path(path).read_text().splitlines())
    return [Line(row[0], *map(int, row[1:])) for row in rows]


def of_kind(lines, kind):
    return [line for line in lines if line.kind == kind]


def lock_spans(marks, tid):
    return marks.spans(tid, "lock_wait", "lock_held")


def placed(lines, marks, late_ms):
    """With the trace's times; locks stay as they are logged."""
    out, besides = [], []
    for tid in {line.tid for line in lines}:
        own = sorted((line for line in lines if line.tid == tid), key=lambda line: line.enter)
        for kind, (begin, end, sorts, is_around) in TRACED.items():
            spans = marks.spans(tid, begin, end,
                                lambda words, sorts=sorts: not sorts or int(words[1]) in sorts)
            if of_kind(own, kind):
                kept, off = traced.placed_spans(of_kind(own, kind), spans, is_around)
                out += kept
                besides += off
        besides += traced.held_within([line for line in own if line.kind in LOCKED],
                                      lock_spans(marks, tid), late_ms * 1e6 / 2)
    traced.close_enough(besides)
    return out


def last_of_all(lines, kind, when):
    """Until the last of each round has come."""
    rounds = collections.defaultdict(list)
    for line in of_kind(lines, kind):
        rounds[line.round].append(when(line))
    return sum(max(came) * len(came) - sum(came) for came in rounds.values())


def waits_for_tasks(lines, waiting, task):
    """Returns the waits of the creator of tasks: from the end of its own until others have run
    theirs."""
    for wait in of_kind(lines, waiting):
        tasks = [line for line in of_kind(lines, task) if line.round == wait.round]
        own = [line.leave for line in tasks if line.thread == wait.thread]
        yield max(0, max(line.leave for line in tasks) - max([wait.enter, *own]))


def lock_waits(marks):
    """Contended is what another gave back, or signalled, in between."""
    given = collections.defaultdict(list)
    for tid, own in marks.of.items():
        for mark in own:
            if mark.kind == "lock_released":
                given[mark.words[0]].append((mark.ns, tid))
    for tid in marks.of:
        for span in lock_spans(marks, tid):
            if any(span.begin < ns <= span.end and by != tid for ns, by in given[span.words[0]]):
                yield WAIT_OF_SORT.get(span.words[1], "lock_contention"), span.end - span.begin


def expected(lines, marks):
    """Kind of wait -> nanoseconds."""
    waits = collections.Counter()
    for kind, ns in lock_waits(marks):
        waits[kind] += ns
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


def judge(kinds, truth, found):
    """Kind -> why it is not so, or None."""
    return {kind: None if abs(found[kind] * 1e9 - truth[kind]) <= 0.03 * truth[kind] + 2e6 else
            f"{found[kind]:.4f} s by the trace, not {truth[kind] / 1e9:.4f}" for kind in kinds}


def try_late(tools, program, cases, kinds, late_ms):
    """(kind -> why it fails or None, whether enough was waited for what was planted)"""
    assay, dump = tools
    why, found = traced.waited_in(assay, "threads", [f"./{program}", cases, "log", str(ROUNDS),
                                                     str(late_ms)], None)
    if why:
        return dict.fromkeys(kinds, why), False
    try:
        marks = traced.Marks(dump, "threads.assay")
        lines = placed(read_log("log"), marks, late_ms)
    except traced.Misplaced as misplaced:
        return dict.fromkeys(kinds, str(misplaced)), False
    truth = expected(lines, marks)
    # No worker before the first round.
    return judge(kinds, truth, found), all(truth[kind] >= times * ROUNDS * late_ms * 1e6 * 0.7
                                           for kind, times in kinds.items())


def run_cases(tools, program, cases, kinds):
    return traced.points_of_enough(
        lambda late_ms: try_late(tools, program, cases, kinds, late_ms), kinds)


def main():
    *tools, source, directory = map(os.path.abspath, sys.argv[1:])
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
            for kind, why in run_cases(tools, program, cases, kinds).items():
                points.append(not why)
                print(f"{'not ok' if why else 'ok'} {len(points)} - {compiler}: {kind}")
                if why:
                    print(f"# {why}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
