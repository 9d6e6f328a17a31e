/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little of a C library that the agent's files need where there is none of ours: names and
 * meaning are the C library's. General registers alone, for what they are called in must keep the
 * others. Errors go to one errno, which only hooks set, one at a time.
 */
#include "agent/bare/bare_libc.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/core/kernel_call.h"
#include "agent/shared/bare.h"
#include "agent/shared/control.h"

struct as_bare_given *as_bare_given;

/* ---- System calls --------------------------------------------------------------------------- */

int *__errno_location(void)
{
    static int number;
    return &number;
}

long syscall(long number, ...)
{
    long a[6];
    va_list ap;
    va_start(ap, number);
    for (unsigned i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    const long rc = as_kernel_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (rc >= 0 || rc < -4095)
        return rc;
    errno = (int)-rc;
    return -1;
}

void *mmap(void *at, size_t n, int rights, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, at, n, (long)rights, (long)flags, (long)fd, offset);
}

int munmap(void *at, size_t n)
{
    return (int)syscall(SYS_munmap, at, n);
}

int mprotect(void *at, size_t n, int rights)
{
    return (int)syscall(SYS_mprotect, at, n, (long)rights);
}

pid_t getpid(void)
{
    return (pid_t)syscall(SYS_getpid);
}

int fstat(int fd, struct stat *status)
{
    return (int)syscall(SYS_fstat, (long)fd, status);
}

int getrlimit(__rlimit_resource_t which, struct rlimit *limit)
{
    return (int)syscall(SYS_getrlimit, (long)which, limit);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    return (int)syscall(SYS_clock_gettime, (long)clock, time);
}

/* Where the file system has no call for it each block is written, as the C library does. */
int posix_fallocate(int fd, off_t offset, off_t n)
{
    if (syscall(SYS_fallocate, (long)fd, 0L, offset, n) == 0)
        return 0;
    if (errno != EOPNOTSUPP)
        return errno;
    if (syscall(SYS_ftruncate, (long)fd, offset + n) < 0)
        return errno;
    for (off_t at = offset; at < offset + n; at += AS_AGENT_PAGE_B)
        if (syscall(SYS_pwrite64, (long)fd, "", 1L, at) < 0)
            return errno;
    return 0;
}

/* ---- What the tracer told -------------------------------------------------------------------- */

char *getenv(const char *name)
{
    return strcmp(name, AS_AGENT_DIRECTORY) == 0 ? as_bare_given->directory : NULL;
}

unsigned long getauxval(unsigned long type)
{
    return type == AT_HWCAP2 ? as_bare_given->hwcap2 : 0;
}

void *dlsym(void *handle, const char *symbol)
{
    (void)handle;
    (void)symbol;
    return NULL;
}

static int pass_bare_module(const struct as_bare_module *it,
                            int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
    struct dl_phdr_info info;
    memset(&info, 0, sizeof info);
    info.dlpi_name = (const char *)(uintptr_t)it->name;
    info.dlpi_addr = it->bias;
    info.dlpi_phdr = (const ElfW(Phdr) *)(uintptr_t)it->phdr;
    info.dlpi_phnum = (ElfW(Half))it->phnum;
    return each(&info, sizeof info, data);
}

int dl_iterate_phdr(int (*each)(struct dl_phdr_info *, size_t, void *), void *data)
{
    const struct as_bare_module own = {as_bare_given->bias, as_bare_given->phdr,
                                       as_bare_given->phnum, (uintptr_t) ""};
    const struct as_bare_module *all =
        (const struct as_bare_module *)(uintptr_t)as_bare_given->module;
    int rc = 0;
    if (as_bare_given->modules == 0)
        return pass_bare_module(&own, each, data);
    for (uint64_t i = 0; rc == 0 && i < as_bare_given->modules; i++)
        rc = pass_bare_module(&all[i], each, data);
    return rc;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

void *memcpy(void *to, const void *from, size_t n)
{
    void *at = to;
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(n) : : "memory");
    return to;
}

void *memset(void *to, int byte, size_t n)
{
    void *at = to;
    __asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
    return to;
}

int memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;
    for (; n && *x == *y; n--, x++, y++)
        ;
    return n ? *x - *y : 0;
}

size_t strlen(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

int strncmp(const char *a, const char *b, size_t n)
{
    for (; n && *a && *a == *b; n--, a++, b++)
        ;
    return n ? (unsigned char)*a - (unsigned char)*b : 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}
