/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds addresses that follow from the registers at the header of a loop, and their steps per
 * iteration. If all stores of a loop of one block are like this, the number of iterations
 * determines the written memory. Loads with such addresses can be prefetched.
 */
#include "patch/variant.h"

#include <stdio.h>
#include <stdlib.h>

#include "isa/encode.h"

enum { LINE_B = 64, SCALE_MAX = 8 };

/* ---- Steps ---------------------------------------------------------------------------------- */

/* Adds the step of a register in an address of instruction `i`. `step` gets the change per
 * iteration, `before` the change earlier in the same iteration. Returns false if the step is
 * unknown. */
static bool add_register_step(const struct as_variant_facts *facts, unsigned reg, uint32_t i,
                              int64_t times, int64_t *before, int64_t *step)
{
    if (reg == AS_REG_NONE)
        return true;
    if (reg >= 16 || !facts->step[reg].is_known)
        return false;
    *step += times * facts->step[reg].by;
    if (facts->step[reg].insn != AS_NONE && facts->step[reg].insn < i)
        *before += times * facts->step[reg].by;
    return true;
}

bool as_variant_walks(const struct as_variant_facts *facts, const struct as_insn *insn,
                      struct as_patch_stream *out)
{
    const uint32_t i = (uint32_t)(insn - facts->area->code->program->code.insn);
    uint64_t address;
    *out = (struct as_patch_stream){
        .offset = insn->disp, .base = AS_PATCH_NONE, .index = AS_PATCH_NONE, .scale = insn->scale};
    if (insn->wrap || !(insn->bits & AS_INSN_MEM))
        return false;
    if (insn->base == AS_REG_IP || insn->base == AS_REG_NONE)
        out->of_module = insn->base == AS_REG_IP;
    else
        out->base = insn->base;
    if (insn->index != AS_REG_NONE)
        out->index = insn->index;
    if (out->of_module) {
        if (!as_insn_memory_address(insn, &address))
            return false;
        out->offset = (int64_t)address;
    }
    const unsigned base = insn->base == AS_REG_IP ? AS_REG_NONE : insn->base;
    return add_register_step(facts, base, i, 1, &out->offset, &out->step) &&
           add_register_step(facts, insn->index, i, insn->scale, &out->offset, &out->step) &&
           out->step >= INT32_MIN && out->step <= INT32_MAX;
}

/* ---- Streams of stores ---------------------------------------------------------------------- */

bool as_variant_has_streams(const struct as_variant_facts *facts)
{
    const struct as_patch_area *area = facts->area;
    const struct as_program *p = area->code->program;
    struct as_patch_stream stream;
    if (!facts->stores || !facts->notes || facts->decides || area->blocks != 1)
        return false;
    const struct as_block *b = &p->block[area->block[0]];
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++)
        if (as_variant_access(&p->code.insn[i]) & AS_ACCESS_WRITE &&
            !as_variant_is_slot(facts, &p->code.insn[i]) &&
            !as_variant_walks(facts, &p->code.insn[i], &stream))
            return false;
    return true;
}

static int compare_streams(const void *left, const void *right)
{
    const struct as_patch_stream *a = left, *b = right;
    const int64_t by[] = {a->of_module - b->of_module, a->base - b->base, a->index - b->index,
                          a->scale - b->scale};
    for (unsigned i = 0; i < sizeof by / sizeof *by; i++)
        if (by[i])
            return by[i] < 0 ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static bool goes_on(const struct as_patch_stream *a, const struct as_patch_stream *b)
{
    return a->of_module == b->of_module && a->base == b->base && a->index == b->index &&
           a->scale == b->scale && a->step == b->step && a->offset + a->width_b == b->offset &&
           a->width_b + b->width_b <= AS_PATCH_STREAM_MOST_B;
}

/* Joins adjacent streams. */
static void join_streams(struct as_patch_maker *m, size_t first)
{
    struct as_patch_stream *at = m->stream.at + first;
    size_t n = 0;
    if (m->stream.n == first)
        return;
    qsort(at, m->stream.n - first, sizeof *at, compare_streams);
    for (size_t i = 0; i < m->stream.n - first; i++)
        if (n && goes_on(&at[n - 1], &at[i]))
            at[n - 1].width_b += at[i].width_b;
        else
            at[n++] = at[i];
    m->stream.n = first + n;
}

int as_variant_streams_add(struct as_patch_maker *m, const struct as_variant_facts *facts)
{
    const struct as_program *p = facts->area->code->program;
    const struct as_block *b = &p->block[facts->area->block[0]];
    const size_t first = m->stream.n;
    for (uint32_t i = b->first_insn; i < b->first_insn + b->insns; i++) {
        const struct as_insn *insn = &p->code.insn[i];
        struct as_patch_stream stream;
        if (!(as_variant_access(insn) & AS_ACCESS_WRITE) || as_variant_is_slot(facts, insn))
            continue;
        as_variant_walks(facts, insn, &stream);
        stream.width_b = as_variant_width(insn);
        AS_TRY(as_vec_push(&m->stream, stream));
    }
    join_streams(m, first);
    return 0;
}

/* ---- Prefetches ----------------------------------------------------------------------------- */

/* Returns the register of an address that steps by another register while the rest is fixed, or
 * AS_REG_NONE. */
static unsigned stepped_register(const struct as_variant_facts *facts, const struct as_insn *insn)
{
    const unsigned base = insn->base, index = insn->index;
    if (insn->wrap || !(insn->bits & AS_INSN_MEM) || facts->unused == AS_PATCH_NONE)
        return AS_REG_NONE;
    if (base < 16 && facts->step[base].by_reg != AS_PATCH_NONE &&
        as_variant_register_stays(facts, index))
        return base;
    return index < 16 && facts->step[index].by_reg != AS_PATCH_NONE &&
                   as_variant_register_stays(facts, base)
               ? index
               : AS_REG_NONE;
}

bool as_variant_prefetches(const struct as_variant_facts *facts, const struct as_insn *insn)
{
    struct as_patch_stream stream;
    if (!(as_variant_access(insn) & AS_ACCESS_READ))
        return false;
    return as_variant_walks(facts, insn, &stream) ? stream.step != 0
                                                  : stepped_register(facts, insn) != AS_REG_NONE;
}

/* Returns the distance in bytes of `lines` cache lines ahead, in whole iterations. */
static int64_t ahead_of(int64_t step, unsigned lines)
{
    const int64_t each_b = step < 0 ? -step : step;
    const int64_t iterations =
        each_b >= LINE_B ? lines : ((int64_t)lines * LINE_B + each_b - 1) / each_b;
    return step * iterations;
}

/* Returns true if another access of the loop already prefetches this line, or if
 * the table is full. */
static bool has_line(struct as_variant *v, const struct as_insn *insn, int64_t line)
{
    for (uint32_t s = 0; s < v->slots; s++)
        if (v->slot[s].base == insn->base && v->slot[s].index == insn->index &&
            v->slot[s].scale == insn->scale && v->slot[s].line == line)
            return true;
    if (v->slots == AS_VARIANT_SLOTS)
        return true;
    v->slot[v->slots].base = insn->base;
    v->slot[v->slots].index = insn->index;
    v->slot[v->slots].scale = insn->scale;
    v->slot[v->slots].line = line;
    v->slots++;
    return false;
}

static int emit_made(struct as_clone_assembly *a, const struct as_insn *insn, const char *text)
{
    uint8_t code[AS_ENCODE_B];
    const size_t n = as_encode_text(text, code);
    struct as_clone_part *part = n ? as_clone_part_new(a, AS_CLONE_CODE, insn->address) : NULL;
    if (!n)
        a->clone->variant->refusal = AS_UNVARIED_ENCODING;
    if (!part)
        return n ? AS_ERR_NOMEM : 0;
    as_clone_add_bytes(part, n, code);
    return 0;
}

/* Emits a prefetch at base + index + displacement. Registers may be AS_REG_NONE. */
static int emit_prefetch(struct as_clone_assembly *a, const struct as_insn *insn, unsigned base,
                         unsigned index, int64_t disp)
{
    char text[96], of_base[16] = "", of_index[32] = "";
    if (base != AS_REG_NONE)
        snprintf(of_base, sizeof of_base, "%s", as_reg_name(base, 8));
    if (index != AS_REG_NONE)
        snprintf(of_index, sizeof of_index, "%s%s*%u", of_base[0] ? "+" : "", as_reg_name(index, 8),
                 (unsigned)insn->scale);
    snprintf(text, sizeof text, "prefetcht0 m8[%s%s%+lld]", of_base, of_index, (long long)disp);
    return emit_made(a, insn, text);
}

/* Emits a prefetch for a stride in a register: as many iterations ahead as lines are wanted. `lea`
 * keeps the flags, and the loop does not use the register that it writes. */
static int prefetch_by_register(struct as_clone_assembly *a, const struct as_insn *insn,
                                unsigned moves)
{
    const struct as_variant *v = a->clone->variant;
    const struct as_patch_step *step = &v->facts->step[moves];
    const char *own = as_reg_name(v->facts->unused, 8), *by = as_reg_name(step->by_reg, 8);
    const char *from = as_reg_name(moves, 8);
    char text[96];
    unsigned times = (unsigned)v->rule->lines * step->times;
    for (; times > SCALE_MAX; times /= SCALE_MAX, by = own) {
        snprintf(text, sizeof text, "lea %s,m64[%s*%u+0]", own, by, (unsigned)SCALE_MAX);
        AS_TRY(emit_made(a, insn, text));
    }
    snprintf(text, sizeof text, "lea %s,m64[%s+%s*%u+0]", own, from, by, times);
    AS_TRY(emit_made(a, insn, text));
    return emit_prefetch(a, insn, moves == insn->base ? v->facts->unused : insn->base,
                         moves == insn->base ? insn->index : v->facts->unused, insn->disp);
}

int as_variant_prefetch(struct as_clone_assembly *a, const struct as_insn *insn)
{
    struct as_variant *v = a->clone->variant;
    struct as_patch_stream stream;
    if (insn->base == AS_REG_IP || !as_variant_prefetches(v->facts, insn))
        return 0;
    if (!as_variant_walks(v->facts, insn, &stream))
        return has_line(v, insn, insn->disp / LINE_B)
                   ? 0
                   : prefetch_by_register(a, insn, stepped_register(v->facts, insn));
    const int64_t disp = insn->disp + ahead_of(stream.step, v->rule->lines);
    if (disp < INT32_MIN || disp > INT32_MAX || has_line(v, insn, disp / LINE_B))
        return 0;
    return emit_prefetch(a, insn, insn->base, insn->index, disp);
}
