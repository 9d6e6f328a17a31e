/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for the facts of one instruction: register sets, flags, memory operands, elements.
 */
#ifndef AS_CLI_INSN_WORDS_H
#define AS_CLI_INSN_WORDS_H

#include "base/str.h"
#include "isa/isa.h"

/* Each appends words separated by `separator`; nothing for an empty set. */
void as_words_registers(struct as_str *out, struct as_regset set, char separator);
void as_words_flags(struct as_str *out, unsigned flags, char separator);
/* "load 32 [rax+rcx*8+0x10]", "store ...", one word a memory operand. */
void as_words_memory(struct as_str *out, const struct as_code *code, const struct as_insn *insn,
                     char separator);
/* "f64", "int", ...; NULL for none. */
const char *as_element_word(unsigned element);

#endif
