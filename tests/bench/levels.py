#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Estimates of `assay predict --level` beside time: levels.py ASSAY CC DIRECTORY [OUT.csv]

Copy, triad, sum, stencil and gather with data in each level, on the figures of this machine
(`assay machine --measure all` first). Prints the estimate over what was measured; a row outside
20 % is marked. Cycles are by the frequency that is stored with the figures.
"""
import csv
import json
import pathlib
import subprocess
import sys

LOOPS = ("copy", "triad", "sum", "stencil", "gather")


def ask(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    assay, cc, where = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    where.mkdir(parents=True, exist_ok=True)
    program = str(where / "levels")
    source = pathlib.Path(__file__).with_name("levels.c")
    subprocess.run([cc, "-O3", "-march=native", "-ffast-math", "-fno-tree-loop-distribute-patterns",
                    "-o", program, str(source)], check=True)
    facts = json.loads(ask(assay, "machine", "--format", "json"))
    hertz = [f["value"] for f in facts["figures"] if f["name"].startswith("frequency.")]
    if not hertz:
        sys.exit("levels: this machine has no figures; 'assay machine --measure all' makes them")
    sizes = {"L2": 512 << 10, "L3": 8 << 20, "RAM": 256 << 20}
    rows = []
    for loop in LOOPS:
        name = f"loop_{loop}"
        loops = json.loads(ask(assay, "loops", "--function", name, "--format", "json",
                               program))["loops"]
        main_loop = max(loops, key=lambda one: one["unroll"] or 0)
        got = json.loads(ask(assay, "predict", "--loop", str(main_loop["id"]), "--level", "all",
                             "--format", "json", program))["predictions"][0]
        for level, size in sizes.items():
            if level not in got["levels"]:
                print(f"{loop:8} {level:4} no figure for it")
                continue
            measured = float(ask(program, loop, str(size))) * hertz[0] / 1e9
            estimate = got["levels"][level] / main_loop["unroll"]
            ratio = estimate / measured
            rows.append((loop, level, measured, estimate))
            print(f"{loop:8} {level:4} measured {measured:7.3f} estimate {estimate:7.3f} cycles an "
                  f"element, ratio {ratio:5.2f}{'' if 0.8 <= ratio <= 1.2 else '  outside 20 %'}")
    if len(sys.argv) > 4:
        with open(sys.argv[4], "w", encoding="ascii", newline="") as out:
            csv.writer(out).writerows([("loop", "level", "measured", "estimate"), *rows])
    near = sum(0.8 <= e / m <= 1.2 for _, _, m, e in rows)
    print(f"{near} of {len(rows)} within 20 %")


main()
