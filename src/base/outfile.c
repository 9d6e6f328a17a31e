/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are renamed when they are complete. All steps use names relative to an open directory.
 * The temporary file has no name where the file system supports O_TMPFILE. A killed process leaves
 * nothing behind then.
 */
#include "base/outfile.h"

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
#include "base/io_full.h"
#include "base/untrusted_open.h"

#define TRIES     100
#define LINKS_MAX 40 /* the limit of the kernel */

static const char *fix_of(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return "free some space or use a file elsewhere";
    case ENOENT:
        return "create its directory first";
    case EACCES:
    case EPERM:
    case EROFS:
        return "use a file in a writable directory";
    default:
        return "name another file";
    }
}

int as_outfile_refused(const char *path, int number, struct as_error *err)
{
    return as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s; %s", path,
                        as_foreign_reason(number), fix_of(number));
}

bool as_outfile_is_device(const struct as_outfile *it)
{
    return it->at < 0;
}

/* ---- The place ---------------------------------------------------------------------------- */

/* Appends "DIRECTORY/" of a path; "./" if the path has no directory. */
static void append_directory(struct as_str *to, const char *path)
{
    const char *slash = strrchr(path, '/');

    as_str_append(to, slash ? path : "./", slash ? (size_t)(slash - path) + 1 : 2);
}

/* Resolves links, also a link to a missing file. */
static void find_real(struct as_outfile *it, unsigned bits)
{
    const bool foreign = bits & AS_OUTFILE_FOREIGN;
    char target[PATH_MAX];
    char *real = foreign ? NULL : realpath(it->path, NULL);
    ssize_t n;

    as_str_appendz(&it->real, real ? real : it->path);
    if (!foreign && !real)
        for (int i = 0; i < LINKS_MAX && !it->real.failed &&
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

/* Returns true for the name of an open descriptor: a new file cannot replace it. */
static bool is_descriptor(const char *path)
{
    return strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Returns 1 for a device or pipe, 0 for a file that can be created or replaced, or an error. */
static int look_at(const char *path, unsigned bits, struct stat *st, struct as_error *err)
{
    const bool foreign = bits & AS_OUTFILE_FOREIGN;

    *st = (struct stat){0};
    if (fstatat(AT_FDCWD, path, st, foreign ? AT_SYMLINK_NOFOLLOW : 0) != 0)
        return errno != ELOOP
                   ? 0
                   : as_error_set(err, AS_ERR_IO,
                                  "%s: cannot be written: it is a link to itself; use another file",
                                  path);
    if (S_ISDIR(st->st_mode))
        return as_error_set(err, AS_ERR_USAGE, "%s: is a directory; use a file name", path);
    if (!foreign && (!S_ISREG(st->st_mode) || is_descriptor(path)))
        return 1;
    if (!(bits & AS_OUTFILE_REPLACE) && (!S_ISREG(st->st_mode) || st->st_size > 0))
        return as_error_set(err, AS_ERR_USAGE,
                            "%s: exists; use another name, or replace it with --force", path);
    if (!foreign && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
        return as_outfile_refused(path, errno, err);
    return 0;
}

int as_outfile_check(const char *path, unsigned bits, struct as_error *err)
{
    struct stat st;
    const int rc = look_at(path, bits, &st, err);

    return rc < 0 ? rc : 0;
}

/* ---- The temporary file ------------------------------------------------------------------- */

static int open_directory(struct as_outfile *it, struct as_error *err)
{
    struct as_str directory = {0};

    append_directory(&directory, as_str_z(&it->real));
    if (directory.failed || it->real.failed) {
        as_str_fini(&directory);
        return as_error_nomem(err, it->path);
    }
    it->at = open(as_str_z(&directory), O_PATH | O_DIRECTORY | O_CLOEXEC);
    as_str_fini(&directory);
    return it->at < 0 ? as_outfile_refused(it->path, errno, err) : 0;
}

/* Creates a name for the temporary file: the name of the file with random letters behind it. */
static int name_beside(struct as_outfile *it)
{
    unsigned random = 0;

    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return errno;
    as_str_clear(&it->beside);
    as_str_appendf(&it->beside, "%s.%08x", as_str_z(&it->real), random);
    return it->beside.failed ? ENOMEM : 0;
}

/* Creates a temporary file with a name. Returns 0 or errno. */
static int make_named(struct as_outfile *it, mode_t mode)
{
    int number = EEXIST;

    for (int i = 0; i < TRIES && number == EEXIST; i++) {
        number = name_beside(it);
        if (number)
            break;
        it->fd = openat(it->at, as_path_last(as_str_z(&it->beside)),
                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        number = it->fd < 0 ? errno : 0;
    }
    return number;
}

/* Gives the temporary file without a name a name. Returns 0 or errno. */
static int link_nameless(struct as_outfile *it)
{
    char from[32];
    int number = EEXIST;

    snprintf(from, sizeof from, "/proc/self/fd/%d", it->fd);
    for (int i = 0; i < TRIES && number == EEXIST; i++) {
        number = name_beside(it);
        if (number)
            break;
        if (linkat(AT_FDCWD, from, it->at, as_path_last(as_str_z(&it->beside)),
                   AT_SYMLINK_FOLLOW) != 0)
            number = errno;
    }
    if (number)
        as_str_clear(&it->beside);
    return number;
}

static int make_file(struct as_outfile *it, unsigned bits, mode_t there, struct as_error *err)
{
    const mode_t mode = bits & AS_OUTFILE_PRIVATE ? 0600 : 0666;
    int number = 0;

    if (!(bits & AS_OUTFILE_NAMED) && access("/proc/self/fd", X_OK) == 0)
        it->fd = openat(it->at, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (it->fd < 0)
        number = make_named(it, mode);
    if (number == ENOMEM)
        return as_error_nomem(err, it->path);
    if (number)
        return as_outfile_refused(it->path, number, err);
    if (it->is_there) /* the new file is as private as the old one */
        (void)fchmod(it->fd, there & 0777);
    return 0;
}

/* ---- Begin and end ------------------------------------------------------------------------ */

int as_outfile_begin(struct as_outfile *it, const char *path, unsigned bits, struct as_error *err)
{
    struct stat st;
    int rc;

    *it = (struct as_outfile){.path = path, .fd = -1, .at = -1};
    rc = look_at(path, bits, &st, err);
    if (rc < 0)
        return rc;
    if (rc > 0) {
        it->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return it->fd < 0 ? as_outfile_refused(path, errno, err) : 0;
    }
    it->is_there = S_ISREG(st.st_mode);
    it->keeps = !it->is_there && !(bits & AS_OUTFILE_REPLACE);
    find_real(it, bits);
    rc = open_directory(it, err);
    if (rc == 0)
        rc = make_file(it, bits, st.st_mode, err);
    return rc < 0 ? as_outfile_end(it, rc, err) : 0;
}

/* Finds write errors that a network file system reports only at close(2). Returns 0 or errno. */
static int flush_to_server(int fd)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    return copy >= 0 && close(copy) != 0 ? errno : 0;
}

static int rename_beside(const struct as_outfile *it)
{
    const char *from = as_path_last(as_str_z(&it->beside)), *to = as_path_last(as_str_z(&it->real));
    int rc = it->keeps ? renameat2(it->at, from, it->at, to, RENAME_NOREPLACE) : -1;

    if (rc != 0 && (!it->keeps || errno == EINVAL || errno == ENOSYS))
        rc = renameat(it->at, from, it->at, to);
    return rc == 0 ? 0 : errno;
}

/* Renames the temporary file to its final name. Returns 0 or errno. */
static int rename_into_place(struct as_outfile *it)
{
    int number = flush_to_server(it->fd);

    if (number == 0 && !it->beside.n)
        number = link_nameless(it);
    return number ? number : rename_beside(it);
}

int as_outfile_end(struct as_outfile *it, int rc, struct as_error *err)
{
    int number = 0;

    if (!it->path)
        return rc;
    if (rc == 0 && it->fd >= 0 && it->at >= 0)
        number = rename_into_place(it);
    if ((rc < 0 || number) && it->beside.n)
        unlinkat(it->at, as_path_last(as_str_z(&it->beside)), 0);
    if (it->fd >= 0 && close(it->fd) != 0 && !number)
        number = errno;
    if (it->at >= 0)
        close(it->at);
    if (rc == 0 && number)
        rc = as_outfile_refused(it->path, number, err);
    as_str_fini(&it->real);
    as_str_fini(&it->beside);
    *it = (struct as_outfile){.fd = -1, .at = -1};
    return rc;
}

int as_outfile_fill(struct as_outfile *it, const void *bytes, size_t n, struct as_error *err)
{
    const int number = as_whole_write(it->fd, bytes, n);

    return as_outfile_end(it, number ? as_outfile_refused(it->path, number, err) : 0, err);
}

int as_outfile_write(const char *path, unsigned bits, const void *bytes, size_t n,
                     struct as_error *err)
{
    struct as_outfile it;

    AS_TRY(as_outfile_begin(&it, path, bits, err));
    return as_outfile_fill(&it, bytes, n, err);
}
