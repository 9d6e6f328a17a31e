#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What-if against reality: gains of changes of a loop that `assay cqa` predicts, against measured
gains (loops.c; data in the first level of the cache).

    - truth.py check ASSAY OUT            # recorded code and times, on the table of each core
    - truth.py measure ASSAY OUT          # the same code, measured here, on this machine's table
    - truth.py record ASSAY OUT [TABLE]   # the same, kept as times of this core

recorded/ has the assembly of both forms as gcc wrote it. So predictions do not depend on the
installed compiler. Missing assembly is compiled. recorded/ also has times-TABLE.txt of each core:
host, date, table, and for each form nanoseconds per element of the source. It has cycles if they
were measured: predictions are cycles, and wide vectors lower the clock of some cores. A pair may be
15 % off; known.txt names the others, each with its cause.
"""
import datetime
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = HERE / "recorded"
sys.path.insert(0, str(HERE.parent / "zoo"))
import tap as tap_module  # noqa: E402

WITHIN = 0.15
FEWEST = 20
COMMON = ["-O2", "-g0", "-S", "-fno-math-errno", "-fno-tree-loop-distribute-patterns",
          "-fno-asynchronous-unwind-tables", "-fcf-protection=none", "-march=x86-64-v4"]
FORMS = {"scalar": ["-fno-tree-vectorize"],
         "whole": ["-O3", "-mprefer-vector-width=512", "-ffinite-math-only", "-fno-signed-zeros",
                   "-fassociative-math", "-fno-trapping-math", "-D", "FORM(name)=whole_##name"]}


class Pair:
    def __init__(self, name, variant, other):
        self.name, self.variant = name, variant
        self.other = other or f"whole_{name}"


def pairs():
    text = (HERE / "loops.c").read_text()
    found = [Pair(*m) for m in re.findall(r"pair (\w+): (\w+)(?: to (\w+))? \*/", text)]
    assert len({p.name for p in found}) == len(found)
    return found


def forms(every):
    return [name for pair in every for name in (pair.name, pair.other)]


# ---- Code ----------------------------------------------------------------------------------------

def compile_forms(to):
    for form, flags in FORMS.items():
        subprocess.run(["gcc", *COMMON, *flags, "-o", to / f"{form}.s", HERE / "loops.c"],
                       check=True)
        text = (to / f"{form}.s").read_text()
        text = re.sub(r"\t\.(file|ident)\t.*\n", "", text)
        head = "# Made of loops.c by truth.py record: " + " ".join(
            f"'{f}'" if "(" in f else f for f in COMMON + flags) + "\n"
        (to / f"{form}.s").write_text(head + text)


def assemble(code, out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    subprocess.run(["gcc", "-shared", "-nostdlib", "-o", out / "forms.so",
                    *(code / f"{form}.s" for form in FORMS)], check=True)
    return out / "forms.so"


# ---- What is measured ----------------------------------------------------------------------------

def bits_of(name):
    plain = name.removeprefix("whole_")
    return 32 if re.search(r"32$", plain) else 64


def measure(code, out, passes):
    """{form: (nanoseconds, cycles) of an element}."""
    (out / "forms.h").write_text("".join(f"FORM_OF({n}, {bits_of(n)})\n" for n in forms(pairs())))
    subprocess.run(["gcc", "-O1", "-I", out, "-o", out / "harness", HERE / "harness.c",
                    *(code / f"{form}.s" for form in FORMS), "-lm"], check=True)
    said = subprocess.run([out / "harness", str(passes)], check=True, capture_output=True,
                          text=True).stdout
    rows = (line.split() for line in said.splitlines())
    return {name: (float(ns), float(cycles)) for name, ns, cycles in rows}


def read_times(path):
    """Returns the head, and {form: (nanoseconds, cycles or None)}."""
    text = path.read_text()
    head = dict(re.findall(r"^(host|date|table) +(.*)$", text, re.M))
    rows = re.findall(r"^(\w+) ([\d.]+)(?: ([\d.]+))?$", text, re.M)
    return head, {name: (float(ns), float(cycles) if cycles else None) for name, ns, cycles in rows}


def write_times(times, table):
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    lines = ["# Nanoseconds and cycles of an element of the source, by form (truth.py record).",
             f"host  {model}, {platform.system()} {platform.machine()}",
             f"date  {datetime.date.today()}", f"table {table}"]
    lines += [f"{name} {ns:.4f} {cycles:.4f}" for name, (ns, cycles) in times.items()]
    (RECORDED / f"times-{table}.txt").write_text("\n".join(lines) + "\n")


# ---- What is predicted ---------------------------------------------------------------------------

def loops(assay, table, program):
    command = [assay, "cqa", "--format", "json", "--level", "expert", program]
    command += ["--machine", table] if table else []
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    best = {}
    for loop in said["loops"]:  # the main loop: the widest, of those that gcc made of one
        metrics = loop["mean"]["metrics"]
        rank = (metrics["vec_eff_all_pct"] or 0, metrics["insn_n"])
        if loop["function"] not in best or rank > best[loop["function"]][0]:
            best[loop["function"]] = (rank, loop["mean"])
    return said["machine"]["name"], {name: mean for name, (_, mean) in best.items()}


def predicted(pair, found):
    mean = found[pair.name]
    if pair.variant == "forms":
        return mean["metrics"]["cycles"] / found[pair.other]["metrics"]["cycles"]
    return mean["what_if"][pair.variant]["speedup"]


# ---- Both ----------------------------------------------------------------------------------------

def known():
    """{(table, name): cause}."""
    rows = re.findall(r"^([\w-]+) (\w+): (\S.*)", (HERE / "known.txt").read_text(), re.M)
    return {(table, name): cause for table, name, cause in rows}


def gained(times, pair):
    """How many times as fast the other form is: by cycles where both have them."""
    both = times[pair.name], times[pair.other]
    by = 1 if all(cycles for _, cycles in both) else 0
    return both[0][by] / both[1][by]


def compare(found, times):
    """[(pair, predicted, measured, how far off)]."""
    rows = []
    for pair in pairs():
        if pair.name not in found or not {pair.name, pair.other} <= times.keys() or \
                (pair.variant == "forms" and pair.other not in found):
            continue
        said, real = predicted(pair, found), gained(times, pair)
        rows.append((pair, said, real, said / real - 1))
    return rows


def show(rows):
    print(f"{'loop':<14} {'what if':<12} {'predicted':>9} {'measured':>9} {'off':>8}")
    for pair, said, real, off in rows:
        print(f"{pair.name:<14} {pair.variant:<12} {said:8.2f}x {real:8.2f}x {100 * off:+6.1f} %"
              + ("" if abs(off) <= WITHIN else "  MISSED"))
    good = sum(abs(off) <= WITHIN for _, _, _, off in rows)
    print(f"{good} of {len(rows)} within {100 * WITHIN:.0f} %")


def check_core(tap, assay, program, path, far):
    head, times = read_times(path)
    table, found = loops(assay, head["table"], program)
    rows = compare(found, times)
    tap.equal(table, head["table"], f"{table}: the table of the core that was measured")
    tap.equal(sorted(p.name for p in pairs()), sorted(r[0].name for r in rows),
              f"{table}: every pair")
    for pair, said, real, off in rows:
        why = f"predicted {said:.2f}x, measured {real:.2f}x"
        name = f"{table}, {pair.name}: "
        if (table, pair.name) in far:
            tap.skip(name + why, f"known to be off: {far[table, pair.name]}"
                     if abs(off) > WITHIN else "off no more: take it out of known.txt")
        else:
            tap.point(abs(off) <= WITHIN, f"{name}{pair.variant} within 15 %", why)
    tap.point(sum(abs(r[3]) <= WITHIN for r in rows) >= FEWEST, f"{table}: {FEWEST} pairs and more")
    return {(table, pair.name) for pair, _, _, _ in rows}


def check(assay, out):
    tap = tap_module.Tap()
    program, far, every = assemble(RECORDED, out), known(), set()
    for path in sorted(RECORDED.glob("times-*.txt")):
        every |= check_core(tap, assay, program, path, far)
    tap.point(set(far) <= every, "known.txt names pairs", sorted(set(far) - every))
    return tap.end()


def main():
    verb, assay, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    if verb == "check":
        return check(assay, out)
    if "avx512vl" not in pathlib.Path("/proc/cpuinfo").read_text():
        print("what changes bring: left out, this processor has no AVX-512")
        return 0
    if verb == "record":
        RECORDED.mkdir(exist_ok=True)
        if not all((RECORDED / f"{form}.s").exists() for form in FORMS):
            compile_forms(RECORDED)
    program = assemble(RECORDED, out)
    times = measure(RECORDED, out, 30 if verb == "record" else 5)
    table, found = loops(assay, sys.argv[4] if len(sys.argv) > 4 else None, program)
    if verb == "record":
        write_times(times, table)
    show(compare(found, times))
    return 0


if __name__ == "__main__":
    sys.exit(main())
