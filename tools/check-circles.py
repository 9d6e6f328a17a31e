#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks for circles of calls among the objects of one target, and for names of two archives.

usage: check-circles.py [BUILD]            check the objects of a build directory (build)
       check-circles.py --shrink [BUILD]   drop objects that left their circle from the allow-list
       check-circles.py --create [BUILD]   write the allow-list of a tree that has none
       check-circles.py ... --list FILE    use FILE instead of tools/circles-allowed.txt

An object refers to another if it needs a symbol that the other defines. A circle is a strongly
connected component of two or more objects. In src/agent/ a name without as_ or assay_ belongs to
the C library or MPI. A wrapper stands before it, and references mean the real function.

tools/circles-allowed.txt has a line `target<TAB>object...` for each circle that is accepted. A
circle outside these lines fails; a line with objects that are in no circle fails until --shrink
removes them. A name that two static archives define fails: the linker would take one of them and
say nothing. Exit status 1 when something was printed.
"""
import collections
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 400  # objects of one call of nm


def objects_of(build):
    """Returns {target: objects} of what is built; paths are relative to the build directory."""
    commands = build / "compile_commands.json"
    if commands.exists():
        outputs = [entry.get("output", "") for entry in json.loads(commands.read_text())]
    else:
        outputs = [str(path.relative_to(build)) for path in build.rglob("*.p/*.o")]
    targets = collections.defaultdict(list)
    for output in sorted(set(outputs)):
        folder, _, _ = output.rpartition("/")
        if folder.endswith(".p") and not output.startswith("tests/") and (build / output).exists():
            targets[folder[:-2]].append(output)
    return targets


def symbols_of(build, objects):
    """Returns ({object: defined symbols}, {object: undefined symbols})."""
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    for start in range(0, len(objects), BATCH):
        listed = subprocess.run(["nm", "-A", "-P", "-g", *objects[start:start + BATCH]], cwd=build,
                                capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            name, _, rest = line.partition(": ")
            symbol, kind = rest.split()[:2]
            (needed if kind in "Uwv" else defined)[name].add(symbol)
    return defined, needed


def is_interposed(target, symbol):
    """True for a function of a library that the agent stands before: a reference means the real."""
    return target.startswith("src/agent/") and not symbol.startswith(("as_", "assay_"))


def edges_of(target, objects, defined, needed):
    """Returns {object: {other: a symbol it needs}} of the objects of one target."""
    owner = {symbol: name for name in objects for symbol in defined[name]}
    edges = {name: {} for name in objects}
    for name in objects:
        for symbol in sorted(needed[name]):
            other = owner.get(symbol, name)
            if other != name and not is_interposed(target, symbol):
                edges[name].setdefault(other, symbol)
    return edges


def circles_of(edges):
    """Returns the strongly connected components of two or more nodes (Tarjan 1972), as sets."""
    index, low, stack, on_stack, circles = {}, {}, [], set(), []

    def enter(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        on_stack.add(node)
        return node, iter(edges[node])

    for root in edges:
        path = [enter(root)] if root not in index else []
        while path:
            node, others = path[-1]
            other = next(others, None)
            if other is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == index[node]:
                    at = stack.index(node)
                    circles.append(set(stack[at:]))
                    on_stack -= circles[-1]
                    del stack[at:]
            elif other not in index:
                path.append(enter(other))
            elif other in on_stack:
                low[node] = min(low[node], index[other])
    return [circle for circle in circles if len(circle) > 1]


def source_of(name):
    """Returns the source that an object is made of, as far as its name tells."""
    return name.rpartition("/")[2].replace("meson-generated_", "").replace(".._", "")[:-2]


def twice_in(targets, defined):
    """Prints the names that several static archives define, by different sources; returns how many
    there are."""
    places = collections.defaultdict(set)
    for target, objects in targets.items():
        for name in objects if target.endswith(".a") else []:
            for symbol in defined[name]:
                places[symbol].add((target, source_of(name)))
    twice = {symbol: where for symbol, where in places.items()
             if len({source for _, source in where}) > 1}
    for symbol, where in sorted(twice.items()):
        print(f"{symbol}: is defined in " + " and in ".join(
            f"{source} of {target}" for target, source in sorted(where)) + "; rename one of them")
    return len(twice)


def found_in(build):
    """Returns ({target: circles, each {source: {source: symbol}}}, how many names are defined
    twice) of all targets with objects."""
    targets = objects_of(build)
    defined, needed = symbols_of(build, [name for names in targets.values() for name in names])
    found = {}
    for target, objects in targets.items():
        edges = edges_of(target, objects, defined, needed)
        found[target] = [{source_of(name): {source_of(other): symbol for other, symbol in
                                            edges[name].items() if other in circle}
                          for name in circle} for circle in circles_of(edges)]
    return found, twice_in(targets, defined)


def shortest(circle, start):
    """Returns the shortest circle through a node as [(from, to, symbol)]."""
    before, queue = {}, collections.deque([start])
    while queue:
        node = queue.popleft()
        for other, symbol in sorted(circle[node].items()):
            if other == start:
                steps = [(node, other, symbol)]
                while node != start:
                    steps.append((before[node][0], node, before[node][1]))
                    node = before[node][0]
                return steps[::-1]
            if other not in before:
                before[other] = (node, symbol)
                queue.append(other)
    return []


def load(path):
    """Returns (comment lines, [(target, objects)])."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return ([line for line in lines if line.startswith("#")],
            [(line.split("\t")[0], set(line.split("\t")[1].split()))
             for line in lines if line.strip() and not line.startswith("#")])


def save(path, head, circles):
    lines = sorted({f"{target}\t{' '.join(sorted(circle))}" for target, circle in circles})
    path.write_text("".join(line + "\n" for line in head + lines), encoding="utf-8")


def shrunk(circles, found):
    """Returns the allowed circles, reduced to those found within them. Targets that were not built
    keep theirs."""
    kept = []
    for target, circle in circles:
        inside = [set(other) for other in found.get(target, []) if set(other) <= circle]
        kept += [(target, other) for other in (inside if target in found else [circle])]
    return kept


def report(circles, found):
    """Prints the differences of circles found and allowed; returns how many there are."""
    differing = 0
    for target in sorted(found):
        lines = [circle for name, circle in circles if name == target]
        for circle in found[target]:
            if any(set(circle) <= line for line in lines):
                continue
            known = max(lines, key=lambda line: len(line & set(circle)), default=set())
            for source in sorted(set(circle) - known) or sorted(circle)[:1]:
                print(f"{target}: circle of calls: " + ", ".join(
                    f"{start} needs {symbol} of {end}" for start, end, symbol in shortest(
                        circle, source)) + "; move what is shared to a file of its own")
                differing += 1
    for target, circle in circles:
        if target in found and (target, circle) not in shrunk([(target, circle)], found):
            print(f"{target}: {' '.join(sorted(circle))}: this circle has become smaller: run "
                  "tools/check-circles.py --shrink")
            differing += 1
    return differing


def main(arguments):
    path, action = HERE / "circles-allowed.txt", ""
    if "--list" in arguments[:-1]:
        at = arguments.index("--list")
        path = pathlib.Path(arguments[at + 1])
        del arguments[at:at + 2]
    if arguments and arguments[0].startswith("--"):
        action = arguments.pop(0)
    build = pathlib.Path(arguments[0] if arguments else HERE.parent / "build").resolve()
    if action not in ("", "--shrink", "--create") or len(arguments) > 1:
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    found, twice_n = found_in(build) if build.is_dir() else ({}, 0)
    if not found:
        print(f"{build}: no objects; build first: ./dev build", file=sys.stderr)
        return 1
    head, circles = load(path)
    if action == "--create" and path.exists():
        print(f"{path}: exists already; use --shrink to reduce its circles", file=sys.stderr)
        return 1
    if action == "--create":
        save(path, ["# Circles of calls that tools/check-circles.py accepts: a target and its "
                    "objects. Circles only shrink:", "# run tools/check-circles.py --shrink after "
                    "one was cut."],
             [(target, set(circle)) for target in found for circle in found[target]])
    elif action == "--shrink":
        save(path, head, shrunk(circles, found))
    else:
        if report(circles, found) + twice_n:
            return 1
        print(f"circles: {len(found)} targets checked, {sum(map(len, found.values()))} circles "
              "allowed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
