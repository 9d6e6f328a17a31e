/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets of the command line and the environment: which values are replaced, and in which rows. */
#include "place.h"

#include "experiment/secrets.h"

static void expect_command(const char *text, const char *want)
{
    struct as_str out = {0};
    as_secrets_command(&out, text);
    assert_string_equal(as_str_z(&out), want);
    as_str_fini(&out);
}

static void expect_argv(const char *json, const char *want)
{
    struct as_str out = {0};
    assert_true(as_secrets_argv(&out, json));
    assert_string_equal(as_str_z(&out), want);
    as_str_fini(&out);
}

static void test_names(void **state)
{
    static const char *const secret[] = {"password",  "--password", "API_TOKEN",   "--apiKey",
                                         "DB_PASSWD", "aws.secret", "credentials", "ssh-key"};
    static const char *const plain[] = {"path",      "--max-tokens",  "keyframe", "--key-size",
                                        "tokenizer", "OMP_PROC_BIND", "-",        ""};
    (void)state;
    for (size_t i = 0; i < sizeof secret / sizeof *secret; i++)
        assert_true(as_secrets_is_name(as_view_of(secret[i])));
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_false(as_secrets_is_name(as_view_of(plain[i])));
}

static void test_commands(void **state)
{
    (void)state;
    expect_command("./p --password=x y", "./p --password=<redacted> y");
    expect_command("./p --password x y", "./p --password <redacted> y");
    expect_command("./p --password 'x y' z", "./p --password '<redacted>' z");
    expect_command("./p --password --verbose", "./p --password --verbose");
    expect_command("env API_TOKEN=x OMP_NUM_THREADS=4 cmd",
                   "env API_TOKEN=<redacted> OMP_NUM_THREADS=4 cmd");
    expect_command("mpirun -x API_TOKEN=x -x LANG -n 2 ./p",
                   "mpirun -x API_TOKEN=<redacted> -x LANG -n 2 ./p");
    expect_command("mpiexec -genv API_TOKEN x ./p", "mpiexec -genv API_TOKEN <redacted> ./p");
    expect_command("srun --export=ALL,API_TOKEN=x,B=2 ./p",
                   "srun --export=ALL,API_TOKEN=<redacted> ./p");
    expect_command("curl 'http://h/?a=1&token=x'", "curl 'http://h/?a=1&token=<redacted>'");
    expect_command("sh -c 'API_TOKEN=x ./p --password=y z'",
                   "sh -c 'API_TOKEN=<redacted> ./p --password=<redacted> z'");
    expect_command("env 'API_TOKEN=two words' ./p", "env 'API_TOKEN=<redacted>' ./p");
    expect_command("env API_TOKEN='two words' ./p", "env API_TOKEN=<redacted> ./p");
    expect_command("./p token password", "./p token password");
    expect_command("./p --key=", "./p --key=");
    expect_command("./p 'open", "./p 'open");
    expect_command("", "");
}

static void test_words(void **state)
{
    struct as_str out = {0};
    static const char words[] = "env\0API_TOKEN=a b\0./p\0--password\0x";
    (void)state;
    expect_argv("[\"./p\",\"--password\",\"x y\",\"z\"]",
                "[\"./p\",\"--password\",\"<redacted>\",\"z\"]");
    expect_argv("[\"sh\",\"-c\",\"KEY=x ./p\"]", "[\"sh\",\"-c\",\"KEY=<redacted> ./p\"]");
    expect_argv("[\"./p\", \"-x\", \"\\u00e9\"]", "[\"./p\",\"-x\",\"\xc3\xa9\"]");
    assert_false(as_secrets_argv(&out, "[1]"));
    assert_false(as_secrets_argv(&out, "./p"));
    as_secrets_words(&out, words, sizeof words - 1);
    assert_string_equal(as_str_z(&out), "env API_TOKEN=<redacted> ./p --password <redacted>");
    as_str_fini(&out);
}

static void add_rows(struct as_experiment *e, int64_t *run_id)
{
    const struct as_row_run run = {.kind = "profile",
                                   .command = "./p --password=x",
                                   .argv = "[\"./p\",\"--password=x\"]",
                                   .state = "complete"};
    fine(as_experiment_add_run(e, &run, run_id, err));
    const struct as_row_run_environment variable = {
        .run_id = *run_id, .name = "MPI_TOKEN", .value = "x"};
    fine(as_experiment_add_run_environment(e, &variable, err));
    const struct as_row_run_setting setting = {
        .run_id = *run_id, .name = "env:API_KEY", .value = "x"};
    fine(as_experiment_add_run_setting(e, &setting, err));
    const struct as_row_process process = {.run_id = *run_id, .command = "./p --token x"};
    fine(as_experiment_add_process(e, &process, NULL, err));
}

#define ROWS                                                                                       \
    "SELECT r.command, r.argv, e.value, s.value, p.command FROM run r JOIN run_environment e"      \
    " USING (run_id) JOIN run_setting s USING (run_id) JOIN process p USING (run_id)"              \
    " ORDER BY r.run_id DESC"

static void test_rows(void **state)
{
    struct place *place = *state;
    struct as_experiment *e;
    struct stat st;
    int64_t run_id;
    fine(as_experiment_create(place->exp, 0, &e, err));
    add_rows(e, &run_id);
    expect_row(e, ROWS,
               "./p --password=<redacted> [\"./p\",\"--password=<redacted>\"] <redacted>"
               " <redacted> ./p --token <redacted>");
    as_secrets_keep(true);
    add_rows(e, &run_id);
    as_secrets_keep(false);
    expect_row(e, ROWS, "./p --password=x [\"./p\",\"--password=x\"] x x ./p --token x");
    fine(as_experiment_close(&e, err));
    assert_int_equal(stat(place->exp, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
}

static void test_shared(void **state)
{
    struct place *place = *state;
    struct as_experiment *e;
    struct stat st;
    const mode_t before = umask(027);
    as_experiment_share(true);
    fine(as_experiment_create(place->exp, 0, &e, err));
    as_experiment_share(false);
    umask(before);
    fine(as_experiment_close(&e, err));
    assert_int_equal(stat(place->exp, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names), cmocka_unit_test(test_commands), cmocka_unit_test(test_words),
        place_test(test_rows),        place_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
