/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run loop as the profile's: drive FILE COMMAND... starts the command, follows it and ends as it
 * did; its outcome goes to FILE. Before, it changes for itself what a tool may.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launch/launch.h"

static void change_settings(void)
{
    struct rlimit limit;
    sigset_t one;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    sigemptyset(&one);
    sigaddset(&one, SIGWINCH);
    sigprocmask(SIG_BLOCK, &one, NULL);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (open("/dev/null", O_RDONLY | O_CLOEXEC) < 0)
        exit(126);
}

static int say(const char *path, const struct as_launch_outcome *o)
{
    FILE *f = fopen(path, "we");
    if (!f)
        return 126;
    fprintf(f, "exited %d %d signalled %d %d interrupted %d interrupts %u left %d\n", o->exited,
            o->exit_code, o->signalled, o->exit_signal, o->interrupted, o->interrupts, o->left);
    if (fclose(f) != 0)
        return 126;
    return o->signalled ? 128 + o->exit_signal : o->exit_code; /* as a shell has it */
}

int main(int argc, char **argv)
{
    struct as_error err = {0};
    struct as_launch_plan *plan = NULL;
    struct as_launch *launch = NULL;
    int rc = argc < 3 ? -1 : 0;
    change_settings();
    if (rc == 0)
        rc = as_launch_plan((const char *const *)(argv + 2), &plan, &err);
    if (rc == 0)
        rc = as_launch_start(plan, NULL, &launch, &err);
    if (rc == 0)
        rc = as_launch_go(launch, &err);
    while (rc == 0 && (rc = as_launch_step(launch, &err)) == 1) {
        struct pollfd one = {.fd = as_launch_fd(launch), .events = POLLIN};
        poll(&one, 1, 1000);
        rc = 0;
    }
    if (rc < 0) {
        fprintf(stderr, "drive: %s\n", err.text);
        return 125;
    }
    rc = say(argv[1], as_launch_outcome(launch));
    as_launch_close(&launch);
    as_launch_plan_free(&plan);
    return rc;
}
