/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes the addresses that counting clones record. A thread appends records to a buffer of its
 * file. A record has its number, for a walk the number of iterations, and values of address
 * registers ("words"). Only the maker of a plan knows which operand uses which word; the agent does
 * not.
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

/* One memory operand of a record: `width_b` bytes at word + offset, for a walk +
 * iteration * step. */
struct as_address_operand {
    uint64_t insn; /* address in its file */
    int64_t offset, step;
    uint32_t width_b; /* bytes of one access, also for a repeated instruction */
    uint16_t word;
    uint16_t times; /* word with the number of repetitions, or AS_ADDRESS_NONE */
    uint8_t access; /* as_access_bits */
    bool streams;   /* non-temporal */
};

/* Meaning of a record number in the buffer. */
struct as_address_record {
    uint32_t module; /* module of the plan */
    uint32_t body;   /* body of the program */
    uint32_t loop;   /* innermost loop of the program that holds it, or AS_NONE */
    uint32_t words;
    uint32_t first_operand, operands;
    bool walks; /* an innermost loop: its iteration count precedes the words */
    /* The program writes it only if an operand is in a sampled class of lines
     * (as_patch_thread). Counter `dropped` has the records that found no space. */
    bool is_sampled;
    uint64_t dropped;
    uint32_t more; /* iterations that the count does not include */
};

/* An operand without a record: a gather or scatter, a segment, or a 32-bit address. */
struct as_address_missed {
    uint64_t insn;
    uint32_t module, body, loop;
};

/* Value of the iteration count while the walk runs. */
#define AS_ADDRESS_RUNS UINT64_MAX

struct as_address_plan {
    AS_VEC(struct as_address_record) record;
    AS_VEC(struct as_address_operand) operand;
    AS_VEC(struct as_address_missed) missed;
};
void as_address_plan_fini(struct as_address_plan *plan);

/* Returns the number of 8-byte words of a record in the buffer, including its number. */
static inline uint32_t as_address_record_n(const struct as_address_record *record)
{
    return 1 + record->walks + record->words;
}

#endif
