#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs with some instances that run as variants: variants.py ASSAY RUN AGENT OUT [ROW...].

Output and exit status of a program must be the same to the bit. Each variant runs as often as
requested, with the iterations of the program. As many bytes are restored as it writes. Instances
that cannot run as a variant are detected: addresses that depend on stored values, more bytes than
can be restored, faults, endless loops.
"""
import collections
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
from tap import Tap  # noqa: E402

FAULTED, ENDLESS, SWITCHED, HELD, WIDE, SLICED = 1, 2, 4, 8, 16, 32
LINK = ["-D_GNU_SOURCE", "-pthread", "-lm"]
ROWS = {"O2": ["gcc", "-O2"], "O3": ["gcc", "-O3", "-fno-unroll-loops"],
        "fixed": ["gcc", "-O2", "-no-pie", "-fno-pie", "-s"], "clang": ["clang", "-O2"],
        "O0": ["gcc", "-O0"], "native": ["gcc", "-O3", "-march=native"]}
# Those whose loops are one iteration of the source each.
KNOWN = {"O2"}
INSTANCES = 31


def run(command):
    return subprocess.run(command, capture_output=True, timeout=800, check=False)


def functions(program):
    at = {}
    for line in run(["nm", "-S", program]).stdout.decode().splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tT":
            at[words[3]] = (int(words[0], 16), int(words[0], 16) + int(words[1], 16))
    return at


def check_known(tap, name, program, records):
    at = functions(program)
    of = {f: [r for r in records if low <= r["address"] < high] for f, (low, high) in at.items()}

    def kinds(function, trips):
        return collections.Counter(r["kind"] for r in of[function] if r["trips"] == trips)

    def flags(function):
        return {r["flags"] & ~SWITCHED for r in of[function]}

    always = ["orig", "ref", "fp", "ls", "dl1", "fes", "again", "dl1_ls"]
    ahead = ["pf4", "pf16", "pf64"]
    for function, more in (("triad", ahead), ("updated", ahead),
                           ("gathered", ["nodiv", "nored", "dl1_nodiv", "dl1_nored", *ahead])):
        tap.equal(kinds(function, 1000), {k: INSTANCES for k in always + more},
                  f"{name}: {function}: as many of each variant as asked for")
        tap.equal(flags(function), {0}, f"{name}: {function}: all of them end as they should")
    stored = (("backwards", 700, 8), ("scattered", 600, 8), ("spilled", 400, 8),
              ("paired", 300, 8), ("chosen", 500, 0), ("seldom", 300, 8))
    for function, trips, each_b in stored:
        more = [] if function in ("chosen", "spilled") else ["pf4", "pf16", "pf64"]
        tap.equal({k: n for k, n in kinds(function, trips).items() if k in always + more},
                  {k: INSTANCES for k in always + (more if function != "paired" else [])},
                  f"{name}: {function}: so")
        written = {r["written"] for r in of[function] if r["kind"] == "ref"}
        tap.equal(written - {trips * each_b + (8 if function == "paired" else 0)},
                  set() if each_b else written, f"{name}: {function}: so, what is written")
    for function, each_b in (("triad", 8), ("updated", 8), ("gathered", 0), ("even_bytes", 1)):
        got = {(r["kind"], r["written"] == each_b * r["trips"]) for r in of[function]}
        writes = {"ref", "ls", "nodiv", "nored", "again", *ahead}
        tap.same_set([k for k, good in got if not good],
                     [k for k, _ in got if k not in writes and each_b],
                     f"{name}: {function}: what is written is put back")
    tap.equal({r["trips"] for r in of["triad"]} - {64, 16}, {1000, 333, 200, 150, 100, 77, 50},
              f"{name}: triad: the program's iterations")
    tap.equal({(r["kind"], r["flags"] & ~SWITCHED) for r in of["held"]} -
              {(kind, 0) for kind in ("orig", "fp", "dl1", "fes", "dl1_ls", "dl1_nodiv")},
              {("rec", HELD)},
              f"{name}: where addresses come from what is stored, nothing that stores runs")
    tap.equal(flags("wide"), {WIDE}, f"{name}: what is too much to put back is noticed")
    tap.equal([r["kind"] for r in of["wide"] + of["named_twice"] + of["waiting"]
               if r["kind"] != "rec"], [], f"{name}: and does not run as a variant")
    tap.point(flags("named_twice") <= {WIDE, ENDLESS, HELD} and of["named_twice"],
              f"{name}: a branch on what is stored ends", of["named_twice"])
    tap.point(flags("waiting") & {ENDLESS, WIDE}, f"{name}: a loop that waits for a handler ends",
              of["waiting"])
    tap.equal({(r["kind"], r["flags"] & FAULTED) for r in of["dividing"] if r["kind"] == "dl1"},
              {("dl1", FAULTED)}, f"{name}: a division by 0 ends the variant")


def check_listed(tap, name, assay, program):
    told = json.loads(run([assay, "patch", "--mode", "vary", "--format", "json", program]).stdout)
    of = {row["function"]: row for row in told["loops"]}
    always, ahead = ["ref", "fp", "ls", "dl1", "fes"], ["pf4", "pf16", "pf64"]
    tap.equal([of["triad"]["variants"], of["gathered"]["variants"]],
              [always + ["again", "dl1_ls", *ahead],
               always + ["nodiv", "nored", "again", "dl1_ls", "dl1_nodiv", "dl1_nored", *ahead]],
              f"{name}: variants are listed")
    tap.equal([of["member"].get("variants"), of["member"]["reason"]],
              [None, "calls, or jumps through a table"], f"{name}: or why there are none")


def overlaps(records):
    """Pairs of variants of two threads that ran at once, undisturbed."""
    calm = sorted((r for r in records if r["ticks"] and not r["flags"] and r["kind"] != "rec"),
                  key=lambda r: r["t0"])
    for i, a in enumerate(calm):
        for b in calm[i + 1:i + 20]:
            if b["t0"] >= a["t0"] + a["ticks"]:
                break
            if a["tid"] != b["tid"]:
                yield a, b


def check_team(tap, name, tools, program, where):
    """Threads that work on one thing: one varies at a time, or all run the same at once."""
    _, runner, agent = tools
    plain = run([program, "team"])
    for way in ([], ["--together"]):
        data = os.path.join(where, "team" + "".join(way))
        os.makedirs(data)
        got = run([runner, f"vary:{INSTANCES}", "--share", "1000000", *way, "--only", program,
                   data, agent, "--", program, "team"])
        which = "all at once" if way else "one thread at a time"
        tap.equal((got.stdout, got.returncode), (plain.stdout, plain.returncode),
                  f"{name}: a team: does what it does alone ({which})")
        varied = json.load(open(os.path.join(data, "result.json")))["varied"]
        both = list(overlaps(varied))
        tap.equal([(a, b) for a, b in both if not way or a["kind"] != b["kind"]][:1], [],
                  f"{name}: a team: {which}")
        tap.equal(any(r["together"] > 1 for r in varied), bool(way),
                  f"{name}: a team: how many ran at once is kept ({which})")


def check_once(tap, name, tools, program, where):
    """Loops that are entered once: slices of their iterations give as many instances."""
    _, runner, agent = tools
    plain = run([program, "once"])
    at = functions(program)
    for share in ("1000000", "50"):
        data = os.path.join(where, "once" + share)
        os.makedirs(data)
        got = run([runner, f"vary:{INSTANCES}", "--slices", "--share", share, "--only", program,
                   data, agent, "--", program, "once"])
        tap.equal((got.stdout, got.returncode), (plain.stdout, plain.returncode),
                  f"{name}: once, at most {share} %: does what it does alone")
        varied = json.load(open(os.path.join(data, "result.json")))["varied"]
        low, high = at["once"]
        sliced = [r for r in varied if low <= r["address"] < high and r["flags"] & SLICED]
        kinds = collections.Counter(r["kind"] for r in sliced)
        wanted = ["orig", "ref", "fp", "ls", "dl1", "fes", "nodiv", "dl1_ls", "dl1_nodiv"]
        tap.equal({k: kinds[k] for k in wanted}, {k: INSTANCES for k in wanted},
                  f"{name}: once, at most {share} %: a slice for each instance")
        trips = {r["trips"] for r in sliced}
        tap.point(len(trips) == 1 and max(trips).bit_count() == 1,
                  f"{name}: once, at most {share} %: all of as many iterations", trips)
        low, high = at["walked"]
        tap.equal([r["kind"] for r in varied if low <= r["address"] < high and
                   r["kind"] in ("ref", "ls", "pf4")], [],
                  f"{name}: once, at most {share} %: what decides its own addresses does not run")


def check_shapes(tap, name, tools, program, where):
    """Counters in memory, nests, strides of the run, and loops that many others run before."""
    _, runner, agent = tools
    plain = run([program, "shapes"])
    at = functions(program)
    for way in (["--nests"], ["--nests", "--outer"]):
        data = os.path.join(where, "shapes" + way[-1])
        os.makedirs(data)
        got = run([runner, f"vary:{INSTANCES}", *way, "--share", "1000000", "--only", program,
                   data, agent, "--", program, "shapes"])
        which = "outer loops first" if len(way) > 1 else "inner loops first"
        tap.equal((got.stdout, got.returncode), (plain.stdout, 0),
                  f"{name}: shapes: does what it does alone ({which})")
        varied = json.load(open(os.path.join(data, "result.json")))["varied"]

        def kinds(function, trips):
            low, high = at[function]
            return collections.Counter(r["kind"] for r in varied if low <= r["address"] < high and
                                       r["trips"] == trips and not r["flags"] & ~SWITCHED)

        always = ["orig", "ref", "fp", "ls", "dl1", "fes", "again", "dl1_ls"]
        for function, trips in (("counted", 300), ("spending", 200), ("strode", 500),
                                ("nested", 64 if len(way) > 1 else 32)):
            of = kinds(function, trips)
            tap.equal({k: of[k] for k in always}, {k: INSTANCES for k in always},
                      f"{name}: shapes: {function}: as many of each variant ({which})")
        of = kinds("strode", 500)
        tap.equal({k: of[k] for k in ("pf4", "pf16", "pf64")},
                  {k: INSTANCES for k in ("pf4", "pf16", "pf64")},
                  f"{name}: shapes: what a register strides is prefetched ({which})")
        low, high = at["guarded"]
        tap.point(any(low <= r["address"] < high and r["kind"] == "ref" for r in varied),
                  f"{name}: shapes: guarded: it varies ({which})",
                  collections.Counter((r["kind"], r["flags"]) for r in varied
                                      if low <= r["address"] < high))
        for function, trips, each_b in (("counted", 300, 8), ("nested", 64, 8)):
            low, high = at[function]
            written = {r["written"] for r in varied if low <= r["address"] < high and
                       r["kind"] == "ref" and r["trips"] == trips}
            tap.point(written <= {trips * each_b},
                      f"{name}: shapes: {function}: what is put back ({which})", written)


def check_row(tap, name, tools, out):
    assay, runner, agent = tools
    where = os.path.join(out, name)
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    program = os.path.join(where, "program")
    if not shutil.which(ROWS[name][0]):
        return tap.skip(name, f"no {ROWS[name][0]}")
    made = run([*ROWS[name], "-g", "-o", program, os.path.join(HERE, "src", "variants.c"), *LINK])
    if made.returncode:
        return tap.point(False, f"{name}: is built", made.stderr.decode())
    if name in KNOWN:
        check_listed(tap, name, assay, program)
        check_team(tap, name, tools, program, where)
        check_once(tap, name, tools, program, where)
        check_shapes(tap, name, tools, program, where)
    for argument, limit in (([], []), (["crash"], []), ([], ["--limit", "1"])):
        plain = run([program, *argument])
        data = os.path.join(where, "run" + "".join(argument + limit))
        os.makedirs(data)
        got = run([runner, f"vary:{INSTANCES}", "--share", "1000000", *limit, "--only", program,
                   data, agent, "--", program, *argument])
        ends = plain.returncode if plain.returncode >= 0 else 128 - plain.returncode
        which = " (a fault)" if argument else " (no time)" if limit else ""
        tap.equal((got.stdout, got.returncode), (plain.stdout, ends),
                  f"{name}: does what it does alone, and ends so{which}")
        result = json.load(open(os.path.join(data, "result.json")))
        if not argument and not limit:
            used = [os.stat(os.path.join(data, f)).st_blocks * 512 for f in os.listdir(data)
                    if f.startswith("varied.")]
            tap.point(min(used) < 2**17, f"{name}: the file of a thread that ended is small", used)
        if not argument:
            tap.point(result["missed"] == 0, f"{name}: no thread is missed", result["missed"])
        if limit and name in KNOWN:
            tap.point(any(r["flags"] & ENDLESS for r in result["varied"]),
                      f"{name}: what takes too long is ended", result["varied"])
        elif not argument and name in KNOWN:
            check_known(tap, name, program, result["varied"])
    return True


def main():
    assay, runner, agent, out = sys.argv[1:5]
    tap = Tap()
    for name in sys.argv[5:] or list(ROWS):
        check_row(tap, name, (assay, runner, agent), out)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
