/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness PASSES. Measures the loops of truth.py: for each name of FORMS, nanoseconds and cycles
 * per element. Two lengths are used, so that calls and the ends of loops cancel. Arrays fit into
 * the first level of the cache. Both lengths are beyond 88 steps of 64 bytes: the branch that ends
 * a shorter loop is predicted, and a longer one would seem to take some 20 cycles more.
 *
 * Wide vectors make some cores run slower (Intel, Optimization Reference Manual, "Intel AVX-512
 * power licences"). This begins some ten microseconds after the first one and lasts most of a
 * millisecond after the last. Cores are slower still during the change. So each form runs a while
 * before it is timed. Cycles come from a chain of products that is timed at once behind it, at the
 * same frequency. A pass yields the minimum of both, all passes the median.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHORT_B = 6144, LONG_B = 10240, INDEXED = 256, REPEATS = 8 };
enum { ROUNDS = 100, WALK = 3, WARM_NS = 1000000 };

typedef double form(void *x, const void *y, const void *z, const int *k, long n);
#define FORM_OF(name, bits) form name;
#include "forms.h"
#undef FORM_OF

static const struct {
    const char *name;
    form *run;
    int bits;
} forms[] = {
#define FORM_OF(name, bits) {#name, name, bits},
#include "forms.h"
};

/* y is walked along in steps of up to WALK. Each array begins elsewhere in its page, so that loads
 * do not look as if they met stores. */
static _Alignas(4096) char memory[(WALK + 2) * LONG_B + 4 * 8192];
static char *const x = memory, *const y = memory + LONG_B + 2048 + 4096 + 1344,
                   *const z = memory + (WALK + 1) * LONG_B + 8192 + 4096 + 2752;
static int k[LONG_B / 4];

/* Values with sums, products and quotients near 1. */
static void fill(int bits, const char *name)
{
    const int whole = strstr(name, "_i32") || strstr(name, "_i64");
    const long n = LONG_B * 8 / bits;

    memset(x, 0, LONG_B);
    for (long i = 0; i < WALK * n; i++) {
        const double value = whole ? 3 : 1 + (double)(i % 7) / 1e4;

        for (int to_z = 0; to_z < 2; to_z++) {
            char *at = to_z ? z : y;
            if (to_z && i >= n)
                continue;
            if (bits == 32 && whole)
                ((int *)at)[i] = 3;
            else if (bits == 32)
                ((float *)at)[i] = (float)value;
            else if (whole)
                ((long *)at)[i] = 3;
            else
                ((double *)at)[i] = value;
        }
    }
    for (long i = 0; i < n; i++)
        k[i] = (int)((i * 37) % INDEXED);
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static volatile double sink;

/* Nanoseconds of a cycle: a product of 64 bits is there after three (Intel since Nehalem, AMD since
 * Zen). */
static double cycle_ns(void)
{
    enum { PRODUCTS = 4000 };
    unsigned long chain = 3;
    const double began = now_ns();

    for (int i = 0; i < PRODUCTS / 8; i++)
        __asm__ volatile("imul %0, %0\nimul %0, %0\nimul %0, %0\nimul %0, %0\n"
                         "imul %0, %0\nimul %0, %0\nimul %0, %0\nimul %0, %0"
                         : "+r"(chain));
    __builtin_ia32_lfence();
    return (now_ns() - began) / (3 * PRODUCTS);
}

/* One form at one length, per call: the minimum time, and the cycles of each pass. */
struct timed {
    double ns;
    double *cycles;
    size_t n;
};

static double call_ns(form *run, void *first, long n)
{
    const double began = now_ns();

    for (int i = 0; i < REPEATS; i++) {
        __builtin_ia32_lfence(); /* or calls overlap */
        sink = run(first, y, z, k, n);
    }
    return (now_ns() - began) / REPEATS;
}

static void time_form(form *run, int pointers, long n, struct timed *timed)
{
    void *holder[] = {x, y, z}, *const first = pointers ? (void *)holder : (void *)x;

    for (const double began = now_ns(); now_ns() - began < WARM_NS;)
        call_ns(run, first, n);
    double least = 1e30, cycle = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        least = fmin(least, call_ns(run, first, n));
        cycle = fmin(cycle, cycle_ns());
    }
    timed->ns = fmin(timed->ns, least);
    timed->cycles[timed->n++] = least / cycle;
}

static int by_value(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static double median_of(struct timed *timed)
{
    qsort(timed->cycles, timed->n, sizeof *timed->cycles, by_value);
    return timed->cycles[timed->n / 2];
}

int main(int argc, char **argv)
{
    enum { N = sizeof forms / sizeof *forms };
    const int passes = argc > 1 ? atoi(argv[1]) : 1;
    static struct timed few[N], many[N];

    for (size_t i = 0; i < N; i++) {
        struct timed *both[] = {&few[i], &many[i]};
        for (int k = 0; k < 2; k++)
            *both[k] = (struct timed){1e30, calloc((size_t)passes, sizeof(double)), 0};
        if (!few[i].cycles || !many[i].cycles)
            return 1;
    }
    for (int pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < N; i++) {
            const int pointers = strstr(forms[i].name, "pointers") != NULL;

            fill(forms[i].bits, forms[i].name);
            time_form(forms[i].run, pointers, SHORT_B * 8 / forms[i].bits, &few[i]);
            time_form(forms[i].run, pointers, LONG_B * 8 / forms[i].bits, &many[i]);
        }
    for (size_t i = 0; i < N; i++) {
        const int elements = (LONG_B - SHORT_B) * 8 / forms[i].bits;

        printf("%s %.4f %.4f\n", forms[i].name, (many[i].ns - few[i].ns) / elements,
               (median_of(&many[i]) - median_of(&few[i])) / elements);
    }
    return 0;
}
