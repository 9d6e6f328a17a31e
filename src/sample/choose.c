/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the event: tries what perf_event_open grants, the best event first, and keeps the
 * exact reason of each refusal. Source: perf_event_open(2), kernel sysctl documentation.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sample/branches.h"

static const struct {
    const char *name;
    uint32_t type;
    uint64_t config;
} events[AS_EVENTS] = {
    [AS_EVENT_AUTO] = {"auto", 0, 0},
    [AS_EVENT_CYCLES] = {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    [AS_EVENT_REF_CYCLES] = {"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
    [AS_EVENT_CPU_CLOCK] = {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
    [AS_EVENT_TIMER] = {"timer", 0, 0},
};

const char *as_sample_event_name(unsigned event)
{
    return event < AS_EVENTS ? events[event].name : "unknown";
}

int as_sample_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Returns a number of /proc/sys/kernel, or `none` if it cannot be read. */
static long setting(const char *name, long none)
{
    char path[128];
    snprintf(path, sizeof path, "/proc/sys/kernel/%s", name);
    FILE *f = fopen(path, "re");
    char line[64] = "", *end;
    if (!f)
        return none;
    if (!fgets(line, sizeof line, f))
        line[0] = 0;
    fclose(f);
    const long value = strtol(line, &end, 10);
    return end == line ? none : value;
}

void as_sample_add_reason(struct as_sample_choice *choice, const char *format, ...)
{
    size_t n = strlen(choice->reason), room = sizeof choice->reason;
    va_list ap;
    if (n && n + 3 < room) {
        memcpy(choice->reason + n, "; ", 3);
        n += 2;
    }
    va_start(ap, format);
    vsnprintf(choice->reason + n, room - n, format, ap);
    va_end(ap);
}

const char *as_sample_why_not(int error, char *text, size_t n)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
        snprintf(text, n, "this machine has no hardware counter for it (%s)",
                 strerrorname_np(error));
        break;
    case EOPNOTSUPP:
        snprintf(text, n, "its counter cannot interrupt here (EOPNOTSUPP), as in virtual machines");
        break;
    case EBUSY:
        snprintf(text, n, "another program uses the counters exclusively (EBUSY)");
        break;
    default:
        snprintf(text, n, "%s", strerror(error));
        break;
    }
    return text;
}

long as_sample_paranoid(void)
{
    return setting("perf_event_paranoid", -99);
}

/* Returns true if a seccomp filter restricts this process, as in containers. */
static bool is_filtered(void)
{
    static const char key[] = "Seccomp:";
    char line[128] = "";
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f) && strncmp(line, key, sizeof key - 1) != 0)
        line[0] = 0;
    if (f)
        fclose(f);
    return line[0] && strtol(line + sizeof key - 1, NULL, 10) > 0;
}

/* Writes the fix for EACCES and EPERM to `text`. */
static const char *permit(long paranoid, bool other, char *text, size_t n)
{
    const bool filtered = is_filtered();
    static const char start[] = "start the container with --cap-add PERFMON "
                                "--security-opt seccomp=unconfined";
    if (paranoid > 2)
        snprintf(text, n,
                 "run 'sysctl kernel.perf_event_paranoid=2' as root, or give this program the "
                 "capability CAP_PERFMON%s%s",
                 filtered ? "; in a container: " : "", filtered ? start : "");
    else if (other)
        snprintf(text, n,
                 "it belongs to another user or has more privileges%s; run as its user or root, or "
                 "give this program the capability CAP_PERFMON",
                 filtered ? ", or a seccomp filter forbids it" : "");
    else if (filtered)
        snprintf(text, n,
                 "this would permit it, but a seccomp filter forbids it, as in containers; %s",
                 start);
    else
        snprintf(text, n,
                 "this would permit it, but the system forbids it otherwise; run as root, or ask "
                 "the administrator");
    return text;
}

static int refused_permission(struct as_error *err, pid_t pid, int error)
{
    const long paranoid = as_sample_paranoid();
    char who[64] = "perf_event_open", value[32] = "not there", todo[256];
    if (pid)
        snprintf(who, sizeof who, "process %d: cannot be sampled", (int)pid);
    if (paranoid != -99)
        snprintf(value, sizeof value, "%ld", paranoid);
    return as_error_set(err, AS_ERR_PERMISSION, "%s: %s: kernel.perf_event_paranoid is %s; %s", who,
                        strerrorname_np(error), value,
                        permit(paranoid, pid != 0, todo, sizeof todo));
}

int as_sample_refused(struct as_error *err, pid_t pid, int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return refused_permission(err, pid, error);
    case ESRCH:
        return as_error_set(err, AS_ERR_NOT_FOUND,
                            "process %d: no such process; use the number of a running "
                            "process",
                            (int)pid);
    case EMFILE:
    case ENFILE:
        return as_error_set(err, AS_ERR_LIMIT,
                            "process %d: too many open files for one event per thread and CPU; "
                            "raise the limit with 'ulimit -n'",
                            (int)pid);
    case ENOSYS:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "perf_event_open: ENOSYS: this kernel was built without it "
                            "(CONFIG_PERF_EVENTS), or a seccomp filter hides it%s; use a kernel "
                            "that has it",
                            is_filtered() ? " (seccomp is on here)" : "");
    case ENOMEM:
        return as_error_nomem(err, "perf events");
    default:
        return as_error_set(err, AS_ERR_UNSUPPORTED,
                            "perf_event_open: %s: this kernel has neither counters nor a clock "
                            "for sampling; use another kernel",
                            strerrorname_np(error) ? strerrorname_np(error) : strerror(error));
    }
}

static void common_attr(struct perf_event_attr *attr, const struct as_sample_options *options)
{
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    /* The CPU is known from the ring. A CPU field in each switch record cost 55 ns
     * (doc/internals/benchmarks.md). */
    attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
    attr->sample_id_all = 1;
    attr->disabled = 1;
    attr->inherit = !options->no_children;
    attr->enable_on_exec = options->on_exec;
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
    attr->build_id = 1;
    attr->read_format = PERF_FORMAT_LOST;
    attr->context_switch = options->switches;
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC;
    attr->exclude_hv = 1;
    attr->exclude_kernel = !options->kernel;
    attr->exclude_guest = 1;
    attr->watermark = 1;
    if (options->stacks == AS_STACKS_FRAME || (options->stacks != AS_STACKS_OFF && options->kernel))
        attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
    if (options->stacks == AS_STACKS_LBR)
        as_branches_request(attr);
    attr->exclude_callchain_kernel = !options->kernel;
    if (options->stacks == AS_STACKS_DWARF) {
        attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr->exclude_callchain_user = 1;
        attr->sample_regs_user = as_sample_regs_mask;
        attr->sample_stack_user = options->stack_b;
    }
}

static void set_event(struct perf_event_attr *attr, unsigned event, uint32_t rate_hz)
{
    attr->type = events[event].type;
    attr->config = events[event].config;
    attr->freq = event != AS_EVENT_CPU_CLOCK;
    /* A clock needs no frequency mode: its period is time. */
    if (attr->freq)
        attr->sample_freq = rate_hz;
    else
        attr->sample_period = 1000000000u / rate_hz;
}

/*
 * Opens one event. Removes features that this kernel lacks (counts of lost records: 6.0, build-ids:
 * 5.12) or that this user may not use. Returns the descriptor or a negative errno.
 */
static int try_event(struct as_sampler *sampler, unsigned event, pid_t pid, int cpu)
{
    struct perf_event_attr *attr = &sampler->attr;
    set_event(attr, event, sampler->choice.rate_hz);
    for (;;) {
        int fd = as_sample_perf_event_open(attr, pid, cpu);
        if (fd >= 0)
            return fd;
        int error = errno;
        if (error == EINVAL && attr->read_format)
            attr->read_format = 0;
        else if (error == EINVAL && attr->build_id)
            attr->build_id = 0;
        else if ((error == EACCES || error == EPERM) && !attr->exclude_kernel)
            attr->exclude_kernel = attr->exclude_callchain_kernel = 1;
        else
            return -error;
    }
}

static void clamp_rate(struct as_sample_choice *choice)
{
    long most = setting("perf_event_max_sample_rate", 100000);
    if (most > 0 && choice->rate_hz > (uint64_t)most) {
        as_sample_add_reason(choice,
                             "the rate is %ld, not %" PRIu32
                             " a second: kernel.perf_event_max_sample_rate says so",
                             most, choice->rate_hz);
        choice->rate_hz = (uint32_t)most;
    }
}

int as_sample_choose(struct as_sampler *sampler, pid_t pid, int cpu, struct as_error *err)
{
    const struct as_sample_options *options = &sampler->options;
    struct as_sample_choice *choice = &sampler->choice;
    unsigned wanted = options->event, event, last_error = 0;
    char why[128];
    int fd = -1;
    choice->rate_hz = options->rate_hz;
    clamp_rate(choice);
    const unsigned last =
        options->stacks == AS_STACKS_LBR ? AS_EVENT_REF_CYCLES : AS_EVENT_CPU_CLOCK;
    for (event = wanted ? wanted : AS_EVENT_CYCLES; event <= last; event++) {
        common_attr(&sampler->attr, options);
        fd = try_event(sampler, event, pid, cpu);
        if (fd >= 0)
            break;
        last_error = (unsigned)-fd;
        /* Only a missing counter is a reason for another event. Other errors would stop every
         * event. */
        if (fd != -ENOENT && fd != -ENODEV && fd != -EOPNOTSUPP && fd != -EBUSY && fd != -EINVAL)
            break;
        as_sample_add_reason(choice, "no %s: %s", events[event].name,
                             as_sample_why_not(-fd, why, sizeof why));
    }
    if (fd < 0 && options->stacks == AS_STACKS_LBR)
        return as_branches_refused(&sampler->attr, pid, cpu, (int)last_error, err);
    if (fd < 0)
        return as_sample_refused(err, options->on_exec ? 0 : pid, (int)last_error);
    close(fd);
    choice->event = (uint8_t)event;
    choice->kernel = !sampler->attr.exclude_kernel;
    choice->stack_b = sampler->attr.sample_stack_user;
    choice->switches = sampler->attr.context_switch;
    choice->build_ids = sampler->attr.build_id;
    if (options->kernel && !choice->kernel)
        as_sample_add_reason(
            choice,
            "the kernel's share%s not recorded: kernel.perf_event_paranoid is %ld; run 'sysctl "
            "kernel.perf_event_paranoid=1' as root, or give this program CAP_PERFMON",
            options->waits ? " and waiting positions of threads are" : " is", as_sample_paranoid());
    return 0;
}

/* ---- Waiting positions ---------------------------------------------------------------------- */

/*
 * One sample at each switch to another thread: the time until the thread returns belongs to its
 * position. Programs may switch a million times a second. So these samples have small stack copies
 * and their own buffers, and pause when the buffers are full (waits.c). Switch records are complete
 * and show which waits have no sample.
 */
#define WAITS_STACK_B 8192u

/* Returns the id of the tracepoint of thread switches, or 0 if it is unreadable. The tracepoint is
 * better than the software event: it separates waiting threads from preempted ones. */
static uint64_t switch_point(void)
{
    static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
    uint64_t number = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places && !number; i++) {
        char path[128], line[32] = "";
        snprintf(path, sizeof path, "%s/events/sched/sched_switch/id", places[i]);
        FILE *f = fopen(path, "re");
        if (f && fgets(line, sizeof line, f))
            number = strtoull(line, NULL, 10);
        if (f)
            fclose(f);
    }
    return number;
}

int as_sample_open_waits(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
    const int fd = as_sample_perf_event_open(attr, pid, cpu);
    if (fd < 0 || attr->type != PERF_TYPE_TRACEPOINT)
        return fd;
    /* State bits of waiting threads. A preempted or yielding thread has none of these bits. */
    if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "prev_state & 127") == 0)
        return fd;
    const int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void set_waits(struct as_sampler *sampler, uint64_t point)
{
    struct perf_event_attr *attr = &sampler->waits;
    *attr = sampler->attr;
    attr->type = point ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE;
    attr->config = point ? point : PERF_COUNT_SW_CONTEXT_SWITCHES;
    attr->freq = 0;
    attr->sample_period = 1;
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 0;
    attr->context_switch = attr->build_id = 0;
    attr->exclude_kernel = 0; /* the switch is in the kernel, but its user position is wanted */
    attr->exclude_callchain_kernel = 1;
    if (sampler->options.stacks == AS_STACKS_FRAME)
        return;
    /* No branch records at a switch: use DWARF */
    if (sampler->options.stacks == AS_STACKS_LBR) {
        as_branches_leave(attr);
        attr->sample_type |= PERF_SAMPLE_STACK_USER;
        attr->sample_stack_user = 2 * WAITS_STACK_B;
    }
    attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
    attr->sample_type |= PERF_SAMPLE_REGS_USER;
    attr->sample_regs_user = as_sample_regs_mask;
    attr->sample_stack_user = attr->sample_stack_user / 2 & ~7u;
}

void as_sample_no_waits(struct as_sampler *sampler, const char *why)
{
    if (sampler->choice.waits)
        as_sample_add_reason(&sampler->choice, "waiting positions of threads are not recorded: %s",
                             why);
    sampler->choice.waits = false;
}

void as_sample_choose_waits(struct as_sampler *sampler, pid_t pid, int cpu)
{
    char why[128];
    if (!sampler->options.waits || (sampler->options.kernel && !sampler->choice.kernel))
        return; /* kernel sampling was refused, so switches are refused too */
    set_waits(sampler, switch_point());
    int fd = as_sample_open_waits(&sampler->waits, pid, cpu);
    if (fd < 0 && sampler->waits.type == PERF_TYPE_TRACEPOINT) {
        set_waits(sampler, 0);
        fd = as_sample_open_waits(&sampler->waits, pid, cpu);
    }
    sampler->choice.waits = true;
    if (fd >= 0)
        close(fd);
    else if (errno == EACCES || errno == EPERM)
        as_sample_no_waits(sampler, "it needs kernel.perf_event_paranoid=1 or CAP_PERFMON");
    else
        as_sample_no_waits(sampler, as_sample_why_not(errno, why, sizeof why));
}
