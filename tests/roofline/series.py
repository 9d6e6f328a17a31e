#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Geometric series and stencils: their flops and bytes are known by construction.

usage: series.py ASSAY OUT [--all [BUILD...]]

A series 1 + M + ... + M^n over an array moves two values an element. Its flops depend on how it is
written. By the scheme of Horner, and with a running power, they are 2 n - 1. Inline, they are
n + n (n - 1) / 2; a compiler that keeps the last power makes 2 n - 1 of them. A
stencil of 5 points has 4 flops and 5 values, one of 7 points 6 and 7. Each function of each build
is one case of `assay roofline`. Without --all a part of the cases; with it all orders and sizes,
and a table of the bytes moved over two values.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
from tap import Tap  # noqa: E402

TYPES = {"sp": ("float", 4), "dp": ("double", 8)}
# name: flags; whether powers are kept; whether bytes are those of the construction
BUILDS = {
    "O0": (["-O0"], False, False),
    "O2": (["-O2", "-fno-tree-vectorize", "-fno-unroll-loops"], True, True),
    "O3": (["-O3"], True, False),
    "O3-avx2": (["-O3", "-mavx2", "-mfma"], True, False),
}
KINDS = ("inline", "horner", "flat")

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline))
"""


def series(kind, short, order):
    """The function of a case."""
    c, _ = TYPES[short]
    loop = {
        "inline": "out[i] = " + " + ".join(["(T)1"] + ["*".join(["m"] * k) if k > 1 else "m"
                                                     for k in range(1, order + 1)]) + ";",
        "horner": f"T s = m + 1; for (int k = 1; k < {order}; k++) s = s * m + 1; out[i] = s;",
        "flat": f"T s = m + 1, p = m; for (int k = 1; k < {order}; k++) {{ p *= m; s += p; }} "
                "out[i] = s;",
    }[kind].replace("(T)", f"({c})").replace("T ", f"{c} ")
    return (f"NOINLINE void {kind}_{short}_{order}(const {c} *restrict in, {c} *restrict out, "
            f"long n)\n{{\n    for (long i = 0; i < n; i++) {{ {c} m = in[i]; {loop} }}\n}}\n")


def stencils(short):
    c, _ = TYPES[short]
    return f"""NOINLINE void plane_{short}_0(const {c} *restrict a, {c} *restrict b, long n)
{{
    const long w = n + 2;
    for (long y = 1; y <= n; y++)
        for (long x = 1; x <= n; x++)
            b[y * w + x] = ({c})0.25 * (a[y * w + x - 1] + a[y * w + x + 1] +
                                        a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}}
NOINLINE void cube_{short}_0(const {c} *restrict a, {c} *restrict b, long n)
{{
    const long w = n + 2, p = w * w;
    for (long z = 1; z <= n; z++)
        for (long y = 1; y <= n; y++)
            for (long x = 1; x <= n; x++) {{
                const {c} *q = a + z * p + y * w + x;
                b[z * p + y * w + x] =
                    ({c})0.125 * (q[-1] + q[1] + q[-w] + q[w] + q[-p] + q[p]);
            }}
}}
"""


def has_avx2():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return " avx2" in info.read()


def source(orders):
    cases = [(kind, short, order) for kind in KINDS for short in TYPES for order in orders]
    calls = [f"    {k}_{s}_{o}(in, out, n); sum += ((char *)out)[n];" for k, s, o in cases]
    calls += [f"    {k}_{s}_0(in, out, {side}); sum += ((char *)out)[n];"
              for s in TYPES for k, side in (("plane", "side"), ("cube", "depth"))]
    return HEAD + "".join(series(*it) for it in cases) + "".join(map(stencils, TYPES)) + """
int main(int argc, char **argv)
{
    const long side = argc > 1 ? atol(argv[1]) : 64, n = side * side;
    const long depth = side < 128 ? side : 128;
    const size_t room_b = 8 * (size_t)((side + 2) * (side + 2) +
                                       (depth + 2) * (depth + 2) * (depth + 2));
    void *in = malloc(room_b), *out = malloc(room_b);
    double sum = 0;
    if (!in || !out)
        return 1;
    memset(in, 0, room_b);
    memset(out, 0, room_b);
""" + "\n".join(calls) + """
    printf("%g\\n", sum);
    return 0;
}
"""


def truth(name, build, side):
    """Flops of a case, and bytes by its construction."""
    kind, short, order = name.split("_")
    order, size_b = int(order), TYPES[short][1]
    points = min(side, 128) ** 3 if kind == "cube" else side * side
    if kind in ("plane", "cube"):
        flops, values = {"plane": (4, 5), "cube": (6, 7)}[kind]
        return points * flops, points * values * size_b
    flops = 2 * order - 1
    if kind == "inline" and not BUILDS[build][1]:
        flops = order + order * (order - 1) // 2
    return points * flops, points * 2 * size_b


def points_of(assay, out, program, side):
    experiment = os.path.join(out, "x.assay")
    shutil.rmtree(experiment, ignore_errors=True)
    got = subprocess.run(
        [assay, "roofline", "--format", "json", "--quiet", "--no-measure", "-o", experiment,
         "--functions", "^(inline|horner|flat|plane|cube)_", "--", program, str(side)],
        capture_output=True, timeout=1200, check=False)
    try:
        return json.loads(got.stdout)["points"], got
    except (ValueError, KeyError):
        return None, got


def loop_bytes(points, function):
    """Bytes of the loop over the points; the loop around it has spills, the one inside none."""
    depth = {"plane": 2, "cube": 3}.get(function["name"].split("_")[0], 1)
    return sum(p["load_b"] + p["store_b"] for p in points
               if p["kind"] == "loop" and p["depth"] == depth and
               p["name"].split(" ")[0] == function["name"])


class Build:
    def __init__(self, tap, assay, out, compiler, name, orders):
        self.tap, self.assay, self.orders = tap, assay, orders
        self.compiler, self.name = compiler, name
        self.dir = os.path.join(out, f"{compiler}-{name}")
        self.ratios = {}
        self.case_n = self.bad_n = 0

    def make(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        file = os.path.join(self.dir, "series.c")
        with open(file, "w", encoding="utf-8") as to:
            to.write(source(self.orders))
        flags = list(BUILDS[self.name][0])
        if self.compiler == "clang":
            flags = [{"-fno-tree-vectorize": "-fno-vectorize"}.get(f, f) for f in flags]
            flags += ["-fno-slp-vectorize", "-ffp-contract=off"]
        return subprocess.run([self.compiler, "-g", "-w", *flags, "-o",
                               os.path.join(self.dir, "series"), file], capture_output=True,
                              check=False)

    def check_case(self, points, it, side):
        flops, bytes_ = truth(it["name"], self.name, side)
        got_b = loop_bytes(points, it)
        kind, _, order = it["name"].split("_")
        # Many powers at once are more than there are registers.
        exact = BUILDS[self.name][2] and self.compiler == "gcc" and \
            (kind != "inline" or int(order) <= 8)
        self.ratios.setdefault(it["name"].split("_")[0], []).append(got_b / bytes_)
        wrong = it["flop_n"] != flops or (exact and got_b != bytes_)
        intensity = it["flop_n"] / (it["load_b"] + it["store_b"])
        if abs(it["intensity"] - intensity) > 1e-9 * intensity:
            wrong = True
        return f"{it['name']}: {it['flop_n']} flops, {got_b} B, not {flops}, {bytes_}" \
            if wrong else None

    def check(self, sides):
        made = self.make()
        what = f"{self.compiler} -{self.name}"
        self.tap.point(made.returncode == 0, f"{what}: builds", made.stderr.decode())
        for side in sides if made.returncode == 0 else []:
            points, got = points_of(self.assay, self.dir, os.path.join(self.dir, "series"), side)
            functions = [p for p in points or [] if p["kind"] == "function"]
            bad = [why for it in functions for why in [self.check_case(points, it, side)] if why]
            want_n = 6 * len(self.orders) + 4
            self.case_n += len(functions)
            self.bad_n += len(bad)
            self.tap.point(len(functions) == want_n and not bad,
                           f"{what}, {side}^2: flops and bytes of {want_n} cases",
                           "\n".join([f"{len(functions)} cases", got.stderr.decode(), *bad]))


def main():
    assay, out = sys.argv[1:3]
    whole = "--all" in sys.argv[3:]
    wanted = sys.argv[4:] or list(BUILDS)
    tap = Tap()
    orders = range(1, 30) if whole else (1, 6, 29)
    table, case_n, bad_n = [], 0, 0
    for compiler in ("gcc", "clang"):
        for name in BUILDS:
            if not whole and (compiler, name) not in (("gcc", "O0"), ("gcc", "O2"),
                                                     ("clang", "O3")):
                continue
            if name not in wanted:
                continue
            if "avx2" in name and not has_avx2():
                tap.skip(f"{compiler} -{name}", "the processor has no AVX2")
                continue
            if not shutil.which(compiler):
                tap.skip(f"{compiler} -{name}", f"no {compiler}")
                continue
            build = Build(tap, assay, out, compiler, name, orders)
            build.check(((64, 256, 1024) if name == "O0" else (64, 256, 1024, 4096))
                        if whole else (64,))
            case_n, bad_n = case_n + build.case_n, bad_n + build.bad_n
            table += [(f"{compiler} -{name}", kind, r) for kind, r in build.ratios.items()]
    if whole:
        print(f"# {case_n} cases, {bad_n} wrong; bytes over those of the construction:")
        for build, kind, r in table:
            mean = statistics.fmean(r)
            print(f"# {build:12} {kind:7} n {len(r):4}  mean {mean:7.3f}  min {min(r):7.3f}  "
                  f"max {max(r):7.3f}  variation {statistics.pstdev(r) / mean:.3f}")
    tap.end()


main()
