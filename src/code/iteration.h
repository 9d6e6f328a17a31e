/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One iteration of a loop as a graph without cycles: the blocks reached from the header, edges
 * between them that do not go back, and which blocks end the iteration with a back edge. Inner
 * loops count once (their back edges are remembered as ranges). Shared by paths, dependences and
 * streams; memory comes from the caller's arena.
 *
 * Nodes are numbered in reverse postorder, so every edge goes to a larger number; 0 = header.
 */
#ifndef AS_CODE_ITERATION_H
#define AS_CODE_ITERATION_H

#include <assay/code.h>

#include "base/arena.h"

struct as_iteration {
    const struct assay_program *program;
    uint32_t loop;
    uint32_t nodes;
    const uint32_t *block;      /* per node: block of the program */
    const uint32_t *first_succ; /* nodes + 1 */
    const uint32_t *succ;       /* in the order of the block's edges, once each; 0 = back edge */
    const uint32_t *first_pred; /* nodes + 1 */
    const uint32_t *pred;       /* ascending */
    const bool *ends;           /* per node: has a back edge to the header */
    /* Per node: the last node from which an edge of an inner loop comes back, or ASSAY_NONE. Every
     * node of that cycle has a number in [node, retreat]. */
    const uint32_t *retreat;
    const uint64_t *ways; /* per node: paths from it to a back edge, saturated; 0 = on none */
    bool has_inner;       /* some retreat is set */
};

/* 0 or ASSAY_ERR_NOMEM. O(blocks log blocks + edges). */
int as_iteration_make(const struct assay_program *program, uint32_t loop, struct as_arena *arena,
                      struct as_iteration *out);

/*
 * What an analysis walks: the nodes of one path (each follows the one before), or a set of nodes
 * with all edges between them. Instructions are numbered in the order of the nodes.
 */
struct as_iteration_view {
    const struct as_iteration *iteration;
    uint32_t n;
    uint32_t *node;  /* ascending */
    uint32_t *start; /* n + 1: number of its first instruction in the view */
    uint32_t *index; /* per node of the iteration: index in the view or ASSAY_NONE */
    bool chain;      /* a path */
};

enum as_iteration_view_kind {
    AS_ITERATION_PATH,   /* the given blocks, one after the other */
    AS_ITERATION_MERGED, /* all nodes on some path */
    AS_ITERATION_ALL     /* all nodes */
};

/* `block` (program blocks of a path in order) is used for AS_ITERATION_PATH only. 0 or NOMEM. */
int as_iteration_view_make(const struct as_iteration *iteration, enum as_iteration_view_kind kind,
                           const uint32_t *block, uint32_t blocks, struct as_arena *arena,
                           struct as_iteration_view *out);

static inline uint32_t as_iteration_view_insns(const struct as_iteration_view *view)
{
    return view->start[view->n];
}

static inline const struct assay_block *
as_iteration_view_block(const struct as_iteration_view *view, uint32_t i)
{
    return &view->iteration->program->block[view->iteration->block[view->node[i]]];
}

/* True when the iteration ends in the i-th node of the view. */
static inline bool as_iteration_view_ends(const struct as_iteration_view *view, uint32_t i)
{
    return view->chain ? i + 1 == view->n : view->iteration->ends[view->node[i]];
}

/* Predecessors of the i-th node of the view within the iteration, and the k-th as view index. */
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
