#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates wrappers of routines of input, output and processes from data/trace/io.txt. The head of
that table explains its columns.

usage: gen-io-wrappers.py TABLE OUT
"""
import collections
import pathlib
import re
import sys

Routine = collections.namedtuple("Routine", "number name group role by arguments spare result")
Argument = collections.namedtuple("Argument", "name text")

GROUPS = {"io": "FILES", "process": "PROCESS"}
LINE = re.compile(r"(\w+) \| (.+?)(?: by (\w+))? \| (\w+)\((.*)\) -> (.+)$")


def read_argument(text):
    return Argument(re.search(r"\w+$", text)[0], text)


def read_arguments(text):
    """Those that are declared, and one that may follow '...' (None: there is no '...')."""
    if text == "void":
        return [], None
    pieces = [piece.strip() for piece in text.split(",")]
    last = pieces[-1] if pieces[-1].startswith("...") else None
    arguments = [read_argument(piece) for piece in pieces[:-1 if last else None]]
    return arguments, last[3:].strip() if last else None


def read_table(path):
    rows = []
    for n, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        found = LINE.match(line)
        if not found or found[1] not in GROUPS:
            sys.exit(f"gen-io-wrappers: {path}:{n}: is no GROUP | ROLE | PROTOTYPE -> RESULT")
        arguments, spare = read_arguments(found[5])
        rows.append(Routine(len(rows), found[4], found[1], found[2].strip(), found[3], arguments,
                            spare, found[6].strip()))
    return rows


def lines_of_role(role):
    """Returns the lines before the call and the lines after it, which record the result."""
    verb, _, rest = role.partition(" ")
    way = "AS_TRACE_IS_READ" if verb.startswith("read") else "AS_TRACE_IS_WRITTEN"
    if verb in ("read", "written"):
        fd, offset = rest.split()
        offset = "-1" if offset == "-" else offset
        return [], [f"emit_io_bytes(&call, {fd}, (int64_t)result, {offset}, {way});"]
    if verb in ("read-stream", "written-stream"):
        stream, _, size = rest.partition(" ")
        return [], [f"emit_io_bytes(&call, fd_of({stream}), (int64_t)({size}), -1, {way});"]
    if verb == "open":
        return [], [f"emit_file_open(&call, result, {rest});"]
    if verb == "fopen":
        return [], [f"emit_file_open(&call, fd_of(result), {rest});"]
    if verb == "close":
        return [], [f"emit_file_close(&call, {rest}, result);"]
    if verb == "fclose":
        return [f"const int fd = fd_of({rest});"], ["emit_file_close(&call, fd, result);"]
    if verb == "fork":
        return [], ["if (result == 0)", "    return result; /* the child is not in the call */",
                    "emit_fork(&call, result);"]
    if verb == "exec":
        return [f"emit_exec(&call, {rest});"], []
    if verb == "-":
        return [], []
    sys.exit(f"gen-io-wrappers: '{role}' is no role")


def wrapper(r, number_of):
    declared = ", ".join([a.text for a in r.arguments]) or "void"
    names = [a.name for a in r.arguments]
    kind, given, real = f"{r.result} (*)({declared})", declared, r.number
    end = []
    if r.spare == "":  # a list of arguments
        kind = f"{r.result} (*)({declared}, va_list)"
        given += ", ..."
        end = ["va_end(list);"]
        names.append("list")
        real = number_of[r.by]
    elif r.spare:
        kind = f"{r.result} (*)({declared}, ...)"
        given += f", {r.spare}"
        names.append(read_argument(r.spare).name)
    # The compiler has names of its own for these, and headers may have turned them.
    out = [f"AS_IO_API {r.result} wrap_{r.name}({given}) __asm__(\"{r.name}\");",
           f"AS_IO_API {r.result} wrap_{r.name}({given})", "{"]
    if end:
        out += ["    va_list list;", f"    va_start(list, {r.arguments[-1].name});"]
    call = f"(({kind})real_of({real}))({', '.join(names)})"
    before, after = lines_of_role(r.role)
    is_void = r.result == "void"
    keep = "" if is_void else f"{r.result} const result = "
    back = "return;" if is_void else "return result;"
    out += ["    struct as_io_call call;", f"    if (!enter_io(&call, {r.number})) {{"]
    out += [f"        {keep}{call};"] + [f"        {line}" for line in end] + [f"        {back}"]
    out += ["    }"] + [f"    {line}" for line in before] + [f"    {keep}{call};"]
    out += ["    stamp_io(&call);"] + [f"    {line}" for line in end + after]
    out += [f"    leave_io(&call, {r.number});"]
    out += [] if is_void else [f"    {back}"]
    return "\n".join(out + ["}"])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = read_table(sys.argv[1])
    number_of = {r.name: r.number for r in rows}
    # Called by wrappers alone.
    others = [r.by for r in rows if r.by and r.by not in number_of]
    number_of.update((name, len(rows) + n) for n, name in enumerate(others))
    out = ["/* Made by tools/gen-io-wrappers.py. */",
           "static const struct io_routine routine[] = {"]
    out += [f'    {{"{r.name}", AS_TRACE_OF_{GROUPS[r.group]}}},' for r in rows]
    out += [f'    {{"{name}", AS_TRACE_OF_FILES}},' for name in others] + ["};"]
    out += ["#define ROUTINES_N (sizeof routine / sizeof *routine)"]
    text = "#ifndef AS_IO_WRAPPERS\n" + "\n".join(out) + "\n#else\n"
    text += "\n\n".join(wrapper(r, number_of) for r in rows) + "\n#endif\n"
    pathlib.Path(sys.argv[2]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
