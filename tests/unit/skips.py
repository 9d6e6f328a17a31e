#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program of cmocka and makes its skipped tests skipped test points. This version of cmocka
reports skip() as "not ok", which meson takes for a failure; and a test that prints "# skipped: why"
and returns would alone look like success. Usage: skips.py PROGRAM ARGUMENT..."""
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
                given_up = re.match(r"not ok (\d+) # SKIP (.*)", line)
                if given_up:
                    why = why or "this machine has not what it needs"
                    line = f"ok {given_up[1]} - {given_up[2]} # SKIP {why}\n"
                elif why and line.startswith("ok") and "#" not in line:
                    line = f"{line.rstrip()} # SKIP {why}\n"
                why = None
            sys.stdout.write(line)
            sys.stdout.flush()
    return program.returncode if program.returncode >= 0 else 128 - program.returncode


if __name__ == "__main__":
    sys.exit(main())
