/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of the kernel's functions on this host, from /proc/kallsyms. Only for samples taken since
 * this boot: modules move when they are loaded again. Where the kernel hides its addresses
 * (kptr_restrict, perf_event_paranoid without CAP_SYSLOG) there are none, and that is said.
 */
#ifndef AS_PROFILE_KERNEL_H
#define AS_PROFILE_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <assay/error.h>

struct as_kernel;

struct as_kernel_symbol {
    uint64_t start, size_b; /* up to the next symbol; the last of a module at most 1 MiB */
    const char *name;       /* "vfs_read", of a module "nvme_irq [nvme]" */
};

/*
 * Reads `path` (NULL: /proc/kallsyms). Errors: PERMISSION (addresses are hidden; the sentence says
 * by which setting), NOT_FOUND, CORRUPT (no such table), IO, NOMEM.
 */
int as_kernel_read(const char *path, struct as_kernel **out, struct assay_error *err);
void as_kernel_free(struct as_kernel **kernel); /* NULL inside is fine */

/* The function at `address`, or NULL. O(log n); any number of threads may ask. */
const struct as_kernel_symbol *as_kernel_find(const struct as_kernel *kernel, uint64_t address);
const struct as_kernel_symbol *as_kernel_symbols(const struct as_kernel *kernel, size_t *n);

#endif
