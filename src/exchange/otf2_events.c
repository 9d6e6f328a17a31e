/* SPDX-License-Identifier: Apache-2.0 */
/* Writes events of a trace as OTF2 events. */
#include "base/error.h"
#include "exchange/otf2_write.h"

static uint32_t as_root(int64_t root)
{
    return root >= 0 ? (uint32_t)root : OTF2_UNDEFINED_UINT32;
}

static uint64_t as_size(int64_t size_b)
{
    return size_b > 0 ? (uint64_t)size_b : 0;
}

struct otf2_at {
    struct as_otf2_writer *w;
    struct as_otf2_thread *thread;
    struct as_otf2_process *process;
    const struct as_trace_event *event;
    OTF2_TimeStamp time;
    OTF2_CommRef comm;
};

static uint32_t region_of(const struct otf2_at *at)
{
    const struct as_trace_process *process = &at->w->trace->process.at[at->thread->process];
    return at->event->name >= 0 && (uint64_t)at->event->name < process->name.n
               ? at->process->region[at->event->name]
               : 0;
}

/* ---- Requests -------------------------------------------------------------------------------- */

static struct as_otf2_request *request_in(const struct otf2_at *at,
                                          const struct as_numbered_table *requests, int64_t number)
{
    return as_numbered_find(requests, sizeof(struct as_otf2_request), at->thread->process, number);
}

static int store_otf2_request(struct as_numbered_table *requests,
                              const struct as_otf2_request *request)
{
    return as_numbered_put(requests, sizeof *request, request);
}

static struct as_otf2_request request_of_event(const struct otf2_at *at, int64_t number,
                                               uint8_t kind, OTF2_CollectiveOp op)
{
    struct as_otf2_request request = {
        .id = {at->thread->process, kind, number}, .op = op, .comm = at->comm};
    if (kind == AS_TRACE_COLLECTIVE) {
        request.root = as_root(at->event->collective.root);
        request.sent_b = as_size(at->event->collective.sent_b);
        request.received_b = as_size(at->event->collective.received_b);
    }
    return request;
}

static int open_otf2_request(const struct otf2_at *at, int64_t number, uint8_t kind,
                             OTF2_CollectiveOp op)
{
    const struct as_otf2_request request = request_of_event(at, number, kind, op);
    return store_otf2_request(&at->w->open, &request);
}

static OTF2_ErrorCode store_persistent_request(const struct otf2_at *at, int64_t number,
                                               OTF2_CollectiveOp op)
{
    const struct as_trace_event *e = at->event;
    struct as_otf2_request r = request_of_event(at, number, e->kind, op);
    if (e->kind != AS_TRACE_COLLECTIVE) {
        r.partner = (uint32_t)e->message.partner;
        r.tag = (uint32_t)e->message.tag;
        r.size_b = as_size(e->message.size_b);
        /* OTF2 has no partitioned communication. */
        if (e->message.partner == AS_TRACE_NO_RANK || (e->message.bits & AS_TRACE_PARTITIONED))
            return OTF2_SUCCESS;
    }
    return store_otf2_request(&at->w->persistent, &r) < 0 ? OTF2_ERROR_MEM_FAULT : OTF2_SUCCESS;
}

/* Starts a persistent request. */
static OTF2_ErrorCode write_otf2_start(const struct otf2_at *at)
{
    const int64_t number = at->event->request;
    const struct as_otf2_request *r = request_in(at, &at->w->persistent, number);
    if (!r)
        return OTF2_SUCCESS;
    if (r->id.kind == AS_TRACE_POST)
        return OTF2_EvtWriter_MpiIrecvRequest(at->thread->events, NULL, at->time, (uint64_t)number);
    if (store_otf2_request(&at->w->open, r) < 0)
        return OTF2_ERROR_MEM_FAULT;
    if (r->id.kind == AS_TRACE_SEND)
        return OTF2_EvtWriter_MpiIsend(at->thread->events, NULL, at->time, r->partner, r->comm,
                                       r->tag, r->size_b, (uint64_t)number);
    return OTF2_EvtWriter_NonBlockingCollectiveRequest(at->thread->events, NULL, at->time,
                                                       (uint64_t)number);
}

static OTF2_ErrorCode drop_persistent(const struct otf2_at *at)
{
    struct as_otf2_request *r = request_in(at, &at->w->persistent, at->event->request);
    if (r)
        as_numbered_drop(&at->w->persistent, sizeof *r, r);
    return OTF2_SUCCESS;
}

/* Completes a request. Returns false if its start is unknown. */
static bool finish_otf2_request(const struct otf2_at *at, int64_t number,
                                struct as_otf2_request *out)
{
    struct as_otf2_request *r = request_in(at, &at->w->open, number);
    if (!r)
        return false;
    *out = *r;
    as_numbered_drop(&at->w->open, sizeof *r, r);
    return true;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static OTF2_ErrorCode write_otf2_send(const struct otf2_at *at)
{
    const struct as_trace_event *e = at->event;
    const uint32_t to = (uint32_t)e->message.partner, tag = (uint32_t)e->message.tag;
    if (e->message.bits & AS_TRACE_PERSISTENT)
        return store_persistent_request(at, e->message.request, OTF2_COLLECTIVE_OP_BARRIER);
    if (e->message.partner < 0)
        return OTF2_SUCCESS;
    if (e->message.request == 0)
        return OTF2_EvtWriter_MpiSend(at->thread->events, NULL, at->time, to, at->comm, tag,
                                      as_size(e->message.size_b));
    if (open_otf2_request(at, e->message.request, AS_TRACE_SEND, OTF2_COLLECTIVE_OP_BARRIER) < 0)
        return OTF2_ERROR_MEM_FAULT;
    return OTF2_EvtWriter_MpiIsend(at->thread->events, NULL, at->time, to, at->comm, tag,
                                   as_size(e->message.size_b), (uint64_t)e->message.request);
}

static OTF2_ErrorCode write_otf2_post(const struct otf2_at *at)
{
    if (at->event->message.bits & AS_TRACE_PERSISTENT)
        return store_persistent_request(at, at->event->message.request, OTF2_COLLECTIVE_OP_BARRIER);
    if (at->event->message.partner == AS_TRACE_NO_RANK || at->event->message.request == 0)
        return OTF2_SUCCESS;
    return OTF2_EvtWriter_MpiIrecvRequest(at->thread->events, NULL, at->time,
                                          (uint64_t)at->event->message.request);
}

static OTF2_ErrorCode write_otf2_receive(const struct otf2_at *at)
{
    const struct as_trace_event *e = at->event;
    const uint32_t from = (uint32_t)e->message.partner, tag = (uint32_t)e->message.tag;
    if (e->message.partner < 0)
        return OTF2_SUCCESS;
    if (e->message.request == 0)
        return OTF2_EvtWriter_MpiRecv(at->thread->events, NULL, at->time, from, at->comm, tag,
                                      as_size(e->message.size_b));
    return OTF2_EvtWriter_MpiIrecv(at->thread->events, NULL, at->time, from, at->comm, tag,
                                   as_size(e->message.size_b), (uint64_t)e->message.request);
}

/* ---- Collectives --------------------------------------------------------------------------- */

static OTF2_ErrorCode begin_collective(const struct otf2_at *at, OTF2_CollectiveOp op)
{
    const int64_t request = at->event->collective.request;
    if (at->event->collective.bits & AS_TRACE_PERSISTENT)
        return store_persistent_request(at, request, op);
    if (request == 0) {
        at->thread->in_collective = true;
        at->thread->collective = *at->event;
        return OTF2_EvtWriter_MpiCollectiveBegin(at->thread->events, NULL, at->time);
    }
    if (open_otf2_request(at, request, AS_TRACE_COLLECTIVE, op) < 0)
        return OTF2_ERROR_MEM_FAULT;
    return OTF2_EvtWriter_NonBlockingCollectiveRequest(at->thread->events, NULL, at->time,
                                                       (uint64_t)request);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static uint64_t key_of_block(const struct otf2_at *at)
{
    return as_hash_mix(as_hash_mix(41, at->thread->process), (uint64_t)at->event->memory.address);
}

/* Stores the size of an allocation for its leave event and for the release of the block. */
static OTF2_ErrorCode note_allocation(const struct otf2_at *at)
{
    struct as_otf2_writer *w = at->w;
    const uint64_t key = key_of_block(at), size_b = as_size(at->event->memory.size_b);
    const uint32_t known = as_map_u64_get(&w->blocks, key);
    at->thread->allocated_b = size_b;
    if (!at->event->memory.address) /* the allocation failed */
        return OTF2_SUCCESS;
    if (known != AS_MAP_NONE) {
        w->block_b.at[known] = size_b;
        return OTF2_SUCCESS;
    }
    return as_vec_push(&w->block_b, size_b) < 0 ||
                   as_map_u64_put(&w->blocks, key, (uint32_t)w->block_b.n - 1) < 0
               ? OTF2_ERROR_MEM_FAULT
               : OTF2_SUCCESS;
}

static OTF2_ErrorCode note_release(const struct otf2_at *at)
{
    const uint32_t known = as_map_u64_get(&at->w->blocks, key_of_block(at));
    if (known != AS_MAP_NONE)
        at->thread->released_b = at->w->block_b.at[known];
    return OTF2_SUCCESS;
}

static OTF2_ErrorCode leave_with_sizes(const struct otf2_at *at, uint32_t region)
{
    OTF2_AttributeList *with = OTF2_AttributeList_New();
    OTF2_ErrorCode rc = with ? OTF2_SUCCESS : OTF2_ERROR_MEM_FAULT;
    if (rc == OTF2_SUCCESS && at->thread->allocated_b)
        rc = OTF2_AttributeList_AddUint64(with, AS_OTF2_ALLOCATED, at->thread->allocated_b);
    if (rc == OTF2_SUCCESS && at->thread->released_b)
        rc = OTF2_AttributeList_AddUint64(with, AS_OTF2_RELEASED, at->thread->released_b);
    if (rc == OTF2_SUCCESS)
        rc = OTF2_EvtWriter_Leave(at->thread->events, with, at->time, region);
    OTF2_AttributeList_Delete(with);
    at->thread->allocated_b = at->thread->released_b = 0;
    return rc;
}

static OTF2_ErrorCode write_otf2_leave(const struct otf2_at *at)
{
    const uint32_t region = region_of(at);
    if (at->thread->in_collective) {
        const struct as_trace_event *c = &at->thread->collective;
        at->thread->in_collective = false;
        OTF2_ErrorCode rc = OTF2_EvtWriter_MpiCollectiveEnd(
            at->thread->events, NULL, at->time, at->w->region.at[region].op,
            as_otf2_comm_of(at->w, at->thread->process, c->collective.comm),
            as_root(c->collective.root), as_size(c->collective.sent_b),
            as_size(c->collective.received_b));
        if (rc != OTF2_SUCCESS)
            return rc;
    }
    if (at->thread->allocated_b || at->thread->released_b)
        return leave_with_sizes(at, region);
    return OTF2_EvtWriter_Leave(at->thread->events, NULL, at->time, region);
}

static OTF2_ErrorCode write_otf2_done(const struct otf2_at *at)
{
    struct as_otf2_request r;
    const uint64_t number = (uint64_t)at->event->request;
    if (!finish_otf2_request(at, at->event->request, &r))
        return OTF2_SUCCESS;
    if (r.id.kind == AS_TRACE_SEND)
        return OTF2_EvtWriter_MpiIsendComplete(at->thread->events, NULL, at->time, number);
    return OTF2_EvtWriter_NonBlockingCollectiveComplete(
        at->thread->events, NULL, at->time, r.op, r.comm, r.root, r.sent_b, r.received_b, number);
}

/* Writes a one-sided access as put, get or atomic, by its routine. An unknown window is skipped. */
static OTF2_ErrorCode write_access(const struct otf2_at *at)
{
    const struct as_trace_event *e = at->event;
    const OTF2_RmaWinRef window = as_otf2_window_of(at->w, at->thread->process, e->access.window);
    const char *routine = at->w->region.at[at->thread->region].text;
    const uint32_t target = (uint32_t)e->access.target;
    const uint64_t size_b = as_size(e->access.size_b);
    if (window == OTF2_UNDEFINED_RMA_WIN || e->access.target < 0) {
        at->thread->events_n--;
        at->w->counts->left_out_n++;
        return OTF2_SUCCESS;
    }
    if (strcmp(routine, "MPI_Put") == 0 || strcmp(routine, "MPI_Rput") == 0)
        return OTF2_EvtWriter_RmaPut(at->thread->events, NULL, at->time, window, target, size_b, 0);
    if (strcmp(routine, "MPI_Get") == 0 || strcmp(routine, "MPI_Rget") == 0)
        return OTF2_EvtWriter_RmaGet(at->thread->events, NULL, at->time, window, target, size_b, 0);
    return OTF2_EvtWriter_RmaAtomic(at->thread->events, NULL, at->time, window, target,
                                    strcmp(routine, "MPI_Compare_and_swap") == 0
                                        ? OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP
                                        : OTF2_RMA_ATOMIC_TYPE_ACCUMULATE,
                                    size_b, 0, 0);
}

static OTF2_ErrorCode write_fence(const struct otf2_at *at, OTF2_RmaWinRef window)
{
    const OTF2_ErrorCode code =
        OTF2_EvtWriter_RmaCollectiveBegin(at->thread->events, NULL, at->time);
    return code != OTF2_SUCCESS
               ? code
               : OTF2_EvtWriter_RmaCollectiveEnd(
                     at->thread->events, NULL, at->time, OTF2_COLLECTIVE_OP_BARRIER,
                     OTF2_RMA_SYNC_LEVEL_MEMORY | OTF2_RMA_SYNC_LEVEL_PROCESS, window,
                     OTF2_UNDEFINED_UINT32, 0, 0);
}

/*
 * Writes synchronisation at a window; an unknown window is skipped. Post and start name a rank,
 * complete and wait name none. So RmaSync tells the four apart without names of routines.
 */
static OTF2_ErrorCode write_window_sync(const struct otf2_at *at)
{
    const struct as_trace_event *e = at->event;
    OTF2_EvtWriter *events = at->thread->events;
    const OTF2_RmaWinRef window = as_otf2_window_of(at->w, at->thread->process, e->sync.window);
    const uint32_t rank = e->sync.rank < 0 ? OTF2_UNDEFINED_UINT32 : (uint32_t)e->sync.rank;
    if (window == OTF2_UNDEFINED_RMA_WIN) {
        at->thread->events_n--;
        return OTF2_SUCCESS;
    }
    switch (e->sync.kind) {
    case AS_TRACE_WINDOW_MADE:
        return OTF2_EvtWriter_RmaWinCreate(events, NULL, at->time, window);
    case AS_TRACE_WINDOW_FREED:
        return OTF2_EvtWriter_RmaWinDestroy(events, NULL, at->time, window);
    case AS_TRACE_FENCE:
        return write_fence(at, window);
    case AS_TRACE_LOCK_SHARED:
        return OTF2_EvtWriter_RmaAcquireLock(events, NULL, at->time, window, rank, 0,
                                             OTF2_LOCK_SHARED);
    case AS_TRACE_LOCK_EXCLUSIVE:
        return OTF2_EvtWriter_RmaAcquireLock(events, NULL, at->time, window, rank, 0,
                                             OTF2_LOCK_EXCLUSIVE);
    case AS_TRACE_UNLOCKED:
        return OTF2_EvtWriter_RmaReleaseLock(events, NULL, at->time, window, rank, 0);
    case AS_TRACE_POSTED:
    case AS_TRACE_COMPLETED:
        return OTF2_EvtWriter_RmaSync(events, NULL, at->time, window, rank,
                                      OTF2_RMA_SYNC_TYPE_NOTIFY_OUT);
    case AS_TRACE_STARTED:
    case AS_TRACE_AWAITED:
        return OTF2_EvtWriter_RmaSync(events, NULL, at->time, window, rank,
                                      OTF2_RMA_SYNC_TYPE_NOTIFY_IN);
    default: /* a flush */
        return OTF2_EvtWriter_RmaSync(events, NULL, at->time, window, rank,
                                      OTF2_RMA_SYNC_TYPE_MEMORY);
    }
}

/* Writes a counter value. Its metric has one member and the number of its region. */
static OTF2_ErrorCode write_otf2_value(struct otf2_at *at)
{
    const OTF2_Type type = OTF2_TYPE_INT64;
    const OTF2_MetricValue value = {.signed_int = at->event->counter.value};
    return OTF2_EvtWriter_Metric(at->thread->events, NULL, at->time, region_of(at), 1, &type,
                                 &value);
}

/* ---- All ------------------------------------------------------------------------------------- */

static OTF2_ErrorCode write_otf2_event_kind(struct otf2_at *at)
{
    const struct as_trace_event *e = at->event;
    OTF2_EvtWriter *events = at->thread->events;
    at->thread->events_n++;
    switch (e->kind) {
    case AS_TRACE_ENTER:
        at->thread->is_entering = true;
        at->thread->enter_time = at->time;
        at->thread->region = region_of(at);
        return OTF2_SUCCESS;
    case AS_TRACE_CALLERS: /* as_otf2_write_event wrote them with the call */
        at->thread->events_n--;
        at->w->walked_n--;
        return OTF2_SUCCESS;
    case AS_TRACE_LEAVE:
        return write_otf2_leave(at);
    case AS_TRACE_SEND:
        return write_otf2_send(at);
    case AS_TRACE_POST:
        return write_otf2_post(at);
    case AS_TRACE_RECEIVE:
        return write_otf2_receive(at);
    case AS_TRACE_COLLECTIVE:
        return begin_collective(at, at->w->region.at[at->thread->region].op);
    case AS_TRACE_DONE:
        return write_otf2_done(at);
    case AS_TRACE_START:
        return write_otf2_start(at);
    case AS_TRACE_FREED:
        at->thread->events_n--;
        return drop_persistent(at);
    case AS_TRACE_CANCELLED:
        return OTF2_EvtWriter_MpiRequestCancelled(events, NULL, at->time, (uint64_t)e->request);
    case AS_TRACE_RMA:
        return write_access(at);
    case AS_TRACE_SYNC:
        return write_window_sync(at);
    case AS_TRACE_ALLOCATE:
    case AS_TRACE_RELEASE:
        at->thread->events_n--;
        return e->kind == AS_TRACE_ALLOCATE ? note_allocation(at) : note_release(at);
    case AS_TRACE_PARALLEL:
        return OTF2_EvtWriter_ThreadFork(events, NULL, at->time, OTF2_PARADIGM_OPENMP,
                                         (uint32_t)e->parallel.index);
    case AS_TRACE_PARALLEL_END:
        return OTF2_EvtWriter_ThreadJoin(events, NULL, at->time, OTF2_PARADIGM_OPENMP);
    case AS_TRACE_OFF:
    case AS_TRACE_ON:
        return OTF2_EvtWriter_MeasurementOnOff(events, NULL, at->time,
                                               e->kind == AS_TRACE_ON ? OTF2_MEASUREMENT_ON
                                                                      : OTF2_MEASUREMENT_OFF);
    case AS_TRACE_SAMPLE:
        return as_otf2_write_sample(at->w, at->thread, e, at->time);
    case AS_TRACE_COUNTER:
        if (as_otf2_is_metric(at->w, region_of(at)))
            return write_otf2_value(at);
        /* fall through */
    default:
        at->thread->events_n--;
        at->w->counts->left_out_n++;
        return OTF2_SUCCESS;
    }
}

int as_otf2_write_event(void *writer, uint32_t location, const struct as_trace_event *event)
{
    struct as_otf2_writer *w = writer;
    struct as_otf2_thread *thread = &w->thread.at[location];
    const uint32_t process = thread->process;
    if (!event)
        return 0;
    struct otf2_at at = {.w = w,
                         .thread = thread,
                         .process = &w->process.at[process],
                         .event = event,
                         .time = (OTF2_TimeStamp)(event->raw_ns - w->begin_ns),
                         .comm = OTF2_UNDEFINED_COMM};
    if (event->kind == AS_TRACE_SEND || event->kind == AS_TRACE_POST ||
        event->kind == AS_TRACE_RECEIVE)
        at.comm = as_otf2_comm_of(w, process, event->message.comm);
    if (event->kind == AS_TRACE_COLLECTIVE)
        at.comm = as_otf2_comm_of(w, process, event->collective.comm);
    if (event->raw_ns > w->end_ns)
        w->end_ns = event->raw_ns;
    w->walked_n++;
    OTF2_ErrorCode rc =
        as_otf2_write_enter(w, thread, event->kind == AS_TRACE_CALLERS ? event : NULL);
    if (rc == OTF2_SUCCESS)
        rc = write_otf2_event_kind(&at);
    if (rc == OTF2_SUCCESS)
        return 0;
    return as_error_set(w->err, rc == OTF2_ERROR_MEM_FAULT ? AS_ERR_NOMEM : AS_ERR_IO,
                        "the OTF2 archive: an event cannot be written: %s",
                        OTF2_Error_GetDescription(rc));
}
