/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a kernel repeatedly under a gate and makes a figure of the times. All ceilings of a machine
 * are measured with it.
 */
#ifndef AS_MEASURE_RIG_H
#define AS_MEASURE_RIG_H

#include "machine/machine.h"
#include "measure/chain.h"
#include "measure/crew.h"
#include "measure/kernels.h"
#include "measure/measure.h"

#define AS_CORES_MOST 1024
#define AS_LEVELS     4 /* L1, L2, L3; 0 is memory */

/* Threads of a figure. */
struct as_scope {
    char name[24];  /* "core", "cores4", "all", "numa0", "numa0to1" */
    const int *cpu; /* one CPU of each core */
    size_t n;
    int node;      /* NUMA node of the memory if `is_bound` */
    bool is_bound; /* memory is bound to `node`, not placed by first touch */
};

/* Best and second best value of a figure over several rounds. */
struct as_rounds {
    char name[80];
    struct as_figure best; /* its strings are not valid */
    double second;         /* 0: measured once */
};

#define AS_ROUNDS_MOST 512

/* Memory that stays mapped: the first touch of half a gigabyte takes longer than a measurement. */
struct as_kept_room {
    struct as_room room; /* `at` NULL: none */
    enum as_pages pages;
    int cpu; /* the CPU that touched it first; it is on the node of this CPU */
};
#define AS_KEPT_ROOMS 8

struct as_rig {
    const struct as_host *host;
    const struct as_topology *topology;
    struct as_figures *figures;
    const volatile int *stop; /* may be NULL */
    struct as_kernel_host kernels;
    struct as_gate gate;
    int core[AS_CORES_MOST]; /* one CPU of each usable core */
    size_t core_n;
    int node_core[AS_CORES_MOST]; /* CPUs of the scopes of NUMA nodes */
    double tsc_hz;
    uint64_t cache_b[AS_LEVELS]; /* by level, of the first core */
    /* By level: smaller size that the latency shows; 0: none. */
    uint64_t seen_b[AS_LEVELS];
    bool sees_memory;            /* the latency has a plateau of memory */
    unsigned sharers[AS_LEVELS]; /* cores that share this cache; at least 1 */
    uint64_t memory_most_b;      /* max memory that may be touched */
    unsigned trial_n, trial_ms;
    bool is_quick;     /* a run of seconds: smaller areas, one size per level */
    int64_t until_ns;  /* monotonic time after which three trials are enough */
    bool small_only;   /* the kernel gave no huge pages; reported once */
    int64_t waited_ns; /* time in trials with external load */
    struct as_rounds rounds[AS_ROUNDS_MOST];
    size_t rounds_n;
    struct as_kept_room kept[AS_KEPT_ROOMS]; /* memory of earlier benches */
};

int as_rig_init(struct as_rig *rig, const struct as_host *host, struct as_figures *figures,
                struct as_error *err);
/* Restores the affinity of the main thread and frees the kept memory. */
void as_rig_release(struct as_rig *rig);
static inline bool as_rig_stopped(const struct as_rig *rig)
{
    return rig->stop && *rig->stop;
}

/* Result of trials. */
struct as_trials {
    double best_s; /* 5th percentile of the times of one pass over `n` by all threads */
    double spread; /* median over `best_s`, minus 1 */
    /* Median core cycles per tick beside the trials, on the first CPU. */
    double core_per_tick;
    unsigned sample_n;
    bool is_calm;
};

/*
 * Runs `kernel` on the parts of a crew, first to find the passes per trial, then for the trials.
 * Returns false if it was stopped before the third trial.
 */
bool as_rig_run(struct as_rig *rig, struct as_crew *crew, const struct as_crew_part *first,
                as_kernel_fn *kernel, struct as_trials *out);
/* Computes the same estimate from given times, and sorts them. `clean` NULL: all times are
 * clean. */
void as_trials_estimate(double *second, const bool *clean, size_t n, struct as_trials *out);

/* Stores a figure; `value` belongs to the best time of the trials. A repeated measurement replaces
 * a worse one: less is better for "ns", more for other units, and calm is better than noisy. Its
 * spread is at least the distance to the next best. The other hardware thread and other users of a
 * cache only make figures worse. */
int as_rig_keep(struct as_rig *rig, const char *name, double value, const char *unit,
                const struct as_trials *trials, struct as_error *err);

/* A crew for a scope, with arrays of `n` bytes for each thread. */
struct as_bench {
    struct as_rig *rig;
    struct as_crew_part part[AS_CORES_MOST];
    size_t n;
    struct as_room room[AS_CORES_MOST];
    enum as_pages pages;
    bool is_bound; /* bound to a NUMA node: the memory is not kept */
    struct as_crew *crew;
};
/* `*out` is heap memory; release it with as_bench_close. Errors: LIMIT (not enough memory), NOMEM,
 * IO. */
int as_bench_open(struct as_rig *rig, const struct as_scope *scope, size_t arrays, size_t n,
                  enum as_pages pages, struct as_bench **out, struct as_error *err);
/* Closes a bench. The rig keeps large areas for the next one. */
void as_bench_close(struct as_bench **bench);
void as_bench_forget_rooms(struct as_rig *rig);

/* ---- Kinds of figures ------------------------------------------------------------------------ */

/* One figure or curve to measure. */
struct as_job {
    char name[64];
    unsigned cost_ms; /* estimated time */
    int (*work)(struct as_rig *rig, const struct as_job *job, struct as_error *err);
    struct as_scope scope;
    unsigned level; /* 0: memory */
    enum as_stream_kernel stream;
    bool nontemporal, gathers;
    unsigned stride_b;
    enum as_pages pages;
    struct as_arithmetic arithmetic;
};

int as_job_stream(struct as_rig *rig, const struct as_job *job, struct as_error *err);
int as_job_stride(struct as_rig *rig, const struct as_job *job, struct as_error *err);
int as_job_gather(struct as_rig *rig, const struct as_job *job, struct as_error *err);
int as_job_latency(struct as_rig *rig, const struct as_job *job, struct as_error *err);
int as_job_peak(struct as_rig *rig, const struct as_job *job, struct as_error *err);

const char *as_level_name(unsigned level);
/* Finds the usable part of the last cache in the measured latency. */
void as_rig_see_share(struct as_rig *rig);
/* Returns the bytes per thread of a scope so that all touched memory is in the level. Returns 0 if
 * the level does not exist, or if no size fits between it and the level below. */
size_t as_level_b(const struct as_rig *rig, unsigned level, const struct as_scope *scope);
/* Writes several sizes, because bandwidth depends on the length of streams (190 to 250 GB/s in the
 * second cache of Zen 5). They are parts of the usable level. Returns how many. */
enum { AS_LEVEL_SIZES = 4 };
size_t as_level_sizes(const struct as_rig *rig, unsigned level, const struct as_scope *scope,
                      size_t size_b[AS_LEVEL_SIZES]);

/* ---- Scopes (nodes.c) ------------------------------------------------------------------------ */

#define AS_NODES_MAX 64

/* Writes scopes of 2, 4, 8, ... cores, fewer than all. Returns how many. */
size_t as_rig_part_scopes(const struct as_rig *rig, struct as_scope *scope, size_t max);
/* Writes a scope for the memory of each NUMA node with its own cores, then all pairs of nodes.
 * Returns how many; 0 on a machine with one node. */
size_t as_rig_node_scopes(struct as_rig *rig, struct as_scope *scope, size_t max);

/* ---- Circumstances (ceilings.c) -------------------------------------------------------------- */

/* Adds findings about unusable CPUs and about the CPU quota of the control group (<= 0: none).
 * Removes outdated ones. */
int as_rig_report_cpus(struct as_rig *rig, double quota_cpu_n, struct as_error *err);
/* Adds a finding for a level too small to miss the caches below it. Such a level has no figures. */
int as_rig_report_small_cache(struct as_rig *rig, unsigned level, const struct as_scope *scope,
                              struct as_error *err);
/* Adds findings for private caches with much less bandwidth on all cores than cores times one
 * core. */
int as_rig_report_private(struct as_rig *rig, struct as_error *err);
/* Adds findings for missing huge pages and for figures of a group with external load. */
int as_rig_report_afterwards(struct as_rig *rig, const char *group, struct as_error *err);

#endif
