/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads vary at once. One thread by default: the others run as the program has it, as they
 * do beside ORIG. When it is asked for, all that come to the same loop within a short time run the
 * same variant at once, as the threads of a parallel region do: they share caches and memory then
 * as in the program.
 */
#include "agent/patcher/variant.h"

#include <sched.h>
#include <sys/syscall.h>

#define TURN_TICKS   (UINT64_C(1) << 30) /* an owner that is not seen again has lost its turn */
#define WINDOW_TICKS (INT64_C(1) << 18)  /* for others to come */
#define OPENING      UINT64_C(1)
#define PATIENCE     (UINT64_C(1) << 26) /* ticks; for those that came */

/* ---- One thread ------------------------------------------------------------------------------ */

static _Atomic uint32_t owner; /* thread; 0: none */
static _Atomic uint64_t owned; /* ticks: since when */

static bool claim_turn(uint64_t now)
{
    const uint32_t own = (uint32_t)as_agent_self.tid;
    uint32_t is = 0;
    if (!atomic_compare_exchange_strong(&owner, &is, own) && is != own &&
        (now - atomic_load(&owned) < TURN_TICKS ||
         !atomic_compare_exchange_strong(&owner, &is, own)))
        return false;
    atomic_store(&owned, now);
    return true;
}

void as_variant_end_turn(struct as_variant_area *area)
{
    uint32_t own = (uint32_t)as_agent_self.tid;
    (void)area;
    atomic_compare_exchange_strong(&owner, &own, 0);
}

/* ---- All at once ----------------------------------------------------------------------------- */

/* Of a region: the thread that opens it chooses, the others join while it is open. */
struct as_variant_round {
    _Atomic uint32_t number;                       /* 0: none yet */
    _Atomic uint32_t joined, ready, turn, turn_of; /* the turn is that of round `turn_of` */
    _Atomic uint32_t members;                      /* that came the last time */
    _Atomic uint64_t opened;                       /* ticks */
};
static struct as_variant_round rounds[AS_PATCHER_COUNTDOWNS];

static bool is_together(uint64_t region)
{
    return as_variants.together && region < AS_PATCHER_COUNTDOWNS;
}

static bool open_round(struct as_variant_area *area, uint64_t region, uint64_t before)
{
    struct as_variant_round *round = &rounds[region];
    if (!atomic_compare_exchange_strong(&round->opened, &before, OPENING))
        return false;
    atomic_store(&round->members, atomic_load(&round->joined));
    atomic_store(&round->joined, 1);
    atomic_store(&round->ready, 0);
    area->joined[region] = atomic_fetch_add(&round->number, 1) + 1;
    area->opens = true;
    atomic_store(&round->opened, area->asked);
    return true;
}

static bool join_round(struct as_variant_area *area, uint64_t region, bool may_open)
{
    struct as_variant_round *round = &rounds[region];
    uint64_t opened = atomic_load(&round->opened);
    for (unsigned i = 0; i < 1000 && opened == OPENING; i++)
        opened = atomic_load(&round->opened);
    const int64_t passed = (int64_t)(area->asked - opened); /* clocks of processors may differ */
    area->opens = false;
    if (opened == OPENING)
        return false;
    if (opened && passed < WINDOW_TICKS) {
        const uint32_t number = atomic_load(&round->number);
        if (number == area->joined[region])
            return false;
        area->joined[region] = number;
        atomic_fetch_add(&round->joined, 1);
        return true;
    }
    return may_open && (!opened || passed > 2 * WINDOW_TICKS) && open_round(area, region, opened);
}

bool as_variant_begin_turn(struct as_variant_area *area, uint64_t region, bool may_open)
{
    if (is_together(region))
        return join_round(area, region, may_open);
    if (may_open && claim_turn(area->asked))
        return true;
    as_variant_skip(region, 7);
    return false;
}

static void wait_a_little(unsigned *times)
{
    if (++*times % 256 == 0)
        as_variant_call_system(SYS_sched_yield, 0, 0, 0, 0);
    __builtin_ia32_pause();
}

static uint32_t shared_turn(struct as_variant_area *area, uint64_t region, uint32_t turn)
{
    struct as_variant_round *round = &rounds[region];
    unsigned times = 0;
    if (area->opens) {
        atomic_store(&round->turn, turn);
        atomic_store(&round->turn_of, area->joined[region]);
        return turn;
    }
    while (turn != AS_VARIANT_NO_TURN && atomic_load(&round->turn_of) != area->joined[region]) {
        if (as_variant_ticks() - area->asked > PATIENCE)
            return AS_VARIANT_NO_TURN;
        wait_a_little(&times);
    }
    return turn == AS_VARIANT_NO_TURN ? turn : atomic_load(&round->turn);
}

/* Who has none leaves the round. */
uint32_t as_variant_share_turn(struct as_variant_area *area, uint64_t region, uint32_t turn)
{
    if (!is_together(region))
        return turn;
    turn = shared_turn(area, region, turn);
    if (turn == AS_VARIANT_NO_TURN)
        atomic_fetch_sub(&rounds[region].joined, 1);
    return turn;
}

/* As many as last time, but no longer than the window is open; then those that came. */
unsigned as_variant_wait_for_round(struct as_variant_area *area, uint64_t region)
{
    struct as_variant_round *round = &rounds[is_together(region) ? region : 0];
    unsigned times = 0;
    if (!is_together(region))
        return 0;
    const uint32_t own = area->joined[region];
    atomic_fetch_add(&round->ready, 1);
    while (atomic_load(&round->number) == own) {
        const int64_t waited = (int64_t)(as_variant_ticks() - atomic_load(&round->opened));
        const uint32_t joined = atomic_load(&round->joined);
        const bool all = joined >= atomic_load(&round->members) || waited > WINDOW_TICKS;
        if ((all && atomic_load(&round->ready) >= joined) || waited > (int64_t)PATIENCE)
            break;
        wait_a_little(&times);
    }
    const uint32_t ready = atomic_load(&round->ready);
    return ready < 255 ? ready : 255;
}

/* The child of a fork is alone. */
void as_variant_turns_forked(void)
{
    atomic_store(&owner, 0);
    for (unsigned i = 0; i < AS_PATCHER_COUNTDOWNS; i++)
        atomic_store(&rounds[i].members, 0);
}
