/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Five passes over arrays larger than the caches do the work of one.
 * place: scale add_scaled clip momentum_step
 * finding: memory_bandwidth cache_bandwidth memory_pace
 * words: (?i)fuse|pass(es)? over
 * false: scalar_arithmetic scalar_options memory_latency
 * flags: -O2 -g
 * arguments: 6000000 40
 * repair: One loop does all operations on an element.
 * clock: cpu */
#include <stdio.h>
#include <stdlib.h>

static double *array_of(long n, double first)
{
    double *array = malloc((size_t)n * sizeof *array);

    for (long i = 0; i < n; i++)
        array[i] = first + (double)(i % 100) * 0.01;
    return array;
}

#ifndef REPAIRED
__attribute__((noinline)) static void scale(double *x, double by, long n)
{
    for (long i = 0; i < n; i++) /* HERE */
        x[i] *= by;
}

__attribute__((noinline)) static void add_scaled(double *x, const double *y, double by, long n)
{
    for (long i = 0; i < n; i++) /* HERE */
        x[i] += by * y[i];
}

__attribute__((noinline)) static void clip(double *x, double limit, long n)
{
    for (long i = 0; i < n; i++) /* HERE */
        x[i] = x[i] > limit ? limit : x[i];
}

/* Descends with momentum: velocity, weight decay, weights. */
static void momentum_step(double *weight, double *velocity, const double *slope, long n)
{
    scale(velocity, 0.9, n);
    add_scaled(velocity, slope, -0.01, n);
    add_scaled(velocity, weight, -0.001, n);
    add_scaled(weight, velocity, 1, n);
    clip(weight, 0.95, n);
}
#else
static void momentum_step(double *weight, double *velocity, const double *slope, long n)
{
    for (long i = 0; i < n; i++) {
        double speed = velocity[i] * 0.9;

        speed += -0.01 * slope[i];
        speed += -0.001 * weight[i];
        velocity[i] = speed;
        weight[i] += speed;
        weight[i] = weight[i] > 0.95 ? 0.95 : weight[i];
    }
}
#endif

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long n = atol(argv[1]);
    double *weight = array_of(n, 0.5), *velocity = array_of(n, 0), *slope = array_of(n, -0.5);
    double sum = 0;

    for (int step = 0; step < atoi(argv[2]); step++)
        momentum_step(weight, velocity, slope, n);
    for (long i = 0; i < n; i++)
        sum += weight[i] * (double)(i % 3);
    printf("checksum %.6f\n", sum);
    return 0;
}
