/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between two ranks by the call that completes the receive: how many, how large, how long
 * they take and how long the receiver waits for the sender.
 */
#ifndef AS_ANALYTICS_EXCHANGES_H
#define AS_ANALYTICS_EXCHANGES_H

#include "analytics/match/messages.h"
#include "base/index.h"
#include "base/vec.h"

struct as_exchange {
    uint32_t location, site; /* of the receiver, and its call */
    int64_t from, to;        /* ranks of MPI_COMM_WORLD */
    uint64_t n, size_b;
    int64_t transfer_ns; /* from the begin of the later side to the end of the call */
    int64_t wait_ns;     /* from the begin of the call to the begin of the send */
};

struct as_exchanges {
    AS_VEC(struct as_exchange) row;
    struct as_index rows;
};

/* Adds a row to that of its site and ranks. 0 or AS_ERR_NOMEM. */
int as_exchanges_add(struct as_exchanges *exchanges, const struct as_exchange *exchange);
/* Adds a message. 0 or AS_ERR_NOMEM. */
int as_exchanges_message(struct as_exchanges *exchanges, const struct as_message *message);
/* Sorts rows by site and ranks. Afterwards nothing is added. */
void as_exchanges_sort(struct as_exchanges *exchanges);
void as_exchanges_fini(struct as_exchanges *exchanges);

#endif
