/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share: the recipe by which a record is read off the encoding bytes,
 * the reference decoder that makes recipes, and the form table. The decoder library's types stay
 * in build.c, reference.c and format.c.
 */
#ifndef AS_ISA_INTERNAL_H
#define AS_ISA_INTERNAL_H

#include <assay/isa.h>

/* Bodies of 10 million instructions are kept: two records a cache line. */
_Static_assert(sizeof(struct assay_insn) == 32, "record of an instruction");

enum { AS_INSN_MAX_B = 15, AS_SLOTS = 4 };

/* Where a register number stands in the encoding. */
enum as_encoded {
    AS_ENCODED_CONST,
    AS_ENCODED_REG,
    AS_ENCODED_RM,
    AS_ENCODED_VVVV,
    AS_ENCODED_OPCODE,
    AS_ENCODED_IS4,
    AS_ENCODED_COUNT
};

enum as_recipe_flag {
    AS_RECIPE_SLOW = 1 << 0,   /* only the reference decoder gets this one right */
    AS_RECIPE_FINE = 1 << 1,   /* validity hangs on register numbers: look up the finer key */
    AS_RECIPE_MEM = 1 << 2,    /* has a ModRM memory operand */
    AS_RECIPE_IDIOM = 1 << 3,  /* compare idiom_a with idiom_b */
    AS_RECIPE_REL = 1 << 4,    /* immediate is a distance from the end */
    AS_RECIPE_SIGNED = 1 << 5, /* immediate is sign-extended */
    AS_RECIPE_IMM = 1 << 6,    /* immediate goes into the record (else only skipped) */
    AS_RECIPE_ONE = 1 << 7     /* the immediate is 1 and has no byte (shift by one) */
};

/*
 * How to fill a record of one encoding: register of slot i = base[i] + (field value & mask),
 * where pick[i] holds the field in bits 0 to 2 and the mask in bits 3 to 7.
 */
struct as_recipe {
    uint16_t form;
    uint8_t flags;
    uint8_t imm_b;
    uint8_t pick[AS_SLOTS];
    uint8_t base[AS_SLOTS];
    uint8_t bytes;      /* bit i: slot i is a byte register where 4 to 7 mean ah ... bh */
    uint8_t segment;    /* of the record */
    uint8_t disp_shift; /* compressed 8-bit displacement */
    uint8_t idiom;      /* slots to compare: a | b << 4 */
};

/* Decodes one instruction at `bytes` (up to 15 of `size_b`) the slow and sure way. */
struct as_decoded {
    struct assay_insn insn;
    struct as_recipe recipe; /* flags SLOW when it cannot be described */
    int64_t imm, disp;       /* whole, when insn.bits has ASSAY_INSN_IMM64 */
};

/* 0 (an invalid byte included) or NOMEM / LIMIT when the form table cannot grow. MVEX encodings are
 * instructions where the code is `k1om`. */
int as_reference_decode(const uint8_t *bytes, size_t size_b, uint64_t address, bool k1om,
                        struct as_decoded *out);

/* Number of the form equal to `form`, added when new; negative: NOMEM or LIMIT. Thread-safe. */
int as_form_intern(const struct assay_form *form);
/* The form of bytes that decode to nothing is always number 0. */
enum { AS_FORM_INVALID = 0 };

static inline void as_regset_add(struct assay_regset *s, unsigned reg)
{
    if (reg < 128)
        s->word[reg >> 6] |= (uint64_t)1 << (reg & 63);
}

#endif
