/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the first findings of a run in the order of v_findings, and their commands. A run that is
 * not attributed yet has no findings. It gets a flag instead, which is made here because the
 * experiment has none.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/shell.h"
#include "report/facts.h"
#include "report/profile.h"

#define EXPERIMENT "{experiment}"
#define SMALL      0.01 /* share of the run */

/* ---- Commands ------------------------------------------------------------------------------ */

/* Returns `command` with the path of the experiment in place of EXPERIMENT, or NULL without
 * memory. */
static const char *command_of(struct as_profile *profile, const char *command)
{
    const char *at = strstr(command, EXPERIMENT), *from = command;
    struct as_str all = {0};
    const char *copy;

    for (; at; from = at + strlen(EXPERIMENT), at = strstr(from, EXPERIMENT)) {
        as_str_append(&all, from, (size_t)(at - from));
        as_shell_word(&all, profile->path);
    }
    as_str_appendz(&all, from);
    copy = all.failed ? NULL : as_profile_text(profile, "%s", as_str_z(&all));
    as_str_fini(&all);
    return copy;
}

/* Adds a command unless it is in the list. */
static int add_command(struct as_profile *profile, const char *command)
{
    if (!command)
        return AS_ERR_NOMEM;
    as_vec_foreach (&profile->command, it)
        if (strcmp(*it, command) == 0)
            return 0;
    return as_vec_push(&profile->command, command);
}

static int add_view(struct as_profile *profile, const char *view)
{
    return add_command(
        profile,
        command_of(profile, as_profile_text(profile, "assay show {experiment} --view %s", view)));
}

/* Adds the commands of views, then those of the findings. */
static int add_commands(struct as_profile *profile)
{
    const struct as_profile_run_facts *run = &profile->run;

    profile->all = command_of(profile, "assay show {experiment}");
    if (!profile->all)
        return AS_ERR_NOMEM;
    if (run->is_unfinished)
        AS_TRY(add_command(profile, command_of(profile, "assay attribute {experiment}")));
    if (profile->function.n)
        AS_TRY(add_view(profile, "functions"));
    if (profile->loop.n)
        AS_TRY(add_view(profile, "loops"));
    if (run->sample_n && run->call_stacks && strcmp(run->call_stacks, "off") != 0)
        AS_TRY(add_view(profile, "callpaths"));
    if (profile->finding_n > profile->advice.n)
        AS_TRY(add_view(profile, "findings"));
    as_vec_foreach (&profile->advice, it)
        if (it->command)
            AS_TRY(add_command(profile, it->command));
    return 0;
}

/* ---- Findings ------------------------------------------------------------------------------ */

static const char finding_sql[] =
    "SELECT topic, text, workaround, command, level, gain_s, gain_low_s, gain_high_s, time_s,"
    " (SELECT wall_ns / 1e9 FROM run r WHERE r.run_id = ?1), count(*) OVER (), measured,"
    " CASE object_kind WHEN 'loop' THEN 1e9 * time_s / (SELECT t.inclusive_ns FROM object_time t"
    "  WHERE t.run_id = ?1 AND t.object_kind = 'run') END"
    " FROM " AS_FACTS_FINDINGS " LIMIT " AS_FACTS_FINDINGS_FIRST;

static double real_or_nan(struct as_rows *rows, int column)
{
    return as_rows_kind(rows, column) == AS_SQL_CELL_NULL ? (double)NAN
                                                          : as_rows_real(rows, column);
}

/* Returns the seconds that a finding may gain, or measured seconds. A loop without a bound has its
 * share of the time. A hint has no seconds. */
static const char *seconds_of(struct as_profile *profile, struct as_rows *rows)
{
    const double gain_s = real_or_nan(rows, 5);
    const double share = real_or_nan(rows, 12);
    const char *level = as_rows_text(rows, 4), *measured = as_rows_text(rows, 11);

    if (measured)
        return as_profile_text(profile, "%s: ", measured);
    if (isfinite(gain_s) && !(as_rows_real(rows, 6) > 0))
        return as_profile_text(profile, "at most %.2f s of %.2f s: ", as_rows_real(rows, 7),
                               as_rows_real(rows, 9));
    if (isfinite(gain_s))
        return as_profile_text(profile, "about %.2f s (%.2f to %.2f) of %.2f s: ", gain_s,
                               as_rows_real(rows, 6), as_rows_real(rows, 7), as_rows_real(rows, 9));
    if (!level || strcmp(level, "potential") != 0)
        return "";
    return isfinite(share) ? as_profile_text(profile, "%.0f %% of the time: ", 100 * fmin(share, 1))
                           : "";
}

static int add_finding(struct as_profile *profile, struct as_rows *rows)
{
    const char *topic = as_rows_text(rows, 0), *what = as_rows_text(rows, 1);
    const char *how = as_rows_text(rows, 2), *command = as_rows_text(rows, 3);
    const char *seconds = seconds_of(profile, rows), *level = as_rows_text(rows, 4);
    const struct as_profile_advice it = {
        .topic = as_profile_text(profile, "%s", topic ? topic : ""),
        .text = as_profile_text(profile, "%s%s%s%s", seconds ? seconds : "", what ? what : "",
                                how ? " " : "", how ? how : ""),
        .gain = seconds,
        .fact = as_profile_text(profile, "%s", what ? what : ""),
        .action = how ? as_profile_text(profile, "%s", how) : NULL,
        .command = command ? command_of(profile, command) : NULL,
        .is_small = (level && strcmp(level, "expert") == 0) ||
                    real_or_nan(rows, 7) < SMALL * real_or_nan(rows, 9)};

    profile->finding_n = (size_t)as_rows_integer(rows, 10);
    if (!seconds || !it.topic || !it.text || !it.fact || (how && !it.action) ||
        (command && !it.command))
        return AS_ERR_NOMEM;
    return as_vec_push(&profile->advice, it);
}

/* Adds the flag of an unfinished run, for which nothing else is known. */
static int flag_unfinished(struct as_profile *profile)
{
    const bool may_live = profile->run.state && strcmp(profile->run.state, "recording") == 0;
    const struct as_profile_flag it = {
        .name = may_live ? "recording" : "not_attributed",
        .text = may_live ? "this run is being recorded; if assay does not run any more, use the "
                           "command below"
                         : "the samples of this run are not attributed, because assay was "
                           "stopped; use the command below",
        .n = 1};

    AS_TRY(as_vec_push(&profile->flag, it));
    memmove(profile->flag.at + 1, profile->flag.at, (profile->flag.n - 1) * sizeof it);
    profile->flag.at[0] = it;
    return 0;
}

int as_profile_findings(struct as_experiment *experiment, struct as_profile *profile,
                        struct as_error *err)
{
    struct as_rows *rows;
    int rc, added = 0;

    AS_TRY(as_rows_open(experiment, finding_sql, &rows, err));
    as_rows_bind_integer(rows, 1, profile->run.run_id);
    while (added == 0 && (rc = as_rows_next(rows, err)) > 0)
        added = add_finding(profile, rows);
    as_rows_close(&rows);
    if (added == 0 && rc < 0)
        return rc;
    if (added == 0 && profile->run.is_unfinished)
        added = flag_unfinished(profile);
    if (added == 0)
        added = add_commands(profile);
    return added < 0 ? as_error_nomem(err, "the summary") : 0;
}
