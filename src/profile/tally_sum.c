/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of the tally: samples by thread, node and state (running or blocked). Most nodes have one
 * sum, which is found without a search.
 */
#include "profile/tally_read.h"

_Static_assert(AS_NONE == AS_INDEX_NONE, "one word for both");

static bool is_sum_of(const struct as_tally_sum *sum, uint32_t thread, uint32_t node, bool blocked)
{
    return sum->thread == thread && sum->node == node && sum->blocked == blocked;
}

static uint64_t hash_of_sum(uint32_t thread, uint32_t node, bool blocked)
{
    return as_hash_mix((uint64_t)thread << 1 | blocked, node);
}

/* Adds the sums since the last call to the index. */
static int index_sums(struct as_tally *t)
{
    for (; t->indexed_sum_n < t->sum.n; t->indexed_sum_n++) {
        const struct as_tally_sum *it = &t->sum.at[t->indexed_sum_n];
        AS_TRY(as_index_add(&t->sum_index, hash_of_sum(it->thread, it->node, it->blocked),
                            (uint32_t)t->indexed_sum_n));
    }
    return 0;
}

/* Sets *row to an existing sum, or to AS_NONE. In most cases it is the last sum of the node, or
 * the node has none. The index is rarely used. */
static int find_sum(struct as_tally *t, uint32_t thread, uint32_t node, bool blocked, uint32_t *row)
{
    *row = t->last_sum.at[node];
    if (*row == AS_NONE || is_sum_of(&t->sum.at[*row], thread, node, blocked))
        return 0;
    AS_TRY(index_sums(t));
    const uint64_t hash = hash_of_sum(thread, node, blocked);
    for (struct as_probe probe = as_index_probe(&t->sum_index, hash);
         (*row = as_index_next(&t->sum_index, &probe)) != AS_INDEX_NONE;)
        if (is_sum_of(&t->sum.at[*row], thread, node, blocked))
            break;
    return 0;
}

int as_tally_add_sum(struct as_tally *t, uint32_t thread, uint32_t node, bool blocked, uint64_t n,
                     uint64_t time_ns)
{
    uint32_t row;
    while (t->last_sum.n <= node)
        AS_TRY(as_vec_push(&t->last_sum, AS_NONE));
    AS_TRY(find_sum(t, thread, node, blocked, &row));
    if (row == AS_NONE) {
        row = (uint32_t)t->sum.n;
        AS_TRY(as_vec_push(&t->sum, (struct as_tally_sum){thread, node, blocked, 0, 0}));
    }
    t->last_sum.at[node] = row;
    t->sum.at[row].n += n;
    t->sum.at[row].time_ns += time_ns;
    return 0;
}
