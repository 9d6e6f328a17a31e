/* SPDX-License-Identifier: Apache-2.0 */
/* In rank 0: what all parts handed on becomes one analysis, in the order of a single walk. */
#include <string.h>

#include "analytics/part.h"
#include "base/error.h"

struct gather {
    struct as_trace_part *part;
    struct as_traced *out;
    struct as_trace_walk walk;
    AS_VEC(uint32_t) * site; /* by part: its number of a site -> ours */
    uint64_t *damaged;       /* by location: blocks that could not be read */
    int64_t part_bin_ns;
};

static int read_site_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    const struct as_open_call frame = {.routine = (uint32_t)f[0],
                                       .group = (uint32_t)f[1],
                                       .address = (uint64_t)f[3],
                                       .is_function = f[4] != 0};
    const struct as_walker walker = {.process = (uint32_t)f[2]};
    uint32_t site;
    AS_TRY(as_walk_site(&g->walk, &walker, &frame, &site));
    return as_vec_push(&g->site[part], site);
}

static uint32_t site_of(const struct gather *g, uint32_t part, int64_t site)
{
    return (uint64_t)site < g->site[part].n ? g->site[part].at[site] : AS_WAIT_UNKNOWN;
}

static int read_sum_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    return as_vec_push(&g->out->analysis.sum, (struct as_site_sum){.location = (uint32_t)f[0],
                                                                   .site = site_of(g, part, f[1]),
                                                                   .calls_n = (uint64_t)f[2],
                                                                   .open_n = (uint64_t)f[3],
                                                                   .time_ns = f[4],
                                                                   .most_ns = f[5],
                                                                   .sent_b = (uint64_t)f[6],
                                                                   .received_b = (uint64_t)f[7],
                                                                   .transfer_ns = f[8]});
}

static int read_traffic_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    (void)part;
    return as_vec_push(&g->out->analysis.traffic,
                       (struct as_traffic){f[0], f[1], (uint64_t)f[2], (uint64_t)f[3]});
}

static int read_samples_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    const size_t process = g->out->analysis.location.at[f[0]].process;
    const struct as_sampled_sum sum = {.location = (uint32_t)f[0],
                                       .activity = (enum as_activity)f[1],
                                       .routine = f[2] < 0 ? NULL : g->walk.text.at[f[2]],
                                       .address_n = (unsigned)f[3],
                                       .address = {(uint64_t)f[4], (uint64_t)f[5]},
                                       .n = (uint64_t)f[6],
                                       .time_ns = f[7]};
    (void)part;
    return as_sampled_add(&g->out->sampled, &g->out->trace.process.at[process], &sum);
}

/* Numbers of sites are those of the part that has the thread. */
static uint32_t part_of_location(const struct gather *g, uint32_t location)
{
    return location < g->out->analysis.location.n
               ? g->part->owner[g->out->analysis.location.at[location].process]
               : g->part->number;
}

static int read_wait_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    const int64_t *f = record->field + AS_HANDED_KEY_N;
    struct as_wait wait = {.location = (uint32_t)f[0],
                           .kind = (uint8_t)(f[1] & 0xff),
                           .size_class = (uint8_t)(f[1] >> 8 & 0xff),
                           .eager = (uint8_t)(f[1] >> 16 & 0xff),
                           .moves_data = f[1] >> 24 & 1,
                           .sent_b = (uint32_t)f[8],
                           .cause = (uint32_t)f[3],
                           .begin_ns = f[5],
                           .end_ns = f[6],
                           .cause_ns = f[7]};
    (void)part;
    wait.site = site_of(g, part_of_location(g, wait.location), f[2]);
    wait.cause_site = site_of(g, part_of_location(g, wait.cause), f[4]);
    return as_vec_push(&g->out->analysis.waits.wait, wait);
}

static int read_thread_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    const int64_t *f = record->field;
    struct as_location *location = &g->out->analysis.location.at[f[0]];
    (void)part;
    location->span.end_ns = f[1];
    location->events_n = (uint64_t)f[2];
    g->damaged[f[0]] = (uint64_t)f[3];
    for (unsigned i = 0; i < AS_ACTIVITIES_N; i++)
        location->activity_ns[i] = f[4 + i];
    for (unsigned i = 0; i < AS_ACTIVITIES_N; i++)
        location->interest_ns[i] = f[4 + AS_ACTIVITIES_N + i];
    return 0;
}

/* Comes before the bins of the part. */
static int read_found_count(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    (void)part;
    g->out->analysis.events_n += (uint64_t)record->field[0];
    g->out->analysis.broken_n += (uint64_t)record->field[1];
    g->out->analysis.unshared_n += (uint64_t)record->field[4];
    g->part_bin_ns = record->field[2];
    return (uint64_t)record->field[3] == g->part->partition ? 0 : ASSAY_ERR_CORRUPT;
}

static int read_bin_record(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    const int64_t *f = record->field;
    (void)part;
    as_timeline_add(&g->out->timeline, (uint32_t)f[0], (unsigned)f[1], g->part_bin_ns,
                    (uint32_t)f[2], f[3]);
    return 0;
}

static int read_match_count(void *context, uint32_t part, const struct as_handed *record)
{
    struct gather *g = context;
    struct as_analysis *a = &g->out->analysis;
    const int64_t *f = record->field;
    (void)part;
    if (record->kind == AS_PART_SIZE) {
        struct as_size_class *size = &g->out->size[f[0]];
        size->n += (uint64_t)f[1];
        size->size_b += (uint64_t)f[2];
        return 0;
    }
    a->violated_n += (uint64_t)f[0];
    a->messages.matched_n += (uint64_t)f[1];
    a->messages.sends_n += (uint64_t)f[2];
    a->messages.receives_n += (uint64_t)f[3];
    a->unmet_n += (uint64_t)f[4];
    a->broken_n += (uint64_t)f[5];
    for (unsigned path = 0; path < AS_EAGER_PATHS_N; path++)
        if (f[6 + path] > a->eager_b[path])
            a->eager_b[path] = (uint32_t)f[6 + path];
    return 0;
}

/* ---- All of a channel ------------------------------------------------------------------------ */

/* Of one part after the other: what has no place in time. */
static int read_unordered_records(struct gather *g, const char *name, uint32_t channel,
                                  uint32_t part, as_handed_each *each, struct assay_error *err)
{
    struct as_handed_in *from = NULL;
    struct as_handed record;
    char path[4200];
    as_part_path(g->part, name, part, path);
    int rc = as_handed_open(path, channel, &from, err);
    while (rc == 0 && (rc = as_handed_next(from, &record, err)) > 0)
        rc = each(g, part, &record);
    as_handed_free(&from);
    return rc;
}

static int merge_ordered_records(struct gather *g, const char *name, uint32_t channel,
                                 as_handed_each *each, struct assay_error *err)
{
    const struct as_handed_files files = {.directory = as_party_directory(g->part->party),
                                          .part_n = g->part->part_n,
                                          .kind_n = 1,
                                          .kind = {{name, channel}}};
    return as_handed_merge(&files, each, g, err);
}

static int merge_wait_records(struct gather *g, struct assay_error *err)
{
    const struct as_handed_files files = {
        .directory = as_party_directory(g->part->party),
        .part_n = g->part->part_n,
        .kind_n = 2,
        .kind = {{AS_PART_FOUND, AS_FOUND_WAITS}, {AS_PART_MET, AS_MET_WAITS}}};
    AS_TRY(as_handed_merge(&files, read_wait_record, g, err));
    return merge_ordered_records(g, AS_PART_MET, AS_MET_LATE_WAITS, read_wait_record, err);
}

static int read_part_records(struct gather *g, uint32_t part, struct assay_error *err)
{
    const int rc =
        read_unordered_records(g, AS_PART_FOUND, AS_FOUND_COUNTS, part, read_found_count, err);
    if (rc == ASSAY_ERR_CORRUPT)
        return as_error_set(err, rc, "rank %u finds other trace streams than rank 0", part);
    AS_TRY(rc);
    AS_TRY(read_unordered_records(g, AS_PART_FOUND, AS_FOUND_BINS, part, read_bin_record, err));
    AS_TRY(read_unordered_records(g, AS_PART_FOUND, AS_FOUND_LOCATIONS, part, read_thread_record,
                                  err));
    return read_unordered_records(g, AS_PART_MET, AS_MET_COUNTS, part, read_match_count, err);
}

static int read_all_parts(struct gather *g, struct assay_error *err)
{
    AS_TRY(as_walk_prepare(&g->walk, err));
    g->damaged = as_calloc(g->out->analysis.location.n + 1, sizeof *g->damaged);
    g->site = as_calloc(g->part->part_n, sizeof *g->site);
    if (!g->damaged || !g->site)
        return ASSAY_ERR_NOMEM;
    for (uint32_t part = 0; part < g->part->part_n; part++)
        AS_TRY(read_part_records(g, part, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_SITES, read_site_record, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_SUMS, read_sum_record, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_TRAFFIC, read_traffic_record, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_SAMPLES, read_samples_record, err));
    AS_TRY(merge_wait_records(g, err));
    for (size_t i = 0; i < g->out->analysis.location.n; i++)
        g->out->damaged_n += g->damaged[i];
    return as_walk_conclude(&g->out->analysis);
}

int as_part_gather(struct as_trace_part *part, struct as_traced *out, struct assay_error *err)
{
    struct gather g = {
        .part = part, .out = out, .walk = {.trace = &out->trace, .out = &out->analysis}};
    const int rc = read_all_parts(&g, err);
    for (uint32_t i = 0; g.site && i < part->part_n; i++)
        as_vec_fini(&g.site[i]);
    as_free(g.site);
    as_free(g.damaged);
    as_walk_free(&g.walk);
    return rc == ASSAY_ERR_NOMEM ? as_error_nomem(err, "what a trace says") : rc;
}
