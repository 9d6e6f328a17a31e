/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges many sorted sequences: a tree of losers (D. Knuth, The Art of Computer Programming, volume
 * 3, 5.4.1). The next element of the winner is compared only with the elements on its path to the
 * root. This is one comparison per level; a heap needs two.
 */
#ifndef AS_BASE_LOSERS_H
#define AS_BASE_LOSERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as_loser {
    int64_t ns;     /* first key of the order, ascending */
    uint64_t order; /* second key, ascending */
    size_t leaf;    /* number of the sequence, from 0 */
};

struct as_losers {
    struct as_loser *at; /* [0] is the winner; the others are by position in the tree */
    size_t leaf_n;       /* a power of two; unused leaves are at the end */
};

/* `order` of a leaf without further elements; it sorts behind all others. */
#define AS_LOSER_OVER UINT64_MAX

static inline bool as_loser_is_before(const struct as_loser *a, const struct as_loser *b)
{
    return (a->ns < b->ns) | ((a->ns == b->ns) & (a->order < b->order));
}

/* Builds the tree from the first element of each of `n` sequences. Returns 0 or AS_ERR_NOMEM. */
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

/* Replaces the first element by the next element of the same sequence. */
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

/* Ends the sequence of the first element. */
static inline void as_losers_end(struct as_losers *losers)
{
    as_losers_next(losers, INT64_MAX, AS_LOSER_OVER);
}

#endif
