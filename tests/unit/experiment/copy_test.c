/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying runs: the list of tables against the schema itself, so that nothing new is forgotten; a
 * copy against what it is a copy of; a second copy into the same experiment; damage.
 */
#include "place.h"

#include "base/str.h"
#include "experiment/copy.h"

static struct as_experiment *new_experiment(void **state, const char *name)
{
    const struct place *place = *state;
    struct as_experiment *e;
    char path[100];

    snprintf(path, sizeof path, "%s/%s", place->dir, name);
    fine(as_experiment_create(path, 0, &e, err));
    return e;
}

/* ---- The list ------------------------------------------------------------------------------ */

/* The first line of a table, or -1. */
static int line_of(const char *name)
{
    for (size_t i = 0; i < as_copy_table_n; i++)
        if (strcmp(as_copy_tables[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool is_copied(const struct as_copy_table *table)
{
    return table->way < AS_COPY_MADE;
}

static void every_table_is_described(void **state)
{
    struct as_experiment *e = new_experiment(state, "schema.assay");
    struct as_rows *rows;
    size_t n = 0;

    fine(as_rows_open(e,
                      "SELECT name FROM sqlite_schema WHERE type = 'table'"
                      " AND name NOT LIKE 'sqlite_%'",
                      &rows, err));
    for (; as_rows_next(rows, NULL) > 0; n++)
        if (line_of(as_rows_text(rows, 0)) < 0)
            fail_msg("nothing says how table %s is copied", as_rows_text(rows, 0));
    as_rows_close(&rows);
    assert_true(n > 30);
    as_experiment_close(&e, NULL);
}

static bool refers_to(const struct as_copy_table *table, const struct as_copy_column *column,
                      const char *of)
{
    return (column->role == AS_COPY_ID || column->role == AS_COPY_LATER) &&
           strcmp(as_copy_tables[column->of].name, of) == 0 &&
           (column->role == AS_COPY_ID || strcmp(table->name, of) == 0);
}

/* Checks a column by its name and by the schema. */
static void check_column(const struct as_copy_table *table, const struct as_copy_column *column,
                         const char *refers, bool is_integer)
{
    static const char *const times[] = {"start_ns", "end_ns", "from_ns", "to_ns"};
    const size_t n = strlen(column->name);

    if (refers && !refers_to(table, column, refers))
        fail_msg("%s.%s refers to %s in the schema and not in the copy", table->name, column->name,
                 refers);
    if (strcmp(column->name, "object_id") == 0 && table->kind_at >= 0)
        assert_int_equal(column->role, AS_COPY_OBJECT);
    else if (is_integer && is_copied(table) && n > 3 && strcmp(column->name + n - 3, "_id") == 0 &&
             column->role != AS_COPY_ID && column->role != AS_COPY_LATER)
        fail_msg("%s.%s is an id and copied as it is", table->name, column->name);
    for (size_t i = 0; i < sizeof times / sizeof *times && is_copied(table); i++)
        if (strcmp(column->name, times[i]) == 0 && column->role != AS_COPY_TIME)
            fail_msg("%s.%s is a time since the start of the run and not described as one",
                     table->name, column->name);
}

static void check_table(struct as_experiment *e, const struct as_copy_table *table)
{
    struct as_rows *rows;
    char sql[400];
    size_t n = 0;

    snprintf(sql, sizeof sql,
             "SELECT c.name, f.\"table\", c.type = 'INTEGER' FROM pragma_table_info('%s') c"
             " LEFT JOIN pragma_foreign_key_list('%s') f ON f.\"from\" = c.name"
             " WHERE c.name != '%s_id' ORDER BY c.cid",
             table->name, table->name, table->name);
    fine(as_rows_open(e, sql, &rows, err));
    for (; as_rows_next(rows, NULL) > 0; n++) {
        assert_true(n < table->column_n);
        assert_string_equal(table->column[n].name, as_rows_text(rows, 0));
        assert_int_equal(table->kind_at == (int)n,
                         strcmp(table->column[n].name, "object_kind") == 0);
        check_column(table, &table->column[n], as_rows_text(rows, 1),
                     as_rows_integer(rows, 2) != 0);
    }
    as_rows_close(&rows);
    assert_int_equal(n, table->column_n);
}

static void every_column_is_described(void **state)
{
    struct as_experiment *e = new_experiment(state, "schema.assay");

    for (size_t i = 0; i < as_copy_table_n; i++)
        check_table(e, &as_copy_tables[i]);
    as_experiment_close(&e, NULL);
}

static void tables_stand_behind_those_they_refer_to(void **state)
{
    (void)state;
    for (size_t i = 0; i < as_copy_table_n; i++)
        for (size_t k = 0; k < as_copy_tables[i].column_n; k++)
            if (as_copy_tables[i].column[k].role == AS_COPY_ID)
                assert_true(as_copy_tables[i].column[k].of <= i);
}

/* ---- Copies -------------------------------------------------------------------------------- */

static int same_file(void *context, const char *path, struct as_str *out, struct as_error *err)
{
    (void)context;
    (void)err;
    as_str_appendz(out, path);
    return 0;
}

/* All rows of the tables that are copied, as text. */
static void dump(struct as_experiment *e, struct as_str *out)
{
    for (size_t i = 0; i < as_copy_table_n; i++) {
        struct as_rows *rows;
        char sql[100];

        if (!is_copied(&as_copy_tables[i]))
            continue;
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" ORDER BY 1, 2, 3", as_copy_tables[i].name);
        fine(as_rows_open(e, sql, &rows, err));
        while (as_rows_next(rows, NULL) > 0) {
            as_str_appendz(out, as_copy_tables[i].name);
            for (int c = 0; c < as_rows_column_n(rows); c++)
                as_str_appendf(out, " %s=%s", as_rows_column(rows, c),
                               as_rows_text(rows, c) ? as_rows_text(rows, c) : "NULL");
            as_str_appendz(out, "\n");
        }
        as_rows_close(&rows);
    }
}

static int64_t new_run(struct as_experiment *e)
{
    const struct as_row_run run = {.kind = "profile", .command = "x", .state = "complete"};
    int64_t id;

    fine(as_experiment_add_run(e, &run, &id, err));
    return id;
}

static void copy_run(struct as_copy *copy, struct as_experiment *from, struct as_experiment *to,
                     int64_t shift_ns, int64_t from_run, int64_t to_run)
{
    const struct as_copy_part part = {.from = from,
                                      .from_run = from_run,
                                      .to_run = to_run,
                                      .shift_ns = shift_ns,
                                      .whose = "rank 1",
                                      .file = same_file};

    fine(as_experiment_begin(to, err));
    fine(as_copy_run(copy, &part, err));
    fine(as_experiment_commit(to, err));
}

/* Also what refers to rows further down: the outer loop is a version of the inner one. */
static void fill(struct as_experiment *e, struct fixture *f)
{
    fine(fixture_fill(e, f, err));
    const struct as_row_loop outer = {
        .function_id = f->solve, .source_loop_id = f->inner, .address = 0x1110, .depth = 1};
    fine(as_experiment_add_loop(e, &outer, NULL, err));
    const struct as_row_run_file file = {
        .run_id = f->run, .path = "run-001/main.samples", .kind = "samples"};
    fine(as_experiment_add_run_file(e, &file, NULL, err));
    const struct as_row_mapping mapping = {.process_id = f->process[0],
                                           .module_id = f->module[0],
                                           .start = 4096,
                                           .end = 8192,
                                           .from_ns = as_known(5)};
    fine(as_experiment_add_mapping(e, &mapping, NULL, err));
}

static void a_copy_is_the_same(void **state)
{
    struct as_experiment *from = new_experiment(state, "from.assay"),
                         *to = new_experiment(state, "to.assay");
    struct as_str want = {0}, got = {0};
    struct as_copy *copy;
    struct fixture f;

    fill(from, &f);
    fine(as_copy_new(to, &copy, err));
    copy_run(copy, from, to, 0, f.run, new_run(to));
    dump(from, &want);
    dump(to, &got);
    assert_true(want.n > 5000);
    assert_string_equal(as_str_z(&want), as_str_z(&got));
    assert_int_equal(f.inner, as_copy_object(copy, AS_OBJECT_LOOP, f.inner));
    assert_int_equal(0, as_copy_object(copy, AS_OBJECT_LOOP, 4711));
    as_copy_free(&copy);
    as_str_fini(&want);
    as_str_fini(&got);
    as_experiment_close(&from, NULL);
    as_experiment_close(&to, NULL);
}

static void a_second_copy_shares_the_program(void **state)
{
    static const char *const same[] = {"host",  "category", "module",   "function", "loop",
                                       "block", "location", "callpath", "line",     "metric"};
    static const char *const twice[] = {"process", "thread", "sample", "mapping"};
    struct as_experiment *from = new_experiment(state, "from.assay"),
                         *to = new_experiment(state, "to.assay");
    struct as_copy *copy;
    struct fixture f;
    char sql[200];

    fill(from, &f);
    fine(as_copy_new(to, &copy, err));
    const int64_t run = new_run(to);
    copy_run(copy, from, to, 0, f.run, run);
    copy_run(copy, from, to, 1000, f.run, run);
    as_copy_free(&copy);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", same[i]);
        assert_int_equal(integer_of(from, sql), integer_of(to, sql));
    }
    for (size_t i = 0; i < sizeof twice / sizeof *twice; i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", twice[i]);
        assert_int_equal(2 * integer_of(from, sql), integer_of(to, sql));
    }
    assert_int_equal(0, integer_of(to, "SELECT count(*) FROM pragma_foreign_key_check"));
    assert_int_equal(1000, integer_of(to, "SELECT max(start_ns) FROM thread"));
    assert_int_equal(1005, integer_of(to, "SELECT max(from_ns) FROM mapping"));
    assert_int_equal(2 * integer_of(from, "SELECT sum(n) FROM sample"),
                     integer_of(to, "SELECT sum(n) FROM sample"));
    as_experiment_close(&from, NULL);
    as_experiment_close(&to, NULL);
}

/* The times of a simulated run, and a model with a factor at `size_n` sizes. */
static void add_models(struct as_experiment *e, int64_t run, int size_n)
{
    struct as_row_scaling_factor factor = {
        .part = "measured", .factor = "speedup", .title = "speed-up", .value = 1};
    const struct as_row_simulation simulation = {
        .run_id = run, .total_ns = 1000 * size_n, .ideal_ns = 900};
    const struct as_row_scaling scaling = {
        .run_id = run, .kind = "strong", .work = "useful", .size_n = size_n, .lowest = "transfer"};

    fine(as_experiment_add_simulation(e, &simulation, err));
    fine(as_experiment_add_scaling(e, &scaling, &factor.scaling_id, err));
    const struct as_row_scaling_law law = {.scaling_id = factor.scaling_id,
                                           .factor = "speedup",
                                           .title = "speed-up",
                                           .law = "linear",
                                           .formula = "a + f P",
                                           .a = size_n};
    fine(as_experiment_add_scaling_law(e, &law, err));
    for (; factor.position < size_n; factor.position++) {
        factor.size = (double)(1 << factor.position);
        fine(as_experiment_add_scaling_factor(e, &factor, err));
    }
}

/* Two inputs have models of the run: that of the first one is kept, with none of the other's
 * rows. */
static void models_of_the_first_are_kept(void **state)
{
    struct as_experiment *first = new_experiment(state, "first.assay"),
                         *second = new_experiment(state, "second.assay"),
                         *to = new_experiment(state, "to.assay");
    struct as_copy *copy;

    const int64_t run[] = {new_run(first), new_run(second), new_run(to)};
    add_models(first, run[0], 2);
    add_models(second, run[1], 5);
    fine(as_copy_new(to, &copy, err));
    copy_run(copy, first, to, 0, run[0], run[2]);
    copy_run(copy, second, to, 0, run[1], run[2]);
    as_copy_free(&copy);
    assert_int_equal(2000, integer_of(to, "SELECT total(total_ns) FROM simulation"));
    assert_int_equal(2, integer_of(to, "SELECT total(size_n) FROM scaling"));
    assert_int_equal(3, integer_of(to, "SELECT total(size) FROM scaling_factor"));
    assert_int_equal(2, integer_of(to, "SELECT total(a) FROM scaling_law"));
    assert_int_equal(0, integer_of(to, "SELECT count(*) FROM pragma_foreign_key_check"));
    as_experiment_close(&first, NULL);
    as_experiment_close(&second, NULL);
    as_experiment_close(&to, NULL);
}

/* A row that refers to one that is not there: nothing in call paths is held by the schema. */
static void damage_is_said(void **state)
{
    struct as_experiment *from = new_experiment(state, "from.assay"),
                         *to = new_experiment(state, "to.assay");
    const struct as_row_callpath lost = {.parent_id = 77, .function_id = 1, .depth = 2};
    struct as_copy *copy;
    struct fixture f;

    fill(from, &f);
    fine(as_experiment_add_callpath(from, &lost, NULL, err));
    fine(as_copy_new(to, &copy, err));
    const struct as_copy_part part = {
        .from = from, .from_run = f.run, .to_run = new_run(to), .whose = "", .file = same_file};
    fine(as_experiment_begin(to, err));
    refused(as_copy_run(copy, &part, err), CORRUPT,
            "/from.assay: damaged: table callpath: a row refers to row 77 of callpath, which is "
            "missing; remove it or use an undamaged copy");
    as_experiment_rollback(to);
    as_copy_free(&copy);
    as_experiment_close(&from, NULL);
    as_experiment_close(&to, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(every_table_is_described),
        place_test(every_column_is_described),
        place_test(tables_stand_behind_those_they_refer_to),
        place_test(a_copy_is_the_same),
        place_test(a_second_copy_shares_the_program),
        place_test(models_of_the_first_are_kept),
        place_test(damage_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
