/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing .dim: a line for each action, rank by rank. The file ends with the offset of each rank's
 * first line, and its head has the offset of those: the reference needs both. A first pass counts.
 */
#include "simulate/dim.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/error.h"
#include "base/id_table.h"

#define READ_AT_ONCE 256u

/* The number of a communicator: the reference has no 0. */
#define COMM_NUMBER(place) ((place) + 1u)

/* An operation that a wait will name. */
struct dim_written {
    struct as_numbered id; /* rank, 1, request */
    struct as_action action;
};
_Static_assert(offsetof(struct dim_written, id) == 0,
               "a row of a numbered table begins with its id");

struct dim_writer {
    struct as_out *out;
    struct as_numbered_table begun;
    bool is_counting;        /* the first pass */
    uint64_t written_b;      /* by it */
    AS_VEC(uint64_t) offset; /* of each rank, then the end */
};

static void write_collective(struct dim_writer *w, uint32_t rank, const struct as_action *a,
                             unsigned sync)
{
    as_out_f(w->out, "10:%u:0:%u:%u:0:0:%" PRId64 ":%" PRId64 ":%u\n", rank, a->collective,
             COMM_NUMBER(a->comm), a->sent_b, a->received_b, sync);
}

static void write_receive(struct dim_writer *w, uint32_t rank, const struct as_action *a,
                          unsigned type)
{
    as_out_f(w->out, "3:%u:0:%u:-1:0:%d:%u:%u\n", rank, a->partner, a->tag, COMM_NUMBER(a->comm),
             type);
}

static void write_wait(struct dim_writer *w, uint32_t rank, int64_t request)
{
    struct dim_written *begun = as_numbered_find(&w->begun, sizeof *begun, rank, request);
    if (!begun)
        return;
    if (begun->action.kind == AS_ACTION_COLLECTIVE)
        write_collective(w, rank, &begun->action, 2);
    else
        write_receive(w, rank, &begun->action, 2);
    as_numbered_drop(&w->begun, sizeof *begun, begun);
}

/* One that is waited for later. */
static int store_begun_request(struct dim_writer *w, uint32_t rank, const struct as_action *a)
{
    const struct dim_written row = {.id = {rank, 1, a->request}, .action = *a};
    if (a->request == AS_REQUEST_BLOCKING || a->request == AS_REQUEST_DETACHED)
        return 0;
    return as_numbered_put(&w->begun, sizeof row, &row);
}

static int write_action(struct dim_writer *w, uint32_t rank, const struct as_action *a)
{
    const bool is_begun = a->request != AS_REQUEST_BLOCKING;
    switch (a->kind) {
    case AS_ACTION_COMPUTE:
        as_out_f(w->out, "1:%u:0:%" PRId64 ".%09" PRId64 "\n", rank, a->ns / 1000000000,
                 a->ns % 1000000000);
        return 0;
    case AS_ACTION_SEND:
        as_out_f(w->out, "2:%u:0:%u:-1:%" PRId64 ":%d:%u:%u\n", rank, a->partner, a->sent_b, a->tag,
                 COMM_NUMBER(a->comm), (is_begun ? 2u : 0u) + a->is_synchronous);
        return 0;
    case AS_ACTION_RECEIVE:
        write_receive(w, rank, a, is_begun);
        return store_begun_request(w, rank, a);
    case AS_ACTION_COLLECTIVE:
        write_collective(w, rank, a, !is_begun);
        return store_begun_request(w, rank, a);
    case AS_ACTION_WAIT:
        write_wait(w, rank, a->request);
        return 0;
    default:
        return 0;
    }
}

static void write_head(const struct as_simulated_program *program, const char *name,
                       uint64_t offset, struct as_out *out)
{
    as_out_z(out, "#DIMEMAS:\"");
    for (const char *c = name; *c; c++)
        as_out_c(out, *c == '"' || (unsigned char)*c < ' ' ? '_' : *c);
    as_out_f(out, "\":1,%020" PRIu64 ":%u(", offset, program->rank_n);
    for (uint32_t i = 0; i < program->rank_n; i++)
        as_out_z(out, i ? ",1" : "1");
    as_out_f(out, "),%zu,0\n", program->comm.n);
    for (size_t i = 0; i < program->comm.n; i++) {
        as_out_f(out, "d:1:%zu:%zu", COMM_NUMBER(i), program->comm.at[i].rank.n);
        as_vec_foreach (&program->comm.at[i].rank, rank)
            as_out_f(out, ":%u", *rank);
        as_out_c(out, '\n');
    }
}

/* The first pass: bytes that were written until now. */
static int note_offset(struct dim_writer *w, struct as_error *err)
{
    if (!w->is_counting)
        return 0;
    as_out_drain(w->out);
    return as_vec_push(&w->offset, w->written_b) < 0 ? as_error_nomem(err, "the offsets") : 0;
}

static int write_ranks(struct dim_writer *w, struct as_simulated_program *program,
                       struct as_error *err)
{
    struct as_action action[READ_AT_ONCE];
    for (uint32_t rank = 0; rank < program->rank_n; rank++) {
        AS_TRY(note_offset(w, err));
        for (size_t n = 1; n > 0;) {
            AS_TRY(program->read(program->context, rank, action, READ_AT_ONCE, &n, err));
            for (size_t i = 0; i < n; i++)
                if (write_action(w, rank, &action[i]) < 0)
                    return as_error_nomem(err, "the requests");
        }
    }
    return note_offset(w, err);
}

static int write_once(struct dim_writer *w, struct as_simulated_program *program, const char *name,
                      uint64_t offset, struct as_error *err)
{
    AS_TRY(program->rewind(program->context, err));
    write_head(program, name, offset, w->out);
    const int rc = write_ranks(w, program, err);
    as_numbered_fini(&w->begun);
    return rc;
}

static int count_bytes(void *context, const char *bytes, size_t n)
{
    struct dim_writer *w = context;
    (void)bytes;
    w->written_b += n;
    return 0;
}

static int count_offsets(struct dim_writer *w, struct as_simulated_program *program,
                         const char *name, struct as_error *err)
{
    struct as_out counted;
    as_out_init_call(&counted, count_bytes, w, name);
    w->out = &counted;
    w->is_counting = true;
    const int rc = write_once(w, program, name, 0, err);
    as_out_fini(&counted);
    w->out = NULL;
    w->is_counting = false;
    return rc;
}

int as_dim_write(struct as_simulated_program *program, const char *name, struct as_out *out,
                 struct as_error *err)
{
    struct dim_writer writer = {.written_b = 0};
    int rc = count_offsets(&writer, program, name, err);
    writer.out = out;
    if (rc == 0)
        rc = write_once(&writer, program, name, writer.offset.at[program->rank_n], err);
    for (uint32_t rank = 0; rc == 0 && rank < program->rank_n; rank++)
        as_out_f(out, "s:%u:%" PRIu64 "\n", rank, writer.offset.at[rank]);
    as_vec_fini(&writer.offset);
    return rc;
}
