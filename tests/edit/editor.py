# SPDX-License-Identifier: Apache-2.0
"""A plain editor of traces, to hold `assay edit` against: whole traces as lists in memory.

It knows the rules of doc/manual/edit.md and nothing of the program. Times are those of the file.
"""

RUNNING = 1
STATE, EVENTS, MESSAGE = "1", "2", "3"


class Record:
    """kind; place: application, task, thread; cpu; times: all of them; pairs of events."""

    def __init__(self, kind, cpu, place, times, pairs=(), rest=(), other=None):
        self.kind, self.cpu, self.place = kind, cpu, place
        self.times, self.pairs, self.rest, self.other = list(times), list(pairs), list(rest), other

    def text(self):
        fields = [self.kind, self.cpu, *self.place]
        if self.kind == MESSAGE:
            other_cpu, other_place = self.other
            fields += self.times[:2] + [other_cpu, *other_place] + self.times[2:]
        else:
            fields += self.times
        fields += [n for pair in self.pairs for n in pair] + self.rest
        return ":".join(map(str, fields))


def parse(line):
    f = line.split(":")
    n = [int(x) for x in f]
    place = tuple(n[2:5])
    if f[0] == STATE:
        return Record(STATE, n[1], place, n[5:7], rest=n[7:])
    if f[0] == EVENTS:
        return Record(EVENTS, n[1], place, n[5:6], list(zip(n[6::2], n[7::2])))
    return Record(MESSAGE, n[1], place, n[5:7] + n[11:13], rest=n[13:],
                  other=(n[7], tuple(n[8:11])))


class Trace:
    def __init__(self, text):
        lines = text.splitlines()
        head, self.tail = lines[0].split("):", 1)
        self.head = head + "):"
        end, self.tail = self.tail.split(":", 1)
        self.unit = 1
        self.suffix = ""
        for suffix, unit in (("_ns", 1), ("_us", 1000)):
            if end.endswith(suffix):
                end, self.suffix, self.unit = end[:-3], suffix, unit
        if not self.suffix:
            self.unit = 1000
        self.end = int(end)
        self.comments = [line for line in lines[1:] if line[0] in "#ci"]
        self.records = [parse(line) for line in lines[1:] if line[0] in "123"]
        applications = self.tail.split("):", 1)[1].split(":", 1)[1]
        self.tasks = []  # (application, task, threads) in order
        for a, part in enumerate(applications.split(")")[:-1], 1):
            for t, task in enumerate(part.split("(")[1].split(","), 1):
                self.tasks.append((a, t, int(task.split(":")[0])))
        self.threads = [(a, t, i) for a, t, n in self.tasks for i in range(1, n + 1)]
        self.cut_line = None

    def text(self):
        lines = [f"{self.head}{self.end}{self.suffix}:{self.tail}"] + self.comments
        lines += [self.cut_line] if self.cut_line else []
        return "\n".join(lines + [r.text() for r in self.records]) + "\n"

    def last(self):
        return max((t for r in self.records for t in r.times), default=0)


# ---- Shift -------------------------------------------------------------------------------------


def shift(trace, by):
    """by: {(application, task, thread): units}"""
    behind = max(0, trace.end - trace.last())
    for r in trace.records:
        mine = by.get(r.place, 0)
        if r.kind == MESSAGE:
            theirs = by.get(r.other[1], 0)
            r.times = [r.times[0] + mine, r.times[1] + mine, r.times[2] + theirs,
                       r.times[3] + theirs]
        else:
            r.times = [t if t == -1 and i else t + mine for i, t in enumerate(r.times)]
    if any(t < 0 for r in trace.records for i, t in enumerate(r.times)
           if not (r.kind == STATE and i and t == -1)):
        raise ValueError("a time below 0")
    trace.records.sort(key=lambda r: r.times[0])
    trace.end = trace.last() + behind


# ---- Cut ---------------------------------------------------------------------------------------


def is_counter(kind):
    return 42000000 <= kind < 50000000


class Cut:
    def __init__(self, begin, end, tasks=None, keep_times=False, whole=False, drop_first=False,
                 drop_last=False, border=False):
        self.begin, self.end, self.tasks, self.keep_times = begin, end, tasks, keep_times
        self.whole, self.border = whole, border
        self.drop_first, self.drop_last = drop_first, drop_last


def cut(trace, c, labels, path):
    """labels: {type: set of values}"""
    begin, end = c.begin, max(c.begin, min(c.end, trace.end))
    kept, limits, depth, cpus, latest = [], {}, {}, {}, 0

    def chosen(place):
        return c.tasks is None or place[1] in c.tasks
    for r in trace.records:
        if r.kind == MESSAGE:
            if chosen(r.place) and chosen(r.other[1]) and all(begin <= t <= end for t in r.times):
                kept.append(r)
            continue
        if not chosen(r.place):
            continue
        if r.kind == STATE:
            first, last = r.times
            last = first if last == -1 else last
            inside = begin <= first <= end if first == last else first < end and last > begin
            if not inside or (c.drop_first and first < begin) or (c.drop_last and last > end):
                continue
            if c.whole:
                low, high = limits.get(r.place, (begin, end))
                limits[r.place] = (min(low, first), max(high, r.times[1]) if last > end else high)
            else:
                r.times = [max(first, begin), -1 if r.times[1] == -1 else min(last, end)]
            kept.append(r)
            continue
        low, high = limits.get(r.place, (begin, end)) if c.border else (begin, end)
        time = r.times[0]
        if not low <= time <= high:
            continue
        latest = max(latest, time)
        cpus[r.place] = r.cpu
        pairs, of = [], depth.setdefault(r.place, {})
        for kind, value in r.pairs:
            if is_counter(kind):
                value = 0 if kind not in of and begin > 0 else value
                of[kind] = 1
            elif value:
                of[kind] = of.get(kind, 0) + 1
            else:
                of[kind] = max(0, of.get(kind, 0) - 1)
            pairs.append((kind, value))
        r.pairs = pairs
        kept.append(r)
    for place in trace.threads:
        types = [t for t in sorted(depth.get(place, {})) if depth[place][t] and
                 (is_counter(t) or t not in labels or labels[t])]
        if types:
            kept.append(Record(EVENTS, cpus[place], place, [max(end, latest)],
                               [(t, 0) for t in types]))
    offset = 0
    length = trace.end
    trace.records = kept
    if not c.keep_times:
        offset, length = begin, end - begin
        if c.whole:
            times = [t for r in kept for i, t in enumerate(r.times)
                     if not (r.kind == STATE and i and t == -1)]
            offset = min([begin] + times)
            length = max([end] + times) - offset
        for r in kept:
            r.times = [t if r.kind == STATE and i and t == -1 else t - offset
                       for i, t in enumerate(r.times)]
    trace.end = length
    trace.cut_line = f'#DATE:CUTTER:ORIGINAL:"{path}":{offset}:{begin}:{end}'


# ---- Filter ------------------------------------------------------------------------------------


def has(types, kind, value):
    """types: [(first, last, values or None)]"""
    return any(first <= kind <= last and (values is None or value in values)
               for first, last, values in types)


def choose(trace, states=None, min_state=0, messages=True, min_size=0, events=True, types=None,
           discard=False):
    """states: None for all, or a set of numbers"""
    kept = []
    for r in trace.records:
        if r.kind == STATE:
            begin, end = r.times
            if states is not None and r.rest[0] not in states:
                continue
            if end != -1 and (end - begin) * trace.unit < min_state:
                continue
        elif r.kind == MESSAGE:
            if not messages or r.rest[0] < min_size:
                continue
        else:
            if not events:
                continue
            if types is not None:
                r.pairs = [p for p in r.pairs if has(types, *p) != discard]
            if not r.pairs:
                continue
        kept.append(r)
    trace.records = kept


# ---- Translation -------------------------------------------------------------------------------


def translate(trace, pairs, types):
    for r in trace.records:
        r.pairs = [pairs.get(p, (types.get(p[0], p[0]), p[1])) for p in r.pairs]


# ---- Counters ----------------------------------------------------------------------------------


def counter_type(kind, value, each):
    if each:
        return (kind // 10000 + kind % 10000 + 10000) * 1000 + value
    return kind // 10000 + 20000 + kind % 10000


def counted(pairs, count, total, each):
    """[(key, type of the counter, amount)] of pairs"""
    found = []
    for kind, value in pairs:
        if value == 0:
            continue
        if total is not None and has(total, kind, value):
            found.append((("sum", kind), kind, value))
        if count is None or has(count, kind, value):
            found.append((("count", kind, value if each else None),
                          counter_type(kind, value, each), 1))
    return found


class Counters:
    """The counters of a thread; amounts are added as numbers of 64 bits."""

    def __init__(self):
        self.order, self.amounts, self.written = [], {}, {}

    def add(self, found):
        for key, kind, amount in found:
            if key not in self.amounts:
                self.order.append((key, kind))
            total = self.amounts.get(key, 0) + amount
            self.amounts[key] = (total + 2 ** 63) % 2 ** 64 - 2 ** 63

    def take(self):
        pairs = [(kind, self.amounts[key]) for key, kind in self.order
                 if self.amounts[key] or self.written.get(key)]
        self.written = dict(self.amounts)
        self.amounts = {key: 0 for key in self.amounts}
        return pairs


def keep_events(record, keep):
    pairs = [p for p in record.pairs if has(keep, *p)]
    return [Record(EVENTS, record.cpu, record.place, record.times, pairs)] if pairs else []


def count_intervals(trace, every, count=None, total=None, keep=(), each=False, no_states=False,
                    running=False, in_bursts=False):
    """Intervals end at every, 2 every, ... and at the end of the trace. Needs ordered records."""
    ends = list(range(every, trace.end, every)) + [trace.end]
    out, at = [], 0
    of = {place: Counters() for place in trace.threads}
    bursts = {place: [] for place in trace.threads}
    written = {place: 0 for place in trace.threads}
    for number, end in enumerate(ends):
        while at < len(trace.records) and (trace.records[at].times[0] <= end or
                                           number == len(ends) - 1):
            r = trace.records[at]
            at += 1
            if r.kind == STATE:
                if r.rest[0] == RUNNING and r.times[1] >= r.times[0]:
                    bursts[r.place].append(tuple(r.times))
                out += [] if no_states or running else [r]
            elif r.kind == EVENTS:
                burst = bursts[r.place][-1] if bursts[r.place] else (0, 0)
                if not in_bursts or burst[0] < r.times[0] <= burst[1]:
                    of[r.place].add(counted(r.pairs, count, total, each))
                out += keep_events(r, keep)
        begin = ends[number - 1] if number else 0
        for place in trace.threads:
            pairs = of[place].take()
            if running:
                time = sum(max(0, min(e, end) - max(b, begin)) for b, e in bursts[place])
                if time or written[place]:
                    pairs.insert(0, (1, time))
                written[place] = time
            if pairs:
                out.append(Record(EVENTS, 0, place, [end], pairs))
    trace.records = out


def count_bursts(trace, shortest, count=None, total=None, keep=(), each=False):
    """Needs ordered records; the bursts of a thread do not overlap."""
    out, open_ = [], {}
    of = {place: Counters() for place in trace.threads}

    def write(place, time):
        pairs = of[place].take()
        if pairs:
            out.append(Record(EVENTS, 0, place, [time], pairs))

    def close(before):
        for place in sorted(open_, key=lambda p: (open_[p], trace.threads.index(p))):
            if open_[place] < before:
                write(place, open_.pop(place))
    for r in trace.records:
        close(r.times[0])
        if r.kind == STATE and r.rest[0] == RUNNING and r.times[1] >= r.times[0] and \
                (r.times[1] - r.times[0]) * trace.unit >= shortest:
            if r.place in open_:
                write(r.place, open_.pop(r.place))
            write(r.place, r.times[0])
            open_[r.place] = r.times[1]
            out.append(r)
        elif r.kind == EVENTS:
            of[r.place].add(counted(r.pairs, count, total, each))
            out += keep_events(r, keep)
    close(float("inf"))
    trace.records = out
