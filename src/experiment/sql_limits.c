/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of time and memory, and Ctrl-C, for SQL that assay did not write. SQLite's own heap limit
 * needs its statistics, with a lock at every allocation. A counter in front of its allocator counts
 * only after a limit was set.
 */
#include "experiment/sql_limits.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "experiment/internal.h"

#define STEPS_PER_LOOK 20000 /* instructions of SQLite's virtual machine; about 100 us */
/* bytes; matching takes time proportional to the product of both lengths */
#define LIKE_PATTERN_B 1000

_Static_assert(_Generic((sig_atomic_t)0, int : 1, default : 0), "as_sql_limits.interrupted");

/* ---- Memory ------------------------------------------------------------------------------ */

static struct {
    sqlite3_mem_methods plain;
    atomic_bool is_counting; /* stays on: counted blocks must be subtracted when freed */
    atomic_bool is_refused;  /* an allocation was refused since the limit was set */
    atomic_int_fast64_t held_b, limit_b; /* limit_b: 0 = no limit */
} heap;

static bool is_beyond(int64_t more_b)
{
    const int64_t limit_b = atomic_load_explicit(&heap.limit_b, memory_order_relaxed);

    if (!limit_b || atomic_load_explicit(&heap.held_b, memory_order_relaxed) + more_b <= limit_b)
        return false;
    atomic_store(&heap.is_refused, true);
    return true;
}

static void count_block(void *block, int sign)
{
    if (block && atomic_load_explicit(&heap.is_counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&heap.held_b, sign * (int64_t)heap.plain.xSize(block),
                                  memory_order_relaxed);
}

static void *limited_malloc(int size_b)
{
    void *block = is_beyond(size_b) ? NULL : heap.plain.xMalloc(size_b);

    count_block(block, 1);
    return block;
}

static void limited_free(void *block)
{
    count_block(block, -1);
    heap.plain.xFree(block);
}

static void *limited_realloc(void *block, int size_b)
{
    const int before_b = block ? heap.plain.xSize(block) : 0;
    void *moved = size_b > before_b && is_beyond(size_b - before_b)
                      ? NULL
                      : heap.plain.xRealloc(block, size_b);

    if (moved && atomic_load_explicit(&heap.is_counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&heap.held_b, heap.plain.xSize(moved) - before_b,
                                  memory_order_relaxed);
    return moved;
}

void as_limits_install(void)
{
    sqlite3_mem_methods limited;

    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &heap.plain) != SQLITE_OK)
        return;
    limited = heap.plain;
    limited.xMalloc = limited_malloc;
    limited.xFree = limited_free;
    limited.xRealloc = limited_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &limited);
}

uint64_t as_sql_memory(void)
{
    const int64_t held_b = atomic_load_explicit(&heap.held_b, memory_order_relaxed);

    return held_b > 0 ? (uint64_t)held_b : 0;
}

/* ---- Time -------------------------------------------------------------------------------- */

static bool is_interrupted(const struct as_sql_limits *limits)
{
    return limits->interrupted && *limits->interrupted;
}

static bool is_late(const struct as_sql_limits *limits)
{
    return limits->deadline_ns && as_monotonic_ns() > limits->deadline_ns;
}

static int look_at_limits(void *context)
{
    const struct as_sql_limits *limits = context;

    return is_interrupted(limits) || is_late(limits);
}

/* ---- One connection ---------------------------------------------------------------------- */

int as_experiment_limit_sql(struct as_experiment *experiment, const struct as_sql_limits *limits,
                            struct as_error *err)
{
    AS_TRY(as_sql_run(experiment, "PRAGMA temp_store = MEMORY", "setting its limits", err));
    experiment->limits = *limits;
    experiment->has_limits = true;
    sqlite3_limit(experiment->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, LIKE_PATTERN_B);
    sqlite3_progress_handler(experiment->db, STEPS_PER_LOOK, look_at_limits, &experiment->limits);
    atomic_store(&heap.is_counting, true);
    return 0;
}

void as_limits_enter(const struct as_experiment *experiment)
{
    const struct as_sql_limits *limits = &experiment->limits;
    int64_t left_b = (int64_t)limits->memory_b;

    if (!experiment->has_limits || !limits->memory_b)
        return;
    if (limits->also_b)
        left_b -= (int64_t)*limits->also_b;
    atomic_store(&heap.is_refused, false);
    atomic_store(&heap.limit_b, left_b > 0 ? left_b : 1);
}

void as_limits_leave(const struct as_experiment *experiment)
{
    if (experiment->has_limits)
        atomic_store(&heap.limit_b, 0);
}

int as_limits_failure(const struct as_experiment *experiment, int code, struct as_error *err)
{
    const struct as_sql_limits *limits = &experiment->limits;

    if (!experiment->has_limits)
        return 0;
    if ((code & 0xff) == SQLITE_INTERRUPT && is_interrupted(limits))
        return as_error_set(err, AS_ERR_LIMIT, "SQL: interrupted");
    if ((code & 0xff) == SQLITE_INTERRUPT)
        return as_error_set(err, AS_ERR_LIMIT,
                            "SQL: stopped at the time limit; raise --time-limit");
    if ((code & 0xff) == SQLITE_NOMEM && atomic_load(&heap.is_refused))
        return as_error_set(err, AS_ERR_NOMEM,
                            "SQL: stopped: needs more than %" PRIu64
                            " MiB of memory; raise --memory-limit",
                            limits->memory_b >> 20);
    return 0;
}
