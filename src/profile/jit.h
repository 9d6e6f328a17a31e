/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of generated code: the text that runtimes write to /tmp/perf-PID.map, one function a line
 * ("START SIZE name", hexadecimal; the convention of the perf tools). Addresses are those of the
 * process. Where functions overlap, the later line holds: the map grows while code is made anew.
 */
#ifndef AS_PROFILE_JIT_H
#define AS_PROFILE_JIT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <assay/error.h>

struct as_jit;

struct as_jit_symbol {
    uint64_t start, size_b; /* of the part not covered by later lines */
    const char *name;       /* lives as long as the map */
};

/*
 * Reads a map; lines that are none are counted and passed over. Errors: NOT_FOUND, PERMISSION,
 * NOT_REGULAR, IO, NOMEM.
 */
int as_jit_read(const char *path, struct as_jit **out, struct assay_error *err);
void as_jit_free(struct as_jit **jit); /* NULL inside is fine */

/* The function at `address`, or NULL. O(log n); any number of threads may ask. */
const struct as_jit_symbol *as_jit_find(const struct as_jit *jit, uint64_t address);
/* All of them by address, not overlapping. */
const struct as_jit_symbol *as_jit_symbols(const struct as_jit *jit, size_t *n);
size_t as_jit_damaged(const struct as_jit *jit); /* lines that could not be read */

/*
 * Copies the map that process `pid` wrote to DIRECTORY/perf-PID.map, whole or not at all: from its
 * own /tmp where that is to be had (it may run in a container, with another number), else from
 * ours. Call it while the process is there or just after; later calls replace what earlier ones
 * kept. 1: kept; 0: there is no map; negative: PERMISSION, IO, LIMIT (over 1 GiB).
 */
int as_keep_jit(pid_t pid, const char *directory, struct assay_error *err);

#endif
