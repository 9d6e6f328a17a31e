#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenCL in traces: opencl.py ASSAY DUMP SOURCE TABLE DIRECTORY

A program logs the commands that it enqueues and the stamps that it reads itself. The trace has the
same commands and stamps. The program sees the same queues and events with and without it. Rows of
queues, exports and times of states are held to the log.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

Command = collections.namedtuple("Command", "name bytes stamps")
RUNNING, COPYING = 1, 17
HOST, DEVICE, KERNEL, SIZE = 64000000, 64100000, 64200000, 64099999
VALUES = {"clEnqueueReadBuffer": 18, "clEnqueueWriteBuffer": 20, "clEnqueueCopyBuffer": 13,
          "clEnqueueFillBuffer": 12, "scale": 15, "work": 15}


class Log:
    def __init__(self, path):
        self.commands = collections.defaultdict(list)
        self.calls, self.seen = [], []
        for line in pathlib.Path(path).read_text().splitlines():
            kind, rest = line.split(" ", 1)
            words = rest.split()
            if kind == "command":
                self.commands[int(words[0])].append(
                    Command(words[1], int(words[2]), tuple(map(int, words[3:]))))
            elif kind == "call":
                self.calls.append((words[0], int(words[1]), int(words[2])))
            else:
                self.seen.append(rest)


class Trace:
    """Records of threads, and rows of queues, by the dump."""

    def __init__(self, dump, experiment):
        directory = next(pathlib.Path(experiment).glob("run-*/trace"))
        text = subprocess.run([dump, directory, "devices"], capture_output=True, text=True,
                              check=True).stdout
        self.enqueued, self.ran = {}, collections.defaultdict(list)
        self.calls, self.rows, self.work = [], collections.defaultdict(list), {}
        row, is_queue, begin = None, False, {}
        for line in text.splitlines():
            kind, *words = line.split("\t")
            if kind == "of":
                is_queue, row, begin = int(words[0]) >= 1 << 30, words[1], {}
                if is_queue:
                    self.rows[row] += []
            elif kind == "enter":
                begin[words[1]] = int(words[0])
            elif kind == "leave" and is_queue:
                self.rows[row].append((words[1], begin[words[1]], int(words[0])))
            elif kind == "leave":
                self.calls.append((words[1], begin[words[1]], int(words[0])))
            elif kind == "enqueued":
                self.enqueued[int(words[2])] = (words[1], int(words[4]))
            elif kind == "ran":
                self.ran[words[0]].append((int(words[1]), words[2], tuple(map(int, words[3:]))))
            elif kind == "work":
                self.work[int(words[1])] = (int(words[3]), int(words[4]))

    def queue(self, number):
        name = next(name for name in self.rows if name.endswith(f": queue {number}"))
        return name, sorted(self.ran[name]), sorted(self.rows[name], key=lambda row: row[1])


def run(command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)


def trace(assay, name, program, *arguments):
    shutil.rmtree(f"{name}.assay", ignore_errors=True)
    done = run([assay, "trace", "--format", "json", "-o", f"{name}.assay", "--", program,
                *arguments])
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)["parallel"]


def judge_commands(log, found):
    """Commands of all queues by name and bytes; of the third in their order, with stamps."""
    for number in (1, 2, 3):
        _, ran, _ = found.queue(number)
        want = [(c.name, c.bytes) for c in log.commands[number - 1]]
        got = [(name, found.enqueued[command][1]) for command, name, _ in ran]
        yield f"commands of queue {number}", got == want, (got, want)
    _, ran, rows = found.queue(3)
    yield "stamps", [r[2] for r in ran] == [c.stamps for c in log.commands[2]], ran[:3]
    yield "each command was enqueued once", len(found.enqueued) - (0 in found.enqueued) == sum(
        map(len, log.commands.values())), found.enqueued
    want = sorted((c.stamps[2], c.name, c.stamps[3] - c.stamps[2]) for c in log.commands[2])
    got = [(name, end - begin) for name, begin, end in rows]
    # A clock that drifts makes lengths others, by a thousandth at most.
    same = len(got) == len(want) and all(
        a[0] == b[1] and abs(a[1] - b[2]) <= 1 + b[2] / 1000 for a, b in zip(got, want))
    yield "row of a queue", same, (got[:4], want[:4])
    yield "bytes of the row", sorted(b for b, _ in found.work.values()) == sorted(
        c.bytes for own in log.commands.values() for c in own), found.work


def error_ns(assay, experiment):
    text = run([assay, "show", experiment, "--view", "flags", "--format", "json"]).stdout
    known = re.search(r"devices are uncertain by ([0-9.]+) us", text)
    return float(known[1]) * 1e3 + 100 if known else None


def judge_times(assay, log, found):
    """Calls that wait for a read have it within, give or take the error that is stated."""
    _, _, rows = found.queue(3)
    error = error_ns(assay, "plain.assay")
    reads = [row for row in rows if row[0] == "clEnqueueReadBuffer"]
    calls = [call for call in log.calls if call[0] == "clEnqueueReadBuffer"]
    yield "the clock's error is stated", error is not None and error < 1e6, error
    inside = len(reads) == len(calls) and error is not None and all(
        call[1] - error <= read[1] and read[2] <= call[2] + error
        for read, call in zip(reads, calls))
    yield "reads lie within their calls", inside, list(zip(reads, calls))[:2]
    traced = [call for call in found.calls if call[0] == "clEnqueueReadBuffer"][-len(calls):]
    yield "calls lie within the log's", all(
        a[1] - 1000 <= b[1] and b[2] <= a[2] + 1000 for a, b in zip(calls, traced)), traced[:2]


def judge_analysis(parallel, found):
    own = {row["tid"]: row for row in parallel["locations"]}
    queues = sorted(tid for tid in own if tid >= 1 << 30)
    busy, copies, idle = (sum(own[tid][f"{state}_s"] for tid in queues)
                          for state in ("computing", "opencl", "idle"))
    all_rows = [row for rows in found.rows.values() for row in rows]
    kernels = sum(end - begin for name, begin, end in all_rows if not name.startswith("cl")) / 1e9
    others = sum(end - begin for name, begin, end in all_rows if name.startswith("cl")) / 1e9
    span = sum(own[tid]["end_s"] - own[tid]["begin_s"] for tid in queues)
    yield "kernels on queues", abs(busy - kernels) < 1e-6, (busy, kernels)
    yield "copies on queues", abs(copies - others) < 1e-6, (copies, others)
    yield "idle queues", abs(idle - (span - kernels - others)) < 1e-6, (idle, span)
    waits = collections.Counter()
    for wait in parallel["waits"]:
        waits[wait["kind"]] += wait["time_s"]
    blocking = sum(end - begin for name, begin, end in found.calls
                   if name in ("clFinish", "clWaitForEvents", "clEnqueueReadBuffer")) / 1e9
    slept = 20 * 0.002
    yield "the host waits for devices", 0 < waits["wait_for_device"] <= blocking + 1e-6, waits
    yield "queues wait for the host", slept <= waits["idle_device"] <= idle + 1e-6, waits
    (host,) = [row for tid, row in own.items() if tid < 1 << 30]
    calls = sum(end - begin for name, begin, end in found.calls if name.startswith("cl")) / 1e9
    yield "calls of the host", abs(host["opencl_s"] - calls) < 1e-6, host
    elapsed = host["end_s"] - host["begin_s"]
    yield "queues are no part of efficiency", abs(
        parallel["parallel_efficiency"] - host["computing_s"] / elapsed) < 0.02, parallel


def judge_prv(assay, found):
    run([assay, "export", "plain.assay", "--as", "prv", "--force", "-o", "plain.prv"])
    states, events = collections.Counter(), collections.Counter()
    moved = collections.Counter()
    for line in pathlib.Path("plain.prv").read_text().splitlines()[1:]:
        word = line.split(":")
        row = tuple(word[2:5])
        if word[0] == "1":
            states[row, int(word[7])] += int(word[6]) - int(word[5])
        elif word[0] == "2":
            for at in range(6, len(word), 2):
                kind, value = int(word[at]), int(word[at + 1])
                events[kind, value] += 1
                if kind == SIZE:
                    moved[row] += value
    all_rows = [row for rows in found.rows.values() for row in rows]
    want = collections.Counter(VALUES[name] for name, _, _ in all_rows)
    got = {value: n for (kind, value), n in events.items() if kind == DEVICE and value}
    yield ".prv: commands of queues", got == dict(want), (got, want)
    kernels = sum(name in ("scale", "work") for name, _, _ in all_rows)
    yield ".prv: names of kernels", kernels == sum(
        n for (kind, value), n in events.items() if kind == KERNEL and value), events
    calls = collections.Counter(name for name, _, _ in found.calls)
    for name in ("clFinish", "clBuildProgram", "clWaitForEvents", "clCreateBuffer"):
        value = {"clFinish": 25, "clBuildProgram": 22, "clWaitForEvents": 27,
                 "clCreateBuffer": 1}[name]
        yield f".prv: {name}", events[HOST, value] == calls[name], events[HOST, value]
    ran = sum(end - begin for name, begin, end in all_rows if name in ("scale", "work"))
    rows = {row for row, state in states if state == COPYING and moved[row]}
    running = sum(ns for (row, state), ns in states.items()
                  if state == RUNNING and row[2] != "1")
    yield ".prv: time of kernels", abs(running - ran) <= len(all_rows), (running, ran)
    yield ".prv: copies are states", len(rows) >= 2, states
    text = pathlib.Path("plain.pcf").read_text()
    for label in ("0    64000000    Host OpenCL call", "25    clFinish",
                  "0    64100000    Accelerator OpenCL call", "64200000    OpenCL kernel name"):
        yield f".pcf: {label}", label in text, ""
    names = pathlib.Path("plain.row").read_text()
    yield ".row: queues", all(name in names for name in found.rows), names


def judge_otf2(assay, found):
    shutil.rmtree("plain.otf2", ignore_errors=True)
    made = run([assay, "export", "plain.assay", "--as", "otf2", "-o", "plain.otf2"])
    yield "OTF2", made.returncode == 0, made.stderr
    if not shutil.which("otf2-print"):
        return
    text = run(["otf2-print", "-G", "plain.otf2/traces.otf2"]).stdout
    yield "OTF2: queues", text.count("ACCELERATOR_STREAM") == len(found.rows), text[-2000:]
    events = run(["otf2-print", "plain.otf2/traces.otf2"])
    n = len(re.findall(r'^ENTER .*"work"', events.stdout, re.M))
    yield "OTF2: kernels", n == 20 and not events.returncode, n


def judge_same(program, name):
    """The program sees and does the same."""
    plain = run([program, "untraced.log"])
    same = Log("untraced.log").seen == Log(f"{name}.log").seen
    yield f"{name}: the program sees the same", not plain.returncode and same, (
        Log("untraced.log").seen, Log(f"{name}.log").seen)


def judge_table(table):
    """Places in the dispatch table, by the public header."""
    if not os.path.exists("/usr/include/CL/cl_icd.h"):
        return
    rows = [line.split(" | ") for line in pathlib.Path(table).read_text().splitlines()
            if line and not line.startswith("#")]
    names = [(int(row[0]), row[2].split("(")[0]) for row in rows]
    names += [(3, "clGetDeviceInfo"), (21, "clGetImageInfo"), (39, "clGetKernelInfo"),
              (43, "clRetainEvent"), (44, "clReleaseEvent"), (140, "clGetDeviceAndHostTimer")]
    lines = "".join(f'printf("%zu %s\\n", offsetof(cl_icd_dispatch, {name}) / sizeof(void *), '
                    f'"{name}");\n' for _, name in names)
    pathlib.Path("table.c").write_text(
        "#define CL_TARGET_OPENCL_VERSION 300\n#include <CL/cl_icd.h>\n#include <stddef.h>\n"
        f"#include <stdio.h>\nint main(void)\n{{\n{lines}}}\n")
    built = run(["cc", "-w", "-o", "table", "table.c"])
    got = run(["./table"]).stdout.splitlines() if not built.returncode else []
    want = [f"{at} {name}" for at, name in names]
    yield "places in the dispatch table", got == want, built.stderr


def build(source, name, *flags):
    done = run(["cc", "-O1", "-o", name, *flags[:-1], source, flags[-1]])
    return done.returncode == 0, done.stderr


def main():
    assay, dump, source, table, directory = map(os.path.abspath, sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    is_built, why = build(source, "opencl", "-lOpenCL")
    if not is_built and ("CL/cl.h" in why or "lOpenCL" in why):
        print("1..0 # SKIP no headers or library of OpenCL")
        return
    if not is_built or run(["./opencl", "untraced.log"]).returncode not in (0, 77):
        sys.exit(f"the program fails without a tracer: {why}")
    if run(["./opencl", "untraced.log"]).returncode == 77:
        print("1..0 # SKIP no OpenCL device")
        return
    build(source, "by_dlopen", "-DBY_DLOPEN", "-ldl")
    parallel = trace(assay, "plain", "./opencl", "plain.log")
    trace(assay, "dlopen", "./by_dlopen", "dlopen.log")
    results = [*judge_same("./opencl", "plain"), *judge_same("./by_dlopen", "dlopen")]
    results += judge_table(table)
    log, found = Log("plain.log"), Trace(dump, "plain.assay")
    results += judge_commands(log, found)
    results += judge_times(assay, log, found)
    results += judge_analysis(parallel, found)
    results += judge_prv(assay, found)
    results += judge_otf2(assay, found)
    results += [(f"dlopen: {what}", *rest) for what, *rest in judge_commands(
        Log("dlopen.log"), Trace(dump, "dlopen.assay"))]
    shutil.rmtree("off.assay", ignore_errors=True)
    done = run([assay, "trace", "--groups", "pthread", "-o", "off.assay", "--", "./opencl",
                "off.log"])
    without = Trace(dump, "off.assay")
    results.append(("without the group nothing is recorded", done.returncode == 0 and
                    not without.rows and not without.enqueued, without.rows))
    for what, fits, more in results:
        print(f"{'ok' if fits else 'not ok'} - {what}")
        if not fits:
            print(f"# {str(more)[:1500]}")
    print(f"1..{len(results)}")
    sys.exit(not all(fits for _, fits, _ in results))


main()
