#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code far larger than compilers make, to see that the analysis stays near linear.

usage: monster.py SIZE PREFIX writes PREFIX.code.so, one function of SIZE * 300,000 instructions
with branches and loops, PREFIX.table.so, a switch of SIZE * 25,000 entries, PREFIX.nest.so, a nest
of SIZE * 2,000 loops that are all entered beside their headers too, and PREFIX.tangle.so,
SIZE * 5,000 blocks that jump anywhere.
"""
import os
import random
import subprocess
import sys


def code(size):
    yield ".text\n.globl huge\n.type huge, @function\nhuge:\n"
    for i in range(size * 30000):
        yield (f".L{i}: mov (%rdi,%rcx,8), %rax\nadd %rax, %rdx\nimul %rdx, %rsi\n"
               f"test $1, %al\nje .M{i}\nadd $8, %rdi\nmov %rdx, (%rdi)\n"
               f".M{i}: dec %rcx\njnz .L{i - i % 7}\ncmp %rsi, %rdx\n")
        if i % 5 == 0:
            yield "jb .Lend\n"
    yield ".Lend: ret\n.size huge, . - huge\n"


def table(size):
    n = size * 25000
    yield (f".text\n.globl pick\n.type pick, @function\npick: cmp ${n - 1}, %rdi\nja .Lno\n"
           "lea .Lt(%rip), %rdx\nmovslq (%rdx,%rdi,4), %rax\nadd %rdx, %rax\njmp *%rax\n")
    for i in range(n):
        yield f".L{i}: mov ${i}, %eax\nret\n"
    yield ".Lno: xor %eax, %eax\nret\n.size pick, . - pick\n.section .rodata\n.balign 4\n.Lt:\n"
    for i in range(n):
        yield f".long .L{i} - .Lt\n"


def nest(size):
    n = size * 2000
    yield ".text\n.globl deep\n.type deep, @function\ndeep:\n"
    for i in range(n):
        yield f"test $1, %sil\nje .Lt{i}\n"
    for i in range(n):
        yield f".Lh{i}: addl $1, {4 * i}(%rdi)\n"
    for i in reversed(range(n)):
        yield f".Lt{i}: cmpl $7, {4 * i}(%rdi)\njne .Lh{i}\n"
    yield "ret\n.size deep, . - deep\n"


def tangle(size):
    n, draw = size * 5000, random.Random(1)
    yield ".text\n.globl any\n.type any, @function\nany:\n"
    for i in range(n):
        yield f".Lb{i}: cmpl ${i % 100}, (%rdi)\njne .Lb{draw.randrange(n)}\n"
    yield "ret\n.size any, . - any\n"


def build(text, target):
    if os.path.exists(target):
        return
    with open(target + ".s", "w", encoding="ascii") as out:
        out.writelines(text)
    subprocess.run(["gcc", "-shared", "-nostdlib", "-Wl,-z,noexecstack", target + ".s", "-o",
                    target + ".new"], check=True)
    os.remove(target + ".s")
    os.rename(target + ".new", target)


def main():
    size, prefix = int(sys.argv[1]), sys.argv[2]
    build(code(size), prefix + ".code.so")
    build(table(size), prefix + ".table.so")
    build(nest(size), prefix + ".nest.so")
    build(tangle(size), prefix + ".tangle.so")


main()
