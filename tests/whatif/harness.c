/* SPDX-License-Identifier: Apache-2.0 */
/*
 * harness PASSES. Measures the loops of truth.py: for each name of FORMS, nanoseconds of an
 * element, from two lengths, so that calls and the ends of loops cancel. Arrays fit into the first
 * level of the cache.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHORT = 256, LONG = 1024, REPEATS = 8, ROUNDS = 100, WALK = 3 };

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
static _Alignas(4096) char memory[8 * (WALK + 2) * LONG + 3 * 8192];
static char *const x = memory, *const y = memory + 8 * LONG + 4096 + 1344,
                   *const z = memory + 8 * (WALK + 1) * LONG + 8192 + 2752;
static int k[LONG];

/* Values whose sums, products and quotients stay ordinary numbers: 1 and near it. */
static void fill(int bits, const char *name)
{
    const int whole = strstr(name, "_i32") || strstr(name, "_i64");

    memset(x, 0, 8 * LONG);
    for (long i = 0; i < WALK * LONG; i++) {
        const double value = whole ? 3 : 1 + (double)(i % 7) / 1e4;

        for (int to_z = 0; to_z < 2; to_z++) {
            char *at = to_z ? z : y;
            if (to_z && i >= LONG)
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
    for (long i = 0; i < LONG; i++)
        k[i] = (int)((i * 37) % SHORT);
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static volatile double sink;

static double shortest(form *run, int pointers, long n)
{
    void *const holder[] = {x, y, z};
    double best = 1e30;

    for (int round = 0; round < ROUNDS; round++) {
        const double began = now_ns();
        for (int i = 0; i < REPEATS; i++) {
            __builtin_ia32_lfence(); /* or calls overlap */
            sink = run(pointers ? (void *)holder : (void *)x, y, z, k, n);
        }
        const double took = now_ns() - began;
        best = took < best ? took : best;
    }
    return best / REPEATS;
}

int main(int argc, char **argv)
{
    enum { N = sizeof forms / sizeof *forms };
    const int passes = argc > 1 ? atoi(argv[1]) : 1;
    double few[N], many[N];

    for (size_t i = 0; i < N; i++)
        few[i] = many[i] = 1e30;
    for (int pass = 0; pass < passes; pass++)
        for (size_t i = 0; i < N; i++) {
            const int pointers = strstr(forms[i].name, "pointers") != NULL;

            fill(forms[i].bits, forms[i].name);
            few[i] = fmin(few[i], shortest(forms[i].run, pointers, SHORT));
            many[i] = fmin(many[i], shortest(forms[i].run, pointers, LONG));
        }
    for (size_t i = 0; i < N; i++)
        printf("%s %.4f\n", forms[i].name, (many[i] - few[i]) / (LONG - SHORT));
    return 0;
}
