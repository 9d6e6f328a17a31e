/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mapped for execution: /proc/self/maps, read when the program begins, around dlopen and
 * dlclose and when it ends, so that the reader knows it though the process may be gone when it
 * looks; and which file that is, for its path may lead to another by then. What was generated in
 * between, the reader finds in /proc/PID/maps itself.
 */
#include "agent/sampler/sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/clock.h"

/* One reader at a time; the other leaves it to those outside. */
static _Atomic bool busy;
static char text[16384];

void as_sampler_maps_forked(void)
{
    atomic_store(&busy, false);
}

/* ---- Which file it is --------------------------------------------------------------------- */

/* Where the beginning of a file is mapped: its header leads to its build-id. `key` is the device
 * and inode as the line has them. */
static struct {
    uint64_t start, size_b;
    char key[40];
    size_t key_n;
} first;
/* Of our own memory, by which it is read: another thread may unmap it at any time. */
static int memory_fd = -1;

static uint64_t parse_number(const char **at, unsigned base)
{
    uint64_t value = 0;
    for (;; ++*at) {
        const char c = **at;
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                      : 99;
        if (digit >= base)
            return value;
        value = value * base + digit;
    }
}

/* A line of maps, "START-END RIGHTS OFFSET MAJOR:MINOR INODE PATH", with a zero. */
struct line {
    uint64_t start, end, offset, inode;
    const char *key; /* device and inode */
    size_t key_n;
    const char *path; /* "": there is none */
};

static struct line parse(const char *at)
{
    struct line it = {.start = parse_number(&at, 16)};
    at += *at == '-';
    it.end = parse_number(&at, 16);
    at += *at ? strlen(" rwxp ") : 0;
    it.offset = parse_number(&at, 16);
    at += *at == ' ';
    it.key = at;
    parse_number(&at, 16);
    at += *at == ':';
    parse_number(&at, 16);
    at += *at == ' ';
    it.inode = parse_number(&at, 10);
    it.key_n = (size_t)(at - it.key);
    while (*at == ' ')
        at++;
    it.path = at;
    return it;
}

static void note_first(const struct line *it)
{
    if (it->offset != 0 || it->inode == 0 || it->key_n > sizeof first.key)
        return;
    first.start = it->start;
    first.size_b = it->end - it->start;
    memcpy(first.key, it->key, it->key_n);
    first.key_n = it->key_n;
}

static size_t read_image(void *unused, uint64_t offset, void *to, size_t n)
{
    (void)unused;
    if (offset >= first.size_b)
        return 0;
    if (n > first.size_b - offset)
        n = (size_t)(first.size_b - offset);
    const long got = syscall(SYS_pread64, memory_fd, to, n, first.start + offset);
    return got > 0 ? (size_t)got : 0;
}

static void set_map_file(const struct line *it, struct as_agent_map_record *record)
{
    static uint8_t room[4096];
    struct stat st;
    if (it->inode == 0 || it->path[0] != '/')
        return;
    if (memory_fd >= 0 && it->key_n == first.key_n && memcmp(it->key, first.key, first.key_n) == 0)
        record->build_id_b =
            (uint8_t)as_build_id_find(read_image, NULL, room, sizeof room, record->build_id);
    if (record->build_id_b || syscall(SYS_newfstatat, AT_FDCWD, it->path, &st, 0) < 0 ||
        st.st_ino != it->inode)
        return;
    record->file_b = (uint64_t)st.st_size;
    record->mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
}

/* ---- Telling ------------------------------------------------------------------------------ */

static void record_map_line(const char *line, size_t n, uint64_t time_ns)
{
    const struct line it = parse(line);
    const char *rights = memchr(line, ' ', n);
    note_first(&it);
    if (!rights || line + n - rights < 5 || rights[3] != 'x')
        return;
    struct as_agent_map_record told = {0};
    set_map_file(&it, &told);
    uint32_t size_b = (uint32_t)(sizeof told + n + 1);
    struct as_agent_map_record *record = as_sampler_reserve(size_b, 0);
    if (!record)
        return;
    /* The size stays 0 until all is there. */
    memcpy((uint8_t *)record + sizeof told.head, (const uint8_t *)&told + sizeof told.head,
           sizeof told - sizeof told.head);
    memcpy(record->line, line, n);
    record->line[n] = 0;
    as_sampler_commit(record, size_b, AS_AGENT_MAP, time_ns);
}

/* Tells of the whole lines in `text`; the bytes of the rest, moved to its beginning. */
static size_t record_map_lines(size_t n, uint64_t time_ns)
{
    char *at = text, *end;
    while ((end = memchr(at, '\n', n - (size_t)(at - text)))) {
        *end = 0;
        record_map_line(at, (size_t)(end - at), time_ns);
        at = end + 1;
    }
    n -= (size_t)(at - text);
    memmove(text, at, n);
    return n == sizeof text ? 0 : n;
}

/* System calls, not functions: open and read may be the program's own. */
void as_sampler_maps(uint64_t time_ns)
{
    if (as_agent_is_confined())
        return;
    if (atomic_exchange(&busy, true)) {
        as_sampler_mark(AS_AGENT_LOADED);
        return;
    }
    int saved = errno;
    size_t n = 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/maps", O_RDONLY | O_CLOEXEC);
    memory_fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/mem", O_RDONLY | O_CLOEXEC);
    first.key_n = 0;
    for (long got = fd < 0 ? 0 : 1; got > 0;) {
        got = syscall(SYS_read, fd, text + n, sizeof text - n);
        if (got > 0)
            n = record_map_lines(n + (size_t)got, time_ns);
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (memory_fd >= 0)
        syscall(SYS_close, memory_fd);
    errno = saved;
    atomic_store(&busy, false);
}
