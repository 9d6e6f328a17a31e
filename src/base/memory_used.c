/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_used.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool as_memory_used(struct as_memory_used *out)
{
    char text[128];
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return false;
    const bool is_read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    if (!is_read)
        return false;
    char *end;
    const uint64_t page_b = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t mapped_n = strtoull(text, &end, 10), resident_n = strtoull(end, NULL, 10);
    *out =
        (struct as_memory_used){.mapped_b = mapped_n * page_b, .resident_b = resident_n * page_b};
    return mapped_n > 0 && resident_n > 0;
}
