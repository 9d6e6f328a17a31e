/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns probe sites into plans for the agent. Entries, exits and back edges of loops need clones
 * that time every instance. Times of functions and values need points in clones (points.c). All
 * other events need counters in the blocks of the function.
 */
#include "mil/plan.h"

#include <string.h>

#include "agent/inject/inject.h"
#include "base/alloc.h"
#include "base/error.h"
#include "mil/probe.h"

bool as_probe_is_timed(enum as_probe_event event)
{
    return event >= AS_PROBE_LOOP && event <= AS_PROBE_LOOP_BACK;
}

bool as_probe_is_whole(enum as_probe_event event)
{
    return event <= AS_PROBE_PROGRAM_EXIT;
}

static enum as_probe_event event_of(const struct as_probes *probes,
                                    const struct as_probe_site *site)
{
    return probes->probe.at[site->probe].event;
}

/* ---- Requested code -------------------------------------------------------------------------- */

static int make_lists(const struct as_program *p, struct as_probe_plan *plan, struct as_error *err)
{
    plan->timed = as_calloc(p->loop_n + 1, sizeof *plan->timed);
    plan->verdict = as_calloc(p->loop_n + 1, sizeof *plan->verdict);
    plan->body_verdict = as_calloc(p->loop_n + 1, sizeof *plan->body_verdict);
    plan->counted = as_calloc(p->body_n + 1, sizeof *plan->counted);
    plan->refusal = as_calloc(p->body_n + 1, sizeof *plan->refusal);
    plan->probed = as_calloc(p->body_n + 1, sizeof *plan->probed);
    plan->probed_body_verdict = as_calloc(p->loop_n + 1, sizeof *plan->probed_body_verdict);
    plan->probed_refusal = as_calloc(p->body_n + 1, sizeof *plan->probed_refusal);
    return plan->timed && plan->verdict && plan->body_verdict && plan->counted && plan->refusal &&
                   plan->probed && plan->probed_body_verdict && plan->probed_refusal
               ? 0
               : as_error_nomem(err, "a plan");
}

static bool is_counted(const struct as_probes *probes, const struct as_probe_site *site)
{
    return probes->probe.at[site->probe].actions & AS_PROBE_COUNT;
}

bool as_probe_has_points(const struct as_probes *probes, const struct as_probe_site *site)
{
    const unsigned actions = probes->probe.at[site->probe].actions;
    return actions & (AS_PROBE_RECORD | AS_PROBE_CALL) ||
           (actions & AS_PROBE_TIME && event_of(probes, site) == AS_PROBE_FUNCTION);
}

static void want_sites(const struct as_probes *probes, const struct as_probe_sites *sites,
                       struct as_probe_plan *plan)
{
    for (size_t i = 0; i < sites->n; i++) {
        const struct as_probe_site *site = &sites->at[i];
        const enum as_probe_event event = event_of(probes, site);
        if (site->refusal || as_probe_is_whole(event))
            continue;
        if (as_probe_is_timed(event)) {
            plan->timed[site->loop] = true;
            continue;
        }
        plan->counted[site->body] |= is_counted(probes, site);
        plan->probed[site->body] |= as_probe_has_points(probes, site);
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static bool has_any(const bool *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i])
            return true;
    return false;
}

int as_probe_take_bytes(struct as_patch_maker *maker, uint8_t **bytes, size_t *n,
                        struct as_error *err)
{
    AS_TRY(as_patch_maker_bytes(maker, bytes, n, err));
    if (((const struct as_patch_plan *)(const void *)*bytes)->region.n)
        return 0;
    as_free(*bytes);
    *bytes = NULL;
    return 0;
}

static int plan_times(const struct as_program *p, struct as_probe_plan *plan, struct as_error *err)
{
    const struct as_patch_wish wish = {.mode = AS_PATCH_TIME, .period = 1, .kept = 64};
    struct as_patch_maker *maker = NULL;
    if (!has_any(plan->timed, p->loop_n))
        return 0;
    int rc = as_patch_maker_new(&wish, &maker, err);
    if (rc == 0)
        rc = as_patch_maker_add(maker, p, plan->timed, plan->verdict, err);
    if (rc == 0)
        rc = as_probe_take_bytes(maker, &plan->times, &plan->times_n, err);
    as_patch_maker_free(&maker);
    return rc;
}

/* Plans counters. If a body cannot be cloned as a whole, its loops are cloned one by one. */
static int plan_counts(const struct as_program *p, struct as_probe_plan *plan, struct as_error *err)
{
    const struct as_patch_wish wish = {.mode = AS_PATCH_COUNT};
    const struct as_patch_bodies bodies = {plan->counted, plan->refusal};
    struct as_patch_maker *maker = NULL;
    if (!has_any(plan->counted, p->body_n))
        return 0;
    bool *loops = as_calloc(p->loop_n + 1, sizeof *loops);
    int rc = loops ? as_patch_maker_new(&wish, &maker, err) : as_error_nomem(err, "a plan");
    for (size_t l = 0; rc == 0 && l < p->loop_n; l++)
        loops[l] = plan->counted[p->loop[l].body];
    if (rc == 0)
        rc = as_patch_maker_add_bodies(maker, p, &bodies, loops, plan->body_verdict, err);
    if (rc == 0)
        rc = as_probe_take_bytes(maker, &plan->counts, &plan->counts_n, err);
    as_patch_maker_free(&maker);
    as_free(loops);
    return rc;
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static bool is_function(enum as_probe_event event)
{
    return event >= AS_PROBE_FUNCTION && event <= AS_PROBE_FUNCTION_EXIT;
}

/* Returns NULL if the site is in a clone, else the reason. Unless `whole` is set, the clone of a
 * surrounding loop suffices. */
static const char *why_not_cloned(const struct as_program *p, const uint8_t *refusal,
                                  const struct as_patch_verdict *body_verdict,
                                  const struct as_probe_site *site, bool whole)
{
    if (!refusal[site->body])
        return NULL;
    for (uint32_t l = p->block[site->block].loop; !whole && l != AS_NONE; l = p->loop[l].parent)
        if (body_verdict[l].loop != AS_NONE && !body_verdict[l].refusal)
            return NULL;
    return as_patch_refusal_text(refusal[site->body]);
}

/* Returns why neither block counters nor points can observe the event, or NULL if they can. */
static const char *why_not_seen(const struct as_program *p, enum as_probe_event event, bool timed,
                                const struct as_probe_site *site)
{
    const struct as_body *body = &p->body[site->body];
    if (event == AS_PROBE_FUNCTION_EXIT || timed)
        for (uint32_t b = body->first_block; b < body->first_block + body->blocks; b++)
            if (p->block[b].bits & AS_BLOCK_TAILCALL && p->block[b].succs)
                return "it is left by a branch to another function";
    return (event == AS_PROBE_FUNCTION || event == AS_PROBE_FUNCTION_ENTRY) &&
                   p->block[site->block].preds
               ? "its entry is also the header of a loop"
               : NULL;
}

/* Returns why block counters alone cannot count the event, or NULL if they can. */
static const char *uncountable_reason(const struct as_program *p, enum as_probe_event event,
                                      const struct as_probe_site *site)
{
    if (event != AS_PROBE_CALL_AFTER)
        return NULL;
    const struct as_block *b = &p->block[site->block];
    const size_t call = as_code_find(&p->code, site->address);
    if (call + 1 < (size_t)b->first_insn + b->insns)
        return NULL;
    return b->succs != 1 || p->block[p->succ[b->first_succ].block].preds != 1
               ? "other paths lead to the return address of the call"
               : NULL;
}

static const char *why_not_at(const struct as_probes *probes, const struct as_program *p,
                              const struct as_probe_plan *plan, const struct as_probe_site *site)
{
    const enum as_probe_event event = event_of(probes, site);
    const bool points = as_probe_has_points(probes, site);
    const bool timed = points && probes->probe.at[site->probe].actions & AS_PROBE_TIME;
    const char *why = NULL;
    if (points)
        why = why_not_cloned(p, plan->probed_refusal, plan->probed_body_verdict, site,
                             is_function(event));
    if (!why && is_counted(probes, site))
        why = why_not_cloned(p, plan->refusal, plan->body_verdict, site, false);
    if (!why)
        why = why_not_seen(p, event, timed, site);
    return why || !is_counted(probes, site) ? why : uncountable_reason(p, event, site);
}

static void refuse_sites(const struct as_probes *probes, const struct as_program *p,
                         const struct as_probe_plan *plan, struct as_probe_sites *sites)
{
    for (size_t i = 0; i < sites->n; i++) {
        struct as_probe_site *site = &sites->at[i];
        const enum as_probe_event event = event_of(probes, site);
        if (site->refusal || as_probe_is_whole(event))
            continue;
        if (!as_probe_is_timed(event))
            site->refusal = why_not_at(probes, p, plan, site);
        else if (plan->verdict[site->loop].refusal)
            site->refusal = as_patch_refusal_text(plan->verdict[site->loop].refusal);
    }
}

/* Refuses points in static programs and those with another C library than GNU's. The agent for
 * such programs can neither load libraries nor use thread-local storage. */
static void refuse_points_of_bare(const struct as_probes *probes, const struct as_program *p,
                                  struct as_probe_sites *sites)
{
    const struct as_object_info *info = as_object_info(p->object);
    const bool takes = (info->interpreter && strstr(info->interpreter, AS_LOADER_PRELOADS)) ||
                       info->type == AS_OBJECT_SHARED;
    for (size_t i = 0; !takes && i < sites->n; i++)
        if (as_probe_has_points(probes, &sites->at[i]))
            sites->at[i].refusal =
                "the agent library cannot be loaded (the program is statically linked, or uses "
                "another C library); use count";
}

/* ---- Functions of the room ------------------------------------------------------------------- */

int as_probe_plan_make(const struct as_probes *probes, const struct as_program *program,
                       struct as_probe_sites *sites, struct as_probe_plan *out,
                       struct as_error *err)
{
    *out = (struct as_probe_plan){0};
    int rc = make_lists(program, out, err);
    if (rc == 0) {
        refuse_points_of_bare(probes, program, sites);
        want_sites(probes, sites, out);
        rc = plan_times(program, out, err);
    }
    if (rc == 0)
        rc = plan_counts(program, out, err);
    if (rc == 0)
        rc = as_probe_plan_points(probes, program, sites, out, err);
    if (rc == 0)
        refuse_sites(probes, program, out, sites);
    else
        as_probe_plan_fini(out);
    return rc;
}

void as_probe_plan_fini(struct as_probe_plan *plan)
{
    as_free(plan->timed);
    as_free(plan->counted);
    as_free(plan->verdict);
    as_free(plan->body_verdict);
    as_free(plan->refusal);
    as_free(plan->times);
    as_free(plan->counts);
    as_free(plan->probed);
    as_free(plan->probed_body_verdict);
    as_free(plan->probed_refusal);
    as_free(plan->place);
    as_free(plan->points);
    *plan = (struct as_probe_plan){0};
}

int as_probes_check(const struct as_probes *probes, const struct as_program *program,
                    struct as_probe_sites *sites, struct as_error *err)
{
    struct as_probe_plan plan;
    AS_TRY(as_probe_plan_make(probes, program, sites, &plan, err));
    as_probe_plan_fini(&plan);
    return 0;
}
