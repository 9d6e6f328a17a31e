/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fourth set of loops, for the product itself (truth.py, product). The set and its truth were
 * committed before `assay decan` ran any of the loops. Each kernel has one loop, as in kernels.c.
 * Inline assembly stands where a compiler would choose other instructions.
 */
#include <stdint.h>

#include "kernels.h"

#define ALONE   __attribute__((noinline, noclone))
#define LANES   ((long)(sizeof(V) / sizeof(TYPE)))
#define WORDS   ((long)(sizeof(V) / 8))
#define HELD(x) __asm__("" : "+x"(x))

/* Clang would unroll, and so make two loops of one. */
#ifdef __clang__
#define ONE_LOOP _Pragma("clang loop unroll(disable)")
#else
#define ONE_LOOP
#endif

typedef double D2 __attribute__((vector_size(16), may_alias));
typedef double D2_UNALIGNED __attribute__((vector_size(16), aligned(8), may_alias));

static double first_of(V x)
{
    return (double)x[0];
}

/* ---- Arrays that are written ----------------------------------------------------------------- */

/* Fills an array with four arithmetic series. */
ALONE static double ramp(const struct part *p)
{
    V *restrict a = p->a;
    const V x = p->x;
    V s = x, t = x + 1, u = x + 2, w = x + 3;
    const long n = p->n / 4 * 4;
    ONE_LOOP
    for (long i = 0; i < n; i += 4) {
        s += x;
        t += x;
        u += x;
        w += x;
        a[i] = s;
        a[i + 1] = t;
        a[i + 2] = u;
        a[i + 3] = w;
    }
    return 0;
}

/* Fills an array by stores of 16 bytes, whatever WIDTH is. */
ALONE static double blank(const struct part *p)
{
    D2 *restrict a = p->a;
    D2 s = {1, 2};
    const long n = p->n * (long)(sizeof(V) / 16) / 4 * 4;
    ONE_LOOP
    for (long i = 0; i < n; i += 4) {
        HELD(s);
        a[i] = s;
        HELD(s);
        a[i + 1] = s;
        HELD(s);
        a[i + 2] = s;
        HELD(s);
        a[i + 3] = s;
    }
    return 0;
}

/* Fills three arrays and reads none. */
ALONE static double planes(const struct part *p)
{
    V *restrict a = p->a;
    V *restrict b = (V *)(uintptr_t)p->b;
    V *restrict c = (V *)(uintptr_t)p->c;
    V x = p->x, y = p->x + 1, z = p->x + 2;
    const long n = p->n;
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        HELD(x);
        HELD(y);
        HELD(z);
        a[i] = x;
        b[i] = y;
        c[i] = z;
    }
    return 0;
}

/* Stores past the caches (non-temporal). */
ALONE static double streaming(const struct part *p)
{
    V *restrict a = p->a;
    V x = p->x;
    const long n = p->n / 4 * 4;
    ONE_LOOP
    for (long i = 0; i < n; i += 4) {
#define PASS(j) __asm__ volatile("vmovntpd %1, %0" : "=m"(a[i + j]) : "x"(x));
        PASS(0) PASS(1) PASS(2) PASS(3)
    }
    return 0;
}

/* Stores of 1, 2, 4 and 8 bytes. */
ALONE static double mixed_widths(const struct part *p)
{
    char *a = p->a;
    const long n = p->n * (long)sizeof(V) / 32 * 32;
    unsigned long x = 7;
    ONE_LOOP
    for (long i = 0; i < n; i += 32) {
#define FOUR_WIDTHS(k)                                                                             \
    __asm__ volatile("movb %b0, " #k "(%1)\n\tmovw %w0, " #k "+2(%1)\n\t"                          \
                     "movl %k0, " #k "+4(%1)\n\tmovq %0, " #k "+8(%1)" ::"q"(x),                   \
                     "r"(a + i)                                                                    \
                     : "memory");
        FOUR_WIDTHS(0)
        FOUR_WIDTHS(16)
    }
    return 0;
}

/* ---- Arrays that are read -------------------------------------------------------------------- */

/* Sums the products of three arrays. */
ALONE static double dot_three(const struct part *p)
{
    const V *a = p->a, *b = p->b, *c = p->c;
    V s = {0}, t = s, u = s, w = s;
    const long n = p->n / 4 * 4;
    ONE_LOOP
    for (long i = 0; i < n; i += 4) {
        s += a[i] * b[i] * c[i];
        t += a[i + 1] * b[i + 1] * c[i + 1];
        u += a[i + 2] * b[i + 2] * c[i + 2];
        w += a[i + 3] * b[i + 3] * c[i + 3];
    }
    return first_of(s + t + u + w);
}

/* Multiplies four rows of a matrix by a vector. */
ALONE static double matvec(const struct part *p)
{
    const V *x = p->c;
    const long n = p->n / 8 * 2;
    const V *r0 = p->b, *r1 = r0 + n, *r2 = r1 + n, *r3 = r2 + n;
    V s0 = {0}, s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
    ONE_LOOP
    for (long i = 0; i < n; i += 2) {
        s0 += r0[i] * x[i];
        s1 += r1[i] * x[i];
        s2 += r2[i] * x[i];
        s3 += r3[i] * x[i];
        t0 += r0[i + 1] * x[i + 1];
        t1 += r1[i + 1] * x[i + 1];
        t2 += r2[i + 1] * x[i + 1];
        t3 += r3[i + 1] * x[i + 1];
    }
    return first_of(s0 + s1 + s2 + s3 + t0 + t1 + t2 + t3);
}

/* Writes the larger of two elements. */
ALONE static double larger(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b, *c = p->c;
    const long n = p->n / 2 * 2;
    ONE_LOOP
    for (long i = 0; i < n; i += 2) {
        V s = b[i], t = b[i + 1];
        __asm__("vmaxpd %1, %0, %0" : "+x"(s) : "x"(c[i]));
        __asm__("vmaxpd %1, %0, %0" : "+x"(t) : "x"(c[i + 1]));
        a[i] = s;
        a[i + 1] = t;
    }
    return 0;
}

/* Sums a column of a matrix with rows of 128 bytes. */
ALONE static double columns(const struct part *p)
{
    const double *b = p->b;
    const long n = p->n * WORDS / 64 * 64;
    double s = 0, t = 0, u = 0, w = 0;
    ONE_LOOP
    for (long i = 0; i < n; i += 64) {
        s += b[i];
        t += b[i + 16];
        u += b[i + 32];
        w += b[i + 48];
    }
    return s + t + u + w;
}

/* Sums a column by a stride that the binary does not show: 24 elements, three lines. */
ALONE static double column_by(const struct part *p)
{
    static volatile long leading = 24;
    const double *b = p->b;
    const long step = leading, n = p->n * WORDS / (4 * step);
    double s = 0, t = 0, u = 0, w = 0;
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        s += b[0];
        t += b[step];
        u += b[2 * step];
        w += b[3 * step];
        b += 4 * step;
    }
    return s + t + u + w;
}

/* ---- Indirect access ------------------------------------------------------------------------- */

/* Sums pairs of neighbours at random places. */
ALONE static double pairs(const struct part *p)
{
    const unsigned *k = p->c;
    const double *b = p->b;
    const long n = p->n / 8 * 8;
    D2 s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
    ONE_LOOP
    for (long i = 0; i < n; i += 8) {
#define PAIR(j) s##j += *(const D2_UNALIGNED *)(b + k[i + j]);
        PAIR(0) PAIR(1) PAIR(2) PAIR(3) PAIR(4) PAIR(5) PAIR(6) PAIR(7)
    }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    return s0[0] + s0[1];
}

/* Gathers four elements by one instruction. */
ALONE static double gather_wide(const struct part *p)
{
    const unsigned *k = p->c;
    const double *b = p->b;
    const long n = p->n / 8 * 8;
#ifdef __AVX2__
    typedef double D4 __attribute__((vector_size(32), may_alias));
    D4 s = {0}, t = s;
    ONE_LOOP
    for (long i = 0; i < n; i += 8) {
        D4 v = {0}, w = v, mask;
#define GATHER(to, at)                                                                             \
    __asm__("vpcmpeqd %1, %1, %1\n\tvgatherdpd %1, (%2,%3,8), %0"                                  \
            : "+&x"(to), "=&x"(mask)                                                               \
            : "r"(b), "x"(*(const D2_UNALIGNED *)(const void *)(k + (at))), "m"(*b));
        GATHER(v, i)
        GATHER(w, i + 4)
        s += v;
        t += w;
    }
    s += t;
    return s[0] + s[1] + s[2] + s[3];
#else
    double s = 0;
    ONE_LOOP
    for (long i = 0; i < n; i++)
        s += b[k[i]];
    return s;
#endif
}

struct node {
    struct node *next;
    long value[7];
};

/* Counts the visits in each node of a list. */
ALONE static double visit(const struct part *p)
{
    struct node *at = *(struct node **)p->c;
    const long n = p->n;
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        at->value[2]++;
        at = at->next;
    }
    *(struct node **)p->c = at;
    return at->value[0] == 0;
}

/* Searches a list for a value that it does not have. */
ALONE static double find_key(const struct part *p)
{
    const struct node *at = *(struct node **)p->c;
    const long n = p->n;
    ONE_LOOP
    for (long i = 0; i < n && at->value[0] != -1; i++)
        at = at->next;
    *(const struct node **)p->c = at;
    return at->value[0] == 0;
}

/* ---- Arithmetic ------------------------------------------------------------------------------ */

/* Sums the second to the sixth power of each element. */
ALONE static double moments(const struct part *p)
{
    const V *b = p->b;
    V s2 = {0}, s3 = s2, s4 = s2, s5 = s2, s6 = s2;
    const long n = p->n / 2 * 2;
    ONE_LOOP
    for (long i = 0; i < n; i += 2) {
        const V v = b[i], v2 = v * v, v4 = v2 * v2;
        const V w = b[i + 1], w2 = w * w, w4 = w2 * w2;
        s2 += v2 + w2;
        s3 += v2 * v + w2 * w;
        s4 += v4 + w4;
        s5 += v4 * v + w4 * w;
        s6 += v4 * v2 + w4 * w2;
    }
    return first_of(s2 + s3 + s4 + s5 + s6);
}

/* Ten steps of z = z * z + c for each of four vectors of complex numbers. */
#define ORBIT(x, y)                                                                                \
    do {                                                                                           \
        const V z = x * x + (cx - y * y);                                                          \
        y = (x + x) * y + cy;                                                                      \
        x = z;                                                                                     \
    } while (0)
#define ORBITS                                                                                     \
    do {                                                                                           \
        ORBIT(x0, y0);                                                                             \
        ORBIT(x1, y1);                                                                             \
        ORBIT(x2, y2);                                                                             \
        ORBIT(x3, y3);                                                                             \
    } while (0)
ALONE static double orbits(const struct part *p)
{
    const V *b = p->b;
    const V cx = -p->x, cy = p->x * (TYPE)0.125;
    V s = {0};
    const long n = p->n / 4 * 4;
    ONE_LOOP
    for (long i = 0; i < n; i += 4) {
        V x0 = b[i], x1 = b[i + 1], x2 = b[i + 2], x3 = b[i + 3];
        V y0 = cy, y1 = cy, y2 = cy, y3 = cy;
        ORBITS;
        ORBITS;
        ORBITS;
        ORBITS;
        ORBITS;
        ORBITS;
        ORBITS;
        ORBITS;
        ORBITS;
        ORBITS;
        s += (x0 + x1) + (x2 + x3) + (y0 + y1) + (y2 + y3);
    }
    return first_of(s);
}

/* Computes exponentials: reduces the argument, evaluates a polynomial, sets the exponent. */
ALONE static double exponentials(const struct part *p)
{
    typedef long I __attribute__((vector_size(WIDTH), may_alias));
    V *restrict a = p->a;
    const V *b = p->b;
    const V shift = p->x * 0 + (TYPE)6755399441055744.0, log2e = p->x * 0 + (TYPE)1.44269504;
    const V ln2 = p->x * 0 + (TYPE)0.69314718, one = p->x * 0 + 1, half = p->x * 0 + (TYPE)0.5;
    const V c3 = one / 6, c4 = one / 24, c5 = one / 120, c6 = one / 720, c7 = one / 5040;
    const long n = p->n;
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        const V k = b[i] * log2e + shift, r = b[i] - (k - shift) * ln2;
        const V r2 = r * r, r4 = r2 * r2;
        const V y = (one + r) + r2 * (half + c3 * r) + r4 * ((c4 + c5 * r) + r2 * (c6 + c7 * r));
        a[i] = (V)((I)y + ((I)k << 52));
    }
    return 0;
}

/* Converts each of eight vectors to integers and back, three times. */
#define CONVERT(v)                                                                                 \
    __asm__("vcvttpd2dq %0, %0\n\tvcvtdq2pd %0, %0\n\tvcvttpd2dq %0, %0\n\tvcvtdq2pd %0, %0\n\t"   \
            "vcvttpd2dq %0, %0\n\tvcvtdq2pd %0, %0"                                                \
            : "+x"(v));
ALONE static double conversions(const struct part *p)
{
    const D2 *b = p->b;
    D2 s = {0};
    const long n = p->n * (long)(sizeof(V) / 16) / 8 * 8;
    ONE_LOOP
    for (long i = 0; i < n; i += 8) {
        D2 v0 = b[i], v1 = b[i + 1], v2 = b[i + 2], v3 = b[i + 3];
        D2 v4 = b[i + 4], v5 = b[i + 5], v6 = b[i + 6], v7 = b[i + 7];
        CONVERT(v0)
        CONVERT(v1)
        CONVERT(v2)
        CONVERT(v3)
        CONVERT(v4)
        CONVERT(v5)
        CONVERT(v6)
        CONVERT(v7)
        s += ((v0 + v1) + (v2 + v3)) + ((v4 + v5) + (v6 + v7));
    }
    return s[0] + s[1];
}

/* Interleaves the bytes of eight vectors, six times. */
#define INTERLEAVE(v, w) __asm__("vpunpcklbw %1, %0, %0" : "+x"(v) : "x"(w));
#define INTERLEAVE_ALL                                                                             \
    INTERLEAVE(v0, v4)                                                                             \
    INTERLEAVE(v1, v5)                                                                             \
    INTERLEAVE(v2, v6)                                                                             \
    INTERLEAVE(v3, v7)                                                                             \
    INTERLEAVE(v4, v1)                                                                             \
    INTERLEAVE(v5, v2)                                                                             \
    INTERLEAVE(v6, v3)                                                                             \
    INTERLEAVE(v7, v0)
ALONE static double interleaves(const struct part *p)
{
    const D2 *b = p->b;
    D2 *restrict a = p->a;
    const long n = p->n * (long)(sizeof(V) / 16) / 8 * 8;
    ONE_LOOP
    for (long i = 0; i < n; i += 8) {
        D2 v0 = b[i], v1 = b[i + 1], v2 = b[i + 2], v3 = b[i + 3];
        D2 v4 = b[i + 4], v5 = b[i + 5], v6 = b[i + 6], v7 = b[i + 7];
        INTERLEAVE_ALL INTERLEAVE_ALL INTERLEAVE_ALL INTERLEAVE_ALL INTERLEAVE_ALL INTERLEAVE_ALL
            a[i] = v0;
        a[i + 1] = v1;
        a[i + 2] = v2;
        a[i + 3] = v3;
        a[i + 4] = v4;
        a[i + 5] = v5;
        a[i + 6] = v6;
        a[i + 7] = v7;
    }
    return 0;
}

/* Finds the least and the greatest element. */
ALONE static double range(const struct part *p)
{
    const V *b = p->b;
    V l0 = p->x, l1 = l0, l2 = l0, l3 = l0, g0 = l0, g1 = l0, g2 = l0, g3 = l0;
    const long n = p->n / 8 * 8;
    ONE_LOOP
    for (long i = 0; i < n; i += 8) {
        const V *at = b + (i & p->mask);
#define RANGE(j, k)                                                                                \
    do {                                                                                           \
        const V v = at[j];                                                                         \
        __asm__("vminpd %1, %0, %0" : "+x"(l##k) : "x"(v));                                        \
        __asm__("vmaxpd %1, %0, %0" : "+x"(g##k) : "x"(v));                                        \
    } while (0)
        RANGE(0, 0);
        RANGE(1, 1);
        RANGE(2, 2);
        RANGE(3, 3);
        RANGE(4, 0);
        RANGE(5, 1);
        RANGE(6, 2);
        RANGE(7, 3);
    }
    return first_of((g0 + g1 + g2 + g3) - (l0 + l1 + l2 + l3));
}

/* ---- The divider ----------------------------------------------------------------------------- */

/* Sums reciprocals of vectors. */
ALONE static double reciprocals(const struct part *p)
{
    const V *b = p->b;
    const V x = p->x;
    V s = {0}, t = s;
    const long n = p->n / 2 * 2;
    ONE_LOOP
    for (long i = 0; i < n; i += 2) {
        s += x / b[i];
        t += x / b[i + 1];
    }
    return first_of(s + t);
}

/* Computes lengths of vectors of two components. */
ALONE static double lengths(const struct part *p)
{
    V *restrict a = p->a;
    const V *b = p->b, *c = p->c;
    const long n = p->n;
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        V s = b[i] * b[i] + c[i] * c[i];
        __asm__("vsqrtpd %0, %0" : "+x"(s));
        a[i] = s;
    }
    return 0;
}

/* Computes the remainder of a long number, digit by digit. */
ALONE static double residues(const struct part *p)
{
    const unsigned *b = p->b;
    const long n = p->n * WORDS * 2;
    const unsigned m = (unsigned)p->n | 0x10001;
    unsigned h = 1;
    ONE_LOOP
    for (long i = 0; i < n; i++)
        h = (h * 31u + b[i]) % m;
    return (double)h;
}

/* ---- Recurrences ----------------------------------------------------------------------------- */

/* Smooths an array exponentially. */
ALONE static double smooth(const struct part *p)
{
    double *restrict a = p->a;
    const double *b = p->b;
    const double x = (double)p->x[0];
    const long n = p->n * WORDS;
    double s = 1;
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        s += x * (b[i] - s);
        a[i] = s;
    }
    return s;
}

/* Applies one affine map after the other. */
ALONE static double affine(const struct part *p)
{
    const double *b = p->b, *c = p->c;
    const long n = p->n * WORDS;
    double s = 1;
    ONE_LOOP
    for (long i = 0; i < n; i++)
        s = s * b[i] + c[i];
    return s;
}

/* Computes a dot product with one sum. */
ALONE static double dot_plain(const struct part *p)
{
    const double *b = p->b, *c = p->c;
    const long n = p->n * WORDS;
    double s = 0;
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        s += b[i] * c[i];
        HELD(s); /* no vectors */
    }
    return s;
}

/* Folds an array by carry-less multiplications, as a CRC does. */
ALONE static double fold(const struct part *p)
{
    const D2 *b = p->b;
    const long n = p->n * (long)(sizeof(V) / 16);
    const D2 key = {3.25, 7.75};
    D2 s = {1, 2};
    ONE_LOOP
    for (long i = 0; i < n; i++) {
        D2 low;
        __asm__("vpclmulqdq $0x00, %2, %1, %0" : "=x"(low) : "x"(s), "x"(key));
        __asm__("vpclmulqdq $0x11, %1, %0, %0" : "+x"(s) : "x"(key));
        __asm__("vpxor %1, %0, %0" : "+x"(s) : "x"(low));
        __asm__("vpxor %1, %0, %0" : "+x"(s) : "x"(b[i]));
    }
    return (double)(s[0] > s[1]);
}

/* Sums an array in a variable that stays in memory. */
ALONE static double held_sum(const struct part *p)
{
    const double *b = p->b;
    volatile double *s = p->a;
    const long n = p->n * WORDS;
    ONE_LOOP
    for (long i = 0; i < n; i++)
        *s = *s + b[i];
    return *s;
}

/* ---- The front end --------------------------------------------------------------------------- */

/* Runs 64 blocks of code, each at the same place of its own page. */
ALONE static double far_code(const struct part *p)
{
    const long n = p->n;
    ONE_LOOP
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 64\n\taddl $1, %%ecx\n\tjmp 1f\n\t.p2align 12\n\t1:\n\t.endr" ::
                             : "ecx", "cc");
    return 0;
}

/* Copies registers, which the rename stage does alone. */
ALONE static double moves(const struct part *p)
{
    const long n = p->n;
    ONE_LOOP
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 100\n\t"
                         "movq %%rax, %%rcx\n\tmovq %%rdx, %%rsi\n\tmovq %%r8, %%r9\n\t"
                         "movq %%rax, %%r10\n\tmovq %%rdx, %%r11\n\tmovq %%r8, %%rdi\n\t"
                         ".endr" ::
                             : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11");
    return 0;
}

const struct kernel fresh_kernels[] = {
    {"ramp", ramp, STREAMS, 1},
    {"blank", blank, STREAMS, 1},
    {"planes", planes, STREAMS, 3},
    {"streaming", streaming, STREAMS, 1},
    {"mixed_widths", mixed_widths, STREAMS, 1},
    {"dot_three", dot_three, STREAMS, 3},
    {"matvec", matvec, STREAMS, 1},
    {"larger", larger, STREAMS, 3},
    {"columns", columns, STREAMS, 1},
    {"column_by", column_by, STREAMS, 1},
    {"pairs", pairs, NUMBERS_LONG, 1},
    {"gather_wide", gather_wide, NUMBERS_LONG, 1},
    {"visit", visit, LIST, 1},
    {"find_key", find_key, LIST, 1},
    {"moments", moments, STREAMS, 1},
    {"orbits", orbits, STREAMS, 1},
    {"exponentials", exponentials, STREAMS, 2},
    {"conversions", conversions, STREAMS, 1},
    {"interleaves", interleaves, STREAMS, 2},
    {"range", range, AGAIN, 1},
    {"reciprocals", reciprocals, STREAMS, 1},
    {"lengths", lengths, STREAMS, 3},
    {"residues", residues, STREAMS, 1},
    {"smooth", smooth, STREAMS, 2},
    {"affine", affine, STREAMS, 2},
    {"dot_plain", dot_plain, STREAMS, 2},
    {"fold", fold, STREAMS, 1},
    {"held_sum", held_sum, STREAMS, 1},
    {"far_code", far_code, NOTHING, 1},
    {"moves", moves, NOTHING, 1},
    {0},
};
