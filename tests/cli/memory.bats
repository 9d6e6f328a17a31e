# SPDX-License-Identifier: Apache-2.0
# Views of the memory of loops: objects, iterations and bytes of an entry, caches.
# The truth is what the program is started with.

setup_file() {
    load common.bash
    command -v gcc >/dev/null || skip "no gcc here"
    cat >touches.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>
#define ALONE __attribute__((noinline, noipa))
double grid[1 << 20]; /* 8 MiB */
ALONE double row(const double *m, long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += m[i];
    return s;
}
ALONE double column(const double *m, long rows, long ld)
{
    double s = 0;
    for (long i = 0; i < rows; i++)
        s += m[i * ld];
    return s;
}
ALONE void copy(double *to, const double *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i] + 1;
}
static double *file_of(long bytes)
{
    const int fd = open("numbers.dat", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, bytes) < 0)
        exit(2);
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
}
int main(int argc, char **argv)
{
    const char *what = argv[1];
    const long n = atol(argv[2]), ld = argc > 3 ? atol(argv[3]) : 1, total = 600000000;
    double stack[4096], *m = grid, s = 0;
    if (!strcmp(what, "stack"))
        m = stack;
    else if (!strcmp(what, "block"))
        m = malloc(3 << 20);
    else if (!strcmp(what, "heap"))
        m = malloc(16000);
    else if (!strcmp(what, "file"))
        m = file_of(1 << 20);
    double *to = strcmp(what, "copy") ? m : malloc(8 << 20);
    memset(m, 0, n * ld * sizeof *m);
    for (long done = 0; done < total; done += n)
        if (!strcmp(what, "column"))
            s += column(m + done / n % ld, n, ld);
        else if (!strcmp(what, "copy"))
            copy(to, m, n);
        else
            s += row(m, n);
    printf("%g\n", s + to[0]);
    return 0;
}
END
    gcc -O2 -g -fno-tree-vectorize -o touches touches.c
    cat >sweeps.c <<'END'
/* sweeps rows|tiles|records SECONDS: prints the megabytes of a second of processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define ALONE __attribute__((noinline, noipa))
enum { N = 1 << 23, ROW = 256, TILE = 1 << 13, RECORDS = 1 << 19 };
ALONE void add(double *a, const double *b, const double *c, long n)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] + c[i];
}
struct record { float x[6]; };
ALONE float pick(const struct record *r, const unsigned *at, long n)
{
    float s = 0;
    for (long i = 0; i < n; i++)
        for (int k = 0; k < 3; k++)
            s += r[at[i]].x[k] * s;
    return s;
}
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(int argc, char **argv)
{
    const double until = cpu_s() + atof(argv[2]);
    const int tiles = !strcmp(argv[1], "tiles"), records = !strcmp(argv[1], "records");
    double *a = calloc(3 * N, sizeof *a), bytes = 0, s = 0, start = 0;
    struct record *r = calloc(RECORDS, sizeof *r);
    unsigned *at = malloc(RECORDS * sizeof *at);
    unsigned long seed = 1;
    for (long i = 0; i < 3 * N; i++)
        a[i] = i;
    for (long i = 0; i < RECORDS; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        at[i] = seed >> 40 & (RECORDS - 1);
        r[i].x[1] = i;
    }
    for (start = cpu_s(); cpu_s() < until;)
        if (records)
            s += pick(r, at, RECORDS);
        else if (tiles)
            for (long t = 0; t < N; t += TILE)
                for (int again = 0; again < 40; again++)
                    add(a + t, a + N + t, a + 2 * N + t, TILE);
        else
            for (long t = 0; t < N; t += ROW, bytes += 3 * ROW * sizeof *a)
                add(a + t, a + N + t, a + 2 * N + t, ROW);
    printf("%.0f %g\n", bytes / (cpu_s() - start) / 1e6, s + a[5]);
    return 0;
}
END
    gcc -O2 -g -fno-tree-vectorize -o sweeps sweeps.c
}

setup() {
    load common.bash
}

record() {
    "$ASSAY" run -q -o x.assay --force -- ./touches "$@" >/dev/null
}

# Objects of the hottest loop: KIND,OBJECT,NUMBER,ACCESS, a line each.
objects() {
    record "$@"
    "$ASSAY" query --format csv x.assay "SELECT kind, object, object_n, access FROM v_loop_objects
        WHERE loop_id = (SELECT loop_id FROM v_loops ORDER BY exclusive_time_s DESC LIMIT 1)
        ORDER BY object" | tail -n +2
}

# A column of v_loop_memory, of the hottest loop.
memory() {
    "$ASSAY" query --format csv x.assay "SELECT $1 FROM v_loop_memory
        ORDER BY time_s DESC LIMIT 1" | tail -n +2
}

# between VALUE LOW HIGH
between() {
    awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x != "" && x >= low && x <= high) }' ||
        { echo "$1 is not between $2 and $3"; return 1; }
}

@test "memory: the objects of a loop are symbols, blocks, the heap, the stack and files" {
    [ "$(objects row 100000)" = symbol,grid,1,load ]
    [ "$(objects stack 4000)" = stack,stack,1,load ]
    [ "$(objects block 300000)" = "block,block of 3.0 MiB,1,load" ]
    [ "$(objects heap 2000)" = heap,heap,1,load ]
    [ "$(objects file 100000)" = file,numbers.dat,1,load ]
}

@test "memory: a loop touches several objects" {
    run objects copy 1000000
    [ "${lines[0]}" = "block,block of 8.0 MiB,1,store" ]
    [ "${lines[1]}" = symbol,grid,1,load ]
}

# 66 samples and more of the loop are kept. The rest of an entry deviates by 29 % of it, twice the mean
# of 66 by 7 %: 40 % are more than 5 deviations.
@test "memory: iterations and bytes of an entry" {
    record row 100000
    between "$(memory iteration_n)" 60000 140000
    between "$(memory entry_b)" 480000 1120000
    between "$(memory touched_b)" 600000 800000
    record column 500 2000
    between "$(memory iteration_n)" 300 700
    between "$(memory entry_b)" 19200 44800
    between "$(memory page_n)" 300 700
}

@test "memory: the cache that the data of an entry come from" {
    record row 2000
    [ "$(memory level)" = L1 ]
    local second
    second=$("$ASSAY" query --format csv x.assay "SELECT max(size_b) FROM machine_place
        WHERE kind = 'cache' AND level = 2" | tail -n +2)
    [ -n "$second" ] && [ "$second" -le 4194304 ] || skip "the second cache is not known, or large"
    record row 1000000
    [ "$(memory near_level)" -ge 3 ]
    record column 8000 64
    [ "$(memory near_level)" -ge 2 ]
    [ "$(memory set_n)" = 8 ]
}

@test "memory: show has a view of memory and one of objects" {
    record row 100000
    run "$ASSAY" show x.assay --view memory
    [[ $output == *iterations* && $output == *touches.c:1[0-9]* ]]
    run "$ASSAY" show x.assay --view objects
    [[ $output == *grid* && $output == *"touched KiB"* ]]
}

@test "memory: a stripped binary has files in place of symbols" {
    cp touches kept && strip touches
    run objects row 100000
    mv kept touches
    echo "$output"
    [ "$output" = file,touches,1,load ]
}

@test "memory: timers give the same, a recording of perf knows no objects" {
    "$ASSAY" run -q -o x.assay --force --event timer -- ./touches row 100000 >/dev/null
    run "$ASSAY" query --format csv x.assay "SELECT object FROM v_loop_objects WHERE function = 'row'"
    [[ $output == *grid* ]]
    command -v perf >/dev/null || skip "no perf here"
    perf record -q -e cpu-clock --call-graph dwarf -o p.data ./touches row 100000 >/dev/null 2>&1 ||
        skip "perf records nothing here"
    "$ASSAY" import -q p.data -o x.assay --force
    between "$(memory iteration_n)" 60000 140000
    [ "$(memory "ifnull(level, 'unknown')")" = unknown ]
}

@test "memory: long strides within the first cache are not a finding" {
    record column 100 1000
    run "$ASSAY" show x.assay --view findings
    [[ $output != *"of the cache lines"* ]]
    record column 4000 200
    run "$ASSAY" show x.assay --view findings
    [[ $output == *"goes on by 1,600 bytes"*"along the array m by ld = 200 elements (grid)"*"more than L1 holds"* ]]
}

# A metric of the hottest loop; empty: not known.
loop_metric() {
    "$ASSAY" query --format csv x.assay "SELECT value FROM v_values WHERE object_kind = 'loop'
        AND metric = '$1' AND object_id = (SELECT loop_id FROM v_loops
        ORDER BY exclusive_time_s DESC LIMIT 1)" | tail -n +2
}

# Three arrays of 64 MiB.
@test "memory: walks of short entries range over all arrays together" {
    run "$ASSAY" run -q -o x.assay --force -- ./sweeps rows 1.5
    between "$(loop_metric operand_sweep_b)" 70000000 203000000
}

# A sweep takes some 40 periods of this rate. Other processes make the rate smaller.
@test "memory: the data rate is the program's, that of tiles what is new in them" {
    run "$ASSAY" run -q --rate 4000 -o x.assay --force -- ./sweeps rows 1.5
    local -r rows=${lines[0]%% *}
    between "$(loop_metric operand_rate_b_s)" $((rows * 200000)) $((rows * 1300000))
    "$ASSAY" run -q --rate 4000 -o x.assay --force -- ./sweeps tiles 1.5
    between "$(loop_metric operand_sweep_b)" 70000000 203000000
    between "$(loop_metric operand_rate_b_s)" 1 $((rows * 100000))
}

@test "memory: indirect access to records is not a stride" {
    "$ASSAY" run -q -o x.assay --force -- ./sweeps records 1.5
    between "$(loop_metric operand_index_b)" 4000000 13000000
    [ -z "$(loop_metric operand_walk_b)$(loop_metric operand_sweep_b)" ]
}
