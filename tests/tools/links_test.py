#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/check-links.py on small trees."""
import sys

import trees

CHECK = trees.ROOT / "tools" / "check-links.py"
INDEX = "doc/manual/README.md"
CLEAN = {
    "README.md": "# Tool\n\n[Index](doc/manual/README.md), ![picture](doc/images/a.png),\n"
                 "[b](doc/reference/b.md#two-words-and-code), [here](#tool),\n"
                 "[folder](doc/reference)\n[away](https://example.org/none.md)\n\n"
                 "    [code](none.md)\n\n"
                 "```\n[code](none.md)\n```\n",
    INDEX: "# Manual\n\n[b](../reference/b.md), "
           "[the `b`](../reference/b.md#two-words-and-code-1)\n",
    "doc/reference/b.md": "# B\n\n## Two words, and `code`\n\n## Two words, and `code`\n",
    "doc/images/a.png": "",
    "src/a.c": "/* doc/reference/b.md says how; so does /usr/share/doc/none.md. */\n",
}
# Plants: the file, its text, and the line that is printed.
FAULTS = [
    ("SECURITY.md", "Text.\n\n[gone](doc/none.md)\n", "SECURITY.md:3: doc/none.md: no such file"),
    ("doc/reference/b.md", "# B\n[up](../../../b.md)\n", "b.md:2: ../../../b.md: no such file"),
    ("doc/reference/b.md", "# B\n[old](b.md)\n![p](../images/none.png)\n",
     "doc/reference/b.md:3: ../images/none.png: no such file"),
    ("README.md", "[b](doc/reference/b.md#three)\n",
     "README.md:1: doc/reference/b.md#three: no such heading"),
    ("README.md", "# Tool\n[x](#none)\n", "README.md:2: #none: no such heading"),
    ("src/a.c", "int a; /* doc/b.md */\n", "src/a.c:1: doc/b.md: no such page"),
    ("doc/internals/c.md", "# C\n", f"doc/internals/c.md: {INDEX} does not link to it"),
]


def check(root):
    return trees.command(sys.executable, CHECK, root)


def test_clean_tree_passes(root):
    trees.write(root, CLEAN)
    assert check(root) == (0, "links: 7 links of 3 pages, none dead\n"), check(root)


def test_every_fault_is_found(root):
    for name, text, want in FAULTS:
        trees.write(root, {**CLEAN, name: text})
        status, output = check(root)
        assert status == 1 and want + "\n" in output, (want, output)
        assert output.count("\n") == 1 or name == "doc/reference/b.md", output
        (root / name).unlink()


def test_untracked_file_counts_and_ignored_does_not(root):
    trees.write(root, {**CLEAN, ".gitignore": "doc/reference/b.md\n"})
    status, output = check(root)
    assert status == 1 and "README.md:4: doc/reference/b.md#two-words-and-code: no such file" in \
        output, output


def test_wrong_use_is_an_error(_root):
    assert trees.command(sys.executable, CHECK)[0] == 1


if __name__ == "__main__":
    trees.main(globals())
