/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report data (doc/reference/report-data.md): whole documents against tests/golden/report
 * (ASSAY_REBASE=1 writes them anew: read the difference), and numbers that can be added up by hand.
 */
#include "place.h"

#include <jansson.h>
#include <math.h>

#include "base/version.h"
#include "cxx.h"
#include "report/grid.h"
#include "report/html.h"
#include "report/report.h"

#define HOSTILE "</script><b onload=\"x\">'&\x01\x7f\xff\xc3(\n\t"

/* ---- Experiments -------------------------------------------------------------------------- */

static struct as_experiment *empty(const struct place *place)
{
    struct as_experiment *e;

    if (chdir(place->dir) != 0)
        fail();
    fine(as_experiment_create("a.assay", AS_EXPERIMENT_FORCE, &e, err));
    return e;
}

static void add_metric(struct as_experiment *e, const char *name, const char *title,
                       const char *topic, double good, double fair, enum as_better better,
                       int64_t *id)
{
    const struct as_metric metric = {.name = name,
                                     .unit = "%",
                                     .meaning = "Meaning of the metric.",
                                     .formula = "counted",
                                     .better = better,
                                     .title = title,
                                     .topic = topic,
                                     .good = good,
                                     .fair = fair};

    fine(as_experiment_metric(e, &metric, id, err));
}

static void add_value(struct as_experiment *e, int64_t metric, enum as_object_kind kind,
                      int64_t object, int64_t run, struct as_bounded_value quantity)
{
    const struct as_subject subject = {.kind = kind, .object_id = object, .run_id = run};
    fine(as_experiment_value(e, metric, &subject, quantity, err));
}

static void add_metrics(struct as_experiment *e, const struct fixture *f)
{
    int64_t id;

    add_metric(e, "balance_pct", "Balance", "parallel", 90, 70, AS_BETTER_HIGHER, &id);
    add_value(e, id, AS_OBJECT_RUN, f->run, f->run, as_value_measured(75, 70, 80, 200));
    add_metric(e, "other_pct", "Other", "time", 5, 20, AS_BETTER_LOWER, &id);
    add_value(e, id, AS_OBJECT_RUN, f->run, 0, as_value_derived(30, 29, 31, 200));
    add_value(e, id, AS_OBJECT_RUN, f->run, f->run, as_value_derived(3, 2, 4, 200));
    add_metric(e, "plain_pct", NULL, "time", 0, 0, AS_BETTER_NEITHER, &id);
    add_value(e, id, AS_OBJECT_RUN, f->run, f->run, as_value_modelled(1, -INFINITY, INFINITY));
    add_metric(e, "hidden_pct", NULL, NULL, 0, 0, AS_BETTER_HIGHER, &id);
    add_value(e, id, AS_OBJECT_LOOP, f->inner, 0, as_value_exact(10, 4));
    add_value(e, id, AS_OBJECT_LOOP, f->inner, f->run, as_value_exact(20, 4));
    add_value(e, id, AS_OBJECT_LOOP, f->outer, 0, as_value_modelled(5, 4, 6));
    add_value(e, id, AS_OBJECT_LOOP, 4711, 0, as_value_modelled(5, 4, 6)); /* not sampled */
}

static void add_advice(struct as_experiment *e, const struct fixture *f)
{
    const struct as_what_if_object object[] = {{f->inner, 0.4, 1.25}, {f->outer, 0.1, 2.0}};
    const struct as_what_if what_if = {.run_id = f->run,
                                       .name = "vectorised",
                                       .title = "All loops vectorised",
                                       .meaning = "As it says.",
                                       .kind = AS_OBJECT_LOOP,
                                       .time_s = 2,
                                       .gain_s = as_value_modelled(1, 0.5, 1.5),
                                       .object = object,
                                       .object_n = 2,
                                       .to_80_n = 1};
    const struct as_check check = {.run_id = f->run,
                                   .name = "long_enough",
                                   .title = "Long enough",
                                   .text = "The run took 1.25 s.",
                                   .advice = "Make it longer.",
                                   .weight = 2,
                                   .score = 0.5};
    const struct as_bounded_value gain = as_value_modelled(5, 4, 6);
    struct as_finding finding = {.of = {AS_OBJECT_FUNCTION, f->solve, f->run, 0},
                                 .level = AS_FINDING_HINT,
                                 .topic = "short",
                                 .text = "Less time.",
                                 .time_ns = 1000000};

    fine(as_experiment_what_if(e, &what_if, err));
    fine(as_experiment_check(e, &check, err));
    fine(as_experiment_finding(e, &finding, err));
    finding.topic = "long";
    finding.time_ns = 2000000;
    fine(as_experiment_finding(e, &finding, err));
    finding.topic = "gain";
    finding.gain = &gain;
    fine(as_experiment_finding(e, &finding, err));
}

/* Two instructions of the inner loop, one of them sampled; lines 22 to 24 and 41 with their text.
 */
static void add_code(struct as_experiment *e, const struct fixture *f)
{
    static const struct {
        int64_t number;
        const char *text;
    } line[] = {{22, "for (;;)"}, {24, "}"}, {41, "return 1;"}};
    struct as_row_disassembly row = {.module_id = f->module[0],
                                     .address = 0x1140,
                                     .function_id = f->solve,
                                     .size_b = 4,
                                     .text = "add rax, 8",
                                     .loop_id = f->inner,
                                     .block_id = f->block};

    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        const struct as_row_line it = {
            .source_file_id = 1, .number = line[i].number, .text = line[i].text};
        int64_t id;

        fine(as_experiment_add_line(e, &it, &id, err));
        row.line_id = line[i].number == 22 ? id : row.line_id;
    }
    fine(as_experiment_add_disassembly(e, &row, err));
    row.address = 0x1150;
    row.text = "movsd xmm0, qword ptr [rax]";
    fine(as_experiment_add_disassembly(e, &row, err));
}

static struct as_experiment *filled(const struct place *place, struct fixture *f)
{
    struct as_experiment *e = empty(place);

    fine(fixture_fill(e, f, err));
    fine(as_experiment_begin(e, err));
    add_metrics(e, f);
    add_advice(e, f);
    add_code(e, f);
    fine(as_experiment_commit(e, err));
    return e;
}

/* ---- Documents ---------------------------------------------------------------------------- */

static struct as_str text_with(struct as_experiment *e, size_t path_most, size_t level_most_b)
{
    const struct as_report_data_options options = {
        .made_utc = "2026-01-02T03:04:05Z", .path_most = path_most, .level_most_b = level_most_b};
    struct as_str str = {0};
    struct as_out out;

    as_out_init_str(&out, &str);
    fine(as_report_data(e, 0, &options, &out, err));
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    return str;
}

static struct as_str text_of(struct as_experiment *e)
{
    return text_with(e, 0, 0);
}

static json_t *document_with(struct as_experiment *e, size_t path_most, size_t level_most_b)
{
    struct as_str str = text_with(e, path_most, level_most_b);
    json_error_t error;
    json_t *document = json_loadb(str.p, str.n, JSON_REJECT_DUPLICATES, &error);

    if (!document)
        fail_msg("%s at byte %d", error.text, error.position);
    as_str_fini(&str);
    return document;
}

static json_t *document_of(struct as_experiment *e)
{
    return document_with(e, 0, 0);
}

static json_t *named(json_t *array, const char *name)
{
    size_t i;
    json_t *it;

    json_array_foreach(array, i, it)
    {
        if (strcmp(json_string_value(json_object_get(it, "name")), name) == 0)
            return it;
    }
    return NULL;
}

static json_t *view_of(json_t *document, const char *name)
{
    json_t *view = named(json_object_get(document, "views"), name);

    if (!view)
        fail_msg("no view %s", name);
    return view;
}

static json_t *column_of(json_t *view, const char *name)
{
    return named(json_object_get(view, "columns"), name);
}

/* A number of a view, not-a-number for null. */
static double cell(json_t *view, const char *name, size_t row)
{
    json_t *data = json_object_get(json_object_get(view, "data"), name);
    json_t *value = json_array_get(json_object_get(data, "v"), row);

    assert_non_null(value);
    return json_is_null(value) ? NAN : json_number_value(value);
}

static const char *word(json_t *column, size_t row)
{
    const long long i = json_integer_value(json_array_get(json_object_get(column, "i"), row));

    return i < 0 ? NULL
                 : json_string_value(json_array_get(json_object_get(column, "dict"), (size_t)i));
}

static const char *text_cell(json_t *view, const char *name, size_t row)
{
    return word(json_object_get(json_object_get(view, "data"), name), row);
}

static double member(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void near(double got, double want)
{
    if (!(fabs(got - want) < 1e-9))
        fail_msg("%.12g instead of %.12g", got, want);
}

static void same(json_t *object, const char *key, const char *want)
{
    const char *got = json_string_value(json_object_get(object, key));

    if (want)
        assert_string_equal(got ? got : "null", want);
    else
        assert_null(got);
}

/* ---- Whole documents ---------------------------------------------------------------------- */

/* A line for each object and each column of data; the version of the program apart. */
static struct as_str broken(const struct as_str *document)
{
    struct as_str to = {0};
    bool quoted = false;

    for (const char *p = document->p; *p; p++) {
        if (!quoted && strncmp(p, "\"" AS_VERSION "\"", strlen(AS_VERSION) + 2) == 0) {
            as_str_appendz(&to, "VERSION");
            p += strlen(AS_VERSION) + 1;
            continue;
        }
        if (*p == '\\') {
            as_str_append(&to, p++, 2);
            continue;
        }
        quoted ^= *p == '"';
        as_str_append(&to, p, 1);
        if (!quoted && *p == ',' && (p[-1] == '}' || p[-1] == ']'))
            as_str_appendz(&to, "\n");
    }
    return to;
}

static void expect_golden(const char *name, const struct as_str *got)
{
    char path[400];
    struct as_str want = {0};
    char block[4096];
    FILE *file;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", GOLDEN_DIR, name);
    file = fopen(path, getenv("ASSAY_REBASE") ? "w" : "r");
    if (!file)
        fail_msg("%s cannot be opened", path);
    if (getenv("ASSAY_REBASE"))
        fputs(as_str_z(got), file);
    else {
        while ((n = fread(block, 1, sizeof block, file)) > 0)
            as_str_append(&want, block, n);
        assert_string_equal(as_str_z(got), as_str_z(&want));
    }
    fclose(file);
    as_str_fini(&want);
}

static void test_golden(void **state)
{
    struct fixture f;
    struct cxx c;

    for (int i = 0; i < 2; i++) {
        struct as_experiment *e = i ? empty(*state) : filled(*state, &f);

        if (i)
            fine(cxx_fill(e, &c, err));
        struct as_str document = text_of(e), lines = broken(&document);

        expect_golden(i ? "data-cxx.json" : "data-mpi.json", &lines);
        as_str_fini(&document);
        as_str_fini(&lines);
        fine(as_experiment_close(&e, err));
    }
}

/* ---- Numbers ------------------------------------------------------------------------------ */

static void test_views(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    json_t *document = document_of(e), *view = view_of(document, "functions");

    near(member(view, "row_n"), 5);
    assert_string_equal(text_cell(view, "name", 0), "solve");
    near(cell(view, "exclusive_time_s", 0), 1.05); /* 105 samples of 10 ms */
    near(cell(view, "inclusive_time_s", 0), 1.34);
    near(cell(view, "exclusive_pct", 0), 52.5); /* of 200 */
    near(cell(view, "exclusive_low_s", 0), 2 * cell(view, "exclusive_low_pct", 0) / 100);
    near(cell(view, "exclusive_high_s", 0), 2 * cell(view, "exclusive_high_pct", 0) / 100);
    assert_true(cell(view, "exclusive_low_s", 0) < 1.05 &&
                cell(view, "exclusive_high_s", 0) > 1.05);
    near(cell(view, "few_samples", 2), 1); /* fib: 29 */
    assert_null(text_cell(view, "source_file", 1));
    assert_true(isnan(cell(view, "line", 1)));
    same(column_of(view, "exclusive_time_s"), "low", "exclusive_low_s");
    same(column_of(view, "exclusive_time_s"), "doubt", "few_samples");
    /* A column of which nothing is known is not in the table at first. */
    assert_true(
        json_is_false(json_object_get(column_of(view_of(document, "runs"), "label"), "shown")));
    view = view_of(document, "loops");
    near(cell(view, "parent_id", 0), cell(view, "loop_id", 1));
    assert_true(isnan(cell(view, "parent_id", 1)));
    assert_null(named(json_object_get(document, "views"), "values"));
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

static void test_calltree(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    json_t *document = document_of(e), *tree = json_object_get(document, "calltree");
    const size_t n = (size_t)member(tree, "row_n");
    double self_s = 0, blocked_s = 0, solve_s = 0;

    assert_int_equal(n, 8);
    for (size_t i = 0; i < n; i++) {
        json_t *parent = json_array_get(json_object_get(tree, "parent"), i);

        assert_true(json_integer_value(parent) < (long long)i);
        const double self = json_number_value(json_array_get(json_object_get(tree, "self_s"), i));

        self_s += self;
        blocked_s += json_number_value(json_array_get(json_object_get(tree, "blocked_s"), i));
        if (strcmp(word(json_object_get(tree, "function"), i), "solve") == 0)
            solve_s += self;
    }
    near(self_s, member(json_object_get(document, "run"), "sampled_time_s"));
    near(blocked_s, 0.5);
    near(solve_s, 1.05);
    assert_null(word(json_object_get(tree, "site"), 0));
    assert_string_equal(word(json_object_get(tree, "site"), 1), "solver.c:12");
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

/* A function called by solve, in which one sample was taken. */
static void add_callee(struct as_experiment *e, const struct fixture *f, int64_t module,
                       const char *name, int64_t address)
{
    const struct as_row_function function = {
        .module_id = module, .name = name, .address = as_known(address), .known_from = "symbol"};
    struct as_row_callpath path = {
        .parent_id = f->path[1], .category_id = f->category[0], .depth = 3};
    struct as_row_location location = {.module_id = module, .address = address};
    struct as_row_sample sample = {.thread_id = f->thread[0], .n = 1, .time_ns = 1000000};

    fine(as_experiment_add_function(e, &function, &path.function_id, err));
    fine(as_experiment_add_callpath(e, &path, &sample.callpath_id, err));
    location.function_id = path.function_id;
    fine(as_experiment_add_location(e, &location, &sample.location_id, err));
    fine(as_experiment_add_sample(e, &sample, err));
}

/* Entries are recognised by their names, and only in the kernel: a program has such names too. */
static void test_kernel_entries(void **state)
{
    static const char *const at[][2] = {
        {"asm_sysvec_apic_timer_interrupt", "interrupt"},
        {"asm_common_interrupt", "interrupt"},
        {"asm_exc_nmi", "interrupt"},
        {"asm_exc_page_fault", "page_fault"},
        {"asm_exc_invalid_op", "exception"},
        {"entry_SYSCALL_64_after_hwframe", NULL},
        {"handle_mm_fault", NULL},
    };
    const struct as_row_module row = {.path = "[kernel]", .name = "[kernel]", .kind = "kernel"};
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    int64_t kernel;
    size_t told = 0;

    fine(as_experiment_add_module(e, &row, &kernel, err));
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        add_callee(e, &f, kernel, at[i][0], 0x1000 + 0x100 * (int64_t)i);
    add_callee(e, &f, f.module[0], "page_fault", 0x9000);
    fine(as_experiment_summarise(e, f.run, err));

    json_t *document = document_of(e), *tree = json_object_get(document, "calltree");
    json_t *function = json_object_get(tree, "function"), *entry = json_object_get(tree, "entry");

    for (size_t i = 0; i < (size_t)member(tree, "row_n"); i++) {
        const char *want = NULL, *got = word(entry, i);

        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            if (strcmp(word(function, i), at[k][0]) == 0)
                want = at[k][1];
        assert_true(want ? got && strcmp(want, got) == 0 : !got);
        told += want != NULL;
    }
    assert_int_equal(told, 5);
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

/* The four heaviest are main, solve, MPI_Wait and one fib; all others stand under their parents. */
static void test_small_paths(void **state)
{
    static const char *const name[] = {"main",          "solve",         "MPI_Wait",     "fib",
                                       "[small paths]", "[small paths]", "[small paths]"};
    static const int parent[] = {-1, 0, 0, 1, 1, 2, 3};
    static const double self_s[] = {0, 1.05, 0.6, 0.1, 0.04, 0.06, 0.15};
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    json_t *document = document_with(e, 4, 0), *tree = json_object_get(document, "calltree");

    near(member(tree, "row_n"), 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(word(json_object_get(tree, "function"), i), name[i]);
        near(json_number_value(json_array_get(json_object_get(tree, "parent"), i)), parent[i]);
        near(json_number_value(json_array_get(json_object_get(tree, "self_s"), i)), self_s[i]);
        assert_null(i < 4 ? NULL : word(json_object_get(tree, "site"), i));
    }
    assert_true(json_is_null(json_array_get(json_object_get(tree, "function_id"), 4)));
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

static void test_metrics(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    json_t *document = document_of(e), *metrics = json_object_get(document, "metrics");
    json_t *it = json_array_get(metrics, 0);

    assert_int_equal(json_array_size(metrics), 3);
    same(it, "name", "other_pct");                             /* time first */
    near(member(json_object_get(it, "quantity"), "value"), 3); /* the run's, not that of all */
    same(it, "rating", "good");
    it = named(metrics, "balance_pct");
    same(it, "group", "parallel");
    same(it, "rating", "fair");
    near(member(it, "good"), 90);
    near(member(json_object_get(it, "quantity"), "low"), 70);
    near(member(json_object_get(it, "quantity"), "n"), 200);
    same(json_object_get(it, "quantity"), "origin", "measured");
    it = named(metrics, "plain_pct");
    same(it, "rating", "none");
    assert_true(json_is_null(json_object_get(json_object_get(it, "quantity"), "low")));
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

static void test_metric_columns(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    json_t *document = document_of(e), *view = view_of(document, "loops"), *column;

    column = column_of(view, "hidden_pct");
    assert_non_null(column);
    assert_true(json_is_false(json_object_get(column, "shown")));
    same(column, "title", "Hidden pct");
    same(column, "kind", "share");
    same(column, "low", "hidden_pct_low");
    same(column, "origin", NULL);          /* rows differ */
    near(cell(view, "hidden_pct", 0), 20); /* of the run before that of all */
    near(cell(view, "hidden_pct", 1), 5);
    near(cell(view, "hidden_pct_low", 1), 4);
    near(cell(view, "hidden_pct_n", 0), 4);
    assert_string_equal(text_cell(view, "hidden_pct_origin", 0), "exact");
    assert_string_equal(text_cell(view, "hidden_pct_origin", 1), "modelled");
    same(column_of(view, "hidden_pct_n"), "of", "hidden_pct");
    column = column_of(view, "cycles_per_iteration");
    same(column, "origin", "modelled");
    same(column, "better", "lower");
    assert_null(column_of(view, "cycles_per_iteration_origin"));
    assert_true(isnan(cell(view, "cycles_per_iteration", 1)));
    assert_null(column_of(view_of(document, "functions"), "hidden_pct"));
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

/* Values of a set are columns like others; of a condition or beyond a limit they are left out and
 * the rows say so. */
static void test_metric_sets(void **state)
{
    static const struct as_set_metric columns[] = {
        {.metric = {.name = "load_n", .unit = "1", .meaning = "a", .formula = "b"},
         .origin = AS_ORIGIN_EXACT},
        {.metric = {.name = "bound_cy", .unit = "cy", .meaning = "a", .formula = "b"},
         .origin = AS_ORIGIN_MODELLED,
         .digits = 2,
         .bounded = true}};
    const struct as_bounded_value value[] = {as_value_exact(12, 1), as_value_modelled(1.25, 1, 2)};
    const struct as_row_context path = {.path = as_known(1)};
    struct as_experiment *e = empty(*state);
    struct as_report_view view = *as_report_view("loops");
    struct as_metric_set *set;
    struct as_subject loop = {.kind = AS_OBJECT_LOOP};
    struct as_grid grid;
    struct fixture f;

    fine(fixture_fill(e, &f, err));
    fine(as_metric_set_open(e, "loop_code", AS_OBJECT_LOOP, "code", columns, 2, &set, err));
    for (int64_t id = 1; id <= 4; id++) {
        loop.object_id = id;
        fine(as_metric_set_add(set, &loop, 0, value, err));
    }
    fine(as_grid_load(&grid, e, f.run, &view, err));
    assert_true(grid.row_n >= 2);
    for (size_t i = 0; i < grid.row_n; i++) {
        assert_int_equal(as_grid_column(&grid, "load_n")->whole.at[i], 12);
        assert_true(fabs(as_grid_column(&grid, "bound_cy_high")->real.at[i] - 2) < 1e-9);
    }
    assert_null(grid.note);
    as_grid_fini(&grid);

    fine(as_experiment_add_context(e, &path, &loop.context_id, err));
    fine(as_metric_set_add(set, &loop, 0, value, err));
    as_metric_set_close(&set);
    view.metric_cell_most = 7; /* one row: four columns of the set, three of the fixture */
    fine(as_grid_load(&grid, e, f.run, &view, err));
    assert_int_equal(as_grid_column(&grid, "load_n")->whole.at[0], 12);
    assert_true(as_grid_column(&grid, "load_n")->whole.at[1] == AS_GRID_NO_INTEGER);
    assert_non_null(strstr(grid.note, "for the first 1 of "));
    assert_non_null(strstr(grid.note, "Values that hold for one path"));
    as_grid_fini(&grid);
    fine(as_experiment_close(&e, err));
}

/* Behind an exact count stands nothing but itself: no column of ones. */
static void test_exact_metric_columns(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    int64_t id;

    add_metric(e, "call_n", "Calls", "code", 0, 0, AS_BETTER_LOWER, &id);
    add_value(e, id, AS_OBJECT_LOOP, f.inner, 0, as_value_exact(3, 1));
    add_value(e, id, AS_OBJECT_LOOP, f.outer, 0, as_value_exact(0, 1));
    json_t *document = document_of(e), *view = view_of(document, "loops");
    assert_non_null(column_of(view, "call_n"));
    assert_null(column_of(view, "call_n_n"));
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

static void test_advice(void **state)
{
    static const char *const topic[] = {"gain", "vectorisation", "long", "short"};
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    json_t *document = document_of(e), *findings = json_object_get(document, "findings");
    json_t *it = json_array_get(json_object_get(document, "what_ifs"), 0);

    for (size_t i = 0; i < 4; i++) {
        same(json_array_get(findings, i), "topic", topic[i]);
        near(member(json_array_get(findings, i), "rank"), (double)i + 1);
    }
    /* Five times as fast leaves a fifth of 1.25 s. */
    near(member(json_object_get(json_array_get(findings, 0), "gain_s"), "value"), 1.0);
    near(member(json_array_get(findings, 2), "time_s"), 0.002);
    assert_true(json_is_null(json_object_get(json_array_get(findings, 2), "gain_s")));
    same(it, "object", "loop");
    near(member(json_object_get(it, "speedup"), "value"), 2); /* 2 s without 1 s */
    near(member(json_object_get(it, "speedup"), "low"), 2 / 1.5);
    near(member(json_object_get(it, "gain_s"), "value"), 1);
    near(member(it, "to_80_n"), 1);
    near(json_number_value(json_array_get(json_object_get(it, "id"), 0)), (double)f.inner);
    near(json_number_value(json_array_get(json_object_get(it, "each_s"), 1)), 0.1);
    near(json_number_value(json_array_get(json_object_get(it, "cumulative"), 1)), 2);
    it = json_array_get(json_object_get(document, "checks"), 0);
    same(it, "state", "partly");
    near(member(it, "weight"), 2);
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

static void test_code(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    json_t *document = document_of(e), *sources = json_object_get(document, "sources");
    json_t *code = json_array_get(json_object_get(document, "code"), 0);

    assert_int_equal(json_array_size(sources), 2); /* 22 to 24, and 41 */
    near(member(json_array_get(sources, 0), "first"), 22);
    assert_int_equal(json_array_size(json_object_get(json_array_get(sources, 0), "lines")), 3);
    near(
        json_number_value(json_array_get(json_object_get(json_array_get(sources, 0), "time_s"), 1)),
        1.0); /* line 23 */
    near(member(code, "function_id"), (double)f.solve);
    assert_string_equal(json_string_value(json_array_get(json_object_get(code, "address"), 1)),
                        "0x1150");
    near(json_number_value(json_array_get(json_object_get(code, "n"), 0)), 0);
    near(json_number_value(json_array_get(json_object_get(code, "n"), 1)), 100);
    near(json_number_value(json_array_get(json_object_get(code, "time_s"), 1)), 1.0);
    near(json_number_value(json_array_get(json_object_get(code, "source"), 1)), 0);
    near(json_number_value(json_array_get(json_object_get(code, "line"), 1)), 22);
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

/* ---- Hostile names ------------------------------------------------------------------------ */

/* A name of 10,000 characters, and one with all that could end a string, a script or a tag. */
static void add_hostile(struct as_experiment *e, const struct fixture *f)
{
    char name[10001];
    struct as_row_function row = {.module_id = f->module[0], .name = name};
    struct as_row_run run = {
        .kind = "profile", .command = HOSTILE, .state = "complete", .start_ns = 1};

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    row.address = as_known(0x1100);
    fine(as_experiment_set_function(e, f->solve, &row, err));
    row.name = HOSTILE;
    row.address = as_known(0x1200);
    fine(as_experiment_set_function(e, f->fib, &row, err));
    fine(as_experiment_set_run(e, f->run, &run, err));
}

static void test_hostile(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    struct as_str page = {0};
    struct as_out out;

    add_hostile(e, &f);
    json_t *document = document_of(e), *view = view_of(document, "functions");

    assert_int_equal(strlen(text_cell(view, "name", 0)), 10000);
    assert_string_equal(text_cell(view, "name", 2),
                        "</script><b onload=\"x\">'&\x01\x7f\xef\xbf\xbd\xef\xbf\xbd(\n\t");
    json_decref(document);
    as_out_init_str(&out, &page);
    fine(as_report_html(e, 0, NULL, &out, err));
    fine(as_out_flush(&out, err));
    as_out_fini(&out);
    assert_false(has(page.p, "<b onload"));
    assert_false(has(page.p, "%ASSAY_"));
    assert_true(has(page.p, "<title>&lt;/script&gt;&lt;b onload=&quot;x&quot;&gt;&#39;&amp;"));
    as_str_fini(&page);
    fine(as_experiment_close(&e, err));
}

static void test_no_run(void **state)
{
    struct as_experiment *e = empty(*state);
    struct as_str str = {0};
    struct as_out out;

    as_out_init_str(&out, &str);
    refused(as_report_data(e, 0, NULL, &out, err), NOT_FOUND, "has no run; record");
    refused(as_report_write(e, 0, AS_REPORT_JSON, NULL, "x", err), NOT_FOUND, "no run");
    as_out_fini(&out);
    as_str_fini(&str);
    fine(as_experiment_close(&e, err));
}

static void test_out_of_memory(void **state)
{
    struct fixture f;
    struct as_experiment *e = filled(*state, &f);
    struct as_error why = {0};
    int rc = -1;

    for (int64_t after = 0; rc < 0; after += 1 + after / 16) {
        struct as_str str = {0};
        struct as_out out;

        assert_true(after < 20000);
        as_out_init_str(&out, &str);
        as_alloc_fail_after(after);
        rc = as_report_html(e, 0, NULL, &out, &why);
        rc = rc < 0 ? rc : as_out_flush(&out, &why);
        as_alloc_fail_after(-1);
        if (rc < 0 && rc != AS_ERR_NOMEM)
            fail_msg("after %d: %s", (int)after, why.text);
        as_out_fini(&out);
        as_str_fini(&str);
    }
    fine(as_experiment_close(&e, err));
}

/* ---- Levels of time lines ----------------------------------------------------------------- */

/* Two threads that a report shows and one that it does not, in the time line's level and those
 * below: `levels_n` of them, a row of 256 bins and one of `2 << (3 - level)`. */
static void add_traced(struct as_experiment *e, int64_t run_id, int64_t levels_n)
{
    const struct as_row_trace trace = {.run_id = run_id,
                                       .traced_run_id = run_id,
                                       .elapsed_ns = 8000,
                                       .location_n = 3,
                                       .bin_ns = 800,
                                       .bin_n = 272,
                                       .pass = "test"};
    static char bins[256 * 5 + 3];
    int64_t id;

    fine(as_experiment_begin(e, err));
    fine(as_experiment_add_trace(e, &trace, &id, err));
    for (int64_t number = 0; number < 3; number++) {
        const struct as_row_trace_location location = {
            .trace_id = id, .number = number < 2 ? number : 512, .thread = number};
        int64_t thread;

        fine(as_experiment_add_trace_location(e, &location, &thread, err));
        for (int64_t level = 4 - levels_n; level < 4; level++)
            for (int64_t segment = 0; segment < 2; segment++) {
                const int64_t n = segment ? 2 << (3 - level) : 256;
                const struct as_row_trace_level row = {.trace_location_id = thread,
                                                       .level = level,
                                                       .segment = segment,
                                                       .begin_ns = segment * 256 * (100 << level),
                                                       .bin_ns = 100 << level,
                                                       .name = "computing",
                                                       .bins = bins};
                size_t at = 0;

                for (int64_t i = 0; i < n; i++)
                    at += (size_t)snprintf(bins + at, sizeof bins - at, "%c%03d", i ? ',' : '[',
                                           (int)(100 + level));
                snprintf(bins + at, sizeof bins - at, "]");
                fine(as_experiment_add_trace_level(e, &row, err));
            }
    }
    fine(as_experiment_commit(e, err));
}

/* The key `levels` of a document with so much room for them. */
static json_t *levels_with(struct as_experiment *e, size_t most_b, json_t **document)
{
    *document = document_with(e, 0, most_b);
    return json_object_get(json_object_get(*document, "parallel"), "levels");
}

static void test_levels(void **state)
{
    /* Bytes of bins of two threads: 4 a bin and a bracket more a row. */
    const size_t level_b[] = {2 * (4 * (256 + 16) + 2), 2 * (4 * (256 + 8) + 2),
                              2 * (4 * (256 + 4) + 2)};
    struct cxx c;
    struct as_experiment *e = empty(*state);
    json_t *document, *levels, *row;

    fine(cxx_fill(e, &c, err));
    add_traced(e, c.run, 4);
    for (size_t level = 0; level < 4; level++) {
        const size_t most_b = level == 0 ? 0 : level_b[level - 1] - 1;

        levels = levels_with(e, most_b, &document);
        near(member(levels, "least_bin_s"), 1e-7);
        near(member(levels, "segment_n"), 256);
        if (level == 3) {
            assert_true(json_is_null(json_object_get(levels, "bin_s")));
            assert_int_equal(json_array_size(json_object_get(levels, "rows")), 0);
        } else {
            near(member(levels, "bin_s"), 1e-7 * (1 << level));
            assert_int_equal(json_array_size(json_object_get(levels, "rows")), 4);
            row = json_array_get(json_object_get(levels, "rows"), 3);
            near(member(row, "number"), 1);
            near(member(row, "segment"), 1);
            same(row, "name", "computing");
            assert_int_equal(strlen(json_string_value(json_object_get(row, "bins"))),
                             4 * (16 >> level) + 1);
        }
        json_decref(document);
    }
    levels = levels_with(e, level_b[0], &document); /* it just fits */
    near(member(levels, "bin_s"), 1e-7);
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

static void test_no_levels(void **state)
{
    struct cxx c;
    struct as_experiment *e = empty(*state);
    json_t *document, *levels;

    fine(cxx_fill(e, &c, err));
    add_traced(e, c.run, 1);
    levels = levels_with(e, 0, &document);
    assert_true(json_is_null(levels)); /* a macro that asks twice */
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

/* ---- Over time ----------------------------------------------------------------------------- */

/* So many bins, a row of them, of a thousandth more than the level. */
static void add_thread_level(struct as_experiment *e, int64_t thread, int64_t level,
                             int64_t segment, int n)
{
    static char bins[256 * 2 + 2];
    const struct as_row_thread_level row = {.thread_id = thread,
                                            .level = level,
                                            .segment = segment,
                                            .begin_ns = segment * 256 * (1000 << level),
                                            .bin_ns = 1000 << level,
                                            .name = "running",
                                            .bins = bins};

    for (int i = 0; i < n; i++)
        snprintf(bins + 2 * (size_t)i, 3, "%c%d", i ? ',' : '[', (int)level + 1);
    strcat(bins, "]");
    fine(as_experiment_add_thread_level(e, &row, err));
}

/* The time line is the finest level that is one row long; what is finer is beside it. */
static void test_over_time(void **state)
{
    struct cxx c;
    struct as_experiment *e = empty(*state);
    struct as_row_process process = {.pid = 90, .rank = as_known(3)};
    struct as_row_thread thread = {.tid = 90};
    int64_t id;
    json_t *document, *over, *line, *threads, *row;

    fine(cxx_fill(e, &c, err));
    document = document_of(e);
    over = json_object_get(document, "over_time");
    assert_true(json_is_null(over));
    json_decref(document);
    fine(as_experiment_begin(e, err));
    for (int i = 1; i < 3; i++) {
        add_thread_level(e, c.thread[i], 0, 0, 256);
        add_thread_level(e, c.thread[i], 0, 1, 100 * i);
        add_thread_level(e, c.thread[i], 1, 0, 128 + 50 * i);
        add_thread_level(e, c.thread[i], 2, 0, 64 + 25 * i);
    }
    process.run_id = c.run;
    fine(as_experiment_add_process(e, &process, &thread.process_id, err));
    fine(as_experiment_add_thread(e, &thread, &id, err));
    add_thread_level(e, id, 1, 0, 10);
    fine(as_experiment_commit(e, err));
    document = document_of(e);
    over = json_object_get(document, "over_time");
    line = json_object_get(over, "line");
    near(member(line, "level"), 1);
    near(member(line, "bin_s"), 2e-6);
    near(member(line, "bin_n"), 228);
    near(member(line, "thread_n"), 3);
    threads = json_object_get(over, "threads");
    assert_int_equal(json_array_size(threads), 3);
    same(json_array_get(threads, 0), "label", "rank 3");
    same(json_array_get(threads, 1), "label", "process 77");
    same(json_array_get(threads, 2), "label", "process 77, thread 1");
    near(member(json_array_get(threads, 2), "number"), (double)c.thread[2]);
    assert_int_equal(json_array_size(json_object_get(over, "timeline")), 3);
    row = json_array_get(json_object_get(over, "timeline"), 0);
    near(member(row, "number"), (double)c.thread[1]);
    same(row, "name", "running");
    assert_int_equal(strlen(json_string_value(json_object_get(row, "bins"))), 2 * 178 + 1);
    over = json_object_get(over, "levels");
    near(member(over, "bin_s"), 1e-6);
    near(member(over, "least_bin_s"), 1e-6);
    assert_int_equal(json_array_size(json_object_get(over, "rows")), 4);
    row = json_array_get(json_object_get(over, "rows"), 3);
    near(member(row, "number"), (double)c.thread[2]);
    near(member(row, "segment"), 1);
    json_decref(document);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_golden),         place_test(test_views),
        place_test(test_calltree),       place_test(test_metrics),
        place_test(test_advice),         place_test(test_code),
        place_test(test_metric_columns), place_test(test_hostile),
        place_test(test_no_run),         place_test(test_out_of_memory),
        place_test(test_kernel_entries), place_test(test_small_paths),
        place_test(test_metric_sets),    place_test(test_exact_metric_columns),
        place_test(test_levels),         place_test(test_no_levels),
        place_test(test_over_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
