# SPDX-License-Identifier: Apache-2.0
"""Shared code of the generators of tables of cores: takes keys of forms apart
(doc/reference/uarch.md)."""
import re


def kinds(key):
    """(mnemonic, operands) of a key."""
    words = [w for w in key.split(" ") if w not in ("lock", "rep")]
    operands = words[1].split(",") if len(words) > 1 and words[1][0] not in "[{" else []
    return words[0], operands


def is_vector(operand):
    return operand in ("xmm", "ymm", "zmm", "mm", "xmm0")


def is_memory(operand):
    return re.fullmatch(r"m\d+", operand) is not None


def is_general(operand):
    return operand in ("r8", "r16", "r32", "r64", "eax", "rax", "al", "ax", "cl")


def uses_text(uses):
    """The column of uses: a value is a number or a span ready to write."""
    return " ".join(f"{g}:{n if isinstance(n, str) else format(n, 'g')}"
                    for g, n in uses.items()) or "-"
