#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of variants of loops, and their stability: varied.py RUN AGENT DIRECTORY PROGRAM [ROUNDS
[KERNEL:N...]]

PROGRAM is bench-varied. Prints a line per loop with these values:

- its ticks alone; REF and ORIG relative to them, as medians
- the stability (median - minimum) / minimum of ORIG, of REF and of the worst other variant, over
  instances without a switch
- ticks of an instance outside of the variant itself
- the CPU time of the program, relative to that alone, if variants may take half
"""
import collections
import json
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

KERNELS = ("triad:4", "triad:100", "triad:1000", "dot:1000", "divide:1000", "gather:1000",
           "chase:1000", "scatter:1000", "triad:20000", "triad:200000", "chase:2000",
           "chase:40000", "triad:4000000")
SWITCHED = 4
INSTANCES = 31


def vary(tools, words, share):
    runner, agent, directory = tools
    shutil.rmtree(directory, ignore_errors=True)
    pathlib.Path(directory).mkdir(parents=True)
    subprocess.run([runner, f"vary:{INSTANCES}", "--share", str(share), directory, agent, "--",
                    *words], check=True, stdout=subprocess.DEVNULL)
    return json.loads((pathlib.Path(directory) / "result.json").read_text())


def alone(words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (int(said.split()[0]),
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def stability(ticks):
    return statistics.median(ticks) / min(ticks) - 1 if ticks and min(ticks) else float("nan")


def measure(tools, program, name, n):
    rounds = max(400, min(20000, 200000000 // (n + 1000)))
    if n > 1000000:
        rounds = 400
    words = [program, name, str(n), str(rounds)]
    ticks, seconds = alone(words)
    result = vary(tools, words, 1000000)
    most = collections.Counter(r["address"] for r in result["varied"]
                               if r["trips"] >= n // 8 and r["kind"] == "ref")
    if not most:
        return print(f"{name}:{n} does not vary")
    loop = most.most_common(1)[0][0]
    of = collections.defaultdict(list)
    for r in result["varied"]:
        empty = result["bare_ticks" if r["kind"] == "orig" else "empty_ticks"]
        if r["address"] == loop and not r["flags"] & ~SWITCHED and r["ticks"]:
            of[r["kind"], r["flags"]].append(max(r["ticks"] - empty, 1))
    good = {kind: t for (kind, flags), t in of.items() if not flags}
    took = sum(sum(t) for t in of.values()) - sum(sum(of[k]) for k in of if k[0] == "orig")
    records = sum(len(t) for t in of.values())
    besides = (result["spent_ticks"] - took) / records
    worst = max(((stability(t), kind) for kind, t in good.items()), default=(0, ""))
    share = vary(tools, words, 50)["seconds"] / max(seconds, 1e-9)
    mid = {kind: statistics.median(t) for kind, t in good.items()}
    print(f"{name}:{n}", ticks, *(f"{kind} {mid.get(kind, 0) / max(ticks, 1):.3f}"
                                  for kind in ("ref", "orig")),
          *(f"stable {kind} {stability(good.get(kind, [])):.3f}" for kind in ("orig", "ref")),
          f"worst {worst[1]} {worst[0]:.3f}",
          f"switched {sum(len(t) for k, t in of.items() if k[1])}",
          f"of {records}", f"besides {besides:.0f}", f"whole {share:.2f}", flush=True)


def main():
    runner, agent, directory, program = sys.argv[1:5]
    rounds = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    for _ in range(rounds):
        for kernel in sys.argv[6:] or KERNELS:
            name, n = kernel.split(":")
            measure((runner, agent, directory), program, name, int(n))


main()
