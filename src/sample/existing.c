/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that runs already when sampling begins: what the kernel would have said of it, read
 * from /proc. What ends while it is read is left out.
 */
#include <dirent.h>
#include <inttypes.h>
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

static int tell_threads(pid_t pid, uint64_t time_ns, assay_sample_sink *sink, void *context,
                        struct assay_error *err)
{
    char path[64], name[64];
    int rc = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && rc == 0 && (entry = readdir(dir));) {
        int tid = atoi(entry->d_name);
        if (tid <= 0)
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, tid);
        read_line(path, name, sizeof name);
        struct assay_sample_record record = {.kind = ASSAY_SAMPLE_FORK,
                                             .pid = (uint32_t)pid,
                                             .tid = (uint32_t)tid,
                                             .parent_pid = (uint32_t)pid,
                                             .parent_tid = (uint32_t)pid,
                                             .time_ns = time_ns};
        if (tid != pid)
            rc = sink(context, &record, err);
        record.kind = ASSAY_SAMPLE_COMM;
        record.text = name;
        if (rc == 0)
            rc = sink(context, &record, err);
    }
    if (dir)
        closedir(dir);
    return rc;
}

/* One line of maps; false when it is not of code. */
static bool parse_line(char *line, struct assay_sample_record *out)
{
    uint64_t end;
    char rights[8];
    int used = 0;
    if (sscanf(line,
               "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %" SCNx32 ":%" SCNx32 " %" SCNu64 "%n",
               &out->address, &end, rights, &out->offset, &out->device_major, &out->device_minor,
               &out->inode, &used) != 7)
        return false;
    out->size_b = end - out->address;
    line[strcspn(line, "\n")] = 0;
    out->text = line + used + strspn(line + used, " ");
    if (out->text[0] == 0)
        out->text = "//anon"; /* as the kernel's records have it */
    return rights[2] == 'x';
}

int as_sample_existing(pid_t pid, uint64_t time_ns, assay_sample_sink *sink, void *context,
                       struct assay_error *err)
{
    char path[64], line[4096 + 128];
    int rc = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && rc == 0 && fgets(line, sizeof line, f)) {
        struct assay_sample_record record = {.kind = ASSAY_SAMPLE_MAP,
                                             .pid = (uint32_t)pid,
                                             .tid = (uint32_t)pid,
                                             .time_ns = time_ns};
        if (parse_line(line, &record))
            rc = sink(context, &record, err);
    }
    if (f)
        fclose(f);
    return rc < 0 ? rc : tell_threads(pid, time_ns, sink, context, err);
}
