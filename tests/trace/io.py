#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds traces of input, output and memory to programs that log their own calls: each once, in
order, with its bytes; what a call gives, and errno, are as without the tracer.

usage: io.py ASSAY DUMP SOURCE
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ENVIRONMENT = dict(os.environ, ASSAY_NO_MEASURE="1")


def dump_of(dump, made):
    """pid -> lines, without what the trace begins or ends with."""
    text = subprocess.run([dump, made / "run-001" / "trace"], capture_output=True, text=True,
                          check=True).stdout
    processes = {}
    for line in text.splitlines():
        if line.startswith("process "):
            lines = processes.setdefault(line.split()[3], [])
        else:
            lines.append(line.strip())
    return processes


def longest(processes):
    return max(processes.values(), key=len)


def plain_name(line):
    """As it stands in the source: the C library's headers say others."""
    name, space, rest = line.partition(" ")
    return re.sub(r"^__(\w+?)(64)?(_chk|_2)$|^(\w+?)64$", r"\1\4", name) + space + rest


def trace(assay, made, groups, command, where):
    return subprocess.run([assay, "trace", "-q", "--format", "json", *groups, "-o", made, "--",
                           *command], cwd=where, capture_output=True, text=True, check=False,
                          env=ENVIRONMENT)


def difference(own, seen):
    for n, (a, b) in enumerate(zip(own, seen)):
        if a != b:
            return f"call {n}: the program says '{a}', the trace '{b}'"
    return "" if len(own) == len(seen) else f"{len(own)} calls, {len(seen)} in the trace"


def without_pids(text):
    return re.sub(r"fork fork \d+", "fork", text)


def check_calls(assay, dump, work, program, seed):
    """All calls; and the same log without us."""
    made = work / "out.assay"
    command = [program, str(seed), "250"]
    subprocess.run([*command, "alone"], cwd=work, check=True, env=ENVIRONMENT)
    run = trace(assay, made, ["--groups", "io"], [*command, "traced"], work)
    if run.returncode:
        return f"exit status {run.returncode}: {run.stderr[-300:]!r}"
    alone, traced = [(work / name).read_text(encoding="utf-8") for name in ("alone", "traced")]
    if without_pids(alone) != without_pids(traced):
        return difference(without_pids(alone).splitlines(), without_pids(traced).splitlines())
    own = [line.rpartition(" errno ")[0] for line in traced.splitlines()]
    return difference(own, [plain_name(line) for line in longest(dump_of(dump, made))])


def check_memory(assay, dump, work, program):
    made = work / "out.assay"
    run = trace(assay, made, ["--groups", "memory", "--memory-least", "1000"],
                [program, work / "log"], work)
    if run.returncode:
        return f"exit status {run.returncode}: {run.stderr[-300:]!r}"
    own = (work / "log").read_text(encoding="utf-8").splitlines()
    seen = longest(dump_of(dump, made))
    first = seen.index(own[0]) if own[0] in seen else 0
    return difference(own, seen[first:first + len(own)])


def check_off(assay, dump, work, program):
    """Groups that are not named are not recorded."""
    made = work / "out.assay"
    trace(assay, made, [], [program, "1", "20", "log"], work)
    return "".join(map(str, dump_of(dump, made).values()))


def check_usage(assay, work):
    run = trace(assay, work / "out.assay", ["--groups", "mpi,files"], ["true"], work)
    fits = run.returncode == 2 and "invalid value 'files'" in run.stderr
    return "" if fits else f"exit status {run.returncode}: {run.stderr!r}"


def check_full(assay, dump, work, program):
    """On a full disk the program goes on, and the records written so far are readable."""
    made = work / "out.assay"
    run = trace(assay, made, ["--groups", "io", "--limit", "600K"], [program, "9", "16000", "log"],
                work)
    own = [line.rpartition(" errno ")[0]
           for line in (work / "log").read_text(encoding="utf-8").splitlines()]
    lines = longest(dump_of(dump, made))
    if run.returncode or len(own) < 16000 or not 100 < len(lines) < len(own):
        return f"exit status {run.returncode}, {len(lines)} of {len(own)} calls"
    return difference(own[:len(lines) - 1], lines[:-1]) or doubted(assay, made, "trace_limited")


def asked(assay, made, sql):
    return json.loads(subprocess.run([assay, "query", "--format", "json", made, sql],
                                     capture_output=True, text=True, check=True,
                                     timeout=800).stdout)


def doubted(assay, made, name):
    """Returns whether the experiment has the flag of an incomplete trace, and this alone."""
    flags = asked(assay, made, "SELECT name, n FROM v_flags WHERE name LIKE 'trace%'")
    return "" if flags == [{"name": name, "n": 1}] else f"doubts {flags}"


def check_ring(assay, dump, work, program):
    """An overwritten part counts as time that was not recorded."""
    del dump
    made = work / "out.assay"
    run = trace(assay, made, ["--groups", "io", "--ring", "512K"], [program, "9", "60000", "log"],
                work)
    offs = asked(assay, made, "SELECT o.begin_s, o.end_s, o.off_s, s.time_s, l.end_s AS whole_s,"
                 " o.reason FROM v_trace_offs o JOIN v_trace_states s ON s.number = o.number"
                 " AND s.name = 'off' JOIN v_trace_locations l ON l.number = o.number")
    fits = (run.returncode == 0 and len(offs) == 1 and offs[0]["begin_s"] == 0
            and offs[0]["off_s"] == offs[0]["end_s"] == offs[0]["time_s"]
            and 0 < offs[0]["off_s"] < offs[0]["whole_s"]
            and offs[0]["reason"].startswith("overwritten"))
    return doubted(assay, made, "trace_ring") if fits else f"{offs}, {run.stderr[-300:]}"


def build(work, source, words, compiler="cc"):
    program = work / source.stem
    subprocess.run([compiler, "-O2", "-fno-builtin", "-w", "-o", program, source, *words],
                   check=True)
    return program


def main():
    assay, dump, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    programs = pathlib.Path(source) / "programs"
    failed, n = 0, 0
    fortified = ["-D_FORTIFY_SOURCE=2", "-D_FILE_OFFSET_BITS=64"]
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        plain = build(work, programs / "io.c", [])
        allocator = build(work, programs / "allocator.c", ["-shared", "-fPIC"])
        memory = build(work, programs / "memory.cpp", [], "c++").rename(work / "memory-usual")
        others = build(work, programs / "memory.cpp", [allocator, f"-Wl,-rpath,{work}"], "c++")
        where = (assay, dump, work)
        points = [("calls of files at random", lambda: check_calls(*where, plain, 3)),
                  ("others", lambda: check_calls(*where, plain, 4)),
                  ("the trace is full", lambda: check_full(*where, plain)),
                  ("the ring is full", lambda: check_ring(*where, plain)),
                  ("no group of files, no files", lambda: check_off(*where, plain)),
                  ("memory", lambda: check_memory(*where, memory)),
                  ("memory of another allocator", lambda: check_memory(*where, others)),
                  ("a group that there is not", lambda: check_usage(assay, work)),
                  ("with sizes checked, long offsets", lambda: check_calls(
                      *where, build(work, programs / "io.c", fortified), 5))]
        for n, (name, check) in enumerate(points, 1):
            shutil.rmtree(work / "out.assay", ignore_errors=True)
            fault = check()
            failed += bool(fault)
            print(f"{'not ok' if fault else 'ok'} {n} - {name}" + (f"\n# {fault}" * bool(fault)))
    print(f"1..{n}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
