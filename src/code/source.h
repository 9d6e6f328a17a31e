/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ties the loops of one body to their source in four steps. The first step finds lines and
 * inlining, the second the operations and their places in the source. The third finds groups and
 * roles of binary loops, the fourth the source iterations per binary iteration.
 */
#ifndef AS_CODE_SOURCE_H
#define AS_CODE_SOURCE_H

#include "code/internal.h"

typedef AS_VEC(struct as_source_range) as_source_ranges;

/* Code of one block that comes from one place of the source. */
struct as_source_row {
    uint64_t address; /* address of its first byte in the block */
    uint32_t file, line;
    uint32_t at; /* innermost inlined instance or subprogram, or AS_NONE */
    uint16_t column;
    /* The row has the line that declares or opens its function. Compilers give this line to copies
     * of parameters anywhere in the function. */
    bool opening;
};

enum as_source_kind { AS_SOURCE_LOAD = 254, AS_SOURCE_STORE = 255 };

/* Arithmetic or a memory access of a loop that the source asks for. */
struct as_source_op {
    uint64_t place;  /* file, line and column in one number; 0 = unknown */
    uint32_t at;     /* inlined instance */
    uint32_t amount; /* lanes of arithmetic; bytes of a load or store */
    uint8_t kind;    /* as_class of arithmetic, or as_source_kind */
    uint8_t element_b;
    bool fp, packed;
    bool column; /* the place has a column */
    bool always; /* every iteration does it */
};

/* Work of one iteration of a loop, without its inner loops. */
struct as_loop_work {
    uint32_t first_op, ops;     /* index into as_source.op */
    uint32_t loads_b, stores_b; /* bytes accessed outside of the stack */
    uint32_t flops, intops; /* operations in all lanes; intops are those of vector instructions */
    uint32_t packed_flops, packed_loads_b, packed_stores_b;
    uint32_t masked;    /* number of instructions with a mask */
    uint32_t element_b; /* bytes of an element of the widest arithmetic; 0 = unknown */
    uint32_t vector_b; /* bytes of the widest packed arithmetic, else of the widest packed access; 0
                          = scalar */
    bool vectorised;   /* packed instructions do most of the work */
    uint64_t all_flops, all_b;    /* with the work of inner loops */
    bool one_place;               /* all code of the loop has the same place, as in a macro */
    uint32_t first_place, places; /* index into as_source.place: distinct, ascending */
};

struct as_source {
    struct as_program *program;
    const struct as_body *body;
    struct as_arena *arena;
    size_t near_line,
        near_inline; /* indices where the last searches in the line and inline tables ended */
    as_source_ranges *ranges;  /* shared with other bodies; as_loop.source is an index into it */
    struct as_source_row *row; /* of all blocks of the body */
    uint32_t *first_row;       /* index into `row` per block of the body, and one more element */
    AS_VEC(struct as_source_op) op;
    AS_VEC(uint64_t) place;
    struct as_loop_work *work; /* per loop of the body */
};

/* Returns the place of a row, as in as_source_op. */
uint64_t as_source_place(const struct as_source_row *row);

/* Returns true if code of the block comes from `place`. The block may be outside of loops. */
bool as_source_has_place(struct as_source *s, uint32_t block, uint64_t place);

static inline const struct as_loop_work *as_source_work(const struct as_source *s, uint32_t loop)
{
    return &s->work[loop - s->body->first_loop];
}

/* One memory access of a loop, except accesses to the stack or to constants of the file. */
struct as_source_access {
    /* `by`: bytes that the address advances per iteration, without sign; 0 = none or unknown. */
    int64_t disp, by;
    uint32_t width_b, element_b;
    uint8_t base, index, scale, access;
};
struct as_source_motion {
    struct as_source_access *access;
    uint32_t n;
    int64_t step[16]; /* amount that each general register advances per iteration; 0 = other changes
                         or none */
};
/* Finds the motion of `loop`. The arena of the body owns the result. Returns 0 or
 * AS_ERR_NOMEM. */
int as_source_motion(const struct as_source *s, uint32_t loop, struct as_source_motion *motion);
/* Sets `*repeats` to the number of adjacent elements that the accesses of each shape cover. Sets 0
 * if the shapes differ in this number. Returns 0 or AS_ERR_NOMEM. */
int as_source_repeats(const struct as_source *s, const struct as_source_motion *motion,
                      uint32_t *repeats);

/* Do the steps in this order. Each returns 0 or AS_ERR_NOMEM. */
int as_source_lines(struct as_source *s);
int as_source_works(struct as_source *s);
int as_source_groups(struct as_source *s);
int as_source_unroll(struct as_source *s);

#endif
