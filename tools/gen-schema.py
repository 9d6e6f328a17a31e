#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates code, SQL and a page from data/experiment/, so that store and readers agree:

  - gen-schema.py rows TABLES OUTPUT.h            structs of rows, for experiment/experiment.h
  - gen-schema.py schema TABLES VIEWS OUT.c OUT.h the SQL; writing and copying of rows
  - gen-schema.py sql TABLES VIEWS OUT.sql        the SQL alone, for tools/gen-views.py
  - gen-schema.py doc TABLES VIEWS PAGE [--check] doc/reference/experiment-tables.md

The heads of tables.txt and views.txt explain their words.
"""
import pathlib
import re
import sys
import textwrap

VERSION = 1

ORIGINS = "measured exact derived modelled simulated".split()
# C type of a member, its kind in src/experiment/record.c.
MEMBERS = {
    "text": ("const char *", "TEXT"),
    "words": ("const char *", "TEXT"),
    "integer": ("int64_t ", "INTEGER"),
    "sum": ("int64_t ", "INTEGER"),
    "number": ("struct as_number ", "NUMBER"),
    "real": ("double ", "REAL"),
    "bool": ("bool ", "BOOL"),
    "kind": ("enum as_object_kind ", "OBJECT"),
    "origin": ("enum as_origin ", "ORIGIN"),
    "own": ("int64_t ", "ID"),
    "ref": ("int64_t ", "ID"),
    "link": ("int64_t ", "ID"),
}
ALWAYS = {"integer", "sum", "bool", "kind", "origin", "version"}
UNKNOWN = {"text": "''", "words": "''", "number": "-1", "own": "0", "ref": "0", "link": "0"}
COPY_ROLES = {"times": "TIME", "sums": "SUM", "files": "FILE", "processes": "PROCESS"}
COPY_WAYS = "complete keep add made asked".split()
SUFFIXES = {"_ns": ("_s", "{} / 1e9")}


def fail(where, text):
    sys.exit(f"{where}: {text}")


class Column:
    def __init__(self, where, name, word, meaning, tables):
        found = re.fullmatch(r"(\w+)(?:\(([\w,]+)\))?(!?)", word)
        if not found or (found[1] not in MEMBERS and found[1] != "version"):
            fail(where, f"'{word}' is no type")
        self.name, self.type, self.of, must = name, found[1], found[2] or "", found[3]
        self.must = bool(must) or self.type in ALWAYS
        self.meaning = meaning
        if (self.type in ("own", "ref", "link", "words")) != bool(self.of):
            fail(where, f"{name}: what is in the brackets of {self.type}?")
        if self.type in ("own", "ref", "link") and self.of not in tables:
            fail(where, f"{name}: there is no table {self.of} above it")
        if not meaning:
            fail(where, f"{name} has no meaning")

    def sql(self):
        kind = {"real": "REAL", "text": "TEXT", "words": "TEXT", "version": "TEXT", "kind": "TEXT",
                "origin": "TEXT"}.get(self.type, "INTEGER")
        text = f"{self.name} {kind}{' NOT NULL' if self.must else ''}"
        if self.type in ("own", "ref"):
            text += f" REFERENCES {self.of}" + (" ON DELETE CASCADE" if self.type == "own" else "")
        words = ORIGINS if self.type == "origin" else self.of.split(",")
        if self.type in ("words", "origin"):
            text += f" CHECK ({self.name} IN ({', '.join(repr(word) for word in words)}))"
        return text

    def key(self):
        return self.name if self.must else f"ifnull({self.name}, {UNKNOWN[self.type]})"


class Table:
    def __init__(self, name, meaning):
        self.name, self.meaning = name, meaning
        self.has_id = self.inside = self.brief = False
        self.made = ""
        self.again, self.key, self.check = "complete", None, ""
        self.index, self.column = [], []
        self.copy = []                                      # (way, which rows) if said
        self.role = {word: [] for word in COPY_ROLES}       # names of columns

    def named(self, name):
        return next((column for column in self.column if column.name == name), None)

    def members(self):
        return [column for column in self.column if column.type != "version"]

    def struct(self):
        return f"as_row_{self.name}"

    # ---- Copying -------------------------------------------------------------------------

    def owner(self):
        return next((column for column in self.column if column.type == "own"), None)

    def copy_ways(self, tables):
        """(way, SQL that says which rows are of run ?1, or "") of each round of copying."""
        own = self.owner()
        if self.copy:
            return [(way, rows or self.copy_rows(tables)) for way, rows in self.copy]
        if self.made or (own and tables[own.of].copy_ways(tables)[0][0] == "made"):
            return [("made", "")]
        # A row that has a number is written anew to learn the number of the one that is there.
        otherwise = "complete" if self.has_id or self.again == "complete" else "keep"
        return [("add" if self.again == "add" else otherwise, self.copy_rows(tables))]

    def copy_rows(self, tables):
        own = self.owner()
        if not own:
            return ""
        if own.of == "run":
            return f"{own.name} = ?1"
        rows = tables[own.of].copy_rows(tables)
        return f"{own.name} IN (SELECT {own.of}_id FROM {own.of} WHERE {rows})" if rows else ""

    def copy_role(self, column, tables):
        """Its word in enum as_copy_role, and the table that it refers to."""
        for word, role in COPY_ROLES.items():
            if column.name in self.role[word] or (word == "sums" and column.type == "sum"):
                return role, None
        if column.name == "object_id" and self.named("object_kind"):
            return "OBJECT", None
        of = column.of if column.type in ("own", "ref", "link") else column.name.removesuffix("_id")
        if column.name == of or of not in tables:
            return "VALUE", None
        # A row may refer to a later row of its table, unless the reference is part of its key.
        return "LATER" if of == self.name and column.name not in self.key else "ID", of

    # ---- SQL -----------------------------------------------------------------------------

    def is_plain(self):
        """Returns whether the key is a primary key that orders the rows."""
        return not self.has_id and all(self.named(name).must for name in self.key)

    def sql(self):
        lines = [f"{self.name}_id INTEGER PRIMARY KEY"] if self.has_id else []
        lines += [column.sql() for column in self.column]
        if self.is_plain():
            lines.append(f"PRIMARY KEY ({', '.join(self.key)})")
        if self.check:
            lines.append(f"CHECK ({self.check})")
        end = "STRICT, WITHOUT ROWID" if self.is_plain() else "STRICT"
        yield f"CREATE TABLE {self.name} (\n    " + ",\n    ".join(lines) + f"\n) {end};\n"
        yield from self.indices()

    def key_index(self):
        """The index of the key, where it is not the primary one; else ""."""
        if not self.key or self.is_plain():
            return ""
        key = ", ".join(self.named(name).key() for name in self.key)
        return f"CREATE UNIQUE INDEX {self.name}_key ON {self.name} ({key})"

    def indices(self):
        if self.key_index() and not self.brief:
            yield self.key_index() + ";\n"
        for number, names in enumerate(self.index, 1):
            yield f"CREATE INDEX {self.name}_index{number} ON {self.name} ({', '.join(names)});\n"

    def insert(self):
        own = self.members()
        names = [column.name for column in own]
        values = [f"?{i}" for i in range(1, len(own) + 1)]
        if any(column.type == "version" for column in self.column):
            names.append("assay_version")
            values.append("'\" AS_VERSION \"'")
        return f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({', '.join(values)})"

    def conflict(self):
        """Returns the SQL that changes a row that exists already; "": the new row is refused."""
        sets = []
        for column in self.members():
            name = column.name
            if self.again == "add" and column.type == "sum":
                sets.append(f"{name} = {name} + excluded.{name}")
            elif self.again == "replace":
                sets.append(f"{name} = excluded.{name}")
            elif self.again == "complete":
                sets.append(f"{name} = coalesce(excluded.{name}, {name})")
        return " ON CONFLICT DO UPDATE SET " + ", ".join(sets) if sets and self.key else ""

    def add(self):
        text = self.insert() + self.conflict()
        return text + (f" RETURNING {self.name}_id" if self.has_id else "")

    def set(self):
        own = self.members()
        sets = ", ".join(f"{column.name} = ?{i}" for i, column in enumerate(own, 1))
        return (f"UPDATE {self.name} SET {sets} WHERE {self.name}_id = ?{len(own) + 1}"
                f" RETURNING {self.name}_id")


class View:
    def __init__(self, where, name, meaning):
        self.where, self.name, self.meaning = where, name, meaning
        self.begin = self.source = ""
        self.column = [] # (name, SQL, meaning)

    def table_of(self, alias, tables):
        found = re.search(rf"\b(\w+) {alias}\b", self.source)
        if not found or found[1] not in tables:
            fail(self.where, f"{self.name}: nothing in `from` is called {alias}")
        return tables[found[1]]

    def take(self, alias, names, tables):
        table = self.table_of(alias, tables)
        for name in names:
            column, sql, shown = table.named(name), f"{alias}.{name}", name
            if name == f"{table.name}_id":
                self.column.append((name, sql, f"its number in `{table.name}`"))
                continue
            if not column:
                fail(self.where, f"{self.name}: table {table.name} has no column {name}")
            if name.endswith("_ns"):
                sql, shown = f"{sql} / 1e9", name[:-3] + "_s"
            elif name == "address":
                sql = f"CASE WHEN {sql} IS NOT NULL THEN printf('0x%x', {sql}) END"
            self.column.append((shown, sql, column.meaning))

    def select(self):
        columns = ",\n    ".join(f"{sql} AS {name}" for name, sql, _ in self.column)
        begin = f"WITH {self.begin}\n" if self.begin else ""
        return f"{begin}SELECT\n    {columns}\nFROM {self.source}"

    def sql(self):
        return f"CREATE VIEW {self.name} AS\n{self.select()};\n"


# ---- Reading -------------------------------------------------------------------------------

def lines_of(path, more):
    """(where, indent, text) of each line; deeper lines than `more` blanks go on with it."""
    lines = []
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="ascii").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if indent > more and lines:
            lines[-1][2] += "\n        " + text
        else:
            lines.append([f"{path}:{number}", indent, text])
    return lines


def read_tables(path):
    tables = {}
    table = None
    for where, indent, text in lines_of(path, 4):
        word, _, rest = text.partition(" ")
        rest = rest.strip()
        if not indent:
            name, _, meaning = rest.partition(" ")
            if word != "table" or not re.fullmatch(r"[a-z_]+", name) or name in tables:
                fail(where, "this begins no table, or one that is there already")
            table = tables[name] = Table(name, meaning.strip())
        elif word == "id":
            table.has_id = True
        elif word == "inside":
            table.inside = True
        elif word == "made":
            table.made = rest
        elif word == "key":
            table.key = [] if rest == "none" else rest.split()
        elif word == "brief":
            table.brief = True
        elif word == "again":
            table.again = rest
        elif word == "index":
            table.index.append(rest.split())
        elif word == "copy":
            way, _, rows = rest.partition(" of ")
            if way not in COPY_WAYS:
                fail(where, f"copy {way}?")
            table.copy.append((way, " ".join(rows.split())))
        elif word in COPY_ROLES:
            table.role[word] = rest.split()
        elif word == "check":
            table.check = " ".join(rest.split())
        else:
            kind, _, meaning = rest.partition(" ")
            table.column.append(Column(where, word, kind, " ".join(meaning.split()), tables))
    for table in tables.values():
        check_table(path, table)
    return tables


def check_table(path, table):
    where = f"{path}: table {table.name}"
    names = [column.name for column in table.column]
    if len(set(names)) != len(names):
        fail(where, "a column is there twice")
    if table.key is None:
        fail(where, "no key: say `key none` if rows are never the same")
    if table.brief and (not table.has_id or not table.key):
        fail(where, "only the index of a key beside a number can be brief")
    for name in sum([table.key, *table.index, *table.role.values()], []):
        if name not in names:
            fail(where, f"{name} is named, which is no column")
    if table.again not in ("complete", "add", "replace", "refuse"):
        fail(where, f"again {table.again}?")


def read_views(path, tables):
    views, sets = [], {}
    now = None
    for where, indent, text in lines_of(path, 4):
        word, _, rest = text.partition(" ")
        if not indent and word == "set":
            now = sets[rest.strip()] = []
        elif not indent and word == "view":
            name, _, meaning = rest.partition(" ")
            views.append(View(where, name, meaning))
            now = views[-1]
        elif word in ("from", "with"):
            setattr(now, "source" if word == "from" else "begin", rest.strip())
        elif word == "use":
            found = re.fullmatch(r"(\w+)\((\w+)\)", rest.strip())
            if not found or found[1] not in sets:
                fail(where, f"{rest}: no such set")
            now.column += [(name, sql.replace("$", found[2]), meaning)
                           for name, sql, meaning in sets[found[1]]]
        elif word.endswith(":"):
            now.take(word[:-1], rest.split(), tables)
        else:
            found = re.fullmatch(r"(\w+) = (.*) -- (.*)", text, re.DOTALL)
            if not found:
                fail(where, "a column is NAME = SQL -- MEANING")
            column = (found[1], " ".join(found[2].split()), " ".join(found[3].split()))
            (now if isinstance(now, list) else now.column).append(column)
    return views


def sql(tables, views):
    """The whole schema; `tables` and `views` as they were read."""
    return "".join([*(text for table in tables.values() for text in table.sql()),
                    *(view.sql() for view in views)])


# ---- Writing -------------------------------------------------------------------------------

def c_text(text):
    parts = [text[i:i + 88] for i in range(0, len(text), 88)] or [""]
    return "\n    ".join('"' + part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
                         + '"' for part in parts)


def c_statement(text):
    """A statement, in which \" AS_VERSION \" stays as it is."""
    return "\n    AS_VERSION\n    ".join(c_text(part)
                                             for part in text.split('" AS_VERSION "'))


def struct(table):
    yield f"/* {table.meaning[0].upper()}{table.meaning[1:]}. */\nstruct {table.struct()} {{\n"
    for column in table.members():
        comment = column.meaning
        if column.type == "words":
            comment = f"{', '.join(column.of.split(','))}: {comment}"
        yield f"    {MEMBERS[column.type][0]}{column.name}; /* {comment} */\n"
    yield "};\n\n"


def write_rows(tables, path):
    public = [table for table in tables.values() if not table.made and not table.inside]
    with open(path, "w", encoding="ascii") as out:
        out.write("/* Generated by tools/gen-schema.py from data/experiment/tables.txt. */\n"
                  "#ifndef AS_EXPERIMENT_ROWS_H\n#define AS_EXPERIMENT_ROWS_H\n\n"
                  "/* Included by experiment/experiment.h, which says what holds of all. */\n\n")
        for table in public:
            out.writelines(struct(table))
        for name, has_id in (("AS_ROW_LIST", True), ("AS_PLAIN_ROW_LIST", False)):
            rows = "".join(f" \\\n    X({table.name})" for table in public
                           if table.has_id == has_id)
            out.write(f"#define {name}(X){rows}\n\n")
        out.write("#endif\n")


def write_schema(tables, views, source, header):
    written = [table for table in tables.values() if not table.made]
    with open(header, "w", encoding="ascii") as out:
        out.write("/* Generated by tools/gen-schema.py from data/experiment/tables.txt. */\n"
                  "#ifndef AS_EXPERIMENT_ROW_TABLES_H\n#define AS_EXPERIMENT_ROW_TABLES_H\n\n"
                  '#include "experiment/experiment.h"\n\n')
        for table in written:
            if table.inside:
                out.writelines(struct(table))
        out.write("enum as_table_id {\n" +
                  "".join(f"    AS_TABLE_{table.name},\n" for table in written) +
                  "    AS_TABLE_COUNT\n};\n\n#endif\n")
    with open(source, "w", encoding="ascii") as out:
        out.write("/* Generated by tools/gen-schema.py from data/experiment/. */\n"
                  '#include "base/version.h"\n#include "experiment/copy.h"\n'
                  '#include "experiment/schema.h"\n\n'
                  f"const int as_schema_version = {VERSION};\n\n"
                  f"const char as_schema_sql[] =\n    {c_text(sql(tables, views))};\n\n")
        values = next(view for view in views if view.name == "v_values")
        out.write(f"const char as_schema_values[] =\n    {c_text(values.select())};\n\n")
        for table in written:
            out.write(f"static const struct as_row_column {table.name}_columns[] = {{\n")
            for column in table.members():
                out.write(f'    {{"{column.name}", AS_ROW_{MEMBERS[column.type][1]}, '
                          f"offsetof(struct {table.struct()}, {column.name})}},\n")
            out.write("};\n")
        out.write("\nconst struct as_row_table as_row_tables[AS_TABLE_COUNT] = {\n")
        for table in written:
            texts = [table.add(), table.set() if table.has_id else "", table.conflict(),
                     table.key_index().replace("INDEX", "INDEX IF NOT EXISTS", 1)
                     if table.brief else ""]
            out.write(f'    {{"{table.name}", "writing a row of table {table.name}", '
                      f"{table.name}_columns,\n    {len(table.members())}" +
                      "".join(f",\n    {c_statement(text) if text else 'NULL'}"
                              for text in texts) + "},\n")
        out.write("};\n")
        out.writelines(copy_list(tables))


def copy_list(tables):
    rounds = [(table, way, rows) for table in tables.values()
              for way, rows in table.copy_ways(tables)]
    first = {table.name: i for i, (table, _, _) in reversed(list(enumerate(rounds)))}
    for table in tables.values():
        yield f"\nstatic const struct as_copy_column {table.name}_copied[] = {{\n"
        for column in table.column:
            role, of = table.copy_role(column, tables)
            yield f'    {{"{column.name}", AS_COPY_{role}, {first[of] if of else 0}}},\n'
        yield "};\n"
    yield "\nconst struct as_copy_table as_copy_tables[] = {\n"
    for table, way, rows in rounds:
        names = [column.name for column in table.column]
        kind = names.index("object_kind") if "object_kind" in names else -1
        yield (f'    {{"{table.name}", AS_COPY_{way.upper()},\n    '
               f'{c_text(rows) if rows else "NULL"}, {table.name}_copied,\n'
               f"    {len(names)}, {str(table.has_id).lower()}, {kind}}},\n")
    yield "};\nconst size_t as_copy_table_n = sizeof as_copy_tables / sizeof *as_copy_tables;\n"


# ---- The page ------------------------------------------------------------------------------

PAGE_HEAD = """# Views and tables of an experiment

`tools/gen-schema.py` writes this page from `data/experiment/`. [experiment.md](experiment.md)
explains queries and the rules for all tables.

## Views
"""


def cell(text):
    return text.replace("|", "\\|")


def row_of(table):
    return textwrap.fill(f"A row is {table.meaning}.", 100, break_on_hyphens=False)


def columns_of(named):
    yield "\n| column | meaning |\n|---|---|\n"
    for name, meaning in named:
        yield f"| `{name}` | {cell(meaning)} |\n"


def page(tables, views):
    yield PAGE_HEAD
    for view in views:
        yield f"\n### `{view.name}`\n\n{row_of(view)}\n"
        yield from columns_of((name, meaning) for name, _, meaning in view.column)
    yield ("\n## Tables\n\n`*_id` refers to the table of that name; `parent_id` to the own. "
           "Rows of the same key are the same row.\n")
    for table in tables.values():
        yield f"\n### `{table.name}`\n\n{row_of(table)}\n"
        if table.made:
            yield f"It is made {table.made}.\n"
        if table.key:
            yield f"Key: {', '.join(f'`{name}`' for name in table.key)}.\n"
        own = [(f"{table.name}_id", "number of the row")] if table.has_id else []
        yield from columns_of(own + [(c.name, c.meaning) for c in table.column])


def write_page(tables, views, path, check):
    text, path = "".join(page(tables, views)), pathlib.Path(path)
    if not check:
        path.write_text(text, encoding="ascii")
    elif not path.exists() or path.read_text(encoding="ascii") != text:
        sys.exit(f"{path} is old: write it anew with tools/gen-schema.py doc")


def main():
    what, *rest = sys.argv[1:]
    tables = read_tables(rest[0])
    if what == "rows":
        write_rows(tables, rest[1])
        return
    views = read_views(rest[1], tables)
    if what == "schema":
        write_schema(tables, views, rest[2], rest[3])
    elif what == "sql":
        pathlib.Path(rest[2]).write_text(sql(tables, views), encoding="ascii")
    elif what == "doc":
        write_page(tables, views, rest[2], "--check" in rest)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
