/* SPDX-License-Identifier: Apache-2.0 */
#include "merge_together.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analytics/store/trace_result.h"
#include "base/error.h"
#include "merge/merge.h"

/* The directory of the trace, and what is to be copied, each with its zero. */
#define PLAN "plan"

int as_merge_note_copy(void *context, const char *from, const char *to, struct as_error *err)
{
    struct as_str *copies = context;
    as_str_append(copies, from, strlen(from) + 1);
    as_str_append(copies, to, strlen(to) + 1);
    return copies->failed ? as_error_nomem(err, to) : 0;
}

static void name_plan(const struct as_party *party, char path[4200])
{
    snprintf(path, 4200, "%s/" PLAN, as_party_directory(party));
}

static int write_plan(const struct as_party *party, const char *directory,
                      const struct as_str *copies, struct as_error *err)
{
    char path[4200];
    name_plan(party, path);
    FILE *file = fopen(path, "we");
    const size_t n = strlen(directory) + 1;
    bool is_written = file && fwrite(directory, 1, n, file) == n &&
                      (copies->n == 0 || fwrite(copies->p, 1, copies->n, file) == copies->n);
    is_written = file && fclose(file) == 0 && is_written;
    return is_written
               ? 0
               : as_error_set(err, AS_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

static int read_plan(const struct as_party *party, struct as_str *out, struct as_error *err)
{
    char path[4200], part[4096];
    name_plan(party, path);
    FILE *file = fopen(path, "re");
    for (size_t n; file && (n = fread(part, 1, sizeof part, file)) > 0;)
        as_str_append(out, part, n);
    const bool is_read = file && !ferror(file) && out->n && out->p[out->n - 1] == 0;
    if (file)
        fclose(file);
    if (out->failed)
        return as_error_nomem(err, path);
    return is_read ? 0 : as_error_set(err, AS_ERR_IO, "%s: cannot be read", path);
}

/* Every so-manieth of the copies. */
static int copy_share(const struct as_party *party, const char *at, size_t n, struct as_error *err)
{
    const char *end = at + n;
    for (uint32_t i = 0; at < end; i++) {
        const char *to = at + strlen(at) + 1;
        if (to >= end)
            break;
        if (i % as_party_size(party) == as_party_rank(party))
            AS_TRY(as_merge_copy(at, to, err));
        at = to + strlen(to) + 1;
    }
    return 0;
}

int as_merge_lead(struct as_party *party, const struct as_str *copies,
                  struct as_experiment *experiment, int64_t run_id, struct as_error *err)
{
    char directory[4096], streams[sizeof directory + sizeof "/trace"];
    AS_TRY(as_experiment_run_directory(experiment, run_id, directory, sizeof directory, err));
    snprintf(streams, sizeof streams, "%s/trace", directory);
    AS_TRY(write_plan(party, streams, copies, err));
    AS_TRY(as_party_barrier(party, err));
    if (copies->n == 0)
        return 0;
    AS_TRY(copy_share(party, copies->p, copies->n, err));
    AS_TRY(as_party_barrier(party, err));
    return as_analytics_run_together(experiment, run_id, run_id, party, err);
}

int as_merge_follow(struct as_party *party, struct as_error *err)
{
    struct as_str plan = {0};
    int rc = as_party_barrier(party, err);
    if (rc == 0)
        rc = read_plan(party, &plan, err);
    const size_t first = rc == 0 && plan.n ? strlen(plan.p) + 1 : 0;
    if (first && first < plan.n) {
        rc = copy_share(party, plan.p + first, plan.n - first, err);
        if (rc == 0)
            rc = as_party_barrier(party, err);
        if (rc == 0)
            rc = as_analytics_help(plan.p, party, err);
    }
    as_str_fini(&plan);
    return rc;
}
