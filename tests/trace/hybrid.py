#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MPI with OpenMP: one thread of one rank is delayed, and all others wait, some through others.

usage: hybrid.py ASSAY DUMP SOURCE DIRECTORY

The trace must have the logged calls at their times. The expected waits are computed from these
times; the waits of the trace must agree within 3 %. If nearly all of them are for the delayed
thread, it must be the cause. It must also be the cause of the waits of the other rank. The finding
must name it.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

import traced

ROUNDS = 4
# Delays in milliseconds. On a busy host other threads are delayed as well, and a longer delay is
# tried. The last are for hosts that stand still for seconds.
LATE_MS = (20, 150, 600, 2000, 8000, 30000)
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
POINTS = ("waits", "cause", "place", "finding")

Line = collections.namedtuple("Line", "kind round thread enter leave tid rank")


def read_logs():
    lines = []
    for rank in (0, 1):
        for text in pathlib.Path(f"log.{rank}").read_text().splitlines():
            kind, *numbers = text.split()
            lines.append(Line(kind, *map(int, numbers), rank))
    return lines


def placed(lines, marks):
    """(kind, rank, thread) -> round -> (enter, leave) by the trace."""
    out, besides = {}, []
    for kind, begin, end, is_around in (("part", "implicit_task", "implicit_task_end", True),
                                        ("barrier", "enter", "leave", False)):
        for rank, thread in ((rank, thread) for rank in (0, 1) for thread in (0, 1)):
            own = [line for line in lines if line[0] == kind and line.rank == rank
                   and line.thread == thread]
            if not own:
                continue # at barriers of MPI one thread alone
            spans = marks.spans(own[0].tid, begin, end,
                                lambda words: len(words) > 1 or words == ["MPI_Barrier"])
            kept, off = traced.placed_spans(own, spans, is_around)
            out[kind, rank, thread] = [(line.enter, line.leave) for line in kept]
            besides += off
    traced.close_enough(besides)
    return out


class Truth:
    """Seconds by the program: at the ends of rank 1's regions, at barriers of MPI; and what of both
    is for rank 1's second thread."""

    def __init__(self, spans):
        self.waits = {"wait_at_omp_barrier": 0, "wait_at_barrier": 0}
        self.planted = 0
        for one in range(ROUNDS):
            ends = [spans["part", 1, thread][one][1] for thread in (0, 1)]
            enters = [spans["barrier", rank, 0][one][0] for rank in (0, 1)]
            self.waits["wait_at_omp_barrier"] += abs(ends[0] - ends[1]) / 1e9
            self.waits["wait_at_barrier"] += abs(enters[0] - enters[1]) / 1e9
            own = max(0, ends[1] - ends[0]) / 1e9
            self.planted += own + min(own, max(0, enters[1] - enters[0]) / 1e9)

    def total(self):
        return sum(self.waits.values())


def trace_once(assay, mpi, late_ms):
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


def judge_waits(truth, parallel):
    for kind, wanted in truth.waits.items():
        rank = 1 if kind == "wait_at_omp_barrier" else None
        seen = sum(wait["time_s"] for wait in parallel["waits"] if wait["kind"] == kind and
                   rank in (None, parallel["locations"][wait["location"]].get("rank")))
        if abs(seen - wanted) > 0.03 * wanted + 0.002:
            return f"{kind}: {seen:.4f} s by the trace, not {wanted:.4f}"
    return ""


def judge_cause(truth, parallel):
    """Most is put down to the late thread: what its own rank waited, and the other for that."""
    who = late_thread(parallel)
    cost = sum(row["total_s"] for row in parallel["late"] if row["location"] == who)
    return "" if cost > 0.85 * truth.total() else \
        f"{cost:.4f} s of {truth.total():.4f} are put down to the late thread"


def judge_place(parallel, place):
    said = [row["place"] for row in parallel["late"] if row["routine"] == "omp parallel"][:1]
    return "" if said == [place] else f"{place} is said to be {said}"


def judge_finding(parallel, line):
    wanted = f"Rank 1, thread 1 is late to omp parallel in main (hybrid.c:{line})"
    return "" if wanted in parallel["found"] else f"no '{wanted}' in {parallel['found']!r}"


def try_late(tools, mpi, line, late_ms):
    """Returns (point -> reason of its failure, whether nearly all waited for the delayed thread
    long enough for a finding)."""
    parallel = trace_once(tools[0], mpi, late_ms)
    try:
        marks = traced.Marks(tools[1], "hybrid.assay")
        truth = Truth(placed(read_logs(), marks))
    except traced.Misplaced as misplaced:
        return {"waits": str(misplaced)}, False
    faults = {"waits": judge_waits(truth, parallel)}
    is_enough = truth.planted >= max(0.95 * truth.total(), 0.1 * marks.span_s())
    if is_enough:
        faults |= {"cause": judge_cause(truth, parallel),
                   "place": judge_place(parallel, f"main, hybrid.c:{line}"),
                   "finding": judge_finding(parallel, line)}
    return faults, is_enough


def main():
    *tools, source, directory = map(os.path.abspath, sys.argv[1:])
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
        faults = traced.points_of_enough(
            lambda late_ms, mpi=mpi: try_late(tools, mpi, line, late_ms), ("waits",), LATE_MS)
        for name in POINTS:
            fault = faults.get(name, "it did not come to that")
            points.append(not fault)
            print(f"{'not ok' if fault else 'ok'} {len(points)} - {mpi}: {name}")
            if fault:
                print(f"# {fault}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
