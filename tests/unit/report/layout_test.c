/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layered layout by its promises. Boxes do not overlap. Edges go from box to box, and downwards
 * unless they close a cycle. Known planar graphs have no crossings, and the result is the same
 * every time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/layout.h"

struct fixture {
    struct as_arena arena;
    struct as_layout layout;
};

static void make(struct fixture *f, uint32_t nodes, uint32_t edges, const uint32_t (*edge)[2])
{
    as_arena_init(&f->arena);
    f->layout =
        (struct as_layout){.nodes = nodes,
                           .edges = edges,
                           .node = as_arena_array(&f->arena, struct as_layout_node, nodes + 1u),
                           .edge = as_arena_array(&f->arena, struct as_layout_edge, edges + 1u)};
    for (uint32_t v = 0; v < nodes; v++)
        f->layout.node[v] =
            (struct as_layout_node){.width = 40 + 13 * (v % 7), .height = 20 + 9 * (v % 4)};
    for (uint32_t e = 0; e < edges; e++)
        f->layout.edge[e] = (struct as_layout_edge){.from = edge[e][0], .to = edge[e][1]};
    assert_int_equal(as_layout_make(&f->layout, 0, &f->arena, NULL), 0);
}

static bool near(double a, double b)
{
    return a - b < 0.01 && b - a < 0.01;
}

/* A point on the outline of a box. */
static bool touches(const struct as_layout_node *n, struct as_layout_point p)
{
    bool inside = p.x >= n->x - n->width / 2 - 0.01 && p.x <= n->x + n->width / 2 + 0.01 &&
                  p.y >= n->y - n->height / 2 - 0.01 && p.y <= n->y + n->height / 2 + 0.01;
    return inside && (near(p.y, n->y - n->height / 2) || near(p.y, n->y + n->height / 2) ||
                      near(p.x, n->x + n->width / 2));
}

static void check_boxes(const struct as_layout *g)
{
    for (uint32_t a = 0; a < g->nodes; a++) {
        const struct as_layout_node *x = &g->node[a];
        assert_true(x->x - x->width / 2 >= -0.01 && x->x + x->width / 2 <= g->width + 0.01);
        assert_true(x->y - x->height / 2 >= -0.01 && x->y + x->height / 2 <= g->height + 0.01);
        for (uint32_t b = a + 1; b < g->nodes; b++) {
            const struct as_layout_node *y = &g->node[b];
            double dx = x->x > y->x ? x->x - y->x : y->x - x->x;
            double dy = x->y > y->y ? x->y - y->y : y->y - x->y;
            assert_true(dx >= (x->width + y->width) / 2 || dy >= (x->height + y->height) / 2);
        }
    }
}

static void check_edges(const struct as_layout *g)
{
    for (uint32_t e = 0; e < g->edges; e++) {
        const struct as_layout_edge *edge = &g->edge[e];
        assert_true(edge->points >= 2 && edge->first + edge->points <= g->points);
        assert_true(touches(&g->node[edge->from], g->point[edge->first]));
        assert_true(touches(&g->node[edge->to], g->point[edge->first + edge->points - 1]));
        if (edge->from == edge->to)
            continue;
        uint32_t from = g->node[edge->from].layer, to = g->node[edge->to].layer;
        assert_true(edge->up ? to < from : from < to);
        for (uint32_t p = 1; p < edge->points; p++) {
            double down = g->point[edge->first + p].y - g->point[edge->first + p - 1].y;
            assert_true(edge->up ? down <= 0.01 : down >= -0.01);
        }
    }
}

static void check(uint32_t nodes, uint32_t edges, const uint32_t (*edge)[2], int64_t crossings)
{
    struct fixture f, again;
    make(&f, nodes, edges, edge);
    check_boxes(&f.layout);
    check_edges(&f.layout);
    if (crossings >= 0)
        assert_int_equal(f.layout.crossings, crossings);
    make(&again, nodes, edges, edge);
    assert_memory_equal(f.layout.node, again.layout.node, nodes * sizeof *f.layout.node);
    assert_memory_equal(f.layout.point, again.layout.point,
                        f.layout.points * sizeof *f.layout.point);
    as_arena_fini(&f.arena);
    as_arena_fini(&again.arena);
}
#define CHECK(nodes, crossings, ...)                                                               \
    check(nodes, sizeof((const uint32_t[][2]){__VA_ARGS__}) / sizeof(uint32_t[2]),                 \
          (const uint32_t[][2]){__VA_ARGS__}, crossings)

static void test_small(void **state)
{
    (void)state;
    check(0, 0, NULL, 0);
    check(1, 0, NULL, 0);
    check(5, 0, NULL, 0);
    CHECK(1, 0, {0, 0});
    CHECK(2, 0, {0, 1}, {0, 1}, {0, 1});
    CHECK(2, 0, {0, 1}, {1, 0});
    CHECK(4, 0, {0, 1}, {0, 2}, {1, 3}, {2, 3});
    CHECK(4, 0, {0, 1}, {1, 2}, {2, 3}, {3, 1}, {0, 3});
}

static void test_crossings_are_undone(void **state)
{
    (void)state;
    /* Two and four children in an order that crosses as given. */
    CHECK(6, 0, {0, 1}, {0, 2}, {1, 5}, {1, 3}, {2, 4}, {2, 3});
    CHECK(9, 0, {0, 1}, {0, 2}, {0, 3}, {0, 4}, {4, 5}, {3, 6}, {2, 7}, {1, 8});
    /* Complete bipartite 2 x 2 below a root: one crossing is the least. */
    CHECK(5, 1, {0, 1}, {0, 2}, {1, 3}, {1, 4}, {2, 3}, {2, 4});
    /* A tree of depth 3, its edges given upside down: none. */
    CHECK(7, 0, {2, 6}, {2, 5}, {1, 4}, {1, 3}, {0, 2}, {0, 1});
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)(*seed % below);
}

static void test_random(void **state)
{
    (void)state;
    uint64_t seed = 42;
    for (int round = 0; round < 300; round++) {
        uint32_t edge[64][2], nodes = 1 + draw(&seed, 24), edges = draw(&seed, 64);
        for (uint32_t e = 0; e < edges; e++) {
            edge[e][0] = draw(&seed, nodes);
            edge[e][1] = draw(&seed, nodes);
        }
        check(nodes, edges, (const uint32_t(*)[2])edge, -1);
    }
}

/* Control flow as programs have it, 2,000 blocks: chains with branches and loops. */
static void test_large(void **state)
{
    (void)state;
    enum { NODES = 2000 };
    static uint32_t edge[2 * NODES][2];
    uint64_t seed = 7;
    uint32_t edges = 0;
    for (uint32_t v = 0; v + 1 < NODES; v++) {
        edge[edges][0] = v;
        edge[edges++][1] = v + 1;
        if (v % 3)
            continue;
        uint32_t to = v + 2 + draw(&seed, 9);
        edge[edges][0] = v;
        edge[edges++][1] = draw(&seed, 4) || v < 20 ? (to < NODES ? to : v) : v - draw(&seed, 20);
    }
    check(NODES, edges, (const uint32_t(*)[2])edge, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_crossings_are_undone),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
