#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the analysis of code with programs with loops known by construction, with the compiler's
own assembly, and with execution.

    - truth.py ASSAY STEP DUMP OUTDIR [ROW ...]    rows of rows.toml
    - truth.py ASSAY STEP DUMP --host              programs of the system, run step by step

Marks in the sources (where a mark stands is where it holds):
    - LOOP function level depth [entered=N] [times=N] [left=N]
    - LOOPS function loops irreducible           ("-" = not said)
    - NORETURN function
    - OUTLINED function bodies
"""
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))
import build  # noqa: E402
import tap as tap_module  # noqa: E402

build.HERE, build.SRC = HERE, HERE / "src"
MOST_STEPS = 400_000

# Short runs of programs of the system, and how many steps of each are looked at.
HOST = [
    ("/bin/ls /", 60_000),
    ("/usr/bin/gzip -c /etc/passwd", 60_000),
    ("/usr/bin/sort /etc/passwd", 60_000),
    ("/usr/bin/sed -n s/a\\(b\\)*/c/p /etc/passwd", 100_000),
    ("/usr/bin/grep -E (a|b)+c /etc/passwd", 100_000),
    ("/bin/bash --norc -c for((i=0;i<5;i++));do(:);done", 100_000),
    ("/usr/bin/perl -e print(join(q(,),map{$_*2}1..5))", 150_000),
    ("/usr/bin/python3 -I -S -c pass", 200_000),
    ("/usr/bin/objdump -h /bin/true", 60_000),
]


def run(command, **more):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)


class Marks:
    def __init__(self, path):
        self.loops = []
        self.counts = {}
        self.noreturn = []
        self.outlined = {}
        for number, text in enumerate(path.read_text().splitlines(), 1):
            m = re.search(r"LOOP (\S+) (single|outermost|between|innermost) (\d)(.*)", text)
            if m:
                facts = dict(re.findall(r"(\w+)=(\d+)", m[4]))
                self.loops.append({"function": m[1], "level": m[2], "depth": int(m[3]),
                                   "line": number} | {k: int(v) for k, v in facts.items()})
            m = re.search(r"LOOPS (\w+) (\S+) (\S+)", text)
            if m and m[2] != "loops":
                self.counts[m[1]] = (m[2], m[3])
            m = re.search(r"NORETURN (\w+)", text)
            if m:
                self.noreturn.append(m[1])
            m = re.search(r"OUTLINED (\w+) (\d)", text)
            if m:
                self.outlined[m[1]] = int(m[2])


def tables_of_assembly(path):
    """Per function, the sets of labels of the tables that it names."""
    tables, uses, function, table = {}, {}, None, None
    for line in path.read_text().splitlines():
        label = re.match(r"\s*([.\w$]+):", line)
        entry = re.match(r"\s*\.(?:long|quad)\s+([.\w$]+)(?:-[.\w$]+)?\s*(?:#.*)?$", line)
        if label:
            table = label[1]
        elif entry and table and not entry[1].isdigit():
            tables.setdefault(table, []).append(entry[1])
        typed = re.match(r"\s*\.type\s+([\w.$]+),\s*@function", line)
        if typed:
            function = typed[1]
        elif re.match(r"\s*\.size\s", line):
            function = None
        elif not entry and function:
            uses.setdefault(function, set()).update(re.findall(r"[.\w$]+", line))
    return {f: [set(tables[t]) for t in sorted(used & tables.keys()) if len(tables[t]) > 2]
            for f, used in uses.items()}


class Truth:
    def __init__(self, assay, step, dump):
        self.assay, self.step, self.dump = assay, step, dump
        self.tap = tap_module.Tap()

    def stepped(self, command, most):
        got = run([self.step, most] + command, timeout=800)
        if got.returncode != 0:
            return None, got.stderr.strip()
        return json.loads(got.stdout), ""

    def dumped(self, path):
        return json.loads(run([self.dump, path]).stdout)

    # ---- Execution ------------------------------------------------------------------------

    def executed(self, name, command, most, unresolved=0, status=None):
        said, why = self.stepped(command, most)
        if said is None:
            if "ptrace" in why:
                self.tap.skip(f"{name}: executed", why)
            else:
                self.tap.point(False, f"{name}: executed", why)
            return None
        self.tap.point(said["bad"] == [] and said["steps"] > 50,
                       f"{name}: every executed transfer is one of the analysis",
                       "\n".join(f"{b['from']} -> {b['to']}: {b['why']}" for b in said["bad"]))
        some = said["unresolved"]
        self.tap.point(some == unresolved,
                       f"{name}: jumps executed that are marked unresolved: {some}")
        if status is not None:
            self.tap.equal(said["status"], status, f"{name}: runs to its end")
        return said

    def host(self):
        for command, most in HOST:
            words = command.split(" ")
            if pathlib.Path(words[0]).exists():
                self.executed(words[0], words, most)
            else:
                self.tap.skip(words[0], "not installed")

    # ---- Construction ---------------------------------------------------------------------

    def covers(self, loop, source, line):
        for text in loop["source"]:
            file, _, lines = text.rpartition(":")
            first, _, last = lines.partition("-")
            if file.endswith("/" + source) and int(first) <= line <= int(last or first):
                return True
        return False

    def by_construction(self, name, row, folder, marks, said):
        got = run([self.assay, "loops", "--format", "json", "--no-demangle", folder / "p"])
        loops = json.loads(got.stdout)["loops"]
        two = run([self.assay, "loops", "--format", "json", "--no-demangle", "--jobs", "1",
                   folder / "p"])
        self.tap.point(got.stdout == two.stdout, f"{name}: one thread says the same, byte by byte")
        if not row.get("exact"):
            # The compiler may unroll a loop of main to nothing, because its trip count is known.
            lost = [m for m in marks.loops if m["function"] != "main" and
                    not any(self.covers(l, row["source"], m["line"]) for l in loops)]
            self.tap.point(not lost, f"{name}: every marked line is in a loop",
                           "\n".join(map(str, lost)))
            return
        functions = {m["function"] for m in marks.loops}
        unsaid = set(marks.counts) # how many there are, if anything, is said below
        ours = [l for l in loops if any(row["source"] in s for s in l["source"])]
        extra = [l["address"] for l in ours if l["linkage_name"] not in functions | unsaid]
        runs = {l["address"]: l for l in said["loops"]} if said else {}
        wrong = []
        for f in sorted(functions):
            want = [m for m in marks.loops if m["function"] == f]
            have = [l for l in loops if l["linkage_name"] == f]
            if len(want) != len(have):
                wrong.append(f"{f}: {len(have)} loops, marked {len(want)}")
            for m in want:
                fit = [l for l in have if l["level"] == m["level"] and l["depth"] == m["depth"]
                       and self.covers(l, row["source"], m["line"])]
                # Several of one level: the loop with the fewest lines around the mark.
                fit.sort(key=lambda l: (l["last_line"] or 0) - (l["first_line"] or 0))
                if not fit:
                    wrong.append(f"{f}: no loop for the mark at line {m['line']}: " + ", ".join(
                        f"{l['address']} {l['level']} {l['source']}" for l in have))
                    continue
                have.remove(fit[0])
                wrong += self.trips(m, fit[0], runs)
        self.tap.point(not wrong, f"{name}: loops, nesting, lines and iterations are as marked",
                       "\n".join(wrong))
        self.tap.point(not extra, f"{name}: no loop that is not marked", "\n".join(extra))

    def trips(self, mark, loop, runs):
        """Tested at its head, a loop goes back as often as it iterates, but for the iterations that
        leave it; tested at its end, once less for each time it is entered."""
        if "entered" not in mark or not runs:
            return []
        ran = runs.get(loop["address"], {"entered": 0, "back": 0})
        wrong = []
        if ran["entered"] != mark["entered"]:
            wrong.append(f"line {mark['line']}: entered {ran['entered']} times, not "
                         f"{mark['entered']}")
        if "times" in mark:
            want = {mark["times"] - mark.get("left", 0), mark["times"] - mark["entered"]}
            if ran["back"] not in want:
                wrong.append(f"line {mark['line']}: {ran['back']} times back, not {want}")
        return wrong

    def bodies(self, name, marks, dump):
        body = {b["name"]: b for b in dump["bodies"]}
        for f in marks.noreturn:
            found = [b for n, b in body.items() if re.search(rf"(^|\d){f}[a-z]?$", n)]
            self.tap.point(found and all(b["noreturn"] for b in found),
                           f"{name}: {f} does not return")
        for f, count in marks.outlined.items():
            children = [b for b in dump["bodies"] if b["parent"] == f and b["outlined"]]
            self.tap.point(len(children) >= count, f"{name}: the outlined body of {f} is linked")
        for f, (loops, irreducible) in marks.counts.items():
            have = [l for l in dump["loops"] if l["body"] == f]
            if loops != "-":
                self.tap.equal(len(have), int(loops), f"{name}: loops of {f}")
            if irreducible != "-":
                self.tap.equal(sum(l["irreducible"] for l in have), int(irreducible),
                               f"{name}: irreducible loops of {f}")

    # ---- The same program, changed --------------------------------------------------------

    def same(self, name, row, folder, dump):
        least = row.get("found", [1, 1])
        entries = {b["entry"] for b in dump["bodies"]}
        loops = {(l["address"], l["depth"], l["level"]) for l in dump["loops"]}
        for other in row.get("same", []):
            got = self.dumped(folder / other)
            found = {b["entry"] for b in got["bodies"]}
            both = len(found & entries)
            recall, precision = both / len(entries), both / len(found)
            self.tap.point(recall >= least[0] and precision >= least[1],
                           f"{name}: bodies of the {other} program: recall {recall:.4f}, "
                           f"precision {precision:.4f}",
                           f"missing {sorted(map(hex, entries - found))[:20]}\n"
                           f"too many {sorted(map(hex, found - entries))[:20]}")
            seen = {(l["address"], l["depth"], l["level"]) for l in got["loops"]}
            if least == [1, 1]:
                self.tap.same_set(seen, loops, f"{name}: loops of the {other} program")
            else:
                self.tap.point(loops <= seen, f"{name}: loops of the {other} program",
                               str(sorted(loops - seen)[:10]))

    def jump_tables(self, name, row, folder, dump):
        address = {}
        for line in run(["nm", folder / "p"]).stdout.splitlines():
            words = line.split()
            if len(words) == 3:
                address[words[2]] = int(words[0], 16)
        wrong, count = [], 0
        bodies = {b["name"] for b in dump["bodies"]}
        for function, tables in tables_of_assembly(folder / row["asm"]).items():
            want = {frozenset(address.get(t, -1) for t in table) for table in tables}
            have = {frozenset(j["targets"]) for j in dump["jumps"] if j["body"] == function
                    and not j["tail"]}
            if function not in bodies and tables:
                wrong.append(f"{function}: no body")
            elif want != have:
                wrong.append(f"{function}: the compiler's tables "
                             f"{[sorted(map(hex, t)) for t in want - have]}, found "
                             f"{[sorted(map(hex, t)) for t in have - want]}")
            count += len(want)
        self.tap.point(not wrong and count >= 7,
                       f"{name}: {count} tables have the targets that the compiler wrote",
                       "\n".join(wrong))

    def row(self, name, row, built, folder):
        if built and built[0] == "skip":
            self.tap.skip(name, built[1])
            return
        if not self.tap.point(not built, f"{name}: builds", built and built[1]):
            return
        marks = Marks(HERE / "src" / row["source"])
        dump = self.dumped(folder / "p")
        said = self.executed(name, [folder / "p"], MOST_STEPS, row.get("unresolved", 0),
                             None if "static" in name else row.get("status", 0))
        if any("-g" in c.split() for c in row["build"]) and marks.loops:
            self.by_construction(name, row, folder, marks, said)
        self.bodies(name, marks, dump)
        self.same(name, row, folder, dump)
        if "asm" in row:
            self.jump_tables(name, row, folder, dump)


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    truth = Truth(*sys.argv[1:4])
    if sys.argv[4] == "--host":
        truth.host()
    else:
        outdir = pathlib.Path(sys.argv[4]).resolve()
        table = build.rows()
        for name, built in build.build(outdir, sys.argv[5:]).items():
            truth.row(name, table[name], built, outdir / name)
    return truth.tap.end()


if __name__ == "__main__":
    sys.exit(main())
