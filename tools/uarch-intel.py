#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a table of a core of data/uarch/ out of measurements of an Intel core: uarch-intel.py
KEYS.json FORMS.json HEAD.txt MEASURED.csv... > CORE.tsv

KEYS.json: form number -> key (build/uarch-keys). FORMS.json: forms with their instances (`inst`).
MEASURED.csv: lines NAME,status,cycles, with these names:

- `F|T`: all instances of form F one after the other
- `F|Ln`: a chain of form F through operand n
- `F|KERNEL|N`: a kernel of KERNEL with N instances of form F in it
- `B|KERNEL`: the kernel alone

A kernel saturates a set of ports (KERNELS). The extra time of N more instances is the number of
operations of the form on subsets of these ports. HEAD.txt names the sets that a vendor's cores
have.
"""
import csv
import json
import re
import sys

from uarch_lines import is_memory, is_vector, kinds, uses_text

# Kernel -> how many ports it saturates: imul p1, shlx p06, vmulpd p01, vaddpd p15, vpand p015,
# vperm2f128 p5.
KERNELS = {"MUL3": 1, "SHF3": 2, "FP01": 2, "FP23": 2, "FP4": 3, "PERM": 1}
ADDERS = re.compile(r"v?(add|sub|addsub)[sp][sd]$")
READ_WRITES = re.compile(r"(add|sub|and|or|xor|inc|dec|neg|not|adc|sbb|sh[lr]|sar|ro[lr])$")
# Not to be had from chains within one register file: uops.info's figures for Alder Lake-P, the same
# core, rounded.
BETWEEN = (
    (r"v?mov[dq] (xmm|mm),r\d+", "3"), (r"v?mov[dq] r\d+,(xmm|mm)", "3"),
    (r"v?p?movmsk\w+ ", "3"), (r"v?pextr\w (r\d+),", "4"), (r"v?extractps r", "4"),
    (r"pinsr\w xmm,r", "4 0>0:2"), (r"vpinsr\w xmm,xmm,r", "4 1>0:2"),
    (r"cvtsi2s[sd] xmm,r", "7 0>0:4"), (r"vcvtsi2s[sd] xmm,xmm,r", "7 1>0:4"),
    (r"v?cvtt?s[sd]2si ", "7"), (r"v?u?comis[sd] ", "3"), (r"v?ptest ", "6"), (r"vtestp[sd] ", "5"))
MOVES = ("mov", "movzx", "movsx", "movsxd", "pop", "push", "nop", "movabs")
MANY = re.compile(r"(mul|i?div|xchg|xadd|cmpxchg|bswap|sh[lr]d|rc[lr]|bt[srec]|leave|cmpsb)")
# Legacy forms without a VEX form that was measured: the vendor's ports of their kind.
SPOILT = (
    (r"p?unpck|p?shuf|ps[lr]ldq|palignr|packs|packu|movhl|movlh", {"FP4": 1, "FP23": 1}),
    (r"p?andn?p?|p?x?orp?|p(add|sub)|pavg|blend|mov", {"FP4": 1}),
    (r"(add|sub)[sp][sd]|addsub", {"FP4": 1, "FP23": 1}),
    (r"cvtsi2s", {"FP4": 2, "FP23": 1, "PERM": 1, "FP01": 1}))
UNLAMINATED = 2


def read_measured(names):
    measured = {}
    for name in names:
        with open(name, encoding="ascii") as f:
            for row in csv.DictReader(f):
                if row["status"] == "0":
                    measured.setdefault(row["id"], []).append(float(row["cyc_p10"]))
    return {key: min(values) for key, values in measured.items()}


class Form:
    def __init__(self, form, key, measured):
        self.key, self.n = key, len(form["inst"])
        self.mnemonic, self.operands = kinds(key)
        self.base = self.mnemonic[1:] if self.mnemonic[0] == "v" else self.mnemonic
        number = str(form["id"])
        own = {k.split("|", 1)[1]: v for k, v in measured.items() if k.split("|")[0] == number}
        self.rtp = own["T"] / self.n if "T" in own else None
        self.latencies = {k[1:]: v for k, v in own.items() if k[0] == "L" and k[1:].isdigit()}
        self.on = {}
        for name, value in own.items():
            kernel, _, n = name.partition("|")
            if kernel in KERNELS and f"B|{kernel}" in measured:
                longer = value - measured[f"B|{kernel}"]
                self.on[kernel] = round(longer / int(n) * KERNELS[kernel])
        self.slot = min(((v * 6 - int(k.split("|")[2])) / int(k.split("|")[1])
                         for k, v in own.items() if k.startswith("NOP")), default=1.0)
        self.vector = any(map(is_vector, self.operands))
        self.stores = bool(self.operands) and is_memory(self.operands[0]) and \
            not re.match(r"cmp$|test$|bt$|nop$|prefetch", self.mnemonic) or self.mnemonic == "push"
        self.updates = self.stores and READ_WRITES.match(self.mnemonic) is not None
        self.loads = (any(map(is_memory, self.operands)) and (not self.stores or self.updates)) or \
            self.mnemonic == "pop"
        self.latency = max(self.latencies.values(), default=None)
        self.spoilt = max(self.on.values(), default=0) > 100  # dirty upper halves of registers

    def port_uses(self):
        on = {k: max(0, self.on.get(k, 0)) for k in KERNELS}
        if not self.vector:
            uses = {"P1": on["MUL3"], "P06": on["SHF3"]}
            rest = round(self.slots()) - sum(uses.values())
            moves = self.mnemonic in MOVES or \
                self.mnemonic.startswith("prefetch")
            from_memory = self.loads or self.stores
            renamed = self.eliminated() and (self.rtp < 0.19 or not self.flags_written())
            if not (moves and (from_memory or self.mnemonic == "nop")) and not renamed:
                uses["ALU"] = max(rest - (1 if self.updates else 0), 0 if sum(uses.values()) else 1)
            return uses
        uses = {"P5": on["PERM"], "P1": min(on["MUL3"], on["FP01"]),
                "P0": min(on["SHF3"], on["FP01"])}
        uses["P01"] = max(0, on["FP01"] - uses["P1"] - uses["P0"])
        uses["P15"] = max(0, on["FP23"] - uses["P1"] - uses["P5"])
        uses["P015"] = max(0, on["FP4"] - sum(uses.values()))
        return uses

    def flags_written(self):
        """Its result may be known at rename, its flags are computed."""
        return READ_WRITES.match(self.mnemonic) is not None and not self.key.endswith("[same]")

    def eliminated(self):
        if self.key.endswith("[same]"):
            return self.rtp is not None and self.rtp < 0.25
        registers = not self.loads and not self.stores
        if self.mnemonic.lstrip("v") in ("mov", "movaps", "movapd", "movups", "movupd", "movdqa",
                                         "movdqu") and len(self.operands) == 2 and registers:
            return self.operands[0] == self.operands[1] and self.rtp < 0.21 and \
                self.operands[0] not in ("r8", "r16")
        return registers and self.latency is not None and self.latency < 0.45

    def slots(self):
        if self.updates:
            return 2 + (1 if self.mnemonic in ("adc", "sbb") else 0)
        n = self.slot
        if not self.vector and not MANY.match(self.mnemonic):
            on = [max(0, self.on.get(k, 0)) for k in ("MUL3", "SHF3")]
            return max(1, sum(on)) if (self.rtp or 0) < 6 else min(sum(on) + 2, 8)
        if self.rtp and self.rtp * 6 > 2.4 and n > 0.7 * 6 * self.rtp:  # not the slots held it up
            n = 1
        whole = max(1, round(n - 0.25))
        if self.vector and not self.spoilt:
            whole = max(whole if n < 3 else 1, sum(v for v in self.port_uses().values()), 1)
        if self.key.endswith("[i]") and self.mnemonic[0] == "v" and len(self.operands) >= 3 and \
                not self.stores:
            whole = UNLAMINATED
        return whole

    def uses(self):
        if self.mnemonic in ("div", "idiv"):
            best = 10 if "64" in self.key else 6
            u = {"P1": 2, "ALU": 2, "IDIV": f"{best}-{max(best, self.rtp or 18):.3g}"}
        elif re.match(r"v?cvtsi2ss", self.mnemonic) and "r64" in self.operands:
            u = {"P5": 2, "P01": 1}
        elif re.match(r"v?(div|sqrt)[sp][sd]", self.mnemonic):
            u = {"P0": 1, "FDIV": float(f"{self.rtp:.3g}")}
        else:
            u = {k: v for k, v in self.port_uses().items() if v}
        if self.loads:
            u["LD"] = 1
        if self.stores:
            u.update({"STA": 1, "STD": 1})
        divides = "FDIV" in u or "IDIV" in u
        if self.key.startswith("lock") or (self.rtp or 0) > 6 and not divides:
            u = {k: v for k, v in u.items() if k in ("LD", "STA", "STD")}
            u["own"] = float(f"{self.rtp or 20:.3g}")
        return u

    def result(self):
        for pattern, known in BETWEEN:
            if re.match(pattern, self.key):
                return known, "uops"
        if self.eliminated():
            return "0", "m1"
        if self.latency is not None:
            return f"{max(1, round(self.latency)):g}", "m1"
        if self.stores:
            return ("1" if self.updates else "0"), "m1"
        if self.mnemonic == "mov" and self.operands[:1] in (["r8"], ["r16"]):
            return "1", "m1"  # joins what the register had before
        if self.mnemonic in ("mov", "movzx", "movsx", "movsxd", "pop", "lddqu") or \
                self.vector and self.loads and re.match(r"v?(mov|broadcast|lddqu)", self.mnemonic):
            return "0", "m1"
        if self.mnemonic in ("mul", "imul"):
            return "4", "uops"
        if self.mnemonic in ("div", "idiv"):
            return ("18" if "64" in self.key else "12"), "uops"
        return "1", "m1"

    def flags(self):
        flags = []
        if self.key.endswith("[same]"):
            flags.append("zero")
        elif self.eliminated() and not self.port_uses().get("ALU"):
            flags.append("move")
        if self.key.endswith("[i]") and self.slots() == UNLAMINATED and self.mnemonic[0] == "v":
            flags.append("unlaminate")
        if self.slots() > 1 and "unlaminate" not in flags:
            flags.append("complex" if self.slots() <= 4 else "microcode")
        return ",".join(flags) or "-"


def twin_of(form, by_key):
    """Returns the VEX form of a legacy form, if its kernels are valid."""
    if not form.spoilt:
        return None
    operands = form.operands
    for tried in (operands, operands[:1] + operands):
        words = form.key.split(" ")
        twin = by_key.get(" ".join(["v" + form.mnemonic, ",".join(tried)] + words[2:]))
        if twin and not twin.spoilt:
            return twin
    return None


def main():
    keys, forms = (json.load(open(name, encoding="ascii")) for name in sys.argv[1:3])
    measured = read_measured(sys.argv[4:])
    sys.stdout.write(open(sys.argv[3], encoding="ascii").read())
    by_key = {}
    for form in forms:
        key = keys.get(str(form["id"]))
        whole = measured.get(f"{form['id']}|T", 0)
        if key and form["inst"] and key not in by_key and 0 < whole < 100 * len(form["inst"]):
            by_key[key] = Form(form, key, measured)
    for key, form in by_key.items():
        twin = twin_of(form, by_key)
        if twin:
            form.on, form.spoilt = twin.on, False
        elif form.spoilt:
            form.on = next((on for pattern, on in SPOILT if re.match(pattern, form.mnemonic)),
                           {"FP4": 1, "FP01": 1})
            if form.loads and re.match(r"mov|lddqu", form.mnemonic):
                form.on = {}
        result, source = form.result()
        slots = form.slots()
        if form.key.startswith("lock"):
            slots = 8
        print("\t".join(["form", key, f"{slots:g}", uses_text(form.uses()), result, form.flags(),
                         source]))


main()
