/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each look-up of a cross section is a binary search over the whole energy grid of 48 MiB.
 * Its probes jump all over the memory and miss the caches.
 * place: grid_index macro_xs transport
 * finding: memory_latency cache_latency mispredictions
 * words: (?i)binary search|latency|cache miss|\bTLB\b|random|index
 * false: memory_bandwidth divisions page_faults scalar_mathematics
 * flags: -O2 -g
 * arguments: 6000000 2200000
 * repair: A small table of bins narrows the search to fewer than 100 neighbouring energies.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIN_BITS  17
#define BIN_SHIFT 41
#define BINS      (1 << BIN_BITS)

/* Energies of all nuclides in one ascending grid, in MeV, and the total cross sections there. */
struct union_grid {
    long points;
    double *energy;
    float *total;
    uint64_t lowest;
    uint32_t bin[BINS + 1];
};

static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) * 0x1p-53;
}

/* Equal steps of the number of a bin are nearly equal steps of the logarithm of the energy. */
static uint64_t bin_number(double energy)
{
    uint64_t bits;

    memcpy(&bits, &energy, sizeof bits);
    return bits >> BIN_SHIFT;
}

static void grid_load(struct union_grid *g, long points)
{
    uint64_t seed = 88172645463325252u;
    double energy = 1e-11;
    uint64_t filled = 0;

    g->points = points;
    g->energy = malloc((size_t)points * sizeof *g->energy);
    g->total = malloc((size_t)points * sizeof *g->total);
    if (!g->energy || !g->total)
        exit(2);
    g->lowest = bin_number(energy);
    for (long i = 0; i < points; i++) {
        uint64_t bin = bin_number(energy) - g->lowest;

        while (filled <= bin && filled <= BINS)
            g->bin[filled++] = (uint32_t)(i ? i - 1 : 0);
        g->energy[i] = energy;
        g->total[i] = (float)(1 + 20 * uniform(&seed));
        energy *= 1 + 55.0 / (double)points * uniform(&seed);
    }
    while (filled <= BINS)
        g->bin[filled++] = (uint32_t)(points - 1);
}

/* Returns the number of the last point of the grid that is not above the energy. */
static long grid_index(const struct union_grid *g, double energy)
{
#ifdef REPAIRED
    uint64_t bin = bin_number(energy) - g->lowest;
    long low = g->bin[bin], high = (long)g->bin[bin + 1] + 2;

    if (high > g->points)
        high = g->points;
#else
    long low = 0, high = g->points;
#endif
    while (high - low > 1) { /* HERE */
        long middle = low + (high - low) / 2;

        if (g->energy[middle] > energy) /* HERE */
            high = middle;
        else
            low = middle;
    }
    return low;
}

static double macro_xs(const struct union_grid *g, double energy)
{
    long i = grid_index(g, energy);
    double part;

    if (i >= g->points - 1)
        return g->total[g->points - 1];
    part = (energy - g->energy[i]) / (g->energy[i + 1] - g->energy[i]);
    return g->total[i] + part * (g->total[i + 1] - g->total[i]);
}

static double transport(const struct union_grid *g, long flights)
{
    double track = 0, top = g->energy[g->points - 1];
    uint64_t seed = 7364512897421u;

    for (long n = 0; n < flights; n++) {
        uint64_t slot = (uint64_t)(uniform(&seed) * (double)g->points);
        double energy = g->energy[0] + (g->energy[slot] - g->energy[0]) * uniform(&seed);

        track += 1 / macro_xs(g, energy < top ? energy : top);
    }
    return track;
}

int main(int argc, char **argv)
{
    long points = argc > 1 ? atol(argv[1]) : 100000;
    long flights = argc > 2 ? atol(argv[2]) : 100000;
    static struct union_grid grid;

    grid_load(&grid, points);
    printf("xs_lookup %.6f\n", transport(&grid, flights));
    free(grid.energy);
    free(grid.total);
    return 0;
}
