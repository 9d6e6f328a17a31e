/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that registers have in many samples of an instruction. The stride of a walk through memory
 * is often such a value (doc/internals/sample.md).
 */
#ifndef AS_SAMPLE_VALUES_H
#define AS_SAMPLE_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum {
    AS_VALUES_REGISTERS = 16,
    AS_VALUES_MOST = 4,
    /* Min samples of an instruction; with fewer only draws are written (draws.h) */
    AS_VALUES_SAMPLES_LEAST = 3,
    AS_VALUES_TEXT_B = 2048
};

/* Registers by DWARF number. A zeroed struct is empty. */
struct as_register_values {
    uint64_t value[AS_VALUES_REGISTERS][AS_VALUES_MOST];
    /* Lower bound of the samples with this value; 0: free slot. */
    uint32_t n[AS_VALUES_REGISTERS][AS_VALUES_MOST];
    uint32_t sample_n;
};

void as_values_add(struct as_register_values *values, const uint64_t *regs);

/*
 * Writes "SAMPLES REGISTER:VALUE:SAMPLES ..." with hexadecimal values to `out` (AS_VALUES_TEXT_B
 * bytes). Writes values that at least two samples and a tenth of the samples have. The stack
 * pointer is left out. Returns the number of values.
 */
unsigned as_values_text(const struct as_register_values *values, char *out);

#endif
