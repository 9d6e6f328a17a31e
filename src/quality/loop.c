/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes facts of one loop from its instructions and memory operands. Uses the tables of code/
 * and the instruction classes of isa/, but neither times nor a machine.
 */
#include <string.h>

#include "base/error.h"
#include "quality/arithmetic.h"
#include "quality/chains.h"
#include "quality/merge.h"
#include "quality/quality.h"

#define LINE_B      64
#define WIDE_B      16 /* more than one value of a scalar instruction */
#define INDEX_FAR   32 /* max instructions from an index to its use */
#define GENERAL_N   16 /* general registers */
#define ROOT_READER 8  /* max instructions from a root to its reader */

/* ---- Memory -------------------------------------------------------------------------------- */

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Returns the bytes that are certainly contiguous: an element of a gather or scatter, else the
 * access. */
static double piece_of(const struct as_program *program, const struct as_memory_stream *at)
{
    const uint8_t insn_class = as_form_get(program->code.insn[at->insn].form)->insn_class;
    const bool is_alone = insn_class == AS_CLASS_GATHER || insn_class == AS_CLASS_SCATTER;
    return is_alone && at->element_b && at->element_b < at->width_b ? at->element_b : at->width_b;
}

bool as_access_efficiency(const struct as_program *program, const struct as_memory_stream *stream,
                          double *low, double *high)
{
    if (stream->stack || stream->width_b == 0)
        return false;
    const double width = smaller(stream->width_b, LINE_B);
    const double alone = smaller(piece_of(program, stream), LINE_B) / LINE_B;
    const double step = (double)(stream->stride_b < 0 ? -stream->stride_b : stream->stride_b);

    *low = *high = 1;
    switch (stream->stride) {
    case AS_STRIDE_CONSTANT:
        *low = *high = smaller(1, width / smaller(step > 0 ? step : 1, LINE_B));
        break;
    case AS_STRIDE_INDIRECT:
    case AS_STRIDE_UNKNOWN:
        *low = alone;
        break;
    default:
        break;
    }
    return true;
}

/* ---- Use of lines -------------------------------------------------------------------------- */

/* Adds an access with a stride that the code does not show. The low bound moves a line for each
 * operand, or for each element of a gather. The high bound assumes that neighbours follow soon. */
static void add_unknown(const struct as_program *program, const struct as_memory_stream *at,
                        struct as_line_use *low, struct as_line_use *high)
{
    const double piece_b = piece_of(program, at), lines_b = at->width_b / piece_b * LINE_B;
    low->used_b += at->width_b;
    low->moved_b += lines_b > at->width_b ? lines_b : at->width_b;
    high->used_b += at->width_b;
    high->moved_b += at->width_b;
}

static void count_stream(const struct as_memory_stream *at, struct as_loop_facts *out)
{
    out->stream_n[at->stride]++;
    out->moving_n += at->stride == AS_STRIDE_UNIT;
    out->wide_n += at->stride == AS_STRIDE_UNIT && at->width_b >= WIDE_B;
    out->steady_n += at->stride == AS_STRIDE_UNKNOWN && at->steady;
}

/* Returns the stream of the instruction that reads memory, or NULL. */
static const struct as_memory_stream *read_at(const struct as_streams *streams, uint32_t insn)
{
    for (size_t i = 0; i < streams->n; i++)
        if (streams->at[i].insn == insn && streams->at[i].access & AS_ACCESS_READ)
            return &streams->at[i];
    return NULL;
}

/* Returns true if `reg` holds an element of an array that the loop traverses. Its last writer
 * before `insn` loads it, or moves or extends such a value. */
static bool is_walked_index(const struct as_program *program, const struct as_streams *streams,
                            unsigned reg, uint32_t insn)
{
    for (unsigned far = 0; far < INDEX_FAR && insn > 0; far++) {
        struct as_effects effects;

        as_insn_effects(&program->code.insn[--insn], &effects);
        if (!as_regset_has(effects.written, reg))
            continue;
        const struct as_memory_stream *from = read_at(streams, insn);
        if (from)
            return from->stride == AS_STRIDE_UNIT || from->stride == AS_STRIDE_CONSTANT;
        unsigned source = 0;
        while (source < GENERAL_N && !as_regset_has(effects.read, source))
            source++;
        if (source == GENERAL_N)
            return false;
        reg = source;
    }
    return false;
}

static bool is_same_place(const struct as_memory *a, const struct as_memory *b)
{
    return a->base == b->base && a->index == b->index && a->scale == b->scale && a->disp == b->disp;
}

static bool is_scatter(const struct as_program *program, const struct as_streams *streams,
                       const struct as_memory_stream *at)
{
    struct as_memory place[2];

    return at->stride == AS_STRIDE_INDIRECT && at->access & AS_ACCESS_WRITE &&
           as_insn_memory(&program->code, &program->code.insn[at->insn], place) >= 1 &&
           (is_walked_index(program, streams, place[0].base, at->insn) ||
            is_walked_index(program, streams, place[0].index, at->insn));
}

/* Returns true if the loop also loads from the array of the store by another index. A later
 * iteration may then need the stored value. */
static bool may_alias_store(const struct as_program *program, const struct as_streams *streams,
                            const struct as_memory_stream *store)
{
    struct as_memory place[2], other[2];

    if (as_insn_memory(&program->code, &program->code.insn[store->insn], place) < 1)
        return false;
    for (size_t i = 0; i < streams->n; i++) {
        const struct as_memory_stream *at = &streams->at[i];

        if (at->array == store->array && at->access & AS_ACCESS_READ &&
            as_insn_memory(&program->code, &program->code.insn[at->insn], other) >= 1 &&
            !is_same_place(&place[0], &other[0]))
            return true;
    }
    return false;
}

static bool is_stored(const struct as_program *program, const struct as_streams *streams,
                      const struct as_memory *place)
{
    struct as_memory other[2];

    for (size_t i = 0; i < streams->n; i++)
        if (streams->at[i].access & AS_ACCESS_WRITE &&
            as_insn_memory(&program->code, &program->code.insn[streams->at[i].insn], other) >= 1 &&
            is_same_place(place, &other[0]))
            return true;
    return false;
}

/* Returns true if each iteration loads the same value from the same address. A compiler keeps it in
 * a register unless a store may change it. Constants of the file do not count: they are operands
 * because registers are scarce. */
static bool is_reload(const struct as_program *program, const struct as_streams *streams,
                      const struct as_memory_stream *at)
{
    const struct as_insn *insn = &program->code.insn[at->insn];
    struct as_memory place[2];

    return at->stride == AS_STRIDE_ZERO && at->access == AS_ACCESS_READ && !at->stack &&
           as_form_get(insn->form)->insn_class != AS_CLASS_CALL &&
           as_insn_memory(&program->code, insn, place) >= 1 && !place[0].rip_relative &&
           place[0].base != AS_REG_NONE && !is_stored(program, streams, &place[0]);
}

/* Returns true if each iteration stores to the same address. A compiler stores such a value once,
 * after the loop, unless another access of the loop may reach it. */
static bool is_rewrite(const struct as_program *program, const struct as_memory_stream *at)
{
    const struct as_insn *insn = &program->code.insn[at->insn];

    return at->stride == AS_STRIDE_ZERO && at->access & AS_ACCESS_WRITE && !at->stack &&
           as_form_get(insn->form)->insn_class != AS_CLASS_CALL;
}

static void count_reloads(const struct as_program *program, const struct as_streams *streams,
                          struct as_loop_facts *out)
{
    bool stores = false;

    for (size_t i = 0; i < streams->n; i++)
        stores |= streams->at[i].access & AS_ACCESS_WRITE && !streams->at[i].stack;
    for (size_t i = 0; i < streams->n && stores && !out->call_n; i++)
        out->reload_n += is_reload(program, streams, &streams->at[i]);
    for (size_t i = 0; i < streams->n; i++)
        out->rewrite_n += is_rewrite(program, &streams->at[i]);
}

static int count_streams(const struct as_program *program, const struct as_streams *streams,
                         struct as_loop_facts *out, struct as_error *err)
{
    struct as_line_use low = {0}, high = {0}, known;
    double unused;

    AS_TRY(as_line_use(streams, NULL, &known, err));
    out->array_n = streams->arrays;
    for (size_t i = 0; i < streams->n; i++) {
        const struct as_memory_stream *at = &streams->at[i];

        if (!as_access_efficiency(program, at, &unused, &unused))
            continue;
        count_stream(at, out);
        if (is_scatter(program, streams, at)) {
            out->scatter_n++;
            out->meeting_n += may_alias_store(program, streams, at);
        }
        if (at->stride == AS_STRIDE_UNKNOWN || at->stride == AS_STRIDE_INDIRECT)
            add_unknown(program, at, &low, &high);
    }
    count_reloads(program, streams, out);
    low.moved_b += known.moved_b;
    high.moved_b += known.moved_b;
    out->access_low = low.moved_b > 0 ? (low.used_b + known.used_b) / low.moved_b : -1;
    out->access_high = high.moved_b > 0 ? (high.used_b + known.used_b) / high.moved_b : -1;
    return 0;
}

/* ---- Instructions -------------------------------------------------------------------------- */

static void count_insn(const struct as_insn *insn, struct as_loop_facts *out)
{
    const struct as_form *form = as_form_get(insn->form);

    out->insn_n++;
    if (form->insn_class == AS_CLASS_CALL)
        out->call_n++;
    if (form->traits & AS_TRAIT_INDIRECT && form->insn_class != AS_CLASS_CALL)
        out->switch_n++;
    if (!as_quality_arithmetic(form))
        return;
    if (form->traits & AS_TRAIT_PACKED)
        out->fp_packed_n++;
    else
        out->fp_scalar_n++;
    if (form->insn_class == AS_CLASS_DIV || form->insn_class == AS_CLASS_SQRT)
        out->fp_divide_n++;
}

/* Returns true if the first reader of the root by instruction `k` compares it with another value.
 * Searches the next instructions by address, across branches. */
static bool is_compared_root(const struct as_program *program, uint32_t k)
{
    struct as_effects root, reader;

    if (as_form_get(program->code.insn[k].form)->insn_class != AS_CLASS_SQRT)
        return false;
    as_insn_effects(&program->code.insn[k], &root);
    for (uint32_t i = k + 1; i <= k + ROOT_READER && i < program->code.n; i++) {
        const struct as_insn *insn = &program->code.insn[i];

        as_insn_effects(insn, &reader);
        const bool writes = reader.written.word[0] || reader.written.word[1];
        const bool is_other = insn->bits & AS_INSN_MEM ||
                              reader.read.word[0] & ~root.written.word[0] ||
                              reader.read.word[1] & ~root.written.word[1];

        if (as_regset_meets(reader.read, root.written))
            return reader.flags_written && !writes && is_other;
        if (as_regset_meets(reader.written, root.written))
            return false;
    }
    return false;
}

static bool is_inside(const struct as_program *program, uint32_t block, uint32_t loop)
{
    uint32_t at = program->block[block].loop;

    while (at != AS_NONE && at != loop)
        at = program->loop[at].parent;
    return at == loop;
}

/* Returns true if the branch at the end of `block` selects a path in this loop. A back edge does
 * not count. */
static bool chooses(const struct as_program *program, const struct as_block *block, uint32_t loop)
{
    if (block->succs < 2)
        return false;
    for (uint32_t i = 0; i < block->succs; i++) {
        const struct as_edge *edge = &program->succ[block->first_succ + i];

        if (edge->back || edge->kind == AS_EDGE_LANDING || !is_inside(program, edge->block, loop))
            return false;
    }
    return true;
}

static uint32_t steering(const struct as_program *program, const struct as_block *block,
                         uint32_t loop)
{
    const struct as_insn *last = &program->code.insn[block->first_insn + block->insns - 1];
    const struct as_form *form = as_form_get(last->form);

    if (block->insns == 0 || form->insn_class != AS_CLASS_BRANCH || !chooses(program, block, loop))
        return 0;
    if (block->insns < 2)
        return 1;
    form = as_form_get(last[-1].form);
    return form->insn_class == AS_CLASS_COMPARE ? 2 : 1;
}

static bool is_own_back_edge(const struct as_program *program, uint32_t block)
{
    const struct as_block *from = &program->block[block];

    for (uint32_t i = 0; i < from->succs; i++)
        if (program->succ[from->first_succ + i].block == block)
            return true;
    return false;
}

/* Returns the loads of a block that spins, else 0. Such a block branches to itself, stores nothing,
 * and changes no register that it reads first. Its values only change if another thread stores. */
static uint32_t spins(const struct as_program *program, uint32_t block)
{
    const struct as_block *from = &program->block[block];
    struct as_regset begun = {0}, written = {0};
    uint32_t load_n = 0;

    if (!is_own_back_edge(program, block))
        return 0;
    for (uint32_t k = 0; k + 1 < from->insns; k++) { /* the last instruction is the branch */
        const struct as_insn *insn = &program->code.insn[from->first_insn + k];
        struct as_memory place[2];
        struct as_effects effects;
        const int n = as_insn_memory(&program->code, insn, place);

        as_insn_effects(insn, &effects);
        for (int w = 0; w < 2; w++) {
            begun.word[w] |= effects.read.word[w] & ~written.word[w];
            written.word[w] |= effects.written.word[w];
        }
        for (int i = 0; i < n; i++) {
            if (place[i].access & AS_ACCESS_WRITE)
                return 0;
            load_n += place[i].access & AS_ACCESS_READ && !place[i].stack;
        }
        if (as_form_get(insn->form)->insn_class == AS_CLASS_CALL)
            return 0;
    }
    return as_regset_meets(begun, written) ? 0 : load_n;
}

static int count_chains(const struct as_program *program, uint32_t loop,
                        const struct as_streams *streams, struct as_loop_facts *out,
                        struct as_error *err)
{
    struct as_chains chains;

    AS_TRY(as_quality_chains(program, loop, streams, &chains, err));
    out->fp_carried_n = chains.fp_n;
    out->fp_sum_n = chains.sum_n;
    out->other_carried_n = chains.other_n;
    out->begun_n = chains.begun_n;
    out->data_exit_n = chains.exit_n;
    return 0;
}

int as_quality_loop(const struct as_program *program, uint32_t loop, struct as_loop_facts *out,
                    struct as_error *err)
{
    const struct as_loop *from = &program->loop[loop];

    memset(out, 0, sizeof *out);
    out->path_n = from->paths;
    for (uint32_t i = 0; i < from->blocks; i++) {
        const struct as_block *block = &program->block[program->loop_block[from->first_block + i]];

        if (block->loop != loop)
            continue;
        for (uint32_t k = 0; k < block->insns; k++) {
            count_insn(&program->code.insn[block->first_insn + k], out);
            out->compared_root_n += is_compared_root(program, block->first_insn + k);
        }
        out->steer_n += steering(program, block, loop);
        out->spin_n += spins(program, program->loop_block[from->first_block + i]);
    }
    out->resumed_n = as_merge_resumed(program, loop);
    out->merge_n = as_merge_branches(program, loop);
    const bool innermost = from->level == AS_LEVEL_INNERMOST || from->level == AS_LEVEL_SINGLE;

    struct as_streams streams;
    int rc = 0;

    AS_TRY(as_loop_streams(program, loop, &streams, err));
    rc = count_streams(program, &streams, out, err);
    if (rc == 0 && innermost && out->path_n == 1)
        rc = count_chains(program, loop, &streams, out, err);
    as_streams_free(&streams);
    return rc;
}
