# SPDX-License-Identifier: Apache-2.0
# assay scale and assay repeat as a user runs them. Tests that record are skipped if runs cannot be
# recorded.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >work.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
volatile double sink;
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
__attribute__((noinline)) void burn(double seconds)
{
    const double end = cpu() + seconds;
    double sum = 0;
    while (cpu() < end)
        for (int i = 0; i < 100000; i++)
            sum += i * 0.5;
    sink = sum;
}
/* work SECONDS [fails] : divides by OMP_NUM_THREADS, or fails when that is 2 */
int main(int argc, char **argv)
{
    const char *threads = getenv("OMP_NUM_THREADS");
    const int n = threads ? atoi(threads) : 1;
    char line[100];
    printf("%d threads, bind %s, last %s\n", n,
           getenv("OMP_PROC_BIND") ? getenv("OMP_PROC_BIND") : "none", argv[argc - 1]);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin))
        printf("read %s", line);
    burn(atof(argv[1]) / n);
    if (argc > 2 && strcmp(argv[2], "fails") == 0 && n == 2) {
        fprintf(stderr, "two is too many\n");
        return 5;
    }
    while (argc > 2 && strcmp(argv[2], "never") == 0 && access("go-on", F_OK) != 0)
        burn(0.01);
    return 0;
}
END
    gcc -O2 -g -o work work.c
    if ! "$ASSAY" profile -q -o probe.assay -- ./work 0.05 2>probe.err >/dev/null; then
        cat probe.err >&2
        touch refused
    fi
}
setup() {
    load common.bash
    rm -rf ./*.assay go-on
    unset OMP_NUM_THREADS OMP_PROC_BIND OMP_PLACES GOMP_CPU_AFFINITY KMP_AFFINITY
}

records() { [ ! -e refused ] || skip "no run can be recorded here: $(cat probe.err)"; }
query() { "$ASSAY" query --format csv "$1" "$2" | tail -n +2; }
words() { tr '\n' ' ' | sed 's/ $//'; }

# series STATUS ARGUMENT...: out and err
series() {
    local status=0 want=$1
    shift
    "$ASSAY" "$@" >out 2>err </dev/null || status=$?
    [ "$want" = "$status" ] || fails "want: $want" "got: $status" "$(cat err)"
}

# refused STATUS SENTENCE ARGUMENT...: one sentence, and nothing is left behind
refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    "$ASSAY" "$@" >out 2>err || status=$?
    like "$want" "$(cat err)"
    equal 1 "$(wc -l <err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
    [ -z "$(ls -d ./*.assay 2>/dev/null)" ] || fails "left behind: $(ls -d ./*.assay)"
}

@test "scale: every combination is a run, with its setting" {
    records
    series 0 scale --threads 1,2 --repeats 2 -o x.assay -- ./work 0.1
    like "*Strong scaling*1x1 (reference)*2*1x2*2*Functions*burn*" "$(cat out)"
    like "*run 4 of 4: 1x2, about*left*the experiment is x.assay*" "$(cat err)"
    equal "1,scale,1x1 2,scale,1x2 3,scale,1x1 4,scale,1x2" \
        "$(query x.assay "SELECT run_id, kind, label FROM v_runs" | words)"
    equal "1 2 1 2" "$(query x.assay "SELECT value FROM run_environment
        WHERE name = 'OMP_NUM_THREADS' ORDER BY run_id" | words)"
    equal "2,exact" "$(query x.assay "SELECT CAST(value AS INTEGER), origin FROM v_values
        WHERE metric = 'scale_threads' AND run_id = 4")"
    # The output of the runs is kept beside them.
    like "2 threads, *" "$(cat x.assay/run-002/output.txt)"
    equal "output" "$(query x.assay "SELECT kind FROM run_file WHERE path = 'run-002/output.txt'")"
    [ ! -e x.assay/output.waiting ]
}
@test "scale: efficiency is that of the wall times" {
    records
    series 0 scale --threads 1,2 -o x.assay --format json -- ./work 0.1
    query x.assay "SELECT wall_s FROM v_runs ORDER BY run_id" >walls
    python3 - <<'END'
import json
it = json.load(open("out"))["scalability"]
walls = [float(line) for line in open("walls")]
points = it["points"]
assert it["mode"] == "strong" and it["reference_run"] == 1
assert [p["label"] for p in points] == ["1x1", "1x2"]
for point, wall in zip(points, walls):
    assert abs(point["wall_s"]["value"] - wall) < 1e-12
    assert point["wall_s"]["high"] is None  # one run
assert abs(points[1]["speedup"]["value"] - walls[0] / walls[1]) < 1e-12
assert abs(points[1]["efficiency"]["value"] - walls[0] / walls[1] / 2) < 1e-12
burn = [r for r in it["rows"] if r["object"] == "function" and r["name"] == "burn"][0]
ratio = burn["time_s"][0]["value"] / burn["time_s"][1]["value"]
assert abs(burn["cpu_efficiency"][1]["value"] - ratio) < 1e-9
assert burn["cpu_efficiency"][1]["low"] < ratio < burn["cpu_efficiency"][1]["high"]
assert abs(burn["efficiency"][1]["value"] - ratio / 2) < 1e-9
END
}
@test "scale: the reference and the template" {
    records
    series 0 scale --threads 1,2 --processes 1,2 --reference 1:2 -q -o x.assay -- \
        ./work 0.02 {processes}x{threads} {units}
    like "*1x2 (reference)*2x1*2x2*" "$(cat out)"
    equal "./work 0.02 2x2 4" "$(query x.assay "SELECT command FROM v_runs WHERE label = '2x2'")"
    series 0 scale --read x.assay --format csv --reference 2:2
    equal "run,,,2x2,1,2,2,1" "$(grep ^run,,,2x2 out | cut -d, -f1-8)"
    equal "1,1,1" "$(grep ^run,,,2x2 out | cut -d, -f18-20)"
}
@test "scale: weak scaling has no speed-up" {
    records
    series 0 scale --weak --threads 1,2 -q -o x.assay -- ./work 0.05
    like "*Weak scaling*" "$(cat out)"
    never grep -q speed-up out
    series 0 scale --read x.assay --format json
    equal null "$(json '["scalability"]["points"][1]["speedup"]' <out)"
}
@test "scale: threads are pinned unless the environment pins them" {
    records
    series 0 scale --threads 1 -o x.assay -- ./work 0.01
    like "1 threads, bind close,*" "$(cat x.assay/run-001/output.txt)"
    like "*pinned to adjacent cores*" "$(cat err)"
    series 0 scale --threads 1 --pin off --force -o x.assay -- ./work 0.01
    like "1 threads, bind none,*" "$(cat x.assay/run-001/output.txt)"
    OMP_PROC_BIND=spread series 0 scale --threads 1 --force -o x.assay -- ./work 0.01
    like "1 threads, bind spread,*" "$(cat x.assay/run-001/output.txt)"
    like "*by the environment (OMP_PROC_BIND=spread)*" "$(cat err)"
}
@test "scale: a run that fails is said, and the others go on" {
    records
    series 1 scale --threads 1,2,3 -o x.assay -- ./work 0.05 fails
    like "*run 2 (1x2) ended with exit status 5; its last line: two is too many*" "$(cat err)"
    like "*1 of 3 runs failed*" "$(cat err)"
    like "*1x2*failed*1x3*1 run failed*" "$(cat out)"
    equal 5 "$(query x.assay "SELECT exit_code FROM v_runs WHERE run_id = 2")"
}
@test "scale: combinations that cannot be" {
    records
    series 0 scale --nodes 1,2 --processes 1,2 --threads 1 -o x.assay -- \
        ./work 0.01 {nodes} {processes}
    like "*--processes 1 with --nodes 2 is left out*" "$(cat err)"
    equal 3 "$(query x.assay "SELECT count(*) FROM v_runs")"
    equal 1 "$(query x.assay "SELECT count(*) FROM v_runs WHERE label = '2x2x1'")"
}
@test "scale: wrong arguments" {
    refused 2 "assay: scale: no command given*" scale --threads 1,2
    refused 2 "assay: --processes: the command has no {processes}; use it*'mpirun -n {processes} ./program'" \
        scale --processes 1,2 -- ./work 0.1
    refused 2 "assay: --nodes: the command has no {nodes}*" scale --nodes 1,2 -- ./work 0.1
    refused 2 "assay: scale: the command has {processes} without numbers*--processes*" \
        scale -- ./work {processes}
    refused 2 "assay: --threads: invalid list '1,x'*" scale --threads 1,x -- ./work 0.1
    refused 2 "assay: --threads: invalid list '0'*" scale --threads 0 -- ./work 0.1
    refused 2 "assay: --threads: invalid list '4-1'*" scale --threads 4-1 -- ./work 0.1
    refused 2 "assay: --threads: invalid list ''*" scale --threads '' -- ./work 0.1
    refused 2 "assay: --threads: invalid list '1,'*" scale --threads 1, -- ./work 0.1
    refused 2 "assay: --threads: '1-1000' has more than 256*" scale --threads 1-1000 -- ./work 0.1
    refused 2 "assay: --reference: invalid value '2'*" scale --threads 1,2 --reference 2 -- ./work 0.1
    refused 2 "assay: --reference: 1:4 is not one of the combinations*" \
        scale --threads 1,2 --reference 1:4 -- ./work 0.1
    refused 2 "assay: ./work-2: cannot be executed*" scale --threads 2 -- ./work-{threads} 0.1
    refused 2 "assay: --rate: invalid value 'fast'*" scale --threads 1 --pin off --rate fast -- ./work 0.1
    refused 2 "assay: --read: there is a command too*" scale --read x.assay ./work
    refused 2 "assay: nothing.assay: *" scale --read nothing.assay
    refused 2 "assay: scale: no combination*" \
        scale -q --nodes 2 --processes 1 -- ./work {nodes} {processes}
}

@test "repeat: runs, warm-up, and what they have in common" {
    records
    series 0 repeat -n 7 --warm-up 1 -o x.assay -- ./work 0.05
    like "*Stability of 7 runs*wall time  median*outliers*drift*Functions*burn*" "$(cat out)"
    equal "warm-up,1 repeat,7" \
        "$(query x.assay "SELECT kind, count(*) FROM run GROUP BY kind ORDER BY kind DESC" | words)"
    series 0 repeat --read x.assay --format json
    query x.assay "SELECT wall_s FROM v_runs WHERE kind = 'repeat' ORDER BY run_id" >walls
    python3 - <<'END'
import json, statistics
it = json.load(open("out"))["stability"]
walls = [float(line) for line in open("walls")]
assert it["repeats"] == 7 and it["warm_up"] == 1
assert it["wall_s"]["all"] == walls
assert abs(it["wall_s"]["median"] - statistics.median(walls)) < 1e-12
assert abs(it["wall_s"]["deviation"] - statistics.stdev(walls)) < 1e-12
assert (it["wall_s"]["median_low"], it["wall_s"]["median_high"]) == (min(walls), max(walls))
assert [r for r in it["rows"] if r["object"] == "loop" and r["name"] == "burn"]
END
    series 0 repeat --read x.assay --format csv
    like "run,,,7,*" "$(sed -n 2p out)"
}
@test "repeat --against: A B A B, each with its role, in text, JSON, CSV and for compare" {
    records
    series 0 repeat -n 3 --against "OMP_NUM_THREADS=3 ./work '0.03'" -o x.assay -- ./work 0.01
    like "*A against B, 3 pairs in turns*A * 3 *./work 0.01*B * 3 *./work 0.03*" "$(cat out)"
    like "*run 2 of 6: B*" "$(cat err)"
    equal "A,repeat,reference,0 B,against,variant,1 A,repeat,repetition,1 B,against,repetition,2 A,repeat,repetition,1 B,against,repetition,2" \
        "$(query x.assay "SELECT label, kind, role, ifnull(reference_id, 0) FROM run ORDER BY run_id" | words)"
    like "*1 threads*last 0.01" "$(cat x.assay/run-005/output.txt)"
    like "*3 threads*last 0.03" "$(cat x.assay/run-006/output.txt)"
    series 0 repeat --read x.assay --format json
    python3 - <<'END'
import json
it = json.load(open("out"))["alternation"]
assert [r["of"] for r in it["runs"]] == list("ABABAB"), it["runs"]
assert it["pairs"] == it["planned"] == 3
assert it["verdict"] in ("open", "faster", "slower", "equal")
low, value, high = (it["difference_pct"][k] for k in ("low", "value", "high"))
assert low <= value <= high
assert (it["verdict"] == "open") == (low <= 0 <= high and not (low >= -1 and high <= 1))
assert [s["repeats"] for s in it["sides"]] == [3, 3]
END
    series 0 repeat --read x.assay --format csv
    equal "of,run_id,wall_s A,1 B,2" "$(sed 's/\(,[12]\),.*/\1/' out | head -3 | words)"
    series 0 compare x.assay:A x.assay:B --format json
    python3 -c 'import json; s = json.load(open("out"))["comparison"]["sides"]
assert s[1]["in_turns"] and not s[0]["in_turns"] and [x["repeats"] for x in s] == [3, 3]'
    # Runs of B do not count as repetitions of A.
    series 0 compare x.assay x.assay:1 --format json
    python3 -c 'import json; s = json.load(open("out"))["comparison"]["sides"]
assert [x["repeats"] for x in s] == [3, 1] and not s[1]["in_turns"]'
}
@test "repeat --against: a command that fails is left out, said, and ends with 1" {
    records
    series 1 repeat -n 2 --against "OMP_NUM_THREADS=2 ./work 0.01 fails" -o x.assay -- ./work 0.01
    like "*too few runs*B * 0 *./work 0.01 fails*2 runs of B failed and are left out.*" "$(cat out)"
    like "*run 2 (B) ended with exit status 5; its last line: two is too many*2 of 4 runs failed*" "$(cat err)"
}
@test "repeat --against: anything but a plain command is refused" {
    refused 2 "assay: './work 0.1 | cat': needs a shell; use a plain command, or sh -c '...'" \
        repeat --against "./work 0.1 | cat" -- ./work 0.1
    refused 2 "assay: './work \"0.1': a quote is not closed*" repeat --against './work "0.1' -- ./work 0.1
    refused 2 "assay: --against: 'A=1 ' has no command*" repeat --against 'A=1 ' -- ./work 0.1
    refused 2 "assay: repeat: --against needs a second command*" repeat --against ./work
    refused 2 "assay: --runs: 1 is out of range; use 2 to 10000 pairs" repeat -n 1 --against ./work -- ./work 0.1
}
@test "repeat: every run reads the same input" {
    records
    echo word >input
    "$ASSAY" repeat -q -n 2 -o x.assay -- ./work 0.01 <input >out
    like "*read word" "$(cat x.assay/run-001/output.txt)"
    like "*read word" "$(cat x.assay/run-002/output.txt)"
}
@test "repeat: Ctrl-C ends the series, and what ran is shown" {
    records
    touch go-on
    : >err
    setsid env --default-signal=INT "$ASSAY" repeat -n 50 -o x.assay -- ./work 0.02 never >out 2>err </dev/null &
    pid=$!
    until_so grep -q "run 3 of 50" err
    rm go-on
    # The one that does not end now, whichever it is.
    until_so has_run 20 -g "$pid" work
    kill -INT -- "-$pid"
    status=0
    wait "$pid" || status=$?
    equal 130 "$status"
    like "*Stability of *wall time*burn*" "$(cat out)"
    like "*ended by the user; * of 50 runs were left*" "$(cat err)"
    equal 1 "$(query x.assay "SELECT count(*) > 1 FROM v_runs WHERE state = 'complete'")"
    equal 0 "$(query x.assay "SELECT count(*) FROM v_runs WHERE state = 'recording'")"
}
@test "repeat: wrong arguments" {
    refused 2 "assay: repeat: no command given*" repeat -n 3
    refused 2 "assay: --runs: 0 is out of range; use 1 to 10000" repeat -n 0 -- ./work 0.1
    refused 2 "assay: --runs: *" repeat -n many -- ./work 0.1
    refused 2 "assay: --warm-up: 99999 is out of range; use 0 to 10000" repeat --warm-up 99999 -- ./work 0.1
    refused 2 "assay: no-such-command: no such command*" repeat -- no-such-command
}
@test "series: an experiment without such runs says so" {
    "$MAKE_EXPERIMENT" plain.assay
    status=0
    "$ASSAY" scale --read plain.assay 2>err || status=$?
    equal 2 "$status"
    like "assay: plain.assay: has no runs of 'assay scale'*" "$(cat err)"
    status=0
    "$ASSAY" repeat --read plain.assay 2>err || status=$?
    equal 2 "$status"
    like "assay: plain.assay: has no runs of 'assay repeat'*" "$(cat err)"
}

@test "scale: other settings vary in the command and the environment" {
    records
    unset MODE
    series 0 scale --vary size=0.01,0.02 --vary 'env:MODE=a,b\,c' -o x.assay -- ./work {size} -s={size}
    like "*Settings, *size*point*runs*speed-up*size=0.01 MODE=a (reference)*size=0.02 MODE=b,c*burn*" "$(cat out)"
    never grep -q efficiency out
    like "assay: 4 runs: size (2) x env:MODE (2)*run 4 of 4: size=0.02 MODE=b,c*" "$(cat err)"
    equal "./work 0.01 -s=0.01|./work 0.01 -s=0.01|./work 0.02 -s=0.02|./work 0.02 -s=0.02" \
        "$(query x.assay "SELECT command FROM run ORDER BY run_id" | paste -sd'|')"
    equal "1,a 2,b;c 3,a 4,b;c" "$(query x.assay "SELECT run_id || ',' || replace(value, ',', ';')
        FROM v_run_settings WHERE name = 'env:MODE' ORDER BY run_id" | tr -d '"' | words)"
    # Threads are as the program likes them.
    like "1 threads, bind none,*" "$(cat x.assay/run-001/output.txt)"
    equal 0 "$(query x.assay "SELECT count(*) FROM v_values WHERE metric = 'scale_threads'")"
    series 0 scale --read x.assay --format json
    equal '["env:MODE", "size"]' "$(json '["scalability"]["varied"]' <out)"
    equal "b,c 0.02" "$(json '["scalability"]["points"][3]["settings"]["env:MODE"]' <out) $(
        json '["scalability"]["points"][3]["settings"]["size"]' <out)"
    equal null "$(json '["scalability"]["points"][3]["threads"]' <out)"
    series 0 scale --read x.assay --format csv
    equal "env:MODE,size" "$(head -1 out | cut -d, -f24-)"
    equal "a,0.02" "$(grep '^run,,,size=0.02 MODE=a' out | cut -d, -f24-)"
    "$ASSAY" report x.assay --format json -o r.json 2>err
    equal 0.02 "$(json '["scalability"]["points"][2]["settings"]["size"]' <r.json)"
}
@test "scale: settings and threads: efficiency is that of the same settings" {
    records
    series 0 scale --threads 1,2 --vary size=0.04,0.08 --repeats 2 --reference 1:2 -q -o x.assay -- ./work {size}
    like "*Strong scaling, size, processes x threads*size=0.04 1x1*size=0.04 1x2 (reference)*size=0.08 1x1*" "$(cat out)"
    series 0 scale --read x.assay --format json --reference 1:2
    python3 - <<'END'
import json
it = json.load(open("out"))["scalability"]
assert [p["label"] for p in it["points"]] == [
    "size=0.04 1x1", "size=0.04 1x2", "size=0.08 1x1", "size=0.08 1x2"]
assert [p["base"] for p in it["points"]] == [1, 1, 3, 3]
walls = [p["wall_s"]["value"] for p in it["points"]]
assert abs(it["points"][2]["efficiency"]["value"] - walls[3] / walls[2] * 2) < 1e-9
assert abs(it["points"][2]["speedup"]["value"] - walls[1] / walls[2]) < 1e-9
END
    # Roles of the runs: the reference ran first, in turns.
    equal "size=0.04 1x2,reference, size=0.04 1x1,variant,1 size=0.08 1x1,variant,1 size=0.08 1x2,variant,1 size=0.04 1x2,repetition,1 size=0.04 1x1,repetition,2 size=0.08 1x1,repetition,3 size=0.08 1x2,repetition,4" \
        "$(query x.assay "SELECT label, role, reference_id FROM run ORDER BY run_id" | words)"
}
@test "scale: wrong settings" {
    refused 2 "assay: --vary: the command has no {size}*" scale --vary size=1,2 -- ./work 1
    refused 2 "assay: --vary: invalid value 'size'*" scale --vary size -- ./work {size}
    refused 2 "assay: --vary: 'a=1,1' has the value '1' twice*" scale --vary a=1,1 -- ./work {a}
    refused 2 "assay: --vary: a is set twice*" scale --vary a=1 --vary a=2 -- ./work {a}
    refused 2 "assay: --vary: {threads} is computed from*" scale --vary threads=1 -- ./work {threads}
    refused 2 "assay: --vary: --threads sets OMP_NUM_THREADS too*" \
        scale --threads 1,2 --vary env:OMP_NUM_THREADS=1,2 -- ./work 1
    refused 2 "assay: scale: the settings have more than 1000 combinations*" \
        scale --threads 1-40 --vary a="$(seq -s, 30)" -- ./work {a}
}
@test "series: a pipe cannot be read by every run" {
    for verb in "scale --threads 1,2" "repeat -n 2"; do
        status=0
        echo word | "$ASSAY" $verb -o x.assay -- ./work 0.01 2>err || status=$?
        equal 2 "$status"
        like "assay: standard input: a pipe *'< FILE'*" "$(cat err)"
        [ ! -e x.assay ]
    done
    records
    echo word | "$ASSAY" repeat -q -n 1 -o x.assay -- ./work 0.01 >out
    like "*read word" "$(cat x.assay/run-001/output.txt)"
}
@test "repeat: runs know the first one" {
    records
    series 0 repeat -q -n 2 --warm-up 1 -o x.assay -- ./work 0.01
    equal "warm-up,repetition, repeat,reference, repeat,repetition,2" \
        "$(query x.assay "SELECT kind, role, reference_id FROM run ORDER BY run_id" | words)"
}
@test "beside other programs the text begins with a warning" {
    records
    loops=
    for _ in $(seq $((2 * $(nproc)))); do
        sh -c 'while :; do :; done' &
        loops="$loops $!"
    done
    status=0
    "$ASSAY" repeat -n 2 -o x.assay -- ./work 0.1 >out1 2>err || status=$?
    "$ASSAY" repeat -n 2 --against "./work 0.1" -o y.assay -- ./work 0.1 >out2 2>err || status=$?
    "$ASSAY" scale --threads 1 -o z.assay -- ./work 0.1 >out3 2>err || status=$?
    kill $loops
    wait $loops 2>/dev/null || true
    equal 0 "$status"
    for out in out1 out2 out3; do
        like "other processes used * CPUs: timings are*" "$(head -1 $out)"
    done
}
