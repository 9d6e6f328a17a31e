/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vector verdict of one loop: its vectorised share and its vector width. Single instructions
 * mislead: scalar code converts, negates and selects by packed instructions with unused upper
 * lanes. So only certain vector work counts: arithmetic in all lanes, and accesses of several
 * elements to memory that the loop traverses.
 */
#include "quality/vector_verdict.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

/* ---- Instructions -------------------------------------------------------------------------- */

const struct as_memory_stream *as_verdict_stream(const struct as_verdict *v, uint32_t insn)
{
    size_t at = as_first_not(i, v->streams.n, v->streams.at[i].insn < insn);

    assert(at + 1 >= v->streams.n || v->streams.at[at].insn <= v->streams.at[at + 1].insn);
    for (; at < v->streams.n && v->streams.at[at].insn == insn; at++)
        if (!v->streams.at[at].stack && v->streams.at[at].stride != AS_STRIDE_ZERO)
            return &v->streams.at[at];
    return NULL;
}

static bool computes_in_all_lanes(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_ADD:
    case AS_CLASS_MUL:
    case AS_CLASS_FMA:
    case AS_CLASS_DIV:
    case AS_CLASS_SQRT:
    case AS_CLASS_RCP:
    case AS_CLASS_RSQRT:
    case AS_CLASS_DOT:
    case AS_CLASS_SAD:
    case AS_CLASS_MINMAX:
    case AS_CLASS_ABS:
        return form->lanes > 1;
    default:
        return false;
    }
}

static bool has_no_data(const struct as_form *form)
{
    switch (form->insn_class) {
    case AS_CLASS_NOP:
    case AS_CLASS_LEA:
    case AS_CLASS_PUSH:
    case AS_CLASS_POP:
    case AS_CLASS_CALL:
    case AS_CLASS_JUMP:
    case AS_CLASS_BRANCH:
    case AS_CLASS_RETURN:
    case AS_CLASS_PREFETCH:
    case AS_CLASS_FENCE:
    case AS_CLASS_STATE:
        return true;
    default:
        return false;
    }
}

enum as_lanes as_insn_lanes(const struct as_insn *insn, const struct as_memory_stream *stream)
{
    const struct as_form *form = as_form_get(insn->form);

    if (has_no_data(form) || insn->bits & AS_INSN_IDIOM)
        return AS_LANES_NO_DATA;
    if (form->insn_class == AS_CLASS_GATHER || form->insn_class == AS_CLASS_SCATTER)
        return AS_LANES_MANY;
    if (form->traits & AS_TRAIT_PACKED) {
        if (computes_in_all_lanes(form))
            return AS_LANES_MANY;
        return stream && stream->element_b && stream->width_b > stream->element_b ? AS_LANES_MANY
                                                                                  : AS_LANES_EITHER;
    }
    if (form->traits & AS_TRAIT_SCALAR)
        return form->traits & AS_TRAIT_PACKABLE ? AS_LANES_ONE : AS_LANES_EITHER;
    if (form->vector_b)
        return AS_LANES_EITHER;
    return stream || form->traits & AS_TRAIT_X87 ? AS_LANES_ONE : AS_LANES_NO_DATA;
}

int as_verdict_each(struct as_verdict *v,
                    int (*look)(struct as_verdict *v, const struct as_block *block, uint32_t insn))
{
    const struct as_program *program = v->program;
    const struct as_loop *loop = &program->loop[v->loop];

    for (uint32_t i = 0; i < loop->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[loop->first_block + i]];

        for (uint32_t k = 0; block->loop == v->loop && k < block->insns; k++)
            AS_TRY(look(v, block, block->first_insn + k));
    }
    return 0;
}

/* ---- Width --------------------------------------------------------------------------------- */

static void see_width(struct as_lane_widths *w, const struct as_form *form,
                      const struct as_memory_stream *stream, enum as_lanes lanes)
{
    if (lanes == AS_LANES_MANY && stream && stream->width_b > w->moved_b)
        w->moved_b = stream->width_b;
    else if (lanes == AS_LANES_MANY && !stream && form->vector_b > w->computed_b)
        w->computed_b = form->vector_b;
    if (lanes == AS_LANES_MANY && form->element_b == 8)
        w->has_long = true;
    w->half_n += lanes == AS_LANES_EITHER && stream && stream->width_b == 8;
    w->integer_n += lanes == AS_LANES_EITHER && !stream && form->traits & AS_TRAIT_PACKED &&
                    form->element == AS_ELEMENT_INT;
}

static int count_lanes(struct as_verdict *v, const struct as_block *block, uint32_t at)
{
    const struct as_insn *insn = &v->program->code.insn[at];
    const struct as_memory_stream *stream = as_verdict_stream(v, at);
    const enum as_lanes lanes = as_insn_lanes(insn, stream);

    (void)block;
    v->out->packed_n += lanes == AS_LANES_MANY;
    v->out->scalar_n += lanes == AS_LANES_ONE;
    see_width(&v->width, as_form_get(insn->form), stream, lanes);
    return 0;
}

/* Returns the vector width in bytes. If only halves of registers move to or from memory, half of
 * the lanes are unused. Elements that became wider are an exception. */
static uint32_t width_of(const struct as_lane_widths *w)
{
    if (w->moved_b <= 8 && (w->moved_b || w->half_n) && !w->has_long)
        return 8;
    return w->moved_b > w->computed_b ? w->moved_b : w->computed_b;
}

/* Counts 8-byte integer moves between memory and vector registers, and ambiguous packed integer
 * instructions, as vectorised. Compilers do not use them together for a single value. */
static void count_halves(struct as_verdict *v)
{
    if (v->out->packed_n + v->out->scalar_n == 0 && v->width.half_n && v->width.integer_n)
        v->out->packed_n = v->width.half_n + v->width.integer_n;
}

static void judge_lanes(struct as_vector_verdict *out)
{
    const uint32_t n = out->packed_n + out->scalar_n;

    out->ratio = n ? (double)out->packed_n / n : -1;
    if (n == 0)
        out->state = AS_VECTOR_NONE;
    else if (out->packed_n == 0)
        out->state = AS_VECTOR_SCALAR;
    else
        out->state = out->scalar_n ? AS_VECTOR_PART : AS_VECTOR_FULL;
}

/* ---- Reasons ------------------------------------------------------------------------------- */

int as_verdict_reason(struct as_verdict *v, enum as_vector_obstacle obstacle, int64_t amount)
{
    return as_vec_push(&v->reason, (struct as_vector_reason){.obstacle = obstacle,
                                                             .first = (uint32_t)v->insn.n,
                                                             .amount = amount});
}

int as_verdict_shows(struct as_verdict *v, uint32_t insn)
{
    v->reason.at[v->reason.n - 1].n++;
    return as_vec_push(&v->insn, insn);
}

static int find_reasons(struct as_verdict *v, struct as_error *err)
{
    if (v->out->state != AS_VECTOR_FULL) {
        AS_TRY(as_verdict_flow(v, err));
        AS_TRY(as_verdict_cycles(v, err));
        if (as_verdict_memory(v) < 0)
            return as_error_nomem(err, "why a loop is not vectorised");
    }
    return as_verdict_versions(v, err);
}

int as_loop_vector_verdict(const struct as_program *program, uint32_t loop,
                           struct as_vector_verdict *out, struct as_error *err)
{
    struct as_verdict v = {.program = program, .loop = loop, .out = out};
    int rc;

    *out = (struct as_vector_verdict){.ratio = -1};
    if (program->loop[loop].bits & AS_LOOP_OUTSIZE)
        return 0;
    AS_TRY(as_loop_streams(program, loop, &v.streams, err));
    as_verdict_each(&v, count_lanes);
    count_halves(&v);
    out->width_b = out->packed_n ? width_of(&v.width) : 0;
    judge_lanes(out);
    rc = out->state == AS_VECTOR_NONE ? 0 : find_reasons(&v, err);
    as_streams_free(&v.streams);
    out->reason = v.reason.at;
    out->reason_n = v.reason.n;
    out->insn = v.insn.at;
    out->insn_n = v.insn.n;
    if (rc < 0)
        as_vector_verdict_free(out);
    return rc;
}

void as_vector_verdict_free(struct as_vector_verdict *verdict)
{
    as_free(verdict->reason);
    as_free(verdict->insn);
    *verdict = (struct as_vector_verdict){.ratio = -1};
}
