/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guards are slots of a fixed table that the handler searches without a lock: `begin` is written
 * last when a slot is filled and first when it is cleared. The slot of a truncated file is not used
 * again, so that its name stays. Without a free slot a file is copied, whatever its size.
 */
#include "base/filemap.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

#define GUARDS 1024
#define NAME_B 200
#define PAGE_B ((uintptr_t)4096)

struct guard {
    _Atomic uintptr_t begin; /* 0: the slot is not in use */
    _Atomic uintptr_t end;
    atomic_bool is_taken; /* guarded by `lock` as well */
    char name[NAME_B];    /* the end of the path if the path is long */
};

static struct guard guards[GUARDS + 1]; /* the first slot is not used */
static atomic_uint guard_n;             /* number of slots used so far */
static atomic_uint first_cut;           /* slot of the first truncated file; 0: none */
static struct sigaction before;         /* the handler installed before */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- The handler --------------------------------------------------------------------------- */

static bool supply_zeros(uintptr_t address)
{
    const unsigned n = atomic_load(&guard_n);

    for (unsigned i = 1; i <= n; i++) {
        const uintptr_t begin = atomic_load(&guards[i].begin), end = atomic_load(&guards[i].end);
        const uintptr_t page = address & ~(PAGE_B - 1);
        unsigned none = 0;
        if (!begin || address < begin || address >= end)
            continue;
        if (mmap((void *)page, end - page, PROT_READ | PROT_WRITE,
                 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
            return false;
        atomic_compare_exchange_strong(&first_cut, &none, i);
        return true;
    }
    return false;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int kept = errno;

    if (info->si_code == BUS_ADRERR && supply_zeros((uintptr_t)info->si_addr)) {
        errno = kept;
        return;
    }
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(number, info, context);
    else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
        before.sa_handler(number);
    else
        signal(number, SIG_DFL); /* the fault happens again and ends the process */
    errno = kept;
}

static void install_handler(void)
{
    const struct sigaction action = {.sa_sigaction = on_bus_error,
                                     .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

    sigaction(SIGBUS, NULL, &before);
    sigaction(SIGBUS, &action, NULL);
}

/* ---- Guards --------------------------------------------------------------------------------- */

/* Returns the number of a free slot, or 0 if there is none. */
static unsigned claim_guard(const char *path)
{
    const size_t n = strlen(path);
    unsigned i = 1;

    pthread_once(&once, install_handler);
    pthread_mutex_lock(&lock);
    while (i <= GUARDS && guards[i].is_taken)
        i++;
    i = i <= GUARDS ? i : 0;
    if (i) {
        guards[i].is_taken = true;
        snprintf(guards[i].name, NAME_B, "%s", n < NAME_B ? path : path + n - NAME_B + 1);
        if (i > atomic_load(&guard_n))
            atomic_store(&guard_n, i);
    }
    pthread_mutex_unlock(&lock);
    return i;
}

static void release_guard(unsigned i)
{
    pthread_mutex_lock(&lock);
    guards[i].is_taken = atomic_load(&first_cut) == i;
    pthread_mutex_unlock(&lock);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static int copy_file(int fd, size_t size_b, struct as_filemap *out)
{
    out->at = as_malloc(size_b);
    if (!out->at)
        return ENOMEM;
    while (out->n < size_b) {
        const ssize_t got = pread(fd, out->at + out->n, size_b - out->n, (off_t)out->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : 0; /* the file has shrunk */
        out->n += (size_t)got;
    }
    return 0;
}

static int map_file(int fd, size_t size_b, struct as_filemap *out)
{
    void *at = mmap(NULL, size_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);

    if (at == MAP_FAILED)
        return errno;
    *out = (struct as_filemap){at, size_b, out->guard, true};
    atomic_store(&guards[out->guard].end, (uintptr_t)at + size_b);
    atomic_store(&guards[out->guard].begin, (uintptr_t)at);
    return 0;
}

int as_filemap_open(int fd, size_t size_b, const char *path, struct as_filemap *out)
{
    int number;

    *out = (struct as_filemap){0};
    if (size_b == 0)
        return 0;
    if (size_b > AS_FILEMAP_COPY_B)
        out->guard = claim_guard(path);
    number = out->guard ? map_file(fd, size_b, out) : copy_file(fd, size_b, out);
    if (number)
        as_filemap_close(out);
    return number;
}

void as_filemap_drop(const struct as_filemap *map, size_t begin, size_t end)
{
    begin = (begin + PAGE_B - 1) & ~(PAGE_B - 1);
    end = (end < map->n ? end : map->n) & ~(PAGE_B - 1);
    if (map->is_mapped && begin < end)
        madvise(map->at + begin, end - begin, MADV_DONTNEED);
}

void as_filemap_close(struct as_filemap *map)
{
    if (map->guard)
        atomic_store(&guards[map->guard].begin, 0);
    if (map->is_mapped)
        munmap(map->at, map->n);
    else
        as_free(map->at);
    if (map->guard)
        release_guard(map->guard);
    *map = (struct as_filemap){0};
}

int as_filemap_check(struct as_error *err)
{
    const unsigned i = atomic_load(&first_cut);

    if (i == 0)
        return 0;
    return as_error_set(err, AS_ERR_TRUNCATED,
                        "%s: was truncated while assay read it: the results are wrong; repeat the "
                        "command when the file is complete",
                        guards[i].name);
}
