#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks comments, messages, pages and commit subjects against the rules of CONTRIBUTING.md.

usage: check-prose.py [ROOT]               check the tree
       check-prose.py --list [ROOT] FILE...  print every fault of these files
       check-prose.py --shrink [ROOT]      lower the counts of the allow-list to those of the tree
       check-prose.py --move OLD NEW [ROOT]  hand the unused count of a file or folder to another
       check-prose.py --create [ROOT]      write the allow-list of a tree that has none

tools/prose-rules.txt holds the rules, tools/prose-allowed.txt the number of faults that each file
may have. A file with more faults fails, and a file with fewer fails until --shrink lowers its
count. No option raises the sum of the counts. Commits between the merge base with origin/main and
HEAD are checked; without origin/main none is. Exit status 1 when something was printed.
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

import allowed
import prose_text

HERE = pathlib.Path(__file__).resolve().parent
SHOWN = 40  # faults printed of one file
EXCLUDED = ("tests/golden/", "tests/fuzz/corpus/", "tools/prose-")
SENTENCE = re.compile(r"(?<=[.!?:;])\s+")
TOKEN = re.compile(r"[A-Za-z][\w'%/-]*")
SECTIONS = {"added", "changed", "fixed", "performance"}
SUBJECT = re.compile(r"[\w./+*-]+(?:, [\w./+*-]+)*: ([A-Z][a-z]+)\b.*")


class Rules:
    """The rules of tools/prose-rules.txt."""

    def __init__(self, path):
        self.limits, self.verbs, self.people, self.rules = {}, set(), set(), []
        self.starts, self.combined = [], {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            word, _, rest = line.strip().partition(" ")
            rest = rest.strip()
            if not word or word == "#" or word.startswith("#"):
                continue
            if word == "limit":
                name, _, value = rest.partition(" ")
                self.limits[name] = int(value)
            elif word in ("verbs", "people"):
                getattr(self, word).update(rest.split())
            elif word == "starts":
                self.starts += rest.split()
            elif word == "rule":
                self.rules.append({"name": rest, "never": [], "in": []})
            elif word in ("never", "kinds", "in", "use") and self.rules:
                self.rules[-1][word] = (rest if word == "use" else self.rules[-1].get(word, []) +
                                        ([rest] if word == "never" else rest.split()))
            else:
                raise SystemExit(f"{path}:{number}: unknown word '{word}'; use rule, never, use, "
                                 "kinds, in, limit, verbs, people or starts")
        for rule in self.rules:
            rule["pattern"] = re.compile(r"\b(?:" + "|".join(rule["never"]) + ")")
        clause = "|".join(word.capitalize() for word in self.starts)
        self.start = re.compile(r"(?:^|(?<=[.!?] ))[\"'(]*(" + clause + r") (?!course\b)[a-z%'\"]")

    def of(self, name):
        """Returns {kind: (pattern of all rules, rules)} of a file."""
        held = tuple(i for i, rule in enumerate(self.rules) if not rule["in"] or
                     any(fnmatch.fnmatchcase(name, glob) for glob in rule["in"]))
        if held not in self.combined:
            kinds = {}
            for i in held:
                for kind in self.rules[i]["kinds"]:
                    kinds.setdefault(kind, []).append(self.rules[i])
            self.combined[held] = {
                kind: (re.compile(r"\b(?:" + "|".join("|".join(rule["never"]) for rule in rules) +
                                  ")"), rules) for kind, rules in kinds.items()}
        return self.combined[held]


def word_faults(rules, held, chunk):
    """Yields (line, rule, text, use) of words that a chunk must not use, and of sentence starts."""
    starts = set()
    for match in rules.start.finditer(chunk.text):
        end = re.search(r"[.!?](?:\s|$)", chunk.text[match.end():])
        if not (end and end.group().startswith("?")):
            starts.add(match.start(1))
            yield (chunk.line(match.start(1)), "start", chunk.text[match.start(1):],
                   "subject, verb, object")
    if chunk.kind not in held:
        return
    pattern, kind_rules = held[chunk.kind]
    text = chunk.text.lower()
    for match in pattern.finditer(text):
        at = match.start()
        rule = next(rule for rule in kind_rules if rule["pattern"].match(text, at))
        before = TOKEN.findall(text, max(0, at - 40), at)
        if at in starts or (rule["name"] == "people" and before and before[-1] in rules.people):
            continue
        yield chunk.line(at), rule["name"], chunk.text[at:], rule["use"]


def length_faults(limits, chunk, is_source):
    """Yields faults of sentences and messages that are too long."""
    text, offset, most = chunk.text, 0, limits["sentence_words"]
    if chunk.is_cell:
        words = len(TOKEN.findall(text))
        if words > limits["cell_words"]:
            yield (chunk.line(0), "cell", text, f"at most {limits['cell_words']} words in a cell "
                   f"({words} now)")
        return
    sentences = SENTENCE.split(text) if len(text) > 2 * most else []
    for sentence in sentences:
        if len(sentence) > 2 * most and len(TOKEN.findall(sentence)) > most:
            offset = text.index(sentence, offset)
            yield (chunk.line(offset), "long", sentence, f"sentences of at most {most} words "
                   f"({len(TOKEN.findall(sentence))} now)")
    if chunk.kind == "message" and is_source:
        count = len(re.findall(r"[.!?](?=\s+[A-Z]|$)", text))
        if count > limits["message_sentences"]:
            yield (chunk.line(0), "message", text, f"at most {limits['message_sentences']} "
                   f"sentences in a message ({count} now)")


def page_faults(limits, name, text):
    """Yields faults of the layout of a Markdown page."""
    section, is_log = "", name == "CHANGELOG.md"
    for number, line in enumerate(prose_text.without_waived(text).split("\n"), 1):
        if len(line) > limits["columns"] and "http" not in line:
            yield (number, "columns", line,
                   f"at most {limits['columns']} columns ({len(line)} now)")
        if line.startswith("#"):
            section = line.strip("# ").lower()
        elif is_log and line.startswith("- ") and section not in SECTIONS:
            yield number, "section", line, "a section Added, Changed, Fixed or Performance"
        elif is_log and line.startswith("  ") and line.strip():
            yield number, "entry", line, "one line for each entry"


def name_faults(held, text):
    """Yields faults of the names that C code declares."""
    for kind, name, offset in prose_text.names_of(text):
        for rule in held[kind][1] if kind in held else ():
            if rule["pattern"].fullmatch(name):
                yield text.count("\n", 0, offset) + 1, rule["name"], name, rule["use"]


def faults_of(rules, name, text):
    """Returns the faults of a file in the order of its lines."""
    held, faults = rules.of(name), []
    is_source = name.endswith(".c")
    for chunk in prose_text.chunks_of(name, text):
        faults += word_faults(rules, held, chunk)
        faults += length_faults(rules.limits, chunk, is_source)
    if name.endswith(".md"):
        faults += page_faults(rules.limits, name, text)
    if name.endswith((".c", ".h")) and name.startswith(("src/", "cli/", "include/")):
        faults += name_faults(held, text)
    return sorted(faults)


def git(root, *arguments):
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True,
                          errors="replace", check=False)
    return done.stdout if done.returncode == 0 else ""


def texts_of(root):
    """Yields (name, text) of each file of the tree that is checked."""
    for name in git(root, "ls-files", "-co", "--exclude-standard").splitlines():
        if not name.startswith(EXCLUDED) and not name.endswith((".xz", ".s", ".json")):
            try:
                yield name, (root / name).read_text(encoding="utf-8")
            except (UnicodeDecodeError, OSError):
                pass


def subject_faults(rules, root):
    """Yields a sentence for each subject of a commit that is not on origin/main and is at fault."""
    base = git(root, "merge-base", "HEAD", "origin/main").strip()
    listed = git(root, "log", "--no-merges", "--format=%h %s", f"{base}..HEAD") if base else ""
    most = rules.limits["subject_characters"]
    for line in listed.splitlines():
        commit, _, subject = line.partition(" ")
        form = SUBJECT.fullmatch(subject)
        if len(subject) > most:
            yield (f"commit {commit}: subject: {len(subject)} characters; use at most {most}: "
                   f"{subject}")
        elif not form:
            yield f"commit {commit}: subject: not 'area: Verb object': {subject}"
        elif form[1].lower() not in rules.verbs:
            yield (f"commit {commit}: subject: '{form[1]}' is not in the list of verbs "
                   f"(tools/prose-rules.txt): {subject}")


def lines_changed(root, name, list_name):
    """Returns the lines of a file that changed since the base: origin/main, or the last commit of
    the allow-list."""
    base = (git(root, "merge-base", "HEAD", "origin/main") or
            git(root, "log", "-1", "--format=%H", "--", list_name)).strip()
    changed = set()
    for start, count in re.findall(r"^@@ [^+]*\+(\d+)(?:,(\d+))?", git(
            root, "diff", "-U0", base or "HEAD", "--", name), re.M):
        changed.update(range(int(start), int(start) + int(count or 1)))
    return changed


def show(name, faults, limit=None):
    for line, rule, text, use in faults[:limit]:
        print(f"{name}:{line}: {rule}: \"{text[:70].rstrip()}\"; use: {use}")
    if limit and len(faults) > limit:
        print(f"{name}: ... and {len(faults) - limit} more")


def report(root, found, counts, list_name):
    """Prints the files with other counts than allowed; returns the number of these files."""
    differing = 0
    for name in sorted(found.keys() | counts.keys()):
        faults, count = found.get(name, []), counts.get(name, 0)
        if len(faults) > count:
            changed = lines_changed(root, name, list_name) if count else None
            near = [fault for fault in faults if changed and fault[0] in changed]
            show(name, near or faults, SHOWN)
            print(f"{name}: faults of language: {len(faults)}, allowed: {count}")
        elif len(faults) < count:
            print(f"{name}: faults of language: {len(faults)}, allowed: {count}; lower the count: "
                  "run tools/check-prose.py --shrink")
        differing += len(faults) != count
    return differing


def main(arguments):
    action = arguments.pop(0) if arguments and arguments[0].startswith("--") else ""
    pair = [arguments.pop(0), arguments.pop(0)] if action == "--move" and len(arguments) > 1 else []
    roots = [item for item in arguments if action != "--list" or pathlib.Path(item).is_dir()]
    root = pathlib.Path(roots[0] if roots else HERE.parent).resolve()
    if (action not in ("", "--list", "--shrink", "--move", "--create") or
            (action == "--move") != bool(pair)):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    rules = Rules(HERE / "prose-rules.txt")
    if action == "--list":
        for item in (item for item in arguments if item not in roots):
            show(item, faults_of(rules, item, (root / item).read_text(encoding="utf-8")))
        return 0
    path = root / "tools" / "prose-allowed.txt"
    head, counts = allowed.load(path)
    found = {name: faults_of(rules, name, text) for name, text in texts_of(root)}
    numbers = {name: len(faults) for name, faults in found.items() if faults}
    if action == "--create" and path.exists():
        print(f"{path}: exists already; use --shrink to lower its counts", file=sys.stderr)
        return 1
    if action == "--create":
        allowed.save(path, ["# Faults of language that each file may have, counted by "
                            "tools/check-prose.py. Counts only fall:", "# run "
                            "tools/check-prose.py --shrink after a text was improved."], numbers)
    elif action == "--shrink":
        allowed.save(path, head, allowed.shrunk(counts, numbers))
    elif action == "--move":
        allowed.save(path, head, allowed.moved(counts, numbers, *pair))
    else:
        subjects = list(subject_faults(rules, root))
        print("\n".join(subjects + [""]) if subjects else "", end="")
        if report(root, found, counts, str(path.relative_to(root))) or subjects:
            return 1
        print(f"prose: {len(found)} files checked, {sum(numbers.values())} faults allowed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
