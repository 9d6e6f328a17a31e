/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeps in all ways that the C library has, and waits for descriptors and signals; calls that find
 * something at once are not logged. Checks what the calls answer. Lines "0 0 call enter leave" in
 * nanoseconds of CLOCK_MONOTONIC_RAW.
 *
 *   sleep LOG ROUNDS MILLISECONDS
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static FILE *log_file;
static long late_ms;

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#define LOGGED(name, expected, call)                                                               \
    do {                                                                                           \
        const int64_t enter = now();                                                               \
        const long rc = call;                                                                      \
        const int64_t leave = now();                                                               \
        fprintf(log_file, "0 0 %s %lld %lld\n", name, (long long)enter, (long long)leave);         \
        if (rc != (expected)) {                                                                    \
            fprintf(stderr, "%s: %ld\n", name, rc);                                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static void must(int fits, const char *what)
{
    if (!fits) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static void on_alarm(int signal)
{
    (void)signal;
}

/* A signal of a timer once, after so long. */
static void wake_later(void)
{
    const struct itimerval once = {{0, 0}, {late_ms / 1000, late_ms % 1000 * 1000}};

    setitimer(ITIMER_REAL, &once, NULL);
}

static void sleeps(void)
{
    const struct timespec time = {late_ms / 1000, late_ms % 1000 * 1000000},
                          refused = {0, 2000000000};
    struct timespec left;

    LOGGED("nanosleep", 0, nanosleep(&time, NULL));
    LOGGED("clock_nanosleep", 0, clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL));
    LOGGED("usleep", 0, usleep((useconds_t)late_ms * 1000));
    LOGGED("thrd_sleep", 0, thrd_sleep(&time, NULL));
    LOGGED("nanosleep", -1, nanosleep(&refused, &left));
    must(errno == EINVAL, "errno of nanosleep is lost");
    wake_later();
    LOGGED("sleep", 1, sleep(60) >= 59); /* a signal ends it */
}

static void signals(void)
{
    sigset_t none;

    sigemptyset(&none);
    wake_later();
    LOGGED("pause", -1, pause());
    must(errno == EINTR, "errno of pause is lost");
    wake_later();
    LOGGED("sigsuspend", -1, sigsuspend(&none));
}

static void descriptors(int from, int to)
{
    const struct timespec time = {late_ms / 1000, late_ms % 1000 * 1000000};
    struct timeval limit = {late_ms / 1000, late_ms % 1000 * 1000};
    const int ms = (int)late_ms, epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = from};
    struct pollfd fd = {from, POLLIN, 0};
    fd_set set;
    char byte = 1;

    epoll_ctl(epoll, EPOLL_CTL_ADD, from, &event);
    LOGGED("poll", 0, poll(&fd, 1, ms));
    LOGGED("ppoll", 0, ppoll(&fd, 1, &time, NULL));
    FD_ZERO(&set);
    FD_SET(from, &set);
    LOGGED("select", 0, select(from + 1, &set, NULL, NULL, &limit));
    must(!FD_ISSET(from, &set), "select left its set");
    FD_SET(from, &set);
    LOGGED("pselect", 0, pselect(from + 1, &set, NULL, NULL, &time, NULL));
    LOGGED("epoll_wait", 0, epoll_wait(epoll, &event, 1, ms));
    LOGGED("epoll_pwait", 0, epoll_pwait(epoll, &event, 1, ms, NULL));
    must(poll(&fd, 1, 0) == 0, "poll without a wait");
    must(write(to, &byte, 1) == 1, "write");
    /* Something is there. */
    FD_SET(from, &set);
    limit = (struct timeval){60, 0};
    must(poll(&fd, 1, -1) == 1 && fd.revents == POLLIN, "poll");
    must(ppoll(&fd, 1, NULL, NULL) == 1, "ppoll");
    must(select(from + 1, &set, NULL, NULL, &limit) == 1 && FD_ISSET(from, &set), "select");
    must(pselect(from + 1, &set, NULL, NULL, NULL, NULL) == 1 && FD_ISSET(from, &set), "pselect");
    must(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.fd == from, "epoll_wait");
    must(epoll_pwait(epoll, &event, 1, -1, NULL) == 1, "epoll_pwait");
    must(read(from, &byte, 1) == 1, "read");
    close(epoll);
}

static volatile double sum;

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_alarm};
    int end[2];

    if (argc < 4 || pipe(end) < 0 || (log_file = fopen(argv[1], "w")) == NULL)
        return 2;
    late_ms = atol(argv[3]);
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < atoi(argv[2]); i++) {
        sleeps();
        signals();
        descriptors(end[0], end[1]);
        for (int k = 0; k < 20000000; k++)
            sum += k;
    }
    fclose(log_file);
    return 0;
}
