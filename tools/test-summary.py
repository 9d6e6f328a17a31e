#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test points over all test programs of a meson run.

usage: test-summary.py TESTLOG.json

Every TAP point counts as one test; a program that failed without a failed point (crash, time-out,
wrong plan) counts as one failure more. Prints the failed and the skipped points, then the closing
line "N passed, N failed". Exit status 1 when anything failed or nothing ran.
"""
import json
import re
import sys

POINT = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?(.*)$")
GOOD = {"OK", "EXPECTEDFAIL", "SKIP"}


def points(output):
    """Yields (state, name) of each TAP point in the output of one program."""
    for line in output.splitlines():
        match = POINT.match(line)
        if not match:
            continue
        name = match.group(2)
        skipped = re.search(r"#\s*skip", name, re.IGNORECASE)
        yield ("failed" if match.group(1) else "skipped" if skipped else "passed", name)


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        for line in log:
            test = json.loads(line)
            name = test["name"]
            seen = list(points(test.get("stdout") or ""))
            for state, point in seen:
                counts[state] += 1
                if state != "passed":
                    print(f"{state}: {name}: {point}")
            states = {state for state, _ in seen}
            if test["result"] not in GOOD and "failed" not in states:
                counts["failed"] += 1
                print(f"failed: {name}: {test['result']}")
                print("\n".join((test.get("stderr") or "").splitlines()[-40:]))
            elif not seen:
                counts["skipped" if test["result"] == "SKIP" else "passed"] += 1
    closing = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        closing += f", {counts['skipped']} skipped"
    print(closing)
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
