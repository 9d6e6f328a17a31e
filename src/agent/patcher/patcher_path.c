/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call paths of some instances: who had called the loop's function. What is needed to find out is
 * taken when an instance ends, on its record: registers that calls keep, and a copy of the stack;
 * the stack is unwound when the program is over, by whoever reads that. Built and called as what
 * is in patcher_slow.c, and no system call.
 */
#include "agent/patcher/patcher.h"

#define STACK_MOST_B 4096u
#define HALVED_MOST  40u

/* What the assembly below leaves on the stack. */
struct as_patcher_saved {
    uint64_t r15, r14, r13, r12, rbx, r11, r10, r9, r8, rdi, rsi, flags, rbp, stub;
};
__attribute__((used, visibility("hidden"))) void
as_patcher_do_path(struct as_patch_thread *thread, const struct as_patcher_saved *saved);

/* ---- The table ------------------------------------------------------------------------------ */

static struct as_patch_path *path_at(struct as_patch_thread *thread, uint64_t offset)
{
    uint8_t *table = (uint8_t *)thread + as_patch_paths_at(thread->loops, thread->counters);
    return (struct as_patch_path *)(void *)(table + offset);
}

/* Word by word, upwards: the compiler's copy may be a function. */
static void copy_words(void *to, const void *from, uint64_t size_b)
{
    volatile uint64_t *out = to;
    const uint64_t *in = from;
    for (uint64_t i = 0; i < size_b / sizeof *in; i++)
        out[i] = in[i];
}

/* The table is full: of the loop with most paths each stays with a chance of one half. */
static void thin_out_paths(struct as_patch_thread *thread)
{
    struct as_patch_total *total = as_patcher_total(thread, 0);
    uint64_t used_b = 0, size_b;
    uint32_t most = 0;
    for (uint32_t i = 1; i < thread->loops; i++)
        most = total[i].paths > total[most].paths ? i : most;
    for (uint64_t at = 0; at < thread->paths_b; at += size_b) {
        const struct as_patch_path *path = path_at(thread, at);
        size_b = path->size_b;
        if (path->record.loop == most && as_patcher_draw_number() & 1) {
            total[most].paths--;
            continue;
        }
        if (used_b != at)
            copy_words(path_at(thread, used_b), path, size_b);
        used_b += size_b;
    }
    thread->paths_b = used_b;
    total[most].paths_halved++;
}

/* Room for one of the loop; NULL: there is none, or chance says that it does not stay. */
static struct as_patch_path *room_for_path(struct as_patch_thread *thread, uint32_t loop,
                                           uint64_t size_b)
{
    const struct as_patch_total *total = as_patcher_total(thread, loop);
    const uint64_t before = total->paths_halved;
    if (thread->paths_room_b - thread->paths_b < size_b)
        thin_out_paths(thread);
    if (thread->paths_room_b - thread->paths_b < size_b ||
        (total->paths_halved > before && as_patcher_draw_number() & 1))
        return (void *)0;
    struct as_patch_path *path = path_at(thread, thread->paths_b);
    thread->paths_b += size_b;
    return path;
}

/* ---- One path ------------------------------------------------------------------------------- */

/* Of a stack that is not the thread's own (coroutines, handlers) the page that it is in. */
static uint64_t stack_size(uintptr_t sp)
{
    const struct as_agent_thread *self = &as_agent_self;
    const bool is_own = sp >= self->low && sp < self->high;
    const uintptr_t end = is_own ? self->high : (sp | (AS_AGENT_PAGE_B - 1)) + 1;
    return (end - sp > STACK_MOST_B ? STACK_MOST_B : end - sp) & ~(uint64_t)7;
}

static uint64_t header_of(const struct as_patch_record *record)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_loop *loop = as_patch_at(plan, &plan->loop);
    loop += record->loop;
    return loop->header + as_patcher_outcome(loop->region)->bias;
}

static void store_call_path(struct as_patch_thread *thread, const struct as_patch_record *record,
                            const struct as_patcher_saved *saved)
{
    const uint64_t rsp = (uintptr_t)(saved + 1) + AS_PATCHER_AT_EXIT_B;
    const uint64_t stack_b = stack_size(rsp);
    const uint64_t size_b = sizeof(struct as_patch_path) + stack_b;
    struct as_patch_path *path = room_for_path(thread, record->loop, size_b);
    if (!path)
        return;
    copy_words(&path->record, record, sizeof *record);
    path->header = header_of(record);
    path->rbx = saved->rbx;
    path->rbp = saved->rbp;
    path->rsp = rsp;
    path->r12 = saved->r12;
    path->r13 = saved->r13;
    path->r14 = saved->r14;
    path->r15 = saved->r15;
    path->size_b = (uint32_t)size_b;
    path->stack_b = (uint32_t)stack_b;
    copy_words(path + 1, (const void *)(uintptr_t)rsp, stack_b);
    as_patcher_total(thread, record->loop)->paths++;
}

static struct as_patch_slot *slot_of(struct as_patch_thread *thread, uint64_t loop)
{
    uint8_t *slots = (uint8_t *)thread + as_patch_slots_at();
    return (struct as_patch_slot *)(void *)slots + loop;
}

/* Measured ones of the loop that pass until the next: 0 to twice the mean. */
static uint64_t draw_pass(const struct as_patch_total *total)
{
    const uint64_t halved = total->paths_halved < HALVED_MOST ? total->paths_halved : HALVED_MOST;
    const uint64_t mean = UINT64_C(1) << halved;
    return mean > 1 ? as_patcher_draw_number() % (2 * mean - 1) : 0;
}

void as_patcher_do_path(struct as_patch_thread *thread, const struct as_patcher_saved *saved)
{
    const int64_t n = AS_PATCH_BATCH_N + thread->next / (int64_t)sizeof(struct as_patch_record);
    if (thread == as_patcher.nowhere || n < 1 || n > AS_PATCH_BATCH_N)
        return;
    const struct as_patch_record *record = &thread->batch[n - 1];
    if (record->loop >= thread->loops)
        return;
    if (record->sp == 0) /* else it is cut, and the stack another */
        store_call_path(thread, record, saved);
    slot_of(thread, record->loop)->path = draw_pass(as_patcher_total(thread, record->loop));
}

void as_patcher_paths_nowhere(void)
{
    for (uint64_t i = 0; i < as_patcher.plan->loop.n; i++)
        slot_of(as_patcher.nowhere, i)->path = INT64_MAX;
}

/* As SLOW of patcher_slow.c; the registers that calls keep are left on the stack, too. */
__asm__(".text\n.globl as_patcher_slow_path\n.hidden as_patcher_slow_path\n"
        ".type as_patcher_slow_path, @function\n"
        "as_patcher_slow_path:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    pushfq\n    cld\n"
        "    push %rsi\n    push %rdi\n    push %r8\n    push %r9\n"
        "    push %r10\n    push %r11\n"
        "    push %rbx\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rsp, %rsi\n    mov %rdx, %rdi\n"
        "    and $-16, %rsp\n"
        "    call as_patcher_do_path\n"
        "    lea -56(%rbp), %rsp\n"
        "    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n"
        "    pop %rdi\n    pop %rsi\n    popfq\n    pop %rbp\n"
        "    .cfi_def_cfa rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size as_patcher_slow_path, . - as_patcher_slow_path\n");
