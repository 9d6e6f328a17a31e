/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the running benchmark, from /proc.
 */
#ifndef TESTS_BENCH_STATUS_H
#define TESTS_BENCH_STATUS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field of /proc/self/status in KiB; 0 when it is not there. */
static inline long bench_status_kib(const char *field)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
            kib = atol(line + strlen(field) + 1);
    if (file)
        fclose(file);
    return kib;
}

#endif
