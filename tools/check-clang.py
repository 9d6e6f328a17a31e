#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks C and C++ sources with clang, by the commands that a build directory has recorded.

usage: check-clang.py BUILD warnings
       check-clang.py BUILD tidy
       check-clang.py BUILD analyzer [--all | --base COMMIT]

warnings  compiles each source outside src/ and cli/ for its warnings alone: tidy shows the
          others
tidy      clang-tidy without the static analyzer on each source of src/ and cli/
analyzer  clang's static analyzer, on the sources of src/ and cli/ that changed since COMMIT, and on
          those that use what changed in a header (changed_code.py). With --all it looks at all
          sources, and explores three times as many states. COMMIT is the last commit that main of
          the origin has too; if that is HEAD, the last one that is four hours old

A warning is an error. JOBS=N limits parallel work. Generated headers must exist: build first.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

import changed_code

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOBS = int(os.environ.get("JOBS") or os.cpu_count() or 2)
DROPS = {"-c", "-MD", "-fdiagnostics-color=always"}
DROPS_WITH_VALUE = {"-o", "-MQ", "-MF"}
# Options that gcc has and clang has not.
DROPS_OF_GCC = ("-fno-tree-", "-Wno-stringop-")
CLANG_ADDS = ["-fsyntax-only", "-Werror", "-Wno-unknown-warning-option",
              "-Wno-unused-command-line-argument", "-Wno-ignored-optimization-argument"]
# Appended to the checks of .clang-tidy, which says which checks of the analyzer are off.
ANALYZER = ",".join(f"-{group}-*" for group in (
    "bugprone", "cert", "clang-diagnostic", "misc", "performance", "portability", "readability"))
# The analyzer's default of 225,000 states for each function takes three times as long, which a
# night has: nearly all functions with loops use up whatever they get.
FEWER_STATES = ["--extra-arg=-Xclang", "--extra-arg=-analyzer-config", "--extra-arg=-Xclang",
                "--extra-arg=max-nodes=75000"]
LANGUAGES = (".c", ".cc", ".cpp")
LAUNCHERS = {"ccache", "sccache"}  # Meson puts one before the compiler where it is installed
BATCH = 4


def recorded(build):
    """Returns {source relative to the root: its compile command as words}, each source once."""
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(os.path.normpath(os.path.join(entry["directory"], entry["file"])))
        is_ours = ROOT in path.parents and build not in path.parents
        if is_ours and path.suffix in LANGUAGES:
            words = without_launcher(shlex.split(entry["command"]))
            commands.setdefault(str(path.relative_to(ROOT)), words)
    return commands


def is_product(source):
    return source.startswith(("src/", "cli/")) and source.endswith(".c")


def without_launcher(words):
    return words[1:] if pathlib.PurePath(words[0]).name in LAUNCHERS else words


def syntax_command(words):
    compiler = "clang++" if words[0] in ("c++", "g++", "clang++") else "clang"
    kept, drops_next = [compiler], False
    for word in words[1:]:
        if drops_next:
            drops_next = False
        elif word in DROPS_WITH_VALUE:
            drops_next = True
        elif word not in DROPS and not word.startswith(DROPS_OF_GCC):
            kept.append(word)
    return kept + CLANG_ADDS


def run_all(commands, directory):
    """Runs commands in parallel; prints what a failed one said. Returns the number of failures."""
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        jobs = [pool.submit(subprocess.run, command, cwd=directory, capture_output=True, text=True,
                            errors="replace", check=False) for command in commands]
        for job in concurrent.futures.as_completed(jobs):
            if job.result().returncode != 0:
                failures += 1
                print(job.result().stdout + job.result().stderr, flush=True)
    return failures


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True,
                          check=False).stdout.strip()


def base_commit():
    """Returns the commit that changes are counted from, or "" if everything is to be checked."""
    head = git("rev-parse", "HEAD")
    base = git("merge-base", "HEAD", "refs/remotes/origin/main")
    if base and base != head:
        return base
    return git("rev-list", "-1", "--before=4 hours ago", "HEAD")


def changed_since(base):
    names = git("diff", "--name-only", base) + "\n" + git("ls-files", "-o", "--exclude-standard")
    return {name for name in names.splitlines() if name}


def analyzed(sources, options):
    """Returns the sources that the analyzer is to see."""
    base = options[1] if options[:1] == ["--base"] else base_commit()
    if options[:1] == ["--all"] or not base:
        return sources
    changed = changed_since(base)
    if ".clang-tidy" in changed:
        return sources
    found = changed_code.changes(ROOT, base, changed)
    return [source for source in sources if changed_code.concerns(ROOT, source, found)]


def write_database(build, commands):
    """Writes the compile commands as clang reads them, each source once. Returns their folder."""
    folder = build / "clang"
    folder.mkdir(exist_ok=True)
    entries = [{"directory": str(build), "file": str(ROOT / source),
                "arguments": syntax_command(words)}
               for source, words in commands.items()]
    (folder / "compile_commands.json").write_text(json.dumps(entries))
    return folder


def tidy_commands(build, commands, sources, checks, options=()):
    folder = write_database(build, commands)
    batches = [sources[at:at + BATCH] for at in range(0, len(sources), BATCH)]
    return [["clang-tidy", "-p", str(folder), "--quiet", "--warnings-as-errors=*",
             f"--checks={checks}", *options, *batch] for batch in batches]


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("warnings", "tidy", "analyzer"):
        sys.exit(__doc__.split("\n\n")[1])
    build, what, options = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3:]
    commands = recorded(build)
    sources = sorted(source for source in commands if is_product(source))
    if what == "warnings":
        others = sorted(source for source in commands if not is_product(source))
        failures = run_all([syntax_command(commands[source]) for source in others], build)
        print(f"warnings: {len(others)} sources compiled by clang")
    elif what == "tidy":
        failures = run_all(tidy_commands(build, commands, sources, "-clang-analyzer-*"), ROOT)
        print(f"tidy: {len(sources)} sources checked")
    else:
        chosen = analyzed(sources, options)
        fewer = [] if options[:1] == ["--all"] else FEWER_STATES
        failures = run_all(tidy_commands(build, commands, chosen, ANALYZER, fewer), ROOT)
        print(f"analyzer: {len(chosen)} of {len(sources)} sources checked")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
