/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions for stubs, byte by byte: what patcher_stub.c puts together. Behind the end of the
 * room nothing is written, and `full` is set.
 */
#include "agent/patcher/patcher_emit.h"

#include <string.h>

void as_emit_bytes(struct as_patcher_code *code, const uint8_t *bytes, size_t n)
{
    if (code->full || (size_t)(code->end - code->at) < n) {
        code->full = true;
        return;
    }
    memcpy(code->at, bytes, n);
    code->at += n;
}

void as_emit_number(struct as_patcher_code *code, int64_t value, size_t n)
{
    as_emit_bytes(code, (const uint8_t *)&value, n);
}

void as_emit_rsp(struct as_patcher_code *code, int32_t by) /* lea rsp,[rsp+by] */
{
    EMIT(code, 0x48, 0x8d, 0xa4, 0x24);
    as_emit_number(code, by, 4);
    as_emit_depth(code, code->depth_b - (uint32_t)by);
}

void as_emit_push(struct as_patcher_code *code, unsigned reg)
{
    EMIT(code, (uint8_t)(0x50 | reg));
    as_emit_depth(code, code->depth_b + 8);
}

void as_emit_pop(struct as_patcher_code *code, unsigned reg)
{
    EMIT(code, (uint8_t)(0x58 | reg));
    as_emit_depth(code, code->depth_b - 8);
}

void as_emit_depth(struct as_patcher_code *code, uint32_t depth_b)
{
    code->depth_b = depth_b;
    as_patcher_map_add(code->module, code->at, code->original, depth_b, false);
}

void as_emit_jump(struct as_patcher_code *code, const uint8_t *to)
{
    EMIT(code, 0xe9);
    as_emit_number(code, to - (code->at + 4), 4);
}

void as_emit_call(struct as_patcher_code *code, void (*function)(void)) /* by rax */
{
    EMIT(code, 0x48, 0xb8);
    as_emit_number(code, (int64_t)(uintptr_t)function, 8);
    EMIT(code, 0xff, 0xd0);
}

/* rcx = the thread's file */
void as_emit_thread(struct as_patcher_code *code)
{
    as_emit_local(code, LOAD, RCX, as_patcher_thread_offset());
}

/* `op` (0x89: store, 0x8b: load) between `reg` and [base + offset]; base is rcx, rdx or rsp. */
void as_emit_move(struct as_patcher_code *code, uint8_t op, unsigned reg, unsigned base,
                  int32_t offset)
{
    EMIT(code, (uint8_t)(0x48 | (reg >> 3) << 2), op, (uint8_t)(0x80 | (reg & 7) << 3 | base));
    if (base == RSP)
        EMIT(code, 0x24);
    as_emit_number(code, offset, 4);
}

/* The same, a store of 4 bytes. */
void as_emit_store_4(struct as_patcher_code *code, unsigned reg, unsigned base, int32_t offset)
{
    EMIT(code, 0x89, (uint8_t)(0x80 | (reg & 7) << 3 | base));
    as_emit_number(code, offset, 4);
}

/* jrcxz, to be led somewhere later */
uint8_t *as_emit_if_zero(struct as_patcher_code *code)
{
    EMIT(code, 0xe3, 0);
    return code->at;
}

void as_emit_lead(struct as_patcher_code *code, uint8_t *from)
{
    const int64_t distance = code->at - from;
    if (distance > 127)
        code->full = true;
    if (!code->full)
        from[-1] = (uint8_t)distance;
}

/* A jump of 5 bytes, to be led somewhere later. */
uint8_t *as_emit_jump_later(struct as_patcher_code *code)
{
    EMIT(code, 0xe9, 0, 0, 0, 0);
    return code->at;
}

void as_emit_lead_jump(struct as_patcher_code *code, uint8_t *from)
{
    const int32_t distance = (int32_t)(code->at - from);
    if (!code->full)
        memcpy(from - 4, &distance, sizeof distance);
}

/* Of the thread: mov between a register and segment:[offset]. */
void as_emit_local(struct as_patcher_code *code, uint8_t op, unsigned reg, int32_t offset)
{
    EMIT(code, AS_PATCHER_PREFIX, (uint8_t)(0x48 | (reg >> 3) << 2), op,
         (uint8_t)(0x04 | (reg & 7) << 3), 0x25);
    as_emit_number(code, offset, 4);
}

void as_emit_local_number(struct as_patcher_code *code, int32_t offset, int32_t value)
{
    EMIT(code, AS_PATCHER_PREFIX, 0x48, 0xc7, 0x04, 0x25);
    as_emit_number(code, offset, 4);
    as_emit_number(code, value, 4);
}

void as_emit_copy(struct as_patcher_code *code, unsigned to, unsigned from)
{
    EMIT(code, (uint8_t)(0x48 | (from >> 3) << 2 | to >> 3), 0x89,
         (uint8_t)(0xc0 | (from & 7) << 3 | (to & 7)));
}

void as_emit_save(struct as_patcher_code *code)
{
    as_emit_rsp(code, -RED_ZONE);
    as_emit_push(code, RAX);
    as_emit_push(code, RDX);
    as_emit_push(code, RCX);
}

void as_emit_restore(struct as_patcher_code *code)
{
    as_emit_pop(code, RCX);
    as_emit_pop(code, RDX);
    as_emit_pop(code, RAX);
    as_emit_rsp(code, RED_ZONE);
}

int32_t as_emit_local_offset(const void *at)
{
    uintptr_t segment;
    __asm__ volatile("mov %%" AS_PATCHER_SEGMENT ":0, %0" : "=r"(segment));
    return (int32_t)((intptr_t)(uintptr_t)at - (intptr_t)segment);
}
