#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is said of programs that others wrote (others/), which have no repaired form: recorded once,
and held to what an expert would not let pass.

  others.py record ASSAY DIRECTORY [NAME...]   makes their input, records them: recorded/
                                               (./dev record does it; those not installed are left)
  others.py judge AGAIN DIRECTORY SCHEMA       the rules of now on what was recorded, in TAP

A file makes the input of a program in an empty folder, with sh. Its head says, as `key: value;`:

  command   what is recorded; variables: with these
  has       rules of findings that are to be there
  never     rules that must not: they would be false of it, whatever the run
  gains     rules that may claim a gain (none, without)
  advises   a rule, and a pattern of what each of its findings advises
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import truth

OTHERS = truth.HERE / "others"
# No program here walks with holes.
NEVER_SAID = r"[Ss]wap loops"
# What nobody has tried claims no seconds: other options, more threads.
HINTS = ("oldest_instruction_set", "no_debug", "hottest", "waiting")


def names(chosen):
    return chosen or sorted(path.stem for path in OTHERS.glob("*.sh"))


def head_of(name):
    lines = (OTHERS / f"{name}.sh").read_text(encoding="ascii").splitlines()
    text = " ".join(line.strip("# ") for line in lines if line.startswith("#"))
    return {key: value.strip() for key, value in
            re.findall(r"\b(command|variables|has|never|gains|advises): ([^;]*);", text)}


def record(assay, name, directory):
    words, folder = head_of(name)["command"].split(), (directory / name).resolve()
    if not shutil.which(words[0]):
        print(f"{name}: {words[0]} is not installed: left as it is")
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = truth.environment_of(head_of(name).get("variables", ""))
    given |= {"HERE": str(truth.HERE), "HOME": str(folder)}
    subprocess.run(["sh", "-e", str(OTHERS / f"{name}.sh")], cwd=folder, env=given, check=True)
    subprocess.run([os.path.abspath(assay), "run", "--force", "-o", "x.assay", "--", *words],
                   cwd=folder, env=given, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    truth.shrink(folder / "x.assay/experiment.db", folder)
    truth.pack(folder / "x.assay/experiment.db", f"others-{name}")
    print(name, "is recorded", flush=True)


def wrong_with(name, found):
    """What an expert would not let pass: sentences."""
    head = head_of(name)
    rules = {it["rule"] for it in found}
    said = [f"{rule} is not among {sorted(rules)}" for rule in head.get("has", "").split()
            if rule not in rules]
    said += [f"{it['rule']} is said: {it['text']}" for it in found
             if it["rule"] in head.get("never", "").split()]
    said += [f"{it['rule']} claims a gain: {it['text']}" for it in found
             if it["level"] == "gain" and it["rule"] not in head.get("gains", "").split()]
    said += [f"{it['rule']} claims time: {it['text']}" for it in found
             if it["rule"] in HINTS and it["level"] != "hint"]
    said += [late for late in (truth.out_of_order(found),) if late]
    rule, _, words = head.get("advises", "").partition(" ")
    said += [f"{rule} does not advise '{words}': {it['how']}" for it in found
             if it["rule"] == rule and not re.search(words, it["how"])]
    return said + [f"{it['rule']} says what is false here: {text}" for it in found
                   for text in (it["text"], it["how"]) if re.search(NEVER_SAID, text)]


def judge_all(again, directory, schema):
    failed = 0
    print(f"1..{len(names([]))}")
    for number, name in enumerate(names([]), 1):
        found = truth.findings(again, "others", name, directory, schema)
        wrong = [found] if isinstance(found, str) else wrong_with(name, found)
        failed += bool(wrong)
        print("not ok" if wrong else "ok", number, f"- {name}: what is said, and what is not")
        for sentence in wrong:
            print("#", sentence)
    return failed


def main():
    verb, program, directory, *words = sys.argv[1:]
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    if verb == "record":
        for name in names(words):
            record(program, name, directory)
    else:
        sys.exit(judge_all(program, directory, pathlib.Path(words[0])) > 0)


if __name__ == "__main__":
    main()
