/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a roofline: logarithmic axes, roofs, points with their intervals, a legend. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "roofline/roofline.h"

#define WIDTH_PX  1000.0
#define HEIGHT_PX 620.0
#define LEFT_PX   70.0
#define RIGHT_PX  300.0
#define TOP_PX    50.0
#define BOTTOM_PX 60.0
#define LEGEND_PX 22.0
enum { LABELS_MAX = 20 }; /* points with a number and a line in the legend */

struct roof_frame {
    double x_low, x_high, y_low, y_high; /* powers of ten */
};

static double x_of(const struct roof_frame *f, double intensity)
{
    const double part = (log10(intensity) - f->x_low) / (f->x_high - f->x_low);
    return LEFT_PX + part * (WIDTH_PX - LEFT_PX - RIGHT_PX);
}

static double y_of(const struct roof_frame *f, double flop_s)
{
    const double part = (log10(flop_s) - f->y_low) / (f->y_high - f->y_low);
    return HEIGHT_PX - BOTTOM_PX - part * (HEIGHT_PX - TOP_PX - BOTTOM_PX);
}

static bool is_drawn(const struct as_roof_point *point)
{
    return point->flops > 0 && point->intensity > 0 && point->flop_s > 0 && isfinite(point->flop_s);
}

/* Copies at most `to_b` - 1 bytes, and cuts only between characters (UTF-8). */
static void copy_short(char *to, size_t to_b, const char *text)
{
    size_t n = strlen(text);
    if (n >= to_b)
        for (n = to_b - 1; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80; n--)
            ;
    memcpy(to, text, n);
    to[n] = 0;
}

static void widen_range(double *low, double *high, double value)
{
    *low = value < *low ? value : *low;
    *high = value > *high ? value : *high;
}

/* Returns the only point of `in` with the kind and name of `like`, or NULL. */
static const struct as_roof_point *find_partner(const struct as_roofline *in,
                                                const struct as_roof_point *like)
{
    const struct as_roof_point *found = NULL;
    for (size_t i = 0; i < in->point_n; i++) {
        const struct as_roof_point *it = &in->point[i];
        if (it->kind != like->kind ||
            (it->kind != AS_OBJECT_RUN && strcmp(it->name, like->name) != 0))
            continue;
        if (found)
            return NULL;
        found = it;
    }
    return found;
}

/* Returns the point that an arrow to `point` starts at, or NULL. */
static const struct as_roof_point *start_of_arrow(const struct as_roofline *roofline,
                                                  const struct as_roofline *before,
                                                  const struct as_roof_point *point)
{
    const struct as_roof_point *from = before ? find_partner(before, point) : NULL;
    return from && is_drawn(from) && find_partner(roofline, point) ? from : NULL;
}

static bool is_shown(const struct as_roofline *it, const struct as_roof_point *point)
{
    return is_drawn(point) && !as_roofline_repeats(it, point);
}

/* Widens the frame for a point; NULL: nothing. */
static void widen_frame(struct roof_frame *f, const struct as_roof_point *point)
{
    if (!point || !is_drawn(point))
        return;
    widen_range(&f->x_low, &f->x_high, floor(log10(point->intensity) * 2 - 0.2) / 2);
    widen_range(&f->x_low, &f->x_high, ceil(log10(point->intensity) * 2 + 0.2) / 2);
    widen_range(&f->y_low, &f->y_high, log10(point->flop_s));
}

static struct roof_frame frame_of(const struct as_roofline *it, const struct as_roofline *before)
{
    struct roof_frame f = {-1, 1, INFINITY, -INFINITY};
    for (size_t i = 0; i < it->point_n; i++) {
        widen_frame(&f, &it->point[i]);
        if (is_shown(it, &it->point[i]))
            widen_frame(&f, start_of_arrow(it, before, &it->point[i]));
    }
    for (size_t i = 0; i < it->all_n + it->one_n; i++) {
        const struct as_roof *roof = i < it->all_n ? &it->all[i] : &it->one[i - it->all_n];
        if (!roof->is_bandwidth)
            widen_range(&f.y_low, &f.y_high, log10(roof->value));
    }
    if (!isfinite(f.y_low))
        f.y_low = f.y_high = 9;
    return (struct roof_frame){f.x_low, f.x_high, floor(f.y_low - 0.2), ceil(f.y_high + 0.1)};
}

static void escape_text(struct as_str *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            as_str_appendz(out, "&lt;");
        else if (*text == '>')
            as_str_appendz(out, "&gt;");
        else if (*text == '&')
            as_str_appendz(out, "&amp;");
        else if ((unsigned char)*text < 0x20)
            as_str_appendz(out, "?");
        else
            as_str_append(out, text, 1);
    }
}

static void draw_head(const struct as_roofline *it, struct as_str *out)
{
    as_str_appendf(out,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%.0f\" "
                   "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" aria-labelledby=\"title\">\n",
                   WIDTH_PX, HEIGHT_PX, WIDTH_PX, HEIGHT_PX);
    as_str_appendz(out, "<title id=\"title\">Roofline of ");
    escape_text(out, it->title);
    as_str_appendz(
        out, "</title>\n<style>\n"
             ":root { --paper: #ffffff; --ink: #1b2027; --faint: #57606b; --grid: #e6e9ed;\n"
             "  --scalar: #a51d16; --part: #7a4b00; --full: #0b57b0; color-scheme: light dark; }\n"
             "@media (prefers-color-scheme: dark) { :root { --paper: #191d23; --ink: #e4e8ed;\n"
             "  --faint: #a3adb8; --grid: #2a3038; --scalar: #ff9a90; --part: #ecc06a;\n"
             "  --full: #86b9f7; } }\n"
             "text { font: 12px system-ui, sans-serif; fill: var(--ink); }\n"
             ".paper { fill: var(--paper); } .title { font-weight: 600; font-size: 15px; }\n"
             ".faint { fill: var(--faint); } .grid { stroke: var(--grid); }\n"
             ".roof { stroke: var(--ink); stroke-width: 1.5; fill: none; }\n"
             ".huge { stroke: var(--faint); stroke-dasharray: 2 3; stroke-width: 1; }\n"
             ".one { stroke: var(--faint); stroke-dasharray: 6 4; stroke-width: 1; }\n"
             ".scalar { stroke: var(--scalar); fill: var(--scalar); }\n"
             ".part { stroke: var(--part); fill: var(--part); }\n"
             ".full { stroke: var(--full); fill: var(--full); }\n"
             "circle, .mark { fill-opacity: 0.35; stroke-width: 1.5; }\n"
             ".arrow { stroke: var(--ink); stroke-width: 1.5; fill: none; }\n"
             ".head { fill: var(--ink); }\n"
             "</style>\n");
    as_str_appendf(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n", WIDTH_PX,
                   HEIGHT_PX);
    as_str_appendf(out, "<text class=\"title\" x=\"%.0f\" y=\"26\">Roofline of ", LEFT_PX);
    char title[64];
    copy_short(title, sizeof title, it->title);
    escape_text(out, title);
    as_str_appendz(out, "</text>\n");
}

static void draw_text(struct as_str *out, double x, double y, const char *anchor, const char *text)
{
    as_str_appendf(out, "<text class=\"faint\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                   anchor);
    escape_text(out, text);
    as_str_appendz(out, "</text>\n");
}

static void draw_axes(const struct roof_frame *f, struct as_str *out)
{
    char text[32];
    for (int e = (int)ceil(f->x_low); e <= f->x_high; e++) {
        const double x = x_of(f, pow(10, e));
        as_str_appendf(out, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", x, TOP_PX,
                       HEIGHT_PX - BOTTOM_PX);
        snprintf(text, sizeof text, "%g", pow(10, e));
        draw_text(out, x, HEIGHT_PX - BOTTOM_PX + 18, "middle", text);
    }
    for (int e = (int)f->y_low; e <= f->y_high; e++) {
        const double y = y_of(f, pow(10, e));
        as_str_appendf(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", LEFT_PX, y,
                       WIDTH_PX - RIGHT_PX);
        snprintf(text, sizeof text, "%g", pow(10, e - 9));
        draw_text(out, LEFT_PX - 8, y + 4, "end", text);
    }
    draw_text(out, (LEFT_PX + WIDTH_PX - RIGHT_PX) / 2, HEIGHT_PX - 16, "middle",
              "flops per byte between registers and L1");
    as_str_appendf(out,
                   "<text class=\"faint\" transform=\"translate(18 %.0f) rotate(-90)\" "
                   "text-anchor=\"middle\">GFLOP/s</text>\n",
                   HEIGHT_PX / 2);
}

/* ---- Roofs --------------------------------------------------------------------------------- */

static double highest_roof(const struct as_roof *roof, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        if (!roof[i].is_bandwidth && roof[i].value > max)
            max = roof[i].value;
    return max;
}

static double steepest_roof(const struct as_roof *roof, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        if (roof[i].is_bandwidth && roof[i].value > max)
            max = roof[i].value;
    return max;
}

/* Draws a roof. Its text is at the free end: at the start of slopes, at the end of peaks. */
static void draw_roof(const struct roof_frame *f, const struct as_roof *roof, double top,
                      double steepest, bool is_one, struct as_str *out)
{
    double from = pow(10, f->x_low), to = pow(10, f->x_high);
    char text[64];
    if (roof->is_bandwidth) {
        to = top > 0 && top / roof->value < to ? top / roof->value : to;
        from = pow(10, f->y_low) / roof->value > from ? pow(10, f->y_low) / roof->value : from;
    } else
        from = steepest > 0 && roof->value / steepest > from ? roof->value / steepest : from;
    if (from >= to)
        return;
    const double begin = roof->is_bandwidth ? roof->value * from : roof->value;
    const double end = roof->is_bandwidth ? roof->value * to : roof->value;
    as_str_appendf(out, "<path class=\"roof%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                   is_one          ? " one"
                   : roof->is_huge ? " huge"
                                   : "",
                   x_of(f, from), y_of(f, begin), x_of(f, to), y_of(f, end));
    if (is_one)
        return;
    snprintf(text, sizeof text, "%.31s %.4g %s", roof->name, roof->value / 1e9,
             roof->is_bandwidth ? "GB/s" : "");
    if (roof->is_bandwidth)
        draw_text(out, x_of(f, from) + 4, y_of(f, begin) - 4, "start", text);
    else
        draw_text(out, x_of(f, to) - 2, y_of(f, end) - 4, "end", text);
}

/* Returns true for bandwidths, and for the FMA and scalar peaks of double precision. Single
 * precision takes their place if no point is mostly double. */
static bool is_roof_shown(const struct as_roofline *it, const struct as_roof *roof)
{
    bool any_double = it->point_n == 0;
    for (size_t i = 0; i < it->point_n; i++)
        any_double |= is_drawn(&it->point[i]) && it->point[i].single_share < 0.5;
    return roof->is_bandwidth || (strstr(roof->name, any_double ? "f64" : "f32") &&
                                  (strstr(roof->name, "FMA") || strstr(roof->name, "scalar")));
}

static void draw_roofs(const struct as_roofline *it, const struct roof_frame *f, struct as_str *out)
{
    const bool has_all = it->all_n > 0;
    for (int is_one = 0; is_one <= has_all; is_one++) {
        const bool one = is_one || !has_all;
        const struct as_roof *roof = one ? it->one : it->all;
        struct as_roof shown[AS_ROOFS_MAX];
        size_t n = 0;
        for (size_t i = 0; i < (one ? it->one_n : it->all_n); i++)
            if (is_roof_shown(it, &roof[i]) && !(is_one && roof[i].is_huge))
                shown[n++] = roof[i];
        for (size_t i = 0; i < n; i++)
            draw_roof(f, &shown[i], highest_roof(shown, n), steepest_roof(shown, n), is_one != 0,
                      out);
    }
}

/* ---- Points -------------------------------------------------------------------------------- */

static const char *class_of(const struct as_roof_point *point)
{
    static const char *const word[] = {"part", "scalar", "part", "full"};
    return word[point->vector];
}

static void draw_point(const struct roof_frame *f, const struct as_roof_point *point,
                       unsigned number, struct as_str *out)
{
    const double x = x_of(f, point->intensity), y = y_of(f, point->flop_s);
    const double high = isfinite(point->flop_s_high) ? y_of(f, point->flop_s_high) : TOP_PX;
    const double low = point->flop_s_low > 0 ? y_of(f, point->flop_s_low) : HEIGHT_PX - BOTTOM_PX;
    const double radius = 4 + 16 * sqrt(point->share > 1 ? 1 : point->share);
    const char *class = class_of(point);
    as_str_appendf(out, "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n", class, x,
                   low > HEIGHT_PX - BOTTOM_PX ? HEIGHT_PX - BOTTOM_PX : low,
                   high < TOP_PX ? TOP_PX : high);
    if (point->kind == AS_OBJECT_LOOP)
        as_str_appendf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>",
                       class, x, y, radius);
    else
        as_str_appendf(out,
                       "<rect class=\"mark %s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                       "height=\"%.1f\"><title>",
                       class, x - radius, y - radius, 2 * radius, 2 * radius);
    escape_text(out, point->name);
    as_str_appendf(out, ": %.3g GFLOP/s, %.3g flop/B, %.1f %% of the time</title></%s>\n",
                   point->flop_s / 1e9, point->intensity, 100 * point->share,
                   point->kind == AS_OBJECT_LOOP ? "circle" : "rect");
    if (number)
        as_str_appendf(out, "<text x=\"%.1f\" y=\"%.1f\">%u</text>\n", x + radius + 2, y + 4,
                       number);
}

/* Draws an arrow between two points. It has a head if they are far enough apart. */
static void draw_arrow(const struct roof_frame *f, const struct as_roof_point *from,
                       const struct as_roof_point *to, struct as_str *out)
{
    const double x = x_of(f, from->intensity), y = y_of(f, from->flop_s);
    const double dx = x_of(f, to->intensity) - x, dy = y_of(f, to->flop_s) - y;
    const double length = sqrt(dx * dx + dy * dy), head = length < 16 ? length / 2 : 8;
    as_str_appendf(out,
                   "<g class=\"before\"><title>before: %.3g GFLOP/s, %.3g flop/B</title>"
                   "<circle class=\"arrow\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>",
                   from->flop_s / 1e9, from->intensity, x, y);
    if (length >= 1) {
        const double ux = dx / length, uy = dy / length;
        as_str_appendf(out,
                       "<path class=\"arrow\" d=\"M%.1f %.1fL%.1f %.1f\"/>"
                       "<path class=\"head\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fZ\"/>",
                       x, y, x + dx, y + dy, x + dx, y + dy, x + dx - head * (ux + 0.5 * uy),
                       y + dy - head * (uy - 0.5 * ux), x + dx - head * (ux - 0.5 * uy),
                       y + dy - head * (uy + 0.5 * ux));
    }
    as_str_appendz(out, "</g>\n");
}

static void draw_legend_line(const struct as_roof_point *point, unsigned number, double y,
                             struct as_str *out)
{
    char name[40];
    copy_short(name, sizeof name, point->name);
    as_str_appendf(out,
                   "<circle class=\"%s\" cx=\"%.0f\" cy=\"%.1f\" r=\"5\"/><text x=\"%.0f\" "
                   "y=\"%.1f\">%u  ",
                   class_of(point), WIDTH_PX - RIGHT_PX + 20, y - 4, WIDTH_PX - RIGHT_PX + 32, y,
                   number);
    escape_text(out, name);
    as_str_appendz(out, "</text>\n");
}

static void draw_key(double y, struct as_str *out)
{
    static const struct {
        const char *class, *text;
    } key[] = {{"scalar", "scalar"}, {"part", "partly vectorised"}, {"full", "fully vectorised"}};
    for (size_t i = 0; i < sizeof key / sizeof *key; i++)
        as_str_appendf(out,
                       "<circle class=\"%s\" cx=\"%.0f\" cy=\"%.1f\" r=\"5\"/><text "
                       "class=\"faint\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                       key[i].class, WIDTH_PX - RIGHT_PX + 20, y + (double)i * 18 - 4,
                       WIDTH_PX - RIGHT_PX + 32, y + (double)i * 18, key[i].text);
}

/* Names the run before, in the line below the title. */
static void draw_before(const struct as_roofline *before, struct as_str *out)
{
    char text[96];
    snprintf(text, sizeof text, "arrows start at ");
    copy_short(text + strlen(text), 64, before->title);
    draw_text(out, LEFT_PX, 42, "start", text);
}

size_t as_roofline_svg(const struct as_roofline *roofline, const struct as_roofline *before,
                       struct as_str *out)
{
    const struct roof_frame f = frame_of(roofline, before);
    size_t arrows = 0;
    unsigned number = 0;
    draw_head(roofline, out);
    draw_axes(&f, out);
    draw_roofs(roofline, &f, out);
    if (before)
        draw_before(before, out);
    for (size_t i = 0; i < roofline->point_n; i++) {
        const struct as_roof_point *point = &roofline->point[i];
        if (!is_shown(roofline, point))
            continue;
        const struct as_roof_point *from = start_of_arrow(roofline, before, point);
        if (from)
            draw_arrow(&f, from, point, out);
        arrows += from != NULL;
        number += number < LABELS_MAX;
        draw_point(&f, point, number < LABELS_MAX ? number : 0, out);
        if (number < LABELS_MAX)
            draw_legend_line(point, number, TOP_PX + number * LEGEND_PX, out);
    }
    draw_key(HEIGHT_PX - BOTTOM_PX - 40, out);
    as_str_appendz(out, "</svg>\n");
    return arrows;
}
