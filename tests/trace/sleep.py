#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time asleep outside calls of MPI and threads: sleep.py ASSAY DUMP SOURCE DIRECTORY

A program sleeps in all ways and logs it. Each logged call has one in the trace within it, and a
call that finds something at once has none. The state `asleep`, and the parallel efficiency, are
worked out again from these calls.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

import traced

ROUNDS, LATE_MS = 2, 10
Call = collections.namedtuple("Call", "name enter leave")


def read_log(path):
    rows = [line.split() for line in pathlib.Path(path).read_text().splitlines()]
    return [Call(row[2], int(row[3]), int(row[4])) for row in rows]


def run(assay, program):
    done = subprocess.run([assay, "trace", "--format", "json", "-o", "sleep.assay", "--", program,
                           "log", str(ROUNDS), str(LATE_MS)], capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["parallel"]


def judge(assay, dump, program):
    found = run(assay, program)
    log = read_log("log")
    (calls,) = traced.calls_of(dump, "sleep.assay").values()
    if [call[0] for call in calls] != [call.name for call in log]:
        raise RuntimeError(f"{calls}\nare not\n{log}")
    traced.placed([log], {0: calls})
    asleep_s = sum(end - begin for _, begin, end in calls) / 1e9
    (thread,) = found["locations"]
    efficiency = 1 - asleep_s / found["elapsed_s"]
    yield "the calls that wait, and no others", None
    yield "asleep", thread["sleeping_s"] - asleep_s
    yield "computing", thread["computing_s"] + asleep_s - (thread["end_s"] - thread["begin_s"])
    yield "parallel efficiency", found["parallel_efficiency"] - efficiency
    yield "most of the run", None if asleep_s > 0.9 * ROUNDS * 13 * LATE_MS / 1e3 else asleep_s


def main():
    assay, dump, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    subprocess.run(["rm", "-rf", "sleep.assay"], check=True)
    faults = 0
    for flags in ([], ["-D_FORTIFY_SOURCE=2"]):
        subprocess.run(["cc", "-D_GNU_SOURCE", "-O2", *flags, "-o", "sleeper", source, "-lpthread"],
                       check=True)
        subprocess.run(["rm", "-rf", "sleep.assay"], check=True)
        for what, off in judge(assay, dump, "./sleeper"):
            fits = off is None or abs(off) < 1e-6
            faults += not fits
            print(f"{'ok' if fits else 'not ok'} - {' '.join([what, *flags])}")
            if not fits:
                print(f"# off by {off}")
    print(f"1..{2 * 5}")
    sys.exit(faults > 0)


main()
