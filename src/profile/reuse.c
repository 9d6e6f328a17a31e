/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops around a hot loop that touch its data again, and the bytes that are touched before that. An
 * outer loop that moves the first address of an entry by less than a line brings the same data, or
 * the rest of the same lines.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/accesses.h"

#define LINE_B 64

static bool moves(const struct assay_outer_step *step)
{
    return step->kind == ASSAY_OUTER_STEADY ||
           (step->kind == ASSAY_OUTER_STEP && llabs(step->step_b) >= LINE_B);
}

/* What an outer loop with this step touches again of a walk. */
static enum as_reuse_kind kind_of(const struct assay_memory_stream *stream,
                                  const struct assay_outer_step *step)
{
    if (step->kind == ASSAY_OUTER_SAME)
        return AS_REUSE_DATA;
    if (step->kind != ASSAY_OUTER_STEP || moves(step))
        return AS_REUSE_NONE;
    return llabs(stream->stride_b) < LINE_B ? AS_REUSE_DATA : AS_REUSE_LINE;
}

/* True if none of the first `n` loops around moves the walk: these touch what an entry does. */
static bool stays_inside(const struct assay_outer_step *step, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        if (step[k].kind == ASSAY_OUTER_UNKNOWN || moves(&step[k]))
            return false;
    return true;
}

/* Bytes of lines that the array of stream `s` has between two iterations of the loop around number
 * `level`, at least. */
static double bytes_of_array(const struct as_operand_loop *loop, const struct as_entry *entry,
                             const struct assay_outer_step *step, size_t s, unsigned level)
{
    const double entry_b = entry->iteration_n * loop->use[s].moved_b;

    if (stays_inside(step, level) || moves(&step[level]) || step[level].kind == ASSAY_OUTER_UNKNOWN)
        return entry_b;
    return fmax(entry_b, loop->extent_b[s]);
}

/* Over arrays: the largest of the operands of each. */
static double bytes_between(const struct as_operand_loop *loop, const struct as_entry *entry,
                            const struct assay_outer_step *step, unsigned level)
{
    const struct assay_memory_stream *at = loop->streams.at;
    double sum = 0;

    for (size_t s = 0; s < loop->streams.n; s++) {
        const double one = bytes_of_array(loop, entry, &step[s * ASSAY_OUTER_MOST], s, level);
        bool largest = as_stream_walks(&at[s]);
        for (size_t t = 0; t < loop->streams.n && largest; t++) {
            const double other = bytes_of_array(loop, entry, &step[t * ASSAY_OUTER_MOST], t, level);
            largest = t == s || at[t].array != at[s].array || !as_stream_walks(&at[t]) ||
                      other < one || (other == one && t > s);
        }
        sum += largest ? one : 0;
    }
    return sum;
}

static uint32_t outer_loop(const struct as_operand_loop *loop, unsigned level)
{
    const struct assay_program *program = loop->module->program;
    uint32_t outer = loop->site->loop;

    for (unsigned k = 0; k <= level && outer != ASSAY_NONE; k++)
        outer = program->loop[outer].parent;
    return outer;
}

static void find_reuse(const struct as_operand_loop *loop, const struct as_entry *entry,
                       const struct assay_outer_step *step, size_t s, struct as_reuse *out)
{
    const struct assay_outer_step *own = &step[s * ASSAY_OUTER_MOST];

    for (unsigned k = 0; k < ASSAY_OUTER_MOST && out->kind == AS_REUSE_NONE; k++) {
        if (own[k].kind == ASSAY_OUTER_UNKNOWN)
            return;
        out->kind = kind_of(&loop->streams.at[s], &own[k]);
        out->loop = outer_loop(loop, k);
        out->between_b = bytes_between(loop, entry, step, k);
    }
}

int as_reuse_see(struct as_operand_loop *loop, const struct as_entry *entry,
                 struct assay_error *err)
{
    struct assay_outer_step *step;

    if (!(entry->iteration_n > 0) || outer_loop(loop, 0) == ASSAY_NONE)
        return 0;
    step = as_calloc(loop->streams.n * ASSAY_OUTER_MOST + 1, sizeof *step);
    if (!step)
        return as_error_nomem(err, "the loops around a loop");
    const int rc =
        assay_loop_outer_steps(loop->module->program, loop->site->loop, &loop->streams, step, err);
    for (size_t s = 0; s < loop->streams.n && rc == 0; s++)
        if (as_stream_walks(&loop->streams.at[s]))
            find_reuse(loop, entry, step, s, &loop->reuse[s]);
    as_free(step);
    return rc;
}
