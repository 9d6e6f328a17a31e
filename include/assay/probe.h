/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For libraries that probes call: `do call "./mine.so" "seen"` calls
 *
 *     void seen(const struct assay_probe_hit *hit);
 *
 * in the program, at the event, in the thread that came there (doc/manual/probe.md). The function
 * is like a handler of signals: it interrupts the program anywhere, also where that holds locks (of
 * malloc, of stdio), so that it should call nothing that could wait for one. It returns, and throws
 * nothing. Registers, flags and the floating-point environment are kept for it, and errno.
 */
#ifndef ASSAY_PROBE_H
#define ASSAY_PROBE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_probe_hit {
    uint32_t size_b;      /* of this, as the caller knows it */
    uint32_t probe;       /* number of the probe in its file, from 0 */
    const char *name;     /* of the probe */
    uint64_t address;     /* of the instruction that it stands at, as in the file of the program */
    uint64_t ticks;       /* of the time stamp counter */
    uint64_t general[16]; /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15 of the program */
    uint64_t flags;       /* rflags */
    double floating[8];   /* the low 8 bytes of xmm0 to xmm7: arguments of type double */
};

#ifdef __cplusplus
}
#endif
#endif
