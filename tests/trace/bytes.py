#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls and bytes of a program that are known from its text: bytes.py ASSAY SOURCE DIRECTORY

src/bytes.c under each MPI that is installed. A cancelled receive is not received. Persistent sends
have their bytes where they start. I/O has its bytes. A call of realloc is one call. otf2-print
reads the same from an exported archive.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")


class Wrong(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def run_of(*command):
    run = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    expect(run.returncode == 0, f"{command}: {run.stderr[-400:]}")
    return run.stdout


def sums_of(parallel):
    """{(rank, routine): (calls, sent, received)}"""
    sums = collections.defaultdict(lambda: (0, 0, 0))
    for row in parallel["calls"]:
        key = parallel["locations"][row["location"]]["rank"], row["routine"]
        sums[key] = tuple(a + row[b] for a, b in zip(sums[key], ("calls_n", "sent_b", "received_b"),
                                                     strict=True))
    return sums


def check_calls(parallel):
    sums = sums_of(parallel)
    for rank in (0, 1):
        for routine, calls, sent, received in (
                ("MPI_Send_init", 1, 0, 0), ("MPI_Startall", 200, 200 * 77, 0),
                ("MPI_Waitall", 200, 0, 200 * 77), ("MPI_Cancel", 1, 0, 0),
                ("MPI_Wait", 1, 0, 0), ("write", 60, 6000, 0), ("pread", 21, 0, 1050)):
            expect(sums[rank, routine] == (calls, sent, received),
                   f"rank {rank}, {routine}: {sums[rank, routine]}")
        expect(sums[rank, "realloc"][0] >= 102, f"rank {rank}, realloc: {sums[rank, 'realloc']}")
    expect(parallel["broken_n"] == 0, f"broken records: {parallel['broken_n']}")
    expect(parallel["messages_matched_n"] == 400, f"messages: {parallel['messages_matched_n']}")


def check_otf2(assay, name):
    shutil.rmtree(f"{name}.otf2", ignore_errors=True)
    run_of(assay, "export", f"{name}.assay", "--as", "otf2", "-o", f"{name}.otf2")
    lines = run_of("otf2-print", f"{name}.otf2/traces.otf2").splitlines()
    definitions = run_of("otf2-print", "-G", f"{name}.otf2/traces.otf2")
    found = [re.findall(pattern, definitions) for pattern in (
        r"CART_DIMENSION +\d+ +Name: \"dimension (\d)\" <\d+>, Size: (\d), Periodicity: (\w+)",
        r"CART_COORDINATE .*Rank: (\d+) .*Coordinates: \((\d+, \d+)\)")]
    expect(found == [[("0", "1", "FALSE"), ("1", "2", "TRUE")], [("0", "0, 0"), ("1", "0, 1")]],
           f"the grid: {found}, {[it for it in definitions.splitlines() if 'CART' in it]}")
    kinds = collections.Counter(line.split()[0] for line in lines if line.strip())
    expect(kinds["MPI_REQUEST_CANCELLED"] == 2, f"cancelled: {kinds['MPI_REQUEST_CANCELLED']}")
    expect(not any("MPI_IRECV " in line and "Tag: 42" in line for line in lines),
           "a cancelled receive is not received")
    return lines


def check_realloc(assay):
    """A program of one process alone: no allocation is another's."""
    with open("realloc.c", "w", encoding="ascii") as out:
        out.write("#include <stdlib.h>\nint main(void) {\n    char *volatile p = malloc(8192);\n"
                  "    for (int i = 0; i < 100; i++)\n        p = realloc(p, 8192 + i * 4096);\n"
                  "    free(p);\n    char *volatile q = 0;\n    q = realloc(q, 16384);\n"
                  "    q = realloc(q, 0);\n    return 0;\n}\n")
    run_of("gcc", "-O0", "-w", "-o", "realloc", "realloc.c")
    parallel = json.loads(run_of(assay, "trace", "--groups", "memory", "--force", "--format",
                                 "json", "-o", "realloc.assay", "--", "./realloc"))["parallel"]
    calls = collections.Counter()
    for row in parallel["calls"]:
        calls[row["routine"]] += row["calls_n"]
    expect(calls["realloc"] == 102, f"realloc: {calls}")
    shutil.rmtree("realloc.otf2", ignore_errors=True)
    run_of(assay, "export", "realloc.assay", "--as", "otf2", "-o", "realloc.otf2")
    text = run_of("otf2-print", "realloc.otf2/traces.otf2")
    got, gone = ([int(n) for n in re.findall(rf'"{name}" <\d+>; UINT64; (\d+)', text)]
                 for name in ("ALLOCATION_SIZE", "DEALLOCATION_SIZE"))
    # Sizes are what the allocator says that the block has: a little more than asked for.
    steps = [8192, *(8192 + i * 4096 for i in range(100)), 16384]
    expect(len(got) == 102 and len(gone) == 102, f"sizes: {len(got)}, {len(gone)}")
    expect(all(step <= size < step + 4096 for step, size in zip(steps, got, strict=True)),
           f"sizes: {got}")
    expect(sorted(got) == sorted(gone), f"what was got is given back: {got} {gone}")


def try_mpi(assay, mpi, source):
    name = f"bytes-{mpi}"
    run_of(f"mpicc.{mpi}", "-O1", "-g", "-w", "-o", name, source)
    shutil.rmtree(f"{name}.assay", ignore_errors=True)
    command = ["mpirun." + mpi, *(["--oversubscribe"] if mpi == "openmpi" else []), "-n", "2"]
    run = subprocess.run([assay, "trace", "--groups", "mpi,io,memory", "--format", "json", "-o",
                          f"{name}.assay", "--", *command, f"./{name}"], env=ENVIRONMENT,
                         capture_output=True, text=True, check=False)
    expect(run.returncode == 0, run.stderr[-400:])
    lines = run.stdout[:run.stdout.index("{")].splitlines()
    expect(lines.count("cancelled 1") == 2, f"the program's own words: {lines}")
    check_calls(json.loads(run.stdout[run.stdout.index("{"):])["parallel"])
    check_otf2(assay, name)


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    os.chdir(directory)
    points = [("realloc", lambda: check_realloc(assay))]
    points += [(mpi, lambda mpi=mpi: try_mpi(assay, mpi, source)) for mpi in ("mpich", "openmpi")
               if shutil.which(f"mpicc.{mpi}")]
    failed = 0
    print(f"1..{len(points)}")
    for number, (name, work) in enumerate(points, 1):
        try:
            work()
            print(f"ok {number} - {name}")
        except (Wrong, KeyError, ValueError) as wrong:
            failed += 1
            print(f"not ok {number} - {name}\n# {wrong!r}")
    sys.exit(failed > 0)


main()
