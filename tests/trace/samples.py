#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples among the events of a trace. The program counts the work of two functions between MPI
calls or parallel regions: much of one and little of the other. Its samples lie in the right
function, between the right events, in order of time. Their callers lead to main. None disappears:
the profile of the same run has as many.

usage: samples.py ASSAY DUMP SOURCE DIRECTORY
"""
import collections
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys

ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
# Enough parts for a fast core with timers that tick a hundred times a second.
ROUNDS, PARTS, MUCH, LEAST_N = "5", "50", 0.6, 20

Sample = collections.namedtuple("Sample", "routine ns functions")
points = []


def say(name, faults):
    points.append(not faults)
    print(f"{'not ok' if faults else 'ok'} {len(points)} - {name}", flush=True)
    for fault in faults:
        print(f"# {fault}")


def functions_of(program):
    """(from, to, name) of the program's functions, by their addresses in the file."""
    table = subprocess.run(["nm", "-S", program], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in table.splitlines())
    return [(int(row[0], 16), int(row[0], 16) + int(row[1], 16), row[3].split(".")[0])
            for row in rows if len(row) == 4 and row[2] in "tT"]


def names_of(frames, functions, program):
    """Returns the program's own frames, the innermost first. A caller is its return address."""
    found = []
    for number, frame in enumerate(frames):
        file, address = frame.rsplit("+", 1)
        at = int(address, 16) - (number > 0)
        if os.path.basename(file) == program:
            found += [name for low, high, name in functions if low <= at < high]
    return found


class Streams:
    """Samples of each thread: {(rank, tid): [Sample]}, as the dump prints them."""

    def __init__(self, dump, program):
        run = subprocess.run([dump, next(pathlib.Path("samples.assay").glob("run-*/trace")),
                              "samples"], capture_output=True, text=True, check=False)
        self.rc, self.lost, self.of, self.unknown, self.frames = run.returncode, 0, {}, 0, 0
        functions, own = functions_of(program), []
        for line in run.stdout.splitlines():
            words = line.split(maxsplit=2)
            if words[0] == "process":
                own = self.of.setdefault((int(words[1]), int(line.split()[3])), [])
            elif words[0] == "lost":
                self.lost += int(words[1])
            else:
                frames = [part.split()[-1] for part in words[2].split(", ")]
                own.append(Sample(words[0], int(words[1]), names_of(frames, functions, program)))
                self.unknown += sum(frame.startswith("?") for frame in frames)
                self.frames += len(frames)

    def all_n(self):
        return sum(len(samples) for samples in self.of.values())


def record(assay, words, command):
    shutil.rmtree("samples.assay", ignore_errors=True)
    run = subprocess.run([assay, "trace", "--samples", *words, "--format", "json", "-o",
                          "samples.assay", "--", *command], capture_output=True, text=True,
                         env=ENVIRONMENT, check=False)
    return [] if run.returncode == 0 else [f"{command} ended with {run.returncode}: {run.stderr}"]


def query(assay, statement):
    run = subprocess.run([assay, "query", "--format", "csv", "samples.assay", statement],
                         capture_output=True, text=True, check=True)
    return list(csv.reader(run.stdout.splitlines()))[1:]


def share_of(samples, name):
    return sum(sample.ns for sample in samples if name in sample.functions) / \
        max(1, sum(sample.ns for sample in samples))


def judge_place(who, samples, name):
    """Most of what is computed between events is this function, called by main."""
    between = [sample for sample in samples if sample.routine == "-"]
    within = [sample for sample in between if name in sample.functions]
    led = [sample for sample in within if "main" in sample.functions]
    if len(between) < LEAST_N:
        return [f"{who}: {len(between)} samples between events"]
    if share_of(between, name) < MUCH or len(led) < 0.9 * len(within):
        return [f"{who}: {share_of(between, name)} in {name}, of {len(within)} {len(led)} by main"]
    return []


def judge_numbers(assay, streams):
    """In the profile are those of all threads that have a stream, from before it was made too."""
    tids = ",".join(str(tid) for _, tid in streams.of)
    known = int(query(assay, f"SELECT SUM(sample_n) FROM v_threads WHERE tid IN ({tids})")[0][0])
    missed = query(assay, "SELECT SUM(n) FROM v_flags WHERE name = 'trace_samples_missed'")[0][0]
    here = streams.all_n() + streams.lost
    if streams.unknown > streams.frames / 20:
        return [f"{streams.unknown} of {streams.frames} addresses are in no known file"]
    # From fork to the agent's first code a process computes for less than a period of 2 ms. At most
    # one sample of each thread therefore comes before the trace.
    missed = int(missed or 0) + len(streams.of)
    return [] if here <= known <= here + missed else \
        [f"{known} in the profile, {here} here, {streams.lost} of these lost, {missed} missed"]


def judge_facts(assay):
    """Checks the computation of a rank: functions, lines and callers."""
    faults = []
    for rank, (name, caller) in enumerate((("multiply", "much"), ("divide", "little"))):
        rows = query(assay, "SELECT function, caller, source_file, line, share_pct, n FROM "
                     f"v_trace_samples WHERE rank = {rank} AND name = 'computing'")
        own = [row for row in rows if row[0] == name and row[1] == caller]
        placed = [row for row in own if row[2].endswith("samples.c") and row[3]]
        if sum(float(row[4]) for row in own) < 100 * MUCH or len(placed) != len(own):
            faults.append(f"rank {rank}: {rows}")
        inside = query(assay, "SELECT sum(n) FROM v_trace_samples WHERE name = 'mpi' AND "
                       f"function = '{name}'")
        if int(inside[0][0] or 0):
            faults.append(f"rank {rank}: {inside} of {name} in MPI")
    return faults


def otf2_tree(text):
    """{context: (parent or None, region, source)}; {location: task as Paraver counts them}."""
    tree, task, groups = {}, {}, []
    for line in text.splitlines():
        if found := re.match(r'CALLING_CONTEXT +(\d+)  Region: "(.*)" <\d+>, Source code location: '
                             r'(.*), Parent: (?:UNDEFINED|".*" <(\d+)>)$', line):
            tree[int(found[1])] = (int(found[4]) if found[4] else None, found[2], found[3])
        elif found := re.match(r'LOCATION +(\d+)  .*Group: ".*" <(\d+)>', line):
            groups += [] if found[2] in groups else [found[2]]
            task[int(found[1])] = str(groups.index(found[2]) + 1)
    return tree, task


def path_of(tree, node):
    path = []
    while node is not None:
        path.append(node)
        node = tree[node][0]
    return path[::-1]


def otf2_distance(tree, before, now):
    """Nodes that are new since the sample before, and one that made progress."""
    before, now = path_of(tree, before), path_of(tree, now)
    while before and now and before[0] == now[0]:
        before, now = before[1:], now[1:]
    return len(now) + 1


def judge_otf2(streams, levels):
    """The samples of Paraver, with all their callers, lines, and the time that they stand for."""
    said = {what: subprocess.run(["otf2-print", *what, "-Werror", "x.otf2/traces.otf2"],
                                 capture_output=True, text=True, check=True).stdout
            for what in ((), ("-G",))}
    tree, task = otf2_tree(said["-G",])
    periods = [int(found) for found in re.findall(
        r"^INTERRUPT_GENERATOR.*Mode: TIME, Base: DECIMAL, Exponent: -9, Period: (\d+)",
        said["-G",], re.M)]
    stacks, latest, time_ns, faults, placed = {}, {}, 0, [], 0
    for line in said[()].splitlines():
        if not line.startswith("CALLING_CONTEXT_SAMPLE"):
            continue
        location, time, node, distance, period = map(int, re.fullmatch(
            r'CALLING_CONTEXT_SAMPLE +(\d+) +(\d+)  Calling Context: ".*" <(\d+)>, '
            r'Unwind Distance: (\d+), Interrupt Generator: ".*" <(\d+)>', line).groups())
        path = [tree[at][1] for at in reversed(path_of(tree, node))]
        stacks.setdefault((task[location], str(time)), []).append(path[:8])
        time_ns += periods[period]
        placed += tree[node][1] == "multiply" and "samples.c:" in tree[node][2]
        if distance != otf2_distance(tree, latest.get(location), node):
            faults.append(f"{line}: behind {latest.get(location)}")
        latest[location] = node
    if stacks != levels:
        faults += [f"{where}: {levels.get(where)} is {stacks.get(where)}"
                   for where in sorted(set(levels) | set(stacks))
                   if levels.get(where) != stacks.get(where)][:5]
    if time_ns != sum(sample.ns for own in streams.of.values() for sample in own):
        faults.append(f"{time_ns} ns in all")
    return faults + ([] if placed >= LEAST_N else [f"{placed} lines of multiply"])


def judge_exports(assay, streams):
    """Paraver: sampled functions by level, for each sample; OTF2 has the same; Perfetto has their
    names."""
    for kind, name in (("prv", "x.prv"), ("perfetto", "x.pftrace"), ("otf2", "x.otf2")):
        shutil.rmtree(name, ignore_errors=True)
        subprocess.run([assay, "export", "-q", "--force", "samples.assay", "--as", kind,
                        "-o", name],
                       check=True, capture_output=True)
    labels = {}
    types = pathlib.Path("x.pcf").read_text().split("Sampled functions at level 1\n")[1]
    for line in types.split("VALUES\n")[1].split("\n\n")[0].splitlines():
        number, label = line.split(maxsplit=1)
        labels[int(number)] = label
    levels, latest = {}, {}
    for line in pathlib.Path("x.prv").read_text().splitlines()[1:]:
        word = line.split(":")
        if word[0] == "2" and 30000000 < int(word[6]) < 30000009:
            where = (word[3], word[5])
            if word[6] == "30000001":
                latest = levels.setdefault(where, [])
                latest.append([])
            if word[7] != "0":
                latest[-1].append(labels[int(word[7])])
    stacks = [(task, stack) for (task, _), all_ in levels.items() for stack in all_]
    faults = []
    if len(stacks) != streams.all_n():
        faults.append(f"{len(stacks)} samples of {streams.all_n()}")
    for task, names in (("1", ["multiply", "much", "main"]), ("2", ["divide", "little", "main"])):
        if sum(of == task and stack[:3] == names for of, stack in stacks) < LEAST_N:
            faults.append(f"task {task}: {[stack for of, stack in stacks if of == task][-5:]}")
    if b"multiply" not in pathlib.Path("x.pftrace").read_bytes():
        faults.append("Perfetto: no function")
    return faults + [f"OTF2: {fault}" for fault in judge_otf2(streams, levels)]


def test_mpi(assay, dump, mpi):
    program = f"samples.{mpi}"
    launch = [f"mpirun.{mpi}", "-n", "2", f"./{program}", ROUNDS, PARTS]
    faults = record(assay, [], launch)
    streams = Streams(dump, program)
    faults += [f"the dump ends with {streams.rc}"] if streams.rc else []
    for (rank, _), samples in streams.of.items():
        if samples or rank < 0:
            faults += judge_place(f"rank {rank}", samples, "little" if rank else "much")
    faults += judge_numbers(assay, streams)
    if sorted(rank for rank, _ in streams.of) != [0, 1]:
        faults.append(f"threads: {list(streams.of)}") # those of the MPI itself have no stream
    say(f"{mpi}: between calls", faults)
    say(f"{mpi}: facts", judge_facts(assay))
    say(f"{mpi}: exports", judge_exports(assay, streams))
    # Two rounds: in each the second rank polls for eight ninths of the time.
    faults = record(assay, [], [*launch[:-2], "2", PARTS, "polls"])
    streams = Streams(dump, program)
    faults += [f"the dump ends with {streams.rc}"] if streams.rc else []
    inside = [sample for samples in streams.of.values() for sample in samples
              if sample.routine == "MPI_Test"]
    if len(inside) < LEAST_N / 4 or any({"much", "little"} & set(s.functions) for s in inside):
        faults.append(f"{len(inside)} samples in MPI_Test: {inside[:3]}")
    say(f"{mpi}: among polls", faults + judge_numbers(assay, streams))
    faults = record(assay, ["--burst", "1ms"], launch)
    streams = Streams(dump, program)
    for (rank, _), samples in streams.of.items():
        faults += judge_place(f"rank {rank}", samples, "little" if rank else "much")
    say(f"{mpi}: bursts", faults + judge_numbers(assay, streams))


def test_openmp(assay, dump):
    """Workers multiply; the master also divides, between regions."""
    faults = record(assay, [], ["./samples.omp", ROUNDS, PARTS])
    streams = Streams(dump, "samples.omp")
    faults += [f"the dump ends with {streams.rc}"] if streams.rc else []
    threads = list(streams.of.values())
    if len(threads) != 2:
        faults.append(f"{len(threads)} threads have a stream")
    elif share_of(threads[0], "little") < 0.3 or share_of(threads[1], "little") > 0 or \
            share_of(threads[1], "multiply") < 0.1:
        shares = [(share_of(t, "little"), share_of(t, "multiply")) for t in threads]
        faults.append(f"shares of divisions and products: {shares}")
    say("OpenMP", faults + judge_numbers(assay, streams))


def test_others(assay, dump):
    faults = record(assay, ["--ring", "512K", "--rate", "1000"], ["./samples.omp", "1", PARTS])
    streams = Streams(dump, "samples.omp")
    say("ring", faults + ([] if streams.rc == 0 and streams.all_n() else ["no samples"]))
    faults = record(assay, ["--start-off"], ["./samples.omp", "1", PARTS])
    n = query(assay, "SELECT SUM(sample_n) FROM v_threads")[0][0]
    say("off", faults + ([] if not int(n or 0) else [f"{n} samples while it was off"]))
    for words, said in ((["--event", "cpu-clock"], "remove --event"),
                        (["--call-stacks", "lbr"], "remove --call-stacks")):
        wrong = record(assay, words, ["./samples.omp", "1", "1"])
        say(" ".join(words), [] if wrong and "with 2" in wrong[0] and re.search(said, wrong[0])
            else wrong or ["was taken"])


def main():
    assay, dump, source, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    for mpi in ("openmpi", "mpich"):
        if not shutil.which(f"mpicc.{mpi}"):
            print(f"ok # SKIP {mpi} is not here")
            continue
        subprocess.run([f"mpicc.{mpi}", "-g", "-O2", "-DWITH_MPI", "-o", f"samples.{mpi}", source],
                       check=True)
        test_mpi(assay, dump, mpi)
    subprocess.run(["gcc", "-g", "-O2", "-fopenmp", "-o", "samples.omp", source], check=True)
    test_openmp(assay, dump)
    test_others(assay, dump)
    print(f"1..{len(points)}")
    sys.exit(not all(points))


main()
