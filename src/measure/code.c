/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code around a block: saves callee-saved registers, sets every register, reads the clock, and
 * runs copies of the block. It is encoded from text once and copied for each block. The distances
 * to its data and a few constants are then patched. Nothing allocates after the frame is
 * created.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "isa/encode.h"
#include "measure/internal.h"

enum { PIECE_B = 1536, PIECE_FIXES = 96 };

enum fix_kind { FIX_SLOT, FIX_REPEATS, FIX_GENERAL };

/* Code to be copied, with the positions to patch: references to slots and constants. */
struct piece {
    uint8_t code[PIECE_B];
    size_t n;
    struct {
        uint16_t at, end; /* start of the four or eight bytes; end of the instruction */
        uint8_t kind;     /* enum fix_kind */
        uint16_t value;   /* slot: its offset; general: the register */
    } fix[PIECE_FIXES];
    size_t fix_n;
    bool failed;
};

struct as_meter_frame {
    struct piece enter, top, x87, leave_loop, leave;
};

/* ---- Encoding the pieces --------------------------------------------------------------------- */

static size_t piece_text(struct piece *p, const char *text)
{
    uint8_t insn[AS_ENCODE_B];
    const size_t n = as_encode_text(text, insn);

    if (!n || p->n + n > PIECE_B) {
        p->failed = true;
        return 0;
    }
    memcpy(p->code + p->n, insn, n);
    p->n += n;
    return n;
}

static void piece_fix(struct piece *p, size_t at, enum fix_kind kind, size_t value)
{
    if (p->fix_n == PIECE_FIXES) {
        p->failed = true;
        return;
    }
    p->fix[p->fix_n].at = (uint16_t)at;
    p->fix[p->fix_n].end = (uint16_t)p->n;
    p->fix[p->fix_n].kind = (uint8_t)kind;
    p->fix[p->fix_n++].value = (uint16_t)value;
}

/* Appends an instruction with one RIP-relative operand, which will refer to the slot. */
static void piece_slot(struct piece *p, const char *text, size_t slot)
{
    const size_t from = p->n, n = piece_text(p, text);
    const size_t at = n ? as_encode_rip_offset(p->code + from, n) : 0;

    p->failed |= !at;
    piece_fix(p, from + at, FIX_SLOT, slot);
}

#define SLOT(name) offsetof(struct as_meter_slots, name)

static void piece_clock(struct piece *p, size_t slot)
{
    piece_text(p, "lfence");
    piece_text(p, "rdtsc");
    piece_text(p, "shl rdx,32");
    piece_text(p, "or rax,rdx");
    piece_slot(p, "mov m64[rip+0],rax", slot);
}

static void make_enter(struct piece *p, const struct as_widths *widths)
{
    char text[64];
    static const char *const kept[] = {"rbx", "rbp", "r12", "r13", "r14", "r15"};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        snprintf(text, sizeof text, "push %s", kept[i]);
        piece_text(p, text);
    }
    piece_slot(p, "mov m64[rip+0],rsp", SLOT(stack));
    piece_slot(p, "stmxcsr m32[rip+0]", SLOT(mxcsr_outer));
    if (widths->fsgsbase) {
        piece_text(p, "rdfsbase rax");
        piece_slot(p, "mov m64[rip+0],rax", SLOT(fs));
        piece_text(p, "rdgsbase rax");
        piece_slot(p, "mov m64[rip+0],rax", SLOT(gs));
        snprintf(text, sizeof text, "mov eax,%#llx", (unsigned long long)AS_METER_SEGMENT);
        piece_text(p, text);
        piece_text(p, "wrfsbase rax");
        piece_text(p, "wrgsbase rax");
    }
    piece_slot(p, "ldmxcsr m32[rip+0]", SLOT(mxcsr));
    piece_text(p, "mov eax,0x11111111");
    piece_fix(p, p->n - 4, FIX_REPEATS, 0);
    piece_slot(p, "mov m32[rip+0],eax", SLOT(repeats));
    piece_clock(p, SLOT(begin));
}

static void set_vectors(struct piece *p, const struct as_widths *widths)
{
    char text[64];

    for (unsigned i = 0; i < (widths->avx512 ? 32u : 16u); i++) {
        const char *wide = i >= 16 ? "xmm" : widths->avx512 ? "zmm" : widths->avx ? "ymm" : "xmm";
        snprintf(text, sizeof text, "%s %s%u,m%u[rip+0]", widths->avx ? "vmovups" : "movups", wide,
                 i,
                 *wide == 'z'   ? 512
                 : *wide == 'y' ? 256
                                : 128);
        piece_slot(p, text, SLOT(vector) + 64 * i);
    }
    /* With dirty upper halves, 9 % of the blocks take longer than they would alone. */
    if (widths->avx)
        piece_text(p, "vzeroupper");
}

/* Sets everything that a block can read to the same value before each repetition. */
static void make_top(struct piece *p, const struct as_widths *widths)
{
    static const char *const name[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                       "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    char text[64];

    set_vectors(p, widths);
    if (widths->avx512) {
        piece_text(p, "xor eax,eax");
        piece_text(p, "dec rax");
        for (unsigned i = 0; i < 8; i++) {
            snprintf(text, sizeof text, "kmovq k%u,rax", i);
            piece_text(p, text);
        }
    }
    piece_text(p, "xor eax,eax"); /* sets the flags */
    for (unsigned i = 0; i < 16; i++) {
        snprintf(text, sizeof text, "mov %s,0x1111111122222222", name[i]);
        piece_text(p, text);
        piece_fix(p, p->n - 8, FIX_GENERAL, i);
    }
    piece_text(p, "lfence");
}

static void make_leave(struct as_meter_frame *frame, const struct as_widths *widths)
{
    struct piece *p = &frame->leave;
    static const char *const back[] = {"pop r15", "pop r14", "pop r13",
                                       "pop r12", "pop rbp", "pop rbx"};

    piece_text(&frame->leave_loop, "lfence");
    piece_slot(&frame->leave_loop, "sub m32[rip+0],1", SLOT(repeats));
    piece_clock(p, SLOT(end));
    piece_text(p, "cld");
    if (widths->fsgsbase) {
        piece_slot(p, "mov rax,m64[rip+0]", SLOT(fs));
        piece_text(p, "wrfsbase rax");
        piece_slot(p, "mov rax,m64[rip+0]", SLOT(gs));
        piece_text(p, "wrgsbase rax");
    }
    piece_slot(p, "ldmxcsr m32[rip+0]", SLOT(mxcsr_outer));
    piece_slot(p, "mov rsp,m64[rip+0]", SLOT(stack));
    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        piece_text(p, back[i]);
    if (widths->avx)
        piece_text(p, "vzeroupper");
}

int as_frame_new(const struct as_widths *widths, struct as_meter_frame **out, struct as_error *err)
{
    struct as_meter_frame *frame = as_calloc(1, sizeof *frame);

    *out = frame;
    if (!frame)
        return as_error_nomem(err, "the code that measures");
    make_enter(&frame->enter, widths);
    make_top(&frame->top, widths);
    piece_text(&frame->x87, "fninit");
    make_leave(frame, widths);
    if (frame->enter.failed || frame->top.failed || frame->x87.failed || frame->leave_loop.failed ||
        frame->leave.failed) {
        as_frame_free(out);
        return as_error_set(err, AS_ERR_INTERNAL, "measuring: its own code cannot be encoded");
    }
    return 0;
}

void as_frame_free(struct as_meter_frame **frame)
{
    as_free(*frame);
    *frame = NULL;
}

/* ---- Function assembly --------------------------------------------------------------------- */

struct emitter {
    uint8_t *at;
    const uint8_t *end;
    const struct as_shape *shape;
};

static void emit_bytes(struct emitter *e, const void *bytes, size_t n)
{
    if ((size_t)(e->end - e->at) < n) {
        e->at = (uint8_t *)e->end;
        return;
    }
    memcpy(e->at, bytes, n);
    e->at += n;
}

/* Returns the value of a general register. The values are far apart, in different pages. */
static uint64_t general_value(const struct as_shape *shape, unsigned reg)
{
    if (shape->loops && shape->counter == (int)reg)
        return shape->loops;
    return UINT64_C(0x400000) * (reg + 1) + UINT64_C(0x140) * reg + (reg == 4 ? 0x800 : 0);
}

static void emit_piece(struct emitter *e, const struct piece *p)
{
    uint8_t *from = e->at;

    emit_bytes(e, p->code, p->n);
    if (e->at == e->end)
        return;
    for (size_t i = 0; i < p->fix_n; i++) {
        uint8_t *to = from + p->fix[i].at;
        if (p->fix[i].kind == FIX_SLOT) {
            const int32_t far = (int32_t)((int64_t)(AS_METER_CODE + p->fix[i].value) -
                                          (int64_t)(uintptr_t)(from + p->fix[i].end));
            memcpy(to, &far, sizeof far);
        } else if (p->fix[i].kind == FIX_REPEATS) {
            const uint32_t repeats = e->shape->repeats;
            memcpy(to, &repeats, sizeof repeats);
        } else {
            const uint64_t value = general_value(e->shape, p->fix[i].value);
            memcpy(to, &value, sizeof value);
        }
    }
}

static void emit_nops(struct emitter *e, size_t behind_b)
{
    static const uint8_t nop = 0x90;

    while (((uintptr_t)e->at + behind_b) % 64 && e->at < e->end)
        emit_bytes(e, &nop, 1);
}

static void emit_copy(struct emitter *e, const struct as_metered_block *block)
{
    uint8_t *from = e->at;

    emit_bytes(e, block->bytes, block->size_b);
    if (e->at == e->end)
        return;
    for (size_t i = 0; i < block->code.n; i++) {
        const struct as_insn *insn = &block->code.insn[i];
        if (!block->rip[i])
            continue;
        const int32_t far = (int32_t)((int64_t)block->target[i] -
                                      (int64_t)(uintptr_t)(from + insn->address + insn->length));
        memcpy(from + insn->address + block->rip[i], &far, sizeof far);
    }
}

static void emit_jump_back(struct emitter *e, const uint8_t *to)
{
    const int64_t near = to - (e->at + 2);
    const int32_t far = (int32_t)(to - (e->at + 6));
    uint8_t jnz[6] = {0x75, (uint8_t)near};

    if (near >= -128) {
        emit_bytes(e, jnz, 2);
        return;
    }
    jnz[0] = 0x0f, jnz[1] = 0x85;
    memcpy(jnz + 2, &far, sizeof far);
    emit_bytes(e, jnz, 6);
}

static void emit_blocks(struct emitter *e, const struct as_metered_block *block)
{
    static const uint8_t lfence[] = {0x0f, 0xae, 0xe8};
    const struct as_shape *shape = e->shape;
    const unsigned counter = (unsigned)shape->counter;
    const uint8_t dec[] = {counter < 8 ? 0x48 : 0x49, 0xff, (uint8_t)(0xc8 | (counter & 7))};

    emit_nops(e, shape->loops ? 0 : sizeof lfence);
    if (!shape->loops)
        emit_bytes(e, lfence, sizeof lfence); /* the nops have retired when the block begins */
    const uint8_t *loop = e->at;
    for (unsigned i = 0; i < shape->copies; i++)
        emit_copy(e, block);
    if (shape->loops) {
        emit_bytes(e, dec, sizeof dec);
        emit_jump_back(e, loop);
    }
}

void (*as_frame_emit(const struct as_meter_frame *frame, const struct as_metered_block *block,
                     const struct as_shape *shape, uint8_t **at))(void)
{
    static const uint8_t ret = 0xc3;
    struct emitter e = {(uint8_t *)(((uintptr_t)*at + 4095) & ~(uintptr_t)4095),
                        (const uint8_t *)(uintptr_t)(AS_METER_CODE + AS_METER_CODE_B), shape};
    uint8_t *entry = e.at;

    emit_piece(&e, &frame->enter);
    const uint8_t *top = e.at;
    if (block->uses_x87)
        emit_piece(&e, &frame->x87);
    emit_piece(&e, &frame->top);
    emit_blocks(&e, block);
    emit_piece(&e, &frame->leave_loop);
    emit_jump_back(&e, top);
    if (block->uses_x87)
        emit_piece(&e, &frame->x87);
    emit_piece(&e, &frame->leave);
    emit_bytes(&e, &ret, 1);
    *at = e.at;
    void (*function)(void) = NULL;
    if (e.at < e.end)
        memcpy(&function, &entry, sizeof function);
    return function;
}
