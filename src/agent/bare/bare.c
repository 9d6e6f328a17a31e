/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core of the bare agent: the patcher's life in a program without a C library that it could
 * use. Nothing is interposed; the tracer says what happens, in a thread that stands still
 * otherwise, on a stack of the agent's. Only one runs here at a time; what stubs call runs any
 * time.
 */
#include "agent/shared/bare.h"

#include <asm/prctl.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/bare/bare_hooks.h"
#include "agent/bare/bare_libc.h"
#include "agent/patcher/patcher.h"
#include "agent/patcher/patcher_stop.h"

struct as_agent as_agent;
AS_AGENT_LOCAL struct as_agent_thread as_agent_self;
const struct as_agent_client *const as_agent_clients[] = {&as_agent_patcher, NULL};

/* Called from the assembly below. */
__attribute__((used)) void as_bare_do(uint64_t hook, struct as_bare_given *given);

/* Where %gs leads before a thread has its file. */
static struct as_patcher_locals unborn = {.self = &unborn};
static struct as_patcher_locals *locals_first; /* of all threads that have a file */

/* ---- What the core of the other agent does otherwise ----------------------------------------- */

bool as_agent_is_confined(void)
{
    return false; /* the tracer looks before it calls */
}

int as_patcher_stop(uint64_t m, bool (*is_bad)(uint64_t m, uint64_t address))
{
    (void)m;
    (void)is_bad;
    return 0; /* there is one thread */
}

void as_patcher_go_on(void)
{
}

void as_patcher_stop_confined(void)
{
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void note_locals(void)
{
    struct as_patcher_locals *own = as_patcher_locals();
    if (own == &unborn || own->thread == as_patcher.nowhere)
        return;
    own->next = locals_first;
    locals_first = own;
}

void as_bare_end_thread(struct as_patcher_locals *own)
{
    struct as_patcher_locals **at = &locals_first;
    while (*at && *at != own)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = own->next;
    as_patcher_set_base(own);
    as_patcher_thread_end();
}

bool as_bare_is_thread(const struct as_patcher_locals *base)
{
    const struct as_patcher_locals *at = locals_first;
    while (at && at != base)
        at = at->next;
    return at;
}

static bool has_ended(pid_t tid)
{
    return tid == as_agent_self.tid || /* its number is another's now */
           (syscall(SYS_tgkill, as_agent.pid, tid, 0) < 0 && errno == ESRCH);
}

/* Nobody tells of a thread's end: the next one cleans up behind those that are gone. */
void as_bare_end_ended(void)
{
    struct as_patcher_locals *next;
    for (struct as_patcher_locals *one = locals_first; one; one = next) {
        next = one->next;
        if (has_ended((pid_t)one->thread->tid))
            as_bare_end_thread(one);
    }
}

/* ---- Hooks ---------------------------------------------------------------------------------- */

void as_bare_begin(struct as_bare_given *given)
{
    uint64_t base = 1;
    as_bare_given = given;
    if (syscall(SYS_arch_prctl, ARCH_GET_GS, &base) != 0 || base != 0)
        return;
    as_agent.control = as_agent_control_map();
    if (!as_agent.control)
        return;
    as_agent.pid = getpid();
    as_patcher_set_base(&unborn);
    as_agent.table = as_agent_clients;
    if (!as_agent_patcher.begin()) {
        as_patcher_set_base(NULL);
        return;
    }
    as_agent.clients = 1;
    as_agent.state = AS_AGENT_READY;
    note_locals();
    struct as_patcher_locals *nowhere =
        (void *)((uint8_t *)as_patcher.nowhere - AS_PATCHER_LOCAL_B);
    nowhere->self = nowhere;
    nowhere->thread = as_patcher.nowhere;
    given->missed = (uintptr_t)&as_patcher.outcomes->threads_missed;
    given->nowhere = (uintptr_t)nowhere;
}

struct as_patcher_locals *as_bare_begin_thread(void)
{
    as_patcher_set_base(&unborn);
    as_patcher_thread_begin();
    note_locals();
    return as_patcher_locals();
}

static void begin_child(void)
{
    as_agent.parent_pid = as_agent.pid;
    as_agent.pid = getpid();
    as_agent.ended = 0;
    locals_first = NULL; /* the parent's */
    if (!as_agent_control_lives())
        as_agent.state = AS_AGENT_INERT;
    as_agent_patcher.forked();
    note_locals();
}

void as_bare_do(uint64_t hook, struct as_bare_given *given)
{
    as_agent_self.tid = (pid_t)syscall(SYS_gettid);
    if (hook == AS_BARE_BEGIN)
        as_bare_begin(given);
    else if (hook == AS_BARE_ATTACH)
        as_bare_attach(given);
    else if (hook >= AS_BARE_WRITE)
        as_bare_change(given, hook);
    else if (as_agent.state == AS_AGENT_READY && hook == AS_BARE_THREAD) {
        as_bare_end_ended();
        as_bare_begin_thread();
    } else if (as_agent.state == AS_AGENT_READY && hook == AS_BARE_FORKED)
        begin_child();
}

__attribute__((used)) uint8_t as_bare_stack[65536] __attribute__((aligned(64)));

__asm__(".text\n"
        "    syscall\n"
        ".globl as_bare_entry\n.hidden as_bare_entry\n"
        ".type as_bare_entry, @function\n"
        "as_bare_entry:\n"
        "    cld\n"
        "    lea 65536+as_bare_stack(%rip), %rsp\n"
        "    xor %ebp, %ebp\n"
        "    call as_bare_do\n"
        "    int3\n"
        ".size as_bare_entry, . - as_bare_entry\n");
