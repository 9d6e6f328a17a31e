/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Latency over size: follows pointers through every line of an area in one random cycle (Sattolo
 * 1986), on small and huge pages. Then finds the plateaus of this curve.
 */
#include "measure/rig.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "measure/plateau.h"

#define LINE_B       64
#define PER_OCTAVE   4
#define POINTS_MOST  128
#define LATENCY_MOST ((uint64_t)512 << 20)

static uint64_t largest_b(const struct as_rig *rig)
{
    uint64_t last_b = 16u << 20;

    for (unsigned level = 1; level < AS_LEVELS; level++)
        last_b = rig->cache_b[level] > last_b ? rig->cache_b[level] : last_b;
    uint64_t most_b = 4 * last_b;
    most_b = most_b > LATENCY_MOST ? LATENCY_MOST : most_b;
    return most_b > rig->memory_most_b / 2 ? rig->memory_most_b / 2 : most_b;
}

struct curve {
    double x[POINTS_MOST], y[POINTS_MOST];
    struct as_trials trials[POINTS_MOST];
    size_t n;
};

static int measure_curve(struct as_rig *rig, const struct as_job *job, struct as_bench *bench,
                         struct curve *curve, struct as_error *err)
{
    const size_t most_b = bench->part[0].n;
    uint32_t *order = as_malloc(most_b / LINE_B * sizeof *order);
    struct as_kernel kernel = {0};
    void *cursor = bench->part[0].a;
    int rc = order ? as_kernel_chase(&kernel, err) : as_error_nomem(err, "the order of accesses");

    bench->part[0].b = &cursor;
    for (unsigned step = 0; rc == 0 && curve->n < POINTS_MOST; step++) {
        const double size = 8192 * pow(2, (double)step / PER_OCTAVE);
        const size_t lines = (size_t)(size / LINE_B);
        struct as_trials *trials = &curve->trials[curve->n];
        if (lines * LINE_B > most_b || as_rig_stopped(rig))
            break;
        as_chase_thread(bench->part[0].a, lines, LINE_B, order);
        cursor = bench->part[0].a;
        as_crew_passes(bench->crew, lines / 64 + 1);
        as_crew_run(bench->crew, kernel.run); /* one full cycle */
        if (!as_rig_run(rig, bench->crew, &bench->part[0], kernel.run, trials))
            break;
        curve->x[curve->n] = (double)(lines * LINE_B);
        curve->y[curve->n] = trials->best_s / 64 * 1e9;
        const struct as_figure_point point = {job->name, curve->x[curve->n], curve->y[curve->n]};
        rc = as_figures_add_point(rig->figures, &point, err);
        curve->n++;
    }
    as_kernel_close(&kernel);
    as_free(order);
    return rc;
}

/* ---- Levels ---------------------------------------------------------------------------------- */

/* Combines the calm of the points of a plateau and their min number of samples. */
static struct as_trials trials_of(const struct curve *curve, const struct as_plateau *p)
{
    struct as_trials all = {.spread = p->spread, .sample_n = UINT32_MAX, .is_calm = true};
    unsigned noisy = 0, n = 0;

    for (size_t i = 0; i < curve->n; i++) {
        if (curve->x[i] < p->first_b || curve->x[i] > p->last_b)
            continue;
        noisy += !curve->trials[i].is_calm;
        n++;
        if (curve->trials[i].sample_n < all.sample_n)
            all.sample_n = curve->trials[i].sample_n;
    }
    all.is_calm = 2 * noisy < n;
    return all;
}

static const struct as_plateau *plateau_of(const struct as_plateau *plateau, size_t n, int level)
{
    for (size_t i = 0; i < n; i++)
        if (plateau[i].level == level)
            return &plateau[i];
    return NULL;
}

/* Without a plateau, stores the point at two thirds of the level as noisy. */
static int store_latency_without_plateau(struct as_rig *rig, const struct curve *curve,
                                         const char *name, unsigned level, struct as_error *err)
{
    const double wanted = level ? (double)rig->cache_b[level] * 2 / 3 : curve->x[curve->n - 1];
    size_t nearest = 0;
    char text[256];

    for (size_t i = 1; i < curve->n; i++)
        if (fabs(log(curve->x[i] / wanted)) < fabs(log(curve->x[nearest] / wanted)))
            nearest = i;
    struct as_trials trials = curve->trials[nearest];
    trials.is_calm = false;
    snprintf(text, sizeof text,
             "%s: the latency has no plateau that ends near %s; the figure is that of %.0f KiB",
             name, level ? "the size that the CPU reports for this cache" : "the largest area",
             curve->x[nearest] / 1024);
    AS_TRY(as_figures_add_finding(rig->figures, name, text, err));
    return as_rig_keep(rig, name, curve->y[nearest], "ns", &trials, err);
}

/* Reports a plateau that matches no cache: the share of another tenant, or a wrong size. */
static int flag_strange(struct as_rig *rig, const struct as_job *job, const struct as_plateau *p,
                        struct as_error *err)
{
    char text[256];

    snprintf(
        text, sizeof text,
        "%s: the latency is flat (%.1f ns) up to %.0f KiB, where no cache of that size is reported",
        job->name, p->value, p->last_b / 1024);
    return as_figures_add_finding(rig->figures, job->name, text, err);
}

/* Reports that the usable size of the level is that of the plateau, not that of the CPU. */
static int emit_share(struct as_rig *rig, const char *name, const struct as_plateau *p,
                      struct as_error *err)
{
    char text[256];

    snprintf(text, sizeof text,
             "%s: flat (%.1f ns) up to %.0f KiB, while the processor reports %" PRIu64
             " KiB: that is the part of this cache that this machine has, or that its pages do not "
             "collide in",
             name, p->value, p->last_b / 1024, rig->cache_b[p->level] / 1024);
    return as_figures_add_finding(rig->figures, name, text, err);
}

/* Sets the cache sizes. Small pages miss translations before a cache ends, so their sizes are those
 * that huge pages showed. */
static void sizes_for(const struct as_rig *rig, const struct as_job *job,
                      uint64_t size_b[AS_LEVELS])
{
    for (unsigned level = 0; level < AS_LEVELS; level++) {
        const uint64_t seen_b = job->pages == AS_PAGES_SMALL ? rig->seen_b[level] : 0;
        size_b[level] = seen_b && seen_b < rig->cache_b[level] ? seen_b : rig->cache_b[level];
    }
}

static int store_level_latencies(struct as_rig *rig, const struct as_job *job,
                                 const struct curve *curve, struct as_error *err)
{
    struct as_plateau plateau[AS_PLATEAUS_MOST];
    const size_t n = as_plateaus_find(curve->x, curve->y, curve->n, plateau);
    uint64_t size_b[AS_LEVELS];
    char name[64];

    sizes_for(rig, job, size_b);
    as_plateaus_name(plateau, n, size_b);
    for (unsigned level = 0; level < AS_LEVELS; level++) {
        if (level && !rig->cache_b[level])
            continue;
        const struct as_plateau *p = plateau_of(plateau, n, (int)level);
        snprintf(name, sizeof name, "latency.%s%s", as_level_name(level), strchr(job->name, '.'));
        as_figures_drop_findings(rig->figures, name);
        if (p) {
            const struct as_trials trials = trials_of(curve, p);
            AS_TRY(as_rig_keep(rig, name, p->value, "ns", &trials, err));
            if (p->is_share)
                AS_TRY(emit_share(rig, name, p, err));
        } else {
            AS_TRY(store_latency_without_plateau(rig, curve, name, level, err));
        }
    }
    for (size_t i = 0; i < n && job->pages == AS_PAGES_HUGE; i++)
        if (plateau[i].level < 0)
            AS_TRY(flag_strange(rig, job, &plateau[i], err));
    return 0;
}

int as_job_latency(struct as_rig *rig, const struct as_job *job, struct as_error *err)
{
    const struct as_scope one = {.name = "core", .cpu = rig->core, .n = 1};
    const size_t most_b = largest_b(rig) / LINE_B * LINE_B;
    struct curve *curve = as_calloc(1, sizeof *curve);
    struct as_bench *bench = NULL;

    if (!curve)
        return as_error_nomem(err, "the curve of latency");
    as_figures_drop_curve(rig->figures, job->name);
    as_figures_drop_findings(rig->figures, job->name);
    int rc = as_bench_open(rig, &one, 1, most_b, job->pages, &bench, err);
    if (rc == 0)
        rc = measure_curve(rig, job, bench, curve, err);
    if (rc == 0 && curve->n && !as_rig_stopped(rig))
        rc = store_level_latencies(rig, job, curve, err);
    as_rig_see_share(rig);
    as_bench_close(&bench);
    as_free(curve);
    return rc;
}
