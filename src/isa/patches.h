/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corrects and completes the decoder library's data of an instruction.
 */
#ifndef AS_ISA_PATCHES_H
#define AS_ISA_PATCHES_H

#include "isa/build.h"

/* Is the last step of as_form_build before operations are counted. */
void as_form_patch(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops,
                   struct as_form *f);

#endif
