#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the templates of advice: tools/advice_text.py, and tools/gen-advice.py that reads them."""
import importlib.util
import sqlite3
import sys

import trees

sys.path.insert(0, str(trees.ROOT / "tools"))
SPEC = importlib.util.spec_from_file_location("gen_advice", trees.ROOT / "tools/gen-advice.py")
GEN = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(GEN)

WORDS = """
define percent
    sql     printf('%.0f %%', $1)
define s
    sql     iif(round($1) = 1, '', 's')
define language
    sql     (SELECT 'c' WHERE l.n = 7)
piece at
    text    [ ({place})]
piece twice
    text    $1 and $1
piece round
    text    {round}
"""
# SQL has 12 columns of the row; those that the templates do not read are read here.
COLUMNS = "7 AS n, NULL AS unknown, 'a.c:3' AS place, 1 AS flag, 0 AS no_flag, 'x' AS name"
READ = "length(place) + n + flag + no_flag + length(unknown) + length(name) IS NOT 0"


def statement(root, text, when=None, more="    do      b\n"):
    """Returns the statement of a finding with that text."""
    when = when or f"SELECT * FROM (SELECT {COLUMNS}) l WHERE {READ}"
    rules = f"finding rule\n    topic   x\n    object  run\n    when    {when}\n" \
            f"    level   hint\n    text    {text}\n{more}    meaning It is a rule.\n"
    trees.write(root, {"rules.txt": rules + WORDS})
    blocks = GEN.blocks_of(root / "rules.txt")
    GEN.check(blocks)
    blocks = GEN.expand(GEN.make_statements(blocks))
    return next(block[3]["sql"] for block in blocks if block[1] == "finding")


def filled(root, text, **more):
    """Returns the text and the columns behind the standard ones."""
    database = sqlite3.connect(":memory:")
    cursor = database.execute(statement(root, text, **more), (1,))
    row, names = cursor.fetchone(), [column[0] for column in cursor.description]
    assert row[0] == 1 and row[1] == "hint", row
    return row[2], dict(zip(names[9:], row[9:]))


def says(root, text, expected):
    got = filled(root, text)[0]
    assert got == expected, f"{text}: {got!r}"


def fails(root, text, *parts, **more):
    """The generator refuses it with all these parts of a sentence."""
    try:
        statement(root, text, **more)
    except SystemExit as error:
        for part in parts:
            assert part in str(error), error
        return
    raise AssertionError(f"accepted: {text}")


def test_fields_and_formats(root):
    says(root, "{n} of {place}, {n:percent}, {n:number} file{n:s}".replace("{n:number}", "{n}"),
         "7 of a.c:3, 7 %, 7 files")
    says(root, "the word {language}", "the word c")
    says(root, "it's 5 % of !$omp", "it's 5 % of !$omp")


def test_long_names_are_left_to_the_reader(root):
    text, columns = filled(root, "in {name:name}[ at {name:name}]")
    assert text == "in {name} at {name}" and columns == {"name": "x"}, (text, columns)


def test_unknown_field_is_a_question_mark(root):
    says(root, "a {unknown} b", "a ? b")


def test_optional_parts(root):
    says(root, "a[ {unknown}]b[, {place}].", "ab, a.c:3.")
    says(root, "a[ {n}[ {unknown}]]", "a 7")
    says(root, "a[flag? yes][no_flag? no][unknown? no][name? named]", "a yes named")
    says(root, "[!flag?no][!no_flag?yes][!unknown? unknown]", "yes unknown")
    says(root, "[flag & n?both][flag & no_flag?never]", "both")
    says(root, "[flag?{unknown}]x", "x")


def test_alternatives(root):
    says(root, "[no_flag?a|flag?b|c]", "b")
    says(root, "[{unknown}|{place}|c] d", "a.c:3 d")
    says(root, "[no_flag?a|unknown?b|c]", "c")
    says(root, "[n=8?eight|n=7?seven][place=x?x][name=x?, x]", "seven, x")
    says(root, "[no_flag?a|{unknown}]-", "-")


def test_pieces(root):
    says(root, "b{at}", "b (a.c:3)")
    says(root, "{twice(c)}, {twice({n:percent})}", "c and c, 7 % and 7 %")
    says(root, "[x {twice({unknown})}|none]", "none")


def test_blanks_and_lines(root):
    says(root,
         "one\n            two\n            [flag? three\n            four]\n            [{unknown}"
         "\n            |, five]", "one two three four, five")
    says(root, "[no_flag?a ][flag?b ]", "b")


def test_escapes(root):
    says(root, r"a\[i\] \{n\} \| \\", r"a[i] {n} | \ ".strip())


def test_columns_of_a_finding(root):
    sql = statement(root, "a {n}", when="SELECT 2 AS time_s, 3 AS gain_s, 7 AS n, 4 AS sample_n")
    row = sqlite3.connect(":memory:").execute(sql, (1,)).fetchone()
    assert row == (1, "hint", "a 7", "b", 2, 3, None, None, 4), row


def test_errors_name_rule_and_line(root):
    fails(root, "a\n            b {nn}", "rules.txt:7: rule: text: no column, piece or word",
          "'nn'")
    fails(root, "a {n:percents}", "rules.txt:6: ", "no format is called 'percents'")
    fails(root, "a [b {n}", "rules.txt:6: ", "the bracket [ is not closed")
    fails(root, "a {n", "the brace { is not closed")
    fails(root, "a ] b", "] has no opening bracket")
    fails(root, "a {n n}", "{n n} is not {name}")
    fails(root, "a [b]", "no condition and no field")
    fails(root, "[{n}|a|b]", "follows one that always applies")
    fails(root, "[nn?a]", "'nn'")
    fails(root, "a", "more", "no column", more="    do      a {more}\n")
    fails(root, "a", "rules.txt:8: rule: no column fills {b}",
          more="    do      a\n    command x {n} {b} {experiment}\n")
    fails(root, "a", "finding rule has no do", more="")


def test_errors_of_pieces(root):
    fails(root, "{none(a)}", "no piece is called 'none'")
    fails(root, "{twice}", "the piece 'twice' has an argument")
    fails(root, "{at(n)}", "the piece 'at' has no argument")
    fails(root, "{round}", "contains itself")
    fails(root, "a {at} {n}", "'place' (in", when="SELECT 7 AS n")


def test_column_that_nothing_reads(root):
    fails(root, "a {n}", "rules.txt:4: rule: nothing reads the column 'm'",
          when="SELECT 7 AS n, 8 AS m")


def test_columns_of_a_table_are_unknown(root):
    fails(root, "a {n}", "its columns are unknown", when="SELECT l.* FROM loop l")


def test_sentence_in_a_statement(root):
    for literal in ("It waits.", " waits for", "it''s late now"):
        fails(root, "a {n}", "rules.txt:4: ", "a text in a statement",
              when=f"SELECT 7 AS n WHERE '{literal}' IS NOT NULL")
    statement(root, "a {n}", when="SELECT 7 AS n WHERE 'operator delete*' GLOB '* -O2 *'")


def test_no_statement_of_advice_has_a_text(root):
    """Neither do the words that statements share."""
    assert root
    checked = 0
    for path in sorted((trees.ROOT / "data/advise").glob("*.txt")):
        for where, _, name, text in GEN.blocks_of(path):
            for key in ("when", "sql"):
                checked += text.get(key, "").count("'") // 2
                literal = GEN.advice_text.text_in(text.get(key, ""))
                assert not literal, f"{where}: {name}: {literal}"
    assert checked > 500, checked


def test_large_figures_have_no_exponent(root):
    """The formats `figure` and `figure2` round to 3 and 2 digits below their limit."""
    assert root
    words = {name: text.get("sql") for _, _, name, text in
             GEN.blocks_of(trees.ROOT / "data/advise/words.txt")}
    database = sqlite3.connect(":memory:")
    for name, number, expected in (("figure", 0.12345, "0.123"), ("figure", 999.4, "999"),
                                   ("figure", 999.6, "1000"), ("figure", 12345.6, "12346"),
                                   ("figure2", 17.6, "18"), ("figure2", 99.6, "100"),
                                   ("figure2", 580, "580"), ("figure2", -580, "-580")):
        sql = "SELECT " + words[name].replace("$1", "?1")
        got = database.execute(sql, (number,)).fetchone()[0]
        assert got == expected, f"{name} of {number}: {got}"


if __name__ == "__main__":
    trees.main(globals())
