#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges findings by programs with known causes.

usage: judge.py measure [NAME...]   measure both forms of each program, in turns: truth.json

programs.py explains the heads of the programs.
"""
import sys

import measured


def main():
    verb, *words = sys.argv[1:] or ["help"]
    if verb == "measure":
        return measured.measure(words) > 0
    print(__doc__, end="", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
