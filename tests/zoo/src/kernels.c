/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain program of the zoo: numeric kernels with one loop, a loop nest, a reduction, a
 * switch, a recursion, and a split cold path. No tricks of the linker: those stand in symbols.c.
 * A comment `line:NAME` marks the line where function NAME is declared, `call:NAME` one that calls
 * it; check.py reads them.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

/* One stream in, one updated: memory-bound, vectorised by every compiler at -O3. */
ALONE void daxpy(size_t n, double a, const double *x, double *y) /* line:daxpy */
{
    for (size_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

/* A reduction: a chain of additions that may not be reordered without -ffast-math. */
ALONE double dot(size_t n, const double *x, const double *y) /* line:dot */
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Five points in two dimensions: a nest of two loops. */
ALONE void stencil5(size_t n, const double *in, double *out) /* line:stencil5 */
{
    for (size_t i = 1; i + 1 < n; i++)
        for (size_t j = 1; j + 1 < n; j++)
            out[i * n + j] = 0.25 * (in[(i - 1) * n + j] + in[(i + 1) * n + j] + in[i * n + j - 1] +
                                     in[i * n + j + 1]) -
                             in[i * n + j];
}

/* A nest of three loops with a strided access in the innermost one. */
ALONE void matmul(size_t n, const double *a, const double *b, double *c) /* line:matmul */
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

/* A switch dense enough for a jump table. */
ALONE int dispatch(int op, int x) /* line:dispatch */
{
    switch (op) {
    case 0:
        return x + 3;
    case 1:
        return x * x;
    case 2:
        return x / 7;
    case 3:
        return x ^ 0x55;
    case 4:
        return x << 2;
    case 5:
        return -x;
    case 6:
        return x % 13;
    default:
        return 0;
    }
}

/* A recursion that a compiler can only turn into a loop in part. */
ALONE unsigned fibonacci(unsigned n) /* line:fibonacci */
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((cold, noinline, noreturn)) static void fail(const char *why) /* line:fail */
{
    fprintf(stderr, "kernels: %s\n", why);
    exit(1);
}

/* An unlikely exit from a loop; gcc at -O2 and above moves such paths of main to main.cold. */
ALONE double checked(const double *x, size_t n) /* line:checked */
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_expect(x[i] != x[i], 0)) {
            fprintf(stderr, "element %zu\n", i);
            fail("not a number");
        }
        sum += x[i];
    }
    return sum;
}

/* Inlined wherever anything is optimised. */
static inline double scale(double x) /* line:scale */
{
    return x * 1.0000001 + 0.5;
}

int main(int argc, char **argv) /* line:main */
{
    size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 24;
    double *a = calloc(n * n, sizeof *a);
    double *b = calloc(n * n, sizeof *b);
    double *c = calloc(n * n, sizeof *c);
    if (!a || !b || !c)
        fail("out of memory");
    for (size_t i = 0; i < n * n; i++) {
        a[i] = scale((double)i); /* call:scale */
        b[i] = (double)dispatch((int)(i % 8), (int)i);
    }
    daxpy(n * n, 0.5, a, b);
    stencil5(n, a, c);
    matmul(n, a, b, c);
    printf("%g %g %u\n", dot(n * n, a, c), checked(c, n * n), fibonacci(12));
    free(a);
    free(b);
    free(c);
    return 0;
}
