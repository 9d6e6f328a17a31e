/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways between the program's loop and variants of it, in assembly: what is the program's is kept in
 * the thread's area, C runs on the area's stack, a variant on the program's with all registers as
 * the loop found them. What is measured in place ends here, too, so this file uses general
 * registers alone.
 */
#include "agent/core/kernel_call.h"
#include "agent/patcher/variant.h"

#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

/* Named by the assembly below. */
#define ENTER_USED __attribute__((used, visibility("hidden")))
ENTER_USED __thread struct as_variant_area *as_variant_self;
ENTER_USED uint8_t as_variant_compacts;

/* Offsets of local words stand in patch/variant_plan.h; these are behind them. */
#define LEFT      "16704"
#define MASK      "16832"
#define STATE     "16896"
#define STACK_END "16896 + 16384 + 65536"
_Static_assert(SYS_rt_sigprocmask == 14 && SIG_SETMASK == 2, "said in assembly");
_Static_assert(offsetof(struct as_variant_local, left) == 16704, "said in assembly");
_Static_assert(offsetof(struct as_variant_local, mask) == 16832, "said in assembly");
_Static_assert(offsetof(struct as_variant_area, state) == 16896, "said in assembly");
_Static_assert(offsetof(struct as_variant_area, stack) == 16896 + AS_VARIANT_STATE_B,
               "said in assembly");

/* Vectors of the program; what is as after a start is not written where the processor can tell. */
#define SAVE_STATE                                                                                 \
    "    mov $-1, %eax\n    mov $-1, %edx\n"                                                       \
    "    testb $1, as_variant_compacts(%rip)\n    jz 5f\n"                                         \
    "    xsavec64 " STATE "(%rdi)\n    jmp 6f\n"                                                   \
    "5:  xsave64 " STATE "(%rdi)\n6:\n"

/* The stub pushed rax, rdx, rcx below the red zone. Signals come again when all is the program's:
 * a handler may run loops, and need not return. */
__asm__(".text\n.globl as_variant_enter\n.hidden as_variant_enter\n"
        ".type as_variant_enter, @function\n"
        "as_variant_enter:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    pushfq\n    cld\n"
        "    push %rsi\n    push %rdi\n    push %r8\n    push %r9\n    push %r10\n    push %r11\n"
        "    mov as_variant_self@gottpoff(%rip), %rcx\n"
        "    mov %fs:(%rcx), %rcx\n"
        "    xor %eax, %eax\n"
        "    test %rcx, %rcx\n    jz 1f\n"
        "    cmpq $0, 216(%rcx)\n    jne 1f\n"
        "    movq $1, 216(%rcx)\n"
        "    mov 32(%rbp), %rax\n    mov %rax, 72(%rcx)\n"
        "    mov 16(%rbp), %rax\n    mov %rax, 80(%rcx)\n"
        "    mov 24(%rbp), %rax\n    mov %rax, 88(%rcx)\n"
        "    mov %rbx, 96(%rcx)\n"
        "    lea 40 + 128(%rbp), %rax\n    mov %rax, 104(%rcx)\n"
        "    mov (%rbp), %rax\n    mov %rax, 112(%rcx)\n"
        "    mov %rsi, 120(%rcx)\n    mov %rdi, 128(%rcx)\n"
        "    mov %r8, 136(%rcx)\n    mov %r9, 144(%rcx)\n    mov %r10, 152(%rcx)\n"
        "    mov %r11, 160(%rcx)\n    mov %r12, 168(%rcx)\n    mov %r13, 176(%rcx)\n"
        "    mov %r14, 184(%rcx)\n    mov %r15, 192(%rcx)\n"
        "    mov -8(%rbp), %rax\n    mov %rax, 200(%rcx)\n"
        "    and $-16, %rsp\n"
        "    mov %rdx, %rsi\n    mov %rcx, %rdi\n"
        "    push %rsi\n    push %rdi\n"
        "    call as_variant_ask\n"
        "    pop %rdi\n    pop %rsi\n"
        "    cmp $1, %eax\n    jne 2f\n" SAVE_STATE "    lea " STACK_END "(%rdi), %rsp\n"
        "    call as_variant_dispatch\n"
        "    mov as_variant_self@gottpoff(%rip), %rcx\n"
        "    mov %fs:(%rcx), %rcx\n"
        "    mov %rax, 224(%rcx)\n"
        "    mov $-1, %eax\n    mov $-1, %edx\n"
        "    xrstor64 " STATE "(%rcx)\n"
        "    lea -56(%rbp), %rsp\n"
        "    push 224(%rcx)\n"
        "    movq $0, 216(%rcx)\n"
        "    mov $2, %edi\n    lea " MASK "(%rcx), %rsi\n    xor %edx, %edx\n    mov $8, %r10d\n"
        "    mov $14, %eax\n    syscall\n"
        "    pop %rax\n"
        "    jmp 1f\n"
        "2:  lea -56(%rbp), %rsp\n"
        "    movq $0, 216(%rdi)\n"
        "1:  pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n    pop %rdi\n    pop %rsi\n"
        "    popfq\n    pop %rbp\n"
        "    .cfi_def_cfa rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size as_variant_enter, . - as_variant_enter\n");

#define PUSH_KEPT                                                                                  \
    "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"   \
    "    mov %rsp, 64(%rdi)\n"
#define POP_KEPT                                                                                   \
    "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"         \
    "    cld\n    ret\n"

/* The time is taken when all but three registers are what the loop found. */
__asm__(".text\n.globl as_variant_run\n.hidden as_variant_run\n"
        ".type as_variant_run, @function\n"
        "as_variant_run:\n" PUSH_KEPT "    mov $-1, %eax\n    mov $-1, %edx\n"
        "    xrstor64 " STATE "(%rdi)\n"
        "    ldmxcsr 208(%rdi)\n"
        "    pushq 200(%rdi)\n    popfq\n"
        "    mov 80(%rdi), %rcx\n    mov 96(%rdi), %rbx\n    mov 112(%rdi), %rbp\n"
        "    mov 120(%rdi), %rsi\n"
        "    mov 136(%rdi), %r8\n    mov 144(%rdi), %r9\n    mov 152(%rdi), %r10\n"
        "    mov 160(%rdi), %r11\n    mov 168(%rdi), %r12\n    mov 176(%rdi), %r13\n"
        "    mov 184(%rdi), %r14\n    mov 192(%rdi), %r15\n"
        "    mov 128(%rdi), %rdi\n"
        "    lfence\n    rdtsc\n"
        "    mov %eax, %gs:40\n    mov %edx, %gs:44\n"
        "    mov %gs:72, %rax\n    mov %gs:88, %rdx\n    mov %gs:104, %rsp\n"
        "    jmp *%gs:56\n"
        ".size as_variant_run, . - as_variant_run\n"
        ".globl as_variant_left\n.hidden as_variant_left\n"
        "as_variant_left:\n"
        "    endbr64\n"
        "    lfence\n    rdtsc\n"
        "    mov %eax, %gs:48\n    mov %edx, %gs:52\n"
        "    mov %rcx, %gs:" LEFT " + 8\n    mov %rbx, %gs:" LEFT " + 24\n"
        "    mov %rbp, %gs:" LEFT " + 40\n    mov %rsi, %gs:" LEFT " + 48\n"
        "    mov %rdi, %gs:" LEFT " + 56\n    mov %r8, %gs:" LEFT " + 64\n"
        "    mov %r9, %gs:" LEFT " + 72\n    mov %r10, %gs:" LEFT " + 80\n"
        "    mov %r11, %gs:" LEFT " + 88\n    mov %r12, %gs:" LEFT " + 96\n"
        "    mov %r13, %gs:" LEFT " + 104\n    mov %r14, %gs:" LEFT " + 112\n"
        "    mov %r15, %gs:" LEFT " + 120\n"
        "    mov %gs:64, %rsp\n"
        ".globl as_variant_abandoned\n.hidden as_variant_abandoned\n"
        "as_variant_abandoned:\n" POP_KEPT ".globl as_variant_call\n.hidden as_variant_call\n"
        ".type as_variant_call, @function\n"
        "as_variant_call:\n" PUSH_KEPT "    sub $8, %rsp\n"
        "    call *%rsi\n"
        "    add $8, %rsp\n" POP_KEPT ".size as_variant_call, . - as_variant_call\n");

__asm__(".text\n.globl as_variant_save_state\n.hidden as_variant_save_state\n"
        ".type as_variant_save_state, @function\n"
        "as_variant_save_state:\n" SAVE_STATE "    ret\n"
        ".size as_variant_save_state, . - as_variant_save_state\n");

/* ---- What is measured in place --------------------------------------------------------------- */

#define STAMP(at, above)                                                                           \
    "    lfence\n    rdtsc\n"                                                                      \
    "    mov as_variant_self@gottpoff(%rip), %rcx\n    mov %fs:(%rcx), %rcx\n"                     \
    "    mov %eax, " at "(%rcx)\n    mov %edx, " above "(%rcx)\n"
#define STUB_SAVE    "    lea -128(%rsp), %rsp\n    push %rax\n    push %rdx\n    push %rcx\n"
#define STUB_RESTORE "    pop %rcx\n    pop %rdx\n    pop %rax\n    lea 128(%rsp), %rsp\n"

/* As stubs do it (variant_stub.c). */
__asm__(".text\n.globl as_variant_measure_nothing\n.hidden as_variant_measure_nothing\n"
        ".type as_variant_measure_nothing, @function\n"
        "as_variant_measure_nothing:\n" STUB_SAVE STAMP("40", "44") STUB_RESTORE
        "    jmp 1f\n"
        "1:  jmp 2f\n"
        "2:\n" STUB_SAVE STAMP("48", "52") STUB_RESTORE
        "    ret\n"
        ".size as_variant_measure_nothing, . - as_variant_measure_nothing\n");

static uint64_t count_changes(void)
{
    struct rusage usage = {0};
    const long rc = as_kernel_call(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0);
    return rc ? 0
              : (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw + usage.ru_majflt + usage.ru_minflt);
}

void as_variant_watch(struct as_variant_area *area)
{
    area->changes = count_changes();
    if (as_patcher_mark_offset)
        as_patcher_set_mark();
}

bool as_variant_was_switched(const struct as_variant_area *area)
{
    uint64_t mark;
    if (count_changes() != area->changes)
        return true;
    if (!as_patcher_mark_offset)
        return false;
    __asm__ volatile("mov %%fs:(%1), %0" : "=r"(mark) : "r"((intptr_t)as_patcher_mark_offset));
    return mark == 0;
}

void as_variant_keep(struct as_variant_area *area, const struct as_variant_record *record)
{
    struct as_variant_file *file = area->file;
    if (file->records == AS_VARIANT_RECORDS) {
        file->lost++;
        return;
    }
    volatile uint64_t *to = (uint64_t *)&file->record[file->records];
    for (unsigned i = 0; i < sizeof *record / sizeof *to; i++)
        to[i] = ((const uint64_t *)record)[i];
    __atomic_store_n(&file->records, file->records + 1, __ATOMIC_RELEASE);
}

ENTER_USED void as_variant_do_left(void);
void as_variant_do_left(void)
{
    struct as_variant_area *area = as_variant_self;
    if (!area || !area->pending || as_agent.confined || as_agent_self.confined)
        return;
    area->record.t0 = area->local.t0;
    area->record.ticks = area->local.t1 - area->local.t0;
    if (as_variant_was_switched(area))
        area->record.flags |= AS_VARIANT_SWITCHED;
    as_variant_keep(area, &area->record);
    area->pending = false;
    as_variant_end_turn(area);
}

__asm__(".text\n.globl as_variant_slow_left\n.hidden as_variant_slow_left\n"
        ".type as_variant_slow_left, @function\n"
        "as_variant_slow_left:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    pushfq\n    cld\n"
        "    push %rsi\n    push %rdi\n    push %r8\n    push %r9\n    push %r10\n    push %r11\n"
        "    and $-16, %rsp\n"
        "    call as_variant_do_left\n"
        "    lea -56(%rbp), %rsp\n"
        "    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n    pop %rdi\n    pop %rsi\n"
        "    popfq\n    pop %rbp\n"
        "    .cfi_def_cfa rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size as_variant_slow_left, . - as_variant_slow_left\n");
