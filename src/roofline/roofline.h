/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rooflines: loops, functions and a run beside the measured ceilings of the machine. Flops and
 * bytes are counted, times sampled (doc/internals/roofline.md). Reads facts, writes none. The
 * model: Williams, Waterman, Patterson, "Roofline" (2009), cache aware by Ilic, Pratas, Sousa
 * (2014).
 */
#ifndef AS_ROOFLINE_ROOFLINE_H
#define AS_ROOFLINE_ROOFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "experiment/experiment.h"
#include "machine/machine.h"

struct as_str;

/* X(NAME, word, metric): a level of the memory, and the metric of the bytes that pass between it
 * and the level before; L1 has those of instructions. */
#define AS_ROOF_LEVEL_LIST(X)                                                                      \
    X(L1, "L1", "")                                                                                \
    X(L2, "L2", "bytes_l2_l1")                                                                     \
    X(L3, "L3", "bytes_l3_l2")                                                                     \
    X(MEMORY, "memory", "bytes_memory")

enum as_roof_level {
#define AS_ROOF_ENUM(name, word, metric) AS_ROOF_##name,
    AS_ROOF_LEVEL_LIST(AS_ROOF_ENUM)
#undef AS_ROOF_ENUM
        AS_ROOF_LEVELS
};
const char *as_roof_level_word(unsigned level);

#define AS_ROOF_NAME_B 32

/* Sizes of a curve of misses: AS_ROOF_CURVE_B, and each twice the one before. */
enum { AS_ROOF_CURVE = 16, AS_ROOF_CURVE_B = 16 << 10, AS_ROOF_CACHES = 3 };

/* A line of the chart: a bandwidth (slope) or a peak (level). */
struct as_roof {
    char name[AS_ROOF_NAME_B]; /* "L2", "memory", "FMA f64 avx2", "add f64 scalar" */
    bool is_bandwidth;
    bool is_huge; /* only on huge pages, which most memory of the program is not in */
    double value; /* B/s or flop/s */
};

/* How much of the flops of a point packed instructions do. */
enum as_roof_vector {
    AS_ROOF_NO_FLOPS,
    AS_ROOF_SCALAR, /* less than 5 % */
    AS_ROOF_PART,
    AS_ROOF_FULL /* 95 % or more */
};
const char *as_roof_vector_word(unsigned vector); /* "no flops", "scalar", "part", "full" */

/* X(NAME, bit, word): what is to be known of a point. */
#define AS_ROOF_MARK_LIST(X)                                                                       \
    X(ABOVE, 0, "above_ceiling")      /* faster than a measured ceiling allows */                  \
    X(BUSY, 1, "external_load")       /* other processes used the CPUs */                          \
    X(FEW, 2, "few_samples")          /* fewer than 30 samples: the interval is wide */            \
    X(MOST, 3, "counts_upper_bound")  /* lanes of some instructions are unknown */                 \
    X(LEAST, 4, "counts_lower_bound") /* threads ended in it, or a part was not counted */

enum as_roof_mark {
#define AS_ROOF_MARK_ENUM(name, bit, word) AS_ROOF_##name = 1 << (bit),
    AS_ROOF_MARK_LIST(AS_ROOF_MARK_ENUM)
#undef AS_ROOF_MARK_ENUM
};
/* Word of bit `bit` of the marks; NULL behind the last. */
const char *as_roof_mark_word(unsigned bit);

struct as_roof_point {
    enum as_object_kind kind; /* RUN, FUNCTION, LOOP */
    int64_t id;
    const char *name; /* belongs to the roofline */
    uint64_t address;
    uint32_t depth;                 /* of a loop: 1 = not nested */
    int64_t parent_id, function_id; /* of a loop: the loop around it (0: none), its function */
    double share;                   /* of the running time of the run */
    double time_s;                  /* of all threads, without what it calls */
    int64_t sample_n;
    double core_n; /* threads that were in it at once, at most the cores; 1 or more */
    double flops, load_b, store_b, int_ops;
    double single_share, packed_share;      /* of the flops */
    double level_b[AS_ROOF_LEVELS];         /* L1: load_b + store_b; NAN: not measured */
    double curve_b[AS_ROOF_CURVE];          /* bytes that come into a cache of that size; NAN */
    double intensity;                       /* flops per byte of L1; NAN without bytes */
    double flop_s, flop_s_low, flop_s_high; /* of all its threads; 95 %; high may be INFINITY */
    double byte_s;                          /* bytes of L1 */
    enum as_roof_vector vector;
    /* Without traffic of levels: the first roof above the point, of its own mix of loads, stores
     * and types. With it: the roof that limits. `roof.value` is 0 where no ceiling is known. */
    struct as_roof roof;
    double roof_at;    /* that roof at this intensity: flop/s, or B/s without flops */
    double roof_share; /* of it that is reached */
    double attainable; /* the lowest ceiling that nothing can pass here; NAN: not known */
    double headroom_x; /* attainable over reached: a bound of the gain; NAN */
    double huge_x;  /* that roof on huge pages over that on the pages of the program; 1 or more */
    unsigned marks; /* enum as_roof_mark */
};

#define AS_ROOFS_MAX 32

struct as_roofline {
    int64_t run_id;
    const char *title;    /* the command */
    const char *host;     /* where it ran; NULL: not known */
    unsigned core_n;      /* usable cores of the machine; 0: not known */
    double counted_share; /* of the running time: in functions that were counted */
    double waiting_share; /* of these: spins for other ranks or threads, and has no point */
    bool is_busy;         /* other processes used the CPUs meanwhile */
    bool has_levels;      /* some point has traffic beyond L1 */
    double huge_share;    /* of the memory of the program, in huge pages; NAN: not known */
    bool is_stripped;     /* some counted loop has no source line */
    size_t idle_n;        /* counted loops that did not run: left out */
    /* Roofs of a core and of all cores; those of levels are on the pages of the program. */
    struct as_roof one[AS_ROOFS_MAX], all[AS_ROOFS_MAX];
    size_t one_n, all_n;
    struct as_roof_point *point; /* the run, functions, loops; each by time, most first */
    size_t point_n;
};

/*
 * Reads run `run_id` of the experiment; 0: the last that has counts. `figures`: ceilings; NULL:
 * those that the experiment has of its machine. Errors: NOT_FOUND (nothing of the run was counted;
 * the text has the command), NOMEM, those of rows. The caller frees it.
 */
int as_roofline_read(struct as_experiment *experiment, int64_t run_id,
                     const struct as_figures *figures, struct as_roofline **out,
                     struct as_error *err);
void as_roofline_free(struct as_roofline **roofline); /* NULL inside is fine */

/* Returns whether other points show the same: of a function with loops, or of a loop with a loop
 * inside that has nine tenths of its time. */
bool as_roofline_repeats(const struct as_roofline *roofline, const struct as_roof_point *point);

/* Appends a drawing: points sized by time with their intervals, coloured by vectorisation, roofs of
 * one core dashed. One file without script, for light and dark readers. Arrows lead from points of
 * `before` to the only ones of their kind and name; NULL: none. Returns the number of arrows. */
size_t as_roofline_svg(const struct as_roofline *roofline, const struct as_roofline *before,
                       struct as_str *out);

/* ---- Projection ---------------------------------------------------------------------------- */

/* An assumption about the time that is in no counted loop or function. */
enum as_project_rest {
    AS_REST_SCALES, /* as the counted time does */
    AS_REST_STAYS
};

/* A loop without those in it, or a function without its loops. Times are those of a wall clock. */
struct as_projected {
    enum as_object_kind kind;
    int64_t id;
    const char *name;               /* belongs to the projection */
    double core_n, target_core_n;   /* threads at once, here and there */
    double time_s;                  /* here, by samples */
    double target_s, low_s, high_s; /* there */
    double efficiency;              /* time by the model over measured time, here; NAN */
    bool by_levels;                 /* by the traffic of levels, else by the roof above the point */
    bool by_caches;                 /* and for the caches there, by its curve of misses */
    char limit[AS_ROOF_NAME_B], target_limit[AS_ROOF_NAME_B]; /* what limits; "": unknown */
};

struct as_projection {
    struct as_projected *part; /* most time first */
    size_t part_n;
    double time_s, covered_s;       /* of the run; of its parts that could be projected */
    double rest_s;                  /* of the rest, there */
    double target_s, low_s, high_s; /* the run there */
    unsigned core_n, target_core_n;
    enum as_project_rest rest;
};

/*
 * Projects a run to the machine of `target` from that of `reference`, or of the experiment where
 * that is NULL. `cache_b`: bytes of L1, L2 and L3 there, 0: none; NULL: as here. Errors: those of
 * as_roofline_read; NOT_FOUND (a machine has no bandwidths and peaks in common with the other),
 * NOMEM. The caller frees it.
 */
int as_project_run(struct as_experiment *experiment, int64_t run_id,
                   const struct as_figures *reference, const struct as_figures *target,
                   const uint64_t cache_b[AS_ROOF_CACHES], enum as_project_rest rest,
                   struct as_projection **out, struct as_error *err);
void as_projection_free(struct as_projection **projection); /* NULL inside is fine */

#endif
