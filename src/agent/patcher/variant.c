/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instance of a loop runs as which variant. Each that is drawn runs first with its branches
 * and the addresses of its stores alone: that tells its iterations, by which instances are put
 * together, and what must be put back. Then it runs as a variant, and in any case as the program
 * has it. Time that is spent so stays below that of the program itself.
 */
#include "agent/patcher/variant.h"

#include <sys/syscall.h>
#include <time.h>

/* ---- Choice ---------------------------------------------------------------------------------- */

/* Quarters of powers of two. */
static uint32_t size_of_trips(uint64_t trips)
{
    if (trips < 8)
        return (uint32_t)trips + 1;
    const unsigned high = 63 - (unsigned)__builtin_clzll(trips);
    return high * 4 + (unsigned)(trips >> (high - 2) & 3) + 1;
}

/* NULL: the region has as many as are its part. */
static struct as_variant_bucket *find_bucket(struct as_variant_area *area, uint32_t region,
                                             uint64_t trips)
{
    const uint32_t size = size_of_trips(trips);
    for (uint32_t i = 0; i < AS_VARIANT_BUCKETS; i++) {
        struct as_variant_bucket *it = &area->bucket[(region * 67 + size + i) % AS_VARIANT_BUCKETS];
        if (it->size == 0) {
            if (region < AS_PATCHER_COUNTDOWNS &&
                area->buckets[region]++ > AS_VARIANT_BUCKETS / as_patcher.plan->region.n)
                return NULL;
            *it = (struct as_variant_bucket){.region = region, .size = size};
        }
        if (it->region == region && it->size == size)
            return it;
    }
    return NULL;
}

/* The next of the region's variants in turn, the original one is 0; what nobody would put back is
 * left out. NO_TURN: there are enough of all, or there is no room for more. */
static uint32_t choose_turn(struct as_variant_area *area, uint64_t number, uint64_t trips)
{
    const struct as_patch_region *region = area->region;
    const struct as_patch_variant *variant = as_variant_of(region);
    struct as_variant_bucket *bucket = find_bucket(area, (uint32_t)number, trips);
    while (bucket && bucket->turns < region->variants * as_patcher.plan->period) {
        const uint32_t turn = bucket->turns++ % region->variants;
        const bool writes = turn && variant[turn].bits & AS_VARIANT_WRITES;
        if (!(writes && area->flags & AS_VARIANT_HELD))
            return as_variant_claim_record(area, number) ? turn : AS_VARIANT_NO_TURN;
    }
    return AS_VARIANT_NO_TURN;
}

/* ---- One instance ---------------------------------------------------------------------------- */

static void fail_region(uint64_t region, uint32_t by)
{
    atomic_fetch_add(&as_variants.failed[region], by);
}

/* The program's own run of this instance is measured. */
static uint64_t measure_original(struct as_variant_area *area, uint64_t number,
                                 const struct as_variant_record *record, unsigned sliced)
{
    area->record = *record;
    area->record.kind = AS_VARIANT_ORIG;
    area->record.flags =
        (uint16_t)(sliced | as_variant_wait_for_round(area, number) << AS_VARIANT_TOGETHER);
    area->pending = true;
    area->pending_sp = area->local.general[4];
    return AS_VARIANT_MEASURED;
}

/* Whether what has run is a slice, which ends where it was told to. */
static unsigned slice_flag(const struct as_variant_area *area, uint64_t number, uint64_t trips)
{
    return as_variant_is_sliced(number) && trips == area->slicing[number].trips ? AS_VARIANT_SLICED
                                                                                : 0;
}

static uint64_t vary_instance(struct as_variant_area *area, uint64_t number)
{
    struct as_variant_record record = {.region = (uint32_t)number};
    uint32_t turn = AS_VARIANT_NO_TURN;
    area->flags = 0;
    if (as_variant_is_sliced(number))
        as_variant_limit_to(area, number, area->slicing[number].trips);
    const bool can = as_variant_record(area, &record);
    if (can)
        turn = choose_turn(area, number, record.trips);
    const bool is_held = area->flags & AS_VARIANT_HELD;
    if (is_held || !can)
        as_variant_keep(area, &record);
    turn = as_variant_share_turn(area, number, turn);
    if (!can) {
        fail_region(number, area->flags & AS_VARIANT_HELD ? 1 : AS_VARIANT_FAILURES / 2);
        return AS_VARIANT_PLAIN; /* these take long */
    }
    if (turn == AS_VARIANT_NO_TURN) {
        as_variant_skip_more(area, number);
        return AS_VARIANT_PLAIN;
    }
    if (is_held && turn && as_variant_of(area->region)[turn].bits & AS_VARIANT_WRITES) {
        as_variant_wait_for_round(area,
                                  number); /* another thread, whose addresses are sure, chose it */
        return AS_VARIANT_PLAIN;
    }
    if (number < AS_PATCHER_COUNTDOWNS)
        area->skip[number] = 0;
    area->flags = 0;
    const unsigned sliced = slice_flag(area, number, record.trips);
    if (turn == 0)
        return measure_original(area, number, &record, sliced);
    if (!as_variant_vary(area, as_variant_of(area->region) + turn, &record, (uint32_t)number))
        fail_region(number, area->flags & AS_VARIANT_ENDLESS ? AS_VARIANT_FAILURES / 2 : 1);
    record.flags |= (uint16_t)sliced;
    as_variant_keep(area, &record);
    return sliced ? AS_VARIANT_PASSES : AS_VARIANT_PLAIN;
}

/* Faults have a stack of ours, unless the program is on one of its own. */
static bool set_fault_stack(struct as_variant_area *area, stack_t *before)
{
    const stack_t own = {.ss_sp = area->guard_stack, .ss_size = sizeof area->guard_stack};
    return as_variant_call_system(SYS_sigaltstack, (long)&own, (long)before, 0, 0) == 0;
}

static void set_timer(const struct as_variant_area *area, long ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};
    if (area->has_timer)
        as_variant_call_system(SYS_timer_settime, area->timer, 0, (long)&when, 0);
}

/* With signals blocked and faults on our stack. What may wait for memory has a timer. */
static uint64_t vary_guarded(struct as_variant_area *area, uint64_t number)
{
    const bool is_timed = !(as_variant_of(area->region)->bits & AS_VARIANT_BOUNDED);
    const uint64_t gs = as_variant_get_base();
    as_variant_set_base((uint64_t)(uintptr_t)area);
    if (is_timed)
        set_timer(area, as_variants.limit_ms);
    const uint64_t result = vary_instance(area, number);
    if (is_timed)
        set_timer(area, 0);
    as_variant_set_base(gs);
    return result;
}

/* Called from assembly, which lets signals come again. */
__attribute__((used, visibility("hidden"))) uint64_t
as_variant_dispatch(struct as_variant_area *area, uint64_t number)
{
    static const uint64_t blocked =
        ~((UINT64_C(1) << (SIGSEGV - 1)) | (UINT64_C(1) << (SIGBUS - 1)) |
          (UINT64_C(1) << (SIGFPE - 1)) | (UINT64_C(1) << (SIGILL - 1)));
    const struct as_patch_plan *plan = as_patcher.plan;
    uint64_t result = 0;
    stack_t stack;
    as_variant_call_system(SYS_rt_sigprocmask, SIG_SETMASK, (long)&blocked, (long)&area->local.mask,
                           sizeof blocked);
    if (set_fault_stack(area, &stack)) {
        area->region = (const struct as_patch_region *)as_patch_at(plan, &plan->region) + number;
        result = vary_guarded(area, number);
        as_variant_call_system(SYS_sigaltstack, (long)&stack, 0, 0, 0);
    } else {
        as_variant_share_turn(area, number, AS_VARIANT_NO_TURN);
    }
    if (result != AS_VARIANT_MEASURED)
        as_variant_end_turn(area);
    area->file->spent_ns += as_variant_ran_ns() - area->asked_ran_ns;
    if (result == AS_VARIANT_MEASURED)
        as_variant_watch(area);
    return result;
}
