/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds blocks of glibc's malloc. The size of a block is stored before it, with flags in the last
 * three bits. The sizes lead from block to block.
 */
#include <string.h>

#include "sample/data_maps.h"

#include "base/error.h"

#define HEADER_B     16
#define PAGE_B       4096
#define BLOCK_LEAST  (UINT64_C(64) << 10)
#define BLOCK_MOST   (UINT64_C(1) << 46)
#define ARENA_B      (UINT64_C(64) << 20)
#define WINDOW_B     ((size_t)16 << 10)
#define WINDOWS_MOST 64 /* of a heap; each is one read */

enum { OWN_MAPPING = 2, FLAGS = 7 };

struct block_walk {
    as_peek *peek;
    void *context;
    as_data_ranges *out;
    uint8_t window[WINDOW_B];
    uint64_t window_at; /* address; 0: nothing was read yet */
    size_t window_b;
    unsigned windows;
};

static int add_part(struct block_walk *w, const struct as_data_range *of, uint64_t start,
                    uint64_t end, unsigned kind)
{
    struct as_data_range part = *of;

    if (start >= end)
        return 0;
    part.start = start;
    part.end = end;
    part.kind = (uint8_t)kind;
    return as_vec_push(w->out, part);
}

/* Reads the size and flags before the block at `at`. Returns false if the memory is unreadable. */
static bool read_header(struct block_walk *w, uint64_t at, uint64_t end, uint64_t *word)
{
    if (!w->window_at || at < w->window_at || at + HEADER_B > w->window_at + w->window_b) {
        w->window_b = end - at < WINDOW_B ? (size_t)(end - at) : WINDOW_B;
        w->window_at = at;
        if (w->windows++ == WINDOWS_MOST || w->window_b < HEADER_B ||
            !w->peek(w->context, at, w->window, w->window_b)) {
            w->window_at = 0;
            return false;
        }
    }
    memcpy(word, w->window + (at - w->window_at) + sizeof *word, sizeof *word);
    return true;
}

/* Splits a mapping into blocks with their own mappings. The kernel shows adjacent mappings as
 * one. */
static int cut_mapping(struct block_walk *w, const struct as_data_range *of)
{
    uint64_t at = of->start, header[2];

    while (of->end - at >= BLOCK_LEAST && w->peek(w->context, at, header, sizeof header) &&
           (header[1] & FLAGS) == OWN_MAPPING) {
        const uint64_t size_b = header[1] - OWN_MAPPING;
        if (header[0] || size_b % PAGE_B || size_b < BLOCK_LEAST || size_b > of->end - at)
            break;
        AS_TRY(add_part(w, of, at, at + size_b, AS_DATA_BLOCK));
        at += size_b;
    }
    const bool is_arena = at == of->start && at % ARENA_B == 0 && of->end - at <= ARENA_B;
    return add_part(w, of, at, of->end, is_arena ? AS_DATA_HEAP : of->kind);
}

/* Splits a heap into large blocks and the small blocks between them. */
static int cut_heap(struct block_walk *w, const struct as_data_range *of)
{
    uint64_t at = of->start, rest = of->start, word;

    w->window_at = 0;
    w->windows = 0;
    while (of->end - at >= HEADER_B && read_header(w, at, of->end, &word)) {
        const uint64_t size_b = word & ~(uint64_t)FLAGS;
        if (word & OWN_MAPPING || size_b < 2 * HEADER_B || size_b % HEADER_B ||
            size_b >= of->end - at) /* the last block is not in use */
            break;
        if (size_b >= BLOCK_LEAST) {
            AS_TRY(add_part(w, of, rest, at, AS_DATA_HEAP));
            AS_TRY(add_part(w, of, at, at + size_b, AS_DATA_BLOCK));
            rest = at + size_b;
        }
        at += size_b;
    }
    return add_part(w, of, rest, of->end, AS_DATA_HEAP);
}

int as_data_blocks_find(as_data_ranges *ranges, as_peek *peek, void *context)
{
    as_data_ranges out = {0};
    struct block_walk *w = as_calloc(1, sizeof *w);
    int rc = w ? 0 : AS_ERR_NOMEM;

    if (w)
        *w = (struct block_walk){.peek = peek, .context = context, .out = &out};
    for (size_t i = 0; i < ranges->n && rc == 0; i++) {
        const struct as_data_range *range = &ranges->at[i];
        rc = range->kind == AS_DATA_MAPPING ? cut_mapping(w, range)
             : range->kind == AS_DATA_HEAP  ? cut_heap(w, range)
                                            : as_vec_push(&out, *range);
    }
    as_free(w);
    if (rc < 0) {
        as_vec_fini(&out);
        return rc;
    }
    as_vec_fini(ranges);
    *ranges = out;
    return 0;
}
