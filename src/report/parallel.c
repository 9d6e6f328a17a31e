/* SPDX-License-Identifier: Apache-2.0 */
#include "report/parallel.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/index.h"

/* ---- Sums of waits --------------------------------------------------------------------------- */

static int sum_by_location(struct as_parallel *p, struct as_index *rows)
{
    as_vec_foreach (&p->analysis->waits.wait, wait) {
        uint64_t hash = as_hash_mix(as_hash_mix(wait->kind, wait->site), wait->location);
        int64_t ns = wait->end_ns - wait->begin_ns;
        struct as_parallel_wait *row = NULL;
        uint32_t at;
        for (struct as_probe probe = as_index_probe(rows, hash);
             !row && (at = as_index_next(rows, &probe)) != AS_INDEX_NONE;) {
            struct as_parallel_wait *known = &p->of_location.at[at];
            if (known->kind == wait->kind && known->site == wait->site &&
                known->location == wait->location)
                row = known;
        }
        if (!row) {
            AS_TRY(as_vec_push(&p->of_location,
                               (struct as_parallel_wait){.kind = wait->kind,
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
    const struct as_parallel_wait *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return (x->location > y->location) - (x->location < y->location);
}

static int compare_times(const void *a, const void *b)
{
    const struct as_parallel_wait *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns > y->time_ns ? -1 : 1;
    return compare_calls(a, b);
}

static int sum_by_call(struct as_parallel *p)
{
    qsort(p->of_location.at, p->of_location.n, sizeof *p->of_location.at, compare_calls);
    struct as_parallel_wait *all = NULL;
    as_vec_foreach (&p->of_location, one) {
        if (!all || all->kind != one->kind || all->site != one->site) {
            AS_TRY(as_vec_push(&p->wait, *one));
            all = &p->wait.at[p->wait.n - 1];
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
    qsort(p->wait.at, p->wait.n, sizeof *p->wait.at, compare_times);
    qsort(p->of_location.at, p->of_location.n, sizeof *p->of_location.at, compare_times);
    return 0;
}

int as_parallel_gather(const struct as_analysis *analysis, struct as_parallel *out,
                       struct assay_error *err)
{
    struct as_index rows = {0};
    *out = (struct as_parallel){.analysis = analysis};
    out->path_ns = as_calloc(analysis->location.n + 1, sizeof *out->path_ns);
    int rc = out->path_ns ? sum_by_location(out, &rows) : ASSAY_ERR_NOMEM;
    as_index_fini(&rows);
    if (rc == 0)
        rc = sum_by_call(out);
    if (rc < 0) {
        as_parallel_fini(out);
        return as_error_nomem(err, "sums of waits");
    }
    as_vec_foreach (&analysis->path.piece, piece)
        out->path_ns[piece->location] += piece->end_ns - piece->begin_ns;
    return 0;
}

void as_parallel_fini(struct as_parallel *parallel)
{
    as_vec_fini(&parallel->wait);
    as_vec_fini(&parallel->of_location);
    as_free(parallel->path_ns);
    parallel->path_ns = NULL;
}
