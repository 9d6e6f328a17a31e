#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the pages of the tree as HTML that needs neither server nor network.

usage: build-docs.py ROOT OUTPUT [--check]

Copies the Markdown pages with their layout. Runs Sphinx (MyST, Furo) with warnings as errors. The
start page has the order of the pages in doc/manual/README.md. Then reads the HTML: each link inside
must lead to a file and an anchor. No page may load anything from elsewhere. OUTPUT is replaced.
--check reads an OUTPUT that exists and builds nothing. Exit status 1 after a fault.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

INDEX = "doc/manual/README.md"
TOP = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE",
       "examples/cg/README.md")
LINK = re.compile(r"(?<!\!)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s#:]+)(?:#[^)\s]*)?\)")
FOREIGN_IMPORT = re.compile(r"@import url\(/[^)]*\);")
FOREIGN_STYLE = re.compile(r"@import[^;]*;|url\(\s*['\"]?(?:[a-z]+:)?/[^)]*\)")
MODULE_IMPORT = re.compile(r'^import \w+ from "\./([\w.-]+)";$', re.M)
# Captions of the start page and the folders of their pages, in order.
PARTS = (("First steps", ("doc/manual/guide.md", "doc/manual/tutorial.md",
                          "doc/manual/coming-from.md")),
         ("How to", ("doc/manual/how-to/",)), ("Manual", ("doc/manual/",)),
         ("Reference", ("doc/reference/",)), ("For maintainers", ("doc/internals/", "")))


def normal(page, link):
    """Returns the path from the root that a link of `page` leads to."""
    return os.path.normpath(os.path.join(os.path.dirname(page), link))


def links_of(root, page):
    """Returns the relative links of a page as paths from the root, in their order."""
    text = (root / page).read_text(encoding="utf-8")
    return [normal(page, link) for link in LINK.findall(text)]


def stage(root, place):
    """Copies pages, pictures and the files that pages link to; returns the names of the pages."""
    names = {name for name in TOP if (root / name).is_file()}
    for part in ("manual", "reference", "internals", "images"):
        names |= {str(path.relative_to(root)) for path in (root / "doc" / part).rglob("*")
                  if path.suffix in (".md", ".png", ".svg")}
    pages = sorted(name for name in names if name.endswith(".md"))
    for page in pages:
        names |= {link for link in links_of(root, page) if (root / link).is_file()}
    for name in sorted(names):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, place / name)
    return pages


def start_page(root, pages):
    """Returns the Markdown of the start page; each page stands in one list."""
    version = (root / "VERSION").read_text(encoding="utf-8").strip()
    order = {name: at for at, name in enumerate(dict.fromkeys(links_of(root, INDEX)))}
    rest = [page for page in pages if page != INDEX]
    text = [f"# assay {version}\n\n[All commands and pages]({INDEX}), [what it is](README.md), "
            "[what is new](CHANGELOG.md).\n"]
    for caption, starts in PARTS:
        own = [page for page in rest if page.startswith(starts)]
        rest = [page for page in rest if page not in own]
        own.sort(key=lambda page: (order.get(page, len(order)), page))
        own = [INDEX] * (caption == "Manual") + own
        text.append(f"\n```{{toctree}}\n:caption: {caption}\n:maxdepth: 1\n"
                    ":titlesonly:\n\n" + "".join(page[:-3] + "\n" for page in own) + "```\n")
    return "".join(text)


def repair_theme(static):
    """Makes Debian's form of the theme work without a web server: one script, no foreign style.

    doc/site/static/site.css has the rules of the style that is left out.
    """
    for path in static.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        path.write_text(FOREIGN_IMPORT.sub("", text), encoding="utf-8")
    script = static / "scripts" / "furo.js"
    text = script.read_text(encoding="utf-8")
    for name in MODULE_IMPORT.findall(text):
        part = script.parent / name
        text = part.read_text(encoding="utf-8") + MODULE_IMPORT.sub("", text)
        part.unlink()
    script.write_text(text, encoding="utf-8")


def build(root, output):
    """Runs Sphinx; a failure ends the program."""
    if not shutil.which("sphinx-build"):
        sys.exit("docs: sphinx-build is missing; install python3-sphinx, python3-myst-parser, furo")
    with tempfile.TemporaryDirectory() as place:
        source, made = pathlib.Path(place, "source"), pathlib.Path(place, "html")
        pages = stage(root, source)
        (source / "index.md").write_text(start_page(root, pages), encoding="utf-8")
        status = subprocess.run(
            ["sphinx-build", "-q", "-W", "--keep-going", "-b", "html", "-c", root / "doc" / "site",
             "-d", pathlib.Path(place, "doctrees"), source, made], check=False).returncode
        if status:
            sys.exit(f"docs: sphinx-build failed with status {status}")
        shutil.rmtree(output, ignore_errors=True)
        repair_theme(made / "_static")
        for name in (".buildinfo", "objects.inv"):
            (made / name).unlink(missing_ok=True)
        shutil.copytree(made, output)


class Page(html.parser.HTMLParser):
    """Anchors, links and loaded files of a page of HTML."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(values[key] for key in ("id", "name") if values.get(key))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag == "link" and values.get("rel") not in ("canonical",):
            self.loads.append(values.get("href", ""))
        elif values.get("src"):
            self.loads.append(values["src"])


def faults_of(name, page, pages, output):
    """Yields the faults of one page."""
    for load in page.loads:
        if re.match(r"([a-z]+:)?//", load):
            yield f"{name}: loads {load}: not offline"
    for link in page.links + page.loads:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = normal(name, urllib.parse.unquote(parts.path)) if parts.path else name
        if not (output / target).exists():
            yield f"{name}: {link}: no such file"
        elif parts.fragment and target in pages and \
                urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
            yield f"{name}: {link}: no such anchor"


def check(output):
    """Prints faults of the HTML; returns whether there are any."""
    pages = {str(path.relative_to(output)): Page(path) for path in sorted(output.rglob("*.html"))}
    faults = [fault for name, page in pages.items()
              for fault in faults_of(name, page, pages, output)]
    for path in sorted(output.rglob("*.css")):
        faults += [f"{path.name}: {match}: not offline"
                   for match in FOREIGN_STYLE.findall(path.read_text(encoding="utf-8"))]
    if not (output / "searchindex.js").is_file():
        faults.append("searchindex.js: the search has no index")
    links = sum(len(page.links) for page in pages.values())
    print("\n".join(faults) if faults
          else f"docs: {len(pages)} pages, {links} links, none dead, nothing loaded from elsewhere")
    return bool(faults) or not links


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 2:
        sys.exit(__doc__)
    root, output = pathlib.Path(words[0]).resolve(), pathlib.Path(words[1]).resolve()
    if "--check" not in sys.argv:
        build(root, output)
    return 1 if check(output) else 0


if __name__ == "__main__":
    sys.exit(main())
