#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predictions of assay beside those of llvm-mca on the same blocks: predict.py BENCH-PREDICT
BLOCKS.csv

Prints microseconds per block by bounds, and with simulation. Then, for each core, come the mean and
median error of assay and of llvm-mca-19 (or llvm-mca). The blocks and their measured cycles are
those of the unit tests. The last value is llvm-mca's blocks per second.
"""
import csv
import io
import re
import shutil
import statistics
import subprocess
import sys
import time

CORES = {"zen5": ("zen5_unrolled", "znver5"),
         "emeraldrapids": ("emeraldrapids_unrolled", "sapphirerapids")}


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def assay(driver, core, blocks, how):
    done = run([driver, core, blocks, "0" if how else "1", "unrolled", "es" if how else "e"])
    rate = float(re.search(r"(\d+) a second", done.stderr).group(1))
    return {r["id"]: float(r["cycles"]) for r in csv.DictReader(io.StringIO(done.stdout))}, rate


def assembly(digits):
    tool = shutil.which("llvm-mc-19") or shutil.which("llvm-mc") or "llvm-mc-14"
    pairs = " ".join(f"0x{digits[i:i + 2]}" for i in range(0, len(digits), 2))
    return run([tool, "--disassemble", "-triple=x86_64"], pairs).stdout


def total_cycles(tool, cpu, iterations, text):
    out = run([tool, f"-mcpu={cpu}", "-mtriple=x86_64", f"-iterations={iterations}"], text).stdout
    cycles = re.search(r"Total Cycles:\s+(\d+)", out)
    return int(cycles.group(1)) if cycles else None


def mca(cpu, rows):
    """Cycles in the steady state: what 100 iterations more take."""
    tool = shutil.which("llvm-mca-19") or shutil.which("llvm-mca")
    if not tool:
        return {}, 0
    texts = {r["id"]: assembly(r["hex"]) for r in rows}
    said, start = {}, time.time()
    for name, text in texts.items():
        less, more = (total_cycles(tool, cpu, n, text) for n in (100, 200))
        if less and more:
            said[name] = (more - less) / 100
    return said, 2 * len(texts) / (time.time() - start)


def judge(name, said, rows, column):
    error = [abs(said[r["id"]] / float(r[column]) - 1) * 100
             for r in rows if r[column] and r["id"] in said]
    if error:
        print(f"    {name:<36} n {len(error):3}  mean {statistics.mean(error):6.1f} %  "
              f"median {statistics.median(error):5.1f} %")


def main():
    driver, blocks = sys.argv[1:]
    with open(blocks, encoding="ascii") as f:
        rows = list(csv.DictReader(f))
    print(f"bounds_us {1e6 / assay(driver, 'zen5', blocks, False)[1]:.0f}")
    print(f"simulation_us {1e6 / assay(driver, 'zen5', blocks, True)[1]:.0f}")
    for core, (column, cpu) in CORES.items():
        judge(f"assay, {core}", assay(driver, core, blocks, True)[0], rows, column)
        said, rate = mca(cpu, rows)
        judge(f"llvm-mca {cpu}, {rate:.0f} blocks a second", said, rows, column)


main()
