#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples of programs with their loops as clones: samples.py ASSAY SAMPLES AGENT OUT.

The same program is profiled alone and with clones, by both samplers and both ways to walk stacks.
Call paths and loops must be the same: none is missing, none is new. If clones cost nothing, the
shares differ by sampling error alone.
"""
import collections
import json
import math
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
from tap import Tap  # noqa: E402

SIGMAS = 4.5
# How much a share may really differ: where code lies changes its speed a little.
REAL = 0.05
FLAGS = {"dwarf": ["-O2"], "fp": ["-O2", "-fno-omit-frame-pointer"]}
# At most. Eight rounds give some 1,200 samples. A path is missing if one side has 48 samples and
# the other less than a tenth of that. Chance causes that with 1e-11 (Poisson, any share). A share
# is wrong if it is off by 4.5 standard deviations and 5 %, which is 7 deviations: 2e-10 for 80
# shares.
ROUNDS = 8
PLANS = ["ident", "time", "time+", "count+"]


def run(command, **more):
    return subprocess.run(command, capture_output=True, timeout=800, text=True, **more)


def paths_of(assay, experiment, number):
    """Returns {path of functions from main on: samples}. Samples in the agent count for its
    caller."""
    got = run([assay, "export", experiment, "--run", str(number), "--as", "folded"])
    counts = collections.Counter()
    for line in got.stdout.splitlines():
        path, n = line.rsplit(" ", 1)
        frames = path.split(";")
        slow = [i for i, f in enumerate(frames) if f.startswith("as_patcher_slow_")]
        frames = frames[:slow[0]] if slow else frames
        at = frames.index("main") if "main" in frames else 0
        counts[";".join(frames[at:])] += int(n)
    return counts


def loops_of(assay, experiment, number):
    """(function, first line) of a loop -> samples that are its own."""
    sql = ("SELECT function, first_line, exclusive_sample_n FROM v_loops "
           f"WHERE run_id = {number} AND exclusive_sample_n > 0 AND module LIKE 'paths%'")
    got = run([assay, "query", experiment, sql, "--format", "json"])
    counts = collections.Counter()
    for row in json.loads(got.stdout):
        counts[f"{row['function']}:{row['first_line']}"] += row["exclusive_sample_n"]
    return counts


def missing(alone, other):
    """Returns the keys with a share in one and a negligible share in the other."""
    bad = []
    total, of_other = sum(alone.values()), sum(other.values())
    for key, n in alone.items():
        if n >= 0.04 * total and other[key] < 0.1 * n / total * of_other:
            bad.append(f"{key}: {n} of {total}, and {other[key]} of {of_other}")
    return bad


def far(alone, other):
    """Shares that differ by more than chance."""
    bad = []
    n, m = sum(alone.values()), sum(other.values())
    for key in set(alone) | set(other):
        p, q = alone[key] / n, other[key] / m
        both = (alone[key] + other[key]) / (n + m)
        if abs(p - q) > SIGMAS * math.sqrt(both * (1 - both) * (1 / n + 1 / m)) + REAL:
            bad.append(f"{key}: {p:.3f} alone, {q:.3f} as a clone")
    return bad


def record(tap, tools, where, name, event, stacks):
    """The program alone (run 1) and with clones. {what: {run: samples}} and {plan: run}; None where
    that could not be, said."""
    assay, samples, agent = tools
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    program, experiment = os.path.join(where, "paths"), os.path.join(where, "x.assay")
    made = run(["gcc", "-g", *FLAGS[stacks], "-o", program, os.path.join(HERE, "src", "paths.c")])
    if made.returncode:
        tap.point(False, f"{name}: builds", made.stderr)
        return None
    got = run([samples, event, stacks, experiment, *PLANS, "--", program],
              env=dict(os.environ, ASSAY_AGENT_LIBRARY=agent, TMPDIR=where))
    lines = [line.split() for line in got.stdout.splitlines()]
    if event == "perf" and got.returncode == 125 and "perf" in got.stderr:
        tap.skip(name, got.stderr.strip())
        return None
    tap.point(got.returncode == 0 and len(lines) == len(PLANS) and
              all(int(done) >= 5 and code == "0" for _, _, done, code in lines),
              f"{name}: runs with clones", f"{got.stdout}{got.stderr}")
    left = [f for f in os.listdir(where) if f.startswith("assay-")]
    tap.point(not left, f"{name}: nothing stays behind", left)
    numbers = {plan: number for plan, number, _, _ in lines}
    return {what: {number: ask(assay, experiment, number) for number in ["1", *numbers.values()]}
            for ask, what in ((paths_of, "call paths"), (loops_of, "loops"))}, numbers


def judge(counts, numbers):
    """{point: why it is not so}"""
    bad = {}
    for what, of in counts.items():
        alone = of["1"]
        for plan, number in numbers.items():
            other = of[number]
            bad[f"{plan}: the same {what}"] = missing(alone, other) + missing(other, alone)
            if plan == "ident":
                bad[f"{plan}: the same shares of {what}"] = far(alone, other)
    return bad


def check(tap, tools, out, event, stacks):
    """Timers give some 150 samples. By chance, a path with a share of 2 % has six samples in one
    run and none in another. In doubt the run is repeated and samples are added up: a missing path
    stays missing, and a difference grows."""
    name = f"{event}, {stacks}"
    counts, bad = None, {}
    for again in range(ROUNDS):
        if again and not any(bad.values()):
            break
        got = record(tap, tools, os.path.join(out, f"{event}-{stacks}"), name, event, stacks)
        if got is None:
            return
        more, numbers = got
        for what, of in more.items():
            tap.point(sum(of["1"].values()) > 60, f"{name}: {what} alone", of["1"])
        counts = more if counts is None else {
            what: {number: counts[what][number] + n for number, n in of.items()}
            for what, of in more.items()}
        bad = judge(counts, numbers)
        for point, why in bad.items():
            if why and again + 1 < ROUNDS:
                print(f"# {name}, {point}: to be seen: {'; '.join(why)}")
    for point, why in bad.items():
        tap.point(not why, f"{name}, {point}", "\n".join(why))


def main():
    *tools, out = sys.argv[1:5]
    tap = Tap()
    for event in ("perf", "timer"):
        for stacks in FLAGS:
            check(tap, tools, out, event, stacks)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
