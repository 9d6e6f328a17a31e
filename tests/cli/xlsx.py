#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a workbook with the data of its report and with SQL: xlsx.py ASSAY EXPERIMENT

Reads the XML of EXPERIMENT/report.xlsx. Compares every cell with EXPERIMENT/report.json of the same
run. Compares columns of SQL views with the output of `assay query`.
"""
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as tree
import zipfile

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
LONGEST = 32767
# Keys of views in which no single column identifies a row, as far as their columns exist.
KEYS = {"flags": ["flag_id"], "callpaths": ["callpath_id", "inlining_id"],
        "machine": ["host_id", "name"], "machine_findings": ["host_id", "name", "text"],
        "machine_places": ["host_id", "place"], "ranks": ["rank"]}


def number_of(letters):
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number - 1


def decoded(text):
    """Returns the text that a spreadsheet shows: _xHHHH_ is a character (ECMA-376, ST_Xstring)."""
    return re.sub("_x([0-9A-Fa-f]{4})_", lambda it: chr(int(it[1], 16)), text)


def value_of(cell):
    kind = cell.get("t")
    if kind == "inlineStr":
        return decoded("".join(part.text or "" for part in cell.iter(MAIN + "t")))
    text = cell.find(MAIN + "v")
    if text is None:
        return None
    return text.text == "1" if kind == "b" else text.text if kind == "str" else float(text.text)


class Book:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        assert self.zip.testzip() is None
        targets = {it.get("Id"): it.get("Target") for it in self.xml("xl/_rels/workbook.xml.rels")}
        self.sheets = {it.get("name"): "xl/" + targets[it.get(RELATION)]
                       for it in self.xml("xl/workbook.xml").iter(MAIN + "sheet")}

    def xml(self, name):
        return tree.fromstring(self.zip.read(name))

    def rows(self, sheet):
        for row in self.xml(self.sheets[sheet]).iter(MAIN + "row"):
            yield {number_of(re.match("[A-Z]+", cell.get("r")).group()): value_of(cell)
                   for cell in row}

    def notes(self, sheet):
        """Texts of the notes of a sheet by cell."""
        name = self.sheets[sheet].rsplit("/", 1)[1]
        for part in self.xml(f"xl/worksheets/_rels/{name}.rels"):
            if part.get("Target").startswith("../comments"):
                comments = self.xml("xl/" + part.get("Target")[3:])
                return {it.get("ref"): "".join(text.text for text in it.iter(MAIN + "t"))
                        for it in comments.iter(MAIN + "comment")}
        return {}


def held(text):
    """What XML can hold of a text."""
    text = re.sub("[\0-\x08\x0b-\x1f\x7f\ufffe\uffff]", "\ufffd", text)
    return text[:LONGEST]


def check_view(book, view):
    rows = list(book.rows(view["title"]))
    assert len(rows) == view["row_n"] + 1, (view["name"], len(rows))
    checked = 0
    for at, column in enumerate(view["columns"]):
        unit = column["unit"]
        title = column["title"] + (f" ({unit})" if unit not in (None, "1") else "")
        assert rows[0][at] == title, (rows[0][at], title)
        cells = view["data"][column["name"]]
        want = cells["v"] if "v" in cells else [
            held(cells["dict"][i]) or None if i >= 0 else None for i in cells["i"]]
        for row, value in zip(rows[1:], want):
            value = bool(value) if column["kind"] == "flag" and value is not None else value
            got = row.get(at)
            if isinstance(got, str):
                got = got.replace("\r\n", "\n")
            assert got == value and isinstance(got, bool) == isinstance(value, bool) or (
                isinstance(value, float) and abs(got - value) <= 1e-15 * abs(value)), (
                view["name"], column["name"], got, value)
            checked += 1
    return rows, checked


def check_sql(assay, experiment, view, rows, run):
    """The cells that the SQL view has under the same name."""
    of_trace = view["name"] in ("waits", "late", "phases", "calls", "messages", "message_sizes",
                                "ranks")
    name = f"v_{'trace_' if of_trace else ''}{view['name']}"
    sql = f"SELECT * FROM {name}"
    there = json.loads(subprocess.run([assay, "query", experiment, sql, "--format", "json"],
                                      check=True, capture_output=True).stdout)
    there = [row for row in there if view["name"] == "runs" or row.get("run_id") in (None, run)]
    at = {column["name"]: i for i, column in enumerate(view["columns"])}
    keys = [key for key in KEYS.get(view["name"], [view["key"]]) if key in at]
    by_key = {tuple(row.get(at[key]) for key in keys): row for row in rows[1:]}
    checked = 0
    assert len(there) == len(by_key), (name, len(there), len(by_key))
    for want in there:
        row = by_key[tuple(want[key] for key in keys)]
        for column, value in want.items():
            if column not in at or column == "title":
                continue
            got = row.get(at[column])
            value = held(value) if isinstance(value, str) else value
            assert got == value or (value == "" and got is None) or (
                isinstance(value, float) and abs(got - value) <= 1e-12 * abs(value)), (
                name, column, got, value)
            checked += 1
    return checked


def check_note(book, view):
    first = view["columns"][0]
    assert book.notes(view["title"])["A1"] == f"{first['meaning']}\n{first['name']}"


def main():
    assay, experiment = sys.argv[1:]
    book = Book(f"{experiment}/report.xlsx")
    with open(f"{experiment}/report.json", encoding="utf-8") as file:
        data = json.load(file)
    assert list(book.sheets) == ["Summary"] + [view["title"] for view in data["views"]]
    cells = by_sql = 0
    for view in data["views"]:
        rows, checked = check_view(book, view)
        cells += checked
        by_sql += check_sql(assay, experiment, view, rows, data["run_id"])
        check_note(book, view)
    said = [cell for row in book.rows("Summary") for cell in row.values()]
    assert said[0] == held(data["title"])
    for part, key in (("metrics", "title"), ("checks", "title"), ("findings", "text")):
        for it in data[part]:
            assert held(it[key]) in said, it[key]
    print(f"{cells} cells, {by_sql} by SQL")


if __name__ == "__main__":
    main()
