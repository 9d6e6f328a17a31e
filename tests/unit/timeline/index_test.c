/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures of an index against the pieces that the evaluation itself hands out, pixel by pixel;
 * events and messages against the list that the trace was written from. Traces are random.
 */
#include "unit.h"

#include <math.h>
#include <sys/stat.h>

#include "timeline/histogram.h"

#define THREADS_N 3u
#define END_NS    ((int64_t)2000000)
#define EVENTS_N  4000u
#define SENDS_N   900u

struct test_event {
    uint32_t thread;
    int64_t ns, type, value;
};
struct test_message {
    uint32_t sender, receiver;
    int64_t send_ns, receive_ns, size_b;
};
struct test_piece {
    uint32_t object;
    int64_t begin_ns, end_ns;
    double value;
};

static struct {
    char folder[64], trace[96], path[96];
    struct test_event event[EVENTS_N];
    struct test_message message[SENDS_N];
    struct test_piece *piece;
    size_t pieces_n, pieces_cap;
    uint64_t seed;
} t;

static uint64_t any_below(uint64_t n)
{
    t.seed = t.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (t.seed >> 33) % n;
}

/* ---- The trace ------------------------------------------------------------------------------- */

/* States that follow each other or leave gaps; more values than there are codes, if `wild`. */
static void write_states(FILE *file, uint32_t thread, bool wild)
{
    int64_t ns = (int64_t)any_below(50);
    while (ns < END_NS) {
        const int64_t end_ns = ns + 1 + (int64_t)any_below(any_below(200) ? 900 : 60000);
        const unsigned value = (unsigned)any_below(wild ? 400 : 6);
        fprintf(file, "1:0:1:1:%u:%lld:%lld:%u\n", thread + 1, (long long)ns,
                (long long)(end_ns < END_NS ? end_ns : END_NS), value);
        ns = end_ns + (any_below(4) ? 0 : (int64_t)any_below(300));
    }
}

/* By object and time at random: the reader sorts what comes late. */
static void write_trace(uint64_t seed, bool wild)
{
    FILE *file = fopen(t.trace, "w");
    assert_non_null(file);
    t.seed = seed;
    fprintf(file, "#Paraver (01/01/2026 at 00:00):%lld_ns:1(1):1:1(%u:1),0\n", (long long)END_NS,
            THREADS_N);
    for (uint32_t thread = 0; thread < THREADS_N; thread++)
        write_states(file, thread, wild);
    for (unsigned i = 0; i < EVENTS_N; i++) {
        struct test_event *e = &t.event[i];
        *e = (struct test_event){(uint32_t)any_below(THREADS_N), (int64_t)any_below(END_NS),
                                 50000001 + (int64_t)any_below(3), (int64_t)any_below(9)};
        fprintf(file, "2:0:1:1:%u:%lld:%lld:%lld\n", e->thread + 1, (long long)e->ns,
                (long long)e->type, (long long)e->value);
    }
    for (unsigned i = 0; i < SENDS_N; i++) {
        struct test_message *m = &t.message[i];
        const int64_t send_ns = (int64_t)any_below(END_NS - 5000);
        const int64_t logical_ns = send_ns + 1 + (int64_t)any_below(2500);
        const int64_t physical_ns = send_ns + 1 + (int64_t)any_below(2500);
        *m = (struct test_message){(uint32_t)any_below(THREADS_N), (uint32_t)any_below(THREADS_N),
                                   send_ns, logical_ns > physical_ns ? logical_ns : physical_ns,
                                   (int64_t)any_below(4096)};
        fprintf(file, "3:0:1:1:%u:%lld:%lld:0:1:1:%u:%lld:%lld:%lld:1\n", m->sender + 1,
                (long long)m->send_ns, (long long)m->send_ns, m->receiver + 1,
                (long long)logical_ns, (long long)physical_ns, (long long)m->size_b);
    }
    assert_int_equal(fclose(file), 0);
}

/* ---- The plain evaluation -------------------------------------------------------------------- */

static int keep_plain(void *context, uint32_t time_line, uint32_t object, int64_t begin_ns,
                      int64_t end_ns, struct as_quantity value)
{
    (void)context;
    (void)time_line;
    if (t.pieces_n == t.pieces_cap) {
        t.pieces_cap = t.pieces_cap ? 2 * t.pieces_cap : 1024;
        t.piece = realloc(t.piece, t.pieces_cap * sizeof *t.piece);
        assert_non_null(t.piece);
    }
    t.piece[t.pieces_n++] =
        (struct test_piece){object, begin_ns, end_ns, as_quantity_double(value)};
    return 0;
}

static void forget_plain(void *context)
{
    (void)context;
    t.pieces_n = 0;
}

static void evaluate_plainly(const struct as_configuration *c)
{
    const struct as_evaluator_options options = {
        .to_ns = INT64_MAX, .on_piece = keep_plain, .on_restart = forget_plain};
    struct as_evaluator *evaluation;
    struct as_evaluated trace;
    struct as_error err = {0};
    t.pieces_n = 0;
    assert_int_equal(as_evaluated_open(t.trace, &trace, &err), 0);
    assert_int_equal(as_evaluator_new(&trace.objects, &options, &evaluation), 0);
    assert_int_equal(as_evaluator_add(evaluation, c, &err), 0);
    assert_int_equal(as_evaluated_run(&trace, evaluation, &err), 0);
    as_evaluator_free(&evaluation);
    as_evaluated_close(&trace);
}

static int64_t overlap_ns(const struct test_piece *p, int64_t begin_ns, int64_t end_ns)
{
    const int64_t from_ns = p->begin_ns > begin_ns ? p->begin_ns : begin_ns;
    const int64_t to_ns = p->end_ns < end_ns ? p->end_ns : end_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static int64_t border_ns(const struct as_timeline_view *v, uint32_t at)
{
    return v->from_ns + (int64_t)((__int128)(v->to_ns - v->from_ns) * at / v->pixels_n);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

static void compare_codes(const struct as_timeline_index *index, const struct as_timeline_view *v,
                          uint32_t row, uint32_t x, const struct as_timeline_shares *got)
{
    const int64_t begin_ns = border_ns(v, x), end_ns = border_ns(v, x + 1);
    int64_t time[AS_TIMELINE_CODES_MAX] = {0};
    int64_t before = INT64_MAX;
    for (size_t i = 0; i < t.pieces_n; i++) {
        uint64_t code = 0;
        if (t.piece[i].object != row)
            continue;
        while (code + 1 < AS_TIMELINE_CODES_MAX && index->code[code] != t.piece[i].value)
            code++;
        time[code] += overlap_ns(&t.piece[i], begin_ns, end_ns);
    }
    for (unsigned s = 0; s < AS_TIMELINE_SHARES_N; s++) {
        int64_t most = 0;
        for (unsigned code = 0; code < AS_TIMELINE_CODES_MAX; code++)
            most = time[code] > most ? time[code] : most;
        if (most == 0) {
            assert_int_equal(got->code[s], AS_TIMELINE_CODE_NONE);
            continue;
        }
        assert_true(got->code[s] < index->head->codes_n && time[got->code[s]] == most);
        const double share = 255.0 * (double)most / (double)(end_ns - begin_ns);
        assert_true(fabs(got->share[s] - share) <= (share < 1 ? 1.0 : 0.5 + 1e-9));
        assert_true(got->share[s] > 0 && most <= before);
        before = most;
        time[got->code[s]] = 0;
    }
}

static void compare_levels(const struct as_timeline_view *v, uint32_t row, uint32_t x,
                           const struct as_timeline_levels *got)
{
    const int64_t begin_ns = border_ns(v, x), end_ns = border_ns(v, x + 1);
    double sum = 0, max = -INFINITY, min = INFINITY;
    int64_t length_ns = 0;
    for (size_t i = 0; i < t.pieces_n; i++) {
        const struct test_piece *p = &t.piece[i];
        const int64_t ns = p->object == row ? overlap_ns(p, begin_ns, end_ns) : 0;
        if (ns == 0)
            continue;
        sum += p->value * (double)ns;
        length_ns += ns;
        max = p->value > max ? p->value : max;
        min = p->value < min ? p->value : min;
    }
    assert_true(length_ns > 0);
    const double mean = sum / (double)length_ns;
    assert_true(fabs((double)got->mean - mean) <= 1e-6 * (fabs(mean) + 1e-9));
    assert_true(got->max == (float)max && got->min == (float)min);
}

/* The values of a pixel by plain search; codes each once. */
static size_t plain_values(bool is_code, uint32_t row, int64_t begin_ns, int64_t end_ns,
                           struct as_drawn_value *seen, double *last)
{
    size_t n = 0;
    for (size_t i = 0; i < t.pieces_n; i++) {
        const struct test_piece *p = &t.piece[i];
        const int64_t ns = p->object == row ? overlap_ns(p, begin_ns, end_ns) : 0;
        size_t at = is_code ? 0 : n;
        if (ns == 0)
            continue;
        while (at < n && seen[at].value != p->value)
            at++;
        if (at == n)
            seen[n++] = (struct as_drawn_value){.value = p->value};
        seen[at].ns += ns;
        *last = p->value;
    }
    return n;
}

/* Values of draw modes are those of the same function over plain pieces. */
static void compare_modes(const struct as_timeline_index *index, const struct as_timeline_view *v)
{
    const size_t pixels_n = (size_t)v->rows_n * v->pixels_n;
    struct as_timeline_shares *codes = calloc(pixels_n, sizeof *codes);
    struct as_timeline_levels *levels = calloc(pixels_n, sizeof *levels);
    struct as_drawn_value *seen = calloc(t.pieces_n + 1, sizeof *seen);
    const bool is_code = index->head->is_code;
    assert_true(codes && levels && seen);
    for (unsigned m = AS_DRAW_LAST; m < AS_DRAW_MODES_N; m++) {
        const enum as_draw_mode mode = (enum as_draw_mode)m;
        if (is_code && !as_timeline_draws_code(mode))
            continue;
        assert_int_equal(is_code ? as_timeline_draw_codes(index, v, mode, codes)
                                 : as_timeline_draw_mode_levels(index, v, mode, levels),
                         0);
        for (size_t i = 0; i < pixels_n; i++) {
            const uint32_t row = v->first_row + (uint32_t)(i / v->pixels_n);
            const uint32_t x = (uint32_t)(i % v->pixels_n);
            const int64_t begin_ns = border_ns(v, x);
            double last = NAN;
            const size_t n = plain_values(is_code, row, begin_ns, border_ns(v, x + 1), seen, &last);
            const double want =
                as_draw_mode_value(mode, seen, n, last, as_draw_mode_seed(row, begin_ns));
            assert_true(n > 0);
            memset(seen, 0, (n + 1) * sizeof *seen);
            if (is_code)
                assert_true(codes[i].share[0] == 255 && index->code[codes[i].code[0]] == want);
            else
                assert_true(fabs((double)levels[i].mean - want) <= 1e-6 * fabs(want));
        }
    }
    free(codes);
    free(levels);
    free(seen);
}

static void compare_view(const struct as_timeline_index *index, const struct as_timeline_view *v)
{
    const size_t n = (size_t)v->rows_n * v->pixels_n;
    struct as_timeline_shares *codes = calloc(n, sizeof *codes);
    struct as_timeline_levels *levels = calloc(n, sizeof *levels);
    assert_true(codes && levels);
    if (index->head->is_code)
        assert_int_equal(as_timeline_draw_codes(index, v, AS_DRAW_BY_KIND, codes), 0);
    else
        as_timeline_draw_levels(index, v, levels);
    for (uint32_t row = 0; row < v->rows_n; row++)
        for (uint32_t x = 0; x < v->pixels_n; x++) {
            const size_t at = (size_t)row * v->pixels_n + x;
            if (index->head->is_code)
                compare_codes(index, v, v->first_row + row, x, &codes[at]);
            else
                compare_levels(v, v->first_row + row, x, &levels[at]);
        }
    free(codes);
    free(levels);
}

static void compare_table(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns)
{
    for (uint32_t row = 0; row < THREADS_N; row++) {
        uint64_t got[AS_TIMELINE_CODES_MAX] = {0};
        int64_t want[AS_TIMELINE_CODES_MAX] = {0};
        as_timeline_add_code_times(index, row, from_ns, to_ns, got);
        for (size_t i = 0; i < t.pieces_n; i++) {
            uint64_t code = 0;
            while (code + 1 < AS_TIMELINE_CODES_MAX && index->code[code] != t.piece[i].value)
                code++;
            if (t.piece[i].object == row)
                want[code] += overlap_ns(&t.piece[i], from_ns, to_ns);
        }
        for (uint64_t code = 0; code < index->head->codes_n; code++)
            assert_int_equal(got[code], want[code]);
    }
}

#define COLUMNS_N 7

static int64_t plain_column(const struct as_histogram_scale *scale, double value)
{
    const double min = as_quantity_double(scale->min), max = as_quantity_double(scale->max);
    const double at = floor((value - min) / as_quantity_double(scale->delta));
    if (value < min || value > max)
        return -1;
    return at < (double)scale->columns_n ? (int64_t)at : scale->columns_n - 1;
}

/* Cells of a scale that the values set, or of a given one. */
static void compare_cells_of(const struct as_timeline_histogram *h,
                             const struct as_timeline_view *v)
{
    const struct as_histogram_scale *scale = &h->cells.result.columns;
    int64_t ns[THREADS_N][COLUMNS_N] = {0}, n[THREADS_N][COLUMNS_N] = {0}, outside_ns = 0;
    for (size_t i = 0; i < t.pieces_n; i++) {
        const struct test_piece *p = &t.piece[i];
        const int64_t length_ns = overlap_ns(p, v->from_ns, v->to_ns);
        const int64_t column = plain_column(scale, p->value);
        if (p->object < v->first_row || p->object >= v->first_row + v->rows_n || length_ns == 0)
            continue;
        if (column < 0) {
            outside_ns += length_ns;
            continue;
        }
        ns[p->object][column] += length_ns;
        n[p->object][column]++;
    }
    assert_int_equal(h->cells.result.outside_ns, outside_ns);
    as_vec_foreach (&h->cells.result.cell, cell) {
        assert_int_equal(ns[cell->row][cell->column], cell->cell.time_ns);
        assert_int_equal(n[cell->row][cell->column], cell->cell.bursts_n);
        ns[cell->row][cell->column] = 0;
    }
    for (unsigned row = 0; row < THREADS_N; row++)
        for (unsigned column = 0; column < COLUMNS_N; column++)
            assert_int_equal(ns[row][column], 0);
}

static void compare_column_search(const struct as_timeline_index *index,
                                  const struct as_histogram_scale *scale, uint32_t row,
                                  int64_t column, int64_t ns)
{
    const struct test_piece *want = NULL;
    struct as_timeline_found found;
    for (size_t i = 0; i < t.pieces_n; i++) {
        const struct test_piece *p = &t.piece[i];
        if (p->object == row && p->begin_ns > ns && p->begin_ns < p->end_ns &&
            plain_column(scale, p->value) == column && (!want || p->begin_ns < want->begin_ns))
            want = p;
    }
    assert_int_equal(as_timeline_next_in_column(index, row, scale, column, ns, &found),
                     want != NULL);
    assert_true(!want || (found.item->ns == want->begin_ns && found.end_ns == want->end_ns));
}

/* Pixels that a piece with a value in [low, high) is in. */
static void compare_range(const struct as_timeline_index *index, const struct as_timeline_view *v,
                          double low, double high)
{
    uint16_t *got = calloc((size_t)v->rows_n * v->pixels_n, sizeof *got);
    assert_non_null(got);
    as_timeline_draw_range(index, v, low, high, got);
    for (uint32_t row = 0; row < v->rows_n; row++)
        for (uint32_t x = 0; x < v->pixels_n; x++) {
            unsigned n = 0;
            for (size_t i = 0; i < t.pieces_n; i++) {
                const struct test_piece *p = &t.piece[i];
                n += p->object == v->first_row + row && p->value >= low && p->value < high &&
                     overlap_ns(p, border_ns(v, x), border_ns(v, x + 1)) > 0;
            }
            assert_int_equal(got[(size_t)row * v->pixels_n + x], n);
        }
    free(got);
}

static void compare_histogram(const struct as_timeline_index *index,
                              const struct as_timeline_view *v)
{
    struct as_timeline_histogram h;
    struct as_error err = {0};
    const struct as_quantity low = as_whole((int64_t)any_below(40)),
                             high = as_quantity_add(low, as_real((double)any_below(90) / 3 + 1));
    as_timeline_histogram_init(&h, COLUMNS_N, NULL, NULL);
    assert_int_equal(as_timeline_histogram_add(&h, index, v, &err), 0);
    assert_true(h.cells.result.columns.columns_n <= COLUMNS_N);
    compare_cells_of(&h, v);
    as_timeline_histogram_fini(&h);
    as_timeline_histogram_init(&h, COLUMNS_N, &low, &high);
    assert_int_equal(as_timeline_histogram_add(&h, index, v, &err), 0);
    compare_cells_of(&h, v);
    compare_range(index, v, as_quantity_double(low), as_quantity_double(high));
    compare_column_search(index, &h.cells.result.columns, v->first_row,
                          (int64_t)any_below(COLUMNS_N), v->from_ns);
    as_timeline_histogram_fini(&h);
}

static void compare_events(const struct as_timeline_index *index, const struct as_timeline_view *v,
                           int64_t type)
{
    uint16_t *got = calloc((size_t)v->rows_n * v->pixels_n, sizeof *got);
    assert_non_null(got);
    as_timeline_draw_events(index, v, type, got);
    for (uint32_t row = 0; row < v->rows_n; row++)
        for (uint32_t x = 0; x < v->pixels_n; x++) {
            unsigned n = 0;
            for (unsigned i = 0; i < EVENTS_N; i++)
                n += t.event[i].thread == v->first_row + row &&
                     (type == INT64_MIN || t.event[i].type == type) &&
                     t.event[i].ns >= border_ns(v, x) && t.event[i].ns < border_ns(v, x + 1);
            assert_int_equal(got[(size_t)row * v->pixels_n + x], n);
        }
    free(got);
}

static void compare_next(const struct as_timeline_index *index, int64_t type, int64_t row,
                         int64_t ns, bool is_back)
{
    struct as_timeline_found found;
    const struct test_event *want = NULL;
    for (unsigned i = 0; i < EVENTS_N; i++) {
        const struct test_event *e = &t.event[i];
        if ((type != INT64_MIN && e->type != type) || (row >= 0 && e->thread != row) ||
            (is_back ? e->ns >= ns : e->ns <= ns))
            continue;
        if (!want || (is_back ? e->ns > want->ns : e->ns < want->ns))
            want = e;
    }
    assert_int_equal(as_timeline_next_event(index, type, row, ns, is_back, &found), want != NULL);
    if (want)
        assert_int_equal(found.item->ns, want->ns);
}

static void compare_messages(const struct as_timeline_index *index, int64_t from_ns, int64_t to_ns)
{
    struct as_timeline_picked picked = {0};
    struct as_timeline_pairs pairs = {0};
    uint64_t n = 0, sent_n = 0, got_n = 0;
    double sent_b = 0, got_b = 0;
    for (unsigned i = 0; i < SENDS_N; i++) {
        const struct test_message *m = &t.message[i];
        const bool is_sent = m->send_ns >= from_ns && m->send_ns < to_ns;
        n += is_sent || (m->send_ns < from_ns && m->receive_ns > from_ns);
        sent_n += is_sent;
        sent_b += is_sent ? (double)m->size_b : 0;
    }
    assert_int_equal(as_timeline_pick_messages(index, from_ns, to_ns, 50, &picked), 0);
    assert_int_equal(picked.total_n, n);
    assert_true(picked.message.n <= 50 && (n == 0 || picked.message.n > 0));
    assert_true(n > 50 || picked.message.n == n);
    assert_int_equal(as_timeline_add_pairs(index, from_ns, to_ns, &pairs), 0);
    as_vec_foreach (&pairs.pair, one) {
        got_n += one->n;
        got_b += one->bytes;
    }
    assert_int_equal(got_n, sent_n);
    assert_true(got_b == sent_b);
    as_vec_fini(&picked.message);
    as_vec_fini(&pairs.pair);
}

static void compare_code_search(const struct as_timeline_index *index, uint32_t row, uint64_t code,
                                int64_t ns)
{
    struct as_timeline_found found = {0};
    const struct test_piece *want = NULL;
    for (size_t i = 0; i < t.pieces_n; i++)
        if (t.piece[i].object == row && t.piece[i].begin_ns > ns &&
            t.piece[i].begin_ns < t.piece[i].end_ns && t.piece[i].value == index->code[code] &&
            (!want || t.piece[i].begin_ns < want->begin_ns))
            want = &t.piece[i];
    assert_int_equal(as_timeline_next_code(index, row, code, ns, &found), want != NULL);
    if (want) {
        assert_int_equal(found.item->ns, want->begin_ns);
        assert_int_equal(found.end_ns, want->end_ns);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static const struct as_ready *ready_of(const char *name)
{
    for (size_t i = 0; i < as_ready_n; i++)
        if (strcmp(as_ready_configurations[i].name, name) == 0)
            return &as_ready_configurations[i];
    fail_msg("no configuration %s", name);
    return NULL;
}

static void make_index(const char *name, size_t waiting_max, struct as_configuration *c,
                       struct as_timeline_index *index)
{
    const struct as_ready *ready = ready_of(name);
    struct as_timeline_making making = {
        .configuration = c, .with_records = true, .waiting_max = waiting_max};
    struct as_evaluated trace;
    struct as_error err = {0};
    assert_int_equal(as_cfg_read(as_view_of(ready->text), name, c, &err), 0);
    assert_int_equal(as_timeline_identify(t.trace, as_view_of(ready->text), &making.of, &err), 0);
    assert_int_equal(as_evaluated_open(t.trace, &trace, &err), 0);
    assert_int_equal(as_timeline_make(&trace, &making, t.path, &err), 0);
    as_evaluated_close(&trace);
    assert_int_equal(as_timeline_index_open(t.path, &making.of, index, &err), 0);
    assert_int_equal(index->head->events_n, EVENTS_N);
    assert_int_equal(index->head->messages_n, SENDS_N);
}

static struct as_timeline_view any_view(uint32_t rows_n)
{
    struct as_timeline_view v = {.from_ns = (int64_t)any_below(END_NS - 1),
                                 .pixels_n = 1 + (uint32_t)any_below(40)};
    const int64_t room_ns = END_NS - v.from_ns;
    const int64_t length_ns = 1 + (int64_t)any_below((uint64_t)room_ns);
    v.to_ns = v.from_ns + (any_below(3) ? length_ns : (length_ns < 90 ? length_ns : 90));
    if (v.pixels_n > v.to_ns - v.from_ns)
        v.pixels_n = (uint32_t)(v.to_ns - v.from_ns);
    v.first_row = (uint32_t)any_below(rows_n);
    v.rows_n = rows_n - v.first_row;
    return v;
}

static void compare_all(const struct as_timeline_index *index, uint32_t rows_n)
{
    const struct as_timeline_view whole = {0, END_NS, 0, rows_n, 200};
    const struct as_timeline_view coarse = {0, END_NS, 0, rows_n, 5};
    compare_view(index, &whole);
    compare_view(index, &coarse);
    const bool has_all_codes = index->head->codes_n < AS_TIMELINE_CODES_MAX;
    if (has_all_codes)
        compare_modes(index, &coarse);
    for (unsigned i = 0; i < 30; i++) {
        const struct as_timeline_view v = any_view(rows_n);
        compare_view(index, &v);
        if (has_all_codes && i < 3)
            compare_modes(index, &v);
        if (index->head->is_code)
            compare_table(index, v.from_ns, v.to_ns);
        else
            compare_histogram(index, &v);
    }
}

static void compare_records(const struct as_timeline_index *index)
{
    const struct as_timeline_view whole = {0, END_NS, 0, THREADS_N, 100};
    compare_events(index, &whole, INT64_MIN);
    compare_messages(index, 0, END_NS);
    for (unsigned i = 0; i < 40; i++) {
        const struct as_timeline_view v = any_view(THREADS_N);
        const int64_t type = any_below(3) ? 50000001 + (int64_t)any_below(4) : INT64_MIN;
        compare_events(index, &v, type);
        compare_next(index, type, (int64_t)any_below(THREADS_N + 1) - 1, v.from_ns, i % 2);
        compare_messages(index, v.from_ns, v.to_ns);
        if (index->head->is_code)
            compare_code_search(index, (uint32_t)any_below(THREADS_N),
                                any_below(index->head->codes_n), v.from_ns - 1);
    }
}

static void run_case(const char *name, uint64_t seed, bool wild, size_t waiting_max,
                     uint32_t rows_n)
{
    struct as_configuration c;
    struct as_timeline_index index;
    write_trace(seed, wild);
    make_index(name, waiting_max, &c, &index);
    evaluate_plainly(&c);
    compare_all(&index, rows_n);
    compare_records(&index);
    as_timeline_index_close(&index);
    as_configuration_fini(&c);
}

static void test_codes(void **state)
{
    (void)state;
    run_case("states", 1, false, 0, THREADS_N);
    run_case("states", 2, false, 700, THREADS_N); /* blocks of few items */
    run_case("mpi-routine", 3, false, 0, THREADS_N);
}

/* Values beyond the last code count as one. */
static void test_too_many_codes(void **state)
{
    struct as_configuration c;
    struct as_timeline_index index;
    (void)state;
    write_trace(4, true);
    make_index("states", 0, &c, &index);
    evaluate_plainly(&c);
    assert_int_equal(index.head->codes_n, AS_TIMELINE_CODES_MAX);
    compare_all(&index, THREADS_N);
    as_timeline_index_close(&index);
    as_configuration_fini(&c);
}

static void test_numbers(void **state)
{
    (void)state;
    run_case("useful-duration", 5, false, 0, THREADS_N);
    run_case("useful-duration", 6, false, 500, THREADS_N);
    run_case("parallelism", 7, false, 0, 1);
    run_case("bytes-in-transit", 8, false, 0, THREADS_N);
}

/* One pixel for less than a nanosecond has the piece that is there. */
static void test_within_a_nanosecond(void **state)
{
    const struct as_timeline_view v = {1000, 1003, 0, THREADS_N, 12};
    struct as_timeline_shares got[THREADS_N * 12];
    struct as_configuration c;
    struct as_timeline_index index;
    (void)state;
    write_trace(9, false);
    make_index("states", 0, &c, &index);
    evaluate_plainly(&c);
    assert_int_equal(as_timeline_draw_codes(&index, &v, AS_DRAW_BY_KIND, got), 0);
    for (uint32_t row = 0; row < THREADS_N; row++)
        for (uint32_t x = 0; x < v.pixels_n; x++)
            for (size_t i = 0; i < t.pieces_n; i++)
                if (t.piece[i].object == row && t.piece[i].begin_ns <= border_ns(&v, x) &&
                    t.piece[i].end_ns > border_ns(&v, x))
                    assert_true(index.code[got[row * 12 + x].code[0]] == t.piece[i].value);
    as_timeline_index_close(&index);
    as_configuration_fini(&c);
}

/* An index of another state of the trace, or of another window, is none. */
static void test_identity(void **state)
{
    struct as_configuration c;
    struct as_timeline_index index;
    struct as_timeline_identity of, other;
    struct as_error err = {0};
    (void)state;
    write_trace(10, false);
    make_index("states", 0, &c, &index);
    of = index.head->of;
    as_timeline_index_close(&index);
    assert_int_equal(
        as_timeline_identify(t.trace, as_view_of(ready_of("states")->text), &other, &err), 0);
    assert_memory_equal(&of, &other, sizeof of);
    assert_int_equal(as_timeline_identify(t.trace, as_view_of("another window"), &other, &err), 0);
    assert_int_equal(as_timeline_index_open(t.path, &other, &index, &err), AS_ERR_NOT_FOUND);
    write_trace(11, false);
    assert_int_equal(
        as_timeline_identify(t.trace, as_view_of(ready_of("states")->text), &other, &err), 0);
    assert_int_equal(as_timeline_index_open(t.path, &other, &index, &err), AS_ERR_NOT_FOUND);
    as_configuration_fini(&c);
}

/* A byte of the head or the sections changed, and every shorter file: refused, or read to an end.
 */
static void test_damage(void **state)
{
    struct as_configuration c;
    struct as_timeline_index index;
    struct as_error err = {0};
    struct stat st;
    (void)state;
    write_trace(12, false);
    make_index("states", 0, &c, &index);
    as_timeline_index_close(&index);
    as_configuration_fini(&c);
    assert_int_equal(stat(t.path, &st), 0);
    assert_int_equal(truncate(t.path, st.st_size - 1), 0);
    assert_int_equal(as_timeline_index_open(t.path, NULL, &index, &err), AS_ERR_CORRUPT);
    assert_int_equal(truncate(t.path, 100), 0);
    assert_int_equal(as_timeline_index_open(t.path, NULL, &index, &err), AS_ERR_CORRUPT);
    assert_int_equal(truncate(t.path, 0), 0);
    assert_int_equal(as_timeline_index_open(t.path, NULL, &index, &err), AS_ERR_CORRUPT);
    unlink(t.path);
    assert_int_equal(as_timeline_index_open(t.path, NULL, &index, &err), AS_ERR_NOT_FOUND);
}

static int begin_folder(void **state)
{
    const char *temporary = getenv("TMPDIR");
    (void)state;
    snprintf(t.folder, sizeof t.folder, "%s/assay-index-XXXXXX",
             temporary && strlen(temporary) < 40 ? temporary : "/tmp");
    if (!mkdtemp(t.folder))
        return -1;
    snprintf(t.trace, sizeof t.trace, "%s/x.prv", t.folder);
    snprintf(t.path, sizeof t.path, "%s/x.index", t.folder);
    return 0;
}

static int end_folder(void **state)
{
    (void)state;
    unlink(t.trace);
    unlink(t.path);
    free(t.piece);
    return rmdir(t.folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),    cmocka_unit_test(test_too_many_codes),
        cmocka_unit_test(test_numbers),  cmocka_unit_test(test_within_a_nanosecond),
        cmocka_unit_test(test_identity), cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, begin_folder, end_folder);
}
