/* SPDX-License-Identifier: Apache-2.0 */
/* Finds events, pieces and messages in an index. */
#ifndef AS_TIMELINE_FIND_H
#define AS_TIMELINE_FIND_H

#include "timeline/timeline.h"

struct as_timeline_type {
    int64_t type;
    uint64_t n; /* events */
};
struct as_timeline_types {
    struct as_timeline_type *at;
    size_t n, cap;
};

/* All types of events, in order of their numbers; the caller ends the vector. 0 or NOMEM. */
int as_timeline_list_types(const struct as_timeline_index *index, struct as_timeline_types *out);

/* The least and the greatest value of all pieces; 0 of codes and where there is none. */
void as_timeline_extremes(const struct as_timeline_index *index, double *min, double *max);

struct as_timeline_found {
    uint32_t row;
    int64_t type, end_ns;
    const struct as_timeline_item *item; /* borrowed */
};

/* The first event later than `ns`, or the last one earlier, of a type (INT64_MIN: of any) and of a
 * row (-1: of all). At one time the lower row comes first. */
bool as_timeline_next_event(const struct as_timeline_index *index, int64_t type, int64_t row,
                            int64_t ns, bool is_back, struct as_timeline_found *out);
/* The first piece of a code, by its place, that begins later than `ns`. */
bool as_timeline_next_code(const struct as_timeline_index *index, uint32_t row, uint64_t code,
                           int64_t ns, struct as_timeline_found *out);

struct as_timeline_picked {
    uint64_t total_n; /* messages on their way at any time in [from, to) */
    AS_VEC(struct as_timeline_message) message; /* every k-th of them */
};

/* At most `max_n` messages. The caller ends the vector. 0 or NOMEM. */
int as_timeline_pick_messages(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns,
                              uint64_t max_n, struct as_timeline_picked *out);

struct as_timeline_pair {
    uint64_t key; /* sender << 32 | receiver */
    uint64_t n;
    double bytes;
};
struct as_timeline_pairs {
    AS_VEC(struct as_timeline_pair) pair;
    bool is_cut; /* more than 2^18 pairs: later ones are left out */
};

/* Adds up messages that are sent in [from, to) by sender and receiver. 0 or NOMEM. */
int as_timeline_add_pairs(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns,
                          struct as_timeline_pairs *out);

#endif
