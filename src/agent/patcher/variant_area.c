/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The area of each thread in which instances run as variants: room, its file, the timer, and what
 * an empty instance takes.
 */
#include "agent/patcher/variant.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/kernel_call.h"
#include "base/clock.h"

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

enum { NULL_RUNS = 16 };

struct as_variants as_variants;

long as_variant_call_system(long number, long a, long b, long c, long d)
{
    return as_kernel_call(number, a, b, c, d, 0, 0);
}

/* ---- The thread's words at %gs --------------------------------------------------------------- */

static bool has_instructions(void)
{
    static int8_t known; /* 1: it has, -1: it has not */
    if (known == 0)
        known = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE ? 1 : -1;
    return known > 0;
}

uint64_t as_variant_get_base(void)
{
    uint64_t base = 0;
    if (has_instructions())
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    else
        as_variant_call_system(SYS_arch_prctl, ARCH_GET_GS, (long)&base, 0, 0);
    return base;
}

void as_variant_set_base(uint64_t base)
{
    if (has_instructions())
        __asm__ volatile("wrgsbase %0" ::"r"(base));
    else
        as_variant_call_system(SYS_arch_prctl, ARCH_SET_GS, (long)base, 0, 0);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *map_room(uint64_t size_b)
{
    void *at = mmap(NULL, size_b, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void drop_room(struct as_variant_area *area)
{
    if (area->log)
        munmap(area->log, AS_VARIANT_LOG_B + AS_AGENT_PAGE_B);
    if (area->copy)
        munmap(area->copy, AS_VARIANT_COPY_B);
    if (area->file)
        munmap(area->file, sizeof *area->file);
    munmap(area, sizeof *area);
}

static struct as_variant_file *make_variant_file(void)
{
    char name[AS_AGENT_FILE_B];
    const char *end = name + sizeof name - 1;
    char *at = as_agent_append(name, end, AS_VARIANT_PREFIX);
    at = as_agent_append_number(at, end, (uint64_t)as_agent.pid);
    at = as_agent_append(at, end, ".");
    at = as_agent_append_number(at, end, (uint64_t)as_agent_self.tid);
    at = as_agent_append(at, end, ".");
    *as_agent_append_number(at, end, as_monotonic_ns()) = 0;
    struct as_variant_file *file = as_agent_map_shared(name, sizeof *file);
    if (!file)
        return NULL;
    file->version = AS_PATCH_VERSION;
    file->pid = (uint32_t)as_agent.pid;
    file->tid = (uint32_t)as_agent_self.tid;
    __atomic_store_n(&file->magic, AS_VARIANT_MAGIC, __ATOMIC_RELEASE);
    return file;
}

static void make_timer(struct as_variant_area *area)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGBUS};
    event._sigev_un._tid = as_agent_self.tid;
    area->has_timer = as_variant_call_system(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID,
                                             (long)&event, (long)&area->timer, 0) == 0;
}

/* Slots hold numbers like any, so that arithmetic takes what it takes. */
static void fill_values(struct as_variant_local *local)
{
    static const uint64_t value = UINT64_C(0x3ff0000040000000);
    for (size_t i = 0; i < sizeof local->value; i += sizeof value)
        memcpy(local->value + i, &value, sizeof value);
    for (size_t i = 0; i < sizeof local->slot; i += sizeof value)
        memcpy((uint8_t *)local->slot + i, &value, sizeof value);
}

/* What an empty variant takes is no variant's, and what an empty instance takes is not ORIG's. */
static void measure_empty(struct as_variant_area *area)
{
    uint64_t least = UINT64_MAX, bare = UINT64_MAX;
    const uint64_t gs = as_variant_get_base();
    as_variant_save_state(area);
    area->local.mxcsr = 0x1f80;
    area->local.flags = 2;
    area->local.general[4] = (uint64_t)(uintptr_t)(area->stack + sizeof area->stack / 2);
    as_variant_set_base((uint64_t)(uintptr_t)area);
    for (unsigned i = 0; i < NULL_RUNS; i++) {
        as_variant_run_at(area, (const uint8_t *)(uintptr_t)as_variant_left);
        const uint64_t ticks = area->local.t1 - area->local.t0;
        least = ticks < least ? ticks : least;
        as_variant_measure_nothing(area);
        const uint64_t own = area->local.t1 - area->local.t0;
        bare = own < bare ? own : bare;
    }
    as_variant_set_base(gs);
    area->file->empty_ticks = least;
    area->file->bare_ticks = bare;
}

static struct as_variant_area *make_area(void)
{
    struct as_variant_area *area = map_room(sizeof *area);
    if (!area)
        return NULL;
    area->log = map_room(AS_VARIANT_LOG_B + AS_AGENT_PAGE_B);
    area->copy = map_room(AS_VARIANT_COPY_B);
    area->file = area->log && area->copy ? make_variant_file() : NULL;
    /* More notes than there is room for are a fault. */
    if (!area->file ||
        mprotect((uint8_t *)area->log + AS_VARIANT_LOG_B, AS_AGENT_PAGE_B, PROT_NONE) < 0) {
        drop_room(area);
        return NULL;
    }
    fill_values(&area->local);
    as_variant_promise_room(area, as_patcher.plan);
    make_timer(area);
    as_variant_self = area; /* stubs look there */
    measure_empty(area);
    as_variant_begin_clocks(area);
    return area;
}

void as_variant_thread_begin(void)
{
    if (as_variant_self || !as_variants.entry || as_agent_is_confined())
        return;
    if (!make_area())
        __atomic_fetch_add(&as_patcher.outcomes->threads_missed, 1, __ATOMIC_RELAXED);
}

/* The disk gets back what was not needed. */
static void release_file_rest(struct as_variant_file *file)
{
    const uint64_t used_b = offsetof(struct as_variant_file, record) +
                            file->records * sizeof file->record[0] + AS_AGENT_PAGE_B - 1;
    const uint64_t from = used_b / AS_AGENT_PAGE_B * AS_AGENT_PAGE_B;
    if (from < sizeof *file)
        syscall(SYS_madvise, (uint8_t *)file + from, sizeof *file - from, MADV_REMOVE);
}

void as_variant_thread_end(void)
{
    struct as_variant_area *area = as_variant_self;
    as_variant_self = NULL;
    if (!area || as_agent_is_confined())
        return;
    as_variant_end_turn(area);
    if (area->has_timer)
        syscall(SYS_timer_delete, area->timer);
    release_file_rest(area->file);
    drop_room(area);
}

/* Timers are not inherited, and the file is the parent's. */
void as_variant_forked(void)
{
    struct as_variant_area *area = as_variant_self;
    as_variant_self = NULL;
    if (area)
        drop_room(area);
    as_variant_turns_forked();
    if (as_agent.state == AS_AGENT_READY)
        as_variant_thread_begin();
}

/* All that is the program's can be kept: there is room for its vectors. */
static bool state_fits(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) ||
        !__get_cpuid_count(13, 0, &a, &b, &c, &d))
        return false;
    const bool fits = b <= AS_VARIANT_STATE_B;
    as_variant_compacts = __get_cpuid_count(13, 1, &a, &b, &c, &d) && a >> 1 & 1;
    return fits;
}

bool as_variant_begin(void)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    if (plan->mode != AS_PATCH_VARY)
        return true;
    if (!state_fits())
        return false;
    as_variants.failed = map_room((plan->region.n + 1) * sizeof *as_variants.failed);
    as_variants.entry = map_room((plan->variant.n + 1) * sizeof *as_variants.entry);
    if (!as_variants.failed || !as_variants.entry)
        return false;
    const struct as_patcher_part *part = as_agent_part(&as_agent_patcher);
    as_variants.share = part && part->share ? part->share : 50;
    as_variants.limit_ms = part && part->limit_ms ? part->limit_ms : 500;
    as_variants.together = part && part->together;
    as_guard_begin();
    as_variant_thread_begin();
    return true;
}
