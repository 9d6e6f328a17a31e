# SPDX-License-Identifier: Apache-2.0
# assay profile where perf_event_open is refused: timers inside the program take the samples. DENY
# runs a command under a filter that refuses it; the scripts of profile.bats run so as well.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    "$DENY" EACCES true || skip "system calls cannot be filtered here"
    # Calibrated: two() does twice the work of one() on any CPU. Both run in turns of random length,
    # because samples fall on ticks of a clock.
    cat >two.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
volatile unsigned long sink;
static unsigned long rounds;
static inline __attribute__((always_inline)) void spin(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        __asm__ volatile("" : : : "memory");
}
__attribute__((noinline)) void one(unsigned long n) { spin(n); sink++; }
__attribute__((noinline)) void two(unsigned long n) { spin(2 * n); sink++; }
static void *work(void *unused)
{
    unsigned long n = 1;
    for (unsigned long i = 0; i < rounds; i++) {
        n = n * 6364136223846793005 + 1442695040888963407;
        one(100000 + (n >> 40) % 400000);
        two(100000 + (n >> 40) % 400000);
    }
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    rounds = strtoul(argv[1], NULL, 10);
    const char *how = argc > 2 ? argv[2] : "";
    if (strcmp(how, "threads") == 0) {
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
        return 0;
    }
    if (strcmp(how, "children") == 0) {
        if (fork() == 0)
            return work(NULL) != NULL;
        if (fork() == 0)
            execl(argv[0], argv[0], argv[1], NULL);
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    work(NULL);
    return 0;
}
END
    gcc -O2 -g -o two two.c -pthread
    gcc -O2 -g -fno-omit-frame-pointer -o two-fp two.c -pthread
}
setup() {
    load common.bash
    rm -rf ./*.assay
    # Timers need temporary files, and must leave none behind.
    mkdir -p tmp
    export TMPDIR=$PWD/tmp
}
teardown() {
    end_group
    [ -z "$(ls -A tmp 2>/dev/null)" ] || fails "left behind: $(ls tmp)"
}

query() { "$ASSAY" query --format csv x.assay "$(echo "$1" | tr '\n' ' ')" | tail -n +2; }
one() { [ "$(query "$1")" = 1 ] || fails "not so: $1"; }

# timed ARGUMENT...: into x.assay, without perf events
timed() {
    "$DENY" EACCES "$ASSAY" profile -q -o x.assay "$@" >out 2>err || fails "$(cat err)"
    equal timer "$(query "SELECT event FROM v_runs")"
}

# shares_fit: they are those of the program, within their intervals (95 %; of right ones 1 in 11,000 is off
# by twice that); what the kernel does in between, on a busy host a few percent, is neither's.
shares_fit() {
    query "SELECT name, exclusive_pct FROM v_binary_functions WHERE name IN ('one', 'two') ORDER BY name"
    [ "$(query "SELECT abs(o.exclusive_pct - own.pct / 3.0) < 2 * (o.exclusive_high_pct - o.exclusive_low_pct) / 2
         AND abs(t.exclusive_pct - own.pct / 1.5) < 2 * (t.exclusive_high_pct - t.exclusive_low_pct) / 2
         AND o.exclusive_pct + t.exclusive_pct > own.pct - 3 AND own.pct > 80 AS fine
         FROM v_binary_functions o, v_binary_functions t, (SELECT 100 - ifnull(sum(exclusive_pct), 0)
         AS pct FROM v_modules WHERE kind = 'kernel') own WHERE o.name = 'one' AND t.name = 'two'")" = 1 ]
}
# fair COMMAND...: it makes x.assay, with the shares of the program. One that is off is made again and may
# not be off again: 13 of them are with 13 / 11,000^2 = 1e-7, for both shares are off together.
fair() {
    local again
    for again in 1 2; do
        rm -rf x.assay
        "$@"
        ! shares_fit || return 0
    done
    fails "the shares are not those of the program: $(shares_fit)"
}

# most SHARE WHERE: of what is not the kernel's the function there has nearly all.
most() {
    one "SELECT f.$1 > 0.95 * (100 - (SELECT ifnull(sum(exclusive_pct), 0) FROM v_modules
         WHERE kind = 'kernel')) FROM v_binary_functions f WHERE $2"
}

@test "timers: the shares are right, and so is the sum" {
    fair timed -- ./two 20000
    # As with perf events, where there are some.
    rm -rf x.assay
    if "$ASSAY" profile -q -o x.assay --event cpu-clock -- ./two 20; then
        [ "$(query "SELECT event FROM v_runs")" != cpu-clock ] ||
            fair "$ASSAY" profile -q -o x.assay --event cpu-clock -- ./two 20000
    fi
}
@test "timers: on purpose" {
    fair "$ASSAY" profile -q -o x.assay --event timer -- ./two 2000
    equal timer "$(query "SELECT event FROM v_runs")"
    equal 0 "$(query "SELECT count(*) FROM v_runs WHERE event_reason LIKE '%perf%'")"
}
@test "timers: call stacks by each means" {
    timed -- ./two 2000
    most "inclusive_pct" "name = 'main'"
    fair timed --call-stacks fp -- ./two-fp 2000
    equal fp "$(query "SELECT call_stacks FROM v_runs")"
    most "inclusive_pct" "name = 'main'"
    fair timed --call-stacks off -- ./two 2000
    equal 0 "$(query "SELECT count(*) FROM v_binary_functions WHERE name = 'main'")"
}
@test "timers: threads and children" {
    fair timed -- ./two 2000 threads
    equal 2 "$(query "SELECT count(*) FROM v_threads")"
    fair timed -- ./two 2000 children
    equal 2 "$(query "SELECT count(*) FROM v_processes WHERE sample_n > 20")"
    equal 3 "$(query "SELECT count(*) FROM v_processes WHERE exe = '$PWD/two'")"
}
@test "timers: a constructor within dlopen waits for a thread that calls what is ours" {
    cat >waits.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#ifdef LIBRARY
static void *calls(void *unused)
{
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    return prctl(PR_GET_DUMPABLE) < 0 ? NULL : unused;
}
__attribute__((constructor)) static void waits(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, calls, NULL) == 0)
        pthread_join(thread, NULL);
}
#else
int main(void) { return puts(dlopen("./libwaits.so", RTLD_NOW) ? "came" : dlerror()) < 0; }
#endif
END
    gcc -O2 -shared -fPIC -DLIBRARY -pthread -o libwaits.so waits.c
    gcc -O2 -pthread -o waits waits.c -ldl
    equal came "$(timeout 300 ./waits)"
    timeout 300 "$ASSAY" profile -q -o x.assay --event timer -- ./waits >out 2>err || fails "$(cat err)"
    equal came "$(cat out)"
}
@test "timers: --no-children" {
    timed --no-children -- ./two 2000 children
    equal 1 "$(query "SELECT count(*) FROM v_processes")"
    equal 0 "$(query "SELECT count(*) FROM v_binary_functions WHERE name = 'two'")"
    rm -rf x.assay
    timed --no-children -- ./two 2000 threads
    equal 0 "$(query "SELECT count(*) FROM v_binary_functions WHERE name = 'two'")"
    fair timed --no-children -- ./two 2000
}
@test "timers: threads of OpenMP" {
    cat >omp.c <<'END'
#include <omp.h>
#include <stdlib.h>
#include <time.h>
volatile double sink[64 * 8];
static double own_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? atof(argv[1]) : 0;
#pragma omp parallel num_threads(2)
    for (double end = own_s() + seconds; own_s() < end;)
        for (long i = 0; i < 100000; i++)
            sink[8 * omp_get_thread_num()] += (double)i;
    return 0;
}
END
    gcc -O2 -g -fopenmp -o omp omp.c 2>/dev/null || skip "no OpenMP here"
    timed -- ./omp 1
    equal "0 1" "$(query "SELECT omp_thread FROM v_threads ORDER BY omp_thread" | xargs)"
    one "SELECT min(sample_n) > 20 FROM v_threads"
}
@test "timers: ranks of mpirun" {
    command -v mpirun >/dev/null || skip "no mpirun here"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Files that mpirun leaves behind in TMPDIR are its own.
    TMPDIR=/tmp timed -- mpirun -n 2 --oversubscribe ./two 2000
    equal "0 1" "$(query "SELECT rank FROM v_processes WHERE exe = '$PWD/two' ORDER BY rank" | xargs)"
    one "SELECT min(sample_n) > 20 FROM v_processes WHERE exe = '$PWD/two'"
}
@test "timers: a library that is loaded later" {
    echo 'void later(void) { for (volatile long i = 0; i < 600000000; i++) ; }' >later.c
    cat >loads.c <<'END'
#include <dlfcn.h>
int main(void)
{
    void *library = dlopen("./later.so", RTLD_NOW);
    void (*later)(void) = (void (*)(void))dlsym(library, "later");
    later();
    return dlclose(library);
}
END
    gcc -O1 -g -shared -fPIC -o later.so later.c
    gcc -O1 -g -o loads loads.c -ldl
    timed -- ./loads
    most "exclusive_pct" "name = 'later' AND module = 'later.so'"
}
@test "timers: programs that cannot take them" {
    gcc -O2 -static -o fixed two.c -pthread 2>/dev/null || skip "nothing can be linked statically here"
    status=0
    "$DENY" EPERM "$ASSAY" profile -o x.assay -- ./fixed 10 >out 2>err || status=$?
    equal 2 "$status"
    equal 1 "$(wc -l <err)"
    like "assay: ./fixed: is statically linked*link it dynamically*perf_event_open: EPERM:*paranoid*" "$(cat err)"
    [ ! -e x.assay ] || fails "left behind"
    status=0
    "$ASSAY" profile -o x.assay --event timer -- ./fixed 10 2>err || status=$?
    equal 2 "$status"
    like "assay: ./fixed: is statically linked*link it dynamically*" "$(cat err)"
    status=0
    "$ASSAY" profile -o x.assay --event timer --pid $$ 2>err || status=$?
    equal 2 "$status"
    like "assay: process $$: timers cannot be added to a running process*" "$(cat err)"
}
# missed WHY: no processes but those of the shell are in the profile, and a flag says why
missed() {
    equal 0 "$(query "SELECT count(*) FROM v_binary_functions WHERE name = 'two'")"
    like "$1" "$(query "SELECT text FROM v_flags WHERE name = 'missed_processes'")"
}
@test "timers: a process that runs already cannot have them" {
    sleep 600 3>&- &
    pid=$!
    status=0
    "$DENY" EACCES "$ASSAY" profile -o x.assay --pid "$pid" 2>err || status=$?
    kill "$pid"
    equal 2 "$status"
    equal 1 "$(wc -l <err)"
    like "assay: process $pid: *EACCES*a program that assay starts is sampled by timers instead" "$(cat err)"
}
@test "timers: a limit of the size of files" {
    timed -- sh -c 'ulimit -f 100; ./two 10'
    missed "*1 processes are missing in the profile: *ulimit -f*"
    # Enough for a small ring.
    fair timed -- sh -c 'ulimit -f 600; ./two 2000'
}
@test "timers: processes with numbers of their own" {
    unshare --pid --fork true 2>/dev/null || skip "no namespace of processes can be made here"
    timed -- unshare --pid --fork ./two 10
    missed "*another pid namespace*"
}
@test "timers: a directory that is not there" {
    status=0
    TMPDIR=/no/such/place "$ASSAY" profile -o x.assay --event timer -- ./two 10 2>err || status=$?
    [ "$status" -ne 0 ]
    like "assay: /no/such/place: *TMPDIR*" "$(cat err)"
    equal 1 "$(wc -l <err)"
}
@test "timers: nothing is written for a reader that was killed" {
    # The program starts others for ever; when assay is gone they are not observed.
    printf '#!/bin/sh\nwhile :; do ./two 1; echo >>ends; done\n' >forever.sh
    rm -f ends
    two_more() { until_so has_written ends "$(($(stat -c %s ends) + 1))"; }
    chmod +x forever.sh
    setsid "$ASSAY" profile -q -o x.assay --event timer -- ./forever.sh >out 2>err &
    pid=$! group=$!
    until_so has_written x.assay/run-001/main.samples 0
    until_so test -s ends
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    # The one that ran then may still write.
    two_more
    before=$(du -s --apparent-size tmp | cut -f 1)
    two_more
    equal "$before" "$(du -s --apparent-size tmp | cut -f 1)"
    end_group
    # The next run removes old leftovers; the duration of these steps does not matter.
    equal 1 "$(ls tmp | wc -l)"
    touch -d '1 hour' tmp/*/control
    timed --force -- ./two 10
    equal 1 "$(ls tmp | wc -l)"
    touch -d '2 minutes ago' tmp/*/control
    timed --force -- ./two 10
    equal "" "$(ls tmp)"
}
