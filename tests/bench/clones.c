/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops with cheap instances, to measure the cost of a clone. `clones KERNEL` prints the
 * nanoseconds of CPU time of an instance, the minimum of many slices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALONE __attribute__((noinline, noclone))
enum { LONG_N = 10000, SLICES = 400 };

static double x[LONG_N], y[LONG_N];
static int choice[LONG_N];
static struct node {
    struct node *next;
    double value;
} list[32];

ALONE static double dot(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += x[i] * y[i];
    return s;
}

/* Three instructions, a cycle. */
ALONE static unsigned steps(unsigned n)
{
    unsigned s = n;
    do {
        s ^= n;
        __asm__("" : "+r"(s)); /* as it stands: not unrolled, not added up */
    } while (--n);
    return s;
}

ALONE static double chase(const struct node *p)
{
    double s = 0;
    while (p) {
        s += p->value;
        p = p->next;
    }
    return s;
}

ALONE static double half(double v)
{
    return v * 0.5;
}

ALONE static double calling(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += half(x[i]);
    return s;
}

/* Blocks that run by turns, more than one of them in memory. */
ALONE static double branching(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        if (choice[i] & 1)
            s += x[i];
        else if (choice[i] & 2)
            s = s * 0.5 + y[i];
        if (s > 1e6)
            s -= 1e6;
    }
    return s;
}

ALONE static double divide(long n)
{
    double s = 1;
    for (long i = 0; i < n; i++)
        s = x[i] / (s + 1);
    return s;
}

static double once(const char *name)
{
    if (strcmp(name, "short") == 0)
        return dot(4);
    if (strcmp(name, "tiny") == 0)
        return steps(1000);
    if (strcmp(name, "list") == 0)
        return chase(list);
    if (strcmp(name, "call") == 0)
        return calling(20);
    if (strcmp(name, "branch") == 0)
        return branching(500);
    if (strcmp(name, "middle") == 0)
        return divide(600);
    return dot(LONG_N);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "short";
    double least = 1e30, sum = 0;
    for (int i = 0; i < LONG_N; i++) {
        x[i] = 1 + i % 7;
        y[i] = 0.5;
        choice[i] = (int)((unsigned)i * 2654435761u >> 13);
    }
    for (int i = 0; i < 32; i++)
        list[i] = (struct node){i < 31 ? &list[i + 1] : NULL, i};
    double begun = 0;
    long n = 100;
    for (int k = 0; k < 4; k++) {
        begun = now_ns();
        for (long i = 0; i < n; i++)
            sum += once(name);
        n = (long)(150000 / ((now_ns() - begun) / (double)n)) + 1;
    }
    for (int k = 0; k < SLICES; k++) {
        begun = now_ns();
        for (long i = 0; i < n; i++)
            sum += once(name);
        const double took = (now_ns() - begun) / (double)n;
        least = took < least ? took : least;
    }
    printf("%.4f\n", least);
    return sum == 0.125;
}
