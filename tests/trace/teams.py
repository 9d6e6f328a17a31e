#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares traces of OpenMP with a program that logs its own constructs, in random order. The trace
has each construct of each thread once, in its order. Each task begins once, with the creator that
the program logged. The child of a fork identifies its runtime itself.

usage: teams.py ASSAY DUMP SOURCE DIRECTORY
"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys

STEPS, SEEDS = "60", ("3", "4")
# The compilers' words for the barrier behind a construct differ: explicit or implied.
SAME = {"barrier 1": "barrier 0", "barrier end 1": "barrier end 0"}


def threads_of(text):
    """tid -> lines; threads without any left out."""
    threads, lines = {}, []
    for line in text.splitlines():
        if line.startswith("thread "):
            lines = threads.setdefault(int(line.split()[1]), [])
        else:
            lines.append(SAME.get(line, line))
    return {tid: lines for tid, lines in threads.items() if lines}


def split_tasks(threads):
    """Lines without the numbers of tasks, which the program does not know; kind -> numbers."""
    numbers = collections.defaultdict(list)
    plain = {}
    for tid, lines in threads.items():
        plain[tid] = []
        for line in lines:
            if line.startswith("task "):
                line, number = line.rsplit(" ", 1)
                numbers[line].append(number)
            plain[tid].append(line)
    return plain, numbers


def difference(logged, traced):
    """Returns the first difference; "" if both are equal."""
    seen, numbers = split_tasks(traced)
    if sorted(logged) != sorted(seen):
        return f"threads {sorted(logged)}, in the trace {sorted(seen)}"
    for tid, lines in logged.items():
        for n, (own, record) in enumerate(zip(lines, seen[tid])):
            if own != record:
                return f"thread {tid}, line {n}: the program says '{own}', the trace '{record}'"
        if len(lines) != len(seen[tid]):
            return f"thread {tid}: {len(lines)} lines, {len(seen[tid])} in the trace"
    made = numbers["task create"]
    if len(set(made)) != len(made):
        return "two tasks have one number"
    for kind in ("task begin", "task end"):
        if sorted(numbers[kind]) != sorted(made):
            return f"{len(made)} tasks are made, {len(numbers[kind])} are in '{kind}'"
    return ""


def check(assay, dump, program, seed):
    shutil.rmtree("teams.assay", ignore_errors=True)
    run = subprocess.run([assay, "trace", "-q", "--format", "json", "-o", "teams.assay", "--",
                          f"./{program}", "teams.log", seed, STEPS],
                         capture_output=True, text=True, check=False)
    if run.returncode:
        return f"exit status {run.returncode}: {run.stderr[-300:]!r}"
    text = subprocess.run([dump, "teams.assay/run-001/trace", "teams"], capture_output=True,
                          text=True, check=True).stdout
    return difference(threads_of(pathlib.Path("teams.log").read_text()), threads_of(text))


def check_fork(assay, source):
    """Regions with loops that gcc divides itself are known by the runtime, in both processes."""
    made = subprocess.run(["gcc", "-O1", "-fopenmp", "-o", "teams_fork",
                           pathlib.Path(source).with_name("teams_fork.c")], check=False)
    shutil.rmtree("fork.assay", ignore_errors=True)
    run = made.returncode == 0 and subprocess.run(
        [assay, "trace", "-q", "--format", "json", "-o", "fork.assay", "--", "./teams_fork"],
        capture_output=True, text=True, check=False)
    if not run or run.returncode:
        return f"exit status {run.returncode}: {run.stderr[-300:]!r}" if run else "not compiled"
    seen = subprocess.run([assay, "query", "--format", "csv", "fork.assay",
                           "SELECT n FROM v_flags WHERE name = 'worksharing_unseen'"],
                          capture_output=True, text=True, check=True).stdout.split()
    return "" if seen == ["n", "5"] else f"regions without shared work: {seen}, not 5"


def main():
    assay, dump, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    points = []
    for compiler in ("gcc", "clang"):
        made = shutil.which(compiler) and subprocess.run(
            [compiler, "-O1", "-fopenmp", "-o", f"teams.{compiler}", source], capture_output=True,
            check=False).returncode == 0
        for seed in SEEDS if made else ():
            fault = check(assay, dump, f"teams.{compiler}", seed)
            points.append(not fault)
            print(f"{'not ok' if fault else 'ok'} {len(points)} - {compiler}, seed {seed}")
            if fault:
                print(f"# {fault}")
        if not made:
            points.append(True)
            print(f"ok {len(points)} - {compiler} # SKIP no {compiler} with OpenMP")
    fault = check_fork(assay, source) if shutil.which("gcc") else ""
    points.append(not fault)
    print(f"{'not ok' if fault else 'ok'} {len(points)} - the child of a fork")
    if fault:
        print(f"# {fault}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
