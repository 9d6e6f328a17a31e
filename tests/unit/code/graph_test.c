/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dominators and the loop forest against definitions computed the slow way on random graphs: a
 * node dominates another when removing it cuts the other off; the loops around a node are the
 * strongly connected components left when the headers of the enclosing ones are removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "code/graph.h"
#include "code/order.h"

#define NODES_MAX 14
#define GRAPHS    20000

struct small {
    uint32_t n;
    uint32_t first[NODES_MAX + 1];
    uint32_t to[NODES_MAX * NODES_MAX];
    struct as_graph graph;
};

static uint64_t seed = 0x9e3779b97f4a7c15u;

static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed % below);
}

static void draw_graph(struct small *s)
{
    s->n = 1 + draw(NODES_MAX);
    uint32_t edges = 0;
    for (uint32_t v = 0; v < s->n; v++) {
        s->first[v] = edges;
        for (uint32_t k = draw(4); k > 0; k--)
            s->to[edges++] = draw(s->n);
    }
    s->first[s->n] = edges;
    s->graph = (struct as_graph){.nodes = s->n, .first = s->first, .to = s->to};
}

/* Nodes reached from `from` inside `allowed` (bit sets), `from` itself included when allowed. */
static uint32_t reach(const struct small *s, uint32_t from, uint32_t allowed)
{
    uint32_t seen = 1u << from & allowed;
    for (uint32_t before = 0; before != seen;) {
        before = seen;
        for (uint32_t v = 0; v < s->n; v++) {
            for (uint32_t e = s->first[v]; seen >> v & 1 && e < s->first[v + 1]; e++)
                seen |= 1u << s->to[e] & allowed;
        }
    }
    return seen;
}

/* Returns whether `a` is on the path from `b` up the tree. */
static bool is_above(const uint32_t *idom, uint32_t a, uint32_t b)
{
    while (b != a && b != AS_GRAPH_NONE)
        b = idom[b];
    return b == a;
}

static void check_dominators(const struct small *s, const uint32_t *idom)
{
    uint32_t all = (1u << s->n) - 1;
    uint32_t reached = reach(s, 0, all);
    for (uint32_t b = 0; b < s->n; b++) {
        if (!(reached >> b & 1)) {
            assert_int_equal(idom[b], AS_GRAPH_NONE);
            continue;
        }
        for (uint32_t a = 0; a < s->n; a++) {
            if (!(reached >> a & 1))
                continue;
            bool cut = a == b || !(reach(s, 0, all & ~(1u << a)) >> b & 1);
            assert_int_equal(is_above(idom, a, b), cut);
        }
    }
}

/* Post-dominance by definition: without `a`, `b` reaches no exit (and with it, it does). */
static void check_post_dominators(const struct small *s, const uint32_t *ipdom)
{
    uint32_t all = (1u << s->n) - 1, exits = 0;
    for (uint32_t v = 0; v < s->n; v++)
        exits |= (uint32_t)(s->first[v] == s->first[v + 1]) << v;
    for (uint32_t b = 0; b < s->n; b++) {
        if (!(reach(s, b, all) & exits))
            continue;
        for (uint32_t a = 0; a < s->n; a++) {
            if (!(reach(s, a, all) & exits))
                continue;
            bool cut = a == b || !(reach(s, b, all & ~(1u << a)) & exits);
            assert_int_equal(is_above(ipdom, a, b), cut);
        }
    }
}

static uint32_t component(const struct small *s, uint32_t v, uint32_t allowed)
{
    uint32_t result = 0;
    for (uint32_t w = 0; w < s->n; w++) {
        if (reach(s, v, allowed) >> w & 1 && reach(s, w, allowed) >> v & 1)
            result |= 1u << w;
    }
    return result;
}

static bool is_cycle(const struct small *s, uint32_t set, uint32_t v)
{
    if (set & (set - 1))
        return true;
    for (uint32_t e = s->first[v]; e < s->first[v + 1]; e++) {
        if (s->to[e] == v)
            return true;
    }
    return false;
}

static bool entered_beside(const struct small *s, uint32_t set, uint32_t header, uint32_t reached)
{
    for (uint32_t v = 0; v < s->n; v++) {
        if (!(reached >> v & 1) || set >> v & 1)
            continue;
        for (uint32_t e = s->first[v]; e < s->first[v + 1]; e++) {
            if (s->to[e] != header && set >> s->to[e] & 1)
                return true;
        }
    }
    return false;
}

/* Walks the loops around `v` from the outermost inwards and compares each with the forest. */
static uint32_t check_around(const struct small *s, const struct as_graph_loops *found,
                             const uint32_t *pre, uint32_t v, uint32_t reached)
{
    uint32_t allowed = reached, parent = AS_GRAPH_NONE, depth = 0;
    for (;;) {
        uint32_t set = component(s, v, allowed);
        if (!is_cycle(s, set, v))
            break;
        uint32_t header = v;
        for (uint32_t w = 0; w < s->n; w++)
            header = set >> w & 1 && pre[w] < pre[header] ? w : header;
        uint32_t loop = found->loop_of[header];
        assert_int_not_equal(loop, AS_GRAPH_NONE);
        assert_int_equal(found->header[loop], header);
        assert_int_equal(found->parent[loop], parent);
        assert_int_equal(found->irreducible[loop], entered_beside(s, set, header, reached));
        parent = loop;
        depth++;
        if (header == v)
            break;
        allowed &= ~(1u << header);
    }
    assert_int_equal(found->loop_of[v], parent);
    return depth;
}

static void check_loops(const struct small *s, const struct as_graph_loops *found,
                        const uint32_t *pre)
{
    uint32_t reached = reach(s, 0, (1u << s->n) - 1);
    for (uint32_t v = 0; v < s->n; v++) {
        if (reached >> v & 1)
            check_around(s, found, pre, v, reached);
        else
            assert_int_equal(found->loop_of[v], AS_GRAPH_NONE);
    }
    for (uint32_t loop = 0; loop < found->loops; loop++)
        assert_int_equal(found->loop_of[found->header[loop]], loop);
}

static void test_random(void **state)
{
    (void)state;
    uint32_t loops = 0, irreducible = 0;
    for (int i = 0; i < GRAPHS; i++) {
        struct small s;
        uint32_t idom[NODES_MAX], ipdom[NODES_MAX];
        struct as_graph_loops found;
        struct as_graph_order order;
        struct as_arena arena;
        as_arena_init(&arena);
        draw_graph(&s);
        assert_int_equal(as_graph_dominators(&s.graph, 0, &arena, idom), 0);
        assert_int_equal(as_graph_post_dominators(&s.graph, &arena, ipdom), 0);
        assert_int_equal(as_graph_find_loops(&s.graph, 0, &arena, &found), 0);
        assert_int_equal(as_graph_order(&s.graph, 0, &arena, &order), 0);
        check_dominators(&s, idom);
        check_post_dominators(&s, ipdom);
        check_loops(&s, &found, order.pre);
        loops += found.loops;
        for (uint32_t k = 0; k < found.loops; k++)
            irreducible += found.irreducible[k];
        as_arena_fini(&arena);
    }
    /* The graphs do hold what is tested. */
    assert_true(loops > GRAPHS && irreducible > GRAPHS / 20);
}

/* 0 -> 1 -> 2 -> 1, 2 -> 3 -> 0', 3 -> 4: two nested loops of known shape. */
static void test_known(void **state)
{
    (void)state;
    const uint32_t first[] = {0, 1, 2, 4, 6, 6};
    const uint32_t to[] = {1, 2, 1, 3, 0, 4};
    struct as_graph graph = {.nodes = 5, .first = first, .to = to};
    struct as_graph_loops found;
    struct as_arena arena;
    as_arena_init(&arena);
    assert_int_equal(as_graph_find_loops(&graph, 0, &arena, &found), 0);
    assert_int_equal(found.loops, 2);
    assert_int_equal(found.header[0], 0);
    assert_int_equal(found.header[1], 1);
    assert_int_equal(found.parent[1], 0);
    assert_int_equal(found.loop_of[2], 1);
    assert_int_equal(found.loop_of[3], 0);
    assert_int_equal(found.loop_of[4], AS_GRAPH_NONE);
    as_arena_fini(&arena);
}

/* ---- Large graphs -------------------------------------------------------------------------- */

#define LARGE   1200
#define LOOKED  24
#define NEST    20000
#define ENTERED 3 /* so many edges into the nest; the last goes to the innermost loop's tail */

struct large {
    struct as_graph graph, back;
    bool *allowed, *seen, *other;
    uint32_t *list;
};

/* Marks in `seen` what is reached from `from` within `allowed`. */
static void reach_large(const struct large *s, const struct as_graph *graph, uint32_t from,
                        bool *seen)
{
    uint32_t n = 0;
    memset(seen, 0, graph->nodes);
    s->list[n++] = from;
    seen[from] = true;
    while (n) {
        const uint32_t v = s->list[--n];
        for (uint32_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            const uint32_t to = graph->to[e];
            if (s->allowed[to] && !seen[to]) {
                seen[to] = true;
                s->list[n++] = to;
            }
        }
    }
}

/* The component of `v` into `seen`; whether there is a cycle in it. */
static bool component_large(struct large *s, uint32_t v)
{
    uint32_t n = 0;
    reach_large(s, &s->graph, v, s->seen);
    reach_large(s, &s->back, v, s->other);
    for (uint32_t w = 0; w < s->graph.nodes; w++) {
        s->seen[w] = s->seen[w] && s->other[w];
        n += s->seen[w];
    }
    for (uint32_t e = s->graph.first[v]; n == 1 && e < s->graph.first[v + 1]; e++)
        n += s->graph.to[e] == v;
    return n > 1;
}

static bool entered_large(const struct large *s, const bool *reached, uint32_t header)
{
    for (uint32_t v = 0; v < s->graph.nodes; v++) {
        for (uint32_t e = s->graph.first[v]; e < s->graph.first[v + 1]; e++) {
            const uint32_t to = s->graph.to[e];
            if (reached[v] && !s->seen[v] && s->seen[to] && to != header)
                return true;
        }
    }
    return false;
}

/* As check_around; the number of loops around `v` that are entered beside their headers. */
static uint32_t check_large(struct large *s, const struct as_graph_loops *found,
                            const uint32_t *pre, const bool *reached, uint32_t v)
{
    uint32_t parent = AS_GRAPH_NONE, irreducible = 0, header = AS_GRAPH_NONE;
    memcpy(s->allowed, reached, s->graph.nodes);
    while (header != v && component_large(s, v)) {
        header = v;
        for (uint32_t w = 0; w < s->graph.nodes; w++)
            header = s->seen[w] && pre[w] < pre[header] ? w : header;
        const uint32_t loop = found->loop_of[header];
        assert_int_not_equal(loop, AS_GRAPH_NONE);
        assert_int_equal(found->header[loop], header);
        assert_int_equal(found->parent[loop], parent);
        assert_int_equal(found->irreducible[loop], entered_large(s, reached, header));
        irreducible += found->irreducible[loop];
        parent = loop;
        s->allowed[header] = false;
    }
    assert_int_equal(found->loop_of[v], parent);
    return irreducible;
}

static void test_large_irreducible(void **state)
{
    (void)state;
    struct as_arena arena;
    as_arena_init(&arena);
    uint32_t *first = as_arena_array(&arena, uint32_t, LARGE + 1);
    uint32_t *to = as_arena_array(&arena, uint32_t, 3 * LARGE);
    bool *reached = as_arena_array(&arena, bool, LARGE);
    struct large s = {.graph = {.nodes = LARGE, .first = first, .to = to},
                      .allowed = as_arena_array(&arena, bool, LARGE),
                      .seen = as_arena_array(&arena, bool, LARGE),
                      .other = as_arena_array(&arena, bool, LARGE),
                      .list = as_arena_array(&arena, uint32_t, LARGE)};
    /* A fall, mostly, and jumps to anywhere: one great tangle. */
    for (uint32_t v = 0, e = 0; v < LARGE; v++) {
        to[e++] = v + 1 < LARGE ? v + 1 : 0;
        for (uint32_t k = draw(3); k > 0; k--)
            to[e++] = draw(LARGE);
        first[v + 1] = e;
    }
    struct as_graph_loops found;
    struct as_graph_order order;
    assert_int_equal(as_graph_reverse(&s.graph, &arena, &s.back), 0);
    assert_int_equal(as_graph_order(&s.graph, 0, &arena, &order), 0);
    assert_int_equal(as_graph_find_loops(&s.graph, 0, &arena, &found), 0);
    memset(s.allowed, true, LARGE);
    reach_large(&s, &s.graph, 0, reached);
    uint32_t irreducible = 0;
    for (uint32_t i = 0; i < LOOKED; i++)
        irreducible += check_large(&s, &found, order.pre, reached, draw(LARGE));
    assert_true(found.loops > 100 && irreducible > LOOKED);
    as_arena_fini(&arena);
}

/* Heads 0 .. n-1 in a row, then tails n-1 .. 0, each with its way back; tail i is node 2n-1-i. */
static void test_deep_nest(void **state)
{
    (void)state;
    for (uint32_t entered = 0; entered <= ENTERED; entered += ENTERED) {
        struct as_graph_loops found;
        struct as_arena arena;
        as_arena_init(&arena);
        const uint32_t entry = 2 * NEST;
        uint32_t *first = as_arena_array(&arena, uint32_t, entry + 2);
        uint32_t *to = as_arena_array(&arena, uint32_t, 4 * NEST);
        const struct as_graph graph = {.nodes = entry + 1, .first = first, .to = to};
        uint32_t e = 0;
        for (uint32_t v = 0; v < entry; v++) {
            if (v + 1 < entry)
                to[e++] = v + 1;
            if (v >= NEST)
                to[e++] = entry - 1 - v;
            first[v + 1] = e;
        }
        to[e++] = 0;
        for (uint32_t k = 0; k < entered; k++) /* of loops 1, 9999 and 19999 */
            to[e++] = entry - 1 - (k == 0 ? 1 : k * (NEST / 2) - 1);
        first[entry + 1] = e;
        assert_int_equal(as_graph_find_loops(&graph, entry, &arena, &found), 0);
        assert_int_equal(found.loops, NEST);
        for (uint32_t l = 0; l < NEST; l++) {
            assert_int_equal(found.header[l], l);
            assert_int_equal(found.parent[l], l ? l - 1 : AS_GRAPH_NONE);
            assert_int_equal(found.irreducible[l], entered > 0);
            assert_int_equal(found.loop_of[l], l);
            assert_int_equal(found.loop_of[entry - 1 - l], l);
        }
        assert_int_equal(found.loop_of[entry], AS_GRAPH_NONE);
        as_arena_fini(&arena);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    const uint32_t first[] = {0, 1, 2};
    const uint32_t to[] = {1, 0};
    struct as_graph graph = {.nodes = 2, .first = first, .to = to};
    int rc = AS_ERR_NOMEM;
    for (int64_t after = 0; rc != 0; after++) {
        struct as_graph_loops found;
        struct as_arena arena;
        as_arena_init(&arena);
        as_alloc_fail_after(after);
        rc = as_graph_find_loops(&graph, 0, &arena, &found);
        as_alloc_fail_after(-1);
        as_arena_fini(&arena);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        assert_true(after > 0 || rc == AS_ERR_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_large_irreducible),
        cmocka_unit_test(test_deep_nest),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests_name("code/graph", tests, NULL, NULL);
}
