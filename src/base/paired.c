/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of two commands that ran alternately. Each run is compared with the other command's
 * runs before and after it, interpolated to its own position. A linear drift cancels out, a slow
 * one nearly so. The contrasts overlap. So their variance and its degrees of freedom are those of a
 * quadratic form (Satterthwaite's approximation, doc/internals/compare.md).
 */
#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/paired.h"

/* Max number of contrasts for the exact degrees of freedom; the cost is quadratic. */
#define COUNTED_MOST 400

/* Estimated degrees of freedom per contrast for longer series. */
#define FREEDOM_OF_EACH 0.5

struct contrast {
    uint32_t at[3]; /* run before, the run itself, run after */
    double weight[3];
};

/* Returns the nearest run of the other command before (step -1) or after (step 1) run `i`; n if
 * there is none. */
static size_t nearest_other(const struct as_turn *turn, size_t n, size_t i, int step)
{
    for (size_t k = i; step > 0 ? ++k < n : k-- > 0;)
        if (turn[k].is_variant != turn[i].is_variant)
            return k;
    return n;
}

static size_t list_contrasts(const struct as_turn *turn, size_t n, struct contrast *out)
{
    size_t made = 0;

    for (size_t i = 0; i < n; i++) {
        const size_t before = nearest_other(turn, n, i, -1), after = nearest_other(turn, n, i, 1);
        if (before == n || after == n)
            continue;
        const double sign = turn[i].is_variant ? 1 : -1;
        const double part = (turn[i].at - turn[before].at) / (turn[after].at - turn[before].at);
        out[made++] = (struct contrast){.at = {(uint32_t)before, (uint32_t)i, (uint32_t)after},
                                        .weight = {-sign * (1 - part), sign, -sign * part}};
    }
    return made;
}

static double contrast_value(const struct contrast *it, const struct as_turn *turn)
{
    double sum = 0;
    for (size_t k = 0; k < 3; k++)
        sum += it->weight[k] * log(turn[it->at[k]].x);
    return sum;
}

static double contrast_product(const struct contrast *a, const struct contrast *b)
{
    double sum = 0;
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++)
            sum += a->at[i] == b->at[k] ? a->weight[i] * b->weight[k] : 0;
    return sum;
}

/* Computes the weight of each run in the mean contrast. Returns the sum of the squared weights. */
static double mean_weights(const struct contrast *contrast, size_t n, double *weight, size_t turn_n)
{
    double squares = 0;
    for (size_t i = 0; i < turn_n; i++)
        weight[i] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
            weight[contrast[i].at[k]] += contrast[i].weight[k] / (double)n;
    for (size_t i = 0; i < turn_n; i++)
        squares += weight[i] * weight[i];
    return squares;
}

static double product_with_mean(const struct contrast *it, const double *weight)
{
    double sum = 0;
    for (size_t k = 0; k < 3; k++)
        sum += it->weight[k] * weight[it->at[k]];
    return sum;
}

/* Returns the sum of the squared covariances of the contrasts minus their mean, for runs of
 * variance 1. */
static double squared_trace(const struct contrast *contrast, size_t n, const double *weight,
                            double squares)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            const double it = contrast_product(&contrast[i], &contrast[k]) -
                              product_with_mean(&contrast[i], weight) -
                              product_with_mean(&contrast[k], weight) + squares;
            sum += it * it;
        }
    return sum;
}

/* Computes the variance of the mean contrast and the degrees of freedom of this variance. */
static void find_variance(const struct contrast *contrast, size_t n, const struct as_turn *turn,
                          size_t turn_n, double *weight, struct as_paired *out)
{
    const double squares = mean_weights(contrast, n, weight, turn_n);
    double trace = -(double)n * squares, residual = 0;

    for (size_t i = 0; i < n; i++) {
        const double off = contrast_value(&contrast[i], turn) - out->difference;
        residual += off * off;
        trace += contrast_product(&contrast[i], &contrast[i]);
    }
    out->variance = residual / trace * squares;
    out->freedom = n > COUNTED_MOST ? FREEDOM_OF_EACH * (double)n
                                    : trace * trace / squared_trace(contrast, n, weight, squares);
}

static bool evaluate_contrasts(const struct as_turn *turn, size_t n, struct as_paired *out)
{
    struct contrast *contrast = as_malloc(n * sizeof *contrast);
    double *weight = as_malloc(n * sizeof *weight);
    const bool is_there = contrast && weight;
    const size_t made = is_there ? list_contrasts(turn, n, contrast) : 0;

    for (size_t i = 0; i < made; i++)
        out->difference += contrast_value(&contrast[i], turn) / (double)made;
    if (made >= 2)
        find_variance(contrast, made, turn, n, weight, out);
    as_free(contrast);
    as_free(weight);
    return is_there;
}

int as_paired_of(const struct as_turn *turn, size_t n, struct as_paired *out)
{
    *out = (struct as_paired){.variance = INFINITY, .freedom = 1};
    if (n < 3)
        return 0;
    return evaluate_contrasts(turn, n, out) ? 0 : AS_ERR_NOMEM;
}

void as_paired_interval(const struct as_paired *it, double alpha, struct as_interval *ratio,
                        double *p)
{
    const double error = sqrt(it->variance);

    *ratio = (struct as_interval){0, INFINITY};
    *p = 1;
    if (isinf(it->variance))
        return;
    const double half =
        error > 0 ? as_stat_student_quantile(1 - alpha / 2, it->freedom) * error : 0;
    *ratio = (struct as_interval){exp(it->difference - half), exp(it->difference + half)};
    *p = error > 0 ? 2 * as_stat_student_cdf(-fabs(it->difference) / error, it->freedom)
                   : (double)(it->difference == 0);
}

/* ---- Looks --------------------------------------------------------------------------------- */

#define LOOK_FIRST 4
/* Share of the allowed error for tests before the last one. */
#define LOOK_EARLY 0.3

/* The numbers of pairs grow by half each time: 4, 6, 9, 13, 19, 28, ... */
unsigned as_look_number(size_t n, bool *is_look)
{
    unsigned number = 0;

    *is_look = false;
    for (size_t at = LOOK_FIRST; at <= n; at += at / 2) {
        number++;
        *is_look = at == n;
    }
    return number;
}

double as_look_alpha(double alpha, unsigned number)
{
    return alpha / ((double)number * (number + 1));
}

/* Tests 1, 2, ... spend 1/2, 1/6, ... of LOOK_EARLY * `alpha`. The last test gets the rest of
 * `alpha`. */
double as_look_alpha_of(double alpha, size_t n, size_t planned_n)
{
    bool is_look;
    const unsigned number = as_look_number(n, &is_look);

    if (n < planned_n)
        return as_look_alpha(LOOK_EARLY * alpha, number ? number : 1);
    const unsigned before = number - is_look;
    return alpha * (1 - LOOK_EARLY * before / (before + 1.0));
}
