/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that compute: enough independent chains to hide the longest latency of any core (6
 * cycles, 2 pipes). The values converge and never become denormal.
 */
#include <assert.h>
#include <stdio.h>

#include "base/error.h"
#include "measure/kernels.h"

enum { PARTS = 4 }; /* of a loop body, each with all chains */

const char *as_operation_name(enum as_operation operation)
{
    static const char *const name[] = {"add", "mul", "fma"};
    assert((size_t)operation < sizeof name / sizeof *name);
    return name[operation];
}

const char *as_number_name(enum as_number_type number)
{
    static const char *const name[] = {"f64", "f32", "i64", "i32"};
    assert((size_t)number < sizeof name / sizeof *name);
    return name[number];
}

static bool is_float(enum as_number_type number)
{
    return number == AS_NUMBER_F64 || number == AS_NUMBER_F32;
}

static unsigned element_b(enum as_number_type number)
{
    return number == AS_NUMBER_F64 || number == AS_NUMBER_I64 ? 8 : 4;
}

bool as_arithmetic_exists(const struct as_kernel_host *host, const struct as_arithmetic *what)
{
    if (what->width > host->widest || (what->operation == AS_OPERATION_FMA && !host->fma))
        return false;
    if (is_float(what->number))
        return true;
    if (what->operation == AS_OPERATION_FMA)
        return false;
    if (what->operation == AS_OPERATION_MUL && what->width != AS_WIDTH_SCALAR &&
        (what->number == AS_NUMBER_I64 || !host->vex))
        return false; /* 64-bit vector products need AVX-512DQ, 32-bit ones SSE4.1 */
    return what->width != AS_WIDTH_256 || host->avx2;
}

/* Writes a mnemonic such as "vaddpd", "vmulss", "vfmadd213ps", "vpaddq" or "vpmulld". */
static void vector_mnemonic(const struct as_kernel_host *host, const struct as_arithmetic *what,
                            char out[24])
{
    const char *v = host->vex ? "v" : "";

    if (is_float(what->number)) {
        const char *operation =
            what->operation == AS_OPERATION_FMA ? "fmadd213" : as_operation_name(what->operation);
        snprintf(out, 24, "%s%s%c%c", v, operation, what->width == AS_WIDTH_SCALAR ? 's' : 'p',
                 what->number == AS_NUMBER_F64 ? 'd' : 's');
    } else if (what->operation == AS_OPERATION_MUL) {
        snprintf(out, 24, "%spmulld", v);
    } else {
        snprintf(out, 24, "%spadd%c", v, what->number == AS_NUMBER_I64 ? 'q' : 'd');
    }
}

/* Sets all elements of xmm14 or xmm15 to a value, through rax. */
static void set_constant(struct as_assembly *a, const struct as_kernel_host *host,
                         const struct as_arithmetic *what, unsigned reg, double value)
{
    union {
        double f64;
        float f32[2];
        uint64_t bits;
    } u = {.f64 = value};

    if (what->number == AS_NUMBER_F32)
        u.f32[0] = u.f32[1] = (float)value;
    else if (!is_float(what->number))
        u.bits = UINT64_C(0x0000000300000003);
    as_assembly_line(a, "mov rax,%#llx", (unsigned long long)u.bits);
    if (!host->vex) {
        as_assembly_line(a, "movq xmm%u,rax", reg);
        as_assembly_line(a, "punpcklqdq xmm%u,xmm%u", reg, reg);
        return;
    }
    as_assembly_line(a, "vmovq xmm%u,rax", reg);
    as_assembly_line(a, "vpunpcklqdq xmm%u,xmm%u,xmm%u", reg, reg, reg);
    if (what->width >= AS_WIDTH_256)
        as_assembly_line(a, "vinsertf128 ymm%u,ymm%u,xmm%u,1", reg, reg, reg);
    if (what->width == AS_WIDTH_512)
        as_assembly_line(a, "vinsertf64x4 zmm%u,zmm%u,ymm%u,1", reg, reg, reg);
}

/* Writes the vector instructions of a loop part. Spreads `beside` dependent multiplications of rax
 * over the loop. */
static void write_vectors(struct as_assembly *a, const struct as_kernel_host *host,
                          const struct as_arithmetic *what, unsigned chains, unsigned part,
                          unsigned beside)
{
    static const char *const name[] = {"xmm", "xmm", "ymm", "zmm"};
    const char *reg = name[what->width];
    char mnemonic[24];

    vector_mnemonic(host, what, mnemonic);
    for (unsigned i = 0; i < chains; i++) {
        const unsigned to = i < 14 ? i : i + 2; /* 14 and 15 hold the constants */
        if (what->operation == AS_OPERATION_FMA)
            as_assembly_line(a, "%s %s%u,%s14,%s15", mnemonic, reg, to, reg, reg);
        else if (host->vex)
            as_assembly_line(a, "%s %s%u,%s%u,%s%u", mnemonic, reg, to, reg, to, reg,
                             what->operation == AS_OPERATION_MUL ? 14 : 15);
        else
            as_assembly_line(a, "%s xmm%u,xmm%u", mnemonic, to,
                             what->operation == AS_OPERATION_MUL ? 14 : 15);
        const unsigned at = part * chains + i, all = PARTS * chains;
        for (unsigned k = at * beside / all; k < (at + 1) * beside / all; k++)
            as_assembly_line(a, "imul rax,rax");
    }
}

/* Writes the scalar instructions of a loop part. They use all caller-saved registers except the
 * counter. */
static void write_scalars(struct as_assembly *a, const struct as_arithmetic *what, unsigned chains)
{
    static const char *const wide[] = {"rax", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"};
    static const char *const narrow[] = {"eax", "edx", "esi", "edi", "r8d", "r9d", "r10d", "r11d"};
    const char *const *reg = what->number == AS_NUMBER_I64 ? wide : narrow;

    const char *counter = what->number == AS_NUMBER_I64 ? "rcx" : "ecx";

    /* Eight chains of products with three cycles would not fill three pipes, so these are
     * independent. */
    for (unsigned i = 0; i < chains; i++)
        if (what->operation == AS_OPERATION_MUL)
            as_assembly_line(a, "imul %s,%s,3", reg[i % 8], counter);
        else
            as_assembly_line(a, "add %s,%s", reg[i % 8], reg[i % 8]);
}

bool as_arithmetic_is_general(const struct as_arithmetic *what)
{
    return what->width == AS_WIDTH_SCALAR && !is_float(what->number);
}

int as_kernel_arithmetic(const struct as_kernel_host *host, const struct as_arithmetic *what,
                         unsigned beside, double *operations, struct as_kernel *kernel,
                         struct as_error *err)
{
    const bool general = as_arithmetic_is_general(what);
    const unsigned chains = general ? 64 : what->width == AS_WIDTH_512 ? 30 : 14;
    struct as_assembly a = {.n = 0};

    as_assembly_line(&a, "mov rcx,r8");
    *operations = (what->operation == AS_OPERATION_FMA ? 2.0 : 1.0) * chains *
                  as_width_b(what->width, element_b(what->number)) / element_b(what->number);
    if (!general) {
        set_constant(&a, host, what, 14, 1 - 0x1p-20);
        set_constant(&a, host, what, 15, 0x1p-20);
        for (unsigned i = 0; i < chains; i++) {
            const unsigned to = i < 14 ? i : i + 2;
            if (host->vex && to > 15)
                as_assembly_line(&a, "vmovaps zmm%u,zmm14", to);
            else
                as_assembly_line(&a, host->vex ? "vmovaps xmm%u,xmm14" : "movaps xmm%u,xmm14", to);
        }
    }
    const size_t loop = as_assembly_label(&a);
    for (unsigned i = 0; i < PARTS && !general; i++)
        write_vectors(&a, host, what, chains, i, beside);
    if (general)
        write_scalars(&a, what, chains);
    else
        *operations *= PARTS;
    as_assembly_line(&a, "dec rcx");
    as_assembly_jump_back(&a, loop);
    if (host->vex && !general)
        as_assembly_line(&a, "vzeroupper");
    return as_kernel_open(&a, kernel, err);
}
