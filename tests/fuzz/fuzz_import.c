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

static void summarise(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    const struct as_report_text_options options = {.width = 80};
    struct as_str text = {0};
    struct as_out out;
    as_out_init_str(&out, &text);
    int rc = as_report_profile(experiment, run_id, &options, &out, err);
    if (rc == 0)
        rc = as_report_profile_json(experiment, run_id, 0, &out, err);
    snprintf(fuzz_context, sizeof fuzz_context, "%.250s", rc < 0 ? err->text : "");
    FUZZ_CHECK(rc == 0);
    as_out_fini(&out);
    as_str_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    const char *path = scratch_write("perf.data", bytes, size_b);
    const struct as_import_request request = {.path = path, .attribute = {.jobs = 1}};
    struct as_import_result result;
    struct as_experiment *experiment = NULL;
    struct as_perf_data *data;
    struct as_error err = {0};
    int rc = as_perf_data_open(path, &data, &err);
    if (rc < 0) {
        fuzz_check_error(rc, &err);
        return 0;
    }
    as_perf_data_close(&data);
    FUZZ_CHECK(as_experiment_create(scratch_path("x.assay"), 0, &experiment, &err) == 0);
    rc = as_profile_import(experiment, &request, &result, &err);
    snprintf(fuzz_context, sizeof fuzz_context, "%.250s", rc < 0 ? err.text : "");
    FUZZ_CHECK(rc == 0);
    summarise(experiment, result.run_id, &err);
    as_experiment_discard(&experiment);
    scratch_empty();
    return 0;
}
