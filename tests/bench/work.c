/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark target: a fixed amount of work in many pieces, ten calls deep, that times itself.
 * bench-work PIECES RESULT adds one line to the file RESULT. It has the first quartile of the
 * seconds of a piece, because load of the host lengthens the others. It also has the CPU time of
 * this process, and the wall time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define PIECE 20000000 /* additions, a loop-carried dependence: some 10 ms */

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static double work(double *value, int depth)
{
    if (depth > 0) {
        const double sum = work(value, depth - 1);
        return sum + *value; /* no tail call */
    }
    double sum = 0;
    for (int i = 0; i < PIECE; i++)
        sum += *value;
    return sum;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const int n = argc == 3 ? atoi(argv[1]) : 0;
    double *piece_s = n > 0 ? calloc((size_t)n, sizeof *piece_s) : NULL;
    double value = 1e-3, sum = 0;
    struct rusage use;
    if (!piece_s) {
        fprintf(stderr, "usage: %s PIECES RESULT\n", argv[0]);
        return 2;
    }
    const double begin_s = now_s();
    for (int i = 0; i < n; i++) {
        const double from_s = now_s();
        sum += work(&value, 10);
        piece_s[i] = now_s() - from_s;
    }
    const double wall_s = now_s() - begin_s;
    getrusage(RUSAGE_SELF, &use);
    qsort(piece_s, (size_t)n, sizeof *piece_s, by_value);
    FILE *out = fopen(argv[2], "a");
    if (!out || sum < 0) {
        perror(argv[2]);
        return 1;
    }
    fprintf(out, "%.9f %.6f %.6f\n", piece_s[n / 4],
            (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6,
            wall_s);
    free(piece_s);
    return fclose(out) == 0 ? 0 : 1;
}
