/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the loop-carried chains of a loop and the exits that depend on data. Uses the dependences
 * of code/ and the instruction classes of isa/.
 */
#include "quality/chains.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/search.h"
#include "quality/arithmetic.h"
#include "quality/components.h"

/* The path of a loop, its dependences and the sets of instructions that need each other. */
struct chain_way {
    const struct as_program *program;
    uint32_t loop;
    const struct as_streams *streams;
    struct as_dependences found;
    struct as_components component;
    bool *data;
};

static const struct as_form *form_at(const struct chain_way *w, uint32_t at)
{
    return as_form_get(w->program->code.insn[w->found.insn[at]].form);
}

/* Returns true if the dependence carries a value of the chain. Flags only steer branches, and a
 * partial write only keeps the other bits. A conditional write may not happen. */
static bool is_link(const void *context, const struct as_dependence *at)
{
    (void)context;
    return at->kind != AS_DEPENDENCE_FLAGS &&
           !(at->bits & (AS_DEPENDENCE_MERGE | AS_DEPENDENCE_MAYBE));
}

/* ---- Operations of a chain ------------------------------------------------------------------ */

struct chain {
    uint32_t fp_n, add_n, mul_n, pick_n, logic_n, other_n;
    bool is_carried;
    bool is_begun; /* a carried register is initialised at each entry of the loop */
    bool is_read;  /* another instruction of the loop reads an intermediate value */
};

static bool is_multiply_add(const struct as_form *form)
{
    /* fmadd231 and its relatives add the product to the old value of the result. */
    return strstr(form->mnemonic, "231") != NULL;
}

static void count_member(struct chain *chain, const struct as_form *form)
{
    chain->fp_n += as_quality_arithmetic(form);
    switch (form->insn_class) {
    case AS_CLASS_MOVE:
    case AS_CLASS_EXTEND:
    case AS_CLASS_PUSH:
    case AS_CLASS_POP:
        break;
    case AS_CLASS_LEA:
    case AS_CLASS_ADD:
    case AS_CLASS_SAD:
    case AS_CLASS_DOT:
        chain->add_n++;
        break;
    case AS_CLASS_FMA:
        *(is_multiply_add(form) ? &chain->add_n : &chain->other_n) += 1;
        break;
    case AS_CLASS_MUL:
        chain->mul_n++;
        break;
    case AS_CLASS_LOGIC:
        chain->logic_n++;
        break;
    case AS_CLASS_MINMAX:
    case AS_CLASS_SELECT:
        chain->pick_n++;
        break;
    default:
        chain->other_n++;
    }
}

/* Returns true if all operations are of one kind, so that their order only affects rounding. */
static bool is_plain(const struct chain *chain)
{
    return !chain->other_n &&
           !!chain->add_n + !!chain->mul_n + !!chain->pick_n + !!chain->logic_n == 1;
}

/* Returns true if the dependence forms the address of a move in the chain (pointer chasing). The
 * next address is then unknown until the previous value is loaded. */
static bool leads_on(const struct chain_way *w, const struct as_dependence *link)
{
    const enum as_class c = (enum as_class)form_at(w, link->to)->insn_class;

    return link->bits & AS_DEPENDENCE_ADDRESS && c == AS_CLASS_MOVE;
}

/* ---- Initialised chains ---------------------------------------------------------------------- */

/* Returns true if the instruction sets `reg` to a constant or to a value from data memory. */
static bool begins_anew(const struct as_program *program, const struct as_insn *insn, unsigned reg)
{
    const struct as_form *form = as_form_get(insn->form);
    struct as_memory place[2];
    struct as_effects effects;

    as_insn_effects(insn, &effects);
    if (!as_regset_has(effects.written, reg))
        return false;
    if (insn->bits & AS_INSN_IDIOM)
        return true;
    if (form->insn_class != AS_CLASS_MOVE || as_regset_has(effects.read, reg))
        return false;
    if (as_insn_memory(&program->code, insn, place) != 1) /* a constant reads no register */
        return !effects.read.word[0] && !effects.read.word[1];
    return place[0].access & AS_ACCESS_READ && !place[0].stack && !place[0].rip_relative &&
           (place[0].base != AS_REG_NONE || place[0].index != AS_REG_NONE);
}

/* Returns true if the parent loop initialises `reg` outside this loop. */
static bool begun_around(const struct chain_way *w, unsigned reg)
{
    const uint32_t parent = w->program->loop[w->loop].parent;

    if (parent == AS_NONE)
        return false;
    for (uint32_t i = 0; i < w->program->loop[parent].blocks; i++) {
        const uint32_t number = w->program->loop_block[w->program->loop[parent].first_block + i];
        const struct as_block *block = &w->program->block[number];

        if (block->loop == w->loop) /* only innermost loops have chains */
            continue;
        for (uint32_t k = 0; k < block->insns; k++)
            if (begins_anew(w->program, &w->program->code.insn[block->first_insn + k], reg))
                return true;
    }
    return false;
}

/* ---- Memory of an instruction ---------------------------------------------------------------- */

/* Returns the index of the first memory operand of instruction `at`, or of a later instruction.
 * Operands ascend by instruction. */
static size_t first_stream(const struct chain_way *w, uint32_t at)
{
    assert(at < w->found.insn_n);
    const uint32_t insn = w->found.insn[at];
    const size_t first = as_first_not(i, w->streams->n, w->streams->at[i].insn < insn);
    assert(first + 1 >= w->streams->n ||
           w->streams->at[first].insn <= w->streams->at[first + 1].insn);
    return first;
}

/* Returns true if instruction `at` stores to a fixed address, as a sum in memory does. */
static bool stores_in_place(const struct chain_way *w, uint32_t at)
{
    const uint32_t insn = w->found.insn[at];

    for (size_t i = first_stream(w, at); i < w->streams->n && w->streams->at[i].insn == insn; i++)
        if (w->streams->at[i].access & AS_ACCESS_WRITE &&
            w->streams->at[i].stride == AS_STRIDE_ZERO)
            return true;
    return false;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Marks chains with intermediate values that are used: outside the chain, or at another address in
 * memory. Running sums are an example. */
static void find_readers(const struct chain_way *w, struct chain *chain)
{
    for (size_t i = 0; i < w->found.n; i++) {
        const struct as_dependence *link = &w->found.at[i];
        struct chain *from = &chain[w->component.of[link->from]];

        if (!is_link(NULL, link) || !from->is_carried)
            continue;
        if (w->component.of[link->from] != w->component.of[link->to])
            from->is_read |= !stores_in_place(w, link->to);
        else if (link->kind == AS_DEPENDENCE_MEMORY)
            from->is_read |= !stores_in_place(w, link->from);
    }
}

static void count_chains(const struct chain_way *w, struct chain *chain, struct as_chains *out)
{
    for (uint32_t i = 0; i < w->found.insn_n; i++)
        count_member(&chain[w->component.of[i]], form_at(w, i));
    for (size_t i = 0; i < w->found.n; i++) {
        const struct as_dependence *link = &w->found.at[i];

        if (!is_link(NULL, link) || w->component.of[link->from] != w->component.of[link->to])
            continue;
        chain[w->component.of[link->to]].is_carried |= link->distance > 0;
        chain[w->component.of[link->to]].is_begun |= link->distance > 0 &&
                                                     link->kind == AS_DEPENDENCE_REGISTER &&
                                                     begun_around(w, link->what);
        chain[w->component.of[link->to]].other_n += leads_on(w, link);
    }
    find_readers(w, chain);
    for (uint32_t i = 0; i < w->component.n; i++) {
        const bool is_fp = chain[i].fp_n > 0, plain = is_plain(&chain[i]);

        out->fp_n += chain[i].is_carried && is_fp;
        out->sum_n += chain[i].is_carried && is_fp && plain && !chain[i].is_read;
        out->other_n += chain[i].is_carried && !is_fp && !plain;
        out->begun_n += chain[i].is_carried && chain[i].is_begun && (is_fp || !plain);
    }
}

/* ---- Exits ---------------------------------------------------------------------------------- */

/* Returns true if the instruction reads memory at an address that may change per iteration. */
static bool loads_data(const struct chain_way *w, uint32_t at)
{
    const uint32_t insn = w->found.insn[at];

    for (size_t i = first_stream(w, at); i < w->streams->n && w->streams->at[i].insn == insn; i++)
        if (w->streams->at[i].access & AS_ACCESS_READ && !w->streams->at[i].stack &&
            w->streams->at[i].stride != AS_STRIDE_ZERO)
            return true;
    return false;
}

/* Counts branches that depend on data. Two rounds, because values may pass to the
 * next iteration. */
static void count_exits(const struct chain_way *w, struct as_chains *out)
{
    for (uint32_t i = 0; i < w->found.insn_n; i++)
        w->data[i] = loads_data(w, i) || as_quality_arithmetic(form_at(w, i)) ||
                     form_at(w, i)->insn_class == AS_CLASS_CALL;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < w->found.n; i++)
            w->data[w->found.at[i].to] |= w->data[w->found.at[i].from];
    for (uint32_t i = 0; i < w->found.insn_n; i++)
        out->exit_n += form_at(w, i)->insn_class == AS_CLASS_BRANCH && w->data[i];
}

/* ---- All ------------------------------------------------------------------------------------ */

static int examine(struct chain_way *w, struct as_chains *out, struct as_error *err)
{
    const size_t n = w->found.insn_n;
    struct chain *chain = as_calloc(n + 1, sizeof *chain);
    int rc = 0;

    w->data = as_calloc(n + 1, sizeof *w->data);
    if (!chain || !w->data || as_components_find(&w->found, is_link, NULL, &w->component) < 0) {
        rc = as_error_nomem(err, "the chains of a loop");
    } else {
        count_chains(w, chain, out);
        count_exits(w, out);
    }
    as_free(chain);
    as_free(w->component.of);
    as_free(w->data);
    return rc;
}

int as_quality_chains(const struct as_program *program, uint32_t loop,
                      const struct as_streams *streams, struct as_chains *out, struct as_error *err)
{
    struct chain_way w = {.program = program, .loop = loop, .streams = streams};
    struct as_paths paths;
    int rc;

    *out = (struct as_chains){0};
    AS_TRY(as_loop_paths(program, loop, 2, &paths, err));
    rc = as_loop_dependences(program, loop, &paths, 0, &w.found, err);
    as_paths_free(&paths);
    AS_TRY(rc);
    rc = examine(&w, out, err);
    as_dependences_free(&w.found);
    return rc;
}
