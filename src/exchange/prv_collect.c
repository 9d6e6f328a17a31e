/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the content of a Paraver file: events, calls, states and communications. */
#include <string.h>

#include "base/error.h"
#include "exchange/prv_write.h"

/* ---- Events ---------------------------------------------------------------------------------- */

/* Returns the number of a state or communication. */
static uint64_t number_found(struct as_prv_writer *w)
{
    const uint64_t most = (UINT64_C(1) << AS_PRV_FOUND_BITS) - 1;
    const uint64_t since_n = w->since_event_n < most ? w->since_event_n++ : most;
    return w->counts->events_n << AS_PRV_FOUND_BITS | since_n;
}

static int store_prv_call(struct as_prv_writer *w, uint32_t location,
                          const struct as_trace_event *event)
{
    struct as_prv_call call = {0};
    if (event->kind == AS_TRACE_ENTER)
        w->thread.at[location].routine = event->name;
    if (as_prv_call_of(w, w->thread.at[location].process, event->name, &call) < 0)
        return as_error_nomem(w->err, "routines of a trace");
    if (!call.type)
        return 0;
    const bool begins = event->kind == AS_TRACE_ENTER;
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, call.type, begins ? call.value : 0));
    return call.kernel ? as_prv_store_event(w, location, event->raw_ns, AS_PRV_OPENCL_KERNEL,
                                            begins ? call.kernel : 0)
                       : 0;
}

/* Bytes between host and device, of a call or on a queue. */
static int store_prv_device(struct as_prv_writer *w, uint32_t location,
                            const struct as_trace_event *event)
{
    const unsigned kind = (unsigned)event->field[0] & AS_TRACE_DEVICE_KIND;
    const bool is_moved = event->field[0] & (AS_TRACE_TO_DEVICE | AS_TRACE_TO_HOST);
    if (!is_moved || !event->list_n ||
        (kind != AS_TRACE_DEVICE_ENQUEUED && kind != AS_TRACE_DEVICE_WORK))
        return 0;
    return as_prv_store_event(w, location, event->raw_ns, AS_PRV_OPENCL_SIZE,
                              (int64_t)event->list[0]);
}

enum { REQUEST_OPEN = 1, REQUEST_DONE };

static uint64_t key_of_request(const struct as_prv_writer *w, uint32_t location, int64_t request)
{
    return as_hash_mix(as_hash_mix(31, w->thread.at[location].process), (uint64_t)request);
}

static int store_prv_request(struct as_prv_writer *w, uint32_t location,
                             const struct as_trace_event *event)
{
    const int64_t request = event->collective.request;
    if (!request || (event->collective.bits & AS_TRACE_PERSISTENT))
        return 0;
    if (as_map_u64_put(&w->requests, key_of_request(w, location, request), REQUEST_OPEN) < 0)
        return as_error_nomem(w->err, "requests of a trace");
    return as_prv_store_event(w, location, event->raw_ns, AS_PRV_GROUP_REQUEST, request);
}

static int store_prv_collective(struct as_prv_writer *w, uint32_t location,
                                const struct as_trace_event *event)
{
    const struct as_trace_process *process = &w->trace->process.at[w->thread.at[location].process];
    const struct as_trace_comm *comm = as_trace_comm_of(process, event->collective.comm);
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_GROUP_SENT,
                              event->collective.sent_b));
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_GROUP_RECEIVED,
                              event->collective.received_b));
    if (comm && event->collective.root >= 0 && event->collective.root == comm->rank)
        AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_GROUP_ROOT, 1));
    if (!comm)
        return 0;
    int64_t number = as_prv_comm_number(w, comm->global);
    if (number < 0)
        return as_error_nomem(w->err, "communicators of a trace");
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_GROUP_COMM, number));
    return store_prv_request(w, location, event);
}

/* Stores the end of a nonblocking collective. Messages have their end in their line. */
static int store_prv_done(struct as_prv_writer *w, uint32_t location,
                          const struct as_trace_event *event)
{
    const uint64_t key = key_of_request(w, location, event->request);
    if (as_map_u64_get(&w->requests, key) != REQUEST_OPEN)
        return 0;
    if (as_map_u64_put(&w->requests, key, REQUEST_DONE) < 0)
        return as_error_nomem(w->err, "requests of a trace");
    return as_prv_store_event(w, location, event->raw_ns, AS_PRV_GROUP_REQUEST, event->request);
}

static int store_prv_memory(struct as_prv_writer *w, uint32_t location,
                            const struct as_trace_event *event)
{
    if (event->kind == AS_TRACE_RELEASE)
        return as_prv_store_event(w, location, event->raw_ns, AS_PRV_MEMORY_IN,
                                  event->memory.address);
    AS_TRY(
        as_prv_store_event(w, location, event->raw_ns, AS_PRV_MEMORY_SIZE, event->memory.size_b));
    return as_prv_store_event(w, location, event->raw_ns, AS_PRV_MEMORY_OUT, event->memory.address);
}

static int store_prv_file_event(struct as_prv_writer *w, uint32_t location,
                                const struct as_trace_event *event)
{
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_FILE_NUMBER, event->io.fd));
    if (event->kind != AS_TRACE_IO)
        return 0;
    return as_prv_store_event(w, location, event->raw_ns, AS_PRV_FILE_SIZE, event->io.size_b);
}

/* Returns a real value in millionths, because the file has integers. */
static int64_t millionths_of(int64_t bits)
{
    double real;
    __builtin_memcpy(&real, &bits, sizeof real);
    real *= 1e6;
    return real > -9e18 && real < 9e18 ? (int64_t)(real < 0 ? real - 0.5 : real + 0.5) : 0;
}

static int store_prv_counter(struct as_prv_writer *w, uint32_t location,
                             const struct as_trace_event *event)
{
    const struct as_trace_process *process = &w->trace->process.at[w->thread.at[location].process];
    const bool is_real = event->kind == AS_TRACE_EVENT;
    struct as_prv_counter *counter =
        as_prv_counter_of(w, as_trace_name_of(process, event->name).text, is_real);
    int64_t value = event->counter.value;
    if (!counter)
        return as_error_nomem(w->err, "counters of a trace");
    if (counter->latest) { /* the trace has totals, the file increments */
        value = (int64_t)((uint64_t)value - (uint64_t)counter->latest[location]);
        counter->latest[location] = event->counter.value;
    }
    return as_prv_store_event(w, location, event->raw_ns, counter->type,
                              is_real ? millionths_of(value) : value);
}

/* ---- Calls that stand for several ------------------------------------------------------------ */

/* Returns the event type of the count. The type of the time is the next one. */
static int64_t count_type_of(const char *routine)
{
    static const struct {
        const char *begin;
        int64_t type;
    } types[] = {{"MPI_Iprobe", AS_PRV_IPROBE_N},
                 {"MPI_Request_get_status", AS_PRV_GET_STATUS_N},
                 {"MPI_Improbe", AS_PRV_IMPROBE_N},
                 {"MPI_Test", AS_PRV_TEST_N}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(routine, types[i].begin, strlen(types[i].begin)) == 0)
            return types[i].type;
    return AS_PRV_SUM_N;
}

static int store_prv_repeated(struct as_prv_writer *w, uint32_t location,
                              const struct as_trace_event *event)
{
    const struct as_prv_thread *thread = &w->thread.at[location];
    const int64_t type = count_type_of(
        as_trace_name_of(&w->trace->process.at[thread->process], thread->routine).text);
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_SUM_LONGEST,
                              event->repeated.longest_ns));
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, type, event->repeated.calls));
    return as_prv_store_event(w, location, event->raw_ns, type + 1, event->repeated.inside_ns);
}

static int store_prv_traffic(struct as_prv_writer *w, uint32_t location,
                             const struct as_trace_event *event)
{
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_SUM_SENT, event->traffic.sent_b));
    return as_prv_store_event(w, location, event->raw_ns, AS_PRV_SUM_RECEIVED,
                              event->traffic.received_b);
}

static int store_prv_access(struct as_prv_writer *w, uint32_t location,
                            const struct as_trace_event *event)
{
    AS_TRY(as_prv_store_event(w, location, event->raw_ns, AS_PRV_RMA_SIZE, event->access.size_b));
    return as_prv_store_event(w, location, event->raw_ns, AS_PRV_RMA_TARGET, event->access.target);
}

static int collect_event(void *context, uint32_t location, const struct as_trace_event *event)
{
    struct as_prv_writer *w = context;
    if (event->raw_ns > w->end_ns)
        w->end_ns = event->raw_ns;
    switch (event->kind) {
    case AS_TRACE_ENTER:
    case AS_TRACE_LEAVE:
        return store_prv_call(w, location, event);
    case AS_TRACE_COLLECTIVE:
        return store_prv_collective(w, location, event);
    case AS_TRACE_DONE:
        return store_prv_done(w, location, event);
    case AS_TRACE_ALLOCATE:
    case AS_TRACE_RELEASE:
        return store_prv_memory(w, location, event);
    case AS_TRACE_IO:
    case AS_TRACE_FILE_OPEN:
    case AS_TRACE_FILE_CLOSE:
        return store_prv_file_event(w, location, event);
    case AS_TRACE_EVENT:
    case AS_TRACE_COUNTER:
        return store_prv_counter(w, location, event);
    case AS_TRACE_SAMPLE:
        return as_prv_store_sample(w, location, event);
    case AS_TRACE_CALLERS:
        return as_prv_store_callers(w, location, event);
    case AS_TRACE_REPEATED:
        return store_prv_repeated(w, location, event);
    case AS_TRACE_TRAFFIC:
        return store_prv_traffic(w, location, event);
    case AS_TRACE_RMA:
        return store_prv_access(w, location, event);
    case AS_TRACE_DEVICE:
        return store_prv_device(w, location, event);
    case AS_TRACE_OFF:
    case AS_TRACE_ON:
        return as_prv_store_event(w, location, event->raw_ns, AS_PRV_TRACING,
                                  event->kind == AS_TRACE_ON);
    default:
        return as_prv_store_threads(w, location, event);
    }
}

/* ---- States ---------------------------------------------------------------------------------- */

static int hand_on_state(struct as_prv_writer *w, uint32_t location)
{
    struct as_prv_interval *open = &w->open_state[location];
    if (open->state == AS_PRV_NO_STATE)
        return 0;
    open->number = number_found(w);
    w->counts->states_n++;
    return as_prv_states_add(w->states, open, w->err);
}

static int collect_stretch(void *context, uint32_t location, enum as_activity activity,
                           const char *routine, uint32_t group, int64_t begin_ns, int64_t end_ns)
{
    struct as_prv_writer *w = context;
    struct as_prv_interval *open = &w->open_state[location];
    const uint32_t state = (uint32_t)as_prv_state_of(w, activity, routine, group);
    if (end_ns > w->end_ns)
        w->end_ns = end_ns;
    if (open->state == state && open->end_ns == begin_ns - w->begin_ns) {
        open->end_ns = end_ns - w->begin_ns;
        return 0;
    }
    AS_TRY(hand_on_state(w, location));
    *open = (struct as_prv_interval){.ns = begin_ns - w->begin_ns,
                                     .location = location,
                                     .end_ns = end_ns - w->begin_ns,
                                     .state = state};
    return 0;
}

/* ---- Communications -------------------------------------------------------------------------- */

static int collect_message(void *context, const struct as_message *message)
{
    struct as_prv_writer *w = context;
    const struct as_prv_message record = {.ns = message->send.begin_ns - w->begin_ns,
                                          .sent_ns = message->send.leave_ns - w->begin_ns,
                                          .number = number_found(w),
                                          .location = message->send.location,
                                          .asked_ns = message->receive.begin_ns - w->begin_ns,
                                          .received_ns = message->receive.leave_ns - w->begin_ns,
                                          .size_b = message->sent_b,
                                          .tag = message->tag,
                                          .to = message->receive.location};
    w->counts->communications_n++;
    return as_ordered_add(w->messages, &record, w->err);
}

int as_prv_collect(struct as_prv_writer *w, struct as_error *err)
{
    const struct as_analysis_watch watch = {.context = w,
                                            .event = collect_event,
                                            .stretch = collect_stretch,
                                            .message = collect_message,
                                            .is_all = true};
    struct as_analysis analysis;
    w->err = err;
    AS_TRY(as_analyse_trace(w->trace, &watch, &analysis, err));
    w->counts->unmatched_n = analysis.messages.sends_n + analysis.messages.receives_n;
    as_analysis_fini(&analysis);
    for (uint32_t l = 0; l < w->thread.n; l++)
        AS_TRY(hand_on_state(w, l));
    return 0;
}
