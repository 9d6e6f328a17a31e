/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of each thread: where its stubs write, readable after the program was killed. A thread
 * without one writes into memory that nobody reads.
 */
#include "agent/patcher/patcher.h"
#include "agent/patcher/prober.h"
#include "agent/patcher/variant.h"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

bool as_patcher_can_count(void)
{
    uint64_t base = 1;
    return as_patcher.plan->counter.n == 0 || AS_PATCHER_LOCAL_B != 0 || /* looked at before */
           (syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0 && base == 0);
}

/* Counters stand at %gs:offset, so that one instruction counts, without a register and without
 * asking whether there is a file. A new thread has what its parent has, until it begins here. */
void as_patcher_set_base(const void *base)
{
    if (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE)
        __asm__ volatile("wrgsbase %0" ::"r"(base) : "memory");
    else
        syscall(SYS_arch_prctl, ARCH_SET_GS, base);
}

#ifdef AS_AGENT_BARE
static void set_thread(struct as_patch_thread *thread)
{
    struct as_patcher_locals *own = (void *)((uint8_t *)thread - AS_PATCHER_LOCAL_B);
    own->self = own;
    own->thread = thread;
    as_patcher_set_base(own);
}
#else
static void set_thread(struct as_patch_thread *thread)
{
    as_patcher_thread = thread;
    if (as_patcher.plan->counter.n != 0 && as_patcher.counts_here)
        as_patcher_set_base(thread);
}
#endif

static void file_name(char *out)
{
    const char *end = out + AS_AGENT_FILE_B - 1;
    char *at = as_agent_append(out, end, AS_PATCH_PREFIX);
    at = as_agent_append_number(at, end, (uint64_t)as_agent.pid);
    at = as_agent_append(at, end, ".");
    at = as_agent_append_number(at, end, (uint64_t)as_agent_self.tid);
    at = as_agent_append(at, end, ".");
    *as_agent_append_number(at, end, as_monotonic_ns()) = 0;
}

/* How many entries of each loop pass before the next that is measured. */
static void settle_countdowns(struct as_patch_thread *thread)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_slot *slot =
        (const void *)((const uint8_t *)thread + as_patch_slots_at());
    for (uint64_t i = 0; plan->mode == AS_PATCH_SAMPLE && i < plan->loop.n; i++) {
        struct as_patch_total *total = as_patcher_total(thread, i);
        const int64_t left =
            i < AS_PATCHER_COUNTDOWNS ? as_patcher_countdown[i] : (int64_t)slot[i].countdown;
        total->left = left > 0 ? (uint64_t)left : 0;
        total->settled = 1;
        if (total->draws ==
            0) /* a thread's first entry is measured; a forked one has its parent's */
            total->drawn = total->drawn ? total->drawn : total->left;
    }
}

/* Offsets from %gs: the first half of the buffer is free. */
static void begin_addresses(struct as_patch_thread *thread)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const uint64_t begin = AS_PATCHER_LOCAL_B + as_patch_addresses_at(plan);
    if (plan->addresses_b == 0)
        return;
    thread->addresses.nowhere = thread->addresses.open =
        AS_PATCHER_LOCAL_B + offsetof(struct as_patch_thread, addresses.unread);
    thread->addresses.begin = thread->addresses.cursor = begin;
    thread->addresses.patience = AS_PATCH_PATIENCE;
    thread->line_sample = thread->span_sample = UINT64_MAX;
    thread->addresses.limit = begin + plan->addresses_b / 2 - AS_PATCH_ADDRESSES_MARGIN_B;
}

static struct as_patch_thread *make_file(void)
{
    char name[AS_AGENT_FILE_B] = "";
    const struct as_patch_plan *plan = as_patcher.plan;
    file_name(name);
    struct as_patch_thread *thread =
        as_agent_map_behind(name, AS_PATCHER_LOCAL_B, as_patcher.thread_b);
    if (!thread)
        return NULL;
    thread->version = AS_PATCH_VERSION;
    thread->pid = (uint32_t)as_agent.pid;
    thread->tid = (uint32_t)as_agent_self.tid;
    thread->loops = (uint32_t)plan->loop.n;
    thread->counters = plan->counter.n;
    thread->kept_room = plan->kept;
    thread->paths_room_b = plan->paths_b;
    thread->begun_ns = as_monotonic_ns();
    thread->next = -(int64_t)sizeof thread->batch;
    settle_countdowns(thread);
    begin_addresses(thread);
    __atomic_store_n(&thread->magic, AS_PATCH_THREAD, __ATOMIC_RELEASE);
    return thread;
}

void as_patcher_thread_begin(void)
{
    if (as_patcher_thread || as_agent_is_confined() || !as_patcher.counts_here)
        return;
    struct as_patch_thread *thread = make_file();
    if (!thread)
        __atomic_fetch_add(&as_patcher.outcomes->threads_missed, 1, __ATOMIC_RELAXED);
    set_thread(thread ? thread : as_patcher.nowhere);
    as_variant_thread_begin();
    as_prober_thread_begin();
}

void as_patcher_thread_flush(void)
{
    struct as_patch_thread *thread = as_patcher_thread;
    if (!thread || thread == as_patcher.nowhere)
        return;
    thread->busy = 1;
    as_patcher_drain(thread);
    settle_countdowns(thread);
    thread->busy = 0;
}

/* The pages that lie between. */
static void release_pages_between(struct as_patch_thread *thread, uint64_t from, uint64_t to)
{
    from = (from + AS_AGENT_PAGE_B - 1) / AS_AGENT_PAGE_B * AS_AGENT_PAGE_B;
    to = to / AS_AGENT_PAGE_B * AS_AGENT_PAGE_B;
    if (from < to)
        syscall(SYS_madvise, (uint8_t *)thread + from, to - from, MADV_REMOVE);
}

/* The disk gets back what was not needed. */
static void release_unused_pages(struct as_patch_thread *thread)
{
    const uint64_t paths_at = as_patch_paths_at(thread->loops, thread->counters);
    const uint64_t kept_at =
        as_patch_kept_at(thread->loops, thread->counters, thread->paths_room_b);
    release_pages_between(thread, paths_at + thread->paths_b, kept_at);
    release_pages_between(thread, kept_at + thread->kept * sizeof(struct as_patch_record),
                          as_patcher.plan->addresses_b ? as_patch_addresses_at(as_patcher.plan)
                                                       : as_patcher.thread_b + AS_AGENT_PAGE_B - 1);
}

static void unmap_file(struct as_patch_thread *thread)
{
    munmap((uint8_t *)thread - AS_PATCHER_LOCAL_B, AS_PATCHER_LOCAL_B + as_patcher.thread_b);
}

/* A thread that it made, and that nobody saw begin, may count there still. */
static void release_thread_area(struct as_patch_thread *thread)
{
    if (as_patcher.plan->counter.n == 0 || AS_PATCHER_LOCAL_B != 0)
        unmap_file(thread);
    else
        (void)mmap(thread, as_patcher.thread_b, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void as_patcher_thread_end(void)
{
    struct as_patch_thread *thread = as_patcher_thread;
    as_variant_thread_end();
    as_prober_thread_end();
    if (!thread || thread == as_patcher.nowhere)
        return;
    as_patcher_thread_flush();
    thread->ended_ns = as_monotonic_ns();
    set_thread(as_patcher.nowhere);
    if (as_agent_is_confined())
        return;
    release_unused_pages(thread);
    release_thread_area(thread);
}

/* The child of a fork has a file of its own; loops that it is in began in the parent and are cut.
 */
void as_patcher_thread_forked(void)
{
    struct as_patch_thread *parent = as_patcher_thread;
    set_thread(as_patcher.nowhere);
    if (as_agent.state != AS_AGENT_READY)
        return;
    struct as_patch_thread *own = make_file();
    if (own)
        set_thread(own);
    if (parent && parent != as_patcher.nowhere)
        unmap_file(parent);
}
