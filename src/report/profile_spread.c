/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load balance over ranks, processes and threads. A library that waits by spinning runs all the
 * time. Then the balance of all time says little. So the time outside MPI, OpenMP and pthread is
 * compared as well.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/stat.h"
#include "report/profile.h"

/* A thread, or a rank or process with the sums of its threads. */
struct member {
    int64_t key; /* rank or process_id */
    int64_t process_id, tid, pid, rank, omp_thread;
    double time_s, work_s, blocked_s, queued_s; /* queued_s negative: unknown */
    bool works; /* false: a launcher or idle, see experiment/roles.c */
};

struct members {
    AS_VEC(struct member) list;
    bool has_ranks;
};

static const char sql[] =
    "SELECT process_id, tid, pid, rank, omp_thread, time_s, ifnull(blocked_time_s, 0),"
    " ifnull(computing_time_s, 0), ifnull(runnable_time_s, -1), ifnull(role, 'worker') = 'worker'"
    " FROM v_threads WHERE run_id = ?1 ORDER BY process_id, thread_id";

static int64_t integer_or_none(struct as_rows *rows, int column)
{
    return as_rows_kind(rows, column) == AS_SQL_CELL_NULL ? -1 : as_rows_integer(rows, column);
}

static int read_threads(struct as_experiment *experiment, int64_t run_id, struct members *threads,
                        struct as_error *err)
{
    struct as_rows *rows = NULL;
    int rc;

    AS_TRY(as_rows_open(experiment, sql, &rows, err));
    as_rows_bind_integer(rows, 1, run_id);
    while ((rc = as_rows_next(rows, err)) > 0) {
        const struct member thread = {.process_id = as_rows_integer(rows, 0),
                                      .tid = as_rows_integer(rows, 1),
                                      .pid = as_rows_integer(rows, 2),
                                      .rank = integer_or_none(rows, 3),
                                      .omp_thread = integer_or_none(rows, 4),
                                      .time_s = as_rows_real(rows, 5),
                                      .blocked_s = as_rows_real(rows, 6),
                                      .work_s = as_rows_real(rows, 7),
                                      .queued_s = as_rows_real(rows, 8),
                                      .works = as_rows_integer(rows, 9) != 0};

        if (as_vec_push(&threads->list, thread) < 0) {
            rc = as_error_nomem(err, "the threads");
            break;
        }
    }
    as_rows_close(&rows);
    return rc;
}

/* Finds a member. Threads of a rank or process are adjacent, unless processes share a rank. */
static struct member *find_member(struct members *members, int64_t key)
{
    for (size_t i = members->list.n; i-- > 0;)
        if (members->list.at[i].key == key)
            return &members->list.at[i];
    return NULL;
}

static int sum_by_owner(struct members *threads, struct members *owners, struct as_error *err)
{
    as_vec_foreach (&threads->list, it)
        owners->has_ranks |= it->rank >= 0;
    as_vec_foreach (&threads->list, it) {
        const int64_t key = owners->has_ranks ? it->rank : it->process_id;
        struct member *owner = key < 0 ? NULL : find_member(owners, key);
        struct member one = *it;

        if (key < 0)
            continue; /* the launcher has no rank */
        if (!it->works)
            one.time_s = one.work_s = 0;
        if (owner) {
            owner->time_s += one.time_s;
            owner->work_s += one.work_s;
            owner->works |= one.works;
            continue;
        }
        one.key = key;
        if (as_vec_push(&owners->list, one) < 0)
            return as_error_nomem(err, "the ranks");
    }
    return 0;
}

static const char *name_of(struct as_profile *profile, const struct member *it, const char *over)
{
    if (strcmp(over, "ranks") == 0)
        return as_profile_text(profile, "rank %lld", (long long)it->rank);
    if (strcmp(over, "processes") == 0)
        return as_profile_text(profile, "process %lld", (long long)it->pid);
    if (it->rank >= 0 && it->omp_thread >= 0)
        return as_profile_text(profile, "rank %lld thread %lld", (long long)it->rank,
                               (long long)it->omp_thread);
    if (it->rank >= 0)
        return as_profile_text(profile, "rank %lld tid %lld", (long long)it->rank,
                               (long long)it->tid);
    if (it->omp_thread >= 0)
        return as_profile_text(profile, "thread %lld", (long long)it->omp_thread);
    return as_profile_text(profile, "tid %lld", (long long)it->tid);
}

static size_t worked_n(struct members *members)
{
    size_t n = 0;

    as_vec_foreach (&members->list, it)
        n += it->works;
    return n;
}

/* Reads the balance, the same number as in metrics and findings. Only work has it. */
static int read_balance(struct as_experiment *experiment, struct as_profile *profile,
                        struct as_profile_spread *spread, struct as_error *err)
{
    struct as_rows *rows = NULL;
    int rc;

    spread->balance_pct = NAN;
    if (!spread->is_work)
        return 0;
    AS_TRY(as_rows_open(experiment,
                        "SELECT balance_pct FROM v_balance WHERE run_id = ?1 AND over = ?2", &rows,
                        err));
    as_rows_bind_integer(rows, 1, profile->run.run_id);
    as_rows_bind_text(rows, 2, spread->over);
    rc = as_rows_next(rows, err);
    if (rc > 0 && as_rows_kind(rows, 0) != AS_SQL_CELL_NULL)
        spread->balance_pct = as_rows_real(rows, 0);
    as_rows_close(&rows);
    return rc < 0 ? rc : 0;
}

static int add_spread(struct as_experiment *experiment, struct as_profile *profile,
                      struct members *members, const char *over, bool is_work, struct as_error *err)
{
    struct as_profile_spread spread = {.over = over, .is_work = is_work};
    struct as_moments moments = {0};
    const struct member *slowest = NULL;

    as_vec_foreach (&members->list, it) {
        const double x = is_work ? it->work_s : it->time_s;

        if (!it->works) {
            spread.idle_n++;
            continue;
        }
        if (!slowest || x > spread.max_s) {
            spread.max_s = x;
            slowest = it;
        }
        if (moments.n < 1 || x < spread.min_s)
            spread.min_s = x;
        as_moments_add(&moments, x);
    }
    spread.n = (size_t)moments.n;
    if (!slowest || spread.n < 2)
        return 0;
    spread.mean_s = moments.mean;
    spread.deviation_s = as_moments_deviation(&moments);
    spread.slowest = name_of(profile, slowest, over);
    AS_TRY(read_balance(experiment, profile, &spread, err));
    if (!spread.slowest || as_vec_push(&profile->spread, spread) < 0)
        return as_error_nomem(err, "the load");
    return 0;
}

static void add_up(struct as_profile *profile, struct members *threads)
{
    as_vec_foreach (&threads->list, it) {
        profile->running_s += it->works ? it->time_s : 0;
        profile->blocked_s += it->works ? it->blocked_s : 0;
        profile->queued_s += it->works ? fmax(0, it->queued_s) : 0;
        profile->unqueued_n += it->works && it->queued_s < 0;
        profile->idle_s += it->works ? 0 : it->blocked_s;
        profile->idle_n += !it->works;
    }
}

/* Adds the spread of all time, and that of work. Without MPI, OpenMP and pthread time both are
 * equal. */
static int add_both(struct as_experiment *experiment, struct as_profile *profile,
                    struct members *members, const char *over, struct as_error *err)
{
    const bool waits = as_profile_category_pct(profile, "mpi") > 0 ||
                       as_profile_category_pct(profile, "openmp") > 0 ||
                       as_profile_category_pct(profile, "pthread") > 0;

    if (waits)
        AS_TRY(add_spread(experiment, profile, members, over, false, err));
    return add_spread(experiment, profile, members, over, true, err);
}

static int add_all(struct as_experiment *experiment, struct as_profile *profile,
                   struct members *threads, struct members *owners, struct as_error *err)
{
    AS_TRY(sum_by_owner(threads, owners, err));
    /* With one thread each the numbers would repeat. */
    const bool same = worked_n(threads) == worked_n(owners);
    if (owners->has_ranks || !same)
        AS_TRY(
            add_both(experiment, profile, owners, owners->has_ranks ? "ranks" : "processes", err));
    return owners->has_ranks && same ? 0 : add_both(experiment, profile, threads, "threads", err);
}

int as_profile_spread(struct as_experiment *experiment, struct as_profile *profile,
                      struct as_error *err)
{
    struct members threads = {0}, owners = {0};
    int rc = read_threads(experiment, profile->run.run_id, &threads, err);

    if (rc == 0) {
        add_up(profile, &threads);
        rc = add_all(experiment, profile, &threads, &owners, err);
    }
    as_vec_fini(&threads.list);
    as_vec_fini(&owners.list);
    return rc;
}
