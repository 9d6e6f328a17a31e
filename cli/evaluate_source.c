/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of `assay evaluate`: a .prv as it is; that of an experiment is written as one to a
 * temporary directory, which is removed.
 */
#include "evaluate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analytics/store/trace_result.h"
#include "base/error.h"
#include "exchange/import.h"
#include "exchange/prv.h"
#include "export_code.h"
#include "report/profile.h"
#include "stops.h"

static int write_as_prv(struct as_evaluating *it, struct as_experiment *experiment,
                        const char *path, struct as_error *err)
{
    struct as_trace trace;
    struct as_export_code code = {0};
    struct as_prv_counts counts;
    int64_t run_id, run_n;
    AS_TRY(as_report_run(experiment, (int64_t)it->cli->args.number[AS_OPTION_RUN], &run_id, &run_n,
                         err));
    int rc = as_run_trace_open(experiment, run_id, &trace, err);
    if (rc == AS_ERR_NOT_FOUND)
        return as_error_set(err, rc, "%s: run %lld has no trace; record one with 'assay trace'",
                            it->cli->args.positional[0], (long long)run_id);
    AS_TRY(rc);
    rc = as_export_code_read(experiment, &trace, &code, err);
    trace.code = &code.code;
    if (rc == 0)
        rc = as_prv_write(&trace, path, &counts, err);
    if (rc == 0 && counts.states_n + counts.events_n == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND,
                          "%s: the trace of run %lld has no events; record another with 'assay "
                          "trace'",
                          it->cli->args.positional[0], (long long)run_id);
    as_export_code_fini(&code);
    as_trace_close(&trace);
    return rc;
}

static int open_experiment(struct as_evaluating *it, const char *path, struct as_error *err)
{
    struct as_experiment *experiment = NULL;
    const char *temporary = getenv("TMPDIR");
    char prv[sizeof it->directory + 16];
    AS_TRY(as_experiment_read(path, &experiment, err));
    as_stops_note();
    snprintf(it->directory, sizeof it->directory, "%s/assay-evaluate-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    int rc = 0;
    if (!mkdtemp(it->directory)) {
        rc = as_error_set(err, AS_ERR_IO, "%s: %s; set TMPDIR to a directory with free space",
                          it->directory, strerror(errno));
        it->directory[0] = 0;
    }
    snprintf(prv, sizeof prv, "%s/trace.prv", it->directory);
    if (rc == 0)
        rc = write_as_prv(it, experiment, prv, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    if (rc == 0)
        rc = as_evaluated_open(prv, &it->trace, err);
    return rc;
}

/* An OTF2 archive as tracers name it. */
static bool has_anchor(const char *path)
{
    char name[4096];
    return snprintf(name, sizeof name, "%s/traces.otf2", path) < (int)sizeof name &&
           access(name, F_OK) == 0;
}

int as_evaluate_open(struct as_evaluating *it, const char *path, struct as_error *err)
{
    struct stat st;
    const bool is_directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    const bool is_otf2 =
        is_directory ? has_anchor(path) : as_import_kind_of(path) == AS_IMPORT_OTF2;
    if (is_otf2)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: is an OTF2 archive; run 'assay import' and evaluate the "
                            "experiment",
                            path);
    if (is_directory)
        AS_TRY(open_experiment(it, path, err));
    else
        AS_TRY(as_evaluated_open(path, &it->trace, err));
    it->trace.is_stopped = as_stops_came;
    return 0;
}

void as_evaluate_note_bad(const struct as_evaluating *it)
{
    struct as_str text = {0};
    as_prv_bad_append(&it->trace.bad, &text);
    if (text.n)
        as_cli_note(it->cli, "%s: %s", it->cli->args.positional[0], as_str_z(&text));
    as_str_fini(&text);
}

void as_evaluate_close(struct as_evaluating *it)
{
    static const char *const ending[] = {"prv", "pcf", "row"};
    char name[sizeof it->directory + 16];
    as_evaluated_close(&it->trace);
    if (!it->directory[0])
        return;
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        snprintf(name, sizeof name, "%s/trace.%s", it->directory, ending[i]);
        unlink(name);
    }
    rmdir(it->directory);
}
