#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The right efficiency factor is the low one: planted.py ASSAY PLANTED_C DIRECTORY

Four programs lose efficiency by imbalance, serialisation, transfer and work that each rank does
again. `assay simulate`, `assay trace` and `assay scale --trace` have the loss in its factor. Each
factor is the product of those below it.
"""
import json
import os
import pathlib
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
# Loss: ranks, steps, its factor, and what it is without other load (None: the machine's memory).
LOSSES = {"imbalance": (4, 30, "load_balance", 0.5),
          "serialisation": (4, 30, "serialisation_efficiency", 0.25),
          "transfer": (2, 30, "transfer_efficiency", None)}


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


def check_tree(found, factor, want, what):
    lowest = min(LEAVES, key=lambda leaf: found[leaf])
    expect(lowest == factor, f"{what}: {lowest} is the lowest: {found}")
    if want is None:
        expect(found[factor] < 0.8, f"{what}: {found}")
    else:
        expect(abs(found[factor] - want) < 0.15, f"{what}: {found[factor]}, not {want}")
    product = found.get("startup_efficiency", 1)
    for leaf in LEAVES:
        product *= found[leaf]
    expect(abs(product - found["parallel_efficiency"]) < 1e-9, f"{what}: {found}")


def check_loss(mpi, loss):
    ranks, steps, factor, want = LOSSES[loss]
    name, parallel = trace(mpi, loss, ranks, steps)
    check_tree(json.loads(run(ASSAY, "simulate", name, "--format", "json")), factor, want,
               "simulate")
    mpi_tree = {leaf: parallel["mpi_" + leaf]
                for leaf in (*LEAVES, "startup_efficiency", "parallel_efficiency")}
    check_tree(mpi_tree, factor, want, "trace")
    # Additive: what is lost adds up.
    lost = 3 - sum(parallel[key] for key in ("mpi_startup_efficiency", "process_serialisation",
                                             "process_transfer"))
    expect(abs(lost - (1 - parallel["mpi_communication_efficiency"])) < 1e-9, parallel)
    check_findings(name, factor)
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
    heavy, light = found["functions"]
    expect((heavy["function"], light["function"]) == ("heavy", "light"), found["functions"])
    half = heavy["computing_ns"] / 2
    # Other load makes some bursts of the others long, so that they end what is gained earlier.
    expect(0.7 * half < heavy["gain_ns"] < 1.001 * half and light["gain_ns"] < 0.05 * half,
           found["functions"])
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


def check_findings(name, factor):
    """The finding of the factor, and the call that it names."""
    sql = "SELECT rule || ': ' || text FROM v_findings"
    text = run(ASSAY, "query", name, sql, "--format", "csv")
    rule = factor.removesuffix("_efficiency")
    said = [line for line in text.splitlines() if line.strip('"').startswith(rule + ":")]
    expect(len(said) == (rule != "load_balance"), f"{rule}: {text}")
    expect(rule != "transfer" or "MPI_Sendrecv" in said[0] and "32 MiB" in said[0], said)


def check_scale(mpi):
    """60 ms with one rank; four have 30 ms each."""
    names = [trace(mpi, "replication", ranks, 20)[0] for ranks in (1, 2, 4)]
    model = json.loads(run(ASSAY, "scale", "--format", "json", "--trace", "--strong",
                           "--project", "8", *names))
    found = {(row["factor"], row["size"]): row["value"] for row in model["factors"]}
    # A short run may lose more to the start of MPI.
    expect(model["lowest_factor"] in ("computation_scalability", "startup_efficiency"), model)
    lowest = min((*LEAVES, "computation_scalability"), key=lambda leaf: found[leaf, 4])
    expect(lowest == "computation_scalability", found)
    for size, want in ((1, 1), (2, 0.75), (4, 0.5)):
        is_ = found["computation_scalability", size]
        expect(abs(is_ - want) < 0.1, f"computation scalability of {size}: {is_}, not {want}")
        product = found["parallel_efficiency", size] * is_
        expect(abs(product - found["global_efficiency", size]) < 1e-9, "the product")
    # The work of 8 ranks is 20 + 5 ms each, 60 / 200 of it useful.
    expect(0.15 < found["computation_scalability", 8] < 0.45, found)


def check_errors(mpi):
    name = f"{mpi}-replication-1.assay"
    for words, text in ((["--trace"], "no trace is given"),
                        (["--trace", "nowhere.assay"], "nowhere.assay"),
                        (["--trace", "planted.c.prv"], "planted.c.prv"),
                        (["--trace", "--weak", "--strong", name], "--strong is given too"),
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
    both_mpis.run_points("planted", source, sys.argv[3],
                         ["-O2", "-w", "-D_GNU_SOURCE", "-finstrument-functions"],
                         lambda mpi: [*LOSSES, "replication"], try_case)


main()
