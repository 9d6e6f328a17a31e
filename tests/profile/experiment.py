# SPDX-License-Identifier: Apache-2.0
"""Runs `assay profile`, asks the experiment through `assay query`, and says what must hold of every
experiment whatever ran: sums that agree, and intervals around shares. Knows no program."""
import collections
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile

RATE = 1999
# A result this unlikely by chance is an error. A suite compares some 1,000 shares: 1e-7 in all.
SURE = 1e-10
# A result this unlikely is recorded and compared again. It is an error if it is as unlikely then.
# Two recordings of one of 1,000 right shares are so far off with a probability of 1,000 x 1e-10 =
# 1e-7.
DOUBT = 1e-5


def log_binomial(k, n, p):
    """Logarithm of the probability of k hits of n, each of probability p."""
    return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) +
            k * math.log(p) + (n - k) * math.log1p(-p))


def tail(k, n, p):
    """Probability of k hits of n or of a number farther from n * p, each hit of probability p."""
    if p <= 0 or p >= 1:
        return 0.0 if abs(k - n * p) > 0.5 else 1.0
    numbers = range(k, n + 1) if k > n * p else range(k, -1, -1)
    return sum(math.exp(log_binomial(i, n, p)) for i in numbers)


def least_hits(n, risk, p=0.95):
    """The k with P(fewer than k of n independent hits, each of probability p) < risk."""
    return next((k for k in range(n + 1) if k >= n * p or tail(k, n, p) >= risk), n)


def unlikely(n, total, share, risk, taken=0):
    """"" when n of total samples is a fair draw of `share`, give or take `taken`, else the
    sentence. Samples lie at equal distances: their numbers vary less than drawn ones."""
    # Half a sample at each end, and two for a begin and an end that the program cannot measure.
    expected, off = total * share, 3 + taken
    if abs(n - expected) <= off:
        return ""
    nearer = math.floor(n - off) if n > expected else math.ceil(n + off)
    chance = tail(nearer, total, share)
    return "" if chance >= risk else (
        f"{n} of {total} samples; {expected:.1f} (± {off:.1f}) by the program's own clock, "
        f"a chance of {chance:.1e}")


def wait_for_end(process):
    """Until it has ended; its account is there until process.wait()."""
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def queued_s_of(process):
    """Returns the run-queue wait of its first thread in seconds; 0 if the kernel does not report
    it."""
    try:
        account = pathlib.Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii")
        return int(account.split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def run_told(words, **more):
    """Returns the output, the exit status, and the run-queue wait of the thread that reads
    samples."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, **more)
        wait_for_end(process)
        queued_s = queued_s_of(process)
        out.seek(0)
        err.seek(0)
        return (subprocess.CompletedProcess(words, process.wait(), out.read(), err.read()),
                queued_s)


class Run:
    """One recorded run. `truth`: the JSON that the program printed, None when it printed none."""

    def __init__(self, assay, folder, command, options=(), rate=RATE, name="x", status=0, **more):
        self.assay, self.path = str(assay), folder / f"{name}.assay"
        words = [self.assay, "profile", "--quiet", "--force", "--output", str(self.path),
                 "--rate", str(rate), *options, "--", *map(str, command)]
        done, self.queued_s = run_told(words, cwd=folder, **more)
        self.out, self.err, self.status = done.stdout, done.stderr, done.returncode
        if done.returncode != status:
            raise RuntimeError(f"{' '.join(words)}: exit status {done.returncode}, "
                               f"not {status}: {done.stderr.strip()}")
        lines = [line for line in self.out.splitlines() if line.startswith("{")]
        self.truth = json.loads(self.out) if len(lines) == 1 else None
        self.cache = {}

    def rows(self, sql):
        if sql not in self.cache:
            done = subprocess.run([self.assay, "query", str(self.path), sql, "--format", "json"],
                                  capture_output=True, text=True, timeout=800)
            if done.returncode != 0:
                raise RuntimeError(f"{sql}: {done.stderr.strip()}")
            self.cache[sql] = json.loads(done.stdout)
        return self.cache[sql]

    def view(self, name):
        return self.rows(f"SELECT * FROM v_{name}")

    def run(self):
        return self.view("runs")[0]

    def functions(self, module=None):
        """Those of the binary, by name."""
        return {f["name"]: f for f in self.view("binary_functions")
                if module in (None, f["module"])}

    # ---- Call paths -----------------------------------------------------------------------

    def nodes(self, view):
        """The rows of `callpaths` or `binary_callpaths` by their number."""
        return {(n["callpath_id"], n["inlining_id"]): n for n in self.view(view)}

    @staticmethod
    def above(node):
        return node["parent_id"], node["parent_inlining_id"]

    def paths(self, inlined=False):
        """[(functions from the outermost, their modules, samples at its end)], those with some."""
        nodes = self.nodes("callpaths" if inlined else "binary_callpaths")
        said = []
        for node in nodes.values():
            if not node["exclusive_sample_n"]:
                continue
            names, modules, at = [], [], node
            while at is not None:
                names.append(at["function"])
                modules.append(at["module"])
                at = nodes.get(self.above(at))
            said.append((names[::-1], modules[::-1], node["exclusive_sample_n"]))
        return said

    def stacks(self, inlined=False):
        """Samples by stack, the outermost frame first: ((function, file name), ...)."""
        counts = collections.Counter()
        for names, modules, n in self.paths(inlined):
            counts[tuple(zip(names, modules))] += n
        return counts

    def paths_in(self, modules, begin="main", inlined=False):
        """Returns samples by path, from below `begin` to the innermost frame in one of `modules`.
        Without `begin` the path starts at the outermost frame, with a "?" before it."""
        counts = collections.Counter()
        for names, of, n in self.paths(inlined):
            last = max((i for i, m in enumerate(of) if m in modules), default=None)
            if last is not None:
                cut = names[:last + 1]
                cut = cut[cut.index(begin) + 1:] if begin in cut else ["?"] + cut
                counts[";".join(cut)] += n
        return counts

    def within(self, by, names):
        """Samples by (`by`, function), `by` one of tid, pid and rank: of those in one of the
        functions `names` or in what it calls, the kernel's part included. The clock around a
        function charges it with all that."""
        nodes = {n["callpath_id"]: n for n in self.view("binary_callpaths")}
        counts = collections.Counter()
        for r in self.rows("SELECT t.tid, p.pid, p.rank, s.callpath_id, sum(s.n) AS n FROM "
                           "sample s JOIN thread t USING (thread_id) JOIN process p USING "
                           "(process_id) WHERE s.state = 0 GROUP BY 1, 2, 3, 4"):
            at = nodes.get(r["callpath_id"])
            while at is not None and at["function"] not in names:
                at = nodes.get(at["parent_id"])
            if at is not None:
                counts[r[by], at["function"]] += r["n"]
        return counts

    # ---- What must hold of all ------------------------------------------------------------

    def wrong(self):
        """Returns the contradictions within the experiment, as sentences."""
        said = []
        n = self.run()["sample_n"]

        def equal(what, got, want):
            if got != want:
                said.append(f"{what}: {got}, not {want}")

        for view in ("functions", "binary_functions", "modules", "callpaths", "binary_callpaths"):
            equal(f"samples of all {view}",
                  sum(r["exclusive_sample_n"] for r in self.view(view)), n)
        for view in ("threads", "processes", "categories"):
            equal(f"samples of all {view}", sum(r["sample_n"] for r in self.view(view)), n)
        self.wrong_shares(said, n)
        self.wrong_paths(said, equal, "")
        self.wrong_paths(said, equal, "binary_")
        self.wrong_loops(said)
        time_s = sum(r["time_s"] for r in self.view("threads"))
        if abs(time_s - self.run()["sampled_time_s"]) > 1e-6:
            said.append(f"time of all threads: {time_s}, not {self.run()['sampled_time_s']}")
        return said

    def wrong_shares(self, said, n):
        for view in ("functions", "binary_functions", "modules", "loops", "callpaths",
                     "binary_callpaths", "lines"):
            for r in self.view(view):
                who = f"{view[:-1]} {r.get('name') or r.get('path') or r.get('line')}"
                if not 0 <= r["exclusive_sample_n"] <= r["inclusive_sample_n"] <= n:
                    said.append(f"{who}: {r['exclusive_sample_n']} within "
                                f"{r['inclusive_sample_n']} of {n} samples")
                for kind in ("exclusive", "inclusive"):
                    low, at, high = (r[f"{kind}{k}_pct"] for k in ("_low", "", "_high"))
                    if not 0 <= low <= at + 1e-9 or not at <= high + 1e-9 or high > 100 + 1e-9:
                        said.append(f"{who}: {kind} share {at} in {low} to {high}")
                    if n and abs(at - 100 * r[f"{kind}_sample_n"] / n) > 0.5:
                        said.append(f"{who}: {kind} share {at} of {r[f'{kind}_sample_n']}/{n}")

    def wrong_paths(self, said, equal, which):
        """Inclusive counts are those of the paths: each sample once in each function on its way.
        `which`: "" with inlined functions, "binary_" without."""
        nodes = self.nodes(f"{which}callpaths")
        below, within = collections.Counter(), collections.Counter()
        for node in nodes.values():
            below[self.above(node)] += node["inclusive_sample_n"]
            on_the_way, at = set(), node
            while node["exclusive_sample_n"] and at is not None:
                on_the_way.add(at["function_id"])
                at = nodes.get(self.above(at))
            for function in on_the_way:
                within[function] += node["exclusive_sample_n"]
        for number, node in nodes.items():
            if node["inclusive_sample_n"] != node["exclusive_sample_n"] + below[number]:
                said.append(f"{which}path {node['path'][-80:]}: "
                            f"{node['inclusive_sample_n']} samples, own "
                            f"{node['exclusive_sample_n']}, callees' {below[number]}")
        equal("samples of outermost functions", below[None, None], self.run()["sample_n"])
        for f in self.view(f"{which}functions"):
            equal(f"inclusive samples of {which}{f['name']}", f["inclusive_sample_n"],
                  within[f["function_id"]])

    def wrong_loops(self, said):
        loops = {r["loop_id"]: r for r in self.view("loops")}
        own = collections.Counter()
        for loop in loops.values():
            own[loop["binary_function_id"]] += loop["exclusive_sample_n"]
            parent = loops.get(loop["parent_id"])
            if parent and parent["inclusive_sample_n"] < loop["inclusive_sample_n"]:
                said.append(f"loop {loop['loop_id']} has more than the loop around it")
        for f in self.view("binary_functions"):
            if own[f["function_id"]] > f["exclusive_sample_n"]:
                said.append(f"the loops of {f['name']} have more samples than it has")


def imported(assay, data):
    """The experiment of a recording of perf."""
    run = Run.__new__(Run)
    run.assay, run.path, run.cache = str(assay), data.with_suffix(".assay"), {}
    done = subprocess.run([run.assay, "import", "--quiet", "--force", "--output", str(run.path),
                           str(data)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"assay import: {done.stderr.strip()}")
    return run


def matches(path, key):
    """Returns whether a path matches a key of structure.c: "*" stands for any functions in
    between."""
    pattern = re.escape(key).replace(r"\*;", r"([^;]*;)*")
    return re.fullmatch(pattern, path) is not None
