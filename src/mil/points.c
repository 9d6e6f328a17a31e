/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of functions, values, and calls of library functions. Plans which action a thread performs
 * at which point of the code, and where the thread's file stores the result.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "mil/libraries.h"
#include "mil/plan.h"
#include "mil/probe.h"

#define VALUES_MOST 20000u /* 28 MB per thread */

/* An action before actions are merged by point. */
struct point_act {
    uint64_t address;
    /* order: in which it was added; `behind`: after the instruction at `address` */
    uint32_t behind, order;
    struct as_patch_act act;
};

struct pointing {
    const struct as_probes *probes;
    const struct as_program *program;
    struct as_probe_plan *plan;
    struct as_patch_maker *maker;
    AS_VEC(struct point_act) wanted;
    AS_VEC(struct as_patch_point) point;
    AS_VEC(struct as_patch_act) act;
    AS_VEC(struct as_patch_called) called;
    AS_VEC(uint32_t) first_called; /* by probe: index of its first entry in `called` */
    struct as_error *err;
};

static int want_act(struct pointing *to, uint64_t address, bool behind,
                    const struct as_patch_act *act)
{
    const struct point_act it = {address, behind, (uint32_t)to->wanted.n, *act};
    return as_vec_push(&to->wanted, it) < 0 ? as_error_nomem(to->err, "points of probes") : 0;
}

/* ---- Points of events ------------------------------------------------------------------------ */

/* Adds the action at each return of a function and at each jump to another function. */
static int want_exits(struct pointing *to, uint32_t body, const struct as_patch_act *act)
{
    const struct as_program *p = to->program;
    const struct as_body *it = &p->body[body];
    for (uint32_t b = it->first_block; b < it->first_block + it->blocks; b++) {
        const struct as_block *block = &p->block[b];
        if (block->insns && block->bits & (AS_BLOCK_RETURN | AS_BLOCK_TAILCALL))
            AS_TRY(want_act(to, p->code.insn[block->first_insn + block->insns - 1].address, false,
                            act));
    }
    return 0;
}

static int want_event(struct pointing *to, const struct as_probe_site *site,
                      const struct as_patch_act *act)
{
    const enum as_probe_event event = to->probes->probe.at[site->probe].event;
    if (event == AS_PROBE_FUNCTION_EXIT)
        return want_exits(to, site->body, act);
    return want_act(to, site->address, event == AS_PROBE_CALL_AFTER, act);
}

/* ---- Actions --------------------------------------------------------------------------------- */

/* Finds an argument by the System V ABI. Six integers are in registers; the others are on the
 * stack. At the function's entry (`is_called`) the return address lies below them. */
static void place_argument(const struct as_probe_record *record, bool is_called,
                           struct as_patch_act *act)
{
    static const uint8_t in_order[] = {7, 6, 2, 1, 8, 9}; /* rdi, rsi, rdx, rcx, r8, r9 */
    if (record->type == AS_PATCH_DOUBLE || record->type == AS_PATCH_FLOAT) {
        act->source = AS_PATCH_FROM_VECTOR;
        act->reg = (uint8_t)(record->argument - 1);
    } else if (record->argument <= 6) {
        act->source = AS_PATCH_FROM_GENERAL;
        act->reg = in_order[record->argument - 1];
    } else {
        act->source = AS_PATCH_FROM_MEMORY;
        act->base = 4;
        act->offset = 8 * (int64_t)(record->argument - 7) + (is_called ? 8 : 0);
    }
}

static struct as_patch_act value_act(const struct as_probe_record *record,
                                     enum as_probe_event event, uint64_t place)
{
    static const uint8_t source[] = {[AS_PROBE_VALUE_GENERAL] = AS_PATCH_FROM_GENERAL,
                                     [AS_PROBE_VALUE_VECTOR] = AS_PATCH_FROM_VECTOR,
                                     [AS_PROBE_VALUE_MEMORY] = AS_PATCH_FROM_MEMORY};
    struct as_patch_act act = {.kind = AS_PATCH_ACT_KEEPS,
                               .place = (uint32_t)place,
                               .type = record->type,
                               .base = AS_PATCH_NONE,
                               .index = AS_PATCH_NONE};
    if (record->of == AS_PROBE_VALUE_ARGUMENT) {
        place_argument(record, event != AS_PROBE_CALL_BEFORE, &act);
        return act;
    }
    act.source = source[record->of];
    act.reg = record->reg;
    if (record->of == AS_PROBE_VALUE_MEMORY) {
        act.base = record->base;
        act.index = record->index;
        act.scale = record->scale;
        act.offset = record->offset;
    }
    return act;
}

static int want_time(struct pointing *to, const struct as_probe_site *site)
{
    struct as_patch_act act = {.kind = AS_PATCH_ACT_ENTERS,
                               .place = (uint32_t)to->plan->timers++,
                               .base = AS_PATCH_NONE,
                               .index = AS_PATCH_NONE};
    AS_TRY(want_act(to, site->address, false, &act));
    act.kind = AS_PATCH_ACT_LEAVES;
    return want_exits(to, site->body, &act);
}

static int want_site(struct pointing *to, const struct as_probe_site *site,
                     struct as_probe_place *place)
{
    const struct as_mil_probe *probe = &to->probes->probe.at[site->probe];
    struct as_probe_plan *plan = to->plan;
    *place = (struct as_probe_place){AS_NONE, (uint32_t)plan->values, (uint32_t)plan->tallies};
    if (probe->event == AS_PROBE_FUNCTION && probe->actions & AS_PROBE_TIME) {
        place->timer = (uint32_t)plan->timers;
        AS_TRY(want_time(to, site));
    }
    as_vec_foreach (&probe->record, record) {
        const struct as_patch_act act = value_act(record, probe->event, plan->values++);
        AS_TRY(want_event(to, site, &act));
    }
    for (size_t i = 0; i < probe->call.n; i++) {
        const struct as_patch_act act = {.kind = AS_PATCH_ACT_CALLS,
                                         .place = (uint32_t)plan->tallies++,
                                         .called = to->first_called.at[site->probe] + (uint32_t)i,
                                         .base = AS_PATCH_NONE,
                                         .index = AS_PATCH_NONE};
        AS_TRY(want_event(to, site, &act));
    }
    if (plan->values > VALUES_MOST)
        return as_error_set(to->err, AS_ERR_LIMIT,
                            "probe '%s': the probes record at more than %u addresses; use more "
                            "filters",
                            probe->name, VALUES_MOST);
    return 0;
}

/* ---- Library functions ----------------------------------------------------------------------- */

static int add_called(struct pointing *to, size_t number)
{
    const struct as_mil_probe *probe = &to->probes->probe.at[number];
    if (as_vec_push(&to->first_called, (uint32_t)to->called.n) < 0)
        return as_error_nomem(to->err, "points of probes");
    as_vec_foreach (&probe->call, call) {
        struct as_patch_called it = {.number = number};
        char path[4096];
        as_probe_library_path(call, path);
        AS_TRY(as_patch_maker_text(to->maker, path, &it.library, to->err));
        AS_TRY(as_patch_maker_text(to->maker, call->function, &it.function, to->err));
        AS_TRY(as_patch_maker_text(to->maker, probe->name, &it.probe, to->err));
        if (as_vec_push(&to->called, it) < 0)
            return as_error_nomem(to->err, "points of probes");
    }
    return 0;
}

/* ---- Points ---------------------------------------------------------------------------------- */

static int by_point(const void *a, const void *b)
{
    const struct point_act *x = a, *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    if (x->behind != y->behind)
        return x->behind < y->behind ? -1 : 1;
    if (x->act.kind != y->act.kind)
        return x->act.kind < y->act.kind ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int merge_wanted_points(struct pointing *to)
{
    if (to->wanted.n)
        qsort(to->wanted.at, to->wanted.n, sizeof *to->wanted.at, by_point);
    as_vec_foreach (&to->wanted, it) {
        const struct as_patch_point *last = to->point.n ? &to->point.at[to->point.n - 1] : NULL;
        const struct as_patch_point fresh = {
            .address = it->address, .behind = it->behind, .first_act = (uint32_t)to->act.n};
        if ((!last || last->address != it->address || last->behind != it->behind) &&
            as_vec_push(&to->point, fresh) < 0)
            return as_error_nomem(to->err, "points of probes");
        to->point.at[to->point.n - 1].acts++;
        if (as_vec_push(&to->act, it->act) < 0)
            return as_error_nomem(to->err, "points of probes");
    }
    return 0;
}

static int make_points(struct pointing *to, const struct as_probe_sites *sites)
{
    for (size_t i = 0; i < to->probes->probe.n; i++)
        AS_TRY(add_called(to, i));
    for (size_t i = 0; i < sites->n; i++)
        if (!sites->at[i].refusal && as_probe_has_points(to->probes, &sites->at[i]))
            AS_TRY(want_site(to, &sites->at[i], &to->plan->place[i]));
    return merge_wanted_points(to);
}

/* Plans the clones. If a body cannot be cloned as a whole, its loops are cloned one by one. */
static int plan_clones(struct pointing *to, struct as_patch_points *points)
{
    const struct as_program *p = to->program;
    struct as_probe_plan *plan = to->plan;
    const struct as_patch_bodies bodies = {plan->probed, plan->probed_refusal};
    bool *loops = as_calloc(p->loop_n + 1, sizeof *loops);
    if (!loops)
        return as_error_nomem(to->err, "a plan");
    *points = (struct as_patch_points){to->point.at, to->point.n,   to->act.at,
                                       to->act.n,    to->called.at, to->called.n};
    for (size_t l = 0; l < p->loop_n; l++)
        loops[l] = plan->probed[p->loop[l].body];
    int rc =
        as_patch_maker_add_bodies(to->maker, p, &bodies, loops, plan->probed_body_verdict, to->err);
    if (rc == 0)
        rc = as_probe_take_bytes(to->maker, &plan->points, &plan->points_n, to->err);
    as_free(loops);
    return rc;
}

int as_probe_plan_points(const struct as_probes *probes, const struct as_program *program,
                         const struct as_probe_sites *sites, struct as_probe_plan *plan,
                         struct as_error *err)
{
    struct as_patch_points points = {0};
    const struct as_patch_wish wish = {.mode = AS_PATCH_PROBE, .points = &points};
    struct pointing to = {.probes = probes, .program = program, .plan = plan, .err = err};
    size_t any = 0;
    for (size_t i = 0; i < sites->n; i++)
        any += !sites->at[i].refusal && as_probe_has_points(probes, &sites->at[i]);
    if (!any)
        return 0;
    plan->place = as_calloc(sites->n + 1, sizeof *plan->place);
    int rc = plan->place ? as_patch_maker_new(&wish, &to.maker, err)
                         : as_error_nomem(err, "points of probes");
    if (rc == 0)
        rc = make_points(&to, sites);
    if (rc == 0)
        rc = plan_clones(&to, &points);
    as_patch_maker_free(&to.maker);
    as_vec_fini(&to.wanted);
    as_vec_fini(&to.point);
    as_vec_fini(&to.act);
    as_vec_fini(&to.called);
    as_vec_fini(&to.first_called);
    return rc;
}
