/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is started again finds the state of its first start: input, directory, variables
 * and CPUs. Changes of this process in between do not matter. The varied settings do vary.
 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "campaign/campaign.h"

/* Prints the state that it finds: the rest of its input, its directory, the number of CPUs, two
 * variables. */
static const char script[] =
    "cat; pwd; nproc; echo \"${CAMPAIGN_A-none} ${CAMPAIGN_B-none}\"; echo err >&2";
static const char *const command[] = {"/bin/sh", "-c", script, NULL};

static char *output_of(const struct place *place, int64_t run_id, char *text, size_t size_b)
{
    char path[256];
    snprintf(path, sizeof path, "%s/run-%03d/output.txt", place->exp, (int)run_id);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, size_b - 1, f)] = 0;
    fclose(f);
    return text;
}

/* Standard input is this file, at its second line, until the end of the process. */
static void give_input(const struct place *place)
{
    char path[256];
    snprintf(path, sizeof path, "%s/input", place->dir);
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0 && write(fd, "taken\nleft\n", 11) == 11);
    assert_int_equal(lseek(fd, 6, SEEK_SET), 6);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
}

/* Narrows this process to one of its CPUs. */
static void narrow(void)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) {
            CPU_ZERO(&set);
            CPU_SET(i, &set);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof set, &set), 0);
}

static bool run_once(struct as_campaign *campaign, struct as_experiment *e,
                     const struct as_campaign_run *run, struct as_profile_result *result)
{
    struct as_error err = {0};
    const int rc = as_campaign_run(campaign, e, run, result, &err);
    if (rc == AS_ERR_PERMISSION || (rc == AS_ERR_UNSUPPORTED && !has(err.text, "pipe"))) {
        print_message("# skipped: %s\n", err.text);
        return false;
    }
    if (rc < 0)
        fail_msg("%s", err.text);
    assert_int_equal(result->exit_code, 0);
    return true;
}

static void test_again(void **state)
{
    const struct place *place = *state;
    const struct as_setting setting[] = {{"env:CAMPAIGN_A", "varied"}, {"size", "7"}};
    const struct as_setting variable[] = {{"env:CAMPAIGN_B", NULL}};
    struct as_campaign_run run = {.profile = {.command = command}, .keep_output = true};
    struct as_campaign *campaign;
    struct as_profile_result result;
    struct as_experiment *e;
    char first[1024], again[1024], varied[1024];
    fine(as_experiment_create(place->exp, 0, &e, err));
    give_input(place);
    setenv("CAMPAIGN_A", "given", 1);
    setenv("CAMPAIGN_B", "too", 1);
    fine(as_campaign_open(&campaign, err));
    if (run_once(campaign, e, &run, &result)) {
        const int64_t reference = result.run_id;
        output_of(place, reference, first, sizeof first);
        assert_true(has(first, "left\n") && !has(first, "taken"));
        assert_true(has(first, "given too\nerr\n"));
        assert_int_equal(chdir("/"), 0);
        narrow();
        run.profile.role = "variant";
        run.profile.reference_id = reference;
        run.profile.setting = setting;
        run.profile.setting_n = 2;
        run.variable = variable;
        run.variable_n = 1;
        assert_true(run_once(campaign, e, &run, &result));
        output_of(place, result.run_id, varied, sizeof varied);
        assert_true(has(varied, "varied none\nerr\n"));
        assert_string_equal(getenv("CAMPAIGN_A"), "given");
        assert_string_equal(getenv("CAMPAIGN_B"), "too");
        expect_row(
            e,
            "SELECT role, reference_id, (SELECT group_concat(name || '=' || value, ' ')"
            " FROM v_run_settings s WHERE s.run_id = r.run_id) FROM run r WHERE role NOTNULL",
            "variant 1 env:CAMPAIGN_A=varied size=7");
        char here[8];
        assert_non_null(getcwd(here, sizeof here));
        assert_string_equal(here, "/");
        run = (struct as_campaign_run){.profile = {.command = command}, .keep_output = true};
        assert_true(run_once(campaign, e, &run, &result));
        assert_string_equal(output_of(place, result.run_id, again, sizeof again), first);
    }
    as_campaign_close(&campaign);
    fine(as_experiment_close(&e, err));
}

/* A pipe can be read once: the first run may, and a second is refused before anything starts. */
static void test_pipe(void **state)
{
    const struct place *place = *state;
    const struct as_campaign_run run = {.profile = {.command = command}, .keep_output = true};
    struct as_campaign *campaign;
    struct as_profile_result result;
    struct as_experiment *e;
    char text[1024];
    int ends[2];
    fine(as_experiment_create(place->exp, 0, &e, err));
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "once\n", 5), 5);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    fine(as_campaign_open(&campaign, err));
    fine(as_campaign_check(campaign, 1, err));
    refused(as_campaign_check(campaign, 2, err), UNSUPPORTED, "a pipe can");
    if (run_once(campaign, e, &run, &result)) {
        assert_true(has(output_of(place, result.run_id, text, sizeof text), "once\n"));
        refused(as_campaign_run(campaign, e, &run, &result, err), UNSUPPORTED, "'< /dev/null'");
        assert_int_equal(result.run_id, 0);
        assert_int_equal(integer_of(e, "SELECT count(*) FROM run"), 1);
    }
    as_campaign_close(&campaign);
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_again), place_test(test_pipe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
