/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes all regions into one table. Each worker decodes pieces of code into its own records,
 * which stay in its cache. The place of a piece in the table is known once the pieces before it are
 * decoded. So pieces reserve their places in turn, and workers copy in parallel. A single worker
 * knows the place in advance and decodes into the table. The table's first capacity suits short
 * instructions. Its unused end is never touched and is released.
 */
#include <pthread.h>
#include <string.h>

#include "code/internal.h"
#include "isa/decode.h"

/* Bytes of code in one piece: its records stay in the second-level cache. */
#define PIECE_B ((uint64_t)64 * 1024)

/* Bytes per instruction for the table's first capacity. Few binaries have less than four. */
#define SHORT_INSN_B 3

struct region_piece {
    size_t from, to; /* regions */
    uint64_t size_b;
};

/* Memory of one worker. */
struct staging {
    AS_VEC(uint32_t) noted; /* indices into `records` */
    struct as_records records;
    AS_VEC(struct as_bytes) range; /* per region of the piece */
    AS_VEC(size_t) first;
};

struct sweep {
    struct as_builder *b;
    AS_VEC(struct region_piece) piece;
    struct staging *staging; /* per worker */
    struct as_code *all;
    /* Guards the members below, and the counts and `wide` of `all`. */
    pthread_mutex_t lock;
    pthread_cond_t moved;
    size_t turn;      /* piece that reserves its place next */
    size_t room;      /* capacity of all->insn in records; it moves only while no worker copies */
    size_t wide_room; /* capacity of all->wide */
    unsigned copying;
    bool failed; /* no further piece reserves a place */
};

static int make_pieces(struct sweep *s)
{
    uint64_t piece_b = PIECE_B, size_b = 0;
    for (size_t i = 0; i < s->b->region.n; i++) {
        const struct as_region *r = &s->b->region.at[i];
        if (piece_b >= PIECE_B) {
            AS_TRY(as_vec_push(&s->piece, (struct region_piece){.from = i, .to = i}));
            piece_b = 0;
        }
        s->piece.at[s->piece.n - 1].to = i + 1;
        s->piece.at[s->piece.n - 1].size_b += r->end - r->start;
        piece_b += r->end - r->start;
        size_b += r->end - r->start;
    }
    s->room = size_b / SHORT_INSN_B + 1;
    AS_TRY(as_vec_reserve(&s->b->notes, s->piece.n));
    for (; s->b->notes.n < s->piece.n; s->b->notes.n++)
        s->b->notes.at[s->b->notes.n] = (struct as_code_notes){0};
    s->all->insn = as_malloc_large(s->room, sizeof *s->all->insn);
    s->staging = as_calloc(s->b->workers, sizeof *s->staging);
    return s->all->insn && s->staging ? 0 : AS_ERR_NOMEM;
}

/* Decodes a piece. g->first has the index of each region's first record in the piece. */
static int decode_piece(const struct as_builder *b, const struct region_piece *piece,
                        struct staging *g, struct as_error *err)
{
    size_t n = piece->to - piece->from;
    if (as_vec_reserve(&g->range, n) < 0 || as_vec_reserve(&g->first, n) < 0)
        return as_error_nomem(err, "decoded code");
    for (size_t i = 0; i < n; i++) {
        const struct as_region *r = &b->region.at[piece->from + i];
        uint64_t size_b = r->end - r->start;
        const uint8_t *bytes = as_object_bytes(b->object, r->start, &size_b);
        if (!bytes)
            size_b = 0;
        if (size_b > r->end - r->start)
            size_b = r->end - r->start;
        g->range.at[i] =
            (struct as_bytes){bytes, (size_t)size_b, r->start, as_object_info(b->object)->is_k1om};
    }
    return as_records_decode(&g->records, g->range.at, n, g->first.at, err);
}

/* Returns true if the scan needs the instruction: control leaves its region, or the instruction has
 * a constant address. Most jumps stay inside their function. All jumps of a gap are noted, because
 * the gap may be cut. */
static inline bool is_noted(const struct as_region *region, const struct as_insn *insn)
{
    const unsigned flow = as_form_flows[insn->form];
    if (flow & AS_FORM_LEADS) {
        uint64_t target;
        return region->is_gap || flow & AS_FORM_CALLS || !as_insn_target_fast(insn, &target) ||
               target < region->start || target >= region->end;
    }
    if (insn->bits & AS_INSN_MEM)
        return insn->base >= AS_REG_IP; /* or no base */
    return flow & AS_FORM_ADDRESS && insn->imm > 0;
}

static int note_piece(const struct as_builder *b, const struct region_piece *piece,
                      struct staging *g)
{
    const struct as_insn *insn = g->records.insn.at;
    g->noted.n = 0;
    for (size_t r = piece->from; r < piece->to; r++) {
        const size_t k = r - piece->from;
        const size_t end = r + 1 < piece->to ? g->first.at[k + 1] : g->records.insn.n;
        for (size_t i = g->first.at[k]; i < end; i++) {
            if (is_noted(&b->region.at[r], &insn[i]))
                AS_TRY(as_vec_push(&g->noted, (uint32_t)i));
        }
    }
    return 0;
}

/* Stores the notes of a piece. Its records are at `place` in the table. */
static int store_piece_notes(struct as_builder *b, size_t piece, size_t from, size_t to,
                             const struct staging *g, size_t place)
{
    struct as_code_notes *notes = &b->notes.at[piece];
    AS_TRY(as_vec_reserve(&notes->insn, g->noted.n));
    for (size_t i = 0; i < g->noted.n; i++)
        notes->insn.at[i] = (uint32_t)place + g->noted.at[i];
    notes->insn.n = g->noted.n;
    notes->start = b->region.at[from].start;
    notes->end = b->region.at[to - 1].end;
    return 0;
}

/* Grows the capacity by at least `n` records. The caller holds the lock; the function releases it
 * while it waits for copying workers. */
static int make_room(struct sweep *s, size_t n)
{
    if (s->room - s->all->n > n)
        return 0;
    while (s->copying)
        pthread_cond_wait(&s->moved, &s->lock);
    size_t room = s->room + s->room / 2 + n + 1;
    struct as_insn *grown = as_realloc(s->all->insn, room, sizeof *grown);
    if (!grown)
        return AS_ERR_NOMEM;
    s->all->insn = grown;
    s->room = room;
    return 0;
}

static int add_wide(struct sweep *s, const struct as_records *records)
{
    size_t want = s->all->wide_n + records->wide.n;
    if (want > s->wide_room) {
        struct as_wide *grown = as_vec_grow(s->all->wide, &s->wide_room, want, sizeof *grown);
        if (!grown)
            return AS_ERR_NOMEM;
        s->all->wide = grown;
    }
    for (size_t i = 0; i < records->wide.n; i++) {
        struct as_wide *w = &s->all->wide[s->all->wide_n++];
        *w = records->wide.at[i];
        w->index += (uint32_t)s->all->n;
    }
    return 0;
}

/* Waits for the pieces before this one. Sets `*place` to the place of the records in the table. */
static int reserve_insn_range(struct sweep *s, size_t piece, const struct as_records *records,
                              size_t *place, struct as_error *err)
{
    int rc = 0;
    pthread_mutex_lock(&s->lock);
    while (s->turn != piece && !s->failed)
        pthread_cond_wait(&s->moved, &s->lock);
    if (s->failed || make_room(s, records->insn.n) < 0 || add_wide(s, records) < 0)
        rc = as_error_nomem(err, "decoded code");
    else if (s->all->n + records->insn.n >= AS_NONE)
        rc =
            as_error_set(err, AS_ERR_LIMIT, "more than 4,294,967,294 instructions: analyse a part");
    *place = s->all->n;
    if (rc == 0) {
        s->all->n += records->insn.n;
        s->all->invalid_n += records->invalid_n;
        s->turn++;
        s->copying++;
    }
    pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

/* Requests large pages for `n` records from `place` on; no record is there yet. */
static void fetch_place(const struct sweep *s, size_t place, size_t n)
{
    const size_t insn_b = sizeof *s->all->insn;
    as_large_fetch(s->all->insn, s->room * insn_b, place * insn_b, (place + n) * insn_b);
}

/* Lets a single worker decode into the table if the piece fits at any instruction length. Returns
 * true if it does. */
static bool lend_place(const struct sweep *s, const struct region_piece *piece,
                       struct as_records *records)
{
    const size_t left = s->room - s->all->n;
    if (s->b->workers > 1 || left <= piece->size_b)
        return false;
    fetch_place(s, s->all->n, (size_t)piece->size_b / SHORT_INSN_B);
    records->insn.at = s->all->insn + s->all->n;
    records->insn.cap = left;
    return true;
}

static void copy_piece(struct sweep *s, const struct region_piece *piece, const struct staging *g,
                       size_t place)
{
    const struct as_records *records = &g->records;
    size_t n = piece->to - piece->from;
    for (size_t i = 0; i < n; i++) {
        struct as_region *r = &s->b->region.at[piece->from + i];
        size_t end = i + 1 < n ? g->first.at[i + 1] : records->insn.n;
        r->first_insn = place + g->first.at[i];
        r->insns = (uint32_t)(end - g->first.at[i]);
    }
    if (records->insn.n && records->insn.at != s->all->insn + place) {
        fetch_place(s, place, records->insn.n);
        memcpy(s->all->insn + place, records->insn.at, sizeof *records->insn.at * records->insn.n);
    }
    pthread_mutex_lock(&s->lock);
    if (--s->copying == 0)
        pthread_cond_broadcast(&s->moved);
    pthread_mutex_unlock(&s->lock);
}

static int sweep_piece(struct sweep *s, size_t i, struct staging *g, struct as_error *err)
{
    size_t place = 0;
    AS_TRY(decode_piece(s->b, &s->piece.at[i], g, err));
    if (note_piece(s->b, &s->piece.at[i], g) < 0)
        return as_error_nomem(err, "decoded code");
    AS_TRY(reserve_insn_range(s, i, &g->records, &place, err));
    copy_piece(s, &s->piece.at[i], g, place);
    if (store_piece_notes(s->b, i, s->piece.at[i].from, s->piece.at[i].to, g, place) < 0)
        return as_error_nomem(err, "decoded code");
    return 0;
}

/* Handles the pieces [from, to). The pool hands out pieces in ascending order. So if a worker waits
 * for a piece, another worker is busy with it. A piece that fails wakes all waiting workers. */
static int sweep_some(void *ctx, size_t from, size_t to, unsigned worker, struct as_error *err)
{
    struct sweep *s = ctx;
    struct staging *g = &s->staging[worker];
    for (size_t i = from; i < to; i++) {
        const __typeof__(g->records.insn) own = g->records.insn;
        const bool is_lent = lend_place(s, &s->piece.at[i], &g->records);
        const int rc = sweep_piece(s, i, g, err);
        if (is_lent)
            g->records.insn = own;
        if (rc < 0) {
            pthread_mutex_lock(&s->lock);
            s->failed = true;
            pthread_cond_broadcast(&s->moved);
            pthread_mutex_unlock(&s->lock);
            return rc;
        }
    }
    return 0;
}

/* Releases the unused end of the table. Keeps the larger block if this fails. */
static void shrink_insn_table(struct as_code *all)
{
    struct as_insn *p = as_realloc(all->insn, all->n + 1, sizeof *p);
    if (p)
        all->insn = p;
}

static void sweep_fini(struct sweep *s)
{
    for (unsigned i = 0; s->staging && i < s->b->workers; i++) {
        as_records_fini(&s->staging[i].records);
        as_vec_fini(&s->staging[i].noted);
        as_vec_fini(&s->staging[i].range);
        as_vec_fini(&s->staging[i].first);
    }
    as_free(s->staging);
    as_vec_fini(&s->piece);
    pthread_cond_destroy(&s->moved);
    pthread_mutex_destroy(&s->lock);
}

int as_regions_sweep(struct as_builder *b, struct as_error *err)
{
    struct as_code *all = &b->program->code;
    struct sweep s = {.b = b, .all = all};
    pthread_mutex_init(&s.lock, NULL);
    pthread_cond_init(&s.moved, NULL);
    int rc = make_pieces(&s) < 0 ? as_error_nomem(err, "decoded code")
                                 : as_pool_for(b->pool, s.piece.n, 1, sweep_some, &s, err);
    sweep_fini(&s);
    if (rc < 0)
        return rc; /* the program releases what it has */
    shrink_insn_table(all);
    if (b->region.n) {
        all->start = b->region.at[0].start;
        all->end = b->region.at[b->region.n - 1].end;
    }
    return 0;
}

void as_notes_release(struct as_builder *b)
{
    as_vec_foreach (&b->notes, notes)
        as_vec_fini(&notes->insn);
    as_vec_fini(&b->notes);
}
