#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes go down the floors of tools/floors.txt and form no circle.

usage: check-includes.py ROOT

Prints every upward edge, every circle between rooms or between files, every room that has no floor
and every use of a library outside the room that owns it. Exit status 1 when it printed anything.
"""
import collections
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# Only these rooms may see the headers of these libraries.
OWNERS = {"Zydis/": {"isa"}, "Zycore/": {"isa"}, "elfutils/": {"object"}, "libelf.h": {"object"},
          "gelf.h": {"object"}, "dwarf.h": {"object"}, "sqlite3.h": {"experiment"},
          "perfmon/": {"sample"}, "xlsxwriter": {"report"}, "hwloc": {"machine"}}


def read_floors(root):
    floors = {}
    for line in (root / "tools/floors.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            floors.update((room, int(words[0])) for room in words[1:])
    return floors


def room_of(path):
    """Room of a path relative to the root, or None outside the house (tests, tools)."""
    parts = path.parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == "cli":
        return "cli"
    if parts[:2] == ("include", "assay"):
        return path.stem
    return None


def resolve(root, source, quote, name):
    """The included file relative to the root, or None when it is not ours."""
    places = [root / "src", root / "include", root]
    if quote == '"':
        places.insert(0, (root / source).parent)
    for place in places:
        found = place / name
        if found.is_file():
            return found.resolve().relative_to(root)
    return None


def circles(edges):
    """Yields one path for every circle found by depth-first search."""
    state, stack = {}, []

    def visit(node):
        state[node] = "open"
        stack.append(node)
        for target in sorted(edges.get(node, ())):
            if state.get(target) == "open":
                yield stack[stack.index(target):] + [target]
            elif target not in state:
                yield from visit(target)
        stack.pop()
        state[node] = "done"

    for node in sorted(edges):
        if node not in state:
            yield from visit(node)


def edges_of(root, source):
    """Yields (line number, header as written, target or None) of every include of a file."""
    for number, line in enumerate((root / source).read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(2), resolve(root, source, *match.groups())


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    floors = read_floors(root)
    rooms, files = collections.defaultdict(set), collections.defaultdict(set)
    faults = []
    sources = [path.relative_to(root) for top in ("src", "cli", "include")
               for path in sorted((root / top).rglob("*.[ch]"))]
    for source in sources:
        room = room_of(source)
        if room not in floors:
            faults.append(f"{source}: room '{room}' has no floor in tools/floors.txt")
            continue
        for number, header, target in edges_of(root, source):
            for library, owners in OWNERS.items():
                if header.startswith(library) and room not in owners:
                    faults.append(f"{source}:{number}: only {', '.join(owners)}/ may see {library}")
            target_room = room_of(target) if target else None
            if target_room is None:
                continue
            files[str(source)].add(str(target))
            if target_room == room:
                continue
            rooms[room].add(target_room)
            if floors.get(target_room, 99) > floors[room]:
                faults.append(f"{source}:{number}: {room} (floor {floors[room]}) includes "
                              f"{target} (floor {floors.get(target_room)}): an upward edge")
    for graph, what in ((rooms, "rooms"), (files, "files")):
        faults += [f"circle of {what}: {' -> '.join(path)}" for path in circles(graph)]
    print("\n".join(faults) if faults else f"includes: {len(sources)} files, all go down")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
