/* SPDX-License-Identifier: Apache-2.0 */
/* Building the nodes of a window for an object. */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "semantic/node.h"

struct graph_building {
    struct as_node_graph *graph;
    const struct as_configuration *configuration;
};

/* A node over `n` children, which are moved. */
static int add_node(struct as_node_graph *g, const struct as_node *node, const uint32_t *child,
                    size_t n, uint32_t *out)
{
    const uint32_t at = (uint32_t)g->node.n;
    AS_TRY(as_vec_push(&g->node, *node));
    struct as_node *added = &g->node.at[at];
    for (size_t i = 0; i < n; i++) {
        AS_TRY(as_vec_push(&added->child, child[i]));
        AS_TRY(as_vec_push(&added->value, as_whole(0)));
    }
    *out = at; /* which may be where `child` points to */
    return 0;
}

static int add_compose(struct as_node_graph *g, const struct as_window *w,
                       const struct as_function_use *use, uint32_t *at)
{
    const struct as_node node = {
        .kind = AS_NODE_COMPOSE,
        .window = w,
        .use = use,
        .compose = {.parameters = &use->parameters, .unit_ns = w->unit_ns}};
    if (strcmp(use->function->name, "As Is") == 0)
        return 0;
    return add_node(g, &node, at, 1, at);
}

static int add_leaf(struct as_node_graph *g, const struct as_window *w, bool is_cpu,
                    uint32_t object, uint32_t *out)
{
    const struct as_node node = {.kind = AS_NODE_LEAF,
                                 .window = w,
                                 .use = &w->thread,
                                 .begin = {.thread = object},
                                 .thread = {.parameters = &w->thread.parameters,
                                            .objects = g->objects,
                                            .takes_logical = w->takes_logical,
                                            .takes_physical = w->takes_physical,
                                            .is_cpu = is_cpu,
                                            .unit_ns = w->unit_ns}};
    AS_TRY(add_node(g, &node, NULL, 0, out));
    return as_leaf_start(&g->node.at[*out]);
}

typedef int build_one(const struct graph_building *b, const struct as_window *w,
                      enum as_object_level level, uint32_t object, uint32_t *out,
                      struct as_error *err);

/* The above function of a level over what `build` makes for the objects one level down. */
static int add_above(const struct graph_building *b, build_one *build, const struct as_window *w,
                     enum as_object_level level, uint32_t object, uint32_t *out,
                     struct as_error *err)
{
    const struct as_node node = {.kind = AS_NODE_ABOVE, .window = w, .use = &w->above[level]};
    AS_VEC(uint32_t) children = {0};
    uint32_t first, end;
    int rc = 0;
    as_objects_below(b->graph->objects, level, object, level + 1, &first, &end);
    for (; rc == 0 && first < end; first++) {
        uint32_t child;
        rc = build(b, w, level + 1, first, &child, err);
        if (rc == 0 && as_vec_push(&children, child) < 0)
            rc = AS_ERR_NOMEM;
    }
    if (rc == 0)
        rc = add_node(b->graph, &node, children.at, children.n, out);
    as_vec_fini(&children);
    return rc;
}

static int build_single(const struct graph_building *b, const struct as_window *w,
                        enum as_object_level level, uint32_t object, uint32_t *out,
                        struct as_error *err)
{
    struct as_node_graph *g = b->graph;
    if (level == AS_OBJECT_LEVEL_THREAD || level == AS_OBJECT_LEVEL_CPU) {
        AS_TRY(add_leaf(g, w, level == AS_OBJECT_LEVEL_CPU, object, out));
        AS_TRY(add_compose(g, w, &w->compose[AS_OBJECT_LEVEL_THREAD], out));
        if (level == AS_OBJECT_LEVEL_THREAD)
            return 0;
        const struct as_node node = {.kind = AS_NODE_CPU, .window = w, .use = &w->cpu};
        AS_TRY(add_node(g, &node, out, 1, out));
    } else {
        AS_TRY(add_above(b, build_single, w, level, object, out, err));
    }
    return add_compose(g, w, &w->compose[level], out);
}

/* ---- Derived windows ------------------------------------------------------------------------- */

static int build_window(const struct graph_building *b, const struct as_window *w, uint32_t object,
                        uint32_t *out, struct as_error *err);

/* The finest of the levels of a derived window and its operands. */
static enum as_object_level base_level(const struct as_configuration *c, const struct as_window *w)
{
    enum as_object_level level = w->level;
    for (unsigned i = 0; i < 2; i++) {
        const enum as_object_level of = c->window.at[w->operand[i]].level;
        level = of > level ? of : level;
    }
    return level;
}

/* The operand for an object of the finer level: that of the object that holds it. */
static int build_operand(const struct graph_building *b, const struct as_window *w, unsigned which,
                         enum as_object_level level, uint32_t object, uint32_t *out,
                         struct as_error *err)
{
    const struct as_window *operand = &b->configuration->window.at[w->operand[which]];
    const bool is_fold = w->operation.function->special != AS_SPECIAL_NONE;
    const struct as_node node = {.kind = AS_NODE_SHIFT,
                                 .window = w,
                                 .use = &w->operation,
                                 .shift = w->shift[which],
                                 .factor = is_fold ? as_whole(1) : w->factor[which]};
    AS_TRY(build_window(
        b, operand, as_objects_above(b->graph->objects, level, object, operand->level), out, err));
    const bool has_factor = as_quantity_compare(node.factor, as_whole(1)) != 0;
    return node.shift || has_factor ? add_node(b->graph, &node, out, 1, out) : 0;
}

static int build_derived(const struct graph_building *b, const struct as_window *w,
                         enum as_object_level level, uint32_t object, uint32_t *out,
                         struct as_error *err)
{
    if (level != base_level(b->configuration, w)) {
        AS_TRY(add_above(b, build_derived, w, level, object, out, err));
    } else {
        const struct as_node node = {.kind = w->operation.function->special == AS_SPECIAL_NONE
                                                 ? AS_NODE_DERIVED
                                                 : AS_NODE_FOLD,
                                     .window = w,
                                     .use = &w->operation};
        uint32_t child[2];
        for (unsigned i = 0; i < 2; i++)
            AS_TRY(build_operand(b, w, i, level, object, &child[i], err));
        AS_TRY(add_node(b->graph, &node, child, 2, out));
    }
    return add_compose(b->graph, w, &w->compose[level], out);
}

/* ---- Windows --------------------------------------------------------------------------------- */

/* Threads and CPUs do not contain each other. */
static int check_operands(const struct graph_building *b, const struct as_window *w,
                          struct as_error *err)
{
    for (unsigned i = 0; w->is_derived && i < 2; i++) {
        const struct as_window *operand = &b->configuration->window.at[w->operand[i]];
        if (as_object_level_is_hardware(operand->level) != as_object_level_is_hardware(w->level))
            return as_error_set(
                err, AS_ERR_USAGE,
                "window '%s': its level is %s, but its window '%s' has level %s; use "
                "levels of threads, or of CPUs",
                w->name, as_object_level_word(w->level), operand->name,
                as_object_level_word(operand->level));
    }
    return 0;
}

static int build_window(const struct graph_building *b, const struct as_window *w, uint32_t object,
                        uint32_t *out, struct as_error *err)
{
    AS_TRY(check_operands(b, w, err));
    AS_TRY((w->is_derived ? build_derived : build_single)(b, w, w->level, object, out, err));
    AS_TRY(add_compose(b->graph, w, &w->top.at[1], out));
    AS_TRY(add_compose(b->graph, w, &w->top.at[0], out));
    for (size_t i = 2; i < w->top.n; i++)
        AS_TRY(add_compose(b->graph, w, &w->top.at[i], out));
    return 0;
}

int as_node_graph_add_window(struct as_node_graph *g, const struct as_configuration *configuration,
                             size_t window, uint32_t object, uint32_t *out, struct as_error *err)
{
    assert(window < configuration->window.n);
    const struct graph_building building = {g, configuration};
    const int rc = build_window(&building, &configuration->window.at[window], object, out, err);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, "time lines of a trace") : rc;
}

int as_node_graph_add_root(struct as_node_graph *g, const uint32_t *top, size_t n, uint32_t owner)
{
    const struct as_node node = {.kind = AS_NODE_ROOT, .owner = owner};
    uint32_t at;
    return add_node(g, &node, top, n, &at);
}
