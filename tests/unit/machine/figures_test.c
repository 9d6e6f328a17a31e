/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of a machine: in memory, to a file and back, files that are none, and where they lie.
 */
#include "recorded.h"

#include <math.h>

#include "machine/machine.h"

static struct as_figures *figures;
static struct as_error err;

static void add_figure(const char *name, double value, double spread, bool calm)
{
    const struct as_figure figure = {.name = name,
                                     .unit = "B/s",
                                     .value = value,
                                     .spread = spread,
                                     .sample_n = 21,
                                     .is_calm = calm,
                                     .when_s = 1763813640};
    assert_int_equal(as_figures_set(figures, &figure, &err), 0);
}

static void there_and_back(void **state)
{
    struct as_figures *again;
    const struct as_figure_point point = {"latency.huge", 32768, 1.1};
    const struct as_figure_group group = {
        .name = "memory", .when_s = 1763813600, .took_s = 61.5, .waited_s = 2.3};
    const struct as_host host = {.name = "node\t1",
                                 .cpu_family = 26,
                                 .cpu_model_number = 2,
                                 .memory_b = 1 << 30,
                                 .cpu_n = 4};
    char path[256];

    (void)state;
    snprintf(path, sizeof path, "%s/deep/er/x.tsv", root);
    assert_int_equal(as_figures_new(&host, &figures, &err), 0);
    add_figure("bandwidth.read.L1.core", 4.5e11, 0.013, true);
    add_figure("bandwidth.read.L2.core", 1.5e11, 0.013, false);
    add_figure("bandwidth.read.L1.core", 4.75e11, 0.01, true); /* replaces */
    assert_int_equal(as_figures_add_point(figures, &point, &err), 0);
    assert_int_equal(as_figures_set_group(figures, &group, &err), 0);
    assert_int_equal(as_figures_add_finding(figures, "quota", "quota: half a processor", &err), 0);
    assert_int_equal(as_figures_save(figures, path, &err), 0);
    assert_int_equal(as_figures_open(path, &again, &err), 0);
    assert_int_equal(again->figure_n, 2);
    const struct as_figure *f = as_figures_find(again, "bandwidth.read.L1.core");
    assert_non_null(f);
    assert_true(f->value == 4.75e11 && f->is_calm && f->when_s == 1763813640 && f->sample_n == 21);
    assert_string_equal(f->unit, "B/s");
    assert_false(as_figures_find(again, "bandwidth.read.L2.core")->is_calm);
    assert_null(as_figures_find(again, "bandwidth.read.L3.core"));
    assert_string_equal(as_figures_fact(again, "name"), "node 1"); /* no column of its own */
    assert_string_equal(as_figures_fact(again, "family"), "26");
    assert_int_equal(again->point_n, 1);
    assert_true(again->point[0].x == 32768 && fabs(again->point[0].y - 1.1) < 1e-9);
    assert_int_equal(again->group_n, 1);
    assert_false(again->group[0].is_done);
    assert_true(again->group[0].took_s == 61.5 && again->group[0].waited_s == 2.3);
    assert_int_equal(again->group[0].when_s, 1763813600);
    assert_string_equal(again->finding[0].text, "quota: half a processor");
    as_figures_drop_findings(again, "quota");
    as_figures_drop_curve(again, "latency.huge");
    assert_int_equal(again->finding_n + again->point_n, 0);
    as_figures_free(&again);
    as_figures_free(&figures);
}

static void a_save_that_fails_leaves_the_old(void **state)
{
    char path[256];

    (void)state;
    snprintf(path, sizeof path, "%s/x.tsv", root);
    assert_int_equal(as_figures_new(NULL, &figures, &err), 0);
    add_figure("a", 1, 0, true);
    assert_int_equal(as_figures_save(figures, path, &err), 0);
    add_figure("b", 2, 0, true);
    assert_int_equal(as_figures_save(figures, "/proc/none/x.tsv", &err), AS_ERR_IO);
    assert_true(has(err.text, "/proc/none/x.tsv"));
    as_alloc_fail_after(0);
    assert_int_equal(as_figures_save(figures, path, &err), AS_ERR_NOMEM);
    as_alloc_fail_after(-1);
    as_figures_free(&figures);
    assert_int_equal(as_figures_open(path, &figures, &err), 0);
    assert_int_equal(figures->figure_n, 1);
    as_figures_free(&figures);
}

static void expect_bad(const char *text, const char *part)
{
    char path[256];

    put("/bad.tsv", text);
    snprintf(path, sizeof path, "%s/bad.tsv", root);
    assert_int_equal(as_figures_open(path, &figures, &err), AS_ERR_CORRUPT);
    assert_null(figures);
    if (!has(err.text, part))
        fail_msg("%s: expected %s", err.text, part);
}

static void files_that_are_none(void **state)
{
    (void)state;
    expect_bad("figure\ta\tx\tB/s\t0\t1\tcalm\t-\n", "bad.tsv:1: not a figure");
    expect_bad("# ok\nfigure\ta\t1\tB/s\t0\t1\tcalm\n", "bad.tsv:2: not a figure");
    expect_bad("figure\ta\tinf\tB/s\t0\t1\tcalm\t-\n", "not a figure");
    expect_bad("figure\ta\t1\tB/s\t0\t-1\tcalm\t-\n", "not a figure");
    expect_bad("point\tc\t1\n", "not a point");
    expect_bad("done\tmemory\tyesterday\n", "not a group");
    expect_bad("done\tmemory\t-\t3\n", "not a group");
    expect_bad("done\tmemory\t-\t3\tlong\n", "not a group");
    expect_bad("machine\tname\n", "not three columns");
    expect_bad("nonsense\ta\tb\n", "unknown first word");
    expect_bad("1\t2\t3\t4\t5\t6\t7\t8\t9\n", "too many columns");
    assert_int_equal(as_figures_open("/nonexistent.tsv", &figures, &err), AS_ERR_NOT_FOUND);
    assert_int_equal(as_figures_open("/tmp", &figures, &err), AS_ERR_NOT_REGULAR);
}

static void memory_runs_out_while_reading(void **state)
{
    char path[256];

    (void)state;
    put("/x.tsv", "machine\tname\ta\nfigure\ta\t1\tB/s\t0\t1\tcalm\t-\npoint\tc\t1\t2\n"
                  "begun\tmemory\t-\nfinding\ta\tb\n");
    snprintf(path, sizeof path, "%s/x.tsv", root);
    for (int64_t after = 0, rc = -1; rc < 0; after++) {
        as_alloc_fail_after(after);
        rc = as_figures_open(path, &figures, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM);
        assert_true(after < 100);
    }
    as_figures_free(&figures);
}

static void where_they_lie(void **state)
{
    const struct as_host host = {.name = "a/../b c", .cpu_model = "X", .memory_b = 32 << 20};
    struct as_host other = host;
    char path[512], second[512];

    (void)state;
    setenv("XDG_DATA_HOME", "/data", 1);
    assert_true(as_figures_path(&host, path, sizeof path));
    assert_int_equal(strncmp(path, "/data/assay/machines/a____b_c-", 30), 0);
    other.hypervisor = "KVM"; /* another machine, though it has the name */
    assert_true(as_figures_path(&other, second, sizeof second));
    assert_string_not_equal(path, second);
    other = host;
    other.memory_b += 1 << 20; /* the kernel kept a little less: the same */
    assert_true(as_figures_path(&other, second, sizeof second));
    assert_string_equal(path, second);
    /* The table of a core is that of all hosts that have it. */
    const struct as_host core = {.name = "any",
                                 .cpu_vendor = "AuthenticAMD",
                                 .cpu_family = 26,
                                 .cpu_model_number = 2,
                                 .cpu_stepping = 1};
    assert_true(as_core_table_path(&core, path, sizeof path));
    assert_string_equal(path, "/data/assay/machines/AuthenticAMD-26-2-1.uarch.tsv");
    setenv("XDG_DATA_HOME", "relative", 1);
    setenv("HOME", "/houses/x", 1);
    assert_true(as_figures_directory(path, sizeof path));
    assert_string_equal(path, "/houses/x/.local/share/assay/machines");
    unsetenv("XDG_DATA_HOME");
    unsetenv("HOME");
    assert_false(as_figures_directory(path, sizeof path));
}

static void confidence(void **state)
{
    struct as_figure f = {.spread = 0.01, .sample_n = 21, .is_calm = true};

    (void)state;
    assert_string_equal(as_figure_confidence(&f), "high");
    f.spread = 0.05;
    assert_string_equal(as_figure_confidence(&f), "medium");
    f.is_calm = false;
    assert_string_equal(as_figure_confidence(&f), "low");
    f.is_calm = true;
    f.spread = 0.3;
    assert_string_equal(as_figure_confidence(&f), "low");
    f.spread = -1;
    assert_string_equal(as_figure_confidence(&f), "low");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(there_and_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_save_that_fails_leaves_the_old, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_that_are_none, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_runs_out_while_reading, set_up, tear_down),
        cmocka_unit_test(where_they_lie),
        cmocka_unit_test(confidence),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
