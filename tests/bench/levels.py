#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Estimates of `assay predict --level` beside time: levels.py ASSAY CC DIRECTORY [OUT]

Copy, triad, sum, stencil and gather with data in each level, on the figures of this machine
(`assay machine --measure all` first). Prints the estimate over what was measured; a row outside
20 % is marked. Cycles are by the frequency that is stored with the figures. OUT is what the test
predict/levels judges (tests/unit/predict/levels.txt).
"""
import json
import pathlib
import re
import subprocess
import sys

# Bytes read and written and elements gathered, an element.
LOOPS = {"copy": (8, 8, 0), "triad": (16, 8, 0), "sum": (8, 0, 0), "stencil": (8, 8, 0),
         "gather": (4, 0, 1)}
ROUNDS = 3


def ask(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def loop_of(assay, program, name):
    """The main loop's prediction, and elements an iteration by what its pointer moves."""
    loops = json.loads(ask(assay, "loops", "--function", f"loop_{name}", "--format", "json",
                           program))["loops"]
    main_loop = max(loops, key=lambda one: one["unroll"] or 0)
    got = json.loads(ask(assay, "predict", "--function", f"^loop_{name}$", "--level", "all",
                         "--format", "json", program))["predictions"]
    got = next(one for one in got if one["id"].split()[-1] == str(main_loop["id"]))
    steps = [int(m[1], 0) for one in got["instructions"]
             if (m := re.match(r"add \w+, (\w+)$", one["assembly"])) and m[1][0].isdigit()]
    return got, max(steps) / (4 if name == "gather" else 8)


def sizes_of(facts):
    """Half of the second cache, four times of it, and six times the last: what is gathered from is
    two thirds of that, four times the last as where its figure comes from."""
    caches = [one for one in facts["topology"]["places"] if one["kind"] == "cache"]
    second = max((one["size_b"] for one in caches if one.get("level") == 2), default=1 << 20)
    last = max((one["size_b"] for one in caches), default=32 << 20)
    return {"L2": second // 2, "L3": 4 * second, "RAM": max(6 * last, 96 << 20)}


def record(path, facts, loops, rows):
    """Writes the file that tests/unit/predict judges. The reason of a miss is added behind its row
    by hand."""
    wanted = re.compile(r"(bandwidth\.(read|write|copy|triad)|gather\.\w+)\.(L2|L3|memory)\.core$")
    figures = [one for one in facts["figures"] if wanted.match(one["name"])]
    figures += [one for one in facts["figures"] if one["name"].startswith("frequency.")][:1]
    with open(path, "w", encoding="ascii") as out:
        for one in figures:
            print("figure", one["name"], f"{one['value']:.6g}", sep="\t", file=out)
        for name, (got, elements) in loops.items():
            moved = [f"{elements * each:g}" for each in LOOPS[name]]
            print("loop", name, f"{got['cycles']:.4g}", f"{elements:g}", *moved, sep="\t", file=out)
        for name, level, cycles, estimate in rows:
            ratio = estimate / cycles
            is_near = 0.8 <= ratio <= 1.2
            print("near" if is_near else "missed", name, level, f"{cycles:.4g}",
                  *([] if is_near else [f"{ratio:.2f}"]), sep="\t", file=out)


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
    sizes = sizes_of(facts)
    loops = {name: loop_of(assay, program, name) for name in LOOPS}
    measured = {}
    for _ in range(ROUNDS):  # as the figures are measured: the best of rounds apart
        for name in LOOPS:
            for level, size in sizes.items():
                cycles = float(ask(program, name, str(size))) * hertz[0] / 1e9
                measured[name, level] = min(cycles, measured.get((name, level), cycles))
    rows = []
    for (name, level), cycles in measured.items():
        got, elements = loops[name]
        if level not in got["levels"]:
            print(f"{name:8} {level:4} no figure for it")
            continue
        estimate = got["levels"][level] / elements
        ratio = estimate / cycles
        rows.append((name, level, cycles, estimate))
        print(f"{name:8} {level:4} measured {cycles:7.3f} estimate {estimate:7.3f} cycles an "
              f"element, ratio {ratio:5.2f}{'' if 0.8 <= ratio <= 1.2 else '  outside 20 %'}")
    if len(sys.argv) > 4:
        record(sys.argv[4], facts, loops, rows)
    near = sum(0.8 <= e / m <= 1.2 for _, _, m, e in rows)
    print(f"{near} of {len(rows)} within 20 %")


main()
