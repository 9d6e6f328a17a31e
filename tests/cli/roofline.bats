# SPDX-License-Identifier: Apache-2.0
# assay roofline and project as a user meets them. Ceilings are those of a made machine; counts are
# known by construction. No time is asserted.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    export XDG_DATA_HOME=$PWD/data # without figures of this machine
    cat >kernels.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#define N 4096
static double a[2][N], b[2][N], c[2][N];
static int ix[N];
/* 2 flops, 24 bytes an element */
__attribute__((noinline)) void triad(double *x, const double *y, const double *z, double s)
{
    for (long i = 0; i < N; i++)
        x[i] = y[i] + s * z[i];
}
/* no flop, 4 bytes an element */
__attribute__((noinline)) long mixed(const int *x)
{
    long s = 0;
    for (long i = 0; i < N; i++)
        s += x[i] ^ i;
    return s;
}
static void *work(void *number)
{
    const long k = (long)number;
    long s = 0;
    for (int r = 0; r < 40000; r++) {
        triad(a[k], b[k], c[k], r);
        if (r % 4 == 0)
            s += mixed(ix);
    }
    printf("%ld\n", s);
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t t;
    if (argc > 2)
        return atoi(argv[2]);
    if (argc > 1)
        pthread_create(&t, NULL, work, (void *)1);
    work((void *)0);
    if (argc > 1)
        pthread_join(t, NULL);
    return 0;
}
END
    cat >integers.c <<'END'
int main(void)
{
    unsigned s = 1;
    for (long i = 0; i < 600000000; i++)
        s = s * 3 + (unsigned)i;
    return s == 7;
}
END
    gcc -O2 -g -fno-tree-vectorize -pthread -o kernels kernels.c
    gcc -O1 -g -o integers integers.c
    # 1 core: memory 1e15 B/s: above all that runs.
    for name in high:1e15 low:1e3; do
        {
            printf 'machine\tname\tmade\nmachine\tcores\t4\n'
            for level in L1 L2 L3 memory; do
                printf 'figure\tbandwidth.triad.%s.core\t%s\tB/s\t0.01\t9\tcalm\t2026-01-01T00:00:00Z\n' \
                    "$level" "${name#*:}"
            done
            printf 'figure\tpeak.fma.f64.avx2.core\t%s\top/s\t0.01\t9\tcalm\t2026-01-01T00:00:00Z\n' \
                "${name#*:}"
        } >"${name%:*}.tsv"
    done
    # Twice the machine of high.tsv.
    sed 's/1e15/2e15/' high.tsv >twice.tsv
    "$ASSAY" roofline -q -o one.assay -- ./kernels >one.txt
    "$ASSAY" roofline -q -o two.assay -- ./kernels threads >two.txt
}
setup() {
    load common.bash
    export ASSAY_NO_MEASURE=1 XDG_DATA_HOME=$PWD/data
}

@test "the share of huge pages is what the program reads of itself" {
    grep -q '\[never\]' /sys/kernel/mm/transparent_hugepage/enabled && skip "no huge pages here"
    cat >pages.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#define HUGE_B (2ul << 20)
int main(void)
{
    char line[256], *area = mmap(NULL, 33 * HUGE_B, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = (char *)(((unsigned long)area + HUGE_B - 1) / HUGE_B * HUGE_B);
    madvise(at, 16 * HUGE_B, MADV_HUGEPAGE);
    madvise(at + 16 * HUGE_B, 16 * HUGE_B, MADV_NOHUGEPAGE);
    memset(at, 1, 32 * HUGE_B);
    volatile long s = 0;
    while (clock() < CLOCKS_PER_SEC)
        for (int i = 0; i < 1000000; i++)
            s += i;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "Anonymous:", 10) || !strncmp(line, "AnonHugePages:", 14))
            fputs(line, stdout);
    return 0;
}
END
    gcc -O1 -g -o pages pages.c
    "$ASSAY" profile -q -o pages.assay -- ./pages >pages.txt
    "$ASSAY" query pages.assay "SELECT value FROM v_values WHERE metric = 'huge_pages_pct'" \
        --format csv >pages.csv
    python3 - <<'END'
import re
text = open("pages.txt").read()
memory, huge = (int(re.search(name + r":\s+(\d+)", text)[1]) for name in ("Anonymous", "AnonHugePages"))
share = float(open("pages.csv").read().split()[-1])
assert abs(share - 100 * huge / memory) < 2, (share, huge, memory)
END
}

@test "flops and bytes of a loop are those of its construction" {
    "$ASSAY" roofline one.assay --format json >one.json
    equal true "$(json '["points"][0]["kind"]=="run"' <one.json)"
    python3 - <<'END'
import json
points = json.load(open("one.json"))["points"]
triad = [p for p in points if p["kind"] == "loop" and p["name"].startswith("triad ")]
assert len(triad) == 1, triad
p = triad[0]
assert p["flop_n"] == 2 * 4096 * 40000, p
assert (p["load_b"], p["store_b"]) == (16 * 4096 * 40000, 8 * 4096 * 40000), p
assert abs(p["intensity"] - 2 / 24) < 1e-12, p
assert p["vector"] == "scalar" and p["single_share"] == 0, p
assert p["flop_s_low"] < p["flop_s"] < p["flop_s_high"], p
assert abs(p["flop_s"] * p["time_s"] / p["core_n"] - p["flop_n"]) < 1e-6 * p["flop_n"], p
mixed = [p for p in points if p["kind"] == "loop" and p["name"].startswith("mixed ")][0]
assert mixed["flop_n"] == 0 and mixed["vector"] == "no flops" and mixed["flop_s"] is None, mixed
assert mixed["load_b"] == 4 * 4096 * 10000, mixed
END
}

@test "two threads have twice the work, and stand against the roofs of two cores" {
    "$ASSAY" roofline two.assay --format json >two.json
    python3 - <<'END'
import json
document = json.load(open("two.json"))
p = [p for p in document["points"] if p["kind"] == "loop" and p["name"].startswith("triad ")][0]
assert p["flop_n"] == 2 * 2 * 4096 * 40000, p
assert 1 <= p["core_n"] <= max(2, document["core_n"]), p
if document["core_n"] >= 2:
    assert p["core_n"] > 1.2, p
END
}

@test "traffic of levels, where it is known, limits a loop" {
    cp -r one.assay levels.assay
    python3 - <<'END'
import sqlite3
db = sqlite3.connect("levels.assay/experiment.db")
(loop,), = db.execute("SELECT object_id FROM v_values v JOIN loop l ON l.loop_id = v.object_id"
                      " JOIN function f USING (function_id) WHERE v.object_kind = 'loop'"
                      " AND v.metric = 'executed_flop_n' AND f.name = 'triad'")
columns = [row[1] for row in db.execute("PRAGMA table_info(metric)")]
old = dict(zip(columns, db.execute("SELECT * FROM metric LIMIT 1").fetchone()))
new = {**old, "metric_id": 999, "name": "bytes_memory"}
db.execute(f"INSERT INTO metric ({','.join(new)}) VALUES ({','.join('?' * len(new))})",
           list(new.values()))
columns = [row[1] for row in db.execute("PRAGMA table_info(value)")]
old = dict(zip(columns, db.execute("SELECT * FROM value LIMIT 1").fetchone()))
new = {**old, "metric_id": 999, "object_kind": "loop", "object_id": loop, "run_id": 1,
       "context_id": 0, "value": 1e9, "low": 1e9, "high": 1e9}
db.execute(f"INSERT INTO value ({','.join(new)}) VALUES ({','.join('?' * len(new))})",
           list(new.values()))
db.commit()
END
    "$ASSAY" roofline levels.assay --machine low.tsv --format json >levels.json
    python3 - <<'END'
import json
d = json.load(open("levels.json"))
p = [p for p in d["points"] if p["kind"] == "loop" and p["name"].startswith("triad ")][0]
assert d["has_levels"] and p["bytes_memory"] == 1e9, p
# 1e3 B/s of triad are 4/3e3 B/s between levels; L1 has all bytes at 1e3 B/s: the lower.
assert p["roof"] == "L1", p
assert abs(p["attainable"] - 1e3 * p["intensity"]) < 1e-6 * p["attainable"], p
END
}

@test "text fits 80 columns, and says what it knows" {
    "$ASSAY" roofline --machine high.tsv one.assay >text
    [ "$(wc -L <text)" -le 80 ] || fails "wider than 80 columns" "$(awk 'length > 80' text)"
    like '*triad kernels.c:10*' "$(cat text)"
    like '*1 core *memory 1e+06 GB/s*' "$(cat text)"
    like '*Flops and bytes are exact*' "$(cat text)"
    like '*Without flops, roof and % are of the bandwidth*' "$(tr '\n' ' ' <text)"
    [ "$(grep -c 'GFLOP/s.*roofs of 1 core' text)" = 1 ] || fails "no plot"
}

@test "without ceilings the command to measure them is named" {
    "$ASSAY" roofline one.assay >text
    never grep -q '^  1 core' text
    like "*run 'assay machine --measure memory,peaks'*" "$(tr '\n' ' ' <text)"
}

@test "a point above a measured ceiling is marked" {
    "$ASSAY" roofline one.assay --machine low.tsv --format csv >csv
    like '*above_ceiling*' "$(grep 'loop,.*triad' csv)"
    "$ASSAY" roofline one.assay --machine high.tsv --format csv >csv
    never grep -q above_ceiling csv
    "$ASSAY" roofline one.assay --machine low.tsv >text
    like '*! above a measured ceiling*' "$(cat text)"
}

@test "a drawing is one file of XML, and is not overwritten" {
    "$ASSAY" roofline one.assay --svg one.svg >text
    python3 -c "import xml.dom.minidom; d = xml.dom.minidom.parse('one.svg'); assert d.documentElement.tagName == 'svg'; assert 'triad kernels.c' in d.toxml()"
    never "$ASSAY" roofline one.assay --svg one.svg 2>err
    like '*one.svg*' "$(cat err)"
    "$ASSAY" roofline one.assay --svg one.svg --force >text
    status=0
    "$ASSAY" roofline one.assay --svg /dev/full >text 2>err || status=$?
    equal 1 "$status"
}

@test "arrows of a drawing start at the points of another experiment" {
    "$ASSAY" roofline one.assay --svg two-runs.svg --before one.assay >text 2>err
    python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('two-runs.svg')"
    [ "$(grep -c '<g class="before">' two-runs.svg)" -ge 2 ] || fails "the run and a loop have no arrows"
    equal "" "$(cat err)"
    "$ASSAY" roofline one.assay --svg two-runs.svg --force --before one.assay --format json >json
    status=0
    "$ASSAY" roofline one.assay --before one.assay >text 2>err || status=$?
    equal 2 "$status"
    like '*use --svg FILE*' "$(tr '\n' ' ' <err)"
    never "$ASSAY" roofline one.assay --svg none.svg --before nothing.assay 2>err
    like '*nothing.assay*' "$(cat err)"
    [ ! -e none.svg ] || fails "a chart was written"
}

@test "the page of the report has the points" {
    "$ASSAY" report one.assay --format json -o one-report.json -q
    equal 1 "$(python3 -c "import json; d = json.load(open('one-report.json'))['roofline']; print(sum(p['kind'] == 'loop' and p['name'].startswith('triad') for p in d['points']))")"
    "$MAKE_EXPERIMENT" plain.assay
    "$ASSAY" report plain.assay --format json -o plain.json -q
    equal null "$(json '["roofline"]' <plain.json)"
}

@test "programs without flops, and such that fail, say so" {
    "$ASSAY" roofline -q -o integers.assay -- ./integers >text
    like '*has no floating-point operations*' "$(tr '\n' ' ' <text)"
    never grep -q 'roofs of' text
    status=0
    "$ASSAY" roofline -q -o failing.assay -- ./kernels x 3 >text 2>err || status=$?
    equal 3 "$status"
}

@test "a stripped program has addresses for names" {
    cp kernels stripped
    strip stripped
    "$ASSAY" roofline -q -o stripped.assay -- ./stripped >text
    like '*named by address: compile with -g*' "$(tr '\n' ' ' <text)"
    like '*0x*' "$(cat text)"
}

@test "wrong use ends with status 2" {
    for words in "" "nothing.assay" "--machine nowhere.tsv one.assay" "one.assay two.assay" \
        "-o new.assay one.assay" "one.assay --run 7" "one.assay --svg one.assay"; do
        status=0
        # shellcheck disable=SC2086
        "$ASSAY" roofline $words >text 2>err || status=$?
        [ "$status" = 2 ] || [ "$status" = 1 ] || fails "roofline $words: $status"
        [ -s err ] || fails "roofline $words: says nothing"
    done
    "$MAKE_EXPERIMENT" uncounted.assay
    never "$ASSAY" roofline uncounted.assay 2>err
    like "*has counts of flops and bytes; use 'assay roofline -- COMMAND'*" "$(tr '\n' ' ' <err)"
    mkdir -p hollow.assay
    never "$ASSAY" roofline hollow.assay 2>err
    head -c 300 /dev/urandom >hollow.assay/experiment.db
    never "$ASSAY" roofline hollow.assay 2>err
}

@test "a machine of twice the ceilings takes half the time" {
    "$ASSAY" project one.assay --from high.tsv --to twice.tsv --format json >project.json
    python3 - <<'END'
import json
d = json.load(open("project.json"))
assert d["covered_s"] > 0.9 * d["time_s"], d
assert abs(d["target_s"] - d["time_s"] / 2) < 1e-6 * d["time_s"], d
assert d["low_s"] < d["target_s"] < d["high_s"], d
triad = [p for p in d["parts"] if p["name"].startswith("triad ")][0]
assert triad["limit"] == triad["target_limit"] and not triad["by_levels"], triad
END
    "$ASSAY" project one.assay --from high.tsv --to twice.tsv >text
    [ "$(wc -L <text)" -le 80 ] || fails "wider than 80 columns"
    like '*a speed-up of 2.00*' "$(tr '\n' ' ' <text)"
}

@test "time that is not projected stays, or scales, as it is asked" {
    "$ASSAY" project one.assay --from high.tsv --to twice.tsv --rest stays --format json >stays.json
    "$ASSAY" project one.assay --from high.tsv --to twice.tsv --format json >scales.json
    python3 - <<'END'
import json
stays, scales = json.load(open("stays.json")), json.load(open("scales.json"))
rest = stays["time_s"] - stays["covered_s"]
assert abs(stays["rest_s"] - rest) < 1e-9, stays
assert abs(scales["rest_s"] - rest / 2) < 1e-9, scales
assert (stays["low_s"], stays["high_s"]) == (scales["low_s"], scales["high_s"])
END
}

@test "caches of the target change the traffic of loops with a curve of misses" {
    cp -r one.assay curved.assay
    python3 - <<'END'
import json, sqlite3
db = sqlite3.connect("curved.assay/experiment.db")
(loop,), = db.execute("SELECT object_id FROM v_values v JOIN loop l ON l.loop_id = v.object_id"
                      " JOIN function f USING (function_id) WHERE v.object_kind = 'loop'"
                      " AND v.metric = 'executed_flop_n' AND f.name = 'triad'")
columns = [row[1] for row in db.execute("PRAGMA table_info(metric)")]
old = dict(zip(columns, db.execute("SELECT * FROM metric LIMIT 1").fetchone()))
new = {**old, "metric_id": 999, "name": "bytes_memory"}
db.execute(f"INSERT INTO metric ({','.join(new)}) VALUES ({','.join('?' * len(new))})",
           list(new.values()))
columns = [row[1] for row in db.execute("PRAGMA table_info(value)")]
old = dict(zip(columns, db.execute("SELECT * FROM value LIMIT 1").fetchone()))
new = {**old, "metric_id": 999, "object_kind": "loop", "object_id": loop, "run_id": 1,
       "context_id": 0, "value": 9e15, "low": 9e15, "high": 9e15}
db.execute(f"INSERT INTO value ({','.join(new)}) VALUES ({','.join('?' * len(new))})",
           list(new.values()))
# 1 GB comes into each cache below 64 MiB, a tenth of it into larger ones.
cells = [[16 << i, 1e9 if i < 12 else 1e8] for i in range(16)]
db.execute("INSERT INTO detail (run_id, object_kind, object_id, name, title, position, columns,"
           " cells) VALUES (1, 'loop', ?, 'miss_curve', 'x', 1, '[\"a\",\"b\"]', ?)",
           (loop, json.dumps(cells)))
db.execute("DELETE FROM machine_place WHERE kind = 'cache'")
host, = db.execute("SELECT host_id FROM run WHERE run_id = 1").fetchone()
for level, size in ((1, 32 << 10), (2, 1 << 20), (3, 32 << 20)):
    db.execute("INSERT INTO machine_place (host_id, place, parent, kind, level, size_b, is_usable)"
               " VALUES (?, ?, 0, 'cache', ?, ?, 0)", (host, 900 + level, level, size))
db.commit()
END
    for size in 32M:1 64M:10; do
        "$ASSAY" project curved.assay --from high.tsv --to high.tsv --format json \
            --caches "32K:8,1M:16,${size%:*}:16" >curved.json
        python3 - "${size#*:}" <<'END'
import json, sys
triad = [p for p in json.load(open("curved.json"))["parts"] if p["name"].startswith("triad ")][0]
assert triad["by_caches"] and triad["limit"] == "memory", triad
assert abs(triad["target_s"] * float(sys.argv[1]) / triad["time_s"] - 1) < 1e-6, triad
END
    done
    "$ASSAY" project curved.assay --from high.tsv --to high.tsv --caches 32K:8,1M:16 >text
    like '*of the caches of --caches for*' "$(tr '\n' ' ' <text)"
    [ "$(wc -L <text)" -le 80 ] || fails "wider than 80 columns"
    for caches in "" 32K 32K:8,64M:0 x:8; do
        status=0
        "$ASSAY" project curved.assay --to high.tsv --caches "$caches" 2>err || status=$?
        equal 2 "$status"
    done
}

@test "a projection without a target or common ceilings is refused" {
    status=0
    "$ASSAY" project one.assay 2>err || status=$?
    equal 2 "$status"
    like '*--to: no target machine is named*' "$(cat err)"
    printf 'machine\tname\tbare\n' >bare.tsv
    never "$ASSAY" project one.assay --from high.tsv --to bare.tsv 2>err
    like '*no ceiling*known of both machines*' "$(tr '\n' ' ' <err)"
    never "$ASSAY" project one.assay --from low.tsv --to high.tsv 2>err
}
