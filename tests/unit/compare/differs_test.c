/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences beside the times, on experiments made by hand: flags, values of the code, versions,
 * calls, environment, machine, libraries, load. Values that are equal, unknown or within their
 * intervals are not shown.
 */
#include "synthetic.h"

#include <math.h>

#include "compare/differs.h"

static const int64_t samples[] = {1000, 2000, 3000};

static void path_of(const struct place *place, const char *name, char *path, size_t size_b)
{
    snprintf(path, size_b, "%s/%s.assay", place->dir, name);
}

static bool is(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- Flags --------------------------------------------------------------------------------- */

static void expect_flags(const char *a, const char *b, const char *main_flags, const char *others)
{
    struct as_str text = {0};
    as_flags_difference(&text, a, b, true);
    assert_string_equal(as_str_z(&text), main_flags);
    as_str_clear(&text);
    as_flags_difference(&text, a, b, false);
    assert_string_equal(as_str_z(&text), others);
    as_str_fini(&text);
    assert_int_equal(as_flags_differ(a, b), main_flags[0] || others[0]);
    assert_int_equal(as_flags_differ(b, a), main_flags[0] || others[0]);
}

static void test_flags(void **state)
{
    (void)state;
    expect_flags("-O2 -g", "-O2 -g", "", "");
    expect_flags("-O2", "-O3", "-O2 -> -O3", "");
    expect_flags("-mtune=generic -march=x86-64 -O2", "-O3 -march=znver4 -mtune=znver4",
                 "-O2 -> -O3, -march=x86-64 -> -march=znver4", "-mtune=generic -> -mtune=znver4");
    expect_flags("", "-Ofast", "no -O -> -Ofast", "");
    expect_flags("-Os", "-fx", "-Os -> no -O", "with -fx");
    expect_flags("-O2 -ffast-math", "-O2 -fno-tree-vectorize", "",
                 "without -ffast-math, with -fno-tree-vectorize");
    expect_flags("-fno-math-errno", "-fmath-errno", "", "-fno-math-errno -> -fmath-errno");
    /* In any order, the last of a key, and what makes no code. */
    expect_flags("-fa -O2 -fb", "-fb -O3 -fa -O2", "", "");
    expect_flags("-O2 -g -Wall -Ia -o x.o -fdebug-prefix-map=a=b -frandom-seed=1 x.c",
                 "-g3 -gdwarf-5 -Wextra -Ib -O2 -o y.o -ffile-prefix-map=a=c y.c", "", "");
    expect_flags("--param=a=1 --param=b=1", "--param=a=1 --param=b=2", "",
                 "--param=b=1 -> --param=b=2");
    expect_flags("-DN=1", "-DN=2", "", "-DN=1 -> -DN=2");
    expect_flags("-O2", "-O2 -ma -mb -mc -md -me -mf", "",
                 "with -ma, with -mb, with -mc, with -md, 2 more flags");
}

/* ---- Functions and loops ------------------------------------------------------------------- */

/* A side's version of loop 1. */
struct version {
    const char *compiler, *compiler_version, *flags;
    struct as_bounded_value packed; /* origin 0: not known */
    struct as_bounded_value paths;
    struct as_bounded_value options; /* rates flags: is never told */
    bool in_set;                     /* the values are in a set of metrics */
    bool tail;                       /* the loop has a further version without samples */
    int changed;                     /* as in synthetic_code */
};

static const struct as_metric metrics[] = {
    {"fp_packed_pct", "%", "x", "counted", .title = "Packed arithmetic", .topic = "vector"},
    {"flow_paths", "1", "x", "counted", .better = 2, .title = "Paths", .topic = "flow"},
    {"rating_pct", "%", "x", "counted", .title = "Rating", .topic = "options"}};

static void add_values(struct synthetic *s, const struct version *it)
{
    const struct as_subject of = {.kind = AS_OBJECT_LOOP, .object_id = s->loop[1]};
    const struct as_bounded_value value[] = {it->packed, it->paths, it->options};
    struct as_set_metric column[3];
    struct as_metric_set *set;
    int64_t id;
    for (size_t i = 0; i < 3; i++) {
        column[i] = (struct as_set_metric){metrics[i], (enum as_origin)value[i].origin, 3,
                                           value[i].low < value[i].high};
        if (it->in_set || !value[i].origin)
            continue;
        fine(as_experiment_metric(s->experiment, &metrics[i], &id, err));
        fine(as_experiment_value(s->experiment, id, &of, value[i], err));
    }
    if (!it->in_set)
        return;
    fine(as_metric_set_open(s->experiment, "code", of.kind, "test", column, 3, &set, err));
    fine(as_metric_set_add(set, &of, 1, value, err));
    as_metric_set_close(&set);
}

static void add_unit(struct synthetic *s, const struct version *it)
{
    const struct as_row_unit unit = {.module_id = 1,
                                     .name = "program.c",
                                     .compiler = it->compiler,
                                     .compiler_version = it->compiler_version,
                                     .flags = it->flags};
    struct as_row_function row = {
        .module_id = 1, .name = "kernel_1", .address = as_known(0x1000 + 64)};
    int64_t id;
    fine(as_experiment_add_unit(s->experiment, &unit, &row.unit_id, err));
    fine(as_experiment_add_function(s->experiment, &row, &id, err));
    assert_int_equal(id, s->function[1]);
}

static void open_version(const struct place *place, struct synthetic *s, const char *name,
                         const struct version *it)
{
    char path[200];
    path_of(place, name, path, sizeof path);
    synthetic_open(s, path, 3, &(struct synthetic_code){.changed = it->changed});
    fine(as_experiment_begin(s->experiment, err));
    if (it->compiler)
        add_unit(s, it);
    if (it->tail)
        fine(as_experiment_add_loop(s->experiment,
                                    &(struct as_row_loop){.function_id = s->function[1],
                                                          .source_loop_id = s->loop[1],
                                                          .address = 0x9000,
                                                          .depth = 1,
                                                          .role = "tail"},
                                    NULL, err));
    add_values(s, it);
    fine(as_experiment_commit(s->experiment, err));
    synthetic_add(s, &(struct synthetic_run){
                         .kind = "profile", .wall_s = 12, .thread_n = 1, .sample_n = samples});
}

static struct as_comparison *compare(const struct synthetic *a, const struct synthetic *b)
{
    struct as_comparison *it = NULL;
    const struct as_compare_request side[] = {{.experiment = a->experiment, .name = "a"},
                                              {.experiment = b->experiment, .name = "b"}};
    fine(as_compare_experiments(side, 2, &it, err));
    return it;
}

static const struct as_compare_row *loop_1(const struct as_comparison *it)
{
    for (size_t i = 0; i < it->row_n; i++)
        if (it->row[i].object.kind == AS_OBJECT_LOOP && is(it->row[i].object.name, "kernel_1"))
            return &it->row[i];
    fail_msg("no row of the loop");
    return NULL;
}

/* Checks the differences of loop 1, joined. The other loops and the functions differ in flags
 * only. */
static void expect(const struct place *place, const struct version *one, const struct version *two,
                   const char *want)
{
    struct synthetic a, b;
    struct as_str text = {0};
    open_version(place, &a, "a", one);
    open_version(place, &b, "b", two);
    struct as_comparison *it = compare(&a, &b);
    const struct as_compare_row *row = loop_1(it);
    for (size_t i = 0; i < row->cell[1].differs_n; i++)
        as_str_appendf(&text, "%s%s", i ? "; " : "", row->cell[1].differs[i]);
    assert_string_equal(as_str_z(&text), want);
    assert_int_equal(row->cell[0].differs_n, 0);
    for (size_t i = 0; i < it->row_n; i++)
        if (!is(it->row[i].object.name, "kernel_1"))
            assert_int_equal(it->row[i].cell[1].differs_n + it->row[i].fact_n, 0);
    as_str_fini(&text);
    as_comparison_free(&it);
    fine(as_experiment_close(&a.experiment, err));
    fine(as_experiment_close(&b.experiment, err));
}

static void test_code(void **state)
{
    const struct version scalar = {"gcc",
                                   "12.2.0",
                                   "-O2",
                                   as_value_exact(0, 1),
                                   as_value_exact(1, 1),
                                   as_value_exact(50, 1),
                                   .changed = -1};
    struct version other = scalar;
    expect(*state, &scalar, &other, "");
    other = (struct version){"gcc",
                             "12.2.0",
                             "-O3 -ffast-math",
                             as_value_exact(96, 1),
                             as_value_exact(4, 1),
                             as_value_exact(90, 1),
                             .changed = 1};
    expect(*state, &scalar, &other,
           "-O2 -> -O3; packed arithmetic 0 -> 96 %; paths 1 -> 4; 9 other instructions; "
           "with -ffast-math");
    other.in_set = true;
    expect(*state, &scalar, &other,
           "-O2 -> -O3; packed arithmetic 0 -> 96 %; paths 1 -> 4; 9 other instructions; "
           "with -ffast-math");
    other = scalar;
    other.compiler = "clang";
    other.compiler_version = "14.0.6";
    other.flags = NULL; /* clang does not say them: nothing is known */
    other.tail = true;
    expect(*state, &scalar, &other, "gcc 12.2.0 -> clang 14.0.6; versions main -> main + tail");
    /* A fact known on one side only does not count as a difference. */
    expect(*state, &scalar, &(struct version){.changed = -1}, "");
}

static void test_intervals(void **state)
{
    struct version a = {.packed = as_value_derived(50, 12.5, 100, 1), .changed = -1}, b = a;
    b.packed = as_value_derived(80, 60, 100, 1); /* a bound does not count as a value */
    expect(*state, &a, &b, "");
    a.packed = as_value_measured(20, 18, 22, 100);
    b.packed = as_value_measured(23, 21, 25, 100);
    expect(*state, &a, &b, "");
    b.packed = as_value_measured(25.26, 23, 27, 100);
    expect(*state, &a, &b, "packed arithmetic 20 -> 25.3 %");
    a.packed = as_value_exact(20, 100);
    b.packed = as_value_exact(20.00001, 100); /* too close to differ */
    expect(*state, &a, &b, "");
}

/* A measured and a modelled value do not differ; two modelled values do. */
static void test_origins(void **state)
{
    struct version a = {.packed = as_value_measured(20, 20, 20, 100), .changed = -1}, b = a;
    b.packed = as_value_modelled(90, 90, 90);
    expect(*state, &a, &b, "");
    expect(*state, &b, &a, "");
    a.packed = as_value_modelled(20, 20, 20);
    expect(*state, &a, &b, "packed arithmetic 20 -> 90 %");
}

/* A fact of a row: values of both sides. */
static void test_facts_of_rows(void **state)
{
    const struct version
        one = {.compiler = "gcc", .flags = "-O2", .packed = as_value_exact(0, 1), .changed = -1},
        two = {.compiler = "gcc", .flags = "-O3", .packed = as_value_exact(96.4, 1), .changed = -1};
    struct synthetic a, b;
    open_version(*state, &a, "a", &one);
    open_version(*state, &b, "b", &two);
    struct as_comparison *it = compare(&a, &b);
    const struct as_compare_row *row = loop_1(it);
    assert_int_equal(row->fact_n, 2);
    assert_string_equal(row->fact[0].name, "flags");
    assert_string_equal(row->fact[0].text[0], "-O2");
    assert_string_equal(row->fact[0].text[1], "-O3");
    assert_null(row->fact[0].value);
    assert_string_equal(row->fact[1].name, "fp_packed_pct");
    assert_string_equal(row->fact[1].unit, "%");
    assert_string_equal(row->fact[1].text[1], "96.4");
    assert_true(row->fact[1].value[0].value == 0 && row->fact[1].value[1].value == 96.4);
    assert_int_equal(row->cell[1].code, AS_CODE_SAME);
    as_comparison_free(&it);
    fine(as_experiment_close(&a.experiment, err));
    fine(as_experiment_close(&b.experiment, err));
}

/* A library function that the function of loop 1 calls from the loop, `n` samples of it. */
static void add_call(struct synthetic *s, int64_t n)
{
    const struct as_row_category mpi = {.name = "mpi", .title = "MPI"};
    const struct as_row_function function = {
        .module_id = 1, .name = "send", .address = as_known(0x8000)};
    struct as_row_callpath path = {
        .parent_id = s->path[1], .call_location_id = s->location[1], .depth = 2};
    fine(as_experiment_begin(s->experiment, err));
    fine(as_experiment_add_category(s->experiment, &mpi, &path.category_id, err));
    fine(as_experiment_add_function(s->experiment, &function, &path.function_id, err));
    fine(as_experiment_add_callpath(s->experiment, &path, &s->path[3], err));
    const struct as_row_location location = {
        .module_id = 1, .address = 0x8004, .function_id = path.function_id};
    fine(as_experiment_add_location(s->experiment, &location, &s->location[3], err));
    fine(as_experiment_commit(s->experiment, err));
    s->loop_n = 4;
    const int64_t all[] = {1000, 2000, 3000, n};
    synthetic_add(
        s, &(struct synthetic_run){.kind = "repeat", .wall_s = 12, .thread_n = 1, .sample_n = all});
}

static void test_calls(void **state)
{
    static const struct {
        int64_t n[2];
        const char *text;
    } it[] = {{{500, 2000}, "calls of MPI 20 -> 50 %"},
              {{0, 2000}, "calls of MPI 0 -> 50 %"},
              {{500, 520}, NULL}}; /* chance */
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        struct synthetic s[2];
        for (size_t k = 0; k < 2; k++) {
            open_version(*state, &s[k], k ? "b" : "a", &(struct version){.changed = -1});
            add_call(&s[k], it[i].n[k]);
        }
        struct as_comparison *result = compare(&s[0], &s[1]);
        const struct as_compare_row *row = loop_1(result);
        assert_int_equal(row->cell[1].differs_n, it[i].text != NULL);
        if (it[i].text)
            assert_string_equal(row->cell[1].differs[0], it[i].text);
        as_comparison_free(&result);
        fine(as_experiment_close(&s[0].experiment, err));
        fine(as_experiment_close(&s[1].experiment, err));
    }
}

/* ---- The whole ----------------------------------------------------------------------------- */

static void set_variable(struct synthetic *s, int64_t run, const char *name, const char *value)
{
    const struct as_row_run_environment row = {.run_id = run, .name = name, .value = value};
    fine(as_experiment_begin(s->experiment, err));
    fine(as_experiment_add_run_environment(s->experiment, &row, err));
    fine(as_experiment_commit(s->experiment, err));
}

static void set_fact(struct synthetic *s, const char *name, const char *value)
{
    const struct as_row_host_fact row = {.host_id = 1, .name = name, .value = value};
    fine(as_experiment_begin(s->experiment, err));
    fine(as_experiment_add_host_fact(s->experiment, &row, err));
    fine(as_experiment_commit(s->experiment, err));
}

static void open_runs(const struct place *place, struct synthetic *s, const char *name,
                      const char *build_id, int run_n)
{
    char path[200];
    path_of(place, name, path, sizeof path);
    synthetic_open(s, path, 3, &(struct synthetic_code){.build_id = build_id, .changed = -1});
    for (int i = 0; i < run_n; i++)
        synthetic_add(s, &(struct synthetic_run){
                             .kind = "repeat", .wall_s = 12, .thread_n = 1, .sample_n = samples});
}

/* "topic name: A | B" of all facts, a line each. */
static void expect_facts(const struct synthetic *a, const struct synthetic *b, const char *want)
{
    struct as_str text = {0};
    struct as_comparison *it = compare(a, b);
    for (size_t i = 0; i < it->fact_n; i++)
        as_str_appendf(&text, "%s %s: %s | %s\n", it->fact[i].topic, it->fact[i].name,
                       it->fact[i].text[0] ? it->fact[i].text[0] : "-",
                       it->fact[i].text[1] ? it->fact[i].text[1] : "-");
    assert_string_equal(as_str_z(&text), want);
    as_str_fini(&text);
    as_comparison_free(&it);
}

static void test_around(void **state)
{
    struct synthetic a, b;
    open_runs(*state, &a, "a", "1", 2);
    open_runs(*state, &b, "b", "1", 2);
    expect_facts(&a, &b, "");
    set_fact(&a, "governor", "performance");
    expect_facts(&a, &b, ""); /* of b it is not known */
    set_fact(&b, "governor", "powersave");
    set_fact(&a, "load_average", "0.1");
    set_fact(&b, "load_average", "7");
    expect_facts(&a, &b, "machine governor: performance | powersave\n");
    set_fact(&b, "governor", "performance");
    for (int64_t run = 1; run <= 2; run++) {
        set_variable(&a, run, "OMP_NUM_THREADS", "2");
        set_variable(&b, run, "OMP_NUM_THREADS", "4");
        set_variable(&a, run, "OMP_PROC_BIND", "true");
        set_variable(&a, run, "SLURM_PROCID", run == 1 ? "0" : "1"); /* a place, not a setting */
        set_variable(&a, run, "KMP_BLOCKTIME", "0");
        set_variable(&b, run, "KMP_BLOCKTIME", "0");
    }
    expect_facts(&a, &b,
                 "environment OMP_NUM_THREADS: 2 | 4\n"
                 "environment OMP_PROC_BIND: true | -\n");
    set_variable(&b, 2, "OMP_NUM_THREADS", "2");
    set_variable(&b, 2, "OMP_PROC_BIND", "true"); /* in one of two runs */
    expect_facts(&a, &b,
                 "environment OMP_NUM_THREADS: 2 | varies\n"
                 "environment OMP_PROC_BIND: true | varies\n");
    fine(as_experiment_close(&a.experiment, err));
    fine(as_experiment_close(&b.experiment, err));
}

/* External load: shown if the host was too busy on one side only. 64 CPUs, 12 s. */
static void test_load(void **state)
{
    static const struct {
        int64_t steal_s[2];
        const char *want;
    } it[] = {{{0, 150}, ""},
              {{200, 300}, ""},
              {{6, 600}, "load others_cpus: 0.50 of 64 CPUs | 50.00 of 64 CPUs: too busy\n"}};
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        struct synthetic s[2];
        for (size_t k = 0; k < 2; k++) {
            open_runs(*state, &s[k], k ? "b" : "a", "1", 1);
            synthetic_add(&s[k],
                          &(struct synthetic_run){.kind = "repeat",
                                                  .wall_s = 12,
                                                  .thread_n = 1,
                                                  .sample_n = samples,
                                                  .steal_ns = it[i].steal_s[k] * 1000000000});
        }
        expect_facts(&s[0], &s[1], it[i].want);
        for (size_t k = 0; k < 2; k++)
            fine(as_experiment_close(&s[k].experiment, err));
    }
}

/* A library of which function 2 of the program is: its module changes. */
static void open_library(const struct place *place, struct synthetic *s, const char *side,
                         const char *name, const char *build_id, int64_t n)
{
    const struct as_row_module library = {
        .path = "/lib/x", .name = name, .build_id = build_id, .kind = "shared"};
    const int64_t all[] = {1000, 2000, 3000, n};
    char path[200];
    int64_t module, function;
    path_of(place, side, path, sizeof path);
    synthetic_open(s, path, 3, &(struct synthetic_code){.changed = -1});
    fine(as_experiment_begin(s->experiment, err));
    fine(as_experiment_add_module(s->experiment, &library, &module, err));
    const struct as_row_function row = {
        .module_id = module, .name = "dgemm", .address = as_known(16)};
    fine(as_experiment_add_function(s->experiment, &row, &function, err));
    const struct as_row_callpath at = {
        .function_id = function, .category_id = s->category, .depth = 1};
    fine(as_experiment_add_callpath(s->experiment, &at, &s->path[3], err));
    const struct as_row_location location = {
        .module_id = module, .address = 20, .function_id = function};
    fine(as_experiment_add_location(s->experiment, &location, &s->location[3], err));
    fine(as_experiment_commit(s->experiment, err));
    s->loop_n = 4;
    synthetic_add(s, &(struct synthetic_run){
                         .kind = "profile", .wall_s = 12, .thread_n = 1, .sample_n = all});
}

static void test_libraries(void **state)
{
    static const struct {
        const char *name[2], *build_id[2];
        int64_t n;
        const char *want;
    } it[] = {
        {{"libblas.so.3", "libblas.so.3"}, {"a1", "a1"}, 900, ""},
        {{"libblas.so.3", "libblas.so.3"},
         {"a1", "b20123456789abcd"},
         900,
         "library libblas.so: libblas.so.3 a1 | libblas.so.3 b20123456789\n"},
        {{"libblas.so.3.10", "libblas.so.3.11"},
         {"a1", "b2"},
         900,
         "library libblas.so: libblas.so.3.10 a1 | libblas.so.3.11 b2\n"},
        {{"libblas.so.3", "libmkl.so.2"},
         {"a1", "b2"},
         900,
         "library libblas.so: libblas.so.3 a1 | -\nlibrary libmkl.so: - | libmkl.so.2 b2\n"},
        {{"libblas.so.3", "libmkl.so.2"}, {"a1", "b2"}, 29, ""}, /* samples in a library are
                                                                  * chance */
    };
    for (size_t i = 0; i < sizeof it / sizeof *it; i++) {
        struct synthetic a, b;
        open_library(*state, &a, "a", it[i].name[0], it[i].build_id[0], it[i].n);
        open_library(*state, &b, "b", it[i].name[1], it[i].build_id[1], it[i].n);
        expect_facts(&a, &b, it[i].want);
        fine(as_experiment_close(&a.experiment, err));
        fine(as_experiment_close(&b.experiment, err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags), place_test(test_code),  place_test(test_intervals),
        place_test(test_origins),     place_test(test_calls), place_test(test_around),
        place_test(test_libraries),   place_test(test_load),  place_test(test_facts_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
