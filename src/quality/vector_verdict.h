/* SPDX-License-Identifier: Apache-2.0 */
/* Shared parts of the vector verdict. */
#ifndef AS_QUALITY_VECTOR_VERDICT_H
#define AS_QUALITY_VECTOR_VERDICT_H

#include "base/vec.h"
#include "quality/vector.h"

enum as_lanes { AS_LANES_NO_DATA, AS_LANES_ONE, AS_LANES_MANY, AS_LANES_EITHER };

struct as_lane_widths {
    uint32_t moved_b, computed_b;
    /* 8-byte moves between memory and a vector register, maybe of several values. */
    uint32_t half_n;
    uint32_t integer_n; /* packed integer instructions, maybe on a single value */
    bool has_long;      /* 8-byte elements are computed */
};

struct as_verdict {
    const struct as_program *program;
    uint32_t loop;
    struct as_streams streams;
    struct as_lane_widths width;
    struct as_vector_verdict *out;
    AS_VEC(struct as_vector_reason) reason;
    AS_VEC(uint32_t) insn;
};

/* Returns the first operand of an instruction at changing addresses outside the stack, or NULL. */
const struct as_memory_stream *as_verdict_stream(const struct as_verdict *v, uint32_t insn);
/* Returns how many values an instruction works on. `stream` is that of as_verdict_stream. */
enum as_lanes as_insn_lanes(const struct as_insn *insn, const struct as_memory_stream *stream);

/* Calls `look` for each instruction of the loop outside inner loops. Errors: those of `look`. */
int as_verdict_each(struct as_verdict *v,
                    int (*look)(struct as_verdict *v, const struct as_block *block, uint32_t insn));

/* as_verdict_reason adds a reason without evidence. as_verdict_shows adds an instruction to the
 * evidence of the last reason. Errors: NOMEM. */
int as_verdict_reason(struct as_verdict *v, enum as_vector_obstacle obstacle, int64_t amount);
int as_verdict_shows(struct as_verdict *v, uint32_t insn);

/* Add the obstacles to vectorisation (vector_flow.c, vector_memory.c, vector_cycle.c,
 * vector_version.c). Errors: NOMEM. */
int as_verdict_flow(struct as_verdict *v, struct as_error *err);
int as_verdict_memory(struct as_verdict *v);
int as_verdict_cycles(struct as_verdict *v, struct as_error *err);
int as_verdict_versions(struct as_verdict *v, struct as_error *err);

#endif
