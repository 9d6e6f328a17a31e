/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of each thread: where its stubs write, readable after the program was killed. A thread
 * without one writes into memory that nobody reads.
 */
#include "agent/patcher.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

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

static struct as_patch_thread *make_file(void)
{
    char name[AS_AGENT_FILE_B] = "";
    const struct as_patch_plan *plan = as_patcher.plan;
    file_name(name);
    struct as_patch_thread *thread = as_agent_map_shared(name, as_patcher.thread_b);
    if (!thread)
        return NULL;
    thread->version = AS_PATCH_VERSION;
    thread->pid = (uint32_t)as_agent.pid;
    thread->tid = (uint32_t)as_agent_self.tid;
    thread->loops = (uint32_t)plan->loop.n;
    thread->counters = plan->counter.n;
    thread->kept_room = plan->kept;
    thread->begun_ns = as_monotonic_ns();
    thread->next = -(int64_t)sizeof thread->batch;
    __atomic_store_n(&thread->magic, AS_PATCH_THREAD, __ATOMIC_RELEASE);
    return thread;
}

void as_patcher_thread_begin(void)
{
    if (as_patcher_thread || as_agent_is_confined())
        return;
    struct as_patch_thread *thread = make_file();
    if (!thread)
        __atomic_fetch_add(&as_patcher.outcomes->threads_missed, 1, __ATOMIC_RELAXED);
    as_patcher_thread = thread ? thread : as_patcher.nowhere;
}

void as_patcher_thread_flush(void)
{
    struct as_patch_thread *thread = as_patcher_thread;
    if (!thread || thread == as_patcher.nowhere)
        return;
    thread->busy = 1;
    as_patcher_drain(thread);
    thread->busy = 0;
}

/* The disk gets back what was not needed. */
static void give_back(struct as_patch_thread *thread)
{
    const uint64_t used_b =
        as_patch_thread_b(thread->loops, thread->counters, thread->kept) + AS_AGENT_PAGE_B - 1;
    const uint64_t from = used_b / AS_AGENT_PAGE_B * AS_AGENT_PAGE_B;
    if (from < as_patcher.thread_b)
        syscall(SYS_madvise, (uint8_t *)thread + from, as_patcher.thread_b - from, MADV_REMOVE);
}

void as_patcher_thread_end(void)
{
    struct as_patch_thread *thread = as_patcher_thread;
    if (!thread || thread == as_patcher.nowhere)
        return;
    as_patcher_thread_flush();
    thread->ended_ns = as_monotonic_ns();
    as_patcher_thread = as_patcher.nowhere;
    if (as_agent_is_confined())
        return;
    give_back(thread);
    munmap(thread, as_patcher.thread_b);
}

/* The child of a fork has a file of its own; loops that it is in began in the parent and are cut.
 */
void as_patcher_thread_forked(void)
{
    struct as_patch_thread *parent = as_patcher_thread;
    as_patcher_thread = as_patcher.nowhere;
    if (as_agent.state != AS_AGENT_READY)
        return;
    struct as_patch_thread *own = make_file();
    if (own)
        as_patcher_thread = own;
    if (parent && parent != as_patcher.nowhere)
        munmap(parent, as_patcher.thread_b);
}
