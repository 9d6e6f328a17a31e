# SPDX-License-Identifier: Apache-2.0
# assay decan as a user meets it: variants are there or the reason is, the program prints and ends as
# alone, facts stand in the experiment. No time and no verdict is asserted.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    # A loop of 1000 and of 100 iterations, and one with a call in it.
    cat >loops.c <<'END'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static double a[4096], b[4096], c[4096];
__attribute__((noinline)) static void triad(long n, double s)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] / (1.5 + s * c[i]);
}
__attribute__((noinline, noclone)) static double calls(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += sin((double)i);
    return s;
}
int main(int argc, char **argv)
{
    const int times = argc > 1 ? atoi(argv[1]) : 1;
    double sum = 0;
    for (int i = 0; i < 4096; i++)
        b[i] = i, c[i] = 1.0 / (i + 1);
    for (int t = 0; t < times * 200000; t++) {
        triad(t % 3 ? 100 : 1000, t);
        sum += a[t % 100];
        if (t % 20 == 0)
            sum += calls(500);
    }
    printf("%a\n", sum);
    fflush(stdout);
    if (argc > 2)
        abort();
    return argc > 1 ? 3 : 0;
}
END
    gcc -O2 -g -fno-math-errno -fno-tree-vectorize -o loops loops.c -lm
}
setup() { load common.bash; }

query() { "$ASSAY" query --format csv x.assay "$1" | tail -n +2 | tr -d '"'; }

@test "decan: variants of the hot loops, and the program does what it does alone" {
    ./loops 2 >alone.out || equal 3 $?
    rm -rf x.assay
    "$ASSAY" decan --no-measure --rate high --format json -o x.assay -- ./loops 2 >decan.json || equal 3 $?
    for file in x.assay/run-*/output*; do
        cmp "$file" alone.out || fails "$file is not what the program prints"
    done
    python3 - <<'END'
import json
said = json.load(open("decan.json"))
loop = [l for l in said["loops"] if l["name"].startswith("triad")][0]
assert loop["refused"] is None and loop["threads"] >= 1, loop
assert said["runs"] >= 1 and not said["ended_otherwise"] and not said["interrupted"]
buckets = {b["iterations_from"]: b for b in loop["buckets"]}
assert {64.0, 512.0} == set(buckets), list(buckets)
assert sum(b["main"] for b in loop["buckets"]) == 1
for bucket in buckets.values():
    takes = {t["variant"]: t for t in bucket["variants"]}
    for name in ("orig", "ref", "fp", "ls", "dl1", "fes", "nodiv"):
        take = takes[name]
        assert take["n"] + take["disturbed"] >= 31, take
        if take["n"]:
            assert take["missing"] is None, take
            assert take["iteration_cycles_least"] <= take["iteration_cycles"], take
            assert take["iterations_mean"] in (100, 1000), take
    assert "rec" not in takes
    for name, bounds in bucket["bounds"].items():
        low, high = bounds["low"], bounds["high"]
        assert bounds["n"] >= 1 and (low is None or low <= bucket["values"][name] + 1e-9), (name, bounds)
        assert high is None or high >= bucket["values"][name] - 1e-9, (name, bounds)
    assert "decan_orig_dl1_x" in bucket["bounds"] and "decan_verdict_n" not in bucket["bounds"]
    assert bucket["text"] and bucket["title"] and bucket["confidence"] in ("low", "medium", "high")
calls = [l for l in said["loops"] if l["name"].startswith("calls")]
assert all(l["refused"] for l in calls), calls
END
    equal 1 "$(query "SELECT count(*) FROM v_runs WHERE kind = 'profile'")"
    [ "$(query "SELECT count(*) FROM v_runs WHERE kind = 'decan'")" -ge 1 ]
    equal 1 "$(query "SELECT count(*) FROM flag WHERE name = 'variants_without_counters' AND
        text LIKE 'no counters of instances: %'")"
    # A ratio has the interval of its medians, and says how many instances are behind it.
    equal 0 "$(query "SELECT count(*) FROM v_set_decan WHERE bucket IS NOT NULL AND
        NOT (decan_orig_dl1_x_low <= decan_orig_dl1_x AND decan_orig_dl1_x <= decan_orig_dl1_x_high)")"
    [ "$(query "SELECT count(*) FROM v_set_decan WHERE decan_orig_dl1_x_low > 0 AND
        decan_orig_dl1_x_high < 1000")" -ge 2 ] || fails "no intervals"
    # Each variant in each bucket; of the loop as a whole once more. On a busy host the loop that fills
    # the arrays may have a sample, too.
    equal "64 to 127 iterations
512 to 1023 iterations" "$(query "SELECT DISTINCT v.bucket FROM v_set_variants v
        JOIN v_loops l USING (loop_id, run_id) WHERE v.bucket IS NOT NULL AND l.function = 'triad'
        ORDER BY 0 + v.bucket")"
    equal 1 "$(query "SELECT count(*) FROM v_set_variants v JOIN v_loops l USING (loop_id, run_id)
        WHERE v.variant = 'dl1' AND v.bucket IS NULL AND l.function = 'triad'")"
    equal 1 "$(query "SELECT count(*) FROM v_set_decan v JOIN v_loops l USING (loop_id, run_id) WHERE bucket
        IS NULL AND decan_verdict_n IS NOT NULL AND l.function = 'triad'")"
    equal 1 "$(query "SELECT count(*) FROM detail d JOIN v_loops l ON l.loop_id = d.object_id
        AND l.run_id = d.run_id WHERE d.name = 'variants' AND l.function = 'triad'")"
}

@test "decan: text fits 80 columns, and says what it is bound by or why not" {
    rm -rf x.assay
    COLUMNS=80 "$ASSAY" decan --no-measure --rate high --variants dl1 --runs 1 -o x.assay -- ./loops >out
    output=$(cat out)
    like "* %  triad loops.c:*orig *ref *dl1 *" "$output"
    like "*1 run with variants, 31 instances of each wanted*" "$output"
    [ "$(wc -L <out)" -le 80 ] || fails "$output"
    case $output in *fes*) fails "a variant that nobody asked for: $output" ;; esac
}

@test "decan: a program that is killed leaves what was measured" {
    rm -rf x.assay
    run "$ASSAY" decan --no-measure --rate high --loops triad --format csv --runs 1 -o x.assay -- ./loops 1 abort
    equal 134 "$status"
    like "*,ref,*" "$output"
}

@test "decan: what cannot be asked for is said before anything runs" {
    rm -rf x.assay
    run "$ASSAY" decan
    equal 2 "$status"
    equal "assay: decan: no command given; use 'assay decan -- ./program'" "$output"
    run "$ASSAY" decan --variants dl1,dl2 -o x.assay -- ./loops
    equal 2 "$status"
    like "assay: --variants: invalid value 'dl2'; use some of orig, ref, fp, *" "$output"
    run "$ASSAY" decan --max-overhead much -o x.assay -- ./loops
    equal 2 "$status"
    like "*--max-overhead: invalid value 'much'*" "$output"
    run "$ASSAY" decan --runs 0 -o x.assay -- ./loops
    equal 2 "$status"
    [ ! -e x.assay ] || fails "an experiment of nothing was made"
    run "$ASSAY" decan --no-measure --loops trida --rate high -o x.assay -- ./loops
    equal 2 "$status"
    like "*--loops: no hot loop is in 'trida'; those with the most time are 0x*(triad)*" "$output"
}

@test "run --add --loops: loops that were not timed are, what is known of others stays" {
    rm -rf x.assay
    run "$ASSAY" run --level two --no-measure --rate high --loops triad -o x.assay -- ./loops 2
    equal 3 "$status"
    timed() {
        query "SELECT group_concat(DISTINCT f.name) FROM v_values v JOIN loop l ON
            l.loop_id = v.object_id JOIN function f USING (function_id) WHERE metric = 'instance_n'
            ORDER BY f.name"
    }
    equal triad "$(timed)"
    before=$(query "SELECT value FROM v_values WHERE metric = 'instance_n' AND context_id = 0")
    pages=$(query "SELECT count(*) FROM detail WHERE name = 'instances'")
    run "$ASSAY" run --level two --no-measure --add --loops triad,calls -o x.assay -- ./loops 2
    equal 3 "$status"
    equal 1 "$(query "SELECT count(*) FROM v_runs WHERE kind = 'profile'")"
    like "*calls*" "$(timed)"
    like "*triad*" "$(timed)"
    like "*$before*" "$(query "SELECT value FROM v_values WHERE metric = 'instance_n' AND context_id = 0")"
    [ "$(query "SELECT count(*) FROM detail WHERE name = 'instances'")" -gt "$pages" ] ||
        fails "no page of the loop that was timed now"
    runs=$(query "SELECT count(*) FROM v_runs WHERE kind = 'vprof'")
    run "$ASSAY" run --level two --no-measure --add --loops calls -o x.assay -- ./loops 2
    equal "$runs" "$(query "SELECT count(*) FROM v_runs WHERE kind = 'vprof'")"
}

@test "run --level two: what data in the first cache would gain, then other variants join" {
    rm -rf x.assay
    run "$ASSAY" run --level two --no-measure --rate high -o x.assay -- ./loops
    equal 0 "$status"
    equal "decan profile vprof" "$(query "SELECT group_concat(kind, ' ') FROM
        (SELECT DISTINCT kind FROM v_runs ORDER BY kind)")"
    equal "dl1 orig ref" "$(query "SELECT group_concat(variant, ' ') FROM (SELECT DISTINCT variant
        FROM v_set_variants ORDER BY variant)")"
    equal 1 "$(query "SELECT count(*) FROM v_what_ifs WHERE name = 'data_in_l1'")"
    id=$(query "SELECT loop_id FROM v_loops WHERE function = 'triad' AND run_id = 1")
    run "$ASSAY" run --level three --no-measure --add --loops "$id" -o x.assay -- ./loops
    equal 0 "$status"
    equal 1 "$(query "SELECT count(*) FROM v_runs WHERE kind = 'profile'")"
    equal 1 "$(query "SELECT count(*) FROM v_set_variants WHERE variant = 'fp' AND bucket IS NULL")"
    equal 1 "$(query "SELECT count(*) FROM detail WHERE name = 'variants' AND object_id = $id")"
    equal 1 "$(query "SELECT count(*) FROM v_values v JOIN loop l ON l.loop_id = v.object_id
        JOIN function f USING (function_id) WHERE metric = 'instance_n' AND f.name = 'triad'
        AND context_id = 0")"
    run "$ASSAY" run --level two --no-measure --add --loops 1 -o x.assay -- ./loops 7
    equal 2 "$status"
    like "*has no profile of this command to choose loops from*" "$output"
    run "$ASSAY" run --loops 1 -o y.assay -- ./loops
    equal 2 "$status"
    like "*--loops: level one does not measure loops; add --level two*" "$output"
}
@test "decan --together: threads of a parallel region run the same variant at once" {
    cat >team.c <<'END'
#include <omp.h>
#include <stdio.h>
static double x[2][20000], y[2][20000];
int main(void)
{
    double sum = 0;
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 20000; i++)
            x[t][i] = i * 0.5 + t;
    for (int k = 0; k < 6000; k++) {
#pragma omp parallel num_threads(2)
        {
            const double *from = x[omp_get_thread_num()];
            double *to = y[omp_get_thread_num()];
            for (int i = 0; i < 20000; i++)
                to[i] = from[i] * 1.25 + k;
        }
        sum += y[0][k] + y[1][19999 - k];
    }
    printf("%a\n", sum);
    return 0;
}
END
    gcc -O2 -g -fopenmp -o team team.c 2>/dev/null || skip "no OpenMP here"
    export OMP_WAIT_POLICY=passive # threads that wait leave the processor to those that work
    ./team >team.out
    for way in "" --together; do
        rm -rf t.assay
        "$ASSAY" decan --no-measure --runs 1 $way --format json -o t.assay -- ./team >team.json
        for file in t.assay/run-*/output*; do
            cmp "$file" team.out || fails "$file is not what the program prints"
        done
        python3 - "$way" <<'END'
import json, sys
said = json.load(open("team.json"))
assert ("together_share" in said) == bool(sys.argv[1]), said.keys()
if sys.argv[1]:
    assert 0 < said["together_share"] <= 1 and said["together_threads"] == 2, said
END
    done
}

@test "decan: a statically linked program is not varied, and the reason is true" {
    for how in -static -static-pie; do
        gcc -O2 -g -fno-math-errno -fno-tree-vectorize "$how" -o fixed loops.c -lm 2>/dev/null ||
            skip "no static libraries"
        ./fixed 2 >alone.out || equal 3 $?
        rm -rf x.assay
        "$ASSAY" decan --no-measure -o x.assay -- ./fixed 2 >decan.txt || equal 3 $?
        for file in x.assay/run-*/output*; do
            cmp "$file" alone.out || fails "$file is not what the program prints"
        done
        local said
        said=$(tr -s ' \n' ' ' <decan.txt)
        like "*triad loops.c:* Not varied: the program does not load glibc (it is statically linked, or uses another C library); link it dynamically.*" "$said"
        [[ $said != *"was not loaded"* ]] || fails "$said"
        like "*does not load glibc*" "$(query "SELECT text FROM flag WHERE name = 'no_loop_varied'")"
    done
}
