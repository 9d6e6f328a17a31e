/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz entry: the first byte picks a load address, the rest is code. Every record must keep the
 * promises of src/isa/isa.h, and each instruction decoded alone must give the same record.
 * The golden and harness tests check that records are right.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "isa/internal.h"
#include "isa/isa.h"

static const uint64_t ADDRESS[] = {0x401000, 0, 0x7ffff7fc1003, 0xffffffff81000000, 0x7fffffff};

static bool reg_ok(unsigned reg)
{
    return reg < AS_REG_COUNT || reg == AS_REG_NONE;
}

static bool subset(struct as_regset a, struct as_regset b)
{
    return !(a.word[0] & ~b.word[0]) && !(a.word[1] & ~b.word[1]);
}

static void check_form(const struct as_insn *insn, const struct as_form *form)
{
    FUZZ_CHECK(form && form->mnemonic && form->mnemonic[0]);
    FUZZ_CHECK(form->insn_class < AS_CLASS_COUNT && form->isa < AS_ISA_COUNT);
    FUZZ_CHECK(form->element < AS_ELEMENT_COUNT && form->source_element < AS_ELEMENT_COUNT);
    FUZZ_CHECK(!(form->flags_undefined & ~form->flags_written));
    FUZZ_CHECK(!(form->flags_maybe & ~form->flags_written));
    FUZZ_CHECK(form->operands <= AS_OPERANDS_MAX);
    for (unsigned i = 0; i < form->operands; i++) {
        const struct as_operand *operand = &form->operand[i];
        FUZZ_CHECK(operand->kind != AS_OPERAND_NONE && operand->kind <= AS_OPERAND_ADDRESS);
        if (operand->kind == AS_OPERAND_REG)
            FUZZ_CHECK(operand->slot < 4 && insn->reg[operand->slot] < AS_REG_COUNT);
        if (operand->kind == AS_OPERAND_MEM || operand->kind == AS_OPERAND_ADDRESS)
            FUZZ_CHECK(insn->bits & AS_INSN_MEM);
    }
}

static void check_record(const struct as_insn *insn)
{
    bool invalid = insn->bits & AS_INSN_INVALID;
    FUZZ_CHECK(insn->form < as_form_count());
    const struct as_form *form = as_form_get(insn->form);
    check_form(insn, form);
    FUZZ_CHECK(invalid == (form->insn_class == AS_CLASS_INVALID));
    FUZZ_CHECK(insn->length >= 1 && insn->length <= 15);
    FUZZ_CHECK(!invalid || insn->length == 1);
    for (int i = 0; i < 4; i++)
        FUZZ_CHECK(reg_ok(insn->reg[i]));
    FUZZ_CHECK(reg_ok(insn->base) && reg_ok(insn->index) && reg_ok(insn->segment));
    FUZZ_CHECK(insn->scale == 0 || insn->scale == 1 || insn->scale == 2 || insn->scale == 4 ||
               insn->scale == 8);
    FUZZ_CHECK((insn->index == AS_REG_NONE) == (insn->scale == 0));
    FUZZ_CHECK(insn->mask == AS_REG_NONE ||
               (insn->mask > AS_REG_MASK && insn->mask < AS_REG_MASK + 8));
    FUZZ_CHECK(!(insn->high & ~15u));
}

static void check_effects(const struct as_code *code, size_t i)
{
    const struct as_insn *insn = &code->insn[i];
    const struct as_form *form = as_form_get(insn->form);
    struct as_effects effects;
    as_insn_effects(insn, &effects);
    FUZZ_CHECK(subset(effects.merged, effects.written));
    FUZZ_CHECK(subset(effects.cleared, effects.written));
    FUZZ_CHECK(subset(form->implicit_write, effects.written));
    FUZZ_CHECK(!(effects.flags_undefined & ~effects.flags_written));
    FUZZ_CHECK(!(effects.flags_maybe & ~effects.flags_written));

    struct as_memory memory[2];
    int n = as_insn_memory(code, insn, memory);
    FUZZ_CHECK(n >= 0 && n <= 2);
    for (int k = 0; k < n; k++) {
        /* Prefetches and cache control name a line that they neither read nor write. */
        FUZZ_CHECK(memory[k].access & (AS_ACCESS_READ | AS_ACCESS_WRITE) ||
                   form->insn_class == AS_CLASS_PREFETCH || form->insn_class == AS_CLASS_CACHE ||
                   form->insn_class == AS_CLASS_SYSTEM);
        FUZZ_CHECK(reg_ok(memory[k].base) && reg_ok(memory[k].index) && reg_ok(memory[k].segment));
    }
    uint64_t target = 0;
    if (as_insn_target(insn, &target))
        FUZZ_CHECK(form->insn_class == AS_CLASS_CALL || form->insn_class == AS_CLASS_JUMP ||
                   form->insn_class == AS_CLASS_BRANCH);
    as_insn_memory_address(insn, &target);
}

/* Decoded alone, an instruction gives the same record; a bad byte stays one. */
static void check_alone(const struct as_code *code, size_t i, const uint8_t *bytes)
{
    const struct as_insn *insn = &code->insn[i];
    struct as_error err = {0};
    struct as_code alone;
    FUZZ_CHECK(as_decode(bytes, insn->length, insn->address, &alone, &err) == 0);
    FUZZ_CHECK(alone.n == 1 && alone.invalid_n == (insn->bits & AS_INSN_INVALID ? 1 : 0));
    FUZZ_CHECK(!memcmp(alone.insn, insn, sizeof *insn));
    FUZZ_CHECK(as_code_imm(&alone, 0) == as_code_imm(code, i));
    FUZZ_CHECK(as_code_disp(&alone, 0) == as_code_disp(code, i));
    as_code_free(&alone);
}

/* The quick path must say what the reference decoder says of the same bytes. */
static void check_reference(const struct as_insn *insn, const uint8_t *bytes, size_t left)
{
    struct as_decoded reference;
    FUZZ_CHECK(as_reference_decode(bytes, left, insn->address, false, &reference) == 0);
    FUZZ_CHECK(!memcmp(&reference.insn, insn, sizeof *insn));
}

static void check_text(const struct as_insn *insn, const uint8_t *bytes)
{
    const struct as_form *form = as_form_get(insn->form);
    char text[256];
    for (int syntax = AS_SYNTAX_INTEL; syntax <= AS_SYNTAX_ATT; syntax++) {
        int length = as_insn_format(bytes, insn->length, insn->address, (enum as_syntax)syntax,
                                    text, sizeof text);
        FUZZ_CHECK(length > 0 && (size_t)length < sizeof text);
        FUZZ_CHECK(strlen(text) == (size_t)length);
        /* Both syntaxes name most instructions alike; Intel's is the name in the form. */
        if (syntax == AS_SYNTAX_INTEL && !(insn->bits & AS_INSN_INVALID))
            FUZZ_CHECK(strstr(text, form->mnemonic));
        char tight[4];
        as_insn_format(bytes, insn->length, insn->address, (enum as_syntax)syntax, tight,
                       sizeof tight);
        FUZZ_CHECK(memchr(tight, 0, sizeof tight));
    }
}

static void check_code(const struct as_code *code, const uint8_t *bytes, size_t size_b,
                       uint64_t address)
{
    FUZZ_CHECK(code->start == address && code->end == address + size_b);
    uint64_t at = address;
    size_t invalid = 0;
    for (size_t i = 0; i < code->n; i++) {
        const struct as_insn *insn = &code->insn[i];
        const uint8_t *here = bytes + (at - address);
        as_insn_format(here, address + size_b - at, at, AS_SYNTAX_INTEL, fuzz_context,
                       sizeof fuzz_context);
        FUZZ_CHECK(insn->address == at && insn->length <= address + size_b - at);
        check_record(insn);
        check_effects(code, i);
        check_alone(code, i, here);
        check_reference(insn, here, address + size_b - at);
        check_text(insn, here);
        FUZZ_CHECK(as_code_find(code, at) == i);
        FUZZ_CHECK(as_code_find(code, at + insn->length - 1) == i);
        invalid += insn->bits & AS_INSN_INVALID ? 1 : 0;
        at += insn->length;
    }
    FUZZ_CHECK(at == address + size_b && invalid == code->invalid_n);
    FUZZ_CHECK(as_code_find(code, at) == SIZE_MAX);
    FUZZ_CHECK(as_code_find(code, address - 1) == SIZE_MAX);
    for (size_t i = 0; i < code->wide_n; i++) {
        FUZZ_CHECK(code->wide[i].index < code->n);
        FUZZ_CHECK(code->insn[code->wide[i].index].bits & AS_INSN_IMM64);
        FUZZ_CHECK(i == 0 || code->wide[i - 1].index < code->wide[i].index);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_b)
{
    if (size_b == 0)
        return 0;
    uint64_t address = ADDRESS[bytes[0] % (sizeof ADDRESS / sizeof ADDRESS[0])];
    bytes++;
    size_b--;
    struct as_error err = {0};
    struct as_code code;
    FUZZ_CHECK(as_decode(bytes, size_b, address, &code, &err) == 0);
    check_code(&code, bytes, size_b, address);
    as_code_free(&code);
    return 0;
}
