# SPDX-License-Identifier: Apache-2.0
# assay vprof as a user meets it: entries and iterations of loops are known by construction, and what
# the programs print is what they print alone. No time is asserted.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >loops.c <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
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
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
void *work(void *unused)
{
    memset(b, 1, sizeof b);
    double s = 0, second = 0, last = 0;
    for (int i = 0; i < parts; i++) {
        second = i == 1 ? now() : second;
        last = now();
        s += mixed();
    }
    printf("%a\n", s);
    if (getenv("PARTS")) { /* from the second part to the last one, in seconds */
        FILE *f = fopen(getenv("PARTS"), "w");
        fprintf(f, "%.9f\n", last - second);
        fclose(f);
    }
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
/* In each of so many instances the thread sleeps or reads from a disk; in others it does not. */
static void *far;
__attribute__((noinline)) double leaving(long n, int sleeps, const volatile char *page)
{
    const struct timespec nap = {0, 200000};
    double s = 0;
    for (long i = 0; i < n; i++) {
        s = s * 0.999 + b[i & 4095];
        if (i == n / 2 && sleeps)
            nanosleep(&nap, NULL);
        if (i == n / 2 && page)
            s += *page;
    }
    return s;
}
/* A nap that is over before it begins, on a busy host, is no switch; a page may be there already. */
static int slept_n, faulted_n;
static double watched(int sleeps, const volatile char *page)
{
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    const double s = leaving(12000, sleeps, page);
    getrusage(RUSAGE_THREAD, &after);
    slept_n += sleeps && after.ru_nvcsw > before.ru_nvcsw;
    /* One that waits for the disk: where it does not, nobody sees it. */
    faulted_n += page && after.ru_majflt > before.ru_majflt && after.ru_nvcsw > before.ru_nvcsw;
    return s;
}
static void away(int asleep, int pages)
{
    double s = 0;
    struct rusage before, after;
    const int fd = open("far.bin", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (pages && ftruncate(fd, pages * 1048576l) == 0) {
        far = mmap(NULL, pages * 1048576l, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        memset(far, 1, pages * 1048576l);
        fsync(fd);
        munmap(far, pages * 1048576l);
        posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
        posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
        far = mmap(NULL, pages * 1048576l, PROT_READ, MAP_SHARED, fd, 0);
        madvise(far, pages * 1048576l, MADV_RANDOM);
    }
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < 6000; i++) {
        const int k = i % 100 == 50 ? i / 100 : 1000;
        s += watched(k < asleep, far && k < pages ? (char *)far + k * 1048576l : NULL);
    }
    getrusage(RUSAGE_THREAD, &after);
    printf("%a\n", s);
    FILE *f = fopen("away.txt", "w");
    fprintf(f, "%ld %ld %d %d\n",
            after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw,
            after.ru_majflt - before.ru_majflt, slept_n, faulted_n);
    fclose(f);
}
/* 78000 entries of 100 iterations by one way, 26000 by another, 26000 of 1000 by a third. */
static volatile double called_sum;
__attribute__((noinline)) static void few(double s) { called_sum += chain(100, s); }
__attribute__((noinline)) static void few_too(double s) { called_sum -= chain(100, s); }
__attribute__((noinline)) static void many(double s) { called_sum += chain(1000, s); }
__attribute__((noinline)) static void called(double s)
{
    for (int i = 0; i < 130000; i++)
        if (i % 5 == 4)
            many(s);
        else if (i % 4 == 3)
            few_too(s);
        else
            few(s);
    printf("%a\n", called_sum);
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
    else if (strcmp(mode, "called") == 0)
        called(parts);
    else if (strcmp(mode, "asleep") == 0)
        away(parts, 0);
    else if (strcmp(mode, "faulting") == 0)
        away(0, parts);
    else if (strcmp(mode, "again") == 0)
        execv(argv[0], (char *[]){argv[0], "plain", argv[2], NULL});
    else
        work(NULL);
    return 0;
}
END
    sed -i '1i #define _GNU_SOURCE' loops.c
    gcc -O2 -g -pthread -fno-unroll-loops -o loops loops.c
    gcc -O2 -g -pthread -fno-unroll-loops -fPIC -shared -Wl,--build-id -o library.so loops.c
}

setup() {
    load common.bash
}
teardown() { end_group; }

# vprof ARGUMENTS...: into vprof.json, every instance
vprof() {
    rm -rf x.assay
    "$ASSAY" vprof --loops chain --every 1 --rate high --format json -o x.assay -- "$@" >vprof.json
}

# The loop of chain: KEY
value() { json "['loops'][0]['$1']" <vprof.json; }

# The output of the program in all runs equals the output alone, in any order of threads.
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
    # 300,000 entries are more than the records kept: counts of buckets are those of the program all
    # the same, in text and in data. A host that is slow for a time splits a bucket.
    python3 - <<'END'
import collections, json
buckets = collections.Counter()
for bucket in json.load(open("vprof.json"))["loops"][0]["buckets"]:
    bounds = bucket["iterations_from"], bucket["iterations_below"]
    assert bucket["iterations_mean"] == {64: 100, 512: 1000}[bounds[0]], bucket
    buckets[bounds] += bucket["instances"]
assert {bounds: round(n, 3) for bounds, n in buckets.items()} == {(64, 128): 200000, (512, 1024): 100000}, buckets
END
    equal 300000 "$("$ASSAY" query x.assay "SELECT CAST(round(sum(instance_n)) AS INTEGER) FROM v_set_instances
        WHERE context_id <> 0" --format csv | tail -n 1)"
}

# Shares of at least 61 instances drawn by chance. Two of them off by 6.5 standard deviations have a
# probability of less than 1e-7. (Chernoff: out of 61 with a share of 3/4, less than 24 are
# classified with 2e-8.)
@test "as many iterations with data in two places are two buckets" {
    cat >places.c <<'END'
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) double total(const double *x, long n)
{
    double s = 0, t = 0, u = 0, v = 0;
    for (long i = 0; i < n; i += 4)
        s += x[i], t += x[i + 1], u += x[i + 2], v += x[i + 3];
    return s + t + u + v;
}
int main(void)
{
    const long n = 1024, all = 16l << 20; /* 128 MiB */
    double *x = calloc((size_t)all, 8), sum = 0;
    for (long i = 0; i < all; i += 8)
        x[i] = (double)(i & 3);
    for (long r = 0, at = n; r < 200000; r++) {
        x[3] = sum * 1e-9;
        sum += total(x, n); /* in the first cache */
        if (r % 4)
            continue;
        at = (at + 7919 * 512) % (all - n); /* in memory, and no prefetcher was there */
        sum += total(x + at, n);
    }
    printf("%g\n", sum);
}
END
    gcc -O2 -g -o places places.c
    rm -rf x.assay
    "$ASSAY" vprof --every 1 --max-overhead 90 --loops total --format json -o x.assay -- ./places \
        >said.json 2>/dev/null
    python3 - <<'END'
import json
loop, = [one for one in json.load(open("said.json"))["loops"] if one["timed"]]
buckets = loop["buckets"] # two; more where others slow this one down in part of the time
assert loop["instances"] == 250000 and len(buckets) >= 2, (loop["instances"], buckets)
assert all(b["split"] and b["iterations_from"] == 256 for b in buckets), buckets
near = [sum(b["instances"] for b in buckets[:n]) for n in range(1, len(buckets))]
assert any(abs(n - 200000) < 0.1 * 200000 for n in near), near
for cheap, dear in zip(buckets, buckets[1:]):
    assert dear["iteration_cycles"] > cheap["iteration_cycles"], buckets
    assert dear["cycles_from"] >= cheap["cycles_to"], buckets
assert 0.1 < buckets[0]["iteration_ns"] / buckets[0]["iteration_cycles"] < 2, buckets
END
    [ 2 -le "$("$ASSAY" query x.assay --format csv "SELECT count(*) FROM v_values v JOIN context c
        USING (context_id) WHERE v.metric = 'iteration_ns' AND c.bucket LIKE '256 to 511 iterations, %'" | tail -1)" ]
}
@test "equal instances are distinguished by their call paths" {
    for every in 1 7; do
        rm -rf x.assay
        "$ASSAY" vprof --loops chain --every $every --rate high --format json -o x.assay -- ./loops called >vprof.json
        python3 - <<'END'
import json
buckets = json.load(open("vprof.json"))["loops"][0]["buckets"]
few, many = buckets[0], buckets[-1] # several of as many iterations have the same paths
def ways(bucket):
    assert bucket["paths_seen"] == sum(path["seen"] for path in bucket["paths"])
    assert abs(sum(path["share"] for path in bucket["paths"]) - 1) < 1e-9
    for path in bucket["paths"]:
        names = [frame.split()[0] for frame in path["frames"]]
        assert names in (["main", "called", caller, "chain"] for caller in ("few", "few_too", "many")), names
        assert all("loops.c:" in frame for frame in path["frames"][:-1]), path["frames"]
    return {path["frames"][-2].split()[0]: path["share"] for path in bucket["paths"]}
assert few["paths_seen"] > 60 and many["paths_seen"] > 5, (few["paths_seen"], many["paths_seen"])
assert set(ways(few)) == {"few", "few_too"} and set(ways(many)) == {"many"}, (ways(few), ways(many))
deviation = (0.75 * 0.25 / few["paths_seen"]) ** 0.5
assert abs(ways(few)["few"] - 0.75) < 6.5 * deviation, (ways(few), deviation)
END
    done
    run "$ASSAY" vprof --loops chain --every 1 --rate high -o y.assay -- ./loops called
    rm -rf y.assay
    like "*  of 64 to 127*by main loops.c:* > called loops.c:* > few loops.c:* > chain*  of 512 to 1023*> many loops.c:*" "$output"
    same_output ./loops called
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

@test "work of a thread in destructors counts" {
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

@test "records of a killed program are kept" {
    vprof ./loops killed 10 || equal 137 $?
    equal 300000 "$(value instances)"
    equal 120000000 "$(value iterations)"
}

@test "a shell and a launcher before the program are left alone" {
    vprof timeout 100 sh -c './loops plain 10; true'
    equal 300000 "$(value instances)"
    same_output ./loops plain 10
}

# away ARGUMENTS...: of the loop of leaving
away() {
    rm -rf x.assay
    "$ASSAY" vprof --loops leaving --every 1 --rate high --format json -o x.assay -- "$@" >vprof.json
}

@test "instances in which the thread slept are left out and counted" {
    away ./loops asleep 40
    equal 6000 "$(value instances)"
    # No more than the kernel counted in all, and all that slept.
    read -r switches _ slept _ <away.txt
    [ "$slept" -ge 20 ] || fails "it slept $slept times of 40"
    [ "$(value switched)" -ge "$slept" ] || fails "$(value switched) of $slept were seen to sleep"
    [ "$(value switched)" -le "$switches" ] || fails "$(value switched) of $switches switches"
    [ "$(value disturbed)" -ge "$slept" ] || fails "$(value disturbed) are left out"
    equal "$(value switched)" "$("$ASSAY" query --format csv x.assay "SELECT CAST(instance_switched_n AS INT)
        FROM v_set_instances WHERE bucket IS NULL" | tail -1)"
}

@test "an instance that is shorter than reading the clock has no cycles, and is counted" {
    cat >brief.c <<'END'
#include <stdio.h>
double a[1000];
__attribute__((noipa)) double brief(int n)
{
    double s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
int main(void)
{
    double s = 0;
    for (long i = 0; i < 4100000; i++)
        s += brief(i % 41 ? 4 : 1000);
    printf("%a\n", s);
    return 0;
}
END
    gcc -O2 -g -fno-unroll-loops -o brief brief.c
    rm -rf x.assay
    "$ASSAY" vprof --loops brief --every 1 --rate high --format json -o x.assay -- ./brief >vprof.json
    # 4,000,000 entries of 4 iterations and 100,000 of 1,000. No loop takes 0 cycles.
    python3 - <<'END'
import collections, json
loop = json.load(open("vprof.json"))["loops"][0]
counts = collections.Counter()
for bucket in loop["buckets"]:
    counts[bucket["iterations_mean"]] += bucket["instances"]
    assert bucket["iteration_cycles"] is None or bucket["iteration_cycles"] > 0, bucket
assert {n: round(k) for n, k in counts.items()} == {4: 4000000, 1000: 100000}, counts
assert loop["all"]["iteration_cycles"] is None or loop["all"]["iteration_cycles"] > 0, loop["all"]
END
    equal 0 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM v_set_instances WHERE iteration_cycles <= 0" |
        tail -1)"
}

@test "the only instance of a loop has CPU time where the thread left the CPU" {
    cat >once.c <<'END'
#include <stdio.h>
#include <time.h>
static double own(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}
__attribute__((noinline)) double once(long n, double s)
{
    const struct timespec nap = {0, 100000000};
    for (long i = 0; i < n; i++) {
        s = s * 0.999 + 1;
        if (i == n / 2)
            nanosleep(&nap, NULL);
    }
    return s;
}
int main(void)
{
    const double begun = own(), s = once(90000000, 1);
    FILE *f = fopen("own.txt", "w");
    fprintf(f, "%.0f\n", own() - begun);
    fclose(f);
    printf("%a\n", s);
    return 0;
}
END
    gcc -O2 -g -fno-unroll-loops -o once once.c
    rm -rf x.assay
    "$ASSAY" vprof --loops once --every 1 --format json -o x.assay -- ./once >vprof.json
    equal 1 "$(value instances)"
    equal 1 "$(value switched)"
    equal true "$(value cpu_time)"
    equal 1 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM flag WHERE name = 'instances_interrupted'" |
        tail -1)"
    # The thread counted its own CPU time.
    python3 - "$(cat own.txt)" <<'END'
import json, sys
loop, own = json.load(open("vprof.json"))["loops"][0], float(sys.argv[1])
ran = loop["all"]["iteration_ns"] * loop["iterations"]
assert 0.8 * own < ran < 1.2 * own, (ran, own)
END
}

@test "instances with a major fault are left out and counted" {
    away ./loops faulting 30
    read -r _ faults _ faulted <away.txt
    [ "$faulted" -ge 10 ] || skip "files are not read from a disk here: $faults major faults"
    equal 6000 "$(value instances)"
    [ "$(value faulted)" -ge "$faulted" ] || fails "$(value faulted) of $faults faults were seen"
    [ "$(value faulted)" -le "$faults" ] || fails "$(value faulted) of $faults faults"
}

@test "a program that executes itself is timed again" {
    vprof ./loops again 10
    equal 300000 "$(value instances)"
    same_output ./loops again 10
}

@test "why a loop was not timed is said: code must not be written" {
    cat >unwritable.c <<'END'
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    if (argc < 2 || prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) < 0)
        return 99;
    return execv(argv[1], argv + 1);
}
END
    gcc -o unwritable unwritable.c
    ./unwritable ./loops plain 1 >/dev/null || skip "no PR_SET_MDWE here"
    rm -rf x.assay
    run "$ASSAY" vprof --loops chain --rate high -o x.assay -- ./unwritable ./loops plain 10
    equal 0 "$status"
    like "*not timed: the kernel does not permit writing code*" "$output"
}

@test "impossible requests are refused before anything runs" {
    rm -rf x.assay
    run "$ASSAY" vprof
    equal 2 "$status"
    equal "assay: vprof: no command given; use 'assay vprof -- ./program' or 'assay vprof --pid N'" "$output"
    run "$ASSAY" vprof --every 0 -o x.assay -- ./loops plain 1
    equal 2 "$status"
    like "*--every: 0 is out of range*" "$output"
    [ ! -e x.assay ] || fails "an experiment of nothing was made"
}

@test "loops that are not hot: those that are get named" {
    rm -rf x.assay
    run "$ASSAY" vprof --loops chian --rate high -o x.assay -- ./loops plain 10
    equal 2 "$status"
    like "*--loops: no hot loop is in 'chian'; those with the most time are 0x*(chain)*" "$output"
}

@test "Ctrl-C: the text says so" {
    rm -rf x.assay
    setsid env --default-signal=INT "$ASSAY" vprof --rate high -o x.assay -- ./loops plain 1000000 >out 2>err &
    pid=$! group=$!
    wait_for_samples x.assay/run-001 -g "$pid" loops
    kill -INT -- "-$pid"
    status=0
    wait "$pid" || status=$?
    group=
    equal 130 "$status"
    equal "interrupted before loops were timed" "$(tail -n 1 out)"
}

@test "sampled instances say about the same" {
    rm -rf x.assay
    "$ASSAY" vprof --loops chain --every 7 --rate high --format json -o x.assay -- ./loops plain 10 >vprof.json
    equal false "$(value exact)"
    equal true "$(value instances_exact)"
    run "$ASSAY" vprof --loops chain --every 7 --rate high -o y.assay -- ./loops plain 10
    like "* % *300000 *" "$output" # a count, not about so many
    rm -rf y.assay
    python3 - <<'END'
import json
said = json.load(open("vprof.json"))
loop = said["loops"][0]
# the reported cost is the sum of the costs measured on this host
assert 0 < said["timed_ns"] and 0 <= said["passed_ns"] and 0 < said["overhead"], said["overhead"]
# entries are counted, iterations are of those drawn by chance: 0.6 % is their deviation
assert round(loop["instances"], 6) == 300000, loop["instances"]
assert abs(loop["iterations"] / 120e6 - 1) < 0.04, loop["iterations"]
END
}

@test "the text says what was timed, facts are in the experiment" {
    rm -rf x.assay
    mkdir tmp # those of other tests are in the one of the system
    COLUMNS=80 TMPDIR=$PWD/tmp PARTS=parts.txt "$ASSAY" vprof --loops chain --every 1 --rate high \
        -o x.assay -- ./loops plain 10 >out
    output=$(cat out)
    equal "" "$(ls tmp)"
    like "*chain loops.c:*" "$output"
    [ "$(wc -L <out)" -le 80 ] || fails "$output"
    local flat
    flat=$(tr -s ' \n' ' ' <<<"$output") # lines end where 80 columns do
    like "*Every instance was timed*ns per timed instance on this host.*" "$flat"
    # A thousand iterations of the chain take 3,600 to 6,000 cycles, by the core and its clock.
    if awk '/ of 512 to 1023/ { exit !($4 * $5 > 5100) }' <<<"$output"; then
        like "*Instances above 5000 cycles, by iterations: * of * groups have a stability*" "$flat"
    elif awk '/ of 512 to 1023/ { exit !($4 * $5 < 4900) }' <<<"$output"; then
        [[ $output != *"Instances above"* ]] || fails "none is so long: $output"
    fi
    like "*300000*" "$("$ASSAY" query x.assay "SELECT instance_n FROM v_set_instances WHERE bucket IS NULL")"
    equal "2|62" "$("$ASSAY" query --format csv x.assay "SELECT count(*) || '|' || (sum(n) / 5) FROM array
        WHERE name = 'instances_chosen'" | tail -1)"
    equal 8192 "$("$ASSAY" query --format csv x.assay "SELECT CASE WHEN n BETWEEN 3700 AND 8192 THEN 8192 ELSE n END
        FROM histogram JOIN metric USING (metric_id) WHERE name = 'iteration_cycles'" | tail -1)"
    equal 4 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM detail WHERE pass = 'vprof'" | tail -1)"
    # the time line: within the run, in order, of both sorts of instances
    "$ASSAY" query --format csv x.assay "SELECT cells FROM detail WHERE name = 'instance_line'" | tail -n +2 >line.csv
    python3 - "$("$ASSAY" query --format csv x.assay "SELECT wall_s FROM v_runs WHERE kind = 'vprof'" | tail -1)" <<'END'
import csv, json, sys
rows = json.loads(next(csv.reader(open("line.csv")))[0])
seconds = [row[0] for row in rows]
assert len(rows) == 400, len(rows)
assert seconds == sorted(seconds) and 0 <= seconds[0] and seconds[-1] <= float(sys.argv[1]), (seconds[0], seconds[-1])
# Of 400 instances, drawn by chance, some are in the first of ten parts and some in the last.
assert seconds[-1] - seconds[0] > 0.95 * float(open("parts.txt").read()), (seconds[0], seconds[-1])
assert {row[2] for row in rows} == {100, 1000}, {row[2] for row in rows}
assert all(row[1] > 0 and row[3] > 0 and row[4] > 0 for row in rows)
END
}

@test "untimed loops are reported by reason" {
    cat >refused.c <<'END'
__attribute__((noinline)) static long turns(long n)
{
    long a = 0;
    __asm__ volatile("1: add $3, %0\n jns 2f\n xbegin 2f\n2: lea 1(%0), %0\n sub $1, %1\n jnz 1b"
                     : "+r"(a), "+r"(n) : : "rax");
    return a;
}
int main(void)
{
    long s = 0;
    for (int i = 0; i < 300000; i++)
        s += turns(1000);
    return s == 1;
}
END
    gcc -O2 -g -o refused refused.c
    rm -rf x.assay
    run "$ASSAY" vprof --top 1 --rate high -o x.assay -- ./refused
    equal 0 "$status"
    like "*not timed: a branch without a long form*" "$output"
    like "*Loops that could not be timed, with their share of the time:*  100.0 %  a branch without*" "$output"
    rm -rf x.assay
    run "$ASSAY" vprof --top 8 --rate high -o x.assay -- ./refused
    equal 0 "$status"
    like "* %  a branch without a long form"* "$output"
}

# Nothing can be preloaded into it.
@test "a statically linked program is timed as others are, its threads and children too" {
    gcc -O2 -static -pthread -o fixed loops.c 2>/dev/null || skip "no static libraries"
    for how in "threads 3:360000" "forked 5:300000"; do
        rm -rf x.assay
        # shellcheck disable=SC2086 # two words
        "$ASSAY" vprof --loops chain --every 1 --rate high --format json -o x.assay -- ./fixed ${how%:*} >vprof.json
        equal "${how#*:}" "$(value instances)"
    done
}

# Its loader takes no library of ours.
@test "a program of another C library is timed as others are" {
    command -v musl-gcc >/dev/null || skip "no musl"
    for how in "plain 10:300000" "threads 3:360000"; do
        musl-gcc -O2 -pthread -o other loops.c
        rm -rf x.assay
        # shellcheck disable=SC2086 # two words
        "$ASSAY" vprof --loops chain --every 1 --rate high --format json -o x.assay -- ./other ${how%:*} >vprof.json
        equal "${how#*:}" "$(value instances)"
    done
}

@test "a program of Go is left alone, and that is said" {
    { cat loops.c && echo 'static const char t[] __attribute__((section(".gopclntab"), used)) = "t";'; } >go.c
    gcc -O2 -pthread -o go go.c
    rm -rf x.assay
    run "$ASSAY" vprof --loops chain --rate high -o x.assay -- ./go plain 5
    equal 0 "$status"
    like "*not timed: a Go program*" "$output"
}

@test "sampled: entries are counted in threads and children, too" {
    for how in "threads 3:360000" "forked 5:300000"; do
        rm -rf x.assay
        # shellcheck disable=SC2086 # two words
        "$ASSAY" vprof --loops chain --every 50 --rate high --format json -o x.assay -- ./loops ${how%:*} >vprof.json
        equal "${how#*:}" "$(python3 -c "print(round($(value instances), 6))" | sed 's/[.]0$//')"
    done
}

# Its only entry is timed, and of those of the loop in it one of a thousand.
@test "sampled: a nest that is entered once is what it is" {
    cat >nest.c <<'END'
#include <stdio.h>
static double x[400];
#define TURN  sum = 1 / (sum + 1.5);
#define TURNS TURN TURN TURN TURN TURN TURN TURN TURN
int main(void)
{
    double sum = 0;
    for (int i = 0; i < 300000; i++) {
        TURNS TURNS TURNS TURNS
        for (int k = 0; k < 400; k++)
            sum = sum * 0.5 + x[k] + i;
    }
    return printf("%g\n", sum) < 0;
}
END
    gcc -O2 -g -o nest nest.c
    rm -rf x.assay
    "$ASSAY" vprof --loops main --every 1000 --rate high --format json -o x.assay -- ./nest >vprof.json
    python3 - <<'END'
import json
loops = json.load(open("vprof.json"))["loops"]
got = [(round(x["instances"], 6), round(x["iterations"], 6)) for x in loops]
assert sorted(got) == [(1, 300000), (300000, 120e6)], got
timed = {round(x["instances"]): x["timed"] for x in loops}
assert timed[1] == 1 and 30 < timed[300000] < 3000, timed
END
}

# Each third entry has 1000 iterations: one instance of three, counted off, would be like no other.
@test "timed instances are drawn at random, not counted off" {
    rm -rf x.assay
    "$ASSAY" vprof --loops chain --every 3 --format json -o x.assay -- ./loops plain 10 >vprof.json
    equal false "$(value exact)"
    equal true "$(value instances_exact)"
    run "$ASSAY" vprof --loops chain --every 7 --rate high -o y.assay -- ./loops plain 10
    like "* % *300000 *" "$output" # a count, not about so many
    rm -rf y.assay
    equal 400 "$(python3 -c "print(round($(value iterations) / $(value instances) / 20) * 20)")"
}
