/* SPDX-License-Identifier: Apache-2.0 */
/* Through a pipe that takes little at a time, with signals in between; ends and failures.
 */
#include "base/io_full.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "unit.h"

enum { SIZE_B = 1 << 20 };

static char sent[SIZE_B], came[SIZE_B];

static void on_alarm(int signal)
{
    (void)signal;
}

/* One millisecond apart, for the whole process: reads and writes that wait are interrupted. */
static void interrupt_often(bool often)
{
    const struct sigaction on = {.sa_handler = on_alarm};
    const struct itimerval every = {.it_interval = {0, often ? 1000 : 0},
                                    .it_value = {0, often ? 1000 : 0}};
    sigaction(SIGALRM, &on, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static void *write_slowly(void *fd)
{
    const int to = *(int *)fd;
    int rc = 0;

    for (size_t at = 0; at < SIZE_B && rc == 0; at += SIZE_B / 8) {
        usleep(3000);
        rc = as_whole_write(to, sent + at, SIZE_B / 8);
    }
    close(to);
    return rc ? fd : NULL;
}

static void test_pipe(void **state)
{
    int ends[2];
    pthread_t writer;
    void *failed;

    (void)state;
    for (size_t i = 0; i < SIZE_B; i++)
        sent[i] = (char)(i * 131 >> 7);
    assert_int_equal(pipe(ends), 0);
    interrupt_often(true);
    assert_int_equal(pthread_create(&writer, NULL, write_slowly, &ends[1]), 0);
    assert_int_equal(as_whole_read(ends[0], came, SIZE_B), SIZE_B);
    assert_int_equal(errno, 0);
    assert_memory_equal(sent, came, SIZE_B);
    assert_int_equal(as_whole_read(ends[0], came, 1), 0); /* the end */
    assert_int_equal(errno, 0);
    interrupt_often(false);
    pthread_join(writer, &failed);
    assert_null(failed);
    close(ends[0]);
}

static void test_failures(void **state)
{
    const int full = open("/dev/full", O_WRONLY), place = open("/", O_RDONLY | O_DIRECTORY);

    (void)state;
    assert_int_equal(as_whole_write(full, sent, 10), ENOSPC);
    assert_int_equal(as_whole_write(full, NULL, 0), 0);
    assert_int_equal(as_whole_read(place, came, 10), 0);
    assert_int_equal(errno, EISDIR);
    close(full);
    close(place);
}

static void test_text(void **state)
{
    char text[8] = "before", long_text[64];
    const char name[] = "/tmp/assay-whole-XXXXXX";
    char path[sizeof name];

    (void)state;
    memcpy(path, name, sizeof name);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(as_whole_text(path, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(as_whole_write(fd, "0123456789", 10), 0);
    close(fd);
    assert_int_equal(as_whole_text(path, text, sizeof text), 7);
    assert_string_equal(text, "0123456");
    assert_int_equal(as_whole_text(path, long_text, sizeof long_text), 10);
    assert_string_equal(long_text, "0123456789");
    unlink(path);
    assert_int_equal(as_whole_text(path, text, sizeof text), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(text, "");
    assert_int_equal(as_whole_text("/", text, sizeof text), -1);
    assert_int_equal(errno, EISDIR);
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pipe), cmocka_unit_test(test_failures),
                                       cmocka_unit_test(test_text)};
    return cmocka_run_group_tests_name("base/whole", tests, NULL, NULL);
}
