/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of variants. A variant works with data that are not the program's: an access where nothing
 * is, or a division by 0, ends it, and so does its timer, whose signal is one of these. Faults of
 * the program go to its own handlers, which stand behind ours, or end it as they would.
 */
#include "agent/patcher/variant.h"

#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static const int guarded[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define GUARDED_N (sizeof guarded / sizeof *guarded)

static struct sigaction meant[GUARDED_N]; /* by the program */
static bool guards;

static unsigned guard_index(int signal)
{
    unsigned i = 0;
    while (i < GUARDED_N && guarded[i] != signal)
        i++;
    return i;
}

/* Registers of the variant, as where it is left. */
static void save_left_registers(struct as_variant_area *area, const ucontext_t *context)
{
    static const int of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                               REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                               REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned r = 0; r < 16; r++)
        area->local.left[r] = (uint64_t)context->uc_mcontext.gregs[of[r]];
}

/* The variant ends, as if it had been left. */
static bool end_variant(const siginfo_t *info, ucontext_t *context)
{
    struct as_variant_area *area = as_variant_self;
    const bool by_timer = info->si_code == SI_TIMER;
    if (!area || area->guard == AS_VARIANT_FREE)
        return by_timer;
    if (by_timer && area->guard == AS_VARIANT_RESTORES)
        return true;
    save_left_registers(area, context);
    area->flags |= by_timer ? AS_VARIANT_ENDLESS : AS_VARIANT_FAULTED;
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)as_variant_abandoned;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)area->local.stack;
    context->uc_mcontext.gregs[REG_EFL] &= ~0x40400; /* direction, alignment */
    return true;
}

static void end_by_default(int signal)
{
    const struct sigaction action = {.sa_handler = SIG_DFL};
    AS_AGENT_REAL(sigaction)(signal, &action, NULL);
    syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
}

static void forward_fault(int signal, siginfo_t *info, void *context)
{
    const struct sigaction action = meant[guard_index(signal)];
    if (action.sa_handler == SIG_IGN && info->si_code <= 0)
        return;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
        end_by_default(signal);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND)
        meant[guard_index(signal)].sa_handler = SIG_DFL;
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(signal, info, context);
    else
        action.sa_handler(signal);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    if (!end_variant(info, context))
        forward_fault(signal, info, context);
}

/* Our handler, as the program's would be called. */
static int install_guard(int signal, const struct sigaction *action)
{
    struct sigaction own = *action;
    own.sa_flags = (own.sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO | SA_ONSTACK;
    own.sa_sigaction = on_fault;
    return AS_AGENT_REAL(sigaction)(signal, &own, NULL);
}

static bool has_guard(int signal)
{
    return guard_index(signal) < GUARDED_N;
}

static int change_guarded_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction *of_program = &meant[guard_index(signal)];
    const struct sigaction before = *of_program;
    if (action) {
        const struct sigaction wanted = *action;
        *of_program = wanted;
        const int rc = install_guard(signal, &wanted);
        if (rc < 0) {
            *of_program = before;
            return rc;
        }
    }
    if (old)
        *old = before;
    return 0;
}

static const struct as_signal_guard guard = {has_guard, change_guarded_action};

void as_guard_begin(void)
{
    for (unsigned i = 0; i < GUARDED_N && !guards; i++)
        if (AS_AGENT_REAL(sigaction)(guarded[i], NULL, &meant[i]) == 0)
            install_guard(guarded[i], &meant[i]);
    guards = true;
    as_agent_guard_signals(&guard);
}
