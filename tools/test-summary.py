#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test points over all test programs of a meson run.

usage: test-summary.py TESTLOG.json

Every TAP point counts as one test; a program that failed without a failed point (crash, time-out,
wrong plan) counts as one failure more. Prints the failed points with what they say of themselves
(the lines of comment after them), the skipped points, then the closing line "N passed, N failed".
Exit status 1 when anything failed or nothing ran.
"""
import json
import re
import sys

POINT = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?(.*)$")
GOOD = {"OK", "EXPECTEDFAIL", "SKIP"}
WHY_LINES = 12


def points(output):
    """Yields (state, name, lines of comment after it) of each TAP point in a program's output."""
    state = name = None
    why = []
    for line in output.splitlines():
        match = POINT.match(line)
        if not match:
            if line.startswith("#"):
                why.append(line)
            continue
        if state:
            yield state, name, why
        name, why = match.group(2), []
        skipped = re.search(r"#\s*skip", name, re.IGNORECASE)
        state = "failed" if match.group(1) else "skipped" if skipped else "passed"
    if state:
        yield state, name, why


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        for line in log:
            test = json.loads(line)
            name = test["name"]
            seen = list(points(test.get("stdout") or ""))
            for state, point, why in seen:
                counts[state] += 1
                if state != "passed":
                    print(f"{state}: {name}: {point}")
                if state == "failed" and why:
                    print("\n".join(why[:WHY_LINES]))
            states = {state for state, _, _ in seen}
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
