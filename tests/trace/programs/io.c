/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes at random, sometimes with errors. Logs each call with its result and errno, in
 * the words of tests/trace/dump.c. usage: io SEED CALLS LOG (in a directory of its own)
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 4
static char own_log[4 << 20], bytes[8192];
static size_t logged;
static unsigned long state;

static unsigned below(unsigned n)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % n;
}

static void say(const char *format, ...)
{
    const int error = errno;
    va_list list;
    va_start(list, format);
    logged += (size_t)vsnprintf(own_log + logged, sizeof own_log - logged, format, list);
    va_end(list);
    logged += (size_t)snprintf(own_log + logged, sizeof own_log - logged, " errno %d\n", error);
    errno = 0;
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* A read that a signal interrupts. It comes again and again: the first may come before the read. */
static void interrupt_read(void)
{
    const struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    const struct itimerval soon = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    int ends[2];
    int rc = pipe(ends);
    say("pipe");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    rc = (int)read(ends[0], bytes, 10);
    setitimer(ITIMER_REAL, &never, NULL);
    say("read io %d %d -1 0", ends[0], rc);
    for (int i = 0; i < 2; i++) {
        close(ends[i]);
        say("close file close %d", ends[i]);
    }
}

static void use_fork(void)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(3);
    say("fork fork %d", child);
    waitpid(child, &status, 0);
    say("waitpid");
}

static void use_descriptor(int *fd)
{
    const size_t n = below(sizeof bytes);
    const off_t at = below(20000);
    ssize_t rc;
    switch (below(9)) {
    case 0:
        rc = write(*fd, bytes, n);
        say("write io %d %zd -1 1", *fd, rc);
        break;
    case 1:
        rc = read(*fd, bytes, n);
        say("read io %d %zd -1 0", *fd, rc);
        break;
    case 2:
        rc = pwrite(*fd, bytes, n, at);
        say("pwrite io %d %zd %ld 1", *fd, rc, (long)at);
        break;
    case 3:
        rc = pread(*fd, bytes, n, at);
        say("pread io %d %zd %ld 0", *fd, rc, (long)at);
        break;
    case 4: {
        const struct iovec part[] = {{bytes, n}, {bytes, 7}};
        rc = writev(*fd, part, 2);
        say("writev io %d %zd -1 1", *fd, rc);
        break;
    }
    case 5:
        lseek(*fd, at, SEEK_SET);
        say("lseek");
        break;
    case 6:
        rc = read(700, bytes, n);
        say("read io 700 %zd -1 0", rc);
        break;
    case 7:
        rc = open("none/such", O_RDONLY);
        say("open opened %zd none/such", rc);
        break;
    default:
        rc = close(*fd);
        say("close file close %d", *fd);
        *fd = open("data", O_RDWR | O_CREAT, 0600);
        say("open opened %d data", *fd);
        break;
    }
}

static void use_stream(FILE *file)
{
    const size_t n = below(900), size = 1 + below(9);
    const int fd = fileno(file);
    char line[64];
    size_t got;
    int rc;
    switch (below(6)) {
    case 0:
        got = fwrite(bytes, size, n, file);
        say("fwrite io %d %zu -1 1", fd, got * size);
        break;
    case 1:
        fseek(file, (long)below(3000), SEEK_SET);
        say("fseek");
        got = fread(bytes, size, n, file);
        say("fread io %d %zu -1 0", fd, got * size);
        break;
    case 2:
        fseek(file, 0, SEEK_END);
        say("fseek");
        rc = fprintf(file, "%u and %s\n", below(100000), "text");
        say("fprintf io %d %d -1 1", fd, rc);
        break;
    case 3:
        rewind(file);
        say("rewind");
        say("fgets io %d %d -1 0", fd, fgets(line, sizeof line, file) ? (int)strlen(line) : -1);
        break;
    case 4:
        fseek(file, 0, SEEK_END);
        say("fseek");
        fputs("some words\n", file);
        say("fputs io %d 11 -1 1", fd);
        break;
    default:
        fflush(file);
        say("fflush");
        break;
    }
}

int main(int argc, char **argv)
{
    const unsigned calls = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
    state = argc == 4 ? (unsigned long)atol(argv[1]) : 0;
    memset(bytes, 'a', sizeof bytes);
    errno = 0;
    int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    say("open opened %d data", fd);
    FILE *file = fopen("stream", "w+");
    say("fopen opened %d stream", fileno(file));
    for (unsigned i = 0; i < calls; i++)
        if (below(2))
            use_descriptor(&fd);
        else
            use_stream(file);
    interrupt_read();
    use_fork();
    const int last = fileno(file);
    fclose(file);
    say("fclose file close %d", last);
    const long log_fd = syscall(SYS_openat, AT_FDCWD, argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    return syscall(SYS_write, log_fd, own_log, logged) != (long)logged;
}
