/* SPDX-License-Identifier: Apache-2.0 */
/* Projects a run: the points without the points inside them, on both machines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "roofline/project.h"

struct projecting {
    struct as_projection projection; /* must be first: callers get a pointer to this member */
    struct as_arena arena;
    struct as_roofline *roofline; /* owns the names of the parts */
    struct as_ceilings reference, target;
    struct as_project_caches caches;
    bool has_caches;
};

static const char run_caches_sql[] =
    "SELECT level, max(size_b) FROM machine_place p JOIN run r USING (host_id)"
    " WHERE r.run_id = ?1 AND p.kind = 'cache' AND ifnull(p.cache, '') <> 'instructions'"
    " AND p.size_b > 0 GROUP BY level";

static int on_run_cache(void *context, struct as_rows *row, struct as_error *err)
{
    struct projecting *p = context;
    const int64_t level = as_rows_integer(row, 0);
    (void)err;
    if (level >= 1 && level <= AS_ROOF_CACHES)
        p->caches.here_b[level - 1] = (uint64_t)as_rows_integer(row, 1);
    return 0;
}

static double left_of(double whole, double part)
{
    return whole > part ? whole - part : 0;
}

/* Subtracts the work of `inner` from `outer`; both counts include it. */
static void subtract_inner_point(struct as_roof_point *outer, const struct as_roof_point *inner)
{
    const double flops = left_of(outer->flops, inner->flops);
    const double single =
        left_of(outer->single_share * outer->flops, inner->single_share * inner->flops);
    outer->single_share = flops > 0 ? single / flops : 0;
    outer->flops = flops;
    outer->load_b = left_of(outer->load_b, inner->load_b);
    outer->store_b = left_of(outer->store_b, inner->store_b);
    for (unsigned level = 0; level < AS_ROOF_LEVELS; level++)
        outer->level_b[level] = isnan(inner->level_b[level])
                                    ? (double)NAN
                                    : left_of(outer->level_b[level], inner->level_b[level]);
    for (unsigned i = 0; i < AS_ROOF_CURVE; i++)
        outer->curve_b[i] =
            isnan(inner->curve_b[i]) ? (double)NAN : left_of(outer->curve_b[i], inner->curve_b[i]);
}

static bool is_around(const struct as_roof_point *outer, const struct as_roof_point *inner)
{
    if (inner->kind != AS_OBJECT_LOOP)
        return false;
    return inner->parent_id ? outer->kind == AS_OBJECT_LOOP && outer->id == inner->parent_id
                            : outer->kind == AS_OBJECT_FUNCTION && outer->id == inner->function_id;
}

/* Returns a point without the points inside it: loops and functions include their inner loops. */
static struct as_roof_point own_point(const struct as_roofline *all, size_t number)
{
    struct as_roof_point own = all->point[number];
    for (size_t i = 0; i < all->point_n; i++)
        if (is_around(&all->point[number], &all->point[i])) {
            subtract_inner_point(&own, &all->point[i]);
            own.time_s = left_of(own.time_s, all->point[i].time_s);
            own.sample_n -= all->point[i].sample_n;
        }
    own.sample_n = own.sample_n > 0 ? own.sample_n : 0;
    return own;
}

static int by_projected_time(const void *a, const void *b)
{
    const struct as_projected *x = a, *y = b;
    if (x->time_s < y->time_s || x->time_s > y->time_s)
        return x->time_s < y->time_s ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static int project_points(struct projecting *p, struct as_error *err)
{
    const struct as_roofline *all = p->roofline;
    struct as_projection *out = &p->projection;
    bool any = false;
    out->part = as_arena_array(&p->arena, struct as_projected, all->point_n + 1);
    if (!out->part)
        return as_error_nomem(err, "a projection");
    for (size_t i = 0; i < all->point_n; i++) {
        if (all->point[i].kind == AS_OBJECT_RUN) {
            out->time_s = all->point[i].time_s / all->point[i].core_n;
            continue;
        }
        const struct as_roof_point own = own_point(all, i);
        if (own.sample_n == 0)
            continue;
        any |= as_project_part(&p->reference, &p->target, p->has_caches ? &p->caches : NULL, &own,
                               &out->part[out->part_n]);
        out->part_n++;
    }
    if (!any)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "--to: no ceiling above the program's loops is known of both machines; "
                            "run 'assay machine --measure memory,peaks' on each");
    qsort(out->part, out->part_n, sizeof *out->part, by_projected_time);
    out->core_n = p->reference.core_n;
    out->target_core_n = p->target.core_n;
    as_project_sum(out);
    return 0;
}

/* Uses the program's share of huge pages on both machines, if small pages were measured on both. */
static void use_pages(struct projecting *p)
{
    const double huge_share = p->roofline->huge_share;
    if (isnan(huge_share) || !as_ceilings_know_small(&p->reference) ||
        !as_ceilings_know_small(&p->target))
        return;
    p->reference.has_pages = p->target.has_pages = true;
    p->reference.huge_share = p->target.huge_share = huge_share;
}

int as_project_run(struct as_experiment *experiment, int64_t run_id,
                   const struct as_figures *reference, const struct as_figures *target,
                   const uint64_t cache_b[AS_ROOF_CACHES], enum as_project_rest rest,
                   struct as_projection **out, struct as_error *err)
{
    struct projecting *p = as_calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return as_error_nomem(err, "a projection");
    as_arena_init(&p->arena);
    p->projection.rest = rest;
    *out = &p->projection;
    int rc = as_roofline_read(experiment, run_id, reference, &p->roofline, err);
    if (rc == 0 && reference)
        as_ceilings_of_figures(reference, &p->reference);
    else if (rc == 0)
        rc = as_ceilings_of_run(experiment, p->roofline->run_id, &p->reference, err);
    if (rc == 0 && cache_b) {
        p->has_caches = true;
        memcpy(p->caches.there_b, cache_b, sizeof p->caches.there_b);
        rc = as_rows_each(experiment, run_caches_sql, p->roofline->run_id, on_run_cache, p, err);
    }
    if (rc == 0) {
        as_ceilings_of_figures(target, &p->target);
        use_pages(p);
        rc = project_points(p, err);
    }
    if (rc < 0)
        as_projection_free(out);
    return rc;
}

void as_projection_free(struct as_projection **projection)
{
    struct projecting *p = (struct projecting *)*projection;
    if (!p)
        return;
    as_roofline_free(&p->roofline);
    as_arena_fini(&p->arena);
    as_free(p);
    *projection = NULL;
}
