/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline of a loop as a table of the experiment, which the page draws on demand. It has the
 * waits and steps of each instruction as differences. These are small numbers: compressed they need
 * a tenth of the size of pictures.
 */
#include "report/data.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"

#define TIMES_MOST 400

struct time_line {
    struct as_json *json;
    struct as_map_view index; /* text -> index */
    struct as_arena arena;
    AS_VEC(const char *) text;
    AS_VEC(int64_t) each; /* 7 numbers per execution, see doc/reference/report-data.md */
    int64_t dispatched;   /* of the last execution */
};

static int text_of(struct time_line *line, const char *text, uint32_t *index)
{
    const struct as_view view = as_view_of(text ? text : "");
    const char *copy;

    *index = as_map_view_get(&line->index, view);
    if (*index != AS_MAP_NONE)
        return 0;
    *index = (uint32_t)line->text.n;
    copy = as_arena_strndup(&line->arena, view.p, view.n);
    if (!copy || as_vec_push(&line->text, copy) < 0)
        return AS_ERR_NOMEM;
    return as_map_view_put(&line->index, (struct as_view){copy, view.n}, *index);
}

/* Adds an execution. Columns: iteration, assembly, dispatched, sources ready, begins, done,
 * retired. */
static int add_timeline_execution(struct time_line *line, struct as_rows *rows)
{
    const int64_t dispatched = as_rows_integer(rows, 2);
    int64_t before = dispatched;
    uint32_t text;

    AS_TRY(text_of(line, as_rows_text(rows, 1), &text));
    const int64_t head[] = {as_rows_integer(rows, 0), text, dispatched - line->dispatched};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        if (as_vec_push(&line->each, head[i]) < 0)
            return AS_ERR_NOMEM;
    for (int i = 3; i < 7; i++) {
        const int64_t at = as_rows_integer(rows, i);

        if (as_vec_push(&line->each, at - before) < 0)
            return AS_ERR_NOMEM;
        before = at;
    }
    line->dispatched = dispatched;
    return 0;
}

static void write_line(const struct time_line *line)
{
    struct as_json *json = line->json;

    as_json_key(json, "timeline");
    if (!line->each.n) {
        as_json_null(json);
        return;
    }
    as_json_object_begin(json);
    as_json_key(json, "text");
    as_json_array_begin(json);
    as_vec_foreach (&line->text, it)
        as_json_string(json, *it);
    as_json_array_end(json);
    as_json_key(json, "each");
    as_json_array_begin(json);
    as_vec_foreach (&line->each, it)
        as_json_i64(json, *it);
    as_json_array_end(json);
    as_json_object_end(json);
}

static const char times_sql[] =
    "SELECT json_extract(r.value, '$[0]'), json_extract(r.value, '$[1]'),"
    " json_extract(r.value, '$[2]'), json_extract(r.value, '$[3]'), json_extract(r.value, '$[4]'),"
    " json_extract(r.value, '$[5]'), json_extract(r.value, '$[6]')"
    " FROM detail d, json_each(d.cells) r WHERE d.detail_id = ?1 ORDER BY r.key LIMIT ?2";

int as_data_timeline(struct as_document *document, int64_t detail_id, struct as_error *err)
{
    struct time_line line = {.json = &document->json};
    struct as_rows *rows;
    int rc;

    AS_TRY(as_rows_open(document->experiment, times_sql, &rows, err));
    as_rows_bind_integer(rows, 1, detail_id);
    as_rows_bind_integer(rows, 2, TIMES_MOST);
    as_arena_init(&line.arena);
    as_map_view_init(&line.index);
    while ((rc = as_rows_next(rows, err)) > 0)
        if (add_timeline_execution(&line, rows) < 0) {
            rc = as_error_nomem(err, "a time line");
            break;
        }
    as_rows_close(&rows);
    write_line(&line);
    as_vec_fini(&line.each);
    as_vec_fini(&line.text);
    as_map_view_fini(&line.index);
    as_arena_fini(&line.arena);
    return rc;
}
