#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks of two threads; one rank computes three times as much. The finding names rank, call,
function and line. Its seconds agree with the log within 3 %, by the times of the trace. CPU times
agree within the uncertainty of the samples. There may be fewer CPUs than threads, and other load.
Ranks with equal work are never reported as uneven.

usage: uneven.py ASSAY DUMP SOURCE DIRECTORY
"""
import collections
import csv
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys

import traced

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "profile"))
from host import stolen_s  # noqa: E402

RUNS, ROUNDS, MORE = 2, 12, 3
# CPU time of a thread in a round: seconds in all, so that the result is certain on any CPU.
WORK_MS = 30
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMP_WAIT_POLICY="passive")
WORK = re.compile(r"own work takes (\S+) s of processor time, (\S+) s more than the mean of the "
                  r"others \((\S+) s\), by (\S+) samples: most of all in (\S+) \((\S+)\), by \S+ s")


Line = collections.namedtuple("Line", "enter leave tid cpu")


def number(text):
    return float(text.replace(",", ""))


class Run:
    """A run that is traced: what the program logged, and what is found."""

    def __init__(self, assay, mpi, ranks, more, steps):
        shutil.rmtree("uneven.assay", ignore_errors=True)
        launch = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else [])]
        stolen = stolen_s()
        run = subprocess.run([assay, "trace", "-o", "uneven.assay", "--", *launch, "-n", str(ranks),
                              f"./uneven.{mpi}", "log", str(ROUNDS), str(more), steps],
                             capture_output=True, text=True, env=ENVIRONMENT, check=False)
        if run.returncode:
            sys.exit(f"Bail out! {run.stderr}")
        self.stolen_s = stolen_s() - stolen
        self.log = [{} for _ in range(ranks)]
        for rank, log in enumerate(self.log):
            for line in pathlib.Path(f"log.{rank}").read_text().splitlines():
                kind, one, thread, *times = line.split()
                log[kind, int(one), int(thread)] = Line(*map(int, times))
        found = subprocess.run([assay, "query", "--format", "csv", "uneven.assay",
                                "SELECT rule, text FROM v_findings"],
                               capture_output=True, text=True, check=True).stdout
        self.found = [(row["rule"], row["text"]) for row in csv.DictReader(io.StringIO(found))]

    def place(self, dump):
        """The trace's times in place of the log's."""
        marks, besides = traced.Marks(dump, "uneven.assay"), []
        for log in self.log:
            for sort in sorted({(key[0], key[2]) for key in log}):
                own = [log[sort[0], one, sort[1]] for one in range(ROUNDS)]
                begin, end, is_around = {"part": ("implicit_task", "implicit_task_end", True),
                                         "region": ("parallel", "parallel_end", False),
                                         "barrier": ("enter", "leave", False)}[sort[0]]
                spans = marks.spans(own[0].tid, begin, end,
                                    lambda words: len(words) > 1 or words == ["MPI_Barrier"])
                lines, off = traced.placed_spans(own, spans, is_around)
                besides += off
                log.update({(sort[0], one, sort[1]): line for one, line in enumerate(lines)})
        traced.close_enough(besides)
        return self

    def late(self, rank):
        return next((text for rule, text in self.found
                     if rule == "late" and text.startswith(f"Rank {rank} is late to MPI_")), "")

    def waited_s(self, rank):
        """While anybody waits for the first thread of `rank`: another rank at a barrier, its own
        second thread at the end of a region, and for the next."""
        spans, log = [], self.log[rank]
        for one in range(ROUNDS):
            enters = [its["barrier", one, 0].enter for its in self.log]
            if enters[rank] == max(enters):
                spans.append((min(enters), enters[rank]))
            first, second = log["part", one, 0].leave, log["part", one, 1].leave
            spans.append((second, max(first, second)))
            if one + 1 < ROUNDS:
                spans.append((log["region", one, 0].leave, log["region", one + 1, 0].enter))
        covered, until = 0, 0
        for begin, end in sorted(spans):
            covered += max(0, end - max(begin, until))
            until = max(until, end)
        return covered / 1e9

    def work_s(self, rank):
        return sum(line.cpu for key, line in self.log[rank].items() if key[0] == "part") / 1e9


def judge_names(runs, barrier, loop):
    """In each run, whatever else the machine does."""
    faults = []
    for run in runs:
        text = run.late(1)
        work = WORK.search(text)
        if f"is late to MPI_Barrier in main (uneven.c:{barrier}): others wait " not in text:
            faults.append(f"no rank, call or line: {run.found}")
        elif not work or work[5] != "sweep" or work[6] != f"uneven.c:{loop}":
            faults.append(f"not sweep, uneven.c:{loop}: {text}")
    return faults


def judge_waits(runs):
    said = []
    for run in runs:
        seconds = re.search(r"others wait (\S+) s for it", run.late(1))
        said.append((run.waited_s(1), number(seconds[1]) if seconds else 0))
    fits = all(abs(seen - truth) <= 0.03 * truth + 0.002 for truth, seen in said)
    return [] if fits else [f"others wait, by program and finding: {said}"]


def judge_work(runs):
    """Samples come at equal distances of CPU time. So each of a thread's 12 parts is less than one
    sample off: far less than four deviations of drawn ones (83 of 430). The start may take a tenth
    of a second. Stolen time may have no samples."""
    faults = []
    for run in runs:
        work = WORK.search(run.late(1))
        if not work:
            continue # said elsewhere
        said, more, others, samples = (number(work[i]) for i in range(1, 5))
        period = said / samples
        for name, truth, seen, n in (("work", run.work_s(1), said, samples),
                                     ("others", run.work_s(0), others, others / period),
                                     ("more", run.work_s(1) - run.work_s(0), more,
                                      samples + others / period)):
            if abs(seen - truth) > 4 * n ** 0.5 * period + 0.1 + run.stolen_s:
                faults.append(f"{name}: {truth:.3f} s by the program, {seen} s by {n:.0f} samples")
    return faults


def judge_even(run):
    """More ranks than CPUs, with equal work: the findings must not blame more work."""
    rules = "late", "waiting_in_turn", "load_imbalance"
    return [text for rule, text in run.found if rule in rules
            and re.search("own work takes|But rank . computes for|compute unevenly", text)]


def line_of(source, start):
    return next(n for n, text in enumerate(pathlib.Path(source).read_text().splitlines(), 1)
                if text.lstrip().startswith(start))


def main():
    assay, dump, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    points = []
    barrier, loop = line_of(source, "MPI_Barrier("), line_of(source, "for (long i")
    for mpi in ("openmpi", "mpich"):
        if not shutil.which(f"mpicc.{mpi}"):
            print(f"ok # SKIP {mpi} is not here")
            continue
        subprocess.run([f"mpicc.{mpi}", "-g", "-O2", "-fopenmp", "-o", f"uneven.{mpi}", source],
                       check=True)
        steps = subprocess.run([f"./uneven.{mpi}", str(WORK_MS)], capture_output=True, text=True,
                               check=True).stdout.strip()
        runs = [Run(assay, mpi, 2, MORE, steps).place(dump) for _ in range(RUNS)]
        for name, faults in (("rank, call, function and line", judge_names(runs, barrier, loop)),
                             ("seconds that others wait", judge_waits(runs)),
                             ("seconds of own work", judge_work(runs)),
                             ("even ranks", judge_even(Run(assay, mpi, 3, 1, steps)))):
            points.append(not faults)
            print(f"{'not ok' if faults else 'ok'} {len(points)} - {mpi}: {name}")
            for fault in faults:
                print(f"# {fault}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
