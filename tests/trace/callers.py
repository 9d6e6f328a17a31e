#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds callers in traces to what the C library's unwinder finds in the same frames.

usage: callers.py ASSAY DUMP SOURCE
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")
SORTS = ["plain", "varying", "aligned", "callback"]


def traced_callers(dump, directory):
    """For each MPI_Comm_rank of the program its (address, file, address in the file)."""
    text = subprocess.run([dump, directory, "callers"], capture_output=True, text=True,
                          check=True).stdout
    calls = []
    for line in text.splitlines():
        name, _, rest = line.partition(" ")
        if name == "MPI_Comm_rank":
            rows = [piece.split() for piece in rest.split(",")]
            calls.append([(address, *place.rsplit("+", 1)) for address, place in rows])
    return calls


def difference(lines, calls, wanted, program):
    base = int(lines[0].split()[1], 16)
    logged = [line.split() for line in lines[1:]]
    if [words[0] for words in logged] != SORTS or len(calls) != len(SORTS):
        return f"{len(calls)} calls in the trace"
    for words, call in zip(logged, calls):
        own, seen = words[1:wanted], [address for address, _, _ in call[1:]]
        if own != seen:
            return f"{words[0]}: the C library says {own}, the trace {seen}"
        address, path, in_file = call[0]
        if path != str(program) or int(in_file, 16) != int(address, 16) - base:
            return f"{words[0]}: {address} is said to be {path}+{in_file}"
    return ""


def check(work, assay, dump, source, mpi, options, wanted):
    program, made = work / "program", work / "out.assay"
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run([f"mpicc.{mpi}", "-w", *options, "-o", program, source], check=True)
    run = subprocess.run([assay, "trace", "-q", "--format", "json", "--callers", str(wanted), "-o",
                          made, "--", "sh", "-c", f"{program} > {work}/log"],
                         capture_output=True, text=True, env=ENVIRONMENT, check=False)
    if run.returncode:
        return f"exit status {run.returncode}: {run.stderr[-300:]!r}"
    lines = (work / "log").read_text(encoding="utf-8").splitlines()
    return difference(lines, traced_callers(dump, made / "run-001" / "trace"), wanted, program)


LIBRARY = """#include <mpi.h>
int ask_in_library(void) { int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank); return rank; }
"""
PROGRAM = """#include <mpi.h>
int ask_in_library(void);
int main(void) { MPI_Init(0, 0); int rank = ask_in_library(); MPI_Finalize(); return rank; }
"""


def check_place(work, assay, mpi):
    """A library that the loader finds through a link, and that is over before any sample."""
    made, real, link = work / "place.assay", work / "real", work / "link"
    real.mkdir()
    link.symlink_to(real)
    (work / "library.c").write_text(LIBRARY)
    (work / "main.c").write_text(PROGRAM)
    subprocess.run([f"mpicc.{mpi}", "-shared", "-fPIC", "-O1", "-o", real / "libask.so",
                    work / "library.c"], check=True)
    subprocess.run([f"mpicc.{mpi}", "-o", work / "asks", work / "main.c", f"-L{real}", "-lask",
                    f"-Wl,-rpath,{link}"], check=True)
    subprocess.run([assay, "trace", "-q", "--format", "json", "-o", made, "--", work / "asks"],
                   capture_output=True, env=ENVIRONMENT, check=True)
    said = subprocess.run([assay, "query", "--format", "csv", made, "SELECT function FROM"
                           " v_trace_calls WHERE routine = 'MPI_Comm_rank'"],
                          capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return "" if said == ["ask_in_library"] else f"it is said to be called in {said}"


def main():
    assay, dump, source = sys.argv[1:4]
    source = pathlib.Path(source) / "programs" / "callers.c"
    cases = [("openmpi", ["-O2", "-fomit-frame-pointer"], 16),
             ("openmpi", ["-O0"], 16), ("mpich", ["-O3", "-mavx2"], 16), ("mpich", ["-O2"], 2)]
    failed = 0
    print(f"1..{len(cases) + 1}")
    with tempfile.TemporaryDirectory() as work:
        for n, (mpi, options, wanted) in enumerate(cases, 1):
            name = f"{mpi}, {' '.join(options)}, {wanted} callers"
            if not shutil.which(f"mpicc.{mpi}"):
                print(f"ok {n} - {name} # SKIP no {mpi}")
                continue
            fault = check(pathlib.Path(work).resolve(), assay, dump, source, mpi, options, wanted)
            failed += bool(fault)
            print(f"{'not ok' if fault else 'ok'} {n} - {name}" + (f"\n# {fault}" * bool(fault)))
        name = f"{len(cases) + 1} - a library behind a link, without a sample"
        mpi = next((mpi for mpi in ("openmpi", "mpich") if shutil.which(f"mpicc.{mpi}")), None)
        fault = mpi and check_place(pathlib.Path(work).resolve(), assay, mpi)
        failed += bool(fault)
        print(f"{'not ok' if fault else 'ok'} {name}" + " # SKIP no MPI" * (not mpi)
              + f"\n# {fault}" * bool(fault))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
