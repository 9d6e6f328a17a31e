/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass as later ones will be, as short as it can be: of each loop a metric by path, a column of
 * the view of loops, a table on its page, and a finding. Nothing else knows of it.
 */
#include <assay/pipeline.h>

#include "base/error.h"

struct dummy {
    struct assay_pass_job *job;
    struct assay_metric_set *set;
};

static const struct assay_set_metric metrics[] = {
    {.metric = {"dummy_cy", "cy", "Cycles of a path.", .formula = "10 x path"},
     .origin = ASSAY_ORIGIN_MODELLED,
     .digits = 1,
     .bounded = true},
    {.metric = {"dummy_score", "1", "A column.", "loop + 0.5", .title = "Dummy", .topic = "dummy"},
     .origin = ASSAY_ORIGIN_DERIVED,
     .digits = 1}};
static const char *const column[] = {"What", "n"};

static int say_of_loop(void *context, struct assay_rows *row, struct assay_error *err)
{
    const struct dummy *it = context;
    struct assay_experiment *to = it->job->experiment;
    struct assay_subject loop = {ASSAY_OBJECT_LOOP, assay_rows_integer(row, 0), it->job->run_id, 0};
    const double score = (double)loop.object_id + 0.5;
    const struct assay_quantity whole[] = {{.n = 0}, assay_derived(score, score, score, 1)};
    const struct assay_cell cells[] = {assay_cell_text("loads"), assay_cell_integer(7)};
    const struct assay_detail table =
        assay_detail_of(&loop, "dummy", "A table", column, 2, cells, 1);
    const struct assay_finding finding = {.run_id = loop.run_id,
                                          .kind = loop.kind,
                                          .object_id = loop.object_id,
                                          .level = ASSAY_FINDING_POTENTIAL,
                                          .topic = "dummy",
                                          .text = "This loop was looked at."};
    AS_TRY(assay_metric_set_add(it->set, &loop, 1, whole, err));
    for (int path = 1; path <= 2; path++) {
        const struct assay_row_context of = {.path = assay_known(path)};
        const struct assay_quantity each[] = {assay_modelled(10 * path, 10 * path - 1, 99),
                                              {.n = 0}};
        AS_TRY(assay_experiment_add_context(to, &of, &loop.context_id, err));
        AS_TRY(assay_metric_set_add(it->set, &loop, 1, each, err));
    }
    AS_TRY(assay_experiment_detail(to, &table, err));
    return assay_experiment_finding(to, &finding, err);
}

static int say(void *context, struct assay_error *err)
{
    struct dummy *it = context;
    struct assay_experiment *to = it->job->experiment;
    AS_TRY(assay_metric_set_open(to, "dummy", ASSAY_OBJECT_LOOP, NULL, metrics, 2, &it->set, err));
    const int rc = assay_rows_each(to, "SELECT loop_id FROM loop", 0, say_of_loop, it, err);
    assay_metric_set_close(&it->set);
    return rc;
}

int dummy_pass(struct assay_pass_job *job, struct assay_error *err);
int dummy_pass(struct assay_pass_job *job, struct assay_error *err)
{
    struct dummy it = {.job = job};
    return assay_experiment_say(job->experiment, job->run_id, "dummy", say, &it, err);
}
