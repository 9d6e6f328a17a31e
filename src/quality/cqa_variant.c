/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants of a path with fewer instructions, or with registers in place of memory operands. Inputs
 * from removed instructions are always ready, so no bound can grow. The model of the front end may
 * assign other lines, so bounds are limited to those of the path.
 */
#include <string.h>

#include "base/error.h"
#include "isa/packed.h"
#include "quality/cqa.h"

#define LEAST_FILLED 0.5 /* min share of the path's cycles; below it other ports are busier */

enum fate { FATE_KEPT, FATE_GONE, FATE_IN_REGISTERS };

struct thinning {
    const struct as_cqa_body *body;
    struct as_cqa_list *list;
    uint8_t *fate; /* by item */
    uint32_t *at;  /* index in the list */
    bool changed;
    bool has_vectors; /* a vector instruction is left */
};

/* ---- Removed instructions ------------------------------------------------------------------ */

static enum fate without_memory(const struct as_cqa_item *item)
{
    const unsigned kind = item->form->insn_class;

    if (kind == AS_CLASS_PUSH || kind == AS_CLASS_POP || kind == AS_CLASS_PREFETCH)
        return FATE_GONE;
    if (!item->loads && !item->stores)
        return FATE_KEPT;
    return kind == AS_CLASS_MOVE || kind == AS_CLASS_EXTEND || kind == AS_CLASS_BROADCAST ||
                   kind == AS_CLASS_GATHER || kind == AS_CLASS_SCATTER
               ? FATE_GONE
               : FATE_IN_REGISTERS;
}

static enum fate fate_of(const struct as_cqa_item *item, enum as_cqa_few few,
                         enum as_cqa_variant variant)
{
    const bool vector = item->role == AS_ROLE_VECTOR || item->role == AS_ROLE_ARITHMETIC;

    switch (variant) {
    case AS_CQA_FEW_PORTS:
        return as_cqa_few_of(item->form) == few ? FATE_GONE : FATE_KEPT;
    case AS_CQA_CLEAN:
        return vector || item->role == AS_ROLE_CONTROL || item->role == AS_ROLE_CALL ? FATE_KEPT
                                                                                     : FATE_GONE;
    case AS_CQA_ONLY_FP:
        return vector ? FATE_KEPT : FATE_GONE;
    case AS_CQA_ONLY_ARITHMETIC:
        if (item->role != AS_ROLE_ARITHMETIC)
            return FATE_GONE;
        return item->loads || item->stores ? FATE_IN_REGISTERS : FATE_KEPT;
    default:
        return without_memory(item);
    }
}

/* Returns the register that replaces a memory operand; its value is ready. */
static uint8_t spare_register(const struct as_cqa_item *item)
{
    return as_form_is_vector(item->form) ? AS_REG_VEC + 31 : AS_REG_GPR + 4;
}

/* Marks a value as ready if its writer was removed, so that it does not depend on an earlier
 * writer. */
static void mark_ready(void *context, size_t reader, unsigned reg, size_t writer)
{
    struct thinning *t = context;

    if (t->fate[reader] == FATE_GONE || t->fate[writer] != FATE_GONE)
        return;
    struct as_regset *ready = &t->list->ready.at[t->at[reader]];
    ready->word[reg >> 6] |= (uint64_t)1 << (reg & 63);
}

static int thin_out(struct thinning *t, enum as_cqa_few few, enum as_cqa_variant variant)
{
    const struct as_cqa_reads reads = {t, mark_ready};

    as_cqa_list_clear(t->list);
    for (size_t i = 0; i < t->body->n; i++) {
        const struct as_cqa_item *item = &t->body->item[i];
        struct as_insn insn = t->body->code.insn[i];
        struct as_regset ready = {{0, 0}};
        enum fate fate = fate_of(item, few, variant);

        if (fate == FATE_IN_REGISTERS &&
            !as_insn_registers(&t->body->code.insn[i], spare_register(item), &insn))
            fate = FATE_KEPT;
        t->fate[i] = (uint8_t)fate;
        t->at[i] = (uint32_t)t->list->insn.n;
        t->changed |= fate != FATE_KEPT;
        t->has_vectors |=
            fate != FATE_GONE && (item->role == AS_ROLE_VECTOR || item->role == AS_ROLE_ARITHMETIC);
        if (fate == FATE_GONE)
            continue;
        if (fate == FATE_IN_REGISTERS)
            ready.word[spare_register(item) >> 6] |= (uint64_t)1 << (spare_register(item) & 63);
        as_cqa_list_add(t->list, &insn, item->leaves);
        t->list->failed |= as_vec_push(&t->list->ready, ready) < 0;
    }
    if (t->list->failed)
        return AS_ERR_NOMEM;
    as_cqa_walk_reads(t->body, &reads);
    return 0;
}

/* ---- Prediction ---------------------------------------------------------------------------- */

static double smaller_of(double a, double b)
{
    return a < b ? a : b;
}

/* Sets the bound and the cycles of a variant; no bound exceeds that of the path. */
static void hold_bounds(const struct as_cqa_as_is *as_is, const struct as_prediction *found,
                        struct as_cqa_what_if *out)
{
    out->cycles = 0;
    for (unsigned i = 0; i < AS_BOUND_WINDOW; i++) {
        const double held = smaller_of(found->bounds[i], as_is->bounds[i]);

        if (held > out->cycles) {
            out->cycles = held;
            out->bound = (enum as_bound)i;
        }
    }
    const double simulated = smaller_of(found->simulated, as_is->cycles);
    if (simulated > out->cycles * 1.02)
        out->bound = AS_BOUND_WINDOW;
    if (simulated > out->cycles)
        out->cycles = simulated;
    if (out->bound == AS_BOUND_PORTS || out->bound == AS_BOUND_UNIT)
        memcpy(out->limit, found->limit, sizeof out->limit);
}

static int predict_thinned(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                           uint32_t without, struct as_cqa_what_if *out, struct as_error *err)
{
    struct as_prediction found;

    out->insn_n = (uint32_t)engine->list.insn.n;
    if (!out->insn_n) /* no instruction is left that takes time */
        return 0;
    as_cqa_list_place(&engine->list, as_is->body->code.insn[0].address);
    AS_TRY(as_cqa_list_predict(engine, as_is->simulate, without, &found, err));
    hold_bounds(as_is, &found, out);
    return 0;
}

/* Returns AS_WITHOUT_MEMORY unless the chain of the path goes through memory. Without the
 * address updates, stores would falsely feed the loads of the next iteration. */
static uint32_t without_false_meetings(const struct as_cqa_as_is *as_is)
{
    for (size_t i = 0; i < as_is->chain_n; i++)
        if (as_is->chain[i].memory)
            return 0;
    return AS_WITHOUT_MEMORY;
}

static int thinned(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                   enum as_cqa_variant variant, struct as_cqa_what_if *out, struct as_error *err)
{
    struct thinning t = {.body = as_is->body, .list = &engine->list};

    t.fate = as_arena_array(&engine->arena, uint8_t, as_is->body->n + 1);
    t.at = as_arena_array(&engine->arena, uint32_t, as_is->body->n + 1);
    if (!t.fate || !t.at || thin_out(&t, as_is->few, variant) < 0)
        return as_error_nomem(err, "a variant of a loop");
    out->applies =
        t.changed && (t.has_vectors || variant == AS_CQA_PERFECT_L1 || variant == AS_CQA_FEW_PORTS);
    if (!out->applies)
        return 0;
    return predict_thinned(engine, as_is, without_false_meetings(as_is), out, err);
}

/* Predicts the path without loop-carried dependences. */
static int independent(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                       struct as_cqa_what_if *out, struct as_error *err)
{
    struct as_prediction found = {.simulated = -1};

    out->applies = as_is->chain_n > 0;
    out->insn_n = (uint32_t)as_is->body->n;
    if (!out->applies)
        return 0;
    if (!as_is->simulate) {
        memcpy(found.bounds, as_is->bounds, sizeof found.bounds);
        found.bounds[AS_BOUND_LATENCY] = 0;
        memcpy(found.limit, as_is->limit, sizeof found.limit);
        hold_bounds(as_is, &found, out);
        return 0;
    }
    as_cqa_list_clear(&engine->list);
    for (size_t i = 0; i < as_is->body->n; i++)
        as_cqa_list_add(&engine->list, &as_is->body->code.insn[i], as_is->body->item[i].leaves);
    if (engine->list.failed)
        return as_error_nomem(err, "a variant of a loop");
    return predict_thinned(engine, as_is, AS_WITHOUT_LATENCY, out, err);
}

/* Predicts the path without the kind of instructions that keeps few ports busy. Loads of these
 * instructions still count. */
static int spared(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                  struct as_cqa_what_if *out, struct as_error *err)
{
    if (as_is->few == AS_FEW_NONE || as_is->few_cy < LEAST_FILLED * as_is->cycles)
        return 0;
    AS_TRY(thinned(engine, as_is, AS_CQA_FEW_PORTS, out, err));
    if (out->applies && out->cycles < as_is->load_cy) {
        out->cycles = as_is->load_cy;
        out->bound = AS_BOUND_PORTS;
    }
    return 0;
}

/* Sets the second-highest bound as the result. */
static void next_limit(const struct as_cqa_as_is *as_is, struct as_cqa_what_if *out)
{
    unsigned first = 0;

    for (unsigned i = 1; i < AS_BOUND_WINDOW; i++)
        if (as_is->bounds[i] > as_is->bounds[first])
            first = i;
    out->applies = as_is->bounds[first] > 0;
    for (unsigned i = 0; i < AS_BOUND_WINDOW; i++)
        if (i != first && as_is->bounds[i] > out->cycles) {
            out->cycles = as_is->bounds[i];
            out->bound = (enum as_bound)i;
        }
    out->insn_n = (uint32_t)as_is->body->n;
}

static int what_if(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                   enum as_cqa_variant variant, struct as_cqa_what_if *out, struct as_error *err)
{
    switch (variant) {
    case AS_CQA_FP_VECTOR:
    case AS_CQA_VECTOR:
        return as_cqa_vectorise(engine, as_is, variant, out, err);
    case AS_CQA_INDEPENDENT:
        return independent(engine, as_is, out, err);
    case AS_CQA_FEW_PORTS:
        return spared(engine, as_is, out, err);
    case AS_CQA_NEXT_LIMIT:
        next_limit(as_is, out);
        return 0;
    default:
        return thinned(engine, as_is, variant, out, err);
    }
}

/* Sets the result of the path as it is, if nothing changes. */
static void copy_as_is_result(const struct as_cqa_as_is *as_is, struct as_cqa_what_if *out)
{
    out->cycles = as_is->cycles;
    out->bound = as_is->bound;
    memcpy(out->limit, as_is->limit, sizeof out->limit);
}

static int predict_what_if(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                           enum as_cqa_variant variant, bool asked, struct as_cqa_what_if *out,
                           struct as_error *err)
{
    *out = (struct as_cqa_what_if){.iterations = 1};
    if (asked)
        AS_TRY(what_if(engine, as_is, variant, out, err));
    if (!out->applies)
        copy_as_is_result(as_is, out);
    out->speedup = out->cycles > 0 ? as_is->cycles / out->cycles : 0;
    return 0;
}

int as_cqa_what_ifs(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                    struct as_cqa_what_if *out, struct as_error *err)
{
    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++) {
        const enum as_cqa_variant variant = (enum as_cqa_variant)v;

        AS_TRY(predict_what_if(engine, as_is, variant, true, &out[v], err));
        out[v].why = as_cqa_why(variant, &out[v], as_is);
    }
    return 0;
}

int as_cqa_best_what_ifs(struct as_cqa_engine *engine, const struct as_cqa_as_is *as_is,
                         struct as_cqa_what_if *out, struct as_error *err)
{
    const bool sound = !(as_is->obstacles & AS_CQA_UNSOUND);
    const bool asked[AS_CQA_VARIANTS] = {[AS_CQA_CLEAN] = true,
                                         [AS_CQA_FP_VECTOR] = sound,
                                         [AS_CQA_VECTOR] = sound,
                                         [AS_CQA_INDEPENDENT] = true};

    for (unsigned v = 0; v < AS_CQA_VARIANTS; v++)
        AS_TRY(predict_what_if(engine, as_is, (enum as_cqa_variant)v, asked[v], &out[v], err));
    return 0;
}
