/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the room: records of variants, their statistics, the current run. */
#ifndef AS_DECAN_INTERNAL_H
#define AS_DECAN_INTERNAL_H

#include "decan/decan.h"
#include "decan/verdict.h"
#include "patch/variant_plan.h"
#include "vprof/timed.h"

#define AS_DECAN_PASS "decan"

/* Columns of a variant and a bucket: data/decan/metrics.txt. */
enum as_take_column {
    AS_TAKE_N,
    AS_TAKE_CYCLES,
    AS_TAKE_LEAST,
    AS_TAKE_STABILITY,
    AS_TAKE_INSTANCE,
    AS_TAKE_ITERATIONS,
    AS_TAKE_SPEEDUP,
    AS_TAKE_DISTURBED,
    AS_TAKE_ENDED,
    AS_TAKE_COLUMNS
};

/* Columns of a bucket, after those of its variants. */
enum as_decan_bucket_column {
    AS_DECAN_COLUMN_VERDICT,
    AS_DECAN_COLUMN_CONFIDENCE,
    AS_DECAN_COLUMN_SHARE,
    AS_DECAN_COLUMN_DRIFT,
    AS_DECAN_COLUMN_ORIG_DL1,
    AS_DECAN_COLUMN_WAITS,
    AS_DECAN_COLUMN_GAIN,
    AS_DECAN_COLUMN_FP_LS,
    AS_DECAN_COLUMN_SATURATION,
    AS_DECAN_COLUMN_ORIG_REF,
    AS_DECAN_COLUMN_ORIG_AGAIN,
    AS_DECAN_COLUMN_REF_FES,
    AS_DECAN_COLUMN_REF_NODIV,
    AS_DECAN_COLUMN_REF_NORED,
    AS_DECAN_COLUMN_FP_MODEL,
    AS_DECAN_COLUMN_DL1_MODEL,
    AS_DECAN_COLUMN_FP_PER_CY,
    AS_DECAN_COLUMN_IN_FLIGHT,
    AS_DECAN_COLUMN_FP_USE,                              /* CAP, BW, SAT */
    AS_DECAN_COLUMN_LEVELS = AS_DECAN_COLUMN_FP_USE + 3, /* for each level: read, written */
    AS_DECAN_COLUMNS = AS_DECAN_COLUMN_LEVELS + 6 * AS_PREDICT_LEVELS
};
_Static_assert(AS_DECAN_COLUMNS <= AS_DECAN_COLUMNS_MOST, "columns of a bucket");
_Static_assert(AS_VARIANT_KINDS <= AS_DECAN_TAKES_MOST, "variants of a bucket");

/* ---- records.c ------------------------------------------------------------------------------ */

/* An instance that ran, or could not run, as a variant. */
struct as_varied {
    uint64_t begun; /* ticks */
    double ticks;   /* without the ticks of an empty instance */
    double trips;   /* iterations */
    double whole;   /* iterations of the whole instance, if this is a slice of one */
    uint32_t loop;  /* index in the plan, later in the current run */
    uint32_t thread;
    uint16_t kind, flags; /* as_variant_kind, as_variant_flag */
};

struct as_varied_all {
    AS_VEC(struct as_varied) record;
    uint32_t threads;
    uint64_t lost, damaged;
    double spent_ns;
    uint64_t overlap_n, team; /* records of threads that ran together; sum of their team sizes */
};

/*
 * Reads and removes the files of variants in `directory`, and adds their records to `out`. `plan`
 * is valid. `orig_ticks` is the time of an empty instance that is timed in place; it is used if the
 * file of the thread lacks it. Errors: NOMEM.
 */
int as_varied_read(const char *directory, const struct as_patch_plan *plan, double orig_ticks,
                   struct as_varied_all *out, struct as_error *err);
void as_varied_fini(struct as_varied_all *all);

/* ---- measurements.c: pure functions of their arguments
 * --------------------------------------------- */

struct as_decan_scale {
    double cycles; /* core cycles per tick */
    double limit;  /* ticks above the median from which an instance counts as disturbed */
};

/*
 * Groups the records of one loop in buckets by powers of two of their iterations, lowest first.
 * Each bucket has the times of its variants. Sorts the records. The caller frees `*out` by as_free.
 * Errors: NOMEM.
 */
int as_measurements_make(struct as_varied *record, size_t n, const struct as_decan_scale *scale,
                         struct as_decan_bucket **out, size_t *out_n, struct as_error *err);
/* Returns the measurement of a kind of variant, or NULL if no instance of it counts. */
const struct as_decan_measured *as_bucket_variant(const struct as_decan_bucket *bucket,
                                                  unsigned kind);
/*
 * Returns true if the measurements are long enough for a finding. Instances of less than 250 cycles
 * take about as long as reading the clock.
 */
bool as_measurements_exist(const struct as_decan_bucket *bucket);
/* Writes the name of a bucket, "8 to 15 iterations", as in other passes. */
void as_bucket_name(const struct as_decan_bucket *bucket, char *out, size_t out_b);

/* ---- The current run ------------------------------------------------------------------------ */

/* Variants of a loop, as planned in the first run. */
struct as_varied_loop {
    uint32_t bits[AS_VARIANT_KINDS];    /* as_variant_bit */
    uint8_t unvaried[AS_VARIANT_KINDS]; /* as_variant_refusal */
    bool is_planned;
    double longest; /* iterations of the longest complete instance */
};

/* Limits of the machine, which all loops and buckets share. */
struct as_decan_machine {
    struct as_decan_ceiling level[AS_PREDICT_LEVELS];
    double reach_b; /* maximum bytes that all instances touch; NAN if unknown */
};

struct as_decan {
    struct as_timed timed; /* the loops and the plan */
    struct as_decan_machine machine;
    struct as_varied_loop *varied; /* one for each loop */
    const struct as_decan_request *request;
    struct as_decan_result *result;
    struct as_varied_all all;
    uint32_t asked; /* requested kinds: one bit each */
};

/* ---- machine_limits.c ----------------------------------------------------------------------- */

/* Reads `decan->machine` of the profiled run. Ticks are calibrated. Errors: those of rows. */
int as_decan_machine_read(struct as_decan *decan, struct as_error *err);

/* ---- judge.c -------------------------------------------------------------------------------- */

/*
 * Judges a loop by its variants, by what the experiment has of the loop, and by `decan->machine`.
 * Sets verdict and columns of each bucket, the main bucket, and the maximum gain.
 */
int as_decan_judge_loop(const struct as_decan *decan, struct as_decan_loop *loop,
                        const uint32_t *bits, struct as_error *err);

/* ---- write.c -------------------------------------------------------------------------------- */

int as_decan_write(const struct as_decan *decan, struct as_error *err);

#endif
