/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the section with call paths of instances on the page of a loop. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "vprof/timed.h"

enum { PATH_COLUMNS = 5, PATH_ROWS_MOST = 512 };

struct path_rows {
    struct as_str text; /* zero-terminated texts in a row */
    AS_VEC(struct as_sql_cell) cell;
    AS_VEC(size_t) text_at; /* offset of the text of each row */
    int failed;
};

/* Appends a call path with " > " between frames in place of line ends. */
static void append_path_text(struct as_str *text, const char *path)
{
    struct as_view rest = as_view_of(path), frame;
    for (bool first = true; as_view_split(&rest, '\n', &frame); first = false) {
        as_str_appendz(text, first ? "" : " > ");
        as_str_append(text, frame.p, frame.n);
    }
    as_str_append(text, "", 1);
}

static void append_path_rows(struct path_rows *rows, const struct as_vprof_bucket *it, bool is_all)
{
    for (unsigned i = 0; i < it->path_n && rows->text_at.n < PATH_ROWS_MOST; i++) {
        const struct as_sql_cell cell[PATH_COLUMNS] = {
            is_all ? (struct as_sql_cell){0} : as_sql_cell_real(it->low),
            is_all ? (struct as_sql_cell){0} : as_sql_cell_real(it->high - 1),
            as_sql_cell_real(100 * it->path[i].share), as_sql_cell_integer((int64_t)it->path[i].n)};
        rows->failed |= as_vec_push(&rows->text_at, rows->text.n);
        append_path_text(&rows->text, it->path[i].text);
        for (unsigned c = 0; c < PATH_COLUMNS; c++)
            rows->failed |= as_vec_push(&rows->cell, cell[c]);
    }
}

static int write_rows(const struct as_timed *timed, const struct as_vprof_loop *loop,
                      struct path_rows *rows, struct as_error *err)
{
    static const char *const column[PATH_COLUMNS] = {"iterations from", "to", "share %",
                                                     "instances seen", "call path"};
    if (rows->failed || rows->text.failed)
        return as_error_nomem(err, "call paths of instances");
    for (size_t i = 0; i < rows->text_at.n; i++)
        rows->cell.at[i * PATH_COLUMNS + PATH_COLUMNS - 1] =
            as_sql_cell_text(as_str_z(&rows->text) + rows->text_at.at[i]);
    const struct as_detail detail = {
        .of = {AS_OBJECT_LOOP, loop->loop_id, timed->run_id, 0},
        .name = "instance_paths",
        .title = "Call paths of instances",
        .position = 43,
        .text = "Call paths by iteration count: shares of the instances, from stacks of randomly "
                "chosen ones.",
        .column = column,
        .column_n = PATH_COLUMNS,
        .cell = rows->cell.at,
        .row_n = rows->text_at.n,
        .pass = AS_VPROF_PASS};
    return rows->text_at.n ? as_experiment_detail(timed->experiment, &detail, err) : 0;
}

int as_timed_write_paths(const struct as_timed *timed, const struct as_vprof_loop *loop,
                         struct as_error *err)
{
    struct path_rows rows = {0};
    for (size_t i = 0; i < loop->bucket_n; i++)
        append_path_rows(&rows, &loop->bucket[i], false);
    if (loop->bucket_n == 0)
        append_path_rows(&rows, &loop->all, true);
    const int rc = write_rows(timed, loop, &rows, err);
    as_str_fini(&rows.text);
    as_vec_fini(&rows.cell);
    as_vec_fini(&rows.text_at);
    return rc;
}
