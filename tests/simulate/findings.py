#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Findings and gains of traces with known losses: findings.py ASSAY

Each case is a made-up trace. Its comment has the time that a change of the program saves, worked
out by hand. The finding names rank, function and line, and nothing else is found instead.
"""
import json
import os
import subprocess
import sys
import tempfile

from made_trace import MS, RECEIVE, SEND, SENDRECV, Trace

STEPS = 10


def uneven(trace):
    """Ranks compute 10, 10, 30, 10 ms, then a barrier. With 15 ms each a step takes 15 ms, not 30:
    the run saves 150 ms."""
    for _ in range(STEPS):
        for rank in range(4):
            trace.region(rank, "step")
            trace.compute(rank, MS // 10)
            trace.region(rank, "heavy" if rank == 2 else "light")
            trace.compute(rank, (30 if rank == 2 else 10) * MS - MS // 10)
            trace.region(rank, None)
            trace.region(rank, None)
        trace.barrier(("main", "solver.c:75"))
    return ({"even_ranks": 150}, "uneven_ranks",
            ["rank 2 computes for 0.3 s, the mean is 0.15 s (load balance 50 %)", "in heavy",
             "takes 0.15 s less"])


def uneven_sites(trace):
    """The same of two ranks without regions: 30 and 10 ms, 20 ms each save 100 ms."""
    for _ in range(STEPS):
        trace.compute(0, 10 * MS)
        trace.compute(1, 30 * MS)
        trace.barrier(("main", "solver.c:75"))
    return ({"even_ranks": 100}, "uneven_ranks",
            ["rank 1 computes for 0.3 s",
             "others wait for it in MPI_Barrier in main (solver.c:75)"])


def exchange(trace, a, b, ms, size, site):
    """Both send and receive at once, for so long."""
    begin = max(trace.now[a], trace.now[b])
    calls = {rank: (trace.now[rank], begin + ms * MS) for rank in (a, b)}
    for rank, partner in ((a, b), (b, a)):
        trace.message(rank, calls[rank], partner, calls[partner], size)
    for rank in (a, b):
        trace.call(rank, SENDRECV, calls[rank][1], site)


def uneven_transfer(trace):
    """30 and 10 ms, then both exchange for 5: 20 ms each save 10 of 35 ms on any network."""
    for _ in range(STEPS):
        trace.compute(0, 30 * MS)
        trace.compute(1, 10 * MS)
        exchange(trace, 0, 1, 5, 1_000_000, ("swap", "swap.f90:12"))
    return {"even_ranks": 100, "ideal_network": 50}, "uneven_ranks", ["rank 0 computes"]


def hidden(trace):
    """Rank 2 computes 10 ms after the 20 of rank 1, beside the 30 of rank 0: load balance is 2 / 3.
    With 20 ms each a step takes 40 ms, so that nothing is found."""
    for _ in range(STEPS):
        trace.compute(0, 30 * MS)
        trace.compute(1, 20 * MS)
        trace.compute(2, 1)
        received = trace.now[2], trace.now[1] + 1
        sent = trace.now[1], trace.now[1] + 1
        trace.call(2, RECEIVE, received[1], ("sweep", "sweep.c:46"))
        trace.message(1, sent, 2, received, 8)
        trace.call(1, SEND, sent[1], ("sweep", "sweep.c:49"))
        trace.compute(2, 10 * MS)
        trace.barrier(("main", "solver.c:75"))
    return {"even_ranks": -100}, None, []


def transfer(trace):
    """Each computes 5 ms. Ranks 3 and 1 exchange 2 MiB for 12 ms, ranks 0 and 2 256 KiB for 3."""
    for _ in range(STEPS):
        for rank in range(4):
            trace.compute(rank, 5 * MS)
        exchange(trace, 0, 2, 3, 256 << 10, ("halo", "exchange.f90:88"))
        exchange(trace, 1, 3, 12, 2 << 20, ("halo", "exchange.f90:88"))
    return ({"ideal_network": 120}, "transfer",
            ["Transfer costs 0.12 s, 71 % of the run", "MPI_Sendrecv in halo (exchange.f90:88)",
             "are bandwidth bound: 1.13 MiB in the mean",
             "40 % of their time is from rank 1 to rank 3."])


def latency(trace):
    """Each computes 5 ms, and both exchange 8 bytes for 3."""
    for _ in range(STEPS):
        for rank in range(2):
            trace.compute(rank, 5 * MS)
        exchange(trace, 0, 1, 3, 8, ("halo", "exchange.f90:88"))
    return ({"ideal_network": 30}, "transfer",
            ["are latency bound: 8 bytes in the mean", "even between 2 pairs of ranks"])


def pipeline(trace):
    """Each computes 10 ms after the rank before it: 30 of 40 ms are waiting."""
    for _ in range(STEPS):
        begin = trace.now[0]
        for rank in range(4):
            if rank:
                trace.compute(rank, 1)
                received = trace.now[rank], begin + rank * 10 * MS + 1
                trace.call(rank, RECEIVE, received[1], ("sweep", "sweep.c:46"))
                trace.message(rank - 1, sent, rank, received, 8)
            trace.compute(rank, begin + (rank + 1) * 10 * MS - trace.now[rank])
            if rank < 3:
                sent = trace.now[rank], trace.now[rank] + 1
                trace.call(rank, SEND, sent[1], ("sweep", "sweep.c:49"))
        trace.barrier(("main", "solver.c:75"))
    return ({"even_ranks": 0, "no_chains": 300}, "serialisation",
            ["75 % of the run", "A pipeline runs over 4 ranks, from rank 0 to rank 3",
             "MPI_Recv in sweep (sweep.c:46) (50 % of the waiting)"])


def in_turn(trace):
    """One rank of four computes 30 ms, the others 10, in turn: no pipeline, and even ranks save
    nothing."""
    for step in range(STEPS - 2):
        for rank in range(4):
            trace.compute(rank, (30 if step % 4 == rank else 10) * MS)
        trace.barrier(("main", "solver.c:75"))
    return ({"even_ranks": 0, "no_chains": 120}, "serialisation",
            ["50 % of the run", "MPI_Barrier in main (solver.c:75)"])


class Cases:
    def __init__(self, assay, directory):
        self.assay, self.directory, self.n, self.failed = assay, directory, 0, 0

    def run(self, *words):
        done = subprocess.run([self.assay, *words], cwd=self.directory, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    def query(self, name, sql):
        rows = json.loads(self.run("query", name, sql, "--format", "json"))
        return rows["rows"] if isinstance(rows, dict) else rows

    def check(self, name, good, why):
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}")
        if not good:
            print(f"# {why}")

    def case(self, make, ranks):
        name = make.__name__
        trace = Trace(ranks)
        gains, rule, texts = make(trace)
        trace.write(os.path.join(self.directory, f"{name}.prv"))
        self.run("import", f"{name}.prv", "-o", f"{name}.assay")
        found = {row["name"]: row for row in
                 self.query(f"{name}.assay", "SELECT * FROM v_trace_gains")}
        for key, ms in gains.items():
            row = found[key]
            near = abs(1000 * row["saved_s"] - ms) < 0.01 * abs(ms) + 0.01
            self.check(f"{name}: gain by {key}", near and row["low_s"] <= row["saved_s"]
                       <= row["high_s"], (row, ms))
        rules = ("uneven_ranks", "transfer", "serialisation")
        rows = [row for row in self.query(
            f"{name}.assay", "SELECT rank, rule, text FROM v_findings ORDER BY rank")
                if row["rule"] in rules]
        self.check(f"{name}: finding", [row["rule"] for row in rows][:1] == [rule] if rule
                   else "uneven_ranks" not in [row["rule"] for row in rows], rows)
        text = rows[0]["text"] if rows else ""
        self.check(f"{name}: names", all(part in text for part in texts)
                   and (name != "in_turn" or "pipeline" not in text), text)


def main():
    with tempfile.TemporaryDirectory(prefix="assay-findings-") as directory:
        cases = Cases(os.path.abspath(sys.argv[1]), directory)
        for make, ranks in ((uneven, 4), (uneven_sites, 2), (uneven_transfer, 2), (hidden, 3),
                            (transfer, 4), (latency, 2), (pipeline, 4), (in_turn, 4)):
            cases.case(make, ranks)
        print(f"1..{cases.n}")
        sys.exit(cases.failed > 0)


main()
