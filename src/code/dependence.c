/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds data dependences of one path of a loop. Registers and flags come from reaching definitions,
 * memory from symbolic addresses. The result has one order.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "code/forward.h"
#include "code/scratch.h"

enum { INSERTION_MOST = 16 };

/* Returns a number that orders the dependences of one instruction. */
static uint64_t rank_of(const struct as_dependence *d)
{
    return (uint64_t)d->from << 32 | (uint32_t)d->kind << 24 | (uint32_t)d->what << 16 |
           d->distance;
}

static int compare_dependences(const void *a, const void *b)
{
    const uint64_t x = rank_of(a), y = rank_of(b);
    return (x > y) - (x < y);
}

/* Sorts by insertion, because most instructions have two or three dependences. */
static void insert_all(struct as_dependence *at, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct as_dependence d = at[i];
        const uint64_t rank = rank_of(&d);
        size_t k = i;
        for (; k > 0 && rank < rank_of(&at[k - 1]); k--)
            at[k] = at[k - 1];
        at[k] = d;
    }
}

/* Sorts the dependences of one instruction, from index `first` on. Two accesses of the instruction
 * that share an operand make one dependence. */
static void order(as_dependence_vec *v, size_t first)
{
    if (v->n - first < 2)
        return;
    if (v->n - first > INSERTION_MOST)
        qsort(v->at + first, v->n - first, sizeof *v->at, compare_dependences);
    else
        insert_all(v->at + first, v->n - first);
    size_t n = first + 1;
    for (size_t i = n; i < v->n; i++) {
        if (rank_of(&v->at[n - 1]) == rank_of(&v->at[i]))
            v->at[n - 1].bits |= v->at[i].bits;
        else
            v->at[n++] = v->at[i];
    }
    v->n = n;
}

static int collect(const struct as_steps *steps, struct as_reach *reach, struct as_forward *forward,
                   as_dependence_vec *out)
{
    const struct as_iteration_view *view = steps->view;
    AS_TRY(as_vec_reserve(out, 2 * (size_t)steps->n)); /* libopenblas: 1.8 per instruction */
    for (uint32_t i = 0; i < view->n; i++) {
        AS_TRY(as_reach_enter(reach, i));
        for (uint32_t step = view->start[i]; step < view->start[i + 1]; step++) {
            size_t first = out->n;
            AS_TRY(as_reach_step(reach, step, out));
            AS_TRY(as_forward_step(forward, step, out));
            order(out, first);
        }
    }
    return 0;
}

static int find_dependences(const struct as_steps *steps, struct as_scratch *scratch,
                            as_dependence_vec *found, bool *limited)
{
    struct as_forward forward;
    AS_TRY(as_reach_start(&scratch->reach, steps, &scratch->arena));
    AS_TRY(as_evaluate(&scratch->evaluation, steps, &scratch->arena));
    AS_TRY(as_forward_init(&forward, &scratch->evaluation, &scratch->arena));
    AS_TRY(collect(steps, &scratch->reach, &forward, found));
    *limited = scratch->reach.limited;
    return 0;
}

static int make(const struct as_program *program, uint32_t loop, const struct as_paths *paths,
                size_t path, struct as_scratch *scratch, struct as_dependences *out)
{
    struct as_iteration_view view;
    struct as_steps steps;
    const struct as_path *p = &paths->path[path];
    enum as_iteration_view_kind kind = paths->merged ? AS_ITERATION_MERGED : AS_ITERATION_PATH;
    const struct as_iteration *iteration = as_scratch_iteration(scratch, program, loop);
    if (!iteration)
        return AS_ERR_NOMEM;
    AS_TRY(as_iteration_view_make(iteration, kind, paths->block + p->first, p->blocks,
                                  &scratch->arena, &view));
    AS_TRY(as_steps_make(&view, &scratch->arena, &steps));
    out->insn = as_malloc((steps.n + 1) * sizeof *out->insn);
    if (!out->insn)
        return AS_ERR_NOMEM;
    memcpy(out->insn, steps.insn, steps.n * sizeof *out->insn);
    out->insn_n = steps.n;
    as_dependence_vec found = {0};
    int rc = find_dependences(&steps, scratch, &found, &out->limited);
    out->at = found.at;
    out->n = found.n;
    return rc;
}

int as_loop_dependences(const struct as_program *program, uint32_t loop,
                        const struct as_paths *paths, size_t path, struct as_dependences *out,
                        struct as_error *err)
{
    *out = (struct as_dependences){0};
    struct as_scratch *scratch = as_scratch_acquire(program);
    int rc = scratch ? make(program, loop, paths, path, scratch, out) : AS_ERR_NOMEM;
    as_scratch_release(program, scratch);
    if (rc == 0)
        return 0;
    as_dependences_free(out);
    return as_error_nomem(err, "the dependences of a loop");
}

void as_dependences_free(struct as_dependences *dependences)
{
    as_free(dependences->insn);
    as_free(dependences->at);
    *dependences = (struct as_dependences){0};
}
