# SPDX-License-Identifier: Apache-2.0
"""Extracts from files of the tree the text that people read: comments, messages, pages.

Knows the lexical form of each kind of file, not the rules of language (check-prose.py does).
`chunks_of(name, text)` yields chunks: paragraphs, comments, messages, table cells. `names_of(text)`
yields the names that C code declares.
"""
import bisect
import re

C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
TS_TOKEN = re.compile(C_TOKEN.pattern + r"|`(?:[^`\\]|\\.)*`", re.S)
PY_TOKEN = re.compile(r'"""(.*?)"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|'
                      r'#[^\n]*', re.S)
JSX_TEXT = re.compile(r">([^<>{}=;&|]*[A-Za-z]{2,}\s+[^<>{}=;&|]*)<")
# Text between literals that the compiler joins.
JOINED = re.compile(r"\s*(?:(?:PRI|AS_METRIC_)\w+\s*)?")
# An interpreter, or a directive of C in a here-document.
NOT_COMMENT = re.compile(r"#(?:!|include\b|define\b|if(?:n?def)?\b|endif\b|pragma\b)")
SQL = re.compile(r"\b(?:SELECT|FROM|WHERE|JOIN|CASE|printf|iif|ifnull|CREATE|INSERT|UPDATE|DELETE|"
                 r"NULL|GROUP BY|ORDER BY)\b|\|\|")
SQL_STATEMENT = re.compile(r"\s*\(?(?:SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|DROP|PRAGMA|ATTACH|"
                           r"BEGIN|ALTER|FROM|WHERE|JOIN|LEFT|AND|ORDER|GROUP|VALUES|UNION)\b")
SQL_TEXT = re.compile(r"'(?:[^']|'')*'(?:\s*\|\|\s*'(?:[^']|'')*')*")
WAIVER = re.compile(r"\W*prose: (off|on)\b")
WORD = re.compile(r"[A-Za-z]{2,}")
CODE = re.compile(r"`[^`]*`")
FUNCTION = re.compile(r"^[a-zA-Z_][\w \t*]*[ \t*](\w+)\(", re.M)
VARIABLE = re.compile(r"\b(?:u?int\d*_t|size_t|u?int|unsigned|long|double|float|bool|char)\s+"
                      r"\*{0,2}(\w+)\s*[,;=\[)]")


class Chunk:
    """A piece of text of one kind, with the line of each of its parts."""

    def __init__(self, kind, lines, is_cell=False):
        """lines: (line number, text) of each part; blanks around parts are dropped."""
        self.kind, self.is_cell, self.offsets, self.numbers = kind, is_cell, [], []
        parts, offset = [], 0
        for number, text in lines:
            text = text.strip()
            self.offsets.append(offset)
            self.numbers.append(number)
            parts.append(text)
            offset += len(text) + 1
        self.text = " ".join(parts)

    def line(self, offset):
        return self.numbers[bisect.bisect_right(self.offsets, offset) - 1]


def has_words(text, count=3):
    return len(WORD.findall(text)) >= count


def without_code(text):
    return CODE.sub("code", text)


def paragraphs(kind, lines):
    """Yields a chunk for each paragraph and each list item of a comment; not for a usage text."""
    part = []
    for number, text in lines:
        text = text.strip()
        starts = text.startswith(("- ", "• "))
        if (not text or starts or "SPDX-License" in text) and part:
            if not part[0][1].startswith("usage:"):
                yield Chunk(kind, part)
            part = []
        if text and "SPDX-License" not in text:
            part.append((number, without_code(text[2:] if starts else text)))
    if part and not part[0][1].startswith("usage:"):
        yield Chunk(kind, part)


def comment_lines(token, line):
    body = token[2:-2] if token.startswith("/*") else token.lstrip("/#")
    for number, text in enumerate(body.split("\n"), line):
        yield number, text.strip().lstrip("*!<").strip()


def literal_lines(token, line):
    body = token[1:-1].replace("\\n", "\n").replace('\\"', '"').replace("\\t", " ")
    real = "\n" in token
    return [(line + i if real else line, text) for i, text in enumerate(body.split("\n"))]


def is_line_comment(token):
    return token.startswith(("//", "#"))


def merged(tokens, text):
    """Yields (tokens) that belong together: adjacent literals, line comments on adjacent lines."""
    group, end = [], 0
    for match in tokens:
        token, gap = match.group(), text[end:match.start()]
        joins = group and (
            (token[0] == '"' == group[-1][1][0] and JOINED.fullmatch(gap)) or
            (is_line_comment(token) and is_line_comment(group[-1][1]) and gap.strip() == ""
             and gap.count("\n") == 1))
        if group and not joins:
            yield group
            group = []
        group.append((match.start(), token))
        end = match.end()
    if group:
        yield group


class Lines:
    """Line numbers of rising offsets of a text."""

    def __init__(self, text):
        self.text, self.offset, self.number = text, 0, 1

    def at(self, offset):
        self.number += self.text.count("\n", self.offset, offset)
        self.offset = offset
        return self.number


def chunks_of_c(text, token, with_messages):
    lines = Lines(text)
    for group in merged(token.finditer(text), text):
        first = group[0][1]
        if first.startswith(("/*", "//")):
            yield from paragraphs("comment", [part for offset, found in group
                                              for part in comment_lines(found, lines.at(offset))])
        elif with_messages and " " in first + group[-1][1]:
            parts = [part for offset, found in group
                     for part in literal_lines(found, lines.at(offset))]
            chunk = Chunk("message", parts)
            if has_words(chunk.text) and not SQL_STATEMENT.match(chunk.text):
                yield chunk


def chunks_of_jsx(text):
    lines = Lines(text)
    for match in JSX_TEXT.finditer(text):
        if has_words(match[1]):
            number = lines.at(match.start(1))
            yield Chunk("message", enumerate(match[1].split("\n"), number))


def chunks_of_python(text):
    lines = Lines(text)
    for group in merged(PY_TOKEN.finditer(text), text):
        offset, first = group[0]
        if first[0] == "#":
            yield from paragraphs("comment", [part for at, found in group
                                              for part in comment_lines(found, lines.at(at))])
        elif first.startswith('"""') and not text[text.rfind("\n", 0, offset) + 1:offset].strip():
            yield from paragraphs("comment",
                                  enumerate(first[3:-3].split("\n"), lines.at(offset)))


def chunks_of_shell(text):
    part = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if line.startswith("#") and not NOT_COMMENT.match(line):
            part.append((number, line.lstrip("#")))
        elif part:
            yield from paragraphs("comment", part)
            part = []
    yield from paragraphs("comment", part)


def sql_chunks(parts):
    """Yields the texts that a statement of SQL makes."""
    whole = Chunk("message", parts)
    for match in SQL_TEXT.finditer(whole.text):
        text = re.sub(r"'\s*\|\|\s*'", "", match.group()[1:-1]).replace("''", "'")
        if has_words(text):
            yield Chunk("message", [(whole.line(match.start()), text)])


def entry_chunks(parts):
    """Yields the texts of a key and its lines in a table under data/."""
    joined = " ".join(text for _, text in parts)
    if " -- " in joined:
        _, _, tail = joined.rpartition(" -- ")
        parts = [(parts[-1][0], tail)]
    elif SQL.search(joined):
        yield from sql_chunks(parts)
        return
    if has_words(parts[0][1] if len(parts) == 1 else joined):
        yield Chunk("message", parts)


CONDITION = r"!?[$\w]+(?:=[\w.]+)?"
ALTERNATIVE = re.compile(rf"^[|\[](?:{CONDITION}(?: & {CONDITION})*\?)?")


def chunks_of_data(text):
    """Tables under data/: comments, and lines `key text` that deeper lines continue."""
    yield from chunks_of_shell(text)
    part = []
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if part and line.startswith("      ") and bare[:1] not in ("", "#"):
            if bare[0] in "[|":  # an optional part or an alternative of a template
                yield from entry_chunks(part)
                part, bare = [], ALTERNATIVE.sub("", bare)
            part.append((number, bare))
            continue
        if part:
            yield from entry_chunks(part)
        part = []
        if bare and bare[0] != "#":
            _, _, value = bare.partition(" ")
            part = [(number, value.strip())]
    if part:
        yield from entry_chunks(part)


ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
HEADING = re.compile(r"\s*#+\s+")
LINK = re.compile(r"\]\([^)]*\)|<?https?://\S+")


def markdown_cells(number, line):
    cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    for cell in cells:
        if not re.fullmatch(r"[\s:|-]*", cell):
            yield Chunk("doc", [(number, plain_markdown(cell))], is_cell=True)


def plain_markdown(line):
    return LINK.sub(" ", without_code(line)).replace("**", "").replace("[", "")


def prose_lines(text):
    """Yields (number, line) of Markdown; None stands for lines of code, fenced or indented."""
    fenced = indented = False
    blank, in_list = True, False
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if bare.startswith(("```", "~~~")):
            fenced = not fenced
            yield number, None
            continue
        if bare:
            indent = len(line) - len(line.lstrip())
            indented = indent >= 4 and (indented or (blank and not in_list))
            in_list = bool(ITEM.match(line)) or (in_list and (indent > 0 or not blank))
        blank = not bare
        yield number, None if fenced or (indented and bare) else line


def chunks_of_markdown(text):
    part = []
    for number, line in prose_lines(text):
        bare = (line or "").strip()
        heading, item = HEADING.match(bare), ITEM.match(bare)
        is_row = bare.startswith("|")
        if part and (not bare or heading or item or is_row):
            yield Chunk("doc", part)
            part = []
        if is_row:
            yield from markdown_cells(number, bare)
        elif heading:
            yield Chunk("doc", [(number, plain_markdown(bare[heading.end():]))])
        elif bare:
            part.append((number, plain_markdown(bare[item.end():] if item else bare)))
    if part:
        yield Chunk("doc", part)


def without_waived(text):
    """Blanks the lines between `prose: off` and `prose: on`."""
    waived, lines = False, []
    for line in text.split("\n"):
        mark = WAIVER.match(line)
        waived = mark[1] == "off" if mark else waived
        lines.append("" if waived or mark else line)
    return "\n".join(lines)


def chunks_of(name, text):
    """Yields the chunks of a file; name is its path in the tree."""
    suffix = name[name.rfind("."):] if "." in name else ""
    is_test = name.startswith("tests/") or "/test/" in name
    if "prose: o" in text:
        text = without_waived(text)
    if suffix in (".c", ".h", ".cc", ".cpp", ".def", ".S"):
        yield from chunks_of_c(text, C_TOKEN, not is_test)
    elif suffix in (".ts", ".tsx", ".mjs", ".css"):
        yield from chunks_of_c(text, TS_TOKEN, not is_test and suffix != ".css")
        if suffix == ".tsx" and not is_test:
            yield from chunks_of_jsx(text)
    elif suffix == ".py":
        yield from chunks_of_python(text)
    elif suffix == ".md":
        yield from chunks_of_markdown(text)
    elif name.startswith("data/") and suffix == ".txt":
        yield from chunks_of_data(text)
    elif suffix in (".sh", ".bats", ".tsv") or name.endswith("meson.build") or not suffix:
        yield from chunks_of_shell(text)


def names_of(text):
    """Yields (kind, name, offset) of functions and scalar variables that C code declares; each name
    of a kind once."""
    seen = set()
    for kind, pattern in (("function", FUNCTION), ("variable", VARIABLE)):
        for match in pattern.finditer(text):
            if (kind, match[1]) not in seen:
                seen.add((kind, match[1]))
                yield kind, match[1], match.start(1)
