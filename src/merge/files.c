/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the files of an input's run (sample streams, kept binaries) under names with the number of
 * the input. Only regular files in the run's own directory are copied, because the input is
 * untrusted.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/untrusted_open.h"
#include "merge/internal.h"

static int cannot_copy(const char *to, const char *name, struct as_error *err)
{
    return as_error_set(err, AS_ERR_IO,
                        "%s: a copy of %s cannot be written: %s; free some space and merge again",
                        to, name, strerror(errno));
}

static int pour(int in, int out)
{
    for (;;) {
        const ssize_t n = sendfile(out, in, NULL, 16u << 20);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
    }
}

int as_merge_copy_file(int at, const char *name, const char *to, struct as_error *err)
{
    const int in = as_foreign_open(at, name, AS_FOREIGN_NO_LINK, NULL);
    int out, rc = 0;

    if (in < 0)
        return 0;
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (out < 0 && errno != EEXIST)
        rc = cannot_copy(to, name, err);
    if (out >= 0 && pour(in, out) < 0)
        rc = cannot_copy(to, name, err);
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = cannot_copy(to, name, err);
    close(in);
    return rc;
}

int as_merge_copy(const char *from, const char *to, struct as_error *err)
{
    const int in = as_foreign_open(AT_FDCWD, from, AS_FOREIGN_NO_LINK, NULL);
    const int out = in < 0 ? -1 : open(to, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
    int rc = 0;

    if (in < 0)
        rc = as_foreign_fail(from, "the file to be copied", errno, err);
    else if (out < 0 || pour(in, out) < 0)
        rc = cannot_copy(to, from, err);
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = cannot_copy(to, from, err);
    if (in >= 0)
        close(in);
    return rc;
}

int as_merge_open_run(const struct as_merge_files *files, int64_t run_id)
{
    struct as_str path = {0};
    int fd = -1;

    as_str_appendf(&path, "%s/run-%03" PRId64, as_experiment_path(files->from), run_id);
    if (!path.failed)
        fd = open(as_str_z(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    as_str_fini(&path);
    return fd;
}

/* Appends "0003-main.samples"; for another run of the input than the merged one,
 * "0003-run2-...". */
static void append_name(const struct as_merge_files *files, int64_t run_id, const char *name,
                        struct as_str *out)
{
    as_str_appendf(out, "%04zu-", files->number + 1);
    if (run_id != files->from_run)
        as_str_appendf(out, "run%" PRId64 "-", run_id);
    as_str_appendz(out, name);
}

static int copy_into(const struct as_merge_files *files, int at, int64_t run_id, const char *name,
                     struct as_error *err)
{
    struct as_str to = {0};
    int rc;

    as_str_appendf(&to, "%s/", files->to);
    append_name(files, run_id, name, &to);
    rc = to.failed ? as_error_nomem(err, name) : as_merge_copy_file(at, name, as_str_z(&to), err);
    as_str_fini(&to);
    return rc;
}

/* Returns NAME of a path "run-NNN/NAME" and sets `run_id`. Returns NULL if NAME is not in that
 * directory. */
static const char *name_in_run(const char *path, int64_t *run_id)
{
    const char *slash = strchr(path, '/');
    char *end;

    if (strncmp(path, "run-", 4) != 0 || path[4] < '0' || path[4] > '9' || !slash)
        return NULL;
    *run_id = strtoll(path + 4, &end, 10);
    if (end != slash || *run_id < 1 || !slash[1] || slash[1] == '.' || strchr(slash + 1, '/'))
        return NULL;
    return slash + 1;
}

int as_merge_file(void *context, const char *path, struct as_str *out, struct as_error *err)
{
    const struct as_merge_files *files = context;
    int64_t run_id = 0;
    const char *name = name_in_run(path, &run_id);
    int at, rc = 0;

    if (!name)
        return 0;
    at = as_merge_open_run(files, run_id);
    if (at >= 0) {
        rc = copy_into(files, at, run_id, name, err);
        close(at);
    }
    as_str_appendf(out, "run-%03" PRId64 "/", files->to_run);
    append_name(files, run_id, name, out);
    return rc;
}

int as_merge_rest_of_files(const struct as_merge_files *files, struct as_error *err)
{
    const int at = as_merge_open_run(files, files->from_run);
    DIR *dir = at < 0 ? NULL : fdopendir(at);
    int rc = 0;

    if (at >= 0 && !dir)
        close(at);
    for (struct dirent *it; dir && rc == 0 && (it = readdir(dir));)
        if (it->d_name[0] != '.')
            rc = copy_into(files, at, files->from_run, it->d_name, err);
    if (dir)
        closedir(dir);
    return rc;
}
