/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layered graph between the steps of the layout: nodes, then dummies for edges that pass a
 * layer. Each edge leads from one layer to the next.
 */
#ifndef AS_REPORT_GRAPH_RANKS_H
#define AS_REPORT_GRAPH_RANKS_H

#include "report/layout.h"

#define AS_LAYERS_NONE UINT32_MAX

struct as_layers {
    uint32_t nodes; /* real nodes; dummies have higher numbers */
    uint32_t all;   /* real nodes and dummies */
    uint32_t layers;
    uint32_t *layer;             /* per node */
    uint32_t *place;             /* by node: position in its layer */
    uint32_t *first;             /* by layer, plus one: start in `order` */
    uint32_t *order;             /* nodes, layer by layer from left to right */
    uint32_t *up_first, *up;     /* by node: neighbours in the layer above */
    uint32_t *down_first, *down; /* by node: neighbours in the layer below */
    /* By edge of the layout: first dummy from the upper end, or NONE. */
    uint32_t *chain;
    uint32_t *next; /* by node: next lower dummy of the same edge, or NONE */
    bool *reversed; /* by edge of the layout */
};

/* Breaks cycles, assigns layers and adds dummies. Errors as of as_layout_make. */
int as_layers_make(const struct as_layout *layout, uint32_t entry, struct as_arena *arena,
                   struct as_layers *out, struct as_error *err);
/* Orders each layer for few crossings. Sets `*crossings` to the remaining ones. Returns 0 or
 * AS_ERR_NOMEM. */
int as_layers_order(struct as_layers *layers, struct as_arena *arena, uint64_t *crossings);
/* Computes the horizontal centres `x` of all nodes; `width` is by node. Returns 0 or
 * AS_ERR_NOMEM. */
int as_layers_place(const struct as_layers *layers, const double *width, struct as_arena *arena,
                    double *x);

#endif
