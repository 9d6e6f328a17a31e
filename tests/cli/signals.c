/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that a program loads before all others. It sends $SIGNAL to the program in the middle
 * of its work, however slow the host is. $SIGNAL_AT=NAME: when the program first opens a file of
 * that name for reading. $SIGNAL_CALL=ROUTINE:N: at the N-th call of renameat or fflush. Calls of
 * children count; fflush of standard output does not. Without both: at the first copy by
 * sendfile(2).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { ACCESS = 3, CREATE = 0100, HERE = -100 }; /* of open(2): <fcntl.h> would define open() */

/* The program and all its children share this. */
static struct {
    atomic_int sent, calls;
    pid_t program;
} * all;

__attribute__((constructor)) static void begin(void)
{
    all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        abort();
    all->program = getpid();
}

static void send_once(void)
{
    if (!all->sent++)
        kill(all->program, atoi(getenv("SIGNAL")));
}

static void count_call(const char *routine)
{
    const char *wanted = getenv("SIGNAL_CALL");
    const size_t n = strlen(routine);
    if (wanted && strncmp(wanted, routine, n) == 0 && wanted[n] == ':' &&
        ++all->calls == atoi(wanted + n + 1))
        send_once();
}

static int open_at(int directory, const char *path, int how, va_list more)
{
    const char *name = strrchr(path, '/'), *wanted = getenv("SIGNAL_AT");
    const int mode = how & CREATE ? va_arg(more, int) : 0;
    if (wanted && (how & ACCESS) == 0 && strcmp(name ? name + 1 : path, wanted) == 0)
        send_once();
    return (int)syscall(SYS_openat, directory, path, how, mode);
}

int open(const char *path, int how, ...)
{
    va_list more;
    va_start(more, how);
    const int fd = open_at(HERE, path, how, more);
    va_end(more);
    return fd;
}

int openat(int directory, const char *path, int how, ...)
{
    va_list more;
    va_start(more, how);
    const int fd = open_at(directory, path, how, more);
    va_end(more);
    return fd;
}

ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
    if (!getenv("SIGNAL_AT") && !getenv("SIGNAL_CALL"))
        send_once();
    return syscall(SYS_sendfile, to, from, at, n);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to)
{
    const int rc = (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 0);
    count_call("renameat");
    return rc;
}

int fflush(FILE *file)
{
    const int rc = fflush_unlocked(file);
    if (file && file != stdout && file != stderr)
        count_call("fflush");
    return rc;
}

int open64(const char *, int, ...) __attribute__((alias("open")));
int openat64(int, const char *, int, ...) __attribute__((alias("openat")));
ssize_t sendfile64(int, int, off_t *, size_t) __attribute__((alias("sendfile")));
