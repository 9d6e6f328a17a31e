/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the stream by rounds of blocks. The blocks of a round are in memory together. The records
 * of all threads are delivered in the order of their recording. Damaged blocks are left out and
 * counted. Numbers that they defined then mean "unknown".
 */
#include <string.h>

#include "base/alloc.h"
#include "sample/stream_state.h"

/* Max bytes of a round. The writer uses 1 MiB plus one record; other writers may use more. */
#define ROUND_MOST_B ((size_t)2 << 20)

void as_rounds_end(struct as_stream *s)
{
    as_vec_fini(&s->bytes);
    as_vec_fini(&s->found);
    as_vec_fini(&s->base);
    as_vec_fini(&s->cursor);
    as_vec_fini(&s->heap);
}

/* ---- Definitions -------------------------------------------------------------------------- */

/* Returns true if the gap can come from lost bytes: at most 8 numbers per lost byte. */
static bool is_likely_gap(const struct as_stream *s, uint64_t first, size_t n)
{
    return first >= n && (first - n) / 8 <= s->file.lost_b;
}

/* Reads the first number of each kind. Numbers of lost definitions become "unknown". */
static int make_up(struct as_stream *s, struct as_read *r)
{
    static const struct as_stream_module unknown = {.path = "", .kind = AS_MODULE_UNKNOWN};
    const uint64_t node = as_read_uleb(r), place = as_read_uleb(r), module = as_read_uleb(r),
                   thread = as_read_uleb(r);
    if (r->bad || !is_likely_gap(s, node, s->node.n) || !is_likely_gap(s, module, s->module.n) ||
        !is_likely_gap(s, thread, s->thread.n) ||
        (place > s->place.n && !is_likely_gap(s, place, s->place.n)) ||
        (place < s->place.n && s->file.lost_b == 0) || place == 0) {
        as_read_fail(r);
        return 0;
    }
    while (s->module.n < module)
        AS_TRY(as_vec_push(&s->module, unknown));
    while (s->thread.n < thread)
        AS_TRY(as_vec_push(&s->thread, (struct as_stream_thread){0}));
    if (s->module.n == 0 && (s->node.n < node || s->place.n != place)) {
        as_read_fail(r);
        return 0;
    }
    while (s->node.n < node)
        AS_TRY(as_vec_push(&s->node, (struct as_stream_node){0}));
    if (s->place.n > place) /* a RESET was among the lost records */
        memset(s->place.at, 0, place * sizeof *s->place.at);
    s->place.n = s->place.n > place ? (size_t)place : s->place.n;
    while (s->place.n < place)
        AS_TRY(as_vec_push(&s->place, (struct as_frame){0}));
    return 0;
}

static int load_definitions(struct as_stream *s, size_t index)
{
    size_t n;
    int rc = 0;
    s->defined_n = index + 1;
    if (!as_container_load(&s->file, index, s->block, &n))
        return 0;
    s->at = &s->own;
    s->own = (struct as_stream_state){.r = as_read_of(s->block, n)};
    s->last_address = 0;
    rc = make_up(s, &s->own.r);
    while (rc == 0 && as_read_left(&s->own.r) > 0)
        if (!as_stream_definition(s, as_read_u8(&s->own.r), &rc))
            as_read_fail(&s->own.r);
    if (s->own.r.bad) { /* the checksum is right: another version wrote it */
        s->file.damaged_n++;
        s->file.lost_b += n;
    }
    return rc;
}

/* ---- Chunks ------------------------------------------------------------------------------- */

static int load_chunks(struct as_stream *s, size_t index)
{
    size_t n;
    AS_TRY(as_vec_reserve(&s->bytes, s->bytes.n + AS_CONTAINER_BLOCK_B));
    uint8_t *to = s->bytes.at + s->bytes.n;
    if (!as_container_load(&s->file, index, to, &n))
        return 0;
    struct as_read r = as_read_of(to, n);
    struct as_stream_base base = {
        .number = as_read_uleb(&r), .last_ns = as_read_uleb(&r), .period = as_read_uleb(&r)};
    const uint64_t node = as_read_uleb(&r);
    if (node > UINT32_MAX || base.last_ns > AS_TIME_MOST_NS || base.period > AS_PERIOD_MOST)
        as_read_fail(&r);
    base.node = (uint32_t)node;
    while (as_read_left(&r) > 0) {
        const uint64_t thread = as_read_uleb(&r), chunk_b = as_read_uleb(&r);
        const size_t at = as_read_offset(&r);
        as_read_skip(&r, chunk_b);
        if (thread > UINT32_MAX || chunk_b == 0)
            as_read_fail(&r);
        if (r.bad)
            break;
        const struct as_stream_found found = {.at = s->bytes.n + at,
                                              .n = (size_t)chunk_b,
                                              .thread = (uint32_t)thread - 2u,
                                              .base = (uint32_t)s->base.n};
        if (found.thread == AS_CONTAINER_NONE || as_stream_wants(s, found.thread))
            AS_TRY(as_vec_push(&s->found, found));
    }
    s->file.damaged_n += r.bad;
    s->bytes.n += n;
    return as_vec_push(&s->base, base);
}

static bool is_in_view(struct as_stream *s, const struct as_container_block *block)
{
    if (!s->is_chosen || block->flags & AS_CONTAINER_FACTS)
        return true;
    return block->last_ns >= s->from_ns && block->first_ns < s->to_ns &&
           (block->thread == AS_CONTAINER_MANY || as_stream_wants(s, block->thread));
}

/* ---- The order ---------------------------------------------------------------------------- */

/* Reads the head of the next record of a cursor. Returns false if there is none or it is
 * invalid. */
static bool look_ahead(struct as_stream *s, struct as_stream_cursor *c)
{
    struct as_read *r = &c->state.r;
    if (as_read_left(r) == 0)
        return false;
    c->tag = as_read_u8(r);
    const bool follows = c->tag & AS_TAG_SAMPLE && c->tag & AS_SAME_THREAD;
    c->number += follows ? 0 : as_read_uleb(r);
    s->file.damaged_n += r->bad;
    return !r->bad;
}

static bool is_before(const struct as_stream *s, uint32_t a, uint32_t b)
{
    const uint64_t one = s->cursor.at[a].number, other = s->cursor.at[b].number;
    return one < other || (one == other && a < b);
}

/* Moves the cursor at position `i` down to its position in the heap. */
static void sink(struct as_stream *s, size_t i)
{
    uint32_t *heap = s->heap.at;
    const uint32_t moved = heap[i];
    for (;;) {
        size_t below = 2 * i + 1;
        if (below >= s->heap.n)
            break;
        below += below + 1 < s->heap.n && is_before(s, heap[below + 1], heap[below]);
        if (!is_before(s, heap[below], moved))
            break;
        heap[i] = heap[below];
        i = below;
    }
    heap[i] = moved;
}

static int begin_round(struct as_stream *s)
{
    s->cursor.n = s->heap.n = 0;
    as_vec_foreach (&s->found, found) {
        const struct as_stream_base *base = &s->base.at[found->base];
        struct as_stream_cursor cursor = {.number = base->number};
        cursor.state = (struct as_stream_state){.r = as_read_of(s->bytes.at + found->at, found->n),
                                                .last_ns = base->last_ns,
                                                .last_period = base->period,
                                                .sampled_ns = base->last_ns,
                                                .last_thread = found->thread,
                                                .last_node = base->node};
        if (!look_ahead(s, &cursor))
            continue;
        AS_TRY(as_vec_push(&s->heap, (uint32_t)s->cursor.n));
        AS_TRY(as_vec_push(&s->cursor, cursor));
    }
    for (size_t i = s->heap.n / 2; i-- > 0;)
        sink(s, i);
    return 0;
}

/* Loads the next round with selected records. Sets `*out` to false at the end. */
static int load_round(struct as_stream *s, bool *out)
{
    *out = false;
    while (s->next_block < s->file.block.n) {
        s->bytes.n = s->found.n = s->base.n = 0;
        const size_t first = s->next_block;
        for (; s->next_block < s->file.block.n && s->bytes.n < ROUND_MOST_B; s->next_block++) {
            const size_t index = s->next_block;
            const struct as_container_block block = s->file.block.at[index];
            if (index > first && block.flags & AS_CONTAINER_OPENS && s->bytes.n > 0)
                break;
            if (block.flags & AS_CONTAINER_INDEX)
                continue;
            if (!(block.flags & AS_CONTAINER_DEFINES)) {
                if (is_in_view(s, &block))
                    AS_TRY(load_chunks(s, index));
            } else if (index >= s->defined_n) {
                AS_TRY(load_definitions(s, index));
            }
        }
        AS_TRY(begin_round(s));
        if (s->heap.n > 0) {
            *out = true;
            return 0;
        }
    }
    return 0;
}

int as_rounds_next(struct as_stream *s, struct as_stream_record *out)
{
    for (;;) {
        if (s->heap.n == 0) {
            bool more;
            AS_TRY(load_round(s, &more));
            if (!more)
                return 0;
        }
        struct as_stream_cursor *cursor = &s->cursor.at[s->heap.at[0]];
        s->at = &cursor->state;
        const bool is_record = as_stream_read_record(s, cursor->tag, out);
        const bool bad = cursor->state.r.bad;
        s->file.damaged_n += bad; /* the rest of the chunk is lost */
        cursor->number++;
        if (bad || !look_ahead(s, cursor))
            s->heap.at[0] = s->heap.at[--s->heap.n];
        if (s->heap.n > 1)
            sink(s, 0);
        if (is_record)
            return 1;
    }
}

int as_rounds_rewind(struct as_stream *s)
{
    for (size_t i = s->defined_n; i < s->file.block.n; i++)
        if (s->file.block.at[i].flags & AS_CONTAINER_DEFINES)
            AS_TRY(load_definitions(s, i));
    s->defined_n = s->file.block.n;
    s->next_block = 0;
    s->heap.n = 0;
    return 0;
}
