/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP in a Paraver file: regions, work, barriers, tasks, locks. */
#include "base/error.h"
#include "exchange/prv_write.h"

static int store_omp_event(struct as_prv_writer *w, uint32_t location,
                           const struct as_trace_event *event, int64_t type, int64_t value)
{
    return as_prv_store_event(w, location, event->raw_ns, type, value);
}

/* ---- Regions --------------------------------------------------------------------------------- */

static int open_region(struct as_prv_writer *w, uint32_t location,
                       const struct as_trace_event *event)
{
    const struct as_prv_region region = {w->thread.at[location].process, event->parallel.region,
                                         event->parallel.threads};
    if (as_vec_push(&w->region, region) < 0)
        return as_error_nomem(w->err, "parallel regions of a trace");
    return store_omp_event(w, location, event, AS_PRV_PARALLEL, AS_PRV_REGION_OPEN);
}

static size_t find_prv_region(const struct as_prv_writer *w, uint32_t location, int64_t number)
{
    size_t at = w->region.n;
    while (at > 0 && (w->region.at[at - 1].number != number ||
                      w->region.at[at - 1].process != w->thread.at[location].process))
        at--;
    return at;
}

static int close_region(struct as_prv_writer *w, uint32_t location,
                        const struct as_trace_event *event)
{
    const size_t at = find_prv_region(w, location, event->parallel.region);
    if (at) /* there are many processes, so regions end in any order */
        w->region.at[at - 1] = w->region.at[--w->region.n];
    return store_omp_event(w, location, event, AS_PRV_PARALLEL, 0);
}

/* Stores the function that a thread executes in a region. The event that opened the region has
 * it. */
static int begin_part(struct as_prv_writer *w, uint32_t location,
                      const struct as_trace_event *event)
{
    const size_t at = find_prv_region(w, location, event->parallel.region);
    const int64_t value = as_prv_function_value(w, at ? w->region.at[at - 1].function : 0);
    if (value < 0)
        return as_error_nomem(w->err, "parallel functions of a trace");
    return store_omp_event(w, location, event, AS_PRV_OMP_FUNCTION, value);
}

/* ---- Barriers, work -------------------------------------------------------------------------- */

static int store_prv_barrier(struct as_prv_writer *w, uint32_t location,
                             const struct as_trace_event *event)
{
    const bool begins = event->kind == AS_TRACE_BARRIER;
    switch (event->field[1]) {
    case AS_TRACE_TASKWAIT:
        return store_omp_event(w, location, event, AS_PRV_TASKWAIT, begins);
    case AS_TRACE_TASKGROUP:
        return store_omp_event(w, location, event, AS_PRV_TASKGROUP,
                               begins ? AS_PRV_TASKGROUP_END : 0);
    case AS_TRACE_POSIX: /* its call is written already */
        return 0;
    default:
        return store_omp_event(w, location, event, AS_PRV_OMP_BARRIER, begins);
    }
}

static int store_prv_work(struct as_prv_writer *w, uint32_t location,
                          const struct as_trace_event *event)
{
    static const int64_t values[] = {[AS_TRACE_LOOP] = AS_PRV_WORK_LOOP,
                                     [AS_TRACE_SECTIONS] = AS_PRV_WORK_SECTIONS,
                                     [AS_TRACE_SINGLE] = AS_PRV_WORK_SINGLE};
    _Static_assert(sizeof values / sizeof *values == AS_TRACE_SINGLE + 1,
                   "an entry for each of the enumeration");
    const bool begins = event->kind == AS_TRACE_WORK;
    const int64_t work = event->field[1];
    if (work == AS_TRACE_TASKLOOP)
        return store_omp_event(w, location, event, AS_PRV_TASKLOOP,
                               begins ? event->field[0] + 1 : 0);
    if (work < 0 || work > AS_TRACE_SINGLE)
        return 0;
    return store_omp_event(w, location, event, AS_PRV_WORK, begins ? values[work] : 0);
}

/* ---- Locks ----------------------------------------------------------------------------------- */

/* Stores a lock of OpenMP. Locks of POSIX threads are written as calls. */
static int store_prv_lock(struct as_prv_writer *w, uint32_t location,
                          const struct as_trace_event *event)
{
    const int64_t kind = event->lock.kind;
    const bool is_critical = kind == AS_TRACE_CRITICAL || kind == AS_TRACE_ORDERED;
    const int64_t type = is_critical ? AS_PRV_CRITICAL : AS_PRV_OMP_LOCK;
    if (!is_critical && kind != AS_TRACE_OMP_LOCK)
        return 0;
    if (event->kind == AS_TRACE_LOCK_HELD)
        return store_omp_event(w, location, event, type, AS_PRV_LOCKED);
    AS_TRY(store_omp_event(w, location, event, AS_PRV_LOCK_ADDRESS, event->lock.address));
    return store_omp_event(w, location, event, type,
                           event->kind == AS_TRACE_LOCK_WAIT ? AS_PRV_LOCKING : AS_PRV_UNLOCKED);
}

int as_prv_store_threads(struct as_prv_writer *w, uint32_t location,
                         const struct as_trace_event *event)
{
    switch (event->kind) {
    case AS_TRACE_PARALLEL:
        return open_region(w, location, event);
    case AS_TRACE_PARALLEL_END:
        return close_region(w, location, event);
    case AS_TRACE_IMPLICIT:
        return begin_part(w, location, event);
    case AS_TRACE_IMPLICIT_END:
        return store_omp_event(w, location, event, AS_PRV_OMP_FUNCTION, 0);
    case AS_TRACE_BARRIER:
    case AS_TRACE_BARRIER_END:
        return store_prv_barrier(w, location, event);
    case AS_TRACE_WORK:
    case AS_TRACE_WORK_END:
        return store_prv_work(w, location, event);
    case AS_TRACE_TASK_BEGIN:
        return store_omp_event(w, location, event, AS_PRV_TASK, event->field[0]);
    case AS_TRACE_TASK_END:
        return store_omp_event(w, location, event, AS_PRV_TASK, 0);
    case AS_TRACE_LOCK_WAIT:
    case AS_TRACE_LOCK_HELD:
    case AS_TRACE_LOCK_RELEASED:
        return store_prv_lock(w, location, event);
    default:
        return 0;
    }
}
