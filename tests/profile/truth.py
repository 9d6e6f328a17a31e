#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `assay profile` to programs that account for their own time (programs/).

    truth.py ASSAY OUTDIR GROUP WITNESS      one of the groups at the end; witness.c, built
"""
import collections
import json
import math
import os
import pathlib
import re
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))
import build  # noqa: E402
import tap as tap_module  # noqa: E402
import perf  # noqa: E402
from experiment import DOUBT, RATE, SURE, Run, imported, least_hits, matches, unlikely  # noqa: E402
from host import Host  # noqa: E402

build.HERE, build.SRC = HERE, HERE / "programs"
SPINNERS = [f"spin_{k:02}" for k in range(12)]
# How often a recording, and those of a group together, are made again because of the host.
REPEATS, REPEATS_IN_ALL = 3, 12
# Samples may be lost if the reader has no CPU for this long: unread samples lie in buffers that
# many threads fill in some tenths of a second (sample/rings.c).
LATE_S = 0.1
# Points that are not held yet, and why; when one fails it is skipped with this reason.
GAPS = {
}


class Points(tap_module.Tap):
    def point(self, good, name, why=""):
        if not good and name in GAPS:
            print(f"# {name}: " + "; ".join(str(why).splitlines()))
            self.skip(name, f"a known gap: {GAPS[name]}")
            return False
        return super().point(good, name, why)


def marks(source, word):
    """Line number by name of the marks "word name" in a source."""
    found = {}
    for number, text in enumerate((build.SRC / source).read_text().splitlines(), 1):
        m = re.search(rf"/\* {word} (\w+) \*/", text)
        if m:
            found[m[1]] = number
    return found


def whole(run):
    """Time of all samples, and of the process by its own clock, in seconds."""
    return run.run()["sampled_time_s"], run.truth["total_ns"] / 1e9


def own_clock(run):
    return run.truth["total_ns"] / 1e9 if run.truth else run.run()["sampled_time_s"]


def room(want):
    """Returns the tolerance of the time of all samples: half a sample for each thread and CPU, and
    begin and end of the program, which its account lacks."""
    return 0.01 * want + 0.004


def bearable(want):
    """Returns the disturbance by the host up to which a loss of 5 % is still noticed."""
    return max(0.045 * want - room(want), room(want) / 2)


def stretch_room(want, rate, moves):
    """Returns the tolerance of one interval of a thread. Samples come by a clock of the thread, so
    their number is not random. The event of each CPU used hits begin and end at any part of its
    period. It is less than one sample off (variance 1/6). The sum of many is off by more than z
    standard deviations with a probability of less than 2 exp(-z^2 / 2): 7e-11 for 7."""
    return room(want) + min(1 + moves, 7 * math.sqrt((1 + moves) / 6)) / rate


def preempted_s(switches):
    """Returns the excess of samples over the program's clock. A preempted thread is sampled in the
    interrupt that wakes the next thread, up to the switch. The kernel charges that time to the next
    thread, because it does not read the clock between wake-up and switch. On a calm host it is 6 to
    8 us each, at any rate."""
    return 20e-6 * switches


def amiss(got, want, taken, off=None, over=0):
    """Returns "" if samples of `got` seconds agree with `want` seconds, else a sentence. The host
    may have taken up to `taken`. The tolerance is `off`, plus `over` for an excess."""
    off = room(want) if off is None else off
    if -off - taken <= got - want <= off + taken + over:
        return ""
    return (f"{got:.4f} s, {want:.4f} s (-{off + taken:.4f} +{off + taken + over:.4f}) by the "
            f"program's own clock; the host took {taken:.4f} s")


def agreement(theirs, ours, program):
    """Returns (samples with equal stacks, all samples, the most frequent others). Frames of
    libraries are equal if their files are."""
    counts = []
    for stacks in (theirs, ours):
        counts.append(collections.Counter())
        for stack, n in stacks.items():
            counts[-1][tuple(perf.bare(f) if of == program else of for f, of in stack)] += n
    same, n = (counts[0] & counts[1]).total(), max(counts[0].total(), counts[1].total())
    other = [f"{k} samples more by {who}: {';'.join(stack)}" for who, more in
             (("perf", counts[0] - counts[1]), ("assay", counts[1] - counts[0]))
             for stack, k in more.most_common(5)]
    return same, n, other


class Truth:
    def __init__(self, assay, outdir, witness):
        self.witness = pathlib.Path(witness).resolve()
        self.assay = pathlib.Path(assay).resolve()
        self.outdir = pathlib.Path(outdir).resolve()
        self.tap = Points()
        self.again = 0  # recordings that were made again
        self.doubts, self.is_second = set(), False  # points that are judged by a second recording
        self.host, self.calm = None, True  # during the last recording

    def folder(self, row):
        """The folder where the row's program `p` is, or None, said."""
        why = build.build(self.outdir, [row])[row]
        if why and why[0] == "skip":
            self.tap.skip(row, why[1])
        elif why:
            self.tap.point(False, f"{row}: is built", why[1])
        return None if why else self.outdir / row

    def recorded(self, folder, command, name, measure, **more):
        """Returns (run, the time of its samples, that by the program's clock). A recording is
        repeated only for disturbances seen beside it (host.py), never for its result. That happens
        if so much time was lost that the host might explain a loss of 5 %."""
        for again in range(1 + REPEATS):
            with Host(self.witness) as self.host:
                run = Run(self.assay, folder, command, **more)
            if self.was_late(run):  # such losses are reported, and may be of any function
                self.host.taken_s += run.run()["lost_sample_n"] / run.run()["rate_hz"]
            got, want = measure(run) if measure else (0, own_clock(run))
            self.calm = self.host.taken_s <= bearable(want)
            if self.calm:
                break
            print(f"# {name}: a recording of {want:.2f} s on a busy host: {self.host}", flush=True)
            if again == REPEATS or self.again == REPEATS_IN_ALL:
                break
            self.again += 1
        return run, got, want

    def was_late(self, run):
        """Returns whether the reader may have lost samples, because it had no CPU for too long."""
        return run.queued_s + self.host.taken_s >= LATE_S

    def judge_chance(self, name, wrong, taken, calm=None):
        """Judges a result that also depends on chance. `wrong` returns the reason of a failure, for
        a risk and for the time that the host has taken. A doubtful result is left to a second
        recording of all."""
        if not self.is_second and wrong(DOUBT, 0) and not wrong(SURE, 0):
            print(f"# {name}: to be seen again: {wrong(DOUBT, 0)}".replace("\n", "; "), flush=True)
            self.doubts.add(name)
            return
        risk = DOUBT if name in self.doubts else SURE
        self.judge(name, wrong(risk, 0), wrong(risk, taken), calm)

    def judge(self, name, wrong, wrong_at_least, calm=None):
        """Reports a point. On a calm host it fails for `wrong`. On a busy host it fails only for
        faults that the host cannot cause. Otherwise it cannot be judged."""
        if wrong and not wrong_at_least and not (self.calm if calm is None else calm):
            self.tap.skip(name, f"cannot be judged: {self.host}: {wrong}".replace("\n", "; "))
        else:
            self.tap.point(not wrong, name, wrong)

    def record(self, row, command, name, folder=None, measure=whole, **more):
        """A run, or None, said. Its name begins that of its test points. `measure` gives both times
        in seconds; None: loss is what is looked at."""
        folder = folder or self.folder(row)
        if not folder:
            return None
        try:
            run, got, want = self.recorded(folder, command, name, measure, **more)
            wrong = run.wrong()
        except RuntimeError as e:
            self.tap.point(False, f"{name}: is recorded", e)
            return None
        self.tap.point(not wrong, f"{name}: all sums agree", "\n".join(wrong))
        if measure:
            taken = self.host.taken_s
            over = preempted_s(run.run()["switch_involuntary_n"])
            self.judge(f"{name}: the time of all samples is the processor time",
                       amiss(got, want, taken if self.calm else 0, over=over),
                       amiss(got, want, taken, over=over))
            if want > 0.5 and self.calm:  # of less, 5 % are few samples
                self.tap.point(amiss(0.95 * min(got, want), want, taken),
                               f"{name}: 5 % fewer samples would be told")
        return run

    def fair(self, name, pairs, total, host=None):
        """pairs: {what: (samples, share by the program)}. `host`: what it took of several
        recordings in seconds, and whether it was calm in all; without: of the last one."""
        taken_s, calm = host or (self.host.taken_s, self.calm)

        def wrong(risk, taken):
            return "\n".join(f"{what}: {why}" for what, (n, share) in pairs.items()
                             if (why := unlikely(n, total, share, risk, taken)))
        self.judge_chance(f"{name}: shares are those of the program's own clock", wrong,
                          RATE * taken_s, calm)

    # ---- Shares ---------------------------------------------------------------------------

    def shares(self):
        """Intervals are 95 % intervals: many runs of few samples each."""
        hits, hits_most, all_n, width = 0, 0, 0, []
        taken_s, calm = 0, True
        got, want = collections.Counter(), collections.Counter()
        folder = self.folder("spinner")
        if not folder:
            return
        runs = [(1, 0.25)] * 16 + [(3, 0.1)] * 8
        for seed, (threads, seconds) in enumerate(runs):
            run, _, _ = self.recorded(folder, ["./p", seconds, threads, seed + 1], f"run {seed}",
                                      whole)
            functions, total = run.functions("p"), run.run()["sample_n"]
            taken_s, calm = taken_s + self.host.taken_s, calm and self.calm
            off = 100 * RATE * self.host.taken_s / total
            for k, name in enumerate(SPINNERS):
                share = sum(t["ns"][k] for t in run.truth["threads"]) / run.truth["total_ns"]
                f = functions.get(name, {"inclusive_low_pct": 0, "inclusive_high_pct": 0,
                                         "inclusive_sample_n": 0})
                low, high = f["inclusive_low_pct"], f["inclusive_high_pct"]
                hits += low <= 100 * share <= high
                hits_most += low - off <= 100 * share <= high + off
                all_n += 1
                got[name] += f["inclusive_sample_n"]
                want[name] += share * total
                binomial = 196 * (share * (1 - share) / total) ** 0.5
                width.append((f["inclusive_high_pct"] - f["inclusive_low_pct"]) / 2 / binomial)
            got["all"] += total

        def too_few(risk, taken):
            need, got_n = least_hits(all_n, risk), hits_most if taken else hits
            return "" if got_n >= need else f"{got_n} of {all_n}, at least {need} are due"
        self.judge_chance("spinner: shares lie in their 95 % intervals", too_few, taken_s, calm)
        middle = statistics.median(width)
        self.tap.point(0.9 < middle < 1.3,
                       "spinner: intervals are as wide as binomial ones, no wider",
                       f"{middle:.3f} times as wide")
        self.fair("spinner, all runs together",
                  {k: (got[k], want[k] / got["all"]) for k in SPINNERS}, got["all"],
                  (taken_s, calm))

    def of_threads(self, name, run, names, key="ns"):
        """Each thread's share of the whole, and each function's share of each thread."""
        total = run.run()["sample_n"]
        n_of = run.within("tid", names)
        threads = {t["tid"]: t for t in run.view("threads")}
        pairs = {}
        for t in run.truth["threads"]:
            if t["tid"] not in threads:
                self.tap.point(False, f"{name}: thread {t['tid']} is there")
                return
            pairs[f"thread {t['tid']}"] = (threads[t["tid"]]["sample_n"],
                                           sum(t[key]) / run.truth["total_ns"])
            for k, function in enumerate(names):
                pairs[f"{function} in thread {t['tid']}"] = (n_of.get((t["tid"], function), 0),
                                                             t[key][k] / run.truth["total_ns"])
        self.fair(name, pairs, total)

    def threads(self):
        run = self.record("spinner", ["./p", 0.3, 4, 7], "4 threads")
        if run:
            self.of_threads("4 threads", run, SPINNERS)
            self.tap.equal(run.run()["thread_n"], 4, "4 threads: are counted")
        self.many_threads()
        self.short_threads()
        self.openmp()

    def many_threads(self):
        name = "500 threads"
        run = self.record("spinner", ["./p", 0.008, 500, 8], name, rate=499, measure=None)
        if not run:
            return
        total, lost = run.run()["sample_n"], run.run()["lost_sample_n"]
        functions, threads = run.functions("p"), run.truth["threads"]
        self.fair(name, {f: (functions.get(f, {"inclusive_sample_n": 0})["inclusive_sample_n"],
                             sum(t["ns"][k] for t in threads) / run.truth["total_ns"])
                         for k, f in enumerate(SPINNERS)}, total)
        # The kernel's first sample of a thread comes after a whole period on each CPU.
        period, view = 1e9 / 499, {t["tid"]: t for t in run.view("threads")}
        least = sum(max(0, int(sum(t["ns"]) / period) - view[t["tid"]]["cpu_migration_n"])
                    for t in threads if t["tid"] in view)
        n, most = total + lost, 1.02 * run.truth["total_ns"] / period
        why = f"{total} samples, {lost} lost; {least} at least, {most:.0f} at most"
        taken = self.host.taken_s * 1e9 / period
        self.judge(f"{name}: lost samples are counted", "" if 0.98 * least <= n <= most else why,
                   not 0.98 * least - taken <= n <= most + taken)
        self.tap.equal(run.run()["thread_n"], 500, f"{name}: are counted")
        tids = {t["tid"] for t in threads}
        self.tap.point(set(view) >= tids, f"{name}: each is listed", f"{len(tids & set(view))}")

    def short_threads(self):
        """Threads shorter than the time between samples. The kernel samples hardly any of them,
        because each begins with a whole period. All are counted, and their time is known."""
        name = "10,000 threads"
        run = self.record("many", ["./p", 10000, 200000], name, measure=None)
        if not run:
            return
        said = run.run()
        if self.was_late(run) and any(f["name"] == "lost_records" for f in run.view("flags")):
            self.tap.skip(f"{name}: are counted", f"not all was read in time: {self.host}")
            return
        self.tap.equal(said["thread_n"], 10001, f"{name}: are counted")
        self.tap.equal(said["lost_sample_n"], 0, f"{name}: no sample is lost")
        # More than the threads measured between their first and last line; less than the process,
        # which is also charged what a thread does in the kernel before and after its records.
        known = sum(t["cpu_time_s"] or 0 for t in run.view("threads"))
        least, most = run.truth["ns"]["moment"] / 1e9, run.truth["total_ns"] / 1e9
        self.tap.point(least <= known <= 1.01 * most,
                       f"{name}: their processor time is known",
                       f"{known} s; {least} s to {most} s by the program's own clock")
        flags = " ".join(f"{f['name']}: {f['text']}" for f in run.view("flags"))
        self.tap.point(said["sampled_time_s"] > 0.8 * known or
                       re.search(r"short|unsampled|not sampled|without samples", flags),
                       f"{name}: time without samples is told", flags)

    def openmp(self):
        for row in ("omp-gcc", "omp-clang"):
            env = os.environ | {"OMP_WAIT_POLICY": "passive", "KMP_BLOCKTIME": "0"}
            run = self.record(row, ["./p", 0.2], row, env=env)
            if not run:
                continue
            bodies = [name for name, f in run.functions("p").items() if
                      re.search(r"omp_fn|omp_outlined", name) and f["inclusive_sample_n"] > 20]
            by_region = [sum(t["ns"][k] for t in run.truth["threads"]) for k in (0, 1)]
            got = sorted(run.functions("p")[b]["inclusive_sample_n"] for b in bodies)
            want = sorted(by_region)
            self.tap.equal(len(bodies), 2, f"{row}: two bodies of regions")
            if len(bodies) == 2:
                self.fair(row, {f"region {k}": (got[k], want[k] / run.truth["total_ns"])
                                for k in (0, 1)}, run.run()["sample_n"])
            numbers = {t["tid"]: t["omp_thread"] for t in run.view("threads")}
            self.tap.point(all(numbers.get(t["tid"]) in (t["omp"], None)
                               for t in run.truth["threads"]),
                           f"{row}: a thread's OpenMP number, where it is said, is right",
                           f"{numbers} but {run.truth['threads']}")

    def ranks(self):
        for kind in ("openmpi", "mpich"):
            row, launcher = f"spinner-{kind}", f"mpirun.{kind}"
            folder = self.folder(row)
            if not folder:
                continue
            words = [launcher, "-n", 2]
            env = os.environ.copy()
            if "openmpi" in launcher:
                words += ["--oversubscribe", "--bind-to", "none"]
                env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            run = self.record(row, words + ["./p", 0.4, 1, 3], row, folder, env=env,
                              measure=lambda run: self.of_ranks(run, folder))
            if not run:
                continue
            ranks = {p["rank"]: p for p in run.view("processes") if p["rank"] is not None and
                     str(p["exe"]).endswith("/p")}
            self.tap.equal(sorted(ranks), [0, 1], f"{row}: its ranks")
            self.tap.equal(run.run()["rank_n"], 2, f"{row}: number of ranks")
            self.tap.equal(run.run()["launcher"], kind, f"{row}: launcher")
            for rank, process in ranks.items():
                n_of, ns = self.of_rank(run, folder, rank)
                self.fair(f"{row}, rank {rank}",
                          {f: (n_of.get(f, 0), ns[k] / sum(ns)) for k, f in enumerate(SPINNERS)},
                          sum(n_of.values()))
                rate, thread = run.run()["rate_hz"], next(
                    t for t in run.view("threads") if t["tid"] == process["pid"])
                self.stretch(f"{row}, rank {rank}: its time",
                             run.within("rank", ["work"])[rank, "work"] / rate, sum(ns) / 1e9,
                             stretch_room(sum(ns) / 1e9, rate,
                                          min(thread["cpu_migration_n"], os.cpu_count() - 1)),
                             preempted_s(thread["switch_involuntary_n"]))
                self.tap.point(process["sample_n"] >= sum(n_of.values()),
                               f"{row}, rank {rank}: its samples", process["sample_n"])

    def stretch(self, name, got, want, off, over):
        """Compares one interval of CPU time with the samples in it. It is not the time of a whole
        rank: its own clock does not include spinning in MPI."""
        taken = self.host.taken_s
        calm = taken <= 0.045 * want - off
        self.judge(name, amiss(got, want, taken if calm else 0, off, over),
                   amiss(got, want, taken, off, over), calm)
        if calm:
            self.tap.point(amiss(0.95 * min(got, want), want, taken, off),
                           f"{name}: 5 % fewer samples would be told")

    def of_rank(self, run, folder, rank):
        """Samples of the spinners in a rank by name, and their times by their own clock."""
        n_of = run.within("rank", SPINNERS)
        truth = json.loads((folder / f"truth-{rank}.json").read_text())
        return {f: n for (of, f), n in n_of.items() if of == rank}, truth["threads"][0]["ns"]

    def of_ranks(self, run, folder):
        both = [self.of_rank(run, folder, rank) for rank in (0, 1)]
        return (sum(sum(n.values()) for n, _ in both) / run.run()["rate_hz"],
                sum(sum(ns) for _, ns in both) / 1e9)

    # ---- Call paths -----------------------------------------------------------------------

    def held(self, name, run, modules=("p",), strays=0.0, cut=()):
        """Checks that the paths of burning functions, and their shares, are the program's. A path
        that ends on the way there (a prologue) is valid too. `strays`: the part of samples that may
        be elsewhere. `cut`: recursive keys with an unknown way from main, which a sample may find
        on the way down."""
        keys = run.truth["ns"]
        burners = {key.rpartition(";")[2] for key in keys}
        counts, strange = collections.Counter(), {}
        for path, n in run.paths_in(modules).items():
            last = path.rpartition(";")[2]
            key = next((k for k in keys if matches(path, k) or
                        (k in cut and path.startswith("?") and k.rpartition(";")[2] == last)), None)
            if key:
                counts[key] += n
            elif last in burners and not any(k.startswith(path + ";") or
                                             (k in cut and descends(path, k)) for k in keys):
                strange[path] = n
        total = run.run()["sample_n"]

        def strange_paths(risk, _):
            """Returns the strange paths; "" if their number is allowed. Chance may find more rare
            paths, with a part well below `strays`, once."""
            n = sum(strange.values())
            if n <= strays * total or (strays and risk == SURE and
                                         not unlikely(n, total, strays, SURE)):
                return ""
            return "\n".join(f"{n} samples: {path}" for path, n in strange.items())
        self.judge_chance(f"{name}: every path is one of the program's", strange_paths, 0, True)
        self.fair(name, {k: (counts[k], ns / run.truth["total_ns"]) for k, ns in keys.items()},
                  total)

    def structure(self, row, kind, program="p", options=(), strays=0.0, **more):
        name = f"{row} {kind}"
        run = self.record(row, [f"./{program}", kind, 0.2], name, options=options)
        if run:
            # A signal may find the C library between two rows of its unwind information.
            strays = max(strays, 0.005 if kind == "handler" else 0.0)
            self.held(name, run, modules=(program,), strays=strays, **more)
        return run

    def paths(self):
        for row in ("structure-gcc-2", "structure-clang-2"):
            for kind in ("callers", "recursion", "tail", "dynamic", "jump", "callback", "handler"):
                self.structure(row, kind)
        for kind in ("recursion", "dynamic", "callback", "handler"):
            self.structure("structure-gcc-0", kind)
        for row in ("structure-static", "structure-stripped", "structure-debugframe"):
            for kind in ("callers", "recursion", "callback"):
                self.structure(row, kind)
        # A copy of the stack does not reach main: the function is right all the same.
        run = self.structure("structure-gcc-2", "deep", cut=["deep;descend"])
        if run:
            descend = run.functions("p")["descend"]
            within = sum(n for names, _, n in run.paths() if "descend" in names)
            self.tap.equal(descend["inclusive_sample_n"], within,
                           "structure-gcc-2 deep: recursion counts a sample once")
        self.altstack()
        # A prologue has no frame pointer yet: a caller may be missing there.
        for kind in ("callers", "recursion"):
            self.structure("structure-fp", kind, options=["--call-stacks", "fp"], strays=0.01)
            self.structure("structure-fp", kind, program="bare", strays=0.01)
        for row in ("exceptions-gcc", "exceptions-clang"):
            run = self.record(row, ["./p", 0.3], row)
            if run:
                self.held(row, run)

    def altstack(self):
        """A copy of the signal's stack ends at the function that was interrupted; between handler
        and function, in the C library and the kernel, that one is the last of the program."""
        run = self.structure("structure-gcc-2", "altstack",
                             cut=["handler;*;on_alarm;handler_burns", "handler;interrupted"])
        if run:
            itself = sum(n for names, _, n in run.paths()
                         if names[-1] == "interrupted" and "main" not in names)
            self.tap.equal(itself, 0, "structure-gcc-2 altstack: interrupted code itself is on the "
                           "stack of main")

    # ---- Stacks against those of perf --------------------------------------------------------

    def unwinding(self):
        """The same samples, unwound by perf and by assay. The program is compared by functions.
        Libraries are compared by frames, because perf has no names of their local functions."""
        if not perf.may_record(self.outdir):
            self.tap.skip("unwinding", "perf (linux-perf) is not here, or may not sample")
            return
        for row, kinds in (
                ("structure-gcc-2", ("callers", "recursion", "dynamic", "callback", "handler")),
                ("structure-clang-2", ("callback", "handler")), ("structure-fp", ("recursion",)),
                ("exceptions-gcc", (None,)), ("exceptions-clang", (None,))):
            for kind in kinds:
                self.unwound(row, kind)

    def unwound(self, row, kind):
        name = f"unwinding {row}" + (f" {kind}" if kind else "")
        folder = self.folder(row)
        if not folder:
            return
        command = ["./p", kind, 0.25] if kind else ["./p", 0.25]
        data = perf.record(folder, command, "dwarf,16384")
        same, n, other = agreement(perf.stacks(data), imported(self.assay, data).stacks(), "p")
        self.tap.point(n > 100 and same >= 0.98 * n, f"{name}: {same} of {n} stacks are perf's",
                       "\n".join(other))

    # ---- Modules that come and go, processes, generated code -------------------------------

    def code(self):
        self.loader()
        self.chain()
        run = self.record("jit", ["./p", 0.3], "jit")
        if run:
            jit = {m["name"] for m in run.view("modules") if m["kind"] == "jit"}
            # Generated code has no unwind tables: on its first and last instruction the caller is
            # unknown.
            self.held("jit", run, modules={"p"} | jit, strays=0.01)
        run = self.record("kernels", ["./p"], "fortran")
        if run:
            functions = run.functions("p")
            named = {k: next((f for n, f in functions.items() if n.rpartition("::")[2] == k), None)
                     for k in run.truth["ns"]}
            self.tap.point(all(named.values()), "fortran: its procedures", sorted(functions))
            if all(named.values()):
                self.fair("fortran",
                          {k: (named[k]["inclusive_sample_n"], ns / run.truth["total_ns"])
                           for k, ns in run.truth["ns"].items()}, run.run()["sample_n"])

    def loader(self):
        for row, how in (("loader", "kept"), ("loader", "deleted"), ("loader", "replaced"),
                         ("loader-plain", "deleted"), ("loader-plain", "replaced")):
            name = f"{row} {how}"
            run = self.record(row, ["./p", how, 0.5], name)
            if not run:
                continue
            counts = collections.Counter()
            for f in run.view("functions"):
                counts[f["name"]] += f["inclusive_sample_n"]
            total_ns = run.truth["total_ns"]
            pairs = {k: (counts[k], ns / total_ns) for k, ns in run.truth["ns"].items()}
            pairs["burn_nothing"] = (counts["burn_nothing"], 0)
            self.fair(name, pairs, run.run()["sample_n"])
            if how == "kept":
                of = {f["name"]: f["module"] for f in run.view("functions")}
                self.tap.equal([of.get("burn_a"), of.get("burn_b")], ["liba.so", "libb.so"],
                               f"{name}: each in its library")

    def chain(self):
        burners = ("burn_here", "burn_before_exec")
        run = self.record("chain", ["./p", 4, 80], "fork and exec", measure=lambda run: (
            sum(run.within("pid", burners).values()) / run.run()["rate_hz"], 9 * 0.08))
        if not run:
            return
        said = [json.loads(line) for line in run.out.splitlines()]
        processes = {p["pid"]: p for p in run.view("processes")}
        self.tap.equal(len(processes), 5, "fork and exec: number of processes")
        self.tap.equal({t["pid"]: processes.get(t["pid"], {}).get("parent_pid") for t in said[1:]},
                       {t["pid"]: t["ppid"] for t in said[1:]},
                       "fork and exec: whose child each is")
        self.tap.equal([str(processes[t["pid"]]["command"]) for t in said],
                       [f"./p {t['depth']} 80" for t in said], "fork and exec: commands")
        n_of = run.within("pid", burners)
        total = sum(n_of.values())
        pairs = {f"{t['pid']} {f}": (n_of.get((t["pid"], f), 0), 1 / 9)
                 for t in said for f in burners
                 if f == "burn_here" or t is not said[0]}
        self.fair("fork and exec", pairs, total)
        paths = run.paths_in({"p"})
        ends = {p.rpartition(";")[0] for p in paths if p.rpartition(";")[2].startswith("burn_")}
        self.tap.equal(ends, {""}, "fork and exec: a child's path begins as its parent's")

    # ---- Loops, lines, inlining -------------------------------------------------------------

    def loops(self):
        lines = marks("loops.c", "LOOP")
        for row in ("loops-gcc-1", "loops-gcc-3", "loops-clang-3"):
            run = self.record(row, ["./p", 0.4], row)
            if not run:
                continue
            found = [r for r in run.view("loops") if r["module"] == "p"]

            def inclusive(function, depth, line=None):
                return sum(r["inclusive_sample_n"] for r in found if r["function"] == function and
                           r["depth"] == depth and
                           (line is None or r["first_line"] <= line <= r["last_line"]))
            got = {"outer": inclusive("nested", 1), "single": inclusive("single", 1),
                   "inner_one": inclusive("nested", 2, lines["inner_one"]),
                   "inner_two": inclusive("nested", 2, lines["inner_two"]),
                   "unrolled": inclusive("unrolled", 1), "summing": inclusive("summing", 1)}
            self.fair(row, {k: (n, run.truth["ns"][k] / run.truth["total_ns"])
                            for k, n in got.items()}, run.run()["sample_n"])
            own = sum(r["exclusive_sample_n"] for r in found if r["function"] == "nested" and
                      r["depth"] == 1)
            self.tap.point(own <= 0.02 * run.run()["sample_n"],
                           f"{row}: the outer loop has little time of its own", own)
        run = self.record("oneline", ["./p", 0.3], "two loops of one line")
        if run:
            found = sorted((int(str(r["address"]), 0), r["inclusive_sample_n"])
                           for r in run.view("loops") if r["function"] == "two")
            self.tap.equal(len(found), 2, "two loops of one line: are two")
            if len(found) == 2:
                self.fair("two loops of one line",
                          {k: (found[i][1], run.truth["ns"][k] / run.truth["total_ns"])
                           for i, k in enumerate(("1st", "2nd"))}, run.run()["sample_n"])

    # ---- Inlined functions ------------------------------------------------------------------

    def inlining(self):
        self.inlined_c()
        for row in ("inlining-gcc", "inlining-clang", "inlining-none"):
            self.chains(row, ["./p", 0.4])
        self.chains("across", ["./p", 0.3])
        self.chains("across-apart", ["./p", 0.3])
        self.chains("inlining-fortran", ["./p"], "MAIN__")
        self.as_perf()

    def chains(self, row, command, begin="main"):
        """Time of each chain of functions, of which some are inlined, some called. By name what is
        inlined is what rows.toml says."""
        run = self.record(row, command, row)
        if not run:
            return None
        got = collections.Counter()
        for path, n in run.paths_in({"p"}, begin, inlined=True).items():
            names = [perf.bare(name) for name in path.split(";")]
            if begin != "main":
                names = [name.rpartition("::")[2] for name in names]
            while names and names[-1] in ("truth_clock", "some"):
                names.pop()
            got[";".join(names)] += n
        run.truth["ns"] = {";".join(map(perf.bare, k.split(";"))): t
                           for k, t in run.truth["ns"].items()}
        self.fair(row, {k: (got[k], t / run.truth["total_ns"]) for k, t in run.truth["ns"].items()},
                  run.run()["sample_n"])
        wanted = build.rows()[row].get("inlined", [])
        inlined = {re.sub("<.*>", "", perf.bare(f["name"])).rpartition("::")[2]
                   for f in run.view("functions") if f["module"] == "p" and f["is_inlined"]
                   and not str(f["source_file"]).startswith("/usr/")}  # atof of stdlib.h
        inlined = {name for name in inlined if not name.startswith("truth_")}  # of truth.h
        self.tap.equal(sorted(inlined), sorted(wanted), f"{row}: what is inlined is told")
        self.by_function(row, run)
        return run

    def by_function(self, row, run):
        """A function has the time of its chains, recursion once."""
        functions = {}
        for f in run.view("functions"):
            if f["module"] == "p":
                functions.setdefault(perf.bare(f["name"]), []).append(f)
        truth, total = run.truth["ns"], run.run()["sample_n"]
        pairs = {}
        for name in {k for chain in truth for k in chain.split(";")}:
            rows = functions.get(name) or functions.get(f"steps::{name}", [])
            share = sum(t for chain, t in truth.items() if name in chain.split(";"))
            pairs[name] = sum(f["inclusive_sample_n"] for f in rows), share / run.truth["total_ns"]

        def wrong(risk, taken):
            # The clock and what a loop takes between its looks at it are in the function too.
            return "\n".join(f"{name}: {why}" for name, (n, share) in pairs.items()
                             if (why := unlikely(n, total, share, risk, taken + 0.02 * total)))
        self.judge_chance(f"{row}: each function has the time of its chains", wrong,
                          RATE * self.host.taken_s)

    def inlined_c(self):
        """One function inlined into two, and another into it: by chain and by line; its loops say
        where they were inlined."""
        lines = marks("inlined.c", "LINE")
        for row in ("inlined-gcc", "inlined-clang"):
            run = self.chains(row, ["./p", 0.4])
            if not run:
                continue
            total, ns = run.run()["sample_n"], run.truth["ns"]
            # With what is called from there (the clock), as the program's own account has it.
            of_line = {r["line"]: r["inclusive_sample_n"] for r in run.view("lines")
                       if str(r["source_file"]).endswith("inlined.c")}
            want = {word: sum(t for k, t in ns.items() if k.rpartition(";")[2] == word)
                    for word in lines}
            self.fair(f"{row}, lines", {w: (of_line.get(lines[w], 0), t / run.truth["total_ns"])
                                        for w, t in want.items()}, total)
            said = {(r["function"], r["inlined_into"]) for r in run.view("loops")
                    if r["inclusive_sample_n"] > 10 and r["is_inlined"] and r["module"] == "p"}
            self.tap.equal(sorted(said), [("innermost", "outer_one;shared"),
                                          ("innermost", "outer_two;shared"),
                                          ("shared", "outer_one"), ("shared", "outer_two")],
                           f"{row}: loops say where they were inlined")

    def as_perf(self):
        """The same samples: frames of inlined functions are those of perf. Below main, because perf
        shows aliases in libc as inlined."""
        def below_main(stacks):
            counts = collections.Counter()
            for stack, n in stacks.items():
                at = next((i for i, frame in enumerate(stack) if frame[0] == "main"), None)
                if at is not None:
                    counts[stack[at:]] += n
            return counts
        if not perf.may_record(self.outdir):
            self.tap.skip("inlining", "perf (linux-perf) is not here, or may not sample")
            return
        for row in ("inlining-gcc", "inlined-gcc"):
            folder = self.folder(row)
            if not folder:
                continue
            data = perf.record(folder, ["./p", 0.25], "dwarf,16384")
            theirs = perf.stacks(data, inlined=True)
            if max(map(len, theirs)) <= max(map(len, perf.stacks(data))):
                self.tap.skip(f"{row}: frames are perf's", "perf tells no inlined functions here")
                continue
            same, n, other = agreement(below_main(theirs), below_main(
                imported(self.assay, data).stacks(inlined=True)), "p")
            self.tap.point(n > 100 and same >= 0.95 * n,
                           f"{row}: {same} of {n} stacks with inlined functions are perf's",
                           "\n".join(other))

    # ---- Waiting ------------------------------------------------------------------------------

    def between(self, name, least, got, most, why):
        """Checks seconds of waiting against bounds. Time that the host takes while a thread runs is
        not part of its CPU time. It is also not part of the waits that the kernel reports."""
        taken = self.host.taken_s
        self.judge(name, "" if least <= got <= most else f"{got} s, {least} to {most} s; {why}",
                   not least - taken <= got <= most + taken)

    def waits(self):
        run = self.record("waits", ["./p"], "waits")
        if not run:
            return
        functions, ns = run.functions("p"), run.truth["ns"]
        delay, all_ns = ns.pop("delay"), sum(ns.values())
        for name, most_ns in ns.items():
            got = functions.get(name, {}).get("blocked_inclusive_time_s", 0)
            # At most the time that the thread was not running. Subtract the time for which it was
            # preempted before it waited. Subtract its part of the run-queue wait after its waits.
            self.between(f"waits: {name} is blocked as long as it waits",
                         0.8 * most_ns * (1 - delay / all_ns) / 1e9, got, most_ns / 1e9 + 0.001,
                         f"{delay / 1e9} of {all_ns / 1e9} s in all without a processor")
        main = next((t for t in run.view("threads") if t["tid"] == t["pid"]), {})
        self.between("waits: the thread is blocked as long as it waits",
                     0.8 * (all_ns - delay) / 1e9, main.get("blocked_time_s", 0),
                     run.run()["wall_s"], main)
        away = main["blocked_time_s"] + main["runnable_time_s"] + main["cpu_time_s"]
        life = main["end_s"] - main["start_s"]
        self.between("waits: running, waiting and waiting for a CPU are all of its life",
                     0.99 * life - 0.002, away, 1.01 * life + 0.002, main)
        share = functions.get("busy", {"inclusive_sample_n": 0})["inclusive_sample_n"]
        self.tap.point(share >= 0.8 * run.run()["sample_n"], "waits: waiting is no running time",
                       f"busy has {share} of {run.run()['sample_n']} samples")

    def queue(self):
        run = self.record("queue", ["./p", 0.4], "queue")
        if not run:
            return
        threads, ns = {t["name"]: t for t in run.view("threads")}, run.truth["ns"]
        for name in ("queue_burn", "queue_yield"):
            it = threads.get(name, {"runnable_time_s": 0, "blocked_time_s": 9})
            least, most = ns[name] / 1e9, ns[name + " since it was made"] / 1e9
            # Its end is in its life, but not in its own account of it; what it is recorded to run
            # before each switch is not in its own clock.
            room = 0.03 * least + 0.005
            less = preempted_s(it.get("switch_involuntary_n", 0))
            self.between(f"queue: {name} waits for a processor when it does not run",
                         least - room - less, it["runnable_time_s"], most + room, it)
            self.between(f"queue: {name} waits for nothing else", 0, it["blocked_time_s"], room,
                         it)
        self.tap.point(ns["queue_burn"] + ns["queue_yield"] >= 0.3e9,
                       "queue: there was something to see", run.truth)

GROUPS = {name: getattr(Truth, name) for name in
          ("shares", "threads", "ranks", "paths", "unwinding", "code", "loops", "inlining", "waits",
           "queue")}


def descends(path, key):
    """Returns whether a path is a key with a last function that has called itself."""
    return path.startswith(key + ";") and set(path[len(key) + 1:].split(";")) == {
        key.rpartition(";")[2]}


def may_not_record(assay):
    """The reason why this user may not sample by perf events here, in assay's words, or ""."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = Run(assay, pathlib.Path(folder), ["true"])
        except RuntimeError as e:
            if re.search(r"perf_event_paranoid|not permitted|no such events", str(e)):
                return str(e)
            raise
        if "timer" in run.run()["event"]:
            return "perf events are refused here; timers inside the program see less than its clock"
    return ""


def main():
    truth = Truth(sys.argv[1], sys.argv[2], sys.argv[4])
    reason = may_not_record(truth.assay)
    if reason:
        truth.tap.skip(sys.argv[3], reason)
    else:
        GROUPS[sys.argv[3]](truth)
        if truth.doubts:
            truth.is_second = True
            GROUPS[sys.argv[3]](truth)
        print(f"# {truth.again} recordings were made again because of the host")
    return truth.tap.end()


if __name__ == "__main__":
    sys.exit(main())
