/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that reports its environment, or behaves as hard as programs do:
 *
 * - report FILE       directory, group, signals, limits, descriptors, environment, into FILE
 * - rank STEM         its rank by as_launch_rank_of_process, into STEM.RANK
 * - count FILE        counts SIGINT until SIGTERM ends it (status 42), into FILE
 * - wait              waits for a signal, and changes nothing
 * - bare              closes all descriptors, clears its environment, leaves its directory, then
 *                     ends with status 6
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/launch.h"

static void say_signals(FILE *f)
{
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        const int known = sigaction(i, NULL, &action) == 0;
        fprintf(f, "signal %d%s%s\n", i, sigismember(&mask, i) == 1 ? " blocked" : "",
                known && action.sa_handler == SIG_IGN ? " ignored" : "");
    }
}

static void say_descriptors(FILE *f)
{
    for (int fd = 0; fd < 64; fd++) {
        char path[64], target[256];
        struct stat st;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        const ssize_t n = fd == fileno(f) ? -1 : readlink(path, target, sizeof target - 1);
        if (n < 0 || fstat(fd, &st) < 0)
            continue;
        target[n] = 0;
        fprintf(f, "fd %d %s %d\n", fd, target, fcntl(fd, F_GETFL));
    }
}

static int report(const char *path)
{
    char cwd[4096];
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    fprintf(f, "cwd %s\n", getcwd(cwd, sizeof cwd) ? cwd : "none");
    fprintf(f, "group %d session %d\n", (int)getpgrp(), (int)getsid(0));
    fprintf(f, "umask %o\n", (unsigned)umask(0));
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit limit = {0};
        getrlimit((__rlimit_resource_t)i, &limit);
        fprintf(f, "limit %d %llu %llu\n", i, (unsigned long long)limit.rlim_cur,
                (unsigned long long)limit.rlim_max);
    }
    say_signals(f);
    say_descriptors(f);
    for (char **variable = environ; *variable; variable++)
        fprintf(f, "variable %s\n", *variable);
    return fclose(f) == 0 ? 0 : 1;
}

static int rank(const char *stem)
{
    struct as_job_rank rank;
    char path[4096];
    if (!as_launch_rank_of_process(getpid(), &rank))
        return 1;
    snprintf(path, sizeof path, "%s.%d", stem, (int)rank.rank);
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    fprintf(f, "%s %d of %d, %d of %d here\n", rank.launcher, (int)rank.rank, (int)rank.size,
            (int)rank.local_rank, (int)rank.local_size);
    return fclose(f) == 0 ? 0 : 1;
}

static volatile sig_atomic_t interrupts, ended;

static void on_signal(int signal)
{
    if (signal == SIGINT)
        interrupts++;
    else
        ended = 1;
}

static int count(const char *path)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t both, none;
    sigemptyset(&none);
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigprocmask(SIG_BLOCK, &both, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    printf("ready\n");
    fflush(stdout);
    while (!ended) {
        sigsuspend(&none);
        printf("%d\n", (int)interrupts);
        fflush(stdout);
    }
    FILE *f = fopen(path, "w");
    if (!f)
        return 1;
    fprintf(f, "%d\n", (int)interrupts);
    return fclose(f) == 0 ? 42 : 1;
}

static int wait_for_signal(void)
{
    printf("ready\n");
    fflush(stdout);
    return pause();
}

static int bare(void)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    clearenv();
    return chdir("/") == 0 ? 6 : 7;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "report") == 0)
        return report(argv[2]);
    if (argc == 3 && strcmp(argv[1], "rank") == 0)
        return rank(argv[2]);
    if (argc == 3 && strcmp(argv[1], "count") == 0)
        return count(argv[2]);
    if (argc == 2 && strcmp(argv[1], "wait") == 0)
        return wait_for_signal();
    if (argc == 2 && strcmp(argv[1], "bare") == 0)
        return bare();
    return 2;
}
