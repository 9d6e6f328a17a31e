/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Balance of the time of a loop over all threads of a run, and over its processes (ranks). Also the
 * balance over the threads of one process, as in a parallel region of OpenMP.
 */
#include "vprof/shares.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"

/* Maximum and mean of the positive times. */
struct evenness {
    uint64_t most, sum;
    unsigned n;
};

static void add_share(struct evenness *it, uint64_t ticks)
{
    it->most = ticks > it->most ? ticks : it->most;
    it->sum += ticks;
    it->n++;
}

static double imbalance_of(const struct evenness *it)
{
    return it->sum ? (double)it->most * it->n / (double)it->sum : 1;
}

static void end_process(struct evenness *processes, struct evenness *one, double *within)
{
    if (one->n == 0)
        return;
    add_share(processes, one->sum);
    *within = imbalance_of(one) > *within ? imbalance_of(one) : *within;
    *one = (struct evenness){0};
}

int as_shares_find(const struct as_instances *all, uint32_t loop, struct as_shares *out,
                   struct as_error *err)
{
    const size_t loops = (size_t)all->plan->loop.n;
    struct as_sort_key *key = as_calloc(all->thread.n + 1, sizeof *key);
    struct evenness threads = {0}, processes = {0}, one = {0};
    size_t n = 0;
    *out = (struct as_shares){.within = 1};
    for (size_t t = 0; key && t < all->thread.n; t++)
        if (all->total.at[t * loops + loop].instances)
            key[n++] = (struct as_sort_key){all->thread.at[t].pid, (uint32_t)t};
    if (!key || as_sort_keys(key, n) < 0) {
        as_free(key);
        return as_error_nomem(err, "shares of threads");
    }
    for (size_t i = 0; i < n; i++) {
        const uint64_t ticks = all->total.at[key[i].at * loops + loop].ticks;
        if (i && key[i].key != key[i - 1].key)
            end_process(&processes, &one, &out->within);
        add_share(&threads, ticks);
        add_share(&one, ticks);
    }
    end_process(&processes, &one, &out->within);
    as_free(key);
    out->threads = threads.n;
    out->processes = processes.n;
    out->by_thread = imbalance_of(&threads);
    out->by_process = imbalance_of(&processes);
    return 0;
}
