/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests bytes that come in parts of any length. The result depends on the bytes alone, not on the
 * parts. Four lanes of 8 bytes each hide the latency of the multiplication. Not for security.
 */
#ifndef AS_BASE_STREAM_DIGEST_H
#define AS_BASE_STREAM_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define AS_STREAM_DIGEST_LANES    4u
#define AS_STREAM_DIGEST_STRIPE_B (AS_STREAM_DIGEST_LANES * sizeof(uint64_t))

struct as_stream_digest {
    uint64_t lane[AS_STREAM_DIGEST_LANES];
    uint64_t size_b;
    uint8_t rest[AS_STREAM_DIGEST_STRIPE_B]; /* size_b % AS_STREAM_DIGEST_STRIPE_B bytes */
};

void as_stream_digest_init(struct as_stream_digest *digest);
void as_stream_digest_add(struct as_stream_digest *digest, const void *bytes, size_t n_b);
/* Returns the digest of all bytes so far. More bytes may follow. */
uint64_t as_stream_digest_value(const struct as_stream_digest *digest);

#endif
