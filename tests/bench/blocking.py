#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the prediction of variant DL1 with the gain of locality. One loop of the example jumps
by a plane between accesses; the other has its data in order.

blocking.py ASSAY EXAMPLE FOLDER [PAIRS]

`assay decan` predicts the maximum speed-up of the loop with its data in the first cache. Then its
loops are interchanged in a copy of the source. Both are built without vectors, so that nothing else
differs. The gain follows from CPU time of whole programs, in pairs, and from the share of samples
in the loop. It needs no clone and no agent.

Prints `cg blocking.predicted X LOW HIGH`, `cg blocking.measured X LOW HIGH`, `cg blocking.error E`
(distance of measured over predicted from 1).
"""
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys

LOOPS = "      do j = 1, n\n        do k = first, last\n"
STRIDED = "    do i = 1, n\n" + LOOPS
IN_ORDER = "    do k = first, last\n      do j = 1, n\n        do i = 1, n\n"
# The grid of the example: the strided loop finds its lines in L3 at best.
SIZE = ["--size", "64", "--loads", "4", "--faults", "stride"]


def run(command, **more):
    return subprocess.run(command, capture_output=True, timeout=280, check=True, **more).stdout


def build(example, where, text):
    shutil.rmtree(where, ignore_errors=True)
    shutil.copytree(example, where, ignore=shutil.ignore_patterns("build"))
    with open(os.path.join(where, "smooth.f90"), "w", encoding="utf-8") as f:
        f.write(text)
    run(["make", "-s", "-C", where, "MPI=no", "OPTIMISE=-O3 -march=native -fno-tree-vectorize"])
    return os.path.join(where, "build", "cg")


def cpu_s(command, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


def share_of(told):
    return sum(loop["share"] for loop in told["loops"])


def predict(assay, where, command, environment):
    """ORIG / DL1 with its bounds, and the share of time of the function's loops."""
    told = json.loads(run([assay, "decan", "--no-measure", "--force", "--format", "json",
                           "--rate", "high", "--variants", "dl1", "--loops",
                           "smooth_step_strided", "-o", where, "--", *command], env=environment))
    loop = max((x for x in told["loops"] if x["buckets"]), key=lambda x: x["share"])
    main = next(b for b in loop["buckets"] if b["main"])
    bound = main["bounds"]["decan_orig_dl1_x"]
    return main["values"]["decan_orig_dl1_x"], bound["low"], bound["high"], share_of(told)


def main():
    assay, example, folder = sys.argv[1:4]
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    with open(os.path.join(example, "smooth.f90"), encoding="utf-8") as f:
        source = f.read()
    if source.count(STRIDED) != 1:
        sys.exit("blocking.py: the example's strided loop is written in another way")
    strided = [build(example, os.path.join(folder, "strided"), source), *SIZE]
    ordered = [build(example, os.path.join(folder, "ordered"),
                     source.replace(STRIDED, IN_ORDER)), *SIZE]
    x, low, high, share = predict(assay, os.path.join(folder, "strided.assay"), strided,
                                  environment)
    print("cg blocking.predicted", *(f"{v:.3f}" for v in (x, low or 0, high or 0)))
    *_, rest = predict(assay, os.path.join(folder, "ordered.assay"), ordered, environment)
    gains = []
    for _ in range(pairs):
        slow, fast = cpu_s(strided, environment), cpu_s(ordered, environment)
        gains.append(share * slow / (rest * fast))
    gains.sort()
    measured = statistics.median(gains)
    print("cg blocking.measured", *(f"{v:.3f}" for v in (measured, gains[0], gains[-1])))
    print("cg blocking.error", f"{abs(measured / x - 1):.3f}")


if __name__ == "__main__":
    main()
