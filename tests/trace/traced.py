# SPDX-License-Identifier: Apache-2.0
"""Begin and end of logged calls by the trace of a program.

The program reads the clock outside of the tracer's readings. So each logged call encloses one
traced call and hardly any other time. A time without a CPU in between does not matter, on any busy
host. The waits of the trace are then compared with these times. If the tracer reads the clock
outside of the program, as for parts of regions, the roles are reversed.
"""
import bisect
import collections
import json
import pathlib
import shutil
import statistics
import subprocess

# Limit of the median over all calls; a busy host makes some of them long and not half of them.
BESIDES_MOST_NS = 1_000_000
# The line through two readings of both clocks may be off by as much as a reading takes.
CLOCKS_NS = 1000
# Milliseconds of a planted delay. On a busy host other threads are delayed as well, and wait less;
# then a longer delay is tried. The last is for hosts that stand still for seconds.
LATE_MS = (20, 100, 500, 2500, 12500)


class Misplaced(Exception):
    """A logged call has no traced one within it."""


def waited_in(assay, log, command, environment):
    """(why it failed or None, {kind of waiting: s}) of a trace of the command, LOG.assay."""
    shutil.rmtree(f"{log}.assay", ignore_errors=True)
    run = subprocess.run([assay, "trace", "--format", "json", "-o", f"{log}.assay", "--", *command],
                         env=environment, capture_output=True, text=True, check=False)
    found = collections.Counter()
    if run.returncode:
        return f"exit status {run.returncode}: {run.stderr}", found
    for wait in json.loads(run.stdout)["parallel"]["waits"]:
        found[wait["kind"]] += wait["time_s"]
    return None, found


def calls_of(dump, experiment):
    """Rank -> [(routine, begin, end)], in order of time."""
    trace = next(pathlib.Path(experiment).glob("run-*/trace"))
    text = subprocess.run([dump, trace, "times"], capture_output=True, text=True, check=True).stdout
    calls, own = collections.defaultdict(list), []
    for line in text.splitlines():
        words = line.split()
        if words[0] == "clock":
            own = calls[int(words[1])]
        else:
            own.append((words[0], int(words[1]), int(words[2])))
    for own in calls.values():
        own.sort(key=lambda call: call[1])
    return calls


def placed(logs, calls):
    """Returns logs of ranks with the times of the trace in place of their own. A call has a name,
    enter and leave."""
    besides, out = [], []
    for rank, log in enumerate(logs):
        at, own = 0, []
        for call in log:
            while at < len(calls[rank]) and calls[rank][at][2] <= call.enter:
                at += 1
            routine, begin, end = calls[rank][at] if at < len(calls[rank]) else ("nothing", 0, 0)
            if not call.enter - CLOCKS_NS <= begin <= end <= call.leave + CLOCKS_NS or \
                    call.name.startswith("MPI_") and call.name != routine:
                raise Misplaced(f"rank {rank}: {call}, and in the trace {routine} {begin} {end}")
            besides.append(begin - call.enter + call.leave - end)
            own.append(call._replace(enter=begin, leave=end))
            at += 1
        out.append(own)
    middle = statistics.median(besides)
    if middle > BESIDES_MOST_NS:
        raise Misplaced(f"the middle call took {middle} ns more than in the trace")
    return out


# ---- Threads ------------------------------------------------------------------------------------

Mark = collections.namedtuple("Mark", "kind ns words")
Span = collections.namedtuple("Span", "begin end words")


class Marks:
    """Activity of the threads of one rank (-1: without a rank), by the trace."""

    def __init__(self, dump, experiment):
        trace = next(pathlib.Path(experiment).glob("run-*/trace"))
        text = subprocess.run([dump, trace, "marks"], capture_output=True, text=True,
                              check=True).stdout
        self.of, self.rank = {}, {}
        for line in text.splitlines():
            kind, *words = line.split()
            if kind == "of":
                own = self.of.setdefault(int(words[1]), [])
                self.rank[int(words[1])] = int(words[0])
            else:
                own.append(Mark(kind, int(words[0]), words[1:]))

    def spans(self, tid, begin, end, fits=lambda words: True):
        """From each `begin` to the `end` behind it; they do not lie within each other."""
        out, open_ = [], None
        for mark in self.of.get(tid, []):
            if mark.kind == begin and fits(mark.words):
                open_ = mark
            elif mark.kind == end and open_:
                out.append(Span(open_.ns, mark.ns, open_.words))
                open_ = None
        return out

    def span_s(self):
        all_ns = [mark.ns for own in self.of.values() for mark in own]
        return (max(all_ns) - min(all_ns)) / 1e9


def close_enough(besides):
    middle = statistics.median(besides) if besides else 0
    if middle > BESIDES_MOST_NS:
        raise Misplaced(f"the middle one of {len(besides)} lies {middle} ns off")


def placed_spans(lines, spans, is_around=False):
    """Returns logged lines of one thread and sort (enter, leave) with the times of their traced
    spans. `is_around`: the spans enclose the logged lines."""
    if len(lines) != len(spans):
        raise Misplaced(f"{len(lines)} are logged, {len(spans)} in the trace: {lines[:2]}")
    besides, out = [], []
    for line, span in zip(lines, spans):
        outer, inner = ((span.begin, span.end), (line.enter, line.leave))
        if not is_around:
            outer, inner = inner, outer
        if not outer[0] - CLOCKS_NS <= inner[0] <= inner[1] <= outer[1] + CLOCKS_NS:
            raise Misplaced(f"{line}, and in the trace {span}")
        besides.append(inner[0] - outer[0] + outer[1] - inner[1])
        out.append(line._replace(enter=span.begin, leave=span.end))
    return out, besides


def held_within(lines, spans, long_ns):
    """Compares long logged lines of one thread, which may wait for a lock, with the traced waits
    within them. A thread without a CPU takes long, but does not wait for another."""
    begins = [span.begin for span in spans]
    besides = []
    for line in lines:
        inside = spans[bisect.bisect_left(begins, line.enter - CLOCKS_NS):
                       bisect.bisect_right(begins, line.leave)]
        if inside and inside[-1].end > line.leave + CLOCKS_NS:
            raise Misplaced(f"{line}, and in the trace {inside[-1]}")
        if line.leave - line.enter >= long_ns:
            besides.append(line.leave - line.enter - sum(s.end - s.begin for s in inside))
    return besides


def points_of_enough(try_late, points, late=LATE_MS):
    """try_late(milliseconds) says (point -> why it fails or None, whether enough was waited for
    what was planted): the first try with enough says all, and none may fail."""
    for late_ms in late:
        faults, is_enough = try_late(late_ms)
        if is_enough or any(faults.values()):
            return faults
    return dict.fromkeys(points, f"hardly anybody waited for what was late by {late[-1]} ms")


def of_enough(try_late, late=LATE_MS):
    """The same of one point: try_late says why it fails or None."""
    def try_one(late_ms):
        why, is_enough = try_late(late_ms)
        return {"": why}, is_enough
    return points_of_enough(try_one, ("",), late)[""]
