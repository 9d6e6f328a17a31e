/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which instance of a loop runs as which variant. Each that is drawn runs first with its branches
 * and the addresses of its stores alone: that tells its iterations, by which instances are put
 * together, and what must be put back. Then it runs as a variant, and in any case as the program
 * has it. Time that is spent so stays below that of the program itself.
 */
#include "agent/variant.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#ifndef HWCAP2_FSGSBASE
#define HWCAP2_FSGSBASE (1 << 1)
#endif

enum { FAILURES_MOST = 8, SKIP_MOST = 4096, NULL_RUNS = 16 };

struct as_variants as_variants;

/* A system call that leaves errno alone. */
static long quiet_call(long number, long a, long b, long c, long d)
{
    long rc;
    register long r10 __asm__("r10") = d;
    __asm__ volatile("syscall"
                     : "=a"(rc)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                     : "rcx", "r11", "memory");
    return rc;
}

static uint64_t read_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

static const struct as_patch_variant *variants_of(const struct as_patch_region *region)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    return (const struct as_patch_variant *)as_patch_at(plan, &plan->variant) +
           region->first_variant;
}

/* ---- The thread's words at %gs --------------------------------------------------------------- */

static bool has_instructions(void)
{
    return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

static uint64_t get_gs(void)
{
    uint64_t base = 0;
    if (has_instructions())
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    else
        quiet_call(SYS_arch_prctl, ARCH_GET_GS, (long)&base, 0, 0);
    return base;
}

static void set_gs(uint64_t base)
{
    if (has_instructions())
        __asm__ volatile("wrgsbase %0" ::"r"(base));
    else
        quiet_call(SYS_arch_prctl, ARCH_SET_GS, (long)base, 0, 0);
}

/* ---- One run --------------------------------------------------------------------------------- */

static void set_timer(const struct as_variant_area *area, long ms)
{
    const struct itimerspec when = {
        .it_value = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}};
    if (area->has_timer)
        quiet_call(SYS_timer_settime, area->timer, 0, (long)&when, 0);
}

/* What runs at `entry`; false: a fault or the timer ended it. */
static bool run_at(struct as_variant_area *area, const uint8_t *entry)
{
    area->local.target = (uint64_t)(uintptr_t)entry;
    area->guard = AS_VARIANT_RUNS;
    as_variant_run(area);
    area->guard = AS_VARIANT_FREE;
    __asm__ volatile("ldmxcsr %0" ::"m"((uint32_t){0x1f80}));
    return !(area->flags & (AS_VARIANT_FAULTED | AS_VARIANT_ENDLESS));
}

/* The program's modes of rounding, and no exception: data are not the program's. */
static void prepare_state(struct as_variant_area *area)
{
    uint32_t mxcsr;
    memcpy(&mxcsr, area->state + 24, sizeof mxcsr);
    area->local.mxcsr = (mxcsr & ~0x3fu) | 0x1f80;
}

/* ---- Choice ---------------------------------------------------------------------------------- */

/* Quarters of powers of two. */
static uint32_t size_of_trips(uint64_t trips)
{
    if (trips < 8)
        return (uint32_t)trips + 1;
    const unsigned high = 63 - (unsigned)__builtin_clzll(trips);
    return high * 4 + (unsigned)(trips >> (high - 2) & 3) + 1;
}

static struct as_variant_bucket *find_bucket(struct as_variant_area *area, uint32_t region,
                                             uint64_t trips)
{
    const uint32_t size = size_of_trips(trips);
    for (uint32_t i = 0; i < AS_VARIANT_BUCKETS; i++) {
        struct as_variant_bucket *it = &area->bucket[(region * 67 + size + i) % AS_VARIANT_BUCKETS];
        if (it->size == 0)
            *it = (struct as_variant_bucket){.region = region, .size = size};
        if (it->region == region && it->size == size)
            return it;
    }
    return NULL;
}

/* The next of the region's variants in turn, the original one among them; false: there are enough
 * of all. */
static bool choose_variant(struct as_variant_bucket *bucket, const struct as_patch_region *region,
                           const struct as_patch_variant **chosen)
{
    const uint32_t turn = bucket->turns % region->variants;
    if (bucket->turns >= region->variants * as_patcher.plan->period)
        return false;
    bucket->turns++;
    *chosen = turn ? variants_of(region) + turn : NULL;
    return true;
}

/* Instances that pass before the next is asked. */
static void skip_some(struct as_variant_area *area, uint64_t region)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_region *it = as_patch_at(plan, &plan->region);
    const uint32_t loop = it[region].first_loop;
    if (region >= AS_PATCHER_COUNTDOWNS || loop >= AS_PATCHER_COUNTDOWNS)
        return;
    uint32_t *skip = &area->skip[region];
    *skip = *skip < SKIP_MOST ? 2 * *skip + 1 : SKIP_MOST;
    as_patcher_countdown[loop] = *skip;
}

/* ---- One instance ---------------------------------------------------------------------------- */

static void fail_region(uint64_t region, uint32_t by)
{
    atomic_fetch_add(&as_variants.failed[region], by);
}

/* Runs it with its branches and addresses alone. */
static bool note_writes(struct as_variant_area *area, const struct as_patch_region *region,
                        struct as_variant_record *record)
{
    area->local.trips = 0;
    area->local.log = (uint64_t)(uintptr_t)area->log;
    const bool ran = run_at(area, as_variants.entry[region->first_variant]);
    __asm__ volatile("sfence" ::: "memory");
    area->notes = (area->local.log - (uint64_t)(uintptr_t)area->log) / sizeof *area->log;
    record->trips = area->local.trips;
    record->kind = AS_VARIANT_REC;
    record->t0 = area->local.t0;
    record->ticks = ran ? area->local.t1 - area->local.t0 : 0;
    if (!ran && area->notes >= AS_VARIANT_LOG_B / sizeof *area->log)
        area->flags = AS_VARIANT_WIDE;
    if (ran && area->notes && as_variant_is_held(area))
        area->flags |= AS_VARIANT_HELD;
    record->flags = (uint16_t)area->flags;
    return area->flags == 0;
}

static bool run_variant(struct as_variant_area *area, const struct as_patch_variant *variant,
                        const uint8_t *entry, struct as_variant_record *record)
{
    const bool writes = variant->bits & AS_VARIANT_WRITES;
    record->kind = (uint16_t)variant->kind;
    record->ticks = 0;
    if (!writes || as_variant_take(area)) {
        const uint64_t before = as_variant_changes();
        const bool ran = run_at(area, entry);
        if (as_variant_changes() != before)
            area->flags |= AS_VARIANT_SWITCHED;
        record->t0 = area->local.t0;
        record->ticks = ran ? area->local.t1 - area->local.t0 : 0;
        record->written_b = writes ? area->copied_b : 0;
        if (writes)
            as_variant_put_back(area);
    }
    record->flags = (uint16_t)area->flags;
    return !(area->flags & ~(uint32_t)AS_VARIANT_SWITCHED);
}

/* 1: the program's own run of this instance is measured. */
static uint64_t vary_instance(struct as_variant_area *area, uint64_t number)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_region *region =
        (const struct as_patch_region *)as_patch_at(plan, &plan->region) + number;
    struct as_variant_record record = {.region = (uint32_t)number};
    const struct as_patch_variant *variant = NULL;
    area->flags = 0;
    prepare_state(area);
    if (!note_writes(area, region, &record)) {
        as_variant_keep(area, &record);
        /* These take long. */
        fail_region(number, area->flags & AS_VARIANT_HELD ? 1 : FAILURES_MOST / 2);
        return 0;
    }
    struct as_variant_bucket *bucket = find_bucket(area, (uint32_t)number, record.trips);
    if (!bucket || !choose_variant(bucket, region, &variant)) {
        skip_some(area, number);
        return 0;
    }
    if (number < AS_PATCHER_COUNTDOWNS)
        area->skip[number] = 0;
    if (!variant) {
        record.kind = AS_VARIANT_ORIG;
        area->record = record;
        area->pending = true;
        area->pending_sp = area->local.general[4];
        area->changes = as_variant_changes();
        return 1;
    }
    if (!run_variant(area, variant,
                     as_variants.entry[region->first_variant + (variant - variants_of(region))],
                     &record))
        fail_region(number, area->flags & AS_VARIANT_ENDLESS ? FAILURES_MOST / 2 : 1);
    as_variant_keep(area, &record);
    return 0;
}

/* Whether there may be a variant now. */
static bool may_vary(struct as_variant_area *area, uint64_t number, uint64_t now)
{
    if (as_agent.confined || as_agent_self.confined || as_agent.off ||
        as_variants.failed[number] >= FAILURES_MOST)
        return false;
    if (area->pending && area->local.general[4] < area->pending_sp)
        return false; /* of a handler within the instance that is measured */
    area->pending = false;
    return area->spent <= (now - area->begun) / 100 * as_variants.share;
}

/* Faults have a stack of ours, unless the program is on one of its own. */
static bool take_stack(struct as_variant_area *area, stack_t *before)
{
    const stack_t own = {.ss_sp = area->guard_stack, .ss_size = sizeof area->guard_stack};
    return quiet_call(SYS_sigaltstack, (long)&own, (long)before, 0, 0) == 0;
}

/* Called from assembly. */
__attribute__((used, visibility("hidden"))) uint64_t
as_variant_dispatch(struct as_variant_area *area, uint64_t number)
{
    static const uint64_t blocked =
        ~((UINT64_C(1) << (SIGSEGV - 1)) | (UINT64_C(1) << (SIGBUS - 1)) |
          (UINT64_C(1) << (SIGFPE - 1)) | (UINT64_C(1) << (SIGILL - 1)));
    const uint64_t now = read_ticks();
    uint64_t before = 0, result = 0;
    stack_t stack;
    if (!may_vary(area, number, now)) {
        skip_some(area, number);
        return 0;
    }
    quiet_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&blocked, (long)&before, sizeof before);
    if (take_stack(area, &stack)) {
        const uint64_t gs = get_gs();
        set_gs((uint64_t)(uintptr_t)area);
        set_timer(area, as_variants.limit_ms);
        result = vary_instance(area, number);
        set_timer(area, 0);
        set_gs(gs);
        quiet_call(SYS_sigaltstack, (long)&stack, 0, 0, 0);
    }
    area->spent += read_ticks() - now;
    area->file->spent_ticks = area->spent;
    quiet_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof before);
    return result;
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
    area->has_timer = quiet_call(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event,
                                 (long)&area->timer, 0) == 0;
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

/* What an empty variant takes is no variant's. */
static void measure_empty(struct as_variant_area *area)
{
    uint64_t least = UINT64_MAX;
    const uint64_t gs = get_gs();
    __asm__ volatile("xsave64 %0"
                     : "=m"(area->state)
                     : "a"(UINT32_MAX), "d"(UINT32_MAX)
                     : "memory");
    area->local.mxcsr = 0x1f80;
    area->local.flags = 2;
    area->local.general[4] = (uint64_t)(uintptr_t)(area->stack + sizeof area->stack / 2);
    set_gs((uint64_t)(uintptr_t)area);
    for (unsigned i = 0; i < NULL_RUNS; i++) {
        run_at(area, (const uint8_t *)(uintptr_t)as_variant_left);
        const uint64_t ticks = area->local.t1 - area->local.t0;
        least = ticks < least ? ticks : least;
    }
    set_gs(gs);
    area->file->empty_ticks = least;
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
    make_timer(area);
    measure_empty(area);
    area->begun = read_ticks();
    return area;
}

void as_variant_thread_begin(void)
{
    if (as_variant_self || !as_variants.entry || as_agent_is_confined())
        return;
    as_variant_self = make_area();
    if (!as_variant_self)
        __atomic_fetch_add(&as_patcher.outcomes->threads_missed, 1, __ATOMIC_RELAXED);
}

/* The disk gets back what was not needed. */
static void give_rest_back(struct as_variant_file *file)
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
    if (area->has_timer)
        syscall(SYS_timer_delete, area->timer);
    give_rest_back(area->file);
    drop_room(area);
}

/* Timers are not inherited, and the file is the parent's. */
void as_variant_forked(void)
{
    struct as_variant_area *area = as_variant_self;
    as_variant_self = NULL;
    if (area)
        drop_room(area);
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
    return b <= AS_VARIANT_STATE_B;
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
    as_guard_begin();
    as_variant_thread_begin();
    return true;
}
