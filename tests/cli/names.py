#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile names in every text column of an experiment: names.py ASSAY TABLES EXPERIMENT...

Each text column that has a value gets a tail with control characters, bidirectional controls and
markup. A table without rows gets one row that has it in all of its texts. `assay report` ends as it
should, and neither page nor messages have them. With --page it only looks at the pages that are
named.
"""
import base64
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import zlib

TAIL = "\x1b[31m\u202e\u2066\x07\x9b2J</script><!--<script onerror=1>%AS_DATA%"
BAD = re.compile("[^\n\t\x20-\x7e\xa0-\u061b\u061d-\u200d\u2010-\u2027\u202f-\u2065"
                 "\u206a-\U0010ffff]")


def texts_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)
    elif isinstance(value, str):
        yield value


def check_page(path):
    """The page and its data have no control characters; how many texts the data has."""
    page = path.read_text(encoding="utf-8")
    # The page itself (scripts) is ours and the same for all; what is before and after is not.
    slots = re.findall(r'<script[^>]*type="[^"]*"[^>]*>([A-Za-z0-9+/=\s]{100,})</script>', page)
    assert len(slots) == 1, (path, len(slots))
    data = json.loads(zlib.decompress(base64.b64decode(slots[0])))
    texts = list(texts_of(data))
    for text in texts + re.findall(r"<title>.*?</title>|<noscript>.*?</noscript>", page, re.S):
        bad = BAD.search(text)
        assert not bad, (path, text[max(0, bad.start() - 40):bad.end() + 40])
    assert "onerror=1>" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)
    return texts


def columns_of(tables):
    """(table, column) of type text."""
    table = None
    for line in tables.read_text(encoding="utf-8").splitlines():
        if line.startswith("table "):
            table = line.split()[1]
        elif found := re.match(r"  (\w+) +text!? ", line):
            yield table, found[1]


def poison(database, table, column):
    """Poisons one text of the column; returns whether it had a text."""
    connection = sqlite3.connect(database)
    try:
        with connection:
            return connection.execute(
                f'UPDATE "{table}" SET "{column}" = "{column}" || ? WHERE "{column}" IS NOT NULL',
                (TAIL,)).rowcount > 0
    except sqlite3.IntegrityError:
        return False
    finally:
        connection.close()


def fill(database, table, columns):
    """Adds a row to an empty table, hostile in `columns` but for those of listed words. Returns
    whether the table was empty."""
    connection = sqlite3.connect(database)
    try:
        with connection:
            if connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]:
                return False
            row = {name: "x" if "TEXT" in kind.upper() else 1 for _, name, kind, is_needed, _, key
                   in connection.execute(f'PRAGMA table_info("{table}")') if is_needed or key}
            row |= {name: "x" + TAIL for name in columns}
            while True:
                try:
                    connection.execute(f'INSERT INTO "{table}" ({",".join(row)}) '
                                       f'VALUES ({",".join("?" * len(row))})', list(row.values()))
                    return True
                except sqlite3.IntegrityError as wrong:
                    words = re.search(r"failed: (\w+) IN \('(\w+)'", str(wrong))
                    assert words and row[words[1]] != words[2], (table, wrong)
                    row[words[1]] = words[2]
    finally:
        connection.close()


def report(assay, experiment, page):
    command = [assay, "report", "--force", experiment, "-o", page]
    run = subprocess.run(command, capture_output=True, check=False)
    message = run.stderr.decode("utf-8")
    assert run.returncode in (0, 1, 2), (experiment, run.returncode, message)
    assert not BAD.search(message) and not BAD.search(run.stdout.decode("utf-8")), message
    return run.returncode == 0


def main():
    if sys.argv[1] == "--page":
        for name in sys.argv[2:]:
            assert any("31m" in text for text in check_page(pathlib.Path(name))), name
        return
    assay, tables, *experiments = sys.argv[1:]
    copy, page = pathlib.Path("poisoned.assay"), pathlib.Path("poisoned.html")
    tried = shown = filled = 0
    texts = {}
    for table, column in columns_of(pathlib.Path(tables)):
        texts.setdefault(table, []).append(column)
    for experiment in experiments:
        for table, columns in texts.items():
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(experiment, copy)
            if fill(copy / "experiment.db", table, columns):
                filled += 1
                if report(assay, copy, page):
                    check_page(page)
        for table, column in columns_of(pathlib.Path(tables)):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(experiment, copy)
            if not poison(copy / "experiment.db", table, column):
                continue
            tried += 1
            if report(assay, copy, page):
                shown += any("31m" in text for text in check_page(page))
    print(f"{tried} columns, {shown} on the page; {filled} empty tables filled")
    assert tried > 60 and shown > 25, (tried, shown)
    assert filled > 9, filled


main()
