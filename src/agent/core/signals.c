/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's signals, with ours taken out: whoever blocks, waits for or handles "all signals"
 * does not mean the one that we chose. What the program sets for that number is kept and is called
 * when such a signal comes from elsewhere.
 */
#include "agent/core/agent.h"
#include "agent/core/switch.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>

static const struct as_signal_guard *signal_guard; /* NULL: none yet */
static struct sigaction shadow; /* written by the program, read in the handler; as sigaction is */

void as_agent_forward(int signal, siginfo_t *info, void *context)
{
    if (shadow.sa_flags & SA_SIGINFO) {
        if (shadow.sa_sigaction)
            shadow.sa_sigaction(signal, info, context);
    } else if (shadow.sa_handler != SIG_DFL && shadow.sa_handler != SIG_IGN) {
        shadow.sa_handler(signal);
    }
}

void as_agent_guard_signals(const struct as_signal_guard *guard)
{
    signal_guard = guard;
}

static bool is_guarded(int signal)
{
    return signal_guard && signal_guard->has(signal);
}

/* Programs count from the lowest. */
int as_agent_claim_signal(void)
{
    for (int signal = SIGRTMAX - 1; signal >= SIGRTMIN; signal--) {
        struct sigaction action;
        if (AS_AGENT_REAL(sigaction)(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            return as_agent.signal = signal;
    }
    return 0;
}

/* `set` or a copy of it without our signal. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
    if (!set || as_agent.signal == 0 || sigismember(set, as_agent.signal) != 1)
        return set;
    *copy = *set;
    sigdelset(copy, as_agent.signal);
    return copy;
}

AS_AGENT_API int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction copy;
    if (signal == as_agent.signal && signal) {
        copy = shadow;
        if (action)
            shadow = *action;
        if (old)
            *old = copy;
        return 0;
    }
    if (is_guarded(signal))
        return signal_guard->action(signal, action, old);
    if (as_switch_has(signal))
        return as_switch_action(signal, action, old);
    if (action) {
        copy = *action;
        copy.sa_mask = *without_ours(&action->sa_mask, &copy.sa_mask);
        action = &copy;
    }
    return AS_AGENT_REAL(sigaction)(signal, action, old);
}

AS_AGENT_API sighandler_t signal(int number, sighandler_t handler)
{
    if (is_guarded(number)) {
        struct sigaction before, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
        return signal_guard->action(number, &action, &before) < 0 ? SIG_ERR : before.sa_handler;
    }
    if (as_switch_has(number)) {
        struct sigaction before, action = {.sa_handler = handler, .sa_flags = SA_RESTART};
        return as_switch_action(number, &action, &before) < 0 ? SIG_ERR : before.sa_handler;
    }
    if (number != as_agent.signal || !number)
        return AS_AGENT_REAL(signal)(number, handler);
    sighandler_t old = shadow.sa_handler;
    memset(&shadow, 0, sizeof shadow);
    shadow.sa_handler = handler;
    return old;
}

AS_AGENT_API int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;
    return AS_AGENT_REAL(sigprocmask)(how, how == SIG_UNBLOCK ? set : without_ours(set, &copy),
                                      old);
}

AS_AGENT_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    sigset_t copy;
    return AS_AGENT_REAL(pthread_sigmask)(how, how == SIG_UNBLOCK ? set : without_ours(set, &copy),
                                          old);
}

AS_AGENT_API int sigwait(const sigset_t *set, int *signal)
{
    sigset_t copy;
    return AS_AGENT_REAL(sigwait)(without_ours(set, &copy), signal);
}

AS_AGENT_API int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    sigset_t copy;
    return AS_AGENT_REAL(sigwaitinfo)(without_ours(set, &copy), info);
}

AS_AGENT_API int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t copy;
    return AS_AGENT_REAL(sigtimedwait)(without_ours(set, &copy), info, timeout);
}

AS_AGENT_API int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t copy;
    return AS_AGENT_REAL(signalfd)(fd, without_ours(set, &copy), flags);
}
