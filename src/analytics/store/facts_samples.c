/* SPDX-License-Identifier: Apache-2.0 */
/* Samples among the events as rows of the experiment: addresses become functions and lines. */
#include "analytics/store/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* The content of a row. */
struct sample_row {
    const struct as_sampled_sum *sum;
    const char *module; /* NULL: not known */
    int64_t function_id, caller_id, line_id;
    int64_t n, time_ns;
};

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_texts(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "");
}

/* All that tells rows apart. */
static int compare_rows(const void *a, const void *b)
{
    const struct sample_row *x = a, *y = b;
    int less = compare_numbers(x->sum->location, y->sum->location);
    less = less ? less : compare_numbers((int64_t)x->sum->activity, (int64_t)y->sum->activity);
    less = less ? less : compare_texts(x->sum->routine, y->sum->routine);
    less = less ? less : compare_texts(x->module, y->module);
    less = less ? less : compare_numbers(x->function_id, y->function_id);
    less = less ? less : compare_numbers(x->line_id, y->line_id);
    return less ? less : compare_numbers(x->caller_id, y->caller_id);
}

static int compare_shown(const void *a, const void *b)
{
    const struct sample_row *x = a, *y = b;
    int less = compare_numbers(x->sum->location, y->sum->location);
    less = less ? less : compare_numbers(y->time_ns, x->time_ns);
    return less ? less : compare_rows(a, b);
}

static size_t merge_rows(struct sample_row *row, size_t n)
{
    size_t kept = 0;
    if (n == 0)
        return 0;
    qsort(row, n, sizeof *row, compare_rows);
    for (size_t i = 1; i < n; i++) {
        if (compare_rows(&row[kept], &row[i]) == 0) {
            row[kept].n += row[i].n;
            row[kept].time_ns += row[i].time_ns;
        } else {
            row[++kept] = row[i];
        }
    }
    qsort(row, kept + 1, sizeof *row, compare_shown);
    return kept + 1;
}

static int add_sample_rows(const struct as_trace_facts *f, const struct sample_row *row, size_t n,
                           struct as_error *err)
{
    int64_t number = 0;
    for (size_t i = 0; i < n; i++) {
        number = i && row[i].sum->location == row[i - 1].sum->location ? number + 1 : 0;
        const struct as_row_trace_sample it = {.trace_location_id =
                                                   f->location_id[row[i].sum->location],
                                               .number = number,
                                               .name = as_activity_word(row[i].sum->activity),
                                               .routine = row[i].sum->routine,
                                               .module = row[i].module,
                                               .function_id = row[i].function_id,
                                               .line_id = row[i].line_id,
                                               .caller_id = row[i].caller_id,
                                               .n = row[i].n,
                                               .time_ns = row[i].time_ns};
        AS_TRY(as_experiment_add_trace_sample(f->experiment, &it, err));
    }
    return 0;
}

int as_trace_sample_rows(const struct as_trace_facts *f, struct as_error *err)
{
    const struct as_sampled *sampled = &f->traced->sampled;
    struct sample_row *row = as_calloc(sampled->sum.n + 1, sizeof *row);
    if (!row)
        return as_error_nomem(err, "samples of a trace");
    for (size_t i = 0; i < sampled->sum.n; i++) {
        const struct as_sampled_sum *sum = &sampled->sum.at[i];
        const bool has_place = sum->place != AS_INDEX_NONE;
        row[i] = (struct sample_row){
            .sum = sum,
            .module = has_place ? sampled->place.at[sum->place].module : NULL,
            .function_id = has_place ? f->sampled_function_id[sum->place] : 0,
            .line_id = has_place ? f->sampled_line_id[sum->place] : 0,
            .caller_id = sum->caller != AS_INDEX_NONE ? f->sampled_function_id[sum->caller] : 0,
            .n = (int64_t)sum->n,
            .time_ns = sum->time_ns};
    }
    const int rc = add_sample_rows(f, row, merge_rows(row, sampled->sum.n), err);
    as_free(row);
    return rc;
}
