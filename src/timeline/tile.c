/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/tile.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* 0 where times are out of order, as in a damaged file. */
static uint64_t time_between(int64_t begin_ns, int64_t end_ns)
{
    return end_ns > begin_ns ? (uint64_t)end_ns - (uint64_t)begin_ns : 0;
}

/* ---- A walk over pieces ---------------------------------------------------------------------- */

struct piece_walk {
    const struct as_timeline_index *index;
    const struct as_timeline_block *block; /* of the series */
    uint64_t blocks_n, at;                 /* the block */
    uint32_t item;                         /* in it */
    int64_t ns, end_ns;                    /* where it is; of the series */
    uint64_t *code_ns;                     /* time by code before `ns`; NULL: not of codes */
};

static int64_t block_end(const struct piece_walk *w)
{
    return w->at + 1 < w->blocks_n ? w->block[w->at + 1].first_ns : w->end_ns;
}

static int64_t piece_end(const struct piece_walk *w)
{
    const struct as_timeline_block *b = &w->block[w->at];
    return w->item + 1 < b->n ? as_timeline_items(w->index, b)[w->item + 1].ns : block_end(w);
}

static const struct as_timeline_item *piece_now(const struct piece_walk *w)
{
    return &as_timeline_items(w->index, &w->block[w->at])[w->item];
}

static void enter_block(struct piece_walk *w, uint64_t at)
{
    const struct as_timeline_block *b = &w->block[at];
    w->at = at;
    w->item = 0;
    w->ns = b->first_ns;
    if (w->code_ns) {
        memset(w->code_ns, 0, w->index->head->codes_n * sizeof *w->code_ns);
        memcpy(w->code_ns, as_timeline_items(w->index, b) + b->n, b->codes_n * sizeof(uint64_t));
    }
}

/* The last block that begins at `ns` or earlier, from the one where the walk is on. */
static uint64_t block_of(const struct piece_walk *w, int64_t ns)
{
    uint64_t low = w->at, step = 1, high;
    while (low + step < w->blocks_n && w->block[low + step].first_ns <= ns) {
        low += step;
        step *= 2;
    }
    high = low + step < w->blocks_n ? low + step : w->blocks_n;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (w->block[middle].first_ns <= ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void pass_time(struct piece_walk *w, int64_t to_ns)
{
    const uint64_t code = w->code_ns ? piece_now(w)->code : 0;
    if (w->code_ns && code < w->index->head->codes_n)
        w->code_ns[code] += time_between(w->ns, to_ns);
    w->ns = w->ns > to_ns ? w->ns : to_ns;
}

/* Goes on to `ns`, or to the end: stands at the piece that is there. */
static void walk_to(struct piece_walk *w, int64_t ns)
{
    const uint64_t block = block_of(w, ns);
    if (block != w->at)
        enter_block(w, block);
    while (w->item + 1 < w->block[w->at].n && piece_end(w) <= ns) {
        pass_time(w, piece_end(w));
        w->item++;
    }
    pass_time(w, ns < w->end_ns ? ns : w->end_ns);
}

/* False: the object has no pieces. */
static bool begin_walk(struct piece_walk *w, const struct as_timeline_index *index, uint32_t object,
                       uint64_t *code_ns)
{
    const struct as_timeline_series *s = as_timeline_find(index, AS_TIMELINE_PIECES, object, 0);
    if (!s)
        return false;
    *w = (struct piece_walk){.index = index,
                             .block = &index->block[s->first_block],
                             .blocks_n = s->blocks_n,
                             .end_ns = s->end_ns,
                             .code_ns = code_ns};
    enter_block(w, 0);
    return true;
}

/* ---- Codes ----------------------------------------------------------------------------------- */

static struct as_timeline_shares shares_of(const uint64_t *before, const uint64_t *after,
                                           uint64_t codes_n, uint64_t length_ns)
{
    uint64_t longest[AS_TIMELINE_SHARES_N] = {0};
    struct as_timeline_shares s;
    memset(s.code, AS_TIMELINE_CODE_NONE, sizeof s.code);
    memset(s.share, 0, sizeof s.share);
    for (uint64_t code = 0; code < codes_n; code++) {
        const uint64_t ns = after[code] - before[code];
        unsigned at = AS_TIMELINE_SHARES_N;
        if (ns == 0)
            continue;
        while (at && ns > longest[at - 1])
            at--;
        for (unsigned i = AS_TIMELINE_SHARES_N - 1; at < AS_TIMELINE_SHARES_N && i > at; i--) {
            longest[i] = longest[i - 1];
            s.code[i] = s.code[i - 1];
        }
        if (at < AS_TIMELINE_SHARES_N) {
            longest[at] = ns;
            s.code[at] = (uint8_t)code;
        }
    }
    for (unsigned i = 0; i < AS_TIMELINE_SHARES_N && longest[i]; i++) {
        const double share = 255.0 * (double)longest[i] / (double)length_ns;
        s.share[i] = (uint8_t)(share < 1 ? 1 : share > 255 ? 255 : lround(share));
    }
    return s;
}

/* A pixel of one code; AS_TIMELINE_CODE_NONE: of no time. */
static struct as_timeline_shares one_code(uint64_t code)
{
    struct as_timeline_shares s;
    memset(s.code, AS_TIMELINE_CODE_NONE, sizeof s.code);
    memset(s.share, 0, sizeof s.share);
    s.code[0] = (uint8_t)code;
    s.share[0] = code == AS_TIMELINE_CODE_NONE ? 0 : 255;
    return s;
}

/* The code at one moment. */
static struct as_timeline_shares code_now(const struct piece_walk *w)
{
    return w->ns < w->end_ns ? one_code(piece_now(w)->code) : one_code(AS_TIMELINE_CODE_NONE);
}

/* The code that a draw mode chooses of those with time between two states of a walk. */
static struct as_timeline_shares chosen_code(const struct piece_walk *w, enum as_draw_mode mode,
                                             const uint64_t *before, uint64_t last, uint64_t seed)
{
    struct as_drawn_value seen[AS_TIMELINE_CODES_MAX];
    const double *value = w->index->code;
    const uint64_t codes_n = w->index->head->codes_n;
    size_t n = 0;
    for (uint64_t code = 0; code < codes_n; code++)
        if (w->code_ns[code] > before[code])
            seen[n++] =
                (struct as_drawn_value){value[code], (int64_t)(w->code_ns[code] - before[code])};
    const double chosen =
        as_draw_mode_value(mode, seen, n, last < codes_n ? value[last] : NAN, seed);
    for (uint64_t code = 0; code < codes_n; code++)
        if (value[code] == chosen)
            return one_code(code);
    return one_code(AS_TIMELINE_CODE_NONE);
}

/* The code of the last moment before `ns`; the walk goes on to it. */
static uint64_t last_code_before(struct piece_walk *w, int64_t ns)
{
    walk_to(w, ns - 1);
    return piece_now(w)->code;
}

static void draw_code_row(const struct as_timeline_index *index,
                          const struct as_timeline_view *view, enum as_draw_mode mode,
                          uint32_t object, uint64_t *times, struct as_timeline_shares *out)
{
    const uint64_t codes_n = index->head->codes_n;
    uint64_t *before = times + codes_n;
    struct piece_walk w;
    memset(out, 0, view->pixels_n * sizeof *out);
    for (uint32_t i = 0; i < view->pixels_n; i++)
        memset(out[i].code, AS_TIMELINE_CODE_NONE, sizeof out[i].code);
    if (!begin_walk(&w, index, object, times))
        return;
    walk_to(&w, view->from_ns);
    for (uint32_t i = 0; i < view->pixels_n; i++) {
        const int64_t begin_ns = as_timeline_pixel_ns(view, i),
                      end_ns = as_timeline_pixel_ns(view, i + 1);
        if (begin_ns == end_ns) {
            out[i] = code_now(&w);
            continue;
        }
        memcpy(before, times, codes_n * sizeof *before);
        const uint64_t last = mode ? last_code_before(&w, end_ns) : 0;
        walk_to(&w, end_ns);
        out[i] = mode ? chosen_code(&w, mode, before, last, as_draw_mode_seed(object, begin_ns))
                      : shares_of(before, times, codes_n, time_between(begin_ns, end_ns));
    }
}

int as_timeline_draw_codes(const struct as_timeline_index *index,
                           const struct as_timeline_view *view, enum as_draw_mode mode,
                           struct as_timeline_shares *out)
{
    uint64_t *times = as_calloc((size_t)index->head->codes_n * 2 + 1, sizeof *times);
    uint64_t touched_b = 0;
    if (!times)
        return AS_ERR_NOMEM;
    for (uint32_t row = 0; row < view->rows_n; row++) {
        draw_code_row(index, view, mode, view->first_row + row, times,
                      out + (size_t)row * view->pixels_n);
        as_timeline_bound_memory(index, &touched_b, view->pixels_n * AS_TIMELINE_ACCESS_B);
    }
    as_free(times);
    return 0;
}

void as_timeline_add_code_times(const struct as_timeline_index *index, uint32_t object,
                                int64_t from_ns, int64_t to_ns, uint64_t *out)
{
    uint64_t times[AS_TIMELINE_CODES_MAX];
    struct piece_walk w;
    if (!begin_walk(&w, index, object, times))
        return;
    walk_to(&w, from_ns);
    for (uint64_t code = 0; code < index->head->codes_n; code++)
        out[code] -= times[code];
    walk_to(&w, to_ns);
    for (uint64_t code = 0; code < index->head->codes_n; code++)
        out[code] += times[code];
}

/* ---- Numbers --------------------------------------------------------------------------------- */

struct level_sum {
    double integral, max, min;
    uint64_t length_ns;
};

static void add_level(struct level_sum *sum, double integral, double max, double min,
                      uint64_t length_ns)
{
    if (sum->length_ns == 0 || max > sum->max)
        sum->max = max;
    if (sum->length_ns == 0 || min < sum->min)
        sum->min = min;
    sum->integral += integral;
    sum->length_ns += length_ns;
}

/* Goes on to the next piece if the walk is at the end of this one; false: it is not, or this piece
 * is the last. */
static bool enter_next_piece(struct piece_walk *w, int64_t piece_ns)
{
    if (piece_ns > w->ns)
        return false;
    if (w->item + 1 < w->block[w->at].n) {
        w->item++;
        return true;
    }
    if (w->at + 1 >= w->blocks_n)
        return false;
    enter_block(w, w->at + 1);
    return true;
}

/* Adds what lies before `end_ns`: whole blocks at once. */
static void add_levels(struct piece_walk *w, int64_t end_ns, struct level_sum *sum)
{
    while (w->ns < end_ns && w->ns < w->end_ns) {
        const struct as_timeline_block *b = &w->block[w->at];
        const int64_t whole_ns = block_end(w);
        if (w->item == 0 && w->ns == b->first_ns && whole_ns <= end_ns && whole_ns > w->ns) {
            add_level(sum, b->integral, b->max, b->min, time_between(w->ns, whole_ns));
            w->ns = whole_ns;
            if (w->at + 1 >= w->blocks_n)
                break;
            enter_block(w, w->at + 1);
            continue;
        }
        const int64_t piece_ns = piece_end(w), to_ns = piece_ns < end_ns ? piece_ns : end_ns;
        const uint64_t length_ns = time_between(w->ns, to_ns);
        const double value = piece_now(w)->real;
        if (length_ns)
            add_level(sum, value * (double)length_ns, value, value, length_ns);
        w->ns = w->ns > to_ns ? w->ns : to_ns;
        if (!enter_next_piece(w, piece_ns))
            break;
    }
}

static void draw_level_row(const struct as_timeline_index *index,
                           const struct as_timeline_view *view, uint32_t object,
                           struct as_timeline_levels *out)
{
    struct piece_walk w;
    const bool is_there = begin_walk(&w, index, object, NULL);
    if (is_there)
        walk_to(&w, view->from_ns);
    for (uint32_t i = 0; i < view->pixels_n; i++) {
        const int64_t begin_ns = as_timeline_pixel_ns(view, i),
                      end_ns = as_timeline_pixel_ns(view, i + 1);
        struct level_sum sum = {0};
        out[i] = (struct as_timeline_levels){NAN, NAN, NAN};
        if (!is_there || w.ns >= w.end_ns)
            continue;
        if (begin_ns == end_ns) {
            const float value = (float)piece_now(&w)->real;
            out[i] = (struct as_timeline_levels){value, value, value};
            continue;
        }
        add_levels(&w, end_ns, &sum);
        if (sum.length_ns)
            out[i] = (struct as_timeline_levels){(float)(sum.integral / (double)sum.length_ns),
                                                 (float)sum.max, (float)sum.min};
    }
}

typedef AS_VEC(struct as_drawn_value) drawn_values;

/* Lists the pieces before `end_ns` with their time in the pixel. */
static int list_pieces(struct piece_walk *w, int64_t end_ns, drawn_values *seen)
{
    seen->n = 0;
    while (w->ns < end_ns && w->ns < w->end_ns) {
        const int64_t piece_ns = piece_end(w), to_ns = piece_ns < end_ns ? piece_ns : end_ns;
        const uint64_t length_ns = time_between(w->ns, to_ns);
        const struct as_drawn_value one = {piece_now(w)->real,
                                           length_ns > INT64_MAX ? INT64_MAX : (int64_t)length_ns};
        if (length_ns)
            AS_TRY(as_vec_push(seen, one));
        w->ns = w->ns > to_ns ? w->ns : to_ns;
        if (!enter_next_piece(w, piece_ns))
            break;
    }
    return 0;
}

static int draw_mode_row(const struct as_timeline_index *index, const struct as_timeline_view *view,
                         enum as_draw_mode mode, uint32_t object, drawn_values *seen,
                         struct as_timeline_levels *out)
{
    struct piece_walk w;
    if (!begin_walk(&w, index, object, NULL))
        return 0;
    walk_to(&w, view->from_ns);
    for (uint32_t i = 0; i < view->pixels_n; i++) {
        const int64_t begin_ns = as_timeline_pixel_ns(view, i),
                      end_ns = as_timeline_pixel_ns(view, i + 1);
        AS_TRY(list_pieces(&w, end_ns, seen));
        if (seen->n)
            out[i].mean =
                (float)as_draw_mode_value(mode, seen->at, seen->n, seen->at[seen->n - 1].value,
                                          as_draw_mode_seed(object, begin_ns));
    }
    return 0;
}

int as_timeline_draw_mode_levels(const struct as_timeline_index *index,
                                 const struct as_timeline_view *view, enum as_draw_mode mode,
                                 struct as_timeline_levels *out)
{
    drawn_values seen = {0};
    uint64_t touched_b = 0;
    int rc = 0;
    for (uint32_t row = 0; rc == 0 && row < view->rows_n; row++) {
        rc = draw_mode_row(index, view, mode, view->first_row + row, &seen,
                           out + (size_t)row * view->pixels_n);
        as_timeline_bound_memory(index, &touched_b, index->map.n);
    }
    as_vec_fini(&seen);
    return rc;
}

void as_timeline_draw_levels(const struct as_timeline_index *index,
                             const struct as_timeline_view *view, struct as_timeline_levels *out)
{
    uint64_t touched_b = 0;
    for (uint32_t row = 0; row < view->rows_n; row++) {
        draw_level_row(index, view, view->first_row + row, out + (size_t)row * view->pixels_n);
        as_timeline_bound_memory(index, &touched_b, view->pixels_n * AS_TIMELINE_ACCESS_B);
    }
}

/* ---- Events ---------------------------------------------------------------------------------- */

/* Finds the pixel of each event, where events are few. */
static void draw_few(const struct as_timeline_index *index, const struct as_timeline_series *series,
                     const struct as_timeline_view *view, uint64_t first, uint64_t end,
                     uint16_t *out)
{
    const uint64_t span = time_between(view->from_ns, view->to_ns);
    int64_t end_ns;
    for (uint64_t at = first; at < end; at++) {
        const struct as_timeline_item *item = as_timeline_item_at(index, series, at, &end_ns);
        const uint64_t ns = item ? time_between(view->from_ns, item->ns) : span;
        uint32_t i = (uint32_t)((unsigned __int128)ns * view->pixels_n / span);
        if (ns >= span)
            continue;
        i += i + 1 < view->pixels_n && as_timeline_pixel_ns(view, i + 1) <= item->ns;
        out[i] = (uint16_t)(out[i] + (out[i] < UINT16_MAX));
    }
}

static void draw_series(const struct as_timeline_index *index,
                        const struct as_timeline_series *series,
                        const struct as_timeline_view *view, uint16_t *out)
{
    uint64_t before = as_timeline_before(index, series, view->from_ns);
    const uint64_t last = as_timeline_before(index, series, view->to_ns);
    if (before >= last || view->from_ns >= view->to_ns)
        return;
    if (last - before < view->pixels_n) {
        draw_few(index, series, view, before, last, out);
        return;
    }
    for (uint32_t i = 0; i < view->pixels_n; i++) {
        const uint64_t next = as_timeline_before(index, series, as_timeline_pixel_ns(view, i + 1));
        const uint64_t n = next > before ? next - before : 0;
        out[i] = n > (uint64_t)UINT16_MAX - out[i] ? UINT16_MAX : (uint16_t)(out[i] + n);
        before = next;
    }
}

void as_timeline_draw_events(const struct as_timeline_index *index,
                             const struct as_timeline_view *view, int64_t type, uint16_t *out)
{
    uint64_t touched_b = 0;
    memset(out, 0, (size_t)view->rows_n * view->pixels_n * sizeof *out);
    for (uint32_t row = 0; row < view->rows_n; row++) {
        size_t at, end;
        as_timeline_range(index, AS_TIMELINE_EVENTS, view->first_row + row, &at, &end);
        for (; at < end; at++) {
            if (type != INT64_MIN && index->series[at].type != type)
                continue;
            draw_series(index, &index->series[at], view, out + (size_t)row * view->pixels_n);
            const uint64_t blocks_n = index->series[at].blocks_n;
            as_timeline_bound_memory(index, &touched_b,
                                     (blocks_n < view->pixels_n ? blocks_n : view->pixels_n) *
                                         AS_TIMELINE_ACCESS_B);
        }
    }
}
