/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts operations, instructions by kind, bytes, streams, registers and vectorised instructions of
 * one path.
 */
#include <string.h>

#include "isa/packed.h"
#include "quality/cqa.h"

#define LINE_B 64

/* ---- Operations ---------------------------------------------------------------------------- */

static void count_operations(const struct as_cqa_item *item, double *m)
{
    static const uint8_t by_class[AS_CLASS_COUNT] = {
        [AS_CLASS_ADD] = 1,  [AS_CLASS_MUL] = 2, [AS_CLASS_FMA] = 3,  [AS_CLASS_DIV] = 4,
        [AS_CLASS_SQRT] = 5, [AS_CLASS_RCP] = 6, [AS_CLASS_RSQRT] = 7};
    static const int metric[] = {AS_CQA_FP_OTHER_N, AS_CQA_FP_ADD_N,  AS_CQA_FP_MUL_N,
                                 AS_CQA_FP_FMA_N,   AS_CQA_FP_DIV_N,  AS_CQA_FP_SQRT_N,
                                 AS_CQA_FP_RCP_N,   AS_CQA_FP_RSQRT_N};
    const struct as_form *form = item->form;
    const bool vector = as_form_is_vector(form);

    m[AS_CQA_FP_OP_N] += form->flops;
    if (form->flops)
        m[metric[by_class[form->insn_class]]] += form->flops;
    m[AS_CQA_FP_INSN_N] += item->role == AS_ROLE_ARITHMETIC;
    m[vector ? AS_CQA_INT_SIMD_OP_N : AS_CQA_INT_OP_N] += form->intops;
    m[AS_CQA_SCALAR_INSN_N] +=
        !vector && item->role != AS_ROLE_CALL && form->insn_class != AS_CLASS_BRANCH &&
        form->insn_class != AS_CLASS_JUMP && form->insn_class != AS_CLASS_NOP;
}

static bool touches_mask(const struct as_form *form)
{
    for (unsigned i = 0; i < form->operands; i++)
        if (form->operand[i].kind == AS_OPERAND_REG && form->operand[i].file == AS_FILE_MASK)
            return true;
    return form->traits & AS_TRAIT_MASKED;
}

static void count_class(const struct as_cqa_item *item, double *m)
{
    const struct as_form *form = item->form;
    const bool vector = as_form_is_vector(form);
    const bool legacy = vector && !(form->traits & (AS_TRAIT_VEX | AS_TRAIT_X87));

    switch (form->insn_class) {
    case AS_CLASS_BRANCH:
    case AS_CLASS_JUMP:
        m[AS_CQA_INSN_CLASS_BRANCH_N]++;
        break;
    case AS_CLASS_CALL:
        m[AS_CQA_INSN_CLASS_CALL_N]++;
        break;
    case AS_CLASS_PREFETCH:
        m[AS_CQA_INSN_CLASS_PREFETCH_N]++;
        m[AS_CQA_PREFETCH_B] += LINE_B;
        break;
    case AS_CLASS_CONVERT:
        m[AS_CQA_INSN_CLASS_CONVERT_N] += vector;
        break;
    case AS_CLASS_SHUFFLE:
        m[AS_CQA_INSN_CLASS_SHUFFLE_N]++;
        break;
    case AS_CLASS_INSERT:
        m[AS_CQA_INSN_CLASS_INSERT_N]++;
        break;
    case AS_CLASS_EXTRACT:
        m[AS_CQA_INSN_CLASS_EXTRACT_N]++;
        break;
    case AS_CLASS_BROADCAST:
        m[AS_CQA_INSN_CLASS_BROADCAST_N]++;
        break;
    case AS_CLASS_SELECT:
        m[AS_CQA_INSN_CLASS_BLEND_N] += vector;
        break;
    case AS_CLASS_GATHER:
        m[AS_CQA_INSN_CLASS_GATHER_N]++;
        break;
    case AS_CLASS_SCATTER:
        m[AS_CQA_INSN_CLASS_SCATTER_N]++;
        break;
    case AS_CLASS_DIV:
    case AS_CLASS_SQRT:
        m[AS_CQA_INSN_CLASS_DIVIDE_N]++;
        break;
    default:
        break;
    }
    m[AS_CQA_INSN_CLASS_X87_N] += (form->traits & AS_TRAIT_X87) != 0;
    m[AS_CQA_INSN_CLASS_MASK_N] += touches_mask(form);
    m[AS_CQA_LEGACY_INSN_N] += legacy;
    m[AS_CQA_VEX_INSN_N] += vector && form->traits & AS_TRAIT_VEX;
}

enum upper_halves { UPPER_CLEAN, UPPER_IN_USE, UPPER_SAVED };

/* Returns true if the instruction causes a transition between encodings. Intel, Optimization
 * Reference Manual (248966), mixing AVX code with SSE code. */
static bool changes_encoding(const struct as_form *form, enum upper_halves *now)
{
    const enum upper_halves before = *now;
    const bool vex = form->traits & AS_TRAIT_VEX;

    if (strncmp(form->mnemonic, "vzero", 5) == 0)
        *now = UPPER_CLEAN;
    else if (!as_form_is_vector(form) || form->traits & AS_TRAIT_X87)
        return false;
    else if (vex && (form->vector_b >= 32 || before == UPPER_SAVED))
        *now = UPPER_IN_USE;
    else if (!vex && form->isa != AS_ISA_MMX && before == UPPER_IN_USE)
        *now = UPPER_SAVED;
    return (before == UPPER_SAVED) != (*now == UPPER_SAVED);
}

/* The first round finds the register state at the start of an iteration; only the second round
 * counts. */
static void count_transitions(const struct as_cqa_body *body, double *m)
{
    enum upper_halves now = UPPER_CLEAN;

    for (unsigned round = 0; round < 2; round++)
        for (size_t i = 0; i < body->n; i++)
            m[AS_CQA_TRANSITION_N] += changes_encoding(body->item[i].form, &now) && round > 0;
}

/* ---- Memory -------------------------------------------------------------------------------- */

static void count_width(const struct as_memory *memory, double *m)
{
    static const int metric[] = {AS_CQA_ACCESS_8_N,  AS_CQA_ACCESS_16_N,  AS_CQA_ACCESS_32_N,
                                 AS_CQA_ACCESS_64_N, AS_CQA_ACCESS_128_N, AS_CQA_ACCESS_256_N,
                                 AS_CQA_ACCESS_512_N};

    for (unsigned i = 0; i < 7; i++)
        if (memory->width_b == 1u << i)
            m[metric[i]]++;
}

static void count_memory(const struct as_cqa_body *body, size_t at, double *m)
{
    const struct as_cqa_item *item = &body->item[at];
    struct as_memory memory[2];
    const int n = as_insn_memory(NULL, &body->code.insn[at], memory);

    if (item->form->insn_class == AS_CLASS_NOP || item->form->insn_class == AS_CLASS_PREFETCH)
        return;
    for (int i = 0; i < n; i++) {
        const bool reads = memory[i].access & AS_ACCESS_READ;
        const bool writes = memory[i].access & AS_ACCESS_WRITE;
        const bool frame = item->frame || memory[i].stack;
        const double width_b = memory[i].width_b;

        m[AS_CQA_INSN_CLASS_LOAD_N] += reads;
        m[AS_CQA_INSN_CLASS_STORE_N] += writes;
        m[AS_CQA_LOAD_B] += reads ? width_b : 0;
        m[AS_CQA_STORE_B] += writes ? width_b : 0;
        m[AS_CQA_STACK_LOAD_N] += reads && frame;
        m[AS_CQA_STACK_STORE_N] += writes && frame;
        m[AS_CQA_STACK_B] += frame ? width_b * (reads + writes) : 0;
        if (reads)
            count_width(&memory[i], m);
        if (writes)
            count_width(&memory[i], m);
    }
}

static void count_streams(const struct as_cqa_body *body, double *m)
{
    static const int metric[] = {[AS_STRIDE_ZERO] = AS_CQA_STREAM_ZERO_N,
                                 [AS_STRIDE_UNIT] = AS_CQA_STREAM_UNIT_N,
                                 [AS_STRIDE_CONSTANT] = AS_CQA_STREAM_STRIDED_N,
                                 [AS_STRIDE_INDIRECT] = AS_CQA_STREAM_INDIRECT_N,
                                 [AS_STRIDE_UNKNOWN] = AS_CQA_STREAM_UNKNOWN_N};

    if (!body->streams)
        return;
    for (size_t i = 0; i < body->streams->n; i++) {
        const struct as_memory_stream *at = &body->streams->at[i];

        if (body->on_path[i] && !at->stack && at->width_b)
            m[metric[at->stride]]++;
    }
    for (uint32_t i = 0; i < body->streams->arrays; i++) {
        const struct as_cqa_array *array = &body->array[i];

        m[AS_CQA_ARRAY_N] += array->touched;
        m[AS_CQA_HOLE_B] += (double)array->step_b - __builtin_popcountll(array->used);
    }
}

/* ---- Vectors and registers ----------------------------------------------------------------- */

static void count_vectors(const struct as_cqa_item *item, double *m)
{
    for (unsigned kind = 0; kind < AS_KINDS; kind++) {
        if (!(item->kinds >> kind & 1))
            continue;
        m[AS_CQA_PACKABLE_ALL_N + kind]++;
        m[AS_CQA_PACKABLE_ALL_B + kind] += item->width_b;
        m[AS_CQA_PACKED_ALL_N + kind] += item->packed;
    }
}

static void widen_registers(const struct as_cqa_body *body, size_t at, uint8_t file_of[32])
{
    const struct as_form *form = body->item[at].form;

    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *o = &form->operand[i];
        const unsigned reg =
            o->kind == AS_OPERAND_REG ? body->code.insn[at].reg[o->slot] : AS_REG_NONE;

        if (reg >= AS_REG_VEC && reg < AS_REG_VEC + 32 && o->file >= AS_FILE_XMM &&
            o->file <= AS_FILE_ZMM && o->file > file_of[reg - AS_REG_VEC])
            file_of[reg - AS_REG_VEC] = o->file;
    }
}

static void count_registers(const struct as_cqa_body *body, double *m)
{
    uint8_t file_of[32] = {0};
    uint64_t used = 0;

    for (size_t i = 0; i < body->n; i++) {
        if (body->item[i].form->insn_class != AS_CLASS_CALL) /* clobbers do not count */
            used |= body->effects[i].read.word[0] | body->effects[i].written.word[0];
        widen_registers(body, i, file_of);
    }
    m[AS_CQA_REG_GPR_N] = __builtin_popcountll(used & 0xffff);
    m[AS_CQA_REG_MASK_N] = __builtin_popcountll(used >> AS_REG_MASK & 0xff);
    for (unsigned i = 0; i < 32; i++) {
        m[AS_CQA_REG_XMM_N] += file_of[i] == AS_FILE_XMM;
        m[AS_CQA_REG_YMM_N] += file_of[i] == AS_FILE_YMM;
        m[AS_CQA_REG_ZMM_N] += file_of[i] == AS_FILE_ZMM;
    }
}

void as_cqa_count(const struct as_cqa_body *body, double *m)
{
    m[AS_CQA_INSN_N] = (double)body->n;
    for (size_t i = 0; i < body->n; i++) {
        const struct as_cqa_item *item = &body->item[i];

        m[AS_CQA_CODE_B] += body->code.insn[i].length;
        count_operations(item, m);
        count_class(item, m);
        count_memory(body, i, m);
        count_vectors(item, m);
    }
    count_transitions(body, m);
    count_streams(body, m);
    as_cqa_count_alignment(body, m);
    count_registers(body, m);
    as_cqa_count_pressure(body, m);
}
