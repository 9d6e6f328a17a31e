#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `assay info`, `functions` and `disasm` to the truth, program by program.

    - check.py ASSAY OUTDIR [ROW ...]      the zoo of rows.toml, built into OUTDIR first
    - check.py ASSAY --host                programs and libraries that Debian ships

The truth is the options of the compiler (rows.toml) and the marks in the sources (`line:NAME`). It
is also the output of readelf, nm, objdump and addr2line (truth.py). Nothing is compared with an
earlier output of assay itself.
"""
import bisect
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

import build
import truth
from said import Failed, Said
from tap import Tap

HOST = (
    ("/usr/bin/python3", "Debian's python3: stripped, fixed address, exports its symbols"),
    ("/usr/bin/rg", "ripgrep: a stripped Rust program"),
    ("/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0", "libopenblas"),
    ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++: C++ with versions and ifuncs"),
    ("/lib/x86_64-linux-gnu/libc.so.6", "libc: ifuncs, aliases, a separate debug file"),
    ("/lib64/ld-linux-x86-64.so.2", "the dynamic linker: static, shared, without needed libraries"),
    ("/usr/lib/x86_64-linux-gnu/libgfortran.so.5", "libgfortran"),
)
DISASM_MOST_B = 2 << 20  # larger ones would take minutes of test time
TYPES = {"REL": "relocatable", "EXEC": "executable"}


def versions():
    """Compiler to the version it says itself, for those installed."""
    found = {}
    for name, command, pattern in (("gcc", ["gcc", "-dumpfullversion"], r"(\S+)"),
                                   ("clang", ["clang", "--version"], r"version (\d+\.\d+\.\d+)"),
                                   ("gas", ["as", "--version"], r"\) (\d[\d.]*)"),
                                   ("rustc", ["rustc", "--version"], r"rustc (\d+\.\d+\.\d+)")):
        if shutil.which(command[0]):
            text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
            m = re.search(pattern, text)
            if m:
                found[name] = m[1]
    return found


def marks(sources, kind="line"):
    """Name to the set of (source, line) that `line:NAME` (or another kind) marks in the sources."""
    found = collections.defaultdict(set)
    for source in sources:
        for n, line in enumerate((build.SRC / source).read_text().splitlines(), 1):
            m = re.search(rf"\b{kind}:(\S+)", line)
            if m:
                found[m[1]].add((source, n))
    return found


def number(value):
    """An address of a document: a number, or a string with or without 0x."""
    return value if isinstance(value, int) else int(value, 16)


class Check:
    def __init__(self, tap, said, name, path, row, compilers):
        self.tap, self.said, self.name, self.path = tap, said, name, path
        self.row, self.compilers = row, compilers
        # With a separate debug file, symbols come from there, and the code from here.
        folder = os.path.dirname(path)
        if "truth" in row:
            self.symbols_at = os.path.join(folder, row["truth"])
        else:
            name = truth.build_id(path) or "none"
            separate = f"/usr/lib/debug/.build-id/{name[:2]}/{name[2:]}.debug"
            self.symbols_at = separate if os.path.exists(separate) else path
        self.sections = truth.sections(path)

    def point(self, good, what, why=""):
        return self.tap.point(good, f"{self.name}: {what}", why)

    def equal(self, got, want, what):
        return self.tap.equal(got, want, f"{self.name}: {what}")

    def same_set(self, got, want, what):
        return self.tap.same_set(got, want, f"{self.name}: {what}")

    def all(self):
        for part in (self.info, self.units, self.functions, self.unwind, self.lines, self.disasm):
            try:
                part()
            except KeyError as e:
                self.point(False, part.__name__, f"no field {e} in the document")
            except (Failed, ValueError) as e:
                self.point(False, part.__name__, e)
                if part in (self.info, self.functions):
                    break

    # ---- info ------------------------------------------------------------------------------------

    def info(self):
        self.doc = doc = self.said.info(self.path)
        dynamic, header, row = truth.dynamic(self.path), truth.header(self.path), self.row
        kind = TYPES.get(header["type"])
        if kind is None:
            pie = dynamic["pie"] or (header["interpreter"] and not dynamic["soname"])
            kind = "pie" if pie else "shared"
        self.equal(doc["type"], row.get("type", kind), "type")
        self.equal(doc["build_id"], truth.build_id(self.path), "build-id")
        self.equal(doc["needed"], dynamic["needed"], "needed libraries")
        self.equal(doc["soname"], dynamic["soname"], "soname")
        self.equal(doc["runpath"], dynamic["runpath"], "runpath")
        self.equal(doc["interpreter"], header["interpreter"], "interpreter")
        self.equal(number(doc["entry"] or 0), header["entry"], "entry point")
        self.equal(doc["size_b"], os.path.getsize(self.path), "size of the file")
        self.equal(doc["code_b"], truth.text_bytes(self.path), "bytes of executable sections")
        names = {s.name for s in self.sections}
        self.equal(doc["stripped"], ".symtab" not in names, "stripped or not")
        if kind != "shared":
            self.equal(doc["static"], row.get("static", False), "static or not")
        self.symbol_counts()
        if "debug" in row:
            self.debug()

    def symbol_counts(self):
        here = truth.symbols(self.path)
        there = truth.symbols(self.symbols_at)
        counts = self.doc["symbols"]
        tables = [s.table for s in (there if self.symbols_at != self.path else here)]
        self.equal(counts["symtab"], tables.count(".symtab"), "entries of .symtab")
        self.equal(counts["dynsym"], [s.table for s in here].count(".dynsym"), "entries of .dynsym")

    def debug(self):
        row, debug = self.row, self.doc["debug"]
        self.equal(debug["kind"], row["debug"], "kind of debug information")
        self.equal(debug["compressed"], row.get("compressed", False), "compressed debug sections")
        self.equal(debug["split"], row.get("split", False), "split DWARF")
        self.equal(debug["split_missing"], row.get("split_missing", 0), "split units missing")
        self.equal(bool(debug["dwp_path"]), row.get("dwp", False), "package of split units")
        self.equal(bool(debug["dwz_path"]), row.get("dwz", False), "supplementary (dwz) file")
        self.equal(debug["dwz_missing"], row.get("dwz_missing", False),
                   "supplementary file missing")
        if "truth" in row:
            self.equal(os.path.realpath(debug["path"]), os.path.realpath(self.symbols_at),
                       "path of the separate debug file")
        if "section" in row:
            self.point(any(s["name"] == row["section"] for s in self.doc["sections"]),
                       f"section {row['section']} is there")

    def units(self):
        for want in self.row.get("units", ()):
            found = [u for u in self.doc["units"]  # rustc names them SOURCE/@/UNIT
                     if os.path.basename((u["name"] or "").split("/@/")[0]) == want["name"]]
            what = f"unit {want['name']}"
            if not self.point(found, f"{what} is there", [u["name"] for u in self.doc["units"]]):
                continue
            unit = found[0]
            self.equal(unit["language"], want["language"], f"{what}: language")
            self.equal(unit["compiler"], want["compiler"], f"{what}: compiler")
            if want["compiler"] in self.compilers:
                self.equal(unit["compiler_version"], self.compilers[want["compiler"]],
                           f"{what}: version of the compiler")
            if "dwarf" in want:
                self.equal(unit["dwarf_version"], want["dwarf"], f"{what}: version of DWARF")
            if "flags" in want:
                flags = (unit["flags"] or "").split()
                self.point(all(f in flags for f in want["flags"]),
                           f"{what}: flags {' '.join(want['flags'])}", f"flags: {unit['flags']}")

    # ---- functions -------------------------------------------------------------------------------

    def shift(self, section):
        """Returns the number that assay adds to the addresses of a section: it lays out relocatable
        files itself."""
        if self.doc["type"] != "relocatable":
            return 0
        return next(number(s["address"]) for s in self.doc["sections"] if s["name"] == section)

    def place(self, function):
        """(section index, offset or address) of a function, as the symbol table has it."""
        name = function["section"]
        index = next((s.index for s in self.sections if s.name == name and "X" in s.flags), None)
        return index, number(function["address"]) - self.shift(name)

    def functions(self):
        self.said_functions = found = self.said.functions(self.path)
        starts = [number(f["address"]) for f in found]
        self.point(starts == sorted(set(starts)), "functions are sorted and none is there twice")
        self.point(all(f["size_b"] > 0 for f in found), "every function has a size",
                   [f["linkage_name"] for f in found if f["size_b"] <= 0][:10])
        code = truth.code(self.symbols_at)
        for key, names in truth.code(self.path).items():
            code[key].update(names)
        placed = {self.place(f): f for f in found}
        named = {k: f for k, f in placed.items() if f["origin"] == "symbol"}
        wanted = {k for k in code}
        self.same_set(named, wanted, f"{len(wanted)} functions with a symbol, no other")
        wrong = []
        for key, names in code.items():
            f = placed.get(key)
            if not f:
                continue
            size = max(names.values())
            if f["linkage_name"] not in names:
                wrong.append(f"{key[1]:#x}: name {f['name']}, symbols {sorted(names)}")
            if size and f["size_b"] != size:
                wrong.append(f"{f['name']}: size {f['size_b']}, symbol {size}")
            if f["aliases"] != len(names) - 1:
                wrong.append(f"{f['name']}: {f['aliases']} aliases, symbols {sorted(names)}")
        self.point(not wrong, "name, size and aliases of every function", "\n".join(wrong))
        stubs, ours = truth.plt(self.path), self.placed_stubs()
        if stubs or not self.row.get("static"):
            self.same_set(ours, stubs, f"{len(stubs)} linkage stubs")
        else:  # objdump finds no stubs without symbols in a static program
            areas = [(s.address, s.address + s.size) for s in self.sections if ".plt" in s.name]
            self.point(all(any(a <= x < b for a, b in areas) for x in ours),
                       f"{len(ours)} linkage stubs stand in sections for them")
        wrong = [f"{a:#x}: {n}" for a, n in stubs.items() if not n.startswith("*ABS*") and
                 not any(number(f["address"]) == a and f["linkage_name"] == n for f in found)]
        self.point(not wrong, "names of the linkage stubs", "\n".join(wrong))
        self.readable_names()
        for name in self.row.get("names", ()):
            self.point(any(f["linkage_name"] == name for f in found), f"function {name} is there")
        for name in self.row.get("parts", ()):
            self.point(any(f["linkage_name"] == name and f["part"] for f in found),
                       f"{name} is a part of another function")

    def placed_stubs(self):
        return {number(f["address"]) for f in self.said_functions if f["origin"] == "plt"}

    def readable_names(self):
        """C++ as c++filt has it, module procedures of Fortran as MODULE::NAME."""
        links = [f["linkage_name"] for f in self.said_functions if f["origin"] == "symbol"]
        want = {n: d for n, d in truth.demangle(links).items()
                if n.startswith("_Z") and not re.search(r"17h[0-9a-f]{16}E", n) and
                not re.search(r"std::basic_\w*(string|stream)\b", d)}
        for name in links:
            m = re.match(r"__(\w+?)_MOD_(\w+)$", name)
            if m:
                want[name] = f"{m[1]}::{m[2]}"
        wrong = [f"{f['linkage_name']}: {f['name']}, not {want[f['linkage_name']]}"
                 for f in self.said_functions
                 if want.get(f["linkage_name"], f["name"]) != f["name"]]
        if want:
            self.point(not wrong, f"readable names of {len(want)} functions", "\n".join(wrong))

    def unwind(self):
        if self.doc["type"] == "relocatable":
            return
        starts = sorted((number(f["address"]), number(f["address"]) + f["size_b"])
                        for f in self.said_functions)
        stubs = [(s.address, s.address + s.size) for s in self.sections if ".plt" in s.name]
        uncovered, ranges = [], truth.unwind(self.path)
        for start, end in ranges:
            if start == end or any(a <= start < b for a, b in stubs):
                continue
            i = bisect.bisect_right(starts, (start, 1 << 64)) - 1
            if i < 0 or start >= starts[i][1]:
                uncovered.append(f"{start:#x}-{end:#x}")
        self.point(not uncovered, f"{len(ranges)} unwind ranges start in a function",
                   "\n".join(uncovered))
        known = {number(f["address"]) for f in self.said_functions}
        if self.doc["stripped"] and self.symbols_at == self.path:
            symbols = {a for _, a in truth.code(self.path)}
            first = [s for s, e in ranges if s != e and not any(a <= s < b for a, b in stubs)]
            inside = self.inside_symbols(first)
            missing = [f"{a:#x}" for a in first if a not in known and a not in inside]
            self.point(not missing, f"{len(set(first) - symbols)} functions known by unwind "
                       "information alone", "\n".join(missing))

    def inside_symbols(self, addresses):
        """Those addresses that lie inside, not at the start of, a symbol with a size."""
        spans = sorted((a, a + max(n.values())) for (_, a), n in truth.code(self.path).items())
        found = set()
        for address in addresses:
            i = bisect.bisect_right(spans, (address, 0)) - 1
            if i >= 0 and spans[i][0] < address < spans[i][1]:
                found.add(address)
        return found

    def lines(self):
        """Source and line of every function that a mark names."""
        if not self.row.get("lines", True) or not self.row.get("must"):
            return
        marked, code = marks(self.row["source"]), truth.code(self.symbols_at)
        readable = truth.demangle([n for names in code.values() for n in names])
        seen, wrong = set(), []
        for f in self.said_functions:
            if f["part"]:
                continue
            names = [n for n in code.get(self.place(f), ())
                     if re.match(self.row.get("scope", ""), readable[n])]
            for word in {truth.base_name(n, readable[n]) for n in names} & set(marked):
                seen.add(word)
                got = (os.path.basename(f["file"] or ""), f["line"])
                if got not in marked[word]:
                    wrong.append(f"{f['linkage_name']}: {got}, marked {marked[word]}")
                elif not os.path.exists(f["file"]):
                    wrong.append(f"{f['linkage_name']}: the file {f['file']} is not there")
        missing = [w for w in self.row["must"] if w not in seen]
        self.point(not wrong and not missing, f"source lines of {len(seen)} marked functions",
                   "\n".join(wrong + [f"missing: {w}" for w in missing]))

    # ---- disasm ----------------------------------------------------------------------------------

    def disasm(self):
        """Boundaries against objdump, lines against addr2line, section by section."""
        if self.doc["code_b"] > DISASM_MOST_B:
            return  # tests/unit/isa compares all of libopenblas
        theirs = truth.instructions(self.path)
        with_lines = self.row.get("debug") in ("embedded", "separate")
        for s in self.sections:
            if "X" not in s.flags or s.type == "NOBITS" or not s.size:
                continue
            shift = self.shift(s.name)
            start = s.address + shift
            ours = {number(r["address"]) - shift: r
                    for r in self.said.rows(self.path, start, start + s.size)}
            spans = [(address, address + f["size_b"]) for f in self.said_functions
                     for index, address in [self.place(f)] if index == s.index]
            inside = [a for a in theirs[s.name] if within(spans, a)]
            own = [a for a in ours if within(spans, a)]
            self.same_set(own, inside, f"{len(inside)} instructions of {s.name} start where "
                          "objdump says")
            if "inlined" in self.row and s.name == ".text":
                self.inlined(ours.values())
            if with_lines and s.name.startswith(".text"):
                self.compare_lines(s.name, ours, inside)

    def inlined(self, rows):
        """Each function of `inlined` was inlined from the line that its call is marked at."""
        calls = marks(self.row["source"], "call")
        said = {one for r in rows for one in r["inlined"].split(";")}
        for name in self.row["inlined"]:
            want = {f"{source}:{line}" for source, line in calls[name]}
            places = {one.rsplit("/", 1)[-1] for one in said
                      if re.search(rf"\b{name}\b", one.split(" at ")[0])}
            self.point(want and want <= places, f"{name} is inlined from its marked call",
                       f"got {sorted(places)}, marked {sorted(want)}")

    def compare_lines(self, section, ours, addresses):
        some = addresses[::max(1, len(addresses) // 4000)]
        wrong = []
        section_of = section if self.doc["type"] == "relocatable" else None
        theirs = truth.lines(self.path, some, section_of)
        for address in some:
            r = ours.get(address, {})
            line = int(r.get("line") or 0)
            got = (os.path.basename(r.get("file") or "") if line else None, line)
            if got not in theirs[address]:
                wrong.append(f"{address:#x}: {got}, addr2line {theirs[address]}")
        self.point(not wrong, f"source lines of {len(some)} instructions of {section} as addr2line "
                   "says", f"{len(wrong)} differ\n" + "\n".join(wrong))


def within(spans, address):
    i = bisect.bisect_right(spans, (address, 1 << 64)) - 1
    return i >= 0 and address < spans[i][1]


def check_zoo(tap, assay, outdir, names):
    table, compilers = build.rows(), versions()
    built = build.build(outdir, names)
    for name, trouble in built.items():
        row = table[name]
        if trouble and trouble[0] == "skip":
            tap.skip(f"{name}: {row['what']}", trouble[1])
            continue
        if not tap.point(not trouble, f"{name}: builds ({row['what']})", trouble and trouble[1]):
            continue
        options = []
        if "source_map" in row:
            options = ["--source-map", row["source_map"].format(src=build.SRC)]
        path = str(pathlib.Path(outdir).resolve() / name / row.get("file", "a.out"))
        Check(tap, Said(assay, *options), name, path, row, compilers).all()


def check_host(tap, assay):
    for path, what in HOST:
        if not os.path.exists(path):
            tap.skip(f"{path}: {what}", "not installed")
            continue
        Check(tap, Said(assay), path, os.path.realpath(path), {}, {}).all()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tap = Tap()
    assay = os.path.abspath(sys.argv[1])
    if sys.argv[2] == "--host":
        check_host(tap, assay)
    else:
        check_zoo(tap, assay, sys.argv[2], sys.argv[3:])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
