# SPDX-License-Identifier: Apache-2.0
# assay cqa on named cores: source and options determine the code of the loops.

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

@test "a cited table is said to be one, with what measures it" {
    # addsd %xmm1, %xmm0; dec %rax; jne
    printf '.globl f\n.type f,@function\nf: 1: addsd %%xmm1, %%xmm0\n dec %%rax\n jne 1b\n ret\n.size f,.-f\n' >cited.s
    as cited.s -o cited.o
    "$ASSAY" cqa --machine zen2 cited.o >out
    like "*The table of this core comes from publications*machine --measure*" "$(tr '\n' ' ' <out)"
    "$ASSAY" cqa --machine zen2 --function f cited.o >out
    like "*The table of this core comes from publications*machine --measure*" "$(tr '\n' ' ' <out)"
    "$ASSAY" cqa --machine zen5 --function f cited.o >out
    never grep -q 'is cited' out
    # The source is the core's own, not that of the table it is like.
    "$ASSAY" predict --machine zen2 --hex 4801d8 >out
    like "*Znver2Model*" "$(cat out)"
}

@test "a line a loop, with cycles, vectors, limit and gain" {
    "$ASSAY" cqa --machine zen5 scalar.so >out
    like 'on AMD Zen 5*' "$(head -1 out)"
    grep -qE '^ +[0-9]+  daxpy, kernels.c:3-4 .* 8.0x vector$' out
    grep -qE '^ +[0-9]+  horner, .* latency +-$' out # a recurrence: nothing to gain
    never grep -qE '.{81}' out
}
@test "a report: the verdict, the source, the gains, what stands against them" {
    "$ASSAY" cqa --machine zen5 --function daxpy scalar.so >out
    like 'loop *: daxpy, kernels.c:3-4 (single, main)' "$(head -1 out)"
    grep -q 'cycles per iteration, limited by' out
    grep -q 'Not vectorised: 12 % of the core' out # 8 of 64 bytes
    grep -q 'Largest gain: fully vectorised' out
    grep -q '     4 |         y\[i\] += a \* x\[i\];' out
    never grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --function sum scalar.so >out
    grep -q 'a reduction (such as a sum)' out
    "$ASSAY" cqa --machine zen5 --function horner scalar.so >out
    grep -q 'a loop-carried dependence' out
    grep -q 'a recurrence: each iteration needs the result' out
    grep -qE 'before computed: 0x[0-9a-f]+ mulsd .line 17' out
    "$ASSAY" cqa --machine zen5 --function horner --format json scalar.so >out
    equal chain "$(of out '["against"][0]["obstacle"]')"
}
@test "a report shows each finding once" {
    echo 'double f(double); void one(double *x, const double *y, long n)
        { for (long i = 0; i < n; i++) x[i] = f(y[i]) / x[i]; }' >one.c
    gcc -g -O1 -shared -fPIC one.c -o one.so
    "$ASSAY" cqa --machine zen5 --function one one.so >out
    tr -s ' \n' ' ' <out | grep -q 'because it calls functions'
    grep -q -- '- It divides or takes a square root\. ' out
    grep -qE 'it has calls at 1 address: 0x[0-9a-f]+ call' out
}
@test "code that the core cannot run has no figures" {
    gcc -g -O3 -march=skylake-avx512 -mprefer-vector-width=512 -shared -fPIC kernels.c -o wide.so
    "$ASSAY" cqa --machine zen3 wide.so >out
    grep -qE 'daxpy, kernels.c:3-4 +not for this core \(.*avx512f\)$' out
    "$ASSAY" cqa --machine zen3 --function daxpy wide.so >out
    tr -s ' \n' ' ' <out | grep -q 'Not for this core: the loop needs .*avx512f.* lacks'
    never grep -q 'cycles per iteration' out
    "$ASSAY" cqa --machine zen3 --function daxpy --format json wide.so >out
    equal null "$(of out '["mean"]')"
    equal 1 "$(of out '["lacks"].count("avx512f")')"
    equal '[]' "$(of out '["advice"]')"
    "$ASSAY" cqa --machine zen3 --format csv wide.so >out
    equal 0 "$(grep -c daxpy out)"
    "$ASSAY" cqa --machine zen3 --format html -o page.html wide.so
    never grep -q 'cqa_cycles":[0-9]' page.html
    "$ASSAY" cqa --machine skylake-sp --function daxpy --format json wide.so >out
    equal 64 "$(of out '["mean"]["metrics"]["native_b"]')"
    "$ASSAY" predict --machine zen3 --function daxpy wide.so >out
    grep -q 'not for this core: the code needs' out
    "$ASSAY" predict --machine zen3 --function daxpy --format json wide.so |
        json '["predictions"][0]["cycles"]' | grep -q null
}
@test "levels choose the findings of the report" {
    "$ASSAY" cqa --machine zen5 --function daxpy --level expert scalar.so >out
    grep -q 'cycles by port' out
    grep -q 'fp_op_n  *2' out
    grep -q 'mulsd' out
    never grep -q 'Largest gain' out
    never grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --function daxpy --level gain scalar.so >out
    never grep -q 'fp_op_n' out
}
@test "advice is that of the rules, by level, and quantified" {
    "$ASSAY" cqa --machine zen5 --function daxpy scalar.so >out
    tr -s ' \n' ' ' <out >flat
    grep -q 'may pay off - It does 0 % of its floating-point arithmetic on whole vectors' flat
    grep -q 'Without it: 0.12 cycles instead of 1.00, at most 8.0 times as fast.' flat
    grep -q 'worth a look - It multiplies 1 and adds 1 times' flat
    never grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --function daxpy --level hint scalar.so >out
    never grep -q 'may pay off' out
    grep -q 'worth a look' out
    "$ASSAY" cqa --machine zen5 --level potential,hint,expert --format json -j 1 scalar.so >one
    "$ASSAY" cqa --machine zen5 --level potential,hint,expert --format json -j 3 scalar.so >three
    cmp one three
    python3 - "$(dirname "$BATS_TEST_FILENAME")/../../data/advise" <<'EOP'
import json, pathlib, re, sys
loops = {l["function"]: l["advice"] for l in json.load(open("one"))["loops"]}
rules = {m[1] for f in ("causes.txt", "topics.txt")
         for m in re.finditer(r"^cause (\w+)", (pathlib.Path(sys.argv[1]) / f).read_text(), re.M)}
said = {name: {a["rule"]: a for a in advice} for name, advice in loops.items()}
assert all(rule in rules for advice in said.values() for rule in advice), said
chain = said["sum"]["scalar_chain"]
assert chain["level"] == "potential" and chain["topic"] == "vectorisation", chain
assert chain["cycles"] == 0.25 and "-ffast-math" in chain["workaround"], chain
assert said["horner"]["scalar_chain"]["cycles"] is None # a recurrence stays one
assert "scalar_chain" not in said["daxpy"], said["daxpy"]
EOP
    "$ASSAY" cqa --machine zen5 --format json scalar.so >out # a list asks for none
    equal null "$(of out '["advice"]')"
}
@test "short counts, vectors that cannot be aligned, and double precision are seen" {
    cat >topics.c <<'EOC'
void few(double *restrict y, const double *restrict x, const double *restrict w, long n)
{
    for (long k = 0; k < n; k++)
        for (long i = 0; i < 8; i++)
            y[i] += x[i] * w[k];
}
void some(double *restrict y, const double *restrict x, const double *restrict w, long n, long m)
{
    for (long k = 0; k < n; k++)
        for (long i = 0; i < m; i++)
            y[i] += x[i] * w[k];
}
EOC
    cat >wide.c <<'EOC'
void stencil(double *restrict a, const double *restrict b, long n)
{
    for (long i = 1; i < n; i++)
        a[i] = b[i - 1] + b[i] + b[i + 1];
}
void added(double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++)
        a[i] += b[i];
}
void single(float *restrict a, const float *restrict b, long n)
{
    for (long i = 0; i < n; i++)
        a[i] += b[i];
}
EOC
    gcc -g -O1 -shared -fPIC topics.c -o topics.so
    gcc -g -O3 -march=x86-64-v4 -mprefer-vector-width=512 -shared -fPIC wide.c -o wide.so
    "$ASSAY" cqa --machine zen5 --level hint,expert --format json topics.so >narrow
    "$ASSAY" cqa --machine zen5 --level hint,expert --format json wide.so >wide
    python3 - <<'EOP'
import json
rules, metric = {}, {}
for name in ("narrow", "wide"):
    for loop in json.load(open(name))["loops"]:
        m = loop["mean"]["metrics"]
        if m["insn_n"] and (name == "narrow" or m["vec_ratio_all_pct"] == 100):
            rules[loop["function"]] = {a["rule"]: a for a in loop["advice"]}
            metric[loop["function"]] = m
assert metric["few"]["trip_n"] == 8 and metric["some"]["trip_n"] is None, metric
assert "unroll 8" in rules["few"]["full_unrolling"]["workaround"], rules["few"]
assert "full_unrolling" not in rules["some"]
assert (metric["stencil"]["unaligned_n"], metric["stencil"]["vector_access_n"]) == (2, 4)
assert metric["added"]["unaligned_n"] == 0 and metric["added"]["moved_written_b"] == 64
assert "unaligned_access" in rules["stencil"] and "unaligned_access" not in rules["added"]
assert "double_precision" in rules["added"] and "double_precision" not in rules["single"]
EOP
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
@test "paths are listed apart, and one can be chosen" {
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
@test "a page has the loops, of stripped code too, those that may gain most first" {
    "$ASSAY" cqa --machine zen5 --format html --force -o page.html scalar.so
    "$ASSAY" cqa --machine zen5 --format html stripped.so >stripped.html
    python3 - <<'EOP'
import base64, json, re, zlib
def document(path):
    page = open(path).read()
    return json.loads(zlib.decompress(base64.b64decode(
        re.search(r'id="assay-data"[^>]*>([^<]*)<', page)[1])))
for path, source in (("page.html", True), ("stripped.html", False)):
    doc = document(path)
    loops = next(v for v in doc["views"] if v["name"] == "loops")
    names = [c["name"] for c in loops["columns"]]
    assert doc["run"]["kind"] == "code" and loops["sort"] == "cqa_promise_cy" and loops["row_n"] == 4
    assert not any(name.startswith(("exclusive", "inclusive", "blocked")) for name in names), names
    shown = {c["name"] for c in loops["columns"] if c["shown"]}
    assert {"cqa_cycles", "cqa_best_x", "cqa_vec_ratio_all_pct"} <= shown, shown
    gains = loops["data"]["cqa_promise_cy"]["v"]
    assert gains == sorted(gains, reverse=True) and gains[0] > 0, gains
    assert max(loops["data"]["cqa_best_x"]["v"]) == 8, loops["data"]["cqa_best_x"]["v"]
    assert bool(doc["sources"]) == source and sum(len(c["text"]) for c in doc["code"]) > 20
    parts = {s["name"] for s in doc["sections"] if s["object"] == "loop"}
    assert {"what_if", "core_insns", "core_ports", "timeline", "flow"} <= parts, parts
    texts = [f["text"] for f in doc["findings"]]
    chain = next(text for text in texts if "(a sum or product)" in text)
    assert "an iteration takes 2 cycles, and could take 0.25" in chain, chain
EOP
    run "$ASSAY" cqa --machine zen5 --format html --function straight --body scalar.so
    equal 2 "$status"
    like '*html shows whole loops*' "$output"
    run "$ASSAY" loops --format html scalar.so
    equal 2 "$status"
    like "*'loops' does not write html; use text, json or csv" "$output"
}
@test "a page without a run is not led by small copies" {
    cat >order.c <<'EOC'
void copy(float *to, const float *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i];
}
void multiply(double *restrict c, const double *restrict a, const double *restrict b, long n)
{
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}
EOC
    gcc -g -O1 -fno-tree-loop-distribute-patterns -shared -fPIC order.c -o order.so
    "$ASSAY" cqa --machine zen5 --format html -o order.html order.so
    "$ASSAY" cqa --machine zen5 --format json order.so >order.json
    python3 - <<'EOP'
import base64, json, re, zlib
page = open("order.html").read()
doc = json.loads(zlib.decompress(base64.b64decode(
    re.search(r'id="assay-data"[^>]*>([^<]*)<', page)[1])))
data = next(v for v in doc["views"] if v["name"] == "loops")["data"]
promise = [p for p in data["cqa_promise_cy"]["v"] if p is not None] # the first is the outermost loop
mean = {l["function"]: l["mean"] for l in json.load(open("order.json"))["loops"]}
saved = {name: it["metrics"]["cycles"] - it["what_if"]["vector"]["cycles"] for name, it in mean.items()}
times = {name: it["what_if"]["vector"]["speedup"] for name, it in mean.items()}
assert times["copy"] > times["multiply"], times # but the product stands in two loops more
expected = [1000 * saved["multiply"], 10 * saved["copy"]]
assert len(promise) == 2 and all(abs(a - b) < 0.01 * b for a, b in zip(promise, expected)), (promise, expected)
EOP
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
    never grep -qE '.{81}' out
    "$ASSAY" cqa --machine zen5 --format json hand.so >out
    equal 16 "$(of out '["mean"]["metrics"]["fp_op_n"]')"
    equal 64 "$(of out '["mean"]["metrics"]["load_b"]')"
    equal '[]' "$(of out '["mean"]["obstacles"]')"
    sed 's/vmovups ymm0, \[rsi/movsd xmm0, [rsi/; s/vfmadd.*/mulsd xmm0, [rdi+rax]\naddsd xmm0, xmm1/
        s/vmovups \[rdi+rax\], ymm0/movsd [rdi+rax], xmm0/; s/add rax, 32/add rax, 8/
        s/^hand:/.type hand,@function\nhand:/' hand.S >scalar_hand.S
    gcc -g -shared -nostdlib scalar_hand.S -o known.so # told to be assembly by its lines
    "$ASSAY" cqa --machine zen5 --function hand known.so >out
    tr -s ' \n' ' ' <out | grep -q 'It is written in assembly'
    never grep -qE -- ' -[mfO]|ompiler|pragma' out
}
@test "limits by loads, and arrays of any stride, are reported as such" {
    command -v gfortran >/dev/null || skip "no gfortran here"
    cat >smooth.f90 <<'EOF90'
module m
  implicit none
contains
  subroutine smooth(a, b, n)
    integer, intent(in) :: n
    real(8), pointer, intent(inout) :: a(:,:), b(:,:)
    integer :: i, j
    do j = 2, n - 1
      do i = 2, n - 1
        a(i,j) = 0.25d0 * (b(i-1,j) + b(i+1,j) + b(i,j-1) + b(i,j+1))
      end do
    end do
  end subroutine
end module
EOF90
    gfortran -g -O2 -fno-tree-vectorize -shared -fPIC smooth.f90 -o smooth.so
    "$ASSAY" cqa --machine zen5 --level hint smooth.so >out
    tr -s ' \n' ' ' <out >flat
    grep -q 'give them the attribute contiguous' flat
    grep -q 'They load: whole vectors load several values at once' flat # four loads, two ports
    never grep -q 'shifts and additions' flat
}
@test "options of the build, and no advice to set them again" {
    "$ASSAY" cqa --machine zen5 --function daxpy scalar.so >out
    grep -q -- '- -O2 or -O3: ' out
    grep -q -- '- -march=native: ' out
    gcc -g -O3 -march=x86-64-v3 -ffast-math -mfpmath=387 -shared -fPIC kernels.c -o fast.so
    "$ASSAY" cqa --machine zen5 --function sum fast.so >out
    grep -q 'compiled with' out
    grep -q 'arithmetic on the x87: ' out
    never grep -qE -- '-ffast-math|-march=native|- -O3:' out
}
@test "remarks of gcc stand beside their loop" {
    gcc -g -O3 -shared -fPIC kernels.c -o recorded.so -fsave-optimization-record \
        -fopt-info-vec-missed=missed.txt
    for record in missed.txt *.opt-record.json.gz; do
        "$ASSAY" cqa --machine zen5 --function horner --opt-record "$record" recorded.so >out
        grep -q 'the compiler said' out
        grep -qE 'missed, line 1[67]: (not vectorized|couldn.t vectorize)' out
        never grep -qE 'line (3|4|9|10|23):' out # those are of the others
        never grep -qE '.{81}' out
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
    never grep -q 'missed' out # of the widths that were tried before
    "$ASSAY" cqa --machine zen5 --function horner --format json recorded.so >out
    equal null "$(of out '["compiler_said"]')"
}
@test "remarks of clang stand beside their loop, in lists and tables too" {
    command -v clang >/dev/null || skip "no clang here"
    clang -g -O3 -shared -fPIC kernels.c -o clang.so -fsave-optimization-record=yaml \
        -foptimization-record-file=kernels.yaml
    "$ASSAY" cqa --machine zen5 --opt-record kernels.yaml clang.so >out
    grep -A1 'daxpy, kernels.c' out | grep -q 'line 3: vectorized loop'
    grep -A1 'horner, kernels.c' out | grep -q 'missed, line'
    never grep -qE '.{81}' out
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
    like '*none of 1 remarks matches a line of these loops*' "$output"
    like '*no remarks for its lines*' "$output"
    run "$ASSAY" cqa --machine zen5 --opt-record kernels.c scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    like '*kernels.c: not a file of optimisation remarks*' "$output"
    run "$ASSAY" cqa --machine zen5 --opt-record nowhere.yaml scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    printf '\037\213damaged' >damaged.json.gz
    run "$ASSAY" cqa --machine zen5 --opt-record damaged.json.gz scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
}
@test "an impossible request is refused in one sentence" {
    run "$ASSAY" cqa --machine nowhere scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    run "$ASSAY" cqa --machine zen5 --loop 99 scalar.so
    equal 2 "$status"
    equal 1 "${#lines[@]}"
    run "$ASSAY" cqa --machine zen5 --function straight scalar.so
    equal 2 "$status"
    like '*has no innermost loop*' "$output"
    run "$ASSAY" cqa --machine zen5 --body scalar.so
    equal 2 "$status"
    run "$ASSAY" cqa --machine zen5 --path 0 scalar.so
    equal 2 "$status"
    run "$ASSAY" cqa --machine zen5 kernels.c
    equal 2 "$status"
    equal 1 "${#lines[@]}"
}
