/* SPDX-License-Identifier: Apache-2.0 */
/* Reads until the end or the limit. The size of a pipe or of a file in /proc is not known
 * before. */
#include "base/infile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/error.h"
#include "base/untrusted_open.h"
#include "base/vec.h"

#define STEP_B 65536

int as_infile_read_fd(int fd, const char *path, const char *what, size_t limit_b, char **out,
                      size_t *n, struct as_error *err)
{
    AS_VEC(char) text = {0};
    for (;;) {
        if (as_vec_reserve(&text, text.n + STEP_B) < 0) {
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
            const int rc = got < 0 ? as_error_set(err, AS_ERR_IO, "%s: %s could not be read: %s",
                                                  path, what, strerror(errno))
                                   : as_error_set(err, AS_ERR_UNSUPPORTED,
                                                  "%s: %s is larger than %zu bytes; check the path",
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

/* Opens the pipe of a process substitution, which already has a writer. Returns -1 for other
 * files. */
static int open_pipe(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct statfs fs;

    if (fd < 0)
        return -1;
    if (fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC && fcntl(fd, F_SETFL, 0) == 0)
        return fd;
    close(fd);
    return -1;
}

int as_infile_read(const char *path, const char *what, size_t limit_b, unsigned bits, char **out,
                   size_t *n, struct as_error *err)
{
    int fd, number, rc;

    if (bits & AS_INFILE_PIPE && strcmp(path, "-") == 0)
        return as_infile_read_fd(STDIN_FILENO, "standard input", what, limit_b, out, n, err);
    fd = as_foreign_open(AT_FDCWD, path, 0, NULL);
    number = errno;
    if (fd < 0 && number == EMEDIUMTYPE && bits & AS_INFILE_PIPE)
        fd = open_pipe(path);
    if (fd < 0)
        return as_foreign_fail(path, what, number, err);
    rc = as_infile_read_fd(fd, path, what, limit_b, out, n, err);
    close(fd);
    return rc;
}

int as_infile_read_text(const char *path, const char *what, size_t limit_b, unsigned bits,
                        char **out, size_t *n, struct as_error *err)
{
    AS_TRY(as_infile_read(path, what, limit_b, bits, out, n, err));
    if (!memchr(*out, 0, *n))
        return 0;
    as_free(*out);
    *out = NULL;
    return as_error_set(err, AS_ERR_CORRUPT,
                        "%s: %s is not a text file: it has a zero byte; check the path", path,
                        what);
}

char *as_infile_line(char **rest)
{
    char *line = *rest && **rest ? strsep(rest, "\n") : NULL;
    const size_t n = line ? strlen(line) : 0;

    if (n && line[n - 1] == '\r')
        line[n - 1] = 0;
    return line;
}
