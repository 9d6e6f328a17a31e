/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the text of CPUs and their NUMA nodes.
 */
#include "profile/numa.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define CPUS_MOST 8192u

bool as_numa_write(const struct as_host *host, char *out, size_t out_b)
{
    size_t n = 0;
    out[0] = 0;
    for (unsigned first = 0, next; first < CPUS_MOST && n < out_b; first = next) {
        const int node = as_host_numa_of(host, first);
        for (next = first + 1; next < CPUS_MOST; next++)
            if (as_host_numa_of(host, next) != node)
                break;
        if (node >= 0)
            n += (size_t)snprintf(out + n, out_b - n, "%s%u-%u=%d", n ? "," : "", first, next - 1,
                                  node);
    }
    if (n >= out_b)
        out[0] = 0;
    return out[0] != 0;
}

/* Reads "FIRST-LAST=NODE" at `text`. Returns the text after it, or NULL if it is invalid. */
static const char *read_node_run(const char *text, unsigned long run[3])
{
    static const char behind[] = "-=";
    char *end;
    for (int i = 0; i < 3; i++) {
        if (*text < '0' || *text > '9')
            return NULL;
        run[i] = strtoul(text, &end, 10);
        if (i < 2 && *end != behind[i])
            return NULL;
        text = end + (i < 2);
    }
    return text + (*text == ',');
}

int as_numa_read(struct as_numa *numa, const char *text)
{
    unsigned long run[3];
    while ((text = read_node_run(text, run)) != NULL) {
        if (run[0] > run[1] || run[1] >= CPUS_MOST || run[2] > INT16_MAX)
            return 0;
        while (numa->node.n <= run[1])
            AS_TRY(as_vec_push(&numa->node, -1));
        for (unsigned long cpu = run[0]; cpu <= run[1]; cpu++)
            numa->node.at[cpu] = (int16_t)run[2];
    }
    return 0;
}

int as_numa_of(const struct as_numa *numa, uint32_t cpu)
{
    return cpu < numa->node.n ? numa->node.at[cpu] : -1;
}
