/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a question about one loop works in, kept by the program for the next question: callers ask
 * for paths, dependences and streams of tens of thousands of loops, most of them small. Any thread
 * may take one; nothing in it shows in a result.
 */
#ifndef AS_CODE_SCRATCH_H
#define AS_CODE_SCRATCH_H

#include <stdatomic.h>

#include "code/evaluate.h"
#include "code/iteration.h"
#include "code/reach.h"

struct as_scratch {
    struct as_arena arena; /* empty when taken */
    /* The loop asked about last: whoever asks for its paths asks for its dependences next. */
    struct as_arena iteration_arena;
    struct as_iteration iteration;
    bool has_iteration;
    struct as_evaluation evaluation;
    struct as_reach reach;
};

enum { AS_SCRATCHES = 8 }; /* threads beyond it make their own and free them */

/* Each is NULL or nobody's. */
struct as_scratches {
    _Atomic(struct as_scratch *) spare[AS_SCRATCHES];
};

/* NULL when out of memory. */
struct as_scratch *as_scratch_acquire(const struct assay_program *program);
void as_scratch_release(const struct assay_program *program, struct as_scratch *scratch);
void as_scratches_fini(struct as_scratches *scratches);

/* One iteration of the loop, good until the scratch is given; NULL when out of memory. */
const struct as_iteration *as_scratch_iteration(struct as_scratch *scratch,
                                                const struct assay_program *program, uint32_t loop);

/* The program with what its tables borrow: what assay_program_new hands out points to the first. */
struct as_whole {
    struct assay_program program;
    struct as_arena names; /* of bodies without one */
    struct as_scratches scratches;
};

#endif
