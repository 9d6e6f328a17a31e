/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several analysis processes read a trace. Each walks through its part. After a barrier each
 * matches the records for its part. After another barrier rank 0 has all results.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analytics/parallel/partition.h"
#include "base/error.h"

/* Returns whether the part has results that records cannot carry: pauses of tracing, sums of calls,
 * counters, phases. */
static bool takes_one_walk(const struct as_trace_walk *walk, const struct as_traced *mine)
{
    return walk->was_off || walk->out->summed_n > 0 || mine->counters.range.n > 0 ||
           as_phases_are_there(walk);
}

static int mark_one_process_needed(const struct as_trace_part *part, struct as_error *err)
{
    char path[4200];
    as_part_path(part, AS_PART_FOR_ONE, part->number, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return as_error_set(err, AS_ERR_IO, "%s: cannot be made: %s", path, strerror(errno));
    close(fd);
    return 0;
}

static bool is_for_one(const struct as_trace_part *part)
{
    char path[4200];
    for (uint32_t i = 0; i < part->part_n; i++) {
        as_part_path(part, AS_PART_FOR_ONE, i, path);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

static int walk_part(struct as_trace_part *part, struct as_traced *mine, struct as_error *err)
{
    const struct as_analysis_watch watch = as_traced_watch(mine);
    struct as_analysis found = {0};
    struct as_trace_walk walk = {
        .trace = part->trace, .watch = &watch, .out = &found, .part = part};
    char path[4200];
    part->sampled = &mine->sampled;
    as_part_path(part, AS_PART_CROSSING, part->number, path);
    AS_TRY(as_shuffle_new(path, part->part_n, &part->crossing, err));
    as_part_path(part, AS_PART_FOUND, part->number, path);
    AS_TRY(as_shuffle_new(path, AS_FOUND_CHANNELS_N, &part->found, err));
    int rc = as_walk_prepare(&walk, err);
    if (rc == 0)
        rc = as_walk_all(&walk, err);
    if (rc == 0 && takes_one_walk(&walk, mine))
        rc = mark_one_process_needed(part, err);
    if (rc == 0)
        rc = as_part_write_found(part, &walk, &mine->timeline);
    if (rc == AS_ERR_NOMEM)
        as_error_nomem(err, "what a trace says");
    as_walk_free(&walk);
    as_analysis_fini(&found);
    if (rc == 0)
        rc = as_shuffle_close(&part->crossing, err);
    return rc < 0 ? rc : as_shuffle_close(&part->found, err);
}

static int match_part(struct as_trace_part *part, struct as_traced *mine, struct as_error *err)
{
    const struct as_analysis_watch watch = as_traced_watch(mine);
    struct as_analysis matched = {0};
    struct as_trace_walk walk = {.trace = part->trace, .watch = &watch, .out = &matched};
    int rc = as_walk_prepare(&walk, err);
    if (rc == 0)
        rc = as_part_replay(part, &walk, mine, err);
    as_walk_free(&walk);
    as_analysis_fini(&matched);
    return rc;
}

int as_traced_read_part(const struct as_trace *trace, struct as_party *party,
                        struct as_trace_part *part, struct as_error *err)
{
    struct as_traced mine = {0};
    if (as_part_init(part, trace, party) < 0 || as_traced_begin(&mine, trace) < 0)
        return as_error_nomem(err, "the time line of a trace");
    int rc = walk_part(part, &mine, err);
    if (rc == 0)
        rc = as_party_barrier(party, err);
    part->is_for_one = rc == 0 && is_for_one(part);
    if (rc == 0 && !part->is_for_one)
        rc = match_part(part, &mine, err);
    if (rc == 0)
        rc = as_party_barrier(party, err);
    as_traced_fini(&mine);
    return rc;
}

int as_analytics_help(const char *directory, struct as_party *party, struct as_error *err)
{
    struct as_trace trace;
    struct as_trace_part part = {0};
    AS_TRY(as_trace_open(directory, &trace, err));
    const int rc = as_part_is_possible(&trace) ? as_traced_read_part(&trace, party, &part, err) : 0;
    as_part_fini(&part);
    as_trace_close(&trace);
    return rc;
}
