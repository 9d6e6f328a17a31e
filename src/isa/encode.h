/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making instructions: from text, for kernels that are written for the processor at hand, and from
 * an instruction that is there, with other registers. The decoder library's encoder is behind it.
 */
#ifndef AS_ISA_ENCODE_H
#define AS_ISA_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <assay/isa.h>

#define AS_ENCODE_B 16 /* room that any instruction has enough of */

/*
 * One instruction in assembler (Intel) order: "vfmadd231pd zmm0,zmm1,m512[rdi+rax*8-64]". The
 * number behind 'm' is the width of the operand in bits (a gather's: of one element); without base
 * and index it is absolute; a distance from the next instruction with rip. Masks are operands
 * behind the destination ("vgatherdpd zmm0,k1,m64[rdi+ymm1*8]"). Jumps are not encoded. Returns the
 * length, 0 for what cannot be encoded.
 */
size_t as_encode_text(const char *text, uint8_t out[AS_ENCODE_B]);

#define AS_ENCODE_KEEP 0xff

/* What to put in place of the registers of an instruction; AS_ENCODE_KEEP leaves one as it is. */
struct as_encode_choice {
    uint8_t reg[ASSAY_OPERANDS_MAX]; /* by explicit operand, number within its file (rax 0, r8 8) */
    uint8_t base, index;             /* of the memory operand; the index of a gather is a vector */
    bool sets_disp;
    int32_t disp;
};

/*
 * The instruction at `bytes` with the registers of `choice`. Operands that the encoding fixes stay.
 * Returns the length, 0 when it cannot be encoded so (a jump, registers of a gather that are
 * equal).
 */
size_t as_encode_again(const uint8_t *bytes, size_t size_b, const struct as_encode_choice *choice,
                       uint8_t out[AS_ENCODE_B]);

/*
 * Of an instruction with an explicit memory operand; RIP-relative ones keep a displacement that is
 * to be filled in anew. All return the length, 0 when there is no such instruction.
 */
/* The same at gs:[disp]. */
size_t as_encode_local(const uint8_t *bytes, size_t size_b, int32_t disp, uint8_t out[AS_ENCODE_B]);
/* The same with register `number` in place of the memory: a general one where the first operand is,
 * else a vector. */
size_t as_encode_register(const uint8_t *bytes, size_t size_b, unsigned number,
                          uint8_t out[AS_ENCODE_B]);
/* A plain load of as many bytes into the register that is its first operand. */
size_t as_encode_load(const uint8_t *bytes, size_t size_b, uint8_t out[AS_ENCODE_B]);
/* lea of its address into general register `reg`. */
size_t as_encode_address(const uint8_t *bytes, size_t size_b, unsigned reg,
                         uint8_t out[AS_ENCODE_B]);
/* In place of the instruction a value for its first operand that waits for nothing: vector
 * `number`, or 0 where that is AS_ENCODE_KEEP; general registers become 0. No flag changes. */
size_t as_encode_value(const uint8_t *bytes, size_t size_b, unsigned number,
                       uint8_t out[AS_ENCODE_B]);

/* Where the 32-bit displacement of a RIP-relative instruction stands in its bytes; 0: it has none.
 */
size_t as_encode_rip_offset(const uint8_t *bytes, size_t size_b);

#endif
