/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With O_NONBLOCK, opening a pipe for reading does not wait for a writer (for writing it fails); a
 * regular file is not affected. The type is checked by the descriptor, so it cannot change.
 */
#include "base/untrusted_open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* Returns `fd` if it is a regular file. Otherwise closes it and returns -1. */
static int only_regular(int fd, struct stat *st)
{
    struct stat own;
    int number;

    if (fd < 0)
        return -1;
    st = st ? st : &own;
    number = fstat(fd, st) != 0 ? errno : S_ISREG(st->st_mode) ? 0 : EMEDIUMTYPE;
    if (number == 0)
        return fd;
    close(fd);
    errno = number;
    return -1;
}

int as_foreign_open(int at, const char *path, unsigned bits, struct stat *st)
{
    const int no_link = bits & AS_FOREIGN_NO_LINK ? O_NOFOLLOW : 0;
    struct stat own;

    /* An open(2) of some devices has side effects, so they are not opened at all. */
    st = st ? st : &own;
    if (fstatat(at, path, st, no_link ? AT_SYMLINK_NOFOLLOW : 0) == 0 && !S_ISREG(st->st_mode)) {
        errno = S_ISLNK(st->st_mode) ? ELOOP : EMEDIUMTYPE;
        return -1;
    }
    return only_regular(openat(at, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | no_link),
                        st);
}

int as_foreign_create(int at, const char *path)
{
    const int fd = only_regular(
        openat(at, path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0666),
        NULL);

    if (fd >= 0 && ftruncate(fd, 0) != 0) {
        const int number = errno;

        close(fd);
        errno = number;
        return -1;
    }
    return fd;
}

/* Opens the first directory of `*below` and moves `*below` behind it. Closes `at`. */
static int enter(int at, const char **below)
{
    const char *slash = strchr(*below, '/');
    char name[NAME_MAX + 1];
    const size_t n = (size_t)(slash - *below);
    int fd = -1;

    errno = n > NAME_MAX ? ENAMETOOLONG : ELOOP;
    if (n <= NAME_MAX) {
        memcpy(name, *below, n);
        name[n] = 0;
        if (strcmp(name, "..") != 0)
            fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    const int number = fd < 0 && errno == ENOTDIR ? ELOOP : errno;
    close(at);
    *below = slash + 1;
    errno = number;
    return fd;
}

int as_foreign_open_below(const char *root, const char *below, struct stat *st)
{
    int at = open(*root ? root : ".", O_PATH | O_DIRECTORY | O_CLOEXEC), fd, number;

    while (at >= 0 && strchr(below, '/'))
        at = enter(at, &below);
    if (at < 0)
        return -1;
    fd = as_foreign_open(at, below, AS_FOREIGN_NO_LINK, st);
    number = errno;
    close(at);
    errno = number;
    return fd;
}

/* ---- Sentences ------------------------------------------------------------------------------ */

int as_foreign_fail(const char *path, const char *what, int number, struct as_error *err)
{
    const char *why = as_foreign_reason(number);

    switch (number) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
        return as_error_set(err, AS_ERR_NOT_FOUND, "%s: %s is missing: %s; check the path", path,
                            what, why);
    case EACCES:
    case EPERM:
        return as_error_set(err, AS_ERR_PERMISSION,
                            "%s: %s is not readable: %s; ask its owner for permission", path, what,
                            why);
    case EMEDIUMTYPE:
    case ELOOP:
    case ENXIO:
    case EISDIR:
        return as_error_set(err, AS_ERR_NOT_REGULAR, "%s: %s is %s; use a regular file", path, what,
                            number == ELOOP ? why : "not a regular file");
    case EMFILE:
    case ENFILE:
        return as_error_set(err, AS_ERR_LIMIT,
                            "%s: %s cannot be opened: %s; raise the limit with 'ulimit -n'", path,
                            what, why);
    case ENOMEM:
        return as_error_nomem(err, path);
    default:
        return as_error_set(err, AS_ERR_IO, "%s: %s cannot be read: %s", path, what, why);
    }
}

const char *as_foreign_reason(int number)
{
    if (number == EMEDIUMTYPE)
        return "not a regular file";
    if (number == ELOOP)
        return "a link, which is not followed here";
    return strerror(number);
}
