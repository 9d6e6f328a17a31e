/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "exchange/prv_taking.h"

/* ---- Objects ------------------------------------------------------------------------------- */

static int list_tasks(struct as_prv_reading *t)
{
    const struct as_prv_header *h = t->header;
    as_vec_foreach (&h->task, task) {
        const uint32_t at = (uint32_t)(task - h->task.at);
        AS_TRY(as_vec_push(&t->task, (struct as_prv_import_task){0}));
        for (uint32_t i = 0; i < task->threads_n; i++) {
            const struct as_prv_import_thread thread = {.task = at,
                                                        .number = i,
                                                        .begin_ns = INT64_MAX,
                                                        .end_ns = 0,
                                                        .task_open = -1,
                                                        .fd = -1};
            AS_TRY(as_vec_push(&t->thread, thread));
        }
    }
    for (size_t i = 0; i < h->group.n; i++)
        AS_TRY(as_vec_push(&t->root, (struct as_prv_import_roots){0}));
    return 0;
}

size_t as_prv_taken_group(const struct as_prv_reading *t, uint32_t task, int64_t number)
{
    const uint32_t application = t->header->task.at[task].application;
    size_t at = 0;
    while (at < t->header->group.n && (t->header->group.at[at].number != number ||
                                       t->header->group.at[at].application != application))
        at++;
    return at;
}

struct as_prv_world as_prv_taken_world(const struct as_prv_reading *t, uint32_t task)
{
    const struct as_prv_header *h = t->header;
    const uint32_t application = h->task.at[task].application;
    const uint32_t first = h->application.at[application];
    const uint32_t end = application + 1 < h->application.n ? h->application.at[application + 1]
                                                            : (uint32_t)h->task.n;
    return (struct as_prv_world){application, first, end - first};
}

/* The first communicator with all tasks of an application is its world. Numbers 1 and 2 are the
 * world and the process itself (doc/internals/trace.md). */
uint64_t as_prv_taken_comm(const struct as_prv_reading *t, uint32_t task, int64_t number)
{
    const size_t at = as_prv_taken_group(t, task, number);
    const struct as_prv_world own = as_prv_taken_world(t, task);
    size_t world = 0;
    while (world < t->header->group.n &&
           (t->header->group.at[world].application != own.application ||
            t->header->group.at[world].member.n != own.tasks_n))
        world++;
    if (at == t->header->group.n)
        return 0;
    return at == world ? 1 : 3 + at;
}

/* ---- Records --------------------------------------------------------------------------------- */

static int add_prv_record(struct as_prv_reading *t, int64_t ns, int place,
                          struct as_prv_imported *record)
{
    struct as_prv_import_thread *thread = &t->thread.at[record->thread];
    thread->begin_ns = ns < thread->begin_ns ? ns : thread->begin_ns;
    thread->end_ns = ns > thread->end_ns ? ns : thread->end_ns;
    record->order = ns * AS_TAKEN_PLACES_N + place;
    return as_ordered_add(t->records, record, t->err);
}

/* Finds the number of a collective in its communicator for a task. Keeps the root if this task is
 * it. */
static int note_collective(struct as_prv_reading *t, uint32_t task, size_t group, bool is_root,
                           int64_t *number)
{
    struct as_prv_import_task *of = &t->task.at[task];
    const struct as_prv_group *comm = &t->header->group.at[group];
    while (of->gathered.n <= group)
        AS_TRY(as_vec_push(&of->gathered, 0));
    *number = of->gathered.at[group]++;
    if (!is_root)
        return 0;
    while (t->root.at[group].rank.n <= (uint64_t)*number)
        AS_TRY(as_vec_push(&t->root.at[group].rank, -1));
    for (size_t rank = 0; rank < comm->member.n; rank++)
        if (comm->member.at[rank] == task)
            t->root.at[group].rank.at[*number] = (int32_t)rank;
    return 0;
}

/* Returns the only communicator with several members, if it has all tasks of the application;
 * otherwise -1. Collectives without their own events belong to it. */
static int64_t only_communicator(const struct as_prv_reading *t, uint32_t task)
{
    const struct as_prv_world own = as_prv_taken_world(t, task);
    int64_t number = -1;
    for (size_t i = 0; i < t->header->group.n; i++) {
        const struct as_prv_group *group = &t->header->group.at[i];
        if (group->application != own.application || group->member.n < 2)
            continue;
        if (number >= 0 || group->member.n != own.tasks_n)
            return -1;
        number = group->number;
    }
    return number;
}

static int end_collective(struct as_prv_reading *t, uint32_t at)
{
    struct as_prv_import_thread *thread = &t->thread.at[at];
    struct as_prv_import_collective gather = thread->gather;
    if (!gather.is_open)
        return 0;
    thread->gather.is_open = false;
    if (gather.comm < 0)
        gather.comm = only_communicator(t, thread->task);
    const size_t group = as_prv_taken_group(t, thread->task, gather.comm);
    struct as_prv_imported record = {
        .kind = AS_TAKEN_GATHER,
        .thread = at,
        .field = {gather.comm, -1, gather.sent_b, gather.received_b, gather.request}};
    if (group < t->header->group.n &&
        note_collective(t, thread->task, group, gather.is_root, &record.field[1]) < 0)
        return as_error_nomem(t->err, t->path);
    return add_prv_record(t, gather.ns, AS_TAKEN_AT, &record);
}

/* Returns true for collectives without their own events. Nonblocking routines of 50000002 name
 * their request in events. */
static bool is_bare_collective(struct as_prv_reading *t, int64_t value)
{
    uint32_t name;
    if (as_prv_taken_name(t, AS_PRV_MPI_GROUP, value, &name) < 0)
        return false;
    const char *text = t->name.at[name - 1].text;
    const bool is_immediate = strncmp(text, "MPI_I", 5) == 0 && text[5] >= 'a';
    return strncmp(text, "MPI_", 4) == 0 && !is_immediate && !strstr(text, "_init") &&
           strcmp(text, "MPI_Reduce_local") != 0;
}

/* Ends a call. A call without size and root is a collective of the only communicator. */
static int end_bare_collective(struct as_prv_reading *t, uint32_t at)
{
    struct as_prv_import_thread *thread = &t->thread.at[at];
    const struct as_taken_bare bare = thread->bare;
    const int64_t comm = bare.value ? only_communicator(t, thread->task) : -1;
    struct as_prv_imported record = {
        .kind = AS_TAKEN_GATHER, .thread = at, .field = {comm, -1, 0, 0, 0}};
    thread->bare.value = 0;
    if (comm < 0 || !is_bare_collective(t, bare.value))
        return 0;
    const size_t group = as_prv_taken_group(t, thread->task, comm);
    if (note_collective(t, thread->task, group, false, &record.field[1]) < 0)
        return as_error_nomem(t->err, t->path);
    return add_prv_record(t, bare.ns, AS_TAKEN_AT, &record);
}

static int note_collective_call(struct as_prv_reading *t, uint32_t at, int64_t ns, int64_t value)
{
    AS_TRY(end_bare_collective(t, at));
    t->thread.at[at].bare = (struct as_taken_bare){ns, value};
    return 0;
}

/* Parses sizes, root and communicator. They have one time and precede the next event of their
 * thread. */
static int parse_prv_collective(struct as_prv_reading *t, uint32_t thread, int64_t ns, int64_t type,
                                int64_t value)
{
    struct as_prv_import_collective *gather = &t->thread.at[thread].gather;
    if (gather->is_open && gather->ns != ns)
        AS_TRY(end_collective(t, thread));
    t->thread.at[thread].bare.value = 0;
    if (!gather->is_open)
        *gather = (struct as_prv_import_collective){.is_open = true, .ns = ns, .comm = -1};
    if (type == AS_PRV_GROUP_SENT)
        gather->sent_b = value;
    else if (type == AS_PRV_GROUP_RECEIVED)
        gather->received_b = value;
    else if (type == AS_PRV_GROUP_ROOT)
        gather->is_root = value != 0;
    else
        gather->comm = value;
    return 0;
}

/* Imports a request. Its first event is at its collective, the second at its completion. */
static int import_prv_request(struct as_prv_reading *t, uint32_t thread, int64_t ns, int64_t value)
{
    struct as_prv_import_collective *gather = &t->thread.at[thread].gather;
    if (gather->is_open && gather->ns == ns) {
        gather->request = value;
        return 0;
    }
    AS_TRY(end_collective(t, thread));
    struct as_prv_imported record = {.kind = AS_TAKEN_GATHERED, .thread = thread, .field = {value}};
    return add_prv_record(t, ns, AS_TAKEN_BEFORE, &record);
}

static int import_prv_event(struct as_prv_reading *t, uint32_t thread, int64_t ns, int64_t type,
                            int64_t value)
{
    if (type == AS_PRV_GROUP_REQUEST)
        return import_prv_request(t, thread, ns, value);
    if (type >= AS_PRV_GROUP_SENT && type <= AS_PRV_GROUP_COMM)
        return parse_prv_collective(t, thread, ns, type, value);
    AS_TRY(end_collective(t, thread));
    if (type == AS_PRV_MPI_GROUP)
        AS_TRY(note_collective_call(t, thread, ns, value));
    if (type == AS_PRV_SAMPLED + 1 && value && as_prv_note_sample(t, &t->thread.at[thread], ns) < 0)
        return as_error_nomem(t->err, t->path);
    t->has_calls |= as_prv_is_call(type) && type != AS_PRV_USER;
    t->task.at[t->thread.at[thread].task].has_mpi |=
        type >= AS_PRV_MPI_POINT && type <= AS_PRV_MPI_IO;
    struct as_prv_imported record = {
        .kind = AS_TAKEN_EVENT, .thread = thread, .field = {type, value}};
    return add_prv_record(t, ns, AS_TAKEN_AT, &record);
}

/* Imports a state, but only in a trace without calls. Otherwise states would repeat the calls. */
static int import_prv_state(struct as_prv_reading *t, const struct as_prv_line_read *line)
{
    struct as_prv_import_thread *thread = &t->thread.at[line->thread];
    const int64_t end_ns = line->end_ns < 0 ? t->header->end_ns : line->end_ns;
    struct as_prv_imported record = {
        .kind = AS_TAKEN_STATE, .thread = line->thread, .field = {line->state}};
    const bool is_any = line->state != AS_PRV_RUNNING && line->state != AS_PRV_IDLE;
    if (line->state == 2) /* not created yet */
        return 0;
    if (is_any && end_ns > line->ns && !t->has_calls) {
        AS_TRY(add_prv_record(t, line->ns, AS_TAKEN_AT, &record));
        record.kind = AS_TAKEN_STATE_END;
        return add_prv_record(t, end_ns, AS_TAKEN_AT, &record);
    }
    thread->begin_ns = line->ns < thread->begin_ns ? line->ns : thread->begin_ns;
    thread->end_ns = end_ns > thread->end_ns ? end_ns : thread->end_ns;
    return 0;
}

#define LANES_MOST 64

/* Chooses a lane for a message. Lines are in the order of sends and do not name their communicator.
 * If the receives of a channel were posted in another order, they belong to several communicators.
 * Each lane has the messages of one order. */
static int lane_of(struct as_prv_reading *t, int64_t from, int64_t to, int64_t tag,
                   int64_t asked_ns, int64_t *out)
{
    for (uint32_t lane = 0; lane < LANES_MOST; lane++) {
        const uint64_t key = as_hash_mix(
            as_hash_mix(as_hash_mix(as_hash_mix(13, (uint64_t)from), (uint64_t)to), (uint64_t)tag),
            lane);
        const uint32_t at = as_map_u64_get(&t->lanes, key);
        const bool is_known = at != AS_MAP_NONE;
        if (is_known && t->asked.at[at] > asked_ns)
            continue;
        if (!is_known && (as_vec_push(&t->asked, 0) < 0 ||
                          as_map_u64_put(&t->lanes, key, (uint32_t)t->asked.n - 1) < 0))
            return as_error_nomem(t->err, t->path);
        t->asked.at[is_known ? at : t->asked.n - 1] = asked_ns;
        t->lanes_n = lane > t->lanes_n ? lane : t->lanes_n;
        *out = lane;
        return 0;
    }
    *out = LANES_MOST - 1;
    return 0;
}

static int import_prv_message(struct as_prv_reading *t, const struct as_prv_line_read *line)
{
    const int64_t from = t->thread.at[line->thread].task, to = t->thread.at[line->receiver].task;
    const int64_t asked_ns = line->logical_receive_ns < line->physical_receive_ns
                                 ? line->logical_receive_ns
                                 : line->physical_receive_ns;
    const int64_t done_ns = line->logical_receive_ns > line->physical_receive_ns
                                ? line->logical_receive_ns
                                : line->physical_receive_ns;
    const bool has_end = line->physical_send_ns > line->ns;
    int64_t lane;
    AS_TRY(lane_of(t, from, to, line->tag, asked_ns, &lane));
    struct as_prv_imported record = {
        .kind = AS_TAKEN_SEND,
        .thread = line->thread,
        .field = {to, line->tag, line->size_b, has_end ? ++t->requests_n : 0, lane}};
    t->task.at[from].has_mpi = t->task.at[to].has_mpi = true;
    AS_TRY(add_prv_record(t, line->ns, AS_TAKEN_AFTER, &record));
    record.kind = AS_TAKEN_SENT;
    if (has_end)
        AS_TRY(add_prv_record(t, line->physical_send_ns, AS_TAKEN_BEFORE, &record));
    record =
        (struct as_prv_imported){.kind = AS_TAKEN_POST,
                                 .thread = line->receiver,
                                 .field = {from, line->tag, line->size_b, ++t->requests_n, lane}};
    AS_TRY(add_prv_record(t, asked_ns, AS_TAKEN_AFTER, &record));
    record.kind = AS_TAKEN_RECEIVE;
    return add_prv_record(t, done_ns, AS_TAKEN_BEFORE, &record);
}

static int import_prv_line(struct as_prv_reading *t, const struct as_prv_line_read *line)
{
    t->counts->records_n++;
    if (line->kind == AS_PRV_LINE_STATE)
        return import_prv_state(t, line);
    if (line->kind == AS_PRV_LINE_MESSAGE)
        return import_prv_message(t, line);
    for (size_t i = 0; i + 1 < line->value.n; i += 2)
        AS_TRY(
            import_prv_event(t, line->thread, line->ns, line->value.at[i], line->value.at[i + 1]));
    return 0;
}

static int import_prv_lines(struct as_prv_reading *t, struct as_error *err)
{
    const struct as_prv_line_read *line;
    int rc;
    while ((rc = as_prv_file_next(t->file, &line, err)) > 0)
        AS_TRY(import_prv_line(t, line));
    for (uint32_t i = 0; rc == 0 && i < t->thread.n; i++)
        rc = end_collective(t, i);
    return rc;
}

/* ---- All ------------------------------------------------------------------------------------- */

static void count_bad_lines(const struct as_prv_reading *t)
{
    const struct as_prv_bad bad = as_prv_file_bad(t->file);
    t->counts->bad_n += bad.lines_n;
    if (bad.lines_n)
        snprintf(t->counts->first_bad, sizeof t->counts->first_bad, "line %llu: %s",
                 (unsigned long long)bad.first_line, bad.why);
    if (bad.cut_line && bad.cut_line != bad.first_line) {
        const size_t n = strlen(t->counts->first_bad);
        snprintf(t->counts->first_bad + n, sizeof t->counts->first_bad - n,
                 "; the file ends inside line %llu", (unsigned long long)bad.cut_line);
    }
    t->counts->start_ns = t->header->start_ns;
    t->counts->length_ns = t->header->end_ns;
    as_vec_foreach (&t->thread, thread)
        t->counts->length_ns =
            thread->end_ns > t->counts->length_ns ? thread->end_ns : t->counts->length_ns;
}

static int import_file(struct as_prv_reading *t, const char *directory, struct as_error *err)
{
    AS_TRY(as_prv_file_open(t->path, &t->file, err));
    t->header = as_prv_file_header(t->file);
    AS_TRY(as_prv_pcf_read(t->path, &t->pcf, err));
    if (as_ordered_new(&t->records, sizeof(struct as_prv_imported)) < 0 || list_tasks(t) < 0)
        return as_error_nomem(err, t->path);
    AS_TRY(import_prv_lines(t, err));
    const struct as_prv_bad bad = as_prv_file_bad(t->file);
    if (t->counts->records_n == 0 && bad.lines_n)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s:%llu: %s, and no line after the header is valid", t->path,
                            (unsigned long long)bad.first_line, bad.why);
    AS_TRY(as_maker_new(directory, &t->maker, err));
    AS_TRY(as_prv_emit(t, err));
    count_bad_lines(t);
    return 0;
}

int as_prv_import(const char *path, const char *directory, struct as_import_counts *counts,
                  struct as_error *err)
{
    struct as_prv_reading t = {.path = path, .counts = counts, .err = err};
    *counts = (struct as_import_counts){0};
    as_map_u64_init(&t.names);
    as_map_u64_init(&t.lanes);
    as_map_u64_init(&t.places);
    as_map_u64_init(&t.totals);
    const int rc = import_file(&t, directory, err);
    as_maker_free(&t.maker);
    as_ordered_free(&t.records);
    as_prv_file_close(&t.file);
    as_prv_pcf_fini(&t.pcf);
    as_vec_foreach (&t.thread, thread)
        as_vec_fini(&thread->call);
    as_vec_foreach (&t.task, task) {
        as_vec_fini(&task->region);
        as_vec_fini(&task->gathered);
    }
    as_vec_foreach (&t.root, root)
        as_vec_fini(&root->rank);
    as_vec_foreach (&t.owned, text)
        as_free(*text);
    as_vec_fini(&t.thread);
    as_vec_fini(&t.task);
    as_vec_fini(&t.root);
    as_vec_fini(&t.name);
    as_vec_fini(&t.owned);
    as_vec_fini(&t.place);
    as_vec_fini(&t.gap_ns);
    as_map_u64_fini(&t.places);
    as_map_u64_fini(&t.totals);
    as_vec_fini(&t.total);
    as_map_u64_fini(&t.names);
    as_map_u64_fini(&t.lanes);
    as_vec_fini(&t.asked);
    return rc;
}
