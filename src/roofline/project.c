/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Projection. The model time of a part is the maximum of flops / peak and of bytes / bandwidth of
 * each level. The measured time scales with the ratio of both machines' model times. Without
 * traffic per level, the serving level is unknown. Then the first roof above the point gives the
 * result, and all roofs above it bound it.
 */
#include "roofline/project.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CANDIDATES_MAX = AS_ROOF_LEVELS + AS_ROOF_WIDTHS * AS_ROOF_OPERATIONS };

/* A ceiling of both machines, and the time of the part at it in seconds. */
struct bound_time {
    char name[AS_ROOF_NAME_B];
    double here_s, there_s;
};

struct bound_times {
    struct bound_time at[CANDIDATES_MAX];
    size_t n;
};

/* Returns the cores on the target: a loop on most cores of the reference uses all of them; other
 * loops keep their threads. */
static double cores_there(const struct as_ceilings *reference, const struct as_ceilings *target,
                          double core_n)
{
    if (target->core_n == 0)
        return core_n;
    if (core_n > 1.5 && core_n >= 0.75 * reference->core_n)
        return target->core_n;
    return core_n > target->core_n ? target->core_n : core_n;
}

/* Adds a ceiling; `grows` is the work on the target over that on the reference. */
static void add_bound(struct bound_times *all, const char *name, double work, double grows,
                      double here, double there)
{
    if (!(work > 0) || here <= 0 || there <= 0 || all->n == CANDIDATES_MAX)
        return;
    struct bound_time *it = &all->at[all->n++];
    snprintf(it->name, sizeof it->name, "%s", name);
    it->here_s = work / here;
    it->there_s = work * grows / there;
}

/* ---- Other caches -------------------------------------------------------------------------- */

/* Returns the bytes that enter a cache of this size; interpolates between two sizes by the
 * logarithm. */
static double curve_at(const double *curve_b, double size_b)
{
    const double at = log2(size_b / AS_ROOF_CURVE_B);
    const double below = at <= 0 ? 0 : at >= AS_ROOF_CURVE - 1 ? AS_ROOF_CURVE - 1 : floor(at);
    const unsigned i = (unsigned)below, next = i + 1 < AS_ROOF_CURVE ? i + 1 : i;
    const double part = at <= 0 ? 0 : at - below < 1 ? at - below : 1;
    return curve_b[i] + part * (curve_b[next] - curve_b[i]);
}

/* Returns the size of the cache before a level, or 0 if there is none. For memory that is the
 * last cache. Cores share the last cache. */
static double cache_before(const uint64_t cache_b[AS_ROOF_CACHES], unsigned level, double core_n)
{
    unsigned last = AS_ROOF_CACHES;
    while (last > 0 && cache_b[last - 1] == 0)
        last--;
    const unsigned at = level == AS_ROOF_MEMORY ? last : level;
    if (at == 0 || at > last)
        return 0;
    return (double)cache_b[at - 1] / (at == last && last > 1 ? core_n : 1);
}

/* Returns the traffic of a level on the target over that on the reference; 1 without a curve. */
static double growth_of(const struct as_project_caches *caches, const struct as_roof_point *point,
                        unsigned level, double there_n)
{
    const double here_b = cache_before(caches->here_b, level, point->core_n);
    const double there_b = cache_before(caches->there_b, level, there_n);
    if (here_b <= 0 || there_b <= 0 || isnan(point->curve_b[0]))
        return 1;
    const double here = curve_at(point->curve_b, here_b), there = curve_at(point->curve_b, there_b);
    return here > 0 ? there / here : 1;
}

static void add_level_bound(const struct as_ceilings *reference, const struct as_ceilings *target,
                            const struct as_project_caches *caches,
                            const struct as_roof_point *point, double there_n, unsigned level,
                            bool is_traffic, struct bound_times *all)
{
    const bool is_curved = caches && is_traffic && level > AS_ROOF_L1;
    /* Without traffic per level: as if all bytes of instructions came from this level. */
    double (*const of)(const struct as_ceilings *, unsigned, double, double) =
        is_traffic ? as_ceilings_traffic : as_ceilings_bandwidth;
    const double bytes = point->level_b[is_traffic ? level : AS_ROOF_L1];
    const double l1 = point->level_b[AS_ROOF_L1];
    const double stored = l1 > 0 ? point->store_b / l1 : 0;
    add_bound(all, as_roof_level_word(level), bytes,
              is_curved ? growth_of(caches, point, level, there_n) : 1,
              of(reference, level, stored, point->core_n), of(target, level, stored, there_n));
}

/* Returns the highest peak that code of the point's kind can reach on a machine. */
static double peak_for(const struct as_ceilings *ceilings, const struct as_roof_point *point,
                       double core_n)
{
    const bool packed = point->vector != AS_ROOF_SCALAR;
    double highest = 0;
    for (unsigned w = 0; w < AS_ROOF_WIDTHS; w++)
        for (unsigned o = 0; o < AS_ROOF_OPERATIONS; o++) {
            const double value = as_ceilings_peak(ceilings, o, w, point->single_share, core_n);
            if ((packed || w == AS_ROOF_WIDTH_SCALAR) && value > highest)
                highest = value;
        }
    return highest;
}

static void add_peak_bounds(const struct as_ceilings *reference, const struct as_ceilings *target,
                            const struct as_roof_point *point, double there_n,
                            struct bound_times *all)
{
    static const char *const width[] = {"scalar", "sse", "avx2", "avx512"};
    char name[AS_ROOF_NAME_B];
    for (unsigned w = 0; w < AS_ROOF_WIDTHS; w++)
        for (unsigned o = 0; o < AS_ROOF_OPERATIONS; o++) {
            snprintf(name, sizeof name, "%s %s", o == AS_ROOF_FMA ? "FMA" : "add", width[w]);
            add_bound(all, name, point->flops, 1,
                      as_ceilings_peak(reference, o, w, point->single_share, point->core_n),
                      as_ceilings_peak(target, o, w, point->single_share, there_n));
        }
}

static bool has_levels(const struct as_roof_point *point)
{
    for (unsigned level = AS_ROOF_L2; level < AS_ROOF_LEVELS; level++)
        if (!isnan(point->level_b[level]))
            return true;
    return false;
}

static void set_name(char *to, const char *name)
{
    snprintf(to, AS_ROOF_NAME_B, "%s", name);
}

/* Returns the relative half width of the 95 % interval of a Poisson count of samples. */
static double part_of_samples(int64_t sample_n)
{
    return sample_n > 0 ? 1.96 / sqrt((double)sample_n) : 0;
}

/* ---- Projection by traffic of levels ------------------------------------------------------- */

/* Assumes full overlap of all times for the result, and no overlap for the other bound. */
static void project_levels(const struct bound_times *all, double part, struct as_projected *out)
{
    const struct bound_time *here = &all->at[0], *there = &all->at[0];
    double here_sum = 0, there_sum = 0;
    for (size_t i = 0; i < all->n; i++) {
        here = all->at[i].here_s > here->here_s ? &all->at[i] : here;
        there = all->at[i].there_s > there->there_s ? &all->at[i] : there;
        here_sum += all->at[i].here_s;
        there_sum += all->at[i].there_s;
    }
    const double overlapped = out->time_s * there->there_s / here->here_s;
    const double summed = out->time_s * there_sum / here_sum;
    out->efficiency = here->here_s / out->time_s;
    out->target_s = overlapped;
    out->low_s = (overlapped < summed ? overlapped : summed) * (1 - (part < 1 ? part : 1));
    out->high_s = (overlapped > summed ? overlapped : summed) * (1 + part);
    set_name(out->limit, here->name);
    set_name(out->target_limit, there->name);
}

/* ---- Projection by roofs ------------------------------------------------------------------- */

/* Uses the roofs at or above the point: there the model time is at most the measured time.
 * Returns false if there is none. */
static bool project_roofs(const struct bound_times *all, double part, struct as_projected *out)
{
    const struct bound_time *near = NULL, *there = NULL;
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct bound_time *it = &all->at[i];
        if (it->here_s > out->time_s)
            continue;
        const double ratio = it->there_s / it->here_s;
        near = !near || it->here_s > near->here_s ? it : near;
        low = ratio < low ? ratio : low;
        high = ratio > high ? ratio : high;
    }
    if (!near)
        return false;
    for (size_t i = 0; i < all->n; i++) /* the roof above the projected time */
        if (all->at[i].there_s <= out->time_s * near->there_s / near->here_s * (1 + 1e-9) &&
            (!there || all->at[i].there_s > there->there_s))
            there = &all->at[i];
    out->efficiency = near->here_s / out->time_s;
    out->target_s = out->time_s * near->there_s / near->here_s;
    out->low_s = out->time_s * low * (1 - (part < 1 ? part : 1));
    out->high_s = out->time_s * high * (1 + part);
    set_name(out->limit, near->name);
    set_name(out->target_limit, there ? there->name : near->name);
    return true;
}

bool as_project_part(const struct as_ceilings *reference, const struct as_ceilings *target,
                     const struct as_project_caches *caches, const struct as_roof_point *point,
                     struct as_projected *out)
{
    const double there_n = cores_there(reference, target, point->core_n);
    const double part = part_of_samples(point->sample_n);
    struct bound_times all = {.n = 0};
    *out = (struct as_projected){.kind = point->kind,
                                 .id = point->id,
                                 .name = point->name,
                                 .core_n = point->core_n,
                                 .target_core_n = there_n,
                                 .time_s = point->time_s / point->core_n,
                                 .efficiency = (double)NAN,
                                 .by_levels = has_levels(point)};
    out->by_caches = caches && out->by_levels && !isnan(point->curve_b[0]);
    for (unsigned level = 0; level < AS_ROOF_LEVELS; level++)
        add_level_bound(reference, target, caches, point, there_n, level, out->by_levels, &all);
    if (out->by_levels)
        add_bound(&all, "peak", point->flops, 1, peak_for(reference, point, point->core_n),
                  peak_for(target, point, there_n));
    else
        add_peak_bounds(reference, target, point, there_n, &all);
    if (all.n == 0 || !(out->time_s > 0))
        return false;
    if (!out->by_levels)
        return project_roofs(&all, part, out);
    project_levels(&all, part, out);
    return true;
}

/* ---- Run ----------------------------------------------------------------------------------- */

void as_project_sum(struct as_projection *projection)
{
    double there = 0, low = 0, high = 0, covered = 0;
    for (size_t i = 0; i < projection->part_n; i++) {
        const struct as_projected *it = &projection->part[i];
        if (!*it->limit)
            continue;
        covered += it->time_s;
        there += it->target_s;
        low += it->low_s;
        high += it->high_s;
    }
    const double rest = projection->time_s > covered ? projection->time_s - covered : 0;
    const double scaled = covered > 0 ? rest * there / covered : rest;
    projection->covered_s = covered;
    projection->rest_s = projection->rest == AS_REST_STAYS ? rest : scaled;
    projection->target_s = there + projection->rest_s;
    /* The bounds include both assumptions about the rest. */
    projection->low_s =
        low + (covered > 0 && rest * low / covered < rest ? rest * low / covered : rest);
    projection->high_s =
        high + (covered > 0 && rest * high / covered > rest ? rest * high / covered : rest);
}
