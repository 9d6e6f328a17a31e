/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/waits/wait_intervals.h"

#include "base/error.h"
#include "base/sort.h"

/* Places of waits that have an owner, by owner and then by when they begin. */
static int sort_owned(const struct as_wait_list *waits, as_wait_owner *owner, const void *context,
                      struct as_sort_key *key, uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < waits->wait.n; i++)
        if (owner(context, &waits->wait.at[i]) != AS_WAIT_UNKNOWN)
            key[(*n)++] =
                (struct as_sort_key){(uint64_t)waits->wait.at[i].begin_ns ^ (uint64_t)1 << 63, i};
    AS_TRY(as_sort_keys(key, *n));
    for (uint32_t i = 0; i < *n; i++)
        key[i].key = owner(context, &waits->wait.at[key[i].at]);
    return as_sort_keys(key, *n);
}

int as_waits_cover(const struct as_wait_list *waits, as_wait_owner *owner, as_wait_covered *covered,
                   void *context)
{
    struct as_sort_key *key = as_calloc(waits->wait.n + 1, sizeof *key);
    uint32_t n = 0;
    int rc = key ? sort_owned(waits, owner, context, key, &n) : AS_ERR_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < n;) {
        const struct as_wait *first = &waits->wait.at[key[i].at];
        const uint64_t who = key[i].key;
        int64_t end_ns = first->end_ns;
        for (i++; i < n && key[i].key == who; i++) {
            const struct as_wait *next = &waits->wait.at[key[i].at];
            if (next->begin_ns > end_ns)
                break;
            end_ns = next->end_ns > end_ns ? next->end_ns : end_ns;
        }
        covered(context, (uint32_t)who, first, first->begin_ns, end_ns);
    }
    as_free(key);
    return rc;
}
