/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components by Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1972,
 * with an explicit stack instead of recursion.
 */
#include "quality/components.h"

#include <string.h>

#include "base/alloc.h"

#define NOT_SEEN UINT32_MAX

struct search {
    uint32_t *first, *to; /* index of the first edge by source; targets of edges */
    uint32_t *next, *low, *order, *stack, *path;
    uint32_t orders, stack_n;
    struct as_components *out;
};

static void push_node(struct search *s, uint32_t node)
{
    s->low[node] = s->order[node] = s->orders++;
    s->next[node] = s->first[node];
    s->stack[s->stack_n++] = node;
}

/* Pops `node` and the nodes above it from the stack as one component. */
static void close_component(struct search *s, uint32_t node)
{
    uint32_t member;

    do {
        member = s->stack[--s->stack_n];
        s->out->of[member] = s->out->n;
    } while (member != node);
    s->out->n++;
}

/* Returns the next unvisited successor of `node`, or NOT_SEEN if there is none. */
static uint32_t step_down(struct search *s, uint32_t node)
{
    while (s->next[node] < s->first[node + 1]) {
        const uint32_t to = s->to[s->next[node]++];

        if (s->order[to] == NOT_SEEN)
            return to;
        if (s->out->of[to] == NOT_SEEN && s->order[to] < s->low[node])
            s->low[node] = s->order[to];
    }
    return NOT_SEEN;
}

static void search_from(struct search *s, uint32_t root)
{
    uint32_t depth = 0;

    push_node(s, root);
    s->path[depth++] = root;
    while (depth) {
        const uint32_t node = s->path[depth - 1], down = step_down(s, node);

        if (down != NOT_SEEN) {
            push_node(s, down);
            s->path[depth++] = down;
            continue;
        }
        if (s->low[node] == s->order[node])
            close_component(s, node);
        if (--depth && s->low[node] < s->low[s->path[depth - 1]])
            s->low[s->path[depth - 1]] = s->low[node];
    }
}

/* Sorts the edges by source (counting sort). */
static void sort_edges(struct search *s, const struct as_dependences *found,
                       bool (*counts)(const void *context, const struct as_dependence *d),
                       const void *context)
{
    for (size_t i = 0; i < found->n; i++)
        if (counts(context, &found->at[i]))
            s->first[found->at[i].from + 1]++;
    for (size_t i = 0; i < found->insn_n; i++)
        s->first[i + 1] += s->first[i];
    memcpy(s->next, s->first, found->insn_n * sizeof *s->next);
    for (size_t i = 0; i < found->n; i++)
        if (counts(context, &found->at[i]))
            s->to[s->next[found->at[i].from]++] = found->at[i].to;
}

int as_components_find(const struct as_dependences *found,
                       bool (*counts)(const void *context, const struct as_dependence *d),
                       const void *context, struct as_components *out)
{
    const size_t n = found->insn_n;
    uint32_t *memory = as_calloc(6 * n + 1 + found->n, sizeof *memory);
    struct search s = {.out = out};

    *out = (struct as_components){.of = as_calloc(n + 1, sizeof *out->of)};
    if (!memory || !out->of) {
        as_free(memory);
        as_free(out->of);
        out->of = NULL;
        return AS_ERR_NOMEM;
    }
    s.first = memory;
    s.next = s.first + n + 1;
    s.low = s.next + n;
    s.order = s.low + n;
    s.stack = s.order + n;
    s.path = s.stack + n;
    s.to = s.path + n;
    memset(s.order, 0xff, n * sizeof *s.order);
    memset(out->of, 0xff, n * sizeof *out->of);
    sort_edges(&s, found, counts, context);
    for (uint32_t i = 0; i < n; i++)
        if (s.order[i] == NOT_SEEN)
            search_from(&s, i);
    as_free(memory);
    return 0;
}
