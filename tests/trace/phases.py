#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Efficiency by region and iteration, and of parts of a trace:
phases.py ASSAY DUMP SOURCE INCLUDE LIBASSAY DIRECTORY

A program logs its regions and calls of MPI. Each has one in the trace within it. From these times
alone efficiencies of phases and of ranges are worked out again.
"""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

import traced
from both_mpis import run_points

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASSAY_NO_MEASURE="1")
RANKS, STEPS, UNIT_MS = 3, 6, 8
CLOSE = 1e-6
Call = collections.namedtuple("Call", "name enter leave")
Phase = collections.namedtuple("Phase", "time_s parallel_efficiency mpi_load_balance "
                               "mpi_communication_efficiency calls_n ranks_n busiest")


def read_log(rank):
    rows = [line.split() for line in pathlib.Path(f"log.{rank}").read_text().splitlines()]
    return [Call(name, int(enter), int(leave)) for name, enter, leave in rows]


def marks_of(dump, experiment):
    """Rank -> name -> [(enter, leave)], of the first thread."""
    calls = [collections.defaultdict(list) for _ in range(RANKS)]
    seen = traced.Marks(dump, experiment)
    for tid, marks in seen.of.items():
        rank, open_ = seen.rank[tid], []
        if rank < 0:
            continue
        for mark in marks:
            if mark.kind == "enter":
                open_.append(mark)
            elif mark.kind == "leave" and open_:
                calls[rank][mark.words[0]].append((open_.pop().ns, mark.ns))
    return calls


def held_to_log(calls):
    for rank in range(RANKS):
        log = read_log(rank)
        for name in {call.name for call in log}:
            own = [call for call in log if call.name == name]
            traced.placed([own], {0: [(name, *times) for times in calls[rank][name]]})


def overlap(call, begin, end):
    return max(0, min(call[1], end) - max(call[0], begin))


def mpi_ns(calls, begin, end):
    return sum(overlap(call, begin, end) for name, own in calls.items()
               if name.startswith("MPI_") for call in own)


def phase_of(calls, spans):
    """spans: rank -> [(begin, end)] of the region, where it was called."""
    inside = {rank: sum(end - begin for begin, end in own) for rank, own in spans.items()}
    outside = {rank: inside[rank] - sum(mpi_ns(calls[rank], *span) for span in own)
               for rank, own in spans.items()}
    longest, mean = max(inside.values()), sum(outside.values()) / len(outside)
    most = max(outside.values())
    several = len(spans) > 1
    return Phase(longest / 1e9, mean / longest, mean / most if several else None,
                 most / longest if several else None, max(map(len, spans.values())), len(spans),
                 max(outside, key=outside.get) if several else None)


def same(found, want):
    for field in Phase._fields:
        got, right = found[field], getattr(want, field)
        if field == "busiest" and right is not None:
            continue
        if (got is None) != (right is None) or right is not None and abs(got - right) > CLOSE:
            return f"{field} of {found['region']} {found['iteration']} is {got}, not {right}"
    return None


def judge_phases(calls, found):
    rows = {(row["region"], row["iteration"]): row for row in found["phases"]}
    want = {}
    for name in ("step", "write"):
        spans = {rank: calls[rank][name] for rank in range(RANKS) if calls[rank][name]}
        want[name, None] = phase_of(calls, spans)
        for i in range(max(map(len, spans.values()))):
            want[name, i + 1] = phase_of(calls, {rank: [own[i]] for rank, own in spans.items()})
    if set(rows) != set(want):
        return f"{sorted(map(str, rows))} are there, not {sorted(map(str, want))}"
    for key, right in want.items():
        why = same(rows[key], right)
        if why:
            return why
        if key[0] == "step" and key[1]:
            busiest = found["locations"][rows[key]["busiest"]]["rank"]
            if busiest != right.busiest:
                return f"in step {key[1]} rank {busiest} is busiest, not {right.busiest}"
    return None


def analyse(assay, *options):
    run = subprocess.run([assay, "trace", "--format", "json", "--analyse", "phases.assay",
                          *options], capture_output=True, text=True, check=False)
    if run.returncode:
        raise traced.Misplaced(run.stderr)
    return json.loads(run.stdout)["parallel"]


def waited(found):
    return sum(row["time_s"] for row in found["waits"])


def lives_of(whole, first_ns):
    """Rank -> (begin, end) of its first thread."""
    lives = {}
    for row in whole["locations"]:
        if row["rank"] is not None and row["rank"] not in lives:
            lives[row["rank"]] = tuple(first_ns + round(1e9 * row[key])
                                       for key in ("begin_s", "end_s"))
    return lives


def judge_range(calls, lives, found, begin, end):
    """States and calls of a range are the parts of the calls that lie within."""
    elapsed = (end - begin) / 1e9
    if abs(found["elapsed_s"] - elapsed) > CLOSE:
        return f"it lasts {found['elapsed_s']}, not {elapsed}"
    outside = [overlap(lives[rank], begin, end) - mpi_ns(calls[rank], begin, end)
               for rank in range(RANKS)]
    want = sum(outside) / RANKS / (end - begin)
    if abs(found["mpi_parallel_efficiency"] - want) > CLOSE:
        return f"MPI parallel efficiency is {found['mpi_parallel_efficiency']}, not {want}"
    counted = sum(row["calls_n"] for row in found["calls"] if row["routine"] == "MPI_Allreduce")
    there = sum(overlap(call, begin, end) > 0 for own in calls for call in own["MPI_Allreduce"])
    if counted != there:
        return f"{counted} calls of MPI_Allreduce, not {there}"
    time_s = sum(row["time_s"] for row in found["calls"] if row["routine"] == "MPI_Allreduce")
    right = sum(overlap(call, begin, end) for own in calls for call in own["MPI_Allreduce"]) / 1e9
    return None if abs(time_s - right) < CLOSE else f"they take {time_s} s, not {right}"


def judge_ranges(assay, calls, whole, first_ns):
    steps = [(min(own["step"][i][0] for own in calls), max(own["step"][i][1] for own in calls))
             for i in range(STEPS)]
    parts = []
    for options, begin, end in (
            (["--to", "step:2"], first_ns, steps[1][1]),
            (["--from", f"{(steps[1][1] - first_ns) / 1e9:.9f}", "--to", "step:4"], steps[1][1],
             steps[3][1]),
            (["--from", f"{(steps[3][1] - first_ns) / 1e6:.6f}ms"], steps[3][1],
             first_ns + round(whole["elapsed_s"] * 1e9))):
        found = analyse(assay, *options)
        why = judge_range(calls, lives_of(whole, first_ns), found, begin, end)
        if why:
            return f"{' '.join(options)}: {why}"
        parts.append(found)
    together = sum(map(waited, parts))
    if abs(together - waited(whole)) > CLOSE:
        return f"parts wait for {together} s, the whole for {waited(whole)}"
    again = analyse(assay)
    if abs(waited(again) - waited(whole)) > CLOSE or again["elapsed_s"] != whole["elapsed_s"]:
        return "the whole is not what it was"
    return None


def views_follow(assay):
    """Other verbs show the part."""
    analyse(assay, "--from", "step:3", "--to", "step:3")
    show = subprocess.run([assay, "show", "phases.assay"], capture_output=True, text=True,
                          check=True).stdout
    if "the analysis covers" not in " ".join(show.split()) or "Phases" not in show:
        return show
    rows = subprocess.run([assay, "query", "--format", "csv", "phases.assay",
                           "SELECT name, iteration FROM v_trace_phases ORDER BY number"],
                          capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return None if rows == ["step,", "step,3"] else f"{rows}"


def try_mpi(assay, dump):
    def try_one(mpi, _):
        shutil.rmtree("phases.assay", ignore_errors=True)
        command = [f"mpirun.{mpi}", *(["--oversubscribe"] if mpi == "openmpi" else []), "-n",
                   str(RANKS), f"./phases.{mpi}", "log", str(STEPS), str(UNIT_MS)]
        run = subprocess.run([assay, "trace", "--format", "json", "-o", "phases.assay", "--",
                              *command], capture_output=True, text=True, check=False,
                             env=ENVIRONMENT)
        if run.returncode:
            return run.stderr
        whole = json.loads(run.stdout)["parallel"]
        calls = marks_of(dump, "phases.assay")
        try:
            held_to_log(calls)
            begin_s = next(row["begin_s"] for row in whole["phases"] if row["region"] == "write")
            first_ns = calls[0]["write"][0][0] - round(1e9 * begin_s)
            return judge_phases(calls, whole) or judge_ranges(assay, calls, whole, first_ns) or \
                views_follow(assay)
        except traced.Misplaced as fault:
            return str(fault)
    return try_one


def main():
    assay, dump, source, include, library, directory = sys.argv[1:]
    assay, dump, include, library = (str(pathlib.Path(it).resolve())
                                     for it in (assay, dump, include, library))
    flags = ["-D_GNU_SOURCE", "-O1", f"-I{include}", "-Wl,--whole-archive", library,
             "-Wl,--no-whole-archive"]
    run_points("phases", source, directory, flags, lambda _: [""], try_mpi(assay, dump))


main()
