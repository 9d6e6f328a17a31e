/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitioned communication (MPI 4.0, 4.2). Sends and receives are matched once, at their
 * initialisation, by communicator, ranks and tag, in order. After that the n-th start of the send
 * matches the n-th start of the receive.
 */
#ifndef AS_ANALYTICS_CHANNELS_H
#define AS_ANALYTICS_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

struct as_channels;

/* The key of one side of partitioned messages. */
struct as_channel_side {
    uint64_t comm; /* global number */
    int64_t from, to, tag;
    bool is_send;
};

int as_channels_new(struct as_channels **out); /* returns 0 or AS_ERR_NOMEM, as does the function
                                                * below */
void as_channels_free(struct as_channels **channels);
/* Registers one side at its initialisation. `*out` is the number of the channel: the same for both
 * sides, and different from each communicator. */
int as_channels_make(struct as_channels *channels, const struct as_channel_side *side,
                     uint64_t *out);

#endif
