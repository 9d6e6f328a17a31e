#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts test points over all test programs of a meson run.

usage: test-summary.py TESTLOG.json

Every TAP point counts as one test. A program that failed without a failed point (crash, time-out,
wrong plan) counts as one more failure. Prints in this order:

- the skipped points
- the 20 slowest programs, and all that took more than 20 s
- each failed point, with its comments and diagnostics (YAML) and the end of stderr of the program
- the closing line "N passed, N failed"

Failures come last, because a log is often cut to its end. Exit status 1 when a test failed or none
ran.
"""
import json
import re
import sys

POINT = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?(.*)$")
GOOD = {"OK", "EXPECTEDFAIL", "SKIP"}
WHY_LINES = 30
STDERR_LINES = 40
SLOWEST, SLOW_S = 20, 20


def points(output):
    """Yields (state, name, lines of comment and diagnostics after it) of each TAP point in a
    program's output. A line `# Subtest: NAME` belongs to the next point."""
    state = name = None
    why = []
    for line in output.splitlines():
        match = POINT.match(line)
        if not match:
            if line.startswith(("#", "  ")) and not line.startswith("# Subtest: "):
                why.append(line)
            continue
        if state:
            yield state, name, why
        name, why = match.group(2), []
        skipped = re.search(r"#\s*skip", name, re.IGNORECASE)
        state = "failed" if match.group(1) else "skipped" if skipped else "passed"
    if state:
        yield state, name, why


def states_of(test):
    """As points, of a program: one that failed without a failed point is one more."""
    seen = list(points(test.get("stdout") or ""))
    if test["result"] not in GOOD and all(state != "failed" for state, _, _ in seen):
        seen.append(("failed", f"{test['result']}, exit status {test['returncode']}", []))
    return seen or [("skipped" if test["result"] == "SKIP" else "passed", None, [])]


def slowest(tests):
    """Returns the lines of the slowest programs, as (name, seconds) pairs are given."""
    tests = sorted(tests, key=lambda test: -test[1])
    shown = [test for at, test in enumerate(tests) if at < SLOWEST or test[1] > SLOW_S]
    return [f"slow: {seconds:7.1f} s  {name}" for name, seconds in shown]


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    failures, durations = [], []
    with open(sys.argv[1], encoding="utf-8", errors="replace") as log:
        for line in log:
            test = json.loads(line)
            durations.append((test["name"], test["duration"]))
            seen = states_of(test)
            for state, point, why in seen:
                counts[state] += 1
                if state == "skipped" and point is not None:
                    print(f"skipped: {test['name']}: {point}")
                if state == "failed":
                    failures += [f"failed: {test['name']}: {point}", *why[:WHY_LINES]]
            if any(state == "failed" for state, _, _ in seen):
                failures += (test.get("stderr") or "").splitlines()[-STDERR_LINES:]
    closing = f"{counts['passed']} passed, {counts['failed']} failed"
    if counts["skipped"]:
        closing += f", {counts['skipped']} skipped"
    print("\n".join([*slowest(durations), *failures, closing]))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
