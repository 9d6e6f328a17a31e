# SPDX-License-Identifier: Apache-2.0
"""Templates of advice: parses them and compiles them into expressions of SQL.

A template is text with fields and optional parts. data/advise/pieces.txt defines the language.
"""
import re

# Names of columns that a rule reads beside those in its templates.
STANDARD = set("object_id level time_s gain_s gain_low_s gain_high_s sample_n score times is_alone "
               "has_line".split())
CONDITION = re.compile(r"(!?[a-z]\w*(?:=[\w.+-]+)?(?: & !?[a-z]\w*(?:=[\w.+-]+)?)*)\?")
TERM = re.compile(r"(!?)([a-z]\w*)(?:=([\w.+-]+))?$")
FIELD = re.compile(r"([a-z]\w*)(?::([a-z]\w*))?$")
DEPTH_MAX = 9


class TemplateError(Exception):
    """A sentence about a template, and the offset of its cause."""

    def __init__(self, message, at=0):
        super().__init__(message)
        self.at = at


class Node:
    """A part of a template: its offset, and the name of the piece that it comes from."""

    def __init__(self, at):
        self.at, self.piece = at, None

    def error(self, message):
        return TemplateError(message + (f" (in the piece '{self.piece}')" if self.piece else ""),
                             self.at)

    def move(self, at, piece):
        """The node is in a piece that the node at offset `at` names."""
        self.at, self.piece = at, piece


class Choice(Node):
    """[alternative | alternative]: the first that applies. `cases`: [([(negated, name, value)],
    nodes)]."""

    def __init__(self, cases, at):
        super().__init__(at)
        self.cases = cases

    def move(self, at, piece):
        super().move(at, piece)
        for _, nodes in self.cases:
            for node in nodes:
                if isinstance(node, Node):
                    node.move(at, piece)


class Field(Node):
    """{name} or {name:format}"""

    def __init__(self, name, form, at):
        super().__init__(at)
        self.name, self.form = name, form


class Call(Node):
    """{piece(argument)}"""

    def __init__(self, name, argument, at):
        super().__init__(at)
        self.name, self.argument = name, argument


def closing(text, at):
    """Returns the offset of the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if not depth:
            return i
    raise TemplateError("the brace { is not closed", at)


def parse_field(text, at):
    """Returns the field or call that begins at `at`, and the offset behind it."""
    end = closing(text, at)
    inner = text[at + 1:end]
    call = re.match(r"([a-z]\w*)\((.*)\)$", inner)
    if call:
        return Call(call[1], call[2], at), end + 1
    field = FIELD.match(inner)
    if not field:
        raise TemplateError(f"{{{inner}}} is not {{name}}, {{name:format}} or {{piece(text)}}", at)
    return Field(field[1], field[2], at), end + 1


def parse_condition(text, at):
    """Returns the terms of the condition at `at`, and the offset behind it."""
    match = CONDITION.match(text, at)
    if not match:
        return [], at
    return [TERM.match(term).groups() for term in match[1].split(" & ")], match.end()


def parse_nodes(text, at, inside):
    """Returns the nodes up to the end of the text or, `inside` brackets, up to | or ]."""
    nodes, plain = [], ""
    while at < len(text) and not (inside and text[at] in "|]"):
        if text[at] == "\\" and at + 1 < len(text):
            plain, at = plain + text[at + 1], at + 2
        elif text[at] in "{[":
            nodes += [plain] if plain else []
            plain = ""
            node, at = (parse_field if text[at] == "{" else parse_choice)(text, at)
            nodes.append(node)
        elif text[at] in "}]|":
            raise TemplateError(f"{text[at]} has no opening bracket", at)
        else:
            plain, at = plain + text[at], at + 1
    return nodes + ([plain] if plain else []), at


def parse_choice(text, start):
    """Returns the brackets that open at `start`, and the offset behind them."""
    at, cases = start + 1, []
    while True:
        terms, at = parse_condition(text, at)
        nodes, at = parse_nodes(text, at, True)
        cases.append((terms, nodes))
        if at >= len(text):
            raise TemplateError("the bracket [ is not closed", start)
        at += 1
        if text[at - 1] == "]":
            return Choice(cases, start), at


def parse(text):
    """Returns the nodes of a template. Raises TemplateError."""
    return parse_nodes(text, 0, False)[0]


def quoted(text):
    """Returns `text` as an expression of SQL in which no $WORD is."""
    return " || char(36) || ".join("'" + part.replace("'", "''") + "'" for part in text.split("$"))


class Compiler:
    """Compiles templates of one rule. `columns`: of its `when`; `pieces`: {name: text}; `words`:
    {name: SQL} of data/advise/words.txt. `used` has the columns in its templates, `named` those
    that src/advise/fill.c shortens."""

    def __init__(self, columns, pieces, words):
        self.columns, self.pieces, self.words = columns, pieces, words
        self.used, self.named = set(), set()

    def value_of(self, name, node):
        """Returns the SQL of a column or word that `node` names."""
        if name in self.columns:
            self.used.add(name)
            return f"l.{name}"
        if name in self.words and "$1" not in self.words[name]:
            return f"(${name})"
        raise node.error(f"no column, piece or word is called '{name}'")

    def term(self, term, node):
        negated, name, value = term
        sql = self.value_of(name, node)
        if value:
            sql += f" = {value}" if re.fullmatch(r"[0-9.]+", value) else f" = '{value}'"
        else:
            sql += " NOT IN (0, '')"
        return f"NOT ifnull({sql}, 0)" if negated else sql

    def field(self, node):
        value = self.value_of(node.name, node)
        if node.form == "name":
            if node.name not in self.columns:
                raise node.error(f"'{node.name}' is not a column: it has no format name")
            self.named.add(node.name)
            return quoted(f"{{{node.name}}}")
        if node.form is None:
            return f"ifnull({value}, '?')"
        if "$1" not in self.words.get(node.form, ""):
            raise node.error(f"no format is called '{node.form}'")
        return f"ifnull(${node.form}({value}), '?')"

    def text_of(self, node, depth):
        """Returns the text of the piece that `node` names, with its argument in it."""
        text = self.pieces.get(node.name)
        if text is None:
            raise node.error(f"no piece is called '{node.name}'")
        if depth > DEPTH_MAX:
            raise node.error(f"the piece '{node.name}' contains itself")
        if isinstance(node, Call) and "$1" not in text:
            raise node.error(f"the piece '{node.name}' has no argument")
        if isinstance(node, Field) and "$1" in text:
            raise node.error(f"the piece '{node.name}' has an argument")
        return text.replace("$1", node.argument) if isinstance(node, Call) else text

    def expanded(self, nodes, depth=0):
        """Returns the nodes with each piece replaced by its own nodes."""
        out = []
        for node in nodes:
            is_piece = isinstance(node, Call) or isinstance(node, Field) and \
                node.name in self.pieces and node.name not in self.columns
            if not is_piece:
                out.append(node)
                continue
            try:
                inner = parse(self.text_of(node, depth))
            except TemplateError as error:
                raise TemplateError(str(error), node.at) from error
            for part in inner:
                if isinstance(part, Node):
                    part.move(node.at, node.name)
            out += self.expanded(inner, depth + 1)
        return out

    def case(self, terms, nodes, node):
        nodes = self.expanded(nodes)
        known = [f"{self.value_of(part.name, part)} IS NOT NULL" for part in nodes
                 if isinstance(part, Field)]
        wanted = [self.term(term, node) for term in terms] + list(dict.fromkeys(known))
        return " AND ".join(wanted), self.nodes(nodes)

    def choice(self, node):
        out = "CASE"
        for i, (terms, nodes) in enumerate(node.cases):
            condition, text = self.case(terms, nodes, node)
            if condition:
                out += f" WHEN {condition} THEN {text}"
            elif i + 1 < len(node.cases):
                raise node.error("an alternative follows one that always applies")
            elif i == 0:
                raise node.error("the part in brackets has no condition and no field")
            else:
                return f"{out} ELSE {text} END"
        return f"{out} ELSE '' END"

    def nodes(self, nodes):
        parts = []
        for node in self.expanded(nodes):
            if isinstance(node, str):
                parts.append(quoted(node))
            elif isinstance(node, Field):
                parts.append(self.field(node))
            else:
                parts.append(f"({self.choice(node)})")
        return " || ".join(parts) or "''"

    def compile(self, text):
        """Returns a template as an expression of SQL on the row l. Raises TemplateError."""
        nodes = parse(text)
        sql = self.nodes(nodes)
        has_ends = any(isinstance(node, Choice) for node in nodes[:1] + nodes[-1:])
        return f"trim({sql})" if has_ends else sql


def level_zero(sql):
    """Returns `sql` with blanks in place of all text in parentheses and quotes."""
    out, depth, is_quoted = "", 0, False
    for char in sql:
        is_quoted ^= char == "'"
        if not is_quoted:
            depth -= char == ")"
        out += char if not depth and not is_quoted and char not in ")'" else " "
        if not is_quoted:
            depth += char == "("
    return out


def source_of(sql, alias):
    """Returns the statement in parentheses that `sql` calls `alias` (any, if that is empty)."""
    depth, start, is_quoted = 0, 0, False
    for i, char in enumerate(sql):
        is_quoted ^= char == "'"
        if is_quoted:
            continue
        if char == "(":
            start, depth = (start if depth else i + 1), depth + 1
        elif char == ")":
            depth -= 1
            named = re.match(r"\s+(?:AS\s+)?(\w+)", sql[i + 1:])
            if not depth and re.match(r"\s*(?:SELECT|WITH)\b", sql[start:]) and \
                    (not alias or named and named[1] == alias):
                return sql[start:i]
    raise TemplateError(f"'{alias}' is not a statement in parentheses: its columns are unknown")


def columns_of(when):
    """Returns the names of the columns of a statement. Raises TemplateError."""
    bare = level_zero(when)
    begin = re.search(r"\bSELECT\b(?:\s+DISTINCT\b)?", bare)
    end = begin and re.search(r"\b(?:FROM|WHERE)\b", bare[begin.end():])
    names, stop = set(), begin.end() + end.start() if end else len(bare)
    for item in bare[begin.end():stop].split(","):
        last = item.split()[-1] if item.split() else ""
        if last.endswith("*"):
            names |= columns_of(source_of(when[stop:], last[:-2]))
        else:
            names.add(last.rpartition(".")[2])
    return names


def text_in(sql):
    """Returns the first text of `sql` in which two words stand side by side, or None."""
    for literal in re.findall(r"'((?:[^']|'')*)'", sql):
        words = [word.strip(".,:;") for word in literal.split()]
        if any(a.isalpha() and b.isalpha() and len(a) > 1 and len(b) > 1
               for a, b in zip(words, words[1:])):
            return literal
    return None


def unused_column(when, filled, used):
    """Returns the name of a column of `when` that nothing reads, or None. `filled`: `when` with
    the SQL of its words."""
    for name in re.findall(r"\bAS (?!MATERIALIZED\b)(\w+)", when):
        if name in used or name in STANDARD:
            continue
        if len(re.findall(rf"\b{name}\b", filled)) < 2:
            return name
    return None
