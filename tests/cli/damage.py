#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages an experiment in many ways and shows it in every way: damage.py ASSAY EXPERIMENT STEP

Changes bytes of pages of the database, several in each page. Sets cells of tables to values that no
writer stores: NULL in a required column, texts for numbers, numbers out of range. In each case
assay must end by itself. A failure prints one sentence, and no file is left incomplete.

STEP takes every STEP-th damage, and of these the fifth of this turn (../zoo/turn.py). STEP 1 takes
all, and finds most with ASSAY under sanitizers. A fourth argument, pages or cells, takes these
alone.
"""
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "zoo"))
from turn import PARTS, turns  # noqa: E402

# Offsets in the head of a page: its kind, first free block, number and begin of cells, free bytes,
# cells.
PLACES = (0, 1, 3, 4, 5, 6, 7, 8, 9, 12, 40)
FROM_END = (1, 5, 20, 77, 200)
VALUES = (None, -1, 0, 2**63 - 1, -2**63, "", "text\x1b[2J", 1e308, -1e308, b"\xff\x00\xfe")
COMMANDS = (
    ("report", "--format", "html,xlsx,text,json,csv", "-o", "OUT", "EXP"),
    ("export", "--as", "folded", "EXP"), ("export", "--as", "speedscope", "EXP"),
    ("export", "--as", "pprof", "EXP"), ("show", "EXP"), ("--format", "json", "show", "EXP"),
    ("show", "--view", "functions", "EXP"), ("show", "--view", "callpaths", "EXP"),
    ("compare", "EXP", "EXP"),
)


class Sweep:
    def __init__(self, assay, original, step):
        self.assay, self.original, self.step = assay, original, step
        self.turns = range(PARTS) if step == 1 else turns()
        self.at = self.done = self.refused = 0
        with open(f"{original}/experiment.db", "rb") as file:
            self.database = file.read()
        self.rows = {}

    def wanted(self):
        self.at += 1
        return self.at % self.step == 0 and self.at // self.step % PARTS in self.turns

    def show(self, what):
        """All ways of showing damaged.assay."""
        for number, command in enumerate(COMMANDS):
            if self.step > 1 and number and number != 1 + self.done % (len(COMMANDS) - 1):
                continue
            shutil.rmtree("damaged.out", ignore_errors=True)
            os.mkdir("damaged.out")
            words = [{"EXP": "damaged.assay", "OUT": "damaged.out"}.get(word, word)
                     for word in command]
            said = subprocess.run([self.assay, *words], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=600, check=False)
            lines = said.stderr.decode("utf-8", "backslashreplace").splitlines()
            where = (what, " ".join(words), said.returncode, lines[:40])
            assert said.returncode in (0, 1, 2), where
            assert all(line.startswith("assay: ") for line in lines), where
            if said.returncode:
                assert len(lines) == 1 and not lines[0].startswith("assay: SQL"), where
                self.refused += 1
            left = [name for name in os.listdir("damaged.out")
                    if name not in ("report.html", "report.xlsx", "report.txt", "report.json",
                                    "report-csv")]
            assert not left and os.listdir("damaged.assay") == ["experiment.db"], (where, left)
        self.done += 1

    def store(self, database):
        shutil.rmtree("damaged.assay", ignore_errors=True)
        os.mkdir("damaged.assay")
        with open("damaged.assay/experiment.db", "wb") as file:
            file.write(database)

    def pages(self):
        size_b = int.from_bytes(self.database[16:18], "big")
        for page in range(0, len(self.database), size_b):
            head = page + (100 if page == 0 else 0)
            for place in [head + it for it in PLACES] + [page + size_b - it for it in FROM_END]:
                for bits in (0x01, 0x80, 0xff):
                    if self.wanted():
                        damaged = bytearray(self.database)
                        damaged[place] ^= bits
                        self.store(damaged)
                        self.show(f"byte {place} of page {page // size_b + 1} ^ {bits:#x}")
            if self.wanted():  # a page of zeros, as after a crash of the machine
                self.store(self.database[:page] + bytes(size_b) + self.database[page + size_b:])
                self.show(f"page {page // size_b + 1} of zeros")
            if page and self.wanted():
                self.store(self.database[:page + size_b // 2])
                self.show(f"cut off in page {page // size_b + 1}")

    def cell(self, table, column, value, row):
        """Sets a cell to what its table does not permit: while it is set it permits everything."""
        self.store(self.database)
        db = sqlite3.connect("damaged.assay/experiment.db", isolation_level=None)
        sql = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
        loose = sql.replace("NOT NULL", "").replace("STRICT, WITHOUT", "WITHOUT")
        loose = loose.removesuffix(") STRICT") + ")" if loose.endswith(") STRICT") else loose
        db.execute("PRAGMA ignore_check_constraints = ON")
        self.set_schema(db, table, loose)
        db.close()
        db = sqlite3.connect("damaged.assay/experiment.db", isolation_level=None)
        db.execute("PRAGMA ignore_check_constraints = ON")
        key = "rowid" if "WITHOUT ROWID" not in sql else None
        where = f"WHERE {key} = (SELECT {key} FROM \"{table}\" LIMIT 1 OFFSET {row})" if key else ""
        try:
            db.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? {where}', (value,))
        except sqlite3.Error:
            db.close()
            return False
        self.set_schema(db, table, sql)
        db.close()
        return True

    @staticmethod
    def set_schema(db, table, sql):
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, table))
        db.execute("PRAGMA writable_schema = OFF")

    def cells(self):
        db = sqlite3.connect(f"file:{self.original}/experiment.db?mode=ro", uri=True)
        tables = [row[0] for row in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")]
        for table in tables:
            row_n = db.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
            for column in [row[1] for row in db.execute(f'PRAGMA table_info("{table}")')]:
                for value in VALUES:
                    if row_n and self.wanted() and self.cell(table, column, value, row_n // 2):
                        self.show(f"{table}.{column} = {value!r}")
        db.close()


def main():
    assay, original, step = sys.argv[1:4]
    sweep = Sweep(assay, original, int(step))
    if len(sys.argv) < 5 or sys.argv[4] == "pages":
        sweep.pages()
    pages = sweep.done
    if len(sys.argv) < 5 or sys.argv[4] == "cells":
        sweep.cells()
    shutil.rmtree("damaged.assay", ignore_errors=True)
    shutil.rmtree("damaged.out", ignore_errors=True)
    assert sweep.refused or sweep.done < 100, "nothing was refused: is anything damaged?"
    print(f"{pages} pages, {sweep.done - pages} cells, {sweep.refused} refused")


main()
