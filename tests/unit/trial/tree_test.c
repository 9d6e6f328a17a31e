/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of directories: what stays behind, where links lead, whether a directory has changed. */
#include "place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/tree.h"
#include "trial/tree.h"

static void put(const char *directory, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void make(const char *directory, const char *name)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static bool holds_file(const char *directory, const char *name)
{
    char path[400];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return lstat(path, &st) == 0;
}

/* A source directory after a build. */
static void make_source(const struct place *place, char *from, size_t size_b)
{
    char path[300], target[300];
    snprintf(from, size_b, "%s/from", place->dir);
    make(place->dir, "from");
    put(from, "main.c", "int main;\n");
    put(from, "main.o", "object");
    put(from, "solver", "program");
    make(from, "data");
    put(from, "data/in.txt", "1 2 3\n");
    make(from, "build");
    put(from, "build/CMakeCache.txt", "");
    put(from, "build/x.c", "");
    make(from, "run.assay");
    put(from, "run.assay/experiment.db", "");
    snprintf(path, sizeof path, "%s/inside", from);
    snprintf(target, sizeof target, "%s/data/in.txt", from);
    assert_int_equal(symlink(target, path), 0);
    snprintf(path, sizeof path, "%s/relative", from);
    assert_int_equal(symlink("data", path), 0);
}

static void test_copies(void **state)
{
    const struct place *place = *state;
    char from[200], to[200], left[300], link[300];
    make_source(place, from, sizeof from);
    snprintf(left, sizeof left, "%s/solver", from);
    const char *const leave[] = {left, NULL};
    const struct as_tree_copy sources = {.from = from, .sources = true, .leave = leave};
    snprintf(to, sizeof to, "%s/to", place->dir);
    fine(as_tree_copy(&sources, to, err));
    assert_true(holds_file(to, "main.c") && holds_file(to, "data/in.txt") &&
                holds_file(to, "relative"));
    assert_false(holds_file(to, "main.o") || holds_file(to, "solver") || holds_file(to, "build") ||
                 holds_file(to, "run.assay"));
    snprintf(left, sizeof left, "%s/inside", to);
    const ssize_t n = readlink(left, link, sizeof link - 1);
    assert_true(n > 0);
    link[n] = '\0';
    snprintf(left, sizeof left, "%s/data/in.txt", to);
    assert_string_equal(link, left);
    as_tree_remove(AT_FDCWD, to);
    assert_false(holds_file(place->dir, "to"));
    /* All of it, but for experiments. */
    const struct as_tree_copy all = {.from = from};
    fine(as_tree_copy(&all, to, err));
    assert_true(holds_file(to, "main.o") && holds_file(to, "solver") &&
                holds_file(to, "build/x.c"));
    assert_false(holds_file(to, "run.assay"));
    refused(as_tree_copy(&all, to, err), IO, "cannot be copied to");
}

static void test_changes(void **state)
{
    const struct place *place = *state;
    char from[200];
    struct as_tree_size before, after;
    make_source(place, from, sizeof from);
    const struct as_tree_copy sources = {.from = from, .sources = true};
    fine(as_tree_measure(&sources, &before, err));
    assert_int_equal(before.file_n, 5); /* main.c, solver, in.txt, two links */
    put(from, "main.o", "another object");
    fine(as_tree_measure(&sources, &after, err));
    assert_true(before.digest == after.digest);
    put(from, "main.c", "int main2;\n");
    fine(as_tree_measure(&sources, &after, err));
    assert_true(before.digest != after.digest);
    const struct as_tree_copy none = {.from = "/no/such/place"};
    refused(as_tree_measure(&none, &after, err), NOT_FOUND, "/no/such/place");
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_copies), place_test(test_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
