#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a name means one thing in the program.

usage: check-names.py ROOT

A tag of a struct, union or enumeration is declared in one file only, and so is an enumerator. A
static function with a name of one word (`find`, `show`) stands in one file only. A backtrace must
identify it. Exit status 1 when something was printed.
"""
import collections
import pathlib
import re
import sys

TAG = re.compile(r"\b(?:struct|union|enum)\s+([A-Za-z_]\w*)\s*\{")
ENUM = re.compile(r"\benum(?:\s+\w+)?\s*\{([^}]*)\}")
STATIC = re.compile(r"^static\s[^=;{}()]*?\b([a-z][a-z0-9]*)\(", re.M)


def names_of(text):
    """Yields (kind, name) of all that a file defines."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    text = re.sub(r"^#\s*define(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)
    yield from (("tag", name) for name in TAG.findall(text))
    for body in ENUM.findall(text):
        for item in body.split(","):
            name = re.match(r"\s*([A-Za-z_]\w*)\s*(?:=|$)", item)
            if name:
                yield "enumerator", name.group(1)
    yield from (("static function", name) for name in STATIC.findall(text))


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = collections.defaultdict(set)
    for top in ("src", "cli", "include"):
        for path in sorted((root / top).rglob("*.[ch]")):
            for key in names_of(path.read_text(encoding="utf-8")):
                files[key].add(str(path.relative_to(root)))
    faults = [f"{kind} '{name}' stands in {', '.join(sorted(places))}"
              for (kind, name), places in sorted(files.items())
              if len(places) > 1]
    print("\n".join(faults) if faults else f"names: {len(files)} checked")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
