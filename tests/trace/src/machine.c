/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: makes a process believe that it runs on another machine. OTHER_MACHINE sets its name
 * and its clock (CLOCK_MONOTONIC_RAW): NAME SHIFT_NS DRIFT SINCE_NS. Its time-stamp counter is
 * marked as unreliable. A direct system call returns the truth.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static struct {
    char name[64];
    long long shift_ns, since_ns;
    double drift;
} machine;

__attribute__((constructor)) static void read_machine(void)
{
    const char *said = getenv("OTHER_MACHINE");
    if (said && sscanf(said, "%63s %lld %lf %lld", machine.name, &machine.shift_ns, &machine.drift,
                       &machine.since_ns) != 4)
        machine.name[0] = 0;
}

static long call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static long answer_of(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    const long result = call_kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_uname && result == 0 && machine.name[0])
        strcpy(((struct utsname *)a[0])->nodename, machine.name);
    return answer_of(result);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    const long result = call_kernel(SYS_clock_gettime, clock, (long)out, 0, 0, 0, 0);
    if (result == 0 && clock == CLOCK_MONOTONIC_RAW && machine.name[0]) {
        long long ns = out->tv_sec * 1000000000LL + out->tv_nsec;
        ns += machine.shift_ns + (long long)((double)(ns - machine.since_ns) * machine.drift);
        out->tv_sec = ns / 1000000000;
        out->tv_nsec = ns % 1000000000;
    }
    return (int)answer_of(result);
}

FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) =
        (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
    return real(strcmp(path, "/proc/cpuinfo") == 0 ? "/dev/null" : path, mode);
}
