/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples tell of blocks, ways share them. Those of a block are taken for a Poisson count whose
 * mean is (iterations of all ways through it) x (its instructions), and the iterations are the
 * likeliest ones: maximised by expectation (Dempster, Laird, Rubin 1977), each step of which gives
 * a block's samples to its ways by what they have so far. An instruction counts as long as any
 * other: blocks with a division seem to be gone through more often than they are.
 */
#include "quality/weights.h"

#include <string.h>

#include "base/error.h"

#define STEPS 200
/* Fewer say nothing of a way that every tenth iteration takes. */
#define SAMPLES_LEAST 30

struct ways_taken {
    const struct assay_program *program;
    const struct assay_paths *paths;
    const int64_t *sample; /* by block of the list of paths */
    const uint32_t *ways;  /* so, too: bits of the paths that go through it */
    double *now, *next;    /* iterations by path */
};

static int64_t samples_of(const struct as_block_samples *samples, size_t n, uint64_t address)
{
    for (size_t i = 0; i < n; i++)
        if (samples[i].address == address)
            return samples[i].n;
    return 0;
}

/* Bits of the paths that go through each block of the list. */
static void find_ways(const struct assay_paths *paths, uint32_t *ways)
{
    for (size_t i = 0; i < paths->block_n; i++)
        for (size_t k = 0; k < paths->path_n; k++)
            for (uint32_t j = 0; j < paths->path[k].blocks; j++)
                if (paths->block[paths->path[k].first + j] == paths->block[i])
                    ways[i] |= UINT32_C(1) << k;
}

/* Iterations of all ways through a block of the list. */
static double passes(const struct ways_taken *w, size_t block)
{
    double sum = 0;

    for (size_t k = 0; k < w->paths->path_n; k++)
        if (w->ways[block] >> k & 1)
            sum += w->now[k];
    return sum;
}

static void step_along(struct ways_taken *w)
{
    for (size_t k = 0; k < w->paths->path_n; k++) {
        const struct assay_path *path = &w->paths->path[k];
        double samples = 0, insns = 0;

        for (uint32_t i = path->first; i < path->first + path->blocks; i++) {
            const double all = passes(w, i);

            samples += all > 0 ? (double)w->sample[i] * w->now[k] / all : 0;
            insns += w->program->block[w->paths->block[i]].insns;
        }
        w->next[k] = insns > 0 ? samples / insns : 0;
    }
    memcpy(w->now, w->next, w->paths->path_n * sizeof *w->now);
}

/* Shares of the iterations in `now`; false where too few samples tell. */
static bool find_shares(struct ways_taken *w, int64_t samples)
{
    double sum = 0;

    if (samples < SAMPLES_LEAST)
        return false;
    for (size_t k = 0; k < w->paths->path_n; k++)
        w->now[k] = 1;
    for (int i = 0; i < STEPS; i++)
        step_along(w);
    for (size_t k = 0; k < w->paths->path_n; k++)
        sum += w->now[k];
    for (size_t k = 0; k < w->paths->path_n && sum > 0; k++)
        w->now[k] /= sum;
    return sum > 0;
}

int as_quality_weights(struct as_arena *arena, const struct assay_program *program, uint32_t loop,
                       const struct as_block_samples *samples, size_t n, double **out,
                       size_t *path_n, struct assay_error *err)
{
    struct assay_paths paths;
    int64_t all = 0;

    *out = NULL;
    *path_n = 0;
    if (!n || program->loop[loop].paths < 2 || program->loop[loop].paths > ASSAY_PATH_LIMIT)
        return 0;
    AS_TRY(assay_loop_paths(program, loop, ASSAY_PATH_LIMIT, &paths, err));
    double *now = as_arena_fresh(arena, double, paths.path_n + 1);
    double *next = as_arena_fresh(arena, double, paths.path_n + 1);
    int64_t *sample = as_arena_fresh(arena, int64_t, paths.block_n + 1);
    uint32_t *ways = as_arena_fresh(arena, uint32_t, paths.block_n + 1);
    int rc = now && next && sample && ways ? 0 : as_error_nomem(err, "the ways of a loop");
    if (rc == 0 && !paths.merged) {
        struct ways_taken w = {program, &paths, sample, ways, now, next};

        memset(ways, 0, paths.block_n * sizeof *ways);
        find_ways(&paths, ways);
        for (size_t i = 0; i < paths.block_n; i++)
            sample[i] = samples_of(samples, n, program->block[paths.block[i]].start);
        for (size_t i = 0; i < n; i++)
            all += samples[i].n;
        if (find_shares(&w, all)) {
            *out = now;
            *path_n = paths.path_n;
        }
    }
    assay_paths_free(&paths);
    return rc;
}
