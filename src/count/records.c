/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of an instruction, multiplied by the number of its executions. */
#include "count/records.h"

#include "isa/form.h"
#include "patch/lane_count.h"

/* Executions of one instruction. */
struct executed {
    const struct as_insn *insn;
    const struct as_form *form;
    struct as_amount amount;
    double runs;
    double done; /* executions that its lanes would have been had all been on; or repetitions */
};

static bool is_idle(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_NOP || form->insn_class == AS_CLASS_PREFETCH ||
           form->insn_class == AS_CLASS_CACHE;
}

static bool is_masked(const struct as_amount *it)
{
    return it->kind != AS_AMOUNT_FIXED && it->kind != AS_AMOUNT_REPEATS;
}

/* ---- Memory -------------------------------------------------------------------------------- */

/*
 * Returns the executions that access memory. A mask disables writes of lanes. It disables reads
 * only if each lane reads its own element; broadcasts and permutations read all of the operand.
 */
static double accesses_of(const struct executed *it, const struct as_memory *memory)
{
    const bool as_it_is =
        it->form->traits & AS_TRAIT_BROADCAST || it->form->insn_class == AS_CLASS_BROADCAST ||
        it->form->insn_class == AS_CLASS_SHUFFLE || it->form->insn_class == AS_CLASS_INSERT;
    if (is_masked(&it->amount) && as_it_is && !(memory->access & AS_ACCESS_WRITE))
        return it->runs;
    return it->done;
}

static void add_memory(const struct executed *it, double *count)
{
    struct as_memory memory[2];
    const int n = is_idle(it->form) ? 0 : as_insn_memory(NULL, it->insn, memory);
    const bool repeats = it->amount.kind == AS_AMOUNT_REPEATS;
    for (int i = 0; i < n; i++) {
        const double bytes = accesses_of(it, &memory[i]) * memory[i].width_b;
        const double times = repeats ? it->done : it->runs;
        if (memory[i].access & AS_ACCESS_READ) {
            count[AS_COUNT_LOAD] += times;
            count[AS_COUNT_LOAD_B] += bytes;
        }
        if (memory[i].access & AS_ACCESS_WRITE) {
            count[AS_COUNT_STORE] += times;
            count[AS_COUNT_STORE_B] += bytes;
        }
        count[AS_COUNT_UNSURE] += memory[i].width_b == 0 ? it->runs : 0;
    }
}

/* ---- Arithmetic ---------------------------------------------------------------------------- */

static void add_flops(const struct executed *it, double *count)
{
    const bool packed = it->form->traits & AS_TRAIT_PACKED;
    const bool single = it->form->element == AS_ELEMENT_F32;
    const bool twice = it->form->element == AS_ELEMENT_F64;
    const double flops = it->form->flops * it->done;
    const int class = single  ? (packed ? AS_COUNT_FP_PACKED_F32 : AS_COUNT_FP_SCALAR_F32)
                      : twice ? (packed ? AS_COUNT_FP_PACKED_F64 : AS_COUNT_FP_SCALAR_F64)
                              : AS_COUNT_FP_OTHER;
    if (it->form->flops == 0)
        return;
    count[class] += it->runs;
    count[AS_COUNT_FLOP] += flops;
    count[AS_COUNT_FLOP_F32] += single ? flops : 0;
    count[AS_COUNT_FLOP_F64] += twice ? flops : 0;
    count[AS_COUNT_FLOP_PACKED] += packed ? flops : 0;
}

static void add_arithmetic(const struct executed *it, double *count)
{
    const bool packed = it->form->traits & AS_TRAIT_PACKED;
    if (it->insn->bits & AS_INSN_IDIOM) /* nothing is computed */
        return;
    add_flops(it, count);
    count[AS_COUNT_INT_OP] += it->form->intops * it->done;
    if (it->form->intops)
        count[packed ? AS_COUNT_INT_PACKED : AS_COUNT_INT] += it->runs;
}

static void add_class(const struct executed *it, double *count)
{
    static const uint8_t by_class[AS_CLASS_COUNT] = {
        [AS_CLASS_FMA] = AS_COUNT_FMA,       [AS_CLASS_DIV] = AS_COUNT_DIVIDE,
        [AS_CLASS_SQRT] = AS_COUNT_DIVIDE,   [AS_CLASS_BRANCH] = AS_COUNT_BRANCH,
        [AS_CLASS_JUMP] = AS_COUNT_BRANCH,   [AS_CLASS_CALL] = AS_COUNT_CALL,
        [AS_CLASS_GATHER] = AS_COUNT_GATHER, [AS_CLASS_SCATTER] = AS_COUNT_GATHER};
    const unsigned class = by_class[it->form->insn_class];
    if (class)
        count[class] += it->runs;
}

void as_count_add(const struct as_insn *insn, uint64_t runs, const uint64_t *amount,
                  double count[AS_COUNTS])
{
    struct executed it = {insn, as_form_of(insn), as_amount_of(insn), (double)runs, (double)runs};
    const bool is_counted = it.amount.kind != AS_AMOUNT_FIXED && amount;
    if (is_counted && it.amount.kind == AS_AMOUNT_REPEATS)
        it.done = (double)*amount;
    else if (is_counted && it.amount.lanes)
        it.done = (double)*amount / it.amount.lanes;
    count[AS_COUNT_INSTRUCTION] += it.runs;
    count[AS_COUNT_MASKED] += is_masked(&it.amount) ? it.runs : 0;
    count[AS_COUNT_REPEAT] += it.amount.kind == AS_AMOUNT_REPEATS ? it.done : 0;
    count[AS_COUNT_UNSURE] += it.amount.kind != AS_AMOUNT_FIXED && !is_counted ? it.runs : 0;
    add_class(&it, count);
    add_arithmetic(&it, count);
    add_memory(&it, count);
}
