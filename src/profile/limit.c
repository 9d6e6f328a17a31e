/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kills a process tree from its leaves, because the children of a launcher or a shell would survive
 * it. proc(5) lists the children of each thread. The recording repeats the kill until the command
 * has ended, which catches new processes.
 */
#include "profile/limit.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MOST 64

static void kill_tree(pid_t pid, int depth);

static void kill_children(pid_t pid, const char *thread, int depth)
{
    char path[320], child[24];

    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, thread);
    FILE *file = fopen(path, "re");
    while (file && fscanf(file, "%23s", child) == 1)
        kill_tree((pid_t)strtol(child, NULL, 10), depth + 1);
    if (file)
        fclose(file);
}

static void kill_tree(pid_t pid, int depth)
{
    char path[64];
    const struct dirent *it;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *threads = depth < DEPTH_MOST ? opendir(path) : NULL;
    while (threads && (it = readdir(threads)))
        if (it->d_name[0] != '.')
            kill_children(pid, it->d_name, depth);
    if (threads)
        closedir(threads);
    (void)kill(pid, SIGKILL);
}

void as_limit_kill(pid_t pid)
{
    kill_tree(pid, 0);
}
