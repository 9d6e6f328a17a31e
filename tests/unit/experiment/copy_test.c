/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying runs: the list of tables against the schema itself, so that nothing new is forgotten; a
 * copy against what it is a copy of; a second copy into the same experiment; damage.
 */
#include "place.h"

#include "base/str.h"
#include "experiment/copy.h"

static struct assay_experiment *new_experiment(void **state, const char *name)
{
    const struct place *place = *state;
    struct assay_experiment *e;
    char path[100];

    snprintf(path, sizeof path, "%s/%s", place->dir, name);
    fine(assay_experiment_create(path, 0, &e, err));
    return e;
}

/* ---- The list ------------------------------------------------------------------------------ */

/* The line of a table, or -1. */
static int line_of(const char *name)
{
    for (size_t i = 0; i < as_copy_table_n; i++)
        if (strcmp(as_copy_tables[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The role that a column has in a line: "" = only a value. */
static void role_of(const struct as_copy_table *table, const char *column, char *role,
                    size_t role_b)
{
    const size_t n = strlen(column);

    role[0] = '\0';
    for (const char *word = table->columns; *word;) {
        const size_t word_n = strcspn(word, " ");

        if (word_n > n && word[n] == ':' && memcmp(word, column, n) == 0)
            snprintf(role, role_b, "%.*s", (int)(word_n - n - 1), word + n + 1);
        word += word_n + strspn(word + word_n, " ");
    }
}

static bool is_copied(const struct as_copy_table *table)
{
    return table->way < AS_COPY_MADE;
}

static void every_table_is_described(void **state)
{
    struct assay_experiment *e = new_experiment(state, "schema.assay");
    struct assay_rows *rows;
    size_t n = 0;

    fine(assay_rows_open(e,
                         "SELECT name FROM sqlite_schema WHERE type = 'table'"
                         " AND name NOT LIKE 'sqlite_%'",
                         &rows, err));
    for (; assay_rows_next(rows, NULL) > 0; n++)
        if (line_of(assay_rows_text(rows, 0)) < 0)
            fail_msg("table %s has no line in copy_tables.c", assay_rows_text(rows, 0));
    assay_rows_close(&rows);
    assert_true(n > 30);
    for (size_t i = 0; i < as_copy_table_n; i++) {
        char sql[160];

        snprintf(sql, sizeof sql, "SELECT count(*) FROM sqlite_schema WHERE name = '%s'",
                 as_copy_tables[i].name);
        if (integer_of(e, sql) != 1)
            fail_msg("copy_tables.c describes %s, which is no table", as_copy_tables[i].name);
    }
    assay_experiment_close(&e, NULL);
}

/* What a column must be by its name and by the schema. */
static void check_column(const struct as_copy_table *table, const char *column, const char *refers,
                         bool has_kind, bool is_integer)
{
    const size_t n = strlen(table->name), column_n = strlen(column);
    static const char *const times[] = {"start_ns", "end_ns", "from_ns", "to_ns"};
    char role[64];

    role_of(table, column, role, sizeof role);
    if (strncmp(column, table->name, n) == 0 && strcmp(column + n, "_id") == 0)
        return;
    if (refers && (strncmp(role, refers, strlen(refers)) != 0 || strlen(role) > strlen(refers) + 1))
        fail_msg("%s.%s refers to %s in the schema and to '%s' in copy_tables.c", table->name,
                 column, refers, role);
    if (strcmp(column, "object_id") == 0 && has_kind) {
        if (strcmp(role, "@object") != 0)
            fail_msg("%s.object_id is not described as @object", table->name);
    } else if (is_integer && is_copied(table) && column_n > 3 &&
               strcmp(column + column_n - 3, "_id") == 0 && !role[0]) {
        fail_msg("%s.%s refers to a row and is not described", table->name, column);
    }
    for (size_t i = 0; i < sizeof times / sizeof *times && is_copied(table); i++)
        if (strcmp(column, times[i]) == 0 && strcmp(role, "@time") != 0)
            fail_msg("%s.%s is a time since the start of the run and not described as @time",
                     table->name, column);
}

static void every_reference_is_described(void **state)
{
    struct assay_experiment *e = new_experiment(state, "schema.assay");

    for (size_t i = 0; i < as_copy_table_n; i++) {
        struct assay_rows *rows;
        char sql[400];
        size_t n = 0;

        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM pragma_table_info('%s') WHERE name ="
                 " 'object_kind'",
                 as_copy_tables[i].name);
        const bool has_kind = integer_of(e, sql) == 1;
        snprintf(sql, sizeof sql,
                 "SELECT c.name, f.\"table\", c.type = 'INTEGER' FROM pragma_table_info('%s') c"
                 " LEFT JOIN pragma_foreign_key_list('%s') f ON f.\"from\" = c.name",
                 as_copy_tables[i].name, as_copy_tables[i].name);
        fine(assay_rows_open(e, sql, &rows, err));
        for (; assay_rows_next(rows, NULL) > 0; n++)
            check_column(&as_copy_tables[i], assay_rows_text(rows, 0), assay_rows_text(rows, 1),
                         has_kind, assay_rows_integer(rows, 2) != 0);
        assay_rows_close(&rows);
        assert_true(n > 0);
    }
    assay_experiment_close(&e, NULL);
}

static void check_word(struct assay_experiment *e, size_t at, const char *word, size_t word_n)
{
    const struct as_copy_table *table = &as_copy_tables[at];
    const char *colon = memchr(word, ':', word_n);
    char sql[300], role[64];

    assert_non_null(colon);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%.*s'",
             table->name, (int)(colon - word), word);
    if (integer_of(e, sql) != 1)
        fail_msg("%s has no column %.*s", table->name, (int)(colon - word), word);
    snprintf(role, sizeof role, "%.*s", (int)(word_n - (size_t)(colon - word) - 1), colon + 1);
    if (role[0] == '@' || !is_copied(table))
        return;
    role[strcspn(role, "+")] = '\0';
    if (line_of(role) < 0 || line_of(role) > (int)at)
        fail_msg("%s stands before %s, to which it refers", table->name, role);
}

static void described_columns_are_there_and_in_order(void **state)
{
    struct assay_experiment *e = new_experiment(state, "schema.assay");

    for (size_t i = 0; i < as_copy_table_n; i++)
        for (const char *word = as_copy_tables[i].columns; *word;) {
            const size_t n = strcspn(word, " ");

            check_word(e, i, word, n);
            word += n + strspn(word + n, " ");
        }
    assay_experiment_close(&e, NULL);
}

/* ---- Copies -------------------------------------------------------------------------------- */

static int same_file(void *context, const char *path, struct as_str *out, struct assay_error *err)
{
    (void)context;
    (void)err;
    as_str_appendz(out, path);
    return 0;
}

/* All rows of the tables that are copied, as text. */
static void dump(struct assay_experiment *e, struct as_str *out)
{
    for (size_t i = 0; i < as_copy_table_n; i++) {
        struct assay_rows *rows;
        char sql[100];

        if (!is_copied(&as_copy_tables[i]))
            continue;
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\" ORDER BY 1, 2, 3", as_copy_tables[i].name);
        fine(assay_rows_open(e, sql, &rows, err));
        while (assay_rows_next(rows, NULL) > 0) {
            as_str_appendz(out, as_copy_tables[i].name);
            for (int c = 0; c < assay_rows_column_n(rows); c++)
                as_str_appendf(out, " %s=%s", assay_rows_column(rows, c),
                               assay_rows_text(rows, c) ? assay_rows_text(rows, c) : "NULL");
            as_str_appendz(out, "\n");
        }
        assay_rows_close(&rows);
    }
}

static int64_t new_run(struct assay_experiment *e)
{
    const struct assay_row_run run = {.kind = "profile", .command = "x", .state = "complete"};
    int64_t id;

    fine(assay_experiment_add_run(e, &run, &id, err));
    return id;
}

static void copy_run(struct as_copy *copy, struct assay_experiment *from,
                     struct assay_experiment *to, int64_t shift_ns, int64_t from_run,
                     int64_t to_run)
{
    const struct as_copy_part part = {.from = from,
                                      .from_run = from_run,
                                      .to_run = to_run,
                                      .shift_ns = shift_ns,
                                      .whose = "rank 1",
                                      .file = same_file};

    fine(assay_experiment_begin(to, err));
    fine(as_copy_run(copy, &part, err));
    fine(assay_experiment_commit(to, err));
}

/* Also what refers to rows further down: the outer loop is a version of the inner one. */
static void fill(struct assay_experiment *e, struct fixture *f)
{
    fine(fixture_fill(e, f, err));
    const struct assay_row_loop outer = {
        .function_id = f->solve, .source_loop_id = f->inner, .address = 0x1110, .depth = 1};
    fine(assay_experiment_add_loop(e, &outer, NULL, err));
    const struct assay_row_run_file file = {
        .run_id = f->run, .path = "run-001/main.samples", .kind = "samples"};
    fine(assay_experiment_add_run_file(e, &file, NULL, err));
    const struct assay_row_mapping mapping = {.process_id = f->process[0],
                                              .module_id = f->module[0],
                                              .start = 4096,
                                              .end = 8192,
                                              .from_ns = assay_known(5)};
    fine(assay_experiment_add_mapping(e, &mapping, NULL, err));
}

static void a_copy_is_the_same(void **state)
{
    struct assay_experiment *from = new_experiment(state, "from.assay"),
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
    assert_int_equal(f.inner, as_copy_object(copy, ASSAY_OBJECT_LOOP, f.inner));
    assert_int_equal(0, as_copy_object(copy, ASSAY_OBJECT_LOOP, 4711));
    as_copy_free(&copy);
    as_str_fini(&want);
    as_str_fini(&got);
    assay_experiment_close(&from, NULL);
    assay_experiment_close(&to, NULL);
}

static void a_second_copy_shares_the_program(void **state)
{
    static const char *const same[] = {"host",  "category", "module",   "function", "loop",
                                       "block", "location", "callpath", "line",     "metric"};
    static const char *const twice[] = {"process", "thread", "sample", "mapping"};
    struct assay_experiment *from = new_experiment(state, "from.assay"),
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
    assay_experiment_close(&from, NULL);
    assay_experiment_close(&to, NULL);
}

/* A row that refers to one that is not there: nothing in call paths is held by the schema. */
static void damage_is_said(void **state)
{
    struct assay_experiment *from = new_experiment(state, "from.assay"),
                            *to = new_experiment(state, "to.assay");
    const struct assay_row_callpath lost = {.parent_id = 77, .function_id = 1, .depth = 2};
    struct as_copy *copy;
    struct fixture f;

    fill(from, &f);
    fine(assay_experiment_add_callpath(from, &lost, NULL, err));
    fine(as_copy_new(to, &copy, err));
    const struct as_copy_part part = {
        .from = from, .from_run = f.run, .to_run = new_run(to), .whose = "", .file = same_file};
    fine(assay_experiment_begin(to, err));
    refused(
        as_copy_run(copy, &part, err), CORRUPT,
        "/from.assay: damaged: its table callpath: a row refers to row 77 of callpath, which is "
        "not there; leave it out or take an unharmed copy");
    assay_experiment_rollback(to);
    as_copy_free(&copy);
    assay_experiment_close(&from, NULL);
    assay_experiment_close(&to, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(every_table_is_described),
        place_test(every_reference_is_described),
        place_test(described_columns_are_there_and_in_order),
        place_test(a_copy_is_the_same),
        place_test(a_second_copy_shares_the_program),
        place_test(damage_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
