/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combines the steps of the layout: layers from top to bottom, edges through the positions of their
 * dummies. Edges leave boxes at their lower side and enter at the upper side. They are spread in
 * the order of their other ends. Upward edges do the opposite.
 */
#include "report/layout.h"

#include <float.h>
#include <stdlib.h>

#include "base/error.h"
#include "report/graph_ranks.h"

#define LOOP_PX 14.0 /* width of a self loop beside its box */
#define PORT_PX 14.0 /* max distance between the ends of two edges at a box */

struct drawing {
    struct as_layout *g;
    struct as_layers layers;
    double *x;            /* by node, with dummies */
    double *top, *bottom; /* by layer */
};

/* An end of an edge at one side of a box. */
struct end {
    uint32_t node;
    bool below;     /* at the lower side */
    double towards; /* position that the edge leads to */
    uint32_t edge;
    bool is_from;
};

static int by_side(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    if (x->node != y->node)
        return (x->node > y->node) - (x->node < y->node);
    if (x->below != y->below)
        return (int)x->below - (int)y->below;
    if (x->towards != y->towards)
        return (x->towards > y->towards) - (x->towards < y->towards);
    if (x->edge != y->edge)
        return (x->edge > y->edge) - (x->edge < y->edge);
    return (int)x->is_from - (int)y->is_from;
}

static uint32_t dummies_of(const struct drawing *d, uint32_t e)
{
    uint32_t n = 0;
    for (uint32_t v = d->layers.chain[e]; v != AS_LAYERS_NONE; v = d->layers.next[v])
        n++;
    return n;
}

/* Computes the heights of the layers. A layer with links that go far sideways gets more space
 * below. */
static void stack_layers(struct drawing *d)
{
    const struct as_layers *l = &d->layers;
    double y = 0;
    for (uint32_t k = 0; k < l->layers; k++) {
        double height = 0, reach = 0;
        for (uint32_t i = l->first[k]; i < l->first[k + 1]; i++) {
            uint32_t v = l->order[i];
            if (v < l->nodes && d->g->node[v].height > height)
                height = d->g->node[v].height;
            for (uint32_t e = l->down_first[v]; e < l->down_first[v + 1]; e++) {
                double far = d->x[l->down[e]] - d->x[v];
                far = far < 0 ? -far : far;
                reach = far > reach ? far : reach;
            }
        }
        d->top[k] = y;
        d->bottom[k] = y + height;
        double below = AS_LAYOUT_BELOW + reach / 16;
        y += height + (below < 3 * AS_LAYOUT_BELOW ? below : 3 * AS_LAYOUT_BELOW);
    }
    for (uint32_t v = 0; v < l->nodes; v++) {
        struct as_layout_node *node = &d->g->node[v];
        node->layer = l->layer[v];
        node->x = d->x[v];
        node->y = (d->top[node->layer] + d->bottom[node->layer]) / 2;
    }
}

/* Computes the points of an edge from its upper to its lower end, without the ends at boxes. */
static void route(struct drawing *d, uint32_t e, struct as_layout_point *point)
{
    const struct as_layers *l = &d->layers;
    struct as_layout_edge *edge = &d->g->edge[e];
    uint32_t n = dummies_of(d, e), i = 1;
    for (uint32_t v = l->chain[e]; v != AS_LAYERS_NONE; v = l->next[v]) {
        uint32_t at = edge->up ? 2 * n + 1 - i : i;
        double first = edge->up ? d->bottom[l->layer[v]] : d->top[l->layer[v]];
        double second = edge->up ? d->top[l->layer[v]] : d->bottom[l->layer[v]];
        uint32_t low = edge->up ? at - 1 : at;
        point[low] = (struct as_layout_point){d->x[v], first};
        point[low + 1] = (struct as_layout_point){d->x[v], second};
        i += 2;
    }
}

static void self_loop(const struct as_layout_node *node, struct as_layout_point *point)
{
    double right = node->x + node->width / 2, half = node->height / 4;
    point[0] = (struct as_layout_point){right, node->y + half};
    point[1] = (struct as_layout_point){right + LOOP_PX, node->y + half};
    point[2] = (struct as_layout_point){right + LOOP_PX, node->y - half};
    point[3] = (struct as_layout_point){right, node->y - half};
}

/* Spreads the ends of all edges over the sides of their boxes. */
static int attach_edges(struct drawing *d, struct as_arena *arena)
{
    struct as_layout *g = d->g;
    struct end *end = as_arena_array(arena, struct end, 2 * (size_t)g->edges + 1);
    uint32_t n = 0;
    if (!end)
        return AS_ERR_NOMEM;
    for (uint32_t e = 0; e < g->edges; e++) {
        const struct as_layout_edge *edge = &g->edge[e];
        const struct as_layout_point *point = &g->point[edge->first];
        if (edge->from == edge->to)
            continue;
        double first = edge->points > 2 ? point[1].x : d->x[edge->to];
        double last = edge->points > 2 ? point[edge->points - 2].x : d->x[edge->from];
        end[n++] = (struct end){edge->from, !edge->up, first, e, true};
        end[n++] = (struct end){edge->to, edge->up, last, e, false};
    }
    if (n)
        qsort(end, n, sizeof *end, by_side);
    for (uint32_t i = 0; i < n;) {
        uint32_t j = i;
        while (j < n && end[j].node == end[i].node && end[j].below == end[i].below)
            j++;
        const struct as_layout_node *node = &g->node[end[i].node];
        double step = node->width / (j - i + 1);
        step = step > PORT_PX ? PORT_PX : step;
        for (uint32_t k = i; k < j; k++) {
            struct as_layout_edge *edge = &g->edge[end[k].edge];
            double y = end[i].below ? node->y + node->height / 2 : node->y - node->height / 2;
            double x = node->x + ((k - i) - (j - i - 1) / 2.0) * step;
            g->point[edge->first + (end[k].is_from ? 0 : edge->points - 1)] =
                (struct as_layout_point){x, y};
        }
        i = j;
    }
    return 0;
}

/* Moves the drawing so that it begins at (0, 0). */
static void fit_drawing(struct as_layout *g)
{
    double left = DBL_MAX, right = -DBL_MAX, bottom = 0;
    for (uint32_t v = 0; v < g->nodes; v++) {
        const struct as_layout_node *node = &g->node[v];
        left = node->x - node->width / 2 < left ? node->x - node->width / 2 : left;
        right = node->x + node->width / 2 > right ? node->x + node->width / 2 : right;
        bottom = node->y + node->height / 2 > bottom ? node->y + node->height / 2 : bottom;
    }
    for (uint32_t p = 0; p < g->points; p++) {
        left = g->point[p].x < left ? g->point[p].x : left;
        right = g->point[p].x > right ? g->point[p].x : right;
    }
    for (uint32_t v = 0; v < g->nodes; v++)
        g->node[v].x -= left;
    for (uint32_t p = 0; p < g->points; p++)
        g->point[p].x -= left;
    g->width = g->nodes ? right - left : 0;
    g->height = bottom;
}

static int place_all(struct drawing *d, struct as_arena *arena)
{
    const struct as_layers *l = &d->layers;
    double *width = as_arena_array(arena, double, (size_t)l->all + 1);
    d->x = as_arena_array(arena, double, (size_t)l->all + 1);
    d->top = as_arena_array(arena, double, (size_t)l->layers + 1);
    d->bottom = as_arena_array(arena, double, (size_t)l->layers + 1);
    if (!width || !d->x || !d->top || !d->bottom)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0; v < l->nodes; v++)
        width[v] = d->g->node[v].width;
    for (uint32_t e = 0; e < d->g->edges; e++) { /* space for self loops */
        if (d->g->edge[e].from == d->g->edge[e].to)
            width[d->g->edge[e].from] = d->g->node[d->g->edge[e].from].width + 2 * LOOP_PX;
    }
    AS_TRY(as_layers_place(l, width, arena, d->x));
    stack_layers(d);
    return 0;
}

static int route_all(struct drawing *d, struct as_arena *arena)
{
    struct as_layout *g = d->g;
    g->points = 0;
    for (uint32_t e = 0; e < g->edges; e++) {
        bool self = g->edge[e].from == g->edge[e].to;
        g->edge[e].up = self || d->layers.reversed[e];
        g->edge[e].first = g->points;
        g->edge[e].points = self ? 4 : 2 + 2 * dummies_of(d, e);
        g->points += g->edge[e].points;
    }
    g->point = as_arena_array(arena, struct as_layout_point, (size_t)g->points + 1);
    if (!g->point)
        return AS_ERR_NOMEM;
    for (uint32_t e = 0; e < g->edges; e++) {
        if (g->edge[e].from == g->edge[e].to)
            self_loop(&g->node[g->edge[e].from], &g->point[g->edge[e].first]);
        else
            route(d, e, &g->point[g->edge[e].first]);
    }
    return attach_edges(d, arena);
}

int as_layout_make(struct as_layout *layout, uint32_t entry, struct as_arena *arena,
                   struct as_error *err)
{
    struct drawing d = {.g = layout};
    layout->crossings = 0;
    AS_TRY(as_layers_make(layout, entry, arena, &d.layers, err));
    if (as_layers_order(&d.layers, arena, &layout->crossings) < 0 || place_all(&d, arena) < 0 ||
        route_all(&d, arena) < 0)
        return as_error_nomem(err, "the drawing of a graph");
    fit_drawing(layout);
    return 0;
}
