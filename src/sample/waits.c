/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controls the sampling of waiting positions. A program may switch a million times a second and
 * fill the buffer quickly. Samples dropped by the kernel still cost time. So the event is switched
 * off until the next check when its buffer is full. If this repeats, it stays off for several
 * checks. It is also switched off when threads leave their CPU very often: yielding threads give no
 * samples, but pay for the event. Switch records show which waits have no sample.
 */
#include <sys/ioctl.h>

#include "sample/sampler.h"

/* A ring that is always full is sampled in one of WAITS_LOOKS checks. A new program is sampled for
 * WAITS_OFTEN checks first. */
#define WAITS_LOOKS 5
#define WAITS_OFTEN 3
/* Bytes of switch records of a CPU between two checks: 20,000 switches a second, out and in, 24
 * bytes each. The event takes 0.3 us per switch (doc/internals/benchmarks.md), which is 0.6 % of
 * the time. */
#define SWITCHES_OFTEN_B (2000u * 48u)

void as_waits_turn(const struct as_ring *ring, bool on)
{
    as_vec_foreach (&ring->member, fd)
        (void)ioctl(*fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static uint64_t head_of(const struct as_ring *ring)
{
    return ring->page ? __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) : 0;
}

static bool is_filled(const struct as_ring *ring)
{
    return ring->page &&
           head_of(ring) - ring->page->data_tail >= as_waits_filled_b((uint32_t)ring->data_b);
}

/* Returns true if this CPU had many switches since the last check. */
static bool has_many_switches(const struct as_sampler *s, struct as_ring *ring)
{
    const uint64_t before = ring->switches_head;
    ring->switches_head = s->options.switches ? head_of(&s->ring.at[ring->switches]) : 0;
    return ring->switches_head - before >= SWITCHES_OFTEN_B;
}

/* Switches the events off until the next check, or for several checks if it happens often. */
static void let_rest(struct as_ring *ring, bool filled)
{
    const bool often = ++ring->often >= WAITS_OFTEN;
    if (!often && !filled)
        return;
    ring->rest = often ? WAITS_LOOKS - 1 : 1;
    as_waits_turn(ring, false);
}

static void look_at(const struct as_sampler *s, struct as_ring *ring, bool look)
{
    const bool many = look && has_many_switches(s, ring), filled = is_filled(ring);
    if (ring->rest) {
        if (look && --ring->rest == 0)
            as_waits_turn(ring, true);
        return;
    }
    if (many || filled)
        let_rest(ring, filled);
    else if (look)
        ring->often = 0;
}

void as_waits_look(struct as_sampler *s, bool look)
{
    as_vec_foreach (&s->ring, ring) {
        if (ring->channel == AS_CHANNEL_WAITS)
            look_at(s, ring, look);
    }
}
