#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of recording switches of threads (switches.c), under assay and under the one event that
`perf record --switch-events` would open.

usage: switches.py SWITCHES ASSAY DIRECTORY ROUNDS

Each round runs both kinds plainly, with the bare event and under assay, in turn. Prints a line per
kind with these values:

- its name
- microseconds of CPU time per switch under assay beyond the bare event: median, minimum, maximum of
  the rounds
- the medians of the time plainly, bare, and under assay
"""
import pathlib
import statistics
import subprocess
import sys

# About a second each: the first third of it is what assay takes to see that they switch often.
ROUNDS_OF = {"yield": 120000, "pipe": 250000}


def nanoseconds(before, program, kind, *more):
    done = subprocess.run([*before, program, kind, str(ROUNDS_OF[kind]), *more], check=True,
                          stdout=subprocess.PIPE, text=True)
    return float(done.stdout.splitlines()[-1].split()[0])


def main():
    program, assay, directory, rounds = sys.argv[1:]
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    profile = [assay, "profile", "-q", "--force", "-o", str(directory / "switches.assay"),
               "--event", "cpu-clock", "--call-stacks", "dwarf", "--"]
    for kind in ROUNDS_OF:
        took = [(nanoseconds([], program, kind), nanoseconds([], program, kind, "--bare"),
                 nanoseconds(profile, program, kind)) for _ in range(int(rounds))]
        more = sorted((ours - bare) / 1e3 for _, bare, ours in took)
        print(kind, *(f"{value:.3f}" for value in (statistics.median(more), more[0], more[-1])),
              *(f"{statistics.median(way) / 1e3:.3f}" for way in zip(*took)))


main()
