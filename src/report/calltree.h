/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree under construction: a grid with these columns. First it has call paths of functions
 * of the binary, then also the inlined functions between them (calltree_inline.c).
 */
#ifndef AS_REPORT_CALLTREE_H
#define AS_REPORT_CALLTREE_H

#include "report/data.h"

/* Columns by index. The first and the last ones are not written. */
enum as_calltree_column {
    AS_TREE_ID,
    AS_TREE_PARENT, /* row index; -1: outermost */
    AS_TREE_FUNCTION,
    AS_TREE_FUNCTION_ID,
    AS_TREE_MODULE,
    AS_TREE_CATEGORY,
    AS_TREE_SITE,
    AS_TREE_ENTRY,
    AS_TREE_INLINED,
    AS_TREE_SELF_N,
    AS_TREE_SELF_S,
    AS_TREE_BLOCKED_S,
    AS_TREE_WRITTEN_N,
    AS_TREE_ALL_N = AS_TREE_WRITTEN_N,
    AS_TREE_ALL_S,
    AS_TREE_ALL_BLOCKED_S,
    AS_TREE_CATEGORY_ID,
    AS_TREE_INLINING_ID, /* at the call position */
};

/*
 * Inserts inlined functions as rows between the paths of the binary and moves their samples to
 * them. Parents precede their children. Each path must be behind its parent, which is a row.
 * Errors: NOMEM, those of reading.
 */
int as_calltree_inline(const struct as_document *document, struct as_grid *grid,
                       struct as_error *err);

#endif
