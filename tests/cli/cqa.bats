# SPDX-License-Identifier: Apache-2.0
# assay cqa: loops whose code the source and the options fix, on named cores.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >kernels.c <<'EOC'
void daxpy(double *restrict y, const double *restrict x, double a, long n)
{
    for (long i = 0; i < n; i++)
        y[i] += a * x[i];
}
double sum(const double *a, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += a[i];
    return s;
}
double horner(const double *a, double x, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s = s * x + a[i];
    return s;
}
long choose(const long *a, long n)
{
    long s = 0;
    for (long i = 0; i < n; i++) {
        if (a[i] & 1)
            __asm__ volatile("nop");
        s += a[i];
    }
    return s;
}
int straight(int a) { return a * 7 + 3; }
EOC
    gcc -g -O1 -shared -fPIC kernels.c -o scalar.so
    gcc -g -O3 -mavx2 -mfma -shared -fPIC kernels.c -o vector.so
    strip -o stripped.so scalar.so
}
setup() { load common.bash; }

of() { # FILE JSON-PATH of the only loop
    json "[\"loops\"][0]$2" <"$1"
}

@test "a line a loop, with cycles, vectors, limit and gain" {
    "$ASSAY" cqa --machine zen5 scalar.so >out
    like 'on AMD Zen 5*' "$(head -1 out)"
    grep -qE '^ +[0-9]+  daxpy, kernels.c:3-4 .* 8.0x vector$' out
    grep -qE '^ +[0-9]+  horner, .* latency +-$' out # a recurrence: nothing to gain
    ! grep -qE '.{81}' out
}
@test "a report: the verdict, the source, the gains, what stands against them" {
    "$ASSAY" cqa --machine zen5 --function daxpy scalar.so >out
    like 'loop *: daxpy, kernels.c:3-4 (single, main)' "$(head -1 out)"
    grep -q 'cycles an iteration, limited by' out
    grep -q 'Not vectorised: 12 % of the core' out # 8 of 64 bytes
    grep -q 'Most to gain: fully vectorised' out
    grep -q '     4 |         y\[i\] += a \* x\[i\];' out
    ! grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --function sum scalar.so >out
    grep -q 'a sum or the like' out
    "$ASSAY" cqa --machine zen5 --function horner scalar.so >out
    grep -q 'a chain of results' out
    grep -q 'a recurrence: each iteration needs the result' out
    grep -qE 'before computed: 0x[0-9a-f]+ mulsd .line 17' out
    "$ASSAY" cqa --machine zen5 --function horner --format json scalar.so >out
    equal chain "$(of out '["against"][0]["obstacle"]')"
}
@test "of one thing a report says one" {
    echo 'double f(double); void one(double *x, const double *y, long n)
        { for (long i = 0; i < n; i++) x[i] = f(y[i]) / x[i]; }' >one.c
    gcc -g -O1 -shared -fPIC one.c -o one.so
    "$ASSAY" cqa --machine zen5 --function one one.so >out
    grep -q -- '- a call in each iteration' out
    grep -q -- '- a division or square root, on a unit of its own' out
    grep -qE 'it calls, from 1 place: 0x[0-9a-f]+ call' out
}
@test "levels choose what is told" {
    "$ASSAY" cqa --machine zen5 --function daxpy --level expert scalar.so >out
    grep -q 'cycles by port' out
    grep -q 'fp_op_n  *2' out
    grep -q 'mulsd' out
    ! grep -q 'Most to gain' out
    ! grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --function daxpy --level gain scalar.so >out
    ! grep -q 'fp_op_n' out
}
@test "JSON has each metric, variant and path" {
    "$ASSAY" cqa --machine zen5 --function daxpy --format json scalar.so >out
    equal 2 "$(of out '["mean"]["metrics"]["fp_op_n"]')"
    equal 16 "$(of out '["mean"]["metrics"]["load_b"]')"
    equal 0 "$(of out '["mean"]["metrics"]["vec_ratio_all_pct"]')"
    equal true "$(of out '["mean"]["what_if"]["vector"]["sound"]')"
    equal 8 "$(of out '["mean"]["what_if"]["vector"]["iterations"]')"
    equal 1 "$(of out '["paths_total"]')"
    "$ASSAY" cqa --machine zen5 --function horner --format json scalar.so >out
    equal '["recurrence"]' "$(of out '["mean"]["obstacles"]')"
    equal false "$(of out '["mean"]["what_if"]["vector"]["sound"]')"
}
@test "vectorised code is seen to be" {
    "$ASSAY" cqa --machine zen5 --function daxpy --format json vector.so >out
    python3 - <<'EOP'
import json
main = max(json.load(open("out"))["loops"], key=lambda l: l["mean"]["metrics"]["load_b"])
m = main["mean"]["metrics"]
assert m["vec_ratio_all_pct"] == 100, m["vec_ratio_all_pct"]
assert m["vec_eff_all_pct"] == 50, m["vec_eff_all_pct"] # 32 of 64 bytes
assert m["insn_class_load_n"] == 2 and m["access_256_n"] == 3
EOP
}
@test "paths are told apart, and one can be chosen" {
    "$ASSAY" cqa --machine zen5 --function choose --format json scalar.so >out
    equal 2 "$(of out '["paths_total"]')"
    equal 0.5 "$(of out '["paths"][1]["weight"]')"
    "$ASSAY" cqa --machine zen5 --function choose --path 2 --format json scalar.so >out
    equal 2 "$(of out '["paths"][0]["number"]')"
    run "$ASSAY" cqa --machine zen5 --function choose --path 3 scalar.so
    equal 2 "$status"
    like '*no chosen loop has 3 paths*' "$output"
    "$ASSAY" cqa --machine zen5 --function choose --paths 1 --format json scalar.so >out
    equal true "$(of out '["merged"]')"
}
@test "CSV has a row a path and one of the mean; the threads change nothing" {
    "$ASSAY" cqa --machine emeraldrapids --format csv -j 1 scalar.so >one
    "$ASSAY" cqa --machine emeraldrapids --format csv -j 3 scalar.so >three
    cmp one three
    equal 3 "$(grep -c ',choose,' one)"
    equal 1 "$(grep -c ',daxpy,' one)"
}
@test "stripped code and code outside loops do as well" {
    "$ASSAY" cqa --machine zen5 --format json stripped.so >out
    python3 -c 'import json; l = json.load(open("out"))["loops"]; assert len(l) == 4 and all(x["mean"]["metrics"]["cycles"] > 0 for x in l)'
    "$ASSAY" cqa --machine zen5 --function straight --body --format json scalar.so >out
    equal null "$(of out '["id"]')"
    python3 -c 'import json; assert json.load(open("out"))["loops"][0]["mean"]["metrics"]["insn_n"] >= 3'
}
@test "hand-written assembly, stripped, has a report as well" {
    cat >hand.S <<'EOA'
.intel_syntax noprefix
.globl hand
hand:
    xor eax, eax
again:
    vmovups ymm0, [rsi+rax]
    vfmadd213ps ymm0, ymm1, [rdi+rax]
    vmovups [rdi+rax], ymm0
    add rax, 32
    sub rdx, 8
    jg again
    ret
EOA
    gcc -shared -nostdlib hand.S -o hand.so
    strip hand.so
    "$ASSAY" cqa --machine zen5 --level gain,potential,hint,expert hand.so >out
    grep -q 'Fully vectorised, on 50 % of the core' out
    grep -q 'fully vectorised  .*2.0x' out
    grep -q 'vfmadd213ps' out
    grep -qE '^loop 0: .* at 0x[0-9a-f]+ .single, main' out # no lines: its address
    ! grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --format json hand.so >out
    equal 16 "$(of out '["mean"]["metrics"]["fp_op_n"]')"
    equal 64 "$(of out '["mean"]["metrics"]["load_b"]')"
    equal '[]' "$(of out '["mean"]["obstacles"]')"
}
@test "how it was compiled, and nothing that was given already" {
    "$ASSAY" cqa --machine zen5 --function daxpy scalar.so >out
    grep -q -- '- -O2 or -O3: ' out
    grep -q -- '- -march=native: ' out
    gcc -g -O3 -march=x86-64-v3 -ffast-math -mfpmath=387 -shared -fPIC kernels.c -o fast.so
    "$ASSAY" cqa --machine zen5 --function sum fast.so >out
    grep -q 'how it was compiled' out
    grep -q 'arithmetic on the x87: ' out
    ! grep -qE -- '-ffast-math|-march=native|- -O3:' out
}
@test "what gcc recorded stands beside the loop it is of" {
    gcc -g -O3 -shared -fPIC kernels.c -o recorded.so -fsave-optimization-record \
        -fopt-info-vec-missed=missed.txt
    for record in missed.txt *.opt-record.json.gz; do
        "$ASSAY" cqa --machine zen5 --function horner --opt-record "$record" recorded.so >out
        grep -q 'the compiler said' out
        grep -qE 'missed, line 1[67]: (not vectorized|couldn.t vectorize)' out
        ! grep -qE 'line (3|4|9|10|23):' out # those are of the others
        ! grep -qE '.{81}' out
    done
    "$ASSAY" cqa --machine zen5 --function horner --format json \
        --opt-record missed.txt --opt-record *.opt-record.json.gz recorded.so >out
    python3 - <<'EOP'
import json
said = json.load(open("out"))["loops"][0]["compiler_said"]
assert {r["line"] for r in said} <= {16, 17} and any(r["kind"] == "missed" for r in said)
assert any(r["pass"] == "vect" for r in said) and any(r["pass"] == "" for r in said), said
EOP
    "$ASSAY" cqa --machine zen5 --function sum --opt-record *.opt-record.json.gz recorded.so >out
    grep -q 'line 9: loop vectorized using' out
    ! grep -q 'missed' out # of the widths that were tried before
    "$ASSAY" cqa --machine zen5 --function horner --format json recorded.so >out
    equal null "$(of out '["compiler_said"]')"
}
@test "what clang recorded does as well, in lists and tables too" {
    command -v clang >/dev/null || skip "no clang here"
    clang -g -O3 -shared -fPIC kernels.c -o clang.so -fsave-optimization-record=yaml \
        -foptimization-record-file=kernels.yaml
    "$ASSAY" cqa --machine zen5 --opt-record kernels.yaml clang.so >out
    grep -A1 'daxpy, kernels.c' out | grep -q 'line 3: vectorized loop'
    grep -A1 'horner, kernels.c' out | grep -q 'missed, line'
    ! grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --opt-record kernels.yaml --format csv clang.so >out
    python3 - <<'EOP'
import csv
rows = list(csv.DictReader(open("out")))
said = {r["function"]: r["compiler_said"] for r in rows}
assert said["daxpy"].startswith("done line 3: vectorized loop"), said
assert said["horner"].startswith("missed line"), said
EOP
}
@test "records of other sources are noted, what is none is one sentence" {
    echo 'elsewhere.c:9:3: missed: not vectorized: control flow in loop.' >other.txt
    run "$ASSAY" cqa --machine zen5 --function sum --opt-record other.txt scalar.so
    equal 0 "$status"
    like '*none of 1 records is of a line of these loops*' "$output"
    like '*nothing of its lines*' "$output"
    run "$ASSAY" cqa --machine zen5 --opt-record kernels.c scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    like '*kernels.c: no record of an optimisation*' "$output"
    run "$ASSAY" cqa --machine zen5 --opt-record nowhere.yaml scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    printf '\037\213damaged' >damaged.json.gz
    run "$ASSAY" cqa --machine zen5 --opt-record damaged.json.gz scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
}
@test "what cannot be done is one sentence" {
    run "$ASSAY" cqa --machine nowhere scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    run "$ASSAY" cqa --machine zen5 --loop 99 scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    run "$ASSAY" cqa --machine zen5 --function straight scalar.so
    equal 2 "$status"
    like '*no loop without a loop inside*' "$output"
    run "$ASSAY" cqa --machine zen5 --body scalar.so
    equal 2 "$status"
    run "$ASSAY" cqa --machine zen5 --path 0 scalar.so
    equal 2 "$status"
    run "$ASSAY" cqa --machine zen5 kernels.c
    equal 2 "$status"
    equal 1 "${#lines[@]}"
}
