#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever end programs come to, and whoever loads their MPI: what was recorded is readable.

usage: ends.py ASSAY DUMP SOURCE
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")
PYTHON = "/usr/bin/python3"
MPI4PY = """from mpi4py import MPI
world = MPI.COMM_WORLD
world.Barrier()
assert world.allreduce(world.rank) == 1"""


def calls_of(assay, dump, work, groups, command):
    """Rank -> names of its calls."""
    made = work / "out.assay"
    shutil.rmtree(made, ignore_errors=True)
    subprocess.run([assay, "trace", "-q", "--format", "json", "--groups", groups, "-o", made, "--",
                    *command], capture_output=True, check=False, env=ENVIRONMENT, timeout=800)
    text = subprocess.run([dump, made / "run-001" / "trace"], capture_output=True, text=True,
                          check=False).stdout
    ranks, calls = {}, []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["process"]:
            calls = ranks.setdefault(int(words[1]), [])
        elif words[:1] != ["comm"]:
            calls += words[:1]
    return ranks


def fault_of(ranks, wanted):
    """`wanted`: rank -> calls that it made, one behind the other among others."""
    for rank, names in wanted.items():
        left = iter(ranks.get(rank, []))
        missing = [name for name in names if name not in left]
        if missing:
            return f"rank {rank} made no {missing[0]}: {ranks.get(rank)}"
    return ""


def points_of(mpi, program):
    launch = [f"mpirun.{mpi}"] + ["--oversubscribe"] * (mpi == "openmpi") + ["-n", "2"]
    begun = ["MPI_Init", "MPI_Comm_rank", "MPI_Barrier"]
    whole = begun + ["MPI_Barrier", "MPI_Finalize"]
    return [
        (f"{mpi}, MPI_Abort", "mpi", [*launch, program, "abort"],
         {0: begun, 1: begun + ["MPI_Abort"]}),
        (f"{mpi}, a rank is killed", "mpi", [*launch, program, "kill"], {0: begun, 1: begun}),
        (f"{mpi}, killed while it polls", "mpi", [*launch, program, "poll"],
         {1: begun + ["MPI_Irecv"] + 1000 * ["MPI_Test"]}),
        (f"{mpi}, fork", "mpi,io,memory", [*launch, program, "fork"],
         {0: begun + ["fork"] + whole[3:], 1: begun + ["fork"] + whole[3:]}),
        (f"{mpi}, Python loads it late", "mpi,io,memory", [*launch, PYTHON, "-c", MPI4PY],
         {0: ["MPI_Init_thread", "MPI_Barrier", "MPI_Finalize"],
          1: ["MPI_Init_thread", "MPI_Barrier", "MPI_Finalize"]}),
    ]


def why_not(mpi, command):
    if not shutil.which(f"mpicc.{mpi}") or not shutil.which(f"mpirun.{mpi}"):
        return f"no {mpi}"
    if PYTHON not in command:
        return ""
    linked = subprocess.run([PYTHON, "-c", "from mpi4py import rc; rc.initialize = False\n"
                             "from mpi4py import MPI; print(MPI.Get_library_version())"],
                            capture_output=True, text=True, check=False).stdout
    return "" if ("Open MPI" in linked) == (mpi == "openmpi") and linked else f"no mpi4py of {mpi}"


def main():
    assay, dump, source = sys.argv[1:4]
    failed, n = 0, 0
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        for mpi in ("openmpi", "mpich"):
            program = work / f"ends.{mpi}"
            if shutil.which(f"mpicc.{mpi}"):
                subprocess.run([f"mpicc.{mpi}", "-w", "-o", program,
                                pathlib.Path(source) / "programs" / "ends.c"], check=True)
            for name, groups, command, wanted in points_of(mpi, program):
                n += 1
                skip = why_not(mpi, command)
                fault = "" if skip else fault_of(calls_of(assay, dump, work, groups, command),
                                                 wanted)
                failed += bool(fault)
                print(f"{'not ok' if fault else 'ok'} {n} - {name}"
                      + (f" # SKIP {skip}" if skip else ""))
                if fault:
                    print(f"# {fault[:300]}")
    print(f"1..{n}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
