/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records that come in the order in which they are wanted, as few bytes as their numbers take:
 * written one behind the other, read once from the beginning. The first 64 MiB stay in memory, what
 * comes behind lies in a file without a name.
 */
#ifndef AS_EXCHANGE_LANE_H
#define AS_EXCHANGE_LANE_H

#include <assay/error.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AS_LANE_MOST_B 64u /* of a record */

struct as_lane {
    uint8_t *bytes;
    size_t room, n, at; /* bytes there may be; are there; were read of them */
    uint8_t *other;     /* what is full already, or where the file is read to; NULL: all is one */
    size_t other_n;
    int fd; /* -1: all is in memory */
    off_t end, next;
};

/* 0 or ASSAY_ERR_NOMEM. */
int as_lane_init(struct as_lane *lane);
void as_lane_fini(struct as_lane *lane);

/* Makes room where there is not enough. Errors: NOMEM, IO. */
int as_lane_spill(struct as_lane *lane, struct assay_error *err);

/* Where the next record goes; as_lane_commit says where it ends. */
static inline int as_lane_room(struct as_lane *lane, uint8_t **at, struct assay_error *err)
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

/* Nothing is put any more. Errors: NOMEM, IO; so too below. */
int as_lane_begin(struct as_lane *lane, struct assay_error *err);
int as_lane_fill(struct as_lane *lane, struct assay_error *err);

/* The next record, all of which is there; as_lane_pass says where it ends. NULL: no more. */
static inline int as_lane_next(struct as_lane *lane, const uint8_t **at, struct assay_error *err)
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
