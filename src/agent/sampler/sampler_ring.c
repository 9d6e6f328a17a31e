/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of a process: made when it begins, in the child of a fork too; written without a lock,
 * for room is reserved by compare-and-swap and a record counts when its size is written.
 */
#include "agent/sampler/sampler.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct as_sampler_state as_sampler_state;

/* Of a limited memory a ring takes at most this part. */
#define MEMORY_PART 32

/* ---- Making ------------------------------------------------------------------------------- */

/* Grows with the processors that this process may use. */
static uint64_t ring_size_b(void)
{
    const struct as_agent_sampling *sampling = as_sampler_state.sampling;
    uint64_t mask[128], size_b = sampling->ring_least_b, processors = 0;
    long n = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    for (long i = 0; i < n / 8; i++)
        processors += (uint64_t)__builtin_popcountll(mask[i]);
    while (size_b < processors * sampling->ring_processor_b && size_b < sampling->ring_most_b)
        size_b *= 2;
    while (size_b > AS_AGENT_LEAST_B && AS_AGENT_PAGE_B + size_b > as_agent_limit_b(RLIMIT_FSIZE))
        size_b /= 2;
    /* It is mapped twice; what the program may have is for the program. */
    while (size_b > AS_AGENT_LEAST_B && size_b > as_agent_limit_b(RLIMIT_AS) / MEMORY_PART)
        size_b /= 2;
    return size_b;
}

static int map_ring(int fd, uint64_t data_b)
{
    int rc = as_agent_allocate(fd, AS_AGENT_PAGE_B + data_b);
    if (rc != 0)
        return rc;
    uint8_t *at =
        mmap(NULL, AS_AGENT_PAGE_B + 2 * data_b, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -errno;
    uint8_t *again = at + AS_AGENT_PAGE_B + data_b;
    if (mmap(at, AS_AGENT_PAGE_B + data_b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED ||
        mmap(again, data_b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, AS_AGENT_PAGE_B) ==
            MAP_FAILED) {
        rc = -errno;
        munmap(at, AS_AGENT_PAGE_B + 2 * data_b);
        return rc;
    }
    /* Most processes touch a few pages: to read ahead of each would be half of what a ring costs.
     */
    syscall(SYS_madvise, at, AS_AGENT_PAGE_B + 2 * data_b, MADV_RANDOM);
    as_sampler_state.data = at + AS_AGENT_PAGE_B;
    as_sampler_state.data_b = data_b;
    return 0;
}

/* The reader ignores the file until its magic is there. */
int as_sampler_ring_make(bool forked)
{
    char name[AS_AGENT_FILE_B], path[AS_AGENT_PAGE_B];
    uint64_t begun_ns = as_monotonic_ns();
    as_agent_file_name(AS_AGENT_PREFIX, name);
    as_agent_path(name, path);
    int fd = as_agent_open(path, O_RDWR | O_CREAT | O_EXCL);
    int rc = fd < 0 ? fd : map_ring(fd, ring_size_b());
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (rc < 0) {
        if (fd >= 0)
            syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        return rc;
    }
    struct as_agent_ring *ring =
        (struct as_agent_ring *)(void *)(as_sampler_state.data - AS_AGENT_PAGE_B);
    ring->version = AS_AGENT_VERSION;
    ring->pid = (uint32_t)as_agent.pid;
    ring->parent_pid = (uint32_t)as_agent.parent_pid;
    ring->parent_tid = forked ? (uint32_t)as_agent.fork_tid : 0;
    ring->forked = forked;
    ring->begun_ns = begun_ns;
    ring->data_b = as_sampler_state.data_b;
    prctl(PR_GET_NAME, ring->name, 0, 0, 0);
    atomic_store_explicit(&as_sampler_state.ring, ring, memory_order_release);
    as_sampler_maps(begun_ns);
    atomic_store_explicit(&ring->magic, AS_AGENT_MAGIC, memory_order_release);
    as_agent_wake();
    return 0;
}

void as_sampler_ring_drop(void)
{
    struct as_agent_ring *old = as_sampler_state.ring;
    atomic_store(&as_sampler_state.ring, NULL);
    if (old && !as_agent_is_confined())
        munmap(old, AS_AGENT_PAGE_B + 2 * as_sampler_state.data_b);
}

/* ---- Writing ------------------------------------------------------------------------------ */

void *as_sampler_reserve(uint32_t size_b, uint32_t spare_b)
{
    struct as_agent_ring *ring = atomic_load_explicit(&as_sampler_state.ring, memory_order_acquire);
    if (!ring)
        return NULL;
    uint64_t n = (size_b + 7u) & ~7u, used;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    do {
        used = head - atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (used + n + spare_b > as_sampler_state.data_b)
            return NULL;
    } while (!atomic_compare_exchange_weak_explicit(&ring->head, &head, head + n,
                                                    memory_order_relaxed, memory_order_relaxed));
    if (used <= as_sampler_state.data_b / 2 && used + n > as_sampler_state.data_b / 2)
        as_agent_wake();
    return as_sampler_state.data + (head & (as_sampler_state.data_b - 1));
}

void as_sampler_commit(void *record, uint32_t size_b, uint32_t kind, uint64_t time_ns)
{
    struct as_agent_record *head = record;
    int cpu = sched_getcpu();
    head->kind = kind;
    head->tid = (uint32_t)as_agent_self.tid;
    head->cpu = cpu < 0 ? 0 : (uint32_t)cpu;
    head->time_ns = time_ns;
    atomic_store_explicit(&head->size_b, (size_b + 7u) & ~7u, memory_order_release);
}

void as_sampler_mark(uint32_t kind)
{
    struct as_agent_record *record = as_sampler_reserve(sizeof *record, 0);
    if (record)
        as_sampler_commit(record, sizeof *record, kind, as_monotonic_ns());
}
