/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a trace: their threads, nodes and streams; beginning again and the end. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "simulate/recorded_state.h"

/* ---- Beginning again ------------------------------------------------------------------------- */

static void clear_thread(struct recorded_thread *t)
{
    *t = (struct recorded_thread){.process = t->process,
                                  .stream = t->stream,
                                  .frame = t->frame,
                                  .said = t->said,
                                  .queue = t->queue};
    t->frame.n = t->said.n = t->queue.n = 0;
}

static int rewind_recorded(void *context, struct as_error *err)
{
    struct recorded_reader *reader = context;
    as_numbered_fini(&reader->requests);
    for (size_t i = 0; i < reader->thread.n; i++) {
        clear_thread(&reader->thread.at[i]);
        reader->recorded->rank.at[i] = (struct as_recorded_rank){0};
        AS_TRY(as_trace_stream_seek(reader->thread.at[i].stream, INT64_MIN, err));
    }
    reader->recorded->one_sided_n = reader->recorded->neighbours_n = 0;
    reader->recorded->off_n = reader->recorded->unnamed_n = reader->recorded->damaged_n = 0;
    for (size_t i = 0; i < reader->name_n; i++)
        reader->recorded->name_ns[i] = 0;
    return 0;
}

static void close_recorded(void *context)
{
    struct recorded_reader *reader = context;
    as_vec_foreach (&reader->thread, thread) {
        as_vec_fini(&thread->frame);
        as_vec_fini(&thread->said);
        as_vec_fini(&thread->queue);
    }
    as_vec_fini(&reader->thread);
    as_vec_fini(&reader->comm);
    as_index_fini(&reader->comm_index);
    as_numbered_fini(&reader->requests);
    as_free(reader->name);
    as_free(reader);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Finds out if a thread calls MPI, beyond asking for facts. */
static int calls_mpi(const struct as_trace_process *process, struct as_trace_stream *stream,
                     bool *out, struct as_error *err)
{
    struct as_trace_event event;
    int rc = 0;
    *out = false;
    AS_TRY(as_trace_stream_seek(stream, INT64_MIN, err));
    while (!*out && (rc = as_trace_stream_next(stream, &event, err)) > 0)
        *out = event.kind == AS_TRACE_ENTER &&
               as_trace_name_of(process, event.name).group < AS_TRACE_OF_MPI_OTHER;
    return rc < 0 ? rc : 0;
}

static int find_mpi_thread(const struct as_trace_process *process, struct as_trace_stream **out,
                           struct as_error *err)
{
    *out = process->thread.n ? process->thread.at[0] : NULL;
    unsigned n = 0;
    for (size_t i = 0; process->thread.n > 1 && i < process->thread.n; i++) {
        bool is_it;
        AS_TRY(calls_mpi(process, process->thread.at[i], &is_it, err));
        if (is_it && n++)
            return as_error_set(err, AS_ERR_UNSUPPORTED,
                                "rank %lld: several threads call MPI; use MPI_THREAD_FUNNELED",
                                (long long)process->rank);
        if (is_it)
            *out = process->thread.at[i];
    }
    return 0;
}

static int check_stream(const struct as_trace_process *process,
                        const struct as_trace_stream *stream, struct as_error *err)
{
    const struct as_trace_stream_facts *facts = stream ? as_trace_stream_facts(stream) : NULL;
    const char *why = !facts                 ? "it has no events"
                      : facts->overwritten_n ? "the beginning of its trace was overwritten (--ring)"
                      : facts->end == AS_TRACE_LIMIT   ? "its trace ends at a limit of size"
                      : facts->end == AS_TRACE_REFUSED ? "its trace ends where the disk was full"
                                                       : NULL;
    return why ? as_error_set(err, AS_ERR_UNSUPPORTED, "rank %lld: %s; record the whole run again",
                              (long long)process->rank, why)
               : 0;
}

static int add_rank(struct recorded_reader *reader, struct as_simulated_program *program,
                    const struct as_trace_process *process, struct as_error *err)
{
    struct recorded_thread thread = {.process = process};
    uint32_t node = 0;
    if (process->rank != (int64_t)reader->thread.n || process->size > INT32_MAX)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "rank %zu: it is missing, or is in the trace twice; record all ranks "
                            "of one MPI_COMM_WORLD",
                            reader->thread.n);
    AS_TRY(find_mpi_thread(process, &thread.stream, err));
    AS_TRY(check_stream(process, thread.stream, err));
    for (uint32_t i = 0; i < reader->thread.n; i++) {
        if (as_trace_is_one_machine(process, reader->thread.at[i].process)) {
            node = program->node.at[i];
            break;
        }
        node = program->node.at[i] >= node ? program->node.at[i] + 1 : node;
    }
    if (as_vec_push(&reader->thread, thread) < 0 || as_vec_push(&program->node, node) < 0 ||
        as_vec_push(&reader->recorded->rank, (struct as_recorded_rank){0}) < 0)
        return as_error_nomem(err, "the ranks");
    return 0;
}

static int open_ranks(struct recorded_reader *reader, struct as_simulated_program *out,
                      struct as_error *err)
{
    int64_t size = 0;
    as_vec_foreach (&reader->trace->process, process)
        if (process->rank >= 0) {
            AS_TRY(add_rank(reader, out, process, err));
            size = process->size;
        }
    if (reader->thread.n == 0)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "the trace has no ranks of MPI; record one with 'assay trace -- mpirun "
                            "-n 4 ./program'");
    if ((int64_t)reader->thread.n < size)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "rank %zu: it is missing in the trace; record all %lld ranks",
                            reader->thread.n, (long long)size);
    out->rank_n = (uint32_t)reader->thread.n;
    reader->recorded->name_found_n =
        as_calloc(reader->name_n + 1, sizeof *reader->recorded->name_found_n);
    reader->recorded->name_ns = as_calloc(reader->name_n + 1, sizeof *reader->recorded->name_ns);
    if (!reader->recorded->name_found_n || !reader->recorded->name_ns ||
        as_recorded_add_comms(reader, out) < 0)
        return as_error_nomem(err, "the communicators");
    return 0;
}

int as_recorded_open(const struct as_trace *trace, const char *const *name, size_t name_n,
                     struct as_recorded *recorded, struct as_simulated_program *out,
                     struct as_error *err)
{
    struct recorded_reader *reader = as_calloc(1, sizeof *reader);
    *recorded = (struct as_recorded){0};
    *out = (struct as_simulated_program){.context = reader,
                                         .read = as_recorded_read,
                                         .rewind = rewind_recorded,
                                         .close = close_recorded};
    if (!reader) {
        *out = (struct as_simulated_program){0};
        return as_error_nomem(err, "the ranks");
    }
    reader->trace = trace;
    reader->recorded = recorded;
    reader->name = as_malloc((name_n + 1) * sizeof *reader->name);
    reader->name_n = name_n;
    if (reader->name && name_n)
        memcpy(reader->name, name, name_n * sizeof *name);
    int rc = reader->name ? open_ranks(reader, out, err) : as_error_nomem(err, "the ranks");
    if (rc == 0)
        rc = rewind_recorded(reader, err);
    if (rc < 0)
        as_program_fini(out);
    return rc;
}

void as_recorded_mark(struct as_simulated_program *program, const struct as_recorded *before)
{
    struct recorded_reader *reader = program->context;
    reader->marked_since = before;
}

void as_recorded_mark_regions(struct as_simulated_program *program, const char *const *region,
                              size_t region_n)
{
    struct recorded_reader *reader = program->context;
    reader->region = region;
    reader->region_n = region_n;
}

uint32_t as_recorded_tid(const struct as_simulated_program *program, uint32_t rank)
{
    const struct recorded_reader *reader = program->context;
    assert(rank < reader->thread.n);
    return as_trace_stream_facts(reader->thread.at[rank].stream)->tid;
}

int64_t as_recorded_ns(const struct as_recorded *recorded)
{
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    as_vec_foreach (&recorded->rank, rank) {
        begin_ns = rank->begin_ns < begin_ns ? rank->begin_ns : begin_ns;
        end_ns = rank->end_ns > end_ns ? rank->end_ns : end_ns;
    }
    return recorded->rank.n ? end_ns - begin_ns : 0;
}

void as_recorded_fini(struct as_recorded *recorded)
{
    as_vec_fini(&recorded->rank);
    as_free(recorded->name_found_n);
    as_free(recorded->name_ns);
    recorded->name_found_n = NULL;
    recorded->name_ns = NULL;
}
