/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins regions to bodies. Cold and split parts join the function that they were split from.
 * Outlined bodies of parallel constructs get their parent.
 *
 * A part is a region that other regions only jump into: nothing calls it and no code takes its
 * address. Either its symbol names a part (".cold"); among several regions the name decides. Or
 * exactly one region jumps in, to the start too, and one jump is not like a tail call. Such a jump
 * is conditional, leads into the middle, or goes back into the middle of the other region.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clone_suffix.h"
#include "code/internal.h"

static const char *name_of(const struct as_builder *b, const struct as_region *r)
{
    return r->function == AS_NONE ? "" : b->program->function[r->function].name;
}

/* Facts about the jumps between a candidate and other regions. */
struct evidence {
    uint32_t owner; /* first region found that jumps in, or AS_NONE */
    bool several;
    bool strong; /* a tail call does not jump like this */
    bool start;  /* a jump leads to its first instruction, which is dead otherwise */
};

static void weigh(const struct as_builder *b, const struct as_crossing *c, struct evidence *e)
{
    /* Jumps into the candidate. */
    struct evidence *in = &e[c->to];
    if (in->owner != AS_NONE && in->owner != c->from)
        in->several = true;
    if (in->owner == AS_NONE)
        in->owner = c->from;
    if (c->target == b->region.at[c->to].start)
        in->start = true;
    if (c->conditional || c->target != b->region.at[c->to].start)
        in->strong = true;
}

/* Handles jumps from a candidate back into the middle of its owner. */
static void weigh_back(const struct as_builder *b, const struct as_crossing *c, struct evidence *e)
{
    if (e[c->from].owner == c->to && c->target != b->region.at[c->to].start)
        e[c->from].strong = true;
}

/* Returns true for suffixes of split parts: ".cold.3" of GCC and LLVM, ".cold.0" and ".warm" of
 * BOLT. */
static bool starts_split(const char *suffix)
{
    return (strncmp(suffix, ".cold", 5) == 0 || strncmp(suffix, ".warm", 5) == 0) &&
           as_clone_suffix_n(as_view_of(suffix)) > 0;
}

/* Returns true if `part` is a split part of `name`: "name.cold", "name.cold.3",
 * "name.part.0.cold". */
static bool is_split_of(const char *part, const char *name)
{
    size_t n = strlen(name);
    return n && strncmp(part, name, n) == 0 && starts_split(part + n);
}

static bool is_split_name(const char *name)
{
    const struct as_view view = as_view_of(name);
    for (size_t i = as_clone_base_n(view); i < view.n; i++)
        if (starts_split(name + i))
            return true;
    return false;
}

static bool may_be_part(const struct as_region *r)
{
    if (r->is_gap || r->is_called || r->is_pointed || r->origin == AS_FUNCTION_PLT)
        return false;
    return r->is_part || r->origin == AS_FUNCTION_UNWIND;
}

/* Returns the region among those that jump into a named part that has the base of its name, or
 * AS_NONE. */
static uint32_t owner_by_name(const struct as_builder *b, uint32_t part)
{
    const char *name = name_of(b, &b->region.at[part]);
    for (size_t i = 0; i < b->crossing.n; i++) {
        const struct as_crossing *c = &b->crossing.at[i];
        if (c->to == part && is_split_of(name, name_of(b, &b->region.at[c->from])))
            return c->from;
    }
    return AS_NONE;
}

static void choose_owners(struct as_builder *b, const struct evidence *e)
{
    for (uint32_t i = 0; i < b->region.n; i++) {
        struct as_region *r = &b->region.at[i];
        r->owner = i;
        if (!may_be_part(r) || e[i].owner == AS_NONE || !(e[i].start || r->is_part))
            continue;
        bool named = is_split_name(name_of(b, r));
        if (e[i].several)
            r->owner = named ? owner_by_name(b, i) : i;
        else if (named || e[i].strong)
            r->owner = e[i].owner;
        if (r->owner == AS_NONE)
            r->owner = i;
    }
    /* A part of a part belongs to the first owner. A cycle of parts without a call is dissolved. */
    for (uint32_t i = 0; i < b->region.n; i++) {
        uint32_t owner = b->region.at[i].owner;
        for (int hops = 0; hops < 16 && b->region.at[owner].owner != owner; hops++)
            owner = b->region.at[owner].owner;
        b->region.at[i].owner = b->region.at[owner].owner == owner ? owner : i;
    }
}

/* ---- Bodies ------------------------------------------------------------------------------ */

static int add_bodies(struct as_builder *b)
{
    uint32_t n = (uint32_t)b->region.n;
    for (uint32_t i = 0; i < n; i++) {
        struct as_region *r = &b->region.at[i];
        if (r->is_gap || r->owner != i)
            continue;
        r->body = (uint32_t)b->body.n;
        AS_TRY(as_vec_push(&b->body, (struct as_body_parts){.head = i, .parent = AS_NONE}));
    }
    for (uint32_t i = 0; i < n; i++) {
        struct as_region *r = &b->region.at[i];
        if (r->is_gap)
            continue;
        r->body = b->region.at[r->owner].body;
        b->body.at[r->body].regions++;
    }
    uint32_t first = 0;
    as_vec_foreach (&b->body, body) {
        body->first = first;
        first += body->regions;
        body->regions = 0;
    }
    AS_TRY(as_vec_reserve(&b->part, first));
    b->part.n = first;
    for (uint32_t i = 0; i < n; i++) {
        const struct as_region *r = &b->region.at[i];
        if (r->is_gap)
            continue;
        struct as_body_parts *body = &b->body.at[r->body];
        b->part.at[body->first + body->regions++] = i;
    }
    return 0;
}

/* ---- Outlined bodies --------------------------------------------------------------------- */

static bool is_outlined_name(const char *name)
{
    return strstr(name, "._omp_fn.") || strstr(name, "omp_outlined") ||
           strstr(name, "_omp_task_entry") || strstr(name, "omp_task_entry");
}

static bool starts_threads(const char *name)
{
    return strncmp(name, "GOMP_parallel", 13) == 0 || strncmp(name, "GOMP_task", 9) == 0 ||
           strncmp(name, "GOMP_teams", 10) == 0 || strncmp(name, "GOMP_target", 11) == 0 ||
           strncmp(name, "__kmpc_fork_", 12) == 0 || strncmp(name, "__kmpc_omp_task", 15) == 0;
}

/* Returns true if the next call after the instruction that takes the address is a runtime call that
 * starts threads. */
static bool given_to_runtime(const struct as_builder *b, const struct as_reference *reference)
{
    const struct as_region *r = &b->region.at[reference->from];
    size_t end = r->first_insn + r->insns;
    for (size_t i = reference->insn + 1; i < end && i < reference->insn + 24; i++) {
        const struct as_insn *insn = &b->program->code.insn[i];
        uint64_t target;
        if (as_form_of(insn)->insn_class != AS_CLASS_CALL)
            continue;
        uint32_t to = as_insn_target_fast(insn, &target) ? as_region_at(b, target) : AS_NONE;
        return to != AS_NONE && starts_threads(name_of(b, &b->region.at[to]));
    }
    return false;
}

static void link_outlined(struct as_builder *b)
{
    as_vec_foreach (&b->reference, reference) {
        uint32_t child = b->region.at[reference->to].body;
        uint32_t parent = b->region.at[reference->from].body;
        if (child == AS_NONE || parent == AS_NONE || child == parent)
            continue;
        struct as_body_parts *body = &b->body.at[child];
        bool named = is_outlined_name(name_of(b, &b->region.at[reference->to]));
        if (body->parent == AS_NONE && (named || given_to_runtime(b, reference))) {
            body->parent = parent;
            body->outlined = true;
        }
    }
}

int as_bodies_join(struct as_builder *b, struct as_error *err)
{
    struct evidence *e = as_calloc(b->region.n, sizeof *e);
    if (!e)
        return as_error_nomem(err, "bodies of functions");
    for (size_t i = 0; i < b->region.n; i++)
        e[i].owner = AS_NONE;
    as_vec_foreach (&b->crossing, in)
        weigh(b, in, e);
    as_vec_foreach (&b->crossing, back)
        weigh_back(b, back, e);
    choose_owners(b, e);
    as_free(e);
    if (add_bodies(b) < 0)
        return as_error_nomem(err, "bodies of functions");
    link_outlined(b);
    return 0;
}
