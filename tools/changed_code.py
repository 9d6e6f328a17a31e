# SPDX-License-Identifier: Apache-2.0
"""Says which of the changed C files hold other code than before, and which sources that concerns.

Comments, blank lines and distances do not count. A changed header concerns the sources that include
it and name what its changed declarations declare. Headers that headers include are not followed.
"""
import pathlib
import re
import subprocess

# A comment, or what may hold the beginning of one.
COMMENT = re.compile(r'//(?:\\\n|[^\n])*|/\*.*?\*/|'
                     r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
NAME = re.compile(r"[A-Za-z_]\w*")
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
# Types and macros that a declaration uses and does not declare.
MENTION = re.compile(r"\b(?:struct|union|enum) \w+\b(?! ?\{)|\b\w+(?= ?\()")
EVERY = "*"  # stands for every name
NO_NAMES = set("""auto bool break case char const continue default define defined do double else
enum extern float for if inline int long return short signed sizeof size_t static struct switch
typedef union unsigned void volatile while int8_t int16_t int32_t int64_t uint8_t uint16_t
uint32_t uint64_t __attribute__""".split())


def without_comment(match):
    text = match.group(0)
    return text if text[0] != "/" or "NOLINT" in text else " "


def code_lines(text):
    """Returns the lines of a C text without comments, except for those that silence a check."""
    lines = (" ".join(line.split()) for line in COMMENT.sub(without_comment, text).splitlines())
    return [line for line in lines if line]


def declarations(lines):
    """Yields the directives and declarations of a file, each as one text."""
    held, depth = [], 0
    for line in lines:
        held.append(line)
        if held[0].startswith("#"):
            ends = not line.endswith("\\")
        elif line.startswith('extern "C"') or line == "}" and depth == 0:
            ends = True
        else:
            depth += sum(line.count(sign) for sign in "{(") - sum(line.count(s) for s in "})")
            ends = depth <= 0 and line[-1] in ";}"
        if ends:
            yield "\n".join(held)
            held, depth = [], 0
    if held:
        yield "\n".join(held)


def names_in(text):
    return set(NAME.findall(text)) - NO_NAMES


def name_of(text):
    """Returns what stands for a declaration: its name where it is a function or a macro, its first
    line elsewhere; "" of a directive that concerns all."""
    if text.startswith("#"):
        macro = re.match(r"#define (\w+)", text)
        return macro[1] if macro else ""
    function = re.match(r"[^#{=(;]*?\b([A-Za-z_]\w*) ?\((?! ?\*)", text)
    return function[1] if function else text.split("\n", 1)[0]


def declared(text, other):
    """Returns the names that the difference of two forms of a declaration concerns: of a function
    or macro its own, of a type or variable those in the lines that differ."""
    name = name_of(text)
    if text.startswith("#include"):
        return set()  # a source that uses what it brings has changed itself
    if not name:
        return {EVERY}
    if NAME.fullmatch(name):
        return {name}
    lines, others = text.split("\n"), other.split("\n")
    differing = "\n".join([line for line in lines if line not in others] or lines)
    return names_in(MENTION.sub("", differing))


def changed_names(before, now):
    """Returns the names that changed declarations of a header concern. A changed macro concerns
    the names of the declarations that use it."""
    olds, news = list(declarations(before)), list(declarations(now))
    of_old, of_new = ({name_of(text): text for text in texts} for texts in (olds, news))
    is_order = olds != news and sorted(olds) == sorted(news)
    names = {EVERY} if is_order else set()
    for texts, there, others in ((news, olds, of_old), (olds, news, of_new)):
        for text in texts:
            if text not in there:
                names |= declared(text, others.get(name_of(text), ""))
    waiting, grows = news, True
    while grows:
        macros = names & {name_of(text) for text in news + olds if text.startswith("#define")}
        users = [text for text in waiting if macros & names_in(text)]
        waiting = [text for text in waiting if text not in users]
        grows = bool(users)
        for text in users:
            names |= names_in(text) if "{" in text else declared(text, "")
    return names


def texts_at(root, commit, names):
    """Returns {name: text} of the files that a commit has."""
    asked = "".join(f"{commit}:{name}\n" for name in names).encode()
    out = subprocess.run(["git", "cat-file", "--batch"], cwd=root, input=asked,
                         capture_output=True, check=False).stdout
    texts, at = {}, 0
    for name in names:
        end = out.index(b"\n", at)
        words = out[at:end].split()
        at = end + 1
        if words[-1] != b"missing":
            size_b = int(words[-1])
            texts[name] = out[at:at + size_b].decode(errors="replace")
            at += size_b + 1
    return texts


def changes(root, base, names):
    """Returns {name: changed names} of the C files that hold other code than at a commit."""
    names = sorted(name for name in names if name.endswith((".c", ".h", ".def", ".inc")))
    olds, found = texts_at(root, base, names), {}
    for name in names:
        path = root / name
        now = code_lines(path.read_text(errors="replace")) if path.is_file() else []
        before = code_lines(olds[name]) if name in olds else None
        if before is None:
            found[name] = {EVERY}
        elif before != now:
            found[name] = changed_names(before, now) if name.endswith(".h") else {EVERY}
    return found


def concerns(root, source, found):
    """Says whether changes concern a source: its own, or those of a header that it includes."""
    if source in found:
        return True
    folder, text = pathlib.PurePath(source).parent, (root / source).read_text(errors="replace")
    names = set()
    for name in INCLUDE.findall(text):
        for place in (str(folder / name), "src/" + name, "include/" + name, name):
            names |= found.get(place, set())
    if not names or EVERY in names:
        return bool(names)
    lines = [line for line in code_lines(text) if not line.startswith("#include")]
    return bool(names & names_in("\n".join(lines)))
