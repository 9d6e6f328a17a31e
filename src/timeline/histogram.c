/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/histogram.h"

#include <string.h>

#include "base/error.h"

/* ---- Pieces -----------------------------------------------------------------------------------
 */

struct piece_visit {
    int (*visit)(struct piece_visit *visit, uint32_t row, double value, int64_t begin_ns,
                 int64_t end_ns);
    struct as_cells *cells; /* of a histogram; else: */
    const struct as_timeline_view *view;
    double low, high;
    uint16_t *out;
};

/* The last block that begins at `ns` or earlier, or the first one. */
static uint64_t first_block_at(const struct as_timeline_block *block, uint64_t n, int64_t ns)
{
    uint64_t low = 0, high = n;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (block[middle].first_ns <= ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Visits the parts of the pieces of a row that are in [from, to). */
static int visit_row(const struct as_timeline_index *index, uint32_t row,
                     const struct as_timeline_view *view, struct piece_visit *visit)
{
    const struct as_timeline_series *s = as_timeline_find(index, AS_TIMELINE_PIECES, row, 0);
    if (!s)
        return 0;
    const struct as_timeline_block *block = &index->block[s->first_block];
    for (uint64_t at = first_block_at(block, s->blocks_n, view->from_ns); at < s->blocks_n; at++) {
        const struct as_timeline_item *item = as_timeline_items(index, &block[at]);
        const int64_t end_ns = at + 1 < s->blocks_n ? block[at + 1].first_ns : s->end_ns;
        if (block[at].first_ns >= view->to_ns)
            break;
        for (uint32_t i = 0; i < block[at].n; i++) {
            const int64_t piece_ns = i + 1 < block[at].n ? item[i + 1].ns : end_ns;
            const int64_t begin_ns = item[i].ns > view->from_ns ? item[i].ns : view->from_ns;
            const int64_t to_ns = piece_ns < view->to_ns ? piece_ns : view->to_ns;
            if (begin_ns < to_ns)
                AS_TRY(visit->visit(visit, row, item[i].real, begin_ns, to_ns));
        }
    }
    return 0;
}

static int visit_view(const struct as_timeline_index *index, const struct as_timeline_view *view,
                      struct piece_visit *visit)
{
    uint64_t touched_b = 0;
    for (uint32_t row = 0; row < view->rows_n; row++) {
        const struct as_timeline_series *s =
            as_timeline_find(index, AS_TIMELINE_PIECES, view->first_row + row, 0);
        AS_TRY(visit_row(index, view->first_row + row, view, visit));
        as_timeline_bound_memory(index, &touched_b, s ? s->blocks_n * AS_TIMELINE_ACCESS_B : 0);
    }
    return 0;
}

/* ---- Histograms -------------------------------------------------------------------------------
 */

static int extend_scale(struct piece_visit *visit, uint32_t row, double value, int64_t begin_ns,
                        int64_t end_ns)
{
    (void)row;
    (void)begin_ns;
    (void)end_ns;
    as_cells_extend(&visit->cells->columns, as_real(value));
    return 0;
}

static int add_piece_part(struct piece_visit *visit, uint32_t row, double value, int64_t begin_ns,
                          int64_t end_ns)
{
    const struct as_quantity n = as_real(value);
    return as_cells_add(visit->cells, row, n, n, as_whole(0), end_ns - begin_ns);
}

void as_timeline_histogram_init(struct as_timeline_histogram *h, int64_t columns_n,
                                const struct as_quantity *min, const struct as_quantity *max)
{
    static char name[] = "histogram";
    *h = (struct as_timeline_histogram){0};
    as_histogram_init(&h->table);
    h->table.name = name;
    h->table.columns.columns_n = columns_n;
    h->table.columns.is_automatic = !min || !max;
    if (min && max) {
        h->table.columns.min = *min;
        h->table.columns.max = *max;
    }
}

int as_timeline_histogram_add(struct as_timeline_histogram *h,
                              const struct as_timeline_index *index,
                              const struct as_timeline_view *view, struct as_error *err)
{
    const struct as_window control = {.is_code = false};
    struct piece_visit visit = {.visit = extend_scale, .cells = &h->cells};
    h->cells.result.table = &h->table;
    h->cells.result.rows_n = view->first_row + view->rows_n;
    int rc = h->table.columns.is_automatic ? visit_view(index, view, &visit) : 0;
    if (rc == 0)
        rc = as_cells_scale(&h->cells, &control, NULL, err);
    visit.visit = add_piece_part;
    if (rc == 0)
        rc = visit_view(index, view, &visit);
    as_cells_end(&h->cells);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, h->table.name) : rc;
}

void as_timeline_histogram_fini(struct as_timeline_histogram *h)
{
    as_cells_fini(&h->cells);
    *h = (struct as_timeline_histogram){0};
}

/* ---- Finding ----------------------------------------------------------------------------------
 */

bool as_timeline_next_in_column(const struct as_timeline_index *index, uint32_t row,
                                const struct as_histogram_scale *scale, int64_t column, int64_t ns,
                                struct as_timeline_found *out)
{
    const struct as_timeline_series *s = as_timeline_find(index, AS_TIMELINE_PIECES, row, 0);
    if (!s)
        return false;
    for (uint64_t at = as_timeline_before(index, s, ns + 1); at < s->items_n; at++) {
        int64_t end_ns;
        const struct as_timeline_item *item = as_timeline_item_at(index, s, at, &end_ns);
        if (item && as_cells_column(scale, as_real(item->real)) == column) {
            *out = (struct as_timeline_found){.row = row, .item = item, .end_ns = end_ns};
            return true;
        }
    }
    return false;
}

/* Counts a piece in its pixels, also in those of less than a nanosecond. */
static int mark_piece(struct piece_visit *visit, uint32_t row, double value, int64_t begin_ns,
                      int64_t end_ns)
{
    const struct as_timeline_view *v = visit->view;
    const uint64_t span = (uint64_t)v->to_ns - (uint64_t)v->from_ns;
    const uint64_t begin = (uint64_t)begin_ns - (uint64_t)v->from_ns;
    uint16_t *out = visit->out + (size_t)(row - v->first_row) * v->pixels_n;
    uint32_t i = (uint32_t)((unsigned __int128)begin * v->pixels_n / span);
    if (!(value >= visit->low && value < visit->high))
        return 0;
    while (i > 0 && as_timeline_pixel_ns(v, i - 1) >= begin_ns)
        i--;
    for (; i < v->pixels_n && as_timeline_pixel_ns(v, i) < end_ns; i++)
        if (as_timeline_pixel_ns(v, i + 1) > begin_ns || as_timeline_pixel_ns(v, i) >= begin_ns)
            out[i] = (uint16_t)(out[i] + (out[i] < UINT16_MAX));
    return 0;
}

void as_timeline_draw_range(const struct as_timeline_index *index,
                            const struct as_timeline_view *view, double low, double high,
                            uint16_t *out)
{
    struct piece_visit visit = {
        .visit = mark_piece, .view = view, .low = low, .high = high, .out = out};
    memset(out, 0, (size_t)view->rows_n * view->pixels_n * sizeof *out);
    visit_view(index, view, &visit);
}
