/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: the handler of the timers' signal. Async-signal-safe: no lock, no allocation, only the
 * thread's own memory within known bounds, errno kept.
 */
#include "agent/sampler/sampler.h"
#include "agent/tracer/tracer.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Stacks that are not the thread's own (coroutines): where they end is not known, pages are tried.
 */
#define FOREIGN_STACK_B 8192u

/* ---- Stacks ------------------------------------------------------------------------------- */

/* Returns true if the page can be read: the kernel copies a signal set from it before it finds that
 * the request makes no sense. Changes nothing. */
bool as_sampler_readable(uintptr_t address)
{
    return syscall(SYS_rt_sigprocmask, ~0, address & ~(uintptr_t)(AS_AGENT_PAGE_B - 1), NULL, 8) <
               0 &&
           errno == EINVAL;
}

/* The end of what may be read from `sp` on; `sp` itself: nothing. */
static uintptr_t stack_end(const ucontext_t *context, uintptr_t sp, uint32_t most_b)
{
    const struct as_agent_thread *self = &as_agent_self;
    uintptr_t alternate = (uintptr_t)context->uc_stack.ss_sp;
    uintptr_t end;
    if (sp >= self->low && sp < self->high) {
        end = self->high;
    } else if (alternate && sp >= alternate && sp - alternate < context->uc_stack.ss_size) {
        end = alternate + context->uc_stack.ss_size;
    } else {
        uintptr_t limit = sp + (most_b < FOREIGN_STACK_B ? most_b : FOREIGN_STACK_B);
        for (end = sp; end < limit && as_sampler_readable(end);)
            end = (end | (AS_AGENT_PAGE_B - 1)) + 1;
        end = end > limit ? limit : end;
    }
    return end - sp > most_b ? sp + most_b : end;
}

/* Along the frame pointers, as the kernel would; at most `most` addresses to `chain`, or only their
 * number. */
static uint32_t walk_frames(const greg_t *regs, uintptr_t end, uint64_t *chain, uint32_t most)
{
    uintptr_t sp = (uintptr_t)regs[REG_RSP], frame = (uintptr_t)regs[REG_RBP];
    uint64_t pair[2] = {frame, (uint64_t)regs[REG_RIP]};
    for (uint32_t n = 0;;) {
        if (pair[1] == 0 || n == most)
            return n;
        if (chain)
            chain[n] = pair[1];
        n++;
        frame = pair[0];
        if (frame < sp || frame >= end || end - frame < sizeof pair || frame % 8 != 0)
            return n;
        memcpy(pair, (const void *)frame, sizeof pair);
        sp = frame + sizeof pair;
    }
}

static void copy_registers(const greg_t *regs, uint64_t *out)
{
    static const uint8_t order[AS_AGENT_REGS_N] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
        REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < AS_AGENT_REGS_N; i++)
        out[i] = (uint64_t)regs[order[i]];
}

/* ---- The handler -------------------------------------------------------------------------- */

static void write_sample(const ucontext_t *context, uint64_t time_ns, uint64_t period_ns)
{
    const greg_t *regs = context->uc_mcontext.gregs;
    uint32_t stacks = as_sampler_state.sampling->stacks,
             most_b = as_sampler_state.sampling->stack_b;
    uintptr_t sp = (uintptr_t)regs[REG_RSP] & ~(uintptr_t)7, end = sp;
    struct as_agent_python_frame *python = NULL;
    struct as_agent_sample head = {
        .ip = (uint64_t)regs[REG_RIP], .period_ns = period_ns, .stack_at = sp};
    if (stacks == AS_AGENT_FRAME) {
        end = stack_end(context, sp, UINT32_MAX);
        head.chain_n = walk_frames(regs, end, NULL, AS_AGENT_CHAIN_N);
    }
    if (stacks == AS_AGENT_COPY) {
        end = stack_end(context, sp, most_b);
        head.regs_n = AS_AGENT_REGS_N;
        head.stack_b = (uint32_t)(end - sp) & ~7u;
        head.python_n = as_sampler_python_walk(sp, &python);
    }
    uint32_t words_b = 8 * (head.regs_n + head.chain_n);
    const uint32_t python_b = head.python_n * (uint32_t)sizeof *python;
    uint32_t size_b = (uint32_t)sizeof head + words_b + head.stack_b + python_b;
    uint8_t *at = as_sampler_reserve(size_b, AS_AGENT_SPARE_B);
    if (!at) {
        atomic_fetch_add_explicit(&as_sampler_state.ring->lost, 1, memory_order_relaxed);
        return;
    }
    /* The size stays 0 until all is there. */
    memcpy(at + sizeof head.head, &head.ip, sizeof head - sizeof head.head);
    uint64_t *words = (uint64_t *)(void *)(at + sizeof head);
    if (head.regs_n)
        copy_registers(regs, words);
    if (head.chain_n) /* another thread may have changed the stack: never more than there is room */
        walk_frames(regs, end, words, head.chain_n);
    memcpy(at + sizeof head + words_b, (const void *)sp, head.stack_b);
    if (python_b)
        memcpy(at + sizeof head + words_b + head.stack_b, python, python_b);
    as_sampler_commit(at, size_b, AS_AGENT_SAMPLE, time_ns);
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &as_sampler_state) {
        as_agent_forward(signal, info, context);
    } else if (as_sampler_state.ring && !as_agent_is_confined() && !as_agent.off &&
               atomic_load_explicit(&as_sampler_state.sampling->enabled, memory_order_relaxed)) {
        uint64_t times = 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0);
        const uint64_t period_ns = times * as_sampler_state.sampling->period_ns;
        write_sample(context, as_monotonic_ns(), period_ns);
        as_tracer_sample(context, period_ns);
    }
    errno = saved;
}

int as_sampler_handle(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    /* All, those of the C library too: a thread is not to be cancelled in the midst of a record. */
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    return AS_AGENT_REAL(sigaction)(as_agent.signal, &action, NULL);
}
