/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops around a hot loop that touch its data again, and the bytes that are touched before that. An
 * outer loop may move the first address of an entry by less than a line. It touches the same data
 * again, or the rest of the same lines.
 */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "profile/accesses.h"

#define LINE_B 64

static bool moves(const struct as_outer_step *step)
{
    return step->kind == AS_OUTER_STEADY ||
           (step->kind == AS_OUTER_STEP && llabs(step->step_b) >= LINE_B);
}

/* Returns the part of a walk that an outer loop with this step touches again. */
static enum as_reuse_kind kind_of(const struct as_memory_stream *stream,
                                  const struct as_outer_step *step)
{
    if (step->kind == AS_OUTER_SAME)
        return AS_REUSE_DATA;
    if (step->kind != AS_OUTER_STEP || moves(step))
        return AS_REUSE_NONE;
    return llabs(stream->stride_b) < LINE_B ? AS_REUSE_DATA : AS_REUSE_LINE;
}

/* The loops around a loop: how far these move its operands, and the iterations of their entries. */
struct outer_loops {
    struct as_outer_step *step;        /* by stream and loop */
    double iteration_n[AS_OUTER_MOST]; /* 0: not known */
};

/* Bytes of lines that stream `s` touches between two iterations of the loop around number `level`;
 * 0: not known. */
static double bytes_of_stream(const struct as_operand_loop *loop, const struct as_entry *entry,
                              const struct outer_loops *outer, size_t s, unsigned level)
{
    const struct as_outer_step *step = &outer->step[s * AS_OUTER_MOST];
    double bytes = entry->iteration_n * loop->use[s].moved_b;

    for (unsigned k = 0; k < level; k++)
        if (moves(&step[k]) || step[k].kind == AS_OUTER_UNKNOWN)
            bytes *= outer->iteration_n[k];
    return bytes;
}

/* Over arrays: the largest of the operands of each. */
static double bytes_between(const struct as_operand_loop *loop, const struct as_entry *entry,
                            const struct outer_loops *outer, unsigned level)
{
    const struct as_memory_stream *at = loop->streams.at;
    double sum = 0;

    for (size_t s = 0; s < loop->streams.n; s++) {
        const double one = bytes_of_stream(loop, entry, outer, s, level);
        bool largest = as_stream_walks(&at[s]);
        for (size_t t = 0; t < loop->streams.n && largest; t++) {
            const double other = bytes_of_stream(loop, entry, outer, t, level);
            largest = t == s || at[t].array != at[s].array || !as_stream_walks(&at[t]) ||
                      other < one || (other == one && t > s);
        }
        sum += largest ? one : 0;
    }
    return sum;
}

static uint32_t outer_loop(const struct as_operand_loop *loop, unsigned level)
{
    const struct as_program *program = loop->module->program;
    uint32_t outer = loop->site->loop;

    for (unsigned k = 0; k <= level && outer != AS_NONE; k++)
        outer = program->loop[outer].parent;
    return outer;
}

static void find_reuse(const struct as_operand_loop *loop, const struct as_entry *entry,
                       const struct outer_loops *outer, size_t s, struct as_outer_reuse *out)
{
    const struct as_outer_step *step = &outer->step[s * AS_OUTER_MOST];

    for (unsigned k = 0; k < AS_OUTER_MOST && out->kind == AS_REUSE_NONE; k++) {
        if (step[k].kind == AS_OUTER_UNKNOWN)
            return;
        out->kind = kind_of(&loop->streams.at[s], &step[k]);
        out->loop = outer_loop(loop, k);
        out->between_b = bytes_of_stream(loop, entry, outer, s, k) > 0
                             ? bytes_between(loop, entry, outer, k)
                             : 0;
    }
}

/* Inner loops leave the counter of a loop as it is: samples in them have it. */
static int count_iterations(const struct as_operand_loop *loop, struct outer_loops *outer,
                            struct as_error *err)
{
    for (unsigned k = 0; k < AS_OUTER_MOST; k++) {
        const uint32_t number = outer_loop(loop, k);
        struct as_streams streams;
        if (number == AS_NONE)
            return 0;
        AS_TRY(as_loop_streams(loop->module->program, number, &streams, err));
        outer->iteration_n[k] = as_iterations_of(loop, &streams.limit);
        as_streams_free(&streams);
    }
    return 0;
}

int as_reuse_see(struct as_operand_loop *loop, const struct as_entry *entry, struct as_error *err)
{
    struct outer_loops outer = {0};

    if (!(entry->iteration_n > 0) || outer_loop(loop, 0) == AS_NONE)
        return 0;
    outer.step = as_calloc(loop->streams.n * AS_OUTER_MOST + 1, sizeof *outer.step);
    if (!outer.step)
        return as_error_nomem(err, "the loops around a loop");
    int rc = as_loop_outer_steps(loop->module->program, loop->site->loop, &loop->streams,
                                 outer.step, err);
    if (rc == 0)
        rc = count_iterations(loop, &outer, err);
    for (size_t s = 0; s < loop->streams.n && rc == 0; s++)
        if (as_stream_walks(&loop->streams.at[s]))
            find_reuse(loop, entry, &outer, s, &loop->reuse[s]);
    as_free(outer.step);
    return rc;
}
