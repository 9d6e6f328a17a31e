#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The case studies of the CQA paper as programs, and what must be concluded of each.

    cases.py DUMP ASSAY OUTDIR
"""
import json
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))
import suite  # noqa: E402
import tap as tap_module  # noqa: E402


class Cases:
    def __init__(self, dump, assay, out):
        self.dump, self.assay, self.out = dump, assay, out
        self.tap = tap_module.Tap()
        out.mkdir(parents=True, exist_ok=True)

    def loop_of(self, source, function, compiler, flags):
        """Returns the loop of `function` with the most instructions that is not a remainder, or
        None."""
        made = self.out / "case.so"
        command = [compiler, "-g", *flags.split(), "-fPIC", "-shared", HERE / "cases" / source,
                   "-o", made, "-lm"]
        subprocess.run(command, cwd=self.out, check=True)
        loops = [l for l in suite.loops_of(self.dump, made)
                 if function in l["function"] and l["role"] == "main"]
        return max(loops, key=lambda l: l["insns"]) if loops else None

    def report(self, function, machine):
        """Returns the report of `assay cqa` on the loop of that case with the most instructions."""
        said = subprocess.run([self.assay, "cqa", "--machine", machine,
                               "--function", f".*{function}.*", "--format", "json",
                               self.out / "case.so"], check=True, capture_output=True,
                              text=True).stdout
        loops = [l for l in json.loads(said)["loops"] if l["role"] == "main"]
        return max(loops, key=lambda l: l["mean"]["metrics"]["insn_n"])

    def advises(self, function, machine, rule, words, name):
        advice = {a["rule"]: a["workaround"] for a in self.report(function, machine)["advice"]}
        return self.tap.point(words in advice.get(rule, ""), name, advice)

    def limits(self, compiler, machine, metric, topic):
        """It is `metric` that limits, not what is gathered: of that nothing is promised."""
        loop = self.report("reduce", machine)
        metrics, name = loop["mean"]["metrics"], f"{compiler}, {machine}: "
        limit = metrics[metric] >= 0.95 * metrics["cycles"]
        self.tap.point(limit and 0.95 * metrics["cycles"] > 1.3 * metrics["load_cy"],
                       f"{name}{metric} limits a sum of roots",
                       [metrics[key] for key in (metric, "cycles", "load_cy")])
        promised = {a["topic"] for a in loop["advice"] if a["level"] == "potential"}
        self.tap.point(topic in promised and "gather" not in promised,
                       f"{name}advice is about {topic}", sorted(promised))

    def divider_limits(self, compiler, machines):
        for machine in machines:
            self.limits(compiler, machine, "divide_cy", "expensive_arithmetic")

    def says(self, loop, wanted, name):
        named = {r["obstacle"] for r in loop["reasons"]}
        return self.tap.point(wanted <= named, name, f"named {named}, wanted {wanted}")

    def reduction(self):
        """The divider limits the scalar loop, as in the paper, on all cores. A vectorised loop
        divides four values at once and adds them up in order. Later cores divide faster than they
        add: four additions take 16 (Skylake) and 12 cycles (Zen 4), the divider 9 and 9.5."""
        old, new = ("sandybridge", "haswell"), ("skylake-sp", "zen4")
        for compiler in filter(shutil.which, ("gcc", "clang")):
            loop = self.loop_of("reduction.c", "reduce", compiler, "-O3 -fno-math-errno")
            self.tap.equal(loop["state"] in ("scalar", "part"), True, f"{compiler}: sum of roots")
            self.says(loop, {"indirect", "reduction"}, f"{compiler}: it goes by indices, and sums")
            in_order = loop["state"] == "part"
            self.divider_limits(compiler, old if in_order else old + new)
            for machine in new if in_order else ():
                self.limits(compiler, machine, "chain_cy", "dependences")
        if shutil.which("gcc"):
            self.loop_of("reduction.c", "reduce", "gcc",
                         "-O3 -fno-math-errno -fno-tree-vectorize")
            self.divider_limits("gcc without vectors", old + new)

    def pairs(self):
        """Allocatable arrays halve instructions and bytes, as in Table I. The step before it brings
        nothing here: gfortran takes both structures out of the loop itself."""
        names = ("two_pointers", "one_pointer", "allocatables")
        loops = [self.loop_of("pairs.f90", name, "gfortran", "-O2") for name in names]
        for key in ("insns", "loaded"):
            values = [l[key] for l in loops]
            self.tap.point(2 * values[2] <= values[0] and 2 * values[2] <= values[1],
                           f"pairs: {key} are halved", values)
        for name, loop in zip(names, loops):
            self.says(loop, {"indirect"}, f"pairs, {name}: by indices")

    def products(self):
        """Half vectors become full ones with the instruction set of the CPU."""
        half = self.loop_of("products.c", "products", "gcc", "-O3 -ffast-math")
        whole = self.loop_of("products.c", "products", "gcc", "-O3 -ffast-math -march=x86-64-v3")
        self.tap.equal((half["state"], half["width"]), ("full", 16), "products: half vectors")
        self.tap.equal((whole["state"], whole["width"]), ("full", 32), "products: whole vectors")
        self.tap.equal(whole["loaded"] * 8 // whole["unroll"], 320,
                       "products: 80 values are loaded")
        if not shutil.which("clang"):
            return
        kept = self.loop_of("products.c", "products", "clang",
                            "-O3 -ffast-math -march=x86-64-v3 -fno-unroll-loops -mllvm "
                            "-force-vector-interleave=1")
        self.tap.equal((kept["state"], kept["width"]), ("full", 32), "products: kept in registers")
        self.tap.equal(kept["loaded"], 192, "products: 48 values are loaded, each once")

    def quotients(self):
        loop = self.loop_of("quotients.c", "quotients", "gcc", "-O3")
        self.says(loop, {"call"}, "quotients: it calls")
        self.advises("quotients", "haswell", "complex_division", "-fcx-limited-range",
                     "quotients: what leaves the calls out")
        loop = self.loop_of("quotients.c", "quotients", "gcc", "-O3 -fcx-limited-range")
        named = {r["obstacle"] for r in loop["reasons"]}
        self.tap.point(loop["ratio"] > 0.9 and "call" not in named,
                       "quotients: with -fcx-limited-range on vectors", loop)
        if not shutil.which("gfortran"):
            return
        loop = self.loop_of("quotients.f90", "quotients", "gfortran", "-O2")
        self.says(loop, {"ways"}, "quotients in Fortran: it branches")
        self.advises("quotients", "haswell", "complex_branches", "-fcx-limited-range",
                     "quotients in Fortran: what leaves the branches out")
        loop = self.loop_of("quotients.f90", "quotients", "gfortran", "-O3 -ffast-math")
        self.tap.equal(loop["packed"] > 0, True, "quotients in Fortran: vectors with -ffast-math")


def main():
    cases = Cases(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]))
    if not shutil.which("gcc"):
        cases.tap.skip("cases", "no gcc")
        return cases.tap.end()
    cases.reduction()
    if shutil.which("gfortran"):
        cases.pairs()
    else:
        cases.tap.skip("pairs", "no gfortran")
    cases.products()
    cases.quotients()
    return cases.tap.end()


if __name__ == "__main__":
    sys.exit(main())
