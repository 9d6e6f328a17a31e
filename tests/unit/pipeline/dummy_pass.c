/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass as later ones will be, as short as it can be: of each loop a metric by path, a column of
 * the view of loops, a table on its page, and a finding. Nothing else knows of it.
 */
#include <assay/pipeline.h>

#include "base/error.h"

static const struct assay_set_metric metrics[] = {
    {{.name = "dummy_cy", .unit = "cy", .meaning = "Cycles of a path.", .formula = "10 x path"},
     .origin = ASSAY_ORIGIN_MODELLED,
     .digits = 1,
     .bounded = true},
    {{.name = "dummy_score",
      .unit = "1",
      .meaning = "A column.",
      .formula = "loop + 0.5",
      .title = "Dummy",
      .topic = "dummy"},
     .origin = ASSAY_ORIGIN_DERIVED,
     .digits = 1}};

static int dummy_loop(struct assay_pass_job *job, struct assay_metric_set *set, int64_t loop,
                      struct assay_error *err)
{
    struct assay_subject it = {.kind = ASSAY_OBJECT_LOOP, .object_id = loop, .run_id = job->run_id};
    const double score = (double)loop + 0.5;
    const struct assay_quantity whole[] = {{.n = 0}, assay_derived(score, score, score, 1)};
    const struct assay_cell cells[] = {{.kind = ASSAY_CELL_TEXT, .text = "loads"},
                                       {.kind = ASSAY_CELL_INTEGER, .integer = 7}};
    AS_TRY(assay_metric_set_add(set, &it, 1, whole, err));
    for (int path = 1; path <= 2; path++) {
        const struct assay_row_context context = {.path = assay_known(path)};
        const struct assay_quantity each[] = {assay_modelled(10 * path, 10 * path - 1, 99),
                                              {.n = 0}};
        AS_TRY(assay_experiment_add_context(job->experiment, &context, &it.context_id, err));
        AS_TRY(assay_metric_set_add(set, &it, 1, each, err));
    }
    AS_TRY(
        assay_experiment_detail(job->experiment,
                                &(struct assay_detail){.run_id = job->run_id,
                                                       .kind = it.kind,
                                                       .object_id = loop,
                                                       .name = "dummy",
                                                       .title = "A table",
                                                       .column = (const char *const[]){"What", "n"},
                                                       .column_n = 2,
                                                       .cell = cells,
                                                       .row_n = 1,
                                                       .pass = "dummy"},
                                err));
    return assay_experiment_finding(job->experiment,
                                    &(struct assay_finding){.run_id = job->run_id,
                                                            .kind = it.kind,
                                                            .object_id = loop,
                                                            .level = ASSAY_FINDING_POTENTIAL,
                                                            .topic = "dummy",
                                                            .text = "This loop was looked at.",
                                                            .pass = "dummy"},
                                    err);
}

int dummy_pass(struct assay_pass_job *job, struct assay_error *err);
int dummy_pass(struct assay_pass_job *job, struct assay_error *err)
{
    struct assay_metric_set *set = NULL;
    struct assay_rows *rows = NULL;
    AS_TRY(assay_experiment_begin(job->experiment, err));
    AS_TRY(assay_experiment_forget(job->experiment, job->run_id, "dummy", err));
    AS_TRY(assay_metric_set_open(job->experiment, "dummy", ASSAY_OBJECT_LOOP, "dummy", metrics, 2,
                                 &set, err));
    int rc = assay_rows_open(job->experiment, "SELECT loop_id FROM loop", &rows, err);
    while (rc == 0 && (rc = assay_rows_next(rows, err)) > 0)
        rc = dummy_loop(job, set, assay_rows_integer(rows, 0), err);
    assay_rows_close(&rows);
    assay_metric_set_close(&set);
    return rc < 0 ? rc : assay_experiment_commit(job->experiment, err);
}
