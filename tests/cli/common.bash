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

# wait_for_samples DIRECTORY [GROUP NAME]: until the run writes samples there, and a process of that
# name runs in the group; 10 s at most
wait_for_samples() {
    for _ in $(seq 100); do
        [ -s "$1/main.samples" ] && { [ $# -lt 3 ] || pgrep -g "$2" "$3" >/dev/null; } && break
        sleep 0.1
    done
}
