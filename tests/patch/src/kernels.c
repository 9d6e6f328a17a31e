/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops of known trip counts, each alone in its function, and what clones must leave alone: the red
 * zone, flags that live over a header, vector registers, alloca, longjmp, recursion, jump tables.
 * Prints what it computed; on standard error, for each loop that has them, "truth FUNCTION
 * INSTANCES TRIPS".
 */
#include <alloca.h>
#include <immintrin.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALONE  __attribute__((noinline, noclone))
#define ROUNDS 8

ALONE double dot(long n, const double *x, const double *y)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

struct node {
    struct node *next;
    long value;
};

ALONE long chase(const struct node *p)
{
    long s = 0;
    do
        s = s * 3 + p->value;
    while ((p = p->next));
    return s;
}

ALONE double half(double x)
{
    return x * 0.5;
}

ALONE double calling(long n, const double *x)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += half(x[i]);
    return s;
}

ALONE long choosing(long n, const unsigned char *p)
{
    long s = 1;
    for (long i = 0; i < n; i++) {
        switch (p[i]) {
        case 0:
            s += 3;
            break;
        case 1:
            s ^= 7 * i;
            break;
        case 2:
            s = s * 5 + 1;
            break;
        case 3:
            s -= i;
            break;
        case 4:
            s |= i;
            break;
        case 5:
            s += n;
            break;
        case 6:
            s = ~s;
            break;
        case 7:
            s = (long)half((double)s);
            break;
        default:
            s++;
        }
    }
    return s;
}

ALONE long finding(long n, const long *x, long what)
{
    for (long i = 0; i < n; i++) {
        if (x[i] == what)
            return i;
    }
    return -1;
}

ALONE double nested(long n, long m, const double *x)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        double row = 1;
        for (long k = 0; k < m; k++)
            row = row * 0.5 + x[k];
        if (row > 1e9)
            return s;
        s += row * (double)i;
    }
    return s;
}

/* A leaf that keeps data below the stack pointer over its loop. */
ALONE long red_zone(long n, const long *x)
{
    volatile long a[12];
    long s = 0;
    for (int i = 0; i < 12; i++)
        a[i] = i * n;
    for (long i = 0; i < n; i++)
        s += x[i] ^ a[i % 12];
    for (int i = 0; i < 12; i++)
        s += a[i];
    return s;
}

/* The carry flag lives around the loop, all flags of the last compare behind it. */
long flags(long n, long m);
__asm__(".text\n.globl flags\n.type flags,@function\n"
        "flags: xor %eax,%eax\n xor %ecx,%ecx\n cmp $5,%rsi\n"
        "1: adc $3,%rax\n nopl 0(%rax)\n inc %rcx\n lea (%rcx),%rdx\n"
        " cmp %rdi,%rcx\n jb 1b\n"
        " pushfq\n pop %rdx\n and $0x8d5,%edx\n shl $20,%rdx\n or %rdx,%rax\n ret\n"
        ".size flags,.-flags\n");
/* All flags live over the header. */
long all_flags(long n, long m);
__asm__(".text\n.globl all_flags\n.type all_flags,@function\n"
        "all_flags: xor %eax,%eax\n mov %rdi,%rcx\n cmp $5,%rsi\n"
        "1: setb %dl\n seto %r8b\n sets %r9b\n setz %r10b\n setp %r11b\n"
        " movzbl %dl,%edx\n movzbl %r8b,%r8d\n movzbl %r9b,%r9d\n movzbl %r10b,%r10d\n"
        " movzbl %r11b,%r11d\n lea (%rax,%rdx),%rax\n lea (%rax,%r8,2),%rax\n"
        " lea (%rax,%r9,4),%rax\n lea (%rax,%r10,8),%rax\n lea (%rax,%r11,4),%rax\n"
        " lea (%rax,%rax),%rax\n lea -1(%rcx),%rcx\n"
        " cmp %rsi,%rcx\n jnz 1b\n"
        " pushfq\n pop %rdx\n and $0x8d5,%edx\n add %rdx,%rax\n ret\n"
        ".size all_flags,.-all_flags\n");

__attribute__((noinline, target("avx2"))) static double wide(long n, const double *x)
{
    __m256d s = _mm256_setzero_pd(), t = _mm256_set1_pd(0.25);
    for (long i = 0; i + 4 <= n; i += 4) {
        __m256d v = _mm256_loadu_pd(x + i);
        s = _mm256_add_pd(_mm256_mul_pd(s, t), _mm256_mul_pd(v, v));
        s = _mm256_add_pd(s, _mm256_set1_pd(half(x[i])));
    }
    double out[4];
    _mm256_storeu_pd(out, s);
    return out[0] + 2 * out[1] + 3 * out[2] + 4 * out[3];
}

__attribute__((noinline, target("avx512f"))) static double wider(long n, const double *x)
{
    __m512d s = _mm512_setzero_pd(), t = _mm512_set1_pd(0.25);
    __mmask8 m = 0x5a;
    for (long i = 0; i + 8 <= n; i += 8) {
        __m512d v = _mm512_maskz_loadu_pd(m, x + i);
        s = _mm512_mask_add_pd(_mm512_mul_pd(s, t), m, s, _mm512_mul_pd(v, v));
        m = (__mmask8)(m << 1 | m >> 7);
    }
    double out[8], r = 0;
    _mm512_storeu_pd(out, s);
    for (int i = 0; i < 8; i++)
        r += out[i] * i;
    return r;
}

ALONE long growing(long n)
{
    long s = 0;
    for (long i = 1; i < n; i++) {
        unsigned char *p = alloca((size_t)i);
        memset(p, (int)i, (size_t)i);
        s += p[i / 2];
    }
    return s;
}

static jmp_buf back;
ALONE void leap(long i)
{
    if (i == 7)
        longjmp(back, 1);
}

ALONE long leaping(long n)
{
    volatile long s = 0;
    for (long i = 0; i < n; i++) {
        s += i;
        if (!setjmp(back))
            leap(i);
        else
            s += 1000;
    }
    return s;
}

/* Leaves the loop by longjmp and comes back. */
ALONE long escaping(long n)
{
    volatile long s = 0;
    if (setjmp(back))
        return s;
    for (long i = 0; i < n; i++) {
        s += i;
        leap(i);
    }
    return -1;
}

ALONE long recursing(long depth)
{
    long s = depth;
    for (long i = 0; i < depth; i++)
        s = s * 7 + recursing(depth - 1 - (i & 1) - (depth > 1));
    return s;
}

ALONE void copying(void *to, const void *from, long n, long times)
{
    for (long i = 0; i < times; i++) {
        void *t = to;
        const void *f = from;
        size_t c = (size_t)n;
        __asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(c) : : "memory");
    }
}

int main(void)
{
    enum { N = 200 };
    static double x[N], y[N];
    static long z[N];
    static struct node list[40];
    static unsigned char choice[N], copy[N];
    double d = 0;
    uint64_t h = 0;
    for (int i = 0; i < N; i++) {
        x[i] = i * 0.125;
        y[i] = 2 - i;
        z[i] = i * 7919;
        choice[i] = (unsigned char)(i * 7 % 10);
    }
    for (int i = 0; i < 40; i++)
        list[i] = (struct node){i < 39 ? &list[i + 1] : NULL, i * 3};
    for (long r = 0; r < ROUNDS; r++) {
        d += dot(N - 1, x, y) + calling(30, x) + nested(6, 17, x);
        h = h * 31 + (uint64_t)chase(list + 3);
        h = h * 31 + (uint64_t)choosing(N, choice);
        h = h * 31 + (uint64_t)finding(N, z, 7919 * 20);
        h = h * 31 + (uint64_t)red_zone(24, z);
        h = h * 31 + (uint64_t)flags(9, r % 11);
        h = h * 31 + (uint64_t)all_flags(40, r % 11);
        h = h * 31 + (uint64_t)growing(60);
        h = h * 31 + (uint64_t)leaping(20);
        h = h * 31 + (uint64_t)escaping(20);
        h = h * 31 + (uint64_t)recursing(6);
        copying(copy, choice, N - r * 5, 3);
        h = h * 31 + copy[r];
        if (__builtin_cpu_supports("avx2"))
            d += wide(N, x);
        if (__builtin_cpu_supports("avx512f"))
            d += wider(N, x);
    }
    printf("%.17g %016llx\n", d, (unsigned long long)h);
    fprintf(stderr, "truth dot %d %d\n", ROUNDS, ROUNDS * (N - 1));
    fprintf(stderr, "truth chase %d %d\n", ROUNDS, ROUNDS * 37);
    fprintf(stderr, "truth calling %d %d\n", ROUNDS, ROUNDS * 30);
    fprintf(stderr, "truth choosing %d %d\n", ROUNDS, ROUNDS * N);
    fprintf(stderr, "truth finding %d %d\n", ROUNDS, ROUNDS * 21);
    fprintf(stderr, "truth flags %d %d\n", ROUNDS, ROUNDS * 9);
    fprintf(stderr, "truth nested %d %d\n", ROUNDS * 7, ROUNDS * (6 + 6 * 17));
    return 7;
}
