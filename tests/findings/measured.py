# SPDX-License-Identifier: Apache-2.0
"""Measures both forms of each program in turns and keeps the seconds in truth.json.

The gain is the share of the seconds of the base form that the other form saves. Each pair of runs
gives one share; the truth is their median with its distribution-free interval. Wall seconds are
taken while the machine is quiet; the pairs with the smallest external load are kept.
"""
import json
import math
import pathlib
import platform
import re
import statistics
import subprocess
import tempfile
import time

import programs

TRUTH = programs.HERE / "truth.json"
PAIRS = 9
CONFIDENCE = 0.95
NEGLIGIBLE = 0.05  # share of a run that is not worth a recommendation
CLOCKS = ("wall", "cpu")
QUIET_CPUS = 0.1    # external load that does not matter
PATIENCE_S = 1200   # time to wait for a quiet machine, for each program
MAX_TRIES = 4 * PAIRS


def interval_rank(n):
    """Returns how many of n sorted values lie outside the interval of the median at each end."""
    outside, rank = 1 / 2 ** n, 0
    while 1 - 2 * (outside + math.comb(n, rank + 1) / 2 ** n) >= CONFIDENCE:
        rank += 1
        outside += math.comb(n, rank) / 2 ** n
    return rank


def median_interval(values):
    """Returns the median of values and the bounds of its interval."""
    ordered, rank = sorted(values), interval_rank(len(values))
    return statistics.median(ordered), ordered[rank], ordered[-1 - rank]


class Truth:
    """Measured seconds of a program: wall, CPU and external seconds of each run of both forms."""

    def __init__(self, kept):
        self.base, self.other = kept["base"], kept["other"]

    def seconds(self, form, clock):
        """Returns the median of a form: `base` or `other`."""
        return statistics.median(run[CLOCKS.index(clock)] for run in getattr(self, form))

    def share(self, clock):
        """Returns the share that the other form saves, and its bounds."""
        at = CLOCKS.index(clock)
        return median_interval([1 - other[at] / base[at]
                                for base, other in zip(self.base, self.other)])


def read_truth():
    """Returns {name: Truth} of all that was measured."""
    kept = json.loads(TRUTH.read_text(encoding="ascii")) if TRUTH.exists() else {"programs": {}}
    return {name: Truth(runs) for name, runs in kept["programs"].items()}


def host_facts():
    """Returns what the seconds depend on: the CPU, the kernel and the compilers."""
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text("ascii"))
    version = subprocess.run(["gcc", "-dumpfullversion"], check=True, capture_output=True,
                             text=True).stdout.strip()
    return {"cpu": cpu[1] if cpu else "unknown", "gcc": version, "kernel": platform.release()}


def write_program(name, runs):
    kept = json.loads(TRUTH.read_text(encoding="ascii")) if TRUTH.exists() else {"programs": {}}
    kept["host"] = host_facts()
    kept["programs"][name] = runs
    lines = [f'    "{key}": {json.dumps(value)}'
             for key, value in sorted(kept["programs"].items())]
    TRUTH.write_text(f'{{\n  "host": {json.dumps(kept["host"])},\n  "programs": {{\n'
                     + ",\n".join(lines) + "\n  }\n}\n", encoding="ascii")


def wait_for_quiet(end):
    """Returns when other processes use hardly any CPU, or at the given time."""
    while time.monotonic() < end:
        busy, start = programs.busy_seconds(), time.monotonic()
        time.sleep(0.5)
        if programs.busy_seconds() - busy <= QUIET_CPUS * (time.monotonic() - start):
            return
        time.sleep(1.5)


def load_of(pair):
    """Returns the external load of a pair of runs, in CPUs."""
    return sum(run[2] for run in pair) / sum(run[0] for run in pair)


def measured_runs(program, pair_n):
    """Returns the runs of both forms, taken in turns, after a check of their results."""
    pairs, results, end = [], set(), time.monotonic() + PATIENCE_S
    is_quiet = program.clock == "cpu"  # external load costs hardly any CPU seconds
    with tempfile.TemporaryDirectory() as folder:
        directory = pathlib.Path(folder)
        forms = ("base", program.other_form)
        binaries = {form: program.build(form, directory) for form in forms}
        while len(pairs) < pair_n or not is_quiet:
            if program.clock == "wall":
                wait_for_quiet(end)
            pair = []
            for form in forms:
                result, *seconds = programs.timed_run(program.command(binaries[form]),
                                                      program.environment(form))
                results.add(result)
                pair.append([round(value, 3) for value in seconds])
            pairs.append(pair)
            quiet_n = sum(load_of(one) <= QUIET_CPUS for one in pairs)
            is_quiet = is_quiet or quiet_n >= pair_n or len(pairs) >= MAX_TRIES
    if len(results) > 1:
        raise SystemExit(f"judge.py: {program.name}: results differ: {sorted(results)}")
    kept = sorted(pairs, key=load_of)[:pair_n]
    return {"base": [base for base, _ in kept], "other": [other for _, other in kept]}


def fault_of(program, truth):
    """Returns why the measured seconds contradict the head; empty if they do not."""
    _, low, high = truth.share(program.clock)
    if program.gains_nothing:
        return "the naive form gains" if low >= NEGLIGIBLE else ""
    return "" if low > 0 else f"no gain is sure ({100 * low:.0f} to {100 * high:.0f} %)"


def measure(chosen, pair_n=PAIRS):
    """Measures programs and prints a line for each; returns the number of faults."""
    fault_n = 0
    for program in programs.all_programs(chosen):
        runs = measured_runs(program, pair_n)
        write_program(program.name, runs)
        truth = Truth(runs)
        share, low, high = (100 * value for value in truth.share(program.clock))
        fault = fault_of(program, truth)
        fault_n += bool(fault)
        print(f"{program.name:17} {program.clock:4} {program.other_form:6} "
              f"{truth.seconds('base', program.clock):6.2f} s "
              f"{truth.seconds('other', program.clock):6.2f} s  saves {share:6.1f} % "
              f"({low:.1f} to {high:.1f})  {fault}", flush=True)
    return fault_n
