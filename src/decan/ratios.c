/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios of variants, and the use of each level and of the arithmetic units. */
#include <math.h>

#include "decan/judging.h"

double as_decan_ratio_of(double a, double b)
{
    return b > 0 && a >= 0 ? a / b : (double)NAN;
}

double as_decan_cycles_of(const struct as_decan_measure *measure, enum as_variant_kind kind)
{
    const struct as_decan_timing *timing = &measure->timing[kind];
    return timing->n && timing->median > 0 ? timing->median : (double)NAN;
}

/* Returns a time of a variant. With few instances its interval is 0 to infinity. */
static double cycles_at(const struct as_decan_measure *measure, enum as_variant_kind kind,
                        enum as_decan_end end)
{
    const struct as_decan_timing *timing = &measure->timing[kind];
    const double median = as_decan_cycles_of(measure, kind);
    if (isnan(median) || end == AS_DECAN_AT_MEDIAN)
        return median;
    if (end == AS_DECAN_AT_LOW)
        return isnan(timing->low) ? 0 : fmin(timing->low, median);
    return isnan(timing->high) ? (double)INFINITY : fmax(timing->high, median);
}

static enum as_decan_end other_end(enum as_decan_end end)
{
    return (enum as_decan_end)(-(int)end);
}

/* Returns a / b. `b` may be 0, which is the lower end of an unknown interval. */
static double over_cycles(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN
           : b > 0              ? (isinf(a) ? a : a / b)
           : a > 0              ? (double)INFINITY
                                : 0;
}

double as_decan_over(const struct as_decan_measure *measure, enum as_variant_kind a,
                     enum as_variant_kind b, enum as_decan_end end)
{
    return over_cycles(cycles_at(measure, a, end), cycles_at(measure, b, other_end(end)));
}

enum as_variant_kind as_decan_base_of(const struct as_decan_measure *measure)
{
    const double ref = as_decan_cycles_of(measure, AS_VARIANT_REF);
    const double orig = as_decan_cycles_of(measure, AS_VARIANT_ORIG);
    return isnan(ref) || ref >= as_decan_thresholds.warmed * orig ? AS_VARIANT_ORIG
                                                                  : AS_VARIANT_REF;
}

enum as_variant_kind as_decan_whole_of(const struct as_decan_measure *measure)
{
    return isnan(as_decan_cycles_of(measure, AS_VARIANT_ORIG)) ? AS_VARIANT_REF : AS_VARIANT_ORIG;
}

enum as_decan_reliability as_decan_reliability_of(const struct as_decan_timing *timing)
{
    if (timing->n == 0 || !(timing->instance >= as_decan_thresholds.cycles_none))
        return AS_DECAN_UNRELIABLE;
    return timing->instance < as_decan_thresholds.cycles_weak ? AS_DECAN_WEAK : AS_DECAN_RELIABLE;
}

double as_decan_stability(const struct as_decan_timing *timing)
{
    return timing->n > 1 ? as_decan_ratio_of(timing->median - timing->least, timing->least)
                         : (double)NAN;
}

static struct as_decan_use use_of(double cap, double amount, double cycles)
{
    const double bw = over_cycles(amount, cycles);
    return (struct as_decan_use){.cap = cap, .bw = bw, .sat = as_decan_ratio_of(bw, cap)};
}

/* Returns the cycles to move `bytes`, or 0 if there are none. */
static double cycles_to_move(double bytes, double ceiling)
{
    return bytes > 0 ? as_decan_ratio_of(bytes, ceiling) : bytes;
}

/* Returns the cycles to move the data of an iteration; an indirect access moves a whole line. */
static double moving_of(const struct as_decan_measure *measure, enum as_predict_level level)
{
    const struct as_decan_ceiling *from = &measure->level[level];
    if (!isnan(from->moving))
        return from->moving;
    if (level == AS_PREDICT_L1)
        return cycles_to_move(measure->load_b, from->read_b) +
               cycles_to_move(measure->store_b, from->write_b);
    return cycles_to_move(measure->read_b + measure->indirect_n * measure->line_b, from->read_b) +
           cycles_to_move(measure->written_b, from->write_b);
}

static void fill_levels(const struct as_decan_measure *measure, double cycles,
                        struct as_decan_ratios *out)
{
    const double moved = measure->read_b + measure->written_b;
    const double lines = moved / measure->line_b + measure->indirect_n;
    for (unsigned l = 0; l < AS_PREDICT_LEVELS; l++) {
        const struct as_decan_ceiling *from = &measure->level[l];
        const bool is_first = l == AS_PREDICT_L1;
        const double read = measure->read_b + measure->indirect_n * measure->line_b;
        out->read[l] = use_of(from->read_b, is_first ? measure->load_b : read, cycles);
        out->write[l] =
            use_of(from->write_b, is_first ? measure->store_b : measure->written_b, cycles);
        out->level_sat[l] = over_cycles(moving_of(measure, l), cycles);
        out->in_flight[l] = over_cycles(lines * from->latency, cycles);
    }
}

static double longer_of(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}

void as_decan_fill_ratios(const struct as_decan_measure *measure, enum as_decan_end end,
                          struct as_decan_ratios *out)
{
    const enum as_variant_kind base = as_decan_base_of(measure), whole = as_decan_whole_of(measure);
    const double cycles = cycles_at(measure, whole, other_end(end));
    const struct as_decan_model *model = &measure->model;
    out->orig_dl1 = as_decan_over(measure, whole, AS_VARIANT_DL1, end);
    out->fp_ls = as_decan_over(measure, AS_VARIANT_FP, AS_VARIANT_LS, end);
    out->saturation = longer_of(as_decan_over(measure, AS_VARIANT_DL1, base, end),
                                as_decan_over(measure, AS_VARIANT_LS, base, end));
    out->orig_ref = as_decan_over(measure, AS_VARIANT_ORIG, AS_VARIANT_REF, end);
    out->orig_again = as_decan_over(measure, AS_VARIANT_ORIG, AS_VARIANT_AGAIN, end);
    out->ref_fes = as_decan_over(measure, base, AS_VARIANT_FES, end);
    out->ref_nodiv = as_decan_over(measure, base, AS_VARIANT_NODIV, end);
    out->ref_nored = as_decan_over(measure, base, AS_VARIANT_NORED, end);
    out->fp_model = as_decan_ratio_of(cycles_at(measure, AS_VARIANT_FP, end), model->fp_alone);
    out->dl1_model = as_decan_ratio_of(cycles_at(measure, AS_VARIANT_DL1, end), model->cycles);
    out->flops_per_cycle = over_cycles(measure->flops, cycles);
    out->fp = use_of(measure->flop_peak, measure->flops, cycles);
    fill_levels(measure, cycles, out);
}
