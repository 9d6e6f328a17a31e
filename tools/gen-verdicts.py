#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the thresholds of verdicts as a C table: gen-verdicts.py OUTPUT FILE.

The head of data/decan/verdicts.txt explains the file. The build fails if a name is missing, unknown
or there twice. It fails if a value is not a number, or a threshold has no reason.
"""
import pathlib
import sys

NAMES = ["explains", "supplies", "warmed", "apart", "overlaps", "load_cycles", "far", "saturated",
         "impossible", "as_near", "as_doubtful", "sparse", "returned", "unmoved", "one_at_a_time",
         "near", "possible", "unstable", "instances_few", "instances_enough", "cycles_weak",
         "cycles_none", "cycles_start"]


def read(path):
    values = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split(None, 2)
        if not words or line.startswith("#"):
            continue
        if len(words) != 3:
            sys.exit(f"{path}:{number}: a threshold without a reason")
        name, value, _ = words
        if name not in NAMES or name in values:
            sys.exit(f"{path}:{number}: no new threshold: {name}")
        try:
            values[name] = float(value)
        except ValueError:
            sys.exit(f"{path}:{number}: no number: {value}")
        if not 0 < values[name] < 1e6:
            sys.exit(f"{path}:{number}: not above 0: {value}")
    missing = [name for name in NAMES if name not in values]
    if missing:
        sys.exit(f"{path}: lacks {', '.join(missing)}")
    return values


def main():
    values = read(pathlib.Path(sys.argv[2]))
    out = ['/* Made from data/decan/verdicts.txt. */', '#include "decan/thresholds.h"', "",
           "const struct as_decan_thresholds as_decan_thresholds = {"]
    out += [f"    .{name} = {values[name]!r}," for name in NAMES] + ["};"]
    pathlib.Path(sys.argv[1]).write_text("\n".join(out) + "\n")


main()
