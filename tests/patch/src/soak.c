/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many instances of a loop, and many threads, each with some: soak INSTANCES THREADS. Says how
 * often the loop ran.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ALONE __attribute__((noinline, noclone))
enum { EACH = 20, N = 4 };

static double x[N] = {1, 2, 3, 4};

ALONE double sum(long n, const double *p)
{
    double s = 0;
    __asm__ volatile("" : "+r"(p)); /* not the same as the last time, for all the compiler knows */
    for (long i = 0; i < n; i++)
        s += p[i];
    return s;
}

static void *some(void *unused)
{
    double s = 0;
    (void)unused;
    for (int i = 0; i < EACH; i++)
        s += sum(N, x);
    return s == EACH * 10.0 ? x : NULL;
}

int main(int argc, char **argv)
{
    const long instances = argc > 1 ? atol(argv[1]) : 1000, threads = argc > 2 ? atol(argv[2]) : 10;
    double s = 0;
    long good = 0;
    for (long i = 0; i < instances; i++)
        s += sum(N, x);
    for (long i = 0; i < threads; i++) {
        pthread_t thread;
        void *got = NULL;
        if (pthread_create(&thread, NULL, some, NULL) == 0)
            pthread_join(thread, &got);
        good += got != NULL;
    }
    printf("%.17g %ld\n", s, good);
    fprintf(stderr, "truth sum %ld %ld\n", instances + EACH * threads,
            N * (instances + EACH * threads));
    return 0;
}
