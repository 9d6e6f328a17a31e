/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups the binary loops of one source loop. They end within two lines of each other in the same
 * file, with the same inlining. They work at the same places of the source, and none is inside
 * another. The main loop does the most work per iteration. A loop is a tail if control may reach it
 * from the main loop. It is a peel if control may go the other way. Otherwise it is a version
 * chosen at run time. Source: Djoudi et al., "MAQAO: modular assembler quality analyzer and
 * optimizer for Itanium 2", 2005. The CQA paper has the rule of the last line and the distance of
 * two.
 */
#include <stdlib.h>
#include <string.h>

#include "code/order.h"
#include "code/source.h"

#define LAST_LINES_APART 2
#define WINDOW           64   /* number of candidates for one group */
#define VISITED_MOST     4096 /* blocks of one search; beyond it, the order of the code decides */

/* ---- Membership -------------------------------------------------------------------------- */

static bool is_inside(const struct as_program *program, uint32_t loop, uint32_t outer)
{
    while (loop != AS_NONE && loop != outer)
        loop = program->loop[loop].parent;
    return loop == outer;
}

static bool has_inner(const struct as_loop *loop)
{
    return loop->level == AS_LEVEL_OUTERMOST || loop->level == AS_LEVEL_BETWEEN;
}

static uint32_t apart(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/*
 * Returns true if one loop does the other's work several times. A macro has one place for all its
 * loops, so only this shows copies of one loop.
 */
static bool is_copy(const struct as_loop_work *a, const struct as_loop_work *b)
{
    uint64_t a_b = (uint64_t)a->loads_b + a->stores_b, b_b = (uint64_t)b->loads_b + b->stores_b;
    const struct as_loop_work *more = a_b < b_b ? b : a, *less = more == a ? b : a;
    uint64_t least_b = a_b < b_b ? a_b : b_b, times = least_b ? (a_b + b_b - least_b) / least_b : 0;
    return times >= 2 && more->flops == less->flops * times &&
           more->loads_b == less->loads_b * times && more->stores_b == less->stores_b * times;
}

/*
 * Returns true if the loops share at least a third of the smaller one's places. Copies of one loop
 * may give other columns to some of their code. Different loops have no common place.
 */
static bool share_places(const struct as_source *s, const struct as_loop_work *a,
                         const struct as_loop_work *b)
{
    const uint64_t *x = s->place.at + a->first_place, *y = s->place.at + b->first_place;
    uint32_t i = 0, j = 0, shared = 0, least = a->places < b->places ? a->places : b->places;
    if ((a->ops == 0) != (b->ops == 0))
        return false;
    if (a->one_place && b->one_place && !is_copy(a, b))
        return false;
    while (i < a->places && j < b->places) {
        shared += x[i] == y[j];
        uint64_t at_x = x[i], at_y = y[j];
        i += at_x <= at_y;
        j += at_y <= at_x;
    }
    return shared > 0 && shared * 3 >= least;
}

static const struct as_source_range *lines_of(const struct as_source *s, uint32_t loop)
{
    return &s->ranges->at[s->program->loop[loop].source];
}

/* Returns how many times the work of `less` the loop `more` does; 0 if the ratio is not a whole
 * number. Stores and operations must agree if both exist. Loads decide only if both are missing,
 * because vector code combines loads in several ways. */
static uint32_t times_the_work(const struct as_loop_work *more, const struct as_loop_work *less)
{
    const uint32_t stores = less->stores_b ? more->stores_b / less->stores_b : 0;
    const uint32_t flops = less->flops ? more->flops / less->flops : 0;
    const uint32_t loads = less->loads_b ? more->loads_b / less->loads_b : 0;
    const uint32_t times = stores ? stores : flops ? flops : loads;

    if (more->stores_b != less->stores_b * times || more->flops != less->flops * times)
        return 0;
    return less->stores_b || less->flops || more->loads_b == less->loads_b * times ? times : 0;
}

/* Returns true if the loops have the same lines and one does a multiple of the other's work.
 * Compilers give one place to a vector that combines several source accesses; this may be a new
 * place. The rule does not hold for two loops with one place each, as in a macro. */
static bool is_merged_copy(const struct as_source *s, uint32_t a, uint32_t b)
{
    const struct as_loop_work *x = as_source_work(s, a), *y = as_source_work(s, b);
    const struct as_source_range *from_x = lines_of(s, a), *from_y = lines_of(s, b);
    return (x->places > 1 || y->places > 1) && from_x->first_line == from_y->first_line &&
           from_x->last_line == from_y->last_line &&
           (times_the_work(x, y) > 1 || times_the_work(y, x) > 1);
}

static bool together(const struct as_source *s, uint32_t a, uint32_t b)
{
    const struct as_program *program = s->program;
    const struct as_loop *x = &program->loop[a], *y = &program->loop[b];
    const struct as_source_range *from_x = lines_of(s, a), *from_y = lines_of(s, b);
    return from_x->file == from_y->file &&
           apart(from_x->last_line, from_y->last_line) <= LAST_LINES_APART &&
           from_x->first_line <= from_y->last_line && from_y->first_line <= from_x->last_line &&
           has_inner(x) == has_inner(y) && x->inlined == y->inlined && !is_inside(program, a, b) &&
           !is_inside(program, b, a) &&
           (share_places(s, as_source_work(s, a), as_source_work(s, b)) || is_merged_copy(s, a, b));
}

/* ---- Order ------------------------------------------------------------------------------- */

struct group_search {
    struct as_graph_order order; /* of the blocks of the body */
    uint32_t *seen, *stack;      /* per block of the body */
    uint32_t stamp;
};

static int make_order(const struct as_source *s, struct group_search *search)
{
    const struct as_program *program = s->program;
    uint32_t first = s->body->first_block, blocks = s->body->blocks, edges = 0;
    const struct as_block *block = program->block + first;
    uint32_t *at = as_arena_array(s->arena, uint32_t, (size_t)blocks + 1);
    for (uint32_t v = 0; v < blocks; v++)
        edges += block[v].succs;
    uint32_t *to = as_arena_array(s->arena, uint32_t, (size_t)edges + 1);
    search->seen = as_arena_array(s->arena, uint32_t, blocks);
    search->stack = as_arena_array(s->arena, uint32_t, blocks);
    if (!at || !to || !search->seen || !search->stack)
        return AS_ERR_NOMEM;
    for (uint32_t v = 0, n = 0; v < blocks; v++) {
        at[v] = n;
        for (uint32_t e = 0; e < block[v].succs; e++)
            to[n++] = program->succ[block[v].first_succ + e].block - first;
        at[v + 1] = n;
    }
    struct as_graph graph = {.nodes = blocks, .first = at, .to = to};
    uint32_t entry = s->body->entry_block;
    return as_graph_order(&graph, entry == AS_NONE ? 0 : entry - first, s->arena, &search->order);
}

/* Returns the rank of a block in a topological order of the graph without its retreating edges. */
static uint32_t rank_of(const struct group_search *search, uint32_t block)
{
    uint32_t post = search->order.post[block];
    return post == AS_GRAPH_NONE ? UINT32_MAX : search->order.reached - 1 - post;
}

/*
 * Returns true if control may go from one loop's header to the other's without a back edge. The
 * search visits only blocks between the two in topological order.
 */
static bool reaches_header(const struct as_source *s, uint32_t a, uint32_t b,
                           struct group_search *search)
{
    const struct as_program *program = s->program;
    uint32_t first = s->body->first_block, depth = 0, visited = 0, stamp = ++search->stamp;
    uint32_t from = program->loop[a].header - first, target = program->loop[b].header - first;
    uint32_t last = rank_of(search, target);
    if (rank_of(search, from) >= last || last == UINT32_MAX)
        return false;
    search->stack[depth++] = from;
    search->seen[from] = stamp;
    while (depth) {
        uint32_t v = search->stack[--depth];
        const struct as_block *block = &program->block[first + v];
        if (++visited > VISITED_MOST)
            return true;
        for (uint32_t e = block->first_succ; e < block->first_succ + block->succs; e++) {
            uint32_t to = program->succ[e].block - first;
            if (to == target)
                return true;
            if (search->seen[to] == stamp || rank_of(search, to) <= rank_of(search, v) ||
                rank_of(search, to) > last)
                continue;
            search->seen[to] = stamp;
            search->stack[depth++] = to;
        }
    }
    return false;
}

/* ---- Roles ------------------------------------------------------------------------------- */

/* Returns true if `a` does more work per iteration than `b`: operations, then bytes, then vector
 * width. */
static bool does_more(const struct as_loop_work *a, const struct as_loop_work *b)
{
    if (a->all_flops != b->all_flops)
        return a->all_flops > b->all_flops;
    if (a->all_b != b->all_b)
        return a->all_b > b->all_b;
    if (a->vector_b != b->vector_b)
        return a->vector_b > b->vector_b;
    if (a->intops != b->intops)
        return a->intops > b->intops;
    return a->masked < b->masked;
}

struct group_members {
    uint32_t *loop;
    uint32_t n;
};

static uint32_t choose_best_member(const struct as_source *s, const struct group_members *m)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < m->n; i++) {
        if (does_more(as_source_work(s, m->loop[i]), as_source_work(s, m->loop[best])))
            best = i;
    }
    return best;
}

/*
 * Gives the best member the role main, and members before and after it the roles peel and tail.
 * Members on no path with it are versions, with peels and tails of their own.
 */
static void assign_roles(const struct as_source *s, struct group_members *m,
                         struct group_search *search)
{
    uint32_t main = m->loop[choose_best_member(s, m)], lead = main;
    s->program->loop[main].role = AS_ROLE_MAIN;
    while (m->n) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < m->n; i++) {
            struct as_loop *loop = &s->program->loop[m->loop[i]];
            bool packed = !has_inner(loop) && as_source_work(s, m->loop[i])->vectorised;
            loop->group = main;
            if (m->loop[i] == lead)
                continue;
            if (reaches_header(s, lead, m->loop[i], search))
                loop->role = packed ? AS_ROLE_VECTOR_TAIL : AS_ROLE_TAIL;
            else if (reaches_header(s, m->loop[i], lead, search))
                loop->role = packed ? AS_ROLE_VECTOR_PEEL : AS_ROLE_PEEL;
            else
                m->loop[left++] = m->loop[i];
        }
        m->n = left;
        if (left == 0)
            break;
        lead = m->loop[choose_best_member(s, m)];
        s->program->loop[lead].role = AS_ROLE_VERSION;
    }
}

/* ---- Groups of a body -------------------------------------------------------------------- */

struct keyed {
    uint32_t file, last_line, loop;
};

static int by_last_line(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->file != y->file)
        return (x->file > y->file) - (x->file < y->file);
    if (x->last_line != y->last_line)
        return (x->last_line > y->last_line) - (x->last_line < y->last_line);
    return (x->loop > y->loop) - (x->loop < y->loop);
}

int as_source_groups(struct as_source *s)
{
    const struct as_body *b = s->body;
    struct keyed *key = as_arena_array(s->arena, struct keyed, b->loops);
    bool *taken = as_arena_array(s->arena, bool, b->loops);
    struct group_members m = {.loop = as_arena_array(s->arena, uint32_t, b->loops)};
    struct group_search search = {.seen = NULL};
    uint32_t n = 0;
    if (!key || !taken || !m.loop)
        return AS_ERR_NOMEM;
    for (uint32_t i = b->first_loop; i < b->first_loop + b->loops; i++) {
        if (s->program->loop[i].sources)
            key[n++] = (struct keyed){lines_of(s, i)->file, lines_of(s, i)->last_line, i};
    }
    if (n)
        qsort(key, n, sizeof *key, by_last_line);
    for (uint32_t i = 0; i < n; i++) {
        if (taken[i])
            continue;
        m.n = 0;
        m.loop[m.n++] = key[i].loop;
        for (uint32_t j = i + 1; j < n && j <= i + WINDOW && key[j].file == key[i].file &&
                                 key[j].last_line - key[i].last_line <= LAST_LINES_APART;
             j++) {
            bool fits = !taken[j];
            for (uint32_t k = 0; k < m.n && fits; k++)
                fits = together(s, m.loop[k], key[j].loop);
            if (fits) {
                taken[j] = true;
                m.loop[m.n++] = key[j].loop;
            }
        }
        if (m.n < 2)
            continue;
        if (!search.seen)
            AS_TRY(make_order(s, &search));
        assign_roles(s, &m, &search);
    }
    return 0;
}
