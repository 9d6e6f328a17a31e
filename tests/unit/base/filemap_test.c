/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are truncated while they are read, by several threads at once. */
#include "base/filemap.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/pool.h"
#include "directory.h"
#include "unit.h"

enum { LARGE_B = 3 << 20, PAGE_B = 4096 };

static struct as_error err;

static int make_file(const char *name, size_t size_b)
{
    const int fd = open(path_of(name), O_RDWR | O_CREAT, 0600);
    char *bytes = malloc(size_b);
    assert_true(fd >= 0 && bytes);
    memset(bytes, 'x', size_b);
    assert_int_equal(write(fd, bytes, size_b), (ssize_t)size_b);
    free(bytes);
    return fd;
}

static void test_small(void **state)
{
    struct as_filemap map;
    const int fd = make_file("small", 5000);
    (void)state;
    assert_int_equal(as_filemap_open(fd, 5000, "small", &map), 0);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_false(map.is_mapped);
    assert_int_equal(map.n, 5000);
    assert_int_equal(map.at[4999], 'x');
    as_filemap_close(&map);
    as_filemap_close(&map);
    /* It had shrunk before. */
    assert_int_equal(ftruncate(fd, 10), 0);
    assert_int_equal(as_filemap_open(fd, 5000, "small", &map), 0);
    assert_int_equal(map.n, 10);
    as_filemap_close(&map);
    assert_int_equal(as_filemap_open(fd, 0, "small", &map), 0);
    assert_null(map.at);
    as_filemap_close(&map);
    close(fd);
    assert_int_equal(as_filemap_check(&err), 0);
}

static void end_child(int number)
{
    _exit(number);
}

/* A fault of another mapping goes to the handler that was there before. */
static void expect_other_fault(void)
{
    const int fd = make_file("other", 2 * PAGE_B);
    const char *at = mmap(NULL, 2 * PAGE_B, PROT_READ, MAP_SHARED, fd, 0);
    int status;
    assert_true(at != MAP_FAILED);
    assert_int_equal(ftruncate(fd, 0), 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(*(const volatile char *)at);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), SIGBUS);
    munmap((void *)(uintptr_t)at, 2 * PAGE_B);
    close(fd);
}

/* Bytes that are neither of the file nor a zero in its place. */
static int look_at_pages(void *context, size_t from, size_t to, unsigned worker, struct as_error *e)
{
    const struct as_filemap *map = context;
    unsigned bad = 0;
    (void)worker;
    for (size_t page = from; page < to; page++)
        bad += map->at[page * PAGE_B] != (page < 2 ? 'x' : 0);
    return bad ? as_error_set(e, AS_ERR_INTERNAL, "%u bytes are wrong", bad) : 0;
}

/* Whole pages come from the file again; those at both ends and a copy stay. */
static void test_drop(void **state)
{
    struct as_filemap map;
    const int fd = make_file("dropped", LARGE_B);
    (void)state;
    assert_int_equal(as_filemap_open(fd, LARGE_B, path_of("dropped"), &map), 0);
    assert_true(map.is_mapped);
    for (size_t page = 0; page < 4; page++)
        map.at[page * PAGE_B + 1] = 'y';
    as_filemap_drop(&map, 1, 3 * PAGE_B + 5);
    assert_int_equal(map.at[1], 'y');
    assert_int_equal(map.at[PAGE_B + 1], 'x');
    assert_int_equal(map.at[2 * PAGE_B + 1], 'x');
    assert_int_equal(map.at[3 * PAGE_B + 1], 'y');
    as_filemap_drop(&map, 0, SIZE_MAX);
    assert_int_equal(map.at[1], 'x');
    as_filemap_drop(&map, LARGE_B, 0);
    as_filemap_close(&map);
    assert_int_equal(as_filemap_open(fd, 5000, "copy", &map), 0);
    map.at[1] = 'y';
    as_filemap_drop(&map, 0, 5000);
    assert_int_equal(map.at[1], 'y');
    as_filemap_close(&map);
    as_filemap_drop(&map, 0, 1);
    close(fd);
}

static void test_truncated(void **state)
{
    struct as_filemap map, again;
    struct as_pool *pool;
    const int fd = make_file("large", LARGE_B);
    (void)state;
    signal(SIGBUS, end_child); /* the guard comes before it */
    assert_int_equal(as_filemap_open(fd, LARGE_B, path_of("large"), &map), 0);
    assert_true(map.is_mapped);
    expect_other_fault();
    assert_int_equal(map.at[LARGE_B - 1], 'x');
    assert_int_equal(as_filemap_check(&err), 0);
    assert_int_equal(ftruncate(fd, 2 * PAGE_B), 0);
    assert_int_equal(as_pool_new(&pool, 8, &err), 0);
    assert_int_equal(as_pool_for(pool, LARGE_B / PAGE_B, 1, look_at_pages, &map, &err), 0);
    as_pool_free(&pool);
    assert_int_equal(map.at[0], 'x');
    assert_int_equal(map.at[2 * PAGE_B], 0);
    assert_int_equal(map.at[LARGE_B - 1], 0);
    as_filemap_close(&map);
    assert_int_equal(as_filemap_check(&err), AS_ERR_TRUNCATED);
    assert_true(has(err.text, path_of("large")));
    assert_true(has(err.text, ": was truncated while assay read it: the results are wrong; "));
    /* The name stays while others come and go. */
    assert_int_equal(ftruncate(fd, LARGE_B), 0);
    assert_int_equal(as_filemap_open(fd, LARGE_B, "again", &again), 0);
    assert_int_equal(again.at[LARGE_B - 1], 0);
    as_filemap_close(&again);
    assert_int_equal(as_filemap_check(&err), AS_ERR_TRUNCATED);
    assert_true(has(err.text, path_of("large")));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_small, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_truncated, make_place,
                                        remove_place), /* no guard yet */
        cmocka_unit_test_setup_teardown(test_drop, make_place, remove_place),
    };
    return cmocka_run_group_tests_name("base/filemap", tests, NULL, NULL);
}
