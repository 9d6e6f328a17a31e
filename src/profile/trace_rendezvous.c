/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/trace_rendezvous.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/shared/trace_part.h"
#include "launch/launch.h"

/* The ranks of one machine have one clock: nobody meets. Where launchers do not say how many these
 * are, that is found out by meeting. */
void as_trace_rendezvous_prepare(struct as_trace_rendezvous *rendezvous,
                                 struct as_tracer_part *part)
{
    struct as_job_rank rank;
    *rendezvous = (struct as_trace_rendezvous){0};
    if (!as_launch_rank_of_self(&rank) || rank.size < 2 || rank.rank >= rank.size ||
        rank.size > AS_RENDEZVOUS_RANKS_MOST || rank.local_size == rank.size ||
        !as_launch_job_of_self(&rank, &rendezvous->job))
        return;
    rendezvous->rank = (uint32_t)rank.rank;
    part->rank = (uint32_t)rank.rank;
    part->size = (uint32_t)rank.size;
    part->meeting =
        rank.rank == 0 || rank.local_rank <= 0 ? AS_RENDEZVOUS_SPEAKS : AS_RENDEZVOUS_PRESENT;
}

/* DIRECTORY/NAME.assay/run-001: beside NAME.assay. */
static int find_beside(const char *run_directory, uint64_t job, char out[PATH_MAX])
{
    char path[PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/../..", run_directory);
    char *real = realpath(path, NULL);
    const int n = real ? snprintf(out, PATH_MAX, "%s/.assay-clocks-%016" PRIx64, real, job) : -1;
    free(real);
    if (n > 0 && n < (int)AS_RENDEZVOUS_PATH_B)
        return 0;
    out[0] = 0;
    return -1;
}

void as_trace_rendezvous_start(struct as_trace_rendezvous *rendezvous, struct as_tracer_part *part,
                               const char *agent_directory, const char *run_directory)
{
    if (part->meeting == AS_RENDEZVOUS_NONE)
        return;
    snprintf(rendezvous->link, sizeof rendezvous->link, "%s/" AS_TRACER_MEETING, agent_directory);
    if (find_beside(run_directory, rendezvous->job, rendezvous->directory) == 0 &&
        symlink(rendezvous->directory, rendezvous->link) == 0)
        return;
    part->meeting = AS_RENDEZVOUS_NONE;
    rendezvous->link[0] = rendezvous->directory[0] = 0;
}

/* Of "rank.HEX" the ranks that are said to be here; an empty one was only looked for. */
static void clear_directory(const struct as_trace_rendezvous *rendezvous, DIR *dir)
{
    struct stat status;
    size_t here_n = 0;
    for (struct dirent *it; (it = readdir(dir));) {
        if (strncmp(it->d_name, "rank.", 5) != 0)
            continue;
        const uint64_t rank = strtoull(it->d_name + 5, NULL, 16);
        here_n += rank != rendezvous->rank &&
                  fstatat(dirfd(dir), it->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                  status.st_size > 0;
    }
    rewinddir(dir);
    for (struct dirent *it; (it = readdir(dir));) {
        const bool is_own = strncmp(it->d_name, "rank.", 5) == 0 &&
                            strtoull(it->d_name + 5, NULL, 16) == rendezvous->rank;
        if (it->d_name[0] != '.' && (is_own || here_n == 0))
            (void)unlinkat(dirfd(dir), it->d_name, 0);
    }
}

void as_trace_rendezvous_end(struct as_trace_rendezvous *rendezvous)
{
    if (rendezvous->link[0])
        unlink(rendezvous->link);
    DIR *dir = rendezvous->directory[0] ? opendir(rendezvous->directory) : NULL;
    if (dir) {
        clear_directory(rendezvous, dir);
        closedir(dir);
        (void)rmdir(rendezvous->directory); /* while others are here it stays */
    }
    rendezvous->link[0] = rendezvous->directory[0] = 0;
}
