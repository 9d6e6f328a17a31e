/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads all streams of a run. It groups the streams by process, and reads the definitions of the
 * numbers in them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "object/object.h"
#include "trace/read.h"

/* Max number of a name. Numbers are consecutive from 1 on, so larger ones are damage. */
#define NAMES_MOST (1u << 22)

/* ---- Definitions -------------------------------------------------------------------------- */

static const char *own_text(struct as_trace_process *p, struct as_view text)
{
    char *copy = as_malloc(text.n + 1);
    if (!copy)
        return NULL;
    if (text.n)
        memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (as_vec_push(&p->owned, copy) == 0)
        return copy;
    as_free(copy);
    return NULL;
}

static int define_name(struct as_trace *trace, struct as_trace_process *p,
                       const struct as_trace_event *e)
{
    const uint64_t number = (uint64_t)e->field[0];
    if (number >= NAMES_MOST || e->field[1] < 0 || e->field[1] >= AS_TRACE_GROUPS_N) {
        trace->damaged_n++;
        return 0;
    }
    while (p->name.n <= number)
        if (as_vec_push(&p->name, (struct as_trace_name){0, NULL, 0}) < 0)
            return AS_ERR_NOMEM;
    const char *text = own_text(p, e->text);
    p->name.at[number] = (struct as_trace_name){(uint32_t)e->field[1], text, 0};
    return text ? 0 : AS_ERR_NOMEM;
}

/* Defines a function of the program, with its demangled name. */
static int define_function(struct as_trace *trace, struct as_trace_process *p,
                           const struct as_trace_event *e)
{
    char readable[4096];
    const uint64_t number = (uint64_t)e->field[0];
    struct as_trace_name *name = number < p->name.n ? &p->name.at[number] : NULL;
    if (!name || !name->text) {
        trace->damaged_n++;
        return 0;
    }
    name->address = (uint64_t)e->field[1];
    if (name->text[0] != '_' || as_demangle(name->text, readable, sizeof readable) <= 0)
        return 0;
    name->text = own_text(p, as_view_of(readable));
    return name->text ? 0 : AS_ERR_NOMEM;
}

static const uint64_t *own_list(struct as_trace_process *p, const struct as_trace_event *e)
{
    const struct as_view bytes = {(const char *)(const void *)e->list, e->list_n * sizeof *e->list};
    return (const uint64_t *)(const void *)own_text(p, bytes);
}

static int define_comm(struct as_trace_process *p, const struct as_trace_event *e)
{
    struct as_trace_comm comm = {.comm = (uint64_t)e->comm.comm,
                                 .global = (uint64_t)e->comm.global,
                                 .size = (uint64_t)e->comm.size,
                                 .rank = e->comm.rank,
                                 .bits = (uint64_t)e->comm.bits,
                                 .member_n = e->list_n};
    if (e->list_n) {
        comm.member = own_list(p, e);
        if (!comm.member)
            return AS_ERR_NOMEM;
    }
    p->comms_mixed |= p->comm.n && p->comm.at[p->comm.n - 1].comm >= comm.comm;
    return as_vec_push(&p->comm, comm);
}

/* Returns the communicator of a record, which must be defined already. */
static struct as_trace_comm *defined_comm(const struct as_trace_process *p,
                                          const struct as_trace_event *e)
{
    const struct as_trace_comm *comm = as_trace_comm_of(p, e->field[0]);
    return comm ? &p->comm.at[comm - p->comm.at] : NULL;
}

static int name_comm(struct as_trace *trace, struct as_trace_process *p,
                     const struct as_trace_event *e)
{
    struct as_trace_comm *comm = defined_comm(p, e);
    if (!comm) {
        trace->damaged_n++;
        return 0;
    }
    comm->name = own_text(p, e->text);
    return comm->name ? 0 : AS_ERR_NOMEM;
}

static int define_neighbours(struct as_trace *trace, struct as_trace_process *p,
                             const struct as_trace_event *e)
{
    struct as_trace_comm *comm = defined_comm(p, e);
    bool is_sound = comm && e->field[1] >= 0 && (uint64_t)e->field[1] <= e->list_n;
    for (size_t i = 0; is_sound && i < e->list_n; i++)
        is_sound = e->list[i] < comm->size;
    if (!is_sound) {
        trace->damaged_n++;
        return 0;
    }
    comm->neighbour = own_list(p, e);
    comm->in_n = (size_t)e->field[1];
    comm->out_n = e->list_n - comm->in_n;
    return comm->neighbour ? 0 : AS_ERR_NOMEM;
}

/* Returns true if the coordinates are in the grid, and the grid fits into the communicator. */
static bool is_grid(const struct as_trace_comm *comm, const uint64_t *list, size_t n)
{
    uint64_t all = 1;
    for (size_t i = 0; i < n; i++) {
        if (list[i] == 0 || list[i] > comm->size || list[n + i] > 1 || list[2 * n + i] >= list[i])
            return false;
        all *= list[i];
        if (all > comm->size)
            return false;
    }
    return n > 0;
}

static int define_grid(struct as_trace *trace, struct as_trace_process *p,
                       const struct as_trace_event *e)
{
    struct as_trace_comm *comm = defined_comm(p, e);
    const size_t n = e->list_n / 3;
    if (!comm || e->list_n % 3 || !is_grid(comm, e->list, n)) {
        trace->damaged_n++;
        return 0;
    }
    comm->grid = own_list(p, e);
    comm->grid_n = n;
    return comm->grid ? 0 : AS_ERR_NOMEM;
}

static int define_module(struct as_trace_process *p, const struct as_trace_event *e)
{
    const struct as_trace_module module = {.start = (uint64_t)e->field[0],
                                           .size_b = (uint64_t)e->field[1],
                                           .address = (uint64_t)e->field[2],
                                           .path = own_text(p, e->text)};
    return module.path ? as_vec_push(&p->module, module) : AS_ERR_NOMEM;
}

/* Removes the first line from `text`. Returns a copy that the process owns; NULL if memory is
 * exhausted. */
static const char *own_line(struct as_trace_process *p, struct as_view *text)
{
    const char *end = text->n ? memchr(text->p, '\n', text->n) : NULL;
    const struct as_view line = {text->p, end ? (size_t)(end - text->p) : text->n};
    const size_t passed = line.n + (end != NULL);
    text->p += passed;
    text->n -= passed;
    return own_text(p, line);
}

static int define_place(struct as_trace *trace, struct as_trace_process *p,
                        const struct as_trace_event *e)
{
    char readable[4096];
    struct as_view text = e->text;
    struct as_trace_place place = {.line = (uint32_t)e->field[1]};
    if ((uint64_t)e->field[0] != p->place.n + 1) {
        trace->damaged_n++;
        return 0;
    }
    place.linkage = place.function = own_line(p, &text);
    place.file = own_line(p, &text);
    place.code = own_line(p, &text);
    if (!place.function || !place.file || !place.code)
        return AS_ERR_NOMEM;
    if (place.linkage[0] == '_' && as_demangle(place.linkage, readable, sizeof readable) > 0)
        place.function = own_text(p, as_view_of(readable));
    return place.function ? as_vec_push(&p->place, place) : AS_ERR_NOMEM;
}

/* Returns false for times that no clock can have, which are damage. */
static bool is_relation(const struct as_trace_event *e)
{
    const int64_t most = INT64_MAX / 16;
    return e->field[0] > -most && e->field[0] < most && e->field[1] > -most && e->field[1] < most &&
           e->field[2] >= 0 && e->field[2] < most;
}

static int apply_definition(struct as_trace *trace, struct as_trace_process *p,
                            const struct as_trace_event *e)
{
    switch (e->kind) {
    case AS_TRACE_NAME:
        return define_name(trace, p, e);
    case AS_TRACE_FUNCTION:
        return define_function(trace, p, e);
    case AS_TRACE_COMM:
        return define_comm(p, e);
    case AS_TRACE_COMM_NAME:
        return name_comm(trace, p, e);
    case AS_TRACE_NEIGHBOURS:
        return define_neighbours(trace, p, e);
    case AS_TRACE_GRID:
        return define_grid(trace, p, e);
    case AS_TRACE_WINDOW:
        return as_vec_push(&p->window,
                           (struct as_trace_window){(uint64_t)e->field[0], (uint64_t)e->field[1]});
    case AS_TRACE_MODULE:
        return define_module(p, e);
    case AS_TRACE_PLACE:
        return define_place(trace, p, e);
    case AS_TRACE_RELATED:
        return is_relation(e)
                   ? as_vec_push(&p->relation,
                                 (struct as_trace_relation){e->field[0], e->field[1], e->field[2]})
                   : 0;
    case AS_TRACE_FACT:
        if (as_view_equal(e->text, as_view_of(AS_TRACE_FACT_MACHINE))) {
            p->machine_number = own_text(p, e->value);
            return p->machine_number ? 0 : AS_ERR_NOMEM;
        }
        p->has_libgomp |= as_view_equal(e->text, as_view_of(AS_TRACE_OPENMP_FACT)) &&
                          as_view_equal(e->value, as_view_of(AS_TRACE_LIBGOMP));
        return 0;
    case AS_TRACE_WORLD:
        p->rank = e->field[0];
        p->size = e->field[1];
        return 0;
    default:
        return 0;
    }
}

static int read_definitions(struct as_trace *trace, struct as_trace_process *p,
                            struct as_error *err)
{
    struct as_trace_event event;
    int rc;
    while ((rc = as_trace_stream_next(p->definitions, &event, err)) > 0)
        if (apply_definition(trace, p, &event) < 0)
            return as_error_nomem(err, "the definitions of a trace");
    AS_TRY(rc);
    trace->damaged_n += as_trace_stream_facts(p->definitions)->damaged_n;
    p->machine = as_trace_stream_facts(p->definitions)->name;
    return as_trace_stream_seek(p->definitions, INT64_MIN, err);
}

/* ---- Files -------------------------------------------------------------------------------- */

/* Parses a number and the character `behind` after it, and moves *at after both. */
static bool parse_part(const char **at, char behind, uint64_t most, uint64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    const unsigned long long number = strtoull(*at, &end, 10);
    if (errno || number > most || *end != behind)
        return false;
    *out = number;
    *at = end + (behind != 0);
    return true;
}

bool as_trace_name_parse(const char *name, uint32_t *pid, uint64_t *time_ns, uint32_t *tid)
{
    static const char prefix[] = AS_TRACE_PREFIX ".";
    const char *at = name + sizeof prefix - 1;
    uint64_t process, thread;
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 ||
        !parse_part(&at, '.', UINT32_MAX, &process) || !parse_part(&at, '.', UINT64_MAX, time_ns) ||
        !parse_part(&at, 0, UINT32_MAX, &thread))
        return false;
    *pid = (uint32_t)process;
    *tid = (uint32_t)thread;
    return true;
}

static struct as_trace_process *find_process(struct as_trace *trace, uint32_t pid,
                                             uint64_t begun_ns)
{
    as_vec_foreach (&trace->process, p)
        if (p->pid == pid && p->begun_ns == begun_ns)
            return p;
    const struct as_trace_process p = {.pid = pid,
                                       .begun_ns = begun_ns,
                                       .rank = -1,
                                       .size = -1,
                                       .machine = "",
                                       .machine_number = ""};
    if (as_vec_push(&trace->process, p) < 0)
        return NULL;
    return &trace->process.at[trace->process.n - 1];
}

static int add_stream(struct as_trace *trace, int directory, const char *name, struct as_error *err)
{
    struct as_trace_stream *stream;
    uint32_t pid, tid;
    uint64_t begun_ns;
    if (!as_trace_name_parse(name, &pid, &begun_ns, &tid))
        return 0;
    const int rc = as_trace_stream_open(directory, name, &stream, err);
    if (rc == AS_ERR_NOMEM)
        return rc;
    if (rc < 0 || as_trace_stream_facts(stream)->pid != pid ||
        as_trace_stream_facts(stream)->tid != tid) {
        as_trace_stream_close(&stream);
        trace->damaged_n++;
        return 0;
    }
    struct as_trace_process *p = find_process(trace, pid, begun_ns);
    if (p && tid == 0 && !p->definitions)
        p->definitions = stream;
    else if (!p || as_vec_push(&p->thread, stream) < 0) {
        as_trace_stream_close(&stream);
        return as_error_nomem(err, "the streams of a trace");
    }
    return 0;
}

static int by_rank(const void *a, const void *b)
{
    const struct as_trace_process *x = a, *y = b;
    if (x->rank != y->rank) /* processes without a rank come last */
        return (uint64_t)x->rank < (uint64_t)y->rank ? -1 : 1;
    if (x->begun_ns != y->begun_ns)
        return x->begun_ns < y->begun_ns ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static int by_beginning(const void *a, const void *b)
{
    const struct as_trace_stream_facts *x =
        as_trace_stream_facts(*(struct as_trace_stream *const *)a);
    const struct as_trace_stream_facts *y =
        as_trace_stream_facts(*(struct as_trace_stream *const *)b);
    if (x->begin_raw_ns != y->begin_raw_ns)
        return x->begin_raw_ns < y->begin_raw_ns ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Gives all threads of a machine one rate of the TSC, because a short thread measures it badly. */
static void share_clocks(struct as_trace *trace, const struct as_trace_process *of)
{
    const struct as_trace_stream *first = NULL, *last = NULL;
    as_vec_foreach (&trace->process, p)
        if (as_trace_is_one_machine(p, of)) {
            first = as_trace_stream_longer(first, p->definitions, false);
            last = as_trace_stream_longer(last, p->definitions, true);
            as_vec_foreach (&p->thread, stream) {
                first = as_trace_stream_longer(first, *stream, false);
                last = as_trace_stream_longer(last, *stream, true);
            }
        }
    if (!first)
        return;
    as_vec_foreach (&trace->process, p)
        if (as_trace_is_one_machine(p, of))
            as_vec_foreach (&p->thread, stream)
                as_trace_stream_share_clock(*stream, first, last);
}

/* Calls share_clocks once for each machine, with its first process. */
static void share_all_clocks(struct as_trace *trace)
{
    as_vec_foreach (&trace->process, p) {
        bool is_first = true;
        for (const struct as_trace_process *q = trace->process.at; q < p && is_first; q++)
            is_first = !as_trace_is_one_machine(p, q);
        if (is_first)
            share_clocks(trace, p);
    }
}

static void close_process(struct as_trace_process *p)
{
    as_trace_stream_close(&p->definitions);
    as_vec_foreach (&p->thread, stream)
        as_trace_stream_close(stream);
    as_vec_foreach (&p->owned, text)
        as_free(*text);
    as_vec_fini(&p->thread);
    as_vec_fini(&p->name);
    as_vec_fini(&p->comm);
    as_vec_fini(&p->window);
    as_vec_fini(&p->module);
    as_vec_fini(&p->place);
    as_vec_fini(&p->relation);
    as_vec_fini(&p->owned);
}

/* Removes processes without a rank from a run with ranks. They are launchers (mpirun, shells,
 * daemons), and not part of the program. */
static void leave_out_launchers(struct as_trace *trace)
{
    size_t ranks_n = 0, kept = 0;
    as_vec_foreach (&trace->process, p)
        ranks_n += p->rank >= 0;
    as_vec_foreach (&trace->process, p)
        if (p->rank >= 0 || ranks_n == 0) {
            trace->process.at[kept++] = *p;
        } else {
            close_process(p);
            trace->left_out_n++;
        }
    trace->process.n = kept;
}

static int read_directory(struct as_trace *trace, DIR *dir, bool is_related, struct as_error *err)
{
    for (struct dirent *entry; (entry = readdir(dir));)
        AS_TRY(add_stream(trace, dirfd(dir), entry->d_name, err));
    as_vec_foreach (&trace->process, p) {
        if (p->definitions)
            AS_TRY(read_definitions(trace, p, err));
        if (p->thread.n > 1)
            qsort(p->thread.at, p->thread.n, sizeof *p->thread.at, by_beginning);
    }
    share_all_clocks(trace);
    if (trace->process.n > 1)
        qsort(trace->process.at, trace->process.n, sizeof *trace->process.at, by_rank);
    if (!is_related)
        return 0;
    as_trace_relate(trace); /* any process of a machine knows of its clock */
    leave_out_launchers(trace);
    return 0;
}

static int open_directory(const char *directory, bool is_related, struct as_trace *out,
                          struct as_error *err)
{
    *out = (struct as_trace){0};
    DIR *dir = opendir(directory);
    if (!dir)
        return as_error_set(err, errno == ENOENT ? AS_ERR_NOT_FOUND : AS_ERR_IO,
                            "%s: the streams of a trace cannot be read: %s", directory,
                            strerror(errno));
    const int rc = read_directory(out, dir, is_related, err);
    closedir(dir);
    if (rc < 0)
        as_trace_close(out);
    return rc;
}

int as_trace_open(const char *directory, struct as_trace *out, struct as_error *err)
{
    return open_directory(directory, true, out, err);
}

int as_trace_open_unrelated(const char *directory, struct as_trace *out, struct as_error *err)
{
    return open_directory(directory, false, out, err);
}

void as_trace_close(struct as_trace *trace)
{
    as_vec_foreach (&trace->process, p)
        close_process(p);
    as_vec_fini(&trace->process);
}

struct as_trace_name as_trace_name_of(const struct as_trace_process *process, int64_t number)
{
    if (number > 0 && (uint64_t)number < process->name.n && process->name.at[number].text)
        return process->name.at[number];
    return (struct as_trace_name){AS_TRACE_OF_USER, "?", 0};
}

/* The latest of a number: they are not given twice, but for a damaged file. */
const struct as_trace_module *as_trace_module_of(const struct as_trace_process *process,
                                                 uint64_t address, uint64_t *in_file)
{
    for (size_t i = process->module.n; i-- > 0;) { /* the latest had it last */
        const struct as_trace_module *module = &process->module.at[i];
        if (address - module->start < module->size_b) {
            *in_file = address - module->start + module->address;
            return module;
        }
    }
    return NULL;
}

const struct as_trace_place *as_trace_place_of(const struct as_trace_process *process,
                                               uint64_t address)
{
    return address - 1 < process->place.n ? &process->place.at[address - 1] : NULL;
}

/* The latest of a number, where a damaged file gives one twice. */
static const struct as_trace_comm *search_comms(const struct as_trace_process *process,
                                                uint64_t comm)
{
    for (size_t i = process->comm.n; i-- > 0;)
        if (process->comm.at[i].comm == comm)
            return &process->comm.at[i];
    return NULL;
}

const struct as_trace_comm *as_trace_comm_of(const struct as_trace_process *process, int64_t comm)
{
    const struct as_trace_comm *at = process->comm.at;
    size_t low = 0, high = process->comm.n;
    if (process->comms_mixed)
        return search_comms(process, (uint64_t)comm);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (at[middle].comm < (uint64_t)comm)
            low = middle + 1;
        else
            high = middle;
    }
    return low < process->comm.n && at[low].comm == (uint64_t)comm ? &at[low] : NULL;
}
