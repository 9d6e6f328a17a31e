/* SPDX-License-Identifier: Apache-2.0 */
#include "analytics/state/sampled.h"

#include <string.h>

#include "base/error.h"

static int place_of(struct as_sampled *sampled, const struct as_trace_process *process,
                    uint64_t address, bool is_caller, uint32_t *out)
{
    struct as_sampled_place place = {.in_file = address, .is_caller = is_caller};
    const struct as_trace_module *module = as_trace_module_of(process, address, &place.in_file);
    place.module = module ? module->path : NULL;
    place.place = module ? NULL : as_trace_place_of(process, address);
    const uint64_t hash = as_hash_mix(place.in_file, is_caller);
    for (struct as_probe probe = as_index_probe(&sampled->places, hash);
         (*out = as_index_next(&sampled->places, &probe)) != AS_INDEX_NONE;) {
        const struct as_sampled_place *known = &sampled->place.at[*out];
        if (known->in_file == place.in_file && known->is_caller == is_caller &&
            !known->module == !place.module &&
            (!place.module || strcmp(known->module, place.module) == 0))
            return 0;
    }
    AS_TRY(as_vec_push(&sampled->place, place));
    *out = (uint32_t)(sampled->place.n - 1);
    return as_index_add(&sampled->places, hash, *out);
}

static int sum_of(struct as_sampled *sampled, const struct as_sampled_sum *like,
                  struct as_sampled_sum **out)
{
    uint64_t hash = as_hash_mix(as_hash_mix(like->location, like->activity), like->place);
    hash = as_hash_mix(as_hash_mix(hash, like->caller), (uintptr_t)like->routine);
    uint32_t at;
    for (struct as_probe probe = as_index_probe(&sampled->sums, hash);
         (at = as_index_next(&sampled->sums, &probe)) != AS_INDEX_NONE;) {
        *out = &sampled->sum.at[at];
        if ((*out)->location == like->location && (*out)->activity == like->activity &&
            (*out)->place == like->place && (*out)->caller == like->caller &&
            (*out)->routine == like->routine)
            return 0;
    }
    AS_TRY(as_vec_push(&sampled->sum, *like));
    *out = &sampled->sum.at[sampled->sum.n - 1];
    return as_index_add(&sampled->sums, hash, (uint32_t)(sampled->sum.n - 1));
}

int as_sampled_add(struct as_sampled *sampled, const struct as_trace_process *process,
                   const struct as_sampled_sum *it)
{
    struct as_sampled_sum like = *it, *sum;
    like.place = like.caller = AS_INDEX_NONE;
    like.n = 0;
    like.time_ns = 0;
    if (it->address_n > 0)
        AS_TRY(place_of(sampled, process, it->address[0], false, &like.place));
    if (it->address_n > 1)
        AS_TRY(place_of(sampled, process, it->address[1], true, &like.caller));
    AS_TRY(sum_of(sampled, &like, &sum));
    sum->n += it->n;
    sum->time_ns += it->time_ns;
    return 0;
}

int as_sampled_add_event(struct as_sampled *sampled, const struct as_trace_process *process,
                         uint32_t location, enum as_activity activity, const char *routine,
                         const struct as_trace_event *event)
{
    struct as_sampled_sum one = {.location = location,
                                 .activity = activity,
                                 .routine = routine,
                                 .n = 1,
                                 .time_ns = event->sample.period_ns,
                                 .address_n = event->list_n < 2 ? (unsigned)event->list_n : 2};
    for (unsigned i = 0; i < one.address_n; i++)
        one.address[i] = event->list[i];
    return as_sampled_add(sampled, process, &one);
}

void as_sampled_fini(struct as_sampled *sampled)
{
    as_vec_fini(&sampled->place);
    as_vec_fini(&sampled->sum);
    as_index_fini(&sampled->places);
    as_index_fini(&sampled->sums);
}
