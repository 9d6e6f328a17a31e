#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds traces to programs that log their own calls: each call of each rank once, in order, with
the arguments that were given or got; by both MPIs, in C and Fortran.

usage: calls.py ASSAY DUMP SOURCE
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")
RANKS = 3
# A blocking receive is asked for as well; programs log what came.
ASKED_AND_GOT = {"MPI_Recv", "MPI_Sendrecv"}
FIELDS = {"send": 7, "post": 7, "receive": 7, "collective": 7}


def call_of(line):
    """'MPI_Send 1 5 80' of a line of the dump."""
    words = line.split()
    out, i = words[:1], 1
    while i < len(words):
        kind = words[i]
        if kind in FIELDS:
            if kind != "post" or words[0] not in ASKED_AND_GOT:
                out += words[i + 1:i + 4]
            i += 1 + FIELDS[kind]
        else:
            i += 2
    return " ".join(out)


def traced_calls(dump, directory):
    """Rank -> its calls."""
    text = subprocess.run([dump, directory], capture_output=True, text=True, check=True).stdout
    ranks, calls = {}, None
    for line in text.splitlines():
        if line.startswith("process "):
            calls = ranks.setdefault(int(line.split()[1]), [])
        elif not line.startswith("comm "):
            calls.append(call_of(line))
    return ranks


def difference(logged, traced):
    """Returns the first difference; "" if both are equal."""
    for n, (own, seen) in enumerate(zip(logged, traced)):
        if own != seen:
            return f"call {n}: the program says '{own}', the trace '{seen}'"
    return "" if len(logged) == len(traced) else f"{len(logged)} calls, {len(traced)} in the trace"


class Tap:
    def __init__(self):
        self.n = 0
        self.failed = False

    def point(self, name, fault="", skip=""):
        self.n += 1
        self.failed |= bool(fault)
        print(f"{'not ok' if fault else 'ok'} {self.n} - {name}"
              + (f" # SKIP {skip}" if skip else ""))
        if fault:
            print(f"# {fault}")


def check(tap, name, assay, dump, place, compiler, source, flags, launcher, arguments):
    program, log, made = place / "program", place / "log", place / "out.assay"
    if not shutil.which(compiler) or not shutil.which(launcher):
        tap.point(name, skip=f"no {compiler}")
        return
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    subprocess.run([compiler, "-O1", "-w", *flags, "-o", program, source], check=True)
    over = ["--oversubscribe"] if "openmpi" in launcher else []
    run = subprocess.run([assay, "trace", "-q", "--format", "json", "-o", made, "--", launcher,
                          *over, "-n", str(RANKS), program, log, *arguments],
                         capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if run.returncode:
        tap.point(name, f"exit status {run.returncode}: {run.stderr[-300:]!r}")
        return
    ranks = traced_calls(dump, made / "run-001" / "trace")
    fault = "" if sorted(ranks) == list(range(RANKS)) else f"ranks {sorted(ranks)}"
    for rank in range(RANKS if not fault else 0):
        logged = [line.strip() for line in open(f"{log}.{rank}", encoding="utf-8")]
        fault = fault or difference(logged, ranks[rank])
    tap.point(name, fault)


def main():
    assay, dump, source = sys.argv[1:4]
    programs = pathlib.Path(source) / "programs"
    tap = Tap()
    with tempfile.TemporaryDirectory() as work:
        for mpi in ("openmpi", "mpich"):
            for seed in ("7", "8"):
                check(tap, f"{mpi}, C, seed {seed}", assay, dump, pathlib.Path(work) / "run",
                      f"mpicc.{mpi}", programs / "calls.c", [], f"mpirun.{mpi}", [seed, "60"])
            for name, flags in (("module mpi", []), ("module mpi_f08", ["-DF08"])):
                check(tap, f"{mpi}, Fortran, {name}", assay, dump, pathlib.Path(work) / "run",
                      f"mpif90.{mpi}", programs / "calls.f90", ["-cpp", *flags],
                      f"mpirun.{mpi}", [])
    print(f"1..{tap.n}")
    return tap.failed


if __name__ == "__main__":
    sys.exit(main())
