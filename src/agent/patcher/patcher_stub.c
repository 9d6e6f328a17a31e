/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code between clones and the world: at the entry and the exits of a measured loop. It touches
 * no flag (lea, mov, push, pop, not, jrcxz alone) and no red zone. A handler that runs the same
 * loop in between is noticed: the stack pointer of the slot is written first and read last, and of
 * two that would write a record at once the inner one is dropped (doc/internals/patch.md).
 */
#include "agent/patcher/patcher_emit.h"
#include "agent/patcher/variant.h"

#define RECORD_END                                                                                 \
    (int32_t)(offsetof(struct as_patch_thread, batch) +                                            \
              AS_PATCH_BATCH_N * sizeof(struct as_patch_record))

/* ---- Records --------------------------------------------------------------------------------- */

/* [rdx + rcx + offset of the record] = reg, of 8 or 4 bytes */
static void emit_record(struct as_patcher_code *code, unsigned reg, size_t at, bool wide)
{
    const uint8_t rex = (uint8_t)(0x40 | (wide ? 8 : 0) | (reg >> 3) << 2);
    EMIT(code, rex, 0x89, (uint8_t)(0x84 | (reg & 7) << 3), 0x0a);
    as_emit_number(code, RECORD_END + (int32_t)at, 4);
}

static void emit_record_number(struct as_patcher_code *code, uint32_t value, size_t at)
{
    EMIT(code, 0xc7, 0x84, 0x0a);
    as_emit_number(code, RECORD_END + (int32_t)at, 4);
    as_emit_number(code, value, 4);
}

/* ---- Parts ---------------------------------------------------------------------------------- */

int32_t as_patcher_thread_offset(void)
{
    return as_emit_local_offset(&as_patcher_thread);
}

int32_t as_stub_slot(uint32_t loop, size_t field)
{
    return (int32_t)(as_patch_slots_at() + loop * sizeof(struct as_patch_slot) + field);
}

/* What register `reg` of the program holds: rax, rdx and rcx were pushed in this order, `above` the
 * last one lie more bytes. Returns the register that has it now. */
static unsigned emit_value(struct as_patcher_code *code, unsigned reg, int32_t above)
{
    static const int32_t depth[] = {[RAX] = 16, [RCX] = 0, [RDX] = 8};
    if (reg > RDX)
        return reg;
    as_emit_move(code, LOAD, RAX, RSP, above + depth[reg]);
    return RAX;
}

static void emit_time(struct as_patcher_code *code) /* edx:eax */
{
    EMIT(code, 0x0f, 0xae, 0xe8); /* lfence: what came before is done */
    EMIT(code, 0x0f, 0x31);
}

const struct as_patch_loop *as_stub_loop(uint32_t number)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_loop *)as_patch_at(plan, &plan->loop) + number;
}

const struct as_patch_region *as_stub_region(uint32_t loop)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_region *)as_patch_at(plan, &plan->region) +
           as_stub_loop(loop)->region;
}

/* Control comes back there from calls, enters in the middle, or finds more loops. */
bool as_stub_is_always_measured(const struct as_patch_region *region)
{
    return as_patcher.plan->mode == AS_PATCH_SAMPLE &&
           (region->sites > 0 || region->loops > 1 || !region->enters);
}

void as_stub_unarm(struct as_patcher_code *code, unsigned base, uint32_t number)
{
    EMIT(code, 0x48, 0xc7, (uint8_t)(0x80 | base));
    as_emit_number(code, as_stub_slot(number, offsetof(struct as_patch_slot, sp)), 4);
    as_emit_number(code, 0, 4);
}

bool as_stub_is_near(uint32_t loop)
{
    return loop < AS_PATCHER_COUNTDOWNS;
}

int32_t as_stub_armed(uint32_t loop)
{
    return as_emit_local_offset(&as_patcher_armed[loop]);
}

/* Whether the thread was off the processor since the mark was set; rcx is free. What is done then
 * stands aside, within reach: emit_looked. */
static uint8_t *emit_look(struct as_patcher_code *code)
{
    if (as_patcher_mark_offset == 0)
        return NULL;
    as_emit_local(code, LOAD, RCX, as_patcher_mark_offset);
    return as_emit_if_zero(code);
}

static void emit_looked(struct as_patcher_code *code, uint8_t *look, uint32_t depth_b)
{
    if (!look)
        return;
    as_emit_lead(code, look);
    as_emit_depth(code, depth_b);
    as_emit_call(code, as_patcher_slow_switched);
    as_emit_jump(code, look);
}

/* The counter of a loop, from the file that `base` leads to, into rax. */
static bool emit_counter(struct as_patcher_code *code, const struct as_patch_loop *loop,
                         unsigned base)
{
    if (loop->counter == UINT32_MAX)
        return false;
    as_emit_move(code, LOAD, RAX, base,
                 (int32_t)(as_patch_counters_at(as_patcher.plan->loop.n) +
                           loop->counter * sizeof(uint64_t)));
    return true;
}

void as_stub_enter(struct as_patcher_code *code, uint32_t number, const uint8_t *on)
{
    const struct as_patch_loop *loop = as_stub_loop(number);
    as_emit_save(code);
    uint8_t *look = emit_look(code);
    as_emit_thread(code);
    uint8_t *none = as_emit_if_zero(code);
    uint8_t *go = code->at;
    EMIT(code, 0x48, 0x8d, 0x84, 0x24); /* lea rax,[rsp + what is pushed]: the program's */
    as_emit_number(code, RED_ZONE + 24, 4);
    as_emit_move(code, STORE, RAX, RCX, as_stub_slot(number, offsetof(struct as_patch_slot, sp)));
    if (loop->induction != AS_PATCH_NONE)
        as_emit_move(code, STORE, emit_value(code, loop->induction, 0), RCX,
                     as_stub_slot(number, offsetof(struct as_patch_slot, iv0)));
    else if (emit_counter(code, loop, RCX))
        as_emit_move(code, STORE, RAX, RCX,
                     as_stub_slot(number, offsetof(struct as_patch_slot, iv0)));
    as_emit_move(code, LOAD, RAX, RCX, offsetof(struct as_patch_thread, disturbed));
    as_emit_move(code, STORE, RAX, RCX,
                 as_stub_slot(number, offsetof(struct as_patch_slot, disturbed)));
    emit_time(code);
    as_emit_store_4(code, RAX, RCX, as_stub_slot(number, offsetof(struct as_patch_slot, t0)));
    as_emit_store_4(code, RDX, RCX, as_stub_slot(number, offsetof(struct as_patch_slot, t0) + 4));
    as_emit_restore(code);
    if (loop->tally != AS_PATCH_NONE) { /* mov r32,0 */
        if (loop->tally > 7)
            EMIT(code, 0x41);
        EMIT(code, (uint8_t)(0xb8 | (loop->tally & 7)), 0, 0, 0, 0);
    }
    uint8_t *over = NULL;
    if (on)
        as_emit_jump(code, on);
    else
        over = as_emit_jump_later(code);
    emit_looked(code, look, SAVED_B);
    as_emit_lead(code, none);
    as_emit_depth(code, SAVED_B);
    as_emit_call(code, as_patcher_slow_begin);
    as_emit_thread(code);
    as_emit_jump(code, go);
    as_emit_depth(code, 0);
    if (over)
        as_emit_lead_jump(code, over);
}

/* The record; rdx is the thread's file, rcx counts up to the end of its batch. */
static void emit_fields(struct as_patcher_code *code, const struct as_patch_event *event)
{
    const struct as_patch_loop *loop = as_stub_loop(event->loop);
    const unsigned counter = loop->tally != AS_PATCH_NONE ? loop->tally : loop->induction;
#define FIELD(name) offsetof(struct as_patch_record, name)
    as_emit_move(code, LOAD, RAX, RDX,
                 as_stub_slot(event->loop, offsetof(struct as_patch_slot, t0)));
    emit_record(code, RAX, FIELD(t0), true);
    as_emit_move(code, LOAD, RAX, RSP, 8);
    emit_record(code, RAX, FIELD(t1), false);
    as_emit_move(code, LOAD, RAX, RSP, 0);
    emit_record(code, RAX, FIELD(t1) + 4, false);
    as_emit_move(code, LOAD, RAX, RDX,
                 as_stub_slot(event->loop, offsetof(struct as_patch_slot, iv0)));
    emit_record(code, RAX, FIELD(iv0), true);
    as_emit_move(code, LOAD, RAX, RDX,
                 as_stub_slot(event->loop, offsetof(struct as_patch_slot, disturbed)));
    emit_record(code, RAX, FIELD(disturbed0), true);
    as_emit_move(code, LOAD, RAX, RDX, offsetof(struct as_patch_thread, disturbed));
    emit_record(code, RAX, FIELD(disturbed1), true);
    if (counter != AS_PATCH_NONE)
        emit_record(code, emit_value(code, counter, 16), FIELD(iv1), true);
    else if (emit_counter(code, loop, RDX))
        emit_record(code, RAX, FIELD(iv1), true);
    emit_record_number(code, event->loop, FIELD(loop));
    emit_record_number(code, event->exit, FIELD(exit)); /* and no flags */
    as_emit_move(code, LOAD, RAX, RDX,
                 as_stub_slot(event->loop, offsetof(struct as_patch_slot, sp)));
    EMIT(code, 0x48, 0xf7, 0xd0);       /* not rax: -(rax + 1) */
    EMIT(code, 0x48, 0x8d, 0x84, 0x04); /* lea rax,[rsp + rax + ...] */
    as_emit_number(code, RED_ZONE + 5 * 8 + 1, 4);
    emit_record(code, RAX, FIELD(sp), true);
#undef FIELD
}

static void emit_busy(struct as_patcher_code *code, uint32_t value) /* [rdx + busy] = value */
{
    EMIT(code, 0x48, 0xc7, 0x82);
    as_emit_number(code, offsetof(struct as_patch_thread, busy), 4);
    as_emit_number(code, value, 4);
}

/* Of some instances the call path is taken, too: returns where that is to be led to. */
static uint8_t *emit_path_countdown(struct as_patcher_code *code, uint32_t loop)
{
    const int32_t left = as_stub_slot(loop, offsetof(struct as_patch_slot, path));
    if (as_patcher.plan->paths_b == 0)
        return NULL;
    as_emit_move(code, LOAD, RCX, RDX, left);
    uint8_t *path = as_emit_if_zero(code);
    EMIT(code, 0x48, 0x8d, 0x49, 0xff); /* lea rcx,[rcx-1] */
    as_emit_move(code, STORE, RCX, RDX, left);
    return path;
}

static void emit_path(struct as_patcher_code *code, uint8_t *path, const uint8_t *done)
{
    as_emit_lead(code, path);
    as_emit_depth(code, AS_PATCHER_AT_EXIT_B);
    as_emit_call(code, as_patcher_slow_path);
    as_emit_thread(code);
    EMIT(code, 0x48, 0x8d, 0x11); /* lea rdx,[rcx] */
    as_emit_jump(code, done);
}

/* With the registers saved: whether the slot says that the instance is measured. */
static uint8_t *emit_leave_unless(struct as_patcher_code *code, uint32_t loop)
{
    as_emit_thread(code);
    EMIT(code, 0xe3, 7); /* jrcxz over the load: 0 is 0 */
    as_emit_move(code, LOAD, RCX, RCX, as_stub_slot(loop, offsetof(struct as_patch_slot, sp)));
    EMIT(code, 0xe3, 2, 0xeb, 5);
    return as_emit_jump_later(code);
}

/* The end of a stub whose instance is measured: all is as the program has it. */
static void emit_out(struct as_patcher_code *code, uint32_t loop, bool near)
{
    as_emit_rsp(code, 16);
    if (near)
        as_emit_local_number(code, as_stub_armed(loop), 0);
    as_emit_restore(code);
}

/* What usually runs stands in one line, and goes on at `on`; what does not stands in its middle,
 * where short jumps reach it, and behind, and goes on there. */
static void emit_leave(struct as_patcher_code *code, const struct as_patch_event *event,
                       uint32_t free, const uint8_t *on)
{
    const bool arms = as_stub_is_always_measured(as_stub_region(event->loop));
    const bool near = arms && as_stub_is_near(event->loop);
    uint8_t *quick = near ? as_stub_unless(code, as_stub_armed(event->loop), free) : NULL;
    as_emit_save(code);
    uint8_t *unarmed = arms && !near ? emit_leave_unless(code, event->loop) : NULL;
    emit_time(code);
    as_emit_push(code, RAX);
    as_emit_push(code, RDX);
    uint8_t *look = emit_look(code);
    as_emit_thread(code);
    EMIT(code, 0x48, 0x8d, 0x11); /* lea rdx,[rcx] */
    uint8_t *none = as_emit_if_zero(code);
    as_emit_move(code, LOAD, RCX, RDX, offsetof(struct as_patch_thread, busy));
    uint8_t *free_now = as_emit_if_zero(code);
    as_emit_call(code, as_patcher_slow_drop);
    as_emit_lead(code, none);
    emit_out(code, event->loop, near);
    uint8_t *dropped = as_emit_jump_later(code);
    emit_looked(code, look, SAVED_B + 16);
    uint8_t *full = code->at; /* the batch */
    as_emit_depth(code, SAVED_B + 16);
    as_emit_call(code, as_patcher_slow_full);
    as_emit_thread(code);
    EMIT(code, 0x48, 0x8d, 0x11);
    as_emit_lead(code, free_now);
    emit_busy(code, 1);
    as_emit_move(code, LOAD, RCX, RDX, offsetof(struct as_patch_thread, next));
    EMIT(code, 0xe3, (uint8_t)(full - (code->at + 2)));           /* jrcxz full */
    EMIT(code, 0x48, 0x8d, 0x41, sizeof(struct as_patch_record)); /* lea rax,[rcx+its size] */
    as_emit_move(code, STORE, RAX, RDX, offsetof(struct as_patch_thread, next));
    emit_fields(code, event);
    uint8_t *path = emit_path_countdown(code, event->loop);
    uint8_t *done = code->at;
    emit_busy(code, 0);
    emit_out(code, event->loop, near);
    uint8_t *over = NULL;
    if (on)
        as_emit_jump(code, on);
    else
        over = as_emit_jump_later(code);
    if (path)
        emit_path(code, path, done);
    if (unarmed) {
        as_emit_depth(code, SAVED_B);
        as_emit_lead_jump(code, unarmed);
        as_emit_restore(code);
    }
    as_emit_depth(code, 0);
    as_emit_lead_jump(code, dropped);
    if (over)
        as_emit_lead_jump(code, over);
    if (quick)
        as_emit_lead_jump(code, quick);
}

/* ---- Stubs ---------------------------------------------------------------------------------- */

/* A loop is entered within the clone, or from outside but not at its region's header. */
static void emit_enter(struct as_patcher_code *code, uint32_t loop, uint32_t free)
{
    uint8_t *pass =
        as_patcher.plan->mode == AS_PATCH_SAMPLE ? as_stub_sample(code, loop, free, NULL) : NULL;
    as_stub_enter(code, loop, NULL);
    as_emit_depth(code, 0);
    if (pass)
        as_emit_lead_jump(code, pass);
}

uint8_t *as_patcher_stub_edge(struct as_patcher_code *code, const struct as_patch_edge *edge,
                              const uint8_t *clone, uint64_t bias)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_event *event = as_patch_at(plan, &plan->event);
    uint8_t *begin = code->at;
    const uint8_t *target =
        edge->inside ? clone + edge->target : (const uint8_t *)(uintptr_t)(edge->target + bias);
    if (edge->events)
        code->original = as_stub_loop(event[edge->first_event].loop)->header + bias;
    as_emit_depth(code, 0);
    for (uint32_t i = edge->first_event; i < edge->first_event + edge->events; i++) {
        if (plan->mode == AS_PATCH_VARY)
            as_variant_stub_edge(code);
        else if (event[i].kind == AS_PATCH_LEAVE)
            emit_leave(code, &event[i], edge->free,
                       i + 1 == edge->first_event + edge->events ? target : NULL);
        else
            emit_enter(code, event[i].loop, edge->free);
    }
    as_emit_jump(code, target);
    return begin;
}
