/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this process may count cycles in hardware, and the exact reason why not.
 */
#ifndef AS_MACHINE_PMU_H
#define AS_MACHINE_PMU_H

#include <stddef.h>

/* Asks the kernel for a counter of cycles of this process; 0 or what errno then was. */
int as_pmu_try(void);

/* The answer in words. `paranoid` is /proc/sys/kernel/perf_event_paranoid, -99 unknown;
 * `hypervisor` NULL on bare metal; `counters` of cpuid, 0 unknown. */
void as_pmu_words(int answer, int paranoid, const char *hypervisor, unsigned counters, char *out,
                  size_t out_b);

/* General counters by cpuid leaf 0xa (Intel) or 0x80000022 (AMD); 0: not said. */
unsigned as_pmu_counters(void);

#endif
