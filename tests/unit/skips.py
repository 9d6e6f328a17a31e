#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of cmocka and makes its skipped tests skipped test points. This version of cmocka
reports skip() as a failure, so a test that cannot be held here prints "# skipped: why" and returns,
which alone would look like success. Usage: skips.py PROGRAM ARGUMENT..."""
import re
import subprocess
import sys


def main():
    why = None
    with subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True,
                          errors="replace") as program:
        for line in program.stdout:
            said = re.search(r"# skipped: (.*)", line)
            why = said[1] if said else why
            if re.match(r"(not )?ok\b", line):
                if why and line.startswith("ok") and "#" not in line:
                    line = f"{line.rstrip()} # SKIP {why}\n"
                why = None
            sys.stdout.write(line)
            sys.stdout.flush()
    return program.returncode if program.returncode >= 0 else 128 - program.returncode


if __name__ == "__main__":
    sys.exit(main())
