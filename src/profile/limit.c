/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes killed from the leaves: what a launcher or a shell started would live on without it.
 * proc(5): children of each thread of a process. A process that is begun meanwhile is found when
 * this is done again, for the recording goes on until the command has ended.
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
