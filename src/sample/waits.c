/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When places of waiting are sampled. A program may switch a million times a second: it fills the
 * buffer of these samples in no time, and what comes then is dropped, at a cost. So the event is
 * turned off as soon as its buffer is filled, until the next look, and for some looks when that
 * happens at each. It rests, too, when threads leave their processor very often: those that only
 * give way have no samples, but pay for the event. Which waits were not sampled the records of
 * switches tell.
 */
#include <sys/ioctl.h>

#include "sample/sampler.h"

/* Of so many looks one is enough where it is always so. But a program that begins is let go on for
 * some. */
#define WAITS_LOOKS 5
#define WAITS_OFTEN 3
/* Records of switches of a processor between two looks: 20,000 switches a second, out and in, of 24
 * bytes each. The event takes 0.3 us of each (doc/internals/benchmarks.md): half of a per cent. */
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

/* Of its processor, since the look before. */
static bool has_many_switches(const struct assay_sampler *s, struct as_ring *ring)
{
    const uint64_t before = ring->switches_head;
    ring->switches_head = s->options.switches ? head_of(&s->ring.at[ring->switches]) : 0;
    return ring->switches_head - before >= SWITCHES_OFTEN_B;
}

/* For the rest of a look, or for some looks. */
static void let_rest(struct as_ring *ring, bool filled)
{
    const bool often = ++ring->often >= WAITS_OFTEN;
    if (!often && !filled)
        return;
    ring->rest = often ? WAITS_LOOKS - 1 : 1;
    as_waits_turn(ring, false);
}

static void look_at(const struct assay_sampler *s, struct as_ring *ring, bool look)
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

void as_waits_look(struct assay_sampler *s, bool look)
{
    as_vec_foreach (&s->ring, ring) {
        if (ring->channel == AS_CHANNEL_WAITS)
            look_at(s, ring, look);
    }
}
