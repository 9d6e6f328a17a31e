# SPDX-License-Identifier: Apache-2.0
# assay profile as a user runs it: programs that end well, badly or never, and obstacles. Tests that
# record are skipped if perf events are refused here.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >burn.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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
int main(int argc, char **argv)
{
    burn(argc > 1 ? atof(argv[1]) : 0.2);
    if (argc > 2)
        return atoi(argv[2]);
    return 0;
}
END
    gcc -O2 -g -o burn burn.c
    cat >badly.c <<'END'
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sink;
extern char **environ;
static volatile int ticks;
static void on_tick(int signal) { ticks += signal != 0; }
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
__attribute__((noinline)) void burn(double seconds)
{
    const double end = cpu() + seconds;
    while (cpu() < end)
        for (unsigned long i = 0; i < 100000; i++)
            sink += i;
}
/* Whether assay, which started this, writes samples. */
static int is_watched(void)
{
    char path[512], file[512];
    int found = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)getppid());
    DIR *files = opendir(path);
    for (struct dirent *it; files && (it = readdir(files));) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)getppid(), it->d_name);
        const ssize_t n = readlink(path, file, sizeof file - 1);
        file[n > 0 ? n : 0] = 0;
        found |= strstr(file, "/main.samples") != NULL;
    }
    closedir(files);
    return found;
}
int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "close") == 0)
        for (int i = 0; i < 1024; i++)
            close(i);
    if (strcmp(how, "clear") == 0)
        environ = NULL;
    if (strcmp(how, "directory") == 0 && chdir("/") != 0)
        return 9;
    if (strcmp(how, "profiled") == 0) {
        const struct itimerval every = {{0, 1000}, {0, 1000}};
        signal(SIGPROF, on_tick);
        setitimer(ITIMER_PROF, &every, NULL);
    }
    burn(0.4);
    while (strcmp(how, "watched") == 0 && is_watched() && cpu() < 60)
        burn(0.01);
    if (strcmp(how, "watched") == 0) {
        burn(0.5);
        printf("%.3f\n", cpu());
        return is_watched();
    }
    while (strcmp(how, "profiled") == 0 && ticks <= 10 && cpu() < 5)
        burn(0.01);
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "profiled") == 0)
        return ticks > 10 ? 0 : 8;
    while (strcmp(how, "never") == 0)
        burn(0.01);
    return 0;
}
END
    gcc -O1 -g -o badly badly.c
    if ! "$ASSAY" profile -q -o probe.assay -- ./burn 0.05 2>probe.err; then
        cat probe.err >&2
        grep -q "perf_event_paranoid\|not permitted\|no such events" probe.err && touch refused
    elif "$ASSAY" query probe.assay "SELECT event FROM v_runs" | grep -q timer; then
        touch timed
    fi
}
setup() {
    load common.bash
    rm -rf ./*.assay
}
teardown() { end_group; }

events() { [ ! -e timed ] || skip "perf events are refused here, and timers do not do"; }
records() { [ ! -e refused ] || skip "perf events are refused here: $(cat probe.err)"; }
query() { "$ASSAY" query --format csv "$1" "$2" | tail -n +2; }

# profile STATUS ARGUMENT...: into x.assay; what assay says is in err
profile() {
    local status=0 want=$1
    shift
    "$ASSAY" profile -o x.assay "$@" >out 2>err || status=$?
    equal "$want" "$status"
}

# refused STATUS SENTENCE ARGUMENT...: one sentence, and nothing is left behind
refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    "$ASSAY" profile "$@" >out 2>err || status=$?
    like "$want" "$(cat err)"
    equal 1 "$(wc -l <err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
}

# is_recorded: x.assay has its run, attributed or not
is_recorded() { [ "$(query x.assay "SELECT state FROM run" 2>/dev/null)" = complete ]; }

# Checks the inclusive samples of a function: nearly all, without the kernel and the start of a
# program. Both take as long as the host lets them: many, if the run has few samples.
hot() {
    query x.assay "SELECT f.inclusive_sample_n > 0.9 * own.n AND own.n > 8 AS is_hot FROM v_functions f,
        (SELECT sum(exclusive_sample_n) AS n FROM v_functions WHERE coalesce(module, '') NOT LIKE '[kernel]%'
        AND coalesce(module, '') NOT LIKE 'ld-%' AND coalesce(module, '') NOT LIKE 'libc.%') own WHERE f.name = '$1'"
}

@test "profile: the summary, and the facts behind it" {
    records
    profile 0 --verbose --rate high -- ./burn 0.5
    [ ! -s out ] || fails "output was made: $(cat out)"
    like "*Where the time went*Application*Hottest functions*burn.c:*Hottest loops*burn.c:*" "$(cat err)"
    equal 1 "$(hot burn)"
    equal "1,1,0,complete,plain" \
        "$(query x.assay "SELECT run_id, process_n, exit_code, state, launcher FROM v_runs")"
    equal "$PWD" "$(query x.assay "SELECT cwd FROM run")"
    equal "./burn 0.5" "$(query x.assay "SELECT command FROM run")"
    # The clock of the kernel and the samples agree, except for stolen time. The clock may include
    # stolen time, and samples may miss it.
    equal 1 "$(query x.assay "SELECT abs(sampled_time_s - 0.5) < 0.1 + ifnull(steal_time_s, 0) +
        1.0 * lost_sample_n / rate_hz AS fits FROM v_runs")"
    equal 1 "$(query x.assay "SELECT count(*) FROM v_loops WHERE exclusive_pct > 80")"
}
@test "profile: what the kernel counted of the program" {
    records
    profile 0 -- python3 -c 'bytearray(b"x") * (64 << 20)'
    equal 1,1,1,1,1 "$(query x.assay "SELECT resident_max_b BETWEEN 64 << 20 AND 512 << 20,
        fault_major_n >= 0, fault_minor_n > 100, switch_voluntary_n >= 0,
        switch_involuntary_n >= 0 FROM v_runs")"
}

@test "profile: lines fit 80 columns, and there are no colours in a file" {
    records
    profile 0 -- ./burn
    while read -r line; do
        [ "${#line}" -le 80 ] || fails "too long: $line"
    done <err
    never grep -q "$(printf '\033')" err
}
@test "profile: the name is that of the program, and the next one free" {
    records
    "$ASSAY" profile -q -- ./burn 0.05
    "$ASSAY" profile -q -- ./burn 0.05
    [ -d burn.assay ]
    [ -d burn-2.assay ]
}
@test "profile: input, output and exit status are the program's" {
    records
    echo 'read line; echo "got $line" $(nice); echo wrong >&2; exit 7' >script
    status=0
    echo word | nice -n 5 "$ASSAY" profile -q -o x.assay -- sh script >out 2>err || status=$?
    equal 7 "$status"
    equal "got word $(nice -n 5 nice)" "$(cat out)" # and its priority
    equal wrong "$(cat err)"
    equal 7 "$(query x.assay "SELECT exit_code FROM v_runs")"
}
@test "profile: options behind the command are its own" {
    records
    "$ASSAY" profile -q -o x.assay ./burn 0.05 --help
    equal "./burn 0.05 --help" "$(query x.assay "SELECT command FROM run")"
}
@test "profile: a script, and the programs that it starts" {
    records
    printf '#!/bin/sh\n./burn 0.2\n./burn 0.2\n' >twice.sh
    chmod +x twice.sh
    profile 0 -- ./twice.sh
    equal 1 "$(hot burn)"
    equal 2 "$(query x.assay "SELECT count(*) FROM v_processes WHERE exe = '$PWD/burn'")"
    equal 1 "$(query x.assay "SELECT count(DISTINCT parent_id) FROM v_processes WHERE exe = '$PWD/burn'")"
}
@test "profile: --no-children looks at the process alone" {
    records
    printf '#!/bin/sh\n./burn 0.2\n' >once.sh
    chmod +x once.sh
    profile 0 --no-children -- ./once.sh
    equal 0 "$(query x.assay "SELECT count(*) FROM v_functions WHERE name = 'burn'")"
}
@test "profile: a program that crashes" {
    records
    profile 139 -- ./badly crash
    like "*killed by*SIGSEGV*" "$(cat err)"
    equal 11 "$(query x.assay "SELECT exit_signal FROM v_runs")"
    equal 1 "$(hot burn)"
}
@test "profile: a program that is killed" {
    records
    profile 137 -- ./badly kill
    equal 9 "$(query x.assay "SELECT exit_signal FROM v_runs")"
    equal 1 "$(hot burn)"
}
@test "profile: Ctrl-C ends a program that never ends, and what there is is shown" {
    records
    # setsid: a group of its own, as a terminal has; kill reaches all of it.
    # A shell starts what is behind & deaf to it.
    setsid env --default-signal=INT "$ASSAY" profile -o x.assay -- ./badly never >out 2>err &
    pid=$! group=$!
    wait_for_samples x.assay/run-001 -g "$pid" badly
    kill -INT -- "-$pid"
    status=0
    wait "$pid" || status=$?
    group=
    equal 130 "$status"
    like "*SIGINT*interrupted*" "$(cat err)"
    equal interrupted "$(query x.assay "SELECT state FROM v_runs")"
    equal 1 "$(hot burn)"
}
@test "profile: assay killed, and what it recorded is finished later" {
    records
    setsid "$ASSAY" profile -o x.assay -- ./badly never >out 2>err &
    pid=$! group=$!
    wait_for_samples x.assay/run-001 -g "$pid" badly
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    end_group
    like "*not attributed*    assay attribute x.assay" "$("$ASSAY" show x.assay)"
    "$ASSAY" attribute x.assay 2>err
    like "*run 1 is attributed*" "$(cat err)"
    equal 1 "$(hot burn)"
    "$ASSAY" attribute x.assay 2>err
    like "*every run is attributed*" "$(cat err)"
    equal 1 "$(query x.assay "SELECT count(*) FROM v_flags WHERE name = 'truncated'")"
}
@test "profile: --duration ends the looking, not the program" {
    records
    # It works until recording has stopped, at any time, and for half a second more.
    profile 0 --duration 1 -- ./badly watched
    equal 1 "$(query x.assay "SELECT sampled_time_s > 0 AND sampled_time_s < $(cat out) - 0.4 AS fits FROM v_runs")"
    equal 0 "$(query x.assay "SELECT exit_code FROM v_runs")"
}
@test "profile: threads over time, alike in bins of every length" {
    records
    profile 0 -- ./burn 0.7
    # The shortest bins have a millisecond. On a busy host the run is longer, and bins double until
    # there are at most 2048.
    equal 1 "$(query x.assay "SELECT max(level) >= 3 AND max(begin_s) < 2048 * min(bin_s)
        AND (min(bin_s) = 0.001 OR 1024 * min(bin_s) < 1.1 * wall_s) AS fine FROM v_thread_levels, v_runs")"
    equal 0 "$(query x.assay "SELECT count(*) FROM v_thread_levels, (SELECT min(bin_s) AS least_s FROM
        v_thread_levels) WHERE bin_s <> least_s * (1 << level) OR begin_s <> segment * 256 * bin_s")"
    equal 1 "$(query x.assay "WITH s AS (SELECT level, sum(j.value * bin_s / 1000) AS time_s
            FROM v_thread_levels, json_each(bins) j WHERE name IN ('user', 'kernel') GROUP BY level)
        SELECT min(abs(time_s - sampled_time_s) < 0.05 * sampled_time_s) FROM s, v_runs")"
}
@test "profile: programs that close, clear, change and sample themselves" {
    records
    for how in close clear directory profiled; do
        rm -rf x.assay
        profile 0 -- ./badly $how
        equal 1 "$(hot burn)"
    done
}
@test "profile: attaching" {
    records
    events
    ./burn 600 3>&- &
    pid=$!
    until_so test "/proc/$pid/exe" -ef burn
    profile 0 --duration 1 --pid $pid
    kill $pid
    wait $pid || true
    equal "attach" "$(query x.assay "SELECT launcher FROM v_runs")"
    equal 1 "$(hot burn)"
    equal "$pid,$PWD/burn" "$(query x.assay "SELECT pid, exe FROM v_processes WHERE sample_n > 0")"
}
@test "profile: a size is kept to, and what is left out is counted" {
    records
    profile 0 --rate 5000 --max-size 2K -- ./burn 1
    [ "$(stat -c %s x.assay/run-001/main.samples)" -lt 200000 ]
    like "*limit of --max-size*" "$(cat err)"
}
@test "profile: events that are counted too" {
    records
    events
    cat >touch.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
static void *naps(void *n)
{
    const struct timespec ms = {0, 1000000};
    for (long i = 0; i < (long)n; i++)
        nanosleep(&ms, NULL);
    return NULL;
}
static long switches(int who)
{
    struct rusage used;
    getrusage(who, &used);
    return used.ru_nvcsw + used.ru_nivcsw;
}
static void *other(void *n)
{
    naps(n);
    return (void *)switches(RUSAGE_THREAD);
}
int main(void)
{
    pthread_t thread;
    const long before = switches(RUSAGE_SELF); /* some of them are older than the program */
    char *at = mmap(NULL, 4096L * 5001, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, 4096L * 5001, MADV_NOHUGEPAGE);
    for (long i = 0; i < 5000; i++)
        ((volatile char *)at)[4096 * i] = 1;
    void *of_other;
    pthread_create(&thread, NULL, other, (void *)200L);
    pthread_join(thread, &of_other);
    naps((void *)50L);
    /* A nap that is over before it begins, on a busy host, is no switch. */
    FILE *own = fopen("switches", "w");
    fprintf(own, "%ld %ld\n", switches(RUSAGE_SELF) - before, (long)of_other);
    fclose(own);
    return 0;
}
END
    gcc -O1 -g -pthread -o touch touch.c
    profile 0 --events page-faults,cs,cpu-migrations -- ./touch
    like "*Counted events*page-faults*context-switches*cpu-migrations*" "$(cat err)"
    value="SELECT value FROM v_values WHERE origin = 'exact' AND object_kind ="
    faults=$(query x.assay "$value 'run' AND metric = 'count_page_faults'")
    [ "$faults" -ge 5000 ] && [ "$faults" -lt 5300 ] || fails "$faults page faults"
    read -r own of_other <switches
    [ "$of_other" -ge 100 ] && [ "$own" -ge $((of_other + 20)) ] || fails "it did not nap: $(cat switches)"
    [ "$(query x.assay "$value 'run' AND metric = 'count_context_switches'")" -ge "$own" ]
    # The sum over threads equals the count of the run. A thread that moves twice during a wait
    # counts as moved once.
    for kind in thread process; do
        sum="(SELECT sum(value) FROM v_values WHERE object_kind = '$kind' AND metric ="
        equal 1 "$(query x.assay "SELECT $sum 'count_context_switches') = value FROM v_values
            WHERE object_kind = 'run' AND metric = 'count_context_switches'" | tr -d '\n')"
        equal 1 "$(query x.assay "SELECT $sum 'count_cpu_migrations') <= value FROM v_values
            WHERE object_kind = 'run' AND metric = 'count_cpu_migrations'" | tr -d '\n')"
    done
    equal 1 "$(query x.assay "SELECT max(value) >= $of_other FROM v_values WHERE object_kind = 'thread' AND metric = 'count_context_switches'")"
    "$ASSAY" show x.assay --format json >out
    equal page-faults "$(json '["counts"][0]["event"]' <out)"
    profile 0 --force -- ./burn 0.05
    case $(cat err) in *"Counted events"*) fails "not asked for" ;; esac
    refused 2 "assay: event 'page-fault': unknown on this machine*did you mean 'page-faults'*" \
        -o y.assay --events page-fault -- ./burn 0.01
    [ ! -e y.assay ] || fails "left behind"
}
@test "profile: categories of one's own" {
    records
    printf 'category kernel_of_mine\ntitle My kernel\nsymbol burn\n' >mine.txt
    profile 0 --categories mine.txt -- ./burn
    like "*My kernel*" "$(cat err)"
    equal 1 "$(query x.assay "SELECT time_pct > 80 FROM v_categories WHERE name = 'kernel_of_mine'")"
    echo 'symbol burn' >bad.txt
    refused 2 "assay: bad.txt:1: 'symbol': belongs to no category; begin with a line 'category NAME'" \
        -o y.assay --categories bad.txt -- ./burn 0.01
    [ ! -e y.assay ] || fails "left behind"
}
@test "profile: commands that cannot be run" {
    mkdir -p directory
    printf 'just text\n' >text && chmod +x text
    : >empty && chmod +x empty
    printf '#!/no/such/interpreter\n' >lost && chmod +x lost
    cp burn not-executable && chmod -x not-executable
    # An ELF header that says AArch64, and one of 32 bits.
    head -c 18 burn >arm && printf '\267\000' >>arm && tail -c +21 burn >>arm && chmod +x arm
    head -c 4 burn >small && printf '\001' >>small && tail -c +6 burn >>small && chmod +x small
    head -c 20 burn >cut && chmod +x cut
    refused 2 "assay: no-such-command: no such command in PATH; *" -- no-such-command
    refused 2 "assay: ./burn 0.05: *; use separate arguments *" -- "./burn 0.05"
    refused 2 "assay: A=b: no such command *; use 'env' before it to set a variable" -- A=b ./burn
    refused 2 "assay: cd: no such command *; it is a shell keyword: use sh -c '...'" -- cd /
    refused 2 "assay: ./nothing: cannot be executed: No such file*" -- ./nothing
    refused 2 "assay: ./directory: is a directory*" -- ./directory
    refused 2 "assay: ./text: is a text file without an interpreter line*" -- ./text
    refused 2 "assay: ./empty: is empty*" -- ./empty
    refused 2 "assay: ./lost: is a script for '/no/such/interpreter', which cannot be found*" -- ./lost
    refused 2 "assay: ./not-executable: is not executable*" -- ./not-executable
    refused 2 "assay: ./arm: is an ELF file for AArch64*" -- ./arm
    refused 2 "assay: ./small: is a 32-bit ELF file*" -- ./small
    refused 2 "assay: ./cut: is truncated*" -- ./cut
    [ -z "$(ls -d ./*.assay 2>/dev/null)" ] || fails "left behind: $(ls -d ./*.assay)"
}
@test "profile: wrong arguments" {
    refused 2 "assay: profile: no command given*"
    refused 2 "assay: --pid: there is a command too*" --pid 1 -- ./burn
    refused 2 "assay: --rate: invalid value 'fast'*" --rate fast -- ./burn
    refused 2 "assay: --call-stacks: lbr needs --event cycles or ref-cycles, not timer; *" \
        --call-stacks lbr --event timer -- ./burn
    refused 2 "assay: --duration: invalid value 'long'; use seconds*" --duration long -- ./burn
    refused 2 "assay: --max-size: invalid size '3X'*" --max-size 3X -- ./burn
    refused 2 "assay: process 999999999: no such process*" --pid 999999999
    refused 2 "assay: /nowhere: *" --categories /nowhere -- ./burn
}
@test "profile: an experiment that is there is replaced only by --force" {
    records
    profile 0 -q -- ./burn 0.05
    refused 2 "assay: x.assay: *--force*" -o x.assay -- ./burn 0.05
    profile 0 -q --force -- ./burn 0.05
    mkdir kept.assay && echo mine >kept.assay/file
    refused 2 "assay: kept.assay: *" --force -o kept.assay -- ./burn 0.05
    equal mine "$(cat kept.assay/file)"
}
@test "profile: a directory that cannot be written" {
    local as=()
    if [ "$(id -u)" -eq 0 ]; then
        command -v setpriv >/dev/null || skip "root may write everywhere"
        as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        "${as[@]}" test -x "$ASSAY" || skip "another user does not come to the program"
    fi
    status=0
    "${as[@]}" "$ASSAY" profile -o /x.assay -- true >out 2>err || status=$?
    equal "2 assay: /x.assay: cannot be created: Permission denied; use a writable place" \
        "$status $(cat err)"
}
@test "profile: no room for the samples" {
    records
    events # timers do not get into a program of a sanitizer
    # A limit of file size stands for a full disk: writing fails, the program goes on to its end.
    # With little not even an experiment is made; with more its run is, and may be finished later:
    # a program of much code needs more room for facts than for samples.
    finished=
    for size in 100 400 500 625 780 970 1200 1500 1900 2400 3000 3800 4700 6000; do
        rm -rf x.assay
        status=0
        (ulimit -f "$size" && exec "$ASSAY" profile -o x.assay --rate high -- "$ASSAY" info -q --code "$ASSAY") \
            >out 2>err || status=$?
        [ "$status" -ne 0 ] || break
        like "assay: x.assay/*: cannot be written: *" "$(grep ^assay: err)"
        case $(cat err) in *"; then 'assay attribute x.assay' finishes the run") ;; *) continue ;; esac
        "$ASSAY" attribute -q x.assay
        finished=$(query x.assay "SELECT iif(sample_n > 0, 'yes', 'no') FROM v_runs")
        break
    done
    equal yes "$finished"
}
@test "profile: the end of options is not the value of one" {
    refused 2 "assay: --output: missing NAME.assay; *" -o -- ./burn 0.05
    refused 2 "assay: --label: missing TEXT; *" --label -- ./burn 0.05
    [ ! -e ./-- ] || fails "left behind"
}
@test "profile: a name that is too long" {
    refused 1 "assay: aaa*: cannot be created: File name too long; use a shorter name" \
        -o "$(printf '%0300d' 0 | tr 0 a)" -- ./burn 0.05
}
@test "profile: closed descriptors stay closed, and nothing is written into files" {
    records
    status=0
    "$ASSAY" profile -o x.assay -- ./burn 0.05 3 <&- >&- 2>&- || status=$?
    equal 3 "$status"
    equal "3,complete" "$(query x.assay "SELECT exit_code, state FROM v_runs")"
    "$ASSAY" profile -q --force -o x.assay -- sh -c 'ls /proc/self/fd/1 || exit 5' >&- 2>err || status=$?
    equal 5 "$status"
    # A failed write of the summary does not count as a failure of the program.
    [ -w /dev/full ] || return 0
    status=0
    "$ASSAY" profile --force -o x.assay -- ./burn 0.05 4 2>/dev/full || status=$?
    equal 4 "$status"
}
@test "profile: in pipes, and under timeout" {
    records
    printf 'one\ntwo\n' >lines
    equal "2" "$("$ASSAY" profile -q -o x.assay -- wc -l <lines)"
    "$ASSAY" profile -q --force -o x.assay -- seq 10000000 2>err | head -1 >out
    equal "1" "$(cat out)"
    equal 13 "$(query x.assay "SELECT exit_signal FROM v_runs")"
    # By that signal timeout itself learns that the time is over.
    timeout 600 "$ASSAY" profile -q --force -o x.assay -- ./badly never 3>&- &
    pid=$!
    until_so has_run 30 -g "$pid" badly
    kill -ALRM "$pid"
    status=0
    wait "$pid" || status=$?
    equal 124 "$status"
    equal "interrupted,15" "$(query x.assay "SELECT state, exit_signal FROM v_runs")"
}
@test "profile: every CPU, without /sys" {
    records
    events
    # shellcheck disable=SC2016
    hidden='umount -l /sys 2>/dev/null; [ ! -e /sys/devices ] || exit 99; exec "$@"'
    status=0
    unshare -m sh -c "$hidden" sh true 2>/dev/null || status=$?
    [ "$status" -eq 0 ] || skip "it cannot be hidden here"
    # The first and the last that may be used.
    local may
    may=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
    for cpu in "${may%%[-,]*}" "${may##*[-,]}"; do
        rm -rf x.assay
        unshare -m sh -c "$hidden" sh taskset -c "$cpu" "$ASSAY" profile -q -o x.assay -- ./burn 0.3
        equal 1 "$(hot burn)"
        equal 1 "$(query x.assay "SELECT cpu_n > 0 FROM v_hosts")"
        equal 1 "$(query x.assay "SELECT length(core_table) > 5 FROM v_hosts")"
    done
}
@test "profile: a program under another root" {
    records
    events
    [ "$(id -u)" -eq 0 ] || skip "only root may change the root"
    gcc -O2 -g -static -o burn-static burn.c || skip "no static C library here"
    mkdir -p jail && mv burn-static jail/
    profile 0 -q -- chroot jail /burn-static 0.3
    equal 1 "$(hot burn)"
    equal "/burn-static,1" "$(query x.assay "SELECT path, has_debug FROM v_modules WHERE name = 'burn-static'")"
    equal "$PWD/jail/burn-static" "$(query x.assay "SELECT exe FROM v_processes ORDER BY time_s DESC LIMIT 1")"
}
@test "profile: stopped while samples become facts" {
    records
    # The signal comes when the samples that were recorded are read: until then it is for the run.
    build_signals
    status=0
    SIGNAL_AT=main.samples signalled TERM "$ASSAY" profile -o x.assay -- ./burn 0.2 >out 2>err ||
        status=$?
    is_recorded
    equal 143 "$status"
    equal "assay: stopped before the samples were attributed; 'assay attribute x.assay' finishes it" \
        "$(grep "^assay:" err)"
    "$ASSAY" attribute -q x.assay
    equal 1 "$(query x.assay "SELECT sample_n > 0 FROM v_runs")"
}
@test "an experiment of another user" {
    [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root, and setpriv"
    "$MAKE_EXPERIMENT" x.assay
    chmod a+rx . "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
    nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$ASSAY" "$@" >out 2>err; }
    chmod -R a-w,a+rX x.assay
    nobody show x.assay || skip "another user does not come here: $(cat err)"
    chmod 700 x.assay
    never nobody show x.assay
    equal "assay: x.assay: cannot be read: Permission denied; ask its owner for permission" "$(cat err)"
}
