#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the views of data/report/ as C: gen-views.py TABLES.c CHOICES.h *.sql *.txt

The schema of experiments comes first, then the views. A report has the views in the order of the
files. A line is a key and its value:

  - view NAME            also the name of the file; then keys of the view:
  -   title, meaning     text for people (required)
  -   from               SQL view of the rows
  -   binary             the same without inlining, with the same columns
  -   runs               one: rows of one run; all: rows of every run, all shown;
                         some: rows of one run and rows without a run; none: rows without a run
  -   only show          not in reports, for `assay show --view` only
  -   object, key        kind of object of a row (a word of object_kind), column with its id
  -   parent             column with the key of the parent row
  -   group_by           columns by which rows may be grouped
  -   sort, order        column of the initial sort; a complete ORDER BY that agrees with it
  -   omit               columns of the SQL view that no column shows
  -   code_meaning, code_sort   meaning, and column or metric of the initial sort, for a run
                         without measurements; such a run has no columns of groups of times
  - text LOOK TITLE = SQL   a column of `assay show --view` as text
  -   LOOK               left, right, elastic (shortened) or wrapped (sentences under the row)
  -   LOOK?              left out if lines are too long
  -   LOOK:METRIC        left out if the experiment does not know that metric
  - column NAME          a column of reports; then keys of the column:
  -   expression         SQL; default: the column of that name
  -   title, meaning     text for people (required)
  -   group              name of the group of columns (required)
  -   kind               number, integer, share, text, code, flag, address or id (required)
  -   unit               required for numbers, integers and shares; must fit the suffix of NAME
  -   digits             decimals shown
  -   low, high, doubt   columns with its interval; column that is 1 if the value is a guess
  -   better             higher or lower
  -   origin             measured, exact, derived, modelled or simulated, if the same in all rows
  -   shown, bar         visible in the initial table; drawn with a bar
  - metric NAME          columns of a metric of the object: value, interval, n and origin; title,
                         unit and meaning come from the metric; may have title, group, digits,
                         kind, shown and bar; code_shown: visible without measurements
  - set NAME             in shared.txt: columns that `use NAME` inserts

SQL may use these macros:

  - $share(x), $interval(x), $seconds(x), $real(format, x), $place(file, line)
  - $loop(metric, format), $context
  - $exit, and $running (the running time of the run)

Every statement is tested on an empty experiment.
"""
import pathlib
import re
import sqlite3
import sys

KINDS = ["number", "integer", "share", "text", "code", "flag", "address", "id"]
NUMERIC = {"number", "integer", "share"}
ORIGINS = {"measured", "exact", "derived", "modelled", "simulated"}
UNITS = {"_s": "s", "_pct": "%", "_b": "B", "_hz": "Hz"}
VIEW_KEYS = {"title", "meaning", "from", "binary", "runs", "only", "object", "key", "parent",
             "group_by", "sort", "order", "omit", "code_meaning", "code_sort"}
COLUMN_KEYS = {"expression", "title", "meaning", "group", "kind", "unit", "digits", "low", "high",
               "doubt", "better", "origin", "shown", "bar"}
METRIC_KEYS = {"title", "group", "digits", "kind", "shown", "bar", "code_shown"}
MACROS = { # {0}, {1}: the arguments
    "share": "printf('%.1f%s', {0}_pct, substr('?', 1, few_samples))",
    "interval": "printf('%.1f-%.1f', {0}_low_pct, {0}_high_pct)",
    # Unknown stays empty: printf would make it zero.
    "seconds": "CASE WHEN {0}_s IS NOT NULL THEN printf('%.2f', {0}_s) END",
    "real": "CASE WHEN {1} IS NOT NULL THEN printf('{0}', {1}) END",
    "place": "replace({0}, rtrim({0}, replace({0}, '/', '')), '') || ':' || {1}",
    # The context of a value besides its object, in words.
    "context": "(SELECT trim(ifnull('path ' || path || ' ', '') || "
               "ifnull(variant || ' ', '') || ifnull(bucket || ' ', '') || "
               "ifnull('on ' || machine || ' ', '') || ifnull('by ' || model || ' ', '') || "
               "ifnull(thread_n || ' threads ', '') || ifnull('in ' || memory_level, '')) "
               "FROM context c WHERE c.context_id = v_values.context_id)",
    # The value of a loop over all instances and paths; "" if unknown.
    "loop": "(SELECT printf('{1}', v.value) FROM (SELECT run_id AS of_run, object_id AS of_loop, "
            "value, context_id AS of_context, object_kind AS of_kind, metric AS of_metric "
            "FROM v_values) v WHERE v.of_metric = '{0}' AND v.of_kind = 'loop' "
            "AND v.of_loop = loop_id AND v.of_run = run_id AND ifnull(v.of_context, 0) = 0)",
    "exit": "ifnull('signal ' || exit_signal, exit_code)",
    "running": "(SELECT exclusive_ns / 1e9 FROM object_time WHERE run_id = ?1 "
               "AND object_kind = 'run' AND object_id = ?1)",
}


class Fault(Exception):
    pass


def arguments(sql, at):
    """Arguments in the brackets that open at `at`, and where they end."""
    found, depth, begin, quoted = [], 0, at + 1, False
    for i in range(at, len(sql)):
        quoted ^= sql[i] == "'"
        depth += 0 if quoted else (sql[i] == "(") - (sql[i] == ")")
        if not quoted and (depth == 0 or (depth == 1 and sql[i] == ",")):
            found.append(sql[begin:i].strip())
            begin = i + 1
        if depth == 0:
            return found, i + 1
    raise Fault(f"brackets of '{sql}' do not close")


def expand(sql):
    while match := re.search(r"\$(\w+)", sql):
        if match.group(1) not in MACROS:
            raise Fault(f"no macro {match.group(0)}")
        values, end = [], match.end()
        if sql[end:end + 1] == "(":
            values, end = arguments(sql, end)
        sql = sql[:match.start()] + MACROS[match.group(1)].format(*values) + sql[end:]
    return sql


class Entry(dict):
    """A column, a metric or a view: its keys, where it stands."""

    def __init__(self, what, name, where):
        super().__init__()
        self.what, self.name, self.where = what, name, where


class Reader:
    """The statements of all files, in order."""

    def __init__(self):
        self.views, self.sets = [], {}

    def read(self, path):
        target, entry = None, None
        for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            where = f"{path}:{number}"
            key, _, value = line.strip().partition(" ")
            try:
                target, entry = self.take(path, where, key, value.strip(), target, entry)
            except Fault as fault:
                sys.exit(f"{where}: {fault}")

    def take(self, path, where, key, value, target, entry):
        if key == "view":
            if value != path.stem or any(view.name == value for view in self.views):
                raise Fault(f"view {value} must stand once, in {value}.txt")
            entry = Entry("view", value, where)
            entry.columns, entry.texts = [], []
            self.views.append(entry)
            return entry, entry
        if key == "set":
            self.sets[value] = Entry("set", value, where)
            self.sets[value].columns = []
            return self.sets[value], None
        if target is None:
            raise Fault(f"'{key}' stands before 'view' or 'set'")
        if key == "use":
            if value not in self.sets:
                raise Fault(f"no set {value}")
            target.columns += self.sets[value].columns
            return target, None
        if key in ("column", "metric"):
            entry = Entry(key, value, where)
            target.columns.append(entry)
            return target, entry
        if key == "text" and target.what == "view":
            target.texts.append(self.text(value))
            return target, entry
        known = {"view": VIEW_KEYS, "column": COLUMN_KEYS, "metric": METRIC_KEYS}
        if entry is None or key not in known[entry.what] or key in entry:
            raise Fault(f"key '{key}' is not known here, or there twice")
        if not value and key not in ("shown", "bar", "code_shown"):
            raise Fault(f"'{key}' has no value")
        entry[key] = value or True
        return target, entry

    @staticmethod
    def text(value):
        match = re.fullmatch(r"((?:left|right|elastic|wrapped)\??(?::\w+)?)\s+(.+?) = (.+)", value)
        if not match:
            raise Fault("not 'text LOOK TITLE = SQL'")
        return match.group(1), match.group(2), expand(match.group(3))


def need(entry, *keys):
    for key in keys:
        if key not in entry:
            sys.exit(f"{entry.where}: {entry.what} {entry.name} has no {key}")


def one_of(entry, key, words):
    if key in entry and entry[key] not in words:
        sys.exit(f"{entry.where}: {key} '{entry[key]}' is none of {', '.join(sorted(words))}")


def check_column(column, names):
    if column.what == "metric":
        one_of(column, "kind", NUMERIC)
        return
    need(column, "title", "meaning", "group", "kind")
    one_of(column, "kind", KINDS)
    one_of(column, "better", {"higher", "lower"})
    one_of(column, "origin", ORIGINS)
    numeric = column["kind"] in NUMERIC
    if numeric != ("unit" in column):
        sys.exit(f"{column.where}: column {column.name} {'has' if numeric else 'needs'} no unit")
    for end, unit in UNITS.items():
        if numeric and column.name.endswith(end) and column["unit"] != unit:
            sys.exit(f"{column.where}: column {column.name}: its unit must be {unit}")
    if column["kind"] == "share" and column["unit"] != "%":
        sys.exit(f"{column.where}: column {column.name}: a share is in %")
    if not column["meaning"].endswith("."):
        sys.exit(f"{column.where}: the meaning of {column.name} is no sentence")
    for key in ("low", "high", "doubt"):
        if key in column and column[key] not in names:
            sys.exit(f"{column.where}: {key} '{column[key]}' of {column.name} is no column")


def check_view(view):
    need(view, "title", "meaning", "from", "runs", "sort", "order")
    one_of(view, "runs", {"one", "all", "some", "none"})
    one_of(view, "only", {"show"})
    names = [column.name for column in view.columns]
    for name in names:
        if names.count(name) > 1:
            sys.exit(f"{view.where}: column {name} is there twice")
    for key in ("key", "parent", "sort"):
        if key in view and view[key] not in names:
            sys.exit(f"{view.where}: {key} '{view[key]}' is no column")
    for name in view.get("group_by", "").split():
        if name not in names:
            sys.exit(f"{view.where}: group_by '{name}' is no column")
    for column in view.columns:
        check_column(column, names)
        try:
            column.sql = expand(column.get("expression", column.name))
        except Fault as fault:
            sys.exit(f"{column.where}: {fault}")


def try_sql(database, view):
    """Prepares what reports and `assay show` will ask; every column of the SQL view is shown."""
    for source in [view["from"]] + ([view["binary"]] if "binary" in view else []):
        try_source(database, view, source)


def try_source(database, view, source):
    own = [column for column in view.columns if column.what == "column"]
    for columns in ([(column.sql, column.name) for column in own],
                    [(sql, title) for _, title, sql in view.texts]):
        listed = ", ".join(f'{sql} AS "{name}"' for sql, name in columns)
        sql = f"SELECT {listed} FROM {source} ORDER BY {view['order']}"
        try:
            database.execute(sql, (0,) if "?1" in sql else ())
        except sqlite3.Error as error:
            sys.exit(f"{view.where}: {error} in: {sql}")
    there = [row[1] for row in database.execute(f"PRAGMA table_info({source})")]
    shown = {column.name for column in own} | set(view.get("omit", "").split())
    for name in there:
        if name not in shown:
            sys.exit(f"{view.where}: column {name} of {source} is neither shown nor omitted")


def empty_experiment(schema):
    if sqlite3.sqlite_version_info < (3, 37):
        return None # strict tables are not known: a newer one will check
    database = sqlite3.connect(":memory:")
    for path in schema:
        database.executescript(path.read_text(encoding="ascii"))
    return database


def quoted(text):
    if text is None:
        return "NULL"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def members(**values):
    return ", ".join(f".{key} = {value}" for key, value in values.items()
                     if value not in ("NULL", "0", "false"))


def truth(entry, key):
    return "true" if key in entry else "false"


def column_row(column):
    kind = column.get("kind")
    words = {key: quoted(column.get(key)) for key in
             ("title", "group", "unit", "meaning", "low", "high", "doubt", "better", "origin")}
    return "    {" + members(
        name=quoted(column.name), sql=quoted(column.sql if column.what == "column" else None),
        metric="true" if column.what == "metric" else "false",
        kind=f"AS_COLUMN_{kind.upper()}" if kind else "AS_COLUMN_UNKNOWN",
        digits=column.get("digits", "0" if column.what == "column" else "-1"),
        shown=truth(column, "shown"), bar=truth(column, "bar"),
        code_shown=truth(column, "code_shown"), **words) + "},\n"


def text_row(text):
    look, title, sql = text
    look, _, metric = look.partition(":")
    optional, look = look.endswith("?"), look.rstrip("?")
    return "    {" + members(sql=quoted(sql), title=quoted(title),
                             metric=quoted(metric or None),
                             right="true" if look == "right" else "false",
                             elastic="true" if look == "elastic" else "false",
                             optional="true" if optional else "false",
                             wrapped="true" if look == "wrapped" else "false") + "},\n"


def view_row(view):
    words = {key: quoted(view.get(key)) for key in
             ("title", "meaning", "from", "binary", "object", "key", "parent", "group_by", "sort",
              "order", "code_meaning", "code_sort")}
    return "    {" + members(
        name=quoted(view.name), runs=f"AS_RUNS_{view['runs'].upper()}",
        only_show=truth(view, "only"), column=f"{view.name}_columns",
        column_n=str(len(view.columns)), text=f"{view.name}_texts" if view.texts else "NULL",
        text_n=str(len(view.texts)), **words) + "},\n"


def write_tables(path, views):
    with open(path, "w", encoding="ascii") as out:
        out.write('/* Generated by tools/gen-views.py. */\n#include "report/views.h"\n')
        for view in views:
            out.write(f"\nstatic const struct as_report_column {view.name}_columns[] = {{\n"
                      f"{''.join(map(column_row, view.columns))}}};\n")
            if view.texts:
                out.write(f"static const struct as_report_text {view.name}_texts[] = {{\n"
                          f"{''.join(map(text_row, view.texts))}}};\n")
        out.write(f"\nconst struct as_report_view as_report_views[] = {{\n"
                  f"{''.join(map(view_row, views))}}};\n"
                  f"const size_t as_report_view_n = {len(views)};\n")


def main():
    tables, choices, *names = sys.argv[1:]
    paths = [pathlib.Path(name) for name in names]
    reader = Reader()
    for path in paths:
        if path.suffix == ".txt":
            reader.read(path)
    database = empty_experiment([path for path in paths if path.suffix == ".sql"])
    for view in reader.views:
        check_view(view)
        if database:
            try_sql(database, view)
    write_tables(tables, reader.views)
    shown = "|".join(view.name for view in reader.views if view.texts)
    with open(choices, "w", encoding="ascii") as out:
        out.write("/* Generated by tools/gen-views.py: the views that have a text. */\n"
                  f'#define AS_VIEW_CHOICES "{shown}"\n')


main()
