#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measurements of `assay machine` against other sources: machine.py ASSAY FOLDER.

Prints a line for each of these, and the share of figures from times without calm:

- the triad of all cores over a hand-tuned STREAM with OpenMP
- the FMA peak over pipes x lanes x 2 x the frequency measured beside it
- the agreement of two measurements of instruction forms
- the time that measuring takes

BENCH_SECONDS=N ends the benchmark after about N seconds with a message, for machines with short
calm times. The same command continues with the rest, because FOLDER keeps the results.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

PIPES = (0.5, 1, 2, 3, 4)
LANES = {"sse": 2, "avx2": 4, "avx512": 8}


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


def facts(assay):
    return json.loads(run(assay, "machine", "--format", "json"))


UNTIL = time.monotonic() + float(os.environ.get("BENCH_SECONDS", "inf"))


class OutOfTime(Exception):
    pass


def measure(assay, home, what, *more):
    """Returns the output of `assay machine`, and the time of all its pieces."""
    done = home / f"{what}.json"
    if not done.exists():
        command = [assay, "machine", "--measure", what, "--quiet", "--format", "json", *more]
        job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "XDG_DATA_HOME": str(home)})
        try:
            left = UNTIL - time.monotonic()
            out, err = job.communicate(timeout=None if left == float("inf") else max(left, 1))
        except subprocess.TimeoutExpired as late:
            job.send_signal(signal.SIGINT)
            job.communicate()
            raise OutOfTime(what) from late
        if job.returncode != 0:
            sys.exit(f"machine.py: {' '.join(map(str, command))}: {err.strip()}")
        home.mkdir(parents=True, exist_ok=True)
        done.write_text(out)
    data = json.loads(done.read_text())
    return data, sum(one["took_s"] for one in data["groups"] if one["name"] in what.split(","))


def words_of(out):
    return {name: float(value) for name, value in (line.split() for line in out.splitlines())}


def stream(folder, array_b, when):
    kept = folder / f"stream-{when}"
    if kept.exists():
        return words_of(kept.read_text())
    source = pathlib.Path(__file__).with_name("stream.c")
    program = folder / "stream"
    run("gcc", "-O3", "-march=native", "-fopenmp", "-o", program, source)
    cores = len(os.sched_getaffinity(0))
    out = run(program, str(array_b), "40",
              env={**os.environ, "OMP_NUM_THREADS": str(cores), "OMP_PROC_BIND": "true"})
    (folder / f"stream-{when}").write_text(out)
    return words_of(out)


def table(home):
    forms = {}
    for path in (home / "assay/machines").glob("*.uarch.tsv"):
        for line in path.read_text().splitlines():
            word = line.split("\t")
            if word[0] == "form":
                forms[word[1]] = (*word[2:5], "noisy" in word[6])
    return forms


def numbers(line):
    """Every number of a line: slots, uses by group, latencies by operand."""
    slots, uses, latency = line[:3]
    found = {"slots": float(slots)}
    for part in uses.split() + ["latency:" + one if ":" not in one else one
                                for one in latency.split()]:
        if ":" in part:
            name, value = part.rsplit(":", 1)
            if value != "-":
                found[name] = float(value.split("-")[0])
    return found


def agrees(a, b, names=None):
    """All numbers to 2 %, or those of `names`; one that the other line lacks does not agree."""
    a, b = numbers(a), numbers(b)
    return all(abs(a.get(name, 0) - b.get(name, 0)) <= 0.02 * max(a.get(name, 0), b.get(name, 0))
               for name in names or set(a) | set(b))


def say(what, value, target):
    print(f"{what:<52} {value:>12}  {target}")


def rows():
    assay, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    # A hypervisor moves virtual CPUs between dies, which may double the bandwidth: measure before
    # and after.
    last_b = max((one["size_b"] or 0 for one in facts(assay)["topology"]["places"]
                  if one["kind"] == "cache"), default=32 << 20)
    array_b = max(4 * last_b // 3, 64 << 20)
    before = stream(folder, array_b, "before")
    data, took = measure(assay, folder / "a", "memory,peaks")
    say("memory and peaks", f"{took:.0f} s", "with instructions below 360 s")
    figures = {one["name"]: one for one in data["figures"]}
    low = sum(one["confidence"] == "low" for one in data["figures"])
    say("figures of little trust", f"{low} of {len(figures)}", "")
    after = stream(folder, array_b, "after")
    for name in ("triad", "triad-nt"):
        ours = figures[f"bandwidth.{name}.memory.all"]["value"]
        peer = max(before[name], after[name])
        say(f"{name} of all cores, over STREAM's", f"{ours / peer:.3f}", "0.95 or more")
    for width, lanes in LANES.items():
        peak = figures.get(f"peak.fma.f64.{width}.core")
        if not peak:
            continue
        pipes = peak["value"] / figures[f"frequency.fma.f64.{width}.core"]["value"] / 2 / lanes
        whole = min(PIPES, key=lambda one: abs(one - pipes))
        say(f"FMA f64 {width}, over {whole:g} pipes", f"{pipes / whole:.3f}", "0.97 or more")
    code = [word for name in sys.argv[3:] or [assay] for word in ("--for", name)]
    for home in ("a", "b"):
        _, took = measure(assay, folder / home, "instructions", *code)
    say("instructions, the forms of " + " ".join(sys.argv[3:] or ["assay"]), f"{took:.0f} s", "")
    a, b = table(folder / "a"), table(folder / "b")
    both = [key for key in a if key in b and not a[key][3] and not b[key][3]]
    say("forms that were calm twice", f"{len(both)} of {len(a)}", "")
    for what, names in (("slots and latency", ("slots", "latency")), ("every number", None)):
        same = sum(agrees(a[key], b[key], names) for key in both)
        say(f"of them agree to 2 % in {what}", f"{100 * same / max(1, len(both)):.1f} %",
            "97 % or more")


def main():
    try:
        rows()
    except OutOfTime as unfinished:
        sys.exit(f"machine.py: {unfinished}: not at its end; the same command goes on")


main()
