/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that name what they do, in known numbers: what agents leave is exactly that, whatever
 * ends the program, and what it prints is what it prints alone.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/inject/regions_read.h"
#include "agent/inject/session.h"

static char directory[64], printed[64];

static int start(const char *path, const char *mode, const struct as_agent_session *session)
{
    int status;
    const pid_t pid = fork();
    if (pid == 0) {
        const int fd = open(printed, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, 1);
        if (session)
            putenv((char *)(uintptr_t)session->word[0]);
        if (session)
            setenv("LD_PRELOAD", session->preload, 1);
        execl(path, path, mode, NULL);
        _exit(127);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void read_printed(char *text, size_t n)
{
    FILE *f = fopen(printed, "r");
    assert_non_null(f);
    text[fread(text, 1, n - 1, f)] = 0;
    fclose(f);
}

static struct as_region_facts observe(const char *path, const char *mode, int expected)
{
    struct as_region_facts facts = {0};
    struct as_agent_session session;
    struct as_error err = {0};
    char alone[256], observed[256];
    assert_int_equal(start(path, mode, NULL), expected);
    read_printed(alone, sizeof alone);
    if (as_agent_session_open(directory, &session, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(as_agent_session_part(&session, AS_REGIONS_CLIENT));
    as_agent_session_begin(&session);
    assert_int_equal(start(path, mode, &session), expected);
    read_printed(observed, sizeof observed);
    assert_string_equal(observed, alone);
    assert_int_equal(session.control->processes_missed, 0);
    assert_int_equal(as_regions_read(directory, &facts, &err), 0);
    as_agent_session_close(&session);
    assert_int_equal(rmdir(directory), 0); /* nothing was left behind */
    assert_int_equal(facts.damaged, 0);
    return facts;
}

struct sum {
    uint64_t n, ns, rows, unmatched, open;
    double sum, least, most;
};

static struct sum sum_of(const struct as_region_facts *facts, const char *name, uint32_t kind)
{
    struct sum all = {.least = 1e300, .most = -1e300};
    as_vec_foreach (&facts->at, it) {
        if (strcmp(it->name, name) != 0 || it->kind != kind)
            continue;
        all.rows++;
        all.n += it->n;
        all.ns += it->ns;
        all.unmatched += it->unmatched;
        all.open += it->open;
        all.sum += it->sum;
        all.least = it->least < all.least ? it->least : all.least;
        all.most = it->most > all.most ? it->most : all.most;
    }
    return all;
}

static void test_counts(void **state)
{
    (void)state;
    struct as_region_facts facts = observe(NAMED, "counts", 0);
    assert_int_equal(facts.lost, 0);
    const struct sum recursion = sum_of(&facts, "recursion", AS_REGION_TIMED);
    const struct sum plain = sum_of(&facts, "plain", AS_REGION_TIMED);
    const struct sum value = sum_of(&facts, "value", AS_REGION_EVENT);
    const struct sum left = sum_of(&facts, "left by a jump", AS_REGION_TIMED);
    const struct sum residual = sum_of(&facts, "residual", AS_REGION_DATUM);
    assert_int_equal(recursion.n, 101);
    assert_int_equal(recursion.rows, 1);
    assert_int_equal(plain.n, 1001);
    assert_int_equal(plain.unmatched, 1);
    assert_int_equal(value.n, 1001);
    assert_true(value.sum == 499500 && value.least == 0 && value.most == 999);
    assert_int_equal(left.n, 1);
    assert_int_equal(left.open, 1);
    assert_int_equal(left.ns, 0);
    assert_true(residual.sum == 0.125 && residual.n == 1);
    as_region_facts_fini(&facts);
}

static void test_threads(void **state)
{
    (void)state;
    struct as_region_facts facts = observe(NAMED, "threads", 0);
    const struct sum shared = sum_of(&facts, "shared", AS_REGION_TIMED);
    assert_int_equal(shared.rows, 8);
    assert_int_equal(shared.n, 8 * 1000 + 28);
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "thread %d", i);
        const struct sum one = sum_of(&facts, name, AS_REGION_TIMED);
        assert_int_equal(one.rows, 1);
        assert_int_equal(one.n, 100);
    }
    assert_int_equal(sum_of(&facts, "value", AS_REGION_EVENT).n, 8 * 1100 + 28);
    as_region_facts_fini(&facts);
}

/* The child counts for itself, from nothing, and tells by _exit. */
static void test_children(void **state)
{
    (void)state;
    struct as_region_facts facts = observe(NAMED, "children", 0);
    uint64_t from_parent = 0, from_child = 0;
    as_vec_foreach (&facts.at, it) {
        from_parent += strcmp(it->name, "before") == 0 && it->n == 13;
        from_child += strcmp(it->name, "before") == 0 && it->n == 5;
    }
    assert_int_equal(from_parent, 1);
    assert_int_equal(from_child, 1);
    assert_int_equal(sum_of(&facts, "child", AS_REGION_TIMED).n, 7);
    as_region_facts_fini(&facts);
}

static void test_signals(void **state)
{
    (void)state;
    struct as_region_facts facts = observe(NAMED, "signals", 0);
    assert_int_equal(sum_of(&facts, "signalled", AS_REGION_TIMED).n, 100);
    as_region_facts_fini(&facts);
}

/* "value" has a name too: 511 find room. */
static void test_many(void **state)
{
    (void)state;
    struct as_region_facts facts = observe(NAMED, "many", 0);
    assert_int_equal(facts.at.n, AS_REGIONS_NAMES_N);
    assert_int_equal(facts.lost, 2 * (600 - (AS_REGIONS_NAMES_N - 1)));
    as_region_facts_fini(&facts);
}

static void test_killed(void **state)
{
    (void)state;
    struct as_region_facts facts = observe(NAMED, "killed", SIGKILL);
    assert_int_equal(sum_of(&facts, "whole", AS_REGION_TIMED).n, 12);
    const struct sum cut = sum_of(&facts, "cut", AS_REGION_TIMED);
    assert_int_equal(cut.n, 1);
    assert_int_equal(cut.open, 1);
    as_region_facts_fini(&facts);
}

static void test_fortran(void **state)
{
    (void)state;
    if (!*NAMED_FORTRAN) {
        print_message("# skipped: no Fortran compiler\n");
        return;
    }
    struct as_region_facts facts = observe(NAMED_FORTRAN, "", 0);
    const struct sum step = sum_of(&facts, "step", AS_REGION_EVENT);
    assert_int_equal(sum_of(&facts, "of Fortran", AS_REGION_TIMED).n, 25);
    assert_true(step.n == 25 && step.sum == 325 && step.most == 25);
    assert_true(sum_of(&facts, "size", AS_REGION_DATUM).sum == 42);
    as_region_facts_fini(&facts);
}

/* A statically linked program has no agent: the calls do nothing. */
static void test_static(void **state)
{
    (void)state;
    struct as_region_facts facts = observe(NAMED_STATIC, "counts", 0);
    assert_int_equal(facts.at.n, 0);
    as_region_facts_fini(&facts);
}

int main(void)
{
    setenv("ASSAY_AGENT_LIBRARY", AGENT, 1);
    snprintf(directory, sizeof directory, "regions-test-%d.dir", (int)getpid());
    snprintf(printed, sizeof printed, "regions-test-%d.out", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),   cmocka_unit_test(test_threads),
        cmocka_unit_test(test_children), cmocka_unit_test(test_signals),
        cmocka_unit_test(test_many),     cmocka_unit_test(test_killed),
        cmocka_unit_test(test_fortran),  cmocka_unit_test(test_static),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(printed);
    return failed;
}
