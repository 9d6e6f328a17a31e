#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks of two threads, of which one computes three times as much: the finding names rank, call,
function and line, its seconds are those of the program's own log within 3 %, and processor times
within what so many samples tell. There may be fewer processors than threads, and other load. Of
ranks that have as much to do each it is never said that one has more.

usage: uneven.py ASSAY SOURCE DIRECTORY
"""
import csv
import io
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

RUNS, ROUNDS, MORE = 3, 12, 3
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMP_WAIT_POLICY="passive")
WORK = re.compile(r"own work takes (\S+) s of processor time, (\S+) s more than the mean of the "
                  r"others \((\S+) s\), by (\S+) samples: most of all in (\S+) \((\S+)\), by \S+ s")


def number(text):
    return float(text.replace(",", ""))


class Run:
    """A run that is traced: what the program logged, and what is found."""

    def __init__(self, assay, mpi, ranks, more):
        shutil.rmtree("uneven.assay", ignore_errors=True)
        launch = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else [])]
        run = subprocess.run([assay, "trace", "-o", "uneven.assay", "--", *launch, "-n", str(ranks),
                              f"./uneven.{mpi}", "log", str(ROUNDS), str(more)],
                             capture_output=True, text=True, env=ENVIRONMENT, check=False)
        if run.returncode:
            sys.exit(f"Bail out! {run.stderr}")
        self.log = [{} for _ in range(ranks)]
        for rank, log in enumerate(self.log):
            for line in pathlib.Path(f"log.{rank}").read_text().splitlines():
                kind, one, thread, *times = line.split()
                log[kind, int(one), int(thread)] = [int(time) for time in times]
        found = subprocess.run([assay, "query", "--format", "csv", "uneven.assay",
                                "SELECT rule, text FROM v_findings"],
                               capture_output=True, text=True, check=True).stdout
        self.found = [(row["rule"], row["text"]) for row in csv.DictReader(io.StringIO(found))]

    def late(self, rank):
        return next((text for rule, text in self.found
                     if rule == "late" and text.startswith(f"Rank {rank} is late to MPI_")), "")

    def waited_s(self, rank):
        """While anybody waits for the first thread of `rank`: another rank at a barrier, its own
        second thread at the end of a region, and for the next."""
        spans, log = [], self.log[rank]
        for one in range(ROUNDS):
            enters = [its["barrier", one, 0][0] for its in self.log]
            if enters[rank] == max(enters):
                spans.append((min(enters), enters[rank]))
            first, second = log["part", one, 0][1], log["part", one, 1][1]
            spans.append((second, max(first, second)))
            if one + 1 < ROUNDS:
                spans.append((max(first, second), log["region", one + 1, 0][0]))
        covered, until = 0, 0
        for begin, end in sorted(spans):
            covered += max(0, end - max(begin, until))
            until = max(until, end)
        return covered / 1e9

    def work_s(self, rank):
        return sum(times[2] for key, times in self.log[rank].items() if key[0] == "part") / 1e9


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
    """The middle one of three: a thread may lose its processor between a call and the log."""
    said = []
    for run in runs:
        seconds = re.search(r"others wait (\S+) s for it", run.late(1))
        said.append((run.waited_s(1), number(seconds[1]) if seconds else 0))
    off = statistics.median(abs(seen - truth) - 0.03 * truth for truth, seen in said)
    return [] if off <= 0.002 else [f"others wait, by program and finding: {said}"]


def judge_work(runs):
    """Samples are drawn: four deviations, and a tenth of a second to start in."""
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
            if abs(seen - truth) > 4 * n ** 0.5 * period + 0.1:
                faults.append(f"{name}: {truth:.3f} s by the program, {seen} s by {n:.0f} samples")
    return faults


def judge_even(run):
    """More ranks than processors, as much to do in each: nobody has more work."""
    rules = "late", "waiting_in_turn", "load_imbalance"
    return [text for rule, text in run.found if rule in rules
            and re.search("own work takes|But rank . computes for|compute unevenly", text)]


def line_of(source, start):
    return next(n for n, text in enumerate(pathlib.Path(source).read_text().splitlines(), 1)
                if text.lstrip().startswith(start))


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
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
        runs = [Run(assay, mpi, 2, MORE) for _ in range(RUNS)]
        for name, faults in (("rank, call, function and line", judge_names(runs, barrier, loop)),
                             ("seconds that others wait", judge_waits(runs)),
                             ("seconds of own work", judge_work(runs)),
                             ("even ranks", judge_even(Run(assay, mpi, 3, 1)))):
            points.append(not faults)
            print(f"{'not ok' if faults else 'ok'} {len(points)} - {mpi}: {name}")
            for fault in faults:
                print(f"# {fault}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
