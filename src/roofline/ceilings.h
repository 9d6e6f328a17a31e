/* SPDX-License-Identifier: Apache-2.0 */
/* Measured ceilings by number of cores, and the limits that they set to a point. Pure functions
 * of numbers. */
#ifndef AS_ROOFLINE_CEILINGS_H
#define AS_ROOFLINE_CEILINGS_H

#include "roofline/roofline.h"

/* X(NAME, word, stored share of the bytes). */
#define AS_ROOF_STREAM_LIST(X)                                                                     \
    X(READ, "read", 0)                                                                             \
    X(TRIAD, "triad", 1.0 / 3)                                                                     \
    X(COPY, "copy", 0.5)                                                                           \
    X(WRITE, "write", 1)

enum as_roof_stream {
#define AS_ROOF_STREAM_ENUM(name, word, stored) AS_ROOF_STREAM_##name,
    AS_ROOF_STREAM_LIST(AS_ROOF_STREAM_ENUM)
#undef AS_ROOF_STREAM_ENUM
        AS_ROOF_STREAMS
};

enum as_roof_operation { AS_ROOF_ADD, AS_ROOF_FMA, AS_ROOF_OPERATIONS };
enum as_roof_number { AS_ROOF_F64, AS_ROOF_F32, AS_ROOF_NUMBERS };
enum as_roof_width {
    AS_ROOF_WIDTH_SCALAR,
    AS_ROOF_WIDTH_SSE,
    AS_ROOF_WIDTH_AVX2,
    AS_ROOF_WIDTH_AVX512,
    AS_ROOF_WIDTHS
};

/* Figures for `core_n` cores at once; 0 = not measured. */
struct as_ceiling_scope {
    unsigned core_n;
    double bandwidth[AS_ROOF_LEVELS][AS_ROOF_STREAMS]; /* B/s, on huge pages where available */
    double small[AS_ROOF_LEVELS][AS_ROOF_STREAMS];     /* B/s, on 4 KiB pages */
    double peak[AS_ROOF_OPERATIONS][AS_ROOF_NUMBERS][AS_ROOF_WIDTHS]; /* flop/s */
};

#define AS_CEILING_SCOPES_MAX 24

struct as_ceilings {
    struct as_ceiling_scope scope[AS_CEILING_SCOPES_MAX]; /* not sorted */
    size_t scope_n;
    unsigned core_n;                /* number of cores of the scope "all" */
    struct as_ceiling_scope domain; /* scope "numa0": replaces a missing figure of one core */
    /* `huge_share` is known; else bandwidths are those of huge pages */
    bool has_pages;
    double huge_share; /* share of the program's memory in huge pages */
};

/* Adds a figure by its name (doc/reference/machine.md). Only bandwidths of caches and memory,
 * and peaks of float and double, are used. A figure of NUMA node 0 replaces a missing figure of
 * one core. */
void as_ceilings_add(struct as_ceilings *ceilings, const char *name, double value);

/* Adds the machine figures of a run, and the number of its usable cores. Errors: those of the
 * rows. */
int as_ceilings_of_run(struct as_experiment *experiment, int64_t run_id,
                       struct as_ceilings *ceilings, struct as_error *err);
/* Adds the figures of a file; all cores of its machine count. */
void as_ceilings_of_figures(const struct as_figures *figures, struct as_ceilings *ceilings);

/*
 * Returns the bandwidth of a level for `core_n` cores in B/s, or 0 if it is unknown. `stored` is
 * the stored share of the bytes; the stream with the nearest share is used. For an unmeasured
 * number of cores, returns the upper bound by the measured ones.
 */
double as_ceilings_bandwidth(const struct as_ceilings *ceilings, unsigned level, double stored,
                             double core_n);
/* Returns the same bandwidth in bytes that pass between levels. A line is read before it is
 * written, so a stored byte passes twice. Figures count it once. */
double as_ceilings_traffic(const struct as_ceilings *ceilings, unsigned level, double stored,
                           double core_n);
/* Returns the bandwidth of the fastest stream in B/s, or 0 if it is unknown. */
double as_ceilings_fastest(const struct as_ceilings *ceilings, unsigned level, double core_n);
/* Returns the peak of an operation at a width in flop/s, or 0 if it is unknown. `single` is the
 * share of 32-bit flops. */
double as_ceilings_peak(const struct as_ceilings *ceilings, enum as_roof_operation operation,
                        enum as_roof_width width, double single, double core_n);

/* Returns true if the triad of memory was measured on small pages. */
bool as_ceilings_know_small(const struct as_ceilings *ceilings);
/* Returns the factor by which huge pages raise the bandwidth of a level. 1 means no figures, or
 * huge pages already. */
double as_ceilings_huge_x(const struct as_ceilings *ceilings, unsigned level, double stored,
                          double core_n);
/* Fills in the roofs to draw for `core_n` cores, bandwidths first. Returns their number. */
size_t as_ceilings_roofs(const struct as_ceilings *ceilings, double core_n,
                         struct as_roof roof[AS_ROOFS_MAX]);

/* Sets roof, roof_at, roof_share, attainable, headroom_x, huge_x and the mark ABOVE of a point.
 * Its counts, rates and core_n must be set. */
void as_ceilings_judge(const struct as_ceilings *ceilings, struct as_roof_point *point);

#endif
