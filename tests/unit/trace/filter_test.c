/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of traces: what rules say of names, what is said of files that are none, and what stays
 * whatever the rules say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "trace/filter.h"

#define REGIONS(rules) "SCOREP_REGION_NAMES_BEGIN\n" rules "\nSCOREP_REGION_NAMES_END\n"

static struct as_trace_filter filter;
static struct as_error err;

static void read_rules(const char *text)
{
    as_trace_filter_fini(&filter);
    assert_int_equal(as_trace_filter_parse(as_view_of(text), "f", &filter, &err), 0);
}

static enum as_filter_verdict verdict(const char *name)
{
    return as_filter_verdict_of(as_str_z(&filter.rules), filter.rules.n, name);
}

static bool out(const char *name)
{
    return verdict(name) == AS_FILTER_LEFT_OUT;
}

static void rules_decide_by_the_later(void **state)
{
    (void)state;
    read_rules("# of a solver\n" REGIONS("EXCLUDE MPI_* solve_[a-c]? # patterns\n"
                                         "  INCLUDE MPI_Allreduce\n\tEXCLUDE x y\n z"));
    assert_int_equal(filter.rules_n, 6);
    assert_true(out("MPI_Bcast") && out("solve_b1") && out("x") && out("y") && out("z"));
    assert_false(out("MPI_Allreduce") || out("solve_d1") || out("solve_b") || out("EXCLUDE"));
    assert_false(out("MPI") || out("") || out("a MPI_Bcast"));
    read_rules(REGIONS("INCLUDE a EXCLUDE *") REGIONS("INCLUDE b"));
    assert_true(out("a") && out("anything"));
    assert_false(out("b"));
    read_rules(REGIONS(""));
    assert_false(out("a"));
    read_rules("");
    assert_int_equal(filter.rules_n, 0);
}

static void a_backslash_takes_the_meaning(void **state)
{
    (void)state;
    read_rules(REGIONS("EXCLUDE omp\\ critical a\\*b \\#1 \\[x] \\EXCLUDE c\\\\d e\\?"));
    assert_true(out("omp critical") && out("a*b") && out("#1") && out("[x]") && out("EXCLUDE"));
    assert_true(out("c\\d") && out("e?"));
    assert_false(out("axb") || out("omp") || out("x") || out("ef"));
}

static void mangled_is_a_keyword_behind_one(void **state)
{
    (void)state;
    read_rules(REGIONS("EXCLUDE MANGLED _Z1f* INCLUDE MANGLED _Z1fi EXCLUDE a MANGLED"));
    assert_int_equal(filter.rules_n, 4);
    assert_true(out("_Z1fd") && out("a") && out("MANGLED"));
    assert_false(out("_Z1fi"));
}

static void names_of_files_are_counted_alone(void **state)
{
    (void)state;
    read_rules(
        "SCOREP_FILE_NAMES_BEGIN EXCLUDE * INCLUDE */a.c b.c\nSCOREP_FILE_NAMES_END\n" REGIONS(
            "EXCLUDE c"));
    assert_int_equal(filter.rules_of_file, 3);
    assert_int_equal(filter.rules_n, 1);
    assert_true(out("c"));
    assert_false(out("b.c") || out("x"));
}

static void refused(const char *text, size_t n, const char *sentence)
{
    memset(&err, 0, sizeof err);
    as_trace_filter_fini(&filter);
    assert_int_equal(as_trace_filter_parse((struct as_view){text, n}, "f", &filter, &err),
                     AS_ERR_USAGE);
    if (!strstr(err.text, sentence))
        fail_msg("'%s' does not say '%s'", err.text, sentence);
}
#define REFUSED(text, sentence) refused(text, sizeof text - 1, sentence)

static void mistakes_are_said_with_their_line(void **state)
{
    (void)state;
    REFUSED("EXCLUDE a", "f:1: 'EXCLUDE' is outside of a block");
    REFUSED("\n\nx", "f:3: 'x' is outside");
    REFUSED(REGIONS("\nmain"), "f:3: 'main' is before EXCLUDE or INCLUDE");
    REFUSED(REGIONS("EXCLUDE\nINCLUDE a"), "f:3: EXCLUDE has no name");
    REFUSED(REGIONS("INCLUDE MANGLED"), "f:3: INCLUDE has no name");
    REFUSED("#\nSCOREP_REGION_NAMES_BEGIN\nEXCLUDE a\n", "f:2: this block has no end");
    REFUSED("SCOREP_FILE_NAMES_BEGIN", "add SCOREP_FILE_NAMES_END");
    REFUSED("SCOREP_REGION_NAMES_BEGIN SCOREP_FILE_NAMES_END",
            "'SCOREP_FILE_NAMES_END' is in a block that ends with SCOREP_REGION_NAMES_END");
    REFUSED("SCOREP_REGION_NAMES_BEGIN SCOREP_REGION_NAMES_BEGIN", "is in a block");
    REFUSED("SCOREP_REGION_NAMES_END", "is outside");
    REFUSED(REGIONS("EXCLUDE a[bc"), "f:2: 'a[bc': the set after '['");
    REFUSED(REGIONS("EXCLUDE a["), "the set after '['");
    REFUSED(REGIONS("EXCLUDE [!a]"), "f:2: '[!a]': negated sets");
    REFUSED(REGIONS("EXCLUDE a\\"), "f:2: a backslash at the end");
    REFUSED("SCOREP_REGION_NAMES_BEGIN EXCLUDE a\0b", "f:1: not a text");
}

static void long_patterns_are_refused(void **state)
{
    (void)state;
    char *text = malloc(2200);
    memset(text, 'a', 2200);
    memcpy(text, "SCOREP_REGION_NAMES_BEGIN\nEXCLUDE ", 34);
    refused(text, 2200, "f:2: a pattern has more than 1024 bytes");
    free(text);
}

/* Names of `kept`, in their order. */
static const char *settled(const char *text)
{
    static char names[8192];
    struct as_filter_kept kept = {0};
    read_rules(text);
    assert_int_equal(as_trace_filter_settle(&filter, &kept), 0);
    names[0] = 0;
    as_vec_foreach (&kept.name, name)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", *name);
    as_filter_kept_fini(&kept);
    return names;
}

static void messages_go_together(void **state)
{
    (void)state;
    assert_string_equal(settled(REGIONS("EXCLUDE MPI_Send MPI_Comm_rank MPI_Allreduce")),
                        "MPI_Send ");
    assert_false(out("MPI_Send") || out("MPI_Recv"));
    assert_true(out("MPI_Comm_rank") && out("MPI_Allreduce"));
    /* All messages, and what makes requests: then they may go. */
    assert_string_equal(settled(REGIONS("EXCLUDE MPI_*")), "");
    assert_true(out("MPI_Send") && out("MPI_Recv") && out("MPI_Waitall") && out("MPI_Iallreduce"));
    assert_non_null(strstr(settled(REGIONS("EXCLUDE MPI_* INCLUDE MPI_Ibcast")), "MPI_Wait "));
    assert_false(out("MPI_Wait") || out("MPI_Recv"));
    assert_true(out("MPI_Bcast") && out("MPI_Iallreduce"));
    assert_string_equal(settled(REGIONS("EXCLUDE MPI_* INCLUDE MPI_Bcast")), "");
    assert_true(out("MPI_Isend"));
    assert_false(out("MPI_Bcast"));
}

static void tests_that_find_nothing_may_go_alone(void **state)
{
    (void)state;
    assert_string_equal(settled(REGIONS("EXCLUDE MPI_Testany MPI_Iprobe")), "");
    assert_int_equal(verdict("MPI_Testany"), AS_FILTER_FOUND);
    assert_int_equal(verdict("MPI_Testall"), AS_FILTER_RECORDED);
    assert_true(out("MPI_Iprobe"));
}

static void what_others_need_always_stays(void **state)
{
    static const char *const name[] = {"MPI_Init",        "MPI_Init_thread",      "MPI_Finalize",
                                       "MPI_Comm_split",  "MPI_Comm_dup",         "MPI_Comm_free",
                                       "MPI_Cart_create", "MPI_Win_create",       "fork",
                                       "execve",          "pthread_mutex_unlock", "sem_post"};
    (void)state;
    assert_string_equal(settled(REGIONS("EXCLUDE *")), "");
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        assert_false(out(name[i]));
    assert_true(out("MPI_Send") && out("read") && out("open") && out("malloc") && out("free"));
    assert_true(out("pthread_mutex_lock") && out("my_region") && out("system"));
}

static void descriptors_and_blocks_stay_known(void **state)
{
    (void)state;
    assert_non_null(strstr(settled(REGIONS("EXCLUDE open* close read")), "close "));
    assert_false(out("open") || out("openat") || out("close"));
    assert_true(out("read"));
    assert_string_equal(settled(REGIONS("EXCLUDE free malloc")), "free ");
    assert_false(out("free"));
    assert_true(out("malloc"));
}

static void files_that_cannot_be_read_are_said(void **state)
{
    (void)state;
    as_trace_filter_fini(&filter);
    assert_int_equal(as_trace_filter_read("/none/such", &filter, &err), AS_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "/none/such: the filter is missing: No such file"));
    assert_int_equal(as_trace_filter_read("/", &filter, &err), AS_ERR_NOT_REGULAR);
}

static void memory_may_be_short(void **state)
{
    int rc = AS_ERR_NOMEM;
    (void)state;
    for (int64_t n = 0; rc == AS_ERR_NOMEM && n < 1000; n++) {
        struct as_filter_kept kept = {0};
        as_alloc_fail_after(n);
        rc = as_trace_filter_parse(as_view_of(REGIONS("EXCLUDE MPI_Send MPI_Isend a*")), "f",
                                   &filter, &err);
        if (rc == 0)
            rc = as_trace_filter_settle(&filter, &kept);
        as_alloc_fail_after(-1);
        as_filter_kept_fini(&kept);
        as_trace_filter_fini(&filter);
    }
    assert_int_equal(rc, 0);
}

static int forget_rules(void **state)
{
    (void)state;
    as_trace_filter_fini(&filter);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_decide_by_the_later),
        cmocka_unit_test(a_backslash_takes_the_meaning),
        cmocka_unit_test(mangled_is_a_keyword_behind_one),
        cmocka_unit_test(names_of_files_are_counted_alone),
        cmocka_unit_test(mistakes_are_said_with_their_line),
        cmocka_unit_test(long_patterns_are_refused),
        cmocka_unit_test(messages_go_together),
        cmocka_unit_test(tests_that_find_nothing_may_go_alone),
        cmocka_unit_test(what_others_need_always_stays),
        cmocka_unit_test(descriptors_and_blocks_stay_known),
        cmocka_unit_test(files_that_cannot_be_read_are_said),
        cmocka_unit_test(memory_may_be_short),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, forget_rules);
}
