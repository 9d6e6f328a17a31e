/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/index.h"

#define PAIRS_MAX ((size_t)1 << 18)

/* ---- Types and values ------------------------------------------------------------------------ */

static int compare_types(const void *a, const void *b)
{
    const struct as_timeline_type *x = a, *y = b;
    return x->type < y->type ? -1 : x->type > y->type;
}

int as_timeline_list_types(const struct as_timeline_index *index, struct as_timeline_types *out)
{
    struct as_index known = {0};
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < index->head->series_n; i++) {
        const struct as_timeline_series *s = &index->series[i];
        if (s->kind != AS_TIMELINE_EVENTS)
            continue;
        uint32_t at = as_index_of_word(&known, out->at, sizeof *out->at, (uint64_t)s->type);
        if (at == AS_INDEX_NONE) {
            at = (uint32_t)out->n;
            rc = as_vec_push(out, (struct as_timeline_type){.type = s->type});
            if (rc == 0)
                rc = as_index_add_word(&known, (uint64_t)s->type, at);
        }
        if (rc == 0)
            out->at[at].n += s->items_n;
    }
    as_index_fini(&known);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, compare_types);
    return rc;
}

void as_timeline_extremes(const struct as_timeline_index *index, double *min, double *max)
{
    bool any = false;
    *min = *max = 0;
    for (uint64_t i = 0; !index->head->is_code && i < index->head->series_n; i++) {
        const struct as_timeline_series *s = &index->series[i];
        const struct as_timeline_block *b = &index->block[s->first_block];
        if (s->kind != AS_TIMELINE_PIECES)
            continue;
        for (uint64_t at = 0; at < s->blocks_n; at++, any = true) {
            *min = !any || b[at].min < *min ? b[at].min : *min;
            *max = !any || b[at].max > *max ? b[at].max : *max;
        }
    }
}

/* ---- Next ones ------------------------------------------------------------------------------- */

static void offer_event(const struct as_timeline_index *index, const struct as_timeline_series *s,
                        int64_t ns, bool is_back, struct as_timeline_found *out)
{
    const uint64_t before = as_timeline_before(index, s, is_back ? ns : ns + 1);
    int64_t end_ns;
    if (is_back && before == 0)
        return;
    const struct as_timeline_item *item =
        as_timeline_item_at(index, s, is_back ? before - 1 : before, &end_ns);
    if (item && (!out->item || (is_back ? item->ns > out->item->ns : item->ns < out->item->ns)))
        *out = (struct as_timeline_found){.row = s->object, .type = s->type, .item = item};
}

bool as_timeline_next_event(const struct as_timeline_index *index, int64_t type, int64_t row,
                            int64_t ns, bool is_back, struct as_timeline_found *out)
{
    size_t first = 0, end = (size_t)index->head->series_n;
    *out = (struct as_timeline_found){0};
    if (row >= 0)
        as_timeline_range(index, AS_TIMELINE_EVENTS, (uint32_t)row, &first, &end);
    for (; first < end; first++) {
        const struct as_timeline_series *s = &index->series[first];
        if (s->kind == AS_TIMELINE_EVENTS && (type == INT64_MIN || s->type == type))
            offer_event(index, s, ns, is_back, out);
    }
    return out->item != NULL;
}

/* The time of a code before a block: 0 where no piece had it yet. */
static uint64_t code_before(const struct as_timeline_index *index,
                            const struct as_timeline_block *b, uint64_t code)
{
    uint64_t ns = 0;
    if (code < b->codes_n)
        memcpy(&ns, (const uint64_t *)(const void *)(as_timeline_items(index, b) + b->n) + code,
               sizeof ns);
    return ns;
}

bool as_timeline_next_code(const struct as_timeline_index *index, uint32_t row, uint64_t code,
                           int64_t ns, struct as_timeline_found *out)
{
    const struct as_timeline_series *s = as_timeline_find(index, AS_TIMELINE_PIECES, row, 0);
    if (!s)
        return false;
    const struct as_timeline_block *block = &index->block[s->first_block];
    for (uint64_t at = 0; at < s->blocks_n; at++) {
        const struct as_timeline_block *b = &block[at];
        const bool is_last = at + 1 == s->blocks_n;
        if (!is_last && (block[at + 1].first_ns <= ns ||
                         code_before(index, b, code) == code_before(index, &block[at + 1], code)))
            continue;
        const struct as_timeline_item *item = as_timeline_items(index, b);
        for (uint32_t i = 0; i < b->n; i++)
            if (item[i].ns > ns && item[i].code == code) {
                *out = (struct as_timeline_found){.row = row,
                                                  .item = &item[i],
                                                  .end_ns = i + 1 < b->n ? item[i + 1].ns
                                                            : is_last    ? s->end_ns
                                                                         : block[at + 1].first_ns};
                return true;
            }
    }
    return false;
}

/* ---- Messages -------------------------------------------------------------------------------- */

static bool is_on_its_way(const struct as_timeline_message *m, int64_t from_ns, int64_t to_ns)
{
    const int64_t end_ns = m->send_ns > m->receive_ns ? m->send_ns : m->receive_ns;
    return m->ns < to_ns && (end_ns > from_ns || (m->ns >= from_ns && m->ns < to_ns));
}

/* True if all messages of a block begin in [from, to): none needs to be looked at. */
static bool is_block_within(const struct as_timeline_index *index, uint64_t at, int64_t from_ns,
                            int64_t to_ns)
{
    const struct as_timeline_message_block *b = &index->message_block[at];
    return b->first_ns >= from_ns && at + 1 < index->head->message_blocks_n &&
           b[1].first_ns <= to_ns;
}

struct message_picking {
    struct as_timeline_picked *picked;
    uint64_t step; /* 0: they are counted only */
};

static int pick_message(struct message_picking *p, const struct as_timeline_message *m)
{
    const uint64_t at = p->picked->total_n++;
    return p->step && at % p->step == 0 ? as_vec_push(&p->picked->message, *m) : 0;
}

/* Every step-th of a block, all of which count. */
static int pick_of_block(const struct as_timeline_index *index, uint64_t at,
                         struct message_picking *p)
{
    const struct as_timeline_message_block *b = &index->message_block[at];
    const struct as_timeline_message *m = as_timeline_messages(index, b);
    const uint64_t begin = p->picked->total_n;
    p->picked->total_n += b->n;
    if (p->step == 0)
        return 0;
    for (uint64_t i = (p->step - begin % p->step) % p->step; i < b->n; i += p->step)
        AS_TRY(as_vec_push(&p->picked->message, m[i]));
    return 0;
}

static int pick_messages(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns,
                         struct message_picking *p)
{
    for (uint64_t at = 0; at < index->head->message_blocks_n; at++) {
        const struct as_timeline_message_block *b = &index->message_block[at];
        if (b->first_ns >= to_ns)
            break;
        if (b->end_ns < from_ns)
            continue;
        if (is_block_within(index, at, from_ns, to_ns)) {
            AS_TRY(pick_of_block(index, at, p));
            continue;
        }
        const struct as_timeline_message *m = as_timeline_messages(index, b);
        for (uint32_t i = 0; i < b->n; i++)
            if (is_on_its_way(&m[i], from_ns, to_ns))
                AS_TRY(pick_message(p, &m[i]));
    }
    return 0;
}

int as_timeline_pick_messages(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns,
                              uint64_t max_n, struct as_timeline_picked *out)
{
    struct message_picking p = {.picked = out};
    AS_TRY(pick_messages(index, from_ns, to_ns, &p));
    p.step = out->total_n / max_n + (out->total_n % max_n != 0);
    out->total_n = 0;
    return p.step ? pick_messages(index, from_ns, to_ns, &p) : 0;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

struct pair_adding {
    struct as_timeline_pairs *pairs;
    struct as_index known;
    int64_t from_ns, to_ns;
};

static int add_to_pair(struct pair_adding *a, const struct as_timeline_message *m)
{
    const uint64_t key = (uint64_t)m->sender << 32 | m->receiver;
    if (m->send_ns < a->from_ns || m->send_ns >= a->to_ns)
        return 0;
    uint32_t at = as_index_of_word(&a->known, a->pairs->pair.at, sizeof *a->pairs->pair.at, key);
    if (at == AS_INDEX_NONE && a->pairs->pair.n == PAIRS_MAX) {
        a->pairs->is_cut = true;
        return 0;
    }
    if (at == AS_INDEX_NONE) {
        at = (uint32_t)a->pairs->pair.n;
        AS_TRY(as_vec_push(&a->pairs->pair, (struct as_timeline_pair){.key = key}));
        AS_TRY(as_index_add_word(&a->known, key, at));
    }
    a->pairs->pair.at[at].n++;
    a->pairs->pair.at[at].bytes += (double)m->size_b;
    return 0;
}

int as_timeline_add_pairs(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns,
                          struct as_timeline_pairs *out)
{
    struct pair_adding a = {.pairs = out, .from_ns = from_ns, .to_ns = to_ns};
    uint64_t touched_b = 0;
    int rc = 0;
    for (uint64_t at = 0; rc == 0 && at < index->head->message_blocks_n; at++) {
        const struct as_timeline_message_block *b = &index->message_block[at];
        const struct as_timeline_message *m = as_timeline_messages(index, b);
        if (b->first_ns >= to_ns)
            break;
        for (uint32_t i = 0; rc == 0 && b->end_ns >= from_ns && i < b->n; i++)
            rc = add_to_pair(&a, &m[i]);
        as_timeline_bound_memory(index, &touched_b, AS_TIMELINE_ACCESS_B);
    }
    as_index_fini(&a.known);
    return rc;
}
