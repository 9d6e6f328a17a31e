/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A graph to draw: boxes of text lines, edges of some kinds, groups nested by depth. It is written
 * as SVG with the layout of layout.h, or as DOT for other tools.
 */
#ifndef AS_REPORT_GRAPH_H
#define AS_REPORT_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/out.h"

enum as_graph_edge_kind {
    AS_GRAPH_PLAIN,
    AS_GRAPH_YES,   /* condition true */
    AS_GRAPH_NO,    /* the condition is false: falls through */
    AS_GRAPH_TABLE, /* one of many targets */
    AS_GRAPH_EXCEPTION
};

struct as_graph_box {
    const char *id;    /* stable, unique: "b12" */
    const char *text;  /* lines separated by '\n'; the first is the heading */
    const char *title; /* for tooltips and screen readers */
    uint32_t depth;    /* nesting depth, colours the box; 0: none */
    bool marked;       /* something is unknown here */
};

struct as_graph_arrow {
    uint32_t from, to;
    uint8_t kind; /* as_graph_edge_kind */
    bool back;
};

struct as_graph_picture {
    const char *title;
    const struct as_graph_box *box;
    size_t boxes;
    const struct as_graph_arrow *arrow;
    size_t arrows;
    uint32_t entry; /* index of the entry box */
};

/* Writes self-contained SVG for light and dark schemes. Errors: NOMEM, LIMIT. */
int as_graph_svg(const struct as_graph_picture *picture, struct as_out *out, struct as_error *err);
/* Writes Graphviz DOT. */
void as_graph_dot(const struct as_graph_picture *picture, struct as_out *out);

#endif
