/* SPDX-License-Identifier: Apache-2.0 */
/* Reading .dim: one look at all lines finds the pieces of each task, a cursor a task reads them. */
#include "simulate/dim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/filemap.h"
#include "base/index.h"
#include "base/untrusted_open.h"
#include "simulate/machine.h"

#define RECORD_COMPUTE    1
#define RECORD_SEND       2
#define RECORD_RECEIVE    3
#define RECORD_COLLECTIVE 10
#define RECORD_EVENT      20

#define NAME_B 16u /* of the first line, "#DIMEMAS:" */

struct dim_piece {
    const char *begin, *end;
    uint32_t next; /* of the same task; UINT32_MAX: none */
};

/* A receive or collective that was begun and is to be waited for. */
struct dim_pending {
    uint32_t partner, comm;
    int32_t tag;
    bool is_collective;
    int64_t request;
};

struct dim_task {
    const char *kept;     /* pages before it are given back */
    uint32_t first, last; /* pieces */
    uint32_t piece;       /* that is read */
    const char *at;
    int64_t requests_n;
    AS_VEC(struct dim_pending) pending;
};

struct dim_comm {
    uint64_t id;
    uint32_t place;
};

struct dim_reader {
    struct as_filemap map;
    struct as_view text;
    const char *name;
    char *own_name;
    AS_VEC(struct dim_piece) piece;
    AS_VEC(struct dim_task) task;
    AS_VEC(struct dim_comm) comm;
    struct as_index comm_index;
    struct dim_comm latest;
};

/* ---- Fields ---------------------------------------------------------------------------------- */

/* A line; `is_bad` once a field is missing. */
struct dim_line {
    const char *begin, *at, *end;
    bool is_bad;
};

static uint64_t dim_number(struct dim_line *line)
{
    const char *at = line->at;
    uint64_t v = 0;
    while (at < line->end && (unsigned char)(*at - '0') < 10 && v < UINT64_C(1) << 59)
        v = 10 * v + (uint64_t)(*at++ - '0');
    line->is_bad |= at == line->at || (at < line->end && (unsigned char)(*at - '0') < 10);
    line->at = at;
    return v;
}

/* Behind a colon. */
static uint64_t dim_field(struct dim_line *line)
{
    if (line->at >= line->end || *line->at != ':') {
        line->is_bad = true;
        return 0;
    }
    line->at++;
    return dim_number(line);
}

static uint64_t dim_field_below(struct dim_line *line, uint64_t limit)
{
    const uint64_t v = dim_field(line);
    line->is_bad |= v >= limit;
    return v < limit ? v : 0;
}

static int32_t dim_tag(struct dim_line *line)
{
    const bool is_negative = line->end - line->at > 1 && line->at[1] == '-';
    if (is_negative && *line->at == ':')
        line->at += 2;
    const uint64_t v = is_negative ? dim_number(line) : dim_field(line);
    line->is_bad |= v > INT32_MAX;
    return is_negative ? -(int32_t)(v & INT32_MAX) : (int32_t)(v & INT32_MAX);
}

static bool has_field(const struct dim_line *line)
{
    return line->at < line->end && *line->at == ':';
}

/* Seconds as a decimal number, to the nearest ns. */
static int64_t dim_seconds_ns(struct dim_line *line)
{
    const uint64_t whole = dim_field_below(line, (uint64_t)AS_ACTION_NS_MAX / 1000000000);
    uint64_t part = 0, unit = 1000000000;
    bool rounds_up = false;
    if (line->at < line->end && *line->at == '.')
        for (line->at++; line->at < line->end && (unsigned char)(*line->at - '0') < 10;
             line->at++) {
            const uint64_t digit = (uint64_t)(*line->at - '0');
            if (unit == 1)
                rounds_up = digit >= 5;
            unit /= 10;
            part += unit * digit;
        }
    line->is_bad |= line->at < line->end && *line->at != ':';
    return (int64_t)(whole * 1000000000 + part + rounds_up);
}

/* ---- Pages ----------------------------------------------------------------------------------- */

#define PAGE_B       4096u
#define GIVEN_BACK_B (256u << 10)

/* Gives whole pages between the two back, which are read again from the file where they are needed
 * once more: a file need not fit the memory. */
static void release_read_pages(const struct dim_reader *d, const char **kept, const char *at)
{
    const char *page = d->text.p + (size_t)(at - d->text.p) / PAGE_B * PAGE_B;
    if (!d->map.is_mapped || page < *kept + GIVEN_BACK_B)
        return;
    madvise((void *)*kept, (size_t)(page - *kept), MADV_DONTNEED);
    *kept = page;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static int bad_line(const struct dim_reader *d, const char *at, const char *why,
                    struct as_error *err)
{
    size_t number = 1;
    for (const char *p = d->text.p; (p = memchr(p, '\n', (size_t)(at - p))) != NULL && p < at; p++)
        number++;
    return as_error_set(err, AS_ERR_CORRUPT, "%s:%zu: %s; use a whole .dim file", d->name, number,
                        why);
}

static struct dim_line line_at(const char *at, const char *end)
{
    const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
    stop = stop ? stop : end;
    return (struct dim_line){
        .begin = at, .at = at, .end = stop > at && stop[-1] == '\r' ? stop - 1 : stop};
}

static const char *behind_line(const struct dim_line *line, const char *end)
{
    const char *at = line->end;
    at += at < end && *at == '\r';
    return at < end ? at + 1 : end;
}

/* ---- Communicators --------------------------------------------------------------------------- */

static bool find_comm(const struct dim_reader *d, uint64_t id, uint32_t *place)
{
    const uint32_t row = as_index_of_word(&d->comm_index, d->comm.at, sizeof *d->comm.at, id);
    if (row != AS_INDEX_NONE)
        *place = d->comm.at[row].place;
    return row != AS_INDEX_NONE;
}

static int add_comm(struct dim_reader *d, struct as_simulated_program *program, uint64_t id)
{
    const struct dim_comm comm = {id, (uint32_t)program->comm.n};
    AS_TRY(as_vec_push(&program->comm, (struct as_program_comm){0}));
    AS_TRY(as_vec_push(&d->comm, comm));
    return as_index_add_word(&d->comm_index, id, (uint32_t)(d->comm.n - 1));
}

/* "d:1:ID:N:TASK:TASK..." */
static int parse_comm(struct dim_reader *d, struct as_simulated_program *program,
                      struct dim_line *line, struct as_error *err)
{
    uint32_t place;
    line->at++;
    dim_field(line);
    const uint64_t id = dim_field(line), n = dim_field(line);
    if (line->is_bad || n > program->rank_n)
        return bad_line(d, line->begin, "a communicator does not fit the tasks", err);
    if (find_comm(d, id, &place))
        return bad_line(d, line->begin, "the communicator is defined twice", err);
    if (add_comm(d, program, id) < 0)
        return as_error_nomem(err, d->name);
    struct as_program_comm *comm = &program->comm.at[program->comm.n - 1];
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t task = (uint32_t)dim_field_below(line, program->rank_n);
        if (line->is_bad)
            return bad_line(d, line->begin, "a member of the communicator is missing", err);
        if (as_vec_push(&comm->rank, task) < 0)
            return as_error_nomem(err, d->name);
    }
    return 0;
}

/* All tasks, unless the file says otherwise. */
static int add_worlds(struct dim_reader *d, struct as_simulated_program *program)
{
    for (uint64_t id = 0; id < 2; id++) {
        uint32_t place;
        if (find_comm(d, id, &place))
            continue;
        AS_TRY(add_comm(d, program, id));
        struct as_program_comm *comm = &program->comm.at[program->comm.n - 1];
        for (uint32_t rank = 0; rank < program->rank_n; rank++)
            AS_TRY(as_vec_push(&comm->rank, rank));
    }
    return 0;
}

static uint32_t dim_comm_field(struct dim_reader *d, struct dim_line *line)
{
    const uint64_t id = dim_field(line);
    if (id != d->latest.id || d->latest.place == UINT32_MAX) {
        uint32_t place = UINT32_MAX;
        line->is_bad |= !find_comm(d, id, &place);
        d->latest = (struct dim_comm){id, place};
    }
    return d->latest.place;
}

/* ---- The first look -------------------------------------------------------------------------- */

/* "#DIMEMAS:"name":1,OFFSET:N(THREADS,...),COMMUNICATORS" */
static int parse_head(struct dim_reader *d, struct as_simulated_program *program,
                      const char **behind, struct as_error *err)
{
    const char *end = d->text.p + d->text.n;
    struct dim_line line = line_at(d->text.p, end);
    const char *name_end = memrchr(line.begin, '"', (size_t)(line.end - line.begin));
    const char *from = name_end ? name_end : line.begin;
    const char *open = memchr(from, '(', (size_t)(line.end - from));
    if (!as_view_starts(d->text, "#DIMEMAS:") || !open)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s:1: the first line does not begin as '#DIMEMAS:\"NAME\":1,0:N('; "
                            "name a .dim file",
                            d->name);
    line.at = open;
    while (line.at > from && (unsigned char)(line.at[-1] - '0') < 10)
        line.at--;
    const uint64_t n = dim_number(&line);
    for (uint64_t i = 0; i < n && !line.is_bad; i++) {
        line.is_bad |= line.at >= line.end || *line.at != (i ? ',' : '(');
        line.at++;
        if (!line.is_bad && dim_number(&line) != 1)
            return as_error_set(err, AS_ERR_UNSUPPORTED,
                                "%s: task %llu has several threads; use a trace with one thread in "
                                "each task",
                                d->name, (unsigned long long)i);
        const struct dim_task task = {.first = UINT32_MAX, .last = UINT32_MAX};
        if (!line.is_bad && as_vec_push(&d->task, task) < 0)
            return as_error_nomem(err, d->name);
    }
    if (line.is_bad || n == 0)
        return bad_line(d, d->text.p, "the number of tasks does not fit their threads", err);
    program->rank_n = (uint32_t)n;
    *behind = behind_line(&line, end);
    return 0;
}

static int add_to_task(struct dim_reader *d, uint32_t task, const struct dim_line *line,
                       const char *behind)
{
    struct dim_task *t = &d->task.at[task];
    const uint32_t place = (uint32_t)d->piece.n;
    const struct dim_piece piece = {line->begin, behind, UINT32_MAX};
    if (t->last != UINT32_MAX && d->piece.at[t->last].end == line->begin) {
        d->piece.at[t->last].end = behind;
        return 0;
    }
    if (place >= UINT32_MAX - 1)
        return AS_ERR_NOMEM;
    AS_TRY(as_vec_push(&d->piece, piece));
    if (t->last == UINT32_MAX)
        t->first = place;
    else
        d->piece.at[t->last].next = place;
    t->last = place;
    return 0;
}

static int look_at_line(struct dim_reader *d, struct as_simulated_program *program,
                        struct dim_line *line, const char *behind, struct as_error *err)
{
    if (line->begin == line->end || *line->begin == 's' || *line->begin == '#')
        return 0;
    if (*line->begin == 'd')
        return parse_comm(d, program, line, err);
    dim_number(line);
    const uint64_t task = dim_field(line);
    if (line->is_bad)
        return bad_line(d, line->begin, "the line does not begin as TYPE:TASK:", err);
    if (task >= program->rank_n)
        return bad_line(d, line->begin, "the task is not one of those in the first line", err);
    return add_to_task(d, (uint32_t)task, line, behind) < 0 ? as_error_nomem(err, d->name) : 0;
}

static int look_at_all(struct dim_reader *d, struct as_simulated_program *program,
                       struct as_error *err)
{
    const char *end = d->text.p + d->text.n, *at = end, *kept = d->text.p;
    AS_TRY(parse_head(d, program, &at, err));
    while (at < end) {
        struct dim_line line = line_at(at, end);
        release_read_pages(d, &kept, at);
        at = behind_line(&line, end);
        AS_TRY(look_at_line(d, program, &line, at, err));
    }
    return add_worlds(d, program) < 0 ? as_error_nomem(err, d->name) : 0;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* The oldest that fits: its request. 0: there is none. */
static int64_t pop_pending_request(struct dim_task *task, const struct as_action *action,
                                   bool is_collective)
{
    for (size_t i = 0; i < task->pending.n; i++) {
        const struct dim_pending *p = &task->pending.at[i];
        const bool is_it =
            p->is_collective == is_collective && p->comm == action->comm &&
            (is_collective || (p->partner == action->partner && p->tag == action->tag));
        if (!is_it)
            continue;
        const int64_t request = p->request;
        memmove(&task->pending.at[i], p + 1, (task->pending.n - i - 1) * sizeof *p);
        task->pending.n--;
        return request;
    }
    return 0;
}

static int begin_pending(struct dim_task *task, struct as_action *action, bool is_collective)
{
    action->request = ++task->requests_n;
    return as_vec_push(&task->pending, (struct dim_pending){.partner = action->partner,
                                                            .comm = action->comm,
                                                            .tag = action->tag,
                                                            .is_collective = is_collective,
                                                            .request = action->request});
}

static void wait_pending(struct dim_task *task, struct as_action *action, bool is_collective)
{
    action->request = pop_pending_request(task, action, is_collective);
    action->kind = AS_ACTION_WAIT; /* of no request: without effect */
}

/* The thread of a partner: 0, or -1 or -2 for any. */
static void skip_thread(struct dim_line *line)
{
    const bool is_any = line->at + 1 < line->end && line->at[0] == ':' && line->at[1] == '-';
    if (!is_any) {
        dim_field_below(line, 1);
        return;
    }
    line->at += 2;
    line->is_bad |= dim_number(line) > 2;
}

#define SEND_SYNCHRONOUS 1u
#define SEND_IMMEDIATE   2u

/* "2:TASK:THREAD:TO:ITS THREAD:SIZE:TAG:COMM:SYNC" */
static void parse_send(struct dim_reader *d, struct dim_line *line, struct as_action *action)
{
    action->kind = AS_ACTION_SEND;
    action->partner = (uint32_t)dim_field_below(line, d->task.n);
    skip_thread(line);
    action->sent_b = (int64_t)dim_field_below(line, (uint64_t)AS_ACTION_SIZE_B_MAX);
    action->tag = dim_tag(line);
    action->comm = dim_comm_field(d, line);
    const uint64_t sync = dim_field_below(line, 4);
    action->is_synchronous = sync & SEND_SYNCHRONOUS;
    action->request = sync & SEND_IMMEDIATE ? AS_REQUEST_DETACHED : AS_REQUEST_BLOCKING;
}

/* "3:TASK:THREAD:FROM:ITS THREAD:SIZE:TAG:COMM:TYPE", of which 0 blocks, 1 begins, 2 waits. */
static int parse_receive(struct dim_reader *d, struct dim_task *task, struct dim_line *line,
                         struct as_action *action)
{
    action->kind = AS_ACTION_RECEIVE;
    action->partner = (uint32_t)dim_field_below(line, d->task.n);
    skip_thread(line);
    dim_field_below(line, (uint64_t)AS_ACTION_SIZE_B_MAX);
    action->tag = dim_tag(line);
    action->comm = dim_comm_field(d, line);
    const uint64_t type = dim_field_below(line, 3);
    if (line->is_bad)
        return 0;
    if (type == 1)
        return begin_pending(task, action, false);
    if (type == 2)
        wait_pending(task, action, false);
    return 0;
}

/* "10:TASK:THREAD:NUMBER:COMM:IS ROOT:ROOT'S THREAD:SENT:RECEIVED[:SYNC]" */
static int parse_collective(struct dim_reader *d, struct dim_task *task, struct dim_line *line,
                            struct as_action *action)
{
    action->kind = AS_ACTION_COLLECTIVE;
    action->collective = (uint8_t)dim_field_below(line, AS_COLLECTIVES_N);
    action->comm = dim_comm_field(d, line);
    dim_field(line);
    dim_field(line);
    action->sent_b = (int64_t)dim_field_below(line, (uint64_t)AS_ACTION_SIZE_B_MAX);
    action->received_b = (int64_t)dim_field_below(line, (uint64_t)AS_ACTION_SIZE_B_MAX);
    const uint64_t sync = has_field(line) ? dim_field_below(line, 4) : 1;
    if (line->is_bad)
        return 0;
    if (sync == 0)
        return begin_pending(task, action, true);
    if (sync == 2)
        wait_pending(task, action, true);
    return 0;
}

/* 1: it is an action. 0: it is none. */
static int parse_record(struct dim_reader *d, uint32_t rank, struct dim_line *line,
                        struct as_action *action, struct as_error *err)
{
    struct dim_task *task = &d->task.at[rank];
    const uint64_t type = dim_number(line);
    int rc = 0;
    dim_field(line); /* the task, which the piece is of */
    dim_field_below(line, 1);
    *action = (struct as_action){.kind = AS_ACTION_COMPUTE};
    if (type == RECORD_EVENT)
        return 0;
    if (type == RECORD_COMPUTE)
        action->ns = dim_seconds_ns(line);
    else if (type == RECORD_SEND)
        parse_send(d, line, action);
    else if (type == RECORD_RECEIVE)
        rc = parse_receive(d, task, line, action);
    else if (type == RECORD_COLLECTIVE)
        rc = parse_collective(d, task, line, action);
    else
        return bad_line(d, line->begin, "the type of the record is unknown", err);
    if (rc < 0)
        return as_error_nomem(err, d->name);
    if (line->is_bad || line->at < line->end)
        return bad_line(d, line->begin, "the record has missing, wrong or additional fields", err);
    return 1;
}

static int read_task(void *context, uint32_t rank, struct as_action *out, size_t capacity,
                     size_t *n, struct as_error *err)
{
    struct dim_reader *d = context;
    struct dim_task *task = &d->task.at[rank];
    for (*n = 0; *n < capacity && task->piece != UINT32_MAX;) {
        const struct dim_piece *piece = &d->piece.at[task->piece];
        if (!task->at) {
            task->at = piece->begin;
            task->kept =
                d->text.p + ((size_t)(task->at - d->text.p) + PAGE_B - 1) / PAGE_B * PAGE_B;
        }
        if (task->at >= piece->end) {
            task->piece = piece->next;
            task->at = NULL;
            continue;
        }
        struct dim_line line = line_at(task->at, piece->end);
        task->at = behind_line(&line, piece->end);
        const int rc = parse_record(d, rank, &line, &out[*n], err);
        if (rc < 0)
            return rc;
        *n += (size_t)rc;
    }
    if (task->at)
        release_read_pages(d, &task->kept, task->at);
    return d->map.is_mapped && task->piece == UINT32_MAX ? as_filemap_check(err) : 0;
}

static int rewind_tasks(void *context, struct as_error *err)
{
    struct dim_reader *d = context;
    (void)err;
    as_vec_foreach (&d->task, task) {
        task->piece = task->first;
        task->at = NULL;
        task->requests_n = 0;
        task->pending.n = 0;
    }
    return 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static void close_dim(void *context)
{
    struct dim_reader *d = context;
    as_vec_foreach (&d->task, task)
        as_vec_fini(&task->pending);
    as_vec_fini(&d->task);
    as_vec_fini(&d->piece);
    as_vec_fini(&d->comm);
    as_index_fini(&d->comm_index);
    as_filemap_close(&d->map);
    as_free(d->own_name);
    as_free(d);
}

static int begin_dim(struct dim_reader *d, struct as_simulated_program *out, struct as_error *err)
{
    d->latest.place = UINT32_MAX;
    *out = (struct as_simulated_program){
        .context = d, .read = read_task, .rewind = rewind_tasks, .close = close_dim};
    const int rc = look_at_all(d, out, err);
    if (rc < 0)
        as_program_fini(out);
    else
        rewind_tasks(d, err);
    return rc;
}

int as_dim_parse(struct as_view text, const char *name, struct as_simulated_program *out,
                 struct as_error *err)
{
    struct dim_reader *d = as_calloc(1, sizeof *d);
    *out = (struct as_simulated_program){0};
    if (!d)
        return as_error_nomem(err, name);
    d->text = text;
    d->name = name;
    return begin_dim(d, out, err);
}

int as_dim_open(const char *path, struct as_simulated_program *out, struct as_error *err)
{
    struct stat st;
    struct dim_reader *d;
    *out = (struct as_simulated_program){0};
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    if (fd < 0)
        return as_foreign_fail(path, "the trace", errno, err);
    d = as_calloc(1, sizeof *d);
    const size_t name_b = strlen(path) + 1;
    char *name = d ? as_malloc(name_b) : NULL;
    const int number = name ? as_filemap_open(fd, (size_t)st.st_size, path, &d->map) : ENOMEM;
    close(fd);
    if (number) {
        as_free(name);
        as_free(d);
        return as_foreign_fail(path, "the trace", number, err);
    }
    d->own_name = memcpy(name, path, name_b);
    d->name = name;
    d->text = (struct as_view){d->map.at ? (const char *)d->map.at : "", d->map.n};
    return begin_dim(d, out, err);
}

bool as_dim_is_one(const char *path)
{
    char begin[NAME_B] = "";
    const int fd = as_foreign_open(AT_FDCWD, path, 0, NULL);
    const ssize_t n = fd < 0 ? 0 : read(fd, begin, sizeof begin - 1);
    if (fd >= 0)
        close(fd);
    return n > 0 && as_view_starts((struct as_view){begin, (size_t)n}, "#DIMEMAS:");
}
