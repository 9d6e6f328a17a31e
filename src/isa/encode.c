/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes text and changes instructions with the decoder library's encoder. Names of mnemonics and
 * registers are found by linear search, because kernels are short.
 */
#include "isa/encode.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <Zydis/Zydis.h>

struct scanner {
    const char *at;
    bool bad;
};

/* ---- Words ---------------------------------------------------------------------------------- */

static void skip_blanks(struct scanner *s)
{
    while (*s->at == ' ')
        s->at++;
}

static bool accept_char(struct scanner *s, char c)
{
    skip_blanks(s);
    if (*s->at != c)
        return false;
    s->at++;
    return true;
}

static void scan_word(struct scanner *s, char *out, size_t out_b)
{
    size_t n = 0;

    skip_blanks(s);
    while (isalnum((unsigned char)*s->at) && n + 1 < out_b)
        out[n++] = *s->at++;
    out[n] = 0;
    s->bad |= n == 0;
}

static ZydisMnemonic mnemonic_named(const char *name)
{
    for (ZydisMnemonic m = 1; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++)
        if (strcmp(ZydisMnemonicGetString(m), name) == 0)
            return m;
    return ZYDIS_MNEMONIC_INVALID;
}

static ZydisRegister register_named(const char *name)
{
    for (ZydisRegister r = 1; r <= ZYDIS_REGISTER_MAX_VALUE; r++) {
        const char *known = ZydisRegisterGetString(r);
        if (known && strcmp(known, name) == 0)
            return r;
    }
    return ZYDIS_REGISTER_NONE;
}

/* ---- Operands ------------------------------------------------------------------------------- */

static long long scan_number(struct scanner *s)
{
    char *end;
    const long long value = strtoll(s->at, &end, 0);

    s->bad |= end == s->at;
    s->at = end;
    return value;
}

/* Reads a register of an address, and its scale if it is an index. */
static void scan_address_register(struct scanner *s, ZydisEncoderOperand *operand)
{
    char word[16];
    scan_word(s, word, sizeof word);
    const ZydisRegister reg = register_named(word);
    const ZydisRegisterClass kind = ZydisRegisterGetClass(reg);
    const bool is_vector =
        kind == ZYDIS_REGCLASS_XMM || kind == ZYDIS_REGCLASS_YMM || kind == ZYDIS_REGCLASS_ZMM;

    s->bad |= reg == ZYDIS_REGISTER_NONE;
    if (accept_char(s, '*')) {
        operand->mem.index = reg;
        operand->mem.scale = (ZyanU8)scan_number(s);
    } else if (is_vector || operand->mem.base != ZYDIS_REGISTER_NONE) {
        operand->mem.index = reg;
        operand->mem.scale = 1;
    } else {
        operand->mem.base = reg;
    }
}

/* Reads a memory operand after its opening bracket. */
static void scan_memory(struct scanner *s, unsigned bits, ZydisEncoderOperand *operand)
{
    operand->type = ZYDIS_OPERAND_TYPE_MEMORY;
    operand->mem.size = (ZyanU16)(bits / 8);
    do {
        skip_blanks(s);
        const bool minus = *s->at == '-';
        if (*s->at == '+' || minus)
            s->at++;
        skip_blanks(s);
        if (isdigit((unsigned char)*s->at))
            operand->mem.displacement += (minus ? -1 : 1) * scan_number(s);
        else
            scan_address_register(s, operand);
        skip_blanks(s);
    } while (!s->bad && (*s->at == '+' || *s->at == '-'));
    s->bad |= !accept_char(s, ']');
}

static void scan_operand(struct scanner *s, ZydisEncoderOperand *operand)
{
    char word[16];

    skip_blanks(s);
    if (isdigit((unsigned char)*s->at) || *s->at == '-') {
        operand->type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
        operand->imm.s = scan_number(s);
        return;
    }
    scan_word(s, word, sizeof word);
    if (word[0] == 'm' && isdigit((unsigned char)word[1]) && accept_char(s, '[')) {
        scan_memory(s, (unsigned)strtoul(word + 1, NULL, 10), operand);
        return;
    }
    operand->type = ZYDIS_OPERAND_TYPE_REGISTER;
    operand->reg.value = register_named(word);
    s->bad |= operand->reg.value == ZYDIS_REGISTER_NONE;
}

static size_t encode_request(const ZydisEncoderRequest *request, uint8_t out[AS_ENCODE_B])
{
    ZyanUSize length = AS_ENCODE_B;

    return ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(request, out, &length)) ? length : 0;
}

/* Encodes the instruction with mask k0 after the destination. EVEX encodings need a mask even if
 * the text has none. */
static size_t encode_unmasked(ZydisEncoderRequest *request, uint8_t out[AS_ENCODE_B])
{
    const unsigned n = request->operand_count;

    if (n == 0 || n == ZYDIS_ENCODER_MAX_OPERANDS)
        return 0;
    memmove(&request->operands[2], &request->operands[1], (n - 1) * sizeof *request->operands);
    request->operands[1] = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_REGISTER,
                                                 .reg = {.value = ZYDIS_REGISTER_K0}};
    request->operand_count++;
    return encode_request(request, out);
}

size_t as_encode_text(const char *text, uint8_t out[AS_ENCODE_B])
{
    struct scanner s = {.at = text};
    ZydisEncoderRequest request = {.machine_mode = ZYDIS_MACHINE_MODE_LONG_64};
    char word[32];

    scan_word(&s, word, sizeof word);
    request.mnemonic = mnemonic_named(word);
    if (request.mnemonic == ZYDIS_MNEMONIC_INVALID)
        return 0;
    skip_blanks(&s);
    if (*s.at)
        do
            scan_operand(&s, &request.operands[request.operand_count++]);
        while (accept_char(&s, ',') && request.operand_count < ZYDIS_ENCODER_MAX_OPERANDS);
    skip_blanks(&s);
    if (s.bad || *s.at)
        return 0;
    const size_t length = encode_request(&request, out);
    return length ? length : encode_unmasked(&request, out);
}

/* ---- Changing an instruction ---------------------------------------------------------------- */

static bool decode_whole(const uint8_t *bytes, size_t size_b, ZydisDecodedInstruction *insn,
                         ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT])
{
    ZydisDecoder decoder;
    memset(operand, 0, ZYDIS_MAX_OPERAND_COUNT * sizeof *operand);
    return ZYAN_SUCCESS(
               ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
           ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size_b, insn, operand));
}

/* Returns register `number` of the file of `reg`, or NONE if the file has no such register. */
static ZydisRegister sibling(ZydisRegister reg, unsigned number)
{
    const ZydisRegisterClass kind = ZydisRegisterGetClass(reg);

    if (kind == ZYDIS_REGCLASS_GPR8) {
        /* order: al cl dl bl ah ch dh bh spl bpl sil dil r8b; the high bytes are skipped */
        return (ZydisRegister)(ZYDIS_REGISTER_AL + (number < 4 ? number : number + 4));
    }
    return ZydisRegisterEncode(kind, (ZyanU8)number);
}

/* Returns true if the encoding contains the operand's register, so it can change. */
static bool is_free(const ZydisDecodedOperand *operand)
{
    return operand->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
           operand->encoding != ZYDIS_OPERAND_ENCODING_NONE;
}

static void choose_memory(const struct as_encode_choice *choice, ZydisEncoderOperand *operand)
{
    if (choice->base != AS_ENCODE_KEEP && operand->mem.base != ZYDIS_REGISTER_NONE)
        operand->mem.base = (ZydisRegister)(ZYDIS_REGISTER_RAX + choice->base);
    if (choice->index != AS_ENCODE_KEEP && operand->mem.index != ZYDIS_REGISTER_NONE)
        operand->mem.index = sibling(operand->mem.index, choice->index);
    if (choice->sets_disp)
        operand->mem.displacement = choice->disp;
}

/* Returns true for a mask. It is an explicit operand of the library, but not of forms. */
static bool is_mask_operand(const ZydisDecodedOperand *operand)
{
    return operand->encoding == ZYDIS_OPERAND_ENCODING_MASK;
}

size_t as_encode_again(const uint8_t *bytes, size_t size_b, const struct as_encode_choice *choice,
                       uint8_t out[AS_ENCODE_B])
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    ZydisEncoderRequest request;
    unsigned at = 0;

    if (!decode_whole(bytes, size_b, &insn, operand) ||
        !ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
            &insn, operand, insn.operand_count_visible, &request)))
        return 0;
    for (unsigned i = 0; i < insn.operand_count_visible; i++) {
        ZydisEncoderOperand *to = &request.operands[i];
        if (is_mask_operand(&operand[i]))
            continue;
        if (operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY) {
            choose_memory(choice, to);
        } else if (operand[i].type == ZYDIS_OPERAND_TYPE_REGISTER && is_free(&operand[i]) &&
                   at < AS_OPERANDS_MAX && choice->reg[at] != AS_ENCODE_KEEP) {
            to->reg.value = sibling(to->reg.value, choice->reg[at]);
        } else if (operand[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand[i].imm.is_relative) {
            return 0;
        }
        at++;
    }
    return encode_request(&request, out);
}

size_t as_encode_rip_offset(const uint8_t *bytes, size_t size_b)
{
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];

    if (!decode_whole(bytes, size_b, &insn, operand) ||
        !(insn.attributes & ZYDIS_ATTRIB_IS_RELATIVE) || insn.raw.disp.size != 32)
        return 0;
    return insn.raw.disp.offset;
}
