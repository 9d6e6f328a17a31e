/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files beside their place. All happens by names in a directory that is held open; the file is made
 * with O_EXCL, so that it is ours.
 */
#include "report/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/foreign.h"

#define TRIES      100
#define LINKS_MOST 40 /* as the kernel follows */

int as_replace_refused(const char *path, int number, struct assay_error *err)
{
    return as_error_set(err, ASSAY_ERR_IO,
                        "%s: cannot be written: %s; name another place by 'assay report --output'",
                        path, as_foreign_reason(number));
}

bool as_replace_is_device(const struct as_replace *it)
{
    return it->at < 0;
}

/* "DIRECTORY/" of a path, "./" without one. */
static void append_directory(struct as_str *to, const char *path)
{
    const char *slash = strrchr(path, '/');

    as_str_append(to, slash ? path : "./", slash ? (size_t)(slash - path) + 1 : 2);
}

/* Follows a link of the user's, also to what is not there yet. */
static void find_real(struct as_replace *it, bool foreign)
{
    char target[PATH_MAX];
    char *real = foreign ? NULL : realpath(it->path, NULL);
    ssize_t n;

    as_str_appendz(&it->real, real ? real : it->path);
    if (!foreign && !real)
        for (int i = 0; i < LINKS_MOST && !it->real.failed &&
                        (n = readlink(as_str_z(&it->real), target, sizeof target)) > 0;
             i++) {
            struct as_str led = {0};
            if (target[0] != '/')
                append_directory(&led, as_str_z(&it->real));
            as_str_append(&led, target, (size_t)n);
            as_str_fini(&it->real);
            it->real = led;
        }
    free(real);
}

static int open_directory(struct as_replace *it, struct assay_error *err)
{
    struct as_str directory = {0};

    append_directory(&directory, as_str_z(&it->real));
    if (directory.failed || it->real.failed) {
        as_str_fini(&directory);
        return as_error_nomem(err, it->path);
    }
    it->at = open(as_str_z(&directory), O_PATH | O_DIRECTORY | O_CLOEXEC);
    as_str_fini(&directory);
    return it->at < 0 ? as_replace_refused(it->path, errno, err) : 0;
}

/* A name that is not there yet: that of the place with some letters behind it. */
static int open_beside(struct as_replace *it, struct assay_error *err)
{
    for (int i = 0; i < TRIES && it->fd < 0; i++) {
        unsigned random = 0;

        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return as_replace_refused(it->path, errno, err);
        as_str_clear(&it->beside);
        as_str_appendf(&it->beside, "%s.%08x", as_str_z(&it->real), random);
        if (it->beside.failed)
            return as_error_nomem(err, it->path);
        it->fd = openat(it->at, as_path_last(as_str_z(&it->beside)),
                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (it->fd < 0 && errno != EEXIST)
            break;
    }
    return it->fd < 0 ? as_replace_refused(it->path, errno, err) : 0;
}

/* What is at the place: nothing, what can be replaced, a directory, a ring of links, or (1) a
 * device. */
static int look_at_place(const struct as_replace *it, bool foreign, struct assay_error *err)
{
    struct stat st;

    if (fstatat(AT_FDCWD, it->path, &st, foreign ? AT_SYMLINK_NOFOLLOW : 0) != 0)
        return errno != ELOOP
                   ? 0
                   : as_error_set(err, ASSAY_ERR_IO,
                                  "%s: cannot be written: it is a link that leads to itself; name "
                                  "another file by --output",
                                  it->path);
    if (S_ISDIR(st.st_mode))
        return as_error_set(err, ASSAY_ERR_USAGE, "%s: is a directory; name a file by --output",
                            it->path);
    return !foreign && !S_ISREG(st.st_mode);
}

int as_replace_begin(struct as_replace *it, const char *path, bool foreign, struct assay_error *err)
{
    int rc;

    *it = (struct as_replace){.path = path, .fd = -1, .at = -1};
    rc = look_at_place(it, foreign, err);
    if (rc < 0)
        return rc;
    if (rc > 0) {
        it->fd = open(path, O_WRONLY | O_CLOEXEC);
        return it->fd < 0 ? as_replace_refused(path, errno, err) : 0;
    }
    find_real(it, foreign);
    rc = open_directory(it, err);
    if (rc == 0)
        rc = open_beside(it, err);
    return rc < 0 ? as_replace_end(it, rc, err) : 0;
}

int as_replace_end(struct as_replace *it, int rc, struct assay_error *err)
{
    const bool is_there = it->at >= 0 && it->fd >= 0;
    const char *name = as_path_last(as_str_z(&it->beside));

    if (it->fd >= 0 && close(it->fd) != 0 && rc == 0)
        rc = as_replace_refused(it->path, errno, err);
    if (rc == 0 && is_there && renameat(it->at, name, it->at, as_path_last(as_str_z(&it->real))))
        rc = as_replace_refused(it->path, errno, err);
    if (rc < 0 && is_there)
        unlinkat(it->at, name, 0);
    if (it->at >= 0)
        close(it->at);
    as_str_fini(&it->real);
    as_str_fini(&it->beside);
    it->fd = it->at = -1;
    return rc;
}
