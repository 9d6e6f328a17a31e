/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps that tie the loops of one body to their source: rows of the line table, lines and
 * inlining, the operations of each loop with their places in the source, groups and roles of the
 * binary loops of one source loop, and how many source iterations one binary iteration does.
 */
#ifndef AS_CODE_SOURCE_H
#define AS_CODE_SOURCE_H

#include "code/internal.h"

typedef AS_VEC(struct assay_source_range) as_source_ranges;

/* Code of one block that comes from one place of the source. */
struct as_source_row {
    uint64_t address; /* where it begins in the block */
    uint32_t file, line;
    uint32_t at; /* innermost inlined instance or subprogram, ASSAY_NONE */
    uint16_t column;
    bool opening; /* line where its function is declared or opened: compilers put copies of
                     parameters there, wherever they stand */
};

enum as_source_kind { AS_SOURCE_LOAD = 254, AS_SOURCE_STORE = 255 };

/* Arithmetic or a memory access of a loop that is the source's own work, not the compiler's. */
struct as_source_op {
    uint64_t place;  /* file, line and column, mixed; 0 = unknown */
    uint32_t at;     /* inlined instance */
    uint32_t amount; /* arithmetic: lanes; load and store: bytes */
    uint8_t kind;    /* assay_class of arithmetic, or as_source_kind */
    uint8_t element_b;
    bool fp, packed;
    bool column; /* the place has a column */
    bool always; /* done in every iteration */
};

/* What one iteration of a loop does outside its inner loops. */
struct as_loop_work {
    uint32_t first_op, ops;     /* into as_source.op */
    uint32_t loads_b, stores_b; /* bytes of the accesses that are not to the stack */
    uint32_t flops, intops;     /* all lanes; integer: of vector instructions */
    uint32_t packed_flops, packed_loads_b, packed_stores_b;
    uint32_t masked;              /* instructions under a mask */
    uint32_t element_b;           /* of the widest arithmetic, 0 = unknown */
    uint32_t vector_b;            /* widest packed arithmetic, else packed access; 0 = scalar */
    bool vectorised;              /* packed instructions do most of it */
    uint64_t all_flops, all_b;    /* with inner loops */
    bool one_place;               /* all code of the loop has the same place: a macro */
    uint32_t first_place, places; /* into as_source.place: distinct, ascending */
};

struct as_source {
    struct assay_program *program;
    const struct assay_body *body;
    struct as_arena *arena;
    size_t near_line, near_inline; /* where the last look into the tables of lines ended */
    as_source_ranges *ranges;      /* shared with other bodies; `source` of a loop counts in it */
    struct as_source_row *row;     /* of all blocks of the body */
    uint32_t *first_row;           /* per block of the body, and one more */
    AS_VEC(struct as_source_op) op;
    AS_VEC(uint64_t) place;
    struct as_loop_work *work; /* per loop of the body */
};

/* Place of a row as in as_source_op. */
uint64_t as_source_place(const struct as_source_row *row);

/* Whether code of the block, in a loop or not, comes from that place. */
bool as_source_has_place(struct as_source *s, uint32_t block, uint64_t place);

static inline const struct as_loop_work *as_source_work(const struct as_source *s, uint32_t loop)
{
    return &s->work[loop - s->body->first_loop];
}

/* One access to memory of a loop, not to the stack or a constant of the file. */
struct as_source_access {
    int64_t disp, by; /* by: bytes it moves on in each iteration, 0 = none or unknown */
    uint32_t width_b, element_b;
    uint8_t base, index, scale, access;
};
struct as_source_motion {
    struct as_source_access *access;
    uint32_t n;
    int64_t step[16]; /* what each general register advances by, 0 = something else */
};
/* Motion of `loop` in the arena of the body. 0 or ASSAY_ERR_NOMEM. */
int as_source_motion(const struct as_source *s, uint32_t loop, struct as_source_motion *motion);
/* `*repeats`: elements in the accesses of each shape that stand one right after the other; 0 when
 * they do not repeat alike. 0 or ASSAY_ERR_NOMEM. */
int as_source_repeats(const struct as_source *s, const struct as_source_motion *motion,
                      uint32_t *repeats);

/* The step to the next: each 0 or ASSAY_ERR_NOMEM. */
int as_source_lines(struct as_source *s);
int as_source_works(struct as_source *s);
int as_source_groups(struct as_source *s);
int as_source_unroll(struct as_source *s);

#endif
