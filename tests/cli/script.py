#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: script.py CQA.json PREDICT.json LINES: what a script printed is what the verbs said.

A line is LOOP NAME VALUE, "predict VALUE", or LOOP VARIANT.speedup VALUE.
"""
import json
import sys


def main():
    with open(sys.argv[1]) as f:
        loops = {loop["id"]: loop for loop in json.load(f)["loops"]}
    with open(sys.argv[2]) as f:
        predicted = json.load(f)
    n = 0
    for line in open(sys.argv[3]):
        words = line.split()
        if words[0] == "predict":
            want = first(predicted, "cycles")
        else:
            want = of_loop(loops[int(words[0])], words[1])
        assert want is not None and abs(float(words[-1]) - want) <= 1e-9 * max(1, abs(want)), (
            line, want)
        n += 1
    assert n > 200, n


def first(value, key):
    """The first number called `key`, depth first."""
    if isinstance(value, dict):
        if isinstance(value.get(key), (int, float)):
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            found = first(one, key)
            if found is not None:
                return found
    return None


def of_loop(loop, name):
    """Returns a metric, or the gain of a variant, of the mean over paths."""
    path = loop["paths"][0] if len(loop["paths"]) == 1 else loop["mean"]
    if name.endswith(".speedup"):
        return path["what_if"][name[:-len(".speedup")]]["speedup"]
    return path["metrics"].get(name)


main()
