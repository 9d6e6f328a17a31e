/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine: what this host is and how it is set up, as far as it matters to speed. Sources:
 * cpuid, /proc, /sys (doc/machine.md). Knows nothing of programs.
 */
#ifndef ASSAY_MACHINE_H
#define ASSAY_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct assay_host_fact {
    const char *name, *value; /* "governor", "performance"; names in doc/machine.md */
};

/* Texts NULL, numbers -1: not known. Belongs to the host object. */
struct assay_host {
    const char *name, *kernel, *os;
    const char *cpu_vendor; /* "GenuineIntel", "AuthenticAMD" */
    const char *cpu_model;
    const char *hypervisor; /* "KVM", ...; NULL on bare metal */
    const char *tsc_origin; /* "cpuid", "hypervisor", "kernel", "measured" */
    int64_t cpu_family, cpu_model_number, cpu_stepping; /* family and model with their extensions */
    int64_t socket_n, core_n, cpu_n, numa_n;            /* those that are online */
    int64_t memory_b;
    int64_t tsc_hz;
    int64_t base_hz, max_hz;
    const struct assay_host_fact *fact;
    size_t fact_n;
};

/*
 * Reads the host; what cannot be read is left unknown. `root` NULL is this machine; else a
 * directory with a recorded machine's proc/, sys/ and etc/ (tests), of which only files are read.
 * Takes some milliseconds where the TSC must be measured. Errors: NOMEM.
 */
int assay_host_read(const char *root, struct assay_host **out, struct assay_error *err);
void assay_host_free(struct assay_host **host); /* NULL inside is fine */

/* NUMA node of a processor (as the kernel counts), -1 when not known. */
int assay_host_numa_of(const struct assay_host *host, unsigned cpu);

/* The processors that a process may use, and what has gone on there since the machine began; two
 * readings tell what went on between. -1: not known. */
struct assay_host_load {
    double usable_cpu_n; /* by affinity and the quotas of its control groups */
    int64_t busy_ns;     /* of all those processors, whoever ran there */
    int64_t steal_ns;    /* the hypervisor gave them to others */
    int64_t pressure_ns; /* time in which somebody on the machine waited for a processor */
};

/* Of `pid`, 0 for this process. `root` as above. Processors of one affinity are counted whole where
 * a quota gives parts of them. */
void assay_host_load_read(const char *root, long pid, struct assay_host_load *load);

#ifdef __cplusplus
}
#endif
#endif
