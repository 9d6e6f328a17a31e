/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that synchronise through files: all arrive; one fails with a reason; one is silent.
 * Files of an earlier run do not matter, and a name in use is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/party.h"

static char name[64];

static void set_number(const char *variable, unsigned value)
{
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    setenv(variable, text, 1);
}

static struct as_party *join_as(unsigned rank, unsigned size)
{
    struct as_error err = {0};
    struct as_party *party;
    set_number("PMI_RANK", rank);
    set_number("PMI_SIZE", size);
    if (as_party_join(name, NULL, &party, &err) < 0)
        fail_msg("%s", err.text);
    return party;
}

static int make_name(void **state)
{
    (void)state;
    strcpy(name, "/tmp/assay-party-XXXXXX");
    setenv("ASSAY_PATIENCE", "100", 1);
    return mkdtemp(name) ? rmdir(name) : -1;
}

static void assert_gone(void)
{
    char path[80];
    struct stat st;
    snprintf(path, sizeof path, "%s.ranks", name);
    assert_int_equal(stat(path, &st), -1);
}

static int end_of_child(void)
{
    int status = -1;
    assert_true(wait(&status) > 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_all_meet(void **state)
{
    struct as_error err = {0};
    (void)state;
    for (unsigned rank = 1; rank < 4; rank++)
        if (fork() == 0) {
            struct as_party *party = join_as(rank, 4);
            int rc = 0;
            for (unsigned i = 0; i < 5 && rc == 0; i++)
                rc = as_party_barrier(party, &err);
            as_party_leave(&party, rc, &err);
            _exit(rc < 0);
        }
    struct as_party *party = join_as(0, 4);
    assert_int_equal(as_party_size(party), 4);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(as_party_barrier(party, &err), 0);
    as_party_leave(&party, 0, NULL);
    for (unsigned rank = 1; rank < 4; rank++)
        assert_int_equal(end_of_child(), 0);
    assert_gone();
}

static void test_failure_is_told(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (fork() == 0) {
        const struct as_error full = {.code = AS_ERR_IO, .text = "the disk is full"};
        struct as_party *party = join_as(1, 2);
        const int rc = as_party_barrier(party, &err);
        as_party_leave(&party, AS_ERR_IO, &full);
        _exit(rc < 0);
    }
    struct as_party *party = join_as(0, 2);
    int rc = as_party_barrier(party, &err);
    rc = rc < 0 ? rc : as_party_barrier(party, &err);
    assert_int_equal(rc, AS_ERR_LIMIT);
    assert_string_equal(err.text, "rank 1: the disk is full");
    as_party_leave(&party, rc, &err);
    assert_int_equal(end_of_child(), 0);
    assert_gone();
}

/* It dies between two meetings, without a word. */
static void test_silence(void **state)
{
    struct as_error err = {0};
    (void)state;
    if (fork() == 0) {
        struct as_party *party = join_as(1, 2);
        _exit(as_party_barrier(party, &err) < 0);
    }
    struct as_party *party = join_as(0, 2);
    assert_int_equal(as_party_barrier(party, &err), 0);
    assert_int_equal(end_of_child(), 0);
    as_party_be_patient(party, 1);
    assert_int_equal(as_party_barrier(party, &err), AS_ERR_LIMIT);
    assert_non_null(strstr(err.text, "rank 1 has not answered"));
    as_party_leave(&party, AS_ERR_LIMIT, &err);
    assert_gone();
}

/* Both died when they had met; new ones do not take them for each other. */
static void test_leftovers(void **state)
{
    struct as_error err = {0};
    for (unsigned rank = 0; rank < 2; rank++)
        if (fork() == 0) {
            struct as_party *party = join_as(rank, 2);
            _exit(as_party_barrier(party, &err) < 0 || as_party_barrier(party, &err) < 0);
        }
    assert_int_equal(end_of_child(), 0);
    assert_int_equal(end_of_child(), 0);
    setenv("ASSAY_PATIENCE", "2", 1);
    struct as_party *party = join_as(1, 2);
    assert_int_equal(as_party_barrier(party, &err), AS_ERR_LIMIT);
    assert_non_null(strstr(err.text, "rank 0 did not come"));
    assert_false(as_party_is_follower(party));
    as_party_leave(&party, AS_ERR_LIMIT, &err);
    setenv("ASSAY_PATIENCE", "100", 1);
    test_all_meet(state); /* in the same directory */
}

static void test_name_in_use(void **state)
{
    struct as_error err = {0};
    struct as_party *other;
    (void)state;
    struct as_party *party = join_as(0, 2);
    assert_int_equal(as_party_join(name, NULL, &other, &err), AS_ERR_USAGE);
    assert_non_null(strstr(err.text, "another assay job is writing this experiment"));
    assert_null(other);
    as_party_leave(&party, 0, NULL);
    unsetenv("PMI_SIZE");
    unsetenv("PMI_RANK");
    assert_int_equal(as_party_join(name, NULL, &party, &err), 0);
    assert_null(party); /* no job, no others */
    assert_int_equal(as_party_size(party), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_all_meet, make_name),
                                       cmocka_unit_test_setup(test_failure_is_told, make_name),
                                       cmocka_unit_test_setup(test_silence, make_name),
                                       cmocka_unit_test_setup(test_leftovers, make_name),
                                       cmocka_unit_test_setup(test_name_in_use, make_name)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
