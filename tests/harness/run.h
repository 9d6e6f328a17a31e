/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes one instruction on this CPU from a given register and memory state and hands back the
 * state after it. Knows nothing of decoding: the caller passes the bytes. Single-threaded; faults
 * are caught and returned as an outcome. Not covered: segment bases, tiles, AVX-512 state on CPUs
 * without AVX-512BW.
 */
#ifndef HX_RUN_H
#define HX_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HX_LEVEL_SSE, HX_LEVEL_AVX, HX_LEVEL_AVX512 };

/* Offsets are known to enter.S. */
struct hx_state {
    uint64_t gpr[16]; /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15 */
    uint64_t flags;   /* RFLAGS */
    uint64_t taken;   /* out: 1 when the branch to HX_BRANCH was taken */
    uint64_t spare[6];
    uint64_t mask[8];
    uint8_t vec[32][64];
    uint8_t fx[512]; /* FXSAVE image: x87, MMX, MXCSR; its xmm part is not used */
} __attribute__((aligned(64)));

#define HX_FX_CW    0
#define HX_FX_SW    2
#define HX_FX_TAG   4 /* abridged: a set bit is a register in use */
#define HX_FX_MXCSR 24
#define HX_FX_ST    32 /* 8 of 16 bytes, in stack order */

/* Status flags and DF, as in RFLAGS. */
#define HX_FLAGS 0xcd5u

/* Scratch memory: between guard pages, below 2 GiB. */
#define HX_MEM_B 4096
/* A branch must have this displacement: there stands the exit that sets `taken`. */
#define HX_BRANCH 0x40

enum hx_outcome { HX_DONE, HX_ILL, HX_SEGV, HX_FPE, HX_BUS, HX_TRAP, HX_OUTCOMES };

/* False (with the reason) when this host allows no writable and executable memory. */
bool hx_init(const char **reason);
int hx_vector_level(void);   /* HX_LEVEL_* */
size_t hx_vector_b(void);    /* bytes of a vector register in view: 16, 32 or 64 */
size_t hx_vector_n(void);    /* 16 or 32 */
uint8_t *hx_memory(void);    /* HX_MEM_B bytes */
uint8_t *hx_code_page(void); /* where the instruction will stand */

/* Puts the instruction in place for hx_run. */
void hx_load(const uint8_t *bytes, size_t length);
/* Runs what hx_load placed; `out` is filled when HX_DONE comes back. Memory is hx_memory(). */
enum hx_outcome hx_run(const struct hx_state *in, struct hx_state *out);

const char *hx_outcome_name(enum hx_outcome outcome);

#endif
