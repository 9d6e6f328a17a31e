/* SPDX-License-Identifier: Apache-2.0 */
/* The progress line on a pseudo-terminal and off one; drawing times are set, not waited for. */
#include "unit.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "base/progress.h"

struct terminal {
    int us, them; /* our end reads what is shown */
};

static void terminal_open(struct terminal *t)
{
    setenv("TERM", "xterm", 1);
    t->us = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(t->us >= 0);
    assert_int_equal(grantpt(t->us), 0);
    assert_int_equal(unlockpt(t->us), 0);
    t->them = open(ptsname(t->us), O_RDWR | O_NOCTTY);
    if (t->them < 0) {
        print_message("# skipped: there is no /dev/pts here\n");
        skip();
    }
    fcntl(t->us, F_SETFL, O_NONBLOCK);
}

static const char *shown(struct terminal *t)
{
    static char text[4096];
    ssize_t n = read(t->us, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    return text;
}

static void test_draws_and_erases(void **state)
{
    (void)state;
    struct terminal t;
    terminal_open(&t);
    struct as_progress p;
    as_progress_begin(&p, t.them, "decode", 200);
    p.begin_ns += UINT64_C(1000000000000); /* however long this takes, no pace is known */
    p.interval_ns = 0;
    atomic_store(&p.due_ns, 0); /* as after the first moment */
    as_progress_add(&p, 50);
    assert_string_equal(shown(&t), "\r\033[Kdecode  25 %");
    as_progress_add(&p, 149);
    assert_string_equal(shown(&t), "\r\033[Kdecode  99 %");
    as_progress_add(&p, 1000); /* more than foretold */
    assert_string_equal(shown(&t), "\r\033[Kdecode 100 %");
    p.interval_ns = UINT64_MAX / 2;
    as_progress_add(&p, 1);
    assert_string_equal(shown(&t), "\r\033[Kdecode 100 %");
    as_progress_add(&p, 1); /* not due */
    assert_string_equal(shown(&t), "");
    as_progress_end(&p);
    assert_string_equal(shown(&t), "\r\033[K");
    close(t.us);
    close(t.them);
}

static void test_says_what_is_left(void **state)
{
    (void)state;
    struct terminal t;
    terminal_open(&t);
    struct as_progress p;
    as_progress_begin(&p, t.them, "decode", 1000);
    p.interval_ns = 0;
    atomic_store(&p.due_ns, 0);
    /* So long ago that what the test itself takes is not seen in what is left. */
    p.begin_ns -= UINT64_C(30000) * 1000000000;
    as_progress_add(&p, 10); /* too early to tell */
    assert_string_equal(shown(&t), "\r\033[Kdecode   1 %");
    as_progress_add(&p, 240);
    assert_string_equal(shown(&t), "\r\033[Kdecode  25 %, 1500 min left");
    as_progress_add(&p, 749);
    assert_string_equal(shown(&t), "\r\033[Kdecode  99 %, 30 s left");
    p.begin_ns += UINT64_C(29900) * 1000000000; /* a tenth of a second is left */
    as_progress_add(&p, 0);
    assert_string_equal(shown(&t), "\r\033[Kdecode  99 %");
    as_progress_end(&p);
    close(t.us);
    close(t.them);
}

static void test_unknown_total_and_narrow_terminal(void **state)
{
    (void)state;
    struct terminal t;
    terminal_open(&t);
    struct winsize size = {.ws_row = 24, .ws_col = 30};
    assert_int_equal(ioctl(t.us, TIOCSWINSZ, &size), 0);
    struct as_progress p;
    as_progress_begin(&p, t.them, "reading a long name", 0);
    atomic_store(&p.due_ns, 0);
    as_progress_add(&p, 1234);
    assert_string_equal(shown(&t), "\r\033[Kreadin 1234");
    as_progress_end(&p);
    close(t.us);
    close(t.them);
}

static void test_short_work_shows_nothing(void **state)
{
    (void)state;
    struct terminal t;
    terminal_open(&t);
    struct as_progress p;
    as_progress_begin(&p, t.them, "quick", 10);
    atomic_store(&p.due_ns, UINT64_MAX);
    as_progress_add(&p, 10);
    as_progress_end(&p);
    assert_string_equal(shown(&t), "");
    close(t.us);
    close(t.them);
}

static void test_silent_off_a_terminal(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct as_progress p;
    as_progress_begin(&p, ends[1], "decode", 10);
    atomic_store(&p.due_ns, 0);
    as_progress_add(&p, 10);
    as_progress_end(&p);
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), -1);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draws_and_erases),
        cmocka_unit_test(test_says_what_is_left),
        cmocka_unit_test(test_unknown_total_and_narrow_terminal),
        cmocka_unit_test(test_short_work_shows_nothing),
        cmocka_unit_test(test_silent_off_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
