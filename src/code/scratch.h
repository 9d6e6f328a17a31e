/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps memory for questions about single loops. Callers ask for paths, dependences and streams of
 * tens of thousands of loops, most of them small. The program keeps the memory for the next
 * question. Any thread may acquire a scratch; its contents never change a result.
 */
#ifndef AS_CODE_SCRATCH_H
#define AS_CODE_SCRATCH_H

#include <stdatomic.h>

#include "code/evaluate.h"
#include "code/iteration.h"
#include "code/reach.h"

struct as_scratch {
    struct as_arena arena; /* empty after as_scratch_acquire */
    /* The loop of the last question. A caller that asks for its paths mostly asks for its
     * dependences next. */
    struct as_arena iteration_arena;
    struct as_iteration iteration;
    bool has_iteration;
    struct as_evaluation evaluation;
    struct as_reach reach;
};

enum { AS_SCRATCHES = 8 }; /* further threads allocate their own and free them */

/* Each pointer is NULL or a scratch that is not in use. */
struct as_scratches {
    _Atomic(struct as_scratch *) spare[AS_SCRATCHES];
};

/* Returns a scratch for the caller alone, or NULL if memory is short. as_scratch_release returns
 * it. */
struct as_scratch *as_scratch_acquire(const struct as_program *program);
void as_scratch_release(const struct as_program *program, struct as_scratch *scratch);
void as_scratches_fini(struct as_scratches *scratches);

/* Returns one iteration of the loop, valid until the next call or until the scratch is released.
 * Returns NULL if memory is short. */
const struct as_iteration *as_scratch_iteration(struct as_scratch *scratch,
                                                const struct as_program *program, uint32_t loop);

/* The program with the data that its tables borrow. The pointer of as_program_new points to the
 * first member. */
struct as_whole {
    struct as_program program;
    struct as_arena names; /* names of bodies without a symbol */
    struct as_scratches scratches;
};

#endif
