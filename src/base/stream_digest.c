/* SPDX-License-Identifier: Apache-2.0 */
#include "base/stream_digest.h"

#include <string.h>

#include "base/index.h"

void as_stream_digest_init(struct as_stream_digest *d)
{
    *d = (struct as_stream_digest){.lane = {1, 2, 3, 4}};
}

static void mix_stripe(struct as_stream_digest *d, const uint8_t *stripe)
{
    for (unsigned i = 0; i < AS_STREAM_DIGEST_LANES; i++) {
        uint64_t word;
        memcpy(&word, stripe + i * sizeof word, sizeof word);
        d->lane[i] = as_hash_mix(d->lane[i], word);
    }
}

void as_stream_digest_add(struct as_stream_digest *d, const void *bytes, size_t n_b)
{
    const uint8_t *at = bytes;
    const size_t kept_b = d->size_b % sizeof d->rest;
    d->size_b += n_b;
    if (kept_b) {
        const size_t missing_b = sizeof d->rest - kept_b,
                     part_b = n_b < missing_b ? n_b : missing_b;
        memcpy(d->rest + kept_b, at, part_b);
        if (part_b < missing_b)
            return;
        mix_stripe(d, d->rest);
        at += part_b;
        n_b -= part_b;
    }
    for (; n_b >= sizeof d->rest; at += sizeof d->rest, n_b -= sizeof d->rest)
        mix_stripe(d, at);
    if (n_b)
        memcpy(d->rest, at, n_b);
}

uint64_t as_stream_digest_value(const struct as_stream_digest *d)
{
    struct as_stream_digest last = *d;
    const size_t kept_b = d->size_b % sizeof d->rest;
    uint64_t value = d->size_b;
    memset(last.rest + kept_b, 0, sizeof last.rest - kept_b);
    mix_stripe(&last, last.rest);
    for (unsigned i = 0; i < AS_STREAM_DIGEST_LANES; i++)
        value = as_hash_mix(value, last.lane[i]);
    return value;
}
