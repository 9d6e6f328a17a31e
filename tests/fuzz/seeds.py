#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for the fuzz entries, made with the compilers of this host from programs below.

usage: seeds.py OUT      (writes OUT/ENTRY/seed-NNN)

The kept corpus started as these seeds, minimised by `fuzz-NAME -merge=1`; a compiler that is
missing leaves its seeds out. The container of OUT/dwarf is described in pack.h.
"""
import gzip
import pathlib
import struct
import subprocess
import sys
import tempfile

import seeds_samples
import seeds_trace

PROGRAM = """
static inline __attribute__((always_inline)) int twice(int x) { return 2 * x; }
struct pair { int a, b; };
static double table[4] = {1, 2, 3, 4};
double sum(const double *x, int n)
{ double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
int both(struct pair *p)
{ { int t = twice(p->a); p->b = t; } return twice(p->b) + (int)sum(table, 4); }
void _start(void) { struct pair p = {1, 2}; both(&p); __builtin_trap(); }
"""
CXX = """
namespace deep { template <class T> struct box { T t; T get() const { return t; } };
struct base { virtual int f() { return 1; } }; }
extern "C" void _start() { deep::box<int> b{3}; (void)b.get(); __builtin_trap(); }
int deep_user(deep::box<long> *b, deep::box<int> *c) { return (int)b->get() + c->get(); }
"""
BARE = ["-nostdlib", "-static", "-Wl,--build-id=none", "-fno-stack-protector",
        "-ffunction-sections"]
NAMES = [".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
         ".debug_rnglists", ".debug_ranges", ".debug_str_offsets", ".debug_addr", ".debug_aranges",
         ".debug_types", ".debug_names", ".debug_info.dwo", ".debug_abbrev.dwo", ".debug_line.dwo",
         ".debug_str.dwo", ".debug_rnglists.dwo", ".debug_str_offsets.dwo", ".debug_cu_index",
         ".debug_tu_index", ".gnu_debugaltlink", ".note.gnu.build-id", ".eh_frame",
         ".debug_types.dwo"]
MAIN, DWO, ALT, DWP = range(4)
DEMANGLE = ["_ZN4deep3boxIiE3getEv", "_Z3fooILi3EEvT_", "_ZNSt6vectorIdSaIdEE9push_backERKd",
            "_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "__heat_MOD_sweep",
            "_RNvCs1234_7mycrate3foo", "_RINvNtC3std3mem8align_ofNtNtC3std3mem12DiscriminantE",
            "_ZZ4mainENKUlvE_clEv", "heat_mp_sweep_", "_QMheatPsweep", "_ZTV4base", "plain",
            "_ZN1aC1ERKS_", "_ZGVZ1fvE1x", "_ZN3foo17h05af221e174051e9E.llvm.123", "main.cold"]
FIGURES = ["machine\tname\ta b\nbegun\tmemory\t2026-01-02T03:04:05Z\ndone\tpeaks\t-\n"
           "figure\tx\t-1e300\tns\t-1\t0\tnoisy\t-\npoint\tc\t0x10\t1\nfinding\tq\ttext\n",
           "figure\tx\tnan\tns\t0\t1\tcalm\t-\n"]
BYTES = ["00", "90c3", "c5fd58c1c5fdefc9", "62f17c4858c8", "62f27d4818c0", "f3480f1efa", "480fafc3",
         "48b8efcdab8967452301c3", "a0efcdab8967452301", "e8fbffffff0f84f0ffffffebfe",
         "f3a4f348abf2ae", "d9eedec1d9fadfe0", "c4e27149c0c4e2785e00", "62f24d29900405000000 00",
         "f0480fb10ff0ff00", "67488b040564488b042500000000", "0f0b0f050f34f4cc",
         "666666662e0f1f8400",
         "c4e2f1b8c2c4e371 4ac230", "62f57c4858c162f5 7e0851c1", "c801000148 8b05000000 80",
         "ff25000000 00ff15ffffff7f", "6a0048 6800000080", "c78405 00000080ffffffff"]


def run(*argv):
    try:
        subprocess.run([str(a) for a in argv], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return True
    except (OSError, subprocess.CalledProcessError):
        return False


def sections(path):
    """Name -> bytes of the sections of an ELF64 file."""
    data = path.read_bytes()
    shoff, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQ", data, shoff + i * size) for i in range(count)]
    start = rows[names][4]
    for name, kind, _, _, offset, size_b in rows:
        label = data[start + name:data.index(b"\0", start + name)].decode()
        yield label, (b"" if kind == 8 else data[offset:offset + size_b])


def pack(*files):
    """Container of (file number, path) pairs."""
    out = b""
    for number, path in files:
        for name, data in sections(path):
            if name in NAMES and data:
                out += bytes([number << 6 | NAMES.index(name)])
                out += len(data).to_bytes(3, "little") + data
    return out


def build(work, name, compiler, source, *flags, link=True):
    """One bare program of the source; None when it cannot be had here."""
    text = work / ("s.cc" if source is CXX else "s.c")
    text.write_text(source)
    out = work / name
    # Paths are relative: split units are looked for in the directory of the process.
    flags = [*flags, *(BARE if link else ["-c"]), f"-fdebug-prefix-map={work}=.", "-o", out, text]
    return out if run(compiler, *flags) else None


def dwarf_seeds(work, put):
    for source, compilers in ((PROGRAM, ("gcc", "clang")), (CXX, ("g++", "clang++"))):
        for compiler in compilers:
            for version in (2, 3, 4, 5):
                for extra in ([], ["-fdebug-types-section"], ["-g3"] if version == 5 else []):
                    made = build(work, "p", compiler, source, "-g", f"-gdwarf-{version}", "-O2",
                                 "-fno-asynchronous-unwind-tables", *extra)
                    if made:
                        put("dwarf", pack((MAIN, made)))
    made = build(work, "p", "clang", PROGRAM, "-g", "-gdwarf-5", "-gpubnames", "-O1")
    if made:
        put("dwarf", pack((MAIN, made)))
    for compiler in ("gcc", "clang"):
        for version in (4, 5):
            split_seed(work, put, compiler, version)
    alt_seed(work, put)


def split_seed(work, put, compiler, version):
    source = work / "s.c"
    source.write_text(PROGRAM)
    # gcc names the .dwo after the object, which must therefore be made in its directory.
    command = (f"cd {work} && rm -f s.o s.dwo && {compiler} -g -gdwarf-{version} -O2 -gsplit-dwarf "
               f"-fdebug-prefix-map={work}=. -fno-asynchronous-unwind-tables -ffunction-sections "
               f"-c s.c -o s.o && ld -e _start s.o -o s")
    if not run("sh", "-c", command):
        return
    put("dwarf", pack((MAIN, work / "s"), (DWO, work / "s.dwo")))
    for tool in ("dwp", "llvm-dwp", "llvm-dwp-14"):
        if run("sh", "-c", f"cd {work} && {tool} s.dwo -o s.dwp"):
            put("dwarf", pack((MAIN, work / "s"), (DWP, work / "s.dwp")))
            break


def alt_seed(work, put):
    """Two programs with common parts that dwz moves into s.alt."""
    made = [build(work, name, "g++", CXX + CXX.replace("deep", name).replace("_start", "x" + name),
                  "-g", "-gdwarf-4", "-O1") for name in ("p1", "p2")]
    if all(made) and run("sh", "-c", f"cd {work} && dwz -m s.alt -M s.alt p1 p2"):
        put("dwarf", pack((MAIN, work / "p1"), (ALT, work / "s.alt")))


def elf_seeds(work, put):
    rows = [("gcc", ["-g"]), ("gcc", ["-g", "-gz"]), ("gcc", ["-O2", "-s"]), ("clang", ["-g"]),
            ("gcc", ["-shared", "-fPIC", "-g"]), ("gcc", ["-pie", "-fPIE"]),
            ("gcc", ["-Wl,--build-id=sha1"]), ("gcc", ["-Wl,--gc-sections", "-Wl,-z,nosepcode"])]
    for compiler, flags in rows:
        flags = [*flags, "-Wl,-z,max-page-size=256", "-Wl,-z,noseparate-code"]
        made = build(work, "p", compiler, PROGRAM, *flags)
        if made:
            put("elf", made.read_bytes())
    for flags in (["-g"], ["-O2", "-ffunction-sections"]):
        made = build(work, "p.o", "gcc", PROGRAM, *flags, link=False)
        if made:
            put("elf", made.read_bytes())
    caller = work / "c.c"
    caller.write_text("int puts(const char *); double sin(double);\n"
                      "__attribute__((constructor)) static void up(void) { puts(\"up\"); }\n"
                      "int main(int n, char **v) { (void)v; return (int)sin(n); }\n")
    tight = ["-Wl,-z,max-page-size=256", "-Wl,-z,noseparate-code", "-nostartfiles", "-Wl,-e,main"]
    for flags in (["-fcf-protection=full", "-Wl,-z,ibtplt"], ["-fno-plt"], ["-Wl,-z,lazy"],
                  ["-no-pie", "-Wl,-z,lazy"], ["-shared", "-fPIC", "-Wl,-soname,x.so"]):
        if run("gcc", "-O1", caller, "-o", work / "c", *tight, *flags, "-lm"):
            put("elf", (work / "c").read_bytes())
    link = work / "p"
    if build(work, "p", "gcc", PROGRAM, "-g") and run(
            "sh", "-c", f"cd {work} && objcopy --only-keep-debug p p.debug && strip p && "
                        "objcopy --add-gnu-debuglink=p.debug p"):
        put("elf", link.read_bytes())
        put("elf", (work / "p.debug").read_bytes())


ASSEMBLY = """
.globl _start
_start: .cfi_startproc
 push %rbp
 .cfi_def_cfa_offset 16
 .cfi_offset rbp, -16
 .cfi_remember_state
 mov %rsp, %rbp
 .cfi_def_cfa_register rbp
 .cfi_escape 0x0f, 3, 0x77, 8, 6
 .cfi_escape 0x10, 3, 4, 0x76, 0x70, 0x94, 8
 .cfi_escape 0x16, 12, 2, 0x31, 0x1c
 .cfi_undefined r13
 .cfi_same_value r14
 .cfi_register r15, rax
 pop %rbp
 .cfi_restore_state
 .cfi_restore rbp
 .cfi_val_offset rbx, -24
 .cfi_undefined rip
 ret
 .cfi_endproc
other: .cfi_startproc
 .cfi_signal_frame
 nop
 .cfi_adjust_cfa_offset 8
 ret
 .cfi_endproc
"""


def cfi_seeds(work, put):
    """Frames of code at the places that fuzz_cfi.c gives it; see there for the container."""
    place = ["-Wl,-Ttext=0x401000", "-Wl,--section-start=.eh_frame=0x402000"]
    for first in ("", ".cfi_sections .debug_frame\n"):
        source = work / "f.s"
        source.write_text(first + ASSEMBLY)
        if run("gcc", *BARE, *place, "-o", work / "f", source):
            put_frames(work / "f", put)
    for flags in (["-O2"], ["-O1", "-fno-omit-frame-pointer"],
                  ["-O2", "-g", "-fno-asynchronous-unwind-tables"]):
        made = build(work, "f", "gcc", PROGRAM, *flags, *place)
        if made:
            put_frames(made, put)


def put_frames(path, put):
    part = dict(sections(path))
    eh, debug = part.get(".eh_frame", b""), part.get(".debug_frame", b"")
    for how in (0, 1):
        put("cfi", bytes([how]) + struct.pack("<H", len(eh)) + eh + debug)


# Records of compilers: the JSON and the text of gcc, the YAML of clang.
REMARKS = ["""[{"format": "1", "generator": {"name": "GNU C17", "version": "12.2.0"}},
[{"id": "0x1", "name": "vect", "num": 168, "optgroups": ["vec"], "type": "gimple",
"children": [{"id": "0x2", "name": "slp", "num": 172}]}],
[{"kind": "scope", "pass": "0x1", "message": ["=== analyze ===\\n"], "children":
[{"kind": "failure", "location": {"file": "a.c", "line": 3, "column": 5}, "pass": "0x1",
"function": "f", "count": {"quality": "guessed_local", "value": 95.5},
"message": ["not vectorized: no vectype for stmt: ", {"stmt": "_4 = *_3;\\n"},
" type: ", {"expr": "const \\u0064ouble"}, {"symtab_node": "g/1"}]}]},
{"kind": "success", "location": {"file": "/x/a.c", "line": 9, "column": 5}, "pass": "0x2",
"message": ["basic block part vectorized using 16 byte vectors\\n"], "inlining_chain":
[{"fndecl": "f", "site": null}]}]]""", """a.c:3:5: optimized: loop vectorized using 16 byte vectors
src/b.c:12:10: missed: couldn't vectorize loop
src/b.c:13:10: missed: not vectorized: control flow in loop.
src/b.c:13:10: note: vectorized 0 loops in function.
  Vector cost: 56
C:x:y: optimized: not a place
""", """--- !Passed
Pass:            loop-vectorize
Name:            Vectorized
DebugLoc:        { File: '/x/a.c', Line: 14,
                   Column: 5 }
Function:        f
Args:
  - String:          'vectorized loop (vectorization width: '
  - VectorizationFactor: '4'
  - String:          ')'
...
--- !Analysis
Pass:            loop-vectorize
Name:            CantReorderFPOps
DebugLoc:        { File: b.c, Line: 9, Column: 7 }
Function:        'it''s'
Args:
  - String:          'loop not vectorized: '
  - String:          "cannot prove \\"it\\" is safe
    to reorder"
  - Callee:          g
    DebugLoc:        { File: b.c, Line: 1, Column: 0 }
...
--- !Missed
Pass:            slp-vectorizer
Name:            NotPossible
Function:        f
Args:
  - String:          'Cannot SLP vectorize list'
...
"""]

PROBES = ["""# all of it
probe hot
    at loop
    where function ~ "k*", "dax?y" and level innermost, single
    where not share <= 2.5 % and depth 2 - 4 and file = "a.c"
    do count, time
end
""", """probe c
at call before
where callee = "f" and line >= 10 and address 0x1a2b and class = "call" and mnemonic ~ "c*"
do record argument 1, record register rdi, record memory "[rsi+8]", call "lib.so" "seen"
end
probe d
at program
do time
end
""", "probe x\nat block\ndo time\nend\n", """probe v
at function exit
do record register rax, record double register xmm15, record int memory "[rsp+rcx*8-0x10]"
do record memory "[r9]", call "./a.so" "f"
end
""", "probe x\nwhere line 1 - \n"]

FILTERS = ["""# What is called by the million
SCOREP_REGION_NAMES_BEGIN
  EXCLUDE MPI_Comm_rank MPI_Comm_size   # twice a line
          MPI_Test* solver_[a-cx]?
  INCLUDE MPI_Testall
  EXCLUDE MANGLED _ZN6solver*
SCOREP_REGION_NAMES_END
SCOREP_FILE_NAMES_BEGIN EXCLUDE */lib/* INCLUDE */lib/own.c SCOREP_FILE_NAMES_END
""", "SCOREP_REGION_NAMES_BEGIN\nEXCLUDE *\nINCLUDE MPI_Allreduce omp\\ critical \\#1 a\\*\n"
     "SCOREP_REGION_NAMES_END\n",
           "", "# nothing\n", "SCOREP_REGION_NAMES_BEGIN SCOREP_REGION_NAMES_END",
           "SCOREP_REGION_NAMES_BEGIN\nEXCLUDE", "SCOREP_REGION_NAMES_BEGIN a", "EXCLUDE a",
           "SCOREP_REGION_NAMES_BEGIN EXCLUDE [a SCOREP_REGION_NAMES_END",
           "SCOREP_REGION_NAMES_BEGIN EXCLUDE [!a] SCOREP_REGION_NAMES_END",
           "SCOREP_REGION_NAMES_BEGIN EXCLUDE a\\"]


# Traces of Dimemas: messages, collectives, communicators, requests; a deadlock; damaged ones.
DIMS = ["""#DIMEMAS:"messages":1,0:3(1,1,1),0,0
1:0:0:0.000100000
2:0:0:1:0:1000:5:0:0
2:0:0:1:0:70000:5:0:3
3:0:0:2:0:8:-6:0:0
3:1:0:0:0:1000:5:0:1
1:1:0:1.5
3:1:0:0:0:70000:5:0:0
3:1:0:0:0:1000:5:0:2
2:2:0:0:0:8:-6:0:1
20:2:0:60000019:1
""", """#DIMEMAS:"collectives":1,99:4(1,1,1,1),2,0
d:1:1:4:0:1:2:3
d:1:7:2:1:3
10:0:0:0:1:0:0:0:0
10:1:0:0:1:0:0:0:0:1
10:2:0:0:1:0:0:0:0:3
10:3:0:0:1:0:0:0:0:1
10:1:0:11:7:0:0:8:8:0
1:1:0:0.001
10:1:0:11:7:0:0:8:8:2
10:3:0:11:7:1:0:8:80:1
s:0:1
""", '#DIMEMAS:"pairs":1,0:4(1,1,1,1),0,0\r\n' + "".join(
    f"2:{a}:0:{b}:0:3000:1:0:{s}\r\n3:{b}:0:{a}:0:3000:1:0:0\r\n"
    for s in range(4) for a, b in ((0, 2), (1, 3), (0, 1))),
        '#DIMEMAS:"deadlock":1,0:2(1,1),0,0\n3:0:0:1:0:1:0:0:0\n3:1:0:0:0:1:0:0:0\n',
        '#DIMEMAS:"cut":1,0:2(1,1),0,0\n2:0:0:1:0:9\n', '#DIMEMAS:"x":1,0:9(1,1),0,0\n', ""]
# The others are refused and have names of their own, as a seed must be taken.
DIMS_TAKEN = 3

# Files of machines: networks and mappings.
ENVIRONMENT = '"environment information" {"", 0, "", 4, 250.5, 2, 1};;\n'
NODES = '"multi node information" {0, 4, "", 2, 1.5, 1e-6, 0.0, 1, 1, 0, 5e-6, 1, 1, 0.0};;\n'
MACHINES = [
    '/* "node information" { 1: int "machine ID" };; */\n' + ENVIRONMENT + NODES
    + '"predefined mapping information" {"2 TASKS_PER_NODE"};;\n',
    ENVIRONMENT + NODES + '"mapping information" {"x", 3, [3] {0, 1, 1}};;\n'
    '"modules information" {1, 2, 0.5};;\n',
    ENVIRONMENT + '"node information" {0, "", 1, 2.0, 0.0, 0.0, 0, 0, 0, 1e-6, 1, 1, 0.0};;\n'
    '"predefined mapping information" {"", "INTERLEAVED"};;\n',
    ENVIRONMENT, NODES + '"mapping information" {"x", 3, [3] {0, 1};;\n',
    ENVIRONMENT + NODES.replace("1e-6", "-1"), ENVIRONMENT + ENVIRONMENT]
MACHINES_TAKEN = 3


def main():
    out = pathlib.Path(sys.argv[1]).resolve()
    for entry in ("elf", "dwarf", "decode", "demangle", "cfi", "perf", "stream", "ring",
                  "figures", "filter", "dim", "machine", "remarks", "probe", "trace", "analysis"):
        (out / entry).mkdir(parents=True, exist_ok=True)
    count = {}

    def put(entry, data):
        count[entry] = count.get(entry, 0) + 1
        (out / entry / f"seed-{count[entry]:03}").write_bytes(data)

    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        dwarf_seeds(work, put)
        elf_seeds(work, put)
        cfi_seeds(work, put)
        for flags in (["-O3", "-march=skylake-avx512"], ["-O3", "-mavx2"], ["-O0"],
                      ["-O2", "-mfpmath=387"]):
            made = build(work, "p", "gcc", PROGRAM, *flags)
            for label, data in sections(made) if made else ():
                if label.startswith(".text"):
                    put("decode", b"\0" + data[:512])
    for text in BYTES:
        put("decode", b"\0" + bytes.fromhex(text.replace(" ", "")))
    for text in DEMANGLE:
        put("demangle", text.encode())
    for text in FIGURES:
        put("figures", text.encode())
    for text in PROBES:
        put("probe", text.encode())
    for text in FILTERS:
        put("filter", text.encode())
    for text in DIMS[:DIMS_TAKEN]:
        put("dim", text.encode())
    for number, text in enumerate(DIMS[DIMS_TAKEN:], 1):
        (out / "dim" / f"refused-{number:03}").write_bytes(text.encode())
    for text in MACHINES[:MACHINES_TAKEN]:
        put("machine", text.encode())
    for number, text in enumerate(MACHINES[MACHINES_TAKEN:], 1):
        (out / "machine" / f"refused-{number:03}").write_bytes(text.encode())
    for text in REMARKS:
        put("remarks", text.encode())
    put("remarks", b"\1" + REMARKS[0].encode())
    put("remarks", gzip.compress(REMARKS[1].encode(), mtime=0))
    seeds_samples.write(put)
    seeds_trace.write(put)
    print(" ".join(f"{entry}: {n}" for entry, n in sorted(count.items())))


if __name__ == "__main__":
    main()
