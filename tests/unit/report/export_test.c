/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports of experiments made by hand: exact files, names that formats cannot hold, damage, and
 * memory that ends. That exports of real runs equal the tables is tests/cli/export.bats.
 */
#include "place.h"

#include "base/alloc.h"
#include "base/version.h"
#include "cxx.h"
#include "report/report.h"

#define FORCE_NAME                                                                                 \
    "simulation::PairForce<double, simulation::Potential::LennardJones, 3>::compute(std::vector<"  \
    "simulation::Atom, std::allocator<simulation::Atom> > const&, unsigned long)"

static struct as_experiment *filled(const struct place *place)
{
    struct as_experiment *e;
    struct cxx c;

    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(cxx_fill(e, &c, err));
    return e;
}

static struct as_str export(struct as_experiment *e, struct as_export_options options,
                            uint64_t want_n)
{
    struct as_str str = {0};
    struct as_out out;
    uint64_t n = 99;

    as_out_init_str(&out, &str);
    fine(as_report_export(e, 0, &options, &out, &n, err));
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    assert_int_equal(n, want_n);
    return str;
}

static void expect(struct as_experiment *e, struct as_export_options options, uint64_t n,
                   const char *want)
{
    struct as_str got = export(e, options, n);

    assert_string_equal(as_str_z(&got), want);
    as_str_fini(&got);
}

/* Inlined functions are frames, calls from two lines are one, ';' and escapes are gone. */
static void test_folded(void **state)
{
    struct as_experiment *e = filled(*state);

    expect(e, (struct as_export_options){.format = AS_EXPORT_FOLDED}, 4,
           "main;run_step;" FORCE_NAME " 500\n"
           "main;run_step;" FORCE_NAME ";distance(a, b) [2J;norm 1000\n"
           "main;[libblob.so] 200\n"
           "main;GOMP_barrier 600\n");
    expect(e, (struct as_export_options){.format = AS_EXPORT_FOLDED, .blocked = true}, 1,
           "main;GOMP_barrier 200000000\n");
    expect(e,
           (struct as_export_options){
               .format = AS_EXPORT_FOLDED, .by = AS_EXPORT_BY_PROCESS, .blocked = true},
           1, "simulate (pid 77);main;GOMP_barrier 200000000\n");
    fine(as_experiment_close(&e, err));
}

static void test_speedscope(void **state)
{
    struct as_experiment *e = filled(*state);

    expect(e, (struct as_export_options){.format = AS_EXPORT_SPEEDSCOPE, .blocked = true}, 1,
           "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":"
           "\"./simulate --name 'a very long name' --steps 1000 --input "
           "/data/somewhere/deep/in/the/tree/input.file\",\"exporter\":\"assay@" AS_VERSION "\","
           "\"activeProfileIndex\":0,\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":"
           "\"/data/simulation/pair_force.cpp\"},{\"name\":\"GOMP_barrier\"}]},\"profiles\":["
           "{\"type\":\"sampled\",\"name\":\"simulate (pid 77, tid 80, OpenMP 3)\",\"unit\":"
           "\"nanoseconds\",\"startValue\":0,\"samples\":[[0,1]],\"weights\":[200000000],"
           "\"endValue\":200000000}]}\n");
    fine(as_experiment_close(&e, err));
}

/* The same samples give the same bytes; readers know gzip by its first two. */
static void test_pprof(void **state)
{
    const struct as_export_options options = {.format = AS_EXPORT_PPROF};
    struct as_experiment *e = filled(*state);
    struct as_str first = export(e, options, 19), second = export(e, options, 19);

    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.p, second.p, first.n);
    assert_memory_equal(first.p, "\x1f\x8b", 2);
    as_str_fini(&first);
    as_str_fini(&second);
    fine(as_experiment_close(&e, err));
}

/* A run without samples gives a document that is empty and whole. */
static void test_empty(void **state)
{
    struct place *place = *state;
    const struct as_row_run run = {.kind = "profile", .command = "x", .state = "recording"};
    const struct as_export_options folded = {.format = AS_EXPORT_FOLDED};
    struct as_experiment *e;
    struct as_str str = {0};
    struct as_out out;

    fine(as_experiment_create(place->exp, 0, &e, err));
    as_out_init_str(&out, &str);
    refused(as_report_export(e, 0, &folded, &out, NULL, err), NOT_FOUND, "has no run; record");
    fine(as_experiment_add_run(e, &run, NULL, err));
    refused(as_report_export(e, 2, &folded, &out, NULL, err), NOT_FOUND, "has no run 2");
    as_out_fini(&out);
    expect(e, folded, 0, "");
    expect(e, (struct as_export_options){.format = AS_EXPORT_SPEEDSCOPE}, 0,
           "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"name\":\"x\","
           "\"exporter\":\"assay@" AS_VERSION "\",\"shared\":{\"frames\":[]},\"profiles\":[]}\n");
    str = export(e, (struct as_export_options){.format = AS_EXPORT_PPROF}, 0);
    as_str_fini(&str);
    fine(as_experiment_close(&e, err));
}

/* Call paths and inlined functions in a circle are said, in every format. */
static void expect_circle(const struct place *place, const char *change, const char *sentence)
{
    struct as_experiment *e = filled(place);
    char command[600];

    fine(as_experiment_close(&e, err));
    snprintf(command, sizeof command, "sqlite3 '%s' '%s'", place->db, change);
    if (system("command -v sqlite3 >/dev/null") != 0)
        skip();
    assert_int_equal(system(command), 0);
    fine(as_experiment_read(place->exp, &e, err));
    for (int format = AS_EXPORT_FOLDED; format <= AS_EXPORT_PPROF; format++) {
        const struct as_export_options options = {.format = (enum as_export_format)format};
        struct as_str str = {0};
        struct as_out out;

        as_out_init_str(&out, &str);
        refused(as_report_export(e, 0, &options, &out, NULL, err), CORRUPT, sentence);
        as_out_fini(&out);
        as_str_fini(&str);
    }
    fine(as_experiment_close(&e, err));
}

static void test_circle_of_paths(void **state)
{
    expect_circle(*state, "UPDATE callpath SET parent_id = 2 WHERE callpath_id = 1",
                  "leads back to itself");
}

static void test_circle_of_inlining(void **state)
{
    expect_circle(*state, "UPDATE inlining SET parent_id = 3 WHERE inlining_id = 2",
                  "stand in a circle");
}

/* Wherever memory ends there is a sentence, and nothing is lost or freed twice. */
static void test_memory(void **state)
{
    struct as_experiment *e = filled(*state);

    for (int format = AS_EXPORT_FOLDED; format <= AS_EXPORT_PPROF; format++) {
        const struct as_export_options options = {.format = (enum as_export_format)format};
        int64_t failing = 0;
        int rc = AS_ERR_NOMEM;

        for (; rc < 0; failing++) {
            struct as_error err = {0};
            struct as_str str = {0};
            struct as_out out;

            as_out_init_str(&out, &str);
            as_alloc_fail_after(failing);
            rc = as_report_export(e, 0, &options, &out, NULL, &err);
            if (rc == 0)
                rc = as_out_flush(&out, &err);
            as_alloc_fail_after(-1);
            if (rc < 0)
                assert_int_equal(err.code, AS_ERR_NOMEM);
            as_out_fini(&out);
            as_str_fini(&str);
        }
        assert_true(failing > 20);
    }
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_folded),          place_test(test_speedscope),
        place_test(test_pprof),           place_test(test_empty),
        place_test(test_circle_of_paths), place_test(test_circle_of_inlining),
        place_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
