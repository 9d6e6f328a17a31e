/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/causes.h"

#include <assay/error.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/index.h"
#include "base/sort.h"

struct as_causes {
    const struct as_wait_list *waits;
    const struct as_span *span;
    uint32_t location_n;
    struct as_sort_key *order; /* of waits that have a cause: by location, then by end */
    uint32_t order_n;
    uint32_t *first; /* by location, and one more: places in `order` */
};

/* The flipped sign bit makes the order of numbers that of their bits. */
static uint64_t key_of_time(int64_t ns)
{
    return (uint64_t)ns ^ (uint64_t)1 << 63;
}

static const struct as_wait *wait_at(const struct as_causes *c, uint32_t place)
{
    return &c->waits->wait.at[c->order[place].at];
}

int as_causes_new(struct as_causes **out, const struct as_wait_list *waits,
                  const struct as_span *span, uint32_t location_n)
{
    struct as_causes *c = *out = as_calloc(1, sizeof *c);
    if (!c)
        return ASSAY_ERR_NOMEM;
    c->waits = waits;
    c->span = span;
    c->location_n = location_n;
    c->order = as_calloc(waits->wait.n + 1, sizeof *c->order);
    c->first = as_calloc((size_t)location_n + 1, sizeof *c->first);
    if (!c->order || !c->first)
        goto nomem;
    for (uint32_t i = 0; i < waits->wait.n; i++)
        if (waits->wait.at[i].cause != AS_WAIT_NOBODY)
            c->order[c->order_n++] = (struct as_sort_key){key_of_time(waits->wait.at[i].end_ns), i};
    if (as_sort_keys(c->order, c->order_n) < 0)
        goto nomem;
    for (uint32_t i = 0; i < c->order_n; i++)
        c->order[i].key = waits->wait.at[c->order[i].at].location;
    if (as_sort_keys(c->order, c->order_n) < 0)
        goto nomem;
    for (uint32_t i = 0; i < c->order_n; i++)
        c->first[wait_at(c, i)->location + 1] = i + 1;
    for (uint32_t l = 1; l <= location_n; l++)
        if (c->first[l] < c->first[l - 1])
            c->first[l] = c->first[l - 1];
    return 0;
nomem:
    as_causes_free(out);
    return ASSAY_ERR_NOMEM;
}

void as_causes_free(struct as_causes **causes)
{
    if (!*causes)
        return;
    as_free((*causes)->order);
    as_free((*causes)->first);
    as_free(*causes);
    *causes = NULL;
}

/* Places [first, answer) of the location's waits are those that ended at `ns` or before. */
static uint32_t ended_before(const struct as_causes *c, uint32_t location, int64_t ns)
{
    uint32_t low = c->first[location], high = c->first[location + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (wait_at(c, middle)->end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- The critical path ----------------------------------------------------------------------- */

static int add_piece(struct as_path *out, uint32_t location, int64_t begin_ns, int64_t end_ns)
{
    return end_ns > begin_ns
               ? as_vec_push(&out->piece, (struct as_path_piece){location, begin_ns, end_ns})
               : 0;
}

int as_causes_path(const struct as_causes *c, struct as_path *out)
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
            if (parent == AS_WAIT_NOBODY || begin > now)
                return 0;
            location = parent;
            now = begin;
            continue;
        }
        const struct as_wait *wait = wait_at(c, place - 1);
        /* The message, or what else takes time from one to the other, is the waiting one's. */
        int64_t from = wait->cause_ns < wait->end_ns ? wait->cause_ns : wait->end_ns;
        AS_TRY(add_piece(out, location, from, now));
        location = wait->cause;
        now = from < now ? from : now;
    }
    return 0;
}

/* ---- Who costs how much ---------------------------------------------------------------------- */

struct blames {
    struct as_blame_list *out;
    struct as_index rows;
};

static int blame_row(struct blames *b, uint32_t location, uint32_t site, struct as_blame **out)
{
    uint64_t hash = as_hash_mix(location, site);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&b->rows, hash);
         (at = as_index_next(&b->rows, &probe)) != AS_INDEX_NONE;) {
        *out = &b->out->blame.at[at];
        if ((*out)->location == location && (*out)->site == site)
            return 0;
    }
    AS_TRY(as_vec_push(&b->out->blame, (struct as_blame){.location = location, .site = site}));
    *out = &b->out->blame.at[b->out->blame.n - 1];
    return as_index_add(&b->rows, hash, (uint32_t)(b->out->blame.n - 1));
}

/* When the waiting one last stopped waiting: all was even then. */
static int64_t last_waited(const struct as_causes *c, const struct as_wait *wait)
{
    uint32_t place = ended_before(c, wait->location, wait->begin_ns);
    return place == c->first[wait->location] ? INT64_MIN : wait_at(c, place - 1)->end_ns;
}

#define WAITS_LOOKED_AT 64u /* of one that is waited for, per wait */

/* Hands on what of `cost` the late one's own waits explain; answers what is left to itself. */
static double hand_on(const struct as_causes *c, const struct as_wait *wait, double *cost_of_wait,
                      double cost)
{
    const int64_t even_ns = last_waited(c, wait);
    const double length = (double)(wait->end_ns - wait->begin_ns);
    /* Ended before this one did: costs are handed on from later ends to earlier ones. */
    const int64_t came_ns = wait->cause_ns < wait->end_ns ? wait->cause_ns : wait->end_ns - 1;
    const uint32_t last = ended_before(c, wait->cause, came_ns);
    const uint32_t floor = c->first[wait->cause];
    uint32_t first = last;
    double waited = 0;
    while (first > floor && last - first < WAITS_LOOKED_AT && waited < length &&
           wait_at(c, first - 1)->end_ns > even_ns &&
           wait_at(c, first - 1)->cause != wait->location) { /* the two were even then */
        const struct as_wait *own = wait_at(c, --first);
        waited += (double)(own->end_ns - (own->begin_ns > even_ns ? own->begin_ns : even_ns));
    }
    if (first == last)
        return cost;
    const double share = fmin(1, waited / length);
    for (uint32_t place = first; place < last; place++) {
        const struct as_wait *own = wait_at(c, place);
        double part = (double)(own->end_ns - (own->begin_ns > even_ns ? own->begin_ns : even_ns));
        cost_of_wait[c->order[place].at] += cost * share * part / waited;
    }
    return cost * (1 - share);
}

static int put_down(const struct as_causes *c, const struct as_sort_key *by_end, double *cost,
                    struct blames *b)
{
    for (uint32_t i = c->order_n; i-- > 0;) {
        const struct as_wait *wait = &c->waits->wait.at[by_end[i].at];
        const int64_t length = wait->end_ns - wait->begin_ns;
        struct as_blame *row;
        AS_TRY(blame_row(b, wait->cause, wait->cause_site, &row));
        row->n++;
        row->direct_ns += length;
        if (length > row->most_ns)
            row->most_ns = length;
        row->total_ns +=
            (int64_t)llround(hand_on(c, wait, cost, (double)length + cost[by_end[i].at]));
    }
    return 0;
}

static int sort_blames(struct as_blame_list *list)
{
    struct as_sort_key *keys = as_calloc(list->blame.n + 1, sizeof *keys);
    struct as_blame *sorted = as_calloc(list->blame.n + 1, sizeof *sorted);
    int rc = keys && sorted ? 0 : ASSAY_ERR_NOMEM;
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

int as_causes_blame(const struct as_causes *c, struct as_blame_list *out)
{
    struct blames blames = {.out = out};
    struct as_sort_key *by_end = as_calloc((size_t)c->order_n + 1, sizeof *by_end);
    double *cost = as_calloc(c->waits->wait.n + 1, sizeof *cost);
    int rc = by_end && cost ? 0 : ASSAY_ERR_NOMEM;
    for (uint32_t i = 0; rc == 0 && i < c->order_n; i++)
        by_end[i] = (struct as_sort_key){key_of_time(wait_at(c, i)->end_ns), c->order[i].at};
    if (rc == 0)
        rc = as_sort_keys(by_end, c->order_n);
    if (rc == 0)
        rc = put_down(c, by_end, cost, &blames);
    if (rc == 0)
        rc = sort_blames(out);
    as_index_fini(&blames.rows);
    as_free(by_end);
    as_free(cost);
    return rc;
}
