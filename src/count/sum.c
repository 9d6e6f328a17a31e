/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes counts from counters. A counter covers the code from its address to the next counter or
 * to the end of its block. The counts of this code are added to its function and enclosing loops.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/search.h"
#include "count/counted.h"

/* A counter of one module. */
struct counter_value {
    uint64_t address, value;
    uint32_t counts; /* as_patch_counts */
};

struct summing {
    struct as_block_counting *counting;
    struct as_counted_module *module;
    const struct as_program *program;
    AS_VEC(struct counter_value) counter; /* counters of code, then of amounts; each by address */
    size_t runs;                          /* number of counters of code */
    uint32_t *block_of;                   /* by instruction of the program */
};

static int by_place(const void *a, const void *b)
{
    const struct counter_value *x = a, *y = b;
    const int x_is_amount = x->counts != AS_PATCH_RUNS, y_is_amount = y->counts != AS_PATCH_RUNS;
    if (x_is_amount != y_is_amount)
        return x_is_amount - y_is_amount;
    return (x->address > y->address) - (x->address < y->address);
}

/* Notes threads that never left the loop: enclosing objects lack the last entry of these. */
static void note_open(struct summing *s, const struct counter_value *it)
{
    const struct as_program *p = s->program;
    struct as_counted_object *object = s->counting->object.at;
    const size_t insn = as_code_find(&p->code, it->address);
    if (it->value == 0 || insn == SIZE_MAX || s->block_of[insn] == AS_NONE)
        return;
    const struct as_block *b = &p->block[s->block_of[insn]];
    if (s->module->body_object[b->body] != AS_NONE)
        object[s->module->body_object[b->body]].it.open += it->value;
    for (uint32_t l = b->loop; l != AS_NONE; l = p->loop[l].parent)
        if (s->module->loop_object[l] != AS_NONE)
            object[s->module->loop_object[l]].it.open += it->value;
}

static int sum_module_counters(struct summing *s, const struct as_instances *all)
{
    const struct as_patch_counter *counter = as_patch_at(all->plan, &all->plan->counter);
    s->counter.n = s->runs = 0;
    for (uint64_t i = 0; i < all->counter.n; i++) {
        const struct counter_value it = {counter[i].address, all->counter.at[i], counter[i].counts};
        if (counter[i].module != s->module->planned)
            continue;
        if (it.counts == AS_PATCH_OPEN) {
            note_open(s, &it);
            continue;
        }
        if (it.counts == AS_PATCH_DROPPED)
            continue;
        s->runs += it.counts == AS_PATCH_RUNS;
        if (as_vec_push(&s->counter, it) < 0)
            return -1;
    }
    if (s->counter.n)
        qsort(s->counter.at, s->counter.n, sizeof *s->counter.at, by_place);
    return 0;
}

static const uint64_t *amount_of(const struct summing *s, uint64_t address)
{
    const struct counter_value *at = s->counter.at + s->runs;
    const size_t n = s->counter.n - s->runs;
    const size_t found = as_first_not(i, n, at[i].address < address);
    assert(found + 1 >= n || at[found].address <= at[found + 1].address); /* sorted by_place */
    return found < n && at[found].address == address ? &at[found].value : NULL;
}

/* ---- Objects ------------------------------------------------------------------------------- */

static void add_counts(struct as_block_counting *counting, uint32_t object, const double *count)
{
    for (unsigned i = 0; object != AS_NONE && i < AS_COUNTS; i++)
        counting->object.at[object].it.count[i] += count[i];
}

/* Adds counts to the function and to each enclosing loop. */
static void add_counts_to_objects(struct summing *s, uint32_t block, double *count, bool at_start)
{
    const struct as_program *p = s->program;
    const struct as_block *b = &p->block[block];
    const double runs = count[AS_COUNT_START];
    count[AS_COUNT_START] = at_start && p->body[b->body].entry_block == block ? runs : 0;
    add_counts(s->counting, s->module->body_object[b->body], count);
    for (uint32_t l = b->loop; l != AS_NONE; l = p->loop[l].parent) {
        count[AS_COUNT_START] = at_start && p->loop[l].header == block ? runs : 0;
        add_counts(s->counting, s->module->loop_object[l], count);
    }
}

static int add_code(struct summing *s, size_t at)
{
    const struct counter_value *it = &s->counter.at[at];
    const struct as_code *code = &s->program->code;
    const size_t first = as_code_find(code, it->address);
    double count[AS_COUNTS] = {0};
    if (first == SIZE_MAX || s->block_of[first] == AS_NONE || it->value == 0)
        return 0;
    const struct as_block *b = &s->program->block[s->block_of[first]];
    const uint64_t next = at + 1 < s->runs ? it[1].address : UINT64_MAX;
    for (size_t i = first; i < (size_t)b->first_insn + b->insns && code->insn[i].address < next;
         i++)
        as_count_add(&code->insn[i], it->value, amount_of(s, code->insn[i].address), count);
    count[AS_COUNT_START] = (double)it->value;
    const bool at_start = it->address == b->start;
    add_counts_to_objects(s, s->block_of[first], count, at_start);
    const struct as_counted_block ran = {s->block_of[first], it->value};
    return at_start ? as_vec_push(&s->module->ran, ran) : 0;
}

static int map_blocks(struct summing *s)
{
    const struct as_program *p = s->program;
    s->block_of = as_calloc(p->code.n + 1, sizeof *s->block_of);
    if (!s->block_of)
        return -1;
    memset(s->block_of, 0xff, p->code.n * sizeof *s->block_of);
    for (uint32_t b = 0; b < p->block_n; b++)
        for (uint32_t k = 0; k < p->block[b].insns; k++)
            s->block_of[p->block[b].first_insn + k] = b;
    return 0;
}

static int sum_module(struct summing *s, const struct as_instances *all)
{
    int rc = map_blocks(s) < 0 || sum_module_counters(s, all) < 0 ? -1 : 0;
    for (size_t i = 0; rc == 0 && i < s->runs; i++)
        rc = add_code(s, i);
    as_free(s->block_of);
    s->block_of = NULL;
    return rc;
}

int as_counting_sum(struct as_block_counting *counting, const struct as_instances *all,
                    struct as_error *err)
{
    struct summing s = {.counting = counting};
    int rc = 0;
    as_vec_foreach (&counting->module, module) {
        if (rc < 0 || module->planned == AS_NONE)
            continue;
        s.module = module;
        s.program = module->code->program;
        rc = sum_module(&s, all);
    }
    as_vec_fini(&s.counter);
    as_vec_foreach (&counting->object, object) {
        const bool ran = object->it.count[AS_COUNT_INSTRUCTION] > 0;
        if (!object->it.reason && object->region == AS_NONE)
            object->it.reason = "its part of the program could not be counted";
        else if (!object->it.reason && !ran)
            object->it.reason = as_instances_why_not(all, object->region);
    }
    return rc < 0 ? as_error_nomem(err, "counts") : 0;
}
