/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread does at a point, in the middle of the program: general registers alone, so that
 * vector registers stay what they are; they are saved whole only around a function of the user's.
 * An event that comes while another is at hand (of a handler that interrupted it) is counted as
 * lost; one that finds an event of deeper stack at hand knows that a jump has left that behind.
 */
#include "agent/core/kernel_call.h"
#include "agent/patcher/patcher_emit.h"
#include "agent/patcher/prober.h"

#include <assay/probe.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PROBER_USED __attribute__((used, visibility("hidden")))

AS_AGENT_LOCAL struct as_prober_area *as_prober_self;

/* Registers of the program, as as_prober_enter pushed them. */
struct as_prober_frame {
    uint64_t general[16];
    uint64_t flags;
};
PROBER_USED void as_prober_do(struct as_prober_frame *frame, const uint8_t *back);
void as_prober_call(void *state, as_prober_function *function, const void *hit);

static uint64_t stamp_now(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
    return (uint64_t)high << 32 | low;
}

/* ---- Time ------------------------------------------------------------------------------------ */

/* The outermost instance alone is timed: its frame tells it from those inside, which lie deeper. */
static void begin_time(struct as_probe_timer *timer, uint64_t sp)
{
    if (timer->sp && sp < timer->sp) {
        timer->nested++;
        return;
    }
    timer->cut += timer->sp != 0; /* an exception or a jump left it */
    timer->sp = sp;
    timer->t0 = stamp_now();
}

static void end_time(struct as_probe_timer *timer, uint64_t sp, uint64_t now)
{
    if (timer->sp != sp) {
        timer->cut += timer->sp == 0 || sp > timer->sp;
        return;
    }
    const uint64_t ticks = now - timer->t0;
    timer->sp = 0;
    timer->least = timer->instances == 0 || ticks < timer->least ? ticks : timer->least;
    timer->largest = ticks > timer->largest ? ticks : timer->largest;
    timer->ticks += ticks;
    timer->instances++;
}

/* ---- Values ---------------------------------------------------------------------------------- */

#define VECTOR_CASE(n)                                                                             \
    case n:                                                                                        \
        __asm__ volatile("movq %%xmm" #n ", %0" : "=r"(low));                                      \
        break;
/* The low bytes of a vector register, which nobody has touched since the program was left. */
static uint64_t vector_low(unsigned reg)
{
    uint64_t low = 0;
    switch (reg) {
        VECTOR_CASE(0)
        VECTOR_CASE(1)
        VECTOR_CASE(2)
        VECTOR_CASE(3)
        VECTOR_CASE(4)
        VECTOR_CASE(5)
        VECTOR_CASE(6)
        VECTOR_CASE(7)
        VECTOR_CASE(8)
        VECTOR_CASE(9)
        VECTOR_CASE(10)
        VECTOR_CASE(11)
        VECTOR_CASE(12)
        VECTOR_CASE(13)
        VECTOR_CASE(14)
        VECTOR_CASE(15)
    default:
        break;
    }
    return low;
}

/* The thread's own stack can be read; of other memory the kernel makes the copy, and says when it
 * cannot: the page may go away while we look. */
static bool read_memory(const struct as_prober_frame *frame, uint64_t address, uint64_t *out,
                        uint64_t size_b)
{
    const uint64_t sp = frame->general[RSP];
    const struct as_agent_thread *self = &as_agent_self;
    *out = 0;
    if (sp >= self->low && sp < self->high && address >= sp && address < self->high - 8) {
        *out = size_b == 8 ? *(const volatile uint64_t *)(uintptr_t)address
                           : *(const volatile uint32_t *)(uintptr_t)address;
        return true;
    }
    if (as_agent.confined || self->confined)
        return false;
    const struct iovec own = {out, size_b}, other = {(void *)(uintptr_t)address, size_b};
    const long rc =
        as_kernel_call(SYS_process_vm_readv, as_agent.pid, (long)&own, 1, (long)&other, 1, 0);
    return rc == (long)size_b;
}

static uint64_t place_of(const struct as_prober_frame *frame, const struct as_patch_act *act)
{
    uint64_t at = (uint64_t)act->offset;
    if (act->base != AS_PATCH_NONE)
        at += frame->general[act->base];
    if (act->index != AS_PATCH_NONE)
        at += frame->general[act->index] * act->scale;
    return at;
}

/* The same number as a double, bit by bit: no vector register is at hand. */
static int64_t widen_float(uint32_t bits)
{
    const uint64_t sign = (uint64_t)(bits >> 31) << 63;
    uint64_t exponent = bits >> 23 & 255, fraction = (uint64_t)(bits & 0x7fffff) << 29;
    if (exponent == 255)
        exponent = 2047;
    else if (exponent)
        exponent += 1023 - 127;
    else if (fraction) {
        exponent = 1023 - 126;
        for (; !(fraction >> 52); exponent--)
            fraction <<= 1;
        fraction &= (UINT64_C(1) << 52) - 1;
    }
    return (int64_t)(sign | exponent << 52 | fraction);
}

static bool is_floating(unsigned type)
{
    return type == AS_PATCH_DOUBLE || type == AS_PATCH_FLOAT;
}

static bool read_probe_value(const struct as_prober_frame *frame, const struct as_patch_act *act,
                             int64_t *out)
{
    const bool is_narrow = act->type == AS_PATCH_INT || act->type == AS_PATCH_FLOAT;
    uint64_t raw;
    if (act->source == AS_PATCH_FROM_GENERAL)
        raw = frame->general[act->reg];
    else if (act->source == AS_PATCH_FROM_VECTOR)
        raw = vector_low(act->reg);
    else if (!read_memory(frame, place_of(frame, act), &raw, is_narrow ? 4 : 8))
        return false;
    *out = act->type == AS_PATCH_INT     ? (int32_t)(uint32_t)raw
           : act->type == AS_PATCH_FLOAT ? widen_float((uint32_t)raw)
                                         : (int64_t)raw;
    return true;
}

/* Doubles in their order: of negative ones the other bits turn round. */
static int64_t order_of(int64_t value, bool floating)
{
    return floating && value < 0 ? value ^ INT64_MAX : value;
}

static unsigned bucket_of(int64_t value, bool floating)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    int power;
    if (floating) {
        magnitude = (uint64_t)value & INT64_MAX;
        power = (int)(magnitude >> 52) - 1023 + AS_PROBE_EXPONENT;
        power = power < 0 ? 0 : power > 62 ? 62 : power;
    } else {
        power = magnitude ? 63 - __builtin_clzll(magnitude) : 0;
    }
    if (magnitude == 0)
        return AS_PROBE_BUCKET_ZERO;
    return (unsigned)(value < 0 ? AS_PROBE_BUCKET_ZERO - 1 - power
                                : AS_PROBE_BUCKET_ZERO + 1 + power);
}

/* With the environment of floating point that a program begins with; what it has comes back. */
static void add_double(uint64_t *sum, int64_t value)
{
    uint32_t own;
    const uint32_t plain = 0x1f80;
    uint64_t kept[2];
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %3\n\tmovups %%xmm0, %1\n\t"
                     "movsd %4, %%xmm0\n\taddsd %2, %%xmm0\n\tmovsd %%xmm0, %2\n\t"
                     "movups %1, %%xmm0\n\tldmxcsr %0"
                     : "=m"(own), "=m"(kept), "+m"(*sum)
                     : "m"(plain), "m"(value)
                     : "memory");
}

static void add_whole(struct as_probe_values *values, int64_t value)
{
    const uint64_t low = values->sum_low + (uint64_t)value;
    values->sum_high += (value < 0 ? -1 : 0) + (low < values->sum_low);
    values->sum_low = low;
}

/* The most frequent of a stream in little room ("space saving": Metwally, Agrawal, El Abbadi 2005):
 * who is not among them takes the place of the rarest, with its number. */
static void count_top(struct as_probe_values *values, int64_t value)
{
    struct as_probe_top *rarest = &values->top[0];
    for (unsigned i = 0; i < AS_PROBE_TOP; i++) {
        struct as_probe_top *top = &values->top[i];
        if (top->n && top->value == value) {
            top->n++;
            return;
        }
        rarest = top->n < rarest->n ? top : rarest;
    }
    rarest->value = value;
    rarest->over = rarest->n;
    rarest->n++;
}

static void add_recorded_value(struct as_probe_values *values, int64_t value, bool floating)
{
    const int64_t order = order_of(value, floating);
    const uint64_t n = values->n++;
    if (n < AS_PROBE_ENDS)
        values->first[n] = value;
    values->last[n % AS_PROBE_ENDS] = value;
    if (floating && ((uint64_t)value & INT64_MAX) > UINT64_C(2047) << 52) {
        values->unordered++;
        return;
    }
    const bool is_first = n == values->unordered;
    if (is_first || order < order_of(values->least, floating))
        values->least = value;
    if (is_first || order > order_of(values->largest, floating))
        values->largest = value;
    if (floating)
        add_double(&values->sum_low, value);
    else
        add_whole(values, value);
    values->bucket[bucket_of(value, floating)]++;
    count_top(values, value);
}

/* ---- Functions of the user's ----------------------------------------------------------------- */

static void add_call_time(struct as_probe_tally *tally, uint64_t ticks)
{
    if (tally->timed == 0 || ticks < tally->least)
        tally->least = ticks;
    if (ticks > AS_PROBE_INTERRUPTED * tally->least)
        return;
    tally->timed++;
    tally->ticks += ticks;
}

static void call_function(struct as_prober_area *area, const struct as_prober_frame *frame,
                          const struct as_patch_point *point, const struct as_patch_act *act,
                          uint64_t now)
{
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_called *called =
        (const struct as_patch_called *)as_patch_at(plan, &plan->called) + act->called;
    struct assay_probe_hit hit;
    if (!as_prober.function[act->called])
        return;
    hit.size_b = sizeof hit;
    hit.probe = (uint32_t)called->number;
    hit.name = (const char *)as_patch_at(plan, &plan->text) + called->probe;
    hit.address = point->address;
    hit.ticks = now;
    for (unsigned i = 0; i < 16; i++)
        hit.general[i] = frame->general[i];
    hit.flags = frame->flags;
    for (unsigned i = 0; i < 8; i++)
        ((uint64_t *)(void *)hit.floating)[i] = vector_low(i);
    const int error = *area->error;
    area->tally[act->place].calls++;
    as_prober_call(area->state[area->states++ % AS_PROBER_STATES], as_prober.function[act->called],
                   &hit);
    *area->error = error;
    add_call_time(&area->tally[act->place], stamp_now() - now);
}

/* ---- Events ---------------------------------------------------------------------------------- */

static struct as_probe_timer *timer_of(struct as_prober_area *area, const struct as_patch_act *act)
{
    return act->place == UINT32_MAX ? &area->measure : &area->timer[act->place];
}

static void lose_event(struct as_prober_area *area, const struct as_patch_act *act, uint32_t acts)
{
    for (uint32_t i = 0; i < acts; i++)
        if (act[i].kind == AS_PATCH_ACT_KEEPS)
            area->values[act[i].place].lost++;
        else if (act[i].kind == AS_PATCH_ACT_CALLS)
            area->tally[act[i].place].lost++;
        else
            timer_of(area, &act[i])->lost++;
}

static void do_act(struct as_prober_area *area, const struct as_prober_frame *frame,
                   const struct as_patch_point *point, const struct as_patch_act *act, uint64_t now)
{
    int64_t value;
    if (act->kind == AS_PATCH_ACT_LEAVES)
        end_time(timer_of(area, act), frame->general[RSP], now);
    else if (act->kind == AS_PATCH_ACT_ENTERS)
        begin_time(timer_of(area, act), frame->general[RSP]);
    else if (act->kind == AS_PATCH_ACT_CALLS)
        call_function(area, frame, point, act, now);
    else if (read_probe_value(frame, act, &value))
        add_recorded_value(&area->values[act->place], value, is_floating(act->type));
    else
        area->values[act->place].missed++;
}

void as_prober_do(struct as_prober_frame *frame, const uint8_t *back)
{
    static const struct as_patch_act measure[] = {
        {.kind = AS_PATCH_ACT_ENTERS, .place = UINT32_MAX},
        {.kind = AS_PATCH_ACT_LEAVES, .place = UINT32_MAX}};
    const uint64_t now = stamp_now();
    const struct as_patch_plan *plan = as_patcher.plan;
    const struct as_patch_point *point = as_patch_at(plan, &plan->point);
    const struct as_patch_act *act = as_patch_at(plan, &plan->act);
    const uint32_t number = *(const uint32_t *)(const void *)(back + 3); /* of a no-op */
    struct as_prober_area *area = as_prober_self;
    uint32_t acts = 1;
    if (!area)
        return;
    if (number < plan->point.n) {
        point += number;
        act += point->first_act;
        acts = point->acts;
    } else
        act = &measure[number & 1];
    if (area->busy && (uintptr_t)frame < area->busy) {
        lose_event(area, act, acts);
        return;
    }
    area->busy = (uintptr_t)frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < acts; i++)
        do_act(area, frame, point, &act[i], now);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    area->busy = 0;
}

/* rbp stands 16 + 128 bytes below what the program has as its stack pointer. */
__asm__(".text\n.globl as_prober_enter\n.hidden as_prober_enter\n"
        ".type as_prober_enter, @function\n"
        "as_prober_enter:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    pushfq\n    cld\n"
        "    push %r15\n    push %r14\n    push %r13\n    push %r12\n"
        "    push %r11\n    push %r10\n    push %r9\n    push %r8\n"
        "    push %rdi\n    push %rsi\n    push (%rbp)\n    push %rbp\n"
        "    push %rbx\n    push %rdx\n    push %rcx\n    push %rax\n"
        "    lea 144(%rbp), %rax\n    mov %rax, 32(%rsp)\n"
        "    mov %rsp, %rdi\n    mov 8(%rbp), %rsi\n"
        "    and $-16, %rsp\n"
        "    call as_prober_do\n"
        "    lea -136(%rbp), %rsp\n"
        "    pop %rax\n    pop %rcx\n    pop %rdx\n    pop %rbx\n"
        "    lea 16(%rsp), %rsp\n"
        "    pop %rsi\n    pop %rdi\n    pop %r8\n    pop %r9\n    pop %r10\n    pop %r11\n"
        "    pop %r12\n    pop %r13\n    pop %r14\n    pop %r15\n    popfq\n    pop %rbp\n"
        "    .cfi_def_cfa rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size as_prober_enter, . - as_prober_enter\n");

/* as_prober_call(state, function, hit): all that vector registers and x87 hold waits in `state`. */
__asm__(".text\n.globl as_prober_call\n.hidden as_prober_call\n"
        ".type as_prober_call, @function\n"
        "as_prober_call:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 16\n    .cfi_offset rbp, -16\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register rbp\n"
        "    push %rbx\n    push %r12\n"
        "    .cfi_offset rbx, -24\n    .cfi_offset r12, -32\n"
        "    mov %rdi, %rbx\n    mov %rsi, %r12\n    mov %rdx, %rdi\n"
        "    mov $-1, %eax\n    mov $-1, %edx\n"
        "    cmpb $0, as_prober_compacts(%rip)\n    je 2f\n"
        "    xsavec64 (%rbx)\n    jmp 3f\n"
        "2:  xsave64 (%rbx)\n"
        "3:\n"
        "    fninit\n"
        "    pushq $0x1f80\n    ldmxcsr (%rsp)\n    pop %rax\n"
        "    cmpb $0, as_prober_clears(%rip)\n    je 1f\n"
        "    vzeroupper\n"
        "1:  and $-16, %rsp\n"
        "    call *%r12\n"
        "    cld\n"
        "    mov $-1, %eax\n    mov $-1, %edx\n"
        "    xrstor64 (%rbx)\n"
        "    lea -16(%rbp), %rsp\n"
        "    pop %r12\n    pop %rbx\n    pop %rbp\n"
        "    .cfi_def_cfa rsp, 8\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size as_prober_call, . - as_prober_call\n");
PROBER_USED uint8_t as_prober_clears;
PROBER_USED uint8_t as_prober_compacts;

/* As points of a clone. */
__asm__(".text\n.globl as_prober_pair\n.hidden as_prober_pair\n"
        ".type as_prober_pair, @function\n"
        "as_prober_pair:\n"
        "    lea -128(%rsp), %rsp\n    call as_prober_enter\n"
        "    .byte 0x0f, 0x1f, 0x80\n    .long -2\n"
        "    lea 128(%rsp), %rsp\n"
        "    lea -128(%rsp), %rsp\n    call as_prober_enter\n"
        "    .byte 0x0f, 0x1f, 0x80\n    .long -1\n"
        "    lea 128(%rsp), %rsp\n"
        "    ret\n"
        ".size as_prober_pair, . - as_prober_pair\n");

const uint8_t *as_prober_stub(struct as_patcher_code *code)
{
    const uint8_t *begin = code->at;
    as_emit_depth(code, RED_ZONE + 8);
    EMIT(code, 0xff, 0x25, 0, 0, 0, 0); /* jmp [rip]: no register is free */
    as_emit_number(code, (int64_t)(uintptr_t)as_prober_enter, 8);
    return begin;
}
