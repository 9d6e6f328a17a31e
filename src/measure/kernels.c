/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that move memory. Each loop counts an index from -n up to zero behind the arrays. So it
 * has only one addition besides the accesses.
 */
#include "measure/kernels.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

void as_kernel_host_read(struct as_kernel_host *host)
{
    __builtin_cpu_init();
    host->vex = __builtin_cpu_supports("avx");
    host->avx2 = __builtin_cpu_supports("avx2");
    host->fma = host->vex && __builtin_cpu_supports("fma");
    host->widest = __builtin_cpu_supports("avx512f") ? AS_WIDTH_512
                   : host->vex                       ? AS_WIDTH_256
                                                     : AS_WIDTH_128;
}

const char *as_width_name(enum as_width width)
{
    static const char *const name[] = {"scalar", "sse", "avx2", "avx512"};
    assert((unsigned)width < sizeof name / sizeof *name);
    return name[width];
}

unsigned as_width_b(enum as_width width, unsigned element_b)
{
    return width == AS_WIDTH_SCALAR ? element_b : 8u << width;
}

const char *as_stream_name(enum as_stream_kernel stream)
{
    static const char *const name[] = {"read", "write", "copy", "triad"};
    assert((unsigned)stream < sizeof name / sizeof *name);
    return name[stream];
}

unsigned as_stream_moved(enum as_stream_kernel stream)
{
    static const unsigned moved[] = {1, 1, 2, 3};
    assert((unsigned)stream < sizeof moved / sizeof *moved);
    return moved[stream];
}

/* ---- Streams --------------------------------------------------------------------------------- */

struct writer {
    struct as_assembly assembly;
    const char *v, *reg; /* "v" with VEX; "zmm" */
    unsigned bits;
    bool fma, nontemporal;
};

static void write_load(struct writer *w, unsigned reg, const char *from, unsigned at)
{
    as_assembly_line(&w->assembly, "%smovupd %s%u,m%u[%s+rax+%u]", w->v, w->reg, reg, w->bits, from,
                     at);
}

static void write_store(struct writer *w, unsigned reg, unsigned at)
{
    as_assembly_line(&w->assembly, "%smov%spd m%u[rdi+rax+%u],%s%u", w->v,
                     w->nontemporal ? "nt" : "u", w->bits, at, w->reg, reg);
}

static void write_triad(struct writer *w, unsigned reg, unsigned at)
{
    write_load(w, reg, "rdx", at);
    if (w->fma) {
        as_assembly_line(&w->assembly, "vfmadd213pd %s%u,%s15,m%u[rsi+rax+%u]", w->reg, reg, w->reg,
                         w->bits, at);
    } else if (*w->v) {
        as_assembly_line(&w->assembly, "vmulpd %s%u,%s%u,%s15", w->reg, reg, w->reg, reg, w->reg);
        as_assembly_line(&w->assembly, "vaddpd %s%u,%s%u,m%u[rsi+rax+%u]", w->reg, reg, w->reg, reg,
                         w->bits, at);
    } else {
        as_assembly_line(&w->assembly, "mulpd xmm%u,xmm15", reg);
        as_assembly_line(&w->assembly, "addpd xmm%u,m128[rsi+rax+%u]", reg, at);
    }
    write_store(w, reg, at);
}

static void write_step(struct writer *w, enum as_stream_kernel stream, unsigned reg, unsigned at)
{
    switch (stream) {
    case AS_STREAM_READ:
        write_load(w, reg, "rdi", at);
        break;
    case AS_STREAM_WRITE:
        write_store(w, 15, at);
        break;
    case AS_STREAM_COPY:
        write_load(w, reg, "rsi", at);
        write_store(w, reg, at);
        break;
    default:
        write_triad(w, reg, at);
        break;
    }
}

/* Sets every element of register 15 to 3.0. */
static void write_three(struct writer *w)
{
    as_assembly_line(&w->assembly, "mov rax,0x4008000000000000");
    as_assembly_line(&w->assembly, "%smovq xmm15,rax", w->v);
    if (!*w->v)
        as_assembly_line(&w->assembly, "unpcklpd xmm15,xmm15");
    else if (w->bits == 512)
        as_assembly_line(&w->assembly, "vbroadcastsd zmm15,xmm15");
    else {
        as_assembly_line(&w->assembly, "vunpcklpd xmm15,xmm15,xmm15");
        if (w->bits == 256)
            as_assembly_line(&w->assembly, "vinsertf128 ymm15,ymm15,xmm15,1");
    }
}

/* Begins the loops. rcx: bytes; r8: passes; array ends in rdi, rsi, rdx; rax: from -bytes to
 * zero. */
static size_t begin_passes(struct as_assembly *a, unsigned arrays, size_t *inner)
{
    static const char *const array[] = {"rdi", "rsi", "rdx"};

    for (unsigned i = 0; i < arrays; i++)
        as_assembly_line(a, "add %s,rcx", array[i]);
    as_assembly_line(a, "neg rcx");
    const size_t outer = as_assembly_label(a);
    as_assembly_line(a, "mov rax,rcx");
    *inner = as_assembly_label(a);
    return outer;
}

static void end_passes(struct as_assembly *a, unsigned step_b, size_t inner, size_t outer)
{
    as_assembly_line(a, "add rax,%u", step_b);
    as_assembly_jump_back(a, inner);
    as_assembly_line(a, "dec r8");
    as_assembly_jump_back(a, outer);
}

int as_kernel_stream(const struct as_kernel_host *host, enum as_stream_kernel stream,
                     bool nontemporal, struct as_kernel *kernel, struct as_error *err)
{
    static const char *const reg[] = {"xmm", "xmm", "ymm", "zmm"};
    struct writer w = {.v = host->vex ? "v" : "",
                       .reg = reg[host->widest],
                       .bits = 8 * as_width_b(host->widest, 8),
                       .fma = host->fma,
                       .nontemporal = nontemporal};
    const unsigned vector_b = w.bits / 8;
    size_t inner;

    write_three(&w);
    const size_t outer = begin_passes(&w.assembly, 3, &inner);
    for (unsigned i = 0; i < 8; i++)
        write_step(&w, stream, i, i * vector_b);
    end_passes(&w.assembly, 8 * vector_b, inner, outer);
    if (nontemporal)
        as_assembly_line(&w.assembly, "sfence");
    if (host->vex)
        as_assembly_line(&w.assembly, "vzeroupper");
    return as_kernel_open(&w.assembly, kernel, err);
}

int as_kernel_stride(unsigned stride_b, struct as_kernel *kernel, struct as_error *err)
{
    struct as_assembly a = {.n = 0};
    size_t inner;
    const size_t outer = begin_passes(&a, 1, &inner);

    for (unsigned i = 0; i < 8; i++)
        as_assembly_line(&a, "mov r9,m64[rdi+rax+%u]", i * stride_b);
    end_passes(&a, 8 * stride_b, inner, outer);
    return as_kernel_open(&a, kernel, err);
}

/* Each gather clears its mask; all lanes are on. The target is zeroed before, as compilers do.
 * Otherwise masked lanes would wait for the last gather. */
static void write_gather(struct as_assembly *a, enum as_width widest)
{
    if (widest == AS_WIDTH_512) {
        as_assembly_line(a, "vmovdqu ymm1,m256[rsi+rax*4]");
        as_assembly_line(a, "kxnorw k1,k1,k1");
        as_assembly_line(a, "vpxor xmm2,xmm2,xmm2");
        as_assembly_line(a, "vgatherdpd zmm2,k1,m64[rdi+ymm1*8]");
        as_assembly_line(a, "add rax,8");
    } else {
        as_assembly_line(a, "vmovdqu xmm1,m128[rsi+rax*4]");
        as_assembly_line(a, "vpcmpeqd ymm3,ymm3,ymm3");
        as_assembly_line(a, "vpxor xmm2,xmm2,xmm2");
        as_assembly_line(a, "vgatherdpd ymm2,m64[rdi+xmm1*8],ymm3");
        as_assembly_line(a, "add rax,4");
    }
}

int as_kernel_gather(const struct as_kernel_host *host, bool gathers, struct as_kernel *kernel,
                     struct as_error *err)
{
    struct as_assembly a = {.n = 0};

    if (gathers && !host->avx2)
        return as_error_set(err, AS_ERR_UNSUPPORTED, "measuring: this CPU has no gathers");
    as_assembly_line(&a, "lea rsi,m64[rsi+rcx*4]");
    as_assembly_line(&a, "neg rcx");
    const size_t outer = as_assembly_label(&a);
    as_assembly_line(&a, "mov rax,rcx");
    const size_t inner = as_assembly_label(&a);
    if (gathers) {
        write_gather(&a, host->widest);
    } else {
        for (unsigned i = 0; i < 8; i++) {
            as_assembly_line(&a, "mov r9d,m32[rsi+rax*4+%u]", 4 * i);
            as_assembly_line(&a, "mov r10,m64[rdi+r9*8]");
        }
        as_assembly_line(&a, "add rax,8");
    }
    as_assembly_jump_back(&a, inner);
    as_assembly_line(&a, "dec r8");
    as_assembly_jump_back(&a, outer);
    if (gathers)
        as_assembly_line(&a, "vzeroupper");
    return as_kernel_open(&a, kernel, err);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void as_chase_thread(uint8_t *area, size_t n, size_t apart_b, uint32_t *order)
{
    uint64_t random = 88172645463325252u;

    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (size_t i = n - 1; i > 0; i--) {
        const size_t k = next_random(&random) % i; /* below i: gives one cycle */
        const uint32_t held = order[i];
        order[i] = order[k];
        order[k] = held;
    }
    for (size_t i = 0; i < n; i++) {
        void *next = area + (size_t)order[i] * apart_b;
        memcpy(area + i * apart_b, &next, sizeof next);
    }
}

int as_kernel_chase(struct as_kernel *kernel, struct as_error *err)
{
    struct as_assembly a = {.n = 0};

    as_assembly_line(&a, "mov rdi,m64[rsi]");
    const size_t loop = as_assembly_label(&a);
    for (unsigned i = 0; i < 64; i++)
        as_assembly_line(&a, "mov rdi,m64[rdi]");
    as_assembly_line(&a, "dec r8");
    as_assembly_jump_back(&a, loop);
    as_assembly_line(&a, "mov m64[rsi],rdi");
    return as_kernel_open(&a, kernel, err);
}
