/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The markers are not sorted by their cells, so each reads the field at random.
 * place: interpolate
 * finding: memory_latency cache_latency
 * words: (?i)sort
 * false: scalar_gather scalar_arithmetic memory_bandwidth
 * flags: -O2 -g
 * arguments: 1000000 8000000 80
 * repair: A counting sort brings the markers into the order of their cells.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct markers {
    uint32_t *cell;
    float *weight;
    double *value;
    long n;
};

static uint32_t draw(void)
{
    static uint64_t seed = 42;

    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

static struct markers place_markers(long n, long cell_n)
{
    struct markers all = {malloc((size_t)n * sizeof(uint32_t)), malloc((size_t)n * sizeof(float)),
                          calloc((size_t)n, sizeof(double)), n};

    for (long i = 0; i < n; i++) {
        all.cell[i] = draw() % (uint32_t)(cell_n - 1);
        all.weight[i] = (float)(draw() % 8);
    }
    return all;
}

#ifdef REPAIRED
static void sort_markers(struct markers *all, long cell_n)
{
    long block_n = cell_n / 1024 + 1, *first = calloc((size_t)block_n + 1, sizeof(long));
    struct markers sorted = {malloc((size_t)all->n * sizeof(uint32_t)),
                             malloc((size_t)all->n * sizeof(float)), all->value, all->n};

    for (long i = 0; i < all->n; i++)
        first[all->cell[i] / 1024 + 1]++;
    for (long b = 0; b < block_n; b++)
        first[b + 1] += first[b];
    for (long i = 0; i < all->n; i++) {
        long to = first[all->cell[i] / 1024]++;

        sorted.cell[to] = all->cell[i];
        sorted.weight[to] = all->weight[i];
    }
    free(all->cell);
    free(all->weight);
    free(first);
    *all = sorted;
}
#endif

static void interpolate(struct markers *all, const double *field)
{
    for (long i = 0; i < all->n; i++) {          /* HERE */
        const double *at = &field[all->cell[i]]; /* HERE */

        all->value[i] += at[0] * all->weight[i] + at[1]; /* HERE */
    }
}

static void drive(double *field, long cell_n, int step)
{
    for (long i = step; i < cell_n; i += 4096)
        field[i] += 1;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    long n = atol(argv[1]), cell_n = atol(argv[2]);
    struct markers all = place_markers(n, cell_n);
    double *field = malloc((size_t)cell_n * sizeof *field), sum = 0;

    for (long i = 0; i < cell_n; i++)
        field[i] = (double)(i % 16);
#ifdef REPAIRED
    sort_markers(&all, cell_n);
#endif
    for (int step = 0; step < atoi(argv[3]); step++) {
        interpolate(&all, field);
        drive(field, cell_n, step);
    }
    for (long i = 0; i < n; i++)
        sum += all.value[i];
    printf("checksum %.0f\n", sum);
    return 0;
}
