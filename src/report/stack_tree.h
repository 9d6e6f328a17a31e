/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks merged into one tree per group, for formats with frames but without addresses. A
 * group is the run, a process or a thread. Inlined functions are frames like all others.
 */
#ifndef AS_REPORT_STACK_TREE_H
#define AS_REPORT_STACK_TREE_H

#include "report/report.h"
#include "report/stacks.h"

struct as_stack_node {
    uint32_t parent, label;     /* of a root: AS_STACK_NONE and the group */
    uint32_t first, last, next; /* children in order of arrival; next sibling */
    int64_t n, time_ns;         /* of the node itself, without its children */
};

struct as_stack_tree {
    AS_VEC(struct as_stack_node) node;
    AS_VEC(uint32_t) root;    /* by group, ordered by rank, process, thread */
    const uint32_t *label_of; /* by function: functions with one label become one frame */
    struct as_index index;
    uint64_t stack_n;
};

/* Builds the trees. Groups are indices of as_stacks.process or .thread, or 0. as_stack_tree_release
 * releases the tree even after an error. Errors as of as_stacks_walk. */
int as_stack_tree_make(struct as_stacks *stacks, enum as_export_by by, const uint32_t *label_of,
                       struct as_stack_tree *tree, struct as_error *err);
void as_stack_tree_release(struct as_stack_tree *tree);

/* Returns the node after `node` in the tree under `root`, parents first; AS_STACK_NONE after the
 * last one. */
uint32_t as_stack_tree_next(const struct as_stack_tree *tree, uint32_t root, uint32_t node);

/* Sets `labels` to the frames from the outermost to a node. Errors: NOMEM. */
int as_stack_tree_labels(const struct as_stack_tree *tree, uint32_t node, as_stack_list *labels,
                         struct as_error *err);

/* Appends the name of a group, such as "solver (rank 1, pid 4243, tid 4250)". */
void as_stack_group_name(const struct as_stacks *stacks, enum as_export_by by, uint32_t group,
                         struct as_str *out);

#endif
