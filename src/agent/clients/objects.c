/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocated blocks, as a client of the agent: when they begin and end, and the call stacks of their
 * allocations. They go into a file of the process, which is made at the first large block. See
 * objects.h.
 */
#include "agent/shared/objects.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "agent/unwind/callers.h"
#include "base/clock.h"

#define TRIES_MOST 64u

extern const struct as_agent_client as_agent_objects;

static struct as_objects_part *part;
static struct as_objects_file *_Atomic own; /* of this process; NULL: none yet */
static _Atomic int making;                  /* 1: a thread makes it; 2: it was tried */
static AS_AGENT_LOCAL bool busy;            /* this thread is in a call */

/* ---- The file ----------------------------------------------------------------------------- */

static struct as_objects_file *make_objects_file(void)
{
    char name[AS_AGENT_FILE_B];
    as_agent_file_name(AS_OBJECTS_PREFIX, name);
    struct as_objects_file *it = as_agent_map_shared(name, sizeof *it);
    if (!it) {
        as_agent_process_missed(errno);
        return NULL;
    }
    it->version = AS_OBJECTS_VERSION;
    it->pid = (uint32_t)as_agent.pid;
    it->begun_ns = as_monotonic_ns();
    atomic_store_explicit(&it->magic, AS_OBJECTS_MAGIC, memory_order_release);
    return it;
}

/* NULL: there is none. An event that comes while another thread makes it is not waited with. */
static struct as_objects_file *own_objects_file(void)
{
    struct as_objects_file *it = atomic_load_explicit(&own, memory_order_acquire);
    int nobody = 0;
    if (it || as_agent_is_confined())
        return it;
    if (atomic_compare_exchange_strong(&making, &nobody, 1)) {
        it = make_objects_file();
        atomic_store_explicit(&own, it, memory_order_release);
        atomic_store(&making, 2);
        return it;
    }
    while (atomic_load(&making) == 1)
        syscall(SYS_sched_yield);
    return atomic_load_explicit(&own, memory_order_acquire);
}

/* ---- Events ------------------------------------------------------------------------------- */

static void write_event(struct as_objects_file *it, uint64_t time_ns, struct as_object_event event)
{
    uint64_t at = atomic_load_explicit(&it->head, memory_order_relaxed);
    do {
        if (at - atomic_load_explicit(&it->tail, memory_order_acquire) >= AS_OBJECTS_EVENTS_N) {
            atomic_fetch_add(&it->lost, 1);
            return;
        }
    } while (!atomic_compare_exchange_weak(&it->head, &at, at + 1));
    struct as_object_event *to = &it->event[at % AS_OBJECTS_EVENTS_N];
    to->address = event.address;
    to->size_b = event.size_b;
    to->site = event.site;
    to->kind = event.kind;
    atomic_store_explicit(&to->time_ns, time_ns, memory_order_release);
}

static bool is_site(struct as_object_site *site, const uint64_t *caller, uint32_t n)
{
    uint32_t state;
    while ((state = atomic_load_explicit(&site->state, memory_order_acquire)) == 1)
        ; /* a few instructions of another thread */
    return state == 2 && site->n == n && memcmp(site->caller, caller, n * sizeof *caller) == 0;
}

/* The number of a call stack, and 1; 0: there is no room. */
static uint32_t number_of_site(struct as_objects_file *it, const uint64_t *caller, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ caller[i]) * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < TRIES_MOST; i++) {
        const uint32_t at = (uint32_t)((hash >> 40) + i) % AS_OBJECTS_SITES_N;
        struct as_object_site *site = &it->site[at];
        uint32_t state = 0;
        if (atomic_compare_exchange_strong(&site->state, &state, 1)) {
            site->n = n;
            memcpy(site->caller, caller, n * sizeof *caller);
            atomic_store_explicit(&site->state, 2, memory_order_release);
            return at + 1;
        }
        if (is_site(site, caller, n))
            return at + 1;
    }
    atomic_fetch_add(&it->sites_lost, 1);
    return 0;
}

static void ignore_module(uint64_t start, uint64_t size_b, uint64_t address, const char *path)
{
    (void)start;
    (void)size_b;
    (void)address;
    (void)path;
}

/* ---- Calls of the wrappers ---------------------------------------------------------------- */

static bool enter_allocator(void)
{
    if (busy || !as_agent_active() || !part || as_agent.off)
        return false;
    busy = true;
    return true;
}

static void leave_allocator(void)
{
    atomic_signal_fence(memory_order_seq_cst);
    busy = false;
}

/* Frames of the agent's libraries are left out by the walk. */
static __attribute__((noinline)) void note_allocated(const void *address, size_t size_b,
                                                     bool is_mapped)
{
    const int saved = errno;
    uint64_t caller[AS_OBJECTS_CALLERS_N];
    struct as_objects_file *it = own_objects_file();
    if (it) {
        const uint32_t n =
            (uint32_t)as_callers_find(__builtin_return_address(0), __builtin_frame_address(0),
                                      caller, AS_OBJECTS_CALLERS_N, ignore_module);
        write_event(
            it, as_monotonic_ns(),
            (struct as_object_event){.address = (uintptr_t)address,
                                     .size_b = size_b,
                                     .site = n ? number_of_site(it, caller, n) : 0,
                                     .kind = is_mapped ? AS_OBJECT_MAPPED : AS_OBJECT_ALLOCATED});
    }
    errno = saved;
}

static void note_released(const void *address, uint64_t time_ns)
{
    struct as_objects_file *it = atomic_load_explicit(&own, memory_order_acquire);
    if (it)
        write_event(
            it, time_ns,
            (struct as_object_event){.address = (uintptr_t)address, .kind = AS_OBJECT_RELEASED});
}

static void note_unseen(void)
{
    if (as_agent_active() && part)
        atomic_fetch_add(&part->own_n, 1);
}

extern const struct as_objects_hooks assay_objects_hooks;
AS_AGENT_API const struct as_objects_hooks assay_objects_hooks = {
    AS_OBJECTS_HOOKS_VERSION, enter_allocator, leave_allocator, as_monotonic_ns,
    note_allocated,           note_released,   note_unseen};

/* ---- The process -------------------------------------------------------------------------- */

static bool begin_objects(void)
{
    part = as_agent_part(&as_agent_objects);
    return part != NULL;
}

/* The parent's file is still mapped: the child writes there that it is its child. */
static void begin_objects_of_child(void)
{
    struct as_objects_file *parents = atomic_load(&own);
    atomic_store(&own, NULL);
    atomic_store(&making, 0);
    busy = false;
    as_callers_forget();
    if (as_agent.state != AS_AGENT_READY)
        part = NULL;
    if (!parents || as_agent_is_confined())
        return;
    if (part)
        write_event(
            parents, as_monotonic_ns(),
            (struct as_object_event){.address = (uint64_t)as_agent.pid, .kind = AS_OBJECT_FORKED});
    munmap(parents, sizeof *parents);
}

const struct as_agent_client as_agent_objects = {.name = AS_OBJECTS_CLIENT,
                                                 .begin = begin_objects,
                                                 .modules_changed = as_callers_forget,
                                                 .forked = begin_objects_of_child};
