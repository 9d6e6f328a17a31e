/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a list of one path: contiguous records, and for each instruction its width, its packed
 * state and the stride of its memory operand.
 */
#include <assert.h>
#include <string.h>

#include "base/search.h"
#include "isa/packed.h"
#include "quality/cqa.h"

#define LINE_B 64

/* ---- Memory operands ----------------------------------------------------------------------- */

/* Returns the first stream of an instruction, or NULL. Streams ascend by instruction. */
static const struct as_memory_stream *stream_of(const struct as_streams *streams, uint32_t insn)
{
    const size_t n = streams ? streams->n : 0;
    const size_t at = as_first_not(i, n, streams->at[i].insn < insn);
    assert(at + 1 >= n || streams->at[at].insn <= streams->at[at + 1].insn);
    return at < n && streams->at[at].insn == insn ? &streams->at[at] : NULL;
}

static void touch_bytes(struct as_cqa_array *array, const struct as_memory_stream *at)
{
    const uint64_t step = (uint64_t)(at->stride_b < 0 ? -at->stride_b : at->stride_b);

    array->step_b = step < LINE_B ? step : LINE_B;
    for (uint32_t b = 0; array->step_b && b < at->width_b && b < LINE_B; b++)
        array->used |= (uint64_t)1 << ((uint64_t)(at->offset_b + b) % array->step_b);
}

static void touch_arrays(struct as_cqa_body *body, const struct as_memory_stream *stream)
{
    const struct as_streams *streams = body->streams;

    for (size_t i = (size_t)(stream - streams->at);
         i < streams->n && streams->at[i].insn == stream->insn; i++) {
        const struct as_memory_stream *at = &streams->at[i];

        body->on_path[i] = true;
        if (at->stack || at->array >= streams->arrays)
            continue;
        body->array[at->array].touched = true;
        if (at->stride != AS_STRIDE_CONSTANT)
            continue;
        touch_bytes(&body->array[at->array], at);
    }
}

static void describe_memory(struct as_cqa_body *body, struct as_cqa_item *item,
                            const struct as_insn *insn)
{
    const struct as_memory_stream *stream = stream_of(body->streams, item->insn);

    item->stride = AS_STRIDE_UNKNOWN;
    for (unsigned i = 0; i < item->form->operands; i++)
        if (item->form->operand[i].kind == AS_OPERAND_MEM) {
            item->loads |= (item->form->operand[i].access & AS_ACCESS_READ) != 0;
            item->stores |= (item->form->operand[i].access & AS_ACCESS_WRITE) != 0;
        }
    if (item->form->insn_class == AS_CLASS_NOP || item->form->insn_class == AS_CLASS_PREFETCH)
        item->loads = item->stores = false;
    if (stream) {
        touch_arrays(body, stream);
        item->stride = stream->stride;
        item->stride_b = stream->stride_b;
        item->frame = stream->stack;
    } else if (insn->bits & AS_INSN_STACKMEM) {
        item->frame = true;
    }
}

/* ---- Vectors ------------------------------------------------------------------------------- */

static bool is_copy(const struct as_cqa_item *item)
{
    return item->form->traits & AS_TRAIT_REGMOVE ||
           (item->form->insn_class == AS_CLASS_MOVE && !item->loads && !item->stores);
}

static unsigned arithmetic_kind(const struct as_form *form)
{
    if (!(form->traits & AS_TRAIT_FP))
        return 1u << AS_KIND_OTHER;
    switch (form->insn_class) {
    case AS_CLASS_ADD:
        return 1u << AS_KIND_ADD_SUB;
    case AS_CLASS_MUL:
        return 1u << AS_KIND_MUL;
    case AS_CLASS_FMA:
        return 1u << AS_KIND_FMA;
    case AS_CLASS_DIV:
    case AS_CLASS_SQRT:
        return 1u << AS_KIND_DIV_SQRT;
    default:
        return 1u << AS_KIND_OTHER;
    }
}

static bool moves_values(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_MOVE || form->insn_class == AS_CLASS_EXTEND ||
           form->insn_class == AS_CLASS_BROADCAST;
}

static unsigned kinds_of(const struct as_cqa_item *item)
{
    unsigned kinds = 1u << AS_KIND_ALL;
    const bool fp = item->form->traits & AS_TRAIT_FP || item->form->element == AS_ELEMENT_F64 ||
                    item->form->element == AS_ELEMENT_F32;

    kinds |= item->loads ? 1u << AS_KIND_LOAD : 0;
    kinds |= item->stores ? 1u << AS_KIND_STORE : 0;
    kinds |= fp ? 1u << AS_KIND_FP : 1u << AS_KIND_INT;
    if (!moves_values(item->form))
        kinds |= arithmetic_kind(item->form);
    return kinds;
}

static void describe_vector(struct as_cqa_item *item, const struct as_insn *insn)
{
    const struct as_form *form = item->form;
    const bool counts = !is_copy(item) && !(insn->bits & AS_INSN_IDIOM);

    item->width_b = (uint16_t)as_insn_width(form);
    if (as_form_is_vector(form)) {
        item->packed = counts && form->traits & AS_TRAIT_PACKED;
        item->packable = item->packed || (counts && form->traits & AS_TRAIT_PACKABLE);
    } else {
        item->packable = item->role == AS_ROLE_DATA && counts &&
                         (form->traits & AS_TRAIT_PACKABLE || moves_values(form) ||
                          form->insn_class == AS_CLASS_LEA); /* adds, as vectors can */
    }
    item->kinds = item->packable ? (uint16_t)kinds_of(item) : 0;
}

/* ---- All ----------------------------------------------------------------------------------- */

static size_t insns_of(const struct as_program *program, const uint32_t *block, size_t block_n)
{
    size_t n = 0;

    for (size_t i = 0; i < block_n; i++)
        n += program->block[block[i]].insns;
    return n;
}

int as_cqa_body_make(struct as_arena *arena, const struct as_program *program, uint32_t loop,
                     const uint32_t *block, size_t block_n, const struct as_streams *streams,
                     struct as_cqa_body *out)
{
    const size_t n = insns_of(program, block, block_n);

    *out = (struct as_cqa_body){.program = program, .loop = loop, .n = n, .streams = streams};
    out->item = as_arena_array(arena, struct as_cqa_item, n + 1);
    out->code.insn = as_arena_array(arena, struct as_insn, n + 1);
    out->effects = as_arena_array(arena, struct as_effects, n + 1);
    out->code.n = n;
    if (streams) {
        out->on_path = as_arena_array(arena, bool, streams->n + 1);
        out->array = as_arena_array(arena, struct as_cqa_array, streams->arrays + 1);
    }
    if (!out->item || !out->code.insn || !out->effects ||
        (streams && (!out->on_path || !out->array)))
        return AS_ERR_NOMEM;
    for (size_t i = 0, at = 0; i < block_n; i++) {
        const struct as_block *from = &program->block[block[i]];

        memcpy(out->code.insn + at, program->code.insn + from->first_insn,
               from->insns * sizeof *out->code.insn);
        for (uint32_t k = 0; k < from->insns; k++, at++) {
            out->item[at].insn = from->first_insn + k;
            out->item[at].form = as_form_get(out->code.insn[at].form);
            describe_memory(out, &out->item[at], &out->code.insn[at]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct as_insn *insn = &out->code.insn[i];
        const struct as_insn *next = &out->code.insn[i + 1 < n ? i + 1 : 0];

        out->item[i].leaves = next->address != insn->address + insn->length;
        as_insn_effects(insn, &out->effects[i]);
    }
    as_cqa_find_roles(out);
    for (size_t i = 0; i < n; i++)
        describe_vector(&out->item[i], &out->code.insn[i]);
    return 0;
}
