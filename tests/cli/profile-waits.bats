# SPDX-License-Identifier: Apache-2.0
# Waits of threads, in programs that wait for known times at known places. Skipped if the kernel
# shows switches between threads to some users only.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    # f sleeps for half a second; g reads for a quarter; h is woken by another thread after 0.3 s. On
    # busy machines it takes longer: it tells how long, and how much of that it was ready to run.
    cat >waits.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double queued(void)
{
    unsigned long long ran = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file && fscanf(file, "%llu %llu", &ran, &waited) != 2)
        waited = 0;
    if (file)
        fclose(file);
    return 1e-9 * (double)waited;
}
static void tell(const char *name, double since, double queued_before)
{
    const double took = now() - since;
    printf("%s %.6f %.6f\n", name, took, queued() - queued_before);
}
static void rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}
__attribute__((noinline)) void f(void)
{
    for (int i = 0; i < 10; i++)
        rest(50);
    __asm__ volatile("");
}
__attribute__((noinline)) void g(int fd)
{
    char c;
    for (int i = 0; i < 5; i++)
        if (read(fd, &c, 1) != 1)
            abort();
    __asm__ volatile("");
}
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
static int ready;
static void *wake(void *unused)
{
    rest(300);
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&woken);
    pthread_mutex_unlock(&mutex);
    return unused;
}
__attribute__((noinline)) void h(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, wake, NULL);
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&woken, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}
int main(void)
{
    int ends[2], go[2];
    char c = 0;
    if (pipe(ends) || pipe(go))
        return 1;
    if (fork() == 0) {
        if (read(go[0], &c, 1) != 1)
            return 1;
        for (int i = 0; i < 5; i++) {
            rest(50);
            if (write(ends[1], &c, 1) != 1)
                return 1;
        }
        return 0;
    }
    double ready_for = queued(), t = now();
    f();
    tell("f", t, ready_for);
    if (write(go[1], &c, 1) != 1)
        return 1;
    ready_for = queued(), t = now();
    g(ends[0]);
    tell("g", t, ready_for);
    ready_for = queued(), t = now();
    h();
    tell("h", t, ready_for);
    return 0;
}
END
    gcc -O1 -g -fno-omit-frame-pointer -o waits waits.c -pthread
    "$ASSAY" profile -q -o probe.assay -- sleep 0.1 || touch refused
    [ -e refused ] || "$ASSAY" query --format csv probe.assay \
        "SELECT count(*) FROM v_functions WHERE blocked_time_s > 0.05" | grep -qv "^[c0]" || touch refused
}
setup() {
    load common.bash
    [ ! -e refused ] || skip "where threads wait cannot be seen here"
    rm -rf x.assay
    busy=()
}
teardown() { no_longer_busy; }
no_longer_busy() {
    [ ${#busy[@]} -eq 0 ] || kill "${busy[@]}" 2>/dev/null || true
    busy=()
}

query() { "$ASSAY" query --format csv x.assay "$(echo "$1" | tr '\n' ' ')" | tail -n +2; }
# waits FUNCTION SECONDS: with its callees, as long as the program reports, within 10 %, and at
# least SECONDS. The time ready without a CPU is known for the thread as a whole. Its waits share
# that time, so any part of it may be missing in one of them.
waits() {
    got=$(query "SELECT blocked_inclusive_time_s FROM v_functions WHERE name = '$1'")
    said=$(awk "/^$1 / { print \$2 }" told)
    ready=$(awk '{ sum += $3 } END { print sum }' told)
    stolen=$(query "SELECT ifnull(steal_time_s, 0) FROM v_runs") # while it ran: in its own account alone
    awk "BEGIN { exit !($got > 0.9 * ($said - $ready) - $stolen && $got < 1.1 * $said && $said >= $2) }" ||
        fails "$1 waits $got s, not $said less $ready (at least $2; stolen: $stolen)"
}

# more NUMBER SQL: what SQL gives is more, but for the time for which the thread was only ready
more() {
    got=$(query "$2")
    awk "{ ready += \$3 } END { exit !(${got:-0} > $1 - ready) }" told || fails "$got is not more than $1: $2"
}

@test "waits: the places and their times" {
    "$ASSAY" profile -q -o x.assay -- ./waits >told
    waits f 0.5
    waits g 0.25
    waits h 0.3
    # The same along the paths.
    within=$(awk '{ sum += $3 } END { print 0.05 + sum }' told)
    equal 1 "$(query "SELECT abs(sum(blocked_time_s) - $(awk '/^f / { print $2 }' told)) < $within FROM v_callpaths WHERE path LIKE '%;main;f;%'")"
    more 0.25 "SELECT blocked_time_s FROM v_categories WHERE name = 'pthread'"
    more 0.25 "SELECT blocked_time_s FROM v_categories WHERE name = 'io'"
}
@test "waits: beside others, also before it begins" {
    command -v taskset >/dev/null || skip "no taskset here"
    processor=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
    for _ in 1 2 3 4 5 6; do
        taskset -c "$processor" timeout 1200 sh -c 'while :; do :; done' 3>&- &
        busy+=($!)
    done
    taskset -c "$processor" "$ASSAY" profile -q -o x.assay -- ./waits >told
    no_longer_busy
    # Time ready without a CPU does not count as waiting, and is not counted twice. The program was
    # ready long before it began, and so was the thread that it starts.
    said=$(awk '{ sum += $2 - $3 } END { print sum }' told)
    got=$(query "SELECT sum(blocked_inclusive_time_s) FROM v_functions WHERE name IN ('f', 'g', 'h')")
    # Only its own account includes time that a hypervisor stole while it ran.
    stolen=$(query "SELECT ifnull(steal_time_s, 0) FROM v_runs")
    awk "BEGIN { exit !($got > 0.98 * $said - $stolen && $got < 1.02 * $said) }" ||
        fails "$got s, not $said (stolen: $stolen)"
    said=$(awk '{ sum += $3 } END { print sum }' told)
    equal 1 "$(query "SELECT max(runnable_time_s) >= 0.98 * $said FROM v_threads")"
}
@test "waits: by frame pointers, and without call stacks" {
    "$ASSAY" profile -q --call-stacks fp -o x.assay -- ./waits >told
    more 1 "SELECT sum(blocked_time_s) FROM v_functions WHERE name LIKE '%nanosleep'"
    # The C library keeps no frame pointers: not every chain gets through it.
    more 0.2 "SELECT blocked_inclusive_time_s FROM v_functions WHERE name = 'main'"
    rm -rf x.assay
    "$ASSAY" profile -q --call-stacks off -o x.assay -- ./waits >told
    more 1 "SELECT sum(blocked_time_s) FROM v_functions WHERE name LIKE '%nanosleep'"
}
@test "waits: where tracepoints cannot be named" {
    # shellcheck disable=SC2016
    hidden='umount -l /sys/kernel/debug /sys/kernel/tracing 2>/dev/null
        [ ! -e /sys/kernel/tracing/events ] || exit 99; exec "$@"'
    status=0
    unshare -m sh -c "$hidden" sh true 2>/dev/null || status=$?
    [ "$status" -eq 0 ] || skip "they cannot be hidden here"
    unshare -m sh -c "$hidden" sh "$ASSAY" profile -q -o x.assay -- ./waits >told
    waits f 0.5
    waits g 0.25
    waits h 0.3
}
@test "waits: user code only" {
    "$ASSAY" profile -q --scope user -o x.assay -- ./waits >told
    waits f 0.5
    waits g 0.25
}
@test "waits: threads of OpenMP wait for the longest" {
    # The one that sleeps does so when the others are there. It tells how long they waited, and how
    # much of that they were ready to run: on a busy host they sleep late and wake late.
    cat >uneven.c <<'END'
#include <omp.h>
#include <stdio.h>
#include <time.h>
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double queued(void)
{
    unsigned long long ran = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file && fscanf(file, "%llu %llu", &ran, &waited) != 2)
        waited = 0;
    if (file)
        fclose(file);
    return 1e-9 * (double)waited;
}
static int there_n;
int main(void)
{
    const struct timespec t = {0, 400000000}, little = {0, 1000000};
    double there[3], ready[3] = {0}, waited = 0;
#pragma omp parallel num_threads(3)
    {
        const int i = omp_get_thread_num();
        const double before = queued();
        there[i] = now();
        __atomic_add_fetch(&there_n, i > 0, __ATOMIC_SEQ_CST);
        if (i == 0) {
            while (__atomic_load_n(&there_n, __ATOMIC_SEQ_CST) < 2)
                nanosleep(&little, 0);
            nanosleep(&t, 0);
            there[0] = now();
        }
#pragma omp barrier
        ready[i] = i ? queued() - before : 0;
    }
    for (int i = 1; i < 3; i++)
        waited += there[0] - there[i];
    printf("%.6f %.6f\n", waited, ready[1] + ready[2]);
    return 0;
}
END
    gcc -O1 -g -fopenmp -o uneven uneven.c 2>/dev/null || skip "no OpenMP here"
    OMP_WAIT_POLICY=passive "$ASSAY" profile -q -o x.assay -- ./uneven >told
    read -r said ready <told
    awk "BEGIN { exit !($said > 0.79) }" || fails "the others did not wait for the one that sleeps: $said s"
    # Neither account holds the time that a hypervisor took.
    equal 1 "$(query "SELECT c.blocked_time_s BETWEEN 0.9 * ($said - $ready) - 2 * ifnull(r.steal_time_s, 0) - 0.02
        AND 2 * r.wall_s FROM v_categories c, v_runs r WHERE c.name = 'openmp'")"
}
@test "waits: too many to be looked at one by one" {
    cat >often.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static int a[2], b[2];
static void *other(void *unused)
{
    char c;
    for (int i = 0; i < 100000; i++)
        if (read(a[0], &c, 1) != 1 || write(b[1], &c, 1) != 1)
            return &a;
    return unused;
}
int main(void)
{
    pthread_t thread;
    cpu_set_t one;
    char c = 0;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (pipe(a) || pipe(b) || pthread_create(&thread, NULL, other, NULL))
        return 1;
    for (int i = 0; i < 100000; i++)
        if (write(a[1], &c, 1) != 1 || read(b[0], &c, 1) != 1)
            return 1;
    return 0;
}
END
    gcc -O1 -g -o often often.c -pthread
    "$ASSAY" profile -q -o x.assay -- ./often
    equal 1 "$(query "SELECT count(*) FROM v_flags WHERE name = 'spread_waits'")"
    # All of the waiting is in read.
    equal 1 "$(query "SELECT sum(f.blocked_time_s) > 0.9 * min(r.blocked_time_s) FROM v_functions f, v_runs r
                      WHERE f.name = 'read' OR f.name LIKE '\\_\\_%read%' ESCAPE '\\'")"
}
