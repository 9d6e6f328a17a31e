/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes one iteration of a loop as a graph without cycles. The graph has the blocks reached
 * from the header and the forward edges between them. It also marks the blocks that end the
 * iteration with a back edge. Each inner loop counts once; its back edges become ranges. Paths,
 * dependences and streams share the graph. The caller's arena owns the memory.
 *
 * Nodes have reverse postorder numbers, so every edge leads to a larger number. Node 0 is the
 * header.
 */
#ifndef AS_CODE_ITERATION_H
#define AS_CODE_ITERATION_H

#include "base/arena.h"
#include "code/code.h"

struct as_iteration {
    const struct as_program *program;
    uint32_t loop;
    uint32_t nodes;
    const uint32_t *block;      /* per node: block of the program */
    const uint32_t *first_succ; /* nodes + 1 elements */
    const uint32_t *succ; /* in the order of the block's edges, without duplicates; 0 = back edge */
    const uint32_t *first_pred; /* nodes + 1 elements */
    const uint32_t *pred;       /* ascending */
    const bool *ends;           /* per node: the node has a back edge to the header */
    /* Per node: the last node with an inner-loop back edge to it, or AS_NONE. Every node of this
     * cycle has a number in [node, retreat]. */
    const uint32_t *retreat;
    const uint64_t *ways; /* per node: number of paths from it to a back edge, saturated */
    bool has_inner;       /* some node has a retreat */
};

/* Makes the graph of one iteration. Returns 0 or AS_ERR_NOMEM. Takes O(blocks log blocks +
 * edges) steps. */
int as_iteration_make(const struct as_program *program, uint32_t loop, struct as_arena *arena,
                      struct as_iteration *out);

/*
 * Nodes that an analysis walks: either the nodes of one path, or a set of nodes with all edges
 * between them. Instructions are numbered in the order of the nodes.
 */
struct as_iteration_view {
    const struct as_iteration *iteration;
    uint32_t n;
    uint32_t *node;  /* ascending */
    uint32_t *start; /* n + 1 elements: number of the first instruction of each node */
    uint32_t *index; /* per node of the iteration: index in the view or AS_NONE */
    bool chain;      /* the nodes are one path */
};

enum as_iteration_view_kind {
    AS_ITERATION_PATH,   /* the given blocks in order */
    AS_ITERATION_MERGED, /* all nodes on at least one path */
    AS_ITERATION_ALL     /* all nodes */
};

/* Makes a view. `block` has the program blocks of a path in order; other kinds ignore it. Returns 0
 * or AS_ERR_NOMEM. */
int as_iteration_view_make(const struct as_iteration *iteration, enum as_iteration_view_kind kind,
                           const uint32_t *block, uint32_t blocks, struct as_arena *arena,
                           struct as_iteration_view *out);

static inline uint32_t as_iteration_view_insns(const struct as_iteration_view *view)
{
    return view->start[view->n];
}

static inline const struct as_block *as_iteration_view_block(const struct as_iteration_view *view,
                                                             uint32_t i)
{
    return &view->iteration->program->block[view->iteration->block[view->node[i]]];
}

/* Returns true if the iteration ends in the i-th node of the view. */
static inline bool as_iteration_view_ends(const struct as_iteration_view *view, uint32_t i)
{
    return view->chain ? i + 1 == view->n : view->iteration->ends[view->node[i]];
}

/* Returns the number of predecessors of the i-th node of the view within the iteration. */
static inline uint32_t as_iteration_view_preds(const struct as_iteration_view *view, uint32_t i)
{
    const struct as_iteration *it = view->iteration;
    if (view->chain)
        return i > 0;
    return it->first_pred[view->node[i] + 1] - it->first_pred[view->node[i]];
}

static inline uint32_t as_iteration_view_pred(const struct as_iteration_view *view, uint32_t i,
                                              uint32_t k)
{
    const struct as_iteration *it = view->iteration;
    return view->chain ? i - 1 : view->index[it->pred[it->first_pred[view->node[i]] + k]];
}

#endif
