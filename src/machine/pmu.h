/* SPDX-License-Identifier: Apache-2.0 */
/* Tests if this process may count cycles in hardware, and names the reason if it may not. */
#ifndef AS_MACHINE_PMU_H
#define AS_MACHINE_PMU_H

#include <stddef.h>

/* Opens a cycle counter of this process. Returns 0, or the errno of the failure. */
int as_pmu_try(void);

/* Writes the result of as_pmu_try as words. `paranoid` is the value of
 * /proc/sys/kernel/perf_event_paranoid, or -99 if unknown. `hypervisor` is NULL on bare metal.
 * `counters` comes from as_pmu_counters. */
void as_pmu_words(int answer, int paranoid, const char *hypervisor, unsigned counters, char *out,
                  size_t out_b);

/* Returns the number of general counters, or 0 if cpuid does not report it. Intel: leaf 0xa;
 * AMD: leaf 0x80000022. */
unsigned as_pmu_counters(void);

#endif
