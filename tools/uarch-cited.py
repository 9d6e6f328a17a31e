#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a table of a core of data/uarch/ out of what is published of it:
uarch-cited.py HEAD FORMS KEYS > data/uarch/CORE.tsv

HEAD (tools/uarch-cited/CORE.txt) has the lines of the table that are not forms. It also has these
lines, in columns separated by TAB:

  - %cpu NAME SOURCE       the scheduling model of LLVM that `llvm-mca -instruction-tables` prints
  - %unit RESOURCE PORT    a resource of that model is this port of the table; `-`: no port
  - %memory RESOURCE       the same as `-` if the form reads or writes memory
  - %fuse intel            load and operation, and both halves of a store, take one slot
  - %fuse amd              also an operation that reads and writes memory takes one slot
  - %unlaminate REGEX      forms with an index register that take one more slot at rename
  - %moves REGEX           forms that are eliminated at rename
  - %wide LOAD STORE       cycles of 256 bits on the data port of a load (LDW), of a store
  - %vector GROUP          loads of vectors also take a cycle of GROUP
  - %store GROUP           stores of vectors also take a cycle of GROUP, two for 512 bits
  - %drop REGEX            forms that this core does not have
  - %fix REGEX SLOTS USES LATENCY FLAGS SOURCE   better values; `=` keeps a value; the first counts

FORMS has an encoding a line, KEYS is build/uarch-keys. Lines that the table of `like` has already
are left out.
"""
import itertools
import json
import pathlib
import re
import subprocess
import sys

from uarch_lines import is_memory, is_vector, kinds, uses_text

MOST_OPERATIONS = 4
NO_READ = re.compile(r"(v?mov|st|fst|v?extract|v?pextr|set|v?cvtps2ph|push|vcompress|v?maskmov)")
NO_WRITE = re.compile(r"(cmp([sp][sd])?$|test|bt$|nop|prefetch|u?comis|v?ptest|vtestp|push|"
                      r"i?mul|i?div|call|jmp|fld|f(add|sub|mul|div|com))")
MEMORY_GROUPS = ("LD", "STA", "STD", "LDV", "LDW", "AGU", "FST", "BR")
PREFIXED = re.compile(r"(rep|lock|data16|[cdefgs]s |notrack|bnd|xacquire|xrelease|addr32)")
MEMORY = re.compile(r"[-\w:%]*\([^)]*\)")
REGISTER = {"8": "%cl", "16": "%cx", "32": "%ecx", "64": "%rcx"}


def run(*words, text):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=False)


class Head:
    def __init__(self, path):
        self.text, self.unit, self.memory, self.fix = [], {}, set(), []
        self.cpu = self.like = self.unlaminate = self.moves = self.drop = self.vector = None
        self.store = None
        self.wide = ("1", "1")
        self.fuse = "intel"
        self.groups = {}
        for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
            word = line.split("\t")
            if not line.startswith("%"):
                self.text.append(line)
            if word[0] == "group":
                self.groups[word[1]] = frozenset(word[2].split(" "))
            elif word[0] == "like":
                self.like = word[1]
            elif word[0] == "%cpu":
                self.cpu, self.source = word[1:3]
            elif word[0] == "%unit":
                self.unit[word[1]] = word[2]
            elif word[0] == "%memory":
                self.memory.add(word[1])
            elif word[0] == "%fix":
                self.fix.append([re.compile(word[1])] + word[2:])
            elif word[0] in ("%unlaminate", "%moves", "%drop"):
                setattr(self, word[0][1:], re.compile(word[1]))
            elif word[0] in ("%fuse", "%vector", "%store"):
                setattr(self, word[0][1:], word[1])
            elif word[0] == "%wide":
                self.wide = word[1:3]


def assembly(encodings):
    """The text of each encoding, None where there is none or more than one instruction."""
    split = [" ".join(f"0x{h[i:i + 2]}" for i in range(0, len(h), 2)) for h in encodings]
    out = []
    for line in split:
        out.append(line)
        out.append("0xcc")  # int3: where the next one begins
    text = run("llvm-mc-19", "--disassemble", "-arch=x86-64", text="\n".join(out) + "\n").stdout
    lines, found = [], []
    for line in text.splitlines()[1:]:
        if line.strip() == "int3":
            alone = len(lines) == 1 and not PREFIXED.match(lines[0])
            found.append(lines[0] if alone else None)
            lines = []
        elif line.strip():
            lines.append(re.sub(r"\s+", " ", line.split("#")[0].strip()))
    return found


def model(cpu, lines):
    """Returns the values of the model for each line of assembly, in order; None if it has none."""
    words = ("llvm-mca-19", f"-mcpu={cpu}", "-instruction-tables", "-json")
    left, known = dict(enumerate(lines)), [None] * len(lines)
    left = {i: line for i, line in left.items() if line}
    while left:
        order = list(left)
        result = run(*words, text="\n".join(left[i] for i in order) + "\n")
        bad = {int(n) - 1 for n in re.findall(r"<stdin>:(\d+):", result.stderr)}
        if not bad and result.stdout:
            return spread(json.loads(result.stdout), order, known)
        if not bad:  # the first form that the model does not know ends the whole
            note = re.search(r"note: instruction:(.*)", result.stderr)
            unknown = note and " ".join(note[1].split())
            bad = {k for k, i in enumerate(order) if " ".join(left[i].split()) == unknown}
        if not bad:
            raise SystemExit(f"uarch-cited: llvm-mca: {result.stderr}")
        left = {order[k]: left[order[k]] for k in range(len(order)) if k not in bad}
    return known


def spread(data, order, known):
    names, region = data["TargetInfo"]["Resources"], data["CodeRegions"][0]
    if len(region["Instructions"]) != len(order):
        raise SystemExit("uarch-cited: a line of assembly is more than one instruction to llvm-mca")
    for i, info in zip(order, region["InstructionInfoView"]["InstructionList"]):
        known[i] = dict(info, on={})
    for use in region["ResourcePressureView"]["ResourcePressureInfo"]:
        if use["InstructionIndex"] < len(order):
            # One of several alike: LLVM ends its name in the number as a byte.
            name = re.sub(r"\.([\0-\7])", lambda m: str(ord(m[1])), names[use["ResourceIndex"]])
            known[order[use["InstructionIndex"]]]["on"][name] = use["ResourceUsage"]
    return known


def twin_text(key, text):
    """The assembly with a register in the place of memory."""
    memory = next((o for o in kinds(key)[1] if is_memory(o)), None)
    if not memory or not text or not MEMORY.search(text):
        return None
    bits = memory[1:]
    vector = any(is_vector(o) or o == "k" for o in kinds(key)[1]) or kinds(key)[0][0] == "v"
    wide = {"256": "%ymm3", "512": "%zmm3"}.get(bits, "%xmm3")
    register = wide if vector else REGISTER.get(bits)
    return MEMORY.sub(lambda _: register, text) if register else None


def groups_of(on, groups):
    """Numbers of operations by group that press ports as the model says; None: there are none."""
    ports = {p: n for p, n in on.items() if n > 0.001}
    fit = [g for g, members in groups.items()
           if members <= ports.keys() and g not in MEMORY_GROUPS]
    whole = sum(ports.values())
    if not ports:
        return {}
    if abs(whole - round(whole)) > 0.03 or whole > MOST_OPERATIONS + 0.03:
        return None
    for chosen in itertools.combinations_with_replacement(fit, round(whole)):
        left = dict(ports)
        for group in chosen:
            for port in groups[group]:
                left[port] -= 1 / len(groups[group])
        if all(abs(n) < 0.03 for n in left.values()):
            return {g: chosen.count(g) for g in dict.fromkeys(chosen)}
    return None


class Form:
    def __init__(self, key, said, twin, head):
        self.key, self.said, self.twin, self.head = key, said, twin, head
        self.mnemonic, self.operands = kinds(key)
        to_memory = bool(self.operands) and is_memory(self.operands[0]) or self.mnemonic == "push"
        self.stores = to_memory and (self.mnemonic == "push" or not NO_WRITE.match(self.mnemonic))
        from_memory = any(map(is_memory, self.operands)) and self.mnemonic not in ("nop", "lea")
        self.loads = from_memory and (not self.stores or not NO_READ.match(self.mnemonic)) or \
            self.mnemonic in ("pop", "leave", "ret")
        self.vector = any(map(is_vector, self.operands))
        self.execution = self.executed()

    def executed(self):
        """Groups and port-cycles beside those of memory."""
        touches = self.loads or self.stores or any(map(is_memory, self.operands))
        on, units = {}, {}
        for name, n in self.said["on"].items():
            port = self.head.unit.get(name)
            if port is None:
                raise SystemExit(f"uarch-cited: {self.head.cpu}: no %unit for {name}")
            if port == "-" or touches and name in self.head.memory:
                continue
            if port in ("FDIV", "IDIV"):
                units[port] = n
            else:
                on[port] = on.get(port, 0) + n
        exact = groups_of(on, self.head.groups)
        if exact is None:  # as it is, port by port
            single = {next(iter(m)): g for g, m in self.head.groups.items() if len(m) == 1}
            exact = {single[p]: float(f"{n:.2g}") for p, n in on.items()}
        exact.update(units)
        return exact

    def operations(self):
        return sum(n for g, n in self.execution.items() if g not in ("FDIV", "IDIV"))

    def slots(self):
        if self.head.fuse == "amd":
            return (self.twin or self.said)["NumMicroOpcodes"] or 1
        count = round(self.operations())
        if count > MOST_OPERATIONS:
            return max(count, self.said["NumMicroOpcodes"] - self.loads - self.stores)
        return max(1, count + (1 if self.stores and (count or self.loads) else 0))

    def uses(self):
        uses = dict(self.execution)
        wide = "m256" in self.operands
        if self.loads:
            uses["LD"] = 1
            if self.vector and self.head.vector:
                uses[self.head.vector] = 2 if wide and self.head.wide[0] == "2" else 1
        if self.stores:
            uses["STA"] = 1
            uses["STD"] = 2 if wide and self.head.wide[1] == "2" else 1
            if self.vector and self.head.store:
                uses[self.head.store] = 2 if "m512" in self.operands else 1
        return uses

    def latency(self):
        if self.loads and not self.execution and not self.stores:
            return 0
        if self.stores and not self.loads:
            return 0 if not self.execution else max(1, self.said["Latency"] - 4)
        if self.twin:
            return self.twin["Latency"]
        if self.loads:
            return max(1, self.said["Latency"] - (6 if self.vector else 5))
        return self.said["Latency"]

    def flags(self, slots):
        flags = []
        if self.key.endswith("[same]"):
            flags.append("zero")
        if self.unlaminated():
            flags.append("unlaminate")
        elif self.head.fuse == "intel" and slots > 1:
            flags.append("complex" if slots <= 4 else "microcode")
        elif slots > 2:
            flags.append("microcode")
        return ",".join(flags) or "-"

    def unlaminated(self):
        rule = self.head.unlaminate
        return bool(rule and self.key.endswith("[i]") and rule.match(self.key))

    def columns(self):
        if self.head.moves and self.head.moves.fullmatch(self.key):
            line = ["1", "-", "0", "move", self.head.source]
        else:
            slots = self.slots() + (1 if self.unlaminated() else 0)
            line = [f"{slots:g}", uses_text(self.uses()), f"{self.latency():g}",
                    self.flags(slots), self.head.source]
        for rule in self.head.fix:
            if rule[0].match(self.key):
                line = [old if new == "=" else new for old, new in zip(line, rule[1:])]
                if "@" in line[1]:  # @: and what memory takes
                    line[1] = self.with_memory(line[1])
                break
        return line

    def with_memory(self, text):
        memory = {g: n for g, n in self.uses().items() if g not in self.execution}
        rest = text.replace("@", "").strip()
        more = uses_text(memory)
        return " ".join(part for part in (rest, more) if part and part != "-") or "-"


def lines_of(name, groups):
    """Forms of the table that this one is like, and of those that it is like; and their groups."""
    path = pathlib.Path(__file__).resolve().parent.parent / f"data/uarch/{name}.tsv"
    if not path.exists():
        raise SystemExit(f"uarch-cited: {path}: make the table that this one is like first")
    rows = [line.split("\t") for line in path.read_text(encoding="ascii").splitlines()]
    for row in rows:
        if row[0] == "group":
            groups.setdefault(row[1], frozenset(row[2].split(" ")))
    forms = {}
    for row in rows:
        if row[0] == "like":
            forms = lines_of(row[1], groups)
    forms.update({row[1]: row[2:6] for row in rows if row[0] == "form"})
    return forms


def main():
    head = Head(sys.argv[1])
    encodings = pathlib.Path(sys.argv[2]).read_text(encoding="ascii").split()
    keys = run(sys.argv[3], text="\n".join(encodings) + "\n").stdout.splitlines()
    texts = assembly(encodings)
    if not len(keys) == len(texts) == len(encodings):
        raise SystemExit("uarch-cited: an encoding of FORMS is not one instruction")
    texts = [None if head.drop and head.drop.search(key) else text
             for key, text in zip(keys, texts)]
    twins = [twin_text(key, text) for key, text in zip(keys, texts)]
    said, twin = model(head.cpu, texts), model(head.cpu, twins)
    base = lines_of(head.like, head.groups) if head.like else {}
    print("\n".join(head.text))
    for key, one, register in sorted(zip(keys, said, twin), key=lambda row: row[0]):
        if one is None:
            continue
        columns = Form(key, one, register, head).columns()
        if base.get(key) != columns[:4]:
            print("\t".join(["form", key] + columns))


main()
