/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of an index: items, columns, sums, digests. */
#include <string.h>

#include "base/error.h"
#include "timeline/column.h"
#include "timeline/make_writer.h"

#define WAITING_MAX ((size_t)2 << 20) /* items in memory, before all series are written */

/* ---- Blocks -----------------------------------------------------------------------------------
 */

void as_timeline_write_words(struct as_timeline_writer *w, const void *p, size_t n_b)
{
    if (n_b == 0)
        return;
    as_out_write(&w->out, p, n_b);
    w->digest = as_timeline_words_digest(w->digest, p, n_b);
    w->offset += n_b;
}

/* Writes the first `n` of w->column as one, and notes its width. */
static void write_packed_column(struct as_timeline_writer *w, uint32_t n, unsigned column,
                                uint32_t *widths)
{
    uint8_t bytes[sizeof w->column + sizeof(int64_t)];
    int64_t min;
    const unsigned width = as_timeline_column_measure(w->column, n, &min);
    as_timeline_column_write(w->column, n, width, min, bytes);
    as_timeline_write_words(w, bytes, as_timeline_column_size_b(width, n));
    *widths |= width << column * AS_TIMELINE_WIDTH_BITS;
}

/* The first number of a block stands alone: its difference is that of the next. */
static void difference_numbers(int64_t *number, uint32_t n)
{
    for (uint32_t i = n; i-- > 1;)
        number[i] = (int64_t)((uint64_t)number[i] - (uint64_t)number[i - 1]);
    number[0] = n > 1 ? number[1] : 0;
}

/* Writes the numbers of lines in w->column. */
static void write_numbers(struct as_timeline_writer *w, uint32_t n, uint32_t *widths)
{
    as_timeline_write_words(w, &w->column[0], sizeof w->column[0]);
    difference_numbers(w->column, n);
    write_packed_column(w, n, AS_EVENT_NUMBER, widths);
}

/* Time, value and length of states. */
static void write_states_packed(struct as_timeline_writer *w, struct as_making_series *s,
                                uint32_t n, uint32_t *widths)
{
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = s->item.at[i].ns;
    write_packed_column(w, n, AS_STATE_TIME, widths);
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = s->item.at[i].whole;
    write_packed_column(w, n, AS_STATE_VALUE, widths);
    memcpy(w->column, s->length_ns.at, n * sizeof *w->column);
    write_packed_column(w, n, AS_STATE_LENGTH, widths);
    s->length_ns.n -= n;
    memmove(s->length_ns.at, s->length_ns.at + n, s->length_ns.n * sizeof *s->length_ns.at);
}

static void write_rest(struct as_timeline_writer *w, struct as_making_series *s, uint32_t n,
                       uint32_t *widths)
{
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = (int64_t)s->rest.at[i].number;
    write_numbers(w, n, widths);
    for (uint32_t i = 0; i < n; i++)
        w->column[i] = s->rest.at[i].cpu;
    write_packed_column(w, n, AS_EVENT_CPU, widths);
    if (s->known.kind == AS_TIMELINE_STATES)
        write_states_packed(w, s, n, widths);
    s->rest.n -= n;
    memmove(s->rest.at, s->rest.at + n, s->rest.n * sizeof *s->rest.at);
}

/* Adds up a piece for its block and its series. */
static int sum_piece(struct as_timeline_writer *w, struct as_making_series *s,
                     struct as_timeline_block *b, const struct as_timeline_item *item,
                     int64_t end_ns)
{
    const int64_t length_ns = end_ns - item->ns;
    if (w->head.is_code) {
        while (s->code_ns.n <= item->code)
            AS_TRY(as_vec_push(&s->code_ns, 0));
        s->code_ns.at[item->code] += (uint64_t)length_ns;
        return 0;
    }
    b->integral += item->real * (double)length_ns;
    b->max = b->max > item->real ? b->max : item->real;
    b->min = b->min < item->real ? b->min : item->real;
    return 0;
}

/* Writes the first `n` items; the next one, or the end of the series, ends the last of them. */
static int write_block(struct as_timeline_writer *w, uint32_t at, uint32_t n)
{
    struct as_making_series *s = &w->series.at[at];
    const bool is_pieces = s->known.kind == AS_TIMELINE_PIECES;
    struct as_timeline_block b = {.offset = w->offset,
                                  .first_item = s->known.items_n,
                                  .first_ns = s->item.at[0].ns,
                                  .n = n,
                                  .codes_n = (uint32_t)s->code_ns.n,
                                  .series = at};
    w->digest = 0;
    if (s->known.kind != AS_TIMELINE_STATES)
        as_timeline_write_words(w, s->item.at, n * sizeof *s->item.at);
    as_timeline_write_words(w, s->code_ns.at, s->code_ns.n * sizeof *s->code_ns.at);
    if (!is_pieces)
        write_rest(w, s, n, &b.widths);
    b.digest = w->digest;
    if (is_pieces && !w->head.is_code)
        b.max = b.min = s->item.at[0].real;
    for (uint32_t i = 0; is_pieces && i < n; i++)
        AS_TRY(sum_piece(w, s, &b, &s->item.at[i],
                         i + 1 < s->item.n ? s->item.at[i + 1].ns : s->reached_ns));
    s->known.items_n += n;
    s->known.blocks_n++;
    s->item.n -= n;
    w->waiting_n -= n;
    memmove(s->item.at, s->item.at + n, s->item.n * sizeof *s->item.at);
    return as_vec_push(&w->block, b);
}

/* Bounds the memory: all but the latest item of each series, which has no end yet. */
static int write_waiting(struct as_timeline_writer *w)
{
    for (uint32_t i = 0; i < w->series.n; i++)
        if (w->series.at[i].item.n > 1)
            AS_TRY(write_block(w, i, (uint32_t)w->series.at[i].item.n - 1));
    return 0;
}

int as_timeline_add_item(struct as_timeline_writer *w, uint32_t at,
                         const struct as_timeline_item *item)
{
    struct as_making_series *s = &w->series.at[at];
    AS_TRY(as_vec_push(&s->item, *item));
    w->waiting_n++;
    if (s->item.n > AS_TIMELINE_BLOCK_N)
        return write_block(w, at, AS_TIMELINE_BLOCK_N);
    return w->waiting_n > (w->making->waiting_max ? w->making->waiting_max : WAITING_MAX)
               ? write_waiting(w)
               : 0;
}

int as_timeline_write_rest(struct as_timeline_writer *w)
{
    for (uint32_t i = 0; i < w->series.n; i++)
        while (w->series.at[i].item.n) {
            const size_t n = w->series.at[i].item.n;
            AS_TRY(write_block(w, i, n < AS_TIMELINE_BLOCK_N ? (uint32_t)n : AS_TIMELINE_BLOCK_N));
        }
    return 0;
}

/* ---- Messages ---------------------------------------------------------------------------------
 */

/* A time of a message after its logical send; else a CPU. */
static int64_t message_column(const struct as_semantic_message *m, enum as_message_column column)
{
    switch (column) {
    case AS_MESSAGE_SENDER_CPU:
        return m->sender_cpu;
    case AS_MESSAGE_RECEIVER_CPU:
        return m->receiver_cpu;
    case AS_MESSAGE_PHYSICAL_SEND:
        return m->physical_send_ns - m->logical_send_ns;
    case AS_MESSAGE_LOGICAL_RECEIVE:
        return m->logical_receive_ns - m->logical_send_ns;
    default:
        return m->physical_receive_ns - m->logical_send_ns;
    }
}

int as_timeline_write_messages(struct as_timeline_writer *w)
{
    struct as_timeline_message_block b = {
        .offset = w->offset, .first = w->head.messages_n, .n = (uint32_t)w->message.n};
    if (w->message.n == 0)
        return 0;
    b.first_ns = w->message.at[0].ns;
    b.end_ns = INT64_MIN;
    as_vec_foreach (&w->message, m) {
        b.end_ns = b.end_ns > m->send_ns ? b.end_ns : m->send_ns;
        b.end_ns = b.end_ns > m->receive_ns ? b.end_ns : m->receive_ns;
    }
    w->digest = 0;
    as_timeline_write_words(w, w->message.at, w->message.n * sizeof *w->message.at);
    for (uint32_t i = 0; i < b.n; i++)
        w->column[i] = (int64_t)w->message_line.at[i].number;
    write_numbers(w, b.n, &b.widths);
    for (unsigned c = AS_MESSAGE_SENDER_CPU; c < AS_MESSAGE_COLUMNS_N; c++) {
        for (uint32_t i = 0; i < b.n; i++)
            w->column[i] =
                message_column(&w->message_line.at[i].message, (enum as_message_column)c);
        write_packed_column(w, b.n, c, &b.widths);
    }
    b.digest = w->digest;
    w->head.messages_n += w->message.n;
    w->message.n = w->message_line.n = 0;
    return as_vec_push(&w->message_block, b);
}
