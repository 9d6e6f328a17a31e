/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of one and of many values, in batches. */
#include "semantic/node.h"

#include <stdlib.h>

#include "base/error.h"

/* ---- Steps ----------------------------------------------------------------------------------- */

static const struct as_value_step *first_step(const struct as_node *node)
{
    return node->steps.head < node->steps.step.n ? &node->steps.step.at[node->steps.head] : NULL;
}

/* Forgets what was taken. */
static void drop_taken_steps(struct as_node *node)
{
    struct as_value_steps *s = &node->steps;
    const size_t left_n = s->step.n - s->head;
    if (s->head < left_n)
        return; /* moving more than is dropped would cost too much */
    for (size_t i = 0; i < left_n; i++)
        s->step.at[i] = s->step.at[s->head + i];
    s->step.n = left_n;
    s->head = 0;
}

static struct as_node *child_of(struct as_node_graph *g, const struct as_node *node, size_t at)
{
    return &g->node.at[node->child.at[at]];
}

/* ---- One value ------------------------------------------------------------------------------- */

static int step_composed(struct as_node *node, struct as_quantity value, int64_t begin_ns,
                         int64_t end_ns)
{
    struct as_compose_state *state = &node->compose;
    state->value = node->use->function->compose(state, value, begin_ns, end_ns);
    return state->failed ? AS_ERR_NOMEM : as_node_step(node, begin_ns, state->value);
}

static int step_joined(struct as_node *node, const struct as_value_step *step)
{
    if (node->has_held && as_quantity_compare(node->last, step->value) == 0)
        return 0;
    node->has_held = true;
    node->last = step->value;
    return as_node_step(node, step->ns, step->value);
}

/* Values that are not 0 end when their time is over; the rest of that piece is 0. */
static int step_timed(struct as_node *node, const struct as_value_step *step, int64_t end_ns)
{
    const double wanted = as_quantity_double(as_parameter(&node->use->parameters, 0, 0));
    const int64_t limit_ns = wanted > 0 ? wanted < 9e18 ? (int64_t)wanted : INT64_MAX : 0;
    AS_TRY(as_node_step(node, step->ns, step->value));
    if (as_quantity_is_zero(step->value)) {
        node->timer_ns = 0;
        return 0;
    }
    if (node->timer_ns == 0)
        node->timer_begin_ns = step->ns;
    node->timer_ns += end_ns - step->ns;
    if (node->timer_ns < limit_ns)
        return 0;
    const bool is_over = node->timer_ns > limit_ns;
    node->timer_ns = 0;
    return is_over ? as_node_step(node, node->timer_begin_ns + limit_ns, as_whole(0)) : 0;
}

static bool node_needs_end(const struct as_node *node)
{
    const struct as_semantic_function *function = node->use->function;
    return function->needs_end || function->special == AS_SPECIAL_TIMER;
}

static int step_pending(struct as_node *node, int64_t end_ns)
{
    if (!node->has_held)
        return 0;
    node->has_held = false;
    return node->use->function->special == AS_SPECIAL_TIMER
               ? step_timed(node, &node->held, end_ns)
               : step_composed(node, node->held.value, node->held.ns, end_ns);
}

static int run_compose(struct as_node_graph *g, struct as_node *node)
{
    struct as_node *child = child_of(g, node, 0);
    const struct as_value_step *step;
    for (; (step = first_step(child)); child->steps.head++) {
        if (node->kind == AS_NODE_CPU) {
            AS_TRY(as_node_step(node, step->ns,
                                node->use->function->cpu(&node->use->parameters, step->value)));
        } else if (node->use->function->special == AS_SPECIAL_JOIN) {
            AS_TRY(step_joined(node, step));
        } else if (node_needs_end(node)) {
            AS_TRY(step_pending(node, step->ns));
            node->held = *step;
            node->has_held = true;
        } else {
            AS_TRY(step_composed(node, step->value, step->ns, -1));
        }
    }
    node->known_ns = child->known_ns;
    if (node_needs_end(node) && node->has_held && node->held.ns < node->known_ns)
        node->known_ns = node->held.ns;
    return 0;
}

/* ---- Shifts ---------------------------------------------------------------------------------- */

/* The value of the piece so many later (or before), times a factor. */
static int run_shift(struct as_node_graph *g, struct as_node *node)
{
    struct as_node *child = child_of(g, node, 0);
    const size_t ahead = node->shift > 0 ? (size_t)node->shift : 0;
    const size_t behind = node->shift < 0 ? (size_t)-node->shift : 0;
    const struct as_value_step *step;
    for (; (step = first_step(child)); child->steps.head++) {
        const struct as_closed_piece piece = {step->ns, -1,
                                              as_quantity_scale(step->value, node->factor)};
        AS_TRY(as_vec_push(&node->piece, piece));
        const size_t n = node->piece.n - node->piece_head;
        if (ahead + behind == 0 || n > ahead + behind) {
            const struct as_closed_piece *first = &node->piece.at[node->piece_head++];
            AS_TRY(ahead ? as_node_step(node, first->begin_ns, piece.value)
                         : as_node_step(node, piece.begin_ns, first->value));
        } else if (behind) {
            AS_TRY(as_node_step(node, piece.begin_ns, as_whole(0)));
        }
        if (node->piece_head > 64 && node->piece_head * 2 > node->piece.n) {
            const size_t left_n = node->piece.n - node->piece_head;
            for (size_t i = 0; i < left_n; i++)
                node->piece.at[i] = node->piece.at[node->piece_head + i];
            node->piece.n = left_n;
            node->piece_head = 0;
        }
    }
    node->known_ns = child->known_ns;
    if (ahead && node->piece_head < node->piece.n)
        node->known_ns = node->piece.at[node->piece_head].begin_ns;
    return 0;
}

static int end_shift(struct as_node *node)
{
    if (node->shift > 0)
        for (; node->piece_head < node->piece.n; node->piece_head++)
            AS_TRY(as_node_step(node, node->piece.at[node->piece_head].begin_ns, as_whole(0)));
    return 0;
}

/* ---- Many values ----------------------------------------------------------------------------- */

/* A step of a child, and how many the child had at that time before. */
struct round_step {
    int64_t ns;
    uint32_t round, child;
    struct as_quantity value;
};

static int compare_rounds(const void *a, const void *b)
{
    const struct round_step *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return x->child < y->child ? -1 : x->child > y->child;
}

typedef AS_VEC(struct round_step) round_steps;

/* All steps of children before the time up to which all are complete. */
static int collect_rounds(struct as_node_graph *g, struct as_node *node, round_steps *rounds)
{
    int64_t known_ns = INT64_MAX;
    size_t givers_n = 0;
    for (size_t c = 0; c < node->child.n; c++) {
        const struct as_node *child = child_of(g, node, c);
        known_ns = child->known_ns < known_ns ? child->known_ns : known_ns;
    }
    for (size_t c = 0; c < node->child.n; c++) {
        struct as_node *child = child_of(g, node, c);
        struct round_step one = {.ns = -1, .child = (uint32_t)c};
        const size_t before_n = rounds->n;
        for (const struct as_value_step *step;
             (step = first_step(child)) && (step->ns < known_ns || known_ns == INT64_MAX);
             child->steps.head++) {
            one.round = step->ns == one.ns ? one.round + 1 : 0;
            one.ns = step->ns;
            one.value = step->value;
            AS_TRY(as_vec_push(rounds, one));
        }
        givers_n += rounds->n > before_n;
    }
    node->known_ns = known_ns;
    if (givers_n > 1)
        qsort(rounds->at, rounds->n, sizeof *rounds->at, compare_rounds);
    return 0;
}

static void set_value(struct as_node *node, size_t child, struct as_quantity to)
{
    struct as_quantity *value = &node->value.at[child];
    if (value->is_real)
        node->reals_n--;
    else
        node->sum.whole -= value->whole;
    *value = to;
    if (value->is_real)
        node->reals_n++;
    else
        node->sum.whole += value->whole;
}

static struct as_quantity sum_of_values(const struct as_node *node)
{
    struct as_sum sum = node->sum;
    sum.has_real = node->reals_n;
    if (node->reals_n)
        for (size_t i = 0; i < node->value.n; i++)
            sum.real += node->value.at[i].is_real ? node->value.at[i].real : 0;
    return as_sum_number(&sum);
}

static struct as_quantity value_above(const struct as_node *node, size_t changed)
{
    const struct as_semantic_function *function = node->use->function;
    if (function->special == AS_SPECIAL_SUM)
        return sum_of_values(node);
    if (function->special == AS_SPECIAL_SUM_SIGN)
        return as_whole(as_quantity_compare(sum_of_values(node), as_whole(0)) > 0);
    if (function->special == AS_SPECIAL_AVERAGE)
        return as_quantity_divide(sum_of_values(node), as_whole((int64_t)node->value.n));
    return function->above(&node->use->parameters, node->value.at, node->value.n, changed);
}

static int end_round(struct as_node_graph *g, uint32_t at, int64_t ns, uint32_t first,
                     uint32_t last)
{
    struct as_node *node = &g->node.at[at];
    if (node->kind == AS_NODE_ROOT)
        return g->on_round(g->context, at, ns);
    if (node->kind == AS_NODE_ABOVE)
        return as_node_step(node, ns, value_above(node, last));
    return as_node_step(node, ns,
                        node->use->function->derived(&node->derived, node->value.at[0],
                                                     node->value.at[1], first == 0));
}

/* Each step of an only child is a round. */
static int run_only_child(struct as_node_graph *g, uint32_t at)
{
    struct as_node *node = &g->node.at[at], *child = child_of(g, node, 0);
    const struct as_value_step *step;
    node->known_ns = child->known_ns;
    for (;
         (step = first_step(child)) && (step->ns < child->known_ns || child->known_ns == INT64_MAX);
         child->steps.head++) {
        set_value(node, 0, step->value);
        AS_TRY(end_round(g, at, step->ns, 0, 0));
    }
    return 0;
}

static int run_rounds(struct as_node_graph *g, uint32_t at)
{
    struct as_node *node = &g->node.at[at];
    round_steps rounds = {0};
    if (node->child.n == 1)
        return run_only_child(g, at);
    int rc = collect_rounds(g, node, &rounds);
    for (size_t i = 0; rc == 0 && i < rounds.n;) {
        const size_t begin = i;
        for (; i < rounds.n && rounds.at[i].ns == rounds.at[begin].ns &&
               rounds.at[i].round == rounds.at[begin].round;
             i++)
            set_value(node, rounds.at[i].child, rounds.at[i].value);
        rc = end_round(g, at, rounds.at[begin].ns, rounds.at[begin].child, rounds.at[i - 1].child);
    }
    as_vec_fini(&rounds);
    return rc;
}

/* ---- The data in one piece of the control ---------------------------------------------------- */

/* Pieces of the data that end after the begin of the control's, and begin before its end. */
static struct as_quantity fold_pieces(const struct as_node *node, int64_t begin_ns, int64_t end_ns)
{
    const enum as_function_special special = node->use->function->special;
    struct as_quantity most = as_whole(0);
    struct as_sum sum = {0};
    int64_t time_ns = 0;
    for (size_t i = node->piece_head; i < node->piece.n; i++) {
        const struct as_closed_piece *p = &node->piece.at[i];
        if (p->end_ns <= begin_ns)
            continue;
        if (p->begin_ns >= end_ns && p->begin_ns > begin_ns)
            break;
        if (special == AS_SPECIAL_FOLD_ADD)
            as_sum_add(&sum, p->value);
        else
            as_sum_add_times(&sum, p->value, p->end_ns - p->begin_ns);
        time_ns += p->end_ns - p->begin_ns;
        most = as_quantity_compare(p->value, most) > 0 ? p->value : most;
    }
    if (special == AS_SPECIAL_FOLD_MAXIMUM)
        return most;
    return special == AS_SPECIAL_FOLD_ADD ? as_sum_number(&sum)
                                          : as_sum_divide(&sum, as_whole(time_ns));
}

/* Pieces of the data, each when its end is known. */
static int close_data_pieces(struct as_node_graph *g, struct as_node *node, int64_t trace_end_ns)
{
    struct as_node *data = child_of(g, node, 0);
    for (const struct as_value_step *step; (step = first_step(data)); data->steps.head++) {
        if (node->piece.n)
            node->piece.at[node->piece.n - 1].end_ns = step->ns;
        AS_TRY(as_vec_push(
            &node->piece,
            (struct as_closed_piece){step->ns, -1,
                                     as_quantity_scale(step->value, node->window->factor[0])}));
    }
    if (trace_end_ns >= 0 && node->piece.n)
        node->piece.at[node->piece.n - 1].end_ns = trace_end_ns;
    return 0;
}

/* True if all pieces of the data that touch [.., end_ns) are closed. */
static bool data_reaches(const struct as_node *node, int64_t end_ns, int64_t trace_end_ns)
{
    const struct as_closed_piece *last = node->piece.n ? &node->piece.at[node->piece.n - 1] : NULL;
    return trace_end_ns >= 0 || (last && last->begin_ns > end_ns);
}

static void drop_pieces_before(struct as_node *node, int64_t ns)
{
    while (node->piece_head + 1 < node->piece.n && node->piece.at[node->piece_head].end_ns <= ns)
        node->piece_head++;
    if (node->piece_head < 64 || node->piece_head * 2 < node->piece.n)
        return;
    const size_t left_n = node->piece.n - node->piece_head;
    for (size_t i = 0; i < left_n; i++)
        node->piece.at[i] = node->piece.at[node->piece_head + i];
    node->piece.n = left_n;
    node->piece_head = 0;
}

static int run_fold(struct as_node_graph *g, struct as_node *node, int64_t trace_end_ns)
{
    struct as_node *control = child_of(g, node, 1);
    AS_TRY(close_data_pieces(g, node, trace_end_ns));
    for (;;) {
        const struct as_value_step *step = first_step(control);
        const bool has_next = step && control->steps.head + 1 < control->steps.step.n;
        if (!step || (!has_next && trace_end_ns < 0))
            break;
        const int64_t end_ns = has_next ? step[1].ns : trace_end_ns;
        if (!data_reaches(node, end_ns, trace_end_ns))
            break;
        AS_TRY(as_node_step(node, step->ns, fold_pieces(node, step->ns, end_ns)));
        control->steps.head++;
        drop_pieces_before(node, end_ns);
    }
    const struct as_value_step *open = first_step(control);
    node->known_ns = trace_end_ns >= 0 ? INT64_MAX : open ? open->ns : control->known_ns;
    return 0;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int run_node(struct as_node_graph *g, uint32_t at, int64_t now_ns, int64_t trace_end_ns)
{
    struct as_node *node = &g->node.at[at];
    int rc = 0;
    switch (node->kind) {
    case AS_NODE_LEAF:
        return trace_end_ns >= 0 ? as_leaf_end(node, trace_end_ns) : as_leaf_settle(node, now_ns);
    case AS_NODE_COMPOSE:
    case AS_NODE_CPU:
        rc = run_compose(g, node);
        if (rc == 0 && trace_end_ns >= 0 && node_needs_end(node))
            rc = step_pending(node, trace_end_ns);
        break;
    case AS_NODE_SHIFT:
        rc = run_shift(g, node);
        if (rc == 0 && trace_end_ns >= 0)
            rc = end_shift(node);
        break;
    case AS_NODE_FOLD:
        rc = run_fold(g, node, trace_end_ns);
        break;
    default:
        rc = run_rounds(g, at);
    }
    for (size_t c = 0; c < node->child.n; c++)
        drop_taken_steps(child_of(g, node, c));
    if (trace_end_ns >= 0)
        node->known_ns = INT64_MAX;
    return rc;
}

int as_node_graph_run(struct as_node_graph *g, int64_t now_ns)
{
    for (uint32_t i = 0; i < g->node.n; i++)
        AS_TRY(run_node(g, i, now_ns, -1));
    return 0;
}

int as_node_graph_end(struct as_node_graph *g, int64_t end_ns)
{
    for (uint32_t i = 0; i < g->node.n; i++)
        AS_TRY(run_node(g, i, end_ns, end_ns));
    return 0;
}

void as_node_graph_fini(struct as_node_graph *g)
{
    as_vec_foreach (&g->node, node) {
        as_vec_fini(&node->child);
        as_vec_fini(&node->steps.step);
        as_vec_fini(&node->waiting);
        as_vec_fini(&node->compose.stack);
        as_vec_fini(&node->value);
        as_vec_fini(&node->piece);
    }
    as_vec_fini(&g->node);
}
