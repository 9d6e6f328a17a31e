/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that no rule of the judgement was made with: written, with what they are bound by, before
 * any of them was measured (truth.py, held). As in kernels.c each has one loop.
 */
#include <stdint.h>

#include "kernels.h"

#define ALONE   __attribute__((noinline, noclone))
#define LANES   ((long)(sizeof(V) / sizeof(TYPE)))
#define HELD(x) __asm__("" : "+x"(x))

/* Read, changed, and written to the same place. */
ALONE static double axpy(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b;
    const V x = p->x;
    const long n = p->n / 4 * 4;
    for (long i = 0; i < n; i += 4) {
        a[i] += x * b[i];
        a[i + 1] += x * b[i + 1];
        a[i + 2] += x * b[i + 2];
        a[i + 3] += x * b[i + 3];
    }
    return 0;
}

/* Three neighbours, one of them a line's own. */
ALONE static double stencil(const struct part *p)
{
    TYPE *restrict a = p->a;
    const TYPE *b = p->b;
    const TYPE x = p->x[0];
    const long n = (p->n - 1) * LANES;
    for (long i = LANES; i < n; i++)
        a[i] = x * (b[i - 1] + b[i] + b[i + 1]);
    return 0;
}

ALONE static double copy(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b;
    const long n = p->n / 2 * 2;
    for (long i = 0; i < n; i += 2) {
        V y = b[i], z = b[i + 1];
        HELD(y);
        HELD(z);
        a[i] = y;
        a[i + 1] = z;
    }
    return 0;
}

/* A number of each line. */
ALONE static double lines(const struct part *p)
{
    const TYPE *b = p->b;
    const long step = 64 / (long)sizeof(TYPE), n = p->n * LANES - 4 * step;
    TYPE s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (long i = 0; i < n; i += 4 * step) {
        s0 += b[i];
        s1 += b[i + step];
        s2 += b[i + 2 * step];
        s3 += b[i + 3 * step];
    }
    return (double)(s0 + s1 + s2 + s3);
}

/* Two arrays written, none read. */
ALONE static double fill_two(const struct part *p)
{
    V *restrict a = p->a;
    V *restrict b = (V *)(uintptr_t)p->b;
    V x = p->x, y = p->x + 1;
    const long n = p->n / 2 * 2;
    for (long i = 0; i < n; i += 2) {
        HELD(x);
        HELD(y);
        a[i] = x;
        b[i] = y;
        a[i + 1] = x;
        b[i + 1] = y;
    }
    return 0;
}

/* Sixteen steps of a polynomial for each of four vectors: independent of each other. */
#define HORNER(v) v = v * y + x
#define ALL_FOUR  HORNER(s), HORNER(t), HORNER(u), HORNER(w)
#define FOUR_OF   ALL_FOUR, ALL_FOUR, ALL_FOUR, ALL_FOUR
ALONE static double horner(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b;
    const V x = p->x, y = p->x + (TYPE)0.125;
    const long n = p->n / 4 * 4;
    for (long i = 0; i < n; i += 4) {
        V s = b[i], t = b[i + 1], u = b[i + 2], w = b[i + 3];
        FOUR_OF, FOUR_OF, FOUR_OF, FOUR_OF;
        FOUR_OF, FOUR_OF, FOUR_OF, FOUR_OF;
        a[i] = s + t + u + w;
    }
    return 0;
}

/* Multiplications of integers, eight of each number. */
ALONE static double multiply(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * (long)(sizeof(V) / 8) / 2 * 2;
    unsigned long s = 0;
    for (long i = 0; i < n; i++) {
        const unsigned long x = b[i];
        s ^= (x * 3) * (x + 5);
        s ^= (x + 7) * (x + 11);
        s ^= (x + 13) * (x + 17);
        s ^= (x + 19) * (x + 23);
        s ^= (x + 29) * (x + 31);
        s ^= (x + 37) * (x + 41);
        s ^= (x + 43) * (x + 47);
    }
    return (double)(s & 1023);
}

/* One after the other. */
ALONE static double roots(const struct part *p)
{
    const TYPE *b = p->b;
    TYPE *restrict a = p->a;
    const long n = p->n * LANES;
    for (long i = 0; i < n; i++) {
        double x = (double)b[i];
        __asm__("sqrtsd %0, %0" : "+x"(x));
        a[i] = (TYPE)x;
    }
    return 0;
}

/* A running sum, written down. */
ALONE static double prefix(const struct part *p)
{
    const TYPE *b = p->b;
    TYPE *restrict a = p->a;
    const long n = p->n * LANES;
    TYPE s = 0;
    for (long i = 0; i < n; i++) {
        s += b[i];
        a[i] = s;
    }
    return (double)s;
}

/* A check sum: three cycles from one number to the next. */
ALONE static double checksum(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * (long)(sizeof(V) / 8);
    unsigned long h = 1;
    for (long i = 0; i < n; i++) {
        __asm__("crc32q %1, %0" : "+r"(h) : "r"(b[i]));
        h += 3;
    }
    return (double)(h & 1023);
}

/* Four lists at once, each from where it was left. */
ALONE static double lists(const struct part *p)
{
    static const void *const *at[4];
    const void *const *nodes = (const void *const *)p->b;
    const void *const *s = at[0] ? at[0] : nodes, *const *t = at[1] ? at[1] : nodes + 8 * 1000;
    const void *const *u = at[2] ? at[2] : nodes + 8 * 2000;
    const void *const *w = at[3] ? at[3] : nodes + 8 * 3000;
    const long n = p->n;
    for (long i = 0; i < n; i++) {
        s = *s;
        t = *t;
        u = *u;
        w = *w;
    }
    at[0] = s, at[1] = t, at[2] = u, at[3] = w;
    return (double)((uintptr_t)s & 1);
}

/* Elements changed here and there. */
ALONE static double update(const struct part *p)
{
    const unsigned *k = p->c;
    unsigned long *b = (unsigned long *)(uintptr_t)p->b;
    const long n = p->n;
    for (long i = 0; i < n; i++)
        b[k[i]] ^= (unsigned long)i;
    return 0;
}

const struct kernel held_kernels[] = {
    {"axpy", axpy, STREAMS, 2},
    {"stencil", stencil, STREAMS, 2},
    {"copy", copy, STREAMS, 2},
    {"lines", lines, STREAMS, 1},
    {"fill_two", fill_two, STREAMS, 2},
    {"horner", horner, STREAMS, 2},
    {"multiply", multiply, STREAMS, 1},
    {"roots", roots, STREAMS, 2},
    {"prefix", prefix, STREAMS, 2},
    {"checksum", checksum, STREAMS, 1},
    {"lists", lists, LIST, 1},
    {"update", update, NUMBERS_LONG, 1},
    {0},
};
