/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from data/machine/microarchitectures.txt by tools/gen-microarchitectures.py. */
#ifndef AS_MACHINE_MICROARCHITECTURES_H
#define AS_MACHINE_MICROARCHITECTURES_H

#include <stddef.h>
#include <stdint.h>

struct as_microarchitecture {
    const char *vendor;
    uint16_t family, model_first, model_last, stepping_first, stepping_last;
    const char *name, *words;
};

extern const struct as_microarchitecture as_microarchitectures[]; /* the first match counts */
extern const size_t as_microarchitecture_n;

#endif
