/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the instruction-set extensions that a form needs. Sources: Intel SDM volume 2, columns
 * "CPUID feature flag"; AMD APM volume 3, appendix D.
 */
#include <stdio.h>
#include <string.h>

#include "isa/build.h"

const char *as_extension_name(unsigned extension)
{
    static const char *const name[] = {
#define WORD_OF(enumerator, word) word,
        AS_EXTENSION_LIST(WORD_OF)
#undef WORD_OF
    };
    return extension < AS_EXTENSION_COUNT ? name[extension] : "?";
}

int as_extension_find(const char *word)
{
    for (unsigned i = 0; i < AS_EXTENSION_COUNT; i++)
        if (strcmp(as_extension_name(i), word) == 0)
            return (int)i;
    return -1;
}

const char *as_extension_words(uint64_t set, char *buf, size_t buf_b)
{
    size_t used = 0;

    buf[0] = 0;
    for (unsigned i = 0; i < AS_EXTENSION_COUNT && used < buf_b; i++)
        if (set >> i & 1)
            used += (size_t)snprintf(buf + used, buf_b - used, "%s%s", used ? ", " : "",
                                     as_extension_name(i));
    return buf;
}

struct named_set {
    const char *prefix; /* start of the decoder's name of a set; the first match counts */
    uint64_t needs;
};

#define NEEDS(name) AS_EXTENSION_BIT(name)

/* Sets that are not listed need only x86-64. */
static const struct named_set sets[] = {
    {"AVX512BW", NEEDS(AVX512F) | NEEDS(AVX512BW)},
    {"AVX512CD", NEEDS(AVX512F) | NEEDS(AVX512CD)},
    {"AVX512DQ", NEEDS(AVX512F) | NEEDS(AVX512DQ)},
    {"AVX512ER", NEEDS(AVX512F) | NEEDS(AVX512ER)},
    {"AVX512PF", NEEDS(AVX512F) | NEEDS(AVX512PF)},
    {"AVX512F", NEEDS(AVX512F)},
    {"AVX512_4FMAPS", NEEDS(AVX512F) | NEEDS(AVX512_4FMAPS)},
    {"AVX512_4VNNIW", NEEDS(AVX512F) | NEEDS(AVX512_4VNNIW)},
    {"AVX512_BF16", NEEDS(AVX512F) | NEEDS(AVX512BF16)},
    {"AVX512_BITALG", NEEDS(AVX512F) | NEEDS(AVX512BITALG)},
    {"AVX512_FP16", NEEDS(AVX512F) | NEEDS(AVX512FP16)},
    {"AVX512_GFNI", NEEDS(AVX512F) | NEEDS(GFNI)},
    {"AVX512_IFMA", NEEDS(AVX512F) | NEEDS(AVX512IFMA)},
    {"AVX512_VAES", NEEDS(AVX512F) | NEEDS(VAES)},
    {"AVX512_VBMI2", NEEDS(AVX512F) | NEEDS(AVX512VBMI2)},
    {"AVX512_VBMI", NEEDS(AVX512F) | NEEDS(AVX512VBMI)},
    {"AVX512_VNNI", NEEDS(AVX512F) | NEEDS(AVX512VNNI)},
    {"AVX512_VP2INTERSECT", NEEDS(AVX512F) | NEEDS(AVX512VP2INTERSECT)},
    {"AVX512_VPCLMULQDQ", NEEDS(AVX512F) | NEEDS(VPCLMULQDQ)},
    {"AVX512_VPOPCNTDQ", NEEDS(AVX512F) | NEEDS(AVX512VPOPCNTDQ)},
    {"AVX512", NEEDS(AVX512F)},
    {"AVX_VNNI", NEEDS(AVX) | NEEDS(AVX_VNNI)},
    {"AVX_GFNI", NEEDS(AVX) | NEEDS(GFNI)},
    {"AVXAES", NEEDS(AVX) | NEEDS(AES)},
    {"AVX2", NEEDS(AVX) | NEEDS(AVX2)},
    {"AVX", NEEDS(AVX)},
    {"VAES", NEEDS(AVX) | NEEDS(VAES)},
    {"VPCLMULQDQ", NEEDS(AVX) | NEEDS(VPCLMULQDQ)},
    {"FMA4", NEEDS(AVX) | NEEDS(FMA4)},
    {"FMA", NEEDS(AVX) | NEEDS(FMA)},
    {"F16C", NEEDS(AVX) | NEEDS(F16C)},
    {"XOP", NEEDS(AVX) | NEEDS(XOP)},
    {"SSSE3", NEEDS(SSE) | NEEDS(SSSE3)},
    {"SSE42", NEEDS(SSE) | NEEDS(SSE4_2)},
    {"SSE4A", NEEDS(SSE) | NEEDS(SSE4A)},
    {"SSE4", NEEDS(SSE) | NEEDS(SSE4_1)},
    {"SSE3", NEEDS(SSE) | NEEDS(SSE3)},
    {"SSE", NEEDS(SSE)},
    {"PENTIUMMMX", NEEDS(SSE)},
    {"AES", NEEDS(SSE) | NEEDS(AES)},
    {"PCLMULQDQ", NEEDS(SSE) | NEEDS(PCLMUL)},
    {"GFNI", NEEDS(SSE) | NEEDS(GFNI)},
    {"SHA", NEEDS(SSE) | NEEDS(SHA)},
    {"AMX_TILE", NEEDS(AMX_TILE)},
    {"AMX_INT8", NEEDS(AMX_TILE) | NEEDS(AMX_INT8)},
    {"AMX_BF16", NEEDS(AMX_TILE) | NEEDS(AMX_BF16)},
    {"POPCNT", NEEDS(POPCNT)},
    {"LZCNT", NEEDS(LZCNT)},
    {"BMI1", NEEDS(BMI1)},
    {"BMI2", NEEDS(BMI2)},
    {"ADOX", NEEDS(ADX)},
    {"RDRAND", NEEDS(RDRAND)},
    {"RDSEED", NEEDS(RDSEED)},
    {"MOVDIR", NEEDS(MOVDIRI)},
    {"TBM", NEEDS(TBM)},
    {"LWP", NEEDS(LWP)},
    {"AMD3DNOW", NEEDS(AMD3DNOW)},
    {"KNC", NEEDS(KNC)},
};

/* Returns true for sets with vectors shorter than 64 bytes ("AVX512BW_256"). "_128N" and "_SCALAR"
 * mean one element. */
static bool is_short_vector(const char *name)
{
    const char *width = strrchr(name, '_');

    return strncmp(name, "AVX512", 6) == 0 && width &&
           (strcmp(width, "_128") == 0 || strcmp(width, "_256") == 0);
}

uint64_t as_form_extensions(const ZydisDecodedInstruction *insn)
{
    const char *name = ZydisISASetGetString(insn->meta.isa_set);

    /* Compilers emit tzcnt for any core: without BMI1 it executes as bsf. */
    if (!name || insn->mnemonic == ZYDIS_MNEMONIC_TZCNT)
        return 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (strncmp(name, sets[i].prefix, strlen(sets[i].prefix)) == 0)
            return sets[i].needs | (is_short_vector(name) ? NEEDS(AVX512VL) : 0);
    return 0;
}
