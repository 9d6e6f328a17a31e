#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports of traces hold the facts of the trace: exports.py ASSAY SOURCE DIRECTORY

Readers of .prv and of Perfetto's packets are written from the descriptions of the formats alone;
otf2-print reads OTF2. The results are compared with the JSON of `assay trace`: time and calls of
each routine in each thread, messages and their bytes, states without gaps.
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
# Cases of src/groups.c for which the formats have no messages.
GROUPS = {"mpich": ("chain_later", "late_post", "late_complete", "fence", "window_lock", "parts"),
          "openmpi": ("chain_later", "late_post", "late_complete", "fence", "window_lock")}
WINDOW_WAITS = {"late_post": {"late_post"}, "late_complete": {"early_wait", "late_complete"},
                "fence": {"wait_at_fence"}, "window_lock": {"window_lock_contention"}}
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


def read_otf2(path, ranks):
    """Calls by location, messages by `ranks`, those of the locations."""
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
            messages[ranks[location], to, "n"] += 1
            messages[ranks[location], to, "b"] += int(re.search(r"Length: (\d+)", rest)[1])
        elif kind in ("MPI_RECV", "MPI_IRECV"):
            sender = int(re.match(r"Sender: (\d+)", rest)[1])
            messages[sender, ranks[location], "received"] += 1
    return calls, messages


# ---- Perfetto --------------------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields_of(data):
    """[(field, value)] of a message: numbers as such, all else as bytes."""
    at, out = 0, []
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            n, at = {1: (8, at), 5: (4, at)}.get(tag & 7) or varint(data, at)
            expect(tag & 7 in (1, 2, 5) and at + n <= len(data), "a whole field")
            value, at = data[at:at + n], at + n
        out.append((tag >> 3, value))
    return out


def descriptor_of(data):
    """(track, parent, process, thread) of a TrackDescriptor."""
    own = dict(fields_of(data))
    return (own[1], own.get(5), dict(fields_of(own.get(3, b""))), dict(fields_of(own.get(4, b""))))


def notes_of(event, notes):
    all_of = [dict(fields_of(value)) for field, value in event if field == 4]
    return {notes[note[1]]: note.get(4, 0) for note in all_of}


def read_perfetto(path):
    """Calls by place in the order of threads' tracks, messages by ranks."""
    names, notes, ranks, threads = {}, {}, {}, []
    last, stacks, flows = 0, collections.defaultdict(list), {}
    calls, messages = collections.defaultdict(lambda: [0, 0]), collections.Counter()
    for field, packet in fields_of(path.read_bytes()):
        expect(field == 1, "packets alone")
        all_of = dict(fields_of(packet))
        expect(all_of[10] == 1, "of one sequence")
        for kind, entry in fields_of(all_of.get(12, b"")):
            text = dict(fields_of(entry))
            {2: names, 3: notes}.get(kind, {})[text[1]] = text[2].decode()
        if 60 in all_of:
            track, parent, process, thread = descriptor_of(all_of[60])
            if process:
                ranks[track] = int(re.match(rb"rank (\d+)", process[6])[1])
            if thread:
                ranks[track] = ranks[parent]
                threads.append(track)
        if 11 not in all_of:
            continue
        event, time = fields_of(all_of[11]), all_of.get(8, 0)
        own = dict(event)
        track, said = own[11], notes_of(event, notes)
        expect(time >= last and track in ranks, "packets in order of time, on known tracks")
        last = time
        if own[9] == 1:
            stacks[track].append((time, names[own[10]]))
        elif own[9] == 2:
            begin, name = stacks[track].pop()
            calls[threads.index(track), name][0] += 1
            calls[threads.index(track), name][1] += time - begin
        elif own[9] == 3 and names[own[10]] == "send":
            expect(stacks[track], "a message is sent within a call")
            flows[own[47]] = ranks[track], said["partner"], time
            messages[ranks[track], said["partner"], "n"] += 1
            messages[ranks[track], said["partner"], "b"] += said["size"]
        elif own[9] == 3:
            expect(stacks[track], "a message is received within a call")
            sender, receiver, sent = flows.pop(own[47])
            expect((sender, receiver) == (said["partner"], ranks[track]), "a flow joins its sides")
            expect(sent <= time, "sent before it was received")
    expect(not flows, "each message has two sides")
    return calls, messages


# ---- The trace -------------------------------------------------------------------------------


def compare(parallel, name_of, calls, messages):
    own = collections.defaultdict(lambda: [0, 0.0])
    for row in parallel["calls"]:  # one for each place that calls it
        if row["routine"].startswith("MPI_"):
            own[row["location"], row["routine"]][0] += row["calls_n"]
            own[row["location"], row["routine"]][1] += row["time_s"]
    expect(len(own) > 4, "routines of MPI in the trace")
    for (location, routine), (calls_n, time_s) in own.items():
        n, ns = calls[name_of(location), routine]
        expect(n == calls_n, f"{routine}: {n} calls, not {calls_n}")
        expect(abs(ns * 1e-9 - time_s) < 1e-6, f"{routine}: {ns} ns, not {time_s} s")
    for row in parallel["messages"] if messages is not None else []:
        key = row["from"], row["to"]
        expect(messages[(*key, "n")] == row["n"],
               f"{key}: {messages[(*key, 'n')]} messages, not {row['n']}")
        expect(messages[(*key, "b")] == row["size_b"], f"{key}: {messages[(*key, 'b')]} bytes")


def prv_threads(locations):
    """[(application, task, thread)] of a .prv by location. A rank may have more threads than its
    own: libraries of devices start some where they are installed."""
    threads_n = collections.Counter()
    names = []
    for location in locations:
        threads_n[location["rank"]] += 1
        names.append((1, location["rank"] + 1, threads_n[location["rank"]]))
    return names


def waits_of(assay, experiment):
    sql = ("SELECT l.number, w.kind, s.routine, sum(w.n), sum(w.time_ns) FROM trace_wait w"
           " JOIN trace_location l USING (trace_location_id)"
           " LEFT JOIN trace_site s USING (trace_site_id) GROUP BY 1, 2, 3")
    rows = subprocess.run([assay, "query", "--format", "csv", experiment, sql],
                          capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return {tuple(row.split(",")[:3]): tuple(map(int, row.split(",")[3:])) for row in rows}


def check_otf2_waits(assay, log):
    """Wait states are equal after a round trip, to a nanosecond for each."""
    shutil.rmtree(f"{log}.again.assay", ignore_errors=True)
    subprocess.run([assay, "import", "-o", f"{log}.again.assay", f"{log}.otf2"], check=True,
                   capture_output=True)
    want, found = waits_of(assay, f"{log}.assay"), waits_of(assay, f"{log}.again.assay")
    expect(want.keys() == found.keys(), f"waits {sorted(found)}, not {sorted(want)}")
    for key, (n, ns) in want.items():
        expect(found[key][0] == n and abs(found[key][1] - ns) <= 2 * n,
               f"{key}: {found[key]}, not {(n, ns)}")
    return want


def try_case(assay, launch, program, case, environment):
    log = pathlib.Path(f"{program}.{case}".replace("./", ""))
    for old in (f"{log}.assay", f"{log}.otf2"):
        shutil.rmtree(old, ignore_errors=True)
    run = subprocess.run([assay, "trace", "--format", "json", "-o", f"{log}.assay", "--", *launch,
                          program, case, str(log), "5", "3"],
                         env=environment, capture_output=True, text=True, check=False)
    expect(run.returncode == 0, run.stderr)
    parallel = json.loads(run.stdout)["parallel"]
    subprocess.run([assay, "export", "--force", f"{log}.assay", "--as", "prv", "-o", f"{log}.prv"],
                   check=True, capture_output=True)
    calls, messages = read_prv(pathlib.Path(f"{log}.prv"))
    threads = prv_threads(parallel["locations"])
    compare(parallel, lambda at: threads[at], calls, messages if case in CASES else None)
    subprocess.run([assay, "export", "--force", f"{log}.assay", "--as", "otf2",
                    "-o", f"{log}.otf2"],
                   check=True, capture_output=True)
    calls, messages = read_otf2(pathlib.Path(f"{log}.otf2"),
                                [location["rank"] for location in parallel["locations"]])
    compare(parallel, lambda at: at, calls, messages if case in CASES else None)
    for row in parallel["messages"] if case in CASES else []:
        expect(messages[row["from"], row["to"], "received"] == row["n"], "all of them received")
    if case in WINDOW_WAITS:
        waits = {kind for _, kind, _ in check_otf2_waits(assay, log)}
        expect(WINDOW_WAITS[case] <= waits, f"the trace has the waits {waits}")
    subprocess.run([assay, "export", "--force", f"{log}.assay", "--as", "perfetto",
                    "-o", f"{log}.pftrace"],
                   check=True, capture_output=True)
    calls, messages = read_perfetto(pathlib.Path(f"{log}.pftrace"))
    compare(parallel, lambda at: at, calls, messages if case in CASES else None)


def main():
    assay, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    mpi = next((m for m in ("mpich", "openmpi") if shutil.which(f"mpicc.{m}")), None)
    if not mpi or not shutil.which("otf2-print"):
        print("1..0 # SKIP no MPI, or no otf2-print")
        return
    groups = os.path.join(os.path.dirname(source), "groups.c")
    for name, program in (("exported", source), ("groups", groups)):
        subprocess.run([f"mpicc.{mpi}", "-O2", "-w", "-o", f"{name}.{mpi}", program], check=True)
    over = ["--oversubscribe"] if mpi == "openmpi" else []
    cases = [*((f"./exported.{mpi}", "2", case) for case in CASES),
             *((f"./groups.{mpi}", "3", case) for case in GROUPS[mpi])]
    failed = 0
    print(f"1..{len(cases)}")
    for number, (program, ranks, case) in enumerate(cases, 1):
        try:
            try_case(assay, [f"mpirun.{mpi}", *over, "-n", ranks], program, case, environment)
            print(f"ok {number} - {case}")
        except (Wrong, KeyError, subprocess.CalledProcessError) as wrong:
            failed += 1
            print(f"not ok {number} - {case}\n# {wrong!r}")
    sys.exit(failed > 0)


main()
