/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the judgement share. */
#ifndef AS_DECAN_JUDGING_H
#define AS_DECAN_JUDGING_H

#include "decan/thresholds.h"
#include "decan/verdict.h"

/* NAN where the divisor is none. */
double as_decan_ratio_of(double a, double b);
/* NAN where it did not run. */
double as_decan_cycles_of(const struct as_decan_measure *measure, enum as_variant_kind kind);
void as_decan_fill_ratios(const struct as_decan_measure *measure, struct as_decan_ratios *out);

/* Where data come from, and whether the way there is what takes long or its width. `out` has its
 * ratios already. */
void as_decan_judge_data(const struct as_decan_measure *measure, struct as_decan_judgement *out);
/* How far to trust it: of what is decided. */
void as_decan_judge_trust(const struct as_decan_measure *measure, struct as_decan_judgement *out);

#endif
