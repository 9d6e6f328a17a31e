/* SPDX-License-Identifier: Apache-2.0 */
/* Work in a child: its answer, its error, and each way in which it can go wrong. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limited.h"

static int answer_word(void *context, struct as_str *answer, struct as_error *err)
{
    (void)err;
    as_str_appendf(answer, "%s of %d", (const char *)context, getppid());
    return 0;
}

static int answer_error(void *context, struct as_str *answer, struct as_error *err)
{
    as_str_appendz(answer, "half");
    return as_error_set(err, AS_ERR_NOT_FOUND, "%s: not there", (const char *)context);
}

static int crash(void *context, struct as_str *answer, struct as_error *err)
{
    (void)context, (void)err;
    as_str_appendz(answer, "half");
    return raise(SIGSEGV);
}

static int abort_work(void *context, struct as_str *answer, struct as_error *err)
{
    (void)context, (void)answer, (void)err;
    abort();
}

static int leave(void *context, struct as_str *answer, struct as_error *err)
{
    (void)context, (void)answer, (void)err;
    _exit(0);
}

static int wait_forever(void *context, struct as_str *answer, struct as_error *err)
{
    (void)context, (void)answer, (void)err;
    while (pause())
        ;
    return 0;
}

static int answer_without_end(void *context, struct as_str *answer, struct as_error *err)
{
    (void)context, (void)err;
    for (int i = 0; i < 20000; i++)
        as_str_appendz(answer, "a word that comes again");
    return 0;
}

/* A gigabyte beyond the limit; what is mapped is not used. */
static int allocate(void *context, struct as_str *answer, struct as_error *err)
{
    void *block = malloc((size_t)2 << 30);
    (void)context, (void)err;
    as_str_appendz(answer, block ? "got it" : "refused");
    free(block);
    return 0;
}

static const struct as_limited limits = {.what = "a file",
                                         .memory_b = (uint64_t)1 << 30,
                                         .cpu_s = 100,
                                         .wall_s = 100,
                                         .answer_max_b = 1000};

static void answers(void **state)
{
    struct as_str answer = {0};
    struct as_error err = {0};
    char want[100];
    (void)state;
    assert_int_equal(as_limited_run(&limits, answer_word, "child", &answer, &err), 0);
    snprintf(want, sizeof want, "child of %d", getpid());
    assert_int_equal(answer.n, strlen(want));
    assert_memory_equal(answer.p, want, answer.n);
    as_str_clear(&answer);
    assert_int_equal(as_limited_run(&limits, answer_error, "x", &answer, &err), AS_ERR_NOT_FOUND);
    assert_string_equal(err.text, "x: not there");
    as_str_fini(&answer);
}

static void expect_failure(int (*work)(void *, struct as_str *, struct as_error *),
                           const struct as_limited *how, const char *why)
{
    struct as_str answer = {0};
    struct as_error err = {0};
    assert_int_equal(as_limited_run(how, work, NULL, &answer, &err), AS_ERR_CORRUPT);
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in: %s", why, err.text);
    as_str_fini(&answer);
}

static void failures(void **state)
{
    struct as_limited soon = limits;
    (void)state;
    expect_failure(crash, &limits, "a file: damaged: the library that reads it crashed; use");
    expect_failure(abort_work, &limits, "crashed");
    expect_failure(leave, &limits, "crashed");
    expect_failure(answer_without_end, &limits, "takes too long");
    soon.wall_s = 1;
    expect_failure(wait_forever, &soon, "a file: damaged: reading it takes too long; use");
}

/* The sanitizers' allocator is not limited. */
static void memory(void **state)
{
#if defined __SANITIZE_ADDRESS__
    (void)state;
    skip();
#else
    struct as_str answer = {0};
    (void)state;
    assert_int_equal(as_limited_run(&limits, allocate, NULL, &answer, NULL), 0);
    assert_int_equal(answer.n, strlen("refused"));
    as_str_fini(&answer);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(failures),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
