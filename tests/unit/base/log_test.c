/* SPDX-License-Identifier: Apache-2.0 */
/* The log: filters of ASSAY_LOG, the line, foreign bytes, lines of many threads. */
#include "unit.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/log.h"

static void expect_levels(const char *spec, int base, int isa, int object, int code, int cli)
{
    struct as_error err = {0};
    assert_int_equal(as_log_configure(spec, &err), 0);
    assert_int_equal(as_log_levels[AS_LOG_DOMAIN_BASE], base);
    assert_int_equal(as_log_levels[AS_LOG_DOMAIN_ISA], isa);
    assert_int_equal(as_log_levels[AS_LOG_DOMAIN_OBJECT], object);
    assert_int_equal(as_log_levels[AS_LOG_DOMAIN_CODE], code);
    assert_int_equal(as_log_levels[AS_LOG_DOMAIN_CLI], cli);
}

static void test_filters(void **state)
{
    (void)state;
    enum { O = AS_LOG_LEVEL_OFF, W = AS_LOG_LEVEL_WARN, I = AS_LOG_LEVEL_INFO };
    enum { D = AS_LOG_LEVEL_DEBUG, T = AS_LOG_LEVEL_TRACE };
    expect_levels(NULL, O, O, O, O, O);
    expect_levels("debug", D, D, D, D, D);
    expect_levels("object:debug,isa:info", O, I, D, O, O);
    expect_levels("warn,object:trace,cli:off", W, W, T, W, O);
    expect_levels("object:trace,warn", W, W, W, W, W);
    expect_levels(" , isa:info , ", O, I, O, O, O);
    expect_levels("", O, O, O, O, O);
}

static void test_bad_filters_change_nothing(void **state)
{
    (void)state;
    struct as_error err = {0};
    assert_int_equal(as_log_configure("isa:info", &err), 0);
    static const char *const bad[] = {"loud",     "isa",       "isa:",      ":debug",
                                      "isa:loud", "elf:debug", "debug,x:y", "isa:debug:more"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(as_log_configure(bad[i], &err), AS_ERR_USAGE);
        assert_int_equal(as_log_levels[AS_LOG_DOMAIN_ISA], AS_LOG_LEVEL_INFO);
        assert_int_equal(as_log_levels[AS_LOG_DOMAIN_CLI], AS_LOG_LEVEL_OFF);
    }
    as_log_configure("elf:debug", &err);
    assert_string_equal(err.text, "ASSAY_LOG: unknown log domain \"elf\"; use base, isa, object, "
                                  "code, cli");
    as_log_configure("isa:loud", &err);
    assert_string_equal(err.text, "ASSAY_LOG: unknown log level \"loud\"; use off, error, warn, "
                                  "info, debug, trace");
}

static void test_environment(void **state)
{
    (void)state;
    setenv("ASSAY_LOG", "code:debug", 1);
    assert_int_equal(as_log_configure_env(NULL), 0);
    assert_int_equal(as_log_levels[AS_LOG_DOMAIN_CODE], AS_LOG_LEVEL_DEBUG);
    unsetenv("ASSAY_LOG");
    assert_int_equal(as_log_configure_env(NULL), 0);
    assert_int_equal(as_log_levels[AS_LOG_DOMAIN_CODE], AS_LOG_LEVEL_OFF);
}

/* Returns the log in `fd`, zero-terminated; the caller frees it. */
static char *logged(int fd)
{
    off_t n = lseek(fd, 0, SEEK_END);
    char *text = calloc((size_t)n + 1, 1);
    assert_int_equal(pread(fd, text, (size_t)n, 0), n);
    return text;
}

static int evaluated;

static int count_evaluation(void)
{
    return ++evaluated;
}

static void test_lines(void **state)
{
    (void)state;
    int fd = memfd_create("log", 0);
    as_log_to(fd);
    assert_int_equal(as_log_configure("object:info", NULL), 0);
    errno = EINTR;
    as_log(OBJECT, INFO, "%s: %d symbols", "a.out", 5);
    assert_int_equal(errno, EINTR);
    as_log(OBJECT, DEBUG, "not %d", count_evaluation());
    as_log(ISA, ERROR, "nor %d", count_evaluation());
    assert_int_equal(evaluated, 0);
    as_log(OBJECT, ERROR, "bad\nname\033[0m");
    char *text = logged(fd);
    assert_string_equal(text, "assay: info: object: a.out: 5 symbols\n"
                              "assay: error: object: bad name [0m\n");
    free(text);
    close(fd);
    as_log_to(STDERR_FILENO);
}

static void test_line_lengths(void **state)
{
    (void)state;
    assert_int_equal(as_log_configure("debug", NULL), 0);
    for (int n = 1990; n < 2100; n++) {
        int fd = memfd_create("log", 0);
        as_log_to(fd);
        as_log(CLI, DEBUG, "%0*d", n, 0);
        char *text = logged(fd);
        size_t head = strlen("assay: debug: cli: "), got = strlen(text);
        assert_int_equal(text[got - 1], '\n');
        bool whole = got == head + (size_t)n + 1;
        assert_true(whole || (got == 2047 && strcmp(text + got - 4, "...\n") == 0));
        assert_int_equal(whole, head + (size_t)n < 2047);
        free(text);
        close(fd);
    }
    as_log_to(STDERR_FILENO);
}

static void *log_much(void *arg)
{
    for (int i = 0; i < 500; i++)
        as_log(BASE, INFO, "thread %c line %d of many, none torn", *(char *)arg, i);
    return NULL;
}

static void test_threads_keep_lines_whole(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    FILE *in = fdopen(ends[0], "r");
    as_log_to(ends[1]);
    assert_int_equal(as_log_configure("info", NULL), 0);
    pthread_t threads[4];
    char names[] = "abcd";
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, log_much, &names[i]), 0);
    int next[4] = {0};
    for (int i = 0; i < 2000; i++) {
        char line[256], name;
        int number, end = 0;
        assert_non_null(fgets(line, sizeof line, in));
        assert_int_equal(sscanf(line, "assay: info: base: thread %c line %d of many, none torn%n",
                                &name, &number, &end),
                         2);
        assert_int_equal(line[end], '\n');
        assert_int_equal(number, next[name - 'a']++);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    as_log_to(STDERR_FILENO);
    fclose(in);
    close(ends[1]);
}

static void test_needs_no_memory(void **state)
{
    (void)state;
    int fd = memfd_create("log", 0);
    as_log_to(fd);
    as_alloc_fail_after(0);
    assert_int_equal(as_log_configure("base:info", NULL), 0);
    as_log(BASE, INFO, "%d", 7);
    as_alloc_fail_after(-1);
    char *text = logged(fd);
    assert_string_equal(text, "assay: info: base: 7\n");
    free(text);
    as_log_to(STDERR_FILENO);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filters),         cmocka_unit_test(test_bad_filters_change_nothing),
        cmocka_unit_test(test_environment),     cmocka_unit_test(test_lines),
        cmocka_unit_test(test_line_lengths),    cmocka_unit_test(test_threads_keep_lines_whole),
        cmocka_unit_test(test_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
