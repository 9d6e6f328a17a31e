/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVG of a graph with the layout of layout.h: one file without scripts, with colours for light and
 * dark schemes. Boxes are sized by their text in a monospaced font of fixed advance.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "report/graph.h"
#include "report/layout.h"

#define CHAR_PX   7.25 /* advance of the 12 px monospaced font, rounded up */
#define LINE_PX   16.0
#define PAD_PX    8.0
#define MARGIN_PX 20.0
#define TITLE_PX  28.0
#define CURVE_PX  10.0 /* radius of rounded edge corners */

static void escape_svg(struct as_out *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '<')
            as_out_z(out, "&lt;");
        else if (c == '>')
            as_out_z(out, "&gt;");
        else if (c == '&')
            as_out_z(out, "&amp;");
        else if (c == '"')
            as_out_z(out, "&quot;");
        else if (c < 0x20 && c != '\n' && c != '\t')
            as_out_z(out, "?"); /* not allowed in XML 1.0 */
        else
            as_out_c(out, (char)c);
    }
}

/* Returns the columns of a UTF-8 text, one per character. */
static size_t columns(const char *text, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static void measure(const char *text, struct as_layout_node *node)
{
    size_t widest = 0, lines = 0;
    for (const char *p = text;; p++) {
        size_t n = strcspn(p, "\n");
        size_t wide = columns(p, n);
        widest = wide > widest ? wide : widest;
        lines++;
        p += n;
        if (!*p)
            break;
    }
    node->width = (double)widest * CHAR_PX + 2 * PAD_PX;
    node->height = (double)lines * LINE_PX + 2 * PAD_PX;
}

static void head(const struct as_graph_picture *picture, const struct as_layout *layout,
                 struct as_out *out)
{
    double width = layout->width + 2 * MARGIN_PX;
    double height = layout->height + 2 * MARGIN_PX + TITLE_PX;
    double title = (double)columns(picture->title, strlen(picture->title)) * 9 + 2 * MARGIN_PX;
    width = title > width ? title : width;
    as_out_f(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" "
             "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" aria-labelledby=\"title\">\n",
             width, height, width, height);
    as_out_z(out, "<title id=\"title\">");
    escape_svg(out, picture->title, strlen(picture->title));
    as_out_z(out,
             "</title>\n<style>\n"
             ":root { --paper: #ffffff; --ink: #1c2024; --faint: #8a929b; --box: #f6f7f8;\n"
             "  --d1: #e6f0fb; --d2: #d3e6f8; --d3: #bcd8f3; --d4: #a3c8ed;\n"
             "  --yes: #1d7a38; --no: #b3402c; --table: #6f46a6; color-scheme: light dark; }\n"
             "@media (prefers-color-scheme: dark) { :root { --paper: #15181c;\n"
             "  --ink: #e4e7ea; --faint: #7e8791; --box: #22272d; --d1: #1d3044;\n"
             "  --d2: #204060; --d3: #24507a; --d4: #2a6094; --yes: #5cc27a;\n"
             "  --no: #ec7d68; --table: #b493e6; } }\n"
             "text { font: 12px ui-monospace, monospace; fill: var(--ink); white-space: pre; }\n"
             ".title { font: 600 15px system-ui, sans-serif; }\n"
             ".head { font-weight: 700; }\n"
             ".paper { fill: var(--paper); }\n"
             ".box { fill: var(--box); stroke: var(--faint); }\n"
             ".d1 { fill: var(--d1); } .d2 { fill: var(--d2); } .d3 { fill: var(--d3); }\n"
             ".d4 { fill: var(--d4); }\n"
             ".marked { stroke: var(--no); stroke-dasharray: 5 3; }\n"
             ".edge { fill: none; stroke: var(--faint); stroke-width: 1.4; }\n"
             ".tip { fill: var(--faint); }\n"
             ".yes { stroke: var(--yes); } .tip.yes { fill: var(--yes); stroke: none; }\n"
             ".no { stroke: var(--no); } .tip.no { fill: var(--no); stroke: none; }\n"
             ".table { stroke: var(--table); }\n"
             ".tip.table { fill: var(--table); stroke: none; }\n"
             ".exception { stroke-dasharray: 2 4; }\n"
             ".back { stroke-width: 2.4; }\n"
             "</style>\n");
    as_out_f(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
    as_out_f(out, "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">", MARGIN_PX, MARGIN_PX);
    escape_svg(out, picture->title, strlen(picture->title));
    as_out_z(out, "</text>\n");
    as_out_f(out, "<g transform=\"translate(%.0f %.0f)\">\n", MARGIN_PX, MARGIN_PX + TITLE_PX);
}

static const char *kind_class(uint8_t kind)
{
    static const char *const name[] = {[AS_GRAPH_PLAIN] = "",
                                       [AS_GRAPH_YES] = " yes",
                                       [AS_GRAPH_NO] = " no",
                                       [AS_GRAPH_TABLE] = " table",
                                       [AS_GRAPH_EXCEPTION] = " exception"};
    _Static_assert(sizeof name / sizeof *name == AS_GRAPH_EXCEPTION + 1,
                   "an entry for each of the enumeration");
    assert((unsigned)kind < sizeof name / sizeof *name);
    return name[kind];
}

/* Returns the point at distance CURVE_PX, or half of the distance, from `a` towards `b`. */
static struct as_layout_point towards(struct as_layout_point a, struct as_layout_point b)
{
    double x = b.x - a.x, y = b.y - a.y, length = sqrt(x * x + y * y);
    double part = length > 0 ? (CURVE_PX < length / 2 ? CURVE_PX / length : 0.5) : 0;
    return (struct as_layout_point){a.x + x * part, a.y + y * part};
}

static void draw_edge(const struct as_graph_arrow *arrow, const struct as_layout_edge *edge,
                      const struct as_layout_point *point, struct as_out *out)
{
    uint32_t n = edge->points;
    struct as_layout_point end = point[n - 1], before = point[n - 2];
    as_out_f(out, "<path class=\"edge%s%s\" d=\"M%.1f %.1f", kind_class(arrow->kind),
             arrow->back ? " back" : "", point[0].x, point[0].y);
    for (uint32_t i = 1; i + 1 < n; i++) { /* corners become curves */
        struct as_layout_point in = towards(point[i], point[i - 1]);
        struct as_layout_point on = towards(point[i], point[i + 1]);
        as_out_f(out, "L%.1f %.1fQ%.1f %.1f %.1f %.1f", in.x, in.y, point[i].x, point[i].y, on.x,
                 on.y);
    }
    as_out_f(out, "L%.1f %.1f\"/>\n", end.x, end.y);
    double x = end.x - before.x, y = end.y - before.y, length = sqrt(x * x + y * y);
    if (length == 0)
        return;
    x /= length;
    y /= length;
    as_out_f(out, "<path class=\"tip%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>\n",
             kind_class(arrow->kind), end.x, end.y, end.x - 8 * x - 4 * y, end.y - 8 * y + 4 * x,
             end.x - 8 * x + 4 * y, end.y - 8 * y - 4 * x);
}

static void draw_box(const struct as_graph_box *box, const struct as_layout_node *node,
                     struct as_out *out)
{
    double left = node->x - node->width / 2, top = node->y - node->height / 2;
    char depth[8] = "";
    if (box->depth) {
        depth[0] = ' ';
        depth[1] = 'd';
        depth[2] = (char)('0' + (box->depth < 4 ? box->depth : 4));
    }
    as_out_z(out, "<g id=\"");
    escape_svg(out, box->id, strlen(box->id));
    as_out_z(out, "\"><title>");
    escape_svg(out, box->title, strlen(box->title));
    as_out_f(out,
             "</title><rect class=\"box%s%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
             "height=\"%.1f\" rx=\"4\"/>\n",
             depth, box->marked ? " marked" : "", left, top, node->width, node->height);
    double y = top + PAD_PX + 12;
    for (const char *p = box->text;; p++) {
        size_t n = strcspn(p, "\n");
        as_out_f(out, "<text%s x=\"%.1f\" y=\"%.1f\">", p == box->text ? " class=\"head\"" : "",
                 left + PAD_PX, y);
        escape_svg(out, p, n);
        as_out_z(out, "</text>\n");
        y += LINE_PX;
        p += n;
        if (!*p)
            break;
    }
    as_out_z(out, "</g>\n");
}

static int draw_picture(const struct as_graph_picture *picture, struct as_arena *arena,
                        struct as_out *out, struct as_error *err)
{
    struct as_layout layout = {
        .nodes = (uint32_t)picture->boxes,
        .edges = (uint32_t)picture->arrows,
        .node = as_arena_array(arena, struct as_layout_node, picture->boxes + 1),
        .edge = as_arena_array(arena, struct as_layout_edge, picture->arrows + 1)};
    if (!layout.node || !layout.edge)
        return as_error_nomem(err, "the drawing of a graph");
    for (size_t i = 0; i < picture->boxes; i++)
        measure(picture->box[i].text, &layout.node[i]);
    for (size_t i = 0; i < picture->arrows; i++)
        layout.edge[i] =
            (struct as_layout_edge){.from = picture->arrow[i].from, .to = picture->arrow[i].to};
    AS_TRY(as_layout_make(&layout, picture->entry, arena, err));
    head(picture, &layout, out);
    for (size_t i = 0; i < picture->arrows; i++)
        draw_edge(&picture->arrow[i], &layout.edge[i], layout.point + layout.edge[i].first, out);
    for (size_t i = 0; i < picture->boxes; i++)
        draw_box(&picture->box[i], &layout.node[i], out);
    as_out_z(out, "</g>\n</svg>\n");
    return 0;
}

int as_graph_svg(const struct as_graph_picture *picture, struct as_out *out, struct as_error *err)
{
    struct as_arena arena;
    as_arena_init(&arena);
    int rc = draw_picture(picture, &arena, out, err);
    as_arena_fini(&arena);
    return rc;
}
