/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the input of the judgement (verdict.h): times of variants, and what other passes stored
 * of the loop. Fills the columns. Numbers missing in the experiment are unknown.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "decan/internal.h"
#include "experiment/metric_names.h"
#include "patch/patch.h"

/* ---- What the experiment knows -------------------------------------------------------------- */

/* Values of a loop that are asked for, by their number here. */
enum known_value {
    KNOWN_CYCLES,
    KNOWN_ONLY_ARITHMETIC_X,
    KNOWN_PORTS_CY,
    KNOWN_DIVIDE,
    KNOWN_LOAD_CY,
    KNOWN_STORE_CY,
    KNOWN_STORE_ADDRESS_CY,
    KNOWN_CHAIN,
    KNOWN_FRONT_END,
    KNOWN_PATHS,
    KNOWN_LOAD_B,
    KNOWN_STORE_B,
    KNOWN_MOVED_READ,
    KNOWN_MOVED_WRITTEN,
    KNOWN_FLOPS,
    KNOWN_FLOP_PEAK,
    KNOWN_INDIRECT,
    KNOWN_UNKNOWN_STEP,
    KNOWN_STEADY,
    KNOWN_STARTS,
    KNOWN_COUNTED_LOAD_B,
    KNOWN_COUNTED_STORE_B,
    KNOWN_COUNTED_FLOPS,
    KNOWN_N
};
static const char *const known_name[KNOWN_N] = {AS_METRIC_cqa_cycles,
                                                AS_METRIC_cqa_only_arithmetic_x,
                                                AS_METRIC_cqa_ports_cy,
                                                AS_METRIC_cqa_divide_cy,
                                                AS_METRIC_cqa_load_cy,
                                                AS_METRIC_cqa_store_cy,
                                                AS_METRIC_cqa_store_address_cy,
                                                AS_METRIC_cqa_chain_cy,
                                                AS_METRIC_cqa_front_end_cy,
                                                AS_METRIC_cqa_path_n,
                                                AS_METRIC_cqa_load_b,
                                                AS_METRIC_cqa_store_b,
                                                AS_METRIC_cqa_moved_read_b,
                                                AS_METRIC_cqa_moved_written_b,
                                                AS_METRIC_cqa_fp_op_n,
                                                AS_METRIC_cqa_peak_fp_per_cy,
                                                AS_METRIC_cqa_indirect_element_n,
                                                AS_METRIC_access_unknown_n,
                                                AS_METRIC_access_steady_n,
                                                AS_METRIC_executed_start_n,
                                                AS_METRIC_executed_load_b,
                                                AS_METRIC_executed_store_b,
                                                AS_METRIC_executed_flop_n};

static int read_values(const struct as_decan *decan, int64_t loop_id, double *known,
                       struct as_error *err)
{
    struct as_rows *rows;
    int rc;
    for (size_t i = 0; i < KNOWN_N; i++)
        known[i] = (double)NAN;
    AS_TRY(as_rows_open(decan->timed.experiment,
                        "SELECT metric, value FROM v_values WHERE object_kind = 'loop'"
                        " AND object_id = ?2 AND run_id IN (0, ?1) AND context_id = 0"
                        " AND value IS NOT NULL ORDER BY run_id",
                        &rows, err));
    as_rows_bind_integer(rows, 1, decan->timed.run_id);
    as_rows_bind_integer(rows, 2, loop_id);
    while ((rc = as_rows_next(rows, err)) > 0)
        for (size_t i = 0; i < KNOWN_N; i++)
            if (strcmp(as_rows_text(rows, 0), known_name[i]) == 0)
                known[i] = as_rows_real(rows, 1);
    as_rows_close(&rows);
    return rc;
}

/*
 * Adds up the shares of timed instances by bucket, from the stored buckets of `assay vprof`. Their
 * bounds are the same powers of two, so a bucket holds the mean iterations of the stored one. Two
 * stored buckets of the same iterations, which differ in cycles, belong to one bucket.
 */
static int read_shares(const struct as_decan *decan, struct as_decan_loop *loop,
                       struct as_error *err)
{
    struct as_rows *rows;
    int rc;
    AS_TRY(as_rows_open(decan->timed.experiment,
                        "SELECT i.value, s.value FROM v_values s JOIN v_values i"
                        " USING (object_kind, object_id, run_id, context_id)"
                        " WHERE object_kind = 'loop' AND object_id = ?2 AND run_id = ?1"
                        " AND context_id <> 0 AND s.metric = '" AS_METRIC_instance_share "'"
                        " AND i.metric = '" AS_METRIC_instance_iterations "'",
                        &rows, err));
    as_rows_bind_integer(rows, 1, decan->timed.run_id);
    as_rows_bind_integer(rows, 2, loop->loop_id);
    while ((rc = as_rows_next(rows, err)) > 0)
        for (size_t i = 0; i < loop->bucket_n; i++) {
            const double iterations = as_rows_real(rows, 0);
            if (iterations >= loop->bucket[i].low && iterations < loop->bucket[i].high)
                loop->bucket[i].share = fmax(loop->bucket[i].share, 0) + as_rows_real(rows, 1);
        }
    as_rows_close(&rows);
    return rc;
}

/* ---- A measure ------------------------------------------------------------------------------ */

static double per_iteration(const double *known, enum known_value what, enum known_value otherwise)
{
    const double counted = known[what] / known[KNOWN_STARTS];
    return isfinite(counted) ? counted : otherwise == KNOWN_N ? (double)NAN : known[otherwise];
}

/* Cycles that arithmetic keeps its ports busy; NAN where accesses keep theirs busy for longer, for
 * then it is hidden among them. No chain is in it. */
static double arithmetic_of(const double *known)
{
    const double accesses =
        fmax(fmax(known[KNOWN_LOAD_CY], known[KNOWN_STORE_CY]), known[KNOWN_STORE_ADDRESS_CY]);
    return known[KNOWN_PORTS_CY] > accesses ? known[KNOWN_PORTS_CY] : (double)NAN;
}

static void set_code(const double *known, struct as_decan_measure *to)
{
    const bool steps_known = !(known[KNOWN_UNKNOWN_STEP] > 0 || known[KNOWN_STEADY] > 0);
    to->load_b = per_iteration(known, KNOWN_COUNTED_LOAD_B, KNOWN_LOAD_B);
    to->store_b = per_iteration(known, KNOWN_COUNTED_STORE_B, KNOWN_STORE_B);
    to->read_b = steps_known ? known[KNOWN_MOVED_READ] : (double)NAN;
    to->written_b = steps_known ? known[KNOWN_MOVED_WRITTEN] : (double)NAN;
    to->indirect_n = known[KNOWN_INDIRECT];
    to->unstepped_n = known[KNOWN_STEADY] > 0 ? (double)NAN : known[KNOWN_UNKNOWN_STEP];
    to->flops = per_iteration(known, KNOWN_COUNTED_FLOPS, KNOWN_FLOPS);
    to->flop_peak = known[KNOWN_FLOP_PEAK];
    to->model =
        (struct as_decan_model){.cycles = known[KNOWN_CYCLES],
                                .fp_alone = known[KNOWN_CYCLES] / known[KNOWN_ONLY_ARITHMETIC_X],
                                .arithmetic = arithmetic_of(known),
                                .divide = known[KNOWN_DIVIDE],
                                .load = known[KNOWN_LOAD_CY],
                                .store = known[KNOWN_STORE_CY],
                                .chain = known[KNOWN_CHAIN],
                                .front_end = known[KNOWN_FRONT_END],
                                .path_n = known[KNOWN_PATHS]};
}

static void set_timings(const struct as_decan_bucket *bucket, struct as_decan_measure *to)
{
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++) {
        const struct as_decan_measured *take = as_bucket_variant(bucket, kind);
        if (take)
            to->timing[kind] = (struct as_decan_timing){take->n,   take->median, take->least,
                                                        take->low, take->high,   take->instance};
    }
    /* The footprint of indirect accesses is unknown. */
    to->footprint_b =
        to->indirect_n > 0 ? (double)NAN : (to->read_b + to->written_b) * bucket->iterations;
}

/* ---- Columns -------------------------------------------------------------------------------- */

static void set_use(const struct as_decan_use *use, double *column)
{
    column[0] = use->cap;
    column[1] = use->bw;
    column[2] = use->sat;
}

static void set_columns(const struct as_decan_ratios *ratio, enum as_predict_level level,
                        double *column)
{
    column[AS_DECAN_COLUMN_ORIG_DL1] = ratio->orig_dl1;
    column[AS_DECAN_COLUMN_WAITS] = 100 * (ratio->orig_dl1 < 1 ? 0 : 1 - 1 / ratio->orig_dl1);
    column[AS_DECAN_COLUMN_FP_LS] = ratio->fp_ls;
    column[AS_DECAN_COLUMN_SATURATION] = ratio->saturation;
    column[AS_DECAN_COLUMN_ORIG_REF] = ratio->orig_ref;
    column[AS_DECAN_COLUMN_ORIG_AGAIN] = ratio->orig_again;
    column[AS_DECAN_COLUMN_REF_FES] = ratio->ref_fes;
    column[AS_DECAN_COLUMN_REF_NODIV] = ratio->ref_nodiv;
    column[AS_DECAN_COLUMN_REF_NORED] = ratio->ref_nored;
    column[AS_DECAN_COLUMN_FP_MODEL] = ratio->fp_model;
    column[AS_DECAN_COLUMN_DL1_MODEL] = ratio->dl1_model;
    column[AS_DECAN_COLUMN_FP_PER_CY] = ratio->flops_per_cycle;
    column[AS_DECAN_COLUMN_IN_FLIGHT] = ratio->in_flight[level];
    set_use(&ratio->fp, &column[AS_DECAN_COLUMN_FP_USE]);
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++) {
        set_use(&ratio->read[l], &column[AS_DECAN_COLUMN_LEVELS + 6 * l]);
        set_use(&ratio->write[l], &column[AS_DECAN_COLUMN_LEVELS + 6 * l + 3]);
    }
}

/* Returns the variants that a column is computed from, one bit each; the default is the loop. */
static uint32_t kinds_of(enum as_decan_bucket_column column, const struct as_decan_judgement *of,
                         enum as_variant_kind whole)
{
    const uint32_t base = 1u << of->base, itself = 1u << whole;
    switch (column) {
    case AS_DECAN_COLUMN_ORIG_DL1:
    case AS_DECAN_COLUMN_WAITS:
        return itself | 1u << AS_VARIANT_DL1;
    case AS_DECAN_COLUMN_GAIN:
        return base | (of->without < AS_VARIANT_KINDS ? 1u << of->without : 0);
    case AS_DECAN_COLUMN_FP_LS:
        return 1u << AS_VARIANT_FP | 1u << AS_VARIANT_LS;
    case AS_DECAN_COLUMN_SATURATION:
        return base | 1u << AS_VARIANT_DL1 | 1u << AS_VARIANT_LS;
    case AS_DECAN_COLUMN_ORIG_REF:
        return 1u << AS_VARIANT_ORIG | 1u << AS_VARIANT_REF;
    case AS_DECAN_COLUMN_ORIG_AGAIN:
        return 1u << AS_VARIANT_ORIG | 1u << AS_VARIANT_AGAIN;
    case AS_DECAN_COLUMN_REF_FES:
        return base | 1u << AS_VARIANT_FES;
    case AS_DECAN_COLUMN_REF_NODIV:
        return base | 1u << AS_VARIANT_NODIV;
    case AS_DECAN_COLUMN_REF_NORED:
        return base | 1u << AS_VARIANT_NORED;
    case AS_DECAN_COLUMN_FP_MODEL:
        return 1u << AS_VARIANT_FP;
    case AS_DECAN_COLUMN_DL1_MODEL:
        return 1u << AS_VARIANT_DL1;
    case AS_DECAN_COLUMN_DRIFT:
        return 1u << AS_VARIANT_ORIG;
    default:
        return itself;
    }
}

static uint32_t fewest_of(const struct as_decan_measure *measure, uint32_t kinds)
{
    uint32_t n = UINT32_MAX;
    for (unsigned kind = 0; kind < AS_VARIANT_KINDS; kind++)
        if (kinds >> kind & 1 && measure->timing[kind].n < n)
            n = measure->timing[kind].n;
    return n;
}

static bool is_ceiling(unsigned column)
{
    return column >= AS_DECAN_COLUMN_FP_USE && (column - AS_DECAN_COLUMN_FP_USE) % 3 == 0;
}

static void set_all_columns(const struct as_decan_measure *measure,
                            const struct as_decan_judgement *of, struct as_decan_bucket *to)
{
    const enum as_variant_kind whole =
        measure->timing[AS_VARIANT_ORIG].n ? AS_VARIANT_ORIG : AS_VARIANT_REF;
    set_columns(&of->ratio, of->level, to->column);
    set_columns(&of->low, of->level, to->column_low);
    set_columns(&of->high, of->level, to->column_high);
    to->column[AS_DECAN_COLUMN_VERDICT] = of->verdict;
    to->column[AS_DECAN_COLUMN_CONFIDENCE] = of->confidence;
    to->column[AS_DECAN_COLUMN_GAIN] = of->gain;
    to->column_low[AS_DECAN_COLUMN_GAIN] = of->gain_low;
    to->column_high[AS_DECAN_COLUMN_GAIN] = of->gain_high;
    for (unsigned i = 0; i < AS_DECAN_COLUMNS; i++) {
        to->column_n[i] = fewest_of(measure, kinds_of(i, of, whole));
        if (is_ceiling(i))
            to->column_low[i] = to->column_high[i] = (double)NAN;
    }
}

static const char *confidence_word(enum as_decan_confidence confidence)
{
    static const char *const word[] = {
        [AS_DECAN_LOW] = "low", [AS_DECAN_MEDIUM] = "medium", [AS_DECAN_HIGH] = "high"};
    _Static_assert(sizeof word / sizeof *word == AS_DECAN_HIGH + 1,
                   "an entry for each of the enumeration");
    assert((unsigned)confidence < sizeof word / sizeof *word);
    return word[confidence];
}

static void judge_bucket(const struct as_decan_measure *measure, struct as_decan_bucket *bucket)
{
    struct as_decan_judgement of;
    as_decan_judge(measure, &of);
    set_all_columns(measure, &of, bucket);
    bucket->column[AS_DECAN_COLUMN_SHARE] = 100 * bucket->share;
    bucket->verdict = as_decan_verdict_word(of.verdict);
    bucket->title = as_decan_verdict_title(of.verdict);
    bucket->confidence = confidence_word(of.confidence);
    bucket->doubt = of.doubt;
    as_decan_explain(measure, &of, bucket->text, sizeof bucket->text);
}

/* ---- The loop ------------------------------------------------------------------------------- */

/*
 * Returns the weight of a bucket: its share of time, or the time of its records if instances were
 * not timed.
 */
static double weight_of(const struct as_decan_bucket *bucket)
{
    double weight = 0;
    if (!isnan(bucket->share))
        return bucket->share;
    for (size_t i = 0; i < bucket->take_n; i++)
        weight += (double)bucket->take[i].n * bucket->take[i].instance;
    return weight;
}

static void choose_main(struct as_decan_loop *loop)
{
    bool any_share = false;
    for (size_t i = 0; i < loop->bucket_n; i++)
        any_share |= !isnan(loop->bucket[i].share);
    for (size_t i = 0; any_share && i < loop->bucket_n; i++)
        if (isnan(loop->bucket[i].share))
            loop->bucket[i].share = 0; /* it had hardly any instance in the timed run */
    for (size_t i = 1; i < loop->bucket_n; i++)
        if (weight_of(&loop->bucket[i]) > weight_of(&loop->bucket[loop->main]))
            loop->main = i;
}

/*
 * Returns the share of the loop's time that is gained. Buckets with a known share are summed;
 * without shares the main bucket applies. Buckets without a measurement gain nothing.
 */
static double gained_of(const struct as_decan_loop *loop)
{
    const struct as_decan_bucket *main = &loop->bucket[loop->main];
    double share = 0, gained = 0;
    if (isnan(main->share))
        return main->column[AS_DECAN_COLUMN_WAITS] / 100;
    for (size_t i = 0; i < loop->bucket_n; i++) {
        const double waits = loop->bucket[i].column[AS_DECAN_COLUMN_WAITS];
        if (isnan(waits))
            continue;
        share += loop->bucket[i].share;
        gained += loop->bucket[i].share * waits / 100;
    }
    return share > 0 ? gained : (double)NAN;
}

int as_decan_judge_loop(const struct as_decan *decan, struct as_decan_loop *loop,
                        const uint32_t *bits, struct as_error *err)
{
    struct as_decan_measure measure;
    double known[KNOWN_N];
    AS_TRY(read_values(decan, loop->loop_id, known, err));
    AS_TRY(read_shares(decan, loop, err));
    for (size_t i = 0; i < loop->bucket_n; i++) {
        struct as_decan_bucket *bucket = &loop->bucket[i];
        as_decan_measure_init(&measure);
        memcpy(measure.bits, bits, sizeof measure.bits);
        memcpy(measure.level, decan->machine.level, sizeof measure.level);
        measure.reach_b = decan->machine.reach_b;
        if (!(bits[AS_VARIANT_REF] & AS_VARIANT_NESTS)) /* these are of its own blocks */
            set_code(known, &measure);
        set_timings(bucket, &measure);
        judge_bucket(&measure, bucket);
    }
    choose_main(loop);
    for (size_t i = 0; i < loop->bucket_n; i++)
        loop->bucket[i].column[AS_DECAN_COLUMN_SHARE] = 100 * loop->bucket[i].share;
    loop->gained = loop->bucket_n ? gained_of(loop) : (double)NAN;
    return 0;
}
