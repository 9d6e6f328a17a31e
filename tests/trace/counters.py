#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters of perf at events: counters.py ASSAY DUMP SOURCE INCLUDE LIBASSAY DIRECTORY

A program reads its own counts of the kernel within its regions and around them. The count of a
region in the trace lies between the two. The .prv has the same as increments.
"""
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

EVENTS = ("minor-faults", "context-switches")
PAGES = 3000
Bounds = collections.namedtuple("Bounds", "name least most")


def read_log():
    bounds = collections.defaultdict(list)
    for line in pathlib.Path("log").read_text().splitlines():
        name, tid, *numbers = line.split()
        numbers = list(map(int, numbers))
        bounds[int(tid)].append(Bounds(name, numbers[:2], numbers[2:]))
    return bounds


def events_of(dump):
    """tid -> [(kind, name, value, ns)] of the trace."""
    run = subprocess.run([dump, "counters.assay/run-001/trace", "counters"], capture_output=True,
                         text=True, check=True)
    events, own = collections.defaultdict(list), []
    for line in run.stdout.splitlines():
        kind, *words = line.split("\t")
        if kind == "of":
            own = events[int(words[0])]
        else:
            own.append((kind, words[0], int(words[2]), int(words[1])))
    return events


def growth_of(events):
    """[(region, {counter: growth})]: values behind the end less those behind the begin."""
    now, begun, out = dict.fromkeys(EVENTS, 0), {}, []
    pending = None
    for kind, name, value, ns in [*events, ("leave", "", 0, 0)]:
        if pending and ns != pending[2]:
            if pending[0] == "enter":
                begun[pending[1]] = dict(now)
            elif pending[1] in begun:
                first = begun.pop(pending[1])
                out.append((pending[1], {name: now[name] - first[name] for name in EVENTS}))
            pending = None
        if kind == "counter":
            now[name] = value
        else:
            pending = (kind, name, ns)
    return out


def judge(bounds, events):
    for tid, own in bounds.items():
        found = [row for row in growth_of(events[tid]) if row[0] in {one.name for one in own}]
        if [name for name, _ in found] != [one.name for one in own]:
            return f"thread {tid} has {found}, not {own}"
        for (name, growth), one in zip(found, own, strict=True):
            for event, least, most in zip(EVENTS, one.least, one.most, strict=True):
                if not least <= growth[event] <= most:
                    return f"{event} of {name} grows by {growth[event]}, not {least} to {most}"
    names = [one.name for own in bounds.values() for one in own]
    if sorted(names) != sorted(["touch", "rest", "compute"] * 2 + ["child"]):
        return f"the program logs {names}"
    touched = [one.least[0] for own in bounds.values() for one in own if one.name == "touch"]
    return None if min(touched) >= PAGES else f"only {touched} pages were touched"


def exported(assay, events):
    """Increments of a type add up to the last value."""
    subprocess.run([assay, "export", "--force", "counters.assay", "--as", "prv", "-o",
                    "counters.prv"],
                   check=True, capture_output=True)
    types = dict(re.findall(r"^7 +(42\d+) +(\S+)$", pathlib.Path("counters.pcf").read_text(),
                            re.MULTILINE))
    if sorted(types.values()) != sorted(EVENTS):
        return f"the types are {types}"
    sums = collections.Counter()
    for line in pathlib.Path("counters.prv").read_text().splitlines():
        words = line.split(":")
        if words[0] != "2":
            continue
        for kind, value in zip(words[6::2], words[7::2]):
            if kind in types:
                sums[types[kind]] += int(value)
    last = collections.Counter()
    for own in events.values():
        values = {name: value for kind, name, value, _ in own if kind == "counter"}
        last.update(values)
    return None if sums == last else f"increments add up to {sums}, not {last}"


def imported(assay, events):
    shutil.rmtree("again.assay", ignore_errors=True)
    subprocess.run([assay, "import", "-o", "again.assay", "counters.prv"], check=True,
                   capture_output=True)
    rows = subprocess.run([assay, "query", "--format", "csv", "again.assay",
                           "SELECT name, sum(last) FROM v_trace_counters GROUP BY name"],
                          capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    last = collections.Counter()
    for own in events.values():
        last.update({name: value for kind, name, value, _ in own if kind == "counter"})
    found = {row.split(",")[0]: int(row.split(",")[1]) for row in rows}
    return None if found == last else f"the import has {found}, not {last}"


def refused(assay):
    for names, words in (("page-fault", "did you mean"), ("page-faults,,cs", "separated by commas"),
                         (",".join(["page-faults"] * 9), "at most 8")):
        run = subprocess.run([assay, "trace", "--counters", names, "-o", "refused.assay", "--",
                              "true"], capture_output=True, text=True, check=False)
        if run.returncode == 0 or words not in run.stderr:
            return f"{names}: {run.returncode}, {run.stderr}"
    return None


def main():
    assay, dump, source, include, library, directory = (os.path.abspath(it) for it in sys.argv[1:])
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    subprocess.run(["cc", "-D_GNU_SOURCE", "-O1", f"-I{include}", "-o", "counted", source, library,
                    "-lpthread"], check=True)
    for name in ("counters.assay", "refused.assay"):
        shutil.rmtree(name, ignore_errors=True)
    run = subprocess.run([assay, "trace", "--counters", ",".join(EVENTS), "-o", "counters.assay",
                          "--", "./counted", "log", str(PAGES)], capture_output=True, text=True,
                         check=False)
    if run.returncode and "perf_event_paranoid" in run.stderr:
        print(f"1..0 # SKIP {run.stderr.splitlines()[0]}")
        return
    faults = 0
    events = events_of(dump) if run.returncode == 0 else {}
    points = [("regions", lambda: run.stderr if run.returncode else judge(read_log(), events)),
              ("increments in .prv", lambda: exported(assay, events)),
              ("imported again", lambda: imported(assay, events)),
              ("wrong names", lambda: refused(assay))]
    for number, (what, judged) in enumerate(points, 1):
        why = judged()
        faults += why is not None
        print(f"{'not ok' if why else 'ok'} {number} - {what}")
        if why:
            print(f"# {why}")
    print(f"1..{len(points)}")
    sys.exit(faults > 0)


main()
