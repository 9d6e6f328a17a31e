#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Topologies and one-sided access in OTF2, there and back: grid.py ASSAY SOURCE DIRECTORY

otf2-print reads what a program with known access wrote; an import has the bytes and, exported
again, the same topologies, windows and accesses.
"""
import collections
import json
import os
import re
import shutil
import subprocess

import sys

from both_mpis import run_points

ROUNDS, RANKS = 3, 4
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
# By rank, on a grid of 2 by 2 with the second dimension periodic.
COORDINATES = {0: (0, 0), 1: (0, 1), 2: (1, 0), 3: (1, 1)}
NEIGHBOUR = {0: 1, 1: 0, 2: 3, 3: 2}


class Fault(Exception):
    pass


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fault(f"{' '.join(command)}: {done.stderr[-500:]}")
    return done.stdout


def accesses_of(archive):
    """(rank, record, target, bytes, window) -> times."""
    found = collections.Counter()
    for line in run("otf2-print", f"{archive}/traces.otf2").splitlines():
        known = re.match(r"RMA_(PUT|GET|ATOMIC) +(\d+) .*Window: .*<(\d+)>, Remote: (\d+) .*"
                         r"(?:Bytes|Sent): (\d+),", line)
        if known:
            kind, location, window, target, size_b = known.groups()
            found[int(location), kind, int(target), int(size_b), int(window)] += 1
    return found


def wanted():
    found = collections.Counter()
    for rank in range(RANKS):
        found[rank, "PUT", NEIGHBOUR[rank], 8 * (rank + 1)] = ROUNDS
        found[rank, "GET", 0, 16] = ROUNDS
        found[rank, "ATOMIC", 3, 4] = ROUNDS
    return found


def topology_of(archive):
    """Sizes with their periods, and rank -> coordinates."""
    text = run("otf2-print", "-G", f"{archive}/traces.otf2")
    sizes = [(int(size), periodic == "TRUE") for size, periodic in
             re.findall(r"CART_DIMENSION .*Size: (\d+).*Periodic(?:ity)?: (?:CART_PERIODIC_)?(\w+)",
                        text)]
    own = {int(rank): tuple(map(int, re.findall(r"\d+", coordinates))) for rank, coordinates in
           re.findall(r"CART_COORDINATE .*Rank: (\d+).*?Coordinates?: (.*)$", text, re.MULTILINE)}
    return sizes, own


def bytes_of(parallel):
    found = collections.Counter()
    for row in parallel["calls"]:
        if row["routine"] in ("MPI_Put", "MPI_Get", "MPI_Accumulate"):
            found[row["routine"], row["location"]] += row["sent_b"] + row["received_b"]
    return found


def judge(archive, windows_n=2):
    found = accesses_of(archive)
    without_window = collections.Counter()
    for (rank, kind, target, size_b, _), n in found.items():
        without_window[rank, kind, target, size_b] += n
    if without_window != wanted():
        raise Fault(f"{archive} has {without_window}, not {wanted()}")
    if len({(kind == "ATOMIC", window) for _, kind, _, _, window in found}) != windows_n:
        raise Fault(f"{archive} has other windows: {found}")
    sizes, own = topology_of(archive)
    if sizes != [(2, False), (2, True)] or own != COORDINATES:
        raise Fault(f"{archive} has a topology of {sizes} with {own}")


def try_mpi(assay):
    def try_one(mpi, _):
        for name in ("grid.assay", "grid.otf2", "again.assay", "again.otf2"):
            shutil.rmtree(name, ignore_errors=True)
        launch = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), "-n",
                  str(RANKS)]
        try:
            first = json.loads(run(assay, "trace", "--format", "json", "-o", "grid.assay", "--",
                                   *launch, f"./grid.{mpi}", str(ROUNDS)))["parallel"]
            run(assay, "export", "grid.assay", "--as", "otf2", "-o", "grid.otf2")
            judge("grid.otf2")
            again = json.loads(run(assay, "import", "--format", "json", "-o", "again.assay",
                                   "grid.otf2"))["parallel"]
            if bytes_of(first) != bytes_of(again) or sum(bytes_of(first).values()) == 0:
                raise Fault(f"the import has {bytes_of(again)}, not {bytes_of(first)}")
            run(assay, "export", "again.assay", "--as", "otf2", "-o", "again.otf2")
            judge("again.otf2")
        except Fault as fault:
            return str(fault)
        return None
    return try_one


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    if not shutil.which("otf2-print"):
        print("1..0 # SKIP no otf2-print")
        return
    run_points("grid", source, directory, ["-O1"], lambda _: [""], try_mpi(assay))


main()
