/* SPDX-License-Identifier: Apache-2.0 */
#include "base/losers.h"

#include "base/alloc.h"

#include "base/error.h"

int as_losers_init(struct as_losers *losers, const struct as_loser *first, size_t n)
{
    size_t leaf_n = 1;
    while (leaf_n < n)
        leaf_n *= 2;
    *losers = (struct as_losers){as_calloc(leaf_n, sizeof *losers->at), leaf_n};
    struct as_loser *winner = as_calloc(2 * leaf_n, sizeof *winner);
    const bool has_all = losers->at && winner;
    for (size_t i = 0; has_all && i < leaf_n; i++)
        winner[leaf_n + i] = i < n ? (struct as_loser){first[i].ns, first[i].order, i}
                                   : (struct as_loser){INT64_MAX, AS_LOSER_OVER, i};
    for (size_t node = leaf_n - 1; has_all && node > 0; node--) {
        const bool first_wins = !as_loser_is_before(&winner[2 * node + 1], &winner[2 * node]);
        winner[node] = winner[2 * node + !first_wins];
        losers->at[node] = winner[2 * node + first_wins];
    }
    if (has_all)
        losers->at[0] = winner[1];
    as_free(winner);
    if (!has_all)
        as_losers_fini(losers);
    return has_all ? 0 : AS_ERR_NOMEM;
}

void as_losers_fini(struct as_losers *losers)
{
    as_free(losers->at);
    *losers = (struct as_losers){0};
}
