/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With O_NONBLOCK opening a pipe to read does not wait for a writer (and to write fails); of a
 * regular file it changes nothing. What it is, is asked of the descriptor, so that it stays so.
 */
#include "base/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* `fd` when it is of a regular file, else it is closed. */
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

const char *as_foreign_reason(int number)
{
    if (number == EMEDIUMTYPE)
        return "not a regular file";
    if (number == ELOOP)
        return "a link, which is not followed here";
    return strerror(number);
}
