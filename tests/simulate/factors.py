#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The right efficiency factor is the low one, to the digit: factors.py ASSAY

Traces of programs that lose efficiency by imbalance, serialisation, transfer and work that each
rank does again. Their factors are worked out by hand in the comments.
"""
import json
import os
import subprocess
import sys
import tempfile

from made_trace import MS, RECEIVE, SEND, SENDRECV, Trace

STEPS = 10


def imbalance(path):
    """Mean 15, longest 30 of 30 ms: load balance 0.5."""
    trace = Trace(4)
    for _ in range(STEPS):
        for rank in range(4):
            trace.compute(rank, (30 if rank == 0 else 10) * MS)
        trace.barrier()
    trace.write(path)
    return {"load_balance": 0.5, "serialisation_efficiency": 1, "transfer_efficiency": 1}


def serialisation(path):
    """Each computes 10 of 40 ms, one after the other: serialisation 0.25."""
    trace = Trace(4)
    for _ in range(STEPS):
        begin = trace.now[0]
        for rank in range(4):
            if rank:
                trace.compute(rank, 1)  # or the message would be of the barrier
                received = trace.now[rank], begin + rank * 10 * MS + 1
                trace.call(rank, RECEIVE, received[1])
                trace.message(rank - 1, sent, rank, received, 8)
            trace.compute(rank, begin + (rank + 1) * 10 * MS - trace.now[rank])
            if rank < 3:
                sent = trace.now[rank], trace.now[rank] + 1
                trace.call(rank, SEND, sent[1])
        trace.barrier()
    trace.write(path)
    return {"load_balance": 1, "serialisation_efficiency": 0.25, "transfer_efficiency": 1}


def transfer(path):
    """Each computes 5 of 25 ms, and both exchange 1 MB for 20: transfer 0.2."""
    trace = Trace(2)
    for _ in range(STEPS):
        for rank in range(2):
            trace.compute(rank, 5 * MS)
        begin = trace.now[0]
        for rank in range(2):
            call = begin, begin + 20 * MS
            trace.message(rank, call, 1 - rank, call, 1_000_000)
            trace.call(rank, SENDRECV, call[1])
    trace.write(path)
    return {"load_balance": 1, "serialisation_efficiency": 1, "transfer_efficiency": 0.2}


def two_phases(path):
    """Two ranks compute 10 and 30 ms in `uneven`, 20 and 20 ms in `even`, three times. A barrier
    within each region makes both ranks leave together."""
    trace = Trace(2)
    for _ in range(3):
        for name, lengths in (("uneven", (10, 30)), ("even", (20, 20))):
            for rank, length in enumerate(lengths):
                trace.region(rank, name)
                trace.compute(rank, length * MS)
            trace.barrier()
            for rank in range(2):
                trace.region(rank, None)
    trace.write(path)


def chained_phases(path):
    """Three steps of two ranks. In `sweep` rank 1 computes 10 ms after the 10 ms of rank 0. In
    `swap` both compute 5 ms and exchange 1 MB for 20 ms. On the ideal network `sweep` still takes
    20 ms and `swap` takes 5."""
    trace = Trace(2)
    for _ in range(3):
        for rank in range(2):
            trace.region(rank, "step")
            trace.region(rank, "sweep")
        begin = trace.now[0]
        trace.compute(0, 10 * MS)
        sent = trace.now[0], trace.now[0] + 1
        received = begin, trace.now[0] + 1
        trace.message(0, sent, 1, received, 8)
        trace.call(0, SEND, sent[1])
        trace.call(1, RECEIVE, received[1])
        trace.compute(1, 10 * MS - 1)
        trace.barrier()
        for rank in range(2):
            trace.region(rank, None)
            trace.region(rank, "swap")
            trace.compute(rank, 5 * MS)
        begin = trace.now[0]
        for rank in range(2):
            call = begin, begin + 20 * MS
            trace.message(rank, call, 1 - rank, call, 1_000_000)
            trace.call(rank, SENDRECV, call[1])
        for rank in range(2):
            trace.region(rank, None)
            trace.region(rank, None)
    trace.write(path)
    return {"sweep": (0.5, 1), "swap": (1, 0.2), "step": (15 / 25, 25 / 45)}


def replication(path, ranks):
    """20 ms each, and a part of 40: 20 P + 40 of all."""
    trace = Trace(ranks)
    for _ in range(STEPS):
        for rank in range(ranks):
            trace.compute(rank, 20 * MS + 40 * MS // ranks)
        trace.barrier()
    trace.write(path)


class Cases:
    def __init__(self, assay, directory):
        self.assay, self.directory, self.n, self.failed = assay, directory, 0, 0

    def run(self, *words):
        done = subprocess.run([self.assay, *words], cwd=self.directory, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stderr}")
        return done.stdout

    def check(self, name, good, why):
        self.n += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}")
        if not good:
            print(f"# {why}")

    def near(self, name, found, want):
        good = all(abs(found[key] - value) < 1e-4 for key, value in want.items())
        self.check(name, good, {key: (found[key], want[key]) for key in want})

    def loss(self, make):
        name = make.__name__
        want = make(os.path.join(self.directory, f"{name}.prv"))
        found = json.loads(self.run("simulate", f"{name}.prv", "--format", "json"))
        self.near(f"simulate: {name}", found, want)
        self.run("import", f"{name}.prv", "-o", f"{name}.assay")
        rows = json.loads(self.run("query", f"{name}.assay", "--format", "json",
                                   "SELECT metric, value FROM v_values WHERE object_kind = 'run'"))
        rows = rows["rows"] if isinstance(rows, dict) else rows
        metric = {row["metric"]: row["value"] / 100 for row in rows}
        mpi = {key: metric[f"trace_mpi_{key}_pct"] for key in want}
        self.near(f"metrics: {name}", mpi, want)
        # MPI_Init and MPI_Finalize take 1 ms each: they are outside of T.
        self.near(f"start and end: {name}",
                  {"startup": metric["trace_mpi_startup_efficiency_pct"]}, {"startup": 1})
        lost = {key: 1 - metric[f"trace_{key}_pct"] for key in (
            "mpi_startup_efficiency", "process_transfer", "process_serialisation",
            "process_load_balance", "mpi_parallel_efficiency")}
        whole = lost.pop("mpi_parallel_efficiency")
        self.near(f"losses add up: {name}", {"sum": sum(lost.values())}, {"sum": whole})

    def phases(self, *words, name="phases.assay"):
        return json.loads(self.run("show", name, "--view", "phases", "--format", "json",
                                   *words))

    def ideal_phases(self):
        """Serialisation and transfer of regions and iterations."""
        want = chained_phases(os.path.join(self.directory, "chained.prv"))
        self.run("import", "chained.prv", "-o", "chained.assay")
        for region, (serialisation, transfer_share) in want.items():
            rows = self.phases("--region", region, name="chained.assay")
            self.check(f"rows of {region}", [row["iteration"] for row in rows] == [None, 1, 2, 3],
                       rows)
            for row in rows:
                self.near(f"ideal network: {region}, iteration {row['iteration']}",
                          {key: row[f"mpi_{key}_pct"] / 100
                           for key in ("serialisation", "transfer")},
                          {"serialisation": serialisation, "transfer": transfer_share})
                product = row["mpi_serialisation_pct"] * row["mpi_transfer_pct"] / 100
                self.near(f"product: {region}, iteration {row['iteration']}",
                          {"share": product}, {"share": row["mpi_communication_pct"]})

    def phase(self):
        """T of `uneven` is 30 ms, its mean 20: balance 2 / 3. `even` loses nothing."""
        two_phases(os.path.join(self.directory, "phases.prv"))
        self.run("import", "phases.prv", "-o", "phases.assay")
        for name, share, busiest in (("uneven", 200 / 3, 1), ("even", 100, None)):
            rows = self.phases("--region", name)
            self.check(f"rows of {name}", [row["iteration"] for row in rows] == [None, 1, 2, 3]
                       and {row["name"] for row in rows} == {name}, rows)
            for row in rows:
                self.near(f"{name}, iteration {row['iteration']}",
                          {key: row[f"mpi_{key}_pct"] / 100
                           for key in ("parallel", "balance", "communication")},
                          {"parallel": share / 100, "balance": share / 100, "communication": 1})
                self.near(f"times of {name}, {row['iteration']}", {"s": row["time_s"]},
                          {"s": (0.03 if name == "uneven" else 0.02)
                           * (1 if row["iteration"] else 3)})
            if busiest is not None:
                self.check(f"busiest of {name}", {row["busiest_rank"] for row in rows} == {busiest},
                           rows)
        rows = self.phases("--region", "*even", "--iteration", "2")
        self.check("one iteration of each", sorted(row["name"] for row in rows)
                   == ["even", "uneven"] and {row["iteration"] for row in rows} == {2}, rows)
        rows = self.phases("--iteration", "all")
        self.check("all calls together", [row["iteration"] for row in rows] == [None, None], rows)
        self.check("no such region", self.phases("--region", "other") == [], "rows")
        for words, text in ((("--region", "even"), "use it with --view phases"),
                            (("--view", "phases", "--iteration", "0"), "a number from 1"),
                            (("--view", "phases", "--iteration", "2x"), "a number from 1"),
                            (("--view", "waits", "--iteration", "2"), "use it with --view phases")):
            self.refused(" ".join(words), ("phases.assay", *words), text, "show")

    def scale(self):
        names = [f"replication-{ranks}.prv" for ranks in (4, 1, 2)]
        for ranks in (1, 2, 4):
            replication(os.path.join(self.directory, f"replication-{ranks}.prv"), ranks)
        model = json.loads(self.run("scale", "--format", "json", "--trace", "--strong",
                                    "--project", "8,16", *names))
        found = {(row["factor"], row["size"]): row["value"] for row in model["factors"]}
        self.near("computation scalability", found, {
            ("computation_scalability", size): 60 / (20 * size + 40) for size in (1, 2, 4)})
        self.check("the lowest factor", model["lowest_factor"] == "computation_scalability", model)
        # 60 / (20 P + 40) is Amdahl's law with f = 2 / 3.
        fit = {row["factor"]: row for row in model["fits"]}["computation_scalability"]
        self.check("its law", fit["law"] == "Amdahl" and abs(fit["f"] - 2 / 3) < 1e-3, fit)
        self.near("its projection", found, {("computation_scalability", 8): 0.3,
                                            ("computation_scalability", 16): 60 / 360})
        weak = json.loads(self.run("scale", "--format", "json", "--trace", "--weak", *names))
        found = {(row["factor"], row["size"]): row["value"] for row in weak["factors"]}
        self.near("weak scaling", found, {("computation_scalability", 4): 4 * 60 / 120})
        self.store(names)

    def rows(self, view, name="replication.assay"):
        return json.loads(self.run("show", name, "--view", view, "--format", "json"))

    def store(self, names):
        """The stored model is the formula at each size, also between and beyond those measured."""
        self.run("import", names[0], "-o", "replication.assay")
        for _ in range(2):  # the second one replaces the first
            self.run("scale", "--trace", "--strong", "--project", "8,16", "--store",
                     "replication.assay", *names)
        models, laws = self.rows("scalings"), self.rows("scaling_laws")
        self.check("one model is stored", len(models) == 1 and models[0]["kind"] == "strong"
                   and models[0]["lowest"] == "computation_scalability"
                   and models[0]["size_n"] == 3, models)
        law = {row["factor"]: row for row in laws}["computation_scalability"]
        self.check("its stored law", law["law"] == "Amdahl" and abs(law["f"] - 2 / 3) < 1e-3, law)
        factors = self.rows("scaling_factors")
        parts = {part: [row for row in factors if row["part"] == part
                        and row["factor"] == "computation_scalability"]
                 for part in ("measured", "projected", "curve")}
        sizes = {part: [row["size"] for row in rows] for part, rows in parts.items()}
        self.check("sizes of each part", sizes["measured"] == [1, 2, 4]
                   and sizes["projected"] == [8, 16] and len(sizes["curve"]) == 33
                   and sizes["curve"][0] == 1 and abs(sizes["curve"][-1] - 16) < 1e-9, sizes)
        off = max(abs(row["value"] - 60 / (20 * row["size"] + 40))
                  for rows in parts.values() for row in rows)
        self.check("stored factors", off < 1e-3, off)
        self.check("curves have intervals", all(row["low"] <= row["value"] <= row["high"]
                                                for row in parts["curve"]), parts["curve"])
        self.run("merge", "replication.assay", "-o", "merged.assay")
        self.check("a merged run keeps its model", all(
            self.rows(view) == self.rows(view, "merged.assay")
            for view in ("scalings", "scaling_laws", "scaling_factors")), self.rows("scalings"))
        report = json.loads(self.run("report", "replication.assay", "--format", "json", "-o", "-"))
        shown = [row for row in report["scaling"]["factors"]]
        key = ("part", "factor", "size", "value", "low", "high")
        self.check("the report has what the view has",
                   sorted(str([row[k] for k in key]) for row in shown)
                   == sorted(str([row[k] for k in key]) for row in factors), len(shown))
        self.refused("a model of nothing", ("--store", "replication.assay", "--", "true"),
                     "use it with --trace")
        self.refused("no such experiment", ("--trace", "--store", "none.assay", *names),
                     "none.assay")

    def refused(self, name, words, text, verb="scale"):
        done = subprocess.run([self.assay, verb, *words], capture_output=True, text=True,
                              check=False, cwd=self.directory)
        self.check(name, done.returncode == 2 and text in done.stderr and not done.stdout,
                   f"{done.returncode}: {done.stderr}")


def main():
    with tempfile.TemporaryDirectory(prefix="assay-factors-") as directory:
        cases = Cases(os.path.abspath(sys.argv[1]), directory)
        for make in (imbalance, serialisation, transfer):
            cases.loss(make)
        cases.phase()
        cases.ideal_phases()
        cases.scale()
        print(f"1..{cases.n}")
        sys.exit(cases.failed > 0)


main()
