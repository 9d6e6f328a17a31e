#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of `assay count --levels` for a program: traffic.py ASSAY DIRECTORY
[ROUNDS [SHARE]]

Kernels of tests/count/levels.c run under `assay count`, with and without --levels, in turns. Prints
a line "KERNEL PLAIN LEVELS COVERED ERROR" each: medians of the ratio of CPU time, counted run to
profiled run; percent of accesses that were replayed; percent by which lines into L1 differ from
those of a short run that was replayed wholly.
"""
import json
import pathlib
import statistics
import subprocess
import sys

KERNELS = {"triad": ("triad", 2000000), "plane": ("plane", 1400),
           "random": ("sparse-random", 131000), "banded": ("sparse-banded", 131000),
           "join": ("joined", 262144)}
TIMES = {"triad": 800, "plane": 1000, "random": 2500, "banded": 2500, "join": 800}
SHORT = 2


def count(assay, where, program, kernel, n, times, *options):
    function = kernel.split("-")[0]
    got = subprocess.run(
        [assay, "count", "-q", *options, "--functions", f"^{function}$", "--format", "json",
         "--force", "--output", str(where / "traffic.assay"), "--", program, kernel, str(n),
         str(times)], check=True, capture_output=True, text=True)
    said = json.loads(got.stdout)
    return said["slowdown"], [it for it in said["counted"] if it["kind"] == "function"][0]


def main():
    assay, where = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    share = float(sys.argv[4]) if len(sys.argv) > 4 else 1
    where.mkdir(parents=True, exist_ok=True)
    program = str(where / "levels")
    source = pathlib.Path(__file__).parent.parent / "count" / "levels.c"
    subprocess.run(["gcc", "-O2", "-g", "-o", program, str(source)], check=True)
    for name, (kernel, n) in KERNELS.items():
        plain, levels, covered, lines = [], [], [], []
        times = max(SHORT, round(TIMES[name] * share))
        for _ in range(rounds):
            plain.append(count(assay, where, program, kernel, n, times)[0])
            slowdown, it = count(assay, where, program, kernel, n, times, "--levels")
            levels.append(slowdown)
            covered.append(it["traffic_covered_pct"])
            lines.append(it["lines_l1_in_n"] / times)
        _, it = count(assay, where, program, kernel, n, SHORT, "--levels")
        error = abs(statistics.median(lines) / (it["lines_l1_in_n"] / SHORT) - 1)
        print(f"{name} {statistics.median(plain):.3f} {statistics.median(levels):.3f} "
              f"{statistics.median(covered):.1f} {100 * error:.2f}", flush=True)


main()
