/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records of a Paraver trace as records of assay, with their definitions. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "exchange/prv_taking.h"

struct prv_emission {
    struct as_prv_reading *t;
    struct as_prv_import_thread *thread;
    struct as_prv_import_task *task;
    int64_t ns;
};

static void make_prv_event(const struct prv_emission *e, enum as_trace_kind kind, int64_t a,
                           int64_t b, int64_t c)
{
    as_maker_emit(e->t->maker, e->thread->made, kind, e->ns, (int64_t[]){a, b, c, 0, 0, 0, 0, 0});
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static int emit_call(const struct prv_emission *e, int64_t type, int64_t value)
{
    struct as_prv_import_thread *thread = e->thread;
    uint32_t name;
    if (value) {
        if (as_prv_taken_name(e->t, type, value, &name) < 0 ||
            as_vec_push(&thread->call, (struct as_prv_import_call){type, name, e->ns}) < 0)
            return as_error_nomem(e->t->err, e->t->path);
        make_prv_event(e, AS_TRACE_ENTER, name, 0, 0);
        return 0;
    }
    size_t at = thread->call.n;
    while (at > 0 && thread->call.at[at - 1].type != type)
        at--;
    if (at == 0) { /* it began before the trace, or was truncated */
        e->t->counts->left_out_n++;
        return 0;
    }
    make_prv_event(e, AS_TRACE_LEAVE, thread->call.at[at - 1].name, 0, 0);
    thread->call.n--;
    for (; at <= thread->call.n; at++) /* calls of other types may be inside */
        thread->call.at[at - 1] = thread->call.at[at];
    return 0;
}

static int emit_state(const struct prv_emission *e, const struct as_prv_imported *r)
{
    uint32_t name;
    if (e->t->has_calls && !e->thread->is_in_state)
        return 0;
    if (as_prv_taken_state(e->t, r->field[0], &name) < 0)
        return as_error_nomem(e->t->err, e->t->path);
    e->thread->is_in_state = r->kind == AS_TAKEN_STATE;
    make_prv_event(e, e->thread->is_in_state ? AS_TRACE_ENTER : AS_TRACE_LEAVE, name, 0, 0);
    return 0;
}

/* ---- OpenMP, locks --------------------------------------------------------------------------- */

static int64_t threads_of(const struct prv_emission *e)
{
    return e->t->header->task.at[e->thread->task].threads_n;
}

static int64_t current_region(const struct prv_emission *e)
{
    return e->task->region.n ? e->task->region.at[e->task->region.n - 1] : e->task->regions_n;
}

static int emit_parallel(const struct prv_emission *e, int64_t value)
{
    if (value) {
        if (as_vec_push(&e->task->region, ++e->task->regions_n) < 0)
            return as_error_nomem(e->t->err, e->t->path);
        make_prv_event(e, AS_TRACE_PARALLEL, e->task->regions_n, threads_of(e), 0);
    } else if (e->task->region.n) {
        make_prv_event(e, AS_TRACE_PARALLEL_END, e->task->region.at[--e->task->region.n], 0, 0);
    }
    return 0;
}

static void emit_part(const struct prv_emission *e, int64_t value)
{
    if (value && !e->thread->is_in_part)
        make_prv_event(e, AS_TRACE_IMPLICIT, current_region(e), e->thread->number, threads_of(e));
    else if (!value && e->thread->is_in_part)
        make_prv_event(e, AS_TRACE_IMPLICIT_END, current_region(e), e->thread->number, 0);
    e->thread->is_in_part = value != 0;
}

/* Writes the begin (value) and end (0) of a span. */
static void emit_span(const struct prv_emission *e, enum as_trace_kind begin, int64_t what,
                      int64_t value, bool *is_in)
{
    if (value && !*is_in)
        make_prv_event(e, begin, current_region(e), what, 0);
    else if (!value && *is_in)
        make_prv_event(e, begin + 1, current_region(e), what, 0);
    *is_in = value != 0;
}

static void emit_work(const struct prv_emission *e, int64_t value)
{
    const int64_t kind = value == AS_PRV_WORK_SECTIONS ? AS_TRACE_SECTIONS
                         : value == AS_PRV_WORK_SINGLE ? AS_TRACE_SINGLE
                                                       : AS_TRACE_LOOP;
    if (value)
        make_prv_event(e, AS_TRACE_WORK, current_region(e), kind, 0);
    else if (e->thread->work)
        make_prv_event(e, AS_TRACE_WORK_END, current_region(e), e->thread->work - 1, 0);
    e->thread->work = value ? kind + 1 : 0;
}

static void emit_task(const struct prv_emission *e, int64_t value)
{
    if (e->thread->task_open >= 0)
        make_prv_event(e, AS_TRACE_TASK_END, e->thread->task_open, 1, 0);
    if (value)
        make_prv_event(e, AS_TRACE_TASK_BEGIN, value, 0, 0);
    e->thread->task_open = value ? value : -1;
}

static void emit_lock(const struct prv_emission *e, int64_t type, int64_t value)
{
    const int64_t kind = type == AS_PRV_CRITICAL ? AS_TRACE_CRITICAL : AS_TRACE_OMP_LOCK;
    if (value == AS_PRV_LOCKING)
        make_prv_event(e, AS_TRACE_LOCK_WAIT, e->thread->lock, kind, 0);
    else if (value == AS_PRV_LOCKED)
        make_prv_event(e, AS_TRACE_LOCK_HELD, e->thread->lock, kind, 0);
    else if (value == AS_PRV_UNLOCKED)
        make_prv_event(e, AS_TRACE_LOCK_RELEASED, e->thread->lock, kind, 0);
}

/* ---- All else -------------------------------------------------------------------------------- */

/* Returns true for event types that are not imported, such as deeper callers. */
static bool is_passed_over(int64_t type)
{
    return (type >= 70000000 && type < 90000000) || (type >= 30000000 && type < 31000000) ||
           (type >= 60000100 && type < 60000300);
}

/* Adds a hardware counter value to its total. The file has increments. */
static int add_to_total(const struct prv_emission *e, int64_t type, int64_t *value)
{
    struct as_prv_reading *t = e->t;
    const uint64_t key =
        as_hash_mix(as_hash_mix(19, (uint64_t)(e->thread - t->thread.at)), (uint64_t)type);
    uint32_t at = as_map_u64_get(&t->totals, key);
    if (at == AS_MAP_NONE) {
        at = (uint32_t)t->total.n;
        AS_TRY(as_vec_push(&t->total, 0));
        AS_TRY(as_map_u64_put(&t->totals, key, at));
    }
    t->total.at[at] = (int64_t)((uint64_t)t->total.at[at] + (uint64_t)*value);
    *value = t->total.at[at];
    return 0;
}

static int emit_counter(const struct prv_emission *e, int64_t type, int64_t value)
{
    const struct as_prv_pcf_type *known = as_prv_pcf_type_of(&e->t->pcf, type);
    char text[32];
    uint32_t name;
    snprintf(text, sizeof text, "type %lld", (long long)type);
    if (is_passed_over(type)) {
        e->t->counts->left_out_n++;
        return 0;
    }
    const char *label = known && *known->label ? known->label : NULL;
    if (!label) {
        char *copy = as_malloc(sizeof text);
        if (!copy || as_vec_push(&e->t->owned, copy) < 0) {
            as_free(copy);
            return as_error_nomem(e->t->err, e->t->path);
        }
        label = memcpy(copy, text, sizeof text);
    }
    if (as_prv_taken_text(e->t, type, INT64_MIN, AS_TRACE_OF_COUNTED, label, &name) < 0)
        return as_error_nomem(e->t->err, e->t->path);
    if (type >= AS_PRV_HARDWARE && type < AS_PRV_HARDWARE + 1000000 &&
        add_to_total(e, type, &value) < 0)
        return as_error_nomem(e->t->err, e->t->path);
    if (known && known->precision) {
        const double real = (double)value / pow(10, known->precision);
        memcpy(&value, &real, sizeof value);
        make_prv_event(e, AS_TRACE_EVENT, name, value, 0);
    } else {
        make_prv_event(e, AS_TRACE_COUNTER, name, value, 0);
    }
    return 0;
}

/* Writes the bytes of a file operation. The call name tells whether it read or wrote. */
static void emit_moved(const struct prv_emission *e, int64_t size_b)
{
    const struct as_prv_import_thread *thread = e->thread;
    const char *text =
        thread->call.n ? e->t->name.at[thread->call.at[thread->call.n - 1].name - 1].text : "";
    const int64_t field[] = {
        thread->fd, size_b, -1, strstr(text, "write") ? AS_TRACE_IS_WRITTEN : AS_TRACE_IS_READ,
        0,          0,      0,  0};
    as_maker_emit(e->t->maker, thread->made, AS_TRACE_IO, e->ns, field);
}

static int emit_event(const struct prv_emission *e, int64_t type, int64_t value)
{
    struct as_prv_import_thread *thread = e->thread;
    if (as_prv_is_place(type))
        return as_prv_import_place(e->t, thread, e->ns, type, value) < 0
                   ? as_error_nomem(e->t->err, e->t->path)
                   : 0;
    if (as_prv_is_call(type))
        return emit_call(e, type, value);
    if (as_prv_is_sum(type))
        return as_prv_import_sum(e->t, thread, e->ns, type, value);
    switch (type) {
    case AS_PRV_PARALLEL:
        return emit_parallel(e, value);
    case AS_PRV_OMP_FUNCTION:
        emit_part(e, value);
        return 0;
    case AS_PRV_WORK:
        emit_work(e, value);
        return 0;
    case AS_PRV_TASKLOOP:
        emit_span(e, AS_TRACE_WORK, AS_TRACE_TASKLOOP, value, &thread->is_in_taskloop);
        return 0;
    case AS_PRV_OMP_BARRIER:
        emit_span(e, AS_TRACE_BARRIER, AS_TRACE_EXPLICIT, value, &thread->is_in_barrier);
        return 0;
    case AS_PRV_TASKWAIT:
        emit_span(e, AS_TRACE_BARRIER, AS_TRACE_TASKWAIT, value, &thread->is_in_taskwait);
        return 0;
    case AS_PRV_TASKGROUP:
        emit_span(e, AS_TRACE_BARRIER, AS_TRACE_TASKGROUP, value == AS_PRV_TASKGROUP_END,
                  &thread->is_in_taskgroup);
        return 0;
    case AS_PRV_TASK:
        emit_task(e, value);
        return 0;
    case AS_PRV_LOCK_ADDRESS:
        thread->lock = value;
        return 0;
    case AS_PRV_CRITICAL:
    case AS_PRV_OMP_LOCK:
        emit_lock(e, type, value);
        return 0;
    case AS_PRV_FILE_NUMBER:
        thread->fd = value;
        return 0;
    case AS_PRV_FILE_SIZE:
        emit_moved(e, value);
        return 0;
    case AS_PRV_MEMORY_SIZE:
        thread->allocated_b = value;
        return 0;
    case AS_PRV_MEMORY_OUT:
        make_prv_event(e, AS_TRACE_ALLOCATE, value, thread->allocated_b, 0);
        return 0;
    case AS_PRV_MEMORY_IN:
        make_prv_event(e, AS_TRACE_RELEASE, value, 0, 0);
        return 0;
    case AS_PRV_TRACING:
        make_prv_event(e, value ? AS_TRACE_ON : AS_TRACE_OFF, AS_TRACE_BY_USER, 0, 0);
        return 0;
    default:
        return emit_counter(e, type, value);
    }
}

/* Returns the communicator of a lane: the world, or a copy of it besides the communicators of the
 * file. */
static int64_t comm_of_lane(const struct as_prv_reading *t, int64_t lane)
{
    return lane ? 3 + (int64_t)t->header->group.n + lane : 1;
}

/* Writes a message. It must be inside a call; if there is none, a call of zero length is added. */
static int emit_message(const struct prv_emission *e, const struct as_prv_imported *r)
{
    const bool is_send = r->kind == AS_TAKEN_SEND || r->kind == AS_TAKEN_SENT;
    const bool is_within = e->thread->call.n || e->thread->is_in_state;
    const int64_t *f = r->field;
    uint32_t name = 0;
    if (!is_within && as_prv_taken_text(e->t, -2, is_send, AS_TRACE_OF_MPI_POINT,
                                        is_send ? "send" : "receive", &name) < 0)
        return as_error_nomem(e->t->err, e->t->path);
    if (!is_within)
        make_prv_event(e, AS_TRACE_ENTER, name, 0, 0);
    const int64_t comm = comm_of_lane(e->t, f[4]);
    const int64_t partner = f[0] - as_prv_taken_world(e->t, e->thread->task).first_task;
    const int64_t field[] = {partner, f[1], f[2], comm, f[3], 0, 0, 0}, request[8] = {f[3]};
    as_maker_emit(e->t->maker, e->thread->made,
                  r->kind == AS_TAKEN_SEND   ? AS_TRACE_SEND
                  : r->kind == AS_TAKEN_SENT ? AS_TRACE_DONE
                  : r->kind == AS_TAKEN_POST ? AS_TRACE_POST
                                             : AS_TRACE_RECEIVE,
                  e->ns, r->kind == AS_TAKEN_SENT ? request : field);
    if (!is_within)
        make_prv_event(e, AS_TRACE_LEAVE, name, 0, 0);
    return 0;
}

/* Number of a collective request, above those of messages, which count from 1. */
#define GATHERED_REQUEST(number) ((INT64_C(1) << 40) + (number))

/* Writes a collective. Files of other tools do not tell when a nonblocking one is complete. */
static void emit_collective(const struct prv_emission *e, const struct as_prv_imported *r)
{
    const struct as_prv_import_call *call =
        e->thread->call.n ? &e->thread->call.at[e->thread->call.n - 1] : NULL;
    const char *text = call ? e->t->name.at[call->name - 1].text : "";
    const bool is_immediate = strncmp(text, "MPI_I", 5) == 0 && text[5] >= 'a';
    const size_t group = as_prv_taken_group(e->t, e->thread->task, r->field[0]);
    int64_t root = AS_TRACE_NO_ROOT;
    if (r->field[1] >= 0 && group < e->t->root.n &&
        (uint64_t)r->field[1] < e->t->root.at[group].rank.n)
        root = e->t->root.at[group].rank.at[r->field[1]];
    const int64_t field[] = {(int64_t)as_prv_taken_comm(e->t, e->thread->task, r->field[0]),
                             r->field[4]    ? GATHERED_REQUEST(r->field[4])
                             : is_immediate ? ++e->t->requests_n
                                            : 0,
                             root,
                             r->field[2],
                             r->field[3],
                             0,
                             0,
                             0};
    as_maker_emit(e->t->maker, e->thread->made, AS_TRACE_COLLECTIVE, e->ns, field);
}

static int emit_record(void *context, const void *bytes)
{
    struct as_prv_reading *t = context;
    const struct as_prv_imported *r = bytes;
    struct as_prv_import_thread *thread = &t->thread.at[r->thread];
    const struct prv_emission e = {.t = t,
                                   .thread = thread,
                                   .task = &t->task.at[thread->task],
                                   .ns = r->order / AS_TAKEN_PLACES_N};
    const bool is_place = r->kind == AS_TAKEN_EVENT && as_prv_is_place(r->field[0]);
    if (!is_place && (thread->stack[0].n || thread->stack[1].n))
        AS_TRY(as_prv_emit_stacks(t, thread, e.ns != thread->stack[0].ns));
    switch (r->kind) {
    case AS_TAKEN_EVENT:
        return emit_event(&e, r->field[0], r->field[1]);
    case AS_TAKEN_STATE:
    case AS_TAKEN_STATE_END:
        return emit_state(&e, r);
    case AS_TAKEN_GATHER:
        emit_collective(&e, r);
        return 0;
    case AS_TAKEN_GATHERED:
        make_prv_event(&e, AS_TRACE_DONE, GATHERED_REQUEST(r->field[0]), 0, 0);
        return 0;
    default:
        return emit_message(&e, r);
    }
}

/* ---- Streams --------------------------------------------------------------------------------- */

static const char *machine_of(const struct as_prv_reading *t, uint32_t node, char made[32])
{
    if (node < t->pcf.node.n)
        return t->pcf.node.at[node];
    if (t->header->nodes_n == 0)
        return "";
    snprintf(made, 32, "node%u", node + 1);
    return made;
}

static int open_streams(struct as_prv_reading *t, struct as_error *err)
{
    char machine[32];
    for (uint32_t p = 0; p < t->task.n; p++)
        AS_TRY(as_maker_add_process(t->maker, machine_of(t, t->header->task.at[p].node, machine),
                                    &t->task.at[p].made, err));
    as_vec_foreach (&t->thread, thread) {
        if (thread->begin_ns > thread->end_ns) /* it has no records */
            continue;
        AS_TRY(as_maker_add_thread(t->maker, t->task.at[thread->task].made, "", thread->begin_ns,
                                   &thread->made, err));
        thread->is_made = true;
        t->counts->threads_n++;
    }
    t->counts->processes_n = t->task.n;
    return 0;
}

static void define_groups(struct as_prv_reading *t, uint32_t task)
{
    as_vec_foreach (&t->header->group, group)
        for (size_t rank = 0; rank < group->member.n; rank++) {
            const uint64_t comm = as_prv_taken_comm(t, task, group->number);
            if (group->member.at[rank] == task && comm != 1)
                as_maker_comm(t->maker, t->task.at[task].made, comm, comm, rank, group->member.at,
                              group->member.n, "");
        }
}

/* Returns true if a task of the application uses MPI. Then all its tasks are ranks. */
static bool is_of_ranks(const struct as_prv_reading *t, const struct as_prv_world *own)
{
    bool is_one = false;
    for (uint32_t i = 0; i < own->tasks_n; i++)
        is_one |= t->task.at[own->first_task + i].has_mpi;
    return is_one;
}

/* Defines the world of an application, and a communicator of the same tasks per lane. Ranks
 * continue over the applications. Their communicators differ in spite of equal numbers. */
static void define_world(struct as_prv_reading *t, uint32_t task, const struct as_prv_world *own,
                         const uint64_t *world)
{
    const uint32_t made = t->task.at[task].made, rank = task - own->first_task;
    const uint64_t stride = (uint64_t)comm_of_lane(t, (int64_t)t->lanes_n + 1) + 1;
    as_maker_world(t->maker, made, task, own->tasks_n);
    for (int64_t lane = 0; lane <= (int64_t)t->lanes_n; lane++) {
        const uint64_t comm = (uint64_t)comm_of_lane(t, lane);
        as_maker_comm(t->maker, made, comm, comm + own->application * stride, rank,
                      world + own->first_task, own->tasks_n, lane ? "" : "MPI_COMM_WORLD");
    }
}

static int define_all(struct as_prv_reading *t, struct as_error *err)
{
    uint64_t *world = as_calloc(t->task.n + 1, sizeof *world);
    if (!world)
        return as_error_nomem(err, t->path);
    for (size_t i = 0; i < t->task.n; i++)
        world[i] = i;
    for (uint32_t p = 0; p < t->task.n; p++) {
        const uint32_t made = t->task.at[p].made;
        const struct as_prv_world own = as_prv_taken_world(t, p);
        as_maker_fact(t->maker, made, "imported", t->path);
        as_prv_define_places(t, made);
        for (size_t i = 0; i < t->name.n; i++)
            as_maker_name(t->maker, made, i + 1, t->name.at[i].group, t->name.at[i].text);
        if (!is_of_ranks(t, &own))
            continue;
        define_world(t, p, &own, world);
        define_groups(t, p);
    }
    as_free(world);
    return 0;
}

int as_prv_emit(struct as_prv_reading *t, struct as_error *err)
{
    as_prv_time_samples(t);
    AS_TRY(open_streams(t, err));
    AS_TRY(as_ordered_read(t->records, emit_record, t, err));
    as_vec_foreach (&t->thread, thread) {
        if (!thread->is_made)
            continue;
        AS_TRY(as_prv_emit_stacks(t, thread, true));
        as_maker_end_thread(t->maker, thread->made, thread->end_ns);
    }
    AS_TRY(define_all(t, err));
    return as_maker_finish(t->maker, err);
}
