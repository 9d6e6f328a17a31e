/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectors of the test beside the built-in ones, on one launch. Checks the order of calls, their
 * records, and the start of the program. If one is refused, another stands in for it.
 */
#include "place.h"

#include "base/error.h"
#include "profile/collector.h"
#include "profile/profile.h"
#include "profile/record.h"

/* Calls of the collectors, and the number of records that one received. */
static struct {
    char asked[256];
    unsigned pump_n, met_n;
    struct as_error why;
} seen;

static int ask(const char *what)
{
    if (strlen(seen.asked) + strlen(what) < sizeof seen.asked)
        strcat(seen.asked, what);
    return 0;
}

/* ---- One that sees all ---------------------------------------------------------------------- */

static int watch_prepare(struct as_collector *it, const struct as_collection *all,
                         const struct as_error *why, struct as_error *err)
{
    static const char *const words[] = {"WATCHED=yes", NULL};
    (void)all;
    (void)why;
    (void)err;
    it->environment = words;
    return ask("prepare ");
}

static int watch_open(struct as_collector *it, const struct as_collection *all,
                      struct as_error *err)
{
    (void)it;
    (void)err;
    assert_true(as_launch_pid(all->launch) > 0);
    return ask("open ");
}

static int watch_start(struct as_collector *it, const struct as_collection *all,
                       struct as_error *err)
{
    (void)it;
    (void)err;
    assert_non_null(all->recorder);
    return ask("start ");
}

static int watch_pump(struct as_collector *it, struct as_collection *all, bool last,
                      struct as_error *err)
{
    (void)it;
    (void)all;
    (void)err;
    seen.pump_n++;
    return last ? ask("last ") : 0;
}

static int watch_meet(struct as_collector *it, const struct as_collection *all,
                      const struct as_sample_record *record, struct as_error *err)
{
    (void)it;
    (void)all;
    (void)record;
    (void)err;
    seen.met_n++;
    return 0;
}

static int watch_finish(struct as_collector *it, const struct as_collection *all,
                        struct as_error *err)
{
    (void)it;
    (void)err;
    assert_true(all->end_ns >= all->begin_ns);
    return ask("finish ");
}

static int watch_facts(struct as_collector *it, const struct as_collection *all,
                       struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    const struct as_metric metric = {
        .name = "watched_n", .unit = "1", .meaning = "Records.", .formula = "counted"};
    const struct as_subject run = {.kind = AS_OBJECT_RUN, .object_id = run_id, .run_id = run_id};
    int64_t id;
    (void)it;
    (void)all;
    AS_TRY(as_experiment_metric(experiment, &metric, &id, err));
    AS_TRY(as_experiment_value(experiment, id, &run, as_value_exact(seen.met_n, 1), err));
    return ask("facts ");
}

static void watch_close(struct as_collector *it)
{
    (void)it;
    ask("close ");
}

static const struct as_collector_kind watch = {.name = "watch",
                                               .prepare = watch_prepare,
                                               .open = watch_open,
                                               .start = watch_start,
                                               .pump = watch_pump,
                                               .meet = watch_meet,
                                               .finish = watch_finish,
                                               .facts = watch_facts,
                                               .close = watch_close};

/* ---- One that is refused, and one that stands in -------------------------------------------- */

static int refused_open(struct as_collector *it, const struct as_collection *all,
                        struct as_error *err)
{
    (void)it;
    (void)all;
    ask("refused ");
    return as_error_set(err, AS_ERR_PERMISSION, "not here");
}

static const struct as_collector_kind refused_kind = {.name = "refused", .open = refused_open};

static int instead_prepare(struct as_collector *it, const struct as_collection *all,
                           const struct as_error *why, struct as_error *err)
{
    (void)it;
    (void)all;
    (void)err;
    seen.why = why ? *why : (struct as_error){0};
    return ask("instead ");
}

static bool never(const struct as_collection *all)
{
    (void)all;
    return false;
}

static const struct as_collector_kind instead = {
    .name = "instead", .instead_of = "refused", .is_wanted = never, .prepare = instead_prepare};

/* ---- Runs ---------------------------------------------------------------------------------- */

static const char *const command[] = {"/bin/sh", "-c", "test \"$WATCHED\" = yes", NULL};

/* Runs the command with these sources; -1 when the kinds of the house cannot sample here. */
static int run_with(struct as_experiment *e, const struct as_collector_kind *const *kinds,
                    struct as_profile_result *result, struct as_error *err)
{
    const struct as_profile_request request = {.command = command};
    memset(&seen, 0, sizeof seen);
    return as_profile_run_with(kinds, e, &request, result, err);
}

/* Those of the house, and these. */
static void kinds_with(const struct as_collector_kind *const *more,
                       const struct as_collector_kind **out)
{
    for (size_t i = 0; as_collector_kinds[i]; i++)
        *out++ = as_collector_kinds[i];
    while ((*out++ = *more++))
        ;
}

static void test_beside(void **state)
{
    const struct place *place = *state;
    const struct as_collector_kind *kinds[AS_COLLECTORS_MOST + 1];
    struct as_profile_result result;
    struct as_error why = {0};
    struct as_experiment *e;
    kinds_with((const struct as_collector_kind *const[]){&watch, NULL}, kinds);
    fine(as_experiment_create(place->exp, 0, &e, err));
    const int rc = run_with(e, kinds, &result, &why);
    if (rc == AS_ERR_PERMISSION || rc == AS_ERR_UNSUPPORTED) {
        print_message("# skipped: %s\n", why.text);
    } else {
        if (rc < 0)
            fail_msg("%s", why.text);
        assert_int_equal(result.exit_code, 0); /* the variable was there */
        /* If events are refused, another child takes the place of the first. */
        assert_true(has(seen.asked, "prepare open start last finish facts close "));
        assert_true(seen.pump_n >= 1 && seen.met_n > 0);
        assert_int_equal(integer_of(e, "SELECT value FROM v_values WHERE metric = 'watched_n'"),
                         seen.met_n);
    }
    fine(as_experiment_close(&e, err));
}

static int count_of(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

/* The refused one is replaced, and told why; without one the refusal is the end, before any run. */
static void test_stand_in(void **state)
{
    const struct place *place = *state;
    const struct as_collector_kind *const alone[] = {&watch, &refused_kind, NULL};
    const struct as_collector_kind *with[AS_COLLECTORS_MOST + 1];
    struct as_profile_result result;
    struct as_error why = {0};
    struct as_experiment *e;
    fine(as_experiment_create(place->exp, 0, &e, err));
    refused(run_with(e, alone, &result, err), PERMISSION, "not here");
    assert_int_equal(result.run_id, 0);
    assert_string_equal(seen.asked, "prepare open refused close ");
    assert_int_equal(integer_of(e, "SELECT count(*) FROM run"), 0);
    kinds_with((const struct as_collector_kind *const[]){&refused_kind, &watch, &instead, NULL},
               with);
    const int rc = run_with(e, with, &result, &why);
    if ((rc == AS_ERR_PERMISSION || rc == AS_ERR_UNSUPPORTED) && !has(why.text, "not here")) {
        print_message("# skipped: %s\n", why.text);
    } else {
        if (rc < 0)
            fail_msg("%s", why.text);
        assert_string_equal(seen.why.text, "not here");
        assert_int_equal(count_of(seen.asked, "refused "), 1);
        assert_true(has(seen.asked, "instead "));
        assert_true(has(seen.asked, "open start last finish facts close "));
        assert_int_equal(result.exit_code, 0);
    }
    fine(as_experiment_close(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {place_test(test_beside), place_test(test_stand_in)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
