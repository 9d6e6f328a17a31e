#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes of the tables of wrapped routines what a filter may leave out by itself, and what not
(src/trace/filter_known.c).

usage: gen-filter-table.py data/trace/mpi.txt data/trace/io.txt OUT
"""
import pathlib
import re
import sys

# By the first word of a role, as the heads of the tables explain them.
ALWAYS = {"newcomm", "freecomm", "namecomm", "init", "newwin", "fork", "exec"}
MESSAGE = {"send", "isend", "recv", "irecv", "mrecv", "imrecv", "message", "wait", "start",
           "cancel", "free"}
PLACE = {"open", "fopen", "close", "fclose"}


def mpi_class(name, roles):
    verbs = [role.split()[0] for role in roles.split(";") if role.strip() not in ("", "-")]
    first = {verb.split("+")[0] for verb in verbs}
    if first & ALWAYS or name == "MPI_Finalize":
        return "ALWAYS"
    if first & MESSAGE:
        # It may find nothing, and then says nothing of a message.
        polls = any(verb in ("wait+flag", "wait+some") for verb in verbs) or \
            "probe" in first and "MPI_I" in name
        return "TEST" if polls else "MESSAGE"
    makes = "request" in first or any(re.match(r"\s*coll\S* (?!- )", role)
                                      for role in roles.split(";"))
    return "REQUEST" if makes else None


def io_class(group, role):
    verb = role.split()[0]
    if verb in ALWAYS:
        return "ALWAYS"
    return "PLACE" if verb in PLACE else "TRANSFER" if group == "io" else None


def rows_of(path, pattern):
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            found = re.match(pattern, line)
            if not found:
                sys.exit(f"gen-filter-table: {path}: '{line}' is not understood")
            yield found.groups()


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    out = ["/* Made by tools/gen-filter-table.py. */"]
    for roles, name in rows_of(sys.argv[1], r"\S+ \| (.*) \| (MPI_\w+)\("):
        kind = mpi_class(name, roles)
        out += [f'{{"{name}", AS_FILTERED_{kind}}},'] if kind else []
    for group, role, name in rows_of(sys.argv[2], r"(\w+) \| (.+?) \| (\w+)\("):
        kind = io_class(group, role)
        out += [f'{{"{name}", AS_FILTERED_{kind}}},'] if kind else []
    pathlib.Path(sys.argv[3]).write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
