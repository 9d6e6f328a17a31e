/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the iterations of each path from samples of blocks. The samples of a block are a Poisson
 * count; its mean is (iterations of all paths through it) x (its instructions). Expectation
 * maximisation finds the iterations of maximum likelihood (Dempster, Laird, Rubin 1977). Each step
 * splits the samples of a block among its paths by the current iterations.
 *
 * An instruction of a path takes the mean time of that path's instructions, by the model of the
 * core. So a path with a division does not seem more frequent than it is. If blocks were counted,
 * the iterations solve linear equations. If these are singular, a block counts as one instruction.
 */
#include "quality/weights.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define STEPS 200
/* Fewer samples do not show a path of every tenth iteration. */
#define SAMPLES_LEAST 30

struct ways_taken {
    const struct as_program *program;
    const struct as_paths *paths;
    const int64_t *sample; /* by block of the list of paths */
    const uint32_t *ways;  /* by block as well: bits of the paths through it */
    const double *cycles;  /* of an iteration, by path; NULL: all instructions take the same time */
    bool counted;          /* `sample` has execution counts */
    double *now, *next;    /* iterations by path */
};

static int64_t samples_of(const struct as_block_samples *samples, size_t n, uint64_t address)
{
    for (size_t i = 0; i < n; i++)
        if (samples[i].address == address)
            return samples[i].n;
    return 0;
}

/* Returns true for the first entry of a block. The list has one entry for each path through it. */
static bool is_first_of(const struct as_paths *paths, size_t block)
{
    for (size_t i = 0; i < block; i++)
        if (paths->block[i] == paths->block[block])
            return false;
    return true;
}

/* Sets the bits of the paths through each block of the list. */
static void find_ways(const struct as_paths *paths, uint32_t *ways)
{
    for (size_t i = 0; i < paths->block_n; i++)
        for (size_t k = 0; k < paths->path_n; k++)
            for (uint32_t j = 0; j < paths->path[k].blocks; j++)
                if (paths->block[paths->path[k].first + j] == paths->block[i])
                    ways[i] |= UINT32_C(1) << k;
}

static double insns_of(const struct ways_taken *w, size_t path)
{
    const struct as_path *it = &w->paths->path[path];
    double insns = 0;

    for (uint32_t i = it->first; i < it->first + it->blocks; i++)
        insns += w->counted ? 1 : w->program->block[w->paths->block[i]].insns;
    return insns;
}

/* Returns the cycles per instruction of a path; 1 if they are unknown. */
static double cost_of(const struct ways_taken *w, size_t path)
{
    const double insns = insns_of(w, path);

    return w->cycles && w->cycles[path] > 0 && insns > 0 ? w->cycles[path] / insns : 1;
}

/* Returns the time of all paths in one instruction of a block of the list. */
static double passes(const struct ways_taken *w, size_t block)
{
    double sum = 0;

    for (size_t k = 0; k < w->paths->path_n; k++)
        if (w->ways[block] >> k & 1)
            sum += w->now[k] * cost_of(w, k);
    return sum;
}

static void step_along(struct ways_taken *w)
{
    for (size_t k = 0; k < w->paths->path_n; k++) {
        const struct as_path *path = &w->paths->path[k];
        const double cost = cost_of(w, k), time = cost * insns_of(w, k);
        double samples = 0;

        for (uint32_t i = path->first; i < path->first + path->blocks; i++) {
            const double all = passes(w, i);

            samples += all > 0 ? (double)w->sample[i] * w->now[k] * cost / all : 0;
        }
        w->next[k] = time > 0 ? samples / time : 0;
    }
    memcpy(w->now, w->next, w->paths->path_n * sizeof *w->now);
}

/* ---- Counts ---------------------------------------------------------------------------------- */

struct equations {
    double at[AS_PATH_LIMIT][AS_PATH_LIMIT + 1];
    size_t n;
};

/* Eliminates column `k` from the other rows, with its largest element as the pivot. Returns false
 * if the equations are singular. */
static bool eliminate(struct equations *e, size_t k)
{
    size_t best = k;

    for (size_t i = k; i < e->n; i++)
        best = fabs(e->at[i][k]) > fabs(e->at[best][k]) ? i : best;
    if (fabs(e->at[best][k]) < 1e-6)
        return false;
    for (size_t c = 0; c <= e->n; c++) {
        const double swap = e->at[k][c];
        e->at[k][c] = e->at[best][c];
        e->at[best][c] = swap;
    }
    for (size_t i = 0; i < e->n; i++) {
        const double times = e->at[i][k] / e->at[k][k];

        for (size_t c = k; i != k && c <= e->n; c++)
            e->at[i][c] -= times * e->at[k][c];
    }
    return true;
}

/* Solves the iterations by least squares: a block runs as often as all paths through it. Returns
 * false if the equations do not decide. */
static bool solve_counts(struct ways_taken *w)
{
    struct equations e = {.n = w->paths->path_n};

    for (size_t i = 0; i < w->paths->block_n; i++)
        for (size_t k = 0; k < e.n; k++) {
            for (size_t j = 0; w->ways[i] >> k & 1 && j < e.n; j++)
                e.at[k][j] += w->ways[i] >> j & 1;
            e.at[k][e.n] += w->ways[i] >> k & 1 ? (double)w->sample[i] : 0;
        }
    for (size_t k = 0; k < e.n; k++)
        if (!eliminate(&e, k))
            return false;
    for (size_t k = 0; k < e.n; k++) {
        w->now[k] = e.at[k][e.n] / e.at[k][k];
        if (w->now[k] < -0.5)
            return false;
        w->now[k] = w->now[k] > 0.5 ? w->now[k] : 0; /* a rounding error of 0 */
    }
    return true;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Sets `now` to the shares of the iterations. Returns false if there are too few samples. */
static bool find_shares(struct ways_taken *w, int64_t samples)
{
    double sum = 0;

    if (samples < (w->counted ? 1 : SAMPLES_LEAST))
        return false;
    for (size_t k = 0; k < w->paths->path_n; k++)
        w->now[k] = 1;
    const bool solved = w->counted && solve_counts(w);
    for (size_t k = 0; w->counted && !solved && k < w->paths->path_n; k++)
        w->now[k] = 1;
    for (int i = 0; !solved && i < STEPS; i++)
        step_along(w);
    for (size_t k = 0; k < w->paths->path_n; k++)
        sum += w->now[k];
    for (size_t k = 0; k < w->paths->path_n && sum > 0; k++)
        w->now[k] /= sum;
    return sum > 0;
}

int as_quality_path_cycles(struct as_arena *arena, struct as_cqa_engine *engine,
                           const struct as_program *program, uint32_t loop, const double **out,
                           struct as_error *err)
{
    static const struct as_cqa_options plain = {.without_what_ifs = true};
    const int metric = as_cqa_metric_find("cycles");
    struct as_cqa found;

    *out = NULL;
    AS_TRY(as_cqa_loop(engine, program, loop, &plain, &found, err));
    if (found.merged || !found.path_n)
        return 0;
    double *cycles = as_arena_fresh(arena, double, found.path_n);
    if (!cycles)
        return as_error_nomem(err, "the ways of a loop");
    for (size_t i = 0; i < found.path_n; i++)
        cycles[i] = found.path[i].value[metric];
    *out = cycles;
    return 0;
}

int as_quality_weights(struct as_arena *arena, const struct as_program *program, uint32_t loop,
                       const struct as_block_samples *samples, size_t n, bool counted,
                       const double *cycles, double **out, size_t *path_n, struct as_error *err)
{
    struct as_paths paths;
    int64_t all = 0;

    *out = NULL;
    *path_n = 0;
    if (!n || program->loop[loop].paths < 2 || program->loop[loop].paths > AS_PATH_LIMIT)
        return 0;
    AS_TRY(as_loop_paths(program, loop, AS_PATH_LIMIT, &paths, err));
    double *now = as_arena_fresh(arena, double, paths.path_n + 1);
    double *next = as_arena_fresh(arena, double, paths.path_n + 1);
    int64_t *sample = as_arena_fresh(arena, int64_t, paths.block_n + 1);
    uint32_t *ways = as_arena_fresh(arena, uint32_t, paths.block_n + 1);
    int rc = now && next && sample && ways ? 0 : as_error_nomem(err, "the ways of a loop");
    if (rc == 0 && !paths.merged) {
        struct ways_taken w = {program, &paths, sample, ways, counted ? NULL : cycles,
                               counted, now,    next};

        memset(ways, 0, paths.block_n * sizeof *ways);
        find_ways(&paths, ways);
        for (size_t i = 0; i < paths.block_n; i++)
            sample[i] = samples_of(samples, n, program->block[paths.block[i]].start);
        for (size_t i = 0; i < paths.block_n; i++)
            all += is_first_of(&paths, i) ? sample[i] : 0;
        if (find_shares(&w, all)) {
            *out = now;
            *path_n = paths.path_n;
        }
    }
    as_paths_free(&paths);
    return rc;
}
