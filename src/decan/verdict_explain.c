/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a judgement as sentences with the numbers that decided it. */
#include <math.h>
#include <stdio.h>

#include "decan/judging.h"

/* Buffer with a growing text; its length counts as in snprintf. */
struct explanation {
    char *at;
    size_t size_b;
    int n;
};

__attribute__((format(printf, 2, 3))) static void append_explanation(struct explanation *told,
                                                                     const char *format, ...)
{
    __builtin_va_list arguments;
    const size_t used = (size_t)told->n < told->size_b ? (size_t)told->n : told->size_b;
    __builtin_va_start(arguments, format);
    const int more = vsnprintf(told->size_b > used ? told->at + used : NULL, told->size_b - used,
                               format, arguments);
    __builtin_va_end(arguments);
    told->n += more > 0 ? more : 0;
}

static double cycles(const struct as_decan_measure *m, enum as_variant_kind kind)
{
    return as_decan_cycles_of(m, kind);
}

/* Explains the level. Without measured bandwidths it follows from sizes alone. */
static void explain_data_levels(struct explanation *told, const struct as_decan_measure *m,
                                const struct as_decan_judgement *j)
{
    const bool is_measured = !isnan(m->level[j->level].read_b);
    if (j->nearest == j->farthest && is_measured)
        return;
    const char *nearest = as_predict_level_name(j->nearest);
    const char *farthest = as_predict_level_name(j->farthest);
    if (j->nearest == AS_PREDICT_L1 && j->farthest > AS_PREDICT_L2)
        append_explanation(told, "; the data come from %s or nearer levels", farthest);
    else if (j->nearest == j->farthest)
        append_explanation(told, "; the data come from %s", nearest);
    else
        append_explanation(told, "; the data come from %s %s %s", nearest,
                           j->nearest + 1 == j->farthest ? "or" : "to", farthest);
    if (!is_measured)
        append_explanation(told,
                           ", by the cache sizes that the CPU %s: the machine was not measured",
                           m->level[j->nearest].is_claimed ? "claims" : "reports");
}

static void explain_level(struct explanation *told, const struct as_decan_measure *m,
                          const struct as_decan_judgement *j)
{
    explain_data_levels(told, m, j);
    const double sat = j->ratio.level_sat[j->level];
    if (j->ratio.orig_again >= as_decan_thresholds.returned)
        append_explanation(told, "; repeated over the same data, the loop is %.2f times as fast",
                           j->ratio.orig_again);
    if (!isnan(sat) && j->verdict != AS_DECAN_LATENCY)
        append_explanation(told, "; moving them from %s alone takes %.0f %% of the time",
                           as_predict_level_name(j->level), 100 * fmin(sat, 1));
    if (!isnan(j->ratio.in_flight[j->level]) && j->verdict == AS_DECAN_LATENCY)
        append_explanation(told, "; %.1f cache lines of %s are in flight at once",
                           j->ratio.in_flight[j->level], as_predict_level_name(j->level));
}

static void explain_data_bound(struct explanation *told, const struct as_decan_measure *m,
                               const struct as_decan_judgement *j)
{
    append_explanation(told, ": with its data in L1 an iteration takes %.2f cycles",
                       cycles(m, AS_VARIANT_DL1));
    if (cycles(m, AS_VARIANT_LS) > 0)
        append_explanation(told, ", its accesses alone %.2f", cycles(m, AS_VARIANT_LS));
    explain_level(told, m, j);
}

static void explain_core_bound(struct explanation *told, const struct as_decan_measure *m,
                               const struct as_decan_judgement *j)
{
    const double fp = cycles(m, AS_VARIANT_FP), ls = cycles(m, AS_VARIANT_LS);
    switch (j->verdict) {
    case AS_DECAN_COMPUTE:
    case AS_DECAN_L1:
    case AS_DECAN_STORE:
    case AS_DECAN_BALANCED_FED:
        append_explanation(
            told, ": its arithmetic alone takes %.2f cycles, its accesses alone %.2f", fp, ls);
        break;
    case AS_DECAN_DIVIDE:
        append_explanation(told, ": without divisions and roots it takes %.2f",
                           cycles(m, AS_VARIANT_NODIV));
        break;
    case AS_DECAN_CHAIN:
        append_explanation(told, ": a recurrence takes %.2f cycles per iteration by the model",
                           m->model.chain);
        break;
    default:
        append_explanation(told, ": the same number of NOPs takes %.2f", cycles(m, AS_VARIANT_FES));
        break;
    }
}

/* Explains the maximum speed-up, with its interval by the medians. */
static void explain_gain(struct explanation *told, const struct as_decan_judgement *j)
{
    append_explanation(told, ". At most %.2f times faster without that", j->gain);
    if (isfinite(j->gain_high) && j->gain_high - j->gain_low > 0.005)
        append_explanation(told, " (%.2f to %.2f)", j->gain_low, j->gain_high);
    else if (!isfinite(j->gain_high))
        append_explanation(told, " (too few instances for an interval)");
}

int as_decan_explain(const struct as_decan_measure *measure,
                     const struct as_decan_judgement *judgement, char *out, size_t out_b)
{
    struct explanation told = {.at = out, .size_b = out_b};
    const enum as_decan_verdict v = judgement->verdict;
    if (out_b)
        out[0] = 0;
    if (v == AS_DECAN_UNKNOWN) {
        append_explanation(&told, "Not decided: %s.", judgement->doubt ? judgement->doubt : "?");
        return told.n;
    }
    const double whole = cycles(measure, AS_VARIANT_ORIG);
    const bool is_far = v == AS_DECAN_L2 || v == AS_DECAN_L3 || v == AS_DECAN_RAM ||
                        v == AS_DECAN_BEYOND_L1 || v == AS_DECAN_LATENCY ||
                        (v == AS_DECAN_L1 && judgement->decided == AS_VARIANT_DL1);
    append_explanation(&told, "%c%s, %.2f cycles per iteration",
                       as_decan_verdict_title(v)[0] & ~0x20, as_decan_verdict_title(v) + 1,
                       isnan(whole) ? cycles(measure, judgement->base) : whole);
    if (measure->bits[AS_VARIANT_REF] & AS_VARIANT_NESTS)
        append_explanation(&told, " with the loops in it");
    if (is_far)
        explain_data_bound(&told, measure, judgement);
    else
        explain_core_bound(&told, measure, judgement);
    if (judgement->gain >= 1)
        explain_gain(&told, judgement);
    append_explanation(&told, ".");
    if (judgement->doubt)
        append_explanation(&told, " Uncertain: %s.", judgement->doubt);
    return told.n;
}
