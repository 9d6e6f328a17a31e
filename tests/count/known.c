/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels whose operations and bytes are known by construction: geometric series 1 + M + ... + M^n
 * over an array (2 n - 1 operations, 2 values moved), a stencil of 5 points in two dimensions
 * (4 and 5) and of 7 in three (6 and 7), in single and double precision. known N says on standard
 * error, function by function, "NAME STARTS FLOPS LOADED STORED" of N x N elements.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))

#define SERIES(T, t, N)                                                                            \
    NOINLINE static void series_##t##_##N(const T *in, T *out, long n)                             \
    {                                                                                              \
        for (long i = 0; i < n; i++) {                                                             \
            T m = in[i], s = m + 1;                                                                \
            for (int k = 1; k < N; k++)                                                            \
                s = s * m + 1;                                                                     \
            out[i] = s;                                                                            \
        }                                                                                          \
    }
/* clang-format off */
#define ALL(X, T, t) \
    X(T, t, 1) X(T, t, 2) X(T, t, 3) X(T, t, 4) X(T, t, 5) X(T, t, 6) X(T, t, 7) X(T, t, 8) \
    X(T, t, 9) X(T, t, 10) X(T, t, 11) X(T, t, 12) X(T, t, 13) X(T, t, 14) X(T, t, 15) \
    X(T, t, 16) X(T, t, 17) X(T, t, 18) X(T, t, 19) X(T, t, 20) X(T, t, 21) X(T, t, 22) \
    X(T, t, 23) X(T, t, 24) X(T, t, 25) X(T, t, 26) X(T, t, 27) X(T, t, 28) X(T, t, 29)
/* clang-format on */
ALL(SERIES, float, sp)
ALL(SERIES, double, dp)

#define STENCILS(T, t)                                                                             \
    NOINLINE static void plane_##t(const T *restrict a, T *restrict b, long n)                     \
    {                                                                                              \
        const long w = n + 2;                                                                      \
        for (long y = 1; y <= n; y++)                                                              \
            for (long x = 1; x <= n; x++)                                                          \
                b[y * w + x] = (T)0.25 * (a[y * w + x - 1] + a[y * w + x + 1] +                    \
                                          a[(y - 1) * w + x] + a[(y + 1) * w + x]);                \
    }                                                                                              \
    NOINLINE static void cube_##t(const T *restrict a, T *restrict b, long n)                      \
    {                                                                                              \
        const long w = n + 2, p = w * w;                                                           \
        for (long z = 1; z <= n; z++)                                                              \
            for (long y = 1; y <= n; y++)                                                          \
                for (long x = 1; x <= n; x++) {                                                    \
                    const T *c = a + z * p + y * w + x;                                            \
                    b[z * p + y * w + x] =                                                         \
                        (T)0.125 * (c[-1] + c[1] + c[-w] + c[w] + c[-p] + c[p]);                   \
                }                                                                                  \
    }
STENCILS(float, sp)
STENCILS(double, dp)

static void say(const char *name, long points, long flops, long load_b, long store_b)
{
    fprintf(stderr, "%s 1 %ld %ld %ld\n", name, points * flops, points * load_b, points * store_b);
}

static double check(const void *at, size_t size_b)
{
    const unsigned char *p = at;
    double sum = 0;
    for (size_t i = 0; i < size_b; i += 61)
        sum += p[i];
    return sum;
}

int main(int argc, char **argv)
{
    const long side = argc > 1 ? atol(argv[1]) : 64, n = side * side;
    const long depth = side < 128 ? side : 128;
    const size_t room_b = sizeof(double) * (size_t)((side + 2) * (side + 2) +
                                                    (depth + 2) * (depth + 2) * (depth + 2));
    void *in = calloc(1, room_b), *out = calloc(1, room_b);
    double sum = 0;
    if (!in || !out)
        return 1;
    memset(in, 1, room_b);
#define RUN(T, t, N)                                                                               \
    series_##t##_##N(in, out, n);                                                                  \
    sum += check(out, sizeof(T) * (size_t)n);                                                      \
    say("series_" #t "_" #N, n, 2 * N - 1, sizeof(T), sizeof(T));
    if (side <= 256) {
        ALL(RUN, float, sp)
        ALL(RUN, double, dp)
    }
#define RUN_STENCILS(T, t)                                                                         \
    plane_##t(in, out, side);                                                                      \
    sum += check(out, room_b);                                                                     \
    say("plane_" #t, n, 4, 4 * sizeof(T), sizeof(T));                                              \
    cube_##t(in, out, depth);                                                                      \
    sum += check(out, room_b);                                                                     \
    say("cube_" #t, depth *depth *depth, 6, 6 * sizeof(T), sizeof(T));
    RUN_STENCILS(float, sp)
    RUN_STENCILS(double, dp)
    printf("%.17g\n", sum);
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "killed") == 0)
        raise(SIGKILL);
    return 0;
}
