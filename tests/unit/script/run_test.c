/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running scripts. Out of memory at any allocation is an error with a sentence, never a crash. This
 * holds while a binary is opened, too. Limits leave nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"
#include "script/script.h"

#define SCRIPT "run_test.lua"

int sum_of_test(const int *at, int n);
__attribute__((noinline)) int sum_of_test(const int *at, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += at[i];
    return sum;
}

static void write_script(const char *text)
{
    FILE *f = fopen(SCRIPT, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static int open_binary(void *context, const char *path, struct as_object **out,
                       struct as_error *err)
{
    (void)context;
    return as_object_open(path, NULL, out, err);
}

static int open_machine(void *context, struct as_uarch **uarch, struct as_figures **figures,
                        struct as_error *err)
{
    (void)context;
    (void)figures;
    return as_uarch_open("zen5", uarch, err);
}

static void keep_text(void *context, const char *text, size_t n)
{
    as_str_append(context, text, n);
}

static int run_script(const char *subject, struct as_str *text, struct as_error *err)
{
    const struct as_script_request request = {.path = SCRIPT,
                                              .subject = subject,
                                              .jobs = 1,
                                              .open = open_binary,
                                              .machine = open_machine,
                                              .write = keep_text,
                                              .context = text};
    struct as_script_result result;
    return as_script_run(&request, &result, err);
}

/* The n-th allocation and all after it fail, until none does; of many every n-th alone, each a
 * `part` further than the one before. */
static void fail_everywhere(const char *subject, const char *want, double part)
{
    struct as_str whole = {0};
    struct as_error none = {0};
    int rc = -1;
    assert_int_equal(run_script(subject, &whole, &none), 0);
    as_str_fini(&whole);
    for (long n = 0; rc < 0; n += 1 + (long)((double)n * part)) {
        struct as_str text = {0};
        struct as_error err = {0};
        as_alloc_fail_after(n);
        rc = run_script(subject, &text, &err);
        as_alloc_fail_after(-1);
        assert_true(rc == 0 || err.text[0]);
        assert_true(rc == 0 || rc == AS_ERR_NOMEM || rc == AS_ERR_USAGE);
        if (rc == 0)
            assert_string_equal(as_str_z(&text), want);
        as_str_fini(&text);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    write_script("local t = {}\n"
                 "for i = 1, 20 do t[i] = ('x'):rep(i) .. tostring(i) end\n"
                 "local co = coroutine.wrap(function() error(t[3]) end)\n"
                 "pcall(co)\n"
                 "assert(#assay.api > 10)\n");
    fail_everywhere(NULL, "", 0);
}

/* The program itself: some thousand instructions, so only some of the allocations fail. */
static void test_no_memory_for_code(void **state)
{
    char own[4096];
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    (void)state;
    assert_true(n > 0);
    own[n] = 0;
    write_script("local f = assay.subject:func('sum_of_test')\n"
                 "local loop = f.loops[1]\n"
                 "loop:streams() loop:dependences() loop:quality() loop:predict()\n");
    fail_everywhere(own, "", 0.5);
}

static void test_nothing_to_run(void **state)
{
    struct as_error err = {0};
    struct as_str text = {0};
    (void)state;
    write_script("");
    assert_int_equal(run_script(NULL, &text, &err), 0);
    write_script("#no end of line");
    assert_int_equal(run_script(NULL, &text, &err), 0);
    assert_int_equal(text.n, 0);
    as_str_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_no_memory_for_code),
        cmocka_unit_test(test_nothing_to_run),
    };
    char scratch[] = "/tmp/script-test-XXXXXX";
    if (!mkdtemp(scratch) || chdir(scratch) < 0)
        return 1;
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(SCRIPT);
    rmdir(scratch);
    return rc;
}
