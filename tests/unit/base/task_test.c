/* SPDX-License-Identifier: Apache-2.0 */
/* The facts in /proc/PID/stat, of a name that may hold anything, and of this process. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/task.h"
#include "unit.h"

static void test_fields(void **state)
{
    struct as_task task;
    (void)state;
    assert_true(as_task_parse("77 (a) S) (b) Z 5 1 1 0 -1 4194304 9 8 7 6 12 30 1 2 20 0 3 0 4242 "
                              "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 "
                              "26 27 28 29 139",
                              &task));
    assert_string_equal(task.name, "a) S) (b");
    assert_int_equal(task.state, 'Z');
    assert_int_equal(task.parent, 5);
    assert_false(task.kernel);
    assert_int_equal(task.cpu_ns, 42 * (1000000000 / (uint64_t)sysconf(_SC_CLK_TCK)));
    assert_int_equal(task.thread_n, 3);
    assert_int_equal(task.start, 4242);
    assert_int_equal(task.end, 139);
    assert_true(as_task_parse("2 (kthreadd) S 0 0 0 0 -1 2129984", &task));
    assert_true(task.kernel);
}

static void test_damage(void **state)
{
    struct as_task task;
    (void)state;
    assert_false(as_task_parse("", &task));
    assert_false(as_task_parse("7 name S 1", &task));
    assert_false(as_task_parse("7 )name( S 1", &task));
    assert_false(as_task_parse("7 (name)", &task));
    assert_false(as_task_parse("7 (name) ", &task));
    assert_true(as_task_parse("7 (name) R", &task));
    assert_int_equal(task.thread_n, 0);
}

static void test_ours(void **state)
{
    struct as_task task;
    (void)state;
    assert_true(as_task_read((uint32_t)getpid(), &task));
    assert_int_equal(task.parent, getppid());
    assert_int_equal(task.state, 'R');
    assert_false(as_task_read(0x7fffffff, &task));
}

static struct as_task_times times_of(const char *text)
{
    char path[] = "/tmp/assay-task-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    const struct as_task_times times = as_task_times_read(path);
    assert_int_equal(as_task_ready_ns(path), times.ready_ns);
    unlink(path);
    return times;
}

static int64_t ready_of(const char *text)
{
    return times_of(text).ready_ns;
}

static void test_ready(void **state)
{
    (void)state;
    assert_int_equal(ready_of("4711 1234567890123 7\n"), INT64_C(1234567890123));
    assert_int_equal(ready_of("4711 0 7\n"), 0);
    assert_int_equal(ready_of("4711\n"), -1);
    assert_int_equal(ready_of(""), -1);
    assert_int_equal(as_task_ready_ns("/nowhere/schedstat"), -1);
    assert_int_equal(times_of("4711 1234567890123 7\n").ran_ns, 4711);
    assert_int_equal(times_of("4711\n").ran_ns, -1);
    assert_int_equal(as_task_times_read("/nowhere/schedstat").ran_ns, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields), cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_ours), cmocka_unit_test(test_ready)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
