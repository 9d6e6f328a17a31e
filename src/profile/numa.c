/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing and reading the text of processors and their NUMA nodes.
 */
#include "profile/numa.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define CPUS_MOST 8192u

bool as_numa_write(const struct assay_host *host, char *out, size_t out_b)
{
    size_t n = 0;
    out[0] = 0;
    for (unsigned first = 0, next; first < CPUS_MOST && n < out_b; first = next) {
        const int node = assay_host_numa_of(host, first);
        for (next = first + 1; next < CPUS_MOST; next++)
            if (assay_host_numa_of(host, next) != node)
                break;
        if (node >= 0)
            n += (size_t)snprintf(out + n, out_b - n, "%s%u-%u=%d", n ? "," : "", first, next - 1,
                                  node);
    }
    if (n >= out_b)
        out[0] = 0;
    return out[0] != 0;
}

int as_numa_read(struct as_numa *numa, const char *text)
{
    unsigned first, last;
    int node, used;
    while (sscanf(text, "%u-%u=%d%n", &first, &last, &node, &used) == 3) {
        if (first > last || last >= CPUS_MOST || node < 0 || node > INT16_MAX)
            return 0;
        while (numa->node.n <= last)
            AS_TRY(as_vec_push(&numa->node, -1));
        for (unsigned cpu = first; cpu <= last; cpu++)
            numa->node.at[cpu] = (int16_t)node;
        text += used;
        text += *text == ',';
    }
    return 0;
}

int as_numa_of(const struct as_numa *numa, uint32_t cpu)
{
    return cpu < numa->node.n ? numa->node.at[cpu] : -1;
}
