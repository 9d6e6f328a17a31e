/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/ordered.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"
#include "base/vec.h"
#include "exchange/scratch.h"

#define CHUNK_N  ((size_t)1 << 16)  /* records sorted at once; they fit the caches */
#define BUFFER_N ((size_t)1 << 12)  /* records read at once from each run in the file */
#define KEPT_B   ((size_t)64 << 20) /* max size of the runs in memory */

/* Sorted records in memory or in the file. */
struct ordered_run {
    int64_t first_ns;
    off_t next;    /* position in the file */
    size_t left_n; /* records not yet in the buffer */
    char *buffer;  /* NULL: not read yet, or completely read */
    size_t at, n;  /* index and number of records in the buffer */
    bool is_kept;  /* the buffer is a part of `kept` */
};

/* The first unread record of a run. */
struct ordered_head {
    int64_t ns;
    uint32_t run;
};

struct as_ordered_store {
    size_t size_b, n;
    char *kept;    /* runs in memory, one after another; NULL: none */
    size_t kept_b; /* bytes in `kept` */
    char *chunk;
    struct as_sort_key *key;
    int fd; /* -1: nothing was written yet */
    off_t end;
    AS_VEC(struct ordered_run) run;
    AS_VEC(struct ordered_head) heap; /* earliest first */
    size_t taken_n;                   /* records read from the chunk without a run */
    bool is_taking;                   /* the record of the first run was returned */
};

int as_ordered_new(struct as_ordered_store **out, size_t size_b)
{
    struct as_ordered_store *o = *out = as_calloc(1, sizeof *o);
    if (!o)
        return AS_ERR_NOMEM;
    o->size_b = size_b;
    o->fd = -1;
    o->chunk = as_malloc_large(CHUNK_N, size_b);
    o->key = as_malloc_large(CHUNK_N, sizeof *o->key);
    if (o->chunk && o->key)
        return 0;
    as_ordered_free(out);
    return AS_ERR_NOMEM;
}

static void free_buffer(struct ordered_run *run)
{
    if (!run->is_kept)
        as_free(run->buffer);
    run->buffer = NULL;
}

void as_ordered_free(struct as_ordered_store **ordered)
{
    struct as_ordered_store *o = *ordered;
    if (!o)
        return;
    as_vec_foreach (&o->run, run)
        free_buffer(run);
    as_free(o->kept);
    as_vec_fini(&o->run);
    as_vec_fini(&o->heap);
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
    bool is_sorted = true;
    for (size_t i = 0; i < o->n; i++) {
        o->key[i] = (struct as_sort_key){
            (uint64_t)time_of(o->chunk + i * o->size_b) ^ (uint64_t)1 << 63, (uint32_t)i};
        is_sorted &= i == 0 || o->key[i].key >= o->key[i - 1].key;
    }
    return is_sorted ? 0 : as_sort_keys(o->key, o->n);
}

static void copy_sorted(const struct as_ordered_store *o, size_t from, size_t n, char *to)
{
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * o->size_b, o->chunk + o->key[from + i].at * o->size_b, o->size_b);
}

static int store_run_in_memory(struct as_ordered_store *o, struct ordered_run *run)
{
    if (!o->kept)
        o->kept = as_malloc_large(KEPT_B, 1);
    if (!o->kept)
        return AS_ERR_NOMEM;
    run->buffer = o->kept + o->kept_b;
    run->is_kept = true;
    copy_sorted(o, 0, o->n, run->buffer);
    run->n = o->n;
    o->kept_b += o->n * o->size_b;
    return 0;
}

static int write_run(struct as_ordered_store *o, struct ordered_run *run, struct as_error *err)
{
    char *sorted = as_malloc(BUFFER_N * o->size_b);
    int rc = sorted ? 0 : AS_ERR_NOMEM;
    if (rc == 0 && o->fd < 0)
        rc = as_scratch_open(&o->fd, err);
    run->next = o->end;
    run->left_n = o->n;
    for (size_t i = 0; rc == 0 && i < o->n; i += BUFFER_N) {
        const size_t n = o->n - i < BUFFER_N ? o->n - i : BUFFER_N;
        copy_sorted(o, i, n, sorted);
        rc = as_scratch_write(o->fd, sorted, n * o->size_b, &o->end, err);
    }
    as_free(sorted);
    return rc;
}

/* Makes a run of the chunk. */
static int end_chunk(struct as_ordered_store *o, struct as_error *err)
{
    struct ordered_run run = {0};
    int rc = sort_chunk(o);
    if (rc == 0 && o->n)
        run.first_ns = time_of(o->chunk + o->key[0].at * o->size_b);
    if (rc == 0)
        rc = o->kept_b + o->n * o->size_b <= KEPT_B ? store_run_in_memory(o, &run)
                                                    : write_run(o, &run, err);
    if (rc == 0)
        rc = as_vec_push(&o->run, run);
    o->n = 0;
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, "records to be sorted") : rc;
}

int as_ordered_add(struct as_ordered_store *o, const void *record, struct as_error *err)
{
    if (o->n == CHUNK_N)
        AS_TRY(end_chunk(o, err));
    memcpy(o->chunk + o->n++ * o->size_b, record, o->size_b);
    return 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* Reads the next records of a run. Runs of nearly sorted records hardly overlap, so few have a
 * buffer at once. */
static int fill_run(struct as_ordered_store *o, struct ordered_run *run, struct as_error *err)
{
    const size_t n = run->left_n < BUFFER_N ? run->left_n : BUFFER_N, want = n * o->size_b;
    if (!run->buffer)
        run->buffer = as_malloc(BUFFER_N * o->size_b);
    if (!run->buffer)
        return as_error_nomem(err, "sorted records");
    AS_TRY(as_scratch_read(o->fd, run->buffer, want, run->next, err));
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

/* Returns true if `a` comes first. At equal times the run that was written first comes first. */
static bool is_earlier_head(const struct ordered_head *a, const struct ordered_head *b)
{
    return a->ns != b->ns ? a->ns < b->ns : a->run < b->run;
}

static void sink_head(struct as_ordered_store *o, size_t at)
{
    struct ordered_head *heap = o->heap.at;
    const struct ordered_head moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < o->heap.n; at = child) {
        if (child + 1 < o->heap.n && is_earlier_head(&heap[child + 1], &heap[child]))
            child++;
        if (!is_earlier_head(&heap[child], &moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static int begin_runs(struct as_ordered_store *o, struct as_error *err)
{
    AS_TRY(end_chunk(o, err));
    for (uint32_t i = 0; i < o->run.n; i++)
        if ((o->run.at[i].n || o->run.at[i].left_n) &&
            as_vec_push(&o->heap, (struct ordered_head){o->run.at[i].first_ns, i}) < 0)
            return as_error_nomem(err, "sorted records");
    for (size_t i = o->heap.n; i-- > 0;)
        sink_head(o, i);
    return 0;
}

/* Removes the record that was returned last. */
static int pass_first(struct as_ordered_store *o, struct as_error *err)
{
    struct ordered_run *run = &o->run.at[o->heap.at[0].run];
    if (++run->at == run->n && run->left_n)
        AS_TRY(fill_run(o, run, err));
    if (run->at < run->n) {
        o->heap.at[0].ns = time_of(first_of(o, run));
    } else {
        free_buffer(run);
        o->heap.at[0] = o->heap.at[--o->heap.n];
    }
    if (o->heap.n)
        sink_head(o, 0);
    return 0;
}

int as_ordered_begin(struct as_ordered_store *o, struct as_error *err)
{
    if (o->run.n)
        return begin_runs(o, err);
    return sort_chunk(o) < 0 ? as_error_nomem(err, "records to be sorted") : 0;
}

int as_ordered_next(struct as_ordered_store *o, const void **record, struct as_error *err)
{
    *record = NULL;
    if (o->run.n == 0) {
        if (o->taken_n < o->n)
            *record = o->chunk + o->key[o->taken_n++].at * o->size_b;
        return 0;
    }
    if (o->is_taking)
        AS_TRY(pass_first(o, err));
    o->is_taking = o->heap.n > 0;
    if (!o->is_taking)
        return 0;
    struct ordered_run *run = &o->run.at[o->heap.at[0].run];
    if (!run->buffer)
        AS_TRY(fill_run(o, run, err));
    *record = first_of(o, run);
    return 0;
}

int as_ordered_read(struct as_ordered_store *o, int (*each)(void *context, const void *record),
                    void *context, struct as_error *err)
{
    const void *record;
    AS_TRY(as_ordered_begin(o, err));
    for (;;) {
        AS_TRY(as_ordered_next(o, &record, err));
        if (!record)
            return 0;
        AS_TRY(each(context, record));
    }
}
