/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order of the nodes in each layer: sweeps down and up move each node to the median of its
 * neighbours. Then adjacent nodes are swapped if this saves crossings. The best order is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "report/graph_ranks.h"

#define SWEEPS         24
#define TRANSPOSE_MOST 2000 /* max links of a layer for swapping */

struct crossing_sweep {
    struct as_layers *l;
    uint32_t *tree; /* Fenwick tree over the positions of a layer */
    uint32_t *best; /* best order so far */
    struct keyed_node {
        double key;
        uint32_t was, node;
    } * keyed;
    uint32_t *near; /* positions of the neighbours of one node */
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t neighbours(const struct as_layers *l, uint32_t v, bool up, uint32_t *near)
{
    const uint32_t *first = up ? l->up_first : l->down_first;
    const uint32_t *to = up ? l->up : l->down;
    uint32_t n = first[v + 1] - first[v];
    for (uint32_t k = 0; k < n; k++)
        near[k] = l->place[to[first[v] + k]];
    if (n > 1)
        qsort(near, n, sizeof *near, by_number);
    return n;
}

/* Returns the crossings between layer `k` and the next: pairs of links in the wrong order. O(E log
 * V). */
static uint64_t crossings_below(struct crossing_sweep *s, uint32_t k)
{
    const struct as_layers *l = s->l;
    uint32_t size = l->first[k + 2] - l->first[k + 1];
    uint64_t crossings = 0;
    uint32_t seen = 0;
    memset(s->tree, 0, sizeof *s->tree * (size + 1));
    for (uint32_t i = l->first[k]; i < l->first[k + 1]; i++) {
        uint32_t n = neighbours(l, l->order[i], false, s->near);
        for (uint32_t e = 0; e < n; e++) { /* earlier links that end further right */
            uint32_t before = 0;
            for (uint32_t t = s->near[e] + 1; t; t &= t - 1)
                before += s->tree[t];
            crossings += seen - before;
        }
        for (uint32_t e = 0; e < n; e++) {
            seen++;
            for (uint32_t t = s->near[e] + 1; t <= size; t += t & -t)
                s->tree[t]++;
        }
    }
    return crossings;
}

static uint64_t all_crossings(struct crossing_sweep *s)
{
    uint64_t crossings = 0;
    for (uint32_t k = 0; k + 1 < s->l->layers; k++)
        crossings += crossings_below(s, k);
    return crossings;
}

/* Returns the weighted median of Gansner et al.: between two middle positions, nearer to the denser
 * side. */
static double median(const uint32_t *near, uint32_t n)
{
    const uint32_t middle = n / 2;
    if (n % 2)
        return near[middle];
    const double low = near[middle - 1], high = near[middle];
    const double left = low - near[0], right = near[n - 1] - high;
    return n == 2 || left + right == 0 ? (low + high) / 2
                                       : (low * right + high * left) / (left + right);
}

static int by_key(const void *a, const void *b)
{
    const struct keyed_node *x = a, *y = b;
    if (x->key != y->key)
        return (x->key > y->key) - (x->key < y->key);
    return (x->was > y->was) - (x->was < y->was);
}

static void order_layer(struct crossing_sweep *s, uint32_t k, bool up)
{
    struct as_layers *l = s->l;
    uint32_t n = l->first[k + 1] - l->first[k];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = l->order[l->first[k] + i];
        uint32_t near = neighbours(l, v, up, s->near);
        /* Nodes without neighbours keep their position. */
        s->keyed[i] = (struct keyed_node){near ? median(s->near, near) : i, i, v};
    }
    qsort(s->keyed, n, sizeof *s->keyed, by_key);
    for (uint32_t i = 0; i < n; i++) {
        l->order[l->first[k] + i] = s->keyed[i].node;
        l->place[s->keyed[i].node] = i;
    }
}

/* Returns the crossings of the links of `a` and `b` on one side, if `a` is left of `b`. */
static uint64_t crossings_between(struct crossing_sweep *s, uint32_t a, uint32_t b, bool up)
{
    const struct as_layers *l = s->l;
    uint32_t n = neighbours(l, a, up, s->near);
    uint32_t m = neighbours(l, b, up, s->near + n);
    uint64_t crossings = 0;
    for (uint32_t i = 0, j = 0; i < n; i++) {
        while (j < m && s->near[n + j] < s->near[i])
            j++;
        crossings += j;
    }
    return crossings;
}

static uint32_t links_of_layer(const struct as_layers *l, uint32_t k)
{
    uint32_t links = 0;
    for (uint32_t i = l->first[k]; i < l->first[k + 1]; i++) {
        uint32_t v = l->order[i];
        links += l->up_first[v + 1] - l->up_first[v] + l->down_first[v + 1] - l->down_first[v];
    }
    return links;
}

static void transpose(struct crossing_sweep *s)
{
    struct as_layers *l = s->l;
    bool better = true;
    for (int round = 0; better && round < 4; round++) {
        better = false;
        for (uint32_t k = 0; k < l->layers; k++) {
            if (links_of_layer(l, k) > TRANSPOSE_MOST)
                continue;
            for (uint32_t i = l->first[k]; i + 1 < l->first[k + 1]; i++) {
                uint32_t a = l->order[i], b = l->order[i + 1];
                uint64_t now = crossings_between(s, a, b, true) + crossings_between(s, a, b, false);
                if (now == 0 ||
                    now <= crossings_between(s, b, a, true) + crossings_between(s, b, a, false))
                    continue;
                l->order[i] = b;
                l->order[i + 1] = a;
                l->place[b] = i - l->first[k];
                l->place[a] = i + 1 - l->first[k];
                better = true;
            }
        }
    }
}

int as_layers_order(struct as_layers *l, struct as_arena *arena, uint64_t *crossings)
{
    uint32_t widest = 0, most = 0;
    for (uint32_t k = 0; k < l->layers; k++)
        widest = l->first[k + 1] - l->first[k] > widest ? l->first[k + 1] - l->first[k] : widest;
    for (uint32_t v = 0; v < l->all; v++) {
        uint32_t up = l->up_first[v + 1] - l->up_first[v];
        uint32_t down = l->down_first[v + 1] - l->down_first[v];
        most = up > most ? up : most;
        most = down > most ? down : most;
    }
    struct crossing_sweep s = {.l = l,
                               .tree = as_arena_array(arena, uint32_t, (size_t)widest + 2),
                               .best = as_arena_array(arena, uint32_t, (size_t)l->all + 1),
                               .keyed =
                                   as_arena_array(arena, struct keyed_node, (size_t)widest + 1),
                               .near = as_arena_array(arena, uint32_t, 2 * (size_t)most + 2)};
    if (!s.tree || !s.best || !s.keyed || !s.near)
        return AS_ERR_NOMEM;
    memcpy(s.best, l->order, sizeof *s.best * l->all);
    *crossings = all_crossings(&s);
    for (int sweep = 0; sweep < SWEEPS && *crossings; sweep++) {
        bool down = sweep % 2 == 0;
        for (uint32_t k = 1; k < l->layers; k++)
            order_layer(&s, down ? k : l->layers - 1 - k, down);
        transpose(&s);
        uint64_t now = all_crossings(&s);
        if (now < *crossings) {
            *crossings = now;
            memcpy(s.best, l->order, sizeof *s.best * l->all);
        }
    }
    memcpy(l->order, s.best, sizeof *s.best * l->all);
    for (uint32_t k = 0; k < l->layers; k++) {
        for (uint32_t i = l->first[k]; i < l->first[k + 1]; i++)
            l->place[l->order[i]] = i - l->first[k];
    }
    return 0;
}
