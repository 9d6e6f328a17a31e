/* SPDX-License-Identifier: Apache-2.0 */
/* Starts one run of a campaign, measures its time and compares its results. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/untrusted_open.h"
#include "trial/campaign.h"

/* Max size of compared output. */
#define OUTPUT_MOST_B (16u << 20)

/* ---- Time ---------------------------------------------------------------------------------- */

/*
 * Reads the wall time of a run. For a program with one working thread, its time in the run queue is
 * subtracted. That time is external load, and most of the variation on a busy machine.
 */
static int read_time(struct as_trial *t, bool first, struct as_trial_outcome *run,
                     struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(t->experiment,
                        "SELECT r.wall_ns, count(x.thread_id), sum(x.runnable_ns) FROM run r"
                        " LEFT JOIN process p USING (run_id)"
                        " LEFT JOIN thread x ON x.process_id = p.process_id"
                        " AND ifnull(x.role, 'worker') = 'worker' WHERE r.run_id = ?1",
                        &rows, err));
    as_rows_bind_integer(rows, 1, run->profile.run_id);
    rc = as_rows_next(rows, err);
    if (rc > 0) {
        const double wall_s = as_rows_real(rows, 0) / 1e9;
        const double queue_s = as_rows_real(rows, 2) / 1e9;
        const bool is_single = as_rows_integer(rows, 1) == 1 &&
                               as_rows_kind(rows, 2) != AS_SQL_CELL_NULL && queue_s < wall_s;
        if (first) {
            t->is_single = is_single;
            t->facts.thread_n = as_rows_integer(rows, 1);
        }
        run->wall_s = wall_s;
        run->time_s = is_single && t->is_single ? wall_s - queue_s : wall_s;
    }
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

/* ---- Start --------------------------------------------------------------------------------- */

static void fill_run(const struct as_trial *t, const struct as_candidate *it, bool main,
                     struct as_campaign_run *run)
{
    *run = (struct as_campaign_run){.profile = t->request->profile, .keep_output = true};
    run->profile.attribute.catalogue = t->catalogue;
    run->profile.command = it ? it->command : t->base_command;
    run->profile.kind = main ? "profile" : AS_TRIAL_KIND;
    run->profile.label = it ? it->name : AS_TRIAL_BASE;
    run->profile.role = main ? "main" : it && !it->run_id ? "variant" : "repetition";
    run->profile.reference_id = main ? 0 : it && it->run_id ? it->run_id : t->result->base_run_id;
    run->profile.limit_s = main ? 0 : t->limit_s;
    if (it) {
        run->profile.setting = it->variable;
        run->profile.setting_n = it->variable_n;
    }
}

int as_trial_start(struct as_trial *t, struct as_candidate *candidate, bool first,
                   struct as_trial_outcome *out, struct as_error *err)
{
    struct as_campaign_run run;
    const int64_t begin_ns = as_monotonic_ns();

    *out = (struct as_trial_outcome){0};
    fill_run(t, candidate, first && !t->request->run_id, &run);
    AS_TRY(as_campaign_run(t->campaign, t->experiment, &run, &out->profile, err));
    t->is_over |= out->profile.interrupted;
    t->result->run_n++;
    out->is_good = !t->is_over && !out->profile.too_long && !out->profile.exit_signal &&
                   out->profile.exit_code == 0;
    AS_TRY(read_time(t, first, out, err));
    out->cost_s = (double)(as_monotonic_ns() - begin_ns) / 1e9;
    if (candidate) {
        candidate->run_id = candidate->run_id ? candidate->run_id : out->profile.run_id;
        candidate->run_n++;
    }
    return 0;
}

/* ---- Results ------------------------------------------------------------------------------- */

static void output_path(const struct as_trial *t, int64_t run_id, char *path, size_t size_b)
{
    snprintf(path, size_b, "%s/run-%03lld/output.txt", as_experiment_path(t->experiment),
             (long long)run_id);
}

/* Reads the output of a run; without a file, `out` stays empty. Errors: NOMEM. */
static int read_output(const struct as_trial *t, int64_t run_id, struct as_str *out)
{
    char path[64], block[1 << 14];
    ssize_t n;

    snprintf(path, sizeof path, "run-%03lld/output.txt", (long long)run_id);
    const int fd = as_foreign_open_below(as_experiment_path(t->experiment), path, NULL);
    while (fd >= 0 && out->n < OUTPUT_MOST_B && (n = read(fd, block, sizeof block)) > 0)
        as_str_append(out, block, (size_t)n);
    if (fd >= 0)
        close(fd);
    return out->failed ? AS_ERR_NOMEM : 0;
}

int as_trial_learn(struct as_trial *t, int64_t run_id, struct as_error *err)
{
    struct as_str text = {0};
    int rc = read_output(t, run_id, &text);

    if (rc == 0)
        rc = as_output_learn(&t->output, as_str_z(&text), text.n);
    as_str_fini(&text);
    return rc < 0 ? as_error_nomem(err, "the output of a run") : 0;
}

int as_trial_check_base(struct as_trial *t, int64_t run_id, struct as_error *err)
{
    struct as_trial_check check;
    char path[4300];

    if (!t->request->check)
        return 0;
    output_path(t, run_id, path, sizeof path);
    AS_TRY(as_trial_check(t, path, &check, err));
    if (check.passes || t->is_over)
        return 0;
    return as_error_set(
        err, AS_ERR_UNSUPPORTED,
        "--check: '%s' rejects the results of the unchanged program%s%.150s; fix the check so "
        "that it ends with status 0",
        t->request->check, check.message[0] ? ": " : "", check.message);
}

static int judge_by_check(struct as_trial *t, struct as_candidate *it, int64_t run_id,
                          struct as_error *err)
{
    struct as_trial_check check;
    char path[4300];

    output_path(t, run_id, path, sizeof path);
    AS_TRY(as_trial_check(t, path, &check, err));
    if (it->output.differs || t->is_over)
        return 0; /* a failed check stays failed */
    it->output = (struct as_output_difference){.is_known = true, .differs = !check.passes};
    if (check.passes)
        return 0;
    it->output.relative = INFINITY;
    if (check.is_late)
        snprintf(it->output.text, sizeof it->output.text, "the check was stopped after %.3g s",
                 t->check_limit_s);
    else
        snprintf(it->output.text, sizeof it->output.text, "the check failed%s%.150s",
                 check.message[0] ? ": " : "", check.message);
    return 0;
}

int as_trial_judge(struct as_trial *t, struct as_candidate *candidate, int64_t run_id,
                   bool *is_fine, struct as_error *err)
{
    struct as_output_difference now = {0};
    struct as_str text = {0};
    int rc = 0;

    if (t->request->check) {
        rc = judge_by_check(t, candidate, run_id, err);
        *is_fine = !candidate->output.differs;
        return rc;
    }
    rc = read_output(t, run_id, &text);
    if (rc == 0)
        rc = as_output_compare(&t->output, as_str_z(&text), text.n, t->request->tolerance, &now);
    as_str_fini(&text);
    if (!candidate->output.is_known || now.relative > candidate->output.relative)
        candidate->output = now;
    *is_fine = !now.differs;
    return rc < 0 ? as_error_nomem(err, "the output of a run") : 0;
}

/* ---- Failures ------------------------------------------------------------------------------ */

/* Copies the last line that is not empty; control characters become blanks. */
static void last_line_of(const struct as_str *text, char *line, size_t size_b)
{
    size_t n = text->n;
    const char *p = as_str_z(text);

    while (n && (p[n - 1] == '\n' || p[n - 1] == ' '))
        n--;
    size_t from = n;
    while (from && p[from - 1] != '\n')
        from--;
    snprintf(line, size_b, "%.*s", (int)(n - from < size_b - 1 ? n - from : size_b - 1), p + from);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

const char *as_trial_failure(struct as_trial *t, const struct as_trial_outcome *run)
{
    struct as_str text = {0};
    char how[80], line[200], all[300];

    if (run->profile.too_long)
        snprintf(how, sizeof how, "ended after %.3g s", t->limit_s);
    else if (run->profile.exit_signal)
        snprintf(how, sizeof how, "was killed by signal %d", run->profile.exit_signal);
    else
        snprintf(how, sizeof how, "ended with exit status %d", run->profile.exit_code);
    (void)read_output(t, run->profile.run_id, &text);
    last_line_of(&text, line, sizeof line);
    as_str_fini(&text);
    const int n = snprintf(all, sizeof all, "%s%s%s", how, line[0] ? ": " : "", line);
    return as_arena_strndup(&t->arena, all, (size_t)n < sizeof all ? (size_t)n : sizeof all - 1);
}
