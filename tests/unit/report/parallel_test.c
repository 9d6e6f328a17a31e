/* SPDX-License-Identifier: Apache-2.0 */
/* `assay trace` prints the views of the experiment: rows, text and JSON. */
#include <math.h>

#include <jansson.h>

#include "place.h"

#include "report/parallel.h"

static struct as_experiment *filled(struct place *place, struct fixture *f)
{
    struct as_experiment *experiment;
    fine(as_experiment_create(place->exp, 0, &experiment, err));
    fine(fixture_fill(experiment, f, err));
    return experiment;
}

static void test_rows(void **state)
{
    struct fixture f;
    struct as_parallel parallel;
    struct as_experiment *experiment = filled(*state, &f);
    fine(as_parallel_read(experiment, f.run, &parallel, err));
    assert_true(parallel.elapsed_s == 2 && parallel.record_ns == 20);
    assert_int_equal(parallel.events_n, 8);
    assert_int_equal(parallel.filtered_n, 0); /* unknown */
    assert_int_equal(parallel.routine.n, 1);
    const struct as_parallel_routine *it = &parallel.routine.at[0];
    assert_string_equal(it->routine, "MPI_Wait");
    assert_string_equal(it->group, "mpi-completion");
    assert_true(it->of.number == 0 && it->of.rank == 0 && it->of.pid == 100 && !it->of.queue);
    assert_int_equal(it->calls_n, 2);
    assert_true(it->time_s == 0.5 && it->longest_s == 0.3 && it->waiting_s == 0.2);
    assert_true(it->transfer_s == 0.1 && it->overhead_s == 0.2);
    assert_int_equal(parallel.counter.n, 1);
    assert_string_equal(parallel.counter.at[0].name, "resident bytes");
    assert_int_equal(parallel.counter.at[0].most, 12288);
    assert_int_equal(parallel.counter.at[0].computing, 2048);
    as_parallel_release(&parallel);
    refused(as_parallel_read(experiment, f.run + 7, &parallel, err), NOT_FOUND, "has no trace");
    as_parallel_release(&parallel);
    fine(as_experiment_close(&experiment, err));
}

/* Times of calls from two places of one routine add up, and calls without a known transfer have
 * neither part. */
static void test_sums_of_sites(void **state)
{
    struct fixture f;
    struct as_parallel parallel;
    struct as_experiment *experiment = filled(*state, &f);
    fine(as_experiment_close(&experiment, err));
    behind(*state,
           "INSERT INTO trace_site (trace_id, number, routine, kind)"
           " VALUES (1, 1, 'MPI_Wait', 'mpi-completion'), (1, 2, 'write', 'io');"
           "INSERT INTO trace_call SELECT trace_location_id, 2, 3, 1, 250000000, 9, 1, 1, 5,"
           " 7 FROM trace_location WHERE number = 0;"
           "INSERT INTO trace_call SELECT trace_location_id, 3, 3, 0, 800000000, 9, 0, NULL,"
           " 5, 7 FROM trace_location WHERE number = 0;");
    fine(as_experiment_open(((struct place *)*state)->exp, &experiment, err));
    fine(as_parallel_read(experiment, f.run, &parallel, err));
    assert_int_equal(parallel.routine.n, 2);
    assert_string_equal(parallel.routine.at[0].routine, "write"); /* most time first */
    assert_true(isnan(parallel.routine.at[0].waiting_s));
    assert_true(isnan(parallel.routine.at[0].transfer_s));
    assert_int_equal(parallel.routine.at[1].calls_n, 5);
    assert_int_equal(parallel.routine.at[1].open_n, 1);
    assert_int_equal(parallel.routine.at[1].received_b, 23);
    assert_true(parallel.routine.at[1].time_s == 0.75 && parallel.routine.at[1].longest_s == 0.3);
    as_parallel_release(&parallel);
    fine(as_experiment_close(&experiment, err));
}

static void test_text(void **state)
{
    struct fixture f;
    struct as_str text = {0};
    struct as_out out;
    struct as_page page = {.out = &out, .width = 80};
    struct as_experiment *experiment = filled(*state, &f);
    as_out_init_str(&out, &text);
    fine(as_parallel_text(experiment, f.run, &page, err));
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    static const char *const lines[] = {
        "  0.500      2        50.0      100.0     50.0  rank 0   step\n",
        "  rank 0      0.000  0.500", "  rank 0  0.500    0.200     0.100     0.200\n",
        "   0.500    0.300  2  late sender  MPI_Wait  rank 0\n",
        "    0.500     0.500      2  rank 1  MPI_Wait\n"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(as_str_z(&text), lines[i]))
            fail_msg("no line '%s'", lines[i]);
    as_str_fini(&text);
    fine(as_experiment_close(&experiment, err));
}

static json_t *parsed(struct as_experiment *experiment, int64_t run_id)
{
    struct as_str text = {0};
    struct as_out out;
    struct as_json json;
    json_error_t why;
    as_out_init_str(&out, &text);
    as_json_init(&json, &out, 0);
    fine(as_parallel_json(experiment, run_id, &json, err));
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    json_t *root = json_loads(as_str_z(&text), 0, &why);
    if (!root)
        fail_msg("%s: %s", why.text, as_str_z(&text));
    as_str_fini(&text);
    return root;
}

static double number_in(json_t *root, const char *list, size_t at, const char *key)
{
    return json_number_value(json_object_get(json_array_get(json_object_get(root, list), at), key));
}

static void test_json(void **state)
{
    struct fixture f;
    struct as_experiment *experiment = filled(*state, &f);
    json_t *root = parsed(experiment, f.run);
    assert_true(json_number_value(json_object_get(root, "elapsed_s")) == 2);
    assert_true(json_is_null(json_object_get(root, "parallel_efficiency")));
    assert_null(json_object_get(root, "efficiency_begin_s"));
    assert_int_equal(json_array_size(json_object_get(root, "locations")), 2);
    assert_true(number_in(root, "locations", 0, "mpi_s") == 0.5);
    assert_true(number_in(root, "locations", 0, "off_s") == 0);
    assert_true(number_in(root, "locations", 1, "late_s") == 0.5);
    assert_true(number_in(root, "waits", 0, "longest_s") == 0.3);
    assert_true(number_in(root, "late", 0, "location") == 1);
    assert_true(number_in(root, "calls", 0, "overhead_s") == 0.2);
    assert_true(number_in(root, "messages", 0, "from") == 1);
    assert_true(number_in(root, "phases", 0, "mpi_parallel_efficiency") == 0.5);
    assert_true(number_in(root, "phases", 0, "busiest") == 0);
    json_decref(root);
    fine(as_experiment_close(&experiment, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_rows), place_test(test_sums_of_sites),
                                       place_test(test_text), place_test(test_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
