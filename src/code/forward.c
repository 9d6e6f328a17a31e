/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds stores that feed loads. Addresses with the same term differ by a constant. With a step of k
 * per iteration, the store of d iterations ago is d * k bytes lower. So stores are sorted by
 * address modulo k, then by the number of steps they are ahead. The stores that a load may read are
 * a short run in this order. So the work per load does not grow with the number of stores.
 */
#include "code/forward.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

enum { SEARCH_MOST = 256, RUN_MOST = 4, CANDIDATES_MOST = 64, WIDTH_MOST = 64 };

struct as_store {
    int64_t place; /* address modulo |step|; the address itself if the step is 0 or unknown */
    int64_t ahead; /* address divided by |step|, rounded down; 0 if the step is 0 or unknown */
    uint32_t term;
    uint32_t at; /* step */
    uint32_t width_b;
    uint32_t block; /* of the view */
    bool maybe;
    bool frame;
};

/* A store from the view of a load: its age in iterations, and its offset from the load's first
 * byte. */
struct candidate {
    const struct as_store *store;
    int64_t from_b;
    uint32_t distance;
    bool called; /* a call is between store and load */
};

struct load {
    const struct as_access *access;
    uint32_t block;
    int64_t stride; /* |step|; 0 if unknown */
    int64_t sign;
    struct candidate candidate[CANDIDATES_MOST];
    uint32_t n;
};

static void split_address(const struct as_access *a, int64_t *place, int64_t *ahead)
{
    int64_t step = a->known && a->step != INT64_MIN ? llabs(a->step) : 0;
    *place = a->address.constant;
    *ahead = 0;
    if (!step)
        return;
    *ahead = *place / step;
    *place %= step;
    if (*place < 0) {
        *place += step;
        --*ahead;
    }
}

static int compare_stores(const void *a, const void *b)
{
    const struct as_store *x = a, *y = b;
    if (x->term != y->term)
        return x->term < y->term ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    if (x->ahead != y->ahead)
        return x->ahead < y->ahead ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool repeats(const struct as_forward *f, const struct as_access *a)
{
    const struct as_insn *insn = as_step_insn(f->e->steps, a->at);
    return as_form_of(insn)->traits & AS_TRAIT_REP;
}

static bool usable(const struct as_forward *f, const struct as_access *a)
{
    return a->memory.width_b && a->memory.width_b <= WIDTH_MOST && !a->gathered && !repeats(f, a);
}

static void list_stores(struct as_forward *f)
{
    const struct as_iteration_view *view = f->e->steps->view;
    uint32_t block = 0;
    for (size_t i = 0; i < f->e->access.n; i++) {
        const struct as_access *a = &f->e->access.at[i];
        while (a->at >= view->start[block + 1])
            block++;
        if (!(a->memory.access & AS_ACCESS_WRITE) || !usable(f, a))
            continue;
        struct as_store *s = &f->store[f->n++];
        *s = (struct as_store){.term = a->address.term,
                               .at = a->at,
                               .width_b = a->memory.width_b,
                               .block = block,
                               .maybe = a->memory.access & AS_ACCESS_MAYBE,
                               .frame = a->frame};
        split_address(a, &s->place, &s->ahead);
        if (s->width_b > f->widest_b)
            f->widest_b = s->width_b;
    }
    uint32_t ordered = 1;
    while (ordered < f->n && compare_stores(&f->store[ordered - 1], &f->store[ordered]) <= 0)
        ordered++;
    if (ordered < f->n)
        qsort(f->store, f->n, sizeof *f->store, compare_stores);
}

static int count_calls(struct as_forward *f)
{
    const struct as_steps *steps = f->e->steps;
    uint32_t calls = 0;
    for (uint32_t i = 0; i < steps->view->n; i++)
        calls += (as_iteration_view_block(steps->view, i)->bits & AS_BLOCK_CALL) != 0;
    if (!calls)
        return 0;
    f->calls = as_arena_array(f->arena, uint32_t, (size_t)steps->n + 1);
    if (!f->calls)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < steps->n; i++)
        f->calls[i + 1] =
            f->calls[i] + (as_form_of(as_step_insn(steps, i))->insn_class == AS_CLASS_CALL);
    return 0;
}

/* Finds the nodes that are on every path: those that no edge skips in the order of the nodes. */
static int find_always(struct as_forward *f)
{
    const struct as_iteration_view *view = f->e->steps->view;
    int64_t *over = as_arena_array(f->arena, int64_t, (size_t)view->n + 2);
    f->always = as_arena_array(f->arena, bool, view->n);
    f->seen = as_arena_array(f->arena, uint32_t, view->n);
    f->work = as_arena_fresh(f->arena, uint32_t, SEARCH_MOST);
    if (!over || !f->always || !f->seen || !f->work)
        return AS_ERR_NOMEM;
    for (uint32_t i = 0; i < view->n; i++) {
        for (uint32_t k = 0; k < as_iteration_view_preds(view, i); k++) {
            over[as_iteration_view_pred(view, i, k) + 1]++;
            over[i]--;
        }
        if (as_iteration_view_ends(view, i)) {
            over[i + 1]++;
            over[view->n]--;
        }
    }
    int64_t now = 0;
    for (uint32_t i = 0; i < view->n; i++) {
        now += over[i];
        f->always[i] = now == 0;
    }
    return 0;
}

int as_forward_init(struct as_forward *f, const struct as_evaluation *e, struct as_arena *arena)
{
    *f = (struct as_forward){.e = e, .arena = arena};
    f->store =
        as_arena_alloc(arena, (e->access.n + 1) * sizeof *f->store, _Alignof(struct as_store));
    if (!f->store)
        return AS_ERR_NOMEM;
    list_stores(f);
    if (!f->n)
        return 0;
    AS_TRY(count_calls(f));
    return find_always(f);
}

/* ---- Order in time ----------------------------------------------------------------------- */

/* Returns true if a path inside the iteration leads from one block of the view to another. A search
 * that becomes too long returns false. */
static bool reaches_block(struct as_forward *f, uint32_t from, uint32_t to)
{
    const struct as_iteration_view *view = f->e->steps->view;
    uint32_t n = 0;
    f->searches++;
    f->work[n++] = to;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < as_iteration_view_preds(view, f->work[i]); k++) {
            uint32_t pred = as_iteration_view_pred(view, f->work[i], k);
            if (pred == from)
                return true;
            if (pred < from || f->seen[pred] == f->searches)
                continue;
            if (n == SEARCH_MOST)
                return false;
            f->seen[pred] = f->searches;
            f->work[n++] = pred;
        }
    }
    return false;
}

/* Returns true if every path to block `b` of the view passes block `a`. */
static bool dominates(const struct as_forward *f, uint32_t a, uint32_t b)
{
    const struct as_iteration_view *view = f->e->steps->view;
    const struct as_iteration *it = view->iteration;
    uint32_t above = it->block[view->node[a]], at = it->block[view->node[b]];
    for (uint32_t i = 0; i < SEARCH_MOST && at != AS_NONE; i++) {
        if (at == above)
            return true;
        if (at == it->block[0])
            return false;
        at = it->program->block[at].idom;
    }
    return false;
}

/* Returns true if a call between store and load may have written the bytes that the load reads. */
static bool call_between(const struct as_forward *f, const struct load *l,
                         const struct candidate *c)
{
    uint32_t n = f->e->steps->n, at = l->access->at;
    if (!f->calls)
        return false;
    uint32_t after = c->store->at + 1;
    if (c->distance == 0)
        return f->calls[at] > f->calls[after];
    if (c->distance == 1)
        return f->calls[n] > f->calls[after] || f->calls[at];
    return f->calls[n];
}

/* ---- Candidates -------------------------------------------------------------------------- */

static void add_candidate(struct as_forward *f, struct load *l, const struct as_store *s,
                          uint32_t distance, int64_t from_b)
{
    const struct as_iteration_view *view = f->e->steps->view;
    struct candidate c = {.store = s, .from_b = from_b, .distance = distance};
    if (l->n == CANDIDATES_MOST || from_b + s->width_b <= 0)
        return;
    /* Few callees write the caller's frame, so frame words probably survive a call. Other memory
     * may change. */
    c.called = call_between(f, l, &c);
    if (c.called && !l->access->frame)
        return;
    if (!distance && !view->chain && s->block != l->block && !dominates(f, s->block, l->block) &&
        !reaches_block(f, s->block, l->block))
        return;
    l->candidate[l->n++] = c;
}

/* Returns the index of the first store not before `key` in the order of the stores. */
static uint32_t first_store(const struct as_forward *f, const struct as_store *key)
{
    return as_first_not(k, f->n, compare_stores(&f->store[k], key) < 0);
}

/* Adds the last stores before step `before` among the stores [first, end) at one address. */
static void add_last_stores(struct as_forward *f, struct load *l, uint32_t first, uint32_t end,
                            uint32_t before, uint32_t distance, int64_t from_b)
{
    struct as_store key = f->store[first];
    key.at = before;
    uint32_t i = before == UINT32_MAX ? end : first_store(f, &key);
    for (unsigned taken = 0; i-- > first && taken < RUN_MOST; taken++)
        add_candidate(f, l, &f->store[i], distance, from_b);
}

/* Returns the end of the stores with the same term, place and ahead as store `i`. */
static uint32_t run_end(const struct as_forward *f, uint32_t i)
{
    struct as_store key = f->store[i];
    key.at = UINT32_MAX;
    return first_store(f, &key);
}

/* Adds stores of one place with bytes that were at `address` some iterations ago. */
static void add_stores_at_address(struct as_forward *f, struct load *l, uint32_t term,
                                  int64_t place, int64_t address)
{
    int64_t from_b = address - l->access->address.constant;
    int64_t ahead = l->stride ? (address - place) / l->stride : 0;
    struct as_store key = {.term = term, .place = place, .ahead = ahead};
    if (l->sign < 0)
        key.ahead -= AS_DISTANCE_MOST;
    int64_t last = l->sign > 0 ? ahead + AS_DISTANCE_MOST : ahead;
    for (uint32_t i = first_store(f, &key), end; i < f->n; i = end) {
        const struct as_store *s = &f->store[i];
        if (s->term != term || s->place != place || s->ahead > last)
            break;
        end = run_end(f, i);
        uint32_t distance = (uint32_t)llabs(s->ahead - ahead);
        add_last_stores(f, l, i, end, distance ? UINT32_MAX : l->access->at, distance, from_b);
        if (l->access->known && !l->stride)
            add_last_stores(f, l, i, end, UINT32_MAX, 1, from_b);
    }
}

/* Adds stores of the load's term with places in [low, high]. */
static void add_stores_of_places(struct as_forward *f, struct load *l, int64_t low, int64_t high)
{
    uint32_t term = l->access->address.term;
    int64_t first = l->access->address.constant - (int64_t)f->widest_b + 1;
    int64_t end = l->access->address.constant + l->access->memory.width_b;
    struct as_store key = {.term = term, .place = low, .ahead = INT64_MIN};
    for (uint32_t i = first_store(f, &key); i < f->n; i = first_store(f, &key)) {
        const struct as_store *s = &f->store[i];
        if (s->term != term || s->place > high)
            break;
        if (!l->stride) {
            add_stores_at_address(f, l, term, s->place, s->place);
        } else {
            int64_t off = (first - s->place) % l->stride;
            int64_t address = off ? first - off + (off > 0 ? l->stride : 0) : first;
            for (; address < end; address += l->stride)
                add_stores_at_address(f, l, term, s->place, address);
        }
        key.place = s->place + 1;
    }
}

static void find_candidates(struct as_forward *f, struct load *l)
{
    int64_t first = l->access->address.constant - (int64_t)f->widest_b + 1;
    int64_t span = (int64_t)f->widest_b + l->access->memory.width_b - 1;
    if (!l->stride) {
        add_stores_of_places(f, l, first, first + span - 1);
        return;
    }
    if (span >= l->stride) {
        add_stores_of_places(f, l, 0, l->stride - 1);
        return;
    }
    int64_t low = first % l->stride;
    low += low < 0 ? l->stride : 0;
    if (low + span <= l->stride) {
        add_stores_of_places(f, l, low, low + span - 1);
    } else {
        add_stores_of_places(f, l, low, l->stride - 1);
        add_stores_of_places(f, l, 0, low + span - 1 - l->stride);
    }
}

static int compare_candidates(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->store->at > y->store->at ? -1 : x->store->at < y->store->at;
}

static uint64_t bits(int64_t from, int64_t to)
{
    uint64_t high = to >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << to) - 1;
    return high & ~(((uint64_t)1 << from) - 1);
}

/* Returns true if the store happens whenever the load happens, at the candidate's distance. */
static bool certain(const struct as_forward *f, const struct load *l, const struct candidate *c)
{
    if (c->store->maybe)
        return false;
    if (f->e->steps->view->chain || f->always[c->store->block])
        return true;
    return !c->distance && (c->store->block == l->block || dominates(f, c->store->block, l->block));
}

static int name_stores(struct as_forward *f, struct load *l, as_dependence_vec *out)
{
    int64_t width = l->access->memory.width_b;
    uint64_t all = bits(0, width), left = all;
    qsort(l->candidate, l->n, sizeof *l->candidate, compare_candidates);
    for (uint32_t i = 0; i < l->n && left; i++) {
        const struct candidate *c = &l->candidate[i];
        int64_t end = c->from_b + c->store->width_b;
        uint64_t mask = bits(c->from_b > 0 ? c->from_b : 0, end < width ? end : width);
        if (!(mask & left))
            continue;
        bool sure = certain(f, l, c);
        uint8_t flags = mask == all ? 0 : AS_DEPENDENCE_PARTIAL;
        if (!sure || c->called)
            flags |= AS_DEPENDENCE_MAYBE;
        if (sure)
            left &= ~mask;
        AS_TRY(as_vec_push(out, (struct as_dependence){.from = c->store->at,
                                                       .to = l->access->at,
                                                       .distance = (uint16_t)c->distance,
                                                       .kind = AS_DEPENDENCE_MEMORY,
                                                       .bits = flags}));
    }
    return 0;
}

int as_forward_step(struct as_forward *f, uint32_t step, as_dependence_vec *out)
{
    const struct as_iteration_view *view = f->e->steps->view;
    if (!f->n)
        return 0;
    for (; f->next < f->e->access.n && f->e->access.at[f->next].at <= step; f->next++) {
        const struct as_access *a = &f->e->access.at[f->next];
        while (a->at >= view->start[f->block + 1])
            f->block++;
        /* Skips values near the limits of the integers; no real address is there. */
        if (!(a->memory.access & AS_ACCESS_READ) || !usable(f, a) ||
            llabs(a->address.constant / 2) > INT64_MAX / 4 ||
            (a->known && llabs(a->step / 2) > INT64_MAX / 4))
            continue;
        struct load l = {.access = a, .block = f->block};
        l.stride = a->known ? llabs(a->step) : 0;
        l.sign = a->known && a->step < 0 ? -1 : a->known && a->step > 0;
        find_candidates(f, &l);
        AS_TRY(name_stores(f, &l, out));
    }
    return 0;
}
