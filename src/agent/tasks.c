/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/agent.h"

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
    const pid_t self = (pid_t)syscall(SYS_gettid);
    const int fd = as_agent_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    int sum = fd < 0 ? fd : 0;
    long got = fd < 0 ? 0 : 1;

    while (got > 0 && sum >= 0) {
        got = syscall(SYS_getdents64, fd, entries, sizeof entries);
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
        syscall(SYS_close, fd);
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

int as_agent_task_read(pid_t tid, struct as_agent_task *out)
{
    static char text[4096];
    char path[64] = "";
    const char *end = path + sizeof path - 1;
    char *at = as_agent_append(path, end, "/proc/self/task/");

    memset(out, 0, sizeof *out);
    at = as_agent_append_number(at, end, (uint64_t)tid);
    *as_agent_append(at, end, "/status") = 0;
    const int fd = as_agent_open(path, O_RDONLY);
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    const long got = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (got < 0) /* it ended meanwhile */
        return 0;
    text[got] = 0;
    const char state = *find_behind(text, "\nState:\t");
    out->state = state == 'Z' || state == 'X' ? 0 : state;
    out->pending = read_hex(find_behind(text, "\nSigPnd:\t"));
    out->blocked = read_hex(find_behind(text, "\nSigBlk:\t"));
    return 0;
}
