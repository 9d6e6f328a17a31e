/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits between threads of a process: locks that another thread owns, conditions and semaphores,
 * joins, and barriers outside of OpenMP teams.
 */
#include "analytics/state/walking.h"
#include "base/error.h"

/* ---- Locks ----------------------------------------------------------------------------------- */

static int find_lock(struct as_trace_walk *walk, uint32_t process, int64_t address,
                     struct as_lock **out)
{
    uint64_t hash = as_hash_mix(process, (uint64_t)address);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&walk->lock_rows, hash);
         (at = as_index_next(&walk->lock_rows, &probe)) != AS_INDEX_NONE;) {
        *out = &walk->lock.at[at];
        if ((*out)->process == process && (*out)->address == address)
            return 0;
    }
    AS_TRY(as_vec_push(&walk->lock, (struct as_lock){.process = process,
                                                     .location = AS_WAIT_UNKNOWN,
                                                     .site = AS_WAIT_UNKNOWN,
                                                     .address = address,
                                                     .released_ns = INT64_MIN}));
    *out = &walk->lock.at[walk->lock.n - 1];
    return as_index_add(&walk->lock_rows, hash, (uint32_t)(walk->lock.n - 1));
}

static int site_of_call(struct as_trace_walk *walk, struct as_walker *walker, uint32_t *out)
{
    *out = AS_WAIT_UNKNOWN;
    return walker->frame.n ? as_walk_site(walk, walker, &walker->frame.at[walker->frame.n - 1], out)
                           : 0;
}

static enum as_wait_kind wait_of_lock(int64_t kind)
{
    switch (kind) {
    case AS_TRACE_CRITICAL:
        return AS_WAIT_CRITICAL;
    case AS_TRACE_CONDITION:
    case AS_TRACE_SEMAPHORE:
        return AS_WAIT_CONDITION;
    default:
        return AS_WAIT_LOCK;
    }
}

/* Contention is what ended when another gave the lock back in the meantime. */
static int on_lock_acquired(struct as_trace_walk *walk, struct as_walker *walker,
                            const struct as_trace_event *event)
{
    struct as_lock *lock;
    const int64_t begin_ns = walker->lock_ns;
    walker->lock_ns = INT64_MIN;
    if (begin_ns == INT64_MIN)
        return 0;
    AS_TRY(find_lock(walk, walker->process, event->lock.address, &lock));
    if (lock->location == AS_WAIT_UNKNOWN || lock->location == walker->location ||
        lock->released_ns <= begin_ns || event->raw_ns <= begin_ns)
        return 0;
    struct as_wait wait = {.kind = (uint8_t)wait_of_lock(event->lock.kind),
                           .location = walker->location,
                           .cause = lock->location,
                           .cause_site = lock->site,
                           .begin_ns = begin_ns,
                           .end_ns = event->raw_ns,
                           .cause_ns = lock->released_ns};
    AS_TRY(site_of_call(walk, walker, &wait.site));
    return as_vec_push(&walk->out->waits.wait, wait);
}

static int lock_is_released(struct as_trace_walk *walk, struct as_walker *walker,
                            const struct as_trace_event *event)
{
    struct as_lock *lock;
    AS_TRY(find_lock(walk, walker->process, event->lock.address, &lock));
    lock->location = walker->location;
    lock->released_ns = event->raw_ns;
    return site_of_call(walk, walker, &lock->site);
}

/* ---- Ends of threads ------------------------------------------------------------------------- */

static int begin_join(struct as_trace_walk *walk, struct as_walker *walker,
                      const struct as_trace_event *event)
{
    walker->join_handle = event->field[0];
    walker->join_ns = event->raw_ns;
    return as_vec_push(&walk->joining, walker->location);
}

static bool is_joining(const struct as_walker *walker)
{
    const uint32_t group = walker->frame.n ? walker->frame.at[walker->frame.n - 1].group : 0;
    return walker->join_ns != INT64_MIN && group == AS_TRACE_OF_THREAD;
}

/* Those that wait for it go on. Numbers of threads come again, but not before these did. */
static int end_thread(struct as_trace_walk *walk, const struct as_walker *ended, int64_t ns)
{
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; i < walk->joining.n && rc == 0; i++) {
        struct as_walker *walker = &walk->walker.at[walk->joining.at[i]];
        if (!is_joining(walker))
            continue;
        if (walker->process != ended->process || walker->join_handle != ended->handle) {
            walk->joining.at[kept++] = walker->location;
            continue;
        }
        struct as_wait wait = {.kind = AS_WAIT_JOIN,
                               .location = walker->location,
                               .cause = ended->location,
                               .cause_site = AS_WAIT_UNKNOWN,
                               .begin_ns = walker->join_ns,
                               .end_ns = ns,
                               .cause_ns = ns};
        walker->join_ns = INT64_MIN;
        rc = site_of_call(walk, walker, &wait.site);
        if (rc == 0 && ns > wait.begin_ns)
            rc = as_vec_push(&walk->out->waits.wait, wait);
    }
    walk->joining.n = kept;
    return rc;
}

/* ---- Barriers of threads --------------------------------------------------------------------- */

static int barrier_of_threads(struct as_trace_walk *walk, struct as_walker *walker,
                              const struct as_trace_event *event)
{
    struct as_lock *barrier;
    uint32_t site;
    AS_TRY(find_lock(walk, walker->process, event->lock.address, &barrier));
    if (event->kind == AS_TRACE_BARRIER_END)
        return as_team_barrier_leave(&barrier->meeting, walker->location, AS_WAIT_THREAD_BARRIER,
                                     &walk->out->waits);
    AS_TRY(site_of_call(walk, walker, &site));
    return as_team_barrier_enter(&barrier->meeting, walker->location, site, event->raw_ns);
}

/* Forgets waits and arrivals: releases and arrivals while tracing is off are unknown. */
void as_threads_off(struct as_trace_walk *walk, struct as_walker *walker)
{
    walker->lock_ns = walker->join_ns = INT64_MIN;
    as_vec_foreach (&walk->lock, lock)
        if (lock->process == walker->process)
            lock->meeting.member.n = 0;
}

int as_threads_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event)
{
    switch (event->kind) {
    case AS_TRACE_LOCK_WAIT:
        walker->lock_ns = event->raw_ns;
        return 0;
    case AS_TRACE_LOCK_HELD:
        return on_lock_acquired(walk, walker, event);
    case AS_TRACE_LOCK_RELEASED:
        return lock_is_released(walk, walker, event);
    case AS_TRACE_BARRIER:
    case AS_TRACE_BARRIER_END:
        return event->lock.kind == AS_TRACE_POSIX ? barrier_of_threads(walk, walker, event) : 0;
    case AS_TRACE_THREAD_BEGIN:
        walker->handle = event->field[0];
        return 0;
    case AS_TRACE_THREAD_JOIN:
        return begin_join(walk, walker, event);
    case AS_TRACE_THREAD_END:
        return walker->handle ? end_thread(walk, walker, event->raw_ns) : 0;
    default:
        return 0;
    }
}
