/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The threads take the pixels one by one from a dynamic schedule. That costs more than the
 * few operations of a pixel.
 * place: correct correct._omp_fn.0 GOMP_loop_nonmonotonic_dynamic_next gomp_iter_dynamic_next
 * place: GOMP_loop_dynamic_next GOMP_loop_ull_nonmonotonic_dynamic_next
 * finding: parallel_overhead parallel_time
 * words: (?i)schedul|chunk|dynamic|overhead|static
 * false: load_imbalance lock_contention memory_bandwidth memory_latency oversubscribed divisions
 * flags: -O2 -g -fopenmp
 * variables: OMP_NUM_THREADS=2
 * arguments: 250000 250
 * repair: The schedule is static.
 * clock: wall */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct detector {
    int pixels;
    uint16_t *raw, *dark, *gain;
    uint32_t *corrected;
};

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        exit(2);
    return p;
}

static void calibrate(struct detector *d, int pixels)
{
    uint32_t s = 9u;

    d->pixels = pixels;
    d->raw = zeroed((size_t)pixels, sizeof *d->raw);
    d->dark = zeroed((size_t)pixels, sizeof *d->dark);
    d->gain = zeroed((size_t)pixels, sizeof *d->gain);
    d->corrected = zeroed((size_t)pixels, sizeof *d->corrected);
    for (int i = 0; i < pixels; i++) {
        s = s * 1664525u + 1013904223u;
        d->dark[i] = (uint16_t)(100 + (s >> 27));
        d->gain[i] = (uint16_t)(900 + (s >> 24 & 127));
    }
}

/* Subtracts the dark current, applies the gain and marks saturated pixels. */
static void correct(struct detector *d)
{
#ifdef REPAIRED
#pragma omp parallel for schedule(static)
#else
#pragma omp parallel for schedule(dynamic) /* HERE */
#endif
    for (int i = 0; i < d->pixels; i++) { /* HERE */
        uint32_t light = d->raw[i] > d->dark[i] ? (uint32_t)(d->raw[i] - d->dark[i]) : 0u;

        d->corrected[i] = d->raw[i] >= 16380 ? UINT32_MAX : light * d->gain[i] >> 10;
    }
}

static void expose(struct detector *d, uint32_t shot)
{
#pragma omp parallel for schedule(static)
    for (int i = 0; i < d->pixels; i++)
        d->raw[i] = (uint16_t)((uint32_t)i * 2654435761u * (shot | 1u) >> 18);
}

static uint64_t total(const struct detector *d)
{
    uint64_t sum = 0;

#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int i = 0; i < d->pixels; i++)
        if (d->corrected[i] != UINT32_MAX)
            sum += d->corrected[i];
    return sum;
}

int main(int argc, char **argv)
{
    int pixels = argc > 1 ? atoi(argv[1]) : 10000, shots = argc > 2 ? atoi(argv[2]) : 10;
    struct detector d;
    uint64_t sum = 0;

    calibrate(&d, pixels);
    for (int k = 0; k < shots; k++) {
        expose(&d, (uint32_t)k);
        correct(&d);
        sum = sum * 31 + total(&d);
    }
    printf("flat_field %016llx\n", (unsigned long long)sum);
    free(d.raw);
    free(d.dark);
    free(d.gain);
    free(d.corrected);
    return 0;
}
