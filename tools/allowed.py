# SPDX-License-Identifier: Apache-2.0
"""Allow-lists that only shrink: the faults of each file that a check accepts for now.

A list has a line `path<TAB>count` for each file. A path that stands twice, as after a merge, has
its smallest count. A file that is absent has none.
"""


def load(path):
    """Returns (comment lines, {file: count})."""
    head, counts = [], {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                head.append(line)
            elif line.strip():
                name, _, count = line.rpartition("\t")
                counts[name] = min(int(count), counts.get(name, int(count)))
    return head, counts


def save(path, head, counts):
    lines = head + [f"{name}\t{counts[name]}" for name in sorted(counts) if counts[name] > 0]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def shrunk(allowed, found):
    """Returns the allowed counts, lowered to those found."""
    return {name: min(count, found.get(name, 0)) for name, count in allowed.items()}


def moved(allowed, found, old, new):
    """Returns the allowed counts after the unused part of file old went to file new. If both are
    folders, each file gives to the file of the same name. The sum of counts never grows."""
    allowed = dict(allowed)
    pairs = [(old, new)] if old in allowed else [
        (name, new.rstrip("/") + name[len(old.rstrip("/")):]) for name in allowed
        if name.startswith(old.rstrip("/") + "/")]
    for source, target in pairs:
        spare = max(0, allowed[source] - found.get(source, 0))
        given = min(spare, max(0, found.get(target, 0) - allowed.get(target, 0)))
        allowed[source] -= given
        allowed[target] = allowed.get(target, 0) + given
    return allowed
