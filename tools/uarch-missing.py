#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines for a table of data/uarch/ that lacks forms: uarch-missing.py SOURCE TABLE.tsv
MEASURED.tsv...

MEASURED is one file or several: the output of `assay machine --measure instructions --for BINARY`
on the same core. Groups of MEASURED have ports of their own, those of TABLE share them. An
operation of FMUL, FADD or PERM also counts for FANY. A load of vectors goes through LDV alone. A
form that reads and writes memory counts as a store.

Left out are noisy forms, and forms on which the files disagree. Forms with cycles that differ by
more than a twentieth between samples are left out, too, unless three files agree. Lines go to
stdout with SOURCE as their source.
"""
import sys

from uarch_lines import is_memory, is_vector, kinds, uses_text

PART_OF_FANY = ("FMUL", "FADD", "PERM")
MOST_SPREAD = 5
UPDATES = ("add", "sub", "and", "or", "xor", "inc", "dec", "neg", "not", "adc", "sbb", "shl", "shr",
           "sar", "rol", "ror")


def rows(name, word):
    with open(name, encoding="ascii") as f:
        for line in f:
            columns = line.rstrip("\n").split("\t")
            if columns[0] == word:
                yield columns


def whole(n):
    half = round(n * 2) / 2
    return round(n) if abs(n - round(n)) < 0.3 and round(n) else half


def shared(text, key):
    """Uses as ports that are shared show them."""
    mnemonic, operands = kinds(key)
    uses = {}
    for part in text.split(" "):
        if ":" in part:
            group, n = part.split(":")
            uses[group] = float(n) if group == "own" else whole(float(n))
    vector = any(map(is_vector, operands))
    moves = mnemonic.lstrip("v").startswith("mov") and any(map(is_memory, operands))
    if "LDV" in uses:
        uses.pop("AGU", None)
        uses["LDV"] = max(1, uses["LDV"])
    elif "AGU" in uses and any(map(is_memory, operands)):
        uses["AGU"] = max(1, min(uses["AGU"], 2)) if "STD" in uses else 1
    if mnemonic in UPDATES and is_memory(operands[0]):
        uses["STD"] = 1
    apart = sum(uses.get(group, 0) for group in PART_OF_FANY)
    if vector and "FANY" in uses and (moves or uses["FANY"] <= apart + 0.5):
        del uses["FANY"]
    return uses_text({group: n for group, n in uses.items() if n})


def calm_lines(measured, groups, most_spread):
    """By key: slots, uses, latency, flags, spread."""
    lines = {}
    for _, key, slots, uses, latency, flags, how in rows(measured, "form"):
        words = how.split(" ")
        spread = float(words[1].rstrip("%")) if len(words) > 1 else 0
        named = {part.split(":")[0] for part in uses.split(" ") if ":" in part}
        if words[0] == "m1" and spread <= most_spread and named <= groups:
            lines[key] = [slots, shared(uses, key), latency, flags, f"{spread:g}%"]
    return lines


def main():
    source, table = sys.argv[1:3]
    there = {row[1] for row in rows(table, "form")}
    groups = {row[1] for row in rows(table, "group")} | {"own"}
    most_spread = MOST_SPREAD if len(sys.argv) < 6 else float("inf")
    measured = [calm_lines(name, groups, most_spread) for name in sys.argv[3:]]
    for key, line in sorted(measured[0].items()):
        others = [other.get(key) for other in measured[1:]]
        if key not in there and all(other and other[:4] == line[:4] for other in others):
            print("\t".join(["form", key] + line[:4] + [f"{source} {line[4]}"]))


main()
