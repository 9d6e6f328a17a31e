/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a kernel again and again under a gate, and making a figure of the times: what every
 * ceiling of this machine is measured with.
 */
#ifndef AS_MEASURE_RIG_H
#define AS_MEASURE_RIG_H

#include <assay/machine.h>
#include <assay/measure.h>

#include "measure/chain.h"
#include "measure/crew.h"
#include "measure/kernels.h"

#define AS_CORES_MOST 1024
#define AS_LEVELS     4 /* L1, L2, L3; 0 is memory */

/* Which threads a figure is of. */
struct as_scope {
    char name[24];  /* "core", "cores4", "all", "numa0", "numa0to1" */
    const int *cpu; /* one of each core */
    size_t n;
    int node;      /* NUMA node of the memory, where */
    bool is_bound; /* it is not the one that the first touch chooses */
};

/* What several rounds found of one figure: the best, and the next to it. */
struct as_rounds {
    char name[80];
    struct assay_figure best; /* its words are not kept here */
    double second;            /* 0: measured once */
};

#define AS_ROUNDS_MOST 512

/* Memory that lies there already: touching half a gigabyte for the first time takes longer than
 * measuring in it. */
struct as_kept_room {
    struct as_room room; /* `at` NULL: none */
    enum as_pages pages;
    int cpu; /* whose thread touched it first: it lies on that one's node */
};
#define AS_KEPT_ROOMS 8

struct as_rig {
    const struct assay_host *host;
    const struct assay_topology *topology;
    struct assay_figures *figures;
    const volatile int *stop; /* may be NULL */
    struct as_kernel_host kernels;
    struct as_gate gate;
    int core[AS_CORES_MOST]; /* one processor of each usable core */
    size_t core_n;
    int node_core[AS_CORES_MOST]; /* those of the scopes of NUMA nodes */
    double tsc_hz;
    uint64_t cache_b[AS_LEVELS]; /* by level, of the first core */
    uint64_t seen_b[AS_LEVELS];  /* part of it by the latency, where that is less; 0: not known */
    bool sees_memory;            /* the latency has a plateau that is memory's */
    unsigned sharers[AS_LEVELS]; /* cores of all that share that cache; at least 1 */
    uint64_t memory_most_b;      /* that may be touched */
    unsigned trial_n, trial_ms;
    bool is_quick;     /* in seconds: smaller areas, one size of each level */
    int64_t until_ns;  /* of the monotonic clock: then three trials are enough */
    bool small_only;   /* no huge pages were given: said once */
    int64_t waited_ns; /* in trials that others disturbed */
    struct as_rounds rounds[AS_ROUNDS_MOST];
    size_t rounds_n;
    struct as_kept_room kept[AS_KEPT_ROOMS]; /* memory that the last benches left */
};

int as_rig_init(struct as_rig *rig, const struct assay_host *host, struct assay_figures *figures,
                struct assay_error *err);
/* Where the main thread may run again; memory that was kept is given back. */
void as_rig_release(struct as_rig *rig);
static inline bool as_rig_stopped(const struct as_rig *rig)
{
    return rig->stop && *rig->stop;
}

/* What came of trials. */
struct as_trials {
    double best_s;        /* 5th percentile of the times of one pass over `n` by all */
    double spread;        /* the median over it, less 1 */
    double core_per_tick; /* median beside the trials, of the first processor */
    unsigned sample_n;
    bool is_calm;
};

/*
 * Runs `kernel` on the parts of a crew: as many passes as fill a trial, then trials. False when it
 * was stopped before three of them.
 */
bool as_rig_run(struct as_rig *rig, struct as_crew *crew, const struct as_crew_part *first,
                as_kernel_fn *kernel, struct as_trials *out);
/* The same estimate from times that are there; sorts them. `clean` NULL: all. */
void as_trials_estimate(double *second, const bool *clean, size_t n, struct as_trials *out);

/* Keeps a figure: `value` from the trials' best time. Measured again, the better one stays (less of
 * "ns", more of others; a calm one in any case), and its spread is at least how far the next best
 * is from it: who runs on the other hardware thread, or beside us in a cache, only takes away. */
int as_rig_keep(struct as_rig *rig, const char *name, double value, const char *unit,
                const struct as_trials *trials, struct assay_error *err);

/* A crew for a scope, with `arrays` of `n` bytes each, filled by their users. */
struct as_bench {
    struct as_rig *rig;
    struct as_crew_part part[AS_CORES_MOST];
    size_t n;
    struct as_room room[AS_CORES_MOST];
    enum as_pages pages;
    bool is_bound; /* to a NUMA node: its memory is not kept */
    struct as_crew *crew;
};
/* `*out` is heap memory. LIMIT: not enough memory. */
int as_bench_open(struct as_rig *rig, const struct as_scope *scope, size_t arrays, size_t n,
                  enum as_pages pages, struct as_bench **out, struct assay_error *err);
/* Large areas stay with the rig, for the next one. */
void as_bench_close(struct as_bench **bench);
void as_bench_forget_rooms(struct as_rig *rig);

/* ---- Kinds of figures -------------------------------------------------------------------------
 */

/* One figure, or a curve, to be measured. */
struct as_job {
    char name[64];
    unsigned cost_ms; /* about */
    int (*work)(struct as_rig *rig, const struct as_job *job, struct assay_error *err);
    struct as_scope scope;
    unsigned level; /* 0: memory */
    enum as_stream stream;
    bool nontemporal, gathers;
    unsigned stride_b;
    enum as_pages pages;
    struct as_arithmetic arithmetic;
};

int as_job_stream(struct as_rig *rig, const struct as_job *job, struct assay_error *err);
int as_job_stride(struct as_rig *rig, const struct as_job *job, struct assay_error *err);
int as_job_gather(struct as_rig *rig, const struct as_job *job, struct assay_error *err);
int as_job_latency(struct as_rig *rig, const struct as_job *job, struct assay_error *err);
int as_job_peak(struct as_rig *rig, const struct as_job *job, struct assay_error *err);

const char *as_level_name(unsigned level);
/* Looks in the latency that was measured for the part of the last cache that this machine has. */
void as_rig_see_share(struct as_rig *rig);
/* Bytes for one thread of a scope so that all that it touches lies in the level; 0: there is no
 * such level, or nothing fits between it and the one below. */
size_t as_level_b(const struct as_rig *rig, unsigned level, const struct as_scope *scope);
/* Several of them, as bandwidth changes with the length of streams (190 to 250 GB/s in the second
 * cache of Zen 5): parts of what this machine has of the level. Returns how many. */
enum { AS_LEVEL_SIZES = 4 };
size_t as_level_sizes(const struct as_rig *rig, unsigned level, const struct as_scope *scope,
                      size_t size_b[AS_LEVEL_SIZES]);

/* ---- Scopes (nodes.c) ------------------------------------------------------------------------ */

#define AS_NODES_MAX 64

/* Writes scopes of 2, 4, 8, ... cores, fewer than all; returns how many. */
size_t as_rig_part_scopes(const struct as_rig *rig, struct as_scope *scope, size_t max);
/* Writes a scope for the memory of each NUMA node by the cores beside it, then the pairs of nodes.
 * Returns how many; 0 on a machine with one node. */
size_t as_rig_node_scopes(struct as_rig *rig, struct as_scope *scope, size_t max);

/* ---- Circumstances (ceilings.c) ----------------------------------------------------------------
 */

/* Findings about processors that may not be used and a quota of the control group (up to 0: none),
 * or none any more. */
int as_rig_report_cpus(struct as_rig *rig, double quota_cpu_n, struct assay_error *err);
/* About a level that has no room for what would miss the caches below it: it has no figures. */
int as_rig_report_small_cache(struct as_rig *rig, unsigned level, const struct as_scope *scope,
                              struct assay_error *err);
/* About caches of one core each whose bandwidths for all cores are far less than together. */
int as_rig_report_private(struct as_rig *rig, struct assay_error *err);
/* About huge pages that were not given, and figures of a group that somebody disturbed. */
int as_rig_report_afterwards(struct as_rig *rig, const char *group, struct assay_error *err);

#endif
