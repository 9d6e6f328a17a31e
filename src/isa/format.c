/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats assembly text with the decoder library: lower case, absolute targets, hexadecimal digits
 * without padding.
 */
#include "isa/isa.h"

#include <stdio.h>
#include <string.h>

#include <Zydis/Zydis.h>

static ZydisFormatter *formatter(enum as_syntax syntax, ZydisFormatter *f)
{
    ZydisFormatterInit(f, syntax == AS_SYNTAX_ATT ? ZYDIS_FORMATTER_STYLE_ATT
                                                  : ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(f, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
    return f;
}

int as_insn_format(const uint8_t *bytes, size_t size_b, uint64_t address, enum as_syntax syntax,
                   char *buf, size_t buf_b)
{
    ZydisDecoder decoder;
    ZydisFormatter f;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    char text[256];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!size_b ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size_b, &insn, operands)) ||
        !ZYAN_SUCCESS(ZydisFormatterFormatInstruction(formatter(syntax, &f), &insn, operands,
                                                      insn.operand_count_visible, text, sizeof text,
                                                      address, NULL)))
        snprintf(text, sizeof text, "(bad)");
    if (buf_b)
        snprintf(buf, buf_b, "%s", text);
    return (int)strlen(text) < (int)buf_b ? (int)strlen(text) : buf_b ? (int)buf_b - 1 : 0;
}
