/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a process that runs before sampling begins, from /proc, as the kernel would have
 * recorded it. Threads that end meanwhile are left out.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/sampler.h"

static void read_line(const char *path, char *line, size_t n)
{
    FILE *f = fopen(path, "re");
    line[0] = 0;
    if (!f)
        return;
    if (fgets(line, (int)n, f))
        line[strcspn(line, "\n")] = 0;
    fclose(f);
}

static int emit_existing_threads(pid_t pid, uint64_t time_ns, as_sample_sink *sink, void *context,
                                 struct as_error *err)
{
    char path[64], name[64];
    int rc = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && rc == 0 && (entry = readdir(dir));) {
        int tid = (int)strtol(entry->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, tid);
        read_line(path, name, sizeof name);
        struct as_sample_record record = {.kind = AS_SAMPLE_FORK,
                                          .pid = (uint32_t)pid,
                                          .tid = (uint32_t)tid,
                                          .parent_pid = (uint32_t)pid,
                                          .parent_tid = (uint32_t)pid,
                                          .time_ns = time_ns};
        if (tid != pid)
            rc = sink(context, &record, err);
        record.kind = AS_SAMPLE_COMM;
        record.text = name;
        if (rc == 0)
            rc = sink(context, &record, err);
    }
    if (dir)
        closedir(dir);
    return rc;
}

/* Parses the number in `base` at `*at` and moves `*at` behind the next character. */
static uint64_t number(char **at, int base)
{
    uint64_t value = strtoull(*at, at, base);
    if (**at)
        ++*at;
    return value;
}

/* Parses "START-END RIGHTS OFFSET MAJOR:MINOR INODE PATH". Returns false if the line is not a
 * mapping of code. */
bool as_sample_map_line(char *line, struct as_sample_record *out)
{
    line[strcspn(line, "\n")] = 0;
    char *at = line;
    out->address = number(&at, 16);
    out->size_b = number(&at, 16) - out->address;
    if (strlen(at) < 5 || at[2] != 'x')
        return false;
    at += 5;
    out->offset = number(&at, 16);
    out->device_major = (uint32_t)number(&at, 16);
    out->device_minor = (uint32_t)number(&at, 16);
    out->inode = number(&at, 10);
    out->text = at + strspn(at, " ");
    if (out->text[0] == 0)
        out->text = "//anon"; /* as in records of the kernel */
    return true;
}

int as_sample_existing(pid_t pid, uint64_t time_ns, as_sample_sink *sink, void *context,
                       struct as_error *err)
{
    char path[64], line[4096 + 128];
    int rc = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && rc == 0 && fgets(line, sizeof line, f)) {
        struct as_sample_record record = {
            .kind = AS_SAMPLE_MAP, .pid = (uint32_t)pid, .tid = (uint32_t)pid, .time_ns = time_ns};
        if (as_sample_map_line(line, &record))
            rc = sink(context, &record, err);
    }
    if (f)
        fclose(f);
    return rc < 0 ? rc : emit_existing_threads(pid, time_ns, sink, context, err);
}
