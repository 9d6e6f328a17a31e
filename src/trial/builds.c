/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds of a campaign: first the unchanged program, then candidates with other options
 * concurrently, before any measurement.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "trial/campaign.h"

/* Max share of the budget for builds; candidates with unfinished builds do not run. */
#define BUILDS_SHARE 0.4
/* Time limit in seconds of the unchanged program's build, which does not count towards the
 * budget. */
#define BASE_BUILD_S 86400.0

static void report_trial_build(void *context, const struct as_build *build)
{
    struct as_trial *t = context;
    struct as_trial_news news = {.kind = AS_TRIAL_NEWS_BUILD, .all = t->build_all};

    news.text = build->plan.name;
    news.number = ++t->round_of_build;
    if (t->request->tell)
        t->request->tell(t->request->context, &news);
}

static struct as_build_watch watch_of(struct as_trial *t, double end_s)
{
    return (struct as_build_watch){.end_ns = as_monotonic_ns() + (int64_t)(end_s * 1e9),
                                   .train_s = t->limit_s * 5 + 10,
                                   .stop = as_trial_stopped,
                                   .tell = report_trial_build,
                                   .context = t};
}

/* ---- Unchanged program --------------------------------------------------------------------- */

static int build_base_once(struct as_trial *t, struct as_error *err)
{
    const struct as_build_watch watch = watch_of(t, BASE_BUILD_S);

    t->base_build = (struct as_build){.plan = {.name = AS_TRIAL_BASE, .flags = ""}};
    t->round_of_build = 0;
    return as_build_tree_build(&t->build_tree, &t->base_build, 1, &watch, err);
}

static int check_base(struct as_trial *t, struct as_error *err)
{
    size_t replaced;

    if (t->base_build.state == AS_BUILD_WAITING)
        return 0; /* the user stopped the build */
    if (t->base_build.state != AS_BUILD_DONE)
        return as_error_set(err, AS_ERR_NOT_FOUND, "--build: '%s' fails in a copy of %s: %s",
                            t->request->build, t->build_tree.source, t->base_build.error);
    t->base_command =
        as_build_tree_words(&t->build_tree, &t->base_build, t->request->profile.command, &replaced);
    if (!t->base_command)
        return as_error_nomem(err, "the builds");
    if (!replaced)
        return as_error_set(err, AS_ERR_USAGE,
                            "--build: '%s' does not build the program of the command; use its "
                            "path in %s, as in './program', or set --source",
                            t->request->build, t->build_tree.source);
    (void)as_build_tree_compilers(&t->build_tree, &t->base_build, t->compilers,
                                  sizeof t->compilers);
    return 0;
}

int as_trial_build_base(struct as_trial *t, struct as_error *err)
{
    t->build_all = 1;
    /* Debug information names the source directory if the compiler supports the option. */
    t->build_tree.use_map = as_build_tree_can_map(&t->build_tree);
    AS_TRY(build_base_once(t, err));
    if (t->base_build.state == AS_BUILD_FAILED && t->build_tree.use_map) {
        t->build_tree.use_map = false;
        AS_TRY(build_base_once(t, err));
    }
    t->is_over |= as_trial_stopped(t);
    return check_base(t, err);
}

/* ---- Candidates ---------------------------------------------------------------------------- */

/* Finds the earlier candidate with the same code, or the unchanged program (NULL). */
static bool find_same(struct as_trial *t, struct as_candidate *it, const char **name)
{
    *name = "the unchanged program";
    if (it->build.digest == t->base_build.digest)
        return true;
    for (struct as_candidate *other = t->candidate.at; other < it; other++)
        if (other->flags && other->build.state == AS_BUILD_DONE && !other->variable_n &&
            !it->variable_n && other->build.digest == it->build.digest) {
            *name = other->name;
            return true;
        }
    return false;
}

static int judge_build(struct as_trial *t, struct as_candidate *it, struct as_error *err)
{
    char message[320];
    const char *same;

    if (it->build.state == AS_BUILD_FAILED) {
        it->verdict = AS_TRIAL_NO_BUILD;
        snprintf(message, sizeof message, "%s", it->build.error);
    } else if (it->build.state != AS_BUILD_DONE) {
        it->verdict = AS_TRIAL_NOT_RUN;
        snprintf(message, sizeof message, "the time for builds was too short");
    } else if (!it->variable_n && !it->wrap && find_same(t, it, &same)) {
        it->verdict = AS_TRIAL_SAME;
        snprintf(message, sizeof message, "the same code as %s", same);
    } else {
        return 0;
    }
    it->message = as_arena_strndup(&t->arena, message, strlen(message));
    return it->message ? 0 : as_error_nomem(err, "the builds");
}

static struct as_build_plan plan_of(const struct as_candidate *it)
{
    return (struct as_build_plan){.name = it->name,
                                  .flags = it->flags,
                                  .train = it->train,
                                  .merge = it->train ? it->merge : NULL,
                                  .only = it->only};
}

int as_trial_build(struct as_trial *t, size_t from, struct as_error *err)
{
    struct as_build *build = as_calloc(t->candidate.n - from + 1, sizeof *build);
    size_t n = 0, at = 0;

    if (!build)
        return as_error_nomem(err, "the builds");
    for (size_t i = from; i < t->candidate.n; i++)
        if (t->candidate.at[i].flags)
            build[n++] = (struct as_build){.plan = plan_of(&t->candidate.at[i])};
    t->build_all = n;
    t->round_of_build = 0;
    const double end_s = as_trial_left(t) - (1 - BUILDS_SHARE) * t->budget_s;
    const struct as_build_watch watch = watch_of(t, from ? as_trial_left(t) / 3 : end_s);
    int rc = n ? as_build_tree_build(&t->build_tree, build, n, &watch, err) : 0;
    for (size_t i = from; i < t->candidate.n && rc == 0; i++)
        if (t->candidate.at[i].flags) {
            t->candidate.at[i].build = build[at++];
            rc = judge_build(t, &t->candidate.at[i], err);
        }
    t->is_over |= as_trial_stopped(t);
    as_free(build);
    return rc;
}
