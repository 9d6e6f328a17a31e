/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs plans of passes that the test defines. Checks the effect of a failing pass on others,
 * parallel passes, and the order of writing.
 */
#include "place.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "pipeline/pipeline.h"

/* A finding by the name of the pass: what it has written. */
static int write_finding(struct as_pass_job *job, const char *name, struct as_error *err)
{
    const struct as_finding it = {.of = {AS_OBJECT_RUN, job->run_id, job->run_id, 0},
                                  .level = AS_FINDING_HINT,
                                  .topic = "test",
                                  .text = name};
    int rc = as_experiment_begin(job->experiment, err);

    if (rc == 0)
        rc = as_experiment_finding(job->experiment, &it, err);
    return rc < 0 ? rc : as_experiment_commit(job->experiment, err);
}

#define WRITES(name)                                                                               \
    static int pass_##name(struct as_pass_job *job, struct as_error *err)                          \
    {                                                                                              \
        return write_finding(job, #name, err);                                                     \
    }
WRITES(first)
WRITES(second)
WRITES(third)
WRITES(fourth)

/* Fails in the middle of a batch. */
static int pass_fails(struct as_pass_job *job, struct as_error *err)
{
    const struct as_finding it = {.of = {AS_OBJECT_RUN, job->run_id, job->run_id, 0},
                                  .level = AS_FINDING_HINT,
                                  .topic = "test",
                                  .text = "half"};

    AS_TRY(as_experiment_begin(job->experiment, err));
    AS_TRY(as_experiment_finding(job->experiment, &it, err));
    return as_error_set(err, AS_ERR_CORRUPT, "model.txt: is damaged; restore a copy");
}

struct run_place {
    struct place *place;
    struct as_experiment *experiment;
    int64_t run_id;
};

static struct run_place opened(void **state)
{
    struct run_place it = {.place = *state};
    struct fixture f;

    fine(as_experiment_create(it.place->exp, 0, &it.experiment, err));
    fine(fixture_fill(it.experiment, &f, err));
    it.run_id = f.run;
    return it;
}

/* Runs the table on the fixture's run, and gives the findings in the order of writing. */
static int run_table(const struct run_place *it, const struct as_pass *pass, size_t n,
                     struct as_pipeline_result *result, struct as_error *err)
{
    const struct as_pipeline_request request = {.pass = pass, .pass_n = n};

    *result = (struct as_pipeline_result){0};
    return as_pipeline_again(it->experiment, it->run_id, &request, result, err);
}

#define FINDINGS                                                                                   \
    "SELECT group_concat(text, ' ') FROM (SELECT text FROM finding WHERE topic = 'test'"           \
    " ORDER BY finding_id)"

static const struct as_pass_result *result_of(const struct as_pipeline_result *result,
                                              const char *name)
{
    for (size_t i = 0; i < result->pass_n; i++)
        if (strcmp(result->pass[i].name, name) == 0)
            return &result->pass[i];
    fail_msg("no pass %s", name);
    return NULL;
}

static void test_failure(void **state)
{
    const struct run_place it = opened(state);
    const struct as_pass table[] = {
        {.name = "first", .needs = "samples", .makes = "a", .run = pass_first},
        {.name = "broken", .needs = "a", .makes = "b", .run = pass_fails},
        {.name = "second", .needs = "b", .makes = "c", .run = pass_second},
        {.name = "third", .needs = "a", .uses = "b c", .makes = "d", .run = pass_third},
        {.name = "fourth", .needs = "c d", .run = pass_fourth}};
    struct as_pipeline_result result;

    fine(run_table(&it, table, 5, &result, err));
    assert_int_equal(result.pass_n, 5);
    assert_int_equal(result_of(&result, "broken")->code, AS_ERR_CORRUPT);
    assert_string_equal(result_of(&result, "broken")->error.text,
                        "model.txt: is damaged; restore a copy");
    /* Passes that need it did not run, nor did passes that need those. A pass that only uses it
     * ran. */
    assert_string_equal(result_of(&result, "second")->missing, "b");
    assert_string_equal(result_of(&result, "fourth")->missing, "c");
    assert_string_equal(result_of(&result, "third")->missing, "");
    expect_row(it.experiment, FINDINGS, "first third");
    /* Each that worked has its costs noted. */
    expect_row(it.experiment,
               "SELECT group_concat(part, ', ') FROM (SELECT part FROM overhead WHERE part LIKE"
               " 'pass %' ORDER BY part)",
               "pass first, pass third");
    struct as_experiment *e = it.experiment;
    fine(as_experiment_close(&e, err));
}

/* When nothing comes of anything, the call has failed as the first did. */
static void test_nothing(void **state)
{
    const struct run_place it = opened(state);
    const struct as_pass table[] = {
        {.name = "broken", .needs = "samples", .makes = "b", .run = pass_fails},
        {.name = "second", .needs = "b", .run = pass_second}};
    const struct as_pass circle[] = {{.name = "a", .needs = "2", .makes = "1", .run = pass_first},
                                     {.name = "b", .needs = "1", .makes = "2", .run = pass_first}};
    struct as_pipeline_result result;

    refused(run_table(&it, table, 2, &result, err), CORRUPT, "model.txt: is damaged");
    refused(run_table(&it, circle, 2, &result, err), INTERNAL, "a, b wait");
    assert_int_equal(result.pass_n, 0);
    expect_row(it.experiment, "SELECT count(*) FROM finding WHERE topic = 'test'", "0");
    struct as_experiment *e = it.experiment;
    fine(as_experiment_close(&e, err));
}

/* ---- Side by side -------------------------------------------------------------------------- */

/* Two that compute at the same time meet here; alone, one gives up after minutes. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int there_n, most_n;
    bool writes; /* someone has the experiment */
} meeting = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int meet(void *context, struct as_error *err)
{
    struct timespec until;
    int late = 0;

    (void)context;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 300;
    pthread_mutex_lock(&meeting.lock);
    meeting.there_n++;
    pthread_cond_broadcast(&meeting.changed);
    while (meeting.there_n < 2 && !late)
        late = pthread_cond_timedwait(&meeting.changed, &meeting.lock, &until);
    pthread_mutex_unlock(&meeting.lock);
    return late ? as_error_set(err, AS_ERR_IO, "the other thread did not come") : 0;
}

/* Long enough for the other to write first, if it might. */
static int meet_and_dawdle(void *context, struct as_error *err)
{
    const int rc = meet(context, err);

    usleep(200000);
    return rc;
}

static int pass_slow(struct as_pass_job *job, struct as_error *err)
{
    AS_TRY(as_pass_aside(job, meet_and_dawdle, NULL, err));
    return write_finding(job, "slow", err);
}

static int pass_quick(struct as_pass_job *job, struct as_error *err)
{
    AS_TRY(as_pass_aside(job, meet, NULL, err));
    return write_finding(job, "quick", err);
}

static void test_side_by_side(void **state)
{
    const struct run_place it = opened(state);
    const struct as_pass table[] = {
        {.name = "slow", .needs = "samples", .makes = "a", .run = pass_slow},
        {.name = "quick", .needs = "samples", .makes = "b", .run = pass_quick},
        {.name = "third", .needs = "a b", .run = pass_third}};
    struct as_pipeline_result result;

    meeting.there_n = 0;
    fine(run_table(&it, table, 3, &result, err));
    for (size_t i = 0; i < 3; i++)
        if (result.pass[i].code < 0)
            fail_msg("%s: %s", result.pass[i].name, result.pass[i].error.text);
    assert_int_equal(meeting.there_n, 2); /* both computed at once, or neither had arrived */
    expect_row(it.experiment, FINDINGS, "slow quick third");
    struct as_experiment *e = it.experiment;
    fine(as_experiment_close(&e, err));
}

/* Only one at a time has the experiment: without aside passes go one after the other. */
static int pass_alone(struct as_pass_job *job, struct as_error *err)
{
    pthread_mutex_lock(&meeting.lock);
    const bool others = meeting.writes;
    meeting.writes = true;
    pthread_mutex_unlock(&meeting.lock);
    usleep(10000);
    const int rc = write_finding(job, others ? "together" : "alone", err);
    pthread_mutex_lock(&meeting.lock);
    meeting.writes = false;
    pthread_mutex_unlock(&meeting.lock);
    return rc;
}

static void test_turns(void **state)
{
    const struct run_place it = opened(state);
    struct as_pass table[8];
    struct as_pipeline_result result;

    for (size_t i = 0; i < 8; i++)
        table[i] = (struct as_pass){.name = "alone", .needs = "samples", .run = pass_alone};
    fine(run_table(&it, table, 8, &result, err));
    expect_row(it.experiment, FINDINGS, "alone alone alone alone alone alone alone alone");
    struct as_experiment *e = it.experiment;
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_failure), place_test(test_nothing),
                                       place_test(test_side_by_side), place_test(test_turns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
