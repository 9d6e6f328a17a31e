/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of the command line fit the schema, and the parts of views that it asks for. */
#include "place.h"

#include "report/queries.h"

static struct assay_experiment *filled(struct place *place, struct fixture *f)
{
    struct assay_experiment *experiment;
    fine(assay_experiment_create(place->exp, 0, &experiment, err));
    fine(fixture_fill(experiment, f, err));
    return experiment;
}

/* Every statement is prepared against the schema; rows of those that the fixture can answer. */
static void test_statements(void **state)
{
    struct fixture f;
    struct assay_experiment *experiment = filled(*state, &f);
    struct assay_rows *rows;
    for (unsigned i = 0; i < AS_QUERIES_N; i++) {
        fine(as_query_open(experiment, (enum as_query)i, &rows, err));
        assert_true(assay_rows_column_n(rows) > 0);
        assay_rows_close(&rows);
    }
    fine(as_query_open_of(experiment, AS_QUERY_RUN_COUNTS, f.run, &rows, err));
    assert_int_equal(assay_rows_next(rows, NULL), 1);
    assert_int_equal(assay_rows_integer(rows, 0), 1);
    assert_int_equal(assay_rows_integer(rows, 1), f.run);
    assert_int_equal(assay_rows_integer(rows, 2), 1);
    assay_rows_close(&rows);
    fine(as_query_open_of(experiment, AS_QUERY_FUNCTION_PLACE, f.solve, &rows, err));
    assert_int_equal(assay_rows_next(rows, NULL), 1);
    assert_string_equal(assay_rows_text(rows, 0), "solve");
    assay_rows_close(&rows);
    fine(as_query_open_of(experiment, AS_QUERY_LOOP_PLACE, f.inner, &rows, err));
    assert_int_equal(assay_rows_next(rows, NULL), 1);
    assert_string_equal(assay_rows_text(rows, 0), "solve");
    assay_rows_close(&rows);
    fine(assay_experiment_close(&experiment, err));
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
    struct assay_experiment *experiment = filled(*state, &f);
    struct assay_rows *rows;
    struct as_str sql = {0};
    char before[64] = "~";
    int n = 0;
    as_view_append_statement(view, &part, &sql);
    fine(assay_rows_open(experiment, as_str_z(&sql), &rows, err));
    assay_rows_bind_integer(rows, 1, f.run);
    assert_int_equal(assay_rows_column_n(rows), 2);
    assert_string_equal(assay_rows_column(rows, 0), "run");
    for (; assay_rows_next(rows, NULL) > 0; n++) {
        assert_int_equal(assay_rows_integer(rows, 0), f.run);
        assert_true(strcmp(assay_rows_text(rows, 1), before) < 0); /* names fall */
        snprintf(before, sizeof before, "%s", assay_rows_text(rows, 1));
    }
    assert_int_equal(n, 2);
    assay_rows_close(&rows);
    as_str_fini(&sql);
    fine(as_view_open_columns(experiment, view, &rows, err));
    assert_true(assay_rows_column_n(rows) > 2);
    assert_int_equal(assay_rows_next(rows, NULL), 0);
    assay_rows_close(&rows);
    fine(assay_experiment_close(&experiment, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_statements), place_test(test_part_of_view)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
