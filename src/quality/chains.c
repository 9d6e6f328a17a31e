/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of results from iteration to iteration, and exits that wait for data. Knows the
 * dependences of code/ and the classes of isa/. Components by Tarjan, "Depth-first search and
 * linear graph algorithms", SIAM J. Comput. 1972, with a stack of its own in place of recursion.
 */
#include "quality/chains.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "quality/arithmetic.h"

#define NOT_SEEN UINT32_MAX

/* One way of the loop: its dependences by the instruction that takes in, and the search. */
struct way {
    const struct assay_program *program;
    const struct assay_streams *streams;
    struct assay_dependences found;
    uint32_t *memory; /* all that follows, in one piece */
    uint32_t *first;  /* into found.at; one more than instructions */
    uint32_t *order, *low, *component, *stack, *path, *next;
    uint32_t orders, components, stack_n;
    bool *data;
};

static const struct assay_form *form_at(const struct way *w, uint32_t at)
{
    return assay_form_get(w->program->code.insn[w->found.insn[at]].form);
}

/* Flags only steer; a partial write keeps what nobody wants. */
static bool is_link(const struct assay_dependence *at)
{
    return at->kind != ASSAY_DEPENDENCE_FLAGS &&
           !(at->bits & (ASSAY_DEPENDENCE_MERGE | ASSAY_DEPENDENCE_MAYBE));
}

/* ---- Components ----------------------------------------------------------------------------- */

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static void enter(struct way *w, uint32_t at)
{
    w->order[at] = w->low[at] = w->orders++;
    w->next[at] = w->first[at];
    w->stack[w->stack_n++] = at;
}

/* All above `at` on the stack is one component. */
static void take_component(struct way *w, uint32_t at)
{
    uint32_t member;

    do {
        member = w->stack[--w->stack_n];
        w->component[member] = w->components;
    } while (member != at);
    w->components++;
}

/* The next one to go to from `at`; NOT_SEEN when there is none left. */
static uint32_t step_down(struct way *w, uint32_t at)
{
    while (w->next[at] < w->first[at + 1]) {
        const struct assay_dependence *link = &w->found.at[w->next[at]++];

        if (!is_link(link))
            continue;
        if (w->order[link->from] == NOT_SEEN)
            return link->from;
        if (w->component[link->from] == NOT_SEEN)
            w->low[at] = least_of(w->low[at], w->order[link->from]);
    }
    return NOT_SEEN;
}

static void search_from(struct way *w, uint32_t root)
{
    uint32_t depth = 0;

    enter(w, root);
    w->path[depth++] = root;
    while (depth) {
        const uint32_t at = w->path[depth - 1], down = step_down(w, at);

        if (down != NOT_SEEN) {
            enter(w, down);
            w->path[depth++] = down;
            continue;
        }
        if (w->low[at] == w->order[at])
            take_component(w, at);
        if (--depth)
            w->low[w->path[depth - 1]] = least_of(w->low[w->path[depth - 1]], w->low[at]);
    }
}

/* ---- What a chain does ---------------------------------------------------------------------- */

struct chain {
    uint32_t fp_n, add_n, mul_n, pick_n, logic_n, other_n;
    bool is_carried;
};

static bool is_multiply_add(const struct assay_form *form)
{
    /* Of these the result is added to what it was: fmadd231, and its relatives. */
    return strstr(form->mnemonic, "231") != NULL;
}

static void count_member(struct chain *chain, const struct assay_form *form)
{
    chain->fp_n += as_quality_arithmetic(form);
    switch (form->insn_class) {
    case ASSAY_CLASS_MOVE:
    case ASSAY_CLASS_EXTEND:
    case ASSAY_CLASS_PUSH:
    case ASSAY_CLASS_POP:
        break;
    case ASSAY_CLASS_LEA:
    case ASSAY_CLASS_ADD:
    case ASSAY_CLASS_SAD:
    case ASSAY_CLASS_DOT:
        chain->add_n++;
        break;
    case ASSAY_CLASS_FMA:
        *(is_multiply_add(form) ? &chain->add_n : &chain->other_n) += 1;
        break;
    case ASSAY_CLASS_MUL:
        chain->mul_n++;
        break;
    case ASSAY_CLASS_LOGIC:
        chain->logic_n++;
        break;
    case ASSAY_CLASS_MINMAX:
    case ASSAY_CLASS_SELECT:
        chain->pick_n++;
        break;
    default:
        chain->other_n++;
    }
}

/* Of one kind, so that its order does not matter but for rounding. */
static bool is_plain(const struct chain *chain)
{
    return !chain->other_n &&
           !!chain->add_n + !!chain->mul_n + !!chain->pick_n + !!chain->logic_n == 1;
}

/* A value that goes from memory to an address, and back: where it leads nobody knows before. */
static bool leads_on(const struct way *w, const struct assay_dependence *link)
{
    const enum assay_class c = (enum assay_class)form_at(w, link->to)->insn_class;

    return link->bits & ASSAY_DEPENDENCE_ADDRESS && c == ASSAY_CLASS_MOVE;
}

static void count_chains(const struct way *w, struct chain *chain, struct as_chains *out)
{
    for (uint32_t i = 0; i < w->found.insn_n; i++)
        count_member(&chain[w->component[i]], form_at(w, i));
    for (size_t i = 0; i < w->found.n; i++) {
        const struct assay_dependence *link = &w->found.at[i];

        if (!is_link(link) || w->component[link->from] != w->component[link->to])
            continue;
        chain[w->component[link->to]].is_carried |= link->distance > 0;
        chain[w->component[link->to]].other_n += leads_on(w, link);
    }
    for (uint32_t i = 0; i < w->components; i++) {
        const bool is_fp = chain[i].fp_n > 0, plain = is_plain(&chain[i]);

        out->fp_n += chain[i].is_carried && is_fp;
        out->sum_n += chain[i].is_carried && is_fp && plain;
        out->other_n += chain[i].is_carried && !is_fp && !plain;
    }
}

/* ---- Exits ---------------------------------------------------------------------------------- */

/* It reads memory that is another in each iteration, or may be. */
static bool loads_data(const struct way *w, uint32_t at)
{
    const uint32_t insn = w->found.insn[at];
    size_t low = 0, high = w->streams->n;

    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (w->streams->at[middle].insn < insn)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->streams->n && w->streams->at[low].insn == insn; low++)
        if (w->streams->at[low].access & ASSAY_ACCESS_READ && !w->streams->at[low].stack &&
            w->streams->at[low].stride != ASSAY_STRIDE_ZERO)
            return true;
    return false;
}

/* Twice along the way: a value may go round. */
static void count_exits(const struct way *w, struct as_chains *out)
{
    for (uint32_t i = 0; i < w->found.insn_n; i++)
        w->data[i] = loads_data(w, i) || as_quality_arithmetic(form_at(w, i)) ||
                     form_at(w, i)->insn_class == ASSAY_CLASS_CALL;
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < w->found.n; i++)
            w->data[w->found.at[i].to] |= w->data[w->found.at[i].from];
    for (uint32_t i = 0; i < w->found.insn_n; i++)
        out->exit_n += form_at(w, i)->insn_class == ASSAY_CLASS_BRANCH && w->data[i];
}

/* ---- All of it ------------------------------------------------------------------------------ */

static void index_links(struct way *w)
{
    for (size_t i = 0; i < w->found.n; i++)
        w->first[w->found.at[i].to + 1]++;
    for (size_t i = 0; i < w->found.insn_n; i++)
        w->first[i + 1] += w->first[i];
}

static int examine(struct way *w, struct as_chains *out, struct assay_error *err)
{
    const size_t n = w->found.insn_n;
    struct chain *chain = as_calloc(n + 1, sizeof *chain);
    int rc = 0;

    w->memory = as_calloc(7 * n + 1, sizeof *w->memory);
    w->data = as_calloc(n + 1, sizeof *w->data);
    if (!chain || !w->memory || !w->data) {
        rc = as_error_nomem(err, "the chains of a loop");
        goto release;
    }
    w->first = w->memory;
    w->order = w->first + n + 1;
    w->low = w->order + n;
    w->component = w->low + n;
    w->stack = w->component + n;
    w->path = w->stack + n;
    w->next = w->path + n;
    memset(w->order, 0xff, n * sizeof *w->order);
    memset(w->component, 0xff, n * sizeof *w->component);
    index_links(w);
    for (uint32_t i = 0; i < n; i++)
        if (w->order[i] == NOT_SEEN)
            search_from(w, i);
    count_chains(w, chain, out);
    count_exits(w, out);
release:
    as_free(chain);
    as_free(w->memory);
    as_free(w->data);
    return rc;
}

int as_quality_chains(const struct assay_program *program, uint32_t loop,
                      const struct assay_streams *streams, struct as_chains *out,
                      struct assay_error *err)
{
    struct way w = {.program = program, .streams = streams};
    struct assay_paths paths;
    int rc;

    *out = (struct as_chains){0};
    AS_TRY(assay_loop_paths(program, loop, 2, &paths, err));
    rc = assay_loop_dependences(program, loop, &paths, 0, &w.found, err);
    assay_paths_free(&paths);
    AS_TRY(rc);
    rc = examine(&w, out, err);
    assay_dependences_free(&w.found);
    return rc;
}
