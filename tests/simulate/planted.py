#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Efficiency factors of traced programs agree: planted.py ASSAY PLANTED_C DIRECTORY

Four programs lose efficiency by imbalance, serialisation, transfer and work that each rank does
again. How much depends on the load of the machine (factors.py has exact losses). So the test works
out the factors itself, from the calls of the exported trace. The lowest one is the planted one. On
a busy machine another may be lower: then the program runs again. Findings name rank, function and
line. Each factor is the product of those below it, and views and gains of functions agree with
them.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trace"))
import both_mpis  # noqa: E402

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1",
                   ASSAY_NO_MEASURE="1")
ASSAY = os.path.abspath(sys.argv[1])
LEAVES = ("load_balance", "serialisation_efficiency", "transfer_efficiency")
LOSSES = {"imbalance": (4, 30), "serialisation": (4, 30), "transfer": (2, 30)}  # ranks, steps
LEAF_OF = {"imbalance": "load_balance", "serialisation": "serialisation_efficiency",
           "transfer": "transfer_efficiency"}
TRIES_N = 2
SEND, RECEIVE, BARRIER, INIT, FINALIZE = ((50000001, 1), (50000001, 2), (50000002, 8),
                                          (50000003, 31), (50000003, 32))


class Wrong(Exception):
    pass


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"{command}: {done.stderr[-600:]}")
    return done.stdout


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def trace(mpi, loss, ranks, steps):
    name = f"{mpi}-{loss}-{ranks}.assay"
    shutil.rmtree(name, ignore_errors=True)
    out = run(ASSAY, "trace", "--format", "json", "-o", name, "--groups", "mpi,functions", "--",
              f"mpirun.{mpi}", "-n", str(ranks), f"./planted.{mpi}", loss, str(steps))
    return name, json.loads(out)["parallel"]


def check_tree(found, what):
    product = found.get("startup_efficiency", 1)
    for leaf in LEAVES:
        product *= found[leaf]
    expect(abs(product - found["parallel_efficiency"]) < 1e-9, f"{what}: {found}")


def calls_of(name, ranks):
    """Calls of MPI of each rank in a trace: (begin, end, (type, value)), ns."""
    run(ASSAY, "export", name, "--as", "prv", "-o", f"{name}.prv", "--force")
    calls, begun = [[] for _ in range(ranks)], {}
    for line in pathlib.Path(f"{name}.prv").read_text().splitlines():
        fields = line.split(":")
        if fields[0] != "2":
            continue
        rank, ns = int(fields[3]) - 1, int(fields[5])
        for kind, value in zip(map(int, fields[6::2]), map(int, fields[7::2])):
            if 50000001 <= kind <= 50000003 and value:
                begun[rank] = (ns, (kind, value))
            elif 50000001 <= kind <= 50000003 and rank in begun:
                begin, call = begun.pop(rank)
                calls[rank].append((begin, ns, call))
    return calls


def ideal_steps(calls, loss):
    """Runs ranks on a network without cost: their ends and their computing, ns. Ranks meet in a
    barrier, both ranks in an exchange; a receive ends with its send."""
    ranks = len(calls)
    at = [next(i for i, call in enumerate(one) if call[2] == INIT) for one in calls]
    now, computing = [0] * ranks, [0] * ranks
    while True:
        sent, met = 0, [0] * ranks
        for rank in range(ranks):
            while True:
                before, call = calls[rank][at[rank]], calls[rank][at[rank] + 1]
                at[rank] += 1
                now[rank] += call[0] - before[1]
                computing[rank] += call[0] - before[1]
                if call[2] == RECEIVE:
                    now[rank] = max(now[rank], sent)
                elif call[2] == SEND:
                    sent = now[rank]
                elif call[2] in (BARRIER, FINALIZE) or (loss == "transfer"
                                                        and call[2][0] == 50000001):
                    met[rank] = call[2]
                    break
        expect(len(set(met)) == 1, f"ranks meet in {met}")
        if met[0] == FINALIZE:
            return now, computing
        now = [max(now)] * ranks


def true_factors(name, loss, ranks):
    """The factors by the pattern of the program."""
    calls = calls_of(name, ranks)
    ends, computing = ideal_steps(calls, loss)
    begin = min(end for one in calls for _, end, call in one if call == INIT)
    recorded = max(start for one in calls for start, _, call in one if call == FINALIZE) - begin
    return {"load_balance": sum(computing) / ranks / max(computing),
            "serialisation_efficiency": max(computing) / max(ends),
            "transfer_efficiency": max(ends) / recorded}, computing


def check_truth(name, loss, ranks):
    """Returns whether the planted factor is the lowest one."""
    truth, computing = true_factors(name, loss, ranks)
    found = json.loads(run(ASSAY, "simulate", name, "--format", "json"))
    for leaf in LEAVES:
        expect(abs(found[leaf] - truth[leaf]) < 1e-6, f"{leaf}: {found[leaf]}, not {truth[leaf]}")
    lowest = min(LEAVES, key=found.get)
    expect(lowest == min(LEAVES, key=truth.get), f"{lowest} is the lowest: {truth}")
    if lowest == LEAF_OF[loss]:
        check_named(name, loss, computing)
    return lowest == LEAF_OF[loss]


def line_of(text):
    source = pathlib.Path("planted.c").read_text().splitlines()
    return f"planted.c:{next(i for i, line in enumerate(source, 1) if text in line)}"


def check_named(name, loss, computing):
    """The finding on the planted loss names where it is."""
    sql = "SELECT rule, text FROM v_findings ORDER BY rank"
    rows = json.loads(run(ASSAY, "query", name, sql, "--format", "json"))
    texts = {row["rule"]: row["text"] for row in (rows["rows"] if "rows" in rows else rows)}
    rule = {"imbalance": "uneven_ranks"}.get(loss, loss)
    parts = {"imbalance": ["rank 0 computes for", r"in heavy \(planted.c:\d+\)"],
             "serialisation": ["A pipeline runs over 4 ranks, from rank 0 to rank 3",
                               f"in MPI_Recv in pass_along ({line_of('MPI_Recv(&token')})"],
             "transfer": [f"MPI_Sendrecv in move_around ({line_of('MPI_Sendrecv(')})",
                          "are bandwidth bound: 32 MiB in the mean"]}[loss]
    if loss == "imbalance" and rule not in texts:
        # Without samples a rank is not accused if it lacked CPUs for as long as it is longer.
        sql = "SELECT max(runnable_time_s) FROM v_threads WHERE rank = 0"
        queued = float(run(ASSAY, "query", name, sql, "--format", "csv").split()[-1] or 0)
        longer = (max(computing) - sum(computing) / len(computing)) / 1e9
        expect(queued > 0.4 * longer, f"no finding of {rule}: {texts}")
        return
    for part in parts:
        expect(re.search(part if loss == "imbalance" else re.escape(part), texts.get(rule, "")),
               f"'{part}' is not in {texts}")


def check_loss(mpi, loss):
    ranks, steps = LOSSES[loss]
    for _ in range(TRIES_N):
        name, parallel = trace(mpi, loss, ranks, steps)
        if check_truth(name, loss, ranks):
            break
    else:
        print(f"# {mpi}: {loss} is not the lowest factor: the machine is too busy")
    check_tree(json.loads(run(ASSAY, "simulate", name, "--format", "json")), "simulate")
    mpi_tree = {leaf: parallel["mpi_" + leaf]
                for leaf in (*LEAVES, "startup_efficiency", "parallel_efficiency")}
    check_tree(mpi_tree, "trace")
    # Additive: what is lost adds up.
    lost = 3 - sum(parallel[key] for key in ("mpi_startup_efficiency", "process_serialisation",
                                             "process_transfer"))
    expect(abs(lost - (1 - parallel["mpi_communication_efficiency"])) < 1e-9, parallel)
    check_findings(name, parallel)
    if loss == "transfer":
        check_ranks(name, ranks, steps)
    if loss == "imbalance":
        check_functions(mpi)
    # The experiment has the same.
    sql = "SELECT value FROM v_values WHERE metric = 'trace_mpi_transfer_efficiency_pct'"
    stored = float(run(ASSAY, "query", name, sql, "--format", "csv").split()[1])
    expect(abs(stored - 100 * parallel["mpi_transfer_efficiency"]) < 1e-6, stored)


def check_functions(mpi):
    """The gain is that of the critical path: none of what others wait for anyway."""
    name = f"{mpi}-imbalance-4.assay"
    found = json.loads(run(ASSAY, "simulate", name, "--cpu", "each=2x", "--format", "json"))
    heavy, light = sorted(found["functions"], key=lambda function: function["function"])
    expect((heavy["function"], light["function"]) == ("heavy", "light"), found["functions"])
    # Rank 0 alone is heavy, the others share what light gains.
    for function in (heavy, light):
        half = function["computing_ns"] / 2
        expect(0 <= function["gain_ns"] <= 1.001 * half, found["functions"])
    expect(heavy["computing_ns"] > 30 * 30e6 and light["computing_ns"] > 3 * 30 * 10e6,
           found["functions"])
    alone = json.loads(run(ASSAY, "simulate", name, "--cpu", "heavy=2x", "--format", "json"))
    expect(alone["simulations"][1]["total_ns"] == heavy["total_ns"], alone["simulations"])


def check_ranks(name, ranks, steps):
    """Calls and bytes by rank: a message and a barrier each step."""
    rows = json.loads(run(ASSAY, "show", name, "--view", "ranks", "--format", "json"))
    size = steps * (32 << 20)
    for row in rows:
        expect((row["point_n"], row["point_sent_b"], row["point_received_b"]) ==
               (steps, size, size), row)
        expect((row["collective_n"], row["inside_n"], row["inside_b"], row["between_b"]) ==
               (steps, steps, size, 0), row)
    expect(len(rows) == ranks, rows)


def check_findings(name, parallel):
    """A finding for each twentieth of the run that is lost, and the call that it names."""
    sql = "SELECT rule || ': ' || text FROM v_findings"
    text = run(ASSAY, "query", name, sql, "--format", "csv")
    for rule in ("transfer", "serialisation"):
        lost = 1 - parallel[f"process_{rule}"]
        said = [line for line in text.splitlines() if line.strip('"').startswith(rule + ":")]
        if rule == "transfer" and lost > 0.05 and not said:
            check_queued(name, lost)
            continue
        expect(len(said) == (lost > 0.05), f"{rule}: {lost}: {text}")
        expect(not said or f"{100 * lost:.0f} % of the run" in said[0], f"{lost}: {said}")
        expect(rule != "transfer" or not said or "MPI_" in said[0] or
               "No call transfers data" in said[0], said)


def check_queued(name, lost):
    """Without the finding ranks had no CPU for longer than transfer took, and sent little."""
    sql = ("SELECT avg(ns), min(elapsed_ns), max(sent_b) FROM (SELECT l.rank, max(x.runnable_ns)"
           " AS ns, t.elapsed_ns, (SELECT sum(sent_b) FROM trace_call c WHERE"
           " c.trace_location_id = l.trace_location_id) AS sent_b FROM trace_location l"
           " JOIN trace t USING (trace_id) JOIN thread x USING (thread_id)"
           " WHERE l.rank IS NOT NULL GROUP BY l.rank)")
    queued_ns, elapsed_ns, sent_b = (
        float(word) for word in run(ASSAY, "query", name, sql, "--format", "csv").split()[-1]
        .split(","))
    expect(queued_ns > lost * elapsed_ns, f"{name}: {queued_ns} of {elapsed_ns}: {lost}")
    expect(sent_b < 1 << 20, f"{name}: {sent_b}")


def check_scale(mpi):
    """60 ms with one rank; four have 30 ms each, and what load adds."""
    names = [trace(mpi, "replication", ranks, 20)[0] for ranks in (1, 2, 4)]
    model = json.loads(run(ASSAY, "scale", "--format", "json", "--trace", "--strong",
                           "--project", "8", *names))
    found = {(row["factor"], row["size"]): row["value"] for row in model["factors"]}
    for size in (1, 2, 4, 8):
        product = found["parallel_efficiency", size] * found["computation_scalability", size]
        expect(abs(product - found["global_efficiency", size]) < 1e-9, "the product")
    expect(0 < found["computation_scalability", 4] < 0.9, found)


def check_errors(mpi):
    name = f"{mpi}-replication-1.assay"
    for words, text in ((["--trace"], "no trace is given"),
                        (["--trace", "nowhere.assay"], "nowhere.assay"),
                        (["--trace", "planted.c.prv"], "planted.c.prv"),
                        (["--trace", "--weak", "--strong", name], "--strong is set too"),
                        (["--threads", "2", "--trace", name], "--threads has no effect"),
                        (["--trace", "--project", "x", name], "--project")):
        done = subprocess.run([ASSAY, "scale", *words], capture_output=True, text=True,
                              check=False)
        expect(done.returncode and text in done.stderr, f"{words}: {done.stderr}")
    left = [p for p in os.listdir(os.environ["TMPDIR"]) if p.startswith("assay-trace-")]
    expect(not left, f"left behind: {left}")


def try_case(mpi, case):
    try:
        if case == "replication":
            check_scale(mpi)
            check_errors(mpi)
        else:
            check_loss(mpi, case)
    except (Wrong, KeyError, ValueError) as why:
        return str(why)
    return None


def main():
    source = os.path.abspath(sys.argv[2])
    os.makedirs(sys.argv[3], exist_ok=True)
    os.environ["TMPDIR"] = ENVIRONMENT["TMPDIR"] = os.path.abspath(sys.argv[3])
    pathlib.Path(sys.argv[3], "planted.c.prv").write_text("no trace\n")
    shutil.copy(source, pathlib.Path(sys.argv[3], "planted.c"))
    both_mpis.run_points("planted", source, sys.argv[3],
                         ["-O2", "-g", "-w", "-D_GNU_SOURCE", "-finstrument-functions"],
                         lambda mpi: [*LOSSES, "replication"], try_case)


main()
