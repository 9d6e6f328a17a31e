/* SPDX-License-Identifier: Apache-2.0 */
/* A place for experiments that goes away after each test, and short questions to them. */
#ifndef AS_TESTS_PLACE_H
#define AS_TESTS_PLACE_H

#include "unit.h"

#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "fixture.h"

struct place {
    char dir[64];
    char exp[80]; /* where the experiment goes */
    char db[100];
};

static inline int place_set_up(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    snprintf(place->dir, sizeof place->dir, "/tmp/assay-test-XXXXXX");
    if (!mkdtemp(place->dir))
        return -1;
    snprintf(place->exp, sizeof place->exp, "%s/a.assay", place->dir);
    snprintf(place->db, sizeof place->db, "%s/experiment.db", place->exp);
    *state = place;
    return 0;
}

static inline int place_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline int place_tear_down(void **state)
{
    struct place *place = *state;
    nftw(place->dir, place_remove, 8, FTW_DEPTH | FTW_PHYS);
    free(place);
    return 0;
}

#define place_test(f) cmocka_unit_test_setup_teardown(f, place_set_up, place_tear_down)

/* A call that must succeed. */
#define fine(call)                                                                                 \
    do {                                                                                           \
        struct as_error fine_err = {0}, *err = &fine_err;                                          \
        if ((call) < 0)                                                                            \
            fail_msg("%s: %s", #call, fine_err.text);                                              \
    } while (0)

/* A call that must fail with a code and a sentence with a part. */
#define refused(call, want, part)                                                                  \
    do {                                                                                           \
        struct as_error fine_err = {0}, *err = &fine_err;                                          \
        assert_int_equal((call), AS_ERR_##want);                                                   \
        assert_int_equal(fine_err.code, AS_ERR_##want);                                            \
        if (!has(fine_err.text, part))                                                             \
            fail_msg("'%s' is not in: %s", part, fine_err.text);                                   \
    } while (0)

/* First cell of the first row. */
static inline int64_t integer_of(struct as_experiment *experiment, const char *sql)
{
    struct as_rows *rows;
    fine(as_rows_open(experiment, sql, &rows, err));
    fine(as_rows_next(rows, err));
    int64_t value = as_rows_integer(rows, 0);
    as_rows_close(&rows);
    return value;
}

static inline double real_of(struct as_experiment *experiment, const char *sql)
{
    struct as_rows *rows;
    fine(as_rows_open(experiment, sql, &rows, err));
    fine(as_rows_next(rows, err));
    double value = as_rows_real(rows, 0);
    as_rows_close(&rows);
    return value;
}

static inline void expect_row(struct as_experiment *experiment, const char *sql, const char *want)
{
    struct as_rows *rows;
    char got[1000] = "";
    fine(as_rows_open(experiment, sql, &rows, err));
    if (as_rows_next(rows, NULL) == 1)
        for (int i = 0; i < as_rows_column_n(rows); i++) {
            const char *text = as_rows_text(rows, i);
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
                     text ? text : "-");
        }
    as_rows_close(&rows);
    assert_string_equal(got, want);
}

/* Statements on the database behind the room's back. */
static inline void behind(const struct place *place, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(place->db, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

#endif
