/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout of the file: chunks of all channels, then an entry for each chunk, then their number and
 * the offset of the entries. A record of a chunk has a kind, the number of fields and the fields. A
 * field is the difference to that of the record before in the chunk. It is LEB128 with the sign in
 * the lowest bit.
 */
#include "analytics/parallel/shuffle_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/read.h"
#include "base/vec.h"

#define CHUNK_B       65536u
#define RECORD_B      (2 + 10 * AS_SHUFFLE_FIELDS_N)
#define SHUFFLE_MAGIC UINT64_C(0x31646e6168507361)

struct chunk_place {
    uint64_t offset;
    uint32_t channel, size_b;
};

struct shuffle_tail {
    uint64_t offset, n, magic;
};

/* ---- Writing --------------------------------------------------------------------------------- */

struct out_channel {
    uint8_t *bytes; /* NULL: nothing yet */
    uint32_t size_b;
    int64_t before[AS_SHUFFLE_FIELDS_N];
};

struct as_shuffle_out {
    int fd, failed; /* errno of what failed first */
    uint32_t channel_n;
    uint64_t offset;
    AS_VEC(struct chunk_place) place;
    char path[4200];
    struct out_channel channel[];
};

int as_shuffle_new(const char *path, uint32_t channel_n, struct as_shuffle_out **out,
                   struct as_error *err)
{
    struct as_shuffle_out *to = *out =
        as_calloc(1, sizeof *to + (size_t)channel_n * sizeof *to->channel);
    if (!to)
        return as_error_nomem(err, path);
    to->channel_n = channel_n;
    snprintf(to->path, sizeof to->path, "%s", path);
    to->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (to->fd >= 0)
        return 0;
    as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    as_shuffle_close(out, NULL);
    return AS_ERR_IO;
}

static void write_all(struct as_shuffle_out *to, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    while (n && !to->failed) {
        const ssize_t put = write(to->fd, at, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            to->failed = put < 0 ? errno : ENOSPC;
            return;
        }
        at += put;
        n -= (size_t)put;
        to->offset += (size_t)put;
    }
}

static void flush_channel(struct as_shuffle_out *to, uint32_t number)
{
    struct out_channel *channel = &to->channel[number];
    const struct chunk_place place = {to->offset, number, channel->size_b};
    if (channel->size_b == 0)
        return;
    if (as_vec_push(&to->place, place) < 0)
        to->failed = ENOMEM;
    write_all(to, channel->bytes, channel->size_b);
    channel->size_b = 0;
    memset(channel->before, 0, sizeof channel->before);
}

void as_shuffle_write(struct as_shuffle_out *to, uint32_t number,
                      const struct as_shuffle_record *record)
{
    struct out_channel *channel = &to->channel[number];
    if (to->failed)
        return;
    if (!channel->bytes)
        channel->bytes = as_malloc(CHUNK_B);
    if (!channel->bytes) {
        to->failed = ENOMEM;
        return;
    }
    if (channel->size_b + RECORD_B > CHUNK_B)
        flush_channel(to, number);
    uint8_t *at = channel->bytes + channel->size_b;
    *at++ = record->kind;
    *at++ = record->n;
    for (unsigned i = 0; i < record->n; i++) {
        const uint64_t more = (uint64_t)record->field[i] - (uint64_t)channel->before[i];
        uint64_t left = more << 1 ^ (more >> 63 ? UINT64_MAX : 0);
        for (; left >= 0x80; left >>= 7)
            *at++ = (uint8_t)(left | 0x80);
        *at++ = (uint8_t)left;
        channel->before[i] = record->field[i];
    }
    channel->size_b = (uint32_t)(at - channel->bytes);
}

static void write_places(struct as_shuffle_out *to)
{
    const struct shuffle_tail tail = {to->offset, to->place.n, SHUFFLE_MAGIC};
    write_all(to, to->place.at, to->place.n * sizeof *to->place.at);
    write_all(to, &tail, sizeof tail);
}

int as_shuffle_close(struct as_shuffle_out **out, struct as_error *err)
{
    struct as_shuffle_out *to = *out;
    int rc = 0;
    if (!to)
        return 0;
    for (uint32_t i = 0; err && i < to->channel_n; i++)
        flush_channel(to, i);
    if (err)
        write_places(to);
    if (to->fd >= 0 && close(to->fd) != 0 && !to->failed)
        to->failed = errno;
    if (err && to->failed)
        rc = as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s; free some space", to->path,
                          strerror(to->failed));
    for (uint32_t i = 0; i < to->channel_n; i++)
        as_free(to->channel[i].bytes);
    as_vec_fini(&to->place);
    as_free(to);
    *out = NULL;
    return rc;
}

/* ---- Reading --------------------------------------------------------------------------------- */

struct as_shuffle_in {
    int fd;
    AS_VEC(struct chunk_place) place; /* of the channel */
    size_t next;
    struct as_read cursor;
    int64_t before[AS_SHUFFLE_FIELDS_N];
    char path[4200];
    uint8_t bytes[CHUNK_B];
};

static int is_broken(const struct as_shuffle_in *from, struct as_error *err)
{
    return as_error_set(err, AS_ERR_CORRUPT, "%s: is not whole", from->path);
}

static int read_places(struct as_shuffle_in *from, uint32_t channel, struct as_error *err)
{
    const off_t size = lseek(from->fd, 0, SEEK_END);
    struct shuffle_tail tail;
    struct chunk_place place[256];
    if (size < (off_t)sizeof tail ||
        pread(from->fd, &tail, sizeof tail, size - (off_t)sizeof tail) != (ssize_t)sizeof tail ||
        tail.magic != SHUFFLE_MAGIC || tail.offset > (uint64_t)size ||
        tail.n > ((uint64_t)size - tail.offset) / sizeof *place)
        return is_broken(from, err);
    for (uint64_t at = 0, n; at < tail.n; at += n) {
        n = tail.n - at < 256 ? tail.n - at : 256;
        if (pread(from->fd, place, n * sizeof *place, (off_t)(tail.offset + at * sizeof *place)) !=
            (ssize_t)(n * sizeof *place))
            return is_broken(from, err);
        for (uint64_t i = 0; i < n; i++)
            if (place[i].channel == channel && as_vec_push(&from->place, place[i]) < 0)
                return as_error_nomem(err, from->path);
    }
    return 0;
}

int as_shuffle_open(const char *path, uint32_t channel, struct as_shuffle_in **out,
                    struct as_error *err)
{
    struct as_shuffle_in *from = *out = as_calloc(1, sizeof *from);
    if (!from)
        return as_error_nomem(err, path);
    snprintf(from->path, sizeof from->path, "%s", path);
    from->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const int rc =
        from->fd < 0 ? as_error_set(err, AS_ERR_IO, "%s: cannot be read: %s", path, strerror(errno))
                     : read_places(from, channel, err);
    if (rc < 0)
        as_shuffle_free(out);
    return rc;
}

int as_shuffle_next(struct as_shuffle_in *from, struct as_shuffle_record *out, struct as_error *err)
{
    if (as_read_left(&from->cursor) == 0) {
        if (from->next == from->place.n)
            return 0;
        const struct chunk_place *place = &from->place.at[from->next++];
        if (place->size_b > CHUNK_B || pread(from->fd, from->bytes, place->size_b,
                                             (off_t)place->offset) != (ssize_t)place->size_b)
            return is_broken(from, err);
        from->cursor = as_read_of(from->bytes, place->size_b);
        memset(from->before, 0, sizeof from->before);
    }
    out->kind = as_read_u8(&from->cursor);
    out->n = as_read_u8(&from->cursor);
    if (out->n > AS_SHUFFLE_FIELDS_N)
        return is_broken(from, err);
    for (unsigned i = 0; i < out->n; i++) {
        const uint64_t value = as_read_uleb(&from->cursor);
        from->before[i] =
            (int64_t)((uint64_t)from->before[i] + (value >> 1 ^ (value & 1 ? UINT64_MAX : 0)));
        out->field[i] = from->before[i];
    }
    return from->cursor.bad ? is_broken(from, err) : 1;
}

void as_shuffle_free(struct as_shuffle_in **out)
{
    struct as_shuffle_in *from = *out;
    if (!from)
        return;
    if (from->fd >= 0)
        close(from->fd);
    as_vec_fini(&from->place);
    as_free(from);
    *out = NULL;
}

/* ---- Several as one -------------------------------------------------------------------------- */

struct shuffle_source {
    struct as_shuffle_in *file;
    struct as_shuffle_record record; /* the next */
    uint32_t number, part;
};

static bool comes_before(const struct shuffle_source *a, const struct shuffle_source *b)
{
    for (unsigned i = 0; i < AS_SHUFFLE_KEY_N; i++)
        if (a->record.field[i] != b->record.field[i])
            return a->record.field[i] < b->record.field[i];
    return a->number < b->number;
}

static void sink_source(struct shuffle_source **heap, size_t n, size_t at)
{
    struct shuffle_source *moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        child += child + 1 < n && comes_before(heap[child + 1], heap[child]);
        if (!comes_before(heap[child], moved))
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

static int open_sources(const struct as_shuffle_files *files, struct shuffle_source *source,
                        struct shuffle_source **heap, size_t *n, struct as_error *err)
{
    char path[4200];
    for (uint32_t i = 0; i < files->part_n * files->kind_n; i++) {
        const uint32_t kind = i / files->part_n, part = i % files->part_n;
        source[i] = (struct shuffle_source){.number = i, .part = part};
        snprintf(path, sizeof path, "%s/%s.%" PRIu32, files->directory, files->kind[kind].name,
                 part);
        AS_TRY(as_shuffle_open(path, files->kind[kind].channel, &source[i].file, err));
        const int rc = as_shuffle_next(source[i].file, &source[i].record, err);
        if (rc < 0)
            return rc;
        if (rc > 0)
            heap[(*n)++] = &source[i];
    }
    for (size_t i = *n; i-- > 0;)
        sink_source(heap, *n, i);
    return 0;
}

static int deliver_in_order(struct shuffle_source **heap, size_t n, as_shuffle_each *each,
                            void *context, struct as_error *err)
{
    while (n) {
        struct shuffle_source *first = heap[0];
        const int each_rc = each(context, first->part, &first->record);
        if (each_rc < 0)
            return each_rc == AS_ERR_CORRUPT ? is_broken(first->file, err) : each_rc;
        const int rc = as_shuffle_next(first->file, &first->record, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            heap[0] = heap[--n];
        sink_source(heap, n, 0);
    }
    return 0;
}

int as_shuffle_merge(const struct as_shuffle_files *files, as_shuffle_each *each, void *context,
                     struct as_error *err)
{
    const size_t most = (size_t)files->part_n * files->kind_n;
    struct shuffle_source *source = as_calloc(most, sizeof *source);
    struct shuffle_source **heap = as_calloc(most, sizeof *heap);
    size_t n = 0;
    int rc = source && heap ? 0 : as_error_nomem(err, files->directory);
    if (rc == 0)
        rc = open_sources(files, source, heap, &n, err);
    if (rc == 0)
        rc = deliver_in_order(heap, n, each, context, err);
    for (size_t i = 0; source && i < most; i++)
        as_shuffle_free(&source[i].file);
    as_free(source);
    as_free(heap);
    return rc;
}
