/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What adding samples up needs of the program in memory: the tree of call paths in preorder, and
 * for each function, location and loop where it belongs. Indexed by row id; entry 0 is "none".
 */
#ifndef AS_EXPERIMENT_SUMMARY_H
#define AS_EXPERIMENT_SUMMARY_H

#include "base/arena.h"
#include "experiment/internal.h"

struct as_path_node {
    uint32_t parent, function, call_location, category;
    uint32_t first; /* number in preorder, from 1 */
    uint32_t last;  /* of its last descendant */
};

struct as_place {
    uint32_t loop, block, line;
};

struct as_tables {
    struct as_arena arena;
    struct as_path_node *path;
    struct as_place *location;
    uint32_t *function_module;
    uint32_t *loop_parent;
    uint32_t *at; /* preorder number -> path */
    /* One more than the largest id of each kind of object that samples are added up by. */
    size_t id_end[ASSAY_OBJECT_CATEGORY + 1];
    size_t location_end;
};

/* Loads all tables. Errors: NOMEM, LIMIT (more rows than 2^32), CORRUPT (a circle), reading. */
int as_tables_load(struct assay_experiment *experiment, struct as_tables *tables,
                   struct assay_error *err);
void as_tables_fini(struct as_tables *tables);

#endif
