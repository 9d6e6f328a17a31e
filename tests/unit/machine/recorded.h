/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded machine: a directory with files as the kernel shows them.
 */
#ifndef AS_TESTS_RECORDED_H
#define AS_TESTS_RECORDED_H

#include "unit.h"

#include <ftw.h>
#include <sys/stat.h>

static char root[64];

static inline int set_up(void **state)
{
    (void)state;
    strcpy(root, "/tmp/assay-machine-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static inline int drop(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline int tear_down(void **state)
{
    (void)state;
    return nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

static inline void put(const char *path, const char *text)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(full, 0777);
        *at = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

__attribute__((format(printf, 3, 4))) static inline void put_cpu(unsigned cpu, const char *name,
                                                                 const char *format, ...)
{
    char path[256], text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/%s", cpu, name);
    put(path, text);
}

/* Writes `cpus` CPUs, two per core, in two packages. */
static inline void put_processors(unsigned cpus)
{
    const unsigned half = cpus / 2, all = (1u << half) - 1;
    char list[32];

    snprintf(list, sizeof list, "0-%u\n", cpus - 1);
    put("/sys/devices/system/cpu/online", list);
    put("/sys/devices/system/cpu/possible", list);
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        put_cpu(cpu, "topology/physical_package_id", "%u\n", cpu / half);
        put_cpu(cpu, "topology/core_id", "%u\n", cpu / 2);
        put_cpu(cpu, "topology/core_cpus", "%x\n", 3u << (cpu & ~1u));
        put_cpu(cpu, "topology/package_cpus", "%x\n", all << (cpu / half * half));
    }
}

#endif
