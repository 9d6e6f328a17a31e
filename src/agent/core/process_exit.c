/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How processes end: the code that this one gives to exit or _exit, and what it learns of its
 * children when it waits for them. A launcher so tells which rank crashed, and how. What the C
 * library waits for itself (system, pclose) is not seen.
 */
#include "agent/core/agent.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Ours --------------------------------------------------------------------------------- */

static void notify_exit_code(int code)
{
    if (as_agent.state == AS_AGENT_READY && as_agent.pid == getpid()) /* see as_agent_end */
        AS_AGENT_NOTIFY(exiting, code);
}

static void on_end(int code, void *unused)
{
    (void)unused;
    notify_exit_code(code);
}

/* quick_exit(3) runs no destructor, and its code is not told. */
static void on_quick_end(void)
{
    as_agent_end();
}

int as_agent_ends_begin(void)
{
    return on_exit(on_end, NULL) == 0 && at_quick_exit(on_quick_end) == 0 ? 0 : -1;
}

/* As the C library does it; a vforked child that could not execute comes here. */
AS_AGENT_API __attribute__((noreturn)) void _exit(int code)
{
    if (!as_agent_is_confined()) {
        notify_exit_code(code);
        as_agent_end();
    }
    for (;;)
        syscall(SYS_exit_group, code);
}

AS_AGENT_API __attribute__((noreturn)) void _Exit(int code)
{
    _exit(code);
}

/* ---- Children's --------------------------------------------------------------------------- */

static void notify_child_end(pid_t pid, int status)
{
    const int saved = errno;
    if (as_agent.state == AS_AGENT_READY && !as_agent_is_confined() &&
        (WIFEXITED(status) || WIFSIGNALED(status)))
        AS_AGENT_NOTIFY(child_ended, pid, status);
    errno = saved;
}

AS_AGENT_API pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    int own = 0;
    const pid_t got = AS_AGENT_REAL(wait4)(pid, &own, options, usage);
    if (got > 0)
        notify_child_end(got, own);
    if (got > 0 && status)
        *status = own;
    return got;
}

AS_AGENT_API pid_t waitpid(pid_t pid, int *status, int options)
{
    int own = 0;
    const pid_t got = AS_AGENT_REAL(waitpid)(pid, &own, options);
    if (got > 0)
        notify_child_end(got, own);
    if (got > 0 && status)
        *status = own;
    return got;
}

AS_AGENT_API pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

AS_AGENT_API pid_t wait(int *status)
{
    return waitpid(-1, status, 0);
}

AS_AGENT_API int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    siginfo_t own = {0};
    const int rc = AS_AGENT_REAL(waitid)(type, id, info ? info : &own, options);
    const siginfo_t *got = info ? info : &own;
    if (rc == 0 && got->si_pid > 0 && !(options & WNOWAIT)) {
        if (got->si_code == CLD_EXITED)
            notify_child_end(got->si_pid, (got->si_status & 0xff) << 8);
        else if (got->si_code == CLD_KILLED || got->si_code == CLD_DUMPED)
            notify_child_end(got->si_pid, got->si_status & 0x7f);
    }
    return rc;
}
