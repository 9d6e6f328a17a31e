/* SPDX-License-Identifier: Apache-2.0 */
/* System calls as instructions: syscall(3) is the agent's, and tells clients. */
#ifndef AS_AGENT_KERNEL_CALL_H
#define AS_AGENT_KERNEL_CALL_H

/* Returns what the kernel returns: a negative errno if the call fails. Keeps errno. */
static inline long as_kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

#endif
