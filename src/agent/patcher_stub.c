/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code between clones and the world: at the entry and the exits of a measured loop. It touches
 * no flag (lea, mov, push, pop, not, jrcxz alone) and no red zone. A handler that runs the same
 * loop in between is noticed: the stack pointer of the slot is written first and read last, and of
 * two that would write a record at once the inner one is dropped (doc/patch.md).
 */
#include "agent/patcher.h"

#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP };
#define RED_ZONE 128
#define RECORD_END                                                                                 \
    (int32_t)(offsetof(struct as_patch_thread, batch) +                                            \
              AS_PATCH_BATCH_N * sizeof(struct as_patch_record))

/* ---- Bytes ---------------------------------------------------------------------------------- */

static void emit_bytes(struct as_patcher_code *code, const uint8_t *bytes, size_t n)
{
    if (code->full || (size_t)(code->end - code->at) < n) {
        code->full = true;
        return;
    }
    memcpy(code->at, bytes, n);
    code->at += n;
}
#define EMIT(code, ...)                                                                            \
    emit_bytes((code), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void emit_number(struct as_patcher_code *code, int64_t value, size_t n)
{
    emit_bytes(code, (const uint8_t *)&value, n);
}

static void emit_rsp(struct as_patcher_code *code, int32_t by) /* lea rsp,[rsp+by] */
{
    EMIT(code, 0x48, 0x8d, 0xa4, 0x24);
    emit_number(code, by, 4);
}

static void emit_jump(struct as_patcher_code *code, const uint8_t *to)
{
    EMIT(code, 0xe9);
    emit_number(code, to - (code->at + 4), 4);
}

static void emit_call(struct as_patcher_code *code, void (*function)(void)) /* by rax */
{
    EMIT(code, 0x48, 0xb8);
    emit_number(code, (int64_t)(uintptr_t)function, 8);
    EMIT(code, 0xff, 0xd0);
}

/* rcx = the thread's file */
static void emit_thread(struct as_patcher_code *code)
{
    EMIT(code, 0x64, 0x48, 0x8b, 0x0c, 0x25);
    emit_number(code, as_patcher_thread_offset(), 4);
}

/* `op` (0x89: store, 0x8b: load) between `reg` and [base + offset]; base is rcx, rdx or rsp. */
static void emit_move(struct as_patcher_code *code, uint8_t op, unsigned reg, unsigned base,
                      int32_t offset)
{
    EMIT(code, (uint8_t)(0x48 | (reg >> 3) << 2), op, (uint8_t)(0x80 | (reg & 7) << 3 | base));
    if (base == RSP)
        EMIT(code, 0x24);
    emit_number(code, offset, 4);
}
#define STORE 0x89
#define LOAD  0x8b

/* The same, a store of 4 bytes. */
static void emit_store_4(struct as_patcher_code *code, unsigned reg, unsigned base, int32_t offset)
{
    EMIT(code, 0x89, (uint8_t)(0x80 | (reg & 7) << 3 | base));
    emit_number(code, offset, 4);
}

/* [rdx + rcx + offset of the record] = reg, of 8 or 4 bytes */
static void emit_record(struct as_patcher_code *code, unsigned reg, size_t at, bool wide)
{
    const uint8_t rex = (uint8_t)(0x40 | (wide ? 8 : 0) | (reg >> 3) << 2);
    EMIT(code, rex, 0x89, (uint8_t)(0x84 | (reg & 7) << 3), 0x0a);
    emit_number(code, RECORD_END + (int32_t)at, 4);
}

static void emit_record_number(struct as_patcher_code *code, uint32_t value, size_t at)
{
    EMIT(code, 0xc7, 0x84, 0x0a);
    emit_number(code, RECORD_END + (int32_t)at, 4);
    emit_number(code, value, 4);
}

/* jrcxz, to be led somewhere later */
static uint8_t *emit_if_zero(struct as_patcher_code *code)
{
    EMIT(code, 0xe3, 0);
    return code->at;
}

static void lead_here(struct as_patcher_code *code, uint8_t *from)
{
    const int64_t distance = code->at - from;
    if (distance > 127)
        code->full = true;
    if (!code->full)
        from[-1] = (uint8_t)distance;
}

/* A jump of 5 bytes, to be led somewhere later. */
static uint8_t *emit_jump_later(struct as_patcher_code *code)
{
    EMIT(code, 0xe9, 0, 0, 0, 0);
    return code->at;
}

static void lead_jump(struct as_patcher_code *code, uint8_t *from)
{
    const int32_t distance = (int32_t)(code->at - from);
    if (!code->full)
        memcpy(from - 4, &distance, sizeof distance);
}

/* ---- Parts ---------------------------------------------------------------------------------- */

static int32_t thread_local_offset(const void *at)
{
    uintptr_t fs;
    __asm__("mov %%fs:0, %0" : "=r"(fs));
    return (int32_t)((intptr_t)(uintptr_t)at - (intptr_t)fs);
}

int32_t as_patcher_thread_offset(void)
{
    return thread_local_offset(&as_patcher_thread);
}

static int32_t slot_at(uint32_t loop, size_t field)
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
    emit_move(code, LOAD, RAX, RSP, above + depth[reg]);
    return RAX;
}

static void emit_time(struct as_patcher_code *code) /* edx:eax */
{
    EMIT(code, 0x0f, 0xae, 0xe8); /* lfence: what came before is done */
    EMIT(code, 0x0f, 0x31);
}

static void emit_save(struct as_patcher_code *code)
{
    emit_rsp(code, -RED_ZONE);
    EMIT(code, 0x50, 0x52, 0x51); /* push rax, rdx, rcx */
}

static void emit_restore(struct as_patcher_code *code)
{
    EMIT(code, 0x59, 0x5a, 0x58);
    emit_rsp(code, RED_ZONE);
}

static const struct as_patch_loop *loop_of(uint32_t number)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_loop *)as_patch_at(plan, &plan->loop) + number;
}

/* Control comes back from calls into the measured clone, sampled or not: a stack pointer of 0 in
 * the slot says that the instance is not. The same of the loops in it. */
static bool is_always_measured(const struct as_patch_region *region)
{
    return as_patcher.plan->mode == AS_PATCH_SAMPLE && region->sites > 0;
}

static const struct as_patch_region *region_of(uint32_t number)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_region *)as_patch_at(plan, &plan->region) +
           loop_of(number)->region;
}

static void emit_unarm(struct as_patcher_code *code, unsigned base, uint32_t number)
{
    EMIT(code, 0x48, 0xc7, (uint8_t)(0x80 | base));
    emit_number(code, slot_at(number, offsetof(struct as_patch_slot, sp)), 4);
    emit_number(code, 0, 4);
}

/* Within an instance that is not sampled: the loop in it is not, either. Where that leads on. */
static uint8_t *emit_enter_unless(struct as_patcher_code *code, uint32_t number)
{
    const uint32_t outer = region_of(number)->first_loop;
    if (outer == number || !is_always_measured(region_of(number)))
        return NULL;
    emit_save(code);
    emit_thread(code);
    uint8_t *none = emit_if_zero(code);
    EMIT(code, 0x48, 0x8d, 0x11);
    emit_move(code, LOAD, RCX, RDX, slot_at(outer, offsetof(struct as_patch_slot, sp)));
    EMIT(code, 0xe3, 2, 0xeb, 16); /* jrcxz over the jump over what follows */
    emit_unarm(code, RDX, number);
    lead_here(code, none);
    uint8_t *over = emit_jump_later(code);
    return over;
}

/* The counter of a loop, from the file that `base` leads to, into rax. */
static bool emit_counter(struct as_patcher_code *code, const struct as_patch_loop *loop,
                         unsigned base)
{
    if (loop->counter == UINT32_MAX)
        return false;
    emit_move(code, LOAD, RAX, base,
              (int32_t)(as_patch_counters_at(as_patcher.plan->loop.n) +
                        loop->counter * sizeof(uint64_t)));
    return true;
}

static void emit_enter(struct as_patcher_code *code, uint32_t number)
{
    const struct as_patch_loop *loop = loop_of(number);
    uint8_t *unarmed = emit_enter_unless(code, number);
    if (!unarmed)
        emit_save(code);
    emit_thread(code);
    uint8_t *none = emit_if_zero(code);
    uint8_t *go = code->at;
    EMIT(code, 0x48, 0x8d, 0x84, 0x24); /* lea rax,[rsp + what is pushed]: the program's */
    emit_number(code, RED_ZONE + 24, 4);
    emit_move(code, STORE, RAX, RCX, slot_at(number, offsetof(struct as_patch_slot, sp)));
    if (loop->induction != AS_PATCH_NONE)
        emit_move(code, STORE, emit_value(code, loop->induction, 0), RCX,
                  slot_at(number, offsetof(struct as_patch_slot, iv0)));
    else if (emit_counter(code, loop, RCX))
        emit_move(code, STORE, RAX, RCX, slot_at(number, offsetof(struct as_patch_slot, iv0)));
    emit_time(code);
    emit_store_4(code, RAX, RCX, slot_at(number, offsetof(struct as_patch_slot, t0)));
    emit_store_4(code, RDX, RCX, slot_at(number, offsetof(struct as_patch_slot, t0) + 4));
    if (unarmed)
        lead_jump(code, unarmed);
    emit_restore(code);
    if (loop->tally != AS_PATCH_NONE) { /* mov r32,0 */
        if (loop->tally > 7)
            EMIT(code, 0x41);
        EMIT(code, (uint8_t)(0xb8 | (loop->tally & 7)), 0, 0, 0, 0);
    }
    uint8_t *over = emit_jump_later(code);
    lead_here(code, none);
    emit_call(code, as_patcher_slow_begin);
    emit_thread(code);
    emit_jump(code, go);
    lead_jump(code, over);
}

/* The record; rdx is the thread's file, rcx counts up to the end of its batch. */
static void emit_fields(struct as_patcher_code *code, const struct as_patch_event *event)
{
    const struct as_patch_loop *loop = loop_of(event->loop);
    const unsigned counter = loop->tally != AS_PATCH_NONE ? loop->tally : loop->induction;
#define FIELD(name) offsetof(struct as_patch_record, name)
    emit_move(code, LOAD, RAX, RDX, slot_at(event->loop, offsetof(struct as_patch_slot, t0)));
    emit_record(code, RAX, FIELD(t0), true);
    emit_move(code, LOAD, RAX, RSP, 8);
    emit_record(code, RAX, FIELD(t1), false);
    emit_move(code, LOAD, RAX, RSP, 0);
    emit_record(code, RAX, FIELD(t1) + 4, false);
    emit_move(code, LOAD, RAX, RDX, slot_at(event->loop, offsetof(struct as_patch_slot, iv0)));
    emit_record(code, RAX, FIELD(iv0), true);
    if (counter != AS_PATCH_NONE)
        emit_record(code, emit_value(code, counter, 16), FIELD(iv1), true);
    else if (emit_counter(code, loop, RDX))
        emit_record(code, RAX, FIELD(iv1), true);
    emit_record_number(code, event->loop, FIELD(loop));
    emit_record_number(code, event->exit, FIELD(exit)); /* and no flags */
    emit_move(code, LOAD, RAX, RDX, slot_at(event->loop, offsetof(struct as_patch_slot, sp)));
    EMIT(code, 0x48, 0xf7, 0xd0);       /* not rax: -(rax + 1) */
    EMIT(code, 0x48, 0x8d, 0x84, 0x04); /* lea rax,[rsp + rax + ...] */
    emit_number(code, RED_ZONE + 5 * 8 + 1, 4);
    emit_record(code, RAX, FIELD(sp), true);
#undef FIELD
}

static void emit_busy(struct as_patcher_code *code, uint32_t value) /* [rdx + busy] = value */
{
    EMIT(code, 0x48, 0xc7, 0x82);
    emit_number(code, offsetof(struct as_patch_thread, busy), 4);
    emit_number(code, value, 4);
}

static void emit_leave(struct as_patcher_code *code, const struct as_patch_event *event)
{
    uint8_t *unarmed = NULL;
    emit_save(code);
    if (is_always_measured(region_of(event->loop))) {
        emit_thread(code);
        EMIT(code, 0xe3, 7); /* jrcxz over the load: 0 is 0 */
        emit_move(code, LOAD, RCX, RCX, slot_at(event->loop, offsetof(struct as_patch_slot, sp)));
        EMIT(code, 0xe3, 2, 0xeb, 5);
        unarmed = emit_jump_later(code);
    }
    emit_time(code);
    EMIT(code, 0x50, 0x52); /* push rax, rdx */
    emit_thread(code);
    EMIT(code, 0x48, 0x8d, 0x11);       /* lea rdx,[rcx] */
    uint8_t *none = emit_if_zero(code); /* near: the way out stands in the middle */
    emit_move(code, LOAD, RCX, RDX, offsetof(struct as_patch_thread, busy));
    uint8_t *free_now = emit_if_zero(code);
    emit_call(code, as_patcher_slow_drop);
    lead_here(code, none);
    uint8_t *out = code->at;
    emit_rsp(code, 16);
    if (unarmed)
        lead_jump(code, unarmed);
    emit_restore(code);
    uint8_t *over = emit_jump_later(code);
    uint8_t *full = code->at; /* the batch */
    emit_call(code, as_patcher_slow_full);
    emit_thread(code);
    EMIT(code, 0x48, 0x8d, 0x11);
    lead_here(code, free_now);
    emit_busy(code, 1);
    emit_move(code, LOAD, RCX, RDX, offsetof(struct as_patch_thread, next));
    EMIT(code, 0xe3, 2, 0xeb, 5); /* jrcxz to the jump behind */
    emit_jump(code, full);
    EMIT(code, 0x48, 0x8d, 0x41, sizeof(struct as_patch_record)); /* lea rax,[rcx+48] */
    emit_move(code, STORE, RAX, RDX, offsetof(struct as_patch_thread, next));
    emit_fields(code, event);
    emit_busy(code, 0);
    emit_jump(code, out);
    lead_jump(code, over);
}

/* ---- Stubs ---------------------------------------------------------------------------------- */

uint8_t *as_patcher_stub_edge(struct as_patcher_code *code, const struct as_patch_edge *edge,
                              const uint8_t *clone, uint64_t bias)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_event *event = as_patch_at(plan, &plan->event);
    uint8_t *begin = code->at;
    for (uint32_t i = edge->first_event; i < edge->first_event + edge->events; i++) {
        if (event[i].kind == AS_PATCH_LEAVE)
            emit_leave(code, &event[i]);
        else
            emit_enter(code, event[i].loop);
    }
    emit_jump(code, edge->inside ? clone + edge->target
                                 : (const uint8_t *)(uintptr_t)(edge->target + bias));
    return begin;
}

/* One instance of `period` is measured. */
static void emit_countdown(struct as_patcher_code *code, const struct as_patch_region *region,
                           const uint8_t *plain, const uint8_t *measured)
{
    const uint32_t loop = region->first_loop;
    const int32_t at = slot_at(loop, offsetof(struct as_patch_slot, countdown));
    emit_rsp(code, -RED_ZONE);
    EMIT(code, 0x52, 0x51); /* push rdx, rcx */
    emit_thread(code);
    uint8_t *none = emit_if_zero(code);
    uint8_t *go = code->at;
    EMIT(code, 0x48, 0x8d, 0x11); /* lea rdx,[rcx] */
    emit_move(code, LOAD, RCX, RDX, at);
    uint8_t *now = emit_if_zero(code);
    EMIT(code, 0x48, 0x8d, 0x49, 0xff); /* lea rcx,[rcx-1] */
    emit_move(code, STORE, RCX, RDX, at);
    if (is_always_measured(region))
        emit_unarm(code, RDX, loop);
    EMIT(code, 0x59, 0x5a);
    emit_rsp(code, RED_ZONE);
    emit_jump(code, is_always_measured(region) ? measured : plain);
    lead_here(code, none);
    EMIT(code, 0x50); /* rax is the program's here */
    emit_call(code, as_patcher_slow_begin);
    EMIT(code, 0x58);
    emit_thread(code);
    emit_jump(code, go);
    lead_here(code, now);
    EMIT(code, 0x50);
    emit_call(code, as_patcher_slow_draw);
    emit_thread(code);
    EMIT(code, 0x48, 0x8d, 0x11); /* lea rdx,[rcx]: calls keep neither */
    emit_move(code, STORE, RAX, RDX, at);
    EMIT(code, 0x58);
    EMIT(code, 0x59, 0x5a);
    emit_rsp(code, RED_ZONE);
}

/* The same in two instructions, where flags may change. */
static bool emit_short_countdown(struct as_patcher_code *code, const struct as_patch_region *region,
                                 const uint8_t *plain)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const uint64_t number =
        (uint64_t)(region - (const struct as_patch_region *)as_patch_at(plan, &plan->region));
    if (!(region->flags & AS_PATCH_STATUS_FREE) || is_always_measured(region) ||
        number >= AS_PATCHER_COUNTDOWNS)
        return false;
    const int32_t at = thread_local_offset(&as_patcher_countdown[number]);
    EMIT(code, 0x64, 0x48, 0xff, 0x0c, 0x25); /* dec qword fs:[at] */
    emit_number(code, at, 4);
    EMIT(code, 0x0f, 0x89); /* jns */
    emit_number(code, plain - (code->at + 4), 4);
    emit_save(code);
    emit_call(code, as_patcher_slow_draw);
    EMIT(code, 0x64, 0x48, 0x89, 0x04, 0x25); /* mov fs:[at],rax */
    emit_number(code, at, 4);
    emit_restore(code);
    return true;
}

/* Counters need a file to be in. */
static void emit_presence(struct as_patcher_code *code)
{
    emit_save(code);
    emit_thread(code);
    EMIT(code, 0xe3, 2, 0xeb, 12); /* jrcxz over the jump over the call */
    emit_call(code, as_patcher_slow_begin);
    emit_restore(code);
}

uint8_t *as_patcher_stub_entry(struct as_patcher_code *code, const struct as_patch_region *region,
                               const uint8_t *plain, const uint8_t *measured)
{
    const uint32_t mode = as_patcher.plan->mode;
    uint8_t *begin = code->at;
    if (mode == AS_PATCH_SAMPLE && !emit_short_countdown(code, region, plain))
        emit_countdown(code, region, plain, measured);
    if (mode == AS_PATCH_COUNT)
        emit_presence(code);
    else if (mode != AS_PATCH_IDENT)
        emit_enter(code, region->first_loop);
    emit_jump(code, mode == AS_PATCH_IDENT ? plain : measured);
    return begin;
}
