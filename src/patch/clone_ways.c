/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the ways of control inside, out of and into a clone. Each way has the loops that control
 * leaves and enters on it. A way that does not simply lead to a block of the clone gets an island.
 */
#include "patch/clone.h"

/* ---- Ways ----------------------------------------------------------------------------------- */

static int add_event(struct as_clone_assembly *a, struct as_patch_edge *edge, uint32_t inner,
                     unsigned kind, uint32_t from, uint64_t target)
{
    struct as_patch_maker *m = a->clone->maker;
    const struct as_patch_inner *it = &a->clone->inner[inner];
    struct as_patch_event event = {it->number, 0, (uint16_t)kind};
    if (kind == AS_PATCH_LEAVE) {
        struct as_patch_loop *loop = &m->loop.at[it->number];
        struct as_patch_pending leave = {it->number, {target, 0}};
        int add = it->induction.reg == AS_PATCH_NONE
                      ? 0
                      : as_patch_induction_add(a->p, it->loop, &it->induction, from);
        if (loop->exits == UINT16_MAX)
            return AS_ERR_NOMEM;
        event.exit = (uint16_t)loop->exits++;
        leave.exit.add = add < 0 ? UINT64_MAX : (uint64_t)add;
        AS_TRY(as_vec_push(&m->pending, leave));
    }
    AS_TRY(as_vec_push(&m->event, event));
    edge->events++;
    return 0;
}

static bool is_block_of_loop(const struct as_clone_assembly *a, uint32_t loop, uint32_t block)
{
    return block != AS_NONE && as_loop_holds(a->p, loop, block);
}

/* A target that is unknown counts as if everything is live. */
uint32_t as_clone_live(const struct as_clone_assembly *a, uint64_t target)
{
    const struct as_patch_code *code = a->clone->area->code;
    const uint32_t block = as_patch_block_at(code, target);
    return block != AS_NONE && a->p->block[block].start == target &&
                   a->p->block[block].body == code->live_body
               ? as_live_at(code, block)
               : AS_LIVE_ALL;
}

/* Adds the events between blocks `from` and `to`; AS_NONE means outside. Inner loops are left
 * before outer ones. Then outer loops are entered before inner ones. */
static int add_events(struct as_clone_assembly *a, uint32_t from, uint32_t to, uint64_t target,
                      struct as_patch_edge *edge)
{
    const struct as_patch_clone *c = a->clone;
    uint32_t live = as_clone_live(a, target);
    edge->first_event = (uint32_t)c->maker->event.n;
    for (uint32_t i = c->inners; i-- > 0;) {
        if (is_block_of_loop(a, c->inner[i].loop, from) &&
            !is_block_of_loop(a, c->inner[i].loop, to))
            AS_TRY(add_event(a, edge, i, AS_PATCH_LEAVE, from, target));
    }
    for (uint32_t i = 0; i < c->inners; i++) {
        if (is_block_of_loop(a, c->inner[i].loop, to) &&
            !is_block_of_loop(a, c->inner[i].loop, from))
            AS_TRY(add_event(a, edge, i, AS_PATCH_ENTER, from, target));
    }
    for (uint32_t i = 0; i < c->inners; i++) {
        if (is_block_of_loop(a, c->inner[i].loop, from) ||
            is_block_of_loop(a, c->inner[i].loop, to))
            live |= as_patch_kept(&c->inner[i]);
    }
    edge->free = as_live_free(live);
    return 0;
}

bool as_clone_is_timed(const struct as_clone_assembly *a)
{
    const enum as_patch_mode mode = a->clone->maker->wish.mode;
    return a->clone->measured && mode != AS_PATCH_COUNT && mode != AS_PATCH_PROBE;
}

int as_clone_find_way(struct as_clone_assembly *a, uint32_t from, uint64_t address, uint64_t target,
                      uint32_t *label)
{
    struct as_patch_maker *m = a->clone->maker;
    const uint32_t to = as_patch_area_find(a->clone->area, target);
    struct as_patch_edge edge = {.target = target, .inside = to != AS_NONE};
    struct as_clone_way way = {target, AS_NONE, to, 0, address, from};
    if (as_clone_is_timed(a))
        AS_TRY(add_events(a, from, to == AS_NONE ? to : a->clone->area->block[to], target, &edge));
    *label = to;
    if (to != AS_NONE && edge.events == 0 &&
        !as_clone_tally_borders(a, from, a->clone->area->block[to]))
        return 0;
    if (edge.events) {
        way.edge = (uint32_t)m->edge.n;
        AS_TRY(as_vec_push(&m->edge, edge));
    }
    *label = AS_CLONE_TO_WAY | (uint32_t)a->way.n;
    return as_vec_push(&a->way, way);
}

int as_clone_find_way_again(struct as_clone_assembly *a, uint32_t block, uint32_t *label)
{
    struct as_patch_maker *m = a->clone->maker;
    const uint64_t target = a->p->block[block].start;
    struct as_patch_edge edge = {.target = target};
    const struct as_clone_way way = {target, (uint32_t)m->edge.n, AS_NONE, 0, target, block};
    AS_TRY(add_events(a, block, AS_NONE, target, &edge));
    AS_TRY(as_vec_push(&m->edge, edge));
    *label = AS_CLONE_TO_WAY | (uint32_t)a->way.n;
    return as_vec_push(&a->way, way);
}

/* ---- Into the clone ----------------------------------------------------------------------- */

/* Returns true if control from `x` and `y` to any block leaves and enters the same loops.
 * AS_NONE means outside. */
static bool are_alike(const struct as_clone_assembly *a, uint32_t x, uint32_t y)
{
    for (uint32_t i = 0; i < a->clone->inners; i++)
        if (is_block_of_loop(a, a->clone->inner[i].loop, x) !=
            is_block_of_loop(a, a->clone->inner[i].loop, y))
            return false;
    return true;
}

/* Returns true if block `b` is as a target of calls and exceptions: their origins leave and enter
 * the same loops as control from `from`. */
static bool comes_back_alike(const struct as_clone_assembly *a, const struct as_block *b,
                             uint32_t from)
{
    for (uint32_t e = b->first_pred; e < b->first_pred + b->preds; e++) {
        const unsigned kind = a->p->pred[e].kind;
        if ((kind == AS_EDGE_FALL || kind == AS_EDGE_LANDING) &&
            !are_alike(a, from, a->p->pred[e].block))
            return false;
    }
    return true;
}

/* Sets `*from` to the block from which control comes to an entry; AS_NONE means outside. Sets
 * the refusal if another way to the entry needs another measurement. */
static void find_origin(struct as_clone_assembly *a, const struct as_patch_place *place,
                        uint32_t *from)
{
    const struct as_patch_area *area = a->clone->area;
    const uint32_t to = area->block[as_patch_area_find(area, place->address)];
    const struct as_block *b = &a->p->block[to];
    bool any = place->ways & AS_PATCH_WAY_ENTERS;
    *from = any ? AS_NONE : to;
    for (uint32_t e = b->first_pred; e < b->first_pred + b->preds; e++) {
        const uint32_t pred = a->p->pred[e].block;
        if (a->p->pred[e].kind != AS_EDGE_TABLE || !as_patch_area_holds(area, pred))
            continue;
        if (any && !are_alike(a, *from, pred))
            a->refusal = AS_PATCH_REFUSED_TABLE_LEAVES;
        *from = any ? *from : pred;
        any = true;
    }
    if (place->ways & AS_PATCH_WAY_RETURNS && !comes_back_alike(a, b, *from))
        a->refusal = AS_PATCH_REFUSED_DOUBTFUL;
}

/* Sets the label of each entry: an island if something is measured there. The agent itself starts
 * the instance of a region that is a loop at its header. */
int as_clone_entries(struct as_clone_assembly *a, uint32_t *label)
{
    const struct as_patch_area *area = a->clone->area;
    for (size_t i = 0; i < area->place.n; i++) {
        const struct as_patch_place *place = &area->place.at[i];
        uint32_t from;
        label[i] = AS_NONE;
        if (!as_clone_is_timed(a) || !(place->ways & (AS_PATCH_WAY_ENTERS | AS_PATCH_WAY_TABLE)))
            continue;
        find_origin(a, place, &from);
        if (i > 0 || !as_patch_enters(a->clone))
            AS_TRY(as_clone_find_way(a, from, place->address, place->address, &label[i]));
    }
    return 0;
}

bool as_clone_has_table_out(const struct as_clone_assembly *a, uint32_t block)
{
    const struct as_block *b = &a->p->block[block];
    for (uint32_t e = b->first_succ; e < b->first_succ + b->succs; e++)
        if (a->p->succ[e].kind == AS_EDGE_TABLE &&
            !as_patch_area_holds(a->clone->area, a->p->succ[e].block) &&
            !are_alike(a, block, AS_NONE))
            return true;
    return false;
}

void as_clone_offsets(struct as_clone_assembly *a, uint32_t *at)
{
    const struct as_patch_area *area = a->clone->area;
    for (size_t i = 0; i < area->place.n; i++) {
        at[i] = at[i] != AS_NONE && at[i] & AS_CLONE_TO_WAY
                    ? a->part.at[a->way.at[at[i] & ~AS_CLONE_TO_WAY].part].at
                    : as_clone_place(a, area->place.at[i].address);
        if (at[i] == UINT32_MAX)
            a->refusal = area->place.at[i].why;
    }
}

/* ---- Islands --------------------------------------------------------------------------------- */

/* Adds the code of a way, then its jump. */
static int add_island(struct as_clone_assembly *a, struct as_clone_way *way)
{
    const uint32_t to = way->to == AS_NONE ? AS_NONE : a->clone->area->block[way->to];
    way->part = (uint32_t)a->part.n;
    a->depth_b = 0;
    if (as_clone_tally_borders(a, way->block, to))
        AS_TRY(as_clone_tally_cross(a, way->block, to, way->target, way->from));
    const bool stays = to != AS_NONE && way->edge == AS_NONE;
    struct as_clone_part *part =
        as_clone_part_new(a, stays ? AS_CLONE_BRANCH : AS_CLONE_ISLAND, way->from);
    if (!part)
        return AS_ERR_NOMEM;
    if (stays) {
        part->condition = AS_CLONE_ALWAYS;
        part->label = way->to;
        return 0;
    }
    part->code[0] = 0xe9;
    part->length = 5;
    part->fix[part->fixes++] = a->clone->variant ? as_clone_fix(AS_PATCH_TO_AGENT, 0, 1, 4)
                               : way->edge == AS_NONE
                                   ? as_clone_fix(AS_PATCH_TO_MODULE, way->target, 1, 4)
                                   : as_clone_fix(AS_PATCH_TO_EDGE, way->edge, 1, 4);
    return 0;
}

/* Lets a jump to an island that is only a jump lead to its target directly. Most loops fall through
 * at their end, so one jump replaces two. */
static void lead_past_islands(struct as_clone_assembly *a)
{
    as_vec_foreach (&a->part, part) {
        if (part->kind != AS_CLONE_BRANCH || part->condition != AS_CLONE_ALWAYS ||
            !(part->label & AS_CLONE_TO_WAY))
            continue;
        const struct as_clone_part *island =
            &a->part.at[a->way.at[part->label & ~AS_CLONE_TO_WAY].part];
        if (island->kind != AS_CLONE_ISLAND)
            continue;
        part->kind = AS_CLONE_ISLAND;
        part->length = island->length;
        part->code[0] = island->code[0];
        part->fix[0] = island->fix[0];
        part->fixes = island->fixes;
    }
}

int as_clone_islands(struct as_clone_assembly *a)
{
    for (uint32_t w = 0; w < a->way.n; w++)
        AS_TRY(add_island(a, &a->way.at[w]));
    lead_past_islands(a);
    return as_clone_tally_entries(a);
}
