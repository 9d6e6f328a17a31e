/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions for stubs, and what the stubs of entries and of edges share. */
#ifndef AS_AGENT_PATCHER_EMIT_H
#define AS_AGENT_PATCHER_EMIT_H

#include "agent/patcher/patcher.h"

enum { RAX, RCX, RDX, RBX, RSP };
#define RED_ZONE 128
#define SAVED_B  (RED_ZONE + 3 * 8) /* by as_emit_save */

/* ---- patcher_emit.c ---- */

void as_emit_bytes(struct as_patcher_code *code, const uint8_t *bytes, size_t n);
#define EMIT(code, ...)                                                                            \
    as_emit_bytes((code), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
void as_emit_number(struct as_patcher_code *code, int64_t value, size_t n);
void as_emit_rsp(struct as_patcher_code *code, int32_t by);    /* lea rsp,[rsp+by] */
void as_emit_push(struct as_patcher_code *code, unsigned reg); /* below r8 */
void as_emit_pop(struct as_patcher_code *code, unsigned reg);
/* From here on so much of ours lies on the stack, for those who take samples: where that does not
 * follow from what was written before. */
void as_emit_depth(struct as_patcher_code *code, uint32_t depth_b);
void as_emit_jump(struct as_patcher_code *code, const uint8_t *to);
void as_emit_call(struct as_patcher_code *code, void (*function)(void)); /* by rax */
void as_emit_thread(struct as_patcher_code *code);                       /* rcx = its file */
/* `op` between `reg` and [base + offset]; base is rcx, rdx or rsp. */
void as_emit_move(struct as_patcher_code *code, uint8_t op, unsigned reg, unsigned base,
                  int32_t offset);
#define STORE 0x89
#define LOAD  0x8b
void as_emit_store_4(struct as_patcher_code *code, unsigned reg, unsigned base, int32_t offset);
/* `op` between `reg` and segment:[offset] */
void as_emit_local(struct as_patcher_code *code, uint8_t op, unsigned reg, int32_t offset);
void as_emit_local_number(struct as_patcher_code *code, int32_t offset, int32_t value);
void as_emit_copy(struct as_patcher_code *code, unsigned to, unsigned from);
/* jrcxz, and a jump of 5 bytes: to be led to where the code goes on. */
uint8_t *as_emit_if_zero(struct as_patcher_code *code);
void as_emit_lead(struct as_patcher_code *code, uint8_t *from);
uint8_t *as_emit_jump_later(struct as_patcher_code *code);
void as_emit_lead_jump(struct as_patcher_code *code, uint8_t *from);
/* rax, rdx, rcx onto the stack below the red zone, and back. */
void as_emit_save(struct as_patcher_code *code);
void as_emit_restore(struct as_patcher_code *code);
int32_t as_emit_local_offset(const void *at); /* of what is local to the thread */

/* ---- patcher_entry.c ---- */

/* Where a word of the thread is 0 code goes on behind what comes next: to be led there as a jump
 * is. `free`: registers, and AS_PATCH_STATUS_FREE, that may change. */
uint8_t *as_stub_unless(struct as_patcher_code *code, int32_t local, uint32_t free);
/* SAMPLE: an instance of `loop` begins; code goes on behind it when it is measured, else at
 * `other`, or, where that is NULL, where what is returned is led as a jump is. */
uint8_t *as_stub_sample(struct as_patcher_code *code, uint32_t loop, uint32_t free,
                        const uint8_t *other);

/* ---- patcher_stub.c ---- */

const struct as_patch_loop *as_stub_loop(uint32_t number);
int32_t as_stub_slot(uint32_t loop, size_t field);
const struct as_patch_region *as_stub_region(uint32_t loop);
/* Control comes into the measured clone, sampled or not: a word of the thread says of each loop
 * whether the instance is. */
bool as_stub_is_always_measured(const struct as_patch_region *region);
/* The loop's words are local to the thread; else they stand in its slot. */
bool as_stub_is_near(uint32_t loop);
int32_t as_stub_armed(uint32_t loop);
/* The slot says that the instance is not measured. */
void as_stub_unarm(struct as_patcher_code *code, unsigned base, uint32_t number);
/* Goes on behind, or at `on`. */
void as_stub_enter(struct as_patcher_code *code, uint32_t number, const uint8_t *on);

#endif
