#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traffic of `assay count --levels`, held to cachegrind and to closed forms: levels.py ASSAY OUT.

Arrays are static, so addresses are the same modulo a page in both. cachegrind is skipped where it
is not there; closed forms are checked in any case.
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
from tap import Tap  # noqa: E402

# arguments, of which the first names the kernel's function up to a "-"
CASES = [("triad", "60000", "2"), ("plane", "200", "2"), ("plane", "600", "1"),
         ("space", "40", "1"), ("product", "64", "1", "32"), ("sparse-random", "20000", "1"),
         ("sparse-banded", "20000", "1"), ("columns", "256", "1"), ("columns", "200", "2"),
         ("joined", "16384", "1"), ("chosen", "40000", "1"), ("reversed", "60000", "2")]
FEW = ("plane", "product", "sparse-random", "chosen")
ROWS = {"O0": ["-O0"], "O2": ["-O2"], "O3": ["-O3"], "O3-avx2": ["-O3", "-mavx2", "-mfma"]}
CACHES = "32K:8,256K:8"
GEOMETRY = ["--D1=32768,8,64", "--LL=262144,8,64", "--I1=32768,8,64"]


def run(command):
    return subprocess.run(command, capture_output=True, timeout=600)


def has_avx2():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    return " avx2" in text and " fma" in text


class Levels:
    def __init__(self, assay, out):
        self.assay, self.out, self.tap = assay, out, Tap()
        os.makedirs(out, exist_ok=True)

    def build(self, row):
        program = os.path.join(self.out, "levels-" + row)
        got = run(["gcc", *ROWS[row], "-g", "-o", program, os.path.join(HERE, "levels.c")])
        assert got.returncode == 0, got.stderr.decode()
        return program

    def count(self, program, case, *options):
        function = case[0].split("-")[0]
        got = run([self.assay, "count", "--levels", *options, "--functions", f"^{function}$",
                   "--format", "json", "--force", "--output",
                   os.path.join(self.out, "levels.assay"), "--", program, *case])
        assert got.returncode == 0, got.stderr.decode()
        said = json.loads(got.stdout)
        self.share, listed = said["replayed_share"], said["counted"]
        return [it for it in listed if it["kind"] == "function"][0]

    def cachegrind(self, program, case):
        file = os.path.join(self.out, "cachegrind.out")
        got = run(["valgrind", "--tool=cachegrind", "--cache-sim=yes", *GEOMETRY,
                   f"--cachegrind-out-file={file}", program, *case])
        if got.returncode != 0:
            return None
        wanted, events, sums, function = case[0].split("-")[0], [], {}, None
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("events:"):
                    events = line.split()[1:]
                elif line.startswith("fn="):
                    function = line[3:].strip()
                elif line[0].isdigit() and function == wanted:
                    for name, value in zip(events, line.split()[1:]):
                        sums[name] = sums.get(name, 0) + int(value)
        return sums["D1mr"] + sums["D1mw"], sums["DLmr"] + sums["DLmw"]

    def check_cachegrind(self, row):
        if not shutil.which("valgrind"):
            self.tap.skip(f"{row}: misses are cachegrind's", "no valgrind here")
            return
        program = self.build(row)
        for case in CASES if row == "O2" else [it for it in CASES if it[0] in FEW]:
            truth = self.cachegrind(program, case)
            got = self.count(program, case, "--caches", CACHES)
            name = f"{row}: {' '.join(case)}: misses are cachegrind's within 1 %"
            if truth is None:
                self.tap.skip(name, "cachegrind cannot run this")
                continue
            ours = got["lines_l1_in_n"], got["lines_l2_in_n"]
            near = all(abs(x - y) <= 0.01 * y + 4 for x, y in zip(ours, truth))
            self.tap.point(near and got["traffic_covered_pct"] > 99.9, name,
                        f"{ours}, not {truth}; {got['traffic_covered_pct']} % covered")

    # For 8 elements three lines come into each level, and one goes back.
    def check_triad(self, program):
        got = self.count(program, ("triad", "2000000", "3"), "--caches", "32K:8,1M:16,8M:16:victim")
        expected = 3 * 2000000 * 32
        for name in ("bytes_l2_l1", "bytes_l3_l2", "bytes_memory"):
            near = abs(got[name] / expected - 1)
            self.tap.point(near < 0.05, f"triad moves 32 B an element: {name}", f"{got[name]}")
        own = 3 * 16  # calls and returns
        self.tap.point(got["executed_load_b"] + got["executed_store_b"] == 3 * 2000000 * 24 + own,
                       "triad: bytes of instructions stay exact", f"{got['executed_load_b']}")

    # Three rows of a and one of b fit into 32 KiB below n = 1024: then a line of a comes once.
    def check_layers(self, program):
        for side, lines in ((640, 2), (1400, 4)):
            got = self.count(program, ("plane", str(side), "1"), "--caches", "32K:0,1M:16")
            each = got["lines_l1_in_n"] / (side * (side - 2) / 8)
            self.tap.point(abs(each / lines - 1) < 0.05,
                        f"a row of {side}: {lines} lines in L1 for 8 elements", f"{each}")

    # A few classes of lines of a long run stand for all. The short run is replayed wholly.
    def check_long(self, program):
        for kernel, n, few, many in (("sparse-random", 20000, 4, 40),
                                     ("sparse-banded", 20000, 4, 80), ("joined", 65536, 2, 20)):
            short = self.count(program, (kernel, str(n), str(few)), "--caches", CACHES)
            whole = self.share
            long = self.count(program, (kernel, str(n), str(many)), "--caches", CACHES)
            self.tap.point(whole == 1 and self.share <= 1 / 16 and
                           long["traffic_covered_pct"] > 99.9,
                           f"{kernel}: a long run is sampled",
                           f"{whole}, {self.share}; {long['traffic_covered_pct']} % covered")
            for name in ("lines_l1_in_n", "lines_l2_in_n"):
                near = long[name] / many / (short[name] / few)
                self.tap.point(abs(near - 1) < 0.05, f"{kernel}: {name} of a long run", f"{near}")

    def check_output(self, program):
        for case in (("sparse-random", "20000", "2"), ("chosen", "50000", "2")):
            self.count(program, case)
            kept = os.path.join(self.out, "levels.assay")
            plain = run([program, *case]).stdout
            seen = b""
            for root, _, files in os.walk(kept):
                for file in files:
                    with open(os.path.join(root, file), "rb") as stream:
                        seen += stream.read()
            self.tap.point(plain.strip() in seen, f"{case[0]}: the program computes the same",
                           f"{plain} is not in the experiment")


def main():
    levels = Levels(sys.argv[1], sys.argv[2])
    program = levels.build("O2")
    levels.check_triad(program)
    levels.check_layers(program)
    levels.check_long(program)
    levels.check_output(program)
    for row in ROWS:
        if row.endswith("avx2") and not has_avx2():
            levels.tap.skip(f"{row}: misses are cachegrind's", "this CPU has no AVX2")
        else:
            levels.check_cachegrind(row)
    return levels.tap.end()


sys.exit(main())
