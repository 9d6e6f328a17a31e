/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads how many CPUs a process may use, and for how long these CPUs have been busy. Affinity and
 * cgroup quotas limit the number. Sources: proc(5), Documentation/admin-guide/cgroup-v2.rst,
 * Documentation/accounting/psi.rst.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"

#define CPUS_MOST 8192

struct asked {
    const char *root;
    long pid;                   /* 0 = this process */
    uint8_t may[CPUS_MOST / 8]; /* affinity mask, one bit per CPU */
    struct as_host_load *load;  /* receives the result */
};

__attribute__((format(printf, 2, 3))) static FILE *open_at(const struct asked *a,
                                                           const char *format, ...)
{
    char path[4096], full[8192];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    snprintf(full, sizeof full, "%s%s", a->root, path);
    return fopen(full, "re");
}

static FILE *open_proc(const struct asked *a, const char *name)
{
    return a->pid ? open_at(a, "/proc/%ld/%s", a->pid, name) : open_at(a, "/proc/self/%s", name);
}

/* ---- Affinity ------------------------------------------------------------------------------ */

/* Marks the CPUs of a list such as "0-3,8" and returns their number. */
static int64_t mark_list(struct asked *a, const char *list)
{
    int64_t n = 0;

    while (*list >= '0' && *list <= '9') {
        char *end;
        const unsigned long first = strtoul(list, &end, 10);
        const unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        for (unsigned long cpu = first; cpu <= last && cpu < CPUS_MOST; cpu++, n++)
            a->may[cpu / 8] |= (uint8_t)(1u << cpu % 8);
        list = end + (*end == ',');
    }
    return n;
}

static void read_affinity(struct asked *a)
{
    static const char title[] = "Cpus_allowed_list:";
    char line[4096];
    FILE *f = open_proc(a, "status");

    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, title, sizeof title - 1) != 0)
            continue;
        const int64_t n =
            mark_list(a, line + sizeof title - 1 + strspn(line + sizeof title - 1, " \t"));
        a->load->usable_cpu_n = n > 0 ? (double)n : -1;
    }
    if (f)
        fclose(f);
}

/* ---- Quotas -------------------------------------------------------------------------------- */

/* Applies a quota of `quota` us in every `period` us; "max" or a negative quota means no limit. */
static void bound_by_quota(struct asked *a, double quota, double period)
{
    const double n = quota > 0 && period > 0 ? quota / period : -1;

    if (n > 0 && (a->load->quota_cpu_n < 0 || n < a->load->quota_cpu_n))
        a->load->quota_cpu_n = n;
    if (n > 0 && (a->load->usable_cpu_n < 0 || n < a->load->usable_cpu_n))
        a->load->usable_cpu_n = n;
}

/* Reads up to two numbers from the first line and closes the file. Each missing number, or a
 * word such as "max", gives -1. */
static void numbers_in(FILE *f, double value[2])
{
    char line[128], *at = line, *end;

    value[0] = value[1] = -1;
    if (f && fgets(line, sizeof line, f)) {
        for (int i = 0; i < 2; i++, at = end) {
            const double number = strtod(at, &end);

            if (end == at)
                break;
            value[i] = number;
        }
    }
    if (f)
        fclose(f);
}

static void read_group(struct asked *a, bool is_v2, const char *path)
{
    double quota[2], period[2];

    if (is_v2) {
        numbers_in(open_at(a, "/sys/fs/cgroup%s/cpu.max", path), quota);
        bound_by_quota(a, quota[0], quota[1]);
        return;
    }
    numbers_in(open_at(a, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", path), quota);
    numbers_in(open_at(a, "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", path), period);
    bound_by_quota(a, quota[0], period[0]);
}

static bool names_cpu(const char *controllers)
{
    for (const char *at = controllers; (at = strstr(at, "cpu")) != NULL; at += 3)
        if ((at == controllers || at[-1] == ',') && (at[3] == 0 || at[3] == ','))
            return true;
    return false;
}

/* Applies the quotas of all cgroups of the process: the smallest quota on the path to the root
 * counts. */
static void read_quotas(struct asked *a)
{
    char line[4096];
    FILE *f = open_proc(a, "cgroup");

    while (f && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':'), *path = NULL;

        line[strcspn(line, "\n")] = 0;
        if (controllers)
            path = strchr(++controllers, ':');
        if (!path)
            continue;
        *path++ = 0;
        if (*controllers && !names_cpu(controllers))
            continue;
        for (char *end = path + strlen(path);; end = strrchr(path, '/')) {
            if (end)
                *end = 0;
            read_group(a, !*controllers, path);
            if (!end || end == path)
                break;
        }
    }
    if (f)
        fclose(f);
}

/* ---- Load ---------------------------------------------------------------------------------- */

/* Adds the times of one CPU. `line` starts behind "cpu"; the line of all CPUs has a blank there. */
static void add_processor(struct asked *a, const char *line, int64_t tick_ns)
{
    /* user nice system idle iowait irq softirq steal, in ticks */
    long long t[8] = {0};
    char *at, *end;
    const unsigned long cpu = strtoul(line, &at, 10);

    if (*line < '0' || *line > '9' || cpu >= CPUS_MOST || !(a->may[cpu / 8] & 1u << cpu % 8))
        return;
    for (int i = 0; i < 8; i++, at = end)
        t[i] = strtoll(at, &end, 10);
    a->load->busy_ns = a->load->busy_ns < 0 ? 0 : a->load->busy_ns;
    a->load->steal_ns = a->load->steal_ns < 0 ? 0 : a->load->steal_ns;
    a->load->busy_ns += (t[0] + t[1] + t[2] + t[5] + t[6]) * tick_ns;
    a->load->steal_ns += t[7] * tick_ns;
}

static void read_processors(struct asked *a)
{
    const long hz = sysconf(_SC_CLK_TCK);
    char line[1024];
    FILE *f = open_at(a, "/proc/stat");

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "cpu", 3) == 0)
            add_processor(a, line + 3, 1000000000 / (hz > 0 ? hz : 100));
    if (f)
        fclose(f);
}

static void read_pressure(struct asked *a)
{
    char line[256];
    FILE *f = open_at(a, "/proc/pressure/cpu");

    while (f && fgets(line, sizeof line, f)) {
        const char *total = strstr(line, "total=");

        if (strncmp(line, "some", 4) == 0 && total)
            a->load->pressure_ns = strtoll(total + 6, NULL, 10) * 1000;
    }
    if (f)
        fclose(f);
}

void as_host_load_read(const char *root, long pid, struct as_host_load *load)
{
    struct asked a = {.root = root ? root : "", .pid = pid, .load = load};

    *load = (struct as_host_load){
        .usable_cpu_n = -1, .quota_cpu_n = -1, .busy_ns = -1, .steal_ns = -1, .pressure_ns = -1};
    read_affinity(&a);
    read_quotas(&a);
    read_processors(&a);
    read_pressure(&a);
}

/* ---- Between two readings ------------------------------------------------------------------ */

#define HIGH_SHARE 0.2

struct as_external_load as_external_load_of(const struct as_host_load *before,
                                            const struct as_host_load *after, int64_t wall_ns,
                                            int64_t own_ns)
{
    struct as_external_load out = {.used_cpu_n = -1, .able_cpu_n = before->usable_cpu_n};
    if (before->busy_ns < 0 || after->busy_ns < before->busy_ns || wall_ns < AS_LOAD_WALL_NS ||
        before->usable_cpu_n <= 0)
        return out;
    const int64_t others_ns = after->busy_ns - before->busy_ns - own_ns;
    const int64_t steal_ns = before->steal_ns >= 0 && after->steal_ns > before->steal_ns
                                 ? after->steal_ns - before->steal_ns
                                 : 0;
    out.used_cpu_n = (double)((others_ns > 0 ? others_ns : 0) + steal_ns) / (double)wall_ns;
    /* ticks are coarse, and the readings are not simultaneous */
    if (out.used_cpu_n > out.able_cpu_n)
        out.used_cpu_n = out.able_cpu_n;
    out.is_high = out.used_cpu_n >= HIGH_SHARE * out.able_cpu_n;
    return out;
}
