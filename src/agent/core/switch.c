/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/core/switch.h"

#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "agent/core/agent.h"
#include "trace/record.h"

static const _Atomic uint32_t never;
struct as_switches as_switches = {.outside = &never};

static const struct as_switch_part *part;
static uint32_t stamps;        /* as_trace_clock */
static _Atomic int by_signal;  /* the latest change of our own was */
static struct sigaction meant; /* by the program, of the signal that switches */

/* ---- What was switched -------------------------------------------------------------------- */

static uint64_t current_tick(void)
{
    struct timespec t = {0};
    if (stamps == AS_TRACE_TSC)
        return __rdtsc();
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void note_switch(uint64_t tick, uint32_t why)
{
    struct as_switches *s = &as_switches;
    const uint32_t n = s->n;
    const bool is_off = s->own_off || (s->changes & 1);
    if (is_off == (n & 1))
        return;
    const uint64_t before = n ? s->at[(n - 1) % AS_SWITCH_KEPT_N].tick : 0;
    s->at[n % AS_SWITCH_KEPT_N] = (struct as_switch_time){tick > before ? tick : before, why};
    atomic_store_explicit(&s->n, n + 1, memory_order_release);
}

/* Of those that we come late to, the latest are known. */
static void follow_outside(void)
{
    struct as_switches *s = &as_switches;
    const uint32_t now = atomic_load_explicit(s->outside, memory_order_acquire);
    const uint32_t kept = now < AS_SWITCH_TICKS_N ? now : AS_SWITCH_TICKS_N;
    if (!part || now == s->changes)
        return;
    if (now - s->changes > kept)
        s->changes = now - kept;
    while (s->changes != now) {
        const uint32_t change = ++s->changes;
        const bool is_end = change == now && part->limited;
        note_switch(part->tick[change % AS_SWITCH_TICKS_N],
                    is_end ? AS_TRACE_BY_LIMIT : AS_TRACE_BY_REQUEST);
    }
}

/* Who comes while another looks, or interrupts us as a handler, finds it done at the next event. */
void as_switch_look(void)
{
    struct as_switches *s = &as_switches;
    int nobody = 0;
    if (!atomic_compare_exchange_strong(&s->looking, &nobody, 1))
        return;
    follow_outside();
    const int off = as_agent.off;
    if (off != s->own_off) {
        s->own_off = off;
        note_switch(current_tick(), by_signal ? AS_TRACE_BY_REQUEST : AS_TRACE_BY_USER);
        by_signal = 0;
    }
    atomic_store(&s->looking, 0);
}

/* ---- The signal --------------------------------------------------------------------------- */

/* What is switched is looked at with the next event. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    const struct sigaction action = meant;
    by_signal = 1;
    atomic_fetch_xor(&as_agent.off, 1);
    if (action.sa_flags & (int)SA_RESETHAND)
        meant = (struct sigaction){.sa_handler = SIG_DFL};
    if (action.sa_flags & SA_SIGINFO) {
        if (action.sa_sigaction)
            action.sa_sigaction(number, info, context);
    } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
        action.sa_handler(number);
    }
}

/* Ours, as the program's would be called; where it has none system calls go on. */
static int install_switch(int number, const struct sigaction *action)
{
    struct sigaction own = *action;
    const bool has_own = (action->sa_flags & SA_SIGINFO) ||
                         (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
    own.sa_flags =
        (has_own ? own.sa_flags & ~(int)SA_RESETHAND : SA_RESTART) | SA_SIGINFO | SA_ONSTACK;
    own.sa_sigaction = on_signal;
    return AS_AGENT_REAL(sigaction)(number, &own, NULL);
}

bool as_switch_has(int number)
{
    return part && number && (uint32_t)number == part->signal;
}

int as_switch_action(int number, const struct sigaction *action, struct sigaction *old)
{
    const struct sigaction before = meant;
    if (action) {
        const struct sigaction wanted = *action;
        meant = wanted;
        const int rc = install_switch(number, &wanted);
        if (rc < 0) {
            meant = before;
            return rc;
        }
    }
    if (old)
        *old = before;
    return 0;
}

/* ---- The process -------------------------------------------------------------------------- */

void as_switch_begin(uint32_t clock)
{
    static const struct as_agent_client key = {.name = AS_SWITCH_CLIENT};
    stamps = clock;
    part = as_agent_part(&key);
    if (!part)
        return;
    as_switches.outside = &part->changes;
    as_agent.off = part->begins_off != 0;
    if (part->signal && AS_AGENT_REAL(sigaction)((int)part->signal, NULL, &meant) == 0)
        install_switch((int)part->signal, &meant);
    as_switch_look();
}
