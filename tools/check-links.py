#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds links in pages to what is in the tree.

usage: check-links.py ROOT

Prints FILE:LINE: LINK: FAULT for
- a relative link of a Markdown page to a file that git does not know,
- an anchor (#...) that is not the heading of its page,
- the path of a page under doc/ in any text that does not exist,
- a page under doc/ that doc/manual/README.md does not link to.
Addresses with a scheme are not looked at. Exit status 1 if there is a fault.
"""
import pathlib
import re
import subprocess
import sys

INDEX = "doc/manual/README.md"
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
MENTION = re.compile(r"(?<![\w./-])doc/[\w./-]+\.md\b")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
# Their pages are made up.
SKIPPED = ("tests/tools/", "tests/golden/", "tests/fuzz/corpus/", "web/package-lock.json")


def tracked(root):
    """Returns the names of all files that git tracks or would add."""
    output = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root,
                            check=True, capture_output=True).stdout.decode()
    return [name for name in output.split("\0") if name and (root / name).is_file()]


def slug(heading):
    """Returns the anchor that GitHub makes of a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def without_code(text):
    """Blanks fenced and indented code and keeps the lines."""
    text = FENCE.sub(lambda match: re.sub(r"[^\n]", "", match.group()), text)
    return re.sub(r"^(?: {4}|\t).*$", "", text, flags=re.M)


def anchors(text):
    """Returns the anchors of a page; the second of equal headings ends in -1."""
    seen, found = {}, set()
    for heading in re.findall(r"^#{1,6} +(.+?)#*$", FENCE.sub("", text), re.M):
        name = slug(heading)
        count = seen[name] = seen.get(name, -1) + 1
        found.add(f"{name}-{count}" if count else name)
    return found


def target_of(name, link):
    """Returns the path from the root that a link of the page `name` leads to; None: outside."""
    parts = list(pathlib.PurePosixPath(name).parent.parts)
    for part in link.split("/"):
        if part == ".." and not parts:
            return None
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def page_faults(root, name, known, targets):
    """Yields line, link and fault of the links of one page; appends where they lead to targets."""
    text = without_code((root / name).read_text(encoding="utf-8"))
    for match in LINK.finditer(text):
        link = match.group(1)
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        path, _, anchor = link.partition("#")
        target = target_of(name, path) if path else name
        targets.append(target)
        fault = None
        if target not in known:
            fault = "no such file"
        elif anchor and target.endswith(".md") and anchor not in anchors(
                (root / target).read_text(encoding="utf-8")):
            fault = "no such heading"
        if fault:
            yield text.count("\n", 0, match.start()) + 1, link, fault


def mention_faults(root, name, known):
    """Yields line, path and fault of the pages that a text names."""
    try:
        text = (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    if name.endswith(".md"):
        text = LINK.sub(lambda match: "\n" * match.group().count("\n"), text)
    for match in MENTION.finditer(text):
        if match.group() not in known:
            yield text.count("\n", 0, match.start()) + 1, match.group(), "no such page"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    root = pathlib.Path(sys.argv[1])
    names = tracked(root)
    known = set(names)
    for name in names:  # links may lead to folders
        known.update(str(parent) for parent in pathlib.PurePosixPath(name).parents)
    pages, faults = {}, 0
    for name in names:
        if name.startswith(SKIPPED):
            continue
        found = list(mention_faults(root, name, known))
        if name.endswith(".md"):
            pages[name] = []
            found += page_faults(root, name, known, pages[name])
        for line, link, fault in sorted(found):
            faults += 1
            print(f"{name}:{line}: {link}: {fault}")
    for name in sorted(pages):
        if name.startswith("doc/") and name not in [INDEX, *pages.get(INDEX, [])]:
            faults += 1
            print(f"{name}: {INDEX} does not link to it")
    if not faults:
        print(f"links: {sum(map(len, pages.values()))} links of {len(pages)} pages, none dead")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
