/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partitioned communication (MPI 4.0, 4.2): who sends and who receives are matched once, when they
 * are made, by communicator, ranks and tag in the order in which they are made. From then on the
 * n-th that one starts is the n-th of the other.
 */
#ifndef AS_ANALYTICS_CHANNELS_H
#define AS_ANALYTICS_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

struct as_channels;

/* One side of messages. */
struct as_channel_side {
    uint64_t comm; /* global number */
    int64_t from, to, tag;
    bool is_send;
};

int as_channels_new(struct as_channels **out); /* 0 or ASSAY_ERR_NOMEM, as below */
void as_channels_free(struct as_channels **channels);
/* It is made: answers a number that is the other side's too, and no communicator's. */
int as_channels_make(struct as_channels *channels, const struct as_channel_side *side,
                     uint64_t *out);

#endif
