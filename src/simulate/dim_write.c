/* SPDX-License-Identifier: Apache-2.0 */
/* Writing .dim: a line for each action, rank by rank. */
#include <stddef.h>

#include "simulate/dim.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/id_table.h"

#define READ_AT_ONCE 256u

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
};

static void write_collective(struct dim_writer *w, uint32_t rank, const struct as_action *a,
                             unsigned sync)
{
    as_out_f(w->out, "10:%u:0:%u:%u:0:0:%" PRId64 ":%" PRId64 ":%u\n", rank, a->collective, a->comm,
             a->sent_b, a->received_b, sync);
}

static void write_receive(struct dim_writer *w, uint32_t rank, const struct as_action *a,
                          unsigned type)
{
    as_out_f(w->out, "3:%u:0:%u:0:0:%d:%u:%u\n", rank, a->partner, a->tag, a->comm, type);
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
static int keep_begun(struct dim_writer *w, uint32_t rank, const struct as_action *a)
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
        as_out_f(w->out, "2:%u:0:%u:0:%" PRId64 ":%d:%u:%u\n", rank, a->partner, a->sent_b, a->tag,
                 a->comm, (is_begun ? 2u : 0u) + a->is_synchronous);
        return 0;
    case AS_ACTION_RECEIVE:
        write_receive(w, rank, a, is_begun);
        return keep_begun(w, rank, a);
    case AS_ACTION_COLLECTIVE:
        write_collective(w, rank, a, !is_begun);
        return keep_begun(w, rank, a);
    case AS_ACTION_WAIT:
        write_wait(w, rank, a->request);
        return 0;
    default:
        return 0;
    }
}

static void write_head(const struct as_program *program, const char *name, struct as_out *out)
{
    as_out_z(out, "#DIMEMAS:\"");
    for (const char *c = name; *c; c++)
        as_out_c(out, *c == '"' || (unsigned char)*c < ' ' ? '_' : *c);
    as_out_f(out, "\":1,0:%u(", program->rank_n);
    for (uint32_t i = 0; i < program->rank_n; i++)
        as_out_z(out, i ? ",1" : "1");
    as_out_f(out, "),%zu,0\n", program->comm.n);
    for (size_t i = 0; i < program->comm.n; i++) {
        as_out_f(out, "d:1:%zu:%zu", i, program->comm.at[i].rank.n);
        as_vec_foreach (&program->comm.at[i].rank, rank)
            as_out_f(out, ":%u", *rank);
        as_out_c(out, '\n');
    }
}

static int write_ranks(struct dim_writer *w, struct as_program *program, struct assay_error *err)
{
    struct as_action action[READ_AT_ONCE];
    for (uint32_t rank = 0; rank < program->rank_n; rank++)
        for (size_t n = 1; n > 0;) {
            AS_TRY(program->read(program->context, rank, action, READ_AT_ONCE, &n, err));
            for (size_t i = 0; i < n; i++)
                if (write_action(w, rank, &action[i]) < 0)
                    return as_error_nomem(err, "the requests");
        }
    return 0;
}

int as_dim_write(struct as_program *program, const char *name, struct as_out *out,
                 struct assay_error *err)
{
    struct dim_writer writer = {.out = out};
    AS_TRY(program->rewind(program->context, err));
    write_head(program, name, out);
    const int rc = write_ranks(&writer, program, err);
    as_numbered_fini(&writer.begun);
    return rc;
}
