/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The branch of the filter depends on random data, so it is mispredicted.
 * place: select_hits
 * finding: mispredictions
 * words: (?i)mispredict|unpredictable|predict|branchless|without (a )?branch
 * false: memory_bandwidth memory_latency scalar_chain scalar_arithmetic narrow_accesses
 * flags: -O2 -g
 * arguments: 30000 8000
 * repair: The store is unconditional, and the comparison is added to the index.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct hits {
    uint32_t *energy;
    long n;
};

static uint32_t draw(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static uint32_t *read_detector(long n)
{
    uint32_t *energy = malloc((size_t)n * sizeof *energy);

    for (long i = 0; i < n; i++)
        energy[i] = draw() % 1000;
    return energy;
}

/* Keeps the energies below the limit. */
static void select_hits(struct hits *to, const uint32_t *energy, long n, uint32_t limit)
{
    uint32_t *kept = to->energy;
    long kept_n = 0;

    for (long i = 0; i < n; i++) { /* HERE */
#ifdef REPAIRED
        kept[kept_n] = energy[i];
        kept_n += energy[i] < limit;
#else
        if (energy[i] < limit)          /* HERE */
            kept[kept_n++] = energy[i]; /* HERE */
#endif
    }
    to->n = kept_n;
}

static uint32_t digest(const struct hits *hits)
{
    uint32_t hash = 2166136261u;

    for (long i = 0; i < hits->n; i += 16)
        hash = (hash ^ hits->energy[i]) * 16777619u;
    return hash;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    long n = atol(argv[1]);
    uint32_t *energy = read_detector(n), checksum = 0;
    struct hits hits = {malloc(((size_t)n + 1) * sizeof(uint32_t)), 0};

    for (int round = 0; round < atoi(argv[2]); round++) {
        select_hits(&hits, energy, n, 450 + (uint32_t)round % 100);
        checksum += digest(&hits);
    }
    printf("checksum %u\n", checksum);
    return 0;
}
