# SPDX-License-Identifier: Apache-2.0
"""A slow plain evaluator of time lines and tables, to hold `assay evaluate` against.

It knows the rules of doc/reference/semantic.md and nothing of the engine. Each function looks
through the whole list of records, each table intersects all pieces of two windows. Whole numbers
are ints, others floats; a float that is whole and below 2^53 becomes an int.
"""
import math

STATE_END, STATE_BEGIN, EVENT = "state end", "state begin", "event"
# Messages as each side sees them: (name, class at one time, side, time)
MESSAGE_PARTS = (
    ("physical receive", 1, "receiver", "physical_receive"),
    ("logical remote receive", 2, "sender", "logical_receive"),
    ("physical remote receive", 2, "sender", "physical_receive"),
    ("logical remote send", 3, "receiver", "logical_send"),
    ("physical remote send", 3, "receiver", "physical_send"),
    ("logical send", 4, "sender", "logical_send"),
    ("physical send", 5, "sender", "physical_send"),
    ("logical receive", 6, "receiver", "logical_receive"),
)
LEVELS = ("workload", "appl", "task", "thread", "system", "node", "cpu")
UNITS = {"Nanoseconds": 1, "Microseconds": 1000, "Milliseconds": 1000000, "Seconds": 10 ** 9}


def plain(value):
    """The one form of a value; what is not finite is 0."""
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    if isinstance(value, float) and abs(value) < 2 ** 53 and value == math.trunc(value):
        return int(value)
    if isinstance(value, int) and not -2 ** 63 <= value < 2 ** 63:
        return float(value)
    return value


def divide(a, b):
    if b == 0:
        return 0
    if isinstance(a, int) and isinstance(b, int) and a % b == 0:
        return plain(a // b)
    return plain(float(a) / float(b))


def remainder(a, b):
    b = b or 1
    if isinstance(a, int) and isinstance(b, int):
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest
    return plain(math.fmod(a, b))


def scale(value, factor):
    if factor == 0:
        return 0
    if abs(factor) >= 1:
        return plain(value * factor)
    value = divide(value, plain(1 / abs(factor)))
    return plain(-value) if factor < 0 else value


def add_up(values):
    whole = sum(v for v in values if isinstance(v, int))
    reals = [v for v in values if isinstance(v, float)]
    return plain(float(whole) + sum(reals)) if reals else plain(whole)


# ---- Traces ------------------------------------------------------------------------------------


class Trace:
    """nodes: CPUs of each; applications: lists of tasks (threads, node from 0); lines: dicts in the
    order of the file."""

    def __init__(self, end, nodes, applications, lines):
        self.nodes, self.applications, self.lines = nodes, applications, lines
        self.tasks = [(a, task) for a, tasks in enumerate(applications) for task in tasks]
        self.threads = [t for t, (_, task) in enumerate(self.tasks) for _ in range(task[0])]
        self.cpus = [n for n, count in enumerate(nodes) for _ in range(count)]
        self.end = end
        for line in lines:
            self.end = max([self.end] + [line[k] for k in line if k in (
                "begin", "end", "time", "logical_send", "physical_send", "logical_receive",
                "physical_receive")])

    def count(self, level):
        return {"workload": 1, "appl": len(self.applications), "task": len(self.tasks),
                "thread": len(self.threads), "system": 1, "node": len(self.nodes),
                "cpu": len(self.cpus)}[level]

    def above(self, level, at, to):
        """The object of a coarser level that holds one."""
        while level != to:
            if level == "thread":
                at, level = self.threads[at], "task"
            elif level == "task":
                at, level = self.tasks[at][0], "appl"
            elif level == "cpu":
                at, level = self.cpus[at], "node"
            else:
                at, level = 0, {"appl": "workload", "node": "system"}[level]
        return at

    def below(self, level, at, to):
        return [i for i in range(self.count(to)) if self.above(to, i, level) == at]

    def path(self, thread):
        """application, task, thread as the file numbers them"""
        task = self.threads[thread]
        application = self.tasks[task][0]
        first_task = [a for a, _ in self.tasks].index(application)
        return application + 1, task - first_task + 1, thread - self.threads.index(task) + 1

    def records(self, kind, at):
        """Those of a thread, or of a CPU, in their order."""
        found = []

        def put(name, record_class, index, time, number, thread, cpu, **more):
            if (thread if kind == "thread" else cpu - 1) == at:
                found.append(((time, record_class, number, index),
                              dict(kind=name, time=time, thread=thread, cpu=cpu, **more)))
        for number, line in enumerate(self.lines):
            if line["kind"] == "state":
                where = line["thread"], line["cpu"]
                put(STATE_BEGIN, 8, 0, line["begin"], number, *where, state=line["value"],
                    end=line["end"])
                if line["end"] >= 0:
                    is_instant = line["end"] == line["begin"]
                    put(STATE_END, 8 if is_instant else 0, 1, line["end"], number, *where)
            elif line["kind"] == "event":
                for i, (kind_of, value) in enumerate(line["pairs"]):
                    put(EVENT, 6, 0, line["time"], number + i / 1000, line["thread"], line["cpu"],
                        type=kind_of, value=value)
            else:
                for i, (name, record_class, side, time) in enumerate(MESSAGE_PARTS):
                    put(name, record_class, i, line[time], number, line[side], line[side + "_cpu"],
                        message=line)
        return [record for _, record in sorted(found, key=lambda one: one[0])]


# ---- Windows -----------------------------------------------------------------------------------


class Window:
    def __init__(self, **given):
        self.level, self.unit, self.function, self.parameters = "thread", "Nanoseconds", \
            "State As Is", []
        self.cpu = ("Active Thd", [])
        self.above, self.compose = {}, {}  # level: (function, parameters)
        self.top = []                      # topcompose1, topcompose2, extra ...
        self.logical, self.physical, self.intra, self.inter = True, True, True, True
        self.fromto, self.tagsize, self.typevalue = True, True, True
        self.filters = {}                  # part: (function, values)
        self.operation = None              # of a derived window
        self.operands, self.factors, self.shifts = [], [1, 1], [0, 0]
        self.code = True
        self.__dict__.update(given)

    @property
    def ns(self):
        return UNITS[self.unit]


def test(part, value):
    function, values = part
    if function == "All":
        return True
    if function == "None" or not values:
        return False
    if function == "=":
        return value in values
    if function == "[x,y]":
        pairs = list(zip(values[::2], values[1::2]))
        return bool(pairs) and all(low <= value <= high for low, high in pairs)
    compare = {"!=": lambda x: value != x, ">": lambda x: value > x, "<": lambda x: value < x}
    return all(compare[function](x) for x in values)


def send_time(window, message):
    return message["logical_send" if window.logical else "physical_send"]


def receive_time(window, message):
    if not window.logical:
        return message["physical_receive"]
    return max(message["logical_receive"], message["physical_receive"])


def passes(trace, window, record):
    def part(name, value):
        return test(window.filters.get(name, ("All", [])), value)

    if record["kind"] == EVENT:
        parts = part("evt_type", record["type"]), part("evt_value", record["value"])
        return all(parts) if window.typevalue else any(parts)
    if record["kind"] in (STATE_BEGIN, STATE_END):
        return True
    m = record["message"]
    if record["kind"].startswith("logical"):
        if not window.logical:
            return False
    elif not window.physical and not (
            window.logical and "receive" in record["kind"] and
            m["logical_receive"] <= m["physical_receive"]):
        return False
    node = [trace.tasks[trace.threads[m[side]]][1][1] for side in ("sender", "receiver")]
    if not (window.intra if node[0] == node[1] else window.inter):
        return False

    def object_of(side):
        if window.level in ("system", "node", "cpu"):
            cpu = m[side + "_cpu"]
            return trace.above("cpu", cpu - 1, window.level) + 1 if cpu else 0
        return trace.above("thread", m[side], window.level) + 1
    ends = part("from_obj", object_of("sender")), part("to_obj", object_of("receiver"))
    sizes = part("tag_msg", m["tag"]), part("size_msg", m["size"])
    bandwidth = divide(m["size"], divide(receive_time(window, m) - send_time(window, m),
                                         window.ns))
    return (all(ends) if window.fromto else any(ends)) and \
        (all(sizes) if window.tagsize else any(sizes)) and part("bw_msg", bandwidth)


def is_receive(window, record, remote=""):
    """True for the later of the two receives of a message."""
    m = record.get("message")
    if not m:
        return False
    late = window.logical and m["logical_receive"] > m["physical_receive"]
    return record["kind"] == f"{'logical' if late else 'physical'} {remote}receive"


def is_send(window, record, remote=""):
    return record["kind"] == f"{'logical' if window.logical else 'physical'} {remote}send"


KINDS = {
    "states": (STATE_BEGIN, STATE_END),
    "events": (EVENT,),
    "sends": ("logical send", "physical send"),
    "receives": ("logical receive", "physical receive"),
    "at sender": ("logical send", "physical send", "logical remote receive",
                  "physical remote receive"),
    "at receiver": ("logical receive", "physical receive", "logical remote send",
                    "physical remote send"),
    "all": ("logical send", "physical send", "logical receive", "physical receive"),
    "objects": (STATE_BEGIN, STATE_END, EVENT),
}
BOUNDS = {
    "Last Tag": ("physical receive",), "Comm Size": KINDS["all"],
    "Comm Recv. Partner": KINDS["receives"], "Comm Partner": KINDS["sends"],
    "Last Send Dur.": ("logical send",), "Next Recv Dur.": ("logical receive",),
    "Last Send Size": ("logical send",),
    "Number Of Sends": KINDS["sends"], "Number Of Send Bytes": KINDS["sends"],
    "Number Of Receives": KINDS["receives"], "Number Of Receive Bytes": KINDS["receives"],
}
STATE_FUNCTIONS = ("State As Is", "Useful", "State Sign", "Given State", "In State",
                   "Not In State", "State Record Dur.")
EVENT_FUNCTIONS = (
    "Last Evt Type", "Last Evt Val", "Last Evt Val w/o Bursts", "Next Evt Type", "Next Evt Val",
    "Avg Next Evt Val", "Avg Last Evt Val", "Given Evt Val", "In Evt Val", "Int. Between Evt",
    "Not In Evt Val", "In Evt Range", "Event Bytes", "Event Sent Bytes")
SENDER_FUNCTIONS = ("Send Bytes in Transit", "Send Messages in Transit", "Send BandWidth")
RECEIVER_FUNCTIONS = ("Recv Bytes in Transit", "Recv Messages in Transit", "Recv BandWidth",
                      "Recv Negative Messages", "Recv Negative Bytes")
OBJECT_FUNCTIONS = {"Application ID": "appl", "TaskID": "task", "Thread ID": "thread",
                    "Node ID": "node", "Cpu ID": "cpu", "In Appl ID": "appl", "In Task ID": "task",
                    "In Thread ID": "thread", "In Node ID": "node", "In Cpu ID": "cpu"}


def bounds_of(function):
    if function in STATE_FUNCTIONS:
        return KINDS["states"]
    if function in EVENT_FUNCTIONS:
        return KINDS["events"]
    if function in SENDER_FUNCTIONS:
        return KINDS["at sender"]
    if function in RECEIVER_FUNCTIONS:
        return KINDS["at receiver"]
    return KINDS["objects"] if function in OBJECT_FUNCTIONS else BOUNDS[function]


def leaf(trace, window, kind, at):
    """The pieces of a thread function: [(begin, end, value)]."""
    everything = trace.records(kind, at)
    kept = [r for r in everything if passes(trace, window, r)]
    bounds = [r for r in kept if r["kind"] in bounds_of(window.function)]
    if window.function in STATE_FUNCTIONS:
        bounds = [r for i, r in enumerate(bounds) if r["kind"] == STATE_BEGIN or not any(
            other["kind"] == STATE_BEGIN and other["time"] == r["time"]
            for other in bounds[i + 1:])]
    empty = dict(kind="empty", time=0, thread=at if kind == "thread" else 0, cpu=0)
    pieces, before = [], 0
    for i, begin in enumerate([empty] + bounds):
        following = bounds[i] if i < len(bounds) else None
        end = following["time"] if following else trace.end
        before = value_of(trace, window, kind, kept, begin, following, end, before)
        pieces.append((begin["time"], end, before))
    return pieces


def value_of(trace, window, kind, kept, begin, following, end, before):
    function, p, empty = window.function, window.parameters, begin["kind"] == "empty"
    if function in STATE_FUNCTIONS:
        state = begin.get("state", 0)
        given = not empty and bool(p) and state in p[0]
        if function == "State Record Dur.":
            last = begin["end"] if begin.get("end", -1) >= 0 else end
            return divide(last - begin["time"], window.ns) if given else 0
        return {"State As Is": state, "Useful": int(state == 1), "State Sign": int(state != 0),
                "Given State": state if given else 0, "In State": int(given),
                "Not In State": int(not empty and not given)}[function]
    if function in EVENT_FUNCTIONS:
        return event_value(window, kept, begin, following, before)
    if function in OBJECT_FUNCTIONS:
        return object_value(trace, window, kind, begin)
    return message_value(window, kind, kept, begin, following, before)


def event_value(window, kept, begin, following, before):
    function, p, empty = window.function, window.parameters, begin["kind"] == "empty"
    if function == "Next Evt Type":
        return following["type"] if following else 0
    if function == "Next Evt Val":
        return following["value"] if following else 0
    length = following["time"] - begin["time"] if following else 0
    if function in ("Avg Next Evt Val", "Avg Last Evt Val"):
        of = following if function == "Avg Next Evt Val" else begin
        if not following or length == 0 or (empty and of is begin):
            return 0
        return divide(plain(of["value"] * p[0][0]), divide(length, window.ns))
    if empty:
        return 0
    if function == "Int. Between Evt":
        return divide(length, window.ns)
    if function in ("Event Bytes", "Event Sent Bytes"):
        if not following:
            return 0
        sent = [r["message"]["size"] for r in kept if is_send(window, r) and
                begin["time"] <= r["time"] < following["time"]]
        got = [r["message"]["size"] for r in kept if is_receive(window, r) and
               begin["time"] < r["time"] <= following["time"]]
        return sum(sent) + (sum(got) if function == "Event Bytes" else 0)
    value = begin["value"]
    return {"Last Evt Type": begin["type"], "Last Evt Val": value,
            "Last Evt Val w/o Bursts": value or before,
            "Given Evt Val": value if p and value in p[0] else 0,
            "In Evt Val": int(bool(p) and value in p[0]),
            "Not In Evt Val": int(not (p and value in p[0])),
            "In Evt Range": int(len(p) > 1 and p[0][0] <= value <= p[1][0])}[function]


def object_value(trace, window, kind, begin):
    level, empty = OBJECT_FUNCTIONS[window.function], begin["kind"] == "empty"
    if level in ("node", "cpu"):
        number = 0 if empty or not begin["cpu"] else \
            trace.above("cpu", begin["cpu"] - 1, level) + 1
    else:
        number = 0 if empty and kind == "cpu" else trace.above("thread", begin["thread"], level) + 1
    if window.function.startswith("In "):
        return number if not empty and number in window.parameters[0] else 0
    return number


def message_value(window, kind, kept, begin, following, before):
    function = window.function
    if begin["kind"] == "empty":
        return 0
    at = next(i for i, r in enumerate(kept) if r is begin)
    m = begin["message"]
    if function == "Last Tag":
        return m["tag"]
    if function in ("Comm Size", "Last Send Size"):
        return m["size"]
    if function == "Comm Partner":
        return m["receiver_cpu"] if kind == "cpu" else m["receiver"] + 1
    if function == "Comm Recv. Partner":
        for record in kept[at + 1:]:
            if is_receive(window, record):
                sender = record["message"]
                return sender["sender_cpu"] if kind == "cpu" else sender["sender"] + 1
        return 0
    late = max(m["logical_receive"], m["physical_receive"])
    if function == "Last Send Dur.":
        return divide(late - begin["time"], window.ns)
    if function == "Next Recv Dur.":
        if not following:
            return 0
        n = following["message"]
        return divide(max(n["logical_receive"], n["physical_receive"]) - n["logical_send"],
                      window.ns)
    until = kept[:at + 1]
    if function.startswith("Number Of"):
        counted = [r for r in until if (is_send if "Send" in function else is_receive)(window, r)]
        return sum(r["message"]["size"] for r in counted) if "Bytes" in function else len(counted)
    return running_value(window, until)


def running_value(window, until):
    """The sum on its way after these records."""
    function, total = window.function, 0
    for record in until:
        m = record.get("message")
        if not m:
            continue
        is_negative = receive_time(window, m) <= send_time(window, m)
        if function in SENDER_FUNCTIONS:
            way = int(is_send(window, record)) - int(is_receive(window, record, "remote "))
        else:
            way = int(is_send(window, record, "remote ")) - int(is_receive(window, record))
        if "Negative" in function:
            way = -way if is_negative else 0
        elif is_negative:
            way = 0
        if not way:
            continue
        if "BandWidth" in function:
            units = float(divide(receive_time(window, m) - send_time(window, m), window.ns))
            factor = window.parameters[0][0]
            total += way * int(m["size"] / factor / units * 1e12) if factor else 0
        else:
            total += way * (m["size"] if "Bytes" in function else 1)
    return plain(total / 1e12) if "BandWidth" in function else total


# ---- Functions of values -----------------------------------------------------------------------


def round_half_even(x):
    return plain(float(round(x))) if isinstance(x, float) else x


def logarithm(value, base):
    if value <= 0:
        return 0
    found = math.log(value) / math.log(base)
    return plain(max(found, 0.0))


def power(base, value):
    try:
        return plain(math.pow(base, value))
    except (OverflowError, ValueError):
        return 0


def in_range(p, x, closed):
    return any(low <= x and (x <= high if closed else x < high) for high, low in zip(p[0], p[1]))


PLAIN_COMPOSES = {
    "As Is": lambda x, p: x, "Sign": lambda x, p: int(x != 0), "1-Sign": lambda x, p: int(x == 0),
    "Mod": lambda x, p: remainder(x, p[0][0]),
    "Mod+1": lambda x, p: plain(remainder(x, p[0][0]) + 1),
    "Div": lambda x, p: divide(x, p[0][0]) if p[0][0] else remainder(x, 1),
    "Prod": lambda x, p: plain(x * p[0][0]), "Add": lambda x, p: plain(x + p[0][0]),
    "Subs": lambda x, p: plain(x - p[0][0]), "Complement": lambda x, p: plain(p[0][0] - x),
    "Inverse Div": lambda x, p: divide(p[0][0], x),
    "Floor": lambda x, p: plain(float(math.floor(x))) if isinstance(x, float) else x,
    "Ceil": lambda x, p: plain(float(math.ceil(x))) if isinstance(x, float) else x,
    "Round": lambda x, p: round_half_even(x), "Abs": lambda x, p: plain(abs(x)),
    "Select Range": lambda x, p: x if in_range(p, x, True) else 0,
    "Select Range [)": lambda x, p: x if in_range(p, x, False) else 0,
    "Is In Range": lambda x, p: int(in_range(p, x, True)),
    "Is In Range [)": lambda x, p: int(in_range(p, x, False)),
    "Is Equal": lambda x, p: x if x in p[0] else 0,
    "Is Equal (Sign)": lambda x, p: int(x in p[0]),
    "Translate": lambda x, p: next((p[0][i + 1] for i in range(0, len(p[0]) - 1, 2)
                                    if p[0][i] == x), x),
    "sin": lambda x, p: plain(math.sin(x)), "cos": lambda x, p: plain(math.cos(x)),
    "sqrt (abs)": lambda x, p: plain(math.sqrt(abs(x))),
    "arc tan": lambda x, p: plain(math.atan(x)),
    "log N": lambda x, p: logarithm(x, p[0][0]), "exp": lambda x, p: power(p[0][0], x),
}
HISTORY_COMPOSES = ("Stacked Val", "In Stacked Val", "Nesting level", "LRU Depth", "Enumerate",
                    "Accumulate", "Delta", "Burst Time", "Join Bursts", "Divide by Burst Time",
                    "Timer", "Begin Time", "End Time")


def compose(name, p, pieces, ns):
    if name in PLAIN_COMPOSES:
        return [(b, e, PLAIN_COMPOSES[name](v, p)) for b, e, v in pieces]
    if name == "Join Bursts":
        return join(pieces)
    if name == "Timer":
        return timer(pieces, p[0][0])
    found, values = [], [v for _, _, v in pieces]
    for i, (b, e, v) in enumerate(pieces):
        found.append((b, e, history(name, p, values[:i + 1], b, e, v, ns)))
    return found


def stack_of(values):
    stack = []
    for value in values:
        if value != 0:
            stack.append(value)
        elif stack:
            stack.pop()
    return stack


def history(name, p, values, begin, end, value, ns):
    if name == "Burst Time":
        return divide(end - begin, ns)
    if name == "Divide by Burst Time":
        return divide(value, divide(end - begin, ns))
    if name == "Begin Time":
        return divide(begin, ns)
    if name == "End Time":
        return divide(end, ns)
    if name == "Delta":
        return plain(value - (values[-2] if len(values) > 1 else 0))
    if name == "Enumerate":
        return sum(1 for v in values if v != 0)
    if name == "Accumulate":
        total = 0
        for v in values:
            total = plain(total + v)
        return total
    if name == "Nesting level":
        return len(stack_of(values))
    if name == "LRU Depth":
        return depth(values, int(p[0][0]))
    stack = stack_of(values)
    top = stack[-1] if stack else 0
    return top if name == "Stacked Val" or top == p[0][0] else 0


def depth(values, size):
    """How many different values were last since this one, from 1, if the list of `size` has it."""
    kept, found = [], 0
    for value in values:
        if value == 0:
            found = 0
            continue
        if value in kept:
            found = kept.index(value) + 1
            kept.remove(value)
        else:
            found = size + 1
        kept = ([value] + kept)[:size]
    return found


def join(pieces):
    found = []
    for begin, end, value in pieces:
        if found and found[-1][2] == value:
            found[-1] = (found[-1][0], end, value)
        else:
            found.append((begin, end, value))
    return found


def timer(pieces, limit):
    found, used, began = [], 0, 0
    for begin, end, value in pieces:
        if value == 0:
            used = 0
            found.append((begin, end, value))
            continue
        if used == 0:
            began = begin
        used += end - begin
        if used > limit:
            found += [(begin, int(began + limit), value), (int(began + limit), end, 0)]
        else:
            found.append((begin, end, value))
        if used >= limit:
            used = 0
    return found


def mode(values):
    best, most = 0, 0
    for i, value in enumerate(values):
        n = values[:i + 1].count(value)
        if n > most:
            best, most = value, n
    return best


def above(name, p, values, changed):
    if name in ("Activity", "In Activity"):
        same = values[0] if values[0] in p[0] and all(v == values[0] for v in values) else 0
        return int(same != 0) if name == "In Activity" else same
    if name == "Minimum":
        least = 0
        for value in values:
            if least == 0 or value < least:
                least = value
        return least
    if name == "Thread i":
        at = p[0][0] - 1
        return values[at] if 0 <= at < len(values) else 0
    if name == "Add Tasks":
        return add_up([values[at] for at in p[0] if 0 <= at < len(values)])
    return {"Adding": lambda: add_up(values), "AddingSign": lambda: int(add_up(values) > 0),
            "Average": lambda: divide(add_up(values), len(values)),
            "Maximum": lambda: max([0] + values), "Mode": lambda: mode(values),
            "Changed value": lambda: values[changed]}[name]()


def rounds(children):
    """Steps of several time lines: [(time, values, which changed)]; at one time the first steps of
    all, then their second ones ..."""
    values, found = [0] * len(children), []
    for time in sorted({begin for child in children for begin, _, _ in child}):
        steps = [[v for b, _, v in child if b == time] for child in children]
        for i in range(max(map(len, steps))):
            changed = [c for c in range(len(children)) if i < len(steps[c])]
            for c in changed:
                values[c] = steps[c][i]
            found.append((time, list(values), changed))
    return found


def pieces_of(steps, end):
    return [(b, steps[i + 1][0] if i + 1 < len(steps) else end, v)
            for i, (b, v) in enumerate(steps)]


def shifted(pieces, by):
    values = [v for _, _, v in pieces]
    return [(b, e, values[i + by] if 0 <= i + by < len(values) else 0)
            for i, (b, e, _) in enumerate(pieces)]


def derive(name, data, control, end):
    steps, cleared, count, last = [], False, 0, 0
    for time, (a, b), changed in rounds([data, control]):
        is_new = 0 in changed
        if name == "controlled: clear by":
            cleared = (cleared and not is_new) or b < last
            value = 0 if cleared else a
        elif name == "controlled: enumerate":
            count = 0 if b < last else count + (is_new and a != 0)
            value = count
        else:
            value = {"add": lambda: plain(a + b), "product": lambda: plain(a * b),
                     "substract": lambda: plain(a - b), "divide": lambda: divide(a, b),
                     "maximum": lambda: max(a, b), "minimum": lambda: min(a, b),
                     "different": lambda: int(a != b)}[name]()
        last = b
        steps.append((time, value))
    return pieces_of(steps, end)


def fold(name, data, control):
    found = []
    for begin, end, _ in control:
        inside = [(e - b, v) for b, e, v in data if e > begin and (b < end or b <= begin)]
        if name == "controlled: maximum":
            value = max([0] + [v for _, v in inside])
        elif name == "controlled: add":
            value = add_up([v for _, v in inside])
        else:
            whole = sum(n * v for n, v in inside if isinstance(v, int))
            reals = [n * v for n, v in inside if isinstance(v, float)]
            total = float(whole) + sum(reals) if reals else whole
            value = divide(total, sum(n for n, _ in inside))
        found.append((begin, end, value))
    return found


# ---- Windows of objects ------------------------------------------------------------------------


class Evaluator:
    def __init__(self, trace):
        self.trace = trace

    def composed(self, window, level, pieces):
        name, p = window.compose.get(level, ("As Is", []))
        return compose(name, p, pieces, window.ns)

    def base_level(self, window):
        if not window.operation:
            return "cpu" if window.level in ("system", "node", "cpu") else "thread"
        levels = [window.level] + [operand.level for operand in window.operands]
        return max(levels, key=LEVELS.index)

    def at_base(self, window, level, at):
        if not window.operation:
            pieces = self.composed(window, "thread", leaf(self.trace, window, level, at))
            if level == "thread":
                return pieces
            name, p = window.cpu
            given = [(b, e, v if not p or v in p[0] else 0) for b, e, v in pieces]
            if name.endswith("Sign"):
                given = [(b, e, int(v != 0 if not p else orig[2] in p[0]))
                         for orig, (b, e, v) in zip(pieces, given)]
            return self.composed(window, "cpu", given)
        folds = window.operation in ("controlled: maximum", "controlled: add",
                                     "controlled: average")
        sides = []
        for i, operand in enumerate(window.operands):
            pieces = self.window(operand, self.trace.above(level, at, operand.level))
            pieces = shifted(pieces, window.shifts[i])
            if not folds or i == 0:
                pieces = [(b, e, scale(v, window.factors[i])) for b, e, v in pieces]
            sides.append(pieces)
        if folds:
            found = fold(window.operation, *sides)
        else:
            found = derive(window.operation, *sides, self.trace.end)
        return self.composed(window, level, found)

    def at_level(self, window, level, at):
        base = self.base_level(window)
        if level == base:
            return self.at_base(window, level, at)
        lower = LEVELS[LEVELS.index(level) + 1]
        children = [self.at_level(window, lower, child)
                    for child in self.trace.below(level, at, lower)]
        name, p = window.above.get(level, ("Adding", []))
        steps = [(time, above(name, p, values, changed[-1]))
                 for time, values, changed in rounds(children)]
        return self.composed(window, level, pieces_of(steps, self.trace.end))

    def window(self, window, at):
        """All pieces of one object."""
        pieces = self.at_level(window, window.level, at)
        top = window.top + [("As Is", [])] * 2
        order = [top[1], top[0]] + window.top[2:]
        for name, p in order:
            pieces = compose(name, p, pieces, window.ns)
        return pieces

    def shown(self, window, at, begin, end):
        """Pieces in a range, but for those that begin when the trace ends."""
        found = []
        for b, e, v in self.window(window, at):
            if b >= self.trace.end and self.trace.end:
                continue
            inside = begin <= b <= end if b == e else e > begin and b < end
            if inside:
                found.append((max(b, begin), min(e, end), v))
        return found


# ---- Tables ------------------------------------------------------------------------------------


class Scale:
    def __init__(self, low, high, delta=1, columns=0):
        self.low, self.high, self.delta, self.columns = low, high, delta, columns
        if columns:
            self.delta = divide(plain(high - low), columns)
        if self.delta <= 0:
            self.delta = 1
        if not columns:
            n = math.ceil(divide(plain(high - low), self.delta))
            n += self.delta == 1 and n + low <= high
            self.columns = max(n, 1)

    def column(self, value):
        if not self.low <= value <= self.high:
            return None
        return min(int(math.floor(divide(plain(value - self.low), self.delta))), self.columns - 1)


def automatic(values, code, zero, delta=0, columns=0):
    """The scale by the values of pieces with a length."""
    not_zero = [v for v in values if v != 0]
    low = min(not_zero) if not_zero else 0
    if zero and 0 in values and low > 0:
        low = 0
    high = max(values) if values else 0
    span = plain(high - low)
    more = plain(high + divide(plain(span * 5), 100))
    if delta:
        return Scale(low, more, delta)
    if span == 0:
        return Scale(low, high, 1)
    if code and span <= 10000:
        return Scale(low, plain(float(math.floor(more))), 1)
    return Scale(low, more, columns=columns or 200)


def overlaps(begin, end, *lines):
    """All intersections with a length, with the values."""
    found = [(begin, end, ())]
    for line in lines:
        found = [(max(b, x), min(e, y), values + (v,)) for b, e, values in found
                 for x, y, v in line if max(b, x) < min(e, y)]
    return found


def statistic(name, inside, row, window_ns, ns):
    """inside: [(length, data, control)] of a cell, row: of all its row."""
    lengths = [n for n, _, _ in inside]
    time, values = sum(lengths), [v for _, v, _ in inside]
    not_zero = [(n, v) for n, v, _ in inside if v != 0]

    def weighted(pairs):
        whole = sum(n * v for n, v in pairs if isinstance(v, int))
        reals = [n * v for n, v in pairs if isinstance(v, float)]
        return float(whole) + sum(reals) if reals else whole
    integral = weighted([(n, v) for n, v, _ in inside])
    return {
        "Time": lambda: divide(time, ns),
        "% Time": lambda: divide(100 * time, sum(n for n, _, _ in row)),
        "% Time Not Zero": lambda: divide(100 * sum(n for n, _, c in inside if c != 0),
                                          sum(n for n, _, c in row if c != 0)),
        "% Window Time": lambda: divide(100 * time, window_ns),
        "# Bursts": lambda: len(inside),
        "% # Bursts": lambda: divide(100 * len(inside), len(row)),
        "Integral": lambda: divide(weighted([(n, abs(v)) for n, v, _ in inside]), ns),
        "Average value": lambda: divide(integral, time),
        "Maximum": lambda: max([0] + values),
        "Minimum": lambda: min([v for _, v in not_zero], default=0),
        "Average Burst Time": lambda: divide(divide(time, len(inside)), ns),
        "Stdev Burst Time": lambda: math.sqrt(
            sum((n - time / len(inside)) ** 2 for n in lengths) / len(inside)) / ns,
        "Average per Burst": lambda: divide(add_up(values), len(inside)),
        "Average value != 0": lambda: divide(integral, sum(n for n, _ in not_zero)),
        "Average per Burst != 0": lambda: divide(add_up(values), len(not_zero)),
        "# Bursts != 0": lambda: len(not_zero),
        "Sum bursts": lambda: add_up(values),
    }[name]()


STATISTICS = ("Time", "% Time", "% Time Not Zero", "% Window Time", "# Bursts", "% # Bursts",
              "Integral", "Average value", "Maximum", "Minimum", "Average Burst Time",
              "Stdev Burst Time", "Average per Burst", "Average value != 0",
              "Average per Burst != 0", "# Bursts != 0", "Sum bursts")
MESSAGE_STATISTICS = (
    "#Sends", "#Receives", "Bytes sent", "Bytes received", "Average bytes sent",
    "Average bytes received", "Minimum bytes sent", "Minimum bytes received",
    "Maximum bytes sent", "Maximum bytes received")


def totals(values):
    """Over the cells that were touched."""
    mean = divide(add_up(values), len(values))
    spread = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))
    not_zero = [v for v in values if v != 0]
    return {"total": add_up(values), "average": mean, "maximum": max(values),
            "minimum": min(not_zero, default=0), "stdev": spread,
            "avg_max": divide(mean, max(values))}


def message_cells(trace, window, name, begin, end):
    """{(row, partner): value} of one of MESSAGE_STATISTICS; a derived window counts what the filter
    of its first single window lets pass."""
    level = window.level
    while window.operation:
        window = window.operands[0]
    base = "cpu" if level in ("system", "node", "cpu") else "thread"
    sizes, touched = {}, set()
    wants_sent = "eceive" not in name
    for at in range(trace.count("thread")):
        for record in trace.records("thread", at):
            m = record.get("message")
            sent = m and is_send(window, record)
            if not m or not (sent or is_receive(window, record)) or \
                    not begin <= record["time"] <= end or not passes(trace, window, record):
                continue
            ends = [m["sender"], m["receiver"]] if base == "thread" else \
                [m["sender_cpu"] - 1, m["receiver_cpu"] - 1]
            if min(ends) < 0:
                continue
            own, other = [trace.above(base, x, level) for x in (ends if sent else ends[::-1])]
            touched.add((own, other))
            if sent == wants_sent:
                sizes.setdefault((own, other), []).append(m["size"])
    found = {}
    for place in touched:
        of = sizes.get(place, [])
        found[place] = len(of) if name.startswith("#") else \
            divide(sum(of), len(of)) if name.startswith("Average") else \
            min(of, default=0) if name.startswith("Minimum") else \
            max(of, default=0) if name.startswith("Maximum") else sum(of)
    return found
