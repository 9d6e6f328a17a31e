#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the verdicts on vectors to the compilers' own records.

    suite.py DUMP RECORDS ASSAY OUTDIR [BUILD ...]

Each loop of src/ that counts has a mark on its first line:

    loop ELEMENT[: WORD ...]

ELEMENT is the widest type it works on (f64, i16, ...). WORDs are the obstacles that must be named
with evidence whenever the loop is left scalar; `free` says that nothing is in its way but what the
code cannot tell (overlap). A loop with `alias` needs a choice at run time when it is vectorised.
Every build records the loops that the compiler vectorised. The verdict from the binary alone must
agree for at least 98 % of the loops. Each difference stands in known.txt with its cause. RECORDS is
our own reader of those records. Its results must equal those of expressions here, in each form that
a compiler writes. `assay cqa` must have a verdict on every loop of each build. It must not
recommend an option that the build was given.
"""
import fnmatch
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))
import tap as tap_module  # noqa: E402

# Name, compiler, flags, register width in bytes that the compiler uses, language.
BUILDS = [(f"{name}-{level}", compiler, flags, width, suffix)
          for name, compiler, suffix in (("gcc", "gcc", "c"), ("clang", "clang", "c"),
                                         ("gfortran", "gfortran", "f90"))
          for level, flags, width in (("O2", "-O2", 16), ("O3", "-O3", 16),
                                      ("v3", "-O3 -march=x86-64-v3", 32),
                                      ("fast", "-O3 -ffast-math", 16))]
PACKED = {"gcc-O3", "gfortran-v3"}  # builds that write gcc's packed JSON as well
MOST_DIFFERENT = 0.02
OBSTACLES = {"call", "chain", "reduction", "stride", "indirect", "ways", "exits", "alias"}


class Mark:
    def __init__(self, path, line, function, match):
        self.file, self.line, self.function = path.name, line, function
        self.element_b = int(match[2]) // 8
        self.words = set((match[3] or "").split())
        assert self.words <= OBSTACLES | {"free"}, (path, line)


def marks_of(sources):
    marks = []
    for path in sources:
        ends, function = [], ""
        for number, text in enumerate(path.read_text().splitlines(), 1):
            m = re.search(r"[/!]\*? loop ([fi])(\d+)(?:: ([a-z ]+?))?(?: \*/)?$", text)
            begin = (re.match(r"\w[^;=]*?(\w+)\(", text)
                     or re.match(r".*(?:subroutine|function) (\w+)\(", text))
            function = begin[1] if begin else function
            if m:
                marks.append(Mark(path, number, function, m))
                ends.append(marks[-1])
            if re.match(r"}|\s*end (?:subroutine|function)", text):
                for mark in ends:
                    mark.end = number
                ends = []
    return marks


# ---- What the compilers say --------------------------------------------------------------------

def gcc_record(text):
    """{(file, line): widths in bytes} of loops, and the same of statements put together."""
    loops, blocks = {}, {}
    for m in re.finditer(r"([^/\n]+):(\d+):\d+: optimized: (loop|basic block part) vectorized "
                         r"using (\d+) byte vectors", text):
        kind = loops if m[3] == "loop" else blocks
        kind.setdefault((m[1], int(m[2])), set()).add(int(m[4]))
    return loops, blocks


def clang_record(text):
    """{(file, line): vectorisation factors}, and the functions in which statements were put
    together (such remarks often have no line)."""
    loops, blocks = {}, set()
    for remark in text.split("\n--- "):
        place = re.search(r"^DebugLoc:\s*{ File: '?([^',]+)'?,\s*Line: (\d+)", remark, re.M)
        if not remark.lstrip("- ").startswith("!Passed"):
            continue
        factor = re.search(r"VectorizationFactor:\s*'?(\d+)", remark)
        if "Pass:            loop-vectorize" in remark and factor:
            at = (pathlib.Path(place[1]).name, int(place[2]))
            loops.setdefault(at, set()).add(int(factor[1]))
        elif "Pass:            slp-vectorizer" in remark:
            blocks.add(re.search(r"^Function:\s*(\S+)", remark, re.M)[1])
    return loops, blocks


def compile_suite(build, sources, out):
    """Builds into `out`; returns the program and the compiler's record."""
    name, compiler, flags, _, _ = build
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "main.c").write_text("int main(void) { return 0; }\n")
    command = [compiler, "-g", *flags.split(), "-c", *map(str, sources)]
    if compiler == "clang":
        command += ["-fsave-optimization-record", "-grecord-command-line"]
    else:
        command += ["-fopt-info-vec-optimized-missed=record.txt"]
        command += ["-fsave-optimization-record"] if name in PACKED else []
    subprocess.run(command, cwd=out, check=True)
    objects = sorted(str(p) for p in out.glob("*.o"))
    subprocess.run([compiler, "-o", "suite", "main.c", *objects, "-lm"], cwd=out, check=True)
    if compiler == "clang":
        return clang_record("\n".join(p.read_text() for p in sorted(out.glob("*.opt.yaml"))))
    return gcc_record((out / "record.txt").read_text())


# ---- What the binary says ------------------------------------------------------------------------

class Found:
    """The loops of the binary that one marked loop became."""

    def __init__(self, mark, loops):
        self.loops = [l for l in loops if l["file"] == mark.file
                      and mark.line <= l["lines"][1] and l["lines"][0] <= mark.end]
        self.main = [l for l in self.loops if l["role"] == "main"]
        best = sorted(self.main, key=lambda l: (l["packed"] > 0, l["packed"] + l["scalar"]))
        self.best = best[-1] if best else None

    @property
    def vectorised(self):
        return any(l["packed"] for l in self.main)


def loops_of(dump, program):
    text = subprocess.run([dump, program], check=True, capture_output=True, text=True).stdout
    return json.loads(text)


def recorded(mark, record):
    return {width for (file, line), widths in record.items()
            if file == mark.file and mark.line <= line <= mark.end for width in widths}


def same_width(build, mark, found, widths):
    """Checks the width of the vectors of the main loop."""
    _, compiler, _, register_b, _ = build
    if compiler == "clang":
        want = {min(register_b, factor * mark.element_b) for factor in widths}
    else:
        want = {max(widths)}
    return found.best["width"] in want


# ---- What our reader says of the records ---------------------------------------------------------

def read_records(records, paths):
    """{(file, line): widths or factors} of loops."""
    run = subprocess.run([records, *paths], check=True, capture_output=True, text=True)
    loops = {}
    for row in run.stdout.splitlines():
        file, line, kind, vector, width, lanes, _, _, text = row.split("\t", 8)
        number = int(width) or int(lanes)
        if kind == "done" and vector == "1" and number and "basic block" not in text:
            loops.setdefault((pathlib.Path(file).name, int(line)), set()).add(number)
    return loops


def check_reader(tap, build, records, out, said):
    name, compiler, _, _, _ = build
    forms = {"YAML": sorted(out.glob("*.opt.yaml"))} if compiler == "clang" else {
        "text": [out / "record.txt"], "JSON": sorted(out.glob("*.json.gz"))}
    for form, paths in forms.items():
        if paths:
            tap.equal(read_records(records, paths), said, f"{name}: the record as {form}")


# ---- The test --------------------------------------------------------------------------------

class Known:
    """Lines of known.txt: BUILD FUNCTION: cause; of BUILD `*` stands for any part."""

    def __init__(self):
        rows = re.findall(r"^([\w*-]+) (\w+): \S", (HERE / "known.txt").read_text(), re.M)
        self.rows = {row: set() for row in rows}

    def has(self, build, function):
        hits = [row for row in self.rows if row[1] == function and fnmatch.fnmatch(build, row[0])]
        for row in hits:
            self.rows[row].add(build)
        return bool(hits)

    def unused(self):
        return [" ".join(row) for row, builds in self.rows.items() if not builds]


def reasons_wrong(mark, found):
    """Returns an error in the reasons of a loop that was left scalar."""
    named = {r["obstacle"] for l in found.main for r in l["reasons"]}
    bare = [r["obstacle"] for l in found.main for r in l["reasons"] if not r["at"]]
    if bare:
        return f"no evidence of {bare}"
    if "free" in mark.words:
        return f"named {sorted(named - {'overlap'})}" if named - {"overlap"} else ""
    want = mark.words - {"alias"}
    if "alias" in mark.words and not named & {"alias", "overlap"}:
        want |= {"overlap"}
    return f"not named {sorted(want - named)} but {sorted(named)}" if want - named else ""


# ---- What assay cqa says -------------------------------------------------------------------------

def check_reports(tap, build, marks, assay, program):
    name, _, flags, _, _ = build
    command = [assay, "cqa", "--machine", "emeraldrapids", "--level", "gain,potential,hint"]
    run = subprocess.run([*command, "--format", "json", program], check=True, capture_output=True,
                         text=True)
    loops = json.loads(run.stdout)["loops"]
    at = {(l["file"] and pathlib.Path(l["file"]).name, line) for l in loops
          for line in range(l["first_line"], l["last_line"] + 1)}
    without = [m.function for m in marks
               if not any((m.file, line) in at for line in range(m.line, m.end + 1))]
    bare = [hex(int(l["address"], 16)) for l in loops
            if not l["mean"] or not l["mean"]["metrics"]["cycles"] > 0
            or not all(v["why"] for v in l["mean"]["what_if"].values())]
    tap.point(not without and not bare, f"{name}: a report on every loop", f"{without} {bare}")
    text = subprocess.run([*command, program], check=True, capture_output=True, text=True).stdout
    # The list of given options is not a recommendation.
    text = re.sub(r"its\s+options\s+\([^)]*\)", "", text)
    given = [f for f in flags.split() if re.search(rf"{re.escape(f)}(?![\w=-])", text)]
    given += ["-march=native"] if "-march" in flags and "-march=native" in text else []
    tap.point(not given, f"{name}: no option recommended that was given", " ".join(given))
    want = {"-O3"} if "-O2" in flags else set()
    want |= {"-march=native"} if "-march" not in flags else set()
    tap.point(want <= set(re.findall(r"^  - (-\S+):", text, re.M)),
              f"{name}: options that are missing", " ".join(want))


def check_build(tap, build, marks, tools, out, known):
    sources = sorted({HERE / "src" / m.file for m in marks})
    name = build[0]
    loops_said, blocks_said = compile_suite(build, sources, out)
    loops = loops_of(tools[0], out / "suite")
    check_reader(tap, build, tools[1], out, loops_said)
    check_reports(tap, build, marks, tools[2], out / "suite")
    different, widths, causes, aliases, none = [], [], [], [], []
    for mark in marks:
        found = Found(mark, loops)
        key = mark.function
        said = recorded(mark, loops_said)
        if not found.main:
            none.append((key, "no loop"))
            continue
        together = (recorded(mark, blocks_said) if isinstance(blocks_said, dict)
                    else blocks_said & {l["function"] for l in found.main})
        if found.vectorised != bool(said or together):
            state = "vector" if found.vectorised else "scalar"
            different.append((key, f"{state}, recorded {said}"))
        elif said and not same_width(build, mark, found, said):
            widths.append((key, f"{found.best['width']} B, recorded {said}"))
        if not found.vectorised and reasons_wrong(mark, found):
            causes.append((key, reasons_wrong(mark, found)))
        versions = any(r["obstacle"] == "alias" for l in found.loops for r in l["reasons"])
        if said and found.vectorised and versions != ("alias" in mark.words):
            aliases.append((key, "versions" if versions else "no versions"))
    for title, rows in (("vectorised as recorded", different), ("as wide as recorded", widths),
                        ("what stands in the way", causes), ("choices at run time", aliases),
                        ("a verdict on every loop", none)):
        why = "\n".join(f"{key}: {text}" for key, text in rows if not known.has(name, key))
        tap.point(not why, f"{name}: {title}", why)
    return len(different) + len(widths)


def main():
    tools, out = sys.argv[1:4], pathlib.Path(sys.argv[4])
    tap = tap_module.Tap()
    known = Known()
    told = different = 0
    marks = {suffix: marks_of(sorted((HERE / "src").glob(f"*.{suffix}")))
             for suffix in ("c", "f90")}
    tap.point(sum(map(len, marks.values())) >= 120, "120 loops and more")
    for build in BUILDS:
        name, compiler, _, _, suffix = build
        if sys.argv[5:] and name not in sys.argv[5:]:
            continue
        if not shutil.which(compiler):
            tap.skip(name, f"no {compiler}")
            continue
        different += check_build(tap, build, marks[suffix], tools, out / name, known)
        told += len(marks[suffix])
    if not sys.argv[5:]:
        tap.point(different <= MOST_DIFFERENT * told,
                  f"{different} of {told} loops told differently")
    if not sys.argv[5:] and all(map(shutil.which, ("gcc", "clang", "gfortran"))):
        tap.point(not known.unused(), "every known difference is one", "\n".join(known.unused()))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
