/* SPDX-License-Identifier: Apache-2.0 */
/* In rank 0: what all parts handed on becomes one analysis, in the order of a single walk. */
#include <string.h>

#include "analytics/parallel/partition.h"
#include "base/error.h"

struct gather {
    struct as_trace_part *part;
    struct as_traced *out;
    struct as_trace_walk walk;
    AS_VEC(uint32_t) * site; /* by part: its number of a site -> number in `out` */
    uint64_t *damaged;       /* by trace thread: damaged blocks */
    int64_t part_bin_ns;
};

/* ---- Records: numbers may be damaged, or of another trace ------------------------------------ */

static bool is_below(int64_t number, size_t n)
{
    return (uint64_t)number < n;
}

static bool has_location(const struct gather *g, int64_t location)
{
    return is_below(location, g->out->analysis.location.n);
}

static int read_site_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_site f;
    uint32_t site;
    AS_TRY(as_part_unpack_site(record, &f));
    if (!is_below(f.routine, g->walk.text.n) ||
        (f.address && !is_below(f.process, g->out->trace.process.n)))
        return AS_ERR_CORRUPT;
    const struct as_open_call frame = {.routine = (uint32_t)f.routine,
                                       .group = (uint32_t)f.group,
                                       .address = (uint64_t)f.address,
                                       .is_function = f.is_function != 0};
    const struct as_walker walker = {.process = (uint32_t)f.process};
    AS_TRY(as_walk_site(&g->walk, &walker, &frame, &site));
    return as_vec_push(&g->site[part], site);
}

static uint32_t site_of(const struct gather *g, uint32_t part, int64_t site)
{
    return is_below(site, g->site[part].n) ? g->site[part].at[site] : AS_WAIT_UNKNOWN;
}

static int read_sum_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_sum f;
    AS_TRY(as_part_unpack_sum(record, &f));
    if (!has_location(g, f.location))
        return AS_ERR_CORRUPT;
    return as_vec_push(&g->out->analysis.sum,
                       (struct as_site_sum){.location = (uint32_t)f.location,
                                            .site = site_of(g, part, f.site),
                                            .calls_n = (uint64_t)f.calls_n,
                                            .open_n = (uint64_t)f.open_n,
                                            .time_ns = f.time_ns,
                                            .most_ns = f.most_ns,
                                            .sent_b = (uint64_t)f.sent_b,
                                            .received_b = (uint64_t)f.received_b,
                                            .transfer_ns = f.transfer_ns});
}

static int read_traffic_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_traffic f;
    (void)part;
    AS_TRY(as_part_unpack_traffic(record, &f));
    return as_vec_push(&g->out->analysis.traffic,
                       (struct as_message_traffic){.from = f.from,
                                                   .to = f.to,
                                                   .messages_n = (uint64_t)f.messages_n,
                                                   .size_b = (uint64_t)f.size_b});
}

static int read_samples_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_sampled f;
    (void)part;
    AS_TRY(as_part_unpack_sampled(record, &f));
    if (!has_location(g, f.location) || !is_below(f.activity, AS_ACTIVITIES_N) ||
        f.routine >= (int64_t)g->walk.text.n || !is_below(f.address_n, 3))
        return AS_ERR_CORRUPT;
    const size_t process = g->out->analysis.location.at[f.location].process;
    const struct as_sampled_sum sum = {.location = (uint32_t)f.location,
                                       .activity = (enum as_activity)f.activity,
                                       .routine = f.routine < 0 ? NULL : g->walk.text.at[f.routine],
                                       .address_n = (unsigned)f.address_n,
                                       .address = {(uint64_t)f.address[0], (uint64_t)f.address[1]},
                                       .n = (uint64_t)f.n,
                                       .time_ns = f.time_ns};
    return as_sampled_add(&g->out->sampled, &g->out->trace.process.at[process], &sum);
}

/* Numbers of sites are those of the part that has the thread. */
static uint32_t part_of_location(const struct gather *g, uint32_t location)
{
    return location < g->out->analysis.location.n
               ? g->part->owner[g->out->analysis.location.at[location].process]
               : g->part->number;
}

static int read_wait_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_wait f;
    (void)part;
    AS_TRY(as_part_unpack_wait(record, &f));
    if (!has_location(g, f.location) ||
        !(has_location(g, f.cause) || f.cause == (int64_t)AS_WAIT_UNKNOWN) ||
        !is_below(f.kind, AS_WAIT_KINDS_N) || !is_below(f.size_class, AS_SIZE_CLASSES_N) ||
        !is_below(f.eager, AS_EAGER_PATHS_N))
        return AS_ERR_CORRUPT;
    struct as_wait wait = {.location = (uint32_t)f.location,
                           .kind = (uint8_t)f.kind,
                           .size_class = (uint8_t)f.size_class,
                           .eager = (uint8_t)f.eager,
                           .moves_data = f.moves_data != 0,
                           .sent_b = (uint32_t)f.sent_b,
                           .cause = (uint32_t)f.cause,
                           .begin_ns = f.begin_ns,
                           .end_ns = f.end_ns,
                           .cause_ns = f.cause_ns};
    wait.site = site_of(g, part_of_location(g, wait.location), f.site);
    wait.cause_site = site_of(g, part_of_location(g, wait.cause), f.cause_site);
    return as_vec_push(&g->out->analysis.waits.wait, wait);
}

static int read_thread_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_thread f;
    (void)part;
    AS_TRY(as_part_unpack_thread(record, &f));
    if (!has_location(g, f.location))
        return AS_ERR_CORRUPT;
    struct as_location *location = &g->out->analysis.location.at[f.location];
    location->span.end_ns = f.end_ns;
    location->events_n = (uint64_t)f.events_n;
    g->damaged[f.location] = (uint64_t)f.damaged_n;
    memcpy(location->activity_ns, f.activity_ns, sizeof location->activity_ns);
    memcpy(location->interest_ns, f.interest_ns, sizeof location->interest_ns);
    return 0;
}

/* Comes before the bins of the part. */
static int read_found_totals(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_found_totals f;
    (void)part;
    AS_TRY(as_part_unpack_found_totals(record, &f));
    if (f.bin_ns <= 0 || f.bin_ns > INT64_MAX / 4)
        return AS_ERR_CORRUPT;
    g->out->analysis.events_n += (uint64_t)f.events_n;
    g->out->analysis.broken_n += (uint64_t)f.broken_n;
    g->out->analysis.unshared_n += (uint64_t)f.unshared_n;
    g->part_bin_ns = f.bin_ns;
    return (uint64_t)f.partition == g->part->partition ? 0 : AS_ERR_CORRUPT;
}

static int read_bin_record(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_part_bin f;
    (void)part;
    AS_TRY(as_part_unpack_bin(record, &f));
    if (!has_location(g, f.location) || !is_below(f.plane, AS_TIMELINE_PLANES_N) ||
        !is_below(f.bin, g->out->timeline.bin_n) || g->part_bin_ns <= 0)
        return AS_ERR_CORRUPT;
    as_timeline_add(&g->out->timeline, (uint32_t)f.location, (unsigned)f.plane, g->part_bin_ns,
                    (uint32_t)f.bin, f.time_ns);
    return 0;
}

static int read_size_record(struct gather *g, const struct as_shuffle_record *record)
{
    struct as_part_size f;
    AS_TRY(as_part_unpack_size(record, &f));
    if (!is_below(f.size_class, AS_SIZE_CLASSES_N))
        return AS_ERR_CORRUPT;
    g->out->size[f.size_class].n += (uint64_t)f.n;
    g->out->size[f.size_class].size_b += (uint64_t)f.size_b;
    return 0;
}

static int read_exchange_record(struct gather *g, const struct as_shuffle_record *record)
{
    struct as_part_exchange f;
    AS_TRY(as_part_unpack_exchange(record, &f));
    if (!has_location(g, f.location))
        return AS_ERR_CORRUPT;
    const struct as_exchange exchange = {
        .location = (uint32_t)f.location,
        .site = site_of(g, part_of_location(g, (uint32_t)f.location), f.site),
        .from = f.from,
        .to = f.to,
        .n = (uint64_t)f.n,
        .size_b = (uint64_t)f.size_b,
        .transfer_ns = f.transfer_ns,
        .wait_ns = f.wait_ns};
    return as_exchanges_add(&g->out->exchanges, &exchange);
}

static int read_match_totals(void *context, uint32_t part, const struct as_shuffle_record *record)
{
    struct gather *g = context;
    struct as_analysis *a = &g->out->analysis;
    struct as_part_match_totals f;
    (void)part;
    if (record->kind == AS_PART_SIZE)
        return read_size_record(g, record);
    if (record->kind == AS_PART_EXCHANGE)
        return read_exchange_record(g, record);
    AS_TRY(as_part_unpack_match_totals(record, &f));
    a->violated_n += (uint64_t)f.violated_n;
    a->messages.matched_n += (uint64_t)f.matched_n;
    a->messages.sends_n += (uint64_t)f.sends_n;
    a->messages.receives_n += (uint64_t)f.receives_n;
    a->unmet_n += (uint64_t)f.unmet_n;
    a->broken_n += (uint64_t)f.broken_n;
    for (unsigned path = 0; path < AS_EAGER_PATHS_N; path++)
        if (f.eager_b[path] > a->eager_b[path])
            a->eager_b[path] = (uint32_t)f.eager_b[path];
    return 0;
}

/* ---- All of a channel ------------------------------------------------------------------------ */

/* Reads the records without a key, one part after the other. */
static int read_unordered_records(struct gather *g, const char *name, uint32_t channel,
                                  uint32_t part, as_shuffle_each *each, struct as_error *err)
{
    struct as_shuffle_in *from = NULL;
    struct as_shuffle_record record;
    char path[4200];
    as_part_path(g->part, name, part, path);
    int rc = as_shuffle_open(path, channel, &from, err);
    while (rc == 0 && (rc = as_shuffle_next(from, &record, err)) > 0) {
        rc = each(g, part, &record);
        if (rc == AS_ERR_CORRUPT)
            as_error_set(err, rc, "%s: is not whole", path);
    }
    as_shuffle_free(&from);
    return rc;
}

static int merge_ordered_records(struct gather *g, const char *name, uint32_t channel,
                                 as_shuffle_each *each, struct as_error *err)
{
    const struct as_shuffle_files files = {.directory = as_party_directory(g->part->party),
                                           .part_n = g->part->part_n,
                                           .kind_n = 1,
                                           .kind = {{name, channel}}};
    return as_shuffle_merge(&files, each, g, err);
}

static int merge_wait_records(struct gather *g, struct as_error *err)
{
    const struct as_shuffle_files files = {
        .directory = as_party_directory(g->part->party),
        .part_n = g->part->part_n,
        .kind_n = 2,
        .kind = {{AS_PART_FOUND, AS_FOUND_WAITS}, {AS_PART_MATCHED, AS_MATCHED_WAITS}}};
    AS_TRY(as_shuffle_merge(&files, read_wait_record, g, err));
    return merge_ordered_records(g, AS_PART_MATCHED, AS_MATCHED_LATE_WAITS, read_wait_record, err);
}

static int read_part_records(struct gather *g, uint32_t part, struct as_error *err)
{
    const int rc =
        read_unordered_records(g, AS_PART_FOUND, AS_FOUND_COUNTS, part, read_found_totals, err);
    if (rc == AS_ERR_CORRUPT)
        return as_error_set(err, rc, "rank %u finds other trace streams than rank 0", part);
    AS_TRY(rc);
    AS_TRY(read_unordered_records(g, AS_PART_FOUND, AS_FOUND_BINS, part, read_bin_record, err));
    return read_unordered_records(g, AS_PART_FOUND, AS_FOUND_THREADS, part, read_thread_record,
                                  err);
}

static int read_all_parts(struct gather *g, struct as_error *err)
{
    AS_TRY(as_walk_prepare(&g->walk, err));
    g->damaged = as_calloc(g->out->analysis.location.n + 1, sizeof *g->damaged);
    g->site = as_calloc(g->part->part_n, sizeof *g->site);
    if (!g->damaged || !g->site)
        return AS_ERR_NOMEM;
    for (uint32_t part = 0; part < g->part->part_n; part++)
        AS_TRY(read_part_records(g, part, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_SITES, read_site_record, err));
    for (uint32_t part = 0; part < g->part->part_n; part++)
        AS_TRY(read_unordered_records(g, AS_PART_MATCHED, AS_MATCHED_COUNTS, part,
                                      read_match_totals, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_SUMS, read_sum_record, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_TRAFFIC, read_traffic_record, err));
    AS_TRY(merge_ordered_records(g, AS_PART_FOUND, AS_FOUND_SAMPLES, read_samples_record, err));
    AS_TRY(merge_wait_records(g, err));
    for (size_t i = 0; i < g->out->analysis.location.n; i++)
        g->out->damaged_n += g->damaged[i];
    return as_walk_conclude(&g->out->analysis);
}

int as_part_gather(struct as_trace_part *part, struct as_traced *out, struct as_error *err)
{
    struct gather g = {
        .part = part, .out = out, .walk = {.trace = &out->trace, .out = &out->analysis}};
    const int rc = read_all_parts(&g, err);
    for (uint32_t i = 0; g.site && i < part->part_n; i++)
        as_vec_fini(&g.site[i]);
    as_free(g.site);
    as_free(g.damaged);
    as_walk_free(&g.walk);
    return rc == AS_ERR_NOMEM ? as_error_nomem(err, "what a trace says") : rc;
}
