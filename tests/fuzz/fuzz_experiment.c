/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: a foreign or damaged experiment. The input changes one with rows of
 * every kind (tests/unit/experiment/fixture.c), step by step; each begins with a byte:
 *     0 to 127     as many bytes (1 at least) of the database are written over:
 *                  uint8_t place[3]; uint8_t bytes[];
 *     128 to 191   a value of a row: uint8_t table, column, row, kind; int64_t or double value;
 *                  or uint8_t n; uint8_t text[n];
 *     192 to 255   a table or view is dropped: uint8_t which;
 * Then everything that shows an experiment is asked: each ends well, or in a sentence.
 */
#include "fuzz.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/experiment/fixture.h"
#include "base/out.h"
#include "base/str.h"
#include "experiment/experiment.h"
#include "report/report.h"
#include "scratch.h"

enum { OVER_MOST = 127, VALUE_FIRST = 128, DROP_FIRST = 192 };

static uint8_t *plain; /* the database as it was made */
static size_t plain_b;

static void make_plain(void)
{
    struct as_experiment *experiment;
    struct as_error err = {0};
    struct fixture fixture;
    char name[256];
    FUZZ_CHECK(as_experiment_create(scratch_path("x.assay"), 0, &experiment, &err) == 0);
    FUZZ_CHECK(fixture_fill(experiment, &fixture, &err) == 0);
    FUZZ_CHECK(as_experiment_close(&experiment, &err) == 0);
    snprintf(name, sizeof name, "%s/experiment.db", scratch_path("x.assay"));
    FILE *file = fopen(name, "rb");
    FUZZ_CHECK(file && fseek(file, 0, SEEK_END) == 0);
    plain_b = (size_t)ftell(file);
    rewind(file);
    plain = malloc(plain_b);
    FUZZ_CHECK(plain && fread(plain, 1, plain_b, file) == plain_b);
    fclose(file);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    make_plain();
    return 0;
}

static void write_over(struct fuzz_input *in, uint8_t *image, size_t n)
{
    const uint8_t *place = fuzz_next(in, 3), *bytes = fuzz_next(in, n ? n : 1);
    if (!place || !bytes)
        return;
    const size_t at = ((size_t)place[0] | (size_t)place[1] << 8 | (size_t)place[2] << 16) % plain_b;
    n = n ? n : 1;
    memcpy(image + at, bytes, n < plain_b - at ? n : plain_b - at);
}

/* Names come from the schema, which an earlier step may have damaged: statements may fail. */
static bool ask_name(sqlite3 *db, char *sql, char *name, size_t name_b)
{
    sqlite3_stmt *it = NULL;
    bool found = sql && sqlite3_prepare_v2(db, sql, -1, &it, NULL) == SQLITE_OK &&
                 sqlite3_step(it) == SQLITE_ROW && sqlite3_column_text(it, 0);
    if (found)
        snprintf(name, name_b, "%s", (const char *)sqlite3_column_text(it, 0));
    sqlite3_finalize(it);
    sqlite3_free(sql);
    return found;
}

static void bind(sqlite3_stmt *it, struct fuzz_input *in, uint8_t kind)
{
    const uint8_t *value = kind % 5 < 2 ? fuzz_next(in, 8) : NULL;
    const uint8_t *n = kind % 5 > 2 ? fuzz_next(in, 1) : NULL;
    const uint8_t *text = n ? fuzz_next(in, *n < in->left ? *n : in->left) : NULL;
    int64_t integer;
    double real;
    if (value && kind % 5 == 0) {
        memcpy(&integer, value, sizeof integer);
        sqlite3_bind_int64(it, 1, integer);
    } else if (value) {
        memcpy(&real, value, sizeof real);
        sqlite3_bind_double(it, 1, real);
    } else if (text && kind % 5 == 3) {
        sqlite3_bind_text(it, 1, (const char *)text, (int)(in->at - text), SQLITE_STATIC);
    } else if (text) {
        sqlite3_bind_blob(it, 1, text, (int)(in->at - text), SQLITE_STATIC);
    }
}

static void set_value(sqlite3 *db, struct fuzz_input *in)
{
    const uint8_t *which = fuzz_next(in, 4);
    char table[128], column[128];
    sqlite3_stmt *it = NULL;
    if (!which ||
        !ask_name(
            db,
            sqlite3_mprintf("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name "
                            "LIMIT 1 OFFSET %d %% (SELECT count(*) FROM sqlite_schema WHERE "
                            "type = 'table')",
                            which[0]),
            table, sizeof table) ||
        !ask_name(db,
                  sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q) LIMIT 1 OFFSET %d %% "
                                  "(SELECT count(*) FROM pragma_table_info(%Q))",
                                  table, which[1], table),
                  column, sizeof column))
        return;
    char *sql = sqlite3_mprintf("UPDATE OR REPLACE \"%w\" SET \"%w\" = ?1 WHERE \"%w\" = (SELECT "
                                "\"%w\" FROM \"%w\" LIMIT 1 OFFSET %d)",
                                table, column, column, column, table, which[2] % 16);
    if (sql && sqlite3_prepare_v2(db, sql, -1, &it, NULL) == SQLITE_OK) {
        bind(it, in, which[3]);
        (void)sqlite3_step(it);
    }
    sqlite3_finalize(it);
    sqlite3_free(sql);
}

static void drop(sqlite3 *db, struct fuzz_input *in)
{
    const uint8_t *which = fuzz_next(in, 1);
    char sql[256];
    if (which &&
        ask_name(db,
                 sqlite3_mprintf("SELECT format('DROP %%s \"%%w\"', type, name) FROM sqlite_schema "
                                 "WHERE type IN ('table', 'view') ORDER BY name LIMIT 1 OFFSET %d",
                                 which[0]),
                 sql, sizeof sql))
        (void)sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/* Bytes first: rows are changed in what is left of the database. */
static void change(const uint8_t *bytes, size_t size_b, const char *path, uint8_t *image)
{
    struct fuzz_input in = {bytes, size_b};
    const uint8_t *step;
    memcpy(image, plain, plain_b);
    while ((step = fuzz_next(&in, 1)) && *step <= OVER_MOST)
        write_over(&in, image, *step);
    scratch_write("x.assay/experiment.db", image, plain_b);
    sqlite3 *db = NULL;
    if (!step || sqlite3_open(path, &db) != SQLITE_OK) {
        sqlite3_close(db);
        return;
    }
    (void)sqlite3_exec(db,
                       "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; "
                       "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF",
                       NULL, NULL, NULL);
    for (unsigned n = 0; step && n < 8; step = fuzz_next(&in, 1), n++) {
        if (*step >= DROP_FIRST)
            drop(db, &in);
        else if (*step >= VALUE_FIRST)
            set_value(db, &in);
    }
    sqlite3_close(db);
}

static void check(int rc, const struct as_error *err)
{
    if (rc < 0)
        fuzz_check_error(rc, err);
}

static void show_all(struct as_experiment *experiment)
{
    const struct as_report_text_options text_options = {.width = 80, .colour = true};
    const struct as_report_data_options data_options = {.made_utc = "2000-01-01T00:00:00Z"};
    for (unsigned i = 0; i < 3 + AS_EXPORT_PPROF + 1; i++) {
        struct as_error err = {0};
        struct as_str text = {0};
        struct as_out out;
        uint64_t stacks;
        const struct as_export_options export = {.format = i - 3};
        as_out_init_str(&out, &text);
        if (i == 0)
            check(as_report_profile(experiment, 1, &text_options, &out, &err), &err);
        else if (i == 1)
            check(as_report_profile_json(experiment, 1, 0, &out, &err), &err);
        else if (i == 2)
            check(as_report_data(experiment, 1, &data_options, &out, &err), &err);
        else
            check(as_report_export(experiment, 1, &export, &out, &stacks, &err), &err);
        as_out_fini(&out);
        as_str_fini(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    struct as_experiment *experiment = NULL;
    struct as_error err = {0};
    char path[512];
    uint8_t *image = malloc(plain_b);
    FUZZ_CHECK(image);
    snprintf(path, sizeof path, "%s/experiment.db", scratch_path("x.assay"));
    change(bytes, size_b, path, image);
    free(image);
    int rc = as_experiment_read(scratch_path("x.assay"), &experiment, &err);
    check(rc, &err);
    if (rc == 0)
        show_all(experiment);
    (void)as_experiment_close(&experiment, &err);
    return 0;
}
