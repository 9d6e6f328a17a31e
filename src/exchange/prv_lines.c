/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/prv_lines.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/stream_digest.h"
#include "base/untrusted_open.h"

#define FIRST_ROOM_B ((size_t)1 << 20)
#define LINE_MOST_B  ((size_t)64 << 20)

struct as_lines {
    gzFile file;
    char *path;
    char *block; /* the buffer with a margin on both sides */
    char *room;
    size_t room_b, begin, end; /* range of text not returned yet */
    uint64_t number;
    bool at_end;
    bool is_open;                    /* the last line has no end */
    struct as_stream_digest *digest; /* of all text; NULL: none. Borrowed */
};

/* Resizes the buffer and keeps its content. Returns 0, or NOMEM with nothing changed. */
static int set_room(struct as_lines *l, size_t room_b)
{
    char *block = as_realloc(l->block, 1, room_b + (size_t)2 * AS_LINES_MARGIN_B);
    if (!block)
        return AS_ERR_NOMEM;
    if (!l->block)
        memset(block, 0, AS_LINES_MARGIN_B);
    memset(block + AS_LINES_MARGIN_B + room_b, 0, AS_LINES_MARGIN_B);
    l->block = block;
    l->room = block + AS_LINES_MARGIN_B;
    l->room_b = room_b;
    return 0;
}

int as_lines_open(const char *path, struct as_lines **out, struct as_error *err)
{
    return as_lines_open_digested(path, NULL, out, err);
}

int as_lines_open_digested(const char *path, struct as_stream_digest *digest, struct as_lines **out,
                           struct as_error *err)
{
    struct as_lines *l = *out = as_calloc(1, sizeof *l);
    if (l)
        l->path = as_malloc(strlen(path) + 1);
    if (!l || !l->path || set_room(l, FIRST_ROOM_B) < 0) {
        as_lines_close(out);
        return as_error_nomem(err, path);
    }
    memcpy(l->path, path, strlen(path) + 1);
    l->digest = digest;
    const int fd = as_foreign_open(AT_FDCWD, path, 0, NULL);
    if (fd < 0) {
        const int error = errno;
        as_lines_close(out);
        return as_foreign_fail(path, "the trace", error, err);
    }
    l->file = gzdopen(fd, "rb");
    if (!l->file) {
        close(fd);
        as_lines_close(out);
        return as_error_nomem(err, path);
    }
    gzbuffer(l->file, 1u << 17);
    return 0;
}

void as_lines_close(struct as_lines **lines)
{
    struct as_lines *l = *lines;
    *lines = NULL;
    if (!l)
        return;
    if (l->file)
        gzclose_r(l->file);
    as_free(l->path);
    as_free(l->block);
    as_free(l);
}

uint64_t as_lines_number(const struct as_lines *l)
{
    return l->number;
}

bool as_lines_is_open(const struct as_lines *l)
{
    return l->is_open;
}

struct as_view as_lines_ahead(const struct as_lines *l)
{
    return (struct as_view){l->room + l->begin, l->end - l->begin};
}

void as_lines_pass(struct as_lines *l, size_t n)
{
    l->begin += n;
    l->number++;
    l->is_open = false;
}

static int grow_room(struct as_lines *l, struct as_error *err)
{
    if (l->begin) {
        memmove(l->room, l->room + l->begin, l->end - l->begin);
        l->end -= l->begin;
        l->begin = 0;
    }
    if (l->end < l->room_b)
        return 0;
    if (l->room_b >= LINE_MOST_B)
        return as_error_set(err, AS_ERR_LIMIT, "%s:%llu: a line of more than 64 MiB", l->path,
                            (unsigned long long)l->number + 1);
    return set_room(l, 2 * l->room_b) < 0 ? as_error_nomem(err, l->path) : 0;
}

static int read_more(struct as_lines *l, struct as_error *err)
{
    AS_TRY(grow_room(l, err));
    const int got = gzread(l->file, l->room + l->end, (unsigned)(l->room_b - l->end));
    int code = Z_OK;
    const char *why = got <= 0 ? gzerror(l->file, &code) : "";
    if (got == 0 && code == Z_BUF_ERROR) /* zlib.h, gzread(): the input ended inside a stream */
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s:%llu: the compressed file ends early; copy or make it again",
                            l->path, (unsigned long long)l->number + 1);
    if (got < 0)
        return as_error_set(
            err, code == Z_ERRNO ? AS_ERR_IO : AS_ERR_CORRUPT, "%s:%llu: cannot be read: %s",
            l->path, (unsigned long long)l->number + 1, code == Z_ERRNO ? strerror(errno) : why);
    if (l->digest)
        as_stream_digest_add(l->digest, l->room + l->end, (size_t)got);
    l->end += (size_t)got;
    l->at_end = got == 0;
    return 0;
}

int as_lines_next(struct as_lines *l, struct as_view *out, struct as_error *err)
{
    size_t looked = 0;
    for (;;) {
        const char *from = l->room + l->begin;
        const char *end = memchr(from + looked, '\n', l->end - l->begin - looked);
        looked = l->end - l->begin;
        if (!end && !l->at_end) {
            AS_TRY(read_more(l, err));
            continue;
        }
        if (!end && looked == 0)
            return 0;
        const size_t n = end ? (size_t)(end - from) : looked;
        l->begin += end ? n + 1 : n;
        l->number++;
        l->is_open = !end;
        *out = (struct as_view){from, n && from[n - 1] == '\r' ? n - 1 : n};
        return 1;
    }
}

int as_lines_digest_file(const char *path, bool (*is_stopped)(void), uint64_t *out,
                         struct as_error *err)
{
    struct as_stream_digest digest;
    struct as_lines *l;
    as_stream_digest_init(&digest);
    AS_TRY(as_lines_open_digested(path, &digest, &l, err));
    assert(l);
    int rc = 0;
    while (rc == 0 && !l->at_end) {
        l->begin = l->end = 0;
        rc = is_stopped && is_stopped()
                 ? as_error_set(err, AS_ERR_LIMIT, "%s: stopped by a signal; run it again", path)
                 : read_more(l, err);
    }
    as_lines_close(&l);
    *out = as_stream_digest_value(&digest);
    return rc;
}
