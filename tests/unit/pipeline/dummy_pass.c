/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A minimal pass. It writes a metric of each loop by path, and a column of the view of loops. It
 * also writes a table on the page of a loop, and a finding. No other code knows this pass.
 */
#include "base/error.h"
#include "pipeline/pipeline.h"

static const struct assay_set_metric metrics[] = {
    {.metric = {"dummy_cy", "cy", "Cycles of a path.", .formula = "10 x path"},
     .origin = ASSAY_ORIGIN_MODELLED,
     .digits = 1,
     .bounded = true},
    {.metric = {"dummy_score", "1", "A column.", "loop + 0.5", .title = "Dummy", .topic = "dummy"},
     .origin = ASSAY_ORIGIN_DERIVED,
     .digits = 1}};
static const char *const column[] = {"What", "n"};

static int say_of_loop(struct assay_pass_object *it, struct assay_error *err)
{
    const double score = (double)it->of.object_id + 0.5;
    const struct assay_quantity whole[] = {{.n = 0}, assay_derived(score, score, score, 1)};
    const struct assay_cell cells[] = {assay_cell_text("loads"), assay_cell_integer(7)};
    AS_TRY(assay_pass_write_values(it, NULL, whole, err));
    for (int path = 1; path <= 2; path++) {
        const struct assay_row_context where = {.path = assay_known(path)};
        const struct assay_quantity each[] = {assay_modelled(10 * path, 10 * path - 1, 99),
                                              {.n = 0}};
        AS_TRY(assay_pass_write_values(it, &where, each, err));
    }
    AS_TRY(assay_pass_write_table(it, "A table", column, 2, cells, 1, err));
    return assay_pass_write_finding(it, ASSAY_FINDING_POTENTIAL, "This loop was looked at.", err);
}

int dummy_pass(struct assay_pass_job *job, struct assay_error *err);
int dummy_pass(struct assay_pass_job *job, struct assay_error *err)
{
    static const struct assay_pass_objects each = {"dummy", ASSAY_OBJECT_LOOP, metrics, 2,
                                                   say_of_loop};
    return assay_experiment_write_each(job->experiment, job->run_id, &each, NULL, err);
}
