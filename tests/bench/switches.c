/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Benchmark target: processes that only leave their CPU. Eight processes yield on two CPUs, as
 * polling ranks do; or two wake each other through pipes on one CPU. Prints the nanoseconds of CPU
 * time of a switch and the number of switches. With --bare they run under the one event that `perf
 * record --switch-events` would open. A reader then only empties its buffers: the minimum cost of
 * records of switches.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define YIELDING   8
#define PROCESSORS 2
#define CPUS_MOST  1024
#define RING_B     (4u << 20)
#define LOOK_US    100000

static void must(bool done, const char *what)
{
    if (!done) {
        fprintf(stderr, "switches: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

/* ---- The bare event ----------------------------------------------------------------------- */

static struct perf_event_mmap_page *ring[CPUS_MOST];
static int rings;

/* As perf opens it: samples by the clock with 16 KiB of the stack, tasks and switches in one. */
static struct perf_event_attr bare_attr(void)
{
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_SOFTWARE};
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    attr.sample_period = 1000000000 / 499;
    attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
                       PERF_SAMPLE_STACK_USER;
    attr.read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
    attr.sample_id_all = attr.inherit = attr.watermark = attr.exclude_callchain_user = 1;
    attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = attr.context_switch = 1;
    attr.wakeup_watermark = RING_B / 4;
    attr.sample_regs_user = 0xff0fff;
    attr.sample_stack_user = 16384;
    return attr;
}

static void open_bare(pid_t pid)
{
    const struct perf_event_attr attr = bare_attr();
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    for (int cpu = 0; cpu < cpus && cpu < CPUS_MOST; cpu++) {
        const int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        must(fd >= 0, "perf_event_open");
        void *at = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE) + RING_B, PROT_READ | PROT_WRITE,
                        MAP_SHARED, fd, 0);
        must(at != MAP_FAILED, "a buffer of events");
        ring[rings++] = at;
    }
}

static void empty_rings(void)
{
    for (int i = 0; i < rings; i++)
        __atomic_store_n(&ring[i]->data_tail,
                         __atomic_load_n(&ring[i]->data_head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
}

/* ---- What switches ------------------------------------------------------------------------ */

/* Pins the process to the n-th of its allowed CPUs, modulo `PROCESSORS`. */
static void pin(int n)
{
    cpu_set_t allowed, one;
    must(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "sched_getaffinity");
    const int many = CPU_COUNT(&allowed) < PROCESSORS ? CPU_COUNT(&allowed) : PROCESSORS;
    size_t cpu = SIZE_MAX;
    for (int left = n % many; left >= 0; left--)
        do
            cpu++;
        while (!CPU_ISSET(cpu, &allowed));
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    must(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
}

static void hand_on(int from, int to, long rounds)
{
    char byte = 0;
    for (long i = 0; i < rounds; i++)
        must(write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1, "a pipe");
}

static void hand_back(int from, int to, long rounds)
{
    char byte = 0;
    for (long i = 0; i < rounds; i++)
        must(read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1, "a pipe");
}

static void yield_often(long rounds)
{
    for (long i = 0; i < rounds; i++)
        sched_yield();
}

static void work(bool pipes, int n, int there[2], int back[2], long rounds)
{
    pin(pipes ? 0 : n);
    if (!pipes)
        yield_often(rounds);
    else if (n == 0)
        hand_on(back[0], there[1], rounds);
    else
        hand_back(there[0], back[1], rounds);
    _exit(0);
}

/* The parent of all that switch: what they took is what its children took. */
static void run(bool pipes, long rounds)
{
    int there[2], back[2], status;
    must(pipe(there) == 0 && pipe(back) == 0, "a pipe");
    for (int n = 0; n < (pipes ? 2 : YIELDING); n++) {
        const pid_t pid = fork();
        must(pid >= 0, "fork");
        if (pid == 0)
            work(pipes, n, there, back, rounds);
    }
    while (wait(&status) > 0)
        must(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process that switches");
    struct rusage use;
    must(getrusage(RUSAGE_CHILDREN, &use) == 0, "getrusage");
    const double ran_ns = 1e9 * (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                          1e3 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    const double switches = (double)(use.ru_nvcsw + use.ru_nivcsw);
    printf("%.1f %.0f\n", switches > 0 ? ran_ns / switches : 0, switches);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    const bool bare = argc == 4 && !strcmp(argv[3], "--bare"),
               pipes = argc > 1 && !strcmp(argv[1], "pipe");
    const long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
    int gate[2], status = 0;
    char byte = 0;
    if (rounds < 1 || (!pipes && strcmp(argv[1], "yield") != 0) || argc > 3 + bare) {
        fprintf(stderr, "usage: %s yield|pipe ROUNDS [--bare]\n", argv[0]);
        return 2;
    }
    must(pipe(gate) == 0, "a pipe");
    const pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0) {
        must(read(gate[0], &byte, 1) == 1, "a pipe");
        run(pipes, rounds);
    }
    if (bare)
        open_bare(pid);
    must(write(gate[1], &byte, 1) == 1, "a pipe");
    while (waitpid(pid, &status, bare ? WNOHANG : 0) == 0) {
        empty_rings();
        usleep(LOOK_US);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
