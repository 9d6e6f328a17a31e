/* SPDX-License-Identifier: Apache-2.0 */
/* What of a trace stands in a file of Paraver, by its numbers. */
#include <string.h>

#include "base/error.h"
#include "exchange/prv_write.h"

#define FIRST_EXTRA 1000u /* routines without a number of their own */

/* ---- Numbers --------------------------------------------------------------------------------- */

static bool fits_name(const char *routine, const char *name)
{
    size_t n = strlen(name);
    if (n && name[n - 1] == '*')
        return strncmp(routine, name, n - 1) == 0;
    return strcmp(routine, name) == 0;
}

static const struct as_prv_label *label_of(const struct as_prv_label *labels, size_t n,
                                           const char *routine)
{
    for (size_t i = 0; i < n; i++)
        if (fits_name(routine, labels[i].label))
            return &labels[i];
    return NULL;
}

static int64_t state_of(enum as_activity activity, const char *routine, uint32_t group)
{
    const struct as_prv_label *does;
    switch (activity) {
    case AS_ACTIVITY_COMPUTING:
        return AS_PRV_RUNNING;
    case AS_ACTIVITY_MPI:
        does = routine ? label_of(as_prv_doings, as_prv_doings_n, routine) : NULL;
        if (does)
            return does->number;
        if (group == AS_TRACE_OF_MPI_COLLECTIVE)
            return AS_PRV_GROUP;
        if (group == AS_TRACE_OF_MPI_RMA)
            return AS_PRV_REMOTE;
        return group == AS_TRACE_OF_MPI_IO ? AS_PRV_IO : AS_PRV_OTHERS;
    case AS_ACTIVITY_OPENMP:
        return routine ? AS_PRV_FORK_JOIN : AS_PRV_SYNCHRONISING;
    case AS_ACTIVITY_THREADS:
        return AS_PRV_SYNCHRONISING;
    case AS_ACTIVITY_FILES:
        return AS_PRV_IO;
    default:
        return AS_PRV_IDLE;
    }
}

/* 0: such calls are not in the file. */
static uint32_t type_of_group(uint32_t group)
{
    switch (group) {
    case AS_TRACE_OF_MPI_POINT:
    case AS_TRACE_OF_MPI_COMPLETION:
        return AS_PRV_MPI_POINT;
    case AS_TRACE_OF_MPI_COLLECTIVE:
        return AS_PRV_MPI_GROUP;
    case AS_TRACE_OF_MPI_OTHER:
        return AS_PRV_MPI_OTHER;
    case AS_TRACE_OF_MPI_RMA:
        return AS_PRV_MPI_RMA;
    case AS_TRACE_OF_MPI_IO:
        return AS_PRV_MPI_IO;
    case AS_TRACE_OF_THREAD:
    case AS_TRACE_OF_LOCK:
        return AS_PRV_THREADS;
    case AS_TRACE_OF_FILES:
        return AS_PRV_FILES;
    case AS_TRACE_OF_USER:
        return AS_PRV_USER;
    default:
        return 0;
    }
}

static bool is_mpi_type(uint32_t type)
{
    return type >= AS_PRV_MPI_POINT && type <= AS_PRV_MPI_IO;
}

/* -1: no memory. */
int64_t as_prv_routine_value(struct as_prv_writer *w, uint32_t type, const char *routine)
{
    const struct as_prv_label *known =
        is_mpi_type(type) ? label_of(as_prv_routines, as_prv_routines_n, routine) : NULL;
    if (known)
        return known->number;
    as_vec_foreach (&w->extra, extra)
        if (extra->type == type && strcmp(extra->text, routine) == 0)
            return extra->number;
    struct as_prv_extra extra = {type, FIRST_EXTRA + (uint32_t)w->extra.n, routine};
    return as_vec_push(&w->extra, extra) < 0 ? -1 : (int64_t)extra.number;
}

/* ---- Records --------------------------------------------------------------------------------- */

static int keep_event(struct as_prv_writer *w, uint32_t location, int64_t ns, uint32_t type,
                      int64_t value)
{
    struct as_prv_record record = {
        .ns = ns - w->begin_ns, .kind = AS_PRV_EVENT, .location = location, .event = {type, value}};
    w->counts->events_n++;
    return as_ordered_add(w->records, &record, w->err);
}

static int keep_call(struct as_prv_writer *w, uint32_t location, const struct as_trace_event *event)
{
    const struct as_trace_process *process = &w->trace->process.at[w->thread.at[location].process];
    const struct as_trace_name name = as_trace_name_of(process, event->name);
    const uint32_t type = type_of_group(name.group);
    if (!type)
        return 0;
    int64_t value = event->kind == AS_TRACE_ENTER
                        ? as_prv_routine_value(w, type, name.text ? name.text : "?")
                        : 0;
    if (value < 0)
        return as_error_nomem(w->err, "routines of a trace");
    return keep_event(w, location, event->raw_ns, type, value);
}

int64_t as_prv_comm_number(struct as_prv_writer *w, uint64_t global)
{
    for (size_t i = 0; i < w->comm.n; i++)
        if (w->comm.at[i] == global)
            return (int64_t)i + 1;
    return as_vec_push(&w->comm, global) < 0 ? -1 : (int64_t)w->comm.n;
}

static int keep_collective(struct as_prv_writer *w, uint32_t location,
                           const struct as_trace_event *event)
{
    const struct as_trace_process *process = &w->trace->process.at[w->thread.at[location].process];
    const struct as_trace_comm *comm = as_trace_comm_of(process, event->collective.comm);
    AS_TRY(keep_event(w, location, event->raw_ns, AS_PRV_GROUP_SENT, event->collective.sent_b));
    AS_TRY(keep_event(w, location, event->raw_ns, AS_PRV_GROUP_RECEIVED,
                      event->collective.received_b));
    if (comm && event->collective.root >= 0 && event->collective.root == comm->rank)
        AS_TRY(keep_event(w, location, event->raw_ns, AS_PRV_GROUP_ROOT, 1));
    if (!comm)
        return 0;
    int64_t number = as_prv_comm_number(w, comm->global);
    if (number < 0)
        return as_error_nomem(w->err, "communicators of a trace");
    return keep_event(w, location, event->raw_ns, AS_PRV_GROUP_COMM, number);
}

static int collect_event(void *context, uint32_t location, const struct as_trace_event *event)
{
    struct as_prv_writer *w = context;
    if (event->raw_ns > w->end_ns)
        w->end_ns = event->raw_ns;
    switch (event->kind) {
    case AS_TRACE_ENTER:
    case AS_TRACE_LEAVE:
        return keep_call(w, location, event);
    case AS_TRACE_COLLECTIVE:
        return keep_collective(w, location, event);
    case AS_TRACE_PARALLEL:
    case AS_TRACE_PARALLEL_END:
        return keep_event(w, location, event->raw_ns, AS_PRV_PARALLEL,
                          event->kind == AS_TRACE_PARALLEL);
    case AS_TRACE_BARRIER:
    case AS_TRACE_BARRIER_END:
        return keep_event(w, location, event->raw_ns, AS_PRV_OMP_BARRIER,
                          event->kind == AS_TRACE_BARRIER);
    default:
        return 0;
    }
}

static int hand_on_state(struct as_prv_writer *w, uint32_t location)
{
    if (w->open_state[location].kind == 0)
        return 0;
    w->counts->states_n++;
    return as_ordered_add(w->records, &w->open_state[location], w->err);
}

static int collect_stretch(void *context, uint32_t location, enum as_activity activity,
                           const char *routine, uint32_t group, int64_t begin_ns, int64_t end_ns)
{
    struct as_prv_writer *w = context;
    struct as_prv_record *open = &w->open_state[location];
    const int64_t state = state_of(activity, routine, group);
    if (end_ns > w->end_ns)
        w->end_ns = end_ns;
    if (open->kind && open->state.state == state && open->state.end_ns == begin_ns - w->begin_ns) {
        open->state.end_ns = end_ns - w->begin_ns;
        return 0;
    }
    AS_TRY(hand_on_state(w, location));
    *open = (struct as_prv_record){.ns = begin_ns - w->begin_ns,
                                   .kind = AS_PRV_STATE,
                                   .location = location,
                                   .state = {end_ns - w->begin_ns, state}};
    return 0;
}

static int collect_message(void *context, const struct as_message *message)
{
    struct as_prv_writer *w = context;
    struct as_prv_record record = {
        .ns = message->send.begin_ns - w->begin_ns,
        .kind = AS_PRV_MESSAGE,
        .location = message->send.location,
        .message = {.sent_ns = message->send.begin_ns - w->begin_ns,
                    .asked_ns = message->receive.begin_ns - w->begin_ns,
                    .received_ns = message->receive.leave_ns - w->begin_ns,
                    .size_b = message->sent_b,
                    .tag = message->tag,
                    .location = message->receive.location}};
    w->counts->communications_n++;
    return as_ordered_add(w->records, &record, w->err);
}

int as_prv_collect(struct as_prv_writer *w, struct assay_error *err)
{
    const struct as_analysis_watch watch = {.context = w,
                                            .event = collect_event,
                                            .stretch = collect_stretch,
                                            .message = collect_message};
    struct as_analysis analysis;
    w->err = err;
    AS_TRY(as_analyse_trace(w->trace, &watch, &analysis, err));
    w->counts->unmatched_n = analysis.messages.sends_n + analysis.messages.receives_n;
    as_analysis_fini(&analysis);
    for (uint32_t l = 0; l < w->thread.n; l++)
        AS_TRY(hand_on_state(w, l));
    return 0;
}
