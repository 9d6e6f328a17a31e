/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine: what this host is and how it is set up, as far as it matters to speed. Sources:
 * cpuid, /proc, /sys (doc/internals/machine.md). Knows nothing of programs.
 */
#ifndef AS_MACHINE_MACHINE_H
#define AS_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct as_host_fact {
    const char *name, *value; /* "governor", "performance"; names in doc/reference/machine.md */
};

/* ---- Topology ------------------------------------------------------------------------------- */

#define AS_PLACE_LIST(X)                                                                           \
    X(MACHINE, "machine")                                                                          \
    X(PACKAGE, "package")                                                                          \
    X(DIE, "die")                                                                                  \
    X(GROUP, "group")                                                                              \
    X(NUMA, "memory") /* a NUMA node; stands below what it is near to */                           \
    X(CACHE, "cache")                                                                              \
    X(CORE, "core")                                                                                \
    X(PU, "processor") /* what the kernel schedules on: a hardware thread */

enum as_place_kind {
#define AS_PLACE_ENUM(name, word) AS_PLACE_##name,
    AS_PLACE_LIST(AS_PLACE_ENUM)
#undef AS_PLACE_ENUM
        AS_PLACE_KINDS
};

const char *as_place_word(unsigned kind);

/* One thing in the tree of the machine; a place stands behind the one it is in. */
struct as_place {
    uint8_t kind;  /* as_place_kind */
    uint8_t level; /* caches: 1, 2, ... */
    char cache;    /* 'd' data, 'i' instructions, 'u' both */
    bool usable;   /* CPUs: usable by this process, by affinity and cpuset */
    int16_t
        efficiency;  /* cores of several kinds: 0 is the least fast; -1: one kind, or not known */
    uint16_t ways;   /* caches: 0 not known, 65535 all */
    uint32_t parent; /* index; its own for the machine */
    int32_t number;  /* as the kernel counts, -1 not known */
    uint32_t line_b;
    uint64_t size_b;    /* caches and memory; 0 not known */
    const char *memory; /* its kind: "DRAM", "HBM", "MCDRAM", ...; NULL elsewhere */
};

/* Immutable; thread-safe. -1: not known. */
struct as_topology {
    const struct as_place *place; /* [0] is the machine */
    size_t place_n;
    int64_t package_n, numa_n, core_n, cpu_n;
    int64_t usable_cpu_n;    /* CPUs usable by this process, -1 for another machine */
    int64_t core_kind_n;     /* kinds of cores: 2 on a hybrid CPU */
    const char *cpu_model;   /* as a file of another machine says, NULL: not known */
    const char *memory_most; /* the kind of most of its memory */
};

/*
 * Reads this machine (both NULL), a recorded one (`root`, a directory with its sys/ and proc/), or
 * the one that hwloc described in the XML file `xml`. Changes environment variables while it works:
 * not thread-safe. Errors: NOT_FOUND, CORRUPT (unreadable parts), NOMEM.
 */
int as_topology_read(const char *root, const char *xml, struct as_topology **out,
                     struct as_error *err);
void as_topology_free(struct as_topology **topology); /* NULL inside is fine */

/* Returns the NUMA node of a CPU, by kernel numbers; -1 if unknown. */
int as_topology_numa_of(const struct as_topology *topology, unsigned cpu);
/* Returns the bytes of the data cache of a level of CPU `cpu`, and the number of CPUs that share
 * it (`sharers` may be NULL); 0: none. */
uint64_t as_topology_cache_b(const struct as_topology *topology, unsigned cpu, unsigned level,
                             unsigned *sharers);
/* Writes the first usable CPU of each core, ascending, at most `most` of them, and returns their
 * number. `numa` >= 0: of that node only. */
size_t as_topology_cores(const struct as_topology *topology, int numa, int *cpu, size_t most);

/* ---- The host -------------------------------------------------------------------------------- */

/* Name of the micro-architecture ("zen5"), or NULL; `words` (may be NULL) for people. */
const char *as_microarchitecture_of(const char *vendor, int64_t family, int64_t model,
                                    int64_t stepping, const char **words);

/* Texts NULL, numbers -1: not known. Belongs to the host object. */
struct as_host {
    const char *name, *kernel, *os;
    const char *cpu_vendor; /* "GenuineIntel", "AuthenticAMD" */
    const char *cpu_model;
    const char *microarchitecture;       /* "zen5"; NULL: none that is known */
    const char *microarchitecture_words; /* "AMD Zen 5" */
    const char *core_doubt; /* a sentence where model and instructions contradict each other, or no
                               table is of this core; NULL: neither */
    const char *hypervisor; /* "KVM", ...; NULL on bare metal */
    const char *tsc_origin; /* "cpuid", "hypervisor", "kernel", "measured" */
    int64_t cpu_family, cpu_model_number, cpu_stepping; /* family and model with their extensions */
    uint64_t cpu_features;                              /* as in struct as_processor */
    unsigned cpu_cache_kib[3];
    int64_t socket_n, core_n, cpu_n, numa_n; /* of the topology: those that are online */
    int64_t memory_b;
    int64_t tsc_hz;
    int64_t base_hz, max_hz;
    const struct as_host_fact *fact;
    size_t fact_n;
    const struct as_topology *topology; /* NULL: not known */
};

/*
 * Reads the host; what cannot be read is left unknown. `root` NULL is this machine; else a
 * directory with a recorded machine's proc/, sys/ and etc/ (tests), of which only files are read.
 * Takes some milliseconds where the TSC must be measured. Errors: NOMEM.
 */
int as_host_read(const char *root, struct as_host **out, struct as_error *err);
void as_host_free(struct as_host **host); /* NULL inside is fine */

/* Returns the NUMA node of a CPU (kernel numbers), -1 if unknown. */
int as_host_numa_of(const struct as_host *host, unsigned cpu);

/* Usable CPUs of a process and their activity since boot; the difference of two readings is the
 * activity in between. -1: unknown. */
struct as_host_load {
    double usable_cpu_n; /* by affinity and the quotas of its control groups */
    double quota_cpu_n;  /* by the quotas alone; -1: there is none */
    int64_t busy_ns;     /* of all those CPUs, for any process */
    int64_t steal_ns;    /* the hypervisor gave them to others */
    int64_t pressure_ns; /* time in which a task on the machine waited for a CPU */
};

/* Reads the load of `pid`, 0 for this process. `root` as above. CPUs of an affinity count as
 * whole ones, even under a quota. */
void as_host_load_read(const char *root, long pid, struct as_host_load *load);

/* Between readings that are nearer to each other, busy CPUs are not known: the kernel counts in
 * ticks of 4 to 10 ms. */
#define AS_LOAD_WALL_NS 100000000

/* Use of these CPUs by other processes between two readings. */
struct as_external_load {
    double used_cpu_n; /* CPUs on average, those that the hypervisor took among them, not more than
                          there are; -1: not known */
    double able_cpu_n; /* usable ones */
    bool is_high;      /* timings are unreliable: a fifth of them or more */
};

/* Between the readings `wall_ns` passed, and the caller and its children used `own_ns` of CPU time.
 */
struct as_external_load as_external_load_of(const struct as_host_load *before,
                                            const struct as_host_load *after, int64_t wall_ns,
                                            int64_t own_ns);

/* ---- Measured figures ------------------------------------------------------------------------ */

/* A measured figure of a machine: a ceiling of memory or arithmetic (doc/reference/machine.md
 * has the names). */
struct as_figure {
    const char *name;  /* "bandwidth.triad.L2.core" */
    const char *unit;  /* "B/s", "ns", "op/s", "Hz" */
    double value;      /* in units */
    double spread;     /* of its samples, relative; below 0: not known */
    uint32_t sample_n; /* samples that count */
    bool is_calm;      /* no neighbour was noticed meanwhile */
    int64_t when_s;    /* since 1970 UTC */
};

/* How far to trust a figure: "high", "medium", "low". */
const char *as_figure_confidence(const struct as_figure *figure);

/* A point of a curve: latency over the size of what is accessed. */
struct as_figure_point {
    const char *curve; /* "latency.huge" */
    double x, y;
};

/* Something that lessens trust in figures, or that they contradict. */
struct as_figure_finding {
    const char *name; /* of a figure or a kind of them */
    const char *text; /* a sentence */
};

/* How far the measuring of a group of figures has come. */
struct as_figure_group {
    const char *name; /* "memory", "peaks", "ceilings", "instructions" */
    bool is_done;
    int64_t when_s;  /* begun, or done */
    double took_s;   /* by the wall, with what was done before it was cut off; 0: not known */
    double waited_s; /* of it in samples that others disturbed: they do not count */
};

/* Belongs to whoever opened it; not for two threads at once. */
struct as_figures {
    const struct as_host_fact *fact; /* of the machine: name, cpu, memory, hypervisor, ... */
    size_t fact_n;
    const struct as_figure *figure;
    size_t figure_n;
    const struct as_figure_point *point;
    size_t point_n;
    const struct as_figure_finding *finding;
    size_t finding_n;
    const struct as_figure_group *group;
    size_t group_n;
};

/* None yet, of `host` (NULL: of no machine). Errors: NOMEM. */
int as_figures_new(const struct as_host *host, struct as_figures **out, struct as_error *err);
/* Opens a file of figures. Errors: NOT_FOUND, CORRUPT (line and fault), IO, NOMEM. */
int as_figures_open(const char *path, struct as_figures **out, struct as_error *err);
void as_figures_free(struct as_figures **figures); /* NULL inside is fine */
/* Replaces the file at once or not at all; makes its directory. Errors: IO, NOMEM. */
int as_figures_save(const struct as_figures *figures, const char *path, struct as_error *err);
/* Writes the path of a host's figures for this user: in $XDG_DATA_HOME/assay/machines, by name,
 * CPU, memory and hypervisor. Returns false without a home directory. */
bool as_figures_path(const struct as_host *host, char *out, size_t out_b);
/* Those that are kept of this machine; NULL in `out`: none. Errors: as open, and of reading what
 * the machine is. */
int as_figures_of_host(struct as_figures **out, struct as_error *err);
/* Writes the path of the measured core table for CPUs like this host's: by vendor, family, model
 * and stepping, for any host name. Returns false without a home directory. */
bool as_core_table_path(const struct as_host *host, char *out, size_t out_b);
/* That directory. */
bool as_figures_directory(char *out, size_t out_b);

const struct as_figure *as_figures_find(const struct as_figures *figures, const char *name);
const char *as_figures_fact(const struct as_figures *figures, const char *name);
/* Texts are copied; what has the same name is replaced. Errors: NOMEM. */
int as_figures_set(struct as_figures *figures, const struct as_figure *figure,
                   struct as_error *err);
int as_figures_set_fact(struct as_figures *figures, const char *name, const char *value,
                        struct as_error *err);
int as_figures_set_group(struct as_figures *figures, const struct as_figure_group *group,
                         struct as_error *err);
int as_figures_add_point(struct as_figures *figures, const struct as_figure_point *point,
                         struct as_error *err);
int as_figures_add_finding(struct as_figures *figures, const char *name, const char *text,
                           struct as_error *err);
/* Forgets points of a curve, or findings about a name. */
void as_figures_drop_curve(struct as_figures *figures, const char *curve);
void as_figures_drop_findings(struct as_figures *figures, const char *name);

#endif
