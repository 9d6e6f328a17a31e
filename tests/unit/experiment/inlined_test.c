/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inlined functions, held to sums added up by hand. 69 samples of 10 ms:
 *
 *   path (what is inlined in brackets)                   samples
 *   main                                                       5
 *   main [step]                                               10
 *   main [step [leaf]]                                        20
 *   main [step]; walk                                          7
 *   main [step]; walk [leaf]                                  11
 *   main [step]; walk [walk]                                   3
 *   main [step]; walk [walk]; walk                             2
 *   main [step]; walk [walk]; walk [leaf]                      4
 *   main [step]; walk [walk]; walk [walk]                      1
 *   main [step]; walk [leaf]; leaf, which is in the binary     6
 */
#include "place.h"

#include <math.h>

struct story {
    int64_t run, thread, application, solver;
    int64_t main, walk, leaf;                     /* of the binary */
    int64_t in_step, in_leaf, walk_leaf, in_walk; /* inlinings */
    int64_t at[8];                                /* locations */
    int64_t root, walking, again, called;         /* paths */
    int64_t line[5];
};

static int64_t function_row(struct as_experiment *e, const char *name, int64_t address)
{
    const struct as_row_function row = {.module_id = 1,
                                        .name = name,
                                        .address =
                                            address ? as_known(address) : (struct as_number){0},
                                        .known_from = address ? "symbol" : "inlined"};
    int64_t id;
    fine(as_experiment_add_function(e, &row, &id, err));
    return id;
}

static int64_t inlining_row(struct as_experiment *e, int64_t function, int64_t parent,
                            const char *name, int64_t line)
{
    const struct as_row_inlining row = {function, parent, function_row(e, name, 0), line};
    int64_t id;
    fine(as_experiment_add_inlining(e, &row, &id, err));
    return id;
}

static void fill_code(struct as_experiment *e, struct story *s)
{
    const struct as_row_module module = {.path = "/opt/walk", .name = "walk", .kind = "executable"};
    const struct as_row_source_file file = {.path = "/src/walk.c"};
    fine(as_experiment_add_module(e, &module, NULL, err));
    fine(as_experiment_add_source_file(e, &file, NULL, err));
    for (int i = 1; i < 5; i++) {
        const struct as_row_line line = {.source_file_id = 1, .number = 10 * i};
        fine(as_experiment_add_line(e, &line, &s->line[i], err));
    }
    s->main = function_row(e, "main", 0x1000);
    s->walk = function_row(e, "walk", 0x2000);
    s->leaf = function_row(e, "leaf", 0x3000);
    s->in_step = inlining_row(e, s->main, 0, "step", s->line[1]);
    s->in_leaf = inlining_row(e, s->main, s->in_step, "leaf", s->line[2]);
    s->walk_leaf = inlining_row(e, s->walk, 0, "leaf", s->line[3]);
    s->in_walk = inlining_row(e, s->walk, 0, "walk", s->line[4]);
    const struct as_row_loop loop = {.function_id = s->main,
                                     .address = 0x1030,
                                     .depth = 1,
                                     .is_innermost = true,
                                     .inlining_id = s->in_leaf};
    fine(as_experiment_add_loop(e, &loop, NULL, err));
    const struct as_row_location at[] = {
        {0},
        {1, 0x1010, s->main, 0, 0, 0, 0},
        {1, 0x1020, s->main, 0, 0, 0, s->in_step},
        {1, 0x1030, s->main, 1, 0, 0, s->in_leaf},
        {1, 0x2010, s->walk, 0, 0, 0, 0},
        {1, 0x2020, s->walk, 0, 0, 0, s->walk_leaf},
        {1, 0x2030, s->walk, 0, 0, 0, s->in_walk},
        {1, 0x3010, s->leaf, 0, 0, 0, 0},
    };
    for (int i = 1; i < 8; i++)
        fine(as_experiment_add_location(e, &at[i], &s->at[i], err));
}

static int64_t path_row(struct as_experiment *e, const struct story *s, int64_t parent,
                        int64_t function, int64_t call, int64_t depth)
{
    const struct as_row_callpath row = {parent, function, call, s->application, depth};
    int64_t id;
    fine(as_experiment_add_callpath(e, &row, &id, err));
    return id;
}

static void fill_run(struct as_experiment *e, struct story *s)
{
    const struct as_row_run run = {.kind = "profile", .command = "walk", .state = "complete"};
    const struct as_row_category category[] = {{.name = "application"}, {.name = "solver"}};
    struct as_row_process process = {.pid = 1};
    struct as_row_thread thread = {.tid = 1};
    fine(as_experiment_add_run(e, &run, &s->run, err));
    fine(as_experiment_add_category(e, &category[0], &s->application, err));
    fine(as_experiment_add_category(e, &category[1], &s->solver, err));
    process.run_id = s->run;
    fine(as_experiment_add_process(e, &process, &thread.process_id, err));
    fine(as_experiment_add_thread(e, &thread, &s->thread, err));
}

static void fill_samples(struct as_experiment *e, struct story *s)
{
    s->root = path_row(e, s, 0, s->main, 0, 1);
    s->walking = path_row(e, s, s->root, s->walk, s->at[2], 2);
    s->again = path_row(e, s, s->walking, s->walk, s->at[6], 3);
    s->called = path_row(e, s, s->walking, s->leaf, s->at[5], 3);
    const struct {
        int64_t path;
        int at, n;
    } sample[] = {{s->root, 1, 5},     {s->root, 2, 10},   {s->root, 3, 20}, {s->walking, 4, 7},
                  {s->walking, 5, 11}, {s->walking, 6, 3}, {s->again, 4, 2}, {s->again, 5, 4},
                  {s->again, 6, 1},    {s->called, 7, 6}};
    for (size_t i = 0; i < sizeof sample / sizeof *sample; i++) {
        const struct as_row_sample row = {.thread_id = s->thread,
                                          .callpath_id = sample[i].path,
                                          .location_id = s->at[sample[i].at],
                                          .n = sample[i].n,
                                          .time_ns = 10000000 * sample[i].n};
        fine(as_experiment_add_sample(e, &row, err));
    }
    /* Waiting, 0.5 s, in the leaf that is inlined into walk. */
    const struct as_row_sample wait = {s->thread,         s->walking, s->at[5],
                                       AS_SAMPLE_BLOCKED, 2,          500000000};
    fine(as_experiment_add_sample(e, &wait, err));
}

static struct as_experiment *told(const struct place *place, struct story *s)
{
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fill_run(e, s);
    fill_code(e, s);
    fill_samples(e, s);
    fine(as_experiment_summarise(e, s->run, err));
    return e;
}

static void expect_counts(struct as_experiment *e, const char *view, const char *which,
                          const char *want)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "SELECT exclusive_sample_n, inclusive_sample_n, printf('%%.2f', exclusive_time_s),"
             " printf('%%.2f', inclusive_time_s) FROM v_%s WHERE %s",
             view, which);
    expect_row(e, sql, want);
}

static void test_functions(void **state)
{
    struct story s;
    struct as_experiment *e = told(*state, &s);
    expect_counts(e, "functions", "name = 'main'", "5 69 0.05 0.69");
    expect_counts(e, "functions", "name = 'step'", "10 64 0.10 0.64");
    expect_counts(e, "functions", "name = 'leaf' AND is_inlined", "35 41 0.35 0.41");
    expect_counts(e, "functions", "name = 'leaf' AND NOT is_inlined", "6 6 0.06 0.06");
    expect_counts(e, "functions", "name = 'walk' AND NOT is_inlined", "9 34 0.09 0.34");
    /* Inlined into itself and called from there: each sample once. */
    expect_counts(e, "functions", "name = 'walk' AND is_inlined", "4 10 0.04 0.10");
    expect_row(e, "SELECT count(*), sum(exclusive_sample_n), sum(is_inlined) FROM v_functions",
               "6 69 3");
    expect_row(e,
               "SELECT binary_sample_n, printf('%.2f', binary_time_s), printf('%.3f', binary_pct)"
               " FROM v_functions WHERE name = 'main'",
               "35 0.35 50.725");
    expect_row(e, "SELECT binary_sample_n, loop_n FROM v_functions WHERE name = 'step'", "- 0");
    expect_row(e,
               "SELECT blocked_time_s, blocked_inclusive_time_s, loop_n, thread_n FROM v_functions"
               " WHERE name = 'leaf' AND is_inlined",
               "0.5 0.5 1 1");
    expect_row(e,
               "SELECT blocked_time_s, blocked_inclusive_time_s FROM v_functions"
               " WHERE name = 'walk' AND NOT is_inlined",
               "0.0 0.5");
    fine(as_experiment_close(&e, err));
}

/* As if nothing was inlined. */
static void test_binary_functions(void **state)
{
    struct story s;
    struct as_experiment *e = told(*state, &s);
    expect_counts(e, "binary_functions", "name = 'main'", "35 69 0.35 0.69");
    expect_counts(e, "binary_functions", "name = 'walk'", "28 34 0.28 0.34");
    expect_counts(e, "binary_functions", "name = 'leaf'", "6 6 0.06 0.06");
    expect_row(e, "SELECT count(*), sum(exclusive_sample_n) FROM v_binary_functions", "3 69");
    expect_counts(e, "binary_callpaths", "path = 'main;walk;walk'", "7 7 0.07 0.07");
    expect_row(e, "SELECT count(*), sum(exclusive_sample_n) FROM v_binary_callpaths", "4 69");
    fine(as_experiment_close(&e, err));
}

static void test_callpaths(void **state)
{
    static const char *const want[][2] = {
        {"main", "5 69 0.05 0.69"},
        {"main;step", "10 64 0.10 0.64"},
        {"main;step;leaf", "20 20 0.20 0.20"},
        {"main;step;walk", "7 34 0.07 0.34"},
        {"main;step;walk;leaf", "11 17 0.11 0.17"},
        {"main;step;walk;leaf;leaf", "6 6 0.06 0.06"},
        {"main;step;walk;walk", "3 10 0.03 0.10"},
        {"main;step;walk;walk;walk", "2 7 0.02 0.07"},
        {"main;step;walk;walk;walk;leaf", "4 4 0.04 0.04"},
        {"main;step;walk;walk;walk;walk", "1 1 0.01 0.01"},
    };
    struct story s;
    struct as_experiment *e = told(*state, &s);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        char which[100];
        snprintf(which, sizeof which, "path = '%s'", want[i][0]);
        expect_counts(e, "callpaths", which, want[i][1]);
    }
    expect_row(e, "SELECT count(*), sum(exclusive_sample_n), sum(is_inlined) FROM v_callpaths",
               "10 69 6");
    expect_row(e,
               "SELECT depth, call_line, callpath_id, parent_id, parent_inlining_id"
               " FROM v_callpaths WHERE path = 'main;step;walk'",
               "3 - 2 1 1");
    expect_row(e,
               "SELECT depth, call_line, inlining_id, parent_id, parent_inlining_id"
               " FROM v_callpaths WHERE path = 'main;step;leaf'",
               "3 20 2 1 1");
    expect_row(e,
               "SELECT blocked_time_s, blocked_inclusive_time_s FROM v_callpaths"
               " WHERE path = 'main;step;walk;leaf'",
               "0.5 0.5");
    expect_row(e, "SELECT sum(blocked_time_s) FROM v_callpaths", "0.5");
    /* The interval is that of functions with as many samples: 10 of 69. */
    expect_row(e,
               "SELECT abs(p.exclusive_low_pct - f.exclusive_low_pct) < 1e-9,"
               " abs(p.exclusive_high_pct - f.exclusive_high_pct) < 1e-9,"
               " p.exclusive_low_pct < p.exclusive_pct, p.exclusive_pct < p.exclusive_high_pct"
               " FROM v_callpaths p, v_functions f WHERE p.path = 'main;step' AND f.name = 'step'",
               "1 1 1 1");
    fine(as_experiment_close(&e, err));
}

static void test_loops(void **state)
{
    struct story s;
    struct as_experiment *e = told(*state, &s);
    expect_row(e,
               "SELECT function, is_inlined, inlined_into, call_source_file, call_line,"
               " binary_function, exclusive_sample_n FROM v_loops",
               "leaf 1 main;step /src/walk.c 20 main 20");
    expect_row(e,
               "SELECT f.is_inlined, b.name FROM v_loops l JOIN v_functions f USING (function_id)"
               " JOIN v_functions b ON b.function_id = l.binary_function_id",
               "1 main");
    expect_row(e, "SELECT function, is_inlined, inlined_into FROM v_binary_loops", "main 0 -");
    expect_row(e,
               "SELECT path, depth, binary_function, call_line FROM v_inlinings"
               " WHERE function = 'leaf' AND binary_function = 'main'",
               "main;step;leaf 2 main 20");
    fine(as_experiment_close(&e, err));
}

/* The leaf of step is another's than what it stands in. */
static void test_categories(void **state)
{
    struct story s;
    struct as_experiment *e = told(*state, &s);
    const struct as_row_inlined_category row = {s.application, s.in_leaf, s.solver};
    fine(as_experiment_add_inlined_category(e, &row, err));
    fine(as_experiment_summarise(e, s.run, err));
    expect_row(e, "SELECT sample_n, thread_n FROM v_categories WHERE name = 'solver'", "20 1");
    expect_row(e, "SELECT sample_n FROM v_categories WHERE name = 'application'", "49");
    expect_row(e, "SELECT category FROM v_functions WHERE name = 'leaf' AND is_inlined", "solver");
    expect_row(e, "SELECT category FROM v_functions WHERE name = 'main'", "application");
    /* 20 of the 35 samples in its code. */
    expect_row(e, "SELECT category FROM v_binary_functions WHERE name = 'main'", "solver");
    expect_row(e, "SELECT category FROM v_loops", "solver");
    expect_row(e, "SELECT category FROM v_callpaths WHERE path = 'main;step;leaf'", "solver");
    expect_row(e, "SELECT category FROM v_callpaths WHERE path = 'main;step;walk;leaf'",
               "application");
    fine(as_experiment_close(&e, err));
}

/* A stack of 1000 inlined functions: texts stay short, sums are right. */
static void test_deep(void **state)
{
    struct story s;
    struct as_experiment *e = told(*state, &s);
    int64_t inlining = 0;
    fine(as_experiment_begin(e, err));
    for (int i = 0; i < 1000; i++)
        inlining = inlining_row(e, s.leaf, inlining, "step", s.line[1]);
    const struct as_row_location at = {
        .module_id = 1, .address = 0x3020, .function_id = s.leaf, .inlining_id = inlining};
    struct as_row_sample sample = {
        .thread_id = s.thread, .callpath_id = s.called, .n = 31, .time_ns = 310000000};
    fine(as_experiment_add_location(e, &at, &sample.location_id, err));
    fine(as_experiment_add_sample(e, &sample, err));
    fine(as_experiment_commit(e, err));
    fine(as_experiment_summarise(e, s.run, err));
    expect_counts(e, "functions", "name = 'step'", "41 95 0.41 0.95");
    expect_row(e, "SELECT max(depth), max(length(path)) < 1000 FROM v_inlinings", "1000 1");
    expect_row(e,
               "SELECT max(depth), max(length(path)) < 2000, sum(exclusive_sample_n)"
               " FROM v_callpaths",
               "1005 1 100");
    fine(as_experiment_close(&e, err));
}

/* Inlinings that stand in each other: nothing hangs. */
static void test_damaged(void **state)
{
    const struct place *place = *state;
    struct story s;
    struct as_experiment *e = told(place, &s);
    sqlite3 *db;
    fine(as_experiment_close(&e, err));
    assert_int_equal(sqlite3_open(place->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "UPDATE inlining SET parent_id = 2 WHERE inlining_id = 1",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    fine(as_experiment_open(place->exp, &e, err));
    fine(as_experiment_summarise(e, s.run, err));
    expect_row(e, "SELECT sum(exclusive_sample_n) FROM v_functions", "69");
    assert_int_equal(integer_of(e, "SELECT count(*) > 0 FROM v_callpaths"), 1);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_loops"), 1);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_functions), place_test(test_binary_functions), place_test(test_callpaths),
        place_test(test_loops),     place_test(test_categories),       place_test(test_deep),
        place_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
