#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Causes that samples and code tell apart: waiting that is work elsewhere, threads of other phases, loops
# of switches, stores by index, lists. Each program is its own truth.

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    cat >threads.c <<'END'
/* threads join: one thread at a time, each joined at once. threads pairs: two alike, in four phases, the
 * first ten times as long. threads uneven: one of two has five times the work. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static double sum[64];
static void *work(void *given)
{
    double s = 0;
    for (long i = 1, n = (long)given; i < n; i++)
        s += 1.0 / (double)i;
    sum[0] = s;
    return NULL;
}
static void together(long a, long b)
{
    pthread_t one, two;
    pthread_create(&one, NULL, work, (void *)a);
    pthread_create(&two, NULL, work, (void *)b);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
int main(int argc, char **argv)
{
    const long n = 30000000;
    if (argc > 1 && strcmp(argv[1], "join") == 0)
        for (int k = 0; k < 6; k++) {
            pthread_t one;
            pthread_create(&one, NULL, work, (void *)(2 * n));
            pthread_join(one, NULL);
            work((void *)n);
        }
    else if (argc > 1 && strcmp(argv[1], "pairs") == 0)
        for (int k = 0; k < 4; k++)
            together(k ? n / 2 : 5 * n, k ? n / 2 : 5 * n);
    else
        together(2 * n, 10 * n);
    printf("%g\n", sum[0]);
    return 0;
}
END
    cat >loops.c <<'END'
/* loops machine | scatter | list: one hot loop each */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node {
    struct node *next;
    long value;
};
static double reg[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__attribute__((noipa)) static void machine(const unsigned char *code, long n)
{
    for (long i = 0; i < n; i++)
        switch (code[i]) {
        case 0: reg[0] += reg[1]; break;
        case 1: reg[1] = 0.5 * reg[2] - reg[3]; break;
        case 2: reg[2] *= 0.999; break;
        case 3: reg[3] -= reg[0] * 1e-9; break;
        case 4: reg[4] = reg[5] + reg[6]; break;
        case 5: reg[5] = reg[4] / 3; break;
        case 6: reg[6] = reg[7] * reg[7] * 1e-3; break;
        default: reg[7] = reg[1] - reg[2]; break;
        }
}
__attribute__((noipa)) static void scatter(double *x, const int *to, const int *from, const double *c, long n)
{
    for (long i = 0; i < n; i++)
        x[to[i]] += c[i] * x[from[i]];
}
__attribute__((noipa)) static long list(const struct node *at)
{
    long all = 0;
    for (; at; at = at->next)
        all += at->value;
    return all;
}
int main(int argc, char **argv)
{
    const long n = 4096;
    unsigned char *code = malloc(n);
    int *to = malloc(n * sizeof *to), *from = malloc(n * sizeof *from);
    double *x = calloc(n + 1, sizeof *x), *c = calloc(n, sizeof *c);
    struct node *node = calloc(n, sizeof *node);
    long all = 0;
    for (long i = 0; i < n; i++) {
        code[i] = (unsigned char)((i * 2654435761u >> 7) & 7);
        to[i] = (int)((i * 7 + 3) % n);
        from[i] = (int)((i * 11 + 5) % n);
        c[i] = 1e-3;
        node[i].next = i + 1 < n ? &node[i + 1] : NULL;
        node[i].value = i;
    }
    for (int k = 0; k < 60000; k++)
        if (strcmp(argv[argc - 1], "machine") == 0)
            machine(code, n);
        else if (strcmp(argv[argc - 1], "scatter") == 0)
            scatter(x, to, from, c, n);
        else
            all += list(node);
    printf("%g %g %ld\n", reg[0], x[0], all);
    return 0;
}
END
    cat >bodies.cpp <<'END'
// The body of a std::thread is inlined into its start.
#include <cstdio>
#include <thread>
int main()
{
    double sum[32] = {};
    std::thread one([&sum] {
        for (long i = 1; i < 300000000; i++)
            sum[0] += 1.0 / (double)i;
    });
    one.join();
    std::printf("%g\n", sum[0]);
}
END
    cat >inlined.cpp <<'END'
// The lock of a thread library is inlined into the loop.
#include <cstdio>
#include <mutex>
static std::mutex lock;
int main()
{
    long sum = 0;
    for (long i = 0; i < 40000000; i++) {
        std::lock_guard<std::mutex> guard(lock);
        sum += i % 7;
    }
    std::printf("%ld\n", sum);
}
END
    cat >rows.c <<'END'
/* rows: rows of 21 numbers, each with a sum of its own. rows wide: intrinsics of 16 bytes. */
#include <emmintrin.h>
#include <stdio.h>
#include <stdlib.h>
enum { ROWS = 2000, EACH = 21 };
__attribute__((noipa)) static void rows(double *y, const double *a, const double *x, const int *at, const int *row)
{
    for (int i = 0; i < ROWS; i++) {
        double s = y[i];
        for (int k = row[i]; k < row[i + 1]; k++)
            s -= a[k] * x[at[k]];
        y[i] = s;
    }
}
__attribute__((noipa)) static void wide(unsigned char *a, const unsigned char *b)
{
    for (int i = 0; i < ROWS * EACH; i += 16) {
        __m128i u = _mm_loadu_si128((const __m128i *)(a + i)), v = _mm_loadu_si128((const __m128i *)(b + i));
        u = _mm_max_epu8(_mm_subs_epu8(u, v), _mm_min_epu8(_mm_adds_epu8(u, v), _mm_avg_epu8(u, v)));
        _mm_storeu_si128((__m128i *)(a + i), _mm_xor_si128(u, _mm_cmpeq_epi8(u, v)));
    }
}
int main(int argc, char **argv)
{
    const int n = ROWS * EACH;
    double *a = calloc(n, sizeof *a), *x = calloc(n, sizeof *x), *y = calloc(ROWS, sizeof *y);
    int *at = calloc(n, sizeof *at), *row = calloc(ROWS + 1, sizeof *row);
    unsigned char *p = calloc(n + 16, 1), *q = calloc(n + 16, 1);
    for (int i = 0; i < n; i++) {
        a[i] = 1e-3;
        at[i] = (int)(i * 2654435761u >> 8) % ROWS;
        q[i] = (unsigned char)(i * 7);
    }
    for (int i = 0; i <= ROWS; i++)
        row[i] = i * EACH;
    for (int k = 0; k < (argc > 1 ? 400000 : 20000); k++)
        if (argc > 1)
            wide(p, q);
        else
            rows(y, a, x, at, row);
    printf("%g %d %s\n", y[1], p[3], argv[0]);
    return 0;
}
END
    gcc -O2 -g rows.c -o rows
    g++ -O2 -g -pthread inlined.cpp -o inlined
    g++ -O2 -g -pthread bodies.cpp -o bodies
    gcc -O2 -g -pthread threads.c -o threads
    gcc -O2 -g loops.c -o loops
}

setup() {
    load common.bash
    cd "$BATS_FILE_TMPDIR" || return 1
}

# rules ARGUMENT...: the rules of the findings of a run, in their order
rules() {
    "$ASSAY" run -q --force --rate high -o x.assay -- "$@" >/dev/null
    "$ASSAY" query --format csv x.assay "SELECT rule FROM v_findings ORDER BY rank" | tail -n +2
}
never_says() { # RULE RULES
    case " $(echo "$2" | tr '\n' ' ') " in *" $1 "*) fails "it says $1" "$2" ;; esac
}

@test "causes: joining a thread that computes costs nothing" {
    local said
    said=$(rules ./threads join)
    never_says parallel_overhead "$said"
    never_says load_imbalance "$said"
    never_says lock_contention "$said"
    never_says waiting "$said"
    # The loop is inlined into main as well: one source loop is one finding.
    equal 1 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM v_findings
        WHERE object_kind = 'loop'" | tail -n +2)"
}

@test "causes: the body of a std::thread is the application's" {
    rules ./bodies >/dev/null
    equal 1 "$("$ASSAY" query --format csv x.assay "SELECT time_pct > 80 FROM v_categories
        WHERE name = 'application'" | tail -n +2)"
}

@test "causes: a loop with inlined locks has findings, and shares of at most 100 %" {
    local -r said=$(rules ./inlined 2>&1)
    never_says "assay:" "$said"
    [ -n "$said" ]
    equal 1 "$("$ASSAY" query --format csv x.assay "SELECT ifnull(max(value), 0) <= 100 FROM v_values
        WHERE metric = 'loops_pct'" | tail -n +2)"
}

@test "causes: threads of other phases are not partners" {
    never_says load_imbalance "$(rules ./threads pairs)"
    # Least and most of the phases are within the error of the samples.
    equal 1 "$("$ASSAY" query --format csv x.assay "SELECT balance_pct > 90 FROM v_balance
        WHERE is_main" | tail -n +2)"
}

@test "causes: threads that share a phase and not the work are uneven" {
    rules ./threads uneven >/dev/null
    # 2 and 10 parts: the mean is 6, 60 % of the busiest.
    equal 1 "$("$ASSAY" query --format csv x.assay "SELECT balance_pct BETWEEN 55 AND 66
        FROM v_balance WHERE is_main" | tail -n +2)"
}

@test "causes: a byte-code machine has no figures of an iteration" {
    local said
    said=$(rules ./loops machine)
    like "dispatch*" "$said"
    equal 0 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM v_findings
        WHERE text LIKE '%cycles%' OR text LIKE '%whole vectors%' OR gain_s > 0" | tail -n +2)"
}

@test "causes: stores by index keep iterations in order" {
    local said
    said=$(rules ./loops scatter)
    like "meeting_stores*" "$said"
    never_says scalar_gather "$said"
}

@test "causes: a list is followed, not summed up" {
    local said
    said=$(rules ./loops list)
    like "pointer_chase*" "$said"
    never_says dependence_chain "$said"
    equal 0 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM v_findings
        WHERE workaround LIKE '%s0 +=%'" | tail -n +2)"
}

@test "causes: sums of short rows are not a chain" {
    local said
    said=$(rules ./rows)
    never_says dependence_chain "$said"
    equal 0 "$("$ASSAY" query --format csv x.assay "SELECT count(*) FROM v_findings
        WHERE gain_s > 0" | tail -n +2)"
}

@test "causes: no option widens intrinsics" {
    local said
    grep -qw avx2 /proc/cpuinfo || skip "the vectors of this processor have 16 bytes"
    said=$(rules ./rows wide)
    like "*short_intrinsics*" "$said"
    never_says short_vectors "$said"
}
