/* SPDX-License-Identifier: Apache-2.0 */
/* Generated from data/machine/features.txt by tools/gen-cpu-features.py. */
#ifndef AS_MACHINE_CPU_FEATURES_H
#define AS_MACHINE_CPU_FEATURES_H

#include <stddef.h>
#include <stdint.h>

struct as_cpu_feature {
    const char *name;
    uint32_t leaf;
    uint8_t subleaf, reg, bit; /* reg: 0 to 3 for eax, ebx, ecx, edx */
};

extern const struct as_cpu_feature as_cpu_features[]; /* feature i is bit i of a feature set */
extern const size_t as_cpu_feature_n;

enum { AS_CACHE_L1I, AS_CACHE_L1D, AS_CACHE_L2, AS_CPU_CACHES };

struct as_cpu_core {
    const char *name;               /* a name in data/machine/microarchitectures.txt */
    uint16_t kib[AS_CPU_CACHES][3]; /* possible sizes in KiB, padded with 0; all 0: any size */
    uint64_t features;              /* every feature that a CPU of this core may show */
};

extern const struct as_cpu_core as_cpu_cores[]; /* sorted from old to new */
extern const size_t as_cpu_core_n;

#endif
