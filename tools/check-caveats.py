#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the caveats that the code writes with data/advise/caveats.txt.

usage: check-caveats.py [ROOT]

Reads names in initialisers of `struct as_flag`, in calls of WRITERS, and in flags.txt. Exit
status 1 if a name is in one place only. A function with a variable name must be in WRITERS.
"""
import pathlib
import re
import sys

# Functions and macros that write a flag by the name in their first literal argument.
WRITERS = {
    "src/analytics/store/machines.c": ["doubt"],
    "src/analytics/store/partial.c": ["flag_run"],
    "src/count/write.c": ["write_flag"],
    "src/exchange/import.c": ["flag_trace"],
    "src/merge/flags.c": ["write_own"],
    "src/mil/functions.c": ["add_function_flag"],
    "src/profile/collect_objects.c": ["flag_objects"],
    "src/profile/collect_regions.c": ["store_lost_flag"],
    "src/profile/crashes.c": ["as_attribute_flag"],
    "src/profile/import.c": ["flag_import"],
    "src/profile/missing_time.c": ["as_attribute_flag"],
    "src/profile/trust.c": ["as_attribute_flag", "FLAG_RUN"],
}
# Files that write names of flags.txt, or copy the flags of other experiments.
COPIES = {"src/advise/findings.c", "src/merge/merge.c"}

INITIALISER = re.compile(r"struct as_flag \w+ = \{(.*?)\};", re.S)
NAME = re.compile(r"\.name\s*=\s*(\"\w+\"|\w+)")


def blocks(path, kind):
    text = path.read_text(encoding="ascii")
    return re.findall(rf"^{kind} (\w+)$", text, re.M)


def arguments(text, start):
    """Returns the text from `start` to the bracket that closes the call."""
    depth = 1
    for end in range(start, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if depth == 0:
            return text[start:end]
    return text[start:]


def names_of(name, text, constants, faults):
    """Yields the names of flags in the source file `name`."""
    writers = WRITERS.get(name, [])
    for body in INITIALISER.findall(text):
        found = NAME.search(body)
        word = found[1] if found else ""
        if word.startswith('"'):
            yield word.strip('"')
        elif word in constants:
            yield constants[word]
        elif not writers and name not in COPIES:
            faults.append(f"{name}: the name of a flag is not constant; "
                          "list its function in tools/check-caveats.py")
    for writer in writers:
        found = 0
        for call in re.finditer(rf"\b{writer}\(", text):
            literal = re.search(r'"([a-z_0-9]+)"', arguments(text, call.end()))
            if literal:
                found += 1
                yield literal[1]
        if not found:
            faults.append(f"{name}: {writer} writes no flag; remove it from tools/check-caveats.py")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    faults, written = [], {}
    header = (root / "src/profile/profile.h").read_text(encoding="utf-8")
    constants = dict(re.findall(r'#define (AS_FLAG_\w+) "(\w+)"', header))
    for folder in ("src", "cli"):
        for path in sorted((root / folder).rglob("*.c")):
            text = path.read_text(encoding="utf-8")
            name = str(path.relative_to(root))
            if "struct as_flag" in text or name in WRITERS:
                for flag in names_of(name, text, constants, faults):
                    written.setdefault(flag, name)
    for flag in blocks(root / "data/advise/flags.txt", "flag"):
        written.setdefault(flag, "data/advise/flags.txt")
    table = blocks(root / "data/advise/caveats.txt", "caveat")
    faults += [f"data/advise/caveats.txt: {flag} is there twice"
               for flag in sorted(set(table)) if table.count(flag) > 1]
    faults += [f"{written[flag]}: the caveat {flag} is missing; add it to data/advise/caveats.txt"
               for flag in sorted(set(written) - set(table))]
    faults += [f"data/advise/caveats.txt: no code writes {flag}; remove or rename it"
               for flag in sorted(set(table) - set(written))]
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
