# SPDX-License-Identifier: Apache-2.0
# For every script: a small program with known lines, built once per file, and helpers.

cd "$BATS_FILE_TMPDIR" || exit 1
unset COLUMNS NO_COLOR ASSAY_LOG

# Two units with different flags; main calls twice() of the other unit, and has an inlined call.
build_program() {
    command -v gcc >/dev/null || skip "no gcc here"
    cat >twice.c <<'END'
int twice(int x)
{
    return 2 * x;
}
static int hidden(int x)
{
    return x + 40;
}
int call_hidden(int x) { return hidden(x); }
int alias_of_twice(int) __attribute__((alias("twice")));
END
    cat >main.c <<'END'
#include <stdio.h>
int twice(int);
int call_hidden(int);
static inline __attribute__((always_inline)) int square(int x)
{
    return x * x;
}
static __attribute__((noinline)) int hidden(int x)
{
    return x - 2;
}
int main(int argc, char **argv)
{
    (void)argv;
    for (int i = 0; i < argc; i++)
        printf("%d\n", square(argc) + twice(i) + hidden(i) + call_hidden(i));
    return 0;
}
END
    gcc -g -O0 -c twice.c -o twice.o
    gcc -g -O1 -c main.c -o main.o
    gcc -no-pie main.o twice.o -o program
}

# The words of a JSON document at a path of python subscripts: json '["command"]' <file
json() {
    python3 -c "import json,sys; d=json.load(sys.stdin); v=d$1; print(v if isinstance(v,str) else json.dumps(v))"
}

fails() { printf '%s\n' "$@" >&2; return 1; }

# equal WANT GOT
equal() { [ "$1" = "$2" ] || fails "want: $1" "got:  $2"; }
# like PATTERN GOT
# shellcheck disable=SC2254
like() { case $2 in $1) ;; *) fails "want like: $1" "got: $2" ;; esac; }

# never COMMAND...: it fails, as it should; a bare `! COMMAND` ends no test
never() { ! "$@" || fails "this should fail: $*"; }

# What is waited for is an event and never a time, for a host may be slow, and give a process nothing
# for seconds.

# until_so COMMAND...: until it succeeds; it fails where that does not come, which takes minutes
until_so() {
    local until=$((SECONDS + 200))
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || fails "it never came: $*" || return 1
        sleep 0.05
    done
}
# has_run HUNDREDTHS PGREP-ARGUMENT...: a process that pgrep finds has run for so many hundredths of
# a second of processor time
has_run() {
    local pid words
    for pid in $(pgrep "${@:2}"); do
        words=$(cat "/proc/$pid/stat" 2>/dev/null) || continue
        read -ra words <<<"${words##*) }"
        [ $((words[11] + words[12])) -lt "$1" ] || return 0
    done
    return 1
}
# has_written FILE SIZE: it is longer
has_written() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "$2" ]; }
# wait_for_samples DIRECTORY PGREP-ARGUMENT...: until the process that pgrep finds has run for half a
# second, and samples of that are in the file there
wait_for_samples() {
    until_so has_run 50 "${@:2}"
    until_so has_written "$1/main.samples" "$(stat -c %s "$1/main.samples" 2>/dev/null || echo 0)"
}
# build_signals: signals.so of signals.c, for signalled
build_signals() {
    command -v gcc >/dev/null || skip "no gcc here"
    gcc -O1 -shared -fPIC -o signals.so "$BATS_TEST_DIRNAME/signals.c"
}
# signalled SIGNAL COMMAND...: the command gets the signal when it first copies a file, or opens the file
# whose name is $SIGNAL_AT. A sanitizer would like to come first, and need not.
signalled() {
    local number
    number=$(kill -l "$1")
    SIGNAL=$number LD_PRELOAD=$PWD/signals.so \
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 \
        env --default-signal="$1" "${@:2}"
}
# For teardown: what a test that failed had started in a group of its own, $group, takes no processor
# from the tests that follow.
end_group() {
    [ -z "${group:-}" ] || kill -KILL -- "-$group" 2>/dev/null || true
    group=
}
# has_slept PID TIMES: so often has it given its processor away
has_slept() {
    [ "$(sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/status")" -ge "$2" ]
}
# after_flush PID: until an assay that records has written what it had taken, which it does when a
# second is over and it looks the next time
after_flush() {
    sleep 1.2
    until_so has_slept "$1" \
        $(($(sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "/proc/$1/status") + 6))
}
