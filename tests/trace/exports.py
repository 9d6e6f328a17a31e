#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of traces hold the facts of the trace: exports.py ASSAY SOURCE DIRECTORY

A reader of .prv written from the description of the format alone, and otf2-print, against what
`assay trace` says in JSON: time and calls of each routine in each thread, messages and their
bytes, states without gaps.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

CASES = ("late_nonblocking", "late_sender_large", "alltoall", "nonblocking_allreduce")
MPI_TYPES = range(50000001, 50000006)


class Wrong(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Wrong(what)


# ---- Paraver ---------------------------------------------------------------------------------


def header_of(line):
    found = re.fullmatch(r"#Paraver \(\d\d/\d\d/\d{4} at \d\d:\d\d\):(\d+)_ns:(\d+)\(([\d,]+)\):1:"
                         r"(\d+)\(([\d:,]+)\),(\d+)", line)
    expect(found, f"header: {line}")
    threads = [tuple(map(int, task.split(":"))) for task in found[5].split(",")]
    expect(len(threads) == int(found[4]), "as many tasks as the header says")
    return int(found[1]), threads, int(found[6])


def labels_of(path):
    """{(type, value): label} of a .pcf."""
    labels, types, in_values = {}, [], False
    for line in path.read_text().partition("EVENT_TYPE")[2].splitlines():
        words = line.split(None, 2)
        if line == "EVENT_TYPE":
            types, in_values = [], False
        elif line == "VALUES":
            in_values = True
        elif words and words[0].isdigit() and in_values:
            for kind in types:
                labels[kind, int(words[0])] = line.split(None, 1)[1]
        elif len(words) == 3 and words[0].isdigit() and not in_values:
            types.append(int(words[1]))
    return labels


def read_prv(path):
    lines = path.read_text().splitlines()
    end, tasks, comms = header_of(lines[0])
    body = [line for line in lines[1:] if not line.startswith("c:")]
    expect(len(lines) - 1 - len(body) == comms, "as many communicators as the header says")
    labels = labels_of(path.with_suffix(".pcf"))
    last, open_calls, states = 0, {}, collections.defaultdict(list)
    calls, messages = collections.defaultdict(lambda: [0, 0]), collections.Counter()
    for line in body:
        record = list(map(int, line.split(":")))
        thread, begin = tuple(record[2:5]), record[5]
        expect(begin >= last, f"records in order of time: {line}")
        expect(thread[1] <= len(tasks) and thread[2] <= tasks[thread[1] - 1][0],
               f"a known thread: {line}")
        last = begin
        if record[0] == 1:
            states[thread].append((begin, record[6]))
        elif record[0] == 2:
            for kind, value in zip(record[6::2], record[7::2], strict=True):
                if kind not in MPI_TYPES:
                    continue
                if value:
                    open_calls[thread, kind] = (begin, labels[kind, value])
                else:
                    enter, name = open_calls.pop((thread, kind))
                    calls[thread, name][0] += 1
                    calls[thread, name][1] += begin - enter
        else:
            receiver = tuple(record[8:11])
            expect(begin <= record[12], f"sent before it was received: {line}")
            messages[thread[1] - 1, receiver[1] - 1, "n"] += 1
            messages[thread[1] - 1, receiver[1] - 1, "b"] += record[13]
    for thread, own in states.items():
        expect(all(a[1] == b[0] for a, b in zip(own, own[1:], strict=False)),
               f"states of {thread} without gaps")
        expect(own[-1][1] <= end, f"states of {thread} end with the trace")
    return calls, messages


# ---- OTF2 ------------------------------------------------------------------------------------


def read_otf2(path):
    text = subprocess.run(["otf2-print", str(path / "traces.otf2")], capture_output=True,
                          text=True, check=True)
    entered, calls = collections.defaultdict(list), collections.defaultdict(lambda: [0, 0])
    messages = collections.Counter()
    for line in text.stdout.splitlines():
        found = re.match(r"(\w+)\s+(\d+)\s+(\d+)\s*(.*)", line)
        if not found:
            continue
        kind, location, time, rest = found[1], int(found[2]), int(found[3]), found[4]
        if kind == "ENTER":
            entered[location].append((time, rest.split('"')[1]))
        elif kind == "LEAVE":
            enter, name = entered[location].pop()
            expect(name == rest.split('"')[1], f"leaves what was entered: {line}")
            calls[location, name][0] += 1
            calls[location, name][1] += time - enter
        elif kind in ("MPI_SEND", "MPI_ISEND"):
            to = int(re.match(r"Receiver: (\d+)", rest)[1])
            messages[location, to, "n"] += 1
            messages[location, to, "b"] += int(re.search(r"Length: (\d+)", rest)[1])
        elif kind in ("MPI_RECV", "MPI_IRECV"):
            messages[int(re.match(r"Sender: (\d+)", rest)[1]), location, "received"] += 1
    return calls, messages


# ---- The trace -------------------------------------------------------------------------------


def compare(parallel, name_of, calls, messages):
    seen = 0
    for row in parallel["calls"]:
        if not row["routine"].startswith("MPI_"):
            continue
        n, ns = calls[name_of(row["location"]), row["routine"]]
        expect(n == row["calls_n"], f"{row['routine']}: {n} calls, not {row['calls_n']}")
        expect(abs(ns * 1e-9 - row["time_s"]) < 1e-6,
               f"{row['routine']}: {ns} ns, not {row['time_s']} s")
        seen += 1
    expect(seen > 4, "routines of MPI in the trace")
    for row in parallel["messages"]:
        key = row["from"], row["to"]
        expect(messages[(*key, "n")] == row["n"],
               f"{key}: {messages[(*key, 'n')]} messages, not {row['n']}")
        expect(messages[(*key, "b")] == row["size_b"], f"{key}: {messages[(*key, 'b')]} bytes")


def try_case(assay, launch, program, case, environment):
    log = pathlib.Path(f"{program}.{case}".replace("./", ""))
    for old in (f"{log}.assay", f"{log}.otf2"):
        shutil.rmtree(old, ignore_errors=True)
    run = subprocess.run([assay, "trace", "--format", "json", "-o", f"{log}.assay", "--", *launch,
                          program, case, str(log), "5", "3"],
                         env=environment, capture_output=True, text=True, check=False)
    expect(run.returncode == 0, run.stderr)
    parallel = json.loads(run.stdout)["parallel"]
    subprocess.run([assay, "export", f"{log}.assay", "--as", "prv", "-o", f"{log}.prv"],
                   check=True, capture_output=True)
    calls, messages = read_prv(pathlib.Path(f"{log}.prv"))
    compare(parallel, lambda at: (1, at + 1, 1), calls, messages)
    subprocess.run([assay, "export", f"{log}.assay", "--as", "otf2", "-o", f"{log}.otf2"],
                   check=True, capture_output=True)
    calls, messages = read_otf2(pathlib.Path(f"{log}.otf2"))
    compare(parallel, lambda at: at, calls, messages)
    for row in parallel["messages"]:
        expect(messages[row["from"], row["to"], "received"] == row["n"], "all of them received")


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    mpi = next((m for m in ("mpich", "openmpi") if shutil.which(f"mpicc.{m}")), None)
    if not mpi or not shutil.which("otf2-print"):
        print("1..0 # SKIP no MPI, or no otf2-print")
        return
    subprocess.run([f"mpicc.{mpi}", "-O2", "-o", f"exported.{mpi}", source], check=True)
    failed = 0
    print(f"1..{len(CASES)}")
    for number, case in enumerate(CASES, 1):
        try:
            try_case(assay, [f"mpirun.{mpi}", "-n", "2"], f"./exported.{mpi}", case, environment)
            print(f"ok {number} - {case}")
        except (Wrong, KeyError, subprocess.CalledProcessError) as wrong:
            failed += 1
            print(f"not ok {number} - {case}\n# {wrong!r}")
    sys.exit(failed > 0)


main()
