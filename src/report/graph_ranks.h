/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layered graph between the steps of the layout: nodes, then dummies where edges pass through
 * a layer; all edges lead from one layer to the next.
 */
#ifndef AS_REPORT_GRAPH_RANKS_H
#define AS_REPORT_GRAPH_RANKS_H

#include "report/layout.h"

#define AS_LAYERS_NONE UINT32_MAX

struct as_layers {
    uint32_t nodes; /* real ones; dummies have numbers from here */
    uint32_t all;   /* with dummies */
    uint32_t layers;
    uint32_t *layer;             /* per node */
    uint32_t *place;             /* per node: position in its layer */
    uint32_t *first;             /* per layer, one more: into `order` */
    uint32_t *order;             /* nodes, layer by layer from left to right */
    uint32_t *up_first, *up;     /* per node: neighbours in the layer above */
    uint32_t *down_first, *down; /* and below */
    uint32_t *chain; /* per edge of the layout: first dummy from the upper end, or NONE */
    uint32_t *next;  /* per node: next dummy of the same edge downwards, or NONE */
    bool *reversed;  /* per edge of the layout */
};

/* Cycles broken, layers given, dummies put in. Errors as as_layout_make. */
int as_layers_make(const struct as_layout *layout, uint32_t entry, struct as_arena *arena,
                   struct as_layers *out, struct assay_error *err);
/* Orders each layer for few crossings; `*crossings` are those left. 0 or ASSAY_ERR_NOMEM. */
int as_layers_order(struct as_layers *layers, struct as_arena *arena, uint64_t *crossings);
/* Horizontal centres of all nodes; `width` per node. 0 or ASSAY_ERR_NOMEM. */
int as_layers_place(const struct as_layers *layers, const double *width, struct as_arena *arena,
                    double *x);

#endif
