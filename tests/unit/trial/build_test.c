/* SPDX-License-Identifier: Apache-2.0 */
/* Builds of a small program: options for all files, for some alone, and guided by a profile. */
#include "place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trial/build.h"
#include "trial/tables.h"

static const char *const program[] = {"./p", NULL};

static void put(const char *directory, const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* p writes for each of its three files whether it has been compiled with -DHOT=1. */
static void make_source(const char *directory)
{
    char path[400];

    snprintf(path, sizeof path, "%s/sub", directory);
    assert_int_equal(mkdir(path, 0755), 0);
    put(directory, "one.c", "int one(void) { return HOT + 0; }\n");
    put(directory, "sub/one.c", "int inner(void) { return HOT + 0; }\n");
    put(directory, "main.c",
        "#include <stdio.h>\n"
        "int one(void);\n"
        "int inner(void);\n"
        "int main(void)\n"
        "{\n"
        "    printf(\"%d%d%d\", one(), inner(), HOT + 0);\n"
        "    return 0;\n"
        "}\n");
}

static void open_build_tree(struct as_build_tree *build_tree, const struct place *place,
                            const char *command)
{
    const struct as_build_tree_options options = {
        .command = command, .source = place->dir, .program = program, .jobs = 2};

    make_source(place->dir);
    fine(as_build_tree_open(build_tree, &options, err));
    /* The program lies in the source directory, wherever the test runs. */
    snprintf(build_tree->here, sizeof build_tree->here, "%.4000s", build_tree->source);
}

static void build_all(struct as_build_tree *build_tree, struct as_build *build, size_t n)
{
    const struct as_build_watch watch = {.end_ns = INT64_MAX, .train_s = 60};

    fine(as_build_tree_build(build_tree, build, n, &watch, err));
    for (size_t i = 0; i < n; i++)
        if (build[i].state != AS_BUILD_DONE)
            fail_msg("%s: %s", build[i].plan.name, build[i].error);
}

static void assert_writes(const struct as_build *build, const char *text)
{
    char command[PATH_MAX + 8], got[16] = "";

    snprintf(command, sizeof command, "%s/p", build->directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(got, sizeof got, pipe));
    assert_int_equal(pclose(pipe), 0);
    assert_string_equal(got, text);
}

static void test_options_for_some_files(void **state)
{
    struct as_build_tree build_tree;
    const char *const below[] = {"sub/one.c", NULL}, *const two[] = {"main.c", "sub/one.c", NULL};
    struct as_build build[] = {{.plan = {.name = "all", .flags = "-DHOT=1"}},
                               {.plan = {.name = "below", .flags = "-DHOT=1", .only = below}},
                               {.plan = {.name = "two", .flags = "-DHOT=1", .only = two}}};
    /* A relative path, an absolute one, and a compiler that is found by a shell of its own. */
    open_build_tree(&build_tree, *state,
                    "D='-UHOT -DHOT=0 {flags}'; gcc $D -c one.c -o a.o && gcc $D -c "
                    "\"$PWD/sub/one.c\" -o b.o && "
                    "sh -c \"exec gcc $D -c ./main.c -o c.o\" && gcc a.o b.o c.o -o p");
    build_all(&build_tree, build, 3);
    assert_writes(&build[0], "111");
    assert_writes(&build[1], "010");
    assert_writes(&build[2], "011");
    assert_true(build[1].digest != build[2].digest);
    as_build_tree_close(&build_tree);
}

static const struct as_try_row *try_of(const char *name)
{
    for (size_t i = 0; i < as_trial_try_n; i++)
        if (strcmp(as_trial_try[i].name, name) == 0)
            return &as_trial_try[i];
    fail_msg("no %s", name);
    return NULL;
}

static void build_guided(const struct place *place, const char *rule, const char *command)
{
    const struct as_try_row *row = try_of(rule);
    struct as_build_tree build_tree;
    struct as_build build = {
        .plan = {.name = rule, .flags = row->flags, .train = row->train, .merge = row->merge}};

    open_build_tree(&build_tree, place, command);
    build_all(&build_tree, &build, 1);
    assert_writes(&build, "000");
    as_build_tree_close(&build_tree);
}

static void test_profile_of_gcc(void **state)
{
    build_guided(*state, "profile_guided", "gcc -DHOT=0 -Werror {flags} *.c sub/one.c -o p");
}

static void test_profile_of_clang(void **state)
{
    if (system("clang --version >/dev/null 2>&1 && echo 'int main(void){return 0;}' | "
               "clang -fprofile-generate -x c - -o /dev/null 2>/dev/null && "
               "$(clang -print-prog-name=llvm-profdata) merge --version >/dev/null 2>&1") != 0)
        skip();
    build_guided(*state, "profile_guided_clang",
                 "clang -DHOT=0 -Werror {flags} *.c sub/one.c -o p");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        place_test(test_options_for_some_files),
        place_test(test_profile_of_gcc),
        place_test(test_profile_of_clang),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
