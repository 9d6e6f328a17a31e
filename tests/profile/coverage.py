#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often a share lies in the 95 % interval that is stated with it: many runs of the spinner.

    coverage.py ASSAY OUTDIR WITNESS [RUNS [SECONDS]]        100 runs of 0.25 s when not said
"""
import collections
import sys

from truth import SPINNERS, Truth, whole


def main():
    truth = Truth(sys.argv[1], sys.argv[2], sys.argv[3])
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    seconds = float(sys.argv[5]) if len(sys.argv) > 5 else 0.25
    folder, inside = truth.folder("spinner"), collections.Counter()
    unsteady = 0
    for seed in range(runs):
        run, _, _ = truth.recorded(folder, ["./p", seconds, 1, 1000 + seed], f"run {seed}", whole)
        unsteady += not truth.calm
        functions = run.functions("p")
        for k, name in enumerate(SPINNERS):
            share = 100 * run.truth["threads"][0]["ns"][k] / run.truth["total_ns"]
            f = functions.get(name, {"inclusive_low_pct": 0, "inclusive_high_pct": 0})
            inside[name] += f["inclusive_low_pct"] <= share <= f["inclusive_high_pct"]
    for name in SPINNERS:
        print(f"{name}: in its interval in {inside[name]} of {runs} runs")
    print(f"all: {100 * inside.total() / (runs * len(SPINNERS)):.1f} % of "
          f"{runs * len(SPINNERS)} shares; {unsteady} runs were disturbed")


if __name__ == "__main__":
    main()
