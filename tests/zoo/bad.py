#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that `assay` cannot read: one sentence, exit status 2, never a crash.

    bad.py ASSAY

Every file is made here, byte by byte or from a program compiled here, so that its fault is known.
Each run tries a fifth of the many values of a field (turn.py). If only DWARF or unwind information
is damaged, the functions of the symbol tables must still be listed.
"""
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from tap import Tap
from turn import mine

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534


def elf_header(machine=62, elf_class=2, data=1, kind=2, phnum=0, shoff=0, shnum=0, shstrndx=0):
    """A 64-byte ELF header with no tables behind it."""
    ident = b"\x7fELF" + bytes([elf_class, data, 1, 0]) + bytes(8)
    order = "<" if data == 1 else ">"
    return ident + struct.pack(order + "HHIQQQIHHHHHH", kind, machine, 1, 0x401000,
                               64 if phnum else 0, shoff, 0, 64, 56, phnum, 64, shnum, shstrndx)


def elf32_header():
    ident = b"\x7fELF" + bytes([1, 1, 1, 0]) + bytes(8)
    return ident + struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, 0x8048000, 52, 0, 0, 52, 32, 1, 40, 0,
                               0) + bytes(32)


class Bad:
    def __init__(self, assay, folder):
        self.assay = assay
        self.folder = pathlib.Path(folder)
        self.tap = Tap()

    def run(self, *args, **how):
        """(exit status, stdout, stderr); a signal is a negative status, a hang is "timeout"."""
        try:
            r = subprocess.run([self.assay, *map(str, args)], capture_output=True, timeout=800,
                               **how)
        except subprocess.TimeoutExpired:
            return "timeout", b"", b""
        return r.returncode, r.stdout, r.stderr

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def refused(self, path, what, *words, **how):
        """Every verb refuses the file with one sentence that has the path and one of `words`."""
        for verb in (["info"], ["functions"], ["disasm", "--function", "main"]):
            status, out, err = self.run(verb[0], path, *verb[1:], **how)
            text = err.decode(errors="replace")
            wrong = []
            if status != 2:
                wrong.append(f"exit status {status}, not 2")
            if out:
                wrong.append(f"stdout has {len(out)} bytes: {out[:80]!r}")
            if text.count("\n") != 1 or not text.startswith("assay: "):
                wrong.append(f"not one line 'assay: ...': {text!r}")
            if str(path) not in text:
                wrong.append(f"the path is missing: {text!r}")
            if words and not any(w in text.lower() for w in words):
                wrong.append(f"none of {words}: {text!r}")
            self.tap.point(not wrong, f"{what}: {verb[0]} refuses it", "\n".join(wrong))

    def survives(self, paths, what, statuses=(0, 2), word=None):
        """No run on any of the files dies by a signal, hangs, or says more than one line."""
        wrong = []
        for path in paths:
            for verb in (["info"], ["functions"], ["disasm", "--function", "main"]):
                status, _, err = self.run(verb[0], path, *verb[1:])
                text = err.decode(errors="replace")
                if status not in statuses:
                    wrong.append(f"{verb[0]} {path.name}: exit status {status}: {text[:200]!r}")
                elif status == 2 and (text.count("\n") != 1 or not text.startswith("assay: ")):
                    wrong.append(f"{verb[0]} {path.name}: not one sentence: {text[:200]!r}")
                elif status == 2 and word and word not in text:
                    wrong.append(f"{verb[0]} {path.name}: no word '{word}': {text[:200]!r}")
        self.tap.point(not wrong, f"{what} ({len(paths)} files)", "\n".join(wrong))

    # ---- files that are not a supported ELF ------------------------------------------------------

    def not_elf(self):
        self.refused(self.folder / "absent", "a missing file", "no such file")
        self.refused(self.folder, "a folder", "directory", "folder", "regular")
        self.refused(self.file("empty", b""), "an empty file", "empty")
        self.refused(self.file("script", b"#!/bin/sh\necho hello\n"), "a shell script", "script")
        self.refused(self.file("python", b"#!/usr/bin/env python3\nprint(1)\n"),
                     "a Python script", "script")
        self.refused(self.file("text", b"daxpy: y += a * x\n" * 20), "a text file", "text",
                     "not an elf")
        self.refused(self.file("lib.a", b"!<arch>\nx.o/            0           0     0     644     "
                                        b"4         `\nabcd"), "an archive", "archive")
        noise = random.Random(1).randbytes(4096)
        self.refused(self.file("noise", b"\x01" + noise), "random bytes", "not an elf")
        self.refused(self.file("zeros", bytes(4096)), "zeros", "not an elf")
        self.refused(self.file("pe.exe", b"MZ" + noise), "a Windows program", "not an elf",
                     "windows")
        self.refused(self.file("macho", b"\xcf\xfa\xed\xfe" + noise), "a Mach-O program",
                     "not an elf", "mach-o")
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        self.refused(fifo, "a named pipe", "regular", "pipe")
        self.refused("/dev/null", "a device", "regular", "device")

    def other_elf(self):
        self.refused(self.file("elf32", elf32_header()), "a 32-bit file", "32-bit")
        self.refused(self.file("x32", elf_header(elf_class=1)), "an x32 file", "32-bit")
        for name, machine, word in (("aarch64", 183, "aarch64"), ("riscv", 243, "risc-v"),
                                    ("ppc64", 21, "powerpc"), ("strange", 60000, "60000")):
            self.refused(self.file(name, elf_header(machine=machine)), f"machine {name}", word,
                         "architecture")
        self.refused(self.file("s390x", elf_header(machine=22, data=2)), "a big-endian file",
                     "s390", "big-endian")
        self.refused(self.file("core", elf_header(kind=4, phnum=1) + bytes(56)), "a core file",
                     "core")
        self.refused(self.file("kind", elf_header(kind=77)), "an unknown ELF type", "type")
        for n in (1, 3, 4, 5, 15, 16, 20, 52, 63):
            word = ("not an elf", "truncated", "too short")
            self.refused(self.file(f"head{n}", elf_header()[:n]), f"the first {n} bytes", *word)

    def unreadable(self):
        path = self.file("secret", elf_header())
        path.chmod(0)
        assay = self.assay
        how = {}
        if os.geteuid() == 0:
            # Root reads everything: change to an ordinary user, with a copy that it can reach.
            self.folder.chmod(0o755)
            copy = self.folder / "assay"
            shutil.copy(assay, copy)
            copy.chmod(0o755)
            self.assay = str(copy)
            how = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            self.refused(path, "a file without read permission", "permission", **how)
        except PermissionError as e:
            self.tap.skip("a file without read permission", str(e))
        self.assay = assay

    # ---- files that were a program ---------------------------------------------------------------

    def compile(self):
        program = self.folder / "program"
        for compiler in ("gcc", "clang", "cc"):
            if shutil.which(compiler):
                run = subprocess.run([compiler, "-O2", "-g", HERE / "src" / "kernels.c", "-o",
                                      program], check=False)
                if run.returncode == 0:
                    return program
        return None

    def truncated(self, whole):
        lengths = sorted({64, 65, 100, 120, len(whole) - 1, len(whole) - 64} |
                         {len(whole) * k // 40 for k in range(1, 40)})
        files = [self.file(f"cut-{n}", whole[:n]) for n in mine(lengths)]
        self.survives(files, "a program cut short is refused as truncated", (2,), "truncated")

    def patched(self, whole):
        """Header fields and section headers with values that no linker writes."""
        shoff, = struct.unpack_from("<Q", whole, 40)
        shnum, = struct.unpack_from("<H", whole, 60)
        evil = (0, 1, 7, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1,
                len(whole), len(whole) - 1)

        def changed(name, offset, form, value):
            image = bytearray(whole)
            widest = (1 << 8 * struct.calcsize(form)) - 1
            struct.pack_into("<" + form, image, offset, value & widest)
            return self.file(name, bytes(image))

        header = (("phoff", 32, "Q"), ("shoff", 40, "Q"), ("ehsize", 52, "H"),
                  ("phentsize", 54, "H"), ("phnum", 56, "H"), ("shentsize", 58, "H"),
                  ("shnum", 60, "H"), ("shstrndx", 62, "H"))
        for number, (field, offset, form) in enumerate(header):
            some = mine(evil[number:] + evil[:number])
            self.survives([changed(f"eh-{field}-{v:x}", offset, form, v) for v in some],
                          f"corrupted header field e_{field}")
        section = (("name", 0, "I"), ("type", 4, "I"), ("addr", 16, "Q"), ("offset", 24, "Q"),
                   ("size", 32, "Q"), ("link", 40, "I"), ("info", 44, "I"), ("entsize", 56, "Q"))
        dice = random.Random(2)
        for field, offset, form in section:
            some = mine([(k, dice.randrange(shnum), dice.choice(evil)) for k in range(12)])
            self.survives([changed(f"sh-{field}-{i}-{k}", shoff + 64 * i + offset, form, value)
                           for k, i, value in some],
                          f"corrupted section header field sh_{field}")

    def damaged(self, program, whole):
        """Debug and unwind sections overwritten: the functions of the symbol table stay."""
        import truth
        status, out, _ = self.run("functions", program, "--format", "json")
        sound = functions_by_symbol(out)
        self.tap.point(bool(sound), "the sound program has functions", f"exit status {status}")
        dice = random.Random(3)
        for s in truth.sections(program):
            if not (s.name.startswith(".debug_") or s.name == ".eh_frame") or s.size == 0:
                continue
            wrong = []
            for kind in ("ff", "zero", "noise", "bits"):
                image = bytearray(whole)
                old = whole[s.offset:s.offset + s.size]
                new = {"ff": b"\xff" * s.size, "zero": bytes(s.size),
                       "noise": dice.randbytes(s.size), "bits": bytearray(old)}[kind]
                if kind == "bits":
                    for _ in range(max(8, s.size // 50)):
                        new[dice.randrange(s.size)] ^= 1 << dice.randrange(8)
                image[s.offset:s.offset + s.size] = new
                path = self.file(f"damaged{s.name}-{kind}", bytes(image))
                for verb in (["info"], ["disasm", "--function", "daxpy"], ["functions"]):
                    status, out, err = self.run(*verb[:1], path, *verb[1:], "--format", "json")
                    if status != 0:
                        wrong.append(f"{verb[0]} ({kind}): exit status {status}: {err[:200]!r}")
                if status == 0 and (not sound or functions_by_symbol(out) != sound):
                    wrong.append(f"functions ({kind}): others than of the sound program")
            self.tap.point(not wrong, f"damaged {s.name}: symbols still tell the functions",
                           "\n".join(wrong))


def functions_by_symbol(out):
    """Returns (name, address) of the functions that a symbol names; None if `out` is not a
    document."""
    try:
        return {(f["linkage_name"], f["address"]) for f in json.loads(out)["functions"]
                if f["origin"] in ("symbol", "plt")}
    except (ValueError, KeyError):
        return None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="assay-bad-") as folder:
        bad = Bad(os.path.abspath(sys.argv[1]), folder)
        bad.not_elf()
        bad.other_elf()
        bad.unreadable()
        program = bad.compile()
        if program:
            whole = program.read_bytes()
            bad.truncated(whole)
            bad.patched(whole)
            bad.damaged(program, whole)
        else:
            bad.tap.skip("a damaged program", "no C compiler is installed")
        return bad.tap.end()


if __name__ == "__main__":
    sys.exit(main())
