/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time lines and tables as one SVG file, with legends; no script. The draw mode of a window
 * chooses the value of a pixel. Without one it is the value with most time, or the mean. Colours of
 * text follow the reader's scheme.
 */
#include "evaluate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "report/html.h"

#define LABELS_PX 150u
#define PIXELS_N  1000u
#define RIGHT_PX  20u
#define PARTS_PX  28u /* of a title, a scale, a legend */
#define CHAR_PX   7u
#define CODES_MAX 64u /* of a legend */
#define STYLE                                                                                      \
    "<style>svg{background:#fff}text{fill:#1b2027}"                                                \
    "@media (prefers-color-scheme:dark){svg{background:#191d23}text{fill:#e4e8ed}}</style>\n"
#define FIELD_MAX ((size_t)1 << 20)

/* By code, modulo their number. States of Paraver have the colours of the page of time lines. */
static const char *const palette[] = {
    "#d3d8dd", "#9ed3a5", "#eef0f3", "#e9a7a0", "#8fb8e8", "#c3a6df", "#f3b6d6", "#86cfd0",
    "#e8a9cb", "#d98880", "#bcc3cc", "#e6d06d", "#b9d27e", "#f0c07a", "#efdc94", "#c9b8a8"};

static const char *colour_of(double code)
{
    const size_t n = sizeof palette / sizeof *palette;
    return palette[(size_t)fmod(floor(fabs(code)), (double)n)];
}

/* A time line while it is drawn. */
struct svg_line {
    struct as_evaluating *it;
    const struct as_time_line *of;
    int64_t from_ns, to_ns;
    uint32_t pixels_n; /* at most one for each nanosecond */
    double *value;     /* rows x pixels; not-a-number: none */
    AS_VEC(double) code;
    double min, max;
    /* of the pixel that is being filled */
    uint32_t row, pixel;
    AS_VEC(struct as_drawn_value) seen;
    double last; /* value */
};

/* ---- Parts ----------------------------------------------------------------------------------- */

static unsigned row_height(uint32_t rows_n)
{
    const unsigned height = 480 / (rows_n ? rows_n : 1);
    return height < 2 ? 2 : height > 20 ? 20 : height;
}

static void svg_text(struct as_out *out, double x, double y, const char *anchor, const char *text)
{
    as_out_f(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    as_html_escape(out, text, strlen(text));
    as_out_z(out, "</text>\n");
}

static void svg_box(struct as_out *out, double x, double y, double width, double height,
                    const char *fill, double opacity)
{
    as_out_f(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"", x, y,
             width, height, fill);
    if (opacity < 1)
        as_out_f(out, " fill-opacity=\"%.3f\"", opacity);
    as_out_z(out, "/>\n");
}

/* The range of colours with its ends. */
static void svg_gradient(struct as_out *out, double y, double min, double max)
{
    struct as_str text = {0};
    for (unsigned i = 0; i < 40; i++)
        svg_box(out, LABELS_PX + 3.0 * i, y, 3, 12, "#d65c00", 0.12 + 0.88 * i / 39);
    as_str_appendf(&text, "%g to %g", min, max);
    svg_text(out, LABELS_PX + 128, y + 10, "start", as_str_z(&text));
    as_str_fini(&text);
}

static double opacity_of(double value, double min, double max)
{
    return max > min ? 0.12 + 0.88 * (value - min) / (max - min) : 1;
}

/* Labels of objects beside their rows, as many as there is place for. */
static void svg_labels(struct as_evaluating *it, enum as_object_level level, uint32_t rows_n,
                       double top)
{
    const unsigned height = row_height(rows_n), every = (12 + height - 1) / height;
    struct as_str name = {0};
    for (uint32_t row = 0; row < rows_n; row += every) {
        as_str_clear(&name);
        as_evaluated_object(&it->trace, level, row, &name);
        svg_text(it->drawing, LABELS_PX - 6, top + row * height + (height > 12 ? height : 12) - 3,
                 "end", as_str_z(&name));
    }
    as_str_fini(&name);
}

/* ---- Pixels of a time line ------------------------------------------------------------------- */

static int64_t svg_pixel_ns(const struct svg_line *l, uint32_t pixel)
{
    return l->from_ns + (int64_t)((__int128)(l->to_ns - l->from_ns) * pixel / l->pixels_n);
}

/* Writes the value of the pixel that was filled, by the draw mode of the window. */
static void end_pixel(struct svg_line *l)
{
    const struct as_window *window = l->of->window;
    const enum as_draw_mode mode = window->draw_mode ? window->draw_mode
                                   : window->is_code ? AS_DRAW_MODE
                                                     : AS_DRAW_AVERAGE;
    const uint64_t seed = as_draw_mode_seed(l->row, svg_pixel_ns(l, l->pixel));
    const double value = as_draw_mode_value(mode, l->seen.at, l->seen.n, l->last, seed);
    l->seen.n = 0;
    l->value[(size_t)l->row * l->pixels_n + l->pixel] = value;
    if (isnan(value))
        return;
    l->min = value < l->min ? value : l->min;
    l->max = value > l->max ? value : l->max;
}

static int add_to_pixel(struct svg_line *l, double value, int64_t ns)
{
    l->last = value;
    for (size_t i = 0; l->of->window->is_code && i < l->seen.n; i++)
        if (l->seen.at[i].value == value) {
            l->seen.at[i].ns += ns;
            return 0;
        }
    return as_vec_push(&l->seen, (struct as_drawn_value){value, ns});
}

/* Pieces of an object come in order of time. */
static int add_svg_piece(struct svg_line *l, uint32_t row, const struct as_evaluated_piece *piece)
{
    int64_t begin_ns = piece->begin_ns;
    if (row != l->row) {
        end_pixel(l);
        l->row = row;
        l->pixel = 0;
    }
    while (begin_ns < piece->end_ns) {
        const int64_t border_ns = svg_pixel_ns(l, l->pixel + 1);
        const int64_t end_ns = piece->end_ns < border_ns ? piece->end_ns : border_ns;
        if (end_ns > begin_ns)
            AS_TRY(add_to_pixel(l, as_quantity_double(piece->value), end_ns - begin_ns));
        begin_ns = begin_ns > end_ns ? begin_ns : end_ns;
        if (begin_ns < border_ns || l->pixel + 1 == l->pixels_n)
            break;
        end_pixel(l);
        l->pixel++;
    }
    return 0;
}

/* The place of a code in the legend; the last place is that of all others. */
static size_t svg_code(struct svg_line *l, double value)
{
    for (size_t i = 0; i < l->code.n; i++)
        if (l->code.at[i] == value)
            return i;
    if (l->code.n < CODES_MAX)
        l->code.at[l->code.n++] = value; /* there is room for all */
    return l->code.n - 1;
}

static void draw_run(struct svg_line *l, uint32_t row, uint32_t from, uint32_t to, double top)
{
    const unsigned height = row_height(l->of->objects_n);
    const bool is_code = l->of->window->is_code;
    const double value = l->value[(size_t)row * l->pixels_n + from];
    const double wide = (double)PIXELS_N / l->pixels_n;
    const char *fill = "#d65c00";
    if (isnan(value) || (!is_code && value == 0))
        return;
    if (is_code) {
        const size_t code = svg_code(l, value);
        fill = colour_of(l->code.at[code]);
    }
    svg_box(l->it->drawing, LABELS_PX + from * wide, top + row * height, (to - from) * wide,
            height > 4 ? height - 1 : height, fill,
            is_code ? 1 : opacity_of(value, l->min, l->max));
}

/* Neighbours of one value are one box. */
static void draw_rows(struct svg_line *l, double top)
{
    for (uint32_t row = 0; row < l->of->objects_n; row++) {
        const double *value = l->value + (size_t)row * l->pixels_n;
        for (uint32_t from = 0, to; from < l->pixels_n; from = to) {
            for (to = from + 1; to < l->pixels_n && value[to] == value[from]; to++)
                ;
            draw_run(l, row, from, to, top);
        }
    }
}

static double draw_code_legend(struct svg_line *l, double y)
{
    struct as_str label = {0};
    double x = LABELS_PX;
    for (size_t i = 0; i < l->code.n; i++) {
        const char *known =
            as_evaluated_label(&l->it->trace, l->of->window, as_real(l->code.at[i]));
        as_str_clear(&label);
        if (i + 1 == CODES_MAX)
            as_str_appendz(&label, "others");
        else if (known)
            as_str_appendz(&label, known);
        else
            as_quantity_write(&label, as_real(l->code.at[i]));
        const double width = 30.0 + (double)(label.n * CHAR_PX);
        if (x > LABELS_PX && x + width > LABELS_PX + PIXELS_N) {
            x = LABELS_PX;
            y += 18;
        }
        svg_box(l->it->drawing, x, y, 12, 12, colour_of(l->code.at[i]), 1);
        svg_text(l->it->drawing, x + 16, y + 10, "start", as_str_z(&label));
        x += width;
    }
    as_str_fini(&label);
    return y + PARTS_PX;
}

static void draw_scale(struct svg_line *l, double y)
{
    struct as_str text = {0};
    for (unsigned i = 0; i <= 5; i++) {
        const double ns = (double)l->from_ns + (double)(l->to_ns - l->from_ns) * i / 5;
        as_str_clear(&text);
        as_str_appendf(&text, "%.6g s", ns / 1e9);
        svg_box(l->it->drawing, LABELS_PX + PIXELS_N * i / 5.0, y + 14, 1, 5, "#8b949e", 1);
        svg_text(l->it->drawing, LABELS_PX + PIXELS_N * i / 5.0, y + 11,
                 i == 0   ? "start"
                 : i == 5 ? "end"
                          : "middle",
                 as_str_z(&text));
    }
    as_str_fini(&text);
}

/* Draws a time line below `y`; returns the end of it. */
static double draw_line(struct svg_line *l, double y)
{
    struct as_out *out = l->it->drawing;
    if (!l->of->window->is_code && l->min > 0)
        l->min = 0;
    svg_text(out, 6, y + 18, "start", l->of->window->name);
    draw_scale(l, y + PARTS_PX);
    y += 2 * PARTS_PX - 6;
    svg_labels(l->it, l->of->window->level, l->of->objects_n, y);
    draw_rows(l, y);
    y += l->of->objects_n * row_height(l->of->objects_n) + 8.0;
    if (l->of->window->is_code)
        return draw_code_legend(l, y);
    svg_gradient(out, y, l->min, l->max);
    return y + PARTS_PX;
}

/* Takes the pieces of a time line off the store. */
static int fill_line(struct svg_line *l, int64_t number, const void **record, struct as_error *err)
{
    const size_t n = (size_t)l->of->objects_n * l->pixels_n;
    for (size_t i = 0; i < n; i++)
        l->value[i] = NAN;
    l->min = INFINITY;
    l->max = -INFINITY;
    while (*record) {
        const struct as_evaluated_piece *piece = *record;
        if (piece->place >> 32 != number)
            break;
        if (add_svg_piece(l, (uint32_t)piece->place, piece) < 0)
            return as_error_nomem(err, "a picture");
        AS_TRY(as_ordered_next(l->it->pieces, record, err));
    }
    end_pixel(l);
    return 0;
}

static int draw_time_line(struct as_evaluating *it, const struct as_time_line *of, int64_t number,
                          const void **record, double *y, struct as_error *err)
{
    const int64_t end_ns = as_evaluator_end_ns(it->evaluation);
    struct svg_line l = {.it = it,
                         .of = of,
                         .from_ns = it->from_ns,
                         .to_ns = it->to_ns < end_ns ? it->to_ns : end_ns};
    const int64_t span_ns = l.to_ns > l.from_ns ? l.to_ns - l.from_ns : 1;
    l.pixels_n = span_ns < PIXELS_N ? (uint32_t)span_ns : PIXELS_N;
    if ((size_t)of->objects_n * PIXELS_N > FIELD_MAX)
        return as_error_set(err, AS_ERR_LIMIT,
                            "--format svg: %u rows are too many; set a level with fewer objects",
                            of->objects_n);
    l.value = as_calloc((size_t)of->objects_n * l.pixels_n + 1, sizeof *l.value);
    if (as_vec_reserve(&l.code, CODES_MAX) < 0) {
        as_free(l.value);
        return as_error_nomem(err, "a picture");
    }
    int rc = l.value ? fill_line(&l, number, record, err) : as_error_nomem(err, "a picture");
    if (rc == 0)
        *y = draw_line(&l, *y);
    as_free(l.value);
    as_vec_fini(&l.code);
    as_vec_fini(&l.seen);
    return rc;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Labels of columns under the table, turned, as many as there is place for. */
static void draw_columns(struct as_evaluating *it, const struct as_histogram_result *table,
                         int64_t first, double width, double y)
{
    const int64_t n = table->columns.columns_n - first;
    const int64_t every = width >= 12 ? 1 : (int64_t)(12 / width) + 1;
    struct as_str label = {0};
    for (int64_t c = 0; c < n; c += every) {
        const double x = LABELS_PX + (double)c * width + width / 2;
        as_str_clear(&label);
        as_evaluate_column(it, table, first + c, &label);
        as_out_f(it->drawing, "<g transform=\"translate(%.1f %.1f) rotate(60)\">\n", x, y);
        svg_text(it->drawing, 0, 4, "start", as_str_z(&label));
        as_out_z(it->drawing, "</g>\n");
    }
    as_str_fini(&label);
}

/* Columns from the first to the last that has a cell. */
static struct as_histogram_result used_columns(const struct as_histogram_result *table,
                                               int64_t *first)
{
    struct as_histogram_result used = *table;
    int64_t end = 0;
    *first = table->columns.columns_n;
    as_vec_foreach (&table->cell, cell) {
        *first = cell->column < *first ? cell->column : *first;
        end = cell->column + 1 > end ? cell->column + 1 : end;
    }
    used.columns.columns_n = end;
    *first = end ? *first : 0;
    return used;
}

static double draw_table(struct as_evaluating *it, const struct as_histogram_result *table,
                         double y)
{
    struct as_out *out = it->drawing;
    const unsigned height = row_height(table->rows_n);
    double min = 0, max = 0;
    int64_t first;
    const struct as_histogram_result used = used_columns(table, &first);
    const int64_t n = used.columns.columns_n - first;
    const double width = n ? fmin(60, (double)PIXELS_N / (double)n) : 60;
    as_vec_foreach (&table->cell, cell) {
        const double value =
            as_quantity_double(as_histogram_cell_value(it->evaluation, table, cell));
        min = value < min ? value : min;
        max = value > max ? value : max;
    }
    struct as_str title = {0};
    as_str_appendz(&title, table->table->name);
    if (strcmp(table->table->name, table->table->statistic->name) != 0)
        as_str_appendf(&title, ": %s", table->table->statistic->name);
    svg_text(out, 6, y + 18, "start", as_str_z(&title));
    as_str_fini(&title);
    y += PARTS_PX;
    svg_labels(it, table->level, table->rows_n, y);
    as_vec_foreach (&table->cell, cell) {
        const double value =
            as_quantity_double(as_histogram_cell_value(it->evaluation, table, cell));
        if (cell->plane == 0 && value != 0)
            svg_box(out, LABELS_PX + (double)(cell->column - first) * width, y + cell->row * height,
                    width > 3 ? width - 1 : width, height > 4 ? height - 1 : height, "#d65c00",
                    opacity_of(value, min, max));
    }
    y += table->rows_n * height + 8.0;
    draw_columns(it, &used, first, width, y);
    svg_gradient(out, y + 130, min, max);
    return y + 130 + PARTS_PX;
}

/* ---- All ------------------------------------------------------------------------------------- */

static int draw_all(struct as_evaluating *it, double *y, struct as_error *err)
{
    const void *record = NULL;
    size_t lines_n, tables_n;
    const struct as_time_line *line = as_evaluator_time_lines(it->evaluation, &lines_n);
    const struct as_histogram_result *table = as_evaluator_tables(it->evaluation, &tables_n);
    AS_TRY(as_ordered_next(it->pieces, &record, err));
    for (size_t i = 0; i < lines_n; i++)
        AS_TRY(draw_time_line(it, &line[i], (int64_t)i, &record, y, err));
    for (size_t i = 0; i < tables_n; i++)
        *y = draw_table(it, &table[i], *y);
    return 0;
}

/* The height stands in front, and is known at the end. */
int as_evaluate_svg(struct as_evaluating *it, struct as_error *err)
{
    struct as_out *out = &it->cli->out, body;
    struct as_str text = {0};
    double y = 6;
    as_out_init_str(&body, &text);
    it->drawing = &body;
    int rc = draw_all(it, &y, err);
    if (rc == 0)
        rc = as_out_flush(&body, err);
    if (rc == 0) {
        const unsigned width = LABELS_PX + PIXELS_N + RIGHT_PX;
        as_out_f(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\"",
                 width, y);
        as_out_f(out, " viewBox=\"0 0 %u %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n",
                 width, y);
        as_out_z(out, STYLE);
        as_out_write(out, as_str_z(&text), text.n);
        as_out_z(out, "</svg>\n");
    }
    it->drawing = NULL;
    as_out_fini(&body);
    as_str_fini(&text);
    return rc;
}
