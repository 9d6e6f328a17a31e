/* SPDX-License-Identifier: Apache-2.0 */
/* Reading by SQL: what comes back, and what a user may not do or got wrong. */
#include "place.h"

#include <signal.h>

#include "experiment/sql_allowed.h"

/* Adds the results of an analysis to the facts of the fixture. */
static int fill_advice(struct as_experiment *e, const struct fixture *f, struct as_error *err)
{
    const struct as_check check = {.run_id = f->run,
                                   .name = "long_enough",
                                   .title = "Ran long enough",
                                   .text = "2 s were sampled.",
                                   .weight = 1,
                                   .score = 0.5};
    const struct as_what_if_object object = {.id = f->inner, .gain_s = 0.4, .speedup = 1.2};
    const struct as_what_if what_if = {.run_id = f->run,
                                       .name = "vectorised",
                                       .title = "Vectorised",
                                       .meaning = "As if all were.",
                                       .kind = AS_OBJECT_LOOP,
                                       .time_s = 2,
                                       .gain_s = as_value_modelled(0.4, 0.3, 0.5),
                                       .object = &object,
                                       .object_n = 1,
                                       .to_80_n = 1};

    AS_TRY(as_experiment_check(e, &check, err));
    return as_experiment_what_if(e, &what_if, err);
}

/* A value under a condition, how instances of the loop spread, and times of a few of them. */
static int fill_instances(struct as_experiment *e, const struct fixture *f, struct as_error *err)
{
    static const double edge[] = {0, 100, 200}, times[] = {150, 120, 80};
    static const int64_t count[] = {1, 2};
    const struct as_metric metric = {.name = "cycles_of_an_instance",
                                     .unit = "cy",
                                     .meaning = "Cycles of an instance of the loop.",
                                     .formula = "measured"};
    const struct as_row_context bucket = {.bucket = "short"};
    const struct as_value_histogram histogram = {
        .edge = edge, .count = count, .bin_n = 2, .origin = AS_ORIGIN_MEASURED};
    const struct as_array array = {
        .name = "instances", .type = AS_ARRAY_F64, .n = 3, .data = times};
    struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = f->inner, .run_id = f->run};
    int64_t id;

    AS_TRY(as_experiment_metric(e, &metric, &id, err));
    AS_TRY(as_experiment_add_context(e, &bucket, &loop.context_id, err));
    AS_TRY(as_experiment_value(e, id, &loop, as_value_measured(117, 80, 150, 3), err));
    AS_TRY(as_experiment_histogram(e, id, &loop, &histogram, err));
    return as_experiment_array(e, &loop, &array, err);
}

/* The block of the inner loop, which goes back to itself, and the only way through it; and what the
 * run varied. */
static int fill_flow(struct as_experiment *e, const struct fixture *f, struct as_error *err)
{
    const struct as_row_edge edge = {
        .from_block_id = f->block, .to_block_id = f->block, .kind = "taken", .is_back = true};
    const struct as_row_path path = {
        .loop_id = f->inner, .number = 1, .block_n = 1, .instruction_n = 4};
    struct as_row_path_block step = {.block_id = f->block};
    const struct as_row_run_setting setting = {.run_id = f->run, .name = "size", .value = "9"};

    AS_TRY(as_experiment_add_run_setting(e, &setting, err));
    AS_TRY(as_experiment_add_edge(e, &edge, NULL, err));
    AS_TRY(as_experiment_add_path(e, &path, &step.path_id, err));
    return as_experiment_add_path_block(e, &step, err);
}

/* A name that the program gave to what it does. */
static int fill_region(struct as_experiment *e, const struct fixture *f, struct as_error *err)
{
    const struct as_row_region solve = {.name = "solve", .kind = "region"};
    struct as_row_region_thread row = {.run_id = f->run, .n = 3, .time_ns = 4000};

    AS_TRY(as_experiment_add_region(e, &solve, &row.region_id, err));
    return as_experiment_add_region_thread(e, &row, err);
}

/* The run as a simulation, and a scaling model of one size. */
static int fill_models(struct as_experiment *e, const struct fixture *f, struct as_error *err)
{
    const struct as_row_simulation simulation = {
        .run_id = f->run, .total_ns = 3000, .ideal_ns = 2000};
    const struct as_row_scaling scaling = {
        .run_id = f->run, .kind = "weak", .work = "useful", .growth = 1, .lowest = "transfer"};
    struct as_row_scaling_factor factor = {
        .part = "measured", .factor = "transfer", .title = "Transfer", .size = 4, .value = 0.5};
    struct as_row_scaling_law law = {
        .factor = "transfer", .title = "Transfer", .law = "constant", .formula = "a", .a = 0.5};

    AS_TRY(as_experiment_add_simulation(e, &simulation, err));
    AS_TRY(as_experiment_add_scaling(e, &scaling, &factor.scaling_id, err));
    law.scaling_id = factor.scaling_id;
    AS_TRY(as_experiment_add_scaling_factor(e, &factor, err));
    return as_experiment_add_scaling_law(e, &law, err);
}

static struct as_experiment *filled(const struct place *place)
{
    struct as_experiment *e;
    struct fixture f;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(fixture_fill(e, &f, err));
    fine(fill_advice(e, &f, err));
    fine(fill_instances(e, &f, err));
    fine(fill_flow(e, &f, err));
    fine(fill_region(e, &f, err));
    fine(fill_models(e, &f, err));
    fine(as_experiment_close(&e, err));
    fine(as_experiment_read(place->exp, &e, err));
    return e;
}

static void test_cells(void **state)
{
    struct as_experiment *e = filled(*state);
    struct as_rows *rows;
    size_t n;
    fine(as_rows_open(e, "SELECT 1 AS a, 2.5, 'text', x'00ff', NULL, ?1, ?2 -- comment", &rows,
                      err));
    as_rows_bind_integer(rows, 1, INT64_MIN);
    as_rows_bind_text(rows, 2, "bound");
    assert_int_equal(as_rows_column_n(rows), 7);
    assert_string_equal(as_rows_column(rows, 0), "a");
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_int_equal(as_rows_kind(rows, 0), AS_SQL_CELL_INTEGER);
    assert_int_equal(as_rows_kind(rows, 1), AS_SQL_CELL_REAL);
    assert_int_equal(as_rows_kind(rows, 2), AS_SQL_CELL_TEXT);
    assert_int_equal(as_rows_kind(rows, 3), AS_SQL_CELL_BLOB);
    assert_int_equal(as_rows_kind(rows, 4), AS_SQL_CELL_NULL);
    assert_true(as_rows_real(rows, 1) == 2.5);
    assert_memory_equal(as_rows_blob(rows, 3, &n), "\x00\xff", 2);
    assert_int_equal(n, 2);
    assert_null(as_rows_text(rows, 4));
    assert_true(as_rows_integer(rows, 5) == INT64_MIN);
    assert_string_equal(as_rows_text(rows, 6), "bound");
    assert_int_equal(as_rows_next(rows, NULL), 0);
    as_rows_close(&rows);
    assert_null(rows);
    fine(as_experiment_close(&e, err));
}

static void test_wrong_sql(void **state)
{
    static const struct {
        const char *sql, *why;
    } wrong[] = {
        {"SELECT absent FROM v_functions", "column: absent, at line 1, character 8: 'absent"},
        {"SELECT name\nFROM v_functions\nWHERE \xc3\xa9 = 1", "line 3, character 7"},
        {"SELEC 1", "near \"SELEC\": syntax error, at line 1, character 1"},
        {"SELECT * FROM v_nothing", "no such table: v_nothing"},
        {"SELECT (1", "incomplete input"},
        {"", "is empty"},
        {" ; -- nothing", "is empty"},
        {"SELECT 1; SELECT 2", "more than one statement"},
    };
    struct as_experiment *e = filled(*state);
    struct as_rows *rows;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        refused(as_rows_open(e, wrong[i].sql, &rows, err), USAGE, wrong[i].why);
        assert_null(rows);
    }
    fine(as_rows_open(e, "SELECT 1; -- and ;; no more\n ;", &rows, err));
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
}

static void test_only_reading(void **state)
{
    static const char *const sql[] = {
        "DELETE FROM run",
        "UPDATE run SET state = 'complete'",
        "INSERT INTO metric VALUES (9, 'a', 'b', 'c', 'higher', 'd')",
        "DROP VIEW v_runs",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t AS SELECT 1",
        "ATTACH '/tmp/other.db' AS other",
        "VACUUM",
        "VACUUM INTO '/tmp/other.db'",
        "BEGIN",
        "PRAGMA journal_mode = WAL",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "SELECT load_extension('x')",
        "REINDEX",
        "UPDATE sqlite_master SET sql = ''",
        "PRAGMA user_version = 7",
        "PRAGMA temp_store = FILE",
        /* Features that assay's own statements never use: functions, modules and tables that reach
         * memory. */
        "SELECT hex(fts3_tokenizer('simple'))",
        "SELECT fts3_tokenizer('simple', X'4141414141414141')",
        "SELECT token FROM fts3tokenize('x')",
        "SELECT count(*) FROM fts3tokenize('x')",
        "SELECT * FROM dbstat",
        "SELECT count(*) FROM sqlite_stmt",
        "SELECT 1 FROM pragma_database_list",
        "SELECT * FROM pragma_temp_store",
        "SELECT fts5(1)",
        "SELECT fts5_source_id()",
        "SELECT matchinfo(1)",
        "SELECT rtreenode(2, x'00')",
        "SELECT sqlite_log(1, 'x')",
        "SELECT (SELECT max(fts5_source_id()) FROM run)",
        "SELECT * FROM run ORDER BY fts5_source_id()",
    };
    struct as_experiment *e = filled(*state);
    struct as_rows *rows;
    for (size_t i = 0; i < sizeof sql / sizeof *sql; i++) {
        struct as_error err = {0};
        if (as_rows_open(e, sql[i], &rows, &err) != AS_ERR_USAGE)
            fail_msg("%s: %s", sql[i], err.text);
    }
    refused(as_rows_open(e, "DELETE FROM run", &rows, err), USAGE,
            "changes the experiment or reaches beyond it; write a SELECT");
    refused(as_rows_open(e, "SELECT fts5_source_id()", &rows, err), USAGE,
            "function: fts5_source_id; use only the functions that doc/manual/query.md lists");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM pragma_table_info('run')") > 10, 1);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM run"), 1);
    assert_int_equal(integer_of(e, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
                                   " WHERE i < 10) SELECT sum(i) FROM n"),
                     55);
    fine(as_rows_open(e, "EXPLAIN QUERY PLAN SELECT * FROM v_functions", &rows, err));
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
}

/* A statement that is compiled again, after the schema changed, is checked again: a view of a user
 * came to call a function. */
static void test_compiled_again(void **state)
{
    struct place *place = *state;
    struct as_experiment *e = filled(place);
    struct as_rows *rows;
    fine(as_experiment_close(&e, err));
    behind(place, "CREATE VIEW mine AS SELECT 1 AS a");
    fine(as_experiment_read(place->exp, &e, err));
    fine(as_rows_open(e, "SELECT a FROM mine", &rows, err));
    behind(place, "DROP VIEW mine; CREATE VIEW mine AS SELECT fts5_source_id() AS a");
    assert_true(as_rows_next(rows, NULL) < 0);
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
}

/* Each function of data/experiment/functions.txt works. */
static void test_functions(void **state)
{
    struct as_experiment *e = filled(*state);
    for (const struct as_sql_function *it = as_sql_functions; it->name; it++) {
        struct as_rows *rows;
        struct as_error err = {0};
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT %s", it->example);
        if (as_rows_open(e, sql, &rows, &err) < 0 || as_rows_next(rows, &err) != 1)
            fail_msg("%s: %s", sql, err.text);
        assert_string_equal(as_rows_text(rows, 0), it->value);
        as_rows_close(&rows);
    }
    fine(as_experiment_close(&e, err));
}

/* Steps of 1 to 20,000,000 with 9,000 bytes each, sorted: 180 GB. */
#define LARGE_SORT                                                                                 \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000000)"           \
    " SELECT randomblob(9000) AS b FROM n ORDER BY b"
#define ENDLESS                                                                                    \
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

static void step_refused(struct as_experiment *e, const char *sql, int code, const char *why)
{
    struct as_rows *rows;
    struct as_error got = {0};
    fine(as_rows_open(e, sql, &rows, err));
    assert_int_equal(as_rows_next(rows, &got), code);
    if (!strstr(got.text, why))
        fail_msg("%s", got.text);
    as_rows_close(&rows);
}

static void test_limits(void **state)
{
    struct as_experiment *e = filled(*state);
    volatile sig_atomic_t interrupted = 1;
    const uint64_t also_b = (uint64_t)32 << 20;
    struct as_sql_limits limits = {.memory_b = (uint64_t)64 << 20, .also_b = &also_b};
    fine(as_experiment_limit_sql(e, &limits, err));
    step_refused(e, LARGE_SORT, AS_ERR_NOMEM, "more than 64 MiB of memory; raise --memory");
    assert_in_range(as_sql_memory(), 0, 16 << 20);
    limits.deadline_ns = 1;
    fine(as_experiment_limit_sql(e, &limits, err));
    step_refused(e, ENDLESS, AS_ERR_LIMIT, "time limit; raise --time-limit");
    limits.interrupted = &interrupted;
    fine(as_experiment_limit_sql(e, &limits, err));
    step_refused(e, ENDLESS, AS_ERR_LIMIT, "SQL: interrupted");
    interrupted = 0;
    limits.deadline_ns = 0;
    fine(as_experiment_limit_sql(e, &limits, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM run"), 1);
    fine(as_experiment_close(&e, err));
}

static void test_failure_while_running(void **state)
{
    struct as_experiment *e = filled(*state);
    struct as_rows *rows;
    fine(as_rows_open(e, "SELECT abs(-9223372036854775808)", &rows, err));
    refused(as_rows_next(rows, err), USAGE, "integer overflow");
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
}

/* Every view can be read whole, and no column of it comes twice. Those for users have rows here,
 * but for inlined functions (inlined_test.c). */
static void test_all_views(void **state)
{
    struct as_experiment *e = filled(*state);
    struct as_rows *names, *rows;
    char sql[200];
    int n = 0;
    fine(as_rows_open(e, "SELECT name FROM sqlite_schema WHERE type = 'view'", &names, err));
    for (; as_rows_next(names, NULL) == 1; n++) {
        snprintf(sql, sizeof sql, "SELECT * FROM %s", as_rows_text(names, 0));
        fine(as_rows_open(e, sql, &rows, err));
        const int more = as_rows_next(rows, NULL);
        const char *name = as_rows_text(names, 0);
        const bool may_be_empty = strncmp(name, "v_", 2) != 0 || strcmp(name, "v_inlinings") == 0;
        if (more != 1 && (more != 0 || !may_be_empty))
            fail_msg("%s has no row", name);
        for (int i = 0; i < as_rows_column_n(rows); i++)
            for (int j = 0; j < i; j++)
                assert_string_not_equal(as_rows_column(rows, i), as_rows_column(rows, j));
        as_rows_close(&rows);
    }
    as_rows_close(&names);
    assert_int_equal(n, 73);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_cells),        place_test(test_wrong_sql),
        place_test(test_only_reading), place_test(test_failure_while_running),
        place_test(test_all_views),    place_test(test_compiled_again),
        place_test(test_functions),    place_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
