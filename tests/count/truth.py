#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `assay count` counts, held to what is known: truth.py ASSAY MASKS OUT [ROW...].

Kernels say what they do by construction; a series and a stencil have as many operations however
they are compiled, and move as many bytes where nothing is vectorised or kept in registers from one
iteration to the next. Masked instructions and repeated ones say what their masks and counts let.
callgrind, where it is there, counts the instructions of the same binaries.
"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
from tap import Tap  # noqa: E402

PLAIN = ["-fno-tree-vectorize", "-fno-unroll-loops"]
# name: compiler, flags, side, whether bytes are exact
ROWS = {
    "O0": ("gcc", ["-O0"], 64, False),
    "O1": ("gcc", ["-O1"], 64, True),
    "O2": ("gcc", ["-O2", *PLAIN], 256, True),
    "O3": ("gcc", ["-O3"], 64, False),
    "O3-avx2": ("gcc", ["-O3", "-mavx2", "-mfma"], 256, False),
    "O3-avx512": ("gcc", ["-O3", "-march=x86-64-v4", "-mprefer-vector-width=512"], 64, False),
    "clang": ("clang", ["-O2", "-fno-vectorize", "-fno-unroll-loops"], 64, True),
    "clang-O3": ("clang", ["-O3"], 64, False),
    "large": ("gcc", ["-O2", *PLAIN], 2048, True),
    "killed": ("gcc", ["-O2", *PLAIN], 64, True),
}
MASKS = {"copies": ("executed_repeat_n", 1), "fills": ("executed_repeat_n", 1),
         "searches": ("executed_repeat_n", 1)}


def run(command, **more):
    return subprocess.run(command, capture_output=True, timeout=800, **more)


def has_avx512():
    return " avx512vl" in open("/proc/cpuinfo").read()


def count(assay, out, program, *arguments, options=()):
    """The objects that are counted, by kind and name of the function."""
    experiment = os.path.join(out, "x.assay")
    shutil.rmtree(experiment, ignore_errors=True)
    got = run([assay, "count", "--format", "json", "--quiet", "-o", experiment, *options, "--",
               program, *arguments])
    try:
        data = json.loads(got.stdout)
    except ValueError:
        return got, None, {}
    objects = {}
    for it in data["counted"]:
        objects.setdefault((it["kind"], it["name"].split(" ")[0]), []).append(it)
    return got, data, objects


def of_loop(objects, name, key):
    """Of the loop over the points: around it there are spills, in it there is no memory."""
    depth = {"series": 1, "plane": 2, "cube": 3}[name.split("_")[0]]
    return sum(x[key] for x in objects.get(("loop", name), []) if x["depth"] == depth)


class Row:
    def __init__(self, tap, assay, name, out):
        self.tap, self.assay, self.name = tap, assay, name
        self.compiler, self.flags, self.side, self.exact_bytes = ROWS[name]
        self.dir = os.path.join(out, name)
        self.program = os.path.join(self.dir, "known")

    def point(self, good, what, why=""):
        self.tap.point(good, f"{self.name}: {what}", why)

    def build(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        return run([self.compiler, "-g", *self.flags, "-o", self.program,
                    os.path.join(HERE, "known.c")])

    def check_kernel(self, objects, line):
        name, starts, flops, load_b, store_b = line.split()
        function = objects.get(("function", name), [None])[0]
        if not function or function["not_counted"]:
            return f"{name}: {function and function['not_counted']}"
        got = [function["executed_start_n"], function["executed_flop_n"]]
        want = [int(starts), int(flops)]
        single = function["executed_flop_f32_n" if "_sp" in name else "executed_flop_f64_n"]
        if single != int(flops):
            return f"{name}: {single} flops of its precision, not {flops}"
        if self.exact_bytes:
            got += [of_loop(objects, name, f"executed_{k}_b") for k in ("load", "store")]
            want += [int(load_b), int(store_b)]
        return None if got == want else f"{name}: {got}, not {want}"

    def check_callgrind(self, objects):
        if not shutil.which("valgrind") or self.name not in ("O0", "O2", "O3", "clang"):
            return
        file = os.path.join(self.dir, "callgrind.out")
        got = run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", self.program,
                   "16"])
        if got.returncode:
            self.tap.skip(f"{self.name}: callgrind counts the same", "it cannot run this")
            return
        listed = run(["callgrind_annotate", "--threshold=100", "--auto=no", file]).stdout.decode()
        seen = {m[2]: int(m[1].replace(",", "")) for m in
                re.finditer(r"^\s*([\d,]+) \([^)]*\)\s+\S*?:((?:series|plane|cube)_\w+)", listed,
                            re.M)}
        _, _, objects = count(self.assay, self.dir, self.program, "16",
                              options=["--functions", "^(series|plane|cube)_"])
        bad = [(name, n, objects[("function", name)][0]["executed_instruction_n"])
               for name, n in seen.items()
               if objects[("function", name)][0]["executed_instruction_n"] != n]
        self.point(len(seen) == 62 and not bad, "callgrind counts the same instructions",
                   (len(seen), bad))

    def check(self):
        if not shutil.which(self.compiler):
            self.tap.skip(self.name, f"no {self.compiler}")
            return
        if "512" in self.name and not has_avx512():
            self.tap.skip(self.name, "the processor has no AVX-512")
            return
        made = self.build()
        self.point(made.returncode == 0, "builds", made.stderr.decode())
        arguments = [str(self.side)] + (["killed"] if self.name == "killed" else [])
        alone = run([self.program, *arguments])
        got, data, objects = count(self.assay, self.dir, self.program, *arguments,
                                   options=["--functions", "^(series|plane|cube)_"])
        self.point(data is not None and data["refused_share"] == 0, "is counted",
                   got.stderr.decode())
        if data is None:
            return
        bad = [why for line in alone.stderr.decode().splitlines()
               for why in [self.check_kernel(objects, line)] if why]
        self.point(not bad, "operations and bytes of each kernel are those of its construction",
                   "\n".join(bad))
        outputs = [os.path.join(d, f) for d, _, files in os.walk(os.path.join(self.dir, "x.assay"))
                   for f in files if f.startswith("output")]
        same = [open(f, "rb").read() == alone.stdout + alone.stderr or
                alone.stdout in open(f, "rb").read() for f in outputs]
        self.point(len(same) == 2 and all(same), "computes what it computes alone", outputs)
        self.check_callgrind(objects)
        if self.name == "O3":
            self.check_short()

    def check_short(self):
        """What is named is counted in runs of a millisecond too: few or no samples fall there."""
        chosen = [len([k for k in count(self.assay, self.dir, self.program, "16",
                                        options=["--functions", "^(series|plane|cube)_"])[2]
                       if k[0] == "function"]) for _ in range(24)]
        self.point(chosen == [62] * 24, "runs without samples are counted", chosen)


def check_masks(tap, assay, source, out):
    """Flops and bytes of masked instructions by what the program says of their masks."""
    where = os.path.join(out, "masks")
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    program = os.path.join(where, "masks")
    made = run(["gcc", "-O2", "-o", program, source])
    if made.returncode:
        tap.point(False, "masks: builds", made.stderr.decode())
        return
    stated = {}
    for line in run([program]).stderr.decode().splitlines():
        _, name, _, n = line.split()
        stated[name] = int(n)
    _, _, objects = count(assay, where, program, options=["--functions", "."])
    rounds = 500

    def of(name, key):
        return objects[("function", name)][0][key]
    for name, (key, each) in MASKS.items():
        tap.point(of(name, key) == each * stated[name], f"masks: repetitions of {name}",
                  (of(name, key), stated[name]))
    # rep movsb loads and stores a byte each; lengths are loaded, 2 bytes each, and the return.
    tap.point(of("copies", "executed_store_b") == stated["copies"] and
              of("copies", "executed_load_b") == stated["copies"] + 2 * rounds + 8,
              "masks: bytes of rep movsb", of("copies", "executed_load_b"))
    tap.point(of("fills", "executed_store_b") == 8 * stated["fills"], "masks: bytes of rep stosq",
              of("fills", "executed_store_b"))
    if "adds" in stated:
        lanes = of("adds", "executed_store_b") // 8
        flops = of("adds", "executed_flop_n")
        tap.point(lanes + flops == stated["adds"] and
                  of("adds", "executed_load_b") == 8 * lanes + rounds + 8,
                  "masks: flops and bytes of lanes by a mask register",
                  (lanes, flops, stated["adds"]))
    if "bytes_of_64" in stated:
        of_8 = stated["bytes_of_64"] // 12
        tap.point(of("bytes_of_64", "executed_store_b") == 4 * of_8 and
                  of("bytes_of_64", "executed_load_b") == 8 * of_8 + rounds + 8,
                  "masks: bytes of 64 lanes", of("bytes_of_64", "executed_load_b"))
    sure = [n for (k, n), x in objects.items() if k == "function" and x[0]["executed_unsure_n"]]
    tap.point(not sure, "masks: nothing is unsure", sure)


def main():
    assay, masks, out = sys.argv[1:4]
    tap = Tap()
    for name in sys.argv[4:] or list(ROWS):
        try:
            Row(tap, assay, name, out).check()
        except (subprocess.TimeoutExpired, ValueError, KeyError, OSError) as error:
            tap.point(False, f"{name}: is done", repr(error))
    try:
        check_masks(tap, assay, masks, out)
    except (KeyError, OSError) as error:
        tap.point(False, "masks: is done", repr(error))
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
