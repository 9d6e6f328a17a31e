/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the judgement. */
#ifndef AS_DECAN_JUDGING_H
#define AS_DECAN_JUDGING_H

#include "decan/thresholds.h"
#include "decan/verdict.h"

/* Returns a / b, or NAN if b is not positive or a is negative. */
double as_decan_ratio_of(double a, double b);
/* Returns the median cycles per iteration of a variant, or NAN if it did not run. */
double as_decan_cycles_of(const struct as_decan_measure *measure, enum as_variant_kind kind);
/* Selects a time of a variant: the median, or an end of its interval. */
enum as_decan_end { AS_DECAN_AT_LOW = -1, AS_DECAN_AT_MEDIAN, AS_DECAN_AT_HIGH };
/* Returns the time of a over the time of b. The upper end is the upper of a over the lower of b. */
double as_decan_over(const struct as_decan_measure *measure, enum as_variant_kind a,
                     enum as_variant_kind b, enum as_decan_end end);
/*
 * Select the variant that others are compared with, and the variant that is the whole loop. ORIG
 * and REF replace each other if one did not run. ORIG also replaces a much slower REF: copies
 * before it, or a pause of wide vectors, slowed it down, which variants without stores do not have.
 */
enum as_variant_kind as_decan_base_of(const struct as_decan_measure *measure);
enum as_variant_kind as_decan_whole_of(const struct as_decan_measure *measure);
void as_decan_fill_ratios(const struct as_decan_measure *measure, enum as_decan_end end,
                          struct as_decan_ratios *out);

/* Judges the level of the data, and latency against bandwidth. `out->ratio` is set already. */
void as_decan_judge_data(const struct as_decan_measure *measure, struct as_decan_judgement *out);
/* Lowers the confidence to `to`. Sets the reason unless there is one already. */
void as_decan_trust_at_most(struct as_decan_judgement *out, enum as_decan_confidence to,
                            const char *why);
/* Sets the confidence of the verdict. */
void as_decan_judge_trust(const struct as_decan_measure *measure, struct as_decan_judgement *out);

#endif
