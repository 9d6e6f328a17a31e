/* SPDX-License-Identifier: Apache-2.0 */
#include "trust/agree.h"

#include <math.h>

/* Min cycles of an instance. An empty one takes about 80 cycles, which dominate shorter
 * instances. */
#define CYCLES_LEAST 1000.0
#define CHAIN_LEAST  0.95 /* calibration and empty instances are each accurate within 2 % */

#define TIMES_APART 1.25
#define DEVIATIONS  4.0

/* Returns a / b, or NAN if b is not positive. */
static double ratio_of(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

/* Returns the bytes that an iteration accesses: the counted ones, else those of the model. */
static double bytes_of_iteration(const struct as_trust_loop *loop)
{
    const double *fact = loop->fact;
    const double counted =
        ratio_of(fact[AS_TRUST_LOAD_B] + fact[AS_TRUST_STORE_B], fact[AS_TRUST_STARTS]);
    return isnan(counted) ? fact[AS_TRUST_MODEL_LOAD_B] + fact[AS_TRUST_MODEL_STORE_B] : counted;
}

void as_trust_values(const struct as_trust_loop *loop, double l1_b, double *value)
{
    const double *fact = loop->fact;
    const double bytes =
        ratio_of(fact[AS_TRUST_LOAD_B] + fact[AS_TRUST_STORE_B], fact[AS_TRUST_STARTS]);
    const bool is_long = fact[AS_TRUST_INSTANCE] >= CYCLES_LEAST;
    const double touched = bytes_of_iteration(loop) * fact[AS_TRUST_TRIPS];
    value[AS_TRUST_GFLOPS] =
        fact[AS_TRUST_FLOPS] > 0 ? ratio_of(fact[AS_TRUST_FLOPS], loop->time_ns) : (double)NAN;
    value[AS_TRUST_BYTES_PER_CYCLE] = is_long ? ratio_of(bytes, fact[AS_TRUST_MEAN]) : (double)NAN;
    value[AS_TRUST_RATIO] =
        is_long ? ratio_of(fact[AS_TRUST_MEDIAN], fact[AS_TRUST_MODEL]) : (double)NAN;
    value[AS_TRUST_LEAST_RATIO] = value[AS_TRUST_RATIO] / (1 + fact[AS_TRUST_STABILITY]);
    value[AS_TRUST_TOUCHED_B] = touched;
    value[AS_TRUST_FITS] = isnan(touched) || !(l1_b > 0) ? (double)NAN : touched <= l1_b;
    value[AS_TRUST_TRIPS_ERROR_PCT] =
        loop->is_exact ? (double)NAN
                       : 100 * (ratio_of(fact[AS_TRUST_ITERATIONS], fact[AS_TRUST_STARTS]) - 1);
}

bool as_trust_times_differ(const struct as_trust_loop *loop, double samples, double *sampled_ns,
                           double *timed_ns)
{
    const double *fact = loop->fact;
    const double cycle_ns = ratio_of(fact[AS_TRUST_NS], fact[AS_TRUST_MEDIAN]);
    *sampled_ns = ratio_of(loop->time_ns, fact[AS_TRUST_ITERATIONS]);
    *timed_ns = fact[AS_TRUST_MEAN] * cycle_ns;
    const double ratio = ratio_of(*sampled_ns, *timed_ns);
    if (isnan(ratio) || samples <= 0 || !(fact[AS_TRUST_INSTANCE] >= CYCLES_LEAST))
        return false;
    const double apart_x = fmax(TIMES_APART, 1 + DEVIATIONS / sqrt(samples));
    const bool has_all = fact[AS_TRUST_CALLS] == 0 && loop->own_ns >= loop->time_ns;
    return ratio > apart_x || (has_all && ratio * apart_x < 1);
}

bool as_trust_is_below_chain(const struct as_trust_loop *loop)
{
    const double *fact = loop->fact;
    return fact[AS_TRUST_INSTANCE] >= CYCLES_LEAST && fact[AS_TRUST_PATHS] == 1 &&
           fact[AS_TRUST_MEDIAN] < CHAIN_LEAST * fact[AS_TRUST_CHAIN];
}

void as_trust_add(struct as_trust_sums *sums, const struct as_trust_loop *loop, const double *value)
{
    const double off = value[AS_TRUST_RATIO] - 1;
    if (value[AS_TRUST_FITS] == 1 && !isnan(off) && loop->own_ns > 0) {
        sums->model += loop->own_ns * fabs(off);
        sums->bias += loop->own_ns * off;
        sums->weight += loop->own_ns;
        sums->model_n++;
    }
    if (!isnan(value[AS_TRUST_TRIPS_ERROR_PCT])) {
        sums->trips += fabs(value[AS_TRUST_TRIPS_ERROR_PCT]);
        sums->trips_n++;
    }
}
