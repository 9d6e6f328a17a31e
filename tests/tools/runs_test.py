#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the tools that choose, run and sum up checks to made-up builds, logs and sources.

usage: runs_test.py ROOT
"""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "zoo"))
import tap as tap_module  # noqa: E402
import turn as turn_module  # noqa: E402


TESTS = [("base/csv", {"unit"}), ("cli/run", {"nightly-sanitizers"}), ("cli/info", {"assay"}),
         ("profile/shares", {"accuracy", "plain"}), ("profile/threads", {"accuracy", "plain"}),
         ("code/big", {"nightly"}), ("web/unit", {"plain"}), *(
             (f"turn/{n}", {"rotating", "plain", "nightly-sanitizers"}) for n in range(6))]


def loaded(root, name):
    """Returns a tool with a hyphen in its file name as a module."""
    sys.path.insert(0, str(root / "tools"))
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), root / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def turned(turn):
    with unittest.mock.patch.dict(os.environ, ASSAY_TEST_TURN=turn):
        return turn_module.mine(range(12))


def check_choice(tap, tool):
    daily = tool.selected(TESTS, "--daily")
    tap.equal(len([name for name in daily if name.startswith("profile/")]), 1,
              "choose-tests: a day has one test of accuracy")
    tap.same_set([name for name in daily if not name.startswith(("profile/", "turn/"))],
                 ["base/csv", "cli/run", "cli/info", "web/unit"],
                 "choose-tests: a day has all but the suites nightly, accuracy and rotating")
    chosen = {tool.chosen_accuracy(TESTS, f"{n:08x}")[0] for n in range(2)}
    tap.same_set(chosen, ["profile/shares", "profile/threads"],
                 "choose-tests: commits take turns among the tests of accuracy")
    tap.equal(tool.chosen_accuracy(TESTS, "00000001abc"), tool.chosen_accuracy(TESTS, "00000001"),
              "choose-tests: one commit always has the same test")
    turns = [tool.chosen_rotating(TESTS, f"00000000{n:08x}") for n in range(10)]
    tap.equal(turns[:5], [["turn/0", "turn/5"], ["turn/1"], ["turn/2"], ["turn/3"], ["turn/4"]],
              "choose-tests: commits take turns among fifths of the suite rotating")
    tap.equal(turns[5:], turns[:5], "choose-tests: after five the fifths begin again")
    tap.same_set(tool.selected(TESTS, "--nightly"),
                 ["profile/shares", "profile/threads", "code/big",
                  *(f"turn/{n}" for n in range(6))],
                 "choose-tests: a night has the suites nightly, accuracy and rotating")
    tap.same_set(tool.selected(TESTS, "--sanitized-quick"), ["base/csv", "cli/info"],
                 "choose-tests: quick sanitizers leave out what records, and plain")
    tap.same_set(tool.selected(TESTS, "--sanitized"),
                 ["base/csv", "cli/run", "cli/info", "code/big"],
                 "choose-tests: sanitizers leave out plain")
    tap.equal([tool.turn_of(word, "0" * 8 + "00000007") for word in
               ("--daily", "cli/*", "--sanitized-quick", "--nightly", "--sanitized", "--all")],
              ["2", "2", "2", "all", "all", "all"],
              "choose-tests: a commit tries a fifth of many cases, a night all")
    tap.equal([turned(turn) for turn in ("1", "7", "all")],
              [[1, 6, 11], [2, 7], list(range(12))], "turn: cases are tried in fifths, or all")
    tap.equal(tool.named(TESTS, ["cli/*", "cli/run"]), ["cli/run", "cli/info"],
              "choose-tests: a pattern names tests, each once")


def summary_of(root, folder, tests):
    log = folder / "testlog.json"
    log.write_text("".join(json.dumps(test) + "\n" for test in tests))
    return subprocess.run([sys.executable, root / "tools/test-summary.py", log],
                          capture_output=True, text=True, check=False)


def check_summary(tap, root, folder):
    tests = [{"name": f"t{n}", "duration": n, "result": "OK", "returncode": 0,
              "stdout": "ok 1 - fine\n"} for n in range(1, 31)]
    good = summary_of(root, folder, tests)
    slow = [line.split()[3] for line in good.stdout.splitlines() if line.startswith("slow:")]
    tap.equal(slow, [f"t{n}" for n in range(30, 10, -1)],
              "test-summary: shows the 20 slowest, slowest first")
    tap.equal((good.stdout.splitlines()[-1], good.returncode), ("30 passed, 0 failed", 0),
              "test-summary: the last line counts the points")
    more = summary_of(root, folder, [dict(test, duration=21) for test in tests])
    tap.equal(more.stdout.count("slow:"), 30, "test-summary: shows all that took over 20 s")
    crash = dict(tests[0], result="FAIL", returncode=-11)
    bad = summary_of(root, folder, [crash])
    tap.equal((bad.stdout.splitlines()[-1], bad.returncode), ("1 passed, 1 failed", 1),
              "test-summary: a program that crashed after its points has failed")
    lines = ["# Subtest: one", "ok 1 - one", "# Subtest: two", "not ok 2 - two", "  ---",
             "  error: '3 is not 4'", "  ...", "# Subtest: three", "ok 3 - three"]
    node = summary_of(root, folder, [dict(tests[0], result="FAIL", stdout="\n".join(lines))])
    tap.equal(node.stdout.splitlines()[1:-1],
              ["failed: t1: two", "  ---", "  error: '3 is not 4'", "  ..."],
              "test-summary: shows the diagnostics of a failed point, and no other point's name")


def check_steps(tap, root, folder):
    script = (f". {root}/tools/steps.sh; steps_begin {folder}/steps; step one sh -c "
              "'echo wrong; exit 3'; step two true; steps_end")
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    tap.equal(ran.returncode, 1, "steps: a step that fails makes the run fail")
    tap.equal([line.split()[0] + " " + line.split()[-1] for line in ran.stdout.splitlines()[-2:]],
              ["one FAILED", "two passed"], "steps: the others run all the same")
    tap.equal(ran.stdout.count("\nwrong\n"), 2, "steps: the log of a failed step is shown again")
    script = f". {root}/tools/steps.sh; steps_begin {folder}/steps; step one true; steps_end"
    ran = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    tap.equal(ran.returncode, 0, "steps: a run without a failed step passes")


def git(folder, *words):
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *words],
                   cwd=folder, check=True, capture_output=True)


def check_analyzed(tap, tool, folder):
    """A tree of three sources, of which one, and the header of another, change."""
    tree = folder / "tree"
    (tree / "src/room").mkdir(parents=True)
    for name, text in (("a.c", '#include "room/a.h"\nint *at = &a;\n'), ("a.h", "\n"),
                       ("b.c", "\n"), ("c.c", '#include "room/a.h"\n')):
        (tree / "src/room" / name).write_text(text)
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "one", "--date=2001-01-01T00:00:00")
    tool.ROOT = tree
    sources = [f"src/room/{name}.c" for name in "abc"]
    tap.equal(tool.analyzed(sources, ["--base", "HEAD"]), [], "analyzer: nothing changed")
    tap.equal(tool.analyzed(sources, []), sources, "analyzer: without a base it takes everything")
    (tree / "src/room/a.h").write_text("int a;\n")
    (tree / "src/room/b.c").write_text("int b;\n")
    tap.equal(tool.analyzed(sources, ["--base", "HEAD"]), ["src/room/a.c", "src/room/b.c"],
              "analyzer: takes changed sources and those that use what changed in a header")
    (tree / "src/room/b.c").write_text("/* Says why. */\n")
    tap.equal(tool.analyzed(sources, ["--base", "HEAD"]), ["src/room/a.c"],
              "analyzer: leaves out a source whose comments alone changed")
    tap.equal(tool.analyzed(sources, ["--all"]), sources, "analyzer: --all takes everything")


HEADER = """#ifndef H
#define H
/* Comment. */
#define LIMIT 8
struct pair {
    int first;
    int second[LIMIT];
};
int add(const struct pair *pair);
int sub(const struct pair *pair);
#endif
"""


def check_changed(tap, tool):
    """Names that a change of HEADER concerns, and texts that hold the same code."""
    def names(old, new):
        return tool.changed_names(tool.code_lines(HEADER),
                                  tool.code_lines(HEADER.replace(old, new)))

    def same(old, new):
        return tool.code_lines(old) == tool.code_lines(new)

    tap.equal([same(*pair) for pair in (
        ("int a; /* b */\n\nint c;", "int a; // d /* e\nint  c;"),
        ("a = \"/* b */\";", "a = \"/* c */\";"), ("a = b;", "a = b; // NOLINT"),
        ("a = '\"'; /* b */", "a = '\"';"), ("#define A b\nc", "#define A b c"))],
        [True, False, False, True, False],
        "changed-code: comments and distances are no code; texts and marks for checks are")
    tap.equal(names("Comment.", "Another."), set(), "changed-code: a comment concerns no name")
    tap.equal(names("int sub(", "long sub("), {"sub"},
              "changed-code: a function concerns its own name")
    tap.equal(names("int first;", "long first;"), {"first"},
              "changed-code: a member concerns its name")
    tap.equal(names("LIMIT 8", "LIMIT 9"), {"LIMIT", "pair", "first", "second"},
              "changed-code: a macro concerns what is made of it")
    tap.equal(names("#ifndef H", "#if 1"), {"*"},
              "changed-code: a condition concerns every source that includes the header")


def check_commands(tap, tool):
    words = ["cc", "-Isrc", "-fno-tree-loop-distribute-patterns", "-MD", "-MQ", "x.o", "-MF",
             "x.d", "-O2", "-o", "x.o", "-c", "../src/x.c"]
    command = tool.syntax_command(words)
    tap.equal(command[:4], ["clang", "-Isrc", "-O2", "../src/x.c"],
              "check-clang: a command of gcc becomes one of clang that writes nothing")
    tap.equal(tool.without_launcher(["/usr/bin/ccache", "cc", "-c"]), ["cc", "-c"],
              "check-clang: a compiler cache is no compiler")
    tap.equal(tool.syntax_command(["c++", "x.cc"])[0], "clang++", "check-clang: C++ too")


def main():
    root, tap = pathlib.Path(sys.argv[1]).resolve(), tap_module.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_choice(tap, loaded(root, "choose-tests"))
        check_summary(tap, root, folder)
        check_steps(tap, root, folder)
        clang = loaded(root, "check-clang")
        check_commands(tap, clang)
        check_analyzed(tap, clang, folder)
        check_changed(tap, clang.changed_code)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
