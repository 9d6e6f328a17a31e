/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The triad of STREAM (McCalpin 1995) with OpenMP, tuned by hand. Arrays are four times the last
 * cache, and are first touched by the thread that uses them. Stores are tried with and without the
 * non-temporal hint. Prints bytes per second as STREAM counts them (three arrays), the best of the
 * trials.
 *
 * usage: stream BYTES-OF-AN-ARRAY TRIALS
 */
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void triad(double *a, const double *b, const double *c, long n)
{
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}

#ifdef __AVX__
static void triad_past_caches(double *a, const double *b, const double *c, long n)
{
    const __m256d three = _mm256_set1_pd(3);
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i += 4)
        _mm256_stream_pd(a + i, _mm256_add_pd(_mm256_load_pd(b + i),
                                              _mm256_mul_pd(three, _mm256_load_pd(c + i))));
}
#else
#define triad_past_caches triad
#endif

int main(int argc, char **argv)
{
    const long bytes = argc > 1 ? atol(argv[1]) / 32 * 32 : 128 << 20, n = bytes / 8;
    const int trials = argc > 2 ? atoi(argv[2]) : 20;
    double *array[3], best[2] = {1e9, 1e9};

    for (int k = 0; k < 3; k++) {
        array[k] = aligned_alloc(2 << 20, (size_t)(bytes + (2 << 20)) & ~((2ul << 20) - 1));
        if (!array[k])
            return 1;
        madvise(array[k], (size_t)bytes, MADV_HUGEPAGE);
    }
#pragma omp parallel for schedule(static)
    for (long i = 0; i < n; i++)
        array[0][i] = array[1][i] = array[2][i] = 1;
    for (int i = 0; i < 2 * trials; i++) {
        const double from = now_s();
        (i % 2 ? triad_past_caches : triad)(array[0], array[1], array[2], n);
        const double took = now_s() - from;
        if (took < best[i % 2])
            best[i % 2] = took;
    }
    printf("triad %.6g\ntriad-nt %.6g\n", 3. * (double)bytes / best[0],
           3. * (double)bytes / best[1]);
    return 0;
}
