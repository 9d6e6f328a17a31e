#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much slower a program is while it is profiled, by assay and by perf at the same rate.

usage: overhead.py WORK ASSAY DIRECTORY ROUNDS

Each round runs bench-work plainly, then under each profiler, in an order that changes from round to
round. Prints one line per profiler: its name, then ratios to the plain run of the same round. The
first is the median for the quiet quarter of the pieces, with its 95 % interval. The others are the
medians for CPU and wall time. perf is left out if it is missing or may not record. DIRECTORY is for
recordings.
"""
import pathlib
import shutil
import statistics
import subprocess
import sys

RATE, PIECES = "499", "100"


def ways(assay, perf, directory):
    record = [str(directory / "x.data"), "-F", RATE, "-e", "cpu-clock"]
    all_ways = {"plain": []}
    for name, stacks in (("assay", "off"), ("assay-dwarf", "dwarf")):
        all_ways[name] = [assay, "profile", "-q", "--force", "-o", str(directory / "x.assay"),
                          "--rate", RATE, "--event", "cpu-clock", "--call-stacks", stacks, "--"]
    if perf:
        all_ways["perf"] = [perf, "record", "-q", "-o", *record, "--"]
        all_ways["perf-dwarf"] = all_ways["perf"][:-1] + ["--call-graph", "dwarf", "--"]
    return all_ways


def run(before, work, result):
    result.unlink(missing_ok=True)
    done = subprocess.run([*before, work, PIECES, str(result)], check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode or not result.exists():
        raise RuntimeError(f"{' '.join(before)}: {done.stderr.strip()[-300:]}")
    return [float(word) for word in result.read_text(encoding="ascii").split()]


def interval(values):
    """The order statistics between which the median is with 95 % (Conover, sign test)."""
    ordered, n = sorted(values), len(values)
    tail, low = 0.5 ** n, 0
    term = tail
    while tail <= 0.025 and low < n // 2:
        low += 1
        term *= (n - low + 1) / low
        tail += term
    low = max(low - 1, 0)
    return ordered[low], ordered[n - 1 - low]


def main():
    work, assay, rounds = sys.argv[1], sys.argv[2], sys.argv[4]
    directory = pathlib.Path(sys.argv[3])
    directory.mkdir(parents=True, exist_ok=True)
    result = directory / "work.result"
    todo = ways(assay, shutil.which("perf"), directory)
    for name in [name for name in todo if name.startswith("perf")]:
        try:
            run(todo[name], work, result)
        except RuntimeError as error:
            print(f"overhead: {name} is left out: {error}", file=sys.stderr)
            del todo[name]
    ratio = {name: [] for name in todo if name != "plain"}
    for number in range(int(rounds)):
        names = list(todo)
        names = names[number % len(names):] + names[:number % len(names)]
        got = {name: run(todo[name], work, result) for name in names}
        for name, of in ratio.items():
            of.append([mine / plain for mine, plain in zip(got[name], got["plain"])])
    for name, of in ratio.items():
        quiet, cpu, wall = zip(*of)
        print(name, *(f"{value:.4f}" for value in
                      (statistics.median(quiet), *interval(quiet), statistics.median(cpu),
                       statistics.median(wall))))


main()
