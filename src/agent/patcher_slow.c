/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stubs call. It runs in the middle of a loop of the program, on its stack below the red zone,
 * with its vector registers live: built with general registers alone, so that they need not be
 * saved; no system call, nothing called, some hundred bytes of stack.
 */
#include "agent/patcher.h"

__thread struct as_patch_thread *as_patcher_thread;
__thread int64_t as_patcher_countdown[AS_PATCHER_COUNTDOWNS];
static __thread uint64_t as_patcher_drawn __attribute__((tls_model("initial-exec")));

/* Called from the assembly below. */
#define SLOW_USED __attribute__((used, visibility("hidden")))
SLOW_USED void as_patcher_do_begin(void);
SLOW_USED void as_patcher_do_full(void);
SLOW_USED void as_patcher_do_drop(void);
SLOW_USED uint64_t as_patcher_do_draw(void);

/* ---- Batches -------------------------------------------------------------------------------- */

static struct as_patch_record *kept_of(struct as_patch_thread *thread)
{
    return (struct as_patch_record *)((uint8_t *)thread +
                                      as_patch_kept_at(thread->loops, thread->counters));
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
static uint64_t draw_number(void)
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

static struct as_patch_total *totals_of(struct as_patch_thread *thread)
{
    return (struct as_patch_total *)((uint8_t *)thread + as_patch_totals_at(thread->loops));
}

/* The table is full: of the loop with most records each stays with a chance of one half. Rare loops
 * so keep all of theirs. */
static void thin_out(struct as_patch_thread *thread)
{
    struct as_patch_record *kept = kept_of(thread);
    struct as_patch_total *total = totals_of(thread);
    uint32_t most = 0;
    for (uint32_t i = 1; i < thread->loops; i++)
        most = total[i].kept > total[most].kept ? i : most;
    uint64_t n = 0;
    for (uint64_t i = 0; i < thread->kept; i++) {
        if (kept[i].loop == most && draw_number() & 1) {
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
           (total->halved < 48 && (draw_number() & ((UINT64_C(1) << total->halved) - 1)) == 0);
}

static void keep_record(struct as_patch_thread *thread, struct as_patch_total *total,
                        const struct as_patch_record *record)
{
    if (thread->kept_room == 0 || !is_drawn(total))
        return;
    if (thread->kept == thread->kept_room) {
        const uint64_t before = total->halved;
        thin_out(thread);
        if (thread->kept == thread->kept_room || (total->halved > before && draw_number() & 1))
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
    struct as_patch_total *total = totals_of(thread) + record->loop;
    if (record->sp != 0 || record->exit >= loop->exits) {
        record->flags |= AS_PATCH_CUT;
        total->dropped++;
        return;
    }
    const uint64_t trips =
        as_patch_trips(loop, exit[loop->first_exit + record->exit].add, record->iv0, record->iv1);
    total->instances++;
    total->trips += trips == UINT64_MAX ? 0 : trips;
    total->ticks += record->t1 - record->t0;
    keep_record(thread, total, record);
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

/* Instances that pass until the next is measured: 0 to twice the mean. */
uint64_t as_patcher_do_draw(void)
{
    const uint64_t period = as_patcher.plan->period;
    return period > 1 ? draw_number() % (2 * period - 1) : 0;
}

/* Saves what calls destroy, flags first; the direction flag is clear for C. */
#define SLOW(name)                                                                                 \
    __asm__(".text\n.globl as_patcher_slow_" #name "\n.hidden as_patcher_slow_" #name "\n"         \
            ".type as_patcher_slow_" #name ", @function\n"                                         \
            "as_patcher_slow_" #name ":\n"                                                         \
            "    endbr64\n"                                                                        \
            "    pushfq\n    cld\n"                                                                \
            "    push %rsi\n    push %rdi\n    push %r8\n    push %r9\n"                           \
            "    push %r10\n    push %r11\n    push %rbp\n"                                        \
            "    mov %rsp, %rbp\n    and $-16, %rsp\n"                                             \
            "    call as_patcher_do_" #name "\n"                                                   \
            "    mov %rbp, %rsp\n"                                                                 \
            "    pop %rbp\n    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n"                 \
            "    pop %rdi\n    pop %rsi\n    popfq\n    ret\n"                                     \
            ".size as_patcher_slow_" #name ", . - as_patcher_slow_" #name "\n")
SLOW(begin);
SLOW(full);
SLOW(drop);
SLOW(draw); /* rax is what it returns */
