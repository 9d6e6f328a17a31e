/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of collectors, and the calls of all collectors of one launch.
 */
#include <poll.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/collector.h"

/* All collectors, in the order of their calls. A new collector needs an entry here. */
#define COLLECTORS(X)                                                                              \
    X(python) X(perf) X(timers) X(regions) X(objects) X(trace) X(counts) X(delays) X(ledger) X(ends)

#define COLLECTOR_DECLARED(name) extern const struct as_collector_kind as_collector_##name;
COLLECTORS(COLLECTOR_DECLARED)
#undef COLLECTOR_DECLARED

const struct as_collector_kind *const as_collector_kinds[] = {
#define COLLECTOR_LISTED(name) &as_collector_##name,
    COLLECTORS(COLLECTOR_LISTED)
#undef COLLECTOR_LISTED
        NULL};

#define each_collector(all, it)                                                                    \
    for (struct as_collector *it = (all)->at; it < (all)->at + (all)->n; it++)

/* ---- Choosing ------------------------------------------------------------------------------ */

static int choose_wanted(struct as_collection *all, const struct as_collector_kind *const *kinds,
                         struct as_error *err)
{
    for (; *kinds; kinds++) {
        if ((*kinds)->is_wanted && !(*kinds)->is_wanted(all))
            continue;
        if (all->n == AS_COLLECTORS_MOST)
            return as_error_set(err, AS_ERR_LIMIT,
                                "%d sources of observation at once are too "
                                "many",
                                AS_COLLECTORS_MOST);
        all->at[all->n++] = (struct as_collector){.kind = *kinds};
    }
    return 0;
}

static const struct as_collector_kind *stand_in(const struct as_collection *all,
                                                const struct as_collector_kind *const *kinds,
                                                const struct as_collector_kind *of)
{
    for (; *kinds; kinds++)
        if ((*kinds)->instead_of && strcmp((*kinds)->instead_of, of->name) == 0 &&
            (!(*kinds)->may_replace || (*kinds)->may_replace(all)))
            return *kinds;
    return NULL;
}

/* ---- Opening ------------------------------------------------------------------------------- */

/* Starts the program with the environment and the libraries of all collectors. */
static int start_program(struct as_collection *all, struct as_error *err)
{
    AS_VEC(const char *) environment = {0};
    struct as_str preload = {0};
    bool failed = false;

    each_collector (all, it) {
        for (const char *const *word = it->environment; word && *word; word++)
            failed |= as_vec_push(&environment, *word) < 0;
        if (it->preload)
            as_str_appendf(&preload, "%s%s", preload.n ? ":" : "", it->preload);
    }
    failed |= preload.failed || as_vec_push(&environment, NULL) < 0;
    const struct as_launch_options options = {.environment = environment.at,
                                              .preload = preload.n ? as_str_z(&preload) : NULL};
    const int rc = failed ? as_error_nomem(err, "the environment of a program")
                          : as_launch_start(all->plan, &options, &all->launch, err);
    as_vec_fini(&environment);
    as_str_fini(&preload);
    return rc;
}

static int start_or_attach(struct as_collection *all, struct as_error *err)
{
    return all->plan ? start_program(all, err)
                     : as_launch_attach(all->request->pid, &all->launch, err);
}

/* Opens all collectors. After an error, `*at` is the index of the one that failed. */
static int open_all(struct as_collection *all, const struct as_collector *replacing,
                    const struct as_error *why, size_t *at, struct as_error *err)
{
    *at = all->n;
    each_collector (all, it)
        if (it->kind->prepare)
            AS_TRY(it->kind->prepare(it, all, it == replacing ? why : NULL, err));
    AS_TRY(start_or_attach(all, err));
    for (size_t i = 0; i < all->n; i++) {
        const int rc = all->at[i].kind->open ? all->at[i].kind->open(&all->at[i], all, err) : 0;
        if (rc < 0) {
            *at = i;
            return rc;
        }
    }
    return 0;
}

static void close_one(struct as_collector *it)
{
    if (it->kind->close)
        it->kind->close(it);
    *it = (struct as_collector){.kind = it->kind};
}

static void close_all(struct as_collection *all)
{
    each_collector (all, it)
        close_one(it);
    as_launch_close(&all->launch);
}

int as_collection_open(struct as_collection *all, const struct as_collector_kind *const *kinds,
                       const struct as_profile_request *request, const struct as_launch_plan *plan,
                       struct as_error *err)
{
    const struct as_collector *replacing = NULL;
    struct as_error why;

    all->request = request;
    all->plan = plan;
    for (size_t i = 0; kinds[i]; i++)
        if (kinds[i]->tidy)
            kinds[i]->tidy(all);
    AS_TRY(choose_wanted(all, kinds, err));
    for (;;) {
        size_t at;
        const int rc = open_all(all, replacing, &why, &at, err);
        const bool is_refused = rc == AS_ERR_PERMISSION || rc == AS_ERR_UNSUPPORTED;
        const struct as_collector_kind *by =
            is_refused && plan && at < all->n ? stand_in(all, kinds, all->at[at].kind) : NULL;

        if (!by)
            return rc;
        why = *err;
        close_all(all);
        all->at[at].kind = by;
        replacing = &all->at[at];
    }
}

void as_collection_release(struct as_collection *all)
{
    each_collector (all, it)
        if (!it->kind->facts)
            close_one(it);
}

void as_collection_close(struct as_collection *all)
{
    close_all(all);
    all->n = 0;
}

/* ---- Asking all ---------------------------------------------------------------------------- */

int as_collection_start(struct as_collection *all, struct as_error *err)
{
    each_collector (all, it)
        if (it->kind->start)
            AS_TRY(it->kind->start(it, all, err));
    return 0;
}

int as_collection_pump(struct as_collection *all, bool last, struct as_error *err)
{
    each_collector (all, it)
        if (it->kind->pump)
            AS_TRY(it->kind->pump(it, all, last, err));
    return 0;
}

int as_collection_stop(struct as_collection *all, struct as_error *err)
{
    each_collector (all, it)
        if (it->kind->stop)
            AS_TRY(it->kind->stop(it, err));
    return 0;
}

int as_collection_finish(struct as_collection *all, struct as_error *err)
{
    const struct as_sample_counts *counts = as_collection_counts(all);

    all->lossy = counts && counts->lost > 0;
    each_collector (all, it)
        if (it->kind->finish)
            AS_TRY(it->kind->finish(it, all, err));
    return 0;
}

int as_collection_facts(struct as_collection *all, struct as_experiment *experiment, int64_t run_id,
                        struct as_error *err)
{
    each_collector (all, it)
        if (it->kind->facts)
            AS_TRY(it->kind->facts(it, all, experiment, run_id, err));
    return 0;
}

void as_collection_wait(struct as_collection *all, int timeout_ms)
{
    const int fd = as_launch_fd(all->launch);

    each_collector (all, it)
        if (it->kind->wait) {
            it->kind->wait(it, fd, timeout_ms);
            return;
        }
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    (void)poll(&ready, 1, timeout_ms);
}

int as_collection_hand(void *collection, const struct as_sample_record *record,
                       struct as_error *err)
{
    struct as_collection *all = collection;

    each_collector (all, it)
        if (it->kind->meet)
            AS_TRY(it->kind->meet(it, all, record, err));
    each_collector (all, it)
        if (it->kind->hides && it->kind->hides(it, record))
            return 0;
    AS_TRY(all->sink(all->context, record, err));
    each_collector (all, it)
        if (it->kind->follow)
            AS_TRY(it->kind->follow(it, all, record, err));
    return 0;
}

/* ---- The one that samples ------------------------------------------------------------------ */

const struct as_sample_choice *as_collection_choice(const struct as_collection *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].kind->choice)
            return all->at[i].kind->choice(&all->at[i]);
    return NULL;
}

const struct as_sample_counts *as_collection_counts(const struct as_collection *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].kind->counts)
            return all->at[i].kind->counts(&all->at[i]);
    return NULL;
}

struct as_agent_session *as_collection_session(const struct as_collection *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->at[i].kind->session && all->at[i].self) {
            struct as_agent_session *session = all->at[i].kind->session(&all->at[i]);
            if (session)
                return session;
        }
    return NULL;
}
