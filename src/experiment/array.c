/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that are too large for SQL. They are appended to run-NNN/arrays, little endian, at
 * multiples of 8 bytes. The table `array` stores their positions. A replaced array stays in the
 * file.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/io_full.h"
#include "base/untrusted_open.h"
#include "experiment/internal.h"
#include "experiment/schema.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "arrays are kept as they are in memory: little endian"
#endif

#define ALIGN_B 8

static const char *type_word(enum as_array_type type)
{
    static const char *const word[] = {
#define ARRAY_WORD(name, text, size_b) text,
        AS_ARRAY_LIST(ARRAY_WORD)
#undef ARRAY_WORD
    };
    assert((size_t)type < sizeof word / sizeof *word);
    return word[type];
}

static size_t type_size_b(enum as_array_type type)
{
    static const size_t size[] = {
#define ARRAY_SIZE(name, text, size_b) size_b,
        AS_ARRAY_LIST(ARRAY_SIZE)
#undef ARRAY_SIZE
    };
    assert((size_t)type < sizeof size / sizeof *size);
    return size[type];
}

static int type_of(const char *word, enum as_array_type *type)
{
#define ARRAY_TYPE(name, text, size_b)                                                             \
    if (word && strcmp(word, text) == 0) {                                                         \
        *type = AS_ARRAY_##name;                                                                   \
        return 0;                                                                                  \
    }
    AS_ARRAY_LIST(ARRAY_TYPE)
#undef ARRAY_TYPE
    return AS_ERR_CORRUPT;
}

static int array_failed(const char *path, const char *what, struct as_error *err)
{
    return as_error_set(err, errno == EACCES ? AS_ERR_PERMISSION : AS_ERR_IO, "%s: %s: %s", path,
                        what, as_foreign_reason(errno));
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* Appends an array to the file. `offset` receives its start, `size` the new size of the file. */
static int append_array(const char *path, const struct as_array *it, int64_t *offset, int64_t *size,
                        struct as_error *err)
{
    const size_t size_b = it->n * type_size_b(it->type);
    struct stat st;
    int rc = 0;
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);

    if (fd < 0)
        return array_failed(path, "opening the file of arrays", err);
    if (fstat(fd, &st) < 0) {
        rc = array_failed(path, "opening the file of arrays", err);
    } else {
        *offset = (st.st_size + ALIGN_B - 1) / ALIGN_B * ALIGN_B;
        *size = *offset + (int64_t)size_b;
        if (lseek(fd, *offset, SEEK_SET) >= 0)
            errno = as_whole_write(fd, it->data, size_b);
        if (errno)
            rc = array_failed(path, "writing an array", err);
    }
    if (close(fd) < 0 && rc == 0)
        rc = array_failed(path, "writing an array", err);
    return rc;
}

int as_experiment_array(struct as_experiment *experiment, const struct as_subject *subject,
                        const struct as_array *it, struct as_error *err)
{
    struct as_row_array row = {
        .run_id = subject->run_id,
        .name = it->name,
        .object_kind = subject->kind,
        .object_id = subject->object_id,
        .context_id = subject->context_id,
        .type = type_word(it->type),
        .n = (int64_t)it->n,
    };
    struct as_row_run_file file = {.run_id = subject->run_id, .kind = "array"};
    char path[4096];
    int64_t size_b = 0;

    AS_TRY(as_batch_check(experiment, err));
    if (subject->run_id <= 0)
        return as_error_set(err, AS_ERR_INTERNAL, "array %s: belongs to no run", it->name);
    AS_TRY(as_experiment_run_directory(experiment, subject->run_id, path, sizeof path - 8, err));
    memcpy(path + strlen(path), "/arrays", sizeof "/arrays");
    AS_TRY(append_array(path, it, &row.offset_b, &size_b, err));
    file.path = path + strlen(experiment->path) + 1;
    file.size_b = as_known(size_b);
    AS_TRY(as_experiment_add_run_file(experiment, &file, &row.run_file_id, err));
    return as_row_add(experiment, AS_TABLE_array, &row, NULL, err);
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int read_array(const char *path, void *to, size_t n, off_t at, struct as_error *err)
{
    const int fd = as_foreign_open(AT_FDCWD, path, AS_FOREIGN_NO_LINK, NULL);
    int rc = 0;

    if (fd < 0)
        return array_failed(path, "opening the file of arrays", err);
    if (lseek(fd, at, SEEK_SET) < 0 || as_whole_read(fd, to, n) < n)
        rc = errno ? array_failed(path, "reading an array", err)
                   : as_error_set(err, AS_ERR_CORRUPT,
                                  "%s: shorter than the arrays in it; copy the whole experiment",
                                  path);
    close(fd);
    return rc;
}

static int find_array(struct as_experiment *experiment, const struct as_subject *subject,
                      const char *name, struct as_rows **rows, struct as_error *err)
{
    int rc;

    AS_TRY(as_rows_open(experiment,
                        "SELECT a.type, a.n, a.offset_b, f.path, f.size_b"
                        " FROM array a JOIN run_file f USING (run_file_id)"
                        " WHERE a.run_id = ?1 AND a.name = ?2 AND a.object_kind = ?3"
                        " AND a.object_id = ?4 AND a.context_id = ?5",
                        rows, err));
    as_rows_bind_integer(*rows, 1, subject->run_id);
    as_rows_bind_text(*rows, 2, name);
    as_rows_bind_text(*rows, 3, as_object_word(subject->kind));
    as_rows_bind_integer(*rows, 4, subject->object_id);
    as_rows_bind_integer(*rows, 5, subject->context_id);
    rc = as_rows_next(*rows, err);
    if (rc == 0)
        rc = as_error_set(err, AS_ERR_NOT_FOUND, "%s: has no array %s of this object",
                          experiment->path, name);
    return rc;
}

/* Reads an array from its recorded position. The numbers are untrusted: the array must lie
 * within the recorded size of its run's file. */
static int read_found(struct as_experiment *experiment, int64_t run_id, struct as_rows *rows,
                      struct as_array *out, struct as_error *err)
{
    const int64_t n = as_rows_integer(rows, 1), offset = as_rows_integer(rows, 2);
    const char *file = as_rows_text(rows, 3);
    char own[64], path[4096];
    int rc;

    snprintf(own, sizeof own, "run-%03lld/arrays", (long long)run_id);
    if (type_of(as_rows_text(rows, 0), &out->type) < 0 || !file || strcmp(file, own) != 0 ||
        n < 0 || offset < 0 || as_rows_integer(rows, 4) < offset ||
        (as_rows_integer(rows, 4) - offset) / (int64_t)type_size_b(out->type) < n)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: damaged: an array is not at its recorded position; restore a "
                            "backup",
                            experiment->path);
    if (snprintf(path, sizeof path, "%s/%s", experiment->path, file) >= (int)sizeof path)
        return as_error_set(err, AS_ERR_LIMIT, "%s: its path is too long", experiment->path);
    out->n = (size_t)n;
    out->data = as_malloc(out->n * type_size_b(out->type) + 1);
    if (!out->data)
        return as_error_nomem(err, path);
    rc = read_array(path, (void *)out->data, out->n * type_size_b(out->type), offset, err);
    if (rc < 0)
        as_array_fini(out);
    return rc;
}

int as_experiment_read_array(struct as_experiment *experiment, const struct as_subject *subject,
                             const char *name, struct as_array *out, struct as_error *err)
{
    struct as_rows *rows = NULL;
    int rc;

    *out = (struct as_array){.name = name};
    rc = find_array(experiment, subject, name, &rows, err);
    if (rc > 0)
        rc = read_found(experiment, subject->run_id, rows, out, err);
    as_rows_close(&rows);
    return rc;
}

void as_array_fini(struct as_array *array)
{
    as_free((void *)array->data);
    *array = (struct as_array){0};
}
