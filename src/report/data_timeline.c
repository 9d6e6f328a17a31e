/* SPDX-License-Identifier: Apache-2.0 */
/* The time line of a loop, a table of the experiment, as a picture: a bar for each instruction. */
#include "report/data.h"

#include "base/error.h"

#define ROW_PX   16
#define LEFT_PX  330 /* for the words of an instruction */
#define BARS_PX  620.0
#define WORD_N   40
#define CYCLE_PX 14.0 /* at most */

struct bars {
    double cycle_px;
    int row;
};

static const char head_svg[] =
    "<style>:root { --paper: #ffffff; --ink: #1c2024; --faint: #8a929b; --wait: #d3e6f8;"
    " --port: #f2c48a; --run: #2a6db0; color-scheme: light dark; }"
    " @media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #e4e7ea;"
    " --faint: #7e8791; --wait: #204060; --port: #8a5a1e; --run: #63a8ec; } }"
    " text { font: 11px ui-monospace, monospace; fill: var(--ink); white-space: pre; }"
    " .paper { fill: var(--paper); } .wait { fill: var(--wait); } .port { fill: var(--port); }"
    " .run { fill: var(--run); } .done { stroke: var(--faint); }"
    " .grid { stroke: var(--faint); stroke-width: 0.4; }</style>\n";

static void put_escaped(struct as_out *out, const char *text)
{
    for (size_t i = 0; text && text[i] && i < WORD_N; i++) {
        if (text[i] == '<')
            as_out_z(out, "&lt;");
        else if (text[i] == '&')
            as_out_z(out, "&amp;");
        else
            as_out_c(out, text[i]);
    }
}

static void put_bar(const struct bars *b, struct as_out *out, const char *name, double from,
                    double to)
{
    if (to > from)
        as_out_f(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                 name, LEFT_PX + from * b->cycle_px, b->row * ROW_PX + 3, (to - from) * b->cycle_px,
                 ROW_PX - 6);
}

static void put_row(const struct bars *b, struct as_out *out, struct assay_rows *rows)
{
    const double ready = assay_rows_real(rows, 3), begins = assay_rows_real(rows, 4);
    const double done = assay_rows_real(rows, 5), retired = assay_rows_real(rows, 6);
    const int y = b->row * ROW_PX;

    as_out_f(out, "<text x=\"4\" y=\"%d\">%2lld  ", y + 12, (long long)assay_rows_integer(rows, 0));
    put_escaped(out, assay_rows_text(rows, 1));
    as_out_z(out, "</text>\n");
    put_bar(b, out, "wait", assay_rows_real(rows, 2), ready);
    put_bar(b, out, "port", ready, begins);
    put_bar(b, out, "run", begins, done);
    if (retired > done)
        as_out_f(out, "<line class=\"done\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>\n",
                 LEFT_PX + done * b->cycle_px, y + ROW_PX / 2, LEFT_PX + retired * b->cycle_px,
                 y + ROW_PX / 2);
}

static void put_head(const struct bars *b, struct as_out *out, int rows, double cycles)
{
    const double width = LEFT_PX + cycles * b->cycle_px + 8;

    as_out_f(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" height=\"%d\""
             " viewBox=\"0 0 %.0f %d\"><title>Time line</title>\n",
             width, rows * ROW_PX + 20, width, rows * ROW_PX + 20);
    as_out_z(out, head_svg);
    as_out_f(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%d\"/>\n", width,
             rows * ROW_PX + 20);
    for (int cycle = 0; cycle <= (int)cycles; cycle += cycles > 100 ? 20 : cycles > 40 ? 10 : 5) {
        const double x = LEFT_PX + cycle * b->cycle_px;

        as_out_f(out,
                 "<line class=\"grid\" x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%d\"/>"
                 "<text x=\"%.1f\" y=\"%d\">%d</text>\n",
                 x, x, rows * ROW_PX, x, rows * ROW_PX + 14, cycle);
    }
}

static const char times_sql[] =
    "SELECT json_extract(r.value, '$[0]'), json_extract(r.value, '$[1]'),"
    " json_extract(r.value, '$[2]'), json_extract(r.value, '$[3]'), json_extract(r.value, '$[4]'),"
    " json_extract(r.value, '$[5]'), json_extract(r.value, '$[6]'), count(*) OVER (),"
    " max(json_extract(r.value, '$[6]')) OVER ()"
    " FROM detail d, json_each(d.cells) r WHERE d.detail_id = ?1 ORDER BY r.key LIMIT 400";

int as_data_timeline(struct as_document *document, int64_t detail_id, struct assay_error *err)
{
    struct as_str svg = {0};
    struct as_out out;
    struct bars b = {0};
    struct assay_rows *rows;
    int rc;

    AS_TRY(assay_rows_open(document->experiment, times_sql, &rows, err));
    assay_rows_bind_integer(rows, 1, detail_id);
    as_out_init_str(&out, &svg);
    while ((rc = assay_rows_next(rows, err)) > 0) {
        const double cycles = assay_rows_real(rows, 8);

        if (!b.row && cycles > 0 && cycles < 1e6) {
            b.cycle_px = BARS_PX / cycles < CYCLE_PX ? BARS_PX / cycles : CYCLE_PX;
            put_head(&b, &out, (int)assay_rows_integer(rows, 7), cycles);
        }
        if (b.cycle_px > 0)
            put_row(&b, &out, rows);
        b.row++;
    }
    assay_rows_close(&rows);
    if (b.cycle_px > 0)
        as_out_z(&out, "</svg>\n");
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    as_json_key(&document->json, "svg");
    if (rc == 0 && svg.n)
        as_json_string(&document->json, as_str_z(&svg));
    else
        as_json_null(&document->json);
    as_str_fini(&svg);
    return rc;
}
