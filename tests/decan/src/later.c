/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A third set of loops that no rule of the judgement was made with. They were written after the
 * rules, and before any of them was run (truth.py, later). As in kernels.c each has one loop.
 */
#include "kernels.h"

#define ALONE __attribute__((noinline, noclone))
#define WORDS ((long)(sizeof(V) / 8))

/* Returns the difference of two arrays. */
ALONE static double differ(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b, *c = p->c;
    const long n = p->n / 2 * 2;
    for (long i = 0; i < n; i += 2) {
        a[i] = (b[i] - c[i]) * p->x;
        a[i + 1] = (b[i + 1] - c[i + 1]) * p->x;
    }
    return 0;
}

/* From the end of one array to the beginning of the other. */
ALONE static double reversed(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b;
    const long n = p->n / 2 * 2;
    for (long i = 0; i < n; i += 2) {
        a[i] = b[n - 1 - i] + p->x;
        a[i + 1] = b[n - 2 - i] + p->x;
    }
    return 0;
}

ALONE static double distances(const struct part *p)
{
    const V *b = p->b, *c = p->c;
    V s = {0}, t = s;
    const long n = p->n / 2 * 2;
    for (long i = 0; i < n; i += 2) {
        const V d = b[i] - c[i], e = b[i + 1] - c[i + 1];
        s += d * d;
        t += e * e;
    }
    return (double)(s[0] + t[0]);
}

/* Two elements for each number. */
ALONE static double neighbours(const struct part *p)
{
    const unsigned *k = p->c;
    const unsigned long *b = p->b;
    const unsigned mask = (unsigned)p->mask;
    const long n = p->n;
    unsigned long s = 0;
    for (long i = 0; i < n; i++)
        s += b[k[i] & mask] ^ b[(k[i] * 7u) & mask];
    return (double)(s & 1023);
}

/* Roots of sums, each of the one before it. */
ALONE static double nested_roots(const struct part *p)
{
    const double *b = p->b;
    const long n = p->n * WORDS;
    double s = 1;
    for (long i = 0; i < n; i++) {
        s += b[i];
        __asm__("sqrtsd %0, %0" : "+x"(s));
    }
    return s;
}

ALONE static double products(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * WORDS;
    unsigned long h = 1;
    for (long i = 0; i < n; i++)
        h = h * (b[i] | 1) + 1;
    return (double)(h & 1023);
}

/* Eight products of integers that do not wait for each other. */
ALONE static double mixtures(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * WORDS;
    unsigned long s = 0;
    for (long i = 0; i < n; i++) {
        const unsigned long x = b[i];
#define PRODUCT(j)                                                                                 \
    do {                                                                                           \
        unsigned long y;                                                                           \
        __asm__ volatile("imulq $" #j ", %1, %0" : "=r"(y) : "r"(x) : "cc");                       \
        s ^= y;                                                                                    \
    } while (0)
        PRODUCT(71);
        PRODUCT(72);
        PRODUCT(73);
        PRODUCT(74);
        PRODUCT(75);
        PRODUCT(76);
        PRODUCT(77);
        PRODUCT(78);
    }
    return (double)(s & 1023);
}

/* Quotients of integers. */
ALONE static double quotients(const struct part *p)
{
    const unsigned *b = p->b;
    unsigned *restrict a = p->a;
    const long n = p->n * WORDS * 2;
    const unsigned x = (unsigned)p->n | 3;
    for (long i = 0; i < n; i++)
        a[i] = (b[i] | 1u << 31) / x;
    return 0;
}

const struct kernel later_kernels[] = {
    {"differ", differ, STREAMS, 3},
    {"reversed", reversed, STREAMS, 2},
    {"distances", distances, STREAMS, 2},
    {"neighbours", neighbours, NUMBERS_LONG, 1},
    {"nested_roots", nested_roots, STREAMS, 1},
    {"products", products, STREAMS, 1},
    {"mixtures", mixtures, STREAMS, 1},
    {"quotients", quotients, STREAMS, 2},
    {0},
};
