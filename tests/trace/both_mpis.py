# SPDX-License-Identifier: Apache-2.0
"""A program that is compiled by each MPI that is here, and points of a test for each of them."""
import os
import shutil
import subprocess
import sys


def run_points(name, source, directory, flags, cases_of, try_case):
    """In `directory`, which is made. `cases_of` an MPI, each tried by try_case(mpi, case): a text
    of why it fails, or None; the case may be "", a point for the whole MPI. Does not return."""
    source = os.path.abspath(source)
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    points = []
    for mpi in ("openmpi", "mpich"):
        if not shutil.which(f"mpicc.{mpi}"):
            print(f"ok # SKIP {mpi} is not here")
            continue
        subprocess.run([f"mpicc.{mpi}", *flags, "-o", f"{name}.{mpi}", source], check=True)
        for case in cases_of(mpi):
            why = try_case(mpi, case)
            points.append(why is None)
            words = f"{mpi}: {case}" if case else mpi
            print(f"{'ok' if why is None else 'not ok'} {len(points)} - {words}")
            for line in (why or "").splitlines():
                print(f"# {line}")
    print(f"1..{len(points)}")
    sys.exit(not all(points))
