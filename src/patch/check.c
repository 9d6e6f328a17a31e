/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a plan: every table, index and offset must be inside of it. The agent contains this code,
 * so it calls no function.
 */
#include "patch/plan.h"
#include "patch/probe_plan.h"
#include "patch/variant_plan.h"

#define ROOM_MOST        (UINT64_C(1) << 30)
#define ADDRESSES_MOST_B (UINT32_C(1) << 28)

static bool range_fits(uint64_t first, uint64_t n, uint64_t all)
{
    return first <= all && n <= all - first;
}

static bool table_fits(const struct as_patch_table *t, uint64_t each_b, uint64_t size_b)
{
    return t->at % 8 == 0 && t->at <= size_b && t->n <= (size_b - t->at) / each_b;
}

static bool tables_fit(const struct as_patch_plan *p)
{
    const struct {
        const struct as_patch_table *table;
        uint64_t each_b;
    } all[] = {
        {&p->module, sizeof(struct as_patch_module)},
        {&p->region, sizeof(struct as_patch_region)},
        {&p->loop, sizeof(struct as_patch_loop)},
        {&p->exit, sizeof(struct as_patch_exit)},
        {&p->edge, sizeof(struct as_patch_edge)},
        {&p->event, sizeof(struct as_patch_event)},
        {&p->site, sizeof(struct as_patch_site)},
        {&p->reloc, sizeof(struct as_patch_reloc)},
        {&p->span, sizeof(struct as_patch_span)},
        {&p->counter, sizeof(struct as_patch_counter)},
        {&p->term, sizeof(struct as_patch_term)},
        {&p->variant, sizeof(struct as_patch_variant)},
        {&p->stream, sizeof(struct as_patch_stream)},
        {&p->point, sizeof(struct as_patch_point)},
        {&p->act, sizeof(struct as_patch_act)},
        {&p->called, sizeof(struct as_patch_called)},
        {&p->code, 1},
        {&p->text, 1},
    };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        if (!table_fits(all[i].table, all[i].each_b, p->size_b))
            return false;
    }
    return true;
}

static bool modules_fit(const struct as_patch_plan *p)
{
    const struct as_patch_module *module = as_patch_at(p, &p->module);
    const char *text = as_patch_at(p, &p->text);
    if (p->module.n && (p->text.n == 0 || text[p->text.n - 1]))
        return false;
    for (uint64_t i = 0; i < p->module.n; i++) {
        if (module[i].build_id_b > sizeof module[i].build_id || module[i].path >= p->text.n ||
            module[i].low > module[i].high ||
            !range_fits(module[i].first_region, module[i].regions, p->region.n))
            return false;
    }
    return true;
}

static bool relocs_fit(const struct as_patch_plan *p, const struct as_patch_region *region,
                       const struct as_patch_template *t)
{
    const struct as_patch_reloc *reloc = as_patch_at(p, &p->reloc);
    for (uint64_t i = t->first_reloc; i < (uint64_t)t->first_reloc + t->relocs; i++) {
        if (!range_fits(reloc[i].at, 4, t->size_b) || reloc[i].kind > AS_PATCH_TO_ADDRESSES ||
            (reloc[i].kind == AS_PATCH_TO_EDGE &&
             (reloc[i].value < region->first_edge ||
              reloc[i].value - region->first_edge >= region->edges)) ||
            (reloc[i].kind == AS_PATCH_TO_LIMIT && reloc[i].value >= p->region.n) ||
            (reloc[i].kind == AS_PATCH_TO_ADDRESSES &&
             (reloc[i].value > sizeof(struct as_patch_thread) - 8 || p->addresses_b == 0)) ||
            (reloc[i].kind == AS_PATCH_TO_COUNTER && reloc[i].value >= p->counter.n))
            return false;
    }
    return true;
}

static bool template_fits(const struct as_patch_plan *p, const struct as_patch_region *region,
                          const struct as_patch_template *t, bool needed)
{
    const struct as_patch_span *span = as_patch_at(p, &p->span);
    if (t->size_b == 0)
        return !needed && t->relocs == 0 && t->spans == 0;
    if (!range_fits(t->code, t->size_b, p->code.n) || t->header >= t->size_b ||
        !range_fits(t->first_reloc, t->relocs, p->reloc.n) ||
        !range_fits(t->first_span, t->spans, p->span.n))
        return false;
    for (uint64_t i = t->first_span; i < (uint64_t)t->first_span + t->spans; i++) {
        if (!range_fits(span[i].at, span[i].size_b, t->size_b))
            return false;
    }
    return relocs_fit(p, region, t);
}

static bool register_fits(unsigned reg)
{
    return reg == AS_PATCH_NONE || reg < 16;
}

/* Returns true for a register that the agent may read at the end of a variant: all except rax, rdx
 * and rsp. */
static bool own_register_fits(unsigned reg)
{
    return reg == AS_PATCH_NONE || (reg < 16 && reg != 0 && reg != 2 && reg != 4);
}

static bool slice_fits(const struct as_patch_region *region)
{
    return region->slice_reg == AS_PATCH_NONE ||
           (region->slice_reg < 16 && (region->slice_b == 4 || region->slice_b == 8) &&
            region->slice_step != 0 && region->slice_step >= INT32_MIN &&
            region->slice_step <= INT32_MAX);
}

static bool streams_fit(const struct as_patch_plan *p, const struct as_patch_region *region)
{
    const struct as_patch_stream *stream = as_patch_at(p, &p->stream);
    if (region->slots > AS_VARIANT_FRAME_MOST ||
        !range_fits(region->first_stream, (uint64_t)region->streams + region->slots, p->stream.n))
        return false;
    stream += region->first_stream;
    for (uint32_t i = region->streams; i < region->streams + region->slots; i++)
        if ((stream[i].of_module ? stream[i].base != AS_PATCH_NONE : stream[i].base > 15) ||
            stream[i].index != AS_PATCH_NONE || stream[i].width_b > AS_VARIANT_FRAME_B)
            return false;
    for (uint32_t i = 0; i < region->streams; i++)
        if (!register_fits(stream[i].base) || !register_fits(stream[i].index) ||
            stream[i].width_b == 0 || stream[i].width_b > AS_PATCH_STREAM_MOST_B ||
            stream[i].step < INT32_MIN || stream[i].step > INT32_MAX)
            return false;
    return true;
}

static bool variants_fit(const struct as_patch_plan *p, const struct as_patch_region *region)
{
    const struct as_patch_variant *variant = as_patch_at(p, &p->variant);
    if (!range_fits(region->first_variant, region->variants, p->variant.n))
        return false;
    variant += region->first_variant;
    if (p->mode == AS_PATCH_VARY &&
        (region->variants == 0 || variant[0].kind != AS_VARIANT_REC || region->sites))
        return false;
    for (uint32_t i = 0; i < region->variants; i++)
        if (variant[i].kind >= AS_VARIANT_KINDS || (i && variant[i].kind == AS_VARIANT_REC) ||
            variant[i].enter >= variant[i].code.size_b || !own_register_fits(variant[i].tally) ||
            !own_register_fits(variant[i].log) || !template_fits(p, region, &variant[i].code, true))
            return false;
    return true;
}

static bool edges_fit(const struct as_patch_plan *p, const struct as_patch_region *region)
{
    const struct as_patch_edge *edge = as_patch_at(p, &p->edge);
    const struct as_patch_event *event = as_patch_at(p, &p->event);
    const struct as_patch_loop *loop = as_patch_at(p, &p->loop);
    for (uint64_t i = region->first_edge; i < (uint64_t)region->first_edge + region->edges; i++) {
        if (!range_fits(edge[i].first_event, edge[i].events, p->event.n) ||
            (edge[i].inside && edge[i].target >= region->measured.size_b))
            return false;
        for (uint64_t k = edge[i].first_event; k < (uint64_t)edge[i].first_event + edge[i].events;
             k++) {
            if (event[k].loop < region->first_loop ||
                event[k].loop - region->first_loop >= region->loops ||
                (event[k].kind == AS_PATCH_LEAVE && event[k].exit >= loop[event[k].loop].exits))
                return false;
        }
    }
    return true;
}

/* Returns true if the bytes of the jump, and of the hole of a short jump, are inside the module. */
static bool place_fits(const struct as_patch_module *module, uint64_t address, int32_t hop)
{
    const uint64_t jump = as_patch_jump_at(address, hop);
    return address >= module->low && address < module->high && module->high - address >= 8 &&
           jump >= module->low && jump < module->high && module->high - jump >= 8 && hop >= -128 &&
           hop <= 127 && (hop >= 0 || hop <= -(int32_t)(AS_PATCH_HOP_B + AS_PATCH_JUMP_B));
}

static bool sites_fit(const struct as_patch_plan *p, const struct as_patch_region *region,
                      const struct as_patch_module *module)
{
    const struct as_patch_site *site = as_patch_at(p, &p->site);
    for (uint64_t i = region->first_site; i < (uint64_t)region->first_site + region->sites; i++) {
        if (!place_fits(module, site[i].address, site[i].hop) ||
            (region->plain.size_b && site[i].plain >= region->plain.size_b) ||
            (region->measured.size_b && site[i].measured >= region->measured.size_b))
            return false;
    }
    return true;
}

static bool region_fits(const struct as_patch_plan *p, const struct as_patch_region *region)
{
    const struct as_patch_module *module = as_patch_at(p, &p->module);
    if (region->module >= p->module.n ||
        (region->loops == 0 &&
         ((p->mode != AS_PATCH_COUNT && p->mode != AS_PATCH_PROBE) || region->enters)) ||
        !range_fits(region->first_loop, region->loops, p->loop.n) ||
        !range_fits(region->first_edge, region->edges, p->edge.n) ||
        !range_fits(region->first_site, region->sites, p->site.n))
        return false;
    module += region->module;
    return place_fits(module, region->header, region->hop) &&
           template_fits(p, region, &region->plain,
                         p->mode == AS_PATCH_IDENT || p->mode == AS_PATCH_SAMPLE ||
                             p->mode == AS_PATCH_VARY) &&
           template_fits(p, region, &region->measured, p->mode != AS_PATCH_IDENT) &&
           variants_fit(p, region) && streams_fit(p, region) && slice_fits(region) &&
           edges_fit(p, region) && sites_fit(p, region, module);
}

static bool loops_fit(const struct as_patch_plan *p)
{
    const struct as_patch_loop *loop = as_patch_at(p, &p->loop);
    for (uint64_t i = 0; i < p->loop.n; i++) {
        if (loop[i].region >= p->region.n ||
            !range_fits(loop[i].first_exit, loop[i].exits, p->exit.n) ||
            (loop[i].induction != AS_PATCH_NONE &&
             (loop[i].induction > 15 || loop[i].induction == 4)) ||
            (loop[i].tally != AS_PATCH_NONE && (loop[i].tally > 15 || loop[i].tally == 4)) ||
            (loop[i].counter != UINT32_MAX && loop[i].counter >= p->counter.n))
            return false;
    }
    return true;
}

static bool terms_fit(const struct as_patch_plan *p)
{
    const struct as_patch_term *term = as_patch_at(p, &p->term);
    for (uint64_t i = 0; i < p->term.n; i++)
        if (term[i].to >= p->counter.n || term[i].from >= p->counter.n)
            return false;
    return true;
}

static bool act_fits(const struct as_patch_plan *p, const struct as_patch_act *act)
{
    if (act->kind >= AS_PATCH_ACT_KINDS || act->place >= p->act.n)
        return false;
    if (act->kind == AS_PATCH_ACT_CALLS)
        return act->called < p->called.n;
    return act->kind != AS_PATCH_ACT_KEEPS ||
           (act->source < AS_PATCH_SOURCES && act->type < AS_PATCH_TYPES && act->reg < 16 &&
            register_fits(act->base) && register_fits(act->index));
}

/* Checks the tables of PROBE. Each place is a number below the number of acts. */
static bool points_fit(const struct as_patch_plan *p)
{
    const struct as_patch_point *point = as_patch_at(p, &p->point);
    const struct as_patch_act *act = as_patch_at(p, &p->act);
    const struct as_patch_called *called = as_patch_at(p, &p->called);
    const char *text = as_patch_at(p, &p->text);
    for (uint64_t i = 0; i < p->point.n; i++)
        if (!range_fits(point[i].first_act, point[i].acts, p->act.n))
            return false;
    for (uint64_t i = 0; i < p->act.n; i++)
        if (!act_fits(p, &act[i]))
            return false;
    for (uint64_t i = 0; i < p->called.n; i++)
        if (p->text.n == 0 || text[p->text.n - 1] || called[i].library >= p->text.n ||
            called[i].function >= p->text.n || called[i].probe >= p->text.n)
            return false;
    return true;
}

const char *as_patch_plan_check(const void *plan, uint64_t n)
{
    const struct as_patch_plan *p = plan;
    if (n < sizeof *p || p->magic != AS_PATCH_MAGIC)
        return "is no plan";
    if (p->version != AS_PATCH_VERSION)
        return "is a plan of another version";
    if (p->size_b != n || p->mode > AS_PATCH_PROBE || !tables_fit(p))
        return "is truncated or damaged";
    if (p->loop.n + p->counter.n + p->kept + p->paths_b / sizeof(struct as_patch_record) >
            ROOM_MOST / sizeof(struct as_patch_record) ||
        p->paths_b % 8 || p->addresses_b % 16 || p->addresses_b > ADDRESSES_MOST_B ||
        (p->addresses_b && p->addresses_b < 4 * AS_PATCH_ADDRESSES_MARGIN_B))
        return "asks for too much memory";
    if (!modules_fit(p) || !loops_fit(p) || !terms_fit(p) || !points_fit(p))
        return "is damaged";
    const struct as_patch_region *region = as_patch_at(p, &p->region);
    for (uint64_t i = 0; i < p->region.n; i++) {
        if (!region_fits(p, &region[i]))
            return "has a damaged region";
    }
    return (void *)0;
}
