/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that registers hold in many samples of an instruction. The stride of a walk is often in
 * one of them (doc/internals/sample.md).
 */
#ifndef AS_SAMPLE_VALUES_H
#define AS_SAMPLE_VALUES_H

#include <stddef.h>
#include <stdint.h>

enum {
    AS_VALUES_REGISTERS = 16,
    AS_VALUES_MOST = 4,
    AS_VALUES_SAMPLES_LEAST = 3, /* of an instruction; fewer have draws alone (draws.h) */
    AS_VALUES_TEXT_B = 2048
};

/* Registers by the numbers of DWARF. All zero: no sample yet. */
struct as_register_values {
    uint64_t value[AS_VALUES_REGISTERS][AS_VALUES_MOST];
    uint32_t n[AS_VALUES_REGISTERS][AS_VALUES_MOST]; /* samples with it, at least; 0: free */
    uint32_t sample_n;
};

void as_values_add(struct as_register_values *values, const uint64_t *regs);

/*
 * "SAMPLES REGISTER:VALUE:SAMPLES ...", values in hexadecimal digits: those that at least a tenth
 * of the samples have, and at least two. The stack pointer is left out. `out` has AS_VALUES_TEXT_B
 * bytes. Returns the number of values.
 */
unsigned as_values_text(const struct as_register_values *values, char *out);

#endif
