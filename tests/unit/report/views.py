#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes that tools/gen-views.py refuses, in TAP: views.py GENERATOR SCHEMA.sql..."""
import pathlib
import subprocess
import sys
import tempfile

GOOD = """
view flags
title Caveats
meaning All that does.
from v_flags
runs some
sort n
order n DESC
omit run_id flag_id pass object_kind
text left flag = name
use ids
column name
  title Flag
  meaning What kind.
  group name
  kind text
column n
  title Times
  meaning How often.
  group name
  kind integer
  unit times
column text
  title Text
  meaning What happened.
  group name
  kind text
"""
SHARED = """
set ids
column object_id
  title Id
  meaning Number of the object.
  group name
  kind id
"""

# (Changed text of the good view, its replacement, a part of the error message).
FAULTS = [
    ("  title Flag\n", "", "column name has no title"),
    ("  meaning How often.\n", "", "column n has no meaning"),
    ("  unit times\n", "", "column n has no unit"),
    ("  kind id\n", "  kind id\n  unit 1\n", "column object_id needs no unit"),
    ("  kind integer\n", "  kind whole\n", "kind 'whole' is none of"),
    ("  meaning How often.\n", "  meaning How often\n", "the meaning of n is no sentence"),
    ("  group name\n  kind integer", "  grupo name\n  kind integer", "key 'grupo' is not known"),
    ("title Caveats\n", "title A\ntitle B\n", "not known here, or there twice"),
    ("sort n\n", "sort m\n", "sort 'm' is no column"),
    ("sort n\n", "sort n\ngroup_by topic\n", "group_by 'topic' is no column"),
    ("  unit times\n", "  unit times\n  low least\n", "low 'least' of n is no column"),
    ("use ids\n", "use numbers\n", "no set numbers"),
    ("use ids\n", "use ids\nuse ids\n", "column object_id is there twice"),
    ("text left flag = name", "text middle flag = name", "not 'text LOOK TITLE = SQL'"),
    ("text left flag = name", "text left flag = wrong", "no such column: wrong"),
    ("text left flag = name", "text left flag = $sare(x)", "no macro $sare"),
    ("from v_flags", "from v_flag", "no such table: v_flag"),
    ("order n DESC", "order m DESC", "no such column: m"),
    ("omit run_id flag_id pass object_kind", "omit run_id pass object_kind",
     "column flag_id of v_flags is neither shown nor omitted"),
    ("runs some", "runs few", "runs 'few' is none of"),
    ("view flags", "view flag", "view flag must stand once, in flag.txt"),
    ("column text\n", "column m_pct\n  expression n\n  title M\n  meaning M.\n  group name\n"
     "  kind number\n  unit s\ncolumn text\n", "its unit must be %"),
]


def generate(generator, schema, folder, view, shared=SHARED):
    (folder / "flags.txt").write_text(view)
    (folder / "shared.txt").write_text(shared)
    return subprocess.run(
        [sys.executable, generator, folder / "out.c", folder / "out.h", *schema,
         folder / "shared.txt", folder / "flags.txt"], capture_output=True, text=True)


def said(done, part):
    lines = done.stderr.strip().splitlines()
    return done.returncode != 0 and len(lines) == 1 and part in lines[0] and ".txt:" in lines[0]


def main():
    generator, *schema = sys.argv[1:]
    print(f"1..{len(FAULTS) + 1}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = generate(generator, schema, folder, GOOD)
        good = done.returncode == 0 and "AS_COLUMN_INTEGER" in (folder / "out.c").read_text()
        print(f"{'ok' if good else 'not ok'} 1 - a good view {done.stderr.strip()}")
        for number, (old, new, part) in enumerate(FAULTS, 2):
            where = GOOD if old in GOOD else SHARED
            assert old in where, old
            changed = where.replace(old, new, 1)
            done = (generate(generator, schema, folder, changed) if where is GOOD else
                    generate(generator, schema, folder, GOOD, changed))
            ok = said(done, part)
            print(f"{'ok' if ok else 'not ok'} {number} - {part}")
            if not ok:
                print(f"# {done.stderr.strip()}")


main()
