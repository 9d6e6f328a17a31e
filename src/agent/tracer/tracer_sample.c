/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples in the streams of events: the handler of the sampler's timers comes here with where it
 * interrupted the thread. Async-signal-safe: the stack is walked by rows that are read without a
 * lock; what the thread is just writing stays whole (trace/write.h).
 */
#include <ucontext.h>

#include "agent/core/agent.h"
#include "agent/tracer/tracer.h"
#include "agent/unwind/callers.h"

/* What beginning a stream and telling of modules may take of the stack. */
#define ROOM_B 32768u

/* Alternate stacks may be small. */
static bool has_deep_stack(const ucontext_t *context)
{
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t low = (uintptr_t)context->uc_stack.ss_sp, size_b = context->uc_stack.ss_size;
    if (here - low < size_b)
        return here - low >= ROOM_B;
    return here >= as_agent_self.low && here < as_agent_self.high &&
           here - as_agent_self.low >= ROOM_B;
}

void as_tracer_sample(const void *context, uint64_t period_ns)
{
    const ucontext_t *at = context;
    const greg_t *regs = at->uc_mcontext.gregs;
    uint64_t stack[AS_TRACE_STACK_N];
    if (!as_tracer_takes_samples())
        return;
    const bool has_room = has_deep_stack(at);
    struct as_tracer_thread *t = as_tracer_sampled(has_room);
    if (!t)
        return;
    const uint64_t tick = as_trace_now(&t->writer);
    t->inside++; /* what we call may be wrapped */
    const size_t n = as_callers_stack(
        (uint64_t)regs[REG_RIP], (uintptr_t)regs[REG_RSP], (uintptr_t)regs[REG_RBP], stack,
        AS_TRACE_STACK_N, has_room && as_tracer_may_define() ? as_tracer_define_module : NULL);
    as_trace_sample(&t->writer, tick, period_ns, stack, (unsigned)n, t->is_undecided);
    t->inside--;
}
