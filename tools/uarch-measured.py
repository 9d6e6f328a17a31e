#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a table of data/uarch/ out of one that `assay machine --measure instructions` wrote:
uarch-measured.py HEAD.txt MEASURED.tsv > CORE.tsv

HEAD.txt has the lines before the measured ones: comments, `like`, `core`, `match` and `source m1`.
The words of `source m1` replace those of the measurement, which name a machine. Three kinds of
lines take out what was measured. Each has a reason, which stays as a comment.

    leave NAME why       a parameter, a group or `bypass`;
    leave-forms RE why   forms, by a regular expression on their line;
    leave-own RE why     only the own unit (`own:n`) of such forms.

Kept are the measured lines that the program itself would use. Noisy lines and lines known in part
are left to the table that this one is like.
"""
import re
import sys

KEPT = ("set", "bypass", "group", "form", "source")


class Head:
    """The lines of HEAD.txt, and what they take out."""

    def __init__(self, path):
        self.lines, self.left, self.forms, self.own = [], {}, [], []
        for line in open(path, encoding="ascii"):
            word = line.rstrip("\n").split("\t")
            if word[0] == "leave":
                self.left[word[1]] = word[2]
            elif word[0] in ("leave-forms", "leave-own"):
                of = self.forms if word[0] == "leave-forms" else self.own
                of.append(re.compile(word[1]))
                part = ", units of their own" if of is self.own else ""
                self.lines.append(f"# not taken over of {word[1]}{part}: {word[2]}\n")
            else:
                self.lines.append(line)


def main():
    head = Head(sys.argv[1])
    sys.stdout.write("".join(head.lines))
    for line in open(sys.argv[2], encoding="ascii"):
        word = line.rstrip("\n").split("\t")
        if word[0] not in KEPT or word[:2] == ["source", "m1"]:
            continue
        name = word[0] if word[0] == "bypass" else word[1]
        if word[0] in ("set", "bypass", "group") and name in head.left:
            print(f"# {' '.join(word[:-1])} was measured: {head.left[name]}")
            continue
        if word[0] == "source" and word[1] == "noisy":
            continue
        if word[0] == "form" and any(r.search(line) for r in head.forms):
            continue
        if word[0] == "form" and any(r.search(line) for r in head.own):
            word[3] = " ".join(u for u in word[3].split() if not u.startswith("own:")) or "-"
            line = "\t".join(word) + "\n"
        sys.stdout.write(line)


main()
