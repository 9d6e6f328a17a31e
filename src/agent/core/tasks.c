/* SPDX-License-Identifier: Apache-2.0 */
/* Knows nothing of the agent. */
#include "agent/core/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "agent/core/kernel_call.h"

static long kernel(long number, long a, long b, long c)
{
    return as_kernel_call(number, a, b, c, 0, 0, 0);
}

static int open_path(const char *path, int flags)
{
    return (int)kernel(SYS_open, (long)path, flags | O_CLOEXEC, 0);
}

/* ---- The threads ---------------------------------------------------------------------------- */

static pid_t number_of(const char *name)
{
    pid_t tid = 0;

    for (; *name >= '0' && *name <= '9'; name++)
        tid = tid * 10 + (*name - '0');
    return *name ? 0 : tid;
}

int as_agent_tasks(int (*each)(pid_t tid))
{
    static char entries[8192] __attribute__((aligned(8)));
    const pid_t self = (pid_t)kernel(SYS_gettid, 0, 0, 0);
    const int fd = open_path("/proc/self/task", O_RDONLY | O_DIRECTORY);
    int sum = fd < 0 ? fd : 0;
    long got = fd < 0 ? 0 : 1;

    while (got > 0 && sum >= 0) {
        got = kernel(SYS_getdents64, fd, (long)entries, sizeof entries);
        for (long at = 0; at < got && sum >= 0;) {
            uint16_t size_b;

            memcpy(&size_b, entries + at + 16, sizeof size_b);
            const pid_t tid = number_of(entries + at + 19);
            at += size_b;
            if (tid == 0 || tid == self)
                continue;
            const int rc = each(tid);
            sum = rc < 0 ? rc : sum + rc;
        }
    }
    if (fd >= 0)
        kernel(SYS_close, fd, 0, 0);
    return sum;
}

/* ---- The state of one ----------------------------------------------------------------------- */

/* Returns the text behind the key; "" if the key is missing. */
static const char *find_behind(const char *text, const char *key)
{
    for (const size_t key_b = strlen(key); *text; text++)
        if (strncmp(text, key, key_b) == 0)
            return text + key_b;
    return "";
}

static uint64_t read_hex(const char *at)
{
    uint64_t value = 0;

    for (;; at++) {
        const bool is_digit = *at >= '0' && *at <= '9';

        if (!is_digit && !(*at >= 'a' && *at <= 'f'))
            return value;
        value = value << 4 | (uint64_t)(is_digit ? *at - '0' : *at - 'a' + 10);
    }
}

/* `path` has room for 64 bytes. */
static void status_path(char *path, uint32_t tid)
{
    static const char head[] = "/proc/self/task/", tail[] = "/status";
    char digits[16];
    size_t n = 0, at = sizeof head - 1;

    memcpy(path, head, at);
    do
        digits[n++] = (char)('0' + tid % 10);
    while (tid /= 10);
    while (n)
        path[at++] = digits[--n];
    memcpy(path + at, tail, sizeof tail);
}

int as_agent_task_read(pid_t tid, struct as_agent_task *out)
{
    static char text[4096];
    char path[64];

    memset(out, 0, sizeof *out);
    status_path(path, (uint32_t)tid);
    const int fd = open_path(path, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    const long got = kernel(SYS_read, fd, (long)text, sizeof text - 1);
    kernel(SYS_close, fd, 0, 0);
    if (got < 0) /* it ended meanwhile */
        return 0;
    text[got] = 0;
    const char state = *find_behind(text, "\nState:\t");
    out->state = state == 'Z' || state == 'X' ? 0 : state;
    out->pending = read_hex(find_behind(text, "\nSigPnd:\t"));
    out->blocked = read_hex(find_behind(text, "\nSigBlk:\t"));
    return 0;
}
