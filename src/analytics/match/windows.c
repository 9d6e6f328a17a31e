/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/match/windows.h"

#include "base/error.h"

#define EVERYBODY UINT32_MAX /* as a target */

/* A call that others wait for. */
struct rma_moment {
    int64_t ns;             /* enter */
    int64_t last_access_ns; /* of a complete: when the access before it was left */
    uint32_t location, site;
};

/*
 * An origin and a target at a window. The n-th start of one is for the n-th post of the other, and
 * so are their complete and wait. Two of each are enough: before the third of one there was the
 * first of the other.
 */
struct rma_pair {
    uint64_t window;
    uint32_t origin, target;
    uint64_t posts_n, starts_n, completes_n, waits_n;
    struct rma_moment post[2], complete[2];
};

/* The latest unlocks of a target's window. */
struct rma_lock {
    uint64_t window;
    uint32_t target; /* EVERYBODY: the latest of any, and those of all at once */
    struct rma_moment exclusive, shared;
};

struct open_access {
    uint32_t pair;
    uint64_t number;
};

struct window_lock_state {
    uint32_t target;
    bool is_exclusive;
};

/* A window as a process has it. */
struct window_side {
    uint32_t process;
    int64_t number;  /* in the process */
    uint64_t window; /* the same in all its processes; 0: not known */
    uint32_t rank, size;
    const struct as_trace_comm *comm;
    AS_VEC(uint32_t) exposed;            /* pairs of its exposure epoch */
    AS_VEC(struct open_access) accessed; /* of its access epoch */
    AS_VEC(struct window_lock_state) held;
    int64_t last_access_ns;
    int64_t judged_ns; /* enter of the call that was judged last */
};

struct as_windows {
    AS_VEC(struct window_side) side;
    AS_VEC(struct rma_pair) pair;
    AS_VEC(struct rma_lock) lock;
    struct as_index sides, pairs, locks;
};

int as_windows_new(struct as_trace_walk *walk)
{
    walk->windows = as_calloc(1, sizeof *walk->windows);
    return walk->windows ? 0 : AS_ERR_NOMEM;
}

void as_windows_free(struct as_trace_walk *walk)
{
    struct as_windows *w = walk->windows;
    if (!w)
        return;
    as_vec_foreach (&w->side, side) {
        as_vec_fini(&side->exposed);
        as_vec_fini(&side->accessed);
        as_vec_fini(&side->held);
    }
    as_vec_fini(&w->side);
    as_vec_fini(&w->pair);
    as_vec_fini(&w->lock);
    as_index_fini(&w->sides);
    as_index_fini(&w->pairs);
    as_index_fini(&w->locks);
    as_free(w);
    walk->windows = NULL;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Sets the communicator, rank and key of a window from its definition. */
static void name_window(const struct as_trace_process *process, struct window_side *side)
{
    const struct as_trace_window *defined = NULL;
    uint64_t before_n = 0;
    as_vec_foreach (&process->window, window)
        if (window->window == (uint64_t)side->number)
            defined = window;
    if (!defined)
        return;
    for (const struct as_trace_window *w = process->window.at; w < defined; w++)
        before_n += w->comm == defined->comm;
    side->comm = as_trace_comm_of(process, (int64_t)defined->comm);
    if (!side->comm || !side->comm->global || side->comm->rank < 0 ||
        side->comm->size >= UINT32_MAX || (uint64_t)side->comm->rank >= side->comm->size)
        return;
    side->rank = (uint32_t)side->comm->rank;
    side->size = (uint32_t)side->comm->size;
    side->window = as_hash_mix(as_hash_mix(13, side->comm->global), before_n) | 1;
}

static int side_of_window(struct as_trace_walk *walk, uint32_t process, int64_t number,
                          struct window_side **out)
{
    struct as_windows *w = walk->windows;
    const uint64_t hash = as_hash_mix(process, (uint64_t)number);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&w->sides, hash);
         (at = as_index_next(&w->sides, &probe)) != AS_INDEX_NONE;) {
        *out = &w->side.at[at];
        if ((*out)->process == process && (*out)->number == number)
            return 0;
    }
    struct window_side side = {
        .process = process, .number = number, .last_access_ns = INT64_MIN, .judged_ns = INT64_MIN};
    name_window(&walk->trace->process.at[process], &side);
    AS_TRY(as_vec_push(&w->side, side));
    *out = &w->side.at[w->side.n - 1];
    return as_index_add(&w->sides, hash, (uint32_t)(w->side.n - 1));
}

static int pair_of(struct as_windows *w, uint64_t window, uint32_t origin, uint32_t target,
                   uint32_t *out)
{
    const uint64_t hash = as_hash_mix(window, (uint64_t)origin << 32 | target);
    for (struct as_probe probe = as_index_probe(&w->pairs, hash);
         (*out = as_index_next(&w->pairs, &probe)) != AS_INDEX_NONE;) {
        const struct rma_pair *pair = &w->pair.at[*out];
        if (pair->window == window && pair->origin == origin && pair->target == target)
            return 0;
    }
    const struct rma_pair pair = {.window = window, .origin = origin, .target = target};
    AS_TRY(as_vec_push(&w->pair, pair));
    *out = (uint32_t)(w->pair.n - 1);
    return as_index_add(&w->pairs, hash, *out);
}

/* Valid until the next call. */
static int lock_of(struct as_windows *w, uint64_t window, uint32_t target, struct rma_lock **out)
{
    const uint64_t hash = as_hash_mix(window ^ 5, target);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&w->locks, hash);
         (at = as_index_next(&w->locks, &probe)) != AS_INDEX_NONE;) {
        *out = &w->lock.at[at];
        if ((*out)->window == window && (*out)->target == target)
            return 0;
    }
    const struct rma_moment never = {.ns = INT64_MIN};
    AS_TRY(as_vec_push(&w->lock, (struct rma_lock){window, target, never, never}));
    *out = &w->lock.at[w->lock.n - 1];
    return as_index_add(&w->locks, hash, (uint32_t)(w->lock.n - 1));
}

/* ---- What others may wait for ---------------------------------------------------------------- */

static int begin_exposure(struct as_windows *w, struct window_side *side, uint32_t origin,
                          const struct rma_moment *now)
{
    uint32_t at;
    AS_TRY(pair_of(w, side->window, origin, side->rank, &at));
    struct rma_pair *pair = &w->pair.at[at];
    pair->post[pair->posts_n++ & 1] = *now;
    return as_vec_push(&side->exposed, at);
}

static int begin_access(struct as_windows *w, struct window_side *side, uint32_t target)
{
    struct open_access access;
    AS_TRY(pair_of(w, side->window, side->rank, target, &access.pair));
    access.number = w->pair.at[access.pair].starts_n++;
    if (side->accessed.n == 0)
        side->last_access_ns = INT64_MIN;
    return as_vec_push(&side->accessed, access);
}

static void complete_accesses(struct as_windows *w, const struct window_side *side,
                              const struct rma_moment *now)
{
    as_vec_foreach (&side->accessed, access) {
        struct rma_pair *pair = &w->pair.at[access->pair];
        pair->complete[pair->completes_n++ & 1] = *now;
    }
}

static struct window_lock_state *find_window_lock(const struct window_side *side, uint32_t target)
{
    as_vec_foreach (&side->held, held)
        if (held->target == target)
            return held;
    return NULL;
}

static int release_lock(struct as_windows *w, const struct window_side *side, uint32_t target,
                        const struct rma_moment *now)
{
    const struct window_lock_state *held = find_window_lock(side, target);
    struct rma_lock *lock;
    if (!held)
        return 0;
    AS_TRY(lock_of(w, side->window, target, &lock));
    *(held->is_exclusive ? &lock->exclusive : &lock->shared) = *now;
    if (!held->is_exclusive)
        return 0;
    AS_TRY(lock_of(w, side->window, EVERYBODY, &lock));
    lock->exclusive = *now;
    return 0;
}

static uint32_t target_of(int64_t partner)
{
    return partner < 0 ? EVERYBODY : (uint32_t)partner;
}

int as_windows_event(struct as_trace_walk *walk, struct as_walker *walker,
                     const struct as_trace_event *event)
{
    const int64_t kind = event->sync.kind, partner = event->sync.rank;
    struct window_side *side;
    if (walker->frame.n == 0)
        return 0;
    const struct as_open_call *frame = &walker->frame.at[walker->frame.n - 1];
    AS_TRY(side_of_window(walk, walker->process, event->sync.window, &side));
    if (!side->window || partner >= side->size)
        return 0;
    struct rma_moment now = {.ns = frame->enter_ns,
                             .last_access_ns = side->last_access_ns,
                             .location = walker->location};
    AS_TRY(as_walk_site(walk, walker, frame, &now.site));
    if (kind == AS_TRACE_POSTED && partner >= 0)
        return begin_exposure(walk->windows, side, (uint32_t)partner, &now);
    if (kind == AS_TRACE_STARTED && partner >= 0)
        return begin_access(walk->windows, side, (uint32_t)partner);
    if (kind == AS_TRACE_COMPLETED)
        complete_accesses(walk->windows, side, &now);
    if (kind == AS_TRACE_LOCK_SHARED || kind == AS_TRACE_LOCK_EXCLUSIVE)
        return as_vec_push(&side->held, (struct window_lock_state){
                                            target_of(partner), kind == AS_TRACE_LOCK_EXCLUSIVE});
    if (kind == AS_TRACE_UNLOCKED)
        return release_lock(walk->windows, side, target_of(partner), &now);
    return 0;
}

/* ---- What was waited for --------------------------------------------------------------------- */

/* A call, from enter to leave. */
struct window_call {
    struct as_trace_walk *walk;
    struct window_side *side;
    uint32_t location, site;
    bool moves_data;
    int64_t enter_ns, leave_ns;
};

static int add_rma_wait(const struct window_call *call, enum as_wait_kind kind, int64_t begin_ns,
                        int64_t end_ns, const struct rma_moment *cause)
{
    if (begin_ns < call->enter_ns)
        begin_ns = call->enter_ns;
    if (end_ns > call->leave_ns)
        end_ns = call->leave_ns;
    if (end_ns <= begin_ns)
        return 0;
    const struct as_wait wait = {.kind = (uint8_t)kind,
                                 .moves_data = call->moves_data,
                                 .location = call->location,
                                 .site = call->site,
                                 .cause = cause->location,
                                 .cause_site = cause->site,
                                 .begin_ns = begin_ns,
                                 .end_ns = end_ns,
                                 .cause_ns = cause->ns};
    return as_vec_push(&call->walk->out->waits.wait, wait);
}

/* The number's moment of a pair, if there was one. */
static const struct rma_moment *moment_of(const struct rma_moment *two, uint64_t known_n,
                                          uint64_t number)
{
    return number < known_n && number + 2 >= known_n ? &two[number & 1] : NULL;
}

/* The post came during this call: which of start, access and complete waits for it is up to the
 * MPI. `target` may be EVERYBODY. */
static int wait_for_post(const struct window_call *call, uint32_t target)
{
    const struct rma_moment *latest = NULL;
    as_vec_foreach (&call->side->accessed, access) {
        const struct rma_pair *pair = &call->walk->windows->pair.at[access->pair];
        const struct rma_moment *post = moment_of(pair->post, pair->posts_n, access->number);
        if ((target == EVERYBODY || target == pair->target) && post && post->ns < call->leave_ns &&
            (!latest || post->ns > latest->ns))
            latest = post;
    }
    return latest ? add_rma_wait(call, AS_WAIT_LATE_POST, call->enter_ns, latest->ns, latest) : 0;
}

/* Until the last of the origins has completed: what it still did, and what it let pass after. */
static int wait_for_completes(const struct window_call *call)
{
    const struct rma_moment *latest = NULL;
    as_vec_foreach (&call->side->exposed, at) {
        struct rma_pair *pair = &call->walk->windows->pair.at[*at];
        const struct rma_moment *complete =
            moment_of(pair->complete, pair->completes_n, pair->waits_n++);
        if (complete && (!latest || complete->ns > latest->ns))
            latest = complete;
    }
    call->side->exposed.n = 0;
    if (!latest || latest->ns <= call->enter_ns)
        return 0;
    const int64_t accessed_ns =
        latest->last_access_ns > call->enter_ns ? latest->last_access_ns : call->enter_ns;
    AS_TRY(add_rma_wait(call, AS_WAIT_EARLY_WAIT, call->enter_ns, accessed_ns, latest));
    return add_rma_wait(call, AS_WAIT_LATE_COMPLETE, accessed_ns, latest->ns, latest);
}

static void later_of_others(const struct window_call *call, const struct rma_moment *moment,
                            struct rma_moment *latest)
{
    if (moment->ns != INT64_MIN && moment->location != call->location &&
        moment->ns < call->leave_ns && moment->ns > latest->ns)
        *latest = *moment;
}

/* Adds a wait for a lock: another process released it during this call, and the lock of this
 * process excludes that one. */
static int wait_for_lock(const struct window_call *call, uint32_t target)
{
    struct as_windows *w = call->walk->windows;
    const struct window_lock_state *held = find_window_lock(call->side, target);
    struct rma_moment latest = {.ns = INT64_MIN};
    struct rma_lock *lock;
    if (!held)
        held = find_window_lock(call->side, EVERYBODY);
    if (!held)
        return 0;
    AS_TRY(lock_of(w, call->side->window, target, &lock));
    later_of_others(call, &lock->exclusive, &latest);
    if (held->is_exclusive) {
        later_of_others(call, &lock->shared, &latest);
        AS_TRY(lock_of(w, call->side->window, EVERYBODY, &lock));
        later_of_others(call, &lock->shared, &latest);
    }
    return latest.ns == INT64_MIN
               ? 0
               : add_rma_wait(call, AS_WAIT_WINDOW_LOCK, call->enter_ns, latest.ns, &latest);
}

static int leave_unlock(const struct window_call *call, uint32_t target)
{
    AS_TRY(wait_for_lock(call, target));
    struct window_lock_state *held = find_window_lock(call->side, target);
    if (held)
        *held = call->side->held.at[--call->side->held.n];
    return 0;
}

static int leave_fence(const struct window_call *call, enum as_collective_kind kind)
{
    const struct as_collective_member member = {.location = call->location,
                                                .site = call->site,
                                                .arrival_site = call->site,
                                                .moves_data = call->moves_data,
                                                .begin_ns = call->enter_ns,
                                                .enter_ns = call->enter_ns,
                                                .leave_ns = call->leave_ns};
    const struct window_side *side = call->side;
    uint64_t number;
    if (side->size < 2)
        return 0;
    int rc = as_collectives_begin(call->walk->collectives, side->window, side->size, side->rank,
                                  kind, AS_TRACE_NO_ROOT, &number);
    if (rc == 0)
        rc = as_collectives_leave(call->walk->collectives, side->window, number, side->rank,
                                  &member);
    call->walk->out->broken_n += rc == AS_ERR_CORRUPT;
    return rc == AS_ERR_CORRUPT ? 0 : rc;
}

static int leave_access(const struct window_call *call, const struct as_call_record *record)
{
    struct as_open_call *frame = as_walk_outermost(&call->walk->walker.at[call->location]);
    const struct as_trace_comm *comm = call->side->comm;
    const int64_t target = record->access.target;
    const uint64_t size_b = record->access.size_b > 0 ? (uint64_t)record->access.size_b : 0;
    const char *routine = call->walk->text.at[frame->routine];
    const bool is_get = as_mpi_is(routine, "get") || as_mpi_is(routine, "rget");
    if (target < 0)
        return 0;
    *(is_get ? &frame->received_b : &frame->sent_b) += size_b;
    if (comm && (uint64_t)target < comm->member_n) {
        const int64_t own = call->walk->trace->process.at[call->side->process].rank;
        const int64_t other = (int64_t)comm->member[target];
        AS_TRY(as_mpi_add_traffic(call->walk, is_get ? other : own, is_get ? own : other,
                                  (int64_t)size_b, frame->enter_ns));
    }
    if (!call->side->window || target >= call->side->size)
        return 0;
    call->side->last_access_ns = call->leave_ns;
    AS_TRY(wait_for_post(call, (uint32_t)target));
    return wait_for_lock(call, (uint32_t)target);
}

static int leave_sync(const struct window_call *call, const struct as_call_record *record)
{
    const uint32_t target = target_of(record->sync.rank);
    switch (record->sync.kind) {
    case AS_TRACE_FENCE:
        return leave_fence(call, AS_COLLECTIVE_KIND_FENCE);
    case AS_TRACE_WINDOW_MADE:
    case AS_TRACE_WINDOW_FREED:
        return leave_fence(call, AS_COLLECTIVE_KIND_WINDOW);
    case AS_TRACE_STARTED: /* once for all that it names */
        return call->side->judged_ns == call->enter_ns ? 0 : wait_for_post(call, EVERYBODY);
    case AS_TRACE_COMPLETED:
        AS_TRY(wait_for_post(call, EVERYBODY));
        call->side->accessed.n = 0;
        return 0;
    case AS_TRACE_AWAITED:
        return wait_for_completes(call);
    case AS_TRACE_LOCK_SHARED:
    case AS_TRACE_LOCK_EXCLUSIVE:
    case AS_TRACE_FLUSHED:
        return wait_for_lock(call, target);
    case AS_TRACE_UNLOCKED:
        return leave_unlock(call, target);
    default: /* a post does not wait */
        return 0;
    }
}

int as_windows_left(struct as_trace_walk *walk, struct as_walker *walker,
                    const struct as_open_call *frame, uint32_t site, int64_t leave_ns,
                    const struct as_call_record *record)
{
    struct window_call call = {.walk = walk,
                               .location = walker->location,
                               .site = site,
                               .moves_data = frame->moves_data,
                               .enter_ns = frame->enter_ns,
                               .leave_ns = leave_ns};
    const bool is_access = record->kind == AS_TRACE_RMA;
    AS_TRY(side_of_window(walk, walker->process,
                          is_access ? record->access.window : record->sync.window, &call.side));
    if (is_access)
        return leave_access(&call, record);
    if (!call.side->window || record->sync.rank >= call.side->size)
        return 0;
    const int rc = leave_sync(&call, record);
    call.side->judged_ns = call.enter_ns;
    return rc;
}
