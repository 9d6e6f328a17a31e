/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time of a call of MPI has three parts. Waiting is the time in its wait states. Transfer is
 * the rest of a call that starts or completes a transfer. Overhead is the rest of other calls.
 */
#include "analytics/state/walking.h"
#include "base/error.h"

static uint64_t hash_of_sum(uint32_t location, uint32_t site)
{
    return as_hash_mix(as_hash_mix(23, location), site);
}

static struct as_site_sum *sum_of_wait(struct as_analysis *a, const struct as_index *rows,
                                       const struct as_wait *wait)
{
    uint32_t at;
    for (struct as_probe probe = as_index_probe(rows, hash_of_sum(wait->location, wait->site));
         (at = as_index_next(rows, &probe)) != AS_INDEX_NONE;) {
        struct as_site_sum *sum = &a->sum.at[at];
        if (sum->location == wait->location && sum->site == wait->site)
            return sum;
    }
    return NULL;
}

/* Waits of OpenMP have a region in place of a call, and no sum. */
static void subtract_waits(struct as_analysis *a, const struct as_index *rows)
{
    as_vec_foreach (&a->waits.wait, wait) {
        struct as_site_sum *sum = sum_of_wait(a, rows, wait);
        const int64_t ns = wait->end_ns - wait->begin_ns;
        if (!sum)
            continue;
        sum->waiting_ns += ns;
        sum->transfer_ns -= wait->moves_data ? ns : 0;
    }
}

int as_spent_of(struct as_analysis *a)
{
    struct as_index rows = {0};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < a->sum.n; i++)
        rc = as_index_add(&rows, hash_of_sum(a->sum.at[i].location, a->sum.at[i].site), i);
    if (rc == 0)
        subtract_waits(a, &rows);
    as_index_fini(&rows);
    return rc;
}
