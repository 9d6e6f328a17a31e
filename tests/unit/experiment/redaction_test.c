/* SPDX-License-Identifier: Apache-2.0 */
/* Texts for a report that is mailed: no user, no host, no directory, and files stay apart. */
#include "place.h"

#include "experiment/redaction.h"

#define HOMES                                                                                      \
    "/"                                                                                            \
    "home"

static void expect(struct as_redaction *it, const char *text, const char *want)
{
    struct as_str out = {0};
    as_redaction_append(it, text, &out);
    assert_string_equal(as_str_z(&out), want);
    as_str_fini(&out);
}

static void test_texts(void **state)
{
    struct as_redaction *it = as_redaction_new();
    (void)state;
    assert_int_equal(as_redaction_add_host(it, "node7.site.example"), 0);
    assert_int_equal(as_redaction_add_host(it, "login"), 0);
    assert_int_equal(as_redaction_add_user(it, "alice"), 0);
    assert_int_equal(as_redaction_add_user(it, "root"), 0);
    expect(it, HOMES "/bob/src/main.c", "dir1/main.c");
    expect(it, HOMES "/bob/lib/main.c:7, (" HOMES "/bob/src/util.c)",
           "dir2/main.c:7, (dir1/util.c)");
    expect(it, HOMES "/bob", "dir3/user");
    expect(it, "bob's and alice's, not bobby's or malice",
           "user's and user's, not bobby's or malice");
    expect(it, "node7 and node7.site.example and node71", "host1 and host1 and node71");
    expect(it, "login login_all", "host2 login_all");
    expect(it, "--in=/data/x/y ./p", "--in=dir4/y ./p");
    expect(it, "'/data/x/a b'", "'dir4/a b'");
    expect(it, "/usr/lib/x86_64-linux-gnu/libc.so.6 /proc/self/maps [kernel]",
           "/usr/lib/x86_64-linux-gnu/libc.so.6 /proc/self/maps [kernel]");
    expect(it, "a / b, a /b; c/d/e, 3 // x, https://www.open-mpi.org/projects/",
           "a / b, a /b; c/d/e, 3 // x, https://www.open-mpi.org/projects/");
    expect(it, "the root of x", "the root of x");
    expect(it, "at /data/x/y.", "at dir4/y.");
    expect(it, "", "");
    as_redaction_free(&it);
    assert_null(it);
}

static void test_rows(void **state)
{
    struct place *place = *state;
    struct as_experiment *e;
    struct as_rows *rows;
    struct fixture f;
    fine(as_experiment_create(place->exp, 0, &e, err));
    fine(fixture_fill(e, &f, err));
    assert_false(as_experiment_is_redacted(e));
    fine(as_experiment_redact(e, err));
    assert_true(as_experiment_is_redacted(e));
    expect_row(e, "SELECT name FROM host", "host1");
    fine(as_rows_open(e, "SELECT '/secret/place/x', NULL, 7", &rows, err));
    assert_int_equal(as_rows_next(rows, NULL), 1);
    assert_true(has(as_rows_text(rows, 0), "/x"));
    assert_false(has(as_rows_text(rows, 0), "secret"));
    assert_string_equal(as_rows_stored_text(rows, 0), "/secret/place/x");
    assert_null(as_rows_text(rows, 1));
    assert_string_equal(as_rows_text(rows, 2), "7");
    as_rows_close(&rows);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        place_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
