/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A campaign from start to end: build, first run, candidates, their builds, race, combinations of
 * gains, results. race.c decides what to measure, data/try/ what to try.
 */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/tree.h"
#include "trial/campaign.h"

#define BUDGET_S 300.0
/* A run that takes longer than this many times the first run, plus seconds, hangs. */
#define TOO_LONG_TIMES  5
#define TOO_LONG_MORE_S 2
/* Share of the budget left for combinations and hot files. */
#define LATE_SHARE 0.25
/* Max overrun of the budget by one run, as a share of the budget. */
#define BUDGET_OVER 0.08

const char *as_trial_word(enum as_trial_verdict verdict)
{
    switch (verdict) {
#define TRIAL_WORD(name, word)                                                                     \
    case AS_TRIAL_##name:                                                                          \
        return word;
        AS_TRIAL_VERDICT_LIST(TRIAL_WORD)
#undef TRIAL_WORD
    default:
        return "?";
    }
}

double as_trial_left(const struct as_trial *t)
{
    return t->budget_s - (double)(as_monotonic_ns() - t->begin_ns) / 1e9;
}

bool as_trial_stopped(void *context)
{
    const struct as_trial *t = context;
    return t->is_over || (t->request->stop && t->request->stop(t->request->context));
}

void as_trial_note(const struct as_trial *t, const char *fmt, ...)
{
    char line[1024];
    const struct as_trial_news news = {.kind = AS_TRIAL_NEWS_NOTE, .text = line};
    va_list args;

    if (!t->request->tell)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    t->request->tell(t->request->context, &news);
}

static void report_trial_run(const struct as_trial *t, const char *name)
{
    const size_t best = as_race_best(&t->race);
    const double time_left = as_race_time_left(&t->race);
    struct as_trial_news news = {.kind = AS_TRIAL_NEWS_RUN,
                                 .text = name,
                                 .number = t->race.round + 1,
                                 .left_s = fmax(0, fmin(as_trial_left(t), time_left)),
                                 .of_s = t->base_s};

    as_vec_foreach (&t->race.racer, it)
        news.all += it->is_in;
    as_vec_foreach (&t->candidate, it)
        if (best != AS_RACE_END && it->racer == (int)best)
            news.best = it->name;
    if (news.best)
        news.best_s = t->base_s * (1 - t->race.racer.at[best].ratio);
    if (t->request->tell)
        t->request->tell(t->request->context, &news);
}

/* ---- Unchanged program --------------------------------------------------------------------- */

static int run_base_first(struct as_trial *t, struct as_error *err)
{
    struct as_trial_outcome run;

    t->result->base_run_id = t->request->run_id;
    AS_TRY(as_trial_start(t, NULL, true, &run, err));
    if (!t->request->run_id)
        t->result->base_run_id = run.profile.run_id;
    if (t->is_over)
        return 0;
    if (!run.is_good)
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "%s: %s; nothing can be compared with it: fix the command, then try "
                            "again",
                            t->request->profile.command[0], as_trial_failure(t, &run));
    t->base_s = run.time_s;
    /* The first run includes the analysis of the code; later runs have less overhead. */
    t->base_cost_s = run.wall_s + (run.cost_s - run.wall_s) / 4;
    t->limit_s = TOO_LONG_TIMES * run.wall_s + TOO_LONG_MORE_S;
    AS_TRY(as_trial_learn(t, run.profile.run_id, err));
    return as_trial_check_base(t, run.profile.run_id, err);
}

/* ---- Candidates ---------------------------------------------------------------------------- */

static int join_race(struct as_trial *t, size_t from, struct as_error *err)
{
    for (size_t i = from; i < t->candidate.n; i++) {
        struct as_candidate *it = &t->candidate.at[i];
        size_t replaced;
        const char *const *words = t->base_command;

        if (it->verdict != AS_TRIAL_OPEN)
            continue;
        if (it->flags)
            words = as_build_tree_words(&t->build_tree, &it->build, t->request->profile.command,
                                        &replaced);
        it->command = words ? as_candidate_words(it, &t->facts, words, &t->arena) : NULL;
        it->racer = it->command ? as_race_join(&t->race) : AS_ERR_NOMEM;
        if (it->racer < 0)
            return as_error_nomem(err, "what is tried");
        t->race.racer.at[it->racer].cost_s = t->base_cost_s;
    }
    return 0;
}

static int choose_candidates(struct as_trial *t, struct as_error *err)
{
    unsigned what = t->request->what ? t->request->what : AS_TRIAL_ALL;

    if (!t->has_build_tree)
        what &= ~AS_TRIAL_FLAGS;
    AS_TRY(as_candidates_choose(&t->facts, what, &t->arena, &t->candidate, err));
    if (t->has_build_tree)
        AS_TRY(as_trial_build(t, 0, err));
    as_race_init(&t->race, t->candidate.n + AS_LATE_MOST);
    t->race.base_cost_s = t->base_cost_s;
    return join_race(t, 0, err);
}

/* ---- Race ---------------------------------------------------------------------------------- */

static int run_base_once(struct as_trial *t, struct as_error *err)
{
    struct as_trial_outcome run;

    AS_TRY(as_trial_start(t, NULL, false, &run, err));
    if (t->is_over)
        return 0;
    if (!run.is_good) {
        t->base_failed_n++;
        return 0;
    }
    AS_TRY(as_trial_learn(t, run.profile.run_id, err));
    if (as_race_add_run(&t->race, AS_RACE_BASE, run.time_s, run.cost_s) < 0)
        return as_error_nomem(err, "what was measured");
    return 0;
}

static void drop_candidate(struct as_trial *t, struct as_candidate *it,
                           enum as_trial_verdict verdict, const char *message)
{
    it->verdict = verdict;
    it->message = message;
    as_race_leave(&t->race, (size_t)it->racer);
}

/* Sets the time limit of a run that would exceed the budget; `limit_s` receives the old limit. */
static void limit_run(struct as_trial *t, double *limit_s)
{
    const double left = as_trial_left(t) + BUDGET_OVER * t->budget_s;
    *limit_s = t->limit_s;
    t->limit_s = fmin(t->limit_s, fmax(left, t->base_s));
}

static int run_candidate_once(struct as_trial *t, struct as_candidate *it, struct as_error *err)
{
    struct as_trial_outcome run;
    struct as_error late = {0};
    double limit_s;
    bool is_fine = true;

    limit_run(t, &limit_s);
    const int started = as_trial_start(t, it, false, &run, &late);
    if (started == 0 && !t->is_over && !run.is_good)
        drop_candidate(t, it, run.profile.too_long ? AS_TRIAL_TOO_LONG : AS_TRIAL_FAILED,
                       as_trial_failure(t, &run));
    t->limit_s = limit_s;
    if (started < 0 && (started == AS_ERR_IO || started == AS_ERR_NOMEM)) {
        if (err)
            *err = late;
        return started;
    }
    if (started < 0)
        drop_candidate(t, it, AS_TRIAL_FAILED,
                       as_arena_strndup(&t->arena, late.text, strlen(late.text)));
    if (started < 0 || t->is_over || !run.is_good)
        return 0;
    const int64_t begin_ns = as_monotonic_ns();
    AS_TRY(as_trial_judge(t, it, run.profile.run_id, &is_fine, err));
    if (t->is_over)
        return 0;
    run.cost_s += (double)(as_monotonic_ns() - begin_ns) / 1e9;
    it->differs |= !is_fine;
    if (as_race_add_run(&t->race, (size_t)it->racer, run.time_s, run.cost_s) < 0)
        return as_error_nomem(err, "what was measured");
    return 0;
}

static struct as_candidate *of_racer(struct as_trial *t, size_t racer)
{
    as_vec_foreach (&t->candidate, it)
        if (it->racer == (int)racer)
            return it;
    return NULL;
}

#define BASE_FAILURES_MOST 3

/* Returns the seconds left for the race; `late` is its second part, with combinations. */
static double race_left(const struct as_trial *t, bool late)
{
    const bool is_shared = !late && as_race_best(&t->race) != AS_RACE_END;
    return as_trial_left(t) - (is_shared ? LATE_SHARE * t->budget_s : 0);
}

static int run_race(struct as_trial *t, bool late, struct as_error *err)
{
    size_t who;

    while (!as_trial_stopped(t) && t->base_failed_n < BASE_FAILURES_MOST &&
           (who = as_race_next(&t->race, race_left(t, late))) != AS_RACE_END) {
        struct as_candidate *it = who == AS_RACE_BASE ? NULL : of_racer(t, who);

        report_trial_run(t, it ? it->name : AS_TRIAL_BASE);
        AS_TRY(it ? run_candidate_once(t, it, err) : run_base_once(t, err));
    }
    t->is_over |= as_trial_stopped(t);
    return as_race_judge(&t->race) < 0 ? as_error_nomem(err, "what was measured") : 0;
}

/* ---- Combinations -------------------------------------------------------------------------- */

static int by_gain(const void *a, const void *b, void *context)
{
    const struct as_trial *t = context;
    const double x = t->race.racer.at[t->candidate.at[*(const uint32_t *)a].racer].ratio,
                 y = t->race.racer.at[t->candidate.at[*(const uint32_t *)b].racer].ratio;
    return (x > y) - (x < y);
}

/* Lists the candidates with a gain and unchanged results, one per group, best first. */
static size_t list_winners(struct as_trial *t, uint32_t *winner)
{
    size_t n = 0, kept = 0;
    uint32_t all[256];

    for (uint32_t i = 0; i < t->candidate.n && n < 256; i++) {
        const struct as_candidate *it = &t->candidate.at[i];
        if (it->racer >= 0 && !it->differs && t->race.racer.at[it->racer].verdict == AS_TRIAL_GAIN)
            all[n++] = i;
    }
    qsort_r(all, n, sizeof *all, by_gain, t);
    for (size_t i = 0; i < n && kept < AS_PARTS_MOST; i++) {
        bool is_new = true;
        for (size_t k = 0; k < kept; k++)
            is_new &= strcmp(t->candidate.at[all[i]].group, t->candidate.at[winner[k]].group) != 0;
        if (is_new)
            winner[kept++] = all[i];
    }
    return kept;
}

/* Adds combinations of the best two, the best three, and all winners. Each is measured, because
 * gains do not multiply. */
static int add_combinations(struct as_trial *t, struct as_error *err)
{
    uint32_t winner[AS_PARTS_MOST];
    const size_t n = list_winners(t, winner);
    const size_t size[AS_COMBINATIONS_MOST] = {2, n > 3 ? 3 : 0, n > 2 ? n : 0};

    for (size_t i = 0; i < AS_COMBINATIONS_MOST; i++) {
        struct as_candidate it;
        if (size[i] < 2 || size[i] > n)
            continue;
        AS_TRY(as_candidates_join(&t->candidate, winner, size[i], &t->arena, &it, err));
        if (as_vec_push(&t->candidate, it) < 0)
            return as_error_nomem(err, "what is tried");
    }
    return 0;
}

/* Tests whether the best compiler options gain the same in hot files only. */
static int add_hot_files(struct as_trial *t, struct as_error *err)
{
    const struct as_candidate *best = NULL;

    as_vec_foreach (&t->candidate, it)
        if (it->racer >= 0 && it->what == AS_TRIAL_FLAGS && !it->train &&
            t->race.racer.at[it->racer].verdict == AS_TRIAL_GAIN &&
            (!best || t->race.racer.at[it->racer].ratio < t->race.racer.at[best->racer].ratio))
            best = it;
    return best ? as_trial_add_hot(t, best, err) : 0;
}

static int race_late(struct as_trial *t, struct as_error *err)
{
    const size_t from = t->candidate.n;

    if (t->is_over)
        return 0;
    AS_TRY(add_hot_files(t, err));
    AS_TRY(add_combinations(t, err));
    if (t->candidate.n == from)
        return 0;
    if (t->has_build_tree)
        AS_TRY(as_trial_build(t, from, err));
    AS_TRY(join_race(t, from, err));
    return run_race(t, true, err);
}

/* ---- Campaign ------------------------------------------------------------------------------ */

/* Sets the verdicts that are still open, and counts gains and harms. */
static void settle_verdicts(struct as_trial *t)
{
    as_vec_foreach (&t->candidate, it) {
        const struct as_racer *racer = it->racer < 0 ? NULL : &t->race.racer.at[it->racer];
        if (it->verdict != AS_TRIAL_OPEN || !racer)
            continue;
        it->verdict = racer->verdict;
        if (it->differs && racer->verdict == AS_TRIAL_GAIN)
            it->verdict = AS_TRIAL_DIFFERS;
        if (!racer->run_n)
            it->verdict = AS_TRIAL_NOT_RUN;
        if (!racer->run_n && !it->message)
            it->message = t->is_over ? "ended by the user" : "the time was too short";
        t->result->gain_n += it->verdict == AS_TRIAL_GAIN;
        t->result->harm_n += it->verdict == AS_TRIAL_HARM;
    }
    t->result->trial_n = t->candidate.n;
    t->result->interrupted = t->is_over;
}

static int run_steps(struct as_trial *t, struct as_error *err)
{
    if (t->has_build_tree) {
        AS_TRY(as_trial_build_base(t, err));
        if (t->is_over)
            return 0;
    }
    t->begin_ns = as_monotonic_ns();
    AS_TRY(run_base_first(t, err));
    if (t->is_over)
        return 0;
    AS_TRY(as_trial_find_facts(t, err));
    AS_TRY(choose_candidates(t, err));
    int rc = run_race(t, false, err);
    if (rc == 0)
        rc = race_late(t, err);
    settle_verdicts(t);
    const int written = as_trial_write(t, rc < 0 ? NULL : err);
    return rc < 0 ? rc : written;
}

/* Copies the working directory to `path` and changes to the copy, where the program runs. */
static int enter_copy(char *path, size_t size_b, struct as_error *err)
{
    char here[PATH_MAX];
    const char *temporary = getenv("TMPDIR");

    if (!getcwd(here, sizeof here))
        return as_error_set(err, AS_ERR_IO, "the working directory cannot be found");
    snprintf(path, size_b, "%.3800s/assay-copy-XXXXXX",
             temporary && temporary[0] == '/' ? temporary : "/tmp");
    if (!mkdtemp(path))
        return as_error_set(err, AS_ERR_IO, "%s: cannot be created; set TMPDIR", path);
    const struct as_tree_copy copy = {.from = here};
    (void)rmdir(path);
    AS_TRY(as_tree_copy(&copy, path, err));
    return chdir(path) == 0 ? 0 : as_error_set(err, AS_ERR_IO, "%s: cannot be entered", path);
}

static int open_trial(struct as_trial *t, char *copy, size_t size_b, struct as_error *err)
{
    const struct as_trial_request *request = t->request;

    as_arena_init(&t->arena);
    t->base_command = request->profile.command;
    t->budget_s = request->budget_s > 0 ? request->budget_s : BUDGET_S;
    if (request->build) {
        const struct as_build_tree_options options = {.command = request->build,
                                                      .source = request->source,
                                                      .any_size = request->copy,
                                                      .program = request->profile.command,
                                                      .jobs = request->jobs};
        t->has_build_tree = true;
        AS_TRY(as_build_tree_open(&t->build_tree, &options, err));
    }
    if (request->copy)
        AS_TRY(enter_copy(copy, size_b, err));
    const struct as_catalogue_options how = {.jobs = request->profile.attribute.jobs,
                                             .open = request->profile.attribute.open};
    AS_TRY(as_catalogue_new(t->experiment, &how, &t->catalogue, err));
    AS_TRY(as_campaign_open(&t->campaign, err));
    return as_campaign_check(t->campaign, 2, err);
}

static void close_trial(struct as_trial *t)
{
    as_campaign_close(&t->campaign);
    as_catalogue_free(&t->catalogue);
    if (t->has_build_tree)
        as_build_tree_close(&t->build_tree);
    as_race_fini(&t->race);
    as_output_model_fini(&t->output);
    as_vec_fini(&t->candidate);
    free(t->libraries);
    free(t->rules);
    as_arena_fini(&t->arena);
}

int as_trial_run(struct as_experiment *experiment, const struct as_trial_request *request,
                 struct as_trial_result *result, struct as_error *err)
{
    struct as_trial t = {.experiment = experiment, .request = request, .result = result};
    char copy[PATH_MAX] = "", here[PATH_MAX];
    const bool is_here = getcwd(here, sizeof here) != NULL;

    *result = (struct as_trial_result){0};
    int rc = open_trial(&t, copy, sizeof copy, err);
    if (rc == 0)
        rc = run_steps(&t, err);
    result->interrupted = t.is_over;
    close_trial(&t);
    if (is_here && copy[0])
        rc = chdir(here) == 0 || rc < 0 ? rc : as_error_set(err, AS_ERR_IO, "%s: is gone", here);
    if (copy[0])
        (void)as_tree_remove(AT_FDCWD, copy);
    return rc;
}
