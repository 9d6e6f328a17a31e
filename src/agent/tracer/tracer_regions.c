/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A name is the program's text, which may be another the next time: it is copied when it is met
 * first, and found by its bytes from then on. Slots are claimed by compare-and-swap.
 */
#include "agent/tracer/tracer_regions.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/shared/regions.h"
#include "agent/tracer/tracer.h"

#define ANY_GROUP UINT32_MAX /* they are recorded whatever else is */

extern const struct as_tracer_hooks assay_tracer_hooks;

enum { SLOT_FREE, SLOT_TAKEN, SLOT_READY };
static struct traced_region {
    _Atomic uint32_t state;
    uint32_t number; /* of the name in the trace, with its bits; 0: there is none */
    char text[AS_REGIONS_NAME_B];
} region[AS_REGIONS_NAMES_N];

static uint32_t hash_of(const char *name, size_t *n)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (*n = 0; name[*n] && *n < AS_REGIONS_NAME_B - 1; ++*n)
        hash = (hash ^ (uint8_t)name[*n]) * 16777619u;
    return hash ^ hash >> 15;
}

static void fill_slot(struct traced_region *slot, const char *name, size_t n)
{
    memcpy(slot->text, name, n);
    slot->text[n] = 0;
    slot->number = assay_tracer_hooks.name(AS_TRACE_OF_USER, slot->text);
    atomic_store_explicit(&slot->state, SLOT_READY, memory_order_release);
}

/* 0: there is no room. */
static uint32_t number_of_region(const char *name)
{
    size_t n;
    const uint32_t first = hash_of(name, &n);
    for (uint32_t i = 0; i < AS_REGIONS_NAMES_N; i++) {
        struct traced_region *slot = &region[(first + i) % AS_REGIONS_NAMES_N];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (state == SLOT_FREE &&
            atomic_compare_exchange_strong(&slot->state, &state, SLOT_TAKEN)) {
            fill_slot(slot, name, n);
            return slot->number;
        }
        while (state != SLOT_READY) { /* another thread names it */
            syscall(SYS_sched_yield);
            state = atomic_load_explicit(&slot->state, memory_order_acquire);
        }
        if (memcmp(slot->text, name, n) == 0 && slot->text[n] == 0)
            return slot->number;
    }
    return 0;
}

void as_tracer_regions_forked(void)
{
    for (uint32_t i = 0; i < AS_REGIONS_NAMES_N; i++)
        if (region[i].state == SLOT_TAKEN)
            region[i].state = SLOT_FREE;
}

void as_tracer_region(const char *name, bool enters)
{
    const int saved = errno;
    struct as_tracer_thread *t = name ? assay_tracer_hooks.enter(ANY_GROUP) : NULL;
    const uint64_t number = t ? number_of_region(name) : 0;
    const uint64_t field = AS_TRACER_NUMBER(number);
    if (number & AS_TRACER_LEFT_OUT) {
        if (enters)
            as_trace_leave_out(&t->writer);
    } else if (number) {
        as_trace_emit(&t->writer, enters ? AS_TRACE_ENTER : AS_TRACE_LEAVE,
                      as_trace_now(&t->writer), &field, 1);
    }
    errno = saved;
}
