/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes rows. Binds the members of a struct to the parameters of its table's statement.
 * data/experiment/tables.txt describes both.
 */
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "experiment/bulk.h"
#include "experiment/secrets.h"

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static void bind_number(sqlite3_stmt *statement, int at, struct as_number number)
{
    if (number.known)
        sqlite3_bind_int64(statement, at, number.value);
    else
        sqlite3_bind_null(statement, at);
}

/* Copies a member of any type out of its struct. */
#define MEMBER(type, from)                                                                         \
    ({                                                                                             \
        type member_;                                                                              \
        memcpy(&member_, from, sizeof member_);                                                    \
        member_;                                                                                   \
    })

static void bind_member(sqlite3_stmt *statement, int at, enum as_row_kind kind, const char *from)
{
    switch (kind) {
    case AS_ROW_TEXT:
        bind_text(statement, at, MEMBER(const char *, from));
        break;
    case AS_ROW_NUMBER:
        bind_number(statement, at, MEMBER(struct as_number, from));
        break;
    case AS_ROW_INTEGER:
        sqlite3_bind_int64(statement, at, MEMBER(int64_t, from));
        break;
    case AS_ROW_REAL: /* SQLite stores NAN as NULL */
        sqlite3_bind_double(statement, at, MEMBER(double, from));
        break;
    case AS_ROW_BOOL:
        sqlite3_bind_int(statement, at, MEMBER(bool, from));
        break;
    case AS_ROW_ID: {
        const int64_t id = MEMBER(int64_t, from);

        bind_number(statement, at, (struct as_number){id, id != 0});
        break;
    }
    case AS_ROW_OBJECT:
        bind_text(statement, at, as_object_word(MEMBER(enum as_object_kind, from)));
        break;
    case AS_ROW_ORIGIN:
        bind_text(statement, at, as_origin_word((int)MEMBER(enum as_origin, from)));
        break;
    }
}

void as_row_result(sqlite3_context *context, enum as_row_kind kind, const char *from)
{
    switch (kind) {
    case AS_ROW_TEXT:
        sqlite3_result_text(context, MEMBER(const char *, from), -1, SQLITE_STATIC);
        break;
    case AS_ROW_NUMBER: {
        const struct as_number number = MEMBER(struct as_number, from);

        if (number.known) /* an unknown number stays NULL */
            sqlite3_result_int64(context, number.value);
        break;
    }
    case AS_ROW_INTEGER:
        sqlite3_result_int64(context, MEMBER(int64_t, from));
        break;
    case AS_ROW_REAL:
        sqlite3_result_double(context, MEMBER(double, from));
        break;
    case AS_ROW_BOOL:
        sqlite3_result_int(context, MEMBER(bool, from));
        break;
    case AS_ROW_ID:
        if (MEMBER(int64_t, from))
            sqlite3_result_int64(context, MEMBER(int64_t, from));
        break;
    case AS_ROW_OBJECT:
        sqlite3_result_text(context, as_object_word(MEMBER(enum as_object_kind, from)), -1,
                            SQLITE_STATIC);
        break;
    case AS_ROW_ORIGIN:
        sqlite3_result_text(context, as_origin_word((int)MEMBER(enum as_origin, from)), -1,
                            SQLITE_STATIC);
        break;
    }
}

/* Columns that may hold secrets, and their form. */
static const struct secret_column {
    enum as_table_id table;
    enum { SECRET_COMMAND, SECRET_ARGV, SECRET_VALUE } how;
    size_t offset, name; /* offsets of the member, and of the member with the name of the value */
} secret_columns[] = {
    {AS_TABLE_run, SECRET_COMMAND, offsetof(struct as_row_run, command), 0},
    {AS_TABLE_run, SECRET_ARGV, offsetof(struct as_row_run, argv), 0},
    {AS_TABLE_run_environment, SECRET_VALUE, offsetof(struct as_row_run_environment, value),
     offsetof(struct as_row_run_environment, name)},
    {AS_TABLE_run_setting, SECRET_VALUE, offsetof(struct as_row_run_setting, value),
     offsetof(struct as_row_run_setting, name)},
    {AS_TABLE_process, SECRET_COMMAND, offsetof(struct as_row_process, command), 0},
    {AS_TABLE_trial, SECRET_COMMAND, offsetof(struct as_row_trial, command), 0},
};

static const struct secret_column *secret_column_of(enum as_table_id id, size_t offset)
{
    for (size_t i = 0; i < sizeof secret_columns / sizeof *secret_columns; i++)
        if (secret_columns[i].table == id && secret_columns[i].offset == offset)
            return &secret_columns[i];
    return NULL;
}

static void redact_member(struct as_str *out, const struct secret_column *column, const char *row,
                          const char *text)
{
    if (column->how == SECRET_VALUE)
        as_secrets_value(out, MEMBER(const char *, row + column->name), text);
    else if (column->how == SECRET_COMMAND || !as_secrets_argv(out, text))
        as_secrets_command(out, text);
}

/* Binds the texts of a row that may hold secrets again, redacted. */
static int bind_secrets(sqlite3_stmt *statement, enum as_table_id id, const char *row,
                        struct as_error *err)
{
    const struct as_row_table *table = &as_row_tables[id];

    for (size_t i = 0; i < table->column_n; i++) {
        const struct secret_column *column = secret_column_of(id, table->column[i].offset);
        const char *text = column ? MEMBER(const char *, row + column->offset) : NULL;
        struct as_str redacted = {0};

        if (!text)
            continue;
        redact_member(&redacted, column, row, text);
        if (!redacted.failed)
            sqlite3_bind_text(statement, (int)i + 1, as_str_z(&redacted), (int)redacted.n,
                              SQLITE_TRANSIENT);
        const bool failed = redacted.failed;
        as_str_fini(&redacted);
        if (failed)
            return as_error_nomem(err, table->name);
    }
    return 0;
}

static bool may_hold_secrets(enum as_table_id id)
{
    return id == AS_TABLE_run || id == AS_TABLE_run_environment || id == AS_TABLE_run_setting ||
           id == AS_TABLE_process || id == AS_TABLE_trial;
}

static int write_row(struct as_experiment *experiment, enum as_table_id id, sqlite3_stmt *statement,
                     const void *row, int64_t *out, struct as_error *err)
{
    const struct as_row_table *table = &as_row_tables[id];

    for (size_t i = 0; i < table->column_n; i++)
        bind_member(statement, (int)i + 1, table->column[i].kind,
                    (const char *)row + table->column[i].offset);
    if (may_hold_secrets(id))
        AS_TRY(bind_secrets(statement, id, row, err));
    return as_sql_insert(experiment, statement, table->writing, out, err);
}

/* ---- Brief keys -------------------------------------------------------------------------- */

int as_key_make(struct as_experiment *experiment, enum as_table_id id, struct as_error *err)
{
    const struct as_row_table *table = &as_row_tables[id];

    if (!table->key || experiment->has_key[id])
        return 0;
    assert(experiment->in_batch);
    AS_TRY(as_sql_run(experiment, table->key, table->writing, err));
    experiment->has_key[id] = true;
    return 0;
}

int as_key_make_named(struct as_experiment *experiment, const char *table, struct as_error *err)
{
    for (int i = 0; i < AS_TABLE_COUNT; i++)
        if (strcmp(as_row_tables[i].name, table) == 0)
            return as_key_make(experiment, (enum as_table_id)i, err);
    return 0;
}

int as_keys_drop(struct as_experiment *experiment, struct as_error *err)
{
    char sql[80];

    for (int i = 0; i < AS_TABLE_COUNT; i++) {
        if (!experiment->has_key[i])
            continue;
        sqlite3_snprintf(sizeof sql, sql, "DROP INDEX %s_key", as_row_tables[i].name);
        AS_TRY(as_sql_run(experiment, sql, as_row_tables[i].writing, err));
        experiment->has_key[i] = false;
    }
    return 0;
}

/* ---- Adding ------------------------------------------------------------------------------ */

static int add_row(struct as_experiment *experiment, enum as_table_id id, const void *row,
                   int64_t *out, struct as_error *err)
{
    AS_TRY(as_key_make(experiment, id, err));
    AS_TRY(as_sql_prepare(experiment, as_row_tables[id].add, &experiment->add[id], err));
    return write_row(experiment, id, experiment->add[id], row, out, err);
}

int as_row_add(struct as_experiment *experiment, enum as_table_id id, const void *row, int64_t *out,
               struct as_error *err)
{
    int rc;

    assert(id < AS_TABLE_COUNT);
    AS_TRY(as_batch_check(experiment, err));
    if (!as_row_tables[id].key || experiment->in_batch)
        return add_row(experiment, id, row, out, err);
    AS_TRY(as_experiment_begin(experiment, err)); /* a batch of one row: the key needs a batch */
    rc = add_row(experiment, id, row, out, err);
    if (rc == 0)
        return as_experiment_commit(experiment, err);
    as_experiment_rollback(experiment);
    return rc;
}

static int add_rows(struct as_experiment *experiment, enum as_table_id id, const void *row,
                    size_t row_b, size_t n, int64_t first_id, struct as_error *err)
{
    const struct as_row_table *table = &as_row_tables[id];
    const struct as_bulk bulk = {.table = table->name,
                                 .what = table->writing,
                                 .column = table->column,
                                 .column_n = table->column_n,
                                 .conflict = first_id ? NULL : table->conflict,
                                 .row = row,
                                 .row_b = row_b,
                                 .n = n,
                                 .first_id = first_id};

    return as_bulk_add(experiment, &bulk, err);
}

static int set_row(struct as_experiment *experiment, enum as_table_id id, int64_t row_id,
                   const void *row, struct as_error *err)
{
    const struct as_row_table *table = &as_row_tables[id];
    int64_t found = 0;

    AS_TRY(as_batch_check(experiment, err));
    AS_TRY(as_sql_prepare(experiment, table->set, &experiment->set[id], err));
    sqlite3_bind_int64(experiment->set[id], (int)table->column_n + 1, row_id);
    AS_TRY(write_row(experiment, id, experiment->set[id], row, &found, err));
    if (!found)
        return as_error_set(err, AS_ERR_INTERNAL, "%s: table %s has no row %lld",
                            experiment->db_path, table->name, (long long)row_id);
    return 0;
}

/* ---- Functions by table ------------------------------------------------------------------ */

#define ROW_FUNCTIONS(name)                                                                        \
    int as_experiment_add_##name(struct as_experiment *experiment,                                 \
                                 const struct as_row_##name *row, int64_t *id,                     \
                                 struct as_error *err)                                             \
    {                                                                                              \
        return as_row_add(experiment, AS_TABLE_##name, row, id, err);                              \
    }                                                                                              \
    int as_experiment_set_##name(struct as_experiment *experiment, int64_t id,                     \
                                 const struct as_row_##name *row, struct as_error *err)            \
    {                                                                                              \
        return set_row(experiment, AS_TABLE_##name, id, row, err);                                 \
    }
AS_ROW_LIST(ROW_FUNCTIONS)

#define PLAIN_ROW_FUNCTIONS(name)                                                                  \
    int as_experiment_add_##name(struct as_experiment *experiment,                                 \
                                 const struct as_row_##name *row, struct as_error *err)            \
    {                                                                                              \
        return as_row_add(experiment, AS_TABLE_##name, row, NULL, err);                            \
    }
AS_PLAIN_ROW_LIST(PLAIN_ROW_FUNCTIONS)

/* ---- Many rows at once ------------------------------------------------------------------- */

int as_experiment_add_new_blocks(struct as_experiment *experiment, const struct as_row_block *row,
                                 size_t n, int64_t first_id, struct as_error *err)
{
    return add_rows(experiment, AS_TABLE_block, row, sizeof *row, n, first_id, err);
}

int as_experiment_add_new_locations(struct as_experiment *experiment,
                                    const struct as_row_location *row, size_t n, int64_t first_id,
                                    struct as_error *err)
{
    return add_rows(experiment, AS_TABLE_location, row, sizeof *row, n, first_id, err);
}

int as_experiment_add_new_callpaths(struct as_experiment *experiment,
                                    const struct as_row_callpath *row, size_t n, int64_t first_id,
                                    struct as_error *err)
{
    return add_rows(experiment, AS_TABLE_callpath, row, sizeof *row, n, first_id, err);
}

int as_experiment_add_disassemblies(struct as_experiment *experiment,
                                    const struct as_row_disassembly *row, size_t n,
                                    struct as_error *err)
{
    return add_rows(experiment, AS_TABLE_disassembly, row, sizeof *row, n, 0, err);
}

int as_experiment_add_samples(struct as_experiment *experiment, const struct as_row_sample *row,
                              size_t n, struct as_error *err)
{
    return add_rows(experiment, AS_TABLE_sample, row, sizeof *row, n, 0, err);
}
