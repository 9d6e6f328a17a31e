/* SPDX-License-Identifier: Apache-2.0 */
/* The parallel behaviour of a run as JSON (doc/reference/json.md). Times are seconds. */
#include <stdio.h>

#include "analytics/state/interest.h"
#include "report/parallel.h"

#define SECONDS(ns) ((double)(ns)*1e-9)

struct parallel_json {
    const struct as_analysis *analysis;
    struct as_json *json;
    as_parallel_place *place;
    void *context;
};

static void write_site_json(const struct parallel_json *p, uint32_t at)
{
    if (at == AS_WAIT_UNKNOWN) {
        as_json_key_string(p->json, "routine", NULL);
        return;
    }
    const struct as_site *site = &p->analysis->site.at[at];
    as_json_key_string(p->json, "routine", site->routine);
    if (site->address && p->place)
        as_json_key_string(p->json, "place", p->place(p->context, site));
}

static void write_location_json(const struct parallel_json *p, const char *key, uint32_t at)
{
    as_json_key(p->json, key);
    if (at == AS_WAIT_UNKNOWN)
        as_json_null(p->json);
    else
        as_json_u64(p->json, at);
}

/* Writes an activity as a member such as "mpi_s". */
static void write_activity(struct as_json *json, enum as_activity activity, int64_t ns)
{
    char key[64];
    snprintf(key, sizeof key, "%s_s", as_activity_word(activity));
    as_json_key_double(json, key, SECONDS(ns));
}

static void write_locations_json(const struct parallel_json *p, const struct as_wait_sums *sums)
{
    as_json_key(p->json, "locations");
    as_json_array_begin(p->json);
    as_vec_foreach (&p->analysis->location, l) {
        uint32_t at = (uint32_t)(l - p->analysis->location.at);
        as_json_object_begin(p->json);
        as_json_key(p->json, "rank");
        if (l->rank >= 0)
            as_json_i64(p->json, l->rank);
        else
            as_json_null(p->json);
        as_json_key_u64(p->json, "tid", l->tid);
        as_json_key_u64(p->json, "events_n", l->events_n);
        as_json_key_double(p->json, "begin_s", SECONDS(l->span.begin_ns - p->analysis->begin_ns));
        as_json_key_double(p->json, "end_s", SECONDS(l->span.end_ns - p->analysis->begin_ns));
        for (unsigned i = 0; i < AS_ACTIVITIES_N; i++)
            write_activity(p->json, (enum as_activity)i, l->activity_ns[i]);
        as_json_key_double(p->json, "waiting_s", SECONDS(sums->waiting_ns[at]));
        as_json_key_double(p->json, "late_s", SECONDS(sums->late_ns[at]));
        as_json_key_double(p->json, "critical_path_s", SECONDS(sums->path_ns[at]));
        as_json_object_end(p->json);
    }
    as_json_array_end(p->json);
}

static void write_wait_rows(const struct parallel_json *p, const struct as_wait_sums *sums)
{
    as_json_key(p->json, "waits");
    as_json_array_begin(p->json);
    as_vec_foreach (&sums->of_location, wait) {
        as_json_object_begin(p->json);
        as_json_key_string(p->json, "kind", as_wait_word((enum as_wait_kind)wait->kind));
        write_site_json(p, wait->site);
        write_location_json(p, "location", wait->location);
        as_json_key_u64(p->json, "n", wait->n);
        as_json_key_double(p->json, "time_s", SECONDS(wait->time_ns));
        as_json_key_double(p->json, "longest_s", SECONDS(wait->most_ns));
        as_json_object_end(p->json);
    }
    as_json_array_end(p->json);
}

static void write_blame_rows(const struct parallel_json *p)
{
    as_json_key(p->json, "late");
    as_json_array_begin(p->json);
    as_vec_foreach (&p->analysis->blame.blame, blame) {
        as_json_object_begin(p->json);
        write_location_json(p, "location", blame->location);
        write_site_json(p, blame->site);
        as_json_key_u64(p->json, "waits_n", blame->n);
        as_json_key_double(p->json, "direct_s", SECONDS(blame->direct_ns));
        as_json_key_double(p->json, "total_s", SECONDS(blame->total_ns));
        as_json_object_end(p->json);
    }
    as_json_array_end(p->json);
}

/* Returns true for MPI calls, unless they are sums. */
static bool is_split(const struct as_analysis *a, const struct as_site_sum *sum)
{
    return a->summed_n == 0 && as_activity_of_group(a->site.at[sum->site].group) == AS_ACTIVITY_MPI;
}

static void write_call_rows(const struct parallel_json *p)
{
    as_json_key(p->json, "calls");
    as_json_array_begin(p->json);
    as_vec_foreach (&p->analysis->sum, sum) {
        as_json_object_begin(p->json);
        write_location_json(p, "location", sum->location);
        write_site_json(p, sum->site);
        as_json_key_u64(p->json, "calls_n", sum->calls_n);
        as_json_key_double(p->json, "time_s", SECONDS(sum->time_ns));
        as_json_key_double(p->json, "longest_s", SECONDS(sum->most_ns));
        as_json_key_double(p->json, "waiting_s", SECONDS(sum->waiting_ns));
        if (is_split(p->analysis, sum)) {
            as_json_key_double(p->json, "transfer_s", SECONDS(sum->transfer_ns));
            as_json_key_double(p->json, "overhead_s",
                               SECONDS(sum->time_ns - sum->waiting_ns - sum->transfer_ns));
        }
        as_json_key_u64(p->json, "sent_b", sum->sent_b);
        as_json_key_u64(p->json, "received_b", sum->received_b);
        as_json_object_end(p->json);
    }
    as_json_array_end(p->json);
}

static void write_traffic_rows(const struct parallel_json *p)
{
    as_json_key(p->json, "messages");
    as_json_array_begin(p->json);
    as_vec_foreach (&p->analysis->traffic, traffic) {
        as_json_object_begin(p->json);
        as_json_key_i64(p->json, "from", traffic->from);
        as_json_key_i64(p->json, "to", traffic->to);
        as_json_key_u64(p->json, "n", traffic->messages_n);
        as_json_key_u64(p->json, "size_b", traffic->size_b);
        as_json_object_end(p->json);
    }
    as_json_array_end(p->json);
}

static void write_efficiency_json(struct as_json *json, const struct as_efficiency *e)
{
    const struct {
        const char *key;
        double share;
    } shares[] = {{"parallel_efficiency", e->parallel},
                  {"load_balance", e->balance},
                  {"communication_efficiency", e->communication},
                  {"mpi_parallel_efficiency", e->mpi_parallel},
                  {"mpi_load_balance", e->mpi_balance},
                  {"mpi_communication_efficiency", e->mpi_communication},
                  {"mpi_startup_efficiency", e->mpi_startup},
                  {"mpi_serialisation_efficiency", e->mpi_serialisation},
                  {"mpi_transfer_efficiency", e->mpi_transfer},
                  {"openmp_parallel_efficiency", e->openmp_parallel},
                  {"openmp_load_balance", e->openmp_balance},
                  {"openmp_communication_efficiency", e->openmp_communication},
                  {"process_load_balance", e->process_balance},
                  {"process_serialisation", e->process_serialisation},
                  {"process_transfer", e->process_transfer},
                  {"thread_efficiency", e->thread},
                  {"openmp_region_efficiency", e->openmp_region},
                  {"serial_region_efficiency", e->serial_region}};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        as_json_key_double(json, shares[i].key, shares[i].share);
}

static void write_phase_rows(const struct parallel_json *p)
{
    as_json_key(p->json, "phases");
    as_json_array_begin(p->json);
    as_vec_foreach (&p->analysis->phase, phase) {
        const struct as_efficiency *e = &phase->efficiency;
        as_json_object_begin(p->json);
        as_json_key_string(p->json, "region", phase->name);
        as_json_key(p->json, "iteration");
        if (phase->first)
            as_json_u64(p->json, phase->first);
        else
            as_json_null(p->json);
        as_json_key_u64(p->json, "calls_n", phase->calls_n);
        as_json_key_double(p->json, "begin_s", SECONDS(phase->begin_ns - p->analysis->begin_ns));
        as_json_key_double(p->json, "end_s", SECONDS(phase->end_ns - p->analysis->begin_ns));
        as_json_key_u64(p->json, "ranks_n", phase->rank_n);
        as_json_key_u64(p->json, "threads_n", phase->thread_n);
        as_json_key_double(p->json, "time_s", SECONDS(e->elapsed_ns));
        as_json_key_double(p->json, "useful_s", SECONDS(phase->useful_ns));
        as_json_key_double(p->json, "mpi_s", SECONDS(phase->mpi_ns));
        write_location_json(p, "busiest", phase->busiest);
        as_json_key_double(p->json, "parallel_efficiency", e->parallel);
        as_json_key_double(p->json, "load_balance", e->balance);
        as_json_key_double(p->json, "communication_efficiency", e->communication);
        as_json_key_double(p->json, "mpi_parallel_efficiency", e->mpi_parallel);
        as_json_key_double(p->json, "mpi_load_balance", e->mpi_balance);
        as_json_key_double(p->json, "mpi_communication_efficiency", e->mpi_communication);
        as_json_key_double(p->json, "mpi_serialisation_efficiency", e->mpi_serialisation);
        as_json_key_double(p->json, "mpi_transfer_efficiency", e->mpi_transfer);
        as_json_object_end(p->json);
    }
    as_json_array_end(p->json);
}

void as_parallel_json(const struct as_wait_sums *sums, struct as_json *json,
                      as_parallel_place *place, void *context)
{
    const struct as_analysis *a = sums->analysis;
    const struct parallel_json p = {a, json, place, context};
    as_json_object_begin(json);
    as_json_key_double(json, "elapsed_s", SECONDS(a->end_ns - a->begin_ns));
    as_json_key_u64(json, "events_n", a->events_n);
    as_json_key_u64(json, "messages_matched_n", a->messages.matched_n);
    as_json_key_u64(json, "sends_without_partner_n", a->messages.sends_n);
    as_json_key_u64(json, "receives_without_partner_n", a->messages.receives_n);
    as_json_key_u64(json, "collectives_without_partners_n", a->unmet_n);
    as_json_key_u64(json, "broken_n", a->broken_n);
    write_efficiency_json(json, &a->efficiency);
    if (as_interest_is_part(&a->interest)) {
        as_json_key_double(json, "efficiency_begin_s", SECONDS(a->interest.begin_ns - a->begin_ns));
        as_json_key_double(json, "efficiency_end_s", SECONDS(a->interest.end_ns - a->begin_ns));
    }
    write_locations_json(&p, sums);
    write_wait_rows(&p, sums);
    write_blame_rows(&p);
    write_call_rows(&p);
    write_traffic_rows(&p);
    write_phase_rows(&p);
    as_json_object_end(json);
}
