# SPDX-License-Identifier: Apache-2.0
# CPU time without samples is reported, with the process and the reason; complete recordings have no
# such message. The programs work for a given CPU time of their own, so load does not change the
# expected values.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >work.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
volatile double sink;
/* Of the processor time of this thread. */
__attribute__((noinline)) void work(double seconds)
{
    struct timespec t;
    double end = 0, now = 0;
    while (now <= end) {
        for (int i = 0; i < 5000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
        end = end > 0 ? end : now + seconds;
    }
}
static void *brief(void *unused)
{
    work(0.0003);
    return unused;
}
/* What is not allowed ends the process. */
static void confine(const char *how)
{
    struct sock_filter only[] = {
        {0x20, 0, 0, 0}, {0x15, 3, 0, SYS_write}, {0x15, 2, 0, SYS_exit_group},
        {0x15, 1, 0, SYS_clock_gettime}, {0x06, 0, 0, SECCOMP_RET_KILL_PROCESS},
        {0x06, 0, 0, SECCOMP_RET_ALLOW}};
    struct sock_fprog filter = {sizeof only / sizeof *only, only};
    if (strcmp(how, "strict") == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else if (strcmp(how, "strict-call") == 0)
        syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
    else if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                strcmp(how, "all") == 0 ? SECCOMP_FILTER_FLAG_TSYNC : 0, &filter);
}
/* Its processor time is asked of the kernel by a system call, which strict mode forbids. */
static void count(void)
{
    for (int i = 0; i < 60000000; i++)
        sink += i;
}
/* The end of a thread is a system call too. */
static volatile int counts;
static void *counting(void *unused)
{
    counts = 1;
    for (;;)
        count();
    return unused;
}
int main(int argc, char **argv)
{
    pthread_t thread;
    const char *how = argc > 2 ? argv[2] : "";
    if (strcmp(how, "threads") == 0) {
        for (int i = 0; i < 1500; i++) {
            pthread_create(&thread, NULL, brief, NULL);
            pthread_join(thread, NULL);
        }
        return 0;
    }
    work(atof(argv[1]));
    if (!*how)
        return 0;
    if (strcmp(how, "all") == 0)
        pthread_create(&thread, NULL, counting, NULL);
    while (strcmp(how, "all") == 0 && !counts)
        usleep(1000);
    confine(how);
    count();
    if (write(1, "done\n", 5) != 5)
        return 1;
    if (strncmp(how, "strict", 6) == 0)
        syscall(SYS_exit, 0);
    _exit(0);
}
END
    gcc -O1 -g -o work work.c -pthread
    gcc -O1 -g -static -o fixed work.c -pthread 2>/dev/null || true
}
setup() {
    load common.bash
    rm -rf ./*.assay
    mkdir -p tmp
    export TMPDIR=$PWD/tmp
}
query() { "$ASSAY" query --format csv x.assay "$(echo "$1" | tr '\n' ' ')" | tail -n +2; }
one() { [ "$(query "$1")" = 1 ] || fails "not so: $1" "$(query "SELECT name, text FROM v_flags")"; }
# The program works until its clock reaches a limit, so that time is its own. Later counting, and
# work of the kernel for others, last as long as the host makes them.
works() {
    one "SELECT sum(iif(name = 'work' OR name LIKE '%clock_gettime', exclusive_pct, 0)) > 0.9 * sum(exclusive_pct)
         AND sum(exclusive_pct) > 0 FROM v_functions WHERE name NOT IN ('count', 'counting')
         AND coalesce(module, '') <> '[kernel]'"
}
said() { query "SELECT text FROM v_flags WHERE name = 'unseen_time'"; }
# timed|sampled ARGUMENT...: into x.assay; the summary is in err
timed() { "$ASSAY" profile -o x.assay --event timer "$@" >out 2>err || fails "status $?" "$(cat err)"; }
sampled() {
    "$ASSAY" profile -o x.assay --event cpu-clock "$@" >out 2>err && return
    grep -q "perf_event_paranoid\|not permitted\|no such events" err && skip "perf events are refused here"
    fails "$(cat err)"
}
# `unseen MIN MAX`: seconds without samples
unseen() {
    one "SELECT v.value BETWEEN $1 AND $2 FROM v_values v WHERE metric = 'unseen_time_s' AND object_kind = 'run'"
}

@test "unsampled: a sampled program has no message" {
    for way in timed sampled; do
        rm -rf x.assay
        $way -- ./work 0.6
        equal "" "$(said)"
        one "SELECT v.value >= 0.6 FROM v_values v WHERE metric = 'processor_time_s' AND object_kind = 'run'"
        # Stolen time may be in one of the two and not in the other.
        unseen 0 "0.2 + (SELECT ifnull(steal_time_s, 0) FROM v_runs)"
        rm -rf x.assay
        $way -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ./work 0.02; true; done'
        equal "" "$(said)"
    done
}
@test "unsampled: a statically linked program that a script starts" {
    [ -x fixed ] || skip "nothing can be linked statically here"
    timed --verbose -- sh -c './fixed 1.2; ./work 0.1'
    like '"1.?? s of 1.?? s of CPU time (?? %) were not sampled: all shares refer to the rest. fixed (process *) is statically linked*link it dynamically, or permit perf events.*' "$(said)"
    unseen 1.1 1.5
    # Shares are not said to be of the time, nor is a longer run the way to more.
    grep -q "Sampled time:" err || fails "$(cat err)"
    grep -q "of the sampled time" err || fails "$(cat err)"
    ! grep -q "run it longer\|run longer\|% of the time[ ,]" err || fails "$(cat err)"
    equal unseen_time "$("$ASSAY" show x.assay --format json | json '["flags"][0]["name"]')"
    "$ASSAY" show x.assay --format json | python3 -c '
import json, sys
run = json.load(sys.stdin)["run"]
assert run["processor_time_s"] >= 1.3 and run["unseen_time_s"] >= 1.1, run'
}
@test "unsampled: the headline of mpirun is not that of its ranks" {
    [ -x fixed ] || skip "nothing can be linked statically here"
    command -v mpirun.openmpi >/dev/null || skip "no Open MPI here"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    TMPDIR=/tmp mpirun.openmpi --oversubscribe -n 2 true 2>why || skip "Open MPI does not work here"
    TMPDIR=/tmp timed -- mpirun.openmpi --oversubscribe -n 2 ./fixed 1
    like '*were not sampled: all shares refer to the rest. fixed (2 processes, at least *) is statically linked*' "$(said)"
    ! grep -q "takes .* of the time" err || fails "$(cat err)"
}
@test "unsampled: an environment of its own" {
    timed -- sh -c 'env -i ./work 1; ./work 0.1'
    like '*work (process *) was started without LD_PRELOAD*pass these on*' "$(said)"
}
@test "unsampled: another root directory" {
    mkdir -p jail
    chroot jail /no 2>chroot.err || true
    ! grep -q "cannot change root" chroot.err || skip "no other root may be had here"
    [ -x fixed ] || skip "nothing can be linked statically here"
    cp fixed jail/
    timed -- sh -c 'chroot jail /fixed 1; ./work 0.1'
    like '*fixed (process *) has another root directory (chroot)*' "$(said)"
}
@test "unsampled: threads that end before a sample" {
    timed -- ./work 0 threads
    like '*threads (?.* s) ended before their first sample: use a higher --rate.*' "$(said)"
    rm -rf x.assay
    sampled -- ./work 0 threads
    like '*threads (?.* s) ended before their first sample: use a higher --rate.*' "$(said)"
}
@test "unsampled: with perf events a program with other rights" {
    [ "$(id -u)" = 0 ] || skip "only root can make such a program"
    mkdir -p open && chmod 755 . open 2>/dev/null
    cp work open/other && chown nobody open/other && chmod 4755 open/other
    sampled -- sh -c './open/other 1; ./work 0.1'
    equal 1 "$(findmnt -n -o OPTIONS -T . | grep -c nosuid)" && skip "files give no rights here" || true
    like '*other (process *) has other privileges than its user (set-user-ID*' "$(said)"
}
@test "unsampled: programs left out on request do not count" {
    timed --no-children -- sh -c './work 0.5; true'
    equal "" "$(said)"
}
@test "unsampled: a run that assay ends has its account too" {
    [ -x fixed ] || skip "nothing can be linked statically here"
    timed --duration 2 -- sh -c './fixed 4; true'
    like '*fixed (process *) is statically linked*' "$(said)"
}
@test "unsampled: a limit of memory" {
    timed -- sh -c 'ulimit -v 20000; ./work 0.6'
    equal "" "$(said)"
    works
    rm -rf x.assay
    # Too little for any ring, and for most programs.
    (ulimit -v 3000 && ./work 0.01) 2>limit.err || skip "a program needs more here"
    timed -- sh -c 'ulimit -v 3000; ./work 0.6; true'
    like '*ulimit -v*' "$(query "SELECT text FROM v_flags WHERE name = 'missed_processes'")"
    like '*were not sampled*' "$(said)"
}
@test "unsampled: a program that restricts system calls survives" {
    for how in strict strict-call filter all; do
        ./work 0.01 "$how" >alone || skip "system calls cannot be given up here: $how"
        rm -rf x.assay
        timed -- ./work 0.6 "$how"
        equal "done" "$(cat out)"
        like '*seccomp*' "$(query "SELECT text FROM v_flags WHERE name = 'missed_threads'")"
        works
    done
}
@test "unsampled: system calls go through as they are" {
    cat >calls.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
    const int fd = open("pages", O_RDONLY);
    const char *page = (const char *)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096);
    if (page == MAP_FAILED || *page != 'b')
        return 1;
    errno = 0;
    if (syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE, -1, 0) != -1 || errno != EBADF)
        return 2;
    errno = 0; /* what is refused changes nothing */
    if (prctl(PR_SET_SECCOMP, 77, 0, 0, 0) != -1 || errno != EINVAL)
        return 3;
    if (syscall(SYS_prctl, PR_SET_SECCOMP, 77, 0, 0, 0) != -1 || errno != EINVAL)
        return 4;
    if (syscall(SYS_seccomp, 0, 1, NULL) != -1 || errno != EINVAL)
        return 5;
    for (volatile long i = 0; i < 300000000; i++)
        ;
    return 0;
}
END
    gcc -O1 -g -o calls calls.c
    { head -c 4096 /dev/zero | tr '\0' a; head -c 4096 /dev/zero | tr '\0' b; } >pages
    ./calls || skip "these calls answer otherwise here"
    timed -- ./calls
    equal "" "$(said)"
    equal "" "$(query "SELECT text FROM v_flags WHERE name = 'missed_threads'")"
    one "SELECT exclusive_pct > 90 FROM v_functions WHERE name = 'main'"
}
@test "unsampled: leftovers of others in the temporary directory cause no wait" {
    mkdir -p tmp/assay-agent-fifo tmp/assay-agent-empty tmp/assay-agent-live tmp/assay-agent-dead
    mkfifo tmp/assay-agent-fifo/control tmp/assay-agent-itself
    ln -s /etc tmp/assay-agent-link
    echo x >tmp/assay-agent-live/control
    echo x >tmp/assay-agent-dead/control
    echo x >tmp/assay-agent-dead/ring.1.2
    touch -d '2 minutes ago' tmp/assay-agent-*/control tmp/assay-agent-empty
    flock tmp/assay-agent-live/control sleep 600 3>&- &
    holder=$!
    is_held() { ! flock -n tmp/assay-agent-live/control true; }
    until_so is_held
    timeout 300 "$ASSAY" profile -q -o x.assay --event timer -- ./work 0.05 || fails "status $?"
    pkill -P "$holder" || true
    kill "$holder" 2>/dev/null || true
    equal "assay-agent-fifo assay-agent-itself assay-agent-link assay-agent-live" "$(cd tmp && echo *)"
    rm -rf tmp
}
@test "unsampled: a directory of another user is left alone" {
    [ "$(id -u)" = 0 ] || skip "only root can make one"
    mkdir -p tmp/assay-agent-other
    echo x >tmp/assay-agent-other/control
    chown -R nobody tmp/assay-agent-other
    touch -d '2 minutes ago' tmp/assay-agent-other/control
    timed -- ./work 0.05
    equal "control" "$(ls tmp/assay-agent-other)"
    rm -rf tmp
}
@test "unsampled: a map of generated code is read only if the process's user owns it" {
    # The program tells its number and waits, so that the map is there before it ends.
    cat >tells.c <<'END'
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    FILE *f = fopen("number", "w");
    fprintf(f, "%d\n", (int)getpid());
    fclose(f);
    while (access("go", F_OK) < 0)
        usleep(10000);
    return 0;
}
END
    gcc -O1 -o tells tells.c
    for way in ours fifo $([ "$(id -u)" != 0 ] || echo other); do
        rm -rf number go x.assay
        "$ASSAY" profile -q -o x.assay --event timer -- ./tells &
        run=$!
        until_so test -s number
        map=/tmp/perf-$(cat number).map
        case $way in
        fifo) mkfifo "$map" ;;
        *) echo "1000 10 planted" >"$map" ;;
        esac
        [ "$way" != other ] || chown nobody "$map"
        touch go
        wait "$run" || fails "status $?"
        rm -f "$map"
        equal "$([ "$way" = ours ] && echo 1 || echo 0)" "$(find x.assay -name 'perf-*.map' | wc -l)"
    done
}
