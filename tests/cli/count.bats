# SPDX-License-Identifier: Apache-2.0
# assay count as a user meets it: what threads, forks and killed programs executed is known by
# construction. No time is asserted.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >sums.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static double data[1000];
/* 2 operations and 8 bytes an element; each fourth takes a way of its own */
__attribute__((noinline)) double scaled(const double *a, long n, double x)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        if ((i & 3) == 0)
            __asm__ volatile("" : "+x"(s));
        else
            __asm__ volatile("nop" : "+x"(s));
        s += x * a[i];
    }
    return s;
}
static void *work(void *unused)
{
    double s = 0;
    for (int i = 0; i < 30000; i++)
        s += scaled(data, 1000, s);
    printf("%a\n", s);
    return unused;
}
int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    for (int i = 0; i < 1000; i++)
        data[i] = i * 1e-9;
    if (strcmp(mode, "threads") == 0) {
        pthread_t t[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&t[i], NULL, work, NULL);
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
    } else if (strcmp(mode, "forked") == 0) {
        for (int i = 0; i < 2; i++)
            if (fork() == 0) {
                work(NULL);
                fflush(stdout);
                _exit(0);
            }
        while (wait(NULL) > 0)
            ;
    } else
        work(NULL);
    fflush(stdout);
    if (strcmp(mode, "killed") == 0)
        raise(SIGKILL);
    return 0;
}
END
    gcc -O1 -g -pthread -o sums sums.c
    cat >endless.c <<'END'
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
static void stop(int number)
{
    kill(getpid(), number == SIGVTALRM ? SIGKILL : 0);
}
__attribute__((noinline)) unsigned endless(unsigned n)
{
    while (n)
        __asm__ volatile("nop" : "+r"(n));
    return n;
}
int main(void)
{
    const struct itimerval once = {{0, 0}, {1, 0}}; /* of its own time */
    signal(SIGVTALRM, stop);
    setitimer(ITIMER_VIRTUAL, &once, NULL);
    return (int)endless(1);
}
END
    gcc -O1 -g -o endless endless.c
}

setup() {
    load common.bash
}
teardown() { end_group; }

contains() { case "$1" in *"$2"*) ;; *) fails "no '$2' in:" "$1" ;; esac; }

# The function `scaled`: KEY
value() { python3 -c "
import json
it = [x for x in json.load(open('count.json'))['counted'] if x['kind'] == 'function' and x['name'] == 'scaled']
print(int(it[0]['$1']))"; }

count() {
    rm -rf x.assay
    "$ASSAY" count --functions '^(scaled|endless)$' --format json -o x.assay -- "$@" >count.json
}

@test "counts are exact" {
    count ./sums
    equal 30000 "$(value executed_start_n)"
    equal 60000000 "$(value executed_flop_n)"
    equal 60000000 "$(value executed_flop_f64_n)"
    # the return is loaded too
    equal 240240000 "$(value executed_load_b)"
    equal 0 "$(value executed_store_b)"
    equal 0 "$(value executed_unsure_n)"
}

@test "counts of threads, of children and of a killed program are summed" {
    count ./sums threads
    equal 180000000 "$(value executed_flop_n)"
    count ./sums forked
    equal 120000000 "$(value executed_flop_n)"
    count ./sums killed || equal 137 $?
    equal 60000000 "$(value executed_flop_n)"
}

# Nothing can be preloaded into it.
@test "a statically linked program is counted as others are" {
    for how in -static -static-pie; do
        gcc -O1 -g -pthread "$how" -o fixed sums.c 2>/dev/null || skip "no static libraries"
        count ./fixed threads
        equal 180000000 "$(value executed_flop_n)"
        count sh -c "./fixed forked; :"
        equal 120000000 "$(value executed_flop_n)"
        count ./fixed killed || equal 137 $?
        equal 30000 "$(value executed_start_n)"
    done
}

@test "a statically linked program where ptrace is refused: said in a sentence, and nothing of it ran" {
    "$DENY" EPERM ptrace true || skip "system calls cannot be filtered here"
    gcc -O1 -g -pthread -static -o fixed sums.c 2>/dev/null || skip "no static libraries"
    rm -rf x.assay
    run "$DENY" EPERM ptrace "$ASSAY" count -o x.assay --functions '^scaled$' -- ./fixed
    [ "$status" -ne 0 ] || fails "$output"
    contains "$output" "assay: ptrace: refused, but statically linked programs need it: Operation not permitted; permit it"
    contains "$output" "or link the program dynamically"
    [ ! -e x.assay ] || fails "an experiment of nothing was made"
}

@test "what was counted in a loop that never ended is said to be missing" {
    count ./endless || equal 137 $?
    contains "$("$ASSAY" query --format csv x.assay "SELECT name FROM flag")" counts_cut
    COLUMNS=80 run "$ASSAY" count --functions '^endless$' -o y.assay -- ./endless
    contains "$output" '(min)'
    contains "$output" 'its last entry is not'
}

@test "the hottest functions are counted without being named" {
    rm -rf x.assay
    "$ASSAY" count --top 1 --rate high --format json -o x.assay -- ./sums >count.json
    equal 60000000 "$(value executed_flop_n)"
}

@test "a loop alone, and its text in 80 columns" {
    rm -rf x.assay
    COLUMNS=80 "$ASSAY" count --loops '^scaled$' -o x.assay -- ./sums >out
    output=$(cat out)
    contains "$output" "30.00M"
    contains "$output" "60.00M"
    contains "$output" "0.250"
    contains "$output" "0.0 % of the time of the chosen code could not be counted."
    python3 -c "
import sys
long = [x for x in sys.stdin.buffer.read().decode().splitlines() if len(x) > 80]
assert not long, long" <out
}

@test "CSV has a column for each count" {
    rm -rf x.assay
    "$ASSAY" count --functions '^(scaled|endless)$' --format csv -o x.assay -- ./sums >count.csv
    contains "$(head -1 count.csv)" "executed_flop_packed_n"
    equal "$(head -1 count.csv | tr ',' '\n' | wc -l)" "$(sed -n 2p count.csv | tr ',' '\n' | wc -l)"
    contains "$(sed -n 2p count.csv)" "60000000"
}

@test "the experiment has the counts, of blocks too, marked exact" {
    count ./sums
    equal 60000000 "$("$ASSAY" query --format csv x.assay \
        "SELECT CAST(executed_flop_n AS INTEGER) FROM v_set_function_counts" | tail -1)"
    equal exact "$("$ASSAY" query --format csv x.assay \
        "SELECT DISTINCT origin FROM v_values WHERE metric = 'executed_flop_n'" | tail -1)"
    # each fourth of 30000000 iterations goes one way, the others another one
    contains "$("$ASSAY" query --format csv x.assay "SELECT executed_n FROM block_count ORDER BY 1")" "7500000"
    contains "$("$ASSAY" query --format csv x.assay "SELECT executed_n FROM block_count ORDER BY 1")" "22500000"
}

@test "what nothing matches, and what is no expression, is said" {
    rm -rf x.assay
    run "$ASSAY" count --functions '^nobody$' -o x.assay -- ./sums
    equal 2 "$status"
    contains "$output" "--functions: no function matches '^nobody\$'; those with the most time are scaled"
    rm -rf x.assay
    run "$ASSAY" count --rate high --loops '^main$' --functions '^scaled$' -o x.assay -- ./sums threads
    equal 0 "$status"
    rm -rf x.assay
    run "$ASSAY" count --rate high --loops 'scalde' --functions '^scaled$' -o x.assay -- ./sums
    equal 2 "$status"
    contains "$output" "--loops: no loop, and no function with loops, matches 'scalde'; those with the most time are 0x"
    contains "$output" " (scaled)"
    rm -rf x.assay
    run "$ASSAY" count --functions '(' -o x.assay -- ./sums
    equal 2 "$status"
    contains "$output" "is not a regular expression"
    run "$ASSAY" run --count --pid 1
    equal 2 "$status"
    contains "$output" "--count, --vprof and --trace run the command again"
}

@test "Ctrl-C while it counts: counts of half a run are none" {
    cat >twice.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static volatile double sum;
__attribute__((noinline)) void add(long n)
{
    for (long i = 0; i < n; i++)
        sum += (double)i;
}
int main(void)
{
    const int is_second = access("first", F_OK) == 0;
    close(open("first", O_CREAT | O_WRONLY, 0600));
    do
        add(50000000);
    while (is_second);
    return 0;
}
END
    gcc -O1 -g -o twice twice.c
    rm -rf x.assay first
    setsid env --default-signal=INT "$ASSAY" count --functions '^add$' -o x.assay -- ./twice >out 2>err &
    pid=$! group=$!
    until_so test -e x.assay/run-002
    until_so has_run 30 -g "$pid" twice
    kill -INT -- "-$pid"
    status=0
    wait "$pid" || status=$?
    group=
    equal 130 "$status"
    equal "interrupted before all was counted" "$(tail -n 1 out)"
    equal 0 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM block_count" | tail -1)"
}

@test "assay run has both as passes, in one experiment" {
    rm -rf x.assay
    ASSAY_NO_MEASURE=1 "$ASSAY" run --quiet --count --vprof --rate high -o x.assay -- ./sums >/dev/null
    equal 60000000 "$("$ASSAY" query --format csv x.assay "SELECT CAST(executed_flop_n AS INTEGER) \
        FROM v_set_function_counts c JOIN function f USING (function_id) WHERE f.name = 'scaled'" | tail -1)"
    equal 30000 "$("$ASSAY" query --format csv x.assay \
        "SELECT CAST(round(sum(instance_n), -4) AS INTEGER) FROM v_set_instances i JOIN loop l USING (loop_id) \
         JOIN function f USING (function_id) WHERE f.name = 'scaled' AND i.bucket IS NULL" | tail -1)"
    equal 1 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM run WHERE kind = 'profile'" | tail -1)"
    # both kinds of facts meet: two flops and 8 bytes an iteration, of 1000 an instance
    equal "30000|30000000|1" "$("$ASSAY" query --format csv x.assay "SELECT
        CAST(max(iif(metric = 'loop_instance_n', value, 0)) AS INT) || '|' ||
        CAST(round(max(iif(metric = 'loop_iteration_n', value, 0)), -6) AS INT) || '|' ||
        CAST(max(iif(metric = 'loop_fits', value, 0)) AS INT) FROM v_values v JOIN v_loops l
        ON l.loop_id = v.object_id AND l.run_id = v.run_id WHERE v.object_kind = 'loop' AND l.function = 'scaled'
        AND v.context_id = 0" | tail -1)"
    equal "8000" "$("$ASSAY" query --format csv x.assay "SELECT CAST(value AS INT) FROM v_values v
        JOIN v_loops l ON l.loop_id = v.object_id AND l.run_id = v.run_id
        WHERE metric = 'loop_touched_b' AND l.function = 'scaled'" | tail -1)"
    equal "exact" "$("$ASSAY" query --format csv x.assay "SELECT origin FROM v_values
        WHERE metric = 'loop_instance_n' LIMIT 1" | tail -1)"
    # bytes by cycles of instances, flops by samples: both are known, and no more than a core can
    equal "2" "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM v_values v
        JOIN v_loops l ON l.loop_id = v.object_id AND l.run_id = v.run_id WHERE l.function = 'scaled'
        AND (metric = 'loop_bytes_per_cycle' AND value BETWEEN 0.01 AND 64
        OR metric = 'loop_gflops' AND value BETWEEN 0.001 AND 100 AND low < value AND value < high)" | tail -1)"
    # what was missed and what it cost is a fact of the run
    equal "counting_refused_pct counting_slowdown_x counting_threads_missed_n timing_empty_cycles timing_every_n \
timing_overhead_pct timing_refused_pct timing_threads_missed_n" "$("$ASSAY" query --format csv x.assay "SELECT group_concat(name, ' ')
        FROM (SELECT name FROM value v JOIN metric USING (metric_id) WHERE object_kind = 'run' AND topic = 'trust'
        AND (name LIKE 'timing%' OR name LIKE 'counting%') ORDER BY name)" | tail -1)"
    "$ASSAY" report x.assay --format csv -o csv
    for name in loop_instance_n loop_iteration_n iteration_cycles instance_stability loop_gflops loop_bytes_per_cycle; do
        contains "$(head -1 csv/loops.csv)" "$name"
    done
}

# One loop in the hot function is refused, the function with it; its other loop is counted.
@test "what could not be counted is told by reason" {
    cat >refused.c <<'END'
__attribute__((noinline)) static long turns(long n)
{
    long a = 0, b = n;
    __asm__ volatile("1: add $3, %0\n jns 2f\n xbegin 2f\n2: lea 1(%0), %0\n sub $1, %1\n jnz 1b"
                     : "+r"(a), "+r"(b) : : "rax");
    for (b = 0; b < n; b++)
        __asm__ volatile("lea 7(%0,%0), %0\n xor $5, %0" : "+r"(a));
    return a;
}
int main(void)
{
    long s = 0;
    for (int i = 0; i < 200000; i++)
        s += turns(1000);
    return s == 1;
}
END
    gcc -O2 -g -o refused refused.c
    rm -rf x.assay
    run "$ASSAY" count --functions '^turns' --rate high -o x.assay -- ./refused
    equal 0 "$status"
    like "*not counted: a branch without a long form*" "$output"
    like "* % of the time of the chosen code could not be counted.*  [1-9][0-9].[0-9] %  a branch without a long form*" "$output"
    [ "$(grep -c "%  a branch without" <<<"$output")" = 1 ] || fails "a reason is told twice"
    rm -rf x.assay
    run "$ASSAY" count --loops '^turns' --rate high -o x.assay -- ./refused
    equal 0 "$status"
    like "*  [1-9][0-9].[0-9] %  a branch without a long form*" "$output"
}
