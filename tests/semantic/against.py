#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay evaluate` against the plain evaluator: against.py ASSAY DIRECTORY [FIRST [COUNT [REPLAY]]]

REPLAY is tests/unit/timeline/replay_test.c: it makes the index of each trace, and compares results
of the index with those of the trace. Then `assay evaluate` reads the index, with the same result.
Random small traces, windows and tables from a fixed seed each. Whole numbers are compared exactly,
others to 10^-9. Written in TAP, a line for each part of the functions.
"""
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys

import files
import oracle

BIG = (2 ** 53 + 1, 2 ** 62 + 3, -7)


# ---- Traces ------------------------------------------------------------------------------------


def random_trace(rng):
    nodes = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    applications = [[(rng.randint(1, 3), rng.randrange(len(nodes)))
                     for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(1, 2))]
    span = rng.choice((8, 40, 1000, 5 * 10 ** 6))
    empty = oracle.Trace(0, nodes, applications, [])
    lines = []

    def where():
        return {"thread": rng.randrange(len(empty.threads)), "cpu": rng.randint(0, len(empty.cpus))}
    for thread in range(len(empty.threads)):
        lines += random_states(rng, thread, span, len(empty.cpus))
    for _ in range(rng.choice((0, 5, 25))):
        pairs = [(rng.randint(1, 4), rng.choice((0, 0, 1, 2, 3) + BIG))
                 for _ in range(rng.choice((1, 1, 2, 3)))]
        lines.append(dict(kind="event", time=rng.randint(0, span), pairs=pairs, **where()))
    for _ in range(rng.choice((0, 4, 15))):
        lines.append(random_message(rng, span, empty))
    key = {"state": "begin", "event": "time", "message": "logical_send"}
    lines.sort(key=lambda line: line[key[line["kind"]]])
    if rng.random() < 0.2:
        rng.shuffle(lines)
    header_end = rng.choice((0, span, span + 5))
    trace = oracle.Trace(header_end, nodes, applications, lines)
    trace.header_end = header_end
    return trace


def random_states(rng, thread, span, cpus):
    lines, time = [], rng.choice((0, rng.randint(0, span)))
    for _ in range(rng.choice((0, 3, 12))):
        end = min(time + rng.choice((0, 1, rng.randint(0, max(1, span // 3)))), span)
        lines.append(dict(kind="state", thread=thread, cpu=rng.randint(0, cpus), begin=time,
                          end=-1 if rng.random() < 0.05 else end,
                          value=rng.choice((0, 1, 1, 3, 13))))
        time = end + rng.choice((0, 0, rng.randint(0, max(1, span // 8))))
        if time > span:
            break
    return lines


def random_message(rng, span, trace):
    send = rng.randint(0, span)
    times = dict(logical_send=send, physical_send=min(span, send + rng.randint(0, 3)),
                 logical_receive=rng.randint(max(0, send - span // 8), span),
                 physical_receive=rng.randint(max(0, send - rng.choice((0, 2))), span))
    ends = {side: rng.randrange(len(trace.threads)) for side in ("sender", "receiver")}
    ends.update({side + "_cpu": rng.randint(0, len(trace.cpus)) for side in ("sender", "receiver")})
    return dict(kind="message", size=rng.choice((0, 1, 64, 4096)), tag=rng.randint(0, 3), **times,
                **ends)


# ---- Windows -----------------------------------------------------------------------------------


THREAD_FUNCTIONS = (oracle.STATE_FUNCTIONS + oracle.EVENT_FUNCTIONS + tuple(oracle.BOUNDS) +
                    oracle.SENDER_FUNCTIONS + oracle.RECEIVER_FUNCTIONS +
                    tuple(oracle.OBJECT_FUNCTIONS))
LIST_FUNCTIONS = ("Given State", "In State", "Not In State", "State Record Dur.", "Given Evt Val",
                  "In Evt Val", "Not In Evt Val", "Activity", "In Activity", "Is Equal",
                  "Is Equal (Sign)", "Active Thd Val", "Active Thd Val Sign")
ABOVE_FUNCTIONS = ("Adding", "AddingSign", "Average", "Maximum", "Minimum", "Activity",
                   "In Activity", "Mode", "Thread i", "Add Tasks", "Changed value")
CPU_FUNCTIONS = ("Active Thd", "Active Thd Sign", "Active Thd Val", "Active Thd Val Sign")
COMPOSES = tuple(oracle.PLAIN_COMPOSES) + oracle.HISTORY_COMPOSES
OPERATIONS = ("add", "product", "substract", "divide", "maximum", "minimum", "different",
              "controlled: clear by", "controlled: maximum", "controlled: add",
              "controlled: enumerate", "controlled: average")


def random_parameters(rng, name):
    if name in LIST_FUNCTIONS or name.startswith("In ") and name.endswith(" ID"):
        return [[rng.choice((0, 1, 1, 2, 3, 13)) for _ in range(rng.randint(1, 3))]]
    if name.startswith(("Select Range", "Is In Range")):
        pairs = [sorted((rng.randint(-2, 9), rng.randint(-2, 70)))
                 for _ in range(rng.choice((1, 2)))]
        return [[high for _, high in pairs], [low for low, _ in pairs]]
    if name == "In Evt Range":
        return [[rng.randint(0, 2)], [rng.choice((2, 3, 2 ** 60))]]
    if name == "Translate":
        return [[rng.randint(0, 4) for _ in range(rng.choice((0, 2, 4)))]]
    if name in ("Mod", "Mod+1", "Div", "Inverse Div"):
        return [[rng.choice((0, 1, 2, 3, 7, 0.5))]]
    if name in ("Prod", "Add", "Subs", "Complement", "Avg Next Evt Val", "Avg Last Evt Val"):
        return [[rng.choice((0, 1, 3, -2, 1000, 0.25))]]
    if name in ("log N", "exp"):
        return [[rng.choice((2, 10, math.e))]]
    if name in ("Send BandWidth", "Recv BandWidth"):
        return [[rng.choice((1, 8, 1000))]]
    if name in ("In Stacked Val", "Thread i"):
        return [[rng.randint(0, 4)]]
    if name == "Add Tasks":
        return [[rng.randint(0, 3) for _ in range(rng.randint(0, 3))]]
    if name == "LRU Depth":
        return [[rng.choice((1, 2, 3, 256))]]
    return [[rng.choice((1, 5, 20, 100000))]] if name == "Timer" else []


def chosen(rng, names):
    name = rng.choice(names)
    return name, random_parameters(rng, name)


def random_filters(rng):
    found = {}
    for part in files.FILTER_PARTS:
        if rng.random() < 0.75:
            continue
        function = rng.choice(("All", "None", "=", "=", "!=", ">", "<", "[x,y]"))
        values = [rng.choice((0, 1, 1, 2, 3, 64)) for _ in range(rng.randint(0, 3))]
        if function == "[x,y]":
            values = sorted(values + [70, 0])[-2:]
        found[part] = (function, values)
    return found


def random_window(rng, function=None, composes=None):
    level = rng.choice(oracle.LEVELS + ("thread",) * 5)
    name = function or rng.choice(THREAD_FUNCTIONS)
    logical, physical = rng.choice(((True, False), (True, True), (False, True), (True, False)))
    window = oracle.Window(
        level=level, function=name, parameters=random_parameters(rng, name),
        unit=rng.choice(("Nanoseconds", "Nanoseconds", "Microseconds")),
        cpu=chosen(rng, CPU_FUNCTIONS), logical=logical, physical=physical,
        intra=rng.random() < 0.9, inter=rng.random() < 0.9, fromto=rng.random() < 0.7,
        tagsize=rng.random() < 0.7, typevalue=rng.random() < 0.8, filters=random_filters(rng),
        code=rng.random() < 0.5)
    window.above = {of: chosen(rng, ABOVE_FUNCTIONS) for of in files.LEVELS}
    names = composes or COMPOSES
    for of in oracle.LEVELS:
        if rng.random() < 0.25:
            window.compose[of] = chosen(rng, names)
    if composes:
        window.compose["thread"] = chosen(rng, names)
    window.top = [chosen(rng, names) if rng.random() < 0.3 else ("As Is", [])
                  for _ in range(rng.choice((2, 2, 3, 4)))]
    return window


def random_derived(rng, operation):
    operands = [random_window(rng) if rng.random() < 0.8 else
                random_derived(rng, rng.choice(OPERATIONS)) for _ in range(2)]
    family = oracle.LEVELS[4:] if rng.random() < 0.2 else oracle.LEVELS[:4]
    window = random_window(rng)
    window.level = rng.choice(family)
    for operand in operands:
        set_family(rng, operand, family)
    window.operation, window.operands = operation, operands
    window.factors = [rng.choice((1, 1, 2, -3, 0.5, 0.001)) for _ in range(2)]
    window.shifts = [rng.choice((0, 0, 0, 1, -1, 3)) for _ in range(2)]
    return window


def set_family(rng, window, family):
    window.level = rng.choice(family)
    for operand in window.operands:
        set_family(rng, operand, family)


# ---- Comparing ---------------------------------------------------------------------------------


def same(got, wanted):
    if got == wanted and isinstance(got, int) == isinstance(wanted, int):
        return True
    if isinstance(got, int) and isinstance(wanted, int):
        return False
    return math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-12)


class Differs(Exception):
    pass


def compare_line(evaluator, window, got, begin, end):
    for at in range(evaluator.trace.count(window.level)):
        wanted = evaluator.shown(window, at, begin, end)
        found = got["objects"][at]["pieces"]
        if len(wanted) != len(found) or not all(
                g[:2] == list(w[:2]) and same(g[2], w[2]) for g, w in zip(found, wanted)):
            raise Differs(f"{window.level} {at}: {found} is not {wanted}")


def scale_of(evaluator, scale, window, begin, end):
    if not scale.get("automatic"):
        return oracle.Scale(scale["low"], scale["high"], scale.get("delta", 1),
                            scale.get("columns", 0))
    values = [v for at in range(evaluator.trace.count(window.level))
              for b, e, v in evaluator.window(window, at)
              if max(b, begin) < min(e, end)]
    return oracle.automatic(values, window.code, scale.get("zero"), scale.get("delta", 0),
                            scale.get("columns", 0))


def table_cells(evaluator, table, begin, end):
    """{(plane, row, column): value}"""
    trace, control, data = evaluator.trace, table["control"], table["data"]
    if table["statistic"] in oracle.MESSAGE_STATISTICS:
        cells = oracle.message_cells(trace, control, table["statistic"], begin, end)
        return {(0,) + place: value for place, value in cells.items()}
    columns = scale_of(evaluator, table["scale"], control, begin, end)
    planes = scale_of(evaluator, table["planes"], table["plane"], begin, end) \
        if table.get("plane") else None
    found, rank = {}, oracle.LEVELS.index
    for row in range(trace.count(control.level)):
        objects = [trace.above(control.level, row, data.level)] \
            if rank(data.level) <= rank(control.level) else \
            trace.below(control.level, row, data.level)
        inside = []
        for at in objects:
            lines = [evaluator.window(control, row), evaluator.window(data, at)]
            if planes:
                over = trace.above(control.level, row, table["plane"].level)
                lines.append(evaluator.window(table["plane"], over))
            inside += oracle.overlaps(begin, end, *lines)
        cells = {}
        for b, e, values in inside:
            column = columns.column(values[0])
            plane = planes.column(values[2]) if planes else 0
            if column is not None and plane is not None:
                cells.setdefault((plane, column), []).append((e - b, values[1], values[0]))
        for (plane, column), of in cells.items():
            whole = [one for (p, _), some in cells.items() if p == plane for one in some]
            found[plane, row, column] = oracle.statistic(
                table["statistic"], of, whole, end - begin, control.ns)
    return found


def compare_table(evaluator, table, got, begin, end):
    wanted = table_cells(evaluator, table, begin, end)
    names = [o for o in range(evaluator.trace.count(table["control"].level))]
    found = {}
    rows = {name: at for at, name in zip(names, table["names"])}
    for cell in got["cells"]:
        found[cell.get("plane", 0), rows[cell["object"]], cell["column"]] = cell["value"]
    if found.keys() != wanted.keys() or not all(same(found[k], wanted[k]) for k in wanted):
        raise Differs(f"{table['statistic']}: {sorted(found.items())} is not "
                      f"{sorted(wanted.items())}")
    for total in got["totals"]:
        of = [v for (p, _, c), v in wanted.items()
              if c == total["column"] and p == total.get("plane", 0)]
        for key, value in oracle.totals(of).items():
            if key == "stdev":
                if not math.isclose(total[key], value, rel_tol=1e-6,
                                    abs_tol=1e-7 * (1 + abs(total["maximum"]))):
                    raise Differs(f"{key}: {total[key]} is not {value}")
            elif not same(total[key], value):
                raise Differs(f"{key} of column {total['column']}: {total[key]} is not {value}")


def object_names(trace, level):
    numbers = {"workload": [()], "system": [()]}
    numbers["appl"] = [(a + 1,) for a in range(len(trace.applications))]
    numbers["thread"] = [trace.path(t) for t in range(len(trace.threads))]
    numbers["task"] = [trace.path(trace.threads.index(t))[:2] for t in range(len(trace.tasks))]
    numbers["node"] = [(n + 1,) for n in range(len(trace.nodes))]
    numbers["cpu"] = [(n + 1, c + 1 - trace.cpus.index(n)) for c, n in enumerate(trace.cpus)]
    return [" ".join([level.upper()] + [".".join(map(str, n))] * bool(n)) for n in numbers[level]]


class Tester:
    def __init__(self, assay, directory, replay):
        self.assay, self.directory, self.replay = assay, directory, replay

    def evaluate(self, trace, cfgs, begin, end):
        command = [self.assay, "evaluate", self.directory / "t.prv", *cfgs, "--format", "json",
                   "--from", str(begin), "--to", str(end), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Differs(f"{done.stderr.strip()}")
        return json.loads(done.stdout)

    def check_written(self, trace, cfg, got, begin, end):
        """What --show-cfg writes of the first configuration gives the same."""
        again = self.directory / "again" / cfg.name
        again.parent.mkdir(exist_ok=True)
        again.write_text(subprocess.run([self.assay, "evaluate", "--show-cfg", cfg], text=True,
                                        capture_output=True, check=True).stdout)
        first = (got["time_lines"] + got["tables"])[0]
        second = self.evaluate(trace, [again], begin, end)
        second = (second["time_lines"] + second["tables"])[0]
        if dict(first, configuration="") != dict(second, configuration=""):
            raise Differs("written again, a configuration gives another result")

    def check_index(self, trace, cfgs, got, begin, end):
        done = subprocess.run([self.replay, self.directory / "t.prv", str(begin), str(end), *cfgs],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Differs(f"{done.stdout}{done.stderr} status {done.returncode}")
        if self.evaluate(trace, cfgs, begin, end) != got:
            raise Differs("with its index, the trace gives another result")

    def run_case(self, rng, windows, tables, is_first):
        trace = random_trace(rng)
        files.write_trace(trace, self.directory / "t.prv")
        begin, end = 0, max(trace.end, 1)
        if rng.random() < 0.2 and trace.end > 4:
            begin, end = trace.end // 4, trace.end // 4 * 3
        cfgs = []
        for i, window in enumerate(windows):
            cfgs.append(self.directory / f"w{i}.cfg")
            files.write_cfg(cfgs[-1], [window])
        for i, table in enumerate(tables):
            cfgs.append(self.directory / f"t{i}.cfg")
            used = [table["control"], table["data"]] + [table["plane"]] * bool(table.get("plane"))
            files.write_cfg(cfgs[-1], used, [table])
            table["names"] = object_names(trace, table["control"].level)
        got = self.evaluate(trace, cfgs, begin, end)
        if is_first:
            self.check_written(trace, cfgs[0], got, begin, end)
        if self.replay:
            self.check_index(trace, cfgs, got, begin, end)
        evaluator = oracle.Evaluator(trace)
        limit = min(end, trace.end)
        for window, line in zip(windows, got["time_lines"]):
            compare_line(evaluator, window, line, begin, end)
        for table, of in zip(tables, got["tables"]):
            compare_table(evaluator, table, of, begin, limit)


def random_table(rng, statistic):
    family = oracle.LEVELS[4:] if rng.random() < 0.2 else oracle.LEVELS[:4]
    table = {"statistic": statistic, "scale": random_scale(rng), "planes": random_planes(rng)}
    for name in ("control", "data", "plane"):
        window = random_window(rng) if rng.random() < 0.8 else random_derived(rng, "add")
        set_family(rng, window, family)
        table[name] = window
    if rng.random() < 0.3:
        table["data"] = table["control"]
    rank = oracle.LEVELS.index
    if rng.random() < 0.6 or rank(table["plane"].level) > rank(table["control"].level):
        table["plane"] = None
    return table


def random_scale(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return {"automatic": True, "zero": rng.random() < 0.5}
    if kind == 1:
        return {"low": rng.choice((0, 1, -2)), "high": rng.choice((3, 13, 70)), "delta": 1}
    if kind == 2:
        return {"low": 0, "high": rng.choice((5, 64, 1000)), "delta": rng.choice((2, 0.5, 13))}
    return {"low": 0, "high": rng.choice((5, 64, 1000)), "columns": rng.choice((1, 4, 7))}


def random_planes(rng):
    """Scales of planes have neither NumColumns nor a begin at 0."""
    if rng.random() < 0.5:
        return {"automatic": True}
    return {"low": 0, "high": rng.choice((5, 64)), "delta": rng.choice((1, 2, 13))}


# ---- Parts -------------------------------------------------------------------------------------


def parts():
    """(name, function of a generator that gives windows and tables)"""
    for name in THREAD_FUNCTIONS:
        yield f"thread function {name}", lambda rng, n=name: ([random_window(rng, n) for _ in
                                                               range(4)], [])
    for name in COMPOSES:
        yield f"compose {name}", lambda rng, n=name: ([random_window(rng, None, (n,)) for _ in
                                                       range(4)], [])
    for name in OPERATIONS:
        yield f"derived {name}", lambda rng, n=name: ([random_derived(rng, n) for _ in range(3)],
                                                      [])
    for name in oracle.STATISTICS + oracle.MESSAGE_STATISTICS:
        yield f"statistic {name}", lambda rng, n=name: ([], [random_table(rng, n) for _ in
                                                             range(3)])


def main():
    assay, directory = [pathlib.Path(word).resolve() for word in sys.argv[1:3]]
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    replay = pathlib.Path(sys.argv[5]).resolve() if len(sys.argv) > 5 else None
    tester, failed = Tester(assay, directory, replay), 0
    listed = list(parts())
    print(f"1..{len(listed)}")
    for number, (name, make) in enumerate(listed, 1):
        why = ""
        for seed in range(first, first + count):
            rng = random.Random(f"{name} {seed}")
            try:
                tester.run_case(rng, *make(rng), seed == first)
            except Differs as error:
                why = f"seed {seed}: {error}"
                break
        failed += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {name}")
        if why:
            print("# " + why[:3000].replace("\n", "\n# "))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
