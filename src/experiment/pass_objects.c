/* SPDX-License-Identifier: Apache-2.0 */
/* Runs passes that write the same results for each object of a kind: one metric set, one name. */
#include <stdio.h>

#include "base/error.h"

#include "experiment/experiment.h"

struct pass_rows {
    struct as_pass_object object; /* of the current object */
    const struct as_pass_objects *each;
    int64_t run_id;
};

static int write_of_row(void *context, struct as_rows *row, struct as_error *err)
{
    struct pass_rows *all = context;
    struct as_pass_object it = all->object;

    it.of = (struct as_subject){all->each->kind, as_rows_integer(row, 0), all->run_id, 0};
    return all->each->write(&it, err);
}

static int write_of_all(void *context, struct as_error *err)
{
    struct pass_rows *all = context;
    const struct as_pass_objects *each = all->each;
    const char *const word = as_object_word(each->kind);
    char sql[96];

    snprintf(sql, sizeof sql, "SELECT %s_id FROM %s", word, word);
    if (each->metric)
        AS_TRY(as_metric_set_open(all->object.experiment, each->pass, each->kind, NULL,
                                  each->metric, each->metric_n, &all->object.set, err));
    const int rc = as_rows_each(all->object.experiment, sql, 0, write_of_row, all, err);

    as_metric_set_close(&all->object.set);
    return rc;
}

int as_experiment_write_each(struct as_experiment *experiment, int64_t run_id,
                             const struct as_pass_objects *each, void *context,
                             struct as_error *err)
{
    struct pass_rows all = {
        .object = {.experiment = experiment, .pass = each->pass, .context = context},
        .each = each,
        .run_id = run_id};

    return as_experiment_write_pass(experiment, run_id, each->pass, write_of_all, &all, err);
}

int as_pass_write_values(const struct as_pass_object *it, const struct as_row_context *where,
                         const struct as_bounded_value *value, struct as_error *err)
{
    struct as_subject of = it->of;

    if (where)
        AS_TRY(as_experiment_add_context(it->experiment, where, &of.context_id, err));
    return as_metric_set_add(it->set, &of, 1, value, err);
}

int as_pass_write_table(const struct as_pass_object *it, const char *title,
                        const char *const *column, size_t column_n, const struct as_sql_cell *cell,
                        size_t row_n, struct as_error *err)
{
    const struct as_detail table = {.of = it->of,
                                    .name = it->pass,
                                    .title = title,
                                    .column = column,
                                    .column_n = column_n,
                                    .cell = cell,
                                    .row_n = row_n};

    return as_experiment_detail(it->experiment, &table, err);
}

int as_pass_write_finding(const struct as_pass_object *it, enum as_level level, const char *text,
                          struct as_error *err)
{
    const struct as_finding finding = {
        .of = it->of, .level = level, .topic = it->pass, .text = text};

    return as_experiment_finding(it->experiment, &finding, err);
}
