/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops to measure the cost of variants, and their stability. `varied KERNEL N ROUNDS` runs
 * instances of N elements one after the other. It prints the ticks of each, the median and the
 * minimum. Under variants the output means nothing; the records count.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <x86intrin.h>

#define ALONE __attribute__((noinline, noclone))

struct node {
    struct node *next;
    double value[7];
};

static double *a, *b, *c;
static int *k;
static struct node *list;

ALONE static double triad(long n)
{
    for (long i = 0; i < n; i++)
        a[i] = b[i] + 0.5 * c[i];
    return a[n / 2];
}

ALONE static double dot(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += b[i] * c[i];
    return s;
}

ALONE static double divide(long n)
{
    double s = 1;
    for (long i = 0; i < n; i++)
        s = b[i] / (s + 1);
    return s;
}

ALONE static double gather(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++)
        s += b[k[i]];
    return s;
}

/* The addresses of stores come out of memory. */
ALONE static double scatter(long n)
{
    for (long i = 0; i < n; i++)
        a[k[i]] = b[i];
    return a[n / 2];
}

ALONE static double chase(long n)
{
    const struct node *p = list;
    double s = 0;
    for (long i = 0; i < n; i++) {
        s += p->value[0];
        p = p->next;
    }
    return s;
}

static double once(const char *name, long n)
{
    switch (name[0]) {
    case 't':
        return triad(n);
    case 'd':
        return strcmp(name, "dot") == 0 ? dot(n) : divide(n);
    case 'g':
        return gather(n);
    case 's':
        return scatter(n);
    default:
        return chase(n);
    }
}

static uint64_t now(void)
{
    _mm_lfence();
    return __rdtsc();
}

static int compare(const void *left, const void *right)
{
    const uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;
    return (l > r) - (l < r);
}

static void *room(size_t size_b)
{
    void *at = aligned_alloc(4096, (size_b + 4095) & ~(size_t)4095);
    if (!at)
        exit(1);
    return at;
}

static void prepare(long n)
{
    const size_t room_n = (size_t)n + 64;
    a = room(room_n * 8);
    b = room(room_n * 8);
    c = room(room_n * 8);
    k = room(room_n * 4);
    list = room(room_n * sizeof *list);
    for (long i = 0; i < n; i++) {
        a[i] = 0;
        b[i] = 1 + (double)(i % 7);
        c[i] = 0.5;
        k[i] = (int)((uint64_t)i * 2654435761u % (uint64_t)n);
        list[i].value[0] = 1;
        list[i].next = &list[(uint64_t)(i + 1) * 7919 % (uint64_t)n];
    }
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "triad";
    const long n = argc > 2 ? atol(argv[2]) : 1000, rounds = argc > 3 ? atol(argv[3]) : 1000;
    uint64_t *took = calloc((size_t)rounds + 1, sizeof *took), nothing = UINT64_MAX;
    double sum = 0;
    prepare(n);
    for (int i = 0; i < 100; i++) {
        const uint64_t begun = now(), ticks = now() - begun;
        nothing = ticks < nothing ? ticks : nothing;
    }
    for (long i = 0; i < rounds; i++) {
        const uint64_t begun = now();
        sum += once(name, n);
        took[i] = now() - begun - nothing;
    }
    qsort(took, (size_t)rounds, sizeof *took, compare);
    printf("%llu %llu\n", (unsigned long long)took[rounds / 2], (unsigned long long)took[0]);
    return sum == 0.125;
}
