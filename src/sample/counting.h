/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside counting: finds an event by name and returns its kernel code. Software events are in
 * counting.c. Hardware events come from libpfm4. Its header clashes with the kernel header, so only
 * pmu.c includes it.
 */
#ifndef AS_SAMPLE_COUNTING_H
#define AS_SAMPLE_COUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct as_event_code {
    uint32_t type;
    uint64_t config, config1, config2;
    bool exclude_user, exclude_kernel, exclude_hv;
};

/* Returns the code of `name` ("PMU::EVENT:MASK:MODIFIER" of libpfm4). Returns USAGE if there is no
 * such event; the sentence ends in the reason of libpfm4. */
int as_pmu_encode(const char *name, struct as_event_code *out, struct as_error *err);
/* Finds an event by any name that as_counting_open accepts. Sets `*known` to its name in the
 * kernel or in libpfm4. Returns 0 or USAGE. */
int as_counting_find(const char *name, struct as_event_code *out, const char **known,
                     struct as_error *err);
/* Calls `offer` with the name of each event of the performance counters of this machine. */
void as_pmu_names(void (*offer)(void *context, const char *name), void *context);

#endif
