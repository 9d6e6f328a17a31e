/* SPDX-License-Identifier: Apache-2.0 */
/* The pass over two runs of one experiment: what becomes hot later is looked at as well. */
#include "place.h"

#include <unistd.h>

#include <assay/quality.h>

#include "built.h"

static const char source[] =
    "double sum(const double *a, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }\n"
    "double twice(const double *a, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += 2 * a[i]; return s; "
    "}\n";

struct code {
    int64_t path[2], location[2], loop[2];
};

static void add_code(struct assay_experiment *e, const struct built *b, const char *file,
                     struct code *c)
{
    static const char *const name[] = {"sum", "twice"};
    struct assay_row_module module = {.path = file, .name = "q.so", .kind = "shared"};
    struct stat st;
    int64_t module_id;

    assert_int_equal(stat(file, &st), 0);
    module.inode = assay_known((int64_t)st.st_ino);
    module.size_b = assay_known(st.st_size);
    module.mtime_ns = assay_known(st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec);
    fine(assay_experiment_add_module(e, &module, &module_id, err));
    for (int i = 0; i < 2; i++) {
        const struct assay_loop *loop = &b->program->loop[built_hot(b, name[i])];
        const int64_t address = (int64_t)b->program->block[loop->header].start;
        int64_t function_id;

        const struct assay_row_function function = {
            .module_id = module_id, .name = name[i], .address = assay_known(address)};
        fine(assay_experiment_add_function(e, &function, &function_id, err));
        const struct assay_row_loop row = {.function_id = function_id,
                                           .address = address,
                                           .depth = loop->depth,
                                           .is_innermost = true};
        fine(assay_experiment_add_loop(e, &row, &c->loop[i], err));
        const struct assay_row_location location = {.module_id = module_id,
                                                    .address = address,
                                                    .function_id = function_id,
                                                    .loop_id = c->loop[i]};
        fine(assay_experiment_add_location(e, &location, &c->location[i], err));
        const struct assay_row_callpath path = {.function_id = function_id, .depth = 1};
        fine(assay_experiment_add_callpath(e, &path, &c->path[i], err));
    }
}

struct others {
    struct assay_experiment *experiment;
    unsigned turns;
};

/* While code is read the experiment is free: another can write, and is done before. */
static int let_others(void *others, int (*work)(void *context, struct assay_error *err),
                      void *context, struct assay_error *failed)
{
    struct others *it = others;

    fine(assay_experiment_begin(it->experiment, err));
    const int rc = work(context, failed);
    fine(assay_experiment_commit(it->experiment, err));
    it->turns++;
    return rc;
}

/* A run with so many samples in each of both loops, and the pass over it. */
static void add_run(struct assay_experiment *e, const struct code *c, int64_t n, int64_t other_n)
{
    const struct assay_row_run run = {.kind = "profile", .command = "q", .state = "complete"};
    struct others others = {.experiment = e};
    const struct assay_quality_options options = {
        .jobs = 1, .aside = let_others, .aside_context = &others};
    const int64_t samples[] = {n, other_n};
    struct assay_row_process process = {.pid = 1};
    struct assay_row_thread thread = {.tid = 1};
    int64_t id;

    fine(assay_experiment_add_run(e, &run, &process.run_id, err));
    fine(assay_experiment_add_process(e, &process, &thread.process_id, err));
    fine(assay_experiment_add_thread(e, &thread, &id, err));
    for (int i = 0; i < 2; i++) {
        const struct assay_row_sample row = {.thread_id = id,
                                             .callpath_id = c->path[i],
                                             .location_id = c->location[i],
                                             .n = samples[i],
                                             .time_ns = samples[i] * 1000000};
        fine(assay_experiment_add_sample(e, &row, err));
    }
    fine(assay_experiment_summarise(e, process.run_id, err));
    fine(assay_quality_run(e, process.run_id, &options, err));
    assert_int_equal(others.turns, 1);
}

static int64_t tables_of(struct assay_experiment *e, int64_t loop_id)
{
    char sql[128];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM detail WHERE object_kind = 'loop' AND object_id = %d",
             (int)loop_id);
    return integer_of(e, sql);
}

static void test_hot_in_a_later_run(void **state)
{
    const struct place *place = *state;
    struct assay_experiment *e;
    char file[4096];
    struct code c;

    assert_non_null(getcwd(file, sizeof file - 16));
    strcat(file, "/quality-run.so");
    struct built b = built_new_kept(TEST_CC, "-O1", "c", source, "quality-run.so");
    fine(assay_experiment_create(place->exp, 0, &e, err));
    add_code(e, &b, file, &c);
    add_run(e, &c, 9990, 10);
    assert_true(tables_of(e, c.loop[0]) > 0);
    assert_int_equal(tables_of(e, c.loop[1]), 0); /* 0.1 % */
    const int64_t values = integer_of(e, "SELECT count(*) FROM value WHERE object_kind = 'loop'");
    const int64_t tables = tables_of(e, c.loop[0]);
    add_run(e, &c, 5000, 5000);
    assert_int_equal(tables_of(e, c.loop[1]), tables);
    assert_int_equal(tables_of(e, c.loop[0]), tables);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM value WHERE object_kind = 'loop'"),
                     values);
    if (assay_uarch_host()) { /* hot ones are analysed, each run anew */
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE run_id = 1"), 1);
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE run_id = 2"), 2);
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE cqa_fp_add_n = 1"
                                       " AND cqa_load_b = 8 AND cqa_cycles > 0"),
                         2);
        /* A sum vectorised is faster, by at least nothing where it waits for memory. */
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE cqa_vector_x > 1.9"
                                       " AND cqa_vector_x_low = 1"),
                         3);
    }
    fine(assay_experiment_close(&e, err));
    built_free(&b);
    unlink("quality-run.so");
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_hot_in_a_later_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
