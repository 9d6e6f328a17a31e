/* SPDX-License-Identifier: Apache-2.0 */
/* Machine code of records of addresses: what clone_addresses.c puts into blocks and walks. */
#ifndef AS_PATCH_ADDRESS_CODE_H
#define AS_PATCH_ADDRESS_CODE_H

#include "patch/clone.h"

enum { AS_ADDRESS_REG_A = 0, AS_ADDRESS_REG_SP = 4, AS_ADDRESS_REG_12 = 12 };

/* A value of a record: base + index * scale; or the address `anchor` of the module. */
struct as_address_word {
    uint8_t base, index, scale;
    bool is_anchor;
    uint64_t anchor;
};

struct as_address_block {
    struct as_address_word word[AS_ADDRESS_WORDS_MOST];
    struct as_address_operand operand[AS_ADDRESS_WORDS_MOST];
    uint32_t words, operands;
};

/* The place of a record: live registers, and registers that it must keep though nothing reads
 * them. */
struct as_address_place {
    uint64_t address;
    uint32_t live, kept;
    bool is_lowered; /* the stack pointer is below the red zone, and no operand names it */
    bool is_sampled; /* written only for sampled lines; `dropped` is then a counter of the plan */
    uint32_t varies; /* registers that change between two records */
    uint64_t dropped;
};

/* Returns the registers that the words of a record name, as bits. */
uint32_t as_address_named_registers(const struct as_address_block *b);
/* Chooses `wanted` registers for the code of a record; false if there are fewer. */
bool as_address_choose_scratch(const struct as_address_block *b, const struct as_address_place *at,
                               unsigned wanted, unsigned scratch[2]);
/* Returns true if the lines of a record at `at` can be tested before it is written. */
bool as_address_can_sample(const struct as_address_block *b, const struct as_address_place *at);
/* Emits a record of `b`, in a walk or in a block. 0 or AS_ERR_NOMEM. */
int as_address_emit_record(struct as_clone_assembly *a, const struct as_address_block *b,
                           const struct as_address_place *at, uint32_t number, bool walks);
/* Emits a record of `b` with its cursor in `reg`. 0 or AS_ERR_NOMEM. */
int as_address_emit_cursor_record(struct as_clone_assembly *a, const struct as_address_block *b,
                                  const struct as_address_place *at, unsigned reg, uint32_t number);

#endif
