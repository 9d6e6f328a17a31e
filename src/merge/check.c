/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that the inputs are the ranks of one run of one job: each rank once, one job, the same
 * binaries, and overlapping times.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "merge/internal.h"

/* Max gap between the end of all earlier inputs and the start of the next. It allows for
 * unsynchronised clocks and a slow start on a busy machine. */
#define APART_NS INT64_C(10000000000)

/* ---- Order --------------------------------------------------------------------------------- */

/* qsort passes no context; the program merges once. */
static const struct as_merge *sorted;

static int compare_parts(const void *a, const void *b)
{
    const struct as_merge_part *x = &sorted->part.at[*(const uint32_t *)a];
    const struct as_merge_part *y = &sorted->part.at[*(const uint32_t *)b];
    /* -1 (no rank) is last */
    const uint64_t rank_x = (uint64_t)x->rank, rank_y = (uint64_t)y->rank;

    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static int set_order(struct as_merge *merge, struct as_error *err)
{
    for (uint32_t i = 0; i < merge->part.n; i++)
        if (as_vec_push(&merge->order, i) < 0)
            return as_error_nomem(err, "the ranks");
    sorted = merge;
    qsort(merge->order.at, merge->order.n, sizeof *merge->order.at, compare_parts);
    sorted = NULL;
    merge->start_ns = INT64_MAX;
    merge->end_ns = INT64_MIN;
    as_vec_foreach (&merge->part, it) {
        merge->start_ns = it->start_ns < merge->start_ns ? it->start_ns : merge->start_ns;
        merge->end_ns = it->end_ns > merge->end_ns ? it->end_ns : merge->end_ns;
    }
    return 0;
}

/* ---- Refusals ------------------------------------------------------------------------------ */

static int check_ranks(const struct as_merge *merge, struct as_error *err)
{
    for (size_t i = 1; i < merge->rank.n; i++) {
        const struct as_merge_rank *a = &merge->rank.at[i - 1], *b = &merge->rank.at[i];

        if (a->rank == b->rank)
            return as_error_set(
                err, AS_ERR_USAGE,
                "%s: holds rank %" PRId64 ", which %s has too; use one experiment for each rank",
                merge->part.at[b->part].path, b->rank, merge->part.at[a->part].path);
    }
    return 0;
}

/* Reports the first two values of a fact and the inputs that have them. Returns USAGE or NOMEM. */
static int differ(const struct as_merge *merge, const struct as_merge_fact *fact, const char *what,
                  const char *thing, const char *advice, struct as_error *err)
{
    const struct as_merge_variant *a = &fact->variant.at[0], *b = &fact->variant.at[1];
    struct as_str whose[2] = {{0}, {0}};
    int rc;

    as_merge_append_owners(merge, &a->part, &whose[0]);
    as_merge_append_owners(merge, &b->part, &whose[1]);
    if (whose[0].failed || whose[1].failed)
        rc = as_error_nomem(err, thing);
    else
        rc = as_error_set(err, AS_ERR_USAGE, "%s: %s %s than in %s (%s and %s); %s", thing, what,
                          as_str_z(&whose[1]), as_str_z(&whose[0]), b->text, a->text, advice);
    as_str_fini(&whose[0]);
    as_str_fini(&whose[1]);
    return rc;
}

static int check_jobs(const struct as_merge *merge, struct as_error *err)
{
    static const char *const name[] = {"job.SLURM_JOB_ID",   "job.SLURM_STEP_ID",
                                       "job.PMIX_NAMESPACE", "job.FLUX_JOB_ID",
                                       "job.PALS_APID",      "job.JSM_NAMESPACE_ID"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const struct as_merge_fact *fact = as_merge_fact_of(merge, name[i]);

        if (fact && fact->variant.n > 1)
            return differ(merge, fact, "is another in", name[i] + 4,
                          "merge the ranks of one job, or those of several with --accept jobs",
                          err);
    }
    return 0;
}

static int check_files(const struct as_merge *merge, struct as_error *err)
{
    as_vec_foreach (&merge->fact, fact)
        if (strncmp(fact->name, "file.", 5) == 0 && fact->variant.n > 1)
            return differ(merge, fact, "is another file in", fact->name + 5,
                          "run the same file in all ranks, or accept both with --accept binaries",
                          err);
    return 0;
}

static int compare_starts(const void *a, const void *b)
{
    const struct as_merge_part *const *x = a, *const *y = b;

    return ((*x)->start_ns > (*y)->start_ns) - ((*x)->start_ns < (*y)->start_ns);
}

static int check_gaps(const struct as_merge_part *const *by_start, size_t n, struct as_error *err)
{
    int64_t end = by_start[0]->end_ns;

    for (size_t i = 1; i < n; i++) {
        const int64_t gap_ns = by_start[i]->start_ns - end;

        if (gap_ns > APART_NS)
            return as_error_set(err, AS_ERR_USAGE,
                                "%s: began %.0f s after %s had ended, so they are not of one run; "
                                "use --accept times to merge them anyway",
                                by_start[i]->path, (double)gap_ns / 1e9, by_start[i - 1]->path);
        end = by_start[i]->end_ns > end ? by_start[i]->end_ns : end;
    }
    return 0;
}

static int check_times(const struct as_merge *merge, struct as_error *err)
{
    const size_t n = merge->part.n;
    const struct as_merge_part **by_start = as_calloc(n, sizeof *by_start);
    int rc;

    if (!by_start)
        return as_error_nomem(err, "the ranks");
    for (size_t i = 0; i < n; i++)
        by_start[i] = &merge->part.at[i];
    qsort(by_start, n, sizeof *by_start, compare_starts);
    rc = check_gaps(by_start, n, err);
    as_free(by_start);
    return rc;
}

int as_merge_check(struct as_merge *merge, struct as_error *err)
{
    const unsigned accept = merge->request->accept;

    AS_TRY(check_ranks(merge, err));
    if (!(accept & AS_MERGE_JOBS))
        AS_TRY(check_jobs(merge, err));
    if (!(accept & AS_MERGE_BINARIES))
        AS_TRY(check_files(merge, err));
    if (!(accept & AS_MERGE_TIMES))
        AS_TRY(check_times(merge, err));
    return set_order(merge, err);
}
