/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbolic execution of one iteration: what registers and slots of the function's frame hold, how
 * they change from one iteration to the next, and the address of each memory operand.
 *
 * Taken for granted: the callee-saved registers survive a call, nobody but its own instructions
 * writes a slot of the frame that is addressed directly (a call may), 32-bit arithmetic does not
 * wrap. Registers that an inner loop changes are unknown behind it until they are set again.
 */
#ifndef AS_CODE_EVALUATE_H
#define AS_CODE_EVALUATE_H

#include "code/steps.h"
#include "code/symbol.h"

enum {
    AS_GPRS = 16,
    AS_SLOTS_MOST = 48,
    AS_LOCATIONS_MOST = AS_GPRS + AS_SLOTS_MOST,
    AS_REG_SP = ASSAY_REG_GPR + 4,
    AS_REG_BP = ASSAY_REG_GPR + 5
};

/* A memory operand that is read or written. */
struct as_access {
    struct assay_memory memory;
    struct as_value address; /* aliases replaced */
    int64_t step;            /* of the address per iteration, when `known` */
    uint32_t at;             /* step of the instruction */
    uint8_t operand;         /* number among assay_insn_memory */
    uint8_t location;        /* of the slot, or UINT8_MAX */
    bool known;
    bool steady;   /* not known, but the same in every iteration */
    bool gathered; /* the index is a vector */
    bool image;    /* the constant is an address of the file */
    bool frame;    /* in the function's frame */
    bool indirect; /* an address register holds what comes from memory (as_evaluate_origin) */
};

typedef AS_VEC(struct as_access) as_access_vec;

/* Word of the frame that instructions address directly. */
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
    uint32_t locations; /* general registers, then slots */
    uint8_t frame;      /* register that the slots are based on, or ASSAY_REG_NONE */
    bool bp_is_frame;   /* rbp is the frame pointer of this function */
    bool stores;        /* something writes memory that is no slot, or calls */
    struct as_value live[AS_LOCATIONS_MOST]; /* at the start of an iteration: an atom each */
    struct as_value end[AS_LOCATIONS_MOST];  /* at its end */
    struct as_value image;                   /* where the file is loaded */
    struct as_value segment[2];              /* bases of fs and gs */
    struct as_value *out;                    /* per block of the view and location */
    struct as_value *now;
    uint64_t *writes; /* tree over the nodes of the iteration: locations written; or NULL */
};

/* `e`: all zero, or of an evaluation before, whose memory is used again. 0 or ASSAY_ERR_NOMEM; in
 * both cases as_evaluate_fini releases. */
int as_evaluate(struct as_evaluation *e, const struct as_steps *steps, struct as_arena *arena);
void as_evaluate_fini(struct as_evaluation *e);

/* Sets `indirect` of all accesses; 0 or ASSAY_ERR_NOMEM. */
int as_evaluate_origin(struct as_evaluation *e);

/* Step of a location per iteration; false when it does not change by a constant. */
bool as_evaluate_step(const struct as_evaluation *e, unsigned location, int64_t *step);

/* Finds the slots of the frame and the register they are based on (frame.c). 0 or NOMEM. */
int as_frame_find(struct as_evaluation *e);
/* Location of the slot that `memory` lies in, or UINT8_MAX. */
uint8_t as_frame_location(const struct as_evaluation *e, const struct assay_memory *memory);
/* Locations that an instruction writes, with the slots; bit = location. */
uint64_t as_frame_writes(const struct as_evaluation *e, const struct assay_insn *insn,
                         const struct assay_effects *effects);

/* What one instruction computes (compute.c): forms the addresses of its operands, then moves `now`
 * past it. */
void as_compute(struct as_evaluation *e, uint32_t step);

#endif
