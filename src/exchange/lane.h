/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of compact records in their final order: written one after another, then read once from
 * the beginning. The first 64 MiB stay in memory; later records go to a file without a name.
 */
#ifndef AS_EXCHANGE_LANE_H
#define AS_EXCHANGE_LANE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

#define AS_LANE_MOST_B 64u /* max size of a record */

struct as_lane {
    uint8_t *bytes;
    size_t room, n, at; /* capacity, used and read bytes of `bytes` */
    /* The full first buffer, or the buffer for reads from the file; NULL: one buffer is enough. */
    uint8_t *other;
    size_t other_n;
    int fd; /* -1: everything is in memory */
    off_t end, next;
};

/* Returns 0 or AS_ERR_NOMEM. */
int as_lane_init(struct as_lane *lane);
void as_lane_fini(struct as_lane *lane);

/* Makes space for records if the buffer is full. Errors: NOMEM, IO. */
int as_lane_spill(struct as_lane *lane, struct as_error *err);

/* Sets `*at` to the position of the next record. as_lane_commit sets its end. Errors: NOMEM, IO. */
static inline int as_lane_room(struct as_lane *lane, uint8_t **at, struct as_error *err)
{
    if (lane->n + AS_LANE_MOST_B > lane->room) {
        const int rc = as_lane_spill(lane, err);
        if (rc < 0)
            return rc;
    }
    *at = lane->bytes + lane->n;
    return 0;
}

static inline void as_lane_commit(struct as_lane *lane, const uint8_t *end)
{
    lane->n = (size_t)(end - lane->bytes);
}

/* as_lane_begin ends the writing. as_lane_fill reads the next part of the file. Errors: NOMEM,
 * IO. */
int as_lane_begin(struct as_lane *lane, struct as_error *err);
int as_lane_fill(struct as_lane *lane, struct as_error *err);

/* Sets `*at` to the next complete record, or to NULL at the end. as_lane_pass sets its end. Errors:
 * NOMEM, IO. */
static inline int as_lane_next(struct as_lane *lane, const uint8_t **at, struct as_error *err)
{
    if (lane->at + AS_LANE_MOST_B > lane->n && lane->next < lane->end) {
        const int rc = as_lane_fill(lane, err);
        if (rc < 0)
            return rc;
    }
    *at = lane->at < lane->n ? lane->bytes + lane->at : NULL;
    return 0;
}

static inline void as_lane_pass(struct as_lane *lane, const uint8_t *end)
{
    lane->at = (size_t)(end - lane->bytes);
}

#endif
