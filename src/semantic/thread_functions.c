/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the records of one thread (or of one CPU): states, events, messages, objects. Each
 * is a row of the table at the end. The first piece of an object begins at 0 with the empty record.
 */
#include "semantic/function.h"

#define MICRO_MICRO                                                                                \
    1e12 /* bandwidths are added up in 10^-12, so that what began also ends at 0                   \
          */

typedef struct as_thread_state state_t;
typedef struct as_semantic_record record_t;

#define THREAD_FUNCTION(name)                                                                      \
    static struct as_quantity name(state_t *state, const record_t *begin, const record_t *next,    \
                                   int64_t end_ns)
#define UNUSED_AHEAD ((void)state, (void)next, (void)end_ns)

static struct as_quantity in_units(const state_t *state, int64_t ns)
{
    return as_quantity_divide(as_whole(ns), as_whole(state->unit_ns));
}

/* ---- States ---------------------------------------------------------------------------------- */

/* A gap is state 0. */
static int64_t state_of(const record_t *begin)
{
    return begin->kind == AS_RECORD_STATE_BEGIN ? begin->state.value : 0;
}

THREAD_FUNCTION(state_as_is)
{
    UNUSED_AHEAD;
    return as_whole(state_of(begin));
}

THREAD_FUNCTION(state_useful)
{
    UNUSED_AHEAD;
    return as_whole(state_of(begin) == 1);
}

THREAD_FUNCTION(state_sign)
{
    UNUSED_AHEAD;
    return as_whole(state_of(begin) != 0);
}

static bool state_is_given(const state_t *state, const record_t *begin)
{
    return begin->kind != AS_RECORD_EMPTY &&
           as_parameter_has(state->parameters, 0, as_whole(state_of(begin)));
}

THREAD_FUNCTION(state_given)
{
    UNUSED_AHEAD;
    return as_whole(state_is_given(state, begin) ? state_of(begin) : 0);
}

THREAD_FUNCTION(state_in)
{
    UNUSED_AHEAD;
    return as_whole(state_is_given(state, begin));
}

THREAD_FUNCTION(state_not_in)
{
    UNUSED_AHEAD;
    return as_whole(begin->kind != AS_RECORD_EMPTY && !state_is_given(state, begin));
}

/* A state without end lasts until the next record. */
THREAD_FUNCTION(state_duration)
{
    (void)next;
    if (!state_is_given(state, begin))
        return as_whole(0);
    if (begin->kind == AS_RECORD_STATE_BEGIN && begin->state.end_ns >= 0)
        end_ns = begin->state.end_ns;
    return in_units(state, end_ns - begin->ns);
}

/* ---- Events ---------------------------------------------------------------------------------- */

THREAD_FUNCTION(last_type)
{
    UNUSED_AHEAD;
    return as_whole(begin->kind == AS_RECORD_EMPTY ? 0 : begin->event.type);
}

THREAD_FUNCTION(last_value)
{
    UNUSED_AHEAD;
    return as_whole(begin->kind == AS_RECORD_EMPTY ? 0 : begin->event.value);
}

THREAD_FUNCTION(last_value_kept)
{
    UNUSED_AHEAD;
    if (begin->kind == AS_RECORD_EMPTY)
        return as_whole(0);
    return begin->event.value ? as_whole(begin->event.value) : state->value;
}

THREAD_FUNCTION(next_type)
{
    (void)state, (void)begin, (void)end_ns;
    return as_whole(next ? next->event.type : 0);
}

THREAD_FUNCTION(next_value)
{
    (void)state, (void)begin, (void)end_ns;
    return as_whole(next ? next->event.value : 0);
}

/* value x factor / length; 0 of a piece without length, or without an event at its end */
static struct as_quantity rate_of(const state_t *state, int64_t value, const record_t *begin,
                                  const record_t *next)
{
    if (!next || next->ns == begin->ns)
        return as_whole(0);
    return as_quantity_divide(
        as_quantity_multiply(as_whole(value), as_parameter(state->parameters, 0, 0)),
        in_units(state, next->ns - begin->ns));
}

THREAD_FUNCTION(next_rate)
{
    (void)end_ns;
    return rate_of(state, next ? next->event.value : 0, begin, next);
}

THREAD_FUNCTION(last_rate)
{
    (void)end_ns;
    return begin->kind == AS_RECORD_EMPTY ? as_whole(0)
                                          : rate_of(state, begin->event.value, begin, next);
}

static bool event_is_given(const state_t *state, const record_t *begin)
{
    return begin->kind != AS_RECORD_EMPTY &&
           as_parameter_has(state->parameters, 0, as_whole(begin->event.value));
}

THREAD_FUNCTION(value_given)
{
    UNUSED_AHEAD;
    return as_whole(event_is_given(state, begin) ? begin->event.value : 0);
}

THREAD_FUNCTION(value_in)
{
    UNUSED_AHEAD;
    return as_whole(event_is_given(state, begin));
}

THREAD_FUNCTION(value_not_in)
{
    UNUSED_AHEAD;
    return as_whole(begin->kind != AS_RECORD_EMPTY && !event_is_given(state, begin));
}

THREAD_FUNCTION(value_in_range)
{
    UNUSED_AHEAD;
    if (begin->kind == AS_RECORD_EMPTY)
        return as_whole(0);
    const struct as_quantity value = as_whole(begin->event.value);
    return as_whole(as_quantity_compare(value, as_parameter(state->parameters, 0, 0)) >= 0 &&
                    as_quantity_compare(value, as_parameter(state->parameters, 1, 0)) <= 0);
}

THREAD_FUNCTION(between_events)
{
    (void)end_ns;
    if (begin->kind == AS_RECORD_EMPTY || !next)
        return as_whole(0);
    return in_units(state, next->ns - begin->ns);
}

/* ---- Messages -------------------------------------------------------------------------------- */

static int64_t later_receive_ns(const struct as_semantic_message *m)
{
    return m->logical_receive_ns > m->physical_receive_ns ? m->logical_receive_ns
                                                          : m->physical_receive_ns;
}

static int64_t receive_ns(const state_t *state, const struct as_semantic_message *m)
{
    return state->takes_logical ? later_receive_ns(m) : m->physical_receive_ns;
}

static int64_t send_ns(const state_t *state, const struct as_semantic_message *m)
{
    return state->takes_logical ? m->logical_send_ns : m->physical_send_ns;
}

/* True if `kind` is the later of the two receives; at one time the physical one is. */
static bool is_later_receive(const state_t *state, const record_t *r, enum as_record_kind logical,
                             enum as_record_kind physical)
{
    if (!state->takes_logical)
        return r->kind == physical;
    return r->kind ==
           (r->message.logical_receive_ns > r->message.physical_receive_ns ? logical : physical);
}

bool as_record_is_receive(const state_t *state, const record_t *r)
{
    return is_later_receive(state, r, AS_RECORD_LOGICAL_RECEIVE, AS_RECORD_PHYSICAL_RECEIVE);
}

static bool is_remote_receive(const state_t *state, const record_t *r)
{
    return is_later_receive(state, r, AS_RECORD_LOGICAL_REMOTE_RECEIVE,
                            AS_RECORD_PHYSICAL_REMOTE_RECEIVE);
}

bool as_record_is_send(const state_t *state, const record_t *r)
{
    return r->kind == (state->takes_logical ? AS_RECORD_LOGICAL_SEND : AS_RECORD_PHYSICAL_SEND);
}

static bool is_remote_send(const state_t *state, const record_t *r)
{
    return r->kind ==
           (state->takes_logical ? AS_RECORD_LOGICAL_REMOTE_SEND : AS_RECORD_PHYSICAL_REMOTE_SEND);
}

THREAD_FUNCTION(last_tag)
{
    UNUSED_AHEAD;
    return as_whole(begin->kind == AS_RECORD_EMPTY ? 0 : begin->message.tag);
}

THREAD_FUNCTION(last_size)
{
    UNUSED_AHEAD;
    return as_whole(begin->kind == AS_RECORD_EMPTY ? 0 : begin->message.size_b);
}

/* `next` is the message that is received next. */
THREAD_FUNCTION(receive_partner)
{
    (void)end_ns;
    if (begin->kind == AS_RECORD_EMPTY || !next)
        return as_whole(0);
    return as_whole(state->is_cpu ? next->message.sender_cpu : (int64_t)next->message.sender + 1);
}

THREAD_FUNCTION(send_partner)
{
    UNUSED_AHEAD;
    if (begin->kind == AS_RECORD_EMPTY)
        return as_whole(0);
    return as_whole(state->is_cpu ? begin->message.receiver_cpu
                                  : (int64_t)begin->message.receiver + 1);
}

THREAD_FUNCTION(send_duration)
{
    UNUSED_AHEAD;
    if (begin->kind == AS_RECORD_EMPTY)
        return as_whole(0);
    return in_units(state, later_receive_ns(&begin->message) - begin->ns);
}

THREAD_FUNCTION(receive_duration)
{
    (void)end_ns;
    if (begin->kind == AS_RECORD_EMPTY || !next)
        return as_whole(0);
    return in_units(state, later_receive_ns(&next->message) - next->message.logical_send_ns);
}

/* +1: the record puts its message on its way; -1: it takes it off; 0: neither. */
static int way_of(const state_t *state, const record_t *begin, bool at_sender)
{
    if (begin->kind == AS_RECORD_EMPTY)
        return 0;
    if (at_sender)
        return as_record_is_send(state, begin) - is_remote_receive(state, begin);
    return is_remote_send(state, begin) - as_record_is_receive(state, begin);
}

/* A message that is received before it was sent, or then, is on its way at no time. */
static bool is_negative(const state_t *state, const record_t *r)
{
    return r->kind != AS_RECORD_EMPTY &&
           receive_ns(state, &r->message) <= send_ns(state, &r->message);
}

static struct as_quantity on_its_way(state_t *state, const record_t *begin, bool at_sender,
                                     bool in_bytes)
{
    const int way = is_negative(state, begin) ? 0 : way_of(state, begin, at_sender);
    state->running += way * (in_bytes && way ? begin->message.size_b : 1);
    return as_whole(state->running);
}

THREAD_FUNCTION(sent_bytes_way)
{
    UNUSED_AHEAD;
    return on_its_way(state, begin, true, true);
}

THREAD_FUNCTION(sent_messages_way)
{
    UNUSED_AHEAD;
    return on_its_way(state, begin, true, false);
}

THREAD_FUNCTION(received_bytes_way)
{
    UNUSED_AHEAD;
    return on_its_way(state, begin, false, true);
}

THREAD_FUNCTION(received_messages_way)
{
    UNUSED_AHEAD;
    return on_its_way(state, begin, false, false);
}

static struct as_quantity bandwidth(state_t *state, const record_t *begin, bool at_sender)
{
    const int way = is_negative(state, begin) ? 0 : way_of(state, begin, at_sender);
    if (way) {
        const struct as_semantic_message *m = &begin->message;
        const double units =
            as_quantity_double(in_units(state, receive_ns(state, m) - send_ns(state, m)));
        const double factor = as_quantity_double(as_parameter(state->parameters, 0, 0));
        const double share = factor == 0 ? 0 : (double)m->size_b / factor / units * MICRO_MICRO;
        if (share < 9e18 && share > -9e18 &&
            __builtin_add_overflow(state->running, way * (int64_t)share, &state->running))
            state->running = 0;
    }
    return as_real((double)state->running / MICRO_MICRO);
}

THREAD_FUNCTION(send_bandwidth)
{
    UNUSED_AHEAD;
    return bandwidth(state, begin, true);
}

THREAD_FUNCTION(receive_bandwidth)
{
    UNUSED_AHEAD;
    return bandwidth(state, begin, false);
}

static struct as_quantity negative(state_t *state, const record_t *begin, bool in_bytes)
{
    const int way = is_negative(state, begin) ? -way_of(state, begin, false) : 0;
    state->running += way * (in_bytes && way ? begin->message.size_b : 1);
    return as_whole(state->running);
}

THREAD_FUNCTION(negative_messages)
{
    UNUSED_AHEAD;
    return negative(state, begin, false);
}

THREAD_FUNCTION(negative_bytes)
{
    UNUSED_AHEAD;
    return negative(state, begin, true);
}

static struct as_quantity count_up(state_t *state, const record_t *begin, bool counts,
                                   bool in_bytes)
{
    if (begin->kind == AS_RECORD_EMPTY || !counts)
        return state->value;
    return as_quantity_add(state->value, as_whole(in_bytes ? begin->message.size_b : 1));
}

THREAD_FUNCTION(number_of_sends)
{
    UNUSED_AHEAD;
    return count_up(state, begin, as_record_is_send(state, begin), false);
}

THREAD_FUNCTION(bytes_of_sends)
{
    UNUSED_AHEAD;
    return count_up(state, begin, as_record_is_send(state, begin), true);
}

THREAD_FUNCTION(number_of_receives)
{
    UNUSED_AHEAD;
    return count_up(state, begin, as_record_is_receive(state, begin), false);
}

THREAD_FUNCTION(bytes_of_receives)
{
    UNUSED_AHEAD;
    return count_up(state, begin, as_record_is_receive(state, begin), true);
}

/* ---- Objects --------------------------------------------------------------------------------- */

static int64_t object_number(const state_t *state, const record_t *begin,
                             enum as_object_level level)
{
    if (level == AS_OBJECT_LEVEL_CPU || level == AS_OBJECT_LEVEL_NODE) {
        if (begin->kind == AS_RECORD_EMPTY || begin->cpu == 0 ||
            begin->cpu > state->objects->row[AS_OBJECT_LEVEL_CPU].n)
            return 0;
        return (int64_t)as_objects_above(state->objects, AS_OBJECT_LEVEL_CPU, begin->cpu - 1,
                                         level) +
               1;
    }
    if (begin->kind == AS_RECORD_EMPTY && state->is_cpu)
        return 0;
    return (int64_t)as_objects_above(state->objects, AS_OBJECT_LEVEL_THREAD, begin->thread, level) +
           1;
}

/* 0 before the first record. */
static struct as_quantity in_objects(const state_t *state, const record_t *begin,
                                     enum as_object_level level)
{
    const int64_t number = begin->kind == AS_RECORD_EMPTY ? 0 : object_number(state, begin, level);
    return as_whole(number && as_parameter_has(state->parameters, 0, as_whole(number)) ? number
                                                                                       : 0);
}

#define OBJECT_FUNCTIONS(name, level)                                                              \
    THREAD_FUNCTION(name##_number)                                                                 \
    {                                                                                              \
        UNUSED_AHEAD;                                                                              \
        return as_whole(object_number(state, begin, level));                                       \
    }                                                                                              \
    THREAD_FUNCTION(in_##name##s)                                                                  \
    {                                                                                              \
        UNUSED_AHEAD;                                                                              \
        return in_objects(state, begin, level);                                                    \
    }

OBJECT_FUNCTIONS(application, AS_OBJECT_LEVEL_APPLICATION)
OBJECT_FUNCTIONS(task, AS_OBJECT_LEVEL_TASK)
OBJECT_FUNCTIONS(thread, AS_OBJECT_LEVEL_THREAD)
OBJECT_FUNCTIONS(node, AS_OBJECT_LEVEL_NODE)
OBJECT_FUNCTIONS(cpu, AS_OBJECT_LEVEL_CPU)

/* ---- The table ------------------------------------------------------------------------------- */

#define ROW(function, text, names, values, bounds, ...)                                            \
    {                                                                                              \
        .family = AS_FUNCTION_THREAD, .name = text, .parameters = names, .defaults = values,       \
        .kinds = bounds, .thread = function, __VA_ARGS__                                           \
    }
#define STATES(function, text, names, values, ...)                                                 \
    ROW(function, text, names, values, AS_KINDS_STATE, .fills_gaps = true, __VA_ARGS__)
#define EVENTS(function, text, names, values, ...)                                                 \
    ROW(function, text, names, values, AS_KINDS_EVENT, __VA_ARGS__)
#define AT_SENDER   (AS_KINDS_SEND | AS_KINDS_REMOTE_RECEIVE)
#define AT_RECEIVER (AS_KINDS_RECEIVE | AS_KINDS_REMOTE_SEND)
#define OBJECTS(function, text, names, values, ...)                                                \
    ROW(function, text, names, values, AS_KINDS_STATE | AS_KINDS_EVENT, __VA_ARGS__)

const struct as_semantic_function as_thread_functions[] = {
    STATES(state_as_is, "State As Is", "", "", .summary = "the state; 0 without a state"),
    STATES(state_useful, "Useful", "", "", .summary = "1 in the state Running, else 0"),
    STATES(state_sign, "State Sign", "", "", .summary = "1 in a state that is not 0"),
    STATES(state_given, "Given State", "State values", "1", .summary = "the state if listed"),
    STATES(state_in, "In State", "State values", "1", .summary = "1 in a state that is listed"),
    STATES(state_not_in, "Not In State", "State values", "1",
           .summary = "1 in a state that is not listed"),
    STATES(state_duration, "State Record Dur.", "State values", "1", .ahead = AS_AHEAD_NEXT,
           .summary = "length of the state if listed"),

    EVENTS(last_type, "Last Evt Type", "", "", .summary = "type of the latest event"),
    EVENTS(last_value, "Last Evt Val", "", "", .summary = "value of the latest event"),
    EVENTS(last_value_kept, "Last Evt Val w/o Bursts", "", "", .has_history = true,
           .summary = "value of the latest event that is not 0"),
    EVENTS(next_type, "Next Evt Type", "", "", .ahead = AS_AHEAD_NEXT,
           .summary = "type of the next event"),
    EVENTS(next_value, "Next Evt Val", "", "", .ahead = AS_AHEAD_NEXT,
           .summary = "value of the next event"),
    EVENTS(next_rate, "Avg Next Evt Val", "Factor", "1", .ahead = AS_AHEAD_NEXT,
           .summary = "value of the next event times the factor, by the time to it"),
    EVENTS(last_rate, "Avg Last Evt Val", "Factor", "1", .ahead = AS_AHEAD_NEXT,
           .summary = "value of the latest event times the factor, by the time to the next"),
    EVENTS(value_given, "Given Evt Val", "Event values", "1",
           .summary = "value of the latest event if listed"),
    EVENTS(value_in, "In Evt Val", "Event values", "1",
           .summary = "1 if the value of the latest event is listed"),
    EVENTS(between_events, "Int. Between Evt", "", "", .ahead = AS_AHEAD_NEXT,
           .summary = "time from the latest event to the next"),
    EVENTS(value_not_in, "Not In Evt Val", "Event values", "1",
           .summary = "1 if the value of the latest event is not listed"),
    EVENTS(value_in_range, "In Evt Range", "Min value|Max value", "0|1",
           .summary = "1 if the value of the latest event is in the range"),
    EVENTS(NULL, "Event Bytes", "", "", .ahead = AS_AHEAD_BYTES,
           .summary = "bytes sent and received from the latest event to the next"),
    EVENTS(NULL, "Event Sent Bytes", "", "", .ahead = AS_AHEAD_BYTES, .special = AS_SPECIAL_SENT,
           .summary = "bytes sent from the latest event to the next"),

    ROW(last_tag, "Last Tag", "", "", AS_KIND(PHYSICAL_RECEIVE),
        .summary = "tag of the latest message received"),
    ROW(last_size, "Comm Size", "", "", AS_KINDS_SEND | AS_KINDS_RECEIVE,
        .summary = "bytes of the latest message sent or received"),
    ROW(receive_partner, "Comm Recv. Partner", "", "", AS_KINDS_RECEIVE, .ahead = AS_AHEAD_RECEIVE,
        .summary = "thread that sent the message received next"),
    ROW(send_partner, "Comm Partner", "", "", AS_KINDS_SEND,
        .summary = "thread that receives the latest message sent"),
    ROW(send_duration, "Last Send Dur.", "", "", AS_KIND(LOGICAL_SEND),
        .summary = "time of the latest message sent until it is received"),
    ROW(receive_duration, "Next Recv Dur.", "", "", AS_KIND(LOGICAL_RECEIVE),
        .ahead = AS_AHEAD_NEXT, .summary = "time of the next message from its send to its receive"),
    ROW(last_size, "Last Send Size", "", "", AS_KIND(LOGICAL_SEND),
        .summary = "bytes of the latest message sent"),
    ROW(sent_bytes_way, "Send Bytes in Transit", "", "", AT_SENDER, .has_history = true,
        .summary = "bytes sent and not yet received"),
    ROW(sent_messages_way, "Send Messages in Transit", "", "", AT_SENDER, .has_history = true,
        .summary = "messages sent and not yet received"),
    ROW(send_bandwidth, "Send BandWidth", "Byte factor", "1", AT_SENDER, .has_history = true,
        .summary = "sum of bytes by time of the messages sent and not yet received"),
    ROW(received_bytes_way, "Recv Bytes in Transit", "", "", AT_RECEIVER, .has_history = true,
        .summary = "bytes on their way to this thread"),
    ROW(received_messages_way, "Recv Messages in Transit", "", "", AT_RECEIVER, .has_history = true,
        .summary = "messages on their way to this thread"),
    ROW(receive_bandwidth, "Recv BandWidth", "Byte factor", "1", AT_RECEIVER, .has_history = true,
        .summary = "sum of bytes by time of the messages on their way to this thread"),
    ROW(negative_messages, "Recv Negative Messages", "", "", AT_RECEIVER, .has_history = true,
        .summary = "messages received and not yet sent: clocks disagree"),
    ROW(negative_bytes, "Recv Negative Bytes", "", "", AT_RECEIVER, .has_history = true,
        .summary = "bytes received and not yet sent: clocks disagree"),
    ROW(number_of_sends, "Number Of Sends", "", "", AS_KINDS_SEND, .has_history = true,
        .summary = "messages sent since the trace began"),
    ROW(bytes_of_sends, "Number Of Send Bytes", "", "", AS_KINDS_SEND, .has_history = true,
        .summary = "bytes sent since the trace began"),
    ROW(number_of_receives, "Number Of Receives", "", "", AS_KINDS_RECEIVE, .has_history = true,
        .summary = "messages received since the trace began"),
    ROW(bytes_of_receives, "Number Of Receive Bytes", "", "", AS_KINDS_RECEIVE, .has_history = true,
        .summary = "bytes received since the trace began"),

    OBJECTS(application_number, "Application ID", "", "", .summary = "number of the application"),
    OBJECTS(task_number, "TaskID", "", "", .summary = "number of the task in the trace"),
    OBJECTS(thread_number, "Thread ID", "", "", .summary = "number of the thread in the trace"),
    OBJECTS(node_number, "Node ID", "", "", .summary = "number of the node"),
    OBJECTS(cpu_number, "Cpu ID", "", "", .summary = "number of the CPU in the trace"),
    OBJECTS(in_applications, "In Appl ID", "Objects", "1",
            .summary = "number of the application if listed"),
    OBJECTS(in_tasks, "In Task ID", "Objects", "1", .summary = "number of the task if listed"),
    OBJECTS(in_threads, "In Thread ID", "Objects", "1",
            .summary = "number of the thread if listed"),
    OBJECTS(in_nodes, "In Node ID", "Objects", "1", .summary = "number of the node if listed"),
    OBJECTS(in_cpus, "In Cpu ID", "Objects", "1", .summary = "number of the CPU if listed"),
};
const size_t as_thread_functions_n = sizeof as_thread_functions / sizeof *as_thread_functions;
