/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/str.h"

int as_scratch_open(int *fd, struct as_error *err)
{
    const char *directory = getenv("TMPDIR");
    struct as_str path = {0};
    as_str_appendf(&path, "%s/assay-sort-XXXXXX", directory && *directory ? directory : "/tmp");
    if (path.failed)
        return as_error_nomem(err, "the name of a temporary file");
    char *name = strdup(as_str_z(&path));
    as_str_fini(&path);
    if (!name)
        return as_error_nomem(err, "the name of a temporary file");
    *fd = mkstemp(name);
    int rc = *fd >= 0 ? 0
                      : as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s; set TMPDIR", name,
                                     strerror(errno));
    if (rc == 0)
        unlink(name);
    free(name);
    return rc;
}

int as_scratch_write(int fd, const void *p, size_t n, off_t *end, struct as_error *err)
{
    const char *bytes = p;
    while (n) {
        ssize_t wrote = pwrite(fd, bytes, n, *end);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return as_error_set(err, AS_ERR_IO,
                                "a temporary file for sorting: cannot be written: %s; set TMPDIR",
                                strerror(wrote < 0 ? errno : ENOSPC));
        bytes += wrote;
        n -= (size_t)wrote;
        *end += wrote;
    }
    return 0;
}

int as_scratch_read(int fd, void *p, size_t n, off_t at, struct as_error *err)
{
    size_t got = 0;
    while (got < n) {
        ssize_t read = pread(fd, (char *)p + got, n - got, at + (off_t)got);
        if (read < 0 && errno == EINTR)
            continue;
        if (read <= 0)
            return as_error_set(err, AS_ERR_IO, "a temporary file for sorting: cannot be read: %s",
                                strerror(read < 0 ? errno : EIO));
        got += (size_t)read;
    }
    return 0;
}
