/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of hardware events by libpfm4 for this CPU, as the vendors name them. A name with a code
 * may still not be countable here; perf_event_open decides.
 */
#include <perfmon/pfmlib_perf_event.h>

#include "sample/counting.h"

/* Initialises the library; repeated calls cost nothing. */
static bool ready(void)
{
    return pfm_initialize() == PFM_SUCCESS;
}

int as_pmu_encode(const char *name, struct as_event_code *out, struct as_error *err)
{
    struct perf_event_attr attr = {.size = sizeof attr};
    pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof arg, .cpu = -1};
    int rc = ready()
                 ? pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg)
                 : PFM_ERR_NOTSUPP;
    if (rc != PFM_SUCCESS)
        return as_error_set(err, AS_ERR_USAGE, "event '%s': not known here: %s", name,
                            pfm_strerror(rc));
    *out = (struct as_event_code){.type = attr.type,
                                  .config = attr.config,
                                  .config1 = attr.config1,
                                  .config2 = attr.config2,
                                  .exclude_user = attr.exclude_user,
                                  .exclude_kernel = attr.exclude_kernel,
                                  .exclude_hv = attr.exclude_hv};
    return 0;
}

void as_pmu_names(void (*offer)(void *context, const char *name), void *context)
{
    if (!ready())
        return;
    for (int pmu = PFM_PMU_NONE; pmu < PFM_PMU_MAX; pmu++) {
        pfm_pmu_info_t info = {.size = sizeof info};
        if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS || !info.is_present)
            continue;
        for (int i = info.first_event; i >= 0; i = pfm_get_event_next(i)) {
            pfm_event_info_t event = {.size = sizeof event};
            if (pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event) == PFM_SUCCESS)
                offer(context, event.name);
        }
    }
}
