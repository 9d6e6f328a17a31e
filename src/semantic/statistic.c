/* SPDX-License-Identifier: Apache-2.0 */
#include "semantic/statistic.h"

#include <assert.h>
#include <math.h>

typedef const struct as_cell_sums cell_t;
typedef const struct as_statistic_context context_t;

void as_cell_add(struct as_cell_sums *cell, struct as_quantity value, int64_t length_ns)
{
    cell->bursts_n++;
    cell->time_ns += length_ns;
    cell->squares += (__int128)length_ns * length_ns;
    as_sum_add(&cell->value, value);
    as_sum_add_times(&cell->integral, value, length_ns);
    as_sum_add_times(&cell->absolute, as_quantity_absolute(value), length_ns);
    if (as_quantity_compare(value, cell->max) > 0)
        cell->max = value;
    if (as_quantity_is_zero(value))
        return;
    cell->not_zero_n++;
    cell->not_zero_ns += length_ns;
    if (as_quantity_is_zero(cell->min) || as_quantity_compare(value, cell->min) < 0)
        cell->min = value;
}

void as_cell_add_send(struct as_cell_sums *cell, int64_t size_b)
{
    if (!cell->sends_n || size_b < cell->min_sent_b)
        cell->min_sent_b = size_b;
    if (!cell->sends_n++ || size_b > cell->max_sent_b)
        cell->max_sent_b = size_b;
    cell->sent_b += size_b;
}

void as_cell_add_receive(struct as_cell_sums *cell, int64_t size_b)
{
    if (!cell->receives_n || size_b < cell->min_received_b)
        cell->min_received_b = size_b;
    if (!cell->receives_n++ || size_b > cell->max_received_b)
        cell->max_received_b = size_b;
    cell->received_b += size_b;
}

/* ---- Formulas -------------------------------------------------------------------------------- */

#define STATISTIC(name) static struct as_quantity name(cell_t *cell, context_t *context)
#define UNUSED_CONTEXT  ((void)cell, (void)context)

static struct as_quantity ns_in_units(context_t *context, int64_t ns)
{
    return as_quantity_divide(as_whole(ns), as_whole(context->unit_ns));
}

static struct as_quantity percent_of_whole(int64_t part, int64_t whole)
{
    return as_quantity_divide(as_quantity_multiply(as_whole(part), as_whole(100)), as_whole(whole));
}

static struct as_quantity wide_by(__int128 sum, int64_t n)
{
    const struct as_sum of = {.whole = sum};
    return as_sum_divide(&of, as_whole(n));
}

STATISTIC(stat_time)
{
    return ns_in_units(context, cell->time_ns);
}

STATISTIC(stat_percent_time)
{
    return percent_of_whole(cell->time_ns, context->row->time_ns);
}

STATISTIC(stat_percent_not_zero)
{
    return percent_of_whole(cell->time_ns - cell->control_zero_ns, context->row->not_zero_ns);
}

STATISTIC(stat_percent_window)
{
    return percent_of_whole(cell->time_ns, context->range_ns);
}

STATISTIC(stat_bursts)
{
    UNUSED_CONTEXT;
    return as_whole(cell->bursts_n);
}

STATISTIC(stat_percent_bursts)
{
    return percent_of_whole(cell->bursts_n, context->row->bursts_n);
}

STATISTIC(stat_integral)
{
    return as_sum_divide(&cell->absolute, as_whole(context->unit_ns));
}

STATISTIC(stat_average)
{
    UNUSED_CONTEXT;
    return as_sum_divide(&cell->integral, as_whole(cell->time_ns));
}

STATISTIC(stat_maximum)
{
    UNUSED_CONTEXT;
    return cell->max;
}

STATISTIC(stat_minimum)
{
    UNUSED_CONTEXT;
    return cell->min;
}

STATISTIC(stat_average_burst)
{
    const struct as_sum time = {.whole = cell->time_ns};
    return as_quantity_divide(as_sum_divide(&time, as_whole(cell->bursts_n)),
                              as_whole(context->unit_ns));
}

/* sqrt(n sum(t^2) - sum(t)^2) / n: of whole numbers until the root */
STATISTIC(stat_stdev_burst)
{
    const __int128 n = cell->bursts_n, sum = cell->time_ns;
    const __int128 spread = n * cell->squares - sum * sum;
    return n ? as_real(sqrt((double)spread) / (double)n / (double)context->unit_ns) : as_whole(0);
}

STATISTIC(stat_average_value)
{
    UNUSED_CONTEXT;
    return as_sum_divide(&cell->value, as_whole(cell->bursts_n));
}

STATISTIC(stat_average_not_zero)
{
    UNUSED_CONTEXT;
    return as_sum_divide(&cell->integral, as_whole(cell->not_zero_ns));
}

STATISTIC(stat_average_value_not_zero)
{
    UNUSED_CONTEXT;
    return as_sum_divide(&cell->value, as_whole(cell->not_zero_n));
}

STATISTIC(stat_bursts_not_zero)
{
    UNUSED_CONTEXT;
    return as_whole(cell->not_zero_n);
}

STATISTIC(stat_sum)
{
    UNUSED_CONTEXT;
    return as_sum_number(&cell->value);
}

STATISTIC(stat_sends)
{
    UNUSED_CONTEXT;
    return as_whole(cell->sends_n);
}

STATISTIC(stat_receives)
{
    UNUSED_CONTEXT;
    return as_whole(cell->receives_n);
}

STATISTIC(stat_sent)
{
    UNUSED_CONTEXT;
    return as_quantity_of_wide(cell->sent_b);
}

STATISTIC(stat_received)
{
    UNUSED_CONTEXT;
    return as_quantity_of_wide(cell->received_b);
}

STATISTIC(stat_average_sent)
{
    UNUSED_CONTEXT;
    return wide_by(cell->sent_b, cell->sends_n);
}

STATISTIC(stat_average_received)
{
    UNUSED_CONTEXT;
    return wide_by(cell->received_b, cell->receives_n);
}

STATISTIC(stat_min_sent)
{
    UNUSED_CONTEXT;
    return as_whole(cell->min_sent_b);
}

STATISTIC(stat_min_received)
{
    UNUSED_CONTEXT;
    return as_whole(cell->min_received_b);
}

STATISTIC(stat_max_sent)
{
    UNUSED_CONTEXT;
    return as_whole(cell->max_sent_b);
}

STATISTIC(stat_max_received)
{
    UNUSED_CONTEXT;
    return as_whole(cell->max_received_b);
}

/* ---- The table ------------------------------------------------------------------------------- */

const struct as_statistic as_statistics[] = {
    {"Time", "time", "time in the column", false, stat_time},
    {"% Time", "%", "of the time of all columns", false, stat_percent_time},
    {"% Time Not Zero", "%", "of the time where the control window is not 0", false,
     stat_percent_not_zero},
    {"% Window Time", "%", "of the time of the table", false, stat_percent_window},
    {"# Bursts", "count", "pieces", false, stat_bursts},
    {"% # Bursts", "%", "of the pieces of all columns", false, stat_percent_bursts},
    {"Integral", "value", "sum of the values without sign, times their time", false, stat_integral},
    {"Average value", "value", "mean over time", false, stat_average},
    {"Maximum", "value", "largest value, 0 or above", false, stat_maximum},
    {"Minimum", "value", "smallest value that is not 0", false, stat_minimum},
    {"Average Burst Time", "time", "mean length of a piece", false, stat_average_burst},
    {"Stdev Burst Time", "time", "standard deviation of the lengths", false, stat_stdev_burst},
    {"Average per Burst", "value", "mean over pieces", false, stat_average_value},
    {"Average value != 0", "value", "mean over the time where the value is not 0", false,
     stat_average_not_zero},
    {"Average per Burst != 0", "value", "mean over the pieces that are not 0", false,
     stat_average_value_not_zero},
    {"# Bursts != 0", "count", "pieces that are not 0", false, stat_bursts_not_zero},
    {"Sum bursts", "value", "sum over pieces", false, stat_sum},
    {"#Sends", "count", "messages sent to the partner", true, stat_sends},
    {"#Receives", "count", "messages received from the partner", true, stat_receives},
    {"Bytes sent", "bytes", "to the partner", true, stat_sent},
    {"Bytes received", "bytes", "from the partner", true, stat_received},
    {"Average bytes sent", "bytes", "of a message", true, stat_average_sent},
    {"Average bytes received", "bytes", "of a message", true, stat_average_received},
    {"Minimum bytes sent", "bytes", "of a message", true, stat_min_sent},
    {"Minimum bytes received", "bytes", "of a message", true, stat_min_received},
    {"Maximum bytes sent", "bytes", "of a message", true, stat_max_sent},
    {"Maximum bytes received", "bytes", "of a message", true, stat_max_received},
};
const size_t as_statistics_n = sizeof as_statistics / sizeof *as_statistics;

const struct as_statistic *as_statistic_find(struct as_view name)
{
    for (size_t i = 0; i < as_statistics_n; i++)
        if (as_view_equal(as_view_of(as_statistics[i].name), name))
            return &as_statistics[i];
    return NULL;
}

/* ---- Totals ---------------------------------------------------------------------------------- */

void as_totals_add(struct as_totals *t, struct as_quantity value)
{
    if (!t->n++ || as_quantity_compare(value, t->max) > 0)
        t->max = value;
    if (!as_quantity_is_zero(value) && (!t->has_min || as_quantity_compare(value, t->min) < 0)) {
        t->min = value;
        t->has_min = true;
    }
    as_sum_add(&t->total, value);
    const double distance = as_quantity_double(value) - t->mean;
    t->mean += distance / (double)t->n;
    t->spread += distance * (as_quantity_double(value) - t->mean);
}

struct as_quantity as_totals_value(const struct as_totals *t, enum as_total_id id)
{
    const struct as_quantity mean = as_sum_divide(&t->total, as_whole(t->n));
    if (t->n == 0)
        return as_whole(0);
    switch (id) {
    case AS_TOTAL_TOTAL:
        return as_sum_number(&t->total);
    case AS_TOTAL_AVERAGE:
        return mean;
    case AS_TOTAL_MAXIMUM:
        return t->max;
    case AS_TOTAL_MINIMUM:
        return t->has_min ? t->min : as_whole(0);
    case AS_TOTAL_STDEV:
        return as_real(sqrt(t->spread / (double)t->n));
    default:
        return as_quantity_divide(mean, t->max);
    }
}

const char *as_total_word(enum as_total_id id)
{
    static const char *const words[AS_TOTALS_N] = {"Total",   "Average", "Maximum",
                                                   "Minimum", "StDev",   "Avg/Max"};
    assert((unsigned)id < sizeof words / sizeof *words);
    return words[id];
}
