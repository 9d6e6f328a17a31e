# SPDX-License-Identifier: Apache-2.0
"""Reads the commands and the quoted output of a page of the manual, and compares output."""
import re

COMMAND = re.compile(r"(\w+=\S* )*(\./dev|assay|make|cd|export|unset|gcc|rsync|scp|ssh|sysctl|srun"
                     r"|docker|apptainer|wxparaver|module|cmake)\b")
NUMBER = re.compile(r"\d[\d,]*(\.\d+)?")


def blocks(text):
    """Yields line number and lines of each indented block, without the indentation."""
    lines, start = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("    "):
            start = start if lines else number
            lines.append(line[4:])
        elif lines and not line:
            lines.append("")
        elif lines:
            yield start, lines
            lines = []
    if lines:
        yield start, lines


def parts(text):
    """Yields line number, kind and text of each command and of each quoted output of a page.

    Output is what an indented block has besides commands; an empty line ends it. A backslash
    continues a command; its comment is left out.
    """
    for start, lines in blocks(text):
        quoted, begun, whole = [], 0, ""
        for number, line in enumerate(lines + [""], start):
            if whole or COMMAND.match(line):
                whole += re.sub(r"\s+#.*", "", line).rstrip("\\")
                if not line.endswith("\\"):
                    yield number, "command", whole.strip()
                    whole = ""
            elif line:
                begun = begun if quoted else number
                quoted.append(line)
            elif quoted:
                yield begun, "output", "\n".join(quoted)
                quoted = []


def plain(text):
    """Returns text with single blanks; each number is N, with the blanks of its column."""
    return NUMBER.sub("N", " ".join(text.split()))


def lines_of(quoted):
    """Returns what must stand together: a sentence or an action of a finding, a line of a table."""
    sentences = re.split(r"\n(?=→)", quoted)
    if len(sentences) > 1 or quoted.startswith("→") or "  " not in quoted:
        return sentences
    return quoted.split("\n")


def is_in(quoted, output):
    """Returns whether the output has the quoted words; `[...]` stands for any words."""
    pattern = ".*?".join(re.escape(plain(piece)) for piece in quoted.split("[...]"))
    return re.search(pattern, plain(output)) is not None
