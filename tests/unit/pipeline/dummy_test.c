/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of a pass that only writes facts: dummy_pass.c, run by the pipeline. An independent parser
 * reads the report data of the experiment.
 */
#include "place.h"

#include <jansson.h>
#include <math.h>

#include "base/out.h"
#include "base/str.h"
#include "pipeline/pipeline.h"
#include "report/report.h"

int dummy_pass(struct as_pass_job *job, struct as_error *err);

struct shown {
    struct as_experiment *experiment;
    struct fixture f;
    json_t *document;
};

static void show(struct shown *it)
{
    struct as_str str = {0};
    struct as_out out;
    json_error_t error;

    as_out_init_str(&out, &str);
    fine(as_report_data(it->experiment, it->f.run, NULL, &out, err));
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    json_decref(it->document);
    it->document = json_loadb(str.p, str.n, JSON_REJECT_DUPLICATES, &error);
    if (!it->document)
        fail_msg("%s at byte %d", error.text, error.position);
    as_str_fini(&str);
}

static void run_dummy(struct shown *it)
{
    static const struct as_pass pass = {.name = "dummy",
                                        .stage = "dummy",
                                        .needs = "samples",
                                        .makes = "dummies",
                                        .run = dummy_pass};
    const struct as_pipeline_request request = {.pass = &pass, .pass_n = 1};
    struct as_pipeline_result result = {0};

    fine(as_pipeline_again(it->experiment, it->f.run, &request, &result, err));
    show(it);
}

/* Returns the element of an array with these texts in its members; `id` -1 matches any. */
static json_t *find(json_t *array, const char *key, const char *text, int64_t id)
{
    size_t i;
    json_t *it;

    json_array_foreach(array, i, it)
    {
        const char *is = json_string_value(json_object_get(it, key));
        if (is && strcmp(is, text) == 0 &&
            (id < 0 || json_integer_value(json_object_get(it, "id")) == id))
            return it;
    }
    return NULL;
}

static void same(json_t *text, const char *want)
{
    assert_non_null(json_string_value(text));
    assert_string_equal(json_string_value(text), want);
}

static void check_column(const struct shown *it)
{
    json_t *view = find(json_object_get(it->document, "views"), "name", "loops", -1);
    json_t *column = find(json_object_get(view, "columns"), "name", "dummy_score", -1);
    json_t *data = json_object_get(view, "data");
    json_t *ids = json_object_get(
        json_object_get(data, json_string_value(json_object_get(view, "key"))), "v");
    json_t *values = json_object_get(json_object_get(data, "dummy_score"), "v");

    assert_non_null(column);
    same(json_object_get(column, "title"), "Dummy");
    same(json_object_get(column, "group"), "dummy");
    same(json_object_get(column, "origin"), "derived");
    assert_true(json_array_size(ids) >= 2);
    for (size_t i = 0; i < json_array_size(ids); i++)
        assert_true(fabs(json_number_value(json_array_get(values, i)) - 0.5 -
                         (double)json_integer_value(json_array_get(ids, i))) < 1e-9);
}

static void check_table(const struct shown *it)
{
    json_t *section = NULL, *at;
    size_t i;

    json_array_foreach(json_object_get(it->document, "sections"), i, at)
    {
        if (json_integer_value(json_object_get(at, "id")) == it->f.inner &&
            strcmp(json_string_value(json_object_get(at, "name")), "dummy") == 0)
            section = at;
    }
    assert_non_null(section);
    same(json_object_get(section, "object"), "loop");
    same(json_object_get(section, "title"), "A table");
    json_t *table = json_object_get(section, "table");
    same(json_array_get(json_object_get(table, "columns"), 0), "What");
    json_t *row = json_array_get(json_object_get(table, "rows"), 0);
    same(json_array_get(row, 0), "loads");
    assert_int_equal(json_integer_value(json_array_get(row, 1)), 7);
}

static void check_finding(const struct shown *it)
{
    json_t *finding = find(json_object_get(it->document, "findings"), "topic", "dummy", -1);

    assert_non_null(finding);
    same(json_object_get(finding, "text"), "This loop was looked at.");
}

/* "Metric, holds for, value, low, high, unit, origin" of each path. */
static void check_contexts(const struct shown *it)
{
    json_t *section = NULL, *at;
    size_t i;

    json_array_foreach(json_object_get(it->document, "sections"), i, at)
    {
        if (json_integer_value(json_object_get(at, "id")) == it->f.inner &&
            strcmp(json_string_value(json_object_get(at, "name")), "conditions") == 0)
            section = at;
    }
    assert_non_null(section);
    json_t *rows = json_object_get(json_object_get(section, "table"), "rows");
    assert_int_equal(json_array_size(rows), 2);
    for (i = 0; i < 2; i++) {
        char holds[16];
        json_t *row = json_array_get(rows, i);

        snprintf(holds, sizeof holds, "path %zu", i + 1);
        same(json_array_get(row, 0), "dummy_cy");
        same(json_array_get(row, 1), holds);
        assert_true(fabs(json_number_value(json_array_get(row, 2)) - 10.0 * (double)(i + 1)) <
                    1e-9);
        assert_true(fabs(json_number_value(json_array_get(row, 3)) - 10.0 * (double)(i + 1) + 1) <
                    1e-9);
        assert_true(fabs(json_number_value(json_array_get(row, 4)) - 99) < 1e-9);
        same(json_array_get(row, 5), "cy");
        same(json_array_get(row, 6), "modelled");
    }
}

static void test_dummy(void **state)
{
    const struct place *place = *state;
    struct shown it = {0};

    fine(as_experiment_create(place->exp, 0, &it.experiment, err));
    fine(fixture_fill(it.experiment, &it.f, err));
    fine(as_experiment_summarise(it.experiment, it.f.run, err));
    show(&it);
    assert_null(find(json_object_get(it.document, "findings"), "topic", "dummy", -1));
    for (int again = 0; again < 2; again++) { /* the second time nothing is there twice */
        run_dummy(&it);
        check_column(&it);
        check_table(&it);
        check_finding(&it);
        check_contexts(&it);
    }
    assert_int_equal(
        integer_of(it.experiment, "SELECT count(*) FROM finding WHERE topic = 'dummy'"),
        integer_of(it.experiment, "SELECT count(*) FROM loop"));
    json_decref(it.document);
    fine(as_experiment_close(&it.experiment, err));
}

/* The report is of the run that was asked about, not of those that a pass made for it. */
static void test_default_run(void **state)
{
    const struct place *place = *state;
    struct as_row_run variant = {
        .kind = "variant", .command = "x", .state = "complete", .role = "variant"};
    struct shown it = {0};

    fine(as_experiment_create(place->exp, 0, &it.experiment, err));
    fine(fixture_fill(it.experiment, &it.f, err));
    fine(as_experiment_summarise(it.experiment, it.f.run, err));
    variant.reference_id = it.f.run;
    fine(as_experiment_add_run(it.experiment, &variant, NULL, err));
    const int64_t asked = it.f.run;
    it.f.run = 0;
    show(&it);
    assert_int_equal(json_integer_value(json_object_get(it.document, "run_id")), asked);
    json_decref(it.document);
    fine(as_experiment_close(&it.experiment, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_dummy), place_test(test_default_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
