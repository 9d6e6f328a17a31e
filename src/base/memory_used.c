/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_used.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

bool as_memory_used(struct as_memory_used *out)
{
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return false;
    uint64_t mapped_n, resident_n;
    const bool is_read = fscanf(file, "%" SCNu64 " %" SCNu64, &mapped_n, &resident_n) == 2;
    fclose(file);
    if (!is_read)
        return false;
    const uint64_t page_b = (uint64_t)sysconf(_SC_PAGESIZE);
    *out =
        (struct as_memory_used){.mapped_b = mapped_n * page_b, .resident_b = resident_n * page_b};
    return true;
}
