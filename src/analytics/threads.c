/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads of a process do to each other: locks that another holds, threads whose end is waited
 * for, barriers of OpenMP.
 */
#include "analytics/walking.h"
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
                                                     .location = AS_WAIT_NOBODY,
                                                     .site = AS_WAIT_NOBODY,
                                                     .address = address,
                                                     .released_ns = INT64_MIN}));
    *out = &walk->lock.at[walk->lock.n - 1];
    return as_index_add(&walk->lock_rows, hash, (uint32_t)(walk->lock.n - 1));
}

static int site_of_call(struct as_trace_walk *walk, struct as_walker *walker, uint32_t *out)
{
    *out = AS_WAIT_NOBODY;
    return walker->frame.n ? as_walk_site(walk, walker, &walker->frame.at[walker->frame.n - 1], out)
                           : 0;
}

/* Contention is what ended when another gave the lock back in the meantime. */
static int lock_is_held(struct as_trace_walk *walk, struct as_walker *walker,
                        const struct as_trace_event *event)
{
    struct as_lock *lock;
    const int64_t begin_ns = walker->lock_ns;
    walker->lock_ns = INT64_MIN;
    if (event->lock.kind == AS_TRACE_CONDITION || begin_ns == INT64_MIN)
        return 0;
    AS_TRY(find_lock(walk, walker->process, event->lock.address, &lock));
    if (lock->location == AS_WAIT_NOBODY || lock->location == walker->location ||
        lock->released_ns <= begin_ns || event->raw_ns <= begin_ns)
        return 0;
    struct as_wait wait = {.kind = event->lock.kind == AS_TRACE_CRITICAL ? AS_WAIT_CRITICAL
                                                                         : AS_WAIT_LOCK,
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

/* ---- Barriers of OpenMP ---------------------------------------------------------------------- */

static uint64_t team_key(const struct as_walker *walker, const struct as_team *team)
{
    return as_hash_mix(as_hash_mix(11, walker->process), (uint64_t)team->region);
}

static bool has_company(const struct as_walker *walker)
{
    const struct as_team *team = walker->team.n ? &walker->team.at[walker->team.n - 1] : NULL;
    return team && team->threads > 1 && team->threads < UINT32_MAX && team->index >= 0 &&
           team->index < team->threads;
}

static int come_to_barrier(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    walker->barrier_ns = INT64_MIN;
    if (!has_company(walker))
        return 0;
    const struct as_team *team = &walker->team.at[walker->team.n - 1];
    int rc = as_gatherings_begin(walk->barriers, team_key(walker, team), (uint32_t)team->threads,
                                 (uint32_t)team->index, AS_GATHERING_BARRIER, -1,
                                 &walker->barrier_number);
    if (rc == ASSAY_ERR_CORRUPT) {
        walk->out->broken_n++;
        return 0;
    }
    walker->barrier_ns = ns;
    return rc;
}

static int leave_barrier(struct as_trace_walk *walk, struct as_walker *walker, int64_t ns)
{
    if (walker->barrier_ns == INT64_MIN || !has_company(walker))
        return 0;
    const struct as_team *team = &walker->team.at[walker->team.n - 1];
    struct as_gathering_member member = {.location = walker->location,
                                         .begin_ns = walker->barrier_ns,
                                         .enter_ns = walker->barrier_ns,
                                         .leave_ns = ns};
    walker->barrier_ns = INT64_MIN;
    AS_TRY(site_of_call(walk, walker, &member.site));
    member.arrival_site = member.site;
    int rc = as_gatherings_leave(walk->barriers, team_key(walker, team), walker->barrier_number,
                                 (uint32_t)team->index, &member);
    if (rc == ASSAY_ERR_CORRUPT) {
        walk->out->broken_n++;
        rc = 0;
    }
    return rc;
}

static int barrier_met(void *context, const struct as_gathering *gathering)
{
    struct as_trace_walk *walk = context;
    return as_waits_of_gathering(gathering, true, &walk->out->waits);
}

int as_threads_new(struct as_trace_walk *walk)
{
    return as_gatherings_new(&walk->barriers, barrier_met, walk);
}

int as_threads_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event)
{
    switch (event->kind) {
    case AS_TRACE_LOCK_WAIT:
        walker->lock_ns = event->raw_ns;
        return 0;
    case AS_TRACE_LOCK_HELD:
        return lock_is_held(walk, walker, event);
    case AS_TRACE_LOCK_RELEASED:
        return lock_is_released(walk, walker, event);
    case AS_TRACE_BARRIER:
        return come_to_barrier(walk, walker, event->raw_ns);
    case AS_TRACE_BARRIER_END:
        return leave_barrier(walk, walker, event->raw_ns);
    default:
        return 0;
    }
}
