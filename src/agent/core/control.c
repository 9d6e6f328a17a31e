/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control file as the program sees it: whether it is for this process, which clients have a
 * part in it, whether whoever wrote it still lives.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"

/* ---- Paths -------------------------------------------------------------------------------- */

char *as_agent_append(char *at, const char *end, const char *text)
{
    while (*text && at < end)
        *at++ = *text++;
    return at;
}

char *as_agent_append_number(char *at, const char *end, uint64_t value)
{
    char digits[24];
    char *digit = digits + sizeof digits - 1;
    *digit = 0;
    do
        *--digit = (char)('0' + value % 10);
    while (value /= 10);
    return as_agent_append(at, end, digit);
}

void as_agent_path(const char *file_name, char *path)
{
    const char *end = path + AS_AGENT_PAGE_B - 1;
    char *at = as_agent_append(path, end, as_agent.directory);
    at = as_agent_append(at, end, "/");
    *as_agent_append(at, end, file_name) = 0;
}

int as_agent_open(const char *path, int flags)
{
    long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd < 0 ? -errno : (int)fd;
}

static bool status_of(const char *path, struct stat *status)
{
    return syscall(SYS_newfstatat, AT_FDCWD, path, status, 0) == 0;
}

/* ---- Whether it is for us ----------------------------------------------------------------- */

static void count_missed(struct as_agent_control *control, int error)
{
    atomic_fetch_add(&control->processes_missed, 1);
    atomic_store(&control->missed_errno, (uint32_t)error);
}

void as_agent_process_missed(int error)
{
    count_missed(as_agent.control, error);
}

/* A reader that was killed has lost its lock: nobody would empty what we make, or remove it. */
static bool is_abandoned(const struct as_agent_control *control, int fd)
{
    return control->locked && syscall(SYS_flock, fd, LOCK_SH | LOCK_NB) == 0;
}

/* Where processes have other numbers than for the reader it would take them for others. (Of the
 * thread itself: /proc/self tells nothing of a process whose first thread has ended.) */
static bool is_foreign(struct as_agent_control *control)
{
    struct stat status;
    if (control->pid_namespace == 0 || !status_of("/proc/thread-self/ns/pid", &status) ||
        status.st_ino == control->pid_namespace)
        return false;
    count_missed(control, EXDEV);
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
    char path[AS_AGENT_PAGE_B];
    as_agent_path(AS_AGENT_CONTROL, path);
    return as_agent_open(path, O_RDWR);
}

static struct as_agent_control *map_file(int fd)
{
    struct stat status;
    if (fstat(fd, &status) < 0 || status.st_size < (off_t)sizeof(struct as_agent_control))
        return NULL;
    void *at = mmap(NULL, AS_AGENT_PAGE_B, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

struct as_agent_control *as_agent_control_map(void)
{
    const char *directory = getenv(AS_AGENT_DIRECTORY);
    if (!directory || !*directory || strlen(directory) >= sizeof as_agent.directory)
        return NULL;
    memcpy(as_agent.directory, directory, strlen(directory) + 1);
    const int fd = open_control();
    if (fd < 0)
        return NULL;
    struct as_agent_control *control = map_file(fd);
    if (control && !is_for_us(control, fd))
        control = NULL;
    syscall(SYS_close, fd);
    return control;
}

bool as_agent_control_lives(void)
{
    const int fd = as_agent.control->only_pid ? -1 : open_control();
    const bool lives =
        fd >= 0 && !is_abandoned(as_agent.control, fd) && !is_foreign(as_agent.control);
    if (fd >= 0)
        syscall(SYS_close, fd);
    return lives;
}

bool as_agent_is_program(void)
{
    const struct as_agent_control *control = as_agent.control;
    struct stat status;
    return control->program_inode == 0 ||
           (status_of("/proc/thread-self/exe", &status) &&
            status.st_ino == control->program_inode && status.st_dev == control->program_dev);
}

/* ---- Parts -------------------------------------------------------------------------------- */

void *as_agent_part(const struct as_agent_client *client)
{
    for (unsigned i = 0; i < AS_AGENT_PARTS_N; i++) {
        struct as_agent_part *part = &as_agent.control->part[i];
        if (strncmp(part->client, client->name, sizeof part->client) == 0)
            return part->data;
    }
    return NULL;
}

void as_agent_wake(void)
{
    atomic_fetch_add_explicit(&as_agent.control->wake, 1, memory_order_release);
    syscall(SYS_futex, &as_agent.control->wake, FUTEX_WAKE, 1, NULL, NULL, 0);
}
