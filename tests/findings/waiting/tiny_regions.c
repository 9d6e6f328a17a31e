/* SPDX-License-Identifier: Apache-2.0 */
/* cause: A parallel region for each short loop costs more than the loop.
 * place: accelerate drift
 * finding: parallel_overhead parallel_time
 * false: load_imbalance lock_contention oversubscribed scalar_options oldest_instruction_set
 * flags: -O2 -g -fopenmp
 * variables: OMP_NUM_THREADS=2
 * arguments: 64 500000
 * repair: Short chains are computed by one thread.
 * clock: wall */
#include <stdio.h>
#include <stdlib.h>

struct chain {
    double *place, *speed;
    int n;
};

#ifdef REPAIRED
#define WORTHWHILE 10000
#else
#define WORTHWHILE 0
#endif

static struct chain chain_of(int n)
{
    struct chain chain = {calloc((size_t)n + 2, sizeof(double)),
                          calloc((size_t)n + 2, sizeof(double)), n};

    chain.place[n / 2] = 1;
    return chain;
}

static void accelerate(struct chain *chain, double dt)
{
    const double *place = chain->place;
    double *speed = chain->speed;
    int n = chain->n;

#pragma omp parallel for if (n > WORTHWHILE) /* HERE */
    for (int i = 1; i <= n; i++)             /* HERE */
        speed[i] += dt * (place[i - 1] - 2 * place[i] + place[i + 1]);
}

static void drift(struct chain *chain, double dt)
{
    double *place = chain->place;
    const double *speed = chain->speed;
    int n = chain->n;

#pragma omp parallel for if (n > WORTHWHILE) /* HERE */
    for (int i = 1; i <= n; i++)             /* HERE */
        place[i] += dt * speed[i];
}

static double energy_of(const struct chain *chain)
{
    double energy = 0;

    for (int i = 1; i <= chain->n; i++)
        energy += chain->speed[i] * chain->speed[i];
    return energy;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    struct chain chain = chain_of(atoi(argv[1]));

    for (int step = 0; step < atoi(argv[2]); step++) {
        accelerate(&chain, 0.1);
        drift(&chain, 0.1);
    }
    printf("checksum %.9g\n", energy_of(&chain));
    return 0;
}
