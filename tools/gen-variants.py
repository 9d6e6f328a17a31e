#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the rules of variants as a C table: gen-variants.py OUTPUT FILE.

The head of data/patch/variants.txt explains the words. Unknown words, missing keys, and variants
that the program does not know are found here.
"""
import pathlib
import sys

VARIANTS = ["rec", "ref", "fp", "ls", "dl1", "fes", "nodiv", "nored", "again", "dl1_ls",
            "dl1_nodiv", "dl1_nored", "pf4", "pf16", "pf64"]
SLICES = ["none", "stores", "all"]
ROLES = ["index", "address", "store", "update", "prefetch", "nop", "division", "reduction", "load",
         "compute_load", "compute"]
ACTIONS = ["keep", "nothing", "drop", "nop", "value", "register", "load", "slot", "slot_load",
           "ahead", "log"]


def read(path):
    rules = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split(None, 1)
        if not words or line.startswith("#"):
            continue
        if len(words) != 2:
            sys.exit(f"{path}:{number}: a key without a word")
        key, word = words
        if not line.startswith(" "):
            if key != "variant" or word not in VARIANTS or word in rules:
                sys.exit(f"{path}:{number}: no new variant: {line}")
            rule = rules[word] = {}
            continue
        known = {"title": None, "slice": SLICES, "writes": ["no", "yes"]}.get(key, ACTIONS)
        if key in rule or (key not in ROLES + ["title", "slice", "writes", "lines"]):
            sys.exit(f"{path}:{number}: no new key: {key}")
        if key == "lines":
            if not word.isdigit() or not 0 < int(word) < 256:
                sys.exit(f"{path}:{number}: lines are a number from 1 to 255: {word}")
            rule[key] = word
            continue
        if known and word not in known:
            sys.exit(f"{path}:{number}: unknown word: {word}")
        rule[key] = word
    for name in VARIANTS:
        missing = [k for k in ["title", "slice", "writes"] + ROLES if k not in rules.get(name, {})]
        if missing:
            sys.exit(f"{path}: {name} lacks {', '.join(missing)}")
    return rules


def main():
    rules = read(pathlib.Path(sys.argv[2]))
    out = ['/* Made from data/patch/variants.txt. */', '#include "patch/variant.h"', "",
           "const struct as_variant_rule as_variant_rules[AS_VARIANT_KINDS] = {"]
    for name in VARIANTS:
        r = rules[name]
        actions = ", ".join(f"[AS_VARIED_{role.upper()}] = AS_DO_{r[role].upper()}"
                            for role in ROLES)
        out.append(f'    [AS_VARIANT_{name.upper()}] = {{"{name}", "{r["title"]}", '
                   f'AS_SLICE_{r["slice"].upper()}, {int(r["writes"] == "yes")}, '
                   f'{r.get("lines", 0)}, '
                   f'{{{actions}}}}},')
    out.append('    [AS_VARIANT_ORIG] = {"orig", "the loop as it runs in the program", '
               '0, 0, 0, {0}},')
    out.append("};")
    pathlib.Path(sys.argv[1]).write_text("\n".join(out) + "\n")


main()
