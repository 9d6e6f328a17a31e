#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs run with their loops as clones: truth.py RUN AGENT STEP OUT [static | nightly | ROW...].

Without names: programs that the agent is preloaded into. static: programs that it is injected into.
nightly: programs of both kinds that differ from another row by their optimisation alone.

Output and exit status of a program must be the same in every mode, to the bit. Loops of known trip
counts are counted in independent ways. The program reports its own counts, the time mode counts by
registers, the count mode by blocks. A stepper executes the same binary one instruction at a time.
"""
import bisect
import errno
import json
import os
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "zoo"))
from tap import Tap  # noqa: E402

SOURCES = os.path.join(HERE, "src")
MODES = [["ident"], ["time"], ["sample:7"], ["count"], ["time", "--nests"],
         ["sample:7", "--nests"], ["count", "--nests"], ["count", "--bodies"],
         ["count", "--bodies", "--addresses"],
         ["vary:31", "--share", "400"], ["probe:1", "--bodies"]]
RUNS, LANES, REPEATS, OPEN = range(4) # what counters count
ROOM = 256 # records that patch-run lets a thread keep

C, CXX, F = "gcc", "g++", "gfortran"
CALM = ["-O1", "-fno-tree-vectorize", "-fno-unroll-loops", "-fno-inline"]
# name: compiler, source, flags, what more is checked
ROWS = {
    "kernels-calm": (C, "kernels.c", CALM, {"truth", "step"}),
    "kernels-O0": (C, "kernels.c", ["-O0"], {"step", "nightly"}),
    "kernels-O2": (C, "kernels.c", ["-O2"], {"truth", "step"}),
    "kernels-O3": (C, "kernels.c", ["-O3", "-funroll-loops"], {"step", "nightly"}),
    "kernels-fixed": (C, "kernels.c", ["-O2", "-no-pie", "-fno-pie"], {"truth", "step"}),
    "kernels-stripped": (C, "kernels.c", ["-O2", "-s"], {"step", "nightly"}),
    "kernels-clang": ("clang", "kernels.c", ["-O2"], {"step"}),
    "kernels-cet": (C, "kernels.c", ["-O2", "-fcf-protection=full"], {"step"}),
    "throw-O2": (CXX, "throw.cc", ["-O2"], {"step"}),
    "throw-O0": (CXX, "throw.cc", ["-O0"], {"nightly"}),
    "throw-O3": (CXX, "throw.cc", ["-O3", "-s"], {"nightly"}),
    "small-stacks": (C, "small_stacks.c", ["-O2"], {"cut"}),
    "handlers": (C, "handlers.c", ["-O2"], {"often"}),
    "handlers-O0": (C, "handlers.c", ["-O0"], {"often", "nightly"}),
    "threads": (C, "threads.c", ["-O2", "-fopenmp", "-ldl"], {"loaded"}),
    "threads-libomp": ("clang", "threads.c", ["-O2", "-fopenmp", "-ldl"], {"loaded"}),
    "coroutines-O2": (CXX, "coroutines.cc", ["-O2", "-std=c++20", "-pthread"], set()),
    "coroutines-O0": (CXX, "coroutines.cc", ["-O0", "-std=c++20", "-pthread"], {"nightly"}),
    "ranks-openmpi": ("mpicc.openmpi", "ranks.c", ["-O2"], {"known", "openmpi"}),
    "ranks-mpich": ("mpicc.mpich", "ranks.c", ["-O2"], {"known", "mpich"}),
    "soak": (C, "soak.c", ["-O2", "-pthread"], {"known", "soak"}),
    "stencil-O2": (F, "stencil.f90", ["-O2"], {"step"}),
    "stencil-O3": (F, "stencil.f90", ["-O3"], {"step", "nightly"}),
    "entries-O2": (C, "entries.c", ["-O2"], {"step", "entered"}),
    "entries-O0": (C, "entries.c", ["-O0"], {"step", "entered", "nightly"}),
    "entries-many": (C, "entries.c", ["-O2", "-DMANY"], {"step", "entered", "nightly"}),
    "entries-fixed": (C, "entries.c", ["-O2", "-no-pie", "-fno-pie"],
                      {"step", "entered", "nightly"}),
    "masks-O2": (C, "masks.c", ["-O2"], {"amounts", "step"}),
    "masks-O0": (C, "masks.c", ["-O0"], {"amounts", "step", "nightly"}),
    "entered": (C, "entered.c", ["-O2"], {"step"}),
    "tiles": (C, "tiles.c", ["-O2"], {"known", "step", "amx_tile", "few"}),
    "static-O2": (C, "kernels.c", ["-O2", "-static"], {"truth", "step", "injected"}),
    "static-pie-O2": (C, "kernels.c", ["-O2", "-static-pie", "-fPIE"],
                      {"truth", "step", "injected"}),
    "static-O0": (C, "kernels.c", ["-O0", "-static"], {"step", "injected", "nightly"}),
    "static-stripped": (C, "kernels.c", ["-O2", "-static", "-s"], {"step", "injected", "nightly"}),
    "static-throw": (CXX, "throw.cc", ["-O2", "-static"], {"injected"}),
    "static-throw-pie": (CXX, "throw.cc", ["-O0", "-static-pie", "-fPIE"], {"injected", "nightly"}),
    "static-small-stacks": (C, "small_stacks.c", ["-O2", "-static"], {"cut", "injected"}),
    "static-handlers": (C, "handlers.c", ["-O2", "-static"], {"injected"}),
    "static-coroutines": (CXX, "coroutines.cc", ["-O2", "-std=c++20", "-pthread", "-static"],
                          {"injected", "nightly"}),
    "static-soak": (C, "soak.c", ["-O2", "-pthread", "-static"],
                    {"known", "soak", "injected", "nightly"}),
    "static-stencil": (F, "stencil.f90", ["-O2", "-static"], {"step", "injected", "nightly"}),
    "static-masks": (C, "masks.c", ["-O2", "-static"], {"amounts", "step", "injected", "nightly"}),
    "static-apart": (C, "apart.c", ["-O2", "-pthread", "-static"], {"known", "injected"}),
    "static-confined": (C, "confined.c", ["-O2", "-pthread", "-static"], {"confined", "injected"}),
    "musl": ("musl-gcc", "kernels.c", ["-O2"], {"truth", "step", "injected"}),
    "musl-static": ("musl-gcc", "kernels.c", ["-O2", "-static"],
                    {"truth", "step", "injected", "nightly"}),
    "musl-handlers": ("musl-gcc", "handlers.c", ["-O2"], {"injected", "nightly"}),
    "musl-apart": ("musl-gcc", "apart.c", ["-O2", "-pthread"], {"known", "injected"}),
    "undone": (C, "undone.c", ["-O2"], {"undo"}),
    "spinning": (C, "spinning.c", ["-O2", "-pthread", "-ldl"], {"spins"}),
    "spinning-blocked": (C, "spinning.c", ["-O2", "-pthread", "-ldl", "-DROUNDS=1", "-DBLOCKED"],
                         {"spins", "EAGAIN"}),
    "spinning-first-ended": (C, "spinning.c", ["-O2", "-pthread", "-ldl", "-DFIRST_ENDED"],
                             {"spins"}),
    "spinning-confined": (C, "spinning.c",
                          ["-O2", "-pthread", "-ldl", "-DROUNDS=1", "-DCONFINED"],
                          {"spins", "EPERM"}),
}


# Two ranks on whatever there is, also where Open MPI would rather not run.
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "-n", "2"],
             "mpich": ["mpirun.mpich", "-n", "2"]}
FOR_OPENMPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SOAK_MODES = [["time"], ["sample:1000"], ["count"], ["vary:31"]]
# Counts of one slice: 1.6e8 instances in four modes. PATCH_SOAK=12 has 1e5 threads, too, in
# minutes.
SOAK_INSTANCES, SOAK_THREADS = 4 * 10**7, 3000


def run(command):
    return subprocess.run(command, capture_output=True, timeout=800, check=False,
                          env={**os.environ, **FOR_OPENMPI})


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
        if self.more & {"loaded", "undo", "spins"}:
            source = self.source if "spins" in self.more else "loaded.c"
            defined = ["-DWITNESS"] if "undo" in self.more else ["-DLIBRARY"]
            library = [os.path.join(self.dir, "libloaded.so")]
            defined += [flag for flag in self.flags if flag.startswith("-D")]
            made = run([C, "-O2", "-shared", "-fPIC", *defined, "-pthread", "-o", library[0],
                        os.path.join(SOURCES, source)])
            if made.returncode:
                return made.stderr.decode()
        self.arguments = library if self.more & {"loaded", "spins"} else []
        if "soak" in self.more:
            times = int(os.environ.get("PATCH_SOAK", "1"))
            self.arguments = [str(SOAK_INSTANCES * times), str(SOAK_THREADS * times)]
        launcher = [words for name, words in LAUNCHERS.items() if name in self.more]
        self.command = [*(launcher[0] if launcher else []), self.program, *self.arguments]
        self.command[0] = shutil.which(self.command[0]) or self.command[0]
        link = library + [f"-Wl,-rpath,{self.dir}"] if "undo" in self.more else []
        made = run([self.compiler, "-g", "-o", self.program, os.path.join(SOURCES, self.source),
                    *self.flags, *link])
        return made.stderr.decode() if made.returncode else None

    def clone_run(self, mode, steps_like=False):
        """steps_like: with the environment of the stepper. The C library runs other code with other
        variables, or another kind of output."""
        where = os.path.join(self.dir, "-".join(mode).replace(":", "") + "-steps" * steps_like)
        os.makedirs(where)
        loaded = self.arguments if self.more & {"loaded", "spins"} else []
        files = [a for path in [self.program, *loaded] for a in ("--only", path)]
        undo = ["--undo"] if "undo" in self.more else []
        undo += ["--inject"] if "injected" in self.more else []
        command = [self.runner, *mode, *undo, *files, where, self.agent, "--", *self.command]
        if steps_like:
            null = subprocess.DEVNULL
            got = subprocess.run(command, stdin=null, stdout=null, stderr=null, timeout=800,
                                 check=False,
                                 env={**os.environ, **FOR_OPENMPI, "OMP_NUM_THREADS": "1"})
        else:
            got = run(command)
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
            words = line.split()
            if words[:1] != ["truth"]:
                continue
            _, name, instances, trips = words
            low, end = at[name]
            loops = [x for x in result["loops"] if low <= x["address"] < end]
            if not loops:
                continue
            checked += 1
            got = [sum(x[key] for x in loops) for key in ("instances", "trips")]
            self.point(got == [int(instances), int(trips)], f"{mode}: {name} is counted",
                       f"got {got}, not {[int(instances), int(trips)]}: {loops}")
        self.point(checked >= (6 if "truth" in self.more else 1),
                   f"{mode}: most known loops are clones", f"{checked}")

    def check_entered(self, stderr, stepped, result, mode):
        """Entries are those that the program states, also where few of them are measured; headers
        ran as often as in steps."""
        at = self.functions()
        for line in stderr.decode().splitlines():
            _, name, *said = line.split()
            low, end = at[name]
            loops = [x for x in result["loops"] if low <= x["address"] < end]
            want = int(said["--nests" in mode])
            got = sum(x["entries" if "sample" in mode else "instances"] for x in loops)
            self.point(got == want, f"{mode}: entries of {name}", f"{got}, not {want}: {loops}")
        self.point(result["refused"] == 0, f"{mode}: no loop is refused", result["refused"])
        if "sample" in mode:
            return
        bad = [(hex(x["address"]), x["trips"], stepped.get(str(x["address"]), 0))
               for x in result["loops"] if x["counted"] and x["dropped"] == 0
               and x["trips"] != stepped.get(str(x["address"]), 0)]
        self.point(not bad, f"{mode}: headers ran as often as in steps", bad)

    def check_amounts(self, stderr, result, mode):
        """Lanes and repetitions of each function, to those that the program states."""
        at = self.functions()
        for line in stderr.decode().splitlines():
            _, name, kind, n = line.split()
            low, end = at[name]
            got = sum(x["count"] for x in result["blocks"] if low <= x["address"] < end
                      and x["counts"] == {"lanes": LANES, "repeats": REPEATS}[kind])
            self.point(got == int(n), f"{mode}: {kind} of {name}", f"{got}, not {n}")

    def check_cut(self, result, mode):
        """Entries that another coroutine's overwrote are not taken for instances."""
        at = self.functions()
        of = {name: [x for x in result["loops"] if low <= x["address"] < end]
              for name, (low, end) in at.items() if name in ("work", "quiet")}
        cut = {name: sum(x["dropped"] for x in loops) for name, loops in of.items()}
        self.point(cut["work"] > 0 and cut["quiet"] == 0, f"{mode}: what is cut is not counted",
                   cut)

    def check_blocks(self, stepped, result, mode):
        """A string instruction is a step each time it repeats, and one where it repeats nothing:
        where code begins with one that count says nothing."""
        repeats = {x["address"] for x in result["blocks"] if x["counts"] == REPEATS}
        runs = sorted((x["address"], x["count"]) for x in result["blocks"]
                      if x["module"] == 0 and x["counts"] == RUNS)

        def is_as_stepped(x):
            steps = stepped.get(str(x["address"]), 0)
            if x["counts"] == RUNS:
                return x["count"] == steps
            empty = steps - x["count"] # of the runs of its block at most
            return 0 <= empty <= runs[bisect.bisect(runs, (x["address"], 1 << 64)) - 1][1]
        bad = [(hex(x["address"]), x["count"], stepped.get(str(x["address"]), 0))
               for x in result["blocks"] if x["module"] == 0 and x["counts"] in (RUNS, REPEATS)
               and not (x["counts"] == RUNS and x["address"] in repeats)
               and not is_as_stepped(x)]
        ran = sum(x["count"] > 0 for x in result["blocks"])
        open_n = [x["count"] for x in result["blocks"] if x["counts"] == OPEN]
        self.point(not any(open_n), f"{mode}: all loops were left", open_n)
        if "truth" in self.more: # of each kernel's loop alone
            self.point(len(open_n) >= 6, f"{mode}: loops count in registers", open_n)
        self.point(not bad, f"{mode}: blocks ran as often as in steps", bad)
        least = 3 if "few" in self.more else 6 # blocks that the program has
        self.point(ran >= least, f"{mode}: blocks ran", result["blocks"][:5])

    def steps(self):
        got = run([self.stepper, "40000000", self.program, *self.arguments])
        text = got.stdout.decode()
        # The program's own output comes first.
        data = json.loads(text[text.index('{"steps"'):])
        return None if data["limited"] else data["insns"]

    def check(self):
        if "amx_tile" in self.more and " amx_tile" not in open("/proc/cpuinfo").read():
            self.tap.skip(f"{self.name}: is run", "no AMX here")
            return
        if shutil.which(self.compiler) is None:
            self.tap.skip(f"{self.name}: builds", f"no {self.compiler}")
            return
        why = self.build()
        if why is not None:
            self.point(False, "builds", why)
            return
        plain = run(self.command)
        stepped = self.steps() if "step" in self.more else None
        if "step" in self.more:
            self.point(stepped is not None, "is executed in steps to its end")
        for mode in SOAK_MODES if "soak" in self.more else MODES:
            words = " ".join(mode)
            if mode[0] == "probe:1" and "injected" in self.more: # not without GNU's C library
                continue
            if mode[0] == "probe:1" and "often" in self.more: # else only handlers run
                mode = ["probe:29", "--bodies"]
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
            bare = mode[0] == "vary:31" and "injected" in self.more
            self.point(not bare or result["unvaried"] >= 1 or result["done"] >= 1,
                       f"{words}: the outcomes say that the bare agent varies nothing", result)
            self.point((result["done"] >= 1 or mode[0] == "vary:31") and
                       result["unplaced"] == 0 or self.more & {"undo", "spins"},
                       f"{words}: loops are clones",
                       {k: v for k, v in result.items() if k not in ("loops", "blocks")})
            if mode == ["time", "--nests"] and "truth" in self.more:
                self.check_truth(plain.stderr, result, words)
            if mode[0] in ("time", "sample:7") and "entered" in self.more:
                self.check_entered(plain.stderr, stepped, result, words)
            if mode == ["time"] and "known" in self.more:
                self.check_truth(plain.stdout + plain.stderr, result, words)
                self.point(result["missed"] == 0, f"{words}: no thread is missed", result["missed"])
            if mode == ["time"] and result["asked"] <= ROOM / 2: # chance decides where it is short
                self.point(result["forgotten"] == 0, f"{words}: loops entered rarely keep records",
                           result["forgotten"])
            if mode == ["time"] and "confined" in self.more:
                self.point([result["threads"], result["missed"]] == [2, 1],
                           f"{words}: a thread without system calls is missed",
                           [result["threads"], result["missed"]])
            if mode == ["time"] and "loaded" in self.more:
                loops = [x for x in result["loops"] if x["module"] == 1]
                got = [sum(x[key] for x in loops) for key in ("instances", "trips")]
                self.point(got == [50, 5000], f"{words}: counted in a library that came twice", got)
            if mode == ["time"] and "spins" in self.more:
                ran = sum(x["instances"] for x in result["loops"] if x["module"] == 1)
                why = [getattr(errno, name) for name in self.more if name.startswith("E")]
                if why:
                    self.point(ran == 0 and result["unplaced"] > 0 and result["errno"] == why[0],
                               f"{words}: threads that cannot be stopped leave code as it is",
                               {k: v for k, v in result.items() if k != "blocks"})
                else:
                    self.point(ran > 0, f"{words}: loops became clones while threads ran them",
                               result)
            if mode == ["time"] and "cut" in self.more:
                self.check_cut(result, words)
            if "soak" in self.more: # a file a thread
                shutil.rmtree(os.path.join(self.dir, "-".join(mode).replace(":", "")))
            if mode[0] == "count" and len(mode) > 1 and "amounts" in self.more:
                self.check_amounts(plain.stderr, result, words)
            if mode[0].startswith("probe") and "confined" not in self.more:
                self.point(result["values"] > 0 and result["called"] > 0 and result["bodies"] >= 3,
                           f"{words}: values are kept, functions called",
                           {k: result[k] for k in ("values", "called", "unread", "lost", "bodies")})
            if mode[:2] == ["count", "--bodies"]:
                self.point(result["bodies"] >= 3, f"{words}: whole functions are clones",
                           result["bodies"])
            if mode[0] == "count" and stepped is not None:
                if "injected" in self.more:
                    result = self.clone_run(mode, steps_like=True)[1]
                self.check_blocks(stepped, result, words)


def main():
    runner, agent, stepper, out = sys.argv[1:5]
    names = sys.argv[5:]
    if names in ([], ["static"]):
        names = [name for name, row in ROWS.items()
                 if "nightly" not in row[3] and ("injected" in row[3]) == bool(names)]
    elif names == ["nightly"]:
        names = [name for name, row in ROWS.items() if "nightly" in row[3]]
    tap = Tap()
    for name in names:
        begun = time.monotonic()
        try:
            Row(tap, name, (runner, agent, stepper), out).check()
        except (subprocess.TimeoutExpired, ValueError, KeyError, OSError) as error:
            tap.point(False, f"{name}: is done", repr(error))
        print(f"# {name}: {time.monotonic() - begun:.1f} s", flush=True)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
