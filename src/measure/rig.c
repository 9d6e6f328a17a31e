/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials of a kernel. Each is long in comparison to the clock resolution and to the wakeup of
 * threads. The chain gives the frequency around each trial. The canary detects external load on the
 * core.
 */
#include "measure/rig.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "measure/plateau.h"

#define TRIALS_MOST 256
/* One thread needs no common start, so more and shorter trials fit between disturbances. */
#define SHORTER 4
/* A pass over a large area takes a tenth of a second. The usual number of trials would take
 * minutes. Above this size fewer and shorter trials are enough. */
#define MEMORY_ENOUGH_B ((uint64_t)512 << 20)
/* Canaries per check. After a thread switch the first two or three are slower by a tenth on some
 * virtual machines. External load leaves none as fast as a calm one. */
enum { LOOK = 6 };
enum { TRIALS_OF_LONG = 8, LONG_MS = 600 };

/* ---- The rig --------------------------------------------------------------------------------- */

/* Returns the value of a line "NAME N kB" of /proc/meminfo in bytes, or 0. */
static uint64_t meminfo_b(const char *name)
{
    char line[128];
    uint64_t found = 0;
    FILE *f = fopen("/proc/meminfo", "re");

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            found = strtoull(line + strlen(name), NULL, 10) * 1024;
    if (f)
        fclose(f);
    return found;
}

/* Returns a quarter of the free memory of the machine and of the control group. */
static uint64_t memory_to_use(const struct as_host *host)
{
    uint64_t free_b = meminfo_b("MemAvailable:");

    for (size_t i = 0; i < host->fact_n; i++)
        if (strcmp(host->fact[i].name, "cgroup_memory_max") == 0) {
            const uint64_t limit_b = strtoull(host->fact[i].value, NULL, 10); /* "max" gives 0 */
            free_b = limit_b && limit_b < free_b ? limit_b : free_b;
        }
    return free_b / 4;
}

static void read_levels(struct as_rig *rig)
{
    for (unsigned level = 1; level < AS_LEVELS; level++) {
        unsigned processors;
        const unsigned cpu = (unsigned)rig->core[0];
        rig->cache_b[level] = as_topology_cache_b(rig->topology, cpu, level, &processors);
        const int64_t a_core =
            rig->topology->core_n > 0 ? rig->topology->cpu_n / rig->topology->core_n : 1;
        rig->sharers[level] = a_core > 0 ? processors / (unsigned)a_core : processors;
        if (rig->sharers[level] == 0)
            rig->sharers[level] = 1;
    }
}

static void pin_main(int cpu)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int as_rig_init(struct as_rig *rig, const struct as_host *host, struct as_figures *figures,
                struct as_error *err)
{
    rig->host = host;
    rig->topology = host->topology;
    rig->figures = figures;
    rig->tsc_hz = (double)host->tsc_hz;
    as_kernel_host_read(&rig->kernels);
    if (rig->topology)
        rig->core_n = as_topology_cores(rig->topology, -1, rig->core, AS_CORES_MOST);
    if (!rig->topology || rig->core_n == 0)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "measuring: the CPUs of this machine are unknown (no /sys?)");
    if (rig->core_n > AS_CORES_MOST)
        rig->core_n = AS_CORES_MOST;
    read_levels(rig);
    rig->memory_most_b = memory_to_use(host);
    pin_main(rig->core[0]);
    as_gate_calibrate(&rig->gate, 60);
    return 0;
}

void as_rig_release(struct as_rig *rig)
{
    cpu_set_t all;

    as_bench_forget_rooms(rig);
    CPU_ZERO(&all);
    for (size_t i = 0; i < rig->topology->place_n; i++) {
        const struct as_place *p = &rig->topology->place[i];
        if (p->kind == AS_PLACE_PU && p->usable && p->number >= 0 && p->number < CPU_SETSIZE)
            CPU_SET((size_t)p->number, &all);
    }
    sched_setaffinity(0, sizeof all, &all);
}

/* ---- Trials ---------------------------------------------------------------------------------- */

/* Finds the number of passes that takes about as long as a trial, by doubling. */
static size_t passes_for(struct as_rig *rig, struct as_crew *crew, as_kernel_fn *kernel)
{
    /* Trials are short so that most are undisturbed. Several threads start at different times. */
    const int64_t wanted_ns =
        (int64_t)rig->trial_ms * (as_crew_size(crew) > 1 ? 2000000 : 1000000 / SHORTER);
    size_t passes = 1;

    for (;;) {
        as_crew_passes(crew, passes);
        int64_t ns = INT64_MAX;
        for (unsigned i = 0; i < 3; i++) { /* an interrupted run would look long enough */
            const int64_t once_ns = as_crew_run(crew, kernel);
            ns = once_ns < ns ? once_ns : ns;
            if (ns > 4 * wanted_ns)
                break;
        }
        if (ns >= wanted_ns / 2 || as_rig_stopped(rig))
            return passes;
        const double grow = (double)wanted_ns / (double)ns;
        passes = (size_t)((double)passes * (grow > 8 ? 8 : grow < 1.2 ? 1.2 : grow)) + 1;
    }
}

bool as_rig_run(struct as_rig *rig, struct as_crew *crew, const struct as_crew_part *first,
                as_kernel_fn *kernel, struct as_trials *out)
{
    double second[TRIALS_MOST], ratio[TRIALS_MOST];
    bool clean[TRIALS_MOST];
    const unsigned wanted = rig->trial_n * (as_crew_size(crew) > 1 ? 1 : SHORTER);
    const unsigned most = wanted < TRIALS_MOST ? wanted : TRIALS_MOST;
    const int64_t enough_ns =
        as_monotonic_ns() + (int64_t)rig->trial_n * (rig->trial_ms + 1) * 2000000;
    unsigned n = 0;

    pin_main(first->cpu);
    const size_t passes = passes_for(rig, crew, kernel);
    const int64_t long_ns = as_monotonic_ns() + LONG_MS * INT64_C(1000000);
    as_crew_passes(crew, passes);
    while (n < most && !as_rig_stopped(rig) && (n < 3 || as_monotonic_ns() < rig->until_ns) &&
           (n < rig->trial_n || as_monotonic_ns() < enough_ns) &&
           (n < TRIALS_OF_LONG || as_monotonic_ns() < long_ns)) {
        const int64_t began_ns = as_monotonic_ns();
        const bool calm_before = as_gate_passes(&rig->gate, LOOK) > 0;
        second[n] = (double)as_crew_run(crew, kernel) / 1e9 / (double)passes;
        const uint64_t chain =
            as_chain_ticks(); /* at once: the frequency is still that of the kernel */
        ratio[n] = as_gate_cycles(&rig->gate) / (double)chain;
        clean[n] = calm_before && as_gate_passes(&rig->gate, LOOK) > 0;
        rig->waited_ns += clean[n] ? 0 : as_monotonic_ns() - began_ns;
        n++;
    }
    as_trials_estimate(second, clean, n, out);
    out->core_per_tick = as_sample_quantile(ratio, n, 0.5);
    return n >= 3 || n == most;
}

void as_trials_estimate(double *second, const bool *clean, size_t n, struct as_trials *out)
{
    size_t clean_n = 0;

    for (size_t i = 0; clean && i < n; i++)
        clean_n += clean[i];
    out->is_calm = !clean || clean_n >= (n + 2) / 3;
    if (clean && out->is_calm) {
        size_t kept = 0;
        for (size_t i = 0; i < n; i++)
            if (clean[i])
                second[kept++] = second[i];
        n = kept;
    }
    out->sample_n = (unsigned)n;
    out->best_s = as_sample_quantile(second, n, 0.05);
    out->spread = n ? as_sample_quantile(second, n, 0.5) / out->best_s - 1 : -1;
}

static bool is_better(const struct as_figure *a, const struct as_figure *b)
{
    if (a->is_calm != b->is_calm)
        return a->is_calm;
    return strcmp(a->unit, "ns") == 0 ? a->value < b->value : a->value > b->value;
}

/* Returns the rounds of a figure, or NULL if the list is full. */
static struct as_rounds *rounds_of(struct as_rig *rig, const char *name)
{
    for (size_t i = 0; i < rig->rounds_n; i++)
        if (strcmp(rig->rounds[i].name, name) == 0)
            return &rig->rounds[i];
    if (rig->rounds_n == AS_ROUNDS_MOST)
        return NULL;
    struct as_rounds *r = &rig->rounds[rig->rounds_n++];
    snprintf(r->name, sizeof r->name, "%s", name);
    return r;
}

static void add_round(struct as_rounds *r, struct as_figure *figure)
{
    const bool is_first = !r->best.unit;

    if (is_first || is_better(figure, &r->best)) {
        r->second = is_first ? 0 : r->best.value;
        r->best = *figure;
    } else if (r->second == 0 ||
               fabs(figure->value - r->best.value) < fabs(r->second - r->best.value)) {
        r->second = figure->value;
    }
    *figure = r->best;
    if (r->second > 0)
        figure->spread =
            fmax(figure->spread, fabs(r->second - r->best.value) / fmax(r->second, r->best.value));
}

int as_rig_keep(struct as_rig *rig, const char *name, double value, const char *unit,
                const struct as_trials *trials, struct as_error *err)
{
    struct as_figure figure = {.name = name,
                               .unit = unit,
                               .value = value,
                               .spread = trials->spread,
                               .sample_n = trials->sample_n,
                               .is_calm = trials->is_calm,
                               .when_s = (int64_t)time(NULL)};

    if (!isfinite(value) || value <= 0)
        return 0; /* no trial was completed */
    struct as_rounds *rounds = rounds_of(rig, name);
    if (rounds)
        add_round(rounds, &figure);
    figure.name = name;
    figure.unit = unit;
    return as_figures_set(rig->figures, &figure, err);
}

/* ---- Levels ---------------------------------------------------------------------------------- */

const char *as_level_name(unsigned level)
{
    static const char *const name[AS_LEVELS] = {"memory", "L1", "L2", "L3"};
    assert((unsigned)level < sizeof name / sizeof *name);
    return name[level];
}

/* Returns the bytes per thread of an area in memory. The total is four times the last caches of the
 * scope. It is twice these caches if they are large or time is short. Eight times the usable part
 * of the last cache is enough if the latency shows it and memory. The total is at least 64 MiB. */
static size_t memory_for(const struct as_rig *rig, const struct as_scope *scope)
{
    unsigned last = 1;

    for (unsigned level = 1; level < AS_LEVELS; level++)
        last = rig->cache_b[level] ? level : last;
    const uint64_t cache_b = rig->cache_b[last], seen_b = rig->seen_b[last],
                   sharers = rig->sharers[last] ? rig->sharers[last] : 1,
                   last_b = cache_b * ((scope->n + sharers - 1) / sharers);
    uint64_t all_b = (rig->is_quick || 4 * last_b > MEMORY_ENOUGH_B ? 2 : 4) * last_b;

    if (all_b < 4 * last_b && 4 * last_b > MEMORY_ENOUGH_B && all_b < MEMORY_ENOUGH_B)
        all_b = MEMORY_ENOUGH_B;
    if (seen_b && seen_b < cache_b && rig->sees_memory && 8 * seen_b < all_b)
        all_b = 8 * seen_b;
    all_b = all_b < (64u << 20) ? 64u << 20 : all_b;
    all_b = all_b > rig->memory_most_b ? rig->memory_most_b : all_b;
    return all_b / scope->n;
}

void as_rig_see_share(struct as_rig *rig)
{
    enum { POINTS = 256 };
    double x[POINTS], y[POINTS];
    struct as_plateau plateau[AS_PLATEAUS_MOST];
    size_t n = 0;

    for (size_t i = 0; i < rig->figures->point_n && n < POINTS; i++) {
        const struct as_figure_point *p = &rig->figures->point[i];
        if (strcmp(p->curve, "latency.huge") != 0)
            continue;
        x[n] = p->x;
        y[n++] = p->y;
    }
    const size_t found = as_plateaus_find(x, y, n, plateau);
    as_plateaus_name(plateau, found, rig->cache_b);
    memset(rig->seen_b, 0, sizeof rig->seen_b);
    rig->sees_memory = false;
    for (size_t i = 0; i < found; i++) {
        if (plateau[i].is_share)
            rig->seen_b[plateau[i].level] = (uint64_t)plateau[i].last_b;
        rig->sees_memory |= plateau[i].level == 0;
    }
}

/* Returns the usable size: a hypervisor grants a part of the reported cache, or others fill the
 * rest. */
static uint64_t part_of_level(const struct as_rig *rig, unsigned level)
{
    const uint64_t seen_b = rig->seen_b[level];
    return seen_b && seen_b < rig->cache_b[level] ? seen_b : rig->cache_b[level];
}

size_t as_level_b(const struct as_rig *rig, unsigned level, const struct as_scope *scope)
{
    const uint64_t size_b = part_of_level(rig, level);
    uint64_t below_b = 0;

    if (level == 0)
        return memory_for(rig, scope);
    for (unsigned l = 1; l < level; l++)
        below_b = rig->cache_b[l] ? rig->cache_b[l] : below_b;
    const unsigned with = scope->n < rig->sharers[level] ? (unsigned)scope->n : rig->sharers[level];
    uint64_t part_b = size_b / 2 / with;
    /* Half of a small share may be too little for all cores. */
    if (part_b < 2 * below_b)
        part_b = size_b / 4 * 3 / with;
    /* Uses only enough of a large shared cache to miss the cache below. */
    if (below_b && part_b > 6 * below_b)
        part_b = 6 * below_b;
    return part_b >= 2 * below_b ? part_b : 0;
}

size_t as_level_sizes(const struct as_rig *rig, unsigned level, const struct as_scope *scope,
                      size_t size_b[AS_LEVEL_SIZES])
{
    static const double share[] = {0.25, 0.5, 0.9};
    const unsigned with = scope->n < rig->sharers[level] ? (unsigned)scope->n : rig->sharers[level];
    uint64_t below_b = 0;
    size_t n = 0;

    size_b[0] = as_level_b(rig, level, scope);
    n += size_b[0] > 0;
    if (level == 0 || n == 0 || rig->is_quick)
        return n;
    for (unsigned l = 1; l < level; l++)
        below_b = rig->cache_b[l] ? rig->cache_b[l] : below_b;
    for (size_t i = 0; i < sizeof share / sizeof *share; i++) {
        const double wanted_b = share[i] * (double)part_of_level(rig, level) / with;
        if (wanted_b >= 2 * (double)below_b)
            size_b[n++] = (size_t)wanted_b;
    }
    return n;
}
