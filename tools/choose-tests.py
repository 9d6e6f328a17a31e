#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the names of the tests that a run is to have, for meson test.

usage: choose-tests.py BUILD SELECTION | NAME...
       choose-tests.py --turn SELECTION | NAME...

--daily            the choice of ./dev test: all but the suites nightly, accuracy and rotating;
                   plus, by the hash of the commit, one of accuracy and a fifth of rotating.
--nightly          the suites nightly, accuracy and rotating.
--sanitized        all but the suite plain
--sanitized-quick  of these, all but the suites nightly-sanitizers, nightly and accuracy
--all              all

With --turn it prints the part of their many cases that tests try (tests/zoo/turn.py): a number by
the hash of the commit, or all at night.

A NAME may be a pattern ('cli/*'). Suites: plain holds seconds to seconds, or runs no code of ours
that others do not run; nightly-sanitizers drives compilers and recorded programs, of which
sanitizers see little; nightly takes long; accuracy needs hundreds of recordings. A test of rotating
takes 20 s of CPU time and more. Exit status 2 if a NAME fits no test.
"""
import fnmatch
import json
import pathlib
import subprocess
import sys

PARTS = 5  # of the suite rotating
SUITES_LEFT_OUT = {"--daily": {"nightly", "accuracy", "rotating"}, "--sanitized": {"plain"},
                   "--sanitized-quick": {"plain", "nightly-sanitizers", "nightly", "accuracy"},
                   "--all": set()}


def tests_of(build):
    """Returns [(name, set of suites)] of a configured build directory, by priority: meson test
    starts tests in the order of its arguments."""
    text = (pathlib.Path(build) / "meson-info/intro-tests.json").read_text(encoding="utf-8")
    tests = sorted(json.loads(text), key=lambda test: -test["priority"])
    return [(test["name"], {suite.rpartition(":")[2] for suite in test["suite"]})
            for test in tests]


def chosen_accuracy(tests, commit):
    """Returns the accuracy test of a commit, as a list of one name or of none."""
    groups = sorted(name for name, suites in tests if "accuracy" in suites)
    return [groups[int(commit[:8], 16) % len(groups)]] if groups and commit else []


def chosen_rotating(tests, commit):
    """Returns the names of the fifth of the suite rotating that a commit runs."""
    names = sorted(name for name, suites in tests if "rotating" in suites)
    return names[int(commit[8:16], 16) % PARTS::PARTS] if commit else names


def head_commit():
    return subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True,
                          check=False).stdout.strip()


def turn_of(selection, commit):
    """Returns what ASSAY_TEST_TURN is to be."""
    if selection in ("--nightly", "--sanitized", "--all"):
        return "all"
    return str(int(commit[8:16], 16) % PARTS if commit else 0)


def selected(tests, selection):
    if selection == "--nightly":
        return [name for name, suites in tests if suites & {"nightly", "accuracy", "rotating"}]
    names = [name for name, suites in tests if not suites & SUITES_LEFT_OUT[selection]]
    if selection == "--daily":
        commit = head_commit()
        chosen = chosen_accuracy(tests, commit) + chosen_rotating(tests, commit)
        print(f"==> by turns: this commit runs {' '.join(chosen)} (again: ./dev test NAME; all: "
              "./dev test --all)", file=sys.stderr)
        names = [name for name, _ in tests if name in names or name in chosen]
    return names


def named(tests, patterns):
    names = []
    for pattern in patterns:
        found = [name for name, _ in tests if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            print(f"dev: no test is named '{pattern}': list them with meson test -C build --list",
                  file=sys.stderr)
            sys.exit(2)
        names += [name for name in found if name not in names]
    return names


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.split("\n\n")[1])
    if sys.argv[1] == "--turn":
        print(turn_of(sys.argv[2], head_commit()))
        return
    tests, words = tests_of(sys.argv[1]), sys.argv[2:]
    is_selection = words[0] in SUITES_LEFT_OUT or words[0] == "--nightly"
    print("\n".join(selected(tests, words[0]) if is_selection else named(tests, words)))


if __name__ == "__main__":
    main()
