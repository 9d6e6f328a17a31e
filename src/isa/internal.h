/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares what the files of this room share: the recipe that turns encoding bytes into a record,
 * the reference decoder that makes recipes, and the form table. Headers with the decoder library's
 * types are separate (build.h, patches.h).
 */
#ifndef AS_ISA_INTERNAL_H
#define AS_ISA_INTERNAL_H

#include "isa/isa.h"

/* Programs have tens of millions of records, so two must fit into a cache line. */
_Static_assert(sizeof(struct as_insn) == 32, "record of an instruction");

enum { AS_INSN_MAX_B = 15, AS_SLOTS = 4 };

/* Field of the encoding that holds a register number. */
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
    AS_RECIPE_SLOW = 1 << 0,   /* only the reference decoder is correct */
    AS_RECIPE_FINE = 1 << 1,   /* validity depends on register numbers: use the finer key */
    AS_RECIPE_MEM = 1 << 2,    /* has a ModRM memory operand */
    AS_RECIPE_IDIOM = 1 << 3,  /* compare the two slots of `idiom` */
    AS_RECIPE_REL = 1 << 4,    /* the immediate is a distance from the instruction's end */
    AS_RECIPE_SIGNED = 1 << 5, /* the immediate is sign-extended */
    AS_RECIPE_IMM = 1 << 6,    /* the record gets the immediate; else it is only skipped */
    AS_RECIPE_ONE = 1 << 7     /* the immediate is 1 and has no byte (shift by one) */
};

/*
 * Describes how to fill a record of one encoding. The register of slot i is base[i] + (field value
 * & mask). pick[i] has the field in bits 0 to 2 and the mask in bits 3 to 7.
 */
struct as_recipe {
    uint16_t form;
    uint8_t flags;
    uint8_t imm_b;
    uint8_t pick[AS_SLOTS];
    uint8_t base[AS_SLOTS];
    uint8_t bytes;      /* bit i: slot i is a byte register, and 4 to 7 mean ah ... bh */
    uint8_t segment;    /* segment of the record */
    uint8_t disp_shift; /* shift of a compressed 8-bit displacement */
    uint8_t idiom;      /* slots to compare: a | b << 4 */
};

/* An instruction that the reference decoder has decoded. */
struct as_decoded {
    struct as_insn insn;
    struct as_recipe recipe; /* has the flag SLOW if no recipe can describe the encoding */
    int64_t imm, disp;       /* whole values if insn.bits has AS_INSN_IMM64 */
};

/* Decodes one instruction at `bytes` with the decoder library. At most 15 of `size_b` bytes are
 * read. MVEX encodings are valid only if `k1om` is set. Returns 0, also for an invalid byte.
 * Returns AS_ERR_NOMEM or AS_ERR_LIMIT if the form table cannot grow. */
int as_reference_decode(const uint8_t *bytes, size_t size_b, uint64_t address, bool k1om,
                        struct as_decoded *out);

/* Returns the number of the form equal to `form` and adds the form if it is new. Returns
 * AS_ERR_LIMIT if the table is full. Thread-safe. */
int as_form_intern(const struct as_form *form);
/* Number of the form of invalid bytes. */
enum { AS_FORM_INVALID = 0 };

static inline void as_regset_add(struct as_regset *s, unsigned reg)
{
    if (reg < 128)
        s->word[reg >> 6] |= (uint64_t)1 << (reg & 63);
}

#endif
