#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/check-prose.py on small trees: a fault of every rule, clean texts, the allow-list."""
import re
import sys

import trees

CHECK = trees.ROOT / "tools" / "check-prose.py"
RULES = trees.ROOT / "tools" / "prose-rules.txt"
LONG = "The list has\n" + "one more word\n" * 7

# For each rule: files with one fault each, and the line of the fault.
FAULTS = {
    "start": [("doc/a.md", "# Title\n\nWhat a run costs is here.\n", 3),
              ("src/a/a.h", "/*\n * Reads a line. Of\n * the words each is one.\n */\n", 2),
              ("cli/a.c", 'f("no file. Whose path it\\n"\n  "is unknown");\n', 1),
              ("tools/a.py", '"""Title.\n\nWhether a file exists.\n"""\n', 3),
              ("tools/a.sh", "#!/bin/sh\n# Where it is.\n", 2),
              ("web/src/a.ts", "// Who calls this.\n", 1),
              ("data/a/b.txt", "metric a\n    meaning Of the loops the\n            first.\n", 2),
              ("doc/a.md", "| a | b |\n|---|---|\n| c | Whom a message reaches |\n", 3)],
    "long": [("doc/a.md", LONG + "here.\n", 1), ("src/a.c", f"/* {LONG}. */\n", 1)],
    "message": [("cli/a.c", 'f("One is here. Two are here. Three are here.");\n', 1)],
    "cell": [("doc/a.md", "| " + "word " * 16 + "|\n", 1)],
    "columns": [("doc/a.md", "Short.\n" + "w" * 101 + "\n", 2),
                ("doc/a.md", "| " + "w" * 100 + " |\n", 1)],
    "section": [("CHANGELOG.md", "# Unreleased\n- A verb.\n", 2)],
    "entry": [("CHANGELOG.md", "# Added\n- A verb\n  for loops.\n", 3)],
    "people": [("src/a.c", "/* The thread who waits. */\n", 1),
               ("web/src/a.tsx", "const a = <p>The loop\n whose body is hot</p>;\n", 2),
               ("cli/options.def", 'VERB(A, a, "the file nobody reads")\n', 1)],
    "is-no": [("cli/a.c", 'f("--rate: \'%s\' is no rate; use low");\n', 1)],
    "told": [("data/a/b.txt", "flag a\n    sql     SELECT 1, 'the user ' || 'is told so'\n", 2)],
    "mend": [("doc/a.md", "Mending a file.\n", 1)],
    "imperative": [("cli/a.c", 'f("%s: too large; give a number");\n', 1)],
    "collective": [("doc/a.md", "All operations\nof many.\n", 1)],
    "match": [("src/analytics/a.h", "/* A message meets another. */\n", 1)],
    "wait-state": [("src/analytics/a.h", "/* The rank to blame. */\n", 1)],
    "interval": [("src/a.h", "int a; /* one stretch */\n", 1)],
    "call-frame": [("src/a.h", "/* An open call. */\n", 1)],
    "trace-thread": [("src/analytics/a.h", "/* The location. */\n", 1)],
    "missing": [("doc/a.md", "Time unseen.\n", 1)],
    "patch-site": [("src/patch/a.h", "/* The hop. */\n", 1)],
    "stopped": [("src/agent/inject_a.c", "/* It is held. */\n", 1)],
    "build-tree": [("doc/a.md", "The yard.\n", 1)],
    "external-load": [("doc/a.md", "CPUs taken by others.\n", 1)],
    "environment-diff": [("doc/a.md", "It lists what was around.\n", 1)],
    "seccomp": [("doc/a.md", "A confined thread.\n", 1)],
    "vectorised": [("doc/a.md", "It works on whole vectors.\n", 1)],
    "stride": [("doc/a.md", "Its step only the running program knows.\n", 1)],
    "fma": [("doc/a.md", "It multiplies and adds in one instruction.\n", 1)],
    "divider": [("doc/a.md", "The unit that divides and takes roots.\n", 1)],
    "recurrence": [("doc/a.md", "A chain from iteration to iteration.\n", 1)],
    "port": [("doc/a.md", "A set of execution units.\n", 1)],
    "gather": [("doc/a.md", "It goes by indices.\n", 1)],
    "headings": [("web/src/a.tsx", "const a = 'Do this first: all';\n", 1)],
    "caveats": [("doc/a.md", "Heading: what lessens trust.\n", 1)],
    "cpu": [("doc/a.md", "Two processors.\n", 1)],
    "doubt": [("doc/a.md", "True as far as can be told.\n", 1)],
    "parse-name": [("src/a.c", "int a;\nstatic int take_row(int a)\n{\n}\n", 2),
                   ("src/a.c", "static void said_send(void)\n{\n}\n", 1)],
    "write-name": [("cli/a.h", "void as_page_say_all(void);\n", 1),
                   ("src/a.c", "static int *put_line(void)\n{\n}\n", 1)],
    "bound-name": [("src/a.h", "struct as_a {\n    uint32_t least_n;\n};\n", 2)],
}
CLEAN = {
    "README.md": "# What is it?\n\nA tool. What does it cost? The users who ask get `whose x "
                 "is no y`.\nThere is no file. It is no longer there.\n\n"
                 "```\nOf the code, who cares?\n```\n\n"
                 "    what processors print\n\n1. Start it.\n\n   Of course.\n"
                 "https://example.org/" + "w" * 100 + "\n",
    "CHANGELOG.md": "## Added\n- `assay a`: lists loops.\n",
    "src/a/a.c": "/* Returns 0, or AS_ERR_NOMEM; the caller frees. */\nint as_a_read(void)\n{\n"
                 "    run(\"SELECT 'x' FROM processor WHERE it is no b\");\n"
                 "    say('\"'); /* Of */\n    return put;\n}\n",
    "tests/a_test.c": 'f("what nobody reads in a test");\n',
    "data/a/a.txt": "flag a\n    sql     SELECT who, whose FROM nobody\n    title   Short\n",
    "web/src/a.ts": "const whose = f('a b');\n",
    "tools/a.py": '"""Title.\n\nusage: a.py WHO\n  whose file\n"""\nwho = "whose file is told"\n',
    "tests/a.bats": "cat >a.c <<'END'\n" + "#include <a.h>\n" * 21 + "END\n",
    "src/a/quoted.c": "/* prose: off */\n/* Of whom is told. */\n/* prose: on */\n",
}


def check(root, *arguments):
    return trees.command(sys.executable, CHECK, *arguments, root)


def allow(root, counts):
    trees.write(root, {"tools/prose-allowed.txt": "# head\n" + "".join(
        f"{name}\t{count}\n" for name, count in counts)})


def allowed(root):
    return (root / "tools/prose-allowed.txt").read_text(encoding="utf-8")


def test_every_rule_is_planted(_root):
    names = set(re.findall(r"^rule (\S+)", RULES.read_text(encoding="utf-8"), re.M))
    assert names <= FAULTS.keys(), names - FAULTS.keys()


def test_every_fault_is_found(root):
    for rule, plants in FAULTS.items():
        for name, text, line in plants:
            trees.write(root, {name: text})
            status, output = check(root)
            assert status == 1 and f"{name}:{line}: {rule}: " in output, (rule, name, output)
            assert f"{name}: faults of language: 1, allowed: 0\n" in output, (rule, name, output)
            (root / name).unlink()


def test_better_word_is_named(root):
    trees.write(root, {"doc/a.md": "A gathering.\n"})
    assert 'doc/a.md:1: collective: "gathering."; use: collective' in check(root)[1]


def test_clean_tree_passes(root):
    trees.write(root, CLEAN)
    status, output = check(root)
    assert status == 0 and output.startswith(f"prose: {len(CLEAN)} files checked, 0 "), output


def test_allowed_count_must_be_equal(root):
    trees.write(root, {"doc/a.md": "The yard.\n\nThe yard.\n"})
    for count, status in ((1, 1), (2, 0), (3, 1)):
        allow(root, [("doc/a.md", count)])
        assert check(root)[0] == status, count
    assert "run tools/check-prose.py --shrink" in check(root)[1]


def test_shrink_lowers_and_never_raises(root):
    trees.write(root, {"doc/fewer.md": "The yard.\n", "doc/more.md": "A yard.\n\nA yard.\n",
                     "doc/new.md": "The yard.\n", "doc/clean.md": "Text.\n"})
    allow(root, [("doc/fewer.md", 3), ("doc/more.md", 1), ("doc/clean.md", 2), ("doc/gone.md", 4)])
    assert check(root, "--shrink")[0] == 0
    assert allowed(root) == "# head\ndoc/fewer.md\t1\ndoc/more.md\t1\n"
    assert check(root)[0] == 1


def test_smaller_of_two_lines_holds(root):
    trees.write(root, {"doc/a.md": "The yard.\n\nThe yard.\n"})
    allow(root, [("doc/a.md", 2), ("doc/a.md", 5)])
    assert check(root)[0] == 0
    allow(root, [("doc/a.md", 1), ("doc/a.md", 2)])
    assert check(root)[0] == 1


def test_move_keeps_the_sum(root):
    trees.write(root, {"src/new/a.c": "/* A yard. */\n/* A yard. */\n",
                     "src/old/b.c": "/* A yard. */\n",
                     "src/b_part.c": "/* A yard. */\n\n/* A yard. */\n"})
    allow(root, [("src/old/a.c", 1), ("src/old/b.c", 3)])
    assert check(root, "--move", "src/old", "src/new")[0] == 0
    assert check(root, "--move", "src/old/b.c", "src/b_part.c")[0] == 0
    assert allowed(root) == "# head\nsrc/b_part.c\t2\nsrc/new/a.c\t1\nsrc/old/b.c\t1\n"


def test_create_only_without_a_list(root):
    trees.write(root, {"doc/a.md": "The yard.\n"})
    (root / "tools").mkdir()
    assert check(root, "--create")[0] == 0 and allowed(root).endswith("doc/a.md\t1\n")
    assert check(root)[0] == 0
    assert check(root, "--create")[0] == 1


def test_changed_lines_are_shown_first(root):
    trees.write(root, {"doc/a.md": "The yard.\n\nThe stride.\n"})
    allow(root, [("doc/a.md", 1)])
    trees.git(root, "add", ".")
    trees.git(root, "commit", "-qm", "all: Add pages")
    trees.write(root, {"doc/a.md": "The yard.\n\nThe stretch.\n"})
    output = check(root)[1]
    assert "doc/a.md:3: interval" in output and "build-tree" not in output, output


def test_subjects_of_new_commits(root):
    def commit(subject):
        trees.git(root, "commit", "-q", "--allow-empty", "-m", subject)
    commit("What was there before is not looked at")
    assert check(root)[0] == 0
    trees.git(root, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit("base, cli: Add a list")
    assert check(root)[0] == 0
    commit("base: What a list holds")
    commit("Add a list")
    commit("base: add a list")
    commit("base: Add " + "x" * 51)
    output = check(root)[1].splitlines()
    assert len(output) == 4, output
    for line, part in zip(output, ("61 characters", "not 'area", "not 'area", "'What' is not")):
        assert part in line, output


if __name__ == "__main__":
    trees.main(globals())
