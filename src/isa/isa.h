/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, writes and operations of one machine instruction.
 *
 * A decoded range of code is an array of 32-byte records. The form table has the properties of each
 * encoding form: class, element type, lanes, flops, operand accesses, flags. The record has the
 * rest: address, register numbers, memory operand, immediate. The decoder library is hidden.
 *
 * Sources: Intel SDM volumes 1 and 2, AMD APM volume 3; register numbers are our own.
 */
#ifndef AS_ISA_ISA_H
#define AS_ISA_ISA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* ---- Registers -------------------------------------------------------------------------- */

/*
 * One number per physical (architectural) register: al, ax, eax and rax are all AS_REG_GPR + 0;
 * xmm3, ymm3 and zmm3 are AS_REG_VEC + 3. Widths belong to the access, not to the register.
 */
enum as_reg {
    AS_REG_GPR = 0,    /* 16: rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15 */
    AS_REG_VEC = 16,   /* 32: zmm0 ... zmm31 */
    AS_REG_MASK = 48,  /* 8: k0 ... k7 */
    AS_REG_X87 = 56,   /* 8: st(0) ... st(7), shared with mm0 ... mm7 */
    AS_REG_TILE = 64,  /* 8: tmm0 ... tmm7 */
    AS_REG_IP = 72,    /* rip */
    AS_REG_MXCSR = 73, /* SSE control and status */
    AS_REG_X87CW = 74, /* x87 control word */
    AS_REG_X87SW = 75, /* x87 status and tag words, top of stack included */
    AS_REG_TILECFG = 76,
    AS_REG_SEG = 77,    /* 6: es cs ss ds fs gs (the base and selector together) */
    AS_REG_SYSTEM = 83, /* control, debug, bound and model-specific registers, as one */
    AS_REG_COUNT = 84,
    AS_REG_NONE = 255
};

/* A set of registers, bit r = register r. */
struct as_regset {
    uint64_t word[2];
};

static inline bool as_regset_has(struct as_regset s, unsigned reg)
{
    return reg < 128 && (s.word[reg >> 6] >> (reg & 63) & 1);
}

static inline void as_regset_join(struct as_regset *s, struct as_regset other)
{
    s->word[0] |= other.word[0];
    s->word[1] |= other.word[1];
}

static inline bool as_regset_meets(struct as_regset a, struct as_regset b)
{
    return (a.word[0] & b.word[0]) || (a.word[1] & b.word[1]);
}

/* Status flags (bit set), as in as_effects. */
enum as_status_flag {
    AS_FLAG_C = 1 << 0,
    AS_FLAG_P = 1 << 1,
    AS_FLAG_A = 1 << 2,
    AS_FLAG_Z = 1 << 3,
    AS_FLAG_S = 1 << 4,
    AS_FLAG_D = 1 << 5,
    AS_FLAG_O = 1 << 6,
    AS_FLAG_SYSTEM = 1 << 7 /* IF, TF, AC, IOPL, ... as one */
};

/* Name of a register seen at a width in bytes ("eax", "ymm3"); borrowed; "?" when unknown. */
const char *as_reg_name(unsigned reg, unsigned width_b);

/* ---- Classification --------------------------------------------------------------------- */

/* Classes of instructions, one each; the words of the table data/isa/. */
#define AS_CLASS_LIST(X)                                                                           \
    X(SYSTEM, "system") /* privileged, virtualisation, key locker, ...: not modelled */            \
    X(NOP, "nop")                                                                                  \
    X(MOVE, "move")     /* register, memory or immediate to register or memory */                  \
    X(EXTEND, "extend") /* sign and zero extension of integers */                                  \
    X(LEA, "lea")                                                                                  \
    X(PUSH, "push")                                                                                \
    X(POP, "pop")                                                                                  \
    X(EXCHANGE, "exchange") /* xchg, xadd, cmpxchg */                                              \
    X(STRING, "string")     /* movs, stos, cmps, ... with or without rep */                        \
    X(ADD, "add")           /* add, sub, inc, dec, neg, adc, sbb; packed too */                    \
    X(MUL, "mul")                                                                                  \
    X(FMA, "fma")                                                                                  \
    X(DIV, "div")                                                                                  \
    X(SQRT, "sqrt")                                                                                \
    X(RCP, "rcp")     /* approximate reciprocal */                                                 \
    X(RSQRT, "rsqrt") /* approximate reciprocal square root */                                     \
    X(DOT, "dot")     /* dot products and multiply-accumulate of small elements */                 \
    X(SAD, "sad")                                                                                  \
    X(MINMAX, "minmax")                                                                            \
    X(ABS, "abs")         /* absolute value, sign, average */                                      \
    X(ROUND, "round")     /* rounding, mantissa, exponent, range, reduce */                        \
    X(COMPARE, "compare") /* cmp, test, packed compares, class tests */                            \
    X(LOGIC, "logic")                                                                              \
    X(SHIFT, "shift")     /* shifts and rotates */                                                 \
    X(BIT, "bit")         /* bit tests, scans, counts, fields, deposits */                         \
    X(SELECT, "select")   /* cmov, setcc, blends */                                                \
    X(CONVERT, "convert") /* between element types */                                              \
    X(SHUFFLE, "shuffle") /* permutes, unpacks, packs, aligns */                                   \
    X(BROADCAST, "broadcast")                                                                      \
    X(INSERT, "insert")                                                                            \
    X(EXTRACT, "extract")   /* mask extraction (movmsk) too */                                     \
    X(COMPRESS, "compress") /* compress and expand */                                              \
    X(GATHER, "gather")                                                                            \
    X(SCATTER, "scatter")                                                                          \
    X(MASK, "mask")                     /* on mask registers */                                    \
    X(TRANSCENDENTAL, "transcendental") /* x87 sin, exp2, ...; exp2 of AVX-512ER */                \
    X(CRYPTO, "crypto")                                                                            \
    X(TILE, "tile") /* AMX */                                                                      \
    X(CALL, "call")                                                                                \
    X(JUMP, "jump")     /* unconditional */                                                        \
    X(BRANCH, "branch") /* conditional */                                                          \
    X(RETURN, "return")                                                                            \
    X(SYSCALL, "syscall")                                                                          \
    X(TRAP, "trap") /* ud2, int3, hlt: control does not go on */                                   \
    X(PREFETCH, "prefetch")                                                                        \
    X(FENCE, "fence")                                                                              \
    X(CACHE, "cache") /* flushes and write-backs */                                                \
    X(STATE, "state") /* vzeroupper, emms, ldmxcsr, xsave, flag moves */                           \
    X(TIME, "time")   /* rdtsc, rdpmc, cpuid-like queries */                                       \
    X(RANDOM, "random")                                                                            \
    X(INVALID, "invalid") /* bytes that decode to nothing */

enum as_class {
#define AS_CLASS_ENUM(name, word) AS_CLASS_##name,
    AS_CLASS_LIST(AS_CLASS_ENUM)
#undef AS_CLASS_ENUM
        AS_CLASS_COUNT
};

/* Borrowed word of a class ("fma"). */
const char *as_class_name(unsigned insn_class);

enum as_element {
    AS_ELEMENT_NONE, /* no data element: jumps, fences */
    AS_ELEMENT_INT,
    AS_ELEMENT_F16,
    AS_ELEMENT_BF16,
    AS_ELEMENT_F32,
    AS_ELEMENT_F64,
    AS_ELEMENT_F80,
    AS_ELEMENT_BCD,
    AS_ELEMENT_COUNT
};

enum as_isa_set {
    AS_ISA_BASE,
    AS_ISA_X87,
    AS_ISA_MMX,
    AS_ISA_SSE,
    AS_ISA_SSE2,
    AS_ISA_SSE3,
    AS_ISA_SSSE3,
    AS_ISA_SSE4,
    AS_ISA_AVX,
    AS_ISA_F16C,
    AS_ISA_FMA,
    AS_ISA_AVX2,
    AS_ISA_AVX512,
    AS_ISA_AVX_VNNI,
    AS_ISA_AVX512_BF16,
    AS_ISA_AVX512_FP16,
    AS_ISA_AMX,
    AS_ISA_BMI,
    AS_ISA_AES,
    AS_ISA_OTHER,
    AS_ISA_COUNT
};

/* X(NAME, word): extensions of the instruction set; words as in data/machine/features.txt. SSE
 * stands for what every x86-64 core but Knights Corner has. */
#define AS_EXTENSION_LIST(X)                                                                       \
    X(SSE, "sse")                                                                                  \
    X(SSE3, "sse3")                                                                                \
    X(SSSE3, "ssse3")                                                                              \
    X(SSE4_1, "sse4.1")                                                                            \
    X(SSE4_2, "sse4.2")                                                                            \
    X(SSE4A, "sse4a")                                                                              \
    X(POPCNT, "popcnt")                                                                            \
    X(AES, "aes")                                                                                  \
    X(PCLMUL, "pclmul")                                                                            \
    X(AVX, "avx")                                                                                  \
    X(F16C, "f16c")                                                                                \
    X(RDRAND, "rdrand")                                                                            \
    X(FMA, "fma")                                                                                  \
    X(AVX2, "avx2")                                                                                \
    X(BMI1, "bmi1")                                                                                \
    X(BMI2, "bmi2")                                                                                \
    X(LZCNT, "lzcnt")                                                                              \
    X(RDSEED, "rdseed")                                                                            \
    X(ADX, "adx")                                                                                  \
    X(SHA, "sha")                                                                                  \
    X(GFNI, "gfni")                                                                                \
    X(VAES, "vaes")                                                                                \
    X(VPCLMULQDQ, "vpclmulqdq")                                                                    \
    X(MOVDIRI, "movdiri")                                                                          \
    X(AVX_VNNI, "avx-vnni")                                                                        \
    X(AVX512F, "avx512f")                                                                          \
    X(AVX512CD, "avx512cd")                                                                        \
    X(AVX512BW, "avx512bw")                                                                        \
    X(AVX512DQ, "avx512dq")                                                                        \
    X(AVX512VL, "avx512vl")                                                                        \
    X(AVX512ER, "avx512er")                                                                        \
    X(AVX512PF, "avx512pf")                                                                        \
    X(AVX512IFMA, "avx512ifma")                                                                    \
    X(AVX512VBMI, "avx512vbmi")                                                                    \
    X(AVX512VBMI2, "avx512vbmi2")                                                                  \
    X(AVX512VNNI, "avx512vnni")                                                                    \
    X(AVX512BITALG, "avx512bitalg")                                                                \
    X(AVX512VPOPCNTDQ, "avx512vpopcntdq")                                                          \
    X(AVX512VP2INTERSECT, "avx512vp2intersect")                                                    \
    X(AVX512_4VNNIW, "avx5124vnniw")                                                               \
    X(AVX512_4FMAPS, "avx5124fmaps")                                                               \
    X(AVX512BF16, "avx512bf16")                                                                    \
    X(AVX512FP16, "avx512fp16")                                                                    \
    X(AMX_TILE, "amx-tile")                                                                        \
    X(AMX_INT8, "amx-int8")                                                                        \
    X(AMX_BF16, "amx-bf16")                                                                        \
    X(XOP, "xop")                                                                                  \
    X(FMA4, "fma4")                                                                                \
    X(TBM, "tbm")                                                                                  \
    X(LWP, "lwp")                                                                                  \
    X(AMD3DNOW, "3dnow")                                                                           \
    X(KNC, "knc") /* vectors of Knights Corner */

enum as_extension {
#define AS_EXTENSION_ENUM(name, word) AS_EXTENSION_##name,
    AS_EXTENSION_LIST(AS_EXTENSION_ENUM)
#undef AS_EXTENSION_ENUM
        AS_EXTENSION_COUNT
};

/* Bit of an extension in a set. */
#define AS_EXTENSION_BIT(name) (UINT64_C(1) << AS_EXTENSION_##name)

/* Borrowed word of an extension ("avx2"); "?" when unknown. */
const char *as_extension_name(unsigned extension);
/* Number of an extension by its word; below 0: none. */
int as_extension_find(const char *word);
/* Words of a set, "avx512f, avx512vl", into `buf` (always terminated, truncated if need be);
 * returns `buf`. */
const char *as_extension_words(uint64_t set, char *buf, size_t buf_b);

/* Bits of as_form.traits */
enum as_trait {
    AS_TRAIT_PACKED = 1u << 0,   /* works on all lanes of a vector */
    AS_TRAIT_SCALAR = 1u << 1,   /* works on one element in a vector register */
    AS_TRAIT_PACKABLE = 1u << 2, /* scalar or narrow, and a packed equivalent exists */
    AS_TRAIT_FP = 1u << 3,       /* floating-point arithmetic or data */
    AS_TRAIT_X87 = 1u << 4,
    AS_TRAIT_LOCK = 1u << 5,         /* atomic (explicit lock, or xchg with memory) */
    AS_TRAIT_REP = 1u << 6,          /* repeated string operation */
    AS_TRAIT_SERIALISING = 1u << 7,  /* waits for all earlier instructions (SDM 3A 8.3) */
    AS_TRAIT_ZEROING = 1u << 8,      /* zero idiom where source registers are equal */
    AS_TRAIT_ONES = 1u << 9,         /* all-ones idiom where source registers are equal */
    AS_TRAIT_REGMOVE = 1u << 10,     /* register-to-register copy a renamer may eliminate */
    AS_TRAIT_CONDITIONAL = 1u << 11, /* jump or move depends on flags, a count or a mask */
    AS_TRAIT_INDIRECT = 1u << 12,    /* call or jump through register or memory */
    AS_TRAIT_MASKED = 1u << 13,      /* a mask other than k0 guards the lanes */
    AS_TRAIT_MASK_ZEROES = 1u << 14, /* masked-off lanes become zero, else keep */
    AS_TRAIT_BROADCAST = 1u << 15,   /* embedded broadcast of a memory element */
    AS_TRAIT_NONTEMPORAL = 1u << 16,
    AS_TRAIT_ALIGNED = 1u << 17, /* faults on an unaligned memory operand */
    AS_TRAIT_VEX = 1u << 18,     /* VEX, EVEX or XOP encoded: clears the upper lanes */
    AS_TRAIT_EVEX = 1u << 19,
    AS_TRAIT_ENDS = 1u << 20, /* the next instruction is not reached from here */
    AS_TRAIT_PRIVILEGED = 1u << 21,
    AS_TRAIT_RIP_RELATIVE = 1u << 22, /* memory operand; displacement holds target - address */
    AS_TRAIT_STACK = 1u << 23         /* implicit stack access: push, pop, call, return */
};

/* How an operand or an implicit register is touched. */
enum as_access_bits {
    AS_ACCESS_READ = 1 << 0,
    AS_ACCESS_WRITE = 1 << 1,
    AS_ACCESS_MAYBE = 1 << 2, /* the write happens under a condition: the old value may stay */
    AS_ACCESS_MERGE = 1 << 3  /* bits outside the written width (or masked off) stay */
};

#define AS_OPERANDS_MAX 5

enum as_operand_kind {
    AS_OPERAND_NONE,
    AS_OPERAND_REG, /* record reg[slot] */
    AS_OPERAND_MEM, /* the record's memory operand */
    AS_OPERAND_IMM,
    AS_OPERAND_REL,    /* branch target */
    AS_OPERAND_ADDRESS /* memory operand of lea and the like: computed, not accessed */
};

/* Which registers an operand can be, as assembly names them. */
enum as_register_file {
    AS_FILE_NONE, /* no register */
    AS_FILE_GPR8,
    AS_FILE_GPR16,
    AS_FILE_GPR32,
    AS_FILE_GPR64,
    AS_FILE_MMX,
    AS_FILE_XMM,
    AS_FILE_YMM,
    AS_FILE_ZMM,
    AS_FILE_MASK,
    AS_FILE_X87,
    AS_FILE_TILE,
    AS_FILE_SEGMENT,
    AS_FILE_OTHER /* control, debug, bound */
};

/* One explicit operand of a form, in assembler (Intel) order, destination first. */
struct as_operand {
    uint8_t kind;      /* as_operand_kind */
    uint8_t access;    /* as_access_bits bits */
    uint8_t slot;      /* index into as_insn.reg for registers */
    uint8_t element_b; /* element size in bytes; 0 = not a data element */
    uint16_t width_b;  /* bytes accessed; up to 8192 for tiles and state areas (0 = unknown) */
    uint8_t file;      /* as_register_file */
    uint8_t fixed;     /* not 0: the encoding leaves no choice: number of the register + 1 (shift by
                          cl); of an immediate its value (shift by 1) */
};

/* Memory touched without an explicit operand: stack, string operations, xlat, maskmov. */
struct as_form_memory {
    uint8_t base, index, segment; /* registers or AS_REG_NONE */
    uint8_t access;               /* as_access_bits bits */
    int16_t disp;                 /* push and call: minus the width */
    uint16_t width_b;             /* per repetition; 0 = depends on state */
};

/* Properties of every instance of an encoding form. */
struct as_form {
    const char *mnemonic; /* lower case, borrowed for the life of the process */
    uint32_t traits;
    uint8_t insn_class;     /* as_class */
    uint8_t element;        /* as_element: type computed on (destination's for conversions) */
    uint8_t element_b;      /* its size in bytes */
    uint8_t source_element; /* conversions: type converted from, else as element */
    uint8_t source_element_b;
    uint16_t lanes;        /* elements computed on per instruction: 1 for scalar, 0 where none */
    uint16_t vector_b;     /* width in bytes of the widest vector register or operand, 0 if none */
    uint16_t flops;        /* floating-point operations, all lanes on; FMA = 2 per lane */
    uint16_t intops;       /* integer operations, all lanes on */
    uint8_t isa;           /* as_isa_set */
    uint8_t flags_read;    /* as_status_flag bits */
    uint8_t flags_written; /* set, cleared, or left undefined */
    uint8_t flags_undefined; /* subset of flags_written with no defined value */
    uint8_t
        flags_maybe;  /* subset of flags_written that may stay (shift by zero, rep with rcx = 0) */
    uint8_t operands; /* explicit operands */
    struct as_operand operand[AS_OPERANDS_MAX];
    struct as_regset implicit_read; /* registers beyond operands and address registers */
    struct as_regset implicit_write;
    struct as_regset implicit_merge; /* subset of implicit_write: part of the old value stays */
    struct as_regset implicit_clear; /* subset of implicit_write: bits above 31 become zero */
    uint8_t memories;                /* implicit memory operands */
    struct as_form_memory memory[2];
    uint64_t extensions; /* bits by as_extension: a core needs all of them to run the form */
};

/* ---- Records ---------------------------------------------------------------------------- */

enum as_insn_bits {
    AS_INSN_MEM = 1 << 0,      /* has an explicit memory or address operand */
    AS_INSN_IMM64 = 1 << 1,    /* immediate or displacement stands in the side table */
    AS_INSN_IDIOM = 1 << 2,    /* form is ZEROING/ONES and its sources are the same register */
    AS_INSN_STACKMEM = 1 << 3, /* explicit memory operand with base rsp or rbp (only the
                                * function shows whether rbp is a frame pointer) */
    AS_INSN_INVALID = 1 << 4
};

/* Sums that leave 32 bits: RIP-relative or branch distances within 15 bytes of 2 GiB. */
enum as_insn_wrap { AS_WRAP_DISP = 1 << 0, AS_WRAP_IMM = 1 << 1 };

/* One instruction; 32 bytes. */
struct as_insn {
    uint64_t address;
    uint16_t form;   /* index for as_form_get */
    uint8_t length;  /* bytes, 1..15; 1 for a byte that decodes to nothing */
    uint8_t bits;    /* as_insn_bits */
    uint8_t reg[4];  /* explicit registers by operand slot, AS_REG_NONE when unused */
    uint8_t base;    /* memory operand: base register, AS_REG_IP or AS_REG_NONE */
    uint8_t index;   /* index register or AS_REG_NONE; a vector register for gathers, scatters */
    uint8_t scale;   /* 1, 2, 4 or 8; 0 without index */
    uint8_t segment; /* AS_REG_SEG + 4/5 when fs/gs overridden, else AS_REG_NONE */
    uint8_t mask;    /* AS_REG_MASK + 1..7 or AS_REG_NONE */
    uint8_t high;    /* bit i: reg[i] is ah, ch, dh or bh (bits 8 to 15 of the register) */
    uint16_t wrap;   /* as_insn_wrap: disp or imm stands for its value plus 2^32 */
    int32_t disp;    /* displacement; RIP-relative: target address - address of this record */
    int32_t imm;     /* immediate (enter, extrq, insertq: second << 16 | first);
                        branch target - address for relative branches */
};

/* A decoded range. Read-only once decoded; free with as_code_free. */
struct as_code {
    struct as_insn *insn; /* ascending addresses */
    size_t n;
    uint64_t start, end; /* addresses */
    /* Immediates and displacements wider than 32 bits: sorted by instruction index. */
    struct as_wide {
        uint32_t index;
        int64_t value;
    } * wide;
    size_t wide_n;
    size_t invalid_n; /* bytes that decode to nothing */
};

/*
 * Decodes `size_b` bytes at `bytes` as if loaded at `address`, one record after the other; a byte
 * that starts no instruction becomes a record of class INVALID and length 1, never an error.
 * The caller owns `out` (overwritten). Thread-safe. Errors: NOMEM.
 */
int as_decode(const uint8_t *bytes, size_t size_b, uint64_t address, struct as_code *out,
              struct as_error *err);
/*
 * Several ranges, ascending, into one `out`; decoding starts afresh in each. `first[i]` (may be
 * NULL) becomes the index of the first record of range i. Errors as above.
 */
struct as_bytes {
    const uint8_t *bytes;
    size_t size_b;
    uint64_t address;
    bool k1om; /* code for Knights Corner: its MVEX encodings are invalid elsewhere */
};
int as_decode_ranges(const struct as_bytes *range, size_t n, struct as_code *out, size_t *first,
                     struct as_error *err);
void as_code_free(struct as_code *code);

/* The form of a record; borrowed for the life of the process, immutable, thread-safe. */
const struct as_form *as_form_get(uint16_t form);
/* Number of forms known so far. */
size_t as_form_count(void);

/*
 * A form in words, "vfmadd231pd ymm,ymm,m256": different for every two forms, and the same in all
 * processes, whatever was decoded before (doc/internals/isa.md). Into `buf`, always terminated,
 * truncated if need be (AS_FORM_TEXT_B is enough); returns its length in bytes.
 */
#define AS_FORM_TEXT_B 160
int as_form_text(const struct as_form *form, char *buf, size_t buf_b);
/* The text as a number (FNV-1a, 64 bits), for tables of forms. */
uint64_t as_form_key(const struct as_form *form);

/* Full immediate or displacement of record `index` of `code`, side table included. */
int64_t as_code_imm(const struct as_code *code, size_t index);
int64_t as_code_disp(const struct as_code *code, size_t index);

/* Index of the record at or covering `address`, or SIZE_MAX. O(log n). */
size_t as_code_find(const struct as_code *code, uint64_t address);

/* Target of a direct call, jump or branch; false for any other record. */
bool as_insn_target(const struct as_insn *insn, uint64_t *target);
/* Absolute address of a RIP-relative or base-less absolute memory operand; else false. */
bool as_insn_memory_address(const struct as_insn *insn, uint64_t *address);

/* All registers and flags of one instruction, explicit, implicit and address registers together. */
struct as_effects {
    /*
     * Partial writes that merge read their register too. Two reads are left out because no CPU
     * waits for them: bits above 127 that a legacy SSE write keeps (`merged` has them), and the
     * sticky exception flags of MXCSR.
     */
    struct as_regset read;
    struct as_regset written; /* possibly written */
    struct as_regset merged;  /* subset of written: part of the old value survives or may */
    struct as_regset cleared; /* subset of written: bits above the operand width become zero */
    uint8_t flags_read, flags_written, flags_undefined, flags_maybe; /* as_status_flag bits */
};
void as_insn_effects(const struct as_insn *insn, struct as_effects *out);

/* Memory operands, explicit and implicit (stack, strings): at most 2. */
struct as_memory {
    uint8_t base, index, scale, segment; /* as in the record */
    uint8_t access;                      /* as_access_bits bits */
    uint8_t stack;                       /* based on the stack pointer, or implicit stack */
    uint8_t rip_relative;
    uint8_t element_b;
    uint32_t width_b; /* bytes per execution; gathers: all lanes; 0 = depends on state */
    int64_t disp;     /* RIP-relative: absolute address */
};
/* Fills up to 2 entries, returns how many. `code` may be NULL when disp fits 32 bits. */
int as_insn_memory(const struct as_code *code, const struct as_insn *insn, struct as_memory out[2]);

/* Number in DWARF of a general register (psABI for AMD64, table 3.36); NONE: it is another one. */
static inline uint8_t as_reg_dwarf(unsigned reg)
{
    static const uint8_t first[8] = {0, 2, 1, 3, 7, 6, 4, 5};

    return reg < 8 ? first[reg] : reg < 16 ? (uint8_t)reg : (uint8_t)AS_REG_NONE;
}

enum as_syntax { AS_SYNTAX_INTEL, AS_SYNTAX_ATT };

/*
 * Assembly text of the instruction at `bytes` into `buf` (always terminated, truncated if need
 * be). Returns its length in bytes. Absolute targets are printed as 0x... addresses.
 */
int as_insn_format(const uint8_t *bytes, size_t size_b, uint64_t address, enum as_syntax syntax,
                   char *buf, size_t buf_b);

#endif
