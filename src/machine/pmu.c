/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the kernel instead of guessing. A virtual machine, a container and a kernel setting refuse
 * counters with different errors (perf_event_open(2)).
 */
#include "machine/pmu.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int as_pmu_try(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_HW_CPU_CYCLES,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    const long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd < 0)
        return errno;
    close((int)fd);
    return 0;
}

void as_pmu_words(int answer, int paranoid, const char *hypervisor, unsigned counters, char *out,
                  size_t out_b)
{
    switch (answer) {
    case 0:
        if (counters)
            snprintf(out, out_b, "available, %u general counters", counters);
        else
            snprintf(out, out_b, "available");
        return;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        if (hypervisor)
            snprintf(out, out_b, "none: the hypervisor (%s) does not provide counters", hypervisor);
        else
            snprintf(out, out_b, "none: the kernel does not support the counters of this CPU");
        return;
    case EACCES:
    case EPERM:
        if (paranoid > 2)
            snprintf(out, out_b, "refused: kernel.perf_event_paranoid is %d", paranoid);
        else
            snprintf(out, out_b, "refused: a container or a security module forbids perf events");
        return;
    case ENOSYS:
        snprintf(out, out_b, "none: the kernel has no perf events, or a filter hides them");
        return;
    case EBUSY:
        snprintf(out, out_b, "busy: another program uses the counters");
        return;
    default:
        snprintf(out, out_b, "none: %s", strerror(answer));
    }
}

unsigned as_pmu_counters(void)
{
    unsigned a, b, c, d;

    if (__get_cpuid(0xa, &a, &b, &c, &d) && (a & 0xff))
        return a >> 8 & 0xff;
    if ((unsigned)__get_cpuid_max(0x80000000, NULL) >= 0x80000022) {
        __cpuid_count(0x80000022, 0, a, b, c, d);
        return b & 0xf;
    }
    return 0;
}
