/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes one iteration symbolically. The result has the values of registers and frame slots and
 * their change per iteration. It also has the address of each memory operand.
 *
 * The analysis assumes three facts. Callee-saved registers survive a call. Only instructions of the
 * function itself, or a call, write a frame slot that is addressed directly. 32-bit arithmetic does
 * not wrap. Registers that an inner loop changes are unknown after this loop until an instruction
 * sets them.
 */
#ifndef AS_CODE_EVALUATE_H
#define AS_CODE_EVALUATE_H

#include "code/steps.h"
#include "code/symbol.h"

enum {
    AS_GPRS = 16,
    AS_SLOTS_MOST = 48,
    AS_LOCATIONS_MOST = AS_GPRS + AS_SLOTS_MOST,
    AS_REG_SP = AS_REG_GPR + 4,
    AS_REG_BP = AS_REG_GPR + 5
};

/* A memory operand that is read or written. */
struct as_access {
    struct as_memory memory;
    struct as_value address; /* with aliases replaced */
    int64_t step;            /* bytes that the address advances per iteration; valid if `known` */
    uint32_t at;             /* step of the instruction */
    uint8_t operand;         /* operand number of as_insn_memory */
    uint8_t location;        /* location of the slot, or UINT8_MAX */
    bool known;
    bool steady;   /* the step is unknown, but the same in every iteration */
    bool gathered; /* the index is a vector */
    bool image;    /* the constant of the address is relative to the load address of the file */
    bool frame;    /* the operand is in the function's frame */
    bool indirect; /* an address register holds a loaded value (as_evaluate_origin sets it) */
};

typedef AS_VEC(struct as_access) as_access_vec;

/* A word of the frame that instructions address directly. */
struct as_slot {
    int32_t disp;
    uint32_t width_b;
};

struct as_evaluation {
    const struct as_steps *steps;
    struct as_arena *arena;
    struct as_symbols symbols;
    as_access_vec access; /* in the order of the steps */
    struct as_slot slot[AS_SLOTS_MOST];
    uint32_t locations; /* number of general registers and slots */
    uint8_t frame;      /* base register of the slots, or AS_REG_NONE */
    bool bp_is_frame;   /* rbp is the frame pointer of this function */
    bool stores;        /* the loop has a call, or writes memory outside of slots */
    struct as_value
        live[AS_LOCATIONS_MOST];            /* values at the start of an iteration, one atom each */
    struct as_value end[AS_LOCATIONS_MOST]; /* values at the end of the iteration */
    struct as_value image;                  /* load address of the file */
    struct as_value segment[2];             /* bases of fs and gs */
    struct as_value *out; /* values at the end of each block of the view, by location */
    struct as_value *now;
    uint64_t *writes; /* tree of the locations that the nodes write, or NULL */
};

/* Evaluates the steps. `e` is all zero or holds an earlier evaluation; the function uses its memory
 * again. Returns 0 or AS_ERR_NOMEM; the caller calls as_evaluate_fini in both cases. */
int as_evaluate(struct as_evaluation *e, const struct as_steps *steps, struct as_arena *arena);
void as_evaluate_fini(struct as_evaluation *e);

/* Sets `indirect` of all accesses. Returns 0 or AS_ERR_NOMEM. */
int as_evaluate_origin(struct as_evaluation *e);

/* Sets `step` to the change of a location per iteration. Returns false if the change is not a
 * constant. */
bool as_evaluate_step(const struct as_evaluation *e, unsigned location, int64_t *step);

/* Finds the slots of the frame and their base register (frame.c). Returns 0 or AS_ERR_NOMEM. */
int as_frame_find(struct as_evaluation *e);
/* Returns the location of the slot that `memory` accesses, or UINT8_MAX. */
uint8_t as_frame_location(const struct as_evaluation *e, const struct as_memory *memory);
/* Returns the locations that an instruction writes, slots included; bit n is location n. */
uint64_t as_frame_writes(const struct as_evaluation *e, const struct as_insn *insn,
                         const struct as_effects *effects);

/* Computes the addresses of the operands of one instruction, then updates `now` with its results
 * (compute.c). */
void as_compute(struct as_evaluation *e, uint32_t step);

#endif
