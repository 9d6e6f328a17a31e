/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are replaced whole or stay as they were. */
#include "base/outfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "directory.h"
#include "unit.h"

static struct as_error err;

static void make_file(const char *name, const char *text, mode_t mode)
{
    const int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void expect_file(const char *name, const char *text)
{
    char got[64] = "";
    const int fd = open(path_of(name), O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, got, sizeof got - 1) >= 0);
    close(fd);
    assert_string_equal(got, text);
}

static unsigned entries(void)
{
    unsigned n = 0;
    DIR *dir = opendir(directory);
    for (const struct dirent *it; (it = readdir(dir));)
        n += it->d_name[0] != '.';
    closedir(dir);
    return n;
}

static int write_as(const char *name, unsigned bits, const char *text)
{
    return as_outfile_write(path_of(name), bits, text, strlen(text), &err);
}

static void test_new(void **state)
{
    struct stat st;
    (void)state;
    umask(022);
    assert_int_equal(write_as("new", 0, "one"), 0);
    expect_file("new", "one");
    assert_int_equal(stat(path_of("new"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_int_equal(write_as("private", AS_OUTFILE_PRIVATE | AS_OUTFILE_NAMED, "two"), 0);
    assert_int_equal(stat(path_of("private"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(entries(), 2);
}

static void test_existing(void **state)
{
    struct stat st;
    (void)state;
    make_file("old", "old", 0640);
    assert_int_equal(write_as("old", 0, "new"), AS_ERR_USAGE);
    assert_true(has(err.text, "/old: exists; use another name, or replace it with --force"));
    expect_file("old", "old");
    assert_int_equal(write_as("old", AS_OUTFILE_REPLACE, "new"), 0);
    expect_file("old", "new");
    assert_int_equal(stat(path_of("old"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    make_file("empty", "", 0600); /* as mktemp makes them: nothing is lost */
    assert_int_equal(write_as("empty", 0, "new"), 0);
    expect_file("empty", "new");
    assert_int_equal(entries(), 2);
}

/* The writer failed: with and without a name nothing stays, and the old file is the old one. */
static void test_failure(void **state)
{
    struct as_outfile it;
    (void)state;
    make_file("old", "old", 0600);
    for (unsigned named = 0; named < 2; named++) {
        const unsigned bits = AS_OUTFILE_REPLACE | (named ? AS_OUTFILE_NAMED : 0);
        assert_int_equal(as_outfile_begin(&it, path_of("old"), bits, &err), 0);
        assert_int_equal(write(it.fd, "x", 1), 1);
        expect_file("old", "old");
        assert_int_equal(as_outfile_end(&it, AS_ERR_CORRUPT, &err), AS_ERR_CORRUPT);
        expect_file("old", "old");
        assert_int_equal(entries(), 1);
    }
    memset(&it, 0, sizeof it);
    assert_int_equal(as_outfile_end(&it, 0, &err), 0);
}

/* A file that comes into being meanwhile is not replaced. */
static void test_race(void **state)
{
    struct as_outfile it;
    (void)state;
    assert_int_equal(as_outfile_begin(&it, path_of("raced"), 0, &err), 0);
    make_file("raced", "theirs", 0600);
    assert_int_equal(as_outfile_end(&it, 0, &err), AS_ERR_IO);
    assert_true(has(err.text, "/raced: cannot be written: File exists"));
    expect_file("raced", "theirs");
    assert_int_equal(entries(), 1);
}

static void test_links(void **state)
{
    struct stat st;
    (void)state;
    make_file("target", "old", 0600);
    assert_int_equal(symlink("target", path_of("link")), 0);
    assert_int_equal(symlink("later", path_of("dangling")), 0);
    assert_int_equal(symlink("ring", path_of("ring")), 0);
    assert_int_equal(write_as("link", 0, "new"), AS_ERR_USAGE);
    assert_int_equal(write_as("link", AS_OUTFILE_REPLACE, "new"), 0);
    expect_file("target", "new");
    assert_int_equal(lstat(path_of("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(write_as("dangling", 0, "new"), 0);
    expect_file("later", "new");
    assert_int_equal(write_as("ring", 0, "new"), AS_ERR_IO);
    /* In a directory of others the link is what is replaced. */
    assert_int_equal(write_as("link", AS_OUTFILE_REPLACE | AS_OUTFILE_FOREIGN, "other"), 0);
    assert_int_equal(lstat(path_of("link"), &st), 0);
    assert_true(S_ISREG(st.st_mode));
    expect_file("target", "new");
}

static void test_devices(void **state)
{
    struct as_outfile it;
    (void)state;
    assert_int_equal(as_outfile_begin(&it, "/dev/null", 0, &err), 0);
    assert_true(as_outfile_is_device(&it));
    assert_int_equal(as_outfile_end(&it, 0, &err), 0);
    assert_int_equal(as_outfile_write("/dev/full", 0, "x", 1, &err), AS_ERR_IO);
    assert_true(has(err.text, "/dev/full: cannot be written: No space left on device; free some "));
    assert_int_equal(as_outfile_check(directory, 0, &err), AS_ERR_USAGE);
    assert_true(has(err.text, ": is a directory; use a file name"));
    assert_int_equal(write_as("none/x", 0, "x"), AS_ERR_IO);
    assert_true(has(err.text, "none/x: cannot be written: No such file or directory; create its "));
    assert_int_equal(entries(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_new, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_existing, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_failure, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_race, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_links, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_devices, make_place, remove_place),
    };
    return cmocka_run_group_tests_name("base/outfile", tests, NULL, NULL);
}
