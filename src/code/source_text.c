/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads each file once and indexes its lines.
 */
#include "code/source_text.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io_full.h"
#include "base/untrusted_open.h"

/* Max size of a file, in bytes. Source code is far smaller, even if generated. */
#define SOURCE_MAX_B (64u << 20)

struct as_source_file {
    char *text; /* NULL = unreadable */
    size_t text_b;
    AS_VEC(size_t) line; /* offset of each line */
};

static void read_text(struct as_source_file *file, int fd, size_t size_b)
{
    if (size_b > SOURCE_MAX_B)
        return;
    file->text = as_malloc(size_b + 1);
    if (file->text)
        file->text_b = as_whole_read(fd, file->text, size_b);
}

static void index_lines(struct as_source_file *file)
{
    const char *p = file->text, *end = p + file->text_b;

    while (p && p < end) {
        if (as_vec_push(&file->line, (size_t)(p - file->text)) < 0)
            return;
        p = memchr(p, '\n', (size_t)(end - p));
        p = p ? p + 1 : NULL;
    }
}

static struct as_source_file *source_open(const char *path)
{
    struct as_source_file *file = as_calloc(1, sizeof *file);
    struct stat st;
    const int fd = file ? as_foreign_open(AT_FDCWD, path, 0, &st) : -1;

    if (fd >= 0) {
        read_text(file, fd, (size_t)st.st_size);
        index_lines(file);
        close(fd);
    }
    return file;
}

static struct as_source_file *source_get(struct as_sources *sources, uint32_t number,
                                         const char *path)
{
    while (sources->file.n <= number)
        if (as_vec_push(&sources->file, NULL) < 0)
            return NULL;
    if (!sources->file.at[number])
        sources->file.at[number] = source_open(path);
    return sources->file.at[number];
}

struct as_view as_source_line(struct as_sources *sources, uint32_t number, const char *path,
                              uint32_t line)
{
    const struct as_source_file *file = source_get(sources, number, path);
    size_t begin, n;

    if (!file || line == 0 || line > file->line.n)
        return (struct as_view){NULL, 0};
    begin = file->line.at[line - 1];
    n = (line < file->line.n ? file->line.at[line] : file->text_b) - begin;
    while (n && (file->text[begin + n - 1] == '\n' || file->text[begin + n - 1] == '\r'))
        n--;
    return (struct as_view){file->text + begin, n};
}

void as_sources_fini(struct as_sources *sources)
{
    as_vec_foreach (&sources->file, it) {
        if (!*it)
            continue;
        as_free((*it)->text);
        as_vec_fini(&(*it)->line);
        as_free(*it);
    }
    as_vec_fini(&sources->file);
}
