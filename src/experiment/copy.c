/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copying of copy.h: for each table of the list a statement that reads the rows of the run, one
 * that writes them, and a map from old ids to new ones. A row that refers to one that is not there
 * is damage: the other experiment may come from anywhere.
 */
#include "experiment/copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "experiment/internal.h"

#define PLUS_ONE(...) +1
enum { KIND_END = 1 ASSAY_OBJECT_LIST(PLUS_ONE) };

enum role { ROLE_VALUE, ROLE_ID, ROLE_OBJECT, ROLE_TIME, ROLE_FILE, ROLE_PROCESS, ROLE_SUM };

enum mark { MARK_NONE = 0, MARK_LATER = '+' };

struct copied_column {
    const char *name;
    enum role role;
    enum mark mark;
    size_t of;         /* ID: index of the table */
    sqlite3_stmt *set; /* LATER: sets it in a row that is there */
};

/* A reference to a row further down. */
struct later {
    int64_t id, old;
    size_t column;
};

struct copied_table {
    const struct as_copy_table *as;
    AS_VEC(struct copied_column) column; /* without its own id */
    bool has_id;
    int kind_at; /* of object_kind, -1 = there is none */
    sqlite3_stmt *read, *add;
    struct as_map_u64 id; /* old -> new */
    AS_VEC(struct later) later;
};

struct as_copy {
    struct assay_experiment *to;
    struct as_arena arena;
    struct copied_table *table; /* as_copy_table_n */
    size_t of_kind[KIND_END];
    struct as_str text;
    const struct as_copy_part *part;
};

/* ---- The list ------------------------------------------------------------------------------ */

static size_t find_table(const char *name, size_t n)
{
    for (size_t i = 0; i < as_copy_table_n; i++)
        if (strlen(as_copy_tables[i].name) == n && memcmp(as_copy_tables[i].name, name, n) == 0)
            return i;
    return as_copy_table_n;
}

static void take_role(struct copied_column *column, const char *role, size_t n)
{
    static const struct {
        const char *word;
        enum role role;
    } known[] = {{"@object", ROLE_OBJECT},
                 {"@time", ROLE_TIME},
                 {"@file", ROLE_FILE},
                 {"@process", ROLE_PROCESS},
                 {"@sum", ROLE_SUM}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].word) == n && memcmp(known[i].word, role, n) == 0)
            column->role = known[i].role;
    if (column->role != ROLE_VALUE)
        return;
    column->role = ROLE_ID;
    if (n && role[n - 1] == MARK_LATER) {
        column->mark = MARK_LATER;
        n--;
    }
    column->of = find_table(role, n);
}

/* The role that the list gives the column of this name. */
static void find_role(const struct as_copy_table *as, struct copied_column *column)
{
    const size_t n = strlen(column->name);

    for (const char *word = as->columns; *word; word += strspn(word, " ")) {
        const size_t word_n = strcspn(word, " ");

        if (word_n > n && word[n] == ':' && memcmp(word, column->name, n) == 0)
            take_role(column, word + n + 1, word_n - n - 1);
        word += word_n;
    }
}

static int add_column(struct as_copy *copy, struct copied_table *table, const char *name,
                      struct assay_error *err)
{
    struct copied_column column = {.name = as_arena_strndup(&copy->arena, name, strlen(name))};
    const size_t n = strlen(table->as->name);

    if (strncmp(name, table->as->name, n) == 0 && strcmp(name + n, "_id") == 0) {
        table->has_id = true;
        return 0;
    }
    if (!column.name)
        return as_error_nomem(err, table->as->name);
    find_role(table->as, &column);
    if (column.role == ROLE_ID && column.of == as_copy_table_n)
        return as_error_set(err, ASSAY_ERR_INTERNAL, "table %s: %s refers to no table",
                            table->as->name, name);
    if (strcmp(name, "object_kind") == 0)
        table->kind_at = (int)table->column.n;
    return as_vec_push(&table->column, column) < 0 ? as_error_nomem(err, table->as->name) : 0;
}

static int list_columns(struct as_copy *copy, struct copied_table *table, struct assay_error *err)
{
    sqlite3_stmt *s = NULL;
    int code, rc;

    table->kind_at = -1;
    rc = as_sql_prepare(copy->to, "SELECT name FROM pragma_table_info(?1)", &s, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_text(s, 1, table->as->name, -1, SQLITE_STATIC);
    while (rc == 0 && (code = sqlite3_step(s)) == SQLITE_ROW)
        rc = add_column(copy, table, (const char *)sqlite3_column_text(s, 0), err);
    if (rc == 0 && code != SQLITE_DONE)
        rc = as_sql_failure(copy->to->db_path, copy->to->db, code, "reading its schema", err);
    sqlite3_finalize(s);
    return rc;
}

/* ---- Statements ---------------------------------------------------------------------------- */

static bool is_copied(const struct copied_table *table)
{
    return table->as->way < AS_COPY_MADE;
}

static void append_conflict(struct as_str *sql, const struct copied_table *table)
{
    const char *between = " ON CONFLICT DO UPDATE SET ";

    if (table->as->way == AS_COPY_KEEP)
        as_str_appendz(sql, " ON CONFLICT DO NOTHING");
    else
        as_vec_foreach (&table->column, it) {
            const char *c = it->name;

            if (table->as->way == AS_COPY_COMPLETE)
                as_str_appendf(sql, "%s\"%s\" = coalesce(\"%s\", excluded.\"%s\")", between, c, c,
                               c);
            else if (it->role == ROLE_SUM)
                as_str_appendf(sql, "%s\"%s\" = coalesce(\"%s\" + excluded.\"%s\", \"%s\")",
                               between, c, c, c, c);
            else
                continue;
            between = ", ";
        }
    if (table->has_id)
        as_str_appendf(sql, " RETURNING %s_id", table->as->name);
}

static int prepare_add(struct as_copy *copy, struct copied_table *table, struct assay_error *err)
{
    struct as_str sql = {0};
    int rc;

    as_str_appendf(&sql, "INSERT INTO \"%s\" (", table->as->name);
    as_vec_foreach (&table->column, it)
        as_str_appendf(&sql, "%s\"%s\"", it == table->column.at ? "" : ", ", it->name);
    as_str_appendz(&sql, ") VALUES (");
    for (size_t i = 0; i < table->column.n; i++)
        as_str_appendf(&sql, "%s?%zu", i ? ", " : "", i + 1);
    as_str_appendz(&sql, ")");
    append_conflict(&sql, table);
    rc = sql.failed ? as_error_nomem(err, table->as->name)
                    : as_sql_prepare(copy->to, as_str_z(&sql), &table->add, err);
    as_str_fini(&sql);
    return rc;
}

static int damaged(const struct as_copy *copy, const struct copied_table *table, const char *why,
                   struct assay_error *err)
{
    return as_error_set(err, ASSAY_ERR_CORRUPT,
                        "%s: damaged: its table %s: %s; leave it out or take an unharmed copy",
                        assay_experiment_path(copy->part->from), table->as->name, why);
}

/* Rows in the order of their ids: what refers to its own table mostly refers to rows above. */
static int prepare_read(struct as_copy *copy, struct copied_table *table, struct assay_error *err)
{
    struct assay_experiment *from = copy->part->from;
    struct as_str sql = {0};
    int code = SQLITE_OK, rc = 0;

    as_str_appendf(&sql, "SELECT ");
    if (table->has_id)
        as_str_appendf(&sql, "%s_id, ", table->as->name);
    as_vec_foreach (&table->column, it)
        as_str_appendf(&sql, "%s\"%s\"", it == table->column.at ? "" : ", ", it->name);
    as_str_appendf(&sql, " FROM \"%s\" WHERE %s", table->as->name,
                   table->as->rows ? table->as->rows : "1");
    if (table->has_id)
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

/* ---- A row --------------------------------------------------------------------------------- */

enum { ROW_GOES = 1 }; /* 0: it is left out */

static int64_t mapped(const struct copied_table *table, int64_t id)
{
    const uint32_t found = as_map_u64_get(&table->id, (uint64_t)id);

    return found == AS_MAP_NONE ? 0 : (int64_t)found;
}

static int bind_reference(struct as_copy *copy, struct copied_table *table, size_t at, int64_t row,
                          int64_t id, struct assay_error *err)
{
    const struct copied_column *column = &table->column.at[at];
    const int64_t now = id ? mapped(&copy->table[column->of], id) : 0;
    char why[160];

    if (now || !id) { /* 0 is no row: of every run */
        sqlite3_bind_int64(table->add, (int)at + 1, now);
        return ROW_GOES;
    }
    if (column->mark == MARK_LATER && id > row) {
        sqlite3_bind_null(table->add, (int)at + 1);
        if (as_vec_push(&table->later, (struct later){.old = id, .column = at}) < 0)
            return as_error_nomem(err, table->as->name);
        return ROW_GOES;
    }
    snprintf(why, sizeof why, "a row refers to row %" PRId64 " of %s, which is not there", id,
             copy->table[column->of].as->name);
    return damaged(copy, table, why, err);
}

static int bind_object(struct as_copy *copy, struct copied_table *table, size_t at, int64_t id)
{
    const int first = table->has_id;
    const char *word = table->kind_at < 0
                           ? NULL
                           : (const char *)sqlite3_column_text(table->read, first + table->kind_at);
    const enum assay_object_kind kind = assay_object_kind_of(word);
    const int64_t now = kind ? as_copy_object(copy, kind, id) : 0;

    sqlite3_bind_int64(table->add, (int)at + 1, now);
    return now ? ROW_GOES : 0;
}

static int bind_file(struct as_copy *copy, struct copied_table *table, size_t at, const char *path,
                     struct assay_error *err)
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

/* "[generated code of process 12]" becomes "[generated code of process 12, rank 3]". */
static int bind_of_process(struct as_copy *copy, struct copied_table *table, size_t at,
                           const char *text, struct assay_error *err)
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
                       struct assay_error *err)
{
    const int from = (int)at + table->has_id, to = (int)at + 1;
    sqlite3_stmt *read = table->read;
    const int type = sqlite3_column_type(read, from);
    const enum role role = table->column.at[at].role;
    const char *text = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(read, from) : NULL;
    const int64_t integer = type == SQLITE_INTEGER ? sqlite3_column_int64(read, from) : 0;

    if (type == SQLITE_INTEGER && role == ROLE_ID)
        return bind_reference(copy, table, at, row, integer, err);
    if (type == SQLITE_INTEGER && role == ROLE_OBJECT)
        return bind_object(copy, table, at, integer);
    if (text && role == ROLE_FILE)
        return bind_file(copy, table, at, text, err);
    if (text && role == ROLE_PROCESS)
        return bind_of_process(copy, table, at, text, err);
    if (type == SQLITE_INTEGER && role == ROLE_TIME)
        sqlite3_bind_int64(table->add, to,
                           (int64_t)((uint64_t)integer + (uint64_t)copy->part->shift_ns));
    else
        sqlite3_bind_value(table->add, to, sqlite3_column_value(read, from));
    return ROW_GOES;
}

/* Writes the row that is bound; `*id` is 0 where one that is there stays as it is. */
static int write_row(struct as_copy *copy, struct copied_table *table, int64_t *id,
                     struct assay_error *err)
{
    struct assay_experiment *to = copy->to;
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

static int copy_row(struct as_copy *copy, struct copied_table *table, struct assay_error *err)
{
    const int64_t old = table->has_id ? sqlite3_column_int64(table->read, 0) : 0;
    const size_t later_n = table->later.n;
    int64_t id;

    AS_TRY(as_stop_check(copy->to, err));
    for (size_t i = 0; i < table->column.n; i++) {
        const int goes = bind_column(copy, table, i, old, err);

        if (goes != ROW_GOES)
            return goes;
    }
    AS_TRY(write_row(copy, table, &id, err));
    if (!table->has_id || !id)
        return 0;
    for (size_t i = later_n; i < table->later.n; i++)
        table->later.at[i].id = id;
    if (id >= AS_MAP_NONE)
        return as_error_set(err, ASSAY_ERR_LIMIT, "%s: table %s has too many rows; merge fewer",
                            copy->to->path, table->as->name);
    return as_map_u64_put(&table->id, (uint64_t)old, (uint32_t)id) < 0
               ? as_error_nomem(err, table->as->name)
               : 0;
}

/* ---- A table ------------------------------------------------------------------------------- */

static int prepare_set(struct as_copy *copy, struct copied_table *table,
                       struct copied_column *column, struct assay_error *err)
{
    struct as_str sql = {0};
    int rc;

    as_str_appendf(&sql, "UPDATE \"%s\" SET \"%s\" = ?1 WHERE %s_id = ?2", table->as->name,
                   column->name, table->as->name);
    rc = sql.failed ? as_error_nomem(err, table->as->name)
                    : as_sql_prepare(copy->to, as_str_z(&sql), &column->set, err);
    as_str_fini(&sql);
    return rc;
}

static int set_later(struct as_copy *copy, struct copied_table *table, struct assay_error *err)
{
    as_vec_foreach (&table->later, it) {
        struct copied_column *column = &table->column.at[it->column];
        const int64_t now = mapped(table, it->old);

        if (!now || !it->id)
            continue; /* what is not there is not known */
        AS_TRY(prepare_set(copy, table, column, err));
        sqlite3_bind_int64(column->set, 1, now);
        sqlite3_bind_int64(column->set, 2, it->id);
        AS_TRY(as_sql_insert(copy->to, column->set, "writing a row", NULL, err));
    }
    return 0;
}

static int copy_rows(struct as_copy *copy, struct copied_table *table, struct assay_error *err)
{
    struct assay_experiment *from = copy->part->from;
    int code, rc = 0;

    while (rc == 0 && (code = sqlite3_step(table->read)) == SQLITE_ROW)
        rc = copy_row(copy, table, err);
    if (rc == 0 && code != SQLITE_DONE)
        rc = as_sql_failure(from->db_path, from->db, code, "reading it", err);
    return rc;
}

static int copy_table(struct as_copy *copy, struct copied_table *table, struct assay_error *err)
{
    int rc = table->add ? 0 : prepare_add(copy, table, err);

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

int as_copy_run(struct as_copy *copy, const struct as_copy_part *part, struct assay_error *err)
{
    struct copied_table *run = &copy->table[copy->of_kind[ASSAY_OBJECT_RUN]];
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

/* ---- All ----------------------------------------------------------------------------------- */

static int describe_tables(struct as_copy *copy, struct assay_error *err)
{
    for (size_t i = 0; i < as_copy_table_n; i++) {
        copy->table[i].as = &as_copy_tables[i];
        as_map_u64_init(&copy->table[i].id);
    }
    for (size_t k = 1; k < KIND_END; k++) {
        const char *word = assay_object_word((enum assay_object_kind)k);

        copy->of_kind[k] = find_table(word, strlen(word));
    }
    for (size_t i = 0; i < as_copy_table_n; i++)
        AS_TRY(list_columns(copy, &copy->table[i], err));
    return 0;
}

int as_copy_new(struct assay_experiment *to, struct as_copy **out, struct assay_error *err)
{
    struct as_copy *copy = as_calloc(1, sizeof *copy);
    int rc;

    *out = NULL;
    if (!copy)
        return as_error_nomem(err, "a copy");
    copy->to = to;
    as_arena_init(&copy->arena);
    copy->table = as_calloc(as_copy_table_n, sizeof *copy->table);
    rc = copy->table ? describe_tables(copy, err) : as_error_nomem(err, "a copy");
    *out = copy;
    if (rc < 0)
        as_copy_free(out);
    return rc;
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
        as_vec_foreach (&table->column, column)
            sqlite3_finalize(column->set);
        as_vec_fini(&table->column);
        as_vec_fini(&table->later);
        as_map_u64_fini(&table->id);
    }
    as_free(it->table);
    as_str_fini(&it->text);
    as_arena_fini(&it->arena);
    as_free(it);
}

int64_t as_copy_object(const struct as_copy *copy, enum assay_object_kind kind, int64_t id)
{
    const size_t table = copy->of_kind[kind];

    return table < as_copy_table_n ? mapped(&copy->table[table], id) : 0;
}
