/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside counting: an event as the kernel wants it, found by name. Software events are the kernel's
 * and in counting.c; those of the processor are libpfm4's, whose header clashes with the kernel's
 * and is therefore seen by pmu.c alone.
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

/* The code of `name` ("PMU::EVENT:MASK:MODIFIER" of libpfm4). USAGE, with a sentence that ends in
 * libpfm4's reason, when it is no such name. */
int as_pmu_encode(const char *name, struct as_event_code *out, struct assay_error *err);
/* Returns the code of an event by any name that assay_counting_open knows. `known`: its name in the
 * kernel or libpfm4. Errors: USAGE. */
int as_counting_find(const char *name, struct as_event_code *out, const char **known,
                     struct assay_error *err);
/* Calls `offer` with the name of every event of the counters that this machine shows. */
void as_pmu_names(void (*offer)(void *context, const char *name), void *context);

#endif
