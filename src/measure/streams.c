/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bandwidth figures: streams over arrays, strides, gathers. Bytes are those that a program
 * requests. Reads of a line before a store, and extra prefetches, are not counted.
 */
#include "measure/rig.h"

#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"

enum { TRIALS_LEAST = 8 }; /* of one size */

/* Returns the arrays of a stream: one for read and write, two for copy, three for triad. */
static size_t arrays_of(enum as_stream_kernel stream)
{
    return as_stream_moved(stream);
}

/* Measures the bytes per second of arrays of `all_b` bytes in total; 0: stopped. */
static int stream_once(struct as_rig *rig, const struct as_job *job, struct as_kernel *kernel,
                       size_t all_b, double *bandwidth, struct as_trials *trials,
                       struct as_error *err)
{
    const size_t arrays = arrays_of(job->stream);
    const size_t n = all_b / arrays / AS_STREAM_BLOCK_B * AS_STREAM_BLOCK_B;
    struct as_bench *bench;

    *bandwidth = 0;
    if (n == 0)
        return 0;
    AS_TRY(as_bench_open(rig, &job->scope, arrays, n, job->pages, &bench, err));
    const double moved = (double)n * as_stream_moved(job->stream) * (double)job->scope.n;
    if (as_rig_run(rig, bench->crew, &bench->part[0], kernel->run, trials))
        *bandwidth = moved / trials->best_s;
    as_bench_close(&bench);
    return 0;
}

int as_job_stream(struct as_rig *rig, const struct as_job *job, struct as_error *err)
{
    size_t size_b[AS_LEVEL_SIZES];
    const size_t n = as_level_sizes(rig, job->level, &job->scope, size_b);
    const unsigned trial_n = rig->trial_n;
    struct as_kernel kernel;
    struct as_trials best = {.is_calm = false};
    double most = 0;

    if (job->level)
        AS_TRY(as_rig_report_small_cache(rig, job->level, &job->scope, err));
    if (n == 0)
        return 0;
    AS_TRY(as_kernel_stream(&rig->kernels, job->stream, job->nontemporal, &kernel, err));
    int rc = 0;
    rig->trial_n = trial_n / (unsigned)n > TRIALS_LEAST ? trial_n / (unsigned)n : TRIALS_LEAST;
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct as_trials trials = {.is_calm = false};
        double bandwidth;
        rc = stream_once(rig, job, &kernel, size_b[i], &bandwidth, &trials, err);
        const bool is_calmer = trials.is_calm && !best.is_calm;
        if (bandwidth > 0 && (is_calmer || (bandwidth > most && trials.is_calm == best.is_calm))) {
            most = bandwidth;
            best = trials;
        }
    }
    rig->trial_n = trial_n;
    if (rc == 0 && most > 0)
        rc = as_rig_keep(rig, job->name, most, "B/s", &best, err);
    as_kernel_close(&kernel);
    return rc;
}

int as_job_stride(struct as_rig *rig, const struct as_job *job, struct as_error *err)
{
    const size_t all_b = as_level_b(rig, job->level, &job->scope);
    const size_t block_b = 8 * (size_t)job->stride_b, n = all_b / block_b * block_b;
    struct as_bench *bench;
    struct as_kernel kernel;
    struct as_trials trials;

    if (n == 0)
        return 0;
    AS_TRY(as_kernel_stride(job->stride_b, &kernel, err));
    int rc = as_bench_open(rig, &job->scope, 1, n, AS_PAGES_ANY, &bench, err);
    if (rc == 0) {
        const double accesses = (double)n / job->stride_b;
        if (as_rig_run(rig, bench->crew, &bench->part[0], kernel.run, &trials))
            rc = as_rig_keep(rig, job->name, trials.best_s / accesses * 1e9, "ns", &trials, err);
        as_bench_close(&bench);
    }
    as_kernel_close(&kernel);
    return rc;
}

/* Random order that no prefetcher follows (xorshift, Marsaglia 2003). */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The touched lines exceed a last cache of 64 MiB. Otherwise the next pass would hit some of
 * them. */
#define INDICES_MOST ((size_t)1 << 21)

int as_job_gather(struct as_rig *rig, const struct as_job *job, struct as_error *err)
{
    const size_t all_b = as_level_b(rig, job->level, &job->scope);
    const size_t elements = all_b / 8, wanted = elements < INDICES_MOST ? elements : INDICES_MOST;
    const size_t index_n = wanted / 64 * 64;
    uint64_t random = 88172645463325252u;
    struct as_bench *bench;
    struct as_kernel kernel;
    struct as_trials trials;

    if (index_n == 0 || (job->gathers && !rig->kernels.avx2) || elements > INT32_MAX)
        return 0;
    AS_TRY(as_kernel_gather(&rig->kernels, job->gathers, &kernel, err));
    int rc = as_bench_open(rig, &job->scope, 1, elements * 8, AS_PAGES_ANY, &bench, err);
    uint32_t *index = rc == 0 ? as_malloc(index_n * sizeof *index) : NULL;
    if (rc == 0 && !index)
        rc = as_error_nomem(err, "the indices of gathers");
    if (rc == 0) {
        for (size_t i = 0; i < index_n; i++)
            index[i] = (uint32_t)(next_random(&random) % elements);
        bench->part[0].b = index;
        bench->part[0].n = index_n;
        if (as_rig_run(rig, bench->crew, &bench->part[0], kernel.run, &trials))
            rc = as_rig_keep(rig, job->name, trials.best_s / (double)index_n * 1e9, "ns", &trials,
                             err);
    }
    as_free(index);
    as_bench_close(&bench);
    as_kernel_close(&kernel);
    return rc;
}

#define CLOCK_SLACK 1.12 /* the chain in a kernel is longer than the instructions beside it */
enum { PEAK_ROUNDS = 2 };

static int run_kernel(struct as_rig *rig, const struct as_job *job, struct as_crew *crew,
                      const struct as_crew_part *first, unsigned beside, double *operations,
                      struct as_trials *trials, struct as_error *err)
{
    struct as_kernel kernel;

    AS_TRY(as_kernel_arithmetic(&rig->kernels, &job->arithmetic, beside, operations, &kernel, err));
    if (!as_rig_run(rig, crew, first, kernel.run, trials))
        trials->best_s = NAN; /* no figure */
    as_kernel_close(&kernel);
    return 0;
}

/* Stores the frequency of a kernel. The core leaves the state of heavy operations microseconds
 * after the kernel, before the other thread can read it. So a chain of known length runs along. */
static int store_kernel_frequency(struct as_rig *rig, const struct as_job *job,
                                  struct as_crew *crew, const struct as_crew_part *first,
                                  const struct as_trials *plain, struct as_error *err)
{
    const double cycles = plain->best_s * plain->core_per_tick * rig->tsc_hz;
    /* A quick run has time for the peak only. */
    const unsigned beside = as_arithmetic_is_general(&job->arithmetic) || rig->is_quick
                                ? 0
                                : (unsigned)(CLOCK_SLACK * cycles / rig->gate.chain_cycles) + 1;
    struct as_trials trials = *plain;
    double operations, hz = plain->core_per_tick * rig->tsc_hz;
    char name[80];

    if (!(plain->best_s > 0))
        return 0;
    if (beside) {
        const unsigned trial_n = rig->trial_n;
        rig->trial_n = (trial_n + 1) / 2;
        const int rc = run_kernel(rig, job, crew, first, beside, &operations, &trials, err);
        rig->trial_n = trial_n;
        if (rc < 0)
            return rc;
        hz = beside * rig->gate.chain_cycles / trials.best_s;
    }
    snprintf(name, sizeof name, "frequency%s", job->name + sizeof "peak" - 1);
    return as_rig_keep(rig, name, hz, "Hz", &trials, err);
}

/* Runs both in turns, because both depend on the current frequency. */
static int peak_rounds(struct as_rig *rig, const struct as_job *job, struct as_crew *crew,
                       const struct as_crew_part *first, struct as_error *err)
{
    struct as_trials trials;
    double operations;

    for (unsigned i = 0; i < (rig->is_quick ? 1 : PEAK_ROUNDS) && !as_rig_stopped(rig); i++) {
        AS_TRY(run_kernel(rig, job, crew, first, 0, &operations, &trials, err));
        AS_TRY(as_rig_keep(rig, job->name, operations * (double)job->scope.n / trials.best_s,
                           "op/s", &trials, err));
        AS_TRY(store_kernel_frequency(rig, job, crew, first, &trials, err));
    }
    return 0;
}

int as_job_peak(struct as_rig *rig, const struct as_job *job, struct as_error *err)
{
    const unsigned trial_n = rig->trial_n;
    struct as_crew_part part[AS_CORES_MOST];
    struct as_crew *crew;

    for (size_t i = 0; i < job->scope.n; i++)
        part[i] = (struct as_crew_part){.cpu = job->scope.cpu[i], .passes = 1};
    AS_TRY(as_crew_new(part, job->scope.n, &crew, err));
    rig->trial_n = (trial_n + PEAK_ROUNDS - 1) / PEAK_ROUNDS;
    const int rc = peak_rounds(rig, job, crew, &part[0], err);
    rig->trial_n = trial_n;
    as_crew_free(&crew);
    return rc;
}
