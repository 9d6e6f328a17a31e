#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes blocks of text as C tables: gen-advice.py OUTPUT HEADER NAME FILE...

A block is a line `KIND NAME` and its keys, one per line: four blanks, the key, its text. Lines with
more blanks continue the text. Kinds are metric, what_if, check, flag, finding, loops (one block),
cause, piece, define, try and option. NAME is part of the names of the tables: as_NAME_metric[], and
so on.

The build fails if a key is unknown or missing, or a name is there twice. It fails if a rating
contradicts `better`, or a placeholder of a text has no value.

A line `define WORD` and its `sql` define a part for all statements, used as $WORD or $WORD(TEXT).
$1 in the part stands for TEXT. Parts may use other parts. Lists of causes may share parts, too.

Checks, flags, findings, loops and causes have a statement `when` without texts, and templates on
its columns. advice_text.py compiles these into SQL.

A try is a setting that `assay try` may try:

  - what      env, threads, placement or flags
  - title     for people, without a full stop
  - group     a combination has one try of a group
  - env       variables, NAME=VALUE, separated by blanks
  - preload   a library for LD_PRELOAD, at its installed path
  - wrap      words before the command
  - launcher  options for the launcher of the command, behind its name
  - ranks     the number of ranks of the launcher
  - flags     options of compilers
  - train     options of a build that runs once before, for a profile
  - merge     a shell command between the two builds; {profile} is a directory for the profile
  - compiler  families of compilers that have these options
  - when      conditions that must all hold: uses:LIBRARY|..., launcher:KIND|..., command:NAME,
              cpu:FEATURE, threads (several run), `processors` (several CPUs), nodes (several)
  - finding   rules of data/advise/findings.txt that it answers; their findings move it forward
"""
import functools
import pathlib
import re
import sys

import advice_text

# Keys of a kind of block: (must, may).
KEYS = {
    "metric": ("title unit topic better formula meaning", "good fair kind sql"),
    "what_if": ("title meaning kind", "sql variant metric max_factor"),
    "check": ("title meaning weight when text", "said_by do"),
    "flag": ("meaning when text", ""),
    "caveat": ("cause do", "meaning"),
    "finding": ("meaning topic object when level text do", "command"),
    "loops": ("when text place noun", ""),
    "cause": ("meaning topic pattern when level text do", "unless gain"),
    "piece": ("text", ""),
    "try": ("what title group",
            "env preload wrap launcher ranks flags train merge compiler when finding"),
    "define": ("sql", ""),
    "option": ("kind words title meaning", "off cost compiler"),
}
BETTER = {"neither": "AS_BETTER_NEITHER", "higher": "AS_BETTER_HIGHER",
          "lower": "AS_BETTER_LOWER"}
# Meaning of the rows of a statement of a metric or what-if.
METRIC_KINDS = {"": "AS_METRIC_COMPUTED", "value": "AS_METRIC_VALUE", "share": "AS_METRIC_SHARE",
                "mean": "AS_METRIC_MEAN", "exact": "AS_METRIC_EXACT"}
WHAT_IF_KINDS = {"loops": "AS_WHAT_IF_LOOPS", "parallel": "AS_WHAT_IF_PARALLEL",
                 "parallel_and_load": "AS_WHAT_IF_PARALLEL_AND_LOAD"}
TRY_WHAT = {"env": "ENV", "threads": "THREADS", "placement": "PLACEMENT", "flags": "FLAGS"}
TRY_WHEN = r"(uses|launcher|command|cpu):[A-Za-z0-9_.+|-]+|threads|processors|nodes"
# Metrics of loops that the recording sets. CQA_SAID are values of code quality analysis besides its
# metrics and the speed-up of each variant.
RECORDED = set("operand_walk_b operand_index_b operand_pace_b_s operand_stride_b "
               "operand_line_use_pct operand_sweep_b operand_rate_b_s operand_split_pct".split())
CQA_SAID = "fp_vector_sound vector_sound".split()
# Keys that hold a template (tools/advice_text.py).
TEMPLATES = ("level", "text", "do", "place", "noun")
OBJECTS = "run process thread module function loop".split()


class Texts(dict):
    """{key: text} of a block. `lines`: {key: [(offset, line number)]} of its parts in the file."""

    def __init__(self):
        super().__init__()
        self.lines = {}

    def line_of(self, key, at):
        """Returns the line of the file that has offset `at` of the text of `key`."""
        return [number for offset, number in self.lines[key] if offset <= at][-1]


def joint(key, line):
    """Returns the text between two lines of one key: nothing before a bracket of a template."""
    if key in ("sql", "when"):
        return "\n"
    return "" if key in TEMPLATES and line[0] in "[|]" else " "


def blocks_of(path):
    """[(where, kind, name, {key: text})] of one file."""
    blocks, key = [], None
    for number, line in enumerate(path.read_text(encoding="ascii").splitlines(), 1):
        where, line = f"{path}:{number}", line.rstrip()
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            words = line.split()
            if len(words) != 2 or words[0] not in KEYS:
                sys.exit(f"{where}: no block begins so: {line}")
            if not re.fullmatch(r"[a-z][a-z0-9_]*", words[1]):
                sys.exit(f"{where}: '{words[1]}' is no name")
            blocks.append((where, words[0], words[1], Texts()))
            key = None
        elif not blocks:
            sys.exit(f"{where}: stands in no block")
        elif line.startswith("     "):
            if key is None:
                sys.exit(f"{where}: goes on with nothing")
            text, line = blocks[-1][3], line.strip()
            text[key] += joint(key, line)
            text.lines[key].append((len(text[key]), number))
            text[key] += line
        else:
            key, _, text = line.strip().partition(" ")
            if key in blocks[-1][3]:
                sys.exit(f"{where}: {key} is there twice")
            blocks[-1][3][key] = text.strip()
            blocks[-1][3].lines[key] = [(0, number)]
    return blocks


def bracket(sql, at):
    """The text in the brackets that open at `at`, if any do, and where they end."""
    if sql[at:at + 1] != "(":
        return None, at
    depth = 0
    for i in range(at, len(sql)):
        depth += (sql[i] == "(") - (sql[i] == ")")
        if not depth:
            return sql[at + 1:i], i + 1
    return None, at


def filled(where, sql, parts, depth=0):
    """`sql` with every $WORD replaced."""
    out, at = "", 0
    if depth > 9:
        sys.exit(f"{where}: definitions go round in a circle")
    for match in re.finditer(r"\$([a-z]\w*)", sql):
        if match.start() < at:
            continue # in what stood in brackets before
        if match[1] not in parts:
            sys.exit(f"{where}: ${match[1]} is not defined")
        part, end = parts[match[1]], match.end()
        if "$1" in part:
            given, end = bracket(sql, end)
            if given is None:
                sys.exit(f"{where}: ${match[1]} wants something in brackets")
            part = part.replace("$1", given.strip())
        out += sql[at:match.start()] + filled(where, part, parts, depth + 1)
        at = end
    return out + sql[at:]


def expand(blocks):
    """The blocks with every $WORD of their statements replaced, without the definitions."""
    parts = {name: text.get("sql", "") for _, kind, name, text in blocks if kind == "define"}
    for where, kind, _, text in blocks:
        if "sql" in text and kind != "define":
            text["sql"] = filled(where, text["sql"], parts)
        for key in ("max_factor", "unless"):
            if key in text:
                text[key] = filled(where, text[key], parts)
    return [block for block in blocks if block[1] != "define"]


# Columns of a statement, by kind of rule: (name, SQL without such a column).
COLUMNS = {
    "finding": "{id} {level} {text} {do} time_s gain_s gain_low_s gain_high_s sample_n",
    "cause": "loop_id {level} {text} {do}",
    "loops": "loop_id {text} {place} is_alone time_s sample_n pct {noun} function has_line "
             "function_id first_line",
    "flag": "times {text}",
    "check": "score {text} {do}",
}
DEFAULTS = {"times": "1"}


def stop(where, text, key, at, message):
    """Ends the program with an error about a text of a rule."""
    sys.exit(f"{where.rpartition(':')[0]}:{text.line_of(key, at)}: {message}")


def columns_of(block, when):
    """Returns the columns of a `when`, which holds no text. `when`: with its words filled in."""
    where, _, name, text = block
    literal = advice_text.text_in(text["when"])
    if literal:
        stop(where, text, "when", text["when"].find(literal),
             f"{name}: '{literal}' is a text in a statement; move it to a template")
    try:
        return advice_text.columns_of(when)
    except advice_text.TemplateError as error:
        return stop(where, text, "when", 0, f"{name}: {error}")


def compiled(block, compiler):
    """Returns {key: SQL} of the templates of a rule."""
    where, _, name, text = block
    values = {}
    for key in TEMPLATES:
        try:
            values[key] = compiler.compile(text[key]) if key in text else "NULL"
        except advice_text.TemplateError as error:
            stop(where, text, key, error.at, f"{name}: {key}: {error}")
    values["id"] = "?1" if text.get("object") == "run" else f"l.{text.get('object')}_id"
    return values


def places_of(block, columns):
    """Returns the columns that fill places of the command."""
    where, _, name, text = block
    places = set(re.findall(r"\{(\w+)\}", text.get("command", ""))) - {"experiment"}
    if places - columns:
        stop(where, text, "command", 0, f"{name}: no column fills {{{min(places - columns)}}}")
    return places


def statement_of(block, pieces, words):
    """Returns the statement of a rule: its `when` as l, and its texts from that."""
    where, kind, name, text = block
    when = filled(where, text["when"], words)
    columns = columns_of(block, when)
    compiler = advice_text.Compiler(columns, pieces, words)
    values, places = compiled(block, compiler), places_of(block, columns)
    spare = advice_text.unused_column(text["when"], when, compiler.used | places)
    if spare:
        stop(where, text, "when", max(text["when"].find(f" AS {spare}"), 0),
             f"{name}: nothing reads the column '{spare}'")
    items = []
    for item in COLUMNS[kind].split():
        known = f"l.{item}" if item in columns else DEFAULTS.get(item, "NULL")
        items.append(values[item[1:-1]] if item[0] == "{" else known)
    items += [f"l.{name} AS {name}" for name in sorted(compiler.named | places)]
    select = ",\n".join(items)
    return f"WITH l AS MATERIALIZED (\n{text['when']})\nSELECT {select}\nFROM l"


def make_statements(blocks):
    """Gives each rule that has a `when` its statement, and drops the pieces."""
    words = {name: text.get("sql", "") for _, kind, name, text in blocks if kind == "define"}
    pieces = {name: text["text"] for _, kind, name, text in blocks if kind == "piece"}
    for where, kind, name, text in blocks:
        if kind == "piece":
            try:
                advice_text.parse(text["text"])
            except advice_text.TemplateError as error:
                stop(where, text, "text", error.at, f"piece {name}: {error}")
    for block in blocks:
        if block[1] in COLUMNS:
            block[3]["sql"] = statement_of(block, pieces, words)
    return [block for block in blocks if block[1] != "piece"]


def check_names(blocks):
    """Names of rules in other rules are those of rules; causes come behind those they name."""
    rules = {name for _, kind, name, _ in blocks if kind in ("flag", "finding", "cause")}
    spoken = set()
    for where, kind, name, text in blocks:
        for word in text.get("said_by", "").split():
            if word not in rules:
                sys.exit(f"{where}: {name}: there is no rule {word}")
        for word in text.get("unless", "").split():
            if word not in spoken:
                sys.exit(f"{where}: {name}: no cause above it is {word}")
        if kind == "cause":
            spoken.add(name)


def check(blocks):
    seen = set()
    for where, kind, name, text in blocks:
        must, may = (words.split() for words in KEYS[kind])
        for key in must:
            if not text.get(key):
                sys.exit(f"{where}: {kind} {name} has no {key}")
        for key in text:
            if key not in must and key not in may:
                sys.exit(f"{where}: {kind} {name}: unknown key '{key}'")
        if (kind, name) in seen:
            sys.exit(f"{where}: {kind} {name} is there twice")
        seen.add((kind, name))
        if kind == "metric":
            check_metric(where, name, text)
        if kind == "what_if" and text["kind"] not in WHAT_IF_KINDS:
            sys.exit(f"{where}: {name}: kind is one of {', '.join(WHAT_IF_KINDS)}")
        if kind == "finding" and text["object"] not in OBJECTS:
            sys.exit(f"{where}: {name}: object is one of {', '.join(OBJECTS)}")
        if kind == "try":
            check_try(where, name, text)
        if kind == "option":
            check_option(where, name, text)


def check_try(where, name, text):
    if text["what"] not in TRY_WHAT:
        sys.exit(f"{where}: {name}: what is one of {', '.join(TRY_WHAT)}")
    if not set("env preload wrap launcher ranks flags".split()) & set(text):
        sys.exit(f"{where}: {name} changes nothing")
    if ("flags" in text) != ("compiler" in text) or ("flags" in text) != (text["what"] == "flags"):
        sys.exit(f"{where}: {name}: flags and compiler belong to what flags")
    for word in text.get("when", "").split():
        if not re.fullmatch(TRY_WHEN, word):
            sys.exit(f"{where}: {name}: nothing is known of 'when {word}'")
    for word in text.get("env", "").split():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*=\S+", word):
            sys.exit(f"{where}: {name}: '{word}' is no variable with its value")


def check_option(where, name, text):
    if text["kind"] not in ("harmful", "useful"):
        sys.exit(f"{where}: {name}: kind is harmful or useful")
    if ("cost" in text) != (text["kind"] == "harmful"):
        sys.exit(f"{where}: {name}: what is harmful has a cost, and nothing else")
    for word in (text["words"] + " " + text.get("off", "")).split():
        if not re.fullmatch(r"-[\w=,+*-]+", word) or "*" in word[:-1]:
            sys.exit(f"{where}: {name}: '{word}' is no option")


def check_tries(blocks, rules):
    """Each finding that a try answers is a rule."""
    for where, kind, name, text in blocks:
        for word in text.get("finding", "").split() if kind == "try" else []:
            if word not in rules:
                sys.exit(f"{where}: {name}: there is no rule {word}")


def check_metric(where, name, text):
    if text["better"] not in BETTER or text.get("kind", "") not in METRIC_KINDS:
        sys.exit(f"{where}: {name}: better or kind is none of those that there are")
    if ("good" in text) != ("fair" in text):
        sys.exit(f"{where}: {name}: good and fair belong together")
    if ("sql" in text) != ("kind" in text):
        sys.exit(f"{where}: {name}: sql and kind belong together")
    if "good" not in text:
        return
    good, fair = float(text["good"]), float(text["fair"])
    if text["better"] == "neither" or (good > fair) != (text["better"] == "higher"):
        sys.exit(f"{where}: {name}: the rating goes against 'better {text['better']}'")


def check_gains(blocks):
    """Each gain of a cause is `none`, `all`, `called` or a what-if about loops of every profile."""
    what_ifs = {name for _, kind, name, text in blocks if kind == "what_if"
                and text["kind"] == "loops" and not text.get("metric", "").startswith("decan_")}
    known = what_ifs | {None, "none", "all", "called"}
    for where, kind, name, text in blocks:
        if kind == "cause" and what_ifs and text.get("gain") not in known:
            sys.exit(f"{where}: {name}: there is no what-if {text['gain']} of loops")


@functools.lru_cache(None)
def quality_names(word):
    """What $of_loop or $of_cqa may ask for: metrics of data/quality, and those of the recording."""
    folder = pathlib.Path(__file__).resolve().parent.parent / "data/quality"
    if word == "of_loop":
        return {name for _, _, name, _ in blocks_of(folder / "metrics.txt")} | RECORDED
    names = set(CQA_SAID)
    for _, _, name, text in blocks_of(folder / "cqa.txt"):
        stem, _, unit = name.rpartition("_")
        names |= {f"{stem}_{of}_{unit}" for of in text.get("of", "").split()} or {name}
    return names


def check_metrics_asked(blocks):
    """Rejects a statement that asks for a metric without a source: it would never hold."""
    asked = r"\$(of_loop|of_cqa)(?:_here)?\(\s*(\w+)\s*\)"
    for where, _, name, text in blocks:
        for word, metric in re.findall(asked, text.get("sql", text.get("when", ""))):
            if metric not in quality_names(word):
                sys.exit(f"{where}: {name}: no metric for ${word} is called {metric}")


def c_text(text):
    if text is None:
        return "NULL"
    parts = [text[i:i + 80] for i in range(0, len(text), 80)] or [""]
    quoted = (part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
              for part in parts)
    return "\n        ".join(f'"{part}"' for part in quoted)


def row_of(kind, name, text, position):
    get = text.get
    if kind == "metric":
        return (f"    {{.metric = {{.name = {c_text(name)}, .unit = {c_text(get('unit'))},\n"
                f"        .meaning = {c_text(get('meaning'))},\n"
                f"        .formula = {c_text(get('formula'))},\n"
                f"        .better = {BETTER[get('better')]}, .title = {c_text(get('title'))},\n"
                f"        .topic = {c_text(get('topic'))}, .good = {get('good', 0)},\n"
                f"        .fair = {get('fair', 0)}, .position = {position}}},\n"
                f"     .kind = {METRIC_KINDS[get('kind', '')]}, .sql = {c_text(get('sql'))}}},\n")
    if kind == "what_if":
        return (f"    {{.name = {c_text(name)}, .title = {c_text(get('title'))},\n"
                f"     .meaning = {c_text(get('meaning'))}, .position = {position},\n"
                f"     .kind = {WHAT_IF_KINDS[get('kind')]}, .variant = {c_text(get('variant'))},\n"
                f"     .metric = {c_text(get('metric'))},\n"
                f"     .max_factor = {c_text(get('max_factor', '1'))},\n"
                f"     .sql = {c_text(get('sql'))}}},\n")
    if kind == "check":
        said_by = get("said_by")
        return (f"    {{.name = {c_text(name)}, .title = {c_text(get('title'))},\n"
                f"     .weight = {get('weight')}, .position = {position},\n"
                f"     .said_by = {c_text(f' {said_by} ' if said_by else None)},\n"
                f"     .sql = {c_text(get('sql'))}}},\n")
    if kind == "try":
        words = "env preload wrap launcher ranks flags train merge compiler when finding".split()
        rest = ", ".join(f".{word} = {c_text(get(word))}" for word in words)
        return (f"    {{.name = {c_text(name)}, .what = AS_TRIAL_{TRY_WHAT[get('what')]},\n"
                f"     .title = {c_text(get('title'))}, .group = {c_text(get('group'))},\n"
                f"     {rest}}},\n")
    if kind == "option":
        return (f"    {{.name = {c_text(name)}, .title = {c_text(get('title'))},\n"
                f"     .meaning = {c_text(get('meaning'))},\n"
                f"     .harmful = {'true' if get('kind') == 'harmful' else 'false'},\n"
                f"     .cost = {get('cost', 0)}, .words = {c_text(get('words'))},\n"
                f"     .off = {c_text(get('off', ''))}, .compiler = {c_text(get('compiler'))}}},\n")
    if kind in ("flag", "loops"):
        return f"    {{.name = {c_text(name)}, .sql = {c_text(get('sql'))}}},\n"
    if kind == "cause":
        unless = get("unless")
        return (f"    {{.name = {c_text(name)}, .topic = {c_text(get('topic'))},\n"
                f"     .pattern = {c_text(get('pattern'))}, .gain = {c_text(get('gain'))},\n"
                f"     .unless = {c_text(f' {unless} ' if unless else None)},\n"
                f"     .sql = {c_text(get('sql'))}}},\n")
    return (f"    {{.name = {c_text(name)}, .topic = {c_text(get('topic'))},\n"
            f"     .object = AS_OBJECT_{get('object').upper()},\n"
            f"     .command = {c_text(get('command'))},\n"
            f"     .sql = {c_text(get('sql'))}}},\n")


def main():
    target, header, table, *names = sys.argv[1:]
    blocks = []
    for name in names:
        blocks += blocks_of(pathlib.Path(name))
    check(blocks)
    rules = {name for _, kind, name, _ in blocks if kind in ("finding", "cause")}
    check_tries(blocks, rules)
    check_gains(blocks)
    check_metrics_asked(blocks)
    if any(kind == "try" for _, kind, _, _ in blocks):
        blocks = [block for block in blocks if block[1] == "try"]
    blocks = expand(make_statements(blocks))
    check_names(blocks)
    with open(target, "w", encoding="ascii") as out:
        out.write(f'/* Generated by tools/gen-advice.py. */\n#include "{header}"\n')
        for kind in KEYS:
            rows = [block for block in blocks if block[1] == kind]
            if not rows:
                continue
            struct = "as_compiler_option" if kind == "option" else f"as_{kind}_row"
            out.write(f"\nconst struct {struct} as_{table}_{kind}[] = {{\n")
            for position, (_, _, name, text) in enumerate(rows, 1):
                out.write(row_of(kind, name, text, position))
            out.write(f"}};\nconst size_t as_{table}_{kind}_n = {len(rows)};\n")


if __name__ == "__main__":
    main()
