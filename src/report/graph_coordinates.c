/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Horizontal positions by Brandes and Koepf. Four passes (from above and below, leftmost and
 * rightmost) align nodes with the median of their neighbours. The resulting straight blocks are
 * then packed. Each node gets the mean of the two middle positions of the four. Long edges stay
 * straight: a link between two dummies wins over links that cross it.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"
#include "report/graph_ranks.h"

struct place_view { /* one of the four passes */
    const struct as_layers *l;
    const double *width;
    bool down;            /* aligned with the neighbours below, from the bottom layer up */
    bool right;           /* layers are read from the right */
    const bool *conflict; /* by link of `up` */
    uint32_t *root, *align;
    double *x;
};

static uint32_t size_of(const struct as_layers *l, uint32_t k)
{
    return l->first[k + 1] - l->first[k];
}

/* Returns the node at position `i` of layer `k` in the reading direction of the pass. */
static uint32_t node_at(const struct place_view *w, uint32_t k, uint32_t i)
{
    uint32_t n = size_of(w->l, k);
    return w->l->order[w->l->first[k] + (w->right ? n - 1 - i : i)];
}

static uint32_t position(const struct place_view *w, uint32_t v)
{
    uint32_t n = size_of(w->l, w->l->layer[v]);
    return w->right ? n - 1 - w->l->place[v] : w->l->place[v];
}

static bool is_dummy(const struct as_layers *l, uint32_t v)
{
    return v >= l->nodes;
}

/* Marks links that cross a link between two dummies and are not such a link. O(links). */
static void mark_conflicts(const struct as_layers *l, bool *conflict)
{
    for (uint32_t k = 1; k < l->layers; k++) {
        uint32_t left = 0, done = 0, n = size_of(l, k);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t v = l->order[l->first[k] + i];
            uint32_t inner = AS_LAYERS_NONE;
            if (is_dummy(l, v) && is_dummy(l, l->up[l->up_first[v]]))
                inner = l->up[l->up_first[v]];
            if (inner == AS_LAYERS_NONE && i + 1 < n)
                continue;
            uint32_t right = inner == AS_LAYERS_NONE ? size_of(l, k - 1) : l->place[inner];
            for (; done <= i; done++) {
                uint32_t u = l->order[l->first[k] + done];
                for (uint32_t e = l->up_first[u]; e < l->up_first[u + 1]; e++) {
                    uint32_t at = l->place[l->up[e]];
                    bool is_inner = is_dummy(l, u) && is_dummy(l, l->up[e]);
                    if (!is_inner && (at < left || at > right))
                        conflict[e] = true;
                }
            }
            left = right;
        }
    }
}

/* Returns true if the link between `upper` and `lower` must not be aligned. */
static bool is_conflict(const struct place_view *w, uint32_t upper, uint32_t lower)
{
    for (uint32_t e = w->l->up_first[lower]; e < w->l->up_first[lower + 1]; e++) {
        if (w->l->up[e] == upper)
            return w->conflict[e];
    }
    return false;
}

static int by_position(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void align_node(struct place_view *w, uint32_t v, uint64_t *sorted, int64_t *taken)
{
    const struct as_layers *l = w->l;
    const uint32_t *first = w->down ? l->down_first : l->up_first;
    const uint32_t *to = w->down ? l->down : l->up;
    uint32_t n = first[v + 1] - first[v];
    for (uint32_t e = 0; e < n; e++)
        sorted[e] = (uint64_t)position(w, to[first[v] + e]) << 32 | to[first[v] + e];
    if (n > 1)
        qsort(sorted, n, sizeof *sorted, by_position);
    for (uint32_t m = n ? (n - 1) / 2 : 0; n && m <= n / 2; m++) {
        uint32_t u = (uint32_t)sorted[m];
        int64_t at = position(w, u);
        bool refused = w->down ? is_conflict(w, v, u) : is_conflict(w, u, v);
        if (w->align[v] != v || refused || *taken >= at)
            continue;
        w->align[u] = v;
        w->root[v] = w->root[u];
        w->align[v] = w->root[v];
        *taken = at;
    }
}

static void align_all(struct place_view *w, uint64_t *sorted)
{
    for (uint32_t v = 0; v < w->l->all; v++)
        w->root[v] = w->align[v] = v;
    for (uint32_t j = 1; j < w->l->layers; j++) {
        uint32_t k = w->down ? w->l->layers - 1 - j : j;
        int64_t taken = -1;
        for (uint32_t i = 0; i < size_of(w->l, k); i++)
            align_node(w, node_at(w, k, i), sorted, &taken);
    }
}

static double nodes_apart(const struct place_view *w, uint32_t a, uint32_t b)
{
    double gap = is_dummy(w->l, a) || is_dummy(w->l, b) ? AS_LAYOUT_BESIDE / 2 : AS_LAYOUT_BESIDE;
    return (w->width[a] + w->width[b]) / 2 + gap;
}

/* Packs the blocks: moves each as far left (in the view) as its neighbours allow. Then moves it
 * back right as far as they leave space. */
static int pack(struct place_view *w, struct as_arena *arena)
{
    const struct as_layers *l = w->l;
    uint32_t n = l->all, head = 0, tail = 0, links = 0;
    uint32_t *waits = as_arena_array(arena, uint32_t, (size_t)n + 1);
    uint32_t *first = as_arena_array(arena, uint32_t, (size_t)n + 2);
    uint32_t *to = as_arena_array(arena, uint32_t, (size_t)n + 1);
    double *gap = as_arena_array(arena, double, (size_t)n + 1);
    uint32_t *queue = as_arena_array(arena, uint32_t, (size_t)n + 1);
    if (!waits || !first || !to || !gap || !queue)
        return AS_ERR_NOMEM;
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t k = 0; k < l->layers; k++) {
            for (uint32_t i = 1; i < size_of(l, k); i++) {
                uint32_t a = node_at(w, k, i - 1), b = node_at(w, k, i);
                uint32_t from = w->root[a];
                if (!fill) {
                    first[from + 2]++;
                    waits[w->root[b]]++;
                    continue;
                }
                gap[first[from + 1]] = nodes_apart(w, a, b);
                to[first[from + 1]++] = w->root[b];
                links++;
            }
        }
        for (uint32_t v = 2; v < n + 2 && !fill; v++)
            first[v] += first[v - 1];
    }
    for (uint32_t v = 0; v < n; v++) {
        w->x[v] = 0;
        if (w->root[v] == v && waits[v] == 0)
            queue[tail++] = v;
    }
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint32_t e = first[v]; e < first[v + 1]; e++) {
            if (w->x[to[e]] < w->x[v] + gap[e])
                w->x[to[e]] = w->x[v] + gap[e];
            if (--waits[to[e]] == 0)
                queue[tail++] = to[e];
        }
    }
    while (tail > 0) {
        uint32_t v = queue[--tail];
        double room = DBL_MAX;
        for (uint32_t e = first[v]; e < first[v + 1]; e++)
            room = w->x[to[e]] - gap[e] < room ? w->x[to[e]] - gap[e] : room;
        if (room != DBL_MAX && room > w->x[v])
            w->x[v] = room;
    }
    for (uint32_t v = 0; v < n; v++)
        w->x[v] = w->x[w->root[v]];
    for (uint32_t v = 0; v < n && w->right; v++)
        w->x[v] = -w->x[v];
    return 0;
}

static void extent(const struct place_view *w, double *least, double *most)
{
    *least = DBL_MAX;
    *most = -DBL_MAX;
    for (uint32_t v = 0; v < w->l->all; v++) {
        double left = w->x[v] - w->width[v] / 2, right = w->x[v] + w->width[v] / 2;
        *least = left < *least ? left : *least;
        *most = right > *most ? right : *most;
    }
}

/* Shifts the four results to the extent of the narrowest, and takes the middle positions of each
 * node. */
static void balance(struct place_view view[4], double *x)
{
    double least[4], most[4];
    int narrow = 0;
    for (int i = 0; i < 4; i++) {
        extent(&view[i], &least[i], &most[i]);
        if (most[i] - least[i] < most[narrow] - least[narrow])
            narrow = i;
    }
    for (uint32_t v = 0; v < view[0].l->all; v++) {
        double at[4];
        for (int i = 0; i < 4; i++)
            at[i] =
                view[i].x[v] + (view[i].right ? most[narrow] - most[i] : least[narrow] - least[i]);
        as_sort_doubles(at, 4);
        x[v] = (at[1] + at[2]) / 2;
    }
}

int as_layers_place(const struct as_layers *layers, const double *width, struct as_arena *arena,
                    double *x)
{
    uint32_t n = layers->all, most = 0;
    struct place_view view[4];
    bool *conflict = as_arena_array(arena, bool, (size_t)layers->up_first[n] + 1);
    if (!conflict)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0; v < n; v++) {
        uint32_t up = layers->up_first[v + 1] - layers->up_first[v];
        uint32_t down = layers->down_first[v + 1] - layers->down_first[v];
        most = up > most ? up : most;
        most = down > most ? down : most;
    }
    uint64_t *sorted = as_arena_array(arena, uint64_t, (size_t)most + 1);
    if (!sorted)
        return AS_ERR_NOMEM;
    mark_conflicts(layers, conflict);
    for (int i = 0; i < 4; i++) {
        view[i] = (struct place_view){.l = layers,
                                      .width = width,
                                      .down = i & 1,
                                      .right = i & 2,
                                      .conflict = conflict,
                                      .root = as_arena_array(arena, uint32_t, (size_t)n + 1),
                                      .align = as_arena_array(arena, uint32_t, (size_t)n + 1),
                                      .x = as_arena_array(arena, double, (size_t)n + 1)};
        if (!view[i].root || !view[i].align || !view[i].x)
            return AS_ERR_NOMEM;
        align_all(&view[i], sorted);
        AS_TRY(pack(&view[i], arena));
    }
    balance(view, x);
    return 0;
}
