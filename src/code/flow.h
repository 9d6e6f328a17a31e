/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks through one body and finds the reached code, the limits of blocks, and the edges. A
 * position numbers an instruction of the body; the regions follow one after the other.
 */
#ifndef AS_CODE_FLOW_H
#define AS_CODE_FLOW_H

#include "code/internal.h"
#include "code/stack.h"

#define AS_NO_POSITION UINT32_MAX

enum as_walk_mark {
    AS_MARK_REACHED = 1 << 0,
    AS_MARK_LEADER = 1 << 1, /* first instruction of a block */
    AS_MARK_END = 1 << 2,    /* last instruction of a block; `edge` has its edges */
    AS_MARK_ROOT = 1 << 3,   /* entry, second entry, or start of unreached code */
    AS_MARK_PAD = 1 << 4,    /* landing pad */
    AS_MARK_DEAD = 1 << 5,   /* no path from an entry leads here */
    AS_MARK_CALL = 1 << 6,
    AS_MARK_NORETURN = 1 << 7,
    AS_MARK_RETURN = 1 << 8,
    AS_MARK_TAILCALL = 1 << 9,
    AS_MARK_UNRESOLVED = 1 << 10
};
_Static_assert(AS_MARK_UNRESOLVED <= UINT16_MAX, "marks are kept in 16 bits");

struct as_walk_edge {
    uint32_t from, to; /* positions */
    uint8_t kind;      /* as_edge_kind */
};

/* One worker uses it for one body after the other. */
struct as_walk {
    const struct as_builder *b;
    const struct as_body_parts *body;
    AS_VEC(struct as_walk_span {
        uint32_t region;
        uint32_t first; /* position of its first instruction */
    })
    span;
    uint32_t positions;
    AS_VEC(uint16_t) mark;         /* by position */
    AS_VEC(struct as_stack) stack; /* by position, valid at leaders */
    AS_VEC(uint32_t) block;        /* by position, valid at leaders after as_walk_blocks */
    AS_VEC(uint32_t) first_edge; /* by position, valid at ends; the edges of an end are adjacent */
    AS_VEC(uint32_t) last;       /* by block: its last position */
    AS_VEC(uint32_t) todo;       /* leaders that start code not walked yet */
    AS_VEC(struct as_walk_edge) edge;
    AS_VEC(uint32_t) callee, tail; /* numbers of bodies */
    as_landings landing;           /* sorted by start */
    struct as_jump_targets targets;
    uint32_t leaders;
    uint32_t jumps, tables, calls;
    bool may_return;
    bool dead; /* the walk is in code that no entry reaches */
};

/* Walks `body`. Returns 0 or AS_ERR_NOMEM. */
int as_walk_body(struct as_walk *walk, const struct as_builder *b,
                 const struct as_body_parts *body);
/* Makes the blocks and edges of the body that was walked last. `arena` owns them. Returns 0 or
 * AS_ERR_NOMEM. */
int as_walk_blocks(struct as_walk *walk, struct as_arena *arena, struct as_flow *out);
void as_walk_fini(struct as_walk *walk);

/* Returns the index into the sweep of the instruction at a position. */
static inline size_t as_walk_insn(const struct as_walk *walk, uint32_t position)
{
    const struct as_walk_span *span = &walk->span.at[walk->span.n - 1];
    while (span->first > position)
        span--;
    return walk->b->region.at[span->region].first_insn + (position - span->first);
}

#endif
