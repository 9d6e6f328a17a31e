/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties the loops of a program to their source, body by body, and joins the ranges in one table.
 * Bodies are independent; workers handle chunks of them in parallel.
 */
#include "code/source.h"

#include <string.h>

#define SOURCE_GRAIN 64

struct whole {
    struct as_builder *b;
    struct as_program *program;
    as_source_ranges *chunk; /* per SOURCE_GRAIN bodies */
};

static int tie_body(struct as_program *program, const struct as_body *body,
                    as_source_ranges *ranges, struct as_arena *arena)
{
    struct as_source s = {.program = program, .body = body, .arena = arena, .ranges = ranges};
    int rc = 0;
    if (program->debug.line_n) {
        rc = as_source_lines(&s);
        if (rc == 0)
            rc = as_source_works(&s);
        if (rc == 0)
            rc = as_source_groups(&s);
    }
    if (rc == 0)
        rc = as_source_unroll(&s);
    as_vec_fini(&s.op);
    as_vec_fini(&s.place);
    return rc;
}

static int tie_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct whole *w = ctx;
    int rc = 0;
    for (size_t i = from; i < to && rc == 0; i++) {
        if (w->program->body[i].loops)
            rc = tie_body(w->program, &w->program->body[i], &w->chunk[i / SOURCE_GRAIN],
                          as_scratch_of(w->b, worker));
    }
    return rc < 0 ? as_error_nomem(err, "source of loops") : 0;
}

/* Copies the ranges of all chunks into one table and shifts the loops' references to it. */
static int join_source_ranges(struct whole *w, size_t chunks)
{
    struct as_program *program = w->program;
    size_t n = 0;
    for (size_t c = 0; c < chunks; c++)
        n += w->chunk[c].n;
    program->loop_source = as_malloc(sizeof *program->loop_source * (n + 1));
    if (!program->loop_source)
        return AS_ERR_NOMEM;
    for (size_t c = 0; c < chunks; c++) {
        size_t last =
            (c + 1) * SOURCE_GRAIN < program->body_n ? (c + 1) * SOURCE_GRAIN : program->body_n;
        if (w->chunk[c].n)
            memcpy(program->loop_source + program->loop_source_n, w->chunk[c].at,
                   sizeof *w->chunk[c].at * w->chunk[c].n);
        for (size_t body = c * SOURCE_GRAIN; body < last; body++) {
            struct as_loop *loop = &program->loop[program->body[body].first_loop];
            for (uint32_t l = 0; l < program->body[body].loops; l++)
                loop[l].source += (uint32_t)program->loop_source_n;
        }
        program->loop_source_n += w->chunk[c].n;
    }
    return 0;
}

int as_loops_source(struct as_builder *b, struct as_error *err)
{
    struct as_program *program = b->program;
    size_t chunks = (program->body_n + SOURCE_GRAIN - 1) / SOURCE_GRAIN;
    struct whole w = {.b = b, .program = program, .chunk = as_calloc(chunks + 1, sizeof *w.chunk)};
    if (!w.chunk)
        return as_error_nomem(err, "source of loops");
    int rc = as_pool_for(b->pool, program->body_n, SOURCE_GRAIN, tie_some, &w, err);
    if (rc == 0 && join_source_ranges(&w, chunks) < 0)
        rc = as_error_nomem(err, "source of loops");
    for (size_t c = 0; c < chunks; c++)
        as_vec_fini(&w.chunk[c]);
    as_free(w.chunk);
    return rc;
}
