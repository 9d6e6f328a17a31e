/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over static arrays, for tests/count/levels.py: levels KERNEL N TIMES [BLOCK]. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM   (1 << 21)
#define KERNEL __attribute__((noinline)) void
static double a[ROOM] __attribute__((aligned(4096))), b[ROOM] __attribute__((aligned(4096))),
    c[ROOM] __attribute__((aligned(4096)));
static int column[ROOM];
static long row[1 << 17];

KERNEL triad(long n)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}

KERNEL plane(long n)
{
    for (long j = 1; j < n - 1; j++)
        for (long i = 1; i < n - 1; i++)
            b[j * n + i] = 0.25 * (a[j * n + i - 1] + a[j * n + i + 1] + a[(j - 1) * n + i] +
                                   a[(j + 1) * n + i]);
}

KERNEL space(long n)
{
    for (long k = 1; k < n - 1; k++)
        for (long j = 1; j < n - 1; j++)
            for (long i = 1; i < n - 1; i++) {
                const long x = (k * n + j) * n + i;
                b[x] = 0.1 * (a[x - 1] + a[x + 1] + a[x - n] + a[x + n] + a[x - n * n] +
                              a[x + n * n] + a[x]);
            }
}

KERNEL product(long n, long block)
{
    for (long x = 0; x < n; x += block)
        for (long z = 0; z < n; z += block)
            for (long y = 0; y < n; y += block)
                for (long i = x; i < x + block; i++)
                    for (long k = z; k < z + block; k++)
                        for (long j = y; j < y + block; j++)
                            c[i * n + j] += a[i * n + k] * b[k * n + j];
}

KERNEL sparse(long n)
{
    for (long i = 0; i < n; i++) {
        double s = 0;
        for (long k = row[i]; k < row[i + 1]; k++)
            s += a[k] * b[column[k]];
        c[i] = s;
    }
}

KERNEL columns(long n)
{
    for (long j = 0; j < n; j++) {
        double s = 0;
        for (long i = 0; i < n; i++)
            s += a[i * n + j];
        c[j] = s;
    }
}

/* Looks keys up in a table of linked entries. */
KERNEL joined(long n)
{
    for (long i = 0; i < n; i++) {
        long at = column[i];
        for (int links = 0; links < 3; links++)
            at = ((long)b[at] + column[at]) & (n - 1);
        c[i & 1023] += (double)at;
    }
}

/* Some accesses depend on data: no walk. */
KERNEL chosen(long n)
{
    for (long i = 0; i < n; i++)
        if (column[i] & 1)
            c[i] = a[i];
        else
            b[column[i] & (ROOM - 1)] += 1;
}

KERNEL reversed(long n)
{
    for (long i = n - 1; i >= 0; i--)
        a[i] = b[n - 1 - i];
}

int main(int argc, char **argv)
{
    const char *kernel = argc > 3 ? argv[1] : "";
    const long n = argc > 3 ? atol(argv[2]) : 0;
    unsigned long x = 88172645463325252ul;
    for (long i = 0; strchr("sjc", kernel[0]) && strcmp(kernel, "space") && i < 8 * n && i < ROOM;
         i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        column[i] = (int)(strcmp(kernel, "sparse-banded") ? x % (unsigned long)n
                                                          : (unsigned long)(i / 8) + x % 16);
        row[i / 8] = i / 8 * 8;
        row[i / 8 + 1] = i / 8 * 8 + 8;
    }
    for (int t = argc > 3 ? atoi(argv[3]) : 0; t > 0; t--) {
        if (!strcmp(kernel, "triad"))
            triad(n);
        else if (!strcmp(kernel, "plane"))
            plane(n);
        else if (!strcmp(kernel, "space"))
            space(n);
        else if (!strcmp(kernel, "product"))
            product(n, argc > 4 ? atol(argv[4]) : 32);
        else if (!strncmp(kernel, "sparse", 6))
            sparse(n);
        else if (!strcmp(kernel, "columns"))
            columns(n);
        else if (!strcmp(kernel, "joined"))
            joined(n);
        else if (!strcmp(kernel, "chosen"))
            chosen(n);
        else if (!strcmp(kernel, "reversed"))
            reversed(n);
    }
    printf("%.17g %.17g\n", a[5] + b[7], c[9]);
    return 0;
}
