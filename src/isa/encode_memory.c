/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the memory operand of an instruction. The new operand is another address, a register, a
 * plain load, or the computation of the address. Experiments use such instructions to measure the
 * cost of a loop's parts.
 */
#include "isa/encode.h"

#include <string.h>

#include <Zydis/Zydis.h>

struct encoder_parts {
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    ZydisEncoderRequest request;
    unsigned memory; /* number of the memory operand, or NO_OPERAND */
};

enum { NO_OPERAND = ZYDIS_MAX_OPERAND_COUNT };

/* Decodes an instruction for the encoder. Returns false if the bytes are invalid or the encoder
 * does not support the instruction. */
static bool decode_for_encoder(const uint8_t *bytes, size_t size_b, struct encoder_parts *it)
{
    ZydisDecoder decoder;
    memset(it, 0, sizeof *it);
    if (!ZYAN_SUCCESS(
            ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size_b, &it->insn, it->operand)) ||
        !ZYAN_SUCCESS(ZydisEncoderDecodedInstructionToEncoderRequest(
            &it->insn, it->operand, it->insn.operand_count_visible, &it->request)))
        return false;
    it->memory = NO_OPERAND;
    for (unsigned i = 0; i < it->insn.operand_count_visible; i++)
        if (it->operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY && it->memory == NO_OPERAND)
            it->memory = i;
    return true;
}

static bool has_memory(const uint8_t *bytes, size_t size_b, struct encoder_parts *it)
{
    return decode_for_encoder(bytes, size_b, it) && it->memory != NO_OPERAND;
}

static bool is_gather(const struct encoder_parts *it)
{
    return it->operand[it->memory].mem.type == ZYDIS_MEMOP_TYPE_VSIB;
}

static bool is_vector(ZydisRegister reg)
{
    const ZydisRegisterClass kind = ZydisRegisterGetClass(reg);
    return kind == ZYDIS_REGCLASS_XMM || kind == ZYDIS_REGCLASS_YMM || kind == ZYDIS_REGCLASS_ZMM;
}

static bool is_general(ZydisRegister reg)
{
    const ZydisRegisterClass kind = ZydisRegisterGetClass(reg);
    return kind == ZYDIS_REGCLASS_GPR8 || kind == ZYDIS_REGCLASS_GPR16 ||
           kind == ZYDIS_REGCLASS_GPR32 || kind == ZYDIS_REGCLASS_GPR64;
}

/* Returns vector register `number` of at least `width_b` bytes. */
static ZydisRegister vector_of(unsigned number, unsigned width_b)
{
    const ZydisRegisterClass kind = width_b > 32   ? ZYDIS_REGCLASS_ZMM
                                    : width_b > 16 ? ZYDIS_REGCLASS_YMM
                                                   : ZYDIS_REGCLASS_XMM;
    return ZydisRegisterEncode(kind, (ZyanU8)number);
}

static unsigned number_of(ZydisRegister reg)
{
    return (unsigned)(ZyanU8)ZydisRegisterGetId(reg);
}

static size_t encode_changed(const ZydisEncoderRequest *request, uint8_t out[AS_ENCODE_B])
{
    ZyanUSize length = AS_ENCODE_B;
    return ZYAN_SUCCESS(ZydisEncoderEncodeInstruction(request, out, &length)) ? length : 0;
}

/* Encodes an instruction with two operands. EVEX encodings get mask k0 between them. */
static size_t encode_two(ZydisMnemonic mnemonic, const ZydisEncoderOperand *to,
                         const ZydisEncoderOperand *from, uint8_t out[AS_ENCODE_B])
{
    ZydisEncoderRequest request = {.machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
                                   .mnemonic = mnemonic,
                                   .operand_count = 2,
                                   .operands = {*to, *from}};
    const size_t n = encode_changed(&request, out);
    if (n)
        return n;
    request.operands[1] = (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_REGISTER,
                                                .reg = {.value = ZYDIS_REGISTER_K0}};
    request.operands[2] = *from;
    request.operand_count = 3;
    return encode_changed(&request, out);
}

static ZydisEncoderOperand register_operand(ZydisRegister reg)
{
    return (ZydisEncoderOperand){.type = ZYDIS_OPERAND_TYPE_REGISTER, .reg = {.value = reg}};
}

size_t as_encode_local(const uint8_t *bytes, size_t size_b, int32_t disp, uint8_t out[AS_ENCODE_B])
{
    struct encoder_parts it;
    if (!has_memory(bytes, size_b, &it) || is_gather(&it))
        return 0;
    ZydisEncoderOperand *memory = &it.request.operands[it.memory];
    memory->mem.base = memory->mem.index = ZYDIS_REGISTER_NONE;
    memory->mem.scale = 0;
    memory->mem.displacement = disp;
    it.request.prefixes |= ZYDIS_ATTRIB_HAS_SEGMENT_GS;
    return encode_changed(&it.request, out);
}

size_t as_encode_register(const uint8_t *bytes, size_t size_b, unsigned number,
                          uint8_t out[AS_ENCODE_B])
{
    struct encoder_parts it;
    if (!has_memory(bytes, size_b, &it) || it.memory == 0 || is_gather(&it) ||
        it.operand[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return 0;
    const ZydisRegister to = it.operand[0].reg.value;
    unsigned width_b = it.operand[it.memory].size / 8;
    if (it.insn.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID)
        width_b = it.insn.avx.vector_length / 8;
    ZydisRegister from = vector_of(number, width_b);
    if (is_general(to)) {
        const ZydisRegisterClass kind = width_b == 8   ? ZYDIS_REGCLASS_GPR64
                                        : width_b == 4 ? ZYDIS_REGCLASS_GPR32
                                        : width_b == 2 ? ZYDIS_REGCLASS_GPR16
                                                       : ZYDIS_REGCLASS_GPR8;
        from = ZydisRegisterEncode(kind, (ZyanU8)number);
    }
    it.request.operands[it.memory] = register_operand(from);
    it.request.evex.broadcast = ZYDIS_BROADCAST_MODE_INVALID;
    it.request.prefixes &= ~(ZydisInstructionAttributes)ZYDIS_ATTRIB_HAS_SEGMENT;
    return encode_changed(&it.request, out);
}

static ZydisMnemonic load_of(const struct encoder_parts *it, unsigned width_b)
{
    const bool legacy = it->insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    if (width_b == 4)
        return legacy ? ZYDIS_MNEMONIC_MOVSS : ZYDIS_MNEMONIC_VMOVSS;
    if (width_b == 8)
        return legacy ? ZYDIS_MNEMONIC_MOVSD : ZYDIS_MNEMONIC_VMOVSD;
    if (width_b == 16 || width_b == 32 || width_b == 64)
        return legacy ? ZYDIS_MNEMONIC_MOVUPS : ZYDIS_MNEMONIC_VMOVUPS;
    return ZYDIS_MNEMONIC_INVALID;
}

size_t as_encode_load(const uint8_t *bytes, size_t size_b, uint8_t out[AS_ENCODE_B])
{
    struct encoder_parts it;
    if (!has_memory(bytes, size_b, &it) || it.memory == 0 || is_gather(&it) ||
        it.operand[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return 0;
    const ZydisRegister reg = it.operand[0].reg.value;
    ZydisEncoderOperand from = it.request.operands[it.memory], to = register_operand(reg);
    unsigned width_b = it.operand[it.memory].size / 8;
    ZydisMnemonic mnemonic;
    if (it.insn.avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID)
        width_b = it.operand[it.memory].element_size / 8;
    if (is_vector(reg)) {
        mnemonic = load_of(&it, width_b);
        to = register_operand(vector_of(number_of(reg), width_b));
    } else if (is_general(reg)) {
        mnemonic = width_b < 4 ? ZYDIS_MNEMONIC_MOVZX : ZYDIS_MNEMONIC_MOV;
        to = register_operand(ZydisRegisterEncode(
            width_b == 8 ? ZYDIS_REGCLASS_GPR64 : ZYDIS_REGCLASS_GPR32,
            (ZyanU8)number_of(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg))));
    } else {
        return 0;
    }
    from.mem.size = (ZyanU16)width_b;
    return mnemonic == ZYDIS_MNEMONIC_INVALID ? 0 : encode_two(mnemonic, &to, &from, out);
}

size_t as_encode_address(const uint8_t *bytes, size_t size_b, unsigned reg,
                         uint8_t out[AS_ENCODE_B])
{
    struct encoder_parts it;
    if (!has_memory(bytes, size_b, &it) || is_gather(&it))
        return 0;
    ZydisEncoderOperand from = it.request.operands[it.memory];
    const ZydisEncoderOperand to =
        register_operand(ZydisRegisterEncode(ZYDIS_REGCLASS_GPR64, (ZyanU8)reg));
    from.mem.size = 8;
    return encode_two(ZYDIS_MNEMONIC_LEA, &to, &from, out);
}

/* Encodes a mov of 0; xor would change flags. */
static size_t encode_zero(ZydisRegister reg, uint8_t out[AS_ENCODE_B])
{
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    const ZydisEncoderOperand to = register_operand(ZydisRegisterEncode(ZYDIS_REGCLASS_GPR32,
                                                                        (ZyanU8)number_of(whole))),
                              from = {.type = ZYDIS_OPERAND_TYPE_IMMEDIATE};
    return encode_two(ZYDIS_MNEMONIC_MOV, &to, &from, out);
}

size_t as_encode_value(const uint8_t *bytes, size_t size_b, unsigned number,
                       uint8_t out[AS_ENCODE_B])
{
    struct encoder_parts it;
    if (!decode_for_encoder(bytes, size_b, &it) || it.insn.operand_count_visible == 0 ||
        it.operand[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
        return 0;
    const ZydisRegister reg = it.operand[0].reg.value;
    const bool legacy = it.insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
    if (is_general(reg))
        return encode_zero(reg, out);
    if (!is_vector(reg))
        return 0;
    if (number != AS_ENCODE_KEEP) {
        const ZydisRegister from = vector_of(number, it.operand[0].size / 8);
        const ZydisEncoderOperand to = register_operand(reg), value = register_operand(from);
        return encode_two(legacy ? ZYDIS_MNEMONIC_MOVAPS : ZYDIS_MNEMONIC_VMOVAPS, &to, &value,
                          out);
    }
    const unsigned it_is = number_of(reg);
    const ZydisRegister x = vector_of(it_is, it_is < 16 ? 16 : 64);
    ZydisEncoderRequest zero = {
        .machine_mode = ZYDIS_MACHINE_MODE_LONG_64,
        .mnemonic = legacy       ? ZYDIS_MNEMONIC_XORPS
                    : it_is < 16 ? ZYDIS_MNEMONIC_VXORPS
                                 : ZYDIS_MNEMONIC_VPXORD,
        .operand_count = legacy ? 2 : 3,
        .operands = {register_operand(x), register_operand(x), register_operand(x)}};
    if (it_is >= 16) {
        zero.operands[1] = register_operand(ZYDIS_REGISTER_K0);
        zero.operands[3] = register_operand(x);
        zero.operand_count = 4;
    }
    return encode_changed(&zero, out);
}
