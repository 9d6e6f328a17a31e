/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: `assay import` as a whole. A file that opens as a file of perf must become an
 * experiment. Its database takes every row, and its summary can be shown.
 */
#include "fuzz.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/out.h"
#include "base/str.h"
#include "experiment/experiment.h"
#include "profile/profile.h"
#include "report/report.h"
#include "scratch.h"

static void summarise(struct assay_experiment *experiment, int64_t run_id, struct assay_error *err)
{
    const struct assay_report_text_options options = {.width = 80};
    struct as_str text = {0};
    struct as_out out;
    as_out_init_str(&out, &text);
    int rc = assay_report_profile(experiment, run_id, &options, &out, err);
    if (rc == 0)
        rc = assay_report_profile_json(experiment, run_id, 0, &out, err);
    snprintf(fuzz_context, sizeof fuzz_context, "%.250s", rc < 0 ? err->text : "");
    FUZZ_CHECK(rc == 0);
    as_out_fini(&out);
    as_str_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const char *path = scratch_write("perf.data", bytes, size_b);
    const struct assay_import_request request = {.path = path, .attribute = {.jobs = 1}};
    struct assay_import_result result;
    struct assay_experiment *experiment = NULL;
    struct assay_perf_data *data;
    struct assay_error err = {0};
    int rc = assay_perf_data_open(path, &data, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        return 0;
    }
    assay_perf_data_close(&data);
    FUZZ_CHECK(assay_experiment_create(scratch_path("x.assay"), 0, &experiment, &err) == 0);
    rc = assay_profile_import(experiment, &request, &result, &err);
    snprintf(fuzz_context, sizeof fuzz_context, "%.250s", rc < 0 ? err.text : "");
    FUZZ_CHECK(rc == 0);
    summarise(experiment, result.run_id, &err);
    assay_experiment_discard(&experiment);
    scratch_empty();
    return 0;
}
