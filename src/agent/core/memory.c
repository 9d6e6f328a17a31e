/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is not the program's: files of the run's directory, mapped, and an area for each
 * client and thread. What the program may have is for the program: its limits are kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/core/agent.h"
#include "base/clock.h"

uint64_t as_agent_limit_b(int which)
{
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)which, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
               ? limit.rlim_cur
               : UINT64_MAX;
}

int as_agent_allocate(int fd, uint64_t size_b)
{
    if (size_b > as_agent_limit_b(RLIMIT_FSIZE)) /* not refused: the signal would kill it */
        return -EFBIG;
    return -posix_fallocate(fd, 0, (off_t)size_b);
}

/* ---- Files -------------------------------------------------------------------------------- */

void as_agent_file_name(const char *prefix, char *out)
{
    const char *end = out + AS_AGENT_FILE_B - 1;
    char *at = as_agent_append(out, end, prefix);
    at = as_agent_append(at, end, ".");
    at = as_agent_append_number(at, end, (uint64_t)as_agent.pid);
    at = as_agent_append(at, end, ".");
    *as_agent_append_number(at, end, as_monotonic_ns()) = 0;
}

void *as_agent_map_shared(const char *file_name, size_t size_b)
{
    return as_agent_map_behind(file_name, 0, size_b);
}

/* The file over the end of anonymous memory. */
static void *map_behind(int fd, size_t before_b, size_t size_b)
{
    const int rights = PROT_READ | PROT_WRITE;
    uint8_t *room =
        before_b ? mmap(NULL, before_b + size_b, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
    if (room == MAP_FAILED)
        return room;
    void *at = mmap(room ? room + before_b : NULL, size_b, rights,
                    MAP_SHARED | (room ? MAP_FIXED : 0), fd, 0);
    if (at == MAP_FAILED && room)
        munmap(room, before_b + size_b);
    return at;
}

void *as_agent_map_behind(const char *file_name, size_t before_b, size_t size_b)
{
    char path[AS_AGENT_PAGE_B];
    as_agent_path(file_name, path);
    const int fd = as_agent_open(path, O_RDWR | O_CREAT | O_EXCL);
    int rc = fd < 0 ? fd : as_agent_allocate(fd, size_b);
    void *at = rc < 0 ? MAP_FAILED : map_behind(fd, before_b, size_b);
    if (rc == 0 && at == MAP_FAILED)
        rc = -errno;
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (fd >= 0 && rc < 0)
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (rc < 0)
        errno = -rc;
    return rc < 0 ? NULL : at;
}

void *as_agent_map(size_t size_b)
{
    void *at = mmap(NULL, size_b, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* ---- Areas -------------------------------------------------------------------------------- */

void *as_agent_area(const struct as_agent_client *client, size_t size_b)
{
    unsigned i = 0;
    while (as_agent.table[i] != client)
        i++;
    __typeof__(&as_agent_self.area[i]) area = &as_agent_self.area[i];
    if (!area->at && !as_agent_is_confined()) {
        area->at = as_agent_map(size_b);
        area->size_b = size_b;
    }
    return area->at;
}

void as_agent_areas_end(void)
{
    for (unsigned i = 0; i < AS_AGENT_CLIENTS_N; i++) {
        void *at = as_agent_self.area[i].at;
        as_agent_self.area[i].at = NULL;
        if (at)
            munmap(at, as_agent_self.area[i].size_b);
    }
}
