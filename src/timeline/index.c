/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/index.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory_used.h"
#include "base/untrusted_open.h"
#include "timeline/column.h"

#define DIGEST_B   65536u
#define RESIDENT_B ((uint64_t)640 << 20) /* of the process, before pages are freed */
#define CHECK_B    ((uint64_t)128 << 20) /* of accesses, between two checks */

/* ---- The trace of an index ------------------------------------------------------------------- */

static uint64_t mix_bytes(uint64_t hash, const char *p, size_t n)
{
    hash = as_timeline_words_digest(hash, p, n);
    for (p += n / 8 * 8, n %= 8; n; p++, n--)
        hash = as_hash_mix(hash, (uint64_t)(unsigned char)*p);
    return hash;
}

static uint64_t digest_ends(int fd, uint64_t size_b)
{
    char bytes[DIGEST_B];
    uint64_t hash = size_b;
    for (unsigned tail = 0; tail < 2; tail++) {
        const uint64_t at = tail && size_b > DIGEST_B ? size_b - DIGEST_B : 0;
        const ssize_t n = pread(fd, bytes, sizeof bytes, (off_t)at);
        hash = mix_bytes(hash, bytes, n > 0 ? (size_t)n : 0);
    }
    return hash;
}

int as_timeline_identify(const char *trace, struct as_view window, struct as_timeline_identity *out,
                         struct as_error *err)
{
    struct stat st;
    const int fd = as_foreign_open(AT_FDCWD, trace, 0, &st);
    if (fd < 0)
        return as_foreign_fail(trace, "the trace", errno, err);
    *out = (struct as_timeline_identity){.size_b = (uint64_t)st.st_size,
                                         .changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
                                                       st.st_mtim.tv_nsec,
                                         .digest = digest_ends(fd, (uint64_t)st.st_size),
                                         .window_digest = mix_bytes(1, window.p, window.n)};
    close(fd);
    return 0;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static unsigned columns_of(uint32_t kind)
{
    return kind == AS_TIMELINE_EVENTS   ? AS_EVENT_COLUMNS_N
           : kind == AS_TIMELINE_STATES ? AS_STATE_COLUMNS_N
                                        : 0;
}

/* All bytes of a block; UINT64_MAX: its widths are wrong. */
static uint64_t block_size_b(const struct as_timeline_block *b, uint32_t kind)
{
    const uint64_t columns_b = as_timeline_columns_size_b(b->widths, columns_of(kind), b->n);
    const uint64_t item_b = kind == AS_TIMELINE_STATES ? 0 : sizeof(struct as_timeline_item);
    return columns_b == UINT64_MAX ? UINT64_MAX
                                   : columns_b + b->n * item_b + b->codes_n * sizeof(uint64_t);
}

static uint64_t message_block_size_b(const struct as_timeline_message_block *b)
{
    const uint64_t columns_b = as_timeline_columns_size_b(b->widths, AS_MESSAGE_COLUMNS_N, b->n);
    return columns_b == UINT64_MAX
               ? UINT64_MAX
               : columns_b + (uint64_t)b->n * sizeof(struct as_timeline_message);
}

/* True if `n` elements from `at` on are in the file. */
static bool section_fits(const struct as_timeline_index *index, uint64_t at, uint64_t n,
                         size_t element_b)
{
    return at % 8 == 0 && at <= index->map.n && n <= (index->map.n - at) / element_b;
}

static bool series_fit(const struct as_timeline_index *index)
{
    const struct as_timeline_head *h = index->head;
    uint64_t next = 0;
    for (uint64_t i = 0; i < h->series_n; i++) {
        const struct as_timeline_series *s = &index->series[i];
        uint64_t items_n = 0;
        if (s->kind > AS_TIMELINE_STATES || s->first_block != next ||
            s->blocks_n > h->blocks_n - next || s->blocks_n == 0)
            return false;
        for (uint64_t b = next; b < next + s->blocks_n; b++) {
            const uint64_t size_b = block_size_b(&index->block[b], s->kind);
            if (index->block[b].first_item != items_n ||
                !section_fits(index, index->block[b].offset, size_b, 1))
                return false;
            items_n += index->block[b].n;
        }
        if (items_n != s->items_n)
            return false;
        next += s->blocks_n;
    }
    return next == h->blocks_n;
}

static bool blocks_fit(const struct as_timeline_index *index)
{
    const struct as_timeline_head *h = index->head;
    for (uint64_t i = 0; i < h->blocks_n; i++) {
        const struct as_timeline_block *b = &index->block[i];
        if (b->n == 0 || b->n > AS_TIMELINE_BLOCK_N || b->codes_n > h->codes_n)
            return false;
    }
    uint64_t messages_n = 0;
    for (uint64_t i = 0; i < h->message_blocks_n; i++) {
        const struct as_timeline_message_block *b = &index->message_block[i];
        if (b->n == 0 || b->n > AS_TIMELINE_MESSAGE_BLOCK_N || b->first != messages_n ||
            !section_fits(index, b->offset, message_block_size_b(b), 1))
            return false;
        messages_n += b->n;
    }
    return messages_n == h->messages_n;
}

static bool index_fits(struct as_timeline_index *index)
{
    const struct as_timeline_head *h = index->head;
    const char *base = (const char *)index->map.at;
    if (h->file_b != index->map.n || h->codes_n > AS_TIMELINE_CODES_MAX ||
        h->level >= AS_OBJECT_LEVELS_N || h->end_ns < 0 ||
        !section_fits(index, h->series_at, h->series_n, sizeof *index->series) ||
        !section_fits(index, h->block_at, h->blocks_n, sizeof *index->block) ||
        !section_fits(index, h->code_at, h->codes_n, sizeof *index->code) ||
        !section_fits(index, h->message_at, h->message_blocks_n, sizeof *index->message_block))
        return false;
    index->series = (const struct as_timeline_series *)(const void *)(base + h->series_at);
    index->block = (const struct as_timeline_block *)(const void *)(base + h->block_at);
    index->code = (const double *)(const void *)(base + h->code_at);
    index->message_block =
        (const struct as_timeline_message_block *)(const void *)(base + h->message_at);
    return blocks_fit(index) && series_fit(index);
}

/* ---- Digests --------------------------------------------------------------------------------- */

uint64_t as_timeline_digest(const struct as_timeline_index *index)
{
    struct as_timeline_head head = *index->head;
    uint64_t digest =
        as_timeline_words_digest(1, index->series, (size_t)head.series_n * sizeof *index->series);
    digest = as_timeline_words_digest(digest, index->block,
                                      (size_t)head.blocks_n * sizeof *index->block);
    digest =
        as_timeline_words_digest(digest, index->code, (size_t)head.codes_n * sizeof *index->code);
    digest = as_timeline_words_digest(digest, index->message_block,
                                      (size_t)head.message_blocks_n * sizeof *index->message_block);
    head.digest = 0;
    return as_timeline_words_digest(digest, &head, sizeof head);
}

bool as_timeline_block_is_whole(const struct as_timeline_index *index,
                                const struct as_timeline_series *series,
                                const struct as_timeline_block *b)
{
    return as_timeline_words_digest(0, index->map.at + b->offset,
                                    (size_t)block_size_b(b, series->kind)) == b->digest;
}

bool as_timeline_messages_are_whole(const struct as_timeline_index *index,
                                    const struct as_timeline_message_block *b)
{
    return as_timeline_words_digest(0, index->map.at + b->offset,
                                    (size_t)message_block_size_b(b)) == b->digest;
}

static int check_index(const char *path, const struct as_timeline_identity *of,
                       struct as_timeline_index *index, struct as_error *err)
{
    const struct as_timeline_head *h = index->head;
    if (index->map.n < sizeof *h || memcmp(h->magic, AS_TIMELINE_MAGIC, sizeof h->magic) != 0)
        return as_error_set(err, AS_ERR_CORRUPT, "%s: is not an index of a trace; remove it", path);
    if (h->version != AS_TIMELINE_VERSION)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: has version %u of the format; remove the file", path, h->version);
    if (of && memcmp(&h->of, of, sizeof *of) != 0)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: is of another state of the trace; make it again", path);
    if (!index_fits(index) || (of && as_timeline_digest(index) != h->digest))
        return as_error_set(err, AS_ERR_CORRUPT, "%s: is damaged; remove it", path);
    return 0;
}

int as_timeline_index_open(const char *path, const struct as_timeline_identity *of,
                           struct as_timeline_index *out, struct as_error *err)
{
    struct stat st;
    *out = (struct as_timeline_index){0};
    const int fd = as_foreign_open(AT_FDCWD, path, AS_FOREIGN_NO_LINK, &st);
    if (fd < 0)
        return as_foreign_fail(path, "the index", errno, err);
    const int number = as_filemap_open(fd, (size_t)st.st_size, path, &out->map);
    close(fd);
    if (number)
        return as_foreign_fail(path, "the index", number, err);
    out->head = (const struct as_timeline_head *)(const void *)out->map.at;
    const int rc = check_index(path, of, out, err);
    if (rc < 0)
        as_timeline_index_close(out);
    return rc;
}

void as_timeline_bound_memory(const struct as_timeline_index *index, uint64_t *touched_b,
                              uint64_t more_b)
{
    *touched_b += more_b;
    if (*touched_b < CHECK_B || index->map.n < RESIDENT_B)
        return;
    struct as_memory_used used;
    if (!as_memory_used(&used) || used.resident_b > RESIDENT_B)
        as_filemap_drop(&index->map, 0, index->map.n);
    *touched_b = 0;
}

static bool blocks_are_whole(const struct as_timeline_index *index)
{
    const struct as_timeline_head *h = index->head;
    uint64_t touched_b = 0;
    for (uint64_t i = 0; i < h->series_n; i++) {
        const struct as_timeline_series *s = &index->series[i];
        for (uint64_t b = s->first_block; b < s->first_block + s->blocks_n; b++) {
            if (!as_timeline_block_is_whole(index, s, &index->block[b]))
                return false;
            as_timeline_bound_memory(index, &touched_b, AS_TIMELINE_ACCESS_B);
        }
    }
    for (uint64_t i = 0; i < h->message_blocks_n; i++) {
        if (!as_timeline_messages_are_whole(index, &index->message_block[i]))
            return false;
        as_timeline_bound_memory(index, &touched_b, AS_TIMELINE_ACCESS_B);
    }
    return true;
}

int as_timeline_index_verify(const struct as_timeline_index *index, const char *path,
                             uint64_t text_digest, struct as_error *err)
{
    if (index->head->text_digest != text_digest)
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "%s: the trace changed at the same size and time; remove the index",
                            path);
    if (!blocks_are_whole(index))
        return as_error_set(err, AS_ERR_CORRUPT, "%s: is damaged; remove it", path);
    return 0;
}

void as_timeline_index_close(struct as_timeline_index *index)
{
    as_filemap_close(&index->map);
    *index = (struct as_timeline_index){0};
}

/* ---- Finding --------------------------------------------------------------------------------- */

static bool series_is_before(const struct as_timeline_series *s, enum as_timeline_kind kind,
                             uint32_t object, int64_t type)
{
    if (s->kind != (uint32_t)kind)
        return s->kind < (uint32_t)kind;
    return s->object != object ? s->object < object : s->type < type;
}

static size_t series_bound(const struct as_timeline_index *index, enum as_timeline_kind kind,
                           uint32_t object, int64_t type)
{
    size_t low = 0, high = index->head ? (size_t)index->head->series_n : 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (series_is_before(&index->series[middle], kind, object, type))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct as_timeline_series *as_timeline_find(const struct as_timeline_index *index,
                                                  enum as_timeline_kind kind, uint32_t object,
                                                  int64_t type)
{
    const size_t at = series_bound(index, kind, object, type);
    if (!index->head || at >= index->head->series_n)
        return NULL;
    const struct as_timeline_series *s = &index->series[at];
    return s->kind == (uint32_t)kind && s->object == object && s->type == type ? s : NULL;
}

void as_timeline_range(const struct as_timeline_index *index, enum as_timeline_kind kind,
                       uint32_t object, size_t *first, size_t *end)
{
    *first = series_bound(index, kind, object, INT64_MIN);
    *end = *first;
    while (index->head && *end < index->head->series_n &&
           index->series[*end].kind == (uint32_t)kind && index->series[*end].object == object)
        ++*end;
}

uint64_t as_timeline_before(const struct as_timeline_index *index,
                            const struct as_timeline_series *series, int64_t ns)
{
    const struct as_timeline_block *block = &index->block[series->first_block];
    uint64_t low = 0, high = series->blocks_n;
    while (low < high) { /* the first block that begins at `ns` or later */
        const uint64_t middle = low + (high - low) / 2;
        if (block[middle].first_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    const struct as_timeline_block *b = &block[low - 1];
    const struct as_timeline_item *item = as_timeline_items(index, b);
    uint32_t first = 0, end = b->n;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        if (item[middle].ns < ns)
            first = middle + 1;
        else
            end = middle;
    }
    return b->first_item + first;
}

const struct as_timeline_item *as_timeline_item_at(const struct as_timeline_index *index,
                                                   const struct as_timeline_series *series,
                                                   uint64_t at, int64_t *end_ns)
{
    const struct as_timeline_block *block = &index->block[series->first_block];
    uint64_t low = 0, high = series->blocks_n;
    if (at >= series->items_n)
        return NULL;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (block[middle].first_item <= at)
            low = middle;
        else
            high = middle;
    }
    const struct as_timeline_block *b = &block[low];
    assert(at >= b->first_item && at - b->first_item < b->n);
    const uint32_t within = (uint32_t)(at - b->first_item);
    const struct as_timeline_item *item = as_timeline_items(index, b) + within;
    *end_ns = within + 1 < b->n            ? item[1].ns
              : low + 1 < series->blocks_n ? block[low + 1].first_ns
                                           : series->end_ns;
    return item;
}
