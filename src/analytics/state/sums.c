/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/sums.h"

#include <stdlib.h>

#include "analytics/waits/wait_intervals.h"
#include "base/error.h"
#include "base/index.h"

/* ---- Sums of waits --------------------------------------------------------------------------- */

static int sum_by_location(struct as_wait_sums *p, struct as_index *rows)
{
    as_vec_foreach (&p->analysis->waits.wait, wait) {
        uint64_t hash = as_hash_mix(as_hash_mix(wait->kind, wait->site), wait->location);
        int64_t ns = wait->end_ns - wait->begin_ns;
        struct as_wait_sum *row = NULL;
        uint32_t at;
        for (struct as_probe probe = as_index_probe(rows, hash);
             !row && (at = as_index_next(rows, &probe)) != AS_INDEX_NONE;) {
            struct as_wait_sum *known = &p->of_location.at[at];
            if (known->kind == wait->kind && known->site == wait->site &&
                known->location == wait->location)
                row = known;
        }
        if (!row) {
            AS_TRY(as_vec_push(&p->of_location, (struct as_wait_sum){.kind = wait->kind,
                                                                     .site = wait->site,
                                                                     .location = wait->location}));
            AS_TRY(as_index_add(rows, hash, (uint32_t)(p->of_location.n - 1)));
            row = &p->of_location.at[p->of_location.n - 1];
        }
        row->n++;
        row->time_ns += ns;
        row->location_ns = row->time_ns;
        row->most_ns = ns > row->most_ns ? ns : row->most_ns;
        p->waited_ns += ns;
    }
    return 0;
}

static int compare_calls(const void *a, const void *b)
{
    const struct as_wait_sum *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->location > y->location) - (x->location < y->location);
}

static int compare_times(const void *a, const void *b)
{
    const struct as_wait_sum *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return compare_calls(a, b);
}

static int sum_by_call(struct as_wait_sums *p)
{
    if (p->of_location.n == 0)
        return 0; /* without wait states */
    qsort(p->of_location.at, p->of_location.n, sizeof *p->of_location.at, compare_calls);
    struct as_wait_sum *all = NULL;
    as_vec_foreach (&p->of_location, one) {
        if (!all || all->kind != one->kind || all->site != one->site) {
            AS_TRY(as_vec_push(&p->of_call, *one));
            all = &p->of_call.at[p->of_call.n - 1];
            continue;
        }
        all->n += one->n;
        all->time_ns += one->time_ns;
        if (one->most_ns > all->most_ns)
            all->most_ns = one->most_ns;
        if (one->time_ns > all->location_ns) {
            all->location = one->location;
            all->location_ns = one->time_ns;
        }
    }
    qsort(p->of_call.at, p->of_call.n, sizeof *p->of_call.at, compare_times);
    qsort(p->of_location.at, p->of_location.n, sizeof *p->of_location.at, compare_times);
    return 0;
}

/* ---- Times that are covered ------------------------------------------------------------------ */

static uint32_t who_waits(const void *context, const struct as_wait *wait)
{
    (void)context;
    return wait->location;
}

static uint32_t who_is_late(const void *context, const struct as_wait *wait)
{
    (void)context;
    return wait->cause;
}

struct delay_cost_rows {
    const struct as_delay_cost_list *list;
    struct as_index rows;
    int64_t *ns;
};

static uint64_t hash_of_blame(uint32_t location, uint32_t site)
{
    return as_hash_mix(as_hash_mix(5, location), site);
}

static uint32_t which_blame(const void *context, const struct as_wait *wait)
{
    const struct delay_cost_rows *b = context;
    uint32_t at;
    for (struct as_probe probe =
             as_index_probe(&b->rows, hash_of_blame(wait->cause, wait->cause_site));
         (at = as_index_next(&b->rows, &probe)) != AS_INDEX_NONE;) {
        const struct as_delay_cost *blame = &b->list->blame.at[at];
        if (blame->location == wait->cause && blame->site == wait->cause_site)
            return at;
    }
    return AS_WAIT_UNKNOWN;
}

static void add_covered(void *context, uint32_t owner, const struct as_wait *first,
                        int64_t begin_ns, int64_t end_ns)
{
    int64_t *ns = context;
    (void)first;
    ns[owner] += end_ns - begin_ns;
}

static void add_covered_blame(void *context, uint32_t owner, const struct as_wait *first,
                              int64_t begin_ns, int64_t end_ns)
{
    struct delay_cost_rows *b = context;
    add_covered(b->ns, owner, first, begin_ns, end_ns);
}

static int cover_blames(struct as_wait_sums *p)
{
    struct delay_cost_rows b = {.list = &p->analysis->blame, .ns = p->blame_ns};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < b.list->blame.n; i++)
        rc = as_index_add(&b.rows,
                          hash_of_blame(b.list->blame.at[i].location, b.list->blame.at[i].site), i);
    if (rc == 0)
        rc = as_waits_cover(&p->analysis->waits, which_blame, add_covered_blame, &b);
    as_index_fini(&b.rows);
    return rc;
}

static int sum_covered(struct as_wait_sums *p)
{
    const struct as_analysis *a = p->analysis;
    p->path_ns = as_calloc(a->location.n + 1, sizeof *p->path_ns);
    p->waiting_ns = as_calloc(a->location.n + 1, sizeof *p->waiting_ns);
    p->late_ns = as_calloc(a->location.n + 1, sizeof *p->late_ns);
    p->blame_ns = as_calloc(a->blame.blame.n + 1, sizeof *p->blame_ns);
    if (!p->path_ns || !p->waiting_ns || !p->late_ns || !p->blame_ns)
        return AS_ERR_NOMEM;
    as_vec_foreach (&a->path.piece, piece)
        p->path_ns[piece->location] += piece->end_ns - piece->begin_ns;
    AS_TRY(as_waits_cover(&a->waits, who_waits, add_covered, p->waiting_ns));
    AS_TRY(as_waits_cover(&a->waits, who_is_late, add_covered, p->late_ns));
    return cover_blames(p);
}

int as_wait_sums_of(const struct as_analysis *analysis, struct as_wait_sums *out,
                    struct as_error *err)
{
    struct as_index rows = {0};
    *out = (struct as_wait_sums){.analysis = analysis};
    int rc = sum_by_location(out, &rows);
    as_index_fini(&rows);
    if (rc == 0)
        rc = sum_by_call(out);
    if (rc == 0)
        rc = sum_covered(out);
    if (rc < 0) {
        as_wait_sums_fini(out);
        return as_error_nomem(err, "sums of waits");
    }
    return 0;
}

void as_wait_sums_fini(struct as_wait_sums *sums)
{
    as_vec_fini(&sums->of_call);
    as_vec_fini(&sums->of_location);
    as_free(sums->path_ns);
    as_free(sums->waiting_ns);
    as_free(sums->late_ns);
    as_free(sums->blame_ns);
    *sums = (struct as_wait_sums){0};
}
