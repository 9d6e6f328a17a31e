/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the frequency of each path of a loop from the code alone. Each branch gets a
 * probability by the heuristics of Ball and Larus (Branch Prediction for Free, PLDI 1993). Their
 * hit rates are those of Wu and Larus (Static Branch Frequency and Program Profile Analysis, MICRO
 * 1994). The heuristics are combined as evidence (Dempster and Shafer).
 *
 * Two more heuristics use that compilers move unlikely code out of line or into a section of its
 * own. Branches out of the loop do not count: weights are for iterations that end at a back edge.
 */
#include "base/search.h"
#include "quality/weights.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"

/* Probabilities of an edge by its target or its condition. The other edge of the branch has the
 * rest. */
#define P_CALL        0.22 /* a call that not every path passes (Wu and Larus: CH 78 %) */
#define P_INNER_LOOP  0.75 /* an inner loop (LHH 75 %) */
#define P_OPCODE      0.16 /* negative, zero or less, equal to a constant (OH 84 %) */
#define P_UNORDERED   0.01 /* NaN operand */
#define P_OUT_OF_LINE 0.02
#define P_COLD        0.001
#define PADDING_MOST  64
#define CHAIN_MOST    64 /* max post-dominators to examine */

struct weighing {
    const struct as_program *program;
    uint32_t loop;
    uint64_t start, end; /* addresses of the contiguous blocks around the header */
};

static double combine_evidence(double p, double q)
{
    return p * q / (p * q + (1 - p) * (1 - q));
}

/* ---- Placement of blocks ------------------------------------------------------------------- */

static uint64_t end_of(const struct as_block *block)
{
    return block->start + block->size_b;
}

static bool is_in_loop(const struct weighing *w, uint32_t block)
{
    const struct as_loop *loop = &w->program->loop[w->loop];
    const uint32_t *at = &w->program->loop_block[loop->first_block];
    const uint32_t found = as_first_not(i, loop->blocks, at[i] < block);
    assert(found + 1 >= loop->blocks || at[found] < at[found + 1]); /* blocks of a loop ascend */
    return found < loop->blocks && at[found] == block;
}

/* Finds the contiguous blocks of the loop around its header. No other block is between them, but up
 * to 63 bytes of padding may be. */
static void find_run(struct weighing *w)
{
    const struct as_program *program = w->program;
    const struct as_body *body = &program->body[program->loop[w->loop].body];
    uint32_t first = program->loop[w->loop].header, last = first;

    while (first > body->first_block && is_in_loop(w, first - 1) &&
           program->block[first].start - end_of(&program->block[first - 1]) < PADDING_MOST)
        first--;
    while (last + 1 < body->first_block + body->blocks && is_in_loop(w, last + 1) &&
           program->block[last + 1].start - end_of(&program->block[last]) < PADDING_MOST)
        last++;
    w->start = program->block[first].start;
    w->end = end_of(&program->block[last]);
}

static bool is_out_of_line(const struct weighing *w, const struct as_block *block)
{
    return block->start < w->start || block->start >= w->end;
}

/* Returns true if the compiler split the block off: the symbol of the function
 * does not cover it. */
static bool is_cold(const struct weighing *w, const struct as_block *block)
{
    const struct as_body *body = &w->program->body[block->body];
    const struct as_function *function =
        body->function == AS_NONE ? NULL : &w->program->function[body->function];

    return function && (block->start < function->start || block->start >= function->end);
}

static bool post_dominates(const struct weighing *w, uint32_t block, uint32_t of)
{
    uint32_t at = w->program->block[of].ipdom;

    for (unsigned i = 0; i < CHAIN_MOST && at != AS_NONE; i++) {
        if (at == block)
            return true;
        at = w->program->block[at].ipdom;
    }
    return false;
}

/* ---- Probabilities ------------------------------------------------------------------------- */

/* Returns the probability of an edge by its target block. */
static double by_target(const struct weighing *w, uint32_t from, uint32_t to)
{
    const struct as_block *block = &w->program->block[to];
    double p = 0.5;

    if (is_cold(w, block))
        p = combine_evidence(p, P_COLD);
    else if (is_out_of_line(w, block) && !is_out_of_line(w, &w->program->block[from]))
        p = combine_evidence(p, P_OUT_OF_LINE);
    if (post_dominates(w, to, from))
        return p;
    if (block->bits & AS_BLOCK_CALL)
        p = combine_evidence(p, P_CALL);
    if (block->loop != w->loop && block->loop != w->program->block[from].loop)
        p = combine_evidence(p, P_INNER_LOOP);
    return p;
}

/* Returns true if the instruction compares with a constant, or with zero. */
static bool compares_with_constant(const struct as_insn *insn, const struct as_form *form)
{
    const bool compares = strcmp(form->mnemonic, "cmp") == 0 && form->operands == 2 &&
                          form->operand[1].kind == AS_OPERAND_IMM;
    const bool tests = strcmp(form->mnemonic, "test") == 0 &&
                       form->operand[0].kind == AS_OPERAND_REG &&
                       form->operand[1].kind == AS_OPERAND_REG && insn->reg[0] == insn->reg[1];

    return compares || tests;
}

/* Returns the probability that the branch at the end of the block is taken, by its condition. */
static double by_opcode(const struct weighing *w, const struct as_block *block)
{
    static const char *const rare[] = {"jz", "je", "js", "jl", "jle"};
    static const char *const usual[] = {"jnz", "jne", "jns", "jnl", "jge", "jnle", "jg"};

    if (block->insns < 2)
        return 0.5;
    const struct as_insn *branch = &w->program->code.insn[block->first_insn + block->insns - 1];
    const char *name = as_form_get(branch->form)->mnemonic;
    if (strcmp(name, "jp") == 0)
        return P_UNORDERED;
    if (strcmp(name, "jnp") == 0)
        return 1 - P_UNORDERED;
    if (!compares_with_constant(branch - 1, as_form_get(branch[-1].form)))
        return 0.5;
    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++)
        if (strcmp(name, rare[i]) == 0)
            return P_OPCODE;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (strcmp(name, usual[i]) == 0)
            return 1 - P_OPCODE;
    return 0.5;
}

/* Sets the targets of a conditional branch with both targets in the loop. Returns false for any
 * other block. */
static bool find_ends(const struct weighing *w, uint32_t from, uint32_t *taken, uint32_t *fall)
{
    const struct as_block *block = &w->program->block[from];
    unsigned found = 0;

    for (uint32_t i = 0; i < block->succs; i++) {
        const struct as_edge *edge = &w->program->succ[block->first_succ + i];

        if (!is_in_loop(w, edge->block) ||
            (edge->kind != AS_EDGE_TAKEN && edge->kind != AS_EDGE_FALL))
            return false;
        *(edge->kind == AS_EDGE_TAKEN ? taken : fall) = edge->block;
        found |= edge->kind == AS_EDGE_TAKEN ? 1 : 2;
    }
    return found == 3 && *taken != *fall;
}

/* Returns the probability that an iteration at `from` continues at `to`. */
static double edge_probability(const struct weighing *w, uint32_t from, uint32_t to)
{
    uint32_t taken = 0, fall = 0;

    if (!find_ends(w, from, &taken, &fall))
        return 1; /* a single successor, or a jump table with equal entries */
    double p = combine_evidence(by_target(w, from, taken), 1 - by_target(w, from, fall));
    p = combine_evidence(p, by_opcode(w, &w->program->block[from]));
    return to == taken ? p : 1 - p;
}

int as_quality_static_weights(struct as_arena *arena, const struct as_program *program,
                              uint32_t loop, const struct as_paths *paths, double **out,
                              struct as_error *err)
{
    struct weighing w = {.program = program, .loop = loop};
    double sum = 0;

    *out = as_arena_array(arena, double, paths->path_n + 1);
    if (!*out)
        return as_error_nomem(err, "the paths of a loop");
    find_run(&w);
    for (size_t i = 0; i < paths->path_n; i++) {
        const struct as_path *path = &paths->path[i];
        const uint32_t *block = paths->block + path->first;

        (*out)[i] = 1;
        for (uint32_t k = 0; k < path->blocks; k++) /* the header follows the last block */
            (*out)[i] *= edge_probability(&w, block[k], block[k + 1 < path->blocks ? k + 1 : 0]);
        sum += (*out)[i];
    }
    for (size_t i = 0; i < paths->path_n; i++)
        (*out)[i] = sum > 0 ? (*out)[i] / sum : 1 / (double)paths->path_n;
    return 0;
}
