/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layered drawing of directed graphs: control flow, calls, dependences. It places boxes and edges,
 * independent of their meaning and style. The result depends only on the graph and its order.
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

#include "base/arena.h"
#include "base/error.h"

struct as_layout_node {
    double width, height; /* input, px */
    double x, y;          /* output: centre */
    uint32_t layer;       /* output: 0 is the top layer */
};

struct as_layout_point {
    double x, y;
};

struct as_layout_edge {
    uint32_t from, to;      /* input */
    uint32_t first, points; /* output: range in as_layout.point, from `from` to `to` */
    bool up;                /* output: drawn against the layer direction, or a self loop */
};

struct as_layout {
    struct as_layout_node *node;
    struct as_layout_edge *edge;
    uint32_t nodes, edges;
    struct as_layout_point *point; /* output, in the arena */
    uint32_t points;
    double width, height; /* output: size of the drawing with its corner at (0, 0) */
    uint64_t crossings;   /* output */
};

/* Distances in px. */
#define AS_LAYOUT_BESIDE 24.0 /* between boxes of a layer */
#define AS_LAYOUT_BELOW  36.0 /* between layers; more if many edges pass */

/*
 * Places all boxes and routes all edges; `entry` (or any node if it is out of range) is first.
 * Memory comes from `arena`. Errors: NOMEM, LIMIT (long edges that cross millions of layers).
 */
int as_layout_make(struct as_layout *layout, uint32_t entry, struct as_arena *arena,
                   struct as_error *err);

#endif
