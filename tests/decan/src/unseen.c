/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second set of loops that no rule of the judgement was made with. They were written, with their
 * bottleneck, before any of them was run (truth.py, `unseen`). As in kernels.c each has one loop.
 */
#include <stdint.h>

#include "kernels.h"

#define ALONE   __attribute__((noinline, noclone))
#define LANES   ((long)(sizeof(V) / sizeof(TYPE)))
#define WORDS   ((long)(sizeof(V) / 8))
#define HELD(x) __asm__("" : "+x"(x))

/* ---- Streams -------------------------------------------------------------------------------- */

static double first_of(V x)
{
    return (double)x[0];
}

ALONE static double norm(const struct part *p)
{
    const V *b = p->b;
    V s = {0}, t = s, u = s, w = s;
    const long n = p->n / 4 * 4;
    for (long i = 0; i < n; i += 4) {
        s += b[i] * b[i];
        t += b[i + 1] * b[i + 1];
        u += b[i + 2] * b[i + 2];
        w += b[i + 3] * b[i + 3];
    }
    return first_of(s + t + u + w);
}

/* Three arrays, one of them changed in place. */
ALONE static double combine(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b, *c = p->c;
    const V x = p->x;
    const long n = p->n / 2 * 2;
    for (long i = 0; i < n; i += 2) {
        a[i] = x * a[i] + b[i] * c[i];
        a[i + 1] = x * a[i + 1] + b[i + 1] * c[i + 1];
    }
    return 0;
}

ALONE static double swap(const struct part *p)
{
    V *restrict a = p->a;
    V *restrict b = (V *)(uintptr_t)p->b;
    const long n = p->n / 2 * 2;
    for (long i = 0; i < n; i += 2) {
        const V x = a[i], y = b[i], z = a[i + 1], w = b[i + 1];
        a[i] = y;
        b[i] = x;
        a[i + 1] = w;
        b[i + 1] = z;
    }
    return 0;
}

/* Down a column of a matrix with rows of a page and a line: another column each time. */
ALONE static double rows(const struct part *p)
{
    static long column;
    const long step = (4096 + 64) / (long)sizeof(TYPE), n = p->n * LANES - 512 - 4 * step;
    const TYPE *b = (const TYPE *)p->b + 64 / (long)sizeof(TYPE) * (column++ & 63);
    TYPE s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (long i = 0; i < n; i += 4 * step) {
        s0 += b[i];
        s1 += b[i + step];
        s2 += b[i + 2 * step];
        s3 += b[i + 3 * step];
    }
    return (double)(s0 + s1 + s2 + s3);
}

/* ---- Here and there ------------------------------------------------------------------------- */

ALONE static double scatter(const struct part *p)
{
    const unsigned *k = p->c;
    unsigned long *b = (unsigned long *)(uintptr_t)p->b;
    const long n = p->n;
    for (long i = 0; i < n; i++)
        b[k[i]] = (unsigned long)i;
    return 0;
}

/* A list by distances from its first node. */
ALONE static double chase(const struct part *p)
{
    static unsigned long at;
    const char *b = p->b;
    const long n = p->n;
    unsigned long k = at;
    for (long i = 0; i < n; i++)
        k = *(const unsigned long *)(const void *)(b + k) - (unsigned long)(uintptr_t)b;
    at = k;
    return (double)(k & 63);
}

/* A list with something to do for each node, which the next does not wait for. */
ALONE static double chase_work(const struct part *p)
{
    static const void *left;
    const unsigned long *at = left ? left : p->b;
    const long n = p->n;
    unsigned long s = 0;
    for (long i = 0; i < n; i++) {
        const unsigned long v = at[1];
        s += (v * v + 3) * (v + 5);
        at = (const unsigned long *)(uintptr_t)at[0]; /* NOLINT: a node */
    }
    left = at;
    return (double)(s & 1023);
}

/* Adds up elements with an index found in another array. */
ALONE static double two_hops(const struct part *p)
{
    const unsigned *k = p->c;
    const unsigned long *b = p->b;
    const unsigned long mask = (unsigned long)p->mask;
    const long n = p->n;
    unsigned long s = 0;
    for (long i = 0; i < n; i++) {
        const unsigned long x = (b[k[i]] + k[i]) * 0x9e3779b97f4a7c15u;
        s ^= b[x >> 32 & mask];
    }
    return (double)(s & 1023);
}

/* ---- Arithmetic ----------------------------------------------------------------------------- */

#define ONES(x, y) __asm__ volatile("popcntq %1, %0" : "=r"(x) : "r"(y))
ALONE static double popcounts(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * WORDS;
    unsigned long s = 0;
    for (long i = 0; i < n; i++) {
        const unsigned long x = b[i];
        unsigned long c0, c1, c2, c3, c4, c5;
        ONES(c0, x);
        ONES(c1, x);
        ONES(c2, x);
        ONES(c3, x);
        ONES(c4, x);
        ONES(c5, x);
        s += (c0 ^ c5) + (c1 ^ c4) + (c2 ^ c3);
    }
    return (double)s;
}

#define SWAP_PAIRS(v) __asm__("vpermilpd $5, %0, %0" : "+v"(v))
#define SWAP_ALL                                                                                   \
    SWAP_PAIRS(s);                                                                                 \
    SWAP_PAIRS(t);                                                                                 \
    SWAP_PAIRS(u);                                                                                 \
    SWAP_PAIRS(w);
ALONE static double shuffles(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b;
    const long n = p->n / 4 * 4;
    for (long i = 0; i < n; i += 4) {
        V s = b[i], t = b[i + 1], u = b[i + 2], w = b[i + 3];
        SWAP_ALL SWAP_ALL SWAP_ALL SWAP_ALL SWAP_ALL SWAP_ALL SWAP_ALL SWAP_ALL SWAP_ALL SWAP_ALL
            SWAP_ALL SWAP_ALL a[i] = s + t + u + w;
    }
    return 0;
}

/* A series of 24 terms for each of four vectors. */
#define TERM(v, y) v = v * y + x
#define TERMS      TERM(s, s2), TERM(t, t2), TERM(u, u2), TERM(w, w2)
#define TERMS6     TERMS, TERMS, TERMS, TERMS, TERMS, TERMS
ALONE static double series(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b;
    const V x = p->x;
    const long n = p->n / 4 * 4;
    for (long i = 0; i < n; i += 4) {
        const V s2 = b[i] * b[i], t2 = b[i + 1] * b[i + 1];
        const V u2 = b[i + 2] * b[i + 2], w2 = b[i + 3] * b[i + 3];
        V s = x, t = x, u = x, w = x;
        TERMS6, TERMS6, TERMS6, TERMS6;
        a[i] = s;
        a[i + 1] = t;
        a[i + 2] = u;
        a[i + 3] = w;
    }
    return 0;
}

ALONE static double inverse_roots(const struct part *p)
{
    const double *b = p->b;
    double *restrict a = p->a;
    const long n = p->n * WORDS;
    for (long i = 0; i < n; i++) {
        double x = b[i];
        __asm__("sqrtsd %0, %0" : "+x"(x));
        a[i] = 1 / x;
    }
    return 0;
}

ALONE static double remainders(const struct part *p)
{
    const unsigned *b = p->b, *c = p->c;
    const long n = p->n * WORDS * 2;
    unsigned s = 0;
    for (long i = 0; i < n; i++)
        s += (b[i] | 1u << 31) % (c[i] | 1);
    return (double)s;
}

/* ---- Chains --------------------------------------------------------------------------------- */

ALONE static double nested_sum(const struct part *p)
{
    const double *b = p->b;
    const double x = (double)p->x[0];
    const long n = p->n * WORDS;
    double s = 0;
    for (long i = 0; i < n; i++)
        s = s * x + b[i];
    return s;
}

ALONE static double shifts(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * WORDS;
    unsigned long h = 88172645463325252u;
    for (long i = 0; i < n; i++) {
        h ^= b[i];
        h ^= h << 13;
        h ^= h >> 7;
        h ^= h << 17;
    }
    return (double)(h & 1023);
}

ALONE static double greatest(const struct part *p)
{
    const double *b = p->b;
    const long n = p->n * WORDS;
    double s = 0;
    for (long i = 0; i < n; i++)
        s = b[i] > s ? b[i] : s;
    return s;
}

/* Each number chooses, with what came before it, an element of a small table. */
ALONE static double lookup(const struct part *p)
{
    const unsigned long *b = p->b, *t = p->c;
    const long n = p->n * WORDS;
    unsigned long h = 1;
    for (long i = 0; i < n; i++)
        h = t[(h ^ b[i]) & 255] ^ h >> 8;
    return (double)(h & 1023);
}

ALONE static double fraction(const struct part *p)
{
    const double *b = p->b;
    const double x = (double)p->x[0];
    const long n = p->n * WORDS;
    double s = 1;
    for (long i = 0; i < n; i++)
        s = x / (s + b[i]);
    return s;
}

/* ---- Slots and ports ------------------------------------------------------------------------ */

/* Zeroes are made where registers are renamed. */
ALONE static double zeroes(const struct part *p)
{
    const long n = p->n;
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 100\n\t"
                         "xorl %%eax, %%eax\n\txorl %%ecx, %%ecx\n\txorl %%edx, %%edx\n\t"
                         "xorl %%esi, %%esi\n\txorl %%r8d, %%r8d\n\txorl %%r9d, %%r9d\n\t"
                         ".endr" ::
                             : "eax", "ecx", "edx", "esi", "r8", "r9", "cc");
    return 0;
}

/* Nothing but ways. */
ALONE static double jumps(const struct part *p)
{
    const long n = p->n;
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 100\n\tjmp 1f\n\tnopl 0(%%rax)\n\t1:\n\taddl $1, %%ecx\n\t.endr" ::
                             : "ecx", "cc");
    return 0;
}

/* Bytes, one by one. */
ALONE static double narrow(const struct part *p)
{
    unsigned char *a = p->a;
    const long n = p->n * (long)sizeof(V) / 8 * 8;
    unsigned x = 7;
    for (long i = 0; i < n; i += 8) {
        __asm__("" : "+r"(x));
#define BYTE(j) __asm__ volatile("movb %b1, %0" : "=m"(a[i + j]) : "q"(x));
        BYTE(0) BYTE(1) BYTE(2) BYTE(3) BYTE(4) BYTE(5) BYTE(6) BYTE(7)
    }
    return 0;
}

/* Eight sums of numbers that are in the first cache. */
ALONE static double sums(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * WORDS / 8 * 8;
    unsigned long s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (long i = 0; i < n; i += 8) {
#define SUM(j) __asm__("addq %1, %0" : "+r"(s##j) : "m"(b[i + j]) : "cc");
        SUM(0) SUM(1) SUM(2) SUM(3) SUM(4) SUM(5) SUM(6) SUM(7)
    }
    return (double)((s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7) & 1023);
}

const struct kernel unseen_kernels[] = {
    {"norm", norm, STREAMS, 1},
    {"combine", combine, STREAMS, 3},
    {"swap", swap, STREAMS, 2},
    {"rows", rows, STREAMS, 1},
    {"scatter", scatter, NUMBERS_LONG, 1},
    {"chase", chase, LIST, 1},
    {"chase_work", chase_work, LIST, 1},
    {"two_hops", two_hops, NUMBERS_LONG, 1},
    {"popcounts", popcounts, STREAMS, 1},
    {"shuffles", shuffles, STREAMS, 2},
    {"series", series, STREAMS, 2},
    {"inverse_roots", inverse_roots, STREAMS, 2},
    {"remainders", remainders, STREAMS, 2},
    {"nested_sum", nested_sum, STREAMS, 1},
    {"shifts", shifts, STREAMS, 1},
    {"greatest", greatest, STREAMS, 1},
    {"lookup", lookup, STREAMS, 1},
    {"fraction", fraction, STREAMS, 1},
    {"zeroes", zeroes, NOTHING, 1},
    {"jumps", jumps, NOTHING, 1},
    {"narrow", narrow, STREAMS, 1},
    {"sums", sums, STREAMS, 1},
    {0},
};
