/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stubs call. It runs in the middle of a loop of the program, on its stack below the red zone,
 * with its vector registers live: built with general registers alone, so that they need not be
 * saved; nothing called, some hundred bytes of stack, and a system call only when the thread has
 * just lost the processor.
 */
#include "agent/core/kernel_call.h"
#include "agent/patcher/patcher.h"

#include <linux/rseq.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef AS_AGENT_BARE
AS_AGENT_LOCAL struct as_patch_thread *as_patcher_thread;
AS_AGENT_LOCAL int64_t as_patcher_countdown[AS_PATCHER_COUNTDOWNS];
AS_AGENT_LOCAL int64_t as_patcher_armed[AS_PATCHER_COUNTDOWNS];
static AS_AGENT_LOCAL uint64_t as_patcher_drawn;
#endif

/* Called from the assembly below. */
#define SLOW_USED __attribute__((used, visibility("hidden")))
SLOW_USED void as_patcher_do_begin(void);
SLOW_USED void as_patcher_do_full(void);
SLOW_USED void as_patcher_do_drop(void);
SLOW_USED void as_patcher_do_switched(void);
SLOW_USED uint64_t as_patcher_do_draw(uint64_t loop);

/* ---- Batches -------------------------------------------------------------------------------- */

static struct as_patch_record *kept_of(struct as_patch_thread *thread)
{
    return (struct as_patch_record *)((uint8_t *)thread + as_patch_kept_at(thread->loops,
                                                                           thread->counters,
                                                                           thread->paths_room_b));
}

/* Copies word by word: the compiler's copy may be a function. */
static void copy_record(struct as_patch_record *to, const struct as_patch_record *from)
{
    volatile uint64_t *out = (uint64_t *)to;
    const uint64_t *in = (const uint64_t *)from;
    for (unsigned i = 0; i < sizeof *to / sizeof *in; i++)
        out[i] = in[i];
}

/* xorshift64* (Vigna, 2016): what a program does in turns must not meet a period of ours. */
uint64_t as_patcher_draw_number(void)
{
    uint64_t x = as_patcher_drawn;
    if (x == 0)
        x = (uint64_t)(uintptr_t)&as_patcher_drawn;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    as_patcher_drawn = x;
    return x * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

/* The table is full: of the loop with most records each stays with a chance of one half. Rare loops
 * so keep all of theirs. */
static void thin_out(struct as_patch_thread *thread)
{
    struct as_patch_record *kept = kept_of(thread);
    struct as_patch_total *total = as_patcher_total(thread, 0);
    uint32_t most = 0;
    for (uint32_t i = 1; i < thread->loops; i++)
        most = total[i].kept > total[most].kept ? i : most;
    uint64_t n = 0;
    for (uint64_t i = 0; i < thread->kept; i++) {
        if (kept[i].loop == most && as_patcher_draw_number() & 1) {
            total[most].kept--;
            continue;
        }
        if (n != i)
            copy_record(&kept[n], &kept[i]);
        n++;
    }
    thread->kept = n;
    total[most].halved++;
}

static bool is_drawn(const struct as_patch_total *total)
{
    return total->halved == 0 ||
           (total->halved < 48 &&
            (as_patcher_draw_number() & ((UINT64_C(1) << total->halved) - 1)) == 0);
}

static void store_instance_record(struct as_patch_thread *thread, struct as_patch_total *total,
                                  const struct as_patch_record *record)
{
    if (thread->kept_room == 0 || !is_drawn(total))
        return;
    if (thread->kept == thread->kept_room) {
        const uint64_t before = total->halved;
        thin_out(thread);
        if (thread->kept == thread->kept_room ||
            (total->halved > before && as_patcher_draw_number() & 1))
            return;
    }
    copy_record(&kept_of(thread)[thread->kept], record);
    thread->kept++;
    total->kept++;
}

static void count_record(struct as_patch_thread *thread, struct as_patch_record *record)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_loop *loop = as_patch_at(plan, &plan->loop);
    const struct as_patch_exit *exit = as_patch_at(plan, &plan->exit);
    if (record->loop >= thread->loops)
        return;
    loop += record->loop;
    struct as_patch_total *total = as_patcher_total(thread, 0) + record->loop;
    if (record->sp != 0 || record->exit >= loop->exits) {
        record->flags |= AS_PATCH_CUT;
        total->dropped++;
        return;
    }
    const uint64_t trips =
        as_patch_trips(loop, exit[loop->first_exit + record->exit].add, record->iv0, record->iv1);
    total->instances++;
    if (trips != UINT64_MAX) {
        total->trips += trips;
        total->by_trips[as_patch_class(trips)]++;
    }
    total->ticks += record->t1 - record->t0;
    total->switched += as_patch_is_switched(record);
    total->faulted += as_patch_is_faulted(record);
    store_instance_record(thread, total, record);
}

void as_patcher_drain(struct as_patch_thread *thread)
{
    const int64_t size_b = (int64_t)sizeof(struct as_patch_record);
    const int64_t n = AS_PATCH_BATCH_N + thread->next / size_b;
    for (int64_t i = 0; i < n && i < AS_PATCH_BATCH_N; i++)
        count_record(thread, &thread->batch[i]);
    thread->next = -(int64_t)sizeof thread->batch;
}

/* ---- From stubs ----------------------------------------------------------------------------- */

void as_patcher_do_begin(void)
{
    as_patcher_thread = as_patcher.nowhere;
    __atomic_fetch_add(&as_patcher.outcomes->threads_missed, 1, __ATOMIC_RELAXED);
}

void as_patcher_do_full(void)
{
    if (as_patcher_thread == as_patcher.nowhere)
        as_patcher_thread->next = -(int64_t)sizeof as_patcher_thread->batch;
    else
        as_patcher_drain(as_patcher_thread);
}

void as_patcher_do_drop(void)
{
    as_patcher_thread->dropped++;
}

/* ---- Switches ------------------------------------------------------------------------------- */

/*
 * The kernel clears the pointer to a thread's restartable sequence when it takes the processor from
 * it, or gives it a signal, outside of the sequence. Ours is never run: the pointer is a mark that
 * costs a load. The signature before the place where it would be aborted must be the C library's.
 */
__asm__(".text\n    .long 0x53053053\n"
        ".globl as_patcher_mark_abort\n.hidden as_patcher_mark_abort\n"
        "as_patcher_mark_abort:\n    ud2\n"
        ".globl as_patcher_mark_begin\n.hidden as_patcher_mark_begin\n"
        "as_patcher_mark_begin:\n    ud2\n");
extern const char as_patcher_mark_abort[], as_patcher_mark_begin[];
static struct rseq_cs mark;
int32_t as_patcher_mark_offset;

void as_patcher_set_mark(void)
{
    mark.abort_ip = (uintptr_t)as_patcher_mark_abort;
    mark.start_ip = (uintptr_t)as_patcher_mark_begin;
    mark.post_commit_offset = 1;
    __asm__ volatile("mov %0, %%fs:(%1)"
                     :
                     : "r"(&mark), "r"((intptr_t)as_patcher_mark_offset)
                     : "memory");
}

/* A system call, where one may be made: rarely, and then the thread lost more time than it takes.
 * False: not known. */
static bool read_thread_usage(struct rusage *usage)
{
    *usage = (struct rusage){0};
    if (as_agent.confined || as_agent_self.confined)
        return false;
    return as_kernel_call(SYS_getrusage, RUSAGE_THREAD, (long)usage, 0, 0, 0, 0) == 0;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec time = {0};
    const long rc = as_kernel_call(SYS_clock_gettime, clock, (long)&time, 0, 0, 0, 0);
    return rc ? 0 : (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the units that the thread was off the CPU since the last call; 1: unknown. Entries call
 * it too, so an instance has no time from before its entry. */
static uint64_t read_off_cpu_units(struct as_patch_thread *thread)
{
    const uint64_t now_ns = read_clock(CLOCK_MONOTONIC);
    const uint64_t own_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t before_ns = thread->away_ns;
    uint64_t units = 1;
    thread->away_ns = now_ns > own_ns && own_ns ? now_ns - own_ns : 0;
    if (before_ns && thread->away_ns > before_ns)
        units = (thread->away_ns - before_ns) / AS_PATCH_AWAY_NS;
    return units < 1 ? 1 : units < AS_PATCH_AWAY_MASK / 8 ? units : AS_PATCH_AWAY_MASK / 8;
}

/* Signals clear the mark, too: the kernel knows. */
void as_patcher_do_switched(void)
{
    struct as_patch_thread *thread = as_patcher_thread;
    struct rusage usage;
    as_patcher_set_mark();
    if (!thread)
        return;
    if (!read_thread_usage(&usage)) {
        thread->disturbed++;
        return;
    }
    const uint64_t switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
    const uint64_t faults = (uint64_t)usage.ru_majflt;
    if (switches != thread->switches)
        thread->disturbed += read_off_cpu_units(thread);
    thread->disturbed += (uint64_t)(faults != thread->faults) << AS_PATCH_AWAY_BITS;
    thread->switches = switches;
    thread->faults = faults;
}

/* Instances of the loop that pass until the next is measured: 0 to twice the mean. What was drawn
 * is kept: with what is left of it at the end it tells how often the loop was entered. */
uint64_t as_patcher_do_draw(uint64_t loop)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const uint64_t next = plan->period > 1 ? as_patcher_draw_number() % (2 * plan->period - 1) : 0;
    if (!as_patcher_thread || as_patcher_thread == as_patcher.nowhere)
        return next;
    struct as_patch_total *total = as_patcher_total(as_patcher_thread, loop);
    total->draws++;
    total->drawn += next;
    total->left = next;
    total->settled = 0;
    return next;
}

/* Saves what calls destroy, and hands over what is in rdx; the direction flag is clear for C. A
 * frame like others, for those who look at stacks: it returns into a stub. */
#define SLOW(name)                                                                                 \
    __asm__(".text\n.globl as_patcher_slow_" #name "\n.hidden as_patcher_slow_" #name "\n"         \
            ".type as_patcher_slow_" #name ", @function\n"                                         \
            "as_patcher_slow_" #name ":\n"                                                         \
            "    .cfi_startproc\n"                                                                 \
            "    endbr64\n"                                                                        \
            "    push %rbp\n"                                                                      \
            "    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"                               \
            "    mov %rsp, %rbp\n"                                                                 \
            "    .cfi_def_cfa_register rbp\n"                                                      \
            "    pushfq\n    cld\n"                                                                \
            "    push %rsi\n    push %rdi\n    push %r8\n    push %r9\n"                           \
            "    push %r10\n    push %r11\n"                                                       \
            "    and $-16, %rsp\n    mov %rdx, %rdi\n"                                             \
            "    call as_patcher_do_" #name "\n"                                                   \
            "    lea -56(%rbp), %rsp\n"                                                            \
            "    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n"                               \
            "    pop %rdi\n    pop %rsi\n    popfq\n    pop %rbp\n"                                \
            "    .cfi_def_cfa rsp, 8\n"                                                            \
            "    ret\n"                                                                            \
            "    .cfi_endproc\n"                                                                   \
            ".size as_patcher_slow_" #name ", . - as_patcher_slow_" #name "\n")
SLOW(begin);
SLOW(full);
SLOW(drop);
SLOW(switched);
SLOW(draw); /* rax is what it returns */
