/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values with a context, values of many objects at once, histograms and arrays; that a pass
 * forgets its own alone.
 */
#include "place.h"

#include <math.h>
#include <unistd.h>

static struct as_experiment *with_run(const struct place *place)
{
    const struct as_row_run run = {.kind = "profile", .command = "x", .state = "complete"};
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(as_experiment_add_run(e, &run, NULL, err));
    return e;
}

static const struct as_metric cycles = {.name = "cycles",
                                        .unit = "cy",
                                        .meaning = "Cycles of an iteration.",
                                        .formula = "model",
                                        .better = AS_BETTER_LOWER,
                                        .pass = "predict"};

/* The same object has a value for each path and machine, and each is found by what it depends on.
 */
static void test_contexts(void **state)
{
    struct as_experiment *e = with_run(*state);
    struct as_row_context row = {.path = as_known(1), .machine = "zen5"};
    struct as_subject subject = {.kind = AS_OBJECT_LOOP, .object_id = 7};
    int64_t m, again;
    fine(as_experiment_metric(e, &cycles, &m, err));
    fine(as_experiment_value(e, m, &subject, as_value_modelled(1, 1, 1), err));
    for (int path = 1; path <= 2; path++) {
        row.path = as_known(path);
        fine(as_experiment_add_context(e, &row, &subject.context_id, err));
        fine(as_experiment_value(e, m, &subject, as_value_modelled(10 * path, 0, 99), err));
    }
    fine(as_experiment_add_context(e, &row, &again, err));
    assert_int_equal(again, subject.context_id);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_values"), 3);
    expect_row(e,
               "SELECT value FROM v_values JOIN v_contexts USING (context_id)"
               " WHERE metric = 'cycles' AND path = 2 AND machine = 'zen5'",
               "20.0");
    fine(as_experiment_close(&e, err));
}

static const struct as_set_metric columns[] = {
    {.metric = {.name = "loads", .unit = "1", .meaning = "a", .formula = "b"},
     .origin = AS_ORIGIN_EXACT},
    {.metric = {.name = "bound_cy", .unit = "cy", .meaning = "a", .formula = "b"},
     .origin = AS_ORIGIN_MODELLED,
     .digits = 3,
     .bounded = true},
    {.metric = {.name = "ratio", .unit = "%", .meaning = "a", .formula = "b"},
     .origin = AS_ORIGIN_DERIVED,
     .digits = 1},
};

static struct as_metric_set *open_set(struct as_experiment *e)
{
    struct as_metric_set *set;
    fine(as_metric_set_open(e, "loop_code", AS_OBJECT_LOOP, "code", columns, 3, &set, err));
    return set;
}

static void test_sets(void **state)
{
    struct as_experiment *e = with_run(*state);
    struct as_metric_set *set = open_set(e);
    struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3};
    const struct as_row_context path = {.path = as_known(2)};
    const struct as_bounded_value first[] = {as_value_exact(12, 1),
                                             as_value_modelled(1.23456, 1, INFINITY),
                                             as_value_derived(-33.35, -33.35, -33.35, 1)};
    const struct as_bounded_value other[] = {
        as_value_exact(5, 1), {.origin = 0}, as_value_derived(100, 100, 100, 1)};
    fine(as_metric_set_add(set, &loop, 0, first, err));
    fine(as_experiment_add_context(e, &path, &loop.context_id, err));
    fine(as_metric_set_add(set, &loop, 4, other, err));
    fine(as_metric_set_add(set, &loop, 5, other, err)); /* again: replaced */
    as_metric_set_close(&set);
    expect_row(e,
               "SELECT loads, bound_cy, bound_cy_low, bound_cy_high, ratio FROM v_set_loop_code"
               " WHERE loop_id = 3 AND path IS NULL",
               "12.0 1.235 1.0 - -33.4");
    expect_row(e, "SELECT n, loads, bound_cy, ratio FROM v_set_loop_code WHERE path = 2",
               "5 5.0 - 100.0");
    /* The same values among all others, the unknown one missing. */
    expect_row(e,
               "SELECT value, low, high, origin, n, unit FROM v_values WHERE metric = 'bound_cy'"
               " AND object_kind = 'loop' AND object_id = 3",
               "1.235 1.0 Inf modelled 0 cy");
    expect_row(e, "SELECT low, value, high FROM v_values WHERE metric = 'loads' AND context_id = 0",
               "12.0 12.0 12.0");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_values"), 5);
    fine(as_experiment_close(&e, err));
}

static void test_reading_a_metric_wherever_it_is(void **state)
{
    struct as_experiment *e = with_run(*state);
    struct as_metric_set *set = open_set(e);
    struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3};
    const struct as_bounded_value row[] = {as_value_exact(12, 1), {.origin = 0}, {.origin = 0}};
    struct as_rows *rows;
    int64_t m;
    fine(as_metric_set_add(set, &loop, 0, row, err));
    as_metric_set_close(&set);
    fine(as_experiment_metric(e, &columns[0].metric, &m, err));
    loop.object_id = 2;
    fine(as_experiment_value(e, m, &loop, as_value_exact(8, 2), err));
    loop.run_id = 1;
    fine(as_experiment_values(e, m, &loop, &rows, err));
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_int_equal(as_rows_integer(rows, 0), 2);
    assert_true(fabs(as_rows_real(rows, 1) - 8) < 1e-9);
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_int_equal(as_rows_integer(rows, 0), 3);
    assert_true(fabs(as_rows_real(rows, 3) - 12) < 1e-9);
    assert_string_equal(as_rows_text(rows, 5), "exact");
    assert_int_equal(as_rows_next(rows, NULL), 0);
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
}

static void test_what_a_set_refuses(void **state)
{
    struct as_experiment *e = with_run(*state);
    struct as_metric_set *set = open_set(e);
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3};
    const struct as_subject function = {.kind = AS_OBJECT_FUNCTION, .object_id = 3};
    const struct {
        struct as_bounded_value row[3];
        const char *why;
    } bad[] = {
        {{as_value_modelled(1, 1, 1)}, "another origin"},
        {{{.origin = 0}, {.origin = 0}, as_value_derived(1, 0, 2, 1)}, "has bounds"},
        {{{.origin = 0}, as_value_modelled(1, 2, 3)}, "not within its interval"},
        {{as_value_exact(1e19, 1)}, "too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(as_metric_set_add(set, &loop, 0, bad[i].row, err), INTERNAL, bad[i].why);
    refused(as_metric_set_add(set, &function, 0, bad[0].row, err), INTERNAL, "another kind");
    as_metric_set_close(&set);
    refused(as_metric_set_open(e, "x; DROP TABLE run", AS_OBJECT_LOOP, "p", columns, 1, &set, err),
            INTERNAL, "the name is not valid; use lower-case letters, digits and _");
    assert_null(set);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM set_loop_code"), 0);
    fine(as_experiment_close(&e, err));
}

/* Opened again the rows stay; with other metrics, or other digits, they cannot. */
static void test_sets_opened_again(void **state)
{
    struct as_experiment *e = with_run(*state);
    struct as_metric_set *set = open_set(e);
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3, .run_id = 1};
    const struct as_bounded_value row[] = {as_value_exact(12, 1), {.origin = 0}, {.origin = 0}};
    struct as_set_metric changed[3];
    fine(as_metric_set_add(set, &loop, 0, row, err));
    as_metric_set_close(&set);
    const int64_t version = integer_of(e, "PRAGMA schema_version");
    set = open_set(e);
    as_metric_set_close(&set);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM set_loop_code"), 1);
    assert_int_equal(integer_of(e, "PRAGMA schema_version"), version); /* nothing made anew */
    memcpy(changed, columns, sizeof changed);
    changed[2].digits = 2;
    fine(as_metric_set_open(e, "loop_code", AS_OBJECT_LOOP, "code", changed, 3, &set, err));
    as_metric_set_close(&set);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM set_loop_code"), 0);
    fine(as_metric_set_open(e, "loop_code", AS_OBJECT_LOOP, "code", columns, 1, &set, err));
    fine(as_metric_set_add(set, &loop, 0, row, err));
    as_metric_set_close(&set); /* with fewer metrics nothing of the others is left */
    expect_row(e, "SELECT count(*), min(metric) FROM v_values", "1 loads");
    fine(as_experiment_close(&e, err));
}

/* Bytes of the committed pages of a database. */
static int64_t database_b(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_prepare_v2(db,
                           "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
                           -1, &statement, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

/* The bytes that a value takes in the file, with origin and bounds; a third of the metrics have
 * bounds. */
static void test_bytes_of_a_value(void **state)
{
    enum { LOOPS = 500, METRICS = 150, PATHS = 8 };
    static struct as_set_metric metric[METRICS];
    static char name[METRICS][24];
    static struct as_bounded_value value[METRICS];
    const struct place *place = *state;
    struct as_experiment *e = with_run(*state);
    struct as_metric_set *set;
    int64_t before, after;
    for (int m = 0; m < METRICS; m++) {
        snprintf(name[m], sizeof name[m], "metric_%d", m);
        metric[m] = (struct as_set_metric){
            .metric = {.name = name[m], .unit = "1", .meaning = "a", .formula = "b"},
            .origin = AS_ORIGIN_MODELLED,
            .digits = m % 4,
            .bounded = m % 3 == 0};
    }
    before = database_b(place->db);
    fine(as_experiment_begin(e, err));
    fine(as_metric_set_open(e, "many", AS_OBJECT_LOOP, "p", metric, METRICS, &set, err));
    for (int i = 0; i < LOOPS * PATHS; i++) {
        const struct as_subject loop = {
            .kind = AS_OBJECT_LOOP, .object_id = 1 + i / PATHS, .context_id = i % PATHS};
        for (int m = 0; m < METRICS; m++) {
            const double is = (i * 37 + m * 101) % 9973;
            value[m] =
                m % 3 ? as_value_modelled(is, is, is) : as_value_modelled(is, is - 40, is + 90);
        }
        fine(as_metric_set_add(set, &loop, 0, value, err));
    }
    as_metric_set_close(&set);
    fine(as_experiment_commit(e, err));
    after = database_b(place->db);
    assert_true(after - before <= (int64_t)16 * LOOPS * PATHS * METRICS);
    assert_true(after - before >= (int64_t)3 * LOOPS * PATHS * METRICS);
    fine(as_experiment_close(&e, err));
}

static void test_histograms(void **state)
{
    struct as_experiment *e = with_run(*state);
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3, .run_id = 1};
    const double edge[] = {0, 10, 250.5, 1e6}, odd[] = {0, 10, 10, 11};
    const int64_t count[] = {4, 0, 12}, negative[] = {1, -1, 0};
    struct as_value_histogram it = {
        .edge = edge, .count = count, .bin_n = 3, .origin = AS_ORIGIN_MEASURED};
    int64_t m;
    fine(as_experiment_metric(e, &cycles, &m, err));
    fine(as_experiment_histogram(e, m, &loop, &it, err));
    expect_row(e,
               "SELECT low, high, count, share, n, origin FROM v_histograms"
               " WHERE metric = 'cycles' AND bin = 2",
               "250.5 1000000 12 0.75 16 measured");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_histograms"), 3);
    it.bin_n = 2; /* again: replaced */
    fine(as_experiment_histogram(e, m, &loop, &it, err));
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_histograms"), 2);
    it.bin_n = 3;
    it.count = negative;
    refused(as_experiment_histogram(e, m, &loop, &it, err), INTERNAL, "holds -1");
    it.count = count;
    it.edge = odd;
    refused(as_experiment_histogram(e, m, &loop, &it, err), INTERNAL, "bin 1 is 10 to 10");
    fine(as_experiment_close(&e, err));
}

static void test_arrays(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e = with_run(place);
    struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3, .run_id = 1};
    const uint8_t bytes[] = {1, 2, 3};
    const double times[] = {1.5, -2, 1e300};
    const struct as_array small = {.name = "b", .type = AS_ARRAY_U8, .n = 3, .data = bytes};
    struct as_array many = {.name = "t", .type = AS_ARRAY_F64, .n = 3, .data = times}, back;
    char file[128];
    fine(as_experiment_array(e, &loop, &small, err));
    fine(as_experiment_array(e, &loop, &many, err));
    expect_row(e, "SELECT name, path, offset_b, type, n FROM v_arrays WHERE name = 't'",
               "t run-001/arrays 8 f64 3");
    fine(as_experiment_read_array(e, &loop, "t", &back, err));
    assert_int_equal(back.n, 3);
    assert_int_equal(back.type, AS_ARRAY_F64);
    assert_memory_equal(back.data, times, sizeof times);
    as_array_fini(&back);
    many.n = 2; /* again: replaced */
    fine(as_experiment_array(e, &loop, &many, err));
    fine(as_experiment_read_array(e, &loop, "t", &back, err));
    assert_int_equal(back.n, 2);
    as_array_fini(&back);
    refused(as_experiment_read_array(e, &loop, "no", &back, err), NOT_FOUND, "no array no");
    snprintf(file, sizeof file, "%s/run-001/arrays", place->exp);
    assert_int_equal(truncate(file, 20), 0);
    refused(as_experiment_read_array(e, &loop, "t", &back, err), CORRUPT, "shorter than");
    loop.run_id = 0;
    refused(as_experiment_array(e, &loop, &many, err), INTERNAL, "belongs to no run");
    fine(as_experiment_close(&e, err));
}

/* A file elsewhere is not read, whatever the database says. */
static void test_arrays_stay_in_their_run(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e = with_run(place);
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3, .run_id = 1};
    const struct as_array it = {.name = "b", .type = AS_ARRAY_U8, .n = 3, .data = "abc"};
    struct as_array back;
    fine(as_experiment_array(e, &loop, &it, err));
    fine(as_experiment_close(&e, err));
    behind(place, "UPDATE run_file SET path = '../../../../../../etc/passwd'");
    fine(as_experiment_read(place->exp, &e, err));
    refused(as_experiment_read_array(e, &loop, "b", &back, err), CORRUPT, "damaged");
    fine(as_experiment_close(&e, err));
}

static void say_as(struct as_experiment *e, const char *pass, int64_t metric)
{
    const struct as_subject run = {.kind = AS_OBJECT_RUN, .object_id = 1, .run_id = 1};
    const struct as_check check = {
        .run_id = 1, .name = pass, .title = "t", .text = "t", .weight = 1, .pass = pass};
    const struct as_what_if what_if = {.run_id = 1,
                                       .name = pass,
                                       .title = "t",
                                       .meaning = "m",
                                       .kind = AS_OBJECT_RUN,
                                       .time_s = 2,
                                       .gain_s = as_value_derived(1, 0, 2, 1),
                                       .pass = pass};
    const struct as_finding finding = {.of = {AS_OBJECT_RUN, 1, 1, 0},
                                       .level = AS_FINDING_HINT,
                                       .topic = "t",
                                       .text = "x",
                                       .pass = pass};
    const struct as_detail detail = {
        .of = {AS_OBJECT_RUN, 1, 1, 0}, .name = pass, .title = "t", .text = "x", .pass = pass};
    fine(as_experiment_value(e, metric, &run, as_value_exact(1, 1), err));
    fine(as_experiment_check(e, &check, err));
    fine(as_experiment_what_if(e, &what_if, err));
    fine(as_experiment_finding(e, &finding, err));
    fine(as_experiment_detail(e, &detail, err));
}

static void test_a_pass_forgets_its_own_alone(void **state)
{
    struct as_experiment *e = with_run(*state);
    const struct as_subject loop = {.kind = AS_OBJECT_LOOP, .object_id = 3, .run_id = 1};
    const struct as_bounded_value row[] = {as_value_exact(12, 1), {.origin = 0}, {.origin = 0}};
    struct as_metric other = cycles;
    struct as_metric_set *set = open_set(e);
    int64_t first, second;
    fine(as_experiment_metric(e, &cycles, &first, err));
    other.name = "other";
    other.pass = "code";
    fine(as_experiment_metric(e, &other, &second, err));
    say_as(e, "predict", first);
    say_as(e, "code", second);
    fine(as_metric_set_add(set, &loop, 0, row, err));
    as_metric_set_close(&set);
    static const char said[] =
        "SELECT (SELECT group_concat(pass) FROM finding), (SELECT group_concat(pass) FROM"
        " check_result), (SELECT group_concat(pass) FROM what_if), (SELECT group_concat(pass) FROM"
        " detail), (SELECT group_concat(name) FROM value JOIN metric USING (metric_id)),"
        " (SELECT count(*) FROM set_loop_code)";
    fine(as_experiment_forget(e, 1, "predict", err));
    expect_row(e, said, "code code code code other 1");
    fine(as_experiment_forget(e, 2, "code", err)); /* another run */
    expect_row(e, said, "code code code code other 1");
    fine(as_experiment_forget(e, 1, "code", err));
    expect_row(e, said, "- - - - - 0");
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_contexts),
        place_test(test_sets),
        place_test(test_reading_a_metric_wherever_it_is),
        place_test(test_what_a_set_refuses),
        place_test(test_sets_opened_again),
        place_test(test_bytes_of_a_value),
        place_test(test_histograms),
        place_test(test_arrays),
        place_test(test_arrays_stay_in_their_run),
        place_test(test_a_pass_forgets_its_own_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
