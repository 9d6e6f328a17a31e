# SPDX-License-Identifier: Apache-2.0
"""The output of other tools about a binary: readelf, objdump, addr2line and c++filt, parsed.

Nothing here knows assay. Every function takes a path and returns plain Python values, so that a
check is one comparison. Sizes and addresses are numbers.
"""
import collections
import re
import shutil
import subprocess


def out(*command, text=None):
    """Standard output of a command; what these tools print on stderr is their own affair."""
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, errors="replace", env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
                          check=False).stdout


def build_id(path):
    m = re.search(r"Build ID: ([0-9a-f]+)", out("readelf", "-nW", path))
    return m.group(1) if m else None


def dynamic(path):
    """needed (in file order), soname, runpath, and whether DF_1_PIE is set."""
    text = out("readelf", "-dW", path)

    def names(tag):
        return re.findall(r"\(" + tag + r"\).*?\[(.*?)\]", text)

    return {
        "needed": names("NEEDED"),
        "soname": (names("SONAME") or [None])[0],
        "runpath": (names("RUNPATH") or names("RPATH") or [None])[0],
        "pie": bool(re.search(r"\(FLAGS_1\).*\bPIE\b", text)),
    }


def header(path):
    text = out("readelf", "-hlW", path)
    interpreter = re.search(r"program interpreter: (.*?)\]", text)
    return {
        "type": re.search(r"Type:\s+(\w+)", text).group(1),
        "entry": int(re.search(r"Entry point address:\s+(0x[0-9a-f]+)", text).group(1), 16),
        "interpreter": interpreter.group(1) if interpreter else None,
    }


Section = collections.namedtuple("Section", "index name type address offset size flags")


def sections(path):
    found = []
    for line in out("readelf", "-SW", path).splitlines():
        m = re.match(r"\s*\[\s*(\d+)\] (\S*)\s+([A-Z_0-9]+)\s+([0-9a-f]{16}) ([0-9a-f]+) "
                     r"([0-9a-f]+) \S+\s+([A-Zlopxy]*)\s+\d+\s+\d+\s+\d+$", line)
        if m:
            found.append(Section(int(m[1]), m[2], m[3], int(m[4], 16), int(m[5], 16),
                                 int(m[6], 16), m[7]))
    return found


def text_bytes(path):
    return sum(s.size for s in sections(path) if "X" in s.flags)


Symbol = collections.namedtuple("Symbol", "table address size type bind visibility section name")


def symbols(path):
    """Every entry of .symtab and .dynsym but the null ones; section is None when undefined."""
    found, table = [], None
    for line in out("readelf", "-sW", path).splitlines():
        m = re.match(r"Symbol table '(\S+)'", line)
        if m:
            table = m[1]
            continue
        m = re.match(r"\s*(\d+): ([0-9a-f]+)\s+(0x[0-9a-f]+|\d+) (\S+)\s+(\S+)\s+(\S+)\s+"
                     r"(?:\[.*?\]\s+)?(\S+)(?: (.*))?$", line)
        if m and int(m[1]) > 0:
            name = re.sub(r"@.*", "", m[8] or "").strip()
            section = {"UND": None, "ABS": "ABS", "COM": "COM"}.get(m[7], m[7])
            found.append(Symbol(table, int(m[2], 16), int(m[3], 0), m[4], m[5], m[6],
                                int(section) if section and section.isdigit() else section, name))
    return found


def code(path):
    """Function symbols with a body here: (section index, address) to {name: size}."""
    found = collections.defaultdict(dict)
    for s in symbols(path):
        if s.type in ("FUNC", "IFUNC") and isinstance(s.section, int):
            found[(s.section, s.address)][s.name] = s.size
    return found


def plt(path):
    """Address to name of every linkage stub objdump can name."""
    found = {}
    for line in out("objdump", "-dw", "--no-show-raw-insn", path).splitlines():
        m = re.match(r"([0-9a-f]+) <(.+@plt)>:$", line)
        if m:
            found[int(m[1], 16)] = m[2]
    return found


def unwind(path):
    """(start, end) of every FDE of .eh_frame.

    The FDE of a signal frame (augmentation "S") begins one byte before its function. A look-up of
    the return address less one then finds it (glibc, sigaction.c).
    """
    found, frame, cie, signal_frames = [], False, None, set()
    for line in out("readelf", "--debug-dump=frames", "-W", path).splitlines():
        if line.startswith("Contents of the"):
            frame = ".eh_frame" in line
        m = re.match(r"([0-9a-f]+) \S+ \S+ CIE", line)
        cie = m[1] if m else cie
        if re.search(r'Augmentation:\s+"[^"]*S', line):
            signal_frames.add(cie)
        m = re.search(r"\bFDE\b.*pc=([0-9a-f]+)\.\.([0-9a-f]+)", line)
        if m and frame:
            of = re.search(r"\bcie=([0-9a-f]+)", line)
            early = of is not None and of[1] in signal_frames
            found.append((int(m[1], 16) + early, int(m[2], 16)))
    return found


# objdump writes these as one instruction with the fwait before it; the CPU has two.
WAITING = {"fstcw", "fstsw", "fstenv", "fsave", "finit", "fclex"}


def instructions(path):
    """Section name to the sorted addresses of its instructions (in a .o file: offsets)."""
    found, section = collections.defaultdict(list), None
    for line in out("objdump", "-dw", "--no-show-raw-insn", path).splitlines():
        if line.startswith("Disassembly of section "):
            section = line[len("Disassembly of section "):-1]
        m = re.match(r"\s*([0-9a-f]+):\s+(\S+)", line)
        if m:
            found[section].append(int(m[1], 16))
            if m[2] in WAITING:
                found[section].append(int(m[1], 16) + 1)
    return found


def lines(path, addresses, section=None):
    """Address to the set of (base name of the file, line) that tools say; (None, 0) is nothing.

    Binutils 2.40 misreads split DWARF 5, 64-bit DWARF with 32-bit line tables, and file 0 of
    DWARF 5. LLVM's tool is used too if it is installed. In a .o file, addresses are offsets in
    `section`, which only binutils takes.
    """
    found = lines_by("addr2line", path, addresses, ["-j", section] if section else [])
    if not section and shutil.which("llvm-addr2line"):
        for address, said in lines_by("llvm-addr2line", path, addresses, []).items():
            found[address] |= said
    return found


def lines_by(tool, path, addresses, options):
    text = "".join(f"{a:#x}\n" for a in addresses)
    found = {}
    for address, line in zip(addresses, out(tool, *options, "-e", path, text=text).splitlines()):
        m = re.match(r"(.*):(\d+|\?)", line)
        number = 0 if m[2] == "?" else int(m[2])
        known = m[1] not in ("??", "?") and number
        found[address] = {(m[1].rsplit("/", 1)[-1], number) if known else (None, 0)}
    return found


def demangle(names):
    return dict(zip(names, out("c++filt", text="".join(n + "\n" for n in names)).splitlines()))


def base_name(name, readable):
    """The word a source marks a function with: no scope, no parameters, no compiler's suffix."""
    m = re.match(r"__(\w+?)_MOD_(\w+)$", name)
    if m:
        return m[2]
    if name == readable and not name.startswith("_R"):
        return re.sub(r"\.(?:\d+|constprop\.\d+|isra\.\d+|lto_priv\.\d+)$", "", name)
    text = readable.replace("(anonymous namespace)::", "")
    text = re.sub(r"::h[0-9a-f]{16}$", "", text)
    text = re.sub(r" \[clone.*", "", text)
    while True:
        shorter = re.sub(r"<[^<>]*>", "", text)
        if shorter == text:
            break
        text = shorter
    text = text.split("(", 1)[0]
    return re.split(r"::| ", text.rstrip(":"))[-1]
