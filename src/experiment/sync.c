/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flushes the files beside the database to disk, as SQLite does with the database. After a power
 * failure, complete runs are kept. Files that did not change since the experiment was opened are
 * skipped.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/untrusted_open.h"
#include "experiment/internal.h"

#define CLOCK_GRAIN_S 1 /* the clock of file times lags by up to 10 ms */

/* Flushes all changes since `since_s` below the directory `fd`, and closes it. Returns 0 or the
 * first errno. */
static int sync_below(int fd, time_t since_s)
{
    DIR *dir = fdopendir(fd);
    int number = 0;

    if (!dir) {
        number = errno;
        close(fd);
        return number;
    }
    for (struct dirent *it; (it = readdir(dir));) {
        struct stat st;
        if (it->d_name[0] == '.' || fstatat(fd, it->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        const bool is_file = S_ISREG(st.st_mode) && st.st_mtime >= since_s;
        if (!is_file && !S_ISDIR(st.st_mode))
            continue;
        const int below = openat(fd, it->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (below < 0)
            continue; /* removed meanwhile, or not readable */
        if (!is_file) {
            const int one = sync_below(below, since_s);
            number = number ? number : one;
            continue;
        }
        if (fsync(below) != 0 && !number)
            number = errno;
        close(below);
    }
    struct stat own;
    const bool has_changed = fstat(fd, &own) != 0 || own.st_mtime >= since_s;
    if (has_changed && fsync(fd) != 0 && !number && errno != EINVAL)
        number = errno;
    closedir(dir);
    return number;
}

int as_sync_runs(const struct as_experiment *experiment, struct as_error *err)
{
    const int fd = open(experiment->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int number = fd < 0 ? errno : sync_below(fd, experiment->opened_s - CLOCK_GRAIN_S);

    if (number == 0)
        return 0;
    return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s; free some space and repeat",
                        experiment->path, as_foreign_reason(number));
}

void as_sync_name(const char *path)
{
    struct as_str parent = {0};
    const char *slash = strrchr(path, '/');

    as_str_append(&parent, slash ? path : ".", slash && slash > path ? (size_t)(slash - path) : 1);
    const int fd = open(as_str_z(&parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    as_str_fini(&parent);
}
