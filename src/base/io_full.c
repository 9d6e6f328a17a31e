/* SPDX-License-Identifier: Apache-2.0 */
/* Repeats read(2) and write(2) until the transfer is complete, see io_full.h. */
#include "base/io_full.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int as_whole_write(int fd, const void *p, size_t n)
{
    for (const char *at = p; n > 0;) {
        const ssize_t done = write(fd, at, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? errno : ENOSPC;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

size_t as_whole_read(int fd, void *p, size_t n)
{
    size_t have = 0;

    errno = 0;
    while (have < n) {
        const ssize_t got = read(fd, (char *)p + have, n - have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
    }
    if (have == n)
        errno = 0;
    return have;
}

ssize_t as_whole_text(const char *path, char *text, size_t text_b)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    text[0] = 0;
    if (fd < 0)
        return -1;
    const size_t n = as_whole_read(fd, text, text_b - 1);
    const int number = errno;

    close(fd);
    text[n] = 0;
    errno = number;
    return n == 0 && number ? -1 : (ssize_t)n;
}
