#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`assay edit` against the plain editor: edits.py ASSAY DIRECTORY [FIRST [COUNT]]

Random small traces, and random edits of each kind and of all together. The files are compared byte
by byte; only the date in the line about a cut is taken out. Written in TAP.
"""
import pathlib
import random
import re
import shutil
import subprocess
import sys

import editor

LABELS = {50000001: {0, 1, 2}, 50100001: set()}
STATES = {0: "Idle", 1: "Running", 3: "Waiting a message", 13: "Group Communication"}
PCF = "\n".join(["STATES"] + [f"{n} {name}" for n, name in STATES.items()] +
                ["", "EVENT_TYPE", "0 50000001 Call", "VALUES", "0 End", "1 Send", "2 Receive", "",
                 "EVENT_TYPE", "0 50100001 Size", ""])
TYPES = (50000001, 50000001, 50100001, 60000019, 42000050)


# ---- Traces ------------------------------------------------------------------------------------


def random_trace(rng):
    tasks = [[rng.randint(1, 2) for _ in range(rng.randint(1, 3))]
             for _ in range(rng.randint(1, 2))]
    span = rng.choice((40, 1000))
    unit = rng.choice(("_ns", "_ns", "_us", ""))
    places = [(a, t, i) for a, part in enumerate(tasks, 1) for t, n in enumerate(part, 1)
              for i in range(1, n + 1)]
    lines = []
    for place in places:
        time = rng.choice((0, rng.randint(0, span)))
        for _ in range(rng.choice((0, 3, 12))):
            end = min(span, time + rng.choice((0, 1, rng.randint(0, span // 3))))
            name = f"1:{rng.randint(0, 2)}:{':'.join(map(str, place))}"
            shown = -1 if rng.random() < 0.04 else end
            lines.append((time, f"{name}:{time}:{shown}:{rng.choice((0, 1, 1, 3, 13))}"))
            time = end + rng.choice((0, 0, rng.randint(0, span // 8)))
            if time > span:
                break
    for _ in range(rng.choice((0, 5, 40))):
        time, place = rng.randint(0, span), rng.choice(places)
        pairs = ":".join(f"{rng.choice(TYPES)}:{rng.choice((0, 0, 1, 2, 5, -7))}"
                         for _ in range(rng.choice((1, 1, 2, 3))))
        lines.append((time, f"2:{rng.randint(0, 2)}:{':'.join(map(str, place))}:{time}:{pairs}"))
    for _ in range(rng.choice((0, 4, 15))):
        send = rng.randint(0, span)
        times = [send, min(span, send + rng.randint(0, 3)), rng.randint(send, span),
                 rng.randint(send, span)]
        a, b = ([rng.randint(0, 2), *rng.choice(places)] for _ in range(2))
        fields = [3, *a, *times[:2], *b, *times[2:], rng.choice((0, 64, 4096)), rng.randint(0, 3)]
        lines.append((send, ":".join(map(str, fields))))
    lines.sort(key=lambda line: line[0])
    applications = ":".join(f"{len(part)}({','.join(f'{n}:1' for n in part)})" for part in tasks)
    end = span + rng.choice((0, 7))
    head = [f"#Paraver (01/01/2026 at 00:00):{end}{unit}:1(2):{len(tasks)}:{applications},1",
            "c:1:1:1:1", "# a comment of the head"]
    return "\n".join(head + [line for _, line in lines]) + "\n"


# ---- Edits: words of the option, and what the plain editor does --------------------------------


def times(trace, *values):
    """Times of the file as words: nanoseconds, or microseconds with their unit."""
    return [f"{v}us" if trace.unit == 1000 else str(v) for v in values]


def random_cut(rng, trace, path):
    begin = rng.randint(0, trace.end)
    end = rng.randint(begin + 1, trace.end + 20)
    words = ["FROM:TO"]
    keys = {"keep-times": "keep_times", "whole-states": "whole",
            "drop-first-states": "drop_first", "drop-last-states": "drop_last",
            "border-events": "border"}
    flags = {name: rng.random() < 0.3 for name in keys.values()}
    words[0] = ":".join(times(trace, begin, end))
    if rng.random() < 0.2 and trace.unit == 1:
        low, high = sorted(rng.sample(range(0, 101), 2))
        begin, end = trace.end * low // 100, trace.end * high // 100
        words[0] = f"{low}%:{high}%"
        if float(trace.end) / 100 * low != trace.end * low / 100 or end <= begin:
            words[0] = ":".join(times(trace, begin, max(end, begin + 1)))
            end = max(end, begin + 1)
    words += [word for word, name in keys.items() if flags[name]]
    tasks = None
    if rng.random() < 0.3:
        tasks = rng.choice(({1}, {2, 3}, {1, 3}))
        words.append("tasks=" + {1: "1", 2: "2-3"}.get(min(tasks), "") if tasks != {1, 3}
                     else "tasks=1,3")
    what = editor.Cut(begin, end, tasks, **flags)
    return words, lambda: editor.cut(trace, what, LABELS, path)


def random_types(rng):
    types = []
    for _ in range(rng.randint(1, 2)):
        kind = rng.choice(TYPES)
        if rng.random() < 0.3:
            types.append((kind, kind + 100000, None))
        else:
            types.append((kind, kind, rng.choice((None, None, {1}, {2, 5}, {0, -7}))))
    words = []
    for first, last, values in types:
        name = str(first) if first == last else f"{first}-{last}"
        words.append(name + (":" + ",".join(map(str, sorted(values))) if values else ""))
    has_values = any(values for _, _, values in types)
    return types, (";" if has_values or rng.random() < 0.5 else ",").join(words)


def random_filter(rng, trace, _):
    words, what = [], {}
    if rng.random() < 0.5:
        what["states"] = set(rng.sample(sorted(STATES), rng.randint(1, 2)))
        words.append("states=" + ",".join(rng.choice((str(n), STATES[n]))
                                          for n in sorted(what["states"])))
    elif rng.random() < 0.3:
        what["states"] = set()
        words.append("states=none")
    if rng.random() < 0.4:
        what["min_state"] = rng.randint(1, 30) * trace.unit
        words.append(f"min-state={what['min_state']}")
    if rng.random() < 0.3:
        what["messages"] = False
        words.append("messages=none")
    if rng.random() < 0.3:
        what["min_size"] = 64
        words.append("min-size=64")
    if rng.random() < 0.2:
        what["events"] = False
        words.append("events=none")
    elif rng.random() < 0.7:
        what["types"], text = random_types(rng)
        what["discard"] = rng.random() < 0.5
        words.append(("no-events=" if what["discard"] else "events=") + text)
    return words or ["min-size=0"], lambda: editor.choose(trace, **what)


def random_translation(rng, trace, _):
    pairs, types, words = {}, {}, []
    for kind in rng.sample(sorted(set(TYPES)), 2):
        if rng.random() < 0.5:
            types[kind] = rng.choice((77, 60000119))
            words.append(f"{kind}={types[kind]}")
        else:
            pairs[kind, 1] = (kind, rng.choice((11, -3)))
            pairs[kind, 2] = (rng.choice((88, kind)), 1)
            words += [f"{kind}:{n}={':'.join(map(str, pairs[kind, n]))}" for n in (1, 2)]
    return words, lambda: editor.translate(trace, pairs, types)


def random_counters(rng, trace, _):
    what, words = {}, []
    if rng.random() < 0.8:
        what["count"], text = random_types(rng)
        words.append("count=" + text)
        if rng.random() < 0.5:
            what["total"], text = random_types(rng)
            words.append("sum=" + text)
    if rng.random() < 0.5:
        what["keep"], text = random_types(rng)
        words.append("keep=" + text)
    if rng.random() < 0.3:
        what["each"] = True
        words.append("each-value")
    if rng.random() < 0.4:
        shortest = rng.choice((0, 1, 10)) * trace.unit
        words.append(f"bursts={shortest}")
        return words, lambda: editor.count_bursts(trace, shortest, **what)
    every = rng.choice((1, 3, 10, 100))
    words.append("every=" + times(trace, every)[0])
    for name, word in (("no_states", "no-states"), ("running", "sum-running"),
                       ("in_bursts", "in-bursts")):
        if rng.random() < 0.3:
            what[name] = True
            words.append(word)
    return words, lambda: editor.count_intervals(trace, every, **what)


def random_shift(rng, trace, path):
    by, words = {}, []

    def add(places, amount):
        for place in places:
            by[place] = by.get(place, 0) + amount
    add(trace.threads, 9)
    words.append("all=" + times(trace, 9)[0])
    for _ in range(2):
        n = rng.randint(1, 3)
        prefix = rng.choice(trace.threads)[:n]
        amount = rng.randint(-4, 30)
        add([p for p in trace.threads if p[:n] == prefix], amount)
        words.append(f"{'.'.join(map(str, prefix))}={times(trace, amount)[0]}")
    if rng.random() < 0.4:
        file = pathlib.Path(path).with_suffix(".times")
        amounts = [rng.randint(0, 5) for _ in trace.threads]
        file.write_text("# by thread\n" + "".join(t + "\n" for t in times(trace, *amounts)))
        for place, amount in zip(trace.threads, amounts):
            add([place], amount)
        words.append(f"threads={file}")
    return words, lambda: editor.shift(trace, by)


KINDS = (("shift", random_shift), ("cut", random_cut), ("translate", random_translation),
         ("filter", random_filter), ("counters", random_counters))


# ---- Comparing ---------------------------------------------------------------------------------


def run_case(assay, directory, rng, kinds):
    path, out = directory / "t.prv", directory / "out.prv"
    text = random_trace(rng)
    path.write_text(text)
    (directory / "t.pcf").write_text(PCF)
    trace = editor.Trace(text)
    command = [assay, "edit", path, "-o", out, "--force", "-q"]
    for name, make in kinds:
        words, edit = make(rng, trace, str(path))
        command += [part for word in words for part in ("--" + name, word)]
        edit()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{' '.join(map(str, command))}: {done.stderr}"
    got = re.sub(r"^#\d{14}:CUTTER", "#DATE:CUTTER", out.read_text(), flags=re.M)
    wanted = trace.text()
    if got == wanted:
        return ""
    return f"{' '.join(map(str, command[2:]))}\n{got}\nis not\n{wanted}"


def main():
    assay, directory = [pathlib.Path(word).resolve() for word in sys.argv[1:3]]
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 25
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    parts = [("nothing", ())] + [(name, ((name, make),)) for name, make in KINDS]
    parts += [("all together", KINDS), ("cut and counters", (KINDS[1], KINDS[4]))]
    failed = 0
    print(f"1..{len(parts)}")
    for number, (name, kinds) in enumerate(parts, 1):
        why = ""
        for seed in range(first, first + count):
            rng = random.Random(f"{name} {seed}")
            why = run_case(assay, directory, rng, kinds)
            if why:
                why = f"seed {seed}: {why}"
                break
        failed += bool(why)
        print(f"{'not ok' if why else 'ok'} {number} - {name}")
        if why:
            print("# " + why[:6000].replace("\n", "\n# "))
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
