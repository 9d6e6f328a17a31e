/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread pool with one operation: a parallel for over indices. Results are written by index, so
 * they do not depend on the number of threads; nor does the error, which is that of the lowest
 * failing piece. The calling thread works too.
 */
#ifndef AS_BASE_POOL_H
#define AS_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

struct as_pool;

/* Most threads of a pool; a larger wish is cut to it. */
#define AS_POOL_MOST 1024

/* Processors this process may run on (its affinity mask), at least 1. */
unsigned as_pool_processors(void);

/*
 * Makes a pool of `jobs` threads, the caller's own included; 0 = as_pool_processors(). Where the
 * system refuses threads the pool has fewer. ASSAY_ERR_NOMEM, or 0 and `*pool`.
 */
int as_pool_new(struct as_pool **pool, unsigned jobs, struct assay_error *err);

/* Ends the threads and sets `*pool` to NULL; NULL inside is fine. */
void as_pool_free(struct as_pool **pool);

/* Threads that work, the caller's included: worker numbers are below it. 1 for NULL. */
unsigned as_pool_jobs(const struct as_pool *pool);

/*
 * Works on the indices `from` <= i < `to` on thread `worker`; returns 0, or a negative code with
 * `err` (never NULL) filled.
 */
typedef int as_pool_fn(void *ctx, size_t from, size_t to, unsigned worker, struct assay_error *err);

/*
 * Calls `fn` so that each index below `n` is in exactly one call of at most `grain` indices (0 =
 * chosen for the pool; pieces begin at multiples of the grain), and returns when all calls have.
 * On a failure pieces above the failing one may be left out; those below are done, and the code
 * and sentence of the lowest are returned. With one job, with a NULL pool and from inside `fn` of
 * the same pool all calls happen in order on the calling thread. Several threads may call it; they
 * take turns.
 */
int as_pool_for(struct as_pool *pool, size_t n, size_t grain, as_pool_fn *fn, void *ctx,
                struct assay_error *err);

/*
 * What the threads of all pools of this process took for work that was shared, processor time: of
 * all, and of the one that took most in each as_pool_for, which is what the others may wait for.
 * What the process took besides nobody shares. For benchmarks; exact when nothing is going on.
 */
struct as_pool_times {
    int64_t shared_ns, longest_ns;
};
struct as_pool_times as_pool_times(void);

#endif
