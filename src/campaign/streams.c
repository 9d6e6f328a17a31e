/* SPDX-License-Identifier: Apache-2.0 */
/* The standard streams of runs: every run has the same input, and output goes to the experiment. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/untrusted_open.h"
#include "campaign/internal.h"

/* ---- Input --------------------------------------------------------------------------------- */

void as_input_note(struct as_input *input)
{
    struct stat st;

    *input = (struct as_input){.kind = AS_INPUT_OTHER};
    if (fstat(STDIN_FILENO, &st) != 0)
        return;
    if (S_ISREG(st.st_mode)) {
        const off_t at = lseek(STDIN_FILENO, 0, SEEK_CUR);

        *input = (struct as_input){.kind = AS_INPUT_FILE, .at = at < 0 ? 0 : at};
    } else if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) {
        input->kind = AS_INPUT_STREAM;
    }
}

void as_input_rewind(const struct as_input *input)
{
    if (input->kind == AS_INPUT_FILE)
        (void)lseek(STDIN_FILENO, input->at, SEEK_SET);
}

/* ---- Output -------------------------------------------------------------------------------- */

/* Writes the path of the output while the id of the run is unknown. */
static void waiting_path(const struct as_experiment *experiment, char *path, size_t size_b)
{
    snprintf(path, size_b, "%s/output.waiting", as_experiment_path(experiment));
}

/* Copies standard output and error; a closed stream has no copy. */
static int copy_standard_streams(struct as_output *output, const char *path, struct as_error *err)
{
    int number = 0;

    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        output->own[i] = fcntl(i, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (output->own[i] < 0 && errno != EBADF)
            number = errno;
    }
    if (!number)
        return 0;
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        if (output->own[i] >= 0)
            close(output->own[i]);
        output->own[i] = -1;
    }
    return as_foreign_fail(path, "the output of the program", number, err);
}

int as_output_divert(struct as_output *output, const struct as_experiment *experiment,
                     struct as_error *err)
{
    char path[4200];

    waiting_path(experiment, path, sizeof path);
    (void)unlink(path); /* left by a killed campaign */
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s; free some space", path,
                            strerror(errno));
    fflush(stdout);
    fflush(stderr);
    const int rc = copy_standard_streams(output, path, err);
    for (int i = STDOUT_FILENO; rc == 0 && i <= STDERR_FILENO; i++)
        dup2(fd, i);
    close(fd);
    if (rc < 0)
        (void)unlink(path);
    return rc;
}

void as_output_restore(struct as_output *output)
{
    fflush(stderr);
    for (int i = STDOUT_FILENO; i <= STDERR_FILENO; i++) {
        if (output->own[i] >= 0) {
            dup2(output->own[i], i);
            close(output->own[i]);
        } else {
            close(i); /* it was closed before */
        }
        output->own[i] = -1;
    }
}

int as_output_keep(struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    char from[4200], directory[4096], to[4200];
    struct stat st;

    waiting_path(experiment, from, sizeof from);
    if (run_id == 0 || stat(from, &st) != 0 || st.st_size == 0) {
        (void)unlink(from);
        return 0;
    }
    AS_TRY(as_experiment_run_directory(experiment, run_id, directory, sizeof directory, err));
    snprintf(to, sizeof to, "%s/output.txt", directory);
    if (rename(from, to) != 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", to, strerror(errno));
    snprintf(to, sizeof to, "run-%03lld/output.txt", (long long)run_id);
    const struct as_row_run_file file = {
        .run_id = run_id, .path = to, .kind = "output", .size_b = as_known(st.st_size)};
    return as_experiment_add_run_file(experiment, &file, NULL, err);
}
