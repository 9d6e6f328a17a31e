/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stubs of loops that vary: the entry asks which way this instance goes; where the clone is
 * measured that the program's results come from, its exits take the time. No flag and no byte of
 * the red zone changes.
 */
#include "agent/patcher/patcher_emit.h"
#include "agent/patcher/variant.h"

static void emit_stamp(struct as_patcher_code *code, size_t at)
{
    EMIT(code, 0x0f, 0xae, 0xe8, 0x0f, 0x31); /* lfence; rdtsc */
    as_emit_local(code, LOAD, RCX, as_emit_local_offset(&as_variant_self));
    as_emit_store_4(code, RAX, RCX, (int32_t)at);
    as_emit_store_4(code, RDX, RCX, (int32_t)at + 4);
}

void as_variant_stub_entry(struct as_patcher_code *code, const struct as_patch_region *region,
                           const uint8_t *plain, const uint8_t *measured)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_region *first = as_patch_at(plan, &plan->region);
    as_emit_save(code);
    EMIT(code, 0xba); /* mov edx,region */
    as_emit_number(code, region - first, 4);
    as_emit_call(code, as_variant_enter);
    EMIT(code, 0x48, 0x89, 0xc1); /* mov rcx,rax */
    uint8_t *is_plain = as_emit_if_zero(code);
    emit_stamp(code, offsetof(struct as_variant_local, t0));
    as_emit_restore(code);
    as_emit_jump(code, measured);
    as_emit_lead(code, is_plain);
    as_emit_depth(code, SAVED_B);
    as_emit_restore(code);
    as_emit_jump(code, plain);
}

void as_variant_stub_edge(struct as_patcher_code *code)
{
    as_emit_save(code);
    emit_stamp(code, offsetof(struct as_variant_local, t1));
    as_emit_call(code, as_variant_slow_left);
    as_emit_restore(code);
}

/* Those that have none do not vary (variant_dispatch.c). */
int32_t as_variant_limit_offset(uint64_t region)
{
    return as_emit_local_offset(&as_variant_limit[region < AS_PATCHER_COUNTDOWNS ? region : 0]);
}

const uint8_t *as_variant_stub_left(struct as_patcher_code *code)
{
    const uint8_t *begin = code->at;
    EMIT(code, 0xff, 0x25, 0, 0, 0, 0); /* jmp [rip] */
    as_emit_number(code, (int64_t)(uintptr_t)as_variant_left, 8);
    return begin;
}
