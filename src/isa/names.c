/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names classes and registers.
 */
#include "isa/isa.h"

const char *as_class_name(unsigned insn_class)
{
    static const char *const names[] = {
#define CLASS_NAME(name, word) word,
        AS_CLASS_LIST(CLASS_NAME)
#undef CLASS_NAME
    };
    return insn_class < AS_CLASS_COUNT ? names[insn_class] : "?";
}

static const char *gpr_name(unsigned n, unsigned width_b)
{
    static const char *const names[4][16] = {
        {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b",
         "r13b", "r14b", "r15b"},
        {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8w", "r9w", "r10w", "r11w", "r12w",
         "r13w", "r14w", "r15w"},
        {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "r8d", "r9d", "r10d", "r11d",
         "r12d", "r13d", "r14d", "r15d"},
        {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12",
         "r13", "r14", "r15"},
    };
    unsigned row = width_b == 1 ? 0 : width_b == 2 ? 1 : width_b == 4 ? 2 : 3;
    return names[row][n & 15];
}

static const char *vector_name(unsigned n, unsigned width_b)
{
#define ROW(p)                                                                                     \
    {                                                                                              \
        p "0", p "1", p "2", p "3", p "4", p "5", p "6", p "7", p "8", p "9", p "10", p "11",      \
            p "12", p "13", p "14", p "15", p "16", p "17", p "18", p "19", p "20", p "21",        \
            p "22", p "23", p "24", p "25", p "26", p "27", p "28", p "29", p "30", p "31"         \
    }
    static const char *const names[3][32] = {ROW("xmm"), ROW("ymm"), ROW("zmm")};
#undef ROW
    return names[width_b <= 16 ? 0 : width_b <= 32 ? 1 : 2][n & 31];
}

const char *as_reg_name(unsigned reg, unsigned width_b)
{
    static const char *const rest[] = {
        "k0",    "k1",      "k2",   "k3",   "k4",   "k5",   "k6",  "k7",    "st0",
        "st1",   "st2",     "st3",  "st4",  "st5",  "st6",  "st7", "tmm0",  "tmm1",
        "tmm2",  "tmm3",    "tmm4", "tmm5", "tmm6", "tmm7", "rip", "mxcsr", "x87cw",
        "x87sw", "tilecfg", "es",   "cs",   "ss",   "ds",   "fs",  "gs",    "system"};
    static const char *const mmx[] = {"mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7"};
    _Static_assert(sizeof rest / sizeof *rest == AS_REG_COUNT - AS_REG_MASK, "all named");
    if (reg < AS_REG_VEC)
        return gpr_name(reg, width_b);
    if (reg < AS_REG_MASK)
        return vector_name(reg - AS_REG_VEC, width_b);
    if (reg >= AS_REG_X87 && reg < AS_REG_TILE && width_b == 8)
        return mmx[reg - AS_REG_X87];
    return reg < AS_REG_COUNT ? rest[reg - AS_REG_MASK] : "?";
}
