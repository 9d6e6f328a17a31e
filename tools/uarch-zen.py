#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a table of a core of data/uarch/ out of measurements of a Zen core: uarch-zen.py KEYS.json
RAW.json HEAD.txt > CORE.tsv

KEYS.json: form number -> key (build/uarch-keys). RAW.json: form number -> these values:

- `rtp`: cycles of one among many independent instances
- `lat`: operand -> cycles of a chain through it
- `u`: resource -> extra cycles of a kernel that saturates it, for one more instance of the form

HEAD.txt: the lines of the table that are not forms. Every rule below follows from the meaning of a
saturated resource; none looks at code.
"""
import json
import re
import sys

from uarch_lines import is_general, is_memory, is_vector, kinds, uses_text

WIDTH = {"ALU6": 6, "MUL3": 3, "FP01": 2, "FP23": 2, "FP4": 4, "PERM": 2, "LD2": 2, "LD4": 4,
         "STV": 2}
ADDERS = re.compile(r"v?(add|sub|max|min|addsub)[sp][sd]$")
STORES_MANY = 2.0  # cycles: more is not one store a cycle but microcode


def whole(x):
    return float(f"{x:.3g}")


def snapped(x):
    """A count of port-cycles: to the next half where the measurement allows."""
    near = round(2 * x) / 2
    return near if abs(near - x) < 0.15 + 0.06 * near else whole(x)


class Form:
    def __init__(self, key, raw):
        self.key, self.raw = key, raw
        self.mnemonic, self.operands = kinds(key)
        self.base = self.mnemonic[1:] if self.mnemonic[0] == "v" else self.mnemonic
        self.memory = any(map(is_memory, self.operands)) or self.mnemonic in ("push", "pop")
        self.stores = self.operands[:1] and is_memory(self.operands[0])
        self.vector = bool(self.operands) and is_vector(self.operands[0])
        self.from_vector = any(map(is_vector, self.operands[1:]))
        self.from_general = any(map(is_general, self.operands[1:]))
        self.rtp = raw["rtp"] or None
        self.divides = re.match(r"v?(div|sqrt)[sp][sd]", self.mnemonic) is not None
        self.int_divides = self.mnemonic in ("div", "idiv")

    def count(self, resource):
        """Port-cycles of the resource, cleaned of what cannot be."""
        u = self.raw["u"].get(resource, 0)
        if u < 0.05 or u > (self.rtp or 1) * 1.2 + 0.05:
            return 0.0
        return snapped(u * WIDTH[resource])

    def uses(self):
        u = {}
        vector_load = self.memory and self.count("LD2") >= 0.8 and not self.stores
        if self.memory and (self.count("LD4") >= 0.6 or vector_load or self.stores):
            u["LDV" if vector_load else "AGU"] = 1
        if vector_load and self.count("LD2") > 1.4:
            u["LDV"] = self.count("LD2")
        mul = self.count("MUL3") if not self.mnemonic.startswith(("lea", "cmov", "prefetch")) else 0
        alu = self.count("ALU6")
        if self.from_general and self.vector:
            u["I2F"] = max(1, round(self.rtp or 1))
            mul, alu = 0, alu if alu > 2 else 0
        if mul >= 0.7:
            u["MUL"] = mul
            alu -= mul
        if alu >= 0.5:
            u["ALU"] = alu
        fp01, fp23, fp4, perm = (self.count(r) for r in ("FP01", "FP23", "FP4", "PERM"))
        perm = perm if perm >= 0.8 and not self.divides else 0
        fp01, fp23 = (x if x >= 0.7 else 0 for x in (fp01, fp23))
        if perm:  # the permuters stand on one multiplier and one adder
            fp01 = fp23 = 0
        for name, n in (("FMUL", fp01), ("FADD", fp23), ("PERM", perm),
                        ("FANY", fp4 - fp01 - fp23 - perm)):
            if n >= 0.5:
                u[name] = n
        std = self.count("STV")
        if std >= 0.3 and (self.rtp or 0) <= STORES_MANY:
            u["STD"] = std
        if self.divides:
            u = {"FMUL": 1, **({"LDV": 1} if self.memory else {}), "FDIV": whole(self.rtp)}
        if self.int_divides:
            best = min(self.rtp or 10, 7.0 if "64" in self.key else 6.0)
            u = {"ALU": 2, "IDIV": f"{best:g}-{max(self.rtp or 20, best):.3g}",
                 **({"AGU": 1} if self.memory else {})}
        return u

    def slots(self):
        n = max(0.0, self.raw["u"].get("NOP", 0.125)) * 8
        if self.divides or self.int_divides:
            return 1 if self.divides else 2
        if self.rtp and self.rtp > 1.2 and n > 0.8 * 8 * self.rtp / (1 if n < 20 else 4):
            n = min(n, max(1.0, sum(self.raw["u"].get(r, 0) * WIDTH[r] for r in ("ALU6", "FP4"))))
        return round(n) if n < 3.2 or n > 8 else whole(n)

    def latency(self):
        measured = list(self.raw["lat"].values())
        mnemonic, base = self.mnemonic, self.base
        if measured:
            latency = max(measured)
            if ADDERS.match(mnemonic):
                latency = min(latency, 2.0)
            return latency if latency >= 0.45 else 0.0, True
        if self.stores:
            return (1.0 if mnemonic in READ_WRITES else 0.0), False
        if base.startswith("cvtsi2"):
            return 8.0, False
        if self.vector and self.from_general:
            return 5.0, False
        if base in ("comisd", "comiss", "ucomisd", "ucomiss", "ptest"):
            return 4.0, False
        if self.from_vector and not self.vector:
            return (5.0 if base.startswith("cvt") else 2.0), False
        if self.vector and self.memory:
            return (3.0 if base[:3] in ("add", "sub", "max", "min", "mul") else 0.0), False
        if mnemonic in ("mov", "movzx", "pop") and self.memory:
            return 0.0, False
        if mnemonic in ("mul", "imul"):
            return 3.0, False
        if self.int_divides:
            return min(self.rtp or 10, 7.0 if "64" in self.key else 6.0) + 3, False
        return (0.0 if self.vector else 1.0), False

    def flags(self, latency):
        flags = []
        registers = not self.memory and len(self.operands) == 2
        if self.key.endswith("[same]"):
            flags.append("zero")
        elif registers and latency == 0 and self.mnemonic.lstrip("v").startswith("mov"):
            flags.append("move")
        if ADDERS.match(self.mnemonic):
            flags.append("class=fadd")
        if self.slots() > 3:
            flags.append("microcode")
        return ",".join(flags) or "-"

    def own(self, uses, latency):
        """Throughput that no resource explains, and no chain through what it writes itself."""
        if not self.rtp or self.divides or self.int_divides or self.raw["imp"]:
            return 0
        port = max([n / PORTS[g] for g, n in uses.items() if g in PORTS] + [self.slots() / 8])
        chain = max(latency, 1) / (8 if self.vector else 4) * 1.05 + 0.05
        unexplained = self.rtp > 1.15 * port and self.rtp > chain and self.rtp > 0.6
        return whole(self.rtp) if unexplained else 0


# Between register files and to the flags: chains of two kinds of instructions, measured by hand.
BETWEEN = (
    (r"v?mov[dq] (xmm|mm),r\d+", "5"), (r"v?mov[dq] r\d+,(xmm|mm)", "4"),
    (r"v?p?movmsk\w+ ", "4"), (r"v?pextr\w (r\d+),", "6"), (r"v?extractps r", "6"),
    (r"pinsr\w xmm,r", "5 0>0:2"), (r"vpinsr\w xmm,xmm,r", "5 1>0:2"),
    (r"cvtsi2s[sd] xmm,r", "6 0>0:3"), (r"vcvtsi2s[sd] xmm,xmm,r", "6 1>0:3"),
    (r"v?cvtt?s[sd]2si ", "7"), (r"v?u?comis[sd] ", "6"), (r"v?ptest ", "6"), (r"vtestp[sd] ", "6"),
    (r"cmovn?(l|le) r", "1 f>0:2"), (r"cmovn?be r", "1 f>0:2"))

READ_WRITES = ("add", "sub", "and", "or", "xor", "inc", "dec", "neg", "not", "adc", "sbb", "shl",
               "sar", "shr", "rol", "ror", "xadd", "xchg")
SPOILT = 100  # cycles: the x87 stack overflowed, or worse
PORTS = {"ALU": 6, "MUL": 3, "FMUL": 2, "FADD": 2, "FANY": 4, "PERM": 2, "AGU": 4, "LDV": 2,
         "STD": 2, "I2F": 1}


def line(form):
    uses = form.uses()
    latency, measured = form.latency()
    own = form.own(uses, latency)
    if own:
        uses["own"] = own
    result, source = f"{snapped(latency):g}", "m1" if measured or form.stores else "m2"
    for pattern, known in BETWEEN:
        if re.match(pattern, form.key):
            result, source = known, "p"
    return "\t".join(["form", form.key, f"{form.slots():g}", uses_text(uses), result,
                      form.flags(latency), source])


def main():
    keys, raw = (json.load(open(name, encoding="ascii")) for name in sys.argv[1:3])
    sys.stdout.write(open(sys.argv[3], encoding="ascii").read())
    seen = set()
    for number, measured in raw.items():
        key = keys.get(number)
        if not key or key in seen or not measured["u"] or (measured["rtp"] or 0) > SPOILT:
            continue
        seen.add(key)
        print(line(Form(key, measured)))


main()
