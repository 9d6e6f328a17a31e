/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that counting clones record, and how to read them again. A thread appends records to a
 * buffer of its file: the number of the record, for a walk its iterations, then values of address
 * registers ("words"). The maker of a plan keeps which operand has which word; the agent does not.
 */
#ifndef AS_PATCH_ADDRESS_PLAN_H
#define AS_PATCH_ADDRESS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

enum {
    AS_ADDRESS_WORDS_MOST = 64,
    AS_ADDRESS_NONE = 0xffff /* no word: the offset is the address */
};

/* One memory operand of a record: `width_b` bytes at word + offset, of a walk + iteration * step.
 */
struct as_address_operand {
    uint64_t insn; /* address in its file */
    int64_t offset, step;
    uint32_t width_b; /* of a repeated instruction: each time */
    uint16_t word;
    uint16_t times; /* word that says how often it repeats, or NONE */
    uint8_t access; /* assay_access */
    bool streams;   /* non-temporal */
};

/* The meaning of a number in the buffer. */
struct as_address_record {
    uint32_t module; /* of the plan */
    uint32_t body;   /* of the program */
    uint32_t loop;   /* innermost one around it, of the program; ASSAY_NONE: none */
    uint32_t words;
    uint32_t first_operand, operands;
    bool walks;    /* an innermost loop: what counted its iterations stands before the words */
    uint32_t more; /* iterations that were not counted */
};

/* An operand that no record has: a gather or scatter, a segment, an address of 32 bits. */
struct as_address_missed {
    uint64_t insn;
    uint32_t module, body, loop;
};

/* In place of the iterations while the walk runs. */
#define AS_ADDRESS_RUNS UINT64_MAX

struct as_address_plan {
    AS_VEC(struct as_address_record) record;
    AS_VEC(struct as_address_operand) operand;
    AS_VEC(struct as_address_missed) missed;
};
void as_address_plan_fini(struct as_address_plan *plan);

/* Words of 8 bytes of a record in the buffer, with its number. */
static inline uint32_t as_address_record_n(const struct as_address_record *record)
{
    return 1 + record->walks + record->words;
}

#endif
