#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulated run as a trace, and as a run of the experiment: simulated.py ASSAY

Programs are recorded with calls of 50 ns. Their times on a network are formulas, which the written
.prv has to show for each call. L is the latency, s a size of which a byte takes 1 ns.
"""
import json
import os
import subprocess
import sys
import tempfile

from common import Tap

L, S, INIT_NS, CALL_NS, C = 100, 1000, 300, 50, 700
NETWORK = ("--latency", f"{L}ns", "--bandwidth", "1GB/s", "--eager", "inf")
ROUTINES = {"send": (50000001, 1), "receive": (50000001, 2), "isend": (50000001, 3),
            "irecv": (50000001, 4), "wait": (50000001, 5), "barrier": (50000002, 8),
            "init": (50000003, 31), "finalize": (50000003, 32)}


class Recording:
    """A .prv. Each call takes 50 ns, whatever it is. Rank r leaves MPI_Init at 300 + 10 r."""

    def __init__(self, ranks, threads=1, details=True):
        self.ranks, self.threads, self.details = ranks, threads, details
        self.now, self.lines, self.sent = [0] * ranks, [], {}
        for rank in range(ranks):
            self.call(rank, "init", INIT_NS + 10 * rank)

    def event(self, rank, ns, text, thread=1):
        cpu = rank * self.threads + thread
        self.lines.append((ns, f"2:{cpu}:1:{rank + 1}:{thread}:{ns}:{text}"))

    def call(self, rank, routine, length=CALL_NS):
        kind, value = ROUTINES[routine]
        begin, end = self.now[rank], self.now[rank] + length
        named = ":50100001:0:50100002:0:50100004:1" if self.details and kind == 50000002 else ""
        self.event(rank, begin, f"{kind}:{value}{named}")
        self.event(rank, end, f"{kind}:0")
        self.now[rank] = end
        return begin, end

    def compute(self, rank, ns):
        self.now[rank] += ns

    def send(self, rank, target, size=S):
        self.sent.setdefault((rank, target), []).append((self.call(rank, "send"), size))

    def receive(self, rank, source):
        begin, end = self.call(rank, "receive")
        (sent, _), size = self.sent[source, rank].pop(0)
        a, b = (f"{r * self.threads + 1}:1:{r + 1}:1" for r in (source, rank))
        self.lines.append((sent, f"3:{a}:{sent}:{sent}:{b}:{begin}:{end}:{size}:0"))

    def write(self, path):
        for rank in range(self.ranks):
            self.call(rank, "finalize")
        cpus, n = self.ranks * self.threads, self.ranks
        ranks = ",".join([f"{self.threads}:1"] * n)
        with open(path, "w", encoding="ascii") as out:
            out.write(f"#Paraver (01/01/2026 at 00:00):{max(self.now)}_ns:1({cpus}):1:"
                      f"{n}({ranks}),1\nc:1:1:{n}:{':'.join(str(r + 1) for r in range(n))}\n")
            for _, line in sorted(self.lines, key=lambda pair: pair[0]):
                out.write(line + "\n")


def read_prv(path):
    """Calls of MPI of each rank: (type, value, begin, end). Messages: (sent, received). Functions
    of further threads: (time, whether one begins)."""
    calls, messages, users = {}, [], []
    with open(path, encoding="ascii") as lines:
        next(lines)
        for line in lines:
            field = line.strip().split(":")
            if field[0] == "3":
                messages.append((int(field[5]), int(field[12])))
            if field[0] != "2":
                continue
            task, thread, ns = int(field[3]) - 1, int(field[4]), int(field[5])
            pairs = list(zip(map(int, field[6::2]), map(int, field[7::2]), strict=True))
            for kind, value in pairs:
                if 50000001 <= kind <= 50000005 and value:
                    calls.setdefault(task, []).append([kind, value, ns, None])
                elif 50000001 <= kind <= 50000005:
                    calls[task][-1][3] = ns
                elif kind == 60000019 and thread > 1:
                    users.append((ns, value > 0))
    return calls, messages, users


class Simulated:
    def __init__(self, tap):
        self.tap = tap

    def run(self, *words):
        done = subprocess.run([self.tap.assay, *words], capture_output=True, text=True, check=False,
                              cwd=self.tap.place.name)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done

    def query(self, experiment, sql):
        return json.loads(self.run("query", experiment, "--format", "json", sql).stdout)

    def calls(self, name, recording, options, want, messages=None, file="made"):
        """`want`: of each rank (begin, end) of each call between both ends, from MPI_Init on."""
        made, out = self.tap.path(file + ".prv"), self.tap.path(file + "-simulated.prv")
        recording.write(made)
        try:
            self.run("simulate", made, *options, "-o", out, "--force")
            calls, found, _ = read_prv(out)
        except RuntimeError as error:
            self.tap.check(name, False, error)
            return
        begin = calls[0][0][3]
        times = {rank: [(c[2] - begin, c[3] - begin) for c in mine[1:-1]]
                 for rank, mine in calls.items()}
        ends = [mine[0][3] for mine in calls.values()]
        moved = sorted((a - begin, b - begin) for a, b in found)
        self.tap.check(name, times == want and set(ends) == {begin} and
                       (messages is None or moved == sorted(messages)),
                       f"{times}, not {want}; {ends}; messages {moved}, not {messages}")

    def again(self, file="made"):
        """A simulated run is a run of that machine: simulated again, it is the same file."""
        one, two = (self.tap.path(f"{file}-simulated{end}") for end in (".prv", "-again.prv"))
        self.run("simulate", one, *NETWORK, "-o", two)
        with open(one, encoding="ascii") as a, open(two, encoding="ascii") as b:
            left, right = a.readlines(), b.readlines()
        self.tap.check(f"{file} again", left == right and len(left) > 10,
                       "".join(x + y for x, y in zip(left, right, strict=False) if x != y)[:400])


def ping_pong(t):
    """A round takes 2 (L + s)."""
    made, rounds, want, messages = Recording(2), 4, {0: [], 1: []}, []
    for i in range(rounds):
        made.send(0, 1)
        made.receive(1, 0)
        made.send(1, 0)
        made.receive(0, 1)
        at, half = 2 * i * (L + S), L + S
        want[0] += [(at, at + L), (at + L, at + 2 * half)]
        want[1] += [(at if i == 0 else at - half + L, at + half), (at + half, at + half + L)]
        messages += [(at, at + half), (at + half, at + 2 * half)]
    t.calls("ping-pong", made, NETWORK, want, messages, "ping-pong")
    t.again("ping-pong")
    # A receive begins s before its send, but for the first of rank 1.
    t.run("import", "ping-pong-simulated.prv", "-o", "ping-pong.assay")
    waits = [row["wait_ns"] for row in t.query(
        "ping-pong.assay", "SELECT sum(w.time_ns) AS wait_ns FROM trace_wait w JOIN trace_location "
        "USING (trace_location_id) JOIN thread USING (thread_id) JOIN process p "
        "USING (process_id) GROUP BY p.rank ORDER BY p.rank")]
    t.tap.check("waits of the simulated ping-pong", waits == [rounds * S, (rounds - 1) * S], waits)


def ring(t):
    """Rank r computes r C, sends to its right and receives from its left."""
    n = 4
    made, want = Recording(n), {}
    for r in range(n):
        made.compute(r, r * C)
        made.send(r, (r + 1) % n)
    for r in range(n):
        left = (r - 1) % n
        made.receive(r, left)
        want[r] = [(r * C, r * C + L), (r * C + L, max(r * C + L, left * C + L + S))]
    t.calls("ring", made, NETWORK, want, None, "ring")
    t.again("ring")


def barrier(t):
    """P ranks leave at the last entry + ceil(log2 P) L."""
    for n, steps in ((2, 1), (4, 2), (5, 3), (8, 3)):
        made = Recording(n, details=n != 5)
        for r in range(n):
            made.compute(r, (r + 1) * C)
            made.call(r, "barrier")
        end = n * C + steps * L
        named = "with" if n != 5 else "without"
        t.calls(f"barrier of {n}, {named} its communicator", made, NETWORK,
                {r: [((r + 1) * C, end)] for r in range(n)}, [], f"barrier-{n}")
        t.again(f"barrier-{n}")


def buses(t):
    """3 pairs on 2 buses: the third transfer waits for the first."""
    made, n = Recording(6), 3
    for r in range(n):
        made.send(r, r + n)
        made.receive(r + n, r)
    want = {r: [(0, L)] for r in range(n)}
    want |= {r + n: [(0, L + S * (1 + (r == 2)))] for r in range(n)}
    t.calls("two buses", made, NETWORK + ("--buses", "2"), want, None, "buses")


def slower(t):
    """A CPU of half the speed: bursts take twice as long, calls as before."""
    made = Recording(2)
    made.compute(0, C)
    made.send(0, 1)
    made.receive(1, 0)
    t.calls("a slow rank", made, NETWORK + ("--cpu", "rank:0=0.5x"),
            {0: [(2 * C, 2 * C + L)], 1: [(0, 2 * C + L + S)]}, None, "slow")


def two_threads():
    """The second thread of rank 0 has an event at a quarter and at the half of its burst."""
    made = Recording(2, threads=2)
    begin = made.now[0]
    made.compute(0, 4 * C)
    made.event(0, begin + C, "60000019:7", thread=2)
    made.event(0, begin + 2 * C, "60000019:0", thread=2)
    made.send(0, 1)
    made.receive(1, 0)
    return made


def threads(t):
    """Events of another thread keep their place in the burst, which a slow CPU makes longer."""
    for speed, options in ((1, ()), (2, ("--cpu", "rank:0=0.5x"))):
        file, until = f"threads-{speed}", 4 * C * speed
        t.calls(f"a rank of two threads, a burst {speed} times as long", two_threads(),
                NETWORK + options, {0: [(until, until + L)], 1: [(0, until + L + S)]}, None, file)
        calls, _, users = read_prv(t.tap.path(file + "-simulated.prv"))
        start = calls[0][0][3]
        want = [(start + C * speed, True), (start + 2 * C * speed, False)]
        t.tap.check(f"its second thread, {speed}", users == want, f"{users}, not {want}")


def stored(t):
    """Runs of the experiment: a late sender of c + L + s, and a sweep of bandwidths."""
    made = Recording(2)
    made.compute(0, C * 1000)
    made.send(0, 1)
    made.receive(1, 0)
    made.write(t.tap.path("late.prv"))
    t.run("import", "late.prv", "-o", "late.assay")
    t.run("simulate", "late.assay", *NETWORK, "--store", "--sweep", "bandwidth=1GB/s,2GB/s",
          "--label", "net")
    rows = t.query("late.assay", "SELECT run_id, label, role, reference_id, wall_ns FROM run "
                   "ORDER BY run_id")
    end = C * 1000 + L + S
    want = [["net", "simulation", 1, end], ["net bandwidth=1GB/s", "simulation", 1, end],
            ["net bandwidth=2GB/s", "simulation", 1, end - S // 2]]
    found = [[row["label"], row["role"], row["reference_id"], row["wall_ns"]] for row in rows[1:]]
    t.tap.check("stored runs", found == want, f"{found}, not {want}")
    rows = json.loads(t.run("show", "late.assay", "--view", "simulations", "--format",
                            "json").stdout)
    recorded = C * 1000 + CALL_NS
    want = [(2, end), (3, end), (4, end - S // 2)]
    found = [(row["run_id"], round(row["time_s"] * 1e9)) for row in rows]
    t.tap.check("times of simulations", found == want, f"{found}, not {want}")
    t.tap.check("the recorded time beside them", all(
        row["recorded_run_id"] == 1 and round(row["recorded_time_s"] * 1e9) == recorded
        and abs(row["ratio"] - row["time_s"] / row["recorded_time_s"]) < 1e-9
        for row in rows), rows)
    report = json.loads(t.run("report", "late.assay", "--format", "json", "-o", "-").stdout)
    simulated = report["simulated"]
    t.tap.check("the report has what the view has",
                [(row["run_id"], row["time_s"]) for row in simulated["simulations"]]
                == [(row["run_id"], row["time_s"]) for row in rows]
                and simulated["recorded"]["recorded_time_s"] == rows[0]["recorded_time_s"],
                simulated)
    lines = {(row["run_id"], row["number"]) for row in simulated["timeline"]}
    t.tap.check("each run has a time line of both ranks",
                lines == {(run, rank) for run in (1, 2, 3, 4) for rank in (0, 1)}, lines)
    report = json.loads(t.run("report", "late.assay", "--run", "3", "--format", "json", "-o",
                              "-").stdout)
    t.tap.check("the report of a simulation has the others",
                len(report["simulated"]["simulations"]) == 3
                and report["simulated"]["recorded"]["recorded_run_id"] == 1, report["simulated"])
    done = t.run("compare", "late.assay:1", "late.assay:2", "--format", "json")
    t.tap.check("stored runs are compared", json.loads(done.stdout), done.stdout)
    facts = json.loads(t.run("simulate", "late.assay", "--format", "json").stdout)
    t.tap.check("the recorded run stays the usual one", facts["recorded_ns"] == C * 1000 + CALL_NS,
                facts["recorded_ns"])


def settings(t):
    """A stored run keeps its settings, in the units of their names."""
    made = Recording(2)
    made.send(0, 1)
    made.receive(1, 0)
    made.write(t.tap.path("set.prv"))
    t.run("import", "set.prv", "-o", "set.assay")
    t.run("simulate", "set.assay", "--latency", "2us", "--inside-latency", "300ns", "--eager",
          "32K", "--ranks-per-node", "2", "--store", "--sweep", "cpu=0.5x,1x", "--sweep",
          "inside-bandwidth=1GB/s,inf")
    rows = t.query("set.assay", "SELECT run_id, name, value FROM v_simulation_settings "
                   "ORDER BY run_id, name")
    found = {}
    for row in rows:
        found.setdefault(row["run_id"], {})[row["name"]] = row["value"]
    usual = {"latency_ns": "2000", "inside_latency_ns": "300", "eager_b": "32768",
             "ranks_per_node": "2"}
    rate, slow = {"inside_bandwidth_bps": "1000000000"}, {"cpu": "0.5"}
    want = {2: usual, 3: usual | slow | rate, 4: usual | slow, 5: usual | rate, 6: usual}
    t.tap.check("settings of stored runs", found == want, f"{found}, not {want}")


def refused(t):
    for name, words, text in (
            ("a file is not an experiment", ["late.prv", "--store"], "use 'assay import' first"),
            ("a label without a run", ["late.assay", "--label", "x"], "use it with --store"),
            ("a trace that is there", ["late.prv", "-o", "ring.prv"], "--force")):
        done = subprocess.run([t.tap.assay, "simulate", *words], capture_output=True, text=True,
                              check=False, cwd=t.tap.place.name)
        t.tap.check(name, done.returncode == 2 and text in done.stderr,
                    f"{done.returncode}: {done.stderr}")


def main():
    os.environ["ASSAY_NO_MEASURE"] = "1"
    t = Simulated(Tap(os.path.abspath(sys.argv[1])))
    with tempfile.TemporaryDirectory(prefix="assay-simulated") as place:
        os.environ["TMPDIR"] = place
        for case in (ping_pong, ring, barrier, buses, slower, threads, stored, settings,
                     refused):
            case(t)
        left = os.listdir(place)
        t.tap.check("nothing is left behind", not left, left)
    t.tap.end()


main()
