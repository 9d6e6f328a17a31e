/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minimal pass. It writes a metric of each loop by path, and a column of the view of loops. It
 * also writes a table on the page of a loop, and a finding. No other code knows this pass.
 */
#include "base/error.h"
#include "pipeline/pipeline.h"

static const struct as_set_metric metrics[] = {
    {.metric = {"dummy_cy", "cy", "Cycles of a path.", .formula = "10 x path"},
     .origin = AS_ORIGIN_MODELLED,
     .digits = 1,
     .bounded = true},
    {.metric = {"dummy_score", "1", "A column.", "loop + 0.5", .title = "Dummy", .topic = "dummy"},
     .origin = AS_ORIGIN_DERIVED,
     .digits = 1}};
static const char *const column[] = {"What", "n"};

static int say_of_loop(struct as_pass_object *it, struct as_error *err)
{
    const double score = (double)it->of.object_id + 0.5;
    const struct as_bounded_value whole[] = {{.n = 0}, as_value_derived(score, score, score, 1)};
    const struct as_sql_cell cells[] = {as_sql_cell_text("loads"), as_sql_cell_integer(7)};
    AS_TRY(as_pass_write_values(it, NULL, whole, err));
    for (int path = 1; path <= 2; path++) {
        const struct as_row_context where = {.path = as_known(path)};
        const struct as_bounded_value each[] = {as_value_modelled(10 * path, 10 * path - 1, 99),
                                                {.n = 0}};
        AS_TRY(as_pass_write_values(it, &where, each, err));
    }
    AS_TRY(as_pass_write_table(it, "A table", column, 2, cells, 1, err));
    return as_pass_write_finding(it, AS_FINDING_POTENTIAL, "This loop was looked at.", err);
}

int dummy_pass(struct as_pass_job *job, struct as_error *err);
int dummy_pass(struct as_pass_job *job, struct as_error *err)
{
    static const struct as_pass_objects each = {"dummy", AS_OBJECT_LOOP, metrics, 2, say_of_loop};
    return as_experiment_write_each(job->experiment, job->run_id, &each, NULL, err);
}
