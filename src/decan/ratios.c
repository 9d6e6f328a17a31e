/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios of variants, and what is used of what each level and the arithmetic could give. */
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

enum as_decan_reliability as_decan_reliability_of(const struct as_decan_timing *timing)
{
    if (timing->n == 0 || !(timing->instance >= as_decan_thresholds.cycles_none))
        return AS_DECAN_NONE;
    return timing->instance < as_decan_thresholds.cycles_weak ? AS_DECAN_WEAK : AS_DECAN_RELIABLE;
}

double as_decan_stability(const struct as_decan_timing *timing)
{
    return timing->n ? as_decan_ratio_of(timing->median - timing->least, timing->least)
                     : (double)NAN;
}

static struct as_decan_use use_of(double cap, double amount, double cycles)
{
    const double bw = as_decan_ratio_of(amount, cycles);
    return (struct as_decan_use){.cap = cap, .bw = bw, .sat = as_decan_ratio_of(bw, cap)};
}

/* 0 for what is not moved at all, whatever its ceiling. */
static double cycles_to_move(double bytes, double ceiling)
{
    return bytes > 0 ? as_decan_ratio_of(bytes, ceiling) : bytes;
}

/* Elements by addresses from memory take a line each from where no neighbour comes along. */
static double moving_of(const struct as_decan_measure *measure, enum assay_predict_level level)
{
    const struct as_decan_ceiling *from = &measure->level[level];
    if (!isnan(from->moving))
        return from->moving;
    if (level == ASSAY_PREDICT_L1)
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
    for (unsigned l = 0; l < ASSAY_PREDICT_LEVELS; l++) {
        const struct as_decan_ceiling *from = &measure->level[l];
        const bool is_first = l == ASSAY_PREDICT_L1;
        const double read = measure->read_b + measure->indirect_n * measure->line_b;
        out->read[l] = use_of(from->read_b, is_first ? measure->load_b : read, cycles);
        out->write[l] =
            use_of(from->write_b, is_first ? measure->store_b : measure->written_b, cycles);
        out->level_sat[l] = as_decan_ratio_of(moving_of(measure, l), cycles);
        out->in_flight[l] = as_decan_ratio_of(lines * from->latency, cycles);
    }
}

void as_decan_fill_ratios(const struct as_decan_measure *measure, struct as_decan_ratios *out)
{
    const double ref = as_decan_cycles_of(measure, AS_VARIANT_REF);
    const double orig = as_decan_cycles_of(measure, AS_VARIANT_ORIG);
    const double fp = as_decan_cycles_of(measure, AS_VARIANT_FP);
    const double ls = as_decan_cycles_of(measure, AS_VARIANT_LS);
    const double dl1 = as_decan_cycles_of(measure, AS_VARIANT_DL1);
    const double base = isnan(ref) ? orig : ref, whole = isnan(orig) ? ref : orig;
    const struct as_decan_model *model = &measure->model;
    out->orig_dl1 = as_decan_ratio_of(whole, dl1);
    out->fp_ls = as_decan_ratio_of(fp, ls);
    out->saturation =
        isnan(dl1) || isnan(ls) ? (double)NAN : as_decan_ratio_of(fmax(dl1, ls), base);
    out->orig_ref = as_decan_ratio_of(orig, ref);
    out->ref_fes = as_decan_ratio_of(base, as_decan_cycles_of(measure, AS_VARIANT_FES));
    out->ref_nodiv = as_decan_ratio_of(base, as_decan_cycles_of(measure, AS_VARIANT_NODIV));
    out->ref_nored = as_decan_ratio_of(base, as_decan_cycles_of(measure, AS_VARIANT_NORED));
    out->fp_model =
        as_decan_ratio_of(fp, fmax(model->arithmetic, fmax(model->divide, model->chain)));
    out->dl1_model = as_decan_ratio_of(dl1, model->cycles);
    out->flops_per_cycle = as_decan_ratio_of(measure->flops, whole);
    out->fp = use_of(measure->flop_peak, measure->flops, whole);
    fill_levels(measure, whole, out);
}
