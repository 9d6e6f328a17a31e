# SPDX-License-Identifier: Apache-2.0
# assay vprof --pid and assay count --pid as a user runs them. tests/patch/attach.py checks the
# results of the program during entry and exit, and the records.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >going.c <<'END'
#include <stdio.h>
#include <unistd.h>
#include <poll.h>
static double b[4096];
__attribute__((noinline)) double chain(long n, double s)
{
    for (long i = 0; i < n; i++)
        s = s * 0.999 + b[i & 4095];
    return s;
}
int main(void)
{
    struct pollfd end = {.fd = 0, .events = POLLIN};
    double s = 0;
    printf("going\n");
    fflush(stdout);
    while (poll(&end, 1, 0) == 0)
        for (int i = 0; i < 100; i++)
            s += chain(1000, s);
    printf("end %d\n", s != s);
    return 7;
}
END
    gcc -O1 -g -o going going.c
}

setup() {
    load common.bash
    rm -rf ./*.assay
    mkfifo gate.$BATS_TEST_NUMBER
    ./going <gate.$BATS_TEST_NUMBER >out.$BATS_TEST_NUMBER 3>&- &
    pid=$!
    exec 4>gate.$BATS_TEST_NUMBER
    until_so grep -qs going out.$BATS_TEST_NUMBER
}

teardown() {
    exec 4>&-
    [ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
}

# The program ends as it does alone.
ends_well() {
    echo >&4
    local status=0
    wait "$pid" || status=$?
    pid=
    [ "$status" -eq 7 ]
    equal "going end 0" "$(xargs <out.$BATS_TEST_NUMBER)"
}

# May ptrace(2) be used, and perf events, in this place?
may_enter() {
    "$ASSAY" vprof --pid "$pid" --duration 0.1 --every 1 -o try.assay >tried 2>&1 ||
        case $(cat tried) in *ptrace*|*perf_event*) skip "$(cat tried)" ;; esac
}

# enough CONDITION VERB ARGUMENT...: repeats a measurement until CONDITION, in python, holds of
# "said". A host may withhold the CPU from the process for a second or several, so each attempt is
# longer. Fails after two minutes.
enough() {
    local seconds
    for seconds in 1.5 10 120; do
        rm -rf x.assay
        "$ASSAY" "${@:2}" --pid "$pid" --duration "$seconds" -o x.assay --format json >said.json 2>err ||
            continue
        ! python3 -c "import json, sys; said = json.load(open('said.json')); sys.exit(not ($1))" || return 0
    done
    fails "$(cat err said.json)"
}

@test "vprof --pid times the loop of a process, which goes on" {
    may_enter
    enough "said['loops'] and said['loops'][0]['all']['timed'] > 1" vprof --every 1 --loops chain
    python3 - <<'END'
import json
loop = json.load(open("said.json"))["loops"][0]
assert loop["exact"] and loop["instances"] > 0, loop
all = loop["all"] # the one that ran when we came is short
assert all["timed"] > 1 and -1000 <= (all["iterations_mean"] - 1000) * all["timed"] <= 0.1, all
assert abs(loop["iterations"] - 1000 * loop["instances"]) <= 1000, loop
END
    equal 0 "$(grep -c stays err)"
    ends_well
}

@test "vprof --pid chooses how many it times" {
    may_enter
    enough "'chain' in json.dumps(said['loops'])" vprof
    like "*chain*" "$("$ASSAY" query --format csv x.assay 'SELECT DISTINCT function FROM v_loops')"
    equal 1 "$("$ASSAY" query x.assay 'SELECT count(*) >= 2 FROM run' --format csv | tail -1)"
    ends_well
}

@test "count --pid counts what a process executes meanwhile" {
    may_enter
    enough "said['counted'] and said['counted'][0].get('executed_start_n', 0) > 100" count --functions '^chain$'
    python3 - <<'END'
import json
chain, loop = json.load(open("said.json"))["counted"][:2]
flops, starts = chain["executed_flop_n"], chain["executed_start_n"]
assert starts > 100 and abs(flops - 2000 * starts) <= 4000, (flops, starts)
END
    ends_well
}

@test "Ctrl-C ends the looking, not the process" {
    may_enter
    # A shell starts what is behind & deaf to it.
    env --default-signal=INT "$ASSAY" vprof --pid "$pid" --duration 60 --every 1 --loops chain \
        -o x.assay >said 2>&1 3>&- 4>&- &
    local assay=$! status=0
    until_so has_written x.assay/run-001/main.samples 0
    kill -INT "$assay"
    wait "$assay" || status=$?
    equal 130 "$status"
    ends_well
}

@test "refused at once: a process that is stopped, or of another user" {
    may_enter
    kill -STOP "$pid"
    until_so grep -q "^State:.T" "/proc/$pid/status"
    run "$ASSAY" vprof --pid "$pid" -o x.assay
    [ "$status" -ne 0 ]
    like "*process $pid: it is stopped by a signal*" "$output"
    kill -CONT "$pid"
    [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null || {
        local other
        other=$(mktemp -d /tmp/attach.XXXXXX) # that user comes to no other
        chmod 777 "$other"
        run setpriv --reuid 65534 --clear-groups "$ASSAY" count --pid "$pid" \
            -o "$other/x.assay"
        rm -r "$other"
        [ "$status" -ne 0 ]
        like "*process $pid: *user*root*" "$output"
    }
    ends_well
}

@test "refused: no process, a command with it, a time without one" {
    run "$ASSAY" vprof --pid 99999999 -o x.assay
    [ "$status" -ne 0 ]
    like "*no such process*" "$output"
    run "$ASSAY" count --pid "$pid" -o x.assay -- ./going
    equal 2 "$status"
    run "$ASSAY" vprof --duration 3 -o x.assay -- ./going
    equal 2 "$status"
    like "*--duration: only with --pid for this verb*" "$output"
    run "$DENY" EPERM ptrace "$ASSAY" vprof --pid "$pid" --duration 0.1 -o x.assay
    [ "$status" -eq 99 ] || like "*ptrace*" "$output"
    [ "$status" -ne 0 ]
    ends_well
}
@test "a process that ends before the second look is said to have ended" {
    may_enter
    for verb in vprof count; do
        rm -rf x.assay
        rm -f gate.other
        mkfifo gate.other
        ./going <gate.other >ended.out 4>&- &
        other=$!
        exec 5>gate.other
        "$ASSAY" $verb --pid "$other" --duration 600 -o x.assay >out 2>err 4>&- 5>&- &
        looks=$!
        until_so has_written x.assay/run-001/main.samples 0
        after_flush "$looks"
        kill -KILL "$other" # in the first look: there is none for the second
        status=0
        wait "$looks" || status=$?
        equal 1 "$status"
        grep -v '^assay: \(.* measurements of\|measurement .* of\) ' err >said # the progress
        equal 1 "$(grep -c '^assay: ' said)"
        like "assay: process $other: it ended before assay attached again, *; its profile is in x.assay; *" \
            "$(cat said)"
        "$ASSAY" show x.assay >shown
        exec 5>&-
        wait "$other" || true
    done
    ends_well
}
