/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a series; see series.h.
 */
#include "series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/foreign.h"
#include "base/str.h"
#include "recording.h"

/* Set by Ctrl-C between two runs; during a run the launch has the signal. */
static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
    interrupted = signal;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- Streams ------------------------------------------------------------------------------- */

/* A place beside the runs: which run it is of is known when that has begun. */
static void waiting_path(const struct as_series *series, char *path, size_t size_b)
{
    snprintf(path, size_b, "%s/output.waiting", assay_experiment_path(series->experiment));
}

/* Every run reads the same: a file from its start, a terminal, else nothing. */
static void rewind_input(void)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
        (void)lseek(STDIN_FILENO, 0, SEEK_SET);
    else if (!isatty(STDIN_FILENO)) {
        const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (nothing > STDIN_FILENO) {
            dup2(nothing, STDIN_FILENO);
            close(nothing);
        }
    }
}

static int divert_output(struct as_series *series, struct assay_error *err)
{
    char path[4200];
    waiting_path(series, path, sizeof path);
    rewind_input();
    (void)unlink(path); /* of a series that was killed */
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return as_error_set(err, ASSAY_ERR_IO, "%s: cannot be written: %s; free some space", path,
                            strerror(errno));
    fflush(stderr);
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        series->own[i] = fcntl(i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        dup2(fd, i);
    }
    close(fd);
    return 0;
}

static void restore_output(struct as_series *series)
{
    fflush(stderr);
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        if (series->own[i] >= 0) {
            dup2(series->own[i], i);
            close(series->own[i]);
        } else {
            close(i); /* as it was */
        }
        series->own[i] = -1;
    }
}

/* What the run wrote goes to its directory; an empty one is not kept. */
static int keep_output(struct as_series *series, int64_t run_id, struct assay_error *err)
{
    char from[4200], directory[4096], to[4200];
    struct stat st;
    waiting_path(series, from, sizeof from);
    if (run_id == 0 || stat(from, &st) != 0 || st.st_size == 0) {
        (void)unlink(from);
        return 0;
    }
    AS_TRY(assay_experiment_run_directory(series->experiment, run_id, directory, sizeof directory,
                                          err));
    snprintf(to, sizeof to, "%s/output.txt", directory);
    if (rename(from, to) != 0)
        return as_error_set(err, ASSAY_ERR_IO, "%s: cannot be written: %s", to, strerror(errno));
    snprintf(to, sizeof to, "run-%03lld/output.txt", (long long)run_id);
    const struct assay_row_run_file file = {
        .run_id = run_id, .path = to, .kind = "output", .size_b = assay_known(st.st_size)};
    return assay_experiment_add_run_file(series->experiment, &file, NULL, err);
}

/* The last line that a run wrote, without what could drive a terminal; "" when there is none. */
static void last_line(const struct as_series *series, int64_t run_id, char *line, size_t size_b)
{
    char path[4200], block[1024];
    snprintf(path, sizeof path, "%s/run-%03lld/output.txt",
             assay_experiment_path(series->experiment), (long long)run_id);
    line[0] = '\0';
    const int fd = as_foreign_open(AT_FDCWD, path, AS_FOREIGN_NO_LINK, NULL);
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
                    const char *const *command, struct as_str *name, struct assay_error *err)
{
    struct as_experiment_name chosen = {0};
    const struct sigaction action = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND};
    *series = (struct as_series){.cli = cli, .run_n = run_n, .own = {-1, -1, -1}};
    AS_TRY(as_recording_take(cli, &series->request, err));
    series->request.command = command;
    int rc = as_recording_name(cli, &series->request, &chosen, err);
    if (rc == 0)
        rc = as_experiment_create(cli, &chosen, &series->experiment, err);
    as_str_appendz(name, as_str_z(&chosen.made));
    as_experiment_name_fini(&chosen);
    AS_TRY(rc);
    struct sigaction before;
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    series->start_ns = now_ns();
    return 0;
}

int as_series_end(struct as_series *series, const char *name, int rc, struct assay_error *err)
{
    struct as_cli *cli = series->cli;
    const size_t left = series->run_n - series->begun_n;
    if (series->experiment && series->begun_n == 0) {
        assay_experiment_discard(&series->experiment);
        return rc;
    }
    const int closed =
        series->experiment ? assay_experiment_close(&series->experiment, rc < 0 ? NULL : err) : 0;
    if (series->is_over && left)
        as_cli_note(cli, "ended by the user; %zu of %zu runs were left", left, series->run_n);
    if (series->failed_n)
        as_cli_note(cli, "%zu of %zu runs failed; what they wrote is in %s/run-NNN/output.txt",
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

static void say_begin(const struct as_series *series, const struct as_series_run *run)
{
    char left[64] = "";
    const double past_s = (double)(now_ns() - series->start_ns) / 1e9;
    if (series->begun_n) {
        const double each_s = past_s / (double)series->begun_n;
        const double left_s = each_s * (double)(series->run_n - series->begun_n);
        if (left_s >= 120)
            snprintf(left, sizeof left, ", about %.0f minutes left", ceil(left_s / 60));
        else
            snprintf(left, sizeof left, ", about %.0f s left", ceil(left_s));
    }
    as_cli_note(series->cli, "run %zu of %zu%s%s%s", series->begun_n + 1, series->run_n,
                run->what ? ": " : "", run->what ? run->what : "", left);
}

static void say_failure(struct as_series *series, const struct as_series_run *run,
                        const struct assay_profile_result *result)
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
                  struct assay_error *err)
{
    struct assay_profile_result result = {.exit_code = -1};
    struct assay_error late = {0};
    *run_id = 0;
    series->is_over |= interrupted != 0;
    if (series->is_over)
        return 0;
    say_begin(series, run);
    series->request.command = run->command;
    series->request.kind = run->kind;
    series->request.label = run->label;
    AS_TRY(divert_output(series, err));
    int rc = assay_profile_run(series->experiment, &series->request, &result, err);
    restore_output(series);
    *run_id = result.run_id;
    series->begun_n += result.run_id != 0;
    series->is_over = result.interrupted || interrupted;
    const int kept = keep_output(series, result.run_id, &late);
    if (rc == 0 && kept < 0) {
        *err = late;
        rc = kept;
    }
    if (rc == 0 && !series->is_over && (result.exit_signal || result.exit_code > 0))
        say_failure(series, run, &result);
    return rc;
}
