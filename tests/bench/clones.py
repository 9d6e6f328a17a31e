#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Costs of clones of loops: clones.py RUN AGENT ASSAY DIRECTORY ROUNDS PROGRAM [NAME=COMMAND...]

PROGRAM is bench-clones: each of its kernels runs alone and in every mode, in turns. COMMANDs are
whole programs. Prints these lines:

- "KERNEL MODE ALONE ADDED RATIO": nanoseconds of an instance alone (minimum), and the cost of the
  mode added to the minimum
- "KERNEL stability S 0 0": (median - minimum) / minimum of filtered instances of the same length
  above 5,000 cycles, under `assay vprof --every 1`
- "NAME MODE ALONE ADDED RATIO": CPU seconds of a whole program; the ratio is the median over
  rounds; mode `vprof` is the last run of `assay vprof` to its first
- "NAME refused SHARE REASON...": share of the time of the chosen loops without a result
"""
import collections
import json
import os
import pathlib
import resource
import shlex
import shutil
import statistics
import subprocess
import sys

KERNELS = ("short", "tiny", "list", "call", "branch", "middle", "long")
MODES = ("ident", "sample:1000", "time", "count")
WHOLE = ("ident", "sample:1000", "count")


class Bench:
    def __init__(self, runner, agent, assay, directory):
        self.runner, self.agent, self.assay = runner, agent, assay
        self.directory = pathlib.Path(directory)

    def command(self, mode, words, only):
        """Uses a new directory each time: a patched program finds no plan of another run."""
        if mode == "alone":
            return words
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        files = [word for path in only for word in ("--only", path)]
        return [self.runner, mode, *files, str(self.directory), self.agent, "--", *words]

    def kernel(self, program, name, mode):
        got = subprocess.run(self.command(mode, [program, name], []), check=True,
                             capture_output=True, text=True)
        return float(got.stdout)

    def whole(self, words, mode, only):
        """Returns the CPU seconds of the program: planning and reading happen in the parent."""
        command = self.command(mode, words, only)
        if mode == "alone":
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads((self.directory / "result.json").read_text())["seconds"]

    def vprof(self, words, *options):
        """Returns CPU time of the last run to the first, and the loops that could not be timed."""
        where = str(self.directory) + ".assay"
        said = subprocess.run(
            [self.assay, "vprof", "-q", "--force", "--format", "json",
             *(options or ("--top", "50")), "-o", where, "--", *words],
            check=True, capture_output=True, text=True)
        seconds = subprocess.run(
            [self.assay, "query", "--format", "csv", where,
             "SELECT sum(cpu_ns) / 1e9 FROM thread JOIN process USING (process_id)"
             " GROUP BY run_id ORDER BY run_id"], check=True, capture_output=True, text=True)
        took = [float(line) for line in seconds.stdout.splitlines()[1:]]
        text = said.stdout
        shutil.rmtree(where, ignore_errors=True)
        return took, json.loads(text[text.index("{"):])

    def stability(self, program, name):
        """Returns the stability of the group of instances with most time, in the loop with most
        time."""
        said = self.vprof([program, name], "--every", "1", "--top", "1")[1]
        loops = [x for x in said["loops"] if not x["refused"]]
        groups = [b for x in loops for b in x["buckets"] if b["instance_cycles"] >= 5000]
        return max(groups, key=lambda b: b["share"])["stability"] if groups else None


WITH_LOOPS = ("liblammps", "libopenblas", "libblas", "libmpi.", "libgomp", "libgfortran", "libm.")


def libraries(path):
    """A program and those of its libraries in which it spends time."""
    said = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    files = [line.split()[2] for line in said.splitlines() if "=> /" in line]
    return [path, *(os.path.realpath(f) for f in files
                    if os.path.basename(f).startswith(WITH_LOOPS))]


def main():
    os.environ.setdefault("OMP_WAIT_POLICY", "passive") # spinning threads would measure the host
    runner, agent, assay, directory, rounds, program = sys.argv[1:7]
    bench = Bench(runner, agent, assay, directory)
    least = {}
    kernels = KERNELS if program != "-" else () # whole programs alone
    for _ in range(int(rounds)):
        for name in kernels:
            for mode in ("alone", *MODES):
                took = bench.kernel(program, name, mode)
                least[name, mode] = min(took, least.get((name, mode), took))
    for name in kernels:
        for mode in MODES:
            alone, took = least[name, "alone"], least[name, mode]
            print(f"{name} {mode} {alone:.2f} {took - alone:.2f} {took / alone:.4f}")
    for name in ("middle", "long") if kernels else ():
        of = [bench.stability(program, name) for _ in range(int(rounds))]
        of = [x for x in of if x is not None]
        if of:
            print(f"{name} stability {statistics.median(of):.4f} 0 0", flush=True)
    for given in sys.argv[7:]:
        name, command = given.split("=", 1)
        words = shlex.split(command)
        words[0] = shutil.which(words[0]) or words[0]
        only = libraries(os.path.realpath(words[0]))
        ratios = {mode: [] for mode in (*WHOLE, "vprof")}
        for _ in range(int(rounds)):
            alone = bench.whole(words, "alone", only)
            for mode in WHOLE:
                ratios[mode].append(bench.whole(words, mode, only) / alone)
            took, said = bench.vprof(words)
            ratios["vprof"].append(took[-1] / took[0])
        for mode, of in ratios.items():
            ratio = statistics.median(of)
            print(f"{name} {mode} {alone:.2f} {alone * (ratio - 1):.2f} {ratio:.4f}", flush=True)
        why = collections.Counter()
        for loop in said["loops"]:
            if loop["refused"]:
                why[loop["refused"]] += loop["share"]
        print(name, "refused", f"{said['refused_share']:.4f}",
              "; ".join(f"{reason}: {share:.4f}" for reason, share in why.most_common()))


main()
