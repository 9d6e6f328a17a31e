# SPDX-License-Identifier: Apache-2.0
# assay loops, disasm --loop and info --code on loops known by construction.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >loops.c <<'END'
#include <stddef.h>
static inline __attribute__((always_inline)) double dot(const double *a, const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}
void daxpy(double *restrict y, const double *restrict x, double a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}
double matvec(const double *a, const double *x, double *y, size_t n)
{
    double t = 0;
    for (size_t i = 0; i < n; i++) {
        y[i] = dot(a + i * n, x, n);
        t += y[i];
    }
    return t;
}
int straight(int x) { return x + 1; }
END
    gcc -g -O1 -shared -fPIC loops.c -o loops.so
    gcc -g -O3 -march=x86-64-v3 -shared -fPIC loops.c -o vector.so
}
setup() { load common.bash; }

of() { # of FILE FUNCTION KEY: values of the loops of a function, in order
    python3 - "$@" <<'END'
import json, sys
path, function, key = sys.argv[1:]
loops = json.load(open(path))["loops"]
print(" ".join(json.dumps(l[key]) for l in loops if l["function"] == function))
END
}

@test "loops, nesting and lines are those of the source" {
    "$ASSAY" loops --format json loops.so >out
    equal '"single"' "$(of out daxpy level)"
    equal '"outermost" "innermost"' "$(of out matvec level)"
    equal '1 2' "$(of out matvec depth)"
    equal 'null 1' "$(of out matvec parent)"
    equal '11 12' "$(of out daxpy first_line) $(of out daxpy last_line)"
    equal '17 5' "$(of out matvec first_line)"
    equal '19 6' "$(of out matvec last_line)"
    equal "[] [\"dot at $PWD/loops.c:18\"]" "$(of out matvec inlined_from)"
    equal '' "$(of out straight id)"
}
@test "instructions and blocks are counted" {
    "$ASSAY" loops --format json --function daxpy loops.so >out
    n=$("$ASSAY" disasm --no-source --loop 0 loops.so | grep -c '^  [> ] ')
    equal "$n" "$(of out daxpy instructions)"
    equal '1 1 1 1' "$(for k in blocks entries exits back_edges; do of out daxpy $k; done | xargs)"
}
@test "a vectorised loop has its role and unroll factor" {
    "$ASSAY" loops --format json --function daxpy vector.so >out
    python3 - out <<'END'
import json, sys
loops = json.load(open(sys.argv[1]))["loops"]
main = [l for l in loops if l["role"] == "main"]
assert len(main) == 1, loops
assert main[0]["unroll"] == 4, main
assert all(l["group"] == main[0]["id"] for l in loops), loops
END
}
@test "filters" {
    equal 1 "$("$ASSAY" loops --format csv --level innermost loops.so | tail -n +2 | wc -l)"
    equal 1 "$("$ASSAY" loops --format csv --level outermost loops.so | tail -n +2 | wc -l)"
    equal 0 "$("$ASSAY" loops --format csv --level between loops.so | tail -n +2 | wc -l)"
    equal 2 "$("$ASSAY" loops --format csv --function matvec loops.so | tail -n +2 | wc -l)"
    equal 1 "$("$ASSAY" loops --format csv --limit 1 loops.so | tail -n +2 | wc -l)"
    equal 0 "$("$ASSAY" loops --format csv --min-instructions 1000 loops.so | tail -n +2 | wc -l)"
}
@test "the table fits 80 columns and says what all rows share" {
    COLUMNS=80 "$ASSAY" loops loops.so >out
    equal '' "$(grep '.\{81\}' out)"
    grep -q '^ *id  *level  *source' out
    grep -q '^ *2 *innermost *loops.c:5-6 .*matvec$' out
    grep -q '^3 loops, 2 without a loop inside' out
}
@test "no loops at all" {
    echo 'int one(void) { return 1; }' >one.c
    gcc -c one.c -o one.o
    equal '0 loops, 0 without a loop inside' "$("$ASSAY" loops one.o)"
    equal '[]' "$("$ASSAY" loops --format json one.o | json '["loops"]')"
    run -2 "$ASSAY" disasm --loop 0 one.o
    equal 'assay: --loop: one.o has no loops; use --function or --range' "$output"
}
@test "a stripped library has the same loops" {
    cp loops.so stripped.so
    strip stripped.so
    for f in loops.so stripped.so; do
        "$ASSAY" loops --format csv "$f" | python3 -c "
import csv, sys
for r in csv.DictReader(sys.stdin):
    print(r['address'], r['level'], r['blocks'], r['instructions'])" >"$f.got"
    done
    [ -s loops.so.got ]
    cmp loops.so.got stripped.so.got
}
@test "the number of threads changes nothing" {
    "$ASSAY" loops --format json --jobs 1 /usr/bin/python3 >one
    "$ASSAY" loops --format json --jobs 2 /usr/bin/python3 >two
    [ "$(wc -l <one)" -gt 1000 ]
    cmp one two
}
@test "disasm --loop shows its blocks and what they are" {
    "$ASSAY" disasm --loop 1 loops.so >out
    head -1 out | grep -q '^loop 1: outermost, main, loops.c:17-19; [0-9]* instructions in 3 blocks$'
    equal 3 "$(grep -c '^matvec' out)"
    grep -q 'instructions: header, then 0x' out
    grep -q 'in loop 2, .*back to 0x' out
    grep -q 'leaves for 0x' out
    equal 3 "$("$ASSAY" disasm --loop 1 --format json loops.so | json '["ranges"].__len__()')"
}
@test "dependences and streams of daxpy" {
    "$ASSAY" disasm --loop 0 --dependences --streams --format json loops.so >out
    python3 - <<'END'
import json
said = json.load(open("out"))
streams = [(s["access"], s["stride"], s["stride_b"], s["width_b"]) for s in said["streams"]]
assert sorted(streams) == [("load", "unit", 8, 8), ("load", "unit", 8, 8), ("store", "unit", 8, 8)]
assert len({s["array"] for s in said["streams"]}) == 2
deps = said["dependences"]
# The product waits for the load, the sum for the product, the store for the sum.
chain = [d for d in deps if d["distance"] == 0 and d["through"] == "register" and
         "address" not in d["marks"] and d["what"][0].startswith("xmm")]
assert len(chain) == 3, chain
# Only the counter is carried to the next iteration, and nothing through memory.
assert {d["what"][0] for d in deps if d["distance"]} == {"rax"}, deps
assert all(d["through"] != "memory" for d in deps)
END
    run -2 "$ASSAY" disasm --function daxpy --streams loops.so
    equal "assay: disasm: --streams needs a loop; add --loop ID ('assay loops' lists them)" "$output"
}
@test "streams and paths of loops are counted" {
    "$ASSAY" loops --format json loops.so >out
    equal '3 2 3' "$(for k in streams arrays streams_stride_unit; do of out daxpy $k; done | xargs)"
    equal '1 1' "$(of out matvec paths)"
}
# Counted in memory, each level around the next: no compiler nests so deep.
@test "a nest of two thousand: every loop is there, the outer ones marked" {
    python3 - <<'END' >nest.s
n = 2000
print(".globl f\n.type f, @function\nf:")
for i in range(n):
    print(f".Lhead{i}: addl $1, {4 * i}(%rdi)")
for i in reversed(range(n)):
    print(f" cmpl $7, {4 * i}(%rdi)\n jne .Lhead{i}")
print(" ret\n.size f, .-f")
END
    gcc -shared -nostdlib nest.s -o nest.so
    "$ASSAY" loops --format json nest.so >out
    python3 - <<'END'
import json
loops = json.load(open("out"))["loops"]
assert [(it["id"], it["parent"], it["depth"]) for it in loops] == [
    (i, i - 1 if i else None, i + 1) for i in range(2000)]
outsize = [it for it in loops if "outsize nest" in it["marks"]]
whole = loops[len(outsize):]
assert outsize == loops[:len(outsize)] and len(outsize) > 1000 and len(whole) > 300
# Unknown values are not given as a number. Known ones are complete: a head and a tail for each
# level.
assert all(it["paths"] is None and it["streams"] is None for it in outsize)
assert all(it["paths"] == 1 and it["streams"] == 2 for it in whole), whole[0]
assert [it["instructions"] for it in whole] == [3 * (2000 - it["depth"] + 1) for it in whole]
END
    like "*2,000 loops, 1 without a loop inside*" "$("$ASSAY" loops nest.so | tail -1)"
}
@test "a loop that is none" {
    run -2 "$ASSAY" disasm --loop 99 loops.so
    equal "assay: --loop: 99 is no loop of loops.so, they are 0 to 2; 'assay loops' lists them" "$output"
}
@test "info --code counts" {
    "$ASSAY" info --code --format json loops.so >out
    equal 3 "$(json '["binaries"][0]["code"]["loops"]' <out)"
    equal 0 "$(json '["binaries"][0]["code"]["indirect_jumps_unresolved"]' <out)"
    "$ASSAY" info --code loops.so | grep -q '^  loops *3: 2 without a loop inside, 1 around others, 0'
    ! "$ASSAY" info loops.so | grep -q '^  loops' || fails "what should not be there is"
}
@test "a closed pipe and a full disk" {
    "$ASSAY" loops /usr/bin/python3 | head -1 >out
    grep -q '^ *id' out
    [ -w /dev/full ] || skip "no /dev/full here"
    run -1 sh -c '"$ASSAY" loops loops.so >/dev/full'
    like '*/dev/full*' "$output" || like '*No space left*' "$output"
}
