/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes instructions: from text, for kernels written for the current CPU, and from an existing
 * instruction with other registers. The decoder library's encoder does the work.
 */
#ifndef AS_ISA_ENCODE_H
#define AS_ISA_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"

#define AS_ENCODE_B 16 /* capacity in bytes, enough for any instruction */

/*
 * Encodes one instruction in Intel order: "vfmadd231pd zmm0,zmm1,m512[rdi+rax*8-64]". The number
 * after 'm' is the operand's width in bits; for a gather it is the width of one element. An address
 * without base and index is absolute; rip makes it relative to the next instruction. A mask is an
 * operand after the destination ("vgatherdpd zmm0,k1,m64[rdi+ymm1*8]"). Jumps are not supported.
 * Returns the length in bytes, or 0 if the text cannot be encoded.
 */
size_t as_encode_text(const char *text, uint8_t out[AS_ENCODE_B]);

#define AS_ENCODE_KEEP 0xff

/* New registers of an instruction. AS_ENCODE_KEEP leaves a register unchanged. */
struct as_encode_choice {
    /* By explicit operand: register number in its file (rax 0, r8 8). */
    uint8_t reg[AS_OPERANDS_MAX];
    /* Base and index of the memory operand. The index of a gather is a vector register. */
    uint8_t base, index;
    bool sets_disp;
    int32_t disp;
};

/*
 * Encodes the instruction at `bytes` with the registers of `choice`. Operands that the encoding
 * fixes do not change. Returns the length in bytes, or 0 if this is impossible: for a jump, or for
 * equal registers of a gather.
 */
size_t as_encode_again(const uint8_t *bytes, size_t size_b, const struct as_encode_choice *choice,
                       uint8_t out[AS_ENCODE_B]);

/*
 * The following functions change an instruction with an explicit memory operand. An RIP-relative
 * operand keeps its displacement, which the caller must correct. All return the length in bytes, or
 * 0 if the instruction does not exist.
 */
/* Encodes the instruction with the memory operand at gs:[disp]. */
size_t as_encode_local(const uint8_t *bytes, size_t size_b, int32_t disp, uint8_t out[AS_ENCODE_B]);
/* Encodes the instruction with register `number` instead of the memory operand. This is a general
 * register if the first operand is one, else a vector register. */
size_t as_encode_register(const uint8_t *bytes, size_t size_b, unsigned number,
                          uint8_t out[AS_ENCODE_B]);
/* Encodes a plain load of the same number of bytes into the register of the first operand. */
size_t as_encode_load(const uint8_t *bytes, size_t size_b, uint8_t out[AS_ENCODE_B]);
/* Encodes a lea of the operand's address into general register `reg`. */
size_t as_encode_address(const uint8_t *bytes, size_t size_b, unsigned reg,
                         uint8_t out[AS_ENCODE_B]);
/* Encodes an instruction that sets the first operand without a dependence. A vector register gets
 * the value of vector register `number`, or 0 if `number` is AS_ENCODE_KEEP. A general register
 * gets 0. Flags do not change. */
size_t as_encode_value(const uint8_t *bytes, size_t size_b, unsigned number,
                       uint8_t out[AS_ENCODE_B]);

/* Returns the offset of the 32-bit displacement in the bytes of a RIP-relative instruction, or 0 if
 * it has none. */
size_t as_encode_rip_offset(const uint8_t *bytes, size_t size_b);

#endif
