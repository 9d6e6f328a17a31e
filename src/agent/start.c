/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's life: it begins with the program when the environment names a directory with a
 * control file, makes the ring file of this process, and makes another in the child of a fork.
 * Every failure leaves the program alone, and is told in the control file where there is one.
 */
#include "agent/agent.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct as_agent as_agent;

/* Of a limited memory a ring takes at most this part. */
#define MEMORY_PART 32

/* ---- Text without stdio ------------------------------------------------------------------- */

static char *append_text(char *at, const char *end, const char *text)
{
    while (*text && at < end)
        *at++ = *text++;
    return at;
}

static char *append_number(char *at, const char *end, uint64_t value)
{
    char digits[24];
    char *digit = digits + sizeof digits - 1;
    *digit = 0;
    do
        *--digit = (char)('0' + value % 10);
    while (value /= 10);
    return append_text(at, end, digit);
}

/* ---- Files -------------------------------------------------------------------------------- */

/* System calls, since the program may have functions of these names; 0 or -errno. */
static int open_raw(const char *path, int flags)
{
    long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : (int)fd;
}

/* A reader that was killed has lost its lock: nobody would empty a ring, or remove it. */
static bool is_abandoned(const struct as_agent_control *control, int fd)
{
    return control->locked && syscall(SYS_flock, fd, LOCK_SH | LOCK_NB) == 0;
}

static void missed(struct as_agent_control *control, int error)
{
    atomic_fetch_add(&control->processes_missed, 1);
    atomic_store(&control->missed_errno, (uint32_t)error);
}

/* Where processes have other numbers than for the reader it would take them for others. */
static bool is_foreign(struct as_agent_control *control)
{
    struct stat status;
    if (control->pid_namespace == 0 ||
        syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/ns/pid", &status, 0) < 0 ||
        status.st_ino == control->pid_namespace)
        return false;
    missed(control, EXDEV);
    return true;
}

static bool is_for_us(struct as_agent_control *control, int fd)
{
    return control->magic == AS_AGENT_MAGIC && control->version == AS_AGENT_VERSION &&
           !is_abandoned(control, fd) &&
           (control->only_pid == 0 || control->only_pid == (uint32_t)getpid()) &&
           !is_foreign(control);
}

static int open_control(void)
{
    char path[4096];
    char *at = append_text(path, path + sizeof path - 1, as_agent.directory);
    *append_text(at, path + sizeof path - 1, "/" AS_AGENT_CONTROL) = 0;
    return open_raw(path, O_RDWR);
}

static struct as_agent_control *map_control(void)
{
    struct stat status;
    struct as_agent_control *control = NULL;
    int fd = open_control();
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof *control) {
        void *map = mmap(NULL, AS_AGENT_PAGE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        control = map == MAP_FAILED ? NULL : map;
    }
    if (control && !is_for_us(control, fd))
        control = NULL;
    syscall(SYS_close, fd);
    return control;
}

static uint64_t limit_b(__rlimit_resource_t which)
{
    struct rlimit limit;
    return getrlimit(which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                            : UINT64_MAX;
}

/* A file over the limit of the program would not be refused: the signal would kill it. */
static uint64_t file_limit_b(void)
{
    return limit_b(RLIMIT_FSIZE);
}

/* Grows with the processors that this process may use. */
static uint64_t ring_size_b(void)
{
    const struct as_agent_control *control = as_agent.control;
    uint64_t mask[128], size_b = control->ring_least_b, processors = 0;
    long n = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    for (long i = 0; i < n / 8; i++)
        processors += (uint64_t)__builtin_popcountll(mask[i]);
    while (size_b < processors * control->ring_processor_b && size_b < control->ring_most_b)
        size_b *= 2;
    while (size_b > AS_AGENT_LEAST_B && AS_AGENT_PAGE_B + size_b > file_limit_b())
        size_b /= 2;
    /* It is mapped twice; what the program may have is for the program. */
    while (size_b > AS_AGENT_LEAST_B && size_b > limit_b(RLIMIT_AS) / MEMORY_PART)
        size_b /= 2;
    return size_b;
}

/* All of the file is really there: a write to a hole on a full disk would kill the program. */
static int map_ring(int fd, uint64_t data_b)
{
    int rc = AS_AGENT_PAGE_B + data_b > file_limit_b()
                 ? EFBIG
                 : posix_fallocate(fd, 0, (off_t)(AS_AGENT_PAGE_B + data_b));
    if (rc != 0)
        return -rc;
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
    as_agent.data = at + AS_AGENT_PAGE_B;
    as_agent.data_b = data_b;
    return 0;
}

/* 0 or -errno. The reader ignores the file until its magic is there. */
static int make_ring(pid_t parent_pid, pid_t parent_tid, bool forked)
{
    char path[4096];
    const char *end = path + sizeof path - 1;
    uint64_t begun_ns = as_monotonic_ns();
    char *at = append_text(path, end, as_agent.directory);
    at = append_text(at, end, "/" AS_AGENT_PREFIX);
    at = append_number(at, end, (uint64_t)as_agent.pid);
    at = append_text(at, end, ".");
    *append_number(at, end, begun_ns) = 0;
    int fd = open_raw(path, O_RDWR | O_CREAT | O_EXCL);
    int rc = fd < 0 ? fd : map_ring(fd, ring_size_b());
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (rc < 0) {
        if (fd >= 0)
            syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        return rc;
    }
    struct as_agent_ring *ring = (struct as_agent_ring *)(void *)(as_agent.data - AS_AGENT_PAGE_B);
    ring->version = AS_AGENT_VERSION;
    ring->pid = (uint32_t)as_agent.pid;
    ring->parent_pid = (uint32_t)parent_pid;
    ring->parent_tid = (uint32_t)parent_tid;
    ring->forked = forked;
    ring->begun_ns = begun_ns;
    ring->data_b = as_agent.data_b;
    prctl(PR_GET_NAME, ring->name, 0, 0, 0);
    atomic_store_explicit(&as_agent.ring, ring, memory_order_release);
    as_agent_maps(begun_ns);
    atomic_store_explicit(&ring->magic, AS_AGENT_MAGIC, memory_order_release);
    as_agent_wake();
    return 0;
}

/* ---- Forks -------------------------------------------------------------------------------- */

static void before_fork(void)
{
    as_agent.fork_tid = as_agent_self.tid;
}

/* Whether the child of a fork is to be observed. */
static bool follow_child(void)
{
    int fd = as_agent.control->only_pid ? -1 : open_control();
    bool lives = fd >= 0 && !is_abandoned(as_agent.control, fd) && !is_foreign(as_agent.control);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return lives;
}

/* Timers are not inherited; the ring is the parent's. */
static void in_child(void)
{
    struct as_agent_ring *old = as_agent.ring;
    pid_t parent = as_agent.pid;
    int saved = errno;
    if (!old)
        return;
    atomic_store(&as_agent.ring, NULL);
    as_agent_timers_forked();
    if (as_agent_is_confined())
        return;
    munmap(old, AS_AGENT_PAGE_B + 2 * as_agent.data_b);
    as_agent.pid = getpid();
    as_agent_self.tid = (pid_t)syscall(SYS_gettid);
    as_agent_self.has_timer = false;
    as_agent_maps_forked();
    if (follow_child()) {
        int rc = make_ring(parent, as_agent.fork_tid, true);
        if (rc < 0)
            missed(as_agent.control, -rc);
        else
            as_agent_arm();
    }
    errno = saved;
}

/* ---- Beginning and end -------------------------------------------------------------------- */

/* The highest real-time signal that nobody uses: programs count from the lowest. */
static int free_signal(void)
{
    for (int signal = SIGRTMAX - 1; signal >= SIGRTMIN; signal--) {
        struct sigaction action;
        if (AS_AGENT_REAL(sigaction)(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            return signal;
    }
    return 0;
}

static bool begin_agent(void)
{
    const char *directory = getenv(AS_AGENT_DIRECTORY);
    if (!directory || !*directory || strlen(directory) >= sizeof as_agent.directory)
        return false;
    memcpy(as_agent.directory, directory, strlen(directory) + 1);
    as_agent.control = map_control();
    if (!as_agent.control)
        return false;
    as_agent.pid = getpid();
    as_agent_main_thread();
    as_agent.signal = free_signal();
    if (as_agent.signal == 0 || as_agent_threads_begin() < 0 || as_agent_ends_begin() < 0 ||
        pthread_atfork(before_fork, NULL, in_child) != 0 || as_agent_handle() < 0) {
        missed(as_agent.control, EAGAIN);
        return false;
    }
    int rc = make_ring(getppid(), 0, false);
    if (rc < 0)
        missed(as_agent.control, -rc);
    else
        as_agent_arm();
    return rc == 0;
}

bool as_agent_active(void)
{
    int unborn = AS_AGENT_UNBORN;
    if (as_agent.state == AS_AGENT_UNBORN &&
        atomic_compare_exchange_strong(&as_agent.state, &unborn, AS_AGENT_BEGINNING)) {
        int saved = errno;
        as_agent.state = begin_agent() ? AS_AGENT_READY : AS_AGENT_INERT;
        errno = saved;
    }
    return as_agent.state == AS_AGENT_READY && as_agent.ring;
}

__attribute__((constructor)) static void program_begins(void)
{
    as_agent_active();
}

__attribute__((destructor)) static void program_ends(void)
{
    if (!as_agent.ring || as_agent_is_confined() ||
        getpid() != as_agent.pid) /* a vforked child has our memory */
        return;
    if (as_agent.loaded)
        as_agent_maps(as_monotonic_ns());
    as_agent_mark(AS_AGENT_END);
}
