#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes wrappers of routines of OpenCL from their table. The head of data/trace/opencl.txt explains
the table.

usage: gen-opencl-wrappers.py TABLE OUT
"""
import collections
import pathlib
import re
import sys

Routine = collections.namedtuple("Routine", "index name role declared arguments result")

LINE = re.compile(r"(\d+) \| (\S[^|]*?) \| (\w+)\((.*)\) -> (.+)$")
ROLES = ("kernel", "work", "copy", "marker", "wait", "size", "call", "own")


def read_table(path):
    rows = []
    for n, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = LINE.match(line)
        if not found or found[2].split()[0] not in ROLES:
            sys.exit(f"gen-opencl-wrappers: {path}:{n}: not INDEX | ROLE | PROTOTYPE -> RESULT; "
                     "see the head of the table")
        arguments = [re.search(r"\w+$", piece)[0] for piece in found[4].split(",")]
        rows.append(Routine(int(found[1]), found[3], found[2].split(), found[4], arguments,
                            found[5].strip()))
    return rows


def work_of(role):
    """Returns the work that the call enqueues, as members of struct as_opencl_work, or None."""
    kind, rest = role[0], role[1:]
    if kind == "kernel":
        return f".kernel = {rest[0]}"
    if kind == "copy":
        way = "" if rest[0] == "WITHIN" else f", .bits = AS_TRACE_{rest[0]}"
        blocking = "" if rest[2] == "-" else f", .blocks = {rest[2]} != 0"
        return f".bytes = {rest[1]}{way}{blocking}"
    return {"work": ".bytes = 0", "marker": ".bytes = 0"}.get(kind)


def wrapper(r, number):
    work = work_of(r.role)
    names = ["as_opencl_event(&call, event)" if work and name == "event" else name
             for name in r.arguments]
    plain = ", ".join(r.arguments)
    real = f"(({r.name}_type *)as_opencl_target[{r.index}])"
    is_void = r.result == "void"
    keep = "" if is_void else f"{r.result} const result = "
    out = [f"static {r.result} wrap_{r.name}({r.declared})", "{", "    struct as_opencl_call call;",
           f"    if (!as_opencl_enter(&call, {number}, AS_CALLED))",
           f"        {'' if is_void else 'return '}{real}({plain});"]
    if is_void:
        out[-2:] = [f"    if (!as_opencl_enter(&call, {number}, AS_CALLED)) {{",
                    f"        {real}({plain});", "        return;", "    }"]
    out += [f"    {keep}{real}({', '.join(names)});", "    as_opencl_stamp(&call);"]
    fits = "result == 0" if r.result == "int32_t" else "result"
    if work:
        out += [f"    if ({fits})",
                f"        as_opencl_enqueued(&call, queue, &(struct as_opencl_work){{{work}}});"]
    elif r.role == ["wait", "queue"]:
        out += ["    as_opencl_waited(&call, queue);"]
    elif r.role == ["wait", "events"]:
        out += ["    as_opencl_waited_events(&call, num_events, event_list);"]
    elif r.role == ["call", "queue"]:
        out += ["    as_opencl_used(&call, queue, 0);"]
    elif r.role[0] == "size":
        out += [f"    if ({fits})", f"        as_opencl_used(&call, NULL, {r.role[1]});"]
    out += ["    as_opencl_leave(&call);"] + ([] if is_void else ["    return result;"])
    return "\n".join(out + ["}"])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = read_table(sys.argv[1])
    out = ["/* Made by tools/gen-opencl-wrappers.py. */", "#ifdef AS_OPENCL_TYPES"]
    out += [f"typedef {r.result} {r.name}_type({r.declared});" for r in rows]
    out += ["enum as_opencl_index {"] + [f"    AS_OPENCL_{r.name} = {r.index}," for r in rows]
    out += ["};", "enum as_opencl_routine {"] + [f"    AS_OPENCL_OF_{r.name}," for r in rows]
    out += ["    AS_OPENCL_ROUTINES_N", "};"]
    out += [f"{r.name}_type as_opencl_{r.name};" for r in rows if r.role == ["own"]]
    out += ["#endif", "#ifdef AS_OPENCL_NAMES"]
    out += ["static const char *const routine_names[] = {"] + [f'    "{r.name}",' for r in rows]
    out += ["};", "#endif", "#ifdef AS_OPENCL_WRAPPERS"]
    out += [wrapper(r, n) for n, r in enumerate(rows) if r.role != ["own"]]
    out += ["static void fill_table(void **table)", "{"]
    out += [f"    table[{r.index}] = (void *)"
            f"{'as_opencl' if r.role == ['own'] else 'wrap'}_{r.name};" for r in rows]
    out += ["}", "#endif"]
    pathlib.Path(sys.argv[2]).write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
