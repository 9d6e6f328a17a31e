# SPDX-License-Identifier: Apache-2.0
# assay compare as a user runs it. Tests that record are skipped if runs cannot be recorded.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    for factor in 1 2; do
        cat >program.c <<'END'
#include <stdlib.h>
volatile double sink;
__attribute__((noinline)) void slow(long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
#if FACTOR == 2
        sum += (double)i * 0.5 / (sum + 3);
#else
        sum += (double)i * 0.5;
#endif
    sink = sum;
}
__attribute__((noinline)) void same(long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += (double)i * 0.25;
    sink = sum;
}
int main(void)
{
    slow(40000000);
    same(60000000);
    return getenv("FAILS") != NULL;
}
END
        gcc -O1 -g -DFACTOR=$factor -o program-$factor program.c
    done
    for factor in 1 2; do
        "$ASSAY" repeat -q -n 6 -o v$factor.assay -- ./program-$factor >/dev/null 2>>probe.err ||
            touch refused
    done
}
setup() { load common.bash; }

records() { [ ! -e refused ] || skip "no run can be recorded here: $(cat probe.err)"; }

# compare STATUS ARGUMENT...: out and err
compare() {
    local status=0 want=$1
    shift
    "$ASSAY" compare "$@" >out 2>err || status=$?
    [ "$want" = "$status" ] || fails "want: $want" "got: $status" "$(cat err)"
}

refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    "$ASSAY" compare "$@" >out 2>err || status=$?
    like "$want" "$(cat err)"
    equal 1 "$(wc -l <err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
}

@test "compare: what is slower, and that its code differs" {
    records
    compare 0 v1.assay v2.assay
    like "Comparison*A*6*v1.assay*B*6*v2.assay*Functions*linkage name*slow*Loops*source lines*slow*" \
        "$(cat out)"
    compare 0 --format json v1.assay v2.assay
    python3 - <<'END'
import json
it = json.load(open("out"))["comparison"]
assert [s["repeats"] for s in it["sides"]] == [6, 6]
rows = {(r["object"], r["name"]): r for r in it["rows"]}
slow, same = rows["function", "slow"], rows["function", "same"]
assert slow["significant"] and slow["difference_pct"]["value"] > 50, slow
assert slow["difference_pct"]["low"] > 0
ratio = slow["time_s"][1]["value"] / slow["time_s"][0]["value"]
assert abs(slow["difference_pct"]["value"] - 100 * (ratio - 1)) < 1e-9
assert slow["aligned_by"] == "linkage name"
assert slow["code"] == "differs" and same["code"] == "same"
assert slow["each"][0]["p"] <= 0.05 and len(slow["each"]) == 1
assert rows["loop", "same"]["aligned_by"] == "source lines"
assert rows["loop", "same"]["instructions"][0] == rows["loop", "same"]["instructions"][1]
END
    compare 0 --format csv v1.assay v2.assay
    like "run,,,,v1.assay,6,*" "$(sed -n 2p out)"
    equal 1 "$(grep -c '^function,slow,.*,v2.assay,6,.*,true,[0-9]*,differs$' out)"
}
@test "compare: no output is wider than the terminal that is asked for" {
    records
    COLUMNS=80 compare 0 v1.assay v2.assay
    while read -r line; do
        [ "${#line}" -le 80 ] || fails "too long: $line"
    done <out
    never grep -q "$(printf '\033')" out
    compare 0 --color always v1.assay v2.assay
    grep -q "$(printf '\033\\[31m')" out
}
@test "compare: the exit status for a CI" {
    records
    compare 1 --fail-if-slower 3% --of functions v1.assay v2.assay
    like "*the function slow (program.c:*) of v2.assay is * % slower (95 %: *); 3 % are allowed*" "$(cat err)"
    compare 1 --fail-if-slower 3 --of loops v1.assay v2.assay
    compare 0 --fail-if-slower 100000% --of loops v1.assay v2.assay
    compare 0 --fail-if-slower 3% --of loops v1.assay v1.assay
    compare 0 --fail-if-slower 3% v1.assay v1.assay
    # A speed-up is not a reason to fail. The host may have been busier while v1 ran: a function
    # with the same code is then slower. So the rows decide the expected exit status.
    compare 0 --format json v2.assay v1.assay
    compare "$(python3 -c '
import json
rows = json.load(open("out"))["comparison"]["rows"]
slower = [r["name"] for r in rows if r["object"] == "function" and r["significant"]
          and ((r["difference_pct"] or {}).get("low") or 0) > 3]
assert "slow" not in slower, slower
print(int(bool(slower)))')" --fail-if-slower 3% --of functions v2.assay v1.assay
    equal 0 "$(grep -c 'the function slow ' err)"
    compare 0 --fail-if-slower 3% v1.assay:1 v2.assay:1
    like "*the wall time of a single run has no interval*assay repeat*" "$(cat err)"
}
@test "compare: runs of an experiment" {
    records
    compare 0 --format csv v1.assay:2 v1.assay:3-5 v1.assay
    equal "v1.assay:2,1 v1.assay:3-5,3 v1.assay,6 " \
        "$(grep ^run, out | cut -d, -f5,6 | tr '\n' ' ')"
    cp -r v1.assay with:colon.assay
    compare 0 --format csv with:colon.assay with:colon.assay:1
    equal "with:colon.assay,6 with:colon.assay:1,1 " \
        "$(grep ^run, out | cut -d, -f5,6 | tr '\n' ' ')"
}
@test "compare: runs that failed are left out and said" {
    records
    rm -rf f.assay
    FAILS=1 "$ASSAY" profile -q -o f.assay -- ./program-1 || true
    refused 2 "assay: f.assay: has no successful run*" v1.assay f.assay
}
@test "compare: a page with the comparison in it" {
    records
    compare 0 --format html -o page.html v1.assay v2.assay
    [ ! -s out ] || fails "there is output"
    python3 - <<'END'
import base64, json, re, zlib
page = open("page.html").read()
packed = re.search(r'<script type="application/octet-stream" id="assay-data"[^>]*>(.*?)</script>', page, re.S)
document = json.loads(zlib.decompress(base64.b64decode(packed[1])))
assert [s["name"] for s in document["comparison"]["sides"]] == ["A", "B"]
assert [s["given"] for s in document["comparison"]["sides"]] == ["v1.assay", "v2.assay"]
assert document["experiment"] == "v2.assay" and document["stability"]["repeats"] == 6
END
    refused 2 "assay: --format: html needs a file*" --format html v1.assay v2.assay
}
@test "compare: wrong arguments" {
    "$MAKE_EXPERIMENT" a.assay
    refused 2 "assay: compare: missing EXP*"
    refused 2 "assay: compare: only one experiment*" a.assay
    refused 2 "assay: nothing.assay: *" a.assay nothing.assay
    refused 2 "assay: a.assay:9: has no run '9'; use a run number*" a.assay a.assay:9
    refused 2 "assay: a.assay:slow: has no run 'slow'*" a.assay a.assay:slow
    refused 2 "assay: --fail-if-slower: invalid value 'much'; use per cent*" --fail-if-slower much a.assay a.assay
    refused 2 "assay: --fail-if-slower: invalid value '-3'; use per cent*" --fail-if-slower=-3 a.assay a.assay
    refused 2 "assay: --of: needs --fail-if-slower*" --of loops a.assay a.assay
}
