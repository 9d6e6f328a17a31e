/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tracer/os_counters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    OS_VOLUNTARY,
    OS_INVOLUNTARY,
    OS_MINOR,
    OS_MAJOR,
    OS_RESIDENT,
    OS_RECEIVED,
    OS_SENT,
    OS_COUNTERS_N
};
static const char *const texts[OS_COUNTERS_N] = {
    [OS_VOLUNTARY] = "voluntary context switches",
    [OS_INVOLUNTARY] = "involuntary context switches",
    [OS_MINOR] = "minor page faults",
    [OS_MAJOR] = "major page faults",
    [OS_RESIDENT] = "resident bytes",
    [OS_RECEIVED] = "network bytes received",
    [OS_SENT] = "network bytes sent",
};

static uint32_t number_of_text[OS_COUNTERS_N];
static bool has_network_begun;
static int64_t network_before[2];

struct os_reading {
    struct as_trace_writer *writer;
    uint64_t tick;
    uint32_t (*name)(uint32_t group, const char *text);
};

static void emit_counter_value(const struct os_reading *r, unsigned which, int64_t value)
{
    if (!number_of_text[which])
        number_of_text[which] = r->name(AS_TRACE_OF_COUNTED, texts[which]);
    const uint64_t field[] = {number_of_text[which], as_trace_zigzag(value)};
    as_trace_emit(r->writer, AS_TRACE_COUNTER, r->tick, field, 2);
}

/* ---- Files of the kernel ------------------------------------------------------------------ */

/* So much of it as has room, with a zero behind. False: it cannot be read. */
static bool read_text(const char *path, char *out, size_t room)
{
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    long got = 1;
    while (fd >= 0 && got > 0 && n < room - 1) {
        got = syscall(SYS_read, fd, out + n, room - 1 - n);
        n += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        syscall(SYS_close, fd);
    out[n] = 0;
    return fd >= 0;
}

/* The next number behind blanks. */
static int64_t parse_proc_number(const char **at)
{
    int64_t value = 0;
    while (**at == ' ')
        ++*at;
    for (; **at >= '0' && **at <= '9'; ++*at)
        value = value * 10 + (**at - '0');
    return value;
}

static void emit_memory_counters(const struct os_reading *r)
{
    char text[128];
    const char *at = text;
    if (!read_text("/proc/thread-self/statm", text, sizeof text))
        return;
    parse_proc_number(&at);
    emit_counter_value(r, OS_RESIDENT, parse_proc_number(&at) * 4096);
}

/* A line of /proc/net/dev: "NAME: received-bytes 7 others sent-bytes ...". */
static void add_interface(const char *at, int64_t sum[2])
{
    while (*at == ' ')
        at++;
    const bool is_loopback = at[0] == 'l' && at[1] == 'o' && at[2] == ':';
    while (*at && *at != ':' && *at != '\n')
        at++;
    if (*at != ':' || is_loopback)
        return;
    at++;
    for (unsigned i = 0; i < 9; i++) {
        const int64_t value = parse_proc_number(&at);
        if (i == 0 || i == 8)
            sum[i / 8] += value;
    }
}

static void emit_network_counters(const struct os_reading *r)
{
    static char text[16384]; /* one thread at a time */
    int64_t sum[2] = {0};
    if (!read_text("/proc/net/dev", text, sizeof text))
        return;
    for (const char *line = text; *line; line++) {
        add_interface(line, sum);
        while (*line && *line != '\n')
            line++;
        if (!*line)
            break;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (!has_network_begun)
            network_before[i] = sum[i];
        emit_counter_value(r, OS_RECEIVED + i, sum[i] - network_before[i]);
    }
    has_network_begun = true;
}

/* ---- All ---------------------------------------------------------------------------------- */

void as_os_counters_emit(struct as_trace_writer *w, uint64_t tick, uint32_t wanted,
                         uint32_t (*name)(uint32_t group, const char *text))
{
    const struct os_reading r = {w, tick, name};
    const int saved = errno;
    struct rusage usage;
    const bool is_known = syscall(SYS_getrusage, RUSAGE_SELF, &usage) == 0;
    if (is_known && (wanted & AS_OS_SWITCHES)) {
        emit_counter_value(&r, OS_VOLUNTARY, usage.ru_nvcsw);
        emit_counter_value(&r, OS_INVOLUNTARY, usage.ru_nivcsw);
    }
    if (is_known && (wanted & AS_OS_FAULTS)) {
        emit_counter_value(&r, OS_MINOR, usage.ru_minflt);
        emit_counter_value(&r, OS_MAJOR, usage.ru_majflt);
    }
    if (wanted & AS_OS_MEMORY)
        emit_memory_counters(&r);
    if (wanted & AS_OS_NETWORK)
        emit_network_counters(&r);
    errno = saved;
}
