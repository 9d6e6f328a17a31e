#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""House style that no other tool checks.

usage: check-style.py ROOT

Source files have one SPDX line, at most 100 columns and 1,500 lines, and end in a newline. Tables
laid out by hand, between clang-format off and on, may be wider. The tree has no path of a
developer's machine. The command line has no SQL (src/report/queries.h). A line of a bats script
must not begin with `!`, which never fails a test; use `never` of tests/cli/common.bash. Exit status
1 when something was printed.
"""
import pathlib
import re
import subprocess
import sys

SOURCES = {".c", ".h", ".py", ".sh", ".def", ".S", ".f90", ".cc", ".ts", ".tsx", ".mjs", ".css"}
COLUMNS, LINES = 100, 1500
# A line of bats that cannot fail.
IDLE = re.compile(r"\s*! (?!.*\|\|)")
# A statement in a text of the command line. Examples of `assay query` stand in options.def.
STATEMENT = re.compile(r'"[^"]*\b(?:SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM) ')
# Absolute places that exist on one machine only.
PRIVATE = re.compile(r"/(work|home|root)/[A-Za-z0-9_.-]+/")


def tracked(root):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, check=True,
                            capture_output=True, text=True).stdout
    return [root / name for name in listed.splitlines() if (root / name).is_file()]


def faults_of(path, text):
    lines = text.split("\n")
    if path.suffix in SOURCES:
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3]):
            yield 1, "no SPDX line at the head"
        if len(lines) > LINES:
            yield len(lines), f"more than {LINES} lines: split it by concern"
        table = False
        for number, line in enumerate(lines, 1):
            table = "clang-format off" in line or (table and "clang-format on" not in line)
            if len(line) > COLUMNS and not table:
                yield number, f"more than {COLUMNS} columns"
            if line != line.rstrip():
                yield number, "blanks at the end"
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        if PRIVATE.search(line):
            yield number, "names a path of one machine"
        if path.parent.name == "cli" and path.suffix in (".c", ".h") and STATEMENT.search(line):
            yield number, "SQL in the command line: name the statement in src/report/queries.h"
        if path.suffix == ".bats" and IDLE.match(line):
            yield number, "a bare '!' ends no test: use never"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    count, faults = 0, 0
    for path in tracked(root):
        name = path.relative_to(root)
        if "corpus" in name.parts or "golden" in name.parts:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        count += 1
        for number, fault in faults_of(path, text):
            faults += 1
            print(f"{name}:{number}: {fault}")
    if not faults:
        print(f"style: {count} files checked")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
