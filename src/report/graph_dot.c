/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOT (Graphviz): quoted identifiers, escaped labels, left-aligned lines.
 */
#include <string.h>

#include "report/graph.h"

/* Writes a quoted string. Line ends become `line`; "\\l" aligns left. */
static void quote_dot(struct as_out *out, const char *text, const char *line)
{
    as_out_z(out, "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            as_out_z(out, "\\");
        if (*p == '\n')
            as_out_z(out, line);
        else
            as_out_write(out, p, 1);
    }
    if (*text && line[1] == 'l')
        as_out_z(out, line);
    as_out_z(out, "\"");
}

void as_graph_dot(const struct as_graph_picture *picture, struct as_out *out)
{
    static const char *const style[] = {
        [AS_GRAPH_PLAIN] = "",
        [AS_GRAPH_YES] = "color=\"#2c7a3f\"",
        [AS_GRAPH_NO] = "color=\"#b04030\"",
        [AS_GRAPH_TABLE] = "color=\"#7048a0\"",
        [AS_GRAPH_EXCEPTION] = "style=dotted",
    };
    _Static_assert(sizeof style / sizeof *style == AS_GRAPH_EXCEPTION + 1,
                   "an entry for each of the enumeration");

    as_out_z(out, "digraph ");
    quote_dot(out, picture->title, " ");
    as_out_z(out, " {\n  node [shape=box fontname=\"monospace\"];\n");
    for (size_t i = 0; i < picture->boxes; i++) {
        as_out_z(out, "  ");
        quote_dot(out, picture->box[i].id, " ");
        as_out_z(out, " [label=");
        quote_dot(out, picture->box[i].text, "\\l");
        as_out_z(out, " tooltip=");
        quote_dot(out, picture->box[i].title, " ");
        as_out_z(out, picture->box[i].marked ? " style=dashed];\n" : "];\n");
    }
    for (size_t i = 0; i < picture->arrows; i++) {
        const struct as_graph_arrow *arrow = &picture->arrow[i];
        as_out_z(out, "  ");
        quote_dot(out, picture->box[arrow->from].id, " ");
        as_out_z(out, " -> ");
        quote_dot(out, picture->box[arrow->to].id, " ");
        as_out_z(out, " [");
        as_out_z(out, style[arrow->kind]);
        as_out_z(out, arrow->back ? " penwidth=2];\n" : "];\n");
    }
    as_out_z(out, "}\n");
}
