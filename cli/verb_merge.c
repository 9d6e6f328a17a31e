/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `assay merge EXP... -o NAME.assay`: merges the experiments of ranks. The result gets another name
 * first and is renamed when it is complete. So Ctrl-C or a full disk never leaves an incomplete
 * one.
 */
#include <stdio.h>
#include <string.h>

#include "analytics/analytics.h"
#include "base/error.h"
#include "cli.h"
#include "draft.h"
#include "merge/merge.h"
#include "merge_together.h"
#include "pipeline/pipeline.h"
#include "profiling.h"
#include "stops.h"
#include "trace_clocks.h"

/* ---- Making it ----------------------------------------------------------------------------- */

/* The common text about a writer does not apply: nothing is stored. */
static void write_nothing_is_kept(struct as_error *err)
{
    static const char kept[] = "; data committed before is kept";
    char *at = strstr(err->text, kept);

    if (at)
        snprintf(at, sizeof err->text - (size_t)(at - err->text),
                 "; the result was removed; free some space and merge again");
}

/* Advice that fails takes nothing from the run, but for being stopped and a full disk. */
static int advise_merged(struct as_cli *cli, struct as_experiment *experiment, int64_t run_id,
                         struct as_stage *stage, struct as_error *err)
{
    const struct as_pipeline_request request = {
        .profile.attribute.jobs = cli->jobs, .progress = as_stage_show, .context = stage};
    struct as_pipeline_result result;

    AS_TRY(as_pipeline_again(experiment, run_id, &request, &result, err));
    for (size_t i = 0; i < result.pass_n; i++) {
        const struct as_pass_result *pass = &result.pass[i];

        if (pass->code == AS_ERR_IO || (pass->code < 0 && as_stops_came())) {
            *err = pass->error;
            return pass->code;
        }
        if (pass->code < 0)
            as_cli_complain(cli, &pass->error);
    }
    return 0;
}

/* Analyses the traces of all ranks together; most runs have none. */
static int analyse_merged(struct as_party *party, const struct as_str *copies,
                          struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    if (party)
        return as_merge_lead(party, copies, experiment, run_id, err);
    const int rc = as_analytics_run(experiment, run_id, run_id, err);
    return rc == AS_ERR_NOT_FOUND ? 0 : rc;
}

static int merge_into(struct as_cli *cli, struct as_party *party, struct as_experiment *experiment,
                      struct as_merge_result *result, struct as_error *err)
{
    struct as_str copies = {0};
    struct as_stage stage = {.quiet = as_given(&cli->args, AS_OPTION_QUIET)};
    const struct as_merge_request request = {.path = (const char *const *)cli->args.positional,
                                             .n = cli->args.positional_n,
                                             .run_id =
                                                 (int64_t)cli->args.number[AS_OPTION_MERGE_RUN],
                                             .label = cli->args.value[AS_OPTION_LABEL],
                                             .accept = (unsigned)cli->args.number[AS_OPTION_ACCEPT],
                                             .copy_later = party ? as_merge_note_copy : NULL,
                                             .copies = &copies,
                                             .progress = as_stage_show,
                                             .context = &stage};
    int rc = as_merge_experiments(experiment, &request, result, err);

    if (rc == 0)
        rc = analyse_merged(party, &copies, experiment, result->run_id, err);
    as_str_fini(&copies);
    if (rc == 0)
        rc = advise_merged(cli, experiment, result->run_id, &stage, err);
    as_stage_end(&stage);
    return rc;
}

static int print_merge_result(struct as_cli *cli, const char *name,
                              const struct as_merge_result *result, struct as_error *err)
{
    struct as_experiment *experiment;
    int rc;

    AS_TRY(as_experiment_read(name, &experiment, err));
    rc = as_summary_show(cli, experiment, result->run_id, err);
    if (rc == 0)
        rc = as_trace_clocks_note(cli, experiment, result->run_id, err);
    as_experiment_close(&experiment, rc == 0 ? err : NULL);
    if (result->left_n && !as_given(&cli->args, AS_OPTION_MERGE_RUN))
        as_cli_note(cli,
                    "%zu of them have several runs: the last of each was merged; use --run N for "
                    "another",
                    result->left_n);
    as_cli_note(cli, "merged %zu experiments: %zu ranks on %zu machine%s; the experiment is %s",
                cli->args.positional_n, result->rank_n, result->host_n,
                result->host_n == 1 ? "" : "s", name);
    return rc;
}

/* Rank 0 reports an error once, while it lives. */
static int end_helping(struct as_cli *cli, const struct as_party *party, int rc)
{
    if (rc == 0 || !as_party_is_follower(party))
        return rc;
    cli->status = as_stops_came() ? as_stops_status() : 1;
    return 0;
}

static int merge_alone_or_first(struct as_cli *cli, struct as_party *party, const char *name,
                                struct as_merge_result *result, struct as_error *err)
{
    const unsigned flags = as_given(&cli->args, AS_OPTION_FORCE) ? AS_EXPERIMENT_FORCE : 0;
    struct as_draft draft;

    AS_TRY(as_draft_begin(&draft, name, "merging", flags, err));
    const int rc = merge_into(cli, party, draft.experiment, result, err);
    return as_draft_end(&draft, rc, err);
}

int as_verb_merge(struct as_cli *cli, struct as_error *err)
{
    const char *name = cli->args.value[AS_OPTION_MERGED];
    struct as_merge_result result;
    struct as_party *party;
    int rc;

    if (!name)
        return as_error_set(err, AS_ERR_USAGE, "merge: no result named; use --output NAME.assay");
    as_stops_note();
    AS_TRY(as_party_join(name, as_stops_came, &party, err));
    rc = party ? as_party_barrier(party, err) : 0; /* so that what fails now is heard by all */
    if (as_party_rank(party)) {
        rc = rc < 0 ? rc : as_merge_follow(party, err);
        const int code = end_helping(cli, party, rc);
        as_party_leave(&party, rc, err);
        return code;
    }
    rc = rc < 0 ? rc : merge_alone_or_first(cli, party, name, &result, err);
    as_party_leave(&party, rc, err);
    if (rc == 0)
        return print_merge_result(cli, name, &result, err);
    write_nothing_is_kept(err);
    if (as_stops_came()) {
        as_error_set(err, rc, "merge: stopped; no result was written");
        cli->status = as_stops_status();
    }
    return rc;
}
