/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks merged into one tree a group (the run, a process or a thread): formats that know
 * frames but no addresses are written from it. Inlined functions are frames as all others.
 */
#ifndef AS_REPORT_STACK_TREE_H
#define AS_REPORT_STACK_TREE_H

#include <assay/report.h>

#include "report/stacks.h"

struct as_stack_node {
    uint32_t parent, label;     /* of the root of a group: AS_STACK_NONE, and the group */
    uint32_t first, last, next; /* children in the order they came, brothers */
    int64_t n, time_ns;         /* of the node itself, without its children */
};

struct as_stack_tree {
    AS_VEC(struct as_stack_node) node;
    AS_VEC(uint32_t) root;    /* by group, in the order of ranks, processes, threads */
    const uint32_t *label_of; /* by function: functions of one label become one frame */
    struct as_index index;
    uint64_t stack_n;
};

/* The groups are numbers of as_stacks.process or .thread, or 0. Release in any case. Errors: as
 * as_stacks_walk. */
int as_stack_tree_make(struct as_stacks *stacks, enum assay_export_by by, const uint32_t *label_of,
                       struct as_stack_tree *tree, struct assay_error *err);
void as_stack_tree_release(struct as_stack_tree *tree);

/* The node after `node` in the tree under `root`, parents first; AS_STACK_NONE after the last. */
uint32_t as_stack_tree_next(const struct as_stack_tree *tree, uint32_t root, uint32_t node);

/* The frames from the outermost to a node, into `labels`. Errors: NOMEM. */
int as_stack_tree_labels(const struct as_stack_tree *tree, uint32_t node, as_stack_list *labels,
                         struct assay_error *err);

/* "solver (rank 1, pid 4243, tid 4250)" */
void as_stack_group_name(const struct as_stacks *stacks, enum assay_export_by by, uint32_t group,
                         struct as_str *out);

#endif
