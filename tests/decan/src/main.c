/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth KERNEL BYTES CALL_BYTES CALLS: calls KERNEL so often, on data of BYTES in all; each call
 * works on the next CALL_BYTES of them (of lists, numbers, code and data
 * that are read again: CALL_BYTES iterations or vectors). Prints
 * what it computed. Loops here call functions, so that none of them runs as a variant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kernels.h"

#define ALONE __attribute__((noinline, noclone))

static unsigned long state = 88172645463325252u;

/* G. Marsaglia, "Xorshift RNGs", J. Stat. Softw. 8 (2003) 14. */
ALONE static unsigned long draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

ALONE static void *map(size_t size_b)
{
    void *at = mmap(NULL, size_b + 4096, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (at == MAP_FAILED) {
        perror("truth");
        exit(3);
    }
    madvise(at, size_b, MADV_HUGEPAGE);
    return at;
}

ALONE static void copy_page(char *to, const char *from)
{
    memcpy(to, from, 4096);
}

ALONE static void set_number(TYPE *at)
{
    *at = (TYPE)(0.5 + (double)(draw() >> 40) / (double)(1 << 25));
}

/* Numbers between 0.5 and 1, a page of them over and over. */
static void *map_numbers(size_t size_b)
{
    char *at = map(size_b);
    for (size_t i = 0; i < 4096 / sizeof(TYPE); i++)
        set_number((TYPE *)(void *)at + i);
    for (size_t page = 1; page < (size_b + 4095) / 4096; page++)
        copy_page(at + 4096 * page, at);
    return at;
}

ALONE static void swap_in(unsigned *order, size_t i)
{
    const size_t k = draw() % (i + 1);
    const unsigned it = order[i];
    order[i] = order[k];
    order[k] = it;
}

ALONE static void set_order(unsigned *order, size_t i)
{
    order[i] = (unsigned)i;
}

ALONE static void join(void **nodes, const unsigned *order, size_t i, size_t n)
{
    nodes[8 * (size_t)order[i]] = &nodes[8 * (size_t)order[(i + 1) % n]];
    nodes[8 * (size_t)order[i] + 1] = (void *)(i & 255);
}

static void *map_list(size_t n)
{
    void **nodes = map(n * 64);
    unsigned *order = map(n * sizeof *order);
    for (size_t i = 0; i < n; i++)
        set_order(order, i);
    for (size_t i = n - 1; i > 0; i--)
        swap_in(order, i);
    for (size_t i = 0; i < n; i++)
        join(nodes, order, i, n);
    munmap(order, n * sizeof *order + 4096);
    return nodes;
}

ALONE static void set_index(unsigned *at, size_t n)
{
    *at = (unsigned)(draw() % n);
}

static unsigned *map_indices(size_t n, size_t of)
{
    unsigned *k = map(n * sizeof *k);
    for (size_t i = 0; i < n; i++)
        set_index(k + i, of);
    return k;
}

static const struct kernel *find(const char *name)
{
    const struct kernel *const all[] = {kernels, held_kernels, unseen_kernels, later_kernels,
                                        fresh_kernels};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct kernel *k = all[i]; k->name; k++)
            if (strcmp(k->name, name) == 0)
                return k;
    return NULL;
}

/* Returns the begin of the part of the next call in an array of `size_b` bytes. */
ALONE static size_t next_part(size_t at_b, size_t part_b, size_t size_b)
{
    return at_b + 2 * part_b > size_b ? 0 : at_b + part_b;
}

static double run_streams(const struct kernel *kernel, size_t size_b, size_t call_b, long calls)
{
    const size_t array_b = size_b / kernel->arrays, part_b = call_b / kernel->arrays / 4096 * 4096;
    /* Not all of them at the same place of a page. */
    char *a = map_numbers(array_b + 4096), *b = map_numbers(array_b + 4096);
    char *c = map_numbers(array_b + 4096);
    struct part part = {.x = (V){0} + (TYPE)0.25, .n = (long)(part_b / sizeof(V))};
    double sum = 0;
    size_t at_b = 0;
    for (long i = 0; i < calls; i++) {
        part.a = a + at_b;
        part.b = b + at_b + 1024;
        part.c = c + at_b + 2048;
        sum += kernel->run(&part);
        at_b = next_part(at_b, part_b, array_b);
    }
    return sum;
}

/* As many vectors of each array as a power of two allows, over and over. */
static double run_again(const struct kernel *kernel, size_t size_b, long n, long calls)
{
    long vectors = 8;
    while ((size_t)(4 * vectors) * sizeof(V) * kernel->arrays <= size_b)
        vectors *= 2;
    char *a = map_numbers((size_t)vectors * sizeof(V) + 4096);
    char *b = map_numbers((size_t)vectors * sizeof(V) + 4096);
    char *c = map_numbers((size_t)vectors * sizeof(V) + 4096);
    const struct part part = {.a = a,
                              .b = b + 1024,
                              .c = c + 2048,
                              .n = n,
                              .mask = vectors - 1,
                              .x = (V){0} + (TYPE)0.25};
    double sum = 0;
    for (long i = 0; i < calls; i++)
        sum += kernel->run(&part);
    return sum;
}

static double run_others(const struct kernel *kernel, size_t size_b, long n, long calls)
{
    void *at = NULL;
    struct part part = {.x = (V){0} + (TYPE)0.25, .n = n};
    const size_t element_b = kernel->data == NUMBERS ? sizeof(TYPE) : 8;
    unsigned *k = NULL;
    double sum = 0;
    if (kernel->data == LIST) {
        at = map_list(size_b / 64);
        part.b = at;
        part.c = &at;
    } else if (kernel->data != NOTHING) {
        part.b = map_numbers(size_b);
        k = map_indices((size_t)n * 4, size_b / element_b);
        while (2 * (size_t)part.mask + 2 <= size_b / element_b)
            part.mask = 2 * part.mask + 1;
    } else {
        part.b = map_numbers(4096);
    }
    for (long i = 0; i < calls; i++) {
        if (k)
            part.c = k + i % 4 * n; /* other elements each time */
        sum += kernel->run(&part);
    }
    return sum;
}

#define FOUR(DO) DO DO DO DO
ALONE static V step(V x)
{
    V y = x + 1, z = x + 2, v = x + 3;
    FOUR(FOUR(x = x * x + v; y = y * y + v; z = z * z + v;))
    return x + y + z;
}

/* Cores take their time to supply wide vectors with current; loops of a program that runs for a
 * second have that behind them. */
static void warm_up(void)
{
    struct timespec begun, now;
    V x = {0};
    clock_gettime(CLOCK_MONOTONIC, &begun);
    do {
        for (int i = 0; i < 1000; i++)
            x = step(x);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < 20);
    state += x[0] > 0; /* NOLINT: never */
}

int main(int argc, char **argv)
{
    const struct kernel *kernel = argc == 5 ? find(argv[1]) : NULL;
    if (!kernel) {
        fprintf(stderr, "usage: truth KERNEL BYTES CALL_BYTES CALLS\n");
        return 2;
    }
    const size_t size_b = strtoul(argv[2], NULL, 10), call_b = strtoul(argv[3], NULL, 10);
    const long calls = atol(argv[4]);
    warm_up();
    const double sum = kernel->data == STREAMS ? run_streams(kernel, size_b, call_b, calls)
                       : kernel->data == AGAIN ? run_again(kernel, size_b, (long)call_b, calls)
                                               : run_others(kernel, size_b, (long)call_b, calls);
    printf("%s %.17g\n", kernel->name, sum);
    return 0;
}
