/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a variant will write, as the run before it noted: kept, and put back. Only bytes that are
 * written are touched, never gaps between them, which other threads may own. A variant whose
 * branches or addresses may come from what it writes does not run.
 */
#include "agent/variant.h"

#include <string.h>

#define LINE_BITS 6
#define NOTE_AT   ((UINT64_C(1) << AS_VARIANT_NOTE_BITS) - 1)

static unsigned note_b(uint64_t note)
{
    return (unsigned)(note >> AS_VARIANT_NOTE_BITS) & (AS_VARIANT_NOTE_LOADS - 1);
}

static bool is_load(uint64_t note)
{
    return note >> 63;
}

/* ---- Loads of what is stored ----------------------------------------------------------------- */

struct reach {
    uint64_t low, high;
};

static void widen_reach(struct reach *reach, uint64_t note)
{
    const uint64_t at = note & NOTE_AT;
    reach->low = at < reach->low ? at : reach->low;
    reach->high = at + note_b(note) > reach->high ? at + note_b(note) : reach->high;
}

/* Lines by a hash of 20 bits: two that fall together are taken for one. */
static uint64_t line_of(uint64_t at)
{
    return (at >> LINE_BITS) * UINT64_C(0x9e3779b97f4a7c15) >> 44;
}

static bool lines_meet(struct as_variant_area *area)
{
    memset(area->lines, 0, sizeof area->lines);
    for (unsigned loads = 0; loads < 2; loads++)
        for (uint64_t i = 0; i < area->notes; i++) {
            const uint64_t at = area->log[i] & NOTE_AT, end = at + note_b(area->log[i]) - 1;
            if (is_load(area->log[i]) != loads)
                continue;
            for (uint64_t l = at >> LINE_BITS; l <= end >> LINE_BITS; l++) {
                const uint64_t bit = line_of(l << LINE_BITS);
                if (loads && area->lines[bit / 8] >> (bit % 8) & 1)
                    return true;
                area->lines[bit / 8] |= loads ? 0 : (uint8_t)(1 << bit % 8);
            }
        }
    return false;
}

bool as_variant_is_held(struct as_variant_area *area)
{
    struct reach stores = {UINT64_MAX, 0}, loads = {UINT64_MAX, 0};
    for (uint64_t i = 0; i < area->notes; i++)
        widen_reach(is_load(area->log[i]) ? &loads : &stores, area->log[i]);
    return stores.low < loads.high && loads.low < stores.high && lines_meet(area);
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* Past the caches, whose contents the variant is to find as the loop does. */
static void copy_out(uint8_t *to, const uint8_t *from, unsigned n)
{
    unsigned i = 0;
    for (; i + 8 <= n && ((uintptr_t)to & 7) == 0; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, sizeof word);
        __asm__ volatile("movnti %1, %0" : "=m"(*(uint64_t *)(void *)(to + i)) : "r"(word));
    }
    for (; i < n; i++)
        ((volatile uint8_t *)to)[i] = from[i];
}

static void take_all(struct as_variant_area *area)
{
    for (area->copied_b = 0; area->at < area->notes; area->at++) {
        const uint64_t note = area->log[area->at];
        const unsigned n = note_b(note);
        if (is_load(note))
            continue;
        if (area->copied_b + n > AS_VARIANT_COPY_B) {
            area->flags |= AS_VARIANT_WIDE;
            return;
        }
        copy_out(area->copy + area->copied_b, (const uint8_t *)(uintptr_t)(note & NOTE_AT), n);
        area->copied_b += n;
    }
}

bool as_variant_take(struct as_variant_area *area)
{
    area->at = 0;
    area->guard = AS_VARIANT_RUNS;
    as_variant_call(area, take_all);
    area->guard = AS_VARIANT_FREE;
    __asm__ volatile("sfence" ::: "memory");
    return !(area->flags & (AS_VARIANT_WIDE | AS_VARIANT_FAULTED | AS_VARIANT_ENDLESS));
}

static void put_all_back(struct as_variant_area *area)
{
    for (; area->at < area->notes; area->at++) {
        const uint64_t note = area->log[area->at];
        const unsigned n = note_b(note);
        if (is_load(note))
            continue;
        const uint8_t *from = area->copy + area->copied_b;
        area->copied_b += n;
        memcpy((void *)(uintptr_t)(note & NOTE_AT), from, n);
    }
}

/* A place that cannot be written now could not be before. */
void as_variant_put_back(struct as_variant_area *area)
{
    const uint32_t flags = area->flags;
    area->at = area->copied_b = 0;
    area->guard = AS_VARIANT_RESTORES;
    for (; area->at < area->notes; area->at++)
        as_variant_call(area, put_all_back);
    area->guard = AS_VARIANT_FREE;
    area->flags = flags;
}
