# SPDX-License-Identifier: Apache-2.0
# assay profile where something is not permitted, not there or not enough: ordinary users, filtered
# system calls, full disks, few descriptors, ends from outside.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >burn.c <<'END'
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile unsigned long sink;
__attribute__((noinline)) void burn(double seconds)
{
    struct timespec t;
    do {
        for (unsigned long i = 0; i < 1000000; i++)
            sink += i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    } while ((double)t.tv_sec + 1e-9 * (double)t.tv_nsec < seconds);
}
int main(int argc, char **argv)
{
    burn(argc > 1 ? atof(argv[1]) : 0.2);
    if (argc > 2 && fork() == 0)
        burn(atof(argv[2]));
    return 0;
}
END
    gcc -O1 -g -o burn burn.c
    if ! "$ASSAY" profile -q -o probe.assay -- ./burn 0.05 2>probe.err; then
        cat probe.err >&2
        grep -q "perf_event_paranoid\|not permitted\|no such events" probe.err && touch refused
    fi
    # An ordinary user needs a folder that it can reach.
    ORDINARY=$(mktemp -d)
    export ORDINARY
    mkdir "$ORDINARY/locked" && chmod 755 "$ORDINARY" && chmod 555 "$ORDINARY/locked"
    mkdir "$ORDINARY/free" && chmod 777 "$ORDINARY/free" && cp burn "$ORDINARY"
    as_user=$ORDINARY/as-user
    printf '#!/bin/sh\nexec "$@"\n' >"$as_user"
    if [ "$(id -u)" -eq 0 ]; then
        printf '#!/bin/sh\nexec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"\n' >"$as_user"
    fi
    chmod 755 "$as_user"
}
teardown_file() {
    load common.bash
    [ -z "$ORDINARY" ] || until_so rm -rf "$ORDINARY" # a program that ends may write there yet
}
setup() {
    load common.bash
    rm -rf ./*.assay "$ORDINARY"/free/*.assay
}

records() { [ ! -e refused ] || skip "perf events are refused here: $(cat probe.err)"; }
as_user() { "$ORDINARY/as-user" "$@"; }
ordinary() {
    as_user "$ASSAY" --version >/dev/null 2>&1 || skip "no ordinary user can run assay here"
    cd "$ORDINARY/free" || fails "no folder"
}
query() { "$ASSAY" query --format csv "$1" "$2" | tail -n +2; }
one() { [ "$(query "$1" "$2")" = 1 ] || fails "not so: $2"; }

# refused SENTENCE COMMAND...: one sentence, nothing else, and it fails
refused() {
    local status=0 want=$1 to=$BATS_FILE_TMPDIR
    shift
    "$@" >"$to/out" 2>"$to/err" || status=$?
    like "$want" "$(cat "$to/err")"
    equal 1 "$(wc -l <"$to/err")"
    like "[12]" "$status"
    [ ! -s "$to/out" ] || fails "there is output: $(cat "$to/out")"
}

@test "denied: an ordinary user gets what the kernel's setting allows, and a message" {
    records
    ordinary
    paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
    [ "$paranoid" -le 2 ] || skip "perf_event_paranoid is $paranoid"
    as_user "$ASSAY" profile -q -o x.assay -- ../burn
    one x.assay "SELECT exclusive_pct > 80 FROM v_functions WHERE name = 'burn'"
    if [ "$paranoid" -eq 2 ]; then
        equal user "$(query x.assay "SELECT scope FROM v_runs")"
        like "*perf_event_paranoid*2*" "$(query x.assay "SELECT event_reason FROM v_runs")"
    fi
}
@test "denied: attaching to another user's process" {
    ordinary
    [ "$(stat -c %u /proc/1)" -eq 0 ] || skip "process 1 is not root's"
    refused "assay: process 1: *" as_user "$ASSAY" profile -o x.assay --pid 1
    [ ! -e x.assay ] || fails "left behind"
    if [ "$(id -u)" -eq 0 ]; then
        ../burn 600 3>&- &
        pid=$!
        refused "assay: process $pid: *" as_user "$ASSAY" profile -o x.assay --pid "$pid"
        kill -0 "$pid"
        kill "$pid"
    fi
}
@test "denied: an ordinary user where nothing can be written" {
    ordinary
    refused "assay: ../locked/x.assay: *ermission*" \
        as_user "$ASSAY" profile -o ../locked/x.assay -- ../burn 0.01
    cd ../locked
    refused "assay: *burn*ermission*" as_user "$ASSAY" profile -- ../burn 0.01
    equal "" "$(ls)"
}
@test "denied: a directory in the way, or missing" {
    touch file
    refused "assay: file/x.assay: *" "$ASSAY" profile -o file/x.assay -- ./burn 0.01
    refused "assay: no/such/x.assay: *" "$ASSAY" profile -o no/such/x.assay -- ./burn 0.01
}
@test "denied: perf events are refused: the setting is named" {
    paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
    for error in EACCES EPERM; do
        status=0
        "$DENY" $error "$ASSAY" profile --verbose --force -o x.assay -- ./burn 0.3 2>err || status=$?
        [ "$status" -ne 99 ] || skip "no seccomp here"
        equal 0 "$status"
        equal timer "$(query x.assay "SELECT event FROM v_runs")"
        one x.assay "SELECT exclusive_pct > 80 FROM v_functions WHERE name = 'burn'"
        reason=$(query x.assay "SELECT event_reason FROM v_runs")
        like "*$error*kernel.perf_event_paranoid is $paranoid*" "$reason"
        if [ "$paranoid" -gt 2 ]; then
            like "*'sysctl kernel.perf_event_paranoid=2' as root*" "$reason"
        else
            like "*seccomp filter*--cap-add PERFMON*" "$reason"
        fi
        like "*$error*kernel.perf_event_paranoid is $paranoid*" "$(tr -s ' \n' ' ' <err)"
    done
}
@test "denied: a kernel without perf events" {
    for error in ENOSYS ENOENT; do
        status=0
        "$DENY" $error "$ASSAY" profile -q --force -o x.assay -- ./burn 0.3 2>err || status=$?
        [ "$status" -ne 99 ] || skip "no seccomp here"
        equal 0 "$status"
        equal timer "$(query x.assay "SELECT event FROM v_runs")"
        like "*$error*" "$(query x.assay "SELECT event_reason FROM v_runs")"
    done
}
@test "denied: a disk that is full" {
    records
    mkdir -p small
    user=
    [ "$(id -u)" -eq 0 ] || user=-Ur
    unshare $user -m mount -t tmpfs none small 2>/dev/null || skip "nothing can be mounted here"
    # The program goes on to its end; what there is can be read, and the sentence says what failed.
    export ASSAY
    unshare $user -m sh -c 'mount -t tmpfs -o size=200k none small &&
        { "$ASSAY" profile -o small/x.assay --rate high -- ./burn 0.5 2>err; echo $? >status
          du -a small >listed; }'
    [ "$(cat status)" -ne 0 ] || fails "it says all is well: $(cat err)"
    like "*assay: small/*No space left*" "$(cat err)"
}
@test "denied: few descriptors, and few processes" {
    records
    status=0
    (ulimit -n 12 && exec "$ASSAY" profile -q -o x.assay -- ./burn 0.1) 2>err || status=$?
    if [ "$status" -ne 0 ]; then
        equal 1 "$(grep -c "^assay: " err)"
        like "*ulimit -n*" "$(cat err)"
    else
        one x.assay "SELECT count(*) > 0 FROM v_functions WHERE name = 'burn'"
    fi
}
@test "denied: a working directory that is gone" {
    records
    mkdir gone
    status=0
    (cd gone && rmdir ../gone && exec "$ASSAY" profile -q -o "$BATS_FILE_TMPDIR/x.assay" -- \
        "$BATS_FILE_TMPDIR/burn" 0.1) 2>err || status=$?
    equal "0" "$status$(cat err)"
    one x.assay "SELECT exclusive_pct > 80 FROM v_functions WHERE name = 'burn'"
}
@test "denied: no standard input, output and error" {
    records
    status=0
    "$ASSAY" profile -q -o x.assay -- ./burn 0.1 <&- >&- 2>&- || status=$?
    equal 0 "$status"
    one x.assay "SELECT exclusive_pct > 80 FROM v_functions WHERE name = 'burn'"
}
@test "denied: a program that gains privileges is run all the same" {
    records
    ordinary
    command -v su >/dev/null || skip "no su here"
    like "su *" "$(as_user "$ASSAY" profile -q -o x.assay -- su --version)"
    equal 0 "$(query x.assay "SELECT exit_code FROM v_runs")"
}
@test "denied: a program too short for a sample" {
    records
    "$ASSAY" profile -o x.assay --rate 1 -- true 2>err
    equal 0 "$(query x.assay "SELECT sample_n FROM v_runs")"
    for view in functions loops modules threads categories callpaths; do
        "$ASSAY" show x.assay --view $view --format json >out
        json '' <out >/dev/null
    done
}
@test "denied: a child that outlives the program" {
    records
    "$ASSAY" profile -q -o x.assay -- ./burn 0.1 0.6
    equal 0,complete "$(query x.assay "SELECT exit_code, state FROM v_runs")"
    equal 1 "$(query x.assay "SELECT count(*) >= 1 FROM v_processes")"
    # A daemon, which the command waits to see running.
    "$ASSAY" profile -q --force -o x.assay -- sh -c 'setsid sleep 600 & echo $! >daemon; sleep 3' >out 2>err
    kill "$(cat daemon)"
    one x.assay "SELECT n FROM flag WHERE name = 'outlived'"
}
@test "ended: SIGTERM to assay reaches the program, and what there is can be read" {
    records
    "$ASSAY" profile -q -o x.assay -- ./burn 600 2>err &
    pid=$!
    wait_for_samples x.assay/run-001 -P "$pid" burn
    child=$(pgrep -P "$pid")
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    equal 143 "$status"
    never kill -0 "$child" 2>/dev/null
    one x.assay "SELECT exclusive_pct > 80 FROM v_functions WHERE name = 'burn'"
}
@test "ended: kill -9 to assay leaves an experiment that can be read" {
    records
    "$ASSAY" profile -q -o x.assay -- ./burn 600 2>err &
    pid=$!
    wait_for_samples x.assay/run-001 -P "$pid" burn
    child=$(pgrep -P "$pid")
    kill -KILL "$pid"
    wait "$pid" || true
    kill "$child" 2>/dev/null || true
    equal interrupted "$(query x.assay "SELECT state FROM v_runs")"
    "$ASSAY" show x.assay --view runs >out
}
@test "ended: exit codes are those of the program" {
    records
    for code in 0 1 2 126 127 255; do
        status=0
        "$ASSAY" profile -q --force -o x.assay -- sh -c "exit $code" 2>err || status=$?
        equal "$code" "$status"
        equal "$code" "$(query x.assay "SELECT exit_code FROM v_runs")"
    done
}
