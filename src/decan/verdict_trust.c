/* SPDX-License-Identifier: Apache-2.0 */
/* How far a judgement is to be trusted: what is behind its numbers, and how near they are to what
 * would have decided otherwise. */
#include <math.h>

#include "decan/judging.h"

void as_decan_trust_at_most(struct as_decan_judgement *out, enum as_decan_confidence to,
                            const char *why)
{
    if (out->confidence <= to && out->doubt)
        return;
    if (!out->doubt || to < out->confidence)
        out->doubt = why;
    if (to < out->confidence)
        out->confidence = to;
}

static void weigh_timing(const struct as_decan_timing *timing, struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    if (as_decan_reliability_of(timing) == AS_DECAN_UNRELIABLE)
        as_decan_trust_at_most(out, AS_DECAN_LOW, "an instance takes less than 250 cycles");
    else if (timing->n < t->instances_few)
        as_decan_trust_at_most(out, AS_DECAN_LOW, "fewer than 5 instances were timed");
    else if (as_decan_reliability_of(timing) == AS_DECAN_WEAK)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM, "an instance takes less than 500 cycles");
    else if (timing->n < t->instances_enough)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM, "fewer than 15 instances were timed");
    else if (as_decan_stability(timing) > t->unstable)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM, "its instances differ");
}

/* The threshold lies in the interval of the share, or so near that it may as well. */
static void weigh_share(const struct as_decan_measure *m, enum as_variant_kind kind,
                        double threshold, struct as_decan_judgement *out)
{
    /* With its data in L1 the loop is held to itself as the program runs it. */
    const enum as_variant_kind of = kind == AS_VARIANT_DL1 ? as_decan_whole_of(m) : out->base;
    const struct as_decan_timing *base = &m->timing[of], *it = &m->timing[kind];
    const double share = it->n ? as_decan_ratio_of(it->median, base->median) : (double)NAN;
    if (isnan(share))
        return;
    const double low = it->low / base->high, high = it->high / base->low;
    if (low <= threshold && threshold <= high)
        as_decan_trust_at_most(out, AS_DECAN_LOW,
                               "the interval of the decisive time includes both verdicts");
    else if (fabs(share - threshold) < as_decan_thresholds.near)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM, "the decisive time is near its threshold");
}

static void weigh_data(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    if (out->nearest != out->farthest)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM,
                               "levels are bounds: no counter tells them apart");
    if (isnan(m->level[out->level].read_b))
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM,
                               "the bandwidths of the levels are not measured");
    if (isnan(m->footprint_b))
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM, "the memory range of an instance is unknown");
    weigh_share(m, AS_VARIANT_DL1, as_decan_thresholds.explains, out);
    /* The level follows from the time of the whole loop, not of its base. */
    weigh_timing(&m->timing[as_decan_whole_of(m)], out);
    if (out->verdict == AS_DECAN_RAM && m->reach_b <= m->level[AS_PREDICT_L3].size_b)
        as_decan_trust_at_most(out, AS_DECAN_LOW,
                               "its data fit in L3: other programs may have evicted them");
}

/* Returns whether an instance touches more than a level holds, and the next level is as busy: it
 * would move that data in about the time of the loop. */
static bool is_level_as_busy(const struct as_decan_measure *m, const struct as_decan_judgement *of)
{
    for (unsigned l = AS_PREDICT_L2; l < AS_PREDICT_LEVELS; l++)
        if (m->footprint_b > m->level[l - 1].size_b &&
            of->ratio.level_sat[l] >= as_decan_thresholds.saturated)
            return true;
    return false;
}

/* Weighs a verdict that names accesses of the core. */
static void weigh_accesses(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    if (out->ratio.orig_dl1 * as_decan_thresholds.impossible < 1)
        as_decan_trust_at_most(out, AS_DECAN_LOW, "it takes longer with its data in L1");
    if (is_level_as_busy(m, out))
        as_decan_trust_at_most(out, AS_DECAN_LOW, "a memory level beyond it is as busy");
    if (!m->timing[AS_VARIANT_DL1].n && !(m->reach_b <= m->level[AS_PREDICT_L1].size_b))
        as_decan_trust_at_most(out, AS_DECAN_LOW,
                               "its accesses were not measured with their data in L1");
}

/* Returns whether arithmetic takes as long as the loop, too: its variant, or its chain by the
 * model. Nops with the loop's branches then say as much of a shared core as of the loop. */
static bool is_arithmetic_as_long(const struct as_decan_measure *m,
                                  const struct as_decan_judgement *of)
{
    const struct as_decan_timing *base = &m->timing[of->base], *fp = &m->timing[AS_VARIANT_FP];
    const double min_cy = as_decan_thresholds.explains * base->median;
    return m->model.chain >= min_cy || (fp->n && fp->median >= min_cy);
}

/* Weighs a verdict that names the front end. */
static void weigh_front_end(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    const double min_cy = t->explains * m->timing[out->base].median;
    if (m->timing[AS_VARIANT_FES].instance < t->cycles_start)
        as_decan_trust_at_most(out, AS_DECAN_LOW, "an instance takes less than 1000 cycles");
    const bool is_quick = m->model.front_end > 0 && m->model.front_end < min_cy;
    if (is_quick && is_arithmetic_as_long(m, out))
        as_decan_trust_at_most(out, AS_DECAN_LOW,
                               "its arithmetic takes as long, and fetching less by the model");
    else if (is_quick)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM, "fetching takes less by the model");
    const struct as_decan_timing *nored = &m->timing[AS_VARIANT_NORED];
    if (nored->n && nored->median < min_cy)
        as_decan_trust_at_most(out, AS_DECAN_LOW, "it is faster without its reductions");
    weigh_share(m, AS_VARIANT_FES, t->supplies, out);
}

/* Weighs a verdict that names arithmetic. A renamer executes idioms and moves, and a recurrence may
 * run through memory: ports are idle then, though arithmetic alone takes as long as the loop. */
static void weigh_compute(const struct as_decan_measure *m, struct as_decan_judgement *out)
{
    const struct as_decan_model *model = &m->model;
    const double accesses = fmax(model->load, model->store);
    const double busy = fmax(fmax(model->arithmetic, accesses), fmax(model->divide, model->chain));
    if (busy < as_decan_thresholds.overlaps * m->timing[out->base].median)
        as_decan_trust_at_most(out, AS_DECAN_LOW, "by the model its execution ports are idle");
}

/* No iteration takes less than the recurrence of the only path. */
static bool is_impossible(const struct as_decan_measure *m)
{
    return m->model.path_n == 1 &&
           m->timing[as_decan_whole_of(m)].median < as_decan_thresholds.possible * m->model.chain;
}

void as_decan_judge_trust(const struct as_decan_measure *measure, struct as_decan_judgement *out)
{
    const struct as_decan_thresholds *t = &as_decan_thresholds;
    if (out->verdict == AS_DECAN_UNKNOWN) {
        out->confidence = AS_DECAN_LOW;
        return;
    }
    if (measure->timing[AS_VARIANT_REF].n && out->base == AS_VARIANT_ORIG)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM,
                               "restoring memory before its variants slows them");
    if (measure->bits[AS_VARIANT_REF] & AS_VARIANT_NESTS)
        as_decan_trust_at_most(out, AS_DECAN_MEDIUM, "the loops in it were varied with it");
    if (is_impossible(measure))
        as_decan_trust_at_most(out, AS_DECAN_LOW,
                               "it was faster than its recurrence allows by the model");
    weigh_timing(&measure->timing[out->base], out);
    weigh_timing(&measure->timing[out->decided], out);
    if (out->verdict == AS_DECAN_STORE || out->verdict == AS_DECAN_L1)
        weigh_accesses(measure, out);
    switch (out->verdict) {
    case AS_DECAN_L2:
    case AS_DECAN_L3:
    case AS_DECAN_RAM:
    case AS_DECAN_BEYOND_L1:
    case AS_DECAN_LATENCY:
        weigh_data(measure, out);
        break;
    case AS_DECAN_FRONT_END:
    case AS_DECAN_BALANCED_STARVED:
        weigh_front_end(measure, out);
        break;
    default:
        if (out->verdict == AS_DECAN_COMPUTE)
            weigh_compute(measure, out);
        weigh_share(measure, AS_VARIANT_FP, t->explains, out);
        weigh_share(measure, AS_VARIANT_LS, t->explains, out);
    }
}
