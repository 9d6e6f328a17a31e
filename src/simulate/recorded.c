/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a rank's thread become actions. Records of a call count when it is left. */
#include "simulate/recorded_state.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "simulate/machine.h"

#define UNRESOLVED UINT32_MAX /* partner: a wildcard; its receive is not complete yet */
#define NO_NUMBER  UINT8_MAX

struct recorded_step {
    struct recorded_reader *reader;
    struct recorded_thread *thread;
    uint32_t rank;
    int64_t ns;
    struct as_error *err;
};

/* ---- Routines -------------------------------------------------------------------------------- */

/* Longer names before those that they begin with. */
static uint8_t collective_of_routine(const char *routine)
{
    static const struct {
        const char *begins;
        uint8_t number;
    } names[] = {
        {"barrier", AS_COLLECTIVE_BARRIER},
        {"bcast", AS_COLLECTIVE_BCAST},
        {"gatherv", AS_COLLECTIVE_GATHERV},
        {"gather", AS_COLLECTIVE_GATHER},
        {"scatterv", AS_COLLECTIVE_SCATTERV},
        {"scatter", AS_COLLECTIVE_SCATTER},
        {"allgatherv", AS_COLLECTIVE_ALLGATHERV},
        {"allgather", AS_COLLECTIVE_ALLGATHER},
        {"alltoallv", AS_COLLECTIVE_ALLTOALLV},
        {"alltoallw", AS_COLLECTIVE_ALLTOALLW},
        {"alltoall", AS_COLLECTIVE_ALLTOALL},
        {"reduce_scatter_block", AS_COLLECTIVE_REDUCE_SCATTER_BLOCK},
        {"reduce_scatter", AS_COLLECTIVE_REDUCE_SCATTER},
        {"reduce", AS_COLLECTIVE_REDUCE},
        {"allreduce", AS_COLLECTIVE_ALLREDUCE},
        {"scan", AS_COLLECTIVE_SCAN},
        {"exscan", AS_COLLECTIVE_SCAN},
    };
    const char *name = strncasecmp(routine, "MPI_", 4) == 0 ? routine + 4 : routine;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t n = strlen(names[i].begins);
        if (strncasecmp(name, names[i].begins, n) == 0 ||
            ((*name == 'I' || *name == 'i') && strncasecmp(name + 1, names[i].begins, n) == 0))
            return names[i].number;
    }
    return NO_NUMBER;
}

static uint32_t speed_name_of(const struct recorded_reader *reader, const char *text)
{
    for (size_t i = 0; i < reader->name_n; i++)
        if (reader->name[i] && strcmp(reader->name[i], text) == 0) {
            if (reader->recorded->name_found_n[i] < UINT32_MAX)
                reader->recorded->name_found_n[i]++;
            return (uint32_t)i + 1;
        }
    return 0;
}

static uint32_t region_of(const struct recorded_reader *reader, const char *text)
{
    for (size_t i = 0; i < reader->region_n; i++)
        if (strcmp(reader->region[i], text) == 0)
            return (uint32_t)i + 1;
    return 0;
}

/* ---- Communicators --------------------------------------------------------------------------- */

/* The communicator of a record. NULL: not defined. */
static const struct as_trace_comm *find_recorded_comm(const struct recorded_step *r, int64_t number,
                                                      uint32_t *place)
{
    const struct as_trace_comm *comm = as_trace_comm_of(r->thread->process, number);
    const uint32_t found =
        comm && comm->global ? as_recorded_place(r->reader, comm->global) : AS_RECORDED_NO_PLACE;
    *place = found == AS_RECORDED_NO_PLACE ? 0 : found;
    return comm;
}

/* World rank of a partner; UNRESOLVED: not known. */
static uint32_t partner_rank(const struct recorded_step *r, const struct as_trace_comm *comm,
                             int64_t partner)
{
    if (!comm || partner < 0 || (uint64_t)partner >= comm->member_n ||
        comm->member[partner] >= r->reader->thread.n)
        return UNRESOLVED;
    return (uint32_t)comm->member[partner];
}

/* ---- Actions --------------------------------------------------------------------------------- */

static int add_action(const struct recorded_step *r, const struct as_action *action)
{
    return as_vec_push(&r->thread->queue, *action) < 0
               ? as_error_nomem(r->err, "the actions of a rank")
               : 0;
}

/* Adds the time since it was last outside MPI; bursts of one speed become one. */
static int add_burst(const struct recorded_step *r)
{
    struct recorded_thread *t = r->thread;
    const int64_t ns = r->ns - t->since_ns;
    t->since_ns = r->ns;
    if (ns <= 0 || t->is_off || t->mpi_depth)
        return 0;
    r->reader->recorded->rank.at[r->rank].computing_ns += ns;
    struct as_action *last = t->queue.n > t->queue_at ? &t->queue.at[t->queue.n - 1] : NULL;
    if (last && last->kind == AS_ACTION_COMPUTE && last->name == t->speed_name &&
        last->ns + ns < AS_ACTION_NS_MAX) {
        last->ns += ns;
        return 0;
    }
    const struct as_action burst = {.kind = AS_ACTION_COMPUTE,
                                    .name = t->speed_name,
                                    .ns = ns < AS_ACTION_NS_MAX ? ns : AS_ACTION_NS_MAX};
    return add_action(r, &burst);
}

/* The time of the run at the event that was read last. */
static int add_mark(const struct recorded_step *r)
{
    const struct as_recorded *since = r->reader->marked_since;
    return since && r->ns >= since->rank.at[r->rank].begin_ns
               ? add_action(r, &(struct as_action){.kind = AS_ACTION_MARK,
                                                   .ns = r->ns,
                                                   .request = r->thread->events_n})
               : 0;
}

static int add_region_mark(const struct recorded_step *r, uint32_t region, int32_t tag)
{
    return add_action(
        r, &(struct as_action){.kind = AS_ACTION_MARK, .tag = tag, .name = region, .ns = r->ns});
}

static int64_t bounded_size(int64_t size_b)
{
    return size_b < 0 ? 0 : size_b < AS_ACTION_SIZE_B_MAX ? size_b : AS_ACTION_SIZE_B_MAX - 1;
}

/* An operation begins. One without a known partner holds back all that follow. */
static int begin_operation(const struct recorded_step *r, const struct as_action *action,
                           struct recorded_request *request)
{
    struct recorded_thread *t = r->thread;
    if (action->kind == AS_ACTION_RECEIVE && action->partner == UNRESOLVED) {
        request->unresolved = t->queue_first + t->queue.n + 1;
        t->unresolved_n++;
    }
    return add_action(r, action);
}

static int store_recorded_request(const struct recorded_step *r,
                                  const struct recorded_request *request)
{
    return as_numbered_put(&r->reader->requests, sizeof *request, request) < 0
               ? as_error_nomem(r->err, "the requests")
               : 0;
}

static int add_operation(const struct recorded_step *r, const struct as_action *action,
                         bool is_persistent)
{
    struct recorded_request request = {
        .id = {r->rank, 1, action->request}, .is_persistent = is_persistent, .action = *action};
    if (!is_persistent)
        AS_TRY(begin_operation(r, action, &request));
    return is_persistent || request.unresolved ? store_recorded_request(r, &request) : 0;
}

static struct recorded_request *find_recorded_request(const struct recorded_step *r, int64_t number)
{
    return as_numbered_find(&r->reader->requests, sizeof(struct recorded_request), r->rank, number);
}

/* The action that waits for its partner gets it, or has no effect. */
static void resolve_receive(const struct recorded_step *r, struct recorded_request *request,
                            uint32_t partner, int64_t tag)
{
    struct recorded_thread *t = r->thread;
    if (!request->unresolved)
        return;
    struct as_action *action = &t->queue.at[request->unresolved - 1 - t->queue_first];
    action->partner = partner;
    action->tag = (int32_t)tag;
    if (partner == UNRESOLVED)
        *action = (struct as_action){.kind = AS_ACTION_FORGET};
    request->unresolved = 0;
    t->unresolved_n--;
}

static int add_wait(const struct recorded_step *r, int64_t request)
{
    return add_action(r, &(struct as_action){.kind = AS_ACTION_WAIT, .request = request});
}

static void end_recorded_request(const struct recorded_step *r, struct recorded_request *request)
{
    if (!request->is_persistent)
        as_numbered_drop(&r->reader->requests, sizeof *request, request);
}

/* ---- What a call says ------------------------------------------------------------------------ */

static int refuse_rank(const struct recorded_step *r, const char *why, const char *fix)
{
    return as_error_set(r->err, AS_ERR_UNSUPPORTED, "rank %u: %s; %s", r->rank, why, fix);
}

static int on_send(const struct recorded_step *r, const struct recorded_event *said,
                   int64_t request)
{
    struct as_action action = {.kind = AS_ACTION_SEND,
                               .tag = (int32_t)said->field[1],
                               .sent_b = bounded_size(said->field[2]),
                               .request = request,
                               .is_synchronous = said->field[5] & AS_TRACE_SYNCHRONOUS};
    const struct as_trace_comm *comm = find_recorded_comm(r, said->field[3], &action.comm);
    action.partner = partner_rank(r, comm, said->field[0]);
    if (said->field[5] & AS_TRACE_PARTITIONED)
        return refuse_rank(r, "partitioned messages cannot be simulated",
                           "use a program without MPI_Psend_init");
    if (action.partner == UNRESOLVED)
        return 0; /* to MPI_PROC_NULL */
    if (said->field[5] & AS_TRACE_BUFFERED)
        action.request = AS_REQUEST_DETACHED;
    return add_operation(r, &action, said->field[5] & AS_TRACE_PERSISTENT);
}

/* A receive that does not block. */
static int on_post(const struct recorded_step *r, const struct recorded_event *said)
{
    struct as_action action = {
        .kind = AS_ACTION_RECEIVE, .tag = (int32_t)said->field[1], .request = said->field[4]};
    const struct as_trace_comm *comm = find_recorded_comm(r, said->field[3], &action.comm);
    if (said->field[4] == 0 || said->field[0] == AS_TRACE_NO_RANK)
        return 0;
    if (said->field[5] & AS_TRACE_PARTITIONED)
        return refuse_rank(r, "partitioned messages cannot be simulated",
                           "use a program without MPI_Precv_init");
    const bool is_wild = said->field[0] == AS_TRACE_ANY || said->field[1] == AS_TRACE_ANY;
    action.partner = is_wild ? UNRESOLVED : partner_rank(r, comm, said->field[0]);
    if (!is_wild && action.partner == UNRESOLVED)
        return 0;
    return add_operation(r, &action, said->field[5] & AS_TRACE_PERSISTENT);
}

/* It is complete: by the call that asked for it, or by a wait. */
static int on_receive(const struct recorded_step *r, const struct recorded_event *said,
                      int64_t request)
{
    struct as_action action = {
        .kind = AS_ACTION_RECEIVE, .tag = (int32_t)said->field[1], .request = request};
    const struct as_trace_comm *comm = find_recorded_comm(r, said->field[3], &action.comm);
    action.partner = partner_rank(r, comm, said->field[0]);
    if (said->field[4] == 0)
        return action.partner == UNRESOLVED ? 0 : add_action(r, &action);
    struct recorded_request *found = find_recorded_request(r, said->field[4]);
    if (found) {
        resolve_receive(r, found, action.partner, said->field[1]);
        end_recorded_request(r, found);
    }
    return add_wait(r, said->field[4]);
}

static int on_collective(const struct recorded_step *r, const struct recorded_event *said)
{
    struct as_action action = {.kind = AS_ACTION_COLLECTIVE,
                               .collective = collective_of_routine(r->thread->routine),
                               .sent_b = bounded_size(said->field[3]),
                               .received_b = bounded_size(said->field[4]),
                               .request = said->field[1]};
    const struct as_trace_comm *comm = find_recorded_comm(r, said->field[0], &action.comm);
    if (comm && comm->size == 1 && !(comm->bits & AS_TRACE_INTER))
        return 0;
    if (action.collective == NO_NUMBER || (comm && (comm->bits & AS_TRACE_INTER))) {
        r->reader->recorded->neighbours_n++;
        return 0;
    }
    if (!comm || action.comm == 0 || (comm->bits & AS_TRACE_CUT))
        return refuse_rank(r, "the members of a communicator are unknown",
                           "record all ranks of the program");
    const bool is_each = action.collective == AS_COLLECTIVE_ALLTOALL ||
                         action.collective == AS_COLLECTIVE_ALLTOALLV ||
                         action.collective == AS_COLLECTIVE_ALLTOALLW;
    if (is_each) { /* models count messages to each of the others */
        action.sent_b /= (int64_t)comm->size;
        action.received_b /= (int64_t)comm->size;
    }
    return add_operation(r, &action, said->field[5] & AS_TRACE_PERSISTENT);
}

static int on_start(const struct recorded_step *r, int64_t number)
{
    struct recorded_request *request = find_recorded_request(r, number);
    if (!request || !request->is_persistent)
        return 0;
    const struct as_action action = request->action;
    return begin_operation(r, &action, request);
}

static int on_given_up(const struct recorded_step *r, const struct recorded_event *said)
{
    struct recorded_request *request = find_recorded_request(r, said->field[0]);
    if (request) {
        resolve_receive(r, request, UNRESOLVED, 0);
        request->is_persistent &= said->kind != AS_TRACE_FREED;
        end_recorded_request(r, request);
    }
    return add_action(r, &(struct as_action){.kind = AS_ACTION_FORGET, .request = said->field[0]});
}

static int on_recorded_event(const struct recorded_step *r, const struct recorded_event *said,
                             int64_t request)
{
    switch (said->kind) {
    case AS_TRACE_SEND:
        return on_send(r, said, said->field[4] ? said->field[4] : request);
    case AS_TRACE_POST:
        return on_post(r, said);
    case AS_TRACE_RECEIVE:
        return on_receive(r, said, request);
    case AS_TRACE_COLLECTIVE:
        return on_collective(r, said);
    case AS_TRACE_START:
        return on_start(r, said->field[0]);
    case AS_TRACE_DONE:
        return add_wait(r, said->field[0]);
    default:
        return on_given_up(r, said);
    }
}

/* MPI_Sendrecv sends and receives at once: both begin, then it waits for both. */
static bool is_send_and_receive(const struct recorded_thread *t)
{
    bool sends = false, receives = false;
    as_vec_foreach (&t->said, said) {
        sends |= said->kind == AS_TRACE_SEND && said->field[4] == 0;
        receives |= said->kind == AS_TRACE_RECEIVE && said->field[4] == 0;
    }
    return sends && receives;
}

/* A collective that says nothing of its communicator. */
static bool is_unnamed(const struct recorded_thread *t)
{
    const size_t n = strlen(t->routine);
    bool is_named = collective_of_routine(t->routine) == NO_NUMBER ||
                    strcmp(t->routine, "MPI_Reduce_local") == 0 ||
                    (n > 5 && strcmp(t->routine + n - 5, "_init") == 0);
    as_vec_foreach (&t->said, said)
        is_named |= said->kind == AS_TRACE_COLLECTIVE;
    return !is_named;
}

static int leave_call(const struct recorded_step *r)
{
    struct recorded_thread *t = r->thread;
    if (t->is_collective && is_unnamed(t))
        r->reader->recorded->unnamed_n++;
    const bool is_both = is_send_and_receive(t);
    const int64_t first = t->temporary_n;
    as_vec_foreach (&t->said, said) {
        const bool is_message = said->kind == AS_TRACE_SEND || said->kind == AS_TRACE_RECEIVE;
        const bool is_one = is_both && is_message && said->field[4] == 0;
        AS_TRY(on_recorded_event(r, said, is_one ? -2 - t->temporary_n++ : AS_REQUEST_BLOCKING));
    }
    for (int64_t i = first; i < t->temporary_n; i++)
        AS_TRY(add_wait(r, -2 - i));
    t->said.n = 0;
    return 0;
}

/* ---- Events ---------------------------------------------------------------------------------- */

static void begin_again(const struct recorded_step *r)
{
    struct recorded_thread *t = r->thread;
    struct as_recorded_rank *rank = &r->reader->recorded->rank.at[r->rank];
    t->queue.n = t->queue_at;
    rank->begin_ns = r->ns;
    rank->computing_ns = 0;
}

static int on_enter(const struct recorded_step *r, const struct as_trace_event *event)
{
    struct recorded_thread *t = r->thread;
    const struct as_trace_name name = as_trace_name_of(t->process, event->name);
    struct recorded_frame frame = {
        .name = event->name, .speed_name = t->speed_name, .is_mpi = as_trace_is_mpi(name.group)};
    const bool is_first = frame.is_mpi && t->mpi_depth == 0;
    const uint32_t speed_name = name.group == AS_TRACE_OF_USER && r->reader->name_n
                                    ? speed_name_of(r->reader, name.text)
                                    : 0;
    if (name.group == AS_TRACE_OF_USER && r->reader->region_n)
        frame.region = region_of(r->reader, name.text);
    if (is_first || speed_name || frame.region) {
        AS_TRY(add_burst(r));
        AS_TRY(add_mark(r));
    }
    if (frame.region)
        AS_TRY(add_region_mark(r, frame.region, 1));
    if (is_first) {
        t->routine = name.text;
        t->is_collective = name.group == AS_TRACE_OF_MPI_COLLECTIVE;
        t->is_init = strncmp(name.text, "MPI_Init", 8) == 0 && strlen(name.text) < 16;
        t->is_init &= name.text[8] == 0 || name.text[8] == '_';
    }
    if (is_first && strcmp(name.text, "MPI_Finalize") == 0)
        t->is_over = true;
    t->mpi_depth += frame.is_mpi;
    if (speed_name)
        t->speed_name = speed_name;
    return as_vec_push(&t->frame, frame) < 0 ? as_error_nomem(r->err, "the calls") : 0;
}

static int leave_recorded_frame(const struct recorded_step *r)
{
    struct recorded_thread *t = r->thread;
    const struct recorded_frame frame = t->frame.at[t->frame.n - 1];
    if (t->speed_name != frame.speed_name || frame.region) {
        AS_TRY(add_burst(r));
        AS_TRY(add_mark(r));
    }
    if (frame.region)
        AS_TRY(add_region_mark(r, frame.region, -1));
    t->frame.n--;
    t->speed_name = frame.speed_name;
    if (!frame.is_mpi || --t->mpi_depth)
        return 0;
    t->since_ns = r->ns;
    if (t->is_init)
        begin_again(r);
    AS_TRY(leave_call(r));
    return add_mark(r);
}

static int on_leave(const struct recorded_step *r, const struct as_trace_event *event)
{
    struct recorded_thread *t = r->thread;
    size_t at = t->frame.n;
    while (at > 0 && t->frame.at[at - 1].name != event->name)
        at--;
    while (at > 0 && t->frame.n >= at)
        AS_TRY(leave_recorded_frame(r));
    return 0;
}

static int on_off(const struct recorded_step *r, bool is_off)
{
    AS_TRY(add_burst(r));
    AS_TRY(add_mark(r));
    r->reader->recorded->off_n += is_off && !r->thread->is_off;
    r->thread->is_off = is_off;
    return 0;
}

static int store_recorded_event(const struct recorded_step *r, const struct as_trace_event *event)
{
    struct recorded_event said = {.kind = event->kind};
    memcpy(said.field, event->field, sizeof said.field);
    return as_vec_push(&r->thread->said, said) < 0 ? as_error_nomem(r->err, "a call") : 0;
}

static int on_event(const struct recorded_step *r, const struct as_trace_event *event)
{
    switch (event->kind) {
    case AS_TRACE_ENTER:
        return on_enter(r, event);
    case AS_TRACE_LEAVE:
        return on_leave(r, event);
    case AS_TRACE_SEND:
    case AS_TRACE_POST:
    case AS_TRACE_RECEIVE:
    case AS_TRACE_COLLECTIVE:
    case AS_TRACE_START:
    case AS_TRACE_DONE:
    case AS_TRACE_CANCELLED:
    case AS_TRACE_FREED:
        return store_recorded_event(r, event);
    case AS_TRACE_RMA:
    case AS_TRACE_SYNC:
        r->reader->recorded->one_sided_n++;
        return 0;
    case AS_TRACE_OFF:
    case AS_TRACE_ON:
        return on_off(r, event->kind == AS_TRACE_OFF);
    case AS_TRACE_MISSED:
        return refuse_rank(r, "it sent or received messages while recording was off",
                           "record the whole run");
    case AS_TRACE_TRAFFIC:
        return refuse_rank(r, "its calls are sums", "record the run without --burst");
    default:
        return 0;
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int end_thread(const struct recorded_step *r)
{
    struct recorded_thread *t = r->thread;
    const struct as_trace_stream_facts *facts = as_trace_stream_facts(t->stream);
    AS_TRY(add_burst(r));
    AS_TRY(add_mark(r));
    t->is_over = true;
    r->reader->recorded->damaged_n += facts->damaged_n + facts->lost_n;
    for (size_t i = t->queue_at; t->unresolved_n && i < t->queue.n; i++)
        if (t->queue.at[i].kind == AS_ACTION_RECEIVE && t->queue.at[i].partner == UNRESOLVED) {
            t->queue.at[i] = (struct as_action){.kind = AS_ACTION_FORGET};
            t->unresolved_n--;
        }
    return 0;
}

static int read_event(struct recorded_step *r)
{
    struct recorded_thread *t = r->thread;
    struct as_recorded_rank *rank = &r->reader->recorded->rank.at[r->rank];
    struct as_trace_event event;
    const int rc = as_trace_stream_next(t->stream, &event, r->err);
    if (rc < 0)
        return rc;
    if (rc == 0) {
        r->ns = rank->end_ns;
        return end_thread(r);
    }
    r->ns = event.raw_ns;
    if (!t->has_begun) {
        rank->begin_ns = t->since_ns = r->ns;
        t->has_begun = true;
    }
    rank->end_ns = r->ns;
    t->events_n++;
    AS_TRY(on_event(r, &event));
    return t->is_over ? end_thread(r) : 0;
}

/* Hands over the front, up to an unknown partner. The last burst may still become longer. */
static size_t hand_over(struct recorded_thread *t, struct as_action *out, size_t capacity)
{
    size_t n = t->queue.n - t->queue_at;
    if (n && !t->is_over && t->queue.at[t->queue.n - 1].kind == AS_ACTION_COMPUTE)
        n--;
    n = n < capacity ? n : capacity;
    for (size_t i = 0; t->unresolved_n && i < n; i++)
        if (t->queue.at[t->queue_at + i].kind == AS_ACTION_RECEIVE &&
            t->queue.at[t->queue_at + i].partner == UNRESOLVED)
            n = i;
    if (n)
        memcpy(out, t->queue.at + t->queue_at, n * sizeof *out);
    t->queue_at += n;
    if (2 * t->queue_at >= t->queue.n && t->queue_at) {
        t->queue_first += t->queue_at;
        t->queue.n -= t->queue_at;
        memmove(t->queue.at, t->queue.at + t->queue_at, t->queue.n * sizeof *out);
        t->queue_at = 0;
    }
    return n;
}

int as_recorded_read(void *context, uint32_t rank, struct as_action *out, size_t capacity,
                     size_t *n, struct as_error *err)
{
    struct recorded_reader *reader = context;
    struct recorded_thread *t = &reader->thread.at[rank];
    struct recorded_step r = {.reader = reader, .thread = t, .rank = rank, .err = err};
    int64_t *name_ns = reader->recorded->name_ns;
    *n = 0;
    for (size_t want = capacity + 1; *n == 0; want = t->queue.n - t->queue_at + capacity) {
        while (!t->is_over && t->queue.n - t->queue_at < want)
            AS_TRY(read_event(&r));
        *n = hand_over(t, out, capacity);
        if (t->is_over && t->queue.n == t->queue_at)
            break;
    }
    for (size_t i = 0; reader->name_n && i < *n; i++)
        if (out[i].kind == AS_ACTION_COMPUTE && out[i].name)
            name_ns[out[i].name - 1] += out[i].ns;
    return 0;
}
