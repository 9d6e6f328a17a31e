/* SPDX-License-Identifier: Apache-2.0 */
/* Divides the processes of a trace among parts, and writes the results of a part. */
#include "analytics/parallel/partition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/sort.h"

/* ---- Dividing -------------------------------------------------------------------------------- */

static uint64_t size_of_process(const struct as_trace_process *process)
{
    uint64_t size_b = 1;
    as_vec_foreach (&process->thread, stream)
        size_b += as_trace_stream_facts(*stream)->size_b;
    return size_b;
}

static uint64_t hash_of_rank(int64_t rank)
{
    return as_hash_mix(11, (uint64_t)rank);
}

static uint32_t find_rank(const struct as_trace_part *part, int64_t rank)
{
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&part->ranks, hash_of_rank(rank));
         (at = as_index_next(&part->ranks, &probe)) != AS_INDEX_NONE;)
        if (part->trace->process.at[at].rank == rank)
            return at;
    return AS_INDEX_NONE;
}

bool as_part_is_possible(const struct as_trace *trace)
{
    as_vec_foreach (&trace->process, process)
        if (process->window.n)
            return false;
    return true;
}

uint32_t as_part_of_rank(const struct as_trace_part *part, int64_t rank)
{
    const uint32_t process = find_rank(part, rank);
    return process == AS_INDEX_NONE ? part->number : part->owner[process];
}

/* Assigns processes to parts: the largest first, each to the part with the smallest load. Processes
 * of one rank join the first of that rank. */
static int divide(struct as_trace_part *part, uint64_t *load, uint64_t *size,
                  struct as_sort_key *order)
{
    const struct as_trace *trace = part->trace;
    uint32_t n = 0;
    for (uint32_t p = 0; p < trace->process.n; p++) {
        const int64_t rank = trace->process.at[p].rank;
        const uint32_t first = rank < 0 ? AS_INDEX_NONE : find_rank(part, rank);
        if (rank >= 0 && first == AS_INDEX_NONE)
            AS_TRY(as_index_add(&part->ranks, hash_of_rank(rank), p));
        part->owner[p] = first == AS_INDEX_NONE ? p : first;
        size[part->owner[p]] += size_of_process(&trace->process.at[p]);
    }
    for (uint32_t p = 0; p < trace->process.n; p++)
        if (part->owner[p] == p)
            order[n++] = (struct as_sort_key){~size[p], p};
    AS_TRY(as_sort_keys(order, n));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < part->part_n; k++)
            if (load[k] < load[least])
                least = k;
        load[least] += size[order[i].at];
        size[order[i].at] = least;
    }
    for (uint32_t p = 0; p < trace->process.n; p++)
        part->owner[p] = (uint32_t)size[part->owner[p]];
    return 0;
}

/* Parts that saw other files would divide otherwise. */
static uint64_t digest_of(const struct as_trace_part *part)
{
    uint64_t hash = as_hash_mix(13, part->part_n);
    for (uint32_t p = 0; p < part->trace->process.n; p++) {
        const struct as_trace_process *process = &part->trace->process.at[p];
        hash = as_hash_mix(hash, process->pid);
        hash = as_hash_mix(hash, process->begun_ns);
        hash = as_hash_mix(hash, (uint64_t)process->rank);
        hash = as_hash_mix(hash, process->thread.n);
        hash = as_hash_mix(hash, part->owner[p]);
    }
    return hash >> 1;
}

int as_part_init(struct as_trace_part *part, const struct as_trace *trace,
                 const struct as_party *party)
{
    const size_t n = trace->process.n;
    *part = (struct as_trace_part){.party = party,
                                   .number = as_party_rank(party),
                                   .part_n = as_party_size(party),
                                   .trace = trace};
    uint64_t *load = as_calloc(part->part_n, sizeof *load);
    uint64_t *size = as_calloc(n + 1, sizeof *size);
    struct as_sort_key *order = as_calloc(n + 1, sizeof *order);
    part->owner = as_calloc(n + 1, sizeof *part->owner);
    part->is_left_out = as_calloc(n + 1, sizeof *part->is_left_out);
    const bool has_all = load && size && order && part->owner && part->is_left_out;
    const int rc = has_all ? divide(part, load, size, order) : AS_ERR_NOMEM;
    for (size_t p = 0; rc == 0 && p < n; p++)
        part->is_left_out[p] = part->owner[p] != part->number;
    part->partition = rc == 0 ? digest_of(part) : 0;
    as_free(load);
    as_free(size);
    as_free(order);
    if (rc < 0)
        as_part_fini(part);
    return rc;
}

void as_part_fini(struct as_trace_part *part)
{
    (void)as_shuffle_close(&part->crossing, NULL);
    (void)as_shuffle_close(&part->found, NULL);
    as_free(part->owner);
    as_free(part->is_left_out);
    as_vec_fini(&part->free_slot);
    as_vec_fini(&part->free_send);
    as_vec_fini(&part->begun);
    as_vec_fini(&part->sum_key);
    as_vec_fini(&part->traffic_key);
    as_vec_fini(&part->sampled_key);
    as_index_fini(&part->begun_rows);
    as_index_fini(&part->ranks);
    *part = (struct as_trace_part){0};
}

void as_part_path(const struct as_trace_part *part, const char *name, uint32_t number,
                  char path[4200])
{
    snprintf(path, 4200, "%s/%s.%" PRIu32, as_party_directory(part->party), name, number);
}

/* ---- Records --------------------------------------------------------------------------------- */

const struct as_part_key *as_part_step(struct as_trace_part *part)
{
    part->key.step++;
    return &part->key;
}

void as_part_write_wait(struct as_shuffle_out *to, uint32_t channel, const struct as_part_key *key,
                        const struct as_wait *wait)
{
    const struct as_part_wait fields = {.location = wait->location,
                                        .kind = wait->kind,
                                        .size_class = wait->size_class,
                                        .eager = wait->eager,
                                        .moves_data = wait->moves_data,
                                        .site = wait->site,
                                        .cause = wait->cause,
                                        .cause_site = wait->cause_site,
                                        .begin_ns = wait->begin_ns,
                                        .end_ns = wait->end_ns,
                                        .cause_ns = wait->cause_ns,
                                        .sent_b = wait->sent_b};
    const struct as_shuffle_record record = as_part_pack_wait(key, &fields);
    as_shuffle_write(to, channel, &record);
}

/* ---- On the walk ----------------------------------------------------------------------------- */

void as_part_at(struct as_trace_part *part, uint32_t location, int64_t ns)
{
    part->key.ns = ns;
    part->key.location = location;
}

static void write_site_record(struct as_trace_part *part, const struct as_trace_walk *walk,
                              const struct as_site_seen *seen)
{
    const struct as_part_site fields = {.routine = seen->routine,
                                        .group = walk->out->site.at[seen->site].group,
                                        .process = seen->process,
                                        .address = (int64_t)seen->address,
                                        .is_function = walk->out->site.at[seen->site].is_function};
    const struct as_shuffle_record record = as_part_pack_site(as_part_step(part), &fields);
    as_shuffle_write(part->found, AS_FOUND_SITES, &record);
}

int as_part_passed(struct as_trace_part *part, struct as_trace_walk *walk)
{
    struct as_analysis *out = walk->out;
    for (; part->seen_n < walk->seen.n; part->seen_n++)
        if (walk->seen.at[part->seen_n].site == part->sites_n) {
            write_site_record(part, walk, &walk->seen.at[part->seen_n]);
            part->sites_n++;
        }
    while (part->sum_key.n < out->sum.n) {
        part->key.step++;
        AS_TRY(as_vec_push(&part->sum_key, part->key));
    }
    while (part->traffic_key.n < out->traffic.n) {
        part->key.step++;
        AS_TRY(as_vec_push(&part->traffic_key, part->key));
    }
    while (part->sampled_key.n < part->sampled->sum.n) {
        part->key.step++;
        AS_TRY(as_vec_push(&part->sampled_key, part->key));
    }
    as_vec_foreach (&out->waits.wait, wait) {
        part->key.step++;
        as_part_write_wait(part->found, AS_FOUND_WAITS, &part->key, wait);
    }
    out->waits.wait.n = 0; /* rank 0 has them */
    return 0;
}

/* ---- After the walk -------------------------------------------------------------------------- */

static void write_sum_records(const struct as_trace_part *part, const struct as_analysis *a)
{
    for (size_t i = 0; i < a->sum.n; i++) {
        const struct as_site_sum *sum = &a->sum.at[i];
        const struct as_part_sum fields = {.location = sum->location,
                                           .site = sum->site,
                                           .calls_n = (int64_t)sum->calls_n,
                                           .open_n = (int64_t)sum->open_n,
                                           .time_ns = sum->time_ns,
                                           .most_ns = sum->most_ns,
                                           .sent_b = (int64_t)sum->sent_b,
                                           .received_b = (int64_t)sum->received_b,
                                           .transfer_ns = sum->transfer_ns};
        const struct as_shuffle_record record = as_part_pack_sum(&part->sum_key.at[i], &fields);
        as_shuffle_write(part->found, AS_FOUND_SUMS, &record);
    }
    for (size_t i = 0; i < a->traffic.n; i++) {
        const struct as_message_traffic *traffic = &a->traffic.at[i];
        const struct as_part_traffic fields = {.from = traffic->from,
                                               .to = traffic->to,
                                               .messages_n = (int64_t)traffic->messages_n,
                                               .size_b = (int64_t)traffic->size_b};
        const struct as_shuffle_record record =
            as_part_pack_traffic(&part->traffic_key.at[i], &fields);
        as_shuffle_write(part->found, AS_FOUND_TRAFFIC, &record);
    }
}

/* Texts of the walk are the same in all parts, and so are their numbers. */
static int number_texts(const struct as_trace_walk *walk, struct as_index *numbers)
{
    for (uint32_t i = 0; i < walk->text.n; i++)
        AS_TRY(as_index_add(numbers, as_hash_mix(43, (uintptr_t)walk->text.at[i]), i));
    return 0;
}

static int64_t number_of_text(const struct as_trace_walk *walk, const struct as_index *numbers,
                              const char *text)
{
    uint32_t at;
    for (struct as_probe probe = as_index_probe(numbers, as_hash_mix(43, (uintptr_t)text));
         (at = as_index_next(numbers, &probe)) != AS_INDEX_NONE;)
        if (walk->text.at[at] == text)
            return at;
    return -1;
}

static int write_sample_records(const struct as_trace_part *part, const struct as_trace_walk *walk)
{
    struct as_index numbers = {0};
    const int rc = part->sampled->sum.n ? number_texts(walk, &numbers) : 0;
    for (size_t i = 0; rc == 0 && i < part->sampled->sum.n; i++) {
        const struct as_sampled_sum *sum = &part->sampled->sum.at[i];
        const struct as_part_sampled fields = {
            .location = sum->location,
            .activity = sum->activity,
            .routine = number_of_text(walk, &numbers, sum->routine),
            .address_n = sum->address_n,
            .address = {(int64_t)sum->address[0], (int64_t)sum->address[1]},
            .n = (int64_t)sum->n,
            .time_ns = sum->time_ns};
        const struct as_shuffle_record record =
            as_part_pack_sampled(&part->sampled_key.at[i], &fields);
        as_shuffle_write(part->found, AS_FOUND_SAMPLES, &record);
    }
    as_index_fini(&numbers);
    return rc;
}

static void write_thread_record(const struct as_trace_part *part, const struct as_analysis *a,
                                uint32_t at)
{
    const struct as_location *location = &a->location.at[at];
    const struct as_trace_stream *stream =
        part->trace->process.at[location->process].thread.at[location->thread];
    struct as_part_thread fields = {.location = at,
                                    .end_ns = location->span.end_ns,
                                    .events_n = (int64_t)location->events_n,
                                    .damaged_n = (int64_t)as_trace_stream_facts(stream)->damaged_n};
    _Static_assert(sizeof fields.activity_ns == sizeof location->activity_ns &&
                       sizeof fields.interest_ns == sizeof location->interest_ns,
                   "a number for each activity");
    memcpy(fields.activity_ns, location->activity_ns, sizeof fields.activity_ns);
    memcpy(fields.interest_ns, location->interest_ns, sizeof fields.interest_ns);
    const struct as_shuffle_record record = as_part_pack_thread(NULL, &fields);
    as_shuffle_write(part->found, AS_FOUND_THREADS, &record);
}

static void write_bin_records(const struct as_trace_part *part, const struct as_timeline *timeline,
                              uint32_t at)
{
    for (unsigned plane = 0; plane < AS_ACTIVITIES_N; plane++) {
        const int64_t *ns = as_timeline_bins(timeline, at, plane);
        for (uint32_t bin = 0; bin < timeline->bin_n; bin++) {
            const struct as_part_bin fields = {at, plane, bin, ns[bin]};
            const struct as_shuffle_record record = as_part_pack_bin(NULL, &fields);
            if (ns[bin])
                as_shuffle_write(part->found, AS_FOUND_BINS, &record);
        }
    }
}

int as_part_write_found(struct as_trace_part *part, const struct as_trace_walk *walk,
                        const struct as_timeline *timeline)
{
    const struct as_analysis *a = walk->out;
    write_sum_records(part, a);
    AS_TRY(write_sample_records(part, walk));
    for (uint32_t at = 0; at < a->location.n; at++)
        if (!part->is_left_out[a->location.at[at].process]) {
            write_thread_record(part, a, at);
            write_bin_records(part, timeline, at);
        }
    const struct as_part_found_totals totals = {.events_n = (int64_t)a->events_n,
                                                .broken_n = (int64_t)a->broken_n,
                                                .bin_ns = timeline->bin_ns,
                                                .partition = (int64_t)part->partition,
                                                .unshared_n = (int64_t)a->unshared_n};
    const struct as_shuffle_record count = as_part_pack_found_totals(NULL, &totals);
    as_shuffle_write(part->found, AS_FOUND_COUNTS, &count);
    return 0;
}
