#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted faults of the example (examples/cg) judged by what their repair saves: found, first
among what is said of loops, with the right verdict, and a predicted gain near the measured one.

  example.py record ASSAY DIRECTORY        builds the example, records it with each fault, measures
                                           it with and without: recorded/ (./dev record does it)
  example.py check ASSAY DIRECTORY         the same here and now, judged, and nothing kept
  example.py judge AGAIN DIRECTORY SCHEMA  the rules of now on what was recorded, in TAP

The program is built plainly (FLAGS=plain), with small fields: vectors of 64 bytes divide so fast
that the first fault costs little, and memory hides both. Savings of repairs are medians of runs
in turns, by the samples of the function with the fault and of the one that takes its place; what
is predicted is a share of the same. recorded/ has runs of several cores.
"""
import json
import os
import pathlib
import re
import sqlite3
import statistics
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


def record(assay, program, fault, experiment):
    subprocess.run([assay, "run", "--force", "--rate", "high", "-o", str(experiment), "--",
                    *command(program, fault)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=environment() | kept_figures())
    return experiment / "experiment.db"


def kept_figures():
    """Where this machine's own table is, if it was measured."""
    return {name: os.environ[name] for name in ("HOME", "XDG_DATA_HOME") if name in os.environ}


def ask(database, sql, *words):
    db = sqlite3.connect(database)
    rows = db.execute(sql, words).fetchall()
    db.close()
    return rows


def time_in(database, function):
    """Seconds in a function, by samples."""
    return ask(database, "SELECT sum(exclusive_time_s) FROM v_functions WHERE name = ?",
               function)[0][0]


def record_in_turns(assay, directory):
    """{fault: (last database, seconds with it, seconds of the same without)}. Of a fault that is
    several loops, the hottest one is judged; that time is of the last run, and the other of it by
    the medians."""
    program, kinds = build(directory), ["none", *FAULTS]
    runs = [{kind: record(assay, program, kind, directory / f"{kind}-{i}.assay") for kind in kinds}
            for i in range(ROUNDS)]
    found = {}
    for fault, (_, _, function, instead) in FAULTS.items():
        took = [time_in(run[fault], function) for run in runs]
        repaired = statistics.median(time_in(run["none"], instead) for run in runs)
        share = repaired / statistics.median(took)
        found[fault] = (runs[-1][fault], took[-1], took[-1] * share)
    return found


def core_of(assay, program):
    said = subprocess.run([assay, "cqa", "--format", "json", program], check=True,
                          capture_output=True, text=True).stdout
    return json.loads(said)["machine"]["name"]


def record_all(assay, directory):
    found = record_in_turns(assay, directory)
    core, measured = core_of(assay, directory / "cg"), read_measured()
    for fault, (database, took, repaired) in found.items():
        measured[f"{core}-{fault}"] = (took, repaired)
        truth.shrink(database, EXAMPLE)
        truth.pack(database, f"example-{core}-{fault}")
    rows = (f"{name} {took:.3f} {repaired:.3f}\n" for name, (took, repaired) in measured.items())
    MEASURED.write_text("# core-fault, seconds in its hottest loop, in what is there without it "
                        "(example.py record)\n" + "".join(rows), encoding="ascii")


def check(assay, directory):
    """Says what was predicted and what was saved; returns how many are wrong."""
    wrong_n = 0
    for fault, (database, took, repaired) in record_in_turns(assay, directory).items():
        rows = ask(database, "SELECT rule, level, ifnull(time_s, 0), ifnull(gain_s, 0),"
                   " ifnull(gain_low_s, 0), ifnull(gain_high_s, 0), text, workaround"
                   " FROM v_findings ORDER BY rank")
        found = [dict(zip(truth.KEYS, row)) for row in rows]
        wrong = judge(found, fault, took - repaired)
        place = f"The loop at {FAULTS[fault][0]} "
        first = next((it for it in found if it["text"].startswith(place)), {"gain_s": 0})
        print(f"example {fault:8} {took:8.3f} s  repaired {repaired:8.3f} s"
              f"  saves {took - repaired:.3f} s  predicted {first['gain_s']:.3f} s"
              f"  {wrong or 'as it should be'}", flush=True)
        wrong_n += bool(wrong)
    return wrong_n


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
        return f"{first['gain_s']:.3f} s are predicted, the repair saves {saved:.3f} s"
    return "" if first["high_s"] >= first["gain_s"] > first["low_s"] else "its gain is no bound"


def points_of_all(again, directory, schema):
    measured = read_measured()
    for name, (took, repaired) in measured.items():
        core, fault = name.rsplit("-", 1)
        found = truth.findings(again, f"example-{core}", fault, directory, schema)
        yield f"example on {core}: {fault}, and what its repair saves", judge(found, fault,
                                                                             took - repaired)
    cores = {name.rsplit("-", 1)[0] for name in measured}
    missing = {f"{core}-{fault}" for core in cores for fault in FAULTS} - measured.keys()
    yield "each fault, on each core", ", ".join(sorted(missing))


def main():
    verb, tool, place, *words = sys.argv[1:]
    directory = pathlib.Path(place).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    if verb == "record":
        record_all(tool, directory)
    elif verb == "check":
        sys.exit(check(tool, directory) > 0)
    else:
        sys.exit(truth.say_points(points_of_all(tool, directory, pathlib.Path(words[0]))) > 0)


if __name__ == "__main__":
    main()
