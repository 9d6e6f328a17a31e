/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds kernels of nops, and of instructions of one kind with unused results.
 */
#include "measure/mixture.h"

#include <stdio.h>
#include <string.h>

#include "measure/internal.h"

enum { LINE = 8 }; /* instructions, and slots renamed per cycle */

/* Nops of different lengths. The position of instructions in op cache lines changes a mixture by
 * some per cent, so the best length counts. Then follow zero idioms of the same lengths (xor
 * r15d,r15d, with prefixes without effect). No port executes them. Each has its own slot, also on
 * cores where a nop shares a slot. */
static const struct {
    uint8_t all; /* instructions of the kernel with those of the form: complete lines */
    uint8_t n, bytes[5];
} nops[AS_MIXTURE_IDLE] = {
    {56, 3, {0x0f, 0x1f, 0x00}},       {56, 1, {0x90}},
    {48, 4, {0x0f, 0x1f, 0x40, 0x00}}, {64, 5, {0x0f, 0x1f, 0x44, 0x00, 0x00}},
    {56, 3, {0x45, 0x31, 0xff}},       {64, 3, {0x45, 0x31, 0xff}},
    {48, 4, {0x3e, 0x45, 0x31, 0xff}}, {64, 5, {0x3e, 0x3e, 0x45, 0x31, 0xff}}};

/* Encodes instruction `i` of a saturating kernel. Returns its length; 0 if this CPU lacks it. */
static size_t probe_insn(enum as_saturated probe, unsigned i, unsigned nop,
                         uint8_t out[AS_ENCODE_B])
{
    static const char *const general[] = {"r11", "r12", "r13", "r14", "r15"};
    struct as_widths widths;
    char text[64];

    as_widths_read(&widths);
    if ((!widths.avx && as_probe_is_vector(probe)) || (!widths.avx512 && as_probe_is_wide(probe)))
        return 0;
    switch (probe) {
    case AS_PROBE_SLOTS:
        memcpy(out, nops[nop].bytes, nops[nop].n);
        return nops[nop].n;
    case AS_PROBE_ALU:
        /* Adds two registers: some cores add constants at rename. With rbp as base it would need a
         * displacement, for which Zen 4 has only two ports. */
        snprintf(text, sizeof text, "lea %s,m64[r10+rbp*1]", general[i % 5]);
        break;
    case AS_PROBE_SHIFT:
        snprintf(text, sizeof text, "rorx %s,rbp,3", general[i % 5]);
        break;
    case AS_PROBE_MUL:
        snprintf(text, sizeof text, "imul %s,rbp,3", general[i % 5]);
        break;
    case AS_PROBE_OUT:
        snprintf(text, sizeof text, "movd %sd,xmm8", general[i % 5]);
        break;
    case AS_PROBE_FMUL:
        snprintf(text, sizeof text, "vmulpd ymm%u,ymm8,ymm9", 10 + i % 6);
        break;
    case AS_PROBE_FADD:
        snprintf(text, sizeof text, "vaddpd ymm%u,ymm8,ymm9", 10 + i % 6);
        break;
    case AS_PROBE_FANY:
        snprintf(text, sizeof text, "vandpd ymm%u,ymm8,ymm9", 10 + i % 6);
        break;
    case AS_PROBE_PERM:
        snprintf(text, sizeof text, "vperm2f128 ymm%u,ymm8,ymm9,1", 10 + i % 6);
        break;
    case AS_PROBE_FMULZ:
        snprintf(text, sizeof text, "vmulpd zmm%u,zmm8,zmm9", 10 + i % 6);
        break;
    case AS_PROBE_FADDZ:
        snprintf(text, sizeof text, "vaddpd zmm%u,zmm8,zmm9", 10 + i % 6);
        break;
    case AS_PROBE_FANYZ:
        snprintf(text, sizeof text, "vandpd zmm%u,zmm8,zmm9", 10 + i % 6);
        break;
    case AS_PROBE_PERMZ:
        snprintf(text, sizeof text, "vshuff64x2 zmm%u,zmm8,zmm9,1", 10 + i % 6);
        break;
    case AS_PROBE_AGU:
        snprintf(text, sizeof text, "mov %s,m64[rbx+%u]", general[i % 5], 8 * (i % 16));
        break;
    case AS_PROBE_LDV:
        snprintf(text, sizeof text, "vmovupd xmm%u,m128[rbx+%u]", 10 + i % 6,
                 64 * (i % 16) + 16 * (i % 4));
        break;
    case AS_PROBE_LDVZ:
        snprintf(text, sizeof text, "vmovupd zmm%u,m512[rbx+%u]", 10 + i % 6, 64 * (i % 16));
        break;
    case AS_PROBE_STVZ:
        snprintf(text, sizeof text, "vmovups m512[rbx+%u],zmm8", 2048 + 64 * (i % 8));
        break;
    case AS_PROBE_STV:
        snprintf(text, sizeof text, "vmovups m128[rbx+%u],xmm8", 2048 + 16 * (i % 16));
        break;
    default:
        snprintf(text, sizeof text, "mov m64[rbx+%u],rbp", 2048 + 8 * (i % 16));
        break;
    }
    return as_encode_text(text, out);
}

size_t as_mixture_build(const struct as_mixture *m, uint8_t out[AS_MIXTURE_MOST_B])
{
    const bool is_nops = m->probe == AS_PROBE_SLOTS;
    const unsigned all = is_nops ? as_mixture_nops(m) : as_probe_n(m->probe) * m->repeats;
    unsigned put = 0;
    size_t at = 0;

    for (unsigned i = 0; i < all; i++) {
        if (at + 6 * AS_ENCODE_B > AS_MIXTURE_MOST_B)
            return 0;
        const size_t length = probe_insn(m->probe, i, m->nop, out + at);
        if (!length)
            return 0;
        at += length;
        if (m->one && put < m->n && (i + 1) * m->n >= (put + 1) * all) {
            at += as_form_breaker(m->one, out + at);
            const size_t more = as_form_instance(m->one, put++, -1, out + at);
            if (!more)
                return 0;
            at += more;
        }
    }
    return at;
}

size_t as_mixture_pair(enum as_saturated a, unsigned a_n, enum as_saturated b, unsigned b_n,
                       uint8_t out[AS_MIXTURE_MOST_B])
{
    unsigned put = 0;
    size_t at = 0;

    for (unsigned i = 0; i < a_n; i++) {
        const unsigned until = (i + 1) * b_n / a_n;
        if (at + (2 + until - put) * AS_ENCODE_B > AS_MIXTURE_MOST_B)
            return 0;
        const size_t length = probe_insn(a, i, 0, out + at);
        if (!length)
            return 0;
        at += length;
        while (put < until) {
            const size_t more = probe_insn(b, put++, 0, out + at);
            if (!more)
                return 0;
            at += more;
        }
    }
    return at;
}

bool as_mixture_can_fill(const struct as_mixture *m)
{
    return nops[m->nop].all * m->repeats / m->n % LINE == 0;
}

void as_mixture_kinds(const struct as_probe_rates *rates, unsigned *first, unsigned *end)
{
    *first = rates->nops_fuse ? AS_MIXTURE_NOPS : 0;
    *end = rates->nops_fuse ? AS_MIXTURE_IDLE : AS_MIXTURE_NOPS;
}

unsigned as_mixture_nops(const struct as_mixture *m)
{
    return nops[m->nop].all * m->repeats - (m->fills_lines ? 0 : m->n);
}
