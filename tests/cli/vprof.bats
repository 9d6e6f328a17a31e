# SPDX-License-Identifier: Apache-2.0
# assay vprof as a user meets it: entries and iterations of loops are known by construction, and what
# the programs print is what they print alone. No time is asserted.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >loops.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static __thread double a[4096], b[4096];
int parts = 1;
__attribute__((noinline)) double chain(long n, double x)
{
    double s = x;
    for (long i = 0; i < n; i++)
        s = s * 0.999 + b[i & 4095];
    a[n & 4095] += s;
    return s;
}
/* 10000 entries of 1000 and 20000 of 100: 12000000 iterations */
static double mixed(void)
{
    double s = 0;
    for (int i = 0; i < 30000; i++)
        s += chain(i % 3 ? 100 : 1000, s);
    return s;
}
void *work(void *unused)
{
    memset(b, 1, sizeof b);
    double s = 0;
    for (int i = 0; i < parts; i++)
        s += mixed();
    printf("%a\n", s);
    return unused;
}
static void threads(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
}
static void forked(void)
{
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            work(NULL);
            fflush(stdout);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
}
static sigjmp_buf out;
static volatile double nested;
static void on_signal(int number)
{
    nested += chain(100, number);
    if (number == SIGUSR2)
        siglongjmp(out, 1);
}
/* A handler re-enters the loop between its instances; one leaves by a jump. */
static void handled(void)
{
    signal(SIGUSR1, on_signal);
    signal(SIGUSR2, on_signal);
    work(NULL);
    for (int i = 0; i < 100; i++)
        raise(SIGUSR1);
    for (volatile int i = 0; i < 100; i++)
        if (sigsetjmp(out, 1) == 0)
            raise(SIGUSR2);
    printf("%a\n", nested);
}
static pthread_key_t key;
static void on_end(void *value)
{
    (void)value;
    work(NULL);
}
static void *last(void *value)
{
    pthread_setspecific(key, value);
    return value;
}
/* All that a thread does it does in a destructor of a key that is younger than the agent's. */
static void destroyed(void)
{
    pthread_t t;
    pthread_key_create(&key, on_end);
    pthread_create(&t, NULL, last, &key);
    pthread_join(t, NULL);
}
/* The loop comes with a library, twice. */
static void loaded(void)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen("./library.so", RTLD_NOW);
        void *(*work_there)(void *) = (void *(*)(void *))dlsym(library, "work");
        int *parts_there = dlsym(library, "parts");
        *parts_there = parts;
        work_there(NULL);
        dlclose(library);
    }
}
static void killed(void)
{
    work(NULL);
    fflush(stdout);
    raise(SIGKILL);
}
int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2)
        sscanf(argv[2], "%d", &parts);
    if (strcmp(mode, "threads") == 0)
        threads();
    else if (strcmp(mode, "forked") == 0)
        forked();
    else if (strcmp(mode, "handled") == 0)
        handled();
    else if (strcmp(mode, "destroyed") == 0)
        destroyed();
    else if (strcmp(mode, "loaded") == 0)
        loaded();
    else if (strcmp(mode, "killed") == 0)
        killed();
    else
        work(NULL);
    return 0;
}
END
    gcc -O2 -g -pthread -fno-unroll-loops -o loops loops.c
    gcc -O2 -g -pthread -fno-unroll-loops -fPIC -shared -Wl,--build-id -o library.so loops.c
}

setup() {
    load common.bash
}

# vprof ARGUMENTS...: into vprof.json, every instance
vprof() {
    rm -rf x.assay
    "$ASSAY" vprof --loops chain --every 1 --rate high --format json -o x.assay -- "$@" >vprof.json
}

# The loop of chain: KEY
value() { json "['loops'][0]['$1']" <vprof.json; }

# What the program prints in all runs is what it prints alone, in any order of threads.
same_output() {
    "$@" | sort >alone.out
    n=0
    for file in x.assay/run-*/output*; do
        sort "$file" | cmp - alone.out || fails "$file is not what the program prints"
        n=$((n + 1))
    done
    [ "$n" -ge 2 ] || fails "$n outputs were kept"
}

@test "entries and iterations are counted exactly" {
    vprof ./loops plain 10
    equal true "$(value exact)"
    equal 300000 "$(value instances)"
    equal 120000000 "$(value iterations)"
    equal 0 "$(value cut)"
    same_output ./loops plain 10
}

@test "buckets hold what has like numbers of iterations" {
    vprof ./loops plain 10
    equal "[64.0, 128.0, 100.0]" "$(json "['loops'][0]['buckets'][0]" <vprof.json | python3 -c \
        'import json,sys; b=json.load(sys.stdin); print([float(b[k]) for k in ("iterations_from","iterations_below","iterations_mean")])')"
    equal "[512.0, 1024.0, 1000.0]" "$(json "['loops'][0]['buckets'][1]" <vprof.json | python3 -c \
        'import json,sys; b=json.load(sys.stdin); print([float(b[k]) for k in ("iterations_from","iterations_below","iterations_mean")])')"
    equal 2 "$(python3 -c 'import json; print(len(json.load(open("vprof.json"))["loops"][0]["buckets"]))')"
}

@test "each thread counts, also those that have ended" {
    vprof ./loops threads 3
    equal 360000 "$(value instances)"
    equal 144000000 "$(value iterations)"
    equal 4 "$(value threads)"
    same_output ./loops threads 3
}

@test "children of a fork count, and end by _exit" {
    vprof ./loops forked 5
    equal 300000 "$(value instances)"
    equal 120000000 "$(value iterations)"
    same_output ./loops forked 5
}

@test "handlers may enter the loop, and leave it by a jump" {
    vprof ./loops handled 10
    equal 300200 "$(value instances)"
    same_output ./loops handled 10
}

@test "what a thread does in destructors counts" {
    vprof ./loops destroyed 10
    equal 300000 "$(value instances)"
    equal 120000000 "$(value iterations)"
    same_output ./loops destroyed 10
}

@test "a library that comes, goes and comes again is timed" {
    vprof ./loops loaded 5
    equal 300000 "$(value instances)"
    equal 120000000 "$(value iterations)"
    same_output ./loops loaded 5
}

@test "ranks of MPI are timed, each in its process" {
    command -v mpirun >/dev/null || skip "no MPI here"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    mpirun --oversubscribe -n 2 ./loops plain 1 >/dev/null 2>&1 || skip "mpirun starts nothing here"
    vprof mpirun --oversubscribe -n 2 ./loops plain 5
    equal 300000 "$(value instances)"
    equal 120000000 "$(value iterations)"
    equal 2 "$(value threads)"
}

@test "what a killed program did is known" {
    vprof ./loops killed 10 || equal 137 $?
    equal 300000 "$(value instances)"
    equal 120000000 "$(value iterations)"
}

@test "a shell and a launcher before the program are left alone" {
    vprof timeout 100 sh -c './loops plain 10; true'
    equal 300000 "$(value instances)"
    same_output ./loops plain 10
}

@test "sampled instances say about the same" {
    rm -rf x.assay
    "$ASSAY" vprof --loops chain --every 7 --rate high --format json -o x.assay -- ./loops plain 10 >vprof.json
    equal false "$(value exact)"
    python3 - <<'END'
import json
loop = json.load(open("vprof.json"))["loops"][0]
# drawn by chance: 0.3 % and 0.6 % are their deviations
assert abs(loop["instances"] / 300000 - 1) < 0.02, loop["instances"]
assert abs(loop["iterations"] / 120e6 - 1) < 0.04, loop["iterations"]
END
}

@test "the text says what was timed, facts are in the experiment" {
    rm -rf x.assay
    run "$ASSAY" vprof --loops chain --every 1 --rate high -o x.assay -- ./loops plain 10
    equal 0 "$status"
    like "*chain loops.c:*" "$output"
    like "*Every instance was timed*" "$output"
    like "*300000*" "$("$ASSAY" query x.assay "SELECT instance_n FROM v_set_instances WHERE bucket IS NULL")"
    equal "2|62" "$("$ASSAY" query --format csv x.assay "SELECT count(*) || '|' || (sum(n) / 5) FROM array
        WHERE name = 'instances_chosen'" | tail -1)"
    equal 8192 "$("$ASSAY" query --format csv x.assay "SELECT CASE WHEN n BETWEEN 3700 AND 8192 THEN 8192 ELSE n END
        FROM histogram JOIN metric USING (metric_id) WHERE name = 'iteration_cycles'" | tail -1)"
    equal 2 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM detail WHERE pass = 'vprof'" | tail -1)"
    equal "" "$(ls -d "${TMPDIR:-/tmp}"/assay-agent-* 2>/dev/null | xargs -r -n1 sh -c '[ "$0" -ot x.assay ] || echo "$0"')"
}

@test "a statically linked program is refused in a sentence" {
    gcc -O2 -static -pthread -o static loops.c 2>/dev/null || skip "no static libraries"
    rm -rf x.assay
    run "$ASSAY" vprof -o x.assay -- ./static plain 1
    equal 2 "$status"
    like "*statically linked*cannot be timed from inside; link it dynamically" "$output"
    [ ! -e x.assay ] || fails "an experiment of nothing was made"
}

# Each third entry has 1000 iterations: one instance of three, counted off, would be like no other.
@test "what is timed is drawn by chance, not counted off" {
    rm -rf x.assay
    "$ASSAY" vprof --loops chain --every 3 --format json -o x.assay -- ./loops plain 10 >vprof.json
    equal false "$(value exact)"
    equal 400 "$(python3 -c "print(round($(value iterations) / $(value instances) / 20) * 20)")"
}
