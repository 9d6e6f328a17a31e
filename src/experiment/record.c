/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of <assay/experiment.h> as columns, and writing them. The description of a struct makes
 * its insert: a row whose natural key is there already is completed, or added up where the columns
 * are sums. Types are checked here by the compiler and against the schema when a statement is
 * prepared.
 */
#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "experiment/internal.h"

#include <assay/version.h>

enum kind { KIND_TEXT, KIND_NUMBER, KIND_INTEGER, KIND_BOOL, KIND_ID };

struct column {
    const char *name;
    enum kind kind;
    size_t offset;
};

#define TYPE_TEXT    const char *
#define TYPE_NUMBER  struct assay_number
#define TYPE_INTEGER int64_t
#define TYPE_BOOL    bool
#define TYPE_ID      int64_t

/* One column; the comparison of pointers makes the compiler check the member's type. */
#define COLUMN(row, member, k)                                                                     \
    {                                                                                              \
#member, KIND_##k,                                                                         \
            offsetof(struct assay_row_##row, member) +                                             \
                0 * sizeof((TYPE_##k *)0 == &((struct assay_row_##row *)0)->member)                \
    }

/* clang-format off */
static const struct column host_columns[] = {
    COLUMN(host, name, TEXT),
    COLUMN(host, kernel, TEXT),
    COLUMN(host, os, TEXT),
    COLUMN(host, cpu_vendor, TEXT),
    COLUMN(host, cpu_model, TEXT),
    COLUMN(host, cpu_family, NUMBER),
    COLUMN(host, cpu_model_number, NUMBER),
    COLUMN(host, cpu_stepping, NUMBER),
    COLUMN(host, hypervisor, TEXT),
    COLUMN(host, socket_n, NUMBER),
    COLUMN(host, core_n, NUMBER),
    COLUMN(host, cpu_n, NUMBER),
    COLUMN(host, numa_n, NUMBER),
    COLUMN(host, memory_b, NUMBER),
    COLUMN(host, tsc_hz, NUMBER),
    COLUMN(host, base_hz, NUMBER),
    COLUMN(host, max_hz, NUMBER),
};
static const struct column run_columns[] = {
    COLUMN(run, kind, TEXT),
    COLUMN(run, label, TEXT),
    COLUMN(run, command, TEXT),
    COLUMN(run, argv, TEXT),
    COLUMN(run, environment_digest, TEXT),
    COLUMN(run, cwd, TEXT),
    COLUMN(run, launcher, TEXT),
    COLUMN(run, host_id, ID),
    COLUMN(run, start_ns, INTEGER),
    COLUMN(run, wall_ns, NUMBER),
    COLUMN(run, exit_code, NUMBER),
    COLUMN(run, exit_signal, NUMBER),
    COLUMN(run, state, TEXT),
    COLUMN(run, event, TEXT),
    COLUMN(run, event_reason, TEXT),
    COLUMN(run, rate_hz, NUMBER),
    COLUMN(run, call_stacks, TEXT),
    COLUMN(run, scope, TEXT),
    COLUMN(run, overhead_ns, NUMBER),
};
static const struct column run_file_columns[] = {
    COLUMN(run_file, run_id, ID),
    COLUMN(run_file, path, TEXT),
    COLUMN(run_file, kind, TEXT),
    COLUMN(run_file, size_b, NUMBER),
};
static const struct column overhead_columns[] = {
    COLUMN(overhead, run_id, ID),
    COLUMN(overhead, part, TEXT),
    COLUMN(overhead, cpu_ns, NUMBER),
    COLUMN(overhead, wall_ns, NUMBER),
    COLUMN(overhead, origin, TEXT),
};
static const struct column process_columns[] = {
    COLUMN(process, run_id, ID),
    COLUMN(process, parent_id, ID),
    COLUMN(process, pid, INTEGER),
    COLUMN(process, parent_pid, NUMBER),
    COLUMN(process, host_id, ID),
    COLUMN(process, rank, NUMBER),
    COLUMN(process, exe, TEXT),
    COLUMN(process, command, TEXT),
    COLUMN(process, start_ns, INTEGER),
    COLUMN(process, end_ns, NUMBER),
    COLUMN(process, exit_code, NUMBER),
    COLUMN(process, exit_signal, NUMBER),
};
static const struct column thread_columns[] = {
    COLUMN(thread, process_id, ID),
    COLUMN(thread, tid, INTEGER),
    COLUMN(thread, name, TEXT),
    COLUMN(thread, omp_thread, NUMBER),
    COLUMN(thread, start_ns, INTEGER),
    COLUMN(thread, end_ns, NUMBER),
    COLUMN(thread, cpu_ns, NUMBER),
    COLUMN(thread, blocked_ns, NUMBER),
    COLUMN(thread, switch_voluntary_n, NUMBER),
    COLUMN(thread, switch_involuntary_n, NUMBER),
    COLUMN(thread, cpu_migration_n, NUMBER),
    COLUMN(thread, numa_migration_n, NUMBER),
    COLUMN(thread, lost_n, INTEGER),
};
static const struct column category_columns[] = {
    COLUMN(category, name, TEXT),
    COLUMN(category, title, TEXT),
    COLUMN(category, parent_id, ID),
    COLUMN(category, meaning, TEXT),
};
static const struct column module_columns[] = {
    COLUMN(module, path, TEXT),
    COLUMN(module, name, TEXT),
    COLUMN(module, build_id, TEXT),
    COLUMN(module, kind, TEXT),
    COLUMN(module, size_b, NUMBER),
    COLUMN(module, has_debug, NUMBER),
    COLUMN(module, kept_path, TEXT),
};
static const struct column mapping_columns[] = {
    COLUMN(mapping, process_id, ID),
    COLUMN(mapping, module_id, ID),
    COLUMN(mapping, start, INTEGER),
    COLUMN(mapping, end, INTEGER),
    COLUMN(mapping, file_offset_b, INTEGER),
    COLUMN(mapping, from_ns, NUMBER),
    COLUMN(mapping, to_ns, NUMBER),
};
static const struct column source_file_columns[] = {
    COLUMN(source_file, path, TEXT),
    COLUMN(source_file, language, TEXT),
    COLUMN(source_file, digest, TEXT),
};
static const struct column line_columns[] = {
    COLUMN(line, source_file_id, ID),
    COLUMN(line, number, INTEGER),
    COLUMN(line, text, TEXT),
};
static const struct column unit_columns[] = {
    COLUMN(unit, module_id, ID),
    COLUMN(unit, name, TEXT),
    COLUMN(unit, language, TEXT),
    COLUMN(unit, compiler, TEXT),
    COLUMN(unit, compiler_version, TEXT),
    COLUMN(unit, flags, TEXT),
};
static const struct column function_columns[] = {
    COLUMN(function, module_id, ID),
    COLUMN(function, name, TEXT),
    COLUMN(function, linkage_name, TEXT),
    COLUMN(function, address, NUMBER),
    COLUMN(function, size_b, NUMBER),
    COLUMN(function, unit_id, ID),
    COLUMN(function, line_id, ID),
    COLUMN(function, known_from, TEXT),
};
static const struct column loop_columns[] = {
    COLUMN(loop, function_id, ID),
    COLUMN(loop, parent_id, ID),
    COLUMN(loop, source_loop_id, ID),
    COLUMN(loop, address, INTEGER),
    COLUMN(loop, depth, INTEGER),
    COLUMN(loop, is_innermost, BOOL),
    COLUMN(loop, role, TEXT),
    COLUMN(loop, first_line_id, ID),
    COLUMN(loop, last_line_id, ID),
    COLUMN(loop, block_n, NUMBER),
    COLUMN(loop, instruction_n, NUMBER),
};
static const struct column block_columns[] = {
    COLUMN(block, function_id, ID),
    COLUMN(block, loop_id, ID),
    COLUMN(block, address, INTEGER),
    COLUMN(block, size_b, INTEGER),
    COLUMN(block, instruction_n, NUMBER),
};
static const struct column inlining_columns[] = {
    COLUMN(inlining, function_id, ID),
    COLUMN(inlining, parent_id, ID),
    COLUMN(inlining, name, TEXT),
    COLUMN(inlining, call_line_id, ID),
};
static const struct column location_columns[] = {
    COLUMN(location, module_id, ID),
    COLUMN(location, address, INTEGER),
    COLUMN(location, function_id, ID),
    COLUMN(location, loop_id, ID),
    COLUMN(location, block_id, ID),
    COLUMN(location, line_id, ID),
    COLUMN(location, inlining_id, ID),
};
static const struct column callpath_columns[] = {
    COLUMN(callpath, parent_id, ID),
    COLUMN(callpath, function_id, ID),
    COLUMN(callpath, call_location_id, ID),
    COLUMN(callpath, category_id, ID),
    COLUMN(callpath, depth, INTEGER),
};
static const struct column host_fact_columns[] = {
    COLUMN(host_fact, host_id, ID),
    COLUMN(host_fact, name, TEXT),
    COLUMN(host_fact, value, TEXT),
};
static const struct column run_environment_columns[] = {
    COLUMN(run_environment, run_id, ID),
    COLUMN(run_environment, name, TEXT),
    COLUMN(run_environment, value, TEXT),
};
static const struct column thread_cpu_columns[] = {
    COLUMN(thread_cpu, thread_id, ID),
    COLUMN(thread_cpu, cpu, INTEGER),
    COLUMN(thread_cpu, numa_node, NUMBER),
    COLUMN(thread_cpu, sample_n, INTEGER),
};
static const struct column disassembly_columns[] = {
    COLUMN(disassembly, module_id, ID),
    COLUMN(disassembly, address, INTEGER),
    COLUMN(disassembly, function_id, ID),
    COLUMN(disassembly, size_b, INTEGER),
    COLUMN(disassembly, text, TEXT),
    COLUMN(disassembly, loop_id, ID),
    COLUMN(disassembly, block_id, ID),
    COLUMN(disassembly, line_id, ID),
};
static const struct column sample_columns[] = {
    COLUMN(sample, thread_id, ID),
    COLUMN(sample, callpath_id, ID),
    COLUMN(sample, location_id, ID),
    COLUMN(sample, state, INTEGER),
    COLUMN(sample, n, INTEGER),
    COLUMN(sample, time_ns, INTEGER),
};
/* clang-format on */

enum conflict {
    CONFLICT_COMPLETE, /* keep what is known, fill in what the new row knows */
    CONFLICT_ADD_UP,   /* columns that are sums grow */
    CONFLICT_REPLACE
};

struct table {
    const char *name, *writing;
    const struct column *column;
    size_t column_n;
    bool has_id;
    enum conflict conflict;
};

#define TABLE(row, id, c)                                                                          \
    [AS_TABLE_##row] = {#row,                                                                      \
                        "writing a row of table " #row,                                            \
                        row##_columns,                                                             \
                        sizeof row##_columns / sizeof *row##_columns,                              \
                        id,                                                                        \
                        CONFLICT_##c},
#define TABLE_WITH_ID(row) TABLE(row, true, COMPLETE)

static const struct table tables[AS_TABLE_COUNT] = {
    ASSAY_ROW_LIST(TABLE_WITH_ID) TABLE(host_fact, false, REPLACE)
        TABLE(run_environment, false, REPLACE) TABLE(thread_cpu, false, ADD_UP)
            TABLE(disassembly, false, REPLACE) TABLE(sample, false, ADD_UP)};

/* ---- Statements -------------------------------------------------------------------------- */

static bool is_sum(const struct column *column)
{
    return strcmp(column->name, "n") == 0 || strcmp(column->name, "sample_n") == 0 ||
           strcmp(column->name, "time_ns") == 0;
}

/* "INSERT INTO t (a, b) VALUES (?1, ?2)": `run` knows the version that wrote it besides. */
static void append_insert(struct as_str *sql, const struct table *table)
{
    const bool is_run = table == &tables[AS_TABLE_run];

    as_str_appendf(sql, "INSERT INTO %s (", table->name);
    for (size_t i = 0; i < table->column_n; i++)
        as_str_appendf(sql, "%s%s", i ? ", " : "", table->column[i].name);
    as_str_appendz(sql, is_run ? ", assay_version) VALUES (" : ") VALUES (");
    for (size_t i = 0; i < table->column_n; i++)
        as_str_appendf(sql, "%s?%zu", i ? ", " : "", i + 1);
    as_str_appendz(sql, is_run ? ", '" ASSAY_VERSION "')" : ")");
}

static void append_conflict(struct as_str *sql, const struct table *table)
{
    const char *between = " ON CONFLICT DO UPDATE SET ";

    for (size_t i = 0; i < table->column_n; i++) {
        const char *c = table->column[i].name;

        if (table->conflict == CONFLICT_ADD_UP && is_sum(&table->column[i]))
            as_str_appendf(sql, "%s%s = %s + excluded.%s", between, c, c, c);
        else if (table->conflict == CONFLICT_REPLACE)
            as_str_appendf(sql, "%s%s = excluded.%s", between, c, c);
        else if (table->conflict == CONFLICT_COMPLETE)
            as_str_appendf(sql, "%s%s = coalesce(excluded.%s, %s)", between, c, c, c);
        else
            continue;
        between = ", ";
    }
    if (table->has_id)
        as_str_appendf(sql, " RETURNING %s_id", table->name);
}

static void append_update(struct as_str *sql, const struct table *table)
{
    as_str_appendf(sql, "UPDATE %s SET ", table->name);
    for (size_t i = 0; i < table->column_n; i++)
        as_str_appendf(sql, "%s%s = ?%zu", i ? ", " : "", table->column[i].name, i + 1);
    as_str_appendf(sql, " WHERE %s_id = ?%zu RETURNING %s_id", table->name, table->column_n + 1,
                   table->name);
}

static int prepare(struct assay_experiment *experiment, enum as_table_id id, bool update,
                   sqlite3_stmt **statement, struct assay_error *err)
{
    struct as_str sql = {0};
    int rc;

    if (update) {
        append_update(&sql, &tables[id]);
    } else {
        append_insert(&sql, &tables[id]);
        append_conflict(&sql, &tables[id]);
    }
    rc = sql.failed ? as_error_nomem(err, experiment->db_path)
                    : as_sql_prepare(experiment, as_str_z(&sql), statement, err);
    as_str_fini(&sql);
    return rc;
}

static void bind(sqlite3_stmt *statement, int at, const struct column *column, const char *member)
{
    struct assay_number number;
    const char *text;
    int64_t integer;
    bool truth;

    switch (column->kind) {
    case KIND_TEXT:
        memcpy(&text, member, sizeof text);
        sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
        break;
    case KIND_NUMBER:
        memcpy(&number, member, sizeof number);
        if (number.known)
            sqlite3_bind_int64(statement, at, number.value);
        else
            sqlite3_bind_null(statement, at);
        break;
    case KIND_BOOL:
        memcpy(&truth, member, sizeof truth);
        sqlite3_bind_int(statement, at, truth);
        break;
    case KIND_INTEGER:
    case KIND_ID:
        memcpy(&integer, member, sizeof integer);
        if (column->kind == KIND_INTEGER || integer)
            sqlite3_bind_int64(statement, at, integer);
        else
            sqlite3_bind_null(statement, at);
        break;
    }
}

static int write_row(struct assay_experiment *experiment, enum as_table_id id,
                     sqlite3_stmt *statement, const void *row, int64_t *out,
                     struct assay_error *err)
{
    const struct table *table = &tables[id];

    for (size_t i = 0; i < table->column_n; i++)
        bind(statement, (int)i + 1, &table->column[i], (const char *)row + table->column[i].offset);
    return as_sql_insert(experiment, statement, table->writing, out, err);
}

static int add(struct assay_experiment *experiment, enum as_table_id id, const void *row,
               int64_t *out, struct assay_error *err)
{
    AS_TRY(as_batch_check(experiment, err));
    if (!experiment->add[id])
        AS_TRY(prepare(experiment, id, false, &experiment->add[id], err));
    return write_row(experiment, id, experiment->add[id], row, out, err);
}

static int set(struct assay_experiment *experiment, enum as_table_id id, int64_t row_id,
               const void *row, struct assay_error *err)
{
    int64_t found = 0;

    AS_TRY(as_batch_check(experiment, err));
    if (!experiment->set[id])
        AS_TRY(prepare(experiment, id, true, &experiment->set[id], err));
    sqlite3_bind_int64(experiment->set[id], (int)tables[id].column_n + 1, row_id);
    AS_TRY(write_row(experiment, id, experiment->set[id], row, &found, err));
    if (!found)
        return as_error_set(err, ASSAY_ERR_INTERNAL, "%s: table %s has no row %lld",
                            experiment->db_path, tables[id].name, (long long)row_id);
    return 0;
}

/* ---- The typed functions ----------------------------------------------------------------- */

#define ROW_FUNCTIONS(name)                                                                        \
    int assay_experiment_add_##name(struct assay_experiment *experiment,                           \
                                    const struct assay_row_##name *row, int64_t *id,               \
                                    struct assay_error *err)                                       \
    {                                                                                              \
        return add(experiment, AS_TABLE_##name, row, id, err);                                     \
    }                                                                                              \
    int assay_experiment_set_##name(struct assay_experiment *experiment, int64_t id,               \
                                    const struct assay_row_##name *row, struct assay_error *err)   \
    {                                                                                              \
        return set(experiment, AS_TABLE_##name, id, row, err);                                     \
    }
ASSAY_ROW_LIST(ROW_FUNCTIONS)

#define PLAIN_ROW_FUNCTIONS(name)                                                                  \
    int assay_experiment_add_##name(struct assay_experiment *experiment,                           \
                                    const struct assay_row_##name *row, struct assay_error *err)   \
    {                                                                                              \
        return add(experiment, AS_TABLE_##name, row, NULL, err);                                   \
    }
ASSAY_PLAIN_ROW_LIST(PLAIN_ROW_FUNCTIONS)

int assay_experiment_add_new_callpath(struct assay_experiment *experiment,
                                      const struct assay_row_callpath *row, int64_t *id,
                                      struct assay_error *err)
{
    struct as_str sql = {0};
    int rc = 0;

    AS_TRY(as_batch_check(experiment, err));
    if (!experiment->new_callpath) {
        append_insert(&sql, &tables[AS_TABLE_callpath]);
        rc = sql.failed
                 ? as_error_nomem(err, experiment->db_path)
                 : as_sql_prepare(experiment, as_str_z(&sql), &experiment->new_callpath, err);
        as_str_fini(&sql);
    }
    if (rc == 0)
        rc = write_row(experiment, AS_TABLE_callpath, experiment->new_callpath, row, NULL, err);
    if (rc == 0)
        *id = sqlite3_last_insert_rowid(experiment->db);
    return rc;
}
