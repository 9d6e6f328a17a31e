#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes metrics.md, rules.md and caveats.md of doc/reference from the tables of data/.

usage: gen-reference.py [--check | --help-table FILE]

The first page has every metric, what-if and check with its unit, meaning, formula and rating. The
second has every rule of findings with its level and meaning, the third every caveat. So the pages
cannot disagree with what is shown. With --check nothing is written: exit status 1 when a page is
old. With --help-table the first two are written as C, for `assay --help metrics` and
`assay --help findings`.
"""
import importlib.util
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
METRICS, RULES = ROOT / "doc/reference/metrics.md", ROOT / "doc/reference/rules.md"

METRICS_HEAD = """# Metrics

Made from the tables in `data/` by `tools/gen-reference.py`; [advise.md](../internals/advise.md)
explains how figures come about and how to add one, [experiment.md](experiment.md) how to read
them.
Every value carries its 95 % interval, its origin and the samples behind it.
`assay --help metrics [NAME]` lists names, units and meanings; `*` in NAME stands for any
characters.

"""

RULES_HEAD = """# Rules of findings

Made from `data/advise` by `tools/gen-reference.py`. Each rule says how the tool knows, and what it
does not claim. `assay --help findings [NAME]` shows the same; `*` in NAME stands for any
characters. [findings.md](findings.md) says how often each rule was right,
[advise.md](../internals/advise.md) how to add one.

A rule of the level *gain* computes seconds and their interval. One of the level *potential* names
time, or a bound; the gain may be 0. A *hint* claims no time. An *expert* finding needs knowledge of
the code.

"""

CAVEATS = ROOT / "doc/reference/caveats.md"
CAVEATS_HEAD = """# Caveats

Made from `data/advise/caveats.txt` and `flags.txt` by `tools/gen-reference.py`. A caveat says that
a number of a run is doubtful or missing. Its text in the report names the amounts; this page
explains its name. `assay show --view flags` lists the caveats of an experiment.

"""


def generator():
    spec = importlib.util.spec_from_file_location("gen_advice", ROOT / "tools/gen-advice.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rating(text):
    if "good" not in text:
        return ""
    sign = ">=" if text["better"] == "higher" else "<="
    return f"good {sign} {text['good']}, fair {sign} {text['fair']}"


def named(name, text, meaning):
    """Name and meaning; where there is one for each word of `of`, of all together."""
    if "of" not in text:
        return name, meaning
    stem, _, unit = name.rpartition("_")
    words = ", ".join(text["of"].split())
    return f"{stem}_OF_{unit}", f"{meaning.replace('{of}', 'OF')} OF: {words}."


def entry(text):
    """Item of a list, wrapped."""
    return textwrap.fill(text, 100, subsequent_indent="  ", break_on_hyphens=False) + "\n"


def metrics(blocks):
    for _, _, name, text in blocks:
        meaning = f"**{text['title']}.** {text['meaning']} Formula: {text['formula']}."
        name, meaning = named(name, text, meaning)
        rated = f"; {rating(text)}" if rating(text) else ""
        yield entry(f"- `{name}` ({text['unit']}{rated}): {meaning}")


def plain(blocks):
    for _, _, name, text in blocks:
        yield entry(f"- `{name}`: **{text['title']}.** {text.get('meaning', '')}".rstrip())


PARTS = [
    ("Of a run", "data/advise/metrics.txt", metrics),
    ("Of loops and functions", "data/quality/metrics.txt", metrics),
    ("Of what loops and functions executed", "data/count/metrics.txt", metrics),
    ("Traffic between cache levels", "data/count/traffic.txt", metrics),
    ("Of instances of loops", "data/vprof/metrics.txt", metrics),
    ("Of loops that were counted or timed", "data/trust/metrics.txt", metrics),
    ("Of variants of loops", "data/decan/metrics.txt", metrics),
    ("Of traced runs", "data/analytics/metrics.txt", metrics),
    ("Of paths of loops on a core", "data/quality/cqa.txt", metrics),
    ("What-ifs", "data/advise/what-ifs.txt", plain),
    ("Checks", "data/advise/checks.txt", plain),
]


# Parts of `rules.md` and `--help findings`: (title, file, kind of block).
RULE_PARTS = [
    ("Findings of a run", "data/advise/findings.txt", "finding"),
    ("Causes of the time of a loop", "data/advise/causes.txt", "cause"),
    ("Causes by the code of a loop", "data/advise/topics.txt", "cause"),
    ("Caveats of a run", "data/advise/flags.txt", "flag"),
]
LEVELS = ("gain", "potential", "hint", "expert")


def levels_of(words, text):
    """Returns the levels that the template `level` of a rule may give, joined by 'or'."""
    template = words.get(text.get("level"), text.get("level", ""))
    return " or ".join(level for level in LEVELS if re.search(rf"\b{level}\b", template))


def rules(tool):
    """Yields (part, name, levels, meaning) of each rule; caveats have no level."""
    words = {f"{{{name}}}": block["sql"] for _, kind, name, block
             in tool.blocks_of(ROOT / "data/advise/words.txt") if kind == "define"}
    for title, path, kind in RULE_PARTS:
        for _, of, name, text in tool.blocks_of(ROOT / path):
            if of == kind:
                yield title, name, levels_of(words, text), text["meaning"]


def metrics_page(tool):
    text = METRICS_HEAD
    for title, path, form in PARTS:
        text += f"## {title}\n\n" + "".join(form(tool.blocks_of(ROOT / path))) + "\n"
    return text.rstrip() + "\n"


def rules_page(tool):
    text, part = RULES_HEAD.rstrip("\n") + "\n", None
    for title, name, levels, meaning in rules(tool):
        if title != part:
            text += f"\n## {title}\n\n"
            part = title
        text += entry(f"- `{name}`{f' ({levels})' if levels else ''}: {meaning}")
    return text


def caveats_page(tool):
    meanings = {name: text["meaning"] for _, _, name, text
                in tool.blocks_of(ROOT / "data/advise/flags.txt")}
    text = CAVEATS_HEAD
    for where, _, name, block in tool.blocks_of(ROOT / "data/advise/caveats.txt"):
        if (name in meanings) == ("meaning" in block):
            sys.exit(f"{where}: {name} needs one meaning, here or in flags.txt")
        meaning = meanings.get(name) or block["meaning"]
        text += entry(f"- `{name}`: {meaning} *Raised by:* {block['cause']} *Do:* {block['do']}")
    return text


def c_rows(tool, name, rows):
    """The rows (part, name, mark, meaning) of a table of help, as C."""
    text = f"\nconst struct as_help_term {name}[] = {{\n"
    for row in rows:
        text += f"    {{{', '.join(tool.c_text(word) for word in row)}}},\n"
    return text + "    {NULL, NULL, NULL, NULL},\n};\n"


def metric_rows(tool):
    for title, path, form in PARTS:
        for _, _, name, block in tool.blocks_of(ROOT / path) if form is metrics else []:
            name, meaning = named(name, block, f"{block['title']}. {block['meaning']}")
            yield title, name, block["unit"], meaning


def help_tables(tool):
    return ('/* Generated by tools/gen-reference.py. */\n#include "cli/help.h"\n'
            + c_rows(tool, "as_help_metrics", metric_rows(tool))
            + c_rows(tool, "as_help_findings", rules(tool)))


def main():
    tool = generator()
    if sys.argv[1:2] == ["--help-table"]:
        pathlib.Path(sys.argv[2]).write_text(help_tables(tool), encoding="ascii")
        return
    for path, text in ((METRICS, metrics_page(tool)), (RULES, rules_page(tool)),
                       (CAVEATS, caveats_page(tool))):
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path.relative_to(ROOT)} is not what data/ says: run tools/gen-reference.py")


main()
