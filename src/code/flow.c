/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traverses one body recursively from its entries. The walk follows branches, jump tables, landing
 * pads and the code after calls that return. So data and padding inside code do not count as
 * instructions. Unreached code other than padding is walked last and gets a mark.
 */
#include "code/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

static const struct as_insn *insn_at(const struct as_walk *walk, uint32_t position)
{
    return &walk->b->program->code.insn[as_walk_insn(walk, position)];
}

/*
 * Returns the position of the instruction at `address`, a target of the instruction at `from`. A
 * jump over a lock prefix leads one byte into an instruction; it counts as a jump to this
 * instruction. Returns AS_NO_POSITION if no instruction of the body starts there.
 */
static uint32_t position_from(const struct as_walk *walk, uint64_t address, size_t from)
{
    for (size_t s = 0; s < walk->span.n; s++) {
        const struct as_region *r = &walk->b->region.at[walk->span.at[s].region];
        if (address < r->start || address >= r->end)
            continue;
        const bool is_own = from - r->first_insn < r->insns;
        size_t insn = as_region_insn_near(walk->b, walk->span.at[s].region, address,
                                          is_own ? from : r->first_insn);
        if (insn == SIZE_MAX)
            return AS_NO_POSITION;
        const struct as_insn *at = &walk->b->program->code.insn[insn];
        bool after_lock = at->address + 1 == address && (as_form_of(at)->traits & AS_TRAIT_LOCK);
        if (at->address != address && !after_lock)
            return AS_NO_POSITION;
        return walk->span.at[s].first + (uint32_t)(insn - r->first_insn);
    }
    return AS_NO_POSITION;
}

static uint32_t position_of(const struct as_walk *walk, uint64_t address)
{
    return position_from(walk, address, SIZE_MAX);
}

/* Returns the position of the adjacent next instruction; AS_NO_POSITION at the end of a region. */
static uint32_t next_position(const struct as_walk *walk, uint32_t position)
{
    if (position + 1 >= walk->positions)
        return AS_NO_POSITION;
    const struct as_insn *insn = insn_at(walk, position), *next = insn + 1;
    if (walk->span.n > 1)
        next = insn_at(walk, position + 1);
    return next->address == insn->address + insn->length ? position + 1 : AS_NO_POSITION;
}

static bool is_padding(const struct as_form *form)
{
    return form->insn_class == AS_CLASS_NOP || form->insn_class == AS_CLASS_TRAP ||
           form->insn_class == AS_CLASS_INVALID;
}

/* Returns true if only padding follows in the region; control does not run on into the next one. */
static bool runs_out(const struct as_walk *walk, uint32_t position)
{
    while ((position = next_position(walk, position)) != AS_NO_POSITION) {
        const struct as_form *form = as_form_of(insn_at(walk, position));
        if (form->insn_class != AS_CLASS_NOP)
            return false;
    }
    return true;
}

/* ---- Leaders and edges ------------------------------------------------------------------- */

static int make_leader(struct as_walk *walk, uint32_t position, const struct as_stack *stack,
                       unsigned extra)
{
    uint16_t *mark = &walk->mark.at[position];
    bool is_new = !(*mark & AS_MARK_LEADER);
    *mark |= (uint16_t)(AS_MARK_LEADER | extra);
    walk->leaders += is_new;
    if (is_new)
        walk->stack.at[position] = *stack;
    if (*mark & AS_MARK_REACHED)
        return 0;
    return is_new ? as_vec_push(&walk->todo, position) : 0;
}

static int add_edge(struct as_walk *walk, uint32_t from, uint32_t to, uint8_t kind,
                    const struct as_stack *stack)
{
    AS_TRY(as_vec_push(&walk->edge, (struct as_walk_edge){.from = from, .to = to, .kind = kind}));
    return make_leader(walk, to, stack, kind == AS_EDGE_LANDING ? AS_MARK_PAD : 0);
}

/* Records that control leaves the body for `target`. */
static int leave_to(struct as_walk *walk, uint64_t target)
{
    uint32_t region = as_region_at(walk->b, target);
    uint32_t body = region == AS_NONE ? AS_NONE : walk->b->region.at[region].body;
    if (body == AS_NONE) {
        walk->may_return |= !walk->dead;
        return 0;
    }
    return walk->dead ? 0 : as_vec_push(&walk->tail, body);
}

static int fall_to_next(struct as_walk *walk, uint32_t position, const struct as_stack *stack)
{
    uint32_t next = next_position(walk, position);
    if (next != AS_NO_POSITION)
        return add_edge(walk, position, next, AS_EDGE_FALL, stack);
    const struct as_insn *insn = insn_at(walk, position);
    /* The next instruction may be in another region of the body. */
    uint32_t other = position_of(walk, insn->address + insn->length);
    if (other != AS_NO_POSITION)
        return add_edge(walk, position, other, AS_EDGE_FALL, stack);
    walk->mark.at[position] |= AS_MARK_TAILCALL;
    return leave_to(walk, insn->address + insn->length);
}

static int jump_to(struct as_walk *walk, uint32_t position, uint64_t target, uint8_t kind,
                   const struct as_stack *stack)
{
    uint32_t to = position_from(walk, target, as_walk_insn(walk, position));
    if (to != AS_NO_POSITION)
        return add_edge(walk, position, to, kind, stack);
    uint32_t region = as_region_at(walk->b, target);
    bool inside = region != AS_NONE &&
                  walk->b->region.at[region].body == (uint32_t)(walk->body - walk->b->body.at);
    if (inside) { /* the target is inside an instruction */
        walk->mark.at[position] |= AS_MARK_UNRESOLVED;
        walk->may_return = true;
        return 0;
    }
    walk->mark.at[position] |= AS_MARK_TAILCALL;
    return leave_to(walk, target);
}

/* ---- Calls ------------------------------------------------------------------------------- */

static const struct as_landing *landing_at(const struct as_walk *walk, uint64_t address)
{
    const struct as_landing *landing = walk->landing.at;
    const size_t at = as_first_not(k, walk->landing.n, landing[k].end <= address);

    return at < walk->landing.n && landing[at].start <= address ? &landing[at] : NULL;
}

/* Sets `noreturn` if the call is known never to return. Appends the called body to `callee`. */
static int call_noreturn(struct as_walk *walk, const struct as_insn *insn, bool *noreturn)
{
    uint64_t target;
    uint64_t slot;
    *noreturn = false;
    if (!as_insn_target_fast(insn, &target)) {
        if (!as_insn_memory_address(insn, &slot)) /* else through the global offset table */
            return 0;
        const char *name = as_import_at(walk->b, slot);
        *noreturn = name && as_noreturn_name(name);
        return 0;
    }
    uint32_t region = as_region_at(walk->b, target);
    uint32_t body = region == AS_NONE ? AS_NONE : walk->b->region.at[region].body;
    if (body == AS_NONE)
        return 0;
    *noreturn = walk->b->body.at[body].noreturn;
    return walk->dead ? 0 : as_vec_push(&walk->callee, body);
}

/* Makes an entry at the target of a call into the middle of the same body, as in a retpoline. */
static int enter_own(struct as_walk *walk, const struct as_insn *insn)
{
    const struct as_stack at_entry = {0, AS_STACK_UNKNOWN};
    uint64_t target;
    uint32_t to = as_insn_target_fast(insn, &target) ? position_of(walk, target) : AS_NO_POSITION;
    if (to == AS_NO_POSITION || target == walk->b->region.at[walk->body->head].start)
        return 0;
    return make_leader(walk, to, &at_entry, AS_MARK_ROOT);
}

/* Walks a call. Sets `*goes_on` if the walk continues in the same block after the call. */
static int walk_call(struct as_walk *walk, uint32_t position, const struct as_stack *stack,
                     bool *goes_on)
{
    const struct as_insn *insn = insn_at(walk, position);
    bool noreturn;
    walk->mark.at[position] |= AS_MARK_CALL;
    AS_TRY(call_noreturn(walk, insn, &noreturn));
    AS_TRY(enter_own(walk, insn));
    noreturn = noreturn || runs_out(walk, position);
    const struct as_landing *landing = landing_at(walk, insn->address);
    uint32_t pad = landing ? position_of(walk, landing->pad) : AS_NO_POSITION;
    if (pad != AS_NO_POSITION)
        AS_TRY(add_edge(walk, position, pad, AS_EDGE_LANDING, stack));
    if (noreturn)
        walk->mark.at[position] |= AS_MARK_NORETURN;
    *goes_on = !noreturn;
    if (noreturn || pad != AS_NO_POSITION) {
        walk->mark.at[position] |= AS_MARK_END;
        if (!noreturn)
            AS_TRY(fall_to_next(walk, position, stack));
        *goes_on = false;
    }
    return 0;
}

/* ---- Indirect jumps ---------------------------------------------------------------------- */

/* Adds an edge to each label that is used as a value (computed goto). Sets `*any` if any exists. */
static int jump_to_labels(struct as_walk *walk, uint32_t position, const struct as_stack *stack,
                          bool *any)
{
    for (size_t s = 0; s < walk->span.n; s++) {
        const struct as_region *r = &walk->b->region.at[walk->span.at[s].region];
        size_t i = as_lower_bound(walk->b->label.at, walk->b->label.n, r->start);
        for (; i < walk->b->label.n && walk->b->label.at[i] < r->end; i++) {
            uint32_t to = position_of(walk, walk->b->label.at[i]);
            if (to == AS_NO_POSITION)
                continue;
            AS_TRY(add_edge(walk, position, to, AS_EDGE_TABLE, stack));
            *any = true;
        }
    }
    return 0;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns true if one of the three instructions before restores the stack pointer (body end). */
static bool restores_stack(const struct as_walk *walk, uint32_t position)
{
    size_t insn = as_walk_insn(walk, position);
    for (uint32_t back = 1; back <= 3 && back <= position; back++) {
        const struct as_insn *at = &walk->b->program->code.insn[insn - back];
        struct as_effects effects;
        as_insn_effects(at, &effects);
        if (as_regset_has(effects.written, AS_REG_GPR + 4))
            return as_form_of(at)->insn_class != AS_CLASS_CALL;
    }
    return false;
}

static bool is_stub(const struct as_walk *walk)
{
    return walk->b->region.at[walk->body->head].origin == AS_FUNCTION_PLT;
}

/*
 * Returns true for a tail call through a pointer: the frame is gone and no index chooses the
 * target. An index with an unknown base counts as a pointer only once the constants of the body are
 * known. The head of a linkage table leaves words on the stack for the loader.
 */
static bool is_tail_call(const struct as_walk *walk, uint32_t position,
                         const struct as_stack *stack)
{
    const struct as_jump_targets *targets = &walk->targets;
    bool frame_gone = is_stub(walk) || stack->depth == 0 ||
                      (stack->depth == AS_STACK_UNKNOWN && restores_stack(walk, position));
    bool pointer = targets->is_call || !targets->indexed;
    return frame_gone && (pointer || (targets->constants && !targets->is_sum));
}

static int walk_indirect(struct as_walk *walk, uint32_t position, const struct as_stack *stack)
{
    size_t insn = as_walk_insn(walk, position);
    walk->jumps++;
    AS_TRY(as_jump_resolve(walk->b, walk->body, insn, &walk->targets));
    if (walk->targets.resolved) {
        walk->tables++;
        qsort(walk->targets.at.at, walk->targets.at.n, sizeof *walk->targets.at.at, by_value);
        for (size_t i = 0; i < walk->targets.at.n; i++) {
            uint64_t target = walk->targets.at.at[i];
            if (i == 0 || walk->targets.at.at[i - 1] != target)
                AS_TRY(jump_to(walk, position, target, AS_EDGE_TABLE, stack));
        }
        return 0;
    }
    walk->may_return |= !walk->dead;
    if (is_tail_call(walk, position, stack)) {
        walk->calls++;
        walk->mark.at[position] |= AS_MARK_TAILCALL;
        return 0;
    }
    bool any = false;
    AS_TRY(jump_to_labels(walk, position, stack, &any));
    if (any) {
        walk->tables++;
        return 0;
    }
    walk->mark.at[position] |= AS_MARK_UNRESOLVED;
    return 0;
}

/* ---- The walk ---------------------------------------------------------------------------- */

/* Walks one instruction that may end the run. Sets `*goes_on` if the walk continues after it.
 * Returns 0 or AS_ERR_NOMEM. */
static int walk_insn(struct as_walk *walk, uint32_t position, struct as_stack *stack, bool *goes_on)
{
    const struct as_insn *insn = insn_at(walk, position);
    const struct as_form *form = as_form_of(insn);
    uint64_t target;
    *goes_on = false;
    walk->first_edge.at[position] = (uint32_t)walk->edge.n;
    switch (form->insn_class) {
    case AS_CLASS_BRANCH:
        walk->mark.at[position] |= AS_MARK_END;
        if (as_insn_target_fast(insn, &target))
            AS_TRY(jump_to(walk, position, target, AS_EDGE_TAKEN, stack));
        return fall_to_next(walk, position, stack);
    case AS_CLASS_JUMP:
        walk->mark.at[position] |= AS_MARK_END;
        if (as_insn_target_fast(insn, &target))
            return jump_to(walk, position, target, AS_EDGE_JUMP, stack);
        return walk_indirect(walk, position, stack);
    case AS_CLASS_CALL:
        return walk_call(walk, position, stack, goes_on);
    case AS_CLASS_RETURN:
        walk->mark.at[position] |= AS_MARK_END | AS_MARK_RETURN;
        walk->may_return |= !walk->dead;
        return 0;
    case AS_CLASS_TRAP:
    case AS_CLASS_INVALID:
        walk->mark.at[position] |= AS_MARK_END;
        return 0;
    default:
        as_stack_step(stack, insn, form);
        *goes_on = true;
        return 0;
    }
}

/* Marks the instructions of a straight run as reached. Returns the position at its end. */
static uint32_t walk_straight(struct as_walk *walk, uint32_t position, struct as_stack *stack)
{
    const struct as_walk_span *span = &walk->span.at[walk->span.n - 1];
    while (span->first > position)
        span--;
    const struct as_region *region = &walk->b->region.at[span->region];
    const struct as_insn *insn = insn_at(walk, position);
    const uint32_t end = span->first + region->insns;
    const uint16_t reached = (uint16_t)(AS_MARK_REACHED | (walk->dead ? AS_MARK_DEAD : 0));
    uint16_t *mark = walk->mark.at;
    for (; position + 1 < end && !(mark[position] & AS_MARK_REACHED); position++, insn++) {
        if (!(as_form_flows[insn->form] & AS_FORM_GOES_ON) ||
            insn[1].address != insn->address + insn->length)
            break;
        mark[position] |= reached;
        if (as_stack_is_touched(insn))
            as_stack_step(stack, insn, as_form_of(insn));
    }
    return position;
}

static int walk_from(struct as_walk *walk, uint32_t position)
{
    struct as_stack stack = walk->stack.at[position];
    for (;;) {
        position = walk_straight(walk, position, &stack);
        uint16_t *mark = &walk->mark.at[position];
        if (*mark & AS_MARK_REACHED) {
            walk->leaders += !(*mark & AS_MARK_LEADER);
            *mark |= AS_MARK_LEADER;
            return 0;
        }
        *mark |= AS_MARK_REACHED | (walk->dead ? AS_MARK_DEAD : 0);
        bool goes_on;
        AS_TRY(walk_insn(walk, position, &stack, &goes_on));
        if (!goes_on)
            return 0;
        uint32_t next = next_position(walk, position);
        if (next == AS_NO_POSITION) {
            walk->mark.at[position] |= AS_MARK_END;
            return fall_to_next(walk, position, &stack);
        }
        position = next;
    }
}

static int walk_all(struct as_walk *walk)
{
    while (walk->todo.n)
        AS_TRY(walk_from(walk, walk->todo.at[--walk->todo.n]));
    return 0;
}

static int walk_second_entries(struct as_walk *walk)
{
    const struct as_stack at_entry = {0, AS_STACK_UNKNOWN};
    for (size_t s = 0; s < walk->span.n; s++) {
        const struct as_region *r = &walk->b->region.at[walk->span.at[s].region];
        size_t i = as_lower_bound(walk->b->second_entry.at, walk->b->second_entry.n, r->start);
        for (; i < walk->b->second_entry.n && walk->b->second_entry.at[i] < r->end; i++) {
            uint32_t position = position_of(walk, walk->b->second_entry.at[i]);
            if (position != AS_NO_POSITION)
                AS_TRY(make_leader(walk, position, &at_entry, AS_MARK_ROOT));
        }
    }
    return walk_all(walk);
}

/*
 * Returns true if unreached code of the body is reached in another way. The second half of a PLT
 * entry is reached through the table until the entry is bound. A label that is used as a value may
 * be reached by another body's table.
 */
static bool is_reached_otherwise(const struct as_walk *walk, uint64_t address)
{
    size_t i = as_lower_bound(walk->b->label.at, walk->b->label.n, address);
    return is_stub(walk) || (i < walk->b->label.n && walk->b->label.at[i] == address);
}

/* Walks code that no known path reaches: code behind unresolved jumps, or dead code. */
static int walk_rest(struct as_walk *walk)
{
    const struct as_stack unknown = {AS_STACK_UNKNOWN, AS_STACK_UNKNOWN};
    for (uint32_t i = 0; i < walk->positions; i++) {
        if (walk->mark.at[i] & AS_MARK_REACHED)
            continue;
        const struct as_insn *insn = insn_at(walk, i);
        if (is_padding(as_form_of(insn)))
            continue;
        walk->dead = !is_reached_otherwise(walk, insn->address);
        AS_TRY(make_leader(walk, i, &unknown, AS_MARK_ROOT));
        AS_TRY(walk_all(walk));
    }
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct as_landing *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int walk_begin(struct as_walk *walk, const struct as_builder *b,
                      const struct as_body_parts *body)
{
    walk->b = b;
    walk->body = body;
    walk->span.n = walk->edge.n = walk->todo.n = walk->callee.n = walk->tail.n = 0;
    walk->landing.n = 0;
    walk->leaders = walk->positions = walk->jumps = walk->tables = walk->calls = 0;
    walk->may_return = walk->dead = false;
    for (uint32_t p = 0; p < body->regions; p++) {
        uint32_t region = b->part.at[body->first + p];
        AS_TRY(as_vec_push(&walk->span, (struct as_walk_span){region, walk->positions}));
        walk->positions += b->region.at[region].insns;
        as_insns_fetch(b->program->code.insn + b->region.at[region].first_insn,
                       b->region.at[region].insns);
        if (b->region.at[region].lsda)
            AS_TRY(as_landings_read(b, &b->region.at[region], &walk->landing));
    }
    if (walk->landing.n)
        qsort(walk->landing.at, walk->landing.n, sizeof *walk->landing.at, by_start);
    AS_TRY(as_vec_reserve(&walk->mark, walk->positions));
    AS_TRY(as_vec_reserve(&walk->stack, walk->positions));
    AS_TRY(as_vec_reserve(&walk->block, walk->positions));
    AS_TRY(as_vec_reserve(&walk->first_edge, walk->positions));
    if (walk->positions)
        memset(walk->mark.at, 0, sizeof *walk->mark.at * walk->positions);
    return 0;
}

int as_walk_body(struct as_walk *walk, const struct as_builder *b, const struct as_body_parts *body)
{
    const struct as_stack at_entry = {0, AS_STACK_UNKNOWN};
    AS_TRY(walk_begin(walk, b, body));
    uint32_t entry = position_of(walk, b->region.at[body->head].start);
    if (entry != AS_NO_POSITION)
        AS_TRY(make_leader(walk, entry, &at_entry, AS_MARK_ROOT));
    AS_TRY(walk_all(walk));
    AS_TRY(walk_second_entries(walk));
    return walk_rest(walk);
}

void as_walk_fini(struct as_walk *walk)
{
    as_vec_fini(&walk->span);
    as_vec_fini(&walk->mark);
    as_vec_fini(&walk->stack);
    as_vec_fini(&walk->block);
    as_vec_fini(&walk->first_edge);
    as_vec_fini(&walk->last);
    as_vec_fini(&walk->todo);
    as_vec_fini(&walk->edge);
    as_vec_fini(&walk->callee);
    as_vec_fini(&walk->tail);
    as_vec_fini(&walk->landing);
    as_vec_fini(&walk->targets.at);
}
