/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread pool with one operation: a parallel for over indices. Results are written by index, so
 * they do not depend on the number of threads. The returned error does not depend on it either: it
 * is the error of the lowest failing piece. The calling thread works too.
 */
#ifndef AS_BASE_POOL_H
#define AS_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct as_pool;

/* Max number of threads of a pool; larger requests are reduced to it. */
#define AS_POOL_MOST 1024

/* Number of usable CPUs of this process (its affinity mask), at least 1. */
unsigned as_pool_processors(void);

/*
 * Creates a pool of `jobs` threads, including the caller; 0 = as_pool_processors(). The pool has
 * fewer threads if the system refuses some. Returns AS_ERR_NOMEM, or 0 and `*pool`.
 */
int as_pool_new(struct as_pool **pool, unsigned jobs, struct as_error *err);

/* Ends the threads and sets `*pool` to NULL. Accepts a NULL `*pool`. */
void as_pool_free(struct as_pool **pool);

/* Returns the number of threads that work, including the caller. Worker numbers are below it.
 * Returns 1 for NULL. */
unsigned as_pool_jobs(const struct as_pool *pool);

/*
 * Processes the indices `from` <= i < `to` on thread `worker`. Returns 0, or a negative code with
 * `err` (never NULL) filled.
 */
typedef int as_pool_fn(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err);

/*
 * Calls `fn` for all indices below `n`, each in exactly one call of at most `grain` indices. Pieces
 * begin at multiples of the grain; 0 lets the pool choose it. Returns after all calls. After a
 * failure, higher pieces may be skipped; lower ones are done, and the lowest failure is returned.
 * All calls happen in order on the calling thread if the pool is NULL or has one thread. So do
 * calls from inside `fn` of the same pool. Several threads may call it; they wait for each
 * other.
 */
int as_pool_for(struct as_pool *pool, size_t n, size_t grain, as_pool_fn *fn, void *ctx,
                struct as_error *err);

/*
 * CPU time of the parallel work of all pools of this process, in ns. `shared_ns` is the total;
 * `longest_ns` sums the longest thread of each as_pool_for, for which the other threads may wait.
 * For benchmarks. The values are exact while no work runs.
 */
struct as_pool_times {
    int64_t shared_ns, longest_ns;
};
struct as_pool_times as_pool_times(void);

#endif
