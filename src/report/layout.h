/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layered drawing of directed graphs: control flow, calls, dependences. Knows boxes and edges, not
 * what they mean or how they are painted. The result depends on the graph and its order alone.
 *
 * Sources: Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system
 * structures", 1981 (the steps); Gansner et al., "A technique for drawing directed graphs", IEEE
 * TSE 19(3), 1993 (median order, transposition); Barth, Juenger, Mutzel, "Simple and efficient
 * bilayer cross counting", 2002; Brandes, Koepf, "Fast and simple horizontal coordinate
 * assignment", 2001 (with the erratum of 2020).
 */
#ifndef AS_REPORT_LAYOUT_H
#define AS_REPORT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/error.h>

#include "base/arena.h"

struct as_layout_node {
    double width, height; /* given, in px */
    double x, y;          /* found: of the centre */
    uint32_t layer;       /* found: 0 = top */
};

struct as_layout_point {
    double x, y;
};

struct as_layout_edge {
    uint32_t from, to;      /* given */
    uint32_t first, points; /* found: into as_layout.point, from `from` to `to` */
    bool up;                /* found: drawn against the direction of the layers, or a self loop */
};

struct as_layout {
    struct as_layout_node *node;
    struct as_layout_edge *edge;
    uint32_t nodes, edges;
    struct as_layout_point *point; /* found, in the arena */
    uint32_t points;
    double width, height; /* found: of the drawing, whose corner is (0, 0) */
    uint64_t crossings;   /* found */
};

/* Distances in px. */
#define AS_LAYOUT_BESIDE 24.0 /* between boxes of a layer */
#define AS_LAYOUT_BELOW  36.0 /* between layers, more where many edges pass */

/*
 * Places all boxes and routes all edges; `entry` (or any node when out of range) comes first.
 * Memory from `arena`. Errors: NOMEM, LIMIT (edges so long that they cross millions of layers).
 */
int as_layout_make(struct as_layout *layout, uint32_t entry, struct as_arena *arena,
                   struct assay_error *err);

#endif
