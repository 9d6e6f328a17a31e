#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tables of cores (data/uarch/*.tsv): each for itself, and against the others.

usage: check-uarch.py DIRECTORY [EXCEPTIONS]

The cells of a table must agree. An assist or another effect of the measurement makes a cell without
a similar neighbour. EXCEPTIONS (tools/uarch-exceptions.txt) names the cells that are right all the
same: `core form reason`, separated by tabs; the core `*` means all cores. An unnecessary exception
is an error.
"""
import pathlib
import statistics
import sys

LOCKED_SPREAD = 1.3  # most to least of locked operations of one width
OTHER_CORES = 10  # times the median of other cores
OTHERS_LEAST = 2  # cores, or nothing is compared
WORTH_CYCLES = 10  # below nothing is compared
OVER_LATENCY = 4
FENCE_CYCLES = 5  # a full fence empties the store queue


class Table:
    """One file: lines of its own, what it takes over from another, and cycles."""

    def __init__(self, path):
        self.name = path.stem
        self.like = None
        self.set = {}
        self.group = {}
        self.form = {}
        self.errors = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            cell = line.split("\t")
            if cell[0] == "like":
                self.like = cell[1]
            elif cell[0] == "set":
                self.set[cell[1]] = float(cell[2]) if cell[2] != "-" else 0.0
            elif cell[0] == "group":
                self.group[cell[1]] = len(cell[2].split())
            elif cell[0] == "form":
                if cell[1] in self.form:
                    self.errors.append(f"{path}:{number}: '{cell[1]}' stands there twice")
                self.form[cell[1]] = cell[2:]

    def inherit(self, tables):
        base = tables.get(self.like)
        while base:
            for mine, its in ((self.set, base.set), (self.group, base.group)):
                for name, value in its.items():
                    mine.setdefault(name, value)
            base = tables.get(base.like)

    def cycles(self, form):
        """Between two that do not wait for each other."""
        slots, uses = float(self.form[form][0]), self.form[form][1]
        cycles = slots / self.set.get("dispatch_width", 4)
        for use in uses.split():
            if ":" not in use:
                continue
            name, n = use.split(":")
            n = float(n.split("-")[0])
            cycles = max(cycles, n if name == "own" else n / self.group.get(name, 1))
        return cycles

    def latency(self, form):
        word = self.form[form][2].split()[0]
        try:
            return float(word.split("-")[0])
        except ValueError:
            return None


def width(form):
    operands = form.split()[2].split(",")[0] if len(form.split()) > 2 else ""
    return operands.lstrip("m")


def locked(table):
    by_width = {}
    for form in table.form:
        if form.startswith("lock ") and not form.startswith(("lock cmpxchg16b", "lock cmpxchg8b")):
            by_width.setdefault(width(form), []).append((table.cycles(form), form))
    for forms in by_width.values():
        low, high = min(forms), max(forms)
        if high[0] > LOCKED_SPREAD * low[0]:
            yield high[1], f"{high[0]:g} cycles, but '{low[1]}' takes {low[0]:g}"
    for form in table.form:
        if form.startswith("lock ") and form[5:] in table.form:
            plain = table.cycles(form[5:])
            if table.cycles(form) < plain:
                cycles = table.cycles(form)
                yield form, f"{cycles:g} cycles, fewer than without the lock ({plain:g})"


def fences(table):
    if "mfence" in table.form and table.cycles("mfence") < FENCE_CYCLES:
        yield "mfence", f"{table.cycles('mfence'):g} cycles: a full fence waits for all stores"


def over_latency(table):
    for form, cell in table.form.items():
        latency, flags = table.latency(form), cell[3]
        if not latency or "estimated" in flags or form.startswith("lock "):
            continue
        cycles = table.cycles(form)
        if cycles > OVER_LATENCY * latency and cycles >= WORTH_CYCLES:
            yield form, f"{cycles:g} cycles each, and a latency of {latency:g}"


def neighbours(table, tables):
    for form in table.form:
        cycles = table.cycles(form)
        others = [t.cycles(form) for t in tables.values() if t is not table and form in t.form]
        if cycles < WORTH_CYCLES or len(others) < OTHERS_LEAST:
            continue
        median = statistics.median(others)
        if cycles > OTHER_CORES * median:
            yield form, f"{cycles:g} cycles, on other cores {median:g}"


def read_exceptions(path):
    exceptions = {}
    if path:
        for line in pathlib.Path(path).read_text().splitlines():
            if line and not line.startswith("#"):
                core, form, _reason = line.split("\t")
                exceptions[core, form] = False
    return exceptions


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    tables = {p.stem: Table(p) for p in sorted(pathlib.Path(sys.argv[1]).glob("*.tsv"))}
    exceptions = read_exceptions(sys.argv[2] if len(sys.argv) > 2 else None)
    bad = [error for table in tables.values() for error in table.errors]
    for table in tables.values():
        table.inherit(tables)
    for table in tables.values():
        checks = (locked(table), fences(table), over_latency(table), neighbours(table, tables))
        for form, why in (found for check in checks for found in check):
            for key in ((table.name, form), ("*", form)):
                if key in exceptions:
                    exceptions[key] = True
                    break
            else:
                bad.append(f"{table.name}: {form}: {why}; correct the cell, or name the reason in "
                           "tools/uarch-exceptions.txt")
    bad += [f"{core}: {form}: an exception that is not needed; remove it"
            for (core, form), used in exceptions.items() if not used]
    for line in bad:
        print(line)
    forms = sum(len(table.form) for table in tables.values())
    print(f"uarch: {forms} forms of {len(tables)} tables checked")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
