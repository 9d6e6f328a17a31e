/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits: threads wait, each in another system call, while one runs a loop, until a byte comes on
 * standard input. Prints, for each wait, how often it ended early. Prints whether nanosleep slept
 * as long as requested. No handler runs.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int gate[2], pair[2], waiting, semaphores, messages;
static _Atomic int is_over;
static _Atomic uint32_t word;

static long wait_read(void)
{
    char byte;
    return read(gate[0], &byte, 1);
}

static long wait_poll(void)
{
    struct pollfd it = {.fd = gate[0], .events = POLLIN};
    return poll(&it, 1, -1);
}

static long wait_select(void)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(gate[0], &set);
    return select(gate[0] + 1, &set, NULL, NULL, NULL);
}

static long wait_epoll(void)
{
    struct epoll_event event;
    return epoll_wait(waiting, &event, 1, -1);
}

static long wait_futex(void)
{
    return syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long wait_semaphore(void)
{
    struct sembuf take = {0, -1, 0};
    return semop(semaphores, &take, 1);
}

static long wait_message(void)
{
    struct {
        long type;
        char text[8];
    } message;
    return msgrcv(messages, &message, sizeof message.text, 0, 0);
}

static long wait_socket(void) /* it has a limit of time */
{
    char byte;
    return recv(pair[0], &byte, 1, 0);
}

static long wait_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return sigtimedwait(&set, NULL, NULL);
}

static long wait_condition(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&mutex);
    while (!is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 3;
        pthread_cond_timedwait(&never, &mutex, &until);
    }
    pthread_mutex_unlock(&mutex);
    return 0;
}

static long wait_long_enough(void)
{
    struct timespec begin, end, time = {0, 700000000};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const int rc = nanosleep(&time, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const int64_t ns =
        (end.tv_sec - begin.tv_sec) * INT64_C(1000000000) + end.tv_nsec - begin.tv_nsec;
    if (rc == 0 && ns < 700000000)
        errno = ETIME;
    return rc < 0 || ns < 700000000 ? -1 : 0;
}

static struct wait {
    const char *name;
    long (*call)(void);
    pthread_t thread;
    int interrupted, other;
} all[] = {{.name = "read", .call = wait_read},        {.name = "poll", .call = wait_poll},
           {.name = "select", .call = wait_select},    {.name = "epoll_wait", .call = wait_epoll},
           {.name = "futex", .call = wait_futex},      {.name = "semop", .call = wait_semaphore},
           {.name = "msgrcv", .call = wait_message},   {.name = "recv", .call = wait_socket},
           {.name = "sigwait", .call = wait_signal},   {.name = "cond", .call = wait_condition},
           {.name = "sleep", .call = wait_long_enough}};

static void *wait_in(void *argument)
{
    struct wait *it = argument;
    while (!is_over)
        if (it->call() < 0 && !is_over) {
            it->interrupted += errno == EINTR;
            it->other += errno != EINTR;
        }
    return NULL;
}

__attribute__((noinline)) static uint64_t mix(uint64_t s, long n)
{
    for (long i = 0; i < n; i++)
        s = s * 6364136223846793005u + (uint64_t)i;
    return s;
}

static void *work(void *argument)
{
    uint64_t s = 1;
    while (!is_over)
        s = mix(s, 2000);
    *(uint64_t *)argument = s;
    return NULL;
}

static void wake_all(void)
{
    struct {
        long type;
        char text[8];
    } message = {1, ""};
    struct sembuf give = {0, 1, 0};
    is_over = 1;
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    if (write(gate[1], "xxxx", 4) < 0 || write(pair[1], "x", 1) < 0)
        perror("write");
    semop(semaphores, &give, 1);
    msgsnd(messages, &message, sizeof message.text, 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].call == wait_signal)
            pthread_kill(all[i].thread, SIGUSR1);
}

int main(void)
{
    const struct timeval limit = {3600, 0};
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t set;
    pthread_t worker;
    uint64_t sum;
    char byte;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    waiting = epoll_create1(0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    messages = msgget(IPC_PRIVATE, 0600);
    if (pipe(gate) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 || waiting < 0 ||
        epoll_ctl(waiting, EPOLL_CTL_ADD, gate[0], &event) < 0 || semaphores < 0 || messages < 0)
        return 1;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    pthread_create(&worker, NULL, work, &sum);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        pthread_create(&all[i].thread, NULL, wait_in, &all[i]);
    fputs("ready\n", stderr);
    while (read(0, &byte, 1) < 0)
        ;
    wake_all();
    pthread_join(worker, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        pthread_join(all[i].thread, NULL);
        printf("%s %d %d\n", all[i].name, all[i].interrupted, all[i].other);
    }
    semctl(semaphores, 0, IPC_RMID);
    msgctl(messages, IPC_RMID, NULL);
    return 0;
}
