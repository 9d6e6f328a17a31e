/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals to assay while a program runs: handlers write number and origin to a pipe, which the run
 * loop reads. signalfd(2) does not work here: other threads would take a signal that only this
 * thread blocks. A process can have only one watch, because handlers belong to the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launch/internal.h"

enum action {
    FORWARDED = 1, /* to the child, if only assay got it */
    NOTED,
};

/* Other signals keep their action: Ctrl-Z stops the whole process group, and fg continues it. */
static const struct {
    uint8_t signal, action;
} watched[] = {
    {SIGINT, FORWARDED},  {SIGQUIT, FORWARDED}, {SIGTERM, FORWARDED}, {SIGHUP, FORWARDED},
    {SIGUSR1, FORWARDED}, {SIGUSR2, FORWARDED}, {SIGCHLD, NOTED},
};
#define WATCHED_N (sizeof watched / sizeof *watched)

static struct {
    bool on;
    int in, out; /* the pipe; handlers write to `out` */
    struct sigaction before[WATCHED_N];
    bool taken[WATCHED_N];
} watch = {.in = -1, .out = -1};

static void note_signal(int signal, siginfo_t *info, void *context)
{
    const int kept = errno;
    (void)context;
    const struct as_watch_signal one = {.signal = (uint8_t)signal,
                                        .by_kernel = info->si_code == SI_KERNEL};
    /* A full pipe is readable already, and more signals add no information. */
    if (write(watch.out, &one, sizeof one) < 0)
        errno = kept;
    errno = kept;
}

/* Moves a descriptor above the standard streams. Closed standard streams stay closed, so that
 * output does not get into the pipe. */
static int above_streams(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    const int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return moved;
}

int as_watch_begin(struct as_error *err)
{
    int end[2];
    if (watch.on)
        return as_error_set(err, AS_ERR_USAGE,
                            "signals: watched already for another program of this process; close "
                            "that launch first");
    if (pipe2(end, O_CLOEXEC | O_NONBLOCK) < 0)
        return as_error_set(err, AS_ERR_LIMIT,
                            "signals: cannot be watched: %s; raise the limit of open files with "
                            "'ulimit -n'",
                            strerror(errno));
    watch.in = above_streams(end[0]);
    watch.out = above_streams(end[1]);
    watch.on = true;
    if (watch.in < 0 || watch.out < 0) {
        as_watch_end();
        return as_error_set(err, AS_ERR_LIMIT,
                            "signals: cannot be watched: too many files are open; raise the limit "
                            "with 'ulimit -n'");
    }
    for (size_t i = 0; i < WATCHED_N; i++) {
        struct sigaction action = {.sa_sigaction = note_signal,
                                   .sa_flags = SA_SIGINFO | SA_RESTART | SA_NOCLDSTOP};
        sigfillset(&action.sa_mask);
        /* nohup and similar: an ignored signal must not stop assay or the program. */
        watch.taken[i] = watched[i].signal == SIGCHLD || !as_given_ignores(watched[i].signal);
        if (watch.taken[i])
            sigaction(watched[i].signal, &action, &watch.before[i]);
    }
    return 0;
}

/* Raises signals that arrived after the last read for the earlier handlers. */
static void hand_back(void)
{
    static const int ends[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct as_watch_signal got;
    sigset_t left;
    sigemptyset(&left);
    while (watch.in >= 0 && as_watch_next(&got))
        sigaddset(&left, got.signal);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (sigismember(&left, ends[i]) == 1)
            raise(ends[i]);
}

void as_watch_end(void)
{
    if (!watch.on)
        return;
    for (size_t i = 0; i < WATCHED_N; i++)
        if (watch.taken[i])
            sigaction(watched[i].signal, &watch.before[i], NULL);
    memset(watch.taken, 0, sizeof watch.taken);
    hand_back();
    if (watch.in >= 0)
        close(watch.in);
    if (watch.out >= 0)
        close(watch.out);
    watch.in = watch.out = -1;
    watch.on = false;
}

int as_watch_fd(void)
{
    return watch.in;
}

bool as_watch_next(struct as_watch_signal *out)
{
    return read(watch.in, out, sizeof *out) == (ssize_t)sizeof *out;
}

bool as_watch_forwards(int signal)
{
    for (size_t i = 0; i < WATCHED_N; i++)
        if (watched[i].signal == signal)
            return watched[i].action == FORWARDED;
    return false;
}
