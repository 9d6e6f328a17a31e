# SPDX-License-Identifier: Apache-2.0
# assay probe: where probes stand in a binary, and what they measure in a run.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >known.c <<'EOC'
#include <stdio.h>
#include <stdlib.h>
static volatile long sink;
__attribute__((noinline)) long leaf(long x)
{
    sink = x;
    return x + 1;
}
__attribute__((noinline)) long inner(long n)
{
    long s = 0;
    for (long i = 0; i < n; i++)
        sink = s += i;
    return s;
}
__attribute__((noinline)) long nest(long n)
{
    long s = 0;
    for (long i = 0; i < n; i++)
        for (long j = 0; j < 7; j++)
            sink = s += i * j;
    return s;
}
int main(int argc, char **argv)
{
    long s = 0, n = argc > 1 ? atol(argv[1]) : 50;
    for (long k = 0; k < n; k++) {
        s += inner(k);
        if (k % 3 == 0)
            s += leaf(k);
    }
    s += nest(n);
    printf("%ld\n", s);
    return 0;
}
EOC
    gcc -g -O1 -fno-inline known.c -o known
}
setup() { load common.bash; }

# check [OPTION...]: the probes on standard input against the binary.
check() {
    cat >own.probe
    "$ASSAY" probe --check "$@" own.probe known
}

@test "probes stand where the analysis says" {
    check --format csv >got <<'EOF'
probe all
    at loop entry
    do count
end
EOF
    "$ASSAY" loops known --format csv >loops.csv
    python3 - <<'EOP'
import csv
got = [(r["address"], r["loop"]) for r in csv.DictReader(open("got"))]
want = [(r["address"], r["id"]) for r in csv.DictReader(open("loops.csv"))]
assert got == want and len(got) >= 4, (got, want)
EOP
}
@test "filters choose" {
    check --format json >got <<'EOF'
probe level
    at loop
    where function = "nest" and level innermost
    do count
end
probe depth
    at loop
    where function ~ "n[aeiou]*" and depth >= 1 and not depth 2
    do count
end
probe line
    at loop
    where line 12 - 13
    do count
end
probe callee
    at call before
    where callee = "leaf" and file = "known.c"
    do count
end
probe caller
    at call after
    where function = "main" and not callee ~ "[lpa]*" and not callee = "strtol"
    do count
end
probe class
    at instruction
    where function = "leaf" and class = "return"
    do count
end
probe blocks
    at block
    where function = "leaf"
    do count
end
probe nowhere
    at function
    where function = "nobody"
    do count
end
EOF
    python3 - <<'EOP'
import collections, json
sites = json.load(open("got"))["sites"]
by = collections.defaultdict(list)
for s in sites:
    by[s["probe"]].append(s)
count = {k: len(v) for k, v in by.items()}
assert count == {"level": 1, "depth": 1, "line": 1, "callee": 1, "caller": 2, "class": 1,
                 "blocks": 1}, (count, by["caller"])
assert by["line"][0]["function"] == "inner" and by["callee"][0]["function"] == "main"
assert by["depth"][0]["loop"] + 1 == by["level"][0]["loop"]
assert all(s["refused"] is None for s in sites), sites
EOP
    "$ASSAY" probe --check own.probe known 2>err >/dev/null
    like "assay: own.probe:*: probe 'nowhere' matches no event of this program" "$(cat err)"
}
@test "counts of probes equal those of the program" {
    cat >run.probe <<'EOF'
probe loops
    at loop
    where function = "inner", "nest"
    do count, time
end
probe back
    at loop back
    where function = "inner", "nest"
    do count
end
probe left
    at loop exit
    where function = "nest" and depth 2
    do count
end
probe entered
    at function entry
    where function = "leaf", "inner", "nest", "main"
    do count
end
probe returned
    at function exit
    where function = "leaf", "inner", "nest", "main"
    do count
end
probe before
    at call before
    where function = "main" and callee = "leaf", "inner"
    do count
end
probe after
    at call after
    where function = "main" and callee = "leaf", "inner"
    do count
end
probe insn
    at instruction
    where function = "leaf" and class = "return"
    do count
end
probe blocks
    at block
    where function = "leaf"
    do count
end
probe program
    at program
    do count, time
end
probe cold
    at loop
    where function = "nest" and share >= 100.5 %
    do count
end
EOF
    "$ASSAY" probe -q -o run.assay --format json run.probe -- ./known 90 >got 2>err
    python3 - <<'EOP'
import collections, json
by = collections.defaultdict(list)
for s in json.load(open("got"))["sites"]:
    assert s["refused"] is None, s
    by[s["probe"]].append(s)
counts = {name: [s["count"] for s in sites] for name, sites in by.items()}
n = 90
assert counts == {
    "loops": [n - 1, 1, n],                    # inner(0) does not enter its loop
    "back": [n * (n - 1) // 2 - (n - 1), n - 1, 6 * n],
    "left": [n],
    "entered": [n // 3, n, 1, 1],
    "returned": [n // 3, n, 1, 1],
    "before": [n, n // 3],
    "after": [n, n // 3],
    "insn": [n // 3],
    "blocks": [n // 3],
    "program": [1],
}, counts
assert all(s["time_s"] is not None and s["time_s"] >= 0 for s in by["loops"] + by["program"])
assert all(s["time_s"] is None for s in by["back"])
EOP
    # The same numbers are facts of loops.
    equal "$(printf '89 4005\n1 90\n90 630')" "$("$ASSAY" query run.assay --format csv \
        "SELECT probe_entry_n, probe_round_n FROM v_set_probes ORDER BY loop_id" | tail -n +2 | tr ',' ' ')"
    like "*nest*" "$("$ASSAY" probe -q -o text.assay run.probe ./known 9 2>/dev/null)"
    # Output and exit status of the program stay the same.
    equal "$(./known 90)" "$(cat run.assay/run-*1/output.txt)"
}
@test "vprof and probes agree on the same loops" {
    cat >loops.probe <<'EOF'
probe loops
    at loop
    where function = "inner", "nest" and level innermost, single
    do count, time
end
EOF
    "$ASSAY" vprof -q -o v.assay --every 1 --loops inner,nest --format json -- ./known 30000 >v.json
    "$ASSAY" probe -q -o p.assay --format json loops.probe -- ./known 30000 >p.json
    python3 - <<'EOP'
import json
vprof = {l["address"]: l for l in json.load(open("v.json"))["loops"] if not l["refused"]}
probed = {s["address"]: s for s in json.load(open("p.json"))["sites"]}
both = vprof.keys() & probed.keys()
assert both, (vprof, probed)
for a in both:
    assert vprof[a]["instances"] == probed[a]["count"], (vprof[a], probed[a])
EOP
}
@test "static and measured cycles by one file of probes and one script" {
    "$ASSAY" probe -q -o sd.assay --format json "$EXAMPLE_PROBES/hot-loops.probe" -- ./known 30000 >p.json
    "$ASSAY" script --machine zen5 "$EXAMPLE_SCRIPTS/static-dynamic.lua" sd.assay >got
    "$ASSAY" cqa known --machine zen5 --format json >c.json
    python3 - <<'EOP'
import json
rows = [l.split() for l in open("got").read().splitlines()[1:]]
inner = [r for r in rows if r[5].startswith("inner:")]
assert len(inner) == 1, rows
entries, rounds, static, measured, ratio = map(float, inner[0][:5])
assert entries == 29999 and rounds == 15000, inner
want = next(l for l in json.load(open("c.json"))["loops"] if l["function"] == "inner")
assert abs(static - want["mean"]["metrics"]["cycles"]) < 0.006, (static, want["mean"])
site = next(s for s in json.load(open("p.json"))["sites"] if s["function"] == "inner" and s["time_s"])
assert measured > 0 and abs(measured - site["round_cycles"]) < 0.006, (measured, site)
assert abs(ratio - measured / static) < 0.02 * ratio, inner
EOP
}
@test "a mistake in the file is reported with line and column, status 2" {
    status=0
    check 2>err <<'EOF' || status=$?
probe a
    at lop
EOF
    equal 2 $status
    like "assay: own.probe:2:8: unknown event 'lop'; *" "$(cat err)"
    status=0
    "$ASSAY" probe --check nothere.probe known 2>err || status=$?
    equal 2 $status
    like "assay: nothere.probe: the file of probes is missing*" "$(cat err)"
}
@test "the examples are understood" {
    for file in "$EXAMPLE_PROBES"/*.probe; do
        "$ASSAY" probe --check -q "$file" known >got
        [ "$(wc -l <got)" -gt 2 ]
    done
}
