/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports the events of one OTF2 location as records of assay. The events are read twice: OTF2
 * describes a request only at its end, assay at its start.
 */
#include <string.h>

#include "exchange/otf2_taken.h"

#define EVENT_HEAD                                                                                 \
    OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *user,                 \
        OTF2_AttributeList *attributes
#define UNUSED_HEAD ((void)location, (void)position, (void)attributes)

static int64_t ns_of(const struct as_otf2_reading *t, OTF2_TimeStamp time)
{
    const uint64_t ticks = time > t->begin_tick ? time - t->begin_tick : 0;
    const unsigned __int128 ns = (unsigned __int128)ticks * 1000000000u / t->tick_hz;
    return ns > INT64_MAX / 8 ? INT64_MAX / 8 : (int64_t)ns;
}

/* Sets `*ns` and returns true to write a record. Returns false in the first reading, which only
 * collects pending requests. */
static bool begin_event(struct as_otf2_reading *t, OTF2_TimeStamp time, int64_t *ns)
{
    *ns = ns_of(t, time);
    if (*ns < t->last_ns) /* times of our streams never decrease */
        *ns = t->last_ns;
    if (t->is_first) {
        t->first_ns = *ns < t->first_ns ? *ns : t->first_ns;
        return false;
    }
    t->last_ns = *ns;
    t->counts->records_n++;
    return true;
}

static void make_otf2_event(struct as_otf2_reading *t, enum as_trace_kind kind, int64_t ns,
                            int64_t a, int64_t b, int64_t c, int64_t d, int64_t e)
{
    as_maker_emit(t->maker, t->made, kind, ns, (int64_t[]){a, b, c, d, e, 0, 0, 0});
}

/* Returns the request number, from 1. */
static int64_t request_of(uint64_t request)
{
    return request < INT64_MAX - 1 ? (int64_t)request + 1 : INT64_MAX;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static OTF2_CallbackCode import_otf2_call(struct as_otf2_reading *t, OTF2_TimeStamp time,
                                          uint32_t region, bool enters)
{
    const struct as_otf2_known_region *of = as_otf2_region_of(t, region);
    int64_t ns;
    if (!begin_event(t, time, &ns))
        return OTF2_CALLBACK_SUCCESS;
    const int64_t name = of ? of - t->region.at + 1 : 0;
    if (of && of->is_barrier && !enters)
        make_otf2_event(t, AS_TRACE_BARRIER_END, ns, t->parts_n, AS_TRACE_EXPLICIT, 0, 0, 0);
    make_otf2_event(t, enters ? AS_TRACE_ENTER : AS_TRACE_LEAVE, ns, name, 0, 0, 0, 0);
    if (of && of->is_barrier && enters)
        make_otf2_event(t, AS_TRACE_BARRIER, ns, t->parts_n, AS_TRACE_EXPLICIT, 0, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_enter(EVENT_HEAD, OTF2_RegionRef region)
{
    struct as_otf2_reading *t = user;
    UNUSED_HEAD;
    const OTF2_CallbackCode rc = import_otf2_call(t, time, region, true);
    if (!t->is_first)
        as_otf2_make_attributes(t, attributes);
    return rc;
}

static OTF2_CallbackCode on_otf2_leave(EVENT_HEAD, OTF2_RegionRef region)
{
    UNUSED_HEAD;
    return import_otf2_call(user, time, region, false);
}

/* Enters the region of a context; its parents are the callers. */
static OTF2_CallbackCode on_context_enter(EVENT_HEAD, OTF2_CallingContextRef context,
                                          uint32_t distance)
{
    struct as_otf2_reading *t = user;
    const struct as_otf2_known_context *of = as_otf2_context_of(t, context);
    UNUSED_HEAD;
    (void)distance;
    const OTF2_CallbackCode rc =
        import_otf2_call(t, time, of ? of->region : OTF2_UNDEFINED_REGION, true);
    if (!t->is_first && of)
        as_otf2_make_callers(t, of->parent);
    return rc;
}

static OTF2_CallbackCode on_context_leave(EVENT_HEAD, OTF2_CallingContextRef context)
{
    const struct as_otf2_known_context *of = as_otf2_context_of(user, context);
    UNUSED_HEAD;
    return import_otf2_call(user, time, of ? of->region : OTF2_UNDEFINED_REGION, false);
}

static OTF2_CallbackCode on_context_sample(EVENT_HEAD, OTF2_CallingContextRef context,
                                           uint32_t distance, OTF2_InterruptGeneratorRef generator)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    (void)distance;
    if (begin_event(t, time, &ns))
        as_otf2_make_sample(t, ns, context, generator);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- Pending requests ---------------------------------------------------------------------- */

static OTF2_CallbackCode begin_pending(struct as_otf2_reading *t, uint64_t request)
{
    const int failed = as_vec_push(&t->pending, (struct as_otf2_pending){.request = request}) < 0 ||
                       as_map_u64_put(&t->open, request, (uint32_t)t->pending.n - 1) < 0;
    t->no_memory |= failed;
    return failed ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static struct as_otf2_pending *find_pending(struct as_otf2_reading *t, uint64_t request)
{
    const uint32_t at = as_map_u64_get(&t->open, request);
    return at == AS_MAP_NONE ? NULL : &t->pending.at[at];
}

/* Returns the next pending request. The second reading has the same order as the first. */
static struct as_otf2_pending next_pending(struct as_otf2_reading *t)
{
    return t->next < t->pending.n ? t->pending.at[t->next++] : (struct as_otf2_pending){0};
}

/* ---- Messages -------------------------------------------------------------------------------- */

static OTF2_CallbackCode on_otf2_send(EVENT_HEAD, uint32_t receiver, OTF2_CommRef comm,
                                      uint32_t tag, uint64_t size_b)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns))
        make_otf2_event(t, AS_TRACE_SEND, ns, receiver, tag, (int64_t)size_b,
                        as_otf2_known_comm_of(t, comm), 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_isend(EVENT_HEAD, uint32_t receiver, OTF2_CommRef comm,
                                       uint32_t tag, uint64_t size_b, uint64_t request)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns))
        make_otf2_event(t, AS_TRACE_SEND, ns, receiver, tag, (int64_t)size_b,
                        as_otf2_known_comm_of(t, comm), request_of(request));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode make_request_event(struct as_otf2_reading *t, OTF2_TimeStamp time,
                                            enum as_trace_kind kind, uint64_t request)
{
    int64_t ns;
    if (begin_event(t, time, &ns))
        make_otf2_event(t, kind, ns, request_of(request), 0, 0, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_isend_done(EVENT_HEAD, uint64_t request)
{
    UNUSED_HEAD;
    return make_request_event(user, time, AS_TRACE_DONE, request);
}

static OTF2_CallbackCode on_otf2_cancelled(EVENT_HEAD, uint64_t request)
{
    UNUSED_HEAD;
    return make_request_event(user, time, AS_TRACE_CANCELLED, request);
}

/* Starts a receive. One that never ends is from any source of the world. */
static OTF2_CallbackCode on_otf2_ireceive_request(EVENT_HEAD, uint64_t request)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (!begin_event(t, time, &ns))
        return begin_pending(t, request);
    const struct as_otf2_pending p = next_pending(t);
    make_otf2_event(t, AS_TRACE_POST, ns, p.comm ? p.partner : AS_TRACE_ANY,
                    p.comm ? p.tag : AS_TRACE_ANY, p.size_b, p.comm ? p.comm : 1,
                    request_of(request));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_receive(EVENT_HEAD, uint32_t sender, OTF2_CommRef comm,
                                         uint32_t tag, uint64_t size_b)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (!begin_event(t, time, &ns))
        return OTF2_CALLBACK_SUCCESS;
    const int64_t of = as_otf2_known_comm_of(t, comm);
    make_otf2_event(t, AS_TRACE_POST, ns, sender, tag, (int64_t)size_b, of, 0);
    make_otf2_event(t, AS_TRACE_RECEIVE, ns, sender, tag, (int64_t)size_b, of, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_ireceive(EVENT_HEAD, uint32_t sender, OTF2_CommRef comm,
                                          uint32_t tag, uint64_t size_b, uint64_t request)
{
    struct as_otf2_reading *t = user;
    struct as_otf2_pending *pending = find_pending(t, request);
    const int64_t of = as_otf2_known_comm_of(t, comm);
    int64_t ns;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns)) {
        make_otf2_event(t, AS_TRACE_RECEIVE, ns, sender, tag, (int64_t)size_b, of,
                        request_of(request));
    } else if (pending) {
        pending->partner = sender;
        pending->tag = tag;
        pending->size_b = (int64_t)size_b;
        pending->comm = of;
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- Collectives --------------------------------------------------------------------------- */

static void write_otf2_collective(struct as_otf2_reading *t, int64_t ns, int64_t comm,
                                  int64_t request, int64_t root, int64_t sent_b, int64_t received_b)
{
    make_otf2_event(t, AS_TRACE_COLLECTIVE, ns, comm, request, root, sent_b, received_b);
}

static int64_t root_of(uint32_t root)
{
    /* The largest numbers stand for several roots or none: none, each process, a group. */
    return root >= OTF2_COLLECTIVE_ROOT_THIS_GROUP ? AS_TRACE_NO_ROOT : (int64_t)root;
}

static OTF2_CallbackCode on_otf2_collective(EVENT_HEAD, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                            uint32_t root, uint64_t sent_b, uint64_t received_b)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    (void)op;
    if (begin_event(t, time, &ns))
        write_otf2_collective(t, ns, as_otf2_known_comm_of(t, comm), 0, root_of(root),
                              (int64_t)sent_b, (int64_t)received_b);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_icollective(EVENT_HEAD, uint64_t request)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (!begin_event(t, time, &ns))
        return begin_pending(t, request);
    const struct as_otf2_pending p = next_pending(t);
    if (p.comm)
        write_otf2_collective(t, ns, p.comm, request_of(request), p.root, p.sent_b, p.received_b);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_icollective_done(EVENT_HEAD, OTF2_CollectiveOp op,
                                                  OTF2_CommRef comm, uint32_t root, uint64_t sent_b,
                                                  uint64_t received_b, uint64_t request)
{
    struct as_otf2_reading *t = user;
    struct as_otf2_pending *pending = find_pending(t, request);
    int64_t ns;
    UNUSED_HEAD;
    (void)op;
    if (begin_event(t, time, &ns)) {
        make_otf2_event(t, AS_TRACE_DONE, ns, request_of(request), 0, 0, 0, 0);
    } else if (pending) {
        pending->comm = as_otf2_known_comm_of(t, comm);
        pending->root = root_of(root);
        pending->sent_b = (int64_t)sent_b;
        pending->received_b = (int64_t)received_b;
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- One-sided access ------------------------------------------------------------------------ */

static OTF2_CallbackCode put_access(struct as_otf2_reading *t, OTF2_TimeStamp time, uint32_t window,
                                    uint32_t target, uint64_t size_b)
{
    int64_t ns;
    if (begin_event(t, time, &ns))
        make_otf2_event(t, AS_TRACE_RMA, ns, target, (int64_t)size_b, (int64_t)window + 1, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_transfer(EVENT_HEAD, OTF2_RmaWinRef window, uint32_t target,
                                     uint64_t size_b, uint64_t matching)
{
    UNUSED_HEAD;
    (void)matching;
    return put_access(user, time, window, target, size_b);
}

static OTF2_CallbackCode on_atomic(EVENT_HEAD, OTF2_RmaWinRef window, uint32_t target,
                                   OTF2_RmaAtomicType type, uint64_t sent_b, uint64_t received_b,
                                   uint64_t matching)
{
    UNUSED_HEAD;
    (void)type, (void)matching;
    return put_access(user, time, window, target, sent_b ? sent_b : received_b);
}

static OTF2_CallbackCode make_window_sync(struct as_otf2_reading *t, OTF2_TimeStamp time,
                                          uint32_t window, enum as_trace_rma_sync kind,
                                          uint32_t rank)
{
    int64_t ns;
    if (begin_event(t, time, &ns))
        make_otf2_event(t, AS_TRACE_SYNC, ns, (int64_t)window + 1, kind,
                        rank == OTF2_UNDEFINED_UINT32 ? -1 : (int64_t)rank, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window_made(EVENT_HEAD, OTF2_RmaWinRef window)
{
    UNUSED_HEAD;
    return make_window_sync(user, time, window, AS_TRACE_WINDOW_MADE, OTF2_UNDEFINED_UINT32);
}

static OTF2_CallbackCode on_window_freed(EVENT_HEAD, OTF2_RmaWinRef window)
{
    UNUSED_HEAD;
    return make_window_sync(user, time, window, AS_TRACE_WINDOW_FREED, OTF2_UNDEFINED_UINT32);
}

/* A collective of all processes of a window, inside a call that is not its creation: a fence. */
static OTF2_CallbackCode on_fence(EVENT_HEAD, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level,
                                  OTF2_RmaWinRef window, uint32_t root, uint64_t sent_b,
                                  uint64_t received_b)
{
    UNUSED_HEAD;
    (void)level, (void)root, (void)sent_b, (void)received_b;
    if (op != OTF2_COLLECTIVE_OP_BARRIER)
        return OTF2_CALLBACK_SUCCESS;
    return make_window_sync(user, time, window, AS_TRACE_FENCE, OTF2_UNDEFINED_UINT32);
}

static OTF2_CallbackCode on_window_lock(EVENT_HEAD, OTF2_RmaWinRef window, uint32_t rank,
                                        uint64_t lock, OTF2_LockType type)
{
    UNUSED_HEAD;
    (void)lock;
    return make_window_sync(
        user, time, window,
        type == OTF2_LOCK_SHARED ? AS_TRACE_LOCK_SHARED : AS_TRACE_LOCK_EXCLUSIVE, rank);
}

static OTF2_CallbackCode on_window_unlock(EVENT_HEAD, OTF2_RmaWinRef window, uint32_t rank,
                                          uint64_t lock)
{
    UNUSED_HEAD;
    (void)lock;
    return make_window_sync(user, time, window, AS_TRACE_UNLOCKED, rank);
}

/* See write_window_sync: a notification of one rank is of a post or start. */
static OTF2_CallbackCode on_window_sync(EVENT_HEAD, OTF2_RmaWinRef window, uint32_t rank,
                                        OTF2_RmaSyncType type)
{
    const bool is_of_one = rank != OTF2_UNDEFINED_UINT32;
    UNUSED_HEAD;
    return make_window_sync(user, time, window,
                            type == OTF2_RMA_SYNC_TYPE_MEMORY ? AS_TRACE_FLUSHED
                            : type == OTF2_RMA_SYNC_TYPE_NOTIFY_OUT
                                ? (is_of_one ? AS_TRACE_POSTED : AS_TRACE_COMPLETED)
                            : is_of_one ? AS_TRACE_STARTED
                                        : AS_TRACE_AWAITED,
                            rank);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static OTF2_CallbackCode on_otf2_fork(EVENT_HEAD, OTF2_Paradigm model, uint32_t threads_n)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns) && model == OTF2_PARADIGM_OPENMP)
        make_otf2_event(t, AS_TRACE_PARALLEL, ns, ++t->regions_n, threads_n, 0, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_join(EVENT_HEAD, OTF2_Paradigm model)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns) && model == OTF2_PARADIGM_OPENMP)
        make_otf2_event(t, AS_TRACE_PARALLEL_END, ns, t->regions_n, 0, 0, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

/* Finds the index of the location in the team, which is a communicator of locations. Returns false
 * if it is not a member. */
static bool find_part(const struct as_otf2_reading *t, uint32_t team, int64_t *index,
                      int64_t *threads_n)
{
    const struct as_otf2_known_group *group = as_otf2_members_of(t, team);
    const struct as_otf2_known_group *places = NULL;
    const uint64_t own = t->location.at[t->at].number;
    if (!group)
        return false;
    as_vec_foreach (&t->group, other)
        if (other->type == OTF2_GROUP_TYPE_COMM_LOCATIONS && other->paradigm == group->paradigm)
            places = other;
    *threads_n = (int64_t)group->member.n;
    for (size_t i = 0; places && i < group->member.n; i++)
        if (group->member.at[i] < places->member.n &&
            places->member.at[group->member.at[i]] == own) {
            *index = (int64_t)i;
            return true;
        }
    return false;
}

/* Begins the part of a thread in a team. A team forms again and again, and the count of its parts
 * is the same for all members. */
static OTF2_CallbackCode on_otf2_team(EVENT_HEAD, OTF2_CommRef team)
{
    struct as_otf2_reading *t = user;
    int64_t ns, index = 0, threads_n = 0;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns) && find_part(t, team, &index, &threads_n))
        make_otf2_event(t, AS_TRACE_IMPLICIT, ns, ++t->parts_n, index, threads_n, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_team_end(EVENT_HEAD, OTF2_CommRef team)
{
    struct as_otf2_reading *t = user;
    int64_t ns, index = 0, threads_n = 0;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns) && find_part(t, team, &index, &threads_n))
        make_otf2_event(t, AS_TRACE_IMPLICIT_END, ns, t->parts_n, index, 0, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

/* ---- Metrics --------------------------------------------------------------------------------- */

static OTF2_CallbackCode on_otf2_values(EVENT_HEAD, OTF2_MetricRef metric, uint8_t n,
                                        const OTF2_Type *types, const OTF2_MetricValue *values)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (!begin_event(t, time, &ns))
        return OTF2_CALLBACK_SUCCESS;
    const struct as_otf2_known_metric *of = as_vec_find(&t->metric, number, metric);
    for (uint8_t i = 0; of && i < n && i < of->member.n; i++) {
        const struct as_otf2_known_metric *member =
            as_vec_find(&t->member, number, of->member.at[i]);
        int64_t value;
        memcpy(&value, &values[i], sizeof value);
        if (member)
            make_otf2_event(t, types[i] == OTF2_TYPE_DOUBLE ? AS_TRACE_EVENT : AS_TRACE_COUNTER, ns,
                            member->name, value, 0, 0, 0);
    }
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_otf2_switch(EVENT_HEAD, OTF2_MeasurementMode mode)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    if (begin_event(t, time, &ns))
        make_otf2_event(t, mode == OTF2_MEASUREMENT_OFF ? AS_TRACE_OFF : AS_TRACE_ON, ns,
                        AS_TRACE_BY_USER, 0, 0, 0, 0);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode pass_over(EVENT_HEAD)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    begin_event(t, time, &ns);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode leave_out(EVENT_HEAD)
{
    struct as_otf2_reading *t = user;
    int64_t ns;
    UNUSED_HEAD;
    t->counts->left_out_n += begin_event(t, time, &ns);
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_EvtReaderCallbacks *as_otf2_event_callbacks(void)
{
    OTF2_EvtReaderCallbacks *c = OTF2_EvtReaderCallbacks_New();
    if (!c)
        return NULL;
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, leave_out);
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_otf2_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_otf2_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, on_context_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(c, on_context_sample);
    OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_otf2_send);
    OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_otf2_isend);
    OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c, on_otf2_isend_done);
    OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_otf2_ireceive_request);
    OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_otf2_receive);
    OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_otf2_ireceive);
    OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(c, on_otf2_cancelled);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, pass_over);
    OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_otf2_collective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(c, on_otf2_icollective);
    OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_otf2_icollective_done);
    OTF2_EvtReaderCallbacks_SetRmaPutCallback(c, on_transfer);
    OTF2_EvtReaderCallbacks_SetRmaGetCallback(c, on_transfer);
    OTF2_EvtReaderCallbacks_SetRmaAtomicCallback(c, on_atomic);
    OTF2_EvtReaderCallbacks_SetRmaWinCreateCallback(c, on_window_made);
    OTF2_EvtReaderCallbacks_SetRmaWinDestroyCallback(c, on_window_freed);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveBeginCallback(c, pass_over);
    OTF2_EvtReaderCallbacks_SetRmaCollectiveEndCallback(c, on_fence);
    OTF2_EvtReaderCallbacks_SetRmaAcquireLockCallback(c, on_window_lock);
    OTF2_EvtReaderCallbacks_SetRmaReleaseLockCallback(c, on_window_unlock);
    OTF2_EvtReaderCallbacks_SetRmaSyncCallback(c, on_window_sync);
    OTF2_EvtReaderCallbacks_SetThreadForkCallback(c, on_otf2_fork);
    OTF2_EvtReaderCallbacks_SetThreadJoinCallback(c, on_otf2_join);
    OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, on_otf2_team);
    OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, on_otf2_team_end);
    OTF2_EvtReaderCallbacks_SetMetricCallback(c, on_otf2_values);
    OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, on_otf2_switch);
    return c;
}
