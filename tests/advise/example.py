#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted faults of the example (examples/cg) held to what mending them brings: found, first
among what is said of loops, with the right verdict, and a predicted gain near the measured one.

  example.py record ASSAY DIRECTORY        builds the example, records it with each fault, measures
                                           it with and without: recorded/ (./dev record does it)
  example.py measure DIRECTORY             measures alone
  example.py judge AGAIN DIRECTORY SCHEMA  the rules of now on what was recorded, in TAP

The program is built plainly (FLAGS=plain), with small fields: vectors of 64 bytes divide so fast
that the first fault costs little, and memory hides both.
"""
import pathlib
import re
import sqlite3
import subprocess
import sys

import truth

EXAMPLE = truth.HERE.parents[1] / "examples/cg"
MEASURED = truth.RECORDED / "example.txt"
WORDS = ["--size", "32", "--loads", "60"]
ROUNDS = 5
WITHIN = 0.25
# Fault: the place of its hottest loop, what is to be said of it, its function, the one in its
# place.
FAULTS = {
    "divide": ("operator.c:27", r"the unit that divides", "row_dividing", "row_of"),
    "scalar": ("vector.c:22", r"the result of the one before \(a sum or product\)",
               "dot_row_scalar", "dot_row"),
}


def build(directory):
    subprocess.run(["make", "-s", "-C", str(EXAMPLE), f"BUILD={directory}", "FLAGS=plain", "MPI=no",
                    "CC=gcc", "FC=gfortran"], check=True)
    return directory / "cg"


def command(program, fault):
    return [str(program), *WORDS, "--faults", fault]


def environment():
    return truth.environment("chain") | {"OMP_NUM_THREADS": "1"}


def measure(program):
    """{fault: (seconds with it, seconds without)}: medians of processor time, in turns."""
    seconds = truth.medians_in_turns(ROUNDS, ["none", *FAULTS], lambda fault: truth.run_timed(
        command(program, fault), environment())[1])
    return {fault: (seconds[fault], seconds["none"]) for fault in FAULTS}


def record(assay, program, fault, experiment):
    subprocess.run([assay, "run", "--force", "--rate", "high", "-o", str(experiment), "--",
                    *command(program, fault)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=environment())
    return experiment / "experiment.db"


def time_in(database, function):
    """Seconds in a function, by samples."""
    db = sqlite3.connect(database)
    seconds, = db.execute("SELECT sum(exclusive_time_s) FROM v_functions WHERE name = ?",
                          (function,)).fetchone()
    db.close()
    return seconds


def record_all(assay, directory):
    """Of a fault that is several loops, the hottest one is judged: samples say what it took, and
    what took its place in a run without."""
    program = build(directory)
    without = record(assay, program, "none", directory / "none.assay")
    lines = []
    for fault, (_, _, function, instead) in FAULTS.items():
        database = record(assay, program, fault, directory / f"{fault}.assay")
        lines.append(f"{fault} {time_in(database, function):.3f} {time_in(without, instead):.3f}\n")
        truth.shrink(database, EXAMPLE)
        truth.pack(database, f"example-{fault}")
    MEASURED.write_text("# fault, seconds in its hottest loop, in what is there without it "
                        "(example.py record)\n" + "".join(lines), encoding="ascii")


def read_measured():
    rows = (line.split() for line in MEASURED.read_text(encoding="ascii").splitlines()[1:])
    return {row[0]: (float(row[1]), float(row[2])) for row in rows}


def judge(found, fault, saved):
    """What is wrong; "" when nothing is."""
    place, says = FAULTS[fault][:2]
    if isinstance(found, str):
        return found
    first = next((it for it in found if it["text"].startswith("The loop at ")
                  and it["level"] in ("gain", "potential")), None)
    if not first or not first["text"].startswith(f"The loop at {place} "):
        return f"first among loops is: {first and first['text']}"
    if not re.search(says, first["text"]):
        return f"it does not say '{says}': {first['text']}"
    if abs(first["gain_s"] - saved) > WITHIN * saved:
        return f"{first['gain_s']:.3f} s are predicted, mending saves {saved:.3f} s"
    return "" if first["high_s"] >= first["gain_s"] > first["low_s"] else "its gain is no bound"


def points_of_all(again, directory, schema):
    measured = read_measured()
    for fault in FAULTS:
        found = truth.findings(again, "example", fault, directory, schema)
        took, mended = measured[fault]
        yield f"example: {fault}, and what mending it saves", judge(found, fault, took - mended)


def main():
    verb, *words = sys.argv[1:]
    directory = pathlib.Path(words[1 if verb != "measure" else 0]).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if verb == "record":
        record_all(words[0], directory)
    elif verb == "measure":
        for fault, (took, mended) in measure(build(directory)).items():
            print(f"example {fault:8} {took:8.3f} s  mended {mended:8.3f} s  "
                  f"x{took / max(mended, 1e-3):.2f}", flush=True)
    else:
        sys.exit(truth.say_points(points_of_all(words[0], directory, pathlib.Path(words[2]))) > 0)


if __name__ == "__main__":
    main()
