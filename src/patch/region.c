/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans one region of a module: the loops that are measured in it, its clones, and its rows in the
 * plan's tables. A refused region leaves no rows.
 */
#include "patch/internal.h"
#include "patch/variant.h"

#include <string.h>

struct as_patch_mark as_patch_mark_of(const struct as_patch_maker *m)
{
    return (struct as_patch_mark){m->region.n,
                                  m->loop.n,
                                  m->exit.n,
                                  m->edge.n,
                                  m->event.n,
                                  m->site.n,
                                  m->reloc.n,
                                  m->span.n,
                                  m->counter.n,
                                  m->term.n,
                                  m->variant.n,
                                  m->stream.n,
                                  m->code.n,
                                  m->addresses.record.n,
                                  m->addresses.operand.n,
                                  m->addresses.missed.n};
}

void as_patch_go_back(struct as_patch_maker *m, const struct as_patch_mark *to)
{
    m->region.n = to->region;
    m->loop.n = to->loop;
    m->exit.n = to->exit;
    m->edge.n = to->edge;
    m->event.n = to->event;
    m->site.n = to->site;
    m->reloc.n = to->reloc;
    m->span.n = to->span;
    m->counter.n = to->counter;
    m->term.n = to->term;
    m->variant.n = to->variant;
    m->stream.n = to->stream;
    m->code.n = to->code;
    m->addresses.record.n = to->address_record;
    m->addresses.operand.n = to->address_operand;
    m->addresses.missed.n = to->address_missed;
}

struct inners {
    AS_VEC(struct as_patch_inner) at;
    uint8_t unvaried[AS_VARIANT_KINDS]; /* VARY */
    struct as_patch_slice slice;
};

/* Returns true if `loop` is `outer` or inside of it; AS_NONE means the body. */
static bool is_inside(const struct as_program *p, uint32_t outer, uint32_t loop)
{
    while (loop != AS_NONE && loop != outer)
        loop = p->loop[loop].parent;
    return loop == outer;
}

static int add_loop(struct as_patch_maker *m, struct as_patch_code *code, uint32_t loop,
                    struct inners *inners)
{
    const struct as_program *p = code->program;
    struct as_patch_inner it = {
        loop, (uint32_t)m->loop.n, {.reg = AS_PATCH_NONE}, AS_PATCH_NONE, false};
    const bool timed = m->wish.mode == AS_PATCH_TIME || m->wish.mode == AS_PATCH_SAMPLE;
    uint32_t taken = 0;
    if (!as_patch_has_entries(p, loop)) /* with other entries steps are not trips */
        it.induction = as_patch_induction_find(p, loop);
    as_vec_foreach (&inners->at, outer) {
        if (outer->tally != AS_PATCH_NONE && is_inside(p, outer->loop, loop))
            taken |= 1u << outer->tally;
    }
    if (timed && it.induction.reg == AS_PATCH_NONE)
        AS_TRY(as_patch_tally_find(code, loop, taken, &it.tally));
    it.counts = timed && it.induction.reg == AS_PATCH_NONE && it.tally == AS_PATCH_NONE;
    struct as_patch_loop planned = {.header = p->block[p->loop[loop].header].start,
                                    .step = it.induction.step,
                                    .number = loop,
                                    .region = (uint32_t)m->region.n,
                                    .induction = it.induction.reg,
                                    .induction_b = it.induction.width_b,
                                    .tally = it.tally,
                                    .counter = it.counts ? (uint32_t)m->counter.n : UINT32_MAX};
    if (it.counts)
        AS_TRY(as_vec_push(&m->counter,
                           (struct as_patch_counter){.address = planned.header,
                                                     .loop = (uint32_t)m->loop.n,
                                                     .module = (uint32_t)m->module.n - 1}));
    AS_TRY(as_vec_push(&m->loop, planned));
    return as_vec_push(&inners->at, it);
}

/* Adds the wanted loops of the region, itself included. Loop numbers ascend from outer to inner. */
static int add_loops(struct as_patch_maker *m, const struct as_patch_area *area,
                     struct inners *inners)
{
    struct as_patch_code *code = area->code;
    const struct as_program *p = code->program;
    const struct as_body *body = &p->body[area->body];
    for (uint32_t l = body->first_loop; !area->bare && l < body->first_loop + body->loops; l++) {
        if (as_patch_is_wanted(code, l) &&
            (code->varies ? l == area->loop : is_inside(p, area->loop, l)) &&
            !(p->loop[l].bits & AS_LOOP_UNREACHED))
            AS_TRY(add_loop(m, code, l, inners));
    }
    return 0;
}

static int copy_original(const struct as_program *p, uint64_t address, uint8_t out[8])
{
    uint64_t have_b;
    const uint8_t *bytes = as_object_bytes(p->object, address, &have_b);
    if (!bytes || have_b < 8)
        return -1;
    memcpy(out, bytes, 8);
    return 0;
}

static int copy_place(const struct as_program *p, uint64_t address, int32_t hop,
                      uint8_t original[8], uint8_t hole[8])
{
    if (copy_original(p, address, original) < 0)
        return -1;
    return hop ? copy_original(p, as_patch_jump_at(address, hop), hole) : 0;
}

/* Adds the exits of the region's loops, grouped by loop. */
static int add_exits(struct as_patch_maker *m, size_t first_loop)
{
    for (size_t l = first_loop; l < m->loop.n; l++) {
        m->loop.at[l].first_exit = (uint32_t)m->exit.n;
        as_vec_foreach (&m->pending, it)
            if (it->loop == l)
                AS_TRY(as_vec_push(&m->exit, it->exit));
    }
    return 0;
}

/* Returns true if a jump covers code that is a target inside the region. A thread that still runs
 * the original must not reach such code. A target at a patch site itself reaches
 * the jump's start. */
static bool has_spill(const struct as_patch_area *area)
{
    as_vec_foreach (&area->place, place) {
        const uint32_t block = as_patch_block_at(area->code, place->address);
        for (uint64_t a = place->address + 1; a < place->address + AS_PATCH_JUMP_B; a++) {
            const uint32_t meets = as_patch_block_at(area->code, a);
            if (place->hop || (meets != block && meets != AS_NONE))
                return true;
        }
    }
    return false;
}

struct offsets {
    uint32_t *plain, *measured; /* per entry of the area */
};

static int add_sites(struct as_patch_maker *m, const struct as_patch_area *area,
                     const struct offsets *at, unsigned *refusal)
{
    for (size_t i = 1; i < area->place.n; i++) {
        struct as_patch_site site = {.address = area->place.at[i].address,
                                     .plain = at->plain[i],
                                     .measured = at->measured[i],
                                     .hop = area->place.at[i].hop};
        if (copy_place(area->code->program, site.address, site.hop, site.original, site.hole) < 0)
            *refusal = area->place.at[i].why;
        AS_TRY(as_vec_push(&m->site, site));
    }
    return 0;
}

static int clone_both(struct as_patch_maker *m, const struct as_patch_area *area,
                      const struct inners *inners, struct as_patch_region *region,
                      const struct offsets *at, unsigned *refusal)
{
    struct as_patch_clone clone = {.maker = m,
                                   .area = area,
                                   .inner = inners->at.at,
                                   .inners = (uint32_t)inners->at.n,
                                   .region = (uint32_t)m->region.n,
                                   .slice = inners->slice};
    if (m->wish.mode == AS_PATCH_IDENT || m->wish.mode == AS_PATCH_SAMPLE ||
        m->wish.mode == AS_PATCH_VARY)
        AS_TRY(as_patch_clone_make(&clone, &region->plain, at->plain, refusal));
    clone.measured = true;
    if (!*refusal && m->wish.mode != AS_PATCH_IDENT)
        AS_TRY(as_patch_clone_make(&clone, &region->measured, at->measured, refusal));
    return 0;
}

static int add_region(struct as_patch_maker *m, const struct as_patch_area *area,
                      struct inners *inners, const struct offsets *at, unsigned *refusal)
{
    const struct as_program *p = area->code->program;
    struct as_patch_region region = {.header = area->place.at[0].address,
                                     .hop = area->place.at[0].hop,
                                     .module = (uint32_t)m->module.n - 1,
                                     .first_loop = (uint32_t)m->loop.n,
                                     .first_edge = (uint32_t)m->edge.n,
                                     .first_site = (uint32_t)m->site.n};
    m->pending.n = 0;
    AS_TRY(add_loops(m, area, inners));
    AS_TRY(as_live_find(area->code, area->body));
    region.free = as_live_free(as_live_at(area->code, area->header) |
                               (inners->at.n ? as_patch_kept(&inners->at.at[0]) : 0));
    inners->slice =
        m->wish.slices ? as_patch_slice_find(area) : (struct as_patch_slice){.reg = AS_PATCH_NONE};
    region.slice_reg = inners->slice.reg;
    region.slice_b = inners->slice.width_b;
    region.slice_step = inners->slice.step;
    AS_TRY(clone_both(m, area, inners, &region, at, refusal));
    if (copy_place(p, region.header, region.hop, region.original, region.hole) < 0)
        *refusal = AS_PATCH_REFUSED_NARROW;
    if (!*refusal && m->wish.mode == AS_PATCH_VARY)
        AS_TRY(as_variant_region(m, area, &inners->slice, &region, inners->unvaried, refusal));
    if (*refusal)
        return 0;
    AS_TRY(add_exits(m, region.first_loop));
    AS_TRY(add_sites(m, area, at, refusal));
    region.loops = (uint32_t)m->loop.n - region.first_loop;
    region.enters = inners->at.n && inners->at.at[0].loop == area->loop;
    region.spills = has_spill(area);
    region.edges = (uint32_t)m->edge.n - region.first_edge;
    region.sites = (uint32_t)m->site.n - region.first_site;
    return as_vec_push(&m->region, region);
}

static int try_area(struct as_patch_maker *m, struct as_patch_area *area, struct inners *inners,
                    unsigned *refusal)
{
    const size_t n = area->place.n + 1;
    struct offsets at = {as_calloc(n, sizeof(uint32_t)), as_calloc(n, sizeof(uint32_t))};
    int rc = at.plain && at.measured ? add_region(m, area, inners, &at, refusal) : AS_ERR_NOMEM;
    as_free(at.plain);
    as_free(at.measured);
    return rc;
}

int as_patch_region_try(struct as_patch_maker *m, struct as_patch_code *code, uint32_t body,
                        uint32_t loop, struct as_patch_verdict *verdict, unsigned *refusal)
{
    struct as_patch_area area;
    struct inners inners = {0};
    const struct as_patch_mark before = as_patch_mark_of(m);
    *refusal = 0;
    int rc = loop == AS_NONE ? as_patch_area_make_body(code, body, &area, refusal)
                             : as_patch_area_make(code, loop, &area, refusal);
    area.bare = code->bare;
    if (rc == 0 && !*refusal)
        rc = try_area(m, &area, &inners, refusal);
    if (*refusal || rc < 0)
        as_patch_go_back(m, &before);
    else if (verdict)
        as_vec_foreach (&inners.at, it)
            verdict[it->loop] = (struct as_patch_verdict){.asked = true,
                                                          .loop = it->number,
                                                          .induction = it->induction.reg,
                                                          .tally = it->tally,
                                                          .counts = it->counts};
    if (verdict && loop != AS_NONE)
        memcpy(verdict[loop].unvaried, inners.unvaried, sizeof inners.unvaried);
    as_vec_fini(&inners.at);
    as_patch_area_fini(&area);
    return rc;
}
