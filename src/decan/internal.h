/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the room share: records of variants, what is made of them, the run at hand. */
#ifndef AS_DECAN_INTERNAL_H
#define AS_DECAN_INTERNAL_H

#include <assay/decan.h>

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

/* Columns of a bucket, behind those. */
enum as_decan_column {
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
    AS_DECAN_COLUMN_LEVELS = AS_DECAN_COLUMN_FP_USE + 3, /* of each level: read, written */
    AS_DECAN_COLUMNS = AS_DECAN_COLUMN_LEVELS + 6 * ASSAY_PREDICT_LEVELS
};
_Static_assert(AS_DECAN_COLUMNS <= ASSAY_DECAN_COLUMNS_MOST, "columns of a bucket");
_Static_assert(AS_VARIANT_KINDS <= ASSAY_DECAN_TAKES_MOST, "variants of a bucket");

/* ---- records.c ------------------------------------------------------------------------------ */

/* An instance that ran as a variant, or could not. */
struct as_varied {
    uint64_t begun; /* ticks */
    double ticks;   /* without those of an empty one */
    double trips;
    double whole;  /* iterations of the instance that it is a slice of, else the same */
    uint32_t loop; /* of the plan; later of the run at hand */
    uint32_t thread;
    uint16_t kind, flags; /* as_variant_kind, as_variant_flag */
};

struct as_varied_all {
    AS_VEC(struct as_varied) record;
    uint32_t threads;
    uint64_t lost, damaged;
    double spent_ns;
    uint64_t overlap_n, team; /* records of threads that ran at once; sum of how many there were */
};

/* Reads and removes the files of variants in `directory`, adding to `out`. `plan` was checked;
 * `orig_ticks`: of an empty instance that is timed in place, where the thread's file does not say.
 * Errors: NOMEM. */
int as_varied_read(const char *directory, const struct as_patch_plan *plan, double orig_ticks,
                   struct as_varied_all *out, struct assay_error *err);
void as_varied_fini(struct as_varied_all *all);

/* ---- measurements.c: pure functions of their arguments
 * --------------------------------------------- */

struct as_decan_scale {
    double cycles; /* of a core in a tick */
    double limit;  /* ticks beyond the median from which an instance may be disturbed */
};

/* Buckets of one loop's records by powers of two of their iterations, the lowest first, with what
 * their variants took; sorts the records. `*out` is to be freed by as_free. Errors: NOMEM. */
int as_measurements_make(struct as_varied *record, size_t n, const struct as_decan_scale *scale,
                         struct assay_decan_bucket **out, size_t *out_n, struct assay_error *err);
/* The take of a kind; NULL: there is none that counts. */
const struct assay_decan_measured *as_bucket_variant(const struct assay_decan_bucket *bucket,
                                                     unsigned kind);
/* Whether what was measured carries a finding: reading the clock takes as long as an instance of
 * less than 250 cycles. */
bool as_measurements_exist(const struct assay_decan_bucket *bucket);
/* "8 to 15 iterations", as other passes call the bucket. */
void as_bucket_name(const struct assay_decan_bucket *bucket, char *out, size_t out_b);

/* ---- The run at hand ------------------------------------------------------------------------ */

/* Of a loop, as planned in the first run. */
struct as_varied_loop {
    uint32_t bits[AS_VARIANT_KINDS];    /* as_variant_bit */
    uint8_t unvaried[AS_VARIANT_KINDS]; /* as_variant_refusal */
    bool is_planned;
    double longest; /* iterations of the longest instance that is known whole */
};

struct as_decan {
    struct as_timed timed;         /* which loops; the plan */
    struct as_varied_loop *varied; /* of each */
    const struct assay_decan_request *request;
    struct assay_decan_result *result;
    struct as_varied_all all;
    uint32_t asked; /* a bit for each kind */
};

/* ---- judge.c -------------------------------------------------------------------------------- */

/* What the experiment knows of the loop and the machine, beside what its variants took; the verdict
 * and the columns of each bucket, which is the main one, what goes at most. */
int as_decan_judge_loop(const struct as_decan *decan, struct assay_decan_loop *loop,
                        const uint32_t *bits, struct assay_error *err);

/* ---- write.c -------------------------------------------------------------------------------- */

int as_decan_write(const struct as_decan *decan, struct assay_error *err);

#endif
