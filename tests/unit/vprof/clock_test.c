/* SPDX-License-Identifier: Apache-2.0 */
/* Which calibration of the core's clock counts, and which doubt a run keeps. */
#include <limits.h>
#include <stdio.h>

#include <sqlite3.h>

#include "place.h"
#include "vprof/clock.h"

/* The fastest try counts if another one repeats it; slower ones are those that were disturbed. */
static void test_repeated(void **state)
{
    (void)state;
    double halved[] = {0.66, 0.65, 1.321, 0.67, 0.66, 1.320, 0.66};
    assert_true(as_tick_repeated(halved, 7) == 1.321);
    double glitch[] = {1.320, 2.6, 1.319, 1.3};
    assert_true(as_tick_repeated(glitch, 4) == 1.320);
    double none[] = {1.0, 1.1, 1.2};
    assert_true(as_tick_repeated(none, 3) == 0);
    assert_true(as_tick_repeated(none, 1) == 0 && as_tick_repeated(none, 0) == 0);
}

static void set_host(const char *experiment, const char *what)
{
    char path[PATH_MAX], sql[256];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/experiment.db", experiment);
    snprintf(sql, sizeof sql, "UPDATE host SET %s", what);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* The text of the flag that a run gets for a clock, or "". */
static void expect_flag(const struct place *place, const struct as_tick *tick, double stored_hz,
                        const char *part)
{
    struct as_experiment *experiment;
    struct fixture f;
    fine(as_experiment_create(place->exp, AS_EXPERIMENT_FORCE, &experiment, err));
    fine(fixture_fill(experiment, &f, err));
    const struct as_row_machine_figure figure = {.host_id = f.host,
                                                 .name = "frequency.fma.f64.scalar.core",
                                                 .value = stored_hz,
                                                 .unit = "Hz",
                                                 .confidence = "high"};
    if (stored_hz > 0)
        fine(as_experiment_add_machine_figure(experiment, &figure, err));
    fine(as_tick_flag(tick, experiment, f.run, "vprof", err));
    assert_int_equal(
        integer_of(experiment, "SELECT count(*) FROM flag WHERE name = 'clock_unsure'"),
        *part != 0);
    if (*part) {
        char sql[256];
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM flag WHERE name = 'clock_unsure' AND text LIKE '%%%s%%'",
                 part);
        assert_int_equal(integer_of(experiment, sql), 1);
    }
    fine(as_experiment_close(&experiment, err));
}

static void test_sure(void **state)
{
    const struct as_tick tick = {.cycles = 1.32, .ns = 0.409}; /* 3.23 GHz */
    expect_flag(*state, &tick, 0, "");
    expect_flag(*state, &tick, 3.25e9, "");
}

static void test_spread(void **state)
{
    const struct as_tick tick = {.cycles = 1.32, .ns = 0.409, .spread = 0.25};
    expect_flag(*state, &tick, 3.25e9, "between 2.42 and 3.23 GHz%by 25");
}

static void test_stored(void **state)
{
    const struct as_tick slow = {.cycles = 0.66, .ns = 0.409};
    expect_flag(*state, &slow, 3.25e9, "was 1.61 GHz, but 3.25 GHz");
    const struct as_tick fast = {.cycles = 1.5, .ns = 0.409};
    expect_flag(*state, &fast, 3.25e9, "was 3.67 GHz, but 3.25 GHz");
}

/* The frequency of cpufreq counts, but for virtual machines. */
static void test_highest(void **state)
{
    const struct place *place = *state;
    const struct as_tick fast = {.cycles = 1.5, .ns = 0.409};
    for (int is_virtual = 0; is_virtual < 2; is_virtual++) {
        struct as_experiment *experiment;
        struct fixture f;
        fine(as_experiment_create(place->exp, AS_EXPERIMENT_FORCE, &experiment, err));
        fine(fixture_fill(experiment, &f, err));
        fine(as_experiment_close(&experiment, err));
        set_host(place->exp, is_virtual ? "max_hz = 3.3e9, hypervisor = 'KVM'"
                                        : "max_hz = 3.3e9, hypervisor = NULL");
        fine(as_experiment_open(place->exp, &experiment, err));
        fine(as_tick_flag(&fast, experiment, f.run, "vprof", err));
        assert_int_equal(integer_of(experiment,
                                    "SELECT count(*) FROM flag WHERE name = 'clock_unsure'"
                                    " AND text LIKE '%was 3.67 GHz, but cpufreq allows 3.30 GHz%'"),
                         !is_virtual);
        fine(as_experiment_close(&experiment, err));
    }
}

static void test_unknown(void **state)
{
    const struct as_tick tick = {.ns = 0.409};
    expect_flag(*state, &tick, 3.25e9, "could not be measured");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_repeated), place_test(test_sure),
                                       place_test(test_spread),         place_test(test_stored),
                                       place_test(test_unknown),        place_test(test_highest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
