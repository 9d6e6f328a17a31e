/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an instance of a loop is measured, in as few instructions as what is free where it begins
 * allows; and the code that the jump over a header leads to.
 */
#include "agent/patcher/patcher_emit.h"
#include "agent/patcher/variant.h"

/* ---- Asking whether a word of the thread is 0 ------------------------------------------------ */

enum { NO_SPARE = 16 };

/* rcx, which `jrcxz` looks at, is free, or its value waits in another register or on the stack. */
static unsigned spare_of(uint32_t free)
{
    unsigned reg = RCX;
    if (!(free >> RCX & 1))
        for (reg = 0; reg < NO_SPARE && !(free >> reg & 1); reg++)
            ;
    return reg;
}

static void emit_free_rcx(struct as_patcher_code *code, unsigned spare)
{
    if (spare == NO_SPARE) {
        as_emit_rsp(code, -RED_ZONE);
        as_emit_push(code, RCX);
    } else if (spare != RCX)
        as_emit_copy(code, spare, RCX);
}

static void emit_rcx_back(struct as_patcher_code *code, unsigned spare)
{
    if (spare == NO_SPARE) {
        as_emit_pop(code, RCX);
        as_emit_rsp(code, RED_ZONE);
    } else if (spare != RCX)
        as_emit_copy(code, RCX, spare);
}

uint8_t *as_stub_unless(struct as_patcher_code *code, int32_t local, uint32_t free)
{
    if (free & AS_PATCH_STATUS_FREE) {
        EMIT(code, AS_PATCHER_PREFIX, 0x48, 0x83, 0x3c, 0x25); /* cmp qword fs:[local],0 */
        as_emit_number(code, local, 4);
        EMIT(code, 0, 0x0f, 0x84, 0, 0, 0, 0); /* je */
        return code->at;
    }
    const unsigned spare = spare_of(free);
    emit_free_rcx(code, spare);
    as_emit_local(code, LOAD, RCX, local);
    uint8_t *is_zero = as_emit_if_zero(code);
    emit_rcx_back(code, spare);
    uint8_t *is_not = as_emit_jump_later(code);
    as_emit_lead(code, is_zero);
    as_emit_depth(code, spare == NO_SPARE ? RED_ZONE + 8 : 0);
    emit_rcx_back(code, spare);
    uint8_t *zero = as_emit_jump_later(code);
    as_emit_lead_jump(code, is_not);
    return zero;
}

/* mov edx,loop */
static void emit_edx(struct as_patcher_code *code, uint32_t loop)
{
    EMIT(code, 0xba);
    as_emit_number(code, loop, 4);
}

/* ---- One instance of `period` is measured ---------------------------------------------------- */

static void emit_draw(struct as_patcher_code *code, uint32_t loop, int32_t local)
{
    as_emit_save(code);
    emit_edx(code, loop);
    as_emit_call(code, as_patcher_slow_draw);
    as_emit_local(code, STORE, RAX, local);
    as_emit_restore(code);
}

/* On to `other`; or, where there is none, to be led somewhere later. */
static uint8_t *emit_pass(struct as_patcher_code *code, const uint8_t *other)
{
    if (!other)
        return as_emit_jump_later(code);
    as_emit_jump(code, other);
    return NULL;
}

/* dec qword fs:[at] */
static void emit_dec(struct as_patcher_code *code, int32_t at)
{
    EMIT(code, AS_PATCHER_PREFIX, 0x48, 0xff, 0x0c, 0x25);
    as_emit_number(code, at, 4);
}

/* Before the plain clone, and where none is left to here. */
static void emit_ahead(struct as_patcher_code *code, int32_t at)
{
    struct as_patcher_code ahead = {.at = code->ahead, .end = code->ahead + AS_PATCHER_AHEAD_B};
    emit_dec(&ahead, at);
    EMIT(&ahead, 0x0f, 0x88); /* js */
    as_emit_number(&ahead, code->at - (ahead.at + 4), 4);
}

/* The countdown is a word of the thread. */
static uint8_t *emit_countdown(struct as_patcher_code *code, uint32_t loop, uint32_t free,
                               const uint8_t *other)
{
    const int32_t at = as_emit_local_offset(&as_patcher_countdown[loop]);
    const int32_t armed = as_stub_armed(loop);
    const bool arms = as_stub_is_always_measured(as_stub_region(loop));
    uint8_t *now = NULL, *pass = NULL;
    if (code->ahead) {
        emit_ahead(code, at);
    } else if (free & AS_PATCH_STATUS_FREE) {
        emit_dec(code, at);
        if (!arms && other) {
            EMIT(code, 0x0f, 0x89); /* jns */
            as_emit_number(code, other - (code->at + 4), 4);
        } else {
            EMIT(code, 0x0f, 0x88, 0, 0, 0, 0); /* js */
            now = code->at;
            if (arms)
                as_emit_local_number(code, armed, 0);
            pass = emit_pass(code, other);
            as_emit_lead_jump(code, now);
        }
    } else {
        const unsigned spare = spare_of(free);
        emit_free_rcx(code, spare);
        as_emit_local(code, LOAD, RCX, at);
        now = as_emit_if_zero(code);
        EMIT(code, 0x48, 0x8d, 0x49, 0xff); /* lea rcx,[rcx-1] */
        as_emit_local(code, STORE, RCX, at);
        emit_rcx_back(code, spare);
        if (arms)
            as_emit_local_number(code, armed, 0);
        pass = emit_pass(code, other);
        as_emit_lead(code, now);
        as_emit_depth(code, spare == NO_SPARE ? RED_ZONE + 8 : 0);
        emit_rcx_back(code, spare);
    }
    if (as_patcher.plan->mode == AS_PATCH_VARY) /* it says how many pass */
        return pass;
    emit_draw(code, loop, at);
    if (arms)
        as_emit_local_number(code, armed, 1);
    return pass;
}

/* The same where there are too many loops: it stands in the slot, and so does what is armed. */
static uint8_t *emit_far_countdown(struct as_patcher_code *code, uint32_t loop,
                                   const uint8_t *other)
{
    const int32_t at = as_stub_slot(loop, offsetof(struct as_patch_slot, countdown));
    as_emit_rsp(code, -RED_ZONE);
    as_emit_push(code, RDX);
    as_emit_push(code, RCX);
    as_emit_thread(code);
    uint8_t *none = as_emit_if_zero(code);
    uint8_t *go = code->at;
    EMIT(code, 0x48, 0x8d, 0x11); /* lea rdx,[rcx] */
    as_emit_move(code, LOAD, RCX, RDX, at);
    uint8_t *now = as_emit_if_zero(code);
    EMIT(code, 0x48, 0x8d, 0x49, 0xff); /* lea rcx,[rcx-1] */
    as_emit_move(code, STORE, RCX, RDX, at);
    if (as_stub_is_always_measured(as_stub_region(loop)))
        as_stub_unarm(code, RDX, loop);
    as_emit_pop(code, RCX);
    as_emit_pop(code, RDX);
    as_emit_rsp(code, RED_ZONE);
    uint8_t *pass = emit_pass(code, other);
    as_emit_lead(code, none);
    as_emit_depth(code, RED_ZONE + 16);
    as_emit_push(code, RAX); /* the program's here */
    as_emit_call(code, as_patcher_slow_begin);
    as_emit_pop(code, RAX);
    as_emit_thread(code);
    as_emit_jump(code, go);
    as_emit_lead(code, now);
    as_emit_push(code, RAX);
    emit_edx(code, loop);
    as_emit_call(code, as_patcher_slow_draw);
    as_emit_thread(code);
    EMIT(code, 0x48, 0x8d, 0x11); /* lea rdx,[rcx]: calls keep neither */
    as_emit_move(code, STORE, RAX, RDX, at);
    as_emit_pop(code, RAX);
    as_emit_pop(code, RCX);
    as_emit_pop(code, RDX);
    as_emit_rsp(code, RED_ZONE);
    return pass;
}

uint8_t *as_stub_sample(struct as_patcher_code *code, uint32_t loop, uint32_t free,
                        const uint8_t *other)
{
    return as_stub_is_near(loop) ? emit_countdown(code, loop, free, other)
                                 : emit_far_countdown(code, loop, other);
}

/* ---- Entries --------------------------------------------------------------------------------- */

bool as_patcher_counts_ahead(const struct as_patch_region *region)
{
    return as_patcher.plan->mode == AS_PATCH_SAMPLE && region->enters && region->plain.size_b &&
           region->plain.header == 0 && region->free & AS_PATCH_STATUS_FREE &&
           as_stub_is_near(region->first_loop) && !as_stub_is_always_measured(region);
}

const uint8_t *as_patcher_stub_entry(struct as_patcher_code *code,
                                     const struct as_patch_region *region, const uint8_t *plain,
                                     const uint8_t *measured)
{
    const uint32_t mode = as_patcher.plan->mode;
    uint8_t *begin = code->at;
    as_emit_depth(code, 0);
    if (mode == AS_PATCH_VARY) {
        if (as_stub_is_near(region->first_loop))
            emit_countdown(code, region->first_loop, region->free, plain);
        as_variant_stub_entry(code, region, plain, measured);
        return begin;
    }
    if (mode == AS_PATCH_IDENT)
        return plain;
    if (mode == AS_PATCH_COUNT || mode == AS_PATCH_PROBE || !region->enters)
        return measured;
    if (mode == AS_PATCH_SAMPLE)
        as_stub_sample(code, region->first_loop, region->free,
                       as_stub_is_always_measured(region) ? measured : plain);
    const uint8_t *entry = code->ahead ? code->ahead : begin;
    code->ahead = NULL;
    as_stub_enter(code, region->first_loop, measured);
    return entry;
}
