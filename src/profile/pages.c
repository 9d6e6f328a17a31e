/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the bytes of the line "KEY:   N kB"; 0 if there is none. */
static uint64_t rollup_bytes(const char *text, const char *key)
{
    const size_t key_n = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, key_n) == 0 && line[key_n] == ':')
            return strtoull(line + key_n + 1, NULL, 10) * 1024;
    }
    return 0;
}

bool as_process_pages_parse(const char *text, struct as_process_pages *sum)
{
    /* "Anonymous" does not include memory of hugetlbfs. */
    const uint64_t reserved_b =
        rollup_bytes(text, "Private_Hugetlb") + rollup_bytes(text, "Shared_Hugetlb");
    const uint64_t anonymous_b = rollup_bytes(text, "Anonymous");
    sum->memory_b += anonymous_b + reserved_b;
    sum->huge_b += rollup_bytes(text, "AnonHugePages") + reserved_b;
    return anonymous_b + reserved_b > 0;
}

bool as_process_pages_add(uint32_t pid, struct as_process_pages *sum)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/smaps_rollup", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return as_process_pages_parse(text, sum);
}
