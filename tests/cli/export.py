#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the output of `assay export` with the tables of the experiment.

usage: export.py ASSAY EXPERIMENT [RUN]

Reads the samples of a run by SQL and builds every stack (call path, location, inlined functions).
Reads folded, speedscope and pprof with readers of its own. Compares stacks, samples and times.
"""
import collections
import gzip
import json
import sqlite3
import subprocess
import sys

Frame = collections.namedtuple("Frame", "name file line address")


class Truth:
    def __init__(self, experiment, run):
        self.db = sqlite3.connect(f"file:{experiment}/experiment.db?mode=ro", uri=True)
        self.db.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self.run = run or self.one("SELECT max(run_id) FROM run")[0]

    def one(self, sql, *values):
        return self.db.execute(sql, values).fetchone()

    def function(self, function_id):
        name, module = self.one(
            "SELECT f.name, m.name FROM function f JOIN module m USING (module_id)"
            " WHERE function_id = ?", function_id)
        if name == "[unknown]":
            name = module if module.startswith("[") else f"[{module}]"
        return name

    def inlined(self, location_id):
        """Names from the outermost in, with the line in each but the first."""
        row = self.one("SELECT inlining_id FROM location WHERE location_id = ?", location_id)
        out, at = [], row and row[0]
        while at:
            name, at = self.one("SELECT f.name, i.parent_id FROM inlining i JOIN function f"
                                " ON f.function_id = i.inlined_id WHERE inlining_id = ?", at)
            out.insert(0, name)
        return out

    def stack(self, path_id, location_id):
        out = []
        while path_id:
            parent, function_id, call = self.one(
                "SELECT parent_id, function_id, call_location_id FROM callpath"
                " WHERE callpath_id = ?", path_id)
            address = self.one("SELECT address FROM location WHERE location_id = ?",
                               location_id) if location_id else (0,)
            names = [self.function(function_id)]
            names += self.inlined(location_id) if location_id else []
            out = [(clean(name), address[0] % 2**64) for name in names] + out
            path_id, location_id = parent, call
        return out

    def samples(self, blocked):
        return [(pid, tid, rank, self.stack(path, location), n, time) for
                pid, tid, rank, path, location, n, time in self.db.execute(
                    "SELECT pid, tid, rank, callpath_id, location_id, n, time_ns FROM sample"
                    " JOIN thread USING (thread_id) JOIN process USING (process_id)"
                    " WHERE run_id = ? AND state = ?", (self.run, blocked)).fetchall()]


def clean(name):
    return "".join(" " if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in name)


def export(assay, experiment, run, *options):
    arguments = [assay, "export", "-q", experiment, *options]
    if run:
        arguments += ["--run", str(run)]
    return subprocess.run(arguments, check=True, capture_output=True).stdout


def same(what, want, got):
    for key in sorted(set(want) | set(got), key=str):
        if want.get(key) != got.get(key):
            sys.exit(f"{what}: {key}: want {want.get(key)}, got {got.get(key)}")
    print(f"{what}: {len(want)} stacks, {sum_of(want.values())}")


def sum_of(values):
    values = list(values)
    if values and isinstance(values[0], tuple):
        return tuple(sum(column) for column in zip(*values))
    return sum(values)


def names(stack):
    return tuple(name for name, _ in stack)


# ---- folded --------------------------------------------------------------------------------------

def check_folded(ask, truth, blocked):
    want = collections.Counter()
    for _, _, _, stack, n, time in truth.samples(blocked):
        count = time if blocked else n
        if count:
            want[";".join(name.replace(";", ",") for name in names(stack))] += count
    got = collections.Counter()
    for line in ask("--as", "folded").decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        assert stack not in got, f"twice: {stack}"
        got[stack] = int(count)
    same("folded", want, got)


def check_folded_by_thread(ask, truth, blocked):
    want = collections.Counter()
    for pid, tid, _, stack, n, time in truth.samples(blocked):
        want[(f"pid {pid}, tid {tid}",) + tuple(x.replace(";", ",") for x in names(stack))] += (
            time if blocked else n)
    got = collections.Counter()
    for line in ask("--by", "thread").decode().splitlines():
        stack, count = line.rsplit(" ", 1)
        head, *frames = stack.split(";")
        who = head[head.index("pid "):].rstrip(")").split(", OpenMP")[0]
        got[(who, *frames)] += int(count)
    same("folded by thread", +want, got)


# ---- speedscope ----------------------------------------------------------------------------------

def valid_speedscope(document):
    """Checks a file with sampled profiles against the published schema."""
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert set(document) <= {"$schema", "shared", "profiles", "name", "activeProfileIndex",
                             "exporter"}
    assert set(document["shared"]) == {"frames"}
    frames = document["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line", "col"} and isinstance(frame["name"], str)
        assert isinstance(frame.get("file", ""), str) and isinstance(frame.get("line", 0), int)
    used = set()
    for profile in document["profiles"]:
        assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples",
                                "weights"}
        assert profile["type"] == "sampled" and profile["unit"] == "nanoseconds"
        assert isinstance(profile["name"], str)
        assert len(profile["samples"]) == len(profile["weights"]) > 0
        assert profile["endValue"] - profile["startValue"] == sum(profile["weights"])
        for sample in profile["samples"]:
            assert all(isinstance(i, int) and 0 <= i < len(frames) for i in sample)
            used.update(sample)
    assert used == set(range(len(frames))), "frames that no stack has"
    if document["profiles"]:
        assert 0 <= document["activeProfileIndex"] < len(document["profiles"])


def check_speedscope(ask, truth, blocked):
    document = json.loads(ask("--as", "speedscope"))
    valid_speedscope(document)
    frames = document["shared"]["frames"]
    want, got = collections.Counter(), collections.Counter()
    for pid, tid, _, stack, _, time in truth.samples(blocked):
        want[(f"pid {pid}, tid {tid}", names(stack))] += time
    for profile in document["profiles"]:
        who = profile["name"][profile["name"].index("pid "):].rstrip(")").split(", OpenMP")[0]
        for sample, weight in zip(profile["samples"], profile["weights"]):
            got[(who, tuple(frames[i]["name"] for i in sample))] += weight
    same("speedscope", want, got)
    for by, n in ("run", 1), ("process", len({pid for pid, *_ in truth.samples(blocked)})):
        document = json.loads(ask("--as", "speedscope", "--by", by))
        valid_speedscope(document)
        assert len(document["profiles"]) == min(n, len(want)), by
        assert sum(p["endValue"] for p in document["profiles"]) == sum(want.values())


# ---- pprof ---------------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(field, number or bytes) of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
            assert len(value) <= len(data)
        else:
            assert key & 7 == 0, f"wire type {key & 7}"
        yield key >> 3, value
    assert at == len(data)


def message(data):
    out = collections.defaultdict(list)
    for field, value in fields(data):
        out[field].append(value)
    return out


def packed(chunks):
    out = []
    for chunk in chunks:
        at = 0
        while at < len(chunk):
            value, at = varint(chunk, at)
            out.append(value)
    return out


def one(values):
    return values[0] if values else 0


def read_pprof(data):
    profile = message(gzip.decompress(data))
    text = [t.decode("utf-8") for t in profile[6]]
    assert text[0] == "" and len(set(text)) == len(text)
    mappings = {one(m[1]): m for m in map(message, profile[3])}
    functions = {one(f[1]): f for f in map(message, profile[5])}
    locations = {}
    for location in map(message, profile[4]):
        assert one(location[2]) == 0 or one(location[2]) in mappings
        if one(location[2]):
            mapping = mappings[one(location[2])]
            assert one(mapping[2]) <= one(location[3]) < one(mapping[3])
        lines = [message(line) for line in location[4]]
        assert lines and all(one(line[1]) in functions for line in lines)
        locations[one(location[1])] = (one(location[3]), one(location[2]), [
            (text[one(functions[one(line[1])][2])], text[one(functions[one(line[1])][4])],
             one(line[2])) for line in reversed(lines)])
    types = [(text[one(t[1])], text[one(t[2])]) for t in map(message, profile[1])]
    assert text[one(profile[14])] == types[1][0]
    samples = []
    for sample in map(message, profile[2]):
        labels = {text[one(l[1])]: text[one(l[2])] for l in map(message, sample[3])}
        samples.append((labels, [locations[i] for i in reversed(packed(sample[1]))],
                        packed(sample[2])))
    build_ids = {text[one(m[5])]: text[one(m[6])] for m in mappings.values()}
    return types, samples, build_ids


def check_pprof(ask, truth, blocked):
    types, samples, build_ids = read_pprof(ask("--as", "pprof"))
    assert types == ([("waits", "count"), ("waiting", "nanoseconds")] if blocked
                     else [("samples", "count"), ("running", "nanoseconds")])
    want, got = {}, {}
    for pid, tid, rank, stack, n, time in truth.samples(blocked):
        key = (str(pid), str(tid), None if rank is None else str(rank), tuple(stack))
        had = want.get(key, (0, 0))
        want[key] = (had[0] + n, had[1] + time)
    for labels, stack, (n, time) in samples:
        key = (labels["pid"], labels["tid"], labels.get("rank"), tuple(
            (name, address) for address, _, lines in stack for name, _, _ in lines))
        had = got.get(key, (0, 0))
        got[key] = (had[0] + n, had[1] + time)
    same("pprof", want, got)
    for path, build_id in build_ids.items():
        known = {row[0] or "" for row in truth.db.execute(
            "SELECT build_id FROM module WHERE path = ?", (path,))}
        assert build_id in known, f"{path}: {build_id} is none of {known}"
    for _, stack, _ in samples:
        for address, _, lines in stack:
            name, file, line = lines[-1]
            row = truth.one(
                "SELECT path, number FROM location JOIN line USING (line_id) JOIN source_file"
                " USING (source_file_id) WHERE address = ? AND number = ? AND path = ?",
                address if address < 2**63 else address - 2**64, line, file)
            assert not line or row, f"{name}: no location at {address:#x} has {file}:{line}"


def main():
    assay, experiment = sys.argv[1:3]
    run = int(sys.argv[3]) if len(sys.argv) > 3 else None
    truth = Truth(experiment, run)
    for blocked in (0, 1):
        def ask(*options):
            return export(assay, experiment, run, *options, *(["--blocked"] if blocked else []))
        check_folded(ask, truth, blocked)
        check_folded_by_thread(ask, truth, blocked)
        check_speedscope(ask, truth, blocked)
        check_pprof(ask, truth, blocked)
    total = truth.one("SELECT sample_n, sampled_time_s FROM v_runs WHERE run_id = ?", truth.run)
    sums = sum_of((n, time) for *_, n, time in truth.samples(0)) or (0, 0)
    assert (sums[0], sums[1] / 1e9) == total or abs(sums[1] / 1e9 - total[1]) < 1e-9, (sums, total)


main()
