/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting of events that a target makes in a known number. The kernel's account from the beginning
 * of main to its end is the lower bound. That of the whole process is the upper bound. Also right
 * and wrong names.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session.h"

/* The account of the target: in main, and in all. */
struct account {
    long faults, switches, faults_most, switches_most;
    uint64_t cpu_ns;
    int status;
};

/* Counts `names` over the target; the values in their order. False: not permitted here. */
static bool count(const char *names, const char *what, const char *n, struct as_count *out,
                  size_t expected, struct account *account)
{
    const char *const argv[] = {TARGETS "/sample-events", what, n, NULL};
    struct as_counting *counting = NULL;
    const struct as_count *counts;
    struct as_error err = {0};
    struct rusage usage;
    char text[64] = "";
    size_t counts_n;
    int go, report[2];
    assert_int_equal(pipe(report), 0);
    pid_t pid = session_start(argv, report[1], &go);
    close(report[1]);
    int rc = as_counting_open(pid, names, true, false, &counting, &err);
    session_release(go);
    FILE *f = fdopen(report[0], "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof text, f) ? text : feof(f) ? "" : NULL);
    fclose(f);
    assert_int_equal(wait4(pid, &account->status, 0, &usage), pid);
    if (rc == AS_ERR_PERMISSION) {
        print_message("# skipped: %s\n", err.text);
        return false;
    }
    if (rc < 0)
        fail_msg("%s", err.text);
    assert_int_equal(as_counting_read(counting, &counts, &counts_n, &err), 0);
    assert_int_equal(counts_n, expected);
    memcpy(out, counts, counts_n * sizeof *counts);
    for (size_t i = 0; i < counts_n; i++) {
        out[i].name = NULL; /* goes with the counting */
        print_message("# %s %s: %s %llu %s\n", what, n, counts[i].name,
                      (unsigned long long)counts[i].value, counts[i].unit);
        assert_true(counts[i].enabled_ns > 0);
        assert_int_equal(counts[i].running_ns, counts[i].enabled_ns); /* none is shared */
        assert_int_equal(counts[i].value, counts[i].raw);
    }
    as_counting_close(&counting);
    char *end;
    account->faults = strtol(text, &end, 10);
    account->switches = strtol(end, NULL, 10);
    account->faults_most = usage.ru_minflt + usage.ru_majflt;
    account->switches_most = usage.ru_nvcsw + usage.ru_nivcsw;
    return true;
}

static void expect_between(uint64_t value, long least, long most)
{
    print_message("# %llu of %ld to %ld\n", (unsigned long long)value, least, most);
    assert_true(least > 0);
    assert_in_range(value, least, most);
}

/* 20,000 fresh pages more are 20,000 faults more; what start-up needs varies by a few. */
static void test_faults(void **state)
{
    (void)state;
    struct as_count few[3], many[3];
    struct account account;
    const char *names = "page-faults,minor-faults, major-faults";
    if (!count(names, "faults", "0", few, 3, &account))
        return;
    assert_true(count(names, "faults", "20000", many, 3, &account));
    assert_int_equal(account.status, 0);
    assert_in_range(many[0].value - few[0].value, 20000 - 64, 20000 + 64);
    if (!many[0].user_only)
        expect_between(many[0].value, account.faults, account.faults_most);
    assert_int_equal(many[1].value + many[2].value, many[0].value);
    assert_string_equal(many[0].unit, "events");
}

/* Threads that have ended are counted: 4 times 5,000 pages. */
static void test_threads(void **state)
{
    (void)state;
    struct as_count faults;
    struct account account;
    if (!count("faults", "threads", "5000", &faults, 1, &account))
        return;
    assert_int_equal(account.status, 0);
    assert_true(account.faults >= 20000);
    if (!faults.user_only)
        expect_between(faults.value, account.faults, account.faults_most);
}

static void test_switches(void **state)
{
    (void)state;
    struct as_count counts[2];
    struct account account;
    if (!count("context-switches,task-clock", "sleeps", "200", counts, 2, &account))
        return;
    assert_int_equal(account.status, 0);
    assert_true(account.switches >= 100); /* a busy host may let some naps end before they begin */
    expect_between(counts[0].value, account.switches, account.switches_most);
    assert_string_equal(counts[1].unit, "ns");
    assert_true(counts[1].value > 0);
}

static void test_moves(void **state)
{
    (void)state;
    struct as_count moves;
    struct account account;
    if (!count("migrations", "moves", "50", &moves, 1, &account))
        return;
    if (WIFEXITED(account.status) && WEXITSTATUS(account.status) == 4)
        print_message("# one processor: nowhere to move\n");
    else
        assert_true(moves.value >= 50);
}

/* Two threads of 100 ms CPU time each; a target that runs already and ends by itself. */
static void test_task_clock(void **state)
{
    (void)state;
    const char *const argv[] = {TARGETS "/sample-spin", "2", "100", NULL};
    struct as_counting *counting;
    const struct as_count *counts;
    struct as_error err = {0};
    size_t n;
    int go, status;
    pid_t pid = session_start(argv, -1, &go);
    int rc = as_counting_open(pid, "task-clock", false, false, &counting, &err);
    session_release(go);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (rc == AS_ERR_PERMISSION)
        return;
    assert_int_equal(as_counting_read(counting, &counts, &n, &err), 0);
    print_message("# task-clock %llu ns\n", (unsigned long long)counts[0].value);
    assert_true(counts[0].value >= 190000000u); /* a thread begins before its counter */
    assert_true(counts[0].value <= counts[0].enabled_ns + counts[0].enabled_ns / 100);
    as_counting_close(&counting);
    assert_null(counting);
}

static void expect_refused(const char *names, int code, const char *part)
{
    struct as_counting *counting;
    struct as_error err = {0};
    int rc = as_counting_open(getpid(), names, false, false, &counting, &err);
    if (rc == AS_ERR_PERMISSION && code != AS_ERR_USAGE)
        return;
    print_message("# %s\n", rc < 0 ? err.text : "no error");
    assert_int_equal(rc, code);
    assert_null(counting);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
}

static void test_wrong_names(void **state)
{
    (void)state;
    expect_refused("page-fault", AS_ERR_USAGE, "did you mean 'page-faults'");
    expect_refused("page-faults,contxt-switches", AS_ERR_USAGE, "'context-switches'");
    expect_refused("xyzzy", AS_ERR_USAGE, "use alignment-faults, context-switches");
    expect_refused("page-faults,,task-clock", AS_ERR_USAGE, "a name is missing");
    expect_refused("", AS_ERR_USAGE, "a name is missing");
    /* libpfm4 always knows the kernel's own names of hardware events. */
    expect_refused("instructoins", AS_ERR_USAGE, "'INSTRUCTIONS'");
    struct as_counting *counting;
    struct as_error err = {0};
    assert_true(as_counting_open(0x3ffffff, "task-clock", false, false, &counting, &err) < 0);
    assert_null(counting);
}

/* With hardware counters they count; without, the reason is said. */
static void test_hardware(void **state)
{
    (void)state;
    struct as_counting *counting;
    const struct as_count *counts;
    struct as_error err = {0};
    size_t n;
    int rc = as_counting_open(getpid(), "instructions", false, false, &counting, &err);
    if (rc < 0) {
        print_message("# %s\n", err.text);
        if (rc != AS_ERR_PERMISSION) {
            assert_int_equal(rc, AS_ERR_UNSUPPORTED);
            assert_non_null(strstr(err.text, "event 'instructions': cannot be counted"));
        }
        return;
    }
    assert_int_equal(as_counting_read(counting, &counts, &n, &err), 0);
    assert_true(counts[0].value > 100);
    as_counting_close(&counting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_switches),   cmocka_unit_test(test_moves),
        cmocka_unit_test(test_task_clock), cmocka_unit_test(test_wrong_names),
        cmocka_unit_test(test_hardware),
    };
    return cmocka_run_group_tests_name("sample/counting", tests, NULL, NULL);
}
