/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops with a bottleneck known by construction: kernels of one loop each, in vectors of WIDTH
 * bytes of TYPE. kernels.h describes them. truth.py has the bottleneck of each, and the reason.
 */
#include "kernels.h"

#define ALONE __attribute__((noinline, noclone))

/* Keeps a value in a register: the compiler must not fold it into an operand. */
#define HELD(x) __asm__("" : "+x"(x))

ALONE static double total(V x)
{
    double s = 0;
    for (unsigned i = 0; i < sizeof x / sizeof x[0]; i++)
        s += (double)x[i];
    return s;
}

/* The same code in two forms. One has plain strides over data of any size. The other reads the same
 * data repeatedly in one call: one pass over the first cache is too short to be measured. `from` is
 * the first of `count` vectors. */
#define STREAM_LOOP(name, reset, count, from, ...)                                                 \
    ALONE static void name##_of(const struct part *p, V *sum)                                      \
    {                                                                                              \
        V *restrict a = p->a;                                                                      \
        const V *b = p->b, *c = p->c;                                                              \
        const V x = p->x;                                                                          \
        const long n = p->n / (count) * (count);                                                   \
        V s0 = {0}, s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0;                                   \
        V s6 = s0, s7 = s0, s8 = s0, s9 = s0, s10 = s0, s11 = s0;                                  \
        V s12 = s0, s13 = s0, s14 = s0, s15 = s0;                                                  \
        (void)a, (void)b, (void)c, (void)x;                                                        \
        for (long i = 0; i < n; i += (count)) {                                                    \
            const long from = (reset);                                                             \
            __VA_ARGS__                                                                            \
        }                                                                                          \
        *sum =                                                                                     \
            s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7 + s8 + s9 + s10 + s11 + s12 + s13 + s14 + s15;   \
    }                                                                                              \
    ALONE double name(const struct part *p)                                                        \
    {                                                                                              \
        V sum;                                                                                     \
        name##_of(p, &sum);                                                                        \
        return total(sum);                                                                         \
    }
#define STREAM(name, count, ...)                                                                   \
    STREAM_LOOP(name, i, count, k, __VA_ARGS__)                                                    \
    STREAM_LOOP(name##_again, i & p->mask, count, k, __VA_ARGS__)

#define EIGHT(DO)   DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define SIXTEEN(DO) EIGHT(DO) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15)

#define TRIAD(j) a[k + j] = b[k + j] + x * c[k + j];
STREAM(triad, 8, EIGHT(TRIAD))

#define SCALE(j) a[k + j] = x * b[k + j];
STREAM(scale, 8, EIGHT(SCALE))

#define FILL(j)                                                                                    \
    HELD(s0); /* no call of memset */                                                              \
    a[k + j] = s0;
STREAM(fill, 8, EIGHT(FILL))

#define DOT(j) s##j += b[k + j] * c[k + j];
STREAM(dot, 8, EIGHT(DOT))

/* A load for each multiply-add. */
#define EVENLY(j) s##j += b[k + j] * x;
STREAM(evenly, 16, SIXTEEN(EVENLY))

/* 128 multiply-adds of each of eight vectors that are loaded. */
#define STEP(v) v = v * v + x
#define STEP8   STEP(v0), STEP(v1), STEP(v2), STEP(v3), STEP(v4), STEP(v5), STEP(v6), STEP(v7)
#define STEP64  STEP8, STEP8, STEP8, STEP8, STEP8, STEP8, STEP8, STEP8
ALONE double polynomial(const struct part *p)
{
    const V *b = p->b;
    const V x = p->x;
    V s = {0};
    const long n = p->n;
    for (long i = 0; i < n; i += 8) {
        V v0 = b[i], v1 = b[i + 1], v2 = b[i + 2], v3 = b[i + 3];
        V v4 = b[i + 4], v5 = b[i + 5], v6 = b[i + 6], v7 = b[i + 7];
        STEP64, STEP64, STEP64, STEP64, STEP64, STEP64, STEP64, STEP64;
        STEP64, STEP64, STEP64, STEP64, STEP64, STEP64, STEP64, STEP64;
        s += v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7;
    }
    return total(s);
}

/* The kernel of a matrix product: a block of three vectors by four columns in registers. */
#define COLUMN(k)                                                                                  \
    do {                                                                                           \
        V y = a[4 * j + k] - (V){0};                                                               \
        HELD(y);                                                                                   \
        c##k##0 += b0 * y, c##k##1 += b1 * y, c##k##2 += b2 * y;                                   \
    } while (0)
ALONE double product(const struct part *p)
{
    const V *b = p->b;
    const TYPE *a = p->c;
    V c00 = {0}, c01 = c00, c02 = c00, c10 = c00, c11 = c00, c12 = c00;
    V c20 = c00, c21 = c00, c22 = c00, c30 = c00, c31 = c00, c32 = c00;
    const long n = p->n / 3;
    for (long i = 0; i < n; i++) {
        const long j = i & (p->mask >> 2);
        V b0 = b[3 * j], b1 = b[3 * j + 1], b2 = b[3 * j + 2];
        HELD(b0);
        HELD(b1);
        HELD(b2);
        COLUMN(0);
        COLUMN(1);
        COLUMN(2);
        COLUMN(3);
    }
    return total(c00 + c01 + c02 + c10 + c11 + c12 + c20 + c21 + c22 + c30 + c31 + c32);
}

ALONE double divide(const struct part *p)
{
    const TYPE *b = p->b, *c = p->c;
    TYPE *a = p->a;
    const long n = p->n * (long)(sizeof(V) / sizeof(TYPE));
    for (long i = 0; i < n; i++) {
        TYPE x = b[i] / c[i];
        __asm__("" : "+x"(x)); /* one at a time: no vectors */
        a[i] = x;
    }
    return 0;
}

/* Three of each other, and nothing but what is read. */
ALONE double divide_thrice(const struct part *p)
{
    const TYPE *b = p->b;
    const long n = p->n * (long)(sizeof(V) / sizeof(TYPE));
    const TYPE x = p->x[0] + 3;
    TYPE s = 0, t = 0;
    for (long i = 0; i < n; i += 2) {
        s += x / b[i] + (x + 1) / (b[i] + 2) + (x + 4) / (b[i] + 3);
        t += x / b[i + 1] + (x + 1) / (b[i + 1] + 2) + (x + 4) / (b[i + 1] + 3);
    }
    return (double)(s + t);
}

/* Each iteration begins with what the one before it ends with. */
ALONE double recurrence(const struct part *p)
{
    const TYPE *b = p->b;
    const long n = p->n * (long)(sizeof(V) / sizeof(TYPE));
    const TYPE x = p->x[0];
    TYPE s = 1;
    for (long i = 0; i < n; i++)
        s = (s * x + b[i]) * x + x;
    return (double)s;
}

ALONE double hash(const struct part *p)
{
    const unsigned long *b = p->b;
    const long n = p->n * (long)(sizeof(V) / 8);
    unsigned long h = 1;
    for (long i = 0; i < n; i++)
        h = ((h ^ b[i]) * 0x9e3779b97f4a7c15u ^ 77) * 0xc2b2ae3d27d4eb4fu;
    return (double)(h & 1023);
}

struct node {
    struct node *next;
    long value[7];
};

ALONE double list(const struct part *p)
{
    const struct node *at = *(struct node **)p->c;
    const long n = p->n;
    for (long i = 0; i < n; i++)
        at = at->next;
    *(const struct node **)p->c = at;
    return at->value[0] == 0;
}

ALONE double list_sum(const struct part *p)
{
    const struct node *at = *(struct node **)p->c;
    const long n = p->n;
    long s = 0;
    for (long i = 0; i < n; i++) {
        s += at->value[0];
        at = at->next;
    }
    *(const struct node **)p->c = at;
    return (double)s;
}

/* Elements of one array by numbers out of another. */
ALONE double gather(const struct part *p)
{
    const unsigned *k = p->c;
    const TYPE *b = p->b;
    const long n = p->n;
    TYPE s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (long i = 0; i < n; i += 4) {
        s0 += b[k[i]];
        s1 += b[k[i + 1]];
        s2 += b[k[i + 2]];
        s3 += b[k[i + 3]];
    }
    return (double)(s0 + s1 + s2 + s3);
}

ALONE double gather_long(const struct part *p)
{
    const unsigned *k = p->c;
    const long *b = p->b;
    const long n = p->n;
    long s = 0, t = 0;
    for (long i = 0; i < n; i += 2) {
        s += b[k[i]];
        t ^= b[k[i + 1]];
    }
    return (double)((s ^ t) & 1023);
}

/* A store for each line. */
#define LINES(reset)                                                                               \
    TYPE *a = p->a;                                                                                \
    const TYPE x = p->x[0];                                                                        \
    const long n = p->n / 4;                                                                       \
    const long step = sizeof(V) / sizeof(TYPE);                                                    \
    for (long i = 0; i < n; i++) {                                                                 \
        const long k = (reset);                                                                    \
        a[4 * k * step] = x;                                                                       \
        a[(4 * k + 1) * step] = x;                                                                 \
        a[(4 * k + 2) * step] = x;                                                                 \
        a[(4 * k + 3) * step] = x;                                                                 \
    }                                                                                              \
    return 0;
ALONE double store_lines(const struct part *p){LINES(i)}

ALONE double store_lines_again(const struct part *p){LINES(i & (p->mask >> 2))}

/* More slots than a cycle has, and hardly anything to execute. */
ALONE double idle_slots(const struct part *p)
{
    const long n = p->n;
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 50\n\t"
                         "nop\n\tnop\n\tnop\n\taddl $1, %%eax\n\tnop\n\tnop\n\tnop\n\taddl $3, "
                         "%%ecx\n\tnop\n\tnop\n\tnop\n\taddl $1, %%edx\n\t"
                         ".endr" ::
                             : "eax", "ecx", "edx", "cc");
    return 0;
}

/* More instructions than the cache of decoded ones holds, few of them with anything to execute. */
ALONE double long_code(const struct part *p)
{
    const long n = p->n;
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 833\n\t"
                         "addl $0x12345678, %%ecx\n\tnopw 0(%%rax,%%rax)\n\t"
                         "addl $0x12345678, %%edx\n\tnopw 0(%%rax,%%rax)\n\t"
                         "addl $0x12345678, %%esi\n\tnopw 0(%%rax,%%rax)\n\t"
                         ".endr" ::
                             : "ecx", "edx", "esi", "cc");
    return 0;
}

/* More code than the first cache of instructions holds. */
ALONE double wide_code(const struct part *p)
{
    const long n = p->n;
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 8000\n\t"
                         "movabs $0x123456789abcdef0, %%rax\n\t"
                         "movabs $0x123456789abcdef1, %%rcx\n\t"
                         "lea 0x12345678(%%rdx), %%r8\n\t"
                         ".endr" ::
                             : "rax", "rcx", "rdx", "r8");
    return 0;
}

/* Loads, additions, and more slots than both need. */
ALONE double mixed_slots(const struct part *p)
{
    const long n = p->n;
    const void *at = p->b;
    for (long i = 0; i < n; i++)
        __asm__ volatile(".rept 50\n\t"
                         "mov (%0), %%rax\n\tnop\n\tnop\n\taddl $1, %%ecx\n\tnop\n\tnop\n\t"
                         "mov 8(%0), %%rdx\n\tnop\n\tnop\n\taddl $1, %%r8d\n\tnop\n\tnop\n\t"
                         ".endr" ::"r"(at)
                         : "rax", "rcx", "rdx", "r8", "cc");
    return 0;
}

const struct kernel kernels[] = {
    {"triad", triad, STREAMS, 3},
    {"triad_again", triad_again, AGAIN, 3},
    {"scale", scale, STREAMS, 2},
    {"scale_again", scale_again, AGAIN, 2},
    {"fill", fill, STREAMS, 1},
    {"fill_again", fill_again, AGAIN, 1},
    {"dot", dot, STREAMS, 2},
    {"dot_again", dot_again, AGAIN, 2},
    {"evenly", evenly, STREAMS, 1},
    {"evenly_again", evenly_again, AGAIN, 1},
    {"polynomial", polynomial, STREAMS, 1},
    {"product", product, AGAIN, 2},
    {"divide", divide, STREAMS, 3},
    {"divide_thrice", divide_thrice, STREAMS, 1},
    {"recurrence", recurrence, STREAMS, 1},
    {"hash", hash, STREAMS, 1},
    {"list", list, LIST, 1},
    {"list_sum", list_sum, LIST, 1},
    {"gather", gather, NUMBERS, 1},
    {"gather_long", gather_long, NUMBERS_LONG, 1},
    {"store_lines", store_lines, STREAMS, 1},
    {"store_lines_again", store_lines_again, AGAIN, 1},
    {"idle_slots", idle_slots, NOTHING, 1},
    {"long_code", long_code, NOTHING, 1},
    {"wide_code", wide_code, NOTHING, 1},
    {"mixed_slots", mixed_slots, NOTHING, 1},
    {0},
};
