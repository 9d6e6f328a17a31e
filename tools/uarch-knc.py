#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the table of Knights Corner out of what is published of it:
uarch-knc.py HEAD FORMS KEYS > data/uarch/knightscorner.tsv

HEAD (tools/uarch-cited/knightscorner.txt) has the lines of the table that are not forms. It
also has these lines:

  %rule REGEX SLOTS USES LATENCY FLAGS SOURCE   for keys that begin with REGEX; the first counts

FORMS has an encoding per line; those without vectors count. Encodings with vectors (MVEX) are all
that the decoder knows, tried here one by one. KEYS is build/uarch-keys. A form without a rule has
no line.
"""
import pathlib
import re
import subprocess
import sys

BRANCHES = [f"{op:02x}00" for op in range(0x70, 0x80)] + \
    [f"0f{op:02x}00000000" for op in range(0x80, 0x90)] + \
    ["eb00", "e900000000", "e800000000", "c3", "ffe0", "ff20", "ffd0", "ff10", "e300"]
ELSEWHERE = re.compile(r"\b([xy]mm\d?|mm|tmm)\b|\{evex\}|^cmov")


def keys_of(program, encodings, *options):
    text = "\n".join(encodings) + "\n"
    out = subprocess.run([program, *options], input=text, capture_output=True, text=True,
                         check=True).stdout
    return [line.split("\t")[0] for line in out.splitlines()]


def vectors():
    """Encodings of MVEX, and of VEX that masks and prefetches have (ISA manual, chapter 3)."""
    for group in range(1, 4):
        for flags in range(8):
            for opcode in range(256):
                second = (flags >> 2) << 7 | 0x78 | flags & 3
                for last in (0x08, 0x09, 0x18, 0x28, 0x48, 0x58, 0x68, 0x78, 0x19):
                    for modrm in ("c1", "07", "0407"):
                        yield f"62{0xf0 | group:02x}{second:02x}{last:02x}{opcode:02x}{modrm}" + \
                            "00" * 8
    for opcode in (0x18, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49, 0x41, 0x42, 0x43, 0x90, 0x92, 0x93,
                   0x98, 0x74, 0x75, 0x84, 0x85):
        for modrm in range(0, 256, 8):
            yield f"c5f8{opcode:02x}{modrm | 1:02x}" + "00" * 8


def main():
    head = pathlib.Path(sys.argv[1]).read_text(encoding="ascii").splitlines()
    rules = [line.split("\t")[1:] for line in head if line.startswith("%rule")]
    forms = pathlib.Path(sys.argv[2]).read_text(encoding="ascii").split()
    plain = [k for k in keys_of(sys.argv[3], forms + BRANCHES) if not ELSEWHERE.search(k)
             and not k.startswith("v")]
    mvex = [k for k in keys_of(sys.argv[3], vectors(), "--k1om")
            if not ELSEWHERE.search(k) and re.match(r"v|k|jk|clevict", k)]
    print("\n".join(line for line in head if not line.startswith("%")))
    for key in sorted(set(plain + mvex)):
        rule = next((r for r in rules if re.match(r[0], key)), None)
        if rule:
            print("\t".join(["form", key] + rule[1:]))


if __name__ == "__main__":
    main()
