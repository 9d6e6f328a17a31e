/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the next of many sorted rows: a tree of losers (D. Knuth, The Art of Computer Programming,
 * volume 3, 5.4.1). The winner's next element is compared only with those on its way to the root:
 * one comparison per level, where a heap needs two.
 */
#ifndef AS_BASE_LOSERS_H
#define AS_BASE_LOSERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_loser {
    int64_t ns;     /* the earliest comes first, */
    uint64_t order; /* of one time the least */
    size_t leaf;    /* from 0 */
};

struct as_losers {
    struct as_loser *at; /* [0]: the winner; then by position in the tree */
    size_t leaf_n;       /* a power of two: unused leaves are at their end */
};

/* A leaf that has no more: behind all others. */
#define AS_LOSER_OVER UINT64_MAX

static inline bool as_loser_is_before(const struct as_loser *a, const struct as_loser *b)
{
    return (a->ns < b->ns) | ((a->ns == b->ns) & (a->order < b->order));
}

/* Sets the first element of each of `n` leaves; 0 or ASSAY_ERR_NOMEM. */
int as_losers_init(struct as_losers *losers, const struct as_loser *first, size_t n);
void as_losers_fini(struct as_losers *losers);

static inline const struct as_loser *as_losers_first(const struct as_losers *losers)
{
    return &losers->at[0];
}

static inline bool as_losers_are_over(const struct as_losers *losers)
{
    return losers->at[0].order == AS_LOSER_OVER;
}

/* The leaf that was first has this next. */
static inline void as_losers_next(struct as_losers *losers, int64_t ns, uint64_t order)
{
    struct as_loser winner = {ns, order, losers->at[0].leaf};
    for (size_t node = (losers->leaf_n + winner.leaf) / 2; node > 0; node /= 2) {
        struct as_loser *other = &losers->at[node];
        const struct as_loser met = *other;
        if (as_loser_is_before(&met, &winner)) {
            *other = winner;
            winner = met;
        }
    }
    losers->at[0] = winner;
}

/* It has no more. */
static inline void as_losers_end(struct as_losers *losers)
{
    as_losers_next(losers, INT64_MAX, AS_LOSER_OVER);
}

#endif
