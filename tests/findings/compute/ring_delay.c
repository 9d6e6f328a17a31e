/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each tap of the filter divides, because the index of the ring is a remainder.
 * place: filtered process_channel
 * finding: divisions divider integer_division
 * false: memory_bandwidth memory_latency cache_latency scalar_calls page_faults
 * flags: -O2 -g
 * arguments: 6000000 96 480
 * repair: Two loops read the two parts of the ring without a remainder.
 * clock: cpu */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Filters a signal of integers; the last samples are kept in a ring. */

struct ring {
    int32_t *samples;
    uint32_t length;
    uint32_t next; /* index of the oldest sample */
};

struct filter {
    int32_t *taps;
    uint32_t tap_n;
};

static void *array_of(size_t n, size_t size_b)
{
    void *array = calloc(n, size_b);

    if (!array)
        abort();
    return array;
}

static struct filter make_filter(uint32_t tap_n)
{
    struct filter filter = {array_of(tap_n, sizeof(int32_t)), tap_n};

    for (uint32_t k = 0; k < tap_n; k++)
        filter.taps[k] = (int32_t)(k < tap_n / 2 ? k + 1 : tap_n - k);
    return filter;
}

static void push_sample(struct ring *ring, int32_t sample)
{
    ring->samples[ring->next] = sample;
    ring->next = ring->next + 1 == ring->length ? 0 : ring->next + 1;
}

/* Returns the filter applied to the newest samples of the ring. */
static int64_t filtered(const struct ring *ring, const struct filter *filter)
{
    uint32_t first = ring->next + ring->length - filter->tap_n;
    int64_t total = 0;

#ifdef REPAIRED
    const int32_t *from = ring->samples + (first % ring->length);
    uint32_t part_n = ring->length - first % ring->length, k = 0;
    for (; k < filter->tap_n && k < part_n; k++)
        total += (int64_t)filter->taps[k] * from[k];
    for (; k < filter->tap_n; k++)
        total += (int64_t)filter->taps[k] * ring->samples[k - part_n];
#else
    for (uint32_t k = 0; k < filter->tap_n; k++)                                       /* HERE */
        total += (int64_t)filter->taps[k] * ring->samples[(first + k) % ring->length]; /* HERE */
#endif
    return total;
}

/* A test signal: a triangle wave with noise. */
static int32_t sample_at(long i, uint32_t *state)
{
    int32_t phase = (int32_t)(i % 400);

    *state = *state * 1664525u + 1013904223u;
    return (phase < 200 ? phase : 400 - phase) * 50 + (int32_t)(*state >> 24);
}

struct statistics {
    int64_t lowest, highest, sum;
};

static void add_value(struct statistics *statistics, int64_t value)
{
    if (value < statistics->lowest)
        statistics->lowest = value;
    if (value > statistics->highest)
        statistics->highest = value;
    statistics->sum += value;
}

static struct statistics process_channel(struct ring *ring, const struct filter *filter,
                                         long sample_n)
{
    struct statistics statistics = {INT64_MAX, INT64_MIN, 0};
    uint32_t state = 3;

    for (long i = 0; i < sample_n; i++) {
        push_sample(ring, sample_at(i, &state));
        if (i >= filter->tap_n)
            add_value(&statistics, filtered(ring, filter) >> 8); /* HERE */
    }
    return statistics;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct filter filter = make_filter((uint32_t)atoi(argv[2]));
    uint32_t length = (uint32_t)atoi(argv[3]);
    if (length < filter.tap_n) {
        fprintf(stderr, "ring_delay: the ring is shorter than the filter; use a longer ring\n");
        return 2;
    }
    struct ring ring = {array_of(length, sizeof(int32_t)), length, 0};
    struct statistics found = process_channel(&ring, &filter, atol(argv[1]));

    printf("lowest %lld, highest %lld, sum %lld\n", (long long)found.lowest,
           (long long)found.highest, (long long)found.sum);
    free(ring.samples);
    free(filter.taps);
    return 0;
}
