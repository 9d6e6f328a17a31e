/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When samples of places of waiting rest: by what rings hold, which are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/sampler.h"

#define RING_B (1u << 20)

#define SWITCH_B 48u

static struct perf_event_mmap_page pages[2], *const page = &pages[1];
static struct as_ring rings[2], *const ring = &rings[1];
static int event = -1; /* turned in vain */

/* Returns a sampler with the ring of switches of a CPU, and its ring of waits. */
static struct as_sampler session(void)
{
    struct as_sampler s = {.options.switches = true};
    for (unsigned i = 0; i < 2; i++) {
        pages[i] = (struct perf_event_mmap_page){0};
        rings[i] = (struct as_ring){.fd = -1, .page = &pages[i], .data_b = RING_B};
    }
    rings[0].channel = AS_CHANNEL_SWITCHES;
    ring->channel = AS_CHANNEL_WAITS;
    ring->member.at = &event;
    ring->member.n = 1;
    s.ring.at = rings;
    s.ring.n = 2;
    return s;
}

/* After so many bytes of samples, which are then read: for how many looks it rests. */
static unsigned after(struct as_sampler *s, bool look, unsigned samples_b)
{
    page->data_head = page->data_tail + samples_b;
    as_waits_look(s, look);
    page->data_tail = page->data_head;
    return ring->rest;
}

/* A program that begins is let go on, but for the rest of each look; then one of five is enough. */
static void test_filled(void **state)
{
    (void)state;
    struct as_sampler s = session();
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(after(&s, false, RING_B / 4 * 3), 1); /* before the look is over */
        assert_int_equal(after(&s, false, 0), 1);
        assert_int_equal(after(&s, true, 0), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(after(&s, false, RING_B - 64), 4);
        for (unsigned left = 3; left < 4; left--)
            assert_int_equal(after(&s, true, 0), left);
    }
}

/* Nor if no thread was woken, as with rings of reduced size. */
static void test_filled_at_look(void **state)
{
    (void)state;
    struct as_sampler s = session();
    assert_int_equal(after(&s, true, RING_B - 64), 1);
    assert_int_equal(after(&s, true, 0), 0);
}

static void test_not_filled(void **state)
{
    (void)state;
    struct as_sampler s = session();
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(after(&s, i % 2, RING_B / 2), 0);
}

/* Once in a while is not often. */
static void test_showers(void **state)
{
    (void)state;
    struct as_sampler s = session();
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(after(&s, false, RING_B - 64), 1);
        assert_int_equal(after(&s, true, 0), 0);
        assert_int_equal(after(&s, true, 4096), 0);
    }
}

/* A look behind so many switches. */
static unsigned after_switches(struct as_sampler *s, unsigned n)
{
    pages[0].data_head += n * SWITCH_B;
    return after(s, true, 0);
}

/* Threads that give way fill nothing, but pay for the event. */
static void test_switches(void **state)
{
    (void)state;
    struct as_sampler s = session();
    assert_int_equal(after_switches(&s, 3000), 0);
    assert_int_equal(after_switches(&s, 3000), 0);
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned left = 4; left < 5; left--)
            assert_int_equal(after_switches(&s, 3000), left);
    }
    assert_int_equal(after_switches(&s, 1000), 0);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(after_switches(&s, i % 3 ? 3000 : 1000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_filled),     cmocka_unit_test(test_filled_at_look),
        cmocka_unit_test(test_not_filled), cmocka_unit_test(test_showers),
        cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests_name("sample/waits", tests, NULL, NULL);
}
