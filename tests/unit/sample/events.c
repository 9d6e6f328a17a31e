/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A target that makes a known number of events. Prints the kernel's own account of them from the
 * beginning of main to its end. Usage: events faults|sleeps|moves|threads N
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void *touch(void *pages)
{
    const size_t page_b = (size_t)sysconf(_SC_PAGESIZE), n = *(const size_t *)pages;
    char *at =
        mmap(NULL, (n + 1) * page_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || madvise(at, (n + 1) * page_b, MADV_NOHUGEPAGE) != 0)
        exit(3);
    for (size_t i = 0; i < n; i++)
        ((volatile char *)at)[i * page_b] = 1;
    return NULL;
}

static void nap(size_t n)
{
    const struct timespec ms = {.tv_nsec = 1000000};
    while (n--)
        nanosleep(&ms, NULL);
}

/* Moves to another of the allowed CPUs, n times; exit status 4 if there is only one. */
static void move(size_t n)
{
    cpu_set_t all;
    int cpu[2], found = 0;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        exit(3);
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET(i, &all))
            cpu[found++] = i;
    if (found < 2)
        exit(4);
    for (size_t i = 0; i <= n; i++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu[i & 1], &one);
        if (sched_setaffinity(0, sizeof one, &one) != 0)
            exit(3);
    }
}

/* In four threads one after the other. */
static void touch_in_threads(size_t n)
{
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, touch, &n) != 0)
            exit(3);
        pthread_join(thread, NULL);
    }
}

int main(int argc, char **argv)
{
    size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    if (argc > 2 && strcmp(argv[1], "faults") == 0)
        touch(&n);
    else if (argc > 2 && strcmp(argv[1], "sleeps") == 0)
        nap(n);
    else if (argc > 2 && strcmp(argv[1], "moves") == 0)
        move(n);
    else if (argc > 2 && strcmp(argv[1], "threads") == 0)
        touch_in_threads(n);
    else
        return 2;
    getrusage(RUSAGE_SELF, &after);
    printf("%ld %ld\n", after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt,
           after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
    return 0;
}
