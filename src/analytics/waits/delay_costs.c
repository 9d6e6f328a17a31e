/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/waits/delay_costs.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/index.h"
#include "base/sort.h"

/* A wait state with a cause. Fields of the search are stored together: a trace has millions of
 * waits. */
struct ended_wait {
    int64_t end_ns, begin_ns;
    uint32_t cause, at; /* `at`: index in the list */
};

struct as_causes {
    const struct as_wait_list *waits;
    const struct as_span *span;
    uint32_t location_n;
    struct ended_wait *order;   /* by trace thread, then by end */
    struct as_sort_key *by_end; /* the same by end, then by trace thread; `at` as above */
    uint32_t order_n;
    uint32_t *first; /* by trace thread, and one more: indices in `order` */
    uint32_t *near;  /* by trace thread: the last result of ended_before; the next is near it */
};

/* The flipped sign bit makes the order of numbers that of their bits. */
static uint64_t key_of_time(int64_t ns)
{
    return (uint64_t)ns ^ (uint64_t)1 << 63;
}

static const struct as_wait *wait_of(const struct as_causes *c, const struct ended_wait *ended)
{
    return &c->waits->wait.at[ended->at];
}

/* Computes the first index of each trace thread in `order` from its number of waits. */
static void place_locations(struct as_causes *c)
{
    for (uint32_t i = 0; i < c->waits->wait.n; i++)
        if (c->waits->wait.at[i].cause != AS_WAIT_UNKNOWN)
            c->first[c->waits->wait.at[i].location + 1]++;
    for (uint32_t l = 1; l <= c->location_n; l++)
        c->first[l] += c->first[l - 1];
    c->order_n = c->first[c->location_n];
}

/* Sorts waits by trace thread and end. `near` is the next free index of each. */
static int sort_waits(struct as_causes *c)
{
    memcpy(c->near, c->first, c->location_n * sizeof *c->near);
    for (uint32_t i = 0; i < c->waits->wait.n; i++) {
        const struct as_wait *wait = &c->waits->wait.at[i];
        if (wait->cause != AS_WAIT_UNKNOWN)
            c->by_end[c->near[wait->location]++] =
                (struct as_sort_key){key_of_time(wait->end_ns), i};
    }
    AS_TRY(as_sort_keys(c->by_end, c->order_n));
    memcpy(c->near, c->first, c->location_n * sizeof *c->near);
    for (uint32_t i = 0; i < c->order_n; i++) {
        const struct as_wait *wait = &c->waits->wait.at[c->by_end[i].at];
        c->order[c->near[wait->location]++] =
            (struct ended_wait){wait->end_ns, wait->begin_ns, wait->cause, c->by_end[i].at};
    }
    return 0;
}

int as_causes_new(struct as_causes **out, const struct as_wait_list *waits,
                  const struct as_span *span, uint32_t location_n)
{
    struct as_causes *c = *out = as_calloc(1, sizeof *c);
    if (!c)
        return AS_ERR_NOMEM;
    c->waits = waits;
    c->span = span;
    c->location_n = location_n;
    c->first = as_calloc((size_t)location_n + 2, sizeof *c->first);
    c->near = as_calloc((size_t)location_n + 1, sizeof *c->near);
    if (!c->first || !c->near)
        goto nomem;
    place_locations(c);
    c->order = as_malloc_large((size_t)c->order_n + 1, sizeof *c->order);
    c->by_end = as_malloc_large((size_t)c->order_n + 1, sizeof *c->by_end);
    if (!c->order || !c->by_end || sort_waits(c) < 0)
        goto nomem;
    return 0;
nomem:
    as_causes_free(out);
    return AS_ERR_NOMEM;
}

void as_causes_free(struct as_causes **causes)
{
    if (!*causes)
        return;
    as_free((*causes)->order);
    as_free((*causes)->by_end);
    as_free((*causes)->first);
    as_free((*causes)->near);
    as_free(*causes);
    *causes = NULL;
}

/* Returns the end of the range [first, end) of waits of a trace thread that ended at `ns` or
 * before. Queries go back in time: the search starts at the last result, in doubling steps. */
static uint32_t ended_before(struct as_causes *c, uint32_t location, int64_t ns)
{
    const struct ended_wait *order = c->order;
    uint32_t low = c->near[location], high = low;
    if (low > c->first[location] && order[low - 1].end_ns > ns) {
        for (uint32_t step = 1; low > c->first[location] && order[low - 1].end_ns > ns; step *= 2) {
            high = low - 1;
            low = low - c->first[location] > step ? low - step : c->first[location];
        }
    } else {
        for (uint32_t step = 1; high < c->first[location + 1] && order[high].end_ns <= ns;
             step *= 2) {
            low = high + 1;
            high = c->first[location + 1] - high > step ? high + step : c->first[location + 1];
        }
    }
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (order[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    assert(low >= c->first[location] && low <= c->first[location + 1]);
    assert(low + 1 >= c->first[location + 1] || order[low].end_ns <= order[low + 1].end_ns);
    return c->near[location] = low;
}

/* ---- The critical path ----------------------------------------------------------------------- */

static int add_piece(struct as_critical_path *out, uint32_t location, int64_t begin_ns,
                     int64_t end_ns)
{
    return end_ns > begin_ns
               ? as_vec_push(&out->piece, (struct as_path_piece){location, begin_ns, end_ns})
               : 0;
}

int as_causes_path(struct as_causes *c, struct as_critical_path *out)
{
    uint32_t location = 0;
    for (uint32_t l = 1; l < c->location_n; l++)
        if (c->span[l].end_ns > c->span[location].end_ns)
            location = l;
    if (c->location_n == 0)
        return 0;
    int64_t now = c->span[location].end_ns;
    /* Each step goes back in time, or uses up a wait that ends now: that many there are at most. */
    for (uint64_t left = (uint64_t)c->order_n + c->location_n; left > 0; left--) {
        uint32_t place = ended_before(c, location, now);
        if (place == c->first[location]) {
            uint32_t parent = c->span[location].parent;
            int64_t begin = c->span[location].begin_ns;
            AS_TRY(add_piece(out, location, begin, now));
            if (parent == AS_WAIT_UNKNOWN || begin > now)
                return 0;
            location = parent;
            now = begin;
            continue;
        }
        const struct as_wait *wait = wait_of(c, &c->order[place - 1]);
        /* The message, or what else takes time from one to the other, is the waiting one's. */
        int64_t from = wait->cause_ns < wait->end_ns ? wait->cause_ns : wait->end_ns;
        AS_TRY(add_piece(out, location, from, now));
        location = wait->cause;
        now = from < now ? from : now;
    }
    return 0;
}

/* ---- Delay costs ----------------------------------------------------------------------------- */

struct delay_cost_sums {
    struct as_delay_cost_list *out;
    struct as_index rows;
};

static int blame_row(struct delay_cost_sums *b, uint32_t location, uint32_t site,
                     struct as_delay_cost **out)
{
    uint64_t hash = as_hash_mix(location, site);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&b->rows, hash);
         (at = as_index_next(&b->rows, &probe)) != AS_INDEX_NONE;) {
        *out = &b->out->blame.at[at];
        if ((*out)->location == location && (*out)->site == site)
            return 0;
    }
    AS_TRY(as_vec_push(&b->out->blame, (struct as_delay_cost){.location = location, .site = site}));
    *out = &b->out->blame.at[b->out->blame.n - 1];
    return as_index_add(&b->rows, hash, (uint32_t)(b->out->blame.n - 1));
}

#define WAITS_LOOKED_AT 64u /* of one that is waited for, per wait */

static int64_t length_since(const struct ended_wait *own, int64_t even_ns)
{
    return own->end_ns - (own->begin_ns > even_ns ? own->begin_ns : even_ns);
}

/* Distributes the part of `cost` that earlier waits of the cause explain. Returns the rest.
 * `even_ns`: end of the previous wait of the waiting thread, before which nothing counts. */
static double hand_on(struct as_causes *c, const struct as_wait *wait, int64_t even_ns,
                      double *cost_of_wait, double cost)
{
    const double length = (double)(wait->end_ns - wait->begin_ns);
    /* A wait of the cause must end before this wait: costs move from later ends to earlier ones. */
    const int64_t came_ns = wait->cause_ns < wait->end_ns ? wait->cause_ns : wait->end_ns - 1;
    const uint32_t last = ended_before(c, wait->cause, came_ns);
    const uint32_t floor = c->first[wait->cause];
    uint32_t first = last;
    double waited = 0;
    while (first > floor && last - first < WAITS_LOOKED_AT && waited < length &&
           c->order[first - 1].end_ns > even_ns &&
           c->order[first - 1].cause != wait->location) /* the two were even then */
        waited += (double)length_since(&c->order[--first], even_ns);
    if (first == last)
        return cost;
    const double share = fmin(1, waited / length);
    for (uint32_t place = first; place < last; place++) {
        const double part = (double)length_since(&c->order[place], even_ns);
        cost_of_wait[c->order[place].at] += cost * share * part / waited;
    }
    return cost * (1 - share);
}

static int record_delay_costs(struct as_causes *c, double *cost, struct delay_cost_sums *b)
{
    for (uint32_t i = c->order_n; i-- > 0;) {
        const uint32_t at = c->by_end[i].at;
        const struct as_wait *wait = &c->waits->wait.at[at];
        const int64_t length = wait->end_ns - wait->begin_ns;
        const uint32_t before = ended_before(c, wait->location, wait->begin_ns);
        const int64_t even_ns =
            before == c->first[wait->location] ? INT64_MIN : c->order[before - 1].end_ns;
        struct as_delay_cost *row;
        AS_TRY(blame_row(b, wait->cause, wait->cause_site, &row));
        row->n++;
        row->direct_ns += length;
        if (length > row->most_ns)
            row->most_ns = length;
        row->total_ns +=
            (int64_t)llround(hand_on(c, wait, even_ns, cost, (double)length + cost[at]));
    }
    return 0;
}

static int sort_blames(struct as_delay_cost_list *list)
{
    struct as_sort_key *keys = as_calloc(list->blame.n + 1, sizeof *keys);
    struct as_delay_cost *sorted = as_calloc(list->blame.n + 1, sizeof *sorted);
    int rc = keys && sorted ? 0 : AS_ERR_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < list->blame.n; i++)
        keys[i] = (struct as_sort_key){~key_of_time(list->blame.at[i].total_ns), i};
    if (rc == 0)
        rc = as_sort_keys(keys, list->blame.n);
    for (uint32_t i = 0; rc == 0 && i < list->blame.n; i++)
        sorted[i] = list->blame.at[keys[i].at];
    if (rc == 0 && list->blame.n)
        memcpy(list->blame.at, sorted, list->blame.n * sizeof *sorted);
    as_free(keys);
    as_free(sorted);
    return rc;
}

int as_causes_blame(struct as_causes *c, struct as_delay_cost_list *out)
{
    struct delay_cost_sums blames = {.out = out};
    double *cost = as_calloc(c->waits->wait.n + 1, sizeof *cost);
    int rc = cost ? record_delay_costs(c, cost, &blames) : AS_ERR_NOMEM;
    if (rc == 0)
        rc = sort_blames(out);
    as_index_fini(&blames.rows);
    as_free(cost);
    return rc;
}
