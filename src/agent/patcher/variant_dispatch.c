/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether an instance may vary at all: asked before anything of the program is kept, so it uses
 * general registers alone.
 */
#include "agent/patcher/variant.h"

#include <sys/syscall.h>
#include <time.h>

enum { SKIP_MOST = 4096 };

/* Instances that pass before the next is asked. */
void as_variant_skip(uint64_t region, uint32_t instances)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_region *it = as_patch_at(plan, &plan->region);
    const uint32_t loop = it[region].first_loop;
    if (region < AS_PATCHER_COUNTDOWNS && loop < AS_PATCHER_COUNTDOWNS)
        as_patcher_countdown[loop] = instances;
}

void as_variant_skip_more(struct as_variant_area *area, uint64_t region)
{
    if (region >= AS_PATCHER_COUNTDOWNS || as_variants.together)
        return;
    uint32_t *skip = &area->skip[region];
    *skip = *skip < SKIP_MOST ? 2 * *skip + 1 : SKIP_MOST;
    as_variant_skip(region, *skip);
}

/* Whether there may be a variant now. */
static bool may_vary(struct as_variant_area *area, uint64_t number)
{
    if (as_agent.confined || as_agent_self.confined || as_agent.off ||
        as_variants.failed[number] >= AS_VARIANT_FAILURES || as_variant_lacks_limit(number))
        return false;
    if (area->pending && area->local.general[4] < area->pending_sp)
        return false; /* of a handler within the instance that is measured */
    area->pending = false;
    return true;
}

static uint64_t read_clock(long clock)
{
    struct timespec time = {0, 0};
    as_variant_call_system(SYS_clock_gettime, clock, (long)&time, 0, 0);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t as_variant_ran_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void as_variant_begin_clocks(struct as_variant_area *area)
{
    area->begun = as_variant_ticks();
    area->begun_ns = read_clock(CLOCK_MONOTONIC);
    area->begun_ran_ns = as_variant_ran_ns();
}

uint64_t as_variant_ticks_of(const struct as_variant_area *area, uint64_t ns)
{
    const uint64_t ticks = as_variant_ticks() - area->begun;
    const uint64_t passed_ns = read_clock(CLOCK_MONOTONIC) - area->begun_ns;
    return passed_ns ? ns * (ticks * 1024 / passed_ns) / 1024 : ns;
}

static bool has_time(const struct as_variant_area *area)
{
    return area->file->spent_ns <=
           (area->asked_ran_ns - area->begun_ran_ns) / 100 * as_variants.share;
}

/* Called from assembly. */
__attribute__((used, visibility("hidden"))) uint64_t as_variant_ask(struct as_variant_area *area,
                                                                    uint64_t number)
{
    area->asked = as_variant_ticks();
    if (!may_vary(area, number)) {
        as_variant_skip_more(area, number);
        return 0;
    }
    const bool sliced = as_variant_is_sliced(number);
    if (sliced && !as_variant_knows_slice(area, number))
        return AS_VARIANT_PASSES;
    area->asked_ran_ns = as_variant_ran_ns();
    const bool may_open = has_time(area);
    if (may_open || as_variants.together) {
        if (as_variant_begin_turn(area, number, may_open))
            return AS_VARIANT_MEASURED;
        if (sliced)
            as_variant_skip(number, 0);
    } else if (!sliced) {
        as_variant_skip_more(area, number);
    }
    return sliced ? as_variant_pass(area, number) : AS_VARIANT_PLAIN;
}
