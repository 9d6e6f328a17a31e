#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes go down the floors of tools/floors.txt and form no circle.

usage: check-includes.py ROOT

Prints every upward edge and every circle between rooms or between files. Prints every room without
a floor, and every floor entry without a room. Prints every use of a library outside its room.
A room that runs in more than one address space has a rule for each folder (tools/folders.txt).
Prints each include and each call that a rule forbids, also an include behind another. Exit status 1
when it printed anything.
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

# Rules of folders: headers of the system that they may not reach, and functions that they may not
# call. base/alloc.h is the door to the heap, base/error.h and base/out.h are for processes of ours.
HEAP_AND_STDIO = {"stdio.h", "wchar.h", "locale.h", "malloc.h", "base/alloc.h", "base/error.h",
                  "base/out.h", "base/vec.h"}
CALLS_OF_HEAP = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|strdup|strndup|free|"
                           r"asprintf|v?f?printf|v?sn?printf|fopen|fclose|fputs|fwrite|puts|perror|"
                           r"setlocale|opendir|qsort)\s*\(")
PLAIN_TYPES = {"limits.h", "stdatomic.h", "stdbool.h", "stddef.h", "stdint.h"}
RULES = {"layout": None, "quiet": HEAP_AND_STDIO, "bare": HEAP_AND_STDIO,
         "wrapper": HEAP_AND_STDIO - {"stdio.h"}, "host": set(), "program": HEAP_AND_STDIO}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.S)


def read_floors(root):
    floors = {}
    for line in (root / "tools/floors.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if words:
            floors.update((room, int(words[0])) for room in words[1:])
    return floors


def faults_of_floors(root, floors):
    """Yields a fault of each room of a floor that has no folder."""
    for room in floors:
        places = (root / "src" / room, root / room, root / "include" / room)
        if not any(place.exists() for place in places):
            yield f"tools/floors.txt: room '{room}' does not exist; remove it"


def room_of(path):
    """Room of a path relative to the root, or None outside the house (tests, tools)."""
    parts = path.parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == "cli":
        return "cli"
    if parts[0] == "include":
        return parts[1]
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


def read_folders(root):
    """Returns {folder: (rule, folders that it may include)} of tools/folders.txt."""
    path, folders = root / "tools/folders.txt", {}
    for line in path.read_text().splitlines() if path.exists() else []:
        words = line.split("#")[0].split()
        if words:
            room = "/".join(words[0].split("/")[:2])
            folders[words[0]] = (words[1], {words[0]} | {f"{room}/{sees}" for sees in words[2:]})
    return folders


def reached(root, source, seen):
    """Yields (header as written, target or None) of a file's includes and of those behind them."""
    for _, header, target in edges_of(root, source):
        if (header, target) not in seen:
            seen.add((header, target))
            yield header, target
            if target is not None:
                yield from reached(root, target, seen)


def faults_of_calls(root, source):
    """Yields a fault of each call of the heap or of stdio; wrappers may name what they wrap."""
    text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), (root / source).read_text())
    for match in CALLS_OF_HEAP.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        yield f"{source}:{number}: {match.group(1)}: no heap and no stdio inside a program"


def faults_of_folder(root, source, folders):
    """Yields what a file includes or calls against the rule of its folder. Other rooms have no
    rule; they may include layouts and the host side."""
    own = source.parent.as_posix()
    rule, sees = folders.get(own, (None, None))
    cut_rooms = {"/".join(folder.split("/")[:2]) for folder in folders}
    if rule is None and "/".join(source.parts[:2]) in cut_rooms:
        yield f"{source}: folder {own} has no rule in tools/folders.txt"
        return
    for number, header, target in edges_of(root, source):
        folder = target.parent.as_posix() if target else ""
        if rule and folder in folders and folder not in sees:
            yield f"{source}:{number}: {own} may not include {folder} (tools/folders.txt)"
        elif rule is None and folder in folders and folders[folder][0] not in ("layout", "host"):
            yield f"{source}:{number}: includes {target}, which runs in another address space"
        elif rule == "layout" and folder not in folders and header not in PLAIN_TYPES:
            yield f"{source}:{number}: a layout may not include {header}"
    if rule in (None, "host"):
        return
    for header, target in reached(root, source, set()):
        if RULES[rule] and (header in RULES[rule]
                            or target and target.as_posix().removeprefix("src/") in RULES[rule]):
            yield f"{source}: reaches {header}, which the rule {rule} of {own} forbids"
    if rule != "wrapper":
        yield from faults_of_calls(root, source)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    floors, folders = read_floors(root), read_folders(root)
    for folder, (rule, sees) in folders.items():
        for name in {folder} | sees:
            if rule not in RULES or not (root / name).is_dir():
                print(f"tools/folders.txt: {folder}: no rule {rule}, or no folder {name}")
                return 1
    rooms, files = collections.defaultdict(set), collections.defaultdict(set)
    faults = list(faults_of_floors(root, floors))
    sources = [path.relative_to(root) for top in ("src", "cli", "include")
               for path in sorted((root / top).rglob("*.[ch]"))]
    for source in sources:
        room = room_of(source)
        if room not in floors:
            faults.append(f"{source}: room '{room}' has no floor in tools/floors.txt")
            continue
        faults += faults_of_folder(root, source, folders)
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
