/* SPDX-License-Identifier: Apache-2.0 */
/* Measured ceilings by number of cores, and what they allow a point. Numbers alone. */
#ifndef AS_ROOFLINE_CEILINGS_H
#define AS_ROOFLINE_CEILINGS_H

#include <assay/roofline.h>

/* X(NAME, word, share of the bytes that are stored). */
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

/* Figures of so many cores at once; 0: not measured. */
struct as_ceiling_scope {
    unsigned core_n;
    double bandwidth[ASSAY_ROOF_LEVELS][AS_ROOF_STREAMS]; /* B/s, on huge pages if there are any */
    double small[ASSAY_ROOF_LEVELS][AS_ROOF_STREAMS];     /* B/s on pages of 4 KiB */
    double peak[AS_ROOF_OPERATIONS][AS_ROOF_NUMBERS][AS_ROOF_WIDTHS]; /* flop/s */
};

#define AS_CEILING_SCOPES_MAX 24

struct as_ceilings {
    struct as_ceiling_scope scope[AS_CEILING_SCOPES_MAX]; /* in any order */
    size_t scope_n;
    unsigned core_n;                /* of the scope "all" */
    struct as_ceiling_scope domain; /* "numa0": stands for one core if that has no figure */
    bool has_pages;                 /* `huge_share` is known; else bandwidths are of huge pages */
    double huge_share;              /* of the memory of the program, in huge pages */
};

/* Adds a figure by its name (doc/reference/machine.md). Others than bandwidths and peaks of caches,
 * memory, float and double are ignored. Node 0 stands for one core without a figure. */
void as_ceilings_add(struct as_ceilings *ceilings, const char *name, double value);

/* Adds the figures that a run has of its machine, and the number of its usable cores. Errors: those
 * of rows. */
int as_ceilings_of_run(struct assay_experiment *experiment, int64_t run_id,
                       struct as_ceilings *ceilings, struct assay_error *err);
/* Adds those of a file of figures; all cores of that machine count. */
void as_ceilings_of_figures(const struct assay_figures *figures, struct as_ceilings *ceilings);

/*
 * Bandwidth of a level for `core_n` cores, if the part `stored` of the bytes is stored: of the
 * stream that stores most nearly as much. If this number of cores was not measured: the upper bound
 * by those that were. 0: not known.
 */
double as_ceilings_bandwidth(const struct as_ceilings *ceilings, unsigned level, double stored,
                             double core_n);
/* The same in bytes that pass between levels. A line is read before it is written, so a stored byte
 * passes twice; figures count it once. */
double as_ceilings_traffic(const struct as_ceilings *ceilings, unsigned level, double stored,
                           double core_n);
/* Bandwidth of the fastest stream. */
double as_ceilings_fastest(const struct as_ceilings *ceilings, unsigned level, double core_n);
/* Peak of an operation in a width, where `single` of the flops are of 32 bits. */
double as_ceilings_peak(const struct as_ceilings *ceilings, enum as_roof_operation operation,
                        enum as_roof_width width, double single, double core_n);

/* Returns whether a triad of memory was measured on small pages. */
bool as_ceilings_know_small(const struct as_ceilings *ceilings);
/* The factor by which huge pages raise the bandwidth of a level; 1: no figures, or huge already. */
double as_ceilings_huge_x(const struct as_ceilings *ceilings, unsigned level, double stored,
                          double core_n);
/* Roofs to draw for `core_n` cores, bandwidths first; returns how many. */
size_t as_ceilings_roofs(const struct as_ceilings *ceilings, double core_n,
                         struct assay_roof roof[ASSAY_ROOFS_MAX]);

/* Sets roof, roof_at, roof_share, attainable, headroom_x and the mark ABOVE of a point, by its
 * counts, rates and core_n. */
void as_ceilings_judge(const struct as_ceilings *ceilings, struct assay_roof_point *point);

#endif
