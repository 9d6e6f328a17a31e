/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluates a series of samples: 10th percentiles of the short and the long form and their
 * difference, in which common costs cancel. Noise only adds time.
 */
#include "measure/internal.h"

static size_t collect_clean_samples(const struct as_sample_series *series, const double *from,
                                    bool only_clean, double *to)
{
    size_t n = 0;

    for (size_t i = 0; i < series->n; i++)
        if (series->clean[i] || !only_clean)
            to[n++] = from[i];
    return n;
}

static double difference(const struct as_sample_series *series, bool only_clean, double share)
{
    double value[AS_METER_SAMPLES];
    size_t n = collect_clean_samples(series, series->longer, only_clean, value);
    const double longer = as_sample_quantile(value, n, share);

    n = collect_clean_samples(series, series->shorter, only_clean, value);
    return (longer - as_sample_quantile(value, n, share)) / series->span;
}

static void find_spread(const struct as_sample_series *series, bool only_clean,
                        struct as_cycles *out)
{
    double single[AS_METER_SAMPLES], value[AS_METER_SAMPLES];

    for (size_t i = 0; i < series->n; i++)
        single[i] = (series->longer[i] - series->shorter[i]) / series->span;
    const size_t n = collect_clean_samples(series, single, only_clean, value);
    out->low = as_sample_quantile(value, n, 0.25);
    out->high = as_sample_quantile(value, n, 0.75);
}

void as_gate_learn(struct as_gate *gate, const struct as_sample_series *series)
{
    double value[AS_METER_SAMPLES];
    const size_t n = collect_clean_samples(series, series->canary, false, value);
    const double median = as_sample_quantile(value, n, 0.5);

    if (n >= 8 && median > gate->best)
        gate->best = median;
}

bool as_series_is_disturbed(const struct as_sample_series *series, unsigned refused_n)
{
    size_t clean = 0;

    for (size_t i = 0; i < series->n; i++)
        clean += series->clean[i];
    return refused_n > 8 && refused_n > clean;
}

void as_series_estimate(const struct as_sample_series *series, unsigned wanted,
                        struct as_cycles *out)
{
    double value[AS_METER_SAMPLES];
    size_t clean = 0;

    for (size_t i = 0; i < series->n; i++)
        clean += series->clean[i];
    const size_t least = wanted / 4 > 8 ? wanted / 4 : 8;
    const bool calm = clean >= least;
    out->sample_n = (unsigned)clean;
    if (!calm && series->n < 8) {
        out->status = AS_METER_TIMEOUT;
        return;
    }
    out->status = calm ? AS_METER_OK : AS_METER_NOISY;
    out->cycles = difference(series, calm, 0.1);
    out->median = difference(series, calm, 0.5);
    find_spread(series, calm, out);
    const size_t n = collect_clean_samples(series, series->ratio, calm, value);
    out->core_per_tick = as_sample_quantile(value, n, 0.5);
}
