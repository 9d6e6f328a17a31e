/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/ordered.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/str.h"
#include "base/vec.h"

#define CHUNK_N  ((size_t)1 << 19) /* records that are sorted at once */
#define BUFFER_N ((size_t)1 << 12) /* that are read at once of each part of the file */

/* Records of the file that are in order. */
struct ordered_run {
    off_t next;    /* byte in the file */
    size_t left_n; /* records that are not in the buffer yet */
    char *buffer;
    size_t at, n; /* in the buffer */
};

struct as_ordered_store {
    size_t size_b, n;
    char *chunk;
    struct as_sort_key *key;
    int fd; /* -1: nothing was written yet */
    off_t end;
    AS_VEC(struct ordered_run) run;
};

int as_ordered_new(struct as_ordered_store **out, size_t size_b)
{
    struct as_ordered_store *o = *out = as_calloc(1, sizeof *o);
    if (!o)
        return ASSAY_ERR_NOMEM;
    o->size_b = size_b;
    o->fd = -1;
    o->chunk = as_malloc_large(CHUNK_N, size_b);
    o->key = as_malloc_large(CHUNK_N, sizeof *o->key);
    if (o->chunk && o->key)
        return 0;
    as_ordered_free(out);
    return ASSAY_ERR_NOMEM;
}

void as_ordered_free(struct as_ordered_store **ordered)
{
    struct as_ordered_store *o = *ordered;
    if (!o)
        return;
    as_vec_foreach (&o->run, run)
        as_free(run->buffer);
    as_vec_fini(&o->run);
    as_free(o->chunk);
    as_free(o->key);
    if (o->fd >= 0)
        close(o->fd);
    as_free(o);
    *ordered = NULL;
}

static int64_t time_of(const void *record)
{
    int64_t ns;
    memcpy(&ns, record, sizeof ns);
    return ns;
}

static int sort_chunk(struct as_ordered_store *o)
{
    for (size_t i = 0; i < o->n; i++)
        o->key[i] = (struct as_sort_key){
            (uint64_t)time_of(o->chunk + i * o->size_b) ^ (uint64_t)1 << 63, (uint32_t)i};
    return as_sort_keys(o->key, o->n);
}

static int open_file(struct as_ordered_store *o, struct assay_error *err)
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
    o->fd = mkstemp(name);
    int rc = o->fd >= 0 ? 0
                        : as_error_set(err, ASSAY_ERR_IO, "%s: cannot be written: %s; set TMPDIR",
                                       name, strerror(errno));
    if (rc == 0)
        unlink(name);
    free(name);
    return rc;
}

static int write_bytes(struct as_ordered_store *o, const char *p, size_t n, struct assay_error *err)
{
    while (n) {
        ssize_t wrote = pwrite(o->fd, p, n, o->end);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return as_error_set(err, ASSAY_ERR_IO,
                                "a temporary file to sort by: cannot be written: %s; set TMPDIR",
                                strerror(wrote < 0 ? errno : ENOSPC));
        p += wrote;
        n -= (size_t)wrote;
        o->end += wrote;
    }
    return 0;
}

/* What is in memory becomes a part of the file. */
static int spill_chunk(struct as_ordered_store *o, struct assay_error *err)
{
    struct ordered_run run = {.next = o->end, .left_n = o->n};
    char *sorted = as_malloc(BUFFER_N * o->size_b);
    int rc = sorted ? sort_chunk(o) : ASSAY_ERR_NOMEM;
    if (rc == 0 && o->fd < 0)
        rc = open_file(o, err);
    for (size_t i = 0; rc == 0 && i < o->n;) {
        size_t n = 0;
        for (; n < BUFFER_N && i < o->n; n++, i++)
            memcpy(sorted + n * o->size_b, o->chunk + o->key[i].at * o->size_b, o->size_b);
        rc = write_bytes(o, sorted, n * o->size_b, err);
    }
    as_free(sorted);
    if (rc == 0)
        rc = as_vec_push(&o->run, run);
    o->n = 0;
    return rc == ASSAY_ERR_NOMEM ? as_error_nomem(err, "records to be sorted") : rc;
}

int as_ordered_add(struct as_ordered_store *o, const void *record, struct assay_error *err)
{
    if (o->n == CHUNK_N)
        AS_TRY(spill_chunk(o, err));
    memcpy(o->chunk + o->n++ * o->size_b, record, o->size_b);
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int fill_run(struct as_ordered_store *o, struct ordered_run *run, struct assay_error *err)
{
    size_t n = run->left_n < BUFFER_N ? run->left_n : BUFFER_N;
    size_t got = 0, want = n * o->size_b;
    while (got < want) {
        ssize_t read = pread(o->fd, run->buffer + got, want - got, run->next + (off_t)got);
        if (read < 0 && errno == EINTR)
            continue;
        if (read <= 0)
            return as_error_set(err, ASSAY_ERR_IO,
                                "a temporary file to sort by: cannot be read: %s",
                                strerror(read < 0 ? errno : EIO));
        got += (size_t)read;
    }
    run->next += (off_t)want;
    run->left_n -= n;
    run->at = 0;
    run->n = n;
    return 0;
}

static const char *first_of(const struct as_ordered_store *o, const struct ordered_run *run)
{
    return run->buffer + run->at * o->size_b;
}

/* Parts are few (a million records each): the earliest is looked for one by one. What was added
 * first stands in the part that was written first. */
static int merge_runs(struct as_ordered_store *o, int (*each)(void *context, const void *record),
                      void *context, struct assay_error *err)
{
    as_vec_foreach (&o->run, run) {
        run->buffer = as_malloc(BUFFER_N * o->size_b);
        if (!run->buffer)
            return as_error_nomem(err, "sorted records");
        AS_TRY(fill_run(o, run, err));
    }
    for (;;) {
        struct ordered_run *earliest = NULL;
        int64_t earliest_ns = 0;
        as_vec_foreach (&o->run, run) {
            if (run->at == run->n)
                continue;
            int64_t ns = time_of(first_of(o, run));
            if (!earliest || ns < earliest_ns) {
                earliest = run;
                earliest_ns = ns;
            }
        }
        if (!earliest)
            return 0;
        AS_TRY(each(context, first_of(o, earliest)));
        if (++earliest->at == earliest->n && earliest->left_n)
            AS_TRY(fill_run(o, earliest, err));
    }
}

int as_ordered_read(struct as_ordered_store *o, int (*each)(void *context, const void *record),
                    void *context, struct assay_error *err)
{
    if (o->run.n) {
        AS_TRY(spill_chunk(o, err));
        return merge_runs(o, each, context, err);
    }
    if (sort_chunk(o) < 0)
        return as_error_nomem(err, "records to be sorted");
    for (size_t i = 0; i < o->n; i++)
        AS_TRY(each(context, o->chunk + o->key[i].at * o->size_b));
    return 0;
}
