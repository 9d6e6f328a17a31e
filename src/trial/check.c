/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the user's check of results. The command runs in the directory of the program. Its first run
 * sets the time limit of later runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/active_timer.h"
#include "base/clock.h"
#include "base/error.h"
#include "trial/campaign.h"

/* Time limit of a check: this many times its first run, plus seconds. A longer check hangs. */
#define TOO_LONG_TIMES  5
#define TOO_LONG_MORE_S 2
#define LOOK_MS         50

struct check {
    const struct as_trial *trial;
    pid_t pid;
    int from; /* pipe with its output */
    struct as_looks looks;
    int64_t most_ns; /* time limit; suspends of the machine do not count */
    char *message;   /* first line of its output */
    size_t message_n, size_b;
    bool is_line_over;
    bool is_late, is_stopped;
};

/* Starts the check in its own process group, so that its children are killed with it. */
static int start_check(struct check *it, const char *output, struct as_error *err)
{
    char real[PATH_MAX];
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return as_error_set(err, AS_ERR_LIMIT, "--check: no pipe can be made");
    it->pid = fork();
    if (it->pid == 0) {
        (void)setpgid(0, 0);
        (void)signal(SIGINT, SIG_DFL);
        (void)setenv("ASSAY_OUTPUT", realpath(output, real) ? real : "/dev/null", 1);
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        execl("/bin/sh", "sh", "-c", it->trial->request->check, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    it->from = ends[0];
    if (it->pid < 0) {
        close(ends[0]);
        return as_error_set(err, AS_ERR_LIMIT, "--check: no process can be made");
    }
    (void)setpgid(it->pid, it->pid);
    return 0;
}

static void store_first_line(struct check *it, const char *text, size_t n)
{
    for (size_t i = 0; i < n && !it->is_line_over; i++) {
        it->is_line_over = text[i] == '\n' || it->message_n + 1 == it->size_b;
        if (!it->is_line_over)
            it->message[it->message_n++] = text[i];
    }
    it->message[it->message_n] = '\0';
}

/* Reads some output, so that the check never blocks; returns false at its end. */
static bool read_some(struct check *it)
{
    struct pollfd wait = {.fd = it->from, .events = POLLIN};
    char block[4096];

    if (poll(&wait, 1, LOOK_MS) <= 0)
        return true;
    const ssize_t n = read(it->from, block, sizeof block);
    store_first_line(it, block, n > 0 ? (size_t)n : 0);
    return n > 0 || (n < 0 && errno == EINTR);
}

static bool must_end(struct check *it)
{
    as_looks_count(&it->looks);
    it->is_late |= it->looks.all_ns > it->most_ns;
    it->is_stopped |= as_trial_stopped((void *)(uintptr_t)it->trial);
    return it->is_late || it->is_stopped;
}

/* Waits for the end of the command and returns its status. The function does not wait for
 * background processes that keep the pipe open. */
static int await_check(struct check *it)
{
    int status = 1;
    bool is_open = true;

    while (waitpid(it->pid, &status, WNOHANG) == 0) {
        if (must_end(it)) {
            (void)kill(-it->pid, SIGKILL);
            (void)waitpid(it->pid, &status, 0);
            return status;
        }
        if (is_open)
            is_open = read_some(it);
        else
            (void)poll(NULL, 0, LOOK_MS);
    }
    if (is_open)
        (void)read_some(it);
    return status;
}

int as_trial_check(struct as_trial *t, const char *output, struct as_trial_check *out,
                   struct as_error *err)
{
    const int64_t begin_ns = as_monotonic_ns();
    struct check it = {.trial = t, .message = out->message, .size_b = sizeof out->message};

    as_looks_begin(&it.looks);
    out->message[0] = '\0';
    it.most_ns = t->check_limit_s > 0 ? (int64_t)(t->check_limit_s * 1e9) : INT64_MAX;
    AS_TRY(start_check(&it, output, err));
    const int status = await_check(&it);
    close(it.from);
    out->is_late = it.is_late;
    out->passes = !it.is_late && !it.is_stopped && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    t->is_over |= it.is_stopped;
    if (t->check_limit_s <= 0)
        t->check_limit_s =
            TOO_LONG_TIMES * (double)(as_monotonic_ns() - begin_ns) / 1e9 + TOO_LONG_MORE_S;
    return 0;
}
