/* SPDX-License-Identifier: Apache-2.0 */
/* Readable and unreadable inputs. No read blocks: a FIFO without a writer, devices, links. */
#include "base/infile.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/untrusted_open.h"
#include "directory.h"
#include "unit.h"

static struct as_error err;

static void make_file(const char *name, const char *text, size_t n)
{
    const int fd = open(path_of(name), O_WRONLY | O_CREAT, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
}

static int read_as(const char *path, size_t limit_b, unsigned bits, const char *want)
{
    char *text = NULL;
    size_t n = 0;
    const int rc = as_infile_read_text(path, "the list", limit_b, bits, &text, &n, &err);
    if (rc == 0) {
        assert_int_equal(n, strlen(want));
        assert_string_equal(text, want);
        as_free(text);
    }
    return rc;
}

static void test_files(void **state)
{
    (void)state;
    make_file("three", "one", 3);
    make_file("zero", "a\0b", 3);
    assert_int_equal(read_as(path_of("three"), 3, 0, "one"), 0);
    assert_int_equal(read_as(path_of("three"), 2, 0, ""), AS_ERR_UNSUPPORTED);
    assert_true(has(err.text, "three: the list is larger than 2 bytes; check the path"));
    assert_int_equal(read_as(path_of("none"), 3, 0, ""), AS_ERR_NOT_FOUND);
    assert_true(has(err.text, "none: the list is missing: No such file or directory; check "));
    assert_int_equal(read_as(path_of("zero"), 9, 0, ""), AS_ERR_CORRUPT);
    assert_int_equal(as_error_exit_status(AS_ERR_UNSUPPORTED), 2);
}

static void test_not_regular(void **state)
{
    (void)state;
    alarm(60); /* a wait for a writer would not end */
    assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
    for (unsigned bits = 0; bits <= AS_INFILE_PIPE; bits++) {
        assert_int_equal(read_as(path_of("fifo"), 9, bits, ""), AS_ERR_NOT_REGULAR);
        assert_true(has(err.text, "fifo: the list is not a regular file; use a regular file"));
        assert_int_equal(read_as("/dev/zero", 9, bits, ""), AS_ERR_NOT_REGULAR);
        assert_int_equal(read_as(directory, 9, bits, ""), AS_ERR_NOT_REGULAR);
    }
    alarm(0);
}

/* The pipe of <(command), by its name. */
static void test_pipe(void **state)
{
    char name[32];
    int ends[2];
    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], "text", 4), 4);
        close(ends[1]);
        snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
        assert_int_equal(read_as(name, 4 - round, AS_INFILE_PIPE, "text"),
                         round ? AS_ERR_UNSUPPORTED : 0);
        assert_int_equal(read_as(name, 4, 0, ""), AS_ERR_NOT_REGULAR);
        close(ends[0]);
    }
}

static void test_lines(void **state)
{
    char text[] = "one\r\n\ntwo", *rest = text, end[] = "x\n";
    (void)state;
    assert_string_equal(as_infile_line(&rest), "one");
    assert_string_equal(as_infile_line(&rest), "");
    assert_string_equal(as_infile_line(&rest), "two");
    assert_null(as_infile_line(&rest));
    assert_null(as_infile_line(&rest));
    rest = end;
    assert_string_equal(as_infile_line(&rest), "x");
    assert_null(as_infile_line(&rest));
}

static int open_below(const char *below)
{
    const int fd = as_foreign_open_below(directory, below, NULL);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? 0 : errno;
}

static void test_below(void **state)
{
    (void)state;
    assert_int_equal(mkdir(path_of("in"), 0700), 0);
    assert_int_equal(mkdir(path_of("out"), 0700), 0);
    make_file("in/file", "x", 1);
    make_file("out/file", "x", 1);
    assert_int_equal(symlink("../out", path_of("in/link")), 0);
    assert_int_equal(symlink("../out/file", path_of("in/name")), 0);
    assert_int_equal(open_below("in/file"), 0);
    assert_int_equal(open_below("in/name"), ELOOP);
    assert_int_equal(open_below("in/link/file"), ELOOP);
    assert_int_equal(open_below("in/../out/file"), ELOOP);
    assert_int_equal(open_below("in/none"), ENOENT);
    assert_int_equal(open_below("none/file"), ENOENT);
    assert_int_equal(open_below("in"), EMEDIUMTYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_not_regular, make_place, remove_place),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_lines),
        cmocka_unit_test_setup_teardown(test_below, make_place, remove_place),
    };
    return cmocka_run_group_tests_name("base/infile", tests, NULL, NULL);
}
