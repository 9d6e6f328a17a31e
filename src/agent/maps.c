/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mapped for execution: /proc/self/maps, read when the program begins, around dlopen and
 * dlclose and when it ends, so that the reader knows it though the process may be gone when it
 * looks. What was generated in between, the reader finds in /proc/PID/maps itself.
 */
#include "agent/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* One reader at a time; the other leaves it to those outside. */
static _Atomic bool busy;
static char text[16384];

void as_agent_maps_forked(void)
{
    atomic_store(&busy, false);
}

static void tell_line(const char *line, size_t n, uint64_t time_ns)
{
    const char *rights = memchr(line, ' ', n);
    if (!rights || line + n - rights < 5 || rights[3] != 'x')
        return;
    uint32_t size_b = (uint32_t)(sizeof(struct as_agent_map_record) + n + 1);
    struct as_agent_map_record *record = as_agent_reserve(size_b, 0);
    if (!record)
        return;
    memcpy(record->line, line, n);
    record->line[n] = 0;
    as_agent_commit(record, size_b, AS_AGENT_MAP, time_ns);
}

/* Tells of the whole lines in `text`; the bytes of the rest, moved to its beginning. */
static size_t tell_lines(size_t n, uint64_t time_ns)
{
    char *at = text, *end;
    while ((end = memchr(at, '\n', n - (size_t)(at - text)))) {
        tell_line(at, (size_t)(end - at), time_ns);
        at = end + 1;
    }
    n -= (size_t)(at - text);
    memmove(text, at, n);
    return n == sizeof text ? 0 : n;
}

/* System calls, not functions: open and read may be the program's own. */
void as_agent_maps(uint64_t time_ns)
{
    if (atomic_exchange(&busy, true)) {
        as_agent_mark(AS_AGENT_LOADED);
        return;
    }
    int saved = errno;
    size_t n = 0;
    atomic_store(&as_agent.loaded, 0);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (long got = fd < 0 ? 0 : 1; got > 0;) {
        got = syscall(SYS_read, fd, text + n, sizeof text - n);
        if (got > 0)
            n = tell_lines(n + (size_t)got, time_ns);
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = saved;
    atomic_store(&busy, false);
}

/* ---- Loading ------------------------------------------------------------------------------ */

/*
 * The loader looks at who calls: a name without a slash is searched along the RUNPATH of the
 * caller. Such calls are passed on by a jump, which makes the program the caller; the others are
 * watched to their end.
 */
AS_AGENT_API void *dlopen(const char *name, int flags)
{
    if (!name || !as_agent_active())
        return AS_AGENT_REAL(dlopen)(name, flags);
    if (strchr(name, '/') && !strchr(name, '$')) {
        uint64_t begun_ns = as_agent_now_ns();
        void *handle = AS_AGENT_REAL(dlopen)(name, flags);
        if (handle)
            as_agent_maps(begun_ns);
        return handle;
    }
    atomic_store(&as_agent.loaded, 1);
    as_agent_mark(AS_AGENT_LOADED);
    return AS_AGENT_REAL(dlopen)(name, flags);
}

AS_AGENT_API int dlclose(void *handle)
{
    if (as_agent_active() && as_agent.loaded)
        as_agent_maps(as_agent_now_ns());
    return AS_AGENT_REAL(dlclose)(handle);
}
