/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the control flow of hot loops from their blocks and edges, with the time of each block. A
 * loop with very many blocks is unreadable and left out.
 */
#include "report/data.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "report/graph.h"

/* Max loops to draw, min share of the run, and max blocks of a loop. */
#define LOOPS_MOST  40
#define CODE_MOST   200 /* max loops of code that was only analysed */
#define SHARE_LEAST "0.005"
#define BOXES_MOST  120

struct drawn_loop {
    int64_t id, address;
    const char *title;
};

struct flow_drawing {
    struct as_document *document;
    struct as_arena arena;
    AS_VEC(struct drawn_loop) loop;
    AS_VEC(struct as_graph_box) box; /* of the current loop */
    AS_VEC(struct as_graph_arrow) arrow;
    struct as_map_u64 box_of;
    int64_t address; /* address of the header */
    uint32_t entry;  /* box of the header */
};

/* ---- Selection of loops -------------------------------------------------------------------- */

static const char loops_sql[] =
    "SELECT l.loop_id, l.address, f.name || ifnull(', line ' || i.number, '') FROM object_time t"
    " JOIN loop l ON l.loop_id = t.object_id JOIN function f USING (function_id)"
    " LEFT JOIN line i ON i.line_id = l.first_line_id"
    " WHERE t.run_id = ?1 AND t.object_kind = 'loop' AND (?3 OR t.inclusive_share >= " SHARE_LEAST
    ")"
    " AND EXISTS (SELECT 1 FROM block b WHERE b.loop_id = l.loop_id)"
    " ORDER BY t.exclusive_ns DESC, t.inclusive_ns DESC, l.loop_id LIMIT ?2";

static int list_drawn(struct flow_drawing *d, struct as_error *err)
{
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(d->document->experiment, loops_sql, &rows, err));
    as_rows_bind_integer(rows, 1, d->document->run_id);
    as_rows_bind_integer(rows, 2, d->document->is_code ? CODE_MOST : LOOPS_MOST);
    as_rows_bind_integer(rows, 3, d->document->is_code);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const char *title = as_rows_text(rows, 2);
        const struct drawn_loop it = {as_rows_integer(rows, 0), as_rows_integer(rows, 1),
                                      as_arena_strndup(&d->arena, title, strlen(title))};

        if (!it.title || as_vec_push(&d->loop, it) < 0) {
            rc = as_error_nomem(err, "the drawings of a report");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

/* ---- Boxes and arrows ---------------------------------------------------------------------- */

/* The loop and its inner loops. All are in one function, which is indexed in the experiment. */
#define INSIDE                                                                                     \
    "WITH RECURSIVE inside AS (SELECT ?2 AS loop_id UNION SELECT l.loop_id FROM loop l"            \
    " JOIN inside i ON l.parent_id = i.loop_id WHERE l.function_id ="                              \
    " (SELECT o.function_id FROM loop o WHERE o.loop_id = ?2))"

/* Blocks of the loop and of its inner loops. The header is the block at the address of the loop. */
static const char blocks_sql[] = INSIDE
    " SELECT b.block_id, b.address, b.instruction_n, l.depth, ifnull(t.exclusive_ns, 0) / 1e9,"
    " 100.0 * ifnull(t.exclusive_ns, 0) / nullif(sum(ifnull(t.exclusive_ns, 0)) OVER (), 0),"
    " (SELECT group_concat(DISTINCT n.number) FROM disassembly d JOIN line n USING (line_id)"
    "  WHERE d.module_id = (SELECT f.module_id FROM function f WHERE f.function_id = b.function_id)"
    "  AND d.address >= b.address AND d.address < b.address + b.size_b)"
    " FROM inside JOIN loop l USING (loop_id)"
    " JOIN block b ON b.function_id = l.function_id AND b.loop_id = l.loop_id"
    " LEFT JOIN block_time t ON t.run_id = ?1 AND t.block_id = b.block_id"
    " ORDER BY b.address LIMIT ?3";

/* Appends the range "lines 12-20" for "12,13,14,20", because boxes should be narrow. */
static void append_lines(struct as_str *text, const char *numbers)
{
    long first = 0, last = 0;

    for (const char *p = numbers; p && *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ',')) {
        const long number = strtol(p, NULL, 10);

        first = !first || number < first ? number : first;
        last = number > last ? number : last;
    }
    if (last > first)
        as_str_appendf(text, "\nlines %ld-%ld", first, last);
    else if (last)
        as_str_appendf(text, "\nline %ld", last);
}

static int add_flow_box(struct flow_drawing *d, struct as_rows *rows)
{
    const int64_t insn_n = as_rows_integer(rows, 2);
    const double pct = as_rows_real(rows, 5);
    struct as_str text = {0}, id = {0};

    as_str_appendf(&id, "b%zu", d->box.n);
    as_str_appendf(&text, "0x%llx", (unsigned long long)as_rows_integer(rows, 1));
    as_str_appendf(&text, "\n%lld instruction%s", (long long)insn_n, insn_n == 1 ? "" : "s");
    append_lines(&text, as_rows_text(rows, 6));
    if (!d->document->is_code)
        as_str_appendf(&text, "\n%.3g s, %.0f %%", as_rows_real(rows, 4), pct);
    const bool failed = text.failed || id.failed;
    /* The colour is the share of the loop time in four steps. */
    const struct as_graph_box box = {
        .id = failed ? NULL : as_arena_strndup(&d->arena, as_str_z(&id), id.n),
        .text = failed ? NULL : as_arena_strndup(&d->arena, as_str_z(&text), text.n),
        .title = "block",
        .depth = pct >= 50   ? 4
                 : pct >= 25 ? 3
                 : pct >= 10 ? 2
                 : pct >= 1  ? 1
                             : 0};

    as_str_fini(&text);
    as_str_fini(&id);
    if (as_rows_integer(rows, 1) == d->address)
        d->entry = (uint32_t)d->box.n;
    if (!box.id || !box.text ||
        as_map_u64_put(&d->box_of, (uint64_t)as_rows_integer(rows, 0), (uint32_t)d->box.n) < 0)
        return AS_ERR_NOMEM;
    return as_vec_push(&d->box, box);
}

static const char edges_sql[] =
    INSIDE " SELECT e.from_block_id, e.to_block_id, e.kind, e.is_back FROM inside"
           " JOIN loop l USING (loop_id)"
           " JOIN block b ON b.function_id = l.function_id AND b.loop_id = l.loop_id JOIN edge e "
           "ON e.from_block_id = b.block_id ORDER BY e.edge_id LIMIT 4 * ?3";

static uint8_t arrow_kind(const char *word)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } kinds[] = {{"taken", AS_GRAPH_YES},
                 {"fall", AS_GRAPH_NO},
                 {"table", AS_GRAPH_TABLE},
                 {"landing", AS_GRAPH_EXCEPTION}};

    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i].word) == 0)
            return kinds[i].kind;
    return AS_GRAPH_PLAIN;
}

static int add_flow_arrow(struct flow_drawing *d, struct as_rows *rows)
{
    const uint32_t from = as_map_u64_get(&d->box_of, (uint64_t)as_rows_integer(rows, 0));
    const uint32_t to = as_map_u64_get(&d->box_of, (uint64_t)as_rows_integer(rows, 1));
    const struct as_graph_arrow arrow = {.from = from,
                                         .to = to,
                                         .kind = arrow_kind(as_rows_text(rows, 2)),
                                         .back = as_rows_integer(rows, 3) != 0};

    return from == AS_MAP_NONE || to == AS_MAP_NONE ? 0 : as_vec_push(&d->arrow, arrow);
}

static int read_flow(struct flow_drawing *d, int64_t loop_id, const char *sql,
                     int (*take)(struct flow_drawing *, struct as_rows *), struct as_error *err)
{
    struct as_rows *rows;
    int rc, taken = 0;

    AS_TRY(as_rows_open(d->document->experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, d->document->run_id);
    as_rows_bind_integer(rows, 2, loop_id);
    as_rows_bind_integer(rows, 3, BOXES_MOST + 1);
    while (taken == 0 && (rc = as_rows_next(rows, err)) > 0)
        taken = take(d, rows);
    as_rows_close(&rows);
    return taken < 0 ? as_error_nomem(err, "the drawings of a report") : rc;
}

/* ---- Drawing ------------------------------------------------------------------------------- */

static void write_picture(struct as_json *json, const struct drawn_loop *loop, bool is_code,
                          const char *svg)
{
    as_json_object_begin(json);
    as_json_key_string(json, "object", "loop");
    as_json_key_i64(json, "id", loop->id);
    as_json_key_string(json, "name", "flow");
    as_json_key_string(json, "title", "Control flow");
    as_json_key_i64(json, "order", 38);
    as_json_key_string(json, "text",
                       is_code
                           ? "Its blocks. Green: branch taken; red: not taken; thick: back edge."
                           : "Its blocks with their share of the loop's time (darker blue: more "
                             "time). Green: branch taken; red: not taken; thick: back edge.");
    as_json_key(json, "table");
    as_json_null(json);
    as_json_key_string(json, "svg", svg);
    as_json_object_end(json);
}

static int draw_loop(struct flow_drawing *d, const struct drawn_loop *loop, struct as_error *err)
{
    struct as_str svg = {0};
    struct as_out out;

    d->address = loop->address;
    d->entry = 0;
    d->box.n = d->arrow.n = 0;
    as_map_u64_fini(&d->box_of);
    as_map_u64_init(&d->box_of);
    AS_TRY(read_flow(d, loop->id, blocks_sql, add_flow_box, err));
    if (!d->box.n || d->box.n > BOXES_MOST)
        return 0;
    AS_TRY(read_flow(d, loop->id, edges_sql, add_flow_arrow, err));
    if (!d->arrow.n)
        return 0;
    const struct as_graph_picture picture = {.title = loop->title,
                                             .box = d->box.at,
                                             .boxes = d->box.n,
                                             .arrow = d->arrow.at,
                                             .arrows = d->arrow.n,
                                             .entry = d->entry};
    as_out_init_str(&out, &svg);
    int rc = as_graph_svg(&picture, &out, err);
    if (rc == 0)
        rc = as_out_flush(&out, err);
    as_out_fini(&out);
    if (rc == 0)
        write_picture(&d->document->json, loop, d->document->is_code, as_str_z(&svg));
    as_str_fini(&svg);
    return rc == AS_ERR_LIMIT ? 0 : rc; /* too large to draw */
}

int as_data_graphs(struct as_document *document, struct as_error *err)
{
    struct flow_drawing d = {.document = document};
    int rc;

    as_arena_init(&d.arena);
    as_map_u64_init(&d.box_of);
    rc = list_drawn(&d, err);
    for (size_t i = 0; rc == 0 && i < d.loop.n; i++)
        rc = draw_loop(&d, &d.loop.at[i], err);
    as_vec_fini(&d.loop);
    as_vec_fini(&d.box);
    as_vec_fini(&d.arrow);
    as_map_u64_fini(&d.box_of);
    as_arena_fini(&d.arena);
    return rc;
}
