#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A traced program of MPI is simulated: program.py ASSAY EXCHANGE_C DIRECTORY

It has the messages that the program sends, whatever way it came. A function that is twice as fast
saves half of its time by the program's own clock.
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
                   OMPI_MCA_rmaps_base_oversubscribe="1", ASSAY_NO_MEASURE="1")
STEPS, MESSAGES = 20, 2 * 4 * 20
ASSAY = os.path.abspath(sys.argv[1])


class Wrong(Exception):
    pass


def run(*command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"{command}: {done.stderr[-600:]}")
    return done.stdout


def simulate(trace, *options):
    """Gives its JSON, and the computing of each rank in the last simulation."""
    facts = json.loads(run(ASSAY, "simulate", trace, "--format", "json", *options))
    return facts, [rank["computing_ns"] for rank in facts["rank_times"]]


def expect(condition, what):
    if not condition:
        raise Wrong(what)


def check_trace(log, name):
    relax_ns = {int(r): int(ns) for r, ns in re.findall(r"rank (\d) relax (\d+) ns", log)}
    facts, computing = simulate(name)
    expect(facts["ranks"] == 2 and facts["simulations"][0]["messages"] == MESSAGES, facts)
    expect(facts["simulations"][0]["unreceived"] == 0, facts)
    expect(0 < facts["ideal_ns"] <= 1.02 * facts["recorded_ns"], facts)
    expect(abs(facts["serialisation_efficiency"] - max(computing) / facts["ideal_ns"]) < 1e-9,
           facts)
    expect(abs(facts["transfer_efficiency"] - facts["ideal_ns"] / facts["recorded_ns"]) < 1e-9,
           facts)
    _, twice = simulate(name, "--cpu", "relax=2x")
    for rank in range(2):
        saved, want = computing[rank] - twice[rank], relax_ns[rank] / 2
        # The trace has the two readings of the program's clock too.
        expect(abs(saved - want) < 0.05 * want + 100000, f"rank {rank} saves {saved}, not {want}")
    _, half = simulate(name, "--cpu", "rank:1=0.5x")
    expect(half == [computing[0], 2 * computing[1]], f"{half} of {computing}")
    return facts, computing


def check_ways(name, facts, computing):
    """Written for other tools, it is the same program."""
    run(ASSAY, "simulate", name, "--write-dim", "x.dim", "--force")
    of_dim, dim_computing = simulate("x.dim", "--eager", "32K")
    expect(of_dim["ideal_ns"] == facts["ideal_ns"] and dim_computing == computing,
           f".dim: {of_dim['ideal_ns']} {dim_computing}")
    run(ASSAY, "export", name, "--as", "prv", "-o", "x.prv", "--force")
    of_prv, prv_computing = simulate("x.prv")
    expect(of_prv["simulations"][0]["messages"] == MESSAGES, of_prv["simulations"])
    expect(all(abs(a - b) < 0.02 * b for a, b in zip(prv_computing, computing, strict=True)),
           f".prv: {prv_computing}, not {computing}")


def check_errors(name):
    for words, text in (([name, "--cpu", "relux=2x"], "use 'relax=2x'"),
                        ([name, "--run", "7"], "7"), (["x.pcf"], "it is not a trace")):
        done = subprocess.run([ASSAY, "simulate", *words], capture_output=True, text=True,
                              check=False)
        expect(done.returncode == 2 and text in done.stderr, f"{words}: {done.stderr}")
    left = [p for p in os.listdir(os.environ["TMPDIR"]) if p.startswith("assay-simulate")]
    expect(not left, f"left behind: {left}")


def try_case(mpi, _):
    name = f"{mpi}.assay"
    shutil.rmtree(name, ignore_errors=True)
    try:
        log = run(ASSAY, "trace", "-o", name, "--groups", "mpi,functions", "--", f"mpirun.{mpi}",
                  "-n", "2", f"./exchange.{mpi}", str(STEPS))
        facts, computing = check_trace(log, name)
        check_ways(name, facts, computing)
        check_errors(name)
    except (Wrong, KeyError, ValueError) as why:
        return str(why)
    return None


def main():
    source = os.path.abspath(sys.argv[2])
    os.makedirs(sys.argv[3], exist_ok=True)
    os.environ["TMPDIR"] = ENVIRONMENT["TMPDIR"] = os.path.abspath(sys.argv[3])
    both_mpis.run_points("exchange", source, sys.argv[3], ["-O2", "-w", "-finstrument-functions"],
                         lambda mpi: [""], try_case)


main()
