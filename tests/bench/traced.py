#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of tracing a program, and the speed of reading and converting traces.

usage: traced.py DRIVERS ASSAY EXAMPLE MELT DIRECTORY ROUNDS

DRIVERS has bench-trace and bench-traced, EXAMPLE is the source of examples/cg, MELT the input of
LAMMPS. Prints lines "NAME VALUE LOW HIGH". All times are CPU time, except the steps of two ranks.
For these, VALUE is the first quartile.

For the slow-down of a program, VALUE is the median of ROUNDS ratios of pairs in turn. LOW and HIGH
are its quartiles. A shell starts each rank and measures its time, so that launcher and reader do
not count. For calls and records, VALUE is the minimum of three runs, or the difference of the
minima. Missing programs are left out, with a message on standard error.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

STEPS, RANKS, TIMES = 40000, 8, 3 # some 6 million records
CALLS, THREADS = "200000", 8
GROUPS = ["--groups", "mpi,openmp"]
# A rank: $0 gets the lines of times(1), of which the second is what the program took.
RANK = 'out=$0; "$@"; rc=$?; times >>"$out"; exit $rc'
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")


def said(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=ENVIRONMENT,
                          **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()[-300:]}")
    return done.stdout


def show(name, value, low=None, high=None):
    print(name, f"{value:.4f}", f"{value if low is None else low:.4f}",
          f"{value if high is None else high:.4f}", flush=True)


def seconds(text):
    """Converts "0m1.25s" to seconds."""
    minutes, rest = text.split("m")
    return 60 * float(minutes) + float(rest.rstrip("s"))


class Bench:
    def __init__(self, drivers, assay, example, melt, directory, rounds):
        self.drivers, self.out = pathlib.Path(drivers), pathlib.Path(directory)
        self.assay, self.example, self.melt, self.rounds = assay, example, melt, int(rounds)
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)

    def traced(self, *options):
        return [self.assay, "trace", "-q", "--force", "--format", "json", "-o",
                str(self.out / "x.assay"), *GROUPS, *options, "--"]

    # The cost of one record, and of one call.

    def records(self):
        runs = [said([self.drivers / "bench-trace", self.out / "stream"]).split()
                for _ in range(TIMES)]
        show("record.ns", min(float(run[1]) for run in runs))
        show("record.bytes", float(runs[0][4]))

    def calls(self, called):
        """Nanoseconds of a call, and KiB of the process with many threads."""
        def figures(before, threads, calls):
            return map(float, said([*before, called, str(threads), calls]).split()[-2:])

        def traced_figures(callers, threads, calls):
            words = self.traced("--callers", callers)
            text = said([*words, called, str(threads), calls])
            return map(float, text.splitlines()[0].split())
        least = {"alone": 1e30, "1": 1e30, "3": 1e30}
        resident = {"alone": [], "1": []}
        for _ in range(TIMES):
            least["alone"] = min(least["alone"], next(figures([], 1, CALLS)))
            for callers in ("1", "3"):
                least[callers] = min(least[callers], next(traced_figures(callers, 1, CALLS)))
            resident["alone"].append(list(figures([], THREADS, CALLS))[1])
            resident["1"].append(list(traced_figures("1", THREADS, CALLS))[1])
        for callers in ("1", "3"):
            show(f"call.{callers}", least[callers] - least["alone"])
        more = statistics.median(resident["1"]) - statistics.median(resident["alone"])
        show("resident", more / 1024 / THREADS)

    # Whole programs.

    def ranks(self, before, words, n):
        """Returns the CPU seconds of all ranks."""
        times = self.out / "times"
        times.unlink(missing_ok=True)
        said([*before, "mpirun.openmpi", "--oversubscribe", "-n", str(n), "sh", "-c", RANK,
              str(times), *words], cwd=self.out)
        lines = times.read_text().splitlines()
        return sum(seconds(word) for line in lines[1::2] for word in line.split())

    def slow_down(self, name, words, n):
        """Uses one rank without waits, because the waits of two ranks depend on other load."""
        pairs = []
        for number in range(self.rounds if n == 1 else (self.rounds + 1) // 2):
            ways = [[], self.traced()] if number % 2 else [self.traced(), []]
            took = {bool(way): self.ranks(way, words, n) for way in ways}
            pairs.append((took[True], took[False]))
        ratio = [a / b for a, b in pairs]
        low, _, high = statistics.quantiles(ratio, n=4, method="inclusive")
        show(f"{name}.{n}", statistics.median(ratio), low, high)
        if n == 1:
            show(f"{name}.least", min(a for a, _ in pairs) / min(b for _, b in pairs))

    def exchange(self):
        """Measures an uninterrupted step of two ranks that exchange and add up."""
        program, ratio = str(self.out / "exchange"), []
        said(["mpicc.openmpi", "-O2", pathlib.Path(__file__).with_name("exchange.c"), "-o",
              program])

        def step_us(before):
            text = said([*before, "mpirun.openmpi", "--oversubscribe", "-n", "2", program, "1"])
            return float(text.partition("exchange: ")[2].split()[0])
        for number in range(self.rounds):
            ways = [[], self.traced()] if number % 2 else [self.traced(), []]
            took = {bool(way): step_us(way) for way in ways}
            ratio.append(took[True] / took[False])
        low, _, high = statistics.quantiles(ratio, n=4, method="inclusive")
        show("exchange.2", statistics.median(ratio), low, high)

    def start(self, called):
        """Milliseconds more of a rank that does nothing but begin and end."""
        more = []
        for number in range(2 * self.rounds):
            ways = [[], self.traced()] if number % 2 else [self.traced(), []]
            took = {bool(way): self.ranks(way, [called, "1", "0"], 2) for way in ways}
            more.append(1000 * (took[True] - took[False]) / 2)
        low, _, high = statistics.quantiles(more, n=4, method="inclusive")
        show("start.ms", statistics.median(more), low, high)

    def programs(self):
        if not shutil.which("mpirun.openmpi") or not shutil.which("mpicc.openmpi"):
            print("traced: Open MPI is missing: left out", file=sys.stderr)
            return
        called = str(self.out / "called")
        said(["mpicc.openmpi", "-O2", "-g", "-pthread",
              pathlib.Path(__file__).with_name("called.c"), "-o", called])
        self.calls(called)
        self.start(called)
        self.exchange()
        shutil.copytree(self.example, self.out / "cg")
        said(["make", "-s", "-C", self.out / "cg", "MPICC=mpicc.openmpi"])
        for n in (1, 2):
            self.slow_down("cg", [str(self.out / "cg/build/cg"), "--size", "64", "--loads", "4"], n)
        if shutil.which("lmp"):
            melt = self.out / "melt.in"
            melt.write_text(pathlib.Path(self.melt).read_text().replace("run 300", "run 100"))
            for n in (1, 2):
                self.slow_down("lmp", ["lmp", "-log", "none", "-in", str(melt)], n)
        else:
            print("traced: LAMMPS is missing: left out", file=sys.stderr)

    # Reading.

    def timed(self, what, trace, target=None):
        """Returns the minimum nanoseconds per record, and CPU seconds."""
        least, records = 1e30, 1
        for _ in range(TIMES):
            if target:  # a directory, or a file, with others named alike beside it
                shutil.rmtree(target, ignore_errors=True)
                pathlib.Path(target).unlink(missing_ok=True)
            words = [self.drivers / "bench-traced", what, trace, *([target] if target else [])]
            records, took = said(words).split()
            least = min(least, float(took))
        return 1e9 * least / int(records), least

    def reading(self):
        few, many = self.out / "few", self.out / "many"
        for path, steps in ((few, STEPS // 4), (many, STEPS)):
            path.mkdir()
            said([self.drivers / "bench-traced", "make", path, str(RANKS), str(steps)])
        each, took = self.timed("analyse", many)
        show("analyse.ns", each)
        show("analyse.more", took / self.timed("analyse", few)[1])
        show("prv.ns", self.timed("prv", many, str(self.out / "x.prv"))[0])
        show("otf2.ns", self.timed("otf2", many, str(self.out / "otf2"))[0])


def main():
    bench = Bench(*sys.argv[1:7])
    bench.records()
    bench.reading()
    bench.programs()
    shutil.rmtree(bench.out, ignore_errors=True)


if __name__ == "__main__":
    main()
