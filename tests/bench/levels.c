/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timed loops with data in one level of the hierarchy. `NAME BYTES` prints nanoseconds per element,
 * the minimum of many passes. BYTES is the size of all arrays of the loop.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

struct arrays {
    double *a, *b, *c;
    int *k;
    size_t n;
};

__attribute__((noinline)) void loop_copy(double *restrict a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i];
}
__attribute__((noinline)) void loop_triad(double *restrict a, const double *b, const double *c,
                                          size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}
__attribute__((noinline)) double loop_sum(const double *b, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += b[i];
    return s;
}
__attribute__((noinline)) void loop_stencil(double *restrict a, const double *b, size_t n)
{
    for (size_t i = 8; i < n - 8; i++)
        a[i] = b[i - 1] + b[i] + b[i + 1];
}
__attribute__((noinline)) double loop_gather(const double *b, const int *k, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += b[k[i]];
    return s;
}

static volatile double kept;

static void run_loop(const char *name, const struct arrays *x)
{
    switch (name[0] == 's' ? name[1] : name[0]) {
    case 'c':
        loop_copy(x->a, x->b, x->n);
        break;
    case 't':
        if (name[0] == 's')
            loop_stencil(x->a, x->b, x->n);
        else
            loop_triad(x->a, x->b, x->c, x->n);
        break;
    case 'u':
        kept = loop_sum(x->b, x->n);
        break;
    default:
        kept = loop_gather(x->b, x->k, x->n);
    }
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void *room(size_t size_b)
{
    void *p = aligned_alloc((size_t)1 << 21, (size_b + 4096 + ((size_t)1 << 21) - 1) >> 21 << 21);
    if (!p)
        exit(1);
    madvise(p, size_b, MADV_HUGEPAGE);
    memset(p, 0, size_b);
    return p;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const char *name = argv[1];
    const size_t each = *name == 't' ? 24 : strcmp(name, "sum") == 0 ? 8 : *name == 'g' ? 12 : 16;
    struct arrays x = {.n = (size_t)atoll(argv[2]) / each / 64 * 64};
    /* Not at the same place in their pages: stores would look like what loads wait for. */
    x.a = room(x.n * 8);
    x.b = room(x.n * 8 + 832) + 832;
    x.c = room(x.n * 8 + 1664) + 1664;
    x.k = room(x.n * 4);
    unsigned long long state = 1;
    for (size_t i = 0; i < x.n; i++) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        x.k[i] = (int)((state >> 33) % x.n);
        x.b[i] = 1;
        x.c[i] = 2;
    }
    size_t passes = 1;
    double best = 1e30;
    for (unsigned i = 0; i < 60; i++) {
        const double begin = now_ns();
        for (size_t k = 0; k < passes; k++)
            run_loop(name, &x);
        const double took = now_ns() - begin;
        if (took < 1e6 && i == 0 && passes < 1u << 20) {
            passes *= 2, i = (unsigned)-1;
            continue;
        }
        best = took / (double)passes < best ? took / (double)passes : best;
    }
    printf("%.6f\n", best / (double)x.n);
    return 0;
}
