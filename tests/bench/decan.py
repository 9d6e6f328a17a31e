#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Costs of variants of hot loops for whole programs, and their stability.

decan.py ASSAY FOLDER NAME=COMMAND...

Prints lines `NAME WHAT VALUE` with these values:

- three.slowdown: CPU time of the first run with all variants to that of the run without
- three.refused: share of the time of the hot loops
- two.slowdown: the slowest run of level two
- stability: median over variants of more than 5,000 cycles, in the main buckets of named loops
"""
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys

CPU = ("SELECT r.run_id, r.kind, sum(t.cpu_ns) AS ns FROM run r JOIN process p USING (run_id)"
       " JOIN thread t USING (process_id) GROUP BY r.run_id")


def run(command):
    return subprocess.run(command, capture_output=True, timeout=580, check=True).stdout.decode()


def campaign(assay, verb, where, command, *options):
    shutil.rmtree(where, ignore_errors=True)
    return run([assay, *verb, "--no-measure", *options, "-o", where, "--", *command])


def waits(loop):
    """Returns whether the loop is one of a library without symbols, such as a wait loop of OpenMP.
    Its time does not depend on its code."""
    return loop["name"].startswith("func_")


def stabilities(told):
    return [take["stability"] for loop in told["loops"] for bucket in loop["buckets"]
            for take in bucket["variants"] if bucket["main"] and not waits(loop) and
            take["n"] >= 6 and take["instance_cycles"] > 5000]


def slowest(assay, where):
    """Returns the slowest of the later runs, relative to the first."""
    rows = [line.split(",") for line in
            run([assay, "query", "--format", "csv", where, CPU]).splitlines()[1:]]
    alone = next(float(ns) for _, kind, ns in rows if kind.strip('"') == "profile")
    return max(float(ns) / alone for _, kind, ns in rows if kind.strip('"') != "profile")


def main():
    assay, folder, programs = sys.argv[1], sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    for program in programs:
        name, command = program.split("=", 1)
        where = os.path.join(folder, name + ".assay")
        told = json.loads(campaign(assay, ["decan"], where, shlex.split(command),
                                   "--format", "json"))
        print(name, "three.slowdown", f"{told['slowdown']:.3f}")
        print(name, "three.refused", f"{told['refused_share']:.3f}")
        stable = stabilities(told)
        if stable:
            print(name, "stability", f"{statistics.median(stable):.3f}")
        campaign(assay, ["run", "--level", "two"], where, shlex.split(command))
        print(name, "two.slowdown", f"{slowest(assay, where):.3f}", flush=True)


if __name__ == "__main__":
    main()
