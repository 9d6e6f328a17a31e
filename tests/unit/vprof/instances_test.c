/* SPDX-License-Identifier: Apache-2.0 */
/* Why a region was not patched, in words, by what the agent left. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "vprof/instances.h"

static const char *words_of(unsigned kind, int error)
{
    struct as_instances all = {0};
    const struct as_patch_outcome outcome = {.kind = kind, .error = (uint32_t)error};
    assert_int_equal(as_vec_push(&all.outcome, outcome), 0);
    const char *words = as_instances_why_not(&all, 0);
    as_instances_fini(&all);
    return words;
}

static void test_words(void **state)
{
    (void)state;
    assert_null(words_of(AS_PATCH_DONE, 0));
    assert_non_null(strstr(words_of(AS_PATCH_THREADS, EPERM), "a seccomp filter"));
    assert_non_null(strstr(words_of(AS_PATCH_THREADS, EAGAIN), "blocks the signal"));
    assert_non_null(strstr(words_of(AS_PATCH_THREADS, EBUSY), "inside the loop"));
    assert_non_null(strstr(words_of(AS_PATCH_THREADS, ENOENT), "could not be stopped"));
    assert_non_null(strstr(words_of(AS_PATCH_DENIED, EACCES), "does not permit writing code"));
    assert_non_null(strstr(words_of(AS_PATCH_DENIED, EBUSY), "register gs"));
    assert_non_null(strstr(words_of(AS_PATCH_NO_ROOM, ENOMEM), "no memory within reach"));
    assert_non_null(strstr(words_of(AS_PATCH_DIFFERS, 0), "differs from the file"));
    assert_non_null(strstr(words_of(AS_PATCH_WAITING, 0), "not loaded"));
    assert_non_null(strstr(words_of(AS_PATCH_BARE, 0), "statically linked"));
}

/* The agent was not loaded: nothing was recorded. */
static void test_absent(void **state)
{
    struct as_instances none = {0};
    (void)state;
    assert_non_null(strstr(as_instances_why_not(&none, 0), "agent was not loaded"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_words), cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
