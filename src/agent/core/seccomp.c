/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp(2): a program that gives up system calls is killed when one is made all the same, and the
 * end of a signal handler is one. So the clients are told before (the sampler takes the timers
 * away), and we make no system call in such a thread any more. It is seen because prctl and syscall
 * are ours; a system call in the program's own assembly is not.
 */
#include "agent/core/agent.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static void confine(bool all)
{
    AS_AGENT_NOTIFY(confined, all ? AS_AGENT_CONFINING_ALL : AS_AGENT_CONFINING);
    if (all)
        as_agent.confined = 1;
    as_agent_self.confined = true;
}

/* Tells of it when it was done, which is without system calls; else takes it back. */
static void conclude(bool done, bool all)
{
    const int saved = errno;
    if (!done) {
        if (all)
            as_agent.confined = 0;
        as_agent_self.confined = false;
    }
    AS_AGENT_NOTIFY(confined, done ? AS_AGENT_CONFINED : AS_AGENT_UNCONFINED);
    errno = saved;
}

static bool is_observed(void)
{
    return as_agent.state == AS_AGENT_READY && !as_agent_is_confined();
}

int as_agent_prctl(int option, const unsigned long *argument)
{
    const bool confines = option == PR_SET_SECCOMP && is_observed();
    if (confines)
        confine(false);
    const int rc = AS_AGENT_REAL(prctl)(option, argument[0], argument[1], argument[2], argument[3]);
    if (confines)
        conclude(rc == 0, false);
    return rc;
}

/* ---- syscall(2) --------------------------------------------------------------------------- */

/*
 * Written as the C library's is: nothing but its return address is on the stack, for a call may be
 * one that gives the program another stack, or the same to two.
 */
#define HIDDEN __attribute__((visibility("hidden"), used))
HIDDEN long as_agent_raw(long number, long a, long b, long c, long d, long e, long f);
HIDDEN long as_agent_seccomp(long number, long a, long b, long c, long d, long e, long f);
HIDDEN long as_agent_fail(long error);
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    cmpq $317, %rdi\n" /* SYS_seccomp */
        "    je as_agent_seccomp\n"
        "    cmpq $157, %rdi\n" /* SYS_prctl */
        "    jne as_agent_raw\n"
        "    cmpq $22, %rsi\n" /* PR_SET_SECCOMP */
        "    je as_agent_seccomp\n"
        ".globl as_agent_raw\n"
        ".hidden as_agent_raw\n"
        ".type as_agent_raw, @function\n"
        "as_agent_raw:\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 1f\n"
        "    ret\n"
        "1:  movq %rax, %rdi\n"
        "    jmp as_agent_fail\n"
        "    .cfi_endproc\n"
        ".size as_agent_raw, . - as_agent_raw\n"
        ".size syscall, . - syscall\n");
_Static_assert(SYS_seccomp == 317 && SYS_prctl == 157 && PR_SET_SECCOMP == 22,
               "the numbers in the assembly");

long as_agent_fail(long error)
{
    errno = (int)-error;
    return -1;
}

/* Whether the call confines, and all threads. */
static bool is_confining(long number, long operation, long flags, bool *all)
{
    *all = number == SYS_seccomp && operation == SECCOMP_SET_MODE_FILTER &&
           (flags & SECCOMP_FILTER_FLAG_TSYNC);
    return number == SYS_prctl || operation == SECCOMP_SET_MODE_STRICT ||
           operation == SECCOMP_SET_MODE_FILTER;
}

long as_agent_seccomp(long number, long a, long b, long c, long d, long e, long f)
{
    bool all;
    const bool confines = is_confining(number, a, b, &all) && is_observed();
    if (confines)
        confine(all);
    const long rc = as_agent_raw(number, a, b, c, d, e, f);
    /* With TSYNC a number above zero is that of a thread that could not be made to. */
    if (confines)
        conclude(rc == 0, all);
    return rc;
}
