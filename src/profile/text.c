/* SPDX-License-Identifier: Apache-2.0 */
/* Reading text files whole. */
#include "profile/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/foreign.h"
#include "base/vec.h"

static int fail_open(const char *path, const char *what, int error, struct assay_error *err)
{
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return as_error_set(err, ASSAY_ERR_NOT_FOUND, "%s: %s is not there: %s; check the path",
                            path, what, strerror(error));
    case EACCES:
    case EPERM:
        return as_error_set(err, ASSAY_ERR_PERMISSION,
                            "%s: %s may not be read: %s; ask its owner for permission", path, what,
                            strerror(error));
    default:
        return as_error_set(err, ASSAY_ERR_IO, "%s: %s could not be opened: %s", path, what,
                            strerror(error));
    }
}

static int read_whole(int fd, const char *path, const char *what, size_t limit_b, char **out,
                      size_t *n, struct assay_error *err)
{
    AS_VEC(char) text = {0};
    for (;;) {
        if (as_vec_reserve(&text, text.n + 65536) < 0) {
            as_vec_fini(&text);
            return as_error_nomem(err, path);
        }
        const ssize_t got = read(fd, text.at + text.n, text.cap - text.n - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0 && text.n + (size_t)got <= limit_b) {
            text.n += (size_t)got;
            continue;
        }
        if (got != 0) {
            const int rc =
                got < 0 ? as_error_set(err, ASSAY_ERR_IO, "%s: %s could not be read: %s", path,
                                       what, strerror(errno))
                        : as_error_set(err, ASSAY_ERR_LIMIT,
                                       "%s: %s is larger than %zu bytes, which cannot be right; "
                                       "check the path",
                                       path, what, limit_b);
            as_vec_fini(&text);
            return rc;
        }
        text.at[text.n] = 0;
        *out = text.at;
        *n = text.n;
        return 0;
    }
}

int as_text_read(const char *path, const char *what, size_t limit_b, char **out, size_t *n,
                 struct assay_error *err)
{
    struct stat st;
    const int fd = as_foreign_open(AT_FDCWD, path, 0, &st);
    if (fd < 0 && errno == EMEDIUMTYPE)
        return as_error_set(err, ASSAY_ERR_NOT_REGULAR,
                            "%s: %s must be a plain file, but this is %s", path, what,
                            S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
    if (fd < 0)
        return fail_open(path, what, errno, err);
    const int rc = read_whole(fd, path, what, limit_b, out, n, err);
    close(fd);
    return rc;
}
