# SPDX-License-Identifier: Apache-2.0
# assay predict and assay validate on named cores: the instruction tables determine the cycles of
# the kernels.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >loops.c <<'EOF'
#include <stddef.h>
double sum(const double *a, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i];
    return s;
}
size_t paths(const int *a, size_t n)
{
    size_t s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] > 3 ? 7 * (size_t)a[i] : s >> 2;
    return s;
}
EOF
    gcc -g -O1 -shared -fPIC loops.c -o loops.so
    # Two of four instructions stand between the markers of IACA.
    cat >marked.s <<'EOF'
imul %rax,%rax
movl $111,%ebx
.byte 0x64,0x67,0x90
imul %rcx,%rcx
imul %rcx,%rcx
movl $222,%ebx
.byte 0x64,0x67,0x90
imul %rdx,%rdx
EOF
    as marked.s -o marked.o
    as -o plain.o - <<<'imul %rcx,%rcx'
}
setup() { load common.bash; }

@test "a chain limits, and stands in the answer" { # vfmadd231pd ymm0,ymm1,ymm2: 4 cycles
    "$ASSAY" predict --machine zen5 --hex c4e2f5b8c2 >out
    like 'code: 4.00 cycles per iteration on AMD Zen 5*' "$(head -1 out)"
    grep -qx 'limited by latency' out
    grep -q '^>     1       4  vfmadd231pd ymm0, ymm1, ymm2' out
    grep -q 'no loop-carried dependence  *1.00' out
    "$ASSAY" predict --machine emeraldrapids --mode unrolled --hex c4e2f5b8c2 --format json >out
    equal '4 latency' "$(json '["predictions"][0]["cycles"]' <out) $(json '["predictions"][0]["bound"]' <out)"
    equal exact "$(json '["predictions"][0]["instructions"][0]["match"]' <out)"
}
@test "the time line has each instruction of each iteration" {
    "$ASSAY" predict --machine zen5 --hex c4e2f5b8c2 --timeline 3 --format json >out
    equal 6 "$(python3 -c 'import json; print(len(json.load(open("out"))["predictions"][0]["timeline"]))')"
    "$ASSAY" predict --machine zen5 --mode unrolled --hex c4e2f5b8c2 --timeline 3 >out
    equal 3 "$(grep -c '^   [012] vfmadd231pd.*eeee' out)"
    # Long ones are drawn whole, in 80 columns: nine multiplications behind each other, eight times.
    "$ASSAY" predict --machine zen5 --mode unrolled --timeline 8 \
        --hex "$(printf '480fafc0%.0s' 1 2 3 4 5 6 7 8 9)" >out
    grep -q '; a column is [0-9]* cycles):$' out
    equal 72 "$(grep -c '^   [0-7] imul rax, rax  .*[DeR]$' out)"
    ! sed -n '/^time line/,/^$/p' out | grep -q '.\{81\}' || fails "what should not be there is"
    # vmulsd xmm0,xmm1,[rax]: seven cycles are the load's, not a port's.
    "$ASSAY" predict --machine zen5 --mode unrolled --hex c5f35900 --timeline 1 >out
    grep -q '^   0 vmulsd .* D=*e' out
    "$ASSAY" predict --machine zen5 --hex 480fafc0 --timeline 2 >out
    grep -q "^   1 the loop's counter  *D" out
}
@test "a file of blocks gives a row a block, none without an answer" {
    printf 'id,hex,other\na,480fafc0,1\nb,06,2\nc,c4e2f5b8c2,3\n' >blocks.csv
    "$ASSAY" predict --machine zen5 --mode unrolled --hex-file blocks.csv >out
    equal 4 "$(wc -l <out)"
    like 'id,cycles,bound,limit,*' "$(head -1 out)"
    like 'a,3,latency,*,0,0' "$(sed -n 2p out)"
    like 'b,*,1,0' "$(sed -n 3p out)" # no instruction: estimated, and counted
    like 'c,4,latency,*' "$(sed -n 4p out)"
    "$ASSAY" predict --machine zen5 --mode unrolled --hex-file - <blocks.csv | cmp - out
}
@test "parts of the model can be left out" {
    equal 1 "$("$ASSAY" predict --machine zen5 --hex c4e2f5b8c2 --without latency --format json |
        json '["predictions"][0]["cycles"]')"
}
@test "loops of a binary, by number and by function" {
    id=$("$ASSAY" loops --function sum --format json loops.so | json '["loops"][0]["id"]')
    "$ASSAY" predict --machine emeraldrapids --loop "$id" loops.so >out
    like "loop $id: 2.00 cycles per iteration on *" "$(head -1 out)" # addsd: 2 cycles
    grep -q '^>     1       2  addsd' out
    "$ASSAY" predict --machine emeraldrapids --function sum loops.so | cmp - out
    "$ASSAY" predict --machine zen5 --function paths loops.so >out
    grep -q '^loop [0-9]* path 1 of 2: ' out
    grep -q '^loop [0-9]* path 2 of 2: ' out
    equal 2 "$(grep -c '^all paths of the loop, by what the code tells (no profile): ' out)"
    "$ASSAY" predict --machine zen5 --function paths --format json loops.so >out
    python3 -c 'import json; p = json.load(open("out"))["predictions"]
assert abs(sum(x["weight"] for x in p) - 1) < 1e-9, p
assert all(x["weights"] == "static" for x in p), p
mean = sum(y["weight"] * y["cycles"] for y in p)
assert all(abs(x["weighted_cycles"] - mean) < 1e-9 for x in p), p'
}
@test "gain of a change, and the next limit" {
    # vdivsd xmm0,xmm1,[rax]; vaddsd xmm2,xmm2,xmm0
    "$ASSAY" predict --machine zen5 --mode unrolled --hex c5f35e00c5eb58d0 >out
    grep -q '^  divisions as multiplications  *2.00  then latency$' out
    grep -q '^  one load fewer .* (vdivsd xmm0, xmm1, .*\[rax\])$' out
    "$ASSAY" predict --machine zen5 --mode unrolled --hex c5f35e00c5eb58d0 --format json >out
    equal '2 latency' "$(json '["predictions"][0]["what_if"]["without_division"]' <out) $(json '["predictions"][0]["limits_next"]["without_division"]' <out)"
    ! "$ASSAY" predict --machine zen5 --hex 480fafc0 | grep -q 'divisions\|one load' || fails "what should not be there is"
}
@test "data of further levels, by what was measured here" {
    export XDG_DATA_HOME=$PWD/data
    "$ASSAY" predict --machine zen5 --function sum --level all loops.so >out
    grep -q '^  data in L1 *2.00$' out
    tr -s ' \n' ' ' <out | grep -q 'unknown for this machine: bandwidth; run .assay machine --measure all.'
    "$ASSAY" predict --machine zen5 --function sum --level L1 --format json loops.so >out
    equal 2 "$(json '["predictions"][0]["levels"]["L1"]' <out)"
    like '*only loops of a binary*' "$("$ASSAY" predict --machine zen5 --hex 480fafc0 --level L2)"
}
@test "an object file, whole or between markers" {
    like 'between markers: 6.00 cycles*' "$("$ASSAY" predict --machine zen5 --mode unrolled marked.o)"
    like '.text: 3.00 cycles*' "$("$ASSAY" predict --machine zen5 --mode unrolled plain.o)"
}
@test "paths are weighed by what a run saw of them" {
    cat >ways.c <<'EOF'
#include <stdio.h>
__attribute__((noinline)) double ways(const int *a, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        if (a[i]) {
            s += a[i];
            __asm__ volatile("imul $3,%%rax,%%rax\n imul $3,%%rax,%%rax" ::: "rax");
        } else {
            s *= 0.5;
            __asm__ volatile("imul $5,%%rax,%%rax\n imul $5,%%rax,%%rax" ::: "rax");
        }
    return s;
}
int main(void)
{
    static int a[1024];
    double s = 0;
    for (int i = 0; i < 1024; i++)
        a[i] = i % 16 != 0; /* 15 of 16 iterations go one way */
    for (long k = 0; k < 500000; k++)
        s += ways(a, 1024);
    printf("%g\n", s);
    return 0;
}
EOF
    gcc -O1 -g ways.c -o ways
    gcc -O2 ways.c -o other
    "$ASSAY" profile -q -o ways.assay -- ./ways >printed
    "$ASSAY" predict --machine zen5 --experiment ways.assay --function ways --format json ways >out
    "$ASSAY" cqa --machine zen5 --experiment ways.assay --function ways --format json ways >cqa
    python3 - <<'EOF'
import json
paths = json.load(open("out"))["predictions"]
weight = [p["weight"] for p in paths]
assert len(paths) == 2 and all(p["weights"] == "samples" for p in paths), paths
assert 0.75 < max(weight) < 1 and abs(sum(weight) - 1) < 1e-6, weight
mean = sum(p["weight"] * p["cycles"] for p in paths)
assert all(abs(p["weighted_cycles"] - mean) < 1e-6 for p in paths), paths
quality = [p["weight"] for p in json.load(open("cqa"))["loops"][0]["paths"]]
assert max(abs(a - b) for a, b in zip(weight, quality)) < 1e-6, quality
EOF
    "$ASSAY" predict --machine zen5 --experiment ways.assay --function ways ways >out
    equal 2 "$(grep -c '^all paths of the loop, weighted by samples (this one [0-9]* %): ' out)"
    # counts say it to the iteration, and come first
    rm -rf ways.assay
    "$ASSAY" count --quiet --functions '^ways$' -o ways.assay -- ./ways >printed
    "$ASSAY" predict --machine zen5 --experiment ways.assay --function ways --format json ways >out
    "$ASSAY" cqa --machine zen5 --experiment ways.assay --function ways --format json ways >cqa
    python3 - <<'EOF'
import json
paths = json.load(open("out"))["predictions"]
weight = [p["weight"] for p in paths]
assert all(p["weights"] == "counts" for p in paths), paths
assert abs(max(weight) - 15 / 16) < 1e-9 and abs(sum(weight) - 1) < 1e-9, weight
quality = [p["weight"] for p in json.load(open("cqa"))["loops"][0]["paths"]]
assert max(abs(a - b) for a, b in zip(weight, quality)) < 1e-6, quality
EOF
    "$ASSAY" predict --machine zen5 --experiment ways.assay --function ways ways >out
    equal 2 "$(grep -c '^all paths of the loop, weighted by counts (this one [0-9]* %): ' out)"
    run "$ASSAY" predict --machine zen5 --experiment ways.assay --function ways other
    like '*no run has samples in the code of other*' "$output"
    ((status != 0))
    run "$ASSAY" predict --machine zen5 --experiment ways.assay --hex 90
    equal 2 "$status"
}
@test "code for Knights Corner, in its file and in digits" {
    # vaddps zmm0,zmm1,zmm2; add rax,1
    as -o plain-k.o - <<<'.byte 0x62,0xf1,0x70,0x08,0x58,0xc2,0x48,0x83,0xc0,0x01'
    cp plain-k.o k1om.o
    printf '\xb5\x00' | dd of=k1om.o bs=1 seek=18 conv=notrunc status=none # EM_K1OM
    "$ASSAY" predict --machine knightscorner --mode unrolled k1om.o >out
    like '.text: 2.00 cycles*' "$(head -1 out)" # a pair, every second cycle
    grep -q 'vaddps zmm0, zmm1, zmm2' out
    "$ASSAY" predict --machine knightscorner --mode unrolled --hex 62f1700858c24883c001 >out
    like '*: 2.00 cycles*' "$(head -1 out)"
    # Elsewhere these bytes are nothing.
    "$ASSAY" predict --machine zen5 --mode unrolled plain-k.o >out
    never grep -q vaddps out
    run "$ASSAY" predict --machine zen5 k1om.o
    equal 2 "$status"
    like '*K1OM*--machine knightscorner*' "$output"
    like '*K1OM*' "$("$ASSAY" info k1om.o)"
}
@test "validate says how far predictions are" {
    printf 'id,hex,cycles,ok\na,480fafc0,3,1\nb,c4e2f5b8c2,5,1\nc,90,1,0\n' >truth.csv
    "$ASSAY" validate --machine zen5 --mode unrolled --blocks truth.csv --format json >out
    # 3 against 3, 4 against 5: 0 and 20 %
    equal 2 "$(json '["kinds"][0]["n"]' <out)"
    equal 10 "$(json '["kinds"][0]["mape_percent"]' <out)"
    equal 50 "$(json '["kinds"][0]["within_5_percent"]' <out)"
    equal 1 "$(json '["kinds"][0]["kendall_tau"]' <out)"
    "$ASSAY" validate --machine zen5 --mode unrolled --blocks truth.csv >out
    grep -q '^all  *2  *10.00' out
    grep -q '^ *1 not compared: no reliable measurement' out
    grep -q '^b  *5.000  *4.000  *latency' out
    printf 'id,cycles\na,6\n' >other.csv
    equal 50 "$("$ASSAY" validate --machine zen5 --mode unrolled --blocks truth.csv --truths other.csv \
        --format json | json '["kinds"][0]["mape_percent"]')"
}
@test "impossible predictions are refused" {
    refused() { run "$ASSAY" predict "${@:2}"; equal 2 "$status"; like "$1" "$output"; }
    refused '*use one of FILE, --hex BYTES and --hex-file FILE' --machine zen5
    refused '*--hex: *two digits per byte*' --machine zen5 --hex 123
    refused "*--hex: 'zz' is not a hexadecimal byte*" --machine zen5 --hex zz
    refused "*unknown core 'zen55'; did you mean zen5?" --machine zen55 --hex 90
    refused "*unknown core 'quantum'; use *zen5*" --machine quantum --hex 90
    refused '*nothing chosen; use --loop ID or --function NAME*' --machine zen5 loops.so
    printf 'a,90\nb,9\n' >bad.csv
    refused '*--hex-file: line 2*' --machine zen5 --hex-file bad.csv
    printf 'core\ttoy\ta toy\nfrom\tx\n' >toy.tsv
    refused "*toy.tsv: line 2: no line begins with 'from'*" --machine ./toy.tsv --hex 90
    run "$ASSAY" validate --machine zen5
    equal 2 "$status"
}

# A table of this CPU as `assay machine --measure instructions` keeps it.
measured_table() {
    local vendor family model stepping
    vendor=$(sed -n 's/^vendor_id.*: //p;T;q' /proc/cpuinfo)
    family=$(sed -n 's/^cpu family.*: //p;T;q' /proc/cpuinfo)
    model=$(sed -n 's/^model\t.*: //p;T;q' /proc/cpuinfo)
    stepping=$(sed -n 's/^stepping.*: //p;T;q' /proc/cpuinfo)
    mkdir -p data/assay/machines
    measured=data/assay/machines/$vendor-$family-$model-$stepping.uarch.tsv
    printf 'core\there\tThis Core, measured\nsource\tm1\tmeasured on this host today\n' >"$measured"
    printf 'group\tALU\ta b\tm1\nform\timul r64,r64\t1\tALU:1\t17\t-\tm1 0.1%%\n' >>"$measured"
}

@test "predict: a table that was measured here is used and said" {
    measured_table
    XDG_DATA_HOME=$PWD/data run "$ASSAY" predict --hex 480fafc0
    [ "$status" = 0 ]
    [[ $output == *"17.00 cycles per iteration on This Core, measured"* ]]
    [[ $output == *"table: measured on this host today ($PWD/$measured)"* ]]
    XDG_DATA_HOME=$PWD/data run "$ASSAY" predict --hex 480fafc0 --machine zen2
    [[ $output == *"3.00 cycles per iteration on AMD Zen 2"*"table: cited: "* ]]
    [[ $output != *"$measured"* ]]
    XDG_DATA_HOME=$PWD/data run "$ASSAY" predict --hex 480fafc0 --format json
    [[ $output == *'"table_source":"measured on this host today"'* ||
        $output == *'"table_source": "measured on this host today"'* ]]
}

@test "predict: a measured table that is damaged is said and not used" {
    measured_table
    echo damaged >>"$measured"
    XDG_DATA_HOME=$PWD/data run "$ASSAY" predict --hex 480fafc0
    [[ $output == *"line 5: no line begins with 'damaged'"* ]]
    [[ $output != *"This Core, measured"* ]]
}
