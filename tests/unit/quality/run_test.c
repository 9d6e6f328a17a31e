/* SPDX-License-Identifier: Apache-2.0 */
/* The pass over two runs of one experiment: what becomes hot later is looked at as well. */
#include "place.h"

#include <unistd.h>

#include "built.h"
#include "machine/machine.h"
#include "machine/uarch.h"
#include "quality/quality.h"

static const char source[] =
    "double sum(const double *a, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }\n"
    "double twice(const double *a, long n)\n"
    "{ double s = 0; for (long i = 0; i < n; i++) s += 2 * a[i]; return s; "
    "}\n";

struct code {
    int64_t path[2], location[2], loop[2];
};

static void add_code(struct as_experiment *e, const struct built *b, const char *file,
                     struct code *c)
{
    static const char *const name[] = {"sum", "twice"};
    struct as_row_module module = {.path = file, .name = "q.so", .kind = "shared"};
    struct stat st;
    int64_t module_id;

    assert_int_equal(stat(file, &st), 0);
    module.inode = as_known((int64_t)st.st_ino);
    module.size_b = as_known(st.st_size);
    module.mtime_ns = as_known(st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec);
    fine(as_experiment_add_module(e, &module, &module_id, err));
    for (int i = 0; i < 2; i++) {
        const struct as_loop *loop = &b->program->loop[built_hot(b, name[i])];
        const int64_t address = (int64_t)b->program->block[loop->header].start;
        int64_t function_id;

        const struct as_row_function function = {
            .module_id = module_id, .name = name[i], .address = as_known(address)};
        fine(as_experiment_add_function(e, &function, &function_id, err));
        const struct as_row_loop row = {.function_id = function_id,
                                        .address = address,
                                        .depth = loop->depth,
                                        .is_innermost = true};
        fine(as_experiment_add_loop(e, &row, &c->loop[i], err));
        const struct as_row_location location = {.module_id = module_id,
                                                 .address = address,
                                                 .function_id = function_id,
                                                 .loop_id = c->loop[i]};
        fine(as_experiment_add_location(e, &location, &c->location[i], err));
        const struct as_row_callpath path = {.function_id = function_id, .depth = 1};
        fine(as_experiment_add_callpath(e, &path, &c->path[i], err));
    }
}

struct others {
    struct as_experiment *experiment;
    unsigned turns;
};

/* While code is read the experiment is free: another can write, and is done before. */
static int let_others(void *others, int (*work)(void *context, struct as_error *err), void *context,
                      struct as_error *failed)
{
    struct others *it = others;

    fine(as_experiment_begin(it->experiment, err));
    const int rc = work(context, failed);
    fine(as_experiment_commit(it->experiment, err));
    it->turns++;
    return rc;
}

static void add_flag(struct as_experiment *e, const char *name, const char *pass)
{
    const struct as_flag flag = {.run_id = 2,
                                 .kind = AS_OBJECT_RUN,
                                 .object_id = 2,
                                 .name = name,
                                 .text = "Said before.",
                                 .n = 1,
                                 .pass = pass};

    fine(as_experiment_flag(e, &flag, err));
}

/* The pass over the second run once more: what it said of it is said once, not beside it. */
static void check_again(struct as_experiment *e)
{
    static const char flags[] = "SELECT count(*) FROM flag WHERE text = 'Said before.'";
    static const char analysed[] = "SELECT count(*) FROM v_set_cqa";
    const int64_t before = integer_of(e, analysed);

    add_flag(e, "of_quality", "quality");
    add_flag(e, "of_others", "others");
    assert_int_equal(integer_of(e, flags), 2);
    fine(as_quality_run(e, 2, NULL, err));
    assert_int_equal(integer_of(e, flags), 1);
    assert_int_equal(integer_of(e, analysed), before);
}

/* A run with so many samples in each of both loops, and the pass over it. */
static void add_run(struct as_experiment *e, const struct code *c, int64_t n, int64_t other_n)
{
    const struct as_row_run run = {.kind = "profile", .command = "q", .state = "complete"};
    struct others others = {.experiment = e};
    const struct as_quality_options options = {
        .jobs = 1, .aside = let_others, .aside_context = &others};
    const int64_t samples[] = {n, other_n};
    struct as_row_process process = {.pid = 1};
    struct as_row_thread thread = {.tid = 1};
    int64_t id;

    fine(as_experiment_add_run(e, &run, &process.run_id, err));
    fine(as_experiment_add_process(e, &process, &thread.process_id, err));
    fine(as_experiment_add_thread(e, &thread, &id, err));
    for (int i = 0; i < 2; i++) {
        const struct as_row_sample row = {.thread_id = id,
                                          .callpath_id = c->path[i],
                                          .location_id = c->location[i],
                                          .n = samples[i],
                                          .time_ns = samples[i] * 1000000};
        fine(as_experiment_add_sample(e, &row, err));
    }
    fine(as_experiment_summarise(e, process.run_id, err));
    fine(as_quality_run(e, process.run_id, &options, err));
    assert_int_equal(others.turns, 1);
}

static int64_t tables_of(struct as_experiment *e, int64_t loop_id)
{
    char sql[128];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM detail WHERE object_kind = 'loop' AND object_id = %d",
             (int)loop_id);
    return integer_of(e, sql);
}

/* Writes figures of this machine as if they were measured. For a core of 4 GHz, memory has a
 * quarter byte per cycle and the third level 8 bytes. The second level is faster than any loop. */
static void measure_machine(const char *directory)
{
    static const struct {
        const char *level;
        double value;
    } bandwidth[] = {{"L2", 4e15}, {"L3", 32e9}, {"memory", 1e9}};
    static const char *const kind[] = {"read", "triad", "copy", "write"};
    struct as_figure figure = {.name = "frequency.add", .unit = "Hz", .value = 4e9};
    struct as_figures *figures;
    struct as_host *host;
    char path[4096], name[64];

    setenv("XDG_DATA_HOME", directory, 1);
    fine(as_host_read(NULL, &host, err));
    assert_true(as_figures_path(host, path, sizeof path));
    fine(as_figures_new(host, &figures, err));
    fine(as_figures_set(figures, &figure, err));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "bandwidth.%s.%s.core", kind[k], bandwidth[i].level);
            figure = (struct as_figure){.name = name, .unit = "B/s", .value = bandwidth[i].value};
            fine(as_figures_set(figures, &figure, err));
        }
    fine(as_figures_save(figures, path, err));
    as_figures_free(&figures);
    as_host_free(&host);
}

/* An iteration of both loops loads 8 bytes: one cycle at 8 bytes per cycle, 32 at a quarter. */
static void check_levels(struct as_experiment *e, const struct code *c)
{
    char sql[512];

    assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE cqa_moved_read_b = 8"
                                   " AND abs(cqa_l2_cy - cqa_cycles) < 0.01"
                                   " AND abs(cqa_l3_cy - max(cqa_cycles, 1)) < 0.01"
                                   " AND abs(cqa_ram_cy - 32) < 0.01"),
                     3);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM detail d, json_each(d.cells) r WHERE d.name = 'levels' AND "
             "d.object_id = %d AND (r.key <> 3 OR json_extract(r.value, '$[0]') = 'memory' AND "
             "abs(json_extract(r.value, '$[1]') - 32) < 0.01 AND "
             "abs(json_extract(r.value, '$[3]') - 0.25) < 0.01)",
             (int)c->loop[0]);
    assert_int_equal(integer_of(e, sql), 4);
}

/* Writes a table of this CPU as if it were measured: a sum takes 40 cycles. */
static void write_core_table(const char *text)
{
    struct as_processor it;
    struct as_host host = {.cpu_vendor = it.vendor};
    char path[4096];

    assert_true(as_processor_read(&it));
    host.cpu_family = it.family;
    host.cpu_model_number = it.model;
    host.cpu_stepping = it.stepping;
    assert_true(as_core_table_path(&host, path, sizeof path));
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void check_measured_core(struct as_experiment *e, const struct code *c)
{
    static const char flags[] = "SELECT count(*) FROM flag WHERE name = 'core_table_not_read'"
                                " AND run_id = 4 AND text LIKE '%uarch.tsv%'";

    write_core_table("like\tskylake-sp\ncore\tmade\tmade\nsource\tm1\tmade up\n"
                     "form\taddsd xmm,m64\t1\tP01:1 LD:1\t40\t-\tm1\n");
    add_run(e, c, 5000, 10);
    assert_int_equal(
        integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE run_id = 3 AND cqa_chain_cy = 40"), 1);
    assert_int_equal(integer_of(e, "SELECT count(*) FROM flag WHERE name = 'core_table_not_read'"),
                     0);
    write_core_table("nonsense\n");
    add_run(e, c, 5000, 10);
    assert_int_equal(integer_of(e, flags), 1);
    assert_int_equal(
        integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE run_id = 4 AND cqa_chain_cy = 40"), 0);
}

static void test_hot_in_a_later_run(void **state)
{
    const struct place *place = *state;
    struct as_experiment *e;
    char file[4096];
    struct code c;

    assert_non_null(getcwd(file, sizeof file - 16));
    strcat(file, "/quality-run.so");
    struct built b = built_new_kept(TEST_CC, "-O1", "c", source, "quality-run.so");
    measure_machine(place->dir);
    fine(as_experiment_create(place->exp, 0, &e, err));
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
    if (as_uarch_host()) { /* hot ones are analysed, each run anew */
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE run_id = 1"), 1);
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE run_id = 2"), 2);
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE cqa_fp_add_n = 1"
                                       " AND cqa_load_b = 8 AND cqa_cycles > 0"),
                         2);
        /* A sum vectorised is faster, by at least nothing where it waits for memory. */
        assert_int_equal(integer_of(e, "SELECT count(*) FROM v_set_cqa WHERE cqa_vector_x > 1.9"
                                       " AND cqa_vector_x_low = 1"),
                         3);
        check_levels(e, &c);
    }
    check_again(e);
    check_measured_core(e, &c);
    fine(as_experiment_close(&e, err));
    built_free(&b);
    unlink("quality-run.so");
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_hot_in_a_later_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
