/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the kernel's account of the processes of a run. It reads all of /proc, because nothing else
 * shows a child of an ended parent. A process that belongs to the run once always belongs to it.
 */
#include "profile/task_account.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/task.h"
#include "profile/record.h"

/* Time until the first reading, and max time between two. */
#define FIRST_NS 50000000
#define MOST_NS  250000000
/* Min time to the next reading, as a multiple of the CPU time of a reading. CPU time is used,
 * because a busy host prolongs a reading, and processes that end in between are missed. */
#define SPARING 200
/* Min CPU time of a process for a check of permission to sample it; max processes in the facts. */
#define WORTH_NS  50000000
#define TOLD_MOST 64

/* ---- Why a process may not be sampled ------------------------------------------------------- */

static bool is_other_root(uint32_t pid)
{
    char path[64];
    struct stat ours, its;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/root/.", pid);
    return stat("/", &ours) == 0 && stat(path, &its) == 0 &&
           (ours.st_dev != its.st_dev || ours.st_ino != its.st_ino);
}

/* Returns true if a line "REAL EFFECTIVE ..." of users or groups has another id than ours. */
static bool acts_as_other(const char *text, unsigned ours)
{
    char *at;
    const unsigned long real = strtoul(text, &at, 10), effective = strtoul(at, &at, 10);
    return real != effective || effective != ours;
}

/* Returns true if a process acts as another user or group, or if we may not read it. */
static bool has_other_rights(uint32_t pid)
{
    char path[64], line[256];
    struct stat status;
    bool other = false;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", pid);
    if (stat(path, &status) < 0)
        return true;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/status", pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "Uid:", 4) == 0)
            other |= acts_as_other(line + 4, geteuid());
        else if (strncmp(line, "Gid:", 4) == 0)
            other |= acts_as_other(line + 4, getegid());
    }
    if (f)
        fclose(f);
    return other;
}

/* Returns true if a process has the agent's environment variables, or if that is unknown. */
static bool has_our_variables(uint32_t pid)
{
    static const char name[] = "ASSAY_AGENT=";
    char path[64], text[1 << 14];
    size_t kept = 0;
    ssize_t n;
    bool has = false;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/environ", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    while (!has && (n = read(fd, text + kept, sizeof text - kept)) > 0) {
        const size_t all = kept + (size_t)n;
        has = memmem(text, all, name, sizeof name - 1) != NULL;
        kept = all < sizeof name ? all : sizeof name;
        memmove(text, text + all - kept, kept);
    }
    close(fd);
    return has;
}

static void explain_missing_timers(struct as_ledger_process *process)
{
    char path[64];
    struct as_error why;
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/exe", process->pid);
    if (is_other_root(process->pid))
        snprintf(process->why, sizeof process->why,
                 "has another root directory (chroot) without the agent library; permit perf "
                 "events");
    else if (as_timer_sampler_check(path, &why) < 0 && strncmp(why.text, path, strlen(path)) == 0)
        snprintf(process->why, sizeof process->why, "%s", why.text + strlen(path) + 2);
    else if (!has_our_variables(process->pid))
        snprintf(process->why, sizeof process->why,
                 "was started without LD_PRELOAD and ASSAY_AGENT in its environment; pass these "
                 "on to it, or permit perf events");
}

static void explain_missing_process(const struct as_ledger *ledger,
                                    struct as_ledger_process *process)
{
    process->asked = true;
    if (ledger->is_timed)
        explain_missing_timers(process);
    else if (has_other_rights(process->pid))
        snprintf(process->why, sizeof process->why,
                 "has other privileges than its user (set-user-ID, capabilities), so the kernel "
                 "ended its sampling; start it as the user that it becomes, or profile it with "
                 "--pid as root");
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* Returns the steal time of all CPUs of this virtual machine. */
static uint64_t stolen_ns(void)
{
    char line[512] = "";
    char *at = line;
    FILE *f = fopen("/proc/stat", "re");
    if (!f || !fgets(line, sizeof line, f) || strncmp(line, "cpu ", 4) != 0)
        line[0] = 0;
    if (f)
        fclose(f);
    at += strspn(line, "cpu ");
    uint64_t steal = 0;
    for (unsigned field = 1; field <= 8; field++)
        steal = strtoull(at, &at, 10);
    const long hz = sysconf(_SC_CLK_TCK);
    return hz > 0 ? steal * (1000000000u / (uint64_t)hz) : 0;
}

struct seen {
    uint32_t pid;
    bool is_ours;
    struct as_task task;
};
struct ledger_look {
    AS_VEC(struct seen) seen;
};

static struct as_ledger_process *find_process(struct as_ledger *ledger, uint32_t pid,
                                              uint64_t start)
{
    as_vec_foreach (&ledger->process, process)
        if (process->pid == pid && process->start == start)
            return process;
    return NULL;
}

static void read_processes(struct as_ledger *ledger, struct ledger_look *look)
{
    DIR *dir = opendir("/proc");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct seen it = {.pid = (uint32_t)strtoul(entry->d_name, NULL, 10)};
        if (!isdigit((unsigned char)entry->d_name[0]) || !as_task_read(it.pid, &it.task) ||
            it.task.kernel || it.task.start < ledger->start)
            continue;
        it.is_ours = it.pid == ledger->pid || find_process(ledger, it.pid, it.task.start);
        (void)as_vec_push(&look->seen, it);
    }
    if (dir)
        closedir(dir);
}

/* Marks the descendants of processes of the run. Pids mostly rise, so the first pass finds nearly
 * all of them. */
static void spread(struct ledger_look *look)
{
    for (bool more = true; more;) {
        more = false;
        as_vec_foreach (&look->seen, child) {
            for (size_t i = 0; i < look->seen.n && !child->is_ours; i++) {
                const struct seen *parent = &look->seen.at[i];
                if (parent->is_ours && parent->pid == child->task.parent)
                    more = child->is_ours = true;
            }
        }
    }
}

static void enter_process(struct as_ledger *ledger, const struct seen *it)
{
    struct as_ledger_process *process = find_process(ledger, it->pid, it->task.start);
    if (!process) {
        const struct as_ledger_process made = {.pid = it->pid, .start = it->task.start};
        if (as_vec_push(&ledger->process, made) < 0)
            return;
        process = &ledger->process.at[ledger->process.n - 1];
    }
    if (strcmp(process->name, it->task.name) != 0) { /* the process has executed another program */
        snprintf(process->name, sizeof process->name, "%s", it->task.name);
        process->asked = false;
    }
    process->cpu_ns = it->task.cpu_ns;
    process->lives = true;
    if (!process->asked && process->cpu_ns >= WORTH_NS && it->task.state != 'Z')
        explain_missing_process(ledger, process);
}

/* Removes ended processes with little CPU time, because scripts start thousands of them. */
static void forget_small(struct as_ledger *ledger)
{
    size_t kept = 0;
    as_vec_foreach (&ledger->process, process) {
        if (process->lives || process->cpu_ns >= WORTH_NS)
            ledger->process.at[kept++] = *process;
        else
            ledger->gone_ns += process->cpu_ns;
    }
    ledger->process.n = kept;
}

/* Keeps the reading with the most memory of all processes. */
static void look_at_pages(struct as_ledger *ledger)
{
    struct as_process_pages sum = {0};
    as_vec_foreach (&ledger->process, process)
        if (process->lives && process->cpu_ns >= WORTH_NS)
            as_process_pages_add(process->pid, &sum);
    if (sum.memory_b > ledger->pages.memory_b)
        ledger->pages = sum;
}

void as_ledger_begin(struct as_ledger *ledger, pid_t pid, bool is_timed, int64_t now_ns)
{
    struct as_task task = {0};
    (void)as_task_read((uint32_t)pid, &task); /* if it fails, processes of any age count */
    *ledger = (struct as_ledger){.pid = (uint32_t)pid,
                                 .start = task.start,
                                 .is_timed = is_timed,
                                 .due_ns = now_ns + FIRST_NS,
                                 .gap_ns = FIRST_NS,
                                 .stolen_ns = stolen_ns()};
}

void as_ledger_look(struct as_ledger *ledger, int64_t now_ns)
{
    struct ledger_look look = {0};
    if (!ledger->pid || now_ns < ledger->due_ns)
        return;
    const int64_t began_ns = as_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    read_processes(ledger, &look);
    spread(&look);
    as_vec_foreach (&ledger->process, process)
        process->lives = false;
    as_vec_foreach (&look.seen, it)
        if (it->is_ours)
            enter_process(ledger, it);
    as_vec_fini(&look.seen);
    look_at_pages(ledger);
    forget_small(ledger);
    const int64_t sparing_ns = SPARING * (as_clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
    ledger->gap_ns = ledger->gap_ns * 2 < MOST_NS ? ledger->gap_ns * 2 : MOST_NS;
    ledger->due_ns =
        as_monotonic_ns() + (ledger->gap_ns > sparing_ns ? ledger->gap_ns : sparing_ns);
}

/* ---- Telling --------------------------------------------------------------------------------- */

static int by_cpu_time(const void *a, const void *b)
{
    const struct as_ledger_process *x = a, *y = b;
    return x->cpu_ns != y->cpu_ns ? (x->cpu_ns > y->cpu_ns ? -1 : 1) : 0;
}

static int record_account_number(struct as_recorder *recorder, const char *name, uint64_t value,
                                 struct as_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return as_recorder_info(recorder, name, text, err);
}

/* Returns true for a daemon that MPI starts for a rank without mpirun. Such daemons do not compute,
 * and end by themselves. */
static bool is_mpi_daemon(const char *name)
{
    static const char *const daemons[] = {"orted", "prted", "hydra_pmi_proxy"};
    const char *slash = strrchr(name, '/');

    for (size_t i = 0; i < sizeof daemons / sizeof *daemons; i++)
        if (strcmp(slash ? slash + 1 : name, daemons[i]) == 0)
            return true;
    return false;
}

/* Returns the number of processes that still run after the end of the command, such as daemons. */
static uint64_t count_living(const struct as_ledger *ledger)
{
    struct as_task task;
    uint64_t n = 0;
    as_vec_foreach (&ledger->process, process)
        n += process->lives && as_task_read(process->pid, &task) && task.start == process->start &&
             task.state != 'Z' && !is_mpi_daemon(process->name);
    return n;
}

int as_ledger_write(struct as_ledger *ledger, const struct as_launch_outcome *outcome,
                    struct as_recorder *recorder, struct as_error *err)
{
    char text[512];
    uint64_t all_ns = ledger->gone_ns, told = 0;
    if (!ledger->pid)
        return 0;
    if (!outcome->over) { /* the processes still exist */
        ledger->due_ns = 0;
        as_ledger_look(ledger, as_monotonic_ns());
    }
    if (ledger->pages.memory_b) {
        snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64, ledger->pages.memory_b,
                 ledger->pages.huge_b);
        AS_TRY(as_recorder_info(recorder, "memory_pages", text, err));
    }
    if (outcome->over && count_living(ledger))
        AS_TRY(record_account_number(recorder, "outlived_n", count_living(ledger), err));
    if (ledger->process.n)
        qsort(ledger->process.at, ledger->process.n, sizeof *ledger->process.at, by_cpu_time);
    as_vec_foreach (&ledger->process, process) {
        all_ns += process->cpu_ns;
        if (process->cpu_ns < WORTH_NS || told++ >= TOLD_MOST)
            continue;
        snprintf(text, sizeof text, "%" PRIu32 " %" PRIu64 " %s\t%s", process->pid, process->cpu_ns,
                 process->name, process->why);
        AS_TRY(as_recorder_info(recorder, "process_cpu", text, err));
    }
    /* The account at the end misses children without a wait, and exists only if the command has
     * ended. */
    const uint64_t end_ns = outcome->over ? outcome->user_ns + outcome->system_ns : 0;
    AS_TRY(record_account_number(recorder, "cpu_ns", end_ns > all_ns ? end_ns : all_ns, err));
    if (end_ns >= all_ns)
        AS_TRY(record_account_number(recorder, "cpu_user_ns", outcome->user_ns, err));
    return record_account_number(recorder, "stolen_ns", stolen_ns() - ledger->stolen_ns, err);
}

void as_ledger_end(struct as_ledger *ledger)
{
    as_vec_fini(&ledger->process);
    ledger->pid = 0;
}
