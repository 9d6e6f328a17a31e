# SPDX-License-Identifier: Apache-2.0
# Differences that assay compare shows beside the times, against the builds themselves. The flags
# are known, and objdump reads the instructions. Tests are skipped if runs cannot be recorded.

# build NAME COMPILER FLAG...
build() {
    local name=$1 compiler=$2
    shift 2
    "$compiler" -g "$@" -o "$name" program.c -L. -lwork -Wl,-rpath,"$PWD"
}

# library FACTOR: another version of it in the same place
library() {
    gcc -g -O1 -shared -fPIC -Wl,--build-id -DFACTOR="$1" -o libwork.so library.c
}

record() {
    local name=$1 program=$2
    shift 2
    env "$@" "$ASSAY" profile -q -o "$name.assay" -- "./$program" >/dev/null 2>>probe.err ||
        touch refused
}

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >library.c <<'END'
volatile double sink;
void work(long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += (double)i / (FACTOR + (double)i);
    sink = sum;
}
END
    cat >program.c <<'END'
void work(long n);
static double a[2048], b[2048], c[2048];
volatile double seen;
__attribute__((noinline)) void kernel(long times)
{
    for (long t = 0; t < times; t++) {
        for (long i = 0; i < 2048; i++)
            a[i] = a[i] * 0.5 + b[i] * c[i];
        seen = a[t & 2047];
    }
}
int main(void)
{
    kernel(400000);
    work(30000000);
    return 0;
}
END
    library 1
    build scalar gcc -O2 -fno-tree-vectorize
    build packed gcc -O3 -ffast-math
    record scalar scalar OMP_NUM_THREADS=2
    record again scalar OMP_NUM_THREADS=2
    record packed packed OMP_NUM_THREADS=2
    record threads scalar OMP_NUM_THREADS=3
    if command -v clang >/dev/null; then
        build clang clang -O3
        record clang clang OMP_NUM_THREADS=2
    fi
    library 2
    record library scalar OMP_NUM_THREADS=2
}
setup() {
    load common.bash
    [ ! -e refused ] || skip "no run can be recorded here: $(cat probe.err)"
}

# compare A B: out as JSON
compare() { "$ASSAY" compare --format json "$1.assay" "$2.assay" >out; }

@test "compare: flags, packed share and instructions are those of the builds" {
    compare scalar packed
    for program in scalar packed; do
        objdump -d --no-show-raw-insn --disassemble=kernel "$program" >$program.dis
    done
    python3 - <<'END'
import json, re

def inner_loop(path):
    """Operations of the shortest range that a jump closes."""
    at = [(int(m[1], 16), m[2].strip()) for m in
          re.finditer(r"^ *([0-9a-f]+):\t(.*)$", open(path).read(), re.M)]
    loops = []
    for address, text in at:
        jump = re.match(r"j\w+ +([0-9a-f]+)", text)
        if jump and int(jump[1], 16) <= address:
            loops.append([t for a, t in at if int(jump[1], 16) <= a <= address])
    return min(loops, key=len)

def packed_pct(loop):
    words = [re.match(r"v?(?:add|mul|sub|div|fm\w*)([ps])d", t) for t in loop]
    kinds = [w[1] for w in words if w]
    assert kinds, loop
    return 100 * kinds.count("p") / len(kinds)

it = json.load(open("out"))["comparison"]
row = next(r for r in it["rows"] if r["object"] == "loop" and r["name"] == "kernel"
           and r["time_s"][0] and r["time_s"][1] and r["time_s"][0]["value"] > 0.05)
facts = {f["name"]: f for f in row["facts"]}
words = [set(text.split()) for text in facts["flags"]["texts"]]
assert "-O2" in words[0] and "-O3" in words[1]
assert "-fno-tree-vectorize" in words[0] - words[1]
assert "-ffast-math" in words[1] - words[0]
loops = [inner_loop(p + ".dis") for p in ("scalar", "packed")]
want = [packed_pct(loop) for loop in loops]
assert want[0] == 0 and want[1] == 100, (want, loops)
assert [v["value"] for v in facts["fp_packed_pct"]["values"]] == want
assert facts["fp_packed_pct"]["unit"] == "%"
assert row["instructions"] == [len(loop) for loop in loops], (row["instructions"], loops)
differs = row["each"][0]["differs"]
assert differs[:2] == ["-O2 -> -O3", "packed arithmetic 0 -> 100 %"], differs
assert any("-fno-tree-vectorize" in d and d.startswith("without") for d in differs), differs
program = next(f for f in it["facts"] if f["topic"] == "program")
assert program["texts"][0].startswith("scalar ") and program["texts"][1].startswith("packed ")
END
}

@test "compare: what differs stands under the row, within 80 columns" {
    compare scalar packed
    python3 -c '
import json
rows = json.load(open("out"))["comparison"]["rows"]
raise SystemExit(not any(r["significant"] and r["name"] == "kernel" for r in rows))' ||
        skip "the host is too busy: no difference is significant"
    COLUMNS=80 "$ASSAY" compare scalar.assay packed.assay >text
    while read -r line; do
        [ "${#line}" -le 80 ] || fails "too long: $line"
    done <text
    like "*Differences of the environment*program*scalar*packed*Functions*kernel*  -O2 -> -O3; *Loops*" \
        "$(cat text)"
    like "*  -O2 -> -O3; packed arithmetic 0 -> 100 %*" "$(cat text)"
    never grep -qi "because" text
}

@test "compare: the code of loops stands side by side" {
    compare scalar packed
    python3 - <<'END' || skip "no table of this core: code quality analysis has no values"
import json
rows = json.load(open("out"))["comparison"]["rows"]
raise SystemExit(not any(r["cqa"] for r in rows))
END
    python3 - <<'END'
import json
rows = json.load(open("out"))["comparison"]["rows"]
row = next(r for r in rows if r["object"] == "loop" and r["name"] == "kernel" and r["cqa"])
cqa = {f["name"]: f["texts"] for f in row["cqa"]}
assert cqa["cqa_vec_ratio_all_pct"] == ["0", "100"], cqa
assert cqa["cqa_insn_n"] == [str(n) for n in row["instructions"]], (cqa, row["instructions"])
assert all(float(c) > 0 for c in cqa["cqa_cycles"]) and all(cqa["cqa_limit"]), cqa
told = [d for d in row["each"][0]["differs"] if d.startswith("packed: ")]
assert not told, told
assert all(not r["cqa"] for r in rows if r["object"] == "function")
END
    COLUMNS=80 "$ASSAY" compare scalar.assay packed.assay >text
    [ "$(wc -L <text)" -le 80 ]
    like "*Code of loops*cycles*source*insns*vec %*width %*limited by*kernel*" "$(cat text)"
}

@test "compare: identical builds differ in nothing" {
    compare scalar again
    python3 - <<'END'
import json
it = json.load(open("out"))["comparison"]
# The load of the host is its own.
assert [f for f in it["facts"] if f["topic"] != "load"] == [], it["facts"]
for row in it["rows"]:
    if row["name"] in ("kernel", "work", "main"):
        assert row["facts"] == [] and row["each"][0]["differs"] == [], row
END
}

@test "compare: a variable and a library that differ are named" {
    compare scalar threads
    python3 - <<'END'
import json
it = json.load(open("out"))["comparison"]
facts = [(f["topic"], f["name"], f["texts"]) for f in it["facts"] if f["topic"] != "load"]
assert facts == [("environment", "OMP_NUM_THREADS", ["2", "3"])], facts
END
    compare scalar library
    readelf -n libwork.so | sed -n 's/.*Build ID: //p' >id
    python3 - <<'END'
import json
it = json.load(open("out"))["comparison"]
facts = [f for f in it["facts"] if f["topic"] != "load"]
assert [(f["topic"], f["name"]) for f in facts] == [("library", "libwork.so")], facts
assert facts[0]["texts"][1] == "libwork.so " + open("id").read()[:12], facts
END
}

@test "compare: another compiler is named" {
    [ -e clang.assay ] || skip "no clang here"
    compare scalar clang
    python3 - <<'END'
import json, subprocess
version = subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
it = json.load(open("out"))["comparison"]
row = next(r for r in it["rows"] if r["object"] == "function" and r["name"] == "kernel")
fact = next(f for f in row["facts"] if f["name"] == "compiler")
assert fact["texts"][0] == "gcc " + version and fact["texts"][1].startswith("clang "), fact
assert row["each"][0]["differs"][0] == " -> ".join(fact["texts"])
# Clang does not record its flags: nothing is said of them.
assert not any(f["name"] == "flags" for f in row["facts"])
END
}
