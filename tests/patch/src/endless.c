/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that stay in one loop until they are asked to end, or for the given numbers of
 * iterations: endless [ITERATIONS...]. Prints the iterations and the result of each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ALONE __attribute__((noinline, noclone))
enum { LOOPS = 4 };

static volatile int is_over;
static unsigned long most[LOOPS], made[LOOPS];
static double values[256];

static unsigned long mixed(unsigned long s, unsigned long i)
{
    return (s ^ (s >> 7)) * 0x9e3779b97f4a7c15u + i;
}

/* Few instructions. */
ALONE static unsigned long turning(unsigned long *n, unsigned long end)
{
    unsigned long s = 1, i = 0;
    while (i < end && !is_over)
        s = mixed(s, ++i);
    *n = i;
    return s;
}

/* Several blocks, vectors that live. */
ALONE static unsigned long branching(unsigned long *n, unsigned long end)
{
    unsigned long s = 3, i = 0;
    double v = 1;
    for (; i < end && !is_over; i++) {
        v = v * 0.75 + values[i & 255];
        if (s & 1)
            s = mixed(s, (unsigned long)v);
        else if (s & 4)
            s = s / 3 + i;
        else
            s += 7;
    }
    *n = i;
    return s + (unsigned long)(v * 1e6);
}

ALONE static unsigned long called(unsigned long s)
{
    return s % 1000003 + 11;
}

/* A call in each iteration, and a loop in it. */
ALONE static unsigned long calling(unsigned long *n, unsigned long end)
{
    unsigned long s = 5, i = 0;
    for (; i < end && !is_over; i++) {
        s = called(s + i);
        for (unsigned long k = 0; k < (s & 15); k++)
            s = mixed(s, k);
    }
    *n = i;
    return s;
}

/* A list: nothing counts its iterations. */
ALONE static unsigned long walking(unsigned long *n, unsigned long end)
{
    static unsigned next[1024];
    unsigned long s = 0, i = 0;
    unsigned at = 0;
    for (unsigned k = 0; k < 1024; k++)
        next[k] = (k * 5 + 1) & 1023;
    do {
        at = next[at];
        s += at;
        if (++i >= end)
            break;
    } while (!is_over);
    *n = i;
    return s;
}

static unsigned long (*const loop[LOOPS])(unsigned long *, unsigned long) = {turning, branching,
                                                                             calling, walking};
static unsigned long sum[LOOPS];

static void *run(void *number)
{
    const long k = (long)number;
    sum[k] = loop[k](&made[k], most[k]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread[LOOPS];
    char byte;
    for (int i = 0; i < 256; i++)
        values[i] = i;
    for (long k = 0; k < LOOPS; k++)
        most[k] = argc > 2 + k ? strtoul(argv[2 + k], NULL, 10) : ~0ul;
    for (long k = 0; k < LOOPS; k++)
        pthread_create(&thread[k], NULL, run, (void *)k);
    fputs("ready\n", stderr);
    if (argc < 3) {
        while (read(0, &byte, 1) < 0)
            ;
        is_over = 1;
    }
    for (int k = 0; k < LOOPS; k++)
        pthread_join(thread[k], NULL);
    for (int k = 0; k < LOOPS; k++)
        printf("%lu %lx\n", made[k], sum[k]);
    return 0;
}
