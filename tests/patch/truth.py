#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs run with their loops as clones: truth.py RUN AGENT STEP OUT [ROW...].

What a program prints and how it ends must be the same in every mode, to the bit. Loops of known
trip counts are counted by three ways that share nothing: the program says what it does, the time
mode counts by registers, the count mode by blocks, and a stepper executes the same binary one
instruction at a time.
"""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "src")
MODES = [["ident"], ["time"], ["sample:7"], ["count"], ["time", "--nests"],
         ["sample:7", "--nests"], ["count", "--nests"]]

C, CXX, F = "gcc", "g++", "gfortran"
CALM = ["-O1", "-fno-tree-vectorize", "-fno-unroll-loops", "-fno-inline"]
# name: compiler, source, flags, what more is checked
ROWS = {
    "kernels-calm": (C, "kernels.c", CALM, {"truth", "step"}),
    "kernels-O0": (C, "kernels.c", ["-O0"], {"step"}),
    "kernels-O2": (C, "kernels.c", ["-O2"], {"truth", "step"}),
    "kernels-O3": (C, "kernels.c", ["-O3", "-funroll-loops"], {"step"}),
    "kernels-fixed": (C, "kernels.c", ["-O2", "-no-pie", "-fno-pie"], {"truth", "step"}),
    "kernels-stripped": (C, "kernels.c", ["-O2", "-s"], {"step"}),
    "kernels-clang": ("clang", "kernels.c", ["-O2"], {"step"}),
    "kernels-cet": (C, "kernels.c", ["-O2", "-fcf-protection=full"], {"step"}),
    "throw-O2": (CXX, "throw.cc", ["-O2"], {"step"}),
    "throw-O0": (CXX, "throw.cc", ["-O0"], set()),
    "throw-O3": (CXX, "throw.cc", ["-O3", "-s"], set()),
    "small-stacks": (C, "small_stacks.c", ["-O2"], {"cut"}),
    "handlers": (C, "handlers.c", ["-O2"], set()),
    "handlers-O0": (C, "handlers.c", ["-O0"], set()),
    "threads": (C, "threads.c", ["-O2", "-fopenmp", "-ldl"], {"loaded"}),
    "stencil-O2": (F, "stencil.f90", ["-O2"], {"step"}),
    "stencil-O3": (F, "stencil.f90", ["-O3"], {"step"}),
    "undone": (C, "undone.c", ["-O2"], {"undo"}),
}


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def point(self, good, name, why=""):
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} {name}", flush=True)
        if not good and why:
            print("".join(f"# {line}\n" for line in str(why).splitlines()[:20]), end="")

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} {name} # SKIP {why}")


def run(command, **more):
    return subprocess.run(command, capture_output=True, timeout=300, **more)


class Row:
    def __init__(self, tap, name, tools, out):
        self.tap, self.name = tap, name
        self.runner, self.agent, self.stepper = tools
        self.compiler, self.source, self.flags, self.more = ROWS[name]
        self.dir = os.path.join(out, name)
        self.program = os.path.join(self.dir, "program")

    def point(self, good, what, why=""):
        self.tap.point(good, f"{self.name}: {what}", why)

    def build(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        os.makedirs(self.dir)
        library = []
        if self.more & {"loaded", "undo"}:
            witness = ["-DWITNESS"] if "undo" in self.more else []
            library = [os.path.join(self.dir, "libloaded.so")]
            made = run([C, "-O2", "-shared", "-fPIC", *witness, "-o", library[0],
                        os.path.join(SOURCES, "loaded.c")])
            if made.returncode:
                return made.stderr.decode()
        self.arguments = library if "loaded" in self.more else []
        link = library + [f"-Wl,-rpath,{self.dir}"] if "undo" in self.more else []
        made = run([self.compiler, "-g", "-o", self.program, os.path.join(SOURCES, self.source),
                    *self.flags, *link])
        return made.stderr.decode() if made.returncode else None

    def clone_run(self, mode):
        where = os.path.join(self.dir, "-".join(mode).replace(":", ""))
        os.makedirs(where)
        files = [a for path in [self.program, *self.arguments] for a in ("--only", path)]
        undo = ["--undo"] if "undo" in self.more else []
        got = run([self.runner, *mode, *undo, *files, where, self.agent, "--", self.program,
                   *self.arguments])
        path = os.path.join(where, "result.json")
        result = json.load(open(path)) if os.path.exists(path) else None
        return got, result

    def functions(self):
        """name -> (first address, end) of the functions of the program."""
        at = {}
        for line in run(["nm", "-S", self.program]).stdout.decode().splitlines():
            words = line.split()
            if len(words) == 4 and words[2] in "tT":
                at[words[3]] = (int(words[0], 16), int(words[0], 16) + int(words[1], 16))
        return at

    def check_truth(self, stderr, result, mode):
        at = self.functions()
        checked = 0
        for line in stderr.decode().splitlines():
            _, name, instances, trips = line.split()
            low, end = at[name]
            loops = [x for x in result["loops"] if low <= x["address"] < end]
            if not loops:
                continue
            checked += 1
            got = [sum(x[key] for x in loops) for key in ("instances", "trips")]
            self.point(got == [int(instances), int(trips)], f"{mode}: {name} is counted",
                       f"got {got}, not {[int(instances), int(trips)]}: {loops}")
        self.point(checked >= 6, f"{mode}: most known loops are clones", f"{checked}")

    def check_cut(self, result, mode):
        """Entries that another coroutine's overwrote are not taken for instances."""
        at = self.functions()
        of = {name: [x for x in result["loops"] if low <= x["address"] < end]
              for name, (low, end) in at.items() if name in ("work", "quiet")}
        cut = {name: sum(x["dropped"] for x in loops) for name, loops in of.items()}
        self.point(cut["work"] > 0 and cut["quiet"] == 0, f"{mode}: what is cut is not counted",
                   cut)

    def check_blocks(self, stepped, result, mode):
        bad = [(hex(x["address"]), x["count"], stepped.get(str(x["address"]), 0))
               for x in result["blocks"] if x["module"] == 0
               and x["count"] != stepped.get(str(x["address"]), 0)]
        ran = sum(x["count"] > 0 for x in result["blocks"])
        self.point(not bad, f"{mode}: blocks ran as often as in steps", bad)
        self.point(ran > 5, f"{mode}: blocks ran", result["blocks"][:5])

    def steps(self):
        got = run([self.stepper, "40000000", self.program, *self.arguments])
        text = got.stdout.decode()
        # The program's own output comes first.
        data = json.loads(text[text.index('{"steps"'):])
        return None if data["limited"] else data["blocks"]

    def check(self):
        why = self.build()
        if why is not None:
            if self.compiler != C and shutil.which(self.compiler) is None:
                self.tap.skip(f"{self.name}: builds", f"no {self.compiler}")
            else:
                self.point(False, "builds", why)
            return
        plain = run([self.program, *self.arguments])
        stepped = self.steps() if "step" in self.more else None
        if "step" in self.more:
            self.point(stepped is not None, "is executed in steps to its end")
        for mode in MODES:
            words = " ".join(mode)
            got, result = self.clone_run(mode)
            same = (got.stdout, got.stderr, got.returncode)
            want = (plain.stdout, plain.stderr, plain.returncode)
            if "undo" in self.more: # the witness sees the patches, then not
                lines = got.stdout.decode().splitlines()
                self.point(len(lines) == 3 and lines[1] != "bytes that differ: 0",
                           f"{words}: the code is patched", lines)
                self.point(len(lines) == 3 and lines[2] == "bytes that differ: 0",
                           f"{words}: the code is as it was", lines)
                same, want = lines[:1], plain.stdout.decode().splitlines()[:1]
            self.point(same == want, f"{words}: does what it does alone",
                       f"{same}\nnot\n{want}")
            if not result:
                self.point(False, f"{words}: has a result", got.stderr.decode())
                continue
            self.point(result["done"] >= 2 and result["unplaced"] == 0 or "undo" in self.more,
                       f"{words}: loops are clones",
                       {k: v for k, v in result.items() if k not in ("loops", "blocks")})
            if mode == ["time", "--nests"] and "truth" in self.more:
                self.check_truth(plain.stderr, result, words)
            if mode == ["time"]:
                self.point(result["forgotten"] == 0, f"{words}: loops entered rarely keep records",
                           result["forgotten"])
            if mode == ["time"] and "loaded" in self.more:
                loops = [x for x in result["loops"] if x["module"] == 1]
                got = [sum(x[key] for x in loops) for key in ("instances", "trips")]
                self.point(got == [50, 5000], f"{words}: counted in a library that came twice", got)
            if mode == ["time"] and "cut" in self.more:
                self.check_cut(result, words)
            if mode[0] == "count" and stepped is not None:
                self.check_blocks(stepped, result, words)


def main():
    runner, agent, stepper, out = sys.argv[1:5]
    names = sys.argv[5:] or list(ROWS)
    tap = Tap()
    for name in names:
        try:
            Row(tap, name, (runner, agent, stepper), out).check()
        except (subprocess.TimeoutExpired, ValueError, KeyError, OSError) as error:
            tap.point(False, f"{name}: is done", repr(error))
    print(f"1..{tap.n}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
