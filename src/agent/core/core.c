/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's life: it begins with the program when the environment names a directory with a
 * control file that is for this process, asks each client whether it is wanted, and tells them of
 * forks and of the end. Every failure leaves the program alone, and is told in the control file
 * where there is one.
 */
#include "agent/core/agent.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- Forks -------------------------------------------------------------------------------- */

static void before_fork(void)
{
    as_agent.fork_tid = as_agent_self.tid;
}

/* Clients hear of it even when the child is not to be observed: what they have is the parent's. */
static void in_child(void)
{
    const uint32_t clients = as_agent.clients;
    const int saved = errno;
    if (!clients)
        return;
    if (as_agent_is_confined()) {
        as_agent.state = AS_AGENT_INERT;
    } else {
        as_agent.parent_pid = as_agent.pid;
        as_agent.pid = getpid();
        as_agent_self.tid = (pid_t)syscall(SYS_gettid);
        as_agent.ended = 0;
        if (!as_agent_control_lives())
            as_agent.state = AS_AGENT_INERT;
    }
    AS_AGENT_NOTIFY(forked);
    errno = saved;
}

/* ---- Beginning and end -------------------------------------------------------------------- */

static uint32_t begin_clients(void)
{
    uint32_t wanted = 0;
    for (unsigned i = 0; as_agent_clients[i]; i++)
        if (as_agent_clients[i]->begin())
            wanted |= 1u << i;
    return wanted;
}

static bool begin_agent(void)
{
    as_agent.control = as_agent_control_map();
    if (!as_agent.control)
        return false;
    as_agent.table = as_agent_clients;
    as_agent.pid = getpid();
    as_agent.parent_pid = getppid();
    as_agent_main_thread();
    if (as_agent_threads_begin() < 0 || as_agent_ends_begin() < 0 ||
        pthread_atfork(before_fork, NULL, in_child) != 0) {
        as_agent_process_missed(EAGAIN);
        return false;
    }
    as_agent.clients = begin_clients();
    return as_agent.clients != 0;
}

bool as_agent_active(void)
{
    int unborn = AS_AGENT_UNBORN;
    if (as_agent.state == AS_AGENT_UNBORN &&
        atomic_compare_exchange_strong(&as_agent.state, &unborn, AS_AGENT_BEGINNING)) {
        int saved = errno;
        as_agent.state = begin_agent() ? AS_AGENT_READY : AS_AGENT_INERT;
        errno = saved;
    }
    return as_agent.state == AS_AGENT_READY;
}

void as_agent_end(void)
{
    /* A vforked child has our memory. */
    if (as_agent.state != AS_AGENT_READY || as_agent_is_confined() || getpid() != as_agent.pid ||
        atomic_exchange(&as_agent.ended, 1))
        return;
    as_agent_notify_loaded();
    AS_AGENT_NOTIFY(end);
}

__attribute__((constructor)) static void program_begins(void)
{
    as_agent_real_find();
    as_agent_active();
}

__attribute__((destructor)) static void program_ends(void)
{
    as_agent_end();
}
