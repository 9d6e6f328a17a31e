#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests tools/build-docs.py: what its check of HTML finds, and a site of a small tree."""
import shutil
import sys

import trees

BUILD = trees.ROOT / "tools" / "build-docs.py"
CLEAN = {
    "index.html": '<body id="top"><a href="a/b.html#here">b</a><a href="#top">top</a>'
                  '<a href="https://example.org/x">away</a><script src="s.js"></script>',
    "a/b.html": '<html><body><h1 id="here">b</h1><a href="../index.html">up</a></body></html>',
    "s.js": "", "searchindex.js": "", "s.css": "body { background: url(data:image/png;base64,x) }",
}
# Plants: the file, its text, and the line that is printed.
FAULTS = [
    ("a/b.html", '<h1 id="here">b</h1><a href="gone.html">x</a>',
     "a/b.html: gone.html: no such file"),
    ("index.html", '<a href="a/b.html#there">x</a>', "index.html: a/b.html#there: no such anchor"),
    ("index.html", '<a href="s.js">s</a><script src="https://example.org/s.js"></script>',
     "index.html: loads https://example.org/s.js: not offline"),
    ("index.html", '<a href="s.js">s</a><link rel="stylesheet" href="//example.org/s.css">',
     "index.html: loads //example.org/s.css: not offline"),
    ("s.css", "@import url(/javascript/normalize.css);", "s.css: @import url"),
]
PAGES = {
    "VERSION": "9.8.7\n", "CHANGELOG.md": "# Changelog\n",
    "README.md": "# Tool\n\n[Index](doc/manual/README.md)\n",
    "doc/manual/README.md": "# Manual\n\n[b](../reference/b.md#two-words), [t](tutorial.md)\n",
    "doc/manual/tutorial.md": "# Tutorial\n\n    command | filter\n",
    "doc/reference/b.md": "# B\n\n## Two words\n\nquagga\n",
}


def check(root):
    return trees.command(sys.executable, BUILD, "--check", root, root)


def test_clean_site_passes(root):
    trees.write(root, CLEAN)
    status, output = check(root)
    assert (status, output) == (
        0, "docs: 2 pages, 4 links, none dead, nothing loaded from elsewhere\n"), output


def test_every_fault_is_found(root):
    for name, text, want in FAULTS:
        trees.write(root, {**CLEAN, name: text})
        status, output = check(root)
        assert status == 1 and want in output and output.count("\n") == 1, (want, output)


def test_site_without_search_is_refused(root):
    trees.write(root, {name: text for name, text in CLEAN.items() if name != "searchindex.js"})
    assert check(root)[0] == 1


def test_site_of_a_tree(root):
    if not shutil.which("sphinx-build"):
        return
    trees.write(root, PAGES)
    shutil.copytree(trees.ROOT / "doc" / "site", root / "doc" / "site")
    status, output = trees.command(sys.executable, BUILD, root, root / "html")
    assert status == 0, output
    index = (root / "html" / "index.html").read_text()
    assert "assay 9.8.7" in index
    assert "quagga" in (root / "html" / "searchindex.js").read_text()
    assert 'href="../reference/b.html#two-words"' in \
        (root / "html" / "doc" / "manual" / "README.html").read_text()
    trees.write(root, {"doc/reference/b.md": "# B\n\n[x](#nowhere)\n"})
    status, output = trees.command(sys.executable, BUILD, root, root / "html")
    assert status == 1, output


if __name__ == "__main__":
    trees.main(globals())
