#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a table of data/uarch/ out of one that `assay machine --measure instructions` wrote:
uarch-measured.py HEAD.txt MEASURED.tsv > CORE.tsv

HEAD.txt has the lines before the measured ones: comments, `like`, `core`, `match`, and a line
`source m1 ...` whose words stand in place of those of the measurement, which name a machine. Lines
`leave NAME why` take out a parameter that was measured, or `bypass`: the reason stays as a comment.
Of the measured lines those are kept that the program itself would use; what was noisy or is known
in part alone is left to the table that this one is like.
"""
import sys

KEPT = ("set", "bypass", "group", "form", "source")


def main():
    head, left = [], {}
    for line in open(sys.argv[1], encoding="ascii"):
        word = line.rstrip("\n").split(None, 2)
        if word and word[0] == "leave":
            left[word[1]] = word[2]
        else:
            head.append(line)
    sys.stdout.write("".join(head))
    for line in open(sys.argv[2], encoding="ascii"):
        word = line.rstrip("\n").split("\t")
        if word[0] not in KEPT or word[:2] == ["source", "m1"]:
            continue
        name = word[0] if word[0] == "bypass" else word[1]
        if word[0] in ("set", "bypass") and name in left:
            print(f"# {' '.join(word[:-1])} was measured: {left[name]}")
            continue
        if word[0] == "source" and word[1] == "noisy":
            continue
        sys.stdout.write(line)


main()
