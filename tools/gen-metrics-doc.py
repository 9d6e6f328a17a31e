#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes doc/metrics.md from the tables of data/: gen-metrics-doc.py [--check]

Every metric, what-if and check with its unit, meaning, formula and rating, so that the page cannot
disagree with what is shown. With --check nothing is written: exit status 1 when the page is old.
"""
import importlib.util
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "doc/metrics.md"

HEAD = """# Metrics

Made from the tables in `data/` by `tools/gen-metrics-doc.py`; [advise.md](advise.md) says how the
figures come about and how to add one, [experiment.md](experiment.md) how to ask for them.
Every value carries its 95 % interval, its origin and the samples behind it.

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


def metrics(blocks):
    yield "| name | unit | rated | meaning and formula |\n|---|---|---|---|\n"
    for _, _, name, text in blocks:
        meaning = f"**{text['title']}.** {text['meaning']} *{text['formula']}*"
        if "of" in text: # one for each of these words
            stem, _, unit = name.rpartition("_")
            name = f"{stem}_OF_{unit}"
            meaning = f"{meaning.replace('{of}', 'OF')} OF: {', '.join(text['of'].split())}."
        yield f"| `{name}` | {text['unit']} | {rating(text)} | {meaning.replace('|', '/')} |\n"


def plain(blocks):
    yield "| name | meaning |\n|---|---|\n"
    for _, _, name, text in blocks:
        meaning = text.get("meaning", "").replace("|", "/")
        yield f"| `{name}` | **{text['title']}.** {meaning} |\n".replace(" |\n", " |\n")


def page(tool):
    parts = [
        ("Of a run", "data/advise/metrics.txt", metrics),
        ("Of loops and functions", "data/quality/metrics.txt", metrics),
        ("Of paths of loops on a core", "data/quality/cqa.txt", metrics),
        ("What-ifs", "data/advise/what-ifs.txt", plain),
        ("Checks", "data/advise/checks.txt", plain),
    ]
    text = HEAD
    for title, path, form in parts:
        text += f"## {title}\n\n" + "".join(form(tool.blocks_of(ROOT / path))) + "\n"
    return text.rstrip() + "\n"


def main():
    text = page(generator())
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("doc/metrics.md is not what data/ says: run tools/gen-metrics-doc.py")


main()
