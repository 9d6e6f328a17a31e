/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/prv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "exchange/common.h"
#include "exchange/prv_write.h"

/* ---- Objects ------------------------------------------------------------------------------- */

static int node_number(struct as_prv_writer *w, const char *machine, uint32_t *out)
{
    for (*out = 1; *out <= w->node.n; ++*out)
        if (strcmp(w->node.at[*out - 1], machine) == 0)
            return 0;
    return as_vec_push(&w->node, machine);
}

/* Adds a rank. The first process with this rank gets it. */
static int list_rank(struct as_prv_writer *w, int64_t rank, uint32_t task)
{
    const struct as_prv_rank listed = {(uint64_t)rank, task};
    if (rank < 0 ||
        as_index_of_word(&w->ranks, w->rank.at, sizeof listed, listed.rank) != AS_INDEX_NONE)
        return 0;
    AS_TRY(as_vec_push(&w->rank, listed));
    return as_index_add_word(&w->ranks, listed.rank, (uint32_t)(w->rank.n - 1));
}

static int list_threads(struct as_prv_writer *w)
{
    w->begin_ns = as_exchange_begin_ns(w->trace);
    for (uint32_t p = 0; p < w->trace->process.n; p++) {
        const struct as_trace_process *process = &w->trace->process.at[p];
        uint32_t node;
        struct as_prv_call *calls = as_calloc(process->name.n + 1, sizeof *calls);
        if (!calls || as_vec_push(&w->call, calls) < 0) {
            as_free(calls);
            return AS_ERR_NOMEM;
        }
        AS_TRY(as_vec_push(&w->task, process->thread.n ? ++w->task_n : 0));
        AS_TRY(list_rank(w, process->rank, w->task.at[p]));
        if (!process->thread.n)
            continue;
        AS_TRY(node_number(w, process->machine, &node));
        for (uint32_t t = 0; t < process->thread.n; t++) {
            struct as_prv_thread thread = {p, w->task_n, t + 1, node, "", 0, 0};
            thread.text_n = (uint32_t)snprintf(thread.text, sizeof thread.text,
                                               ":0:1:%u:%u:", thread.task, thread.thread);
            AS_TRY(as_vec_push(&w->thread, thread));
        }
    }
    w->end_ns = w->begin_ns;
    w->open_state = as_calloc(w->thread.n + 1, sizeof *w->open_state);
    w->levels_n = as_calloc(w->thread.n + 1, sizeof *w->levels_n);
    for (size_t i = 0; w->open_state && i < w->thread.n; i++)
        w->open_state[i].state = AS_PRV_NO_STATE;
    w->event_ns = w->begin_ns;
    w->routine_used = as_calloc(as_prv_routines_n, sizeof *w->routine_used);
    return w->open_state && w->levels_n && w->routine_used ? 0 : AS_ERR_NOMEM;
}

/* ---- The file -------------------------------------------------------------------------------- */

static uint32_t task_of_rank(const struct as_prv_writer *w, uint64_t rank)
{
    const uint32_t at = as_index_of_word(&w->ranks, w->rank.at, sizeof *w->rank.at, rank);
    return at == AS_INDEX_NONE ? 0 : w->rank.at[at].task;
}

/* Writes communicators with more than one process; the first member of each writes it. */
static size_t write_comms(struct as_prv_writer *w, struct as_out *out)
{
    size_t n = 0;
    as_vec_foreach (&w->trace->process, process) {
        as_vec_foreach (&process->comm, comm) {
            if (comm->member_n < 2 || comm->rank != 0 || comm->bits || !comm->global)
                continue;
            n++;
            if (!out)
                continue;
            as_out_f(out, "c:1:%" PRId64 ":%zu", as_prv_comm_number(w, comm->global),
                     comm->member_n);
            for (size_t m = 0; m < comm->member_n; m++)
                as_out_f(out, ":%u", task_of_rank(w, comm->member[m]));
            as_out_c(out, '\n');
        }
    }
    return n;
}

static void write_prv_header(struct as_prv_writer *w, struct as_out *out)
{
    char date[64];
    time_t now = time(NULL);
    struct tm tm;
    strftime(date, sizeof date, "%d/%m/%Y at %H:%M", localtime_r(&now, &tm));
    as_out_f(out, "#Paraver (%s):%" PRId64 "_ns:%zu(", date, w->end_ns - w->begin_ns, w->node.n);
    for (uint32_t n = 1; n <= w->node.n; n++) {
        uint32_t threads_n = 0;
        as_vec_foreach (&w->thread, thread)
            threads_n += thread->node == n;
        as_out_f(out, "%s%u", n > 1 ? "," : "", threads_n ? threads_n : 1);
    }
    as_out_f(out, "):1:%u(", w->task_n);
    for (uint32_t p = 0; p < w->trace->process.n; p++) {
        uint32_t node = 1;
        if (!w->task.at[p])
            continue;
        as_vec_foreach (&w->thread, thread)
            if (thread->process == p)
                node = thread->node;
        as_out_f(out, "%s%zu:%u", w->task.at[p] > 1 ? "," : "", w->trace->process.at[p].thread.n,
                 node);
    }
    as_out_f(out, "),%zu\n", write_comms(w, NULL));
    write_comms(w, out);
}

/* ---- Three files or none --------------------------------------------------------------------- */

static int emit_prv(void *writer, struct as_out *out, struct as_error *err)
{
    write_prv_header(writer, out);
    return as_prv_write_body(writer, out, err);
}

static int write_pcf(void *writer, struct as_out *out, struct as_error *err)
{
    (void)err;
    as_prv_write_pcf(writer, out);
    return 0;
}

static int write_prv_row_file(void *writer, struct as_out *out, struct as_error *err)
{
    (void)err;
    as_prv_write_row(writer, out);
    return 0;
}

static int write_files(struct as_prv_writer *w, const char *path, struct as_error *err)
{
    static const char *const ending[] = {".prv", ".pcf", ".row"};
    static as_exchange_put *const put[] = {emit_prv, write_pcf, write_prv_row_file};
    struct as_str name[3] = {0};
    struct as_exchange_file file[3];
    bool failed = false;
    for (unsigned i = 0; i < 3; i++) {
        as_str_append(&name[i], path, strlen(path) - strlen(".prv"));
        as_str_appendz(&name[i], ending[i]);
        failed |= name[i].failed;
        file[i] = (struct as_exchange_file){as_str_z(&name[i]), put[i]};
    }
    const int rc = failed ? as_error_nomem(err, "the name of a file")
                          : as_exchange_write_files(file, 3, w, err);
    for (unsigned i = 0; i < 3; i++)
        as_str_fini(&name[i]);
    return rc;
}

static void free_prv(struct as_prv_writer *w)
{
    as_lane_fini(&w->events);
    as_prv_states_free(&w->states);
    as_ordered_free(&w->messages);
    as_map_u64_fini(&w->requests);
    as_vec_fini(&w->type);
    as_vec_fini(&w->thread);
    as_vec_fini(&w->task);
    as_vec_fini(&w->rank);
    as_vec_fini(&w->comm);
    as_vec_fini(&w->node);
    as_vec_fini(&w->extra);
    as_vec_foreach (&w->call, calls)
        as_free(*calls);
    as_vec_fini(&w->call);
    as_vec_foreach (&w->counter, counter)
        as_free(counter->latest);
    as_vec_fini(&w->counter);
    as_vec_fini(&w->region);
    as_vec_fini(&w->function);
    as_vec_fini(&w->functions_named);
    as_vec_fini(&w->lines_named);
    as_map_view_fini(&w->function_texts);
    as_map_view_fini(&w->line_texts);
    as_vec_fini(&w->place);
    as_index_fini(&w->places);
    as_vec_foreach (&w->owned, text)
        as_free(*text);
    as_vec_fini(&w->owned);
    as_free(w->open_state);
    as_free(w->levels_n);
    as_free(w->routine_used);
    as_index_fini(&w->types);
    as_index_fini(&w->ranks);
    as_index_fini(&w->comms);
    as_index_fini(&w->extras);
    as_index_fini(&w->counters);
    as_index_fini(&w->functions);
}

int as_prv_write(const struct as_trace *trace, const char *path, struct as_prv_counts *counts,
                 struct as_error *err)
{
    struct as_prv_writer w = {.trace = trace, .counts = counts};
    as_map_view_init(&w.function_texts);
    as_map_view_init(&w.line_texts);
    as_map_u64_init(&w.requests);
    *counts = (struct as_prv_counts){0};
    int rc = list_threads(&w);
    if (rc == 0)
        rc = as_lane_init(&w.events);
    if (rc == 0)
        rc = as_prv_states_new(&w.states, (uint32_t)w.thread.n);
    if (rc == 0)
        rc = as_ordered_new(&w.messages, sizeof(struct as_prv_message));
    if (rc < 0)
        as_error_nomem(err, "a Paraver trace");
    if (rc == 0)
        rc = as_prv_collect(&w, err);
    if (rc == 0)
        rc = write_files(&w, path, err);
    free_prv(&w);
    return rc;
}
