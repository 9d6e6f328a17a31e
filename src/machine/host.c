/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes this host: reads /proc and /sys once, and cpuid for the hypervisor and the TSC.
 * topology.c reads the topology. A missing file leaves its fact unknown.
 */
#include <cpuid.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <x86intrin.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/ticks.h"
#include "base/vec.h"
#include "machine/machine.h"
#include "machine/pmu.h"
#include "machine/uarch_table.h"

/* The host and the memory of its strings. */
struct host_reading {
    struct as_host host; /* must be first: callers get a pointer to this member */
    struct as_arena arena;
    AS_VEC(struct as_host_fact) fact;
    struct as_topology *topology;
    const char *root;
};

static const char *copy_host_text(struct host_reading *w, const char *text)
{
    return as_arena_strndup(&w->arena, text, strlen(text));
}

/* Reads up to out_b - 1 bytes of a file and cuts white space at the end. Returns false if
 * nothing was read. */
static bool read_host_text(const struct host_reading *w, const char *path, char *out, size_t out_b)
{
    char full[4096];
    snprintf(full, sizeof full, "%s%s", w->root ? w->root : "", path);
    FILE *f = fopen(full, "re");
    size_t n = f ? fread(out, 1, out_b - 1, f) : 0;
    if (f)
        fclose(f);
    while (n && isspace((unsigned char)out[n - 1]))
        n--;
    out[n] = 0;
    return n > 0;
}

static FILE *open_lines(const struct host_reading *w, const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s%s", w->root ? w->root : "", path);
    return fopen(full, "re");
}

/* ---- CPUs ---------------------------------------------------------------------------------- */

static void read_cpu_line(struct host_reading *w, const char *name, const char *value)
{
    struct as_host *host = &w->host;
    if (strcmp(name, "vendor_id") == 0 && !host->cpu_vendor)
        host->cpu_vendor = copy_host_text(w, value);
    else if (strcmp(name, "model name") == 0 && !host->cpu_model)
        host->cpu_model = copy_host_text(w, value);
    else if (strcmp(name, "cpu family") == 0 && host->cpu_family < 0)
        host->cpu_family = strtoll(value, NULL, 10);
    else if (strcmp(name, "model") == 0 && host->cpu_model_number < 0)
        host->cpu_model_number = strtoll(value, NULL, 10);
    else if (strcmp(name, "stepping") == 0 && host->cpu_stepping < 0)
        host->cpu_stepping = strtoll(value, NULL, 10);
}

static void read_processors(struct host_reading *w)
{
    char line[4096], list[64];
    FILE *f = open_lines(w, "/proc/cpuinfo");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        char *end = colon;
        while (end > line && isspace((unsigned char)end[-1]))
            end--;
        *end = 0;
        colon++;
        colon += *colon == ' ';
        colon[strcspn(colon, "\n")] = 0;
        read_cpu_line(w, line, colon);
    }
    if (f)
        fclose(f);
    if (read_host_text(w, "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency", list, sizeof list))
        w->host.base_hz = strtoll(list, NULL, 10) * 1000;
    if (read_host_text(w, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", list,
                       sizeof list))
        w->host.max_hz = strtoll(list, NULL, 10) * 1000;
}

/* Fills in the topology; leaves it unknown if hwloc cannot read the machine. */
static void read_topology(struct host_reading *w)
{
    struct as_error ignored;

    if (as_topology_read(w->root, NULL, &w->topology, &ignored) < 0)
        return;
    w->host.topology = w->topology;
    w->host.socket_n = w->topology->package_n;
    w->host.core_n = w->topology->core_n;
    w->host.cpu_n = w->topology->cpu_n;
    w->host.numa_n = w->topology->numa_n;
}

/* Sets the size of a single NUMA node to the memory of the machine. After memory hotplug a node
 * may still report its old size. */
static void correct_memory(struct host_reading *w)
{
    if (w->host.numa_n != 1 || w->host.memory_b <= 0)
        return;
    for (size_t i = 0; i < w->topology->place_n; i++)
        if (w->topology->place[i].kind == AS_PLACE_NUMA)
            ((struct as_place *)w->topology->place)[i].size_b = (uint64_t)w->host.memory_b;
}

/* ---- cpuid --------------------------------------------------------------------------------- */

static void read_hypervisor(struct host_reading *w)
{
    static const struct {
        const char *signature, *name;
    } known[] = {
        {"KVMKVMKVM", "KVM"},        {"Microsoft Hv", "Hyper-V"},    {"VMwareVMware", "VMware"},
        {"XenVMMXenVMM", "Xen"},     {"TCGTCGTCGTCG", "QEMU"},       {"bhyve bhyve ", "bhyve"},
        {"prl hyperv", "Parallels"}, {"VBoxVBoxVBox", "VirtualBox"},
    };
    unsigned a, b, c, d;
    char signature[13] = "";
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 31))
        return;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(signature, &b, 4);
    memcpy(signature + 4, &c, 4);
    memcpy(signature + 8, &d, 4);
    w->host.hypervisor = "unknown";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(signature, known[i].signature, strlen(known[i].signature)) == 0)
            w->host.hypervisor = known[i].name;
}

/* Identifies the core by cpuid. For a recorded machine the file `cpuid` holds the output of
 * `cpuid -r`. */
static void identify_core(struct host_reading *w)
{
    struct as_processor processor = {.family = 0};
    struct as_core core;
    char text[65536];

    if (!w->root)
        as_processor_read(&processor);
    else if (read_host_text(w, "/cpuid", text, sizeof text))
        as_processor_parse(text, &processor);
    w->host.cpu_features = processor.features;
    memcpy(w->host.cpu_cache_kib, processor.cache_kib, sizeof w->host.cpu_cache_kib);
    as_core_of_host(&w->host, &core);
    w->host.microarchitecture = core.name;
    w->host.microarchitecture_words = core.words;
    w->host.core_doubt = *core.doubt ? copy_host_text(w, core.doubt) : NULL;
}

/* Finds the TSC frequency. Sources: leaf 0x15 with crystal clock and ratio (SDM vol. 2A, CPUID),
 * or the hypervisor's leaf 0x40000010 in kHz. Without both, the TSC is compared with the clock
 * for 5 ms. */
static void read_tsc(struct host_reading *w)
{
    unsigned a, b, c, d;
    if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c) {
        w->host.tsc_hz = (int64_t)((uint64_t)c * b / a);
        w->host.tsc_origin = "cpuid";
        return;
    }
    if (w->host.hypervisor) {
        __cpuid(0x40000000, a, b, c, d);
        if (a >= 0x40000010) {
            __cpuid(0x40000010, a, b, c, d);
            if (a) {
                w->host.tsc_hz = (int64_t)a * 1000;
                w->host.tsc_origin = "hypervisor";
                return;
            }
        }
    }
    int64_t from_ns = 0, to_ns = 0;
    const uint64_t from = as_ticks_at(8, &from_ns);
    while (as_clock_ns(CLOCK_MONOTONIC_RAW) - from_ns < 5000000)
        _mm_pause();
    const uint64_t ticks = as_ticks_at(8, &to_ns) - from;
    w->host.tsc_hz = (int64_t)((double)ticks * 1e9 / (double)(to_ns - from_ns));
    w->host.tsc_origin = "measured";
}

/* ---- System -------------------------------------------------------------------------------- */

static void read_system(struct host_reading *w)
{
    char line[1024];
    struct utsname name;
    if (!w->root && uname(&name) == 0) {
        w->host.name = copy_host_text(w, name.nodename);
        w->host.kernel = copy_host_text(w, name.release);
    } else {
        if (read_host_text(w, "/proc/sys/kernel/hostname", line, sizeof line))
            w->host.name = copy_host_text(w, line);
        if (read_host_text(w, "/proc/sys/kernel/osrelease", line, sizeof line))
            w->host.kernel = copy_host_text(w, line);
    }
    FILE *f = open_lines(w, "/etc/os-release");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "PRETTY_NAME=", 12) != 0)
            continue;
        char *text = line + 12 + (line[12] == '"');
        text[strcspn(text, "\"\n")] = 0;
        w->host.os = copy_host_text(w, text);
    }
    if (f)
        fclose(f);
    f = open_lines(w, "/proc/meminfo");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "MemTotal:", 9) == 0)
            w->host.memory_b = strtoll(line + 9, NULL, 10) * 1024;
    if (f)
        fclose(f);
}

/* Reduces "always [madvise] never" to the word in brackets. */
static void choose_bracketed(char *text)
{
    char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close)
        return;
    *close = 0;
    memmove(text, open + 1, strlen(open + 1) + 1);
}

static int read_facts(struct host_reading *w)
{
    static const struct {
        const char *name, *path;
    } known[] = {
        {"governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
        {"frequency_driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"},
        {"no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo"},
        {"boost", "/sys/devices/system/cpu/cpufreq/boost"},
        {"smt", "/sys/devices/system/cpu/smt/control"},
        {"transparent_huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled"},
        {"huge_pages_n", "/proc/sys/vm/nr_hugepages"},
        {"numa_balancing", "/proc/sys/kernel/numa_balancing"},
        {"perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid"},
        {"perf_event_mlock_kb", "/proc/sys/kernel/perf_event_mlock_kb"},
        {"randomize_va_space", "/proc/sys/kernel/randomize_va_space"},
        {"clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
        {"cache_l2", "/sys/devices/system/cpu/cpu0/cache/index2/size"},
        {"cache_l3", "/sys/devices/system/cpu/cpu0/cache/index3/size"},
        {"microcode", "/sys/devices/system/cpu/cpu0/microcode/version"},
        {"cgroup_cpu_max", "/sys/fs/cgroup/cpu.max"},
        {"cgroup_memory_max", "/sys/fs/cgroup/memory.max"},
        {"load_average", "/proc/loadavg"},
    };
    char text[1024];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!read_host_text(w, known[i].path, text, sizeof text))
            continue;
        choose_bracketed(text);
        const struct as_host_fact fact = {known[i].name, copy_host_text(w, text)};
        if (!fact.value || as_vec_push(&w->fact, fact) < 0)
            return AS_ERR_NOMEM;
    }
    return 0;
}

/* Returns the number of entries of the largest data TLB for 4 KiB pages, or 0 if unknown. AMD:
 * leaf 0x80000006 (APM vol. 3). Intel: leaf 0x18 (SDM vol. 2A). */
static unsigned tlb_entries(void)
{
    unsigned a, b, c, d, most = 0;

    if (__get_cpuid(0x80000006, &a, &b, &c, &d) && b >> 28)
        most = b >> 16 & 0xfff;
    if (!__get_cpuid_count(0x18, 0, &a, &b, &c, &d))
        return most;
    for (unsigned leaf = 0, last = a; leaf <= last && leaf < 32; leaf++) {
        __cpuid_count(0x18, leaf, a, b, c, d);
        const unsigned type = d & 31, entries = (b >> 16) * c;
        if ((type == 1 || type == 3) && b & 1 && entries > most)
            most = entries;
    }
    return most;
}

static int add_host_fact(struct host_reading *w, const char *name, const char *value)
{
    const struct as_host_fact fact = {name, copy_host_text(w, value)};

    return fact.value ? as_vec_push(&w->fact, fact) : AS_ERR_NOMEM;
}

/* Adds the facts that only the running machine can report. */
static int read_running_facts(struct host_reading *w)
{
    char text[512], words[1024];
    unsigned a, b, c, d;
    const int paranoid =
        read_host_text(w, "/proc/sys/kernel/perf_event_paranoid", text, sizeof text)
            ? (int)strtol(text, NULL, 10)
            : -99;

    as_pmu_words(as_pmu_try(), paranoid, w->host.hypervisor, as_pmu_counters(), text, sizeof text);
    AS_TRY(add_host_fact(w, "pmu", text));
    if (__get_cpuid(0x80000007, &a, &b, &c, &d))
        AS_TRY(add_host_fact(w, "tsc_invariant", d >> 8 & 1 ? "1" : "0"));
    if (tlb_entries()) {
        snprintf(text, sizeof text, "%u", tlb_entries());
        AS_TRY(add_host_fact(w, "tlb_n", text));
    }
    if (w->host.microarchitecture)
        AS_TRY(add_host_fact(w, "microarchitecture", w->host.microarchitecture));
    as_uarch_describe_host(&w->host, words, sizeof words);
    AS_TRY(add_host_fact(w, "core_table", words));
    if (w->host.core_doubt)
        AS_TRY(add_host_fact(w, "core_doubt", w->host.core_doubt));
    if (w->host.topology && w->host.core_n > 0) {
        snprintf(text, sizeof text, "%" PRId64, w->host.cpu_n / w->host.core_n);
        AS_TRY(add_host_fact(w, "threads_per_core", text));
        snprintf(text, sizeof text, "%" PRId64, w->host.topology->usable_cpu_n);
        AS_TRY(add_host_fact(w, "usable_cpu_n", text));
    }
    return 0;
}

int as_host_read(const char *root, struct as_host **out, struct as_error *err)
{
    struct host_reading *w = as_calloc(1, sizeof *w);
    *out = NULL;
    if (!w)
        return as_error_nomem(err, "the facts of this machine");
    as_arena_init(&w->arena);
    w->root = root;
    w->host = (struct as_host){.cpu_family = -1,
                               .cpu_model_number = -1,
                               .cpu_stepping = -1,
                               .socket_n = -1,
                               .core_n = -1,
                               .cpu_n = -1,
                               .numa_n = -1,
                               .memory_b = -1,
                               .tsc_hz = -1,
                               .base_hz = -1,
                               .max_hz = -1};
    read_system(w);
    read_processors(w);
    read_topology(w);
    correct_memory(w);
    identify_core(w);
    if (!root) {
        read_hypervisor(w);
        read_tsc(w);
    }
    *out = &w->host;
    if (read_facts(w) == 0 && (root || read_running_facts(w) == 0)) {
        w->host.fact = w->fact.at;
        w->host.fact_n = w->fact.n;
        return 0;
    }
    as_host_free(out);
    return as_error_nomem(err, "the facts of this machine");
}

void as_host_free(struct as_host **host)
{
    struct host_reading *w = (struct host_reading *)*host;
    if (!w)
        return;
    as_topology_free(&w->topology);
    as_vec_fini(&w->fact);
    as_arena_fini(&w->arena);
    as_free(w);
    *host = NULL;
}

int as_host_numa_of(const struct as_host *host, unsigned cpu)
{
    return host->topology ? as_topology_numa_of(host->topology, cpu) : -1;
}
