/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library that a program loads before all others. It truncates a file of the name $TRUNCATE as
 * soon as the program has mapped it, as another process might.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *mmap(void *at, size_t n, int rights, int how, int fd, off_t from)
{
    const long mapped = syscall(SYS_mmap, at, n, rights, how, fd, from);
    const char *wanted = getenv("TRUNCATE");
    char link[64], name[4096];
    if (wanted && fd >= 0 && mapped > 0) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        const ssize_t got = readlink(link, name, sizeof name - 1);
        name[got > 0 ? got : 0] = 0;
        const char *last = strrchr(name, '/');
        if (last && strcmp(last + 1, wanted) == 0 && truncate(name, 0) < 0)
            perror(name);
    }
    return mapped < 0 && mapped > -4096 ? MAP_FAILED : (void *)mapped;
}

void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));
