/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a series; see series.h.
 */
#include "series.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/str.h"
#include "base/untrusted_open.h"
#include "recording.h"
#include "runs.h"
#include "unfinished.h"

/* Set by Ctrl-C between two runs; during a run the launch has the signal. */
static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
    interrupted = signal;
}

/* ---- What a run wrote ---------------------------------------------------------------------- */

/* The last line that a run wrote, without what could drive a terminal; "" when there is none. */
static void last_line(const struct as_series *series, int64_t run_id, char *line, size_t size_b)
{
    char path[64], block[1024];
    snprintf(path, sizeof path, "run-%03lld/output.txt", (long long)run_id);
    line[0] = '\0';
    const int fd = as_foreign_open_below(as_experiment_path(series->experiment), path, NULL);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file) {
        if (fd >= 0)
            close(fd);
        return;
    }
    if (fseek(file, -(long)sizeof block + 1, SEEK_END) != 0)
        rewind(file);
    size_t n = fread(block, 1, sizeof block - 1, file);
    fclose(file);
    while (n && (block[n - 1] == '\n' || block[n - 1] == ' '))
        n--;
    size_t from = n;
    while (from && block[from - 1] != '\n')
        from--;
    for (size_t i = 0; i < n - from && i + 1 < size_b; i++) {
        const unsigned char c = (unsigned char)block[from + i];
        line[i] = c < 0x20 || c == 0x7f ? ' ' : (char)c;
        line[i + 1] = '\0';
    }
}

/* ---- Beginning and end --------------------------------------------------------------------- */

int as_series_begin(struct as_series *series, struct as_cli *cli, size_t run_n,
                    const char *const *command, struct as_str *name, struct as_error *err)
{
    struct as_experiment_name chosen = {0};
    const struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND};
    *series = (struct as_series){.cli = cli, .run_n = run_n};
    AS_TRY(as_recording_parse(cli, &series->request, err));
    series->request.command = command;
    AS_TRY(as_campaign_open(&series->campaign, err));
    AS_TRY(as_campaign_check(series->campaign, run_n, err));
    int rc = as_recording_name(cli, &series->request, &chosen, err);
    if (rc == 0)
        rc = as_experiment_name_create(cli, &chosen, &series->experiment, err);
    as_str_appendz(name, as_str_z(&chosen.made));
    as_experiment_name_fini(&chosen);
    AS_TRY(rc);
    struct sigaction before;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    series->start_ns = (uint64_t)as_monotonic_ns();
    return 0;
}

int as_series_end(struct as_series *series, const char *name, int rc, struct as_error *err)
{
    struct as_cli *cli = series->cli;
    const size_t left = series->run_n - series->begun_n;
    as_campaign_close(&series->campaign);
    if (series->experiment && series->begun_n == 0) {
        as_experiment_drop(&series->experiment, err);
        return rc;
    }
    const int closed =
        series->experiment ? as_experiment_close(&series->experiment, rc < 0 ? NULL : err) : 0;
    if (series->is_over && left)
        as_cli_note(cli, "ended by the user; %zu of %zu runs were left", left, series->run_n);
    if (series->failed_n)
        as_cli_note(cli, "%zu of %zu runs failed; their output is in %s/run-NNN/output.txt",
                    series->failed_n, series->begun_n, name);
    if (series->begun_n)
        as_cli_note(cli, "the experiment is %s", name);
    if (series->is_over)
        cli->status = 128 + SIGINT;
    else if (series->failed_n && !cli->status)
        cli->status = 1;
    return rc < 0 ? rc : closed;
}

/* ---- One run ------------------------------------------------------------------------------- */

static void write_begin(const struct as_series *series, const struct as_series_run *run)
{
    char left[64];
    const double past_s = (double)((uint64_t)as_monotonic_ns() - series->start_ns) / 1e9;
    as_run_time_left(left, sizeof left, past_s, series->begun_n, series->run_n - series->begun_n);
    as_cli_note(series->cli, "run %zu of %zu%s%s%s", series->begun_n + 1, series->run_n,
                run->what ? ": " : "", run->what ? run->what : "", left);
}

static void write_failure(struct as_series *series, const struct as_series_run *run,
                          const struct as_profile_result *result)
{
    char how[64], line[200];
    if (result->exit_signal)
        snprintf(how, sizeof how, "was killed by signal %d", result->exit_signal);
    else
        snprintf(how, sizeof how, "ended with exit status %d", result->exit_code);
    last_line(series, result->run_id, line, sizeof line);
    series->failed_n++;
    as_cli_note(series->cli, "run %zu%s%s%s %s%s%s", series->begun_n, run->what ? " (" : "",
                run->what ? run->what : "", run->what ? ")" : "", how,
                line[0] ? "; its last line: " : "", line);
}

int as_series_run(struct as_series *series, const struct as_series_run *run, int64_t *run_id,
                  struct as_error *err)
{
    struct as_profile_result result = {.exit_code = -1};
    *run_id = 0;
    series->is_over |= interrupted != 0;
    if (series->is_over)
        return 0;
    write_begin(series, run);
    struct as_campaign_run it = {.profile = series->request,
                                 .variable = run->variable,
                                 .variable_n = run->variable_n,
                                 .keep_output = true};
    it.profile.command = run->command;
    it.profile.kind = run->kind;
    it.profile.label = run->label;
    it.profile.role = run->role;
    it.profile.reference_id = run->reference_id;
    it.profile.setting = run->setting;
    it.profile.setting_n = run->setting_n;
    const int rc = as_campaign_run(series->campaign, series->experiment, &it, &result, err);
    *run_id = result.run_id;
    series->begun_n += result.run_id != 0;
    series->is_over = result.interrupted || interrupted;
    if (rc == 0 && !series->is_over && (result.exit_signal || result.exit_code > 0))
        write_failure(series, run, &result);
    return rc;
}
