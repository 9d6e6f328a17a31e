/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a graph to layers. Edges that close a cycle of the depth-first search are reversed.
 * Layers are longest paths from the top. An edge over several layers gets a dummy in each layer.
 */
#include "report/graph_ranks.h"

#include <string.h>

#include "base/error.h"

#define DUMMIES_MOST 4000000u

struct adjacency {
    uint32_t *first, *edge; /* by node: its edges of the layout in order */
};

static int adjacency_make(const struct as_layout *g, struct as_arena *arena, struct adjacency *out)
{
    out->first = as_arena_array(arena, uint32_t, (size_t)g->nodes + 2);
    out->edge = as_arena_array(arena, uint32_t, (size_t)g->edges + 1);
    if (!out->first || !out->edge)
        return AS_ERR_NOMEM;
    for (uint32_t e = 0; e < g->edges; e++)
        out->first[g->edge[e].from + 2]++;
    for (uint32_t v = 2; v < g->nodes + 2; v++)
        out->first[v] += out->first[v - 1];
    for (uint32_t e = 0; e < g->edges; e++)
        out->edge[out->first[g->edge[e].from + 1]++] = e;
    return 0;
}

enum { FRESH, OPEN, DONE };

/* Marks edges that lead back into the current search path. Sets `by_end` to the nodes in order of
 * completion. */
static int break_cycles(const struct as_layout *g, const struct adjacency *a, uint32_t entry,
                        struct as_arena *arena, bool *reversed, uint32_t *by_end)
{
    uint8_t *state = as_arena_array(arena, uint8_t, (size_t)g->nodes + 1);
    uint32_t *stack = as_arena_array(arena, uint32_t, (size_t)g->nodes + 1);
    uint32_t *next = as_arena_array(arena, uint32_t, (size_t)g->nodes + 1);
    uint32_t ended = 0;
    if (!state || !stack || !next)
        return AS_ERR_NOMEM;
    for (uint32_t k = 0; k <= g->nodes; k++) {
        uint32_t root = k == 0 ? entry : k - 1;
        uint32_t depth = 0;
        if (root >= g->nodes || state[root] != FRESH)
            continue;
        stack[depth++] = root;
        state[root] = OPEN;
        next[root] = a->first[root];
        while (depth) {
            uint32_t v = stack[depth - 1];
            if (next[v] == a->first[v + 1]) {
                state[v] = DONE;
                by_end[ended++] = v;
                depth--;
                continue;
            }
            uint32_t e = a->edge[next[v]++];
            uint32_t to = g->edge[e].to;
            if (state[to] == OPEN)
                reversed[e] = true;
            if (state[to] != FRESH)
                continue;
            state[to] = OPEN;
            next[to] = a->first[to];
            stack[depth++] = to;
        }
    }
    return 0;
}

/* Returns the upper end of an edge after all cycles are broken. */
static uint32_t upper(const struct as_layout *g, const bool *reversed, uint32_t e)
{
    return reversed[e] ? g->edge[e].to : g->edge[e].from;
}

static uint32_t lower(const struct as_layout *g, const bool *reversed, uint32_t e)
{
    return reversed[e] ? g->edge[e].from : g->edge[e].to;
}

/* Computes the longest path from the top for each node. Returns the number of layers, or 0 without
 * memory. */
static uint32_t assign_layers(const struct as_layout *g, const bool *reversed, uint32_t *layer,
                              struct as_arena *arena)
{
    uint32_t n = g->nodes, layers = 0, head = 0, tail = 0;
    uint32_t *waits = as_arena_array(arena, uint32_t, (size_t)n + 1);
    uint32_t *first = as_arena_array(arena, uint32_t, (size_t)n + 2);
    uint32_t *out = as_arena_array(arena, uint32_t, (size_t)g->edges + 1);
    uint32_t *queue = as_arena_array(arena, uint32_t, (size_t)n + 1);
    if (!waits || !first || !out || !queue)
        return 0;
    for (uint32_t e = 0; e < g->edges; e++) {
        if (g->edge[e].from == g->edge[e].to)
            continue;
        waits[lower(g, reversed, e)]++;
        first[upper(g, reversed, e) + 2]++;
    }
    for (uint32_t v = 2; v < n + 2; v++)
        first[v] += first[v - 1];
    for (uint32_t e = 0; e < g->edges; e++) {
        if (g->edge[e].from != g->edge[e].to)
            out[first[upper(g, reversed, e) + 1]++] = lower(g, reversed, e);
    }
    for (uint32_t v = 0; v < n; v++) {
        if (waits[v] == 0)
            queue[tail++] = v;
    }
    while (head < tail) {
        uint32_t v = queue[head++];
        layers = layer[v] + 1 > layers ? layer[v] + 1 : layers;
        for (uint32_t e = first[v]; e < first[v + 1]; e++) {
            if (layer[out[e]] < layer[v] + 1)
                layer[out[e]] = layer[v] + 1;
            if (--waits[out[e]] == 0)
                queue[tail++] = out[e];
        }
    }
    return layers ? layers : 1;
}

/* Adds the dummies of all edges, and sets the neighbours of each node above and below. */
static int link_layers(const struct as_layout *g, struct as_layers *l, struct as_arena *arena)
{
    uint32_t links = 0, dummy = l->nodes;
    for (uint32_t e = 0; e < g->edges; e++) {
        if (g->edge[e].from != g->edge[e].to)
            links += l->layer[lower(g, l->reversed, e)] - l->layer[upper(g, l->reversed, e)];
    }
    uint32_t *from = as_arena_array(arena, uint32_t, (size_t)links + 1);
    uint32_t *to = as_arena_array(arena, uint32_t, (size_t)links + 1);
    l->up_first = as_arena_array(arena, uint32_t, (size_t)l->all + 2);
    l->down_first = as_arena_array(arena, uint32_t, (size_t)l->all + 2);
    l->up = as_arena_array(arena, uint32_t, (size_t)links + 1);
    l->down = as_arena_array(arena, uint32_t, (size_t)links + 1);
    if (!from || !to || !l->up_first || !l->down_first || !l->up || !l->down)
        return AS_ERR_NOMEM;
    links = 0;
    for (uint32_t e = 0; e < g->edges; e++) {
        uint32_t at = upper(g, l->reversed, e), end = lower(g, l->reversed, e);
        uint32_t last = AS_LAYERS_NONE;
        l->chain[e] = AS_LAYERS_NONE;
        if (at == end)
            continue;
        for (uint32_t layer = l->layer[at] + 1; layer <= l->layer[end]; layer++) {
            uint32_t stop = layer == l->layer[end] ? end : dummy++;
            if (stop != end) {
                l->layer[stop] = layer;
                l->next[stop] = AS_LAYERS_NONE;
                if (last == AS_LAYERS_NONE)
                    l->chain[e] = stop;
                else
                    l->next[last] = stop;
                last = stop;
            }
            from[links] = at;
            to[links++] = stop;
            at = stop;
        }
    }
    for (uint32_t k = 0; k < links; k++) {
        l->down_first[from[k] + 2]++;
        l->up_first[to[k] + 2]++;
    }
    for (uint32_t v = 2; v < l->all + 2; v++) {
        l->down_first[v] += l->down_first[v - 1];
        l->up_first[v] += l->up_first[v - 1];
    }
    for (uint32_t k = 0; k < links; k++) {
        l->down[l->down_first[from[k] + 1]++] = to[k];
        l->up[l->up_first[to[k] + 1]++] = from[k];
    }
    return 0;
}

/* Sets the initial order of the layers: nodes as the search found them, dummies behind their upper
 * ends. */
static int first_order(struct as_layers *l, const uint32_t *by_end, struct as_arena *arena)
{
    uint32_t *fill = as_arena_array(arena, uint32_t, (size_t)l->layers + 1);
    l->first = as_arena_array(arena, uint32_t, (size_t)l->layers + 2);
    l->order = as_arena_array(arena, uint32_t, (size_t)l->all + 1);
    l->place = as_arena_array(arena, uint32_t, (size_t)l->all + 1);
    if (!fill || !l->first || !l->order || !l->place)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0; v < l->all; v++)
        l->first[l->layer[v] + 1]++;
    for (uint32_t k = 0; k < l->layers; k++) {
        l->first[k + 1] += l->first[k];
        fill[k] = l->first[k];
    }
    for (uint32_t i = 0; i < l->all; i++) {
        uint32_t v = i < l->nodes ? by_end[l->nodes - 1 - i] : i;
        l->place[v] = fill[l->layer[v]] - l->first[l->layer[v]];
        l->order[fill[l->layer[v]]++] = v;
    }
    return 0;
}

int as_layers_make(const struct as_layout *g, uint32_t entry, struct as_arena *arena,
                   struct as_layers *out, struct as_error *err)
{
    struct adjacency a;
    *out = (struct as_layers){.nodes = g->nodes};
    uint32_t *by_end = as_arena_array(arena, uint32_t, (size_t)g->nodes + 1);
    uint32_t *layer = as_arena_array(arena, uint32_t, (size_t)g->nodes + 1);
    out->reversed = as_arena_array(arena, bool, (size_t)g->edges + 1);
    out->chain = as_arena_array(arena, uint32_t, (size_t)g->edges + 1);
    if (!by_end || !layer || !out->reversed || !out->chain || adjacency_make(g, arena, &a) < 0 ||
        break_cycles(g, &a, entry, arena, out->reversed, by_end) < 0)
        return as_error_nomem(err, "the drawing of a graph");
    out->layers = assign_layers(g, out->reversed, layer, arena);
    uint64_t dummies = 0;
    for (uint32_t e = 0; e < g->edges; e++) {
        if (g->edge[e].from != g->edge[e].to)
            dummies += layer[lower(g, out->reversed, e)] - layer[upper(g, out->reversed, e)] - 1;
    }
    if (dummies > DUMMIES_MOST)
        return as_error_set(err, AS_ERR_LIMIT,
                            "the graph is too large to draw: its edges cross %llu layers; draw a "
                            "part of it",
                            (unsigned long long)dummies);
    out->all = g->nodes + (uint32_t)dummies;
    out->layer = as_arena_array(arena, uint32_t, (size_t)out->all + 1);
    out->next = as_arena_array(arena, uint32_t, (size_t)out->all + 1);
    if (!out->layers || !out->layer || !out->next)
        return as_error_nomem(err, "the drawing of a graph");
    memcpy(out->layer, layer, sizeof *layer * g->nodes);
    if (link_layers(g, out, arena) < 0 || first_order(out, by_end, arena) < 0)
        return as_error_nomem(err, "the drawing of a graph");
    return 0;
}
