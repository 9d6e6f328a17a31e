/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the command line fit the schema, and the parts of views that it asks for. */
#include "place.h"

#include "report/queries.h"

static struct as_experiment *filled(struct place *place, struct fixture *f)
{
    struct as_experiment *experiment;
    fine(as_experiment_create(place->exp, 0, &experiment, err));
    fine(fixture_fill(experiment, f, err));
    return experiment;
}

/* Every statement is prepared against the schema; rows of those that the fixture can answer. */
static void test_statements(void **state)
{
    struct fixture f;
    struct as_experiment *experiment = filled(*state, &f);
    struct as_rows *rows;
    for (unsigned i = 0; i < AS_QUERIES_N; i++) {
        fine(as_query_open(experiment, (enum as_query)i, &rows, err));
        assert_true(as_rows_column_n(rows) > 0);
        as_rows_close(&rows);
    }
    fine(as_query_open_of(experiment, AS_QUERY_RUN_COUNTS, f.run, &rows, err));
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_int_equal(as_rows_integer(rows, 0), 1);
    assert_int_equal(as_rows_integer(rows, 1), f.run);
    assert_int_equal(as_rows_integer(rows, 2), 1);
    as_rows_close(&rows);
    fine(as_query_open_of(experiment, AS_QUERY_FUNCTION_PLACE, f.solve, &rows, err));
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_string_equal(as_rows_text(rows, 0), "solve");
    as_rows_close(&rows);
    fine(as_query_open_of(experiment, AS_QUERY_LOOP_PLACE, f.inner, &rows, err));
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_string_equal(as_rows_text(rows, 0), "solve");
    as_rows_close(&rows);
    fine(as_query_open(experiment, AS_QUERY_CODE_PLACES, &rows, err));
    const int64_t n = integer_of(experiment, "SELECT count(function_id) FROM location");
    int64_t address = -1;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(as_rows_next(rows, NULL), 1);
        assert_true(as_rows_integer(rows, 0) >= address);
        address = as_rows_integer(rows, 0);
    }
    assert_int_equal(as_rows_next(rows, NULL), 0);
    as_rows_close(&rows);
    fine(as_experiment_close(&experiment, err));
}

/* Refuses a statement that reads a column of a table. SQLite names the view around a column.
 * Without a column, a view joins the table and reads nothing. */
static int allow_views(void *context, int action, const char *table, const char *column,
                       const char *database, const char *view)
{
    const bool is_table = table && column && *column && strncmp(table, "v_", 2) != 0 &&
                          strncmp(table, "json_", 5) != 0 && strncmp(table, "sqlite_", 7) != 0;
    (void)context;
    (void)database;
    return action == SQLITE_READ && is_table && !view ? SQLITE_DENY : SQLITE_OK;
}

static void test_views_alone(void **state)
{
    const struct place *place = *state;
    struct fixture f;
    struct as_experiment *experiment = filled(*state, &f);
    sqlite3_stmt *statement;
    sqlite3 *db;
    fine(as_experiment_close(&experiment, err));
    assert_int_equal(sqlite3_open_v2(place->db, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    sqlite3_set_authorizer(db, allow_views, NULL);
    assert_int_not_equal(sqlite3_prepare_v2(db, "SELECT kind FROM run", -1, &statement, NULL),
                         SQLITE_OK);
    for (unsigned i = 0; i < AS_QUERIES_N; i++) {
        const char *sql = as_query_text((enum as_query)i);
        if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
            fail_msg("%s: %s", sqlite3_errmsg(db), sql);
        sqlite3_finalize(statement);
    }
    sqlite3_close(db);
}

/* A run without sums of its samples is unfinished, and complete with them. */
static void test_states_of_runs(void **state)
{
    struct fixture f;
    struct as_experiment *experiment = filled(*state, &f);
    struct as_rows *rows;
    fine(as_experiment_summarise(experiment, f.run, err));
    fine(as_experiment_close(&experiment, err));
    for (int has_sums = 1; has_sums >= 0; has_sums--) {
        fine(as_experiment_open(((struct place *)*state)->exp, &experiment, err));
        fine(as_query_open_of(experiment, AS_QUERY_RUNS_UNFINISHED, 0, &rows, err));
        assert_int_equal(as_rows_next(rows, NULL), !has_sums);
        as_rows_close(&rows);
        fine(as_query_open(experiment, AS_QUERY_RUNS_TO_ATTRIBUTE, &rows, err));
        assert_int_equal(as_rows_next(rows, NULL), !has_sums);
        assert_int_equal(as_rows_integer(rows, 1), !has_sums);
        as_rows_close(&rows);
        fine(as_query_open(experiment, AS_QUERY_RUNS_WITHOUT_ADVICE, &rows, err));
        assert_int_equal(as_rows_next(rows, NULL), has_sums);
        as_rows_close(&rows);
        fine(as_experiment_close(&experiment, err));
        behind(*state, "DELETE FROM object_time");
    }
}

static void test_part_of_view(void **state)
{
    const struct as_report_view *view = as_report_view("functions");
    const struct as_report_text name = {.title = "function", .sql = "name"}, *text[] = {&name};
    const struct as_view_part part = {.text = text,
                                      .text_n = 1,
                                      .with_run = true,
                                      .of_run = true,
                                      .sort = "name",
                                      .is_falling = true,
                                      .limit = 2};
    struct fixture f;
    struct as_experiment *experiment = filled(*state, &f);
    struct as_rows *rows;
    struct as_str sql = {0};
    char before[64] = "~";
    int n = 0;
    as_view_append_statement(view, &part, &sql);
    fine(as_rows_open(experiment, as_str_z(&sql), &rows, err));
    as_rows_bind_integer(rows, 1, f.run);
    assert_int_equal(as_rows_column_n(rows), 2);
    assert_string_equal(as_rows_column(rows, 0), "run");
    for (; as_rows_next(rows, NULL) > 0; n++) {
        assert_int_equal(as_rows_integer(rows, 0), f.run);
        assert_true(strcmp(as_rows_text(rows, 1), before) < 0); /* names fall */
        snprintf(before, sizeof before, "%s", as_rows_text(rows, 1));
    }
    assert_int_equal(n, 2);
    as_rows_close(&rows);
    as_str_fini(&sql);
    fine(as_view_open_columns(experiment, view, &rows, err));
    assert_true(as_rows_column_n(rows) > 2);
    assert_int_equal(as_rows_next(rows, NULL), 0);
    as_rows_close(&rows);
    fine(as_experiment_close(&experiment, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_statements), place_test(test_views_alone),
                                       place_test(test_states_of_runs),
                                       place_test(test_part_of_view)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
