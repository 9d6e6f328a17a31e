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

const struct assay_memory_stream *as_verdict_stream(const struct as_verdict *v, uint32_t insn)
{
    size_t at = as_first_not(i, v->streams.n, v->streams.at[i].insn < insn);

    assert(at + 1 >= v->streams.n || v->streams.at[at].insn <= v->streams.at[at + 1].insn);
    for (; at < v->streams.n && v->streams.at[at].insn == insn; at++)
        if (!v->streams.at[at].stack && v->streams.at[at].stride != ASSAY_STRIDE_ZERO)
            return &v->streams.at[at];
    return NULL;
}

static bool computes_in_all_lanes(const struct assay_form *form)
{
    switch (form->insn_class) {
    case ASSAY_CLASS_ADD:
    case ASSAY_CLASS_MUL:
    case ASSAY_CLASS_FMA:
    case ASSAY_CLASS_DIV:
    case ASSAY_CLASS_SQRT:
    case ASSAY_CLASS_RCP:
    case ASSAY_CLASS_RSQRT:
    case ASSAY_CLASS_DOT:
    case ASSAY_CLASS_SAD:
    case ASSAY_CLASS_MINMAX:
    case ASSAY_CLASS_ABS:
        return form->lanes > 1;
    default:
        return false;
    }
}

static bool has_no_data(const struct assay_form *form)
{
    switch (form->insn_class) {
    case ASSAY_CLASS_NOP:
    case ASSAY_CLASS_LEA:
    case ASSAY_CLASS_PUSH:
    case ASSAY_CLASS_POP:
    case ASSAY_CLASS_CALL:
    case ASSAY_CLASS_JUMP:
    case ASSAY_CLASS_BRANCH:
    case ASSAY_CLASS_RETURN:
    case ASSAY_CLASS_PREFETCH:
    case ASSAY_CLASS_FENCE:
    case ASSAY_CLASS_STATE:
        return true;
    default:
        return false;
    }
}

enum as_lanes as_insn_lanes(const struct assay_insn *insn, const struct assay_memory_stream *stream)
{
    const struct assay_form *form = assay_form_get(insn->form);

    if (has_no_data(form) || insn->bits & ASSAY_INSN_IDIOM)
        return AS_LANES_NO_DATA;
    if (form->insn_class == ASSAY_CLASS_GATHER || form->insn_class == ASSAY_CLASS_SCATTER)
        return AS_LANES_MANY;
    if (form->traits & ASSAY_TRAIT_PACKED) {
        if (computes_in_all_lanes(form))
            return AS_LANES_MANY;
        return stream && stream->element_b && stream->width_b > stream->element_b ? AS_LANES_MANY
                                                                                  : AS_LANES_EITHER;
    }
    if (form->traits & ASSAY_TRAIT_SCALAR)
        return form->traits & ASSAY_TRAIT_PACKABLE ? AS_LANES_ONE : AS_LANES_EITHER;
    if (form->vector_b)
        return AS_LANES_EITHER;
    return stream || form->traits & ASSAY_TRAIT_X87 ? AS_LANES_ONE : AS_LANES_NO_DATA;
}

int as_verdict_each(struct as_verdict *v,
                    int (*look)(struct as_verdict *v, const struct assay_block *block,
                                uint32_t insn))
{
    const struct assay_program *program = v->program;
    const struct assay_loop *loop = &program->loop[v->loop];

    for (uint32_t i = 0; i < loop->blocks; i++) {
        const struct assay_block *block =
            &program->block[program->loop_block[loop->first_block + i]];

        for (uint32_t k = 0; block->loop == v->loop && k < block->insns; k++)
            AS_TRY(look(v, block, block->first_insn + k));
    }
    return 0;
}

/* ---- Width --------------------------------------------------------------------------------- */

static void see_width(struct as_lane_widths *w, const struct assay_form *form,
                      const struct assay_memory_stream *stream, enum as_lanes lanes)
{
    if (lanes == AS_LANES_MANY && stream && stream->width_b > w->moved_b)
        w->moved_b = stream->width_b;
    else if (lanes == AS_LANES_MANY && !stream && form->vector_b > w->computed_b)
        w->computed_b = form->vector_b;
    if (lanes == AS_LANES_MANY && form->element_b == 8)
        w->has_long = true;
    w->half_n += lanes == AS_LANES_EITHER && stream && stream->width_b == 8;
    w->integer_n += lanes == AS_LANES_EITHER && !stream && form->traits & ASSAY_TRAIT_PACKED &&
                    form->element == ASSAY_ELEMENT_INT;
}

static int count_lanes(struct as_verdict *v, const struct assay_block *block, uint32_t at)
{
    const struct assay_insn *insn = &v->program->code.insn[at];
    const struct assay_memory_stream *stream = as_verdict_stream(v, at);
    const enum as_lanes lanes = as_insn_lanes(insn, stream);

    (void)block;
    v->out->packed_n += lanes == AS_LANES_MANY;
    v->out->scalar_n += lanes == AS_LANES_ONE;
    see_width(&v->width, assay_form_get(insn->form), stream, lanes);
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

static void judge_lanes(struct assay_vector_verdict *out)
{
    const uint32_t n = out->packed_n + out->scalar_n;

    out->ratio = n ? (double)out->packed_n / n : -1;
    if (n == 0)
        out->state = ASSAY_VECTOR_NONE;
    else if (out->packed_n == 0)
        out->state = ASSAY_VECTOR_SCALAR;
    else
        out->state = out->scalar_n ? ASSAY_VECTOR_PART : ASSAY_VECTOR_FULL;
}

/* ---- Reasons ------------------------------------------------------------------------------- */

int as_verdict_reason(struct as_verdict *v, enum assay_vector_obstacle obstacle, int64_t amount)
{
    return as_vec_push(&v->reason, (struct assay_vector_reason){.obstacle = obstacle,
                                                                .first = (uint32_t)v->insn.n,
                                                                .amount = amount});
}

int as_verdict_shows(struct as_verdict *v, uint32_t insn)
{
    v->reason.at[v->reason.n - 1].n++;
    return as_vec_push(&v->insn, insn);
}

static int find_reasons(struct as_verdict *v, struct assay_error *err)
{
    if (v->out->state != ASSAY_VECTOR_FULL) {
        AS_TRY(as_verdict_flow(v, err));
        AS_TRY(as_verdict_cycles(v, err));
        if (as_verdict_memory(v) < 0)
            return as_error_nomem(err, "why a loop is not vectorised");
    }
    return as_verdict_versions(v, err);
}

int assay_loop_vector_verdict(const struct assay_program *program, uint32_t loop,
                              struct assay_vector_verdict *out, struct assay_error *err)
{
    struct as_verdict v = {.program = program, .loop = loop, .out = out};
    int rc;

    *out = (struct assay_vector_verdict){.ratio = -1};
    if (program->loop[loop].bits & ASSAY_LOOP_OUTSIZE)
        return 0;
    AS_TRY(assay_loop_streams(program, loop, &v.streams, err));
    as_verdict_each(&v, count_lanes);
    count_halves(&v);
    out->width_b = out->packed_n ? width_of(&v.width) : 0;
    judge_lanes(out);
    rc = out->state == ASSAY_VECTOR_NONE ? 0 : find_reasons(&v, err);
    assay_streams_free(&v.streams);
    out->reason = v.reason.at;
    out->reason_n = v.reason.n;
    out->insn = v.insn.at;
    out->insn_n = v.insn.n;
    if (rc < 0)
        assay_vector_verdict_free(out);
    return rc;
}

void assay_vector_verdict_free(struct assay_vector_verdict *verdict)
{
    as_free(verdict->reason);
    as_free(verdict->insn);
    *verdict = (struct assay_vector_verdict){.ratio = -1};
}
