# SPDX-License-Identifier: Apache-2.0
# assay export: files for other programs equal the tables they are made from.

setup_file() {
    load common.bash
    "$MAKE_EXPERIMENT" x.assay
    command -v gcc >/dev/null || return 0
    cat >inlined.c <<'END'
#include <pthread.h>
#include <time.h>
volatile double sink;
static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static inline __attribute__((always_inline)) double step(double x) { return x * 1.5 + 0.5; }
static inline __attribute__((always_inline)) double row(double x)
{
    for (int i = 0; i < 1000; i++)
        x = step(x);
    return x;
}
__attribute__((noinline)) double sweep(double x) { return row(x) + row(x + 1); }
static void *work(void *p)
{
    const double end = cpu() + 0.2;
    while (cpu() < end)
        for (int i = 0; i < 100; i++)
            sink += sweep(i);
    return p;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    return pthread_join(thread, 0);
}
END
    gcc -O2 -g -pthread -o inlined inlined.c
    "$ASSAY" profile -q --rate high -o real.assay -- ./inlined 2>probe.err || touch refused
}
setup() { load common.bash; }

refused() {
    local status=0 want_status=$1 want=$2
    shift 2
    "$ASSAY" export "$@" >out 2>err || status=$?
    like "$want" "$(cat err)"
    equal 1 "$(wc -l <err)"
    equal "$want_status" "$status"
    [ ! -s out ] || fails "there is output: $(cat out)"
}

@test "export: every format equals the tables" {
    python3 "$CHECK_EXPORT" "$ASSAY" x.assay
}
@test "export: every format equals the tables of a real run, inlined functions too" {
    [ -d real.assay ] && [ ! -e refused ] || skip "no run was recorded here: $(cat probe.err)"
    python3 "$CHECK_EXPORT" "$ASSAY" real.assay
    "$ASSAY" export real.assay >out
    grep -q '^.*;main;work;sweep;row;step [0-9]*$' out
    grep -q 'start_thread;work;sweep;row' out
}
@test "export: go tool pprof reads it" {
    command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q format || skip "no go tool pprof here"
    "$ASSAY" export x.assay --as pprof -o top.pb.gz
    go tool pprof -top top.pb.gz >out 2>/dev/null
    grep -q '^ *1050ms 52.50% 52.50%     1340ms 67.00%  solve$' out
    go tool pprof -tags top.pb.gz 2>/dev/null | grep -q '1.0s (50.00%): 0'
}
@test "export: folded is the default, and goes to standard output" {
    equal "main;solve 105" "$("$ASSAY" export x.assay | head -1)"
    "$ASSAY" export x.assay --as folded --run 1 -o out.folded
    equal "$("$ASSAY" export x.assay)" "$(cat out.folded)"
    "$ASSAY" export x.assay --by process >out
    grep -q '^solver (rank 1, pid 4243);main;solve 60$' out
}
@test "export: binary does not go to a terminal" {
    command -v script >/dev/null || skip "no script here"
    script -qec "$ASSAY export x.assay --as pprof" /dev/null >out </dev/null
    like "*assay: the export is x.pb.gz*" "$(cat out)"
    python3 -c "import gzip; gzip.open('x.pb.gz').read()"
    script -qec "$ASSAY export x.assay/ --as pprof" /dev/null >out </dev/null
    like "*assay: the export is x-2.pb.gz*" "$(cat out)"
}
@test "export: what cannot be" {
    refused 2 "assay: --as: invalid value 'svg'; use *" x.assay --as svg
    refused 2 "assay: --by: invalid value 'rank'; *" x.assay --by rank
    refused 2 "assay: --by: pprof always has processes and threads as labels; remove --by" \
        x.assay --as pprof --by run
    refused 2 "assay: --format: 'export' does not have this option; use --as *" x.assay --format json
    refused 2 "assay: x.assay: has no run 7; its last is 1" x.assay --run 7
    refused 2 "assay: nowhere.assay: no such experiment: *" nowhere.assay
    [ -w /dev/full ] || skip "no /dev/full here"
    refused 1 "assay: /dev/full: *No space left on device*" x.assay -o /dev/full
}
