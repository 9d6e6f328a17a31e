/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the figures of a machine and the order of their measurement, and reports the conditions.
 * Each figure is saved at once, so an interruption loses nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/progress.h"
#include "base/vec.h"
#include "measure/account.h"
#include "measure/rig.h"

enum { MEMORY_ROUNDS = 3 }; /* for memory: external load on the caches is not detected there */

struct plan {
    AS_VEC(struct as_job) jobs;
    struct as_rig *rig;
    const struct as_ceilings_options *options;
    size_t left_n; /* jobs of the last round that were not begun */
    bool failed;
};

static struct as_job *add_job(struct plan *p, unsigned cost_ms,
                              int (*work)(struct as_rig *, const struct as_job *,
                                          struct as_error *))
{
    static struct as_job lost;

    if (as_vec_push(&p->jobs, (struct as_job){.cost_ms = cost_ms, .work = work}) < 0) {
        p->failed = true;
        return &lost;
    }
    return &p->jobs.at[p->jobs.n - 1];
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static struct as_scope one_core(const struct as_rig *rig)
{
    return (struct as_scope){.name = "core", .cpu = rig->core, .n = 1};
}

static struct as_scope all_cores(const struct as_rig *rig)
{
    return (struct as_scope){.name = "all", .cpu = rig->core, .n = rig->core_n};
}

static unsigned trials_ms(const struct plan *p)
{
    return p->rig->trial_n * (p->rig->trial_ms + 1) * 3 / 2;
}

static struct as_job *add_stream(struct plan *p, unsigned level, enum as_stream_kernel stream,
                                 bool nontemporal, struct as_scope scope)
{
    /* The usable size of the level is known only after its latency. */
    if (level && !p->rig->cache_b[level])
        return NULL;
    struct as_job *job = add_job(p, trials_ms(p) + (level ? 0 : 100), as_job_stream);
    job->level = level;
    job->stream = stream;
    job->nontemporal = nontemporal;
    job->scope = scope;
    snprintf(job->name, sizeof job->name, "bandwidth.%s%s.%s.%s", as_stream_name(stream),
             nontemporal ? "-nt" : "", as_level_name(level), scope.name);
    return job;
}

/* Adds the same on pages of 4 KiB, which programs have by default. */
static void add_small_stream(struct plan *p, unsigned level, enum as_stream_kernel stream,
                             struct as_scope scope)
{
    struct as_job *job = add_stream(p, level, stream, false, scope);
    if (!job)
        return;
    job->pages = AS_PAGES_SMALL;
    snprintf(job->name, sizeof job->name, "bandwidth.%s-small.%s.%s", as_stream_name(stream),
             as_level_name(level), scope.name);
}

/* The nearer caches need few translations, whatever the page size. */
static void add_small_streams(struct plan *p, struct as_scope scope)
{
    static const unsigned levels[] = {3, 0};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        for (unsigned stream = 0; stream < AS_STREAMS; stream++)
            add_small_stream(p, levels[i], (enum as_stream_kernel)stream, scope);
}

static void add_streams(struct plan *p, struct as_scope scope)
{
    for (unsigned k = 0; k < AS_LEVELS; k++) {
        const unsigned level = (k + 1) % AS_LEVELS; /* L1, L2, L3, memory */
        for (unsigned stream = 0; stream < AS_STREAMS; stream++)
            add_stream(p, level, (enum as_stream_kernel)stream, false, scope);
    }
    for (unsigned stream = AS_STREAM_WRITE; stream < AS_STREAMS; stream++)
        add_stream(p, 0, (enum as_stream_kernel)stream, true, scope);
}

static void add_latency(struct plan *p, enum as_pages pages)
{
    struct as_job *job = add_job(p, 60 * trials_ms(p), as_job_latency);

    job->pages = pages;
    snprintf(job->name, sizeof job->name, "latency.%s", pages == AS_PAGES_HUGE ? "huge" : "small");
}

static void add_strides(struct plan *p)
{
    static const unsigned stride_b[] = {8, 16, 32, 64, 128, 256, 512, 1024, 4096};

    for (size_t i = 0; i < sizeof stride_b / sizeof *stride_b; i++) {
        struct as_job *job = add_job(p, trials_ms(p), as_job_stride);
        job->stride_b = stride_b[i];
        job->scope = one_core(p->rig);
        snprintf(job->name, sizeof job->name, "stride.%u.memory.core", stride_b[i]);
    }
}

static void add_gathers(struct plan *p)
{
    for (unsigned level = 0; level < AS_LEVELS; level++) {
        const struct as_scope scope = one_core(p->rig);
        if (level && !as_level_b(p->rig, level, &scope))
            continue;
        for (int gathers = p->rig->kernels.avx2; gathers >= 0; gathers--) {
            struct as_job *job = add_job(p, trials_ms(p), as_job_gather);
            job->level = level;
            job->gathers = gathers;
            job->scope = scope;
            snprintf(job->name, sizeof job->name, "gather.%s.%s.core",
                     gathers ? "vector" : "scalar", as_level_name(level));
        }
    }
}

static void add_peak(struct plan *p, struct as_arithmetic what, struct as_scope scope)
{
    if (!as_arithmetic_exists(&p->rig->kernels, &what))
        return;
    struct as_job *job = add_job(p, 2 * trials_ms(p), as_job_peak);
    job->arithmetic = what;
    job->scope = scope;
    snprintf(job->name, sizeof job->name, "peak.%s.%s.%s.%s", as_operation_name(what.operation),
             as_number_name(what.number), as_width_name(what.width), scope.name);
}

static void add_peaks(struct plan *p, struct as_scope scope)
{
    for (unsigned width = 0; width < AS_WIDTHS; width++)
        for (unsigned number = 0; number < AS_NUMBERS; number++)
            for (unsigned operation = 0; operation < AS_OPERATIONS; operation++)
                add_peak(p,
                         (struct as_arithmetic){.operation = (enum as_operation)operation,
                                                .number = (enum as_number_type)number,
                                                .width = (enum as_width)width},
                         scope);
}

/* Adds the memory of each node. The rig stores the cores of a scope. */
static void add_nodes(struct plan *p)
{
    struct as_scope scope[AS_NODES_MAX + AS_NODES_MAX];
    const size_t n = as_rig_node_scopes(p->rig, scope, sizeof scope / sizeof *scope);

    for (size_t i = 0; i < n; i++) {
        add_stream(p, 0, AS_STREAM_READ, false, scope[i]);
        if (!strstr(scope[i].name, "to")) /* there are many pairs of nodes */
            add_stream(p, 0, AS_STREAM_TRIAD, false, scope[i]);
    }
}

/* Adds memory and the last cache for some of the cores, because their bandwidth saturates. */
static void add_parts(struct plan *p)
{
    struct as_scope scope[16];
    const size_t n = as_rig_part_scopes(p->rig, scope, sizeof scope / sizeof *scope);

    for (size_t i = 0; i < n; i++)
        for (unsigned level = 0; level < AS_LEVELS; level++)
            if (level == 0 || p->rig->sharers[level] > 1) {
                add_stream(p, level, AS_STREAM_READ, false, scope[i]);
                add_stream(p, level, AS_STREAM_TRIAD, false, scope[i]);
            }
}

/* Adds the figures for rooflines and loop bounds. The most important come first, because time may
 * run out. */
static void add_needed(struct plan *p)
{
    const struct as_scope scope[] = {one_core(p->rig), all_cores(p->rig)};
    const enum as_width widest = p->rig->kernels.widest;

    for (size_t i = 0; i < 2; i++) {
        add_stream(p, 0, AS_STREAM_TRIAD, false, scope[i]);
        for (unsigned number = AS_NUMBER_F64; number <= AS_NUMBER_F32; number++) {
            const struct as_arithmetic one[] = {
                {AS_OPERATION_FMA, (enum as_number_type)number, widest},
                {AS_OPERATION_ADD, (enum as_number_type)number, widest},
                {AS_OPERATION_ADD, (enum as_number_type)number, AS_WIDTH_SCALAR}};
            for (size_t k = 0; k < sizeof one / sizeof *one; k++)
                add_peak(p, one[k], scope[i]);
        }
        add_stream(p, 0, AS_STREAM_READ, false, scope[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        add_small_stream(p, 0, AS_STREAM_TRIAD, scope[i]);
        add_small_stream(p, 0, AS_STREAM_READ, scope[i]);
    }
    for (size_t i = 0; i < 2; i++)
        for (unsigned level = 1; level < AS_LEVELS; level++) {
            add_stream(p, level, AS_STREAM_READ, false, scope[i]);
            add_stream(p, level, AS_STREAM_TRIAD, false, scope[i]);
        }
}

static void make_plan(struct plan *p, unsigned what)
{
    if (what == AS_CEILINGS_NEEDED) {
        add_needed(p);
        return;
    }
    if (what == AS_CEILINGS_MEMORY) {
        /* First the figures that show the usable size of the last cache. */
        add_latency(p, AS_PAGES_HUGE);
        add_latency(p, AS_PAGES_SMALL);
        add_streams(p, one_core(p->rig));
        add_streams(p, all_cores(p->rig));
        add_small_streams(p, one_core(p->rig));
        add_small_streams(p, all_cores(p->rig));
        add_parts(p);
        add_nodes(p);
        add_strides(p);
        add_gathers(p);
        return;
    }
    add_peaks(p, one_core(p->rig));
    add_peaks(p, all_cores(p->rig));
}

/* ---- Conditions ---------------------------------------------------------------------------- */

static int replace_figure_finding(struct as_rig *rig, const char *name, const char *text,
                                  struct as_error *err)
{
    as_figures_drop_findings(rig->figures, name);
    return text ? as_figures_add_finding(rig->figures, name, text, err) : 0;
}

int as_rig_report_cpus(struct as_rig *rig, double quota_cpu_n, struct as_error *err)
{
    const int64_t online = rig->topology->cpu_n, usable = rig->topology->usable_cpu_n;
    char text[256] = "";

    if (usable > 0 && usable < online)
        snprintf(text, sizeof text,
                 "CPUs: only %" PRId64 " of %" PRId64
                 " may be used (affinity or cpuset): 'all' means %zu cores",
                 usable, online, rig->core_n);
    AS_TRY(replace_figure_finding(rig, "processors", *text ? text : NULL, err));
    *text = 0;
    /* The current affinity does not count: measuring binds this thread to one CPU. */
    if (quota_cpu_n > 0 && quota_cpu_n < (double)usable)
        snprintf(text, sizeof text,
                 "quota: the control group grants %.2g CPUs of %" PRId64
                 ": figures of all cores are those of the quota, not of the machine",
                 quota_cpu_n, usable);
    return replace_figure_finding(rig, "quota", *text ? text : NULL, err);
}

int as_rig_report_afterwards(struct as_rig *rig, const char *group, struct as_error *err)
{
    size_t noisy = 0, n = 0;
    char name[64], text[256] = "";

    for (size_t i = 0; i < rig->figures->figure_n; i++) {
        n++;
        noisy += !rig->figures->figure[i].is_calm;
    }
    if (rig->small_only)
        AS_TRY(replace_figure_finding(
            rig, "huge_pages",
            "huge pages: the kernel gave none (transparent_hugepage is off?): latency and "
            "bandwidth of large areas include misses of the translation buffer",
            err));
    snprintf(name, sizeof name, "noise.%s", group);
    if (noisy)
        snprintf(text, sizeof text,
                 "noise: %zu of %zu figures were measured under external load: repeat on a quiet "
                 "machine",
                 noisy, n);
    return replace_figure_finding(rig, name, noisy ? text : NULL, err);
}

int as_rig_report_small_cache(struct as_rig *rig, unsigned level, const struct as_scope *scope,
                              struct as_error *err)
{
    const uint64_t seen_b = rig->seen_b[level], all_b = rig->cache_b[level];
    char name[64], text[256];

    snprintf(name, sizeof name, "bandwidth.%s.%s", as_level_name(level), scope->name);
    snprintf(text, sizeof text,
             "%s: not measured: this machine has %" PRIu64
             " KiB of this cache, too little to miss the caches below it on %zu core%s",
             name, (seen_b && seen_b < all_b ? seen_b : all_b) / 1024, scope->n,
             scope->n == 1 ? "" : "s");
    return replace_figure_finding(rig, name, as_level_b(rig, level, scope) ? NULL : text, err);
}

/* Cores do not share these caches. So the bandwidth of all cores is that of one core times their
 * number. A lower frequency reduces it (by a third on some CPUs). Half of it means external load on
 * another core, which no gate sees. */
#define LEAST_OF_ALL 0.6

int as_rig_report_private(struct as_rig *rig, struct as_error *err)
{
    char name[64], text[256];

    for (unsigned level = 1; level < AS_LEVELS; level++)
        for (unsigned k = 0; k < AS_STREAMS && rig->sharers[level] == 1; k++) {
            const char *stream = as_stream_name((enum as_stream_kernel)k);
            snprintf(name, sizeof name, "bandwidth.%s.%s.core", stream, as_level_name(level));
            const struct as_figure *core = as_figures_find(rig->figures, name);
            snprintf(name, sizeof name, "bandwidth.%s.%s.all", stream, as_level_name(level));
            const struct as_figure *all = as_figures_find(rig->figures, name);
            as_figures_drop_findings(rig->figures, name);
            if (!core || !all || all->value >= LEAST_OF_ALL * core->value * (double)rig->core_n)
                continue;
            snprintf(text, sizeof text,
                     "%s: %.2g times that of one core on %zu cores that do not share this cache: "
                     "external load used one of them",
                     name, all->value / core->value, rig->core_n);
            struct as_figure doubted = *all;
            doubted.is_calm = false;
            AS_TRY(as_figures_set(rig->figures, &doubted, err));
            AS_TRY(as_figures_add_finding(rig->figures, name, text, err));
        }
    return 0;
}

/* ---- Rounds -------------------------------------------------------------------------------- */

static bool is_done(const struct as_rig *rig, const struct as_job *job, int64_t begun_s)
{
    const struct as_figure *figure;
    char name[64];

    if (job->work == as_job_latency)
        snprintf(name, sizeof name, "latency.memory.%s", strchr(job->name, '.') + 1);
    else
        snprintf(name, sizeof name, "%s", job->name);
    figure = as_figures_find(rig->figures, name);
    return figure && figure->when_s >= begun_s;
}

static int save_figures(const struct plan *p, struct as_error *err)
{
    return p->options->path ? as_figures_save(p->rig->figures, p->options->path, err) : 0;
}

/* Returns true if a job is skipped: it was done before the first round, or it is a curve. The
 * points of a curve confirm each other. */
static bool is_left_out(const struct plan *p, const struct as_job *job, unsigned round,
                        int64_t begun_s)
{
    return round == 0 ? is_done(p->rig, job, begun_s) : job->work == as_job_latency;
}

static int work_once(struct plan *p, const struct as_job *job, struct as_error *err)
{
    int rc = job->work(p->rig, job, err);

    if (rc == AS_ERR_LIMIT)
        rc = as_figures_add_finding(p->rig->figures, job->name, err->text, err);
    return rc == 0 ? save_figures(p, err) : rc;
}

/* Runs all jobs in several rounds: external load of some seconds is not in all of them. */
static int work_through(struct plan *p, unsigned rounds, int64_t begun_s, int64_t until_ns,
                        struct as_error *err)
{
    struct as_progress progress;
    uint64_t total = 0;
    int rc = 0;

    for (unsigned round = 0; round < rounds; round++)
        as_vec_foreach (&p->jobs, job)
            total += is_left_out(p, job, round, begun_s) ? 0 : job->cost_ms;
    as_progress_begin(&progress, p->options->progress_fd, "measuring", total);
    for (unsigned round = 0; round < rounds; round++)
        as_vec_foreach (&p->jobs, job) {
            if (rc < 0 || as_rig_stopped(p->rig) || as_monotonic_ns() > until_ns) {
                p->left_n = p->jobs.n - (size_t)(job - p->jobs.at);
                break;
            }
            if (is_left_out(p, job, round, begun_s))
                continue;
            rc = work_once(p, job, err);
            as_progress_add(&progress, job->cost_ms);
        }
    as_progress_end(&progress);
    return rc;
}

static int write_left(const struct plan *p, struct as_error *err)
{
    char text[256];

    snprintf(text, sizeof text,
             "ceilings: the time ended before %zu of %zu figures were measured: run 'assay "
             "machine --measure memory,peaks'",
             p->left_n, p->jobs.n);
    return replace_figure_finding(p->rig, "ceilings", p->left_n ? text : NULL, err);
}

static int measure_group(struct plan *p, unsigned what, const char *name, bool *stopped,
                         struct as_error *err)
{
    const unsigned budget_ms = p->options->budget_ms ? p->options->budget_ms : 10000;
    const int64_t until_ns =
        what == AS_CEILINGS_NEEDED ? as_monotonic_ns() + (int64_t)budget_ms * 900000 : INT64_MAX;
    struct as_group_time time_of = {.began_ns = as_monotonic_ns()};
    struct as_figure_group group = {.name = name};

    p->jobs.n = p->left_n = 0;
    p->rig->until_ns = until_ns;
    make_plan(p, what);
    if (p->failed)
        return as_error_nomem(err, "the plan of a measurement");
    p->rig->waited_ns = 0;
    AS_TRY(as_group_begin(p->rig->figures, &group, err));
    AS_TRY(work_through(p, what == AS_CEILINGS_MEMORY ? MEMORY_ROUNDS : 1, group.when_s, until_ns,
                        err));
    if (what == AS_CEILINGS_MEMORY && !as_rig_stopped(p->rig))
        AS_TRY(as_rig_report_private(p->rig, err));
    if (!as_rig_stopped(p->rig))
        AS_TRY(write_left(p, err));
    AS_TRY(as_rig_report_afterwards(p->rig, name, err));
    *stopped |= as_rig_stopped(p->rig);
    time_of.waited_s = (double)p->rig->waited_ns / 1e9;
    AS_TRY(as_group_end(p->rig->figures, &group, !as_rig_stopped(p->rig), &time_of, err));
    return save_figures(p, err);
}

int as_measure_ceilings(const struct as_host *host, const struct as_ceilings_options *options,
                        struct as_figures *figures, bool *stopped, struct as_error *err)
{
    static const struct {
        unsigned what;
        const char *name;
    } groups[] = {{AS_CEILINGS_PEAKS, "peaks"},
                  {AS_CEILINGS_MEMORY, "memory"},
                  {AS_CEILINGS_NEEDED, "ceilings"}};
    const bool quick = options->what == AS_CEILINGS_NEEDED;
    struct as_rig *rig = as_calloc(1, sizeof *rig);

    *stopped = false;
    if (!rig)
        return as_error_nomem(err, "the measurement of this machine");
    rig->stop = options->stop;
    rig->trial_n = quick ? 24 : 40;
    rig->trial_ms = quick ? 2 : 3;
    rig->is_quick = quick;
    struct plan plan = {.rig = rig, .options = options};
    int rc = as_rig_init(rig, host, figures, err);
    if (rc == 0) {
        as_rig_see_share(rig);
        struct as_host_load load;
        as_host_load_read(NULL, 0, &load);
        rc = as_rig_report_cpus(rig, load.quota_cpu_n, err);
    }
    for (size_t i = 0; rc == 0 && !*stopped && i < sizeof groups / sizeof *groups; i++)
        if (options->what & groups[i].what)
            rc = measure_group(&plan, groups[i].what, groups[i].name, stopped, err);
    if (rig->core_n)
        as_rig_release(rig);
    as_vec_fini(&plan.jobs);
    as_free(rig);
    return rc;
}
