/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens something for each thread of a running process. Threads that start after their parent's
 * event was opened inherit it. Repeated scans find threads that started before.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "sample/sampler.h"

struct tids {
    AS_VEC(pid_t) tid;
};

static bool has_tid(const struct tids *tids, pid_t tid)
{
    for (size_t i = 0; i < tids->tid.n; i++)
        if (tids->tid.at[i] == tid)
            return true;
    return false;
}

/* Opens the threads that are not open yet. Returns their number or a negative code. */
static int open_new(pid_t pid, struct tids *tids, as_sample_open *open_one, void *context,
                    struct as_error *err)
{
    char path[64];
    int found = 0, rc = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return as_sample_refused(err, pid, ESRCH);
    for (struct dirent *entry; rc == 0 && (entry = readdir(dir));) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || has_tid(tids, tid))
            continue;
        rc = as_vec_push(&tids->tid, tid) < 0 ? as_error_nomem(err, "threads") : 0;
        if (rc == 0)
            rc = open_one(context, tid, err);
        found++;
    }
    closedir(dir);
    return rc < 0 ? rc : found;
}

int as_sample_each_thread(pid_t pid, as_sample_open *open_one, void *context, struct as_error *err)
{
    struct tids tids = {0};
    int found;
    do
        found = open_new(pid, &tids, open_one, context, err);
    while (found > 0);
    as_vec_fini(&tids.tid);
    return found;
}

void as_sample_raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}
