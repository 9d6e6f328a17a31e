/* SPDX-License-Identifier: Apache-2.0 */
/* Room for records of variants: a part of it is promised to each region of the plan. */
#include "agent/patcher/variant.h"

enum { PROMISED_BUCKETS = 2 };

/* Loops that run first leave room for those that the program comes to later: what was promised to
 * the region, or to none, is free. */
bool as_variant_claim_record(struct as_variant_area *area, uint64_t number)
{
    if (number < AS_PATCHER_COUNTDOWNS && area->promised[number]) {
        area->promised[number]--;
        area->promises--;
        return true;
    }
    return area->file->records + area->promises < AS_VARIANT_RECORDS;
}

void as_variant_promise_room(struct as_variant_area *area, const struct as_patch_plan *plan)
{
    const struct as_patch_region *region = as_patch_at(plan, &plan->region);
    for (uint64_t i = 0; i < plan->region.n && i < AS_PATCHER_COUNTDOWNS; i++) {
        const uint64_t wanted = PROMISED_BUCKETS * (uint64_t)plan->period * region[i].variants;
        const uint64_t part = AS_VARIANT_RECORDS / plan->region.n;
        area->promised[i] = (uint32_t)(wanted < part ? wanted : part);
        area->promises += area->promised[i];
    }
}
