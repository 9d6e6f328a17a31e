/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the tables of copy.h. For each table one statement reads the rows of the run, and another
 * one writes them. A map translates old ids to new ones. A reference to a missing row is damage,
 * because the source experiment is untrusted.
 */
#include "experiment/copy.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "experiment/internal.h"

#define PLUS_ONE(...) +1
enum { KIND_END = 1 AS_OBJECT_LIST(PLUS_ONE) };

/* A reference to a later row of the same table. */
struct later {
    int64_t id, old;
    size_t column;
};

struct copied_table {
    const struct as_copy_table *as;
    sqlite3_stmt *read, *add;
    /* by column: sets the column of an existing row; NULL = not prepared yet */
    sqlite3_stmt **set;
    struct as_map_u64 id; /* old id -> new id */
    AS_VEC(struct later) later;
};

struct as_copy {
    struct as_experiment *to;
    struct copied_table *table; /* as_copy_table_n entries */
    size_t of_kind[KIND_END];
    struct as_str text;
    const struct as_copy_part *part;
};

/* ---- Statements ---------------------------------------------------------------------------- */

static bool is_copied(const struct copied_table *table)
{
    return table->as->way < AS_COPY_MADE;
}

static void append_columns(struct as_str *sql, const struct as_copy_table *as)
{
    for (size_t i = 0; i < as->column_n; i++)
        as_str_appendf(sql, "%s\"%s\"", i ? ", " : "", as->column[i].name);
}

static void append_conflict(struct as_str *sql, const struct copied_table *table)
{
    const char *between = " ON CONFLICT DO UPDATE SET ";

    if (table->as->way == AS_COPY_KEEP)
        as_str_appendz(sql, " ON CONFLICT DO NOTHING");
    else
        for (size_t i = 0; i < table->as->column_n; i++) {
            const char *c = table->as->column[i].name;

            if (table->as->way == AS_COPY_COMPLETE)
                as_str_appendf(sql, "%s\"%s\" = coalesce(\"%s\", excluded.\"%s\")", between, c, c,
                               c);
            else if (table->as->column[i].role == AS_COPY_SUM)
                as_str_appendf(sql, "%s\"%s\" = coalesce(\"%s\" + excluded.\"%s\", \"%s\")",
                               between, c, c, c, c);
            else
                continue;
            between = ", ";
        }
    if (table->as->has_id)
        as_str_appendf(sql, " RETURNING %s_id", table->as->name);
}

static int prepare_add(struct as_copy *copy, struct copied_table *table, struct as_error *err)
{
    struct as_str sql = {0};
    int rc;

    as_str_appendf(&sql, "INSERT INTO \"%s\" (", table->as->name);
    append_columns(&sql, table->as);
    as_str_appendz(&sql, ") VALUES (");
    for (size_t i = 0; i < table->as->column_n; i++)
        as_str_appendf(&sql, "%s?%zu", i ? ", " : "", i + 1);
    as_str_appendz(&sql, ")");
    append_conflict(&sql, table);
    rc = sql.failed ? as_error_nomem(err, table->as->name)
                    : as_sql_prepare(copy->to, as_str_z(&sql), &table->add, err);
    as_str_fini(&sql);
    return rc;
}

static int damaged(const struct as_copy *copy, const struct copied_table *table, const char *why,
                   struct as_error *err)
{
    return as_error_set(err, AS_ERR_CORRUPT,
                        "%s: damaged: table %s: %s; remove it or use an undamaged copy",
                        as_experiment_path(copy->part->from), table->as->name, why);
}

/* Prepares reading of the rows, sorted by id. Most references within a table are then to rows
 * that were copied before. */
static int prepare_read(struct as_copy *copy, struct copied_table *table, struct as_error *err)
{
    struct as_experiment *from = copy->part->from;
    struct as_str sql = {0};
    int code = SQLITE_OK, rc = 0;

    as_str_appendf(&sql, "SELECT ");
    if (table->as->has_id)
        as_str_appendf(&sql, "%s_id, ", table->as->name);
    append_columns(&sql, table->as);
    as_str_appendf(&sql, " FROM \"%s\" WHERE %s", table->as->name,
                   table->as->rows ? table->as->rows : "1");
    if (table->as->has_id)
        as_str_appendf(&sql, " ORDER BY %s_id", table->as->name);
    if (sql.failed)
        rc = as_error_nomem(err, table->as->name);
    else
        code = sqlite3_prepare_v2(from->db, as_str_z(&sql), -1, &table->read, NULL);
    if (code == SQLITE_ERROR)
        rc = damaged(copy, table, sqlite3_errmsg(from->db), err);
    else if (code != SQLITE_OK)
        rc = as_sql_failure(from->db_path, from->db, code, "reading it", err);
    as_str_fini(&sql);
    if (rc == 0 && table->as->rows)
        sqlite3_bind_int64(table->read, 1, copy->part->from_run);
    return rc;
}

/* ---- Rows ---------------------------------------------------------------------------------- */

enum { ROW_GOES = 1 }; /* 0 = the row is left out */
#define LEFT_OUT 0u    /* the new id of a row that is not copied because another one is kept */

static int64_t mapped(const struct copied_table *table, int64_t id)
{
    const uint32_t found = as_map_u64_get(&table->id, (uint64_t)id);

    return found == AS_MAP_NONE ? 0 : (int64_t)found;
}

static int bind_reference(struct as_copy *copy, struct copied_table *table, size_t at, int64_t row,
                          int64_t id, struct as_error *err)
{
    const struct as_copy_column *column = &table->as->column[at];
    const int64_t now = id ? mapped(&copy->table[column->of], id) : 0;
    char why[160];

    if (id && as_map_u64_get(&copy->table[column->of].id, (uint64_t)id) == LEFT_OUT)
        return 0;

    if (now || !id) { /* id 0 stays 0: it means all runs */
        sqlite3_bind_int64(table->add, (int)at + 1, now);
        return ROW_GOES;
    }
    if (column->role == AS_COPY_LATER && id > row) {
        sqlite3_bind_null(table->add, (int)at + 1);
        if (as_vec_push(&table->later, (struct later){.old = id, .column = at}) < 0)
            return as_error_nomem(err, table->as->name);
        return ROW_GOES;
    }
    snprintf(why, sizeof why, "a row refers to row %" PRId64 " of %s, which is missing", id,
             copy->table[column->of].as->name);
    return damaged(copy, table, why, err);
}

static int bind_object(struct as_copy *copy, struct copied_table *table, size_t at, int64_t id)
{
    const int first = table->as->has_id;
    const char *word =
        table->as->kind_at < 0
            ? NULL
            : (const char *)sqlite3_column_text(table->read, first + table->as->kind_at);
    const enum as_object_kind kind = as_object_kind_of(word);
    const int64_t now = kind ? as_copy_object(copy, kind, id) : 0;

    sqlite3_bind_int64(table->add, (int)at + 1, now);
    return now ? ROW_GOES : 0;
}

static int bind_file(struct as_copy *copy, struct copied_table *table, size_t at, const char *path,
                     struct as_error *err)
{
    as_str_clear(&copy->text);
    AS_TRY(copy->part->file(copy->part->context, path, &copy->text, err));
    if (copy->text.failed)
        return as_error_nomem(err, path);
    if (copy->text.n == 0)
        sqlite3_bind_null(table->add, (int)at + 1);
    else
        sqlite3_bind_text(table->add, (int)at + 1, as_str_z(&copy->text), -1, SQLITE_TRANSIENT);
    return ROW_GOES;
}

/* Binds a text such as "[generated code of process 12]", changed to "[generated code of process
 * 12, rank 3]". */
static int bind_of_process(struct as_copy *copy, struct copied_table *table, size_t at,
                           const char *text, struct as_error *err)
{
    static const char own[] = "[generated code of process ";
    const size_t n = strlen(text);
    const bool is_own = strncmp(text, own, sizeof own - 1) == 0 && text[n - 1] == ']';

    as_str_clear(&copy->text);
    if (is_own)
        as_str_appendf(&copy->text, "%.*s, %s]", (int)n - 1, text, copy->part->whose);
    else
        as_str_append(&copy->text, text, n);
    if (copy->text.failed)
        return as_error_nomem(err, text);
    sqlite3_bind_text(table->add, (int)at + 1, as_str_z(&copy->text), -1, SQLITE_TRANSIENT);
    return ROW_GOES;
}

static int bind_column(struct as_copy *copy, struct copied_table *table, size_t at, int64_t row,
                       struct as_error *err)
{
    const int from = (int)at + table->as->has_id, to = (int)at + 1;
    sqlite3_stmt *read = table->read;
    const int type = sqlite3_column_type(read, from);
    const enum as_copy_role role = table->as->column[at].role;
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(read, from) : NULL;
    const int64_t integer = type == SQLITE_INTEGER ? sqlite3_column_int64(read, from) : 0;

    if (type == SQLITE_INTEGER && (role == AS_COPY_ID || role == AS_COPY_LATER))
        return bind_reference(copy, table, at, row, integer, err);
    if (type == SQLITE_INTEGER && role == AS_COPY_OBJECT)
        return bind_object(copy, table, at, integer);
    if (text && role == AS_COPY_FILE)
        return bind_file(copy, table, at, text, err);
    if (text && role == AS_COPY_PROCESS)
        return bind_of_process(copy, table, at, text, err);
    if (type == SQLITE_INTEGER && role == AS_COPY_TIME)
        sqlite3_bind_int64(table->add, to,
                           (int64_t)((uint64_t)integer + (uint64_t)copy->part->shift_ns));
    else
        sqlite3_bind_value(table->add, to, sqlite3_column_value(read, from));
    return ROW_GOES;
}

/* Writes the bound row. Sets `id` to its new id, or to 0 if an existing row stays unchanged. */
static int write_row(struct as_copy *copy, struct copied_table *table, int64_t *id,
                     struct as_error *err)
{
    struct as_experiment *to = copy->to;
    const int code = sqlite3_step(table->add);
    int rc = 0;

    *id = code == SQLITE_ROW ? sqlite3_column_int64(table->add, 0) : 0;
    if ((code & 0xff) == SQLITE_CONSTRAINT)
        rc = damaged(copy, table, sqlite3_errmsg(to->db), err);
    else if (code != SQLITE_ROW && code != SQLITE_DONE)
        rc = as_sql_failure(to->db_path, to->db, code, "writing a row", err);
    sqlite3_reset(table->add);
    return rc;
}

static int copy_row(struct as_copy *copy, struct copied_table *table, struct as_error *err)
{
    const int64_t old = table->as->has_id ? sqlite3_column_int64(table->read, 0) : 0;
    const size_t later_n = table->later.n;
    int64_t id;

    AS_TRY(as_stop_check(copy->to, err));
    for (size_t i = 0; i < table->as->column_n; i++) {
        const int goes = bind_column(copy, table, i, old, err);

        if (goes != ROW_GOES)
            return goes;
    }
    AS_TRY(write_row(copy, table, &id, err));
    if (!table->as->has_id)
        return 0;
    if (!id)
        return as_map_u64_put(&table->id, (uint64_t)old, LEFT_OUT) < 0
                   ? as_error_nomem(err, table->as->name)
                   : 0;
    for (size_t i = later_n; i < table->later.n; i++)
        table->later.at[i].id = id;
    if (id >= AS_MAP_NONE)
        return as_error_set(err, AS_ERR_LIMIT, "%s: table %s has too many rows; merge fewer",
                            copy->to->path, table->as->name);
    return as_map_u64_put(&table->id, (uint64_t)old, (uint32_t)id) < 0
               ? as_error_nomem(err, table->as->name)
               : 0;
}

/* ---- Tables -------------------------------------------------------------------------------- */

static int prepare_set(struct as_copy *copy, struct copied_table *table, size_t column,
                       struct as_error *err)
{
    const struct as_copy_table *as = table->as;
    struct as_str sql = {0};
    int rc;

    if (!table->set)
        table->set = as_calloc(as->column_n, sizeof *table->set);
    as_str_appendf(&sql, "UPDATE \"%s\" SET \"%s\" = ?1 WHERE %s_id = ?2", as->name,
                   as->column[column].name, as->name);
    rc = sql.failed || !table->set
             ? as_error_nomem(err, as->name)
             : as_sql_prepare(copy->to, as_str_z(&sql), &table->set[column], err);
    as_str_fini(&sql);
    return rc;
}

static int set_later(struct as_copy *copy, struct copied_table *table, struct as_error *err)
{
    as_vec_foreach (&table->later, it) {
        const int64_t now = mapped(table, it->old);

        if (!now || !it->id)
            continue; /* a missing row stays unknown */
        AS_TRY(prepare_set(copy, table, it->column, err));
        sqlite3_stmt *set = table->set[it->column];
        sqlite3_bind_int64(set, 1, now);
        sqlite3_bind_int64(set, 2, it->id);
        AS_TRY(as_sql_insert(copy->to, set, "writing a row", NULL, err));
    }
    return 0;
}

static int copy_rows(struct as_copy *copy, struct copied_table *table, struct as_error *err)
{
    struct as_experiment *from = copy->part->from;
    int code, rc = 0;

    while (rc == 0 && (code = sqlite3_step(table->read)) == SQLITE_ROW)
        rc = copy_row(copy, table, err);
    if (rc == 0 && code != SQLITE_DONE)
        rc = as_sql_failure(from->db_path, from->db, code, "reading it", err);
    return rc;
}

static int copy_table(struct as_copy *copy, struct copied_table *table, struct as_error *err)
{
    int rc = table->add ? 0 : prepare_add(copy, table, err);

    if (rc == 0)
        rc = as_key_make_named(copy->to, table->as->name, err);
    if (rc == 0)
        rc = prepare_read(copy, table, err);
    if (rc == 0)
        rc = copy_rows(copy, table, err);
    sqlite3_finalize(table->read);
    table->read = NULL;
    return rc < 0 ? rc : set_later(copy, table, err);
}

static void forget_ids(struct as_copy *copy)
{
    for (size_t i = 0; i < as_copy_table_n; i++) {
        as_map_u64_fini(&copy->table[i].id);
        as_map_u64_init(&copy->table[i].id);
        copy->table[i].later.n = 0;
    }
}

int as_copy_run(struct as_copy *copy, const struct as_copy_part *part, struct as_error *err)
{
    struct copied_table *run = &copy->table[copy->of_kind[AS_OBJECT_RUN]];
    int rc = 0;

    copy->part = part;
    forget_ids(copy);
    if (as_map_u64_put(&run->id, (uint64_t)part->from_run, (uint32_t)part->to_run) < 0)
        return as_error_nomem(err, "a run");
    for (size_t i = 0; i < as_copy_table_n && rc == 0; i++)
        if (is_copied(&copy->table[i]))
            rc = copy_table(copy, &copy->table[i], err);
    return rc;
}

/* ---- The copy ------------------------------------------------------------------------------ */

static void describe_tables(struct as_copy *copy)
{
    for (size_t i = 0; i < as_copy_table_n; i++) {
        copy->table[i].as = &as_copy_tables[i];
        assert(as_copy_tables[i].kind_at < (int)as_copy_tables[i].column_n);
        as_map_u64_init(&copy->table[i].id);
    }
    for (size_t k = 1; k < KIND_END; k++) {
        const char *word = as_object_word((enum as_object_kind)k);

        while (copy->of_kind[k] < as_copy_table_n &&
               strcmp(as_copy_tables[copy->of_kind[k]].name, word) != 0)
            copy->of_kind[k]++;
    }
}

int as_copy_new(struct as_experiment *to, struct as_copy **out, struct as_error *err)
{
    struct as_copy *copy = *out = as_calloc(1, sizeof *copy);

    if (copy)
        copy->table = as_calloc(as_copy_table_n, sizeof *copy->table);
    if (!copy || !copy->table) {
        as_copy_free(out);
        return as_error_nomem(err, "a copy");
    }
    copy->to = to;
    describe_tables(copy);
    return 0;
}

void as_copy_free(struct as_copy **copy)
{
    struct as_copy *it = *copy;

    *copy = NULL;
    if (!it)
        return;
    for (size_t i = 0; it->table && i < as_copy_table_n; i++) {
        struct copied_table *table = &it->table[i];

        sqlite3_finalize(table->read);
        sqlite3_finalize(table->add);
        for (size_t k = 0; table->set && k < table->as->column_n; k++)
            sqlite3_finalize(table->set[k]);
        as_free(table->set);
        as_vec_fini(&table->later);
        as_map_u64_fini(&table->id);
    }
    as_free(it->table);
    as_str_fini(&it->text);
    as_free(it);
}

int64_t as_copy_object(const struct as_copy *copy, enum as_object_kind kind, int64_t id)
{
    const size_t table = copy->of_kind[kind];

    return table < as_copy_table_n ? mapped(&copy->table[table], id) : 0;
}
