/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limited.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory_used.h"

/* The sanitizers map terabytes. A memory limit in addition to them is useless. */
#define MAPPED_MAX_B ((uint64_t)1 << 40)

/* ---- The child --------------------------------------------------------------------------- */

static void limit_resource(int resource, uint64_t soft)
{
    const struct rlimit limit = {soft, soft};

    setrlimit((__rlimit_resource_t)resource, &limit); /* keeps a smaller limit of the user */
}

static void limit_child(const struct as_limited *limits)
{
    static const int fatal[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT,
                                SIGINT,  SIGTERM, SIGALRM, SIGXCPU, SIGXFSZ};
    struct as_memory_used used = {0};
    sigset_t none;
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    as_memory_used(&used); /* stays 0 if it is unknown */
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (null >= 0) { /* hides what the library or the C library prints about a crash */
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    if (used.mapped_b < MAPPED_MAX_B)
        limit_resource(RLIMIT_AS, used.mapped_b + limits->memory_b);
    if (limits->cpu_s)
        limit_resource(RLIMIT_CPU, limits->cpu_s);
    limit_resource(RLIMIT_CORE, 0);
    if (!limits->may_write)
        limit_resource(RLIMIT_FSIZE, 0);
    alarm(limits->wall_s);
}

static bool write_all(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;

    while (n) {
        const ssize_t done = write(fd, p, n);

        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            p += done;
            n -= (size_t)done;
        }
    }
    return true;
}

/* Writes the code, then the error or the answer. */
static void answer_parent(int fd, int rc, const struct as_str *answer, const struct as_error *err)
{
    if (write_all(fd, &rc, sizeof rc)) {
        if (rc < 0)
            write_all(fd, err, sizeof *err);
        else
            write_all(fd, answer->p, answer->n);
    }
}

/* ---- The parent -------------------------------------------------------------------------- */

/* Reads up to the end of the pipe. Returns false if the child sends more than `max_b` bytes. */
static bool read_all(int fd, uint64_t max_b, struct as_str *out)
{
    char block[65536];

    for (;;) {
        const ssize_t n = read(fd, block, sizeof block);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return true;
        if (out->n + (size_t)n > max_b)
            return false;
        as_str_append(out, block, (size_t)n);
    }
}

static int wait_for(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

static int bad_end(const struct as_limited *limits, int status, struct as_error *err)
{
    const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

    if (number == SIGINT || number == SIGTERM)
        return as_error_set(err, AS_ERR_LIMIT, "%s: interrupted", limits->what);
    if (number == SIGXCPU || number == SIGALRM || number == SIGKILL)
        return as_error_set(err, AS_ERR_CORRUPT,
                            "%s: damaged: reading it takes too long; use another copy",
                            limits->what);
    return as_error_set(err, AS_ERR_CORRUPT,
                        "%s: damaged: the library that reads it crashed; use another copy",
                        limits->what);
}

/* Removes the code of the child from the beginning of `answer` and returns it. */
static int decode_child_answer(const struct as_limited *limits, int status, struct as_str *answer,
                               struct as_error *err)
{
    int rc;
    struct as_error sent;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer->n < sizeof rc)
        return bad_end(limits, status, err);
    memcpy(&rc, answer->p, sizeof rc);
    answer->n -= sizeof rc;
    memmove(answer->p, answer->p + sizeof rc, answer->n);
    if (rc >= 0)
        return 0;
    if (answer->n != sizeof sent)
        return bad_end(limits, status, err);
    memcpy(&sent, answer->p, sizeof sent);
    return as_error_set(err, rc, "%.*s", (int)strnlen(sent.text, sizeof sent.text - 1), sent.text);
}

static int no_child(const struct as_limited *limits, struct as_error *err)
{
    return as_error_set(err, AS_ERR_LIMIT, "%s: no process to read it: %s; end other programs",
                        limits->what, strerror(errno));
}

int as_limited_run(const struct as_limited *limits,
                   int (*work)(void *context, struct as_str *answer, struct as_error *err),
                   void *context, struct as_str *answer, struct as_error *err)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return no_child(limits, err);
    pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return no_child(limits, err);
    }
    if (pid == 0) {
        struct as_error failed = {0};

        limit_child(limits);
        const int rc = work(context, answer, &failed);
        answer_parent(ends[1], answer->failed ? AS_ERR_NOMEM : rc, answer, &failed);
        _exit(0);
    }
    close(ends[1]);
    const uint64_t max_b = limits->answer_max_b > sizeof *err ? limits->answer_max_b : sizeof *err;
    const bool is_whole = read_all(ends[0], max_b + sizeof(int), answer);
    close(ends[0]);
    if (!is_whole)
        kill(pid, SIGKILL);
    const int status = wait_for(pid);
    if (answer->failed)
        return as_error_nomem(err, limits->what);
    return decode_child_answer(limits, status, answer, err);
}
