/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether a loop is vectorised, and if not, which obstacles its code shows, each with its
 * instructions. From the binary alone (doc/internals/vectorisation.md has the method). Part of the
 * room quality/.
 */
#ifndef AS_QUALITY_VECTOR_H
#define AS_QUALITY_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "code/code.h"

enum as_vector_state {
    AS_VECTOR_NONE, /* nothing to work on: neither arithmetic nor walks along memory */
    AS_VECTOR_SCALAR,
    AS_VECTOR_PART, /* packed and scalar work side by side */
    AS_VECTOR_FULL
};

/* X(NAME, word) */
#define AS_VECTOR_OBSTACLE_LIST(X)                                                                 \
    X(CALL, "call")           /* calls: the calls */                                               \
    X(CHAIN, "chain")         /* needs a result of an earlier iteration: the cycle */              \
    X(REDUCTION, "reduction") /* such a cycle that only collects, in floating point: its order */  \
    X(STRIDE, "stride")       /* walks with holes: the accesses */                                 \
    X(INDIRECT, "indirect")   /* addresses from memory: the accesses */                            \
    X(WAYS, "ways")           /* branches between ways: the branches */                            \
    X(EXITS, "exits")         /* leaves by what it finds, or in several places: the branches */    \
    X(ALIAS, "alias")         /* chosen at run time when arrays do not overlap: the checks */      \
    X(OVERLAP, "overlap")     /* arrays that may overlap as far as the code tells: the stores */

enum as_vector_obstacle {
#define AS_VECTOR_ENUM(name, word) AS_VECTOR_##name,
    AS_VECTOR_OBSTACLE_LIST(AS_VECTOR_ENUM)
#undef AS_VECTOR_ENUM
        AS_VECTOR_OBSTACLES
};
/* "call", "chain", ...; borrowed. */
const char *as_vector_obstacle_name(enum as_vector_obstacle obstacle);

struct as_vector_reason {
    enum as_vector_obstacle obstacle;
    uint32_t first, n; /* evidence: into as_vector_verdict.insn */
    /* CHAIN, REDUCTION: iterations back; STRIDE: bytes per iteration, 0 = unknown; WAYS: number
     * of paths; EXITS: branches that leave; ALIAS: the other version of the loop; else number of
     * instructions. */
    int64_t amount;
};

struct as_vector_verdict {
    enum as_vector_state state;
    uint32_t packed_n, scalar_n; /* instructions that surely work on vectors, on single values */
    double ratio;                /* packed_n of both, 0 to 1; negative where both are 0 */
    uint32_t width_b;            /* of the widest vectors that are loaded, stored, computed; or 0 */
    struct as_vector_reason *reason;
    size_t reason_n;
    uint32_t *insn; /* evidence, into program.code.insn */
    size_t insn_n;
};

/*
 * Finds the verdict of `loop` outside its inner loops. A vectorised loop may have ALIAS too: the
 * checks cost time, and its other version runs if they fail. The caller frees `out`. Errors: NOMEM.
 */
int as_loop_vector_verdict(const struct as_program *program, uint32_t loop,
                           struct as_vector_verdict *out, struct as_error *err);
void as_vector_verdict_free(struct as_vector_verdict *verdict);

/*
 * One sentence on a reason, with its first addresses, and their lines where they are known:
 * "each iteration needs what the one before computed: 0x1139 addsd (line 12)". Into `buf`, always
 * terminated; returns its length.
 */
int as_vector_reason_text(const struct as_program *program, const struct as_vector_verdict *verdict,
                          const struct as_vector_reason *reason, char *buf, size_t buf_b);

#endif
